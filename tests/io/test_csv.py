"""CSV: quotes, and what must not be carried over from one part to the next."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._base.limits import limited
from rankine._io.csv import _Text
from rankine.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def _small_parts() -> Iterator[None]:
    with limited(part_bytes=100, head_bytes=64):
        yield


def written(path: Path, *parts: str) -> Path:
    rows = "".join(f"q{number},d,0.5\n" for number in range(200))
    path.write_text("".join(("query_id,item_id,score\n", rows, *parts)))
    return path


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
