"""A comparison that can reach no verdict says so, and what would help."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk

WAYS = [
    *(("randomization", name) for name in ("holm", "bonferroni", "bh", "maxt", "none")),
    *(("bootstrap", name) for name in ("holm", "bonferroni", "bh", "none")),
    *(("randomized_tukey_hsd", name) for name in ("holm", "none")),
]
HOPELESS = "cannot find a difference"


def clear(n_systems: int, n_queries: int, **options: Any) -> rk.Comparison:
    """Compare systems of which each is better than the one before, on every query."""
    noise = np.random.default_rng(0).normal(0, 0.01, (n_systems, n_queries))
    columns = {f"s{row}": row + values for row, values in enumerate(noise)}
    queries = [f"q{place}" for place in range(n_queries)]
    return rk.compare_values(pl.DataFrame({"query": queries, **columns}), **options)


def told(comparison: rk.Comparison) -> bool:
    return {*comparison.pairwise["verdict"]} != {"cannot tell"}


def said(comparison: rk.Comparison) -> list[str]:
    return [text for text in comparison.warnings if HOPELESS in text]


@pytest.mark.slow
@pytest.mark.parametrize(("test", "correction"), WAYS)
@pytest.mark.parametrize("draws", [18, 19, 118, 119])
def test_it_is_said_just_where_the_clearest_data_have_no_verdict(
    test: str, correction: str, draws: int
) -> None:
    comparison = clear(4, 30, test=test, correction=correction, draws=draws)

    assert bool(said(comparison)) == (not told(comparison))


@pytest.mark.parametrize("n_queries", [1, 5, 6, 7, 8])
@pytest.mark.parametrize("correction", ["holm", "none"])
def test_few_queries_are_too_few_whatever_the_draws(
    n_queries: int, correction: str
) -> None:
    comparison = clear(3, n_queries, correction=correction, draws=100_000)

    assert bool(said(comparison)) == (not told(comparison))


@pytest.mark.slow
def test_the_draws_that_are_named_are_enough_and_half_are_not() -> None:
    comparison = clear(40, 30, draws=500)

    # 40 x 39 / 2 pairs, of which the surest is multiplied by their number.
    draws = round(780 / 0.05)
    (text,) = said(comparison)
    assert text == (
        f"value: randomization with 500 draws cannot find a difference: the smallest "
        f"p is {1 / 501:.4f}, and holm corrects for 780 pairs; use draws={draws} or "
        "more"
    )
    assert not told(comparison)
    assert told(clear(40, 30, draws=draws))
    assert said(clear(40, 30, draws=draws // 2))


def test_queries_that_are_too_few_are_counted() -> None:
    (text,) = clear(2, 5).warnings

    # All five flips of one sign, or of the other, out of 2^5.
    assert text == (
        "value: randomization cannot find a difference if only 5 queries differ: the "
        f"smallest p is {2 / 2**5:.4f}"
    )
    assert clear(2, 6).warnings == (
        "with 6 queries, only large differences can be distinguished from chance",
    )


def test_systems_that_are_the_same_are_not_said_to_be_hopeless() -> None:
    same = [0.5] * 30
    frame = pl.DataFrame({"query": range(30), "x": same, "y": same})

    assert rk.compare_values(frame).warnings == ()


def test_tests_without_draws_can_tell() -> None:
    comparison = clear(40, 30, test="t", draws=1)

    assert told(comparison)
    assert said(comparison) == []


def test_metrics_with_the_same_reason_share_a_sentence() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(5)}
    runs = {"old": {q: ["x", "a"] for q in qrels}, "new": {q: ["a"] for q in qrels}}

    (text,) = rk.compare(qrels, runs, ["RR", "nDCG"]).warnings

    assert text.startswith("RR, nDCG: randomization cannot find a difference if only 5")
