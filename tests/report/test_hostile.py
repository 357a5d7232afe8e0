"""Names of every kind stay names: they change nothing of what a report is made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine._report import page
from rankine._report.of_comparison import page_of
from rankine._report.of_evaluation import page_of as page_of_evaluation
from rankine._report.of_online import page_of as page_of_online
from tests.report.pages import HOSTILE, Parsed
from tests.report.test_online_page import log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

QUERIES = [f"q{place}" for place in range(8)]
_SHOWN = 60
"""At least as many letters of an id stand in a note."""
ROWS = "q1 Q0 {0} 1 2 x\nq1 Q0 {1} 2 1 x\nq2 Q0 {0} 1 2 x\nq2 Q0 {1} 2 1 x\n"


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out charts, which take time; they are drawn in a browser elsewhere."""
    monkeypatch.setattr(page, "_converter", lambda: None)


def segments(word: str, _: Path) -> list[Any]:
    """Return a comparison in whose segments, margins and notes the word is."""
    qrels = {query: {"a": 1, "b": 0} for query in QUERIES}
    qrels[f"missing {word}"] = {"a": 1}
    runs = {
        f"{word}1": {query: ["a", "b"] for query in QUERIES},
        f"{word}2": {query: ["b", "a"] for query in QUERIES},
    }
    by = {query: f"{word}{place % 2}" for place, query in enumerate(QUERIES)}
    by[f"missing {word}"] = f"{word}0"
    compared = rk.compare(qrels, runs, "RR", baseline=f"{word}1", by=by, draws=50)
    assert any(word[:_SHOWN] in note for note in compared.notes)
    return [page_of(compared, texts={"a": word}, command=word)]


def evaluation(word: str, _: Path) -> list[Any]:
    """Return an evaluation with the word in its name, queries, items and notes."""
    qrels = {f"{word}1": {word: 1}, f"{word}2": {"b": 1}}
    evaluated = rk.evaluate(qrels, {f"{word}1": ["b", word]}, "RR", name=word, keep=2)
    assert any(word[:_SHOWN] in note for note in evaluated.notes)
    texts = dict.fromkeys((word, f"{word}1"), word)
    return [page_of_evaluation(evaluated, word, texts, command=word)]


def experiment(word: str, folder: Path) -> list[Any]:
    """Return the report of an experiment whose runs have the word as their names."""
    (folder / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    (folder / "a.run").write_text(ROWS.format("a", "b"))
    (folder / "b.run").write_text(ROWS.format("b", "a"))
    (folder / "queries.json").write_text(json.dumps({"q1": word, "q2": word}))
    names = [json.dumps(f"{word}{n}") for n in (1, 2)]
    (folder / "experiment.yaml").write_text(
        f"qrels: qrels.txt\nruns: {{{names[0]}: a.run, {names[1]}: b.run}}\n"
        f"metrics: [RR]\noutput: out\ncompare: {{baseline: {names[0]}, draws: 50}}\n"
    )
    rk.run_experiment(folder / "experiment.yaml", resume=False)
    compared = rk.load(folder / "out" / "results.json")
    assert compared.systems == (f"{word}1", f"{word}2")
    return [page_of(compared, texts={"q1": word}, command=word)]


def summary(word: str, _: Path) -> list[Any]:
    """Return summaries of groups of that name, with and without days and clicks."""
    events = log((f"{word}1", f"{word}2"), users=120).with_columns(
        country=word + pl.col("country")
    )
    # A user of that name has so many events that a note says so.
    robot = events.head(1).with_columns(user_id=pl.lit(word))
    robot = robot.select(pl.all().repeat_by(60).explode())
    later = pl.duration(seconds=pl.int_range(pl.len()))
    events = pl.concat([events, robot.with_columns(pl.col("timestamp") + later)])
    shown = pl.DataFrame(
        {
            "impression_id": [1, 1, 2, 2],
            "user_id": [word, word, "8", "8"],
            "position": [1, 2, 1, 2],
            "click": [1, 0, 1, 1],
            "variant": [f"{word}1", f"{word}1", f"{word}2", f"{word}2"],
        }
    )
    clicks = rk.online.click_metrics(shown)
    summaries = [
        rk.online.summarize(events, "ctr", by=by, daily=by == "country")
        for by in ("variant", "country")
    ]
    assert all("possibly a bot" in " ".join(found.notes) for found in summaries)
    return [page_of_online(found, word, word, (), clicks) for found in summaries]


def ab_test(word: str, _: Path) -> list[Any]:
    """Return a test of metrics, variants and segments of that name."""
    users = pl.DataFrame(
        {
            "id": range(40),
            "arm": [f"{word}1", f"{word}2"] * 20,
            "spent": [float(n % 7) for n in range(40)],
            "land": [f"{word}{n // 2 % 2}" for n in range(40)],
        }
    )
    tested = rk.online.ab_test(
        users, metrics={word: "spent"}, unit="id", variant="arm",
        control=f"{word}1", segment="land", margin={word: "5%"},
    )  # fmt: skip
    return [page_of_online(tested, word, word, ())]


@pytest.mark.parametrize("made", [segments, evaluation, experiment, summary, ab_test])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_document_has_the_same_elements_whatever_names_are(
    text: str, made: Callable[[str, Path], list[Any]], tmp_path: Path
) -> None:
    # An unpaired surrogate is refused in ids.
    word = text.encode("utf-8", "ignore").decode()

    pages = [Parsed(drawn.text()) for drawn in made(f"{word}x", tmp_path)]

    plain = [Parsed(drawn.text()) for drawn in made("plain", tmp_path)]
    assert [drawn.elements for drawn in pages] == [drawn.elements for drawn in plain]
    assert all(len(drawn.scripts) == 2 for drawn in pages)  # data, and ours
