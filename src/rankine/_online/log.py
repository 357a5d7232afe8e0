"""A log of events in parts of users: what is kept of it until it is counted.

Events may come in any order and in any parts. Those of a user are brought together by
the hash of the user's id, in memory or, where that is short, in a file without a name.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.blocks import ahead
from rankine._base.limits import limits
from rankine._base.memory import available, bytes_of, in_use
from rankine._base.nameless import NamelessFile
from rankine._online.events import event_batches
from rankine._online.sources import Query, refuse_database
from rankine._tables.segments import starts_of
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankine._base.arrays import AnyArray
    from rankine._online.events import Events, Facts
    from rankine._online.rules import Rules

_BUCKETS = 256
"""Into how many parts users are divided: of 100 million events, 18 MB each."""
_SHARE = 4
"""Held events may use a part of the memory that is allowed, one byte in so many: they
are copied when they are parted and sorted."""
LABELS = ("variant", "segment")


class EventLog:
    """Events, in the parts that they came in or by user, and what is known of all.

    Args:
        rules: what the user says about the log.
        by: the column that divides users into groups.
        segment: a second such column.
        steps: the words or kinds of events whose order matters.
        memory: the memory that the process may use; half of what is free if not given.
    """

    def __init__(
        self,
        rules: Rules,
        by: str | None = None,
        segment: str | None = None,
        *,
        steps: Sequence[str] = (),
        memory: int | str | None = None,
    ) -> None:
        self.rules, self.by, self.segment = rules, by, segment
        self.steps = steps
        self.facts: Facts | None = None
        self._memory = None if memory is None else bytes_of(memory, "memory_limit")
        self._texts: dict[str, dict[str, int]] = {label: {} for label in LABELS}
        self._came: list[pl.DataFrame] = []
        self._parted: list[list[pl.DataFrame]] = [[] for _ in range(_BUCKETS)]
        self._n_events = self._n_came = 0
        self._n_held = 0.0
        self._types: set[pl.DataType] = set()
        self._file = _Spill()
        self._broken = False

    def update(self, events: Any) -> None:
        """Add events: those of a log, or of all batches of a query."""
        refuse_database(events)
        with self._whole():
            for part in events if isinstance(events, Query) else (events,):
                batches = event_batches(
                    part, self.rules, self.by, self.segment, self.steps
                )
                for batch in ahead(batches):
                    self._add(batch)

    def merge(self, other: EventLog) -> None:
        """Add the events of another log, which stays as it is."""
        if other is self:
            msg = "an Accumulator cannot be merged with itself"
            raise ParameterError(msg)
        with self._whole():
            other.refuse_broken()
            if other.facts is None:
                return
            self._learn(other.facts)
            codes = {label: self._codes(label, other.texts(label)) for label in LABELS}
            for frame in other._frames():
                self._hold(_recoded(frame, codes))

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Refuse to go on after a part of which only some events were added."""
        self.refuse_broken()
        n_before = 0 if self.facts is None else self.facts.n_read
        try:
            yield
        except BaseException:
            n_after = 0 if self.facts is None else self.facts.n_read
            self._broken = n_after > n_before
            raise

    def refuse_broken(self) -> None:
        """Refuse a log if only some events of a part were added."""
        if self._broken:
            msg = (
                "an earlier update() or merge() failed halfway, so only some of its "
                "events are counted; create a new Accumulator"
            )
            raise DataError(msg)

    def _learn(self, facts: Facts) -> None:
        self.facts = facts if self.facts is None else self.facts + facts

    def _add(self, events: Events) -> None:
        self._learn(events.facts)
        codes = {
            label: self._codes(label, texts) for label, texts in events.texts.items()
        }
        if events.frame.height:
            self._hold(_recoded(events.frame, codes))

    def _codes(self, label: str, texts: pl.Series) -> AnyArray:
        """Return the numbers here of the names of groups, after 0 for none."""
        known = self._texts[label]
        codes = [known.setdefault(text, len(known) + 1) for text in texts]
        return np.array([0, *codes], np.uint32)

    def texts(self, label: str) -> pl.Series:
        """Return the names of groups, by their numbers from 1."""
        return pl.Series([*self._texts[label]], dtype=pl.String)

    # Where events are

    @property
    def n_events(self) -> int:
        """How many events there are that can be used."""
        return self._n_events

    def _hold(self, frame: pl.DataFrame) -> None:
        """Keep events as they came; if they are many, by user."""
        self._n_events += frame.height
        self._types.add(frame.schema["user"])
        self._came.append(frame)
        self._n_came += frame.height
        self._n_held += frame.estimated_size()
        if self._n_came > limits().held_events:
            self._part()
            if self._n_held > self._share:
                self._file.write(self._parted)
                self._parted = [[] for _ in range(_BUCKETS)]
                self._n_held = 0

    @property
    def _share(self) -> float:
        """How many bytes of events may be held."""
        if self._memory is None:
            free = available()
            return float("inf") if free is None else (self._n_held + free) / _SHARE / 2
        return max(self._memory - in_use() + self._n_held, 0) / _SHARE

    def _part(self) -> None:
        """Bring the events that came together by user."""
        pieces = []  # put in place at the end: memory may run out before
        for frame in self._came:
            bucket = _buckets(frame["user"])
            order = pl.Series(np.argsort(bucket, kind="stable").astype(np.uint32))
            starts = starts_of(np.bincount(bucket, minlength=_BUCKETS)).tolist()
            sorted_frame = frame[order]
            for number, parts in enumerate(self._parted):
                begin, end = starts[number], starts[number + 1]
                if begin < end:
                    pieces.append((parts, sorted_frame[begin:end]))
        for parts, piece in pieces:
            parts.append(piece)
        self._came, self._n_came = [], 0

    def _frames(self) -> Iterator[pl.DataFrame]:
        """Yield all events."""
        yield from self._came
        for number, parts in enumerate(self._parted):
            yield from (*parts, *self._file.read(number))

    def parts(self) -> Iterator[pl.DataFrame]:
        """Yield all events, those of a user together; ids have one type in all parts.

        The numbers of groups are in the order of their names, 0 for none.
        """
        is_parted = bool(self._file) or any(self._parted)
        if is_parted and self._came:
            self._part()
        as_text = len(self._types) > 1
        order = {
            label: np.append(0, self.texts(label).rank().to_numpy()).astype(np.uint32)
            for label in LABELS
        }
        held: list[pl.DataFrame] = []
        n_held = 0
        for number, parts in enumerate(self._parted if is_parted else [self._came]):
            frames = [*parts, *self._file.read(number)]
            held += frames
            n_held += sum(frame.height for frame in frames)
            if n_held > limits().held_events:
                yield self._together(held, order, as_text=as_text)
                held, n_held = [], 0
        if held:
            yield self._together(held, order, as_text=as_text)

    def _together(
        self, frames: list[pl.DataFrame], order: dict[str, AnyArray], *, as_text: bool
    ) -> pl.DataFrame:
        if as_text:
            frames = [
                frame.with_columns(pl.col("user").cast(pl.String)) for frame in frames
            ]
        events = pl.concat(frames) if len(frames) > 1 else frames[0]
        return _recoded(events, order)


def _recoded(frame: pl.DataFrame, codes: dict[str, AnyArray]) -> pl.DataFrame:
    """Give groups other numbers."""
    return frame.with_columns(
        pl.Series(label, numbers[frame[label].to_numpy()])
        for label, numbers in codes.items()
        if label in frame.columns
    )


def _buckets(users: pl.Series) -> AnyArray:
    """Return the bucket of each user, by text: 7 and "7" are one."""
    hashes = users.cast(pl.String).hash().to_numpy()
    buckets: AnyArray = (hashes % np.uint64(_BUCKETS)).astype(np.uint16)
    return buckets


class _Spill:
    """Events on disk, by bucket."""

    def __init__(self) -> None:
        self._pieces: list[list[tuple[int, int]]] = [[] for _ in range(_BUCKETS)]
        self._file = NamelessFile("the events")

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return bool(self._file)

    def write(self, buckets: list[list[pl.DataFrame]]) -> None:
        """Write events."""
        for pieces, frames in zip(self._pieces, buckets, strict=True):
            if frames:
                packed, events = io.BytesIO(), pl.concat(frames, how="vertical_relaxed")
                events.write_ipc_stream(packed, compression="lz4")
                begin = self._file.append(packed.getbuffer())
                pieces.append((begin, packed.tell()))

    def read(self, number: int) -> Iterator[pl.DataFrame]:
        """Yield the events of a bucket."""
        for piece in self._pieces[number]:
            yield pl.read_ipc_stream(self._file.read(*piece))
