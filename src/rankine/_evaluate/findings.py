"""What there is to say of judgements and a run: counts, and findings."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.text import count
from rankine._evaluate.doubts import all_relevant, level_of
from rankine._io.columns import is_rating
from rankine._io.repeats import first_repeat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankine._io.sources import Rows

_SHOWN = 3
_COMPARED = 200_000
"""Ids that are compared letter by letter."""
_MANY_UNJUDGED = 0.5
_FEW_COMMON = 0.5


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that the user should look at.

    Attributes:
        level: ``error`` if `evaluate` refuses it, ``warning`` if numbers may mislead,
            ``note`` if it is only good to know.
        what: what was found, with counts and examples.
        todo: what to do about it.
    """

    level: str
    what: str
    todo: str


class Pair:
    """Judgements and a run as frames with the columns query, item and value."""

    def __init__(self, judged: Rows, retrieved: Rows, k: int) -> None:
        self.k = k
        self.names = judged.name, retrieved.name
        self.rated = is_rating(judged.column)
        self.types = [
            (part, judged.frame[part].dtype, retrieved.frame[part].dtype)
            for part in ("query", "item")
        ]
        self.raw = [_as_text(judged.frame), _as_text(retrieved.frame)]
        self.truth, self.run = (
            frame.filter(pl.col("query").is_not_null() & pl.col("item").is_not_null())
            for frame in self.raw
        )
        if "value" not in self.run.columns:
            place = pl.int_range(pl.len()).over("query").cast(pl.Float64)
            self.run = self.run.with_columns(value=-place)
        self.lists = (
            self.run.filter(pl.col("value").is_not_nan())
            .sort("query", "value", "item", descending=[False, True, True])
            .with_columns(
                place=pl.int_range(1, pl.len() + 1).over("query"),
                tied=pl.len().over("query", "value"),
                above=(pl.col("value").rank("min", descending=True) - 1).over("query"),
            )
        )
        keys = self.truth.select("query", "item", grade="value").unique(
            ["query", "item"], keep="first", maintain_order=True
        )
        self.joined = self.lists.join(
            keys, on=["query", "item"], how="left", maintain_order="left"
        )
        self.queries = [
            frame["query"].unique(maintain_order=True)
            for frame in (self.truth, self.run)
        ]

    def of_qrels(self) -> dict[str, Any]:
        truth = self.truth
        counts = truth.group_by("value").len().sort("value")
        relevant = truth.group_by("query").agg((pl.col("value") >= 1).sum())["value"]
        return {
            "name": self.names[0],
            "rows": self.raw[0].height,
            "queries": len(self.queries[0]),
            "grades": {f"{grade:g}": n for grade, n in counts.iter_rows()},
            "relevant_per_query": _spread(relevant),
            "queries_without_relevant": int((relevant == 0).sum()),
            "duplicates": _n_repeated(truth),
            "missing_ids": self.raw[0].height - truth.height,
        }

    def of_run(self) -> dict[str, Any]:
        lists = self.lists
        across = (pl.col("above") < self.k) & (
            pl.col("above") + pl.col("tied") > self.k
        )
        return {
            "name": self.names[1],
            "rows": self.raw[1].height,
            "queries": len(self.queries[1]),
            "list_length": _spread(self.run.group_by("query").len()["len"]),
            "tied_rows": _share(int((lists["tied"] > 1).sum()), lists.height),
            "queries_tied_across_k": lists.filter(across)["query"].n_unique(),
            "duplicates": _n_repeated(self.run),
            "scores_not_a_number": int(self.run["value"].is_nan().sum()),
            "scores_infinite": int(self.run["value"].is_infinite().sum()),
            "missing_ids": self.raw[1].height - self.run.height,
        }

    def of_both(self) -> dict[str, Any]:
        judged, listed = (set(ids.to_list()) for ids in self.queries)
        common = self.joined.filter(pl.col("query").is_in(self.queries[0].implode()))
        top = common.filter(pl.col("place") <= self.k)
        relevant = self.truth.filter(pl.col("value") >= 1)
        hits = common.filter(pl.col("grade").fill_null(0) >= 1)
        found = hits.select("query", "item").n_unique()
        return {
            "k": self.k,
            "queries_in_both": len(judged & listed),
            "queries_only_judged": len(judged - listed),
            "queries_only_in_run": len(listed - judged),
            "relevant_found": _share(
                found, relevant.select("query", "item").n_unique()
            ),
            "unjudged_at_k": self._unjudged(top),
            "unjudged": self._unjudged(common),
        }

    def _unjudged(self, rows: pl.DataFrame) -> float | None:
        """Return the share of items that are not judged, if only some are relevant."""
        if not (self.truth["value"] < 1).any():
            return None
        known = int((rows["grade"].fill_null(-1) >= 0).sum())
        share = _share(known, rows.height)
        return None if share is None else 1 - share

    def findings(self) -> Iterator[Finding]:
        yield from self._refused()
        yield from self._overlap()
        yield from self._order()
        yield from self._judgements()
        yield from self._odd_ids()

    def _refused(self) -> Iterator[Finding]:
        """What evaluate refuses."""
        sides = (self.truth, "judged"), (self.run, "listed")
        for number, (frame, word) in enumerate(sides):
            missing = self.raw[number].height - frame.height
            if missing:
                yield Finding(
                    "error",
                    f"{count(missing, 'row')} of {self.names[number]} without an id",
                    "fix the file, or drop these rows with lenient=True or --lenient",
                )
            repeated = _n_repeated(frame)
            repeat = first_repeat(frame.select("query", "item")) if repeated else None
            if repeat is not None:
                query, item = frame.row(repeat[0])[:2]
                n_pairs = frame.height - repeated
                other = frame.unique().height > n_pairs
                values = ", with different numbers" if other else ""
                yield Finding(
                    "error",
                    f"{count(repeated, 'row')} of {self.names[number]} repeating an "
                    f"item that is {word} already (query {query}, item {item}){values}",
                    "remove them, or keep the best of each with lenient=True or "
                    "--lenient",
                )
        bad = int(self.run["value"].is_nan().sum())
        if bad:
            yield Finding(
                "error",
                f"{count(bad, 'score')} of {self.names[1]} not a number",
                "fix them, or rank these items last with lenient=True or --lenient",
            )

    def _overlap(self) -> Iterator[Finding]:
        judged, listed = self.queries
        only_judged = judged.filter(~judged.is_in(listed.implode()))
        only_listed = listed.filter(~listed.is_in(judged.implode()))
        n = len(judged) - len(only_judged)
        few = n < _FEW_COMMON * len(judged)
        if few:
            yield Finding(
                "error" if n == 0 else "warning",
                f"{n} of {len(judged)} judged queries are in the run: "
                f"{_few(judged)} are judged, {_few(listed)} are in the run",
                "check that both files belong to the same test set and write ids the "
                "same way",
            )
        elif len(only_judged):
            yield Finding(
                "warning",
                f"{count(len(only_judged), 'judged query')} missing from the run "
                f"({_few(only_judged)})",
                "such queries count as 0; if the system was not asked, leave them out "
                "of the judgements",
            )
        if len(only_listed) and not few:
            yield Finding(
                "note",
                f"{count(len(only_listed), 'query')} of the run without judgements "
                f"({_few(only_listed)})",
                "such queries are not evaluated",
            )
        common = self.joined.filter(pl.col("query").is_in(judged.implode()))
        if common.height and common["grade"].null_count() == common.height:
            yield Finding(
                "warning",
                f"no judged item is in the run: {_few(self.truth['item'])} are judged, "
                f"{_few(self.run['item'])} are in the run",
                "check that both write item ids the same way",
            )
        elif common.height:
            share = self._unjudged(common.filter(pl.col("place") <= self.k))
            if share is not None and share > _MANY_UNJUDGED:
                yield Finding(
                    "warning",
                    f"{share:.0%} of the items in the top {self.k} are not judged",
                    "they count as not relevant; look at Bpref, or judge more",
                )
        for part, ours, theirs in self.types:
            if ours != theirs:
                yield Finding(
                    "note",
                    f"{part} ids are {ours} in {self.names[0]} and {theirs} in "
                    f"{self.names[1]}",
                    "they are compared as text if all texts are plain ints",
                )

    def _order(self) -> Iterator[Finding]:
        run, lists = self.run, self.lists
        longer = lists.with_columns(n=pl.len().over("query")).filter(pl.col("n") > 1)
        if longer.height and (longer["tied"] == longer["n"]).all():
            yield Finding(
                "warning",
                "all scores of each list are equal",
                "the order is that of the ids, not of the system; give its scores, or "
                "order='given' if the rows are in order",
            )
        elif _rises(run):
            yield Finding(
                "warning",
                "scores rise along every list, as distances do",
                "if smaller is better, give lower_is_better=True or --lower-is-better",
            )
        if "rank" in run.columns:
            n = _contradicted(run)
            if n:
                yield Finding(
                    "warning",
                    f"ranks and scores give different orders in {count(n, 'list')}",
                    "the score decides; to trust the rank, give order='rank' or "
                    "--order rank",
                )
        across = self.of_run()["queries_tied_across_k"]
        if across:
            yield Finding(
                "note",
                f"{count(across, 'query')} with ties across rank {self.k}",
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
                "such items count as not judged and have no gain",
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
            said = all_relevant(least, most, threshold=1)
            if said is not None:
                yield Finding(level_of(most, rated=self.rated), *said)
        empty = self.of_qrels()["queries_without_relevant"]
        if empty:
            yield Finding(
                "warning" if empty == len(self.queries[0]) else "note",
                f"{count(empty, 'judged query')} without a relevant item",
                "such queries count as 0; leave them out with a convention that skips "
                "them",
            )

    def _odd_ids(self) -> Iterator[Finding]:
        for part in ("query", "item"):
            ours, theirs = self.truth[part].unique(), self.run[part].unique()
            lost = ours.filter(~ours.is_in(theirs.implode()))
            free = theirs.filter(~theirs.is_in(ours.implode()))
            if len(lost) > _COMPARED or len(free) > _COMPARED or not len(lost):
                continue
            for word, plain in _FORMS.items():
                known = {plain(one): one for one in free.sort().to_list()}
                pairs = [
                    (one, known[plain(one)])
                    for one in lost.sort().to_list()
                    if plain(one) in known
                ]
                if pairs:
                    yield Finding(
                        "warning",
                        f"{count(len(pairs), f'{part} id')} of the judgements and of "
                        f"the run differ only in {word} ({pairs[0][0]!r} and "
                        f"{pairs[0][1]!r})",
                        "write them the same way; ids are compared character by "
                        "character",
                    )


_FORMS: dict[str, Callable[[str], str]] = {
    "case": str.casefold,
    "leading zeros": lambda text: text.lstrip("0"),
    "a .0 at the end": lambda text: text.removesuffix(".0"),
    "spaces": lambda text: "".join(text.replace("\u200b", "").split()),
    "the encoding of accents": lambda text: unicodedata.normalize("NFC", text),
}


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("query", "item").cast(pl.String))


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


def _n_repeated(frame: pl.DataFrame) -> int:
    return frame.height - frame.select("query", "item").n_unique()


def _rises(run: pl.DataFrame) -> bool:
    """Say whether scores never fall along a list, and rise somewhere."""
    step = run.select(pl.col("value").diff().over("query"))["value"].drop_nulls()
    return len(step) > 0 and bool((step >= 0).all()) and bool((step > 0).any())


def _contradicted(run: pl.DataFrame) -> int:
    """Count the lists in which a better rank has a lower score."""
    ordered = run.sort("query", "rank", maintain_order=True)
    step = ordered.select("query", "rank", "value").with_columns(
        worse=pl.col("value").diff().over("query") > 0,
        later=pl.col("rank").diff().over("query") > 0,
    )
    return step.filter(pl.col("worse") & pl.col("later"))["query"].n_unique()


def _few(ids: pl.Series) -> str:
    ids = ids.unique(maintain_order=True)
    shown = ", ".join(str(one) for one in ids.head(_SHOWN).to_list())
    return shown + (", ..." if len(ids) > _SHOWN else "")
