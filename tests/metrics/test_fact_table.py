"""The table of facts in CONTRIBUTING lists what a metric may declare, with examples."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import rankine as rk
from rankine._evaluate.plan import GIVEN_BY
from rankine._metrics.lists.kind import LISTED, WORDS
from rankine._metrics.metric import REGISTRY, Fact, Summary
from rankine._metrics.similarity.measures import Measure
from rankine._tables.lists import Recommended

rk.metrics()
CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"
GIVEN = {"name", "kernel", "origin"}
"""Facts that `register` takes or finds out by itself."""
USUAL = Fact("usual", np.zeros)
"""A metric that declares nothing."""
DECLARED = [fact.name for fact in fields(Fact) if fact.name not in GIVEN]
CHOICES = {"summary": get_args(Summary)} | {
    fact.name: tuple(re.findall(r"'(\w+)'", str(fact.type)))
    for fact in fields(Fact)
    if str(fact.type).startswith("Literal[")
}
"""Fact -> all that it may be, where that is a choice of words."""
FACTS = {**Measure.facts, **LISTED, **REGISTRY}


def rows() -> dict[str, tuple[str, str]]:
    """Return each fact of the table with its values and its example."""
    text = CONTRIBUTING.read_text().split("### Facts")[1].split("\n## ")[0]
    found = re.findall(r"^\| `(\w+)` \| (.+?) \| .+ \| `(\w+)` \|$", text, re.MULTILINE)
    return {name: (values, example) for name, values, example in found}


def test_every_fact_is_in_the_table() -> None:
    assert list(rows()) == DECLARED


def test_what_lists_need_is_in_a_table() -> None:
    text = CONTRIBUTING.read_text().split("| it needs |")[1].split("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", text, re.MULTILINE)
    words = {need: (given, there) for need, given, there in listed}
    table = {found.name for found in fields(Recommended)}

    assert set(words) == set(WORDS) == set(GIVEN_BY)
    for need, (given, there) in words.items():
        assert tuple(re.findall(r"`(\w+)`", given)) == GIVEN_BY[need]
        assert set(re.findall(r"`(\w+)`", there)) <= table


@pytest.mark.parametrize("name", DECLARED)
def test_the_example_declares_it(name: str) -> None:
    _, example = rows()[name]

    assert getattr(FACTS[example], name) != getattr(USUAL, name)


@pytest.mark.parametrize("name", CHOICES)
def test_all_values_are_named(name: str) -> None:
    values, _ = rows()[name]

    assert tuple(re.findall(r"`(\w+)`", values)) == CHOICES[name]
