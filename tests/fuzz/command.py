"""The command line in this process, where what it did not foresee is a failure."""

from __future__ import annotations

from rankine.cli import main
from tests.fuzz.judge import Outcome, outcome

UNFORESEEN = 4


def _code(words: list[str]) -> object:
    try:
        main(words)
    except SystemExit as ended:
        return ended.code
    return None


def commanded(*words: str) -> Outcome:
    """Run the command line; the value is its exit code."""
    found = outcome(lambda: _code(list(words)))
    if found.value == UNFORESEEN:
        return outcome(lambda: _code(["--debug", *words]))
    return found
