"""Bad input, items 36 to 40 of the catalogue: types of columns, objects in memory."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import rankine as rk
from rankine.errors import DataError, DuplicateItemError, FormatError
from tests.refusals import files, refusal, refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TRUTH = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
LISTS = {"q1": ["x", "a"], "q2": ["c"]}


def frame(**columns: Any) -> pl.DataFrame:
    """Make a frame of two rows of queries q1 and q2, items a and c."""
    return pl.DataFrame({"query": ["q1", "q2"], "item": ["a", "c"], **columns})


# --- types of columns


def test_36_booleans_are_labels() -> None:
    qrels = frame(grade=[True, False])

    assert rk.evaluate(qrels, LISTS, "RR").per_query.rows() == [("q1", 0.5), ("q2", 0)]


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["q1", "q2", "a", "c"])])
def test_36_categories_are_their_texts(kind: Any) -> None:
    qrels = frame(grade=[1, 1]).with_columns(pl.col("query", "item").cast(kind))

    assert rk.evaluate(qrels, LISTS, "RR")["RR"] == (1 / 2 + 1) / 2


def test_36_decimals_are_numbers() -> None:
    run = frame(score=[Decimal("1.5"), Decimal(2)])

    assert rk.evaluate(TRUTH, run, "RR")["RR"] == 1


def test_36_lists_are_rows_and_told() -> None:
    run = pl.DataFrame({"query": ["q1", "q2"], "item": [["x", "a"], ["c"]]})

    found = rk.evaluate(TRUTH, run, "RR")

    assert found["RR"] == (1 / 2 + 1) / 2
    assert "run: the lists in 'item' are taken as rows, in their order" in found.notes


def test_36_lists_of_different_length_are_refused() -> None:
    run = pl.DataFrame({"query": ["q1"], "item": [["x", "a"]], "score": [[1.0]]})

    text = refused(DataError, TRUTH, run)

    assert text == "run, row 0: the lists in 'item' and 'score' differ in length"


def test_36_one_score_for_a_list_is_refused() -> None:
    run = pl.DataFrame({"query": ["q1"], "item": [["a", "x"]], "score": [1.0]})

    assert refused(DataError, TRUTH, run).startswith("run")


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        ("query", [dt.date(2020, 1, 1)] * 2, "query ids are of type Date"),
        ("query", [True, False], "query ids are of type Boolean"),
        ("item", [b"a", b"c"], "item ids are of type Binary"),
        ("item", [{"id": "a"}] * 2, "item ids are of type Struct"),
        ("query", [["q1"], ["q2"]], "query ids are of type List"),
        ("score", [dt.datetime(2020, 1, 1)] * 2, "column 'score' is of type Datetime"),  # noqa: DTZ001 - as pandas has them
        ("score", [dt.timedelta(1)] * 2, "column 'score' is of type Duration"),
        ("score", [[0.1], [0.3]], "column 'score' is of type List"),
    ],
)
def test_36_other_types_are_refused(name: str, values: Any, text: str) -> None:
    run = frame(score=[1.0, 2.0]).with_columns(pl.Series(name, values))

    said = refused(FormatError, TRUTH, run)

    assert said.startswith(f"run: {text}")
    assert said.endswith(("expected text or ints", "expected numbers"))


def test_36_a_type_in_a_file_is_refused(tmp_path: Path) -> None:
    qrels, _ = files(tmp_path)
    run = tmp_path / "run.parquet"
    frame(score=[{"bm25": 1.0}] * 2).write_parquet(run)

    text = refusal(FormatError, qrels, run)

    assert text.startswith(f"{run}: column 'score' is of type Struct")


def test_37_a_column_of_several_types_is_refused() -> None:
    ids = pd.DataFrame({"query": ["q1", 2], "item": ["a", "c"], "score": [1.0, 2.0]})
    scores = pd.DataFrame(
        {"query": ["q1", "q2"], "item": ["a", "c"], "score": [1, "x"]}
    )

    assert refused(DataError, TRUTH, ids) == (
        "column 'query' mixes int, str; give it one type"
    )
    assert refused(DataError, TRUTH, scores) == (
        "column 'score' mixes int, str; give it one type"
    )


def test_37_objects_that_are_all_numbers_are_numbers() -> None:
    score = pd.Series([1, 2.5], dtype=object)
    run = pd.DataFrame({"query": ["q1", "q1"], "item": ["x", "a"], "score": score})

    assert rk.evaluate(TRUTH, run, "RR").per_query["RR"].to_list() == [1, 0]


LINE = '{{"query": "q1", "item": {item}, "score": {score}}}\n'


def test_37_ints_and_floats_in_json_lines_are_numbers(tmp_path: Path) -> None:
    lines = LINE.format(item='"x"', score=1) + LINE.format(item='"a"', score=2.5)
    qrels, run = files(tmp_path, run=lines)

    assert rk.evaluate(qrels, run, "RR").per_query["RR"].to_list() == [1, 0]


def test_37_ints_and_floats_in_lists_of_json_lines_are_numbers(tmp_path: Path) -> None:
    line = '{"query": "q1", "retrieved": ["x", "a"], "score": [1, 1.5]}\n'
    qrels, run = files(tmp_path, run=line)

    assert rk.evaluate(qrels, run, "RR").per_query["RR"].to_list() == [1, 0]


def test_37_an_int_beyond_all_floats_is_above_all(tmp_path: Path) -> None:
    lines = LINE.format(item='"x"', score=0.5)
    lines += LINE.format(item='"a"', score="1" + "0" * 400)
    qrels, run = files(tmp_path, run=lines)

    assert rk.evaluate(qrels, run, "RR").per_query["RR"].to_list() == [1, 0]


@pytest.mark.parametrize("bad", [{"item": 7}, {"score": '"high"'}])
def test_37_mixed_types_in_json_lines_name_the_line(
    bad: dict[str, Any], tmp_path: Path
) -> None:
    good = {"item": '"a"', "score": 1}
    qrels, run = files(
        tmp_path, run=LINE.format(**good) + LINE.format(**{**good, **bad})
    )

    text = refusal(DataError, qrels, run)

    assert text.startswith(f"{run}:2: ")


# --- objects in memory


def test_38_stored_zeros_are_judged_and_indices_need_no_order() -> None:
    data, indices, starts = [1.0, 2.0, 0.0], [2, 0, 1], [0, 2, 3]
    qrels = sparse.csr_matrix((data, indices, starts), shape=(2, 3))

    found = rk.check(qrels, {0: [0], 1: [1]})

    assert found.qrels["grades"] == {"0": 1, "1": 1, "2": 1}


@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.csr_matrix])
def test_38_stored_duplicates_are_refused_and_not_added(kind: Any) -> None:
    twice = ([1.0, 2.0], ([0, 0], [1, 1]))
    if kind is sparse.csr_matrix:
        twice = ([1.0, 2.0], [1, 1], [0, 2, 2])  # type: ignore[assignment]
    matrix = kind(twice, shape=(2, 3))

    assert refused(DuplicateItemError, {0: {1: 1}}, matrix) == (
        "item 1 appears twice for query 0 in run (row 0 and row 1)"
        "; lenient=True or --lenient keeps the best of each"
    )
    assert refused(DuplicateItemError, matrix, {0: [1]}) == (
        "item 1 is judged twice for query 0 in qrels (row 0 and row 1)"
        "; lenient=True or --lenient keeps the largest grade of each"
    )


def test_38_matrices_of_different_shape_are_refused() -> None:
    text = refused(
        DataError, rk.from_scores(np.eye(3)), rk.from_scores(np.ones((3, 4)))
    )

    assert text == (
        "grades are 3 x 3 and scores 3 x 4; both need the same queries and items"
    )


def test_38_sparse_matrices_of_different_shape_are_refused() -> None:
    qrels = sparse.csr_matrix(np.eye(3))
    run = sparse.csr_matrix(np.ones((3, 4)))

    assert "3 x 4" in refused(DataError, qrels, run)


def test_38_complex_numbers_are_refused() -> None:
    run = sparse.csr_matrix(np.array([[1j, 1.0]]))

    assert "complex" in refused(FormatError, {0: {1: 1}}, run)


class Tensor:
    """Stands for a tensor of torch, which the tests do not install."""

    def __init__(
        self, values: Any, device: str = "cpu", layout: str = "strided"
    ) -> None:
        self.values = np.asarray(values)
        self.device = type(
            "Device", (), {"type": device, "__str__": lambda _: device}
        )()
        self.layout = f"torch.{layout}"
        self.detached = False

    def detach(self) -> Tensor:
        self.detached = True
        return self

    def is_floating_point(self) -> bool:
        return self.values.dtype.kind == "f"

    def is_complex(self) -> bool:
        return False

    def double(self) -> Tensor:
        self.values = self.values.astype(np.float64)
        return self

    def numpy(self) -> Any:
        assert self.detached  # as torch wants it of what has a gradient
        return self.values


Tensor.__module__ = "torch"


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int64])
def test_39_tensors_on_the_cpu_are_read(kind: Any) -> None:
    scores = rk.from_scores(Tensor(np.array([[1, 3, 2]], dtype=kind)))
    strided = rk.from_scores(Tensor(np.arange(6, dtype=kind).reshape(1, 6)[:, ::2]))
    ranked = rk.from_ranked(Tensor(np.array([[7, 8]])))

    assert rk.evaluate({0: {2: 1}}, scores, "RR")["RR"] == 1 / 2
    assert rk.evaluate({0: {2: 1}}, strided, "RR")["RR"] == 1
    assert rk.evaluate({0: {8: 1}}, ranked, "RR")["RR"] == 1 / 2


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (
            Tensor([[1.0]], device="cuda:0"),
            "the tensor is on cuda:0; copy it with .cpu() if that is what you want",
        ),
        (
            Tensor([[1.0]], layout="sparse_coo"),
            "the tensor is torch.sparse_coo; make it dense with .to_dense()",
        ),
        (
            Tensor(1.0),
            "expected a matrix, queries by items, got 0 dimensions",
        ),
    ],
    ids=["cuda", "sparse", "0-d"],
)
def test_39_other_tensors_are_refused_with_what_to_do(tensor: Any, text: str) -> None:
    with pytest.raises(FormatError) as caught:
        rk.from_scores(tensor)

    assert str(caught.value) == text


def test_39_a_bare_tensor_is_pointed_to_its_readers() -> None:
    text = refused(FormatError, TRUTH, Tensor([[1.0]]))

    assert text.endswith("wrap a matrix with from_scores or from_ranked")


class Dataset:
    """Stands for a dataset of Hugging Face, which the tests do not install."""

    def __init__(self) -> None:
        self.n_reads = 0

    def with_format(self, _: str) -> Dataset:
        return self

    def __len__(self) -> int:
        return 2

    def __getitem__(self, _: slice) -> Any:
        self.n_reads += 1
        columns = {"query-id": ["q1", "q2"], "corpus-id": ["a", "c"], "score": [1, 1]}
        return pa.table(columns)


class IterableDataset:
    """Stands for a dataset of Hugging Face that comes row by row."""

    def with_format(self, _: str) -> IterableDataset:
        return self

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield {"query-id": "q1", "corpus-id": "a", "score": 1}
        yield {"query-id": "q2", "corpus-id": "c", "score": 1}


Dataset.__module__ = "datasets.arrow_dataset"
IterableDataset.__module__ = "datasets.iterable_dataset"


def test_40_a_dataset_that_comes_row_by_row_is_read() -> None:
    found = rk.evaluate(IterableDataset(), LISTS, "RR")

    assert found["RR"] == (1 / 2 + 1) / 2


def test_40_what_is_lazy_is_collected_once() -> None:
    dataset = Dataset()
    lazy = frame(grade=[1, 1]).lazy()

    found = rk.evaluate(dataset, LISTS, ["RR", "AP", "nDCG@10"])

    assert found["RR"] == rk.evaluate(lazy, LISTS, "RR")["RR"] == (1 / 2 + 1) / 2
    assert dataset.n_reads == 1


def test_40_what_can_be_read_once_is_read_once() -> None:
    table = frame(grade=[1, 1]).to_arrow()
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())

    found = rk.evaluate(reader, LISTS, ["RR", "AP"])

    assert found["RR"] == (1 / 2 + 1) / 2
    assert refused(DataError, reader, LISTS) == "qrels: no judgements in it"


@pytest.mark.parametrize("kind", [iter, list, tuple])
def test_40_rows_without_names_are_refused(kind: Any) -> None:
    text = refused(FormatError, kind([("q1", "a", 1)]), LISTS)

    assert text.startswith("cannot read qrels from a ")
    assert "expected a path, a mapping by query, a frame" in text


def test_40_a_generator_is_no_list() -> None:
    text = refused(FormatError, TRUTH, {"q1": (item for item in "xa")})

    assert text.startswith("the run of query 'q1' is a generator; expected a list")


def test_40_a_dataset_of_splits_asks_for_one() -> None:
    splits = type("DatasetDict", (dict,), {"__module__": "datasets.dataset_dict"})

    text = refused(FormatError, splits(train=Dataset()), LISTS)

    assert text.endswith("take one of its splits: 'train'")


def test_40_an_index_with_ids_asks_for_a_column() -> None:
    run = frame(score=[1.0, 2.0]).to_pandas().set_index("query")

    with pytest.raises(DataError, match="reset_index"):
        rk.evaluate(TRUTH, run, "RR")
