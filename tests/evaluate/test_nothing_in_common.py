"""Judged items that the run hardly has: a warning everywhere, and not for one miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from tests.evaluate.streams import FORMS, written

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{n}": {"a": 1, "b": 1} for n in range(20)}
APART = {query: ["x", "y", "z"] for query in QRELS}
WAY = "; rankine check shows whether both write ids the same way"
NOTHING = f"no judged item is in the run{WAY}"


def met(n: int) -> dict[str, list[str]]:
    """Return 100 lists of 200 judged items, with so many of them."""
    return {f"q{k}": ["x", "a" if k < n else "y"] for k in range(100)}


JUDGED = {f"q{k}": {"a": 1, "b": 1} for k in range(100)}


def test_it_is_a_warning_and_no_note() -> None:
    ev = rk.evaluate(QRELS, APART, "RR")

    assert ev["RR"] == 0
    assert ev.warnings == (NOTHING,)
    assert NOTHING not in ev.notes


@pytest.mark.parametrize("form", FORMS)
def test_it_is_doubted_in_every_form(form: str, tmp_path: Path) -> None:
    rows = [
        (query, item, -float(place))
        for query, items in APART.items()
        for place, item in enumerate(items)
    ]

    for engine in ("auto", "stream"):
        run = written(rows, form, tmp_path)
        ev = rk.evaluate(QRELS, run, ["RR", "P@1"], engine=engine)
        assert ev.warnings == (NOTHING,)


def test_batches_add_up() -> None:
    accumulator = rk.Accumulator("P@1")
    for query, judged in QRELS.items():
        accumulator.update({query: judged}, {query: APART[query]})

    assert accumulator.result().warnings == (NOTHING,)


def test_compare_and_the_gate_warn(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"

    found = rk.compare(QRELS, {"good": {q: ["a"] for q in QRELS}, "bad": APART}, "RR")
    rk.gate(QRELS, APART, path, metrics="RR", update=True)
    gate = rk.gate(QRELS, APART, path, {"RR": 0.1})

    assert f"bad: {NOTHING}" in found.warnings
    assert NOTHING in gate.warnings


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (0, "no judged item is in the run"),
        # 100 of 200 judged items fit into the lists, and one is 1 % of them.
        (1, None),
        (100, None),
    ],
)
def test_few_items_in_common_are_those_below_one_percent(
    n: int, said: str | None
) -> None:
    run = {query: entry[1:] for query, entry in met(n).items()}

    warned = rk.evaluate(JUDGED, run, "RR").warnings
    checked = [f.what for f in rk.check(JUDGED, run).findings if "in the run" in f.what]

    assert [*warned] == ([] if said is None else [said + WAY])
    assert [what.partition(":")[0] for what in checked] == ([] if n else [said])


def test_one_of_two_hundred_is_few() -> None:
    said = "only 1 of 200 judged items is in the run"

    found = rk.check(JUDGED, met(1)).findings[0]

    assert rk.evaluate(JUDGED, met(1), "RR").warnings == (said + WAY,)
    assert (found.level, found.what) == (
        "warning",
        f"{said}: the judgements have a, b, the run has x, a, y",
    )
    assert rk.evaluate(JUDGED, met(2), "RR").warnings == ()


def test_a_single_miss_is_only_noted() -> None:
    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["x", "y"]}, "RR")
    found = rk.check({"q": {"a": 1}}, {"q": ["x", "y"]}).findings

    assert (ev.warnings, NOTHING in ev.notes) == ((), True)
    assert [finding.level for finding in found] == ["note"]


def test_short_lists_of_many_judged_items_are_not_doubted() -> None:
    qrels = {"q": {f"d{n}": 1 for n in range(1000)}}

    assert rk.evaluate(qrels, {"q": ["d1"]}, "P@1").warnings == ()


@pytest.mark.parametrize("deep", [True, False])
def test_items_below_the_cutoff_are_in_the_run(deep: bool) -> None:  # noqa: FBT001
    rows = [(q, item, s) for q in QRELS for item, s in (("x", 2.0), ("a", 1.0))]
    run = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")

    with limited(whole_rows=0 if deep else 100):
        assert rk.evaluate(QRELS, run, "P@1").warnings == ()


def test_items_below_the_cutoff_of_a_batch_are_in_the_run() -> None:
    items = [f"d{number}" for number in range(10)]
    # At rank 1, 4 of 200 judged items; below, 196 of these, and none of 600 others.
    first = {f"p{n}": [*(["x"] if n >= 4 else []), *items] for n in range(20)}
    second = {f"q{n}": ["x", *"abcdefghij"] for n in range(60)}
    batches = rk.Accumulator("P@1")
    with limited(whole_rows=0):
        for lists in (first, second):
            rows = [
                (query, item, -float(place))
                for query, shown in lists.items()
                for place, item in enumerate(shown)
            ]
            run = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
            batches.update({query: set(items) for query in lists}, run)

        assert batches.result().warnings == ()


def test_a_matrix_has_the_items_of_its_judgements() -> None:
    grades, scores = np.eye(3, 50), -np.eye(3, 50)

    ev = rk.evaluate(rk.from_scores(grades), rk.from_scores(scores), "P@1")

    assert (ev["P@1"], ev.warnings) == (0, ())


def test_what_a_floor_leaves_out_is_in_the_run() -> None:
    rule = rk.Convention(score_floor=5)
    run: Any = {query: {"a": 1.0} for query in QRELS}

    assert rk.evaluate(QRELS, run, "RR", convention=rule).warnings == ()


ONE: Any = [
    ("rankine", {2: {"10": 1}}, {2: {12: 3.0, 16: 2.0, 10: 1.0}}),
    ("jurity", {"q": {"a": 1}}, {"q": ["x", "x", "y", "a"]}),
    ("rankine", {"q": {"a": 1}}, {"q": ["x", "y", "z", "a"]}),
]
"""A single judged item below the cutoff, in dicts that are read in two ways."""


@pytest.mark.parametrize("deep", [True, False])
@pytest.mark.parametrize(("convention", "qrels", "run"), ONE)
def test_one_item_below_the_cutoff_is_in_the_run(
    deep: bool,  # noqa: FBT001 - a parameter of the test
    convention: str,
    qrels: Any,
    run: Any,
) -> None:
    ((query, listed),) = run.items()
    rows = [(query, item, -float(place)) for place, item in enumerate(listed)]
    frame = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")

    with limited(whole_rows=0 if deep else 100):
        for given in (run, frame):
            ev = rk.evaluate(qrels, given, "P@2", convention=convention)
            assert [note for note in ev.notes if "in the run" in note] == []
