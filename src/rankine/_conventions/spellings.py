"""Older words for choices, which are still read."""

from __future__ import annotations

from typing import Any

SPELLINGS: dict[str, dict[str, str]] = {
    "gain": {"exp2": "exponential", "exp2_thr": "exponential_rel"},
    "discount": {"log2(r+1)": "log2", "log2(max(r,b))": "jk"},
    "ideal": {"judged_all": "judged", "given_order@k": "given@k"},
    "aggregate": {"macro": "mean_of_ratios", "micro": "ratio_of_sums"},
}
"""A field of a convention, or a parameter of a metric -> older word -> word."""


def canonical(name: str, value: Any) -> Any:
    """Return the word for a choice; anything else stays as it is.

    Args:
        name: the name of the field or parameter.
        value: what was given for it.

    >>> canonical("gain", "exp2"), canonical("gain", "linear"), canonical("k", 10)
    ('exponential', 'linear', 10)
    """
    return SPELLINGS[name].get(value, value) if _is_word(name, value) else value


def _is_word(name: str, value: Any) -> bool:
    return isinstance(value, str) and name in SPELLINGS
