"""What every loss of predictions promises. The registry says which there are.

Where a promise does not hold for a loss by its definition, it is listed with the
reason, and the test asserts that it indeed does not hold: the lists are exhaustive.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankine as rk
from rankine._evaluate.predictions.losses import LOSSES
from rankine.errors import DataError, ParameterError
from tests.contracts import DOCS, check_docstring, sections
from tests.tensors import Tensor

NAMES = list(LOSSES)
SEEDS = range(10)
every_loss = pytest.mark.parametrize("name", NAMES)


def loss_of(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(rk, name)
    return found


def options_of(name: str) -> dict[str, Any]:
    return {
        parameter.name: parameter.default
        for parameter in inspect.signature(loss_of(name)).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }


def columns(
    seed: int, n: int = 200
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Make what happened and probabilities of it, of which some are 0 and 1."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    p = rng.choice([0.0, 1.0, 0.5, *rng.random(20)], n)
    return y.astype(np.float64), p


OTHERS: dict[str, tuple[Any, ...]] = {
    "eps": (1e-3,),
    "baseline": (0.2, 0.9),
    "bins": (3, 50),
    "by": ("count",),
}
"""Option -> values that are not the usual one."""
WRONG: dict[str, tuple[Any, ...]] = {
    "eps": (0, 0.5, -1, math.nan, "1"),
    "baseline": (0, 1, -0.5, math.nan, "0.5"),
    "bins": (0, 2.5, "10", True, 10**6),
    "by": ("nosuch", None, 1),
}


def choices(name: str) -> list[dict[str, Any]]:
    options = options_of(name)
    return [{}, *({key: value} for key in options for value in OTHERS[key])]


# Names and options


@every_loss
def test_a_name_is_that_of_a_public_function(name: str) -> None:
    assert LOSSES[name].name == name
    assert loss_of(name).__name__ == name
    assert name in rk.__all__


@every_loss
def test_batches_take_the_name_and_the_function(name: str) -> None:
    y, p = columns(0)
    wanted = loss_of(name)(y, p)
    by_name: Any = name

    assert rk.Accumulator(by_name).update(y, p).result() == wanted
    assert rk.Accumulator(loss_of(name)).update(y, p).result() == wanted
    assert rk.Accumulator([loss_of(name)]).update(y, p).result() == {name: wanted}


@every_loss
def test_options_are_checked_before_data_are_read(name: str) -> None:
    for option in options_of(name):
        for value in WRONG[option]:
            with pytest.raises(ParameterError, match=option):
                loss_of(name)("no column", "no column", **{option: value})


@every_loss
def test_an_unknown_option_is_an_error(name: str) -> None:
    by_name: Any = name

    with pytest.raises(TypeError, match="nosuch"):
        loss_of(name)([1], [1], nosuch=1)
    with pytest.raises(ParameterError, match="has no option 'nosuch'"):
        rk.Accumulator(by_name, nosuch=1)


@every_loss
def test_every_option_has_an_effect(name: str) -> None:
    for options in choices(name)[1:]:
        y, p = columns(1)
        one, other = loss_of(name)(y, p), loss_of(name)(y, p, **options)

        assert other != one, options


@every_loss
def test_a_choice_that_needs_all_rows_is_refused_in_batches(name: str) -> None:
    across = {
        (choice.parameter, value)
        for choice in LOSSES[name].across
        for value in choice.values  # noqa: PD011 - no frame
    }
    for options in choices(name):
        by_name: Any = name
        if across & set(options.items()):
            with pytest.raises(ParameterError, match="which one batch does not have"):
                rk.Accumulator(by_name, **options)
        else:
            rk.Accumulator(by_name, **options)


# Values


@every_loss
def test_values_are_within_bounds(name: str) -> None:
    low, high = LOSSES[name].bounds
    for seed in SEEDS:
        for options in choices(name):
            found = loss_of(name)(*columns(seed), **options)

            assert low <= found <= high, options


@every_loss
def test_bounds_are_as_narrow_as_can_be(name: str) -> None:
    """What is without bounds goes beyond 1 or below 0 somewhere; the rest does not."""
    low, high = LOSSES[name].bounds
    rows: list[tuple[list[float], list[float]]] = [
        ([1, 0, 1], [0.0, 1.0, 0.5]),
        ([1, 0, 1], [1.0, 0.0, 1.0]),
    ]
    if name in RATINGS:
        rows.append(([1, 5], [5.0, 1.0]))
    found = [float(loss_of(name)(y, p)) for y, p in rows]

    assert (max(found) > 1) == (high > 1)
    assert (min(found) < 0) == (low < 0)


# Errors of 2 and -2, as those of always predicting the mean.
RATINGS = {"rmse": 2, "mae": 2, "r_squared": 0, "explained_variance": 0}
"""Losses of any numbers, not of probabilities."""


@every_loss
def test_probabilities_are_asked_for(name: str) -> None:
    if name in RATINGS:
        assert loss_of(name)([1, 5], [3, 3]) == RATINGS[name]
    else:
        with pytest.raises(DataError, match="between 0 and 1"):
            loss_of(name)([1, 0], [1.5, 0])


@every_loss
def test_what_was_right_is_better_than_what_was_wrong(name: str) -> None:
    y = np.array([1.0, 0, 1, 0, 1, 1])
    right, wrong = loss_of(name)(y, y), loss_of(name)(y, 1 - y)

    assert (right > wrong) == LOSSES[name].higher_is_better
    assert right != wrong


@every_loss
def test_a_perfect_prediction_reaches_the_best_value(name: str) -> None:
    low, high = LOSSES[name].bounds
    best = high if LOSSES[name].higher_is_better else low
    y = np.array([1.0, 0, 1, 0])

    assert loss_of(name)(y, y) == pytest.approx(best, abs=1e-14)


@every_loss
def test_there_is_no_value_only_where_that_is_documented(name: str) -> None:
    """If all that happened is the same, a baseline of the mean rate is never wrong."""
    same = loss_of(name)([1, 1], [0.5, 0.8])
    returns = " ".join(sections(loss_of(name))["Returns"].split())

    assert math.isnan(same) == bool(LOSSES[name].undefined)
    told = "nan" in returns
    assert told == bool(LOSSES[name].undefined)
    for seed in SEEDS:
        assert math.isfinite(loss_of(name)(*columns(seed)))


@every_loss
def test_no_rows_are_refused(name: str) -> None:
    with pytest.raises(DataError, match="there are no rows"):
        loss_of(name)([], [])


# Data


@every_loss
def test_no_loss_changes_its_columns(name: str) -> None:
    y, p = columns(2)
    y.flags.writeable = p.flags.writeable = False
    before = y.copy(), p.copy()
    first, second = loss_of(name)(y, p), loss_of(name)(y, p)

    assert first == second
    np.testing.assert_array_equal(y, before[0])
    np.testing.assert_array_equal(p, before[1])


@every_loss
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    for seed in SEEDS:
        y, p = columns(seed)
        order = np.random.default_rng(seed).permutation(len(y))
        for options in choices(name):
            mixed = loss_of(name)(y[order], p[order], **options)

            assert mixed == loss_of(name)(y, p, **options)


@every_loss
def test_the_form_of_the_columns_does_not_matter(name: str) -> None:
    y, p = columns(3)
    wanted = loss_of(name)(y, p)
    forms: list[Callable[[Any], Any]] = [
        list, tuple, pl.Series, pd.Series, pa.array, lambda column: column[::-1][::-1],
        lambda column: np.reshape(column, (-1, 1)), Tensor,
        lambda column: Tensor(np.reshape(column, (-1, 1))),
    ]  # fmt: skip

    for form in forms:
        assert loss_of(name)(form(y), form(p)) == wanted


@every_loss
def test_what_is_no_column_of_numbers_is_refused_in_our_words(name: str) -> None:
    y, p = columns(3)
    odd: dict[str, Any] = {
        "column of numbers": [Tensor(value) for value in p],
        "is on cuda:0": Tensor(p, device="cuda:0"),
        "complex numbers": Tensor(p + 0j),
    }
    for said, column in odd.items():
        with pytest.raises(DataError, match=said):
            loss_of(name)(y, column)


@every_loss
def test_the_number_of_rows_comes_with_it(name: str) -> None:
    y, p = columns(4)

    assert loss_of(name)(y, p).n == len(y)


# Documentation

NO_PAPER = {"rmse", "mae", "normalized_cross_entropy"}
"""Losses that need no reference."""


@every_loss
def test_it_is_documented(name: str) -> None:
    optional = ("References",) if name in NO_PAPER else ()
    check_docstring(
        loss_of(name), inspect.signature(loss_of(name)).parameters, *optional
    )

    assert (
        f"::: rankine._evaluate.predictions.predictions.{name}\n"
        in (DOCS / "api" / "predictions.md").read_text()
    )
    assert f"rk.{name}" in (DOCS / "probability.md").read_text()
