"""Runs larger than memory: python benchmarks/streaming.py [--millions 1 10].

The same rows, grouped by query and in random order, as TREC text or Parquet, read in
parts within a limit and, while they are few, at once. Each case runs in a process of
its own, which tells its peak memory and the seconds of all its threads together, which
other work on the machine changes little. ``--millions 350 --formats parquet`` is the
large case: it writes about 4 GB, and spills about 11 GB more for rows in random order.
"""

from __future__ import annotations

import argparse
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

PER_QUERY = 1000
METRICS = ["nDCG@10", "AP", "RR", "P@10", "R@1000"]
JUDGED = (0, 7, 500)
"""Which rows of each list are relevant."""
AT_ONCE = 20
"""Millions of rows that are also read at once."""
_SHUFFLED = "random"
_STEP = 1 << 21
_ODD = 2_654_435_761
"""An odd number: its multiples modulo 2**32 are all different."""


def _rows(number: np.ndarray[Any, Any]) -> pl.DataFrame:
    """Return rows by their numbers: query, item, and a score that falls."""
    item = number.astype(np.uint64) * np.uint64(_ODD) % np.uint64(1 << 32)
    return pl.DataFrame(
        {
            "query": number // PER_QUERY,
            "item": item,
            "rank": number % PER_QUERY + 1,
            "score": 100 - (number % PER_QUERY) / 8,
        }
    ).with_columns(
        pl.format("q{}", "query").alias("query"), pl.format("d{}", "item").alias("item")
    )


def made(folder: Path, n_rows: int, form: str, *, shuffled: bool) -> None:
    """Write judgements and a run."""
    numbers = np.arange(n_rows, dtype=np.uint32)
    if shuffled:
        np.random.default_rng(0).shuffle(numbers)
    run = folder / f"run.{form}"
    if form == "parquet":
        run.mkdir()
    for begin in range(0, n_rows, _STEP):
        frame = _rows(numbers[begin : begin + _STEP].astype(np.int64))
        if form == "parquet":
            frame.write_parquet(run / f"{begin:012}.parquet")
            continue
        with run.open("ab") as file:
            lines = frame.select(
                "query", pl.lit("Q0"), "item", "rank", "score", pl.lit("x").alias("tag")
            )
            lines.write_csv(file, separator=" ", include_header=False)
    starts = np.arange(0, n_rows, PER_QUERY)
    judged = _rows(np.add.outer(starts, JUDGED).ravel())
    judged.select("query", "item", grade=1).write_parquet(folder / "qrels.parquet")


def evaluated(folder: Path, form: str, engine: str, limit: str) -> dict[str, Any]:
    """Evaluate the run; return what that took, and the means."""
    import rankine as rk

    options: Any = {"memory_limit": limit} if engine == "stream" else {}
    rk.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, METRICS)  # imports what it needs
    start, started = time.perf_counter(), time.process_time()
    ev = rk.evaluate(
        folder / "qrels.parquet", folder / f"run.{form}", METRICS, engine=engine,
        **options,
    )  # fmt: skip
    seconds, busy = time.perf_counter() - start, time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "busy": busy, "peak": peak << 10, "mean": ev.mean}


def _case(*words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--case", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout or "{}")
    return result


def main() -> None:
    """Run all cases, and print rows per second and peak memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--millions", nargs="+", type=float, default=[1, 10])
    parser.add_argument("--formats", nargs="+", default=["trec", "parquet"])
    parser.add_argument("--limit", default="1GB")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--case", nargs="+")
    asked = parser.parse_args()
    if asked.case:
        folder, form, *words = asked.case
        if words[0].isdigit():
            made(Path(folder), int(words[0]), form, shuffled=words[1] == _SHUFFLED)
        else:
            print(json.dumps(evaluated(Path(folder), form, *words)))
        return
    print(f"Runs in parts within {asked.limit}, {len(METRICS)} metrics")
    for form in asked.formats:
        for millions in asked.millions:
            n_rows = int(millions * 1e6)
            means = set()
            for order in ("grouped", _SHUFFLED):
                with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
                    _case(folder, form, str(n_rows), order)
                    for engine in ("memory", "stream"):
                        if engine == "memory" and millions > AT_ONCE:
                            continue
                        case = _case(folder, form, engine, asked.limit)
                        means.add(str(case["mean"]))
                        speed = n_rows / case["seconds"] / 1e6
                        print(
                            f"  {form:<8}{millions:6g} M rows, {order:<10}{engine:<7}"
                            f"{case['seconds']:9.2f} s{speed:8.2f} M rows/s, "
                            f"{case['busy']:8.2f} s of cores, "
                            f"peak {case['peak'] / (1 << 20):7,.0f} MB",
                            flush=True,
                        )
            if len(means) > 1:
                sys.exit(f"means differ: {means}")


if __name__ == "__main__":
    main()
