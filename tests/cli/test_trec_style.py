"""Under --style trec_eval, runs are read as trec_eval reads them.

get_trec_results.c: "Any field following run_id is ignored"; the run_id is that of the
last line; a line without one is malformed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Command, Printed

pytestmark = pytest.mark.usefixtures("folder")

STYLE = ("--style", "trec_eval", "-m", "map", "-m", "runid", "-m", "num_ret")
# In a.run: a x b and x c; relevant are a and b, and c.
MAP = ((1 / 1 + 2 / 3) / 2 + 1 / 2) / 2


def styled(rankine: Command, text: str, *options: str) -> Printed:
    Path("odd.run").write_text(text)
    return rankine("evaluate", "qrels.txt", "odd.run", *STYLE, *options)


def lines(runid: str) -> str:
    return (
        f"runid                 \tall\t{runid}\nnum_ret               \tall\t5\n"
        f"map                   \tall\t{MAP:.4f}\n"
    )


def plain() -> list[str]:
    return Path("a.run").read_text().splitlines()


@pytest.mark.parametrize("more", [" word", " two words", "\tword", " 0.5 1", "  # x"])
@pytest.mark.parametrize("chosen", ["all", "first", "last", "middle"])
def test_words_after_the_tag_are_passed_over(
    rankine: Command, more: str, chosen: str
) -> None:
    rows = plain()
    numbers = {"all": range(5), "first": [0], "last": [4], "middle": [2]}[chosen]
    for number in numbers:
        rows[number] += more

    done = styled(rankine, "\n".join(rows) + "\n")

    assert done == (0, lines("a"), "")


@pytest.mark.parametrize("mark", ["\t", "  ", " \t "])
def test_whatever_separates_the_fields(rankine: Command, mark: str) -> None:
    text = "\n".join(row.replace(" ", mark) + f"{mark}more words" for row in plain())

    assert styled(rankine, text) == (0, lines("a"), "")


def test_a_comment_at_the_end_is_no_tag(rankine: Command) -> None:
    text = "\n".join(plain()) + "\n# the end\n"

    assert styled(rankine, text) == (0, lines("a"), "")


def test_a_missing_tag_is_malformed(rankine: Command) -> None:
    rows = plain()
    rows[2] = rows[2].rpartition(" ")[0]

    done = styled(rankine, "\n".join(rows) + "\n")

    assert done.code == 3
    assert "odd.run:3: expected 6 columns, got 5" in done.err


def test_an_id_with_a_space_is_not_taken_for_a_longer_tag(rankine: Command) -> None:
    text = "\n".join(plain()).replace(" b ", " b c ") + "\n"

    done = styled(rankine, text)

    assert done.code == 3
    assert "odd.run:3: expected 6 columns, got 7" in done.err


def test_judgements_have_four_words(rankine: Command) -> None:
    Path("qrels.txt").write_text("q1 0 a 1\nq1 0 b 1 more\nq2 0 c 1\n")

    done = styled(rankine, "\n".join(plain()) + "\n")

    assert done.code == 3
    assert "qrels.txt:2: expected 4 columns, got 5" in done.err


@pytest.mark.parametrize("name", ["trec", "run=trec"])
def test_a_format_that_is_named_wins(rankine: Command, name: str) -> None:
    text = "\n".join(row + " word" for row in plain()) + "\n"

    done = styled(rankine, text, "--format", name)

    assert done.code == 3
    assert "odd.run:1: expected 6 columns, got 7" in done.err


@pytest.mark.parametrize("name", ["trec-loose", "run=trec-loose"])
def test_a_format_for_runs_is_not_for_judgements(rankine: Command, name: str) -> None:
    Path("odd.run").write_text("\n".join(row + " word" for row in plain()) + "\n")
    asked = "evaluate", "qrels.txt", "odd.run", "-m", "AP", "--format"

    assert rankine(*asked, name).code == 0
    assert rankine(*asked, "qrels=trec-loose").code == 2


def test_other_styles_ask_for_the_format(rankine: Command) -> None:
    rows = plain()
    Path("odd.run").write_text("\n".join([rows[0] + " word", *rows[1:]]) + "\n")

    done = rankine("evaluate", "qrels.txt", "odd.run", "-m", "AP")

    assert done.code == 3
    assert "'trec-loose'" in done.err


def test_other_formats_are_still_read(rankine: Command) -> None:
    rows = ["query,item,score"]
    for line in plain():
        query, _, item, _, score, _ = line.split()
        rows.append(f"{query},{item},{score}")
    Path("run.csv").write_text("\n".join(rows) + "\n")

    done = rankine("evaluate", "qrels.txt", "run.csv", *STYLE)

    assert done.code == 0
    assert f"map                   \tall\t{MAP:.4f}\n" in done.out
