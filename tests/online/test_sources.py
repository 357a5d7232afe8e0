"""Events from databases: SQLite, DuckDB and a PostgreSQL server of our own."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import rankine as rk
from rankine._online import sources
from rankine._online.sources import _secret, _shown, _without
from rankine.errors import (
    DataError,
    FormatError,
    MissingExtraError,
    ParameterError,
    UnavailableError,
)

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
ADBC = ("adbc_driver_postgresql", "adbc_driver_postgresql.dbapi")
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


def test_a_query_may_be_forgotten_in_another_thread(sqlite: Path) -> None:
    queries = [rk.online.from_sql(sqlite, ALL)]
    with ThreadPoolExecutor(1) as pool:
        pool.submit(queries.clear).result()  # warns if it cannot be closed there

    assert not queries


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


@pytest.mark.slow
def test_duckdb_files(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the extra sql is not installed")
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table log ({CREATE})")
        connection.executemany(f"insert into log values ({MARKS})", ROWS)  # noqa: S608

    same(rk.online.summarize(rk.online.from_sql(path, ALL, batch_rows=500)).table)
    with pytest.raises(DataError, match=r"shop\.duckdb: the query failed: .*nope"):
        list(rk.online.from_sql(path, "select nope from log"))
    with pytest.raises(DataError, match="the query returned no rows"):
        list(rk.online.from_sql(path, "select * from log where user_id < 0"))
    with pytest.raises(DataError, match="two columns 'user_id'; give them names"):
        list(rk.online.from_sql(path, "select user_id, user_id from log"))
    with pytest.raises(DataError, match=r"column 'gap' is of type month_day_nano"):
        list(rk.online.from_sql(path, "select interval 1 day as gap"))


def test_duckdb_sends_arrow_and_does_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the extra sql is not installed")
    query = (
        "select 7::hugeint as number, 1.5::decimal(9, 2) as price, "
        "'00000000-0000-0000-0000-000000000007'::uuid as id, "
        "'b'::enum('a', 'b') as kind from range(5000)"
    )
    with duckdb.connect() as connection:
        events = rk.online.from_sql(connection, query, batch_rows=1500)
        batches = list(events)
        monkeypatch.setattr(sources, "find_spec", lambda _: None)
        plain = pl.concat(list(events))

    assert max(batch.height for batch in batches) == 1500
    assert sum(batch.height for batch in batches) == plain.height == 5000
    assert batches[0].schema["kind"] in (pl.Categorical, pl.Enum(["a", "b"]))
    for frame in (batches[0], plain):
        row = frame.head(1).cast({"kind": pl.String}).row(0)
        assert row == (7, 1.5, "00000000-0000-0000-0000-000000000007", "b")


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
    with pytest.raises(FormatError, match="is a database; say which rows to read"):
        rk.online.summarize(sqlite)
    with pytest.raises(FormatError, match=r"^postgresql://host/shop is a server; say"):
        rk.online.summarize(f"postgresql://me:{PASSWORD}@host/shop")


@pytest.mark.slow
def test_parts_with_other_times_are_refused(sqlite: Path) -> None:
    with closing(sqlite3.connect(sqlite)) as connection:
        connection.execute(
            "update log set timestamp = timestamp / 1000 where user_id > 30"
        )
        connection.commit()

    with pytest.raises(DataError, match="this part has milliseconds, but those before"):
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
    for name in ("psycopg", *ADBC):
        monkeypatch.setitem(sys.modules, name, None)

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


@pytest.fixture(params=["adbc", "psycopg"])
def driver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read from servers by one of two drivers."""
    if request.param == "adbc":
        pytest.importorskip(ADBC[0], reason="ADBC's driver is not installed")
    else:
        for name in ADBC:
            monkeypatch.setitem(sys.modules, name, None)
    return str(request.param)


def test_postgresql_by_url_in_batches(server: str, driver: str) -> None:
    events = rk.online.from_sql(server, ALL, batch_rows=300)

    assert driver in type(events._connection).__module__  # noqa: SLF001
    assert max(batch.height for batch in events) == 300
    same(rk.online.summarize(events).table)
    assert PASSWORD not in repr(events)
    assert "hush" not in repr(events)


@pytest.mark.usefixtures("driver")
def test_postgresql_has_types_of_its_own(server: str) -> None:
    query = (
        "select 1.25::numeric as price, null::numeric as nothing, true as seen, "
        "'00000000-0000-0000-0000-000000000007'::uuid as id"
    )
    (frame,) = rk.online.from_sql(server, query)

    assert frame.cast({"price": pl.Float64}).rows() == [
        (1.25, None, True, "00000000-0000-0000-0000-000000000007")
    ]


def test_postgresql_by_an_open_connection(server: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    query = (
        "select to_timestamp(timestamp / 1e6) as timestamp, user_id, variant, event, "
        "value::numeric as value, cost::numeric as cost, country, "
        "md5(user_id::text)::uuid as page from log"
    )
    with psycopg.connect(server) as connection:
        same(rk.online.summarize(rk.online.from_sql(connection, query)).table)


@pytest.mark.usefixtures("driver")
def test_postgresql_says_what_is_wrong_in_one_sentence(server: str) -> None:
    with pytest.raises(DataError) as caught:
        list(rk.online.from_sql(server, "select nope from log"))
    assert str(caught.value) == (
        'postgresql:///postgres: the query failed: column "nope" does not exist'
    )
    with pytest.raises(DataError) as caught:
        rk.online.from_sql(server.replace("hush%2Bhush", "wrong%2Bword"), ALL)
    assert "password authentication failed" in str(caught.value)
    assert caught.value.exit_code == 3  # trying again would not help
    assert "wrong" not in str(caught.value)
    with pytest.raises(DataError, match=r"^postgresql:///postgres: cannot connect: "):
        rk.online.from_sql("postgresql://me@/postgres?host=/nowhere", ALL)


@pytest.mark.usefixtures("driver")
def test_a_connection_that_is_lost_is_said(server: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    # More than fits between the server and us.
    query = (
        "select i as user_id, repeat('x', 200) as event from generate_series(1, 3e5) i"
    )
    batches = iter(rk.online.from_sql(server, query, batch_rows=10))
    next(batches)
    with psycopg.connect(server) as other:
        other.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where pid <> pg_backend_pid() and backend_type = 'client backend'"
        )

    with pytest.raises(
        UnavailableError, match=r"^postgresql:///postgres: the connection was lost: "
    ):
        list(batches)


@pytest.mark.usefixtures("driver")
def test_a_server_that_does_not_answer_may_be_tried_again() -> None:
    pytest.importorskip("psycopg", reason="the extra sql is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"

    with pytest.raises(
        UnavailableError, match=rf"^postgresql://{address}/shop: cannot connect: "
    ) as caught:
        rk.online.from_sql(f"postgresql://me:{PASSWORD}@{address}/shop", ALL)

    assert "Connection refused" in str(caught.value)
    assert PASSWORD not in str(caught.value)
    assert caught.value.exit_code == 5


def _hang_up(server: socket.socket) -> None:
    server.settimeout(30)  # for a test that fails before it connects
    server.accept()[0].close()


@pytest.mark.usefixtures("driver")
def test_a_server_that_hangs_up_may_be_tried_again() -> None:
    pytest.importorskip("psycopg", reason="the extra sql is not installed")
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as up:
        up.submit(_hang_up, server)
        port = server.getsockname()[1]
        with pytest.raises(UnavailableError, match="cannot connect: "):
            rk.online.from_sql(
                f"postgresql://127.0.0.1:{port}/shop?sslmode=disable", ALL
            )


# Memory

LONG = 600_000
GROWTH = """
import re, sys
from pathlib import Path
import rankine as rk

def peak():
    said = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", said)[1]) / 1024

source, way = sys.argv[1:]
if way == "psycopg":
    sys.modules["adbc_driver_postgresql"] = None
list(rk.online.from_sql(source, "select * from long limit 10"))
begin, n = peak(), 0
batches = rk.online.from_sql(source, "select * from long", batch_rows=5000)
for batch in list(batches) if way == "whole" else batches:
    n += batch.height
print(n, peak() - begin)
"""


def growth(source: str | Path, way: str) -> float:
    """Return by how many MB reading a long table makes a process grow."""
    if not Path("/proc/self/status").exists():
        pytest.skip("there is no /proc, which says how large a process was")
    words = [sys.executable, "-c", GROWTH, str(source), way]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    n, grown = done.stdout.split()
    assert int(n) == LONG
    return float(grown)


@pytest.mark.slow
def test_files_are_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the extra sql is not installed")
    text = "i as user_id, printf('%0100d', i) as page"
    lite, duck = tmp_path / "long.db", tmp_path / "long.duckdb"
    with closing(sqlite3.connect(lite)) as connection:
        connection.execute(
            "create table long as with recursive t(i) as (select 1 union all "  # noqa: S608
            f"select i + 1 from t where i < {LONG}) select {text} from t"
        )
        connection.commit()
    with duckdb.connect(str(duck)) as connection:
        connection.execute(
            f"create table long as select {text} from range({LONG}) t(i)"  # noqa: S608
        )

    for path in (lite, duck):
        assert growth(path, "whole") > 60  # 600,000 texts of 100 bytes, and ids
        assert growth(path, "batches") < 45, path


def test_tables_of_a_server_are_never_in_memory_as_a_whole(
    server: str, driver: str
) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server) as connection:
        connection.execute("drop table if exists long")
        connection.execute(
            "create table long as select i as user_id, lpad(i::text, 100, '0') as page "  # noqa: S608
            f"from generate_series(1, {LONG}) i"
        )

    assert growth(server, driver) < 45
