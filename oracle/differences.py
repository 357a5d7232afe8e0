"""Compare the tools that are named with rankine, and print what differs."""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Iterable

_SHOWN = 5


def run(
    description: str | None,
    tools: Iterable[str],
    compare: Callable[[str, int, int], tuple[Counter[str], list[str]]],
    kind: str,
    unit: str,
) -> int:
    """Read the command line, compare each tool, and return the exit status.

    Args:
        description: of the command.
        tools: the names that may be given.
        compare: takes a tool, how many cases, and a seed; returns how many numbers were
            compared of each metric, and a line for each that differs.
        kind: what is compared, as one word.
        unit: what numbers are counted by, in the plural.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("tools", nargs="+", choices=list(tools))
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = False
    for name in given.tools:
        compared, wrong = compare(name, given.cases, given.seed)
        print("\n".join(wrong[:_SHOWN]), end="\n" if wrong else "")
        total = sum(compared.values())
        numbers = f"{total} numbers of {len(compared)} {unit}"
        print(f"{name}, {kind}: {numbers}, {len(wrong)} differ")
        failed = failed or bool(wrong) or not total
    return int(failed)
