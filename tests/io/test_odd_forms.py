"""Odd variants of forms: the same numbers as dicts, or a sentence that helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankine as rk
from rankine.errors import RankineError

if TYPE_CHECKING:
    from pathlib import Path

# The relevant items are at the ranks 2, 1 and 2.
LISTS = {"q1": ["d3", "d1"], "q2": ["d2", "d4", "d1"], "q3": ["d5", "d1", "d2"]}
TRUTH = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d1": 1}}
RR = (1 / 2 + 1 + 1 / 2) / 3
NAMES = ["d1", "d2", "d3", "d4", "d5"]
UUIDS = {name: UUID(int=number) for number, name in enumerate(NAMES)}


def scored(items: list[Any]) -> list[tuple[Any, float]]:
    return [(item, 0.9 - 0.2 * place) for place, item in enumerate(items)]


def far(items: list[Any]) -> list[tuple[Any, float]]:
    return [(item, 0.1 + 0.2 * place) for place, item in enumerate(items)]


def objects(items: list[Any]) -> list[dict[str, Any]]:
    return [{"id": item, "score": score} for item, score in scored(items)]


def long(items: Any) -> list[UUID]:
    return [UUIDS[item] for item in items]


def series(name: str, numbers: Any) -> pd.Series[Any]:
    pairs = [(q, item, x) for q, items in LISTS.items() for item, x in numbers(items)]
    index = pd.MultiIndex.from_tuples(
        [row[:2] for row in pairs], names=["qid", "docno"]
    )
    return pd.Series([row[2] for row in pairs], index=index, name=name)


class ItemList:
    """A list of LensKit, which has its rows in a frame."""

    def __init__(self, items: list[str]) -> None:
        self.items = items

    def to_df(self) -> pd.DataFrame:
        """Return its rows."""
        return pd.DataFrame(
            {"item_id": self.items, "rank": range(1, len(self.items) + 1)}
        )


RESPONSE = {q: {"hits": {"hits": objects(items)}} for q, items in LISTS.items()}
READ: dict[str, tuple[Any, Any]] = {
    "objects after an empty dict": (
        TRUTH,
        {"q0": {}} | {q: objects(items) for q, items in LISTS.items()},
    ),
    "responses after an empty dict": (TRUTH, {"q0": {}} | RESPONSE),
    "UUIDs in dicts": (
        {q: {UUIDS[d]: 1 for d in own} for q, own in TRUTH.items()},
        {q: dict(scored(long(items))) for q, items in LISTS.items()},
    ),
    "UUIDs in sets and lists": (
        {q: set(long(own)) for q, own in TRUTH.items()},
        {q: long(items) for q, items in LISTS.items()},
    ),
    "UUIDs of queries": (
        {UUID(int=n): own for n, own in enumerate(TRUTH.values())},
        {str(UUID(int=n)): items for n, items in enumerate(LISTS.values())},
    ),
    "pairs of query and list": (TRUTH, [*LISTS.items()]),
    "pairs of query and pairs": (
        TRUTH, [(q, scored(items)) for q, items in LISTS.items()],
    ),
    "an iterator of pairs": ([*TRUTH.items()], iter(LISTS.items())),
    "ids of a collection beside texts": (
        TRUTH,
        {q: {"ids": ids, "documents": ["x"] * len(ids)} for q, ids in LISTS.items()},
    ),
    "a Series of distances": (TRUTH, series("distance", far)),
    "a Series of ranks": (TRUTH, series("rank", far)),
    "lists with frames": (TRUTH, {q: ItemList(items) for q, items in LISTS.items()}),
    "structs of Arrow": (
        TRUTH,
        pl.DataFrame(
            {"query": [*LISTS], "items": [*map(objects, LISTS.values())]}
        ).to_arrow(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_an_odd_form_is_read_as_dicts_are(name: str) -> None:
    truth, run = READ[name]

    assert rk.evaluate(truth, run, "RR")["RR"] == pytest.approx(RR)


RECORDS = [
    {"id": q, "retrieved": items, "expected": [*TRUTH[q]]} for q, items in LISTS.items()
]
REFUSED: dict[str, tuple[Any, Any, str]] = {
    "None for a list": (
        TRUTH,
        {"q0": None} | {q: objects(items) for q, items in LISTS.items()},
        "the list of query 'q0' is None; use an empty list if nothing was retrieved",
    ),
    "an error for results": (
        TRUTH,
        RESPONSE | {"q1": {"error": {"reason": "timeout"}, "status": 500}},
        "the entry of query 'q1' is an error of a service, {'reason': 'timeout'}",
    ),
    "masked places": (
        [["d1"]],
        np.ma.masked_array([["d3", "d1"]], mask=[[False, True]]),
        r"an array has masked places; .* from_ranked\(x.filled\(-1\), pad=-1\)",
    ),
    "a pair without an id": (
        TRUTH,
        {"q1": [("d1", 0.9), (None, 0.0)]},
        "the id of an item in the list of query 'q1' is missing: None",
    ),
    "records without a query": (
        RECORDS, RECORDS,
        "and no query; give each record one, such as 'query_id', or say which of 'id'",
    ),
    "a query twice": (
        TRUTH, [*LISTS.items(), ("q1", ["d2"])], "query 'q1' has several lists",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_odd_form_is_refused_in_a_sentence(name: str) -> None:
    truth, run, message = REFUSED[name]

    with pytest.raises(RankineError, match=message):
        rk.evaluate(truth, run, "RR")


def test_records_can_be_told_which_column_is_the_query() -> None:
    ev = rk.evaluate(RECORDS, RECORDS, "RR", columns={"query": "id"})

    assert ev["RR"] == pytest.approx(RR)


@pytest.mark.parametrize("mark", [", ", ";", " "])
def test_cells_that_look_like_lists_are_doubted(mark: str, tmp_path: Path) -> None:
    lines = [f'{q},"{mark.join(items)}"\n' for q, items in LISTS.items()]
    path = tmp_path / "run.csv"
    path.write_text("query,retrieved\n" + "".join(lines))
    titles = tmp_path / "titles.csv"
    titles.write_text('query,retrieved\nq1,"Paris, France"\nq1,Rome\nq2,Rome\n')

    doubted = rk.evaluate(TRUTH, path, "RR").warnings
    sure = rk.evaluate({"q1": ["Rome"]}, titles, "RR").warnings

    assert any("each cell of 'retrieved', such as" in warning for warning in doubted)
    assert sure == ()
