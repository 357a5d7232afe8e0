"""Distances of two lists, and samples of users."""

from __future__ import annotations

import math
import random
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._metrics.lists import _between
from rankine.errors import DataError, ParameterError
from tests.metrics.lists.mean import one

# u and v share nothing, u and w one item, v and w one; five items are shown.
LISTS = {"u": ["a", "b"], "v": ["c", "d"], "w": ["a", "c", "e"]}
S6 = math.sqrt(2 * 3)


@pytest.mark.parametrize(
    ("distance", "wanted"),
    [
        ("cosine", (1 + (1 - 1 / S6) + (1 - 1 / S6)) / 3),
        ("dice", (4 / 4 + 3 / 5 + 3 / 5) / 3),
        ("jaccard", (4 / 4 + 3 / 4 + 3 / 4) / 3),
        ("hamming", (4 / 5 + 3 / 5 + 3 / 5) / 3),
        ("cityblock", (4 + 3 + 3) / 3),
        ("manhattan", (4 + 3 + 3) / 3),
        ("sqeuclidean", (4 + 3 + 3) / 3),
        ("euclidean", (2 + math.sqrt(3) + math.sqrt(3)) / 3),
    ],
)
def test_a_distance_by_hand(distance: str, wanted: float) -> None:
    metric = f"InterListDiversity(distance='{distance}')"

    assert one(None, LISTS, metric) == pytest.approx(wanted, rel=1e-14)


def apart(a: set[str], b: set[str], distance: str, n_items: int) -> float:
    """Return the distance of two lists, by what only one of them has."""
    differ = len(a ^ b)
    return {
        "cosine": lambda: 1 - len(a & b) / math.sqrt(len(a) * len(b)),
        "dice": lambda: differ / (len(a) + len(b)),
        "jaccard": lambda: differ / len(a | b),
        "hamming": lambda: differ / n_items,
        "euclidean": lambda: math.sqrt(differ),
    }.get(distance, lambda: differ)()


DISTANCES = (
    "cosine", "dice", "jaccard", "hamming", "cityblock", "manhattan", "sqeuclidean",
    "euclidean",
)  # fmt: skip


def lists_of(seed: int) -> dict[str, list[str]]:
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    items = [f"i{number}" for number in range(rng.choice([3, 12, 200]))]
    return {
        f"u{number}": rng.sample(items, rng.randrange(min(len(items), 9) + 1))
        for number in range(rng.choice([2, 7, 40]))
    }


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("seed", range(12))
def test_it_is_the_mean_over_all_pairs(
    distance: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists, k = lists_of(seed), (1, 3, 20)[seed % 3]
    monkeypatch.setattr(_between, "_CELLS", 30)  # a few lists at a time
    filled = {user: set(own[:k]) for user, own in lists.items() if own}
    n_items = len(set().union(*filled.values()))
    pairs = {
        (u, v): apart(filled[u], filled[v], distance, n_items)
        for u, v in combinations(filled, 2)
    }
    metric = f"InterListDiversity(distance='{distance}')@{k}"

    ev = rk.evaluate(None, lists, metric)

    (value,) = ev.mean.values()
    wanted = fmean(pairs.values()) if pairs else math.nan
    assert value == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    for user, got in dict(ev.per_query.iter_rows()).items():
        own = [far for pair, far in pairs.items() if user in pair]
        if own:
            assert got == pytest.approx(fmean(own), abs=1e-12), user
        else:
            assert got is None


@pytest.mark.parametrize("distance", DISTANCES)
def test_lists_that_are_alike_have_no_distance(distance: str) -> None:
    lists = {user: ["a", "b", "c"] for user in range(7)}
    ev = rk.evaluate(None, lists, f"InterListDiversity(distance='{distance}')")

    assert list(ev.mean.values()) == [0.0]
    assert set(ev.per_query.to_series(1)) == {0.0}


def test_other_distances_are_refused_by_name() -> None:
    said = "distance must be one of cosine, dice, jaccard, .*, got 'chebyshev'"
    with pytest.raises(ParameterError, match=said):
        rk.InterListDiversity(distance="chebyshev")


def test_distances_without_end_have_intervals_without_one() -> None:
    lists = {user: [f"{user}{n}" for n in range(5 + user)] for user in range(9)}
    far = "InterListDiversity(distance='cityblock')"
    ev = rk.evaluate(None, lists, [far, "InterListDiversity"])

    assert ev.interval(far).high > ev[far] > 1
    assert ev.interval("InterListDiversity").high <= 1
    assert rk.parse(far).bounds == (0, math.inf)
    assert rk.InterListDiversity.bounds == (0, 1)


@pytest.mark.parametrize("distance", DISTANCES)
def test_batches_have_what_needs_no_pairs(distance: str) -> None:
    lists = lists_of(9)
    metric = f"InterListDiversity(distance='{distance}')@5"
    if distance in {"jaccard", "euclidean"}:
        said = f"looks at all pairs of lists, .* write {rk.InterListDiversity}"
        with pytest.raises(ParameterError, match=said):
            rk.Accumulator(metric)
        return
    total = rk.Accumulator(metric)
    users = list(lists)
    for some in (users[:3], users[3:]):
        total.update({user: lists[user] for user in some})

    assert total.result()[metric] == one(None, lists, metric)


# Samples

FEATURES = {f"i{number}": [1.0, number, number * number % 7] for number in range(200)}


def draws(n: int, sample: int, runs: int, seed: int) -> list[set[int]]:
    """Return the users of each sample: one seed draws those of all others."""
    seeds = np.random.default_rng(seed).integers(0, runs * 10, runs)
    return [
        set(np.random.default_rng(own).choice(n, sample, replace=False).tolist())
        for own in seeds
    ]


@pytest.mark.parametrize("distance", ["cosine", "dice", "jaccard", "euclidean"])
def test_a_sample_of_pairs(distance: str) -> None:
    lists = {user: own for user, own in lists_of(5).items() if own}
    users = list(lists)
    metric = f"InterListDiversity(distance='{distance}',sample=3,runs=4,seed=7)"
    means = []
    for chosen in draws(len(users), 3, 4, 7):
        some = {user: lists[user] for at, user in enumerate(users) if at in chosen}
        means.append(one(None, some, f"InterListDiversity(distance='{distance}')"))

    assert one(None, lists, metric) == pytest.approx(fmean(means), rel=1e-12)


def test_only_users_who_are_drawn_have_a_jaccard_distance() -> None:
    lists = {user: own for user, own in lists_of(5).items() if own}
    metric = "InterListDiversity(distance='jaccard',sample=3,runs=2,seed=7)"
    drawn = set().union(*draws(len(lists), 3, 2, 7))
    values = rk.evaluate(None, lists, metric).per_query[metric].to_list()

    assert {at for at, value in enumerate(values) if value is not None} == drawn
    assert len(drawn) < len(lists)


@pytest.mark.parametrize("short", ["undefined", "zero"])
@pytest.mark.parametrize("distance", ["cosine", "cityblock"])
@pytest.mark.parametrize("seed", range(5))
def test_ild_of_a_sample_counts_users_as_often_as_drawn(
    distance: str, seed: int, short: str
) -> None:
    lists = lists_of(8 + seed)
    name = f"ILD(distance='{distance}',short='{short}')@6"
    whole = rk.evaluate(None, lists, name, items=FEATURES)
    values = whole.per_query[name].to_list()
    sample = max(len(lists) // 3, 1)
    drawn = [
        values[at]
        for chosen in draws(len(lists), sample, 3, seed)
        for at in sorted(chosen)
    ]
    known = [value for value in drawn if value is not None]
    metric = rk.parse(name)(sample=sample, runs=3, seed=seed)

    ev = rk.evaluate(None, lists, metric, items=FEATURES)

    wanted = fmean(known) if known else math.nan
    assert ev[metric] == pytest.approx(wanted, rel=1e-12, nan_ok=True)
    some = [value for value in ev.per_query.to_series(1) if value is not None]
    assert set(some) == set(known)


def test_a_sample_of_all_users_is_no_sample() -> None:
    lists = lists_of(5)
    sampled = rk.ILD(sample=len(lists), runs=3)

    plain = rk.evaluate(None, lists, "ILD", items=FEATURES)
    assert rk.evaluate(None, lists, sampled, items=FEATURES)[sampled] == plain["ILD"]


def test_users_who_are_not_drawn_are_not_said_to_be_undefined() -> None:
    lists = {f"u{number}": ["i1", "i2", "i3"] for number in range(20)}
    ev = rk.evaluate(None, lists, rk.ILD(sample=2, runs=1), items=FEATURES)
    low, high = ev.interval(ev.metrics[0])

    assert ev.notes == ()
    assert ev.summaries[str(ev.metrics[0])].n == 2
    assert low == pytest.approx(high)


def test_query_weights_and_samples_count_together() -> None:
    lists = {"u": ["i1", "i2"], "v": ["i1", "i3"], "w": ["i2", "i3"]}
    plain = rk.evaluate(None, lists, "ILD", items=FEATURES).per_query["ILD"].to_list()
    weight = {"u": 5, "v": 1, "w": 2}
    times = [sum(at in one for one in draws(3, 2, 3, 1)) for at in range(3)]
    counted = [n * w for n, w in zip(times, weight.values(), strict=True)]
    metric = rk.ILD(sample=2, runs=3, seed=1)

    found = rk.evaluate(None, lists, metric, items=FEATURES, weights=weight)[metric]

    total = sum(c * value for c, value in zip(counted, plain, strict=True))
    assert found == pytest.approx(total / sum(counted), rel=1e-12)


def test_batches_do_not_draw() -> None:
    total = rk.Accumulator(rk.ILD(sample=2), items=FEATURES)
    total.update({"u": ["i1", "i2"]}).update({"v": ["i1", "i3"]})

    assert total.result().mean  # so far there is nobody to leave out
    total.update({"w": ["i1", "i3"]})
    with pytest.raises(ParameterError, match="draws from all lists"):
        total.result()


def test_messages_name_what_was_asked_for() -> None:
    jurity = rk.conventions()["jurity"]
    own = {**jurity.overrides, "ILD": {"sample": 1, "runs": 2, "seed": 3}}
    total = rk.Accumulator(
        "IntraListDiversity@2", items=FEATURES, convention=jurity.replace(overrides=own)
    )
    total.update({"u": ["i1", "i2"]}).update({"v": ["i1", "i3"]})

    with pytest.raises(ParameterError, match=r"^IntraListDiversity@2 draws from all"):
        total.result()
    titles = {f"i{number}": f"Title {number}" for number in range(200)}
    frame = pl.DataFrame({"item": [*titles], "title": [*titles.values()]})
    with pytest.raises(DataError, match=r"^ILD@2 needs features, but items= has only"):
        rk.evaluate(None, {"u": ["i1"]}, "ILD@2", items=frame, convention="jurity")
    with pytest.raises(DataError, match=r"^no query is left to average P@2 over$"):
        rk.evaluate({"u": {"a": 0}}, {"u": ["b"]}, "P@2", convention="replay")


@pytest.mark.parametrize(
    "metric",
    [
        "InterListDiversity(distance='jaccard')",
        "InterListDiversity(distance='jaccard')@2",
        "InterListDiversity(distance='jaccard',sample=2)@2",
        "InterListDiversity(distance='jaccard',sample=2,runs=3,seed=4)",
    ],
)
@pytest.mark.parametrize("convention", ["rankine", "jurity"])
def test_what_batches_advise_can_be_followed(metric: str, convention: str) -> None:
    with pytest.raises(ParameterError, match="looks at all pairs of lists") as caught:
        rk.Accumulator(metric, convention=convention)

    advice = str(caught.value).rpartition("; write ")[2]
    total = rk.Accumulator(advice, convention=convention)
    total.update({"u": ["a", "b"], "v": ["a", "c"]}).update({"w": ["d", "e"]})
    # Of three pairs, one shares one of two items.
    assert total.result()[advice] == pytest.approx((1 / 2 + 1 + 1) / 3)


@pytest.mark.parametrize("wrong", [{"sample": 0}, {"sample": 1.5}, {"runs": 0}])
def test_what_is_no_sample_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="must be an integer of at least 1"):
        rk.ILD(**{"sample": 3, **wrong})


def test_users_without_a_list_are_not_drawn() -> None:
    lists = {"u": ["a"], "v": ["b"], "w": []}

    found = rk.evaluate(None, lists, "InterListDiversity(sample=2)")

    assert found["InterListDiversity(sample=2)"] == 1
