"""The same data in every form gives the same numbers, to the last bit."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from tests.forms import FORMS, Data

METRICS = ["nDCG@3", "AP", "RR", "P@2", "R@4", "Bpref", "RBP(p=0.8)", "NumRet"]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Data, Data]:
    """Judgements and a run that share some queries; scores differ in each list."""
    ids = st.lists(st.integers(0, 11).map(str), min_size=1, max_size=6, unique=True)
    queries = draw(ids)
    grade = st.integers(-1, 3).map(float)
    qrels = {query: {item: draw(grade) for item in draw(ids)} for query in queries}
    run = {}
    for query in [*queries[:1], *draw(ids)]:
        items = draw(ids)
        scores = draw(
            st.lists(
                st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-300),
                min_size=len(items),
                max_size=len(items),
                unique=True,
            )
        )
        run[query] = dict(zip(items, scores, strict=True))
    return qrels, run


def values(qrels: object, run: object) -> dict[str, dict[str, float | None]]:
    table = rk.evaluate(qrels, run, METRICS).per_query
    return {str(row.pop("query")): row for row in table.to_dicts()}


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=12, deadline=None)
@given(pair=pairs())
def test_every_form_gives_the_same_numbers(name: str, pair: tuple[Data, Data]) -> None:
    qrels, run = pair
    expected = values(qrels, run)

    with tempfile.TemporaryDirectory() as folder:
        found = values(*FORMS[name](qrels, run, Path(folder)))

    if name in {"scipy, coo", "scipy, csr", "numpy"}:
        found = {query: found[query] for query in expected}
    assert found == expected
