"""Commands that are run in this process: how each ends, and what it prints."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout

from rankine.cli import main


def ended(words: list[str]) -> tuple[object, str, str]:
    """Run a command; return its exit code and what it prints on both streams."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(words)
        except SystemExit as left:
            code = left.code
    return code, out.getvalue(), err.getvalue()
