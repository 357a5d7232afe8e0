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


RUNS: list[dict[str, Any]] = [
    {"q": {"a": 0.5, "b": 1.0}, "r": {"c": 2.0}, "s": {"d": 1, "e": 1}},
    {"q": {"a": 1.0}, "r": {}, "s": {"d": 1}},
    {"q": ["b", "a"], "r": [], "s": ["d"]},
    {"q": [{"id": "b", "score": 2}, {"id": "a", "score": 1}], "r": [], "s": []},
]


@pytest.mark.parametrize("convention", ["rankine", "pytrec_eval"])
@pytest.mark.parametrize("run", RUNS)
def test_a_large_file_gives_what_a_small_one_does(
    run: dict[str, Any], convention: str, tmp_path: Path
) -> None:
    qrels = {"q": {"a": 1}, "r": {"c": 1}, "s": {"e": 1}}
    metrics = ["RR", "P@1", "NumQ"]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run))
    small = rk.evaluate(qrels, path, metrics, convention=convention)

    with limited(large_json_bytes=0, json_items=1):
        large = rk.evaluate(qrels, path, metrics, convention=convention)

    assert large.per_query.equals(small.per_query)
    assert large.mean == small.mean


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"q": [5, 6, -1], "r": [7, -1, -1]}', "looks like padding"),
        ('{"q": {"a": 1}, "r": {"b": 1}, "q": {"c": 1}}', "'q' appears twice"),
        ('{"q": {"a": 1}, "r": {"b": 1, "b": 2}}', "'b' appears twice"),
        ('{"q": {"a": 1},\n"r": {"b": "x"}}', "score of item 'b' for query 'r'"),
        ('{"q": {"a": 1},\n"r": 5}', "the entry of query 'r' is of type int"),
        ('{"q": {"a": 1},\n"r" {"b": 1}}', ":2: is not JSON"),
        ('{"q": {"a": 1}} 5', "is not JSON"),
    ],
)
def test_a_large_file_is_refused_as_a_small_one_is(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    for size in (1 << 30, 0):
        with (
            limited(large_json_bytes=size, json_items=1),
            pytest.raises(DataError, match=said),
        ):
            rk.evaluate({"q": {"a": 1}}, path, "RR")


@pytest.mark.parametrize("indent", [None, 1])
def test_one_gold_id_for_each_query(indent: int | None, tmp_path: Path) -> None:
    gold, run = tmp_path / "gold.json", {"q1": ["d1"], "q2": ["x", "d2"]}
    gold.write_text(json.dumps({"q1": "d1", "q2": "d2"}, indent=indent))

    found = rk.evaluate(gold, run, "RR")

    assert found["RR"] == (1 + 1 / 2) / 2
    assert any("one relevant item for each query" in note for note in found.notes)


def test_a_single_line_with_names_of_columns_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"query_id": "q1", "doc_id": "d1", "relevance": 1}\n')

    assert rk.evaluate(path, {"q1": ["x", "d1"]}, "RR")["RR"] == 1 / 2
