"""Sizes at which the way to a result changes, but never the result.

Tests make them small, to take every way with little data:

>>> with limited(few_ids=0):
...     limits().few_ids
0
>>> limits().few_ids
4096
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Limits:
    """Sizes, with what was measured.

    Attributes:
        few_ids: the number of ids up to which a dict is faster than keys: 4,096 texts
            take 0.4 ms either way, 400 take 0.05 ms instead of 0.3.
        looked_up: the number of ids that are looked up together: a call of polars takes
            0.1 ms and its work, which is 5 ms for 262,144 ids.
        few_texts: the number of texts up to which a column is made faster of a list
            than by joining them: 1,000 take 0.03 ms instead of 0.25, 50,000 take 1 ms
            either way.
        short_lists: items per list up to which each judged one is compared with all of
            them: 10,000 lists of 10 with 3 judged items take 0.5 ms instead of 1.2,
            but 1,000 of 24 would take 0.18 ms instead of 0.17.
        long_lists: items per list above which each list is sorted by itself: a million
            scores take 0.09 s instead of 0.24 in lists of 10, and 0.05 s in lists of
            1,000.
        keys: gives ids their keys, by a seed, instead of polars' hash; with keys that
            agree, the ids themselves must be compared.
        mixed_rows: rows of mixed queries that are brought together at once, so that
            they fit the cache of a core.
        whole_rows: rows of a frame in which judged items are looked for at any rank,
            though metrics look at the first few: a million in lists of 1,000 take 15
            ms instead of 8 with 20 judged items per list, 30 instead of 11 with 100.
        head_bytes: bytes that are looked at to tell the format of a file, or more if
            they hold no row: 1.4 ms, and 6.5 with 1 MB.
        part_bytes: bytes of a file that are parsed at once: 97 MB of TREC text take
            0.28 s of the processor, and 0.31 with 2 MB.
        line_bytes: bytes that a line may have; a longer one is refused.
        scan_bytes: bytes of CSV that are looked at together, and stay in the cache:
            7 MB take 12 ms, 22 ms with 16 kB and 15 ms with 1 MB.
        few_json_bytes: bytes of JSON lines up to which nothing is gained by polars: 20
            lines take 0.24 ms instead of 0.44, 80 lines of 4 kB 0.47 ms either way.
        large_json_bytes: bytes of {query: {item: number}} in JSON above which a run is
            read in parts: 100 MB take 0.29 GB of memory so, and 0.85 GB at once.
        json_items: items of such a run that are held at once.
        paired_items: items of two runs that are looked up together, in the cache:
            two runs of 500,000 items take 58 ms, 98 ms with 1 << 14 and 120 ms with
            1 << 18.
        drawn_cells: counts of draws that are kept at once, 1 MB, which stays in the
            cache of a core: 2,000 resamples of 6,980 queries and 5 metrics took 0.07 s
            with 1 MB, and 0.08 s with 8.
        multiplied_cells: the same where they are multiplied with many columns, 8 MB:
            10,000 resamples of 7,000 queries and 225 differences took 2.3 s of one core
            so, and 3.4 s with 1 MB.
        flipped_cells: signs that are flipped at once, 16 MB: 100,000 flips of 7,000
            queries and 225 differences took 15 s so, and 60 s with a quarter of it.
        topic_cells: users times topics that are looked at in one piece, 8 MB: 20,000
            users and 400 topics take 0.15 s for Calibration and 0.42 s for alpha_nDCG,
            and 0.31 s and 0.79 s with 32 MB.
        batch_rows: events of a log that are read together, 25 MB of columns: three
            million take 2.9 s, 3.6 s with 1 << 15 and 5 s at once; and users whose
            counts are added up together, 100 MB.
        held_events: events that are held as they came, before they are brought
            together by user, and that are counted at once, 45 MB: ten million take 4.8
            s and 1.1 GB, also with 1 << 18, and 5.3 s and 1.8 GB with 1 << 24.
        held_bytes: bytes of rows of mixed queries that are written to disk, or read
            from there, at once; fewer where memory is short.
        scanned_rows: rows of a Parquet file that are read at once: three million take
            0.25 s, 0.30 s with 1 << 16 and 0.5 s at once.
        buckets: into how many buckets these queries are parted; None for as many as
            the rows need that are expected.
    """

    few_ids: int = 4096
    looked_up: int = 1 << 18
    few_texts: int = 1 << 14
    short_lists: int = 16
    long_lists: int = 5
    keys: Callable[[Any, int], Any] | None = None
    mixed_rows: int = 1 << 18
    whole_rows: int = 1_000_000
    head_bytes: int = 1 << 16
    part_bytes: int = 1 << 24
    line_bytes: int = 1 << 24
    scan_bytes: int = 1 << 18
    few_json_bytes: int = 1 << 12
    large_json_bytes: int = 1 << 25
    json_items: int = 1 << 18
    paired_items: int = 1 << 16
    drawn_cells: int = 1 << 17
    multiplied_cells: int = 1 << 20
    flipped_cells: int = 1 << 21
    topic_cells: int = 1 << 20
    batch_rows: int = 1 << 19
    held_events: int = 1 << 20
    held_bytes: int = 1 << 28
    scanned_rows: int = 1 << 18
    buckets: int | None = None


_now = [Limits()]
"""What holds, for all threads alike."""


def limits() -> Limits:
    """Return the sizes in force."""
    return _now[0]


@contextmanager
def limited(**sizes: Any) -> Iterator[None]:
    """Use other sizes for a while."""
    before = _now[0]
    _now[0] = replace(before, **sizes)
    try:
        yield
    finally:
        _now[0] = before
