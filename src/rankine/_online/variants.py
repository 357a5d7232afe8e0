"""Every variant against the control: effects, corrections, and what is doubtful."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_number
from rankine._base.text import grouped, p_equals, percent
from rankine._online.abresult import (
    BY_DAY,
    EFFECTS,
    HEALTH,
    JOINED,
    ABTest,
    SampleRatio,
    verdict_of,
)
from rankine._online.cohort import ODD_RATIO
from rankine._online.effects import (
    LEAST_ACTIVE,
    LEAST_USERS,
    Arm,
    Effect,
    effect_of,
)
from rankine._online.measures import check_names
from rankine._online.moments import by_arm
from rankine._online.oddities import CARRIES, carriers
from rankine._online.quantiles import DRAWS, QuantileEffect
from rankine._stats.corrections import CORRECTIONS
from rankine._stats.sequences import anytime_ratio_p, ratio_p
from rankine.errors import DataError, ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Floats
    from rankine._online.abresult import Settings
    from rankine._online.cohort import Cohort
    from rankine._online.measures import Measure
    from rankine._online.moments import Place

_UNEVEN = 1.5
_HEAVY, _FEW = 0.01, 50
"""The share of the variance that is large for one user; times n, if users are few."""
_CLOSE = 1e-12


def variant_text(value: Any) -> str:
    """Return a variant as text, which is how it is compared.

    >>> variant_text(1), variant_text(1.0), variant_text(True)
    ('1', '1', 'true')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Margin:
    """A change for the worse that does not matter."""

    size: float
    relative: bool = False

    @classmethod
    def read(cls, name: str, given: Any, option: str = "margin") -> Margin:
        """Read 0.01 as absolute and "2%" as relative."""
        relative = isinstance(given, str) and given.strip().endswith("%")
        try:
            size = float(given.strip().rstrip("%")) if isinstance(given, str) else given
        except ValueError:
            size = given
        check_number(f"the {option} of {name}", size, above=0)
        return cls(float(size) / 100 if relative else float(size), relative)

    def of(self, control: float) -> float:
        """Return it as a difference from the value of the control."""
        return self.size * abs(control) if self.relative else self.size

    def __str__(self) -> str:
        """Return it as a user would write it."""
        return f"{100 * self.size:g}%" if self.relative else f"{self.size:g}"


def margins_of(margin: Any, cohort: Cohort) -> dict[str, Margin]:
    """Read margins by metric, each of which must have a direction."""
    given = margin or {}
    check_names("margin", given, [measure.name for measure in cohort.measures])
    for measure in cohort.measures:
        if measure.name in given and measure.higher is None:
            msg = (
                f"{measure.name} has no direction; give one, as in "
                f"better={{{measure.name!r}: 'higher'}} or --better "
                f"{measure.name}=higher"
            )
            raise ParameterError(msg)
    return {name: Margin.read(name, size) for name, size in given.items()}


def compared(
    cohort: Cohort,
    settings: Settings,
    margins: Mapping[str, Margin],
    ratio: Mapping[Any, float] | None = None,
) -> ABTest:
    """Compare all variants with the control."""
    known, sizes = by_arm(cohort)
    variants = sorted(sizes)
    control = settings.control
    if control not in variants:
        hint = nearest(control, variants)
        msg = f"no user is in {control!r}; the variants are {', '.join(variants)}{hint}"
        raise DataError(msg)
    others = [name for name in variants if name != control]
    if not others:
        msg = f"all users are in {control!r}; there is no variant to compare with it"
        raise DataError(msg)
    srm = _sample_ratio(sizes, ratio)
    segments: list[str | None] = [None]
    if cohort.is_segmented:
        segments += sorted({part for _, _, part in known if part is not None})
    rows, health, notes = [], [], [*cohort.notes]
    reasons: list[tuple[str, str]] = []
    doubts: list[tuple[str, str]] = []
    for measure, other, part in product(cohort.measures, others, segments):
        pair = [known.get((measure, name, part)) for name in (control, other)]
        if pair[0] is None or pair[1] is None:
            missing = control if pair[0] is None else other
            notes.append(f"{part}: no user is in {missing!r}, left out")
            continue
        effect = _effect(measure, pair[0], pair[1], settings)
        where = {"metric": measure.name, "variant": other, "segment": part}
        margin = margins.get(measure.name)
        rows.append({**where, **_row(effect, measure, margin, settings)})
        above = _above(measure, pair, (control, other))
        place = place_of(where, others)
        if measure.before is not None:
            health.append({**where, **_health(effect)})
            doubts += _doubts(effect, place)
        reasons += [
            (place, why) for why in _reasons(effect, above, settings.confidence)
        ]
    notes += [*grouped(reasons), *_carriers(cohort, known, sizes)]
    details = _corrected(pl.DataFrame(rows, EFFECTS), settings)
    warnings = [*srm.warnings, *cohort.warnings, *_heavy(cohort, sizes, control)]
    warnings += grouped(doubts)
    return ABTest(
        details if cohort.is_segmented else details.drop("segment"),
        srm,
        replace(settings, margin={name: str(size) for name, size in margins.items()}),
        notes=tuple(dict.fromkeys(notes)),
        warnings=tuple(warnings),
        excluded=dict(cohort.excluded),
        health=pl.DataFrame(health, HEALTH) if health else None,
        arrivals=cohort.arrivals,
        by_day=_by_day(cohort, settings, margins, others),
        joined=_joined(cohort, srm),
        quantiles={
            measure.name: measure.quantile
            for measure in cohort.measures
            if measure.quantile is not None
        },
        definitions={measure.name: measure.says for measure in cohort.measures},
    )


def _by_day(
    cohort: Cohort,
    settings: Settings,
    margins: Mapping[str, Margin],
    others: Sequence[str],
) -> pl.DataFrame | None:
    """Return the effects at the end of each day, if days were asked for."""
    if cohort.by_day is None:
        return None
    rows = []
    before = any(measure.before is not None for measure in cohort.measures)
    for day, frame in cohort.by_day(before=before):
        known, _ = by_arm(replace(cohort, frame=frame))
        for measure, other in product(cohort.measures, others):
            arms = settings.control, other
            pair = [known.get((measure, name, None)) for name in arms]
            if pair[0] is None or pair[1] is None:
                continue
            effect = _effect(measure, pair[0], pair[1], settings)
            row = _row(effect, measure, margins.get(measure.name), settings)
            where = {"day": day, "metric": measure.name, "variant": other}
            rows.append({name: (where | row)[name] for name in BY_DAY})
    return pl.DataFrame(rows, BY_DAY)


def _joined(cohort: Cohort, srm: SampleRatio) -> pl.DataFrame | None:
    """Return how many users each variant had by the end of each day, given times."""
    if "first" not in cohort.frame.columns:
        return None
    dated = cohort.frame.select(
        pl.col("first").cast(pl.Date).alias("day"), pl.col("variant").cast(pl.String)
    ).drop_nulls()
    if dated.is_empty():
        return None
    names = [*srm.shares]
    table = dated.group_by("day").agg(
        (pl.col("variant") == name).sum().cast(pl.Int64).alias(str(place))
        for place, name in enumerate(names)
    )
    days = table.sort("day")
    counts = days.drop("day").to_numpy().cumsum(axis=0).astype(np.float64)
    shares = np.array([*srm.shares.values()])
    rows = [
        (day, name, int(n), n / so_far.sum(), share, anytime_ratio_p(so_far, shares))
        for day, so_far in zip(days["day"], counts, strict=True)
        for name, n, share in zip(names, so_far.tolist(), shares.tolist(), strict=True)
    ]
    return pl.DataFrame(rows, JOINED, orient="row")


def _effect(measure: Measure, a: Any, b: Any, settings: Settings) -> Effect:
    nothing, few = np.array(math.nan), np.array(0, np.bool_)
    if _above(measure, (a, b), ("", "")):
        first, second = (Arm(nothing, nothing, arm.n) for arm in (a, b))
        return Effect(first, second, few, np.array(0.0), nothing, nothing, nothing)
    if measure.quantile is None:
        cuped = measure.before is not None
        return effect_of(a, b, cuped=cuped, imputes=measure.imputes)
    # Each effect has draws of its own, so that no metric changes those of another.
    rng = np.random.default_rng(settings.seed)
    return QuantileEffect.of(a, b, measure.quantile, rng)


def _above(measure: Measure, pair: Sequence[Any], names: Sequence[str]) -> str:
    """Say what is wrong with a share above 1 in an arm; empty if there is none."""
    for name, arm in zip(names, pair, strict=True):
        if measure.over and arm.mean[0] > (1 + _CLOSE) * arm.mean[1]:
            return f"{measure.over} in {name}, a rate above 1"
    return ""


def _row(
    effect: Effect, measure: Measure, margin: Margin | None, settings: Settings
) -> dict[str, Any]:
    alpha, z = settings.alpha, effect.z
    p = effect.p()
    if margin is not None and measure.higher is not None:
        p, z = effect.p_not_worse(**asdict(margin), higher=measure.higher)
        z = np.maximum(z, 0)
    low, high = effect.bounds(alpha)
    lift, lift_low, lift_high = effect.lift(alpha, settings.lift)
    always = effect.always(alpha, settings.expected_n)
    numbers = {
        "control_value": effect.a.value,
        "value": effect.b.value,
        "difference": effect.difference,
        "lift": lift,
        "low": low,
        "high": high,
        "p": p,
        "always_low": always[0],
        "always_high": always[1],
        "p_always": effect.p_always(z, alpha, settings.expected_n),
        "lift_low": lift_low,
        "lift_high": lift_high,
        "error": effect.error,
    }
    return {
        **{name: float(value) for name, value in numbers.items()},
        "n_control": int(effect.a.n),
        "n": int(effect.b.n),
        "higher_is_better": measure.higher,
        "margin": None if margin is None else str(margin),
    }


def _health(effect: Effect) -> dict[str, float]:
    return {
        "theta": float(effect.theta),
        "variance_removed": float(effect.removed),
        "difference_before": float(effect.before),
        "p_before": float(effect.p_before),
    }


def _corrected(details: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Add corrected p-values and verdicts; guardrails are not corrected."""
    free = details["margin"].is_null().to_numpy()

    def corrected(name: str, how: str) -> Floats:
        p = details[name].to_numpy().copy()
        if how in CORRECTIONS:
            p[free] = CORRECTIONS[how](p[free])
        return p

    details = details.with_columns(
        pl.Series("p_corrected", corrected("p", settings.correction)),
        pl.Series(
            "p_always_corrected", corrected("p_always", settings.always_correction)
        ),
    )
    verdicts = [
        verdict_of(row, settings.alpha) for row in details.iter_rows(named=True)
    ]
    return details.with_columns(pl.Series("verdict", verdicts, pl.String))


def _sample_ratio(sizes: Mapping[str, int], ratio: Any) -> SampleRatio:
    variants = sorted(sizes)
    shares = dict.fromkeys(variants, 1 / len(variants))
    if ratio is not None:
        if not isinstance(ratio, Mapping):
            msg = f"ratio must be {{variant: share}}, got {ratio!r}"
            raise ParameterError(msg)
        weights = {variant_text(name): share for name, share in ratio.items()}
        for name in variants:
            if name not in weights:
                msg = f"ratio has no share for the variant {name!r}"
                raise ParameterError(msg)
        for name, share in weights.items():
            check_number(f"the share of {name}", share, above=0)
        shares = {name: weights[name] / sum(weights.values()) for name in weights}
    counts = np.array([float(sizes.get(name, 0)) for name in shares])
    expected = np.array([*shares.values()])
    return SampleRatio(
        dict(zip(shares, map(int, counts), strict=True)),
        shares,
        ratio_p(counts, expected),
        anytime_ratio_p(counts, expected),
        ODD_RATIO,
    )


def place_of(where: Mapping[str, Any], others: Sequence[str]) -> str:
    """Name a metric, its variant if there are several, and its segment if it has one.

    >>> place_of({"metric": "ctr", "variant": "B", "segment": "DE"}, ["B", "C"])
    'ctr of B in DE'
    """
    variant = f" of {where['variant']}" if len(others) > 1 else ""
    part = where.get("segment")
    segment = "" if part is None else f" in {part}"
    return f"{where['metric']}{variant}{segment}"


def _reasons(effect: Effect, above: str, confidence: float) -> list[str]:
    """Say why numbers are missing."""
    if above:
        return [f"undefined, as {above}"]
    if math.isnan(effect.difference):
        return ["undefined, as a denominator is 0 or less, or an arm has no users"]
    alone = min(effect.a.n, effect.b.n) < 2  # noqa: PLR2004
    if isinstance(effect, QuantileEffect):
        return [_ALONE] if alone else _of_draws(effect, 1 - confidence)
    said = []
    if not effect.error > 0:
        said.append(_ALONE if alone else _CONSTANT)
    if not effect.a.value > 0:
        said.append("no lift, as the control is not above 0")
    if not effect.enough:
        said.append(
            f"no confidence sequence; it needs {LEAST_USERS:,} users, and "
            f"{LEAST_ACTIVE} whose numerator is not 0, in each arm"
        )
    return said


_ALONE = "no interval and no p-value, as an arm has one user"
_CONSTANT = "no interval and no p-value, as it does not vary in either arm"


def _of_draws(effect: QuantileEffect, alpha: float) -> list[str]:
    """Say what is missing or surprising in the effect on a quantile."""
    said = ["no confidence sequence, which quantiles do not have"]
    low, high = effect.bounds(alpha)
    if math.isnan(low):
        said.append(
            f"no interval: {DRAWS:,} draws give one at a confidence of up to "
            f"{1 - 2 / (DRAWS + 1):g}"
        )
    elif low == high:
        first, second = (
            percent(own.tied, 1) for own in (effect.drawn_a, effect.drawn_b)
        )
        said.append(
            f"the interval has no width, as {first} of the control's and {second} of "
            "the variant's users are tied at the quantile; compare the mean, which "
            "every user moves"
        )
    if math.isnan(effect.lift(alpha, "")[0]):
        said.append("no lift, as the quantile of the control can be 0 or less")
    return said


def _heavy(cohort: Cohort, sizes: Mapping[str, int], control: str) -> list[str]:
    """Warn of single users who make up much of the variance, in uneven arms.

    This is for the control and the variants whose size differs from it. If users are
    few, each makes up much, so the share has to be larger.
    """
    base = sizes[control]
    uneven = [
        name for name, n in sizes.items() if max(n, base) >= _UNEVEN * min(n, base)
    ]
    if not uneven:
        return []
    labels = cohort.frame["variant"].cast(pl.String)
    frame = cohort.frame.filter(labels.is_in([control, *uneven]))
    said = []
    for measure in cohort.measures:
        y = frame[measure.y].cast(pl.Float64).fill_nan(None)
        y = y if measure.cap is None else y.clip(upper_bound=measure.cap)
        apart = (y - y.mean()).pow(2)
        most, total = (float(size or 0) for size in (apart.max(), apart.sum()))  # type: ignore[arg-type]
        if most > max(_HEAVY, _FEW / max(frame.height, 1)) * total:
            said.append(
                f"{measure.name}: one user makes up {percent(most / total, 1)} of "
                "the variance, and the arms are of unequal size; intervals are too "
                "narrow, and a cap that is fixed in advance helps"
            )
    return said


def _carriers(
    cohort: Cohort, known: Mapping[Place, Any], sizes: Mapping[str, int]
) -> list[str]:
    """Name the users who carry much of the variance of a metric in their arm.

    The moments of an arm give its sum of (y - R x)^2, and the least and largest y and x
    of all users bound each of its terms: only where the bound is large are users looked
    at, one by one.
    """
    if cohort.ids is None:
        return []
    columns, notes = cohort.columns(), []
    frame = cohort.frame.select(*columns)
    ends = {side.name: np.array([side.min(), side.max()], float) for side in frame}
    for measure in cohort.measures:
        for variant in sorted(sizes):
            arm = known.get((measure, variant, None))
            if arm is None or measure.quantile is not None:
                continue
            ratio, weights = arm.ratio()
            squares = arm.variance(weights) * (arm.n - 1) * arm.mean[1] ** 2
            y, x = measure.sides(ends)
            most = np.abs(y[:, None] - ratio * (1 if x is None else x)).max() ** 2
            if not most > (1 - _CLOSE) * CARRIES * squares > 0:
                continue
            rows = (cohort.frame["variant"].cast(pl.String) == variant).arg_true()
            y, x = measure.sides(columns)
            x = np.ones(len(y)) if x is None else x
            ids = cohort.ids
            notes += carriers(measure.name, y, x, ids, rows.to_numpy(), variant)
    return notes


def _doubts(effect: Effect, place: str) -> list[tuple[str, str]]:
    """Warn of arms that differed before the test, and of a covariate that misleads."""
    said = []
    if effect.p_before < ODD_RATIO:
        said.append((f"{place} ({p_equals(float(effect.p_before))})", _DIFFERED))
    if effect.theta < 0 and _is_correlated(effect):
        said.append((place, _OPPOSITE))
    return said


def _is_correlated(effect: Effect) -> bool:
    """Say whether the covariate has more to do with the metric than chance explains.

    What is removed is the squared correlation: n times it is a chi-squared value with
    one degree of freedom if there is none. The level is strict, as each metric, variant
    and segment is tested. The smaller arm counts twice, as chance removes more where
    arms are uneven.
    """
    n = 2 * min(float(effect.a.n), float(effect.b.n))
    far = n * max(float(effect.removed), 0.0)  # nan where nothing varies
    return math.erfc(math.sqrt(far / 2)) < ODD_RATIO


_DIFFERED = (
    "differed from the control before the test; users may not have been drawn at random"
)
_OPPOSITE = (
    "the covariate correlates negatively with the metric; check that it is the right "
    "one"
)
