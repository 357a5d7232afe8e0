"""Summaries of events and A/B tests as JSON, and loaded again."""

from __future__ import annotations

import math
from dataclasses import fields
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankine._base.checks import check_number
from rankine._online.abresult import (
    BY_DAY,
    DETAILS,
    HEALTH,
    JOINED,
    ABTest,
    SampleRatio,
    Settings,
)
from rankine._online.abtest import check_settings
from rankine._online.summary import BEYOND_GROUPS, Summary
from rankine._online.times import check_zone
from rankine._results.nodes import Node
from rankine._results.saved import head, in_lines, number
from rankine.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Types = Mapping[str, Any]

SUMMARY, TEST = "summary", "ab_test"
_OPTIONAL = {"segment", "higher_is_better", "margin"}
"""The columns of a test in which a cell may be empty."""


def to_json(result: Summary | ABTest, indent: int | None) -> str:
    """Return a summary or a test as JSON: what people read, and what `load` needs."""
    if isinstance(result, ABTest):
        kind, rest = TEST, _rest_of_test(result)
    else:
        groups = result.table.select(result.groups).schema
        types = {name: _name_of(kind) for name, kind in groups.items()}
        kind, rest = SUMMARY, {"groups": types, "table": _columns(result.table)}
    return in_lines(head(kind) | result.to_dict(), rest, indent)


def _rest_of_test(test: ABTest) -> dict[str, Any]:
    return {
        "details": _columns(test.details),
        "health": _columns(test.health),
        "by_day": _columns(test.by_day),
        "joined": _columns(test.joined),
        "arrivals": list(test.arrivals),
    }


def _columns(frame: pl.DataFrame | None) -> dict[str, list[Any]] | None:
    if frame is None:
        return None
    return {
        column.name: [_cell(value) for value in column.to_list()] for column in frame
    }


def _cell(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    return number(value) if isinstance(value, float) else value


def read_summary(node: Node) -> Summary:
    """Return a summary that was saved."""
    types = node["saved"]["groups"]
    groups = {name: _type(part) for name, part in types.entries().items()}
    known = {"metric": pl.String, **groups, **BEYOND_GROUPS}
    if len(known) < 1 + len(groups) + len(BEYOND_GROUPS):
        types.refuse("has a name that another column of the table has")
    confidence = node["confidence"].number()
    try:
        check_number("confidence", confidence, above=0, below=1)
    except ParameterError as error:
        node["confidence"].refuse(f"is not valid ({error})")
    return Summary(
        _frame(node["saved"]["table"], known, groups),
        node["definitions"].texts_by_name(),
        node["excluded"].counts_by_name(),
        node["notes"].texts(),
        node["events"].count(),
        confidence,
        tuple(groups),
        node["left_out"].texts_by_name(),
        {name: _given(part) for name, part in node["settings"].entries().items()},
    )


def read_test(node: Node) -> ABTest:
    """Return a test that was saved."""
    saved = node["saved"]
    settings, srm = _settings(node["settings"], node.name), _ratio(node["srm"])
    if settings.control not in srm.counts:
        node["settings"]["control"].refuse("is not a variant that has users")
    details = saved["details"]
    segmented = "segment" in details.entries()
    types = {name: DETAILS[name] for name in DETAILS if segmented or name != "segment"}
    effects = _frame(details, types, _OPTIONAL)
    if effects.is_empty():
        details.refuse("has no effects")
    for place, variant in enumerate(effects["variant"]):
        if variant not in srm.counts:
            details["variant"].parts()[place].refuse("is not a variant that has users")
    quantiles = node["quantiles"].entries()
    return ABTest(
        effects,
        srm,
        settings,
        notes=node["notes"].texts(),
        warnings=node["warnings"].texts(),
        excluded=node["excluded"].counts_by_name(),
        health=_optional(saved["health"], HEALTH),
        arrivals=tuple(saved["arrivals"].counts().tolist()),
        by_day=_optional(saved["by_day"], BY_DAY),
        joined=_optional(saved["joined"], JOINED),
        quantiles={name: _finite(part) for name, part in quantiles.items()},
        definitions=node["definitions"].texts_by_name(),
    )


def _settings(node: Node, name: str) -> Settings:
    """Return settings, each as its type says."""
    read: dict[str, Any] = {}
    for each in fields(Settings):
        part, (kind, *none) = node[each.name], str(each.type).split(" | ")
        is_none = none and part.value is None
        read[each.name] = None if is_none else _OF_TYPE[kind](part)
    settings = Settings(**read)
    try:
        check_settings(settings)
    except ParameterError as error:
        msg = f"{name}: damaged, the settings are not valid ({error})"
        raise FormatError(msg) from None
    return settings


def _ratio(node: Node) -> SampleRatio:
    counts = node["counts"].counts_by_name()
    shares = {name: _finite(node["shares"][name]) for name in counts}
    numbers = (_finite(node[name]) for name in ("p", "p_anytime", "threshold"))
    return SampleRatio(counts, shares, *numbers)


def _given(node: Node) -> Any:
    """Return the value of an option: a number, words, or words by word."""
    if isinstance(node.value, dict):
        return node.texts_by_name()
    if isinstance(node.value, list):
        return list(node.texts())
    if isinstance(node.value, int):
        return node.count()
    return node.text() if isinstance(node.value, str) else _finite(node)


def _finite(node: Node) -> float:
    value = node.number()
    if not math.isfinite(value):
        node.refuse("is not a finite number")
    return value


_OF_TYPE: Final[dict[str, Callable[[Node], Any]]] = {
    "str": Node.text,
    "int": Node.count,
    "float": _finite,
    "bool": Node.flag,
    "Mapping[str, str]": Node.texts_by_name,
    "Mapping[str, float]": lambda node: {
        name: _finite(part) for name, part in node.entries().items()
    },
    "Mapping[str, Any]": lambda node: {
        name: _given(part) for name, part in node.entries().items()
    },
}
"""How a setting is read, by its type."""


def _optional(node: Node, types: Types) -> pl.DataFrame | None:
    return None if node.value is None else _frame(node, types, _OPTIONAL)


def _frame(node: Node, types: Types, optional: Any) -> pl.DataFrame:
    """Return a table whose columns, of these types, are lists of one length."""
    n = len(node[next(iter(types))].parts())
    columns = []
    for name, kind in types.items():
        read = _reader(kind)
        values = [
            None if part.value is None and name in optional else read(part)
            for part in node[name].parts(n)
        ]
        columns.append(pl.Series(name, values, kind))
    return pl.DataFrame(columns)


def _moment(node: Node, *, zoned: bool) -> datetime:
    expected = f"2026-03-01T09:00:00{'+01:00' if zoned else ''}"
    try:
        moment = datetime.fromisoformat(node.text())
    except ValueError:
        node.refuse(f"is not a time as in {expected}")
    if (moment.tzinfo is not None) != zoned:
        node.refuse(f"is not a time as in {expected}")
    return moment


def _day(node: Node) -> date:
    try:
        return date.fromisoformat(node.text())
    except ValueError:
        node.refuse("is not a day as in 2026-03-01")


_READ: Final[dict[Any, Callable[[Node], Any]]] = {
    pl.String: Node.text,
    pl.Float64: Node.number,
    pl.Int64: Node.whole,
    pl.Boolean: Node.flag,
    pl.Date: _day,
}


def _reader(kind: Any) -> Callable[[Node], Any]:
    if isinstance(kind, pl.Datetime):
        return partial(_moment, zoned=kind.time_zone is not None)
    return _READ[kind]


def _name_of(kind: Any) -> str:
    """Return how the type of a column of groups is saved: with its time zone."""
    zone = getattr(kind, "time_zone", None)
    return str(kind.base_type()) if zone is None else f"{kind.base_type()} {zone}"


def _type(node: Node) -> Any:
    types = {"String": pl.String, "Date": pl.Date, "Datetime": pl.Datetime("us")}
    name, _, zone = node.text().partition(" ")
    if zone and name == "Datetime":
        try:
            check_zone(zone)
        except ParameterError as error:
            node.refuse(f"has no valid time zone ({error})")
        return pl.Datetime("us", zone)
    if node.text() not in types:
        node.refuse(f"is {node.value!r}; expected one of {', '.join(types)}")
    return types[node.text()]


ONLINE: Final = {SUMMARY: read_summary, TEST: read_test}
"""The kinds of documents of the online part, and what reads them."""
