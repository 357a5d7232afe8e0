"""Lists that are short, have gaps, or show an item twice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import DuplicateItemError
from tests.metrics.lists.mean import one

if TYPE_CHECKING:
    from pathlib import Path

LISTS = {"u": ["a", "b"], "v": ["a", "a", "c"], "w": ["a", "b", "b", "a", "e"]}


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [
        ("SufficientReco", (1 + 1 + 1) / 3),
        ("SufficientReco@1", (1 + 1 + 1) / 3),
        ("SufficientReco@4", (0 + 0 + 1) / 3),
        ("SufficientReco(deep=True)@4", (2 / 4 + 3 / 4 + 4 / 4) / 3),
        ("UnrepeatedReco@1", (1 + 1 + 1) / 3),
        ("UnrepeatedReco@4", (1 + 0 + 0) / 3),
        ("UnrepeatedReco(deep=True)@4", (2 / 2 + 2 / 3 + 2 / 4) / 3),
        ("UnrepeatedReco(deep=True)", (2 / 2 + 2 / 3 + 3 / 5) / 3),
    ],
)
def test_rows(metric: str, wanted: float) -> None:
    assert one(None, LISTS, metric, convention="rectools") == pytest.approx(wanted)


def test_a_rank_that_is_left_out_is_an_empty_place() -> None:
    rows = {"user": [1, 1, 2], "item": [5, 5, 7], "rank": [1, 3, 4]}
    metrics = ["SufficientReco@3", "SufficientReco(deep=True)@3", "UnrepeatedReco@3"]

    ev = rk.evaluate(None, pl.DataFrame(rows), metrics, convention="rectools")

    assert ev.per_query.rows() == [(1, 0, 2 / 3, 0), (2, 0, 0, None)]
    # Only the order of ranks counts otherwise.
    ev = rk.evaluate(None, pl.DataFrame(rows), "UnrepeatedReco@3")
    assert ev.per_query.rows() == [(1, 0), (2, 1)]


def as_file(lists: Any, folder: Path) -> Path:
    path = folder / "run.csv"
    as_frame(lists, folder).to_csv(path, index=False)
    return path


def as_frame(lists: Any, _: Path) -> pd.DataFrame:
    rows = [
        (user, item, -place)
        for user, items in lists.items()
        for place, item in enumerate(items)
    ]
    return pd.DataFrame(rows, columns=["user", "item", "score"])


@pytest.mark.parametrize("make", [lambda lists, _: lists, as_frame, as_file])
@pytest.mark.parametrize("convention", ["rankine", "ranx", "replay", "jurity"])
def test_repeats_are_seen_under_every_convention(
    make: Any, convention: str, tmp_path: Path
) -> None:
    run = make(LISTS, tmp_path)

    assert one(None, run, "UnrepeatedReco@4", convention=convention) == 1 / 3


def test_repeats_are_refused_where_another_metric_asks_for_the_lists() -> None:
    with pytest.raises(DuplicateItemError, match="'a' appears twice for query 'v'"):
        rk.evaluate(None, LISTS, ["UnrepeatedReco", "SufficientReco"])


def test_a_convention_may_say_otherwise_of_the_metric_itself() -> None:
    strict = rk.Convention(overrides={"UnrepeatedReco": {"duplicates": "error"}})

    with pytest.raises(DuplicateItemError):
        rk.evaluate(None, LISTS, "UnrepeatedReco", convention=strict)


def test_repeats_that_are_dropped_are_not_seen() -> None:
    ev = rk.evaluate(None, LISTS, "UnrepeatedReco", lenient=True)

    assert ev["UnrepeatedReco"] == 1
    assert any("3 rows repeating an item: dropped" in note for note in ev.notes)


lists = st.dictionaries(
    st.integers(0, 9), st.lists(st.integers(0, 4), max_size=8), min_size=1
)


@given(lists, st.integers(1, 9))
def test_values_per_user(run: dict[int, list[int]], k: int) -> None:
    labels = [
        f"{name}{deep}@{k}"
        for name in ("SufficientReco", "UnrepeatedReco")
        for deep in ("", "(deep=True)")
    ]

    ev = rk.evaluate(None, run, labels, convention="rectools")

    for user, *values in ev.per_query.rows():
        shown = run[user][:k]
        new = [item for place, item in enumerate(shown) if item not in shown[:place]]
        wanted = [
            float(len(shown) == k),
            len(shown) / k,
            float(new == shown) if shown else math.nan,
            len(new) / len(shown) if shown else math.nan,
        ]
        got = [math.nan if value is None else value for value in values]
        assert got == pytest.approx(wanted, nan_ok=True)


@given(lists, st.data())
def test_batches_give_what_one_call_gives(
    run: dict[int, list[int]], data: st.DataObject
) -> None:
    metrics = ["SufficientReco(deep=True)@3", "UnrepeatedReco(deep=True)@3"]
    first = data.draw(st.sets(st.sampled_from(sorted(run))))
    total = rk.Accumulator(metrics, convention="rectools")

    for part in (first, run.keys() - first):
        total.update({user: run[user] for user in part})

    whole = rk.evaluate(None, run, metrics, convention="rectools")
    assert total.result().mean == pytest.approx(whole.mean, rel=0, abs=0, nan_ok=True)
