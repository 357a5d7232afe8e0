"""How results look in notebooks if they have no table of their own making."""

from __future__ import annotations

from typing import Any


def as_table(result: Any) -> str:
    """Return a result as HTML: the `_repr_html_` of records."""
    from rankine._report.records import record_html  # noqa: PLC0415 - when it is drawn

    return record_html(result)
