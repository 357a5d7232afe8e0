"""Runs larger than memory: python benchmarks/streaming.py [--millions 1 10] [--limits].

The same rows, grouped by query and in random order, as TREC text or Parquet, read in
parts within a limit and, while they are few, at once. Each case runs in a process of
its own, which tells its peak memory and the seconds of all its threads together, which
other work on the machine changes little. ``--millions 350 --formats parquet`` is the
large case: it writes about 4 GB, and spills about 11 GB more for rows in random order.

With ``--limits``, 10 million rows of 200,000 users in random order are read within one
limit after the other, which prints peaks and refusals, and ends with 1 if a peak is
above its limit.
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
LIMITS = "150MB", "300MB", "400MB", "600MB", "800MB", "1GB", "2GB"
LIMITED = "nDCG@10,AP", "nDCG@10,Coverage@10", "AUC(scope='pooled')"
PER_USER, JUDGED_OF_USER = 50, (0, 1, 30)
METRICS = ["nDCG@10", "AP", "RR", "P@10", "R@1000"]
JUDGED = (0, 7, 500)
"""Which rows of each list are relevant."""
AT_ONCE = 20
"""Millions of rows that are also read at once."""
_SHUFFLED = "random"
_STEP = 1 << 21
_ODD = 2_654_435_761
"""An odd number: its multiples modulo 2**32 are all different."""


def _rows(number: np.ndarray[Any, Any], per_query: int) -> pl.DataFrame:
    """Return rows by their numbers: query, item, and a score that falls."""
    item = number.astype(np.uint64) * np.uint64(_ODD) % np.uint64(1 << 32)
    return pl.DataFrame(
        {
            "query": number // per_query,
            "item": item,
            "rank": number % per_query + 1,
            "score": 100 - (number % per_query) / 8,
        }
    ).with_columns(
        pl.format("q{}", "query").alias("query"), pl.format("d{}", "item").alias("item")
    )


def made(
    folder: Path,
    n_rows: int,
    form: str,
    *,
    shuffled: bool,
    per_query: int = PER_QUERY,
    judged: tuple[int, ...] = JUDGED,
) -> None:
    """Write judgements and a run."""
    numbers = np.arange(n_rows, dtype=np.uint32)
    if shuffled:
        np.random.default_rng(0).shuffle(numbers)
    run = folder / f"run.{form}"
    if form == "parquet":
        run.mkdir()
    for begin in range(0, n_rows, _STEP):
        frame = _rows(numbers[begin : begin + _STEP].astype(np.int64), per_query)
        if form == "parquet":
            frame.write_parquet(run / f"{begin:012}.parquet")
            continue
        with run.open("ab") as file:
            lines = frame.select(
                "query", pl.lit("Q0"), "item", "rank", "score", pl.lit("x").alias("tag")
            )
            lines.write_csv(file, separator=" ", include_header=False)
    starts = np.arange(0, n_rows, per_query)
    qrels = _rows(np.add.outer(starts, judged).ravel(), per_query)
    qrels.select("query", "item", grade=1).write_parquet(folder / "qrels.parquet")


def evaluated(
    folder: Path, form: str, engine: str, limit: str, metrics: str = ",".join(METRICS)
) -> dict[str, Any]:
    """Evaluate the run; return what that took, and the means or why it was refused."""
    import rankine as rk

    options: Any = {"memory_limit": limit} if engine == "stream" else {}
    if "Coverage" in metrics:
        options["catalog"] = 1 << 32
    rk.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, METRICS)  # imports what it needs
    start, started = time.perf_counter(), time.process_time()
    found: dict[str, Any] = {}
    try:
        ev = rk.evaluate(
            folder / "qrels.parquet", folder / f"run.{form}", metrics.split(","),
            engine=engine, **options,
        )  # fmt: skip
        found["mean"] = ev.mean
    except rk.errors.ParameterError as error:
        found["refused"] = str(error)
    seconds, busy = time.perf_counter() - start, time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found | {"seconds": seconds, "busy": busy, "peak": peak << 10}


def within_limits(folder: str, forms: list[str]) -> None:
    """Print the peak of a process within each limit, or why it was refused."""
    from rankine._base.memory import bytes_of

    above = False
    for form in forms:
        _case(folder, form, "10000000", _SHUFFLED, "of users")
        for metrics in LIMITED:
            for limit in LIMITS:
                case = _case(folder, form, "stream", limit, metrics)
                said = case.get("refused", f"{case['seconds']:.1f} s")
                above |= "mean" in case and case["peak"] > bytes_of(limit)
                peak = f"{case['peak'] / (1 << 20):,.0f} MB"
                print(f"  {form:<8} {metrics:<20} {limit:>6} {peak:>8} {said}")
    sys.exit(above)


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


def of_case(folder: str, form: str, *words: str) -> None:
    """Write data, or evaluate them, in a process of its own."""
    if not words[0].isdigit():
        print(json.dumps(evaluated(Path(folder), form, *words)))
        return
    options: Any = {"shuffled": words[1] == _SHUFFLED}
    if words[2:]:
        options |= {"per_query": PER_USER, "judged": JUDGED_OF_USER}
    made(Path(folder), int(words[0]), form, **options)


def main() -> None:
    """Run all cases, and print rows per second and peak memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--millions", nargs="+", type=float, default=[1, 10])
    parser.add_argument("--formats", nargs="+", default=["trec", "parquet"])
    parser.add_argument("--limit", default="1GB")
    parser.add_argument("--limits", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--case", nargs="+")
    asked = parser.parse_args()
    if asked.case:
        of_case(*asked.case)
        return
    if asked.limits:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            within_limits(folder, asked.formats)
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
