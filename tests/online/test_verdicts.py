"""What a test says in words: how far a verdict may be read, and what is undefined."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine._report.of_online import page_of

ONE_LOOK = (
    "the verdict is for a single look: read it only at the planned end of the test, "
    "because the always-valid interval includes 0"
)


def arms(**hits: tuple[int, ...]) -> pl.DataFrame:
    """Return arms of 1,000 users each, of whom so many have a 1."""
    n = len(next(iter(hits.values())))
    columns = {
        name: [float(user < most) for most in each for user in range(1000)]
        for name, each in hits.items()
    }
    variants = [arm for arm in "ABCD"[:n] for _ in range(1000)]
    return pl.DataFrame({"user_id": range(1000 * n), "variant": variants, **columns})


def ab(users: pl.DataFrame, *metrics: str, **options: Any) -> Any:
    given = {"unit": "user_id", "variant": "variant", "control": "A", **options}
    named = {name: name for name in metrics}
    return rk.online.ab_test(users, metrics=named, correction="none", **given)


def drawings(test: Any) -> dict[str, str]:
    text = " ".join(str(test).split())  # sentences are wrapped
    report = page_of(test, None, None, ()).text()
    return {
        "text": text,
        "notebook": test._repr_html_(),
        "report": report,
        "markdown": test.to_markdown(),
    }


# How far a verdict may be read


@pytest.mark.slow
def test_a_verdict_of_one_look_says_so_once() -> None:
    # Of 1,000 users each, 100 and 130: the variances of a share p are p (1 - p) 1000 /
    # 999, so that z = 0.03 / sqrt((0.09 + 0.1131) / 999) = 2.10, beyond 1.96.
    users = arms(few=(100, 130), many=(100, 200), same=(100, 101), waits=(100, 130))

    test = ab(users, "few", "many", "same", "waits", better={"waits": "lower"})

    rows = {row["metric"]: row for row in test.details.iter_rows(named=True)}
    error = math.sqrt((0.1 * 0.9 + 0.13 * 0.87) / 999)
    assert rows["few"]["error"] == pytest.approx(error, rel=1e-12)
    assert [row["verdict"] for row in rows.values()] == [
        "better", "better", "cannot tell", "worse",
    ]  # fmt: skip
    # That holds at every look, beyond 3.9 errors at 2,000 users and expected 10,000.
    assert rows["few"]["always_low"] < 0 < rows["few"]["low"]
    assert rows["many"]["always_low"] > 0
    for where, drawn in drawings(test).items():
        assert drawn.count(f"few, waits: {ONE_LOOK}") == 1, where
        assert drawn.count(ONE_LOOK) == 1, where


@pytest.mark.parametrize(
    ("hits", "better", "margin", "reach"),
    [
        ((500, 520), "higher", "10%", "10 %"),
        ((500, 480), "lower", 0.05, "0.05"),
        ((500, 520), "higher", 0.2, None),
    ],
)
def test_not_worse_of_one_look_says_so(
    hits: tuple[int, int], better: str, margin: Any, reach: str | None
) -> None:
    # A difference of 0.02 with an error of sqrt(2 x 0.25 / 999) = 0.0224 is 0.07 from
    # the margin of 0.05, 3.1 errors; the interval that holds at every look has 3.9 of
    # them on each side, to -0.067, which is beyond 0.05 and within 0.2.
    test = ab(arms(kept=hits), "kept", better={"kept": better}, margin={"kept": margin})

    (row,) = test.details.iter_rows(named=True)
    assert row["verdict"] == "not worse"
    assert row["always_low"] < 0 < row["always_high"]
    sentence = (
        "kept: the verdict is for a single look: read it only at the planned end of "
        "the test, because the always-valid interval reaches beyond the margin of "
        f"{reach}"
    )
    for where, drawn in drawings(test).items():
        assert ("is for a single look" in drawn) == bool(reach), where
        assert drawn.count(sentence) == bool(reach), where


@pytest.mark.slow
@pytest.mark.parametrize(
    "hits",
    [(100, 200), (100, 101), (5, 40)],
    ids=["excludes 0", "cannot tell", "too few for an interval"],
)
def test_other_verdicts_say_nothing_of_it(hits: tuple[int, ...]) -> None:
    test = ab(arms(y=hits), "y")

    assert all(ONE_LOOK not in drawn for drawn in drawings(test).values())


def test_a_variant_and_a_segment_are_named() -> None:
    users = arms(y=(100, 130, 100)).with_columns(land=pl.lit("at"))

    test = ab(users, "y", segment="land")

    assert f"y of B, y of B in at: {ONE_LOOK}" in test.to_markdown()


def test_a_difference_that_is_neither_better_nor_worse_says_so_too() -> None:
    rows = [
        (f"{arm}{user}", arm, "pageview", t, f"{arm}{user}")
        for arm, long in (("A", 100), ("B", 130))
        for user in range(1000)
        for t in (0, 1 + (user < long))
    ]
    names = ("user_id", "variant", "event", "timestamp", "session_id")
    log = pl.DataFrame(rows, names, orient="row")

    test = rk.online.ab_test(log, control="A", metrics=["time_on_page"])

    # Seconds on the first page, which are 1 or 2: as above, and 1 more.
    (row,) = test.details.iter_rows(named=True)
    assert row["value"] == pytest.approx(1.13, rel=1e-12)
    assert row["verdict"] == "larger"
    assert f"time_on_page: {ONE_LOOK}" in test.to_markdown()


# What was left out


def test_a_notebook_shows_what_was_left_out() -> None:
    rows = [
        (user, arm, "impression")
        for user, arm in [(1, "A"), (2, "A"), (3, "B"), (4, "B"), (5, "A"), (5, "B")]
    ]
    log = pl.DataFrame(rows, ("user_id", "variant", "event"), orient="row")
    test = rk.online.ab_test(log, control="A", metrics=["ctr"], duplicates="keep")

    # The fifth user saw both variants, in an event each.
    for left in (
        "1 user in more than one variant left out",
        "2 events of users in more than one variant left out",
    ):
        assert f"- {left}" in str(test)
        assert f"<li>{left}</li>" in test._repr_html_()


def test_a_notebook_warns_of_arms_of_other_sizes() -> None:
    users = arms(y=(100, 100)).filter(pl.col("user_id") < 1500)

    test = ab(users, "y")

    assert test.srm.mismatch
    (said,) = test.srm.warnings
    assert f"<li>{escape(said)}</li>" in test._repr_html_()


# What is undefined


@pytest.mark.parametrize(
    ("given", "cost", "why"),
    [
        ("roi", 0.0, "cost is 0"),
        ("roi", -1.0, "cost is below 0"),
        (("orders", "cost"), 0.0, "cost is 0"),
        (("orders", "cost"), -1.0, "cost is below 0"),
        (("orders", "seconds_on_page"), 0.0, "seconds_on_page is 0"),
        (("orders", "clicks"), 0.0, "there are no clicks"),
        ("ctr", 0.0, "there are no impressions"),
    ],
)
def test_what_is_undefined_names_its_own_denominator(
    given: Any, cost: float, why: str
) -> None:
    log = pl.DataFrame(
        {
            "user_id": [1, 2, 2],
            "timestamp": [0, 0, 1],
            "event": ["conversion", "impression", "click"],
            "value": [2.0, 0.0, 0.0],
            "cost": [cost, 1.0, 0.0],
            "land": ["at", "fr", "fr"],
        }
    )

    found = rk.online.summarize(log, {"m": given}, by="land")

    assert f"m is undefined: {why} (at)" in found.notes
