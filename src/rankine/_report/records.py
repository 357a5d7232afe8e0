"""Any result as HTML for notebooks: a row per field.

Results that read better in another form have a function of their own here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import count, p_equals, p_text, percent
from rankine._evaluate.compare.moved_queries import MovedQuery
from rankine._evaluate.gate.gate import Gate, GateVerdict
from rankine._evaluate.predictions.losses import CalibrationError, Loss
from rankine._evaluate.reconcile.explanation import Explanation
from rankine._fusion.tuned import TunedFusion, in_words
from rankine._io.sources import Rows, Stream, View, bare
from rankine._online.abresult import SampleRatio
from rankine._online.calibrate import Calibration
from rankine._online.interleaving import Interleaved, Preference
from rankine._report.comparison import to_html
from rankine._report.notebook import top_lines
from rankine._report.tables import between, html_list, html_table, number
from rankine._stats.functions import Outcomes
from rankine._stats.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROWS = 20
"""The most rows of a table; the result has all of them."""
_TOLD = ("warnings", "notes")
"""Fields with sentences, which are shown below."""
_P_VALUES = ("p", "pvalue", "p_sign", "p_always", "p_anytime")
_GRADE = "grade"


@singledispatch
def record_html(result: Any) -> str:
    """Return a row per field, with tables and sentences below."""
    held = _held(result)
    sentences = [text for name in _TOLD for text in held.pop(name, ())]
    frames = {
        name: held.pop(name)
        for name, value in list(held.items())
        if isinstance(value, pl.DataFrame)
    }
    rows = [(name, _cell(name, value)) for name, value in held.items()]
    kind = type(result).__name__
    parts = [html_table(("", kind), rows, "ll")] if rows else []
    parts += [frame_html(frame, name) for name, frame in frames.items()]
    return "".join(parts) + html_list(sentences)


def _held(result: Any) -> dict[str, Any]:
    """Return the public fields of a record."""
    if is_dataclass(result):
        names = [field.name for field in fields(result) if field.repr]
    else:
        names = list(result._fields)
    return {name: getattr(result, name) for name in names if not name.startswith("_")}


def _cell(name: str, value: Any) -> object:
    """Return a value as text, or as lines."""
    if value is None or (isinstance(value, (str, Sequence, Mapping)) and not value):
        return "-"
    if isinstance(value, Interval):
        return between(*value) or "undefined"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    if isinstance(value, (float, np.floating)):
        return _real(name, float(value))
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S %Z}".rstrip()
    if isinstance(value, Mapping):
        return _lines(f"{key}: {_line(name, entry)}" for key, entry in value.items())
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return _entries(name, value)
    return str(value)


def _real(name: str, value: float) -> str:
    if name == _GRADE:
        return f"{value:g}"
    return p_text(value) if name in _P_VALUES else number(value)


def _entries(name: str, values: Sequence[Any]) -> object:
    """Return a record in a line, or a line per entry."""
    if hasattr(values, "_fields"):
        held = _held(values).items()
        return ", ".join(f"{key} {_line(key, entry)}" for key, entry in held)
    return _lines(_line(name, entry) for entry in values)


def _line(name: str, value: Any) -> str:
    """Return a value within another as one line."""
    cell = _cell(name, value)
    if not isinstance(cell, list):
        return str(cell)
    # Semicolons separate entries that contain commas.
    return ("; " if any(", " in entry for entry in cell) else ", ").join(cell)


def _lines(entries: Iterable[str]) -> list[str]:
    """Return the first entries, and how many more there are."""
    lines = list(entries)
    more = len(lines) - _ROWS
    return [*lines[:_ROWS], *([f"{more:,} more"] if more > 0 else [])]


def frame_html(frame: pl.DataFrame, caption: str = "") -> str:
    """Return the first rows of a frame."""
    sides = "".join(
        "r" if kind.is_numeric() or kind.is_temporal() else "l" for kind in frame.dtypes
    )
    rows = [
        [_cell(name, value) for name, value in zip(frame.columns, row, strict=True)]
        for row in frame.head(_ROWS).iter_rows()
    ]
    more = frame.height - _ROWS
    below = [f"{count(more, 'more row')}"] if more > 0 else []
    return html_table(frame.columns, rows, sides, caption=caption, below=below)


@record_html.register
def _moved_query(moved: MovedQuery) -> str:
    rows = [
        ("value", *map(number, moved.values)),
        ("first items", *map(top_lines, moved.tops)),
    ]
    caption = f"{moved.query}: {_signed(moved.difference)}"
    head = ("", "first system", "second system")
    return html_table(head, rows, "lll", caption=caption)


_OF_A_GATE = ("metric", "verdict", "baseline", "value", "difference", "moved")


@record_html.register
def _gate(gate: Gate) -> str:
    rows = [_gate_row(verdict) for verdict in gate.verdicts]
    caption = f"{gate.verdict}: {'passed' if gate.passed else 'failed'}"
    below = (*gate.sentences, *gate.fallen, *gate.notes)
    return html_table(_OF_A_GATE, rows, "llrrrr", caption=caption, below=below)


@record_html.register
def _gate_verdict(verdict: GateVerdict) -> str:
    rows = [_gate_row(verdict)]
    return html_table(_OF_A_GATE, rows, "llrrrr", below=[verdict.sentence])


def _gate_row(verdict: GateVerdict) -> tuple[object, ...]:
    bounds = between(verdict.low, verdict.high)
    change = _signed(verdict.difference)
    return (
        verdict.metric,
        verdict.verdict,
        number(verdict.baseline),
        number(verdict.value),
        [change, bounds] if bounds else change,
        f"{verdict.moved:,} of {verdict.queries:,}",
    )


def _signed(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:+.4f}"


@record_html.register
def _tuned(tuned: TunedFusion) -> str:
    rows = [(name, in_words(value)) for name, value in tuned.parameters.items()]
    rows += [
        ("gain", _signed(tuned.gain)),
        ("gain on training queries", _signed(tuned.training_gain)),
    ]
    below = [tuned.sentences[1], *tuned.warnings]
    kind = type(tuned).__name__
    return html_table(("", kind), rows, "ll", below=below) + to_html(tuned.comparison)


@record_html.register
def _explanation(explanation: Explanation) -> str:
    rows = [
        (
            step.words,
            _known(step.value_before),
            _known(step.value_after),
            _signed(step.change),
        )
        for step in explanation.steps
    ]
    first, second = explanation.first, explanation.second
    head = (f"from {first} to {second}", "before", "after", "change")
    numbers = _known(explanation.value_first), _known(explanation.value_second)
    caption = f"{explanation.label}: {first} {numbers[0]}, {second} {numbers[1]}"
    below = []
    if not rows:
        rows = [("no choice changes the number", *numbers, _signed(0.0))]
    if explanation.unmoved:
        n = count(len(explanation.unmoved), "other choice")
        below.append(f"{n} without effect here: {', '.join(explanation.unmoved)}")
    return html_table(head, rows, "lrrr", caption=caption, below=below)


def _known(value: float | None) -> str:
    return "-" if value is None else number(value)


@record_html.register
def _calibration(calibration: Calibration) -> str:
    rows = [
        (
            row["metric"],
            _share(row["false_alarms"]),
            _share(row["low"]),
            _share(row["high"]),
            f"{row['n']:,}",
        )
        for row in calibration.table.iter_rows(named=True)
    ]
    caption = f"False alarms (expected: {percent(calibration.alpha, 1)})"
    head = ("metric", "false alarms", "low", "high", "A/A tests")
    below = [line.removeprefix("- ") for line in str(calibration).splitlines()]
    return html_table(head, rows, "lrrrr", caption=caption, below=below)


def _share(value: float | None) -> str:
    return "undefined" if value is None else percent(value, 1)


@record_html.register
def _preference(preferred: Preference) -> str:
    always = "" if math.isnan(preferred.p_always) else p_text(preferred.p_always)
    rows = [
        (
            "preference",
            _signed(preferred.preference),
            between(*preferred.interval),
            p_text(preferred.p),
        ),
        *([("always-valid", "", between(*preferred.always), always)] if always else []),
        ("sign test", "", "", p_text(preferred.p_sign)),
    ]
    prefer = (
        f"{preferred.users_b:,} of {count(preferred.users, 'user')} prefer "
        f"{preferred.b}, {preferred.users_a:,} prefer {preferred.a}"
    )
    n = count(preferred.shown, "impression")
    shown = f"{preferred.impressions:,} of {n} with a preference"
    head = ("", "value", f"{100 * preferred.confidence:g} % interval", "p")
    caption = f"{preferred.b} over {preferred.a}"
    below = (prefer, shown, *preferred.notes)
    return html_table(head, rows, "lrrr", caption=caption, below=below)


@record_html.register
def _sample_ratio(ratio: SampleRatio) -> str:
    total = sum(ratio.counts.values())
    rows = [
        (name, f"{n:,}", f"{ratio.shares[name] * total:,.0f}")
        for name, n in ratio.counts.items()
    ]
    below = [
        f"{p_equals(ratio.p)} (always-valid: {p_text(ratio.p_anytime)})",
        *ratio.warnings,
    ]
    return html_table(("variant", "users", "expected"), rows, "lrr", below=below)


@record_html.register
def _rows(read: Rows) -> str:
    frame = getattr(read, "support", read.frame)
    caption = f"{type(read).__name__}: {count(read.frame.height, 'row')}"
    return frame_html(frame, caption) + html_list((*read.warnings, *read.notes))


@record_html.register
def _view(view: View) -> str:
    source = bare(view)
    if isinstance(source, Stream) and not source.once:
        frame = _first_rows(source)
    else:
        frame = view.to_frame()
    return frame_html(frame, repr(view)) + html_list((*source.warnings, *source.notes))


def _first_rows(source: Stream) -> pl.DataFrame:
    """Return the first rows of a file, of which no more is read to be shown."""
    with closing(source.open()) as parts:
        frame = next(parts).frame.head(_ROWS)
    columns = [pl.col("query"), pl.col("item")]
    if source.ranked:
        columns.append(-pl.col("value").cast(pl.Int64).alias("rank"))
    elif "value" in frame.columns:
        columns.append(pl.col("value").alias("score"))
    return frame.select(columns)


@record_html.register
def _interleaved(drawn: Interleaved) -> str:
    rows = [
        (f"{rank}", item, team)
        for rank, (item, team) in enumerate(
            zip(drawn.items, drawn.teams, strict=True), 1
        )
    ]
    return html_table(("rank", "item", "team"), rows, "rll", caption=drawn.method)


@record_html.register
def _outcomes(outcomes: Outcomes) -> str:
    matrices = (
        ("statistic", outcomes.statistic, number),
        ("p-value", outcomes.pvalue, p_text),
    )
    return "".join(
        html_table(
            ("", *map(str, range(len(values)))),
            [
                (f"{place}", *("-" if math.isnan(v) else form(v) for v in row))
                for place, row in enumerate(np.asarray(values).tolist())
            ],
            "l" + "r" * len(values),
            caption=f"{name}: the system in the column against that in the row",
        )
        for name, values, form in matrices
    )


@record_html.register
def _loss(loss: Loss) -> str:
    clipped = f", {loss.clipped:,} clipped" if loss.clipped else ""
    rows = [("value", number(float(loss))), ("rows", f"{loss.n:,}{clipped}")]
    return html_table(("", type(loss).__name__), rows, "lr")


@record_html.register
def _calibration_error(error: CalibrationError) -> str:
    rows = [
        ("expected calibration error", number(float(error))),
        ("largest gap", number(error.largest)),
        ("rows", f"{error.n:,}"),
    ]
    head = ("", type(error).__name__)
    return html_table(head, rows, "lr") + frame_html(error.bins, "bins")
