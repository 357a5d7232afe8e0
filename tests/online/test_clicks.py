"""Judgements from clicks, and metrics of clicks: by hand, and with a known truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine.errors import ColumnNotFoundError, DataError, ParameterError

LOG = pl.DataFrame(
    {
        "query_id": ["q", "q", "q", "q", "r", "r"],
        "item_id": ["x", "y", "y", "x", "x", "z"],
        "position": [1, 2, 1, 2, 1, 2],
        "click": [1, 1, 0, 0, 1, 0],
    }
)


def values(judged: Any) -> dict[tuple[str, str], float]:
    return {(query, item): value for query, item, value in judged.frame.iter_rows()}


def test_clicks_over_expected_clicks_by_hand() -> None:
    # Rank 1: 2 of 3; rank 2: 1 of 3.
    found = values(rk.online.judgments_from_clicks(LOG))

    assert found == pytest.approx(
        {
            ("q", "x"): 1 / (2 / 3 + 1 / 3),
            ("q", "y"): 1 / (1 / 3 + 2 / 3),
            ("r", "x"): 1 / (2 / 3),
            ("r", "z"): 0.0,
        }
    )


def test_click_rates_by_hand() -> None:
    judged = rk.online.judgments_from_clicks(LOG.drop("position"), "ctr")

    assert values(judged) == {
        ("q", "x"): 1 / 2, ("q", "y"): 1 / 2, ("r", "x"): 1.0, ("r", "z"): 0.0,
    }  # fmt: skip
    assert judged.support["impressions"].to_list() == [2, 2, 1, 1]
    assert judged.support["clicks"].to_list() == [1, 1, 1, 0]


@pytest.mark.parametrize("curve", [[1, 0.5], {1: 1, 2: 0.5}, np.array([1, 0.5])])
def test_positions_with_a_given_curve(curve: Any) -> None:
    judged = rk.online.judgments_from_clicks(LOG, "position", examination=curve)

    assert values(judged)["q", "x"] == 1 / (1 + 0.5)
    assert values(judged)["r", "x"] == 1 / 1
    assert judged.curve["weight"].to_list() == [1, 0.5]


def drawn(n: int, seed: int = 0) -> tuple[pl.DataFrame, list[float], dict[Any, float]]:
    rng = np.random.default_rng(seed)
    looked = [1.0, 0.6, 0.4, 0.25]
    liked = {("q", "w"): 0.6, ("q", "x"): 0.4, ("q", "y"): 0.2, ("q", "z"): 0.1}
    rows = []
    for _ in range(n):
        order = rng.permutation(list("wxyz"))
        for rank, (item, share) in enumerate(zip(order, looked, strict=True), 1):
            click = int(rng.random() < share * liked["q", item])
            rows.append(("q", str(item), rank, click))
    frame = pl.DataFrame(rows, LOG.columns, orient="row")
    return frame, looked, liked


def test_the_curve_is_estimated_where_items_change_places() -> None:
    log, looked, liked = drawn(20_000)
    judged = rk.online.judgments_from_clicks(log, "position")

    assert judged.curve["weight"].to_list() == pytest.approx(looked, abs=0.03)
    assert values(judged) == pytest.approx(liked, abs=0.02)
    assert "estimated from 4 items" in judged.notes[0]


def test_the_estimate_is_of_largest_likelihood() -> None:
    log, _, _ = drawn(500)
    judged = rk.online.judgments_from_clicks(log, "position")
    looked = np.array(judged.curve["weight"].to_list())
    cells = log.group_by("item_id", "position").agg(
        pl.len().alias("n"), pl.col("click").sum()
    )
    own = {item: value for (_, item), value in values(judged).items()}

    def likelihood(curve: Any) -> float:
        rates = [
            own[item] * curve[rank - 1]
            for item, rank in cells.select("item_id", "position").iter_rows()
        ]
        return float((cells["click"].to_numpy() * np.log(rates)
                      - cells["n"].to_numpy() * np.array(rates)).sum())  # fmt: skip

    best = likelihood(looked)
    for place in range(1, 4):
        for factor in (0.98, 1.02):
            other = looked.copy()
            other[place] *= factor
            assert likelihood(other) < best


def test_no_curve_where_items_stay_in_their_places() -> None:
    fixed = LOG.filter(pl.col("query_id") == "r")
    with pytest.raises(
        DataError, match="the examination of rank 2 cannot be estimated"
    ):
        rk.online.judgments_from_clicks(fixed, "position")


def test_no_curve_over_ranks_that_nothing_connects() -> None:
    apart = pl.DataFrame(
        {
            "query_id": ["q"] * 4 + ["r"] * 4,
            "item_id": ["x", "x", "y", "y", "v", "v", "w", "w"],
            "position": [1, 2, 2, 1, 3, 4, 4, 3],
            "click": [1] * 8,
        }
    )
    with pytest.raises(DataError, match="rank 3 cannot be estimated"):
        rk.online.judgments_from_clicks(apart, "position")


def test_judgements_go_into_evaluate() -> None:
    judged = rk.online.judgments_from_clicks(LOG, "ctr")
    found = rk.evaluate(
        judged, {"q": ["x", "y"], "r": ["z", "x"]}, ["nDCG", "RR(rel=0.5)"]
    )

    assert found["RR(rel=0.5)"] == (1 + 1 / 2) / 2
    assert found["nDCG"] == pytest.approx((1 + 1 / math.log2(3)) / 2)
    assert any("favour the ranking that was logged" in note for note in judged.notes)


def test_judgements_need_support() -> None:
    judged = rk.online.judgments_from_clicks(LOG, least=2)

    assert {*values(judged)} == {("q", "x"), ("q", "y")}
    assert "2 items with fewer than 2 impressions left out" in judged.notes
    with pytest.raises(DataError, match="no item has enough impressions"):
        rk.online.judgments_from_clicks(LOG, least=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "pbm"}, "model must be one of coec, ctr, position"),
        ({"model": "coec", "examination": [1]}, "examination is for model='position'"),
        ({"model": "position", "examination": [1]}, "no share for rank 2"),
        ({"model": "position", "examination": [1, 2]}, "examination of rank 2 must"),
        ({"model": "position", "examination": 1}, "examination must be shares by rank"),
        ({"least": 0}, "least must be an integer of at least 1"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_met(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        rk.online.judgments_from_clicks(LOG, **options)


def test_columns_are_recognised_or_told() -> None:
    named = LOG.rename({"query_id": "search", "click": "clicked"})
    with pytest.raises(ColumnNotFoundError, match="no column for the query"):
        rk.online.judgments_from_clicks(named)
    told = rk.online.judgments_from_clicks(named, columns={"query": "search"})

    assert told.frame.equals(rk.online.judgments_from_clicks(LOG).frame)


def test_ranks_count_from_1() -> None:
    with pytest.raises(DataError, match=r"position is 0, not a rank from 1"):
        rk.online.judgments_from_clicks(LOG.with_columns(position=0))


def test_metrics_of_clicks_by_hand() -> None:
    log = LOG.with_columns(
        impression_id=pl.Series([1, 1, 2, 2, 3, 3]), user_id=pl.Series(list("aabbbb"))
    )
    found = rk.online.click_metrics(log)

    rates = found.by_position.select("position", "impressions", "clicks", "ctr")
    assert rates.rows() == [(1, 3, 2, 2 / 3), (2, 3, 1, 1 / 3)]
    assert found.by_variant is None
    assert found.mrr == pytest.approx((1 + 0 + 1) / 3)
    assert found.n == 3
    # a: 1 of 1, b: 1 of 2; influences (1 - 2/3) / 1.5 and (1 - 4/3) / 1.5.
    error = math.sqrt(2 * (1 / 3 / 1.5) ** 2 / 1 / 2)
    far = 12.706204736432095
    # As a mean of reciprocal ranks is within 0 and 1, so is its interval.
    assert 2 / 3 - far * error < 0
    assert 2 / 3 + far * error > 1
    assert (found.interval.low, found.interval.high) == (0, 1)
    few = rk.online.click_metrics(log, confidence=0.1)
    assert few.interval.high == pytest.approx(
        2 / 3 + math.tan(math.pi * 0.05) * error
    )  # t of 1 degree
    assert (found.confidence, few.confidence, found.users) == (0.95, 0.1, 2)


def test_a_click_rate_has_an_interval_over_users_by_hand() -> None:
    # At rank 1: a has 1 click of 1, b 1 of 3, c 0 of 2; at rank 2 nobody clicks.
    log = pl.DataFrame(
        {
            "impression_id": [1, 2, 3, 4, 5, 6, 1],
            "user_id": ["a", "b", "b", "b", "c", "c", "a"],
            "position": [1, 1, 1, 1, 1, 1, 2],
            "click": [1, 1, 0, 0, 0, 0, 0],
        }
    )
    first, second = rk.online.click_metrics(log).by_position.rows(named=True)

    rate = 2 / 6
    influences = [(1 - rate * 1) / 2, (1 - rate * 3) / 2, (0 - rate * 2) / 2]
    error = math.sqrt(sum(each**2 for each in influences) / 2 / 3)
    far = 4.302652729911275  # of Student's t with 2 degrees, 0.975
    assert first["ctr"] == rate
    assert first["low"] == 0  # as rate - far * error is below it
    assert rate - far * error < 0
    assert first["high"] == pytest.approx(min(rate + far * error, 1))
    assert math.isnan(second["low"])  # one user


def test_a_click_rate_is_told_of_each_variant() -> None:
    rng = np.random.default_rng(0)
    n = 400
    user = rng.integers(0, 90, n)
    log = pl.DataFrame(
        {
            "impression_id": np.arange(n).repeat(2),
            "user_id": user.repeat(2),
            "position": np.tile([1, 2], n),
            "click": rng.integers(0, 2, 2 * n),
            "variant": np.array(["b", "a"])[user % 2].repeat(2),
        }
    )

    found = rk.online.click_metrics(log, confidence=0.8)

    assert found.by_variant is not None
    assert found.by_variant["variant"].to_list() == ["a", "a", "b", "b"]
    for name in "ab":
        alone = rk.online.click_metrics(
            log.filter(variant=name).drop("variant"), confidence=0.8
        )
        rows = found.by_variant.filter(variant=name).drop("variant")
        assert rows.equals(alone.by_position)
    for row in found.by_position.iter_rows(named=True):
        assert row["low"] < row["ctr"] < row["high"]


def test_rows_without_a_variant_count_for_all_only() -> None:
    log = pl.DataFrame(
        {
            "impression_id": [1, 2, 3],
            "user_id": [1, 2, 3],
            "position": [1, 1, 1],
            "click": [1, 0, 1],
            "arm": ["new", None, ""],
        }
    )

    found = rk.online.click_metrics(log)

    assert found.by_position["impressions"].to_list() == [3]
    assert found.by_variant is not None
    assert found.by_variant.row(0)[:4] == ("new", 1, 1, 1)
    assert found.notes == (
        "2 rows have no variant: they count only in the click rates of all rows",
    )
    assert rk.online.click_metrics(log.head(2)).notes == (
        "1 row has no variant: it counts only in the click rates of all rows",
    )


def test_a_variant_does_not_part_a_click_from_its_impression() -> None:
    events = pl.DataFrame(
        {
            "event": ["impression", "click"],
            "impression_id": [1, 1],
            "item_id": ["x", "x"],
            "user_id": [1, 1],
            "position": [1, 1],
            "variant": ["a", None],
        }
    )

    assert rk.online.click_metrics(events).by_position["clicks"].to_list() == [1]


def test_without_users_impressions_are_taken_for_them() -> None:
    log = LOG.with_columns(impression_id=pl.Series([1, 1, 2, 2, 3, 3]))

    found = rk.online.click_metrics(log)

    assert found.users is None
    assert found.notes == (
        "the log has no users: intervals are too narrow if the same users come back",
    )


def test_one_user_gives_no_interval() -> None:
    log = LOG.with_columns(impression_id=pl.Series([1, 1, 2, 2, 3, 3]), user_id=1)

    assert all(map(math.isnan, rk.online.click_metrics(log).interval))


VARIANTS = {
    "lists": pl.Series([[1], [2]]),
    "objects": pl.Series([1, "a"], dtype=pl.Object),
    "parts": pl.Series([0.5, 1.0]),
}


@pytest.mark.parametrize("kind", VARIANTS)
def test_a_column_that_cannot_hold_variants_is_left_out(kind: str) -> None:
    plain = pl.DataFrame(
        {"impression_id": [1, 2], "user_id": [1, 2], "position": 1, "click": [1, 0]}
    )
    log = plain.with_columns(VARIANTS[kind].alias("bucket"))

    found = rk.online.click_metrics(log)

    assert found.by_variant is None
    assert found.by_position.equals(rk.online.click_metrics(plain).by_position)
    (note,) = found.notes
    assert note.startswith("no variants: log")
    with pytest.raises(DataError, match=r"log.* (ids are|mixes)"):
        rk.online.click_metrics(log, columns={"variant": "bucket"})


@pytest.mark.parametrize(
    "variants", [[1.0, 2.0], [True, False], ["a", "b"], [10, 9]], ids=str
)
def test_variants_have_the_names_of_a_summary(variants: list[Any]) -> None:
    log = pl.DataFrame(
        {
            "event": ["impression", "impression"],
            "impression_id": [1, 2],
            "item_id": ["x", "x"],
            "user_id": [1, 2],
            "position": [1, 1],
            "variant": variants,
        }
    )

    rates = rk.online.click_metrics(log).by_variant

    assert rates is not None
    summary = rk.online.summarize(log, ["ctr"], by="variant")
    assert {*rates["variant"]} == {*summary.table["variant"]}


def test_events_without_a_user_are_left_out_and_others_keep_their_rows() -> None:
    log = pl.DataFrame(
        {
            "event": ["impression", "impression", "click", "impression"],
            "user_id": [None, "u", "u", "u"],
            "impression_id": ["r", "s", "s", "t"],
            "item_id": ["a", "a", "a", "b"],
            "position": [1, 1, 1, 2],
        }
    )

    found = rk.online.click_metrics(log)
    assert found.by_position.select("impressions", "clicks").rows() == [(1, 1), (1, 0)]
    assert "1 event without a user left out" in found.notes
    with pytest.raises(DataError, match="log, row 3: 1 item id is missing"):
        rk.online.click_metrics(log.with_columns(item_id=pl.Series([*"aaa", None])))
