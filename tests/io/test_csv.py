"""CSV: quotes, and what must not be carried over from one part to the next."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._base.limits import limited
from rankine._io import open_table
from rankine._io.csv import _Reader, _Text
from rankine.errors import FormatError, RankineError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def _small_parts() -> Iterator[None]:
    with limited(part_bytes=100, head_bytes=64):
        yield


def written(path: Path, *parts: str) -> Path:
    rows = "".join(f"q{number},d,0.5\n" for number in range(200))
    path.write_text("".join(("query_id,item_id,score\n", rows, *parts)))
    return path


@pytest.mark.slow
@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize("end", ["\n", "\n" * 300, " \n" * 300, "# end\n" * 60])
def test_a_last_part_without_rows_is_left_out(end: str, tmp_path: Path) -> None:
    qrels = {f"q{number}": {"d": 1} for number in range(200)}
    path = written(tmp_path / "run.csv", end)

    # With some of these sizes, a part ends where the rows do.
    for size in range(64, 90):
        with limited(part_bytes=size):
            assert rk.evaluate(qrels, path, "R@1").mean == {"R@1": 1.0}


@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize(
    ("row", "line", "why"),
    [
        ("q,d\n", 205, "expected 3 columns, got 2"),
        ('"q","a\nb\nc",0.5\nq\n', 208, "expected 3 columns, got 1"),
    ],
    ids=["few-fields", "after-a-field-of-three-lines"],
)
def test_a_bad_row_names_its_line(
    row: str, line: int, why: str, tmp_path: Path
) -> None:
    # The header, 200 rows and three empty lines come first.
    path = written(tmp_path / "run.csv", "\n\n\n", row)

    with pytest.raises(FormatError) as caught:
        rk.evaluate({"q1": {"d": 1}}, path, "R@1")

    assert str(caught.value).startswith(f"{path}:{line}: {why}")


@pytest.mark.usefixtures("_small_parts")
def test_text_that_is_not_utf_8_names_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "run.csv", '"q","a\nb",0.5\n')
    path.write_bytes(path.read_bytes() + b"q,caf\xe9,0.5\n")

    with pytest.raises(FormatError) as caught:
        rk.evaluate({"q1": {"d": 1}}, path, "R@1")

    # The header, 200 rows, and a row of two lines come first.
    assert str(caught.value).startswith(f"{path}:204: not UTF-8 text at byte 5")


FIELDS = st.text(alphabet='ab,;"\n ', min_size=1, max_size=5)


@given(st.lists(st.lists(FIELDS, min_size=2, max_size=4), min_size=1, max_size=5))
def test_marks_are_counted_outside_quotes(rows: list[list[str]]) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)

    text = _Text(out.getvalue().encode(), ",")

    if text.is_plain:
        assert text.n_lines == len(rows)
        assert text.n_marks == sum(len(row) - 1 for row in rows)
    else:
        assert any("\n" in field for row in rows for field in row)


@pytest.mark.parametrize(
    ("data", "plain"),
    [
        ('a,"b,c"\n', True),
        ('"a","b"', True),
        ('a,"b""c"\n"",""\n', True),
        ('a,"b\nc"\n', False),
        ('a,b"c\n', False),
        ('a,b "c, d" e\n', False),
        ('a,"b" \n', False),
        ('a, "b"\n', False),
        ('a,"b\n', False),
        ("a,b\r\n", False),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 1 << 18])
def test_quotes_are_plain_around_whole_fields(
    data: str,
    plain: bool,  # noqa: FBT001 - a parameter of the test
    size: int,
) -> None:
    with limited(scan_bytes=size):
        assert _Text(data.encode(), ",").is_plain is plain


@pytest.mark.parametrize("size", [16, 1 << 18])
def test_quoted_fields_are_read_as_python_reads_them(size: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    texts = ["a", "b,c", 'd"e', '"', "f g", ",,", "h"]
    rows = [
        [f"u{n}", str(rng.choice(texts)), "1", str(rng.choice(texts))]
        for n in range(500)
    ]
    path = tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [["user_id", "item_id", "click", "note"], *rows]
        )

    with limited(scan_bytes=size):
        ((frame, origin),) = rk.read_table(path).load(
            ["user_id", "item_id", "click", "note"], ["click"]
        )

    assert frame.select("user_id", "item_id", "note").rows() == [
        (user, item, note) for user, item, _, note in rows
    ]
    assert frame["click"].to_list() == [1.0] * 500
    assert origin.where(3) == f"{path}:5"


# Empty cells

CELLS = st.sampled_from(["", "", "1.5", "de", " ", "#", "x,y", "12\t3"])


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=9),
    mark=st.sampled_from(",\t"),
    size=st.sampled_from([4, 1 << 18]),
)
def test_empty_cells_are_read_as_in_a_file_with_an_empty_line(
    rows: list[tuple[str, str, str]], mark: str, size: int
) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=mark, lineterminator="\n").writerows(rows)
    lines = text.getvalue().splitlines()
    # Lines of blanks alone are left out; with all fields, # is not a comment.
    expected = [
        [cell or None for cell in row]
        for row, line in zip(rows, lines, strict=True)
        if line.strip()
    ]

    with TemporaryDirectory() as folder, limited(scan_bytes=size):
        path = Path(folder) / "log"
        for empty in ("", "\n"):
            first = mark.join(["name", "event", "worth"])
            path.write_text(f"{first}\n{text.getvalue()}{empty}", newline="")
            table = open_table(path, "log")
            frame, _ = table.load(["name", "event", "worth"])[0]
            assert [list(row) for row in frame.rows()] == expected


@pytest.mark.parametrize("mark", [",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_log_with_empty_cells_is_not_read_line_by_line(
    mark: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ["u,event,worth", *("1,click,", "2,,3.5", ",,7") * 5]
    (tmp_path / "log.csv").write_text(
        end.join(rows).replace(",", mark) + end, newline=""
    )
    monkeypatch.delattr(_Reader, "_leave_out")
    table = open_table(tmp_path / "log.csv", "log")

    frame, _ = table.load(["u", "event", "worth"], ["worth"])[0]
    worth = frame["worth"].cast(pl.Float64).to_list()

    assert frame.select("u", "event").rows()[:3] == [
        ("1", "click"),
        ("2", None),
        (None,) * 2,
    ]
    assert worth == [None, 3.5, 7.0] * 5


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("3,click,,4", "expected 3 columns, got 4"),
        ("3,click", "expected 3 columns, got 2"),
        # Together, they have as many fields as two good ones.
        ("3,click\n4,,,", "expected 3 columns, got 2"),
        ("3,click,one", "worth is 'one', not a number"),
        ('3,click,""', "worth is '', not a number"),
        ("3,click, ", "worth is ' ', not a number"),
    ],
)
@pytest.mark.parametrize("empty", [0, 2])
def test_a_bad_row_after_empty_cells_names_its_line(
    row: str, why: str, empty: int, tmp_path: Path
) -> None:
    path = tmp_path / "users.csv"
    rows = ["user,event,worth", "1,,2", "2,click,", *[""] * empty, row, "9,,1"]
    path.write_text("\n".join(rows))

    with pytest.raises(RankineError) as caught:
        rk.online.users_needed(path, effect=1, unit="user", metrics={"m": "worth"})

    assert str(caught.value) == f"{path}:{4 + empty}: {why}"
