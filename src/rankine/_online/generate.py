"""Logs of events drawn from known rates, to try things out and to test them.

The truth comes from the parameters, never from the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.checks import check_count, check_number
from rankine._base.notebook import as_table
from rankine._online.times import SECOND
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints

_BEGIN = 1_772_323_200
"""Midnight of 2026-03-01 in UTC."""
_HOUR = 3600.0
_COUNTRIES = np.array(["at", "de", "ch"])
_NODES = 60
"""Points of the quadrature for the share of engaged sessions."""


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """How the users of a variant behave.

    Attributes:
        ctr: the mean click rate; each user's rate is drawn from Beta(1, 1 / ctr - 1).
        bounce: the probability that a visit is a single page view.
        share: the probability that something is shared during any other visit.
        conversion: the probability that a user buys.
        value: the mean revenue of a conversion.
        cost: the cost of an impression.
        dwell: the mean seconds on a page.
    """

    ctr: float = 0.1
    bounce: float = 0.3
    share: float = 0.1
    conversion: float = 0.08
    value: float = 30.0
    cost: float = 0.2
    dwell: float = 40.0

    def __post_init__(self) -> None:
        check_number("ctr", self.ctr, above=0, below=1)
        for name in ("bounce", "share", "conversion"):
            check_number(name, getattr(self, name), least=0, most=1)
        for name in ("value", "cost", "dwell"):
            check_number(name, getattr(self, name), above=0, most=200)


_USUAL: dict[str, dict[str, float]] = {"A": {}, "B": {"ctr": 0.12, "conversion": 0.1}}


@dataclass(frozen=True, eq=False)
class Generated:
    """A log and its true values.

    Attributes:
        events: the log.
        truth: metric, variant and value, from the parameters.
    """

    events: pl.DataFrame
    truth: pl.DataFrame

    def _repr_html_(self) -> str:
        return as_table(self)


def generate(
    users: int = 2000,
    *,
    variants: Mapping[str, Mapping[str, float]] | None = None,
    visits: float = 1.0,
    sigma: float = 1.0,
    days: int = 14,
    before: bool = False,
    seed: int = 0,
) -> Generated:
    """Draw a log of events from known rates.

    A user makes 1 + Poisson(visits) visits. A visit that does not bounce has two or
    more page views and 1 + Poisson(m) impressions, with m lognormal over users; each is
    clicked at the user's own rate. Users who buy do so in a separate visit.

    Args:
        users: the number of users of each variant.
        variants: variant -> what differs from the defaults: ctr, bounce, share,
            conversion, value, cost, dwell.
        visits: the mean number of visits after the first.
        sigma: how much users differ in their impressions: the standard deviation of
            log m.
        days: the number of days in which users first come.
        before: whether users also have visits before their first exposure, without a
            variant.
        seed: the seed of the draws.

    Returns:
        ``.events``, a frame that `summarize` reads, and ``.truth``.

    Examples:
        >>> import rankine as rk
        >>> world = rk.online.generate(users=50, variants={"A": {}, "B": {"ctr": 0.2}})
        >>> world.truth.filter(metric="ctr").rows()
        [('ctr', 'A', 0.1), ('ctr', 'B', 0.2)]
    """
    check_count("users", users, least=1)
    check_count("days", days, least=1)
    check_count("seed", seed, least=0)
    check_number("visits", visits, least=0, most=100)
    check_number("sigma", sigma, least=0, most=4)
    rng = np.random.default_rng(seed)
    logs, truth = [], []
    for place, (name, given) in enumerate((variants or _USUAL).items()):
        behaviour = _behaviour(given)
        ids = np.arange(users) + place * users
        logs.append(
            _Draw(rng, behaviour, ids, visits, sigma, days).log(name, before=before)
        )
        truth += [
            (metric, name, value)
            for metric, value in _truth(behaviour, visits, sigma).items()
        ]
    events = pl.concat(logs).sort("timestamp", "user_id", maintain_order=True)
    order = ("metric", "variant", "value")
    return Generated(events, pl.DataFrame(truth, order, orient="row"))


def _behaviour(given: Mapping[str, float]) -> Behaviour:
    known = [field.name for field in fields(Behaviour)]
    for name in given:
        if name not in known:
            msg = (
                f"a variant has no {name!r}; it has {', '.join(known)}"
                f"{nearest(str(name), known)}"
            )
            raise ParameterError(msg)
    return Behaviour(**given)


def _truth(behaviour: Behaviour, visits: float, sigma: float) -> dict[str, float]:
    """Return the ratio of expected values for each metric."""
    tours = 1 + visits  # and the visit of those who buy
    sessions = tours + behaviour.conversion
    impressions = tours * (1 - behaviour.bounce) * (1 + float(np.exp(sigma**2 / 2)))
    acted = 1 - (1 - behaviour.share) * _no_click(behaviour.ctr, sigma)
    engaged = tours * (1 - behaviour.bounce) * acted + behaviour.conversion
    spent = impressions * behaviour.cost
    return {
        "ctr": behaviour.ctr,
        "conversion_rate": behaviour.conversion,
        "bounce_rate": tours * behaviour.bounce / sessions,
        "engagement_rate": engaged / sessions,
        "time_on_page": behaviour.dwell,
        "roi": (behaviour.conversion * behaviour.value - spent) / spent,
    }


def _no_click(ctr: float, sigma: float) -> float:
    """Return the probability of no click in 1 + J impressions, J Poisson of lognormal.

    With the click rate from Beta(1, k), that is the mean of k / (k + 1 + J), which is
    k times the integral of t^k E[t^J], and E[t^J] = E[exp(-m (1 - t))].
    """
    k = 1 / ctr - 1
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    t, dt = (nodes + 1) / 2, weights / 2
    z, dz = np.polynomial.hermite_e.hermegauss(_NODES)
    means = np.exp(sigma * z)
    inside = np.exp(-np.outer(1 - t, means)) @ (dz / np.sqrt(2 * np.pi))
    return float(k * np.sum(dt * t**k * inside))


@dataclass(frozen=True, eq=False)
class _Draw:
    """The events of a variant, drawn kind by kind."""

    rng: np.random.Generator
    behaviour: Behaviour
    ids: Ints
    visits: float
    sigma: float
    days: int

    def log(self, variant: str, *, before: bool) -> pl.DataFrame:
        n = len(self.ids)
        rates = self.rng.beta(1, 1 / self.behaviour.ctr - 1, n)
        means = np.exp(self.sigma * self.rng.standard_normal(n))
        begin = _BEGIN + self.rng.random(n) * self.days * 24 * _HOUR
        parts = self._tours(rates, means, begin, variant)
        parts += self._buying(begin, variant)
        if before:
            earlier = _BEGIN - (1 + self.rng.random(n)) * 40 * 24 * _HOUR
            parts += self._tours(rates, means, earlier, None)
        countries = _COUNTRIES[self.rng.integers(0, len(_COUNTRIES), n)]
        land = pl.DataFrame({"user_id": self.ids, "country": countries})
        return pl.concat(parts).join(land, on="user_id", how="left")

    def _tours(
        self, rates: Floats, means: Floats, begin: Floats, variant: str | None
    ) -> list[pl.DataFrame]:
        rng, behaviour = self.rng, self.behaviour
        n_visits = 1 + rng.poisson(self.visits, len(rates))
        user = np.repeat(np.arange(len(rates)), n_visits)
        number = np.arange(len(user)) - np.repeat(
            np.cumsum(n_visits) - n_visits, n_visits
        )
        # Six hours apart, so that visits never overlap.
        start = begin[user] + number * 6 * _HOUR + rng.random(len(user)) * _HOUR
        bounces = rng.random(len(user)) < behaviour.bounce
        parts = [self._events(user[bounces], start[bounces], "pageview", variant)]
        user, start = user[~bounces], start[~bounces]
        parts += self._pages(user, start, variant)
        shares = rng.random(len(user)) < behaviour.share
        parts.append(self._events(user[shares], start[shares] + 0.5, "share", variant))
        n_shown = 1 + rng.poisson(means[user])
        viewer, seen = np.repeat(user, n_shown), np.repeat(start, n_shown)
        seen = seen + rng.random(len(seen)) * 20
        cost = np.full(len(seen), behaviour.cost)
        parts.append(self._events(viewer, seen, "impression", variant, cost=cost))
        clicked = rng.random(len(seen)) < rates[viewer]
        late = seen[clicked] + 1
        return [*parts, self._events(viewer[clicked], late, "click", variant)]

    def _pages(
        self, user: Ints, start: Floats, variant: str | None
    ) -> list[pl.DataFrame]:
        """Return two or more page views for each visit."""
        n_more = 1 + self.rng.poisson(1, len(user))
        visit = np.repeat(np.arange(len(user)), n_more)
        dwell = self.rng.gamma(2, self.behaviour.dwell / 2, len(visit))
        total = np.cumsum(dwell)
        ends = np.cumsum(n_more) - 1
        before = np.concatenate(([0.0], total[ends[:-1]]))[visit] if len(user) else 0.0
        later = start[visit] + total - before
        return [
            self._events(user, start, "pageview", variant),
            self._events(user[visit], later, "pageview", variant),
        ]

    def _buying(self, begin: Floats, variant: str) -> list[pl.DataFrame]:
        rng, behaviour = self.rng, self.behaviour
        user = np.flatnonzero(rng.random(len(begin)) < behaviour.conversion)
        # Three hours after the first visit, in the middle of a gap.
        start = begin[user] + 3 * _HOUR
        value = rng.gamma(2, behaviour.value / 2, len(user)).round(2)
        bought = self._events(user, start + 1, "conversion", variant, value=value)
        return [*self._pages(user, start, variant), bought]

    def _events(
        self, user: Ints, time: Floats, kind: str, variant: str | None, **more: Floats
    ) -> pl.DataFrame:
        frame = pl.DataFrame(
            {
                "timestamp": np.round(time * SECOND).astype(np.int64),
                "user_id": self.ids[user],
                **more,
            }
        )
        return frame.select(
            pl.col("timestamp").cast(pl.Datetime("us")).dt.replace_time_zone("UTC"),
            "user_id",
            pl.lit(variant, pl.String).alias("variant"),
            pl.lit(kind).alias("event"),
            *(
                pl.col(name) if name in more else pl.lit(None, pl.Float64).alias(name)
                for name in ("value", "cost")
            ),
        )
