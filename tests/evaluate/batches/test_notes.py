"""Notes of batches: those of one call, with the counts of all data."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from tests.evaluate.batches.test_evaluations import LISTED, data, total

Data = tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]
METRICS = ["nDCG@2", "P@2", "AP@4", "RR(rel=2)", "NDPM", "RR"]


@st.composite
def pairs(draw: st.DrawFn) -> Data:
    """Judgements and lists of a few queries; some have only one of them, or none."""
    entry = st.dictionaries(st.sampled_from("abcde"), st.integers(-1, 3), max_size=5)
    qrels, run = {}, {}
    for number in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            qrels[f"q{number}"] = draw(entry)
        if draw(st.booleans()):
            run[f"q{number}"] = draw(entry)
    # One query that both have, so that one call has something to evaluate.
    return {"p": {"a": 1.0}, **qrels}, {"p": {"a": 1.0, "b": 1.0}, **run}  # type: ignore[dict-item]


def cut(qrels: Any, run: Any, size: int) -> list[tuple[Any, Any]]:
    """Cut queries into batches of a size, in their order."""
    every = sorted({*qrels, *run})
    parts = [every[begin : begin + size] for begin in range(0, len(every), size)]
    return [
        tuple({q: side[q] for q in part if q in side} for side in (qrels, run))  # type: ignore[misc]
        for part in parts
    ]


@given(
    pair=pairs(),
    size=st.integers(1, 4),
    name=st.sampled_from(["rankine", "pytrec_eval", "ranx", "jurity"]),
)
def test_they_are_the_notes_of_one_call(pair: Data, size: int, name: str) -> None:
    once = rk.evaluate(*pair, METRICS, convention=name)

    assert total(METRICS, cut(*pair, size), convention=name).notes == once.notes


@given(pair=pairs(), size=st.integers(1, 3))
def test_frames_too(pair: Data, size: int) -> None:
    def framed(entries: Any, value: str) -> pl.DataFrame:
        rows = [(q, i, v) for q, entry in entries.items() for i, v in entry.items()]
        names = {"query": pl.String, "item": pl.String, value: pl.Float64}
        return pl.DataFrame(rows, schema=names, orient="row")

    qrels, run = framed(pair[0], "grade"), framed(pair[1], "score")
    once = rk.evaluate(qrels, run, METRICS)
    parts = [
        (framed(own, "grade"), framed(shown, "score"))
        for own, shown in cut(*pair, size)
    ]

    assert total(METRICS, parts).notes == once.notes


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("seed", [4, 5, 6])
def test_metrics_of_lists(seed: int, size: int) -> None:
    qrels, run, train, topics = data(seed)
    topics = {item: topics[item] for item in list(topics)[:20]}
    known: dict[str, Any] = {"train": train, "items": topics}

    # How far a list is from others is not known of a batch.
    metrics = [one for one in LISTED if "InterListDiversity" not in one]

    found = total(metrics, cut(qrels, run, size), **known)

    # The same items are unknown in many batches, and are counted once: those of all
    # lists, and, where these are fewer, those of judged queries.
    once = rk.evaluate(qrels, run, metrics, **known).notes
    assert found.notes == once
    if seed == 4:
        assert sum("recommended items" in note for note in once) == 2


@pytest.mark.parametrize("turned", [False, True])
def test_what_comes_late_stands_where_one_call_has_it(*, turned: bool) -> None:
    # v shows y, which has no features; u shows x, which is not in train; w has no list.
    qrels = {"w": {"a": 1}, "u": {"a": 1}, "v": {"a": 1}}
    run = {"u": ["a", "x"], "v": ["b", "y"]}
    known: dict[str, Any] = {
        "train": {"u": ["a", "b"], "v": ["y"]},
        "items": {item: ["t"] for item in "abx"},
    }
    metrics = ["Serendipity", "Calibration", "Popularity"]
    batches = [({q: qrels[q]}, {q: run[q]} if q in run else {}) for q in sorted(qrels)]

    found = total(metrics, batches[::-1] if turned else batches, **known)

    once = rk.evaluate(qrels, run, metrics, **known).notes
    assert found.notes == once
    assert once[-3:] == (
        "1 judged user without a list: treated as an empty list",
        "1 recommended item not in train",
        "1 recommended item without features: left out",
    )


@pytest.mark.parametrize("convention", ["rankine", "ranx"])
def test_rows_that_were_dropped_are_added_up(convention: str) -> None:
    batches = [
        (
            pl.DataFrame({"query": [q, q], "item": ["a", "a"], "grade": [1, 0]}),
            pl.DataFrame(
                {
                    "query": [q] * 4,
                    "item": ["a", "a", "b", None],
                    "score": [2.0, 1.0, float("nan"), 1.0],
                }
            ),
        )
        for q in "pqr"
    ]
    qrels, run = (pl.concat(side) for side in zip(*batches, strict=True))
    options: dict[str, Any] = {"lenient": True, "convention": convention}

    metrics = ["RR", "GiniSimpson"]

    found = total(metrics, batches, **options)

    assert "run: 3 rows without an id: dropped" in found.notes
    assert "run: 3 scores not a number: ranked last" in found.notes
    assert found.notes == rk.evaluate(qrels, run, metrics, **options).notes


def test_a_note_that_comes_late_stands_before_what_follows_it() -> None:
    first = {"query": ["p"], "item": ["a"], "score": [float("nan")]}
    later = {"query": ["q"] * 2, "item": ["a", None], "score": [float("nan"), 1.0]}
    batches = [
        ({query: {"a": 1}}, pl.DataFrame(rows))
        for query, rows in (("p", first), ("q", later))
    ]

    found = total(["RR"], batches, lenient=True)

    run = pl.concat([frame for _, frame in batches])
    once = rk.evaluate({"p": {"a": 1}, "q": {"a": 1}}, run, "RR", lenient=True)
    assert found.notes == once.notes
    assert once.notes[-2:] == (
        "run: 1 row without an id: dropped",
        "run: 2 scores not a number: ranked last",
    )


def test_repeats_that_a_tool_leaves_out_are_added_up() -> None:
    frames = [
        pl.DataFrame({"query": [q] * 3, "item": ["a", "b", "a"], "score": [3.0, 2, 1]})
        for q in "pq"
    ]
    batches = [({"p": {"a": 1}}, frames[0]), ({"q": {"a": 1}}, frames[1])]
    qrels = {"p": {"a": 1}, "q": {"a": 1}}

    found = total("RR", batches, convention="ranx")

    once = rk.evaluate(qrels, pl.concat(frames), "RR", convention="ranx")
    assert found.notes == once.notes
    assert any(note.startswith("2 rows of the run left out") for note in once.notes)


def test_what_has_no_count_is_told_once() -> None:
    ranked = pl.DataFrame({"query": ["q0"], "item": ["a"]})
    judged = {"q0": {"a": 1}}
    accumulator = rk.Accumulator("RR").update(judged, ranked)
    note = "run has no scores and no ranks; rows are ranked in order"
    assert accumulator.result().notes == (note,)

    accumulator.update({"q1": {"a": 1}}, {"q1": ["a"]})
    assert accumulator.result().notes == (note,)

    accumulator.update({"q2": {"a": 1}}, ranked.with_columns(query=pl.lit("q2")))
    assert accumulator.result().notes == (note,)


def test_they_travel_and_merge() -> None:
    frame = pl.DataFrame({"query": ["p", "p"], "item": ["a", None], "score": [2.0, 1]})
    first, second = (
        rk.Accumulator("RR", lenient=True).update(
            {query: {"a": 1}}, frame.with_columns(query=pl.lit(query))
        )
        for query in "pq"
    )

    first.merge(pickle.loads(pickle.dumps(second))).merge(  # noqa: S301 - our own
        rk.Accumulator("RR", lenient=True)
    )

    assert "run: 2 rows without an id: dropped" in copy.copy(first).result().notes
    assert "run: 1 row without an id: dropped" in second.result().notes


def test_many_files_do_not_make_many_notes(tmp_path: Path) -> None:
    accumulator = rk.Accumulator("RR")
    for day in range(25):
        path = tmp_path / f"day{day}.csv"
        path.write_text(f"user_id,item,score\nu{day},a,1\n")
        accumulator.update({f"u{day}": {"a": 1}}, path)

    notes = accumulator.result().notes

    assert len(notes) == 20 + 1
    assert notes[0].endswith("day0.csv: query = user_id")
    assert notes[-1] == "5 further notes on batches"
