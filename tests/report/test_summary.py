"""What a report says first: in words, and what matters most before the rest."""

from __future__ import annotations

import re

import pytest

import rankine as rk
from rankine._report import of_comparison, page
from rankine._report.of_comparison import page_of
from rankine._report.of_evaluation import page_of as page_of_evaluation
from tests.report.pages import judged_by

LONG = "a-model-with-a-name-of-many-letters-that-differ-at-its-very-end-{}"
QUERIES = [f"q{place}" for place in range(12)]
ITEMS = list("abcde")


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without charts, which take time."""
    monkeypatch.setattr(page, "_converter", lambda: None)


def said(text: str) -> tuple[str, list[str], list[str]]:
    """Return the first sentence, those below it, and those that can be opened."""
    section = re.search('<section id="summary">.*?</section>', text, re.DOTALL)
    assert section is not None
    plain = [
        re.sub("<[^>]*>", "", entry)
        for entry in re.findall("<(?:p|li)[^>]*>(.*?)</(?:p|li)>", section[0])
    ]
    n_open = section[0].split("<details>")[0].count("<li>")
    return plain[0], plain[1 : 1 + n_open], plain[1 + n_open :]


def test_the_best_system_is_named_in_full() -> None:
    comparison = judged_by([LONG.format(n) for n in (1, 2)], QUERIES, ITEMS)
    best = comparison.systems[min(comparison.best[0])]

    text = page_of(comparison).text()

    assert said(text)[0].startswith(f"{best} has the best nDCG@5: ")
    assert "-its-very-end-2 against a-model" in re.findall("<h1>(.*?)</h1>", text)[0]


def test_of_many_sentences_the_largest_differences_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(of_comparison, "_SAID", 2)
    comparison = judged_by([*"vwxyz"], QUERIES, ITEMS)
    rows = comparison.pairwise.filter(metric="nDCG@5").rows(named=True)
    sizes = sorted((abs(row["difference"]) for row in rows), reverse=True)
    assert [abs(row["difference"]) for row in rows] != sizes

    _, first, rest = said(page_of(comparison).text())

    assert [re.findall(r"[+-]?0\.\d{4}", line)[0].lstrip("+-") for line in first] == [
        f"{size:.4f}" for size in sizes[:2]
    ]
    assert len(first) + len(rest) == comparison.pairwise.height


def test_an_evaluation_begins_with_its_first_metric() -> None:
    evaluation = rk.evaluate(
        {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["x", "b"]}, "RR",
        name="bm25",
    )  # fmt: skip
    low, high = evaluation.interval("RR")

    text = page_of_evaluation(evaluation).text()

    assert f"RR of bm25 is {3 / 4:.4f} ({low:.4f} to {high:.4f})." in text


def test_two_systems_need_no_map_of_their_one_p_value() -> None:
    assert (
        "Corrected p-values"
        not in page_of(judged_by(["v", "w"], QUERIES, ITEMS)).text()
    )
