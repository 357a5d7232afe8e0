"""Make the sample data of `rankine demo`: python tools/make_sample.py.

Fifty cooking questions on 400 recipes, judged 0 to 3, and the lists of three
made-up systems. It has what real data have: ties, unjudged recipes, a question
without a good recipe, one that a system did not answer, and one that nobody judged.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent.parent / "src" / "rankine" / "data"
N_QUERIES, N_ITEMS, N_SHOWN = 50, 400, 20
JUDGED_SHARE = 0.8
NOISE = {"keyword": 1.35, "vector": 0.95, "hybrid": 0.75}
UNANSWERED, UNJUDGED, NOTHING_GOOD = "q17", "q51", "q33"


def main() -> None:
    """Write the judgements and three runs."""
    rng = np.random.default_rng(2026)
    queries = [f"q{number:02d}" for number in range(1, N_QUERIES + 1)]
    items = np.array([f"recipe{number:03d}" for number in range(1, N_ITEMS + 1)])
    worth = {query: np.zeros(N_ITEMS) for query in [*queries, UNJUDGED]}
    for query, grades in worth.items():
        if query != NOTHING_GOOD:
            good = rng.choice(N_ITEMS, size=rng.integers(3, 15), replace=False)
            grades[good] = rng.choice([1, 2, 3], size=len(good), p=[0.5, 0.3, 0.2])
    seen: dict[str, set[int]] = {query: set() for query in queries}
    for system, noise in NOISE.items():
        lines = []
        for query, grades in worth.items():
            if (system, query) == ("vector", UNANSWERED):
                continue
            if query == UNJUDGED and system != "hybrid":
                continue
            score = 0.9 * grades + noise * rng.normal(size=N_ITEMS)
            if system == "keyword":
                score = np.round(score * 5) / 5  # few distinct scores: many ties
            top = np.argsort(-score, kind="stable")[:N_SHOWN]
            lines += [
                f"{query} Q0 {items[item]} {rank} {score[item]:.4f} {system}"
                for rank, item in enumerate(top, start=1)
            ]
            if query in seen:
                seen[query].update(int(item) for item in top[:12])
        (FOLDER / f"{system}.run").write_text("\n".join(lines) + "\n")
    judged = []
    for query in queries:
        relevant = set(np.flatnonzero(worth[query]).tolist())
        pool = {item for item in seen[query] if rng.random() < JUDGED_SHARE} | relevant
        judged += [
            f"{query} 0 {items[item]} {worth[query][item]:.0f}" for item in sorted(pool)
        ]
    (FOLDER / "qrels.txt").write_text("\n".join(judged) + "\n")


if __name__ == "__main__":
    main()
