"""Tests of joins have few rows, and are about the way that many rows take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rankine._base.limits import limited

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def many_rows() -> Iterator[None]:
    """Join rows as rows; `test_few_rows.py` compares with the shorter way."""
    with limited(few_rows=0):
        yield
