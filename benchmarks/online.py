"""Online metrics of a large log: python benchmarks/online.py [EVENTS] [USERS] [ids].

All six metrics by variant and day, from Parquet files of a day each; by the function,
which reads them in batches; by the same within a limit of memory, so that events wait
on disk, and there by variant alone and in a test, too; by an accumulator that takes day
after day; by DuckDB with two threads and the SQL of `online.sql`, whose numbers must be
the same; and by variant from a frame in memory. The scan that times are compared with
reads the same columns with polars, in its streaming engine, and adds up the hash of
every value, so that all of them are decoded and none is kept; imports are not timed.
Each case runs in a process of its own, which tells its peak memory, that of the
libraries (first line) included. With `ids`, every visit has a session id.
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

import numpy as np
import polars as pl

DAYS = 20
DAY = 86_400 * 10**6
BEGIN = 20_000 * DAY
PER_VISIT = 8
WORDS = ["impression", "click", "pageview", "conversion"]
SHARES = [0.55, 0.1, 0.33, 0.02]
IN_MEMORY = 20_000_000
"""Events up to which the log is also read as a frame."""
LIMIT, LEAST = 27, 700_000_000
"""Bytes that an event may take on disk and in memory, and the least limit."""
SIDES = {
    "ctr": ("clicks", "impressions"),
    "conversion_rate": ("converts", "1"),
    "bounce_rate": ("bounces", "sessions"),
    "engagement_rate": ("engaged", "sessions"),
    "time_on_page": ("seconds", "timed"),
    "roi": ("coalesce(revenue, 0) - cost", "cost"),
}
"""The numerators and denominators of the metrics, in the columns of `online.sql`."""


def made(days: Path, n_events: str, n_users: str, *ids: str) -> None:
    """Write a log, a file for each day: visits of 8 events on average, by time."""
    draw = np.random.default_rng(0)
    for day in range(DAYS):
        n_visits = int(n_events) // DAYS // PER_VISIT
        size = 1 + draw.poisson(PER_VISIT - 1, n_visits)
        user = np.repeat(draw.integers(0, int(n_users), n_visits), size)
        start = np.repeat(draw.integers(0, DAY - DAY // 24, n_visits), size)
        moment = start + draw.integers(0, DAY // 72, len(user))
        visit = np.repeat(np.arange(n_visits), size) + day * n_visits
        order = np.argsort(moment)
        user, kind = user[order], draw.choice(len(WORDS), len(user), p=SHARES)
        bought = np.where(kind == 3, np.round(draw.exponential(40, len(user)), 2), 0)
        log = pl.DataFrame(
            {
                "timestamp": pl.Series(BEGIN + day * DAY + moment[order]).cast(
                    pl.Datetime("us")
                ),
                "user_id": user,
                "variant": pl.Series(["A", "B"])[user % 2],
                "event": pl.Series(WORDS)[kind],
                "value": bought,
                "cost": np.where(kind == 1, 0.05, 0.0),
            }
        )
        if ids:
            session = pl.Series("session_id", visit[order]).cast(pl.String)
            log = log.with_columns("visit-" + session)
        log.write_parquet(days / f"{day:02}.parquet")


def peak() -> float:
    """Return the most memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def nothing(_: Path) -> None:
    """Import what is needed, and do nothing."""
    import rankine as rk

    rk.online.summarize(pl.DataFrame({"user_id": [1], "event": ["impression"]}))


def scanned(days: Path) -> None:
    """Read all columns, and hash every value."""
    log = pl.scan_parquet(days / "*.parquet")
    log.select(pl.all().hash().sum()).collect(engine="streaming")


def from_files(days: Path) -> dict[str, float]:
    """Sum up all files, as the command does."""
    import rankine as rk

    start = time.perf_counter()
    rk.online.summarize(days, daily=True)
    return {"seconds": time.perf_counter() - start}


def from_disk(days: Path) -> dict[str, float]:
    """Sum up all files, with little memory."""
    import rankine as rk

    return limited(rk.online.summarize, days, daily=True)


def by_variant(days: Path) -> dict[str, float]:
    """Sum up all files by variant, with little memory."""
    import rankine as rk

    return limited(rk.online.summarize, days)


def tested(days: Path) -> dict[str, float]:
    """Compare the variants of all files, with little memory."""
    import rankine as rk

    return limited(rk.online.ab_test, days, control="A")


def limited(compute: Any, days: Path, **options: Any) -> dict[str, float]:
    """Return the seconds of a function that keeps events on disk."""
    n_events = pl.scan_parquet(days / "*.parquet").select(pl.len()).collect().item()
    start = time.perf_counter()
    compute(days, memory_limit=max(LEAST, LIMIT * n_events), **options)
    return {"seconds": time.perf_counter() - start}


def in_duckdb(days: Path) -> dict[str, float]:
    """Return the seconds of DuckDB, once its numbers are known to be ours."""
    import duckdb

    start = time.perf_counter()
    database = duckdb.connect()
    database.execute("set threads = 2")
    database.execute("set variable files = $1", [str(days / "*.parquet")])
    database.execute(Path(__file__).with_suffix(".sql").read_text())
    rows = []
    for metric, (y, x) in SIDES.items():
        rows += database.execute(
            f"""
            with users as (select variant, day, ({y})::double y, ({x})::double x from
              sums), rates as (select variant, day, sum(y) / sum(x) r, avg(x) m
              from users group by all)
            select '{metric}', variant, day, any_value(r), count(*),
              stddev_samp(y - r * x) / any_value(m) / sqrt(count(*))
            from users join rates using (variant, day) group by variant, day
            """  # noqa: S608 - of our own names
        ).fetchall()
    found = {"seconds": time.perf_counter() - start, "peak": peak()}
    compare(days, rows)
    return found


def compare(days: Path, rows: list[tuple[Any, ...]]) -> None:
    """Fail unless values and numbers of users are those of `summarize`."""
    import rankine as rk

    summary = rk.online.summarize(days, daily=True)
    names = "metric", "variant", "day", "value", "users"
    ours = summary.table.select(names).sort(names[:3]).rows()
    for own, other in zip(ours, sorted(row[:5] for row in rows), strict=True):
        same = own[:3] + own[4:] == other[:3] + other[4:]
        if not same or abs(own[3] - other[3]) > 1e-9 * abs(own[3]):
            msg = f"rankine has {own}, DuckDB {other}"
            raise ValueError(msg)


def by_days(days: Path) -> dict[str, float]:
    """Sum up day after day; return the size of the events that are held, too."""
    import rankine as rk

    start = time.perf_counter()
    total = rk.online.Accumulator(daily=True)
    for day in sorted(days.iterdir()):
        total.update(day)
    held = total._log._n_held  # noqa: SLF001 - to measure it
    total.result()
    return {"seconds": time.perf_counter() - start, "held": held / 2**20}


def in_memory(days: Path) -> dict[str, float]:
    """Sum up a frame; return the seconds without reading it."""
    import rankine as rk

    log = pl.read_parquet(days / "*.parquet")
    start = time.perf_counter()
    rk.online.summarize(log)
    return {"seconds": time.perf_counter() - start}


CASES: dict[str, Any] = {
    "make": made,
    "nothing": nothing,
    "scan": scanned,
    "files": from_files,
    "disk": from_disk,
    "variant": by_variant,
    "test": tested,
    "duckdb": in_duckdb,
    "days": by_days,
    "memory": in_memory,
}


def measured(case: str, days: Path, *more: str) -> dict[str, float]:
    """Run a case in a process of its own."""
    words = [sys.executable, __file__, case, str(days), *more]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(n_events: int, n_users: int, *ids: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        days = Path(name)
        measured("make", days, str(n_events), str(n_users), *ids)
        n = pl.scan_parquet(days / "*.parquet").select(pl.len()).collect().item()
        said = ", with session ids" if ids else ""
        print(f"{n:,} events of {n_users:,} users in {DAYS} files{said}")
        scan = 0.0
        for case in [*CASES][1:]:
            if case == "memory" and n_events > IN_MEMORY:
                continue
            found = measured(case, days)
            seconds = found["seconds"]
            scan = seconds if case == "scan" else scan
            ratio = f"{seconds / scan:6.1f} scans" if scan else " " * 12
            line = f"{case:8} {seconds:8.2f} s {ratio} {found['peak']:8.0f} MB at most"
            if "held" in found:
                line += f", {found['held']:,.0f} MB of which are events"
            print(line, flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    if given and given[0] in CASES:
        begin = time.perf_counter()
        own = CASES[given[0]](Path(given[1]), *given[2:]) or {}
        own.setdefault("seconds", time.perf_counter() - begin)
        own.setdefault("peak", peak())
        print(json.dumps(own))
    else:
        n_asked = int(given[0]) if given else 10_000_000
        n_users = int(given[1]) if len(given) > 1 else n_asked // 20
        main(n_asked, n_users, *given[2:])
