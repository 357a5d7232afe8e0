"""What an A/B test found."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.notebook import as_table
from rankine._base.text import count, p_equals
from rankine._online.results import Saved, plain_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = (
    "metric", "variant", "segment", "control_value", "value", "difference", "lift",
    "low", "high", "p", "p_corrected", "always_low", "always_high", "p_always",
)  # fmt: skip
"""The columns of `table`; segment only if there are segments."""
EFFECTS = {
    **dict.fromkeys(("metric", "variant", "segment"), pl.String),
    **dict.fromkeys(
        (
            "control_value", "value", "difference", "lift", "low", "high", "p",
            "always_low", "always_high", "p_always", "lift_low", "lift_high", "error",
        ),
        pl.Float64,
    ),
    **dict.fromkeys(("n_control", "n"), pl.Int64),
    "higher_is_better": pl.Boolean,
    "margin": pl.String,
}  # fmt: skip
"""The columns of `details` that are computed effect by effect, with their types."""
DETAILS = {
    **EFFECTS,
    **dict.fromkeys(("p_corrected", "p_always_corrected"), pl.Float64),
    "verdict": pl.String,
}
HEALTH = {
    **dict.fromkeys(("metric", "variant", "segment"), pl.String),
    **dict.fromkeys(
        ("theta", "variance_removed", "difference_before", "p_before"), pl.Float64
    ),
}
BY_DAY = {
    "day": pl.Date,
    **dict.fromkeys(("metric", "variant"), pl.String),
    **dict.fromkeys(
        (
            "control_value", "value", "difference", "low", "high", "always_low",
            "always_high", "p_always",
        ),
        pl.Float64,
    ),
    **dict.fromkeys(("n_control", "n"), pl.Int64),
}  # fmt: skip
JOINED = {
    "day": pl.Date,
    "variant": pl.String,
    "users": pl.Int64,
    **dict.fromkeys(("share", "expected", "p_anytime"), pl.Float64),
}
BETTER, WORSE, CANNOT_TELL = "better", "worse", "cannot tell"
NOT_WORSE, LARGER, SMALLER = "not worse", "larger", "smaller"
DECIDED = (BETTER, WORSE, LARGER, SMALLER)
"""The verdicts that say in which direction a variant differs."""


@dataclass(frozen=True)
class Settings:
    """How a test was set up; see `ab_test`.

    Attributes:
        margin: the margin of each guardrail.
        cap: the size at which each user's total is capped, by metric.
        page_cap: the most seconds that a page view counts for, in a log of events; None
            for a table of users, which does not say.
        window: how many days after the first exposure count, in a log of events; None
            for all, and for a table of users, which does not say.
        winsorize: the quantile over all users at which numerators and denominators are
            cut.
        max_events: users with more events were left out, in a log of events.
        incomplete: whether users whose window is not over were kept or left out; None
            without a window.
        timezone: the time zone of days; None for UTC.
        rules: the other options for reading the log that were given, such as ``unit``.
        table: whether the data were a table of `users`, in which how events are counted
            was settled.
    """

    control: str
    confidence: float = 0.95
    correction: str = "holm"
    always_correction: str = "holm"
    lift: str = "delta"
    expected_n: int = 10_000
    cuped: bool = False
    seed: int = 0
    margin: Mapping[str, str] = field(default_factory=dict)
    cap: Mapping[str, float] = field(default_factory=dict)
    page_cap: float | None = None
    window: float | None = None
    winsorize: float | None = None
    max_events: int | None = None
    incomplete: str | None = None
    timezone: str | None = None
    rules: Mapping[str, Any] = field(default_factory=dict)
    table: bool = False

    @property
    def alpha(self) -> float:
        """The risk of a wrong verdict."""
        return 1 - self.confidence


@dataclass(frozen=True)
class SampleRatio:
    """Whether the arms are as large as they should be.

    Attributes:
        counts: how many users each variant has, by their first exposure.
        shares: the expected shares.
        p: the chi-square p-value, valid for one look at the end.
        p_anytime: a p-value that holds at every look.
        threshold: the p-value below which the results of a test are flagged.
    """

    counts: dict[str, int]
    shares: dict[str, float]
    p: float
    p_anytime: float
    threshold: float = 0.001

    @property
    def mismatch(self) -> bool:
        """Whether a p-value is below the threshold."""
        return min(self.p, self.p_anytime) < self.threshold

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warning to give if the arms are not as large as they should be."""
        if not self.mismatch:
            return ()
        total = sum(self.counts.values())
        seen = ", ".join(
            f"{name} {n:,} instead of {self.shares[name] * total:,.0f}"
            for name, n in self.counts.items()
        )
        said = (
            f"the arms are not as large as they should be: {seen} "
            f"({p_equals(self.p)}); users were lost or counted twice in one of them, "
            "and no result can be trusted"
        )
        return (said,)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {**asdict(self), "mismatch": self.mismatch}

    def _repr_html_(self) -> str:
        return as_table(self)


@dataclass(frozen=True, eq=False, repr=False)
class ABTest(Saved):
    """The effects of all variants on all metrics.

    Attributes:
        details: one row per metric and variant, and per segment if there are any: the
            columns of `table`, the interval of the lift, the standard error, the
            numbers of users, the margin, the corrected p_always, and the verdict.
        srm: the check of the sample ratio, with `p` and `p_anytime`.
        settings: how the test was set up, with the `expected_n` to keep at every look.
        notes: what was assumed, left out, or is unknown.
        warnings: what makes the results doubtful.
        excluded: events and users that were left out, by reason.
        health: with CUPED, its weight, the share of the variance that it removed, and
            the difference before the test with its p-value; None without.
        arrivals: how many new users came on each day up to the end of the log, if times
            are known; up to the last day that counts, if windows are not over.
        by_day: with ``daily=True``, the effects as they were at the end of each day,
            for the users who count at the end: difference, low, high, always_low and
            always_high, p_always, and the numbers of users; None without.
        joined: how many users each variant had at the end of each day, their share, the
            expected share, and p_anytime; None if times are not known.
        quantiles: the metrics that are quantiles, with their shares.
        definitions: metric -> how it is defined.
    """

    details: pl.DataFrame
    srm: SampleRatio
    settings: Settings
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    excluded: Mapping[str, int] = field(default_factory=dict)
    health: pl.DataFrame | None = None
    arrivals: tuple[int, ...] = ()
    by_day: pl.DataFrame | None = None
    joined: pl.DataFrame | None = None
    quantiles: Mapping[str, float] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)

    @property
    def table(self) -> pl.DataFrame:
        """One row per metric and variant, and per segment if there are any.

        `low` and `high` bound the difference; `p` is two-sided, or one-sided for a
        guardrail; `always_low`, `always_high` and `p_always` hold at every look.
        """
        return self.details.select(
            name for name in COLUMNS if name in self.details.columns
        )

    def __repr__(self) -> str:
        """Return what was compared, in one line."""
        metrics = ", ".join(self.details["metric"].unique(maintain_order=True))
        others = ", ".join(self.details["variant"].unique(maintain_order=True))
        users = sum(self.srm.counts.values())
        return (
            f"ABTest({metrics}; {others} against {self.settings.control}; "
            f"{count(users, 'user')})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; undefined ones are None."""
        return {
            "control": self.settings.control,
            "effects": plain_rows(self.details),
            "srm": self.srm.to_dict(),
            "settings": asdict(self.settings),
            "quantiles": dict(self.quantiles),
            "definitions": dict(self.definitions),
            "health": [] if self.health is None else plain_rows(self.health),
            "by_day": [] if self.by_day is None else plain_rows(self.by_day),
            "joined": [] if self.joined is None else plain_rows(self.joined),
            "excluded": dict(self.excluded),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def plot(self, kind: str = "forest", metric: str | None = None) -> Any:
        """Return a chart of Altair, to be shown, changed and saved.

        Args:
            kind: ``forest``, the lifts of all metrics with their intervals and
                verdicts; ``difference``, the differences in one metric, with the
                interval for one look and the one that holds at every look; ``days``,
                the difference in one metric at the end of each day, with both bands.
            metric: one of the metrics; the first if not given, and for ``forest`` all.

        Returns:
            A chart, which needs the extra ``report``.

        Raises:
            MissingExtraError: Altair is not installed.
            ParameterError: there is no such kind or metric, the test was made without
                ``daily=True``, or there are more variants than colours can tell apart
                over days.

        >>> import polars as pl
        >>> import rankine as rk
        >>> users = pl.DataFrame(
        ...     {"id": range(8), "arm": list("AAAABBBB"), "bought": [1, 1, 0, 0] * 2}
        ... )
        >>> test = rk.online.ab_test(
        ...     users,
        ...     unit="id",
        ...     variant="arm",
        ...     control="A",
        ...     metrics={"bought": "bought"},
        ... )
        >>> (row,) = test.plot("difference").to_dict()["data"]["values"]
        >>> row["label"], row["value"], row["verdict"]
        ('B', 0.0, 'cannot tell')
        """
        from rankine._report.online_charts import plot_test  # noqa: PLC0415

        return plot_test(self, kind, metric)

    def to_markdown(self) -> str:
        """Return the effects as a Markdown table, and how far verdicts may be read."""
        from rankine._report.abtest import to_markdown  # noqa: PLC0415

        return to_markdown(self)

    def __str__(self) -> str:
        """Return effects, the check of the sample ratio, warnings and notes as text."""
        from rankine._report.abtest import to_text  # noqa: PLC0415

        return to_text(self)

    def _repr_html_(self) -> str:
        from rankine._report.abtest import to_html  # noqa: PLC0415

        return to_html(self)


def verdict_of(row: Mapping[str, Any], alpha: float) -> str:
    """Return what a row says, in a word or two."""
    p, up = row["p_corrected"], row["higher_is_better"]
    rose = row["difference"] > 0
    if row["margin"] is not None:
        if p <= alpha:
            return NOT_WORSE
        bound = row["high"] if up else row["low"]
        fell = bound < 0 if up else bound > 0
        return WORSE if fell else CANNOT_TELL
    if math.isnan(p) or p > alpha:
        return CANNOT_TELL
    if up is None:
        return LARGER if rose else SMALLER
    return BETTER if rose == up else WORSE
