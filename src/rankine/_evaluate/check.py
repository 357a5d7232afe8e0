"""check: inspect judgements and a run before any metric is computed."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine import _io as io
from rankine._base.checks import check_k
from rankine._base.contradiction import TRUST, contradiction
from rankine._base.forks import need_threads
from rankine._base.records import cached_property
from rankine._base.text import QUERY, RISING, common_unit, count, percent, plural
from rankine._conventions.convention import Convention
from rankine._evaluate.notes import few
from rankine._evaluate.options import Options
from rankine._evaluate.warnings import all_relevant, hardly_met, level_of, units_of
from rankine._io.columns import is_rating
from rankine._io.itself import refuse_itself
from rankine._io.repeats import first_repeat
from rankine._io.rows import as_rows
from rankine._io.sources import refuse_empty
from rankine._join.by_position import met_by_number, paired
from rankine._join.ids import text_order
from rankine._join.row_chunks import grouped
from rankine._tables.order import sorted_rows
from rankine._tables.segments import position, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rankine._io.sources import Rows, Source

_TIE = Convention().tie
_LEVELS = ("error", "warning", "note")
_COMPARED = 200_000
"""Ids that are compared letter by letter."""
_MANY_UNJUDGED = 0.5
_FEW_COMMON = 0.5
_FORMS: dict[str, Callable[[str], str]] = {
    "case": str.casefold,
    "leading zeros": lambda text: text.lstrip("0"),
    "a .0 at the end": lambda text: text.removesuffix(".0"),
    "spaces": lambda text: "".join(text.replace("\u200b", "").split()),
    "the encoding of accents": lambda text: unicodedata.normalize("NFC", text),
}
"""Variants in writing that make ids differ -> how to remove the difference."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that the user should look at.

    Attributes:
        level: ``error`` if `evaluate` refuses it, ``warning`` if numbers may mislead,
            ``note`` if it is merely good to know.
        what: the finding, with counts and examples.
        todo: what to do about it.
    """

    level: str
    what: str
    todo: str


@dataclass(frozen=True)
class Check:
    """The contents of judgements and a run.

    Attributes:
        qrels: counts of the judgements.
        run: counts of the run.
        both: what they have in common.
        findings: points to look at, the most serious first.
        unit: what a query is called: query, or user.
    """

    qrels: Mapping[str, Any]
    run: Mapping[str, Any]
    both: Mapping[str, Any]
    findings: tuple[Finding, ...]
    unit: str = QUERY

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return asdict(self) | {"findings": list(map(asdict, self.findings))}

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
    """Read judgements and a run, including rows that `evaluate` refuses."""
    options.check()
    refuse_itself(qrels, run, options.reading("qrels"), options.reading("run"))
    truth = io.read(qrels, "qrels", options.reading("qrels", lenient=True))
    how = options.reading("run", lenient=True, keep_rank=True)
    return truth, io.read(run, "run", how)


def check_sources(truth: Source, source: Source, k: int) -> Check:
    """Check judgements and a run that have been read."""
    need_threads()
    refuse_empty(source)
    truth, source = paired(truth, source, ("qrels", "run"))
    numbered = met_by_number(truth, source, ("qrels", "run"))
    judged = as_rows(truth, "qrels")
    retrieved = as_rows(source, "run")
    pair = _Pair(judged, retrieved, k, common_unit(units_of([truth, source])))
    found = [
        *(Finding("warning", *said.split("; ", 1)) for said in numbered),
        *pair.findings(),
    ]
    findings = sorted(found, key=lambda finding: _LEVELS.index(finding.level))
    return Check(pair.of_qrels, pair.of_run, pair.of_both, tuple(findings), pair.unit)


class _Pair:
    """Judgements and a run as frames with the columns query, item and value."""

    def __init__(self, judged: Rows, retrieved: Rows, k: int, unit: str) -> None:
        self.k, self.unit, self.units = k, unit, plural(unit)
        self.judged, self.retrieved = judged, retrieved
        ids = pl.col("query", "item").cast(pl.String)
        self.truth, self.run = (
            rows.frame.with_columns(ids).drop_nulls(["query", "item"])
            for rows in (judged, retrieved)
        )
        if "value" not in self.run.columns:
            place = pl.int_range(pl.len()).over("query").cast(pl.Float64)
            self.run = self.run.with_columns(value=-place)
        self.lists = _ranked(self.run.filter(pl.col("value").is_not_nan()))
        keys = self.truth.select("query", "item", grade="value").unique(
            ["query", "item"], keep="first", maintain_order=True
        )
        self.queries = [
            rows.lists().cast(pl.String).unique(maintain_order=True)
            for rows in (judged, retrieved)
        ]
        self.judged_lists = self.lists.filter(
            pl.col("query").is_in(self.queries[0].implode())
        ).join(keys, on=["query", "item"], how="left", maintain_order="left")

    @cached_property
    def of_qrels(self) -> dict[str, Any]:
        truth = self.truth
        counts = truth.group_by("value").len().sort("value")
        relevant = self._per_query(0, truth.filter(pl.col("value") >= 1))
        return {
            "name": self.judged.name,
            "rows": self.judged.frame.height,
            "queries": len(self.queries[0]),
            "grades": {f"{grade:g}": n for grade, n in counts.iter_rows()},
            "relevant_per_query": _spread(relevant),
            "queries_without_relevant": int((relevant == 0).sum()),
            "duplicates": truth.height - _n_pairs(truth),
            "missing_ids": self.judged.frame.height - truth.height,
        }

    @cached_property
    def of_run(self) -> dict[str, Any]:
        lists = self.lists
        above, tied = pl.col("above"), pl.col("tied")
        across = (above < self.k) & (above + tied > self.k)
        return {
            "name": self.retrieved.name,
            "rows": self.retrieved.frame.height,
            "queries": len(self.queries[1]),
            "list_length": _spread(self._per_query(1, self.run)),
            "tied_rows": _share(int((lists["tied"] > 1).sum()), lists.height),
            "queries_tied_across_k": lists.filter(across)["query"].n_unique(),
            "duplicates": self.run.height - _n_pairs(self.run),
            "scores_not_a_number": int(self.run["value"].is_nan().sum()),
            "scores_infinite": int(self.run["value"].is_infinite().sum()),
            "missing_ids": self.retrieved.frame.height - self.run.height,
        }

    @cached_property
    def of_both(self) -> dict[str, Any]:
        judged, listed = (set(ids.to_list()) for ids in self.queries)
        lists = self.judged_lists
        relevant = self.truth.filter(pl.col("value") >= 1)
        hits = lists.filter(pl.col("grade") >= 1)
        return {
            "k": self.k,
            "queries_in_both": len(judged & listed),
            "queries_only_judged": len(judged - listed),
            "queries_only_in_run": len(listed - judged),
            "relevant_found": _share(_n_pairs(hits), _n_pairs(relevant)),
            "unjudged_at_k": self._unjudged(lists.filter(pl.col("place") <= self.k)),
            "unjudged": self._unjudged(lists),
        }

    def _per_query(self, side: int, rows: pl.DataFrame) -> pl.Series:
        """Count rows per query of the judgements, or per list."""
        counts = rows.group_by("query").len()
        every = self.queries[side].alias("query").to_frame()
        joined = every.join(counts, on="query", how="left", maintain_order="left")
        return joined["len"].fill_null(0)

    def _unjudged(self, rows: pl.DataFrame) -> float | None:
        """Return the share of unjudged items, if only some are relevant."""
        if not (self.truth["value"] < 1).any():
            return None
        known = int((rows["grade"] >= 0).sum())
        return 1 - known / rows.height if rows.height else None

    def findings(self) -> Iterator[Finding]:
        yield from self._refused()
        yield from self._overlap()
        yield from self._order()
        yield from self._judgements()
        yield from self._odd_ids()

    def _refused(self) -> Iterator[Finding]:
        """Data that `evaluate` refuses."""
        sides = (self.truth, self.of_qrels, "judged"), (self.run, self.of_run, "listed")
        for frame, counts, word in sides:
            if counts["missing_ids"]:
                n = count(counts["missing_ids"], "row")
                yield Finding(
                    "error",
                    f"{n} of {counts['name']} without an id",
                    "fix the file, or drop these rows with lenient=True or --lenient",
                )
            pairs = frame.select("query", "item")
            repeat = first_repeat(pairs) if counts["duplicates"] else None
            if repeat is not None:
                n = count(counts["duplicates"], "row")
                query, item = frame.row(repeat[0])[:2]
                differ = frame.unique().height > frame.height - counts["duplicates"]
                values = ", with different numbers" if differ else ""
                yield Finding(
                    "error",
                    f"{n} of {counts['name']} repeating an item that is {word} already "
                    f"({self.unit} {query}, item {item}){values}",
                    "remove them, or keep the best of each with lenient=True or "
                    "--lenient",
                )
        if self.of_run["scores_not_a_number"]:
            n = count(self.of_run["scores_not_a_number"], "score")
            yield Finding(
                "error",
                f"{n} of {self.of_run['name']} not a number",
                "fix them, or rank these items last with lenient=True or --lenient",
            )

    def _overlap(self) -> Iterator[Finding]:
        judged, listed = self.queries
        only_judged = judged.filter(~judged.is_in(listed.implode()))
        only_listed = listed.filter(~listed.is_in(judged.implode()))
        n = self.of_both["queries_in_both"]
        is_few = n < _FEW_COMMON * len(judged)
        if is_few:
            yield Finding(
                "error" if n == 0 else "warning",
                f"{n} of {len(judged)} judged {self.units} are in the run: "
                f"the judgements have {few(judged)}, the run has {few(listed)}",
                "check that both files belong to the same test set and write ids the "
                "same way",
            )
        elif len(only_judged):
            who = count(len(only_judged), f"judged {self.unit}")
            yield Finding(
                "warning",
                f"{who} missing from the run ({few(only_judged)})",
                f"such {self.units} count as 0; if the system was not run on them, "
                "remove them from the judgements",
            )
        if len(only_listed) and not is_few:
            yield Finding(
                "note",
                f"{count(len(only_listed), self.unit)} of the run without judgements "
                f"({few(only_listed)})",
                f"such {self.units} are not evaluated",
            )
        empty = listed.filter(~listed.is_in(self.run["query"].unique().implode()))
        if len(empty):
            yield Finding(
                "note",
                f"{count(len(empty), 'empty list')} in the run ({few(empty)})",
                f"such {self.units} count as 0; make sure that nothing was lost",
            )
        share = self.of_both["unjudged_at_k"]
        said = hardly_met(*self._in_common())
        if said is not None:
            level, what = said
            ours, theirs = (
                few(frame["item"].unique(maintain_order=True))
                for frame in (self.truth, self.run)
            )
            yield Finding(
                level,
                f"{what}: the judgements have {ours}, the run has {theirs}",
                "check that both write item ids the same way",
            )
        elif share is not None and share > _MANY_UNJUDGED:
            yield Finding(
                "warning",
                f"{percent(share)} of the items in the top {self.k} are unjudged",
                "they count as not relevant; consider Bpref, or judge more items",
            )
        for part, word in (("query", self.unit), ("item", "item")):
            types = [side.frame[part].dtype for side in (self.judged, self.retrieved)]
            if types[0] != types[1]:
                yield Finding(
                    "note",
                    f"{word} ids are {types[0]} in {self.judged.name} and {types[1]} "
                    f"in {self.retrieved.name}",
                    "they are compared as text if all texts are plain ints",
                )

    def _in_common(self) -> tuple[int, int, int]:
        """Return how many items are judged, fit into the lists, and are in them."""
        n_judged = self.truth.group_by("query").agg(judged=pl.col("item").n_unique())
        n_listed = self.judged_lists.group_by("query").agg(listed=pl.len())
        both = n_judged.join(n_listed, on="query")
        possible = both.select(pl.min_horizontal("judged", "listed").sum()).item()
        found = self.judged_lists.filter(pl.col("grade").is_not_null())
        return int(n_judged["judged"].sum()), possible, _n_pairs(found)

    def _order(self) -> Iterator[Finding]:
        run, lists = self.run, self.lists
        step = run.select(pl.col("value").diff().over("query"))["value"]
        longer = lists.with_columns(n=pl.len().over("query")).filter(pl.col("n") > 1)
        if longer.height and (longer["tied"] == longer["n"]).all():
            yield Finding(
                "warning",
                "all scores of each list are equal",
                "the order is that of the ids, not of the system; give its scores, or "
                "order='given' if the rows are already in order",
            )
        elif (step > 0).any() and not (step < 0).any():
            yield Finding("warning", *RISING.split("; "))
        said = contradiction(run).told if "rank" in run.columns else ""
        if said:
            yield Finding("warning", said, TRUST)
        across = self.of_run["queries_tied_across_k"]
        if across:
            yield Finding(
                "note",
                f"{count(across, self.unit)} with ties across rank {self.k}",
                "the tie rule decides which items are in; ties='average' averages "
                "over all orders",
            )

    def _judgements(self) -> Iterator[Finding]:
        value = self.truth["value"]
        negative = int((value < 0).sum())
        if negative:
            yield Finding(
                "note",
                f"{count(negative, 'negative grade')}",
                "such items count as unjudged and have no gain",
            )
        if (value != value.floor()).any():
            yield Finding(
                "note",
                "grades have fractions",
                "say which are relevant, with rel= or --rel, for metrics that count "
                "relevant items",
            )
        if len(value):
            least, most = float(value.min()), float(value.max())  # type: ignore[arg-type]
            level = level_of(most, rated=is_rating(self.judged.column))
            said = all_relevant(least, most, threshold=1)
            if said is not None:
                yield Finding(level, *said)
        empty = self.of_qrels["queries_without_relevant"]
        if empty:
            yield Finding(
                "warning" if empty == len(self.queries[0]) else "note",
                f"{count(empty, f'judged {self.unit}')} without a relevant item",
                f"such {self.units} count as 0; leave them out with a convention that "
                "skips them",
            )

    def _odd_ids(self) -> Iterator[Finding]:
        for part, noun in (("query", self.unit), ("item", "item")):
            ours, theirs = (
                self.queries
                if part == "query"
                else (self.truth[part].unique(), self.run[part].unique())
            )
            lost = ours.filter(~ours.is_in(theirs.implode()))
            free = theirs.filter(~theirs.is_in(ours.implode()))
            if len(lost) > _COMPARED or len(free) > _COMPARED or not len(lost):
                continue
            for word, plain in _FORMS.items():
                known = {plain(key): key for key in free.sort().to_list()}
                pairs = [
                    (key, known[plain(key)])
                    for key in lost.sort().to_list()
                    if plain(key) in known
                ]
                if pairs:
                    yield Finding(
                        "warning",
                        f"{count(len(pairs), f'{noun} id')} of the judgements and of "
                        f"the run differ only in {word} ({pairs[0][0]!r} and "
                        f"{pairs[0][1]!r})",
                        "write them the same way; ids are compared character by "
                        "character",
                    )


def _ranked(rows: pl.DataFrame) -> pl.DataFrame:
    """Rank the rows of all lists, and count those above each and tied with it."""
    queries, starts, order = grouped(rows["query"])
    rows = rows if order is None else rows[order]
    scores = rows["value"].to_numpy()
    order = sorted_rows(
        lambda some: text_order(rows["item"].gather(some)), scores, starts, _TIE
    )
    number = np.repeat(np.arange(len(queries)), np.diff(starts))
    first, block = runs(number, scores[order])
    return rows[order].with_columns(
        place=position(number) + 1,
        tied=np.bincount(block)[block],
        above=(first - starts[number[first]])[block],
    )


def _spread(values: pl.Series) -> dict[str, float] | None:
    if len(values) == 0:
        return None
    return {
        "min": int(values.min()),  # type: ignore[arg-type]
        "median": float(values.median()),  # type: ignore[arg-type]
        "max": int(values.max()),  # type: ignore[arg-type]
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _n_pairs(frame: pl.DataFrame) -> int:
    return frame.select("query", "item").n_unique()
