"""An error about data that `lenient` would take says so, and it is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.cli import main
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TWICE = pl.DataFrame({"query": ["q", "q"], "item": ["a", "a"], "value": [1.0, 2.0]})
NAN = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [float("nan")]})
BEST = "; lenient=True or --lenient keeps the best of each"
LARGEST = "; lenient=True or --lenient keeps the largest grade of each"
LAST = "; lenient=True or --lenient ranks such items last"
TRUTH = {"q": {"a": 1}}


def _frame(name: str) -> pl.DataFrame:
    return TWICE.rename({"value": name})


CASES: dict[str, tuple[Callable[..., Any], str]] = {
    "list": (lambda **o: rk.evaluate(TRUTH, {"q": ["a", "a"]}, "AP", **o), BEST),
    "frame": (lambda **o: rk.evaluate(TRUTH, _frame("score"), "AP", **o), BEST),
    "file": (lambda **o: rk.evaluate(TRUTH, "twice.run", "AP", **o), BEST),
    "lists": (
        lambda **o: rk.evaluate(None, {"q": ["a", "a"]}, "Coverage", catalog=3, **o),
        BEST,
    ),
    "judged list": (
        lambda **o: rk.evaluate({"q": ["a", "a"]}, TRUTH, "AP", **o),
        LARGEST,
    ),
    "judged frame": (
        lambda **o: rk.evaluate(_frame("grade"), TRUTH, "AP", **o),
        LARGEST,
    ),
    "judged file": (lambda **o: rk.evaluate("twice.txt", TRUTH, "AP", **o), LARGEST),
    "subtopics": (
        lambda **o: rk.evaluate("topics.txt", TRUTH, "SubtopicRecall", **o),
        LARGEST,
    ),
    "similarity": (lambda **o: rk.similarity("twice.run", TRUTH, "AO@1", **o), BEST),
    "matrix": (
        lambda **o: rk.similarity_matrix({"x": "twice.run", "y": TRUTH}, "AO@1", **o),
        BEST,
    ),
    "batch": (
        lambda **o: rk.Accumulator("AP", **o).update(TRUTH, {"q": ["a", "a"]}).result(),
        BEST,
    ),
    "reconcile": (
        lambda **o: rk.reconcile("twice.txt", TRUTH, "AP", **o).rows,
        LARGEST,
    ),
    "nan frame": (lambda **o: rk.evaluate(TRUTH, NAN, "AP", **o), LAST),
    "nan in lists": (
        lambda **o: rk.evaluate(None, NAN, "Coverage", catalog=3, **o),
        LAST,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "twice.run").write_text("q Q0 a 1 2 t\nq Q0 a 2 1 t\n")
    (tmp_path / "twice.txt").write_text("q 0 a 1\nq 0 a 2\n")
    (tmp_path / "topics.txt").write_text("q 1 a 1\nq 1 a 1\nq 2 a 1\n")
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n")
    (tmp_path / "good.run").write_text("q Q0 a 1 2 t\n")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_the_remedy_is_told_and_helps(name: str) -> None:
    call, wanted = CASES[name]

    with pytest.raises(DataError) as caught:
        call()
    assert str(caught.value).endswith(wanted)

    assert call(lenient=True) is not None


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "qrels.txt", "twice.run"],
        ["evaluate", "twice.txt", "good.run"],
        ["reconcile", "twice.txt", "good.run", "-m", "AP"],
        ["similarity", "good.run", "twice.run"],
    ],
    ids=" ".join,
)
def test_the_remedy_helps_on_the_command_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    message = capsys.readouterr().err
    with pytest.raises(SystemExit) as taken:
        main([*arguments, "--lenient"])

    assert refused.value.code == 3
    assert "--lenient keeps the " in message
    assert taken.value.code == 0


def test_a_list_of_which_tools_take_duplicates_says_who_does_not() -> None:
    found = rk.reconcile({"q": {"a": 1}}, {"q": ["a", "a"]}, "AP")
    lenient = rk.reconcile({"q": {"a": 1}}, {"q": ["a", "a"]}, "AP", lenient=True)

    assert found["rankine"] is None
    assert found["jurity"] is not None
    assert lenient["rankine"] == 1
