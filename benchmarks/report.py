"""The report of a large comparison: python benchmarks/report.py [--queries 7000].

It is written in a process of its own, which tells its time and its peak memory, and is
then opened in Chromium, where each thing a reader does is timed: from the event until
the next frame, and what the page computes for it in all, the least of several times.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

METRICS = ["nDCG@10", "AP", "RR@10", "P@10", "R@10"]
DEPTH = 20
TIMES = 7
SETTLED = 0.4
"""Seconds after which nothing is drawn any more."""
SHARES = (0.3, 0.6)
"""Between these, systems differ in how often an item that they show is relevant."""
TIMED = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => setTimeout(() => {{
  const start = performance.now();
  {script}
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
}}));
"""
CHOOSE = """
const box = document.querySelectorAll('#controls select')[{box}];
box.selectedIndex = (box.selectedIndex + 1) % box.options.length;
box.dispatchEvent(new Event('change'));
"""
SEARCH = """
const box = document.getElementById('search');
box.value = box.value === '12' ? '' : '12';
box.dispatchEvent(new Event('input'));
"""
SORT = "document.querySelectorAll('#explorer th button')[{column}].click()"
OPEN = """
const rows = document.querySelectorAll('#explorer tbody button');
rows[Math.floor(Math.random() * rows.length)].click();
"""
HOVER = """
const canvas = document.querySelector('#{figure} .live canvas, #{figure} .live svg');
const {{ left, top, width, height }} = canvas.getBoundingClientRect();
canvas.dispatchEvent(new PointerEvent('pointermove', {{
  bubbles: true, clientX: left + width * (0.3 + 0.4 * Math.random()),
  clientY: top + height * (0.3 + 0.4 * Math.random()),
}}));
"""
ACTIONS = {
    "choose another metric": CHOOSE.format(box=0),
    "choose another pair": CHOOSE.format(box=2),
    "search queries": SEARCH,
    "sort queries by name": SORT.format(column=0),
    "sort queries by difference": SORT.format(column=3),
    "open a query": OPEN,
    "point at a bar": HOVER.format(figure="bars"),
    "point at a point": HOVER.format(figure="dots"),
    "sort the table of pairs": "document.querySelector('#pairs th button').click()",
    "change the theme": "document.getElementById('theme').click()",
}


def written(path: Path, n_systems: int, n_queries: int) -> dict[str, float]:
    """Write the report of systems that differ a little; return time and memory."""
    import polars as pl

    import rankine as rk

    rng = np.random.default_rng(0)
    query = np.arange(n_queries).repeat(DEPTH)
    names = pl.Series(query).cast(pl.String)
    grades = rng.integers(0, 4, len(query))
    items = np.tile(np.arange(DEPTH), n_queries)
    frame = pl.DataFrame({"query": "q" + names, "item": items, "relevance": grades})
    hard = rng.normal(size=n_queries).repeat(DEPTH)
    runs = {}
    for system in range(n_systems):
        skill = SHARES[0] + (SHARES[1] - SHARES[0]) * system / n_systems
        score = skill * grades + 0.3 * hard * grades + rng.normal(size=len(query))
        runs[f"system {system}"] = frame.select("query", "item", score=score)
    comparison = rk.compare(frame, runs, METRICS, keep=10, baseline="system 0")
    comparison.pairwise  # noqa: B018 - the tests are not part of the report
    begin = time.process_time()
    comparison.report(path)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "peak": peak}


def interactions(path: Path) -> dict[str, tuple[float, float]]:
    """Return how many milliseconds a reader waits for each thing."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as folder:
        for flag in (
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--window-size=1400,1000", f"--user-data-dir={folder}",
        ):  # fmt: skip
            options.add_argument(flag)
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        driver = webdriver.Chrome(options, service)
        try:
            driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
            driver.get(path.as_uri())
            _timed(driver, "")
            times = {}
            for name, script in ACTIONS.items():
                both = [_timed(driver, script) for _ in range(TIMES)]
                times[name] = tuple(map(min, zip(*both, strict=True)))
        finally:
            driver.quit()
    return times


def _timed(driver: Any, script: str) -> tuple[float, float]:
    """Return how long it took until the next frame, and the work in all, in ms."""
    before = _busy(driver)
    wall = driver.execute_async_script(TIMED.format(script=script))
    time.sleep(SETTLED)
    return float(wall), _busy(driver) - before


def _busy(driver: Any) -> float:
    """Return how long the page has computed, in ms of its thread."""
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return 1000 * float(
        next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
    )


def main() -> None:
    """Write, open and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--queries", type=int, default=7000)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    if options.write:
        print(json.dumps(written(options.write, options.systems, options.queries)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        command = [
            sys.executable, __file__, "--write", str(path), "--systems",
            str(options.systems), "--queries", str(options.queries),
        ]  # fmt: skip
        answer = subprocess.run(command, check=True, capture_output=True)
        cost = json.loads(answer.stdout)
        print(
            f"A report of {options.systems} systems x {options.queries:,} queries x "
            f"{len(METRICS)} metrics\n"
            f"  written in {cost['seconds']:.1f} s (at most 10), peak memory "
            f"{cost['peak']:.0f} MB with the data (at most 1000), "
            f"{path.stat().st_size / 1e6:.2f} MB (at most 6)"
        )
        for name, (wall, busy) in interactions(path).items():
            print(f"  {name:28} {wall:6.0f} ms, {busy:.0f} ms of work (at most 100)")


if __name__ == "__main__":
    main()
