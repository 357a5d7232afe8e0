"""rankine plan, rankine calibrate and rankine interleaving."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk

if TYPE_CHECKING:
    from pathlib import Path

    from rankine._online.needed import UsersNeeded
    from tests.cli.conftest import Command

LOG = rk.online.generate(60, seed=2, before=True).events
USERS = pl.DataFrame(
    {
        "id": range(100),
        "arm": ["A", "B"] * 50,
        "bought": [1, 0, 0, 0, 0] * 20,
        "seen": [1, 2, 3, 4, 5] * 20,
    }
)
SHOWN = pl.DataFrame(
    {
        "impression_id": [1, 1, 2, 2, 3, 3, 4, 4],
        "user_id": [1, 1, 2, 2, 3, 3, 4, 4],
        "team": ["new", "old"] * 4,
        "click": [1, 0, 1, 0, 1, 0, 0, 1],
    }
)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LOG.write_csv(tmp_path / "events.csv")
    USERS.write_csv(tmp_path / "mine.csv")
    SHOWN.write_csv(tmp_path / "shown.csv")
    monkeypatch.chdir(tmp_path)


def test_a_plan_by_hand(rankine: Command) -> None:
    done = rankine(
        "plan", "mine.csv", "--users", "id", "-m", "bought", "--effect", "10%"
    )

    # The variance is 0.2 x 0.8 x 100 / 99: 4 x 0.1616 x (1.96 + 0.8416)^2 / 0.02^2 is
    # 12,685, and Student's distribution takes two more.
    assert done == (0, "bought: 12,687 users to find 0.02\n", "")


def printed(needed: list[UsersNeeded]) -> str:
    """Return a line per metric, and the notes, which are those of all metrics."""
    (notes,) = {each.notes for each in needed}
    return "".join(f"{line}\n" for line in [*needed, *(f"- {each}" for each in notes)])


def test_a_plan_from_a_table_by_variant_says_that_sessions_are_split(
    rankine: Command, tmp_path: Path
) -> None:
    rk.online.users(LOG).write_parquet(tmp_path / "users.parquet")
    words = ["plan", "users.parquet", "--effect", "5%", "-m", "bounce_rate"]
    done, found = rankine(*words), json.loads(rankine(*words, "--json").out)

    said = "the table of users was made by variant: a session that goes on after"
    assert f"\n- {said}" in done.out
    assert [note.startswith(said) for note in found[0]["notes"]].count(True) == 1


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["-m", "ctr"], {"metrics": ["ctr"]}),
        (["--power", "0.9"], {"power": 0.9}),
        (["--share", "0.1"], {"share": 0.1}),
        (["--confidence", "0.9"], {"confidence": 0.9}),
        (["--unit", "sessions"], {"unit": "sessions"}),
        (["--engaged", "20", "--cap", "9"], {"engaged": 20, "cap": 9}),
        (["--memory", "1k"], {"memory_limit": 1024}),
    ],
    ids=lambda own: " ".join(own) if isinstance(own, list) else "",
)  # fmt: skip
def test_a_plan_says_what_users_needed_says(
    words: list[str], options: dict[str, Any], rankine: Command
) -> None:
    words = ["plan", "events.csv", "--effect", "5%", *words]
    done = rankine(*words)

    needed = rk.online.users_needed("events.csv", effect="5%", **options)
    assert done == (0, printed(needed), "")
    found = json.loads(rankine(*words, "--json").out)
    assert [(row["metric"], row["users"]) for row in found] == [
        (each.metric, each.users) for each in needed
    ]


def test_each_metric_may_have_its_own_effect(rankine: Command) -> None:
    sizes = ["--effect", "ctr=5%", "--effect", "spent=0.3"]
    metrics = ["-m", "ctr", "-m", "spent=revenue", "-m", "orders=orders"]
    done = rankine("plan", "events.csv", *sizes, *metrics)

    needed = rk.online.users_needed(
        "events.csv",
        effect={"ctr": "5%", "spent": 0.3},
        metrics={"ctr": "ctr", "spent": "revenue"},
    )
    assert done == (0, printed(needed), "")


@pytest.mark.parametrize("indent", [None, 2])
def test_a_plan_from_a_test_that_was_saved(
    indent: int | None, rankine: Command, tmp_path: Path
) -> None:
    test = rk.online.ab_test(LOG, control="A", metrics=["ctr"], cuped=True)
    (tmp_path / "test.json").write_text(test.to_json(indent=indent))

    done = rankine("plan", "test.json", "--effect", "ctr=5%", "--power", "0.9")

    (needed,) = rk.online.users_needed(test, effect="5%", power=0.9)
    assert done.out.startswith("ctr, B: ")
    assert done == (0, f"{needed}\n", "")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("events.csv", 2, "missing option '--effect'"),
        ("none.csv --effect 1", 3, "none.csv: no such file"),
        ("events.csv --effect x", 2, "must be a number above 0, got 'x'"),
        ("events.csv --effect 1 --effect 2", 2, "--effect takes SIZE once"),
        ("events.csv --effect =2%", 2, "METRIC=SIZE for each, got '=2%'"),
        ("events.csv --effect crt=1", 2, "--effect names a metric 'crt'"),
        ("events.csv --effect 1 -m crt", 2, "did you mean 'ctr'?"),
        ("events.csv --effect 1 --power 2", 2, "--power must be a number"),
        ("events.csv --effect 1 --share 0", 2, "--share must be a number"),
        ("events.csv --effect 1 --memory x", 2, "value for '--memory'"),
        ("test.json --effect 1 -m ctr", 2, "--metric is settled by the t"),
        ("test.json --effect 1 --cap 5", 2, "--cap is settled by the test"),
        ("test.json --effect 1 --share 0.5", 2, "--share is settled by"),
        ("found.json --effect 1", 3, "found.json holds no test; expected what"),
        ("half.json --effect 1", 3, "half.json: "),
        ("events.csv --effect 1 --window 2", 2, "--window has no effect, as users h"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned(
    words: str, code: int, message: str, rankine: Command, tmp_path: Path
) -> None:
    rk.online.ab_test(LOG, control="A", metrics=["ctr"]).save("test.json")
    rk.online.summarize(LOG, ["ctr"]).save("found.json")
    half = (tmp_path / "test.json").read_text()[:999]
    (tmp_path / "half.json").write_text(half)

    done = rankine("plan", *words.split())

    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["-m", "ctr", "--seed", "5"], {"metrics": ["ctr"], "seed": 5}),
        (["-m", "spent=revenue"], {"metrics": {"spent": "revenue"}}),
        (["-m", "ctr", "--cuped"], {"metrics": ["ctr"], "cuped": True}),
        (["--unit", "clicks", "--cap", "20"], {"unit": "clicks", "cap": 20}),
        (["--max-events", "20"], {"max_events": 20}),
        (
            ["-m", "spent=revenue", "--winsorize", "0.99"],
            {"metrics": {"spent": "revenue"}, "winsorize": 0.99},
        ),
        (["--memory", "1k"], {"memory_limit": 1024}),
    ],
    ids=lambda own: " ".join(own) if isinstance(own, list) else "",
)
def test_calibrate(words: list[str], options: dict[str, Any], rankine: Command) -> None:
    done = rankine("calibrate", "events.csv", "--n", "30", *words)
    found = rk.online.calibrate("events.csv", n=30, **options)

    assert done == (0, f"{found}\n", "")
    record = json.loads(
        rankine("calibrate", "events.csv", "--n", "30", *words, "--json").out
    )
    assert {**record, "rankine": None} == {**found.to_dict(), "rankine": None}


def test_a_table_of_users_is_calibrated_and_planned_as_its_log(
    rankine: Command,
) -> None:
    words = ["-m", "spent=revenue", "-m", "ctr"]
    made = ["--by", "-", "--daily", "--users", "made.parquet"]
    assert rankine("online", "events.csv", *made).code == 0

    for command in (["calibrate", "--n", "20"], ["plan", "--effect", "5%"]):
        of_log = rankine(*command, "events.csv", *words)
        assert (of_log.code, of_log.err) == (0, "")
        assert rankine(*command, "made.parquet", *words) == of_log


def test_a_table_of_ones_own_is_calibrated(rankine: Command) -> None:
    words = ["-m", "bought", "-m", "rate=bought/seen", "-m", "half=seen@0.5"]
    done = rankine("calibrate", "mine.csv", "--users", "id", "--n", "20", *words)

    metrics = {"bought": "bought", "rate": ("bought", "seen"), "half": ("seen", 0.5)}
    found = rk.online.calibrate(USERS, metrics, 20, unit="id")
    assert done == (0, f"{found}\n", "")


@pytest.mark.parametrize("command", [["calibrate"], ["plan", "--effect", "1"]])
@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--cap", "5"], "--cap is for events, not for --users; see"),
        (["--window", "5"], "--window is for events, not for --users; see"),
        (["--memory", "1GB"], "--memory is for events, not for --users; see"),
        (["--keep-duplicates"], "--keep-duplicates is for events, not for --users"),
        (["--col", "variant=arm"], "--col variant= is for events; see"),
    ],
)
def test_options_for_events_are_refused_with_users(
    command: list[str], option: list[str], message: str, rankine: Command
) -> None:
    words = [*command, "mine.csv", "--users", "id", "-m", "bought"]
    assert rankine(*words).code == 0
    done = rankine(*words, *option)

    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("none.csv", 3, "none.csv: no such file"),
        ("events.csv --n 0", 2, "--n must be an integer of at least 1, got 0"),
        ("events.csv --seed -1", 2, "--seed must be an integer of at least 0"),
        ("events.csv -m orders", 2, "-m orders_per_user=orders"),
        ("mine.csv --users id -m bougt", 3, "did you mean 'bought'?"),
        ("mine.csv --users id", 2, "no metric was asked for"),
        ("mine.csv --users id -m seen --cuped", 2, "--cuped is for ev"),
        ("mine.csv -m x=seen --cap 5", 2, "--cap is for events, but this"),
        ("mine.csv", 3, "rankine ab --users COLUMN; calibrate and plan take the same"),
        ("few.csv --users id -m seen", 3, "cannot be split into two arms"),
    ],
)  # fmt: skip
def test_what_cannot_be_calibrated(
    words: str, code: int, message: str, rankine: Command
) -> None:
    USERS.head(3).write_csv("few.csv")
    done = rankine("calibrate", *words.split())

    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_preference_by_hand(rankine: Command) -> None:
    done = rankine("interleaving", "shown.csv")

    # Three of four impressions prefer new, which comes first: (1 - 3) / 4. The sign
    # test: 2 x (1 + 4) / 2^4.
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith("preference for old over new: -0.5000 (")
    assert lines[1] == "1 of 4 users prefers old, 3 prefer new: sign test p 0.6250"
    record = json.loads(rankine("interleaving", "shown.csv", "--json").out)
    assert (record["a"], record["b"]) == ("new", "old")
    assert (record["preference"], record["p_sign"]) == (-2 / 4, 2 * (1 + 4) / 2**4)


@pytest.mark.parametrize("method", ["team_draft", "team-draft", "probabilistic"])
def test_methods_and_columns(method: str, rankine: Command) -> None:
    SHOWN.rename({"team": "who", "user_id": "visitor"}).write_csv("other.csv")
    columns = ["--col", "team=who", "--col", "user=visitor"]
    done = rankine("interleaving", "other.csv", *columns, "--method", method)

    assert done == rankine("interleaving", "shown.csv")


def test_old_logs_are_read(rankine: Command) -> None:
    ranks = {"rank_a": [2, 1] * 4, "rank_b": [1, 2] * 4, "position": [1, 2] * 4}
    old = SHOWN.drop("team").with_columns(**{
        name: pl.Series(ranks[name]) for name in ranks
    })  # fmt: skip
    old.write_csv("old.csv")
    done = rankine("interleaving", "old.csv", "--method", "balanced")

    found = rk.online.interleaving_test(old, method="balanced")
    assert "balanced interleaving is biased" in done.out
    assert done == (0, f"{found}\n", "")


def test_the_rows_of_a_query_are_interleaved(rankine: Command) -> None:
    with closing(sqlite3.connect("shop.db")) as shop:
        shop.execute(f"create table shown ({', '.join(SHOWN.columns)})")
        shop.executemany("insert into shown values (?, ?, ?, ?)", SHOWN.rows())
        shop.commit()
    done = rankine("interleaving", "shop.db", "--sql", "select * from shown")

    assert done == rankine("interleaving", "shown.csv")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("none.csv", 3, "none.csv: no such file"),
        ("events.csv", 3, "has no column for the impression, which says"),
        ("events.csv", 3, "or --col impression=NAME"),
        ("shown.csv --method draft", 2, "--method must be one of team_draft, p"),
        ("shown.csv --col teem=x", 2, "--col has no part 'teem'; the parts are"),
        ("shown.csv --col team", 2, "expected PART=COLUMN, got 'team'"),
        ("shown.csv --method balanced", 3, "no column for the position"),
        ("three.csv", 3, "interleaving compares two"),
    ],
)  # fmt: skip
def test_what_cannot_be_interleaved(
    words: str, code: int, message: str, rankine: Command
) -> None:
    SHOWN.with_columns(team=pl.Series([*"abc", *"abcab"])).write_csv("three.csv")
    done = rankine("interleaving", *words.split())

    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_marks_in_the_names_of_teams_are_not_sent(rankine: Command) -> None:
    odd = (
        pl.when(pl.col("team") == "new").then(pl.lit("\x1b]0;x\x07")).otherwise("team")
    )
    SHOWN.with_columns(team=odd).write_csv("odd.csv")

    for words in ([], ["--json"]):
        done = rankine("interleaving", "odd.csv", *words)
        assert done.code == 0
        assert "\x1b" not in done.out


@pytest.mark.parametrize(
    "words",
    [
        ["online", "users.csv"],
        ["ab", "users.csv", "--control", "A"],
        ["plan", "users.csv", "--effect", "5%"],
        ["calibrate", "users.csv"],
    ],
)
def test_a_usual_value_that_is_given_is_refused_with_a_table(
    words: list[str], rankine: Command
) -> None:
    rk.online.users(LOG, session_gap=5).write_csv("users.csv")
    words = [*words, "-m", "time_on_page"]

    assert rankine(*words).code == 0
    for option, value in (("--session-gap", "30"), ("--last-page", "exclude")):
        done = rankine(*words, option, value)
        assert done.code == 2
        assert f"{option} cannot be given with a table of users" in done.err
