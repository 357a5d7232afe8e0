"""Charts: the rows that they draw are the numbers of the result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._report import charts, maps, specs
from rankine.errors import MissingExtraError, ParameterError

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}, "q4": {"d": 1}}
OLD = {"q1": ["x", "a"], "q2": ["b"], "q3": ["x", "y", "c"], "q4": ["d"]}
NEW = {"q1": ["a"], "q2": ["x", "b"], "q3": ["c"], "q4": ["d"]}
THIRD = {"q1": ["x", "a"], "q2": ["x", "b"], "q3": ["x", "c"], "q4": ["x", "d"]}


@pytest.fixture
def comparison() -> rk.Comparison:
    return rk.compare(QRELS, {"old": OLD, "new": NEW}, ["RR", "P@1"], baseline="old")


def rows_of(chart: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = chart.to_dict()["data"]["values"]
    return rows


def test_a_bar_per_query_the_largest_gain_first(comparison: rk.Comparison) -> None:
    rows = charts.query_rows(comparison, "RR", "old", "new")

    assert [row["query"] for row in rows] == ["q3", "q1", "q4", "q2"]
    assert [row["difference"] for row in rows] == [1 - 1 / 3, 1 - 1 / 2, 0, 1 / 2 - 1]
    assert [row["change"] for row in rows] == ["gains", "gains", "stays", "loses"]
    assert [(row["start"], row["end"]) for row in rows] == [
        (0, 1), (1, 2), (2, 3), (3, 4),
    ]  # fmt: skip
    assert [(row["a"], row["b"]) for row in rows] == [
        (1 / 3, 1), (1 / 2, 1), (1, 1), (1, 1 / 2),
    ]  # fmt: skip


def test_where_lower_is_better_a_smaller_value_is_a_gain() -> None:
    import polars as pl  # noqa: PLC0415 - for one test

    values = pl.DataFrame({"query": [1, 2], "x": [3.0, 1.0], "y": [1.0, 2.0]})
    comparison = rk.compare_values(values, higher_is_better=False)

    rows = charts.query_rows(comparison, "value", "x", "y")

    assert [(row["query"], row["change"]) for row in rows] == [
        ("1", "gains"), ("2", "loses"),
    ]  # fmt: skip


def test_a_forest_has_the_intervals_of_pairwise(comparison: rk.Comparison) -> None:
    (row,) = charts.forest(comparison, "RR")["data"]["values"]

    wanted = comparison.pairwise.row(0, named=True)
    assert row == {
        "label": "new",
        "value": ((1 - 1 / 3) + (1 - 1 / 2) + 0 + (1 / 2 - 1)) / 4,
        "low": wanted["low"],
        "high": wanted["high"],
        "verdict": "cannot tell",
    }


def test_without_a_baseline_both_names_label_a_pair() -> None:
    comparison = rk.compare(QRELS, {"old": OLD, "new": NEW, "third": THIRD}, "RR")

    rows = charts.forest(comparison, "RR")["data"]["values"]

    labels = ["old → new", "old → third", "new → third"]
    assert [row["label"] for row in rows] == labels


def test_of_many_pairs_those_with_the_best_system_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    comparison = rk.compare(QRELS, {"old": OLD, "new": NEW, "third": THIRD}, "RR")
    monkeypatch.setattr(charts, "_PAIRS", 2)

    rows = charts.shown_pairs(comparison, "RR")

    assert [(row["a"], row["b"]) for row in rows] == [("old", "new"), ("new", "third")]


def test_a_heat_map_shows_every_two_systems_from_both_sides() -> None:
    every = {f"q{n}": {"a": 1} for n in range(12)}
    low = {query: ["x", "a"] for query in every}
    high = {query: ["a"] for query in every}
    comparison = rk.compare(every, {"low": low, "high": high}, "RR")

    rows = charts.heatmap(comparison, "RR")["data"]["values"]

    # All 12 differences are 1/2: of 2**12 flips, two are as extreme.
    p = 2 / 2**12
    assert [(row["row"], row["column"], row["level"], row["p"]) for row in rows] == [
        ("high", "low", 3, p),
        ("low", "high", -3, p),
    ]


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
def test_a_heat_map_is_coloured_where_a_verdict_is_given(confidence: float) -> None:
    every = {f"q{n}": {"a": 1} for n in range(5)}
    low = {query: ["x", "a"] for query in every}
    high = {query: ["a"] for query in every}
    runs = {"low": low, "high": high}
    comparison = rk.compare(every, runs, "RR", confidence=confidence)

    rows = charts.heatmap(comparison, "RR")["data"]["values"]

    # Of 2**5 flips, two are as extreme: p = 0.0625.
    verdicts = {0.8: "better", 0.9: "better", 0.95: "cannot tell"}
    assert comparison.pairwise["verdict"].to_list() == [verdicts[confidence]]
    levels = {0.8: [1, -1], 0.9: [1, -1], 0.95: [0, 0]}
    assert [row["level"] for row in rows] == levels[confidence]


def test_with_a_baseline_a_heat_map_has_a_column_per_metric(
    comparison: rk.Comparison,
) -> None:
    rows = charts.heatmap(comparison, "RR")["data"]["values"]

    assert [(row["row"], row["column"]) for row in rows] == [
        ("new", "RR"), ("new", "P@1"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("p", "level"), [(0.001, 3), (0.0011, 2), (0.01, 2), (0.05, 1), (0.051, 0)]
)
def test_a_level_is_surer_the_smaller_p_is(p: float, level: int) -> None:
    assert maps.level_of(p, 0.05, better=True) == level
    assert maps.level_of(p, 0.05, better=False) == -level
    assert maps.level_of(2 * p, 0.1, better=True) == level


def test_an_undefined_p_is_no_level() -> None:
    assert maps.level_of(math.nan, 0.05, better=True) == 0


def test_a_curve_goes_up_to_the_cutoff_of_the_metric() -> None:
    comparison = rk.compare(QRELS, {"old": OLD, "new": NEW}, "P@3")

    rows = charts.curves(comparison, "P@3")["data"]["values"]

    # Of old, q2 and q4 have theirs first, q1 second, q3 third.
    points = [(row["system"], row["k"], row["value"]) for row in rows]
    assert points[:3] == [
        ("old", 1, 2 / 4), ("old", 2, 3 / 2 / 4), ("old", 3, pytest.approx(4 / 3 / 4)),
    ]  # fmt: skip
    assert {system for system, _, _ in points} == {"old", "new"}


def test_a_curve_has_bands_of_the_confidence_of_the_comparison() -> None:
    runs = {"old": OLD, "third": THIRD}
    comparison = rk.compare(QRELS, runs, "RR@3", confidence=0.5)

    rows = charts.curves(comparison, "RR@3")["data"]["values"]

    for name, row in (("old", rows[2]), ("third", rows[-1])):
        bounds = comparison.evaluations[name].interval("RR@3", 0.5)
        assert (row["k"], row["low"], row["high"]) == (3, *bounds)


def test_of_many_systems_the_best_have_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {"third": THIRD, "old": OLD, "new": NEW}
    comparison = rk.compare(QRELS, runs, "RR@5")
    monkeypatch.setattr(specs, "MOST_CURVES", 2)

    rows = charts.curves(comparison, "RR@5")["data"]["values"]

    assert list(dict.fromkeys(row["system"] for row in rows)) == ["old", "new"]


def test_the_baseline_has_a_curve_however_bad_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = {"new": NEW, "old": OLD, "third": THIRD}
    comparison = rk.compare(QRELS, runs, "RR@5", baseline="third")
    old, third = (comparison.evaluations[name]["RR@5"] for name in ("old", "third"))
    assert third < old
    monkeypatch.setattr(specs, "MOST_CURVES", 2)

    rows = charts.curves(comparison, "RR@5")["data"]["values"]

    assert list(dict.fromkeys(row["system"] for row in rows)) == ["new", "third"]


def test_systems_have_other_colours_than_verdicts() -> None:
    rows = [
        {"system": str(place), "k": 1, "value": 0.5, "low": 0.4, "high": 0.6}
        for place in range(specs.MOST_CURVES)
    ]

    colors = specs.curve(rows, "RR@k")["encoding"]["color"]["scale"]["range"]

    assert len(set(colors)) == specs.MOST_CURVES
    tested = {name: color for name, (color, _) in specs.VERDICTS.items()}
    del tested["mean"]  # of a single system, which is not compared
    assert not set(colors) & set(tested.values())


def test_the_means_of_an_evaluation_leave_out_counts() -> None:
    evaluation = rk.evaluate(QRELS, OLD, ["RR", "NumRelRet"])

    (row,) = charts.means(evaluation)["data"]["values"]

    low, high = evaluation.interval("RR")
    mean = (1 / 2 + 1 + 1 / 3 + 1) / 4
    assert row["label"] == "RR"
    assert row["value"] == pytest.approx(mean)
    assert (row["low"], row["high"]) == (low, high)


def bars(differences: list[float]) -> list[dict[str, Any]]:
    return [
        {
            "query": str(place), "a": 0.0, "b": d, "difference": d, "change": "gains",
            "start": place, "end": place + 1, "n": 1,
        }
        for place, d in enumerate(differences)
    ]  # fmt: skip


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60), st.integers(1, 20))
def test_fewer_bars_cover_the_same_queries(values: list[float], most: int) -> None:
    thinned = charts.thinned_bars(bars(values), most, "queries")

    assert len(thinned) <= max(most, 1)
    assert [bar["start"] for bar in thinned] == [0, *(b["end"] for b in thinned[:-1])]
    assert thinned[-1]["end"] == len(values)
    total = sum(bar["difference"] * (bar["end"] - bar["start"]) for bar in thinned)
    assert total == pytest.approx(sum(values), abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_fewer_points_stand_for_the_same_queries(values: list[float]) -> None:
    thinned = charts.thinned_points(bars(values), 1, "queries")

    assert sum(point["n"] for point in thinned) == len(values)
    mean = sum(point["b"] * point["n"] for point in thinned) / len(values)
    assert mean == pytest.approx(float(np.mean(values)), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["forest", "differences", "scatter", "curve", "heatmap"]
)
def test_a_comparison_is_drawn_by_altair(kind: str, comparison: rk.Comparison) -> None:
    altair = pytest.importorskip("altair")

    chart = comparison.plot(kind, "RR")

    assert isinstance(chart, altair.TopLevelMixin)
    assert rows_of(chart)
    assert chart.properties(title="mine").to_dict()["title"] == "mine"


@pytest.mark.parametrize("kind", ["forest", "histogram", "curve"])
def test_an_evaluation_is_drawn_by_altair(kind: str) -> None:
    pytest.importorskip("altair")

    chart = rk.evaluate(QRELS, OLD, "RR@3").plot(kind)

    assert rows_of(chart)


def test_chosen_systems_are_drawn() -> None:
    pytest.importorskip("altair")
    runs = {"old": OLD, "new": NEW, "third": THIRD}
    comparison = rk.compare(QRELS, runs, "RR")

    rows = rows_of(comparison.plot("scatter", "RR", "new", "third"))

    assert {row["query"]: (row["a"], row["b"]) for row in rows} == {
        "q1": (1, 1 / 2), "q2": (1 / 2, 1 / 2), "q3": (1, 1 / 2), "q4": (1, 1 / 2),
    }  # fmt: skip


def test_other_kinds_metrics_and_systems_are_refused(
    comparison: rk.Comparison,
) -> None:
    with pytest.raises(ParameterError, match="kind must be one of forest, differences"):
        comparison.plot("forrest")
    with pytest.raises(ParameterError, match="AP was not compared; the metrics are RR"):
        comparison.plot("forest", "AP")
    with pytest.raises(ParameterError, match="no system is called 'olt'"):
        comparison.plot("scatter", a="olt")
    with pytest.raises(ParameterError, match="AP was not evaluated"):
        rk.evaluate(QRELS, OLD, "RR").plot("histogram", "AP")


def test_a_number_of_a_whole_run_has_no_bars() -> None:
    lists = {"x": {"u": ["a"], "v": ["b"]}, "y": {"u": ["a"], "v": ["a"]}}
    comparison = rk.compare(None, lists, "Coverage", catalog=3)

    with pytest.raises(ParameterError, match="users; no query has a value"):
        comparison.plot("differences")


def test_values_alone_have_no_curve() -> None:
    import polars as pl  # noqa: PLC0415 - for one test

    values = pl.DataFrame({"query": [1, 2], "x": [0.1, 0.2], "y": [0.2, 0.3]})

    with pytest.raises(ParameterError, match="has only values"):
        rk.compare_values(values).plot("curve")


def test_without_altair_the_extra_is_named(
    comparison: rk.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(charts, "import_module", absent)

    with pytest.raises(MissingExtraError, match=r"rankine-eval\[report\]"):
        comparison.plot()


def test_calibration_has_a_point_per_bin() -> None:
    pytest.importorskip("altair")

    rows = rows_of(rk.plot.calibration([1, 0, 1, 1], [0.9, 0.2, 0.8, 0.7], bins=2))

    assert rows == [
        {"mean": pytest.approx(0.2), "share": 0, "n": 1},
        {"mean": pytest.approx((0.9 + 0.8 + 0.7) / 3), "share": 1, "n": 3},
    ]


def test_examination_takes_shares_by_rank() -> None:
    pytest.importorskip("altair")

    rows = rows_of(rk.plot.examination({3: 0.2, 1: 1}))

    assert rows == [{"rank": 1, "share": 1}, {"rank": 3, "share": 0.2}]


@pytest.mark.parametrize("shares", [[], {}, [1, -0.1], [1, "often"]])
def test_other_shares_are_refused(shares: Any) -> None:
    with pytest.raises(ParameterError, match=r"examination is empty|the share of"):
        rk.plot.examination(shares)


def test_long_labels_keep_what_tells_them_apart() -> None:
    converter = pytest.importorskip("vl_convert")
    start = "conversion_rate, the variant with a long name"
    rows = [
        {
            "label": f"{start}, {segment}", "value": 0.1, "low": 0.0, "high": 0.2,
            "verdict": "better",
        }
        for segment in ("at", "de")
    ]  # fmt: skip

    drawn = converter.vegalite_to_svg(specs.forest(rows, "lift"))

    for segment in ("at", "de"):
        assert f"…a long name, {segment}</text>" in drawn
    assert drawn.count("conversion_rate,") >= 2
    days = [
        {"system": row["label"], "day": "2026-03-01", "value": 1, "low": 0, "high": 2}
        for row in rows
    ]
    legend = converter.vegalite_to_svg(specs.over_days(days, "ctr"))
    for segment in ("at", "de"):
        assert f"…a long name, {segment}</text>" in legend
