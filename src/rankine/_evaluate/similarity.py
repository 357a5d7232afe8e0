"""similarity: two runs compared query by query; and many, as a matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.records import cached_property
from rankine._base.text import count, in_units
from rankine._conventions.presets import convention
from rankine._evaluate.notes import sentences, undefined_notes
from rankine._evaluate.options import Options
from rankine._evaluate.plan import Group, Member, Plan
from rankine._evaluate.result import Evaluation
from rankine._evaluate.summary import finite, summarize
from rankine._evaluate.warnings import Doubts, units_of
from rankine._io import source_of
from rankine._io.sources import Lists
from rankine._join.by_position import all_paired, met_by_number
from rankine._join.lists import Lists as Ranked
from rankine._join.lists import lists_of
from rankine._join.pairs import Joined, join
from rankine._metrics.similarity.measures import Measure, parse_measure, parse_measures
from rankine.errors import DataError, ParameterError, UsageError

if TYPE_CHECKING:
    import polars as pl

    from rankine._base.arrays import Floats
    from rankine._io.sources import Source

_DEFAULT = ("RBO(p=0.9)", "AO@10", "Jaccard@10")


class Similarity(Evaluation):
    """The similarity of two runs for every query, and its mean.

    It is read like any `Evaluation`: ``ev["RBO(p=0.9)"]`` is a mean, `per_query` has
    the values behind it, `interval` returns its interval.
    """

    @staticmethod
    def _parse(text: str) -> Measure:
        return parse_measure(text)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was left out or undefined, in sentences; empty if nothing."""
        joined: Joined = self.tables[0]
        m = joined.matched
        short = np.minimum(m.x.length, m.y.length)
        depths = sorted({int(metric.get("k") or 0) for metric in self.metrics} - {0})
        shallow = [
            f"{count(n, self.unit)} with a list of fewer than {k} items"
            for k in depths
            if (n := int(np.count_nonzero(short < k)))
        ]
        tied = int(np.count_nonzero(m.tied))
        ties = [f"{count(tied, self.unit)} with tied items"] if tied else []
        gaps = sentences(undefined_notes(self.summaries, self.unit))
        return (*in_units(joined.notes, self.unit), *gaps, *shallow, *ties)


def similarity(
    first: Any,
    second: Any,
    measures: str | Measure | Iterable[str | Measure] = (),
    *,
    columns: Mapping[str, Any] | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
    name: str | None = None,
) -> Similarity:
    """Compare two runs, query by query.

    Args:
        first: a run, in any form that `evaluate` takes; the reference of the measures
            that have one.
        second: another run.
        measures: names, such as ``RBO(p=0.9)``, ``AO@10``, ``Overlap@5``,
            ``Jaccard@10``, ``tau``, ``rho``, ``r``, ``LIP@10``, ``NDPM`` or ``FCP``;
            RBO, AO@10 and Jaccard@10 if none is given.
        columns: which column is what, as in `evaluate`.
        lower_is_better: scores are distances, the smallest first.
        lenient: drop rows without an id and repeated items, and rank scores that are
            nan last, instead of refusing them.
        name: what to call the comparison.

    Returns:
        The values of all queries that both runs have, their means, intervals and notes.
        Items with equal scores are tied.

    Raises:
        UsageError: a measure is not valid.
        DataError: the data cannot be used; the runs have no query in common; or, for
            correlations, lists have different items and `on` is not given.

    >>> import rankine as rk
    >>> bm25 = {"q1": ["a", "b", "c"], "q2": ["d", "e"]}
    >>> dense = {"q1": ["b", "a", "c"], "q2": ["d", "f"]}
    >>> ev = rk.similarity(bm25, dense, ["AO@2", "RBO(p=0.8)"])
    >>> ev["AO@2"], round(ev["RBO(p=0.8)"], 4)
    (0.625, 0.7)
    """
    plan = plan_of(measures)
    options = Options(columns=columns, lower_is_better=lower_is_better, lenient=lenient)
    options.check()
    sources = [source_of(run, options.reading("run")) for run in (first, second)]
    names = "first", "second"
    sources = all_paired(names, sources)
    doubts = Doubts(_doubts_about(sources, names), units=units_of(sources))
    if any(isinstance(source, Lists) for source in sources):
        # Mappings are read in Python, where two threads would only wait for each other.
        first, second = (lists_of(source, keyed=True) for source in sources)
        return compare(plan, first, second, name, doubts)
    with ThreadPoolExecutor(max_workers=1) as pool:
        other = pool.submit(lists_of, sources[1])
        return compare(plan, lists_of(sources[0]), other.result(), name, doubts)


def _doubts_about(sources: Sequence[Source], names: tuple[str, str]) -> tuple[str, ...]:
    """Say what is doubtful of two runs, by their names here."""
    own = [
        f"{name}: {said.removeprefix(f'{source.name}: ')}"
        for name, source in zip(names, sources, strict=True)
        for said in source.warnings
    ]
    return (*met_by_number(sources[0], sources[1], names), *own)


def plan_of(measures: Any) -> Plan:
    """Check everything that can be checked without data."""
    measures = _DEFAULT if measures == () else measures
    if isinstance(measures, (str, Measure)) or not isinstance(measures, Iterable):
        measures = (measures,)
    read = (measure for entry in measures for measure in parse_measures(entry))
    asked = tuple(dict.fromkeys(read))
    if not asked:
        msg = "no measure was asked for; name at least one, such as RBO(p=0.9)"
        raise UsageError(msg)
    rule = convention("rankine")
    members = tuple(
        Member(number, measure, rule) for number, measure in enumerate(asked)
    )
    group = Group(rule, members, None, keep_scores=False)
    return Plan(asked, tuple(map(str, asked)), asked, (group,), rule, ())


def compare(
    plan: Plan,
    first: Ranked,
    second: Ranked,
    name: str | None,
    doubts: Doubts,
) -> Similarity:
    """Compare two runs that have been read, by a plan that has been checked."""
    scored = any("scores" in measure.needs for measure in plan.bound)
    joined = join(first, second, scored=scored)
    summaries = tuple(
        summarize(metric, joined.matched, plan.rule, joined.ids)  # type: ignore[arg-type]
        for metric in plan.bound
    )
    title = name or f"{first.name} and {second.name}"
    return Similarity(plan, summaries, (joined,), title, doubts=doubts)


@dataclass(frozen=True, eq=False)
class SimilarityMatrix:
    """The mean similarity of every pair of runs.

    ``found["bm25", "dense"]`` is one number, `values` has all, `frame` adds the names.

    Attributes:
        measure: the measure.
        names: the names of the runs.
        values: a row per first run, a column per second.
        notes: what was left out, by the names of the two runs.
    """

    measure: Measure
    names: tuple[str, ...]
    values: Floats
    notes: dict[tuple[str, str], tuple[str, ...]]

    def __getitem__(self, pair: Any) -> float:
        """Return the similarity of two runs, by their names."""
        if not isinstance(pair, tuple) or len(pair) != 2:  # noqa: PLR2004 - two runs
            msg = f"name two runs, as in found['a', 'b'], got {pair!r}"
            raise KeyError(msg)
        row, column = (self._number(name) for name in pair)
        return float(self.values[row, column])

    def _number(self, name: str) -> int:
        if name not in self.names:
            msg = f"no run is called {name!r}; the runs are {', '.join(self.names)}"
            raise KeyError(msg)
        return self.names.index(name)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The matrix as a frame: run, then a column per run."""
        import polars as pl  # noqa: PLC0415 - not needed for the numbers

        columns = {
            name: self.values[:, column] for column, name in enumerate(self.names)
        }
        first = "run"
        while first in columns:
            first += "_"
        return pl.DataFrame({first: list(self.names), **columns})

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "measure": str(self.measure),
            "runs": list(self.names),
            "values": [[*map(finite, row)] for row in self.values.tolist()],
            "notes": [
                {"runs": list(pair), "notes": list(said)}
                for pair, said in self.notes.items()
                if said
            ],
        }

    def __str__(self) -> str:
        """Return the matrix as text."""
        from rankine._report.tables import matrix_text  # noqa: PLC0415

        return matrix_text(self)

    def _repr_html_(self) -> str:
        from rankine._report.notebook import matrix_html  # noqa: PLC0415

        return matrix_html(self)


def similarity_matrix(
    runs: Any,
    measure: str | Measure = "RBO(p=0.9)",
    *,
    columns: Mapping[str, Any] | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
) -> SimilarityMatrix:
    """Compare every pair of several runs.

    Args:
        runs: name -> run, in any form that `evaluate` takes.
        measure: one measure of similarity.
        columns: which column is what, as in `evaluate`.
        lower_is_better: as in `similarity`.
        lenient: as in `similarity`.

    Returns:
        The mean over the queries of two runs, for every pair of runs.

    >>> import rankine as rk
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "x"]}, "c": {"q": ["x", "z"]}}
    >>> found = rk.similarity_matrix(runs, "Overlap@2")
    >>> found["a", "b"], found["a", "c"]
    (1.0, 0.5)
    """
    if not isinstance(runs, Mapping):
        msg = f"runs must be a mapping from name to run, got a {type(runs).__name__}"
        raise ParameterError(msg)
    wanted = parse_measure(measure)
    if len({str(name) for name in runs}) < len(runs):
        msg = f"two runs have the same name as text: {', '.join(map(str, runs))}"
        raise ParameterError(msg)
    options = Options(columns=columns, lower_is_better=lower_is_better, lenient=lenient)
    options.check()
    how = options.reading("run")
    names = [*map(str, runs)]
    read = [source_of(run, how) for run in runs.values()]
    sources = dict(zip(names, all_paired(names, read), strict=True))
    lists = {name: lists_of(source, keyed=True) for name, source in sources.items()}
    found = matrix_of(lists, wanted, Doubts(units=units_of(read)))
    notes = {
        pair: _doubts_about([sources[name] for name in pair], pair) + said
        for pair, said in found.notes.items()
    }
    return replace(found, notes=notes)


def matrix_of(
    runs: Mapping[str, Ranked], measure: Measure, doubts: Doubts
) -> SimilarityMatrix:
    """Compare every pair of several runs that have been read."""
    if len(runs) < 2:  # noqa: PLR2004 - nothing to compare
        msg = f"a matrix needs at least two runs, got {len(runs)}"
        raise UsageError(msg)
    plan = plan_of(measure)
    names = tuple(runs)
    values = np.full((len(names), len(names)), np.nan)
    notes: dict[tuple[str, str], tuple[str, ...]] = {}
    for row, name in enumerate(names):
        for column, other in enumerate(names):
            if column < row and measure.is_symmetric:
                values[row, column] = values[column, row]
                continue
            try:
                similarity = compare(plan, runs[name], runs[other], None, doubts)
            except DataError as error:
                msg = f"{name} and {other}: {error}"
                raise DataError(msg) from None
            values[row, column] = similarity[str(measure)]
            notes[name, other] = similarity.notes
    return SimilarityMatrix(measure, names, values, notes)
