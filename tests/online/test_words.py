"""The words of tests: undefined is said, small p-values are bounded, one line each."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine.errors import ParameterError


def users(n: int = 200, share: float = 0.5) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "u": range(n),
            "arm": np.where(np.arange(n) < share * n, "A", "B"),
            "y": rng.normal(0, 1, n),
            "x": rng.normal(0, 1, n),
            "same": [0.1] * n,
        }
    )


def ab(frame: pl.DataFrame, metrics: Any, **options: Any) -> Any:
    return rk.online.ab_test(
        frame, unit="u", variant="arm", control="A", metrics=metrics, **options
    )


@pytest.mark.parametrize(
    ("correction", "said"),
    [
        ("holm", "p corrected by Holm's method;"),
        ("bonferroni", "p corrected by Bonferroni's method;"),
        ("bh", "p corrected by Benjamini and Hochberg's method;"),
        ("none", "p not corrected;"),
    ],
)
def test_corrections_have_names(correction: str, said: str) -> None:
    text = " ".join(str(ab(users(), {"y": "y"}, correction=correction)).split())

    assert said in text


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        ({"y": 1}, "p corrected by Holm's method (those of guardrails are not);"),
        ({"y": 1, "x": 1}, "p not corrected;"),
    ],
)
def test_p_values_of_guardrails_are_not_said_to_be_corrected(
    margin: dict[str, float], said: str
) -> None:
    test = ab(users(), {"y": "y", "x": "x"}, margin=margin)

    assert said in " ".join(str(test).split())


def test_small_p_values_are_bounded() -> None:
    (said,) = ab(users(5000, 0.2), {"y": "y"}).warnings

    assert "(p < 0.0001)" in said


def test_cuped_of_no_metric_is_refused_and_of_some_is_noted() -> None:
    events = rk.online.generate(60, days=3, seed=1, before=True).events

    def cuped(metrics: Any) -> Any:
        return rk.online.ab_test(events, control="A", metrics=metrics, cuped=True)

    for metrics in (["retention_1"], {"p90": ("events", 0.9)}):
        with pytest.raises(ParameterError, match="cuped cannot be applied to"):
            cuped(metrics)
    said = "retention_1: without CUPED, as retention and quantiles have no value"
    assert any(note.startswith(said) for note in cuped(["ctr", "retention_1"]).notes)
    assert not any("without CUPED" in note for note in cuped(["ctr"]).notes)


def test_cuped_is_said_of_the_metrics_that_have_it() -> None:
    metrics, before = {"y": "y", "x": "x"}, {"y": "x"}
    some = " ".join(str(ab(users(), metrics, covariates=before)).split())
    every = " ".join(str(ab(users(), {"y": "y"}, covariates=before)).split())

    assert "Welch's t over users (y with CUPED), lifts" in some
    assert "Welch's t over users with CUPED, lifts" in every
    assert "CUPED" not in str(ab(users(), metrics))


def test_a_variance_that_is_not_there_cannot_be_removed() -> None:
    text = str(ab(users(), {"y": "same"}, covariates={"y": "x"}))

    assert "nan" not in text
    assert "the share of the variance removed is undefined" in " ".join(text.split())


def preference(*clicks: tuple[int, int]) -> str:
    rows = [
        (place, f"u{place}", team, n)
        for place, both in enumerate(clicks)
        for team, n in zip("ab", both, strict=True)
    ]
    names = ["impression_id", "user_id", "team", "click"]
    return str(rk.online.interleaving_test(pl.DataFrame(rows, names, orient="row")))


def test_a_preference_in_words() -> None:
    lines = preference((1, 0), (0, 1), (0, 1)).splitlines()

    assert lines[1].startswith("2 of 3 users prefer b, 1 prefers a: sign test p 1.0000")
    assert lines[2] == "3 of 3 impressions with a preference"


def test_no_preference_in_words() -> None:
    lines = preference((0, 0), (1, 1)).splitlines()

    assert lines[0] == "preference for b over a: undefined, p undefined"
    assert "nan" not in "".join(lines)
    assert preference((0, 1), (0, 1)).startswith(
        "preference for b over a: +1.0000, p undefined"
    )


def test_one_line_for_each_result() -> None:
    log = pl.DataFrame(
        {"query_id": ["q", "q"], "item_id": ["x", "y"], "position": [1, 2], "click": 1}
    )

    test = ab(users(), {"y": "y", "x": "x"})
    judged = rk.online.judgments_from_clicks(log)

    assert repr(test) == "ABTest(y, x; B against A; 200 users)"
    assert repr(judged) == "ClickJudgements(coec; 2 items of 1 query)"
