"""compare_values: values that were computed elsewhere, in frames."""

import math
from typing import Any

import pandas as pd
import polars as pl
import pytest
import scipy.stats

import rankine as rk
from rankine._stats.intervals import Sample, intervals
from rankine.errors import DataError, ParameterError
from tests.evaluate.comparisons import frame, values_compared

QUERIES = ["q1", "q2", "q3", "q4"]


def of(x: list[Any], y: list[Any], **options: Any) -> rk.Comparison:
    table = pl.DataFrame({"query": QUERIES, "x": x, "y": y})
    return rk.compare_values(table, **options)


def test_a_column_is_a_system() -> None:
    comparison = of([0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.1, 0.9], test="t")

    row = comparison.pairwise.row(0, named=True)
    expected = scipy.stats.ttest_1samp([0.1, 0, -0.2, 0.5], 0)
    assert (comparison.systems, comparison.metrics) == (("x", "y"), ("value",))
    assert row["difference"] == pytest.approx((0.1 - 0.2 + 0.5) / 4)
    assert row["p"] == pytest.approx(expected.pvalue)
    assert (row["wins"], row["ties"], row["losses"]) == (2, 1, 1)
    assert comparison.table["mean"].to_list() == pytest.approx([1.0 / 4, 1.4 / 4])


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_value_leaves_the_query_out(missing: float | None) -> None:
    comparison = of([0.1, missing, 0.3, 0.4], [0.2, 0.2, 0.1, missing], test="t")

    row = comparison.pairwise.row(0, named=True)
    assert row["difference"] == pytest.approx((0.1 - 0.2) / 2)
    assert comparison.table["n"].to_list() == [3, 3]
    assert comparison.table["mean"].to_list() == pytest.approx([0.8 / 3, 0.5 / 3])
    assert comparison.notes == (
        "value: 1 query without a value in x (q2), left out of its pairs",
        "value: 1 query without a value in y (q4), left out of its pairs",
    )


@pytest.mark.parametrize("kind", ["float64", "Float64", "object"])
def test_frames_of_pandas_give_the_same(kind: str) -> None:
    x, y = [0.1, None, 0.3, 0.4], [0.2, 0.2, 0.1, 0.9]
    columns = {"x": pd.array(x, dtype=kind), "y": pd.array(y, dtype=kind)}

    found = rk.compare_values(pd.DataFrame({"query": QUERIES, **columns}))

    assert found.to_json() == of(x, y).to_json()


def test_a_frame_may_be_lazy() -> None:
    table = pl.DataFrame({"query": QUERIES, "x": [0.1] * 4, "y": [0.2, 0.3, 0.4, 0.5]})

    found = rk.compare_values(table.lazy())

    assert found.to_json() == rk.compare_values(table).to_json()


def test_whole_numbers_are_values_too() -> None:
    comparison = of([1, 2, None, 4], [2, 2, 9, 3])

    assert comparison.pairwise["difference"][0] == pytest.approx((1 + 0 - 1) / 3)


def test_ids_may_be_numbers() -> None:
    table = pl.DataFrame({"query": [10, 9, 1], "x": [0.1, 0.5, 0.2], "y": [0.2, 0, 1]})

    moved = rk.compare_values(table).moved("value", "x", "y")

    assert [query.query for query in moved] == [1, 9, 10]


def test_a_direction_turns_verdicts_round() -> None:
    table = frame(2, n=40)

    up = values_compared(table)
    down = values_compared(table, higher_is_better=False)

    assert up.pairwise["verdict"].to_list() == ["better"]
    assert down.pairwise["verdict"].to_list() == ["worse"]
    turned = ["superiority", "wins", "losses", "verdict"]
    assert up.pairwise.drop(turned).equals(down.pairwise.drop(turned))
    assert up.table["best"].to_list() == [False, True]
    assert down.table["best"].to_list() == [True, False]
    assert up.table["better_than"].to_list() == [[], ["s0"]]
    assert down.table["better_than"].to_list() == [["s1"], []]


def test_a_query_gains_where_its_value_falls_if_less_is_better() -> None:
    table = pl.DataFrame(
        {"query": ["q1", "q2", "q3", "q4"], "x": [0.5, 0.5, 0.5, 0.5],
         "y": [0.2, 0.3, 0.5, 0.9]}
    )  # fmt: skip

    cmp = rk.compare_values(table, higher_is_better=False)

    row = cmp.pairwise.select("wins", "ties", "losses", "superiority").row(0)
    assert row == (2, 1, 1, (2 + 1 / 2) / 4)
    assert "2 of 4 queries gain, 1 lose" in cmp.sentences[0]


def test_a_margin_gives_equivalence() -> None:
    table = frame(2, n=40)

    found = values_compared(table, margin=0.2, test="t")

    assert found.pairwise["verdict"].to_list() == ["better, equivalent"]
    assert found.margins == {"value": 0.2}


def test_a_baseline_is_compared_with_all_others() -> None:
    found = values_compared(frame(4), baseline="s2")

    assert found.pairwise.select("a", "b").rows() == [
        ("s2", "s0"), ("s2", "s1"), ("s2", "s3"),
    ]  # fmt: skip


def test_systems_of_one_best_mean_are_all_the_best() -> None:
    comparison = of([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1])

    assert comparison.table["best"].to_list() == [True, True]


def test_columns_have_the_same_types_whatever_they_hold() -> None:
    nobody, somebody = of([0.1] * 4, [0.1] * 4), values_compared()

    assert nobody.table.schema == somebody.table.schema
    assert nobody.pairwise.schema == somebody.pairwise.schema


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("seed", [0, 5])
def test_intervals_of_means_are_those_of_a_bootstrap(
    confidence: float, seed: int
) -> None:
    table = frame(2)

    found = values_compared(table, confidence=confidence, seed=seed).table

    sample = Sample(table["s0"].to_numpy())
    (expected,) = intervals([sample], confidence=confidence, seed=seed)
    assert (found["low"][0], found["high"][0]) == expected


def test_tukeys_tests_warn_where_differences_vary_unequally() -> None:
    x = [0.0, 0.1, 0.0, 0.1]
    near = [0.01, 0.1, 0.0, 0.11]  # d = 0.01, 0, 0, 0.01
    far = [0.9, 0.1, 0.5, 0.0]
    table = pl.DataFrame({"query": QUERIES, "x": x, "near": near, "far": far})

    unequal = rk.compare_values(table, test="tukey_hsd").warnings
    equal = rk.compare_values(table.drop("far"), test="tukey_hsd").warnings

    assert sum("tukey_hsd does not allow for" in text for text in unequal) == 1
    assert not any("allow" in text for text in equal)
    assert not any("allow" in text for text in rk.compare_values(table).warnings)


@pytest.mark.parametrize(("factor", "warned"), [(1.73, False), (1.74, True)])
def test_unequal_is_beyond_four_times_the_variance(
    factor: float,
    warned: bool,  # noqa: FBT001
) -> None:
    # b and c have nothing in common: variances of differences are as 1, factor^2 and
    # 1 + factor^2, of which the last is 4 where the factor is the root of 3.
    b = [0.1, -0.1, 0.1, -0.1]
    c = [0.1 * factor, 0.1 * factor, -0.1 * factor, -0.1 * factor]
    table = pl.DataFrame({"query": QUERIES, "a": [0.0] * 4, "b": b, "c": c})

    found = rk.compare_values(table, test="tukey_hsd").warnings

    assert any("allow" in text for text in found) == warned


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "t"])
def test_tests_of_the_middle_warn_of_many_queries(test: str) -> None:
    found = values_compared(frame(2, n=1001), test=test).warnings

    assert any("not of the mean" in text for text in found) == (test != "t")


def test_few_queries_are_said_to_be_few() -> None:
    few, enough = values_compared(frame(2, n=19)), values_compared(frame(2, n=20))

    assert few.warnings == (
        "with 19 queries, only large differences can be distinguished from chance",
    )
    assert enough.warnings == ()


@pytest.mark.parametrize("test", ["randomization", "t", "bootstrap", "tukey_hsd"])
def test_one_query_is_too_few_for_anything(test: str) -> None:
    table = pl.DataFrame({"query": ["q"], "x": [0.1], "y": [0.2], "z": [0.9]})

    found = rk.compare_values(table, test=test, margin=0.1)

    assert found.pairwise["verdict"].to_list() == ["cannot tell"] * 3
    too_few = {
        "randomization": "value: randomization cannot find a difference if only 1"
    }
    assert found.warnings[0].startswith(too_few.get(test, "with 1 query, only"))
    assert "undefined" in str(found) or test == "randomization"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"query": [1, 1], "x": [0.1, 0.2], "y": [0.1, 0.2]},
            "row 2 of the frame: query 1 has a second value of x; give one",
        ),
        (
            {"query": ["a", None], "x": [0.1, 0.2], "y": [0.1, 0.2]},
            "row 2 of the frame has no query; give each value one",
        ),
        ({"query": [math.nan, 1.0], "x": [0.1, 0.2], "y": [0.1, 0.2]}, "row 1 of the"),
        ({"query": [1, 2], "x": ["a", "b"], "y": [0.1, 0.2]}, "column x holds String"),
        ({"query": [1, 2], "x": [0.1, 0.2], "y": [True, False]}, "y holds Boolean"),
        (
            {"query": [1, 2], "x": [0.1, math.inf], "y": [0.1, 0.2]},
            "row 2 of the frame: x of query 2 is inf; expected a finite",
        ),
        (
            {"query": ["b", "a"], "x": [-math.inf, 1], "y": [0, 1]},
            "x of query 'b' is -inf",
        ),
        (
            {"query": [1, 2], "x": [0.1, 0.2], "y": [-1e200, 1]},
            r"y of query 1 is -1e\+200; expected a finite number of at most 1e\+100",
        ),
        ({"q": [1, 2], "x": [0.1, 0.2]}, "no column 'query'; it has q, x"),
        (
            {"query": [1, 2], "x": [None, 0.2], "y": [0.1, None]},
            "x and y have no query",
        ),
    ],
)
def test_frames_that_cannot_be_used_are_refused(
    columns: dict[str, Any], message: str
) -> None:
    table = pl.DataFrame(columns, strict=False)

    with pytest.raises(DataError, match=message):
        rk.compare_values(table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": [0.1, 0.2]}, "expected a frame, {name: values} or .* got a list"),
        ({"table": frame(1)}, "at least two systems, got only s0"),
        ({"table": frame(0)}, "at least two systems, got none"),
        ({"baseline": "s9"}, "baseline must be one of s0, s1, s2, got 's9'"),
        ({"margin": -1}, "margin must be a number above 0, got -1"),
        ({"margin": {"AP": 0.1}}, "margin is given for AP, which is not among value"),
        ({"higher_is_better": "no"}, "higher_is_better must be True or False, got"),
        ({"test": "sign", "correction": "maxt"}, "needs test='randomization'"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        values_compared(**options)
