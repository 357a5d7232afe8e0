"""Compare fusion of runs with that of ranx: make oracle.

Random runs, with ties or without, of scores near each other or far apart, go through
both with each method and normalisation. The exit status is 1 if a score differs by more
than 1e-12, unless known.py says why.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
import rankine as rk
from oracle.differences import run
from oracle.known import FUSIONS, reason
from rankine.errors import RankineError

Runs = list[dict[str, dict[str, float]]]
_ENOUGH = 1e-12
_ITEMS = [f"d{n}" for n in range(9)]
_KINDS = {"levels": 0.2, "any": 0.5, "negative": 0.1, "near": 0.1, "far": 0.1}
_ALIKE = 0.3
"""The share of cases in which all lists have the same items."""
METHODS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rrf": ("rrf", ("k",)),
    "combsum": ("sum", ()),
    "combmnz": ("mnz", ()),
    "combmed": ("med", ()),
    "combanz": ("anz", ()),
    "combmin": ("min", ()),
    "combmax": ("max", ()),
    "combgmnz": ("gmnz", ("gamma",)),
    "wsum": ("wsum", ("weights",)),
    "wmnz": ("wmnz", ("weights",)),
    "mixed": ("mixed", ("weights",)),
    "borda": ("bordafuse", ()),
    "condorcet": ("condorcet", ()),
    "isr": ("isr", ()),
    "log_isr": ("log_isr", ()),
    "logn_isr": ("logn_isr", ("sigma",)),
    "rbc": ("rbc", ("phi",)),
}
"""Ours -> that of ranx, and its parameters."""
NORMS = {
    None: None, "min-max": "min-max", "max": "max", "sum": "sum", "z-score": "zmuv",
    "rank": "rank", "borda": "borda",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fusion:
    """Runs to be fused, as known.py looks at them.

    Attributes:
        runs: the runs, which have the same queries.
        method: the method, by our name.
        norm: the normalisation, by our name.
        parameters: those of the method.
    """

    runs: Runs
    method: str
    norm: str | None
    parameters: dict[str, Any]

    @property
    def lists(self) -> list[dict[str, float]]:
        """All lists."""
        return [own for run in self.runs for own in run.values()]

    @property
    def tied(self) -> bool:
        """Whether a list has equal scores."""
        return any(len(set(own.values())) < len(own) for own in self.lists)

    @property
    def spreads(self) -> list[float]:
        """How far apart the scores of each list are."""
        return [max(own.values()) - min(own.values()) for own in self.lists]

    @property
    def is_clear(self) -> bool:
        """Whether of any two items one wins, each run has one, and none in circles."""
        for query in self.runs[0]:
            lists = [run[query] for run in self.runs]
            items = sorted({item for own in lists for item in own})
            wins = Counter(dict.fromkeys(items, 0))
            for one, other in combinations(items, 2):
                if not all(one in own or other in own for own in lists):
                    return False
                margin = sum(
                    1 if own.get(one, -math.inf) > own.get(other, -math.inf) else -1
                    for own in lists
                )
                if margin == 0:
                    return False
                wins[one if margin > 0 else other] += 1
            if sorted(wins.values()) != [*range(len(items))]:
                return False
        return True


def draw(rng: np.random.Generator) -> Fusion:
    """Draw a method, a normalisation, and runs."""
    method = str(rng.choice([*METHODS]))
    norm = [*NORMS][rng.integers(len(NORMS))]
    n_runs, n_queries = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    kind = str(rng.choice([*_KINDS], p=[*_KINDS.values()]))
    common = _some(rng) if rng.random() < _ALIKE else None
    runs: Runs = [
        {
            f"q{query}": _list(rng, kind, _some(rng) if common is None else common)
            for query in range(n_queries)
        }
        for _ in range(n_runs)
    ]
    every = {
        "k": int(rng.integers(0, 100)),
        "gamma": float(rng.choice([0, 0.01, 0.5, 1, 2])),
        "sigma": float(rng.choice([0, 0.01, 0.5, 1])),
        "phi": float(rng.choice([0.01, 0.5, 0.8, 0.99])),
        "weights": rng.choice([0, 0.1, 0.3, 1, 2], n_runs).tolist(),
    }
    every["weights"][0] = every["weights"][0] or 1.0
    parameters = {name: every[name] for name in METHODS[method][1]}
    return Fusion(runs, method, norm, parameters)


def _some(rng: np.random.Generator) -> Any:
    """Draw items."""
    return rng.permutation(_ITEMS)[: rng.integers(1, len(_ITEMS))]


def _list(rng: np.random.Generator, kind: str, items: Any) -> dict[str, float]:
    n = len(items)
    scores = {
        "levels": lambda: rng.integers(0, 4, n) / 2,
        "any": lambda: rng.random(n) * 20,
        "negative": lambda: -rng.random(n) * 20,
        "near": lambda: 3 + rng.random(n) * 1e-11,
        "far": lambda: (rng.random(n) - 0.5) * 1e11,
    }[kind]()
    return dict(zip(map(str, items), map(float, scores), strict=True))


def theirs(case: Fusion) -> dict[str, dict[str, float]]:
    """Fuse with ranx."""
    import ranx

    runs = [ranx.Run({q: dict(own) for q, own in run.items()}) for run in case.runs]
    method, _ = METHODS[case.method]
    made = ranx.fuse(runs, NORMS[case.norm], method, case.parameters or None)
    found: dict[str, dict[str, float]] = made.to_dict()
    return found


def ours(case: Fusion) -> dict[str, dict[str, float]] | str:
    """Fuse with rankine, or return why it refuses."""
    try:
        run = rk.fuse(case.runs, case.method, norm=case.norm, **case.parameters)
    except RankineError as error:
        return str(error)
    return run.to_dict()


def compare(name: str, n_cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Compare ranx with rankine, and tell what differs."""
    compared: Counter[str] = Counter()
    known: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(n_cases):
        case = draw(np.random.default_rng((seed, number)))
        what = f"{case.method}, {case.norm}"
        mine = ours(case)
        found = theirs(case)
        differs = isinstance(mine, str) or _differs(case, found, mine)
        why = reason(name, what, case, 0, FUSIONS) if differs else None
        if why is not None:
            known[why] += 1
            continue
        compared[what] += 1
        if differs:
            given = f"{case.runs} {case.parameters}"
            wrong.append(f"{what}: {given}: {found}, rankine {mine}")
    for why, n in known.most_common():
        print(f"{n:6} known: {why}")
    print(f"{len(compared)} of {len(METHODS) * len(NORMS)} pairs of method and norm")
    return compared, wrong


def _differs(
    case: Fusion, found: dict[str, dict[str, float]], mine: dict[str, dict[str, float]]
) -> bool:
    """Say whether the two runs differ: in a score, of Condorcet in the order."""
    if case.method == "condorcet":
        return {q: [*own] for q, own in found.items()} != {
            q: [*own] for q, own in mine.items()
        }
    return found.keys() != mine.keys() or any(
        found[query].keys() != own.keys()
        or any(
            abs(found[query][item] - score) > _ENOUGH * max(1, abs(score))
            for item, score in own.items()
        )
        for query, own in mine.items()
    )


if __name__ == "__main__":
    sys.exit(run(__doc__, ["ranx"], compare, "fusion", "methods and norms"))
