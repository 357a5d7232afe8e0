"""Tool: what is known of a program whose numbers a named convention reproduces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program, and what it does in one sentence.

    Attributes:
        title: its name, as its authors write it.
        does: what it does, in one sentence.
        checked: the versions whose numbers the convention was held against.
        calls: our metric -> what the tool calls it; None where it has all of ours.
        uncut: our metrics that it has without a cutoff only.
        open_ties: the length of a list from which on the tool leaves the order of
            equal scores open; None if it never does.
    """

    title: str
    does: str
    checked: str
    calls: Mapping[str, str] | None = field(default_factory=dict)
    uncut: frozenset[str] = frozenset()
    open_ties: int | None = None

    def has(self, metric: str, *, cut: bool = False) -> bool:
        """Say whether the tool has a metric of ours, with a cutoff or without."""
        if cut and metric in self.uncut:
            return False
        return self.calls is None or metric in self.calls
