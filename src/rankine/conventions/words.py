"""The choices of a convention in words, for those who read why two tools differ."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

_WORDS: dict[tuple[str, Any], str] = {
    ("order", "score"): "ranks by the score",
    ("order", "given"): "takes the order given, whatever the scores",
    ("order", "rank"): "reads the rank column",
    ("tie", "id_desc"): "puts the larger id first among equal scores",
    ("tie", "id_asc"): "puts the smaller id first among equal scores",
    ("tie", "input"): "keeps the order given among equal scores",
    ("tie", "input_rev"): "turns the order given round among equal scores",
    ("tie", "average"): "averages over all orders of equal scores",
    ("tie", "best"): "takes the best order of equal scores",
    ("tie", "worst"): "takes the worst order of equal scores",
    ("score_bits", 64): "compares scores as 64-bit floats",
    ("score_bits", 32): "compares scores as 32-bit floats",
    ("duplicates", "error"): "refuses an item that stands twice",
    ("duplicates", "last"): "keeps the last row of an item that stands twice",
    ("duplicates", "count"): "counts an item that stands twice twice",
    ("duplicates", "set"): "counts an item that stands twice once, in its place",
    ("score_floor", None): "looks at no score to say what is relevant",
    ("unjudged", "nonrel"): "takes unjudged items for not relevant",
    ("unjudged", "removed"): "takes unjudged items out of the lists",
    ("pool", "qrels"): "counts all judged items, retrieved or not",
    ("pool", "list"): "knows only the items in the list",
    ("pool", "union"): "puts judged items that were not retrieved at the end, tied",
    ("p_den", "k"): "divides precision by k",
    ("p_den", "list"): "divides precision by the length of the list, up to k",
    ("p_den", "min_k_R"): "divides precision by min(k, R)",
    ("r_den", "R"): "divides recall by R",
    ("r_den", "min_k_R"): "divides recall by min(k, R)",
    ("ap_den", "R"): "divides AP by R",
    ("ap_den", "min_k_R"): "divides AP by min(k, R)",
    ("ap_den", "min_R_list"): "divides AP by min(R, length of the list)",
    ("ap_den", "hits"): "divides AP by the hits",
    ("ap_den", "k"): "divides AP by k",
    ("ap_den", "none"): "does not divide AP",
    ("ap_terms", "hits"): "sums the precision at the hits",
    ("ap_terms", "all_ranks"): "sums the precision at all ranks, not only at hits",
    ("gain", "binary"): "gains 1 for every relevant item",
    ("gain", "linear"): "gains the grade",
    ("gain", "exp2"): "gains 2^grade - 1",
    ("gain", "exp2_thr"): "gains 2^(grade - threshold + 1) - 1",
    ("gain", "scaled"): "gains the grade over the query's largest",
    ("gain_below_threshold", True): "lets grades below the threshold gain",
    ("gain_below_threshold", False): "lets grades below the threshold gain nothing",
    ("negative", "zero"): "lets negative grades gain nothing",
    ("negative", "error"): "refuses negative grades",
    ("negative", "keep"): "lets negative grades gain less than nothing",
    ("negative", "unjudged"): "takes items of a negative grade for unjudged",
    ("negative", "judged"): "takes items of a negative grade for judged",
    ("discount", "log2(r+1)"): "discounts by log2(rank + 1)",
    ("discount", "log2(max(r,b))"): "discounts by log2(rank) from rank 2 on",
    ("ideal", "judged@k"): "cuts the ideal list at k",
    ("ideal", "judged_all"): "does not cut the ideal list at k",
    ("ideal", "k_ones"): "takes an ideal list of k relevant items",
    ("ideal", "given_order@k"): "takes the judgements as given for the ideal list",
    ("queries", "qrels"): "averages over all judged queries",
    ("queries", "run"): "averages over the queries of the run",
    ("queries", "both"): "averages over queries that are judged and in the run",
    ("missing_run", "zero"): "counts queries missing from the run as 0",
    ("missing_run", "error"): "refuses a run that misses judged queries",
    ("empty_truth", "zero"): "counts queries without relevant items as 0",
    ("empty_truth", "skip"): "skips queries without relevant items",
    ("empty_truth", "one"): "counts queries without relevant items as 1",
    ("empty_truth", "nan"): "has no mean if a query has no relevant items",
    ("empty_truth", "error"): "refuses queries without relevant items",
    ("aggregate", "macro"): "averages over queries",
    ("aggregate", "micro"): "pools numerators and denominators over queries",
    ("aggregate", "sum"): "adds up over queries",
    ("aggregate", "mean"): "averages over queries",
    ("nothing", "nan"): "gives nan if no query is left",
    ("nothing", "zero"): "gives 0 if no query is left",
    ("nothing", "none"): "gives nothing if no query is left",
    ("nothing", "error"): "fails if no query is left",
    ("decimals", None): "does not round",
    # parameters of metrics
    ("ties", "last"): "counts a tied item as the last of its equals",
    ("ties", None): "takes tied items in their order",
    ("variant", "first"): "counts the first hit only",
    ("variant", "sum"): "sums 1 / rank over all hits",
    ("cut", "up"): "takes recall points at (long)(p * R + 0.9)",
    ("cut", "round"): "rounds recall points to the nearest hit",
    ("scope", "query"): "compares the items of each query",
    ("scope", "pooled"): "compares the scores of all queries together",
    ("scope", "weighted"): "weighs queries by their relevant items",
    ("universe", "list"): "compares all retrieved items",
    ("universe", "matched"): "compares items that are retrieved and judged",
    ("universe", "catalogue"): "compares all items of the catalogue",
    ("tied", "half"): "counts a tied pair half",
    ("tied", "right"): "counts a tied pair as right",
    ("tied", "wrong"): "counts a tied pair as wrong",
    ("tied", "order"): "takes a tied pair in its order",
    ("single", "undefined"): "has no value without pairs",
    ("single", "zero"): "counts queries without pairs as 0",
    ("single", "by_kind"): "counts a list of relevant items as 1, one of others as 0",
    ("variant", "recmetrics"): "divides the average precision by R",
    ("variant", "mean"): "averages recall over the ranks",
    ("weighing", "pairs"): "counts the pairs of all users together",
    ("weighing", "users"): "compares concordant pairs per user that has one with "
    "discordant pairs per user that has one",
    ("misses", "zero"): "counts queries without a hit as 0",
    ("misses", "undefined"): "skips queries without a hit",
    ("share", True): "gives a share",
    ("share", False): "gives a count",
    ("outside", "left_out"): "leaves out items that are not in the catalogue",
    ("outside", "counted"): "counts items that are not in the catalogue",
    ("complement", True): "gives 1 less the Gini index",
    ("complement", False): "gives the Gini index",
    ("divisor", "n"): "divides by the number of items",
    ("divisor", "n-1"): "divides by the number of items less one",
    ("divisor", "k"): "divides by k also for shorter lists",
    ("divisor", "list"): "divides by the length of the list",
    ("weight", "row"): "counts every row alike",
    ("weight", "list"): "counts every list alike",
    ("weight", "none"): "counts all ranks alike",
    ("weight", "log2"): "weighs ranks by 1 / log2(rank + 1)",
    ("judged", True): "counts relevant items only",
    ("judged", False): "counts all items",
    ("short", "undefined"): "has no value for lists of one item",
    ("short", "zero"): "counts lists of one item as 0",
    ("of", "wanted"): "divides by the topics of the relevant items",
    ("of", "all"): "divides by all topics",
    ("without", "undefined"): "leaves out users without topics to find",
    ("without", "zero"): "counts users without topics to find 0",
    ("longer", 0): "has as many items in the ideal list",
    ("longer", 1): "has one item more in the ideal list",
    ("wants", "relevant"): "takes all topics of relevant items alike",
    ("wants", "profile"): "takes topics as often as the user's items have them",
    ("max_grade", None): "takes the largest grade of all judgements for the scale",
    ("tail", "with_unjudged"): "adds the tail only to lists with unjudged items",
    ("tail", "always"): "adds the tail to every list",
    ("of", "items"): "takes a share of the items for the tail",
    ("of", "interactions"): "takes a share of the interactions for the tail",
    ("cold", "one"): "counts new items as if one user had them",
    ("cold", "zero"): "counts new items as nothing",
    ("cold", "tail"): "takes new items for part of the tail",
    ("cold", "head"): "does not take new items for part of the tail",
    ("by", "users"): "counts the users who had an item",
    ("by", "records"): "counts the records of an item",
    ("by", "features"): "compares the features of items",
    ("by", "own"): "counts items that the user did not have",
    ("scale", "none"): "does not scale",
    ("scale", "items"): "divides by the number of items shown",
    ("scale", "perfect"): "divides by what a list perfect for every topic would get",
    ("method", "popularity"): "expects popular items",
    ("method", "users"): "expects items that had the same users",
    ("least", 1): "asks for one item in a list",
    ("least", None): "asks for k items in a list",
}

_NUMBERS = {
    "p": "goes on to the next item with probability {:g}",
    "max_grade": "takes {:g} for the largest grade of the scale",
    "scale": "multiplies by {:g}",
    "padding": "takes the catalogue to be {} larger",
    "base": "takes logarithms to the base {:.4g}",
    "tail": "takes {:g} for the tail",
    "sample": "samples {} users where there are more",
    "runs": "takes {} samples",
    "seed": "begins its random numbers with {}",
}


def in_words(field: str, value: Any) -> str:
    """Say what a choice means.

    >>> in_words("ap_den", "min_k_R")
    'divides AP by min(k, R)'
    >>> in_words("threshold", 2)
    'takes grades from 2 on for relevant'
    """
    if field in {"threshold", "rel"} and value is not None:
        if 0 < value <= math.nextafter(0, 1):
            return "takes every grade above 0 for relevant"
        return f"takes grades from {value:g} on for relevant"
    if field == "score_floor" and value is not None:
        return f"never takes an item with a score of {value:g} or less for relevant"
    if field in _NUMBERS and isinstance(value, Real):
        return _NUMBERS[field].format(value)
    if field == "decimals" and value is not None:
        return f"rounds to {value} decimals"
    key = (field, value if isinstance(value, (str, int, bool, type(None))) else None)
    return _WORDS.get(key) or f"{field} is {value}"
