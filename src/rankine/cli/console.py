"""The console on which commands print."""

from __future__ import annotations

from rich.console import Console

_ENDLESS = 1 << 20
"""Columns where there is no terminal: tables stay whole, and lines are not broken."""


class Terminal(Console):
    """A console that prints text as it is and says when nobody reads it."""

    def __init__(self, *, soft_wrap: bool = False) -> None:
        super().__init__(
            markup=False, highlight=False, soft_wrap=soft_wrap, force_jupyter=False
        )
        if not self.file.isatty():
            self.width = _ENDLESS

    def on_broken_pipe(self) -> None:
        """Let the command end quietly, where rich would exit with an error."""
        raise BrokenPipeError
