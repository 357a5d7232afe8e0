"""What is odd in what users did, and counts of what is left out in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankine._base.text import count, percent
from rankine._online.users import added

if TYPE_CHECKING:
    import polars as pl

_HEAVY = 0.1
_FEW_USERS = 20
"""With fewer users than this, one may well have a tenth of the events."""


def counted(n: int, reason: str) -> str:
    """Return how many were left out, and why; `reason` begins with a plural.

    >>> counted(2, "duplicate events"), counted(1, "users without a variant")
    ('2 duplicate events', '1 user without a variant')
    """
    if n != 1:
        return f"{n:,} {reason}"
    singular = re.sub("(event|user)s", r"\1", reason, count=1)
    return f"1 {singular}"


def oddities(rows: pl.DataFrame, ids: pl.Series, has: frozenset[str]) -> list[str]:
    """Say what is odd in what users did.

    Args:
        rows: their counts.
        ids: the ids of all users, by their numbers.
        has: the parts that the log has.
    """
    each = added(rows, "user")
    total = {name: int(each[name].sum()) for name in each.columns if name != "user"}
    notes = []
    most = int(each["events"].max() or 0)  # type: ignore[arg-type]
    share = most / total["events"] if total["events"] else 0
    if each.height >= _FEW_USERS and share >= _HEAVY:
        heaviest = ids[each["user"].filter(each["events"] == most)].min()
        notes.append(
            f"user {heaviest!r} has {percent(share)} of the events: perhaps a robot"
        )
    more = int((each["clicks"] > each["impressions"]).sum())
    if more and total["impressions"]:
        notes.append(f"{count(more, 'user')} with more clicks than impressions")
    pageless = total["pageless_sessions"]
    if pageless and pageless < total["sessions"]:
        n = count(pageless, "session")
        notes.append(f"{n} without a page view: counted, and none of them bounces")
    if total["untimed_page_views"]:
        n = count(total["untimed_page_views"], "page view")
        notes.append(f"{n} at the end of a session: no time on page")
    if "value" in has and total["revenue"] < 0:
        notes.append("revenue is negative: refunds exceed sales")
    return notes
