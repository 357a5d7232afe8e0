"""The face of ranx: its calls, with numbers worked by hand."""

from __future__ import annotations

import gzip
import json
import math
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import rankine as rk
from rankine.compat.ranx import (
    Qrels,
    Run,
    compare,
    evaluate,
    fuse,
    normalize,
    optimize_fusion,
    plot,
)
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

JUDGED = {"q2": {"c": 1}, "q1": {"a": 3, "b": 1}}
FOUND = {"q1": {"x": 0.9, "a": 0.8, "b": 0.7}, "q2": {"c": 0.5, "y": 0.6}}
N = 8


def several(*ranks: int) -> list[Run]:
    """Return runs that have the only relevant item of each query at a rank."""
    return [
        Run(
            {f"q{n}": {"a": -rank} | {f"x{m}": -m for m in range(1, rank)}
             for n in range(N)},
            f"at {rank}",
        )
        for rank in ranks
    ]  # fmt: skip


ONE_EACH = Qrels({f"q{n}": {"a": 1} for n in range(N)})


# Evaluation


def test_one_metric_is_a_number_and_several_are_a_dict() -> None:
    qrels, run = Qrels(JUDGED), Run(FOUND)

    assert evaluate(qrels, run, "mrr") == (1 / 2 + 1 / 2) / 2
    assert evaluate(qrels, run, ["mrr", "precision@2"]) == {
        "mrr": 1 / 2,
        "precision@2": (1 / 2 + 1 / 2) / 2,
    }


def test_values_come_in_the_order_of_the_queries() -> None:
    values = evaluate(Qrels(JUDGED), Run(FOUND), "map", return_mean=False)

    assert values.tolist() == [(1 / 2 + 2 / 3) / 2, 1 / 2]  # q1, then q2


def test_dicts_are_evaluated_by_their_ids_in_the_order_of_the_judgements() -> None:
    values = evaluate(JUDGED, FOUND, "map", return_mean=False)

    assert values.tolist() == [1 / 2, (1 / 2 + 2 / 3) / 2]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ndcg@2-l2", (3 / math.log2(3)) / 3),  # grade 1 has no gain
        ("dcg_burges@2", 7 / math.log2(3)),
        ("rbp.5", (1 - 0.5) * (3 * 0.5 + 1 * 0.5**2)),
        ("rbp@5", (1 - 0.5) * (3 * 0.5 + 1 * 0.5**2)),
        ("hits@2", 1),
        ("f1@2", 2 * (1 / 2) * (1 / 2) / (1 / 2 + 1 / 2)),
    ],
)
def test_names_of_metrics(name: str, value: float) -> None:
    found = evaluate({"q1": JUDGED["q1"]}, {"q1": FOUND["q1"]}, name)

    assert found == pytest.approx(value, abs=1e-12)


def test_results_are_saved_in_the_run() -> None:
    run = Run(FOUND)
    found = evaluate(Qrels(JUDGED), run, ["mrr", "hits@1"], return_std=True)

    assert found["mrr"] == {"mean": 1 / 2, "std": 0}
    assert run.mean_scores == {"mrr": 1 / 2, "hits@1": 0}
    assert run.std_scores == {"mrr": 0, "hits@1": 0}
    assert json.loads(json.dumps(run.scores))["mrr"] == {"q1": 1 / 2, "q2": 1 / 2}


def test_results_are_not_saved_if_not_wanted() -> None:
    run = Run(FOUND)
    evaluate(Qrels(JUDGED), run, "mrr", save_results_in_run=False)

    assert run.mean_scores == {}
    assert run.scores == {}


def test_other_queries_are_refused() -> None:
    run = Run({"q1": FOUND["q1"], "q3": {"c": 1}}, "bm25")

    with pytest.raises(DataError, match=r"bm25 lacks 1 query of qrels \('q2'\); give"):
        evaluate(Qrels(JUDGED), run, "mrr")
    assert evaluate(Qrels(JUDGED), run, "mrr", make_comparable=True) == 1 / 4


def test_no_metrics_are_refused() -> None:
    with pytest.raises(ParameterError, match="metrics is empty"):
        evaluate(Qrels(JUDGED), Run(FOUND), [])


# Judgements and runs


def test_queries_and_documents_are_in_order() -> None:
    run = Run(FOUND, name="bm25")

    assert list(run.to_dict()) == run.get_query_ids() == ["q1", "q2"]
    assert list(run["q2"].items()) == [("y", 0.6), ("c", 0.5)]
    assert (run.size, len(run), run.name, set(run.keys())) == (2, 2, "bm25", {*FOUND})


def test_what_is_added_counts() -> None:
    run, qrels = Run(), Qrels()
    qrels.add("q", ["a"], [1])
    run.add_multi(["q"], [["x", "a"]], [[2, 1]])
    assert evaluate(qrels, run, "mrr") == 1 / 2

    run.add_score("q", "a", 3)
    assert evaluate(qrels, run, "mrr") == 1


def test_a_dict_that_changes_later_changes_nothing() -> None:
    given = {"q": {"a": 1.0}}
    run = Run(given)
    given["q"]["b"] = 2.0

    assert run["q"] == {"a": 1.0}


def test_relevance_level() -> None:
    qrels = Qrels({"q": {"a": 3, "b": 1}})
    qrels.set_relevance_level(2)

    assert qrels.to_dict() == {"q": {"a": 2, "b": 0}}


def test_make_comparable() -> None:
    run = Run({"q1": {"a": 1}, "q3": {"b": 1}}).make_comparable(Qrels(JUDGED))

    assert run.to_dict() == {"q1": {"a": 1}, "q2": {}}


@pytest.mark.parametrize("ending", ["json", "trec", "txt", "trec.gz", "parquet"])
def test_files(ending: str, tmp_path: Path) -> None:
    run_path, qrels_path = tmp_path / f"run.{ending}", tmp_path / f"qrels.{ending}"
    Run(FOUND, "my bm25").save(run_path)
    Qrels(JUDGED).save(qrels_path)
    run, qrels = Run.from_file(run_path), Qrels.from_file(qrels_path)

    assert run.to_dict() == Run(FOUND).to_dict()
    assert qrels.to_dict() == Qrels(JUDGED).to_dict()
    assert run.name == ("my_bm25" if "t" in ending[0] else None)
    assert evaluate(qrels, run, "mrr") == 1 / 2


def test_a_kind_counts_more_than_the_ending(tmp_path: Path) -> None:
    path = tmp_path / "run.of.mine"
    path.write_bytes(gzip.compress(b"q Q0 a 1 0.5 mine\n"))

    assert Run.from_file(path, kind="gz").name == "mine"
    with pytest.raises(ParameterError, match=r"kind must be one of .*, got 'mine'"):
        Run.from_file(path)


def test_frames() -> None:
    frame = pd.DataFrame({"u": ["q"], "i": ["a"], "s": [2]})
    qrels = Qrels.from_df(frame, "u", "i", "s")

    assert qrels.to_dict() == {"q": {"a": 2}}
    assert qrels.to_dataframe().to_dict("list") == {
        "q_id": ["q"], "doc_id": ["a"], "score": [2],
    }  # fmt: skip


def test_rankine_reads_them() -> None:
    assert rk.evaluate(Qrels(JUDGED), Run(FOUND), "RR")["RR"] == 1 / 2


# Comparison


def test_a_report() -> None:
    low, high = several(2, 1)
    report = compare(ONE_EACH, [low, high], ["mrr", "hits@2"], "fisher", 1000)

    assert report.model_names == ["at 2", "at 1"]
    assert report.results["at 2"] == {"mrr": 1 / 2, "hits@2": 1}
    # Of all flips of signs, this one and its opposite are as extreme.
    p = {"p_value": 2 / 2**N, "significant": True}
    assert report.comparisons["at 2", "at 1"]["mrr"] == p
    assert report.comparisons[{"at 1", "at 2"}]["mrr"] == p
    assert report.win_tie_loss["at 1", "at 2"]["mrr"] == {"W": N, "T": 0, "L": 0}
    assert report.win_tie_loss["at 1", "at 2"]["hits@2"] == {"W": 0, "T": N, "L": 0}
    assert str(report).splitlines() == [
        "#    Model    MRR       Hits@2",
        "---  -------  ------  --------",
        "a    at 2     0.500      1.000",
        "b    at 1     1.000ᵃ     1.000",
    ]


def test_digits_and_percentages_can_be_changed() -> None:
    report = compare(ONE_EACH, several(3, 1), "mrr", show_percentages=True)
    assert "33.3" in str(report)

    report.rounding_digits, report.show_percentages = 4, False
    assert "0.3333" in str(report)
    assert r"\textbf{1.0000}$^{a}$" in report.to_latex()


def test_a_report_as_data(tmp_path: Path) -> None:
    report = compare(ONE_EACH, several(2, 1), "mrr", stat_test="tukey")
    report.save(tmp_path / "report.json")
    data = json.loads((tmp_path / "report.json").read_text())

    assert data == report.to_dict()
    assert data["at 1"]["scores"] == {"mrr": 1}
    assert data["at 1"]["win_tie_loss"] == {"at 2": {"mrr": {"W": N, "T": 0, "L": 0}}}
    assert report.to_dataframe()["mrr"].tolist() == [1 / 2, 1]


def test_runs_of_one_name_are_refused() -> None:
    run = several(1)[0]
    with pytest.raises(ParameterError, match="two runs have the same name"):
        compare(ONE_EACH, [run, run], "mrr")


def test_runs_without_a_name_are_numbered() -> None:
    runs = [Run(run.to_dict()) for run in several(2, 1)]

    assert compare(ONE_EACH, runs, "mrr").model_names == ["run_1", "run_2"]


# Fusion


def test_fuse() -> None:
    runs = [Run({"q": {"x": 3, "y": 1}}), Run({"q": {"y": 4}})]

    fused = fuse(runs, None, "wsum", {"weights": (1, 2)})
    assert (fused.name, fused.to_dict()) == ("weighted_sum", {"q": {"y": 9, "x": 3}})
    assert fuse(runs, None, "mnz").to_dict() == {"q": {"y": 2 * (1 + 4), "x": 3}}


def test_distances() -> None:
    run = Run({"q": {"near": 1.0, "between": 2.0, "far": 5.0}})

    assert normalize(run, "min_max_inverted").to_dict() == {
        "q": {"near": 1, "between": 3 / 4, "far": 0}
    }


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("bayesfuse", "learns probabilities from judgements"),
        ("w_bordafuse", "method='wsum' with norm='borda'"),
        ("mxied", "did you mean 'mixed'"),
    ],
)
def test_other_methods_are_refused(method: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        fuse(several(1, 2), method=method)


def test_runs_of_other_queries_are_not_fused() -> None:
    with pytest.raises(DataError, match="run 2 lacks 1 query of run 1 "):
        fuse([Run({"a": {"x": 1}}), Run({"b": {"x": 1}})])


@pytest.mark.parametrize(
    ("method", "options", "configs"),
    [
        ("wsum", {"step": 0.5}, ["(0.0, 1.0)", "(0.5, 0.5)", "(1.0, 0.0)"]),
        ("rrf", {"min_k": 10, "max_k": 30}, ["10", "20", "30"]),
        ("gmnz", {"min_gamma": 0.5, "step": 0.5}, ["0.5", "1.0"]),
    ],
)
def test_optimize(method: str, options: dict[str, Any], configs: list[str]) -> None:
    good, bad = several(1, 3)
    found, report = optimize_fusion(
        ONE_EACH, [good, bad], method=method, metric="mrr",
        return_optimization_report=True, **options,
    )  # fmt: skip
    fused = fuse([good, bad], method=method, params=found)

    assert report.configs == configs
    assert evaluate(ONE_EACH, fused, "mrr") == max(report.results)
    assert configs[-1] in str(report)


def test_the_best_parameters_are_found() -> None:
    # With (0.5, 0.5), both have 1/2, and the larger id comes first.
    runs = [Run({"q": {"a": 2, "b": 1}}), Run({"q": {"b": 2, "a": 1}})]
    found, report = optimize_fusion(
        Qrels({"q": {"a": 1}}), runs, metric="mrr", step=0.5,
        return_optimization_report=True,
    )  # fmt: skip

    assert found == {"weights": (1.0, 0.0)}
    assert report.results == [1 / 2, 1 / 2, 1]


def test_an_option_of_another_method_is_refused() -> None:
    with pytest.raises(ParameterError, match="rrf takes min_k, max_k, step, got 'k'"):
        optimize_fusion(ONE_EACH, several(1, 2), method="rrf", k=3)
    with pytest.raises(ParameterError, match="sum has no parameters to optimize"):
        optimize_fusion(ONE_EACH, several(1, 2), method="sum")


# Plots


def test_the_numbers_of_a_plot() -> None:
    frame = plot(ONE_EACH, several(2), return_graph=False)

    assert frame["recall"].tolist() == [n / 10 for n in range(11)]
    assert frame["precision"].tolist() == [1 / 2] * 11


def test_a_chart() -> None:
    pytest.importorskip("altair")
    chart = plot(ONE_EACH, several(2, 1), figsize=(8, 5)).to_dict()

    assert chart["width"] == 8 * 72
    assert len(chart["data"]["values"]) == 2 * 11
