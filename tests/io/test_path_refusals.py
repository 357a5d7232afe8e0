"""What cannot be read is refused alike by every path argument: one clear line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine.cli import main
from rankine.errors import DataError, FormatError, ParameterError, RankineError
from tests.io.packed_tables import FORMATS, PACKINGS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RUN = {"q1": ["a", "b"]}
LOGGED = pl.DataFrame({"user": ["1"], "item": ["a"], "click": [1], "pscore": [0.5]})
SHOWN = pl.DataFrame({"user": ["1"], "item": ["a"]})
TABLE = pl.DataFrame(
    {
        "user_id": ["u1", "u2"],
        "item_id": ["a", "b"],
        "click": [1, 0],
        "pscore": [0.5, 0.25],
        "genre": ["war", "love"],
    }
)
"""Which is a log, recommendations, training data and features at once."""
CALLS: dict[str, Callable[[Any], Any]] = {
    "qrels": lambda path: rk.evaluate(path, RUN, "RR"),
    "run": lambda path: rk.evaluate({"q1": {"a": 1}}, path, "RR"),
    "train": lambda path: rk.evaluate(None, RUN, "Novelty", train=path),
    "items": lambda path: rk.evaluate(None, RUN, "ILD", items=path),
    "logged": lambda path: rk.ctr(path, SHOWN, "ips"),
    "recommended": lambda path: rk.ctr(LOGGED, path),
    "first": lambda path: rk.similarity(path, RUN, "RBO"),
    "checked": lambda path: rk.check({"q1": {"a": 1}}, path),
}
TABLES = ("items", "logged", "recommended", "train")


def refused(argument: str, path: Any, kind: type[RankineError] = DataError) -> str:
    with pytest.raises(kind) as found:
        CALLS[argument](path)
    text = str(found.value)
    assert "\n" not in text
    assert text.isprintable(), text
    return text


@pytest.mark.parametrize("argument", CALLS)
def test_a_missing_file(argument: str, tmp_path: Path) -> None:
    path = tmp_path / "tabel.csv"
    (tmp_path / "table.csv").write_text("")

    assert refused(argument, path, FormatError) == (
        f"{path}: no such file; did you mean {str(tmp_path / 'table.csv')!r}?"
    )


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("argument", CALLS)
def test_an_empty_file(argument: str, packing: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(PACKINGS[packing](b""))

    assert refused(argument, path) == f"{path}: the file is empty"


@pytest.mark.parametrize("argument", CALLS)
def test_a_folder_without_files(argument: str, tmp_path: Path) -> None:
    assert refused(argument, tmp_path) == f"{tmp_path}: is a folder without files"


@pytest.mark.parametrize("argument", CALLS)
def test_a_pattern_without_files(argument: str, tmp_path: Path) -> None:
    path = tmp_path / "part-*"

    assert refused(argument, path) == f"{path}: no file matches this pattern"


@pytest.mark.parametrize("argument", CALLS)
def test_a_column_twice(argument: str, tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_text("user_id;item_id;click;item_id\nu1;a;1;b\n")

    assert refused(argument, path).startswith(f"{path}:1: the column 'item_id'")


@pytest.mark.parametrize("packing", ["gz", "xz", "bz2", "zst", "zip"])
@pytest.mark.parametrize("argument", CALLS)
def test_packed_data_that_end_too_early(
    argument: str, packing: str, tmp_path: Path
) -> None:
    noise = np.random.default_rng(0).bytes(50_000).hex()
    data = PACKINGS[packing](f"user_id,item_id\n{noise},1\n".encode())
    path = tmp_path / f"table.csv.{packing}"
    path.write_bytes(data[: len(data) // 2])

    text = refused(argument, path, FormatError)

    assert text.startswith(f"{path}: the ")
    assert text.isascii()


@pytest.mark.parametrize("argument", CALLS)
def test_damaged_parquet(argument: str, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    frame = TABLE if argument in {*TABLES, "qrels"} else TABLE.drop("click", "pscore")
    data = bytearray(FORMATS["parquet"][1](frame))
    # The header of the first page, of which a count becomes impossible.
    data[4:24] = bytes([0x15, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F] * 4)[:20]
    path.write_bytes(data)

    assert refused(argument, path, FormatError).startswith(f"{path}: is damaged")


@pytest.mark.parametrize("argument", CALLS)
def test_text_that_is_not_utf8(argument: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    text = "user_id,item_id,click,pscore,genre\nu1,a,1,0.5,x\nu2,caf\xe9,0,0.5,y\n"
    if argument not in {*TABLES, "qrels"}:
        text = text.replace("click", "score").replace("pscore", "year")
    path.write_bytes(text.encode("latin-1"))

    found = refused(argument, path, FormatError)

    assert found.startswith(f"{path}:3: not UTF-8 text at byte 6 of the line")


@pytest.mark.parametrize("argument", TABLES)
def test_a_line_with_too_many_fields(argument: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("user_id,item_id,click,pscore\nu1,a,1,0.5\nu1,b,1,0.5,9\n")

    assert refused(argument, path) == f"{path}:3: expected 4 columns, got 5"


def test_a_value_that_is_no_number_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("# clicks\nuser,item,click,pscore\n1,a,1,0.5\n\n2,b,often,0.5\n")

    assert refused("logged", path) == f"{path}:5: click is 'often', not a number"


def test_a_propensity_out_of_range_is_named_by_its_part_and_line(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.csv").write_text("user,item,click,pscore\n1,a,1,0.5\n2,a,1,0.5\n")
    bad = tmp_path / "b.csv"
    bad.write_text("user,item,click,pscore\n3,a,1,0.5\n4,a,1,1.5\n")

    assert refused("logged", tmp_path).startswith(f"{bad}:3: the propensity is 1.5")


def test_parts_that_differ_are_refused(tmp_path: Path) -> None:
    TABLE.write_parquet(tmp_path / "a.parquet")
    TABLE.drop("click").write_parquet(tmp_path / "b.parquet")

    assert refused("logged", tmp_path) == (
        f"{tmp_path / 'b.parquet'} has no column 'click', but {tmp_path / 'a.parquet'} "
        "has one; all parts of a table must have the same columns"
    )
    whole = pl.DataFrame({"user_id": ["u3"], "item_id": [7], "click": [1]})
    whole.with_columns(pscore=0.5).write_parquet(tmp_path / "b.parquet")
    assert refused("logged", tmp_path) == (
        f"{tmp_path / 'b.parquet'}: 'item' is of type Int64, but of type String in "
        f"{tmp_path / 'a.parquet'}; all parts of a table must have the same types"
    )


def test_json_by_key_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text('{"u1": {"a": 1}}')

    assert refused("logged", path).startswith(
        f"{path}: is a single JSON object; expected a list"
    )


def test_json_by_item_has_features(tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    path.write_text('{"a": ["war"], "b": ["love"]}')

    assert rk.evaluate(None, RUN, "ILD", items=path)["ILD"] == 1


# How a file is to be read.


@pytest.mark.parametrize("packing", ["", "gz", "xz"])
@pytest.mark.parametrize("form", ["comma", "parquet", "stream", "ndjson"])
def test_a_table_is_bounded(form: str, packing: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    many = pl.concat([TABLE] * 4000)
    path.write_bytes(PACKINGS[packing](FORMATS[form][1](many)))

    def log() -> object:
        return rk.ctr(rk.read_table(path, max_bytes=1000), SHOWN, "ips")

    def items() -> object:
        table = rk.read_table(path, max_bytes=1000)
        return rk.evaluate(None, RUN, "ILD", items=table)

    for read in (log, items):
        with pytest.raises(
            FormatError, match=("has more than 1,000 bytes when unpacked")
        ):
            read()


def test_an_encoding_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes("user,item,click\n1,caf\xe9,1\n".encode("latin-1"))
    shown = pl.DataFrame({"user": ["1"], "item": ["caf\xe9"]})

    found = rk.ctr(rk.read_table(path, encoding="latin-1"), shown)

    assert (found.value, found.matched) == (1.0, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "trec"}, "format 'trec' has no column names"),
        ({"format": "cvs"}, "unknown format 'cvs'.*did you mean 'csv'"),
        ({"columns": {"score": "x"}}, "columns has no part 'score'"),
        ({"columns": ["item"]}, "columns must be"),
        ({"encoding": "utf-99"}, "unknown encoding 'utf-99'"),
        ({"max_bytes": 0}, "max_bytes must be"),
    ],
)
def test_options_of_read_table(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    TABLE.write_csv(path)

    with pytest.raises(ParameterError, match=message):
        rk.read_table(path, **options)


def test_a_format_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("item\tnote;more\nb\tx;y\n")

    table = rk.read_table(path, format="tsv")

    assert table.names == ("item", "note;more")
    assert repr(table) == f"Table({str(path)!r}, item, note;more)"


def test_columns_by_number_and_none(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("u1;a;1;0.5\nu2;a;0;0.5\n")
    told = {"user": 1, "item": 2, "reward": 3, "propensity": 4}
    # u1 is shown a, which it clicked: 1 / 0.5, over two rounds.
    shown = pl.DataFrame({"user_id": ["u1", "u2"], "item_id": ["a", "b"]})
    own = {f"logged.{part}": place for part, place in told.items()}

    assert rk.ctr(path, shown, "ips", columns=own).value == (1 / 0.5) / 2
    assert rk.ctr(rk.read_table(path, columns=told), shown, "ips").value == 1
    # Without users, a and b are recommended to all: half of the time a.
    nobody = {**own, "logged.user": "-", "recommended.user": "-"}
    assert rk.ctr(path, shown, "ips", columns=nobody).value == (0.5 / 0.5) / 2


def test_the_name_of_a_column_may_be_a_number(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("item_id,0,1\na,1.5,0\nb,0,2.5\n")

    # The vectors are at a right angle.
    assert rk.evaluate(None, RUN, "ILD", items=path)["ILD"] == 1


def test_one_column_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "shown.csv"
    path.write_text("item\na\n")

    assert rk.ctr(LOGGED, path).value == 1


# The same on the command line.


def failed(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[object, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    return caught.value.code, capsys.readouterr().err


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    TABLE.write_csv(tmp_path / "table.csv")
    SHOWN.write_csv(tmp_path / "shown.csv")
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n")
    latin = "user_id,item_id,click,genre\nu1,a,1,x\nu2,caf\xe9,0,y\n"
    (tmp_path / "latin.csv").write_bytes(latin.encode("latin-1"))
    return tmp_path


def commands(folder: Path, table: str) -> list[list[Any]]:
    run, path = folder / "run.txt", folder / table
    lists = ["evaluate", "--no-qrels", run, "-m"]
    return [
        ["ctr", path, folder / "shown.csv"],
        [*lists, "ILD", "--items", path],
        [*lists, "Novelty", "--train", path],
    ]


@pytest.mark.parametrize("at", range(3))
def test_the_command_honours_the_bound(
    at: int, tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, err = failed(capsys, *commands(tables, "table.csv")[at], "--max-bytes", "40")

    assert code == 3
    assert f"{tables / 'table.csv'}: has more than 40 bytes" in err


@pytest.mark.parametrize("at", range(3))
def test_the_command_honours_the_encoding(
    at: int, tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = commands(tables, "latin.csv")[at]

    assert failed(capsys, *words)[0] == 3
    assert failed(capsys, *words, "--encoding", "latin-1")[0] in {0, 1}


def test_formats_and_columns_of_one_file(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ctr, items, train = commands(tables, "table.csv")

    assert "cannot be read as Parquet" in failed(capsys, *ctr, "--format", "parquet")[1]
    assert failed(capsys, *ctr, "--format", "logged=csv")[0] == 1
    assert failed(capsys, *ctr, "--format", "run=csv")[0] == 2
    assert failed(capsys, *items, "--format", "trec")[0] == 0
    assert failed(capsys, *items, "--format", "items=json")[0] == 3
    assert failed(capsys, *items, "--col", "items.item=genre")[0] == 0
    assert "no column 'film'" in failed(capsys, *items, "--col", "items.item=film")[1]
    assert failed(capsys, *train, "--format", "run=trec")[0] == 0
    assert failed(capsys, *train, "--format", "train=json")[0] == 3


def test_standard_input_is_read_once(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tables / "run.txt"
    for words in (
        ["ctr", "-", "-"],
        ["evaluate", "--no-qrels", "-", "-m", "ILD", "--items", "-"],
        ["evaluate", "--no-qrels", run, "-m", "ILD", "--items", "-", "--train", "-"],
    ):
        code, err = failed(capsys, *words)

        assert code == 2
        assert "standard input (-) is named more than once" in err


def test_the_command_says_how_a_table_was_read(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tables / "table.csv"

    assert (
        f"rankine: {path}: read as csv"
        in failed(capsys, "ctr", path, tables / "shown.csv", "-v")[1]
    )


def test_a_first_line_that_may_be_a_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("item_id,0,1\na,1.5,0\n")

    with pytest.raises(
        FormatError, match=r"its first line, 'item_id 0 1', is a header"
    ):
        rk.read_table(path, columns={"item": 1})


def test_a_run_without_a_header_may_say_that_it_has_no_scores(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("q1,b,7\nq1,a,3\n")
    told = {"query": 1, "item": 2, "score": "-"}

    run = rk.read_run(path, columns=told)

    # The order of the rows is the rank, in which a is second.
    assert rk.evaluate({"q1": {"a": 1}}, run, "RR")["RR"] == 1 / 2
    with pytest.raises(DataError, match="has no header with -"):
        rk.read_run(path, columns={"score": "-"})


def test_data_of_an_unknown_kind_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0\0\n\0")

    assert refused("logged", path).startswith(
        f"{path}: is binary data of an unknown kind"
    )


def test_recbole_has_several_topics_in_a_column(tmp_path: Path) -> None:
    path = tmp_path / "films.item"
    path.write_text("item_id:token\tclass:token_seq\na\twar love\nb\twar\n")

    ev = rk.evaluate(None, RUN, "SubtopicRecall(judged=False)@1", items=path)

    # The topics are war and love, and a, which is first, has both.
    assert ev["SubtopicRecall(judged=False)@1"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"\\ud800": {"x": 1}}', "an id contains '.ud800', an unpaired surrogate"),
        ('{"a": {"\\udfff": 1}}', "an id contains '.udfff', an unpaired surrogate"),
        (f'{{"a": {{"x": 1{"0" * 400}}}}}', "weights of at least 0"),
        ("{}", "is empty; give at least one item"),
    ],
)
def test_json_by_item_is_checked(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    path.write_text(text)

    with pytest.raises(DataError, match=message):
        rk.evaluate(None, RUN, "ILD", items=path)
