"""Simulate how often tests, intervals and gates err: make simulate.

Each module of_*.py of this folder has SIMULATIONS, functions that return rows of the
table; a new module is found by its name. Seeds are fixed. The exit status is 1 if a
bound is broken by more than three Monte Carlo standard errors.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))
from rankine._base.text import count

if TYPE_CHECKING:
    from simulations.rows import Row


def modules() -> list[str]:
    """Return the names of the modules, without of_."""
    return sorted(path.stem.removeprefix("of_") for path in FOLDER.glob("of_*.py"))


def simulate(job: tuple[str, int, float]) -> list[Row]:
    """Run one simulation of a module."""
    name, number, scale = job
    rows: list[Row] = import_module(f"simulations.of_{name}").SIMULATIONS[number](scale)
    return rows


def line(row: Row) -> str:
    """Return a line of the table."""
    mark = "" if row.holds else "  BROKEN"
    numbers = f"{row.rounds:9,} {row.value:9.4f} {row.error:9.4f}  {row.bound:9}{mark}"
    return f"{row.what:76} {numbers}".rstrip()


def main(arguments: list[str] | None = None) -> int:
    """Run simulations, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help=f"some of {', '.join(modules())}")
    parser.add_argument("--scale", type=float, default=1, help="share of the rounds")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args(arguments)
    unknown = sorted({*asked.modules} - {*modules()})
    if unknown:
        parser.error(
            f"no module {', '.join(unknown)}; there are {', '.join(modules())}"
        )
    jobs = [
        (name, number, asked.scale)
        for name in asked.modules or modules()
        for number in range(len(import_module(f"simulations.of_{name}").SIMULATIONS))
    ]
    start, broken = time.perf_counter(), 0
    print(f"{'':76} {'rounds':>9} {'share':>9} {'+-':>9}  bound")
    with ProcessPoolExecutor(asked.processes) as pool:
        for rows in pool.map(simulate, jobs):
            for row in rows:
                broken += not row.holds
                print(line(row), flush=True)
    seconds = time.perf_counter() - start
    told = count(broken, "bound")
    print(f"{told} broken by more than 3 standard errors; {seconds:.0f} s")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
