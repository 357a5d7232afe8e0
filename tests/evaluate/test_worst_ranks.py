"""worst: the ranks of items are those that the metric saw, whatever the convention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from tests.evaluate.worst_lists import QRELS, RUN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _frames(run: dict[str, dict[str, float]]) -> pl.DataFrame:
    rows = [(q, i, s) for q, entry in run.items() for i, s in entry.items()]
    return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")


def _matrix(run: dict[str, dict[str, float]]) -> Any:
    items = sorted({item for entry in run.values() for item in entry})
    scores = np.full((len(run), len(items)), -np.inf)
    for row, entry in enumerate(run.values()):
        for item, score in entry.items():
            scores[row, items.index(item)] = score
    return rk.from_scores(scores, queries=list(run), items=items)


HELD: dict[str, Callable[[Any], Any]] = {
    "dicts": dict,
    "frames": _frames,
    "mixed rows": lambda run: _frames(run).sort("item", maintain_order=True),
    "matrix": _matrix,
}


def _tied(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return lists of which many scores are equal, some only in 32 bits."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for number in range(30):
        items = [f"d{at:02}" for at in range(20)]
        scores = rng.integers(0, 4, 12) + rng.integers(0, 2, 12) * 1e-9
        shown = sorted(rng.choice(items, 12, replace=False).tolist())
        run[f"q{number}"] = dict(zip(shown, scores.tolist(), strict=True))
        judged = rng.choice(items, 6, replace=False).tolist()
        grades = rng.integers(0, 3, 6).tolist()
        qrels[f"q{number}"] = dict(zip(judged, grades, strict=True))
    return qrels, run


def _order(entry: dict[str, float], tie: str, bits: int) -> list[str]:
    """Return a list in its order, by nothing but Python's own sort."""
    items = list(entry)
    if tie == "input_rev":
        items.reverse()
    elif tie != "input":
        items.sort(reverse=tie != "id_asc")
    narrow = np.float32 if bits == 32 else np.float64
    return sorted(items, key=lambda item: -float(narrow(entry[item])))


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("tie", ["id_desc", "id_asc", "input", "input_rev", "average"])
def test_items_stand_in_the_order_of_the_convention(
    tie: Any, bits: Any, held: str
) -> None:
    qrels, run = _tied(1)
    rule = rk.Convention(tie=tie, score_bits=bits)

    ev = rk.evaluate(qrels, HELD[held](run), "nDCG@5", convention=rule, keep=5)
    found = ev.worst("nDCG@5", n=30)

    assert sorted(one.query for one in found) == sorted(run)
    for one in found:
        order, grades = _order(run[one.query], tie, bits), qrels[one.query]
        ranks = {item: rank for rank, item in enumerate(order, 1)}
        assert one.top == tuple(
            (ranks[item], item, grades.get(item)) for item in order[:5]
        )
        assert {item: rank for item, _, rank in one.missed} == {
            item: ranks.get(item)
            for item, grade in grades.items()
            if grade > 0 and not ranks.get(item, 9) <= 5
        }


@pytest.mark.parametrize("held", HELD)
def test_a_metric_has_the_ranks_of_its_own_group(held: str) -> None:
    qrels, run = _tied(2)
    others = {"id_asc": "AP", "input": "RR", "input_rev": "Bpref", "average": "P"}
    overrides = {name: {"tie": tie} for tie, name in others.items()}
    rule = rk.Convention(tie="id_desc", score_bits=32, overrides=overrides)
    names = {"nDCG@20": "id_desc", "AP": "id_asc", "RR": "input", "P@9": "average"}

    ev = rk.evaluate(qrels, HELD[held](run), list(names), convention=rule, keep=20)

    for metric, tie in names.items():
        for one in ev.worst(metric, n=30):
            order = _order(run[one.query], tie, 32)
            assert [item for _, item, _ in one.top] == order
            for item, _, rank in one.missed:
                assert rank is None or order[rank - 1] == item


@pytest.mark.parametrize("few", [False, True])
def test_ranks_of_lists_that_were_joined_again(few: bool) -> None:  # noqa: FBT001
    # Without keep, all that is known of an item comes from the joins.
    qrels, run = _tied(3)
    if few:  # ties in few lists, which alone are joined again
        run |= {
            query: {item: float(-at) for at, item in enumerate(entry)}
            for query, entry in list(run.items())[2:]
        }
    rule = rk.Convention(tie="id_desc", overrides={"AP": {"tie": "input"}})

    for form in (run, _frames(run)):
        ev = rk.evaluate(qrels, form, ["nDCG", "AP"], convention=rule)
        for one in ev.worst("AP", n=30):
            order = _order(run[one.query], "input", 64)
            assert all(order[rank - 1] == item for rank, item, _ in one.top)
            assert {item for _, item, _ in one.top} == {
                item for item in order[:10] if item in qrels[one.query]
            }


TWICE = ["a", "b", "a", "c"]


@pytest.mark.parametrize(
    ("duplicates", "top", "rank"),
    [
        ("count", ["a", "b", "a", "c"], 1),
        ("set", ["a", "b", "a", "c"], 1),
        ("last", ["b", "a", "c"], 2),
    ],
)
@pytest.mark.parametrize("form", ["lists", "frames"])
def test_an_item_that_stands_twice(
    duplicates: Any, top: list[str], rank: int, form: str
) -> None:
    rule = rk.Convention(duplicates=duplicates)
    run: Any = {"q": TWICE}
    if form == "frames":
        scores = [0.4, 0.3, 0.2, 0.1]
        columns = {"query": ["q"] * 4, "item": TWICE, "score": scores}
        run = pl.DataFrame(columns)

    ev = rk.evaluate({"q": {"a": 1, "z": 1}}, run, "AP", convention=rule, keep=9)
    found = ev.worst("AP")[0]

    assert [item for _, item, _ in found.top] == top
    assert next(grade for _, item, grade in found.top if item == "a") == 1
    plain = rk.evaluate({"q": {"a": 1, "z": 1}}, run, "AP", convention=rule)
    assert plain.worst("AP")[0].top == ((rank, "a", 1.0),)


def test_queries_of_the_run_only() -> None:
    qrels = {"gone": {"a": 1}, "here": {"b": 1}, "last": {"c": 1, "d": 1}}
    run = {"last": ["d"], "new": ["y", "z"], "here": ["x"]}
    for queries in ("run", "both"):
        rule = rk.Convention(queries=queries)
        for form in (run, _frames({q: dict.fromkeys(i, 1.0) for q, i in run.items()})):
            ev = rk.evaluate(qrels, form, "R", convention=rule, keep=1)
            found = {one.query: one for one in ev.worst("R")}
            assert set(found) == {"here", "last"} | (
                {"new"} if queries == "run" else set()
            )
            assert found["here"].missed == (("b", 1.0, None),)
            assert found["last"].missed == (("c", 1.0, None),)
            assert found["last"].top == ((1, "d", 1.0),)
            if "new" in found:
                assert found["new"].missed == ()
                assert found["new"].top[0].grade is None


def test_where_unjudged_items_are_removed_ranks_are_those_that_are_left() -> None:
    rule = rk.Convention(unjudged="removed")

    ev = rk.evaluate(QRELS, RUN, "P@1", convention=rule, keep=2)

    assert ev.worst("P@1", n=1)[0].top == ((1, "2", 0.0), (2, "1", 1.0))


def test_items_put_at_the_end_of_the_list_were_not_retrieved() -> None:
    rule = rk.Convention(pool="union")

    one = rk.evaluate(QRELS, RUN, "P@2", convention=rule).worst("P@2", n=1)[0]

    assert one.missed == (("0", 2.0, None), ("1", 1.0, 3), ("3", 1.0, 5))


def test_items_under_the_floor_are_not_found() -> None:
    rule = rk.Convention(score_floor=0.6)
    for form in (RUN, _frames(RUN), _matrix(RUN)):
        ev = rk.evaluate(QRELS, form, "P@2", convention=rule, keep=9)
        one = ev.worst("P@2", n=1)[0]
        assert [item for _, item, _ in one.top] == ["9", "2", "1"]
        assert one.missed[-1] == ("3", 1.0, None)


def test_a_depth_cuts_what_is_shown() -> None:
    ev = rk.evaluate(QRELS, RUN, "AP", depth=2, keep=9)
    one = ev.worst("AP", n=1)[0]

    assert [item for _, item, _ in one.top] == ["9", "2"]
    assert one.looked == 2
    assert "1 (1) not in the first 2" in str(ev.worst("AP", n=1))


def test_a_matrix_of_grades() -> None:
    grades = np.array([[0, 1, 2, 0.0], [1, 0, 0, np.nan]])
    scores = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.1]])
    pair = rk.from_scores(grades), rk.from_scores(scores)

    kept = rk.evaluate(*pair, "P@1", keep=4).worst("P@1")

    assert kept[0].top == ((1, 3, 0.0), (2, 2, 2.0), (3, 1, 1.0), (4, 0, 0.0))
    assert kept[0].missed == ((2, 2.0, 2), (1, 1.0, 3))
    assert kept[1].top == ((1, 2, 0.0), (2, 1, 0.0), (3, 0, 1.0), (4, 3, None))
    plain = rk.evaluate(*pair, "P@1").worst("P@1")
    assert plain[1].missed == ((0, 1.0, None),)
    assert plain[1].looked == 1


def _below_the_cutoff() -> tuple[dict[str, dict[str, int]], dict[str, Any]]:
    """Return a list whose one relevant item is at rank 41, in every form."""
    run = {"q": {f"d{at:02}": -float(at) for at in range(50)}}
    return {"q": {"d40": 1}}, {name: held(run) for name, held in HELD.items()}


@pytest.mark.parametrize("held", HELD)
def test_ranks_below_the_cutoff_are_known(held: str) -> None:
    qrels, runs = _below_the_cutoff()
    failed = rk.evaluate(qrels, runs[held], "RR@10").worst("RR@10")[0]
    assert (failed.missed, failed.looked) == ((("d40", 1.0, 41),), None)


def test_ranks_below_the_cutoff_are_known_from_a_file(tmp_path: Path) -> None:
    rows = (f"q Q0 d{at:02} {at + 1} {-at} t" for at in range(50))
    path = tmp_path / "sorted.run"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    failed = rk.evaluate({"q": {"d40": 1}}, path, "RR@10").worst("RR@10")[0]
    assert (failed.missed, failed.looked) == ((("d40", 1.0, 41),), None)


def test_ranks_below_the_cutoff_of_many_rows_need_keep() -> None:
    # Many sorted rows are not looked at below the deepest cutoff, which is what makes
    # them fast; a result says how far it looked.
    qrels, runs = _below_the_cutoff()
    run = runs["frames"]
    qrels["q"]["d04"] = 1  # if nothing were found so far, it would look further

    with limited(whole_rows=49):
        plain = rk.evaluate(qrels, run, "RR@10").worst("RR@10")[0]
        kept = rk.evaluate(qrels, run, "RR@10", keep=1).worst("RR@10")[0]

    assert (plain.missed, plain.looked) == ((("d40", 1.0, None),), 10)
    assert (kept.missed, kept.looked) == ((("d40", 1.0, 41),), None)
