"""Ties, repeats and ids of two types: decided alike wherever they are looked at.

The same tied lists must come in the same order in every form and by every road. Who
looks for repeats, or compares ids as texts, calls the modules named here; a new one is
added only with a reason.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankine as rk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(rk.__file__).parent
PACKAGES = ("_io", "_join", "_runs", "_evaluate")
REPEATS = {
    "_io/repeats.py": "marks and shows repeated rows",
    "_join/row_chunks.py": "keys that are equal, whose ids are then looked at",
}
TYPES = {
    "_join/ids.py": "which ids are the same, and the order of their texts",
    "_io/values.py": "ids as they are read",
    "_io/collapse.py": "documents are found in the text of a chunk's id",
    "_io/frames.py": "subtopics are texts",
    "_io/items.py": "topics are texts",
    "_io/texts.py": "ids of texts as a report shows them",
    "_evaluate/check.py": "compares ids that do not match, letter by letter",
    "_evaluate/result.py": "one column of ids for tables of two types",
    "_join/rounds.py": "prints of lists, the same for ids of any type",
}


def callers(calls: set[str], argument: str = "") -> set[str]:
    """Return the modules that call functions, with an argument if one is given."""
    modules = set()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Call):
                    continue
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                given = [ast.unparse(own) for own in node.args]
                if name in calls and (not argument or argument in given):
                    modules.add(path.relative_to(ROOT).as_posix())
    return modules


@pytest.mark.slow
@pytest.mark.parametrize(
    ("places", "calls", "argument"),
    [
        (REPEATS, {"is_duplicated", "is_first_distinct", "is_last_distinct"}, ""),
        (TYPES, {"cast"}, "pl.String"),
    ],
    ids=["repeats", "types"],
)
def test_nobody_else_decides(
    places: dict[str, str], calls: set[str], argument: str
) -> None:
    assert callers(calls, argument) == set(places)


# Ties

SCORES: dict[int, float] = {10: 0.5, 9: 0.5, 7: 0.1, 100: 0.5, 2: 0.9, 20: 0.1}
"""In this order; one list of which each query looks for another item."""
IN_ORDER = {
    # 2 is above the tie of 10, 9 and 100, and these are above that of 7 and 20.
    "input": [2, 10, 9, 100, 7, 20],
    "input_rev": [2, 100, 9, 10, 20, 7],
    # By text: "10" < "100" < "9", and "20" < "7".
    "id_asc": [2, 10, 100, 9, 20, 7],
    "id_desc": [2, 9, 100, 10, 7, 20],
}
OWN = "id_desc"
"""The rule where none can be chosen."""
N = len(SCORES)
each_kind = pytest.mark.parametrize("kind", [int, str])
each_tie = pytest.mark.parametrize("tie", IN_ORDER)
Kind = type[int] | type[str]


def lists(kind: Kind) -> dict[Any, dict[Any, float]]:
    """Return the list once for each of its items."""
    own = {kind(item): score for item, score in SCORES.items()}
    return {kind(query): dict(own) for query in range(N)}


def judged(kind: Kind) -> dict[Any, dict[Any, int]]:
    """Return judgements by which each query looks for one of the items."""
    return {kind(number): {kind(item): 1} for number, item in enumerate(SCORES)}


def frame(kind: Kind) -> pl.DataFrame:
    rows = [(q, i, s) for q, own in lists(kind).items() for i, s in own.items()]
    return pl.DataFrame(rows, ["query", "item", "score"], orient="row")


def as_trec(kind: Kind, folder: Path) -> Path:
    path = folder / "some.run"
    rows = frame(kind).iter_rows()
    path.write_text("".join(f"{q} Q0 {i} 0 {s} tag\n" for q, i, s in rows))
    return path


def as_csv(kind: Kind, folder: Path) -> Path:
    frame(kind).write_csv(folder / "run.csv")
    return folder / "run.csv"


def as_parquet(kind: Kind, folder: Path) -> Path:
    frame(kind).write_parquet(folder / "run.parquet")
    return folder / "run.parquet"


def as_matrix(kind: Kind, _: Path) -> Any:
    items = [kind(item) for item in SCORES]
    scores = np.array([[*SCORES.values()]] * N)
    return rk.from_scores(scores, queries=[*lists(kind)], items=items)


def as_stream(kind: Kind, _: Path) -> Iterator[pl.DataFrame]:
    return (rows for _, rows in frame(kind).group_by("query", maintain_order=True))


def scattered(kind: Kind, _: Path) -> pl.DataFrame:
    """Return rows of which those of a query are apart, in their order."""
    rows = frame(kind).with_columns(place=pl.int_range(pl.len()).over("query"))
    return rows.sort("place", "query", descending=[False, True]).drop("place")


FORMS: dict[str, Callable[[Kind, Path], Any]] = {
    "dicts": lambda kind, _: lists(kind),
    "polars": lambda kind, _: frame(kind),
    "scattered": scattered,
    "pandas": lambda kind, _: pd.DataFrame(frame(kind).to_dict(as_series=False)),
    "trec": as_trec,
    "csv": as_csv,
    "parquet": as_parquet,
    "matrix": as_matrix,
    "stream": as_stream,
}
each_form = pytest.mark.parametrize("form", FORMS)


def in_order(ranks: Any) -> list[int]:
    """Put the items in the order of their ranks."""
    by_rank = dict(zip(ranks, SCORES, strict=True))
    return [by_rank[rank] for rank in sorted(by_rank)]


def ruled(tie: str) -> dict[str, Any]:
    return {"convention": rk.Convention(tie=tie)}  # type: ignore[arg-type]


def streamed(form: str, tie: str) -> dict[str, Any]:
    """Return options by which files are read in parts."""
    engine = {"engine": "stream"} if form in {"trec", "csv", "parquet"} else {}
    return {**ruled(tie), **engine}


@pytest.mark.slow
@each_kind
@each_tie
@each_form
def test_metrics_of_judged_items(
    form: str, tie: str, kind: Kind, tmp_path: Path
) -> None:
    for options in (ruled(tie), streamed(form, tie)):
        run = FORMS[form](kind, tmp_path)
        ev = rk.evaluate(judged(kind), run, "RR", **options)

        ranks = dict(zip(map(str, ev.queries), 1 / ev.per_query["RR"], strict=True))
        assert in_order(round(ranks[str(q)]) for q in range(N)) == IN_ORDER[tie]


@each_kind
@each_tie
@each_form
def test_metrics_of_lists(form: str, tie: str, kind: Kind, tmp_path: Path) -> None:
    """Who had which item: 1, 2, 4, ... users, so that sums tell which are shown."""
    users = [range(1 << number) for number in range(N)]
    train = [
        (kind(u), kind(i)) for i, own in zip(SCORES, users, strict=True) for u in own
    ]
    known = pl.DataFrame(train, ["query", "item"], orient="row")
    metrics = [f"Popularity@{k}" for k in range(1, N + 1)]

    ev = rk.evaluate(
        None, FORMS[form](kind, tmp_path), metrics, train=known, **streamed(form, tie)
    )

    sums = [0, *(k * ev[f"Popularity@{k}"] for k in range(1, N + 1))]
    which = [round(np.log2(after - before)) for before, after in zip(sums, sums[1:])]  # noqa: B905, RUF007
    assert [[*SCORES][number] for number in which] == IN_ORDER[tie]


@each_kind
@each_tie
def test_batches(tie: str, kind: Kind) -> None:
    total = rk.Accumulator("RR", **ruled(tie))
    truth = judged(kind)
    for query, own in lists(kind).items():
        total.update({query: truth[query]}, {query: own})

    ranks = (round(1 / value) for value in total.result().per_query["RR"])
    assert in_order(ranks) == IN_ORDER[tie]


@each_kind
@each_tie
@each_form
def test_the_worst_lists_as_they_are_shown(
    form: str, tie: str, kind: Kind, tmp_path: Path
) -> None:
    run = FORMS[form](kind, tmp_path)
    ev = rk.evaluate(judged(kind), run, "RR", keep=N, **streamed(form, tie))

    for found in ev.worst("RR", N):
        assert [int(item.item) for item in found.top] == IN_ORDER[tie]
        assert [item.rank for item in found.top] == [*range(1, N + 1)]


@each_kind
@each_form
def test_similarity(form: str, kind: Kind, tmp_path: Path) -> None:
    """The other run shows one item to each query, so that Jaccard is 1/k or 0."""
    if form == "stream":
        pytest.skip("similarity takes whole runs")
    alone = {query: [*own] for query, own in judged(kind).items()}
    measures = [f"Jaccard@{k}" for k in range(1, N + 1)]

    ev = rk.similarity(FORMS[form](kind, tmp_path), alone, measures)

    met = ev.per_query.sort(pl.col("query").cast(pl.Int64)).drop("query").to_numpy() > 0
    assert in_order((met.argmax(axis=1) + 1).tolist()) == IN_ORDER[OWN]


@each_kind
def test_functions_of_two_rankings(kind: Kind) -> None:
    own = lists(kind)[kind(0)]
    groups = [[2], [10, 9, 100], [7, 20]]
    tied = [[kind(item) for item in group] for group in groups]
    text = "2 (10 9 100) (7 20)"
    for ranking in (own, tied, text) if kind is str else (own, tied):
        ranks = [
            next(k for k in range(1, N + 1) if rk.jaccard(ranking, [kind(item)], k=k))
            for item in SCORES
        ]
        assert in_order(ranks) == IN_ORDER[OWN]


@pytest.mark.slow
@each_kind
@each_form
def test_check(form: str, kind: Kind, tmp_path: Path) -> None:
    """Down to the rank of the item that is judged, all are unjudged but this one."""
    ranks = []
    for item in SCORES:
        truth = {query: {kind(item): 0} for query in lists(kind)}
        shares = [
            rk.check(truth, FORMS[form](kind, tmp_path), k=k).both["unjudged_at_k"]
            for k in range(1, N + 1)
        ]
        ranks.append(next(k for k, share in enumerate(shares, 1) if share < 1))
    assert in_order(ranks) == IN_ORDER[OWN]
