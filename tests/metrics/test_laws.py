"""Laws that hold for every list, searched for counterexamples by hypothesis."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine._join import judged
from rankine._metrics.metric import REGISTRY, Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

rk.metrics()  # fills the registry
NAMES = list(REGISTRY)
TIED = [name for name in NAMES if "ties" in REGISTRY[name].parameters]
CATALOG = 100
SLACK = 1e-12
"""Room for rounding, where sums are formed in another order."""

grade = st.one_of(st.none(), st.integers(-1, 3))
ranking = st.lists(grade, min_size=1, max_size=9)
unseen = st.lists(st.integers(-1, 3), max_size=4)
cut = st.one_of(st.none(), st.integers(1, 11))
few = settings(max_examples=35)


def base_of(name: str) -> Metric:
    metric = Metric(name)
    return metric(catalog=CATALOG) if metric.takes("catalog") else metric


def at(metric: Metric, k: int | None) -> Metric:
    return metric if k is None else metric @ k


def value(
    metric: Metric, ranks: Sequence[int | None], others: Sequence[int] = ()
) -> float:
    """Evaluate one list: a grade per rank, None if unjudged; others are not found."""
    qrels = {f"d{rank}": found for rank, found in enumerate(ranks) if found is not None}
    qrels |= {f"u{number}": found for number, found in enumerate(others)}
    run = [f"d{rank}" for rank in range(len(ranks))]
    return float(metric.values(judged({"q": qrels}, {"q": run}))[0])


def least(found: int | None) -> int:
    return -1 if found is None else found


# Moving items

UPWARDS = {
    "P": rk.P, "R": rk.R, "F": rk.F, "Success": rk.Success, "AP": rk.AP, "RR": rk.RR,
    "AR": rk.AR, "CG": rk.CG, "NCG": rk.NCG, "DCG": rk.DCG, "nDCG": rk.nDCG,
    "nDCG exponential": rk.nDCG(gain="exponential"), "nDCG jk": rk.nDCG(discount="jk"),
    "RBP": rk.RBP, "ERR": rk.ERR(max_grade=3), "RScore": rk.RScore,
    "BPM": rk.BPM(max_grade=3), "NERR9": rk.NERR9(max_grade=3),
    "PartialAUC": rk.PartialAUC @ 3, "PAP": rk.PAP @ 3,
}  # fmt: skip


@st.composite
def swaps(draw: st.DrawFn) -> tuple[list[int | None], list[int | None]]:
    """Draw a list in which a better item stands below a worse one, and the swap."""
    better = draw(st.integers(1, 3))
    worse = draw(st.one_of(st.none(), st.integers(-1, better - 1)))
    head, middle, tail = (draw(st.lists(grade, max_size=4)) for _ in range(3))
    return [*head, worse, *middle, better, *tail], [
        *head, better, *middle, worse, *tail,
    ]  # fmt: skip


@pytest.mark.parametrize("name", UPWARDS)
@few
@given(lists=swaps(), others=unseen, k=cut)
def test_a_better_item_further_up_never_lowers(
    name: str,
    lists: tuple[list[int | None], list[int | None]],
    others: list[int],
    k: int | None,
) -> None:
    metric = at(UPWARDS[name], k)
    before, after = (value(metric, ranks, others) for ranks in lists)

    assert after >= before * (1 - SLACK)


RAISED_BY_THE_END = {
    "AUC": "another item that is not relevant, and below all others, is a right pair",
    "PartialAUC": "the same, where all others of the list count",
    "PAP": "the same, where all others of the list count",
    "AR": "the mean over ranks takes in another rank with the highest recall",
    "Rndcg": "a longer list has a further point, trec_eval's condition on the last",
}
NEVER_RAISED = [
    name
    for name in NAMES
    if REGISTRY[name].higher_is_better and name not in RAISED_BY_THE_END
]


@pytest.mark.parametrize("name", NEVER_RAISED)
@few
@given(ranks=ranking, others=unseen)
def test_an_unjudged_item_at_the_end_never_raises(
    name: str, ranks: list[int | None], others: list[int]
) -> None:
    metric = base_of(name)
    before, after = value(metric, ranks, others), value(metric, [*ranks, None], others)
    assume(not math.isnan(before))

    assert after <= before + SLACK * abs(before)


@pytest.mark.parametrize("name", RAISED_BY_THE_END)
def test_an_unjudged_item_at_the_end_raises_what_is_listed(name: str) -> None:
    assert value(rk.parse(name), [0, 1, None]) > value(rk.parse(name), [0, 1])


@pytest.mark.parametrize("name", [name for name in NAMES if REGISTRY[name].at == "k"])
@few
@given(
    ranks=ranking, others=unseen, more=st.lists(grade, max_size=4), k=st.integers(1, 9)
)
def test_what_stands_below_the_cutoff_does_not_matter(
    name: str,
    ranks: list[int | None],
    others: list[int],
    more: list[int | None],
    k: int,
) -> None:
    assume(k <= len(ranks))
    metric = base_of(name) @ k
    order = [*ranks[:k], *reversed(ranks[k:])]

    # The same items below the cutoff, in another order, and unjudged ones after them.
    np.testing.assert_allclose(
        value(metric, [*order, *[None] * len(more)], others),
        value(metric, ranks, others),
        rtol=SLACK,
    )


# Identities


miss = st.one_of(st.none(), st.integers(-1, 0))


@given(head=st.lists(miss, max_size=6), tail=st.lists(miss, max_size=6), k=cut)
def test_rr_is_ap_with_one_relevant_item(
    head: list[int | None], tail: list[int | None], k: int | None
) -> None:
    ranks = [*head, 1, *tail]

    assert value(at(rk.RR, k), ranks) == value(at(rk.AP, k), ranks)


@given(
    ranks=st.lists(st.one_of(st.none(), st.integers(-1, 1)), min_size=1, max_size=9),
    others=st.lists(st.integers(-1, 1), max_size=4),
    k=cut,
    discount=st.sampled_from(["log2", "jk", "reciprocal", "none"]),
)
def test_gains_are_the_same_for_binary_grades(
    ranks: list[int | None], others: list[int], k: int | None, discount: str
) -> None:
    for metric in (rk.DCG, rk.nDCG):
        by_gain = [
            value(at(metric(gain=gain, discount=discount), k), ranks, others)
            for gain in ("linear", "exponential", "binary", {1: 1.0, 0: 0.0})
        ]

        np.testing.assert_array_equal(by_gain, by_gain[0])


@given(ranks=ranking, others=unseen, k=cut, factor=st.integers(1, 1000))
def test_ndcg_does_not_depend_on_the_unit_of_grades(
    ranks: list[int | None], others: list[int], k: int | None, factor: int
) -> None:
    def scaled(found: int | None) -> int | None:
        return None if found is None else found * factor

    more = [found * factor for found in others]
    for metric in (rk.nDCG, rk.NCG, rk.RScore, rk.nDCG(discount="jk", base=3)):
        np.testing.assert_allclose(
            value(at(metric, k), [scaled(found) for found in ranks], more),
            value(at(metric, k), ranks, others),
            rtol=SLACK,
        )


@given(ranks=ranking, others=unseen, k=cut, base=st.floats(1.5, 50))
def test_the_base_of_the_logarithm_cancels(
    ranks: list[int | None], others: list[int], k: int | None, base: float
) -> None:
    np.testing.assert_allclose(
        value(at(rk.nDCG(discount="log", base=base), k), ranks, others),
        value(at(rk.nDCG, k), ranks, others),
        rtol=SLACK,
    )


@given(ranks=ranking, others=unseen, k=st.integers(1, 11))
def test_precision_counts(ranks: list[int | None], others: list[int], k: int) -> None:
    count = value(rk.HitCount @ k, ranks, others)

    assert value(rk.P @ k, ranks, others) == count / k
    assert value(rk.Success @ k, ranks, others) == (count > 0)


@given(ranks=ranking, others=unseen)
def test_set_metrics_are_those_of_the_whole_list(
    ranks: list[int | None], others: list[int]
) -> None:
    n_relevant = sum(least(found) > 0 for found in [*ranks, *others])
    pairs = [(rk.SetP, rk.P), (rk.SetR, rk.R), (rk.SetF, rk.F), (rk.SetRelP, rk.RelP)]
    if n_relevant:
        pairs.append((rk.Rprec, rk.P @ n_relevant))
    for ours, other in pairs:
        np.testing.assert_allclose(
            value(ours, ranks, others), value(other, ranks, others), rtol=SLACK
        )


# Cutoffs

RISING = [
    rk.R, rk.Success, rk.HitCount, rk.AP, rk.RR, rk.CG, rk.DCG, rk.ERR(max_grade=3),
    rk.RBP, rk.AR(variant="hits"), rk.DCG(gain="exponential", discount="jk"),
]  # fmt: skip


@pytest.mark.parametrize("metric", RISING, ids=str)
@few
@given(ranks=ranking, others=unseen)
def test_a_deeper_cutoff_never_lowers(
    metric: Metric, ranks: list[int | None], others: list[int]
) -> None:
    values = [value(metric @ k, ranks, others) for k in range(1, len(ranks) + 2)]
    assume(not math.isnan(values[0]))

    assert all(
        deeper >= shallower * (1 - SLACK)
        for shallower, deeper in itertools.pairwise(values)
    )


# Ties


@pytest.mark.parametrize("name", TIED)
@few
@given(
    ranks=st.lists(st.tuples(grade, st.integers(0, 3)), min_size=1, max_size=9),
    others=unseen,
    k=cut,
)
def test_the_average_lies_between_the_worst_and_the_best(
    name: str, ranks: list[tuple[int | None, int]], others: list[int], k: int | None
) -> None:
    items = [f"d{number}" for number in range(len(ranks))]
    qrels = {
        item: found
        for item, (found, _) in zip(items, ranks, strict=True)
        if found is not None
    }
    qrels |= {f"u{number}": found for number, found in enumerate(others)}
    run = {item: float(score) for item, (_, score) in zip(items, ranks, strict=True)}
    table = judged({"q": qrels}, {"q": run})
    metric = at(Metric(name), k)
    worst, average, best = (
        float(metric(ties=ties).values(table)[0])
        for ties in ("worst", "average", "best")
    )
    fixed = float(metric.values(table)[0])
    assume(not math.isnan(fixed))

    for inside in (average, fixed):
        assert worst - SLACK <= inside <= best + SLACK
    if len(set(run.values())) == len(run):
        np.testing.assert_allclose([worst, average, best], fixed, rtol=SLACK)


# Queries

Side = dict[str, dict[str, float]]


def many(seed: int, first: int, n: int) -> tuple[Side, Side]:
    """Make n queries, numbered from the first one; one in eight is missing."""
    rng = np.random.default_rng(seed)
    qrels: Side = {}
    run: Side = {}
    for number in range(first, first + n):
        shown = rng.permutation(20)[: rng.integers(1, 15)]
        known = rng.permutation(20)[: rng.integers(1, 15)]
        qrels[f"q{number}"] = {f"d{at}": float(rng.integers(-1, 4)) for at in known}
        if number % 8:
            run[f"q{number}"] = {f"d{at}": float(rng.integers(0, 9)) for at in shown}
    return qrels, run


# What depends on all queries at once, unless it is told not to.
OF_ITSELF: dict[str, dict[str, Any]] = {
    # or their scale ends at the highest grade of all
    **{
        name: {"max_grade": 3}
        for name in NAMES
        if "max_grade" in REGISTRY[name].parameters
    },
    "FCP": {"aggregate": "mean_of_ratios"},  # or it is a ratio of sums
    "RScore": {"aggregate": "mean_of_ratios"},  # or it is a ratio of sums
}


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8)
@given(
    seed=st.integers(0, 10_000), sizes=st.tuples(st.integers(2, 9), st.integers(2, 9))
)
def test_a_union_of_query_sets_has_the_weighted_mean(
    name: str, seed: int, sizes: tuple[int, int]
) -> None:
    metric = base_of(name)(**OF_ITSELF.get(name, {}))
    label, how = str(metric), REGISTRY[name].summary
    left = many(seed, 1, sizes[0])
    right = many(seed + 1, 1 + sizes[0], sizes[1])
    union = left[0] | right[0], left[1] | right[1]
    parts = [rk.evaluate(*side, [metric]).summaries[label] for side in (left, right)]
    whole = rk.evaluate(*union, [metric]).summaries[label]
    known = [part for part in parts if part.n]
    if how == "sum":
        expected = sum(part.value for part in known)
    elif how == "geometric":
        logs = [part.n * math.log(part.value) for part in known]
        expected = math.exp(sum(logs) / whole.n)
    else:
        total = sum(part.n * part.value for part in known)
        expected = total / whole.n if whole.n else math.nan

    assert whole.n == sum(part.n for part in parts)
    np.testing.assert_allclose(whole.value, expected, rtol=SLACK, atol=1e-15)
    np.testing.assert_array_equal(
        whole.values, np.concatenate([part.values for part in parts])
    )


@pytest.mark.parametrize("name", NAMES)
def test_queries_twice_have_the_same_mean(name: str) -> None:
    qrels, run = many(5, 1, 30)
    again = [
        side | {f"again-{query}": entry for query, entry in side.items()}
        for side in (qrels, run)
    ]
    metric = base_of(name)
    once = rk.evaluate(qrels, run, [metric])[metric]
    twice = rk.evaluate(again[0], again[1], [metric])[metric]
    factor = 2 if REGISTRY[name].summary == "sum" else 1

    np.testing.assert_allclose(twice, factor * once, rtol=SLACK)
