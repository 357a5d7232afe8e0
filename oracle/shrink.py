"""Make a case smaller while it still shows what it showed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from oracle.cases import Case, without_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SIMPLE_GRADES = (1.0, 0.0, 2.0, -1.0)


def shrink(case: Case, k: int, shows: Callable[[Case, int], bool]) -> tuple[Case, int]:
    """Return the smallest case found by one change at a time."""
    place, changed = 0, False
    while True:
        size = _size(case, k)
        changes = [new for new in _changes(case, k) if _size(*new) < size]
        found = next(
            (i for i, n in enumerate(changes) if i >= place and shows(*n)), None
        )
        if found is not None:
            # Changes tried before this one have failed: go on from here, not anew.
            (case, k), place, changed = changes[found], found, True
        elif changed:
            place, changed = 0, False
        else:
            return case, k


def shape(case: Case, k: int) -> str:
    """Return a text that is equal for cases equal but for the names in them."""
    order = sorted({*case.qrels, *case.run}, key=lambda query: query not in case.shared)
    queries = {query: place for place, query in enumerate(order)}
    items: dict[str, int] = {}
    rows = [
        (queries[q], items.setdefault(i, len(items)), score)
        for q, i, score, _ in case.rows
    ]
    judged = [
        (queries[q], items.setdefault(i, len(items)), grade)
        for q, i, grade in case.judgements
    ]
    return f"{sorted(rows)} {sorted(judged)} {k}"


def _size(case: Case, k: int) -> tuple[float, ...]:
    n_parts = len(case.qrels) + len(case.run) + len(case.grades) + len(case.rows)
    odd_grades = sum(
        _SIMPLE_GRADES.index(grade) if grade in _SIMPLE_GRADES else len(_SIMPLE_GRADES)
        for grade in case.grades
    )
    scores = [score for _, _, score, _ in case.rows]
    fractions = sum(not score.is_integer() for score in scores)
    rising = sum(
        earlier[1] < later[1]
        for shown in case.run.values()
        for earlier, later in pairwise(shown)
    )
    return n_parts, k, odd_grades, fractions, rising, sum(map(abs, scores))


def _changes(case: Case, k: int) -> Iterator[tuple[Case, int]]:
    for smaller in (*_fewer_queries(case), *_fewer_rows(case), *_simpler_values(case)):
        if smaller.qrels:
            yield smaller, k
    yield from ((case, cutoff) for cutoff in range(1, k))


def _fewer_queries(case: Case) -> Iterator[Case]:
    for query in sorted({*case.qrels, *case.run}):
        qrels = {q: own for q, own in case.qrels.items() if q != query}
        run = {q: shown for q, shown in case.run.items() if q != query}
        yield from (Case(qrels, run), Case(qrels, case.run), Case(case.qrels, run))


def _fewer_rows(case: Case) -> Iterator[Case]:
    for query, shown in case.run.items():
        for place in range(len(shown)):
            yield _with_list(case, query, shown[:place] + shown[place + 1 :])
    for query, own in case.qrels.items():
        for item in own:
            yield _with_grades(case, query, {i: g for i, g in own.items() if i != item})


def _simpler_values(case: Case) -> Iterator[Case]:
    for query, own in case.qrels.items():
        for item in own:
            for grade in _SIMPLE_GRADES:
                yield _with_grades(case, query, own | {item: grade})
    for query, shown in case.run.items():
        for scores in _simple_scores([score for _, score in shown]):
            pairs = zip(shown, scores, strict=True)
            yield _with_list(case, query, [(item, new) for (item, _), new in pairs])


def _simple_scores(scores: list[float]) -> Iterator[list[float]]:
    levels = sorted(set(scores))
    yield [1.0] * len(scores)
    yield [float(len(scores) - place) for place in range(len(scores))]
    yield [float(levels.index(score) + 1) for score in scores]


def _with_list(case: Case, query: str, shown: list[tuple[str, float]]) -> Case:
    return Case(case.qrels, without_empty(case.run | {query: shown}))


def _with_grades(case: Case, query: str, own: dict[str, float]) -> Case:
    return Case(without_empty(case.qrels | {query: own}), case.run)
