"""Logs from files, which are read in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from rankine._base.blocks import ahead
from rankine._base.limits import limited
from rankine._io import open_table
from rankine._online.events import event_batches
from rankine._online.rules import Rules
from rankine.errors import DataError
from tests.online.logs import log, user_sums

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SMALL = {"batch_rows": 3, "held_events": 2}


def visits(hours: range) -> str:
    """Write a visit of two page views for each hour."""
    lines = (f"u A {60 * hour + n} pageview p{n}" for hour in hours for n in (0, 1))
    return "\n".join(lines)


def written(frame: pl.DataFrame, folder: Path, form: str) -> Path:
    """Write a log as two files of a folder."""
    half = frame.height // 2
    for name, part in (("1", frame[:half]), ("2", frame[half:])):
        path = folder / f"{name}.{form}"
        if form == "csv":
            part.write_csv(path)
        elif form == "ndjson":
            part.write_ndjson(path)
        else:
            part.write_parquet(path)
    return folder


@pytest.mark.parametrize("form", ["parquet", "csv", "ndjson"])
def test_files_are_read_in_batches(form: str, tmp_path: Path) -> None:
    frame = log(visits(range(12))).with_columns(
        value=pl.lit(0.1), cost=pl.lit(0.2), page=pl.lit("a, b")
    )
    frame = frame.with_columns(event=pl.lit("conversion"))
    folder = written(frame, tmp_path, form)
    names = ["conversion_rate", "roi"]
    whole = user_sums(frame, names, duplicates="keep")
    with limited(**SMALL, part_bytes=100, few_json_bytes=10):
        sizes = [
            batch.frame.height
            for batch in event_batches(folder, Rules(), "variant", None)
        ]
        parts = user_sums(folder, names, duplicates="keep")

    assert sum(sizes) == 24
    assert max(sizes) <= 3
    assert_frame_equal(parts.frame, whole.frame, check_exact=True)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_what_is_wrong_in_a_later_batch_is_said_with_its_place(
    form: str, tmp_path: Path
) -> None:
    frame = log(visits(range(5))).with_columns(value=pl.lit(1.0))
    bad = pl.when(pl.int_range(pl.len()) == 7).then(1e12).otherwise("value")
    path = tmp_path / f"log.{form}"
    frame = frame.with_columns(value=bad)
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path)
    place = "log.csv:9" if form == "csv" else "log.parquet, row 7"
    with (
        limited(**SMALL, part_bytes=100),
        pytest.raises(DataError, match=f"{place}: value is 1e\\+12"),
    ):
        user_sums(path)


def test_lines_of_json_that_are_not_alike_are_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "log.ndjson"
    alike, late = log(visits(range(5))), log("u A 290 conversion")
    text = alike.drop("page").write_ndjson()
    path.write_text(
        text + late.with_columns(value=pl.lit(2.5), cost=0.5).write_ndjson()
    )
    with limited(**SMALL, part_bytes=100, few_json_bytes=10):
        counted = user_sums(path, ["roi", "bounce_rate"]).frame

    assert counted.select("roi.y", "bounce_rate.x").row(0) == (2.5 - 0.5, 6)


def test_whole_and_other_numbers_of_json_are_of_one_type(tmp_path: Path) -> None:
    path = tmp_path / "log.ndjson"
    frame = log(visits(range(6))).with_columns(event=pl.lit("conversion"))
    whole = frame.with_columns(value=pl.lit(3), cost=1)[:6].write_ndjson()
    other = frame.with_columns(value=pl.lit(0.25), cost=0.5)[6:].write_ndjson()
    path.write_text(whole + other)
    with limited(**SMALL, part_bytes=100, few_json_bytes=10):
        table = open_table(path, "log")
        types = [
            batch[0].schema["value"]
            for parts in table.batches(["value"], ["value"], 3)
            for batch in parts
        ]
        counted = user_sums(path, ["roi"]).frame

    assert len(types) > 1
    assert set(types) == {pl.Float64()}
    assert counted["roi.x"].to_list() == [6 * 1 + 6 * 0.5]


def test_a_field_in_quotes_may_run_over_blocks(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    page = "\n".join("abcdefgh" * 4 for _ in range(8))
    frame = log(visits(range(5))).with_columns(page=pl.lit(page))
    frame.write_csv(path)
    with limited(**SMALL, part_bytes=100):
        counted = user_sums(path, ["bounce_rate"]).frame

    assert counted["bounce_rate.x"].to_list() == [5]


def test_what_a_second_thread_raises_is_raised_here() -> None:
    def parts() -> Iterator[int]:
        yield 1
        yield 2
        msg = "the third is broken"
        raise DataError(msg)

    seen: list[int] = []
    with pytest.raises(DataError, match="the third is broken"):
        seen.extend(ahead(parts()))

    assert seen == [1, 2]


def test_notes_name_a_log_of_several_files_once(tmp_path: Path) -> None:
    log = pl.DataFrame(
        {
            "timestamp": pl.Series([0, 1]).cast(pl.Datetime("us")),
            "user_id": [1, 2],
            "event": ["impression", "click"],
        }
    )
    for day in "abc":
        log.write_parquet(f"{tmp_path}/{day}.parquet")
    with limited(batch_rows=2):
        notes = user_sums(str(tmp_path), by=None).notes

    assert [note for note in notes if "zone" in note] == [
        f"{tmp_path}: times without a zone are taken as UTC"
    ]
