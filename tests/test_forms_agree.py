"""Every form of the same data gives the same number, whatever is asked and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import DataError, ParameterError, RankineError

if TYPE_CHECKING:
    from pathlib import Path

RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "removed": {"unjudged": "removed"},
    "pool of the list": {"pool": "list"},
    "floor": {"score_floor": 0.2},
    "float32": {"score_bits": 32},
    "both": {"queries": "both"},
    "skip": {"empty_truth": "skip"},
    "keep": {"negative": "keep"},
    "ascending": {"tie": "id_asc"},
}
METRICS = ["P@2", "R@3", "AP@3", "nDCG@2", "nDCG(ideal='retrieved')@3", "RR@2"]
METRICS += ["AUC@3", "AUC(universe='matched')@3"]
N_QUERIES, N_ITEMS = 30, 12


def data(*, ties: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(11)
    qrels: dict[str, Any] = {}
    run: dict[str, Any] = {}
    for query in range(N_QUERIES):
        grades = rng.integers(-1, 4, N_ITEMS)
        scores = rng.random(N_ITEMS) if not ties else rng.integers(0, 4, N_ITEMS) / 4
        judged = rng.random(N_ITEMS) < 0.6
        judged[0] = True
        qrels[f"q{query}"] = {
            f"d{item}": int(grades[item]) for item in np.flatnonzero(judged)
        }
        order = np.argsort(-scores, kind="stable")
        run[f"q{query}"] = {f"d{item}": float(scores[item]) for item in order}
    return qrels, run


def frame(entries: dict[str, Any], value: str) -> pl.DataFrame:
    rows = [
        (query, item, number)
        for query, entry in entries.items()
        for item, number in entry.items()
    ]
    return pl.DataFrame(rows, schema=["query", "item", value], orient="row")


def objects(entries: dict[str, Any], value: str) -> dict[str, Any]:
    return {
        query: [{"id": item, value: number} for item, number in entry.items()]
        for query, entry in entries.items()
    }


def dense(entries: dict[str, Any], missing: float) -> Any:
    matrix = np.full((N_QUERIES, N_ITEMS), missing)
    for query, entry in entries.items():
        for item, number in entry.items():
            matrix[int(query[1:]), int(item[1:])] = number
    return rk.from_scores(
        matrix,
        queries=[f"q{query}" for query in range(N_QUERIES)],
        items=[f"d{item}" for item in range(N_ITEMS)],
    )


@pytest.mark.slow
@pytest.mark.parametrize("ties", [False, True], ids=["strict", "ties"])
@pytest.mark.parametrize("also", [(), ("AP",)], ids=["cut", "with a whole list"])
@pytest.mark.parametrize("whole_rows", [0, 1000], ids=["many rows", "few rows"])
@pytest.mark.parametrize("choice", RULES)
def test_a_cutoff_looks_as_deep_as_it_must(
    choice: str,
    whole_rows: int,
    also: tuple[str, ...],
    ties: bool,  # noqa: FBT001 - a case
    tmp_path: Path,
) -> None:
    rule = rk.Convention(**RULES[choice])
    qrels, run = data(ties=ties)
    path = tmp_path / "some.run"
    path.write_text(
        "".join(
            f"{query} Q0 {item} 1 {score!r} t\n"
            for query, entry in run.items()
            for item, score in entry.items()
        )
    )
    forms = {
        "frame": (frame(qrels, "grade"), frame(run, "score")),
        "file": (qrels, path),
        "objects": (objects(qrels, "grade"), objects(run, "score")),
        "dense": (dense(qrels, np.nan), dense(run, -np.inf)),
        "dense run": (qrels, dense(run, -np.inf)),
    }
    expected = rk.evaluate(qrels, run, [*METRICS, "NumQ"], convention=rule)

    for form, pair in forms.items():
        with limited(whole_rows=whole_rows):
            found = rk.evaluate(*pair, [*METRICS, *also], convention=rule)
        wanted = expected.per_query.select("query", *METRICS)
        assert found.per_query.select("query", *METRICS).equals(wanted), form


def test_an_arrow_stream_is_read_once() -> None:
    table = pa.table({"query": ["q"], "item": ["a"], "score": [1.0]})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())

    assert rk.evaluate({"q": ["a"]}, reader, "RR")["RR"] == 1


def test_unsigned_ids_that_do_not_fit_are_refused() -> None:
    big = pl.Series("item", [2**63 + 5], dtype=pl.UInt64)
    run = pl.DataFrame({"query": [0], "item": big, "score": [1.0]})
    ranked = rk.from_ranked(np.array([[2**64 - 1]], dtype=np.uint64))

    with pytest.raises(DataError, match="does not fit"):
        rk.evaluate({0: {-1: 1}}, run, "RR")
    assert rk.evaluate({0: {2**64 - 1: 1}}, ranked, "RR")["RR"] == 1


def test_text_ids_of_judgements_meet_the_numbers_of_a_matrix() -> None:
    run = rk.from_scores([[0.1, 0.2], [0.2, 0.1]])

    assert rk.evaluate({"0": {"0": 1}, "1": {"0": 1}}, run, "RR")["RR"] == (0.5 + 1) / 2


def test_scores_beyond_float32_are_still_retrieved() -> None:
    grades, scores = rk.from_scores([[1, 0]]), rk.from_scores([[-1e300, 1]])

    ev = rk.evaluate(grades, scores, ["R", "RR"], convention="trec_eval-9")

    assert ev.mean == {"R": 1, "RR": 1 / 2}


@pytest.mark.parametrize(
    ("qrels", "run", "options"),
    [
        (rk.from_ranked([[1, 2]]), {0: [1]}, {}),
        ({"q": {"a"}}, {"q": "abc"}, {"order": "given"}),
        ({"q": {"a"}}, {"q": {"a", "b"}}, {"order": "given"}),
        ({0: {1}}, rk.from_scores([[0.1, 0.2]]), {"order": "given"}),
        ({"q": {"a"}}, {"q": ["a"], "z": 5}, {}),
        ({"q": {"a"}}, {"q": ["a"], "z": ["b", "b"]}, {}),
        ({"q": {"a"}}, {"q": [["a"]]}, {}),
        ({"q": [["a"]]}, {"q": ["a"]}, {}),
        ({"q": {"a": 10**400}}, {"q": ["a"]}, {}),
        ({"q": {"a"}}, {"q": {"a": 10**400}}, {}),
        ({"q": {"a"}}, {"q": ["a"]}, {"overrides": {"MAP": {"ap_den": "k"}}}),
        ({"q": {"a"}}, {"q": ["a"]}, {"overrides": {"R": {"order": "rank"}}}),
    ],
)
def test_what_cannot_be_meant_is_refused(
    qrels: Any, run: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(RankineError):
        rk.evaluate(qrels, run, "R", convention=rk.Convention(**options))


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
def test_a_depth_and_an_open_order_are_refused_together(ties: str) -> None:
    with pytest.raises(ParameterError, match="depth"):
        rk.evaluate({"q": {"a"}}, {"q": {"a": 1.0}}, "P@1", ties=ties, depth=1)


def test_what_cannot_be_pooled_is_refused() -> None:
    with pytest.raises(ParameterError, match="AP cannot be pooled"):
        rk.evaluate(
            {"q": {"a"}},
            {"q": ["a"]},
            "AP",
            convention=rk.Convention(aggregate="ratio_of_sums"),
        )


def test_a_pooled_interval_leaves_empty_samples_out() -> None:
    micro = rk.Convention(aggregate="ratio_of_sums")
    ev = rk.evaluate(
        {"q": {"a": 1}, "z": {"a": 0}}, {"q": ["a"]}, "R", convention=micro
    )

    assert ev.interval("R") == (1, 1)
