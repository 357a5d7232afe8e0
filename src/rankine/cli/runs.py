"""Names of runs: given as NAME=FILE, or as much of a path as tells runs apart."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankine._base.paths import told_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

_STDIN = "-"
_SIGN = "="

no_qrels_option = click.option(
    "--no-qrels", is_flag=True,
    help="There are no judgements: QRELS is a run too. Only for metrics of lists.",
)  # fmt: skip


@dataclass(frozen=True)
class RunFile:
    """A run on the command line.

    Attributes:
        path: the file, the folder or the pattern; - is standard input.
        name: what to call it; None for standard input that has no name.
    """

    path: Path
    name: str | None


def judged_and_runs(
    qrels: Path, runs: tuple[Path, ...], *, no_qrels: bool
) -> tuple[Path | None, list[RunFile]]:
    """Say which of the files hold judgements, if one does, and which hold runs."""
    if not runs and not no_qrels:
        msg = "Missing argument 'RUN [RUN ...]'."
        raise click.UsageError(msg)
    if no_qrels:
        return None, run_files((qrels, *runs))
    return qrels, run_files(runs)


def run_files(arguments: Sequence[Path]) -> list[RunFile]:
    """Read RUN or NAME=RUN, and give every run a name of its own."""
    pairs = [_taken_apart(argument) for argument in arguments]
    paths = [path for name, path in pairs if name is None]
    given = {name for name, _ in pairs if name is not None}
    automatic = {
        path: None if str(path) == _STDIN else name
        for path, name in zip(paths, told_apart(paths, given), strict=True)
    }
    runs = [RunFile(path, name or automatic[path]) for name, path in pairs]
    seen: set[str | None] = set()
    for run in runs:
        if run.name in seen:
            msg = (
                f"two runs are called {run.name!r}; rename one of them, as in "
                f"NAME={run.path}"
            )
            raise click.UsageError(msg)
        seen.add(run.name)
    return runs


def _taken_apart(argument: Path) -> tuple[str | None, Path]:
    """Return the name, if one is given, and the path.

    A path that exists is a path, even if it contains the sign; and what comes before
    the sign is not a name if it contains folders.
    """
    text = str(argument)
    name, sign, rest = text.partition(_SIGN)
    if not sign or not name or "/" in name or _is_there(argument):
        return None, argument
    if not rest:
        msg = f"{text!r} names a run without a file; write NAME=FILE"
        raise click.UsageError(msg)
    return name, Path(rest) if rest == _STDIN else Path(rest).expanduser()


def _is_there(path: Path) -> bool:
    try:
        return path.exists() or bool(glob.glob(str(path), recursive=True))  # noqa: PTH207 - as files are read
    except (OSError, ValueError):  # such as a path that is too long
        return False
