"""The numbers of a rank column taken for the ranks, as RecTools does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine import _io as io
from rankine._io.sources import Reading
from rankine._join.lists import lists_of
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# u has its relevant items at ranks 2 and 5, v its only one at rank 4.
QRELS = {"u": {"a": 1, "c": 1}, "v": {"d": 1}}
COLUMNS = ["query", "item", "rank", "score"]
ROWS = [
    ("u", "a", 2, 0.9),
    ("u", "b", 3, 0.8),
    ("u", "c", 5, 0.7),
    ("v", "d", 4, 0.6),
]
FRAME = pl.DataFrame(ROWS, schema=COLUMNS, orient="row")
LOG = [math.log2(rank + 1) for rank in range(1, 6)]
IDEAL = sum(1 / divisor for divisor in LOG)
EXPECTED = {
    "RR@1": 0.0,
    "RR@3": (1 / 2 + 0) / 2,
    "RR@5": (1 / 2 + 1 / 4) / 2,
    "P@2": (1 / 2 + 0) / 2,
    "P@5": (2 / 5 + 1 / 5) / 2,
    "R@3": (1 / 2 + 0) / 2,
    "R@5": 1.0,
    "F@2": (2 * (1 / 2) * (1 / 2) / (1 / 2 + 1 / 2) + 0) / 2,
    "AP@5": ((1 / 2 + 2 / 5) / 2 + 1 / 4) / 2,
    "AP@4": ((1 / 2) / 2 + 1 / 4) / 2,
    "nDCG@5": ((1 / LOG[1] + 1 / LOG[4]) / IDEAL + (1 / LOG[3]) / IDEAL) / 2,
    "Success@1": 0.0,
    "Success@3": 1 / 2,
    "Success@4": 1.0,
}


def _trec(folder: Path) -> Path:
    path = folder / "run.trec"
    rows = [f"{q} Q0 {item} {rank} {score} tag\n" for q, item, rank, score in ROWS]
    path.write_text("".join(rows))
    return path


def _csv(folder: Path) -> Path:
    FRAME.write_csv(folder / "run.csv")
    return folder / "run.csv"


def _parquet(folder: Path) -> Path:
    FRAME.write_parquet(folder / "run.parquet")
    return folder / "run.parquet"


FORMS: dict[str, Callable[[Path], Any]] = {
    "frame": lambda _: FRAME,
    "frame without scores": lambda _: FRAME.drop("score"),
    "rows out of order": lambda _: FRAME.reverse(),
    "queries mixed": lambda _: FRAME[[0, 3, 2, 1]],
    "pandas": lambda _: FRAME.to_pandas(),
    "trec": _trec,
    "csv": _csv,
    "parquet": _parquet,
}


@pytest.mark.parametrize("form", FORMS)
def test_ranks_are_the_numbers_of_the_column(form: str, tmp_path: Path) -> None:
    run = FORMS[form](tmp_path)
    ev = rk.evaluate(QRELS, run, list(EXPECTED), convention="rectools")
    assert ev.mean == pytest.approx(EXPECTED)


@pytest.mark.parametrize("metric", EXPECTED)
def test_ranks_of_a_metric_alone(metric: str) -> None:
    ev = rk.evaluate(QRELS, FRAME, metric, convention="rectools")
    assert ev[metric] == pytest.approx(EXPECTED[metric])


def test_order_of_the_column_alone_closes_gaps() -> None:
    # As many items above as there are: ranks 1, 2 and 3 for u, 1 for v.
    ev = rk.evaluate(QRELS, FRAME, ["RR", "AP"], convention="rectools", order="rank")
    assert ev.mean == pytest.approx({"RR": 1.0, "AP": ((1 + 2 / 3) / 2 + 1) / 2})


def test_order_can_be_asked_for_under_any_convention() -> None:
    ev = rk.evaluate(QRELS, FRAME, ["RR", "P@5"], order="rank_value")
    expected = {"RR": (1 / 2 + 1 / 4) / 2, "P@5": EXPECTED["P@5"]}
    assert ev.mean == pytest.approx(expected)


def test_rank_left_out_counts_as_an_item_that_is_not_relevant() -> None:
    # Lists of 5 and 4 places: 2 and 1 of them are relevant.
    rule = rk.Convention(order="rank_value", p_den="list")
    ev = rk.evaluate(QRELS, FRAME, "P@10", convention=rule)
    assert ev["P@10"] == pytest.approx((2 / 5 + 1 / 4) / 2)


def test_depth_cuts_by_the_number() -> None:
    ev = rk.evaluate(QRELS, FRAME, ["RR", "AP"], convention="rectools", depth=4)
    assert ev.mean == pytest.approx(
        {"RR": (1 / 2 + 1 / 4) / 2, "AP": ((1 / 2) / 2 + 1 / 4) / 2}
    )


def test_batches_give_what_one_call_gives() -> None:
    total = rk.Accumulator(list(EXPECTED), convention="rectools")
    for query in ("u", "v"):
        total.update({query: QRELS[query]}, FRAME.filter(pl.col("query") == query))
    assert total.result().mean == pytest.approx(EXPECTED)


def test_item_twice_counts_at_both_ranks() -> None:
    rows = [("u", "a", 2), ("u", "a", 4)]
    run = pl.DataFrame(rows, schema=COLUMNS[:3], orient="row")
    ev = rk.evaluate({"u": {"a": 1}}, run, ["P@3", "P@4"], convention="rectools")
    assert ev.mean == pytest.approx({"P@3": 1 / 3, "P@4": 2 / 4})


def test_run_without_ranks_is_ranked_by_its_scores() -> None:
    ev = rk.evaluate(QRELS, FRAME.drop("rank"), "RR@1", convention="rectools")
    assert ev["RR@1"] == 1.0
    assert any("no rank column" in note for note in ev.notes)
    lists = {"u": ["x", "a"], "v": ["d"]}
    given = rk.evaluate(QRELS, lists, "RR", convention="rectools")
    assert given["RR"] == (1 / 2 + 1) / 2


@pytest.mark.parametrize(
    ("rank", "words"),
    [
        (0, "the rank of item 'c' for query 'u' is 0"),
        (-1, "the rank of item 'c' for query 'u' is -1"),
        (2.5, "the rank of item 'c' for query 'u' is 2.5"),
        (1e9, "the rank of item 'c' for query 'u' is 1e\\+09"),
        (2, "rank 2 appears twice for query 'u'"),
    ],
)
@pytest.mark.parametrize("metric", ["RR", "Popularity"])
def test_ranks_that_are_none_are_refused(rank: float, words: str, metric: str) -> None:
    ranks = pl.Series("rank", [2.0, 3.0, rank, 4.0])
    with pytest.raises(DataError, match=f"run, row 2: {words}"):
        rk.evaluate(
            QRELS,
            FRAME.with_columns(ranks),
            metric,
            convention="rectools",
            train={"u": ["a"]},
        )


def test_only_some_metrics_by_the_rank_column_is_refused() -> None:
    rule = rk.Convention(overrides={"RR": {"order": "rank_value"}})
    with pytest.raises(ParameterError, match="rank column"):
        rk.evaluate(QRELS, FRAME, "RR", convention=rule)


def test_reconcile_says_it() -> None:
    found = rk.reconcile(QRELS, FRAME, "RR@3", conventions=["ranx", "rectools"])
    assert found["rectools"] == EXPECTED["RR@3"]
    assert found["ranx"] == 1.0
    (step,) = found.explain("ranx", "rectools").steps
    assert step.words == "uses the numbers in the rank column as the ranks"


TRAIN = {"u": ["a"], "v": ["a", "b"], "w": ["a", "b", "c"]}


def test_lists_are_cut_by_the_number() -> None:
    # Within rank 3, u has a and b, which 3 and 2 users had; v has nothing.
    metrics = ["Popularity@3", "Coverage@3", "Novelty@3"]
    ev = rk.evaluate(None, FRAME, metrics, convention="rectools", train=TRAIN)
    assert ev.mean == pytest.approx(
        {
            "Popularity@3": (3 + 2) / 2,
            "Coverage@3": 2,
            "Novelty@3": (-math.log2(3 / 3) - math.log2(2 / 3)) / 2,
        }
    )


def test_serendipity_weighs_by_the_number() -> None:
    # RecTools: of 4 items b and c, at ranks 3 and 5, are second and third by
    # popularity; the list of two has c relevant: its probabilities are
    # (4 + 1 - 5) / 4 by rank and (4 + 1 - 3) / 4 by popularity, and max(0, ...) is 0.
    rows = [("u", "b", 2), ("u", "c", 3)]
    run = pl.DataFrame(rows, schema=COLUMNS[:3], orient="row")
    ev = rk.evaluate(
        {"u": {"b": 1, "c": 1}},
        run,
        ["Serendipity@2", "Serendipity@3"],
        convention="rectools",
        train=TRAIN,
        catalog=["a", "b", "c", "d"],
    )
    by_rank = {2: (4 + 1 - 2) / 4, 3: (4 + 1 - 3) / 4}
    by_popularity = {"b": (4 + 1 - 2) / 4, "c": (4 + 1 - 3) / 4}
    of_b = max(by_rank[2] - by_popularity["b"], 0)
    of_c = max(by_rank[3] - by_popularity["c"], 0)
    assert ev.mean == pytest.approx(
        {"Serendipity@2": of_b / 1, "Serendipity@3": (of_b + of_c) / 2}
    )


def test_lists_of_batches_are_cut_by_the_number() -> None:
    total = rk.Accumulator(["Coverage@3"], convention="rectools", train=TRAIN)
    for query in ("u", "v"):
        total.update(None, FRAME.filter(pl.col("query") == query))
    assert total.result()["Coverage@3"] == 2


def test_topics_are_found_at_the_number() -> None:
    # The only topic is found at rank 4 of v: 1 / log2(5) of the best list.
    run = FRAME.filter(pl.col("query") == "v")
    rule = rk.Convention(order="rank_value")
    ev = rk.evaluate(
        {"v": {"d": 1}}, run, "alpha_nDCG", convention=rule, items={"d": ["blue"]}
    )
    assert ev["alpha_nDCG"] == pytest.approx(1 / math.log2(4 + 1))


def test_ranks_without_gaps_take_no_room() -> None:
    rule = rk.Convention(order="rank_value")
    dense = FRAME.with_columns(rank=pl.Series([1, 2, 3, 1]))
    read = io.read(dense, "run", Reading(by_rank=True))
    assert lists_of(read, rule).ranks is None
    read = io.read(FRAME, "run", Reading(by_rank=True))
    ranks = lists_of(read, rule).ranks
    assert ranks is not None
    assert ranks.tolist() == [2, 3, 5, 4]


def test_many_rows_at_random() -> None:
    """Against the definition, on mixed rows with gaps."""
    rng = np.random.default_rng(0)
    rows, total = [], []
    qrels: dict[str, dict[str, int]] = {}
    for query in range(50):
        n = int(rng.integers(1, 12))
        ranks = rng.choice(20, n, replace=False) + 1
        grades = rng.integers(0, 2, n)
        grades[0] = 1
        qrels[f"q{query}"] = {f"d{at}": int(g) for at, g in enumerate(grades)}
        rows += [(f"q{query}", f"d{at}", int(r)) for at, r in enumerate(ranks)]
        total.append(1 / min(r for r, g in zip(ranks, grades, strict=True) if g))
    mixed = [rows[at] for at in rng.permutation(len(rows))]
    run = pl.DataFrame(mixed, schema=COLUMNS[:3], orient="row")
    ev = rk.evaluate(qrels, run, "RR", convention="rectools")
    assert ev["RR"] == pytest.approx(sum(total) / len(total))


def test_lists_that_are_empty_down_to_the_cutoff_have_no_serendipity() -> None:
    # Within rank 3, v has nothing and is left out; of u, nothing relevant is new.
    ev = rk.evaluate(
        {"u": {"z": 1}, "v": {"d": 1}},
        FRAME,
        "Serendipity@3",
        convention="rectools",
        train=TRAIN,
        catalog=["a", "b", "c", "d", "z"],
    )
    assert ev.per_query["Serendipity@3"].fill_nan(None).to_list() == [0, None]


def test_the_first_items_keep_the_numbers_of_the_column() -> None:
    mixed = FRAME[[2, 0, 3, 1]]
    ev = rk.evaluate(QRELS, mixed, "RR@3", convention="rectools", keep=4)

    of_v, of_u = ev.worst("RR@3")

    assert of_u.top == ((2, "a", 1.0), (3, "b", None))
    assert of_u.missed == (("c", 1.0, 5),)
    assert of_v.top == ((4, "d", 1.0),)
    assert of_v.missed == (("d", 1.0, 4),)


def test_a_matrix_of_ranked_items_counts_from_1() -> None:
    run = rk.from_ranked([["a", "x"], ["x", "d"]], queries=["u", "v"])

    ev = rk.evaluate(QRELS, run, ["RR", "P@1"], convention="rectools")

    assert ev.mean == {"RR": (1 / 1 + 1 / 2) / 2, "P@1": (1 + 0) / 2}
