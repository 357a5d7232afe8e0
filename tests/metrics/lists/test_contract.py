"""What every metric of lists promises. The registry says which there are.

Where a promise does not hold for a metric by its definition, it is listed with the
reason, and the test asserts that it indeed does not hold: the lists are exhaustive.
"""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from rankine._metrics.lists.kind import LISTED, WORDS, ListMetric
from rankine._tables.lists import Recommended
from rankine.errors import ParameterError
from tests.contracts import (
    argument,
    check_docstring,
    check_names,
    every_choice,
    frozen,
    hints,
    pages,
    sections,
    values_for,
    words,
)
from tests.metrics.lists.twin import World, world

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._evaluate.result import Evaluation
    from rankine._metrics.metric import Metric

rk.metrics()  # fills the registry
NAMES = list(LISTED)
SEEDS = range(10)
CATALOG = [f"i{number}" for number in range(2, 25)]
"""Of the items shown, two are not in it."""
CUT = 4
every_metric = pytest.mark.parametrize("name", NAMES)


def side(metric: Metric, w: World) -> dict[str, Any]:
    """Return what is known besides the lists."""
    items = w.vectors if "vectors" in metric.needs else w.topics
    known = {"train": w.train, "reference": w.other}
    return {**known, "items": items, "catalog": CATALOG}


def evaluate(metric: Metric, w: World, **more: Any) -> Evaluation:
    given = {**side(metric, w), **more}
    truth = {user: own for user, own in w.truth.items() if user in w.lists}
    lists = w.lists
    if metric.fact.rule.get("duplicates") == "count":
        lists = {user: [*own[:2], *own] for user, own in lists.items()}
    return rk.evaluate(truth, lists, metric, **given)


def choices(name: str) -> list[Metric]:
    """Return a metric as it is, with a cutoff, and then with every choice."""
    cut = ListMetric(name) @ CUT
    return [ListMetric(name), cut, *(metric for metric, _ in every_choice(cut))]


def rich(w: World) -> World:
    """Let two users more have every known item, and some have items twice."""
    known = sorted(w.users_of)
    more = {"all": known, "again": known + known[:3]}
    return replace(w, train={**w.train, **more})


WORLDS = [make(world(seed)) for seed in SEEDS for make in (lambda w: w, rich)]


def numbers(metric: Metric, w: World) -> list[float]:
    """Return the value of every user with a list, as it is computed, and that of all.

    Of these users, some have no judgements.
    """
    ev = evaluate(metric, w, convention=rk.Convention(queries="run"))
    (value,) = ev.mean.values()
    return [*metric.values(ev.table.table).tolist(), value]


def table_of(
    metric: Metric, w: World, rule: rk.Convention | None = None
) -> Recommended:
    found = evaluate(metric, w, convention=rule or rk.Convention()).table.table
    assert isinstance(found, Recommended)
    return found


def kernel_values(metric: Metric, table: Recommended) -> Floats:
    return metric.values(table)


# Names and parameters


@every_metric
def test_names_parse_and_print_back(name: str) -> None:
    check_names(ListMetric(name), rk.parse)


@every_metric
def test_every_parameter_has_a_value_to_try(name: str) -> None:
    for parameter in LISTED[name].parameters:
        assert values_for(ListMetric(name), parameter), parameter


@every_metric
def test_an_unknown_parameter_is_an_error(name: str) -> None:
    with pytest.raises(ParameterError, match="has no parameter 'nosuch'"):
        ListMetric(name)(nosuch=1)


@every_metric
def test_a_word_outside_the_choices_is_an_error(name: str) -> None:
    for parameter, hint in hints(LISTED[name].kernel).items():
        if parameter in LISTED[name].parameters and words(hint):
            with pytest.raises(ParameterError, match=parameter):
                ListMetric(name)(**{parameter: "nosuch"})


WRONG: dict[Any, tuple[Any, ...]] = {
    int: (0.5, -1, "1", True),
    int | None: (0, -1, 2.5, "5", True),
    float: (math.nan, "1", None),
    float | None: (math.nan, "1"),
    bool: (2, "yes", None),
}
"""The type of a parameter -> values of which it takes none."""


@every_metric
def test_numbers_and_flags_are_checked_when_the_metric_is_made(name: str) -> None:
    for parameter, hint in hints(LISTED[name].kernel).items():
        if parameter not in LISTED[name].parameters or words(hint):
            continue
        for value in WRONG[hint]:
            with pytest.raises(ParameterError, match=parameter):
                ListMetric(name)(**{parameter: value})


@every_metric
def test_an_empty_table_is_taken(name: str) -> None:
    for metric in choices(name):
        found = metric.values(Recommended.empty())

        assert found.dtype == np.float64
        assert found.shape == ((1,) if metric.fact.summary == "run" else (0,))


@every_metric
def test_what_a_metric_needs_is_known_and_refused_before_data_are_read(
    name: str,
) -> None:
    for metric in choices(name):
        assert metric.needs <= set(WORDS)
        if metric.needs:
            with pytest.raises(ParameterError, match="needs"):
                rk.evaluate(None, "no such file", metric)


def in_batches(metric: Metric, w: World) -> list[float] | None:
    """Return the value of all lists, each sent on its own; None if that is refused."""
    try:
        total = rk.Accumulator(metric, **side(metric, w))
        for user, shown in w.lists.items():
            total = pickle.loads(pickle.dumps(total))  # noqa: S301 - our own
            judged = {user: w.truth[user]} if user in w.truth else {}
            total.update(judged, {user: shown})
        return [*total.result().mean.values()]
    except ParameterError:
        return None  # it needs all lists or all judgements at once


@pytest.mark.slow
@every_metric
def test_what_travels_with_an_accumulator_is_enough(name: str) -> None:
    """Whatever a metric reads of the data beside the lists, it must need."""
    w = WORLDS[1]
    truth = {user: w.truth[user] for user in w.lists if user in w.truth}
    for metric in choices(name):
        found = in_batches(metric, w)
        if found is not None:
            wanted = rk.evaluate(truth, w.lists, metric, **side(metric, w)).mean
            assert np.array_equal(found, [*wanted.values()], equal_nan=True), metric


# Effects

NO_EFFECT: dict[tuple[str, str], str] = {}
"""Metric and choice -> why it changes no number here."""


@pytest.mark.slow
@every_metric
def test_every_choice_has_an_effect(name: str) -> None:
    idle = []
    for metric, base in every_choice(ListMetric(name) @ CUT):
        changed = any(
            not np.array_equal(numbers(metric, w), numbers(base, w), equal_nan=True)
            for w in WORLDS
        )
        if not changed:
            idle.append(str(metric))

    assert idle == [text for own, text in NO_EFFECT if own == name]


def described(name: str, parameter: str) -> str:
    """Return what is said of a parameter, where it is said."""
    text = argument(LISTED[name].kernel, parameter)
    other = re.fullmatch(r"as in (\w+)\.", text)
    return described(other[1], parameter) if other else text


@every_metric
def test_every_word_is_documented(name: str) -> None:
    page = pages()
    for parameter, hint in hints(LISTED[name].kernel).items():
        if parameter not in LISTED[name].parameters:
            continue
        for word in words(hint):
            usual = word == LISTED[name].parameters[parameter]
            text = described(name, parameter) + page
            told = usual or callable(word) or str(word) in text
            assert told, f"{parameter}={word!r}"


# Values


@pytest.mark.slow
@every_metric
def test_values_are_within_bounds(name: str) -> None:
    for metric in choices(name):
        low, high = metric.bounds
        for w in WORLDS:
            found = np.array(numbers(metric, w))
            inside = (found >= low) & (found <= high)

            assert (inside | np.isnan(found)).all(), str(metric)


@pytest.mark.slow
@every_metric
def test_there_is_no_value_only_where_that_is_documented(name: str) -> None:
    """A user without a list or judgements, and items without features, are in all."""
    rules = [rk.Convention(), rk.Convention(queries="run")]
    undefined = any(
        np.isnan(kernel_values(metric, table_of(metric, world(seed), rule))).any()
        for metric in choices(name)
        for seed in SEEDS
        for rule in rules
    )
    undefined |= bool(np.isnan(ListMetric(name).values(Recommended.empty())).any())
    text = sections(LISTED[name].kernel)["Returns"]

    assert undefined == ("nan" in text or "no value" in text)


@pytest.mark.slow
@every_metric
def test_no_kernel_changes_its_table(name: str) -> None:
    for metric in choices(name):
        table = table_of(metric, world(1))
        first = kernel_values(metric, table)
        arrays = frozen(table)
        before = [array.copy() for array in arrays]
        second = kernel_values(metric, table)

        assert arrays
        np.testing.assert_array_equal(first, second)
        for array, own in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, own)


def renamed(w: World) -> World:
    """Give users and items other names, and take the users in another order."""
    rng = np.random.default_rng(7)
    new = dict(enumerate(rng.permutation(30).tolist()))

    def item(name: str) -> str:
        return f"film {new[int(name[1:])]}"

    def users(side: dict[str, Any]) -> dict[str, Any]:
        return {f"x{user}": side[user] for user in reversed(side)}

    return World(
        users({user: [item(one) for one in own] for user, own in w.lists.items()}),
        users({user: [item(one) for one in own] for user, own in w.train.items()}),
        users(
            {
                user: {item(one): grade for one, grade in own.items()}
                for user, own in w.truth.items()
            }
        ),
        {item(one): own for one, own in w.vectors.items()},
        {item(one): own for one, own in w.topics.items()},
        users({user: [item(one) for one in own] for user, own in w.other.items()}),
    )


@pytest.mark.slow
@every_metric
def test_names_of_users_and_items_and_their_order_do_not_matter(name: str) -> None:
    rng = np.random.default_rng(7)
    new = dict(enumerate(rng.permutation(30).tolist()))
    catalog = [f"film {new[int(one[1:])]}" for one in CATALOG]
    for metric in choices(name):
        if metric.get("sample") is not None:
            continue  # which users are drawn depends on their order
        for seed in SEEDS[:3]:
            w = world(seed)
            (one,) = evaluate(metric, w).mean.values()
            (other,) = evaluate(metric, renamed(w), catalog=catalog).mean.values()

            assert other == pytest.approx(one, rel=1e-12, nan_ok=True), str(metric)


# Documentation


@every_metric
def test_the_docstring_has_all_sections_and_parameters(name: str) -> None:
    check_docstring(LISTED[name].kernel, LISTED[name].parameters)


@every_metric
def test_a_page_explains_it(name: str) -> None:
    assert pages().count(f"<!-- metric {name} -->") == 1
