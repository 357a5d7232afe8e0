"""The report of an evaluation."""

from __future__ import annotations

import math
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rankine._base.text import count, plural
from rankine._conventions.presets import called
from rankine._evaluate.worst import check_worst, table_of
from rankine._report import charts
from rankine._report.explorer import Texts, explored_run
from rankine._report.export import cells, names_of, queries_by_metric
from rankine._report.markup import Markup, TableCell, isolated, table, tag
from rankine._report.page import Page, meanings, remarks, reproduction, scripted
from rankine._report.tables import number, shown
from rankine.errors import RankineError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from rankine._evaluate.result import Evaluation

_WORST = 10


def report(
    evaluation: Evaluation,
    path: str | PathLike[str],
    title: str | None,
    texts: Mapping[Any, Any] | None,
    command: str | None,
    files: tuple[Any, ...],
    query_texts: Mapping[Any, Any] | None,
    item_texts: Mapping[Any, Any] | None,
) -> None:
    """Write a report; see `Evaluation.report`."""
    given = (title, texts, command, files, query_texts, item_texts)
    page_of(evaluation, *given).write(path)


def page_of(
    evaluation: Evaluation,
    title: str | None = None,
    texts: Mapping[Any, Any] | None = None,
    command: str | None = None,
    files: tuple[Any, ...] = (),
    query_texts: Mapping[Any, Any] | None = None,
    item_texts: Mapping[Any, Any] | None = None,
) -> Page:
    """Return the page of an evaluation."""
    known = Texts(texts, query_texts, item_texts)
    known.check()
    n = queries_by_metric([evaluation]) or count(evaluation.n_queries, evaluation.unit)
    parts = [n, "95 % intervals"]
    parts.insert(1, f"convention {called(evaluation.convention, evaluation.preset)}")
    name = _named(evaluation)
    page = Page(title or f"How good is {name}?", " · ".join(parts), [name])
    page.add("numbers", "Numbers", *_numbers(page, evaluation))
    label = _browsed(evaluation)
    if label is not None:
        page.data = explored_run(evaluation, name, label, known)
        heading = plural(evaluation.unit).capitalize()
        page.add("queries", heading, *_queries(page, evaluation, label))
    page.add("curves", "By cutoff", _curve(page, evaluation))
    page.add(
        "notes", "Warnings and notes", remarks(evaluation.warnings, evaluation.notes)
    )
    convention = evaluation.preset or str(evaluation.convention)
    names = names_of(evaluation.summaries)
    page.add(
        "reproduce",
        "How to reproduce this",
        reproduction(
            command, files, [*names, ("convention", convention), ("seed", "0")]
        ),
    )
    return page


def _numbers(page: Page, evaluation: Evaluation) -> list[Markup]:
    rows = [
        (
            cell.metric,
            TableCell(
                cell.number(),
                None if math.isnan(cell.value) else cell.value,
                cell.bounds(),
            ),
            TableCell(f"{cell.n:,}", cell.n),
        )
        for cell in cells(evaluation)
    ]
    units = plural(evaluation.unit)
    head = ("metric", "value", units)
    drawn = table(head, rows, "lrr", caption="The number of each metric")
    spec = charts.means(evaluation)
    says = f"The mean of every metric over {units}, with its 95 % interval."
    figure = page.figure("means", spec, says) if spec["data"]["values"] else Markup()
    return [
        _lead(evaluation),
        tag("div", drawn, figure, class_="grid"),
        meanings(meanings_of(evaluation)),
    ]


def meanings_of(evaluation: Evaluation) -> dict[str, str]:
    """Return what each metric means, and whether lower is better."""
    return {
        label: metric.fact.meaning
        + (" Lower is better." if metric.higher_is_better is False else "")
        for label, metric in zip(evaluation.summaries, evaluation.bound, strict=True)
        if metric.fact.meaning
    }


def _lead(evaluation: Evaluation) -> Markup:
    """Return a sentence with the value of the first metric."""
    cell = cells(evaluation)[0]
    inside = f" ({cell.bounds()})" if cell.bounds() else ""
    name = _named(evaluation)
    text = f"{cell.metric} of {name} is {cell.number()}{inside}."
    return tag("p", isolated(text, [name]), class_="lead")


def _named(evaluation: Evaluation) -> str:
    """Return the name of the run; if it is a path, that of the file."""
    name = re.split(r"[/\\]", evaluation.name)[-1]
    return shown(name if PurePath(name).suffix else evaluation.name)


def _browsed(evaluation: Evaluation) -> str | None:
    """Return the first metric that orders queries by value, None if none does."""
    for label in evaluation.summaries:
        bound, _ = table_of(evaluation, label)
        try:
            check_worst(bound)
        except RankineError:
            continue
        return label
    return None


def _queries(page: Page, evaluation: Evaluation, label: str) -> list[Markup]:
    spec = charts.histogram(evaluation, label)
    unit, units = evaluation.unit, plural(evaluation.unit)
    says = f"The distribution of {label} over {units}."
    hint = (
        f"This file has the lists of the {units} with the worst {label}, up to "
        f"{page.data['most']}. The box beside an item shows its grade; a dashed box "
        "marks an unjudged item."
    )
    several = len({row["value"] for row in spec["data"]["values"]}) > 1
    return [
        page.figure("histogram", spec, says) if several else Markup(),
        tag("div", id="controls", class_="controls", hidden=True),
        tag("p", hint, scripted(f" Select a {unit} to see the list."), class_="hint"),
        tag("div", id="explorer", hidden=True),
        tag("noscript", _worst(evaluation, label)),
    ]


def _worst(evaluation: Evaluation, label: str) -> Markup:
    """Return the worst queries, for readers without scripts."""
    try:
        worst = evaluation.worst(label, _WORST)
    except RankineError as error:
        return tag("p", f"There are no lists: {error}.")
    rows = [
        (
            shown(query.query),
            number(query.value),
            ", ".join(f"{item.item}" for item in query.top),
            ", ".join(f"{item.item} ({item.grade:g})" for item in query.missed),
        )
        for query in worst
    ]
    head = (evaluation.unit, label, "first items", "missed")
    caption = f"The worst {plural(evaluation.unit)} by {label}"
    return table(head, rows, "lrll", caption=caption, sort=False)


def _curve(page: Page, evaluation: Evaluation) -> Markup:
    first = charts.first_curve(evaluation)
    if isinstance(first, str):
        return tag("p", f"There is no curve: {first}.", class_="hint")
    _, spec = first
    return page.figure("curve", spec, f"{spec['title']['text']}, with a 95 % band.")
