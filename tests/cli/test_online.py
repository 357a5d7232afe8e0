"""rankine online and rankine demo --online."""

from __future__ import annotations

import csv
import io
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine._online import table
from rankine._online.log import EventLog

if TYPE_CHECKING:
    from tests.cli.conftest import Command

LOG = rk.online.generate(40, seed=2).events


@pytest.fixture(autouse=True)
def _log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LOG.write_csv(tmp_path / "events.csv")
    monkeypatch.chdir(tmp_path)


def test_the_table_is_that_of_summarize(rankine: Command) -> None:
    done = rankine("online", "events.csv", "--segment", "country", "--csv")
    found = rk.online.summarize("events.csv", segment="country").table

    assert (done.code, done.err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["country"] for row in rows] == found["country"].to_list()
    assert [float(row["value"]) for row in rows] == found["value"].to_list()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--by", "-"], {"by": None}),
        (["-m", "ctr", "--daily"], {"metrics": ["ctr"], "daily": True}),
        (
            ["--weekly", "--timezone", "Asia/Tokyo"],
            {"weekly": True, "timezone": "Asia/Tokyo"},
        ),
        (["-m", "ctr", "--hourly"], {"metrics": ["ctr"], "hourly": True}),
        (["-m", "retention_1"], {"metrics": ["retention_1"]}),
        (["--window", "1", "--keep-incomplete"], {"window": 1, "incomplete": "keep"}),
        (["--engaged", "20"], {"engaged": 20}),
        (["--engaged", "share,conversion"], {"engaged": ["share", "conversion"]}),
        (["--unit", "sessions", "--cap", "30"], {"unit": "sessions", "cap": 30}),
        (["--session-gap", "600", "--window", "1"], {"session_gap": 600, "window": 1}),
        (["--kind", "share=click"], {"kinds": {"share": "click"}}),
        (["--keep-duplicates"], {"duplicates": "keep"}),
        (["--col", "variant=country"], {"columns": {"variant": "country"}}),
        (["--exposure", "pageview"], {"exposure": "pageview"}),
        (["--last-page", "heartbeat"], {"last_page": "heartbeat"}),
        (["--max-events", "20"], {"max_events": 20}),
        (["--confidence", "0.5"], {"confidence": 0.5}),
    ],
)  # fmt: skip
def test_options(
    words: list[str], options: dict[str, object], rankine: Command
) -> None:
    done = rankine("online", "events.csv", *words)

    assert done.code == 0, done.err
    summary = rk.online.summarize("events.csv", **options)  # type: ignore[arg-type]
    head = done.out.splitlines()
    # The words of notes are not wrapped where nobody watches.
    assert [" ".join(line.split()) for line in head[: summary.table.height + 2]] == [
        " ".join(line.split())
        for line in str(summary).splitlines()[: summary.table.height + 2]
    ]


FUNNEL = ["online", "events.csv", "--funnel", "impression,click,conversion"]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--within", "0.01", "--by", "-"], {"within": 0.01, "by": None}),
        (["--segment", "country", "--window", "2"],
         {"segment": "country", "window": 2}),
        (["--confidence", "0.5", "--max-events", "20"],
         {"confidence": 0.5, "max_events": 20}),
    ],
)  # fmt: skip
def test_a_funnel(words: list[str], options: dict[str, Any], rankine: Command) -> None:
    done = rankine(*FUNNEL, *words, "--csv")

    assert (done.code, done.err) == (0, "")
    steps = ["impression", "click", "conversion"]
    found = rk.online.funnel("events.csv", steps, **options)
    assert done.out == found.table.write_csv()
    assert rankine(*FUNNEL, *words, "--markdown").out == found.to_markdown() + "\n"
    assert rankine(*FUNNEL, *words).out.splitlines()[:4] == str(found).splitlines()[:4]


def test_the_text_says_what_is_what(rankine: Command) -> None:
    out = rankine("online", "events.csv").out

    assert "ctr = clicks / impressions" in out
    assert "conversion_rate = users with a conversion / users" in out
    assert "the last page of a session is excluded" in out
    assert "page views at the end of a session: time on page unknown" in out


def test_a_query_of_a_database(rankine: Command) -> None:
    with closing(sqlite3.connect("shop.db")) as shop:
        shop.execute("create table log (user_id, event)")
        rows = [(1, "impression"), (1, "click"), (2, "impression")]
        shop.executemany("insert into log values (?, ?)", rows)
        shop.commit()

    done = rankine("online", "shop.db", "--sql", "select * from log", "-m", "ctr")
    assert done.code == 0, done.err
    assert "ctr      0.5000" in done.out
    without = rankine("online", "shop.db")
    assert (without.code, without.err.count("\n")) == (3, 1)
    assert "say which rows to read" in without.err


def test_markdown(rankine: Command) -> None:
    out = rankine("online", "events.csv", "--markdown").out

    assert out == rk.online.summarize("events.csv").to_markdown() + "\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nothing.csv"], 3, "nothing.csv: no such file"),
        (
            ["events.csv", "-m", "crt"],
            2,
            "unknown online metric 'crt'; there are ctr, ",
        ),
        (
            ["events.csv", "-m", "revenue_per_user"],
            2,
            "'revenue_per_user': 'revenue'} or -m revenue_per_user=revenue",
        ),
        (
            ["events.csv", "-m", "x=value"],
            2,
            "the values of a user's events add up to revenue",
        ),
        (["events.csv", "--by", "land"], 3, "events.csv has no column 'land'; it has "),
        (["events.csv", "--unit", "days"], 2, "unit must be one of users, sessions, "),
        (
            ["events.csv", "--json", "--csv"],
            2,
            "--json, --csv and --markdown cannot be",
        ),
        (
            ["events.csv", "--session-gap", "0"],
            2,
            "--session-gap must be above 0 minutes",
        ),
        (["events.csv", "--kind", "share=look"], 2, "a kind of event must be one of "),
        ([*FUNNEL[1:], "-m", "ctr"], 2, "--funnel and -m cannot be combined"),
        ([*FUNNEL[1:], "--daily"], 2, "--funnel and --daily cannot be combined"),
        ([*FUNNEL[1:], "--users", "u.csv"], 2, "--funnel and --users cannot be"),
        ([*FUNNEL[1:], "--report", "r.html"], 2, "--funnel and --report cannot be"),
        ([*FUNNEL[1:], "--cap", "9"], 2, "--cap has no effect on a funnel"),
        (["events.csv", "--funnel", "click"], 2, "--funnel must be a list of 2 to 32"),
        (["events.csv", "--funnel", "clik,share"], 2, "--funnel names 'clik', but the"),
        (["events.csv", "--within", "3"], 2, "--within is the time of --funnel"),
        (["events.csv", "--memory", "foo"], 2, "value for '--memory': expected a numb"),
        (["odd.csv"], 3, "odd.csv:3: timestamp is 'x', not a time; expected one such"),
    ],
)
def test_errors_are_one_sentence(
    words: list[str], code: int, said: str, rankine: Command
) -> None:
    Path("odd.csv").write_text(
        "user_id,event,timestamp\n1,click,2026-01-01\n1,click,x\n"
    )
    done = rankine("online", *words)

    assert done.code == code
    assert said in done.err
    assert done.err.count("\n") == 1


def test_the_demo_shows_a_log_and_its_truth(rankine: Command) -> None:
    done = rankine("demo", "--online", "--save", "saved.csv")

    assert (done.code, done.err) == (0, "")
    assert "  ctr: 0.1000, 0.1200\n" in done.out
    assert "rankine online saved.csv" in done.out
    saved = rankine("online", "saved.csv", "--csv").out
    shown = pl.read_csv(io.StringIO(saved))["value"]
    assert all(f"{value:.4f}" in done.out for value in shown)


def test_save_goes_with_online(rankine: Command) -> None:
    assert rankine("demo", "--save", "x.csv").code == 2
    done = rankine("demo", "--online", "--save", "no/where.csv")
    assert done.code == 3
    assert done.err.startswith("rankine: no/where.csv: cannot be written")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--by", "country", "--segment", "country"], "--segment must be another"),
        (["--by", "-", "--segment", "n"], "--segment cannot be 'n', since the table"),
        (["--by", "value"], "--by cannot be 'value', since"),
        (["--unit", "user"], "--unit must be one of users, sessions, clicks"),
        (["--session-gap", "-1"], "--session-gap must be above 0"),
        (["--last-page", "x"], "--last-page must be one of"),
        (["--confidence", "2"], "--confidence must be a number above 0 and below 1"),
    ],
)
def test_messages_name_options_as_the_command_does(
    words: list[str], message: str, rankine: Command
) -> None:
    done = rankine("online", "events.csv", *words)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"rankine: {message}")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["online", "-m", "ctr", "--cap", "3"], "--cap"),
        (["online", "-m", "ctr", "--session-gap", "30"], "--session-gap"),
        (["ab", "--control", "A", "-m", "ctr", "--cap", "3"], "--cap"),
        (["ab", "--control", "A", "-m", "roi", "--unit", "users"], "--unit"),
        (["calibrate", "-m", "a=clicks", "--engaged", "share"], "--engaged"),
        (
            ["plan", "--effect", "1", "-m", "ctr", "--last-page", "exclude"],
            "--last-page",
        ),
        (["plan", "--effect", "1", "-m", "ctr", "--engaged", "9"], "--engaged"),
    ],
)
def test_an_option_that_no_metric_reads_is_refused(
    words: list[str], option: str, rankine: Command
) -> None:
    done = rankine(words[0], "events.csv", *words[1:])

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"rankine: {option} has no effect on ")


def test_every_rule_matters_for_the_table_of_users(rankine: Command) -> None:
    words = ["-m", "ctr", "--cap", "3", "--users", "users.csv"]
    done = rankine("online", "events.csv", *words)

    assert done.code == 0, done.err
    seconds = rk.online.users("events.csv", cap=3)["seconds_on_page"]
    assert pl.read_csv("users.csv")["seconds_on_page"].to_list() == seconds.to_list()


@pytest.mark.slow
def test_a_report_on_the_rows_of_a_query_has_clicks_by_position(
    rankine: Command, tmp_path: Path
) -> None:
    with closing(sqlite3.connect("shop.db")) as shop:
        shop.execute(
            "create table log (user_id, impression_id, item_id, position, event)"
        )
        rows = [(1, 1, "x", 1, "impression"), (1, 1, "x", 1, "click")]
        shop.executemany("insert into log values (?, ?, ?, ?, ?)", rows)
        shop.commit()
    words = ["--sql", "select * from log", "--by", "-", "--report", "out.html"]
    done = rankine("online", "shop.db", *words)

    assert done.code == 0
    assert "Clicks by position" in (tmp_path / "out.html").read_text()


@pytest.mark.parametrize(
    "words",
    [["online"], ["ab", "--control", "A"], ["plan", "--effect", "1"], ["calibrate"]],
    ids=" ".join,
)
def test_events_wait_on_disk_where_memory_is_short(
    words: list[str], rankine: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = []

    class Watched(EventLog):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            limits.append(options["memory"])
            super().__init__(*arguments, **options)

    monkeypatch.setattr(table, "EventLog", Watched)
    plain, short = (
        rankine(*words, "events.csv", "-m", "ctr", *more)
        for more in ([], ["--memory", "1k"])
    )

    assert (short.code, short.err) == (0, "")
    assert short == plain
    assert limits == [None, 1024]


@pytest.mark.parametrize("name", ["users.csv", "users.parquet"])
def test_the_table_of_users_is_written_and_read(name: str, rankine: Command) -> None:
    words = ["--segment", "country", "-m", "revenue_per_user=revenue", "-m", "ctr"]
    words += ["-m", "aov=revenue/orders", "--csv"]
    first = rankine("online", "events.csv", *words, "--users", name, "--memory", "2GB")
    again = rankine("online", name, *words)

    assert (first.code, first.err) == (0, f"rankine: wrote {name}\n")
    assert (again.code, again.out) == (0, first.out)
    found = rk.online.summarize(
        "events.csv",
        {"revenue_per_user": "revenue", "ctr": "ctr", "aov": ("revenue", "orders")},
        segment="country",
    )
    assert first.out == found.table.write_csv()
    table = rk.online.users("events.csv", segment="country")
    assert rk.read_table(name).names == (*table.columns,)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["users.csv", "--cap", "5"], 2, "--cap cannot be given with a table of users"),
        (["users.csv", "--daily"], 3, "has no days; make it with daily=True"),
        (["events.csv", "-m", "x=revenu"], 2, "did you mean 'revenue'?"),
        (["events.csv", "-m", "x=revenue@0.9"], 2, "x is a quantile over users, which"),
        (["users.csv", "--segment", "land"], 3, "users.csv has no column 'land'"),
        (["users.csv", "-m", "revenue"], 2, "or -m revenue_per_user=revenue"),
        (["events.csv", "-m", "orders"], 2, "or -m orders_per_user=orders"),
    ],
)
def test_what_a_table_of_users_cannot_do(
    words: list[str], code: int, said: str, rankine: Command
) -> None:
    assert rankine("online", "events.csv", "--users", "users.csv").code == 0
    done = rankine("online", *words)

    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert done.err.count("\n") == 1
