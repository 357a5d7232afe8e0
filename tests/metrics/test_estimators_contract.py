"""What every estimator of a log promises. The registry says which there are.

Where a promise does not hold for an estimator by its definition, it is listed with the
reason, and the test asserts that it indeed does not hold: the lists are exhaustive.
"""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._evaluate.logs.question import Question
from rankine._metrics.estimators import ESTIMATORS
from rankine.cli.ctr import command
from rankine.errors import DataError, ParameterError
from tests.contracts import DOCS, check_docstring, frozen, sections

if TYPE_CHECKING:
    from rankine._join.rounds import Rounds

NAMES = list(ESTIMATORS)
SEEDS = range(8)
every_estimator = pytest.mark.parametrize("name", NAMES)


def log_of(seed: int, n: int = 60) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Make rounds of users who come again, and what is recommended to each."""
    rng = np.random.default_rng(seed)
    logged = pl.DataFrame(
        {
            "user_id": rng.integers(0, 12, n),
            "item_id": rng.integers(0, 4, n),
            "click": rng.integers(0, 2, n),
            "propensity": rng.choice([0.05, 0.2, 0.25, 0.5, 1.0], n),
        }
    )
    recommended = pl.DataFrame(
        [
            (user, item)
            for user in range(12)
            for item in rng.permutation(4)[:2].tolist()
        ],
        schema=["user_id", "item_id"],
        orient="row",
    )
    predicted = rng.random(recommended.height)
    return logged, recommended.with_columns(predicted=predicted)


def ctr(name: str, number: int, **options: Any) -> rk.Estimate:
    return rk.ctr(*log_of(number), name, **options)


def rounds_of(seed: int) -> Rounds:
    return Question(NAMES).rounds(*log_of(seed))


# Names and parameters


@every_estimator
def test_a_name_is_taken_and_printed(name: str) -> None:
    found = ctr(name, 0)

    assert ESTIMATORS[name].name == name
    assert found.estimator == name
    assert str(found).startswith(f"{name}: ")
    assert found.to_dict()["estimator"] == name
    assert list(rk.ctr(*log_of(0), [name])) == [name]


@every_estimator
def test_a_name_with_a_slip_is_told_the_nearest(name: str) -> None:
    with pytest.raises(ParameterError, match=f"did you mean '{name}'"):
        rk.ctr("no such file", "no such file", name.upper())


WRONG: list[dict[str, Any]] = [
    {"k": 0}, {"k": 1.5}, {"clip": 0}, {"clip": math.nan}, {"clip": "5"},
    {"threshold": 0}, {"threshold": -1}, {"shrinkage": 0}, {"shrinkage": math.inf},
    {"convention": "nosuch"}, {"n": "nosuch"}, {"missing_propensity": "nosuch"},
    {"any_reward": 1}, {"columns": 1}, {"confidence": 1}, {"confidence": 0},
    {"method": "nosuch"}, {"seed": -1}, {"seed": 0.5},
]  # fmt: skip


@every_estimator
@pytest.mark.parametrize("options", WRONG, ids=str)
def test_options_are_checked_before_data_are_read(
    name: str, options: dict[str, Any]
) -> None:
    with pytest.raises(ParameterError):
        rk.ctr("no such file", "no such file", name, **options)


OTHERS: dict[str, Any] = {
    "threshold": 3.0, "shrinkage": 2.0, "clip": 3.0, "missing_propensity": "items",
}  # fmt: skip
"""Options that only some estimators read, and a value for each."""


@every_estimator
@pytest.mark.parametrize("option", OTHERS)
def test_an_option_has_an_effect_or_is_refused(name: str, option: str) -> None:
    value = OTHERS[option]
    if not ESTIMATORS[name].reads(option):
        with pytest.raises(
            ParameterError, match=f"{option}=.* has no effect on {name}"
        ):
            rk.ctr("no such file", "no such file", name, **{option: value})
        return
    logged, recommended = log_of(1)
    if option == "missing_propensity":
        logged = logged.drop("propensity")
        with pytest.raises(DataError, match="propensity"):
            rk.ctr(logged, recommended, name)
        assert math.isfinite(
            rk.ctr(logged, recommended, name, missing_propensity="items").value
        )
    else:
        usual = rk.ctr(logged, recommended, name)
        other = rk.ctr(logged, recommended, name, **{option: value})
        assert other.value != usual.value


@every_estimator
def test_options_of_all_estimators_have_an_effect(name: str) -> None:
    usual = ctr(name, 2)
    by_bootstrap = ctr(name, 2, method="bootstrap")

    assert ctr(name, 2, k=1).value != usual.value
    assert ctr(name, 2, confidence=0.5).interval != usual.interval
    assert ctr(name, 2, confidence=0.5).value == usual.value
    assert by_bootstrap.interval != usual.interval
    assert ctr(name, 2, method="bootstrap", seed=1).interval != by_bootstrap.interval
    assert ctr(name, 2, convention="jurity") == ctr(name, 2, n="recommended")


PER_ROUND = {
    "matching": "a mean over what matches, whatever else there is",
    "snips": "a ratio of sums over what matches",
}
"""Estimators that do not ask over what the mean is taken."""


@every_estimator
def test_over_what_the_mean_is_taken_matters(name: str) -> None:
    changed = ctr(name, 2, n="recommended").value != ctr(name, 2).value

    assert changed == (name not in PER_ROUND)


@every_estimator
def test_rewards_may_be_other_numbers_if_that_is_said(name: str) -> None:
    logged, recommended = log_of(0)
    logged = logged.with_columns(click=pl.col("click") * 3)

    with pytest.raises(DataError, match="any_reward"):
        rk.ctr(logged, recommended, name)
    assert math.isfinite(rk.ctr(logged, recommended, name, any_reward=True).value)


# Facts


@every_estimator
def test_propensities_are_needed_where_that_is_declared(name: str) -> None:
    logged, recommended = log_of(0)
    logged = logged.drop("propensity")
    if ESTIMATORS[name].weighs:
        with pytest.raises(DataError, match="propensity"):
            rk.ctr(logged, recommended, name)
    else:
        assert rk.ctr(logged, recommended, name).value == ctr(name, 0).value


@every_estimator
def test_predictions_are_needed_where_that_is_declared(name: str) -> None:
    logged, recommended = log_of(0)
    recommended = recommended.drop("predicted")
    if ESTIMATORS[name].models:
        with pytest.raises(DataError, match="predicted"):
            rk.ctr(logged, recommended, name)
    else:
        assert rk.ctr(logged, recommended, name).value == ctr(name, 0).value


@every_estimator
def test_a_ratio_does_not_ask_for_the_scale_of_weights(name: str) -> None:
    logged, recommended = log_of(3)
    half = logged.with_columns(propensity=pl.col("propensity") / 2)
    one, other = rk.ctr(logged, recommended, name), rk.ctr(half, recommended, name)

    scaled = ESTIMATORS[name].weighs and not ESTIMATORS[name].is_ratio
    assert (other.value != pytest.approx(one.value, rel=1e-12)) == scaled


@every_estimator
def test_there_is_no_estimate_only_where_nothing_matches(name: str) -> None:
    logged, recommended = log_of(0)
    nothing = recommended.with_columns(item_id=pl.col("item_id") + 100)
    found = rk.ctr(logged, nothing, name)

    assert math.isnan(found.value) == ESTIMATORS[name].needs_match
    assert "nan, with the reason, if nothing matches" in " ".join(
        sections(rk.ctr)["Returns"].split()
    )
    for seed in SEEDS:
        assert math.isfinite(ctr(name, seed).value)


@every_estimator
def test_bias_is_said_where_that_is_declared_and_is_there(name: str) -> None:
    """Item a is shown to some users once in four rounds, to others three times.

    It always earns 1 with the former and 0 with the latter, who are as many; so it
    earns 1/2, which the model knows as well.
    """
    shown = ["a", "b", "b", "b", "a", "a", "a", "b"]
    logged = pl.DataFrame(
        {
            "user_id": range(8),
            "item_id": shown,
            "click": [1, 0, 0, 0, 0, 0, 0, 0],
            "propensity": [1 / 4, 3 / 4, 3 / 4, 3 / 4, 3 / 4, 3 / 4, 3 / 4, 1 / 4],
        }
    )
    recommended = pl.DataFrame(
        {"user_id": range(8), "item_id": ["a"] * 8, "predicted": [1.0] * 4 + [0.0] * 4}
    )
    found = rk.ctr(logged, recommended, name)
    said = any("is biased unless" in text for text in found.warnings)

    # One of the four rounds that match is of the users with whom it earns 1.
    assert found.value == pytest.approx(1 / 4 if said else 1 / 2, rel=1e-12)
    assert said == ESTIMATORS[name].is_even


@pytest.mark.slow
@every_estimator
def test_values_are_within_bounds(name: str) -> None:
    low, high = ESTIMATORS[name].bounds
    for seed in range(40):
        for n in (4, 60):
            found = rk.ctr(*log_of(seed, n), name)
            assert math.isnan(found.value) or low <= found.value <= high, seed


@pytest.mark.slow
@every_estimator
def test_bounds_are_as_narrow_as_can_be(name: str) -> None:
    """An estimate without bounds is seen to leave 0 to 1; one with does not."""
    options: Any = dict.fromkeys(ESTIMATORS[name].options, 1e9)
    found = [rk.ctr(*log_of(seed, 12), name, **options).value for seed in range(150)]
    known = [value for value in found if not math.isnan(value)]
    low, high = ESTIMATORS[name].bounds

    assert (min(known) < 0) == (low < 0)
    assert (max(known) > 1) == (high > 1)


NOT_EXACT = {
    "dm": "the model alone decides",
    "dros": "weights are shrunk, also those of 1",
}


@every_estimator
def test_a_log_of_the_policy_itself_gives_its_mean_reward(name: str) -> None:
    rng = np.random.default_rng(5)
    users = list(range(20))
    items = rng.integers(0, 4, 20).tolist()
    clicks = rng.integers(0, 2, 20).tolist()
    logged = pl.DataFrame(
        {"user_id": users, "item_id": items, "click": clicks, "propensity": [1.0] * 20}
    )
    recommended = pl.DataFrame(
        {"user_id": users, "item_id": items, "predicted": rng.random(20)}
    )
    found = rk.ctr(logged, recommended, name)

    exact = found.value == pytest.approx(sum(clicks) / 20, rel=1e-12)
    assert exact == (name not in NOT_EXACT)
    assert found.matched == found.n == 20


# Data


@every_estimator
def test_no_estimator_changes_its_rounds(name: str) -> None:
    rounds = rounds_of(1)
    arrays = frozen(rounds)
    before = [array.copy() for array in arrays]
    weights = rounds.chosen / rounds.propensity
    options = {"threshold": 10.0, "shrinkage": 10.0}
    first = ESTIMATORS[name].found(rounds, weights, options)
    second = ESTIMATORS[name].found(rounds, weights, options)

    assert arrays
    assert first.value == second.value
    np.testing.assert_array_equal(first.parts, second.parts)
    for array, own in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, own)


@every_estimator
def test_the_order_of_rounds_and_the_names_do_not_matter(name: str) -> None:
    for seed in SEEDS:
        logged, recommended = log_of(seed)
        rng = np.random.default_rng(seed)
        mixed = logged[rng.permutation(logged.height).tolist()]
        text = pl.format("x{}", pl.col("user_id")), pl.format("y{}", pl.col("item_id"))
        renamed = [
            frame.with_columns(user_id=text[0], item_id=text[1])
            for frame in (mixed, recommended)
        ]
        found = rk.ctr(renamed[0], renamed[1], name)

        assert found.value == ctr(name, seed).value
        assert found.interval == ctr(name, seed).interval


@every_estimator
def test_the_interval_holds_the_estimate(name: str) -> None:
    for seed in SEEDS:
        found = ctr(name, seed)

        assert found.interval.low < found.value < found.interval.high


# Documentation


@every_estimator
def test_it_is_documented(name: str) -> None:
    page = (DOCS / "logs.md").read_text()
    (option,) = (own for own in command.params if own.name == "estimators")

    assert f"| `{name}` |" in page
    assert f"    {name} " in sections(rk.ctr)["Formula"]
    assert name in option.to_info_dict()["help"]
    assert inspect.getdoc(ESTIMATORS[name].function)


def test_the_docstring_has_all_sections_and_options() -> None:
    check_docstring(rk.ctr, inspect.signature(rk.ctr).parameters)


@every_estimator
def test_its_own_options_are_those_of_ctr(name: str) -> None:
    assert ESTIMATORS[name].options <= set(inspect.signature(rk.ctr).parameters)
