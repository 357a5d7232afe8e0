"""What a report says first: in words, and what matters most before the rest."""

from __future__ import annotations

import re

import pytest

import rankine as rk
from rankine._report import of_comparison, page
from rankine._report.of_comparison import page_of
from rankine._report.of_evaluation import page_of as page_of_evaluation
from tests.report.pages import Parsed, judged_by

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


def test_segments_say_how_many_rows_they_leave_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    qrels = {query: {"a": 1} for query in QUERIES}
    runs = {name: {query: [*"ba"] for query in QUERIES} for name in "vw"}
    by = {query: f"segment {place}" for place, query in enumerate(QUERIES)}
    comparison = rk.compare(qrels, runs, "RR", by=by, draws=50)
    n = len(QUERIES) * 2  # systems
    assert "rows are shown" not in page_of(comparison).text()
    monkeypatch.setattr(of_comparison, "_SEGMENTS", 5)

    text = page_of(comparison).text()

    says = f"The first 5 of {n} rows are shown; see cmp.segments for all."
    assert f'<p class="hint">{says}</p>' in text
    shown = Parsed(text).tables["Means by segment"][1:]
    assert [row[1:3] for row in shown] == [
        list(row) for row in comparison.segments.select("segment", "run").rows()[:5]
    ]


def test_names_from_right_to_left_stay_in_order_in_the_title() -> None:
    names = ["\u05d0\u05d1", "\u05d2\u05d3", "new"]
    comparison = judged_by(names, QUERIES, ITEMS, baseline=False)

    (title,) = re.findall("<h1>(.*?)</h1>", page_of(comparison).text())

    turned = [f"<bdi>{name}</bdi>" for name in names[:2]]
    assert title == f"{turned[0]}, {turned[1]} and new compared"


@pytest.mark.parametrize(
    ("name", "is_long"),
    [("bm25 with feedback", False), (LONG.format(1), True), ("混合检索系统" * 2, True)],
)
def test_a_long_name_has_room_for_some_of_its_words(name: str, is_long: bool) -> None:  # noqa: FBT001
    text = page_of(judged_by([name, "w"], QUERIES, ITEMS)).text()

    kind = "at-l long" if is_long else "at-l"
    assert f'<td class="{kind}">{name}</td>' in text


def test_two_systems_need_no_map_of_their_one_p_value() -> None:
    assert (
        "Corrected p-values"
        not in page_of(judged_by(["v", "w"], QUERIES, ITEMS)).text()
    )
