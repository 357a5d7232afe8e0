"""Order: what decides the rank of an item, apart from the items themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankine._conventions.convention import Convention

SPREAD = frozenset({"average", "best", "worst"})
"""Ways to look at all orders of tied items."""


@dataclass(frozen=True, slots=True)
class Order:
    """What of a convention decides ranks; the rest is applied to a joined table.

    Attributes:
        by: what comes first: the largest score, the smallest rank, or what is given
            first.
        tie: who comes first among equals.
        bits: the precision in which scores are compared.
        duplicates: what becomes of an item that is repeated in a list.
    """

    by: str
    tie: str
    bits: int
    duplicates: str

    @staticmethod
    def of(rule: Convention, base: Convention | None = None) -> Order:
        """Return the order of a convention.

        Where all orders of ties are looked at, any of them does, such as that of the
        convention which others override; and an item that counts once is found as one
        that counts each time.
        """
        tie = rule.tie
        if tie in SPREAD:
            tie = "id_desc" if base is None or base.tie in SPREAD else base.tie
        duplicates = "count" if rule.duplicates == "set" else rule.duplicates
        return Order(rule.order, tie, rule.score_bits, duplicates)
