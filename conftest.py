"""What holds for tests and for examples in docstrings alike."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def no_custom_metrics() -> Iterator[None]:
    """Forget the metrics that a test or an example has made."""
    yield
    custom = sys.modules.get("rankine._evaluate.custom")
    for name in list(custom.CUSTOM) if custom is not None else ():
        custom.forget(name)
