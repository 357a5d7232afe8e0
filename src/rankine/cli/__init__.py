"""The command line: each command parses its arguments, calls the library and prints."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from rankine import __version__

_COMMANDS = {
    "evaluate": "Evaluate runs against judgements.",
    "compare": "Tell whether one run is better than another, and how certain that is.",
    "experiment": "Run an experiment in YAML: metrics over many runs.",
    "report": "Write a report on saved results, as one HTML file.",
    "gate": "Fail if a run fell below its baseline, unless within a margin.",
    "check": "Check judgements and a run before computing any metric.",
    "reconcile": "Compute a metric as every tool does, and explain why they differ.",
    "similarity": "Compare runs with each other.",
    "ctr": "Estimate what recommendations would have earned, from a log.",
    "online": "Summarise what users did, from a log of events.",
    "ab": "Tell what a variant changes in a live test, and how certain that is.",
    "conventions": "List the named conventions, or show one.",
    "metrics": "List the metrics, or explain one.",
    "demo": "Evaluate three systems on sample data.",
}


class _Lazy(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

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
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


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
    from rankine.cli.output import say  # noqa: PLC0415
    from rankine.errors import RankineError  # noqa: PLC0415

    words = sys.argv[1:] if arguments is None else arguments
    _show_all()
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
        say(_in_options(error, context))
        code = error.exit_code
    except click.ClickException as error:
        say(_sentence(error))
        code = 2
    except (KeyboardInterrupt, click.Abort):
        say("interrupted")
        code = 130
    except BrokenPipeError:
        # The reader of our output has gone: nothing to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if "--debug" in words:
            raise
        say(_unforeseen(error))
        code = 4
    sys.exit(code if isinstance(code, int) else 0)


def _show_all() -> None:
    """Show characters that a terminal cannot display by their code, instead of failing.

    If standard output or error is closed, nobody reads what is printed.
    """
    closed: Any = None  # which the types of both do not allow for
    if sys.stdout is closed:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is closed:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _unforeseen(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if isinstance(error, OSError) and error.filename is None:
        return f"the output cannot be written ({error.strerror or error})"
    return (
        f"an error that rankine should have foreseen: {type(error).__name__}: {error}; "
        "please report it with what rankine --debug shows"
    )


def _in_options(error: Exception, context: click.Context) -> str:
    """Return a message; a parameter that it begins with is named as the option is."""
    from rankine.errors import ParameterError  # noqa: PLC0415

    message = str(error)
    name, _, rest = message.partition(" ")
    command = cli.get_command(context, context.invoked_subcommand or "")
    if isinstance(error, ParameterError) and rest.startswith(_OF_PARAMETERS):
        for option in command.params if command else ():
            if option.name == name and isinstance(option, click.Option):
                return f"{option.opts[-1]} {rest}"
    return message


_OF_PARAMETERS = ("must be ", "cannot be ", "names ", "has no ", "of ")
"""What follows the name of a parameter in a message."""


def _sentence(error: click.ClickException) -> str:
    """Return what is wrong in one line, and where to find help."""
    message = " ".join(error.format_message().split()).rstrip(".")
    message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "rankine"
    return f"{message}; see {path} --help"
