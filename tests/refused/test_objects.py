"""Objects in memory: matrices, tensors, datasets, and what is none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import rankine as rk
from rankine import errors
from rankine.errors import (
    DataError,
    DuplicateItemError,
    FormatError,
    ParameterError,
    RankineError,
)
from tests.refused.refusals import LISTS, ONE_QUERY, TRUTH, frame, refused
from tests.tensors import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# --- what is no list


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ({"a", "b"}, "a set has no order"),
        ("abc", "a list of items"),
        (7, "{item: score}"),
    ],
    ids=["set", "text", "int"],
)
def test_a_run_that_is_no_list_says_what_is_wanted(entry: Any, wanted: str) -> None:
    text = refused(errors.FormatError, {"q": {"a"}}, {"q": entry})

    assert "'q'" in text
    assert type(entry).__name__ in text
    assert wanted in text


@pytest.mark.parametrize("entry", [None, "", 0.5], ids=repr)
def test_judgements_that_are_no_set_say_what_is_wanted(entry: Any) -> None:
    text = refused(errors.FormatError, {"q": entry}, {"q": ["a"]})

    assert "'q'" in text
    assert "{item: grade}" in text


def test_69_none_is_no_list() -> None:
    text = refused(DataError, TRUTH, {"q1": None, "q2": ["c"]})

    assert text.startswith("the list of query 'q1' is None; use an empty list or dict")


def test_40_a_generator_is_no_list() -> None:
    text = refused(FormatError, TRUTH, {"q1": (item for item in "xa")})

    assert text.startswith("the run of query 'q1' is a generator; expected a list")


@pytest.mark.parametrize(
    ("kind", "qrels", "run", "options"),
    [
        (DataError, {"\ud800": {"a": 1}}, {"\ud800": ["a"]}, {}),
        (DataError, {"q": {"a": [1]}}, {"q": ["a"]}, {"grades": {1: 1}}),
        (DataError, ONE_QUERY, {"q": {"a": None}}, {"lower_is_better": True}),
        (DataError, ONE_QUERY, {"q": {"a": np.arange(2)}}, {"lenient": True}),
        (FormatError, pl.DataFrame({"query": ["q"], "item": ["a"]}), {"q": 5}, {}),
        (FormatError, ONE_QUERY, {"q": 5}, {"lenient": True}),
        (FormatError, ONE_QUERY, {"q": np.array(1)}, {}),
        (FormatError, ONE_QUERY, {"q": np.array([[1, 2]])}, {"lenient": True}),
        (FormatError, {np.datetime64("2020-01-01"): {"a": 1}}, {"q": ["a"]}, {}),
        (ParameterError, ONE_QUERY, {"q": ["a"]}, {"rel": 10**400}),
        (ParameterError, ONE_QUERY, pl.DataFrame({"a": [1]}), {"columns": 5}),
        (ParameterError, ONE_QUERY, pl.DataFrame({"a": [1]}), {"columns": {5: "a"}}),
    ],
)
def test_odd_values_are_refused_in_one_line(
    kind: type[RankineError], qrels: Any, run: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(RankineError) as caught:
        rk.evaluate(qrels, run, "RR", **options)

    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)


# --- matrices


def test_an_array_is_pointed_to_its_readers() -> None:
    text = refused(errors.FormatError, np.zeros((2, 2)), {"q": ["a"]})

    assert "from_scores" in text


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda: rk.from_scores([1.0, 2.0]), "1 dimension$"),
        (lambda: rk.from_scores([["a"]]), "expected a matrix of numbers"),
        (lambda: rk.from_scores([[1.0, 2.0]], items=["a"]), "1 items"),
        (lambda: rk.from_scores([[1.0, 2.0]], items=["a", "a"]), "not all different"),
        (lambda: rk.from_ranked([1, 2]), "1 dimension$"),
        (lambda: rk.from_ranked([["a", "b"], ["c"]]), "pad"),
    ],
    ids=["vector", "text", "few-ids", "same-ids", "flat", "ragged"],
)
def test_matrices_that_cannot_be_read_are_refused(
    make: Callable[[], Any], wanted: str
) -> None:
    with pytest.raises(errors.DataError, match=wanted):
        make()


def test_matrices_of_different_shape_are_refused() -> None:
    text = refused(
        errors.DataError, rk.from_scores([[1.0, 2.0]]), rk.from_scores([[1.0]])
    )

    assert "1 x 2" in text
    assert "1 x 1" in text


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


def test_pad_of_another_type_than_the_items_is_refused() -> None:
    with pytest.raises(errors.RankineError, match="pad"):
        rk.from_ranked([["a", "b"], ["c", "-"]], pad=-1)


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


# --- tensors


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


# --- datasets and rows


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


Dataset.__module__ = "datasets.arrow_dataset"


class IterableDataset:
    """Stands for a dataset of Hugging Face that comes row by row."""

    def with_format(self, _: str) -> IterableDataset:
        return self

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield {"query-id": "q1", "corpus-id": "a", "score": 1}
        yield {"query-id": "q2", "corpus-id": "c", "score": 1}


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
    assert refused(DataError, reader, LISTS) == "qrels: contains no judgements"


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (iter, "pass rows as a frame with columns query, item and score"),
        (list, "pass rows as a frame with columns query, item and score"),
        (tuple, "pass rows as a frame with columns query, item and score"),
    ],
)
def test_40_rows_without_names_are_refused_if_unclear(kind: Any, wanted: str) -> None:
    text = refused(FormatError, kind([("q1", "a", "x", 1)]), LISTS)

    assert text.startswith("qrels: tuples such as ('q1', 'a', 'x', 1) may be rows or")
    assert wanted in text


def test_40_a_dataset_of_splits_asks_for_one() -> None:
    splits = type("DatasetDict", (dict,), {"__module__": "datasets.dataset_dict"})

    text = refused(FormatError, splits(train=Dataset()), LISTS)

    assert text.endswith("pass one of its splits: 'train'")


def test_40_an_index_with_ids_is_read() -> None:
    run = frame(score=[1.0, 2.0]).to_pandas().set_index("query")

    ev = rk.evaluate(TRUTH, run, "RR")

    assert ev["RR"] == 1
    assert "run: query: from the index" in ev.notes
