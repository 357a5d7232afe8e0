"""The command line: each command parses, calls one function and prints."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

_COMMANDS = {
    "evaluate": "Evaluate runs against judgements.",
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

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rankine")
def cli() -> None:
    """Say how good a ranking or a recommender is, and how sure that is."""


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; errors are one sentence, never a traceback."""
    from rankine.errors import RankineError  # noqa: PLC0415

    try:
        code = cli.main(arguments, prog_name="rankine", standalone_mode=False)
    except RankineError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone: nothing to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _say(message: str) -> None:
    from rankine.report.cells import shown  # noqa: PLC0415

    click.echo(f"rankine: {shown(message)}", err=True)
