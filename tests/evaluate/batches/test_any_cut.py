"""However queries are cut into batches, all that is said is that of one call."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import DataError, RankineError

Entries = dict[str, dict[str, float]]
RANKINGS = [
    "nDCG@2", "P@2", "AP@4", "RR(rel=2)", "NDPM", "RR", "AUC", "Bpref", "gm_AP",
    "NumRet", "Judged@2", "F@2", "AUC(scope=pooled)",
]  # fmt: skip
OF_LISTS = [
    "Coverage@2", "Gini@2", "ILD@2", "Novelty@2", "Serendipity@2", "UserCoverage@2",
    "Popularity", "Calibration", "GiniSimpson",
]  # fmt: skip
KNOWN: dict[str, Any] = {
    "train": {"q0": ["a", "b", "x"], "q1": ["c"], "q3": ["a"], "q9": ["x"]},
    "items": {item: [f"t{ord(item) % 3}"] for item in "abcdex"},
}
FORMS = ("mappings", "lists", "frames", "ranks")


@st.composite
def data(draw: st.DrawFn) -> tuple[Entries, Entries]:
    """Judgements and lists of a few queries, which have one of them, or both."""
    grade = st.integers(draw(st.sampled_from([-1, 0, 1])), draw(st.integers(1, 5)))
    score = st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0, 4.0])
    judged = st.dictionaries(st.sampled_from("abcde"), grade, min_size=1, max_size=4)
    shown = st.dictionaries(st.sampled_from("abcdexyz"), score, min_size=1, max_size=7)
    qrels, run = {}, {}
    for query in draw(st.permutations([f"q{n}" for n in range(6)])):
        if draw(st.integers(0, 3)):
            qrels[query] = draw(judged)
        if draw(st.integers(0, 3)):
            run[query] = draw(shown)
    return qrels, run  # type: ignore[return-value]


@st.composite
def cuts(draw: st.DrawFn) -> list[list[str]]:
    """Share queries among batches."""
    every = draw(st.permutations([f"q{n}" for n in range(6)]))
    ends = sorted({*draw(st.sets(st.integers(1, 5), max_size=5)), 6})
    return [every[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def formed(entries: Entries, queries: list[str], form: str, value: str) -> Any:
    """Return the entries of some queries."""
    own = {query: entries[query] for query in queries if query in entries}
    if form == "mappings" or (form == "lists" and value == "grade"):
        return own
    if form == "lists":
        return {query: list(items) for query, items in own.items()}
    rows = [(q, i, float(v)) for q, items in own.items() for i, v in items.items()]
    names = {"query": pl.String, "item": pl.String, value: pl.Float64}
    frame = pl.DataFrame(rows, schema=names, orient="row")
    if form == "frames" or value == "grade":
        return frame
    rank = pl.col(value).rank("ordinal", descending=True).over("query")
    return frame.with_columns(rank.cast(pl.Int64).alias("rank"))


def said(make: Any) -> tuple[Any, ...]:
    """Return all that there is to say of a result, or why there is none."""
    try:
        found: rk.Evaluation = make()
    except RankineError as error:
        return type(error), str(error)
    rows = found.per_query.sort("query").rows()
    return str(found.mean), str(rows), found.notes, found.warnings


@pytest.mark.parametrize("convention", sorted(rk.conventions()))
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_all_that_is_said_is_that_of_one_call(
    convention: str, drawn: st.DataObject
) -> None:
    qrels, run = drawn.draw(data())
    parts, form = drawn.draw(cuts()), drawn.draw(st.sampled_from(FORMS))
    allowed = RANKINGS if convention == "sklearn" else [*RANKINGS, *OF_LISTS]
    metrics = drawn.draw(
        st.lists(st.sampled_from(allowed), min_size=1, max_size=5, unique=True)
    )
    options: dict[str, Any] = dict(KNOWN, convention=convention)
    options |= drawn.draw(
        st.sampled_from([{}, {"rel": 2}, {"catalog": 20}, {"lenient": True}])
    )
    merged = drawn.draw(st.booleans())

    def made(queries: list[str]) -> tuple[Any, Any]:
        return (
            formed(qrels, queries, form, "grade"),
            formed(run, queries, form, "score"),
        )

    def one_call() -> rk.Evaluation:
        every = [query for part in parts for query in part]
        return rk.evaluate(*made(every), metrics, **options)

    def in_batches() -> rk.Evaluation:
        total = rk.Accumulator(metrics, **options)
        for number, part in enumerate(parts):
            if merged and number % 2:
                other = rk.Accumulator(metrics, **options).update(*made(part))
                total.merge(other)
            else:
                total.update(*made(part))
        return total.result()

    assert said(in_batches) == said(one_call)


OF_CATALOGUE = ["AUC(universe=catalogue)", "FallOut@2", "Accuracy@2", "nDCG@2"]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_catalogue_is_that_of_one_call(drawn: st.DataObject) -> None:
    qrels, run = drawn.draw(data())
    parts = drawn.draw(cuts())
    metrics = drawn.draw(
        st.lists(st.sampled_from([*OF_CATALOGUE, *OF_LISTS]), min_size=1, max_size=4)
    )
    catalog = drawn.draw(st.permutations("abcdexyz"))[: drawn.draw(st.integers(1, 8))]
    size = drawn.draw(st.sampled_from([catalog, len(catalog)]))
    options: dict[str, Any] = dict(KNOWN, catalog=size)

    def made(queries: list[str]) -> tuple[Any, Any]:
        return (
            formed(qrels, queries, "mappings", "grade"),
            formed(run, queries, "mappings", "score"),
        )

    def one_call() -> rk.Evaluation:
        every = [query for part in parts for query in part]
        return rk.evaluate(*made(every), metrics, **options)

    def in_batches() -> rk.Evaluation:
        total = rk.Accumulator(metrics, **options)
        for part in parts:
            total.update(*made(part))
        return total.result()

    found, wanted = said(in_batches), said(one_call)
    if len(wanted) > 2 or "catalogue" not in found[1]:
        assert found == wanted
        return
    # As soon as too many have come, which may not be all, nor all that is wrong.
    assert found[0] is wanted[0]
    if "catalogue" in wanted[1]:
        assert found[1].partition(", but ")[0] == wanted[1].partition(", but ")[0]


@pytest.mark.parametrize("catalog", [3, ["a", "b", "c"]])
@pytest.mark.parametrize("lists", [["ab", "cd"], ["abd", "a"], ["a", "abde"]])
def test_more_items_than_the_catalogue_has_are_refused(
    lists: list[str], catalog: Any
) -> None:
    total = rk.Accumulator("AUC(universe=catalogue)", catalog=catalog)
    for number, items in enumerate(lists):
        batch: tuple[Any, Any] = {number: {"a": 1}}, {number: list(items)}
        if len({*"".join(lists[: number + 1])}) <= 3:
            total.update(*batch)
        else:
            with pytest.raises(DataError, match="3 items, but the batches have 4"):
                total.update(*batch)


def test_items_below_the_cutoff_are_not_compared_with_a_catalogue() -> None:
    total = rk.Accumulator("Coverage@1", catalog=2)
    total.update({"p": ["a", "b"]}).update({"q": ["c", "d"]})

    assert total.result()["Coverage@1"] == 2 / 2
    with pytest.raises(DataError, match="2 items, but the batches show 3 different"):
        total.update({"r": ["b", "a"]})


def test_no_data_are_refused_before_there_is_no_number() -> None:
    # The convention refuses a mean over no query, too.
    total = rk.Accumulator("RR", convention="implicit")

    with pytest.raises(DataError, match=r"^qrels: contains no judgements$"):
        total.update({}, {"q": ["a"]}).result()


def test_a_batch_without_lists_does_not_say_what_gives_their_ranks() -> None:
    total = rk.Accumulator("RR", convention="rectools")
    total.update({"p": {"a": 1}}, {}).update({"q": {"a": 1}}, {"q": ["a"]})

    assert total.result().notes == (
        "1 judged query missing from the run (p): counted as 0",
        "run has no rank column; its order gives the ranks",
    )


def test_values_where_a_metric_looks_at_no_query() -> None:
    metrics = ["GiniSimpson", "Serendipity"]
    options = dict(KNOWN, convention="torchmetrics")
    batch: tuple[Any, Any] = {"q0": {}}, {"q0": ["a", "b"]}

    found = rk.Accumulator(metrics, **options).update(*batch).result()

    wanted = rk.evaluate(*batch, metrics, **options)
    assert found.per_query.equals(wanted.per_query)


def test_what_was_seen_is_at_hand_as_after_one_call() -> None:
    batches = [({"p": {"a": 1}}, {"p": ["a"]}), ({"q": {"b": 1}}, {"q": ["a"]})]
    total = rk.Accumulator("RR", convention="cornac")
    for batch in batches:
        total.update(*batch)
    (judged, shown), more = batches
    once = rk.evaluate(judged | more[0], shown | more[1], "RR", convention="cornac")

    found = total.result().findings

    assert found.seen == once.findings.seen
    assert found.cautions == once.findings.cautions
    assert [*found.read] == [*once.findings.read]
