"""engine= and memory_limit=: what is chosen, what is said, and what is refused."""

from __future__ import annotations

import gzip
import re
from contextlib import closing
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine._base import memory as of_process
from rankine._base.limits import limited
from rankine._evaluate import memory
from rankine._io.files import read_path
from rankine._io.sources import Reading
from rankine._join import spill
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    FormatError,
    ParameterError,
)
from tests.evaluate.streams import QRELS, small

if TYPE_CHECKING:
    from pathlib import Path

ROWS = "".join(f"q{number % 4} Q0 d{number} 1 {number} x\n" for number in range(400))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run.trec"
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"engine": "spark"},
            "engine must be one of auto, memory, stream, got 'spark'",
        ),
        ({"engine": "steam"}, "got 'steam'; did you mean 'stream'?"),
        ({"engine": None}, "got None"),
        ({"memory_limit": "much"}, "memory_limit must be a number of bytes, or text"),
        ({"memory_limit": 0}, "such as '2GB', got 0"),
        ({"memory_limit": -1}, "got -1"),
        ({"memory_limit": True}, "got True"),
        ({"memory_limit": 1e9}, "got 1000000000.0"),
        ({"memory_limit": "0GB"}, "got '0GB'"),
        ({"memory_limit": "1e9"}, "got '1e9'"),
        ({"memory_limit": "²GB"}, "got '²GB'"),
        ({"engine": "memory", "memory_limit": "1GB"}, "reads all at once"),
        (
            {"engine": "stream", "memory_limit": "1MB"},
            "memory_limit= or --memory allows 1 MB, but ",
        ),
    ],
)
def test_nonsense_is_refused(run: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        rk.evaluate(QRELS, run, "RR", **options)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1GB", 1 << 30),
        ("1 GiB", 1 << 30),
        ("1g", 1 << 30),
        ("0.5MB", 1 << 19),
        ("2TB", 2 << 40),
        ("700", 700),
        ("10 B", 10),
        (12, 12),
    ],
)
def test_sizes(text: int | str, size: int) -> None:
    assert of_process.bytes_of(text) == size


def test_small_runs_are_read_at_once(run: Path) -> None:
    assert (
        rk.evaluate(QRELS, run, "RR").notes
        == rk.evaluate(QRELS, run, "RR", engine="memory").notes
    )


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("options", [{}, {"lenient": True}])
def test_a_run_that_would_not_fit(
    run: Path,
    packed: bool,  # noqa: FBT001 - a parameter of the test
    options: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory, "available", lambda: 2 * 1000)
    if packed:
        run.write_bytes(gzip.compress(ROWS.encode()))
    whole = rk.evaluate(QRELS, run, ["RR", "AP"], engine="memory", **options)
    with small():
        ev = rk.evaluate(QRELS, run, ["RR", "AP"], **options)

    (note,) = set(ev.notes) - set(whole.notes)
    assert note.startswith(f"{run}: read in parts (engine='stream'), as it would take")
    assert note.endswith(
        f" of memory, but only {of_process.in_words(1000)} may be used"
    )
    assert ev.mean == whole.mean


def test_a_run_above_the_limit(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_SMALL", 0)
    limit = of_process.in_use() + (1 << 40)

    ev = rk.evaluate(QRELS, run, "RR", memory_limit=limit)
    assert not any("read in parts" in note for note in ev.notes)

    # What the process uses already is not left for the run.
    monkeypatch.setattr(memory, "_HELD", 1 << 50)
    monkeypatch.setattr(memory, "in_use", lambda: 1 << 40)
    ev = rk.evaluate(QRELS, run, "RR", memory_limit=3 << 40)
    (note,) = (note for note in ev.notes if "read in parts" in note)
    left, allowed = map(of_process.in_words, (2 << 40, 3 << 40))
    assert note.endswith(f" but only {left} of the {allowed} allowed are left")


@pytest.mark.parametrize("form", [dict, pl.DataFrame], ids=["dict", "frame"])
def test_a_limit_does_not_matter_for_data_in_memory(form: Any) -> None:
    run: Any = {"q0": {"a": 1.0, "b": 2.0}}
    if form is pl.DataFrame:
        run = pl.DataFrame({"query": ["q0"] * 2, "item": ["a", "b"], "score": [1.0, 2]})

    assert rk.evaluate({"q0": {"a": 1}}, run, "RR", memory_limit="1MB")["RR"] == 1 / 2


def test_a_large_file_that_has_no_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.ndjson"
    pl.DataFrame({"query": ["q0"], "item": ["d1"], "score": [1.0]}).write_ndjson(path)
    ev = rk.evaluate(QRELS, path, "RR", engine="stream")
    assert not any("at once" in note for note in ev.notes)

    monkeypatch.setattr(memory, "_SMALL", 0)
    ev = rk.evaluate(QRELS, path, "RR", engine="stream")
    assert f"{path}: read at once, as ndjson cannot be read in parts" in ev.notes


def test_the_memory_of_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_process, "_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert of_process.available() == 3000

    (tmp_path / "memory.max").write_text("max\n")
    left = of_process.available()
    assert left is None or left > 3000


def test_batches_of_other_things() -> None:
    with pytest.raises(FormatError, match="from an iterator of a list; expected"):
        rk.evaluate(QRELS, iter([["q0", "d1"]]), "RR")


def test_a_lazy_frame_that_fails_is_one_sentence(tmp_path: Path) -> None:
    lazy = pl.scan_csv(tmp_path / "none.csv")

    with pytest.raises(FormatError, match="run: cannot be read as a table \\(No such"):
        rk.evaluate(QRELS, lazy, "RR", engine="stream")


def test_what_is_wrong_with_a_later_batch_is_said_with_its_place() -> None:
    batch = pl.DataFrame({"query": ["q0", "q0"], "item": ["a", "b"], "score": [2, 1]})
    other = batch.with_columns(query=pl.lit("q1"))

    with pytest.raises(
        ColumnNotFoundError, match="begins at row 2 has no column 'score', but"
    ):
        rk.evaluate(QRELS, iter([batch, other.drop("score")]), "RR")
    nothing = other.with_columns(item=pl.lit(None, pl.String))
    with pytest.raises(DataError, match="rows 2, 3: 2 item ids are missing"):
        rk.evaluate(QRELS, iter([batch, nothing]), "RR")


@pytest.mark.parametrize(
    ("metric", "catalog", "what"),
    [
        ("Coverage", 400, "the items of all lists"),
        ("AUC(scope='pooled')", None, "the scores of all items"),
        ("Accuracy", 400, "the different items of the run"),
    ],
)
def test_what_cannot_be_held(
    run: Path,
    monkeypatch: pytest.MonkeyPatch,
    metric: str,
    catalog: int | None,
    what: str,
) -> None:
    used = chain([0], repeat(5 << 30))  # nothing before the run is read
    monkeypatch.setattr(spill, "in_use", lambda: next(used))
    with pytest.raises(
        ParameterError, match=f"^{what} would take more than the 4.0 GB"
    ):
        rk.evaluate(
            QRELS, run, metric, catalog=catalog, engine="stream", memory_limit="4GB"
        )


def test_a_query_that_cannot_be_held() -> None:
    """Two queries with mixed rows, each of 48 MB, where 104 MB are free for three."""
    n_rows = 4_000_000
    number = pl.int_range(n_rows, eager=True)
    run = pl.DataFrame({"query": number % 2, "item": number, "score": 1.0})
    parts, most = (
        run.iter_slices(1 << 18),
        of_process.in_use() + spill.ROOM + (8 << 20),
    )
    with pytest.raises(
        ParameterError, match=r"^run: the rows of one query, or of a few that are read"
    ):
        rk.evaluate({0: {0: 1}}, parts, "AP", engine="stream", memory_limit=most)


@pytest.mark.slow
def test_many_small_queries_can_be_held() -> None:
    """As many rows, where each query has few of them."""
    n_rows, n_queries = 4_000_000, 50_000
    number = pl.int_range(n_rows, eager=True)
    run = pl.DataFrame({"query": number % n_queries, "item": number, "score": -number})
    parts, most = (
        run.iter_slices(1 << 18),
        of_process.in_use() + spill.ROOM + (8 << 20),
    )

    ev = rk.evaluate(
        {0: {n_queries: 1}}, parts, "RR", engine="stream", memory_limit=most
    )

    assert ev["RR"] == 1 / 2


def test_items_at_a_rank_can_be_held(run: Path) -> None:
    ev = rk.evaluate(
        QRELS, run, "Coverage@2", catalog=1 << 20, engine="stream", memory_limit="4GB"
    )
    assert ev["Coverage@2"] == 4 * 2 / (1 << 20)


@pytest.mark.parametrize(("size", "most"), [(10 << 12, 10), (1 << 40, 64)])
def test_little_memory_lets_few_rows_of_parquet_be_read(
    tmp_path: Path, size: int, most: int
) -> None:
    path = tmp_path / "run.parquet"
    number = pl.int_range(100, eager=True)
    pl.DataFrame({"query": number // 7, "item": number, "score": 1.0}).write_parquet(
        path
    )
    with limited(scanned_rows=64):
        run: Any = read_path(path, "run", Reading(memory=size))
        with closing(run.open()) as parts:
            heights = [part.frame.height for part in parts]

    assert sum(heights) == 100
    assert max(heights) == most
