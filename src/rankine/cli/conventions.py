"""rankine conventions [NAME]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankine.cli.output import json_option, paragraph, print_json, width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._conventions.presets import Conventions


@click.command()
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> None:  # noqa: FBT001 - a flag
    """List the named conventions, or show NAME field by field.

    A name that ends in .yaml is a file of your own.

    \b
    rankine conventions
    rankine conventions jurity
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._conventions.presets import PRESETS, conventions  # noqa: PLC0415

    if as_json:
        chosen = [name] if name else list(PRESETS)
        print_json([_record(preset) for preset in chosen])
    elif name:
        click.echo("\n".join(_lines(name, width())))
    else:
        click.echo("\n".join(_listing(conventions(), width())))
        click.echo("\nrankine conventions NAME shows every choice of a convention.")


def _listing(known: Conventions, columns: int | None) -> Iterator[str]:
    """Yield a few lines for each: its name, and what its tool does beside it."""
    widest = max(map(len, known))
    for name in known:
        yield from paragraph(f"{name:{widest}}  ", known.about(name).does, columns)


def _record(name: str) -> dict[str, Any]:
    from rankine._conventions.presets import chosen, convention  # noqa: PLC0415
    from rankine._conventions.tools import TOOLS  # noqa: PLC0415

    rule = convention(chosen(name))
    record: dict[str, Any] = {"name": name}
    tool = TOOLS.get(name)
    if tool is not None:
        record |= {
            "tool": tool.title,
            "does": tool.does,
            "checked": tool.checked,
            "metrics": None if tool.calls is None else dict(tool.calls),
            "unlike": dict(tool.unlike),
        }
    return record | {"convention": rule.to_dict()}


def _lines(name: str, columns: int | None) -> Iterator[str]:
    from rankine._conventions.convention import FIELDS, Convention  # noqa: PLC0415
    from rankine._conventions.phrases import in_words  # noqa: PLC0415
    from rankine._conventions.presets import chosen, convention  # noqa: PLC0415
    from rankine._conventions.tools import TOOLS  # noqa: PLC0415

    rule = convention(chosen(name))
    tool = TOOLS.get(name)
    if tool is not None:
        yield from paragraph("", f"{tool.title}: {tool.does}", columns)
        yield from paragraph("", f"Checked against: {tool.checked}.", columns)
        if tool.calls is not None:
            has = f"Of rankine's metrics, it has only {', '.join(tool.calls)}."
            yield from paragraph("", has, columns, hang=2)
        if tool.unlike:
            otherwise = f"Defined differently: {', '.join(tool.unlike.values())}."
            yield from paragraph("", otherwise, columns, hang=2)
        yield ""
    usual = Convention()
    rows = []
    for field in FIELDS:
        value = getattr(rule, field)
        if field != "overrides":
            mark = "*" if value != getattr(usual, field) else " "
            rows.append((f"{mark} {field}", in_words(field, value)))
    for metric, choices in rule.overrides.items():
        for field, value in choices.items():
            rows.append((f"* {metric}, {field}", in_words(field, value)))
    widest = max(len(lead) for lead, _ in rows)
    for lead, words in rows:
        yield from paragraph(f"{lead:{widest}}  ", words, columns)
    yield ""
    yield "* differs from rankine."
