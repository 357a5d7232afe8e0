"""ctr with engine="stream": a log in parts gives what the log gives."""

from __future__ import annotations

import re
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._base.limits import limited
from rankine._evaluate import memory
from rankine._evaluate.logs import question
from rankine._join import rounds, spill
from rankine.errors import DataError, FormatError, ParameterError, RankineError
from tests.evaluate.streams import small

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WEIGHING = ["matching", "ips", "snips"]
ALL = [*WEIGHING, "dm", "dr", "sndr", "switch-dr", "dros"]
FORMS = ("csv", "parquet", "folder", "batches", "lazy")
OFFERED = pl.DataFrame(
    {
        "user_id": ["u0", "u0", "u1", "u2", "u9"],
        "item_id": ["a", "b", "a", "c", "z"],
        "predicted": [0.5, 0.25, 0.125, 1.0, 0.0],
    }
)
rows = st.tuples(
    st.sampled_from(["u0", "u1", "u2", "u3"]),
    st.sampled_from("abcd"),
    st.integers(0, 1),
    st.sampled_from([0.25, 0.5, 1.0]),
)
logs = st.lists(rows, min_size=1, max_size=25)
sizes = st.fixed_dictionaries(
    {"held": st.sampled_from([1, 300, 1 << 20]), "part": st.sampled_from([1, 60, 999])}
)


def framed(log: list[Any]) -> pl.DataFrame:
    names = ["user_id", "item_id", "click", "propensity"]
    return pl.DataFrame(log, schema=names, orient="row")


def written(frame: pl.DataFrame, form: str, folder: Path) -> Any:
    """Write a log in one of several forms; return what `ctr` takes."""
    if form == "csv":
        frame.write_csv(folder / "log.csv")
        return folder / "log.csv"
    if form == "parquet":
        frame.write_parquet(folder / "log.parquet", row_group_size=3)
        return folder / "log.parquet"
    if form == "folder":
        parts = folder / "parts"
        parts.mkdir(exist_ok=True)
        for path in parts.iterdir():
            path.unlink()
        for number, part in enumerate(frame.iter_slices(4)):
            part.write_parquet(parts / f"{number}.parquet")
        return parts
    if form == "batches":
        return iter([frame.clear(), *frame.iter_slices(3)])
    return frame.lazy()


def outcome(ctr: Callable[[], Any]) -> Any:
    try:
        return str(ctr().to_dict())
    except RankineError as error:
        return type(error)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log")


@given(
    log=logs,
    form=st.sampled_from(FORMS),
    sizes=sizes,
    n=st.sampled_from(["logged", "recommended"]),
    k=st.sampled_from([None, 1]),
    everyone=st.booleans(),
    known=st.booleans(),
    method=st.sampled_from(["t", "bootstrap"]),
)
def test_the_same_estimates(
    folder: Path,
    log: list[Any],
    form: str,
    sizes: Any,
    everyone: bool,  # noqa: FBT001 - whether all users are recommended the same
    known: bool,  # noqa: FBT001 - whether propensities are known
    **options: Any,
) -> None:
    frame, offered = framed(log), OFFERED
    if everyone:
        offered = OFFERED.head(2).drop("user_id")
    if not known:
        frame = frame.drop("propensity")
        options["missing_propensity"] = "items"
    at_hand = frame if form in {"batches", "lazy"} else written(frame, form, folder)
    whole = outcome(lambda: rk.ctr(at_hand, offered, ALL, engine="memory", **options))
    with small(**sizes):
        logged = written(frame, form, folder)
        parts = outcome(
            lambda: rk.ctr(logged, offered, ALL, engine="stream", **options)
        )

    assert parts == whole


@pytest.mark.parametrize("form", FORMS)
def test_by_hand(folder: Path, form: str) -> None:
    log = [("u0", "a", 1, 0.5), ("u3", "a", 1, 0.5), ("u1", "b", 1, 0.25)] * 3
    log += [("u1", "a", 0, 0.25), ("u2", "c", 1, 1.0)]
    with small():
        ips = rk.ctr(written(framed(log), form, folder), OFFERED, "ips")
        stream = rk.ctr(
            written(framed(log), form, folder), OFFERED, "ips", engine="stream"
        )

    # u0 is recommended two items, so that each counts 1/2; nothing is to u3.
    assert stream.value == (3 * (1 / 2) / 0.5 + 0 + 1) / (3 + 3 + 1 + 1)
    assert (stream.n, stream.matched) == (8, 5)
    assert stream == ips


@pytest.mark.parametrize("types", [("int", "str"), ("str", "int")])
def test_ids_of_two_types(types: tuple[str, str]) -> None:
    log = framed([("7", "1", 1, 0.5), ("8", "2", 0, 0.5), ("9", "2", 1, 1.0)] * 2)
    offered = pl.DataFrame({"user_id": ["7", "9"], "item_id": ["1", "2"]})
    kinds = {"int": pl.Int64, "str": pl.String}
    ids = pl.col("user_id", "item_id")
    log = log.with_columns(ids.cast(kinds[types[0]]))
    offered = offered.with_columns(ids.cast(kinds[types[1]]))
    with small():
        parts = rk.ctr(iter(log.iter_slices(1)), offered, "snips")

    assert parts == rk.ctr(log, offered, "snips")
    assert any("compared as text" in note for note in parts.notes)


def test_a_log_that_would_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(framed([("u0", "a", 1, 0.5)] * 50), "csv", tmp_path)
    whole = rk.ctr(path, OFFERED, "ips", engine="memory")
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory, "available", lambda: 200)
    with small():
        parts = rk.ctr(path, OFFERED, "ips")

    (note,) = set(parts.notes) - set(whole.notes)
    assert note.startswith(f"{path}: read in parts (engine='stream'), as it would take")
    assert parts.value == whole.value


def test_a_log_without_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.arrow"
    framed([("u0", "a", 1, 0.5)] * 5).write_ipc(path)
    monkeypatch.setattr(memory, "_SMALL", 0)

    notes = rk.ctr(path, OFFERED, "ips", engine="stream").notes
    assert f"{path}: read at once, as arrow cannot be read in parts" in notes


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ([("u0", "a", 2, 0.5)], "row 7: click is 2; a click is 0 or 1"),
        ([("u0", "a", 1, 0.0)], "row 7: the propensity is 0, whose weight would be"),
        ([("u0", "a", 1, 1.5)], "row 7: the propensity is 1.5; a probability is"),
        ([("u0", None, 1, 0.5)], "row 7: 1 item id is missing"),
    ],
)
@pytest.mark.parametrize("form", ["parquet", "batches"])
def test_what_is_wrong_is_said_with_its_place(
    folder: Path, log: list[Any], message: str, form: str
) -> None:
    good = [("u0", "a", 1, 0.5)]
    frame = framed([*good * 7, *log, *good * 5])

    with small(), pytest.raises(DataError) as error:
        rk.ctr(written(frame, form, folder), OFFERED, "ips", engine="stream")
    assert message in str(error.value)


def test_what_is_refused() -> None:
    log = framed([("u0", "a", 1, 0.5)] * 3)

    with pytest.raises(ParameterError, match="engine must be one of auto, memory"):
        rk.ctr(log, OFFERED, engine="spark")
    with pytest.raises(ParameterError, match="memory_limit must be a number of bytes"):
        rk.ctr(log, OFFERED, memory_limit="much")
    with pytest.raises(ParameterError, match="--memory allows 1 MB, but "):
        rk.ctr(log, OFFERED, engine="stream", memory_limit="1MB")
    with pytest.raises(DataError, match="logged has no rows"):
        rk.ctr(iter([log.clear()]), OFFERED)
    other = log.with_columns(user_id=pl.lit(7))
    with pytest.raises(FormatError, match="'user' is of type Int"):
        rk.ctr(iter([log, other]), OFFERED)
    with pytest.raises(ParameterError, match=re.escape("ctr has no option 'engine'")):
        rk.Accumulator(rk.ctr, engine="stream")


@pytest.mark.parametrize(
    ("place", "name", "size", "what"),
    [
        (
            question,
            "_OFFERED",
            1 << 30,
            "recommended, which is held, and a part of the",
        ),
        (rounds, "_MATCH", 2 << 30, "the rounds that match would take more than the 4"),
        (rounds, "_DISTINCT", 5 << 30, "the different items of the log would take "),
    ],
)
def test_what_cannot_be_held(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, size: int, what: str
) -> None:
    log = framed([("u0", "a", 1, 0.5)] * 3).drop("propensity")
    monkeypatch.setattr(place, name, size)

    with pytest.raises(ParameterError, match=f"^{what}"):
        rk.ctr(log, OFFERED, engine="stream", memory_limit="4GB")


def test_matches_are_not_blamed_for_what_else_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = framed([("u0", "a", 1, 0.5)] * 3)
    used = chain([0], repeat(5 << 30))  # nothing before the log is read
    monkeypatch.setattr(spill, "in_use", lambda: next(used))

    parts = rk.ctr(log, OFFERED, engine="stream", memory_limit="4GB")
    assert parts == rk.ctr(log, OFFERED)


@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet"])
def test_parts_are_as_small_as_the_limit_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    log = framed([("u0", "a", 1, 0.5)] * 1000)
    path = tmp_path / f"log.{form}"
    getattr(log, f"write_{form}")(path)
    heights: list[int] = []
    add = rounds.Tally.add

    def noted(tally: rounds.Tally, part: Any) -> None:
        heights.append(part.frame.height)
        add(tally, part)

    monkeypatch.setattr(rounds.Tally, "add", noted)
    monkeypatch.setattr(question, "_ROW", 64)
    # NDJSON is read in parts if it has two of them.
    with limited(held_bytes=100 * 64, part_bytes=1 << 14):
        rk.ctr(path, OFFERED, engine="stream")

    assert sum(heights) == 1000
    assert max(heights) <= 110
