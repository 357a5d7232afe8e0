"""check: a report on judgements and a run before any metric is computed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rankine import _io as io
from rankine._base.checks import check_k
from rankine._base.forks import need_threads
from rankine._evaluate.findings import Pair
from rankine._evaluate.options import Options
from rankine._io.mappings import as_rows
from rankine._io.sources import refuse_empty

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._evaluate.findings import Finding
    from rankine._io.sources import Source


@dataclass(frozen=True)
class Check:
    """What is in judgements and a run.

    Attributes:
        qrels: counts of the judgements.
        run: counts of the run.
        both: what they have in common.
        findings: what to look at, the most serious first.
    """

    qrels: Mapping[str, Any]
    run: Mapping[str, Any]
    both: Mapping[str, Any]
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "qrels": dict(self.qrels),
            "run": dict(self.run),
            "both": dict(self.both),
            "findings": [asdict(finding) for finding in self.findings],
        }

    def __str__(self) -> str:
        """Return the report as text."""
        from rankine._report.check import to_text  # noqa: PLC0415

        return to_text(self)

    def _repr_html_(self) -> str:
        from rankine._report.check import to_html  # noqa: PLC0415

        return to_html(self)


def check(
    qrels: Any,
    run: Any,
    *,
    k: int = 10,
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    lower_is_better: bool = False,
) -> Check:
    """Check judgements and a run without computing a metric.

    Duplicates, missing ids and scores that are not numbers, which `evaluate` refuses,
    are counted here.

    Args:
        qrels: the judgements, as in `evaluate`.
        run: the retrieved items, as in `evaluate`.
        k: the cutoff at which ties and unjudged items are counted.
        columns: which column is what.
        grades: what each grade in words is worth.
        lower_is_better: scores are distances.

    Returns:
        Counts, and findings with what to do about each.

    >>> import rankine as rk
    >>> qrels = {"q1": {"a": 1, "c": 0}}
    >>> found = rk.check(qrels, {"q1": ["b", "a"], "q2": ["c"]})
    >>> found.both["queries_in_both"], found.both["unjudged_at_k"]
    (1, 0.5)
    >>> [finding.what for finding in found.findings]
    ['1 query of the run without judgements (q2)']
    """
    check_k(k)
    options = Options(columns=columns, grades=grades, lower_is_better=lower_is_better)
    return check_sources(*read_both(qrels, run, options), k)


def read_both(qrels: Any, run: Any, options: Options) -> tuple[Source, Source]:
    """Read judgements and a run, with rows in them that `evaluate` refuses."""
    options.check()
    truth = io.read(qrels, "qrels", options.reading("qrels", lenient=True))
    how = options.reading("run", lenient=True, keep_rank=True)
    return truth, io.read(run, "run", how)


def check_sources(truth: Source, source: Source, k: int) -> Check:
    """Look at judgements and a run that have been read."""
    need_threads()
    refuse_empty(source)
    judged = as_rows(truth, "qrels", lenient=True)
    retrieved = as_rows(source, "run", lenient=True)
    pair = Pair(judged, retrieved, k)
    return Check(
        pair.of_qrels(),
        pair.of_run(),
        pair.of_both(),
        tuple(sorted(pair.findings(), key=lambda one: _LEVELS.index(one.level))),
    )


_LEVELS = ("error", "warning", "note")
