"""Events from databases: SQLite, DuckDB and a PostgreSQL server of our own."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import rankine as rk
from rankine._online.sources import _secret, _shown, _without
from rankine.errors import DataError, FormatError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG = rk.online.generate(60, seed=4).events
WHOLE = rk.online.summarize(LOG).table
ROWS = LOG.with_columns(pl.col("timestamp").dt.epoch("us")).rows()
NAMES = ", ".join(LOG.columns)
MARKS = ", ".join("?" * len(LOG.columns))
ALL = "select * from log order by user_id"
KINDS = "bigint, bigint, text, text, double precision, double precision, text"
CREATE = ", ".join(
    f"{name} {kind}" for name, kind in zip(LOG.columns, KINDS.split(", "), strict=True)
)
PASSWORD = "hush+hush"  # noqa: S105 - of a server that lives as long as a test


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"create table log ({CREATE})")
        connection.executemany(f"insert into log values ({MARKS})", ROWS)  # noqa: S608
        connection.commit()
    return path


def same(found: pl.DataFrame) -> None:
    assert_frame_equal(found, WHOLE, check_exact=True)


@pytest.mark.parametrize("batch_rows", [97, 100_000])
def test_sqlite_files_in_batches(batch_rows: int, sqlite: Path) -> None:
    events = rk.online.from_sql(sqlite, ALL, batch_rows=batch_rows)

    sizes = [batch.height for batch in events]
    assert max(sizes) <= batch_rows
    assert sum(sizes) == LOG.height
    same(rk.online.summarize(events).table)


def test_open_connections(sqlite: Path) -> None:
    with closing(sqlite3.connect(sqlite)) as connection:
        same(rk.online.summarize(rk.online.from_sql(connection, ALL)).table)
        assert connection.execute("select 1").fetchone() == (1,)  # still open


def test_duckdb_files(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the extra sql is not installed")
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table log ({CREATE})")
        connection.executemany(f"insert into log values ({MARKS})", ROWS)  # noqa: S608

    same(rk.online.summarize(rk.online.from_sql(path, ALL, batch_rows=500)).table)
    with pytest.raises(DataError, match=r"shop\.duckdb: the query failed: .*nope"):
        list(rk.online.from_sql(path, "select nope from log"))


def test_files_are_not_written_to(sqlite: Path) -> None:
    events = rk.online.from_sql(sqlite, "delete from log")

    with pytest.raises(DataError, match=r"shop\.db: the query failed: .*readonly"):
        list(events)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("selekt 1", 'shop.db: the query failed: near "selekt": syntax error'),
        ("select * from logs", "shop.db: the query failed: no such table: logs"),
        ("select * from log where user_id < 0", "shop.db: the query returned no rows"),
        (
            "select user_id, user_id from log",
            "shop.db: the query has two columns 'user_id'; give them names",
        ),
        (
            "select 1 as user_id union all select 'x'",
            "shop.db: column 'user_id' mixes int, str; give it one type",
        ),
    ],
)  # fmt: skip
def test_queries_that_fail(query: str, words: str, sqlite: Path) -> None:
    with pytest.raises(DataError) as caught:
        rk.online.summarize(rk.online.from_sql(sqlite, query))

    assert str(caught.value).endswith(words)


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        ("nowhere.db", FormatError, "nowhere.db: no such file"),
        (__file__, FormatError, "is neither an SQLite nor a DuckDB file"),
        (3, FormatError, "source is an int; expected the path of an SQLite or DuckDB"),
    ],
)
def test_sources_that_are_none(source: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        rk.online.from_sql(source, ALL)


def test_requests_that_are_none(sqlite: Path) -> None:
    with pytest.raises(ParameterError, match="query must be a query in SQL, got ''"):
        rk.online.from_sql(sqlite, "")
    with pytest.raises(ParameterError, match="batch_rows must be an integer"):
        rk.online.from_sql(sqlite, ALL, batch_rows=0)
    with pytest.raises(FormatError, match="is a database; say which rows are meant"):
        rk.online.summarize(sqlite)
    with pytest.raises(FormatError, match=r"^postgresql://host/shop is a server; say"):
        rk.online.summarize(f"postgresql://me:{PASSWORD}@host/shop")


def test_parts_with_other_times_are_refused(sqlite: Path) -> None:
    with closing(sqlite3.connect(sqlite)) as connection:
        connection.execute(
            "update log set timestamp = timestamp / 1000 where user_id > 30"
        )
        connection.commit()

    with pytest.raises(DataError, match="this part has milliseconds, and those before"):
        rk.online.summarize(rk.online.from_sql(sqlite, ALL, batch_rows=1))


# Passwords


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{PASSWORD}@host:5432/shop",
        f"postgresql://host:5432/shop?user=me&password={PASSWORD}",
        "postgresql://me:hush%2Bhush@host:5432/shop",
    ],
)
def test_a_password_is_not_shown(url: str) -> None:
    assert _shown(url) == "postgresql://host:5432/shop"
    assert (
        _without(f"password {PASSWORD} is wrong", _secret(url))
        == "password *** is wrong"
    )


def test_a_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)

    with pytest.raises(
        MissingExtraError, match=r"PostgreSQL needs psycopg; pip install"
    ):
        rk.online.from_sql(f"postgresql://me:{PASSWORD}@host/shop", ALL)


# A real server


def _tool(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def _as_postgres(*words: str | Path) -> list[str]:
    """Run as the user postgres where we are root, whom initdb refuses."""
    lead = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    return [*lead, *map(str, words)]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start PostgreSQL on a socket in a folder of its own; give its URL."""
    psycopg = pytest.importorskip("psycopg", reason="the extra sql is not installed")
    initdb, pg_ctl = _tool("initdb"), _tool("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip("PostgreSQL is not installed here")
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder, secret = Path(name), Path(name) / "secret"
        secret.write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (folder, secret):
                shutil.chown(path, "postgres")
        data = folder / "data"
        make = _as_postgres(
            initdb, "-D", data, "-U", "me", "-A", "scram-sha-256", "--pwfile", secret
        )
        subprocess.run(make, check=True, capture_output=True, cwd="/")
        options = f"-k {folder} -c listen_addresses= -c fsync=off"
        start = _as_postgres(
            pg_ctl, "-D", data, "-o", options, "-l", folder / "log", "-w", "start"
        )
        subprocess.run(start, check=True, stdout=subprocess.DEVNULL, cwd="/")
        try:
            url = f"postgresql://me:hush%2Bhush@/postgres?host={folder}"
            with psycopg.connect(url) as connection:
                connection.execute(f"create table log ({CREATE})")
                with connection.cursor().copy("copy log from stdin") as copy:
                    for row in ROWS:
                        copy.write_row(row)
            yield url
        finally:
            stop = _as_postgres(pg_ctl, "-D", data, "-m", "immediate", "stop")
            subprocess.run(stop, check=True, capture_output=True, cwd="/")


def test_postgresql_by_url_in_batches(server: str) -> None:
    events = rk.online.from_sql(server, ALL, batch_rows=300)

    assert max(batch.height for batch in events) == 300
    same(rk.online.summarize(events).table)
    assert PASSWORD not in repr(events)
    assert "hush" not in repr(events)


def test_postgresql_by_an_open_connection(server: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    query = (
        "select to_timestamp(timestamp / 1e6) as timestamp, user_id, variant, event, "
        "value::numeric as value, cost::numeric as cost, country, "
        "md5(user_id::text)::uuid as page from log"
    )
    with psycopg.connect(server) as connection:
        same(rk.online.summarize(rk.online.from_sql(connection, query)).table)


def test_postgresql_says_what_is_wrong_in_one_sentence(server: str) -> None:
    with pytest.raises(DataError) as caught:
        list(rk.online.from_sql(server, "select nope from log"))
    assert str(caught.value) == (
        'postgresql:///postgres: the query failed: column "nope" does not exist'
    )
    with pytest.raises(DataError) as caught:
        rk.online.from_sql(server.replace("hush%2Bhush", "wrong%2Bword"), ALL)
    assert "password authentication failed" in str(caught.value)
    assert "wrong" not in str(caught.value)
    with pytest.raises(DataError, match=r"^postgresql:///postgres: cannot connect: "):
        rk.online.from_sql("postgresql://me@/postgres?host=/nowhere", ALL)


def test_a_connection_that_is_lost_is_said(server: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    batches = iter(rk.online.from_sql(server, ALL, batch_rows=10))
    next(batches)
    with psycopg.connect(server) as other:
        other.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where pid <> pg_backend_pid() and backend_type = 'client backend'"
        )

    with pytest.raises(
        DataError, match=r"^postgresql:///postgres: reading was cut off: "
    ):
        list(batches)
