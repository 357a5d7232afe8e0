"""Text that is read at once gives what it gives row by row, or is read row by row."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._base.limits import limited
from rankine._io.csv import _Text
from rankine._io.json import alike
from rankine.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

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


def lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


MANY: list[dict[str, Any]] = [
    {"user": f"u{n}", "item": n, "pscore": 1 / (n + 1)} for n in range(200)
]


def test_objects_that_are_alike_are_read_at_once() -> None:
    frame = alike(lines(MANY))

    assert frame is not None
    assert frame.rows(named=True) == MANY
    assert frame.dtypes == [pl.String, pl.Int64, pl.Float64]


def test_whole_numbers_among_others_are_numbers() -> None:
    frame = alike(lines([*MANY, {"user": "x", "item": 5, "pscore": 1}]))

    assert frame is not None
    assert frame["pscore"][-1] == 1.0


@pytest.mark.parametrize(
    "odd",
    [
        '{"user": 7, "item": 1, "pscore": 0.5}',
        '{"user": "x", "item": "1", "pscore": 0.5}',
        '{"user": "x", "item": 1.5, "pscore": "0.5"}',
        '{"user": "x", "item": true, "pscore": 0.5}',
        '{"user": "x", "item": 1, "pscore": null}',
        '{"user": "x", "item": 1}',
        '{"item": 1, "user": "x", "pscore": 0.5}',
        '{"user": "x", "item": 1, "pscore": 0.5, "more": 1}',
        '{"user": "x", "user": "y", "item": 1, "pscore": 0.5}',
        '{"user": "x\\u0041", "item": 1, "pscore": 0.5}',
        '{"user": "x", "item": 99999999999999999999, "pscore": 0.5}',
        '{"user": "x", "item": 1, "pscore": NaN}',
        '{"user": "x", "item": 1, "pscore": 0.5} {}',
        "[1]",
        "",
    ],
)
def test_an_object_that_differs_is_not(odd: str) -> None:
    assert alike(lines(MANY) + odd.encode() + b"\n" + lines(MANY)) is None


def test_both_ways_give_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    records = [
        {"user": f"u{n % 50}", "item": f"i{n % 7}", "click": n % 2, "pscore": float(p)}
        for n, p in enumerate(rng.random(3000) / 10)
    ]
    path = tmp_path / "log.ndjson"
    path.write_bytes(lines(records))
    shown = pl.DataFrame({"item": ["i1", "i2"]})

    assert alike(path.read_bytes()) is not None
    at_once = rk.ctr(path, shown, "ips")

    with limited(few_json_bytes=1 << 30):
        assert rk.ctr(path, shown, "ips") == at_once


def test_a_number_among_texts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.ndjson"
    odd = b'{"user": 7, "item": 1, "pscore": 0.5}\n'
    path.write_bytes(lines(MANY) + odd)

    shown = pl.DataFrame({"user": ["u1"], "item": [1]})
    told = {"reward": "pscore", "propensity": "-"}

    with pytest.raises(DataError, match=r":201: column 'user' mixes str and int"):
        rk.ctr(path, shown, columns=told, any_reward=True)
