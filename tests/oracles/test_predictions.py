"""Against scikit-learn: losses of probabilities and ratings."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

import rankine as rk


@pytest.mark.parametrize("seed", range(5))
def test_scikit_learn_agrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 2, 200), rng.uniform(0.01, 0.99, 200)
    assert rk.cross_entropy(y, p) == pytest.approx(metrics.log_loss(y, p), abs=1e-12)
    assert rk.brier(y, p) == pytest.approx(metrics.brier_score_loss(y, p), abs=1e-12)
    q = rng.dirichlet(np.ones(4), 200)
    label = rng.integers(0, 4, 200)
    wanted = metrics.log_loss(label, q, labels=[0, 1, 2, 3])
    assert rk.cross_entropy(label, q) == pytest.approx(wanted, abs=1e-12)
    x, z = rng.normal(size=200), rng.normal(size=200)
    rmse = metrics.mean_squared_error(x, z) ** 0.5
    assert rk.rmse(x, z) == pytest.approx(rmse, abs=1e-12)
    assert rk.mae(x, z) == pytest.approx(metrics.mean_absolute_error(x, z), abs=1e-12)
