"""Online metrics of a large log: python benchmarks/online.py [USERS].

In memory, all six metrics by variant; from Parquet files of a day each, which come in
the order of time, by variant and day, against the time polars needs to read the same
columns. Each case runs in a process of its own, which tells its peak memory.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

COLUMNS = ["timestamp", "user_id", "variant", "event", "value", "cost"]


def made(days: Path, users: str) -> None:
    """Write a log, a file for each day."""
    import rankine as rk

    log = rk.online.generate(int(users) // 2, visits=2, seed=0).events.select(COLUMNS)
    for (day,), part in log.group_by(
        pl.col("timestamp").dt.date(), maintain_order=True
    ):
        part.write_parquet(days / f"{day}.parquet")


def scanned(days: Path) -> None:
    """Read all columns, day by day."""
    for day in sorted(days.iterdir()):
        pl.read_parquet(day, columns=COLUMNS)


def in_memory(days: Path) -> float:
    """Sum up a frame; return the seconds without reading it."""
    import rankine as rk

    log = pl.read_parquet(days / "*.parquet")
    start = time.perf_counter()
    rk.online.summarize(log)
    return time.perf_counter() - start


def in_order(days: Path) -> None:
    """Sum up day after day, and forget sessions that are over."""
    import rankine as rk

    total = rk.online.Accumulator(daily=True, in_order=True)
    for day in sorted(days.iterdir()):
        total.update(day)
    total.result()


CASES: dict[str, Any] = {
    "make": made,
    "scan": scanned,
    "memory": in_memory,
    "days": in_order,
}


def measured(case: str, days: Path, *more: str) -> dict[str, float]:
    """Run a case in a process of its own."""
    words = [sys.executable, __file__, case, str(days), *more]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(users: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        days = Path(name)
        measured("make", days, str(users))
        n = pl.scan_parquet(days / "*.parquet").select(pl.len()).collect().item()
        print(f"{n:,} events of {users:,} users in {len(list(days.iterdir()))} files")
        for case in [*CASES][1:]:
            found = measured(case, days)
            print(f"{case:8} {found['seconds']:8.2f} s {found['peak']:8.0f} MB at most")


if __name__ == "__main__":
    given = sys.argv[1:] or ["720000"]
    if given[0] in CASES:
        begin = time.perf_counter()
        own = CASES[given[0]](Path(given[1]), *given[2:])
        seconds = own or time.perf_counter() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "peak": peak}))
    else:
        main(int(given[0]))
