"""Charts of predicted probabilities, and of how often users look at each rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_number
from rankine._evaluate.predictions.predictions import expected_calibration_error
from rankine._report import specs
from rankine._report.charts import altair_of
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._report.specs import Rows, Spec


def calibration(y: Any, p: Any, *, bins: int = 10) -> Any:
    """Return a reliability diagram: observed shares over predicted probabilities.

    Probabilities on the diagonal are well calibrated; the size of a point shows how
    many rows it stands for.

    Args:
        y: the outcome of each row, 0 or 1.
        p: the predicted probability of each row.
        bins: the number of bins of equal width.

    Returns:
        An Altair chart, with a point for each bin that has rows.

    Raises:
        MissingExtraError: Altair is not installed.

    >>> import rankine as rk
    >>> chart = rk.plot.calibration([1, 0, 1, 1], [0.9, 0.2, 0.8, 0.7], bins=2)
    >>> rows = chart.to_dict()["data"]["values"]
    >>> [(round(row["mean"], 4), row["share"], row["n"]) for row in rows]
    [(0.2, 0.0, 1), (0.8, 1.0, 3)]
    """
    table = expected_calibration_error(y, p, bins=bins).bins
    rows = [
        {"mean": row["predicted"], "share": row["observed"], "n": row["n"]}
        for row in table.iter_rows(named=True)
    ]
    return altair_of(_calibration(rows))


def examination(shares: Mapping[int, float] | Sequence[float]) -> Any:
    """Return a chart of how often users look at each rank.

    Args:
        shares: {rank: share}, or shares from rank 1 on, as `judgments_from_clicks`
            takes them.

    Returns:
        An Altair chart, with a point per rank.

    Raises:
        MissingExtraError: Altair is not installed.
        ParameterError: a share is not a number of at least 0.

    >>> import rankine as rk
    >>> chart = rk.plot.examination([1, 0.6, 0.4])
    >>> rows = chart.to_dict()["data"]["values"]
    >>> [(row["rank"], row["share"]) for row in rows]
    [(1, 1.0), (2, 0.6), (3, 0.4)]
    """
    given = shares
    if not isinstance(given, Mapping):
        given = dict(enumerate(given, 1))
    if not given:
        msg = "examination is empty; give a share for rank 1 at least"
        raise ParameterError(msg)
    rows = []
    for rank, share in sorted(given.items()):
        check_number(f"the share of rank {rank}", share, least=0)
        rows.append({"rank": rank, "share": float(share)})
    return altair_of(_examination(rows))


def _calibration(rows: Rows) -> Spec:
    """Return a point per bin: the mean prediction, the observed share, and n rows."""
    diagonal = {
        "data": {"values": [{"mean": 0, "share": 0}, {"mean": 1, "share": 1}]},
        "mark": {"type": "line", "color": specs.EVEN, "strokeDash": [4, 3]},
        "encoding": {"x": specs.quantity("mean", ""), "y": specs.quantity("share", "")},
    }
    line = {
        "mark": {"type": "line", "color": specs.SYSTEMS[0]},
        "encoding": {
            "x": specs.quantity("mean", "mean prediction"),
            "y": specs.quantity("share", "observed share"),
        },
    }
    points = {
        "mark": {
            "type": "point",
            "filled": True,
            "color": specs.SYSTEMS[0],
            "opacity": 1,
        },
        "encoding": {
            "x": specs.quantity("mean", "mean prediction"),
            "y": specs.quantity("share", "observed share"),
            "size": {"field": "n", "type": "quantitative", "title": "rows"},
            "tooltip": specs.tooltips("mean", "share", "n"),
        },
    }
    return specs.drawing(rows, layer=[diagonal, line, points], height=340, width=340)


def _examination(rows: Rows) -> Spec:
    """Return how often each rank is looked at: rank, share."""
    return specs.drawing(
        rows,
        mark=_dotted(),
        encoding={
            "x": {**specs.quantity("rank", "rank"), "axis": {"tickMinStep": 1}},
            "y": specs.quantity("share", "share of users who look"),
            "tooltip": specs.tooltips("rank", "share"),
        },
    )


def _dotted() -> Spec:
    """Return a line with a point at each row, in the colour of a single system."""
    color = specs.SYSTEMS[0]
    return {"type": "line", "color": color, "point": {"size": 40, "color": color}}
