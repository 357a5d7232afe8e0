"""CSV: what a reader must not carry over from one part of a file to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _small_parts() -> Iterator[None]:
    with limited(part_bytes=100, head_bytes=64):
        yield


def written(path: Path, *parts: str) -> Path:
    rows = "".join(f"q{number},d,0.5\n" for number in range(200))
    path.write_text("".join(("query_id,item_id,score\n", rows, *parts)))
    return path


@pytest.mark.parametrize("end", ["\n", "\n" * 300, " \n" * 300, "# end\n" * 60])
def test_a_last_part_without_rows_is_left_out(end: str, tmp_path: Path) -> None:
    qrels = {f"q{number}": {"d": 1} for number in range(200)}
    path = written(tmp_path / "run.csv", end)

    # With some of these sizes, a part ends where the rows do.
    for size in range(64, 90):
        with limited(part_bytes=size):
            assert rk.evaluate(qrels, path, "R@1").mean == {"R@1": 1.0}


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


def test_text_that_is_not_utf_8_names_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "run.csv", '"q","a\nb",0.5\n')
    path.write_bytes(path.read_bytes() + b"q,caf\xe9,0.5\n")

    with pytest.raises(FormatError) as caught:
        rk.evaluate({"q1": {"d": 1}}, path, "R@1")

    # The header, 200 rows, and a row of two lines come first.
    assert str(caught.value).startswith(f"{path}:204: not UTF-8 text at byte 5")
