"""Parameters of metrics of lists, each with a row that was computed by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from scipy import sparse

import rankine as rk
from rankine.cli import cli
from rankine.errors import DataError
from tests.metrics.lists.mean import one

if TYPE_CHECKING:
    from pathlib import Path

# Of four users two had a, two had c and one had b; z is new.
TRAIN = {"u": ["a"], "v": ["a", "b"], "w": ["c"], "x": ["c"]}
GROUPS = {"a": "big", "b": "big", "c": "big", "d": "small"}


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [
        ("Novelty", (1 + 2 + 1) / 3),
        ("Novelty(cold='most')", (1 + 2 + 1) / 3),
        ("Novelty(cold='zero')", (1 + 0 + 1) / 3),
        ("Novelty(cold='skip')", (1 + 1) / 2),
        ("Novelty(divisor='k')@4", (1 + 2 + 1) / 4),
        ("Novelty(scaled=True)", (1 + 2 + 1) / 3 / 2),
        ("Novelty(by='own')", 2 / 3),
        ("Novelty(by='records')", (2 * math.log2(5 / 2) + math.log2(5)) / 3),
        ("EFD", (2 * math.log2(5 / 2) + math.log2(5)) / 3),
        ("EFD(cold='skip')", math.log2(5 / 2)),
        ("EFD(cold='zero')", 2 * math.log2(5 / 2) / 3),
        ("EPC", (1 / 2 + 1 + 1 / 2) / 3),
        ("EPC(weight='reciprocal')", (1 / 2 + 1 / 2 + 1 / 6) / (1 + 1 / 2 + 1 / 3)),
        ("Popularity(by='users',share=True)", (2 / 4 + 0 + 2 / 4) / 3),
        ("Popularity(share=True)", (2 / 5 + 0 + 2 / 5) / 3),
        ("LongTail", 2 / 4),
        ("LongTail(cold='head')", 1 / 4),
        ("LongTail(of='items',tail=0.4)", 2 / 4),
    ],
)
def test_what_was_had_before(metric: str, wanted: float) -> None:
    shown = ["a", "z", "c", "b"] if "Long" in metric else ["a", "z", "c"]

    assert one(None, {"w": shown}, metric, train=TRAIN) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("metric", "got", "due"),
    [
        ("AWRF(attention='none')", (2 / 3, 1 / 3), (3 / 4, 1 / 4)),
        ("AWRF(attention='geometric',p=0.5)", (5 / 7, 2 / 7), (3 / 4, 1 / 4)),
        ("AWRF(attention='reciprocal',target='equal')", (8 / 11, 3 / 11), (0.5, 0.5)),
    ],
)
def test_attention_and_what_is_due(metric: str, got: Any, due: Any) -> None:
    middle = [(a + b) / 2 for a, b in zip(got, due, strict=True)]
    bits = sum(
        own * math.log2(own / m)
        for side in (got, due)
        for own, m in zip(side, middle, strict=True)
    )

    assert one(None, {"u": ["a", "d", "b"]}, metric, items=GROUPS) == pytest.approx(
        1 - bits / 2
    )


def test_a_distance_makes_an_item_unexpected() -> None:
    apart = {("c", "a"): 3.0, ("b", "a"): 9.0}
    metric = "Serendipity(method='distance')"

    value = one(
        {"u": {"c"}},
        {"u": ["c", "b"]},
        metric,
        train={"u": ["a"]},
        items=lambda x, y: apart[x, y],
    )

    # c is relevant and 3 from a; b is not relevant.
    assert value == (3 + 0) / 2


def test_numbers_are_no_topics() -> None:
    with pytest.raises(DataError, match="AWRF needs topics or groups"):
        rk.evaluate(None, {"u": ["a"]}, "AWRF", items={"a": [1.0, 2.0]})


@pytest.mark.parametrize("make", [rk.from_scores, sparse.csr_array, sparse.dok_array])
def test_a_matrix_of_interactions(make: Any) -> None:
    # Item 0 was had by users 0 and 1, item 1 by user 1, item 2 by nobody.
    train = make([[1, 0, 0], [1, 1, 0]])

    assert one(None, {0: [0, 1, 2]}, "Popularity", train=train) == (2 + 1 + 0) / 3


def test_the_column_of_items_is_named_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "lists.csv").write_text("user_id,asin,score\nu,a,2\nu,b,1\n")
    (tmp_path / "items.csv").write_text("asin,genre\na,war\nb,love\n")

    done = CliRunner().invoke(
        cli,
        [
            "evaluate", "--no-qrels", str(tmp_path / "lists.csv"), "-m", "ILD",
            "--items", str(tmp_path / "items.csv"), "--col", "item=asin", "--csv",
        ],
    )  # fmt: skip

    assert ",all,ILD,1.0," in done.stdout
