"""Tables of logs and recommendations: what is read, told and refused."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.cli import main
from tests.evaluate.logs.tables import LOGGED, SHOWN, Q, W, changed

if TYPE_CHECKING:
    from pathlib import Path


def test_ids_of_text_files_are_text(tmp_path: Path) -> None:
    log, shown = tmp_path / "log.csv", tmp_path / "shown.csv"
    log.write_text("user_id,item_id,click,propensity\n1,007,1,1\n1,7,0,.5\n")
    shown.write_text("user_id,item_id\n1,7\n")
    found = rk.ctr(log, shown, "ips")
    assert (found.matched, found.value) == (1, 0)
    frame = pl.DataFrame({"user_id": [1], "item_id": [7]})
    with pytest.raises(rk.errors.DataError, match="not a plain int, such as '007'"):
        rk.ctr(log, frame, "ips")
    log.write_text("user_id,item_id,click,click,propensity\n1,7,1,1,1\n")
    with pytest.raises(rk.errors.DataError, match="'click' appears twice"):
        rk.ctr(log, shown, "ips")


def test_what_is_not_needed_is_not_looked_at() -> None:
    log = changed("propensity", [0.0, 2.0, 0.5, 0.25])
    assert rk.ctr(log, SHOWN, "matching").value == pytest.approx(1 / 3)
    assert rk.ctr(log, SHOWN, "dm").value == pytest.approx(sum(Q) / 4)


def test_the_exact_name_of_a_column_comes_first() -> None:
    log = LOGGED.select(pl.lit(0).alias("CLICK"), pl.all())
    assert rk.ctr(log, SHOWN, "ips").value == 0.5


# --- warnings


def test_warnings_in_words() -> None:
    said = " ".join(rk.ctr(LOGGED, SHOWN, "matching").warnings)
    assert "matching is biased unless" in said
    assert "poor overlap" in said
    assert "a single round has" in said
    even = LOGGED.with_columns(pl.lit(0.5).alias("propensity"))
    assert "biased" not in " ".join(rk.ctr(even, SHOWN, "matching").warnings)
    new = SHOWN.with_columns(pl.Series("item_id", ["a", "b", "z", "c"]))
    assert "25 % of the recommendations were never shown" in " ".join(
        rk.ctr(LOGGED, new, "ips").warnings
    )
    n = 400
    log = pl.DataFrame(
        {"user": range(n), "item": ["a", "b"] * (n // 2), "click": 1, "propensity": 0.5}
    )
    shown = pl.DataFrame({"user": range(n), "item": ["a"] * n})
    assert rk.ctr(log, shown, "ips").warnings == ()


def test_users_of_one_table_only_are_told() -> None:
    found = rk.ctr(LOGGED, SHOWN.filter(pl.col("user_id") != 3), "ips")
    assert found.n == 3
    assert found.notes[2:] == (
        "1 logged round of users without recommendations: left out",
    )
    more = rk.ctr(LOGGED.filter(pl.col("user_id") < 4), SHOWN, "ips")
    assert more.notes[2:] == (
        "1 user with recommendations not in the log: not counted",
    )


def test_nothing_matched_is_undefined_with_the_reason() -> None:
    none = SHOWN.with_columns(pl.lit("z").alias("item_id"))
    for estimator in ("matching", "ips", "snips", "dr"):
        found = rk.ctr(LOGGED, none, estimator)
        assert math.isnan(found.value)
        assert math.isnan(found.interval.low)
        assert found.warnings == ("no round shows a recommended item: no estimate",)
    assert rk.ctr(LOGGED, none, "dm").value == pytest.approx(sum(Q) / 4)
    json.dumps(rk.ctr(LOGGED, none, "ips").to_dict(), allow_nan=False)


def test_switching_everything_off_is_told() -> None:
    found = rk.ctr(LOGGED, SHOWN, "switch-dr", threshold=0.1)
    assert found.value == rk.ctr(LOGGED, SHOWN, "dm").value
    assert "all weights are 0: only the reward model decides" in found.warnings


# --- refusals


@pytest.mark.parametrize(
    ("logged", "shown", "options", "message"),
    [
        (
            changed("propensity", [0.5, 0, 0, 1]),
            SHOWN,
            {},
            "is 0, whose weight would be infinite",
        ),
        (changed("propensity", [0.5, -0.1, 1, 1]), SHOWN, {}, "the propensity is -0.1"),
        (changed("propensity", [0.5, 1.5, 1, 1]), SHOWN, {}, "the propensity is 1.5"),
        (
            changed("propensity", [0.5, math.nan, 1, 1]),
            SHOWN,
            {},
            "not a finite number",
        ),
        (changed("propensity", [0.5, None, 1, 1]), SHOWN, {}, "propensity is missing"),
        (LOGGED.drop("propensity"), SHOWN, {}, "has no propensity column, which ips"),
        (LOGGED.drop("click"), SHOWN, {}, "has no reward column"),
        (changed("click", [1, 2, 0, 0]), SHOWN, {}, "click is 2; a click is 0 or 1"),
        (
            LOGGED,
            SHOWN.with_columns(predicted=pl.lit(1.5)),
            {"estimator": "dr"},
            "predicted is 1.5",
        ),
        (LOGGED, SHOWN.drop("predicted"), {"estimator": "dr"}, "no predicted column"),
        (LOGGED, pl.concat([SHOWN, SHOWN[:1]]), {}, "user 1, item 'a' twice"),
        (
            LOGGED,
            SHOWN.with_columns(probability=pl.lit(0.7)),
            {},
            "add up to 0.7, not to 1",
        ),
        (
            LOGGED,
            SHOWN.with_columns(probability=pl.lit(-1.0)),
            {},
            "a probability is -1, below 0",
        ),
        (LOGGED, SHOWN.clear(), {}, "recommended has no rows"),
        (LOGGED.clear(), SHOWN, {}, "logged has no rows"),
        (changed("propensity", [1e-320, 1, 1, 1]), SHOWN, {}, "the propensity is 9.99"),
        (LOGGED, SHOWN, {"columns": {"user": "who"}}, "has no column 'who'"),
        ({"a": 1}, SHOWN, {}, "logged is of type dict; expected a path"),
        ("nope.csv", SHOWN, {}, "nope.csv: no such file"),
    ],
)
def test_bad_tables_are_refused(
    logged: Any, shown: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(rk.errors.DataError, match=message):
        rk.ctr(logged, shown, **{"estimator": "ips", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": "dm2"}, "estimator must be one of matching, ips"),
        ({"clip": 0}, "clip must be a number above 0, got 0"),
        ({"clip": math.nan}, "clip must be a number above 0"),
        ({"threshold": -1}, "threshold must be a number above 0"),
        ({"shrinkage": 0}, "shrinkage must be a number above 0"),
        ({"clip": 5}, "clip=5 has no effect on matching; it is for ips, snips, dr"),
        ({"estimator": "dm", "clip": 5}, "clip=5 has no effect on dm"),
        ({"missing_propensity": "items"}, "has no effect on matching; it is for ips"),
        (
            {"threshold": 3},
            "threshold=3 has no effect on matching; it is for switch-dr",
        ),
        (
            {"estimator": ["ips", "dr"], "shrinkage": 3},
            "shrinkage=3 has no effect on ips, dr; it is for dros",
        ),
        ({"n": "all"}, "n must be one of logged, recommended"),
        ({"convention": "obp"}, "convention must be one of rankine, jurity"),
        ({"k": 0}, "k must be a positive integer"),
        ({"confidence": 1}, "confidence must be"),
        ({"columns": {"who": "x"}}, "columns has no part 'who'"),
        ({"columns": {"user": 1.5}}, "expected a name or a number"),
        ({"columns": ["user"]}, "columns must be a mapping"),
        ({"columns": {"item": "user_id"}}, "cannot be both the user and the item"),
        ({"columns": {"recommended.reward": "x"}}, "which it does not have"),
        ({"columns": {"there.user": "x"}}, "columns names an unknown table 'there'"),
        ({"threshold": None}, "threshold must be a number above 0"),
        ({"estimator": None}, "estimator must be one of"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(rk.errors.ParameterError, match=message):
        rk.ctr(LOGGED, SHOWN, **options)


# --- the command


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, shown = tmp_path / "log.parquet", tmp_path / "shown.csv"
    LOGGED.write_parquet(log)
    SHOWN.write_csv(shown)

    def run(*words: str) -> tuple[object, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main(["ctr", str(log), str(shown), *words])
        return caught.value.code, *capsys.readouterr()

    code, out, _ = run("-e", "ips", "-e", "dr")
    assert code == 0
    assert "ips: 0.5000, 95 % interval" in out
    assert "dr: " in out
    found = json.loads(run("-e", "snips", "--json")[1])
    assert found[0]["value"] == pytest.approx(2 / sum(W))
    log_only = pl.read_parquet(log).drop("propensity")
    log_only.write_parquet(log)
    code, _, err = run("-e", "ips")
    assert code == 3
    assert "--missing-propensity items" in err
    found = json.loads(run("-e", "ips", "--missing-propensity", "items", "--json")[1])
    assert found[0]["value"] == pytest.approx((1 * 3) / 4)
    found = json.loads(run("-e", "dm", "--n", "recommended", "--json")[1])
    assert found[0]["value"] == pytest.approx(sum(Q) / 4)
    LOGGED.write_parquet(log)
    code, _, err = run("-e", "nope")
    assert code == 2
    assert "estimator must be one of" in err
    SHOWN.with_columns(pl.lit("z").alias("item_id")).write_csv(shown)
    code, out, _ = run("-e", "ips")
    assert code == 1
    assert "undefined" in out
