"""rankine metrics [NAME]."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING

import click

from rankine.cli.output import (
    READABLE,
    json_option,
    paragraph,
    print_json,
    reflowed,
    width,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._metrics.metric import Fact


@click.command()
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> None:  # noqa: FBT001 - a flag
    """List the metrics with their parameters, or explain NAME.

    NAME may also be a measure of similarity, such as RBO.
    """
    from rankine._metrics.names import metrics  # noqa: PLC0415 - --help stays fast

    chosen = [_named(name)] if name else [m.fact for m in metrics().values()]
    if as_json:
        print_json([_record(fact) for fact in chosen])
    elif name:
        click.echo("\n".join(explain(chosen[0], width())))
    else:
        click.echo("\n".join(listing(chosen, width())))


def _named(name: str) -> Fact:
    from rankine._metrics.names import parse  # noqa: PLC0415
    from rankine._metrics.similarity.measures import parse_measure  # noqa: PLC0415
    from rankine.errors import UsageError  # noqa: PLC0415

    try:
        return parse(name).fact
    except UsageError:
        try:
            return parse_measure(name).fact
        except UsageError:
            pass
        raise


def sections(fact: Fact) -> dict[str, str]:
    """Cut a docstring into its sections; the words before them are ``summary``."""
    parts: dict[str, list[str]] = {"summary": []}
    here = "summary"
    for line in inspect.cleandoc(fact.kernel.__doc__ or "").splitlines():
        if line.endswith(":") and line[:-1] in {
            "Formula", "Args", "Returns", "References", "Examples",
        }:  # fmt: skip
            here = line[:-1]
            parts[here] = []
        else:
            parts[here].append(line)
    texts = {
        key: textwrap.dedent("\n".join(lines)).strip() for key, lines in parts.items()
    }
    return {"References": "", **texts}


def signature(fact: Fact) -> str:
    """Return the metric with its parameters as one writes it."""
    inside = ", ".join(
        f"{key}={value!r}" for key, value in fact.parameters.items() if key != fact.at
    )
    text = f"{fact.name}({inside})" if inside else fact.name
    return f"{text}@{fact.at}" if fact.at else text


def _range(fact: Fact) -> str:
    low, high = fact.bounds
    return f"{low:g} to {high:g}".replace("inf", "∞")


def listing(facts: list[Fact], columns: int | None) -> Iterator[str]:
    """Yield a few lines per metric."""
    for fact in facts:
        text = sections(fact)
        aliases = f"  (also {', '.join(fact.aliases)})" if fact.aliases else ""
        source = " ".join(text["References"].split())
        yield from paragraph("", f"{signature(fact)}{aliases}", columns, hang=2)
        lines = [
            fact.meaning,
            " ".join(text["Formula"].split()),
            f"range {_range(fact)}; {source}".rstrip("; "),
        ]
        for line in lines:
            yield from paragraph("    ", line, columns, hang=2)
        yield ""


def explain(fact: Fact, columns: int | None) -> Iterator[str]:
    """Yield everything that is known about a metric."""
    columns = None if columns is None else min(columns, READABLE)
    text = sections(fact)
    yield from paragraph("", signature(fact), columns, hang=2)
    yield ""
    yield from reflowed(text["summary"], columns, "")
    yield from ("", "Formula", *reflowed(text["Formula"], columns))
    if fact.aliases:
        yield ""
        also = f"Also read as {', '.join(fact.aliases)}"
        yield from paragraph("", also, columns, hang=2)
    yield from ("", "Parameters", *_parameters(text["Args"], columns))
    for title in ("Returns", "References", "Examples"):
        if text[title]:
            yield from ("", title, *reflowed(text[title], columns))
    yield from ("", f"Range {_range(fact)}")


def _parameters(text: str, columns: int | None) -> list[str]:
    """Return the parameters with what they mean; the first is the table."""
    entries: list[str] = []
    for line in text.splitlines():
        if line.startswith(" ") and columns is not None:
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line)
    return [
        line
        for entry in entries[1:]
        for line in paragraph("  ", entry, columns, hang=4)
    ] or ["  none"]


def _record(fact: Fact) -> dict[str, object]:
    text = sections(fact)
    return {
        "name": fact.name,
        "aliases": list(fact.aliases),
        "parameters": {key: _plain(value) for key, value in fact.parameters.items()},
        "at": fact.at,
        "summary": text["summary"],
        "formula": " ".join(text["Formula"].split()),
        "range": [
            None if abs(bound) == float("inf") else bound for bound in fact.bounds
        ],
        "references": " ".join(text["References"].split()),
    }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
