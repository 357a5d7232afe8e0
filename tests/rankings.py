"""Rankings written as text: "a (b c) d" retrieves a, then b and c tied, then d."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from rankine._join import judged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankine._join import Judged


def scored(text: str) -> dict[str, float]:
    """Turn a ranking into {item: score}; items in brackets get the same score."""
    blocks = re.findall(r"\(([^)]*)\)|(\S+)", text)
    scores: dict[str, float] = {}
    for place, (tied, single) in enumerate(blocks):
        for item in tied.split() or [single]:
            scores[item] = float(len(blocks) - place)
    return scores


def table(text: str, qrels: Mapping[str, float], **choices: Any) -> Judged:
    """Join one ranking with its judgements."""
    return judged({"q": dict(qrels)}, {"q": scored(text)}, **choices)


def orders(text: str) -> Iterator[list[str]]:
    """Yield every order of a ranking with ties."""
    scores = scored(text)
    blocks = [
        [item for item in scores if scores[item] == value]
        for value in sorted(set(scores.values()), reverse=True)
    ]
    for choice in itertools.product(*(itertools.permutations(b) for b in blocks)):
        yield [item for block in choice for item in block]
