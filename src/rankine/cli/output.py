"""JSON: every record says which version of rankine made it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from rankine import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping


def print_json(records: Mapping[str, Any] | list[dict[str, Any]]) -> None:
    """Print a record, or several as a list; there is no bare NaN in it.

    docs/json.md says what is in the records of each command.
    """
    made: Any
    if isinstance(records, list):
        made = [_stamped(record) for record in records]
    else:
        made = _stamped(records)
    text = json.dumps(made, indent=2, ensure_ascii=False, allow_nan=False, default=str)
    click.echo(text)


def _stamped(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"rankine": __version__, **record}
