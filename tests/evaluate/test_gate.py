"""gate: verdicts at the borders of the rules, refusals, and how often it errs."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._evaluate.gate.baseline import Baseline, BaselineQuery
from rankine._evaluate.gate.gate import ALPHA, verdict_of, verdicts_of
from rankine.errors import DataError, ParameterError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

N = 40
QRELS = {f"q{n:02}": {"a": 1} for n in range(N)}
T_39 = 2.022690911734728
"""Student's t of 39 degrees of freedom, 97.5 %, as scipy.stats.t.ppf has it."""

REACH = T_39 * math.sqrt((8 / 4 + 25 / 36 - 40 * (1 / 240) ** 2) / 39 / 40)
"""Half of the interval of 8 gains of 1/2 and 25 losses of 1/6 among 40 queries."""


def lists(places: Sequence[int]) -> dict[str, list[str]]:
    """Return lists of three items, with the relevant one at the place given."""
    filler = ["x", "y"]
    return {
        query: [*filler[: place - 1], "a", *filler[place - 1 :]]
        for query, place in zip(QRELS, places, strict=True)
    }


OLD = lists([2] * N)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A baseline in which RR is 1/2 for all queries."""
    file = tmp_path / "gate.json"
    rk.gate(QRELS, OLD, file, metrics="RR", update=True)
    return file


def baseline(columns: dict[str, Sequence[float | None]], **more: Any) -> Baseline:
    """Return a baseline of values alone, a column per metric."""
    rows = zip(*columns.values(), strict=True)
    queries = {f"{n:03}": BaselineQuery("j", (), row) for n, row in enumerate(rows)}
    first = {query: own.values for query, own in queries.items()}
    metrics: dict[str, dict[str, Any]] = {name: {} for name in columns}
    return Baseline("1", metrics, {}, {}, queries, more.get("first", first), "1")


def verdict(
    old: Sequence[float | None],
    new: Sequence[float | None],
    margin: float,
    *,
    up: bool = True,
) -> rk.GateVerdict:
    (found,) = verdicts_of(
        baseline({"m": old}), baseline({"m": new}), {"m": margin}, [up]
    )
    return found


# The rules


@pytest.mark.parametrize(
    ("low", "p", "moved", "expected"),
    [
        (0.0, 1.0, 0, "unchanged"),
        (-1.0, 0.001, 0, "unchanged"),
        (-1.0, 0.025, 6, "worse"),
        (-0.1, 0.025, 9, "worse"),
        (-0.1, 0.0251, 9, "cannot tell"),
        (-0.0999, 0.001, 9, "cannot tell"),
        (0.5, 1.0, 9, "cannot tell"),
        (-0.0999, 0.4, 10, "not worse"),
        (-0.0999, 0.001, 10, "not worse"),
        (-0.1, 0.4, 10, "cannot tell"),
        (-0.1, 0.0251, 10, "cannot tell"),
        (-0.1, 0.025, 10, "worse"),
        (math.nan, 0.5, 10, "cannot tell"),
    ],
)
def test_the_verdict_at_the_borders(
    low: float, p: float, moved: int, expected: str
) -> None:
    assert verdict_of(low, p, 0.1, moved, 0.025) == expected


def exact_p(d: Sequence[float]) -> float:
    """Go through all flips of the differences that are not 0, one by one."""
    moved = [own for own in d if own]
    slack = 1e-12 * sum(map(abs, moved))
    sums = [
        sum(own if kept else -own for own, kept in zip(moved, flip, strict=True))
        for flip in product((True, False), repeat=len(moved))
    ]
    return sum(own <= sum(moved) + slack for own in sums) / len(sums)


def test_the_interval_is_students(path: Path) -> None:
    # Twenty queries fall from 1/2 to 1/3, by 1/6; the others stay.
    found = rk.gate(QRELS, lists([3] * 20 + [2] * 20), path, {"RR": 0.01})

    (own,) = found.verdicts
    deviation = math.sqrt(40 * (1 / 12) ** 2 / 39)
    reach = T_39 * deviation / math.sqrt(40)
    assert own.difference == pytest.approx(-1 / 12)
    assert own.low == pytest.approx(-1 / 12 - reach)
    assert own.high == pytest.approx(-1 / 12 + reach)
    assert (own.baseline, own.value) == pytest.approx((1 / 2, 5 / 12))
    assert (own.queries, own.moved, own.verdict) == (40, 20, "worse")
    assert (found.exit_code, found.passed) == (1, False)


@pytest.mark.parametrize(
    ("places", "margin", "expected", "sentence"),
    [
        ([2] * N, 0.01, "unchanged", "unchanged at 0.5000; none of 40 queries moved"),
        ([1] * 20 + [2] * 20, 0.01, "not worse", "0.5000 to 0.7500, +0.2500 ("),
        (
            [3] * 20 + [2] * 20, 0.2, "not worse",
            "not worse (fell, within the margin): 0.5000 to 0.4167, -0.0833 (",
        ),
        ([3] * 20 + [2] * 20, 0.01, "worse", "worse: 0.5000 to 0.4167, -0.0833 ("),
        (
            [3] * 9 + [2] * 31, 0.2, "cannot tell",
            "9 of 40 queries moved, and 10 are needed for 'not worse'; the mean fell",
        ),
        (
            [3] * 6 + [2] * 34, 0.01, "worse",
            f"), p = {2**-6:.4f}, margin 0.01; 6 of 40 queries moved",
        ),
        (
            [1] * 8 + [3] * 25 + [2] * 7, 0.01, "cannot tell",
            f"can detect a change of {REACH:.4f}; the mean fell by {1 / 240:.4f}, and",
        ),
    ],
    ids=["unchanged", "better", "within", "worse", "few", "sure", "wide"],
)  # fmt: skip
def test_what_is_said(
    places: list[int], margin: float, expected: str, sentence: str, path: Path
) -> None:
    found = rk.gate(QRELS, lists(places), path, {"RR": margin})

    assert found.verdict == expected
    assert sentence in found.sentences[0]
    assert found.exit_code == (expected == "worse")
    strict = rk.gate(QRELS, lists(places), path, {"RR": margin}, strict=True)
    assert strict.exit_code == (expected in {"worse", "cannot tell"})


def test_signs_turn_round_where_lower_is_better() -> None:
    old = [0.5] * N
    rise = [0.5 + 0.1 * (n % 2) for n in range(N)]
    fall = [0.5 - 0.1 * (n % 2) for n in range(N)]

    assert verdict(old, rise, 0.01, up=False).verdict == "worse"
    assert verdict(old, fall, 0.01, up=False).verdict == "not worse"
    assert verdict(old, rise, 0.2, up=False).sentence.startswith(
        "m: not worse (rose, within the margin): 0.5000 to 0.5500, +0.0500"
    )
    assert verdict(old, rise, 0.01).verdict == "not worse"


def test_a_real_metric_that_is_better_when_lower(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    good = {query: ["a"] for query in QRELS}
    # One and two of nine items that are not relevant.
    bad = {q: ["a", "x"] if n % 2 else ["a", "x", "y"] for n, q in enumerate(QRELS)}
    rk.gate(QRELS, good, path, metrics="FallOut@3", update=True, catalog=10)

    found = rk.gate(QRELS, bad, path, 0.01, catalog=10)

    assert not found.verdicts[0].higher_is_better
    assert found.verdicts[0].difference == pytest.approx((1 / 9 + 2 / 9) / 2)
    assert found.verdict == "worse"


def test_several_metrics_share_the_risk() -> None:
    rng = np.random.default_rng(3)
    old, new = rng.random((2, 30)).tolist()
    one = verdict(old, new, 0.1)
    names = {"m": old, "n": old, "o": old}
    three = verdicts_of(
        baseline(names), baseline(dict.fromkeys(names, new)),
        dict.fromkeys(names, 0.1), [True] * 3,
    )  # fmt: skip

    from scipy.stats import t  # noqa: PLC0415

    wider = t.ppf(1 - ALPHA / 6, 29) / t.ppf(1 - ALPHA / 2, 29)
    for own in three:
        assert own.high - own.low == pytest.approx((one.high - one.low) * wider)


@pytest.mark.parametrize(
    ("verdicts", "expected", "code", "strict"),
    [
        (["unchanged", "unchanged"], "unchanged", 0, 0),
        (["unchanged", "not worse"], "not worse", 0, 0),
        (["cannot tell", "not worse"], "cannot tell", 0, 1),
        (["not worse", "worse"], "worse", 1, 1),
        (["worse", "cannot tell"], "worse", 1, 1),
    ],
)
def test_all_must_be_not_worse(
    verdicts: list[str], expected: str, code: int, strict: int
) -> None:
    numbers: Any = (0.5, 0.5, 0.0, 0.0, 0.0, 0.1, True, 40, 20, 0.0)
    made = tuple(rk.GateVerdict("m", word, *numbers) for word in verdicts)

    assert rk.Gate("g", made).verdict == expected
    assert rk.Gate("g", made).exit_code == code
    assert rk.Gate("g", made, strict=True).exit_code == strict


VALUES = st.lists(
    st.tuples(*[st.none() | st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0])] * 2),
    min_size=2,
    max_size=40,
)


@given(VALUES, st.floats(0.001, 0.5), st.booleans())
def test_a_plain_walk_gives_the_same(
    pairs: list[tuple[float | None, float | None]],
    margin: float,
    up: bool,  # noqa: FBT001 - given by name
) -> None:
    from scipy.stats import t  # noqa: PLC0415

    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    old, new = [a for a, _ in pairs], [b for _, b in pairs]
    if not both:
        with pytest.raises(DataError, match="no query has a value in both the run"):
            verdict(old, new, margin, up=up)
        return
    found = verdict(old, new, margin, up=up)

    d = [(b - a) * (1 if up else -1) for a, b in both]
    n, mean = len(d), sum(d) / len(d)
    moved = sum(own != 0 for own in d)
    assert (found.queries, found.moved) == (n, moved)
    assert found.difference == pytest.approx(mean if up else -mean, abs=1e-12)
    if moved == 0:
        assert (found.verdict, found.p) == ("unchanged", 1)
        return
    if moved <= 9:  # all flips one by one take long
        assert found.p == exact_p(d)
    low = -math.inf
    if n > 1:
        error = math.sqrt(sum((own - mean) ** 2 for own in d) / (n - 1) / n)
        low = mean - t.ppf(0.975, n - 1) * error
    if abs(low + margin) < 1e-9:
        return
    expected = "not worse" if moved >= 10 and low > -margin else "cannot tell"
    expected = "worse" if low <= -margin and found.p <= 0.025 else expected
    assert found.verdict == expected


# How often it errs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shift", "verdict_to_avoid"), [(-0.05, "not worse"), (0.0, "worse")]
)
def test_error_rates(shift: float, verdict_to_avoid: str) -> None:
    margin, rounds, rng = 0.05, 2000, np.random.default_rng(11)
    old = rng.random((rounds, 50))
    # Differences with a long tail, as those of rankings have.
    moves = rng.exponential(0.1, (rounds, 50)) * rng.choice([-1, 1], (rounds, 50))
    new = old + shift + moves
    wrong = sum(
        verdict(a, b, margin).verdict == verdict_to_avoid
        for a, b in zip(old.tolist(), new.tolist(), strict=True)
    )

    assert 0 < wrong / rounds <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / rounds)


@pytest.mark.slow
def test_error_rates_of_several_metrics_together() -> None:
    margin, rounds, rng = 0.05, 1000, np.random.default_rng(5)
    wrong = 0
    for _ in range(rounds):
        old = rng.random((3, 50))
        new = old + rng.normal(0, 0.1, (3, 50))
        names = ("m", "n", "o")
        found = verdicts_of(
            baseline(dict(zip(names, old.tolist(), strict=True))),
            baseline(dict(zip(names, new.tolist(), strict=True))),
            dict.fromkeys(names, margin),
            [True] * 3,
        )
        wrong += any(own.p <= 0.05 / 6 for own in found)

    assert wrong / rounds <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / rounds)


# What is weighted, left out, and refused


def test_weights_count(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    weights = {query: 3.0 if n < 20 else 1.0 for n, query in enumerate(QRELS)}
    rk.gate(QRELS, OLD, path, metrics="RR", update=True, weights=weights)

    found = rk.gate(
        QRELS, lists([3] * 20 + [2] * 20), path, {"RR": 0.01}, weights=weights
    )
    assert found.verdicts[0].difference == pytest.approx(-1 / 6 * 60 / 80)
    with pytest.raises(DataError, match="the weights of 40 queries changed"):
        rk.gate(QRELS, OLD, path, {"RR": 0.01})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "rule",
    [
        rk.Convention(),
        rk.Convention(decimals=4),
        rk.Convention(overrides={"RR": {"decimals": 2}}),
    ],
)
def test_the_means_are_those_of_evaluate(
    tmp_path: Path,
    rule: rk.Convention,
    weighted: bool,  # noqa: FBT001
) -> None:
    path, draw = tmp_path / "g.json", np.random.default_rng(1)
    old, new = (lists(draw.integers(1, 4, N).tolist()) for _ in range(2))
    options: dict[str, Any] = {"convention": rule}
    if weighted:
        options["weights"] = {query: draw.random() for query in QRELS}
    rk.gate(QRELS, old, path, metrics=["RR", "AP"], update=True, **options)

    found = rk.gate(QRELS, new, path, {"RR": 0.1, "AP": 0.1}, **options)

    before, after = (
        rk.evaluate(QRELS, run, ["RR", "AP"], **options).mean for run in (old, new)
    )
    assert {own.metric: own.baseline for own in found.verdicts} == before
    assert {own.metric: own.value for own in found.verdicts} == after


def test_queries_that_one_side_has_are_told(tmp_path: Path) -> None:
    path, rule = tmp_path / "g.json", rk.Convention(queries="both")
    rk.gate(QRELS, OLD, path, metrics="RR", update=True, convention=rule)
    fewer = {query: OLD[query] for query in list(OLD)[3:]}

    found = rk.gate(QRELS, fewer, path, {"RR": 0.01}, convention=rule)

    assert found.verdicts[0].queries == 37
    assert "RR: 3 queries with a value only in the baseline, left out" in found.notes


def refused(path: Path, run: Any = OLD, qrels: Any = QRELS, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        rk.gate(qrels, run, path, {"RR": 0.01}, **options)
    assert caught.value.exit_code == 3
    return str(caught.value)


def test_other_judgements_are_refused(path: Path) -> None:
    grade = {**QRELS, "q07": {"a": 2}}
    fewer = {query: own for query, own in QRELS.items() if query != "q00"}
    more = {**QRELS, "r1": {"a": 1}}

    assert "the judgements of 1 query changed (q07)" in refused(path, qrels=grade)
    assert "the judgements of 1 query changed (q00)" in refused(path, qrels=fewer)
    assert "the judgements of 1 query changed (r1)" in refused(path, qrels=more)


def test_another_order_or_form_of_judgements_is_the_same(path: Path) -> None:
    turned = {query: {"a": 1.0} for query in reversed(list(QRELS))}

    assert rk.gate(turned, OLD, path, {"RR": 0.01}).verdict == "unchanged"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"convention": "ranx"},
            "tie of the convention was 'id_desc' and is now 'input'",
        ),
        ({"rel": 2}, "threshold of the convention was 1 and is now 2"),
        ({"ties": "average"}, "ties of RR was None and is now 'average'"),
        ({"depth": 2}, "depth of the request was None and is now 2"),
        ({"train": {"q00": ["a"]}}, "with of the request was [] and is now ['train']"),
    ],
)
def test_another_definition_is_refused(
    options: dict[str, Any], reason: str, path: Path
) -> None:
    message = refused(path, **options)

    assert reason in message
    assert "update=True or --update" in message


def test_ids_that_turned_over_are_refused(path: Path) -> None:
    renumbered = {query: [f"n-{item}" for item in own] for query, own in OLD.items()}
    # One of fifty first ids is enough: 120 are compared, and three are the same.
    some = {
        q: OLD[q] if n == 0 else own for n, (q, own) in enumerate(renumbered.items())
    }

    assert "of 120 ids at the top of the lists, 0 are" in refused(path, renumbered)
    assert rk.gate(QRELS, some, path, {"RR": 0.01}).verdict == "worse"


def test_ids_of_metrics_of_lists_are_kept(tmp_path: Path) -> None:
    path, train = tmp_path / "g.json", {"u": ["a", "x", "y", "n-a"]}
    rk.gate(QRELS, OLD, path, metrics="Novelty@3", update=True, train=train)
    other = {query: [f"n-{item}" for item in own] for query, own in OLD.items()}

    same = rk.gate(QRELS, OLD, path, 0.1, train=train)
    assert same.verdict == "unchanged"
    with pytest.raises(DataError, match="of 120 ids at the top of the lists, 0 are"):
        rk.gate(QRELS, other, path, 0.1, train=train)


def test_requests_that_cannot_be_met(path: Path, tmp_path: Path) -> None:
    def usage(*arguments: Any, **options: Any) -> str:
        with pytest.raises(UsageError) as caught:
            rk.gate(QRELS, OLD, *arguments, **options)
        assert caught.value.exit_code == 2
        return str(caught.value)

    new = tmp_path / "new.json"
    assert "metrics='nDCG@10', update=True)" in usage(new, {"RR": 0.1})
    assert "it needs metrics, such as metrics='nDCG@10'" in usage(new, update=True)
    assert "it needs metrics" in usage(new, 0.1, update=True)
    assert "it needs metrics" in usage(new, {}, update=True)
    assert "as in {'RR': 0.01}" in usage(path)
    assert "no margin is given for RR" in usage(path, {})
    assert "which is not among RR" in usage(path, {"RR": 0.1, "AP": 0.1})
    assert "the margin of RR must be a number above 0" in usage(path, {"RR": 0})
    assert "metrics can be chosen only with update=True" in usage(
        path, 0.1, metrics="AP"
    )
    assert "gate has no option 'dept'" in usage(path, 0.1, dept=3)
    assert "Popularity has no direction" in usage(
        new, metrics="Popularity", update=True
    )
    assert "is not a mean over queries" in usage(new, metrics="NumRel", update=True)
    assert "allow_missing must be an integer of at least 0, got -1" in usage(
        path, 0.1, allow_missing=-1
    )
    assert "allow_missing must be an integer of at least 0, got 0.5" in usage(
        path, 0.1, allow_missing=0.5
    )
    assert "seed must be an integer of at least 0, got -1" in usage(path, 0.1, seed=-1)
    assert not new.exists()
    with pytest.raises(ParameterError, match="judgements"):
        rk.gate(None, OLD, path, 0.1)


def test_warnings_of_the_run_are_not_notes(path: Path) -> None:
    strange = {query: ["x", "y"] for query in QRELS} | {"other": ["a"]}
    evaluation = rk.evaluate(QRELS, strange, "RR")
    assert evaluation.warnings
    assert evaluation.notes

    found = rk.gate(QRELS, strange, path, {"RR": 0.01})

    assert found.warnings == evaluation.warnings
    assert found.to_dict()["warnings"] == list(evaluation.warnings)
    assert not {*found.warnings} & {*found.notes}
    said = [f"! {text}" for text in found.warnings] + [f"- {n}" for n in found.notes]
    assert str(found).split("\n")[-len(said) :] == said
    told = found.to_markdown().replace("\\", "").split("\n")[-len(said) :]
    assert told == [f"- {text.removeprefix('- ')}" for text in said]
