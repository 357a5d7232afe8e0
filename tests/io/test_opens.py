"""A file is opened a few times at most, whatever is in it and whoever reads it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.io.packed_tables import FORMATS, PACKINGS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

MOST = 3
RUN = pl.DataFrame(
    {
        "query": [f"q{n // 10}" for n in range(20_000)],
        "item": [f"d{n}" for n in range(20_000)],
        "score": [float(-n) for n in range(20_000)],
    }
)
LOG = pl.DataFrame(
    {
        "user_id": [f"u{n}" for n in range(20_000)],
        "item_id": ["a"] * 20_000,
        "click": [n % 2 for n in range(20_000)],
        "genre": ["war", "love"] * 10_000,
    }
)
# Hooks cannot be taken away again, so that each case has a process of its own.
CHILD = """
import json, os, sys
import polars as pl
import rankine as rk

path, what = sys.argv[1:]
opened = []


def hook(event, arguments):
    if event == "open" and arguments[0] == path:
        opened.append(arguments[0])


shown = pl.DataFrame({"item_id": ["a"]})
calls = {
    "run": lambda: rk.evaluate({"q0": {"d0": 1}}, path, "RR"),
    "qrels": lambda: rk.evaluate(path, {"q0": ["d0"]}, "RR"),
    "train": lambda: rk.evaluate(None, {"q0": ["d0"]}, "Novelty", train=path),
    "logged": lambda: rk.ctr(path, shown),
    "items": lambda: rk.evaluate(None, {"q": ["a"]}, "ILD", items=path),
}
sys.addaudithook(hook)
calls[what]()
print(json.dumps(len(opened)))
"""


def n_opens(path: Path, what: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), what],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(json.loads(done.stdout))


def trec(frame: pl.DataFrame, what: str) -> bytes:
    wanted = {
        "run": pl.format("{} Q0 {} 1 {} t", "query", "item", "score"),
        "qrels": pl.format("{} 0 {} 1", "query", "item"),
    }
    lines = frame.select(wanted[what].alias("line"))["line"].to_list()
    return "\n".join([*lines, ""]).encode()


@pytest.mark.parametrize("packing", ["", "gz", "zip"])
@pytest.mark.parametrize("what", ["run", "qrels"])
def test_trec(what: str, packing: str, tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_bytes(PACKINGS[packing](trec(RUN, what)))

    assert 1 <= n_opens(path, what) <= MOST


@pytest.mark.parametrize("packing", ["", "xz"])
@pytest.mark.parametrize("form", ["comma", "parquet", "stream", "ndjson", "json"])
@pytest.mark.parametrize("what", ["run", "qrels", "train", "logged"])
def test_named_columns(what: str, form: str, packing: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    frame = LOG.drop("genre") if what == "logged" else RUN
    path.write_bytes(PACKINGS[packing](FORMATS[form][1](frame)))

    assert 1 <= n_opens(path, what) <= MOST


@pytest.mark.parametrize("form", ["semicolon", "parquet"])
def test_items(form: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    frame = LOG.select(item_id=pl.col("user_id"), genre="genre")
    path.write_bytes(FORMATS[form][1](frame))

    assert 1 <= n_opens(path, "items") <= MOST


def test_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(FORMATS["comma"][1](RUN).decode().encode("utf-16"))

    assert 1 <= n_opens(path, "run") <= MOST
