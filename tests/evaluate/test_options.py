"""One record of options for the function, the command and the batches."""

from __future__ import annotations

from dataclasses import MISSING, fields
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

import rankine as rk
from rankine._evaluate.options import Options
from rankine._io.sources import PLAIN, Reading
from rankine.cli.evaluate import command
from rankine.errors import ParameterError

if TYPE_CHECKING:
    import click

_FILES = "files"
_OTHERWISE = {
    "name": "NAME=RUN",
    "keep": "--worst",
    "columns": "--col",
}
"""Options that have another form on the command line."""


def _of(function: Any) -> dict[str, Any]:
    """Return the options of a function, with their defaults."""
    return {
        name: parameter.default
        for name, parameter in signature(function).parameters.items()
        if parameter.kind is Parameter.KEYWORD_ONLY
    }


def _of_record() -> dict[str, Any]:
    options = {option.name: option.default for option in fields(Options)}
    assert options.pop(_FILES) is MISSING
    return options


def test_the_record_has_the_options_of_evaluate() -> None:
    assert _of_record() == _of(rk.evaluate)


@pytest.mark.parametrize("function", [rk.reconcile, rk.check, rk.similarity])
def test_other_functions_spell_them_alike(function: Any) -> None:
    own = {"conventions", "k"}
    taken = {name: value for name, value in _of(function).items() if name not in own}
    assert taken.items() <= _of_record().items()


def test_the_command_has_all_of_them() -> None:
    options: list[click.Parameter] = command.params
    named = {option.name for option in options}
    assert _of_record().keys() - _OTHERWISE.keys() <= named


def test_nothing_said_reads_as_it_comes() -> None:
    options = Options()
    assert options.reading("qrels", subtopics=False) is PLAIN
    assert options.reading("run", by_rank=False) is PLAIN


def test_each_role_is_read_by_what_concerns_it() -> None:
    options = Options(
        columns={"item": "doc", "features": "genre"},
        grades={"good": 1},
        lower_is_better=True,
        lenient=True,
    )
    shared = {"item": "doc"}
    for role in ("run", "reference"):
        assert options.reading(role, by_rank=True) == Reading(
            columns=shared, lower_is_better=True, lenient=True, by_rank=True
        )
    assert options.reading("qrels") == Reading(
        columns=shared, grades={"good": 1}, lenient=True
    )
    assert options.of_items == {"item": "doc", "features": ("genre",)}


def test_what_is_said_of_files_stays_said() -> None:
    files = {"run": Reading(format="csv"), "train": Reading(format="tsv")}
    options = Options(columns={"item": "1"}, lenient=True, files=files)
    assert options.reading("run") == Reading(
        format="csv", columns={"item": "1"}, lenient=True
    )
    assert options.reading("qrels") == Reading(columns={"item": "1"}, lenient=True)


def test_columns_can_be_said_of_one_kind_of_data() -> None:
    columns = {
        "item": "doc",
        "run.item": "hit",
        "qrels.query": "topic",
        "items.item": "id",
    }
    options = Options(columns=columns, items={"a": "x"})
    options.check()
    every = {"item": "doc"}
    assert options.reading("run").columns == {"item": "hit"}
    assert options.reading("reference").columns == {"item": "hit"}
    assert options.reading("qrels").columns == every | {"query": "topic"}
    assert options.reading("train").columns == every | {"query": "topic"}
    assert options.reading("items").columns == {"item": "id"}
    assert options.reading("weights") is PLAIN


def test_columns_of_the_run_alone() -> None:
    qrels = pl.DataFrame({"query": ["q"], "doc": ["a"], "grade": [1]})
    run = pl.DataFrame({"query": ["q", "q"], "hit": ["x", "a"], "score": [2.0, 1.0]})
    columns = {"qrels.item": "doc", "run.item": "hit"}
    assert rk.evaluate(qrels, run, "RR", columns=columns)["RR"] == 1 / 2
    with pytest.raises(ParameterError, match=r"'rum\.item'"):
        rk.evaluate(qrels, run, "RR", columns={"rum.item": "hit"})


def test_columns_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(ParameterError, match="columns"):
        rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP", columns=pd.NA)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"weights.foo": "x"}, "'foo'"),
        ({"items.query": "x"}, "'query'"),
        ({"weights.query": "x"}, "no weights were given; give weights= or --weights"),
        ({"items.item": "x"}, "no items were given; give items= or --items"),
    ],
)
def test_columns_of_what_is_not_there_are_refused(
    columns: dict[str, str], said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP", columns=columns)
