"""Names of metrics: read, or refused in one sentence; what is read reads again."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._metrics import names
from rankine._metrics.metric import REGISTRY
from rankine._metrics.trec_names import FAMILIES, NICKNAMES
from tests.fuzz.effort import cases
from tests.fuzz.judge import evaluated, generated, outcome
from tests.fuzz.known import is_open

rk.metrics()  # fills the registry
KNOWN = sorted(
    {*REGISTRY, *FAMILIES, *NICKNAMES}
    | {alias for fact in REGISTRY.values() for alias in fact.aliases}
)
PARAMETERS = sorted({name for fact in REGISTRY.values() for name in fact.parameters})
PIECES = [
    "@", "(", ")", "=", ",", ".", "_", "-", "-l", "-l2", " ", "@10", "@0", "@-1",
    "@1e9", "@nan", "@1.5", "@²", "@٣", "(rel=2)", "()", "[", "]", "{", "}", "'", '"',
    "\\d", "1", "0", "-1", "0.5", "1e999", "nan", "inf", "None", "True", "1if", "0x1",
    "1_0", "'a'", "[1]", "(1,)", "{1: 2}", "{1: 'a'}", "lambda: 0", "__import__",
    "**{}", "*a", "\x00", "\n", "é", "\ud800", "9" * 60, "self", "k", "rel", "gain",
    "ties", ".5,10", ".1=1,2=3", "_5", "_1e3", "p=", "linear", "exponential", "best",
    "average", "#",
]  # fmt: skip
VALUES = [
    "1", "2", "0", "-1", "0.5", "1e308", "1e-320", "1e999", "nan", "None", "True",
    "'x'", "()", "[1]", "(1, 2, 3, 4)", "{1: 1}", "{}", "{1: 1e308}", "{'a': 1}",
    "linear", "exponential", "binary", "average", "best", "retrieved", "9" * 40, "1j",
    "b'a'",
]  # fmt: skip
TRUTH = {"q": {"a": 1, "b": 0, "d": 3}, "p": {"c": 1}}
RUN = {"q": {"b": 0.9, "a": 0.5, "x": 0.5}, "p": {"x": 2.0, "c": 1.5}}


def check(text: Any) -> None:
    found = outcome(lambda: names.parse_all(text))
    again = outcome(lambda: names.parse(text))

    if is_open("D11") and "None" in str(text):
        return
    if found.value is not None:
        for metric in found.value:
            assert names.parse(str(metric)) == metric
        if len(found.value) == 1:
            assert again.value == found.value[0]


@cases(400)
@given(
    pieces=st.lists(st.sampled_from([*KNOWN, *PIECES]), max_size=6),
)
def test_no_pieces_crash_the_parser(pieces: list[str]) -> None:
    generated()

    check("".join(pieces))


@cases(200)
@given(
    text=st.one_of(
        st.text(max_size=30),
        st.text(string.ascii_letters + string.digits + "@()=._-,'\" ", max_size=30),
    )
)
def test_no_text_crashes_the_parser(text: str) -> None:
    generated()

    check(text)


@cases(250)
@given(
    name=st.sampled_from(KNOWN),
    bound=st.lists(
        st.tuples(st.sampled_from(PARAMETERS), st.sampled_from(VALUES)), max_size=3
    ),
    cut=st.sampled_from(
        ["", "", "@1", "@2", "@10", "@0.5", "@1e3", "@0", "@99999999999"]
    ),
    options=st.sampled_from(
        [{}, {"ties": "average"}, {"rel": 2}, {"depth": 1}, {"convention": "trec_eval"}]
    ),
)
def test_no_parameters_crash_a_metric(
    name: str, bound: list[tuple[str, str]], cut: str, options: dict[str, Any]
) -> None:
    generated()
    inside = ",".join(f"{key}={value}" for key, value in bound)
    text = f"{name}({inside}){cut}" if bound else f"{name}{cut}"
    check(text)

    def call() -> object:
        found = rk.evaluate(TRUTH, RUN, text, catalog=100, **options)
        return found.per_query.rows(), found.mean, str(found), found.notes

    outcome(call)


@cases(200)
@given(
    family=st.sampled_from(sorted(FAMILIES)),
    inside=st.lists(
        st.sampled_from(
            ["1", "5", "10", "0.5", "1=2", "p=0.5", ",", ".", "-1", "x", "1e9"]
        ),
        max_size=5,
    ),
    mark=st.sampled_from([".", "_"]),
)
def test_no_name_of_trec_eval_crashes_the_parser(
    family: str, inside: list[str], mark: str
) -> None:
    generated()

    check(f"{family}{mark}{''.join(inside)}")


@pytest.mark.parametrize("text", [None, 5, b"P", ["P"], "x" * 10_000, "P(" * 100_000])
def test_odd_names_are_refused(text: Any) -> None:
    found = outcome(lambda: names.parse_all(text) if type(text) is not list else None)

    assert found.error or type(text) is list


@cases(60)
@given(
    grades=st.lists(
        st.sampled_from([0, 1, 2, -1, 5, 0.5, 100, 1e6, 1e300, -1e300]), min_size=1
    ),
    name=st.sampled_from(sorted(REGISTRY)),
)
def test_no_grades_crash_a_metric(grades: list[float], name: str) -> None:
    generated()
    qrels = {"q": {f"d{at}": grade for at, grade in enumerate(grades)}}
    run = {"q": [f"d{at}" for at in range(0, len(grades), 2)]}
    metric = f"{name}(catalog=1000)" if "catalog" in REGISTRY[name].parameters else name

    outcome(lambda: rk.evaluate(qrels, run, metric).mean)
    evaluated(qrels, run, rel=0.5)
