"""engine="stream": the numbers of a run that is read in parts are those of the run."""

from __future__ import annotations

import io
import re
import tempfile
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._base.limits import limited
from rankine._join import spill
from rankine.errors import DataError, RankineError
from tests.evaluate.streams import (
    FORMS,
    ITEMS,
    QRELS,
    QUERIES,
    Row,
    framed,
    runs,
    small,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

Keys: TypeAlias = "Callable[[pl.Series, int], Any]"
JUDGED = ("nDCG@3", "AP", "RR", "P@5", "Bpref", "nDCG", "R@2", "AUC", "NumRet")
LISTS = (
    "Coverage@3", "Gini@3", "Entropy@5", "Novelty@3", "ILD@3", "InterListDiversity@2",
    "Popularity@3", "Serendipity@3", "EPC@3", "UserCoverage", "nDCG@2",
)  # fmt: skip
TRAIN = {query: ["d1", "d2", "d7"] for query in QUERIES}
TOPICS = {item: "ab"[number % 2] for number, item in enumerate(ITEMS)}
WEIGHTS = {query: 1.0 + number / 3 for number, query in enumerate([*QRELS, *QUERIES])}


def outcome(evaluate: Callable[[], rk.Evaluation]) -> Any:
    """Return all that an evaluation says, or which error it ends with."""
    try:
        ev = evaluate()
    except RankineError as error:
        return type(error)
    return str(ev.mean), ev.per_query.to_dict(as_series=False), ev.notes, ev.warnings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


def both(
    rows: list[Row], form: str, folder: Path, sizes: Any, *asked: Any, **options: Any
) -> tuple[Any, Any]:
    """Return the outcomes of a run that is read at once, and in parts."""

    def evaluate(engine: str) -> Any:
        run = written(rows, form, folder)
        return outcome(
            lambda: rk.evaluate(*_placed(asked, run), engine=engine, **options)
        )

    whole = evaluate("memory")
    with small(**sizes):
        return whole, evaluate("stream")


def _placed(asked: tuple[Any, ...], run: Any) -> tuple[Any, ...]:
    qrels, metrics = asked
    return qrels, run, metrics


forms = st.sampled_from(FORMS)
sizes = st.fixed_dictionaries(
    {
        "buckets": st.sampled_from([1, 2, 7, 64]),
        "held": st.sampled_from([1, 200, 1 << 20]),
        "part": st.sampled_from([1, 60, 1 << 20]),
    }
)


@given(
    rows=runs(),
    form=forms,
    sizes=sizes,
    convention=st.sampled_from(sorted(rk.conventions())),
    keep=st.sampled_from([None, 2]),
)
def test_all_conventions(
    folder: Path,
    rows: list[Row],
    form: str,
    sizes: Any,
    convention: str,
    keep: int | None,
) -> None:
    options = {"convention": convention, "keep": keep}
    whole, parts = both(rows, form, folder, sizes, QRELS, JUDGED, **options)

    assert parts == whole


@given(
    rows=runs(),
    form=forms,
    sizes=sizes,
    duplicates=st.sampled_from(["count", "last", "error", "set"]),
    order=st.sampled_from([None, "score", "rank", "rank_value", "given"]),
    tie=st.sampled_from(["id_desc", "id_asc", "input", "input_rev", "average"]),
    depth=st.sampled_from([None, 2]),
    weights=st.sampled_from([None, WEIGHTS]),
)
def test_metrics_of_lists(
    folder: Path,
    rows: list[Row],
    form: str,
    sizes: Any,
    duplicates: str,
    **options: Any,
) -> None:
    rule = rk.conventions()["rankine"].replace(
        duplicates=duplicates, tie=options.pop("tie")
    )
    whole, parts = both(
        rows, form, folder, sizes, QRELS, LISTS, convention=rule, train=TRAIN,
        items=TOPICS, catalog=ITEMS, **options,
    )  # fmt: skip

    assert parts == whole


@pytest.mark.parametrize("form", FORMS)
def test_by_hand(folder: Path, form: str) -> None:
    rows: list[Row] = [("q0", "d1", 2.0), ("q3", "d4", 1.0), ("q3", "d0", 3.0)]
    rows += [("q0", "d3", 1.0), ("q1", "d7", 1.0), ("q0", "d9", 3.0)]
    with small(buckets=2):
        run = written(rows, form, folder)
        ev = rk.evaluate(QRELS, run, ["RR", "NumRet"], engine="stream")

    # q0: d9, d1, d3; q1: d7; q3: d0, d4; two of the five judged queries are missing.
    assert ev["RR"] == (1 / 2 + 0 + 0 + 1 / 2 + 0) / 5
    assert ev.per_query["NumRet"].to_list() == [3, 1, 0, 2, 0]


@given(
    rows=runs(repeats=False).filter(lambda rows: any(row[0] in QRELS for row in rows)),
    seed=st.integers(0, 99),
    form=forms,
    sizes=sizes,
    metrics=st.sampled_from([JUDGED, LISTS]),
)
def test_rows_in_any_order(
    folder: Path,
    rows: list[Row],
    seed: int,
    form: str,
    sizes: Any,
    metrics: tuple[str, ...],
) -> None:
    given: Any = {"train": TRAIN, "items": TOPICS, "catalog": ITEMS}
    frame = framed(rows).drop("rank")
    mixed = frame.sample(fraction=1, shuffle=True, seed=seed).rows()
    whole = rk.evaluate(QRELS, frame, metrics, **given)
    with small(**sizes):
        run = written(mixed, form, folder)
        parts = rk.evaluate(QRELS, run, metrics, engine="stream", **given)

    assert str(parts.mean) == str(whole.mean)
    assert parts.per_query.sort("query").equals(whole.per_query.sort("query"))
    assert said(parts.notes) == said(whole.notes)
    assert said(parts.warnings) == said(whole.warnings)


def said(sentences: tuple[str, ...]) -> list[list[str]]:
    """Return the words of sentences, but for those on files, ranks and rows in order.

    Words are sorted, as queries are named in the order in which they come. Beside
    training data, these are users in a TREC file, but queries in a column of that name.
    """
    about = re.compile("read as one|no header|in order|out of order|ranks and scores")
    alike = {"user": "query", "users": "queries"}
    return sorted(
        sorted(alike.get(word, word) for word in re.findall(r"\w+", text))
        for text in sentences
        if not about.search(text)
    )


def in_few_slots(n: int) -> Keys:
    """Give queries keys that differ, but of which the bits for buckets are few."""

    def keys(ids: pl.Series, seed: int) -> Any:
        plain = ids.hash(seed=seed).to_numpy()
        return plain << np.uint64(16) | plain % np.uint64(n)

    return keys


def few_at_first(n: int) -> Keys:
    """Give ids few keys with the first seeds, of which one after the other is tried."""

    def keys(ids: pl.Series, seed: int) -> Any:
        plain = ids.hash(seed=seed).to_numpy()
        return plain % np.uint64(n) if seed < 3 else plain

    return keys


@given(
    rows=runs(),
    form=forms,
    sizes=sizes,
    poor=st.builds(
        lambda keys, n: keys(n),
        st.sampled_from([in_few_slots, few_at_first]),
        st.sampled_from([1, 2, 3, 5, 1 << 8]),
    ),
    metrics=st.sampled_from([JUDGED, LISTS]),
    few=st.sampled_from([0, 4096]),
)
def test_keys_that_agree(
    folder: Path,
    rows: list[Row],
    form: str,
    sizes: Any,
    poor: Keys,
    metrics: tuple[str, ...],
    few: int,
) -> None:
    given: Any = {"train": TRAIN, "items": TOPICS, "catalog": ITEMS}
    run = written(rows, form, folder)
    whole = outcome(lambda: rk.evaluate(QRELS, run, metrics, engine="memory", **given))
    with small(**sizes), limited(keys=poor, few_ids=few):
        run = written(rows, form, folder)
        parts = outcome(
            lambda: rk.evaluate(QRELS, run, metrics, engine="stream", **given)
        )

    assert parts == whole


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("n", [1, 2])
def test_keys_that_always_agree(engine: str, n: int) -> None:
    """Three items of q0 have two keys at most, whatever the seed."""

    def keys(ids: pl.Series, seed: int) -> Any:
        return ids.hash(seed=seed).to_numpy() % np.uint64(n)

    frame = framed([("q0", "d1", 2.0), ("q3", "d4", 1.0), ("q0", "d3", 3.0)])
    with (
        small(),
        limited(keys=keys),
        pytest.raises(DataError, match="ids cannot be told apart: under each of 20"),
    ):
        rk.evaluate(QRELS, frame.lazy(), "RR", engine=engine)


INTS = {1: {7: 1, 8: 0}, 2: {9: 2}, 5: {7: 1}}
TEXTS = {str(query): {str(item): 1 for item in had} for query, had in INTS.items()}
NUMBERED: list[Row] = [
    (2, 7, 1.0), (1, 7, 2.0), (2, 9, 3.0), (3, 1, 1.0), (1, 8, 3.0), (10, 9, 1.0),
    (2, 8, 2.0), (1, 9, 1.0), (11, 7, 2.0), (3, 2, 0.0),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("qrels", [INTS, TEXTS], ids=["ints", "texts"])
@pytest.mark.parametrize("convention", ["rankine", "ranx", "recommenders"])
@pytest.mark.parametrize("form", FORMS)
def test_ids_of_other_types(
    folder: Path, form: str, convention: str, qrels: Any
) -> None:
    sizes = {"buckets": 3, "held": 1}
    asked = (qrels, ("AP", "nDCG@2", "Coverage@2"))
    options = {"convention": convention, "catalog": 20}
    whole, parts = both(NUMBERED, form, folder, sizes, *asked, **options)

    assert not isinstance(whole, type)
    assert parts == whole


def test_parts_may_be_empty() -> None:
    frame = framed([("q0", "d1", 2.0), ("q3", "d4", 1.0), ("q0", "d3", 3.0)])
    batches = [
        frame.clear(),
        frame.head(1),
        frame.clear(),
        frame.slice(1),
        frame.clear(),
    ]
    with small():
        ev = rk.evaluate(QRELS, iter(batches), "RR", engine="stream")

    assert ev.mean == rk.evaluate(QRELS, frame, "RR").mean


def test_all_parts_empty() -> None:
    frame = framed([("q0", "d1", 2.0)]).clear()

    with pytest.raises(RankineError, match="no rows"):
        rk.evaluate(QRELS, iter([frame, frame]), "RR", engine="stream")


def test_a_repeated_item_is_named_with_its_lines(folder: Path) -> None:
    rows: list[Row] = [("q0", "d1", 2.0), ("q1", "d1", 1.0), ("q0", "d1", 1.0)]
    run = written(rows, "trec", folder)

    with small(), pytest.raises(RankineError) as error:
        rk.evaluate(QRELS, run, "RR", engine="stream")

    assert "item 'd1' appears twice for query 'q0'" in str(error.value)
    assert "(line 1 and line 3)" in str(error.value)


def test_a_reader_of_record_batches() -> None:
    pa = pytest.importorskip("pyarrow")
    frame = framed([("q0", "d1", 2.0), ("q3", "d4", 1.0), ("q0", "d3", 3.0)])
    table = frame.to_arrow()
    reader = pa.RecordBatchReader.from_batches(
        table.schema, table.to_batches(max_chunksize=1)
    )
    with small():
        ev = rk.evaluate(QRELS, reader, ["RR", "nDCG"], engine="stream")

    assert ev.mean == rk.evaluate(QRELS, frame, ["RR", "nDCG"]).mean


MIXED = framed(
    [(query, item, float(len(item) + place)) for place, item in enumerate(ITEMS)
     for query in QUERIES]
)  # fmt: skip


def test_rows_beyond_those_that_32_bits_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places of later rows take more bytes than those of earlier ones."""
    monkeypatch.setattr(spill, "_SMALL", MIXED.height // 2)
    batches = (MIXED.slice(begin, 4) for begin in range(0, MIXED.height, 4))
    with small(buckets=2, held=1 << 20):
        ev = rk.evaluate(QRELS, batches, JUDGED, engine="stream")

    assert str(ev.mean) == str(rk.evaluate(QRELS, MIXED, JUDGED).mean)


class Slow(io.FileIO):
    """A disk that takes a few bytes at a time."""

    def write(self, data: Any) -> int:
        return super().write(data[:100])


def test_a_disk_that_takes_a_part_of_what_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[Slow] = []

    def opened(**_: Any) -> Slow:
        files.append(Slow(folder / "slow", "w+"))
        return files[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", opened)
    batches = (MIXED.slice(begin, 4) for begin in range(0, MIXED.height, 4))
    with small():
        ev = rk.evaluate(QRELS, batches, JUDGED, engine="stream")

    assert len(files) == 1
    assert str(ev.mean) == str(rk.evaluate(QRELS, MIXED, JUDGED).mean)


def test_compare(folder: Path) -> None:
    one: list[Row] = [(query, item, 1.0) for item in ITEMS for query in QUERIES]
    two: list[Row] = [(query, item, len(item + query)) for query, item, _ in one[::2]]
    paths = {}
    for name, rows in {"one": one, "two": two}.items():
        (folder / name).mkdir()
        paths[name] = written(rows, "trec", folder / name)
    whole = rk.compare(QRELS, paths, ["nDCG", "Coverage"], catalog=ITEMS, draws=50)
    with small():
        parts = rk.compare(
            QRELS, paths, ["nDCG", "Coverage"], catalog=ITEMS, draws=50, engine="stream"
        )

    assert parts.table.equals(whole.table)
    assert parts.pairwise.equals(whole.pairwise)
    moved = [str(compared.moved("nDCG", "one", "two")) for compared in (parts, whole)]
    assert moved[0] == moved[1]
    assert "d4" in moved[0]
