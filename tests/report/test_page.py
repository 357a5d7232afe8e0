"""The report of a comparison: one file, with the numbers of the result."""

from __future__ import annotations

import hashlib
import html
import json
import platform
import re
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._report import explorer, of_comparison, page, specs
from rankine._report.explorer import packed
from rankine._report.markup import Markup, isolated, json_in_script, tag
from rankine._report.of_comparison import page_of
from rankine._report.of_evaluation import page_of as page_of_run
from rankine.data import QRELS, RUNS
from rankine.errors import DataError, ParameterError
from tests.report.pages import (
    HOSTILE,
    HOSTILE_SYSTEMS,
    Parsed,
    judged_by,
    unpacked,
)

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

ASSETS = Path(page.__file__).parent / "assets"


@pytest.fixture(scope="module")
def demo() -> rk.Comparison:
    runs = {path.stem: path for path in RUNS}
    return rk.compare(QRELS, runs, ["nDCG@10", "AP", "RR@10"], baseline="keyword")


@pytest.fixture
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out charts, as without the extra."""
    monkeypatch.setattr(page, "_converter", lambda: None)


def parsed(comparison: rk.Comparison, **options: Any) -> Parsed:
    return Parsed(page_of(comparison, **options).text())


def test_texts_and_attributes_are_escaped() -> None:
    assert tag("a", "<b>", Markup("<i></i>"), title='"&') == (
        '<a title="&quot;&amp;">&lt;b&gt;<i></i></a>'
    )


@given(
    st.lists(st.text("ab\u05d0\u0628<", max_size=3), max_size=4),
    st.text("ab\u05d0\u0628< "),
)
def test_isolated_names_change_no_word(names: list[str], text: str) -> None:
    markup = isolated(text, names)

    assert html.unescape(re.sub("</?bdi>", "", markup)) == text


@given(st.recursive(st.text(), st.lists))
def test_json_in_a_script_is_the_same_value_and_never_ends_it(value: Any) -> None:
    text = json_in_script(value)

    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")


@given(st.lists(st.floats(allow_infinity=False), max_size=600))
def test_values_are_packed_to_the_last_bit(numbers: list[float]) -> None:
    values: Floats = np.array(numbers)

    np.testing.assert_array_equal(unpacked(packed(values)), values)


def test_repeated_values_take_a_byte_each() -> None:
    values: Floats = np.tile([0.1, 0.2], 1000)

    assert sum(map(len, packed(values))) < 2 * len(values)
    np.testing.assert_array_equal(unpacked(packed(values)), values)


@pytest.mark.usefixtures("_plain")
def test_tables_show_the_numbers_of_the_result(demo: rk.Comparison) -> None:
    tables = parsed(demo).tables

    means = {row[0]: row[1:] for row in tables["Means of all systems"][1:]}
    for row in demo.table.iter_rows(named=True):
        system = f"{demo.letters[demo.systems.index(row['run'])]} {row['run']}"
        cell = means[system][demo.metrics.index(row["metric"])]
        assert cell.split("|")[2] == f"{row['mean']:.4f}"
        assert cell.endswith(f"|{row['low']:.4f} to {row['high']:.4f}")
    pairs = tables["Differences of all pairs"][1:]
    for row, shown in zip(demo.pairwise.iter_rows(named=True), pairs, strict=True):
        assert shown[:4] == [row["metric"], row["a"], row["b"], row["verdict"]]
        bounds = f"{row['low']:.4f} to {row['high']:.4f}"
        assert shown[4] == f"{row['difference']:+.4f}|{bounds}"
        assert shown[7:] == [str(row[name]) for name in ("wins", "ties", "losses")]


def written(text: str) -> str:
    (line,) = re.findall('<p class="written hint">(.*?)</p>', text)
    return re.sub("<.*?>", "", line)


@pytest.mark.usefixtures("_plain")
def test_a_page_says_when_and_with_what_it_was_written(
    demo: rk.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 20 years of 365 days, 5 leap days, 2 hours and 3 minutes after 1970.
    seconds = (20 * 365 + 5) * 86_400 + 2 * 3600 + 3 * 60
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(seconds))

    first, second = (page_of(demo).text() for _ in range(2))

    assert first == second
    assert written(first) == (
        f"Written on 1990-01-01 02:03 UTC with rankine {rk.__version__}, "
        f"Python {platform.python_version()} and polars {pl.__version__}."
    )


@pytest.mark.usefixtures("_plain")
def test_without_a_given_time_it_is_now(
    demo: rk.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    before = datetime.now(UTC).replace(second=0, microsecond=0)

    line = written(page_of(demo).text())

    stamp = line.removeprefix("Written on ").partition(" UTC")[0]
    when = datetime.strptime(f"{stamp} +0000", "%Y-%m-%d %H:%M %z")
    assert before <= when <= datetime.now(UTC)


@pytest.mark.parametrize("given", ["today", "1e9", "9" * 30])
def test_a_time_that_is_none_is_refused(
    demo: rk.Comparison, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)

    with pytest.raises(ParameterError, match=f"SOURCE_DATE_EPOCH must .* '{given}'"):
        page_of(demo).text()


def meanings(text: str) -> list[str]:
    (lines,) = re.findall('<ul class="meanings hint">(.*?)</ul>', text)
    return [html.unescape(re.sub("<.*?>", "", line)) for line in lines.split("</li>")]


@pytest.mark.usefixtures("_plain")
def test_a_line_says_what_a_metric_means_and_what_is_better() -> None:
    comparison = judged_by(["x", "y"], ["q"], ["a", "b"])
    first = next(iter(comparison.evaluations.values()))

    assert meanings(page_of(comparison).text())[:2] == [
        "nDCG@5: Discounted gain as a share of the best possible.",
        "RR: One over the rank of the first relevant item.",
    ]
    assert meanings(page_of(comparison).text()) == meanings(page_of_run(first).text())
    several = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["P@1", "P@2", "NDPM"])
    share, order = meanings(page_of_run(several).text())[:2]
    assert share == "P@1, P@2: Share of relevant items among the first k."
    assert order.startswith("NDPM: Normalised distance-based performance measure")
    assert order.endswith("how far from the wanted order. Lower is better.")


def test_every_chart_has_a_heading(demo: rk.Comparison) -> None:
    pytest.importorskip("vl_convert")
    pages = page_of(demo), page_of_run(next(iter(demo.evaluations.values())))

    for each in pages:
        figures = re.findall("<figure.*?</figure>", each.text(), re.DOTALL)
        titles = [re.findall("<h3.*?>(.*?)</h3>", figure) for figure in figures]
        assert all(len(title) == 1 for title in titles)
        assert len(figures) == len(each.charts) == len({*map(str, titles)}) > 2
        assert not any("title" in chart for chart in each.charts.values())


def test_what_a_chart_says_below_its_title_stands_below_its_heading() -> None:
    pytest.importorskip("vl_convert")
    spec = specs.means([{"label": "x", "value": 1, "low": None, "high": None}])
    spec["title"]["subtitle"] = ["one line", "another"]

    figure = page.Page("t", "a").figure("x", spec, "says")

    lead = "<h3>mean of each metric</h3>"
    lines = '<p class="hint">one line</p><p class="hint">another</p>'
    assert f"{lead}{lines}<div" in figure


@pytest.mark.usefixtures("_plain")
def test_data_for_the_script_are_those_of_the_result(demo: rk.Comparison) -> None:
    data = parsed(demo, texts={"q50": "how long to\n boil an egg"}).data

    assert data["systems"] == list(demo.systems)
    compared = demo._compared  # noqa: SLF001 - all values
    for metric, systems in enumerate(data["values"]):
        for system, parts in enumerate(systems):
            np.testing.assert_array_equal(
                unpacked(parts), compared.values[metric, system]
            )
    place = data["queries"].index("q50")
    assert data["queryTexts"] == {str(place): "how long to boil an egg"}
    top, missed = data["lists"]["0"][str(place)]
    moved = next(q for q in demo.moved("nDCG@10", "keyword", "vector", 50) if
                 q.query == "q50")  # fmt: skip
    assert [(r, data["items"][item], grade) for r, item, grade in top] == [
        tuple(item) for item in moved.tops[0]
    ]
    worst = {q.query: q for q in demo.evaluations["keyword"].worst("nDCG@10", 50)}
    assert [(data["items"][item], grade, r or None) for r, item, grade in missed] == [
        tuple(item) for item in worst["q50"].missed
    ]


def test_scripts_run_by_their_hashes_alone(demo: rk.Comparison) -> None:
    document = parsed(demo)

    (policy,) = (
        text for text in document.values["content"] if text.startswith("default-src")
    )
    hashes = {
        "sha256-" + b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in document.scripts[1:]
    }
    assert document.scripts[1:]
    assert set(re.findall(r"'(sha256-[^']+)'", policy)) == hashes
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert not {"src", "srcset", "onclick", "onload"} & set(document.values)
    assert all(link.startswith("#") for link in document.values["href"])


@pytest.mark.parametrize("word", ["innerHTML", "outerHTML", "eval(", "document.write"])
def test_the_script_makes_no_markup_of_texts(word: str) -> None:
    assert word not in (ASSETS / "report.js").read_text("utf-8")


def test_style_sheets_load_nothing() -> None:
    style = (ASSETS / "report.css").read_text("utf-8")

    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.slow
@pytest.mark.usefixtures("_plain")
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_leave_the_document_as_it_is(text: str) -> None:
    def structure(word: str) -> list[tuple[str, tuple[str, ...]]]:
        # An unpaired surrogate is refused in ids, but a title may have one.
        safe = word.encode("utf-8", "ignore").decode()
        names = [f"{safe}{n}" for n in range(3)]
        comparison = judged_by(names, names, names)
        told = dict.fromkeys(names, word)
        drawn = page_of(comparison, word, told, command=word)
        return Parsed(drawn.text()).elements

    assert structure(text) == structure("plain")


@pytest.mark.slow
@pytest.mark.parametrize("baseline", [True, False])
@pytest.mark.parametrize("names", HOSTILE_SYSTEMS, ids=range(len(HOSTILE_SYSTEMS)))
def test_hostile_names_are_text_in_charts(
    names: list[str], *, baseline: bool, tmp_path: Path
) -> None:
    pytest.importorskip("vl_convert")

    def structure(words: list[str]) -> list[str]:
        comparison = judged_by(words, words[:4], words[:4], baseline=baseline)
        path = tmp_path / "report.html"
        comparison.report(path)
        text = path.read_text("utf-8")
        tags = [name for name, _ in Parsed(text).elements]
        return [name for name in tags if name not in {"tspan", "title"}]

    plain = [f"name{n}" for n in range(len(names))]

    assert structure(names) == structure(plain)


@pytest.mark.usefixtures("_plain")
def test_without_the_extra_there_are_tables_and_a_sentence(demo: rk.Comparison) -> None:
    text = page_of(demo).text()

    assert "<svg" not in text
    assert "rankine-eval[report]" in text
    assert "Means of all systems" in Parsed(text).tables
    assert "Queries that moved most" in text


def test_the_demo_is_small_and_whole(demo: rk.Comparison, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    path = tmp_path / "report.html"

    demo.report(path, title="Mine", command="rankine compare", files=[QRELS])

    text = path.read_text("utf-8")
    assert len(text.encode()) < 1_500_000
    assert (
        text.count("<svg xmlns") == 3 + 1 + 2 + 1
    )  # forests, p-values, queries, curve
    assert "<title>Mine</title>" in text
    assert hashlib.sha256(QRELS.read_bytes()).hexdigest() in text
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_report_that_cannot_be_written_is_refused(
    demo: rk.Comparison, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        demo.report(tmp_path / "missing" / "report.html")


def test_a_file_that_cannot_be_hashed_is_refused(
    demo: rk.Comparison, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"none\.txt: cannot be read"):
        demo.report(tmp_path / "report.html", files=[tmp_path / "none.txt"])

    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_plain")
def test_a_comparison_that_was_saved_has_the_same_tables(demo: rk.Comparison) -> None:
    loaded = rk.load(demo.to_json())

    assert parsed(loaded).tables == parsed(demo).tables
    assert parsed(loaded).data["lists"] == parsed(demo).data["lists"]


@pytest.mark.usefixtures("_plain")
def test_values_alone_have_a_report() -> None:
    values = pl.DataFrame({"query": [1, 2, 3], "x": [0.1, 0.2, None], "y": [0, 1, 1]})

    text = page_of(rk.compare_values(values)).text()

    assert "There is no curve: a curve needs runs" in text
    assert Parsed(text).data["queries"] == ["1", "2", "3"]


@pytest.mark.usefixtures("_plain")
def test_numbers_of_whole_runs_have_a_report() -> None:
    lists = {"x": {"u": ["a"], "v": ["b"]}, "y": {"u": ["a"], "v": ["a"]}}

    document = parsed(rk.compare(None, lists, "Coverage", catalog=3))

    assert "values" not in document.data
    assert document.tables["Means of all systems"][1][1].startswith("|b |0.6667")


@pytest.mark.usefixtures("_plain")
def test_segments_and_risk_are_shown(demo: rk.Comparison) -> None:
    by = {query: "odd" if int(query[1:]) % 2 else "even" for query in demo.queries}
    runs = {path.stem: path for path in RUNS[:2]}
    comparison = rk.compare(QRELS, runs, "RR", baseline="keyword", by=by)

    tables = parsed(comparison).tables

    rows = comparison.segments.iter_rows(named=True)
    assert [row[:4] for row in tables["Means by segment"][1:]] == [
        [row["metric"], row["segment"], row["run"], str(row["n"])] for row in rows
    ]
    risk = comparison.risk("RR")["vector"]
    assert tables["Risk against the baseline"][1] == [
        "RR", "vector", f"{100 * risk.hurt:.1f} %", f"{risk.urisk:.4f}",
        f"{risk.trisk:.4f}", f"{risk.georisk:.4f}",
    ]  # fmt: skip


@pytest.mark.usefixtures("_plain")
def test_what_does_not_fit_is_left_out_and_said(
    demo: rk.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "MOST_VALUES", 3 * 20)

    text = page_of(demo).text()

    data = Parsed(text).data
    assert len(data["queries"]) == 20
    assert data["metrics"] == ["nDCG@10"]
    assert "Of 50 queries, it has the 20 that differ most." in text
    assert "It has per-query values of nDCG@10 only." in text
    compared = demo._compared.values[0]  # noqa: SLF001 - all values
    spread = np.nanmax(compared, axis=0) - np.nanmin(compared, axis=0)
    largest = {demo.queries[row] for row in np.argsort(-spread)[:20]}
    assert set(data["queries"]) == largest


@pytest.mark.usefixtures("_plain")
def test_lists_are_those_of_the_queries_that_moved_most(
    demo: rk.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "_MOST", 3)
    monkeypatch.setattr(explorer, "_FEWEST", 3)
    monkeypatch.setattr(explorer, "_LISTS", 0)

    text = page_of(demo).text()

    data = Parsed(text).data
    system = str(demo.systems.index("vector"))
    moved = demo.moved("nDCG@10", "keyword", "vector", 3)
    assert {data["queries"][int(place)] for place in data["lists"][system]} == {
        query.query for query in moved
    }
    assert "moved most in nDCG@10, up to 3 per pair." in text


@pytest.mark.usefixtures("_plain")
def test_a_query_has_the_lists_of_all_systems(
    demo: rk.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "_MOST", 5)

    data = parsed(demo).data

    moved = {
        query.query
        for name in ("vector", "hybrid")
        for query in demo.moved("nDCG@10", "keyword", name, 5)
    }
    assert len(moved) > 5
    assert len(data["lists"]) == len(demo.systems) == 3
    for lists in data["lists"].values():
        assert {data["queries"][int(place)] for place in lists} == moved


def test_captions_name_the_confidence_of_the_comparison() -> None:
    pytest.importorskip("vl_convert")
    runs = {path.stem: path for path in RUNS}
    comparison = rk.compare(QRELS, runs, "RR@10", confidence=0.9, draws=100)

    text = page_of(comparison).text()

    assert "grey means p above 0.1." in text
    assert "RR by cutoff, with 90 % bands." in text
    assert "95 %" not in re.sub("<script>.*?</script>", "", text, flags=re.DOTALL)


def test_missing_texts_are_none_and_numbers_are_texts(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    texts = {"q1": "one", "q2": None, "q3": float("nan"), "a": 7, "b": pd.NA, "c": True}
    names = ["q1", "q2", "q3"]
    comparison = judged_by(["x", "y"], names, ["a", "b", "c"])
    for given_texts in (texts, pd.Series(texts)):
        path = tmp_path / "report.html"
        for result in (comparison, comparison.evaluations["x"]):
            result.report(path, texts=given_texts)

            data = Parsed(path.read_text("utf-8")).data

            words = data["queryTexts"].items()
            queries = {data["queries"][int(place)]: text for place, text in words}
            assert queries == {"q1": "one"}
            words = data["itemTexts"].items()
            items = {data["items"][int(place)]: text for place, text in words}
            assert items == {"a": "7", "c": "True"}


def test_a_query_and_an_item_may_have_the_same_id(tmp_path: Path) -> None:
    comparison = judged_by(["x", "y"], ["1", "2"], ["1", "2", "3"])
    given: Any = {"query_texts": {1: "what"}, "item_texts": {1: "this", 3: "that"}}
    path = tmp_path / "report.html"
    for result in (comparison, comparison.evaluations["x"]):
        for texts, more in ((None, {}), ({"1": "no", "2": "two"}, {"2": "two"})):
            result.report(path, texts=texts, **given)

            data = Parsed(path.read_text("utf-8")).data

            named = [
                {data[names][int(place)]: text for place, text in data[words].items()}
                for names, words in (("queries", "queryTexts"), ("items", "itemTexts"))
            ]
            assert named == [{"1": "what"} | more, {"1": "this", "3": "that"} | more]


@pytest.mark.parametrize("texts", ["q1", [], [("q1", "one")], 3, np.array(["one"])])
@pytest.mark.parametrize("name", ["texts", "query_texts", "item_texts"])
def test_other_texts_are_refused(name: str, texts: Any, tmp_path: Path) -> None:
    comparison = judged_by(["x", "y"], ["q1", "q2"], ["a", "b"])

    for result in (comparison, comparison.evaluations["x"]):
        with pytest.raises(ParameterError, match=f"{name} must be a mapping from ids"):
            result.report(tmp_path / "report.html", **{name: texts})
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_plain")
def test_it_says_how_many_of_the_sentences_are_shown(
    demo: rk.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = len(demo.sentences) - len(demo.systems) + 1  # than those of the first metric
    assert more == 4
    assert f"<summary>{more} more comparisons<" in (page_of(demo).text())
    monkeypatch.setattr(of_comparison, "_PAIRS", 3)

    text = page_of(demo).text()

    says = "the first 3 are here, see cmp.sentences for the rest"
    start = f"<summary>4 more comparisons; {says}</summary>"
    assert start in text
    opened = text.partition(start)[2].partition("</details>")[0]
    assert opened.count("<li>") == 3
