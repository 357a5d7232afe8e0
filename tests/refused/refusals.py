"""Refusals: the class, the words and the exit code, from Python and on a shell."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.cli import main
from rankine.errors import RankineError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
RUN = (
    "q1 Q0 a 1 0.9 t\nq1 Q0 x 2 0.8 t\nq1 Q0 b 3 0.7 t\n"
    "q2 Q0 x 1 0.5 t\nq2 Q0 c 2 0.4 t\n"
)
RR = (1 / 1 + 1 / 2) / 2
TRUTH = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
LISTS = {"q1": ["x", "a"], "q2": ["c"]}
ONE_QUERY = {"q": {"a": 1}}
LINE = b"q Q0 a 1 1.0 t\n"
ONE = "q 0 a 1\n"
"""Judgements of one query, where a is relevant."""
BOM = "\ufeff"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file as it is, whatever the system takes for the end of a line."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def some_file(folder: Path, content: str | bytes) -> Path:
    """Write a file whose name says nothing of its format."""
    return written(folder, "some.file", content)


def scored(text: str) -> str:
    """Write TREC text from 'item:rank:score ...'."""
    lines = (entry.split(":") for entry in text.split())
    return "".join(f"q Q0 {item} {rank} {score} t\n" for item, rank, score in lines)


def files(
    folder: Path, qrels: str | bytes = QRELS, run: str | bytes = RUN
) -> tuple[Path, Path]:
    """Write judgements and a run; those that are not given are good."""
    return written(folder, "qrels.txt", qrels), written(folder, "a.run", run)


def refused(
    kind: type[RankineError], qrels: Any, run: Any, metrics: Any = "RR", **options: Any
) -> str:
    """Return what `evaluate` says when it refuses, in one line, by this class."""
    with pytest.raises(RankineError) as caught:
        rk.evaluate(qrels, run, metrics, **options)
    text = str(caught.value)
    assert type(caught.value) is kind
    assert "\n" not in text
    assert not text.endswith(".")
    return text


def command(*arguments: str | Path) -> tuple[int, str, str]:
    """Run the command line; return its exit code, its output and its errors."""
    out, err = io.StringIO(), io.StringIO()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as caught,
    ):
        main([str(argument) for argument in arguments])
    assert isinstance(caught.value.code, int)
    return caught.value.code, out.getvalue(), err.getvalue()


def told(code: int, *arguments: str | Path) -> str:
    """Return the one line that the command line says when it refuses."""
    found, out, err = command("evaluate", *arguments)
    assert (found, out) == (code, "")
    assert err.startswith("rankine: ")
    assert err.count("\n") == 1
    assert not err.endswith(".\n")
    return err.removeprefix("rankine: ").rstrip("\n")


def refusal(
    kind: type[RankineError], qrels: Path, run: Path, metric: str = "RR"
) -> str:
    """Return what is said of files, which is the same in Python and on a shell."""
    text = refused(kind, qrels, run, metric)
    assert told(kind.exit_code, qrels, run, "-m", metric) == text
    return text


def frame(**columns: Any) -> pl.DataFrame:
    """Make a frame of two rows of queries q1 and q2, items a and c."""
    return pl.DataFrame({"query": ["q1", "q2"], "item": ["a", "c"], **columns})
