"""The report of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rankine._base.text import count, plural
from rankine._conventions.presets import called
from rankine._evaluate.summary import finite
from rankine._report import charts, specs
from rankine._report.comparison import sentences
from rankine._report.directed import directed
from rankine._report.explorer import Texts, explored
from rankine._report.export import names_of, queries_by_metric
from rankine._report.markup import (
    Markup,
    TableCell,
    isolated,
    join,
    points,
    rest_of,
    table,
    tag,
)
from rankine._report.of_evaluation import meanings_of
from rankine._report.page import Page, meanings, remarks, reproduction, scripted
from rankine._report.pairs import (
    differences_of,
    drawn_lines,
    further_findings,
    of_intervals,
    pairs_in_words,
    tested,
)
from rankine._report.tables import between, brief, number, shown
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from rankine._evaluate.compare.comparison import Comparison
    from rankine._report.pairs import PairInWords
    from rankine._report.specs import Spec

_SAID = 10
"""Sentences at the top; the rest is folded."""
_PAIRS = 400
"""The most rows in the table of pairs, and the most folded sentences."""
_SEGMENTS = 300
_BARS, _POINTS = 200, 500
"""The most marks in a drawing, so that it stays small."""
_MARKS = {
    "better": "▲", "worse": "▼", "different": "◆", "cannot tell": "●",
    "equivalent": "■",
}  # fmt: skip
"""The marks of verdicts in the charts."""
_NAMES = 4
"""The most names in a title; the rest are counted."""
LONG = 40
"""The longest name in a title."""


def report(
    comparison: Comparison,
    path: str | PathLike[str],
    title: str | None,
    texts: Mapping[Any, Any] | None,
    command: str | None,
    files: tuple[Any, ...],
    query_texts: Mapping[Any, Any] | None,
    item_texts: Mapping[Any, Any] | None,
) -> None:
    """Write a report; see `Comparison.report`."""
    given = (title, texts, command, files, query_texts, item_texts)
    page_of(comparison, *given).write(path)


def page_of(
    comparison: Comparison,
    title: str | None = None,
    texts: Mapping[Any, Any] | None = None,
    command: str | None = None,
    files: tuple[Any, ...] = (),
    query_texts: Mapping[Any, Any] | None = None,
    item_texts: Mapping[Any, Any] | None = None,
) -> Page:
    """Return the page of a comparison."""
    known = Texts(texts, query_texts, item_texts)
    known.check()
    comparison = directed(comparison)
    names = [brief(shown(name), LONG) for name in comparison.systems]
    page = Page(title or _title(comparison), _about(comparison), names)
    page.data = explored(comparison, known)
    page.add("summary", "Summary", _summary(comparison))
    page.add("systems", "Systems", _systems(comparison))
    page.add("pairs", "Differences", *_differences(page, comparison))
    if page.data:
        heading = plural(comparison.unit).capitalize()
        page.add("queries", heading, *_queries(page, comparison))
    page.add("curves", "By cutoff", _curves(page, comparison))
    if comparison.is_segmented:
        page.add("segments", "Segments", _segments(comparison))
    if comparison.baseline is not None and page.data:
        page.add("risk", "Risk", _risk(comparison, comparison.baseline))
    warnings, notes = comparison.warnings, comparison.notes
    page.add(
        "notes", "Warnings and notes", remarks(warnings, notes, comparison.systems)
    )
    page.add(
        "reproduce",
        "How to reproduce this",
        reproduction(command, files, _choices(comparison)),
    )
    return page


def _title(comparison: Comparison) -> str:
    names = [shown(name) for name in comparison.systems]
    if comparison.baseline is not None:
        others = [name for name in names if name != shown(comparison.baseline)]
        against = brief(shown(comparison.baseline), LONG)
        return f"{listed(others)} against {against}"
    return f"{listed(names)} compared"


def listed(names: list[str]) -> str:
    """Return the first names as a list in words, and how many more there are."""
    names = [brief(name, LONG) for name in names]
    if len(names) > _NAMES:
        return f"{', '.join(names[: _NAMES - 1])} and {len(names) - _NAMES + 1} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _about(comparison: Comparison) -> str:
    how = comparison.settings
    parts = [
        queries_by_metric(comparison.evaluations.values())
        or count(len(comparison.queries), comparison.unit),
        count(len(comparison.systems), "system"),
        ", ".join(comparison.metrics),
    ]
    first = next(iter(comparison.evaluations.values()), None)
    if first is not None:
        parts.append(f"convention {called(first.convention, first.preset)}")
    return " · ".join([*parts, f"{100 * how.confidence:g} % intervals"])


def _summary(comparison: Comparison) -> Markup:
    """Return the sentences of all pairs, those of the first metric first."""
    said = sentences(comparison)
    pairs = list(comparison.pairwise.iter_rows(named=True))
    first = {
        (row["metric"], row["a"], row["b"])
        for row in charts.shown_pairs(comparison, comparison.metrics[0])
    }
    entries = [
        (
            verdict_mark(row["verdict"]),
            " ",
            tag("span", isolated(sentence, comparison.systems)),
        )
        for row, sentence in zip(pairs, said, strict=True)
    ]
    ranked = [
        (row, join(entry))
        for row, entry in zip(pairs, entries, strict=True)
        if (row["metric"], row["a"], row["b"]) in first
    ]
    if len(ranked) > _SAID:
        # Not all fit: the largest differences come first.
        ranked.sort(key=lambda pair: -abs(finite(pair[0]["difference"]) or 0))
    ahead = [entry for _, entry in ranked]
    drawn = {str(entry) for entry in ahead[:_SAID]}
    rest = [entry for entry in map(join, entries) if str(entry) not in drawn]
    parts = [*_best(comparison), points(ahead[:_SAID], class_="verdicts")]
    if rest:
        words = count(len(rest), "more comparison")
        if len(rest) > _PAIRS:
            words += f"; the first {_PAIRS} are here, see cmp.sentences for the rest"
        more = points(rest[:_PAIRS], class_="verdicts")
        parts.append(tag("details", tag("summary", words), more))
    return join(parts)


def _best(comparison: Comparison) -> list[Markup]:
    """Say which system has the best mean of the first metric."""
    label, compared = comparison.metrics[0], comparison._compared  # noqa: SLF001
    best = sorted(comparison.best[0])
    if not best:
        return []
    names = [shown(comparison.systems[system]) for system in best]
    whose = names[0] if len(names) == 1 else listed(names)
    mean = number(float(compared.means[0, best[0]]))
    bounds = between(
        float(compared.lows[0, best[0]]), float(compared.highs[0, best[0]])
    )
    inside = f" ({bounds})" if bounds and len(best) == 1 else ""
    verb = "has" if len(best) == 1 else "have"
    text = f"{whose} {verb} the best {label}: {mean}{inside}."
    return [tag("p", isolated(text, comparison.systems), class_="lead")]


def verdict_mark(verdict: str) -> Markup:
    """Return a verdict in its colour."""
    mark = verdict.split(",", 1)[0].replace(" ", "-")
    return tag("span", verdict, class_=f"verdict {mark}")


def _systems(comparison: Comparison) -> Markup:
    """Return the means with their intervals, and letters of the systems they beat."""
    compared = comparison._compared  # noqa: SLF001 - the numbers of the result
    rows = []
    for system, name in enumerate(comparison.systems):
        letter = tag("span", comparison.letters[system], class_="letter")
        cells: list[object] = [join([letter, " ", name])]
        for metric in range(len(comparison.metrics)):
            mean = float(compared.means[metric, system])
            bounds = between(
                float(compared.lows[metric, system]),
                float(compared.highs[metric, system]),
            )
            beaten = comparison.beaten[metric][system]
            text = [
                tag("sup", f"{beaten} " if beaten else ""),
                tag("b" if system in comparison.best[metric] else "span", number(mean)),
            ]
            order = None if math.isnan(mean) else mean
            cells.append(TableCell(join(text), order, bounds))
        rows.append(cells)
    head = ("system", *comparison.metrics)
    sides = "l" + "r" * len(comparison.metrics)
    drawn = table(head, rows, sides, caption="Means of all systems")
    says = (
        "The best mean is bold, and each mean has its interval below. Letters mark "
        "the systems that a system beats."
    )
    sort = scripted(" Click a column title to sort.")
    meant = {
        name: text
        for evaluation in comparison.evaluations.values()
        for name, text in meanings_of(evaluation).items()
    }
    return join([tag("p", says, sort, class_="hint"), drawn, meanings(meant)])


def _differences(page: Page, comparison: Comparison) -> list[Markup]:
    """Return a forest plot per metric, the table of pairs, and the p-values."""
    forests = [
        page.figure(
            f"forest-{place}",
            charts.forest(comparison, metric) | {"width": 300},
            f"Differences in {metric} with intervals and verdicts, as in the table.",
            caption="",
        )
        for place, metric in enumerate(comparison.metrics)
    ]
    rows = []
    pairs = list(pairs_in_words(comparison))
    for pair in pairs[:_PAIRS]:
        row = pair.row
        moves = [row[name] for name in ("wins", "ties", "losses")]
        rows.append(
            (
                row["metric"],
                row["a"],
                row["b"],
                verdict_mark(row["verdict"]),
                _signed(pair),
                _p_cell(row["p"], pair.p),
                _p_cell(row["p_corrected"], pair.p_corrected),
                *(TableCell("" if n is None else f"{n:,}", n) for n in moves),
            )
        )
    head = (
        "metric", "from", "to", "verdict", "difference", "p", "corrected", "gain",
        "stay", "lose",
    )  # fmt: skip
    drawn = table(head, rows, "llllrrrrrr", caption="Differences of all pairs")
    seen = {pair.row["verdict"].split(",", 1)[0] for pair in pairs}
    legend = [
        tag("span", f"{mark} {name} ", class_=f"verdict {name.replace(' ', '-')}")
        for name, mark in _MARKS.items()
        if name in seen
    ]
    tests = "; ".join(filter(None, (tested(comparison), of_intervals(comparison))))
    further = further_findings(comparison)
    how = f"Test: {tests}.{f' {further}.' if further else ''}"
    sure = f"Each line is a {100 * comparison.settings.confidence:g} % interval. "
    if drawn_lines(comparison):  # the charts say it themselves
        sure = ""
    parts = [tag("p", how, class_="hint"), drawn]
    if any(forests):
        parts = [
            tag("p", *legend, class_="legend"),
            tag("div", *forests, class_="grid"),
            tag("p", sure, how, class_="hint"),
            drawn,
        ]
    parts.append(rest_of(_PAIRS, len(pairs), "cmp.pairwise"))
    if len(comparison.systems) == 2:  # noqa: PLR2004 - the table has them all
        return parts
    of = "" if comparison.baseline else f" in {comparison.metrics[0]}"
    against = f" and {shown(comparison.baseline)}" if comparison.baseline else ""
    says = (
        f"Corrected p-values of the differences{of} between systems{against}: blue "
        "if the system in the row is better, orange if it is worse. The stronger the "
        f"colour, the smaller p; grey means p above {comparison.settings.alpha:g}."
    )
    spec = charts.heatmap(comparison, comparison.metrics[0])
    return [*parts, page.figure("heatmap", spec, says)]


def _signed(pair: PairInWords) -> TableCell:
    d = pair.row["difference"]
    if math.isnan(d):
        return TableCell(number(d))
    value, _, bounds = differences_of(pair).partition("\n")
    return TableCell(value, d, bounds.replace("\n", "; all pairs: "))


def _p_cell(p: float | None, text: str) -> TableCell:
    return TableCell(text, None if p is None or math.isnan(p) else p)


def _queries(page: Page, comparison: Comparison) -> list[Markup]:
    """Return the charts of a pair that readers choose, and the explorer."""
    data = page.data
    metric = data["metrics"][0]
    a, b = (comparison.systems[place] for place in data["pairs"][0])
    unit, units = comparison.unit, plural(comparison.unit)
    rows = charts.query_rows(comparison, metric, a, b)
    names = unit, metric, *charts.titled((a, b))
    holes = unit, "{metric}", "{a}", "{b}"
    bars = page.figure(
        "bars",
        specs.differences(charts.thinned_bars(rows, _BARS, units), *names),
        f"Each bar is a {unit}: how much it gains (blue) or loses (orange).",
        live=_empty(specs.differences([], *holes)),
    )
    dots = page.figure(
        "dots",
        specs.scatter(charts.thinned_points(rows, _POINTS, units), *names),
        f"Each point is a {unit}; above the diagonal, the second system has the larger "
        "value.",
        live=_empty(specs.scatter([], *holes)),
    )
    open_it = scripted(f" Select a {unit} to see the lists.")
    n, shown_n = len(comparison.queries), len(data["queries"])
    first = (
        f"This file has both lists of the {units} that moved most in {metric}, up to "
        f"{data['most']} per pair. The box beside an item shows its grade; a dashed "
        "box marks an unjudged item."
    )
    says = [first]
    if shown_n < n:
        says.append(f"Of {n:,} {units}, it has the {shown_n:,} that differ most.")
    if len(data["metrics"]) < len(comparison.metrics):
        says.append(f"It has per-{unit} values of {', '.join(data['metrics'])} only.")
    return [
        tag("div", id="controls", class_="controls", hidden=True),
        tag("div", bars, dots, class_="grid") if bars else Markup(),
        tag("p", " ".join(says), open_it, class_="hint"),
        tag("div", id="explorer", hidden=True),
        tag("noscript", _moved(comparison, metric, a, b)),
    ]


def _empty(spec: Spec) -> Spec:
    return spec | {"data": {"name": "rows"}}


def _moved(comparison: Comparison, metric: str, a: str, b: str) -> Markup:
    """Return the queries that moved most, for readers without scripts."""
    rows = [
        (
            shown(query.query),
            *map(number, query.values),
            f"{query.difference:+.4f}",
            *(
                ", ".join(
                    f"{item.item}"
                    + ("" if item.grade is None else f" ({item.grade:g})")
                    for item in top
                )
                for top in query.tops
            ),
        )
        for query in comparison.moved(metric, a, b)
    ]
    unit = comparison.unit
    head = (unit, a, b, "difference", f"first items of {a}", f"first items of {b}")
    caption = (
        f"{plural(unit).capitalize()} that moved most in {metric}, from {a} to {b}"
    )
    return table(head, rows, "lrrrll", caption=caption, sort=False)


def _curves(page: Page, comparison: Comparison) -> Markup:
    """Return the curve of the first metric that has one, or say why there is none."""
    first = charts.first_curve(comparison)
    if isinstance(first, str):
        return tag("p", f"There is no curve: {first}.", class_="hint")
    _, spec = first
    sure = f"{100 * comparison.settings.confidence:g} %"
    says = f"{spec['title']['text']}, with {sure} bands"
    if len(comparison.systems) > specs.MOST_CURVES:
        but = "" if comparison.baseline is None else "baseline and the "
        n = specs.MOST_CURVES - (comparison.baseline is not None)
        says += f", for the {but}{n} best systems"
    says += "."
    return page.figure("curve", spec, says)


def _segments(comparison: Comparison) -> Markup:
    rows = [
        (
            row["metric"],
            row["segment"],
            row["run"],
            TableCell(f"{row['n']:,}", row["n"]),
            TableCell(
                number(row["mean"]),
                None if math.isnan(row["mean"]) else row["mean"],
                between(row["low"], row["high"]),
            ),
        )
        for row in comparison.segments.head(_SEGMENTS).iter_rows(named=True)
    ]
    head = ("metric", "segment", "system", plural(comparison.unit), "mean")
    drawn = table(head, rows, "lllrr", caption="Means by segment")
    n = comparison.segments.height
    return join([drawn, rest_of(_SEGMENTS, n, "cmp.segments")])


def _risk(comparison: Comparison, baseline: str) -> Markup:
    """Return how much each system risks making queries worse than the baseline."""
    rows, units = [], plural(comparison.unit)
    for metric in comparison.metrics:
        try:
            risks = comparison.risk(metric)
        except ParameterError:  # a number of a whole run
            continue
        rows += [
            (
                metric,
                name,
                TableCell(f"{100 * risk.hurt:.1f} %", risk.hurt),
                *(
                    TableCell(number(value), None if math.isnan(value) else value)
                    for value in (risk.urisk, risk.trisk, risk.georisk)
                ),
            )
            for name, risk in risks.items()
        ]
    says = (
        f"Against {shown(baseline)}: the share of {units} that get worse, and the mean "
        "gain if losses count twice. Below 0, losses outweigh gains."
    )
    head = ("metric", "system", f"{units} hurt", "URisk", "TRisk", "GeoRisk")
    drawn = table(head, rows, "llrrrr", caption="Risk against the baseline")
    return join([tag("p", says, class_="hint"), drawn])


def _choices(comparison: Comparison) -> list[tuple[str, str]]:
    how = comparison.settings
    first = next(iter(comparison.evaluations.values()), None)
    rows = [
        *names_of(comparison.metrics),
        ("test", how.test),
        ("correction", how.correction),
        ("family", how.family),
        ("confidence", f"{how.confidence:g}"),
        ("intervals", how.intervals),
        ("draws", f"{how.draws:,}"),
        ("seed", str(how.seed)),
        ("baseline", comparison.baseline or "none"),
    ]
    if comparison.margins:
        sizes = (f"{name} {size:g}" for name, size in comparison.margins.items())
        rows.append(("margins", ", ".join(sizes)))
    if first is not None:
        rows.append(("convention", first.preset or str(first.convention)))
    return rows
