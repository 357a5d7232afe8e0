"""gate: whether a run is not worse than its baseline by more than a margin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine import __version__
from rankine._base.notebook import as_table
from rankine._base.paths import write_whole
from rankine._base.text import count
from rankine._evaluate.baseline import KEEP, UPDATE, Baseline
from rankine._evaluate.compare import check_metric, margins_of
from rankine._evaluate.evaluate import prepare
from rankine._evaluate.options import options_of
from rankine._evaluate.summary import finite
from rankine._stats.flips import NOTHING
from rankine._stats.paired import Differences
from rankine.errors import DataError, ParameterError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats
    from rankine._conventions.convention import Convention
    from rankine._evaluate.options import Options
    from rankine._io.sources import Source
    from rankine._metrics.metric import Metric

ALPHA = 0.05
"""The risk of a wrong interval, over all metrics."""
LEAST_MOVED = 10
"""Queries that must have moved before a gate decides anything but "unchanged"."""
UNCHANGED, NOT_WORSE, CANNOT_TELL, WORSE = VERDICTS = (
    "unchanged", "not worse", "cannot tell", "worse",
)  # fmt: skip
"""The verdicts; of several metrics, the last of these holds for all."""


@dataclass(frozen=True)
class GateVerdict:
    """What a gate says about one metric.

    Attributes:
        metric: its name.
        verdict: ``unchanged``, ``not worse``, ``cannot tell`` or ``worse``.
        baseline, value: the means of both, over the queries that both have.
        difference: the mean of value - baseline; `low` and `high` bound its interval.
        low, high: these bounds.
        margin: the change for the worse that does not matter; nan after an update.
        higher_is_better: whether larger values are better.
        queries: how many both have.
        moved: how many of these changed.
        total: the mean change since the first baseline.
    """

    metric: str
    verdict: str
    baseline: float
    value: float
    difference: float
    low: float
    high: float
    margin: float
    higher_is_better: bool
    queries: int
    moved: int
    total: float

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        return f"{self.metric}: {self._found()}{self._since()}"

    def _found(self) -> str:
        n = count(self.queries, "query")
        if self.verdict == UNCHANGED:
            return f"unchanged at {self.value:.4f}; none of {n} moved"
        way = f"the mean {_way(self.difference)}"
        if self.verdict == CANNOT_TELL and self.moved < LEAST_MOVED:
            return (
                f"cannot tell: only {self.moved} of {n} moved, and {LEAST_MOVED} are "
                f"needed; {way}"
            )
        if self.verdict == CANNOT_TELL:
            half = _size((self.high - self.low) / 2)
            return (
                f"cannot tell: {n} resolve +-{half}; {way}, and the margin is "
                f"{self.margin:g}"
            )
        signed = f"{self.low:+.4f} to {self.high:+.4f}"
        fell = self.high < 0 if self.higher_is_better else self.low > 0
        within = (
            f" ({_way(self.difference).split()[0]}, within the margin)"
            if fell and self.verdict == NOT_WORSE
            else ""
        )
        return (
            f"{self.verdict}{within}: {self.baseline:.4f} to {self.value:.4f}, "
            f"{self.difference:+.4f} ({signed}), margin {self.margin:g}; "
            f"{self.moved} of {n} moved"
        )

    def _since(self) -> str:
        if math.isnan(self.total) or abs(self.total - self.difference) <= NOTHING:
            return ""
        return f"; since the first baseline {self.total:+.4f}"

    def _repr_html_(self) -> str:
        return as_table(self)


@dataclass(frozen=True)
class Gate:
    """What a gate says about a run.

    Attributes:
        path: the file of the baseline.
        verdicts: the verdicts of each metric.
        strict: whether an undecided metric fails the gate.
        updated: whether the baseline was just written.
        notes: what was left out, and what makes the numbers doubtful.
    """

    path: str
    verdicts: tuple[GateVerdict, ...]
    strict: bool = False
    updated: bool = False
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """What holds for all metrics: the most serious of their verdicts."""
        return max((verdict.verdict for verdict in self.verdicts), key=VERDICTS.index)

    @property
    def exit_code(self) -> int:
        """1 if a metric is worse or, if strict, undecided; otherwise 0."""
        fails = {WORSE, CANNOT_TELL} if self.strict else {WORSE}
        return int(self.verdict in fails)

    @property
    def passed(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found for each metric, in words."""
        if not self.updated:
            return tuple(verdict.sentence for verdict in self.verdicts)
        return tuple(
            f"{verdict.metric}: the baseline is {verdict.value:.4f} over "
            f"{count(verdict.queries, 'query')}{verdict._since()}"  # noqa: SLF001 - of its own
            for verdict in self.verdicts
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "baseline": self.path,
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "strict": self.strict,
            "updated": self.updated,
            "metrics": [
                {
                    key: finite(value) if isinstance(value, float) else value
                    for key, value in asdict(verdict).items()
                }
                for verdict in self.verdicts
            ],
            "sentences": list(self.sentences),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Return the verdict, the sentences and the notes as text."""
        head = "updated" if self.updated else self.verdict
        notes = (f"- {note}" for note in self.notes)
        return "\n".join([f"{self.path}: {head}", *self.sentences, *notes])

    def _repr_html_(self) -> str:
        return as_table(self)


def gate(
    qrels: Any,
    run: Any,
    baseline: str | PathLike[str],
    margins: float | Mapping[str, float] | None = None,
    *,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    update: bool = False,
    strict: bool = False,
    convention: str | Convention = "rankine",
    **options: Any,
) -> Gate:
    """Say whether a run is not worse than its baseline by more than a margin.

    Args:
        qrels: the judgements, as in `evaluate`.
        run: the run, as in `evaluate`.
        baseline: the path of the file that holds the values to compare with.
        margins: for each metric of the baseline, the change for the worse that does not
            matter: {metric: number}, or a number for all; not needed for an update.
        metrics: with an update, names or metrics, each with a value per query; those of
            the file if not given.
        update: write a new file from this run, instead of comparing with it. It keeps
            the values of the first baseline, unless judgements, further data,
            convention or metrics changed.
        strict: whether an undecided metric fails the gate.
        convention: whose choices the numbers follow.
        options: the other options of `evaluate`, such as ``rel``, ``train`` and
            ``weights``.

    Returns:
        A verdict for each metric, from Student's interval of the mean difference per
        query at the confidence 1 - 0.05 / number of metrics, and the exit code.

    Raises:
        UsageError: there is no baseline, a margin is missing, or an option is not
            valid.
        DataError: the comparison would mean nothing, as judgements, further data, the
            convention, a metric or the ids of items have changed; or the data cannot be
            used.

    >>> import tempfile
    >>> import rankine as rk
    >>> qrels = {f"q{n}": {"a": 1} for n in range(20)}
    >>> old = {f"q{n}": ["x", "a", "y"] for n in range(20)}
    >>> new = {f"q{n}": ["x", "y", "a"] if n % 2 else ["x", "a"] for n in range(20)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = rk.gate(qrels, old, f"{folder}/gate.json", metrics="RR", update=True)
    ...     found = rk.gate(qrels, new, f"{folder}/gate.json", {"RR": 0.01})
    >>> found.exit_code, found.sentences[0]
    (1, 'RR: worse: 0.5000 to 0.4167, -0.0833 (-0.1233 to -0.0433), margin 0.01; 10 of 20 queries moved')
    """  # noqa: E501 - what Python prints
    asked = options_of("gate", {"convention": convention, "keep": KEEP, **options})
    return gate_run(
        asked, qrels, run, Path(baseline), margins, metrics, update=update,
        strict=strict,
    )  # fmt: skip


def gate_run(
    options: Options,
    qrels: Any,
    run: Any,
    path: Path,
    margins: float | Mapping[str, float] | None,
    metrics: Any,
    *,
    update: bool,
    strict: bool,
    tell: Callable[[Source], object] | None = None,
) -> Gate:
    """Compare a run with its baseline, or make it the baseline; see `gate`.

    Everything that can be checked without data is checked first.
    """
    old = _old(path, metrics, update=update)
    asked = list(old.metrics) if old is not None and metrics is None else metrics
    job = prepare(asked, options)
    job.tell = tell
    for metric, bound in zip(job.plan.asked, job.plan.bound, strict=True):
        check_metric(metric, bound)
        if bound.higher_is_better is None:
            msg = (
                f"{metric} is neither better nor worse when it is larger, so no gate "
                "can be set on it"
            )
            raise ParameterError(msg)
    sizes = margins_of(margins, job.plan.labels)
    if old is not None and not update:
        _check_margins(sizes, path, job.plan.labels)
        old.refuse_other_terms(job, path)
    job.check()
    truth = job.truth(qrels)
    if truth is None:
        msg = "a gate needs judgements"
        raise ParameterError(msg)
    evaluation = job.evaluate(truth, job.source(run))
    new = Baseline.of(job, truth, evaluation)
    if update:
        old = new = new if old is None else new.after(old)
    elif old is not None:
        old.refuse_other_data(new, path)
    directions = [bool(bound.higher_is_better) for bound in job.plan.bound]
    verdicts = verdicts_of(old or new, new, sizes, directions)
    if update:
        write_whole(path, new.text())
    notes = (*_alone(old or new, new), *evaluation.warnings, *evaluation.notes)
    return Gate(str(path), verdicts, strict, update, notes)


def _old(path: Path, metrics: Any, *, update: bool) -> Baseline | None:
    """Read the baseline; refuse if one is needed and there is none."""
    there = path.exists()
    if not update and metrics is not None:
        msg = f"metrics can be chosen only with {UPDATE}; {path} has its own"
        raise UsageError(msg)
    if not update and not there:
        msg = (
            f"there is no baseline {path}; create it from a run that is good enough: "
            f"rankine gate QRELS RUN --baseline {path} --update -m nDCG@10"
        )
        raise UsageError(msg)
    if update and not there and metrics is None:
        msg = f"{path} is new, so it needs metrics, such as -m nDCG@10"
        raise UsageError(msg)
    return Baseline.read(path) if there else None


def _check_margins(
    sizes: Mapping[str, float], path: Path, labels: tuple[str, ...]
) -> None:
    missing = [label for label in labels if label not in sizes]
    if missing:
        msg = (
            f"no margin is given for {', '.join(missing)} of {path}; say which change "
            f"for the worse does not matter, as in --margin {missing[0]}=0.01"
        )
        raise ParameterError(msg)


def verdicts_of(
    old: Baseline,
    new: Baseline,
    margins: Mapping[str, float],
    directions: Iterable[bool],
) -> tuple[GateVerdict, ...]:
    """Compare the values of a run with those of its baseline, metric by metric."""
    queries = list(new.queries)
    now = {query: new.queries[query].values for query in queries}
    before = {query: entry.values for query, entry in old.queries.items()}
    weights = [new.queries[query].weight for query in queries]
    weight = None
    if any(entry is not None for entry in weights):
        weight = np.array([entry or 0.0 for entry in weights])
    verdicts = []
    n = len(new.metrics)
    for number, (label, up) in enumerate(zip(new.metrics, directions, strict=True)):
        values, earlier, first = (
            _column(source, queries, number) for source in (now, before, old.first)
        )
        d = Differences((values - earlier)[None, :], weight)
        if not d.n[0]:
            msg = f"{label}: no query has a value in both the run and its baseline"
            raise DataError(msg)
        low, high = (float(bound[0]) for bound in d.interval(1 - ALPHA / n))
        margin, moved = margins.get(label, math.nan), int(d.n_moved[0])
        share = d.share[0] / d.n[0]
        mean_before, mean = (
            float(share @ np.where(d.paired[0], side, 0)) for side in (earlier, values)
        )
        total = Differences((values - first)[None, :], weight).mean
        worst, best = (low, high) if up else (-high, -low)
        verdict = verdict_of(worst, best, margin, moved)
        of_metric = GateVerdict(
            label, verdict, mean_before, mean, float(d.mean[0]), low, high, margin, up,
            int(d.n[0]), moved, float(total[0]),
        )  # fmt: skip
        verdicts.append(of_metric)
    return tuple(verdicts)


def verdict_of(low: float, high: float, margin: float, moved: int) -> str:
    """Return the verdict on a difference for which higher is better.

    >>> [verdict_of(low, 0.1, 0.02, 10) for low in (-0.01, -0.02)]
    ['not worse', 'cannot tell']
    """
    if moved == 0:
        return UNCHANGED
    if moved < LEAST_MOVED:
        return CANNOT_TELL
    if low > -margin:
        return NOT_WORSE
    return WORSE if high < 0 else CANNOT_TELL


def _column(
    source: Mapping[str, tuple[float | None, ...]], queries: list[str], number: int
) -> Floats:
    """Return the values of a metric, nan for queries that have none."""
    entries = (source[query][number] if query in source else None for query in queries)
    return np.array([math.nan if entry is None else entry for entry in entries])


def _alone(old: Baseline, new: Baseline) -> list[str]:
    """Say which queries only one side has, and whether rankine itself changed."""
    notes = []
    for number, label in enumerate(new.metrics):
        here, there = (
            {
                query
                for query, entry in side.queries.items()
                if entry.values[number] is not None
            }
            for side in (new, old)
        )
        for which, words in (
            (there - here, "only in the baseline"),
            (here - there, "new"),
        ):
            if which:
                n = count(len(which), "query")
                notes.append(f"{label}: {n} with a value {words}, left out")
    if old.version != __version__:
        notes.append(
            f"the baseline was computed by rankine {old.version}, and this is "
            f"{__version__}; the changelog says which numbers changed"
        )
    return notes


def _way(difference: float) -> str:
    if abs(difference) <= NOTHING:
        return "stayed"
    return f"{'fell' if difference < 0 else 'rose'} by {_size(abs(difference))}"


def _size(size: float) -> str:
    """Return a size with four decimals, or one digit if they would show none.

    >>> _size(0.0123), _size(0.00001)
    ('0.0123', '1e-05')
    """
    return f"{size:.4f}" if size >= 0.00005 else f"{size:.1g}"  # noqa: PLR2004
