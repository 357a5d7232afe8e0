"""Tools: what is known of the programs whose numbers conventions reproduce."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program, and what it does in one sentence.

    Attributes:
        title: its name, as its authors write it.
        does: what it does, in one sentence.
        checked: the versions whose numbers the convention was checked against.
        calls: our metric -> what the tool calls it; None if it has all of ours.
        unlike: our metric -> what the tool calls a metric of the same purpose whose
            number no choice here gives.
        uncut: our metrics that it has only without a cutoff.
        open_ties: the length of a list from which the tool leaves the order of equal
            scores open; None if it never does.
        over_train: our metrics that it averages over the users of the training data,
            with 1 for those without a list.
        trec_version: the version of trec_eval whose measures it has, and whose layout
            its numbers are printed in, if it prints as trec_eval does.
    """

    title: str
    does: str
    checked: str
    calls: Mapping[str, str] | None = field(default_factory=dict)
    unlike: Mapping[str, str] = field(default_factory=dict)
    uncut: frozenset[str] = frozenset()
    open_ties: int | None = None
    over_train: frozenset[str] = frozenset()
    trec_version: Literal[9, 10] = 10

    def has(self, metric: str, *, cut: bool = False) -> bool:
        """Say whether the tool has a metric of ours, with a cutoff or without."""
        if cut and metric in self.uncut:
            return False
        return self.calls is None or metric in self.calls


_OF_TREC = {
    "P": "P", "R": "recall", "AP": "map, map_cut", "nDCG": "ndcg, ndcg_cut",
    "RR": "recip_rank", "Success": "success", "Rprec": "Rprec", "Bpref": "bpref",
    "infAP": "infAP", "gm_AP": "gm_map", "gm_Bpref": "gm_bpref",
    "IPrec": "iprec_at_recall", "11pt": "11pt_avg", "RprecMult": "Rprec_mult",
    "RelP": "relative_P", "G": "G", "binG": "binG", "Rndcg": "Rndcg",
    "nDCGrel": "ndcg_rel", "SetP": "set_P", "SetR": "set_recall",
    "SetRelP": "set_relative_P", "SetAP": "set_map", "SetF": "set_F",
    "Utility": "utility", "NumRet": "num_ret", "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret", "NumNonrelJudgedRet": "num_nonrel_judged_ret",
    "NumQ": "num_q",
}  # fmt: skip
_NEW_IN_TREC_10 = {
    "DCG": "dcg", "RBP": "rbp", "RBPResidual": "rbp_resid", "Unjudged": "unj",
}  # fmt: skip

_OF_MTEB = {
    "P": "precision", "R": "recall", "AP": "map", "nDCG": "ndcg", "RR": "mrr",
    "Success": "hit_rate",
}  # fmt: skip
_OF_SENTENCE_TRANSFORMERS = {
    "P": "precision", "R": "recall", "AP": "map", "nDCG": "ndcg", "RR": "mrr",
    "Success": "accuracy",
}  # fmt: skip
_OF_LLAMA_INDEX = {
    "P": "precision", "R": "recall", "AP": "ap", "nDCG": "ndcg", "RR": "mrr",
    "Success": "hit_rate",
}  # fmt: skip
_OF_HAYSTACK = {
    "R": "DocumentRecallEvaluator, multi_hit", "AP": "DocumentMAPEvaluator",
    "nDCG": "DocumentNDCGEvaluator", "RR": "DocumentMRREvaluator",
    "Success": "DocumentRecallEvaluator, single_hit",
}  # fmt: skip

TOOLS: dict[str, Tool] = {
    "rankine": Tool(
        title="rankine",
        does="Ranks by score, larger id first among equals, and averages over all "
        "judged queries.",
        checked="its own tests",
        calls=None,
    ),
    "trec_eval": Tool(
        title="trec_eval 10",
        does=(
            "Called with -c: every judged topic counts, those missing from the run as "
            "0."
        ),
        checked="10.0",
        calls=_OF_TREC | _NEW_IN_TREC_10,
    ),
    "trec_eval-9": Tool(
        title="trec_eval 9",
        does="Called with -c; scores are 32-bit floats, so that close ones tie.",
        checked="9.0.8",
        calls=_OF_TREC,
        trec_version=9,
    ),
    "pytrec_eval": Tool(
        title="pytrec_eval",
        does="Runs trec_eval 9 in memory and leaves the mean to the user, who sees "
        "only the topics that are in both.",
        checked="pytrec_eval-terrier 0.5.11",
        calls=_OF_TREC,
        trec_version=9,
    ),
    "ir_measures": Tool(
        title="ir_measures",
        does=(
            "Calls other tools: pytrec_eval for most measures, gdeval for ERR, "
            "cwl_eval for rates of gain, ndeval for subtopics, and for RR@k a script "
            "that breaks ties the other way round."
        ),
        checked="0.4.3, with cwl-eval 1.0.12",
        calls={
            "P": "P", "R": "R", "AP": "AP", "nDCG": "nDCG", "RR": "RR",
            "Success": "Success", "Rprec": "Rprec", "AUC": "Accuracy",
            "Judged": "Judged", "Bpref": "Bpref", "IPrec": "IPrec", "infAP": "infAP",
            "NumQ": "NumQ", "NumRet": "NumRet", "NumRel": "NumRel",
            "NumRelRet": "NumRelRet", "SetP": "SetP", "SetRelP": "SetRelP",
            "SetR": "SetR", "SetF": "SetF", "SetAP": "SetAP", "ERR": "ERR",
            "RBP": "RBP", "BPM": "BPM", "INSQ": "INSQ", "INST": "INST",
            "NERR8": "NERR8", "NERR9": "NERR9", "NERR10": "NERR10",
            "NERR11": "NERR11", "Compat": "Compat", "alpha_nDCG": "alpha_nDCG",
            "ERR_IA": "ERR_IA", "SubtopicRecall": "StRecall",
            "alpha_DCG": "alpha_DCG", "nERR_IA": "nERR_IA", "NRBP": "NRBP",
            "nNRBP": "nNRBP", "AP_IA": "AP_IA", "P_IA": "P_IA",
        },
    ),
    "ranx": Tool(
        title="ranx",
        does=(
            "Called with make_comparable; keeps the given order among equal scores in "
            "short lists, and drops grades below the threshold even from nDCG."
        ),
        checked="0.3.21",
        calls={
            "P": "precision", "R": "recall", "F": "f1", "AP": "map", "nDCG": "ndcg",
            "RR": "mrr", "Success": "hit_rate", "Rprec": "r-precision",
            "Bpref": "bpref", "HitCount": "hits", "DCG": "dcg", "RBP": "rbp",
            "IPrec": "interpolated_precision_at_recall",
        },
        open_ties=16,
    ),
    "jurity": Tool(
        title="Jurity",
        does="Divides precision by the length of the list and AP by min(k, R), and "
        "skips users without a click.",
        checked="2.1.0 on pandas 2.3",
        calls={
            "P": "Precision", "R": "Recall", "AP": "MAP", "nDCG": "NDCG", "AUC": "AUC",
            "InterListDiversity": "InterListDiversity",
            "ILD": "IntraListDiversity",
        },
        open_ties=2,
    ),
    "ranksys": Tool(
        title="RankSys",
        does="Takes lists in the order given; the gain of nDCG is "
        "2^(grade - threshold + 1) - 1.",
        checked="0.5.0-SNAPSHOT",
        calls={
            "P": "Precision", "R": "Recall", "F": "FScore", "AP": "AveragePrecision",
            "nDCG": "NDCG", "RR": "ReciprocalRank", "Success": "KCall",
            "EPC": "EPC",
            "EFD": "EFD",
            "Unexpectedness": "EPD",
            "ILD": "EILD",
            "Gini": "GiniIndex",
            "Entropy": "Entropy",
            "GiniSimpson": "GiniSimpsonIndex",
            "Coverage": "AggregateDiversityMetric",
            "SubtopicRecall": "SRecall",
            "alpha_nDCG": "AlphaNDCG",
            "ERR_IA": "ERRIA",
        },
        unlike={"InterListDiversity": "IUD", "NumRet": "NumRetrieved"},
    ),
    "relison": Tool(
        title="RELISON",
        does="RankSys's metrics for link prediction; AP is divided by R, and the "
        "threshold of nDCG is 0.5.",
        checked="git 48dae3fd",
        calls={"P": "Precision", "R": "Recall", "AP": "MAP", "nDCG": "nDCG"},
        unlike={
            "F": "F1-score", "Accuracy": "Accuracy", "AUC": "AUC", "ERR_IA": "ERR-IA",
            "ILD": "ILD", "EPC": "LTN", "Unexpectedness": "Unexpectedness",
        },
    ),
    "elliot": Tool(
        title="Elliot",
        does="Its MAP is the mean of P@1 to P@k at all ranks, not only at hits; users "
        "without recommendations are skipped.",
        checked="0.3.1",
        calls={
            "P": "Precision", "R": "Recall", "F": "F1", "AP": "MAP", "nDCG": "nDCG",
            "RR": "MRR", "Success": "HR",
            "Gini": "Gini",
            "Entropy": "SEntropy",
            "Coverage": "ItemCoverage",
            "UserCoverage": "UserCoverage",
            "EPC": "EPC",
            "EFD": "EFD",
            "Popularity": "ARP",
            "LongTail": "APLT",
            "SubtopicRecall": "SRecall",
            "AR": "MAR",
        },
        unlike={"AUC": "AUC", "LAUC": "LAUC", "NumRet": "NumRetrieved"},
    ),
    "recommenders": Tool(
        title="recommenders",
        does="Averages precision, recall and AP over users of both tables, but nDCG "
        "over all users with ratings.",
        checked="1.2.1",
        calls={
            "P": "precision_at_k", "R": "recall_at_k", "AP": "map, map_at_k",
            "nDCG": "ndcg_at_k", "Rprec": "r_precision_at_k", "AUC": "auc",
            "Coverage": "catalog_coverage",
            "Entropy": "distributional_coverage",
            "Novelty": "novelty",
            "ILD": "diversity",
            "Serendipity": "serendipity",
        },
    ),
    "rectools": Tool(
        title="RecTools",
        does=(
            "Uses the numbers of a rank column as the ranks, gaps included; the ideal "
            "list of nDCG has k relevant items even where there are fewer."
        ),
        checked="0.19.0",
        calls={
            "P": "Precision", "R": "Recall", "F": "F1Beta", "AP": "MAP",
            "nDCG": "NDCG", "RR": "MRR", "Success": "HitRate",
            "Accuracy": "Accuracy", "MCC": "MCC", "PartialAUC": "PartialAUC",
            "PAP": "PAP",
            "Coverage": "CatalogCoverage",
            "Intersection": "Intersection",
            "UserCoverage": "CoveredUsers",
            "SufficientReco": "SufficientReco",
            "UnrepeatedReco": "UnrepeatedReco",
            "ILD": "IntraListDiversity",
            "Novelty": "MeanInvUserFreq",
            "Popularity": "AvgRecPopularity",
            "Serendipity": "Serendipity",
        },
    ),
    "replay": Tool(
        title="RePlay",
        does=(
            "Counts a repeated item once in precision and recall, and each time in "
            "MAP and NDCG."
        ),
        checked="replay-rec 0.22.0",
        calls={
            "P": "Precision", "R": "Recall", "AP": "MAP", "nDCG": "NDCG", "RR": "MRR",
            "Success": "HitRate", "AUC": "RocAuc",
            "Coverage": "Coverage",
            "Novelty": "Novelty, Surprisal",
            "Unexpectedness": "Unexpectedness",
            "TopicDiversity": "CategoricalDiversity",
        },
        over_train=frozenset({"Novelty"}),
    ),
    "lenskit": Tool(
        title="LensKit",
        does="Does not discount the second rank in nDCG, and divides recall by "
        "min(k, R).",
        checked="2025.8.1, and the source code of 2026.3.0",
        calls={
            "P": "Precision", "R": "Recall", "AP": "AveragePrecision",
            "nDCG": "NDCG", "RR": "RecipRank", "Success": "Hit",
            "DCG": "DCG", "RBP": "RBP",
            "ILD": "ILS",
            "Gini": "ListGini",
            "Coverage": "UniqueItemCount",
            "TopicEntropy": "entropy, rank_biased_entropy",
        },
    ),
    "torchmetrics": Tool(
        title="TorchMetrics",
        does="Knows only items with a score; in most metrics a score of 0 or less is "
        "never relevant, and AP is divided by the hits.",
        checked="1.9.0",
        calls={
            "P": "RetrievalPrecision", "R": "RetrievalRecall", "AP": "RetrievalMAP",
            "nDCG": "RetrievalNormalizedDCG", "RR": "RetrievalMRR",
            "Success": "RetrievalHitRate", "Rprec": "RetrievalRPrecision",
            "AUC": "RetrievalAUROC", "FallOut": "RetrievalFallOut",
        },
        open_ties=2,
    ),
    "sklearn": Tool(
        title="scikit-learn",
        does="Needs a score for every item; averages nDCG over the orders of equal "
        "scores, and takes the worst rank in LRAP.",
        checked="1.9.1",
        calls={
            "AP": "label_ranking_average_precision_score", "nDCG": "ndcg_score",
            "DCG": "dcg_score", "AUC": "roc_auc_score",
            "Success": "top_k_accuracy_score",
        },
        uncut=frozenset({"AP", "AUC"}),
    ),
    "spark": Tool(
        title="Spark MLlib",
        does=(
            "Takes lists in the order given and counts a repeated item each time; "
            "nDCG is binary from Python."
        ),
        checked="3.5.3",
        calls={
            "P": "precisionAt", "R": "recallAt", "nDCG": "ndcgAt",
            "AP": "meanAveragePrecision, meanAveragePrecisionAt",
        },
    ),
    "recbole": Tool(
        title="RecBole",
        does="Rounds to 4 decimals; recall of a user without relevant items makes the "
        "mean undefined.",
        checked="1.2.1",
        calls={
            "P": "Precision", "R": "Recall", "AP": "MAP", "nDCG": "NDCG", "RR": "MRR",
            "Success": "Hit", "AUC": "AUC",
            "Coverage": "ItemCoverage",
            "Gini": "GiniIndex",
            "Entropy": "ShannonEntropy",
            "Popularity": "AveragePopularity",
            "LongTail": "TailPercentage",
        },
    ),
    "implicit": Tool(
        title="implicit",
        does="Its precision is all hits of all users over the sum of min(k, R).",
        checked="0.7.3",
        calls={
            "P": "precision_at_k", "AP": "mean_average_precision_at_k",
            "nDCG": "ndcg_at_k", "AUC": "AUC_at_k",
        },
    ),
    "cornac": Tool(
        title="Cornac",
        does="Its MAP has no cutoff and puts tied items last; in AUC a tied pair is "
        "wrong.",
        checked="2.2.1 and 3.0.1",
        calls={
            "P": "Precision", "R": "Recall", "F": "FMeasure", "AP": "MAP",
            "nDCG": "NDCG, NCRR", "RR": "MRR", "Success": "HitRatio", "AUC": "AUC",
        },
        open_ties=2,
        uncut=frozenset({"AP", "AUC", "RR"}),
    ),
    "recmetrics": Tool(
        title="recmetrics",
        does="Divides precision by the length of the list; its average recall is an "
        "average precision divided by R.",
        checked="0.1.5, and the source code of mapk, which is newer",
        calls={
            "P": "recommender_precision", "R": "recommender_recall", "AR": "mark",
            "AP": "mapk", "Coverage": "prediction_coverage",
            "InterListDiversity": "personalization",
            "Novelty": "novelty",
        },
        unlike={"ILD": "intra_list_similarity"},
    ),
    "beir": Tool(
        title="BEIR",
        does="Runs trec_eval 9 in memory and rounds to 5 decimals; MRR and accuracy "
        "keep the given order among equal scores.",
        checked="2.2.0",
        calls={
            "P": "P", "R": "Recall", "AP": "MAP", "nDCG": "NDCG", "RR": "MRR",
            "Success": "Accuracy",
        },
        unlike={"Unjudged": "Hole"},
    ),
    "mteb": Tool(
        title="MTEB",
        does="Runs trec_eval 9 in memory and rounds to 5 decimals, but not MRR, which "
        "compares scores as 64-bit floats.",
        checked="2.26.24",
        calls=_OF_MTEB,
    ),
    "mteb-2.18": Tool(
        title="MTEB 2.18",
        does="MRR keeps the given order among equal scores, as in all versions up to "
        "2.18.",
        checked="2.18.0",
        calls=_OF_MTEB,
    ),
    "sentence_transformers": Tool(
        title="sentence-transformers",
        does="Puts the smaller id first among equal scores and divides AP by "
        "min(k, R).",
        checked="6.2.0",
        calls=_OF_SENTENCE_TRANSFORMERS,
    ),
    "sentence_transformers-5": Tool(
        title="sentence-transformers 5",
        does="Leaves the order of equal scores open, as in all versions up to 5.7.",
        checked="5.1.0",
        calls=_OF_SENTENCE_TRANSFORMERS,
        open_ties=2,
    ),
    "llama_index": Tool(
        title="LlamaIndex",
        does="Counts a repeated node each time in AP and NDCG, does not cut the ideal "
        "list, and refuses empty lists.",
        checked="llama-index-core 0.14.25",
        calls=_OF_LLAMA_INDEX,
    ),
    "llama_index-0.12.2": Tool(
        title="LlamaIndex 0.12.2",
        does="Takes an ideal list of relevant nodes only, as long as the list, as in "
        "all versions up to 0.12.2.",
        checked="llama-index-core 0.12.1",
        calls=_OF_LLAMA_INDEX,
        uncut=frozenset({"nDCG"}),
    ),
    "haystack": Tool(
        title="Haystack",
        does="Counts a repeated document once, at its first rank, and does not cut the "
        "ideal list.",
        checked="3.4.0",
        calls=_OF_HAYSTACK,
    ),
    "haystack-3.0": Tool(
        title="Haystack 3.0",
        does="Counts a repeated document each time, and divides AP by the hits, as in "
        "all versions up to 3.0.",
        checked="2.31.0",
        calls=_OF_HAYSTACK,
    ),
    "mlflow": Tool(
        title="MLflow",
        does="Cuts the ideal list where the list ends, so that short lists look good, "
        "and divides precision by the length of the list.",
        checked="3.17.2",
        calls={"P": "precision_at_k", "R": "recall_at_k", "nDCG": "ndcg_at_k"},
    ),
    "ragas": Tool(
        title="Ragas",
        does="Takes precision and recall of sets of ids; context precision is AP "
        "divided by the hits.",
        checked="0.4.3",
        calls={
            "P": "id_based_context_precision", "R": "id_based_context_recall",
            "AP": "context_precision",
        },
    ),
    "opensearch": Tool(
        title="OpenSearch",
        does="Counts a repeated document each time and rounds the number of each query "
        "to 2 decimals, which is not imitated here.",
        checked="the source code of search-relevance 3.1",
        calls={
            "P": "Precision", "R": "Recall", "AP": "MAP", "nDCG": "NDCG", "RR": "MRR",
            "DCG": "DCG",
        },
    ),
    "elasticsearch": Tool(
        title="Elasticsearch",
        does="Cuts the ideal list where the list ends; gains are 2^rating - 1.",
        checked="the source code of rank-eval 8",
        calls={
            "P": "precision", "R": "recall", "nDCG": "dcg", "DCG": "dcg",
            "RR": "mean_reciprocal_rank", "ERR": "expected_reciprocal_rank",
        },
    ),
    "vespa": Tool(
        title="pyvespa",
        does="Takes hits in the order given and divides AP by min(k, R).",
        checked="1.2.9",
        calls=_OF_SENTENCE_TRANSFORMERS,
    ),
    "surprise": Tool(
        title="Surprise",
        does=(
            "Predicts ratings; its only ranking metric is the fraction of concordant "
            "pairs."
        ),
        checked="git 2381fb1",
        calls={"FCP": "fcp"},
    ),
    "notebook": Tool(
        title="ranking metrics notebook",
        does="A tutorial's own definitions: AP is a sum without a divisor, RR a sum "
        "over all hits, precision and recall are pooled over users.",
        checked="its formulas and printed values",
        calls={
            "P": "precision_at_k", "R": "recall_at_k", "AP": "AP", "RR": "RR",
            "nDCG": "NDCG", "Success": "HR",
        },
    ),
}  # fmt: skip


def trec_version(convention: object) -> int:
    """Return the version of trec_eval that has the measures of a named convention.

    >>> trec_version("pytrec_eval"), trec_version("rankine")
    (9, 10)
    """
    named = isinstance(convention, str) and convention in TOOLS
    return TOOLS[str(convention)].trec_version if named else 10
