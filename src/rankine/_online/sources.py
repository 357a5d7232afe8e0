"""Events from a database: the rows of a query, read in batches.

What a URL says about users and passwords is passed to the driver, and kept nowhere.
"""

from __future__ import annotations

import os
import re
import sqlite3
import weakref
from contextlib import closing, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

import polars as pl

from rankine._base.checks import check_count
from rankine._io.bytes import cannot
from rankine._io.frames import reason
from rankine._io.values import kind_of
from rankine.errors import (
    DataError,
    FormatError,
    MissingExtraError,
    NoRowsError,
    NoSpaceError,
    ParameterError,
    UnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_URLS = ("postgresql", "postgres")
_SERVERS = (
    "postgres", "mysql", "mariadb", "mssql", "oracle", "sqlite", "duckdb", "redshift",
    "snowflake", "bigquery", "clickhouse", "trino", "presto", "jdbc", "odbc",
)  # fmt: skip
"""How the URLs of databases begin; only a few of these can be read."""
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.:-]*?):/")
_PASSWORD = re.compile(r"(?i)\b(password|passwd|pwd)\s*=|:/+[^/@]*:.*@")
_SUPPORTED = (
    "the path of an SQLite or DuckDB file, a URL such as postgresql://host/database, "
    "or an open connection"
)
_SQLITE = b"SQLite format 3\0"
_DUCKDB = b"DUCK"
_HEAD = 16
_BATCH_BYTES = "adbc.postgresql.batch_size_hint_bytes"
_ROW_BYTES = 64
"""About how many bytes a row of events takes."""
_REFUSED = re.compile(r"\bFATAL:")
"""What PostgreSQL says if it answers, but not with a connection: a wrong password."""
_BUSY = re.compile(r"starting up|shutting down|recovery mode|too many|connection slots")
_LOST = ("08", "53", "57P")
"""How the codes of SQL begin for lost connections, lack of resources and shutdowns."""
_CONNECTION = re.compile(r"(?i)connection|from server|\bSSL\b")
_NO_ROOM = re.compile(r"No space left on device|[Dd]isk is full|Disk quota exceeded")
_PREFIX = re.compile(r"^[A-Z_]+: (\[\w+\] )?(Failed to \w+( query)?: )?(ERROR: +)?")


@dataclass(frozen=True, eq=False)
class Query:
    """The rows of a query, as `from_sql` returns them; each pass runs the query again.

    Attributes:
        name: what to call the database in messages.
    """

    name: str
    _connection: Any = field(repr=False)
    _sql: str = field(repr=False)
    _batch: int = field(repr=False)
    _secret: str = field(default="", repr=False)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the rows, one frame per batch."""
        empty, doing = True, "the query failed"
        try:
            with closing(_cursor(self._connection)) as cursor:
                batches = _batches(cursor, self._sql, self._batch)
                doing = "reading failed"
                for batch in batches:
                    empty = False
                    yield from _frame(batch, self.name).iter_slices(self._batch)
        except Exception as error:
            if not _of_driver(error):
                raise
            why = _without(_reason(error), self._secret)
            if _is_lost(error):
                msg = f"{self.name}: the connection was lost: {why}"
                raise UnavailableError(msg) from None
            msg = f"{self.name}: {doing}: {why}"
            raise (NoSpaceError if _NO_ROOM.search(why) else DataError)(msg) from None
        if empty:
            msg = f"{self.name}: the query returned no rows"
            raise NoRowsError(msg)


def from_sql(source: Any, query: str, *, batch_rows: int = 200_000) -> Query:
    """Return the rows that a query yields, to be read in batches.

    Args:
        source: the path of an SQLite or DuckDB file; the URL of a PostgreSQL server,
            postgresql://user@host/database; or an open connection. Passwords are best
            left to the driver: in PGPASSWORD, or the file .pgpass.
        query: a query in SQL; its columns are recognised by the same names as in
            `summarize`.
        batch_rows: the most rows in a batch. DuckDB, and PostgreSQL with ADBC's driver,
            send them as Arrow; PostgreSQL with psycopg sends them through a server-side
            cursor.

    Returns:
        What is accepted wherever a log or a table of users is; summaries and tests of
        events read it in batches. DuckDB and PostgreSQL need the extra
        ``rankine-eval[sql]``.

    Examples:
        >>> import sqlite3
        >>> import rankine as rk
        >>> shop = sqlite3.connect(":memory:")
        >>> _ = shop.execute("create table log (user_id, event)")
        >>> rows = [(1, "impression"), (1, "click"), (2, "impression")]
        >>> _ = shop.executemany("insert into log values (?, ?)", rows)
        >>> events = rk.online.from_sql(shop, "select * from log")
        >>> rk.online.click_through_rate(events).value
        0.5
        >>> shop.close()
    """
    check_count("batch_rows", batch_rows, least=1)
    if not isinstance(query, str) or not query.strip():
        msg = f"query must be a query in SQL, got {query!r}"
        raise ParameterError(msg)
    if isinstance(source, (str, os.PathLike)):
        text = os.fsdecode(source)
        if _scheme(text) in _URLS:
            return _of_url(text, query, batch_rows)
        _refuse_url(text, any_scheme="://" in text)
        return _owning(Query(text, _opened(Path(text)), query, batch_rows))
    if not hasattr(source, "cursor"):
        msg = f"source is {kind_of(source)}; expected {_SUPPORTED}"
        raise FormatError(msg)
    return Query("the database", source, query, batch_rows)


def rows_of(data: Any) -> Any:
    """Return all rows of a query as one frame; anything else as it is."""
    if isinstance(data, Query):
        return pl.concat([*data], how="vertical_relaxed")
    refuse_database(data)
    return data


def refuse_database(data: Any) -> None:
    """Refuse a database that is given as a log, and say that a query is needed."""
    if not isinstance(data, (str, os.PathLike)):
        return
    text = os.fsdecode(data)
    of_server = _scheme(text) in _URLS
    if not of_server:
        _refuse_url(text, any_scheme=False)
    if of_server or _kind(Path(text)):
        what = f"{_shown(text)} is a server" if of_server else f"{text} is a database"
        msg = (
            f"{what}; say which rows to read, from_sql(source, query) or --sql "
            "'select ...'"
        )
        raise FormatError(msg)


def _scheme(text: str) -> str:
    """Return the scheme of a URL; empty if it is not a URL.

    >>> _scheme("postgresql://host/shop"), _scheme("log.csv"), _scheme("C:/log.csv")
    ('postgresql', '', '')
    """
    head = _SCHEME.match(text)
    return head[1].lower() if head and len(head[1]) > 1 else ""


def _refuse_url(text: str, *, any_scheme: bool) -> None:
    """Refuse what names another database or has a password, and show none of it."""
    scheme = _scheme(text)
    if not (
        _PASSWORD.search(text) or scheme.startswith(_SERVERS) or (scheme and any_scheme)
    ):
        return
    what = f"a URL that begins with {scheme}:" if scheme else "a text with a password"
    msg = f"{what} cannot be read; expected {_SUPPORTED}"
    raise FormatError(msg)


def _kind(path: Path) -> str:
    """Say which database a file is, by its first bytes; empty if it is none."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD) if path.is_file() else b""
    except (OSError, ValueError):
        return ""
    if head.startswith(_SQLITE):
        return "sqlite"
    return "duckdb" if head[8:12] == _DUCKDB else ""


def _opened(path: Path) -> Any:
    """Open a file for reading."""
    kind = _kind(path)
    if not kind:
        try:
            path.open("rb").close()
        except OSError as error:
            raise cannot(path, error) from None
        msg = f"{path}: is neither an SQLite nor a DuckDB file"
        raise FormatError(msg)
    try:
        if kind == "sqlite":
            uri = f"{path.absolute().as_uri()}?mode=ro"
            # Any thread that collects garbage may close it.
            return sqlite3.connect(uri, uri=True, check_same_thread=False)
        return _driver("duckdb", "DuckDB").connect(str(path), read_only=True)
    except Exception as error:
        if not _of_driver(error):
            raise
        msg = f"{path}: cannot be opened: {reason(error)}"
        raise FormatError(msg) from None


def _of_url(url: str, query: str, batch_rows: int) -> Query:
    if not _readable(url):
        msg = (
            "the URL of the server cannot be read; in a password, write / as %2F, ? as "
            "%3F, # as %23 and @ as %40"
        )
        raise FormatError(msg)
    name, secret = _shown(url), _secret(url)
    driver = _driver_of_servers()
    try:
        connection = driver.connect(url)
    except driver.Error as error:
        why = _without(_reason(error), secret)
        refused = _REFUSED.search(why) and not _BUSY.search(why)
        msg = f"{name}: cannot connect: {why}"
        raise (DataError if refused else UnavailableError)(msg) from None
    return _owning(Query(name, connection, query, batch_rows, secret))


def _owning(query: Query) -> Query:
    """Close what was opened here once nobody needs it any more."""
    connection = query._connection  # noqa: SLF001 - made here
    weakref.finalize(query, connection.close)
    return query


def _driver(module: str, title: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        msg = f"{title} needs {module}; pip install 'rankine-eval[sql]'"
        raise MissingExtraError(msg) from None


def _driver_of_servers() -> Any:
    """Return ADBC's driver, which sends Arrow, or otherwise psycopg."""
    try:
        import_module("pyarrow")
        return import_module("adbc_driver_postgresql.dbapi")
    except ImportError:
        return _driver("psycopg", "PostgreSQL")


def _shown(url: str) -> str:
    """Return the server and the database of a URL, and nothing else.

    >>> _shown("postgresql://me:secret@host:5432/shop?sslmode=require")
    'postgresql://host:5432/shop'
    """
    rest = re.split("[?#]", url.partition("://")[2].rpartition("@")[2])[0]
    return f"{_scheme(url)}://{'' if '=' in rest else rest}"


def _readable(url: str) -> bool:
    """Say whether the parts of a URL can be told apart.

    >>> _readable("postgresql://me:a%2Fb@host/x"), _readable("postgresql://me:a/b@h/x")
    (True, False)
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    if parts.netloc.endswith(":") or parts.netloc.count("@") > 1:
        return False
    return "@" not in parts.path + parts.fragment


def _secret(url: str) -> str:
    """Return what must not be shown: the part of a URL before its host."""
    held = urlsplit(url).netloc.rpartition("@")[0].partition(":")[2]
    given = [
        value
        for name, _, value in (
            pair.partition("=") for pair in urlsplit(url).query.split("&")
        )
        if name == "password"
    ]
    return held or next(iter(given), "")


def _without(text: str, secret: str) -> str:
    for form in {secret, unquote(secret)} - {""}:
        text = text.replace(form, "***")
    return text


def _of_driver(error: Exception) -> bool:
    """Say whether an error comes from the database, and not from a mistake here."""
    return any(
        kind.__name__ in {"Error", "DatabaseError"} for kind in type(error).__mro__
    ) or isinstance(error, OSError)


def _is_lost(error: Exception) -> bool:
    """Say whether a server can no longer be reached, or has no more room for us."""
    state = getattr(error, "sqlstate", None)
    if state:
        return str(state).startswith(_LOST)
    if isinstance(error, OSError):  # as Arrow says it, without a code
        return _CONNECTION.search(str(error)) is not None
    of_server = _package(error).startswith(("psycopg", "adbc"))
    return of_server and "OperationalError" in {
        kind.__name__ for kind in type(error).__mro__
    }


def _reason(error: Exception) -> str:
    """Return what an error says, without what ADBC puts before it."""
    said = reason(error)
    return _PREFIX.sub("", said) if _package(error).startswith("adbc") else said


def _package(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0].strip("_")


def _cursor(connection: Any) -> Any:
    """Return a cursor; that of a server sends rows on demand."""
    if _package(connection) == "psycopg":
        return connection.cursor(name="rankine")
    return connection.cursor()


def _batches(cursor: Any, sql: str, batch_rows: int) -> Iterator[Any]:
    """Run a query, and return its rows in batches of Arrow, or as lists with names."""
    package = _package(cursor)
    if package == "duckdb" and find_spec("pyarrow"):
        relation = cursor.sql(sql)
        if relation is None:
            return iter(())
        # Versions before 1.4 have only the second.
        names = ("to_arrow_reader", "fetch_arrow_reader")
        read = next(
            getattr(relation, name) for name in names if hasattr(relation, name)
        )
        return _filled(read(batch_rows))
    if package.startswith("adbc"):
        with suppress(import_module("adbc_driver_manager").Error):  # of other databases
            size = min(max(_ROW_BYTES * batch_rows, 1 << 20), 1 << 24)
            cursor.adbc_statement.set_options(**{_BATCH_BYTES: size})
        cursor.execute(sql)
        return _filled(cursor.fetch_record_batch())
    cursor.execute(sql)
    return _fetched(cursor, batch_rows)


def _filled(reader: Any) -> Iterator[Any]:
    return (batch for batch in reader if batch.num_rows)


def _fetched(cursor: Any, batch_rows: int) -> Iterator[tuple[list[str], list[Any]]]:
    while cursor.description and (rows := cursor.fetchmany(batch_rows)):
        yield [column[0] for column in cursor.description], rows


def _frame(batch: Any, title: str) -> pl.DataFrame:
    """Return a batch as a frame whose columns have clear names and types."""
    of_rows = isinstance(batch, tuple)
    names = batch[0] if of_rows else batch.schema.names
    parts = zip(*batch[1], strict=True) if of_rows else batch.columns
    make = _of_values if of_rows else _of_arrow
    columns: dict[str, pl.Series] = {}
    for name, values in zip(names, parts, strict=True):
        if name in columns:
            msg = f"{title}: the query has two columns {name!r}; give them names"
            raise DataError(msg)
        try:
            columns[name] = make(values).alias(name)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            why = f"is of type {getattr(values, 'type', None)}, which cannot be read"
            if of_rows:
                kinds = {type(value).__name__ for value in values if value is not None}
                why = f"mixes {', '.join(sorted(kinds))}"
            msg = f"{title}: column {name!r} {why}; give it one type"
            raise DataError(msg) from None
    return pl.DataFrame(columns)


def _of_values(values: tuple[Any, ...]) -> pl.Series:
    plain = [str(value) if isinstance(value, UUID) else value for value in values]
    if {type(value) for value in plain} - {type(None)} == {int, float}:
        plain = [None if value is None else float(value) for value in plain]
    return pl.Series(plain, strict=True)


def _of_arrow(column: Any) -> pl.Series:
    """Return a column of Arrow; ids as text, and numbers of any length as floats."""
    extension = getattr(column.type, "extension_name", "")
    if extension == "arrow.uuid":
        return _of_values(tuple(column.to_pylist()))
    values = pl.Series(column.storage if extension else column)
    is_number = getattr(column.type, "type_name", "") == "numeric"
    return values.cast(pl.Float64) if is_number else values
