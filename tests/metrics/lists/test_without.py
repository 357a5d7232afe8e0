"""Numbers of whole runs without each list: by hand, and against computing them anew."""

from __future__ import annotations

from math import log2, nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

import rankine as rk
from rankine._metrics.lists.kind import LISTED
from rankine._tables.lists import Recommended
from rankine._tables.segments import starts_of
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._metrics.metric import Metric

N_ITEMS = 8
LISTS = [[0, 1], [0, 2], [0]]
"""Item 0 is shown three times, 1 and 2 once."""


def table_of(lists: list[list[int]], **facts: Any) -> Recommended:
    lengths = np.array([len(items) for items in lists], dtype=np.int64)
    item = np.array([item for items in lists for item in items], dtype=np.int64)
    facts = {"catalog": N_ITEMS} | facts
    return Recommended(starts_of(lengths), item, lengths, N_ITEMS, **facts)


def number(metric: Metric, table: Recommended) -> float:
    """Return the number of all lists, as `evaluate` computes it."""
    if metric.fact.pairs is not None:
        return metric.fact.pairs(table, **dict(metric.params))
    return float(metric.values(table)[0])


def anew(metric: Metric, lists: list[list[int]], **facts: Any) -> list[float]:
    """Compute the number again for every list that is left out."""
    return [
        number(metric, table_of(lists[:at] + lists[at + 1 :], **facts))
        for at in range(len(lists))
    ]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # Left are 0 0 2, 0 0 1 and 0 0 1 2.
        ("Coverage", [2 / 8, 2 / 8, 3 / 8]),
        ("Coverage(share=False)", [2, 2, 3]),
        ("Coverage@1", [1 / 8, 1 / 8, 1 / 8]),
        # Counts 1 and 2 among 8 items: (5 * 1 + 7 * 2) / (7 * 3), and 1, 1, 2.
        ("Gini", [19 / 21, 19 / 21, (3 * 1 + 5 * 1 + 7 * 2) / (7 * 4)]),
        ("Gini(divisor='n')", [19 / 24, 19 / 24, 22 / 32]),
        ("Gini(complement=True)", [2 / 21, 2 / 21, 6 / 28]),
        ("Entropy", [log2(3) - 2 / 3, log2(3) - 2 / 3, 1.5]),
        ("Entropy(base=4)", [(log2(3) - 2 / 3) / 2, (log2(3) - 2 / 3) / 2, 0.75]),
        ("Entropy(scale='max')", [(log2(3) - 2 / 3) / 3, (log2(3) - 2 / 3) / 3, 0.5]),
        ("Entropy(scale='items')", [(log2(3) - 2 / 3) / 2] * 2 + [0.5]),
        ("GiniSimpson", [1 - 5 / 9, 1 - 5 / 9, 1 - 6 / 16]),
        # Lists of 2 and 1: a pair of cosine 1 / sqrt 2, and one of 1 / 2.
        ("InterListDiversity", [1 - 1 / sqrt(2), 1 - 1 / sqrt(2), 1 / 2]),
        # One of two, and two of three items, are in one list alone.
        ("InterListDiversity(distance='hamming')", [1 / 2, 1 / 2, 2 / 3]),
        ("InterListDiversity(distance='jaccard')", [1 / 2, 1 / 2, 2 / 3]),
        ("UserCoverage(share=False)@2", [1, 1, 2]),
    ],
)
def test_by_hand(metric: str, expected: list[float]) -> None:
    found = rk.parse(metric).without(table_of(LISTS))

    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_users_with_judgements_are_left_out_with_their_share() -> None:
    judged: Any = object()

    found = rk.parse("UserCoverage@2").without(table_of(LISTS, judged=judged))

    np.testing.assert_allclose(found, [1 / 2, 1 / 2, 2 / 2])


@pytest.mark.parametrize("metric", ["Coverage", "Gini", "Entropy", "GiniSimpson"])
def test_nothing_is_left_of_one_list(metric: str) -> None:
    np.testing.assert_array_equal(rk.parse(metric).without(table_of([[3, 4]])), [nan])


METRICS = [
    *("Coverage", "Coverage(share=False)", "Coverage(padding=2)@2"),
    *("Coverage(outside='counted',scale=100)@3", "Coverage(weight='list')@3"),
    *("Coverage(share=False,weight='list',outside='counted')@2",),
    *("Gini", "Gini(divisor='n')@2", "Gini(complement=True,outside='counted')@3"),
    *("Gini(padding=3)@1",),
    *("Entropy", "Entropy(weight='list')@3", "Entropy(scale='items')@2"),
    *("Entropy(scale='max',weight='list')", "Entropy(outside='left_out',base=3)@3"),
    *("GiniSimpson", "GiniSimpson(weight='list')", "GiniSimpson(weight='list')@2"),
    *("GiniSimpson(outside='left_out')@3",),
    *("UserCoverage(share=False)", "UserCoverage(share=False,least=2)@3"),
    *("InterListDiversity", "InterListDiversity@2"),
    *(
        f"InterListDiversity(distance='{name}')@3"
        for name in ("dice", "jaccard", "hamming", "cityblock", "euclidean")
    ),
]


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=60, deadline=None)
@given(
    lists=st.lists(st.lists(st.integers(0, N_ITEMS - 1), max_size=5), max_size=7),
    offered=st.none() | st.lists(st.booleans(), min_size=N_ITEMS, max_size=N_ITEMS),
    repeats=st.booleans(),
)
def test_it_is_what_the_other_lists_give(
    metric: str, lists: list[list[int]], offered: list[bool] | None, *, repeats: bool
) -> None:
    if not repeats:
        lists = [list(dict.fromkeys(items)) for items in lists]
    facts: dict[str, Any] = {"repeats": repeats}
    if offered is not None:
        facts |= {"offered": np.array(offered), "catalog": max(sum(offered), 1)}
    bound = rk.parse(metric)

    found = bound.without(table_of(lists, **facts))

    expected = anew(bound, lists, **facts)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_a_catalogue_may_have_any_number_of_items() -> None:
    catalog = 1 << 61

    found = rk.parse("Gini").without(table_of(LISTS, catalog=catalog))

    np.testing.assert_allclose(found, anew(rk.parse("Gini"), LISTS, catalog=catalog))


def test_every_number_of_whole_runs_is_tried() -> None:
    whole = {name for name, fact in LISTED.items() if fact.of_all}
    tried = {rk.parse(metric).name for metric in METRICS}

    assert whole == tried
    assert all(LISTED[name].without is not None for name in whole)


@pytest.mark.parametrize(
    ("metric", "lists", "message"),
    [
        ("UserCoverage", LISTS, "compared only with judgements"),
        ("InterListDiversity(sample=2)", [], "draws users at random"),
        ("nDCG@3", LISTS, "nDCG@3 is not a single number for all queries"),
    ],
)
def test_what_cannot_be_left_out_is_refused(
    metric: str, lists: list[list[int]], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        rk.parse(metric).without(table_of(lists))


def random_lists() -> list[list[int]]:
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 5, 30)
    return [rng.choice(N_ITEMS, n, replace=False).tolist() for n in sizes]


def shown_by(lists: list[list[int]]) -> Ints:
    """Return how often each list shows each item."""
    return np.array([np.bincount(items, minlength=N_ITEMS) for items in lists])


def test_entropy_is_that_of_scipy() -> None:
    lists = random_lists()

    found = rk.parse("Entropy").without(table_of(lists))

    counts = shown_by(lists)
    left = counts.sum(axis=0) - counts
    np.testing.assert_allclose(found, scipy.stats.entropy(left, base=2, axis=1))


@pytest.mark.parametrize("distance", ["cosine", "dice", "jaccard", "euclidean"])
def test_diversity_is_that_of_scipy(distance: str) -> None:
    lists = random_lists()
    metric = f"InterListDiversity(distance={distance!r})"

    found = rk.parse(metric).without(table_of(lists))

    shown = shown_by(lists) > 0
    exact = distance in {"cosine", "euclidean"}
    expected = [
        np.mean(pdist(left.astype(float) if exact else left, distance))
        for left in (np.delete(shown, at, axis=0) for at in range(len(lists)))
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def brute(counts: Floats) -> float:
    """Return the Gini index as the mean difference of two items, over twice the mean.

    A. Sen: On economic inequality. 1973, with N - 1 for N.
    """
    apart = np.abs(counts[:, None] - counts).sum() / 2
    return float(apart / ((len(counts) - 1) * counts.sum()))


def test_gini_is_the_mean_difference_of_all_pairs_of_items() -> None:
    lists = random_lists()

    found = rk.parse("Gini").without(table_of(lists))

    counts = shown_by(lists)
    expected = [brute((counts.sum(axis=0) - own).astype(float)) for own in counts]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
