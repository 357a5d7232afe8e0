"""rankine ab."""

from __future__ import annotations

import csv
import io
import math
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

LOG = rk.online.generate(40, seed=2, before=True).events
USERS = pl.DataFrame(
    {
        "id": range(12),
        "variant": ["A", "B"] * 6,
        "clicks": [1, 2, 0, 1, 2, 2, 0, 1, 1, 3, 0, 0],
        "views": [3, 3, 2, 4, 3, 3, 2, 2, 2, 3, 1, 2],
        "before": [1, 1, 0, 1, 1, 2, 1, 0, 1, 2, 1, 0],
    }
)


@pytest.fixture(autouse=True)
def _log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LOG.write_csv(tmp_path / "events.csv")
    USERS.write_csv(tmp_path / "users.csv")
    monkeypatch.chdir(tmp_path)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["-m", "ctr"], {"metrics": ["ctr"]}),
        (["--segment", "country"], {"segment": "country"}),
        (["--cuped"], {"cuped": True}),
        (["--margin", "bounce_rate=2%"], {"margin": {"bounce_rate": "2%"}}),
        (["--better", "ctr=lower"], {"better": {"ctr": "lower"}}),
        (["--most", "ctr=2"], {"cap": {"ctr": 2}}),
        (["--cap", "20"], {"cap": 20}),
        (["--unit", "sessions"], {"unit": "sessions"}),
        (["--ratio", "A=1", "--ratio", "B=2"], {"ratio": {"A": 1, "B": 2}}),
        (["--correction", "bh"], {"correction": "bh"}),
        (["--lift", "fieller"], {"lift": "fieller"}),
        (["--confidence", "0.8"], {"confidence": 0.8}),
        (["--expected-n", "500"], {"expected_n": 500}),
        (["--window", "2"], {"window": 2}),
        (["--max-events", "30"], {"max_events": 30}),
        (["--winsorize", "0.99"], {"winsorize": 0.99}),
        (["--memory", "1k"], {"memory_limit": 1024}),
    ],
    ids=lambda own: " ".join(own) if isinstance(own, list) else "",
)  # fmt: skip
def test_options(words: list[str], options: dict[str, Any], rankine: Command) -> None:
    done = rankine("ab", "events.csv", "--control", "A", *words)
    found = rk.online.ab_test("events.csv", control="A", **options)

    assert (done.code, done.err) == (0, "")
    assert done.out.split() == str(found).split()


def test_csv_is_the_table(rankine: Command) -> None:
    done = rankine("ab", "events.csv", "--control", "A", "--csv")
    table = rk.online.ab_test("events.csv", control="A").table
    rows = rows_of(done.out)

    assert [row["metric"] for row in rows] == table["metric"].to_list()
    for row, value in zip(rows, table["low"], strict=True):
        assert float(row["low"]) == value or math.isnan(value)


def test_markdown(rankine: Command) -> None:
    done = rankine("ab", "events.csv", "--control", "A", "--markdown")

    assert (
        done.out.strip() == rk.online.ab_test("events.csv", control="A").to_markdown()
    )


def test_a_table_of_users(rankine: Command) -> None:
    done = rankine(
        "ab", "users.csv", "--control", "A", "--users", "id", "-m", "clicks",
        "-m", "ctr=clicks/views", "-m", "median=clicks@0.5",
        "--covariate", "clicks=before", "--csv",
    )  # fmt: skip
    found = rk.online.ab_test(
        USERS, unit="id", variant="variant", control="A",
        metrics={
            "clicks": "clicks", "ctr": ("clicks", "views"), "median": ("clicks", 0.5)
        },
        covariates={"clicks": "before"},
    )  # fmt: skip

    assert [row["metric"] for row in rows_of(done.out)] == ["clicks", "ctr", "median"]
    assert [float(row["p"]) for row in rows_of(done.out)] == pytest.approx(
        found.table["p"].to_list()
    )


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["events.csv"], 2, "missing option '--control'"),
        (["events.csv", "--control", "Z"], 3, "no user is in 'Z'"),
        (["none.csv", "--control", "A"], 3, "none.csv"),
        (["events.csv", "--control", "A", "--csv", "--json"], 2, "cannot be combined"),
        (["events.csv", "--control", "A", "--ratio", "A=x"], 2, "'x' is not a number"),
        (["events.csv", "--control", "A", "--margin", "ctr=x"], 2, "the margin of ctr"),
        (["users.csv", "--control", "A", "--users", "id"], 2, "no metric was asked"),
        (["users.csv", "--control", "A", "--users", "uid", "-m", "clicks"], 3, "'uid'"),
        (["users.csv", "--control", "A"], 3, "or rankine ab --users COLUMN"),
        (["users.csv", "--control", "A", "-m", "clicks/views"], 2, "--users COLUMN"),
        (["users.csv", "--control", "A", "-m", "x=clicks"], 2, "--users COLUMN"),
        (["events.csv", "--control", "A", "--unit", "id"], 2, "--unit must be one of"),
        (["events.csv", "--control", "A", "--lift", "up"], 2, "--lift must be one of"),
        (["events.csv", "--control", "A", "--better", "ctr=up"], 2, "--better of ctr"),
        (["events.csv", "--control", "A", "--most", "x=1"], 2, "--most names a metric"),
        (["events.csv", "--control", "A", "--cap", "-1"], 2, "--cap must be above 0"),
        (["events.csv", "--control", "A", "--max-events", "0"], 2, "--max-events must"),
        (["events.csv", "--control", "A", "--winsorize", "1"], 2, "--winsorize must"),
        (["events.csv", "--control", "A", "--memory", "x"], 2, "value for '--memory'"),
    ],
)  # fmt: skip
def test_errors_are_one_sentence(
    words: list[str], code: int, message: str, rankine: Command
) -> None:
    done = rankine("ab", *words)

    assert done.code == code
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--cap", "5"], "--cap is for events, not for --users"),
        (["--kind", "a=click"], "--kind is for events, not for --users"),
        (["--session-gap", "5"], "--session-gap is for events, not for --users"),
        (["--engaged", "5"], "--engaged is for events, not for --users"),
        (["--unit", "clicks"], "--unit is for events, not for --users"),
        (["--last-page", "heartbeat"], "--last-page is for events, not for --users"),
        (["--exposure", "seen"], "--exposure is for events, not for --users"),
        (["--memory", "1GB"], "--memory is for events, not for --users"),
        (["--window", "5"], "--window is for events, not for --users"),
        (["--max-events", "5"], "--max-events is for events, not for --users"),
        (["--keep-duplicates"], "--keep-duplicates is for events, not for --users"),
        (["--daily"], "--daily is for events, not for --users"),
        (["--cuped"], "not for --users; give --covariate METRIC=COLUMN"),
        (["--col", "time=before"], "--col time= is for events"),
    ],
)
def test_options_for_events_are_refused_with_users(
    option: list[str], message: str, rankine: Command
) -> None:
    words = ["ab", "users.csv", "--control", "A", "--users", "id", "-m", "clicks"]
    done = rankine(*words, *option)

    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert rankine(*words, "--col", "variant=variant").code == 0


def test_options_that_a_test_would_drop_are_refused(rankine: Command) -> None:
    both = rankine(
        "ab", "events.csv", "--control", "A", "--cap", "5", "--most", "ctr=1"
    )
    alone = rankine("ab", "events.csv", "--control", "A", "--covariate", "ctr=before")

    assert both.code == alone.code == 2
    assert "--cap and --most cannot be combined" in both.err
    assert "--covariate needs --users; for a log of events, give --cuped" in alone.err


def test_the_rows_of_a_query(rankine: Command, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as shop:
        for name, frame in (("log", LOG), ("users", USERS)):
            texts = frame.cast(pl.String)  # as in a CSV file
            shop.execute(f"create table {name} ({', '.join(texts.columns)})")
            marks = ", ".join("?" * texts.width)
            shop.executemany(f"insert into {name} values ({marks})", texts.rows())  # noqa: S608
        shop.commit()
    users = ["--users", "id", "-m", "clicks/views", "--csv"]
    for table, file, more in (
        ("log", "events.csv", ["--csv"]),
        ("users", "users.csv", users),
    ):
        words = ["--control", "A", *more]
        found = rankine("ab", "shop.db", "--sql", f"select * from {table}", *words)  # noqa: S608
        assert (found.code, found.out) == (0, rankine("ab", file, *words).out)


def test_a_log_and_its_table_of_users_give_one_test(rankine: Command) -> None:
    metrics = ["-m", "revenue_per_user=revenue", "-m", "big=revenue@0.9", "-m", "ctr"]
    words = ["--control", "A", "--most", "revenue_per_user=50", *metrics]
    assert rankine("online", "events.csv", "--users", "made.parquet").code == 0
    of_log = rankine("ab", "events.csv", *words)
    of_table = rankine("ab", "made.parquet", *words)

    assert (of_log.code, of_log.err) == (0, "")
    assert of_table == of_log
    found = rk.online.ab_test(
        "events.csv", control="A", cap={"revenue_per_user": 50},
        metrics={
            "revenue_per_user": "revenue", "big": ("revenue", 0.9), "ctr": "ctr"
        },
    )  # fmt: skip
    assert of_log.out.split() == str(found).split()


@pytest.mark.slow
def test_a_report_on_a_table_without_days(rankine: Command, tmp_path: Path) -> None:
    assert rankine("online", "events.csv", "--users", "made.csv").code == 0
    done = rankine("ab", "made.csv", "--control", "A", "--report", "out.html")

    assert done.code == 0, done.err
    assert (tmp_path / "out.html").exists()
    days = rankine("ab", "made.csv", "--control", "A", "--daily")
    assert (days.code, days.err.count("\n")) == (3, 1)
    assert "made.csv has no days; make it with daily=True" in days.err


def test_metrics_of_ones_own_from_standard_input(
    rankine: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ["--control", "A", "-m", "revenue_per_user=revenue"]
    of_file = rankine("ab", "events.csv", *words)
    with (tmp_path / "events.csv").open("rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        of_input = rankine("ab", "-", *words)

    assert (of_input.code, of_input.out) == (0, of_file.out), of_input.err


@pytest.mark.parametrize(
    "words",
    [
        ["online", "events.csv"],
        ["ab", "events.csv", "--control", "A"],
        ["ab", "events.csv", "--control", "A", "--users", "user_id"],
    ],
)
def test_a_metric_without_a_name_is_refused(rankine: Command, words: list[str]) -> None:
    done = rankine(*words, "-m", "=clicks")

    assert (done.code, done.out) == (2, "")
    assert "-m =clicks has no name before '='; give NAME=clicks" in done.err
