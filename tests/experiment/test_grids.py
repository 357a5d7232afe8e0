"""Metrics of an experiment: names and grids, in RELISON's form and in the short one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine._experiment.read import read_experiment
from rankine.errors import ExperimentError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Written = "Callable[[str], Path]"


def names(path: Path) -> list[str]:
    return [str(metric) for metric in read_experiment(path).metrics.values()]


RELISON = {
    "MAP": "MAP:\n  cutoff:\n    type: int\n    values: [1,5,10]\n",
    "nDCG": "nDCG:\n  cutoff:\n    type: int\n    values: [1,5,10]\n",
    "Precision": "Precision:\n  cutoff:\n    type: int\n    values: [1,5,10]\n",
    "Recall": "Recall:\n  cutoff:\n    type: int\n    values: [1,5,10]        ",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "ours"),
    [("MAP", "AP"), ("nDCG", "nDCG"), ("Precision", "P"), ("Recall", "R")],
)
def test_relisons_grids_run_as_they_stand(
    name: str, ours: str, written: Callable[..., Path], home: Path
) -> None:
    (home / "grid.yaml").write_text(RELISON[name])
    path = written("metrics: grid.yaml\nconvention: relison")

    result = rk.run_experiment(path)

    assert result.metrics == (f"{ours}@1", f"{ours}@5", f"{ours}@10")
    for run in result.runs:
        ev = rk.evaluate(
            home / "qrels.txt", home / "runs" / run, result.metrics,
            convention="relison",
        )  # fmt: skip
        assert result.evaluation(run).mean == ev.mean


def test_all_of_relisons_grids_in_one_file(written: Callable[..., Path]) -> None:
    grids = "".join(
        f"  {line}\n" for text in RELISON.values() for line in text.splitlines()
    )

    assert len(names(written(f"metrics:\n{grids}"))) == 4 * 3


@pytest.mark.parametrize(
    ("grid", "metrics"),
    [
        ("{nDCG@: [1, 5, 10]}", ["nDCG@1", "nDCG@5", "nDCG@10"]),
        ("{nDCG@: 5}", ["nDCG@5"]),
        ("{RBP: {p: [0.5, 0.8]}}", ["RBP(p=0.5)", "RBP(p=0.8)"]),
        ("{AP: }", ["AP"]),
        ("[AP, RR@10]", ["AP", "RR@10"]),
        ("[AP, {P@: [1, 2]}]", ["AP", "P@1", "P@2"]),
        ("nDCG@1,5", ["nDCG@1", "nDCG@5"]),
        ("{'nDCG(gain=exponential)@': [5]}", ["nDCG(gain='exponential')@5"]),
        (
            "{nDCG: {cutoff: [5, 10], gain: [linear, exponential]}}",
            ["nDCG(gain='linear')@5", "nDCG(gain='exponential')@5",
             "nDCG(gain='linear')@10", "nDCG(gain='exponential')@10"],
        ),
        (
            "{P: {cutoff: {type: int, range: {start: 5, end: 20, step: 5}}}}",
            ["P@5", "P@10", "P@15", "P@20"],
        ),
        (
            "{P: {cutoff: {type: long, range: {start: 5, end: 12, step: 5}}}}",
            ["P@5", "P@10"],
        ),
        (
            (
                "{P: {cutoff: {type: int, range: [{start: 1, end: 2, step: 1}, "
                "{start: 10, end: 20, step: 10}], values: 5}}}"
            ),
            ["P@5", "P@1", "P@2", "P@10", "P@20"],
        ),
        (
            "{RBP: {p: {type: double, range: {start: 0.1, end: 0.5, step: 0.2}}}}",
            ["RBP(p=0.1)", "RBP(p=0.3)", "RBP(p=0.5)"],
        ),
        # Of fractions, the end is always one, as in RELISON.
        (
            "{RBP: {p: {type: double, range: {start: 0.5, end: 0.9, step: 0.25}}}}",
            ["RBP(p=0.5)", "RBP(p=0.75)", "RBP(p=0.9)"],
        ),
        # The type decides, not how numbers are written.
        (
            "{F: {beta: {type: double, range: {start: 1, end: 4, step: 2}}}}",
            ["F(beta=1.0)", "F(beta=3.0)", "F(beta=4.0)"],
        ),
        ("{nDCG: {gain: {type: string, value: exponential}}}",
         ["nDCG(gain='exponential')"]),
        ("{ILD: {distance: {type: string, values: [cosine]}}}",
         ["ILD(distance='cosine')"]),
    ],
)  # fmt: skip
def test_grids(
    grid: str, metrics: list[str], written: Callable[..., Path], home: Path
) -> None:
    more = ""
    if "ILD" in grid:
        (home / "items.csv").write_text("item,x,y\na,1,0\nb,0,1\n")
        more = "\nitems: items.csv"

    assert names(written(f"metrics: {grid}{more}")) == [
        str(rk.parse(name)) for name in metrics
    ]


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ("{nDGC@: [5]}", "unknown metric 'nDGC'; did you mean 'nDCG'?"),
        ("{RBP: {q: 0.5}}", "RBP has no parameter 'q'"),
        ("{RBP: {p: [0.5, 1.5]}}", "3:26: p must be a number above 0 and below 1"),
        ("{P: [5]}", "or P@: [5, 10] for cutoffs"),
        ("{NumQ@: [5]}", "NumQ has no cutoff"),
        ("{NumQ: {cutoff: 5}}", "NumQ has no parameter 'cutoff'; it has none"),
        ("{P: {cutoff: {type: int, values: [1.5]}}}", "a whole number, got 1.5"),
        ("{P: {cutoff: {type: int, values: [true]}}}", "a whole number, got true"),
        ("{P: {cutoff: {type: orientation, values: [IN]}}}",
         "unknown type 'orientation'; the types are int, long, double"),
        ("{P: {cutoff: {type: int}}}", "has no values; give values or range"),
        ("{P: {cutoff: {typ: int}}}", "expected type, values or range, got 'typ'"),
        ("{P: {cutoff: {type: int, range: {start: 1, end: 2}}}}",
         "a range needs start, end and step"),
        ("{P: {cutoff: {type: int, range: {start: 2, end: 1, step: 1}}}}",
         "a range must go up"),
        ("{P: {cutoff: {type: int, range: {start: 1, end: 9, step: 0}}}}",
         "a range must go up"),
        ("{P: {cutoff: {type: int, range: {start: 1, end: 9, step: .5}}}}",
         "expected a whole number as the step, got 0.5"),
        ("{P: {cutoff: {type: int, range: {start: 1, end: 1000000000, step: 1}}}}",
         "a range has 1,000,000,000 values; at most 10,000"),
        ("{P@: [5], Precision@: [5]}", "P@5 is given twice; it is also in line 3"),
        ("[]", "expected a metric, a list or a mapping of metrics"),
        ("{}", "no metrics are given"),
        ("{'': 1}", "a metric has no name"),
        ("{nDCG: {k: 5, cutoff: 10}}", "k of nDCG is given twice"),
        ("{nDCG@5: {cutoff: 10}}", "k of nDCG is given twice, also in nDCG@5"),
        ("{nDCG@5@: [10]}", "nDCG@5 has a cutoff; write nDCG@ to give others"),
        ("{nDCG: {gain: [linear, linear], cutoff: [5]}}", "given twice; it is also in"),
        ("{P: {cutoff: {type: [int], values: 1}}}", "unknown type"),
        ("{P: {cutoff: {type: string, range: {start: 1, end: 2, step: 1}}}}",
         "a range must be of numbers, not of the type string"),
        ("{P: {cutoff: {range: {start: 1, end: 0xffffffffffffffffff, step: 1}}}}",
         "the end of a range is too large"),
        ("[5]", "expected a metric such as nDCG@10, or a grid, got 5"),
        ("5", "3:10: expected a metric, a list or a mapping of metrics, or the"),
    ],
)  # fmt: skip
def test_grids_that_are_refused(
    grid: str, said: str, written: Callable[..., Path]
) -> None:
    with pytest.raises(ExperimentError) as caught:
        read_experiment(written(f"metrics: {grid}"))

    assert said in str(caught.value)
    assert all(problem.split(":")[1] == "3" for problem in caught.value.problems)


def test_a_grid_too_large_is_not_made(written: Callable[..., Path]) -> None:
    wide = "{type: int, range: {start: 1, end: 9999, step: 1}}"
    path = written(f"metrics: {{RBP: {{p: [0.1, 0.2, 0.3], cutoff: {wide}}}}}")

    with pytest.raises(ExperimentError, match="RBP has 29,997 combinations of values"):
        read_experiment(path)


def test_more_cells_than_allowed_are_refused_before_anything_is_read(
    written: Callable[..., Path], home: Path
) -> None:
    (home / "qrels.txt").write_text("not judgements")
    path = written("metrics: {P@: [1, 2, 3]}\nconvention: [rankine, ranx]")

    with pytest.raises(ExperimentError, match="3 runs x 2 conventions x 3 metrics are"):
        rk.run_experiment(path, max_cells=17)


def test_a_file_of_metrics_may_name_them_below_a_key(
    written: Callable[..., Path], home: Path
) -> None:
    (home / "m.yaml").write_text("metrics:\n  P@: [1]\n")
    assert names(written("metrics: m.yaml")) == ["P@1"]

    (home / "m.yaml").write_text("P@: [0]\n")
    with pytest.raises(ExperimentError, match=r"m.yaml:1:6: k must be a positive"):
        names(written("metrics: m.yaml"))

    (home / "m.yaml").unlink()
    with pytest.raises(ExperimentError, match=r"m.yaml: cannot be read \(No such file"):
        names(written("metrics: m.yaml"))
