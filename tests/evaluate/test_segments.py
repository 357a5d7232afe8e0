"""compare by segment: means in each, and how far one is from the rest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import scipy.stats

import rankine as rk
from rankine.data import QRELS, RUNS
from rankine.errors import ColumnNotFoundError, DataError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

RUNS_BY_NAME = {path.stem: path for path in RUNS[:2]}
KINDS = {f"q{number:02}": "long" if number % 3 else "short" for number in range(1, 52)}


@pytest.fixture(scope="module")
def compared() -> rk.Comparison:
    return rk.compare(QRELS, RUNS_BY_NAME, ["nDCG@10", "AP"], by=KINDS, test="t")


def values(name: str, metric: str) -> dict[str, float]:
    frame = rk.evaluate(QRELS, RUNS_BY_NAME[name], metric).per_query
    return dict(zip(frame["query"], frame[metric], strict=True))


def test_each_segment_has_its_mean(compared: rk.Comparison) -> None:
    for row in compared.segments.iter_rows(named=True):
        own = [
            value
            for query, value in values(row["run"], row["metric"]).items()
            if KINDS[query] == row["segment"]
        ]
        assert row["n"] == len(own)
        assert row["mean"] == pytest.approx(sum(own) / len(own))
        assert row["low"] < row["mean"] < row["high"]
    assert compared.segments.height == 2 * 2 * 2


def test_gaps_are_welchs(compared: rk.Comparison) -> None:
    keyword, vector = (values(name, "AP") for name in RUNS_BY_NAME)
    moved = {query: vector[query] - keyword[query] for query in keyword}

    for a, b, own in ((None, "vector", vector), ("keyword", "vector", moved)):
        inside = np.array([KINDS[query] == "short" for query in own])
        every = np.array(list(own.values()))
        expected = scipy.stats.ttest_ind(every[inside], every[~inside], equal_var=False)
        (row,) = (
            row
            for row in compared.gaps.iter_rows(named=True)
            if (row["metric"], row["segment"], row["a"], row["b"])
            == ("AP", "short", a, b)
        )
        assert row["gap"] == pytest.approx(every[inside].mean() - every[~inside].mean())
        assert row["p"] == pytest.approx(expected.pvalue)
    assert compared.gaps.height == 2 * 2 * (2 + 1)


def test_weights_count_in_segments() -> None:
    qrels: dict[str, dict[str, int]] = {query: {"a": 1} for query in "pqr"}
    low = {"p": ["x", "a"], "q": ["x", "a"], "r": ["a"]}
    high = {"p": ["a"], "q": ["x", "a"], "r": ["a"]}

    found = rk.compare(
        qrels, {"low": low, "high": high}, "RR", test="t",
        weights={"p": 3, "q": 1, "r": 1}, by={"p": 1, "q": 1, "r": 2},
    ).segments  # fmt: skip

    rows = {(row["segment"], row["run"]): row["mean"] for row in found.to_dicts()}
    assert rows["1", "high"] == (3 * 1 + 1 * 0.5) / 4
    assert rows["1", "low"] == 0.5
    assert rows["2", "low"] == 1


def test_equal_weights_change_no_bit_of_a_segment() -> None:
    qrels = {f"q{number}": {"a": 1} for number in range(6)}
    runs = {
        name: {
            query: [*"xy"[: (place + shift) % 3], "a"]
            for place, query in enumerate(qrels)
        }
        for shift, name in enumerate(("one", "two"))
    }

    def compared(weights: Any) -> rk.Comparison:
        by = dict.fromkeys(qrels, "all")
        return rk.compare(qrels, runs, "RR", test="t", by=by, weights=weights)

    plain, equal = compared(None), compared(dict.fromkeys(qrels, 0.3))
    assert equal.segments.equals(plain.segments)
    columns = ["mean", "low", "high"]
    assert equal.segments[columns].equals(equal.table[columns])


def test_weights_count_in_gaps_and_a_weight_of_0_leaves_a_query_out() -> None:
    low = {query: ["x", "a"] for query in "pqrstuv"}
    high = low | {"p": ["a"], "r": ["x", "y", "a"], "s": ["a"], "u": ["a"]}
    weights = {"p": 3, "q": 1, "r": 1, "s": 2, "t": 2, "u": 0, "v": 1}

    def gaps(queries: str) -> dict[tuple[Any, ...], tuple[float, float]]:
        qrels: dict[str, dict[str, int]] = {query: {"a": 1} for query in queries}
        found = rk.compare(
            qrels, {"low": low, "high": high}, "RR", test="t", weights=weights,
            by=dict.fromkeys("pqr", "one") | dict.fromkeys("stuv", "two"),
        ).gaps  # fmt: skip
        rows = found.select("segment", "a", "b", "gap", "p").rows()
        return {row[:3]: row[3:] for row in rows}

    found = gaps("pqrstuv")
    one, two = (3 * 1 + 1 * 0.5 + 1 / 3) / 5, (2 * 1 + 2 * 0.5 + 0.5) / 5
    assert found["one", None, "high"][0] == pytest.approx(one - two)
    assert found["two", "low", "high"][0] == pytest.approx((two - 0.5) - (one - 0.5))
    assert found["one", None, "low"] == (0, 1)
    assert found == gaps("pqrstv")


@pytest.mark.slow
def test_a_table_says_the_same(tmp_path: Path, compared: rk.Comparison) -> None:
    path = tmp_path / "kinds.csv"
    lines = "".join(f"{query},{kind}\n" for query, kind in KINDS.items())
    path.write_text("query_id,kind\n" + lines)

    from_file = rk.compare(QRELS, RUNS_BY_NAME, ["nDCG@10", "AP"], by=path, test="t")

    assert from_file.segments.equals(compared.segments)
    assert "short (16)" in str(from_file)


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        ({"q01": "x"}, DataError, r"for 49 queries \(q02, q03, q04, ...\)"),
        (KINDS | {"q02": None}, DataError, r"for 1 query \(q02\); give one for every"),
        (KINDS | {"q02": math.nan}, DataError, r"for 1 query \(q02\)"),
        (
            pl.DataFrame({"query": [*KINDS], "kind": [None, *[*KINDS.values()][1:]]}),
            DataError,
            r"for 1 query \(q01\)",
        ),
        (pl.DataFrame({"query": ["q01"]}), ColumnNotFoundError, "and one of segments"),
        (
            pl.DataFrame({"query": ["q01", "q01"], "kind": ["a", "b"]}),
            DataError,
            "has a query twice",
        ),
    ],
)
def test_segments_that_do_not_fit_are_refused(
    by: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rk.compare(QRELS, RUNS_BY_NAME, "AP", by=by)


def test_segments_need_to_be_given() -> None:
    compared = rk.compare(QRELS, RUNS_BY_NAME, "AP", test="t")

    with pytest.raises(ParameterError, match="segments need by="):
        _ = compared.segments
