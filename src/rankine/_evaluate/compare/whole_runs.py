"""Metrics that are a single number for a whole run, compared by leaving out users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.text import count
from rankine._evaluate.summary import number_of_all
from rankine._evaluate.worst import table_of
from rankine._stats.jackknife import Whole
from rankine._stats.pairwise import TUKEY
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._base.arrays import Floats
    from rankine._evaluate.compare.system_values import SystemValues
    from rankine._evaluate.result import Evaluation
    from rankine._metrics.metric import Metric
    from rankine._stats.pairwise import Settings


def check_whole(
    name: str, bound: Metric, settings: Settings, *, segmented: bool
) -> None:
    """Refuse options that need values per query, and parameters without a jackknife."""
    bound.without(type(bound).blank())
    needed = ""
    if settings.correction == "maxt":
        needed = "correction='maxt' flips the signs of"
    elif settings.test in TUKEY:
        needed = f"test={settings.test!r} needs"
    elif segmented:
        needed = "by= splits"
    if needed:
        msg = (
            f"{name} is a single number for all users, but {needed} values per query; "
            "leave out one of the two"
        )
        raise ParameterError(msg)


def whole_of(evaluations: Mapping[str, Evaluation], label: str) -> Whole:
    """Return the number of each system, with and without each user."""
    by_system: dict[str, dict[str, float]] = {}
    values = []
    for name, evaluation in evaluations.items():
        own = evaluation._label(label)  # noqa: SLF001 - of the same package
        _, listed = table_of(evaluation, own)
        value, left = whole_and_without(evaluation, own)
        left = np.where(np.isnan(left), np.inf, left)
        by_system[name] = dict(zip(map(str, listed.ids), left.tolist(), strict=True))
        values.append(value)
    users = sorted({user for numbers in by_system.values() for user in numbers})
    without = [
        [numbers.get(user, np.nan) for user in users] for numbers in by_system.values()
    ]
    return Whole(np.array(values), np.array(without))


def whole_and_without(evaluation: Evaluation, label: str) -> tuple[float, Floats]:
    """Return the number of a whole run before it is rounded, and without each user."""
    bound, listed = table_of(evaluation, label)
    if listed.table is not None:
        return number_of_all(bound, listed.table), bound.without(listed.table)
    check_kept(evaluation, label)
    kept: tuple[float, Floats] = evaluation.summaries[label].whole  # type: ignore[assignment]
    return kept


def check_kept(evaluation: Evaluation, label: str) -> None:
    """Refuse a number of which nobody knows what it is without each user."""
    _, listed = table_of(evaluation, label)
    if listed.table is None and evaluation.summaries[label].whole is None:
        msg = (
            f"{label} is a single number for all users, and batches do not keep what "
            "it is without each of them; pass the runs to rk.compare"
        )
        raise ParameterError(msg)


def whole_notes(
    labels: tuple[str, ...], wholes: Mapping[int, Whole], settings: Settings
) -> list[str]:
    """Return notes on how such numbers were tested, and what they depend on."""
    by_size: dict[int, list[str]] = {}
    for metric, whole in wholes.items():
        by_size.setdefault(whole.without.shape[1], []).append(labels[metric])
    return [
        f"{', '.join(names)}: a single number for {count(n, 'user')} together, valid "
        "for that many; differences are tested by the jackknife's z-test, which leaves "
        f"out one user at a time, not by {settings.test}"
        for n, names in by_size.items()
    ]


def whole_warnings(compared: SystemValues, pairs: Any) -> list[str]:
    """Return warnings about such numbers, or their errors, that are unreliable."""
    said = []
    for metric, whole in compared.wholes.items():
        label, n = compared.metrics[metric], whole.n
        if n.min() < n.max():
            each = zip(compared.systems, n.tolist(), strict=True)
            sizes = ", ".join(f"{name} {size:,}" for name, size in each)
            said.append(
                f"{label} depends on the number of users, which differs: {sizes}"
            )
        unmoved = (
            (pairs.metric == metric) & (pairs.n_moved == 0) & (pairs.difference != 0)
        )
        for number in np.flatnonzero(unmoved & ~np.isnan(pairs.difference)):
            a, b = (compared.systems[side[number]] for side in (pairs.a, pairs.b))
            said.append(
                f"{label}: leaving out a user never changes the difference of {a} and "
                f"{b}, so its error cannot be estimated"
            )
    return said
