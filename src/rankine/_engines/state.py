"""State: what was counted in some rows on Spark, and what their queries come to.

It is small, whatever the number of queries, and travels from executors to the driver.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from rankine._evaluate.notes import Seen
from rankine._evaluate.warnings import NO_GRADES, ends_of

if TYPE_CHECKING:
    from rankine._engines.work import Counts
    from rankine._evaluate.part import Part
    from rankine.errors import RankineError


@dataclass(eq=False)
class State:
    """What was seen of some rows.

    Attributes:
        counts: rows of judgements and of the run, and those that are refused once all
            have been counted.
        examples: the smallest of what is refused: a grade, or query and item.
        grades: the smallest and the largest grade.
        part: what the queries come to; None if none was evaluated.
        problems: why some data cannot be used, the first by its words.
    """

    counts: Counts = field(default_factory=Counter)
    examples: dict[tuple[str, str], Any] = field(default_factory=dict)
    grades: tuple[float, float] = NO_GRADES
    part: Part | None = None
    problems: list[RankineError] = field(default_factory=list)

    @property
    def seen(self) -> Seen:
        """What was seen of judged queries, whose number is that of all metrics."""
        seen = () if self.part is None else self.part.findings.seen
        return next(iter(seen), Seen())

    def __iadd__(self, other: State) -> Self:
        """Add what was seen of other queries."""
        self.counts += other.counts
        for what, example in other.examples.items():
            self.examples[what] = min(self.examples.get(what, example), example)
        self.grades = ends_of(self.grades, other.grades)
        if self.part is None:
            self.part = other.part
        elif other.part is not None:
            self.part += other.part
        self.problems = sorted([*self.problems, *other.problems], key=str)[:1]
        return self
