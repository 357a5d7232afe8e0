"""Numbers that other tools gave, on small inputs, against the named conventions.

A case is: its name, the tool, its version, what was called, the cutoff, the data and
the value. `CALLS` says what each call is here: the convention, the metric, and the
fields that an option of the call sets. Nothing is said for a single case.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import RankineError

STORED = json.loads((Path(__file__).parent / "cases.json").read_text())
DATA, CASES = STORED["data"], STORED["cases"]

# By tool: the convention, and how closely its numbers must be met.
TOOLS = {
    "trec_eval": ("trec_eval", 5e-5),
    "pytrec_eval-terrier": ("pytrec_eval", 1e-9),
    "ir_measures": ("ir_measures", 1e-9),
    "ranx": ("ranx", 1e-9),
    "jurity": ("jurity", 1e-9),
    "RankSys": ("ranksys", 1e-9),
    "RELISON": ("relison", 1e-9),
    "Elliot": ("elliot", 1e-9),
    "recommenders": ("recommenders", 1e-9),
    "RecTools": ("rectools", 1e-9),
    "RePlay": ("replay", 1e-9),
    "lenskit": ("lenskit", 1e-9),
    "torchmetrics": ("torchmetrics", 2e-7),
    "scikit-learn": ("sklearn", 1e-9),
    "Spark MLlib RankingMetrics": ("spark", 1e-9),
    "Spark MLlib RankingMetrics (Scala)": ("spark", 1e-9),
    "RecBole": ("recbole", 5e-5),
    "implicit": ("implicit", 1e-9),
    "cornac": ("cornac", 1e-9),
}
ONE_USER = {"query": "2"}
JUDGED = {"ideal": "judged@k"}
# What is called -> the metric here, and the fields that its options set.
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    # trec_eval and what follows it
    "P": ("P", {}), "recall": ("R", {}), "map": ("AP", {}), "map_cut": ("AP", {}),
    "ndcg": ("nDCG", {}), "ndcg_cut": ("nDCG", {}), "recip_rank": ("RR", {}),
    "success": ("Success", {}), "Rprec": ("Rprec", {}), "bpref": ("Bpref", {}),
    "infAP": ("infAP", {}), "G": ("G", {}), "set_F": ("SetF", {}),
    "iprec_at_recall_0.20": ("IPrec@0.2", {}),
    "iprec_at_recall_0.40": ("IPrec@0.4", {}),
    "iprec_at_recall_0.50": ("IPrec@0.5", {}),
    "ndcg(1=1,2=3,3=7)": ("nDCG(gain={1: 1, 2: 3, 3: 7})", {}),
    "ndcg_cut -l 4": ("nDCG", {"threshold": 4}),
    "recip_rank -l 4": ("RR", {"threshold": 4}),
    "recip_rank -J": ("RR", {"unjudged": "removed"}),
    "recip_rank -c": ("RR", {}),
    "AP [cwl_eval]": ("AP(divisor='hits')", {}),
    "Accuracy": ("AUC", {}), "Judged": ("Judged", {}), "RR": ("RR", {}),
    "RR@10": ("RR", {}), "RR@10 (msmarco)": ("RR", {}), "nDCG": ("nDCG", {}),
    "RR [cwl_eval]": ("RR", {"tie": "input", "score_bits": 64}),
    "nDCG(exp-log2) [gdeval]": ("nDCG(gain='exponential')", {"score_bits": 64}),
    # ranx
    "precision": ("P", {}), "f1": ("F", {}), "mrr": ("RR", {}),
    "rbp.90": ("RBP(p=0.9)", {}),
    "r-precision": ("Rprec", {}), "ndcg-l4": ("nDCG", {"threshold": 4}),
    "ndcg_burges": ("nDCG(gain='exponential')", {}),
    "mrr make_comparable": ("RR", {"missing_run": "zero"}),
    "mrr (raw dict input)": ("RR", {"tie": "input_rev"}),
    # for recommenders
    "Precision": ("P", {}), "Recall": ("R", {}), "MAP": ("AP", {}),
    "NDCG": ("nDCG", {}), "MRR": ("RR", {}), "AUC": ("AUC", {}),
    "F1Beta": ("F", {}), "FMeasure": ("F", {}), "RocAuc": ("AUC", {}),
    "TRECAveragePrecision threshold=1.0": ("AP", {"threshold": 1}),
    "AveragePrecision threshold=1.0": ("AP", {"threshold": 1}),
    "NDCG threshold=1.0": ("nDCG", {"threshold": 1}),
    "NDCG threshold=4.0": ("nDCG", {"threshold": 4}),
    "Precision threshold=1.0": ("P", {"threshold": 1}),
    "Recall threshold=1.0": ("R", {"threshold": 1}),
    "ReciprocalRank threshold=1.0": ("RR", {"threshold": 1}),
    "MRR (dict input, empty list)": ("RR", {"empty_truth": "zero"}),
    "gauc": ("AUC(scope='weighted')", {}), "auc": ("AUC(catalog=8)", {}),
    "NDCG(divide_by_achievable)": ("nDCG", JUDGED),
    "NDCG(log_base=3)": ("nDCG(discount='log',base=3)", {}),
    "Precision(r_precision)": ("P", {"p_den": "min_k_R"}),
    "precisionAt": ("P", {}), "recallAt": ("R", {}), "ndcgAt": ("nDCG", {}),
    "meanAveragePrecision": ("AP", {}), "meanAveragePrecisionAt": ("AP", {}),
    "ndcgAt (graded, labels in qrels order 1,3,2)": ("nDCG", {}),
    "ndcgAt (graded, labels sorted desc)": ("nDCG", {}),
    "map_at_k": ("AP", {}), "ndcg_at_k": ("nDCG", {}), "precision_at_k": ("P", {}),
    "recall_at_k": ("R", {}), "r_precision_at_k": ("Rprec", {}),
    "ndcg_at_k exp,log2": ("nDCG", {"gain": "exponential"}),
    "NDCG(gain=rating)": ("nDCG", {"gain": "linear"}),
    "NDCG(offset=1)": ("nDCG", {"discount": "log2"}),
    "RecipRank mean (RunAnalysis)": ("RR", {}),
    "AveragePrecision(user 2)": ("AP", ONE_USER), "NDCG(user 2)": ("nDCG", ONE_USER),
    "Precision(user 2)": ("P", ONE_USER), "Recall(user 2)": ("R", ONE_USER),
    "RecipRank(user 2)": ("RR", ONE_USER),
    # scikit-learn and torchmetrics
    "LRAP": ("AP", {}), "average_precision_score": ("AP", {}),
    "ndcg_score": ("nDCG", {}), "dcg_score": ("DCG", {}),
    "dcg_score(log_base=e)": (f"DCG(discount='log',base={math.e})", {}),
    "ndcg_score(ignore_ties)": ("nDCG", {"tie": "input_rev"}),
    "top_k_accuracy_score": ("Success", {}),
    "RetrievalMAP empty_target_action=neg": ("AP", {}),
    "RetrievalMAP empty_target_action=pos": ("AP", {"empty_truth": "one"}),
    "RetrievalRPrecision": ("Rprec", {}), "retrieval_average_precision": ("AP", {}),
    "retrieval_auroc (single class)": ("AUC", {}),
    "retrieval_hit_rate": ("Success", {}), "retrieval_precision": ("P", {}),
    "retrieval_normalized_dcg": ("nDCG", {}), "retrieval_recall": ("R", {}),
    "retrieval_r_precision": ("Rprec", {}), "retrieval_reciprocal_rank": ("RR", {}),
}  # fmt: skip
# The same word for different things.
BY_TOOL = {
    ("Spark MLlib RankingMetrics (Scala)", "ndcgAt (graded)"): (
        "nDCG", {"gain": "exponential", "ideal": "given@k"},
    ),
    ("Spark MLlib RankingMetrics", "ndcgAt (graded)"): ("nDCG", {}),
    # Unless it is called with make_comparable.
    ("ranx", "mrr"): ("RR", {"missing_run": "error"}),
}  # fmt: skip
# A tool's bug, or what it leaves open: no convention is made of these.
NOT_MET = {
    "c250": "ranx's bpref divides 0 by 0 where no judged item is not relevant",
    "c298": "Elliot's AUC counts one negative item too many, missed items as 0",
    "c329": "ranx permutes ties in lists of 16 items or more",
    "c213": "LensKit's AP divides 0 by 0 for a user without test items",
    "c367": "Cornac's MRR fails where nothing is found",
}
# Other families: LensKit's rank-biased precision, compatibility, ranking loss, NCRR.
ELSEWHERE = {"c042", "c103", "c145", "c225", "c343"}


def rule_of(tool: str, version: str, fields: dict[str, Any]) -> rk.Convention:
    name = TOOLS[tool][0]
    if name == "trec_eval" and version.startswith("9"):
        name = "trec_eval-9"
    rule = rk.conventions()[name]
    own = {key: value for key, value in fields.items() if key != "query"}
    kept = {
        metric: {key: value for key, value in entry.items() if key not in own}
        for metric, entry in rule.overrides.items()
    }
    return rule.replace(**own, overrides=kept)


def frame_of(run: dict[str, list[list[Any]]]) -> pl.DataFrame:
    rows = [
        (query, item, float(score), place)
        for query, entry in run.items()
        for place, (item, score) in enumerate(entry, 1)
    ]
    return pl.DataFrame(rows, ["query", "item", "score", "rank"], orient="row")


def computed(case: list[Any]) -> float:
    _, tool, version, call, k, name, _ = case
    metric, fields = BY_TOOL.get((tool, call)) or CALLS[call]
    data = DATA[name]
    asked = rk.parse(metric)
    if k is not None and asked.takes("k"):
        asked = asked @ k
    rule = rule_of(tool, version, fields)
    qrels, run = data["qrels"], data["run"]
    if "query" in fields:
        query = fields["query"]
        qrels, run = {query: qrels[query]}, {query: run[query]}
    given: Any = frame_of(run)
    value: float = rk.evaluate(qrels, given, [asked], convention=rule)[asked]
    return value


@pytest.mark.parametrize(
    "case", [case for case in CASES if case[0] not in NOT_MET.keys() | ELSEWHERE],
    ids=lambda case: f"{case[0]} {case[1]} {case[3]}",
)  # fmt: skip
def test_the_number_of_the_tool(case: list[Any]) -> None:
    expected = case[-1]
    if expected == "raises":
        with pytest.raises(RankineError):
            computed(case)
    elif expected == "NaN":
        assert math.isnan(computed(case))
    else:
        assert computed(case) == pytest.approx(expected, abs=TOOLS[case[1]][1])


@pytest.mark.parametrize(
    "case", [case for case in CASES if case[0] in NOT_MET], ids=lambda case: case[0]
)
def test_what_is_said_not_to_be_met_is_not(case: list[Any]) -> None:
    expected = case[-1]
    try:
        value = computed(case)
    except (KeyError, RankineError):
        return
    assert expected in {"raises", "NaN"} or value != pytest.approx(expected)


def test_no_case_is_left_out() -> None:
    names = {case[0] for case in CASES}

    assert names > NOT_MET.keys() | ELSEWHERE
    assert len(CASES) - len(NOT_MET) - len(ELSEWHERE) > 200
