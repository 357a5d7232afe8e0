"""Every path argument reads every format, packed or not, as the frame itself."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.cli import main
from tests.io.packed_tables import FORMATS, PACKINGS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

# The item 007 is not the item 7.
QRELS = pl.DataFrame(
    {"query": ["q1", "q1", "q2"], "item": ["007", "b", "c"], "grade": [1, 2, 1]}
)
RUN = pl.DataFrame(
    {
        "query": ["q1", "q1", "q1", "q2", "q2"],
        "item": ["7", "b", "007", "x", "c"],
        "score": [0.9, 0.8, 0.7, 0.5, 0.4],
    }
)
OTHER = RUN.with_columns(score=pl.Series([0.7, 0.8, 0.9, 0.5, 0.4]))
TRAIN = pl.DataFrame(
    {"user_id": ["q1", "q2", "q2", "q3"], "item_id": ["7", "b", "7", "007"]}
)
ITEMS = pl.DataFrame(
    {
        "item_id": ["007", "7", "b", "c", "x"],
        "genre": ["war", "love", "war/love", "war", "love"],
        "year": [1990.5, 2001, 1984, 1977, 2020],
    }
).with_columns(pl.col("genre").str.replace("/", " and "))
LOGGED = pl.DataFrame(
    {
        "user_id": ["1", "2", "3", "4"],
        "item_id": ["007", "b", "7", "c"],
        "click": [1, 0, 1, 0],
        "propensity": [0.5, 0.25, 0.5, 0.25],
    }
)
SHOWN = pl.DataFrame(
    {
        "user_id": ["1", "2", "3", "4"],
        "item_id": ["007", "b", "007", "c"],
        "predicted": [0.5, 0.25, 0.125, 0.1],
    }
)


def values(found: Any) -> Any:
    return found.per_query.to_dicts()


def rate(found: Any) -> Any:
    return {name: replace(one, notes=()) for name, one in found.items()}


def accumulated(qrels: Any, run: Any) -> Any:
    return rk.Accumulator(["RR", "nDCG"]).update(qrels, run).result().mean


def batches(logged: Any, shown: Any) -> Any:
    total = rk.Accumulator(rk.ctr, estimator=["ips", "dr"])
    return rate(total.update(logged, shown).result())


def checked(qrels: Any, run: Any) -> Any:
    entry = rk.check(qrels, run).to_dict()
    return {key: entry[key] for key in entry if key not in {"qrels", "run", "notes"}}


LISTS = ["ILD", "SubtopicRecall(judged=False)@2"]
ESTIMATORS = ["ips", "dr"]
ARGUMENTS: dict[str, tuple[pl.DataFrame, Callable[[Any], Any]]] = {
    "qrels": (QRELS, lambda qrels: values(rk.evaluate(qrels, RUN, ["AP", "nDCG"]))),
    "run": (RUN, lambda run: values(rk.evaluate(QRELS, run, ["AP", "nDCG"]))),
    "train": (
        TRAIN,
        lambda train: values(rk.evaluate(None, RUN, ["Novelty"], train=train)),
    ),
    "items": (
        ITEMS,
        lambda items: values(rk.evaluate(None, RUN, LISTS, items=items)),
    ),
    "logged": (LOGGED, lambda logged: rate(rk.ctr(logged, SHOWN, ESTIMATORS))),
    "recommended": (SHOWN, lambda shown: rate(rk.ctr(LOGGED, shown, ESTIMATORS))),
    "first": (RUN, lambda run: values(rk.similarity(run, OTHER, ["RBO", "tau"]))),
    "second": (OTHER, lambda run: values(rk.similarity(RUN, run, ["RBO", "tau"]))),
    "checked qrels": (QRELS, lambda qrels: checked(qrels, RUN)),
    "checked run": (RUN, lambda run: checked(QRELS, run)),
    "batch of a run": (RUN, lambda run: accumulated(QRELS, run)),
    "batch of a log": (LOGGED, lambda logged: batches(logged, SHOWN)),
    "batch of lists": (SHOWN, lambda shown: batches(LOGGED, shown)),
}


@pytest.fixture(scope="module")
def wanted() -> dict[str, Any]:
    """What each argument gives as a frame."""
    return {name: call(frame) for name, (frame, call) in ARGUMENTS.items()}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_a_file_gives_what_its_frame_gives(
    argument: str, form: str, packing: str, tmp_path: Path, wanted: dict[str, Any]
) -> None:
    frame, call = ARGUMENTS[argument]
    ending, write = FORMATS[form]
    path = tmp_path / f"table.{ending}{'.' if packing else ''}{packing}"
    path.write_bytes(PACKINGS[packing](write(frame)))

    assert call(path) == wanted[argument]


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "arrow", "gz", "dat"])
@pytest.mark.parametrize("form", ["semicolon", "parquet", "ndjson", "stream"])
@pytest.mark.parametrize("argument", ["items", "logged", "recommended", "train"])
def test_a_misleading_name_does_not_matter(
    argument: str, form: str, ending: str, tmp_path: Path, wanted: dict[str, Any]
) -> None:
    frame, call = ARGUMENTS[argument]
    path = tmp_path / f"table.{ending}"
    path.write_bytes(FORMATS[form][1](frame))

    assert call(path) == wanted[argument]


@pytest.mark.parametrize("named", ["folder", "pattern"])
@pytest.mark.parametrize("form", ["comma", "parquet", "ndjson"])
@pytest.mark.parametrize("argument", ["items", "logged", "recommended", "train", "run"])
def test_parts_are_read_as_one(
    argument: str, form: str, named: str, tmp_path: Path, wanted: dict[str, Any]
) -> None:
    frame, call = ARGUMENTS[argument]
    ending, write = FORMATS[form]
    for at in range(2):
        part = tmp_path / f"part-{at}.{ending}"
        part.write_bytes(write(frame[2 * at : frame.height if at else 2]))
    (tmp_path / "_SUCCESS").write_bytes(b"")

    place = tmp_path if named == "folder" else tmp_path / "part-*"
    assert call(place) == wanted[argument]


def test_parts_without_rows_are_passed_over(tmp_path: Path) -> None:
    LOGGED[:2].write_csv(tmp_path / "part-0.csv")
    LOGGED[:0].write_csv(tmp_path / "part-1.csv")
    (tmp_path / "part-2.csv").write_bytes(b"")
    LOGGED[2:].write_parquet(tmp_path / "part-3.parquet")

    assert ARGUMENTS["logged"][1](tmp_path) == ARGUMENTS["logged"][1](LOGGED)


@pytest.mark.parametrize("argument", ["items", "logged", "recommended", "train", "run"])
def test_standard_input(
    argument: str, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any]
) -> None:
    frame, call = ARGUMENTS[argument]
    data = PACKINGS["xz"](FORMATS["semicolon"][1](frame))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    assert call("-") == wanted[argument]


# The same on the command line.


def printed(capsys: pytest.CaptureFixture[str], *words: Any) -> Any:
    capsys.readouterr()
    with pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert not caught.value.code, err
    return json.loads(out)


def command(argument: str, path: Path, folder: Path) -> list[Any]:
    run, shown, logged = folder / "run.csv", folder / "shown.csv", folder / "log.csv"
    RUN.write_csv(run)
    SHOWN.write_csv(shown)
    LOGGED.write_csv(logged)
    lists = ["evaluate", "--no-qrels", run, "--json"]
    return {
        "logged": ["ctr", path, shown, "-e", "dr", "--json"],
        "recommended": ["ctr", logged, path, "-e", "dr", "--json"],
        "items": [*lists, "-m", "ILD", "--items", path],
        "train": [*lists, "-m", "Novelty", "--train", path],
    }[argument]


VALUES: dict[str, Callable[[Any], float]] = {
    "logged": lambda out: out[0]["value"],
    "recommended": lambda out: out[0]["value"],
    "items": lambda out: out[0]["metrics"]["ILD"]["value"],
    "train": lambda out: out[0]["metrics"]["Novelty"]["value"],
}
IN_PYTHON: dict[str, Callable[[], float]] = {
    "logged": lambda: rk.ctr(LOGGED, SHOWN, "dr").value,
    "recommended": lambda: rk.ctr(LOGGED, SHOWN, "dr").value,
    "items": lambda: rk.evaluate(None, RUN, "ILD", items=ITEMS)["ILD"],
    "train": lambda: rk.evaluate(None, RUN, "Novelty", train=TRAIN)["Novelty"],
}


@pytest.mark.parametrize("packing", ["", "xz", "zip"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("argument", VALUES)
def test_the_command_reads_it_too(
    argument: str,
    form: str,
    packing: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "table.txt"
    frame, _ = ARGUMENTS[argument]
    path.write_bytes(PACKINGS[packing](FORMATS[form][1](frame)))

    out = printed(capsys, *command(argument, path, tmp_path))

    assert VALUES[argument](out) == IN_PYTHON[argument]()
