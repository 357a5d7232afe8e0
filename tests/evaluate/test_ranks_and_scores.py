"""A rank column that contradicts the scores is warned of, whatever holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from tests.evaluate.streams import FORMS, framed, written

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q": {"a": 1}, "r": {"a": 1}, "s": {"a": 1}, "t": {"a": 1}}
# Ranks are 1, 2, 3 in every list; the scores of one list of four rise.
ROWS: list[tuple[str, str, float]] = [
    (query, item, score)
    for query in QRELS
    for item, score in zip(
        "abc", (0.1, 0.9, 0.3) if query == "q" else (0.9, 0.3, 0.1), strict=True
    )
]
WAY = "the score decides; to trust the rank, give order='rank' or --order rank"
FOUND = "ranks and scores give different orders in 1 list"
ONE = f"{FOUND} of 4 (25 %); {WAY}"


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("form", sorted({*FORMS} - {"folder"}))
def test_every_form_tells_how_many_lists(
    form: str, engine: str, tmp_path: Path
) -> None:
    found = rk.evaluate(QRELS, written(ROWS, form, tmp_path), "RR", engine=engine)

    assert found["RR"] == pytest.approx((1 / 3 + 1 + 1 + 1) / 4)
    assert found.warnings == (ONE,)


def test_parts_add_up(tmp_path: Path) -> None:
    frame = framed(ROWS)
    for number, part in enumerate((frame[:6], frame[6:])):
        part.write_csv(tmp_path / f"{number}.csv")

    batches = rk.Accumulator("RR").update(
        {query: QRELS[query] for query in "qr"}, frame[:6]
    )
    batches.update({query: QRELS[query] for query in "st"}, frame[6:])

    assert rk.evaluate(QRELS, tmp_path, "RR").warnings == (ONE,)
    assert batches.result().warnings == (ONE,)


def test_check_compare_and_the_gate_say_the_same(tmp_path: Path) -> None:
    run, path = framed(ROWS), tmp_path / "gate.json"

    gate = rk.gate(QRELS, run, path, metrics="RR", update=True)
    found = rk.compare(QRELS, {"a": run, "b": {q: ["a"] for q in QRELS}}, "RR")
    told = [f"{f.what}; {f.todo}" for f in rk.check(QRELS, run).findings]

    assert ONE in gate.warnings
    assert f"a: {ONE}" in found.warnings
    assert f"{FOUND}; {WAY}" in told


@pytest.mark.parametrize(
    "options",
    [
        {"order": "rank"},
        {"order": "score"},
        {"order": "given"},
        {"convention": rk.Convention(order="given")},
    ],
    ids=str,
)
def test_who_says_what_decides_is_not_warned(options: Any) -> None:
    assert not any(
        "ranks and scores" in said
        for said in rk.evaluate(QRELS, framed(ROWS), "P@3", **options).warnings
    )


def test_ranks_follow_distances_if_these_are_asked_for(tmp_path: Path) -> None:
    rows = [(query, item, -score) for query, item, score in ROWS if query != "q"]

    for form in FORMS:
        run = written(rows, form, tmp_path)
        ev = rk.evaluate(QRELS, run, "RR", lower_is_better=True)
        assert (ev["RR"], ev.warnings) == (3 / 4, ())


def test_ranks_that_are_no_numbers_do_not_matter() -> None:
    run = framed(ROWS).with_columns(rank=pl.lit("first"))

    assert rk.evaluate(QRELS, run, "RR").warnings == ()


def test_of_a_long_run_the_first_lists_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "long.run"
    path.write_text(
        "".join(f"q{n} Q0 {item} {rank} {rank} t\n" for n in range(9000)
                for item, rank in (("a", 1), ("b", 2)))
    )  # fmt: skip

    (_, said) = rk.evaluate({"q1": {"a": 1}}, path, "RR").warnings

    assert said.startswith("ranks and scores give different orders in ")
    assert "lists of the first " in said
    assert "(100 %)" in said
