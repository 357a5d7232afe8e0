"""What offline metrics say about two rankings, next to what users did with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._evaluate.compare.comparison import Comparison
from rankine._io.values import kind_of
from rankine._online.abresult import BETTER, WORSE, ABTest
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

_OTHER = {BETTER: WORSE, WORSE: BETTER}


def side_by_side(offline: Comparison, online: ABTest) -> pl.DataFrame:
    """Return offline and online results for the same variants in one table.

    Args:
        offline: what `compare` says about the rankings, each named after its variant.
        online: what `ab_test` says about the variants.

    Returns:
        One row per metric and variant, offline ones first: said, metric, variant,
        control_value, value, difference, low, high, p (corrected) and verdict.

    Raises:
        DataError: a variant of the test has no ranking with its name, or the comparison
            was made with a baseline and has no pair of the control and the variant.

    Examples:
        >>> import polars as pl
        >>> import rankine as rk
        >>> judged = {"q1": {"x": 1}, "q2": {"x": 1}}
        >>> rankings = {
        ...     "A": {"q1": ["y", "x"], "q2": ["x"]},
        ...     "B": {"q1": ["x"], "q2": ["x"]},
        ... }
        >>> users = pl.DataFrame(
        ...     {"id": range(8), "arm": list("AABB") * 2, "bought": [0, 1, 0, 0] * 2}
        ... )
        >>> both = rk.online.side_by_side(
        ...     rk.compare(judged, rankings, "RR"),
        ...     rk.online.ab_test(
        ...         users,
        ...         unit="id",
        ...         variant="arm",
        ...         control="A",
        ...         metrics={"bought": "bought"},
        ...     ),
        ... )
        >>> both.select("said", "metric", "difference").rows()
        [('offline', 'RR', 0.25), ('online', 'bought', -0.5)]
    """
    for name, given, kind in (
        ("offline", offline, Comparison),
        ("online", online, ABTest),
    ):
        if not isinstance(given, kind):
            maker = "compare" if kind is Comparison else "ab_test"
            msg = f"{name} must be what {maker} returns, got {kind_of(given)}"
            raise ParameterError(msg)
    control = online.settings.control
    effects = online.details
    if "segment" in effects.columns:
        effects = effects.filter(pl.col("segment").is_null())
    variants = effects["variant"].unique(maintain_order=True).to_list()
    for name in (control, *variants):
        if name not in offline.systems:
            msg = (
                f"the test has a variant {name!r}, but the comparison has no ranking "
                f"with that name; it has {', '.join(offline.systems)}"
            )
            raise DataError(msg)
    means = {
        (run, metric): mean
        for run, metric, mean in offline.table.select("run", "metric", "mean").rows()
    }
    rows = [
        _turned(row, control, means)
        for row in offline.pairwise.iter_rows(named=True)
        if control in (row["a"], row["b"]) and {row["a"], row["b"]} & {*variants}
    ]
    paired = {variant for _, _, variant, *_ in rows}
    for name in variants:
        if name not in paired:
            msg = (
                f"the comparison has no pair of {control!r} and {name!r}, since it "
                "compares all with one baseline; leave baseline out, or make it "
                f"{control!r}"
            )
            raise DataError(msg)
    said = effects.select(
        pl.lit("online").alias("said"), "metric", "variant", "control_value", "value",
        "difference", "low", "high", pl.col("p_corrected").alias("p"), "verdict",
    )  # fmt: skip
    return pl.concat([pl.DataFrame(rows, said.schema, orient="row"), said])


def _turned(
    row: Mapping[str, Any], control: str, means: Mapping[tuple[str, str], float]
) -> tuple[Any, ...]:
    """Return a pair as a variant against the control, whichever came first."""
    metric, verdict = row["metric"], row["verdict"]
    variant, sign, bounds = row["b"], 1, (row["low"], row["high"])
    if variant == control:
        variant, sign, bounds = row["a"], -1, (-row["high"], -row["low"])
        first, comma, rest = verdict.partition(",")
        verdict = _OTHER.get(first, first) + comma + rest
    return (
        "offline", metric, variant, means[control, metric], means[variant, metric],
        sign * row["difference"], *bounds, row["p_corrected"], verdict,
    )  # fmt: skip
