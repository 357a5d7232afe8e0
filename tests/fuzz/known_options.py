"""Findings in options: metrics, their parameters, and what `evaluate` takes."""

from __future__ import annotations

from typing import Any

import numpy as np

import rankine as rk
from rankine._metrics import names
from tests.fuzz import judge
from tests.fuzz.findings import LISTS, LONG, TRUTH, allowed, case, ended_well, shell


@case("C9")
def lenient_that_is_neither() -> None:
    odd: Any = np.array([1, 2])

    allowed(lambda: rk.evaluate(TRUTH, LISTS, "RR", lenient=odd))
    allowed(lambda: rk.evaluate(TRUTH, LISTS, "RR", name=odd))


@case("D11")
def parameter_that_is_none() -> None:
    metric = names.parse("AP(k=None)")

    assert names.parse(str(metric)) == metric


@case("C1")
def metrics_beyond_a_float() -> None:
    for text in ("P.1e999", "P.inf", f"ndcg@10-l{LONG}", f"P(rel={LONG})"):
        allowed(lambda text=text: names.parse_all(text))  # type: ignore[misc]


@case("C1")
def options_beyond_a_float() -> None:
    allowed(lambda: rk.evaluate(TRUTH, LISTS, "RR", rel=10**400))
    allowed(
        lambda: rk.evaluate(TRUTH, LISTS, "AUC(universe=catalogue)", catalog=10**400)
    )


@case("C1")
def depth_beyond_64_bits() -> None:
    qrels = judge.written(b"q 0 a 1\n", "some.qrels")
    run = judge.written(b"q Q0 a 1 1 t\n")

    assert ended_well(shell("evaluate", str(qrels), str(run), "-M", "9" * 30))


@case("C2")
def parameter_self() -> None:
    allowed(lambda: names.parse_all("P(self=1)"))


@case("C3")
def options_of_odd_types() -> None:
    text = judge.written(b"q,a,1\n")
    named = judge.written(b"query,item,grade\nq,a,1\n", "named")
    odd: Any
    for odd in ({5: "q"}, 5, [("query", "q")], "abc"):
        for path in (text, named):
            allowed(
                lambda path=path, odd=odd: rk.evaluate(path, LISTS, "RR", columns=odd)  # type: ignore[misc]
            )
    for odd in (5, ["csv"]):
        allowed(lambda odd=odd: rk.read_qrels(text, format=odd))  # type: ignore[misc]


@case("C4")
def digits_that_are_no_number() -> None:
    path = judge.written(b"q,0,a,1\n")
    for place in ("²", "9" * 5000):
        told = {"query": place, "item": 3}
        allowed(lambda told=told: rk.read_qrels(path, columns=told))  # type: ignore[misc]
        assert ended_well(shell("evaluate", str(path), "x", "--max-bytes", place))


@case("C7")
def warnings_of_the_parser() -> None:
    for text in ("P(rel=1if)", "P(rel=0x1for x)", r"P(gain='\d')"):
        allowed(lambda text=text: names.parse_all(text))  # type: ignore[misc]


@case("E5")
def metrics_in_an_array_without_dimensions() -> None:
    allowed(lambda: rk.evaluate(TRUTH, LISTS, np.array(1)))
