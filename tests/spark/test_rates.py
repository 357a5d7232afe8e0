"""Click rates on Spark are those of memory, however the rows are partitioned."""

# ruff: noqa: E501 - messages stand on one line, as the user sees them
from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import RankineError

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark

EVERY = ["matching", "ips", "snips", "dm", "dr", "sndr", "switch-dr", "dros"]
LOGGED = {
    "user_id": "string",
    "item_id": "bigint",
    "position": "int",
    "click": "int",
    "propensity": "double",
}
RECOMMENDED = {
    "user_id": "string",
    "item_id": "bigint",
    "position": "int",
    "predicted": "double",
}


def tables(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw rounds of forty users, and lists for some of them and some others."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    logged = [
        (
            f"u{draw.randrange(40)}",
            draw.randrange(9),
            draw.randrange(2),
            int(draw.random() < 0.3),
            draw.uniform(0.05, 1),
        )
        for _ in range(600)
    ]
    offered = {
        (
            f"u{draw.randrange(5, 50)}",
            draw.randrange(12),
            draw.randrange(2),
        ): draw.random()
        for _ in range(200)
    }
    return (
        pl.DataFrame(logged, [*LOGGED], orient="row"),
        pl.DataFrame([(*where, guess) for where, guess in offered.items()], [*RECOMMENDED], orient="row"),
    )  # fmt: skip


def of_spark(spark: Any, frame: pl.DataFrame, kinds: dict[str, str]) -> Any:
    schema = ", ".join(f"{name} {kinds[name]}" for name in frame.columns)
    return spark.createDataFrame(frame.rows(), schema)


def without_spark(estimate: Any) -> dict[str, Any]:
    record: dict[str, Any] = estimate.to_dict()
    for entry in record.values():
        entry["notes"] = [note for note in entry["notes"] if "Spark" not in note]
    return record


@pytest.mark.parametrize(
    ("seed", "dropped", "options", "partitions"),
    [
        (1, [], {}, 1),
        (2, ["position"], {"clip": 5.0, "k": 2}, 7),
        (3, ["position"], {"convention": "jurity", "any_reward": True}, None),
        (4, ["position"], {"method": "bootstrap", "seed": 3}, 5),
    ],
)
def test_estimates_are_those_of_memory(
    spark: Any,
    seed: int,
    dropped: list[str],
    options: dict[str, Any],
    partitions: int | None,
) -> None:
    logged, recommended = (frame.drop(dropped) for frame in tables(seed))
    recommended = recommended.unique(
        ["user_id", "item_id"], keep="first", maintain_order=True
    )
    memory = rk.ctr(logged, recommended, EVERY, **options)

    found = rankine.spark.ctr(
        of_spark(spark, logged, LOGGED), of_spark(spark, recommended, RECOMMENDED), EVERY,
        partitions=partitions, **options,
    )  # fmt: skip

    assert without_spark(found) == without_spark(memory)


def test_everyone_is_recommended_the_same(spark: Any) -> None:
    logged, _ = tables(5)
    logged = logged.drop("user_id", "position")
    recommended = pl.DataFrame({"item_id": [0, 3, 11], "predicted": [0.2, 0.4, 0.1]})
    memory = rk.ctr(logged, recommended, EVERY)
    frame = of_spark(spark, logged, LOGGED).repartition(4)

    found = rankine.spark.ctr(frame, of_spark(spark, recommended, RECOMMENDED), EVERY)

    assert without_spark(found) == without_spark(memory)


def test_a_rate_by_hand(spark: Any) -> None:
    logged = spark.createDataFrame(
        [(1, "a", 1, 0.5), (2, "b", 0, 0.25), (3, "a", 1, 0.5), (4, "c", 0, 0.25)],
        "user_id int, item_id string, click int, propensity double",
    )
    recommended = spark.createDataFrame(
        [(1, "a"), (2, "b"), (3, "b"), (4, "c")],
        "user_id bigint, item_id string",
    )

    estimate: Any = rankine.spark.ctr(logged, recommended, "ips", partitions=3)

    # One of three rounds that match was a click, with a propensity of a half.
    assert (estimate.value, estimate.matched, estimate.n) == ((1 / 0.5) / 4, 3, 4)
    assert estimate.notes[-1] == "2 different rounds collected from Spark"


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (None, {"engine": "stream"}, "rankine.spark.ctr always runs on Spark; leave out engine="),
        (None, {"clipp": 3}, "ctr has no option 'clipp'; did you mean 'clip'?"),
        (None, {"partitions": 0}, "partitions must be an integer of at least 1, got 0"),
        (["user_id", "item_id"], {"k": 2}, "k takes the first rows of each list, and Spark keeps no order; "),
        (["item_id", "predicted"], {"n": "recommended"}, "n='recommended' counts pairs of a user and an item on Spark, "),
        (["user_id"], {}, "recommended has no item column, which rounds are matched by"),
    ],
)  # fmt: skip
def test_refused_before_a_job_starts(
    spark: Any,
    jobs: Any,
    columns: list[str] | None,
    options: dict[str, Any],
    message: str,
) -> None:
    logged, recommended = tables(6)
    frame = recommended.select(columns or recommended.columns)
    frames = of_spark(spark, logged, LOGGED), of_spark(spark, frame, RECOMMENDED)

    with pytest.raises(RankineError) as refused:
        rankine.spark.ctr(*frames, "ips", **options)

    assert str(refused.value).startswith(message)
    assert len(jobs) == 0


def test_data_are_refused_in_one_sentence(spark: Any) -> None:
    logged, recommended = (frame.drop("position") for frame in tables(7))
    recommended = recommended.unique(["user_id", "item_id"])
    odd = logged.with_columns(click=pl.lit(2))
    tied = recommended.with_columns(predicted=pl.lit(0.5))
    twice = pl.concat((recommended, recommended))
    for left, right, options, message in (
        (odd, recommended, {}, "logged: click is 2; a click is 0 or 1"),
        (
            logged,
            tied,
            {"k": 1},
            "recommended: the items at ranks 1 and 2 of user_id 'u",
        ),
        (logged, twice, {}, "recommended lists user 'u"),
        (logged.clear(), recommended, {}, "logged has no rows"),
        (logged, recommended.clear(), {}, "recommended has no rows"),
    ):
        with pytest.raises(RankineError) as refused:
            rankine.spark.ctr(
                of_spark(spark, left, LOGGED), of_spark(spark, right, RECOMMENDED), "ips",
                **options,
            )  # fmt: skip

        assert str(refused.value).startswith(message)
        assert "\n" not in str(refused.value)
    with pytest.raises(RankineError, match="must be a Spark DataFrame, got DataFrame"):
        rankine.spark.ctr(logged, recommended)


def test_ids_of_other_types_are_refused(spark: Any, jobs: Any) -> None:
    logged = spark.createDataFrame(
        [(1.0, 1, 1)], "user_id double, item_id bigint, click int"
    )
    recommended = spark.createDataFrame([(1, 1)], "user_id bigint, item_id bigint")

    with pytest.raises(RankineError) as refused:
        rankine.spark.ctr(logged, recommended)

    assert str(refused.value) == (
        "user ids are double in logged ('user_id') and bigint in recommended ('user_id'); on Spark, cast both to the same type"
    )
    assert len(jobs) == 0


LOG = [(1, 7, 1), (2, 8, 0), (3, 7, 1), (-4, 8, 1), (5, 9, 0)]
OFFERED = [(1, 7), (2, 7), (3, 7), (-4, 8), (6, 8)]


def of_types(spark: Any, rows: list[Any], users: str, items: str) -> tuple[Any, Any]:
    """Return rows on Spark and in memory, with their ids as text or as ints."""
    as_type: dict[str, Any] = {"string": str, "bigint": int}
    rows = [(as_type[users](user), as_type[items](item), *more) for user, item, *more in rows]  # fmt: skip
    names = ["user_id", "item_id", "click"][: len(rows[0])]
    kinds = dict(zip(names, (users, items, "int"), strict=False))
    frame = pl.DataFrame(rows, names, orient="row")
    return of_spark(spark, frame, kinds), frame


@pytest.mark.parametrize("of_log", [("string", "bigint"), ("bigint", "string"), ("string", "string")])  # fmt: skip
def test_texts_that_are_plain_ints_are_compared_with_ints(
    spark: Any, of_log: tuple[str, str]
) -> None:
    others = {"string": "bigint", "bigint": "string"}
    for kinds in ((of_log[0], others[of_log[1]]), (others[of_log[0]], of_log[1])):
        logged, log = of_types(spark, LOG, *of_log)
        recommended, offered = of_types(spark, OFFERED, *kinds)
        memory: Any = rk.ctr(log, offered)

        estimate: Any = rankine.spark.ctr(logged, recommended, partitions=4)

        # Users 1, 3 and -4 were shown what is recommended to them, and clicked.
        assert (estimate.value, estimate.matched) == (1, 3)
        notes = [note for note in estimate.notes if "Spark" not in note]
        assert notes == list(memory.notes)
        assert sum("compared as text" in note for note in notes) == 1


def test_everyone_is_recommended_items_of_another_type(spark: Any) -> None:
    logged, log = of_types(spark, LOG, "bigint", "bigint")
    recommended, offered = of_types(spark, OFFERED[3:4], "bigint", "string")
    memory: Any = rk.ctr(log, offered.drop("user_id"))

    estimate: Any = rankine.spark.ctr(logged, recommended.drop("user_id"))

    # Of the two rounds that show 8, one was clicked.
    assert (estimate.value, estimate.matched) == (1 / 2, 2)
    notes = [note for note in estimate.notes if "Spark" not in note]
    assert notes == list(memory.notes)


@pytest.mark.parametrize("odd", ["007", "x"])
def test_other_texts_are_not_compared_with_ints(spark: Any, odd: str) -> None:
    """Wherever they are: here, in a partition without recommendations."""
    logged, _ = of_types(spark, LOG, "string", "bigint")
    recommended, _ = of_types(spark, OFFERED, "bigint", "bigint")
    more = spark.createDataFrame([(odd, 7, 1)], logged.schema)

    with pytest.raises(RankineError) as refused:
        rankine.spark.ctr(logged.union(more), recommended, partitions=40)

    assert str(refused.value) == (
        f"user ids are text in logged and ints in recommended, and not all of the texts are plain ints, such as '{odd}'; give both the same type"
    )


def test_an_int_beyond_64_bits_does_not_fit_those_of_the_log(spark: Any) -> None:
    large = [*OFFERED, ("1" + 20 * "0", 7)]
    logged, log = of_types(spark, LOG, "bigint", "bigint")
    recommended, offered = of_types(spark, large, "string", "bigint")

    with pytest.raises(RankineError) as refused:
        rankine.spark.ctr(logged, recommended, partitions=4)
    with pytest.raises(RankineError) as in_memory:
        rk.ctr(log, offered)

    assert str(refused.value) == str(in_memory.value)
    assert "does not fit" in str(refused.value)


def test_ints_of_several_widths_are_of_one_type(spark: Any) -> None:
    logged = spark.createDataFrame(
        [[1, 7, 1], [2, 8, 0]], "user_id int, item_id bigint, click int"
    )
    recommended = spark.createDataFrame([[1, 7], [2, 8]], "user_id bigint, item_id int")

    estimate: Any = rankine.spark.ctr(logged, recommended, partitions=4)

    assert estimate.matched == 2
