"""implicit: its ranking evaluation, with a model that returns the lists of the case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from implicit.evaluation import ranking_metrics_at_k
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "implicit"
HOLDS_EMPTY = True
_N_ITEMS = 20  # more than any case has


def accepts(case: Case) -> bool:
    """A model recommends an item once, to every user of the test matrix."""
    return case.qrels.keys() <= case.lists.keys() and not case.has_duplicates


@dataclass(frozen=True)
class _Model:
    """Stands for a trained model: its lists are fixed, -1 fills up short ones."""

    lists: list[list[int]]

    def recommend(self, users: Any, *_: Any, N: int) -> tuple[Any, Any]:  # noqa: N803
        ids = np.full((len(users), N), -1, dtype=np.int32)
        for row, user in enumerate(users):
            shown = self.lists[user][:N]
            ids[row, : len(shown)] = shown
        return ids, np.zeros(ids.shape, dtype=np.float32)


def _mean(name: str) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        queries = {query: place for place, query in enumerate(case.lists)}
        names = [item for _, item, *_ in (*case.rows, *case.judgements)]
        items = {item: place for place, item in enumerate(dict.fromkeys(names))}
        shape = (len(queries), _N_ITEMS)
        places = [(queries[query], items[item]) for query, item, _ in case.liked]
        grid = np.zeros(shape)
        grid[tuple(np.array(places, dtype=int).reshape(-1, 2).T)] = 1
        test = csr_matrix(grid)
        model = _Model([[items[i] for i, _ in shown] for shown in case.lists.values()])
        found = ranking_metrics_at_k(
            model, csr_matrix(shape), test, K=k, show_progress=False, num_threads=1
        )
        return float(found[name])

    return value


METRICS = {
    "P@k": _mean("precision"),
    "AP@k": _mean("map"),
    "nDCG@k": _mean("ndcg"),
    f"AUC(catalog={_N_ITEMS})@k": _mean("auc"),
}
