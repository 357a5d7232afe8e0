"""The named conventions: data only, so that no code asks for a convention's name.

A tool whose ground truth is a list of items, without grades, counts every row as
relevant; judgements of grade 0 would not be handed to it. So its threshold here is the
smallest number above 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rankine._conventions.convention import Convention
from rankine._conventions.tools import TOOLS, Tool
from rankine.errors import UnknownConventionError, nearest

ABOVE_ZERO = math.nextafter(0, 1)
"""A threshold that every grade above 0 reaches."""

_CUT_UP = {"IPrec": {"cut": "up"}, "11pt": {"cut": "up"}}
_BY_ORDER: dict[str, Any] = {"order": "given", "duplicates": "count"}
_ALL_SHOWN = {"share": False, "outside": "counted"}
_OF_RANKSYS: dict[str, Any] = {
    "Coverage": {**_ALL_SHOWN, "weight": "list"},
    "Gini": {"complement": True},
    "Entropy": {"weight": "list"},
    "GiniSimpson": {"weight": "list"},
    "ILD": {"short": "zero"},
    "SubtopicRecall": {"of": "all", "without": "zero"},
    "alpha_nDCG": {"longer": 1, "without": "zero"},
    "ERR_IA": {"wants": "profile", "max_grade": None, "without": "zero"},
}
_NDEVAL: dict[str, Any] = {"tie": "id_asc", "score_bits": 64, "without": "zero"}
_POOLED_AUC = {"scope": "pooled", "universe": "matched"}
_TEN_SAMPLES = {"sample": 10_000, "runs": 10, "seed": 1}
_OF_LISTS: dict[str, Any] = {**_BY_ORDER, "threshold": ABOVE_ZERO}
_HAYSTACK = Convention(**_OF_LISTS | {"duplicates": "set"}, ideal="judged")
_LLAMA_INDEX = Convention(
    **_OF_LISTS,
    p_den="list",
    gain="binary",
    ideal="judged",
    empty_truth="skip",
    overrides={"P": {"duplicates": "last"}, "R": {"duplicates": "set"}},
)
_MTEB = Convention(
    score_bits=32,
    queries="both",
    decimals=5,
    overrides={"RR": {"score_bits": 64, "queries": "run", "decimals": None}},
)
_SENTENCE_TRANSFORMERS = Convention(
    tie="id_asc",
    duplicates="count",
    threshold=ABOVE_ZERO,
    ap_den="min_k_R",
    gain="binary",
    empty_truth="skip",
)
_GIVEN_TIES: dict[str, Any] = {"tie": "input", "score_bits": 64}
_RANKSYS = Convention(
    **_BY_ORDER,
    gain="exponential_rel",
    gain_below_threshold=False,
    ap_den="min_k_R",
    overrides=_OF_RANKSYS,
)
_OF_ELLIOT: dict[str, Any] = {
    **_OF_RANKSYS,
    "Coverage": _ALL_SHOWN,
    "UserCoverage": {"share": False},
    "EPC": {"weight": "log2", "judged": True},
    "EFD": {"weight": "log2", "judged": True},
    "Popularity": {"by": "users"},
    "LongTail": {"cold": "head"},
}
PRESETS: dict[str, Convention] = {
    "rankine": Convention(),
    # trec_eval 10.0 -c, whose numbers are rankine's own but for the reader's patience.
    "trec_eval": Convention(
        overrides={
            "RBP": {"p": 0.9, "gain": "scaled"},
            "RBPResidual": {"p": 0.9, "tail": "with_unjudged"},
        }
    ),
    # trec_eval 9.0.8 -c: scores as float32; recall points at (long)(p * R + 0.9).
    "trec_eval-9": Convention(score_bits=32, overrides=_CUT_UP),
    "pytrec_eval": Convention(score_bits=32, queries="both", overrides=_CUT_UP),
    "ir_measures": Convention(
        score_bits=32,
        overrides={
            "RR@k": {"tie": "id_asc", "score_bits": 64},
            "Judged": {"tie": "id_asc", "score_bits": 64, "negative": "judged"},
            "NumQ": {"queries": "both"},
            "NumRel": {"queries": "both"},
            "ERR": {"max_grade": 4, "score_bits": 64},
            "RBP": {"tie": "input", "score_bits": 64},
            "BPM": {"tie": "input", "score_bits": 64},
            "INSQ": {"longest": 1000, "tie": "input", "score_bits": 64},
            "INST": {"longest": 1000, "tie": "input", "score_bits": 64},
            "NERR8": {"tie": "input", "score_bits": 64},
            "NERR9": {"tie": "input", "score_bits": 64},
            "NERR10": {"longest": 1000, "tie": "input", "score_bits": 64},
            "NERR11": {"longest": 1000, "tie": "input", "score_bits": 64},
            "Compat": {"depth": "lists", "tie": "id_asc", "score_bits": 64},
            "ERR_IA": {"scale": "perfect", **_NDEVAL},
            "alpha_nDCG": _NDEVAL,
            "SubtopicRecall": _NDEVAL,
            "alpha_DCG": {"scale": "perfect", **_NDEVAL},
            "nERR_IA": _NDEVAL,
            "NRBP": _NDEVAL,
            "nNRBP": _NDEVAL,
            "AP_IA": _NDEVAL,
            "P_IA": _NDEVAL,
            "AUC": {
                "tied": "order",
                "queries": "run",
                "tie": "input",
                "score_bits": 64,
            },
            **_CUT_UP,
        },
    ),
    "ranx": Convention(
        tie="input",
        duplicates="last",
        gain_below_threshold=False,
        overrides={
            "RBP": {"gain": "linear"},
            "HitCount": {"aggregate": "mean"},
            **_CUT_UP,
        },
    ),
    "jurity": Convention(
        tie="input",
        duplicates="count",
        threshold=ABOVE_ZERO,
        p_den="list",
        ap_den="min_k_R",
        gain="binary",
        ideal="judged",
        empty_truth="skip",
        nothing="none",
        overrides={
            "P": {"queries": "both"},
            "R": {"duplicates": "set"},
            "AP": {"queries": "both"},
            "AUC": _POOLED_AUC,
            "InterListDiversity": _TEN_SAMPLES,
            "ILD": _TEN_SAMPLES,
        },
    ),
    "ranksys": _RANKSYS,
    "relison": _RANKSYS.replace(ap_den="R", overrides={"nDCG": {"threshold": 0.5}}),
    "elliot": _RANKSYS.replace(
        ap_den="k",
        ap_terms="all_ranks",
        queries="both",
        empty_truth="skip",
        overrides=_OF_ELLIOT,
    ),
    "recommenders": Convention(
        tie="input",
        duplicates="count",
        threshold=ABOVE_ZERO,
        ap_den="min_k_R",
        gain="binary",
        queries="both",
        empty_truth="skip",
        nothing="zero",
        overrides={
            "nDCG": {"queries": "qrels"},
            "Rprec": {"misses": "undefined"},
            "AUC": {**_POOLED_AUC, "nothing": "nan"},
            "Coverage": {"outside": "counted"},
            "Novelty": {"by": "records", "cold": "zero", "aggregate": "ratio_of_sums"},
            "ILD": {"by": "users"},
            "Serendipity": {"method": "users", "queries": "run", "nothing": "nan"},
            "Unexpectedness": {"nothing": "nan"},
        },
    ),
    "rectools": Convention(
        order="rank_value",
        tie="input",
        duplicates="count",
        threshold=ABOVE_ZERO,
        gain="binary",
        ideal="k_ones",
        empty_truth="skip",
        overrides={
            "Coverage": _ALL_SHOWN,
            "UserCoverage": {"least": 1},
            "ILD": {"short": "one_shown"},
            "Serendipity": {"queries": "run", "empty_list": "skip"},
            "Accuracy": {"padded": True},
            "MCC": {"padded": True},
        },
    ),
    "replay": Convention(
        duplicates="count",
        threshold=ABOVE_ZERO,
        ap_den="min_k_R",
        gain="binary",
        empty_truth="skip",
        nothing="error",
        overrides={
            "P": {"duplicates": "set"},
            "R": {"duplicates": "set"},
            "Success": {"duplicates": "set"},
            "AUC": {"tied": "order", "single": "by_kind"},
            "Novelty": {"by": "own"},
            "Unexpectedness": {"by": "reference"},
        },
    ),
    "lenskit": Convention(
        **_BY_ORDER,
        threshold=ABOVE_ZERO,
        p_den="list",
        r_den="min_k_R",
        ap_den="min_R_list",
        gain="binary",
        discount="jk",
        queries="run",
        empty_truth="skip",
        overrides={
            "P": {"empty_truth": "zero", "empty_list": "skip"},
            "AP": {"empty_list": "skip"},
            "DCG": {"negative": "keep", "empty_truth": "zero"},
            "nDCG": {"negative": "keep"},
            "RBP": {"p": 0.85},
            "Coverage": _ALL_SHOWN,
            "Gini": {"divisor": "n", "outside": "counted"},
            "ILD": {"short": "one_known"},
            "TopicEntropy": {"several": "whole", "smoothing": 1e-6},
        },
    ),
    "torchmetrics": Convention(
        tie="input",
        score_bits=32,
        duplicates="count",
        score_floor=0,
        pool="list",
        ap_den="hits",
        queries="run",
        empty_list="skip",
        nothing="zero",
        overrides={
            "nDCG": {"tie": "average", "score_floor": None, "negative": "keep"},
            "Success": {"score_floor": None},
            "Rprec": {"score_floor": None},
            "AUC": {"score_floor": None, "single": "zero"},
            "FallOut": {
                "score_floor": None,
                "universe": "list",
                "empty_truth": "one",
            },
        },
    ),
    "sklearn": Convention(
        tie="average",
        threshold=ABOVE_ZERO,
        pool="union",
        negative="error",
        overrides={
            "AP": {"ties": "last", "empty_truth": "one"},
            "DCG": {"negative": "keep"},
            "AUC": {"scope": "pooled"},
            "Success": {"tie": "input_rev"},
        },
    ),
    "spark": Convention(
        **_BY_ORDER,
        threshold=ABOVE_ZERO,
        ap_den="min_k_R",
        gain="binary",
        nothing="zero",
    ),
    "recbole": Convention(
        **_BY_ORDER,
        threshold=ABOVE_ZERO,
        ap_den="min_k_R",
        gain="binary",
        decimals=4,
        overrides={
            "R": {"empty_truth": "nan"},
            "AUC": {"scope": "pooled", "order": "score"},
            "Coverage": {"outside": "counted", "padding": 1},
            "Gini": {"divisor": "n", "outside": "counted", "padding": 1},
            "Entropy": {"base": math.e, "scale": "items"},
            "LongTail": {"of": "items", "tail": 0.1, "cold": "head"},
        },
    ),
    "implicit": Convention(
        **_BY_ORDER,
        threshold=ABOVE_ZERO,
        ap_den="min_k_R",
        gain="binary",
        empty_truth="skip",
        nothing="error",
        overrides={
            "P": {"p_den": "min_k_R", "aggregate": "ratio_of_sums"},
            "AUC": {"universe": "catalogue", "tied": "order"},
        },
    ),
    "cornac": Convention(
        tie="input",
        duplicates="count",
        gain="binary",
        queries="both",
        empty_truth="skip",
        nothing="error",
        overrides={
            "AP": {"ties": "last", "pool": "list"},
            "AUC": {"tied": "wrong"},
        },
    ),
    "recmetrics": Convention(
        **_BY_ORDER,
        threshold=ABOVE_ZERO,
        p_den="list",
        ap_den="hits",
        overrides={
            "AR": {"variant": "recmetrics", "duplicates": "set"},
            "Coverage": {"outside": "counted", "scale": 100, "decimals": 2},
            "Novelty": {"divisor": "k"},
        },
    ),
    "beir": Convention(
        score_bits=32,
        queries="both",
        decimals=5,
        overrides={
            metric: _GIVEN_TIES | {"queries": "qrels"} for metric in ("RR", "Success")
        },
    ),
    "mteb": _MTEB,
    # Up to 2.18, equal scores stayed in the given order in MRR.
    "mteb-2.18": _MTEB.replace(
        overrides={"RR": {**_MTEB.overrides["RR"], "tie": "input"}}
    ),
    "sentence_transformers": _SENTENCE_TRANSFORMERS,
    # Up to 5.7, equal scores stayed in the order of a heap.
    "sentence_transformers-5": _SENTENCE_TRANSFORMERS.replace(tie="input"),
    "llama_index": _LLAMA_INDEX,
    # Up to 0.12.2, the ideal list was as long as the list.
    "llama_index-0.12.2": _LLAMA_INDEX.replace(ideal="k_ones"),
    "haystack": _HAYSTACK,
    # Up to 3.0, a repeated document counted each time, and MAP divided by the hits.
    "haystack-3.0": _HAYSTACK.replace(
        duplicates="count", ap_den="hits", overrides={"R": {"duplicates": "set"}}
    ),
    "mlflow": Convention(
        **_OF_LISTS,
        p_den="list",
        gain="binary",
        ideal="judged@list",
        overrides={"R": {"duplicates": "set"}, "nDCG": {"duplicates": "set"}},
    ),
    "ragas": Convention(
        **_OF_LISTS,
        p_den="list",
        ap_den="hits",
        gain="binary",
        overrides={
            "P": {"duplicates": "last", "queries": "both", "empty_list": "skip"},
            "R": {"duplicates": "set", "empty_truth": "skip"},
        },
    ),
    "opensearch": Convention(**_OF_LISTS, p_den="list", gain="exponential"),
    "elasticsearch": Convention(
        order="given", p_den="list", gain="exponential", ideal="judged@list"
    ),
    "vespa": Convention(**_OF_LISTS, ap_den="min_k_R", empty_truth="skip"),
    "surprise": Convention(nothing="error", overrides={"FCP": {"weighing": "users"}}),
    "notebook": Convention(
        ap_den="none",
        overrides={
            "P": {"aggregate": "ratio_of_sums", "decimals": 4},
            "R": {"aggregate": "ratio_of_sums", "decimals": 4},
            "RR": {"variant": "sum"},
        },
    ),
}


BASE = "rankine"
"""The convention that is used unless another is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConvention:
    """What a tool does with a log of another policy, where `ctr` offers a choice.

    Attributes:
        n: whether the mean is over logged rounds or over recommended pairs.
        missing_propensity: what happens without propensities: an error, or one over the
            number of items.
        unmatched: the result if no round matches: none, or what the formula gives.
    """

    n: Literal["logged", "recommended"] = "logged"
    missing_propensity: Literal["error", "items"] = "error"
    unmatched: Literal["nothing", "formula"] = "nothing"


LOGS: dict[str, LogConvention] = {
    "rankine": LogConvention(),
    "jurity": LogConvention(
        n="recommended", missing_propensity="items", unmatched="formula"
    ),
}


class Conventions(Mapping[str, Convention]):
    """The named conventions, by name; their text is a table of them.

    >>> Conventions()["jurity"].ap_den
    'min_k_R'
    """

    def __getitem__(self, name: str) -> Convention:
        """Return a convention by its name."""
        return convention(name)

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(PRESETS)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(PRESETS)

    def about(self, name: str) -> Tool:
        """Describe the tool whose numbers a convention reproduces."""
        convention(name)
        return TOOLS[name]

    def __str__(self) -> str:
        """Return one line for each."""
        width = max(map(len, PRESETS))
        return "\n".join(f"{name:{width}}  {TOOLS[name].does}" for name in PRESETS)

    __repr__ = __str__


def conventions() -> Conventions:
    """Return every named convention, with a sentence on what each tool does.

    >>> len(conventions())
    37
    >>> conventions().about("ranx").checked
    '0.3.21'
    """
    return Conventions()


def convention(choice: str | Convention) -> Convention:
    """Return a convention given by name, or the convention itself.

    >>> convention("trec_eval-9").score_bits
    32
    """
    if isinstance(choice, Convention):
        return choice
    if not isinstance(choice, str) or choice not in PRESETS:
        msg = (
            f"unknown convention {choice!r}; the conventions are "
            f"{', '.join(PRESETS)}{nearest(str(choice), PRESETS)}"
        )
        raise UnknownConventionError(msg)
    return PRESETS[choice]


def called(rule: Convention, preset: str | None = None) -> str:
    """Return the name of a convention, and what it does differently.

    Args:
        rule: the convention.
        preset: the one that it was made from; if not given, the one that is most like
            it. Of one that another version had, only the name is known.

    >>> called(Convention()), called(PRESETS["ranx"])
    ('rankine', 'ranx')
    >>> called(Convention(unjudged="removed"))
    "rankine with unjudged='removed'"
    >>> called(Convention(overrides={"AP": {"decimals": 2}}))
    'rankine with AP(decimals=2)'
    """
    if preset is not None and preset not in PRESETS:
        return preset
    differ = {
        name: _differences(rule, PRESETS[name])
        for name in (PRESETS if preset is None else [preset])
    }
    nearest_to_it = min(differ, key=lambda name: len(differ[name]))
    choices = ", ".join(differ[nearest_to_it])
    return f"{nearest_to_it} with {choices}" if choices else nearest_to_it


def _differences(rule: Convention, other: Convention) -> list[str]:
    """Return the choices of a convention that are not those of another, as text."""
    ours, theirs = rule.to_dict(), other.to_dict()
    own, known = ours.pop("overrides"), theirs.pop("overrides")
    of_metrics = [
        f"{name}({', '.join(_unlike(own.get(name, {}), known.get(name, {})))})"
        for name in dict.fromkeys([*own, *known])
        if own.get(name, {}) != known.get(name, {})
    ]
    return [*_unlike(ours, theirs), *of_metrics]


def _unlike(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}={ours[name]!r}" if name in ours else f"without {name}"
        for name in dict.fromkeys([*ours, *theirs])
        if ours.get(name, ...) != theirs.get(name, ...)
    ]


def chosen(name: str) -> str | Convention:
    """Return the convention named on the command line: a preset, or a YAML file."""
    if name in PRESETS or not name.endswith((".yaml", ".yml")):
        convention(name)
        return name
    return Convention.from_yaml(name)
