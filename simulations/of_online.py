"""A/B tests: false alarms, coverage, peeking, interleaving."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import rankine as rk
from rankine._online.effects import effect_of
from rankine._online.measures import Measure
from rankine._online.moments import SIDES, Moments
from rankine._online.quantiles import QuantileEffect
from rankine._online.spreads import quantile_of
from simulations.rows import Row, Simulation, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankine._base.arrays import Floats, Ints

ALPHA = 0.05
BLOCK = 50
"""Tests that are drawn at once."""


def people(
    rng: np.random.Generator, rounds: int, users: int, sigma: float = 1.0
) -> tuple[Floats, Floats, Floats]:
    """Draw impressions, rates of clicks, and clicks, of the users of many tests.

    Impressions are 1 + Poisson of a lognormal mean, and rates Beta(1, 9).
    """
    shape = rounds, users
    shown = (1 + rng.poisson(rng.lognormal(0, sigma, shape))).astype(np.float64)
    rate = rng.beta(1, 9, shape)
    return shown, rate, rng.binomial(shown.astype(np.int64), rate).astype(np.float64)


def moments(*columns: Floats) -> Moments:
    """Return the moments of many tests, a row of users each."""
    rounds, n = columns[0].shape
    mean, scatter = np.ones((rounds, SIDES)), np.zeros((rounds, SIDES, SIDES))
    for place, column in enumerate(columns):
        mean[:, place] = column.mean(axis=1)
    for one, first in enumerate(columns):
        for two, second in enumerate(columns):
            total = np.einsum("ij,ij->i", first, second)
            scatter[:, one, two] = total - n * mean[:, one] * mean[:, two]
    active = np.count_nonzero(columns[0], axis=1).astype(np.float64)
    return Moments(np.full(rounds, float(n)), mean, scatter, active)


def _sizes(rounds: int) -> list[int]:
    return [min(BLOCK, rounds - begin) for begin in range(0, rounds, BLOCK)]


def alarms(
    scale: float, *, sigma: float = 1.0, users: tuple[int, int] = (2000, 2000),
    bounded: bool = True,
) -> list[Row]:  # fmt: skip
    """Return how often A/A tests of a click rate find a difference, and cover none."""
    rounds, found = max(1, round(10_000 * scale)), 0
    rng = np.random.default_rng([17, int(10 * sigma), users[0]])
    for size in _sizes(rounds):
        arms = []
        for n in users:
            shown, _, clicks = people(rng, size, n, sigma)
            arms.append(moments(clicks, shown))
        found += int((effect_of(*arms).p() <= ALPHA).sum())
    what = f"A/A tests of a click rate: p <= 0.05, sigma {sigma:g}, {users[0]:,} and "
    least, most = (0.043, 0.057) if bounded else (-math.inf, math.inf)
    return [share(f"{what}{users[1]:,} users", found, rounds, least=least, most=most)]


def coverage(scale: float) -> list[Row]:
    """Return how often intervals have the true difference and the true lift."""
    rounds, of_gap, of_lift = max(1, round(5_000 * scale)), 0, 0
    rng, gain = np.random.default_rng(18), 1.2
    for size in _sizes(rounds):
        shown, _, clicks = people(rng, size, 2000)
        a = moments(clicks, shown)
        shown, rate, _ = people(rng, size, 2000)
        higher = np.minimum(gain * rate, 1)
        clicks = rng.binomial(shown.astype(np.int64), higher).astype(np.float64)
        b = moments(clicks, shown)
        effect = effect_of(a, b)
        # A rate above 1 / 1.2 is cut; that of Beta(1, 9) is so with chance 6^-9.
        low, high = effect.bounds(ALPHA)
        of_gap += int(((low <= 0.02) & (high >= 0.02)).sum())
        _, low, high = effect.lift(ALPHA, "delta")
        of_lift += int(((low <= gain - 1) & (high >= gain - 1)).sum())
    return [
        share(f"95 % interval of {what} covers, click rates", n, rounds,
              least=0.94, most=0.96)
        for what, n in (("the difference", of_gap), ("the lift", of_lift))
    ]  # fmt: skip


def sparse(scale: float) -> list[Row]:
    """Return how often A/A tests of sparse revenue find a difference."""
    rounds, found = max(1, round(5_000 * scale)), 0
    rng = np.random.default_rng(19)
    for size in _sizes(rounds):
        arms = [
            moments(
                (rng.random((size, 2000)) < 0.02) * rng.lognormal(3, 1.5, (size, 2000))
            )
            for _ in range(2)
        ]
        found += int((effect_of(*arms).p() <= ALPHA).sum())
    return [share("A/A tests of revenue of 2 % of users: p <= 0.05", found, rounds)]


def winsorized(scale: float) -> list[Row]:
    """Return how often A/A tests err with a cap pooled over arms, and one per arm."""
    rounds, pooled, apart = max(1, round(4_000 * scale)), 0, 0
    rng, spent = np.random.default_rng(31), Measure("spent", "spent")
    for _ in range(rounds):
        arms = rng.lognormal(0, 2, (2, 2000))
        both = spent.winsorized({"spent": arms.ravel()}, 0.999)
        caps = [spent.winsorized({"spent": arm}, 0.999) for arm in arms]
        of_both, of_each = (
            [
                own.statistics({"spent": arm})
                for own, arm in zip(kinds, arms, strict=True)
            ]
            for kinds in ((both, both), caps)
        )
        pooled += int(effect_of(*of_both).p() <= ALPHA)
        apart += int(effect_of(*of_each).p() <= ALPHA)
    what = "A/A tests of lognormal values, winsorized"
    return [
        share(f"{what} over arms: p <= 0.05", pooled, rounds, most=ALPHA),
        share(f"{what} per arm: p <= 0.05", apart, rounds),
    ]


def selected(scale: float) -> list[Row]:
    """Return the effect on the mean number of events, and what max_events leaves."""
    users = max(1_000, round(1_000_000 * scale))
    rng, rows = np.random.default_rng(37), []
    a, b = (rng.poisson(more * rng.lognormal(1.5, 1, users)) for more in (1, 1.2))
    for most in (math.inf, 50):
        arms = a[a <= most], b[b <= most]
        effect = arms[1].mean() - arms[0].mean()
        error = math.sqrt(sum(arm.var() / len(arm) for arm in arms))
        what = f"events of users, 20 % more in B, at most {most}: difference"
        rows.append(Row(what, users, float(effect), error))
    return rows


PRICES = np.array([9.99, 19.99, 29.99, 49.99])
VALUES: dict[str, tuple[float, Callable[[np.random.Generator, int], Floats]]] = {
    "tied prices, median": (0.5, lambda rng, n: rng.choice(PRICES, n)),
    "counts, Poisson(3), median": (
        0.5,
        lambda rng, n: rng.poisson(3, n).astype(np.float64),
    ),
    "half are 0, median": (
        0.5,
        lambda rng, n: (rng.random(n) < 0.5) * rng.lognormal(3, 1.5, n),
    ),
    "90 % are 0, 0.95 quantile": (
        0.95,
        lambda rng, n: (rng.random(n) < 0.1) * rng.lognormal(3, 1.5, n),
    ),
    "Pareto(1), 0.9 quantile": (0.9, lambda rng, n: rng.pareto(1, n)),
    "lognormal, median": (0.5, lambda rng, n: rng.lognormal(0, 1, n)),
}
"""Values of users, and the quantile that is compared."""
CONTINUOUS = ("Pareto(1), 0.9 quantile", "lognormal, median")


def quantiles(scale: float, *, kind: str) -> list[Row]:
    """Return how often A/A tests of a quantile find a difference."""
    rounds, found = max(1, round(4_000 * scale)), 0
    place = [*VALUES].index(kind)
    quantile, draw = VALUES[kind]
    rng = np.random.default_rng([22, place])
    for _ in range(rounds):
        a, b = (draw(rng, 1000) for _ in range(2))
        found += int(QuantileEffect.of(a, b, quantile, rng).p() <= ALPHA)
    least = 0.03 if kind in CONTINUOUS else -math.inf
    what = f"A/A tests of {kind}: p <= 0.05, 1,000 users each"
    return [share(what, found, rounds, least=least, most=0.065)]


TIMES: dict[str, tuple[float, Callable[[np.random.Generator, Ints], Floats]]] = {
    "tied at 0, 5 and 9 s": (
        0,
        lambda rng, users: rng.choice([0.0, 5, 9], len(users), p=[0.505, 0.485, 0.01]),
    ),
    "lognormal, alike within users": (
        1,
        lambda rng, users: np.exp(
            rng.normal(0, 0.7, USERS)[users] + rng.normal(0, 0.7, len(users))
        ),
    ),
}
"""Seconds on pages, by the users who saw them, and their true median."""
USERS = 200


def medians(scale: float, *, kind: str) -> list[Row]:
    """Return how often the interval of a median of a log misses the true one."""
    rounds, missed = max(1, round(4_000 * scale)), 0
    truth, draw = TIMES[kind]
    rng = np.random.default_rng([23, [*TIMES].index(kind)])
    for _ in range(rounds):
        users = np.repeat(np.arange(USERS), 1 + rng.poisson(3, USERS))
        _, (low, high) = quantile_of(draw(rng, users), users, 0.5, 0.95)
        missed += not low <= truth <= high
    least = -math.inf if "tied" in kind else 0.03
    what = f"95 % interval of a median time on page misses it, {kind}"
    return [share(what, missed, rounds, least=least, most=0.065)]


LOOKS = 14
PER_DAY = 250
"""Users who enter each arm on a day."""


def peeking(scale: float, *, kind: str, returning: bool = False) -> list[Row]:
    """Return how many A/A tests ever cross under daily peeking; and by p-values."""
    rounds = max(1, round(2_000 * scale))
    rng = np.random.default_rng([20, len(kind), *([1] * returning)])
    expected = LOOKS * PER_DAY * 2
    ever = naive = 0
    days = _returning if returning else _entering
    for size in _sizes(rounds):
        crossed, small = np.zeros(size, bool), np.zeros(size, bool)
        arms = (days(rng, size, kind) for _ in range(2))
        for pair in zip(*arms, strict=True):
            effect = effect_of(*pair, cuped=kind.endswith("CUPED"))
            low, high = effect.always(ALPHA, expected)
            crossed |= (low > 0) | (high < 0)
            small |= effect.p() <= ALPHA
        ever += int(crossed.sum())
        naive += int(small.sum())
    what = f"A/A tests of {kind}, {LOOKS} looks{', users return' * returning}"
    return [
        share(f"{what}: sequence ever excludes 0", ever, rounds, most=ALPHA),
        share(f"{what}: p ever <= 0.05", naive, rounds),
    ]


def _entering(rng: np.random.Generator, rounds: int, kind: str) -> Iterator[Moments]:
    """Give what is known of an arm at each look; users enter once."""
    known: Moments | None = None
    for _ in range(LOOKS):
        today = moments(*_day(rng, rounds, kind))
        known = today if known is None else known.plus(today)
        yield known


def _returning(rng: np.random.Generator, rounds: int, kind: str) -> Iterator[Moments]:
    """Give the same where users return on later days, some of them far more often.

    What is known of a user grows from look to look, so that looks are not of parts
    that add up.
    """
    shape = rounds, LOOKS * PER_DAY
    often, rate = rng.lognormal(-1, 1, shape), rng.beta(1, 9, shape)
    shown, clicks = np.zeros(shape), np.zeros(shape)
    before = 1 + rng.poisson(LOOKS / 2 * often)
    earlier = rng.binomial(before, rate)
    columns = [clicks, shown, earlier.astype(np.float64), before.astype(np.float64)]
    for day in range(LOOKS):
        here = (day + 1) * PER_DAY
        seen = rng.poisson(often[:, :here])
        seen[:, day * PER_DAY :] += 1
        shown[:, :here] += seen
        clicks[:, :here] += rng.binomial(seen, rate[:, :here])
        yield moments(*(column[:, :here] for column in columns[: _COLUMNS[kind]]))


_COLUMNS = {"a mean": 1, "a ratio": 2, "a ratio with CUPED": 4}


def _day(rng: np.random.Generator, rounds: int, kind: str) -> tuple[Floats, ...]:
    """Draw the users of a day: of a mean, of a ratio, of a ratio with its past."""
    shown, rate, clicks = people(rng, rounds, PER_DAY)
    if kind == "a mean":
        return (clicks,)
    if kind == "a ratio":
        return clicks, shown
    before = people(rng, rounds, PER_DAY)[0]
    earlier = rng.binomial(before.astype(np.int64), rate).astype(np.float64)
    return clicks, shown, earlier, before


def drafts(scale: float) -> list[Row]:
    """Return how often team drafts tell equal and different rankings apart."""
    rows = []
    equal = dict.fromkeys("abcd", 0.1)
    falling = {"a": 0.2, "b": 0.15, "c": 0.05, "d": 0.02}
    for what, liked, bounds in (
        ("equal rankings: p <= 0.05", equal, {"most": ALPHA}),
        ("a better ranking is found", falling, {"least": 0.8}),
    ):
        rounds = max(1, round(500 * scale))
        rng, found = np.random.default_rng(21), 0
        pool = [rk.online.interleave("dcba", "abcd", seed=own) for own in range(64)]
        for _ in range(rounds):
            log = _shown(rng, pool, liked)
            found += rk.online.interleaving_test(log).p <= ALPHA
        rows.append(share(f"team draft: {what}, 300 users", found, rounds, **bounds))
    return rows


def _shown(
    rng: np.random.Generator, pool: list[Any], liked: dict[str, float]
) -> pl.DataFrame:
    """Draw the lists that 300 users saw, of whom some came often, and their clicks."""
    user = np.repeat(np.arange(300), 1 + rng.poisson(rng.lognormal(0, 1, 300)))
    drawn = [pool[own] for own in rng.integers(len(pool), size=len(user))]
    rates = np.array([[liked[item] for item in own.items] for own in drawn])
    keen = rng.gamma(2, 0.5, 300)[user][:, None]
    clicks = rng.random(rates.shape) < np.minimum(rates * keen, 1)
    return pl.DataFrame(
        {
            "impression_id": np.repeat(np.arange(len(user)), 4),
            "user_id": np.repeat(user, 4),
            "team": [team for own in drawn for team in own.teams],
            "click": clicks.astype(np.int64).ravel(),
        }
    )


SIMULATIONS: tuple[Simulation, ...] = (
    alarms,
    partial(alarms, sigma=1.5, bounded=False),
    partial(alarms, users=(400, 3600), bounded=False),
    coverage,
    sparse,
    winsorized,
    selected,
    *(partial(quantiles, kind=own) for own in VALUES),
    *(partial(medians, kind=own) for own in TIMES),
    *(
        partial(peeking, kind=own, returning=returning)
        for returning in (False, True)
        for own in _COLUMNS
    ),
    drafts,
)
