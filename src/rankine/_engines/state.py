"""State: what was counted in some rows on Spark, and what their queries come to.

It is small, whatever the number of queries, and travels from executors to the driver.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankine._engines.work import JUDGED, ROLES
from rankine._evaluate.notes import Seen, first_ids
from rankine._io.values import ends
from rankine._tables.joined import SHOWN

if TYPE_CHECKING:
    from rankine._engines.chunks import Chunk
    from rankine._engines.work import Counts
    from rankine._evaluate.part import Part
    from rankine.errors import RankineError


@dataclass(eq=False)
class State:
    """What was seen of some rows.

    Attributes:
        counts: rows of judgements and of the run, and what became of them.
        examples: the smallest of what some of these are.
        grades: the smallest and the largest grade.
        judged_ids: the first few queries that have judgements.
        alone_ids: the first few queries of the run that have none.
        shared: whether any query has both judgements and a list.
        part: what the queries come to; None if none was evaluated.
        problems: why some data cannot be used, the first by its words.
    """

    counts: Counts = field(default_factory=Counter)
    examples: dict[tuple[str, str], Any] = field(default_factory=dict)
    grades: tuple[float, float] = (math.inf, -math.inf)
    judged_ids: tuple[Any, ...] = ()
    alone_ids: tuple[Any, ...] = ()
    shared: bool = False
    part: Part | None = None
    problems: list[RankineError] = field(default_factory=list)

    @staticmethod
    def of(chunk: Chunk) -> State:
        """See who has judgements, who has a list, and whether anybody has both."""
        judged, listed = (
            rows.frame["query"].unique(maintain_order=True)
            for rows in (chunk.judged, chunk.listed)
        )
        alone = listed.filter(~listed.is_in(judged.implode()))
        grade, examples = chunk.judged.frame["value"], chunk.examples
        fractions = grade.filter(grade != grade.floor())
        if len(fractions):
            examples = {**examples, (ROLES[JUDGED], "fraction"): fractions.min()}
        return State(
            chunk.counts + Counter({(ROLES[JUDGED], "queries"): len(judged)}),
            examples,
            ends(grade) if len(grade) else (math.inf, -math.inf),
            tuple(judged.head(SHOWN)),
            tuple(alone.head(SHOWN)),
            len(alone) < len(listed),
        )

    @property
    def seen(self) -> Seen:
        """What was seen of judged queries, whose number is that of all metrics."""
        seen = () if self.part is None else self.part.findings.seen
        return next(iter(seen), Seen())

    def add(self, other: State) -> None:
        """Add what was seen of other queries."""
        self.counts += other.counts
        for what, example in other.examples.items():
            self.examples[what] = min(self.examples.get(what, example), example)
        least, most = self.grades
        self.grades = min(least, other.grades[0]), max(most, other.grades[1])
        self.judged_ids = first_ids(self.judged_ids, other.judged_ids, by_id=True)
        self.alone_ids = first_ids(self.alone_ids, other.alone_ids, by_id=True)
        self.shared = self.shared or other.shared
        if self.part is None:
            self.part = other.part
        elif other.part is not None:
            self.part += other.part
        self.problems = sorted([*self.problems, *other.problems], key=str)[:1]
