"""Findings: a case of each, which fails as expected until the finding is fixed."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from tests.fuzz import (
    judge,
    known_objects,
    known_options,
    known_packed,
    known_text,
)
from tests.fuzz.edits import zipped
from tests.fuzz.findings import CASES, TRUTH, value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

KEPT = (known_text, known_packed, known_objects, known_options)
"""The modules that hold the cases, which they keep in `CASES` when imported."""


def _marked() -> Iterator[Any]:
    for number, function, fixed in CASES:
        marks = () if fixed else pytest.mark.xfail(strict=True, reason=number)
        yield pytest.param(function, marks=marks, id=f"{number} {function.__name__}")


@pytest.mark.parametrize("holds", list(_marked()))
def test_findings(holds: Callable[[], object]) -> None:
    holds()


def test_a_zip_that_cannot_be_opened_is_refused() -> None:
    content = bytearray(zipped(b"q Q0 a 1 1 t\n", zipfile.ZIP_STORED))
    content[8] = 99

    assert value(TRUTH, judge.written(bytes(content))) in {None, 1}
