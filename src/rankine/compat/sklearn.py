"""Scorers for ``cross_validate`` and ``GridSearchCV`` of scikit-learn, by query.

    sklearn.set_config(enable_metadata_routing=True)
    cross_validate(
        XGBRanker().set_fit_request(qid=True), X, y, params={"qid": qid},
        cv=GroupKFold(), scoring=rankine.compat.sklearn.scorer("nDCG@10"),
    )

``LGBMRanker`` here is LightGBM's, but takes qid as XGBRanker does: its own ``group``
holds sizes, which are not split with the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._evaluate.evaluate import evaluate
from rankine._metrics.names import parse
from rankine.errors import DataError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._metrics.metric import Metric


class Scorer:
    """Calls ``predict`` and evaluates the order of each query; see `scorer`."""

    def __init__(self, metric: Metric, options: dict[str, Any]) -> None:
        self._metric, self._options = metric, options

    def __call__(
        self,
        estimator: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: Any,
        *,
        qid: Sequence[Any] | None = None,
    ) -> float:
        """Return the metric of an estimator, larger is better."""
        if qid is None:
            msg = (
                f"{self!r} needs the query of each row; give "
                "params={'qid': qid} and sklearn.set_config("
                "enable_metadata_routing=True)"
            )
            raise ParameterError(msg)
        columns = {
            "query": np.asarray(qid),
            "item": np.arange(len(y)),
            "grade": np.asarray(y, dtype=float),
            "score": np.asarray(estimator.predict(X), dtype=float),
        }
        shapes = {name: column.shape for name, column in columns.items()}
        if {*shapes.values()} != {(len(y),)}:
            msg = (
                f"{self!r} needs one query, grade and prediction per row; shapes are "
                f"{shapes['query']} of qid, {shapes['grade']} of y and "
                f"{shapes['score']} of predict"
            )
            raise DataError(msg)
        rows = pl.DataFrame(columns)
        truth, run = (rows.select("query", "item", part) for part in ("grade", "score"))
        found = evaluate(truth, run, self._metric, **self._options)[self._metric]
        return -found if self._metric.higher_is_better is False else found

    def get_metadata_routing(self) -> Any:
        """Ask scikit-learn for qid."""
        from sklearn.utils.metadata_routing import MetadataRequest  # noqa: PLC0415

        request = MetadataRequest(owner=self)
        request.score.add_request(param="qid", alias=True)
        return request

    def __repr__(self) -> str:
        """Name the metric."""
        return f"scorer({str(self._metric)!r})"


def scorer(metric: str | Metric, **options: Any) -> Scorer:
    """Make a scorer of scikit-learn from a metric.

    Args:
        metric: the metric.
        options: options of `rankine.evaluate`, such as ``ties="average"``.

    >>> class Identity:
    ...     def predict(self, X):
    ...         return X
    >>> score = scorer("RR")
    >>> score(Identity(), [0.1, 0.9, 0.5], [1, 0, 1], qid=["a", "a", "b"])
    0.75
    """
    return Scorer(parse(metric) if isinstance(metric, str) else metric, options)


def __getattr__(name: str) -> Any:
    """Make LGBMRanker when it is asked for, so that LightGBM may be absent."""
    if name != "LGBMRanker":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        import lightgbm  # noqa: PLC0415
        from sklearn.utils import _safe_indexing  # noqa: PLC0415
    except ModuleNotFoundError as error:
        msg = f"LGBMRanker needs {error.name}; pip install lightgbm scikit-learn"
        raise MissingExtraError(msg) from None

    class LGBMRanker(lightgbm.LGBMRanker):  # type: ignore[misc]
        """LightGBM's ranker, which takes the query of each row."""

        def fit(
            self,
            X: Any,  # noqa: N803 - scikit-learn's name
            y: Any,
            *,
            qid: Sequence[Any],
            sample_weight: Any = None,
        ) -> Any:
            """Bring the rows of each query together, and fit."""
            _, number, sizes = np.unique(
                np.asarray(qid), return_inverse=True, return_counts=True
            )
            order = np.argsort(number, kind="stable")
            if sample_weight is not None:
                sample_weight = np.asarray(sample_weight)[order]
            rows, labels = _safe_indexing(X, order), np.asarray(y)[order]
            return super().fit(rows, labels, group=sizes, sample_weight=sample_weight)

    LGBMRanker.__qualname__ = LGBMRanker.__name__  # as pickle looks for it here
    globals()[name] = LGBMRanker
    return LGBMRanker
