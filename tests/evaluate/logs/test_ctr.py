"""Click rates from logs: by hand, by Jurity's numbers and by simulation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._evaluate.logs.estimate import estimates
from rankine._evaluate.logs.question import Question
from rankine._join.rounds import Rounds
from rankine._metrics.estimators import ESTIMATORS
from tests.evaluate.logs.tables import LOGGED, REST, SHOWN, Q, W, changed

if TYPE_CHECKING:
    from pathlib import Path


def total(values: list[float]) -> float:
    return sum(w * v for w, v in zip(W, values, strict=True))


@pytest.mark.parametrize(
    ("estimator", "options", "value"),
    [
        ("matching", {}, 1 / 3),
        ("ips", {}, (1 / 0.5) / 4),
        ("ips", {"clip": 1.5}, 1.5 / 4),
        ("snips", {}, 2 / sum(W)),
        ("dm", {}, sum(Q) / 4),
        ("dr", {}, (sum(Q) + total(REST)) / 4),
        ("sndr", {}, sum(Q) / 4 + total(REST) / sum(W)),
        ("switch-dr", {"threshold": 3}, (sum(Q) + 2 * 0.5) / 4),
        (
            "dros",
            {"shrinkage": 4},
            (
                sum(Q)
                + 4 * 2 / (2**2 + 4) * 0.5
                + 4 * 4 / (4**2 + 4) * (-0.2)
                + 4 * 4 / (4**2 + 4) * (-0.1)
            )
            / 4,
        ),
    ],
)
def test_by_hand(estimator: str, options: dict[str, Any], value: float) -> None:
    found = rk.ctr(LOGGED, SHOWN, estimator, **options)

    assert found.value == pytest.approx(value)
    assert (found.n, found.matched) == (4, 3)
    assert found.interval.low <= found.value <= found.interval.high
    assert float(found) == found.value


def test_diagnostics_by_hand() -> None:
    found = rk.ctr(LOGGED, SHOWN, "ips")
    assert found.ess == pytest.approx(sum(W) ** 2 / sum(w * w for w in W))
    assert found.max_weight == 4
    parts = [2 * 1 - 0.5, -0.5, -0.5, -0.5]
    spread = math.sqrt(sum(v * v for v in parts) / 3 / 4)
    width = found.interval.high - found.interval.low
    assert width == pytest.approx(2 * 3.182446305 * spread)  # Student's t, 3 degrees
    cut = rk.ctr(LOGGED, SHOWN, "ips", clip=3)
    assert (cut.clipped, cut.max_weight) == (2, 3)


JURITY_LOG = pl.DataFrame(
    {"user": [1, 1, 2, 2], "item": [1, 2, 1, 3], "click": [1, 0, 0, 1]}
)
JURITY_SHOWN = pl.DataFrame(
    {"user": [1, 1, 2, 2], "item": [1, 3, 1, 2], "predicted": [0.8, 0.7, 0.7, 0.6]}
)


@pytest.mark.parametrize(
    ("estimator", "value"),
    # Pairs 1-1 (clicked) and 2-1 (not) match; the propensity is 1/3.
    [
        ("matching", (1 + 0) / 2),
        ("ips", (1 * 3 + 0) / 4),
        ("dr", (0.8 + 0.2 * 3 + 0.7 + 0.7 - 0.7 * 3 + 0.6) / 4),
    ],
)
def test_jurity(estimator: str, value: float) -> None:
    found = rk.ctr(JURITY_LOG, JURITY_SHOWN, estimator, convention="jurity")

    assert found.value == pytest.approx(value)


def test_lists_and_drawn_items() -> None:
    # Half of the time a, half of the time b, for everybody.
    shown = pl.DataFrame({"item_id": ["a", "b"], "predicted": [0.6, 0.2]})
    log = LOGGED.drop("user_id")
    even = rk.ctr(log, shown, "ips")
    assert even.value == pytest.approx((0.5 / 0.5 + 0 + 0.5 / 0.5 + 0) / 4)
    drawn = shown.with_columns(pl.Series("probability", [0.9, 0.1]))
    found = rk.ctr(log, drawn, "dr")
    q = 0.9 * 0.6 + 0.1 * 0.2
    rest = 0.9 / 0.5 * (1 - 0.6) * 2 + 0.1 / 0.25 * (0 - 0.2)
    assert found.value == pytest.approx(q + rest / 4)
    first = rk.ctr(log, shown, "ips", k=1)
    assert first.value == pytest.approx((1 / 0.5 + 1 / 0.5) / 4)


def test_slates_are_matched_by_position(tmp_path: Path) -> None:
    # The layout of the Open Bandit logs, as a file.
    log = tmp_path / "log.csv"
    log.write_text(
        "timestamp,item_id,position,click,propensity_score\n"
        "2019-11-24,79,2,0,0.5\n2019-11-24,14,1,1,0.25\n2019-11-24,18,1,0,0.25\n"
    )
    shown = pl.DataFrame(
        {"item_id": [79, 14], "position": [2, 1], "probability": [1.0, 1.0]}
    )
    found = rk.ctr(log, shown, "ips")
    assert found.value == pytest.approx((0 + 1 / 0.25 + 0) / 3)
    assert found.matched == 2
    with pytest.raises(rk.errors.DataError, match="has a position column and"):
        rk.ctr(LOGGED.drop("user_id"), shown.with_columns(pl.col("item_id").cast(str)))


class Bandit:
    """Three contexts and four items; both policies draw, and unevenly."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.rate = rng.uniform(0.05, 0.6, (3, 4))
        self.logging = rng.dirichlet(np.full(4, 3.0), 3)
        self.policy = rng.dirichlet(np.full(4, 3.0), 3)
        self.value = float((self.policy * self.rate).sum(axis=1).mean())

    def rounds(
        self, rng: np.random.Generator, n: int, *, model: Any, propensity: Any
    ) -> Rounds:
        x = rng.integers(0, 3, n)
        shares = np.cumsum(self.logging, axis=1)[x]
        a = np.minimum((rng.random(n)[:, None] > shares).sum(axis=1), 3)
        r = (rng.random(n) < self.rate[x, a]).astype(float)
        return Rounds(
            reward=r,
            chosen=self.policy[x, a],
            propensity=propensity[x, a],
            predicted=model[x, a],
            direct=(self.policy * model).sum(axis=1)[x],
            other=np.zeros(0),
            count=np.zeros(0, dtype=int),
            spread=(0.0, 1.0),
        )


def simulate(
    estimator: str, *, good_model: bool, good_propensity: bool, n: int = 400
) -> tuple[float, float]:
    """Return the bias in standard errors, and how often intervals hold the truth."""
    bandit = Bandit(3)
    wrong = np.random.default_rng(9)
    model = bandit.rate if good_model else wrong.uniform(0, 1, (3, 4))
    propensity = bandit.logging if good_propensity else np.full((3, 4), 0.25)
    rng = np.random.default_rng(1)
    never: dict[str, Any] = {
        "switch-dr": {"threshold": 1e9},
        "dros": {"shrinkage": 1e9},
    }
    asked = Question(estimator, **never.get(estimator, {}))
    values, covered = [], 0
    for _ in range(2000):
        rounds = bandit.rounds(rng, n, model=model, propensity=propensity)
        found = estimates(rounds, asked)[estimator]
        values.append(found.value)
        covered += found.interval.low <= bandit.value <= found.interval.high
    error = float(np.std(values)) / math.sqrt(len(values))
    return abs(float(np.mean(values)) - bandit.value) / error, covered / 2000


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator", ["ips", "snips", "dr", "sndr", "switch-dr", "dros"]
)
def test_no_bias_and_the_coverage_promised(estimator: str) -> None:
    bias, covered = simulate(estimator, good_model=True, good_propensity=True)

    # snips has a bias of order 1/n, far below the noise of 2,000 replications.
    assert bias < 4
    assert abs(covered - 0.95) < 0.015


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["dr", "sndr"])
def test_doubly_robust_needs_one_of_the_two(estimator: str) -> None:
    assert simulate(estimator, good_model=False, good_propensity=True)[0] < 4
    assert simulate("dm", good_model=False, good_propensity=True)[0] > 20
    if estimator == "dr":
        assert simulate(estimator, good_model=True, good_propensity=False)[0] < 4
        assert simulate("ips", good_model=True, good_propensity=False)[0] > 10


def test_snips_is_within_the_rewards() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = 30
        log = pl.DataFrame(
            {
                "user": range(n),
                "item": rng.integers(0, 3, n),
                "reward": rng.integers(0, 2, n),
                "pscore": rng.uniform(0.01, 1, n),
            }
        )
        shown = pl.DataFrame({"user": range(n), "item": rng.integers(0, 3, n)})
        found = rk.ctr(log, shown, "snips")
        assert math.isnan(found.value) or 0 <= found.value <= 1


def test_frames_give_what_arrays_give() -> None:
    bandit = Bandit(5)
    rng = np.random.default_rng(2)
    n = 300
    x = rng.integers(0, 3, n)
    a = np.array([rng.choice(4, p=bandit.logging[c]) for c in x])
    r = (rng.random(n) < bandit.rate[x, a]).astype(int)
    log = pl.DataFrame(
        {"user": x, "item": a, "click": r, "propensity": bandit.logging[x, a]}
    )
    shown = pl.DataFrame(
        {
            "user": np.repeat(np.arange(3), 4),
            "item": np.tile(np.arange(4), 3),
            "probability": bandit.policy.ravel(),
            "predicted": bandit.rate.ravel(),
        }
    )
    w = bandit.policy[x, a] / bandit.logging[x, a]
    q = (bandit.policy * bandit.rate).sum(axis=1)[x]
    assert rk.ctr(log, shown, "ips").value == pytest.approx(np.mean(w * r))
    assert rk.ctr(log, shown, "snips").value == pytest.approx(np.sum(w * r) / np.sum(w))
    dr = np.mean(q + w * (r - bandit.rate[x, a]))
    assert rk.ctr(log, shown, "dr").value == pytest.approx(dr)
    both = rk.ctr(log, shown, "dr"), rk.ctr(log, shown, "dr", method="bootstrap")
    assert both[0].interval.low == pytest.approx(both[1].interval.low, abs=0.03)
    pandas = pytest.importorskip("pandas")
    assert rk.ctr(
        pandas.DataFrame(log.to_dict(as_series=False)), shown, "ips"
    ).value == (rk.ctr(log, shown, "ips").value)


@pytest.mark.parametrize("ids", ["numbers", "texts"])
@pytest.mark.parametrize("estimator", ["matching", "ips", "snips", "dm", "dr", "sndr"])
def test_rounds_are_as_written_out_one_by_one(ids: str, estimator: str) -> None:
    rng = np.random.default_rng(7)
    n = 500
    log = pl.DataFrame(
        {
            "user": rng.integers(0, 40, n),
            "item": rng.integers(0, 5, n),
            "click": rng.integers(0, 2, n),
            "propensity": rng.uniform(0.05, 1, n),
        }
    )
    shown = pl.DataFrame(
        {
            "user": np.repeat(np.arange(45), 2),
            "item": np.tile([0, 3], 45),
            "predicted": rng.random(90),
        }
    )
    if ids == "texts":
        log, shown = (
            one.with_columns(pl.col("user", "item").cast(pl.String))
            for one in (log, shown)
        )
    found = rk.ctr(log, shown, estimator)

    guess = {(u, i): g for u, i, g in shown.iter_rows()}
    rows = []
    for user, item, r, p in log.iter_rows():
        own = [g for (u, _), g in guess.items() if u == user]
        q = sum(own) / 2
        e = 0.5 if (user, item) in guess else 0.0
        rows.append((r, e / p, guess.get((user, item), 0.0), q, e > 0))
    r, w, g, q, same = np.array(rows, dtype=float).T
    wanted = {
        "matching": (r * same).sum() / same.sum(),
        "ips": (w * r).mean(),
        "snips": (w * r).sum() / w.sum(),
        "dm": q.mean(),
        "dr": (q + w * (r - g)).mean(),
        "sndr": q.mean() + (w * (r - g)).sum() / w.sum(),
    }[estimator]
    assert found.value == pytest.approx(wanted)
    assert (found.n, found.matched) == (n, int(same.sum()))
    each = {
        "ips": w * r,
        "dm": q,
        "dr": q + w * (r - g),
        "snips": w * (r - wanted) / w.mean(),
        "matching": same * (r - wanted) / same.mean(),
        "sndr": q - q.mean() + (w * (r - g) - (wanted - q.mean()) * w) / w.mean(),
    }[estimator]
    half = 1.964729391 * each.std(ddof=1) / math.sqrt(n)  # Student's t, 499 degrees
    width = found.interval.high - found.interval.low
    assert width == pytest.approx(2 * half, rel=1e-6)


def test_several_estimators_are_as_each_alone() -> None:
    names = list(ESTIMATORS)
    together = rk.ctr(LOGGED, SHOWN, names)
    assert list(together) == names
    for name in names:
        assert together[name] == rk.ctr(LOGGED, SHOWN, name)


def test_one_match_has_no_spread() -> None:
    one = SHOWN.with_columns(pl.Series("item_id", ["a", "z", "z", "z"]))
    for estimator in ("matching", "snips", "sndr"):
        assert math.isnan(rk.ctr(LOGGED, one, estimator).interval.low)
    assert not math.isnan(rk.ctr(LOGGED, one, "ips").interval.low)


def test_probabilities_are_not_cut() -> None:
    drawn = SHOWN.with_columns(probability=pl.lit(1.0))
    with pytest.raises(rk.errors.ParameterError, match="k cannot be combined"):
        rk.ctr(LOGGED, drawn, "ips", k=1)
    with pytest.raises(rk.errors.ParameterError, match="n='recommended' cannot be"):
        rk.ctr(LOGGED, drawn, "ips", convention="jurity")


def test_any_reward_lets_rewards_be_numbers() -> None:
    log = changed("click", [2.5, 0, 1, -1])
    found = rk.ctr(log, SHOWN, "ips", any_reward=True)
    assert found.value == pytest.approx((2.5 / 0.5 + 0 - 1 / 0.25) / 4)


def test_zero_propensities_can_be_clipped() -> None:
    log = changed("propensity", [0.0, 0.25, 0.5, 0.25])
    found = rk.ctr(log, SHOWN, "ips", clip=5)
    assert found.value == pytest.approx(5 / 4)
    assert found.clipped == 1
