"""Make a case smaller while it still shows what it showed."""

from __future__ import annotations

from dataclasses import replace
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
    every = {*case.qrels, *case.lists}
    order = sorted(every, key=lambda query: query not in case.shared)
    queries = {query: place for place, query in enumerate(order)}
    items: dict[str, int] = {}
    rows = [
        (queries[q], items.setdefault(i, len(items)), score, rank)
        for q, i, score, rank in case.rows
    ]
    judged = [
        (queries[q], items.setdefault(i, len(items)), grade)
        for q, i, grade in case.judgements
    ]
    empty = sorted(queries[query] for query in case.empty)
    return f"{sorted(rows)} {sorted(judged)} {empty} {k}"


def _size(case: Case, k: int) -> tuple[float, ...]:
    n_parts = len(case.qrels) + len(case.lists) + len(case.grades) + len(case.rows)
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
    ranks = len(case.ranks) + sum(rank for *_, rank in case.rows)
    return n_parts, k, odd_grades, fractions, rising, ranks, sum(map(abs, scores))


def _changes(case: Case, k: int) -> Iterator[tuple[Case, int]]:
    for smaller in (*_fewer_queries(case), *_fewer_rows(case), *_simpler_values(case)):
        if smaller.qrels:
            yield smaller, k
    yield from ((case, cutoff) for cutoff in range(1, k))


def _fewer_queries(case: Case) -> Iterator[Case]:
    for query in sorted({*case.qrels, *case.lists}):
        qrels = {q: own for q, own in case.qrels.items() if q != query}
        fewer = _without_list(case, query)
        yield from (replace(fewer, qrels=qrels), replace(case, qrels=qrels), fewer)


def _without_list(case: Case, query: str) -> Case:
    return replace(
        case,
        run={q: shown for q, shown in case.run.items() if q != query},
        ranks={q: ranks for q, ranks in case.ranks.items() if q != query},
        empty=tuple(q for q in case.empty if q != query),
    )


def _fewer_rows(case: Case) -> Iterator[Case]:
    for query, shown in case.run.items():
        for place in range(len(shown)):
            left = shown[:place] + shown[place + 1 :]
            if not left:
                yield _without_list(case, query)
                continue
            ranks = dict(case.ranks)
            if query in ranks:
                ranks[query] = ranks[query][:place] + ranks[query][place + 1 :]
            yield replace(case, run=case.run | {query: left}, ranks=ranks)
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
            again = [(item, new) for (item, _), new in pairs]
            yield replace(case, run=case.run | {query: again})
    for query, ranks in case.ranks.items():
        yield replace(case, ranks={q: r for q, r in case.ranks.items() if q != query})
        for simple in _simple_ranks(ranks):
            yield replace(case, ranks=case.ranks | {query: simple})


def _simple_ranks(ranks: list[int]) -> Iterator[list[int]]:
    """Put the ranks in order, or move what comes from a rank on up by one."""
    yield sorted(ranks)
    for rank in range(1, max(ranks)):
        if rank not in ranks:
            yield [other - (other > rank) for other in ranks]


def _simple_scores(scores: list[float]) -> Iterator[list[float]]:
    levels = sorted(set(scores))
    yield [1.0] * len(scores)
    yield [float(len(scores) - place) for place in range(len(scores))]
    yield [float(levels.index(score) + 1) for score in scores]


def _with_grades(case: Case, query: str, own: dict[str, float]) -> Case:
    return replace(case, qrels=without_empty(case.qrels | {query: own}))
