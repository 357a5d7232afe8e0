"""Booleans that a file of text writes as words are numbers, as in a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

USERS = pl.DataFrame(
    {"id": range(8), "arm": [*"AB"] * 4, "bought": [True, False, False, True] * 2}
)


def ab(data: Any) -> Any:
    options: Any = {"unit": "id", "variant": "arm", "control": "A"}
    return rk.online.ab_test(data, metrics={"bought": "bought"}, **options).details


@pytest.mark.parametrize(
    "words", [("true", "false"), ("True", "False"), ("TRUE", " false")]
)
def test_true_and_false_are_1_and_0(words: tuple[str, str], tmp_path: Path) -> None:
    texts = USERS.with_columns(
        bought=pl.when("bought").then(pl.lit(words[0])).otherwise(pl.lit(words[1]))
    )
    texts.write_csv(tmp_path / "users.csv")

    assert ab(tmp_path / "users.csv").equals(ab(USERS))


def test_a_missing_boolean_is_missing(tmp_path: Path) -> None:
    gaps = USERS.with_columns(bought=pl.when(pl.col("id") > 1).then("bought"))
    gaps.write_csv(tmp_path / "users.csv")

    assert ab(tmp_path / "users.csv").equals(ab(gaps))


@pytest.mark.parametrize(
    ("others", "bad"),
    [(["true", "maybe"], "maybe"), (["1", "true"], "true"), (["true", "2"], "true")],
)
def test_other_words_are_refused(others: list[str], bad: str, tmp_path: Path) -> None:
    rows = [f"{n},{'AB'[n % 2]},{word}" for n, word in enumerate(others * 2)]
    (tmp_path / "users.csv").write_text("\n".join(["id,arm,bought", *rows]))

    with pytest.raises(DataError, match=f"bought is '{bad}', not a number"):
        ab(tmp_path / "users.csv")


def test_clicks_may_be_true_and_false(tmp_path: Path) -> None:
    log = pl.DataFrame(
        {
            "impression_id": [1, 1, 2, 2],
            "position": [1, 2] * 2,
            "click": [False, True] * 2,
        }
    )
    log.write_csv(tmp_path / "log.csv")

    # Rank 2 was clicked on both times: (1/2 + 1/2) / 2.
    assert rk.online.click_metrics(tmp_path / "log.csv").mrr == 0.5


def test_grades_may_be_true_and_false(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    path.write_text("query_id,item_id,grade\nq,a,False\nq,b,True\n")

    assert rk.evaluate(path, {"q": ["a", "b"]}, "RR").mean == {"RR": 1 / 2}
