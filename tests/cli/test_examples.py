"""What `rankine` and `rankine metrics` show can be typed, and does what they say."""

from __future__ import annotations

import doctest
import re
from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine._metrics.similarity.measures import Measure

if TYPE_CHECKING:
    from tests.cli.conftest import Command

NAMES = list(dict.fromkeys([*rk.metrics(), *Measure.facts]))
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


class _Rounded(doctest.OutputChecker):
    """Compares numbers to as many decimals as are shown."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        del optionflags
        wanted, found = NUMBER.findall(want), NUMBER.findall(got)
        close = len(wanted) == len(found) and all(
            abs(float(one) - float(other)) <= 10.0 ** -len(one.partition(".")[2])
            for one, other in zip(wanted, found, strict=True)
        )
        words = [" ".join(NUMBER.sub("#", text).split()) for text in (want, got)]
        return close and words[0] == words[1]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_metric_run_as_they_are_shown(
    name: str, rankine: Command
) -> None:
    shown = rankine("metrics", name).out
    examples = shown.partition("\nExamples\n")[2]

    parsed = doctest.DocTestParser().get_doctest(examples, {}, name, None, None)
    said: list[str] = []
    done = doctest.DocTestRunner(_Rounded(), verbose=False).run(parsed, out=said.append)

    assert done.attempted >= 2
    assert done.failed == 0, "".join(said)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_metric_use_public_names_only(
    name: str, rankine: Command
) -> None:
    shown = rankine("metrics", name).out

    assert ">>> import rankine as rk\n" in shown
    assert "from rankine" not in shown
    assert set(re.findall(r"\brk\.(\w+)", shown)) <= set(rk.__all__)


def test_a_wrong_example_would_be_seen() -> None:
    assert not _Rounded().check_output("0.51\n", "0.53\n", 0)
    assert not _Rounded().check_output("{'P': 0.5}\n", "{'R': 0.5}\n", 0)
    assert _Rounded().check_output("{'P': 0.333}\n", "{'P': 0.3333}\n", 0)


def test_without_arguments_there_is_help(rankine: Command) -> None:
    nothing, asked = rankine(), rankine("--help")

    assert nothing == asked
    assert nothing.code == 0
    assert nothing.err == ""
    assert nothing.out.startswith("Usage: rankine [OPTIONS] ")
    assert "\n  evaluate     Evaluate runs against judgements.\n" in nothing.out
