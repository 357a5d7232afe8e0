"""What libraries hand out, in their forms: read as the same data in dicts, or refused.

A form is refused in one sentence, and no form gives another number silently.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import RankineError
from tests.io.foreign.forms import EXAMPLE, FORMS, Example, Form, Pair
from tests.io.foreign.more import MORE

if TYPE_CHECKING:
    from collections.abc import Callable

ALL = [*FORMS, *MORE]
METRICS = ["RR", "nDCG"]
BY_HAND = {
    "RR": (1 / 2 + 1 + 1 / 2) / 3,
    "nDCG": (0.6309297535714575 + 1 + 0.6309297535714575) / 3,  # 1 / log2(3)
}
"""The gold items of the example are at the ranks 2, 1 and 2."""
TURNED = (1 / 3 + 1 / 4 + 1 / 3) / 3
"""The reciprocal rank of its lists from the end."""


def ids(form: Form) -> str:
    return form.name


def evaluated(form: Form, example: Example, folder: Path) -> rk.Evaluation:
    qrels, run = form.make(example, folder)
    return rk.evaluate(qrels, run, METRICS, **form.options)


def test_every_form_has_a_name_of_its_own() -> None:
    names = [form.name for form in ALL]

    assert len({*names}) == len(names)


def test_most_recorded_forms_are_read() -> None:
    read = [form for form in FORMS if not form.refused and not form.warned]

    assert len(FORMS) >= 82
    assert len(read) >= 0.85 * len(FORMS)


@pytest.mark.parametrize(
    "form", [form for form in ALL if not form.refused and not form.warned], ids=ids
)
def test_a_form_is_read(form: Form, tmp_path: Path) -> None:
    ev = evaluated(form, EXAMPLE, tmp_path)

    assert ev.mean == pytest.approx(BY_HAND, abs=1e-15)
    assert form.said in " / ".join(ev.notes)
    assert [form.doubted in warning for warning in ev.warnings] == [True] * bool(
        form.doubted
    )


@pytest.mark.parametrize("form", [form for form in ALL if form.warned], ids=ids)
def test_a_form_of_unclear_direction_is_warned_of(form: Form, tmp_path: Path) -> None:
    ev = evaluated(form, EXAMPLE, tmp_path)
    told = evaluated(
        replace(form, options={"lower_is_better": True}), EXAMPLE, tmp_path
    )

    assert ev["RR"] == TURNED
    assert [form.warned in warning for warning in ev.warnings] == [True]
    assert told.mean == pytest.approx(BY_HAND, abs=1e-15)
    assert told.warnings == ()


@pytest.mark.parametrize("form", [form for form in ALL if form.refused], ids=ids)
def test_a_form_is_refused_in_one_sentence(form: Form, tmp_path: Path) -> None:
    with pytest.raises(RankineError) as caught:
        evaluated(form, EXAMPLE, tmp_path)

    text = str(caught.value)
    assert re.search(form.refused, text)
    assert "\n" not in text
    assert len(text) < 500
    if form.remedy is not None:
        qrels, run, options = form.remedy(EXAMPLE, tmp_path)
        assert rk.evaluate(qrels, run, METRICS, **options).mean == pytest.approx(
            BY_HAND
        )


def turned(example: Example) -> Example:
    """Return the same lists from their ends."""
    return replace(example, lists=[items[::-1] for items in example.lists])


@pytest.mark.parametrize(
    "form", [form for form in FORMS if not form.refused and not form.warned], ids=ids
)
def test_the_order_of_lists_matters_in_every_form(form: Form, tmp_path: Path) -> None:
    assert evaluated(form, turned(EXAMPLE), tmp_path)["RR"] == pytest.approx(TURNED)


# --- other functions


@pytest.mark.parametrize("form", FORMS, ids=ids)
def test_all_functions_read_the_same(form: Form, tmp_path: Path) -> None:
    if form.refused or form.warned:
        pytest.skip("is not read")

    def pair() -> Pair:
        return form.make(EXAMPLE, tmp_path)

    qrels, run = pair()
    compared = rk.compare(qrels, {"a": run, "b": run}, METRICS)
    assert [ev["RR"] for ev in compared.evaluations.values()] == [BY_HAND["RR"]] * 2
    checked = rk.check(*pair())
    assert (checked.both["queries_in_both"], checked.both["relevant_found"]) == (3, 1)
    assert rk.reconcile(*pair(), "RR").rows[0].value == BY_HAND["RR"]
    accumulator = rk.Accumulator(METRICS)
    accumulator.update(*pair())
    assert accumulator.result().mean == pytest.approx(BY_HAND, abs=1e-15)
    gate = tmp_path / "gate.json"
    rk.gate(*pair(), gate, metrics="RR", update=True)
    assert rk.gate(*pair(), gate, {"RR": 0.1}).passed
    assert rk.similarity(pair()[1], pair()[1], "Jaccard@4")["Jaccard@4"] == 1


def test_a_run_of_ranx_has_its_name(tmp_path: Path) -> None:
    form = next(form for form in FORMS if form.name == "ranx, Qrels and Run")

    assert evaluated(form, EXAMPLE, tmp_path).name == "bm25"


# --- laws


@st.composite
def examples(draw: st.DrawFn, *, square: bool) -> Example:
    """Draw lists of items, without ties, and one relevant item each."""
    n = draw(st.integers(2, 4))
    corpus = draw(st.integers(3, 8))
    width = draw(st.integers(1, corpus))
    places = st.permutations(range(corpus))
    lengths = [width if square else draw(st.integers(1, corpus)) for _ in range(n)]
    lists = [draw(places)[:length] for length in lengths]
    gold = [draw(st.integers(0, corpus - 1)) for _ in range(n)]
    falling = [[(corpus - k) / corpus for k in range(len(items))] for items in lists]
    return Example([list(items) for items in lists], gold, falling)


@pytest.mark.parametrize("form", [form for form in ALL if form.lawful], ids=ids)
@settings(max_examples=12)
@given(data=st.data())
def test_a_form_gives_the_numbers_of_dicts_or_a_sentence(
    form: Form, data: st.DataObject
) -> None:
    example = data.draw(examples(square=form.square))
    wanted = rk.evaluate(example.truth, example.run, METRICS).mean
    with tempfile.TemporaryDirectory() as folder:
        try:
            ev = evaluated(form, example, Path(folder))
        except RankineError:
            return
    assert not form.refused
    if form.warned:
        assert ev.warnings or max(map(len, example.lists)) == 1
    else:
        assert ev.mean == pytest.approx(wanted)


# --- messages


def longest_value(text: str) -> int:
    """Return the length of the longest value that a message shows in quotes."""
    return max(
        map(len, re.findall(r"'[^']*'|\{.*\}|\[.*\]|\w+\(.*\)", text)), default=0
    )


LONG = "x" * 5000
SHOWN: dict[str, Callable[[], Any]] = {
    "an item that is judged twice": lambda: rk.evaluate({"q": [LONG, LONG]}, {"q": []}),
    "an item that is listed twice": lambda: rk.evaluate(
        {"q": {"a"}}, {"q": [{"id": LONG, "score": 1}, {"id": LONG, "score": 2}]}
    ),
    "a score": lambda: rk.evaluate({"q": {"a": 1}}, {"q": {"a": LONG}}),
    "a grade": lambda: rk.evaluate({"q": {"a": LONG}}, {"q": ["a"]}),
    "a query": lambda: rk.evaluate({LONG: {"a": None}}, {"q": ["a"]}),
    "an item that is none": lambda: rk.evaluate({"q": {"a"}}, {"q": ["a", [LONG]]}),
    "two types": lambda: rk.evaluate({"q": {"a"}}, {"q": [LONG, 7]}),
    "a tuple": lambda: rk.evaluate({"q": {"a"}}, {"q": [(LONG, 1, 2)]}),
    "rows": lambda: rk.evaluate({"q": {"a"}}, [(LONG, LONG, "x")]),
    "pairs": lambda: rk.evaluate({"q": {"a"}}, {"q": [(LONG, LONG)]}),
}


@pytest.mark.parametrize("name", SHOWN)
def test_messages_show_the_first_letters_of_a_value(name: str) -> None:
    with pytest.raises(RankineError) as caught:
        SHOWN[name]()

    assert LONG[:60] in str(caught.value)
    assert len(str(caught.value)) < 500
