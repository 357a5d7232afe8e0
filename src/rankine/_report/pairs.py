"""How p-values and intervals of pairs are written, and for how many pairs they hold.

A p-value is corrected for all pairs of a family, and the interval beside it is for its
pair alone. One may find a difference where the other does not, so both say what they
hold for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.text import count, p_equals, p_text
from rankine._report.tables import between
from rankine._stats.attainable import at_floor
from rankine._stats.pairwise import TUKEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._base.arrays import Ints
    from rankine._evaluate.compare.comparison import Comparison

IN_WORDS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini and Hochberg's correction",
    "maxt": "MaxT correction",
}
_BESIDE_STUDENT = ("randomization", "wilcoxon", "sign")
"""Tests without an interval of their own; Student's is shown instead."""
_SHORT = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "BH", "maxt": "MaxT"}


class PairInWords(NamedTuple):
    """A pair, with the words for its test.

    Attributes:
        row: the row of `Comparison.pairwise`.
        p, p_corrected: both p-values, as in a table.
        p_said: the corrected p-value with its correction, as in a sentence.
        holds_for: the pairs for which the interval holds; empty if the same as for p.
        all_pairs: the pairs for which ``all_bounds`` hold.
        all_bounds: the simultaneous interval; None if there is none, or if the
            interval of the pair is simultaneous already.
        equivalence: the interval and the p-value of the test of equivalence.
    """

    row: dict[str, Any]
    p: str
    p_corrected: str
    p_said: str
    holds_for: str
    all_pairs: str
    all_bounds: tuple[float, float] | None
    equivalence: str


def pairs_in_words(comparison: Comparison) -> Iterator[PairInWords]:
    """Go through all pairs, in the order of `Comparison.pairwise`."""
    pairs, how = comparison.pairs, comparison.settings
    whole = np.isin(pairs.metric, list(comparison._compared.wholes))  # noqa: SLF001
    at_most, corrected_at_most = at_floor(pairs, how, whole)
    rows = comparison.pairwise.iter_rows(named=True)
    for number, row in enumerate(rows):
        n = int(pairs.n_tested[number])
        floor = bool(corrected_at_most[number])
        after = f" after {_corrected(comparison, n)}" if _is_corrected(n, how) else ""
        bounds = None
        if how.is_simultaneous and how.test not in TUKEY and n > 1:
            bounds = float(pairs.low_all[number]), float(pairs.high_all[number])
        yield PairInWords(
            row,
            p_text(_p(row["p"]), at_most=bool(at_most[number])),
            p_text(_p(row["p_corrected"]), at_most=floor),
            p_equals(_p(row["p_corrected"]), at_most=floor) + after,
            "this pair alone" if after else "",
            f"all {count(n, _noun(comparison))} at once",
            bounds,
            _equivalence(comparison, number),
        )


def _p(p: float | None) -> float:
    return math.nan if p is None else p


def _is_corrected(n: int, how: Any) -> bool:
    """Say whether a p-value differs from that of the pair alone."""
    return how.corrects and n > 1


def _corrected(comparison: Comparison, n: int) -> str:
    by = IN_WORDS[comparison.settings.correction]
    return f"{by} for {count(n, _noun(comparison))}"


def _noun(comparison: Comparison) -> str:
    """Return what a family consists of: pairs or tests."""
    several = comparison.settings.family == "all" and len(comparison.metrics) > 1
    # Tukey's tests know only the pairs of one metric.
    return "test" if several and comparison.settings.test not in TUKEY else "pair"


def _equivalence(comparison: Comparison, number: int) -> str:
    """Return the 1 - 2 alpha interval of a pair, and the p-value against the margin."""
    pairs, how = comparison.pairs, comparison.settings
    p, n = float(pairs.p_equivalent[number]), int(pairs.n_equivalent[number])
    if math.isnan(p):
        return ""
    low, high = (
        float(bounds[number])
        for bounds in (pairs.low_equivalent, pairs.high_equivalent)
    )
    said = f"{p_equals(p)} by two one-sided tests"
    alone = ""
    if n > 1:
        said += f" after Holm's correction for {count(n, _noun(comparison))}"
        alone = " for this pair alone"
    if math.isnan(low):
        return said
    level = f"{100 * round(1 - 2 * how.alpha, 12):g} %"
    return f"{level} interval {low:+.4f} to {high:+.4f}{alone}; {said}"


def tested(comparison: Comparison) -> str:
    """Name the test and the correction."""
    how, sizes = comparison.settings, _sizes(comparison)
    if not _is_corrected(max(sizes), how):
        return how.test
    return f"{how.test}; p after {IN_WORDS[how.correction]} for {_several(comparison)}"


def letters_mark(comparison: Comparison) -> list[str]:
    """Explain the letters in a table, if it has any."""
    if not any(any(systems) for systems in comparison.beaten):
        return []
    how, sizes = comparison.settings, _sizes(comparison)
    test = f"Test: {how.test} at {how.alpha:g}"
    if _is_corrected(max(sizes), how):
        test += f", {IN_WORDS[how.correction]} for {_several(comparison)}"
    return ["Letters mark the systems that a system beats", test]


def of_intervals(comparison: Comparison) -> str:
    """Say what the intervals hold for, if p-values hold for something else."""
    how, sizes = comparison.settings, _sizes(comparison)
    student = how.test in _BESIDE_STUDENT
    if max(sizes) > 1 and how.test in TUKEY:
        return f"p and intervals hold for all {_several(comparison)} at once"
    if not _is_corrected(max(sizes), how):
        return "intervals by Student's t" if student else ""
    by = " (Student's t)" if student else ""
    if how.is_simultaneous:
        return (
            f"the first interval is for its pair alone{by}, the second for all "
            f"{_several(comparison)} at once"
        )
    return f"each interval is for its pair alone{by}"


def further_findings(comparison: Comparison) -> str:
    """Count the pairs that a stepwise correction finds and intervals cannot show."""
    how, pairs = comparison.settings, comparison.pairs
    if not how.is_simultaneous or not how.corrects:
        return ""
    found = (pairs.p_corrected <= how.alpha) & (pairs.low_all <= 0)
    found &= pairs.high_all >= 0
    if how.correction != "maxt":
        # The first step is Bonferroni's. Where it finds a difference that intervals
        # miss, the reason is that they follow another test.
        found &= pairs.p * pairs.n_tested > how.alpha
    n = int(np.count_nonzero(found))
    if not n:
        return ""
    includes = "includes" if n == 1 else "include"
    return (
        f"a later step of {IN_WORDS[how.correction]} finds a difference in "
        f"{count(n, 'pair')} whose second {'interval' if n == 1 else 'intervals'} "
        f"{includes} 0: intervals show only the first step"
    )


def heads(comparison: Comparison) -> tuple[str, str]:
    """Return the titles of the columns of differences and corrected p-values."""
    how, sizes = comparison.settings, _sizes(comparison)
    difference, corrected = "difference", "corrected"
    if max(sizes) > 1 and how.test in TUKEY:
        return f"{difference}\nall {_several(comparison)}", corrected
    if not _is_corrected(max(sizes), how):
        return difference, corrected
    difference += "\nthis pair alone"
    if how.is_simultaneous:
        difference += f"\nall {_several(comparison)}"
    return difference, f"{corrected}\n{_SHORT[how.correction]}, {_several(comparison)}"


def drawn_lines(comparison: Comparison) -> list[str]:
    """Explain the lines and colours of a forest plot, if they may disagree."""
    how, sizes = comparison.settings, _sizes(comparison)
    sure = f"{100 * how.confidence:g} % intervals"
    if max(sizes) > 1 and how.test in TUKEY:
        return [f"Lines: {sure} for all {_several(comparison)} at once."]
    if not _is_corrected(max(sizes), how):
        return []
    colours = f"Colours: p after {IN_WORDS[how.correction]} for {_several(comparison)}."
    if how.is_simultaneous:
        return [
            f"Thick lines: {sure} for each pair alone.",
            f"Thin lines: for all {_several(comparison)} at once.",
            colours,
        ]
    return [f"Lines: {sure} for each pair alone.", colours]


def differences_of(pair: PairInWords) -> str:
    """Return a difference with its sign, and its intervals below."""
    low, high = pair.row["low"], pair.row["high"]
    lines = [f"{pair.row['difference']:+.4f}", between(low, high)]
    if pair.all_bounds is not None:
        lines.append(between(*pair.all_bounds))
    return "\n".join(lines)


def _sizes(comparison: Comparison) -> Ints:
    """Return the sizes of the families, and 0 in case there are none."""
    sizes: Ints = np.append(comparison.pairs.n_tested, 0)
    return sizes


def _several(comparison: Comparison) -> str:
    """Say how many pairs are in a family; families may differ in size."""
    sizes = comparison.pairs.n_tested
    least, most = int(sizes.min()), int(sizes.max())
    if least == most:
        return count(most, _noun(comparison))
    return f"{least:,} to {count(most, _noun(comparison))}"
