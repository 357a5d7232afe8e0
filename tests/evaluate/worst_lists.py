"""Three queries, of which some items are missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.forms import Data

QRELS: Data = {
    "1": {"0": 2, "1": 1, "2": 0, "3": 1},
    "2": {"4": 1},
    "3": {"5": 1, "6": 1},
}
RUN: Data = {
    "1": {"9": 0.9, "2": 0.8, "1": 0.7, "8": 0.6, "3": 0.5},
    "2": {"4": 0.9, "9": 0.8},
    "3": {"9": 0.9, "5": 0.8, "8": 0.7},
}
