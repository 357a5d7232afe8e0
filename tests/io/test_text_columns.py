"""A column of texts is the texts, whichever way it was made."""

from __future__ import annotations

from itertools import chain
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._base.limits import limited
from rankine._io.text_columns import column_of, parts_of

TEXTS = st.text(st.sampled_from("ab \0\n,é漢😀"), max_size=14)


@given(
    groups=st.lists(st.lists(TEXTS, max_size=5), max_size=8),
    size=st.integers(1, 12),
    few=st.sampled_from([0, 1 << 14]),
)
def test_texts_stay_as_they_are(groups: list[list[str]], size: int, few: int) -> None:
    with limited(looked_up=size, few_texts=few):
        column = column_of(groups, "item")

    assert column.to_list() == list(chain.from_iterable(groups))
    assert column.name == "item"
    assert column.dtype == pl.String


@pytest.mark.parametrize("few", [0, 10], ids=["joined", "listed"])
def test_a_part_is_told_how_many_texts_come_before_it(few: int) -> None:
    groups = [["a", "b"], ["c"], [], ["d", "e", "f"]]

    with limited(looked_up=2, few_texts=few):
        parts = parts_of(groups, lambda part, before: (before, part.to_list()))

    assert len(parts) == (1 if few else 2)
    texts = [*"abcdef"]
    for before, part in parts:
        assert part == texts[before : before + len(part)]


@pytest.mark.parametrize("few", [0, 10], ids=["joined", "listed"])
@pytest.mark.parametrize(
    ("odd", "error"),
    [(7, TypeError), (None, TypeError), (b"x", TypeError), ("\ud800", UnicodeError)],
)
def test_what_is_no_text_is_refused(odd: Any, error: type[Exception], few: int) -> None:
    with limited(few_texts=few), pytest.raises(error):
        column_of([["a"], [odd]], "item")


@pytest.mark.parametrize("few", [0, 10], ids=["joined", "listed"])
def test_ids_with_the_mark_in_them_are_told_apart(few: int) -> None:
    """Joined by the mark, the items of both lists would be the same text."""
    first, second = {"q": ["a\0b", "c"]}, {"q": ["a", "b\0c"]}

    with limited(few_texts=few):
        assert rk.similarity(first, second, "Jaccard@2")["Jaccard@2"] == 0
        assert rk.similarity(first, first, "Jaccard@2")["Jaccard@2"] == 1
