"""The registry of formats: all that lists or recognises formats follows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine import read_qrels, read_run, read_table
from rankine._engines import files as of_spark
from rankine._io.formats import FORMATS, Format, names_for
from rankine._io.frames import from_frame, open_frame
from rankine._io.writers import WRITERS
from rankine.errors import FormatError, ParameterError
from tests.shell import shell  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from rankine._io.bytes import Opened
    from rankine._io.fields import Sniffed
    from rankine._io.tables import OpenTable
    from tests.shell import Shell

DOCS = Path(__file__).parents[2] / "docs"
QRELS = b"!query,item,grade\nq,a,1\n"
RUN = b"!query,item,score\nq,x,2\nq,a,1\n"


def marked_frame(opened: Opened) -> pl.DataFrame:
    return pl.read_csv(opened.read()[1:])


def read_marked(opened: Opened, _: Sniffed, role: Any, how: Any) -> Any:
    return from_frame(marked_frame(opened), role, how, name=opened.name)


def open_marked(opened: Opened, _: Sniffed) -> OpenTable:
    return open_frame(marked_frame(opened), opened.name)


def add(patch: pytest.MonkeyPatch, **facts: Any) -> None:
    """Add CSV with a mark of its own as a format, for one test."""
    entry = Format("marked", read_marked, **{"magic": (b"!",), **facts})
    patch.setitem(FORMATS, "marked", entry)


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "run").write_bytes(RUN)
    return str(tmp_path / "qrels"), str(tmp_path / "run")


# One entry makes a format


@pytest.mark.parametrize("how", ["magic", "detect", "named"])
def test_an_entry_is_recognised_and_read(
    how: str, data: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    by = {"magic": (b"!",)} if how == "magic" else {"magic": ()}
    seen = (lambda head: head[:1] == b"!") if how == "detect" else lambda _: False
    add(monkeypatch, **by, detect=seen)
    chosen = "marked" if how == "named" else None
    qrels, run = read_qrels(data[0], format=chosen), read_run(data[1], format=chosen)

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 2
    assert getattr(qrels.source, "kind", "") == "marked"


def test_an_entry_opens_tables(
    data: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch, open=open_marked)

    assert read_table(data[1]).names == ("query", "item", "score")


def test_messages_know_an_entry(
    data: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch)
    with pytest.raises(ParameterError, match=r"ndjson, marked; did you mean 'marked'"):
        read_run(data[1], format="markd")


# What a format may hold


@pytest.mark.parametrize(("only", "place"), [("run", 0), ("qrels", 1)])
@pytest.mark.parametrize("named", [True, False])
def test_a_file_is_refused_in_a_format_that_does_not_hold_such_data(
    only: str,
    place: int,
    *,
    named: bool,
    data: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add(monkeypatch, roles=frozenset({only}))
    reader = (read_qrels, read_run)[place]
    words = ("judgements", "a run")
    is_not = f"format 'marked' holds {words[1 - place]}, not {words[place]}; use one of"
    error = ParameterError if named else FormatError
    with pytest.raises(error, match=re.escape(is_not)):
        reader(data[place], format="marked" if named else None)


@pytest.mark.parametrize("name", ["trec-loose", "msmarco"])
def test_judgements_are_refused_in_formats_of_runs(
    name: str, data: tuple[str, str]
) -> None:
    with pytest.raises(ParameterError) as refused:
        read_qrels(data[0], format=name)

    assert str(refused.value) == (
        f"format '{name}' holds a run, not judgements; use one of trec, csv, tsv, "
        "beir, movielens, recbole, parquet, arrow, json, ndjson, or give it only for a "
        f"run, with --format run={name}"
    )


def test_a_table_is_refused_in_a_format_without_names(
    data: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch)
    for chosen, error in (("marked", ParameterError), (None, FormatError)):
        with pytest.raises(error, match="'marked' has no column names, and a table"):
            read_table(data[1], format=chosen)


# Lists of formats in words


def in_words(text: str) -> list[str]:
    """Return the names in a list of words, ``a``, ``b`` or ``c``."""
    return re.findall(r"[\w-]+", text.replace("`", "").replace(" or ", " "))


@pytest.mark.parametrize(
    ("reader", "role"),
    [(read_run, "run"), (read_qrels, "qrels"), (read_table, "table")],
)
def test_docstrings_list_the_formats(reader: Any, role: str) -> None:
    listed = re.search(r" format: (.+?);", reader.__doc__ or "", re.DOTALL)

    assert listed is not None
    assert tuple(in_words(listed[1])) == names_for(role)


@pytest.mark.parametrize(
    ("method", "role"), [(rk.Run.save, "run"), (rk.Qrels.save, "qrels")]
)
def test_docstrings_list_the_formats_that_are_written(method: Any, role: str) -> None:
    listed = re.search(r" format: (.+?);", method.__doc__ or "", re.DOTALL)

    assert listed is not None
    able = [name for name in WRITERS if name in names_for(role)]
    assert in_words(listed[1]) == able


def test_the_help_lists_the_formats_that_are_written(shell: Shell) -> None:  # noqa: F811
    shown = " ".join(shell.run("convert", "--help").out.split())
    listed = re.search(r"The format to write: (.+?);", shown)

    assert listed is not None
    assert in_words(listed[1]) == list(WRITERS)


@pytest.mark.parametrize(("command", "role"), [("evaluate", "run"), ("ctr", "table")])
def test_the_help_lists_the_formats(
    command: str,
    role: str,
    shell: Shell,  # noqa: F811
) -> None:
    shown = " ".join(shell.run(command, "--help").out.split())
    listed = re.search(r"--format NAME (.+?), for (all|both) files", shown)

    assert listed is not None
    assert tuple(in_words(listed[1])) == names_for(role)


def test_the_page_lists_the_formats() -> None:
    page = (DOCS / "formats.md").read_text().split("## Files")[1].split("\n## ")[0]
    named = re.findall(r"^\|.+\| (`.+`) \|$", page, re.MULTILINE)

    assert {name for cell in named for name in in_words(cell)} == set(FORMATS)


def test_spark_reads_formats_that_are_known() -> None:
    assert set(of_spark.FORMATS) <= set(FORMATS)
    page = (DOCS / "spark.md").read_text()
    for name in of_spark.FORMATS:
        for ending in FORMATS[name].endings:
            assert f"`{ending}`" in page
