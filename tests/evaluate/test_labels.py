"""Results show metrics under the names that were asked for, and find them under all."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine._report.of_comparison import page_of as comparison_page
from rankine._report.of_evaluation import page_of as evaluation_page
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

QRELS = {f"q{n}": {"a": 1, "b": 1} for n in range(6)}
LOW = {f"q{n}": ["x", "y", "a"] for n in range(6)}
HIGH = {f"q{n}": ["a", "x", "b"] for n in range(6)}
ASKED = ["MRR", "Hit@2", "map_cut.10", "nDCG@5"]
OWN = ["RR", "Success@2", "AP@10", "nDCG@5"]


def evaluated(run: Any = HIGH) -> rk.Evaluation:
    return rk.evaluate(QRELS, run, ASKED)


def compared(**options: Any) -> rk.Comparison:
    return rk.compare(QRELS, {"low": LOW, "high": HIGH}, ASKED, **options)


def copied(result: Any) -> Any:
    """Send an object to another process and back."""
    return pickle.loads(pickle.dumps(result))  # noqa: S301 - our own


def test_numbers_are_found_under_every_name() -> None:
    ev = evaluated(LOW)

    # The first relevant item is third: 1/3, and none is among the first two.
    assert list(ev.mean) == ASKED
    assert ev["MRR"] == ev["RR"] == ev["recip_rank"] == ev[rk.RR] == 1 / 3
    assert ev.mean["MRR"] == ev.mean["RR"] == ev.mean.get("recip_rank") == 1 / 3
    assert ev["Hit@2"] == ev["Success@2"] == ev["hit_rate@2"] == 0
    assert "RR" in ev.mean
    assert "RR@3" not in ev.mean
    assert ev.interval("RR") == ev.interval("MRR")
    assert [str(metric) for metric in ev.metrics] == OWN


def test_frames_and_texts_have_the_names_asked_for() -> None:
    ev = evaluated()

    assert ev.per_query.columns == ["query", *ASKED]
    for text in (str(ev), ev.to_markdown(), ev._repr_html_(), repr(ev)):
        plain = text.replace("\\", "")
        assert all(name in plain for name in ASKED)
        assert "Success" not in plain
    assert r"map\_cut.10" in ev.to_latex()
    assert ev.worst("RR", 1).metric == "MRR"
    assert evaluation_page(ev).text().count("Success@2") == 1  # how to reproduce it


def test_the_canonical_name_is_in_the_details() -> None:
    record = evaluated().to_dict()["metrics"]

    assert list(record) == ASKED
    assert [entry["metric"] for entry in record.values()] == OWN


def test_a_name_that_is_canonical_or_stands_for_several_is_not_kept() -> None:
    ev = rk.evaluate(QRELS, HIGH, ["MRR@1,2", "P.1,5", rk.AP, " ndcg "])

    assert list(ev.mean) == ["MRR@1", "MRR@2", "P@1", "P@5", "AP", "ndcg"]


def test_the_first_of_two_names_counts() -> None:
    ev = rk.evaluate(QRELS, LOW, ["MRR", "RR", "recip_rank"])

    assert ev.mean == {"MRR": 1 / 3}
    assert ev["RR"] == 1 / 3


def test_comparisons_have_the_names_asked_for() -> None:
    comparison = compared(margin={"RR": 0.1, "Hit@2": 0.2})

    assert comparison.metrics == tuple(ASKED)
    assert comparison.margins == {"MRR": 0.1, "Hit@2": 0.2}
    assert comparison.pairwise["metric"].to_list() == ASKED
    assert comparison.table["metric"].unique(maintain_order=True).to_list() == ASKED
    assert comparison.sentences[0].startswith(
        "high is better than low in MRR by 0.6667"
    )
    moved = comparison.moved("RR", "low", "high")
    assert (moved.metric, moved.n_moved) == ("MRR", 6)
    assert "Success" not in str(comparison)
    assert comparison.to_dict()["names"] == dict(zip(ASKED, OWN, strict=True))
    assert comparison_page(comparison).text().count("Success@2") == 1


def test_a_metric_with_two_margins_is_refused_under_two_names() -> None:
    with pytest.raises(ParameterError, match=r"MRR has two margins, 0\.1 and 0\.2"):
        compared(margin={"RR": 0.1, "MRR": 0.2})
    with pytest.raises(ParameterError, match="given for P@5, which is not among MRR"):
        compared(margin={"P@5": 0.1})


def test_notes_name_metrics_as_they_were_asked_for() -> None:
    qrels = QRELS | {"none": {"c": 1}}
    ev = rk.evaluate(qrels, HIGH, ["MRR", "precision(rel=2)@5"])

    noted = "7 queries without a relevant item: counted as 0 (precision(rel=2)@5)"
    assert noted in ev.notes


def test_so_do_notes_on_thresholds_and_warnings_on_tools() -> None:
    run = {f"q{n}": {"a": 1.0, "x": 1.0, "b": 0.5} for n in range(6)}
    ev = rk.evaluate(QRELS, run, ["Hit@2", "map_cut.2"], convention="jurity")
    asked = rk.evaluate(QRELS, run, ["ndcg_cut.2", "precision@1"], rel=2)

    lacks, ties = ev.warnings
    assert lacks.startswith("Jurity: Success does not exist in this tool; Hit@2 is")
    assert ties.endswith("left open; map_cut.2 may differ for 6 queries")
    said = "rel=2 does not change ndcg_cut.2: grades count as they are"
    assert any(note.startswith(said) for note in asked.notes)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rk.evaluate(None, HIGH, "MRR"), "MRR needs judgements"),
        (lambda: rk.evaluate(None, HIGH, "novelty@5"), r"novelty@5 needs the int"),
        (
            lambda: rk.compare(QRELS, {"a": LOW, "b": HIGH}, "num_rel_ret"),
            "num_rel_ret is not a mean over queries",
        ),
    ],
)
def test_messages_name_them_so(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()


def test_tools_are_reconciled_by_the_name_asked_for() -> None:
    run = {f"q{n}": {"a": 1.0, "x": 1.0, "b": 0.5} for n in range(6)}
    found = rk.reconcile(QRELS, run, "map_cut.2", conventions=["rankine", "jurity"])
    explained = found.explain("rankine", "jurity")

    assert str(found).startswith("map_cut.2\n")
    assert (
        found["jurity"]
        == rk.evaluate(QRELS, run, "AP@2", convention="jurity").mean["AP@2"]
    )
    assert found.rows[1].warnings[0].endswith("map_cut.2 may differ for 6 queries")
    assert str(explained).startswith("map_cut.2: ")
    for result in (found, explained):
        assert result.to_dict()["metric"] == "AP@2"
        assert "map_cut.2" in result._repr_html_()


@pytest.mark.parametrize("of", ["evaluation", "comparison"])
def test_saved_results_keep_them(of: str) -> None:
    wanted: Any = evaluated() if of == "evaluation" else compared()

    found = rk.load(wanted.to_json())

    assert str(found) == str(wanted)
    assert found.to_dict() == wanted.to_dict()
    if of == "evaluation":
        assert found.mean == wanted.mean
        assert found["RR"] == found["MRR"] == wanted["RR"]
        assert copied(found.mean)["recip_rank"] == wanted["RR"]
    else:
        assert found.moved("RR", "low", "high").metric == "MRR"


def test_what_was_saved_without_them_has_canonical_names() -> None:
    document = json.loads(evaluated().to_json())
    for entry in document["saved"]["metrics"]:
        del entry["label"]

    found = rk.load(json.dumps(document))

    assert list(found.mean) == OWN
    assert found["MRR"] == found["RR"]


def test_accumulators_of_other_names_are_merged() -> None:
    first, second = (
        rk.Accumulator(["MRR", "Hit@2"]),
        rk.Accumulator(["RR", "Success@2"]),
    )
    first.update({"q1": {"a": 1}}, {"q1": ["x", "a"]})
    second.update({"q2": {"a": 1}}, {"q2": ["a"]})

    first.merge(second)

    found = first.result()
    assert found.mean == {"MRR": 3 / 4, "Hit@2": 1.0}
    assert found["RR"] == 3 / 4
    assert found.per_query.columns == ["query", "MRR", "Hit@2"]


def test_gates_keep_canonical_names(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"

    made = rk.gate(QRELS, HIGH, path, {"MRR": 0.1}, metrics=["MRR"], update=True)
    again = rk.gate(QRELS, HIGH, path, {"recip_rank": 0.1})
    worse = rk.gate(QRELS, LOW, path, {"RR": 0.1})

    assert "RR" in json.loads(path.read_text())["metrics"]
    assert [verdict.metric for verdict in again.verdicts] == ["RR"]
    assert (made.updated, again.passed, worse.passed) == (True, True, False)


def test_conventions_speak_of_the_same_metric() -> None:
    ev = rk.evaluate(QRELS, LOW, ["MRR", "Hit@2"], convention="jurity")

    assert list(ev.mean) == ["MRR", "Hit@2"]
    assert ev["RR"] == 1 / 3


def test_values_from_elsewhere_have_the_name_they_had() -> None:
    table = pl.DataFrame(
        {"query": [1, 2, 3], "x": [0.1, 0.2, 0.3], "y": [0.2, 0.3, 0.5]}
    )

    comparison = rk.compare_values(table, test="t")

    assert comparison.to_dict()["names"] == {"value": "value"}


def test_a_saved_name_of_another_metric_is_not_believed() -> None:
    document = json.loads(evaluated().to_json())
    document["saved"]["metrics"][0]["label"] = "AP"

    assert list(rk.load(json.dumps(document)).mean) == ["RR", *ASKED[1:]]
