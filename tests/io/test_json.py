"""JSON lines: read at once they give what they give one by one, or are read so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine._io.json import alike
from rankine.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


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
