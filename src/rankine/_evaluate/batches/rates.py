"""Click-through rates from logs, batch by batch."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rankine._base.text import count
from rankine._evaluate.batches.totals import Total, check_options, check_pair
from rankine._evaluate.logs.estimate import answer
from rankine._evaluate.logs.question import Question
from rankine._join.rounds import Rounds
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._evaluate.logs.estimate import Estimate, Estimates


class Rates(Total[Rounds]):
    """The rounds so far.

    Matching rounds are kept; others are counted by their predictions.
    """

    terms: Question

    def __init__(self, options: dict[str, Any]) -> None:
        """Check the options, which are those of `ctr`."""
        known = {option.name for option in fields(Question)}
        check_options("ctr", options, known - {"engine", "memory_limit"})
        self.terms = Question(**options, engine="memory")

    def read(self, *batch: Any) -> Rounds:
        """Match a log with the recommendations to its users."""
        check_pair(batch, "tables, a log and recommendations")
        return self.terms.tally(*batch, own=True).rounds

    def add(self, part: Rounds) -> None:
        """Add rounds of other batches."""
        self.part = part if self.part is None else self.part + part

    def result(self) -> Estimate | Estimates:
        """Return the estimates from all rounds so far."""
        if self.part is None:
            msg = "there are no rounds"
            raise DataError(msg)
        return answer(self.part, self.terms)

    @property
    def rows(self) -> str:
        """How many rounds there are, in words."""
        return count(0 if self.part is None else self.part.n, "round")
