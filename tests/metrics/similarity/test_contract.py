"""What every measure of similarity promises. The registry says which there are.

Where a promise does not hold for a measure by its definition, it is listed with the
reason, and the test asserts that it indeed does not hold: the lists are exhaustive.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from rankine._metrics.similarity.measures import MEASURES, Measure, parse_measure
from rankine._tables.paired import Matched
from rankine.errors import DataError, ParameterError
from tests.contracts import (
    DOCS,
    argument,
    check_docstring,
    check_names,
    every_choice,
    frozen,
    hints,
    sections,
    values_for,
    words,
)

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._metrics.metric import Metric

NAMES = list(MEASURES)
SEEDS = range(8)
CUT = 4
every_measure = pytest.mark.parametrize("name", NAMES)
Run = dict[str, dict[str, float]]


@cache
def two_runs(seed: int) -> tuple[Run, Run]:
    """Make two runs with ties, of which some lists are empty or of one item."""
    rng = np.random.default_rng(seed)
    runs: tuple[Run, Run] = ({}, {})
    for number in range(14):
        for run in runs:
            n = int(rng.choice([0, 1, 2, 6, 9])) if number % 3 == 0 else 9
            items = rng.permutation(12)[:n].tolist()
            levels = int(rng.choice([1, 3, 4, 100]))
            scores = rng.integers(0, levels, n).tolist()
            pairs = zip(items, scores, strict=True)
            run[f"q{number}"] = {f"i{item}": float(score) for item, score in pairs}
    return runs


def base_of(name: str) -> Metric:
    """Return a measure that can be taken of lists of different items."""
    measure = Measure(name)
    return measure(on="intersection") if measure.takes("on") else measure


def cut(name: str) -> Metric:
    base = base_of(name)
    return base @ CUT if base.fact.at == "k" else base


def choices(name: str) -> list[Metric]:
    """Return a measure as it is, with a cutoff, and then with every choice."""
    return [base_of(name), cut(name), *(own for own, _ in tried(name))]


NO_SCORE = {"r": "an item that a list does not have has no score"}
"""Measures that cannot be taken of the union of two lists."""


def tried(name: str) -> list[tuple[Metric, Metric]]:
    return [
        (own, base)
        for own, base in every_choice(cut(name))
        if not (name in NO_SCORE and own.get("on") == "union")
    ]


def matched(seed: int, *, turned: bool = False) -> Matched:
    first, second = two_runs(seed)
    runs = (second, first) if turned else (first, second)
    found = rk.similarity(*runs, "r(on='intersection')").table.matched
    assert isinstance(found, Matched)
    return found


def values(measure: Metric, seed: int, *, turned: bool = False) -> Floats:
    return measure.values(matched(seed, turned=turned))


# Names and parameters


@every_measure
def test_names_parse_and_print_back(name: str) -> None:
    check_names(Measure(name), parse_measure)


@every_measure
def test_every_parameter_has_a_value_to_try(name: str) -> None:
    for parameter in MEASURES[name].parameters:
        assert values_for(Measure(name), parameter), parameter


@every_measure
def test_an_unknown_parameter_is_an_error(name: str) -> None:
    with pytest.raises(ParameterError, match="has no parameter 'nosuch'"):
        Measure(name)(nosuch=1)


@every_measure
def test_a_word_outside_the_choices_is_an_error(name: str) -> None:
    for parameter, hint in hints(MEASURES[name].kernel).items():
        if parameter in MEASURES[name].parameters and words(hint):
            with pytest.raises(ParameterError, match=parameter):
                Measure(name)(**{parameter: "nosuch"})


WRONG: dict[Any, tuple[Any, ...]] = {
    int: (0, -1, 2.5, "5", True),
    int | None: (0, -1, 2.5, "5", True),
    float: (math.nan, 0, 1, "0.5"),
}
"""The type of a parameter -> values of which it takes none."""


@every_measure
def test_numbers_are_checked_when_the_measure_is_made(name: str) -> None:
    for parameter, hint in hints(MEASURES[name].kernel).items():
        if parameter not in MEASURES[name].parameters or words(hint):
            continue
        for value in WRONG[hint]:
            with pytest.raises(ParameterError, match=parameter):
                Measure(name)(**{parameter: value})


@every_measure
def test_an_empty_table_is_taken(name: str) -> None:
    for measure in choices(name):
        found = measure.values(Matched.empty())

        assert found.shape == (0,)
        assert found.dtype == np.float64


@pytest.mark.parametrize("name", NO_SCORE)
def test_a_measure_that_cannot_take_the_union_says_so(name: str) -> None:
    with pytest.raises(ParameterError, match="needs a score for every item"):
        Measure(name)(on="union")


@pytest.mark.parametrize("name", [name for name in NAMES if Measure(name).takes("on")])
def test_lists_of_different_items_are_refused_unless_that_is_said(name: str) -> None:
    with pytest.raises(DataError, match="do not have the same items"):
        values(Measure(name), 0)


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_needed_where_that_is_declared(name: str) -> None:
    lists = {"q": ["a", "b", "c"]}
    if "scores" in Measure(name).needs:
        with pytest.raises(DataError, match="scores"):
            rk.similarity(lists, lists, name)
    else:
        rk.similarity(lists, lists, name)


# Effects


@every_measure
def test_every_choice_has_an_effect(name: str) -> None:
    idle = [
        str(measure)
        for measure, base in tried(name)
        if all(
            np.array_equal(values(measure, seed), values(base, seed), equal_nan=True)
            and mean(measure, seed) == pytest.approx(mean(base, seed), rel=0, abs=0)
            for seed in SEEDS
        )
    ]

    assert idle == []


def mean(measure: Metric, seed: int) -> float:
    (found,) = rk.similarity(*two_runs(seed), str(measure)).mean.values()
    return found


def described(name: str, parameter: str) -> str:
    """Return what is said of a parameter, where it is said."""
    text = argument(MEASURES[name].kernel, parameter)
    other = re.fullmatch(r"as in (\w+)\b.*", text)
    return described(other[1], parameter) if other else text


@every_measure
def test_every_word_is_documented(name: str) -> None:
    for parameter, hint in hints(MEASURES[name].kernel).items():
        if parameter not in MEASURES[name].parameters:
            continue
        for word in words(hint):
            if (name, word) != ("r", "union"):
                told = f"``{word}``" in described(name, parameter)
                usual = word == MEASURES[name].parameters[parameter]
                assert told or usual, f"{parameter}={word!r}"


# Values


@pytest.mark.slow
@every_measure
def test_values_are_within_bounds(name: str) -> None:
    low, high = MEASURES[name].bounds
    for measure in choices(name):
        for seed in SEEDS:
            found = values(measure, seed)
            inside = (found >= low) & (found <= high)

            assert (inside | np.isnan(found)).all(), (str(measure), seed)
            assert found.shape == (matched(seed).n_queries,)


@every_measure
def test_there_is_no_value_only_where_that_is_documented(name: str) -> None:
    """Lists without an item, with one item, and with ties alone are among these."""
    undefined = any(
        np.isnan(values(measure, seed)).any()
        for measure in choices(name)
        for seed in SEEDS
    )

    assert undefined == ("nan" in sections(MEASURES[name].kernel)["Returns"])


@every_measure
def test_no_kernel_changes_its_table(name: str) -> None:
    for measure in choices(name):
        table = matched(1)
        first = measure.values(table)
        arrays = frozen(table)
        before = [array.copy() for array in arrays]
        second = measure.values(table)

        assert arrays
        np.testing.assert_array_equal(first, second)
        for array, own in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, own)


@pytest.mark.slow
@every_measure
def test_which_run_comes_first_matters_where_that_is_declared(name: str) -> None:
    for measure in choices(name):
        changed = any(
            not np.allclose(
                values(measure, seed),
                values(measure, seed, turned=True),
                rtol=1e-12,
                atol=1e-15,
                equal_nan=True,
            )
            for seed in SEEDS
        )

        assert changed == (not measure.is_symmetric), str(measure)


SAME = {"LIP": 0.0, "NDPM": 0.0}
"""Distances, of which two equal runs have none; others are 1 then."""


@every_measure
def test_a_run_is_most_like_itself(name: str) -> None:
    rng = np.random.default_rng(3)
    run = {
        f"q{number}": {f"i{item}": float(9 - place) for place, item in enumerate(items)}
        for number, items in enumerate(
            rng.permuted(np.tile(np.arange(9), (5, 1)), axis=1)
        )
    }
    ev = rk.similarity(run, run, [name])

    (found,) = ev.mean.values()
    assert found == pytest.approx(SAME.get(name, 1.0), abs=1e-12)


@every_measure
def test_names_of_queries_and_items_do_not_matter(name: str) -> None:
    for measure in choices(name):
        for seed in SEEDS[:3]:
            first, second = (
                {
                    f"x{query}": {f"é{item}": score for item, score in entry.items()}
                    for query, entry in reversed(run.items())
                }
                for run in two_runs(seed)
            )
            (other,) = rk.similarity(first, second, str(measure)).mean.values()

            assert other == pytest.approx(mean(measure, seed), rel=1e-12, nan_ok=True)


# Documentation

NO_PAPER = {"Jaccard", "LIP", "r"}
"""Measures that need no reference."""


@every_measure
def test_the_docstring_has_all_sections_and_parameters(name: str) -> None:
    optional = ("References",) if name in NO_PAPER else ()
    check_docstring(MEASURES[name].kernel, MEASURES[name].parameters, *optional)


@every_measure
def test_a_page_explains_it(name: str) -> None:
    page = (DOCS / "similarity.md").read_text()

    assert re.search(rf"`{name}\b|\"{name}\b", page), name
