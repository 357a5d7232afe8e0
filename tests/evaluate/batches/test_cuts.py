"""What batches may not be, and what used to be added up wrongly."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import rankine as rk
from rankine.errors import DataError, ParameterError

QRELS: dict[str, dict[str, int]] = {
    "a": {"x": 3, "y": 1, "z": 2},
    "b": {"x": 2, "y": 1},
    "c": {"x": 2, "y": 1},
}
RUN = {
    "a": {"x": 0.9, "y": 0.5, "z": 0.4},
    "b": {"x": 0.9, "y": 0.1},
    "c": {"x": 0.9, "y": 0.1},
}


def one_by_one(metric: Any, qrels: Any, run: Any, **options: Any) -> Any:
    total = rk.Accumulator(metric, **options)
    for query in qrels:
        total.update({query: qrels[query]}, {query: run[query]})
    return total.result()


@pytest.mark.parametrize("convention", ["rankine", "surprise"])
def test_pairs_that_weigh_by_users(convention: str) -> None:
    metric = rk.FCP(weighing="users") if convention == "rankine" else rk.FCP
    found = one_by_one(metric, QRELS, RUN, convention=convention)
    wanted = rk.evaluate(QRELS, RUN, metric, convention=convention)
    assert found.mean == wanted.mean
    assert found.per_query.equals(wanted.per_query)


@pytest.mark.parametrize("metric", ["FCP", "NDPM", "P", "RScore@3"])
def test_batches_without_a_value_can_be_shown(metric: str) -> None:
    qrels = {"a": {"x": 3, "y": 1}, "b": {"x": 1}, "c": {"x": 3, "y": 1}}
    run = {query: {"x": 0.9, "y": 0.5} for query in qrels}
    found = one_by_one(metric, qrels, run)
    wanted = rk.evaluate(qrels, run, metric)
    assert found.mean == wanted.mean
    assert found.interval(metric) == wanted.interval(metric)
    assert str(found)
    assert found.to_dict()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"train": {"u": ["a"]}}, {"train": {"u": ["b"]}}),
        ({"train": {"u": ["a"]}}, {"train": {"u": ["a"]}, "lower_is_better": True}),
        ({"train": {"u": ["a"]}}, {"train": {"u": ["a"]}, "lenient": True}),
        ({"catalog": ["a", "b"]}, {"catalog": ["b", "c"]}),
        ({"catalog": 5}, {"catalog": 6}),
        ({"items": {"a": "x"}}, {"items": {"a": "y"}}),
        ({"items": {"a": [1.0, 2.0]}}, {"items": {"a": [1.0, 3.0]}}),
        ({"items": {"a": "x", "b": "y"}}, {"items": {"a": "y", "b": "x"}}),
        (
            {"items": {"a": [1.0, 2.0], "b": [3.0, 5.0]}},
            {"items": {"b": [1.0, 2.0], "a": [3.0, 5.0]}},
        ),
        (
            {"items": sparse.csr_array([[1.0, 0.0], [0.0, 2.0]])},
            {"items": sparse.csr_array([[0.0, 1.0], [2.0, 0.0]])},
        ),
    ],
)
def test_what_is_known_must_be_the_same(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    metric = "Coverage@5"
    total = rk.Accumulator(metric, **one)
    with pytest.raises(ParameterError, match="differ in metrics or options"):
        total.merge(rk.Accumulator(metric, **other))
    total.merge(rk.Accumulator(metric, **one))


def test_judgements_and_list_belong_into_one_batch() -> None:
    for convention in ("rankine", "pytrec_eval"):
        total = rk.Accumulator("AP", convention=convention)
        total.update({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"]})
        with pytest.raises(DataError, match="judgements in one batch and a list in an"):
            total.update({"q3": {"a": 1}}, {"q2": ["a"], "q3": ["a"]})
        assert repr(total).endswith("in 1 batch)")
        other = rk.Accumulator("AP", convention=convention)
        other.update({"q3": {"a": 1}}, {"q2": ["a"], "q3": ["a"]})
        with pytest.raises(DataError, match="such as 'q2'"):
            total.merge(other)


def test_a_query_is_the_same_as_text() -> None:
    total = rk.Accumulator("AP").update({1: {"a": 1}}, {1: ["a"]})
    with pytest.raises(DataError, match="already seen in an earlier batch"):
        total.update({"1": {"a": 1}}, {"1": ["a"]})


@pytest.mark.parametrize("metric", ["AUC(universe=catalogue)", "Coverage"])
def test_a_catalogue_holds_the_items_of_all_batches(metric: str) -> None:
    total = rk.Accumulator(metric, catalog=3)
    total.update({"u": {"a": 1}}, {"u": ["a", "b"]})
    with pytest.raises(DataError, match="the catalogue has 3 items, but the batches"):
        total.update({"v": {"d": 1}}, {"v": ["c", "d"]})


def test_all_batches_have_judgements_or_none() -> None:
    total = rk.Accumulator("UserCoverage", train={"u": ["a"], "v": ["b"]})
    total.update({"u": {"a": 1}, "z": {"a": 1}}, {"u": ["a"]})
    with pytest.raises(DataError, match="some batches have judgements"):
        total.update({"v": ["a"]})


def test_intervals_do_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(0)
    qrels = {f"q{n}": {"a": 1, "b": 1, "c": 1} for n in range(30)}
    letters = list("abcdef")
    run = {query: rng.permutation(letters).tolist() for query in qrels}
    wanted = rk.evaluate(qrels, run, ["AP", "P@2"])
    backwards = {query: qrels[query] for query in reversed(qrels)}
    found = one_by_one(["AP", "P@2"], backwards, run)
    for metric in ("AP", "P@2"):
        for method in ("bootstrap", "t"):
            bounds = wanted.interval(metric, method=method)
            assert found.interval(metric, method=method) == bounds


def test_accumulated_diversity_has_no_interval() -> None:
    total = rk.Accumulator("InterListDiversity")
    found = total.update({"u": ["a"], "v": []}).update({"w": ["b"]}).result()
    assert math.isnan(found.interval("InterListDiversity").low)
    # A list without items is in no pair, as in one call.
    once = rk.evaluate(None, {"u": ["a"], "v": [], "w": ["b"]}, "InterListDiversity")
    (said,) = once.notes
    assert said == "InterListDiversity is undefined for 1 query: left out"
    assert found.notes == once.notes
    assert str(found)


def test_a_copy_goes_its_own_way() -> None:
    first = rk.Accumulator("RR").update({"q": {"a": 1}}, {"q": ["a"]})
    other = copy.copy(first)
    other.update({"p": {"a": 1}}, {"p": ["b"]})
    assert first.result().mean == {"RR": 1.0}
    assert other.result().mean == {"RR": 0.5}


LOG = pl.DataFrame(
    {
        "user_id": [1, 2, 1],
        "item_id": ["a", "b", "a"],
        "click": [1, 0, 1],
        "propensity": [0.5] * 3,
    }
)
OFFERED = pl.DataFrame({"user_id": [1, 2], "item_id": ["a", "b"]})


@pytest.mark.parametrize("n", ["logged", "recommended"])
def test_rounds_come_with_their_recommendations(n: str) -> None:
    total = rk.Accumulator("ctr", n=n, estimator="ips").update(LOG[:1], OFFERED[:1])
    with pytest.raises(DataError, match="user 1"):
        total.update(LOG[1:], OFFERED[1:])


@pytest.mark.slow
def test_the_order_of_recommendations_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = 40
        log = pl.DataFrame(
            {
                "user_id": rng.integers(0, 4, n),
                "item_id": rng.integers(0, 9, n),
                "click": rng.integers(0, 2, n),
                "propensity": rng.uniform(0.1, 1, n),
            }
        )
        rows = [(u, int(i)) for u in range(4) for i in rng.permutation(12)[:7]]
        offered = pl.DataFrame(rows, ["user_id", "item_id"], orient="row")
        offered = offered.with_columns(predicted=pl.Series(rng.random(28)))
        text = pl.col("item_id").cast(pl.String) + "x"
        wanted = rk.ctr(log, offered, ["dr", "dm"])
        total = rk.Accumulator("ctr", estimator=["dr", "dm"])
        for begin in range(0, n, 7):
            again = offered.sample(fraction=1, shuffle=True, seed=begin)
            total.update(log.slice(begin, 7), again)
        assert total.result() == wanted
        total = rk.Accumulator("ctr", estimator=["dr", "dm"])
        for begin in range(0, n, 7):
            again = offered.sample(fraction=1, shuffle=True, seed=begin)
            batch = log.slice(begin, 7).with_columns(text), again.with_columns(text)
            total.update(*batch)
        assert total.result() == wanted


def test_items_as_text_are_the_same_recommendations() -> None:
    offered = pl.DataFrame({"user_id": [1, 2], "item_id": [7, 8]})
    log = LOG.with_columns(item_id=pl.Series([7, 8, 7]))
    total = rk.Accumulator("ctr").update(log[:2], offered)
    total.update(log[2:].with_columns(pl.col("item_id").cast(pl.String)), offered)
    assert total.result().value == rk.ctr(log, offered).value


def test_options_of_ctr_are_checked_before_there_are_data() -> None:
    for options, message in (
        ({"seed": "x"}, "seed"),
        ({"any_reward": "no"}, "any_reward"),
        ({"estimator": []}, "no estimator"),
    ):
        with pytest.raises(ParameterError, match=message):
            rk.Accumulator("ctr", **options)
    names = {"item": "item_id", "user": "user_id"}
    turned = dict(reversed(names.items()))
    rk.Accumulator("ctr", columns=names).merge(rk.Accumulator("ctr", columns=turned))


def test_missing_ids_of_logs_are_told_without_an_option_that_is_not_there() -> None:
    with pytest.raises(DataError, match=r"are missing|is missing") as caught:
        rk.ctr(LOG.with_columns(item_id=pl.Series(["a", None, "b"])), OFFERED)
    assert "lenient" not in str(caught.value)


def test_shrunk_weights_of_tiny_propensities() -> None:
    log = LOG.with_columns(propensity=pl.Series([1e-300, 0.5, 0.5]))
    offered = OFFERED.with_columns(predicted=pl.lit(0.1))
    found = rk.ctr(log, offered, "dros", shrinkage=1e10)
    # The weight of the first is shrunk to nearly nothing, those of the others are 2.
    expected = (0.1 + 2 * (0 - 0.1) + 0.1 + 2 * (1 - 0.1) + 0.1) / 3
    assert found.value == pytest.approx(expected, rel=1e-9)


def test_shapes_must_be_the_same_in_all_batches() -> None:
    total = rk.Accumulator(rk.brier).update([1], [0.5])
    with pytest.raises(DataError, match="one column in one batch, and 2 classes"):
        total.update([0], [[0.5, 0.5]])
    total = rk.Accumulator("cross_entropy").update([0], [[0.5, 0.5]])
    with pytest.raises(DataError, match="2 classes in one batch, and 3 classes"):
        total.update([0], [[0.2, 0.3, 0.5]])
    with pytest.raises(DataError, match="expected one column"):
        rk.normalized_entropy([1, 0], [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]])


def test_the_layout_of_a_matrix_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        n, classes = int(rng.integers(2, 6)), int(rng.integers(3, 40))
        p, y = rng.dirichlet(np.ones(classes), size=n), rng.integers(0, classes, n)
        frame = pl.DataFrame(p)
        total = rk.Accumulator(rk.brier)
        for row in range(n):
            total.update(y[row : row + 1], frame[row : row + 1])
        assert (
            float(total.result()) == float(rk.brier(y, frame)) == float(rk.brier(y, p))
        )


def test_numbers_at_the_ends() -> None:
    assert rk.rmse([1e308, 0], [-1e308, 1e200]) == math.inf
    total = rk.Accumulator(rk.mae).update([1.7e308] * 2, [0, 0])
    assert total.update([1e308], [-1e308]).result() == math.inf
    log = pl.DataFrame(
        {
            "user_id": [1, 2, 2, 2],
            "item_id": ["a", "z", "z", "z"],
            "click": [1.0, 0, 0, 0],
            "propensity": [1e-10, 0.5, 0.5, 0.5],
        }
    )
    offered = pl.DataFrame(
        {"user_id": [1, 2], "item_id": ["a", "b"], "predicted": [-1e308, 1.7e308]}
    )
    assert rk.ctr(log, offered, "dr", any_reward=True).value == math.inf
    with pytest.raises(DataError, match="column of numbers"):
        rk.mae([10**400], [1])
    with pytest.raises(DataError, match="has 1 non-finite value"):
        rk.mae(np.ma.array([1, 2], mask=[False, True]), [1, 5])
    with pytest.raises(ParameterError, match="bins must be at most"):
        rk.expected_calibration_error([1], [0.5], bins=10**9)


def test_the_same_features_with_a_gap_are_the_same() -> None:
    def features() -> pl.DataFrame:
        return pl.DataFrame({"item": ["a", "b"], "x": [1.0, None], "y": [1.0, 3.0]})

    rk.Accumulator("ILD", items=features()).merge(
        rk.Accumulator("ILD", items=features())
    )


def test_none_merges_with_itself() -> None:
    for metric in ("RR", "ctr", "mae"):
        total = rk.Accumulator(metric)
        with pytest.raises(ParameterError, match="with itself"):
            total.merge(total)


def test_distances_of_a_list_do_not_depend_on_others() -> None:
    items = {f"i{n:02d}": [f"t{n % 3}", f"t{n % 5}"] for n in range(18)}
    rng = np.random.default_rng(1)
    lists = {
        f"u{n}": [f"i{at:02d}" for at in rng.permutation(18)[: rng.integers(2, 9)]]
        for n in range(60)
    }
    train = {user: own[:3] for user, own in lists.items()}
    metrics = ["ILD@4", "ILD", "Unexpectedness@4"]
    total = rk.Accumulator(metrics, items=items, train=train)
    for user in reversed(lists):
        total.update({user: lists[user]})
    wanted = rk.evaluate(None, lists, metrics, items=items, train=train)
    assert total.result().mean == wanted.mean
    found = total.result().per_query.sort("query")
    assert found.equals(wanted.per_query.sort("query"))


def test_sums_of_topics_do_not_depend_on_other_lists() -> None:
    items = {f"i{n:02d}": [f"t{n % 3}", f"t{n % 5}"] for n in range(18)}
    lists = {"u0": ["i11", "i17", "i06", "i10"]}
    alone = rk.evaluate(None, lists, "ILD@4", items=items)
    both = rk.evaluate(None, lists | {"u1": ["i00", "i01"]}, "ILD@4", items=items)
    assert alone.per_query["ILD@4"][0] == both.per_query["ILD@4"][0]


def test_files_are_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "q1").write_text("a 0 x 1\n")
    (tmp_path / "r1").write_text("a Q0 x 1 1 t\nb Q0 x 1 1 t\n")
    (tmp_path / "q2").write_text("b 0 x 1\nc 0 x 1\n")
    (tmp_path / "r2").write_text("c Q0 x 1 1 t\n")
    total = rk.Accumulator("RR").update(tmp_path / "q1", tmp_path / "r1")
    with pytest.raises(DataError, match="in one batch and a list in another"):
        total.update(tmp_path / "q2", tmp_path / "r2")


@pytest.mark.parametrize("told", [5, True, [], [["x"]], np.array(["x", "y"]), {"x": 1}])
def test_features_are_names(told: Any) -> None:
    frame = pl.DataFrame({"item": ["a"], "x": [1.0], "y": [2.0]})
    with pytest.raises(ParameterError, match="expected one name or several"):
        rk.evaluate(None, {"u": ["a"]}, "ILD", items=frame, columns={"features": told})


def test_features_are_those_of_a_table() -> None:
    for items in (None, {"a": [1.0]}):
        with pytest.raises(ParameterError, match="a frame or file in items="):
            rk.evaluate(
                None, {"u": ["a"]}, "Gini", items=items, catalog=2,
                columns={"features": "x"},
            )  # fmt: skip
    empty = pl.DataFrame({"item": pl.Series([None], dtype=pl.String), "x": [1.0]})
    with pytest.raises(DataError, match="contains no items"):
        rk.evaluate(None, {"u": ["a"]}, "ILD", items=empty, lenient=True)
