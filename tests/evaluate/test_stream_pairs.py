"""engine="stream" for two runs and for a gate: the results of runs read at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import RankineError
from tests.evaluate.streams import (
    FORMS,
    ITEMS,
    QRELS,
    QUERIES,
    Row,
    runs,
    small,
    written,
)

if TYPE_CHECKING:
    from pathlib import Path

METRICS = ["nDCG@3", "AP", "Coverage@3"]
BASE: list[Row] = [
    (query, item, float(len(ITEMS) - place))
    for query in QUERIES
    for place, item in enumerate(ITEMS)
]
forms = st.sampled_from(FORMS)
sizes = st.fixed_dictionaries(
    {
        "buckets": st.sampled_from([1, 2, 7, 64]),
        "held": st.sampled_from([1, 200, 1 << 20]),
        "part": st.sampled_from([1, 60, 1 << 20]),
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pairs")


def compared(first: Any, second: Any, engine: str) -> Any:
    """Return all that a comparison says, or which error it ends with."""
    try:
        result = rk.compare(
            QRELS, {"one": first, "two": second}, METRICS, catalog=ITEMS, draws=20,
            engine=engine,
        )  # fmt: skip
    except RankineError as error:
        return type(error)
    tables = (result.table, result.pairwise)
    moved = str(result.moved("nDCG@3", "one", "two"))
    return [str(table.rows()) for table in tables], moved, result.notes


@settings(max_examples=30)
@given(first=runs(repeats=False), second=runs(repeats=False), form=forms, sizes=sizes)
def test_compare(
    folder: Path, first: list[Row], second: list[Row], form: str, sizes: Any
) -> None:
    places = [folder / "one", folder / "two"]
    for place in places:
        place.mkdir(exist_ok=True)

    def both(engine: str) -> Any:
        one = written(first, form, places[0])
        return compared(one, written(second, form, places[1]), engine)

    whole = both("memory")
    with small(**sizes):
        parts = both("stream")

    assert parts == whole


@settings(max_examples=30)
@given(rows=runs(repeats=False), form=forms, sizes=sizes)
def test_gate(folder: Path, rows: list[Row], form: str, sizes: Any) -> None:
    old = folder / "old"
    old.mkdir(exist_ok=True)
    run = written(BASE, "trec", old)
    paths = {engine: folder / f"{engine}.json" for engine in ("memory", "stream")}

    def judged(engine: str) -> Any:
        options: Any = {"engine": engine, "metrics": ["nDCG@3", "AP"]}
        rk.gate(QRELS, run, paths[engine], update=True, **options)
        try:
            verdict = rk.gate(
                QRELS, written(rows, form, folder), paths[engine], 0.1, engine=engine
            )
        except RankineError as error:
            return type(error)
        return verdict.verdicts, verdict.exit_code, verdict.sentences, verdict.notes

    whole = judged("memory")
    with small(**sizes):
        parts = judged("stream")

    assert parts == whole
    assert paths["stream"].read_text() == paths["memory"].read_text()
