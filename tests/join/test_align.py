"""Metrics of one call share a join where they can, and are as each alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

METRICS = ["nDCG@5", "AP@5", "RR@5", "RR", "P@3", "R@3", "Success@2", "F@4"]


def scores_of(rng: random.Random, kind: str, at: int) -> list[float]:
    """Make twelve scores: with ties, tied in 32 bits only, or falling.

    Those with few ties have them in the second of ten lists only.
    """
    falling = [float(12 - place) for place in range(12)]
    if kind == "tied" or (kind == "few" and at == 1):
        return [float(rng.randrange(5)) for _ in range(12)]
    if kind == "close" or (kind == "few close" and at == 1):
        falling[4] = falling[3] * (1 - 1e-9)
    return falling


@pytest.mark.parametrize("form", ["dict", "frame", "frames", "file"])
@pytest.mark.parametrize("kind", ["tied", "few", "close", "few close", "falling"])
@pytest.mark.parametrize("order", ["sorted", "mixed"])
@pytest.mark.parametrize("name", rk.conventions())
def test_metrics_together_are_as_each_alone(
    form: str, kind: str, order: str, name: str, tmp_path: Path
) -> None:
    rng = random.Random(f"{kind} {order}")  # noqa: S311 - data, not secrets
    items = [f"d{number}" for number in range(20)]
    qrels: Any = {
        f"q{at}": {item: rng.randrange(3) for item in rng.sample(items, 8)}
        for at in range(10)
    }
    rows = []
    for at, query in enumerate(qrels):
        scores = scores_of(rng, kind, at)
        rng.shuffle(scores) if order == "mixed" else scores.sort(reverse=True)
        shown = rng.sample(items, 12)
        rows += [(query, item, s) for item, s in zip(shown, scores, strict=True)]
    run: Any = {query: {} for query in qrels}
    for query, item, score in rows:
        run[query][item] = score
    of_dicts = rk.evaluate(qrels, run, METRICS, convention=name)
    if form in {"frame", "frames"}:
        run = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
    if form == "frames":
        judged = [(q, i, g) for q, grades in qrels.items() for i, g in grades.items()]
        qrels = pl.DataFrame(judged, ["query", "item", "grade"], orient="row")
    elif form == "file":
        run = tmp_path / "some.run"
        lines = (f"{q} Q0 {i} {n} {s!r} t\n" for n, (q, i, s) in enumerate(rows, 1))
        run.write_text("".join(lines))

    together = rk.evaluate(qrels, run, METRICS, convention=name)

    for metric in METRICS:
        alone = rk.evaluate(qrels, run, [metric], convention=name)
        assert together[metric] == pytest.approx(alone[metric], nan_ok=True), metric
        if form != "file":  # which has ranks of its own
            assert together[metric] == pytest.approx(of_dicts[metric], nan_ok=True)


@pytest.mark.parametrize("later", ["falling", "rising", "tied", "empty"])
def test_the_order_given_is_kept_whatever_the_scores_of_later_lists(later: str) -> None:
    """Where all scores fall they are looked up; one list that does not must tell."""
    scores: dict[str, list[Any]] = {
        "falling": [4.0, 3.0, 2.0, 1.0],
        "rising": [1.0, 2.0, 3.0, 4.0],
        "tied": [2.0, 2.0, 2.0, 2.0],
        "empty": [],
    }
    last = dict(zip("abcd", scores[later], strict=False))
    qrels = {"p": {"w": 1, "x": 2}, "q": {"b": 1, "z": 1}}
    run = {"p": {"w": 9.0, "y": 8.0, "x": 7.0}, "q": last}

    every = "AUC(scope='pooled')"
    ev = rk.evaluate(qrels, run, ["RR", "R@3", "AUC", every], order="given").per_query

    shown = bool(last)
    # By places 0, -1, ...: w beats y, c, d and ties with a; x beats d and ties with c;
    # b beats c and d and ties with y.
    pooled = (3.5 + 1.5 + 2.5) / (3 * 4) if shown else 1 / 2
    assert ev[every].to_list() == [pooled] * 2
    assert ev["RR"].to_list() == [1, 1 / 2 if shown else 0]
    assert ev["R@3"].to_list() == [1, 1 / 2 if shown else 0]
    assert ev["AUC"].to_list() == [1 / 2, pytest.approx(2 / 3) if shown else None]


@pytest.mark.parametrize("metrics", [["P@1", "RR@10"], ["Success@1", "RR@3"]])
def test_a_join_is_as_deep_as_any_metric_needs(metrics: list[str]) -> None:
    qrels = pl.DataFrame(
        {"query": ["q"] * 3, "item": ["a", "b", "c"], "grade": [0, 0, 1]}
    )
    run = pl.DataFrame(
        {"query": ["q"] * 3, "item": ["a", "b", "c"], "score": [3.0, 2, 1]}
    )

    ev = rk.evaluate(qrels, run, metrics, convention="ir_measures")

    assert ev[metrics[1]] == 1 / 3


def test_which_of_two_rows_counts_depends_on_the_rule_for_ties() -> None:
    grades = {"a": 1, "b": 2, "c": 0}
    judged = [(f"q{at}", item, g) for at in range(12) for item, g in grades.items()]
    rows = [("q0", "a", 1.0), ("q0", "b", 1.0), ("q0", "a", 1.0), ("q0", "b", 0.5)]
    for at in range(1, 12):
        rows += [(f"q{at}", "x", 3.0), (f"q{at}", "a", 2.0), (f"q{at}", "b", 1.0)]
    qrels = pl.DataFrame(judged, ["query", "item", "grade"], orient="row")
    run = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
    rule = rk.Convention(
        duplicates="set", tie="id_asc", overrides={"nDCG": {"tie": "id_desc"}}
    )

    together = rk.evaluate(qrels, run, ["AP", "nDCG", "P@2"], convention=rule)

    assert together["nDCG"] == rk.evaluate(qrels, run, "nDCG", convention=rule)["nDCG"]


@pytest.mark.parametrize("form", ["frame", "file"])
def test_ties_across_the_last_rank_that_counts(form: str, tmp_path: Path) -> None:
    """Sorted lists are looked at down to the cutoff, and to the end of a tie there."""
    rng = random.Random(form)  # noqa: S311 - data, not secrets
    rows = []
    qrels = {}
    for at in range(40):
        scores = sorted((float(rng.randrange(4)) for _ in range(15)), reverse=True)
        items = rng.sample([f"d{number}" for number in range(30)], 15)
        rows += [(f"q{at}", i, s) for i, s in zip(items, scores, strict=True)]
        qrels[f"q{at}"] = {item: rng.randrange(3) for item in items[::2]}
    run: Any = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
    if form == "file":
        run = tmp_path / "some.run"
        lines = (f"{q} Q0 {i} {n} {s!r} t\n" for n, (q, i, s) in enumerate(rows, 1))
        run.write_text("".join(lines))
    every: dict[str, dict[str, float]] = {query: {} for query in qrels}
    for query, item, score in rows:
        every[query][item] = score

    for name in ("trec_eval", "ir_measures", "pytrec_eval", "rankine"):
        shallow = rk.evaluate(qrels, run, ["P@3", "RR@3", "nDCG@2"], convention=name)
        whole = rk.evaluate(qrels, every, ["P@3", "RR@3", "nDCG@2"], convention=name)
        assert shallow.per_query.equals(whole.per_query), name


def test_ids_may_be_of_two_types_where_nothing_is_judged() -> None:
    run = {"q": [9, 6, 3, 6]}
    ev = rk.evaluate({"q": {}}, run, ["R@3", "P@2"], convention="torchmetrics")

    assert ev.per_query.select("R@3", "P@2").row(0) == (0.0, 0.0)
