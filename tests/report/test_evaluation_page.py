"""The report of an evaluation: its numbers, and the worst queries with their lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine._report import page
from rankine._report.of_evaluation import page_of
from tests.report.pages import HOSTILE, Parsed, unpacked

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}, "q3": {"d": 0}}
RUN = {"q1": ["x", "a"], "q2": ["c", "y"], "q3": ["d"]}


@pytest.fixture
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out charts, as without the extra."""
    monkeypatch.setattr(page, "_converter", lambda: None)


@pytest.mark.usefixtures("_plain")
def test_the_table_has_the_numbers() -> None:
    evaluation = rk.evaluate(QRELS, RUN, ["RR", "NumRelRet"])

    rows = Parsed(page_of(evaluation).text()).tables["The number of each metric"]

    low, high = evaluation.interval("RR")
    mean = (1 / 2 + 1 + 0) / 3
    assert rows[1:] == [
        ["RR", f"{mean:.4f}|{low:.4f} to {high:.4f}", "3"],
        ["NumRelRet", "2", "3"],
    ]


@pytest.mark.usefixtures("_plain")
def test_values_and_lists_are_there_for_the_script() -> None:
    evaluation = rk.evaluate(QRELS, RUN, "RR", keep=2)

    data = Parsed(page_of(evaluation, texts={"a": "an apple"}).text()).data

    values = dict(zip(data["queries"], unpacked(data["values"][0][0]), strict=True))
    assert values == {"q1": 1 / 2, "q2": 1, "q3": 0}
    top, missed = data["lists"]["0"][str(data["queries"].index("q1"))]
    assert [(r, data["items"][i], grade) for r, i, grade in top] == [
        (1, "x", None), (2, "a", 2),
    ]  # fmt: skip
    assert [(r, data["items"][i], grade) for r, i, grade in missed] == [(0, "b", 1)]
    assert data["itemTexts"] == {str(data["items"].index("a")): "an apple"}


@pytest.mark.usefixtures("_plain")
def test_what_stands_in_the_list_is_not_repeated_as_missed() -> None:
    evaluation = rk.evaluate(QRELS, RUN, "P@1", keep=2)

    data = Parsed(page_of(evaluation).text()).data

    # P@1 misses both a, at rank 2, and b; the list shows a.
    _, missed = data["lists"]["0"][str(data["queries"].index("q1"))]
    assert [data["items"][item] for _, item, _ in missed] == ["b"]


@pytest.mark.usefixtures("_plain")
def test_metrics_of_lists_have_no_worst_queries() -> None:
    evaluation = rk.evaluate(None, RUN, "Coverage", catalog=9)

    document = Parsed(page_of(evaluation).text())

    assert "values" not in document.data
    assert document.tables["The number of each metric"][1][0] == "Coverage"


@pytest.mark.usefixtures("_plain")
def test_more_values_than_fit_are_those_of_the_first_metrics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rankine._report import explorer  # noqa: PLC0415 - for one test

    monkeypatch.setattr(explorer, "MOST_VALUES", 4)

    data = Parsed(page_of(rk.evaluate(QRELS, RUN, ["RR", "P@1"])).text()).data

    assert data["metrics"] == ["RR"]
    assert len(data["values"]) == 1


@pytest.mark.usefixtures("_plain")
def test_hostile_names_leave_the_document_as_it_is() -> None:
    def structure(words: list[str]) -> list[tuple[str, tuple[str, ...]]]:
        qrels = {word: {word: 1} for word in words}
        evaluation = rk.evaluate(qrels, {word: [word] for word in words}, "RR", keep=1)
        texts = dict.fromkeys(words, HOSTILE[0])
        return Parsed(page_of(evaluation, words[0], texts).text()).elements

    names = [text for text in HOSTILE if text != "\ud800"]

    assert structure(names) == structure([f"name{n}" for n in range(len(names))])


@pytest.mark.slow
def test_it_is_written_with_charts(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    path = tmp_path / "report.html"

    rk.evaluate(QRELS, RUN, "RR@3").report(path)

    text = path.read_text("utf-8")
    assert text.count("<svg xmlns") == 3  # means, values, curve
    assert "There is no curve" not in text


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("/data/runs/bm25.run", "How good is bm25.run?"),
        ("C:\\runs\\bm25.run", "How good is bm25.run?"),
        ("team/model", "How good is team/model?"),
    ],
)
def test_a_path_is_named_by_its_file(name: str, title: str) -> None:
    evaluation = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR", name=name)

    assert page_of(evaluation).title == title
