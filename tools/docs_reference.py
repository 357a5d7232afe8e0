"""Write the references of the documentation from the registry and the commands."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankine._experiment.schema import json_schema
from rankine._metrics.names import metrics
from rankine.cli import cli
from rankine.cli.metrics import sections, signature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankine._metrics.metric import Fact

_JSON_KEYS = Path(__file__).with_name("json_keys.tsv")
_CODE = re.compile(r"(``.*?``|`[^`]*`)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=_)")
"""Where a long name may be broken."""
_LINK = re.compile(r"https?://\S*[\w/]")
_ARGUMENT = re.compile(r"^(\w+): ", re.MULTILINE)
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "null": "",
}
_SUMMARY = {
    "mean": "the mean over queries",
    "sum": "the sum over queries",
    "geometric": "the geometric mean over queries",
    "ratio": "pooled over queries",
    "run": "one number for all lists together",
}


def _prose(text: str) -> str:
    """Escape what Markdown would take as marks, outside of code; make links."""
    parts = _CODE.split(" ".join(text.split()))
    for at in range(0, len(parts), 2):
        plain = re.sub(r"([*_<\[\]])", r"\\\1", parts[at])
        parts[at] = _LINK.sub(lambda link: f"<{link[0].replace(chr(92), '')}>", plain)
    return "".join(parts)


def _arguments(text: str) -> dict[str, str]:
    """Read the Args section: what each parameter means."""
    pieces = _ARGUMENT.split(text)[1:]
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


def metric_reference(name: str) -> str:
    """Return signature, parameters, values and reference of a metric."""
    fact = metrics()[name].fact
    text = sections(fact)
    lines = [f"`{signature(fact)}`", ""]
    if fact.aliases:
        lines += [
            f"Also read as {', '.join(f'`{alias}`' for alias in fact.aliases)}.",
            "",
        ]
    meaning = _arguments(text["Args"])
    for key, default in fact.parameters.items():
        shown = "" if default is None else f" = {default!r}"
        lines += [f"`{key}{shown}`", f":   {_prose(meaning[key])}", ""]
    lines += [
        "Values",
        f":   {_prose(text['Returns'])} {_facts(fact)}",
        "",
        "Reference",
        f":   {_prose(text['References'])}",
    ]
    inside = "\n".join(f"    {line}" if line else "" for line in lines)
    return f'???+ abstract "{name} in full"\n\n{inside}\n'


def _facts(fact: Fact) -> str:
    how = _SUMMARY[fact.summary]
    if "aggregate" in fact.parameters:
        how = "`aggregate` says"
    told = f"A run is summed up as {how}."
    if fact.higher_is_better is False:
        told += " Lower is better."
    return told


def metric_table(pages: Mapping[str, str]) -> str:
    """Return a table of all metrics, each linked to the page that explains it."""
    lines = ["| metric | what it says | also read as |", "|---|---|---|"]
    for name, metric in metrics().items():
        fact = metric.fact
        summary = _prose(fact.meaning)
        aliases = ", ".join(f"`{alias}`" for alias in fact.aliases)
        shown = _HUMP.sub("<wbr>", name)
        lines.append(f"| [{shown}]({pages[name]}#{name}) | {summary} | {aliases} |")
    return "\n".join(lines)


def command_reference() -> str:
    """Return usage, description and options of every command."""
    context = click.Context(cli, info_name="rankine", **cli.context_settings)
    made = ["## rankine { #rankine }", "", *_described(cli, context)]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if command is None:  # pragma: no cover - a listed command exists
            continue
        settings = command.context_settings
        own = click.Context(command, info_name=name, parent=context, **settings)
        made += [f"## rankine {name} {{ #{name} }}", "", *_described(command, own)]
    return "\n".join(made)


def _described(command: click.Command, context: click.Context) -> list[str]:
    usage = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    lines = ["```text", usage, "```", ""]
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            lines += ["```bash", *paragraph.splitlines()[1:], "```", ""]
        else:
            lines += [_prose(paragraph), ""]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            lines += [f"`{record[0]}`", f":   {_prose(record[1])}", ""]
    return lines


def experiment_reference() -> str:
    """Return tables of the keys of an experiment, made from its schema."""
    schema = json_schema()
    comparing = schema["$defs"]["Comparing"]["properties"]
    return "\n".join(
        [
            *_keys(schema["properties"], schema["required"]),
            "",
            "The keys below `compare`:",
            "",
            *_keys(comparing, ()),
        ]
    )


def _keys(properties: Mapping[str, Any], required: Sequence[str]) -> list[str]:
    lines = ["| key | values | default | meaning |", "|---|---|---|---|"]
    for name, part in properties.items():
        default = "required" if name in required else _written(part.get("default"))
        lines.append(
            f"| `{name}` | {_kinds(part)} | {default} | {part['description']} |"
        )
    return lines


def _written(value: Any) -> str:
    """Return a default as YAML has it."""
    if value is None:
        return ""
    return f"`{json.dumps(value).strip(chr(34))}`"


def _kinds(part: Mapping[str, Any]) -> str:
    """Say in words which values a key takes."""
    if "anyOf" in part:
        kinds = [_kinds(own) for own in part["anyOf"]]
        return " or ".join(dict.fromkeys(kind for kind in kinds if kind))
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if "$ref" in part or part.get("type") == "object":
        return "a mapping"
    if part.get("type") == "array":
        return "a list"
    return _KINDS[part["type"]]


@dataclass(frozen=True)
class JsonKey:
    """A key of what commands print with ``--json``.

    Attributes:
        commands: the commands whose records have it.
        path: where it is; a dot leads into an object and ``[]`` into a list.
        kind: the types that its value may have.
        meaning: what it says; "only with" begins that of a key that may be missing.
    """

    commands: tuple[str, ...]
    path: str
    kind: str
    meaning: str


def json_keys() -> list[JsonKey]:
    """Return the keys of all commands; the tests hold them against the output."""
    _, *lines = _JSON_KEYS.read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return [JsonKey(tuple(commands.split()), *rest) for commands, *rest in rows]


def json_reference(command: str) -> str:
    """Return a table of the keys that a command alone prints, or of all others."""
    keys = json_keys()
    if command == "several":
        everywhere = {name for key in keys for name in key.commands}
        lines = ["| key | type | meaning | commands |", "|---|---|---|---|"]
        for key in keys:
            if len(key.commands) > 1:
                named = ", ".join(f"`{name}`" for name in key.commands)
                who = "all" if everywhere == set(key.commands) else named
                lines.append(f"{_json_row(key)} {who} |")
        return "\n".join(lines)
    lines = ["| key | type | meaning |", "|---|---|---|"]
    lines += [_json_row(key) for key in keys if key.commands == (command,)]
    inside = "\n".join(f"    {line}" for line in lines)
    return f'??? abstract "The keys"\n\n{inside}\n'


def _json_row(key: JsonKey) -> str:
    return f"| `{key.path}` | {key.kind} | {key.meaning} |"
