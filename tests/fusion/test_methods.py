"""Every method and normalisation against values worked out by hand."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import pytest

import rankine as rk
from rankine._fusion.methods import METHODS
from rankine._fusion.norms import NORMS as KNOWN
from rankine.errors import ParameterError
from tests.fusion.fused import NORMS, PARAMETERS, fused, scores

RUNS = {
    "a": {"q": {"x": 9, "y": 4, "z": 1}},
    "b": {"q": {"y": 6, "w": 2}},
    "c": {"q": {"x": 5}},
}
"""By rank: x y z, y w and x; x has 9 and 5, y has 4 and 6, z has 1, w has 2."""
THREE = {"a": 0.5, "b": 2, "c": 1}

ROWS: list[tuple[str, dict[str, Any], dict[str, float]]] = [
    ("rrf", {}, {"x": 1 / 61 + 1 / 61, "y": 1 / 62 + 1 / 61, "z": 1 / 63, "w": 1 / 62}),
    ("rrf", {"k": 0}, {"x": 1 + 1, "y": 1 / 2 + 1, "z": 1 / 3, "w": 1 / 2}),
    ("rrf", {"k": 0.5}, {"x": 2 / 1.5, "y": 1 / 2.5 + 1 / 1.5, "z": 1 / 3.5, "w": 0.4}),
    (
        "rrf",
        {"k": 1, "weights": THREE},
        {"x": 0.5 / 2 + 1 / 2, "y": 0.5 / 3 + 2 / 2, "z": 0.5 / 4, "w": 2 / 3},
    ),
    ("combsum", {}, {"x": 9 + 5, "y": 4 + 6, "z": 1, "w": 2}),
    ("combmnz", {}, {"x": 2 * (9 + 5), "y": 2 * (4 + 6), "z": 1, "w": 2}),
    ("combgmnz", {"gamma": 0}, {"x": 9 + 5, "y": 4 + 6, "z": 1, "w": 2}),
    (
        "combgmnz",
        {"gamma": 0.5},
        {"x": sqrt(2) * 14, "y": sqrt(2) * 10, "z": 1, "w": 2},
    ),
    ("combgmnz", {"gamma": 2}, {"x": 4 * 14, "y": 4 * 10, "z": 1, "w": 2}),
    ("combanz", {}, {"x": (9 + 5) / 2, "y": (4 + 6) / 2, "z": 1, "w": 2}),
    ("combmed", {}, {"x": (9 + 5) / 2, "y": (4 + 6) / 2, "z": 1, "w": 2}),
    ("combmin", {}, {"x": 5, "y": 4, "z": 1, "w": 2}),
    ("combmax", {}, {"x": 9, "y": 6, "z": 1, "w": 2}),
    (
        "wsum",
        {"weights": THREE},
        {"x": 0.5 * 9 + 1 * 5, "y": 0.5 * 4 + 2 * 6, "z": 0.5 * 1, "w": 2 * 2},
    ),
    ("wsum", {"weights": [0, 1, 0]}, {"x": 0, "y": 6, "z": 0, "w": 2}),
    (
        "wmnz",
        {"weights": THREE},
        {"x": (0.5 + 1) * 14, "y": (0.5 + 2) * 10, "z": 0.5 * 1, "w": 2 * 2},
    ),
    (
        "mixed",
        {"weights": THREE},
        {"x": sqrt(2) * 9.5, "y": sqrt(2) * 14, "z": 0.5, "w": 4},
    ),
    # Four items: a gives 4, 3, 2 and 1 to w; b gives 4 and 3, and (2 + 1) / 2 to
    # both others; c gives 4, and (3 + 2 + 1) / 3 to the others.
    ("borda", {}, {"x": 4 + 1.5 + 4, "y": 3 + 4 + 2, "z": 2 + 1.5 + 2, "w": 1 + 3 + 2}),
    # x beats y and z, and z by a and c; w is below it in a and c, above it in b.
    # y beats z and w; z and w win one run each.
    ("condorcet", {}, {"x": 3, "y": 2, "z": 0.5, "w": 0.5}),
    ("isr", {}, {"x": 2 * (1 + 1), "y": 2 * (1 / 4 + 1), "z": 1 / 9, "w": 1 / 4}),
    ("log_isr", {}, {"x": log(2) * 2, "y": log(2) * (1 / 4 + 1), "z": 0, "w": 0}),
    (
        "logn_isr",
        {},
        {
            "x": log(2.01) * 2,
            "y": log(2.01) * 1.25,
            "z": log(1.01) / 9,
            "w": log(1.01) / 4,
        },
    ),
    (
        "logn_isr",
        {"sigma": 1},
        {"x": log(3) * 2, "y": log(3) * 1.25, "z": log(2) / 9, "w": log(2) / 4},
    ),
    ("logn_isr", {"sigma": 0}, {"x": log(2) * 2, "y": log(2) * 1.25, "z": 0, "w": 0}),
    (
        "rbc",
        {"phi": 0.8},
        {"x": 0.2 + 0.2, "y": 0.2 * 0.8 + 0.2, "z": 0.2 * 0.8**2, "w": 0.2 * 0.8},
    ),
]


@pytest.mark.parametrize(
    ("method", "options", "expected"),
    ROWS,
    ids=[f"{name}-{options}" for name, options, _ in ROWS],
)
def test_a_method(
    method: str, options: dict[str, Any], expected: dict[str, float]
) -> None:
    found = fused(RUNS, method, norm=None, **options)["q"]

    assert found == pytest.approx(expected, rel=1e-12)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_every_method_has_rows() -> None:
    assert {method for method, *_ in ROWS} == set(METHODS) == set(PARAMETERS)


def test_the_middle_of_three_scores() -> None:
    runs = [{"q": {"x": 1}}, {"q": {"x": 9}}, {"q": {"x": 4}}]

    assert fused(runs, "combmed", norm=None) == {"q": {"x": 4}}


OTHERS = {"a": {"q": {"x": 9, "y": 5, "z": 1}}, "b": {"q": {"y": 6, "w": 2}}}
OF_NORMS: dict[str, dict[str, float]] = {
    "min-max": {"x": 1, "y": (5 - 1) / (9 - 1) + 1, "z": 0, "w": 0},
    "max": {"x": 1, "y": 5 / 9 + 1, "z": 1 / 9, "w": 2 / 6},
    "sum": {"x": 8 / (8 + 4 + 0), "y": 4 / 12 + 1, "z": 0, "w": 0},
    # a: the mean is 5, the deviation the root of (16 + 0 + 16) / 3; b: 4 and 2.
    "z-score": {"x": 4 / sqrt(32 / 3), "y": 1, "z": -4 / sqrt(32 / 3), "w": -1},
    "rank": {"x": 1, "y": 1 - 1 / 3 + 1, "z": 1 - 2 / 3, "w": 1 - 1 / 2},
    # Of four items, a has three: w gets 1/2 - 2/8; b has two: 1/2 - 1/8.
    "borda": {
        "x": 1 + 3 / 8,
        "y": 1 - 1 / 4 + 1,
        "z": 1 - 2 / 4 + 3 / 8,
        "w": 2 / 8 + 1 - 1 / 4,
    },
}


@pytest.mark.parametrize("norm", NORMS)
def test_a_normalisation(norm: str) -> None:
    found = fused(OTHERS, "combsum", norm=norm)["q"]

    assert found == pytest.approx(OF_NORMS[norm], rel=1e-12)


def test_every_normalisation_has_values() -> None:
    assert set(OF_NORMS) == set(NORMS) == set(KNOWN)


def test_without_a_name_it_is_min_max() -> None:
    assert fused(OTHERS, "combsum") == fused(OTHERS, "combsum", norm="min-max")


@pytest.mark.parametrize("norm", ["min-max", "sum", "z-score"])
@pytest.mark.parametrize("equal", [[0.1, 0.1, 0.1], [7.0]])
def test_equal_scores_become_0_as_in_ranx(norm: str, equal: list[float]) -> None:
    flat = dict(zip("xyz", equal, strict=False))
    run = rk.fuse([{"q": flat}, {"q": {"w": 2, "v": 1}}], "combmax", norm=norm)

    assert {scores(run)["q"][item] for item in flat} == {0}
    assert f"1 list whose scores are all equal: {norm} gives 0 to all items" in str(
        run.notes
    )


@pytest.mark.parametrize("scale", [1e-12, 1e-300, 1e307])
@pytest.mark.parametrize("norm", ["min-max", "max", "sum", "z-score"])
def test_small_and_large_scores_are_scores(norm: str, scale: float) -> None:
    tiny = {
        run: {"q": {item: s * scale for item, s in own["q"].items()}}
        for run, own in OTHERS.items()
    }

    assert fused(tiny, "combsum", norm=norm)["q"] == pytest.approx(
        OF_NORMS[norm], rel=1e-9
    )


@pytest.mark.parametrize("norm", [None, *NORMS])
def test_methods_of_ranks_do_as_if_there_were_no_normalisation(
    norm: str | None,
) -> None:
    assert fused(RUNS, "rrf", norm=norm) == fused(RUNS, "rrf")


def test_borda_norm_makes_every_run_have_every_item() -> None:
    found = fused(OTHERS, "combmin", norm="borda")["q"]

    assert found["w"] == 1 / 2 - 2 / 8
    assert (
        fused(OTHERS, "combmnz", norm="borda")["q"]["w"] == 2 * OF_NORMS["borda"]["w"]
    )


# Condorcet


def test_majorities_that_go_in_circles_come_before_the_rest() -> None:
    runs = [
        {"q": ["x", "y", "z", "w"]},
        {"q": ["y", "z", "x", "w"]},
        {"q": ["z", "x", "y", "w"]},
    ]

    assert fused(runs, "condorcet") == {"q": {"z": 2, "y": 2, "x": 2, "w": 0}}


def test_two_items_that_a_run_lacks_are_not_compared_by_it() -> None:
    """Two runs have neither x nor y; the third one has x above y."""
    runs = [{"q": ["x", "y"]}, {"q": ["z"]}, {"q": ["z"]}]

    assert fused(runs, "condorcet") == {"q": {"z": 2, "x": 1, "y": 0}}


# Names


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("CombMNZ", "combmnz"),
        ("mnz", "combmnz"),
        ("RRF", "rrf"),
        ("bordafuse", "borda"),
        ("log-ISR", "log_isr"),
        ("gmnz", "combgmnz"),
    ],
)
def test_other_spellings_of_a_method(name: str, meant: str) -> None:
    own = PARAMETERS[meant]

    assert fused(RUNS, name, **own) == fused(RUNS, meant, **own)
    assert rk.fuse(RUNS, name, **own).name == meant


def test_other_spellings_of_a_normalisation() -> None:
    for name, meant in (("zmuv", "z-score"), ("MIN_MAX", "min-max")):
        assert fused(RUNS, "sum", norm=name) == fused(RUNS, "sum", norm=meant)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rff"}, "method must be one of rrf, .*; did you mean 'rrf'?"),
        ({"norm": "minmax"}, "norm must be one of min-max, .* did you mean 'min-max'?"),
        ({"method": "rbc"}, "rbc needs phi; give phi= or --phi"),
        (
            {"method": "rbc", "phi": 1},
            "phi must be a number above 0 and below 1, got 1",
        ),
        ({"method": "gmnz"}, "combgmnz needs gamma"),
        ({"method": "gmnz", "gamma": -1}, "gamma must be a number at least 0"),
        ({"method": "logn_isr", "sigma": 2}, "sigma must be a number at least 0 and"),
        ({"k": -1}, "k must be a number at least 0, got -1"),
        ({"phi": 0.5}, "rrf has no parameter 'phi'; it takes k, weights"),
        ({"method": "sum", "k": 1}, "combsum has no parameter 'k'; it takes none"),
        ({"method": "isr", "weights": [1, 2, 3]}, "isr has no parameter 'weights'"),
        ({"method": "wsum"}, "wsum needs weights; give weights= or --weight NAME="),
        ({"weights": {"a": 1, "b": 1}}, "weights lacks c; give each run a weight"),
        ({"weights": {**THREE, "d": 1}}, "weights has 'd', which is not a run; the"),
        ({"weights": [1, 2]}, "weights has 2 numbers for 3 runs"),
        (
            {"weights": [1, 2, -1]},
            "the weight of c must be a number at least 0, got -1",
        ),
        ({"weights": [0, 0, 0]}, "weights are all 0; give at least one run a weight"),
        ({"weights": {1, 2, 3}}, "weights must be {run: number} or a list of numbers"),
        ({"weights": 3}, "weights must be {run: number} or a list of numbers, got 3"),
        ({"depth": 0}, "depth must be a positive integer or None, got 0"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(
    options: dict[str, Any], message: str
) -> None:
    nothing = dict.fromkeys("abc", "no such file")

    with pytest.raises(ParameterError, match=message.replace("{", r"\{")):
        rk.fuse(nothing, **options)
