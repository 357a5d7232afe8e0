"""The command line: any words and any content give an exit code and one sentence."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.command import commanded
from tests.fuzz.edits import Edit, edited, edits
from tests.fuzz.effort import cases
from tests.fuzz.judge import FOLDER, generated, written
from tests.fuzz.texts import VALID

pytestmark = pytest.mark.slow

WORDS = [
    "-m", "P@5", "nDCG(gain=exponential)", "all_trec", "P.1e3", "zz", "", "-q",
    "--json", "--csv", "--style", "trec_eval", "-l", "1", "2", "0", "-1", "nan",
    "1e999", "9" * 30, "--ties", "average", "best", "-M", "--depth", "--catalog",
    "--order", "rank", "given", "score", "--lenient", "--col", "query=1", "item=2",
    "query=²", "x=1", "=", "a=b=c", "--format", "csv", "trec", "run=json", "qrels=tsv",
    "--encoding", "latin-1", "hex", "utf-16", "--grades", "a=1,b=2", "1=1",
    "--lower-is-better", "--max-bytes", "10", "2G", "²", "-v", "--verbose",
    "--fail-under", "P@5=0.5", "AP=x", "-c", "trec_eval", "trec_eval-9", "--help", "-h",
    "--zz", "-", "--", "\udcff", "a\nb", "é", "-k",
]  # fmt: skip
COMMANDS = ["evaluate", "evaluate", "evaluate", "check", "metrics", "zz", "", "--help"]


def told(*words: str) -> None:
    """Run the command line, and check what it prints and how it ends."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        found = commanded(*words)
    if found.known:
        return
    assert found.value in {0, 1, 2, 3}, (words, err.getvalue())
    assert "Traceback" not in err.getvalue()
    if found.value in {2, 3}:
        sentences = err.getvalue().splitlines()
        assert sentences[-1].startswith("rankine: ")
        assert len(sentences) == 1 or "-v" in words or "--verbose" in words


@cases(150)
@given(
    command=st.sampled_from(COMMANDS),
    words=st.lists(st.sampled_from(WORDS), max_size=6),
    name=st.sampled_from(list(VALID)),
)
def test_no_words_crash_the_command_line(
    command: str, words: list[str], name: str
) -> None:
    generated()
    qrels = written(b"q 0 a 1\np 0 c 2\n", "good.qrels")
    run = written(VALID[name], "some.run")

    if "-" not in words:  # standard input is not ours
        told(command, str(qrels), str(run), *words)


@cases(100)
@given(
    changes=edits,
    name=st.sampled_from(list(VALID)),
    words=st.lists(
        st.sampled_from(
            ["-q", "--json", "--csv", "-v", "--lenient", "--style=trec_eval"]
        ),
        max_size=2,
        unique=True,
    ),
    command=st.sampled_from(["evaluate", "check"]),
)
def test_no_content_crashes_the_command_line(
    changes: list[Edit], name: str, words: list[str], command: str
) -> None:
    generated()
    run = written(edited(VALID[name], changes), "some.run")
    qrels = written(b"q 0 a 1\np 0 c 2\n1 0 10 1\n", "good.qrels")

    told(command, str(qrels), str(run), *(words if command == "evaluate" else ()))
    if command == "evaluate":
        told(command, str(run), str(FOLDER / "good.qrels"), *words)


INPUTS = {
    "trec": b"q Q0 a 1 1 t\n",
    "packed": VALID["packed"],
    "json": b'{"q": {"a": 1}}',
    "nothing": b"",
    "bytes": bytes(range(256)),
    "odd letters": "q Q0 é\u2028 1 1 t\n".encode(),
}


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("name", INPUTS)
def test_standard_input_gives_one_sentence_in_a_shell(name: str, encoding: str) -> None:
    qrels = written("q 0 a 1\nq 0 é 1\n".encode(), "good.qrels")

    done = subprocess.run(
        [sys.executable, "-m", "rankine", "evaluate", str(qrels), "-"],
        input=INPUTS[name],
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )

    assert done.returncode in {0, 2, 3}, done.stderr
    assert done.stderr.count(b"\n") == (done.returncode != 0)
