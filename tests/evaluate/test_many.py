"""Several collections: each by itself, and the means over them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import t as student

import rankine as rk
from rankine._stats.intervals import Sample, macro_interval
from rankine.errors import DataError, FormatError, ParameterError
from tests.report.pages import Parsed

RANKS = {"dl19": [1, 2, 4, 1], "dl20": [2, 2, 1], "touche": [4, 1, 2, 2, 4]}
BETTER = {"dl19": [1, 1, 2, 1], "dl20": [1, 2, 1], "touche": [4, 1, 1, 2, 1]}


def qrels(name: str) -> dict[str, dict[str, int]]:
    return {f"q{n}": {"a": 1} for n in range(len(RANKS[name]))}


def run(ranks: list[int]) -> dict[str, list[str]]:
    """Return lists whose relevant item is at these ranks."""
    return {f"q{n}": [*"xyz"[: rank - 1], "a"] for n, rank in enumerate(ranks)}


ONE = {name: (qrels(name), run(ranks)) for name, ranks in RANKS.items()}
TWO = {
    name: (qrels(name), {"old": run(RANKS[name]), "new": run(BETTER[name])})
    for name in RANKS
}
MEANS = {name: np.mean([1 / rank for rank in ranks]) for name, ranks in RANKS.items()}
D = {
    name: [1 / b - 1 / a for a, b in zip(RANKS[name], BETTER[name], strict=True)]
    for name in RANKS
}


# --- one system


def test_every_collection_counts_the_same() -> None:
    ev = rk.evaluate_many(ONE, ["RR", "P@1"])

    assert ev["RR"] == pytest.approx(sum(MEANS.values()) / 3)
    assert ev["P@1"] == pytest.approx((2 / 4 + 1 / 3 + 1 / 5) / 3)
    assert ev.mean == {"RR": ev["RR"], "P@1": ev["P@1"]}
    assert ev["MRR"] == ev["RR"]
    assert ev.metrics == ("RR", "P@1")


def test_the_table_has_collections_then_their_means() -> None:
    ev = rk.evaluate_many(ONE, ["RR", "P@1"])

    assert ev.table.columns == ["collection", "metric", "mean", "low", "high", "n"]
    assert ev.table["collection"].unique(maintain_order=True).to_list() == [
        "dl19", "dl20", "touche", "macro",
    ]  # fmt: skip
    assert ev.table["n"].to_list() == [4, 4, 3, 3, 5, 5, 12, 12]
    row = ev.table.row(4, named=True)
    single = rk.evaluate(*ONE["touche"], "RR")
    assert (row["mean"], row["low"], row["high"]) == (
        single["RR"], *single.interval("RR")
    )  # fmt: skip
    macro = ev.table.row(6, named=True)
    assert (macro["low"], macro["high"]) == ev.interval("RR")


@pytest.mark.parametrize("method", ["bootstrap", "t"])
@pytest.mark.parametrize("metric", ["RR", "gm_AP", "NumRelRet", "Coverage"])
def test_the_mean_of_one_collection_is_its_own(method: str, metric: str) -> None:
    data = {"dl19": ONE["dl19"]}
    ev = rk.evaluate_many(data, metric, catalog=9)
    single = rk.evaluate(*ONE["dl19"], metric, catalog=9)

    assert ev[metric] == single[metric]
    np.testing.assert_equal(
        ev.interval(metric, 0.9, method, seed=3),
        single.interval(metric, 0.9, method, seed=3),
    )


def test_the_interval_adds_up_the_errors_of_the_collections() -> None:
    ev = rk.evaluate_many(ONE, "RR")
    values = [np.array([1 / rank for rank in ranks]) for ranks in RANKS.values()]
    parts = np.array([v.var(ddof=1) / len(v) for v in values])
    n = np.array([len(v) for v in values])

    low, high = ev.interval("RR", 0.9, "t")

    df = parts.sum() ** 2 / (parts**2 / (n - 1)).sum()
    reach = student.ppf(0.95, df) * math.sqrt(parts.sum()) / 3
    assert (low, high) == pytest.approx((ev["RR"] - reach, ev["RR"] + reach))
    drawn = macro_interval([Sample(v, number=v.mean()) for v in values])
    assert ev.interval("RR") == pytest.approx(drawn)


def test_the_order_of_collections_does_not_matter() -> None:
    ev = rk.evaluate_many(ONE, "RR")
    turned = rk.evaluate_many(dict(reversed(ONE.items())), "RR")

    assert turned["RR"] == ev["RR"]
    assert turned.interval("RR") == ev.interval("RR")


def test_options_and_conventions_are_those_of_evaluate() -> None:
    ev = rk.evaluate_many(ONE, "P@10", convention="ranx", depth=2)
    single = rk.evaluate(*ONE["dl20"], "P@10", convention="ranx", depth=2)

    assert ev.collections["dl20"].mean == single.mean
    assert ev.collections["dl20"].name == "dl20"
    assert "Convention: ranx" in str(ev)
    with pytest.raises(ParameterError, match="evaluate_many has no option 'dept'"):
        rk.evaluate_many(ONE, "RR", dept=2)


def test_a_collection_without_a_number_leaves_no_mean() -> None:
    rule = rk.Convention(empty_truth="nan")
    empty = {"none": ({"q": {"a": 0}}, {"q": ["a"]})}

    ev = rk.evaluate_many(ONE | empty, "RR", convention=rule)

    assert math.isnan(ev["RR"])
    assert ev.to_dict()["macro"]["RR"] == {"value": None, "low": None, "high": None}
    assert "undefined" in str(ev)


def test_it_has_scalars_for_loggers() -> None:
    ev = rk.evaluate_many(ONE, "RR@10")

    scalars = ev.scalars("val/")

    assert list(scalars) == [
        "val/dl19/rr_at_10", "val/dl20/rr_at_10", "val/touche/rr_at_10",
        "val/macro/rr_at_10",
    ]  # fmt: skip
    assert scalars["val/macro/rr_at_10"] == ev["RR@10"]
    bounds = ev.scalars(intervals=True)
    assert bounds["macro/rr_at_10_high"] == ev.interval("RR@10").high
    assert list(ev.scalars(safe=False))[-1] == "macro/RR@10"


def test_notes_say_which_collection_they_are_about() -> None:
    missed = {"q9": {"b": 1}}
    more = (qrels("dl19") | missed, ONE["dl19"][1])

    ev = rk.evaluate_many({"dl19": more, "dl20": ONE["dl20"]}, "RR")

    assert (
        ev.notes[0] == "macro: the mean over 2 collections, each with the same weight"
    )
    assert any(note.startswith("dl19: 1 ") for note in ev.notes[1:])
    assert not any(note.startswith("dl20: ") for note in ev.notes)


def test_it_is_shown_as_text_markdown_html_and_json() -> None:
    ev = rk.evaluate_many({"a|b": ONE["dl19"], "dl20": ONE["dl20"]}, ["RR", "P@1"])

    text = str(ev)
    lines = text.splitlines()
    assert lines[0].split() == ["RR", "P@1"]
    assert f"macro {ev['RR']:.4f} {ev['P@1']:.4f}" in " ".join(text.split())
    assert "dl20 (3)" in text
    markdown = ev.to_markdown().splitlines()
    assert markdown[2] == f"| a\\|b (4) | {MEANS['dl19']:.4f} | {2 / 4:.4f} |"
    (rows,) = Parsed(ev._repr_html_()).tables.values()
    assert [row[0] for row in rows] == ["", "a|b (4)", "dl20 (3)", "macro"]
    assert json.loads(json.dumps(ev.to_dict()))["macro"]["RR"]["value"] == ev["RR"]
    assert repr(ev) == f"MacroEvaluation(RR={ev['RR']:.4f}, P@1={ev['P@1']:.4f})"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], r"collections must be {name: \(qrels, run\)}, got list"),
        ({}, "there is no collection"),
        ({"macro": ONE["dl19"]}, "'macro' is the name of the mean"),
        ({"a": ONE["dl19"][0]}, r"collection 'a' must be \(qrels, run\), got dict"),
        ({"a": (1, 2, 3)}, "got a tuple of 3"),
        ({1: ONE["dl19"], "1": ONE["dl20"]}, "same name as text: 1, 1"),
    ],
)
def test_what_is_no_collection_is_refused(data: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        rk.evaluate_many(data, "RR")


def test_an_error_in_the_data_names_the_collection(tmp_path: Any) -> None:
    (tmp_path / "bad.txt").write_text("q1 0 a\n")

    with pytest.raises(FormatError, match=r"^dl20: .*bad\.txt"):
        rk.evaluate_many(
            {"dl19": ONE["dl19"], "dl20": (tmp_path / "bad.txt", ONE["dl20"][1])}, "RR"
        )


# --- several systems


def test_the_means_and_their_difference_are_those_over_collections() -> None:
    many = rk.compare_many(TWO, "RR")

    old, new = (rk.evaluate_many(
        {name: (truth, runs[system]) for name, (truth, runs) in TWO.items()}, "RR"
    ) for system in ("old", "new"))  # fmt: skip
    macro = many.table.filter(collection="macro")
    assert macro["mean"].to_list() == [old["RR"], new["RR"]]
    assert macro.select("low", "high").rows() == [
        old.interval("RR"), new.interval("RR")
    ]  # fmt: skip
    pair = many.pairwise.filter(collection="macro").row(0, named=True)
    assert pair["difference"] == pytest.approx(new["RR"] - old["RR"])
    assert pair["difference"] == pytest.approx(
        sum(np.mean(values) for values in D.values()) / 3
    )


def test_the_test_is_of_the_flips_of_all_differences() -> None:
    parts = np.concatenate([np.array(values) / len(values) for values in D.values()])
    parts = parts[parts != 0]
    signs = (np.arange(1 << len(parts))[:, None] >> np.arange(len(parts)) & 1) * 2 - 1
    extreme = np.abs(signs @ parts) >= abs(parts.sum()) - 1e-12

    many = rk.compare_many(TWO, "RR")

    pair = many.pairwise.filter(collection="macro").row(0, named=True)
    assert pair["p"] == extreme.mean()


def test_students_test_adds_up_the_errors() -> None:
    arrays = [np.array(values) for values in D.values()]
    parts = np.array([v.var(ddof=1) / len(v) for v in arrays])
    n = np.array([len(v) for v in arrays])
    df = parts.sum() ** 2 / (parts**2 / (n - 1)).sum()
    mean, error = np.mean([v.mean() for v in arrays]), math.sqrt(parts.sum()) / 3

    many = rk.compare_many(TWO, "RR", test="t", confidence=0.9)

    pair = many.pairwise.filter(collection="macro").row(0, named=True)
    assert pair["p"] == pytest.approx(2 * student.sf(mean / error, df))
    reach = student.ppf(0.95, df) * error
    assert (pair["low"], pair["high"]) == pytest.approx((mean - reach, mean + reach))


def test_each_collection_is_compared_as_by_itself() -> None:
    many = rk.compare_many(TWO, ["RR", "P@1"], baseline="old", seed=2)

    for name, (truth, runs) in TWO.items():
        single = rk.compare(truth, runs, ["RR", "P@1"], baseline="old", seed=2)
        assert_frame_equal(
            many.pairwise.filter(collection=name).drop("collection"), single.pairwise
        )
        assert_frame_equal(
            many.table.filter(collection=name).drop("collection"), single.table
        )


@pytest.mark.parametrize("test", ["randomization", "t"])
def test_one_collection_alone_is_its_own_mean(test: str) -> None:
    data = {"touche": TWO["touche"]}

    many = rk.compare_many(data, "RR", test=test)

    macro, own = (many.pairwise.filter(collection=name) for name in ("macro", "touche"))
    assert_frame_equal(macro.drop("collection"), own.drop("collection"))
    macro, own = (many.table.filter(collection=name) for name in ("macro", "touche"))
    assert_frame_equal(macro.drop("collection"), own.drop("collection"))


def test_the_order_of_collections_changes_no_p_value() -> None:
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {}
    for name in ("b", "a"):
        truth = {f"q{n}": {"a": 1} for n in range(30)}
        ranks = rng.integers(1, 5, (3, 30)).tolist()
        data[name] = truth, dict(zip("xyz", map(run, ranks), strict=True))

    how: dict[str, Any] = {"correction": "maxt", "draws": 500}
    first = rk.compare_many(data, "RR", **how)
    second = rk.compare_many(dict(reversed(data.items())), "RR", **how)

    assert_frame_equal(first.macro.pairwise, second.macro.pairwise)


def test_a_query_that_a_system_lacks_is_left_out_of_its_collection() -> None:
    rule = rk.Convention(queries="both")
    truth, runs = TWO["dl19"]
    fewer = {query: items for query, items in runs["new"].items() if query != "q2"}
    data = TWO | {"dl19": (truth, {"old": runs["old"], "new": fewer})}

    many = rk.compare_many(data, "RR", convention=rule)

    pair = many.pairwise.filter(collection="macro").row(0, named=True)
    left = [d for n, d in enumerate(D["dl19"]) if n != 2]
    means = [np.mean(left), np.mean(D["dl20"]), np.mean(D["touche"])]
    assert pair["difference"] == pytest.approx(np.mean(means))
    assert any(note.startswith("dl19: RR: 1 query without") for note in many.notes)


def test_weights_count_inside_their_collection() -> None:
    weights = {f"q{n}": n + 1.0 for n in range(5)}

    many = rk.compare_many(TWO, "RR", weights=weights)

    means = [
        np.average(values, weights=np.arange(len(values)) + 1) for values in D.values()
    ]
    pair = many.pairwise.filter(collection="macro").row(0, named=True)
    assert pair["difference"] == pytest.approx(np.mean(means))


def test_p_values_of_means_are_corrected_among_themselves() -> None:
    data = {
        name: (truth, runs | {"third": run([1] * len(truth))})
        for name, (truth, runs) in TWO.items()
    }

    many = rk.compare_many(data, "RR", correction="bonferroni")

    macro = many.pairwise.filter(collection="macro")
    for p, corrected in macro.select("p", "p_corrected").rows():
        assert corrected == pytest.approx(min(1, 3 * p))
    assert macro.height == 3


def test_margins_settings_and_simultaneous_intervals_hold_for_means() -> None:
    many = rk.compare_many(
        TWO, "RR", margin=5, confidence=0.9, correction="maxt",
        intervals="simultaneous",
    )  # fmt: skip

    assert many.macro.settings.confidence == 0.9
    assert many.macro.margins == {"RR": 5}
    assert {"low_all", "high_all"} <= set(many.pairwise.columns)


def test_the_comparison_of_means_has_collections_as_segments() -> None:
    many = rk.compare_many(TWO, "RR")

    segments = many.macro.segments
    assert segments["segment"].unique().sort().to_list() == sorted(TWO)
    new = segments.filter(segment="dl20", run="new").row(0, named=True)
    assert new["mean"] == pytest.approx(np.mean([1 / rank for rank in BETTER["dl20"]]))
    assert "dl20/q0" in many.macro.queries
    assert many.macro.moved("RR", "old", "new", 1)[0].query == "touche/q4"


def test_the_comparison_of_means_is_saved_and_loaded(tmp_path: Any) -> None:
    many = rk.compare_many(TWO, ["RR", "P@1"], test="t")
    many.macro.save(tmp_path / "macro.json")

    again = rk.load(tmp_path / "macro.json")

    assert_frame_equal(again.pairwise, many.macro.pairwise, check_exact=True)
    assert_frame_equal(again.table, many.macro.table, check_exact=True)
    assert again.sentences == many.sentences


@pytest.mark.parametrize("strata", [[1, 1, 1], [0, 2], "x", [0] * 11 + [2], [1] * 12])
def test_damaged_numbers_of_collections_are_refused(strata: Any) -> None:
    document = json.loads(rk.compare_many(TWO, "RR").macro.to_json())
    document["saved"]["strata"] = strata

    with pytest.raises(FormatError, match="strata"):
        rk.load(json.dumps(document))


def test_a_comparison_of_an_older_file_has_no_collections() -> None:
    cmp = rk.compare(*TWO["dl19"], "RR")
    document = json.loads(cmp.to_json())
    del document["saved"]["strata"]

    assert_frame_equal(rk.load(json.dumps(document)).pairwise, cmp.pairwise)


def test_it_is_shown_as_text_html_markdown_and_latex() -> None:
    many = rk.compare_many(TWO, ["RR", "P@1"])
    macro = many.macro.table.filter(metric="RR")["mean"].to_list()

    text = " ".join(str(many).split())
    assert f"macro {macro[0]:.4f} {macro[1]:.4f}*" in text
    assert "old to new" in text
    assert "touche (5)" in text
    assert "the mean over 3 collections, each with the same weight" in text
    tables = Parsed(many._repr_html_()).tables
    assert [row[0] for row in tables["RR"]] == [
        "", "dl19 (4)", "dl20 (3)", "touche (5)", "macro",
    ]  # fmt: skip
    assert tables["RR"][0][1:] == ["a old", "b new"]
    assert tables["P@1"][-1][1].startswith(f"{(2 / 4 + 1 / 3 + 1 / 5) / 3:.4f}")
    head, _, old, new, *_ = many.to_markdown().splitlines()
    assert head.split(" | ")[-1] == "P@1 macro |"
    assert old.split(" | ")[4] == f"{macro[0]:.4f}"
    assert new.split(" | ")[4] == f"**{macro[1]:.4f}**"
    latex = many.to_latex(digits=2, caption="Two systems", label="tab:two")
    assert f"& {macro[0]:.2f} &" in latex
    assert r"\caption{Two systems}" in latex
    alone = rk.compare_many(TWO, "RR").to_latex()
    assert r"run & dl19 & dl20 & touche & macro \\" in alone
    assert json.loads(json.dumps(many.to_dict()))["macro"]["systems"] == ["old", "new"]
    assert repr(many) == "MacroComparison(old, new: RR, P@1; dl19, dl20, touche)"


@pytest.mark.slow
def test_a_report_of_the_means_can_be_written(tmp_path: Any) -> None:
    rk.compare_many(TWO, "RR").macro.report(tmp_path / "report.html")

    assert "dl19/q0" in (tmp_path / "report.html").read_text()


def test_a_system_that_a_collection_lacks_is_refused() -> None:
    truth, runs = TWO["dl20"]
    data = TWO | {"dl20": (truth, {"old": runs["old"]})}

    with pytest.raises(ParameterError, match="'dl20' has no run of 'new', but 'dl19'"):
        rk.compare_many(data, "RR")
    data = TWO | {"dl20": (truth, runs | {"more": runs["old"]})}
    with pytest.raises(ParameterError, match="'dl19' has no run of 'more', but 'dl20'"):
        rk.compare_many(data, "RR")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "bootstrap"}, "does not test the mean of several collections"),
        ({"test": "sign"}, "tests that do are randomization, t"),
        ({"metrics": "Coverage", "catalog": 9}, "Coverage is a single number for all"),
        ({"metrics": "gm_AP"}, "not a mean over queries"),
        ({"baseline": "third"}, "baseline must be one of old, new"),
        ({"margin": {"AP": 0.1}}, "margin is given for AP"),
        ({"dept": 3}, "compare_many has no option 'dept'"),
        ({"by": {}}, "compare_many has no option 'by'"),
    ],
)
def test_what_has_no_mean_over_collections_is_refused(
    options: dict[str, Any], message: str
) -> None:
    metrics = options.pop("metrics", "RR")

    with pytest.raises(ParameterError, match=message):
        rk.compare_many(TWO, metrics, **options)


def test_queries_of_the_same_name_are_refused() -> None:
    truth = {"b/q": {"a": 1}}, {"q": {"a": 1}}
    first, second = (
        (one, {"old": {key: ["a"] for key in one}, "new": {key: ["a"] for key in one}})
        for one in truth
    )

    with pytest.raises(ParameterError, match="query of the same name"):
        rk.compare_many({"a": first, "a/b": second}, "RR")


def test_systems_without_a_common_query_are_refused_by_their_collection() -> None:
    rule = rk.Convention(queries="both")
    truth, runs = TWO["dl19"]
    apart = {
        "old": {"q0": runs["old"]["q0"]}, "new": {"q1": runs["new"]["q1"]}
    }  # fmt: skip

    with pytest.raises(DataError, match=r"^dl19: old and new have no query in common"):
        rk.compare_many(TWO | {"dl19": (truth, apart)}, "RR", convention=rule)


def test_queries_needed_is_for_a_single_collection() -> None:
    many = rk.compare_many(TWO, "RR")

    with pytest.raises(ParameterError, match="for a single collection"):
        rk.queries_needed(many.macro, difference=0.1)
    assert rk.queries_needed(many.collections["dl19"], difference=0.1)


def test_files_and_patterns_are_read(tmp_path: Any) -> None:
    for name, (truth, runs) in TWO.items():
        folder = tmp_path / name
        folder.mkdir()
        lines = [f"{query} 0 a 1" for query in truth]
        (folder / "qrels.txt").write_text("\n".join(lines) + "\n")
        for system, lists in runs.items():
            rows = [
                f"{query} Q0 {item} {rank} {9 - rank} x"
                for query, items in lists.items()
                for rank, item in enumerate(items, 1)
            ]
            (folder / f"{system}.run").write_text("\n".join(rows) + "\n")

    many = rk.compare_many(
        {n: (tmp_path / n / "qrels.txt", str(tmp_path / n / "*.run")) for n in TWO},
        "RR",
    )

    means = rk.compare_many(TWO, "RR").macro.table.select("run", "mean").rows()
    assert dict(many.macro.table.select("run", "mean").rows()) == {
        f"{system}.run": mean for system, mean in means
    }
