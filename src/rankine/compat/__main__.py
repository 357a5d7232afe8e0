"""``python -m rankine.compat LIBRARY SCRIPT [ARGUMENTS]``: run a program on rankine."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from rankine.compat import INSTALLABLE, install
from rankine.errors import UsageError


def main(words: list[str]) -> None:
    """Install a library's stand-in, then run a script as Python would."""
    script = words[1] if len(words) > 1 else ""
    if not script:
        sys.exit(
            "usage: python -m rankine.compat LIBRARY SCRIPT [ARGUMENTS]; LIBRARY is "
            f"{' or '.join(INSTALLABLE)}"
        )
    if not Path(script).exists():
        sys.exit(f"{script}: no such script")
    try:
        install(words[0])
    except UsageError as error:
        sys.exit(str(error))
    sys.argv = words[1:]
    sys.path[0] = str(Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
