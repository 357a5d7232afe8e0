"""The choices of a convention in words, to explain why two tools differ."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from rankine._base.text import QUERY, plural

_WORDS: dict[tuple[str, Any], str] = {
    ("order", "score"): "ranks by the score",
    ("order", "given"): "keeps the given order, whatever the scores",
    ("order", "rank"): "reads the rank column",
    ("order", "rank_value"): "uses the numbers in the rank column as the ranks",
    ("tie", "id_desc"): "puts the larger id first among equal scores",
    ("tie", "id_asc"): "puts the smaller id first among equal scores",
    ("tie", "input"): "keeps the given order among equal scores",
    ("tie", "input_rev"): "reverses the given order among equal scores",
    ("tie", "average"): "averages over all orders of equal scores",
    ("tie", "best"): "assumes the best order of equal scores",
    ("tie", "worst"): "assumes the worst order of equal scores",
    ("score_bits", 64): "compares scores as 64-bit floats",
    ("score_bits", 32): "compares scores as 32-bit floats",
    ("duplicates", "error"): "refuses repeated items",
    ("duplicates", "last"): "keeps the last row of a repeated item",
    ("duplicates", "count"): "counts a repeated item each time",
    ("duplicates", "set"): "counts a repeated item once, at its first rank",
    ("score_floor", None): "does not use scores to decide what is relevant",
    ("unjudged", "nonrel"): "counts unjudged items as not relevant",
    ("unjudged", "removed"): "removes unjudged items from the lists",
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
    ("gain", "binary"): "gives every relevant item a gain of 1",
    ("gain", "linear"): "uses the grade as the gain",
    ("gain", "exponential"): "uses 2^grade - 1 as the gain",
    ("gain", "exponential_rel"): "uses 2^(grade - threshold + 1) - 1 as the gain",
    ("gain", "scaled"): "uses the grade divided by the {unit}'s largest as the gain",
    ("gain_below_threshold", True): "gives grades below the threshold their gain",
    ("gain_below_threshold", False): "gives no gain to grades below the threshold",
    ("negative", "zero"): "gives no gain to negative grades",
    ("negative", "error"): "refuses negative grades",
    ("negative", "keep"): "gives negative grades a negative gain",
    ("negative", "unjudged"): "treats items with a negative grade as unjudged",
    ("negative", "judged"): "treats items with a negative grade as judged",
    ("discount", "log2"): "discounts by log2(rank + 1)",
    ("discount", "jk"): "discounts by log2(rank) from rank 2 on",
    ("ideal", "judged@k"): "cuts the ideal list at k",
    ("ideal", "judged"): "does not cut the ideal list at k",
    ("ideal", "judged@list"): "cuts the ideal list where the list ends",
    ("ideal", "k_ones"): "assumes an ideal list of k relevant items",
    ("ideal", "given@k"): "uses the judgements in the order given as the ideal list",
    ("queries", "qrels"): "averages over all judged {units}",
    ("queries", "run"): "averages over the {units} of the run",
    ("queries", "both"): "averages over {units} that are judged and in the run",
    ("missing_run", "zero"): "counts {units} missing from the run as 0",
    ("missing_run", "error"): "refuses a run that lacks judged {units}",
    ("empty_truth", "zero"): "counts {units} without relevant items as 0",
    ("empty_truth", "skip"): "skips {units} without relevant items",
    ("empty_truth", "one"): "counts {units} without relevant items as 1",
    ("empty_truth", "nan"): "has no mean if a {unit} has no relevant items",
    ("empty_truth", "error"): "refuses {units} without relevant items",
    ("empty_list", "keep"): "treats an empty list like any other",
    ("empty_list", "skip"): "skips {units} with an empty list",
    ("aggregate", "mean_of_ratios"): "averages over {units}",
    ("aggregate", "ratio_of_sums"): "pools numerators and denominators over {units}",
    ("aggregate", "sum"): "sums over {units}",
    ("aggregate", "mean"): "averages over {units}",
    ("nothing", "nan"): "gives nan if no {unit} is left",
    ("nothing", "zero"): "gives 0 if no {unit} is left",
    ("nothing", "none"): "gives nothing if no {unit} is left",
    ("nothing", "error"): "fails if no {unit} is left",
    ("decimals", None): "does not round",
    # parameters of metrics
    ("ties", "last"): "counts a tied item as the last of its equals",
    ("ties", None): "keeps tied items in their order",
    ("variant", "first"): "counts the first hit only",
    ("variant", "sum"): "sums 1 / rank over all hits",
    ("cut", "up"): "takes recall points at (long)(p * R + 0.9)",
    ("cut", "round"): "rounds recall points to the nearest hit",
    ("scope", "query"): "compares the items of each {unit}",
    ("scope", "pooled"): "compares the scores of all {units} together",
    ("scope", "weighted"): "weights {units} by their number of relevant items",
    ("universe", "list"): "compares all retrieved items",
    ("universe", "matched"): "compares items that are retrieved and judged",
    ("universe", "catalogue"): "compares all items of the catalogue",
    ("tied", "half"): "counts a tied pair as half",
    ("tied", "right"): "counts a tied pair as right",
    ("tied", "wrong"): "counts a tied pair as wrong",
    ("tied", "order"): "keeps a tied pair in its order",
    ("single", "undefined"): "has no value without pairs",
    ("single", "zero"): "counts lists of only relevant items as 0",
    ("single", "by_kind"): (
        "counts a list of only relevant items as 1, and a list without any as 0"
    ),
    ("variant", "recmetrics"): "divides the average precision by R",
    ("variant", "mean"): "averages recall over the ranks",
    ("weighing", "pairs"): "counts the pairs of all users together",
    ("weighing", "users"): (
        "compares concordant pairs per user who has one with discordant pairs per "
        "user who has one"
    ),
    ("misses", "zero"): "counts {units} without a hit as 0",
    ("misses", "undefined"): "skips {units} without a hit",
    ("share", True): "gives a share",
    ("share", False): "gives a count",
    ("outside", "left_out"): "leaves out items that are not in the catalogue",
    ("outside", "counted"): "counts items that are not in the catalogue",
    ("complement", True): "gives 1 minus the Gini index",
    ("complement", False): "gives the Gini index",
    ("divisor", "n"): "divides by the number of items",
    ("divisor", "n-1"): "divides by the number of items minus one",
    ("divisor", "k"): "divides by k even for shorter lists",
    ("divisor", "list"): "divides by the length of the list",
    ("weight", "row"): "weights every row equally",
    ("weight", "list"): "weights every list equally",
    ("weight", "none"): "weights all ranks equally",
    ("weight", "log2"): "weights ranks by 1 / log2(rank + 1)",
    ("judged", True): "counts relevant items only",
    ("judged", False): "counts all items",
    ("short", "undefined"): "has no value for lists without a pair of items",
    ("short", "zero"): "counts lists without a pair of items as 0",
    ("short", "one_known"): "counts lists with one item that has features as 0",
    ("short", "one_shown"): "counts lists of one item as 0",
    ("padded", True): "pads lists shorter than k with misses",
    ("padded", False): "leaves short lists as they are",
    ("of", "wanted"): "divides by the topics of the relevant items",
    ("of", "all"): "divides by all topics",
    ("without", "undefined"): "leaves out users without topics to find",
    ("without", "zero"): "counts users without topics to find as 0",
    ("longer", 0): "has no extra item in the ideal list",
    ("longer", 1): "has one extra item in the ideal list",
    ("wants", "relevant"): "weights all topics of relevant items equally",
    ("wants", "profile"): "weights topics by how often the user's items have them",
    ("max_grade", None): "uses the largest grade of all judgements as the scale",
    ("longest", None): "lets the reader continue without end",
    ("depth", "endless"): "compares lists without end",
    ("depth", "lists"): "compares lists down to the end of the longer one",
    ("tail", "with_unjudged"): "adds the tail only to lists with unjudged items",
    ("tail", "always"): "adds the tail to every list",
    ("of", "items"): "defines the tail as a share of the items",
    ("of", "interactions"): "defines the tail as a share of the interactions",
    ("cold", "one"): "counts new items as if one user had them",
    ("cold", "zero"): "counts new items as nothing",
    ("cold", "tail"): "counts new items as part of the tail",
    ("cold", "head"): "does not count new items as part of the tail",
    ("by", "users"): "counts the users who had an item",
    ("by", "records"): "counts the records of an item",
    ("by", "features"): "compares the features of items",
    ("by", "own"): "counts items that the user did not have",
    ("by", "reference"): "counts items that another recommender does not have",
    ("scale", "none"): "does not scale",
    ("scale", "items"): "divides by the number of items shown",
    ("scale", "perfect"): (
        "divides by the value of a list that is perfect for every topic"
    ),
    ("several", "split"): "splits an item with several topics among them",
    ("several", "whole"): "counts an item once for each of its topics",
    ("method", "popularity"): "expects popular items",
    ("method", "users"): "expects items that had the same users",
    ("sample", None): "looks at all lists",
    ("padding", 0): "takes the catalogue as it is",
    ("scale", 1): "does not scale",
    ("smoothing", 0): "adds nothing to the amounts of topics",
    ("least", 1): "requires one item in a list",
    ("least", None): "requires k items in a list",
}

_NUMBERS = {
    "p": "continues to the next item with probability {:g}",
    "max_grade": "uses {:g} as the largest grade of the scale",
    "longest": "stops after {} ranks",
    "scale": "multiplies by {:g}",
    "padding": "assumes a catalogue that is larger by {}",
    "smoothing": "adds {:g} to the amount of every topic",
    "base": "takes logarithms to the base {:.4g}",
    "tail": "uses {:g} for the tail",
    "sample": "samples {} users if there are more",
    "runs": "takes {} samples",
    "seed": "seeds its random numbers with {}",
}


def in_words(field: str, value: Any, unit: str = QUERY) -> str:
    """Say what a choice means, on data whose queries are called by a unit.

    >>> in_words("ap_den", "min_k_R")
    'divides AP by min(k, R)'
    >>> in_words("queries", "run", "user")
    'averages over the users of the run'
    >>> in_words("threshold", 2)
    'counts grades of at least 2 as relevant'
    """
    if field in {"threshold", "rel"} and value is not None:
        if 0 < value <= math.nextafter(0, 1):
            return "counts every grade above 0 as relevant"
        return f"counts grades of at least {value:g} as relevant"
    if field == "score_floor" and value is not None:
        return f"never counts an item with a score of {value:g} or less as relevant"
    if field == "decimals" and value is not None:
        return f"rounds to {value} decimals"
    if isinstance(value, (str, int, type(None))) and (field, value) in _WORDS:
        return _WORDS[field, value].format(unit=unit, units=plural(unit))
    if field in _NUMBERS and isinstance(value, Real):
        return _NUMBERS[field].format(value)
    return f"{field} is {value}"
