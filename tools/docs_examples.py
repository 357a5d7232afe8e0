"""Run the examples of the documentation, so that a page shows what is printed.

A page is read from top to bottom, in a folder of its own with the sample data in it.

- A ``python`` block runs; what it prints, and the value of its last line, stand below.
- A ``python raises=NAME`` block must raise that error; its message stands below.
- A ``console`` block has lines that begin with ``$``, which are run one by one; what
  they print stands below. With ``exit=N`` the last one must end with that code.
- A block with ``title="NAME"`` is a file: it is written into the folder.
- Tables that are printed become tables of HTML (see `tools.docs_tables`).

An example that does anything else is an error, and so ends the build.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from rankine.cli import main
from rankine.data import FILMS, FOLDER, QRELS, RUNS
from tools.docs_mlflow import StandIn
from tools.docs_tables import WHOLE_FRAMES, marked_tables, text_and_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

FENCE = re.compile(
    r"^```(?P<info>[^`\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_OPTION = re.compile(r'(?P<key>\w+)=(?:"(?P<quoted>[^"]*)"|(?P<bare>\S+))')
_WIDTH = "80"
# Not searched: all tables print the same words.
_OUTPUT = '{{ .text .output{more} data-search-exclude="" }}'
_COLUMNS = re.compile(r"\S(?: {2,}|\t)\S|[─│├└]")
_COLOURS = ("FORCE_COLOR", "TTY_COMPATIBLE", "CLICOLOR_FORCE")


class ExampleError(Exception):
    """An example that does not do what its page says."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its options, its text and where it stands."""

    language: str
    options: dict[str, str]
    body: str
    where: str

    @classmethod
    def of(cls, match: re.Match[str], page: str) -> Block:
        """Take a match of `FENCE` apart."""
        info = match["info"].strip()
        options = {
            option["key"]: option["quoted"] or option["bare"] or ""
            for option in _OPTION.finditer(info)
        }
        line = match.string.count("\n", 0, match.start()) + 2
        language = info.split(maxsplit=1)[0] if info else ""
        return cls(language, options, match["body"], f"{page}:{line}")


@dataclass
class Page:
    """What the examples of one page share: the names that they have defined.

    Attributes:
        tables: the tables that rich has drawn, as HTML.
        names: the names, with their values.
    """

    tables: list[str]
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def rendered(self, block: Block, source: str) -> str:
        """Return a block with what it prints below it."""
        if "title" in block.options:
            Path(block.options["title"]).write_text(block.body, encoding="utf-8")
            return source
        if block.language == "python":
            return _fenced("python", block.body) + self._output(self._python(block))
        if block.language == "console":
            return self._console(block)
        return source

    def _python(self, block: Block) -> str:
        expected = block.options.get("raises")
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                self._run(block)
        except Exception as error:
            if type(error).__name__ != expected:
                msg = f"{block.where}: {type(error).__name__}: {error}"
                raise ExampleError(msg) from error
            return f"{printed.getvalue()}{expected}: {error}"
        if expected:
            msg = f"{block.where}: did not raise {expected}"
            raise ExampleError(msg)
        return printed.getvalue()

    def _run(self, block: Block) -> None:
        tree = ast.parse(block.body, block.where)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, block.where, "exec"), self.names)  # noqa: S102 - our pages
        if isinstance(last, ast.Expr):
            code = compile(ast.Expression(last.value), block.where, "eval")
            value = eval(code, self.names)  # noqa: S307 - our own pages
            if value is not None:
                print(repr(value))  # noqa: T201 - as the prompt does

    def _console(self, block: Block) -> str:
        commands = _commands(block)
        shown, code = "", 0
        for command in commands:
            text, code = _called(command)
            shown += _fenced("bash", command + "\n") + self._output(text)
        if code != int(block.options.get("exit", "0")):
            msg = f"{block.where}: {commands[-1]} ended with {code}\n{text}"
            raise ExampleError(msg)
        return shown

    def _output(self, printed: str) -> str:
        """Return what was printed; no path of this machine stays in it."""
        printed = printed.replace(str(FOLDER), ".../rankine/data")
        lines = "\n".join(line.rstrip() for line in printed.rstrip().splitlines())
        made = ""
        for text, table in text_and_tables(lines, self.tables):
            if text:
                # A sentence may be broken where the page ends; columns may not.
                more = "" if _COLUMNS.search(text) else " .flowing"
                made += "\n" + _fenced(_OUTPUT.format(more=more), text + "\n")
            if table:
                made += f"\n{table}\n\n"
        return made


def _commands(block: Block) -> list[str]:
    commands = [line[2:] for line in block.body.splitlines() if line[:2] == "$ "]
    if len(commands) != len(block.body.splitlines()):
        msg = f"{block.where}: a line of a console block does not begin with $"
        raise ExampleError(msg)
    return commands


def _called(command: str) -> tuple[str, int]:
    """Run a command; return what it printed and its exit code."""
    words = shlex.split(command)
    if words[0] != "rankine":
        done = subprocess.run(  # noqa: S603 - a command of our own pages
            words, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr, done.returncode
    printed = _Terminal()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main(words[1:])
        except SystemExit as ended:
            return printed.getvalue(), int(ended.code or 0)
    return printed.getvalue(), 0


class _Terminal(io.StringIO):
    """Keeps what is printed, to which commands write as to a terminal."""

    def isatty(self) -> bool:
        """Say that lines are to be wrapped to the width of the page."""
        return True


def _fenced(kind: str, text: str) -> str:
    return f"```{kind}\n{text}```\n"


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """Work in a fresh folder with the sample data, on a terminal of 80 columns."""
    with tempfile.TemporaryDirectory() as name:
        for path in (QRELS, *RUNS):
            shutil.copy(path, name)
        shutil.copytree(FILMS, Path(name, FILMS.name))
        plain = {key: value for key, value in os.environ.items() if key not in _COLOURS}
        plain |= {"COLUMNS": _WIDTH, "NO_COLOR": "1", "TERM": "dumb"} | WHOLE_FRAMES
        with mock.patch.dict(os.environ, plain, clear=True), contextlib.chdir(name):
            yield Path(name)


@contextlib.contextmanager
def _imported(mlflow: object) -> Iterator[None]:
    """Let ``import mlflow`` find this; not by `mock`, which forgets other imports."""
    before = sys.modules.pop("mlflow", None)
    sys.modules["mlflow"] = mlflow  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["mlflow"]
        if before is not None:
            sys.modules["mlflow"] = before


def render(markdown: str, page: str, mlflow: object = None) -> str:
    """Run the examples of a page and return it with what they print.

    They log to a stand-in, unless MLflow itself is given.
    """
    with workplace(), marked_tables() as tables, _imported(mlflow or StandIn()):
        state = Page(tables)
        return FENCE.sub(
            lambda match: state.rendered(Block.of(match, page), match[0]), markdown
        )
