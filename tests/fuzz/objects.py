"""Objects to put in: odd values, options, and what goes with them."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import math
import uuid
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

TRUTH = {"q": {"a": 1, "b": 0, "d": 2}, "p": {"c": 1}}
RUN = {"q": {"b": 0.9, "a": 0.5}, "p": {"x": 2.0, "c": 1.5}}
OTHER: dict[str, Any] = {"qrels": RUN, "run": TRUTH}
ODD: list[Any] = [
    None, "", "a", "q", "1", 0, 1, -1, 2**63, 10**30, 10**400, True, 0.5, 1.0, math.nan,
    math.inf, -math.inf, 1j, b"a", (1, 2), frozenset({1}), [1], {"a": 1}, {"a"}, [], {},
    ["a", "b"], ["a", "a"], [None], [["a"]], range(2), "é", "a\nb", "x" * 300,
    dt.date(2020, 1, 1), dt.timedelta(1), decimal.Decimal("1.5"),
    decimal.Decimal("NaN"), fractions.Fraction(1, 3), np.int64(1), np.float32(0.5),
    np.str_("a"), np.bool_(True), np.datetime64("2020-01-01"), np.array([1, 2]),
    np.array(1), np.array(["a"]), pd.NA, pd.NaT, pd.Timestamp(0), pl.Series(["a"]),
    pd.Series(["a"]), pa.array(["a"]), pa.scalar(1), object, Ellipsis, object(),
    "\ud800", ("a", 0.5), [("a", 0.5), ("b", 0.25)], [("a", 1, 2)], uuid.UUID(int=1),
    SimpleNamespace(id="a", score=0.5), [SimpleNamespace(id="a", score=0.5)],
    SimpleNamespace(metadata={"doc_id": "a"}), {"hits": {"hits": [{"_id": "a"}]}},
    {"ids": [["a"]], "distances": [[0.5]]}, (np.array([1]), np.array([0.5])),
    {"retrieved": ["a"], "relevant": ["a"]}, [[1, 0.5]], {"documents": []},
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {}, {}, {}, {"lenient": True}, {"order": "rank"}, {"order": "given"},
    {"lower_is_better": True}, {"depth": 1}, {"ties": "best"}, {"rel": 0.5},
    {"grades": {1: 1, "a": 2}}, {"grades": {}}, {"columns": {"query": 1, "item": 2}},
    {"lenient": True, "lower_is_better": True}, {"lenient": True, "order": "given"},
]  # fmt: skip
roles = st.sampled_from(["qrels", "run"])
odd = st.sampled_from(ODD)
options_ = st.sampled_from(OPTIONS)
