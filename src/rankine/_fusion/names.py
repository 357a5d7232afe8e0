"""Names of methods and normalisations, as users write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankine._base.checks import check_choice

if TYPE_CHECKING:
    from collections.abc import Mapping


def spelled(what: str, name: object, known: Mapping[str, tuple[str, ...]]) -> str:
    """Return the name that is meant, whatever its case and its hyphens.

    Args:
        what: the parameter that it is for.
        name: what the user wrote.
        known: the names that there are, with their other names.

    >>> spelled("norm", "Z_Score", {"min-max": (), "z-score": ("zmuv",)})
    'z-score'
    """
    meant = {
        _plain(other): own for own, others in known.items() for other in (own, *others)
    }
    if isinstance(name, str) and _plain(name) in meant:
        return meant[_plain(name)]
    check_choice(what, name, known)
    raise AssertionError  # a name that is known is spelled in its own way, too


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")
