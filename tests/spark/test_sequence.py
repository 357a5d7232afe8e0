"""A column says in which order rows were given, and is refused where it does not."""

# ruff: noqa: E501 - messages stand on one line, as the user sees them
from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

import rankine as rk
from rankine.errors import ColumnNotFoundError, DataError, ParameterError

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark

GIVEN = rk.Convention(order="given")
QRELS = [("q", "a", 1.0), ("r", "a", 1.0)]
PLACES: dict[str, list[Any]] = {
    "bigint": [1_700_000_000_000_000_001, 1_700_000_000_000_000_002],
    "double": [0.5, 1.5],
    "decimal(20,2)": [Decimal("1.25"), Decimal("1.5")],
    "date": [date(2026, 1, 1), date(2026, 1, 2)],
    "timestamp": [datetime(2026, 1, 1, 8, tzinfo=UTC), datetime(2026, 1, 1, 9, tzinfo=UTC)],
}  # fmt: skip


def frames(spark: Any, run: list[Any], kind: str) -> tuple[Any, Any]:
    return (
        spark.createDataFrame(QRELS, "query string, item string, grade double"),
        spark.createDataFrame(run, f"query string, item string, seq {kind}"),
    )


@pytest.mark.parametrize("kind", PLACES)
def test_places_of_any_type_give_the_order(spark: Any, kind: str) -> None:
    first, second = PLACES[kind]
    run = [("q", "a", second), ("q", "b", first), ("r", "b", second), ("r", "a", first)]

    ev = rankine.spark.evaluate(
        *frames(spark, run, kind), "RR", convention=GIVEN, sequence="seq"
    )

    assert ev["RR"] == (1 / 2 + 1) / 2


@pytest.mark.parametrize("kind", PLACES)
def test_two_rows_in_one_place_are_refused(spark: Any, kind: str) -> None:
    first, second = PLACES[kind]
    run = [("q", "a", first), ("r", "b", second), ("r", "a", second)]

    with pytest.raises(DataError) as refused:
        rankine.spark.evaluate(*frames(spark, run, kind), "RR", sequence="seq")

    assert str(refused.value) == (
        f"run: two rows of query 'r' have {as_read(spark, kind, second)} in 'seq', which sequence= or --sequence names, so their order is undefined; give each row of a query a number of its own, as row_number() does"
    )


def as_read(spark: Any, kind: str, place: Any) -> Any:
    """Return a place as Arrow has it."""
    return spark.createDataFrame([(place,)], f"x {kind}").toArrow().column(0)[0].as_py()


@pytest.mark.parametrize(
    ("kind", "known", "missing"),
    [
        ("int", 1, None),
        ("double", 1.0, float("nan")),
        ("date", date(2026, 1, 1), None),
    ],
)
def test_rows_without_a_place_are_refused(
    spark: Any, kind: str, known: Any, missing: float | None
) -> None:
    run = [("q", "a", known), ("q", "b", missing), ("r", "a", missing)]

    for lenient in (False, True):
        with pytest.raises(DataError) as refused:
            rankine.spark.evaluate(
                *frames(spark, run, kind), "RR", sequence="seq", lenient=lenient
            )

        assert str(refused.value) == (
            "run: 2 rows have no number in 'seq', which sequence= or --sequence names; number all rows, or leave these out"
        )


def test_places_of_rows_that_are_dropped_do_not_matter(spark: Any) -> None:
    run = [("q", "a", 1), ("q", None, None), ("q", None, 1), (None, "a", None)]

    ev = rankine.spark.evaluate(
        *frames(spark, run, "int"), "RR", sequence="seq", lenient=True
    )

    assert ev["RR"] == (1 + 0) / 2


def test_places_of_judgements_matter_where_their_order_does(spark: Any) -> None:
    rows = [("q", "a", 3.0, 1), ("q", "b", 1.0, 1)]
    kind = "query string, item string, {} double, seq int"
    qrels = spark.createDataFrame(rows, kind.format("grade"))
    run = spark.createDataFrame([("q", "a", 1.0, 1)], kind.format("score"))

    assert rankine.spark.evaluate(qrels, run, "RR", sequence="seq")["RR"] == 1
    with pytest.raises(DataError, match="qrels: two rows of query 'q' have 1 in 'seq'"):
        rankine.spark.evaluate(qrels, run, "nDCG(ideal='given@k')@5", sequence="seq")


def test_places_after_posexplode_are_ranks(spark: Any) -> None:
    lists = spark.createDataFrame(
        [("q", ["b", "a"]), ("r", ["a", "b"])], "query string, items array<string>"
    )
    qrels, _ = frames(spark, [], "int")
    run = lists.selectExpr("query", "posexplode(items) AS (pos, item)")

    ev = rankine.spark.evaluate(qrels, run.orderBy("item"), "RR")

    assert ev["RR"] == (1 / 2 + 1) / 2
    assert "run has no scores; the column 'pos' gives the order" in ev.notes


def test_a_convention_that_needs_an_order_is_told_of_the_ranks(spark: Any) -> None:
    run = spark.createDataFrame([("q", 0, "a")], "query string, pos int, item string")
    qrels, _ = frames(spark, [], "int")

    with pytest.raises(ParameterError) as refused:
        rankine.spark.evaluate(qrels, run, "AP", convention="recmetrics")

    assert str(refused.value) == (
        "recmetrics uses the order of rows for AP, and Spark keeps none; if 'pos' numbers the rows, give sequence='pos' or --sequence pos"
    )


def test_other_columns_of_numbers_are_asked_for(spark: Any) -> None:
    run = [("q", "a", 1)]

    with pytest.raises(ColumnNotFoundError, match="has numbers in 'seq'"):
        rankine.spark.evaluate(*frames(spark, run, "int"), "RR")
