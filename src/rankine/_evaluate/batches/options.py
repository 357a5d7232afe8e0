"""Options of what is accumulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection


def check_options(who: str, options: dict[str, Any], known: Collection[str]) -> None:
    """Refuse an option that nobody takes."""
    for one in options:
        if one not in known:
            msg = (
                f"{who} has no option {one!r}; its options are "
                f"{', '.join(sorted(known)) or 'none'}{nearest(one, known)}"
            )
            raise ParameterError(msg)
