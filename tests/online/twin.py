"""Sums per user by plain loops over events, to compare with."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

ACTIONS = {"click", "conversion", "share"}
ORDER = ["impression", "pageview", "click", "share", "conversion"]


def sessions_of(events: list[dict[str, Any]], gap: float) -> list[list[dict[str, Any]]]:
    """Split the events of a user after silence."""
    ordered = sorted(
        events, key=lambda one: (one["timestamp"], ORDER.index(one["event"]))
    )
    found: list[list[dict[str, Any]]] = []
    for one in ordered:
        if found and one["timestamp"] - found[-1][-1]["timestamp"] <= gap:
            found[-1].append(one)
        else:
            found.append([one])
    return found


def twin(rows: list[dict[str, Any]], gap: float = 1800) -> dict[Any, dict[str, float]]:
    """Return the sums of each user after the first exposure, and before it."""
    distinct = [dict(own) for own in {tuple(sorted(one.items())) for one in rows}]
    found = {}
    for user in sorted({one["user_id"] for one in distinct}):
        own = [one for one in distinct if one["user_id"] == user]
        arms = {one["variant"] for one in own} - {None}
        if len(arms) != 1:
            continue
        first = min(one["timestamp"] for one in own if one["variant"] is not None)
        after = [one for one in own if one["timestamp"] >= first]
        before = [one for one in own if one["timestamp"] < first]
        sums = {**sides(after, gap, ""), **sides(before, gap, "0")}
        found[user] = {"variant": arms.pop(), "first": first, **sums}
    return found


def sides(events: list[dict[str, Any]], gap: float, mark: str) -> dict[str, float]:
    def n(kind: str) -> int:
        return sum(one["event"] == kind for one in events)

    dwell = timed = bounces = engaged = 0
    sessions = sessions_of(events, gap)
    for session in sessions:
        views = [one["timestamp"] for one in session if one["event"] == "pageview"]
        dwell += sum(b - a for a, b in pairwise(views))
        timed += max(len(views) - 1, 0)
        acted = any(one["event"] in ACTIONS for one in session)
        bounces += len(views) == 1 and not acted
        engaged += acted
    cost = sum(one["cost"] for one in events)
    revenue = sum(one["value"] for one in events if one["event"] == "conversion")
    return {
        f"ctr.y{mark}": n("click"),
        f"ctr.x{mark}": n("impression"),
        f"conversion_rate.y{mark}": n("conversion") > 0,
        f"conversion_rate.x{mark}": len(events) > 0,
        f"bounce_rate.y{mark}": bounces,
        f"bounce_rate.x{mark}": len(sessions),
        f"engagement_rate.y{mark}": engaged,
        f"engagement_rate.x{mark}": len(sessions),
        f"time_on_page.y{mark}": dwell,
        f"time_on_page.x{mark}": timed,
        f"roi.y{mark}": revenue - cost,
        f"roi.x{mark}": cost,
    }
