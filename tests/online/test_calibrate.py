"""A/A tests of one's own users, and how many users a test needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import rankine as rk
from rankine._online import calibrate as home
from rankine._online.effects import Effect
from rankine._online.measures import Measure
from rankine._online.quantiles import QuantileEffect
from rankine._online.spreads import wilson
from rankine.errors import DataError, ParameterError
from tests.online.logs import log


def frame_of(n: int = 400, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    views = 1.0 + rng.poisson(3, n)
    clicks = rng.binomial(views.astype(int), rng.beta(1, 4, n)) + 0.0
    before = rng.gamma(2, 2, n)
    return pl.DataFrame(
        {
            "id": range(n), "views": views, "clicks": clicks, "before": before,
            "spent": before + rng.gamma(1, 10, n),
        }
    )  # fmt: skip


def halves(n: int, height: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 256, (n, -(-height // 8)), np.uint8)
    return np.unpackbits(bits, axis=1, count=height).astype(bool)


@pytest.mark.parametrize(
    ("metric", "covariate"), [("spent", None), (("clicks", "views"), None),
                              ("spent", "before")]
)  # fmt: skip
def test_every_split_is_an_ab_test(metric: Any, covariate: Any) -> None:
    frame = frame_of(61)
    y, x = metric if isinstance(metric, tuple) else (metric, None)
    measure = Measure("m", y, x, None if covariate is None else (covariate, None))
    columns = {name: frame[name].to_numpy() for name in measure.columns}
    found = np.concatenate([*home.p_values(measure, columns, 20, 3)])
    for split, p in zip(halves(20, 61, 3), found, strict=True):
        arms = pl.Series("arm", np.where(split, "A", "B"))
        twin = rk.online.ab_test(
            frame.with_columns(arms), unit="id", variant="arm", control="A",
            metrics={"m": metric},
            covariates=None if covariate is None else {"m": covariate},
        )  # fmt: skip
        assert p == pytest.approx(twin.table["p"].item(), rel=1e-9)


def test_blocks_do_not_change_the_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = {"s": "spent", "ctr": ("clicks", "views")}
    whole = rk.online.calibrate(frame_of(), metrics, n=50, unit="id").table
    monkeypatch.setattr(home, "_BLOCK", 1000)

    assert rk.online.calibrate(frame_of(), metrics, n=50, unit="id").table.equals(whole)


def test_a_right_test_errs_as_often_as_it_says() -> None:
    found = rk.online.calibrate(
        frame_of(), {"s": "spent", "ctr": ("clicks", "views")}, n=2000, unit="id"
    )

    assert all(low < 0.05 for low in found.table["low"])
    assert all(high > 0.05 for high in found.table["high"])
    assert str(found).count(", expected 5.0 %: OK") == 2
    assert found.to_dict()["metrics"][0]["n"] == 2000


def test_winsorizing_changes_how_often_a_test_of_an_outlier_errs() -> None:
    # One user in 400 spends 10^6: in each split the arms differ by what that user has,
    # and the error is about as large, so that t is near 1 and the test never rejects.
    # The quantile 0.99 is what the 396th user spends, and the outlier counts no more.
    frame = frame_of().with_columns(
        spent=pl.when(pl.col("id") == 0).then(1e6).otherwise("spent")
    )
    asked: dict[str, Any] = {"metrics": {"s": "spent"}, "n": 1000, "unit": "id"}
    plain = rk.online.calibrate(frame, **asked)
    capped = rk.online.calibrate(frame, **asked, winsorize=0.99)

    assert plain.table["false_alarms"].item() == 0
    assert capped.table["low"].item() < 0.05 < capped.table["high"].item()
    (note,) = capped.notes
    assert note.startswith("s: winsorizing at 0.99 cuts values above ")
    assert note.endswith(", of 4 users")  # 400 - 396


def test_a_winsorized_split_is_a_winsorized_ab_test() -> None:
    frame = frame_of(61)
    (found,) = rk.online.calibrate(
        frame, {"r": ("clicks", "views")}, 1, unit="id", winsorize=0.8, seed=3
    ).table["false_alarms"]
    (split,) = halves(1, 61, 3)
    twin = rk.online.ab_test(
        frame.with_columns(pl.Series("arm", np.where(split, "A", "B"))), unit="id",
        variant="arm", control="A", metrics={"r": ("clicks", "views")}, winsorize=0.8,
    )  # fmt: skip
    p = twin.table["p"].item()

    assert found == (p <= 0.05)
    columns = {name: frame[name].to_numpy() for name in ("clicks", "views")}
    measure = Measure("r", "clicks", "views").winsorized(columns, 0.8)
    (again,) = next(iter(home.p_values(measure, columns, 1, 3)))
    assert again == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("share", [0.5, 1, True, "0.9"])
def test_a_share_to_winsorize_at_is_above_a_half(share: Any) -> None:
    with pytest.raises(ParameterError, match="winsorize must be a number"):
        rk.online.calibrate(frame_of(), {"s": "spent"}, unit="id", winsorize=share)


def test_a_test_that_errs_too_often_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    p = Effect.p
    monkeypatch.setattr(Effect, "p", lambda own: p(own) / 2)
    found = rk.online.calibrate(frame_of(), {"s": "spent"}, unit="id")

    assert "too many" in str(found)


def test_tied_users_are_why_a_quantile_has_few_false_alarms() -> None:
    # 60 of 100 users have the median, and nearly every half has it too.
    frame = pl.DataFrame({"id": range(100), "y": [1] * 20 + [2] * 60 + [3] * 20})
    found = rk.online.calibrate(frame, {"m": ("y", 0.5)}, n=200, unit="id")

    assert found.tied == {"m": 0.6}
    assert found.to_dict()["tied"] == {"m": 0.6}
    # Wilson's upper bound for 0 of 200: 1.96^2 / (200 + 1.96^2) = 1.9 %.
    assert str(found) == (
        "m: 0.0 % false alarms in 200 A/A tests (0.0 % to 1.9 %), expected 5.0 %: OK, "
        "fewer because 60.0 % of users are tied at the quantile"
    )


def test_too_few_false_alarms_are_a_fault_where_nobody_is_tied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(QuantileEffect, "p", lambda _: np.array(1.0))
    frame = pl.DataFrame({"id": range(100), "y": range(100)})
    found = rk.online.calibrate(frame, {"m": ("y", 0.5)}, n=200, unit="id")

    assert found.tied == {}
    assert str(found).endswith("expected 5.0 %: too few")


def test_wilsons_interval_is_that_of_scipy() -> None:
    for happened, n in ((0, 10), (3, 50), (50, 50)):
        twin = stats.binomtest(happened, n).proportion_ci(method="wilson")
        low, high = wilson(happened, n, 0.95)
        assert (low, high) == pytest.approx((twin.low, twin.high), abs=1e-12)


EVENTS = "\n".join(
    f"u{n} {'AB'[n % 2]} {minute} {kind}"
    for n in range(40)
    for minute, kind in (
        (0, "impression"),
        (1, "click" if n % 5 == 0 else "impression"),
    )
)


def test_events_are_split_by_user() -> None:
    found = rk.online.calibrate(log(EVENTS), ["ctr"], n=100)

    assert found.users == 40
    assert found.table["n"].item() == 100


def test_what_cannot_be_calibrated() -> None:
    with pytest.raises(DataError, match="3 users cannot be split"):
        rk.online.calibrate(frame_of(3), {"m": "spent"}, unit="id")
    with pytest.raises(ParameterError, match="n must be an integer of at least 1"):
        rk.online.calibrate(frame_of(9), {"m": "spent"}, n=0, unit="id")


# How many users


def test_users_needed_are_as_the_textbook_has_them() -> None:
    frame = frame_of(5000)
    (found,) = rk.online.users_needed(
        frame, effect=0.5, power=0.9, metrics={"s": "spent"}, unit="id"
    )
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.9)
    variance = frame["spent"].to_numpy().var(ddof=1)

    assert found.users == pytest.approx(4 * variance * z**2 / 0.25, rel=1e-3)
    assert found.value == pytest.approx(frame["spent"].mean())


def test_uneven_arms_need_more() -> None:
    even, uneven = (
        rk.online.users_needed(
            frame_of(), effect="5%", metrics={"s": "spent"}, unit="id", share=share
        )[0].users
        for share in (0.5, 0.1)
    )
    # 1 / 0.1 + 1 / 0.9 = 100 / 9 instead of 4.
    assert uneven == pytest.approx(100 / 36 * (even or 0), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("covariates", [None, {"s": "before"}])
def test_with_as_many_users_as_needed_the_power_is_reached(covariates: Any) -> None:
    def test_of(n: int, effect: float, seed: int) -> Any:
        frame = frame_of(n, seed).with_columns(
            arm=pl.when(pl.col("id") % 2 == 0).then(pl.lit("A")).otherwise(pl.lit("B"))
        )
        moved = pl.col("spent") + effect * (pl.col("arm") == "B")
        return rk.online.ab_test(
            frame.with_columns(moved.alias("spent")), unit="id", variant="arm",
            control="A", metrics={"s": "spent"}, covariates=covariates,
        )  # fmt: skip

    needed = rk.online.users_needed(test_of(4000, 0, 99), effect=3)[0].users
    hits = sum(
        test_of(needed or 0, 3, seed).table["p"].item() <= 0.05 for seed in range(300)
    )
    # 80 % with a standard error of 2.3 %.
    assert hits / 300 == pytest.approx(0.8, abs=0.07)


def test_effects_by_metric_and_from_events() -> None:
    found = rk.online.users_needed(log(EVENTS), effect={"ctr": "10%"}, metrics=["ctr"])

    assert [own.metric for own in found] == ["ctr"]
    assert found[0].effect == pytest.approx(0.1 * found[0].value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effect": 0}, "the effect of s must be a number above 0"),
        ({"effect": {"t": 1}}, "effect names a metric 't'"),
        ({"effect": 1, "power": 1}, "power must be a number above 0 and below 1"),
    ],
)
def test_what_cannot_be_asked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        rk.online.users_needed(frame_of(), metrics={"s": "spent"}, unit="id", **options)


def test_what_does_not_vary_needs_nobody() -> None:
    frame = frame_of().with_columns(spent=pl.lit(1.0))
    (found,) = rk.online.users_needed(
        frame, effect=1, metrics={"s": "spent"}, unit="id"
    )

    assert found.users is None
