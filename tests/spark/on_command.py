"""A program that runs commands one after the other, each with a session of its own.

It reads a list of commands in JSON, and prints how each ended and what it printed.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

from rankine.cli import main


def ended(words: list[str]) -> tuple[object, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(words)
        except SystemExit as left:
            code = left.code
    return code, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    printed = [ended(words) for words in json.loads(sys.argv[1])]
    print(json.dumps({"ended": printed}))  # noqa: T201 - what the test reads
