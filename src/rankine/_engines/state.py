"""State: what some queries come to, in exact sums and counts that merge in any order.

It is small, whatever the number of queries, and travels from executors to the driver.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.records import cached_property
from rankine._engines.work import JUDGED, ROLES
from rankine._evaluate.batches.seen import Shown, Told, shown_in
from rankine._evaluate.notes import Seen
from rankine._evaluate.plan import rule_for
from rankine._evaluate.summary import of_all, rounded_bounds, settled
from rankine._evaluate.warnings import Caution, added
from rankine._io.values import ends
from rankine._stats.exact import Exact, exact_sum, product_error, root, to_float
from rankine._stats.exact import added as summed
from rankine._stats.intervals import FLOOR, Interval, around
from rankine._tables.joined import SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from rankine._base.arrays import Floats
    from rankine._conventions.convention import Convention
    from rankine._engines.chunks import Chunk
    from rankine._engines.work import Counts, Work
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.result import Evaluation
    from rankine._evaluate.summary import Summary
    from rankine._join.known import Known
    from rankine._metrics.metric import Metric
    from rankine.errors import RankineError

NOTHING = Fraction(0)


def _squares(x: Floats, y: Floats) -> Exact:
    """Add up products exactly, with what each lost in rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = x * y
        error = product_error(x, y, product)
    if not np.isfinite(error).all():
        return float(product.sum())  # of numbers near the largest, or beyond it
    return summed(exact_sum(product), exact_sum(error))


@dataclass(frozen=True)
class Sums:
    """What the values of some queries add up to, for one metric.

    Attributes:
        n: how many queries have a value.
        n_undefined: how many have none.
        n_empty: how many have nothing to find.
        n_empty_undefined: how many of these have no value.
        worth: what the rest of these count as; None if all have no value.
        empty_ids: the first few queries that have nothing to find.
        total, squares: of the values, or of their logarithms.
        parts: the same of pooled numerators and denominators: two sums, and those of
            both squares and of their product; None where nothing is pooled.
    """

    n: int = 0
    n_undefined: int = 0
    n_empty: int = 0
    n_empty_undefined: int = 0
    worth: float | None = None
    empty_ids: tuple[Any, ...] = ()
    total: Exact = NOTHING
    squares: Exact = NOTHING
    parts: tuple[Exact, ...] | None = None

    @staticmethod
    def of(summary: Summary, ids: Sequence[Any] | pl.Series) -> Sums:
        """Add up the values of a summary."""
        values, empty = summary.values, summary.empty
        known = values[~np.isnan(values)]
        if summary.metric.summary == "geometric":
            known = np.log(np.maximum(known, FLOOR))
        parts = None
        if summary.parts is not None:
            up, down = summary.parts
            squares = _squares(up, up), _squares(down, down), _squares(up, down)
            parts = exact_sum(up), exact_sum(down), *squares
        of_empty = values[empty]
        worth = of_empty[~np.isnan(of_empty)]
        shown = np.flatnonzero(empty)[:SHOWN].tolist()
        return Sums(
            summary.n,
            summary.n_undefined,
            len(of_empty),
            len(of_empty) - len(worth),
            float(worth.min()) if len(worth) else None,
            tuple(ids[number] for number in shown),
            exact_sum(known),
            _squares(known, known),
            parts,
        )

    def __add__(self, other: Sums) -> Sums:
        """Return what both come to."""
        worth = [x for x in (self.worth, other.worth) if x is not None]
        parts = self.parts or other.parts
        if self.parts is not None and other.parts is not None:
            pairs = zip(self.parts, other.parts, strict=True)
            parts = tuple(summed(ours, theirs) for ours, theirs in pairs)
        return Sums(
            self.n + other.n,
            self.n_undefined + other.n_undefined,
            self.n_empty + other.n_empty,
            self.n_empty_undefined + other.n_empty_undefined,
            min(worth, default=None),
            first(self.empty_ids, other.empty_ids),
            summed(self.total, other.total),
            summed(self.squares, other.squares),
            parts,
        )


@dataclass(frozen=True, eq=False)
class Pooled:
    """One metric over all queries, of which only the sums are known.

    It is read like a `Summary`, but for the values.

    Attributes:
        metric: what was computed.
        rule: the convention.
        sums: what the values add up to.
        weights: None, as all queries count the same.
    """

    metric: Metric
    rule: Convention
    sums: Sums
    weights: None = None

    @property
    def n(self) -> int:
        """How many queries entered."""
        return self.sums.n

    @property
    def n_undefined(self) -> int:
        """How many queries were left out because there is no value."""
        return self.sums.n_undefined

    @property
    def n_empty(self) -> int:
        """How many queries have nothing to find."""
        return self.sums.n_empty

    @property
    def n_without_value(self) -> int:
        """How many queries have something to find, and no value."""
        return self.sums.n_undefined - self.sums.n_empty_undefined

    @property
    def fate_of_empty(self) -> str:
        """What became of these queries, in words."""
        worth = self.sums.worth
        return "left out" if worth is None else f"counted as {worth:g}"

    @cached_property
    def number(self) -> float:
        """What the values are summed up to; nan without any."""
        sums, how = self.sums, self.metric.summary
        if not sums.n:
            return math.nan
        if sums.parts is not None:
            up, down = map(to_float, sums.parts[:2])
            return up / down if down else math.nan
        if how == "sum":
            return to_float(sums.total)
        mean = to_float(sums.total) / sums.n
        return math.exp(mean) if how == "geometric" else mean

    @cached_property
    def value(self) -> float:
        """The number that stands for all queries."""
        undefined = self.n_undefined if self.sums.parts is None else 0
        return settled(self.metric, self.rule, self.number, self.sums.n, undefined)

    def rounded(self, interval: Interval) -> Interval:
        """Round the bounds of an interval as the number is."""
        return rounded_bounds(interval, rule_for(self.metric, self.rule).decimals)

    def interval(self, confidence: float) -> Interval:
        """Return Student's interval; of a ratio of sums by its linear approximation."""
        from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import

        sums, n = self.sums, self.sums.n
        every = (sums.total, sums.squares, *(sums.parts or ()))
        exact = [number for number in every if isinstance(number, Fraction)]
        if n < 2 or len(exact) < len(every):  # noqa: PLR2004 - one has no spread
            return Interval(math.nan, math.nan)
        total, squares, *parts = exact
        center = total / n
        deviation = squares - total * center
        if parts:
            up, down, up_up, down_down, up_down = parts
            if not down:
                return Interval(math.nan, math.nan)
            center = up / down
            deviation = up_up - 2 * center * up_down + center**2 * down_down
            deviation *= (n / down) ** 2
        error = root(deviation / (n - 1)) / math.sqrt(n)
        reach = float(stdtrit(n - 1, 1 - (1 - confidence) / 2)) * error
        kind = "mean" if parts else self.metric.summary
        return self.rounded(around(self.number, reach, kind, n))


@dataclass(eq=False)
class State:
    """What was seen of some queries.

    Attributes:
        counts: rows of judgements and of the run, and what became of them.
        examples: the smallest of what some of these are.
        grades: the smallest and the largest grade.
        judged_ids: the first few queries that have judgements.
        alone_ids: the first few queries of the run that have none.
        shared: whether any query has both judgements and a list.
        sums: what the values add up to, for each metric.
        n_queries: how many queries were evaluated.
        seen: what was seen of judged queries.
        cautions: where numbers may not be those of a tool.
        steps: how often a score is above the one before it, and whether one is below.
        shown: what lists show, for each group of metrics of lists.
        said: what was told while rows were joined.
        catalogue: whose items are the catalogue, where nobody gave one.
        problems: why some data cannot be used, the first by its words.
    """

    counts: Counts = field(default_factory=Counter)
    examples: dict[tuple[str, str], Any] = field(default_factory=dict)
    grades: tuple[float, float] = (math.inf, -math.inf)
    judged_ids: tuple[Any, ...] = ()
    alone_ids: tuple[Any, ...] = ()
    shared: bool = False
    sums: dict[int, Sums] = field(default_factory=lambda: defaultdict(Sums))
    n_queries: int = 0
    seen: Seen = field(default_factory=Seen)
    cautions: tuple[Caution, ...] = ()
    steps: tuple[int, bool] = (0, False)
    shown: dict[int, Shown] = field(default_factory=dict)
    said: Told = field(default_factory=Told)
    catalogue: tuple[str, ...] = ()
    problems: list[RankineError] = field(default_factory=list)

    @staticmethod
    def of(chunk: Chunk) -> State:
        """See who has judgements, who has a list, and whether anybody has both."""
        judged, listed = (
            rows.frame["query"].unique(maintain_order=True)
            for rows in (chunk.judged, chunk.listed)
        )
        alone = listed.filter(~listed.is_in(judged.implode()))
        grade, examples = chunk.judged.frame["value"], chunk.examples
        fractions = grade.filter(grade != grade.floor())
        if len(fractions):
            examples = {**examples, (ROLES[JUDGED], "fraction"): fractions.min()}
        return State(
            chunk.counts + Counter({(ROLES[JUDGED], "queries"): len(judged)}),
            examples,
            ends(grade) if len(grade) else (math.inf, -math.inf),
            tuple(judged.head(SHOWN)),
            tuple(alone.head(SHOWN)),
            len(alone) < len(listed),
        )

    def see(self, work: Work, result: Evaluation) -> None:
        """Keep what queries come to, without their values."""
        summaries = [*result.summaries.values()]
        tables: tuple[Any, ...] = result._tables  # noqa: SLF001 - of our own making
        of_groups = zip(work.plan.groups, tables, strict=True)
        for place, (group, table) in enumerate(of_groups):
            if group.lists:
                self.shown[place] = shown_in(group, table, judged=work.judged)
            for number, metric, _ in group.members:
                if not metric.fact.of_all:
                    self.sums[number] = Sums.of(summaries[number], table.ids)
        self.n_queries = len(tables[0].ids)
        self.seen = result._seen or Seen()  # noqa: SLF001
        self.cautions = result._cautions  # noqa: SLF001
        doubts = result._doubted  # noqa: SLF001
        self.steps = doubts.rises, doubts.falls
        self.said = Told.of(tables)
        self.catalogue = result._catalogue  # noqa: SLF001

    def add(self, other: State) -> None:
        """Add what was seen of other queries."""
        self.counts += other.counts
        for what, example in other.examples.items():
            self.examples[what] = min(self.examples.get(what, example), example)
        least, most = self.grades
        self.grades = min(least, other.grades[0]), max(most, other.grades[1])
        self.judged_ids = first(self.judged_ids, other.judged_ids)
        self.alone_ids = first(self.alone_ids, other.alone_ids)
        self.shared = self.shared or other.shared
        for number, sums in other.sums.items():
            self.sums[number] += sums
        self.n_queries += other.n_queries
        ours, theirs = self.seen, other.seen
        self.seen = replace(
            ours + theirs,
            missing_ids=first(ours.missing_ids, theirs.missing_ids),
            extra_ids=first(ours.extra_ids, theirs.extra_ids),
        )
        self.cautions = added((*self.cautions, *other.cautions))
        rises, falls = self.steps
        self.steps = rises + other.steps[0], falls or other.steps[1]
        for place, shown in other.shown.items():
            self.shown.setdefault(place, Shown()).add(shown)
        self.said.add(other.said)
        self.catalogue = self.catalogue or other.catalogue
        self.problems = sorted([*self.problems, *other.problems], key=str)[:1]

    def wholes(self, plan: Plan, known: Known) -> dict[int, Summary]:
        """Return the value of each metric of all lists together, by its number.

        Queries have no values of their own in them: these would need all lists.
        """
        summaries: dict[int, Summary] = {}
        for place, shown in self.shown.items():
            members = [row for row in plan.groups[place].members if row[1].fact.of_all]
            tallies = shown.tallies(known) if members else None
            for number, metric, rule in members:
                summary = of_all(metric, tallies, rule)  # type: ignore[arg-type]
                if metric.fact.pairs is not None and tallies is not None:
                    n_lists = tallies.tally(metric.depth, once=True).n_lists
                    # Who has no list is in no pair, and neither is a list alone.
                    n = n_lists if n_lists > 1 else 0
                    summary = replace(summary, n=n, n_undefined=summary.n - n)
                summaries[number] = summary
        return summaries


def first(ours: Iterable[Any], theirs: Iterable[Any]) -> tuple[Any, ...]:
    """Return the smallest few ids of both, whichever came first.

    >>> first(["b", "d"], ["a", "c"])
    ('a', 'b', 'c')
    """
    return tuple(sorted([*ours, *theirs])[:SHOWN])
