"""Lists next to those of another recommender."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine.cli import cli
from rankine.errors import DataError, DuplicateItemError, ParameterError, RankineError
from tests.metrics.lists.mean import one

if TYPE_CHECKING:
    from pathlib import Path

LISTS = {"u": ["a", "b", "c"], "v": ["a", "d"], "w": ["a"]}
OTHER = {"u": ["c", "b", "x"], "v": ["x", "y", "d"], "z": ["a"]}
NOT_THERE = "Unexpectedness(by='reference')"


@pytest.mark.parametrize(
    ("metric", "convention", "values"),
    [
        # w has no list to compare with.
        ("Intersection", "rankine", [2 / 3, 1 / 2, 0]),
        ("Intersection@1", "rankine", [0, 0, 0]),
        ("Intersection@2", "rankine", [1 / 2, 0, 0]),
        ("Intersection(ref_k=3)@2", "rankine", [1 / 2, 1 / 2, 0]),
        ("Intersection(ref_k=1)", "rankine", [1 / 3, 0, 0]),
        ("Intersection@3", "rectools", [2 / 3, 1 / 2, 0]),
        (NOT_THERE, "rankine", [1 - 2 / 3, 1 - 1 / 2, 0]),
        (f"{NOT_THERE}@2", "rankine", [1 - 1 / 2, 1, 0]),
        ("Unexpectedness@4", "replay", [1 - 2 / 4, 1 - 1 / 4, 0]),
    ],
)
def test_rows(metric: str, convention: str, values: list[float]) -> None:
    ev = rk.evaluate(None, LISTS, metric, reference=OTHER, convention=convention)

    assert dict(ev.per_query.iter_rows()) == pytest.approx(
        dict(zip(LISTS, values, strict=True))
    )
    assert ev[metric] == pytest.approx(sum(values) / 3)
    assert "1 query without a list in reference to compare with" in ev.notes
    assert ev.warnings == ()


def test_users_without_items() -> None:
    lists, other = {"u": [], "v": ["a"], "w": ["a"]}, {"u": ["a"], "v": [], "w": ["b"]}

    ev = rk.evaluate(None, lists, ["Intersection@2", f"{NOT_THERE}@2"], reference=other)

    assert ev.per_query.rows() == [("u", None, 0), ("v", 0, 0), ("w", 0, 1)]


def test_a_list_against_itself() -> None:
    ev = rk.evaluate(None, LISTS, ["Intersection@2", NOT_THERE], reference=LISTS)

    assert list(ev.mean.values()) == [1, 0]


# How it is read


def rows(lists: dict[Any, list[Any]]) -> list[tuple[Any, Any, float]]:
    return [
        (user, item, -float(place))
        for user, items in reversed(lists.items())
        for place, item in enumerate(items)
    ]


def form(kind: str, folder: Path) -> Any:
    frame = pl.DataFrame(rows(OTHER), ["user", "item", "score"], orient="row")
    path = folder / f"other.{kind}"
    if kind == "trec":
        text = [f"{user} Q0 {item} 0 {score} x\n" for user, item, score in rows(OTHER)]
        path.write_text("".join(text))
    else:
        frame.write_csv(path)
    others = {
        "lists": OTHER,
        "scores": {
            user: {item: -place for place, item in enumerate(items)}
            for user, items in OTHER.items()
        },
        "polars": frame.sort("score"),
        "pandas": frame.to_pandas(),
        "ranks": frame.with_columns(rank=1 - pl.col("score").cast(int)).drop("score"),
        "read": rk.read_run(path),
    }
    return others.get(kind, path)


@pytest.mark.parametrize(
    "kind", ["lists", "scores", "polars", "pandas", "ranks", "csv", "trec", "read"]
)
def test_any_form_of_a_run(kind: str, tmp_path: Path) -> None:
    reference = form(kind, tmp_path)

    for _ in range(2):
        value = one(None, LISTS, "Intersection(ref_k=2)", reference=reference)
        assert value == pytest.approx((2 / 3 + 0 + 0) / 3)


def test_its_own_columns_and_distances() -> None:
    other = pl.DataFrame({"who": ["u", "u"], "what": ["b", "x"], "far": [0.1, 0.2]})
    columns = {"query": "who", "item": "what", "score": "far"}
    lists = pl.DataFrame({"user": ["u", "u"], "item": ["a", "b"], "score": [0.1, 0.2]})

    value = one(
        None,
        lists,
        "Intersection(ref_k=1)@2",
        reference=other,
        columns={f"reference.{part}": name for part, name in columns.items()},
        lower_is_better=True,
    )

    assert value == 1 / 2


def test_ties_and_order_follow_the_convention() -> None:
    other = {"u": {"a": 1.0, "b": 1.0}}

    def value(rule: rk.Convention) -> float:
        metric = "Intersection(ref_k=1)"
        return one(None, {"u": ["a"]}, metric, reference=other, convention=rule)

    assert value(rk.Convention(tie="id_desc")) == 0
    assert value(rk.Convention(tie="id_asc")) == 1
    assert value(rk.Convention(tie="input")) == 1
    assert value(rk.Convention(tie="input_rev")) == 0


def test_numbers_of_a_rank_column_are_the_ranks() -> None:
    other = pl.DataFrame({"user": ["u", "u"], "item": ["b", "a"], "rank": [2, 5]})
    lists = pl.DataFrame({"user": ["u", "u"], "item": ["a", "b"], "rank": [1, 2]})
    metrics = ["Intersection(ref_k=2)@9", "Intersection(ref_k=4)@9", "Intersection@5"]

    def values(**more: Any) -> list[float]:
        ev = rk.evaluate(None, lists, metrics, reference=other, **more)
        return list(ev.mean.values())

    assert values(convention="rectools") == [1 / 2, 1 / 2, 1]
    assert values(order="rank") == [1, 1, 1]
    # Scores that say otherwise do not count where ranks do.
    other = other.with_columns(score=pl.col("rank").cast(float))
    assert values(convention="rectools") == [1 / 2, 1 / 2, 1]


def test_ids_of_two_types() -> None:
    ev = rk.evaluate(
        None, {1: [5, 6]}, "Intersection", reference={"1": ["6", "7"], "2": ["5"]}
    )

    assert ev["Intersection"] == 1 / 2
    assert sum("compared as text" in note for note in ev.notes) == 2
    with pytest.raises(DataError, match="007"):
        rk.evaluate(None, {1: [5, 6]}, "Intersection", reference={"1": ["007"]})


def test_repeats_follow_the_convention() -> None:
    other = {"u": ["b", "b", "a"]}
    metric = "Intersection(ref_k=2)"

    with pytest.raises(DuplicateItemError, match=r"'b' appears twice .* in reference"):
        rk.evaluate(None, {"u": ["a"]}, metric, reference=other)
    for duplicates, wanted in (("count", 0), ("set", 0), ("last", 1)):
        rule = rk.Convention(duplicates=duplicates)  # type: ignore[arg-type]
        value = one(None, {"u": ["a"]}, metric, reference=other, convention=rule)
        assert value == wanted, duplicates
    assert one(None, {"u": ["a"]}, metric, reference=other, lenient=True) == 1


def test_repeats_of_a_list_count_each_time_or_once() -> None:
    ev = rk.evaluate(
        None,
        {"u": ["a", "a", "b"]},
        ["Intersection@3", f"{NOT_THERE}@3"],
        reference={"u": ["a"]},
        convention="rectools",
    )

    assert list(ev.mean.values()) == pytest.approx([2 / 3, 1 - 1 / 3])


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ({}, "reference: contains no rows"),
        ("nowhere.csv", "nowhere.csv"),
        (5, "from an int; expected a path"),
        (pl.DataFrame({"who": [1], "what": [2]}), "reference"),
        ({"u": {"a": math.nan}}, "is not a number"),
        ([["a"], ["b"]], "run has lists for 1 query and reference for 2 queries"),
    ],
)
def test_what_cannot_be_a_reference(reference: Any, said: str) -> None:
    with pytest.raises(RankineError, match=said):
        rk.evaluate(None, [["a"]], "Intersection", reference=reference)


@pytest.mark.parametrize("text", ["Intersection(ref_k=0)", "Intersection(ref_k='x')"])
def test_bad_parameters(text: str) -> None:
    with pytest.raises(ParameterError, match="ref_k"):
        rk.parse(text)


def test_on_the_command_line(tmp_path: Path) -> None:
    for name, lists in (("run", LISTS), ("other", OTHER)):
        frame = pd.DataFrame(rows(lists), columns=["user", "item", "score"])
        frame.to_csv(tmp_path / name, index=False)
    words = ["evaluate", "--no-qrels", str(tmp_path / "run"), "-m", "Intersection@2"]

    done = CliRunner().invoke(
        cli, [*words, "--reference", str(tmp_path / "other"), "--csv"]
    )
    assert f",all,Intersection@2,{(1 / 2 + 0 + 0) / 3}," in done.stdout

    done = CliRunner().invoke(cli, words)
    assert "give reference= or --reference" in str(done.exception)


# Laws

lists_of = st.dictionaries(
    st.integers(0, 5),
    st.lists(st.integers(0, 6), max_size=5, unique=True),
    min_size=1,
)


@given(lists_of, lists_of, st.integers(1, 5), st.integers(1, 5))
def test_values_per_user(
    run: dict[int, list[int]], other: dict[int, list[int]], k: int, ref_k: int
) -> None:
    metrics = [f"Intersection(ref_k={ref_k})@{k}", f"{NOT_THERE}@{k}"]

    ev = rk.evaluate(None, run, metrics, reference=other)

    for user, share, strange in ev.per_query.rows():
        shown, theirs = run[user][:k], other.get(user, [])
        same = [item for item in shown if item in theirs[:ref_k]]
        assert share == (pytest.approx(len(same) / len(shown)) if shown else None)
        same = [item for item in shown if item in theirs[:k]]
        filled = bool(shown) and bool(theirs)
        assert strange == pytest.approx(1 - len(same) / k if filled else 0)


@given(lists_of, lists_of, st.data())
def test_batches_give_what_one_call_gives(
    run: dict[int, list[int]], other: dict[int, list[int]], data: st.DataObject
) -> None:
    metrics = ["Intersection@3", f"{NOT_THERE}@3", "Intersection"]
    first = data.draw(st.sets(st.sampled_from(sorted(run))))
    total = rk.Accumulator(metrics, reference=other)
    rest = rk.Accumulator(metrics, reference=other)

    total.update({user: run[user] for user in first})
    total.merge(rest.update({user: run[user] for user in run.keys() - first}))

    once, parts = rk.evaluate(None, run, metrics, reference=other), total.result()
    assert parts.per_query.sort("query").equals(once.per_query.sort("query"))
    assert parts.mean == pytest.approx(once.mean, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["a", "b"], ["b", "a"]),
        ({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 0.0}),
        ({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}),
    ],
)
def test_accumulators_with_other_references_are_not_merged(
    first: Any, second: Any
) -> None:
    total, same, other = (
        rk.Accumulator("Intersection@1", reference={"u": own}, convention="rectools")
        for own in (first, first, second)
    )

    total.merge(same)
    with pytest.raises(ParameterError):
        total.merge(other)


def test_parts_of_a_table_have_their_own_reference() -> None:
    lists, other = {"u": ["a"], "v": ["b"], "w": ["a"]}, {"u": ["a"], "w": ["b"]}
    table = rk.evaluate(None, lists, "Intersection", reference=other).table.table

    parts = [rk.Intersection.values(part).tolist() for part in table.parts(2)]

    assert parts == [[1, 0], [0]]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("Intersection(ref_k=2)@2", [0, 1, 0, 1 / 2]),
        ("Intersection@3", [1 / 2, 1, 0, 1 / 2]),
        ("Intersection(ref_k=6)@3", [1 / 2, 1, 0, 1 / 2]),
    ],
)
def test_the_data_of_rectools_own_tests(metric: str, expected: list[float]) -> None:
    # With ranks that have gaps, what RecTools 0.19 gives.
    user = [1, 1, 2, 3, 3, 4, 4, 4]
    reference = pl.DataFrame(
        {
            "user_id": user,
            "item_id": [1, 2, 1, 1, 2, 1, 2, 3],
            "rank": [3, 1, 1, 7, 5, 2, 1, 8],
        }
    )
    shown = pl.DataFrame(
        {
            "user_id": user,
            "item_id": [1, 3, 1, 1, 2, 1, 2, 3],
            "rank": [3, 2, 1, 1, 4, 5, 1, 2],
        }
    )

    found = rk.evaluate(None, shown, metric, convention="rectools", reference=reference)

    assert found.per_query[metric].to_list() == expected


@pytest.mark.parametrize("convention", ["rectools", "lenskit"])
@pytest.mark.parametrize(
    ("metric", "shown", "other", "wanted"),
    [
        # An item that the reference repeats is still one item of the list.
        ("Intersection@1", ["a"], ["a", "a"], 1),
        ("Intersection@2", ["a", "b"], ["a", "a", "c"], 1 / 2),
        ("Intersection(ref_k=3)@2", ["a", "b"], ["a", "c", "a"], 1 / 2),
        # In the list itself, it is two.
        ("Intersection@3", ["a", "b", "a"], ["a", "c"], 2 / 3),
    ],
)
def test_repeated_items(
    metric: str, shown: list[str], other: list[str], wanted: float, convention: str
) -> None:
    ev = rk.evaluate(
        None, {"u": shown}, metric, reference={"u": other}, convention=convention
    )

    assert ev[metric] == wanted
