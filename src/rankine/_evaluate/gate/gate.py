"""gate: whether a run is not worse than its baseline by more than a margin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine import __version__
from rankine._base.checks import check_count
from rankine._base.notebook import as_table
from rankine._base.paths import write_whole
from rankine._base.text import QUERY, count, p_equals, plural
from rankine._evaluate.compare.compare import is_mean, margins_of, no_mean
from rankine._evaluate.evaluate import prepare
from rankine._evaluate.gate.baseline import KEEP, UPDATE, Baseline, BaselineQuery
from rankine._evaluate.options import options_of
from rankine._evaluate.plan import rule_for
from rankine._evaluate.summary import finite, mean_of
from rankine._stats.flips import NOTHING, flipped_p
from rankine._stats.paired import DRAWS, Differences
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
"""Queries that must have moved before a gate says "not worse"."""
UNCHANGED, NOT_WORSE, CANNOT_TELL, WORSE = VERDICTS = (
    "unchanged", "not worse", "cannot tell", "worse",
)  # fmt: skip
"""The verdicts, the most serious last."""
_NAMED = 10
"""The most queries named among those that fell, and among those that were lost."""


class FallenQuery(NamedTuple):
    """A query on which a run is worse than its baseline.

    Attributes:
        query: its id, as text.
        before: its value in the baseline.
        after: its value in the run.
    """

    query: str
    before: float
    after: float

    def _repr_html_(self) -> str:
        return as_table(self)


@dataclass(frozen=True)
class GateVerdict:
    """The verdict of a gate on one metric.

    Attributes:
        metric: its name.
        verdict: ``unchanged``, ``not worse``, ``cannot tell`` or ``worse``.
        baseline, value: the means of both, over the queries that both have.
        difference: the mean of value - baseline; `low` and `high` bound its interval.
        low, high: these bounds.
        margin: the change for the worse that does not matter; nan after an update.
        higher_is_better: whether larger values are better.
        queries: how many queries both have.
        moved: how many of these changed.
        total: the mean change since the first baseline.
        p: the share of sign flips of the differences with a mean as bad; one-sided.
        fell: the queries that changed most for the worse, at most 10, the worst first.
        unit: what a query is called: query, or user.
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
    p: float = math.nan
    fell: tuple[FallenQuery, ...] = ()
    unit: str = QUERY

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return f"{self.metric}: {self._found()}{self._since()}"

    def _found(self) -> str:
        n = count(self.queries, self.unit)
        if self.verdict == UNCHANGED:
            return f"unchanged at {self.value:.4f}; none of {n} moved"
        mean = f"the mean {_moved(self.difference)}"
        if self.verdict == CANNOT_TELL and self.moved < LEAST_MOVED:
            return (
                f"cannot tell: only {self.moved} of {n} moved, and {LEAST_MOVED} are "
                f"needed for {NOT_WORSE!r}; {mean}"
            )
        if self.verdict == CANNOT_TELL:
            half = _size((self.high - self.low) / 2)
            return (
                f"cannot tell: {n} can detect a change of {half}; {mean}, and the "
                f"margin is {self.margin:g}"
            )
        signed = f"{self.low:+.4f} to {self.high:+.4f}"
        within = ""
        is_certain = self.high < 0 if self.higher_is_better else self.low > 0
        if self.verdict == NOT_WORSE and is_certain:
            way = "fell" if self.higher_is_better else "rose"
            within = f" ({way}, within the margin)"
        sure = f", {p_equals(self.p)}" if self.verdict == WORSE else ""
        return (
            f"{self.verdict}{within}: {self.baseline:.4f} to {self.value:.4f}, "
            f"{self.difference:+.4f} ({signed}){sure}, margin {self.margin:g}; "
            f"{self.moved} of {n} moved"
        )

    def _since(self) -> str:
        if math.isnan(self.total) or abs(self.total - self.difference) <= NOTHING:
            return ""
        return f"; since the first baseline {self.total:+.4f}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        record = {
            key: finite(value) if isinstance(value, float) else value
            for key, value in vars(self).items()
            if key != "unit"
        }
        return record | {"fell": [query._asdict() for query in self.fell]}

    def _repr_html_(self) -> str:
        return as_table(self)


@dataclass(frozen=True)
class Gate:
    """The verdict of a gate on a run.

    Attributes:
        path: the file of the baseline.
        verdicts: the verdicts of each metric.
        strict: whether an undecided metric fails the gate.
        updated: whether the baseline was just written.
        notes: data that were left out, and how to read the numbers.
        lost: the ids, as text, of queries that had items in the baseline, or a value of
            a metric, and have none now.
        allow_missing: how many of these do not fail the gate.
        at_command: whether the command was used, so that advice names its options.
        warnings: reasons to doubt the numbers.
    """

    path: str
    verdicts: tuple[GateVerdict, ...]
    strict: bool = False
    updated: bool = False
    notes: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    allow_missing: int = 0
    at_command: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """What results call a query: ``query``; or ``user``, where the data say so."""
        return self.verdicts[0].unit

    @property
    def verdict(self) -> str:
        """The most serious verdict of all metrics.

        A run that lost more queries than allowed is worse, whatever the metrics say.
        """
        if self._lost_too_many:
            return WORSE
        return max((verdict.verdict for verdict in self.verdicts), key=VERDICTS.index)

    @property
    def exit_code(self) -> int:
        """1 if a metric fails or too many queries were lost; otherwise 0."""
        return int(bool(self.failed) or self._lost_too_many)

    @property
    def _lost_too_many(self) -> bool:
        """Whether more queries were lost than allowed."""
        return len(self.lost) > self.allow_missing

    @property
    def failed(self) -> tuple[GateVerdict, ...]:
        """The metrics that fail: those that are worse or, if strict, undecided."""
        fails = {WORSE, CANNOT_TELL} if self.strict else {WORSE}
        return tuple(own for own in self.verdicts if own.verdict in fails)

    @property
    def passed(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence on each metric, and on lost queries.

        Lost queries come first if the gate fails only because of them.
        """
        if not self.updated:
            found = [verdict.sentence for verdict in self.verdicts]
        else:
            found = [
                f"{verdict.metric}: the baseline is {verdict.value:.4f} over "
                f"{count(verdict.queries, self.unit)}{verdict._since()}"  # noqa: SLF001 - of its own
                for verdict in self.verdicts
            ]
        place = 0 if self._lost_too_many and not self.failed else len(found)
        found.insert(place, self._of_lost())
        return (*filter(None, (*found, self._of_few())),)

    def _of_lost(self) -> str:
        """Name the queries that were lost."""
        n = len(self.lost)
        if not n:
            return ""
        some = ", ".join(self.lost[:_NAMED])
        more = ", ..." if n > _NAMED else ""
        option = "--allow-missing " if self.at_command else "allow_missing="
        accepted = (
            f"; {option}{n} accepts that"
            if self._lost_too_many
            else f", which {option}{self.allow_missing} accepts"
        )
        return (
            f"lost: {count(n, self.unit)} had items or values in the baseline and "
            f"{'has' if n == 1 else 'have'} none now ({some}{more}){accepted}"
        )

    def _of_few(self) -> str:
        """Name the metrics that cannot fail, however far the few queries fell."""
        least = least_to_fail(len(self.verdicts))
        if self.updated:
            few = [own.metric for own in self.verdicts if own.queries < least]
        else:
            unsure = (own for own in self.verdicts if own.verdict == CANNOT_TELL)
            few = [own.metric for own in unsure if own.moved < least]
        strict = self.strict and not self.updated  # "cannot tell" fails anyway
        if not few or strict:
            return ""
        return (
            f"{', '.join(few)}: fewer than {least} moved {plural(self.unit)} cannot "
            f"fail a gate on {count(len(self.verdicts), 'metric')}, however far they "
            f"fall; also set a floor: {floor_of(few[0], at_command=self.at_command)}"
        )

    @property
    def fallen(self) -> tuple[str, ...]:
        """The queries that fell most on each metric that fails, a line each."""
        lines: list[str] = []
        for verdict in self.failed:
            way = "fell" if verdict.higher_is_better else "rose"
            if verdict.fell:
                units = plural(self.unit)
                lines.append(f"{units} that {way} most on {verdict.metric}:")
            lines += [
                f"  {query}: {before:.4f} to {after:.4f}"
                for query, before, after in verdict.fell
            ]
        return tuple(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "baseline": self.path,
            "unit": self.unit,
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "strict": self.strict,
            "updated": self.updated,
            "metrics": [verdict.to_dict() for verdict in self.verdicts],
            "lost": list(self.lost),
            "allow_missing": self.allow_missing,
            "sentences": list(self.sentences),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def to_markdown(self) -> str:
        """Return Markdown, for the summary of a pull request."""
        from rankine._report.gate import to_markdown  # noqa: PLC0415

        return to_markdown(self)

    def __str__(self) -> str:
        """Return the verdict, sentences, fallen queries, warnings and notes as text."""
        from rankine._report.tables import shown  # noqa: PLC0415

        path, verdict = self.path, self.verdict
        head = f"{path}: updated" if self.updated else f"against {path}: {verdict}"
        told = [f"! {warning}" for warning in self.warnings]
        told += [f"- {note}" for note in self.notes]
        lines = [head, *self.sentences, *self.fallen, *told]
        return "\n".join(map(shown, lines))

    def _repr_html_(self) -> str:
        return as_table(self)


def least_to_fail(n_metrics: int) -> int:
    """Return how many queries must have moved before a gate can fail.

    The smallest p of m queries is 1 / 2^m, if all of them fell.

    >>> [least_to_fail(n) for n in (1, 2, 3, 4, 6, 7, 12)]
    [6, 7, 7, 8, 8, 9, 9]
    """
    return math.ceil(math.log2(2 * n_metrics / ALPHA))


def floor_of(metric: str, *, at_command: bool) -> str:
    """Return how to fail a build below a fixed value, in the words of an interface."""
    if at_command:
        return f"rankine evaluate --fail-under {metric}=VALUE"
    return f"assert rk.evaluate(qrels, run, {metric!r})[{metric!r}] >= VALUE"


def gate(
    qrels: Any,
    run: Any,
    baseline: str | PathLike[str],
    margins: float | Mapping[str, float] | None = None,
    *,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    update: bool = False,
    strict: bool = False,
    allow_missing: int = 0,
    seed: int = 0,
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
        metrics: with an update, names or metrics, each with a value per query; if not
            given, those that have a margin, or else those of the file.
        update: write a new file from this run, instead of comparing with it. It keeps
            the values of the first baseline, unless judgements, further data,
            convention or metrics changed.
        strict: whether an undecided metric fails the gate.
        allow_missing: how many queries that had items in the baseline, or a value of a
            metric, may have none now without failing the gate.
        seed: the seed of the random sign flips, which are drawn if more than 16 queries
            moved.
        convention: whose choices the numbers follow.
        options: the other options of `evaluate`, such as ``rel``, ``train`` and
            ``weights``.

    Returns:
        A verdict for each metric, from sign flips of the differences per query and
        from Student's interval of their mean at the confidence 1 - 0.05 / number of
        metrics; the queries that fell most and those that were lost; the exit code.

    Raises:
        UsageError: there is no baseline, a margin is missing, or an option is not
            valid.
        DataError: the comparison would be meaningless, because judgements, further
            data, the convention, a metric or the ids of items have changed; or the data
            cannot be used.

    >>> import tempfile
    >>> import rankine as rk
    >>> qrels = {f"q{n}": {"a": 1} for n in range(20)}
    >>> old = {f"q{n}": ["x", "a", "y"] for n in range(20)}
    >>> new = {f"q{n}": ["x", "y", "a"] if n % 2 else ["x", "a"] for n in range(20)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = rk.gate(qrels, old, f"{folder}/gate.json", metrics="RR", update=True)
    ...     found = rk.gate(qrels, new, f"{folder}/gate.json", {"RR": 0.01})
    >>> found.exit_code, found.sentences[0]
    (1, 'RR: worse: 0.5000 to 0.4167, -0.0833 (-0.1233 to -0.0433), p = 0.0010, margin 0.01; 10 of 20 queries moved')
    """  # noqa: E501 - what Python prints
    asked = options_of("gate", {"convention": convention, "keep": KEEP, **options})
    terms = Terms(update, strict, allow_missing, seed)
    return gate_run(asked, qrels, run, Path(baseline), margins, metrics, terms)


class Terms(NamedTuple):
    """How a gate compares; see `gate`.

    Attributes:
        update, strict, allow_missing, seed: see `gate`.
        at_command: whether the command is used, so that advice names its options.
    """

    update: bool
    strict: bool
    allow_missing: int
    seed: int
    at_command: bool = False


def gate_run(
    options: Options,
    qrels: Any,
    run: Any,
    path: Path,
    margins: float | Mapping[str, float] | None,
    metrics: Any,
    terms: Terms,
    tell: Callable[[Source], object] | None = None,
) -> Gate:
    """Compare a run with its baseline, or make it the baseline; see `gate`.

    Everything that can be checked without data is checked first.
    """
    check_count("allow_missing", terms.allow_missing, least=0)
    check_count("seed", terms.seed, least=0)
    if terms.update and metrics is None and isinstance(margins, Mapping) and margins:
        metrics = [*margins]
    old = _old(path, metrics, terms)
    asked = list(old.metrics) if old is not None and metrics is None else metrics
    job = prepare(asked, options)
    job.plan = job.plan.under(map(str, job.plan.asked))  # as in every baseline
    job.tell = tell
    for metric, bound in zip(job.plan.asked, job.plan.bound, strict=True):
        _check_metric(metric, bound, terms)
    sizes = margins_of(margins, job.plan.labels)
    if old is not None and not terms.update:
        _check_margins(sizes, path, job.plan.labels, terms)
        old.refuse_other_terms(job, path)
    job.check()
    truth = job.truth(qrels, run)
    if truth is None:
        msg = "a gate needs judgements"
        raise ParameterError(msg)
    evaluation = job.evaluate(truth, job.source(run))
    for label, summary in evaluation.summaries.items():
        if summary.parts is not None:  # it is pooled, or drawn more than once
            raise no_mean(label)
    new = Baseline.of(job, truth, evaluation)
    if terms.update or old is None:
        # A new baseline is compared with itself, and with the first baseline.
        new = new if old is None else new.after(old)
        old = new
    else:
        old.refuse_other_data(new, path)
    directions = [bool(bound.higher_is_better) for bound in job.plan.bound]
    decimals = [rule_for(bound, job.plan.rule).decimals for bound in job.plan.bound]
    verdicts = verdicts_of(old, new, sizes, directions, terms.seed, decimals)
    if terms.update:
        write_whole(path, new.text())
    lost, unknown = _lost(old, new)
    notes = (*_of_one_side(old, new), *unknown, *evaluation.notes)
    return Gate(
        str(path), verdicts, terms.strict, terms.update, notes, lost,
        terms.allow_missing, terms.at_command, evaluation.warnings,
    )  # fmt: skip


def _check_metric(metric: Metric, bound: Metric, terms: Terms) -> None:
    """Refuse a metric that is not a mean over queries, or has no direction."""
    if not is_mean(bound):
        floor = floor_of(str(metric), at_command=terms.at_command)
        msg = (
            f"{metric} is not a mean over queries, and a gate compares query by query; "
            f"set a floor for it instead: {floor}"
        )
        raise ParameterError(msg)
    if bound.higher_is_better is None:
        msg = (
            f"{metric} has no direction: neither larger nor smaller is better, so no "
            "gate can be set on it"
        )
        raise ParameterError(msg)


def _old(path: Path, metrics: Any, terms: Terms) -> Baseline | None:
    """Read the baseline; refuse if one is needed and there is none."""
    try:
        there = path.exists()
    except OSError:  # for example, no permission to read the folder
        there = True  # reading it says why it cannot be read
    if not terms.update and metrics is not None:
        msg = f"metrics can be chosen only with {UPDATE}; {path} has its own"
        raise UsageError(msg)
    if not terms.update and not there:
        how = (
            f"rankine gate QRELS RUN --baseline {path} --update -m nDCG@10"
            if terms.at_command
            else f"rk.gate(qrels, run, {str(path)!r}, metrics='nDCG@10', update=True)"
        )
        msg = (
            f"there is no baseline {path}; create it from a run that is good enough: "
            f"{how}"
        )
        raise UsageError(msg)
    if terms.update and not there and metrics is None:
        some = "-m nDCG@10" if terms.at_command else "metrics='nDCG@10'"
        msg = f"{path} is new, so it needs metrics, such as {some}"
        raise UsageError(msg)
    return Baseline.read(path) if there else None


def _check_margins(
    sizes: Mapping[str, float], path: Path, labels: tuple[str, ...], terms: Terms
) -> None:
    missing = [label for label in labels if label not in sizes]
    if missing:
        name = missing[0]
        some = f"--margin {name}=0.01" if terms.at_command else f"{{{name!r}: 0.01}}"
        msg = (
            f"no margin is given for {', '.join(missing)}, which {path} has; give the "
            f"change for the worse that does not matter, as in {some}"
        )
        raise ParameterError(msg)


def verdicts_of(
    old: Baseline,
    new: Baseline,
    margins: Mapping[str, float],
    directions: Iterable[bool],
    seed: int = 0,
    decimals: Iterable[int | None] | None = None,
) -> tuple[GateVerdict, ...]:
    """Compare the values of a run with those of its baseline, metric by metric.

    The means are rounded to decimals as those of an evaluation are.
    """
    queries = list(new.queries)
    weight = _weights(new)
    risk = ALPHA / len(new.metrics)
    sides = new.values, old.values, old.first
    digits = [None] * len(new.metrics) if decimals is None else decimals
    each = zip(new.metrics, directions, digits, strict=True)
    found = []
    for number, (label, up, places) in enumerate(each):
        now, before, first = (_column(side, queries, number) for side in sides)
        d = Differences((now - before)[None, :], weight)
        if not d.n[0]:
            msg = f"{label}: no {new.unit} has a value in both the run and its baseline"
            raise DataError(msg)
        both, sign = d.paired[0], 1 if up else -1
        mean_before, mean_now = (
            mean_of(np.where(both, side, np.nan), weight, places)
            for side in (before, now)
        )
        low, high = (float(bound[0]) for bound in d.interval(1 - risk))
        margin, moved = margins.get(label, math.nan), int(d.n_moved[0])
        # Each metric has its own flips.
        gains = sign * d.flippable[:, d.d[0] != 0]
        p = float(flipped_p(gains, DRAWS, (seed, number), below=True)[0])
        of_metric = GateVerdict(
            metric=label,
            verdict=verdict_of(low if up else -high, p, margin, moved, risk / 2),
            baseline=mean_before,
            value=mean_now,
            difference=float(d.mean[0]),
            low=low,
            high=high,
            margin=margin,
            higher_is_better=up,
            queries=int(d.n[0]),
            moved=moved,
            total=float(Differences((now - first)[None, :], weight).mean[0]),
            p=p,
            fell=_fell(queries, before, now, sign * d.d[0]),
            unit=new.unit,
        )
        found.append(of_metric)
    return tuple(found)


def _fell(
    queries: list[str], before: Floats, now: Floats, gains: Floats
) -> tuple[FallenQuery, ...]:
    """Return the queries with the largest losses, the worst first."""
    worst = np.argsort(gains, kind="stable")[:_NAMED].tolist()
    return tuple(
        FallenQuery(queries[place], float(before[place]), float(now[place]))
        for place in worst
        if gains[place] < 0
    )


def verdict_of(low: float, p: float, margin: float, moved: int, level: float) -> str:
    """Return the verdict on a difference for which higher is better.

    Args:
        low: the lower bound of its interval.
        p: the share of sign flips with a mean as low.
        margin: the fall that does not matter.
        moved: how many queries moved.
        level: the largest p of a run that fell.

    >>> [verdict_of(low, 0.01, 0.02, 10, 0.025) for low in (-0.01, -0.02)]
    ['not worse', 'worse']
    >>> [verdict_of(low, 0.03, 0.02, 9, 0.025) for low in (-0.01, -0.02)]
    ['cannot tell', 'cannot tell']
    """
    if moved == 0:
        return UNCHANGED
    if p <= level and low <= -margin:
        return WORSE
    if moved >= LEAST_MOVED and low > -margin:
        return NOT_WORSE
    return CANNOT_TELL


def _lost(old: Baseline, new: Baseline) -> tuple[tuple[str, ...], list[str]]:
    """Return the queries that had items, or a value of a metric, and have none now.

    Also returns a note on queries for which an older baseline does not record it.
    """
    lost, n = [], 0
    gone = BaselineQuery(None, (), (None,) * len(old.metrics), listed=False)
    for query, before in old.queries.items():
        if before.weight == 0:
            continue
        now = new.queries.get(query, gone)
        if (before.listed and not now.listed) or any(
            had is not None and has is None
            for had, has in zip(before.values, now.values, strict=True)
        ):
            lost.append(query)
        elif before.listed is None and not now.listed:
            n += 1
    if not n:
        return tuple(lost), []
    note = (
        f"{count(n, new.unit)} without items: the baseline, of rankine {old.version}, "
        f"does not say whether {'it' if n == 1 else 'they'} had items before; "
        f"{UPDATE} records that"
    )
    return tuple(lost), [note]


def _column(
    source: Mapping[str, tuple[float | None, ...]], queries: list[str], number: int
) -> Floats:
    """Return the values of a metric, nan for queries without one."""
    entries = (source[query][number] if query in source else None for query in queries)
    return np.array([math.nan if entry is None else entry for entry in entries])


def _weights(run: Baseline) -> Floats | None:
    """Return how much each query counts; None without weights."""
    weights = [entry.weight for entry in run.queries.values()]
    if all(weight is None for weight in weights):
        return None
    return np.array([weight or 0.0 for weight in weights])


def _of_one_side(old: Baseline, new: Baseline) -> list[str]:
    """Return notes on queries that only one side has, and on another version."""
    notes = []
    for number, label in enumerate(new.metrics):
        here, there = (
            {query for query, own in side.values.items() if own[number] is not None}
            for side in (new, old)
        )
        for some, words in (
            (there - here, "only in the baseline"),
            (here - there, "new"),
        ):
            if some:
                n = count(len(some), new.unit)
                notes.append(f"{label}: {n} with a value {words}, left out")
    if old.version != __version__:
        notes.append(
            f"the baseline was computed by rankine {old.version}, and this is "
            f"{__version__}; the changelog says which numbers changed"
        )
    return notes


def _moved(difference: float) -> str:
    """Say in words how far a mean moved."""
    if abs(difference) <= NOTHING:
        return "stayed"
    return f"{'fell' if difference < 0 else 'rose'} by {_size(abs(difference))}"


def _size(size: float) -> str:
    """Return a size with four decimals, or one digit if they would show none.

    >>> _size(0.0123), _size(0.00001)
    ('0.0123', '1e-05')
    """
    return f"{size:.4f}" if size >= 0.00005 else f"{size:.1g}"  # noqa: PLR2004
