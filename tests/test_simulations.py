"""The simulations of make simulate in short, and what tells of a broken bound."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankine._evaluate.gate import gate
from rankine._stats import flips, paired, power
from simulations import of_gates, of_intervals, of_tests
from simulations.rows import Row, chunks, share
from simulations.run import line, modules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulations.rows import Simulation

FOLDER = Path(__file__).parent.parent / "simulations"
SHORT = 0.01
BROKEN = """
from simulations.rows import share

SIMULATIONS = (lambda scale: [share("a promise", 300, 1000, most=0.2)],)
"""


def rows_of(simulations: Iterable[Simulation], scale: float = SHORT) -> list[Row]:
    return [row for simulate in simulations for row in simulate(scale)]


def broken(module: Any, scale: float = SHORT) -> list[str]:
    return [row.what for row in rows_of(module.SIMULATIONS, scale) if not row.holds]


@pytest.mark.slow
@pytest.mark.parametrize("name", modules())
def test_bounds_are_kept_in_few_rounds(name: str) -> None:
    module = import_module(f"simulations.of_{name}")
    rows = rows_of(module.SIMULATIONS)

    assert [line(row) for row in rows if not row.holds] == []
    assert len({row.what for row in rows}) == len(rows) >= len(module.SIMULATIONS)


def test_there_are_simulations_of_each_kind() -> None:
    assert {"families", "gates", "intervals", "tests", "wholes"} <= {*modules()}


@pytest.mark.slow
def test_p_values_that_are_too_small_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    p = paired.t_p
    monkeypatch.setattr(paired, "t_p", lambda differences: p(differences) / 2)

    found = broken(of_tests)

    assert "t: p <= 0.05, normal differences, n = 50" in found
    assert "t: distance of p from uniform, normal differences, n = 20" in found
    assert {what.split(":")[0] for what in found} == {"t"}


@pytest.mark.slow
def test_intervals_that_are_too_narrow_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    interval = paired.Differences.interval
    monkeypatch.setattr(
        paired.Differences, "interval", lambda own, _: interval(own, 0.9)
    )

    found = broken(of_intervals)

    assert found[:2] == [
        f"t: 95 % interval covers, normal differences, n = {n}" for n in (5, 50)
    ]
    assert any(what.startswith("gate: not worse") for what in broken(of_gates, 0.05))


@pytest.mark.slow
def test_a_gate_that_fails_too_often_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    p = flips.flipped_p
    monkeypatch.setattr(gate, "flipped_p", lambda *rows, **how: p(*rows, **how) / 2)

    found = broken(of_gates, 0.05)
    assert any(what.startswith("gate: worse") for what in found)


@pytest.mark.slow
def test_too_few_queries_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_intervals, "needed_for_difference", lambda *_: 20)

    assert broken(of_intervals) == [
        "t: finds a difference with the n = 20 needed for 80 %"
    ]
    assert power.needed_for_difference(1, 0.5, 0.8, 0.05) == 34


def test_a_bound_is_kept_up_to_three_standard_errors() -> None:
    # sqrt(0.2 x 0.8 / 400) = 0.02, so that 0.26 is just beyond 0.2 by three of them.
    assert share("", 104, 400, most=0.2).holds
    assert not share("", 105, 400, most=0.2).holds
    assert share("", 56, 400, least=0.2).holds
    assert not share("", 55, 400, least=0.2).holds
    assert share("", 399, 400).holds
    assert not Row("", 10, float("nan"), 0, most=1).holds


def test_chunks_make_up_the_rounds() -> None:
    assert list(chunks(120)) == [(0, 50), (1, 50), (2, 20)]


@pytest.mark.slow
def test_a_new_module_is_found_and_a_broken_bound_ends_with_1(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "simulations")
    (tmp_path / "simulations" / "of_promises.py").write_text(BROKEN)

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, tmp_path / "simulations" / "run.py", *arguments],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    code, text = run("promises")
    assert code == 1
    assert "0.3000    0.0126  <= 0.2     BROKEN" in text
    assert "1 bound broken" in text
    code, text = run("gates", "--scale", "0.01")
    assert code == 0, text
    assert "0 bounds broken" in text
    code, text = run("promise")
    assert code == 2
    assert "no module promise; there are collections, families, gates, " in text
    assert ", promises, " in text
