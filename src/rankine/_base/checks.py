"""Checks of parameters: each says the value it got and what is allowed."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection


_LARGEST = 2**62


def check_k(k: object, name: str = "k") -> None:
    """Accept None and positive integers, of Python or NumPy; refuse bools.

    >>> check_k(10)
    >>> check_k(0)
    Traceback (most recent call last):
    ...
    rankine.errors.ParameterError: k must be a positive integer or None, got 0
    """
    if k is None or (type(k) is int and 0 < k < _LARGEST):
        return
    whole = isinstance(k, Integral) and not isinstance(k, (bool, np.bool_))
    if not whole or not 0 < k < _LARGEST:  # type: ignore[operator]
        above = " below 2^62" if whole and k >= _LARGEST else ""  # type: ignore[operator]
        msg = f"{name} must be a positive integer{above} or None, got {k!r}"
        raise ParameterError(msg)


def check_count(name: str, value: object, *, least: int) -> None:
    """Accept an integer of at least some size; refuse bools.

    >>> check_count("catalog", 10.5, least=1)
    Traceback (most recent call last):
    ...
    rankine.errors.ParameterError: catalog must be an integer of at least 1, got 10.5
    """
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or not least <= value < _LARGEST:  # type: ignore[operator]
        msg = f"{name} must be an integer of at least {least}, got {value!r}"
        raise ParameterError(msg)


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Accept one of a few words.

    >>> check_choice("gain", "linaer", ["linear", "binary"])
    Traceback (most recent call last):
    ...
    rankine.errors.ParameterError: gain must be one of linear, binary, got 'linaer'; did you mean 'linear'?
    """  # noqa: E501 - the message stands on one line, as the user sees it
    if isinstance(value, str) and value in choices:
        return
    hint = nearest(value, choices) if isinstance(value, str) else ""
    msg = f"{name} must be one of {', '.join(choices)}, got {value!r}{hint}"
    raise ParameterError(msg)


def check_number(
    name: str,
    value: object,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> None:
    """Accept a finite number within bounds; `above` and `below` are exclusive.

    >>> check_number("p", 1.5, above=0, below=1)
    Traceback (most recent call last):
    ...
    rankine.errors.ParameterError: p must be a number above 0 and below 1, got 1.5
    """
    plain = type(value) is int or type(value) is float  # what is nearly always given
    if plain or (not isinstance(value, (bool, np.bool_)) and isinstance(value, Real)):
        try:
            number = float(value)  # type: ignore[arg-type]
        except OverflowError:  # an int beyond the largest float
            number = math.inf
        # Infinity and nan are never inside.
        if above < number < below and least <= number <= most:
            return
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (
            ("above", above),
            ("below", below),
            ("at least", least),
            ("at most", most),
        )
        if math.isfinite(bound)
    ]
    wanted = "a number " + " and ".join(bounds) if bounds else "a finite number"
    msg = f"{name} must be {wanted}, got {value!r}"
    raise ParameterError(msg)


def check_flag(name: str, value: object) -> None:
    """Accept True and False.

    >>> check_flag("share", 2)
    Traceback (most recent call last):
    ...
    rankine.errors.ParameterError: share must be True or False, got 2
    """
    if value is not True and value is not False:
        msg = f"{name} must be True or False, got {value!r}"
        raise ParameterError(msg)
