"""CUPED: against a regression, as theory says, and its health."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._online.moments import Moments
from rankine.errors import ParameterError
from tests.online.logs import log


def frame_of(n: int = 2000, *, weight: float = 1.0, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    before = rng.normal(5, 1, n)
    views, views_before = 1.0 + rng.poisson(3, n), 1.0 + rng.poisson(3, n)
    liking = rng.beta(1, 4, n)
    return pl.DataFrame(
        {
            "user_id": range(n),
            "arm": rng.choice(["A", "B"], n),
            "before": before,
            "y": weight * before + rng.normal(5, 1, n),
            "views": views,
            "clicks": rng.binomial(views.astype(int), liking).astype(float),
            "views_before": views_before,
            "clicks_before": rng.binomial(views_before.astype(int), liking) + 0.0,
        }
    )


def ab(
    frame: pl.DataFrame, metrics: Any, covariates: Any = None, **options: Any
) -> Any:
    return rk.online.ab_test(
        frame, unit="user_id", variant="arm", control="A", metrics=metrics,
        covariates=covariates, **options,
    )  # fmt: skip


def sides(frame: pl.DataFrame, *names: str) -> list[list[Any]]:
    return [
        [frame.filter(pl.col("arm") == arm)[name].to_numpy() for name in names]
        for arm in "AB"
    ]


def test_a_mean_is_lessened_by_what_was_there_before() -> None:
    frame = frame_of(400)
    row = ab(frame, {"y": "y"}, {"y": "before"}).details.row(0, named=True)
    y, c = frame["y"].to_numpy(), frame["before"].to_numpy()
    theta = np.cov(y, c)[0, 1] / c.var(ddof=1)
    left = frame.with_columns(y=pl.Series(y - theta * (c - c.mean())))
    twin = ab(left, {"y": "y"}).details.row(0, named=True)

    for name in ("control_value", "value", "error", "low", "high", "p", "lift_low"):
        assert row[name] == pytest.approx(twin[name], rel=1e-9), name


def test_a_ratio_is_lessened_through_influences() -> None:
    frame = frame_of(400)
    metrics = {"ctr": ("clicks", "views")}
    test = ab(frame, metrics, {"ctr": ("clicks_before", "views_before")})
    row, health = (own.row(0, named=True) for own in (test.details, test.health))

    def influence(y: Any, x: Any) -> Any:
        return (y - y.mean() / x.mean() * x) / x.mean()

    columns = ("clicks", "views", "clicks_before", "views_before")
    y, x, y0, x0 = (frame[name].to_numpy() for name in columns)
    now, then = influence(y, x), influence(y0, x0)
    theta = np.cov(now, then)[0, 1] / then.var(ddof=1)
    whole = y0.sum() / x0.sum()
    values, errors = [], []
    for y, x, y0, x0 in sides(frame, *columns):
        values.append(y.sum() / x.sum() - theta * (y0.sum() / x0.sum() - whole))
        left = influence(y, x) - theta * influence(y0, x0)
        errors.append(left.var(ddof=1) / len(y))

    assert health["theta"] == pytest.approx(theta)
    assert [row["control_value"], row["value"]] == pytest.approx(values)
    assert row["error"] == pytest.approx(math.sqrt(sum(errors)))


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
def test_variance_is_removed_as_theory_says(weight: float) -> None:
    test = ab(frame_of(20_000, weight=weight), {"y": "y"}, {"y": "before"})
    correlation2 = weight**2 / (weight**2 + 1)

    assert test.health["variance_removed"].item() == pytest.approx(
        correlation2, abs=0.02
    )
    assert test.health["theta"].item() == pytest.approx(weight, abs=0.03)


def test_users_without_a_value_before_have_the_mean_and_are_counted() -> None:
    frame = frame_of(300).with_columns(
        before=pl.when(pl.col("user_id") % 3 == 0).then(None).otherwise("before")
    )
    mean = frame["before"].mean()
    filled = frame.with_columns(pl.col("before").fill_null(mean))
    test = ab(frame, {"y": "y"}, {"y": "before"})
    twin = ab(filled, {"y": "y"}, {"y": "before"})

    for name in ("difference", "error", "p"):
        assert test.details[name].item() == pytest.approx(twin.details[name].item())
    assert "y: 100 users of 300 without a value before the test" in test.notes[0]


def test_nothing_before_changes_nothing() -> None:
    frame = frame_of(300).with_columns(before=pl.lit(3.0))
    with_it, without = ab(frame, {"y": "y"}, {"y": "before"}), ab(frame, {"y": "y"})

    assert with_it.health["theta"].item() == 0
    for name in ("difference", "error", "p"):
        # BLAS may add a product of two rows in another order than that of one.
        expected = pytest.approx(without.details[name].item(), rel=1e-13)
        assert with_it.details[name].item() == expected


def test_arms_that_differed_before_are_warned_of() -> None:
    frame = frame_of().with_columns(
        before=pl.col("before") + (pl.col("arm") == "B").cast(pl.Float64)
    )
    test = ab(frame, {"y": "y"}, {"y": "before"})

    assert "differed from the control before the test" in test.warnings[0]
    assert test.health["difference_before"].item() == pytest.approx(1, abs=0.2)
    assert test.health["p_before"].item() < 1e-6


def test_a_covariate_of_the_wrong_sign_is_warned_of() -> None:
    test = ab(frame_of(weight=-1), {"y": "y"}, {"y": "before"})

    (warning,) = test.warnings
    assert warning == (
        "y: the covariate correlates negatively with the metric; check that it is the "
        "right one"
    )


@pytest.mark.parametrize(("n", "warned"), [(200, False), (300, True)])
def test_a_negative_correlation_is_warned_of_if_it_is_more_than_noise(
    n: int,
    warned: bool,  # noqa: FBT001 - a case
) -> None:
    # In either arm, 6 of 10 users are on the other side of the mean than before, and 4
    # on the same: the correlation is 0.4 - 0.6 = -0.2, and its square 0.04. With 200
    # users, 200 * 0.04 = 8 is less than 10.83, where chi-squared has 0.001 left; with
    # 300 users, 12 is more.
    frame = pl.DataFrame(
        {
            "user_id": range(n), "arm": (["A"] * 10 + ["B"] * 10) * (n // 20),
            "before": [0, 1] * (n // 2), "y": [0, 1, 0, 1, *[1, 0] * 3] * (n // 10),
        }
    )  # fmt: skip
    test = ab(frame, {"y": "y"}, {"y": "before"})

    assert test.health["theta"].item() == pytest.approx(-0.2)
    assert test.health["variance_removed"].item() == pytest.approx(0.04)
    assert [("negatively" in said) for said in test.warnings] == [True] * warned


def test_a_covariate_at_random_is_not_warned_of() -> None:
    for seed in range(20):
        test = ab(frame_of(400, weight=0, seed=seed), {"y": "y"}, {"y": "before"})

        assert test.warnings == ()
        assert "-0.0 %" not in str(test)


def test_a_warning_names_what_it_is_about_and_comes_once() -> None:
    frame = frame_of(1800, weight=-1).with_columns(
        arm=pl.Series([*"ABC"] * 600), land=pl.Series(["at"] * 900 + ["fr"] * 900)
    )
    test = ab(frame, {"y": "y"}, {"y": "before"}, segment="land")

    (warning,) = test.warnings
    assert warning == (
        "y of B, y of B in at, y of B in fr, y of C, y of C in at, y of C in fr: the "
        "covariate correlates negatively with the metric; check that it is the right "
        "one"
    )


@pytest.mark.parametrize(
    ("metric", "covariate"),
    [("y", ("before", "views")), (("clicks", "views"), "before")],
)
def test_a_covariate_is_as_its_metric_is(metric: Any, covariate: Any) -> None:
    with pytest.raises(ParameterError, match="the covariate of m must be"):
        ab(frame_of(10), {"m": metric}, {"m": covariate})


def test_a_quantile_has_no_covariate() -> None:
    with pytest.raises(ParameterError, match="for which CUPED is not defined"):
        ab(frame_of(10), {"m": ("y", 0.5)}, {"m": "before"})


def test_moments_of_parts_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    whole = [rng.normal(3, 2, 100) for _ in range(4)]
    parts = [Moments.of([own[part] for own in whole], len(whole[0][part]))
             for part in (slice(0, 0), slice(0, 37), slice(37, 100))]  # fmt: skip
    merged = parts[0].plus(parts[1]).plus(parts[2])
    covariance = merged.scatter / 99

    np.testing.assert_allclose(merged.mean, np.mean(whole, axis=1))
    np.testing.assert_allclose(covariance, np.cov(whole))


# From events

EVENTS = """
a A 0 impression
a A 1 click
b A 0 impression
c A 0 impression
c A 3 impression
d B 0 impression
d B 1 click
e B 0 impression
e B 2 click
f B 0 impression
"""


def test_events_are_summed_up_per_user() -> None:
    test = rk.online.ab_test(log(EVENTS), control="A", metrics=["ctr"], seed=0)
    users = pl.DataFrame(
        {
            "user": list("abcdef"),
            "arm": list("AAABBB"),
            "clicks": [1, 0, 0, 1, 1, 0],
            "impressions": [1, 1, 2, 1, 1, 1],
        }
    )
    twin = rk.online.ab_test(
        users, unit="user", variant="arm", control="A",
        metrics={"ctr": ("clicks", "impressions")},
    )  # fmt: skip

    assert test.table.equals(twin.table)
    assert test.table["control_value"].item() == 1 / 4
    assert test.table["value"].item() == 2 / 3


BEFORE = """
a - -90 impression
a - -89 click
b - -90 impression
d - -90 impression
e - -90 impression
e - -80 impression
e - -70 click
"""


def test_cuped_uses_what_was_before_the_first_exposure() -> None:
    events = log(BEFORE.strip() + EVENTS)
    test: Any = rk.online.ab_test(events, control="A", metrics=["ctr"], cuped=True)
    users = pl.DataFrame(
        {
            "user": list("abcdef"),
            "arm": list("AAABBB"),
            "clicks": [1, 0, 0, 1, 1, 0],
            "impressions": [1, 1, 2, 1, 1, 1],
            "c0": [1, 0, None, 0, 1, None],
            "i0": [1, 1, None, 1, 2, None],
        }
    )
    twin = rk.online.ab_test(
        users, unit="user", variant="arm", control="A",
        metrics={"ctr": ("clicks", "impressions")}, covariates={"ctr": ("c0", "i0")},
    )  # fmt: skip

    assert test.table.equals(twin.table)
    assert test.health["theta"].item() != 0
    assert any("2 users of 6 without a value before" in note for note in test.notes)


def test_bounces_are_better_when_they_are_fewer() -> None:
    rows = [
        f"u{n} {'AB'[n % 2]} {minute} pageview"
        for n in range(200)
        for minute in ([0, 1] if n % 2 and n % 3 else [0])
    ]
    test = rk.online.ab_test(log("\n".join(rows)), control="A", metrics=["bounce_rate"])

    assert test.table["difference"].item() < 0
    assert test.details["verdict"].item() == "better"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["ctrr"]}, "ctr"),
        ({"metrics": ["ctr"], "covariates": {"ctr": "x"}}, "give cuped=True"),
        ({"metrics": ["ctr"], "control": "Z"}, "no user is in 'Z'"),
    ],
)
def test_what_events_cannot_answer(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rk.online.ab_test(log(EVENTS), **{"control": "A", **options})


def test_shares_that_change_over_time_are_said() -> None:
    rows = []
    for n in range(400):
        day, many = n // 200, n % 200
        arm = "A" if many < (150 if day else 50) else "B"
        rows.append(f"u{n} {arm} {1440 * day} impression")
    test = rk.online.ab_test(log("\n".join(rows)), control="A", metrics=["ctr"])

    assert any("changed from day to day" in said for said in test.warnings)
    assert not any("changed from day to day" in note for note in test.notes)


def test_users_without_a_value_are_said_of_once_for_all_metrics() -> None:
    frame = pl.DataFrame(
        {
            "u": range(8), "arm": [*"AB"] * 4, "y": [1, 2, 3, 4, 5, 6, 7, None],
            "before": [1, None, 3, 4, 2, 6, None, 8],
        }
    )  # fmt: skip
    test = rk.online.ab_test(
        frame, unit="u", variant="arm", control="A", metrics={"p": "y", "q": "y"},
        covariates={"p": "before", "q": "before"},
    )  # fmt: skip

    about = [note for note in test.notes if "without a value" in note]
    assert [note.partition(": ")[0] for note in about] == ["p, q", "p, q"]
    assert about[0].startswith("p, q: 1 user without a value left out; if one arm")
    assert about[1].startswith("p, q: 2 users of 8 without a value before the test")
