"""Programs that import a library themselves, on rankine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rankine import compat
from rankine.errors import UsageError

PROGRAM = """
import sys
import pytrec_eval
values = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"map"}).evaluate(
    {"q": {"b": 2.0, "a": 1.0}}
)
print(values, pytrec_eval.__name__, sys.argv[1:], __name__)
"""


def python(*arguments: str, where: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=where,
    )


@pytest.mark.slow
def test_a_program_runs_unchanged(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)

    done = python(
        "-m", "rankine.compat", "pytrec_eval", "program.py", "-x", "y", where=tmp_path
    )

    assert done.stderr == ""
    assert done.stdout == (
        "{'q': {'map': 0.5}} rankine.compat.pytrec_eval ['-x', 'y'] __main__\n"
    )


@pytest.mark.slow
def test_what_a_program_imports_beside_it_is_found(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "beside.py").write_text("import pytrec_eval\n")
    (tmp_path / "folder" / "program.py").write_text("import beside; print('done')")

    done = python(
        "-m", "rankine.compat", "pytrec_eval", "folder/program.py", where=tmp_path
    )

    assert (done.stdout, done.stderr) == ("done\n", "")


@pytest.mark.slow
def test_a_library_that_is_loaded_is_left_alone(tmp_path: Path) -> None:
    code = (
        "import pytrec_eval; from rankine import compat\n"
        "try: compat.install('pytrec_eval')\n"
        "except ValueError as error: print(error)\n"
        "print('compat' in pytrec_eval.__name__)"
    )
    done = python("-c", code, where=tmp_path)

    said, unchanged = done.stdout.splitlines()
    assert said.startswith("pytrec_eval is already loaded from ")
    assert said.endswith("; call install before anything imports it")
    assert unchanged == "False"


@pytest.mark.slow
def test_installing_twice_is_installing_once(tmp_path: Path) -> None:
    code = "from rankine import compat\n" + "compat.install('pytrec_eval')\n" * 2

    assert python("-c", code, where=tmp_path).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "usage: python -m rankine.compat LIBRARY SCRIPT [ARGUMENTS]"),
        (["pytrec_eval", "absent.py"], "absent.py: no such script"),
        (["trec", __file__], "nothing stands in for 'trec'"),
    ],
)
def test_what_cannot_run_is_said_in_one_line(
    tmp_path: Path, words: list[str], said: str
) -> None:
    done = python("-m", "rankine.compat", *words, where=tmp_path)

    assert done.returncode
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


def test_an_unknown_library_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing stands in for 'torch'"):
        compat.install("torch")
