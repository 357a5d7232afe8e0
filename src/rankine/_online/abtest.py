"""ab_test: what a variant changes, from events or from a table of users."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
import polars.selectors as cs

from rankine._base.checks import check_choice, check_count, check_flag, check_number
from rankine._online.abresult import ABTest, Settings
from rankine._online.inputs import check_options, cohort_of, opened
from rankine._online.metrics import check_metrics
from rankine._online.rules import UNITS
from rankine._online.times import DAY, SECOND
from rankine._online.variants import compared, margins_of, variant_text
from rankine._stats.corrections import CORRECTIONS
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._online.cohort import Cohort
    from rankine._online.inputs import Input
    from rankine._online.variants import Margin

_ALWAYS = ("holm", "bonferroni", "none")
_LIFTS = ("delta", "fieller")
EXPECTED_N = 10_000
_RETURNING = (
    "always-valid intervals are approximate if users return during the test; they are "
    "proven if users count for a fixed number of days after their first exposure: "
    "window= or --window"
)
_NO_SEQUENCE = (
    "winsorize= leaves no always-valid intervals: its caps come from the data, and "
    "change from look to look"
)


def ab_test(
    data: Any,
    *,
    control: Any,
    metrics: Mapping[str, Any] | Sequence[str] | None = None,
    unit: str | None = None,
    variant: str | None = None,
    segment: str | None = None,
    daily: bool = False,
    covariates: Mapping[str, Any] | None = None,
    cuped: bool = False,
    better: Mapping[str, Literal["higher", "lower"]] | None = None,
    margin: Mapping[str, float | str] | None = None,
    cap: Mapping[str, float] | float | None = None,
    winsorize: float | None = None,
    ratio: Mapping[Any, float] | None = None,
    correction: Literal["holm", "bonferroni", "bh", "none"] = "holm",
    always_correction: Literal["holm", "bonferroni", "none"] = "holm",
    lift: Literal["delta", "fieller"] = "delta",
    confidence: float = 0.95,
    expected_n: int = EXPECTED_N,
    seed: int = 0,
    memory_limit: int | str | None = None,
    **rules: Any,
) -> ABTest:
    r"""Compare every variant with the control, metric by metric.

    The randomised unit is the user: every metric is a ratio of sums over users (in a
    mean, the denominator of each user is 1), and its variance is that of the users'
    influences.

    Formula:
        $$d = R_b - R_a, \quad R = \sum_u y_u / \sum_u x_u, \quad
        s^2 = \operatorname{var}_u \frac{y_u - R x_u}{\bar x}$$

        $$d \pm t \sqrt{s_a^2 / n_a + s_b^2 / n_b}$$

    where t has Welch's degrees of freedom. The lift is R_b / R_a - 1; its interval
    comes from the delta method on its logarithm, or from Fieller's method.

    The difference of two quantiles, and their lift, is drawn 9,999 times from their
    bootstrap distribution, which is known exactly: with k = ceil(n q), the value at
    rank ceil(n Beta(k, n - k + 1)). The interval is between percentiles of the draws,
    and p is twice the share at or beyond 0, so that tied values may not mislead.

    Args:
        data: a log of events, the table of `users` that was made of one, an
            `Accumulator` that has read events, or a table of your own with one row per
            user; as a path, a frame, or what `read_table` or `from_sql` returns.
        control: the variant that the others are compared with.
        metrics: {name: column} for a mean, {name: (numerator, denominator)} for a
            ratio, {name: (column, 0.9)} for a quantile, from columns of the table of
            `users` or of your own; or names of metrics of a log, as in `summarize`: all
            that can be computed if not given.
        unit: for a table of your own, the column of their ids, which must all be
            different; in a table of `users`, "user", to use columns that you added; for
            events, what converts, as in `summarize`.
        variant: the column of variants, if it is not recognised or it is in a table of
            your own.
        segment: a column; effects are also given for each of its segments.
        daily: for events, whether to also give the effects as they were at the end of
            each day, in ``by_day``; days are those of ``timezone=``, or of UTC.
        covariates: for a table of your own, {metric: column}, or two columns for a
            ratio: the same quantity before the test, for CUPED.
        cuped: for events, whether to use those before a user's first exposure.
        better: {metric: "higher" or "lower"}; if not given, higher, or for metrics of
            events the direction that they are defined with.
        margin: {metric: size}: a change for the worse that does not matter, absolute as
            in 0.01, or relative as in "2%"; such a metric is a guardrail: it is tested
            for not being worse, and not corrected.
        cap: {metric: size}: each user's total is cut to it, as fixed before the test;
            for events, a number: the longest time on a page, as in `summarize`.
        winsorize: a share above 0.5 and below 1, such as 0.999: the numerators and
            denominators of users are cut to this quantile over the users of all arms.
            There are no confidence sequences then. Not for quantiles.
        ratio: {variant: share}, the expected shares of users; equal if not given.
        correction: how to correct for the number of metrics, variants and segments
            together.
        always_correction: the same for p_always; ``bh`` is not offered, because it does
            not hold under repeated looks.
        lift: how the interval of the lift is computed: ``delta`` or ``fieller``.
        confidence: the level of all intervals; verdicts are given at 1 minus this.
        expected_n: the number of users in both arms at which confidence sequences are
            tightest. Fix it before the first look, and keep it.
        seed: the seed of what is drawn for quantiles; nothing else is drawn.
        memory_limit: for events, as in `summarize`.
        rules: how events are read, as in `summarize`: columns, kinds, exposure, window;
            ``max_events=`` leaves out users with more events after their exposure.

    Returns:
        The effects with intervals, p-values and verdicts, the check of the sample
        ratio, and notes. A value is nan, with the reason in the notes, where a
        denominator is 0 or less, or nothing varies; so is a confidence sequence where
        an arm has fewer than 1,000 users, or fewer than 100 with a numerator.

    Raises:
        ParameterError: an option is not valid, or there is no such metric.
        DataError: a column is missing, a user appears twice, or there is no control.

    References:
        A. Deng, U. Knoblich, J. Lu: Applying the delta method in metric analytics.
        KDD 2018. I. Waudby-Smith et al.: Time-uniform central limit theory and
        asymptotic confidence sequences. Annals of Statistics 2024. M. Schultzberg, S.
        Ankargren: Resampling-free bootstrap inference for quantiles. 2022.

    Examples:
        Two of four against three of four: a difference of 1/4.

        >>> import polars as pl
        >>> import rankine as rk
        >>> users = pl.DataFrame(
        ...     {
        ...         "user_id": range(8),
        ...         "arm": list("AAAABBBB"),
        ...         "bought": [1, 1, 0, 0, 1, 1, 1, 0],
        ...     }
        ... )
        >>> test = rk.online.ab_test(
        ...     users,
        ...     unit="user_id",
        ...     variant="arm",
        ...     control="A",
        ...     metrics={"bought": "bought"},
        ... )
        >>> test.table["difference"].item(), test.table["lift"].item()
        (0.25, 0.5)
    """
    check_options(ab_test, rules)
    metrics = check_metrics(metrics, in_test=True)
    settings = Settings(
        control=variant_text(control), confidence=confidence, correction=correction,
        always_correction=always_correction, lift=lift, expected_n=expected_n,
        cuped=bool(covariates) or cuped is True, seed=seed, winsorize=winsorize,
    )  # fmt: skip
    check_settings(settings)
    check_flag("cuped", cuped)
    check_flag("daily", daily)
    of_log: dict[str, Any] = {}
    if cap is not None and not isinstance(cap, Mapping):
        of_log["cap"] = cap
    if variant is not None:
        of_log["columns"] = {**(rules.get("columns") or {}), "variant": variant}
    given = opened(data, metrics, unit, rules, of_log)
    _check_segment(segment, variant, rules)
    if given.is_own:
        _check_own(unit, variant, cap)
    caps = cap if isinstance(cap, Mapping) else {}
    cohort = cohort_of(
        given, metrics, by=variant if given.is_own else "variant", segment=segment,
        covariates=covariates, cuped=cuped, daily=daily, memory_limit=memory_limit,
    ).with_options(better or {}, caps)  # fmt: skip
    if cuped:
        cohort = cohort.noted(*_without_cuped(cohort))
    settings = replace(
        settings, **_limits_of(given), timezone=cohort.zone,
        cap={name: float(most) for name, most in caps.items()},
    )  # fmt: skip
    if not given.is_own and not given.has_window:
        cohort = cohort.noted(_RETURNING)
    if winsorize is not None:
        cohort = cohort.winsorized(winsorize).noted(_NO_SEQUENCE)
    margins = margins_of(margin, cohort)
    cohort = cohort.noted(*_assumed(cohort, margins))
    test = compared(cohort, settings, margins, ratio)
    return test if winsorize is None else _without_sequences(test)


def _assumed(cohort: Cohort, margins: Mapping[str, Margin]) -> list[str]:
    """Name the guardrails of which nobody said that higher is better.

    One that counts errors would pass when they rise.
    """
    names = [each.name for each in cohort.measures if each.assumed]
    guards = [name for name in names if name in margins]
    if not guards:
        return []
    one = guards[0]
    other = f"better={{{one!r}: 'lower'}} or --better {one}=lower turns it round"
    return [f"{', '.join(guards)}: higher is taken as better; {other}"]


def _check_segment(
    segment: str | None, variant: str | None, rules: Mapping[str, Any]
) -> None:
    """Refuse the column of variants as that of segments."""
    column = variant or (rules.get("columns") or {}).get("variant", "variant")
    if segment is not None and segment == column:
        msg = f"segment must be another column than that of the variants, {column!r}"
        raise ParameterError(msg)


def _without_cuped(cohort: Cohort) -> list[str]:
    """Name the metrics to which CUPED does not apply; refuse it if those are all."""
    names = [measure.name for measure in cohort.measures if measure.before is None]
    if not names:
        return []
    why = "retention and quantiles have no value from before the test"
    if len(names) == len(cohort.measures):
        msg = f"cuped cannot be applied to {', '.join(names)}: {why}"
        raise ParameterError(msg)
    return [f"{', '.join(names)}: without CUPED, as {why}"]


def _limits_of(given: Input) -> dict[str, Any]:
    """Return what is known of how events were read, for the settings of a test.

    A table of users says whether there was a window.
    """
    rules = given.rules
    own = {"cap", *(each.name for each in fields(Settings))}
    others = {name: value for name, value in rules.options().items() if name not in own}
    return {
        "page_cap": None if rules.longest is None else rules.longest / SECOND,
        "window": None if rules.within is None else rules.within / DAY,
        "max_events": rules.max_events,
        "incomplete": rules.incomplete if given.has_window else None,
        "rules": others,
        "table": given.of_users,
    }


def _without_sequences(test: ABTest) -> ABTest:
    """Leave out what holds at every look, as caps that come from the data do not."""
    always = cs.starts_with("always_", "p_always")
    unknown = always.cast(pl.Float64) * math.nan
    by_day = None if test.by_day is None else test.by_day.with_columns(unknown)
    return replace(
        test, details=test.details.with_columns(unknown), by_day=by_day,
        notes=tuple(note for note in test.notes if note != _RETURNING),
    )  # fmt: skip


def _check_own(unit: str | None, variant: str | None, cap: Any) -> None:
    """Check what a test of a table of one's own needs."""
    if unit is None or unit in UNITS:
        msg = (
            "a table with one row per user needs the column of their ids, unit= or "
            "--users COLUMN; a log of events needs columns of users and of events"
        )
        raise ParameterError(msg)
    if cap is not None and not isinstance(cap, Mapping):
        msg = f"cap must be a mapping by metric, got {cap!r}"
        raise ParameterError(msg)
    if variant is None:
        msg = "a table of users needs variant=, the column of their variants"
        raise ParameterError(msg)


def check_settings(settings: Settings) -> None:
    """Check what does not depend on data."""
    check_choice("correction", settings.correction, [*CORRECTIONS, "none"])
    if settings.always_correction in CORRECTIONS.keys() - {*_ALWAYS}:
        msg = (
            f"always_correction must be one of {', '.join(_ALWAYS)}, got "
            f"{settings.always_correction!r}: false discoveries add up under repeated "
            "looks"
        )
        raise ParameterError(msg)
    check_choice("always_correction", settings.always_correction, _ALWAYS)
    check_choice("lift", settings.lift, _LIFTS)
    check_number("confidence", settings.confidence, above=0, below=1)
    check_count("expected_n", settings.expected_n, least=1)
    check_count("seed", settings.seed, least=0)
    if settings.winsorize is not None:
        check_number("winsorize", settings.winsorize, above=0.5, below=1)
    if settings.max_events is not None:
        check_count("max_events", settings.max_events, least=1)
