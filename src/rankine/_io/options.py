"""How something is to be read: what the user may say about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 64 << 30
"""Bytes that a file may have, unpacked, unless more is allowed: 64 GiB."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the user says of judgements or of a run; None is to be found out.

    Attributes:
        format: the name of a format.
        columns: which column is what.
        grades: what each grade in words is worth.
        by_rank: whether a rank column gives the order, even if there are scores.
        encoding: of text, UTF-8 if not given.
        max_bytes: how many bytes may be read, after unpacking.
        lenient: whether rows that are usually refused are kept, to be dropped and
            counted later.
        lower_is_better: whether scores are distances.
        keep_rank: whether a rank column is kept next to the score.
        subtopics: whether the subtopic of each judgement is kept, if there is one.
        more_words: whether a line of a TREC run may go on after its tag, as trec_eval
            lets it. A format that is named has its own rule.
    """

    format: str | None = None
    columns: Mapping[str, Any] | None = None
    grades: Mapping[Any, float] | None = None
    by_rank: bool = False
    encoding: str | None = None
    max_bytes: int = MAX_BYTES
    lenient: bool = False
    lower_is_better: bool = False
    keep_rank: bool = False
    subtopics: bool = False
    more_words: bool = False


PLAIN = Reading()
"""No option is given: everything is inferred."""
