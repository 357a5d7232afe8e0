"""The command line: each command parses its arguments, calls the library and prints."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from rankine import __version__

_GROUPS = {
    "Runs and judgements": {
        "evaluate": "Evaluate runs against judgements.",
        "compare": "Show whether one run is better than another, and how certain that "
        "is.",
        "experiment": "Run an experiment in YAML: metrics over many runs.",
        "gate": "Fail if a run fell below its baseline, unless within a margin.",
        "check": "Check judgements and a run before computing any metric.",
        "convert": "Write a run or judgements in another format.",
        "reconcile": "Compute a metric as every tool does, and explain why the "
        "numbers differ.",
        "similarity": "Compare runs with each other.",
        "fuse": "Fuse runs into one, and tune how.",
        "trec_eval": "Print what trec_eval prints, for the same arguments.",
        "conventions": "List the named conventions, or show one.",
        "metrics": "List the metrics, or explain one.",
    },
    "What users do": {
        "online": "Summarise what users did, from a log of events.",
        "ab": "Show what a variant changes in a live test, and how certain that is.",
        "plan": "Compute how many users a test needs.",
        "calibrate": "Measure how often a test errs on your own users.",
        "interleaving": "Find which of two interleaved rankings users prefer.",
        "ctr": "Estimate what recommendations would have earned, from a log.",
    },
    "Reports and samples": {
        "report": "Write a report on saved results, as one HTML file.",
        "demo": "Evaluate three systems on sample data.",
    },
}
_COMMANDS = [name for commands in _GROUPS.values() for name in commands]


class _Lazy(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return _COMMANDS

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        del ctx
        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"rankine.cli.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from rankine.errors import nearest  # noqa: PLC0415

            msg = (
                f"no command {args[0]!r}; the commands are "
                f"{', '.join(_COMMANDS)}{nearest(args[0], _COMMANDS)}"
            )
            raise click.UsageError(msg, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        del ctx
        for heading, commands in _GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(list(commands.items()))


@click.group(
    cls=_Lazy,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__)
@click.option("--debug", is_flag=True, help="Show where an error comes from.")
@click.pass_context
def cli(context: click.Context, debug: bool) -> None:  # noqa: FBT001 - a flag
    """Measure how good a ranking or a recommender is, and how certain that is."""
    del debug  # main looks for it, as an error may come before it is read
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; errors are one sentence, never a traceback."""
    from rankine.errors import RankineError  # noqa: PLC0415

    words = sys.argv[1:] if arguments is None else arguments
    _write_all()
    code: object = 0
    try:
        with cli.make_context("rankine", list(words), obj=words) as context:
            code = cli.invoke(context)
            sys.stdout.flush()
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    except RankineError as error:
        if "--debug" in words:
            raise
        code = _said(str(error), error.exit_code)
    except click.ClickException as error:
        code = _said(_sentence(error), 2)
    except (KeyboardInterrupt, click.Abort):
        code = _said("interrupted", 130)
    except BrokenPipeError:
        # The reader of our output has gone: nothing to say, and nobody to say it to.
        _drop(sys.stdout)
    except Exception as error:
        if "--debug" in words:
            raise
        code = _of_system(error) if isinstance(error, OSError) else _unforeseen(error)
    sys.exit(code if isinstance(code, int) else 0)


def _write_all() -> None:
    """Make standard output and error write all that is printed, or fail.

    Characters that a terminal cannot display are shown by their code, and if one of the
    streams is closed, nobody reads what is printed.
    """
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            stream = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        file = getattr(stream, "buffer", None)
        if isinstance(file, io.RawIOBase):
            # As with PYTHONUNBUFFERED: a raw file may take a part of a text, such as
            # what a disk has room for, and the stream above it does not look.
            whole: Any = io.BufferedWriter(_Lent(stream))
            stream = io.TextIOWrapper(whole, stream.encoding, line_buffering=True)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, stream)


class _Lent(io.RawIOBase):
    """The raw file below a stream, which stays open when this is closed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream  # which would close the file if nobody held it

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        number: int = self._stream.fileno()
        return number

    def isatty(self) -> bool:
        return bool(self._stream.isatty())

    def write(self, data: Any, /) -> int | None:
        taken: int | None = self._stream.buffer.write(data)
        return taken


def _said(sentence: str, code: int) -> int:
    """Say why a command ends, and return its exit code, even if nobody can read why."""
    from rankine.cli.output import say  # noqa: PLC0415 - --help stays fast

    try:
        say(sentence)
    except OSError:
        _drop(sys.stderr)
    return code


def _drop(stream: Any) -> None:
    """Forget what a stream could not write; Python would try again at its end."""
    with suppress(OSError):  # a stream without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _of_system(error: OSError) -> int:
    """Say what the system does not do, and return the exit code."""
    from rankine._base.paths import is_full  # noqa: PLC0415 - --help stays fast
    from rankine.errors import DataError, NoSpaceError  # noqa: PLC0415

    what = f"{error.filename}: cannot be used"
    if error.filename is None:
        what = "the output cannot be written"
        _drop(sys.stdout)
    kind = NoSpaceError if is_full(error) else DataError
    return _said(f"{what} ({error.strerror or error})", kind.exit_code)


def _unforeseen(error: Exception) -> int:
    """Say what went wrong in rankine itself, and return the exit code."""
    said = (
        f"internal error: {type(error).__name__}: {error}; please report it with what "
        "rankine --debug shows"
    )
    if isinstance(error, MemoryError):
        said = "there is not enough memory for this"
    return _said(said, 4)


def _sentence(error: click.ClickException) -> str:
    """Return what is wrong in one line, and where to find help."""
    message = " ".join(error.format_message().split()).rstrip(".")
    message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "rankine"
    return f"{message}; see {path} --help"
