"""A result as a dict, JSON, Markdown, LaTeX, frames, HTML and text."""

from __future__ import annotations

import html
import json
import math
import pickle
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankine as rk
from rankine.errors import ParameterError
from tests.evaluate.three_queries import AP, evaluate


def test_to_dict_holds_numbers_intervals_convention_and_notes() -> None:
    ev = evaluate(["AP", "NumRet"], name="mine")

    found = ev.to_dict()

    low, high = ev.interval("AP")
    assert found["run"] == "mine"
    assert found["queries"] == 3
    assert found["metrics"]["AP"] == {
        "metric": "AP",
        "value": ev["AP"],
        "low": low,
        "high": high,
        "n": 3,
        "queries": 3,
        "without_relevant": 0,
        "undefined": 0,
    }
    assert found["metrics"]["NumRet"]["value"] == 11
    assert found["convention"]["tie"] == "id_desc"
    assert found["notes"] == list(ev.notes)


def no_constants(word: str) -> Any:
    raise AssertionError(word)


@pytest.mark.parametrize(
    "rule",
    [
        rk.Convention(empty_truth="skip"),
        rk.Convention(empty_truth="skip", score_floor=-math.inf),
        rk.Convention(gain={1: 2.5}),
        rk.Convention(overrides={"AP": {"divisor": "hits"}}),
    ],
    ids=["undefined", "infinite", "table", "overrides"],
)
def test_to_json_has_no_nan(rule: rk.Convention) -> None:
    ev = rk.evaluate({"q": {"a": 0}}, {"q": ["a"]}, ["AP", "nDCG"], convention=rule)

    found = json.loads(ev.to_json(), parse_constant=no_constants)

    assert found["metrics"]["AP"]["low"] is None
    if rule.empty_truth == "skip":
        assert found["metrics"]["AP"]["value"] is None


def test_to_json_can_be_in_one_line() -> None:
    assert "\n" not in evaluate().to_json(indent=None)
    assert json.loads(evaluate().to_json(indent=None)) == json.loads(
        evaluate().to_json()
    )


def test_to_markdown_is_a_table() -> None:
    ev = evaluate(["AP", "nDCG(gain={1: 2})@10", "NumRet"])

    lines = ev.to_markdown().splitlines()

    low, high = ev.interval("AP")
    assert lines[0] == "| metric | value | 95 % interval | queries |"
    assert lines[2] == f"| AP | {ev['AP']:.4f} | {low:.4f} to {high:.4f} | 3 |"
    assert lines[4] == "| NumRet | 11 |  | 3 |"
    assert {line.count("|") for line in lines} == {5}


def test_to_latex_escapes_what_latex_would_run() -> None:
    ev = evaluate(["AP", "P(rel=2)@5", "gm_AP"], name=r"\input{x} a_b & 50% #1 $x^2~")

    text = ev.to_latex()

    assert text.startswith("\\begin{tabular}{lrr}\n\\toprule\n")
    assert (
        r"\textbackslash{}input\{x\} a\_b \& 50\% \#1 \$x\textasciicircum{}2"
        r"\textasciitilde{} & value" in text
    )
    assert r"gm\_AP & " in text
    assert rf"AP & {ev['AP']:.4f} & " in text


def test_undefined_is_written_as_a_word() -> None:
    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AUC"])

    for text in (ev.to_markdown(), ev.to_latex(), str(ev), ev._repr_html_()):
        assert "undefined" in text
        assert "nan" not in text


@pytest.mark.parametrize(
    ("library", "kind"),
    [("polars", pl.DataFrame), ("pandas", pd.DataFrame), ("arrow", pa.Table)],
)
def test_to_frame(library: str, kind: type[Any]) -> None:
    ev = rk.evaluate(
        {"q1": {"a": 1}, "q2": {"a": 0}},
        {"q1": ["a"], "q2": ["a"]},
        ["AP"],
        convention=rk.Convention(empty_truth="skip"),
    )

    frame: Any = ev.to_frame(library)

    assert isinstance(frame, kind)
    back = pl.DataFrame(frame)
    assert back.columns == ["query", "AP"]
    assert back["query"].to_list() == ["q1", "q2"]
    assert back["AP"].fill_nan(None).to_list() == [1, None]


def test_to_frame_of_another_library_is_refused() -> None:
    with pytest.raises(ParameterError, match="polars, pandas, arrow, got 'dask'"):
        evaluate().to_frame("dask")


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    "payload",
    [
        "<script>alert(1)</script>",
        '" onmouseover="alert(1)',
        "' onmouseover='alert(1)",
        "</title></table><img src=x onerror=alert(1)>",
        "<!-- ", "]]>", "&lt;script&gt;", "<a href='javascript:x'>",
    ],
)  # fmt: skip
def test_html_has_only_our_own_elements(payload: str) -> None:
    ev = rk.evaluate(
        {"q": {"a": 1}, payload: {"a": 1}}, {"q": ["a"]}, ["AP"], name=payload
    )
    reader = Elements()

    reader.feed(ev._repr_html_())

    assert reader.tags <= {
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
    }
    assert reader.attributes <= {"style"}
    assert reader.text.count(payload) == 2


def test_text_shows_numbers_intervals_and_notes() -> None:
    ev = evaluate(["AP", "NumRet"], name="mine")

    text = str(ev)

    low, high = ev.interval("AP")
    assert "mine" in text
    assert f"{ev['AP']:.4f}" in text
    assert f"{low:.4f} to {high:.4f}" in text
    assert "3 queries." in text
    assert all(note in text for note in ev.notes)
    assert "\x1b" not in text


@pytest.mark.parametrize("name", ["a\x1b[31mb", "a\rb", "a\u202eb", "a\x9b31mb"])
def test_text_escapes_control_marks(name: str) -> None:
    ev = rk.evaluate({"q": {"a": 1}, name: {"a": 1}}, {"q": ["a"]}, ["AP"], name=name)

    for text in (str(ev), ev._repr_html_(), ev.to_latex()):
        assert name not in text
        assert name[1] not in text


def test_text_does_not_read_markup() -> None:
    ev = evaluate(["AP"], name="[red]mine[/red]")

    assert "[red]mine[/red]" in str(ev)


def test_repr_is_one_line() -> None:
    assert repr(evaluate(["AP"])) == f"Evaluation(AP={sum(AP) / 3:.4f})"


def test_an_evaluation_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(evaluate(["AP", "nDCG@5"])))  # noqa: S301

    assert again.mean == evaluate(["AP", "nDCG@5"]).mean


JUDGED = {f"u{number}": {"a": 1, "b": 0} for number in range(4)}
LISTS = {f"u{number}": ["x", "a", "b"] for number in range(9)}
TRAIN = {user: ["x", "y"] for user in LISTS}


def test_metrics_of_different_queries_say_of_how_many() -> None:
    metrics = ["nDCG@2", "P@2", "Novelty@2"]
    ev = rk.evaluate(JUDGED, LISTS, metrics, train=TRAIN, items={"a": "t"})
    numbers = "4 users (nDCG@2, P@2), 9 (Novelty@2)"

    assert f"{numbers}. Below each" in str(ev)
    assert numbers in ev._repr_html_()
    assert rf"\multicolumn{{3}}{{l}}{{{numbers}}} \\" in ev.to_latex()
    assert [
        line.split("|")[-2].strip() for line in ev.to_markdown().split("\n")[2:]
    ] == [
        "4",
        "4",
        "9",
    ]
    record = ev.to_dict()["metrics"]
    assert [record[label]["queries"] for label in record] == [4, 4, 9]
    extra = "5 users of the run without judgements (u4, u5, u6, ...): not evaluated"
    assert f"{extra} for nDCG@2, P@2" in ev.notes


def test_a_comparison_says_it_too() -> None:
    runs = {"one": LISTS, "two": {user: LISTS[user][::-1] for user in LISTS}}
    cmp = rk.compare(JUDGED, runs, ["nDCG@2", "Novelty@2"], train=TRAIN)
    numbers = "4 users (nDCG@2), 9 (Novelty@2)"

    assert f"\n{numbers}\n" in str(cmp)
    assert cmp.to_markdown().endswith(f"; {numbers}")
    assert rf"\multicolumn{{3}}{{l}}{{{numbers}}} \\" in cmp.to_latex()
    assert numbers in cmp._repr_html_()


def test_metrics_of_the_same_queries_do_not() -> None:
    ev = rk.evaluate(JUDGED, LISTS, ["nDCG@2", "P@2"])

    assert "\n4 queries. Below each" in str(ev)
    assert "queries (" not in ev._repr_html_()
    assert "multicolumn" not in ev.to_latex()
    assert any(note.endswith(": not evaluated") for note in ev.notes)


def test_a_query_without_a_value_is_not_one_of_the_mean() -> None:
    qrels = {"u0": {"a": 1}, "u1": {"a": 1, "x": 0}}
    ev = rk.evaluate(qrels, LISTS, ["AUC(universe='matched')", "AP"])

    assert "1 query (AUC(universe='matched')), 2 (AP). Below" in str(ev)
    record = ev.to_dict()["metrics"]["AUC(universe='matched')"]
    assert (record["n"], record["queries"], record["undefined"]) == (1, 2, 1)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"convention": "ranx"}, "ranx"),
        ({"convention": rk.conventions()["ranx"]}, "ranx"),
        ({"convention": "ranx", "rel": 2}, "ranx with threshold=2"),
        (
            {"convention": rk.Convention(unjudged="removed")},
            "rankine with unjudged='removed'",
        ),
        (
            {"convention": rk.Convention(overrides={"AP": {"decimals": 2}})},
            "rankine with AP(decimals=2)",
        ),
        ({"ties": "average"}, "rankine with tie='average'"),
    ],
)
def test_another_convention_is_named(options: dict[str, Any], name: str) -> None:
    ev = rk.evaluate(JUDGED, LISTS, "AP@2", **options)
    cmp = rk.compare(JUDGED, {"a": LISTS, "b": LISTS}, "AP@2", **options)
    said = f"Convention: {name}"

    for result in (ev, cmp):
        assert f"\n{said}\n" in f"{result}\n"
        plain = result.to_markdown().replace("\\", "")
        assert plain.endswith(f"|\n\n{said}")
        latex = result.to_latex().replace("\\_", "_").splitlines()
        assert latex[-2].endswith(rf"{{l}}{{{said}}} \\")
        assert said in html.unescape(result._repr_html_())


@pytest.mark.parametrize("convention", ["rankine", rk.Convention()])
def test_the_usual_convention_is_not_named(convention: Any) -> None:
    ev = rk.evaluate(JUDGED, LISTS, "AP@2", convention=convention)
    cmp = rk.compare(JUDGED, {"a": LISTS, "b": LISTS}, "AP@2", convention=convention)

    for result in (ev, cmp):
        for text in (result, result.to_markdown(), result.to_latex()):
            assert "onvention" not in str(text)


@pytest.mark.parametrize("whose", ["qrels", "both", "run"])
def test_the_queries_are_those_of_any_metric(whose: str, tmp_path: Path) -> None:
    qrels: Any = {query: {"x": 1} for query in ("c", "a", "b")}
    run = {query: ["x"] for query in ("z", "b", "y", "c")}
    convention = rk.Convention(overrides={"P": {"queries": whose}})
    expected = ["c", "a", "b", *(["z", "y"] if whose == "run" else [])]

    for metrics in (["P@1", "RR"], ["RR", "P@1"]):
        ev = rk.evaluate(qrels, run, metrics, convention=convention)

        assert ev.queries == ev.per_query["query"].to_list() == expected
        assert ev.to_dict()["queries"] == len(expected)
        ev.save(tmp_path / "saved.json")
        assert rk.load(tmp_path / "saved.json").queries == expected
