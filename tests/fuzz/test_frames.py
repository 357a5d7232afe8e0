"""Frames and matrices: whatever they hold, and in all forms alike."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rankine as rk
from tests.fuzz.effort import cases
from tests.fuzz.judge import (
    FOLDER,
    Outcome,
    checked,
    evaluated,
    generated,
    outcome,
    written,
)
from tests.fuzz.known import is_open
from tests.fuzz.objects import RUN, TRUTH, odd, options_, roles

if TYPE_CHECKING:
    from collections.abc import Callable

Rows: TypeAlias = list[tuple[Any, Any, Any]]
COLUMNS: list[list[Any]] = [
    ["q", "q", "p"], ["a", "b", "c"], [1, 2, 3], [1.0, 2.0, 3.0], [0.5, 0.25, 0.1],
    [None, None, None], ["q", None, "p"], [1, None, 3], [0.5, None, 0.1],
    ["", "a", "b"], [math.nan, 1.0, 2.0], [math.inf, 1.0, 2.0], [True, False, None],
    ["1", "2", "x"], [b"a", b"b", b"c"], [2**63, 1, 2], [-1, -2, -3],
    [["a"], ["b"], ["c"]], [["a", "b"], [], None], [[1], [2], [3]],
    [[0.5, 0.1], [], None], [["a"], [None], []], [[["a"]], [], []],
    [{"a": 1}, {"a": 2}, None], [dt.date(2020, 1, 1)] * 3, [dt.timedelta(1)] * 3,
    [decimal.Decimal("1.5")] * 3, [dt.time(1)] * 3, ["a", "a", "a"], ["007", "7", "07"],
    ["1.0", "2", "3"], [1e300, -1e300, 1e-300],
]  # fmt: skip
TYPES: list[Any] = [
    None, None, None, pl.String, pl.Categorical, pl.Int8, pl.UInt64, pl.Int128,
    pl.Float32, pl.Boolean, pl.Date, pl.Object, pl.Null, pl.Binary, pl.Decimal(10, 2),
    pl.List(pl.String), pl.Array(pl.String, 1), pl.Enum(["a", "b", "q", "p"]),
]  # fmt: skip
LABELS = [
    "query", "item", "score", "grade", "rank", "user_id", "item_id", "Query", "", "x",
    "rating", "a\nb", "retrieved", "relevant",
]  # fmt: skip


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    """A frame of columns of any type, most often with the names that are known."""
    labels = draw(
        st.one_of(
            st.just(["query", "item", "score"]),
            st.just(["query", "item", "grade"]),
            st.just(["query", "item", "rank"]),
            st.lists(st.sampled_from(LABELS), min_size=1, max_size=4, unique=True),
        )
    )
    made = []
    for label in labels:
        values, dtype = draw(st.sampled_from(COLUMNS)), draw(st.sampled_from(TYPES))
        try:
            made.append(pl.Series(label, values, dtype=dtype, strict=False))
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            made.append(pl.Series(label, values, strict=False))
    return pl.DataFrame(made)


def _in_other_forms(frame: pl.DataFrame) -> dict[str, Any]:
    """Return the same frame in the forms that can hold it."""
    made: dict[str, Any] = {"polars": frame, "lazy": frame.lazy()}
    if pl.Object in frame.dtypes:
        return made
    makers: dict[str, Callable[[], Any]] = {
        "pyarrow": frame.to_arrow,
        "parquet": lambda: _file(frame, "frame.parquet", "write_parquet"),
        "arrow": lambda: _file(frame, "frame.arrow", "write_ipc"),
        "stream": lambda: _file(frame, "frame.stream", "write_ipc_stream"),
    }
    for name, make in makers.items():
        try:
            made[name] = make()
        except (pl.exceptions.PolarsError, pa.ArrowException, TypeError, ValueError):
            continue
    return made


def _file(frame: pl.DataFrame, name: str, write: str) -> Any:
    path = FOLDER / name
    writer: Any = getattr(frame, write)
    writer(path)
    return path


@cases(120)
@given(frame=frames(), role=roles, options=options_)
def test_frames_in_all_forms_agree(
    frame: pl.DataFrame, role: str, options: dict[str, Any]
) -> None:
    generated()
    found: dict[str, Outcome] = {}
    for name, data in _in_other_forms(frame).items():
        qrels, run = (data, RUN) if role == "qrels" else (TRUTH, data)
        found[name] = evaluated(qrels, run, **options)

    if is_open("A9"):
        found.pop("parquet", None)
    first = found["polars"]
    assert all(other.agrees(first) for other in found.values()), found


@cases(120)
@given(frame=frames(), role=roles, options=options_, objects=st.booleans())
def test_no_frame_of_pandas_crashes_it(
    frame: pl.DataFrame, role: str, options: dict[str, Any], *, objects: bool
) -> None:
    generated()
    data = pd.DataFrame(
        {name: pd.Series(frame[name].to_list()) for name in frame.columns}
    )
    if objects:
        data = data.astype(object)
    qrels, run = (data, RUN) if role == "qrels" else (TRUTH, data)

    evaluated(qrels, run, **options)
    checked(qrels, run)


ids = st.sampled_from(["a", "b", "c", "d", "é", "007", "7", "a b", "#", '"', "a,b"])
scores = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, 1e300, -0.0, 2**53]))


@cases(100)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["q", "p"]), ids, scores), min_size=1, max_size=6
    ),
    role=roles,
)
def test_the_same_rows_agree_in_every_form(rows: Rows, role: str) -> None:
    generated()
    value = "grade" if role == "qrels" else "score"
    frame = pl.DataFrame(
        [(query, item, float(number)) for query, item, number in rows],
        schema=["query", "item", value],
        orient="row",
    )
    table: dict[str, dict[str, float]] = {}
    for query, item, number in rows:
        table.setdefault(query, {})[item] = float(number)
    twice = sum(map(len, table.values())) < len(rows)
    text = "\n".join(
        json.dumps({"query": query, "item": item, value: number})
        for query, item, number in rows
    )
    forms: dict[str, Any] = {
        **_in_other_forms(frame),
        "pandas": pd.DataFrame(frame.to_dict(as_series=False)),
        "ndjson": written(text.encode(), "rows.ndjson"),
        "csv": _file(frame, "rows.csv", "write_csv"),
    }
    if not twice:
        forms["mapping"] = table
        forms["json"] = written(json.dumps(table).encode(), "rows.json")
    found = {
        name: evaluated(data, RUN) if role == "qrels" else evaluated(TRUTH, data)
        for name, data in forms.items()
    }

    first = found["polars"]
    assert bool(first.error) == twice or role == "qrels"
    assert all(other.agrees(first) for other in found.values()), found


MATRICES: list[Any] = [
    [[1, 2], [3, 4]], [[0.5, math.nan]], [[math.inf, -math.inf]], [[]], [], [[None, 1]],
    [["a", "b"]], [["1", "2"]], [[1, 2], [3]], [[True, False]], [[1j, 2]], [[10**400]],
    [[2**63, 1]], [[b"a", b"b"]], np.zeros((0, 3)), np.zeros((2, 0)), np.zeros(3),
    np.zeros((1, 1, 1)), np.array([["a", None]], dtype=object),
    np.array([[1, 2]], "M8[D]"), np.array([[1, 2]], "m8[s]"),
    np.array([[(1, 2)]], "i4,i4"), np.array([[1, 2]], ">i2"),
    np.ma.masked_array([[1, 2]], [[False, True]]), np.array([[1, 2]], "f2"), "abc",
    None, 5, {"a": 1}, pd.DataFrame([[1, 2]]), pl.DataFrame({"a": [1], "b": [2]}),
    [[-1, 7]], [[1.0, 2.0]], [[1.5, 2.0]], [[7, 7]], np.array([[2**64 - 1]], np.uint64),
]  # fmt: skip


@cases(150)
@given(
    matrix=st.sampled_from(MATRICES),
    queries=st.one_of(st.none(), odd, st.lists(odd, max_size=3)),
    items=st.one_of(st.none(), odd, st.lists(odd, max_size=3)),
    options=options_,
)
def test_no_matrix_of_scores_crashes_it(
    matrix: Any, queries: Any, items: Any, options: dict[str, Any]
) -> None:
    generated()

    outcome(lambda: rk.from_scores(matrix, queries=queries, items=items))
    made = outcome(lambda: rk.from_scores(matrix))
    if made.value is not None:
        evaluated(TRUTH, made.value, **options)
        evaluated({0: {0: 1, 1: 0}}, made.value, **options)
        evaluated(made.value, made.value, **options)


@cases(150)
@given(
    matrix=st.sampled_from(MATRICES),
    queries=st.one_of(st.none(), odd, st.lists(odd, max_size=3)),
    pad=odd,
    options=options_,
)
def test_no_matrix_of_ids_crashes_it(
    matrix: Any, queries: Any, pad: Any, options: dict[str, Any]
) -> None:
    generated()

    outcome(lambda: rk.from_ranked(matrix, queries=queries, pad=pad))
    made = outcome(lambda: rk.from_ranked(matrix))
    if made.value is not None:
        evaluated({0: {1: 1, 2: 0}}, made.value, **options)
        evaluated(made.value, RUN, **options)


KINDS = ("csr", "csc", "coo", "lil", "dia", "bsr")


@cases(100)
@given(
    values=st.lists(
        st.sampled_from([0, 0.5, 1, 2, -1, math.nan, math.inf]), min_size=6, max_size=6
    ),
    kind=st.sampled_from(KINDS),
    dtype=st.sampled_from(["f8", "f4", "i4", "?", "c16", "u1"]),
    role=roles,
    options=options_,
)
def test_sparse_matrices_agree_with_mappings(
    values: list[float], kind: str, dtype: str, role: str, options: dict[str, Any]
) -> None:
    generated()
    with np.errstate(invalid="ignore"):
        dense = np.array(values).reshape(2, 3).astype(dtype)
    matrix = getattr(sparse, f"{kind}_array")(dense)
    other: dict[int, Any] = {0: {0: 1, 1: 2}, 1: {2: 1}}

    if role == "qrels":
        evaluated(matrix, other, **options)
    else:
        evaluated(other, matrix, **options)

    stored = sparse.coo_array(matrix)
    table: dict[int, dict[int, float]] = {}
    if dtype == "c16":
        return
    for query, item, value in zip(
        stored.row.tolist(), stored.col.tolist(), stored.data.tolist(), strict=True
    ):
        table.setdefault(query, {})[item] = float(value)
    if table:
        pair = (
            ((matrix, other), (table, other))
            if role == "qrels"
            else ((other, matrix), (other, table))
        )
        assert evaluated(*pair[0]).agrees(evaluated(*pair[1]))
