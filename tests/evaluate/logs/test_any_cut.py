"""A log cut anywhere says the same, in memory, as a stream and in batches."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._metrics.estimators import ESTIMATORS
from tests.evaluate.streams import small

EVERY = list(ESTIMATORS)
USERS, ITEMS = st.integers(0, 5), st.integers(0, 4)
rounds = st.lists(
    st.tuples(
        USERS,
        ITEMS,
        st.integers(0, 2),
        st.integers(0, 1),
        st.sampled_from([1 / 3, 0.1, 0.7, 1.0]),
    ),
    min_size=1,
    max_size=30,
)
lists = st.dictionaries(
    USERS,
    st.dictionaries(ITEMS, st.sampled_from([0.1, 0.7, 0.9]), min_size=1),
    min_size=1,
)


def tables(log: Any, offered: Any, form: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a log and what is recommended to each user, in one of several forms."""
    names = ["user_id", "item_id", "position", "click", "propensity"]
    logged = pl.DataFrame(log, names, orient="row")
    rows = [
        (user, item, 1, predicted, 1 / len(entry))
        for user, entry in offered.items()
        for item, predicted in entry.items()
    ]
    names = ["user_id", "item_id", "position", "predicted", "probability"]
    recommended = pl.DataFrame(rows, names, orient="row")
    if form != "positions":
        recommended = recommended.drop("position")
    if form != "probabilities":
        recommended = recommended.drop("probability")
    if form == "everyone":
        first = recommended["user_id"] == next(iter(offered))
        recommended = recommended.filter(first).drop("user_id")
    if form == "texts":
        text = pl.col("user_id", "item_id").cast(pl.String)
        recommended = recommended.with_columns(text)
    if form == "unknown":
        logged = logged.drop("propensity")
    return logged, recommended


@given(
    log=rounds,
    offered=lists,
    form=st.sampled_from(
        ["lists", "positions", "probabilities", "everyone", "texts", "unknown"]
    ),
    ends=st.lists(st.integers(0, 30)),
    swapped=st.booleans(),
    method=st.sampled_from(["t", "bootstrap"]),
)
def test_the_same_bits_and_notes(
    log: Any,
    offered: Any,
    form: str,
    ends: list[int],
    swapped: bool,  # noqa: FBT001 - whether the later batches come first
    method: str,
) -> None:
    logged, recommended = tables(log, offered, form)
    how: dict[str, Any] = {"method": method}
    if form == "unknown":
        how["missing_propensity"] = "items"
    cuts = sorted({0, len(log), *(end for end in ends if end < len(log))})
    chunks = [logged[begin:end] for begin, end in pairwise(cuts)]

    memory = rk.ctr(logged, recommended, EVERY, **how)
    with small():
        stream = rk.ctr(iter(chunks), recommended, EVERY, **how)
    totals = [rk.Accumulator("ctr", estimator=EVERY, **how) for _ in range(2)]
    for number, chunk in enumerate(chunks):
        totals[(number + swapped) % 2].update(chunk, recommended)
    batches = totals[0].merge(totals[1]).result()

    # As texts, in which floats have all of their digits and nan is nan.
    assert repr(stream.to_dict()) == repr(memory.to_dict())
    assert repr(batches.to_dict()) == repr(memory.to_dict())


@given(log=rounds, offered=lists, end=st.integers(0, 30))
def test_pairs_that_are_counted(log: Any, offered: Any, end: int) -> None:
    """A batch cannot have some rounds of a list; a part of a stream can."""
    logged, recommended = tables(log, offered, "lists")
    chunks = iter([logged[:end], logged[end:]])

    memory = rk.ctr(logged, recommended, EVERY, n="recommended")
    with small():
        stream = rk.ctr(chunks, recommended, EVERY, n="recommended")

    assert repr(stream.to_dict()) == repr(memory.to_dict())
