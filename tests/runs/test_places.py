"""Lists without ids keep the places by which they are paired, whatever is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# The ids of queries start at 1 and places at 0, so that ids taken for places are wrong.
TRUTH = {1: {"a": 1}, 2: {"b": 1}, 3: {"c": 1}}
LISTS = [["a", "x"], ["x", "b"], ["x", "y", "c"]]
BY_ID = {1: ["a", "x"], 2: ["x", "b"], 3: ["x", "y", "c"]}
WITHOUT_IDS = [["a"], ["b"], ["c"]]

PARTS: dict[str, tuple[Callable[[rk.Run], rk.Run], float]] = {
    "some queries": (
        lambda run: run.filter(queries=[1, 2] if 0 in run else [2, 3]),
        (0 + 1 / 2 + 1 / 3) / 3,
    ),
    "some, then the first": (
        lambda run: run.filter(queries=[0, 1] if 0 in run else [1, 2]).head(1),
        (1 + 0 + 0) / 3,
    ),
    "the first, then some": (
        lambda run: run.head(2).filter(queries=[2, 1] if 0 in run else [3, 2]),
        (0 + 1 / 2 + 0) / 3,
    ),
    "judged": (lambda run: run.condensed(TRUTH), 1.0),
    "judged, without ids": (lambda run: run.condensed(WITHOUT_IDS), 1.0),
    "not seen": (
        lambda run: run.without({1: ["x"], 2: ["x"], 3: ["x"]}),
        (1 + 1 + 1 / 2) / 3,
    ),
    "not seen, without ids": (
        lambda run: run.without([["z"], ["x"], ["x", "y"]]),
        (1 + 1 + 1) / 3,
    ),
    "fused": (lambda run: rk.fuse([run, run]), (1 + 1 / 2 + 1 / 3) / 3),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("truth", [TRUTH, WITHOUT_IDS], ids=["ids", "lists"])
def test_a_part_of_lists_is_paired_by_the_places_they_had(
    name: str, truth: Any
) -> None:
    part, by_hand = PARTS[name]

    for lists in (LISTS, BY_ID) if truth is TRUTH else (LISTS,):
        left = part(rk.read_run(lists))
        assert rk.evaluate(truth, left, "RR")["RR"] == pytest.approx(by_hand)


def test_parts_of_both_sides_meet_at_their_places() -> None:
    qrels = rk.read_qrels(WITHOUT_IDS).filter(queries=[1, 2])
    run = rk.read_run(LISTS).filter(queries=[0, 2])

    ev = rk.evaluate(qrels, run, "RR")

    assert ev.per_query.rows() == [(1, 0.0), (2, 1 / 3)]
    assert rk.evaluate(qrels, BY_ID, "RR").per_query.rows() == [(2, 1 / 2), (3, 1 / 3)]


def test_judgements_keep_their_places() -> None:
    qrels = rk.read_qrels(WITHOUT_IDS)
    parts = qrels.sample(0.5), qrels.pooled([LISTS], 2), qrels.pooled([BY_ID], 2)

    assert [rk.evaluate(part, BY_ID, "RR")["RR"] for part in parts] == [
        pytest.approx((1 + 1 / 2 + 1 / 3) / 3), (1 + 1 / 2 + 0) / 3, (1 + 1 / 2) / 3,
    ]  # fmt: skip


def test_as_many_lists_as_are_left_are_not_paired_with_them() -> None:
    left = rk.read_run(LISTS).filter(queries=[1, 2])

    with pytest.raises(DataError, match="qrels has lists for 2 queries and run for 3"):
        rk.evaluate([["b"], ["c"]], left, "RR")
    with pytest.raises(DataError, match="run has 3 lists without ids and qrels has 2"):
        rk.evaluate({2: {"b"}, 3: {"c"}}, left, "RR")


@pytest.mark.parametrize("seen", [{1: ["x"]}, [["x"]]])
def test_what_was_seen_by_fewer_is_not_paired(seen: Any) -> None:
    with pytest.raises(DataError, match="paired by position"):
        rk.read_run(LISTS).without(seen)
    with pytest.raises(DataError, match="paired by position"):
        rk.read_run(BY_ID).without([["x"]])


def test_rows_of_a_matrix_that_are_no_ids_are_doubted() -> None:
    seen = rk.from_scores([[1, 0], [0, 1], [1, 0]], items=["x", "y"])

    notes = rk.read_run(BY_ID).without(seen).notes

    assert any("row numbers 0 to 2 are taken as ids" in note for note in notes)


def test_training_data_without_ids_are_doubted_where_they_match_no_ids() -> None:
    train = [["x"], ["x", "y"], ["z"]]

    ev = rk.evaluate(TRUTH, BY_ID, "Novelty@2", train=train)
    same = rk.evaluate(WITHOUT_IDS, LISTS, "Novelty@2", train=train)

    assert ["row numbers 0 to 2 are taken" in warning for warning in ev.warnings] == [
        True
    ]
    assert same.warnings == ()


@pytest.mark.parametrize("queries", [TRUTH, rk.read_qrels(TRUTH)])
def test_ids_of_other_data_are_no_places(queries: Any) -> None:
    message = "run has lists without ids, which cannot be found by the ids of"

    with pytest.raises(ParameterError, match=message):
        rk.read_run(LISTS).filter(queries=queries)
    with pytest.raises(ParameterError, match="qrels has lists without ids"):
        rk.read_run(BY_ID).filter(queries=rk.read_qrels(WITHOUT_IDS))
    kept = rk.read_run(LISTS).filter(queries=rk.read_run(LISTS[:2]))
    assert kept.queries == [0, 1]


def test_places_are_written_as_ids_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "a.json"

    with pytest.warns(UserWarning, match="run has no query ids: its places, counted"):
        rk.read_run(LISTS).save(path)

    assert rk.read_run(path).queries == ["0", "1", "2"]
