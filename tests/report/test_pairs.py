"""p-values and intervals say for how many pairs they hold, wherever they stand."""

from __future__ import annotations

import html
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import scipy.stats

import rankine as rk
from rankine._report import charts
from rankine._report.of_comparison import page_of
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

SPREAD = np.array([-1.0, 1.0] * 10)
"""Twenty differences with a mean of 0 and a standard deviation of sqrt(20 / 19)."""
ERROR = math.sqrt(20 / 19 / 20)


def compared(*columns: Floats, test: str = "t", **options: Any) -> rk.Comparison:
    """Compare systems b, c, ... of these values with a, which has 0 everywhere."""
    named = dict(zip("bcdef", columns, strict=False))
    table = {"query": range(len(columns[0])), "a": np.zeros(len(columns[0])), **named}
    options = {"baseline": "a"} | options
    return rk.compare_values(pl.DataFrame(table), test=test, **options)


def shifted(p: float) -> Floats:
    """Return differences whose paired t-test has this p-value."""
    shift: float = scipy.stats.t.ppf(1 - p / 2, 19) * ERROR
    return shift + SPREAD


def reach(level: float) -> float:
    """Return half the width of Student's interval of 20 such differences."""
    return float(scipy.stats.t.ppf(0.5 + level / 2, 19) * ERROR)


def test_a_sentence_says_that_p_is_corrected_and_the_interval_is_not() -> None:
    first, second = compared(shifted(0.03), SPREAD).sentences

    mean = float(scipy.stats.t.ppf(1 - 0.03 / 2, 19) * ERROR)
    low, high = mean - reach(0.95), mean + reach(0.95)
    # The interval is above 0, and p = 0.03 times two pairs is not below 0.05.
    assert low > 0
    assert first == (
        f"Cannot tell whether b is better than a in value: the difference is "
        f"{mean:+.4f} ({low:+.4f} to {high:+.4f} for this pair alone; p = 0.0600 after "
        "Holm's correction for 2 pairs); 10 of 20 queries gain, 10 lose."
    )
    assert second.endswith(
        f"the difference is +0.0000 ({-reach(0.95):+.4f} to {reach(0.95):+.4f} for "
        "this pair alone; p = 1.0000 after Holm's correction for 2 pairs); 10 of 20 "
        "queries gain, 10 lose."
    )


def test_one_pair_needs_no_such_words() -> None:
    (said,) = compared(shifted(0.03), intervals="simultaneous").sentences

    mean = float(scipy.stats.t.ppf(1 - 0.03 / 2, 19) * ERROR)
    low, high = mean - reach(0.95), mean + reach(0.95)
    assert said == (
        f"b is better than a in value by {mean:.4f} ({low:.4f} to {high:.4f}; "
        "p = 0.0300); 10 of 20 queries gain, 10 lose."
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"correction": "bonferroni"}, "after Bonferroni's correction for 2 pairs)"),
        (
            {"correction": "bh"},
            "after Benjamini and Hochberg's correction for 2 pairs)",
        ),
        (
            {"test": "randomization", "correction": "maxt", "draws": 99},
            "after MaxT correction for 2 pairs)",
        ),
    ],
)
def test_other_corrections_have_their_names(
    options: dict[str, Any], words: str
) -> None:
    comparison = compared(shifted(0.3), SPREAD, **options)

    assert all(words in said for said in comparison.sentences)
    assert all("for this pair alone;" in said for said in comparison.sentences)


@pytest.mark.parametrize(
    "options", [{"correction": "none"}, {"test": "tukey_hsd", "baseline": None}]
)
def test_where_p_and_interval_hold_for_the_same_nothing_is_said(
    options: dict[str, Any],
) -> None:
    comparison = compared(shifted(0.3), 2 * SPREAD, **options)

    assert not any("alone" in said for said in comparison.sentences)
    assert "alone" not in str(comparison)


def test_several_metrics_may_be_one_family() -> None:
    qrels = {f"q{n}": {"a": 1, "b": n % 2} for n in range(8)}
    runs = {
        "x": {f"q{n}": ["a", "b"] for n in range(8)},
        "y": {f"q{n}": ["b", "c", "a"] for n in range(8)},
    }

    comparison = rk.compare(qrels, runs, ["RR", "AP"], test="t", family="all")

    assert all("correction for 2 tests)" in said for said in comparison.sentences)


def test_simultaneous_intervals_stand_beside_those_of_the_pair() -> None:
    comparison = compared(shifted(0.001), SPREAD, intervals="simultaneous")

    mean = float(scipy.stats.t.ppf(1 - 0.001 / 2, 19) * ERROR)
    alone, both = reach(0.95), reach(1 - 0.05 / 2)
    assert comparison.sentences[0].startswith(
        f"b is better than a in value by {mean:.4f} ({mean - alone:.4f} to "
        f"{mean + alone:.4f} for this pair alone, {mean - both:.4f} to "
        f"{mean + both:.4f} for all 2 pairs at once; p = 0.0020 after Holm's "
        "correction for 2 pairs); "
    )
    row = comparison.pairwise.row(0, named=True)
    assert (row["low_all"], row["high_all"]) == pytest.approx(
        (mean - both, mean + both)
    )
    text = str(comparison).split("\n")
    place = next(n for n, line in enumerate(text) if f"{mean:+.4f}" in line)
    assert text[place + 1].split() == [
        f"{mean - alone:.4f}",
        "to",
        f"{mean + alone:.4f}",
    ]
    assert text[place + 2].split() == [f"{mean - both:.4f}", "to", f"{mean + both:.4f}"]


def test_without_being_asked_for_there_are_no_such_columns() -> None:
    columns = compared(shifted(0.001), SPREAD).pairwise.columns

    assert not {"low_all", "high_all"} & set(columns)


def test_where_a_step_finds_more_than_intervals_show_that_is_said() -> None:
    # Holm compares the second p-value with 0.05; its interval is one of 97.5 %.
    comparison = compared(shifted(0.001), shifted(0.04), intervals="simultaneous")

    assert comparison.pairwise["verdict"].to_list() == ["better", "better"]
    assert comparison.pairwise["low_all"][1] < 0
    said = (
        "a later step of Holm's correction finds a difference in 1 pair whose second "
        "interval includes 0: intervals show only the first step"
    )
    assert said in " ".join(str(comparison).split())
    assert said in html.unescape(page_of(comparison).text())
    for options in (
        {},
        {"intervals": "simultaneous", "correction": "bonferroni"},
    ):
        other = compared(shifted(0.001), shifted(0.04), **options)
        assert "later step" not in str(other)


@pytest.mark.parametrize(
    ("n", "test", "expected"),
    [
        # 2^40 flips are drawn, and none of 999 is as extreme: 1 / 1000.
        (40, "randomization", "at most 0.0010"),
        (40, "bootstrap", "at most 0.0010"),
        # All 2^8 flips are gone through, and two are as extreme: 1 / 128.
        (8, "randomization", "0.0078"),
        (40, "t", "< 0.0001"),
        (40, "sign", "< 0.0001"),
    ],
)
def test_a_p_value_at_the_floor_of_the_draws_is_only_a_bound(
    n: int, test: str, expected: str
) -> None:
    d = 1 + np.arange(n) / n

    comparison = compared(d, test=test, draws=999, baseline=None)

    words = expected if expected[0] in "a<" else f"= {expected}"
    assert f"; p {words}); " in comparison.sentences[0]
    row = next(line for line in str(comparison).split("\n") if " better " in line)
    assert row.count(expected) == 2
    assert f">{html.escape(expected)}<" in page_of(comparison).text()


def test_a_bound_is_corrected_as_one_and_rounded_up() -> None:
    d = 1 + np.arange(40) / 40

    comparison = compared(d, 2 * d, -d, test="randomization", draws=3000)

    # Three times 1 / 3001 is 0.00099967, and 1 / 3001 is 0.00033322.
    assert "p at most 0.0010 after Holm's correction for 3" in comparison.sentences[0]
    assert " at most 0.0004   at most 0.0010 " in str(comparison)


def test_maxt_draws_even_where_the_test_goes_through_all_flips() -> None:
    # Each pair differs in 6 queries, so that its p is 2 / 2^6; together in 30.
    columns = [np.zeros(30) for _ in range(5)]
    for number, column in enumerate(columns):
        column[6 * number : 6 * number + 6] = 1
    columns[0][:] = 5

    comparison = compared(
        *columns[:2], test="randomization", correction="maxt", draws=999
    )

    rows = [line for line in str(comparison).split("\n") if line.startswith("value ")]
    assert "at most 0.0010   at most 0.0010" in rows[0]
    assert " 0.0312 " in rows[1]


def test_no_number_of_a_whole_run_is_a_bound() -> None:
    lists = {
        "few": {f"u{n}": ["a", f"i{n % 3}"] for n in range(40)},
        "many": {f"u{n}": ["a", f"i{n}"] for n in range(40)},
    }

    comparison = rk.compare(None, lists, "Coverage", catalog=50, draws=10)

    assert comparison.pairwise["p"][0] <= 1 / 11
    assert "at most" not in str(comparison)


def test_equivalence_has_its_interval_and_p_value() -> None:
    (alone,) = compared(0.1 + SPREAD, margin=0.9).sentences
    first, _ = compared(0.1 + SPREAD, 3 * SPREAD, margin=0.9).sentences

    p = scipy.stats.t.sf((0.9 - 0.1) / ERROR, 19)
    low, high = 0.1 - reach(0.9), 0.1 + reach(0.9)
    assert 0.001 < p < 0.003
    assert alone == (
        "b and a are equivalent in value, within 0.9: the difference is +0.1000 (90 % "
        f"interval {low:+.4f} to {high:+.4f}; p = {p:.4f} by two one-sided tests)."
    )
    assert first == (
        "b and a are equivalent in value, within 0.9: the difference is +0.1000 (90 % "
        f"interval {low:+.4f} to {high:+.4f} for this pair alone; p = {2 * p:.4f} by "
        "two one-sided tests after Holm's correction for 2 pairs)."
    )


def test_what_is_better_and_equivalent_says_both() -> None:
    (said,) = compared(shifted(0.01), margin=2, confidence=0.9).sentences

    mean = float(scipy.stats.t.ppf(1 - 0.01 / 2, 19) * ERROR)
    low, high = mean - reach(0.8), mean + reach(0.8)
    assert said.startswith("b is better than a in value by ")
    assert said.endswith(
        f"; 10 of 20 queries gain, 10 lose. The difference is within the margin of 2 "
        f"(80 % interval {low:+.4f} to {high:+.4f}; p < 0.0001 by two one-sided tests)."
    )


HOLM = "p after Holm's correction for 2 pairs"
ALONE = "each interval is for its pair alone"
FIRST = "the first interval is for its pair alone, the second for all 2 pairs at once"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({}, f"t; {HOLM}; {ALONE}"),
        ({"test": "sign"}, f"sign; {HOLM}; {ALONE} (Student's t)"),
        ({"intervals": "simultaneous"}, f"t; {HOLM}; {FIRST}"),
        ({"correction": "none"}, "t"),
        (
            {"test": "tukey_hsd"},
            "tukey_hsd; p and intervals hold for all 3 pairs at once",
        ),
    ],
)
def test_the_text_says_below_the_tables_what_holds_for_what(
    options: dict[str, Any], line: str
) -> None:
    comparison = compared(shifted(0.3), 2 * SPREAD, **options)

    flat = " ".join(str(comparison).split())
    assert f" test: {line} letters before a mean mark the systems it beats;" in flat
    assert f"<li>test: {html.escape(line)}</li>" in comparison._repr_html_()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["this pair alone", "Holm, 2 pairs"]),
        (
            {"intervals": "simultaneous"},
            ["this pair alone", "all 2 pairs", "Holm, 2 pairs"],
        ),
        ({"correction": "none"}, []),
        ({"test": "tukey_hsd"}, ["all 3 pairs"]),
    ],
)
def test_the_heads_of_the_table_say_it_too(
    options: dict[str, Any], words: list[str]
) -> None:
    comparison = compared(shifted(0.3), SPREAD, **options)

    lines = str(comparison).split("\n")
    # The second line below all heads is that of the pairs.
    end = [n for n, line in enumerate(lines) if set(line) == {"─"}][1]
    head = "\n".join(lines[end - 3 : end])
    assert "difference" in head
    for word in ("this pair alone", "Holm, 2 pairs", "all 2 pairs", "all 3 pairs"):
        assert (word in head) == (word in words)


def test_a_forest_plot_says_what_its_lines_and_colours_are() -> None:
    plain = charts.forest(compared(shifted(0.3), SPREAD), "value")
    both = charts.forest(
        compared(shifted(0.3), SPREAD, intervals="simultaneous"), "value"
    )
    one = charts.forest(compared(SPREAD), "value")

    assert plain["title"]["subtitle"] == [
        "Lines: 95 % intervals for each pair alone.",
        "Colours: p after Holm's correction for 2 pairs.",
    ]
    assert both["title"]["subtitle"] == [
        "Thick lines: 95 % intervals for each pair alone.",
        "Thin lines: for all 2 pairs at once.",
        "Colours: p after Holm's correction for 2 pairs.",
    ]
    assert "subtitle" not in one["title"]
    row = both["data"]["values"][1]
    assert (row["low"], row["high"]) == pytest.approx((-reach(0.95), reach(0.95)))
    wide = reach(1 - 0.05 / 2)
    assert (row["always_low"], row["always_high"]) == pytest.approx((-wide, wide))
    assert "always_low" not in plain["data"]["values"][1]
    fields = [layer["encoding"]["x"].get("field") for layer in both["layer"]]
    assert "always_low" in fields


@pytest.mark.parametrize("correction", ["holm", "maxt"])
def test_simultaneous_intervals_are_saved(correction: str) -> None:
    wanted = compared(
        shifted(0.01), SPREAD, test="randomization", correction=correction,
        intervals="simultaneous", draws=500,
    )  # fmt: skip

    found = rk.load(wanted.to_json())

    assert found.settings == wanted.settings
    assert found.pairwise.equals(wanted.pairwise)
    assert str(found) == str(wanted)
    assert found.sentences == wanted.sentences
    assert json.loads(wanted.to_json())["intervals"] == "simultaneous"


def test_what_was_saved_before_has_intervals_of_each_pair() -> None:
    document = json.loads(compared(SPREAD).to_json())
    del document["intervals"]

    assert rk.load(json.dumps(document)).settings.intervals == "pair"


def test_letters_below_tables_name_the_test_and_the_correction() -> None:
    comparison = compared(shifted(0.001), SPREAD)
    said = (
        "Letters mark the systems that a system beats",
        "Test: t at 0.05, Holm's correction for 2 pairs",
    )

    assert comparison.to_markdown().endswith(f"|\n\n{'; '.join(said)}")
    latex = comparison.to_latex().split("\n")
    assert latex[-3:-1] == [rf"\multicolumn{{2}}{{l}}{{{line}}} \\" for line in said]
    one = compared(shifted(0.001), test="randomization", draws=99, confidence=0.9)
    assert one.to_markdown().endswith("beats; Test: randomization at 0.1")


def test_tables_without_letters_say_nothing_of_them() -> None:
    comparison = compared(SPREAD, 2 * SPREAD)

    assert "Letters" not in comparison.to_markdown()
    assert "Letters" not in comparison.to_latex()


def means_of(comparison: rk.Comparison, **options: Any) -> list[str]:
    lines = comparison.to_latex(**options).split("\n")
    return lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]


def test_latex_has_digits_an_order_and_intervals() -> None:
    comparison = compared(1 + SPREAD / 4, 3 + SPREAD / 4, correction="none")

    bounds = [comparison.table["low"].to_list(), comparison.table["high"].to_list()]
    (_, b_low, c_low), (_, b_high, c_high) = bounds
    assert means_of(comparison, digits=1) == [
        r"$^{a}$ a & 0.0 \\",
        r"$^{b}$ b & 1.0$^{a}$ \\",
        r"$^{c}$ c & \textbf{3.0}$^{a}$ \\",
    ]
    c = rf"{{\small ({c_low:.2f} to {c_high:.2f})}}"
    assert means_of(comparison, digits=2, sort="value", intervals=True) == [
        rf"$^{{c}}$ c & \textbf{{3.00}}$^{{a}}$ {c} \\",
        rf"$^{{b}}$ b & 1.00$^{{a}}$ {{\small ({b_low:.2f} to {b_high:.2f})}} \\",
        r"$^{a}$ a & 0.00 {\small (0.00 to 0.00)} \\",
    ]


def test_latex_sorts_the_best_first_also_where_that_is_the_smallest() -> None:
    comparison = compared(2 + SPREAD, 1 + SPREAD, higher_is_better=False)

    names = [line.split(" & ")[0][-1] for line in means_of(comparison, sort="value")]
    assert names == ["a", "c", "b"]


def test_latex_with_a_caption_is_a_float() -> None:
    comparison = compared(SPREAD)
    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, ["RR", "AP", "NumQ"])

    for result in (comparison, ev):
        inside = result.to_latex()
        found = result.to_latex(caption=r"Means \& all", label="tab:means")
        assert found.split("\n") == [
            r"\begin{table}",
            r"\centering",
            r"\caption{Means \& all}",
            r"\label{tab:means}",
            *inside.split("\n"),
            r"\end{table}",
        ]
        assert r"\label" not in result.to_latex(caption="Means")
        with pytest.raises(ParameterError, match="label= needs caption="):
            result.to_latex(label="tab:means")
        with pytest.raises(ParameterError, match="digits must be an integer of at"):
            result.to_latex(digits=-1)
    with pytest.raises(
        ParameterError, match="AP was not compared; the metrics are value"
    ):
        comparison.to_latex(sort="AP")
    with pytest.raises(ParameterError, match="sort must be one of name, value"):
        ev.to_latex(sort="AP")


def test_latex_of_an_evaluation_has_digits_an_order_and_no_intervals() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    ev = rk.evaluate(qrels, {"q1": ["a"], "q2": ["x", "b"]}, ["RR", "P@4", "NumQ"])

    def rows(**options: Any) -> list[str]:
        lines = ev.to_latex(**options).split("\n")
        return lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]

    # RR is (1 + 1/2) / 2, and P@4 is 1/4 for both queries.
    assert rows(intervals=False, digits=3) == [
        r"RR & 0.750 \\", r"P@4 & 0.250 \\", r"NumQ & 2 \\",
    ]  # fmt: skip
    assert [row.split()[0] for row in rows(sort="name")] == ["NumQ", "P@4", "RR"]
    assert [row.split()[0] for row in rows(sort="value")] == ["NumQ", "RR", "P@4"]
    assert rows(digits=1)[1] == r"P@4 & 0.2 & 0.2 to 0.2 \\"
    assert ev.to_latex(intervals=False).startswith(r"\begin{tabular}{lr}")
