"""What tools do with empty lists, queries without relevant items, and short lists.

The numbers are those that the tools give, worked out by hand; `make oracle` holds them
against the tools themselves.
"""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError

# A list with its only relevant item second, an empty list, and one without judgements.
LIKED = {"u": {"b": 1}, "v": {"b": 1}}
LISTS = {"u": ["a", "b"], "v": [], "w": ["c"]}


def value(metric: str, convention: Any, *data: Any, **more: Any) -> float:
    """Return the number of one metric."""
    qrels, run = data or (LIKED, LISTS)
    ev = rk.evaluate(qrels, run, metric, convention=convention, **more)
    (number,) = ev.mean.values()
    return number


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # v is left out; w, without test items, counts 0 in precision alone.
        ("P@2", (1 / 2 + 0) / 2),
        ("P", (1 / 2 + 0) / 2),
        ("AP", (1 / 2) / 1),
        ("AP@1", 0.0),
        # Here v counts 0, and w is left out.
        ("R@2", (1 + 0) / 2),
        ("RR", (1 / 2 + 0) / 2),
        ("nDCG", (1 + 0) / 2),
        ("Success@2", (1 + 0) / 2),
        ("RBP", (1 - 0.85) * 0.85 / 2),
        ("RBP(p=0.5)", (1 - 0.5) * 0.5 / 2),
        # Not normalized, it needs no test items: w counts 0.
        ("DCG", (1 + 0 + 0) / 3),
    ],
)
def test_lenskit_and_empty_lists(metric: str, expected: float) -> None:
    assert value(metric, "lenskit") == pytest.approx(expected)


def test_empty_lists_in_batches() -> None:
    total = rk.Accumulator(["P@2", "AP"], convention="lenskit")
    total.update(LIKED, {"u": LISTS["u"]})
    total.update(LIKED, {"v": LISTS["v"]})
    assert total.result().mean == {"P@2": 1 / 2, "AP": 1 / 2}


def test_all_lists_are_empty() -> None:
    ev = rk.evaluate({"u": {"b": 1}}, {"u": []}, ["P@2", "R@2"], convention="lenskit")
    assert math.isnan(ev["P@2"])
    assert ev["R@2"] == 0
    assert "P@2 is undefined for 1 query: left out" in ev.notes


@pytest.mark.parametrize("name", ["rankine", "ranx", "trec_eval"])
def test_other_tools_count_an_empty_list(name: str) -> None:
    assert value("P@1", name, LIKED, {"u": ["b"], "v": []}) == 1 / 2


def test_missing_from_the_run_is_no_empty_list() -> None:
    rule = rk.Convention(empty_list="skip")
    assert value("P@1", rule, LIKED, {"u": ["b"], "v": []}) == 1
    assert value("P@1", rule, LIKED, {"u": ["b"]}) == 1 / 2


LOSSES = {"u": {"a": -1, "b": -2}}


def test_losses_under_lenskit() -> None:
    # LensKit up to 2025.8 divides losses by losses, and does not discount rank 2.
    order = {"u": ["b", "a"]}
    assert value("nDCG(gain='linear')", "lenskit", LOSSES, order) == (-2 - 1) / (-1 - 2)
    assert value("nDCG(gain='linear')@1", "lenskit", LOSSES, order) == -2 / -1
    assert value("DCG(gain='linear')", "lenskit", LOSSES, order) == -2 - 1


def test_losses_under_later_versions_of_lenskit() -> None:
    preset = rk.conventions()["lenskit"]
    own = {**preset.overrides["nDCG"], "negative": "zero", "empty_truth": "zero"}
    later = preset.replace(overrides={**preset.overrides, "nDCG": own})
    assert value("nDCG(gain='linear')", later, LOSSES, {"u": ["b", "a"]}) == 0


def test_losses_in_the_ideal_list() -> None:
    # The ideal list is b, a: 2 - 1 / 1 = 1, as rank 2 is not discounted.
    mixed = {"u": {"a": -1, "b": 2}}
    got = value("nDCG(gain='linear')", "lenskit", mixed, {"u": ["x", "y", "b"]})
    assert got == pytest.approx((2 / math.log2(3)) / (2 - 1))


def test_losses_under_torchmetrics() -> None:
    # The unjudged item, of grade 0, comes before the loss in the ideal list.
    mixed = {"u": {"a": -1, "b": 2}}
    ideal = 2 / math.log2(2) + 0 / math.log2(3) - 1 / math.log2(4)
    got = -1 / math.log2(2) + 0 / math.log2(3) + 2 / math.log2(4)
    run = {"u": {"a": 3.0, "x": 2.0, "b": 1.0}}
    assert value("nDCG", "torchmetrics", mixed, run) == pytest.approx(got / ideal)


# Of u, 3 of 4 pairs are in the right order; v has nothing to find.
PAIRS = {"u": {"a": 1, "b": 0, "c": 1, "d": 0}, "v": {"e": 0, "f": 0}}
SCORED = {
    "u": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0},
    "v": {"e": 2.0, "f": 1.0},
}
FATES = [
    ("zero", (3 / 4 + 0) / 2),
    ("skip", 3 / 4),
    ("one", (3 / 4 + 1) / 2),
    ("nan", math.nan),
]


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize(("fate", "expected"), FATES)
def test_queries_without_relevant_items_reach_auc(
    fate: str, expected: float, *, batches: bool
) -> None:
    rule = rk.conventions()["torchmetrics"].replace(empty_truth=fate)
    if batches:
        total = rk.Accumulator("AUC", convention=rule)
        for query, own in PAIRS.items():
            total.update({query: own}, {query: SCORED[query]})
        found = total.result()["AUC"]
    else:
        found = value("AUC", rule, PAIRS, SCORED)
    assert found == pytest.approx(expected, nan_ok=True)


def test_auc_refuses_queries_without_relevant_items() -> None:
    rule = rk.conventions()["torchmetrics"].replace(empty_truth="error")
    with pytest.raises(DataError, match=r"1 query without a relevant item \(v\)"):
        value("AUC", rule, PAIRS, SCORED)


def test_auc_of_torchmetrics_itself() -> None:
    assert value("AUC", "torchmetrics", PAIRS, SCORED) == (3 / 4 + 0) / 2


@pytest.mark.parametrize("fate", ["zero", "skip", "one", "nan", "error"])
def test_lists_of_relevant_items_alone_are_another_matter(fate: str) -> None:
    rule = rk.conventions()["torchmetrics"].replace(empty_truth=fate)
    assert value("AUC", rule, {"u": {"a": 1}}, {"u": {"a": 1.0}}) == 0


def test_auc_of_replay_by_the_convention() -> None:
    rule = rk.conventions()["replay"].replace(empty_truth="one")
    assert value("AUC@4", rule, PAIRS, SCORED) == (3 / 4 + 1) / 2


def test_auc_without_single_is_left_out() -> None:
    for fate in ("zero", "one", "nan"):
        rule = rk.Convention(empty_truth=fate)
        assert value("AUC", rule, PAIRS, SCORED) == 3 / 4


@pytest.mark.parametrize(
    ("fate", "expected"),
    [
        # u has one of two other items within rank 2, v only relevant items.
        (None, (1 / 2 + 1) / 2),
        ("zero", (1 / 2 + 0) / 2),
        ("skip", 1 / 2),
        ("nan", math.nan),
    ],
)
def test_fall_out_of_torchmetrics(fate: str | None, expected: float) -> None:
    rule = rk.conventions()["torchmetrics"]
    if fate is not None:
        own = {**rule.overrides["FallOut"], "empty_truth": fate}
        rule = rule.replace(overrides={**rule.overrides, "FallOut": own})
    qrels = {"u": PAIRS["u"], "v": {"e": 1, "f": 1}}
    found = value("FallOut@2", rule, qrels, SCORED)
    assert found == pytest.approx(expected, nan_ok=True)


def test_fall_out_says_what_a_query_lacks() -> None:
    ev = rk.evaluate(
        {"v": {"e": 1}}, {"v": ["e"]}, "FallOut", convention="torchmetrics"
    )
    assert ev["FallOut"] == 1
    assert any("1 query without an item that is not relevant" in n for n in ev.notes)


def test_fall_out_of_a_query_without_relevant_items_is_kept() -> None:
    # v has no value, w shows 1 of the 2 items that are there.
    qrels = {"v": {"a": 1, "b": 1}, "w": {"a": 0}}
    run = {"v": ["a"], "w": ["a"]}
    assert value("FallOut", "rankine", qrels, run, catalog=2) == (0 + 1 / 2) / 2


def test_accuracy_of_rectools_fills_lists_up() -> None:
    run = pl.DataFrame({"query": ["q"], "item": ["a"], "rank": [1]})
    metrics = ["Accuracy@2", "MCC@2"]
    ev = rk.evaluate({"q": {"a": 1}}, run, metrics, convention="rectools", catalog=10)
    # TP = 1, FP = 2 - 1, FN = 0, TN = 10 - 2 - 0
    assert ev["Accuracy@2"] == (1 + 8) / 10
    product = (1 + 1) * (1 + 0) * (8 + 1) * (8 + 0)
    assert ev["MCC@2"] == pytest.approx((1 * 8 - 1 * 0) / math.sqrt(product))
    assert not ev.warnings


# Items a and b have features, z has none.
FEATURES = {"a": [1.0, 0.0], "b": [0.0, 1.0]}
SHOWN = {
    "two": ["a", "b"],
    "three": ["a", "b", "z"],
    "half": ["a", "z"],
    "one": ["a"],
    "bare": ["z"],
}


@pytest.mark.parametrize(
    ("short", "expected"),
    [
        ("undefined", [1, 1, None, None, None]),
        ("zero", [1, 1, 0, 0, 0]),
        ("one_known", [1, 1, 0, 0, None]),
        ("one_shown", [1, 1, None, 0, 0]),
    ],
)
def test_lists_without_a_pair(short: str, expected: list[float | None]) -> None:
    ev = rk.evaluate(None, SHOWN, f"ILD(short='{short}')", items=FEATURES)
    assert ev.per_query[ev.per_query.columns[1]].fill_nan(None).to_list() == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rectools", (1 + 1 + 0 + 0) / 4),
        # LensKit's ILS is 1 for a single item.
        ("lenskit", (1 + 1 + 0 + 0) / 4),
        ("ranksys", (1 + 1 + 0 + 0 + 0) / 5),
        ("jurity", 1.0),
    ],
)
def test_lists_without_a_pair_by_tool(name: str, expected: float) -> None:
    assert value("ILD", name, None, SHOWN, items=FEATURES) == expected


@pytest.mark.parametrize("metric", ["Serendipity", "Unexpectedness(by='users')"])
def test_recommenders_has_no_mean_where_nobody_had_anything(metric: str) -> None:
    # Its mean over no users is nan, where that of its precision is 0.
    data = {"v": {"c": 1}}, {"u": ["a", "b"], "v": ["c"]}

    assert math.isnan(
        value(metric, "recommenders", *data, train={"w": ["a", "b", "c"]})
    )


@pytest.mark.parametrize(
    ("qrels", "run", "how"),
    [
        ({"q": {"a": 1}}, {"q": ["a", "b"]}, {}),
        ({"q": {"a": 1}}, {"q": ["a", "b"]}, {"lenient": True}),
        ({1: {2: 1}}, {"1": ["2", "3"]}, {}),
        (
            pl.DataFrame({"query": ["q"], "item": ["a"], "grade": [1]}),
            {"q": ["a", "b"]},
            {},
        ),
        (rk.from_scores([[1, 0]]), [[0, 1]], {}),
    ],
)
def test_places_in_lists_are_no_scores_for_a_floor(
    qrels: Any, run: Any, how: dict[str, Any]
) -> None:
    assert rk.evaluate(qrels, run, "RR", convention="torchmetrics", **how)["RR"] == 1


# p is found first, q has an empty list, and r a list without anything to find.
ASKED = {"p": {"a": 1}, "q": {"b": 1}, "r": {"a": 0}}
NOTHING = -math.inf
EMPTY: dict[str, Any] = {
    "lists": {"p": ["a", "b"], "q": [], "r": ["a"]},
    "scores by item": {"p": {"a": 0.9, "b": 0.2}, "q": {}, "r": {"a": 0.5}},
    "from_scores": rk.from_scores(
        [[0.9, 0.2], [NOTHING, NOTHING], [0.5, NOTHING]],
        queries=["p", "q", "r"], items=["a", "b"],
    ),
    "from_ranked": rk.from_ranked(
        [["a", "b"], ["-", "-"], ["a", "-"]], queries=["p", "q", "r"], pad="-"
    ),
    "objects with scores": {
        "p": [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.2}],
        "q": [], "r": [{"id": "a", "score": 0.5}],
    },
    "objects with ranks": {
        "p": [{"id": "a", "rank": 1}, {"id": "b", "rank": 2}],
        "q": [], "r": [{"id": "a", "rank": 1}],
    },
    "a column of lists": pl.DataFrame(
        {"query": ["p", "q", "r"], "items": [["a", "b"], [], ["a"]]}
    ),
    "rows": pl.DataFrame(
        {"query": ["p", "p", "r"], "item": ["a", "b", "a"], "score": [0.9, 0.2, 0.5]}
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", EMPTY)
def test_torchmetrics_has_no_rows_of_an_empty_list(form: str) -> None:
    metrics = ["RR", "P@2", "R@2", "nDCG@2", "Success@1"]
    ev = rk.evaluate(ASKED, EMPTY[form], metrics, convention="torchmetrics")

    # q is left out, and r, without a relevant item, counts 0.
    assert ev.mean == {"RR": 1 / 2, "P@2": 1 / 4, "R@2": 1 / 2, "nDCG@2": 1 / 2,
                       "Success@1": 1 / 2}  # fmt: skip
    assert "1 query without a relevant item: counted as 0" in ev.notes
    assert any("left out" in note for note in ev.notes)
