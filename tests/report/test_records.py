"""Every public result has a table in notebooks, whatever its texts are."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine import stats
from rankine._report.records import frame_html, record_html
from rankine._report.tables import html_table
from tests.report.pages import HOSTILE, Parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DOORS = ("rankine", "rankine.online", "rankine.stats", "rankine.spark")
NO_RESULTS = {
    "rankine.Accumulator", "rankine.Metric", "rankine.online.Accumulator",
    "rankine.online.Query",
}  # fmt: skip
"""What is given, or is not complete: it has no numbers to show."""
EVIL = "</td><script>x</script><b onclick=x>&\x1b[1m\u202e"
QRELS = {f"q{place}": {"a": 1, "b": 0} for place in range(12)}
BEFORE = {query: ["b", "a"] for query in QRELS}
AFTER = {query: ["a", "b"] if query > "q3" else ["b", "a"] for query in QRELS}
USERS = pl.DataFrame(
    {
        "id": range(40),
        "arm": ["old", EVIL] * 20,
        "spent": np.random.default_rng(0).gamma(1, 10, 40),
    }
)
SHOWN = pl.DataFrame(
    {
        "impression_id": [1, 1, 2, 2, 3, 3],
        "user_id": [7, 7, 8, 8, 9, 9],
        "query_id": ["q", "q", "q", "q", EVIL, EVIL],
        "item_id": ["x", EVIL, "x", EVIL, "x", "y"],
        "position": [1, 2, 1, 2, 1, 2],
        "click": [0, 1, 1, 0, 1, 0],
        "variant": ["a", "a", EVIL, EVIL, "a", "a"],
    }
)
LOGGED = pl.DataFrame(
    {"user_id": [1, 2], "item_id": ["a", "b"], "click": [1, 0], "propensity": [0.5, 1]}
)
Y, P = [0, 1, 1, 0], [0.1, 0.8, 0.6, 0.4]


def _compared() -> rk.Comparison:
    return rk.compare(
        QRELS, {"old": BEFORE, EVIL: AFTER}, "RR", baseline="old", keep=2, draws=50
    )


def _gate(folder: Path) -> rk.Gate:
    path = folder / "baseline.json"
    rk.gate(QRELS, BEFORE, path, metrics="RR", update=True)
    return rk.gate(QRELS, AFTER, path, 0.1)


def _interleaved() -> pl.DataFrame:
    drawn = [rk.online.interleave(["a", "b"], ["b", "a"], seed=n) for n in range(6)]
    return pl.concat(each.log(n, n % 3, clicked=["a"]) for n, each in enumerate(drawn))


def _experiment(folder: Path) -> Any:
    (folder / "qrels.txt").write_text("q1 0 a 1\n")
    (folder / "a.run").write_text("q1 Q0 a 1 1 x\n")
    (folder / "experiment.yaml").write_text(
        "qrels: qrels.txt\nruns: {first: a.run}\nmetrics: [RR]\noutput: out\n"
    )
    return rk.run_experiment(folder / "experiment.yaml")


def _test() -> Any:
    return rk.online.ab_test(
        USERS, metrics={"spent": "spent"}, unit="id", variant="arm", control="old"
    )


RESULTS: dict[str, Callable[[Path], Any]] = {
    "rankine.Accumulated": lambda _: (
        rk.Accumulator("RR").update(QRELS, BEFORE).result()
    ),
    "rankine.CalibrationError": lambda _: rk.expected_calibration_error(Y, P),
    "rankine.Check": lambda _: rk.check(QRELS, {EVIL: ["a"], **BEFORE}),
    "rankine.Comparison": lambda _: _compared(),
    "rankine.Convention": lambda _: rk.Convention(),
    "rankine.Debiased": lambda _: rk.debias({EVIL: {EVIL: 1}, "q": {"x": 1}}),
    "rankine.Estimate": lambda _: rk.ctr(LOGGED, LOGGED, "ips"),
    "rankine.Estimates": lambda _: rk.ctr(LOGGED, LOGGED, ["ips", "snips"]),
    "rankine.Evaluation": lambda _: rk.evaluate(QRELS, BEFORE, "RR", name=EVIL),
    "rankine.ExperimentResult": _experiment,
    "rankine.Explanation": lambda _: (
        rk.reconcile(QRELS, BEFORE, "AP").explain("ranx", "rankine")
    ),
    "rankine.FallenQuery": lambda _: rk.FallenQuery(EVIL, 1.0, 0.5),
    "rankine.Gate": _gate,
    "rankine.GateVerdict": lambda folder: _gate(folder).verdicts[0],
    "rankine.Interval": lambda _: rk.evaluate(QRELS, BEFORE, "RR").interval("RR"),
    "rankine.Loss": lambda _: rk.brier(Y, P),
    "rankine.MacroComparison": lambda _: rk.compare_many(
        {EVIL: (QRELS, {"old": BEFORE, EVIL: AFTER})}, "RR", draws=50
    ),
    "rankine.MacroEvaluation": lambda _: rk.evaluate_many({EVIL: (QRELS, AFTER)}, "RR"),
    "rankine.MissedItem": lambda _: rk.MissedItem(EVIL, 1.0, None),
    "rankine.Moved": lambda _: _compared().moved("RR", "old", EVIL),
    "rankine.MovedQuery": lambda _: _compared().moved("RR", "old", EVIL)[0],
    "rankine.PoolStudy": lambda _: rk.pool_study(
        QRELS, {EVIL: BEFORE, "b": AFTER}, ["RR", "P@1"], depths=[1]
    ),
    "rankine.Qrels": lambda _: rk.read_qrels({EVIL: {EVIL: 1}}),
    "rankine.QueriesNeeded": lambda _: rk.queries_needed(_compared(), difference=0.1)[
        0
    ],
    "rankine.RBO": lambda _: rk.rbo(["a"], ["a"], p=0.9),
    "rankine.RecallAtPrecision": lambda _: (
        rk.evaluate(QRELS, BEFORE, "RR").recall_at_precision(0.5)
    ),
    "rankine.Reconciliation": lambda _: rk.reconcile(QRELS, BEFORE, "AP"),
    "rankine.Risk": lambda _: _compared().risk("RR")[EVIL],
    "rankine.Run": lambda _: rk.read_run({EVIL: {EVIL: 1.5}}),
    "rankine.Similarity": lambda _: rk.similarity(BEFORE, AFTER, "Jaccard@2"),
    "rankine.SimilarityMatrix": lambda _: (
        rk.similarity_matrix({EVIL: BEFORE, "y": AFTER}, "Jaccard@2")
    ),
    "rankine.TopItem": lambda _: rk.TopItem(1, EVIL, None),
    "rankine.TunedFusion": lambda _: (
        rk.tune_fusion({"x": BEFORE, EVIL: AFTER}, QRELS, "RR", norm="rank")
    ),
    "rankine.Worst": lambda _: rk.evaluate(QRELS, BEFORE, "RR", keep=2).worst("RR", 2),
    "rankine.WorstQuery": lambda _: (
        rk.evaluate({EVIL: {EVIL: 1}}, {EVIL: ["x"]}, "RR", keep=2).worst("RR", 1)[0]
    ),
    "rankine.online.ABTest": lambda _: _test(),
    "rankine.online.Calibration": lambda _: (
        rk.online.calibrate(USERS, {EVIL: "spent"}, 50, unit="id")
    ),
    "rankine.online.ClickJudgements": lambda _: rk.online.judgments_from_clicks(SHOWN),
    "rankine.online.ClickMetrics": lambda _: rk.online.click_metrics(SHOWN),
    "rankine.online.Funnel": lambda _: (
        rk.online.funnel(
            pl.DataFrame(
                {
                    "user_id": [1, 1], "timestamp": [1, 2], "event": [EVIL, "click"],
                    "variant": [EVIL, EVIL],
                }
            ),
            [EVIL, "click"],
        )
    ),
    "rankine.online.Generated": lambda _: rk.online.generate(20),
    "rankine.online.Interleaved": lambda _: rk.online.interleave([EVIL], ["x", EVIL]),
    "rankine.online.Preference": lambda _: rk.online.interleaving_test(_interleaved()),
    "rankine.online.Rate": lambda _: (
        rk.online.click_through_rate(clicks=1, impressions=4)
    ),
    "rankine.online.SampleRatio": lambda _: _test().srm,
    "rankine.online.Summary": lambda _: (
        rk.online.summarize(rk.online.generate(20).events, "ctr")
    ),
    "rankine.online.UbiLog": lambda _: rk.online.from_ubi(
        pl.DataFrame(
            {
                "action_name": ["click"], "query_id": ["1"], "client_id": [EVIL],
                "timestamp": ["2026-03-01T00:00:00Z"], "object_id": ["x"],
            }
        ),
        pl.DataFrame(
            {
                "query_id": ["1"], "client_id": [EVIL], "user_query": [EVIL],
                "timestamp": ["2026-03-01T00:00:00Z"],
                "query_response_hit_ids": [["x", EVIL]],
            }
        ),
    ),
    "rankine.online.UsersNeeded": lambda _: (
        rk.online.users_needed(
            USERS, effect="10%", metrics={EVIL: "spent"}, unit="id"
        )[0]
    ),
    "rankine.stats.Outcome": lambda _: stats.t([0.1, 0.2, 0.4], [0.3, 0.2, 0.5]),
    "rankine.stats.Outcomes": lambda _: (
        stats.tukey_hsd([0.1, 0.3, 0.2], [0.3, 0.2, 0.5], [0.5, 0.1, 0.9])
    ),
}  # fmt: skip
"""A result of each type, with hostile texts wherever it takes texts."""
BY_SPARK = {"rankine.spark.SparkEvaluation"}
"""Which need a session, and have the method of an evaluation."""


def public_types() -> Iterator[tuple[str, type]]:
    for door in DOORS:
        module = import_module(door)
        for name in module.__all__:
            kind = getattr(module, name)
            if inspect.isclass(kind):
                yield f"{door}.{name}", kind


def test_every_public_type_is_a_result_or_said_not_to_be() -> None:
    names = {name for name, _ in public_types()}

    assert names == {*RESULTS, *BY_SPARK, *NO_RESULTS}


@pytest.mark.parametrize(
    ("name", "kind"), [each for each in public_types() if each[0] not in NO_RESULTS]
)
def test_every_result_has_a_table(name: str, kind: type) -> None:
    assert hasattr(kind, "_repr_html_"), name


@pytest.mark.parametrize("name", RESULTS)
def test_it_is_whole_and_no_text_becomes_markup(name: str, tmp_path: Path) -> None:
    result = RESULTS[name](tmp_path)
    assert type(result).__name__ == name.rpartition(".")[2]

    text = result._repr_html_()

    document = Parsed(text)
    assert document.open == []
    assert {tag for tag, _ in document.elements} <= {
        "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "br", "ul", "li",
    }  # fmt: skip
    assert {name for _, names in document.elements for name in names} <= {"style"}
    assert document.tables
    assert "\x1b" not in text
    assert "\u202e" not in text
    if name != "rankine.Convention":  # which has it for a choice
        assert ">nan<" not in text


def test_hostile_texts_stay_texts() -> None:
    for evil in HOSTILE[:-2]:
        text = rk.TopItem(1, evil, None)._repr_html_()

        plain = rk.TopItem(1, "x", None)._repr_html_()
        assert Parsed(text).elements == Parsed(plain).elements


def cells(result: Any) -> list[list[str]]:
    return next(iter(Parsed(result._repr_html_()).tables.values()))


def test_a_record_has_a_row_per_name() -> None:
    risk = rk.Risk(0.25, float("nan"), 0.5, 0.125)

    assert cells(risk) == [
        ["", "Risk"], ["urisk", "0.2500"], ["trisk", "undefined"],
        ["georisk", "0.5000"], ["hurt", "0.1250"],
    ]  # fmt: skip


def test_a_sample_ratio_has_what_was_expected() -> None:
    ratio = rk.online.SampleRatio({"A": 900, "B": 1100}, {"A": 0.5, "B": 0.5}, 1e-5, 0)

    rows = cells(ratio)

    assert rows == [
        ["variant", "users", "expected"],
        ["A", "900", "1,000"], ["B", "1,100", "1,000"],
    ]  # fmt: skip
    assert "no result can be trusted" in ratio._repr_html_()


def test_a_gate_says_what_moved(tmp_path: Path) -> None:
    gate = _gate(tmp_path)

    head, row = cells(gate)

    # The 6 queries after q3, and not q10 and q11, which are before it, move by half.
    assert row[0] == "RR"
    assert row[2:4] == [f"{1 / 2:.4f}", f"{(6 * 1 + 6 * 0.5) / 12:.4f}"]
    assert row[4].startswith(f"+{3 / 12:.4f}")
    assert row[5] == "6 of 12"
    assert len(head) == len(row)
    assert gate.sentences[0] in gate._repr_html_().replace("&#x27;", "'")


def test_an_explanation_without_steps_says_so() -> None:
    qrels = {"q1": {"a": 1}, "q2": {}}
    found = rk.reconcile(qrels | {"q2": {"b": 0}}, {"q1": ["a"], "q2": ["b"]}, "AP")
    first, second = (row.convention for row in found.rows[:2])
    explanation = found.explain(first, second)

    rows = cells(explanation)

    assert explanation.steps == ()
    assert rows[1:] == [["no choice changes the number", "0.5000", "0.5000", "+0.0000"]]


def test_a_query_that_moved_has_both_lists_beside_each_other() -> None:
    tops = ((rk.TopItem(1, "b", 0.0),), (rk.TopItem(1, "a", 2.0),))

    rows = cells(rk.MovedQuery("q1", 0.5, (0.5, 1.0), tops))

    assert rows == [
        ["", "first system", "second system"], ["value", "0.5000", "1.0000"],
        ["first items", "1 b (0)", "1 a (2)"],
    ]  # fmt: skip


def test_times_have_seconds_and_numbers_are_not_wrapped() -> None:
    time = datetime(2026, 3, 1, 1, 57, 51, 756762, UTC)

    text = frame_html(pl.DataFrame({"time": [time], "n": [1200]}))

    style = "<td style='text-align:right;white-space:nowrap'>"
    assert f"{style}2026-03-01 01:57:51 UTC</td>{style}1,200</td>" in text


def test_entries_and_a_few_words_are_not_broken_in_a_narrow_notebook() -> None:
    words = "a sentence that is too long for one line of a narrow notebook"
    entries = ["1 recipe113 (not judged)", "2 recipe042 (3)"]

    text = html_table(["verdict", "", ""], [("cannot tell", entries, words)], "lll")

    whole = "style='text-align:left;white-space:nowrap'"
    assert f"<th {whole}>cannot tell</th>" in text
    assert f"<td {whole}>{'<br>'.join(entries)}</td>" in text
    assert f"<td style='text-align:left'>{words}</td>" in text


def test_only_the_first_rows_of_a_frame_are_there() -> None:
    text = frame_html(pl.DataFrame({"x": range(25)}))

    (rows,) = Parsed(text).tables.values()
    assert [row[0] for row in rows[1:]] == [str(n) for n in range(20)]
    assert "5 more rows" in text


class Nested(NamedTuple):
    x: Any


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"a": [1, 2]}, "a: 1, 2"),
        ({"a": {"b": 1, "c": None}, "d": True}, "a: b: 1, c: -|d: yes"),
        ([[1, 2], [3]], "1, 2|3"),
        ({"a": [(1, 2), (3, 4)]}, "a: 1, 2; 3, 4"),
        (Nested([0.5, 1.0]), "x 0.5000, 1.0000"),
    ],
    ids=str,
)
def test_values_within_values_are_on_one_line(value: Any, wanted: str) -> None:
    text = record_html(Nested(value)).replace("<br>", "|")

    assert next(iter(Parsed(text).tables.values()))[1:] == [["x", wanted]]


def test_false_alarms_say_how_many_are_expected() -> None:
    found = rk.online.calibrate(
        USERS, {"spent": "spent"}, 50, unit="id", confidence=0.9
    )

    assert "False alarms (expected: 10.0 %)" in found._repr_html_()
