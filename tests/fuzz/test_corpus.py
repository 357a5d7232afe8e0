"""Broken files, each through every role, every format and the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rankine._io.formats import FORMATS
from tests.fuzz.child import Child
from tests.fuzz.command import commanded
from tests.fuzz.judge import FOLDER, checked, read
from tests.fuzz.known import is_open

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parent / "corpus"
TRUTH = {"q": {"a": 1, "b": 0}, "p": {"c": 2}}
RUN = {"q": {"b": 0.9, "a": 0.5}, "p": {"c": 2.0}}
OTHER: dict[str, Any] = {"qrels": RUN, "run": TRUTH}
OPTIONS: list[dict[str, Any]] = [
    {"lenient": True},
    {"order": "rank"},
    {"order": "given"},
    {"lower_is_better": True},
    {"columns": {"query": 1, "item": 2}},
    {"grades": {"1": 1}},
]
FILES = sorted(
    path.name
    for path in CORPUS.iterdir()
    if path.name != "aborts.parquet"  # see test_known.py
)


def test_there_are_enough() -> None:
    assert len(FILES) >= 60


@pytest.mark.parametrize("name", FILES)
def test_a_broken_file_is_read_or_refused_in_every_role(name: str) -> None:
    for role, other in OTHER.items():
        read(CORPUS / name, role, other)
        for known in FORMATS:
            read(CORPUS / name, role, other, format=known)
        for options in OPTIONS:
            read(CORPUS / name, role, other, options=options)
        qrels, run = (CORPUS / name, RUN) if role == "qrels" else (TRUTH, CORPUS / name)
        checked(qrels, run)
        read(CORPUS / name, role, other, encoding="latin-1")
        read(CORPUS / name, role, other, encoding="utf-16")


@pytest.mark.parametrize("name", FILES)
def test_a_broken_file_gets_one_sentence_on_the_command_line(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = FOLDER / "good.qrels", FOLDER / "good.run"
    qrels.write_text("q 0 a 1\np 0 c 2\n")
    run.write_text("q Q0 a 1 1 t\np Q0 c 1 1 t\n")
    path = str(CORPUS / name)
    for words in (
        ("evaluate", path, str(run), "-q"),
        ("evaluate", str(qrels), path, "--json", "-q"),
        ("check", str(qrels), path),
    ):
        capsys.readouterr()
        found = commanded(*words)
        out, err = capsys.readouterr()

        if found.known:
            continue
        assert found.value in {0, 3}, err
        assert err.count("\n") == (found.value == 3)
        assert bool(out) == (found.value == 0)


SAMPLE = FILES[::12]


@pytest.mark.parametrize("name", SAMPLE)
def test_a_broken_file_gets_one_sentence_in_a_shell(name: str) -> None:
    good = FOLDER / "good.qrels"
    good.write_text("q 0 a 1\n")

    done = subprocess.run(
        [sys.executable, "-m", "rankine", "evaluate", str(good), str(CORPUS / name)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode in {0, 3}, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == (done.returncode == 3) or is_open("B0")


def test_damaged_tables_do_not_end_a_process() -> None:
    with Child() as child:
        for path in sorted(CORPUS.glob("*.parquet")):
            told = child.evaluate(path)

            assert told.ended or is_open("B0"), path
            assert told.sentence, (path, told.text)
