"""What holds for fusion whatever the runs are, and the same as a slow twin gives."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankine._fusion.methods import METHODS
from tests.fusion.fused import (
    CHOICES,
    NORMS,
    OF_RANKS,
    PARAMETERS,
    Data,
    fused,
    lists,
    ranked,
    runs,
    twin,
)

choices = st.sampled_from(CHOICES)
symmetric = st.sampled_from(
    [pair for pair in CHOICES if "weights" not in PARAMETERS[pair[0]]]
)


Choice = tuple[str, str | None]


def options(method: str, norm: str | None) -> dict[str, Any]:
    return {"norm": norm, **PARAMETERS[method]}


@settings(max_examples=400)
@given(choice=choices, data=st.data())
def test_it_is_what_the_formulas_say(choice: Choice, data: st.DataObject) -> None:
    method, norm = choice
    drawn = data.draw(runs(3))
    expected = twin(drawn, method, norm, **PARAMETERS[method])

    found = fused(drawn, method, **options(method, norm))

    assert found.keys() == expected.keys()
    for query, own in expected.items():
        assert found[query] == pytest.approx(own, rel=1e-12, abs=1e-12)


@given(choice=choices, data=st.data())
def test_it_is_so_where_some_runs_lack_a_query(
    choice: Choice, data: st.DataObject
) -> None:
    method, norm = choice
    drawn: list[Data] = data.draw(
        st.lists(
            st.dictionaries(st.sampled_from("pq"), lists, min_size=1),
            min_size=3,
            max_size=3,
        )
    )
    expected = twin(drawn, method, norm, **PARAMETERS[method])

    found = fused(drawn, method, **options(method, norm))

    assert found.keys() == expected.keys()
    for query, own in expected.items():
        assert found[query] == pytest.approx(own, rel=1e-12, abs=1e-12)


@given(choice=choices, data=st.data())
def test_a_run_fused_with_itself_keeps_its_order(
    choice: Choice, data: st.DataObject
) -> None:
    method, norm = choice
    (run,) = data.draw(runs(1))

    found = fused([run] * 3, method, **options(method, norm))

    for query, own in run.items():
        assert list(found[query]) == ranked(own)


@given(choice=symmetric, data=st.data())
def test_the_order_of_runs_changes_no_bit(choice: Choice, data: st.DataObject) -> None:
    method, norm = choice
    drawn = data.draw(runs(4))
    mixed = data.draw(st.permutations(drawn))

    assert fused(drawn, method, **options(method, norm)) == fused(
        mixed, method, **options(method, norm)
    )


@pytest.mark.parametrize("method", ["wsum", "wmnz", "mixed", "rrf"])
@given(drawn=runs(3), order=st.permutations(range(3)))
def test_weights_go_with_their_runs(
    method: str, drawn: list[Data], order: list[int]
) -> None:
    weights = [0.5, 2, 1]
    mixed = [drawn[place] for place in order]

    assert fused(drawn, method, weights=weights) == fused(
        mixed, method, weights=[weights[place] for place in order]
    )


@pytest.mark.parametrize("norm", ["min-max", "max", "sum", "z-score", "rank", "borda"])
@given(drawn=runs(2), factor=st.integers(-20, 20), more=st.integers(0, 9))
def test_scaled_scores_change_nothing(
    norm: str, drawn: list[Data], factor: int, more: int
) -> None:
    moved = 0 if norm == "max" else more
    scaled = {
        query: {item: (score + moved) * 2.0**factor for item, score in own.items()}
        for query, own in drawn[0].items()
    }

    # Quarters that are moved and multiplied by powers of 2 are not rounded.
    assert fused(drawn, "combsum", norm=norm) == fused(
        [scaled, drawn[1]], "combsum", norm=norm
    )


RISING = [name for name in PARAMETERS if METHODS[name].of_scores]


@pytest.mark.parametrize("method", RISING)
@given(drawn=runs(3, "q"), up=st.integers(1, 8), data=st.data())
def test_a_higher_score_in_a_run_is_no_loss(
    method: str, drawn: list[Data], up: int, data: st.DataObject
) -> None:
    item = data.draw(st.sampled_from(sorted(drawn[0]["q"])))
    raised = {"q": {**drawn[0]["q"], item: drawn[0]["q"][item] + up}}

    before = fused(drawn, method, **options(method, None))["q"]
    after = fused([raised, *drawn[1:]], method, **options(method, None))["q"]

    assert after[item] >= before[item]
    assert {key: own for key, own in after.items() if key != item} == {
        key: own for key, own in before.items() if key != item
    }


@pytest.mark.parametrize("method", sorted(OF_RANKS))
@given(drawn=runs(3, "q"), data=st.data())
def test_a_better_rank_in_a_run_is_no_loss(
    method: str, drawn: list[Data], data: st.DataObject
) -> None:
    item = data.draw(st.sampled_from(sorted(drawn[0]["q"])))
    first = {"q": {**drawn[0]["q"], item: 100.0}}

    before = fused(drawn, method, **options(method, None))["q"]
    after = fused([first, *drawn[1:]], method, **options(method, None))["q"]

    assert after[item] >= before[item]


@given(choice=choices, drawn=runs(3), seed=st.integers(0, 99))
def test_permuted_rows_change_no_bit(
    choice: Choice, drawn: list[Data], seed: int
) -> None:
    method, norm = choice
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    frames = []
    for run in drawn:
        rows = [(q, i, s) for q, own in run.items() for i, s in own.items()]
        rng.shuffle(rows)
        frames.append(pl.DataFrame(rows, ["query", "item", "score"], orient="row"))

    found = fused(frames, method, **options(method, norm))

    assert found == fused(drawn, method, **options(method, norm))


@given(choice=choices, drawn=runs(3), seed=st.integers(0, 99))
def test_the_order_of_dicts_changes_no_bit(
    choice: Choice, drawn: list[Data], seed: int
) -> None:
    method, norm = choice
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    turned = [
        {
            query: dict(rng.sample([*own.items()], len(own)))
            for query, own in run.items()
        }
        for run in drawn
    ]

    found = fused(turned, method, **options(method, norm))
    expected = fused(drawn, method, **options(method, norm))

    assert [*map(list, found.values())] == [*map(list, expected.values())]
    assert found == expected


_IN_A_PROCESS = """
import rankine as rk
from tests.fusion.fused import CHOICES, PARAMETERS
runs = [
    {q: {f"{q}{n * n % step}": n % 5 + 1 for n in range(9)} for q in "pqr"}
    for step in (7, 11, 13)
]
for method, norm in CHOICES:
    print(rk.fuse(runs, method, norm=norm, **PARAMETERS[method]).to_dict())
"""


@pytest.mark.slow
def test_the_seed_of_hashes_changes_no_bit() -> None:
    """Sets of texts have another order in each process, unless the seed is given."""
    found = {
        subprocess.run(
            [sys.executable, "-c", _IN_A_PROCESS],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(found) == 1
    assert found.pop().count(b"\n") == len(CHOICES)


@given(choice=choices, drawn=runs(3))
def test_queries_do_not_touch_each_other(choice: Choice, drawn: list[Data]) -> None:
    method, norm = choice
    both = fused(drawn, method, **options(method, norm))
    alone = [{"p": run["p"]} for run in drawn]

    assert fused(alone, method, **options(method, norm))["p"] == both["p"]


@given(choice=choices, drawn=runs(3), depth=st.integers(1, 4))
def test_a_depth_cuts_runs_before_and_the_result_after(
    choice: Choice, drawn: list[Data], depth: int
) -> None:
    method, norm = choice
    cut = [
        {q: {i: own[i] for i in ranked(own)[:depth]} for q, own in run.items()}
        for run in drawn
    ]
    whole = fused(cut, method, **options(method, norm))

    found = fused(drawn, method, depth=depth, **options(method, norm))

    assert found == {q: dict(list(own.items())[:depth]) for q, own in whole.items()}


def test_all_normalisations_are_tried() -> None:
    assert {norm for _, norm in CHOICES} == {*NORMS, None}
