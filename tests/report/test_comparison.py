"""A comparison as text, Markdown, LaTeX, HTML and JSON, whatever names it holds."""

import json
import re
from html.parser import HTMLParser
from typing import Any, NoReturn

import numpy as np
import polars as pl
import pytest

import rankine as rk
from tests.evaluate.comparisons import RUNS, compared, frame, values_compared

HOSTILE = [
    "a|b", "x_y_z", "R&D", "50%", r"\input{secret}", "<script>alert(1)</script>",
    "[red]bold[/red]", "*star*", "`tick`", "$x^2$ #~", "two\nlines", "\x1b[31mred",
]  # fmt: skip


def named(*names: str) -> rk.Comparison:
    """Compare systems of these names; every one is better than those before."""
    table = frame(len(names), n=40)
    return values_compared(
        table.rename({f"s{n}": name for n, name in enumerate(names)}), test="t"
    )


LETTERS = "Letters mark the systems that a system beats", "Test: t at 0.05"
"""What stands below a table with letters."""


def cells_of(line: str) -> list[str]:
    """Take a row of a Markdown table apart, at marks that are not escaped."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_keeps_names_within_their_cells(name: str) -> None:
    text = named("plain", name).to_markdown()

    *lines, empty, below = text.split("\n")
    assert (empty, below) == ("", "; ".join(LETTERS))
    assert [len(cells_of(line)) for line in lines] == [2, 2, 2, 2]
    assert "<script" not in re.sub(r"\\.", "", text)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a|b", r"b a\|b"),
        ("x_y_z", r"b x\_y\_z"),
        ("*star*", r"b \*star\*"),
        (r"\input{secret}", r"b \\input{secret}"),
        ("<script>", r"b \<script\>"),
        ("two\nlines", r"b two\\nlines"),
    ],
)
def test_markdown_escapes_marks(name: str, expected: str) -> None:
    line = named("plain", name).to_markdown().split("\n")[-3]

    assert line.startswith(f"| {expected} | ")


def test_markdown_has_means_with_letters_and_the_best_in_bold() -> None:
    comparison = named("low", "high")

    low, high = (f"{mean:.4f}" for mean in comparison.table["mean"])
    assert comparison.to_markdown().split("\n") == [
        "| run | value |",
        "|---|---:|",
        f"| a low | {low} |",
        f"| b high | **{high}**<sup>a</sup> |",
        "",
        "; ".join(LETTERS),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("R&D", r"R\&D"),
        ("50%", r"50\%"),
        ("x_y_z", r"x\_y\_z"),
        (r"\input{secret}", r"\textbackslash{}input\{secret\}"),
        ("$x^2$ #~", r"\$x\textasciicircum{}2\$ \#\textasciitilde{}"),
        ("two\nlines", r"two\textbackslash{}nlines"),
    ],
)
def test_latex_escapes_names(name: str, expected: str) -> None:
    text = named("plain", name).to_latex()

    line = text.split("\n")[-5]
    assert line.startswith(rf"$^{{b}}$ {expected} & ")
    assert len(re.findall(r"(?<!\\)&", line)) == 1


def test_latex_has_means_with_letters_and_the_best_in_bold() -> None:
    comparison = named("low", "high")

    low, high = (f"{mean:.4f}" for mean in comparison.table["mean"])
    assert comparison.to_latex().split("\n") == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"run & value \\",
        r"\midrule",
        rf"$^{{a}}$ low & {low} \\",
        rf"$^{{b}}$ high & \textbf{{{high}}}$^{{a}}$ \\",
        r"\bottomrule",
        *(rf"\multicolumn{{2}}{{l}}{{{line}}} \\" for line in LETTERS),
        r"\end{tabular}",
    ]


class _Tags(HTMLParser):
    """Collect what tags there are, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        del attrs
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("name", HOSTILE)
def test_html_escapes_names(name: str) -> None:
    page = _Tags()

    page.feed(named("plain", name)._repr_html_())

    assert page.tags <= {
        "div", "table", "thead", "tbody", "tr", "th", "td", "br", "ul", "li", "caption",
    }  # fmt: skip
    if "\n" not in name and "\x1b" not in name:
        assert f"b {name}" in page.text
        assert f"plain to {name}" in page.text


@pytest.mark.parametrize("name", HOSTILE)
def test_json_holds_names_as_they_are(name: str) -> None:
    comparison = named("plain", name)

    read = json.loads(comparison.to_json())

    assert read["systems"] == ["plain", name]
    assert read["pairwise"][0]["b"] == name


def refuse(constant: str) -> NoReturn:
    pytest.fail(f"{constant} is no JSON")


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "tukey_hsd"])
def test_json_holds_no_nan(test: str) -> None:
    # One system has no value at all, another is constant: much is undefined.
    table = pl.DataFrame(
        {
            "query": ["a", "b", "c"],
            "x": [0.1, 0.2, None],
            "y": [0.2, 0.3, 0.5],
            "z": [None, 0.1, 0.1],
        }
    )
    comparison = rk.compare_values(table, test=test, margin=0.1)

    read = json.loads(comparison.to_json(), parse_constant=refuse)

    assert json.loads(json.dumps(comparison.to_dict()), parse_constant=refuse)
    assert read["values"]["value"]["x"] == [0.1, 0.2, None]
    assert read["values"]["value"]["z"] == [None, 0.1, 0.1]
    # x and z share one query, which has no interval.
    shared = next(row for row in read["pairwise"] if (row["a"], row["b"]) == ("x", "z"))
    if test != "tukey_hsd":
        assert (shared["low"], shared["high"], shared["effect"]) == (None, None, None)


def test_the_dictionary_says_how_systems_were_compared() -> None:
    comparison = compared(
        ["RR", "AP"], baseline="old", test="t", family="all", margin={"RR": 0.1}, seed=3
    )

    found = comparison.to_dict()

    assert found["kind"] == "comparison"
    assert json.loads(comparison.to_json())["rankine"] == rk.__version__
    assert (found["test"], found["correction"], found["family"]) == ("t", "holm", "all")
    assert (found["baseline"], found["margins"]) == ("old", {"RR": 0.1})
    assert (found["confidence"], found["draws"], found["seed"]) == (0.95, 500, 3)
    assert (found["systems"], found["queries"]) == (list(RUNS), 5)
    assert found["table"] == comparison.table.to_dicts()
    assert found["pairwise"] == comparison.pairwise.to_dicts()
    assert found["notes"] == list(comparison.notes)
    assert found["warnings"] == list(comparison.warnings)


def test_text_has_every_mean_difference_and_note() -> None:
    comparison = compared(["RR", "AP"])

    text = str(comparison)

    for row in comparison.table.iter_rows(named=True):
        assert f"{row['mean']:.4f}" in text
        assert f"{row['low']:.4f} to {row['high']:.4f}" in text
    for row in comparison.pairwise.iter_rows(named=True):
        assert f"{row['difference']:+.4f}" in text
        assert f"{row['a']} to {row['b']}" in text
        assert f"{row['wins']} {row['ties']} {row['losses']}" in text
    flat = " ".join(text.split())
    assert all(" ".join(note.split()) in flat for note in comparison.notes)
    assert all(" ".join(note.split()) in flat for note in comparison.warnings)


def test_text_has_every_mean_of_many_metrics() -> None:
    comparison = compared([f"nDCG@{k}" for k in range(1, 13)])

    text = str(comparison)

    means = [f"{mean:.4f}" for mean in comparison.table["mean"]]
    assert [mean for mean in means if mean not in text] == []


def test_text_has_every_mean_beside_long_names() -> None:
    comparison = named("a system with a long name " * 5, "short")

    text = str(comparison)

    means = [f"{mean:.4f}" for mean in comparison.table["mean"]]
    assert [mean for mean in means if mean not in text] == []


def test_text_is_safe_to_print() -> None:
    text = str(named("plain", "\x1b[31mred"))

    assert "\x1b" not in text
    assert r"\x1b[31mred" in text


def test_text_does_not_take_names_for_markup() -> None:
    assert "b [red]bold[/red]" in str(named("plain", "[red]bold[/red]"))


@pytest.mark.parametrize(
    ("test", "correction", "expected"),
    [
        ("t", "holm", "t; p after Holm's correction for 3 pairs; "),
        ("randomization", "maxt", "randomization; p after MaxT correction for 3 pairs"),
        ("t", "none", "t"),
        ("tukey_hsd", "holm", "tukey_hsd; p and intervals hold for all 3 pairs"),
        ("randomized_tukey_hsd", "none", "randomized_tukey_hsd; p and intervals"),
    ],
)
def test_text_says_how_systems_were_compared(
    test: str, correction: str, expected: str
) -> None:
    text = str(values_compared(test=test, correction=correction))

    assert any(line.startswith(f"test: {expected}") for line in text.splitlines())


def test_text_marks_the_best_mean_alone() -> None:
    comparison = named("low", "high")

    text = str(comparison)

    low, high = (f"{mean:.4f}" for mean in comparison.table["mean"])
    assert f"a {high}*" in text
    assert f"{low}*" not in text


def test_small_p_values_are_said_to_be_small() -> None:
    text = str(values_compared(frame(2, n=300), test="t"))

    assert "< 0.0001" in text
    assert " 0.0000 " not in text


def test_what_has_no_query_is_undefined() -> None:
    nothing = pl.DataFrame({"query": [1, 2], "x": [0.1, 0.2], "y": [0.1, 0.2]})
    comparison = rk.compare_values(nothing.clear())

    assert "nan" not in str(comparison)
    assert "nan" not in comparison._repr_html_()
    assert "undefined" in comparison.to_latex()


def test_many_pairs_are_not_all_shown_and_that_is_said() -> None:
    comparison = values_compared(frame(11), test="t")  # 11 x 10 / 2 = 55 pairs

    assert "10 more pairs: see .pairwise" in str(comparison)
    assert "10 more pairs: see .pairwise" in comparison._repr_html_()
    assert "more pairs" not in str(values_compared(frame(10), test="t"))
    assert len(comparison.pairwise) == 55


def beyond_z() -> rk.Comparison:
    """Compare 28 systems, of which all but two do the same, and these two worse."""
    base = np.linspace(0, 1, 30)
    columns = {f"s{n}": base for n in range(28)} | {"s0": base - 1, "s1": base - 1}
    return rk.compare_values(
        pl.DataFrame({"query": list(range(30)), **columns}), test="t"
    )


def sentence_of(x: list[float], y: list[float], **options: Any) -> str:
    table = pl.DataFrame(
        {"query": list(range(len(x))), "x": x, "y": y},
        schema_overrides={"x": pl.Float64, "y": pl.Float64},
    )
    (found,) = rk.compare_values(table, test="t", **options).sentences
    return found


def test_sentences_say_what_is_undefined() -> None:
    assert sentence_of([0.2], [0.5]) == (
        "Cannot tell whether y is better than x in value: the difference is +0.3000 "
        "(no interval; p is undefined); 1 of 1 queries gain, 0 lose."
    )
    assert sentence_of([], []) == (
        "Cannot tell whether y is better than x in value: the difference is undefined."
    )


def test_bounds_have_the_sign_of_the_difference_beside_them() -> None:
    # Surely below 0 at 90 %, and not so at 99.9 %.
    x, y = [0.5, 0.6, 0.7, 0.8], [0.4, 0.3, 0.6, 0.6]
    table = pl.DataFrame({"query": list(range(4)), "x": x, "y": y, "z": x})
    worse = sentence_of(x, y, confidence=0.9)
    cannot_tell = rk.compare_values(
        table, test="t", correction="bonferroni", confidence=0.96
    ).sentences[0]

    assert re.match(r"y is worse than x in value by 0.1750 \(0.\d+ to 0.\d+; p", worse)
    told = (
        r"Cannot tell whether y .*: the difference is -0.1750 \(-0.\d+ to -0.\d+ for "
        r"this pair alone; p = 0.\d+ after Bonferroni's correction for 3 pairs\)"
    )
    assert re.match(told, cannot_tell)


def test_letters_go_on_beyond_z() -> None:
    letters = beyond_z().letters

    assert letters[:2] == ("a", "b")
    assert letters[25:] == ("z", "aa", "ab")


def test_better_than_names_the_right_systems_beyond_z() -> None:
    # a and b are not ab, the letter of s27.
    table = beyond_z().table

    for row in table.iter_rows(named=True):
        worst = row["run"] in {"s0", "s1"}
        assert row["better_than"] == ([] if worst else ["s0", "s1"])


def test_letters_beyond_z_are_told_apart() -> None:
    text = beyond_z().to_markdown()

    assert "<sup>a b</sup>" in text
    assert "<sup>ab</sup>" not in text
    # A space in a formula is not seen, and a b would look like ab.
    assert r"$^{a\ b}$" in beyond_z().to_latex()


def test_a_comparison_says_in_one_line_what_it_is() -> None:
    assert repr(compared(["RR", "AP"])) == "Comparison(old, new, other: RR, AP)"
