"""rankine trec_eval QRELS RUN, with the arguments of trec_eval."""

from __future__ import annotations

import sys
from contextlib import suppress

import click

_USAGE, _FILE = 1, 2
"""How trec_eval ends if its arguments or one of its files cannot be used."""


class _Words(click.Command):
    """A command whose words are not click's to read."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params["words"] = tuple(args)
        ctx.args = []
        return []


@click.command(cls=_Words)
def command(words: tuple[str, ...]) -> int:
    """Print what trec_eval prints, for the same arguments."""
    from rankine._base.text import (  # noqa: PLC0415
        KEEP_BEST,
        KEEP_LARGEST,
        RANK_LAST,
    )
    from rankine._compat.trec_eval import (  # noqa: PLC0415 - --help stays fast
        HELP,
        VERSION_LINE,
        arguments_of,
        printed,
    )
    from rankine.cli.output import say  # noqa: PLC0415
    from rankine.errors import DataError, UsageError  # noqa: PLC0415

    try:
        given = arguments_of(words)
        if "v" in given.flags:
            click.echo(VERSION_LINE, nl=False, err=True)
            return 0
        if "h" in given.flags:
            click.echo(HELP, nl=False)
            return 0
        text = "\n".join(printed(given, say))
    except UsageError as error:
        say(str(error))
        return _USAGE
    except DataError as error:
        text = str(error)
        for advice in (KEEP_BEST, KEEP_LARGEST, RANK_LAST):  # by an option of others
            text = text.removesuffix(advice)
        say(text)
        return _FILE
    with suppress(BrokenPipeError):
        click.echo(text, nl=bool(text))
    return 0


def main() -> None:
    """Run the command under its own name, as rankine-trec-eval."""
    from rankine.cli import main as run  # noqa: PLC0415

    run(["trec_eval", *sys.argv[1:]])
