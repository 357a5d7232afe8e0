"""compare: numbers of whole runs, such as Coverage, by the jackknife."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import rankine as rk
from rankine.errors import ParameterError

CATALOG = 9
LISTS = {"u": ["a", "b"], "v": ["a", "c"], "w": ["d", "e"]}
SAME = {"u": ["a", "b"], "v": ["a", "b"], "w": ["a", "b"]}
RUNS = {"same": SAME, "own": LISTS}
METRICS = ["Coverage", "Gini@2", "Entropy", "GiniSimpson", "InterListDiversity@2"]
QRELS = {"u": {"b": 1}, "v": {"a": 1}, "w": {"e": 1}, "z": {"a": 1}}


def compared(metrics: Any = "Coverage", runs: Any = None, **options: Any) -> Any:
    options = {"catalog": CATALOG} | options
    return rk.compare(None, RUNS if runs is None else runs, metrics, **options)


def many(n: int = 60) -> dict[str, dict[str, list[str]]]:
    """Return two runs, of which the second shows far more items."""
    narrow = {f"u{user}": [f"i{user % 4}", "i9"] for user in range(n)}
    wide = {f"u{user}": [f"i{user % 37}", f"i{40 + user % 23}"] for user in range(n)}
    return {"narrow": narrow, "wide": wide}


def test_coverage_by_hand() -> None:
    row = compared().pairwise.row(0, named=True)

    # Two items and five; without u 2 and 4, without v 2 and 4, without w 2 and 3.
    d = np.array([4 - 2, 4 - 2, 3 - 2]) / CATALOG
    error = math.sqrt(2 / 3 * ((d - d.mean()) ** 2).sum())
    low, high = norm.interval(0.95, 3 / CATALOG, error)
    assert row["difference"] == pytest.approx(3 / CATALOG)
    assert (row["low"], row["high"]) == pytest.approx((low, high))
    assert row["p"] == pytest.approx(2 * norm.sf(3 / CATALOG / error))
    nothing = [
        row[name] for name in ("effect", "superiority", "wins", "ties", "losses")
    ]
    assert nothing == [None] * 5


@pytest.mark.parametrize("metric", METRICS)
def test_numbers_are_those_of_evaluate(metric: str) -> None:
    comparison = compared(METRICS)

    for name, run in RUNS.items():
        expected = rk.evaluate(None, run, METRICS, catalog=CATALOG)
        row = comparison.table.filter(run=name, metric=metric).row(0, named=True)
        assert row["mean"] == expected.mean[metric]
        assert row["n"] == 3


def anew(metric: str, runs: dict[str, Any], **options: Any) -> tuple[float, float]:
    """Return the difference of two runs and its error, every run evaluated again."""

    def number(run: dict[str, Any]) -> float:
        return rk.evaluate(None, run, metric, **options)[metric]

    def without(run: dict[str, Any], user: str) -> dict[str, Any]:
        return {key: items for key, items in run.items() if key != user}

    a, b = runs.values()
    users = sorted({*a, *b})
    d = [number(without(b, user)) - number(without(a, user)) for user in users]
    n = len(users)
    error = math.sqrt((n - 1) / n * sum((one - sum(d) / n) ** 2 for one in d))
    return number(b) - number(a), error


LIST = st.lists(st.sampled_from("abcdefgh"), max_size=4, unique=True)


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=15, deadline=None)
@given(
    lists=st.lists(st.tuples(LIST, LIST), min_size=5, max_size=7),
    missing=st.sampled_from(["", "u4"]),
)
def test_it_is_what_evaluating_again_gives(
    metric: str, lists: list[tuple[list[str], list[str]]], missing: str
) -> None:
    # Two users with lists in both runs, so that something is always left.
    lists = [(["a", "b"], ["a", "c"]), (["a"], ["b", "a"]), (["c"], ["c"]), *lists]
    old = {f"u{n}": own for n, (own, _) in enumerate(lists)}
    new = {f"u{n}": own for n, (_, own) in enumerate(lists) if f"u{n}" != missing}
    runs = {"old": old, "new": new}

    comparison = compared(metric, runs)

    difference, error = anew(metric, runs, catalog=CATALOG)
    row = comparison.pairwise.row(0, named=True)
    assert row["difference"] == pytest.approx(difference, abs=1e-12)
    assert comparison.pairs.n[0] == len(lists)
    if error > 1e-9:
        assert comparison.pairs.error[0] == pytest.approx(error, rel=1e-9, abs=1e-12)


def test_verdicts_follow_the_direction() -> None:
    comparison = compared(["Coverage", "Gini"], many(), catalog=100, margin=0.9)

    verdicts = comparison.pairwise["verdict"].to_list()
    assert verdicts == ["better, equivalent", "better, equivalent"]
    assert comparison.pairwise["difference"][1] < 0
    assert comparison.table["best"].to_list() == [False, False, True, True]


def test_they_are_corrected_with_the_others_of_a_family() -> None:
    metrics = ["Coverage", "Entropy", "RR"]
    runs = {name: {"u": own["u0"], **own} for name, own in many().items()}
    qrels = {"u0": {"i9": 1}, "u1": {"i1": 1}}
    options: dict[str, Any] = {"catalog": 100, "correction": "bonferroni"}

    apart = rk.compare(qrels, runs, metrics, **options).pairwise
    together = rk.compare(qrels, runs, metrics, family="all", **options).pairwise

    assert apart["p_corrected"].to_list() == apart["p"].to_list()
    expected = [min(3 * p, 1) for p in apart["p"]]
    assert together["p_corrected"].to_list() == pytest.approx(expected)


def test_values_per_query_are_as_without_them() -> None:
    runs = {"old": LISTS, "new": {"u": ["b"], "v": ["c", "a"], "x": ["a"]}}

    alone = rk.compare(QRELS, runs, ["RR"])
    beside = rk.compare(QRELS, runs, ["RR", "Coverage"], catalog=CATALOG)

    assert beside.pairwise.filter(metric="RR").rows() == alone.pairwise.rows()
    assert beside.queries == alone.queries
    assert str(beside.moved("RR", "old", "new")) == str(alone.moved("RR", "old", "new"))
    assert beside.risk("RR", "old") == alone.risk("RR", "old")


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "bootstrap"])
def test_a_note_says_how_they_were_tested(test: str) -> None:
    notes = compared(["Coverage", "Gini"], test=test).notes

    assert notes[0] == (
        "Coverage, Gini: a single number for 3 users together, valid for that many; "
        "differences are tested by the jackknife's z-test, which leaves out one user "
        f"at a time, not by {test}"
    )
    p = compared("Coverage", test=test).pairwise["p"][0]
    assert p == compared("Coverage").pairwise["p"][0]


def test_runs_of_different_numbers_of_users_are_warned_of() -> None:
    fewer = {user: LISTS[user] for user in ("u", "v")}

    comparison = compared(runs={"all": LISTS, "some": fewer})

    assert comparison.table["n"].to_list() == [3, 2]
    assert comparison.warnings[0] == (
        "Coverage depends on the number of users, which differs: all 3, some 2"
    )


def test_a_difference_that_hangs_on_no_user_has_no_error() -> None:
    # Every item is shown twice.
    runs = {
        "two": {user: ["a", "b"] for user in "uv"},
        "three": {user: ["a", "b", "c"] for user in "uv"},
    }

    comparison = compared(runs=runs)

    row = comparison.pairwise.row(0, named=True)
    assert (row["difference"], row["verdict"]) == (1 / CATALOG, "cannot tell")
    assert math.isnan(row["p"])
    assert math.isnan(row["low"])
    assert comparison.warnings[0] == (
        "Coverage: leaving out a user never changes the difference of two and three, "
        "so its error cannot be estimated"
    )


def test_what_a_convention_rounds_is_compared_as_it_is() -> None:
    rounded = rk.Convention(decimals=1)

    found = compared(["Coverage", "Entropy"], convention=rounded)

    assert found.table["mean"].to_list() == [0.2, 1.0, 0.6, 2.3]
    assert found.pairwise.rows() == compared(["Coverage", "Entropy"]).pairwise.rows()


def test_a_number_that_is_undefined_without_a_user_has_no_error() -> None:
    comparison = compared("Gini", {"one": {"u": ["a", "b"]}, "all": LISTS})

    row = comparison.pairwise.row(0, named=True)
    assert row["difference"] < 0
    assert math.isnan(row["p"])
    assert row["verdict"] == "cannot tell"


def test_users_are_in_the_order_of_their_ids() -> None:
    lists = {"w": ["a", "d", "e"], "v": ["a", "c"], "u": ["a"], "t": ["a", "b"]}

    saved = json.loads(compared(runs={"x": lists, "y": lists}).to_json())["saved"]

    # Of five items, t shows one alone, u none, v one, and w two.
    without = np.array([4, 5, 4, 3]) / CATALOG
    assert saved["wholes"][0]["without"] == [pytest.approx(without)] * 2


def test_sentences_and_tables_do_without_queries() -> None:
    comparison = compared(["Coverage"], many(), catalog=100)

    (sentence,) = comparison.sentences
    assert sentence.startswith("wide is better than narrow in Coverage by 0.5500 (")
    assert sentence.endswith("; p < 0.0001).")
    assert "None" not in str(comparison)
    assert "None" not in comparison._repr_html_()
    record = comparison.to_dict()["pairwise"][0]
    assert (record["wins"], record["effect"]) == (None, None)


def test_users_with_judgements_are_compared_by_who_gets_a_list() -> None:
    runs = {"old": {"u": ["a"], "v": ["b", "c"]}, "new": {"u": ["a", "b"], "w": ["c"]}}

    comparison = rk.compare(QRELS, runs, "UserCoverage@2")

    # Of u, v, w and z, v has two items in the one and u in the other run.
    d = np.array([0 - 1, 1 - 0, 1 - 1, 1 - 1]) / 3
    error = math.sqrt(3 / 4 * (d**2).sum())
    assert comparison.pairwise["difference"][0] == 0
    assert comparison.pairs.error[0] == pytest.approx(error)
    assert comparison.table["n"].to_list() == [4, 4]


@pytest.mark.parametrize("metric", METRICS)
def test_the_order_of_users_changes_no_bit(metric: str) -> None:
    turned = {name: dict(reversed(run.items())) for name, run in RUNS.items()}

    assert compared(metric).to_json() == compared(metric, turned).to_json()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correction": "maxt"}, "correction='maxt' flips the signs of values per que"),
        ({"test": "tukey_hsd"}, "test='tukey_hsd' needs values per query"),
        ({"by": {"u": "x", "v": "y", "w": "x"}}, "by= splits values per query"),
        ({"catalog": None}, "Coverage needs the catalogue; give catalog="),
        ({"metrics": "UserCoverage", "train": LISTS}, "compared only with judgements"),
        ({"metrics": "InterListDiversity(sample=2)"}, "draws users at random"),
        ({"metrics": "AUC(scope='pooled')"}, "is not a mean over queries"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        compared(**options)


def test_what_needs_values_per_query_is_refused() -> None:
    comparison = compared()

    with pytest.raises(ParameterError, match="users; no query has a value"):
        comparison.moved("Coverage", "same", "own")
    with pytest.raises(ParameterError, match="users; no query has a value"):
        comparison.risk("Coverage", "same")
    with pytest.raises(ParameterError, match="depends on how many there are"):
        rk.queries_needed(comparison, difference=0.1)


def test_queries_are_counted_for_the_other_metrics() -> None:
    comparison = rk.compare(QRELS, RUNS, ["RR", "Coverage"], catalog=CATALOG)

    found = rk.queries_needed(comparison, difference=0.1)

    assert [one.metric for one in found] == ["RR"]
