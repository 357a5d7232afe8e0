"""Pairs in a report go one way: to the better system, or from the baseline."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._report.directed import directed
from rankine._report.of_comparison import page_of
from tests.evaluate.comparisons import frame, values_compared
from tests.report.pages import Parsed

_SIGNED = ("difference", "effect")
_SAME = ("metric", "p", "p_corrected", "ties")


def three(order: tuple[str, ...]) -> rk.Comparison:
    """Return three systems in some order, each better than those before it by name."""
    table = frame(3, n=40).rename({"s0": "a", "s1": "b", "s2": "c"})
    return values_compared(table.select("query", *order), test="t")


def rows(comparison: rk.Comparison) -> dict[tuple[str, str], dict[str, object]]:
    return {
        (row["a"], row["b"]): row for row in comparison.pairwise.iter_rows(named=True)
    }


@given(st.permutations(["a", "b", "c"]))
def test_pairs_are_the_same_whatever_the_order_of_systems(order: list[str]) -> None:
    found, wanted = rows(directed(three(tuple(order)))), rows(three(("a", "b", "c")))

    assert found.keys() == {("a", "b"), ("a", "c"), ("b", "c")}
    for pair, row in found.items():
        assert row["verdict"] in {"better", "cannot tell"}
        for name, value in row.items():
            if isinstance(value, float):
                assert value == pytest.approx(wanted[pair][name], abs=1e-12)
            else:
                assert value == wanted[pair][name]


def test_a_pair_that_is_turned_has_its_numbers_turned() -> None:
    before = three(("c", "a", "b"))

    after = rows(directed(before))

    for (a, b), row in rows(before).items():
        if (a, b) in after:
            assert after[a, b] == row
            continue
        turned = after[b, a]
        assert [turned[name] for name in _SAME] == [row[name] for name in _SAME]
        assert [turned[name] for name in _SIGNED] == [-row[name] for name in _SIGNED]  # type: ignore[operator]
        assert (turned["low"], turned["high"]) == (-row["high"], -row["low"])  # type: ignore[operator]
        assert turned["superiority"] == 1 - row["superiority"]  # type: ignore[operator]
        assert (turned["wins"], turned["losses"]) == (row["losses"], row["wins"])
        assert row["verdict"] == turned["verdict"].replace("better", "worse")  # type: ignore[attr-defined]


def test_less_is_better_where_the_metric_says_so() -> None:
    qrels = {f"q{n}": {"x": 1} for n in range(4)}
    items = ["v", "w", "x", "y"]
    runs = {
        "late": dict.fromkeys(qrels, items),
        "early": {query: ["x", *items[:2], "y"] for query in qrels},
    }
    falls = directed(rk.compare(qrels, runs, "NDPM", draws=50))
    rises = directed(rk.compare(qrels, runs, "RR", draws=50))

    assert falls.pairwise.row(0)[1:3] == rises.pairwise.row(0)[1:3] == ("late", "early")


def test_a_pair_goes_the_same_way_under_every_metric() -> None:
    qrels = {f"q{n}": {"x": 1, "y": 1} for n in range(4)}
    runs = {
        "first": {query: ["x", "v", "w"] for query in qrels},  # RR 1, R 1 / 2
        "both": {query: ["v", "x", "y"] for query in qrels},  # RR 1 / 2, R 1
    }
    found = directed(rk.compare(qrels, runs, ["R@3", "RR"], draws=50)).pairwise
    turned = directed(rk.compare(qrels, runs, ["RR", "R@3"], draws=50)).pairwise

    assert found.rows_by_key("metric")["RR"][0][0:3] == ("first", "both", 1 / 2 - 1)
    assert found.rows_by_key("metric")["R@3"][0][0:3] == ("first", "both", 1 - 1 / 2)
    assert turned.rows_by_key("metric")["RR"][0][0:3] == ("both", "first", 1 - 1 / 2)


def test_equal_systems_keep_their_order_and_differ_by_a_plain_zero() -> None:
    qrels = {f"q{n}": {"x": 1} for n in range(4)}
    lists = {query: ["x", "v"] for query in qrels}
    found = directed(rk.compare(qrels, {"b": lists, "a": lists}, "RR", draws=50))

    (row,) = found.pairwise.iter_rows(named=True)
    assert (row["a"], row["b"], row["difference"]) == ("b", "a", 0)
    assert math.copysign(1, row["difference"]) == 1


def test_pairs_begin_at_the_baseline_even_if_it_is_the_best() -> None:
    table = frame(3, n=40).rename({"s0": "a", "s1": "b", "s2": "c"})
    compared = values_compared(table, test="t", baseline="c")

    assert directed(compared) is compared
    assert set(compared.pairwise["a"]) == {"c"}


def test_sentences_tables_and_charts_go_the_same_way() -> None:
    comparison = three(("c", "a", "b"))

    text = page_of(comparison).text()
    parsed = Parsed(text)

    pairs = parsed.tables["Differences of all pairs"][1:]
    assert [row[1:3] for row in pairs] == [["a", "c"], ["b", "c"], ["a", "b"]]
    assert "is worse than" not in text
    assert parsed.data["pairs"] == [[1, 0], [2, 0], [1, 2]]
