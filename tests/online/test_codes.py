"""Texts as numbers."""

from __future__ import annotations

import polars as pl
import pytest

from rankine._online.codes import coded


@pytest.mark.parametrize("n_texts", [1, 3, 40])
@pytest.mark.parametrize("rare", [[], ["seldom"], [None], ["seldom", None, "never"]])
@pytest.mark.parametrize("n", [3, 9000])
def test_texts_are_numbered(n: int, rare: list[str | None], n_texts: int) -> None:
    rows = [f"text {row % n_texts}" for row in range(n)] + rare
    texts, numbers = coded(pl.Series(rows, dtype=pl.String))

    named = [None, *texts.to_list()]
    assert [named[number] for number in numbers] == rows
    assert sorted(texts.to_list()) == sorted({row for row in rows if row is not None})


def test_texts_may_all_be_missing() -> None:
    texts, numbers = coded(pl.Series([None] * 5000, dtype=pl.String))

    assert texts.to_list() == []
    assert not numbers.any()
