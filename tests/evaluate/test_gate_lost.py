"""A collapse does not pass a gate: few queries at 0, and queries that return nothing.

Also: the mean of a gate is that of evaluate, and a failed gate names queries.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from rankine._evaluate.gate.gate import verdicts_of
from rankine.errors import ParameterError
from tests.evaluate.test_gate import baseline, exact_p

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{n:03}": {"a": 1} for n in range(200)}
IDS = list(QRELS)
GOOD = {query: ["a", "x", "y"] for query in QRELS}
NAMES = ("one", "two", "three", "four", "five", "six", "seven")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gate.json"


def only(n: int) -> dict[str, dict[str, int]]:
    return {query: QRELS[query] for query in IDS[:n]}


def good(n: int) -> dict[str, list[str]]:
    return {query: GOOD[query] for query in IDS[:n]}


def missed(n: int) -> dict[str, list[str]]:
    return {query: ["x", "y"] for query in IDS[:n]}


# Few queries that fell


def test_nine_of_twenty_queries_at_zero_fail(path: Path) -> None:
    rk.gate(only(20), good(20), path, metrics="RR", update=True)

    found = rk.gate(only(20), good(20) | missed(9), path, {"RR": 0.01})

    assert (found.verdict, found.exit_code) == ("worse", 1)
    assert found.verdicts[0].p == 2**-9
    assert found.lost == ()
    compared = rk.compare(
        only(20), {"old": good(20), "new": good(20) | missed(9)}, "RR"
    )
    assert compared.pairwise["p"][0] == 2 * found.verdicts[0].p


@pytest.mark.parametrize(
    ("n_metrics", "least"),
    [(1, 6), (2, 7), (3, 7), (4, 8), (6, 8), (7, 9)],
)
def test_how_many_queries_must_fall(n_metrics: int, least: int) -> None:
    names = NAMES[:n_metrics]

    def found(moved: int) -> tuple[rk.GateVerdict, ...]:
        old, new = [1.0] * 20, [0.0] * moved + [1.0] * (20 - moved)
        return verdicts_of(
            baseline(dict.fromkeys(names, old)), baseline(dict.fromkeys(names, new)),
            dict.fromkeys(names, 0.01), [True] * n_metrics,
        )  # fmt: skip

    assert {own.verdict for own in found(least)} == {"worse"}
    few = found(least - 1)
    assert {own.verdict for own in few} == {"cannot tell"}
    gate = rk.Gate("g", few)
    noun = "metric" if n_metrics == 1 else "metrics"
    assert gate.passed
    assert gate.sentences[-1] == (
        f"{', '.join(names)}: fewer than {least} moved queries cannot fail a gate on "
        f"{n_metrics} {noun}, however far they fall; also set a floor: assert "
        "rk.evaluate(qrels, run, 'one')['one'] >= VALUE"
    )
    at_command = rk.Gate("g", few, at_command=True)
    assert at_command.sentences[-1].endswith(
        "set a floor: rankine evaluate --fail-under one=VALUE"
    )
    assert "floor" not in str(rk.Gate("g", few, strict=True))
    assert "floor" not in str(rk.Gate("g", found(least)))


def test_a_baseline_of_too_few_queries_is_told(path: Path) -> None:
    made = rk.gate(only(5), good(5), path, metrics="RR", update=True)
    assert "RR: fewer than 6 moved queries cannot fail a gate on 1" in str(made)

    made = rk.gate(only(6), good(6), path, metrics="RR", update=True)
    assert "fewer" not in str(made)


def test_a_drop_within_the_margin_does_not_fail(path: Path) -> None:
    rk.gate(QRELS, GOOD, path, metrics="RR", update=True)
    new = GOOD | {query: ["x", "a"] for query in IDS[:12]}

    # -1/2 for 12 of 200: -0.03 (about 0.016 either way).
    assert rk.gate(QRELS, new, path, {"RR": 0.06}).verdict == "not worse"
    assert rk.gate(QRELS, new, path, {"RR": 0.04}).verdict == "worse"


def test_weights_count_in_flips(path: Path) -> None:
    # Eight falls of 1/2 and two rises of 1/2, which count five times as much.
    qrels, old = only(20), {query: ["x", "a"] for query in IDS[:20]}
    new = old | {query: ["x", "y"] for query in IDS[:8]}
    new |= {query: ["a"] for query in IDS[8:10]}
    weights = {query: 5.0 if n in {8, 9} else 1.0 for n, query in enumerate(qrels)}

    def found(file: Path, **options: Any) -> float:
        rk.gate(qrels, old, file, metrics="RR", update=True, **options)
        return rk.gate(qrels, new, file, 0.01, **options).verdicts[0].p

    assert found(path) == exact_p([-0.5] * 8 + [0.5] * 2)
    light = exact_p([-0.5] * 8 + [2.5] * 2)
    assert found(path.with_name("w.json"), weights=weights) == light


def test_flips_turn_round_where_lower_is_better(path: Path) -> None:
    qrels = only(20)
    clean = {query: ["a"] for query in qrels}
    # Seven queries get one more item that is not relevant, of nine.
    dirty = clean | {query: ["a", "x"] for query in IDS[:7]}
    rk.gate(qrels, clean, path, metrics="FallOut@3", update=True, catalog=10)

    found = rk.gate(qrels, dirty, path, 0.01, catalog=10)

    assert (found.verdict, found.verdicts[0].p) == ("worse", 2**-7)
    assert found.verdicts[0].fell[0] == rk.FallenQuery("q000", 0, 1 / 9)
    assert "queries that rose most on FallOut@3:\n  q000: 0.0000 to 0.1111" in str(
        found
    )
    rk.gate(qrels, dirty, path, update=True, catalog=10)
    better = rk.gate(qrels, clean, path, 0.01, catalog=10)
    assert (better.verdict, better.verdicts[0].p) == ("cannot tell", 1)
    assert better.verdicts[0].fell == ()


def test_draws_follow_the_seed_and_differ_by_metric() -> None:
    rng = np.random.default_rng(4)
    old = rng.random(40).tolist()
    new = (old + rng.normal(-0.02, 0.1, 40)).tolist()
    pair = baseline({"m": old, "n": old}), baseline({"m": new, "n": new})

    def p(seed: int) -> list[float]:
        found = verdicts_of(*pair, {"m": 0.1, "n": 0.1}, [True, True], seed)
        return [own.p for own in found]

    assert p(0) == p(0)
    assert p(0) != p(1)
    assert len({*p(0)}) == 2
    assert p(0) == pytest.approx(p(1), abs=0.01)


# Queries that were lost


@pytest.mark.parametrize("gone", [None, []], ids=["absent", "empty"])
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_ten_of_two_hundred_queries_that_return_nothing_fail(
    gone: list[str] | None, engine: str, path: Path
) -> None:
    rk.gate(QRELS, GOOD, path, metrics="RR", update=True)
    run = {query: own for query, own in GOOD.items() if query not in IDS[:10]}
    if gone is not None:
        run |= dict.fromkeys(IDS[:10], gone)

    found = rk.gate(QRELS, run, path, {"RR": 0.2}, engine=engine)

    assert found.verdicts[0].verdict == "not worse"
    assert (found.verdict, found.exit_code) == ("worse", 1)
    assert found.lost == tuple(IDS[:10])
    assert found.sentences[0] == (
        "lost: 10 queries had items or values in the baseline and have none now ("
        f"{', '.join(IDS[:10])}); allow_missing=10 accepts that"
    )
    nine, ten = (
        rk.gate(QRELS, run, path, {"RR": 0.2}, allow_missing=n, engine=engine)
        for n in (9, 10)
    )
    assert (nine.exit_code, ten.exit_code) == (1, 0)
    assert (nine.verdict, ten.verdict) == ("worse", "not worse")
    assert "q009), which allow_missing=10 accepts\n" in f"{ten}\n"
    assert ten.sentences[0].startswith("RR: not worse")


def test_lost_queries_fail_if_no_value_moved(path: Path) -> None:
    poor = GOOD | {IDS[0]: ["x"]}
    rk.gate(QRELS, poor, path, metrics="RR", update=True)

    found = rk.gate(QRELS, {q: poor[q] for q in IDS[1:]}, path, {"RR": 0.01})

    assert [own.verdict for own in found.verdicts] == ["unchanged"]
    assert (found.verdict, found.exit_code) == ("worse", 1)
    assert "items or values in the baseline and has none now (q000)" in str(found)


def test_only_ten_lost_queries_are_named_in_words(path: Path) -> None:
    rk.gate(QRELS, GOOD, path, metrics="RR", update=True)

    found = rk.gate(QRELS, {q: GOOD[q] for q in IDS[11:]}, path, {"RR": 0.5})

    assert "q009, ...); allow_missing=11 accepts that" in str(found)
    assert found.to_dict()["lost"] == IDS[:11]


def test_queries_that_never_had_items_are_not_lost(path: Path) -> None:
    run = {query: own for query, own in GOOD.items() if query != "q003"} | {"q004": []}
    rk.gate(QRELS, run, path, metrics="RR", update=True)

    assert rk.gate(QRELS, run, path, 0.01).verdict == "unchanged"
    assert rk.gate(QRELS, GOOD, path, 0.01).lost == ()


@pytest.mark.parametrize("queries", ["qrels", "both", "run"])
@pytest.mark.parametrize("unjudged", ["nonrel", "removed"])
def test_lists_without_judged_items_are_not_lost(
    unjudged: Any, queries: Any, path: Path
) -> None:
    rule = rk.Convention(unjudged=unjudged, queries=queries)
    rk.gate(QRELS, GOOD, path, metrics="RR", update=True, convention=rule)

    def lost(**changed: list[str]) -> tuple[str, ...]:
        run = {query: own for query, own in (GOOD | changed).items() if own != ["-"]}
        return rk.gate(QRELS, run, path, 0.01, convention=rule).lost

    assert lost(q001=["x", "y"]) == ()
    assert lost(q001=["x"], q002=[]) == ("q002",)
    assert lost(q001=["-"], q150=["x"]) == ("q001",)
    assert lost(q001=["-"], other=["x"], q199=[]) == ("q001", "q199")
    unknown = GOOD | {"q001": ["x", "y"]}
    rk.gate(QRELS, unknown, path, update=True, convention=rule)
    assert lost(q001=[]) == ("q001",)


def test_queries_that_lose_their_value_are_lost(path: Path) -> None:
    # ILD has no value for a single item; the one query that keeps two did not move.
    items = {"a": ["x"], "x": ["y"], "y": ["z"]}
    rk.gate(QRELS, GOOD, path, metrics="ILD", update=True, items=items)
    short = {query: ["a"] for query in IDS[1:]}

    found = rk.gate(QRELS, GOOD | short, path, {"ILD": 0.01}, items=items)

    assert found.verdicts[0].verdict == "unchanged"
    assert (found.lost, found.exit_code) == (tuple(IDS[1:]), 1)
    one = rk.gate(QRELS, GOOD | {"q007": ["a"]}, path, {"ILD": 0.01}, items=items)
    assert one.lost == ("q007",)


def test_users_without_judgements_can_be_lost(path: Path) -> None:
    train, more = {"u": ["a", "x"]}, {"u1": ["x", "y"], "u2": ["y"]}
    metrics = ["RR", "Novelty@2"]
    rk.gate(QRELS, GOOD | more, path, metrics=metrics, update=True, train=train)

    found = rk.gate(QRELS, GOOD | {"u2": ["y"]}, path, 0.01, train=train)

    assert (found.lost, found.exit_code) == (("u1",), 1)
    again = rk.gate(QRELS, GOOD | more | {"u3": ["x"]}, path, 0.01, train=train)
    assert (again.lost, again.exit_code) == ((), 0)
    assert "Novelty@2: 1 user with a value new, left out" in again.notes


def test_a_file_of_an_earlier_version_tells_by_its_first_ids(path: Path) -> None:
    rk.gate(QRELS, GOOD, path, metrics="RR", update=True)
    assert '"listed"' not in path.read_text()  # first ids say so already
    run = {query: own for query, own in GOOD.items() if query != "q003"}

    assert rk.gate(QRELS, run, path, 0.01).lost == ("q003",)
    # Without first ids, nothing is known of q003 and q005.
    text, n = re.subn(
        r'("q00[35]": \{"judged": "\w+", "first": )"[^"]+"', r'\1""', path.read_text()
    )
    assert n == 2
    path.write_text(text)
    found = rk.gate(QRELS, run, path, 0.2)
    assert (found.lost, found.exit_code) == ((), 0)
    assert (
        f"1 query without items: the baseline, of rankine {rk.__version__}, does not "
        "say whether it had items before; update=True or --update records that"
    ) in found.notes
    assert "does not say" not in str(rk.gate(QRELS, GOOD, path, 0.2))
    rk.gate(QRELS, run, path, update=True)
    assert json.loads(path.read_text())["queries"]["q003"]["listed"] is False
    assert "does not say" not in str(rk.gate(QRELS, run, path, 0.2))


# Names of queries


def test_the_queries_that_fell_most_come_first(path: Path) -> None:
    run = {query: ["x", "y", "a"] for query in IDS[:20]}
    run |= {"q012": ["x", "y", "z"], "q015": ["a"], "q003": ["x", "y"]}
    rk.gate(only(20), good(20), path, metrics="RR", update=True)

    found = rk.gate(only(20), run, path, {"RR": 0.01})

    (own,) = found.verdicts
    first = [("q003", 1, 0), ("q012", 1, 0), ("q000", 1, 1 / 3)]
    assert own.fell[:3] == tuple(rk.FallenQuery(*query) for query in first)
    assert len(own.fell) == 10
    assert "q015" not in {query.query for query in own.fell}
    assert found.fallen[:3] == (
        "queries that fell most on RR:", "  q003: 1.0000 to 0.0000",
        "  q012: 1.0000 to 0.0000",
    )  # fmt: skip
    within = rk.gate(only(20), run, path, {"RR": 1})
    assert (within.verdict, within.fallen) == ("not worse", ())


def test_markdown_names_them_too(path: Path) -> None:
    evil = "a|b_*\n<i>"
    qrels, old = only(20) | {evil: {"a": 1}}, good(20) | {evil: ["a"]}
    rk.gate(qrels, old, path, metrics="RR", update=True)
    new = old | missed(9) | {evil: ["x", "y"]}
    del new["q000"]

    text = rk.gate(qrels, new, path, {"RR": 0.01}).to_markdown()

    lines = text.splitlines()
    assert lines[0].endswith("gate.json: worse: failed")
    assert lines[2].startswith("| metric | verdict | baseline | run | difference |")
    assert lines[4].startswith(
        f"| RR | worse | 1.0000 | {11 / 21:.4f} | -{10 / 21:.4f}"
    )
    assert lines[4].endswith("| 0.01 | 10 of 21 |")
    assert "- lost: 1 query had items or values in the baseline and has" in text
    assert "| metric | query | baseline | run |\n| --- | --- | ---: | ---: |" in text
    assert "| RR | q001 | 1.0000 | 0.0000 |" in lines
    assert r"| RR | a\|b\_\*\\n\<i\> | 1.0000 | 0.0000 |" in lines
    same = rk.gate(qrels, old, path, {"RR": 0.01}).to_markdown()
    assert same.splitlines()[0].endswith("gate.json: unchanged: passed")
    assert "query" not in same.splitlines()
    made = rk.gate(qrels, old, path, update=True)
    assert made.to_markdown().splitlines()[0].endswith("gate.json: updated")


def test_ids_cannot_command_a_terminal(path: Path) -> None:
    evil = "q\x1b[31m\nRR: unchanged"
    qrels, old = only(20) | {evil: {"a": 1}}, good(20) | {evil: ["a"]}
    rk.gate(qrels, old, path, metrics="RR", update=True)

    text = str(rk.gate(qrels, {q: ["x"] for q in qrels} | missed(9), path, 0.01))

    assert "\x1b" not in text
    assert "RR: unchanged" not in text.splitlines()


def test_lost_queries_come_after_metrics_that_fail_too(path: Path) -> None:
    rk.gate(QRELS, GOOD, path, metrics="RR", update=True)

    found = rk.gate(QRELS, missed(100), path, {"RR": 0.01})

    assert [line.split(":")[0] for line in found.sentences] == ["RR", "lost"]


# Metrics, and their means


def test_an_update_takes_its_metrics_from_the_margins(path: Path) -> None:
    margins = {"RR": 0.01, "P@1": 0.05}

    made = rk.gate(QRELS, GOOD, path, margins, update=True)
    assert [own.metric for own in made.verdicts] == ["RR", "P@1"]
    assert rk.gate(QRELS, GOOD, path, margins).passed
    again = rk.gate(QRELS, GOOD, path, {"AP": 0.01}, update=True)
    assert [own.metric for own in again.verdicts] == ["AP"]
    kept = rk.gate(QRELS, GOOD, path, 0.01, update=True)
    assert [own.metric for own in kept.verdicts] == ["AP"]
    with pytest.raises(ParameterError, match="AP, which is not among RR"):
        rk.gate(QRELS, GOOD, path, {"AP": 0.01}, metrics="RR", update=True)


def shuffled(seed: int, n: int) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    return {query: rng.permutation(["a", "b", "x", "y"]).tolist() for query in IDS[:n]}


WEIGHTS = {query: 1 + n % 7 / 3 for n, query in enumerate(IDS)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": WEIGHTS},
        {"weights": dict.fromkeys(IDS, 0.1)},
        {"weights": WEIGHTS | {"q001": 0.0}},
        {"convention": "trec_eval"},
        {"convention": rk.Convention(decimals=2)},
        {"engine": "stream"},
    ],
    ids=["plain", "weights", "even", "weight 0", "trec_eval", "decimals", "stream"],
)
def test_means_are_those_of_evaluate_to_the_bit(
    options: dict[str, Any], path: Path
) -> None:
    metrics = ["RR", "AP", "nDCG@3"]
    for seed, n in enumerate([8, 20, 40, 80, 200] * 3):
        qrels = {query: {"a": 1, "b": 2} for query in IDS[:n]}
        old, new = shuffled(seed, n), shuffled(seed + 100, n)
        made = rk.gate(qrels, old, path, metrics=metrics, update=True, **options)
        found = rk.gate(qrels, new, path, 0.5, **options)
        before, after = (
            rk.evaluate(qrels, run, metrics, **options).mean for run in (old, new)
        )
        assert {own.metric: own.value for own in made.verdicts} == before
        assert {own.metric: own.baseline for own in found.verdicts} == before
        assert {own.metric: own.value for own in found.verdicts} == after


def test_a_number_that_is_no_mean_is_refused(path: Path) -> None:
    rule = rk.Convention(aggregate="ratio_of_sums")
    with pytest.raises(ParameterError, match="P@1 is not a mean over queries"):
        rk.gate(QRELS, GOOD, path, metrics="P@1", update=True, convention=rule)
    floor = re.escape("assert rk.evaluate(qrels, run, 'Coverage')['Coverage'] >= VALUE")
    with pytest.raises(ParameterError, match=floor):
        rk.gate(QRELS, GOOD, path, metrics="Coverage", update=True, catalog=9)
    assert not path.exists()


def test_a_query_of_weight_0_cannot_be_lost(path: Path) -> None:
    weights = dict.fromkeys(IDS[:20], 1) | {IDS[0]: 0}
    rk.gate(only(20), good(20), path, metrics="RR", update=True, weights=weights)
    fewer = {query: items for query, items in good(20).items() if query != IDS[0]}

    found = rk.gate(only(20), fewer, path, {"RR": 0.01}, weights=weights)

    assert (found.lost, found.exit_code) == ((), 0)
