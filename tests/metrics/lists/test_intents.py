"""Gain by topic: values computed by hand, and the definitions walked through."""

from __future__ import annotations

from math import log2, nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from tests.metrics.lists.mean import one

KINDS = {"a": ["war"], "b": ["war"], "c": ["love"], "d": ["war", "love"]}
LIKED = {"u": {"a", "b", "c"}}
L3 = log2(3)


@pytest.mark.parametrize(
    ("metric", "shown", "wanted"),
    [
        ("alpha_DCG@2", "ab", 1 + 0.5 / L3),
        ("alpha_DCG", "axb", 1 + 0.5 / 2),
        ("alpha_DCG(alpha=0.2)@2", "ab", 1 + 0.8 / L3),
        ("alpha_DCG(scale='none')@2", "ab", 1 + 0.5 / L3),
        # Two topics are wanted: a perfect item gains 2, the next one 2 / 2.
        ("alpha_DCG(scale='perfect')@2", "ab", (1 + 0.5 / L3) / (2 + 1 / L3)),
        ("alpha_DCG(scale='perfect')", "ax", 1 / (2 + 1 / L3)),
        ("nERR_IA@2", "ab", (1 + 1 / 4) / (1 + 1 / 2)),
        ("nERR_IA(alpha=0.2)@2", "ab", (1 + 0.8 / 2) / (1 + 1 / 2)),
        # The ideal list is a, c, b: 1 + 1/2 + (1/2) / 3.
        ("nERR_IA", "ab", (1 + 1 / 4) / (1 + 1 / 2 + 1 / 6)),
        ("NRBP", "ab", (1 - 1 / 4) / 2 * (1 + 1 / 4)),
        ("NRBP@1", "ab", (1 - 1 / 4) / 2 * 1),
        ("NRBP(alpha=0.2)", "ab", (1 - 0.4) / 2 * (1 + 0.8 * 0.5)),
        ("NRBP(beta=0.8)", "ab", (1 - 0.4) / 2 * (1 + 0.5 * 0.8)),
        # The ideal list is a, c, b: 1 + 1/2 + (1/2) (1/4).
        ("nNRBP", "ab", (1 + 1 / 4) / (1 + 1 / 2 + 1 / 8)),
        ("nNRBP@1", "xa", 0),
        ("nNRBP(alpha=0.2)", "ab", (1 + 0.4) / (1 + 1 / 2 + 0.8 / 4)),
        ("nNRBP(beta=0.8)", "ab", (1 + 0.4) / (1 + 0.8 + 0.5 * 0.64)),
        ("AP_IA", "axb", ((1 + 2 / 3) / 2 + 0) / 2),
        ("AP_IA", "cab", ((1 / 2 + 2 / 3) / 2 + 1) / 2),
        ("AP_IA@1", "axb", (1 / 2 + 0) / 2),
        ("P_IA@4", "axb", (2 / 4 + 0) / 2),
        ("P_IA", "axb", (2 / 3 + 0) / 2),
        ("P_IA@2", "ac", (1 / 2 + 1 / 2) / 2),
    ],
)
def test_a_value_by_hand(metric: str, shown: str, wanted: float) -> None:
    got = one(LIKED, {"u": list(shown)}, metric, items=KINDS)

    assert got == pytest.approx(wanted, rel=1e-12)


METRICS = ("alpha_DCG", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA")


@pytest.mark.parametrize("metric", METRICS)
def test_grades_below_the_threshold_do_not_count(metric: str) -> None:
    graded = {"u": {"a": 1, "b": 2, "c": 1}}
    strict = f"{metric}(rel=2)"

    got = one(graded, {"u": ["a", "b"]}, strict, items=KINDS)
    assert got == pytest.approx(
        one({"u": {"b"}}, {"u": ["a", "b"]}, metric, items=KINDS)
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("without", "wanted"), [("undefined", nan), ("zero", 0.0)])
def test_who_wants_nothing(metric: str, without: str, wanted: float) -> None:
    qrels = {"u": {"a": 0}, "v": {"a": 1}}
    run = {"u": ["a"], "v": ["x"]}
    name = f"{metric}(without='{without}')"
    ev = rk.evaluate(qrels, run, name, items=KINDS)

    values = dict(zip(ev.queries, ev.summaries[name].values.tolist(), strict=True))
    assert values["u"] == pytest.approx(wanted, nan_ok=True)
    assert values["v"] == 0


def gains(shown: list[str], liked: set[str], alpha: float) -> list[tuple[int, float]]:
    """Return rank and worth, for each item and topic."""
    came: dict[str, int] = {}
    rows = []
    for rank, item in enumerate(shown, 1):
        for topic in KINDS[item] if item in liked else []:
            rows.append((rank, (1 - alpha) ** came.get(topic, 0)))
            came[topic] = came.get(topic, 0) + 1
    return rows


@settings(max_examples=60)
@given(
    shown=st.permutations("abcd"),
    length=st.integers(1, 4),
    liked=st.sets(st.sampled_from("abcd"), min_size=1),
    alpha=st.sampled_from([0.0, 0.3, 0.5]),
)
def test_they_are_what_the_formulas_say(
    shown: list[str], length: int, liked: set[str], alpha: float
) -> None:
    shown = shown[:length]
    topics = {topic for item in liked for topic in KINDS[item]}
    n_about = {topic: sum(topic in KINDS[item] for item in liked) for topic in topics}
    rows = gains(shown, liked, alpha)
    average = 0.0
    for topic in topics:
        ranks = [
            rank
            for rank, item in enumerate(shown, 1)
            if item in liked and topic in KINDS[item]
        ]
        average += sum(n / rank for n, rank in enumerate(ranks, 1)) / n_about[topic]
    expected: dict[str, Any] = {
        f"alpha_DCG(alpha={alpha})": sum(w / log2(r + 1) for r, w in rows),
        f"NRBP(alpha={alpha},beta=0.7)": (1 - (1 - alpha) * 0.7)
        / len(topics)
        * sum(0.7 ** (r - 1) * w for r, w in rows),
        "AP_IA": average / len(topics),
        "P_IA": len(rows) / length / len(topics),
    }
    for metric, wanted in expected.items():
        got = one({"u": liked}, {"u": shown}, metric, items=KINDS)
        assert got == pytest.approx(wanted, rel=1e-12, abs=1e-15), metric
