"""The fixture retrieval_gate, in a project of its own with a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rankine

pytestmark = pytest.mark.slow

SOURCE = Path(rankine.__file__).parent.parent
PROJECT = SOURCE.parent / "pyproject.toml"
TEST = """
PLACES = {places}
QRELS = {{f"q{{n:02}}": {{"a": 1}} for n in range(40)}}


def listed(place):
    items = ["x", "y"]
    items.insert(place - 1, "a")
    return items


RUN = {{f"q{{n:02}}": listed(place) for n, place in enumerate(PLACES)}}


def test_search(retrieval_gate):
    result = retrieval_gate({name!r}, QRELS, RUN, {margins}{more})
    assert result.passed
"""
OLD = [2] * 40
WORSE = [3] * 20 + [2] * 20
UNSURE = [1] * 8 + [3] * 25 + [2] * 7


class Project:
    """A folder with one test of retrieval."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.baseline = folder / "tests" / "docs.gate.json"
        self.baseline.parent.mkdir()

    def test(
        self,
        places: list[int],
        *options: str,
        name: str = "docs",
        margins: str = "{'RR': 0.01}",
        more: str = "",
    ) -> tuple[int, str]:
        text = TEST.format(places=places, name=name, margins=margins, more=more)
        (self.folder / "tests" / "test_search.py").write_text(text)
        return self.pytest("-p", "rankine.pytest_plugin", *options)

    def pytest(self, *options: str) -> tuple[int, str]:
        plain = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        plain |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(SOURCE)}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
            cwd=self.folder, env=plain, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def settled(project: Project) -> Project:
    code, text = project.test(OLD, "--rankine-update")
    assert code == 0, text
    return project


def test_an_update_writes_the_baseline_beside_the_test(settled: Project) -> None:
    assert settled.baseline.exists()
    before = settled.baseline.read_bytes()

    code, text = settled.test(WORSE, "--rankine-update")

    assert code == 0
    assert "docs: RR: the baseline is 0.4167 over 40 queries" in text
    assert "since the first baseline -0.0833" in text
    assert settled.baseline.read_bytes() != before


def test_it_passes(settled: Project) -> None:
    before = settled.baseline.read_bytes()
    code, text = settled.test(OLD)

    assert code == 0, text
    assert "docs: RR: unchanged at 0.5000; none of 40 queries moved" in text
    assert settled.baseline.read_bytes() == before


def test_it_fails(settled: Project) -> None:
    code, text = settled.test(WORSE)

    assert code == 1
    assert "docs: RR: worse: 0.5000 to 0.4167, -0.0833" in text
    assert "queries that fell most on RR:\n  q00: 0.5000 to 0.3333\n  q01: " in text
    assert "Traceback" not in text


def test_lost_queries_fail_and_are_named(settled: Project) -> None:
    # Three queries without a list: too few for the test of the metric.
    code, text = settled.test(OLD[:37])

    assert code == 1
    named = (
        "lost: 3 queries had items or values in the baseline and have none now "
        "(q37, q38, q39)"
    )
    assert f"docs: {named}; allow_missing=3 accepts that\ndocs: RR: cannot" in text
    assert "set a floor: assert rk.evaluate(qrels, run, 'RR')['RR'] >= VALUE" in text
    code, text = settled.test(OLD[:37], more=", allow_missing=3")
    assert code == 0, text
    assert f"docs: {named}, which allow_missing=3 accepts\n" in text


def test_what_cannot_be_told_passes_unless_strict(settled: Project) -> None:
    code, text = settled.test(UNSURE)
    assert code == 0, text
    assert "docs: RR: cannot tell: 40 queries can detect a change of 0.0841" in text

    code, text = settled.test(UNSURE, more=", strict=True")
    assert code == 1
    assert "docs: RR: cannot tell: 40 queries can detect a change of 0.0841" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"more": ", rel=2"}, "threshold of the convention was 1 and is now 2"),
        ({"more": ", rel=2"}, "recreate the baseline with pytest --rankine-update"),
        ({"margins": "{}"}, "no margin is given for RR"),
        ({"margins": "{'AP': 0.1}"}, "margin is given for AP"),
        ({"name": "other"}, "no baseline other.gate.json; pytest --rankine-update"),
        ({"name": "d\x1b]0;x"}, r"d\x1b]0;x: there is no baseline d\x1b]0;x.gate"),
        ({"name": "../docs"}, "of a gate must not contain folders, got '../docs'"),
    ],
)
def test_what_is_refused_fails_with_the_reason(
    arguments: dict[str, str], message: str, settled: Project
) -> None:
    code, text = settled.test(OLD, **arguments)

    assert code == 1
    assert message in text
    assert "\x1b" not in text


def test_several_processes_show_what_they_found(settled: Project) -> None:
    code, text = settled.test(OLD, "-p", "xdist", "-n", "1")

    assert code == 0, text
    assert text.count("docs: RR: unchanged at 0.5000") == 1


def test_nothing_is_loaded_or_shown_where_no_gate_is_used(project: Project) -> None:
    heavy = ["rankine._evaluate", "numpy", "polars", "click"]
    (project.folder / "test_plain.py").write_text(
        f"import sys\n\n\ndef test_plain():\n"
        f"    assert not [n for n in {heavy} if n in sys.modules]\n"
    )
    code, text = project.pytest("-p", "rankine.pytest_plugin")

    assert code == 0, text
    assert "retrieval gates" not in text


def test_the_project_says_where_the_plugin_is() -> None:
    plugins = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]["pytest11"]

    assert plugins == {"rankine": "rankine.pytest_plugin"}
