"""In a notebook: text stays text, results have a table, and names are public."""

from __future__ import annotations

import builtins
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.cli import main
from tests.report.pages import Parsed

if TYPE_CHECKING:
    from collections.abc import Callable

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": ["b", "a"], "q2": ["c", "x"]}
LOGGED = pl.DataFrame(
    {"user_id": [1, 2], "item_id": ["a", "b"], "click": [1, 0], "propensity": [0.5, 1]}
)
SHOWN = pl.DataFrame({"user_id": [1, 2], "item_id": ["a", "b"]})


class ZMQInteractiveShell:
    """What IPython calls the shell of a notebook; rich asks for this name."""


@pytest.fixture
def _notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = ZMQInteractiveShell()
    monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)


def _accumulated() -> Any:
    return rk.Accumulator("AP").update(QRELS, RUN).result()


RESULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "Evaluation": (lambda: rk.evaluate(QRELS, RUN, "AP"), "0.7500"),
    "Accumulated": (_accumulated, "0.7500"),
    "Similarity": (lambda: rk.similarity(RUN, RUN, "Jaccard@2"), "1.0000"),
    "SimilarityMatrix": (
        lambda: rk.similarity_matrix({"x": RUN, "y": RUN}, "Jaccard@2"),
        "1.0000",
    ),
    "Check": (lambda: rk.check(QRELS, RUN), "queries in both"),
    "Estimate": (lambda: rk.ctr(LOGGED, SHOWN, "ips"), "ips: 1.0000"),
    "Reconciliation": (lambda: rk.reconcile(QRELS, RUN, "AP"), "0.7500"),
    "Explanation": (
        lambda: rk.reconcile(QRELS, RUN, "AP").explain("ranx", "rankine"),
        "AP: ranx 0.7500",
    ),
    "RBO": (lambda: rk.rbo(["a"], ["a"], p=0.9), "1.0"),
    "Conventions": (rk.conventions, "ranx"),
    "Convention": (rk.Convention, "tie"),
    "Interval": (lambda: rk.evaluate(QRELS, RUN, "AP").interval("AP"), "low"),
}


@pytest.mark.usefixtures("_notebook")
@pytest.mark.parametrize("name", RESULTS)
def test_the_text_of_a_result_is_text_in_a_notebook(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make, wanted = RESULTS[name]

    text = str(make())

    assert wanted in text
    assert capsys.readouterr().out == ""


def test_the_text_is_the_same_in_a_notebook_and_outside(
    request: pytest.FixtureRequest,
) -> None:
    ev = rk.evaluate(QRELS, RUN, ["AP", "P@1"])
    outside = str(ev)
    request.getfixturevalue("_notebook")

    assert str(ev) == outside
    assert outside != ""


@pytest.mark.usefixtures("_notebook")
def test_a_command_that_is_called_in_a_notebook_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["demo"])

    assert "nDCG@10" in capsys.readouterr().out


class _Tags(HTMLParser):
    """Collects the tags and the text of HTML, and sees whether tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        del attrs
        self.seen.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data + " "


EVIL = "<script>alert('x')</script>&"


def test_a_check_is_a_table_in_a_notebook() -> None:
    html = rk.check(QRELS, RUN)._repr_html_()

    found = _Tags(html)
    assert found.open == []
    assert "table" in found.seen
    assert "queries in both 2" in found.words
    assert "unjudged in the top 10 25.0 %" in found.words  # x, of four items


def test_a_check_escapes_all_that_users_bring() -> None:
    qrels = {f"q{EVIL}": {"a": 1}, "r": {"b": 1}}
    html = rk.check(qrels, {f"z{EVIL}": ["a"], "r": ["b"]})._repr_html_()

    found = _Tags(html)
    assert "script" not in found.seen
    assert f"z{EVIL}" in found.words


def test_an_estimate_is_a_table_in_a_notebook() -> None:
    html = rk.ctr(LOGGED, SHOWN, "ips")._repr_html_()

    found = _Tags(html)
    assert found.open == []
    assert "ips 1.0000" in found.words  # (1 / 0.5 + 0 / 1) / 2
    assert " 1.8 " in found.words  # (2 + 1)^2 / (4 + 1)


def test_an_estimate_escapes_its_words() -> None:
    bounds = rk.Interval(0.0, 1.0)
    made = rk.Estimate(
        0.5, bounds, 2, 1, 1.0, 1.0, 0, EVIL, warnings=(EVIL,), notes=(EVIL,)
    )

    found = _Tags(made._repr_html_())
    assert "script" not in found.seen
    assert found.words.count(EVIL) == 3


def test_an_undefined_estimate_says_so() -> None:
    other = pl.DataFrame({"user_id": [1, 2], "item_id": ["z", "z"]})
    html = rk.ctr(LOGGED, other, "snips")._repr_html_()

    assert "undefined" in html
    assert "nan" not in html


def test_dir_shows_public_names_only() -> None:
    assert set(dir(rk)) == {*rk.__all__, "__version__"}


CLICKS = pl.DataFrame(
    {
        "impression_id": [1, 1, 2, 2],
        "user_id": [7, 7, 8, 8],
        "position": [1, 2, 1, 2],
        "click": [0, 1, 1, 0],
    }
)
HOSTILE = "<b onclick=x>\x1b[1m"
SMALL: dict[str, tuple[Callable[[], Any], list[list[str]]]] = {
    "SimilarityMatrix": (
        lambda: rk.similarity_matrix(
            {HOSTILE: RUN, "y": {"q1": ["b", "x"], "q2": ["c", "x"]}}, "Jaccard@2"
        ),
        # Of q1, one of three items is in both; of q2, both are.
        [["", "1.0000", "0.6667"], ["y", "0.6667", "1.0000"]],
    ),
    "Moved": (
        lambda: rk.compare(
            QRELS, {"old": RUN, HOSTILE: {"q1": ["a"], "q2": ["c"]}}, "RR", keep=1
        ).moved("RR", "old", HOSTILE),
        [["q1", "0.5000", "1.0000", "+0.5000", "1 b (0)", "1 a (1)"]],
    ),
    "Rate": (
        lambda: rk.online.click_through_rate(clicks=1, impressions=4),
        [["", "0.2500", "", "4"]],
    ),
    "ClickMetrics": (
        lambda: rk.online.click_metrics(CLICKS),
        # One user clicks and one does not: the interval is all that there can be.
        [
            ["1", "2", "1", "0.5000", "0.0000 to 1.0000"],
            ["2", "2", "1", "0.5000", "0.0000 to 1.0000"],
        ],
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_smaller_results_are_tables_in_a_notebook(name: str) -> None:
    make, wanted = SMALL[name]

    text = make()._repr_html_()

    document = Parsed(text)
    rows = next(iter(document.tables.values()))[1:]
    for row, cells in zip(rows, wanted, strict=True):
        for seen, cell in zip(row, cells, strict=True):
            assert not cell or seen == cell
    assert "b" not in {tag for tag, _ in document.elements}
    assert "\x1b" not in text


def test_clicks_in_a_notebook_say_how_many_positions_are_not_shown() -> None:
    log = pl.DataFrame(
        {"impression_id": 1, "position": range(1, 151), "click": 0, "user_id": 1}
    )

    text = rk.online.click_metrics(log, confidence=0.9)._repr_html_()

    (rows,) = Parsed(text).tables.values()
    assert rows[0][-1] == "90 % interval"
    assert [row[0] for row in rows[1:]] == [str(n) for n in range(1, 101)]
    assert "50 more rows" in text


def test_clicks_of_a_single_variant_are_those_of_all_rows() -> None:
    log = CLICKS.with_columns(variant=pl.Series(["a", "a", None, None]))
    clicks = rk.online.click_metrics(log)
    assert clicks.by_variant is not None

    (rows,) = Parsed(clicks._repr_html_()).tables.values()

    assert [row[:4] for row in rows] == [
        ["position", "impressions", "clicks", "click rate"],
        ["1", "2", "1", "0.5000"], ["2", "2", "1", "0.5000"],
    ]  # fmt: skip
