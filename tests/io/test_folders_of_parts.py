"""Folders of parts: failed writes, tables with versions, parts that are not alike."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, DuplicateItemError, FormatError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"u": {"a": 1}}
RUN = pl.DataFrame({"user": ["u", "u"], "item": ["a", "b"], "score": [2.0, 1.0]})


ENGINES = pytest.mark.parametrize("engine", ["memory", "stream"])


@ENGINES
@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("_delta_log/0.json", "is in the Delta format, and its files include old"),
        ("metadata/v1.metadata.json", "is in the Iceberg format, and its files"),
        ("part-1.parquet", "part-1.parquet: is empty; writing it probably failed"),
        ("day=1/1.parquet", "1.parquet: is empty; writing it probably failed"),
    ],
)
def test_parts_that_are_not_all_of_the_table_are_refused(
    inside: str,
    said: str,
    engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for package in ("deltalake", "pyiceberg"):
        monkeypatch.setitem(sys.modules, package, None)
    RUN.write_parquet(tmp_path / "part-0.parquet")
    (tmp_path / inside).parent.mkdir(exist_ok=True)
    (tmp_path / inside).touch()

    with pytest.raises(FormatError, match=re.escape(said)):
        rk.evaluate(QRELS, tmp_path, "RR", engine=engine)


@ENGINES
def test_the_newest_version_of_a_delta_table_is_read(
    engine: str, tmp_path: Path
) -> None:
    pytest.importorskip("deltalake")
    RUN.write_delta(tmp_path / "run")
    RUN.with_columns(-pl.col("score")).write_delta(tmp_path / "run", mode="overwrite")

    ev = rk.evaluate(QRELS, tmp_path / "run", "RR", engine=engine)

    assert ev["RR"] == 1 / 2
    assert rk.read_table(tmp_path / "run").names == ("user", "item", "score")
    with pytest.raises(FormatError, match="include old versions of a Delta table"):
        rk.evaluate(QRELS, f"{tmp_path}/run/*.parquet", "RR", engine=engine)


@pytest.mark.filterwarnings("ignore::polars.exceptions.PerformanceWarning")
@ENGINES
def test_the_newest_version_of_an_iceberg_table_is_read(
    engine: str, tmp_path: Path
) -> None:
    catalogs = pytest.importorskip("pyiceberg.catalog.sql")
    catalog = catalogs.SqlCatalog(
        "c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}"
    )
    catalog.create_namespace("n")
    rows = RUN.to_arrow()
    table = catalog.create_table("n.run", schema=rows.schema)
    table.append(rows)
    for _ in range(10):  # so that the number of the newest has a digit more
        table.overwrite(RUN.with_columns(-pl.col("score")).to_arrow())

    ev = rk.evaluate(QRELS, tmp_path / "n" / "run", "RR", engine=engine)

    assert ev["RR"] == 1 / 2


@ENGINES
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_names_of_folders_are_columns(ending: str, engine: str, tmp_path: Path) -> None:
    for user, items in {"007": ["b", "a"], "a%20b": ["a"]}.items():
        folder = tmp_path / "run" / "day=2026-01-05" / f"user={user}"
        folder.mkdir(parents=True)
        part = pl.DataFrame({"item": items, "score": [2.0, 1.0][: len(items)]})
        getattr(part, f"write_{ending}")(folder / f"part-0.{ending}")
        (folder / "_SUCCESS").touch()
    qrels = {"007": {"a"}, "a b": {"a"}}

    ev = rk.evaluate(qrels, tmp_path / "run", "RR", engine=engine)

    assert dict(ev.per_query.iter_rows()) == {"007": 1 / 2, "a b": 1}
    table = rk.read_table(tmp_path / "run")
    assert table.names == ("item", "score", "day", "user")
    days = [frame for frame, _ in table.load(["day"])]
    assert pl.concat(days)["day"].to_list() == ["2026-01-05"] * 3


def test_a_folder_named_for_a_missing_value_has_none(tmp_path: Path) -> None:
    folder = tmp_path / "user=__HIVE_DEFAULT_PARTITION__"
    folder.mkdir()
    RUN.drop("user").write_parquet(folder / "0.parquet")

    with pytest.raises(DataError, match="rows 0, 1: 2 user ids are missing"):
        rk.evaluate(QRELS, tmp_path, "RR")


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("without", [0, 1])
def test_a_part_without_the_score_is_named(
    without: int, engine: str, tmp_path: Path
) -> None:
    for number in (0, 1):
        part = RUN.drop("score") if number == without else RUN
        part.write_parquet(tmp_path / f"{number}.parquet")

    with pytest.raises(FormatError) as caught:
        rk.evaluate(QRELS, tmp_path, "RR", engine=engine)

    file, other = tmp_path / f"{without}.parquet", tmp_path / f"{1 - without}.parquet"
    assert str(caught.value) == (
        f"{tmp_path}: {file} has no score column, but {other} has one; all files must "
        "be alike"
    )


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_many_parts_share_their_notes(form: str, engine: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for number in range(30):
        part = pl.DataFrame({"user": [f"u{number}"], "doc": ["a"], "rating": [1.0]})
        part = part.rename({"doc": "item"}) if number > 27 else part
        path = folder / f"{number:02}.{form}"
        part.write_csv(path) if form == "csv" else part.write_parquet(path)
    qrels = {f"u{number}": {"a": 1} for number in range(30)}

    ev = rk.evaluate(qrels, folder, "RR", engine=engine)

    most, others, together = ev.notes
    first = f"(28 of 30 files, such as {folder}/00.{form})"
    assert most == f"{folder}: query = user, item = doc, score = rating {first}"
    last = f"(2 of 30 files, such as {folder}/28.{form})"
    assert others == f"{folder}: query = user, score = rating {last}"
    assert together == f"{folder}: 30 files are read as one"
    (warned,) = ev.warnings
    assert warned.startswith(f"{folder}: the column 'rating' is used as the score")


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_parts_of_text_without_a_byte_are_left_out_with_a_note(
    engine: str, tmp_path: Path
) -> None:
    RUN.write_csv(tmp_path / "0.csv")
    (tmp_path / "1.csv").write_text("")

    notes = rk.evaluate(QRELS, tmp_path, "RR", engine=engine).notes

    assert f"{tmp_path}: 1 file without rows, such as 1.csv: left out" in notes


def test_counts_of_parts_add_up(tmp_path: Path) -> None:
    for number in range(4):
        lists = {"query": ["p", "q"], "items": [["a"], [] if number else ["a"]]}
        part = pl.DataFrame(lists).with_columns(query=pl.col("query") + str(number))
        part.write_parquet(tmp_path / f"{number}.parquet")

    notes = rk.evaluate({"p0": {"a": 1}, "p1": {"a": 1}}, tmp_path, "RR").notes

    some = f"(3 of 4 files, such as {tmp_path}/1.parquet)"
    assert f"{tmp_path}: 3 empty lists in 'items' {some}" in notes
    assert f"{tmp_path}: the lists in 'items' are read as rows, in their order" in notes


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize("form", ["trec", "csv"])
def test_a_repeat_in_another_file_says_where_both_are(
    form: str, role: str, tmp_path: Path
) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    line = {"qrels": "q 0 {} 1\n", "run": "q Q0 {} 1 0.5 t\n"}[role]
    head = ""
    if form == "csv":
        line, head = (
            "q,{},1\n",
            f"query,item,{'grade' if role == 'qrels' else 'score'}\n",
        )
    (folder / "a").write_text(head + line.format("x") + line.format("y"))
    (folder / "b").write_text(head + line.format("z") + line.format("y"))
    pair: list[Any] = [folder, {"q": ["y"]}]
    qrels, run = pair if role == "qrels" else pair[::-1]

    with pytest.raises(DuplicateItemError) as caught:
        rk.evaluate(qrels, run, "RR")

    first = 2 + bool(head)
    assert f"{folder}/a:{first} and {folder}/b:{first}" in str(caught.value)


def test_empty_lists_in_parts_count(tmp_path: Path) -> None:
    parts: list[Any] = [{"q": {"a": 1.0}}, {"r": {}}, {"s": []}]
    for number, part in enumerate(parts):
        (tmp_path / f"{number}.json").write_text(json.dumps(part))
    whole = parts[0] | parts[1] | parts[2]
    qrels = {query: {"a": 1} for query in whole}

    for convention in ("rankine", "pytrec_eval"):
        found = rk.evaluate(qrels, tmp_path, "RR", convention=convention)

        wanted = rk.evaluate(qrels, whole, "RR", convention=convention)
        assert found.per_query.equals(wanted.per_query)
        assert found.mean == wanted.mean


@ENGINES
def test_a_folder_that_is_not_read_is_said(engine: str, tmp_path: Path) -> None:
    RUN.write_csv(tmp_path / "0.csv")
    for name in ("old", "more", "_log", ".git"):
        (tmp_path / name).mkdir()
        RUN.write_csv(tmp_path / name / "0.csv")

    notes = rk.evaluate(QRELS, tmp_path, "RR", engine=engine).notes

    why = "left out, as its name is not key=value"
    assert f"{tmp_path}: 2 folders in it, such as more: {why}" in notes
    assert rk.read_table(tmp_path).notes == notes[-1:]
