"""Loading: what cannot be loaded is told in one sentence, with its place."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine.errors import DataError, FormatError, ParameterError
from tests.report.results import QRELS, RUN, made

if TYPE_CHECKING:
    from pathlib import Path


def damaged(change: Any) -> str:
    data = json.loads(made(keep=2).to_json())
    change(data)
    return json.dumps(data)


def _later(data: dict[str, Any]) -> None:
    data["format_version"] = 2


def _kind(data: dict[str, Any]) -> None:
    data["kind"] = "comparisons"


def _short(data: dict[str, Any]) -> None:
    data["saved"]["metrics"][1]["values"].pop()


def _gone(data: dict[str, Any]) -> None:
    del data["saved"]["groups"][0]["ids"]


def _unknown(data: dict[str, Any]) -> None:
    data["saved"]["metrics"][0]["name"] = "nDGC"


def _parameter(data: dict[str, Any]) -> None:
    data["saved"]["metrics"][0]["bound"]["gain"] = "cubic"


def _convention(data: dict[str, Any]) -> None:
    data["convention"]["tie"] = "coin"


def _twice(data: dict[str, Any]) -> None:
    data["saved"]["groups"][0]["metrics"][1] = 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_later, r"the text: a newer rankine saved this \(format 2"),
        (_kind, "damaged, kind is 'comparisons'; expected one of evaluation"),
        (_short, r"damaged, saved.metrics\[1\].values has 3 entries, not 4"),
        (_gone, r"damaged, saved.groups\[0\].ids is missing"),
        (
            _unknown,
            (r"damaged, saved.metrics\[0\].name is 'nDGC', which is not a metric"),
        ),
        (_parameter, r"damaged, saved.metrics\[0\].bound does not fit nDCG \(gain"),
        (_convention, "damaged, convention is not valid"),
        (_twice, "damaged, saved.groups do not have every metric once"),
    ],
)
def test_damage_is_told_with_its_place(change: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        rk.load(damaged(change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "rankine"', "this is not JSON, or it is incomplete"),
        ('{"q1": {"a": 1}}', "this is JSON, but not what rankine saves"),
        ("[1, 2]", "this is JSON, but not what rankine saves"),
        ("", "this is not JSON"),
        (made().to_json()[:-20], "this is not JSON, or it is incomplete"),
    ],
)
def test_other_files(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)

    with pytest.raises(FormatError, match=rf"x\.json: {message}"):
        rk.load(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00\x01")

    with pytest.raises(FormatError, match=r"no\.json: cannot be read \(No such file"):
        rk.load(tmp_path / "no.json")
    with pytest.raises(FormatError, match=r"has no results.json"):
        rk.load(tmp_path)
    with pytest.raises(FormatError, match=r"cannot be read \(it is not text\)"):
        rk.load(tmp_path / "bytes")
    with pytest.raises(ParameterError, match=r"load\(\) takes the path or the text"):
        rk.load(3)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"cannot be written \(Is a directory\)"):
        made().save(tmp_path)


def _places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every part of a document, lists by their first two entries."""
    below = (
        list(data.items())
        if isinstance(data, dict)
        else list(enumerate(data))[:2]
        if isinstance(data, list)
        else []
    )
    return [path, *(way for key, one in below for way in _places(one, (*path, key)))]


WRONG: list[Any] = [
    None,
    True,
    -1,
    10**30,
    1.5,
    "x",
    "inf",
    [],
    [[]],
    {},
    {"a": 1},
    [None, "x"],
]


@pytest.mark.slow
def test_no_damage_goes_further_than_one_sentence() -> None:
    ev = rk.evaluate(QRELS, RUN, ["P(rel=2)@1", "AP"], keep=2)
    data = json.loads(ev.to_json())
    for path in _places(data)[1:]:
        for wrong in (*WRONG, ...):
            broken = deepcopy(data)
            inside = broken
            for key in path[:-1]:
                inside = inside[key]
            if wrong is ...:
                del inside[path[-1]]
            else:
                inside[path[-1]] = wrong
            with suppress(FormatError):
                found = rk.load(json.dumps(broken))
                assert str(found)
                assert found.to_json()
                assert found.per_query is not None
