"""Losses of predicted probabilities and ratings.

All take two columns of the same length, arrays, lists or columns of a frame, and return
a number that also carries the number of rows it is computed from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine._evaluate.predictions.losses import (
    BRIER,
    CALIBRATION,
    CROSS_ENTROPY,
    EPS,
    EXPLAINED,
    GAINED,
    MAE,
    NORMALIZED,
    R_SQUARED,
    RMSE,
)

if TYPE_CHECKING:
    from rankine._evaluate.predictions.losses import CalibrationError, Loss


def cross_entropy(y: Any, p: Any, *, eps: float = EPS) -> Loss:
    """Cross entropy of predicted probabilities, or log loss.

    Formula:
        binary: -1/n sum [ y ln p + (1 - y) ln(1 - p) ], p the probability of y = 1
        several classes: -1/n sum ln p of the true class

    Args:
        y: the outcomes: 0 and 1, or False and True; or the number of a class.
        p: the probability of 1; or a matrix with a row per case and a column per class.
        eps: the smallest probability of the true outcome; smaller ones are raised to
            it, and counted.

    Returns:
        From 0, smaller is better; `clipped` says how many probabilities were raised to
        eps, so that their part of the result depends only on eps.

    References:
        I. J. Good: Rational decisions. Journal of the Royal Statistical Society B 1952.

    Examples:
        >>> round(cross_entropy([1, 0], [0.8, 0.4]), 4)
        0.367
        >>> import math
        >>> round(-(math.log(0.8) + math.log(1 - 0.4)) / 2, 4)
        0.367
    """
    return CROSS_ENTROPY.at_once(y, p, {"eps": eps})


def normalized_entropy(
    y: Any, p: Any, *, baseline: float | None = None, eps: float = EPS
) -> Loss:
    """Normalised entropy: cross entropy over that of always predicting the mean rate.

    Formula:
        NE = CE(model) / CE(baseline)

    Args:
        y: the outcomes, 0 and 1.
        p: the probability of 1.
        baseline: the rate that it always predicts; the mean of y if not given.
        eps: as in `cross_entropy`.

    Returns:
        From 0, smaller is better; 1 is as good as the baseline; nan if the baseline is
        never wrong, for example if all y are equal.

    References:
        X. He et al.: Practical lessons from predicting clicks on ads at Facebook.
        ADKDD 2014.

    Examples:
        >>> round(normalized_entropy([1, 0], [0.8, 0.4]), 4)
        0.5295
    """
    return NORMALIZED.at_once(y, p, {"baseline": baseline, "eps": eps})


def normalized_cross_entropy(
    y: Any, p: Any, *, baseline: float | None = None, eps: float = EPS
) -> Loss:
    """Normalised cross entropy: the share of the baseline's loss that a model saves.

    Formula:
        NCE = 1 - CE(model) / CE(baseline), the relative information gain

    Args:
        y: the outcomes, 0 and 1.
        p: the probability of 1.
        baseline: the rate that it always predicts; the mean of y if not given.
        eps: as in `cross_entropy`.

    Returns:
        At most 1, larger is better; 0 is as good as the baseline, and below 0 worse;
        nan where `normalized_entropy` is.

    Examples:
        >>> round(normalized_cross_entropy([1, 0], [0.8, 0.4]), 4)
        0.4706
        >>> normalized_cross_entropy([1, 0], [0.2, 0.9]) < 0
        True
    """
    return GAINED.at_once(y, p, {"baseline": baseline, "eps": eps})


def brier(y: Any, p: Any) -> Loss:
    """Brier score: the mean squared distance of probabilities from outcomes.

    Formula:
        binary: 1/n sum (p - y)^2
        several classes: 1/n sum over rows and classes of (p - [is the true class])^2

    Args:
        y: the outcomes: 0 and 1; or the number of a class.
        p: the probability of 1; or a matrix with a row per case and a column per class.

    Returns:
        0, the best, to 1; 0 to 2 for several classes (twice the binary score when there
        are two).

    References:
        G. W. Brier: Verification of forecasts expressed in terms of probability.
        Monthly Weather Review 1950.

    Examples:
        >>> round(brier([1, 0], [0.8, 0.4]), 4), round((0.2**2 + 0.4**2) / 2, 4)
        (0.1, 0.1)
    """
    return BRIER.at_once(y, p, {})


def expected_calibration_error(
    y: Any, p: Any, *, bins: int = 10, by: str = "width"
) -> CalibrationError:
    """Expected calibration error: how far probabilities are from rates, bin by bin.

    Formula:
        ECE = sum_b n_b / n |mean p in b - rate of y in b|

    Args:
        y: the outcomes, 0 and 1.
        p: the probability of 1.
        bins: the number of bins.
        by: bins of equal ``width``, or with equally many rows (``count``).

    Returns:
        0, the best, to 1; it depends on the bins, which are returned with it.

    References:
        M. P. Naeini, G. F. Cooper, M. Hauskrecht: Obtaining well calibrated
        probabilities using Bayesian binning. AAAI 2015.

    Examples:
        >>> found = expected_calibration_error(
        ...     [1, 0, 1, 1], [0.9, 0.1, 0.8, 0.3], bins=2
        ... )
        >>> round(found, 4), found.bins["n"].to_list()
        (0.225, [2, 2])
    """
    return CALIBRATION.at_once(y, p, {"bins": bins, "by": by})


def rmse(y: Any, predicted: Any) -> Loss:
    """Root mean squared error of predicted ratings.

    Formula:
        sqrt(1/n sum (predicted - y)^2)

    Args:
        y: the ratings.
        predicted: the predicted ratings.

    Returns:
        From 0, smaller is better.

    Examples:
        >>> rmse([3, 5], [4, 4])
        1.0
    """
    return RMSE.at_once(y, predicted, {})


def mae(y: Any, predicted: Any) -> Loss:
    """Mean absolute error of predicted ratings.

    Formula:
        1/n sum |predicted - y|

    Args:
        y: the ratings.
        predicted: the predicted ratings.

    Returns:
        From 0, smaller is better.

    Examples:
        >>> mae([3, 5], [4, 3])
        1.5
    """
    return MAE.at_once(y, predicted, {})


def r_squared(y: Any, predicted: Any) -> Loss:
    """Coefficient of determination: the explained share of the ratings' variance.

    Formula:
        R2 = 1 - sum (predicted - y)^2 / sum (y - mean y)^2

    Args:
        y: the ratings.
        predicted: the predicted ratings.

    Returns:
        At most 1, larger is better; 0 is as good as always predicting the mean rating,
        and below 0 worse; nan if all ratings are the same.

    References:
        S. Wright: Correlation and causation. Journal of Agricultural Research 1921.

    Examples:
        Errors of 1, 0 and 1 around a mean of 3: 1 - 2 / (4 + 0 + 4).

        >>> r_squared([1, 3, 5], [2, 3, 4])
        0.75
    """
    return R_SQUARED.at_once(y, predicted, {})


def explained_variance(y: Any, predicted: Any) -> Loss:
    """Share of the ratings' variance that is explained, whatever the mean error.

    Formula:
        1 - variance of (predicted - y) / variance of y

    Args:
        y: the ratings.
        predicted: the predicted ratings.

    Returns:
        At most 1, larger is better; it is `r_squared` where the errors have a mean of
        0, and larger elsewhere; nan if all ratings are the same.

    References:
        F. Pedregosa et al.: Scikit-learn: machine learning in Python. JMLR 2011, which
        has both.

    Examples:
        Predictions that are all too large by 2 explain all of the variance.

        >>> explained_variance([1, 3, 5], [3, 5, 7]), r_squared([1, 3, 5], [3, 5, 7])
        (1.0, -0.5)
    """
    return EXPLAINED.at_once(y, predicted, {})
