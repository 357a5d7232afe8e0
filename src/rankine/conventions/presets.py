"""The named conventions: data only, so that no code asks for a convention's name."""

from __future__ import annotations

from rankine.conventions.convention import Convention
from rankine.errors import UnknownConventionError, nearest

_CUT_UP = {"IPrec": {"cut": "up"}, "11pt": {"cut": "up"}}

PRESETS: dict[str, Convention] = {
    "rankine": Convention(),
    # trec_eval 10.0 -c, whose numbers are rankine's own.
    "trec_eval": Convention(),
    # trec_eval 9.0.8 -c: scores as float32; recall points at (long)(p * R + 0.9).
    "trec_eval-9": Convention(score_bits=32, overrides=_CUT_UP),
}


def conventions() -> dict[str, Convention]:
    """Return every named convention.

    >>> sorted(conventions())
    ['rankine', 'trec_eval', 'trec_eval-9']
    """
    return dict(PRESETS)


def convention(choice: str | Convention) -> Convention:
    """Return a convention given by name, or the convention itself.

    >>> convention("trec_eval-9").score_bits
    32
    """
    if isinstance(choice, Convention):
        return choice
    if not isinstance(choice, str) or choice not in PRESETS:
        msg = (
            f"unknown convention {choice!r}; there are {', '.join(PRESETS)}"
            f"{nearest(str(choice), PRESETS)}"
        )
        raise UnknownConventionError(msg)
    return PRESETS[choice]
