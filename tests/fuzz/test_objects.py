"""Objects in memory and JSON: mappings, values of any type, options."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from tests.fuzz.effort import cases
from tests.fuzz.judge import (
    checked,
    evaluated,
    generated,
    numbers,
    outcome,
    read,
    written,
)
from tests.fuzz.known import is_open
from tests.fuzz.objects import ODD, OTHER, RUN, TRUTH, odd, options_, roles

hashable = st.sampled_from([value for value in ODD if isinstance(value, Hashable)])


def _hashed(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Make a mapping of what can be hashed; arrays in tuples cannot."""
    made = {}
    for key, value in pairs:
        try:
            made[key] = value
        except (TypeError, ValueError):
            continue
    return made


entries = st.one_of(
    st.lists(st.tuples(hashable, odd), max_size=4).map(_hashed),
    st.lists(odd, max_size=4),
    odd,
)
mappings = st.lists(st.tuples(hashable, entries), max_size=4).map(_hashed)


@cases(500)
@given(data=mappings, role=roles, options=options_)
def test_no_mapping_crashes_it(
    data: dict[Any, Any], role: str, options: dict[str, Any]
) -> None:
    generated()

    if role == "qrels":
        evaluated(data, RUN, **options)
    else:
        evaluated(TRUTH, data, **options)


@cases(150)
@given(data=mappings, role=roles)
def test_no_mapping_crashes_a_check(data: dict[Any, Any], role: str) -> None:
    generated()

    if role == "qrels":
        checked(data, RUN)
    else:
        checked(TRUTH, data)


@cases(200)
@given(qrels=mappings, run=mappings, options=options_)
def test_no_two_mappings_crash_it(
    qrels: dict[Any, Any], run: dict[Any, Any], options: dict[str, Any]
) -> None:
    generated()

    evaluated(qrels, run, **options)


@cases(150)
@given(
    data=odd | st.lists(odd, max_size=3),
    role=roles,
    options=options_,
)
def test_no_object_crashes_it(data: Any, role: str, options: dict[str, Any]) -> None:
    generated()

    if role == "qrels":
        evaluated(data, RUN, **options)
    else:
        evaluated(TRUTH, data, **options)


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 5),
        st.floats(width=32),
        st.sampled_from(["q", "a", "b", "", "1", "nan", "\ud800", 10**30, "é"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["q", "a", "b", "", "é"]), inner, max_size=3),
    ),
    max_leaves=6,
)
names = st.sampled_from(
    ["query", "item", "score", "grade", "rank", "retrieved", "relevant", "x", ""]
)
records = st.lists(
    st.dictionaries(names, json_values, max_size=4), min_size=1, max_size=4
)


@cases(200)
@given(
    data=st.one_of(
        json_values,
        records,
        st.dictionaries(
            st.sampled_from(["q", "p"]),
            st.one_of(
                st.dictionaries(st.sampled_from(["a", "b", "c"]), json_values),
                st.lists(json_values, max_size=3),
            ),
        ),
    ),
    role=roles,
    options=options_,
    ascii_=st.booleans(),
)
def test_no_json_crashes_it(
    data: Any, role: str, options: dict[str, Any], *, ascii_: bool
) -> None:
    generated()
    text = json.dumps(data, ensure_ascii=ascii_).encode(errors="surrogatepass")

    read(text, role, OTHER[role], options=options)
    read(text, role, OTHER[role], format="json")


@cases(120)
@given(data=records, role=roles, options=options_)
def test_records_in_lines_are_read_as_records_in_a_list(
    data: list[dict[str, Any]], role: str, options: dict[str, Any]
) -> None:
    generated()
    lines = "\n".join(json.dumps(record) for record in data).encode()
    whole = json.dumps(data).encode()

    found = read(lines, role, OTHER[role], format="ndjson")
    again = read(whole, role, OTHER[role], format="json")
    read(lines, role, OTHER[role], options=options)

    assert found.agrees(again)


@pytest.mark.parametrize("name", ["columns", "grades", "rel", "depth", "ties", "order"])
@cases(60)
@given(value=odd | st.dictionaries(st.sampled_from(["query", "item", "a", "x"]), odd))
def test_no_option_crashes_it(name: str, value: Any) -> None:
    generated()
    text = written(b"query,item,grade\nq,a,1\nq,b,0\n", "some.qrels")
    plain = written(b"q,a,1.5\nq,b,0.5\n", "some.run")

    for qrels, run in ((TRUTH, RUN), (text, RUN), (text, plain)):
        evaluated(qrels, run, **{name: value})


@cases(80)
@given(
    name=st.sampled_from(["convention", "catalog", "lenient", "name", "metrics"]),
    value=odd,
)
def test_no_other_option_crashes_it(name: str, value: Any) -> None:
    generated()
    given_: dict[str, Any] = {"metrics": "RR", name: value}
    if is_open("C9") and hasattr(value, "__array__"):
        return

    def call() -> object:
        return rk.evaluate(TRUTH, RUN, **given_).per_query.rows()

    outcome(call)


@pytest.mark.parametrize("name", ["format", "encoding", "columns", "max_bytes", "path"])
@cases(50)
@given(value=odd, role=roles)
def test_no_option_of_a_reader_crashes_it(name: str, value: Any, role: str) -> None:
    generated()
    how: dict[str, Any] = {"path": written(b"q,a,1\nq,b,2\np,c,1\n"), name: value}
    reader = rk.read_qrels if role == "qrels" else rk.read_run

    made = outcome(lambda: reader(how.pop("path"), **how))
    if made.value is not None:
        outcome(
            lambda: (
                numbers(made.value, RUN)
                if role == "qrels"
                else numbers(TRUTH, made.value)
            )
        )
