"""Compare rankine's conventions with the tools they are named after: make oracle.

Each tool that is installed computes its metrics on random cases, and so does rankine
with the tool's convention. What differs is made smaller and printed. The exit status
is 1 if a difference is not listed in known.py.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent))
import rankine as rk
from oracle.cases import Case, UnfitError, draw
from oracle.known import reason
from oracle.shrink import shape, shrink
from rankine.errors import RankineError

if TYPE_CHECKING:
    from collections.abc import Callable

TOOLS = Path(__file__).parent / "tools"
# A number, or in words why there is none.
Outcome = float | str

VERDICTS = ("equal", "both refuse", "known", "mismatch")
_SHOWN = 5  # differences printed per metric
_SHRUNK = 12  # differences made smaller per metric, to find distinct ones
_DRAWS = 200  # cases drawn for one that the tool accepts
_COLUMNS = {
    "query": pl.String,
    "item": pl.String,
    "score": pl.Float64,
    "rank": pl.Int64,
}


@dataclass(frozen=True, slots=True)
class Tool:
    """A peer: how it is fed, and how exact it is.

    Attributes:
        name: of its module.
        convention: the one that is to give its numbers.
        metrics: ours -> what computes it.
        accepts: whether it can be fed a case.
        tolerance: how far numbers may be apart, for all or for each metric.
        holds_empty: whether its run can hold a query with an empty list; one that
            reads rows is given the case without such queries.
    """

    name: str
    convention: str
    metrics: dict[str, Callable[[Case, int], float | None]]
    accepts: Callable[[Case], bool]
    tolerance: float | dict[str, float]
    holds_empty: bool

    def fed(self, case: Case) -> Case:
        """Return a case as the tool can hold it."""
        return case if self.holds_empty else case.without_empty_lists()

    def takes(self, case: Case) -> bool:
        """Say whether a case is one for both: rankine refuses a run without rows."""
        return bool(case.lists) and self.accepts(case)

    def value(self, metric: str, case: Case, k: int) -> Outcome:
        """Return the tool's number, or what it raises."""
        try:
            value = self.metrics[metric](case, k)
        except UnfitError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a tool raises
            return f"raises {type(error).__name__}: {str(error)[:80]}"
        return math.nan if value is None else float(value)

    def equal(self, metric: str, value: Outcome, other: Outcome) -> bool:
        """Whether both are the same number, as exactly as the tool computes."""
        if isinstance(value, str) or isinstance(other, str):
            return False
        if math.isnan(value) or math.isnan(other):
            return math.isnan(value) and math.isnan(other)
        own = self.tolerance
        within = own if isinstance(own, float) else own.get(metric, 1e-9)
        return abs(value - other) <= within


@dataclass(slots=True)
class Tally:
    """What was found for one metric of one tool."""

    verdicts: Counter[str] = field(default_factory=Counter)
    differences: dict[str, str] = field(default_factory=dict)
    n_shrunk: int = 0


def load(name: str) -> Tool:
    """Import the module of a tool, and with it the tool."""
    module = import_module(f"oracle.tools.{name}")
    tolerance = getattr(module, "TOLERANCE", 1e-9)
    return Tool(
        name,
        module.CONVENTION,
        module.METRICS,
        module.accepts,
        tolerance,
        holds_empty=getattr(module, "HOLDS_EMPTY", False),
    )


def ours(convention: str, metrics: list[str], case: Case, k: int) -> dict[str, Outcome]:
    """Return rankine's numbers, or what it raises.

    Rows cannot hold an empty list; where there is one, the run is a mapping.
    """
    run = case.scores if case.empty else _frame(case)
    names = {metric: at_cutoff(metric, k) for metric in metrics}
    try:
        found = rk.evaluate(
            case.qrels, run, list(names.values()), convention=convention
        )
        return {metric: _number(found[name]) for metric, name in names.items()}
    except RankineError as error:
        if len(metrics) > 1:
            alone = [ours(convention, [metric], case, k) for metric in metrics]
            return {metric: value for one in alone for metric, value in one.items()}
        return {metrics[0]: f"raises {type(error).__name__}: {error}"}
    except Exception as error:  # noqa: BLE001 - a crash is a finding
        return {m: f"crashes with {type(error).__name__}: {error}" for m in metrics}


def at_cutoff(metric: str, k: int) -> str:
    """Put a cutoff for the k at the end of a name; nDCG(ideal='judged@k') has none."""
    return f"{metric[:-1]}{k}" if metric.endswith("@k") else metric


def _frame(case: Case) -> pl.DataFrame:
    return pl.DataFrame(case.rows, schema=_COLUMNS, orient="row")


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def judge(tool: Tool, metric: str, case: Case, k: int, values: list[Outcome]) -> str:
    """Return the verdict on the tool's value and ours."""
    theirs, own = values
    if isinstance(theirs, str) and isinstance(own, str) and own.startswith("raises"):
        return "both refuse"
    if tool.equal(metric, theirs, own):
        return "equal"
    return "known" if reason(tool.name, metric, case, k) else "mismatch"


def compare(tool: Tool, n_cases: int, seed: int) -> dict[str, Tally]:
    """Compare a tool with its convention on so many cases that it accepts."""
    rng = np.random.default_rng(seed)
    tallies: dict[str, Tally] = defaultdict(Tally)
    n_done = 0
    for _ in range(n_cases * _DRAWS):
        drawn, k = draw(rng)
        case = tool.fed(drawn)
        if not tool.takes(case):
            continue
        mine = ours(tool.convention, list(tool.metrics), case, k)
        for metric, own in mine.items():
            try:
                values = [tool.value(metric, case, k), own]
            except UnfitError:
                continue
            verdict = judge(tool, metric, case, k, values)
            tallies[metric].verdicts[verdict] += 1
            if verdict == "mismatch":
                _show(tool, metric, case, k, values, tallies[metric])
        n_done += 1
        if n_done == n_cases:
            break
    return {metric: tallies[metric] for metric in tool.metrics}


def _show(
    tool: Tool, metric: str, case: Case, k: int, values: list[Outcome], tally: Tally
) -> None:
    if len(tally.differences) == _SHOWN or tally.n_shrunk == _SHRUNK:
        return
    tally.n_shrunk += 1
    kinds = [type(value) for value in values]

    def both(case: Case, k: int) -> list[Outcome]:
        own = ours(tool.convention, [metric], case, k)[metric]
        return [tool.value(metric, case, k), own]

    def differs(case: Case, k: int) -> bool:
        if not tool.takes(case):
            return False
        try:
            found = both(case, k)
        except UnfitError:
            return False
        same_kind = [type(value) for value in found] == kinds
        return same_kind and judge(tool, metric, case, k, found) == "mismatch"

    if not metric.endswith("@k"):
        k = 1
    small, cutoff = shrink(case, k, differs)
    theirs, own = (_words(value) for value in both(small, cutoff))
    tally.differences.setdefault(
        shape(small, cutoff),
        f"{tool.name} {at_cutoff(metric, cutoff)}: {theirs}, rankine {own}\n"
        f"    qrels = {small.qrels}\n"
        f"    run = {small.lists}"
        + (f"\n    ranks = {small.ranks}" if small.ranks else ""),
    )


def _words(value: Outcome) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def report(found: dict[str, dict[str, Tally]]) -> None:
    """Print the differences, then a table of all that was compared."""
    for tallies in found.values():
        for tally in tallies.values():
            for text in tally.differences.values():
                print(text)
    names = [metric for tallies in found.values() for metric in tallies]
    width = max(map(len, ("metric", *names)))
    widest = max(map(len, ("tool", *found))) + 1
    heads = "".join(f"{head:>13}" for head in ("compared", *VERDICTS))
    print(f"{'tool':{widest}}{'metric':{width}}{heads}")
    for tool, tallies in found.items():
        for metric, tally in tallies.items():
            counts = [tally.verdicts.total(), *(tally.verdicts[v] for v in VERDICTS)]
            cells = "".join(f"{cell:>13}" for cell in counts)
            print(f"{tool:{widest}}{metric:{width}}{cells}")


def main() -> int:
    """Compare the tools that are named, or all that are installed."""
    parser = argparse.ArgumentParser(description=__doc__)
    every = sorted(path.stem for path in TOOLS.glob("[a-z]*.py"))
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=", ".join(every))
    parser.add_argument("--cases", type=int, default=300, help="per tool")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    found: dict[str, dict[str, Tally]] = {}
    for name in given.tools or every:
        try:
            tool = load(name)
        except ModuleNotFoundError as error:
            if given.tools:
                raise
            print(f"{name}: not installed here ({error.name})")
            continue
        if tool.convention not in rk.conventions():
            print(f"{name}: rankine has no convention {tool.convention!r} yet")
            continue
        begin = time.perf_counter()
        found[name] = compare(tool, given.cases, given.seed)
        print(f"{name}: {given.cases} cases, {time.perf_counter() - begin:.0f} s")
    report(found)
    bad = any(t.verdicts["mismatch"] for own in found.values() for t in own.values())
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
