"""rankine metrics, demo and --help: what there is, explained."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from click import Context
from click.testing import CliRunner

import rankine as rk
from rankine.cli import cli
from rankine.data import QRELS as SAMPLE_QRELS
from rankine.data import RUNS as SAMPLE_RUNS

if TYPE_CHECKING:
    from tests.shell import Shell

METRICS = list(rk.metrics())


def test_metrics_lists_every_metric(shell: Shell) -> None:
    done = shell.run("metrics")

    assert done.code == 0
    heads = [line for line in done.out.splitlines() if line and line[0] != " "]
    names = {head.split("(")[0].split("@")[0].split()[0] for head in heads}
    assert names == set(METRICS)


@pytest.mark.parametrize("name", ["nDCG", "ndcg", "ndcg_cut.10", "NDCG@5"])
def test_one_metric_is_explained(name: str, shell: Shell) -> None:
    done = shell.run("metrics", name)

    assert done.code == 0
    assert "Formula\n  nDCG@k = DCG@k / " in done.out
    assert "Parameters\n" in done.out
    assert "gain: " in done.out
    assert "Examples\n" in done.out
    assert ">>> " in done.out
    assert "Range 0 to 1" in done.out


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_can_be_explained(name: str, shell: Shell) -> None:
    done = shell.run("metrics", name)

    assert done.code == 0
    assert done.out.startswith(name)
    assert all(word in done.out for word in ("Formula", "Parameters", "Examples"))


def test_metrics_as_json(shell: Shell) -> None:
    everything = json.loads(shell.run("metrics", "--json").out)
    one = json.loads(shell.run("metrics", "nDCG", "--json").out)

    assert [entry["name"] for entry in everything] == METRICS
    assert [entry["name"] for entry in one] == ["nDCG"]
    assert one[0]["parameters"]["gain"] == "linear"
    assert one[0]["at"] == "k"
    assert one[0]["range"] == [0, 1]


def test_demo(shell: Shell) -> None:
    done = shell.run("demo")

    assert done.code == 0
    assert done.err == ""
    assert all(path.stem in done.out for path in SAMPLE_RUNS)
    assert "rankine evaluate qrels.txt" in done.out


def test_demo_shows_what_evaluate_shows(shell: Shell) -> None:
    done = shell.run(
        "evaluate", str(SAMPLE_QRELS), *map(str, SAMPLE_RUNS), "-m", "AP", "--json"
    )

    demo = shell.run("demo").out
    for entry in json.loads(done.out):
        assert f"{entry['metrics']['AP']['value']:.4f}" in demo


def test_version(shell: Shell) -> None:
    done = shell.run("--version")

    assert done.code == 0
    assert rk.__version__ in done.out


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", ["", "evaluate", "metrics", "demo"])
def test_help(command: str, flag: str, shell: Shell) -> None:
    done = shell.run(*command.split(), flag)

    assert done.code == 0
    assert done.err == ""
    assert done.out.startswith(f"Usage: rankine {command}".strip())


def test_help_names_every_command(shell: Shell) -> None:
    done = shell.run("--help")

    assert all(name in done.out for name in cli.list_commands(None))  # type: ignore[arg-type]


def test_every_option_of_evaluate_is_explained(shell: Shell) -> None:
    command: Any = cli.get_command(None, "evaluate")  # type: ignore[arg-type]
    text = shell.run("evaluate", "--help").out

    options = [
        option for option in command.params if option.param_type_name == "option"
    ]
    assert all(option.help for option in options)
    assert all(option.opts[-1] in text for option in options)


def test_bounds_of_numbers_are_said_in_words(shell: Shell) -> None:
    gate = shell.run("gate", "--help").out
    experiment = shell.run("experiment", "--help").out

    assert "at least 0" in gate
    assert "1 to 1024" in experiment
    assert "<=x" not in gate + experiment


@pytest.mark.parametrize(
    ("jobs", "said"),
    [
        ("0", "0 is too small; give at least 1"),
        ("1025", "1025 is too large; give at most 1024"),
        ("many", "'many' is not a valid integer"),
    ],
)
def test_numbers_out_of_bounds_are_refused(jobs: str, said: str, shell: Shell) -> None:
    done = shell.run("experiment", "experiment.yaml", "--jobs", jobs)

    assert done.code == 2
    assert said in done.err


def test_click_runs_it_as_well(shell: Shell) -> None:
    done = CliRunner().invoke(
        cli, ["evaluate", shell.path("qrels.txt"), shell.path("a.run"), "--json"]
    )

    assert json.loads(done.output)[0]["run"] == "a.run"


@pytest.mark.parametrize("command", cli.list_commands(Context(cli)))
def test_sentences_have_no_gaps(command: str) -> None:
    shown = CliRunner().invoke(cli, [command, "--help"]).output
    words, _, _ = shown.partition("Options:")

    assert not re.findall(r"\S {3,}\S", words)
