"""rankine gate: a project whose runs pass, fail, cannot be told and are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import rankine as rk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.conftest import Command, Printed

N = 40
MARGIN = ("--margin", "RR=0.01")


def run_of(places: Sequence[int], prefix: str = "") -> str:
    """Return a run of three items per query, the relevant one at a place."""
    lines = []
    for number, place in enumerate(places):
        items = ["x", "y"]
        items.insert(place - 1, "a")
        lines += [
            f"q{number:02} Q0 {prefix}{item} {rank} {9 - rank} t"
            for rank, item in enumerate(items, 1)
        ]
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "qrels.txt": "".join(f"q{n:02} 0 a 1\n" for n in range(N)),
        "old.run": run_of([2] * N),
        "better.run": run_of([1] * 20 + [2] * 20),
        "worse.run": run_of([3] * 20 + [2] * 20),
        "unsure.run": run_of([1] * 8 + [3] * 25 + [2] * 7),
        "nine.run": run_of([3] * 9 + [2] * 31),
        "few.run": run_of([3] * 5 + [2] * 35),
        "lost.run": "".join(run_of([2] * N).splitlines(keepends=True)[9:]),
        "new_ids.run": run_of([2] * N, "chunk-"),
        "other_qrels.txt": "".join(f"q{n:02} 0 a 2\n" for n in range(N)),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def gate(rankine: Command) -> Command:
    """Run the gate of a baseline that the old run made."""

    def run(*arguments: str) -> Printed:
        words = arguments if "--baseline" in arguments else (*GATE, *arguments)
        return rankine("gate", *words)

    made = rankine("gate", "qrels.txt", "old.run", *GATE, "--update", "-m", "RR")
    assert made.code == 0, made.err
    return run


GATE = ("--baseline", "gate.json")


@pytest.mark.parametrize(
    ("run", "more", "code", "words"),
    [
        ("old.run", [], 0, "against gate.json: unchanged\nRR: unchanged at 0.5000"),
        ("better.run", [], 0, "RR: not worse: 0.5000 to 0.7500"),
        ("worse.run", [], 1, "against gate.json: worse\nRR: worse: 0.5000 to 0.4167"),
        ("worse.run", ["--margin", "RR=0.5"], 0, "RR: not worse (fell, within the"),
        ("unsure.run", [], 0, "40 queries can detect a change of 0.0841; the mean"),
        ("unsure.run", ["--strict"], 1, "RR: cannot tell: 40 queries can"),
        ("nine.run", [], 1, "RR: worse: 0.5000 to 0.4625"),
        ("few.run", [], 0, "RR: cannot tell: only 5 of 40 queries moved"),
        ("few.run", [], 0, "set a floor: rankine evaluate --fail-under RR=VALUE\n"),
        ("few.run", ["--strict"], 1, "RR: cannot tell: only 5 of 40 queries moved"),
        (
            "lost.run", [], 1,
            "gate.json: worse\nlost: 3 queries had items or values in the baseline",
        ),
        (
            "lost.run", [], 1,
            "have none now (q00, q01, q02); --allow-missing 3 accepts that\n",
        ),
        ("lost.run", ["--allow-missing", "2"], 1, "--allow-missing 3 accepts that"),
        ("lost.run", ["--allow-missing", "3"], 0, "gate.json: cannot tell\nRR: cannot"),
        (
            "lost.run", ["--allow-missing", "7"], 0,
            "(q00, q01, q02), which --allow-missing 7 accepts\n",
        ),
        ("better.run", ["--strict"], 0, "gate.json: not worse"),
    ],
)  # fmt: skip
def test_what_it_says_and_how_it_ends(
    run: str, more: list[str], code: int, words: str, gate: Command
) -> None:
    done = gate("qrels.txt", run, *MARGIN, *more)

    assert (done.code, done.err) == (code, "")
    assert words in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["qrels.txt", "old.run"], 2, "no margin is given for RR, which gate.json has"),
        (["qrels.txt", "old.run", "--margin", "AP=1"], 2, "not among RR"),
        (["qrels.txt", "old.run", "--margin", "RR=x"], 2, "'x' is not a number"),
        (["qrels.txt", "old.run", "--margin", "RR"], 2, "expected METRIC=SIZE"),
        (["qrels.txt", "old.run", *MARGIN, "-m", "AP"], 2, "only with update=True"),
        (
            ["qrels.txt", "old.run", "--update", "-m", "NumRel"], 2,
            "for it instead: rankine evaluate --fail-under NumRel=VALUE",
        ),
        (
            ["qrels.txt", "old.run", "--update", "-m", "Coverage", "--catalog", "9"], 2,
            "for it instead: rankine evaluate --fail-under Coverage=VALUE",
        ),
        (
            ["qrels.txt", "old.run", *MARGIN, "--allow-missing", "-1"], 2,
            "-1 is too small; give at least 0",
        ),
        (
            ["qrels.txt", "old.run", *MARGIN, "--json", "--markdown"], 2,
            "--json and --markdown cannot be combined",
        ),
        (["qrels.txt", *MARGIN], 2, "missing argument 'RUN'"),
        (["-", "-", *MARGIN], 2, "standard input (-) is named more than once"),
        (["other_qrels.txt", "old.run", *MARGIN], 3, "judgements of 40 queries"),
        (["qrels.txt", "old.run", *MARGIN, "-c", "ranx"], 3, "tie of the convention"),
        (["qrels.txt", "old.run", *MARGIN, "-l", "2"], 3, "of RR was 1 and is now 2"),
        (["qrels.txt", "old.run", *MARGIN, "-M", "2"], 3, "depth of the request"),
        (["qrels.txt", "new_ids.run", *MARGIN], 3, "renumbered"),
        (["qrels.txt", "no.run", *MARGIN], 3, "no.run"),
        (
            ["qrels.txt", "old.run", "--baseline", "no.json", *MARGIN], 2,
            "rankine gate QRELS RUN --baseline no.json --update -m nDCG@10",
        ),
        (
            ["qrels.txt", "old.run", "--baseline", "no.json", "--update"], 2,
            "no.json is new, so it needs metrics",
        ),
        (["qrels.txt", "old.run", "--baseline", "old.run", *MARGIN], 3, "not a base"),
        (["qrels.txt", "old.run", "--baseline", ".", *MARGIN], 3, "cannot be read"),
    ],
)  # fmt: skip
def test_what_is_refused_in_one_sentence(
    arguments: list[str], code: int, words: str, gate: Command
) -> None:
    done = gate(*arguments)

    assert (done.code, done.out) == (code, "")
    assert words in done.err
    assert len(done.err.splitlines()) == 1


def test_a_baseline_is_needed(rankine: Command) -> None:
    assert rankine("gate", "qrels.txt", "old.run", *MARGIN).code == 2


def test_update_keeps_metrics_and_the_first_baseline(gate: Command) -> None:
    assert gate("qrels.txt", "worse.run", "--update").code == 0

    done = gate("qrels.txt", "worse.run", *MARGIN)
    assert "unchanged at 0.4167" in done.out
    assert "since the first baseline -0.0833" in done.out
    assert gate("qrels.txt", "old.run", *MARGIN).code == 0


def test_several_metrics(rankine: Command) -> None:
    metrics = ("-m", "RR", "-m", "P@1", "-m", "AP")
    rankine("gate", "qrels.txt", "old.run", *GATE, "--update", *metrics)
    margins = (*MARGIN, "--margin", "P@1=0.01", "--margin", "AP=0.5")

    done = rankine("gate", "qrels.txt", "worse.run", *GATE, *margins)

    assert done.code == 1
    assert "RR: worse" in done.out
    assert "P@1: unchanged" in done.out
    assert "AP: not worse" in done.out


@pytest.mark.parametrize("run", ["unsure.run", "worse.run"])
def test_it_prints_what_gate_returns(run: str, gate: Command) -> None:
    expected = rk.gate("qrels.txt", run, "gate.json", {"RR": 0.01})

    done = gate("qrels.txt", run, *MARGIN)
    assert done.out == f"{expected}\n"
    done = gate("qrels.txt", run, *MARGIN, "--json")
    record = json.loads(done.out)
    assert record.pop("rankine") == rk.__version__
    assert record == expected.to_dict()
    done = gate("qrels.txt", run, *MARGIN, "--markdown")
    assert done.out == f"{expected.to_markdown()}\n"
    assert done.code == expected.exit_code


def test_a_failed_gate_names_queries(gate: Command) -> None:
    done = gate("qrels.txt", "worse.run", *MARGIN)
    assert "queries that fell most on RR:\n  q00: 0.5000 to 0.3333\n  q01: " in done.out
    assert "  q09: 0.5000 to 0.3333\n" in done.out
    assert "q10" not in done.out

    record = json.loads(gate("qrels.txt", "worse.run", *MARGIN, "--json").out)
    assert [own["query"] for own in record["metrics"][0]["fell"]] == [
        f"q{n:02}" for n in range(10)
    ]
    assert record["metrics"][0]["fell"][3] == {
        "query": "q03", "before": 1 / 2, "after": 1 / 3,
    }  # fmt: skip
    assert record["metrics"][0]["p"] < 0.0001
    record = json.loads(gate("qrels.txt", "lost.run", *MARGIN, "--json").out)
    assert (record["lost"], record["allow_missing"]) == (["q00", "q01", "q02"], 0)
    assert (record["verdict"], record["exit_code"]) == ("worse", 1)
    passed = gate("qrels.txt", "unsure.run", *MARGIN)
    assert "most on" not in passed.out


def test_metrics_come_from_the_margins(rankine: Command) -> None:
    words = ("gate", "qrels.txt", "old.run", *GATE, *MARGIN, "--margin", "AP=0.1")
    made = rankine(*words, "--update")

    assert (made.code, made.err) == (0, "")
    assert "AP: the baseline is 0.5000 over 40 queries" in made.out
    assert rankine(*words).code == 0


def test_it_says_how_files_were_read(gate: Command) -> None:
    plain, told = (gate("qrels.txt", "old.run", *MARGIN, *v) for v in ((), ("-v",)))

    assert plain.err == ""
    assert told.out == plain.out
    assert [line.split(" ")[1] for line in told.err.splitlines()] == [
        "qrels.txt:", "old.run:",
    ]  # fmt: skip


def test_json_ends_with_the_same_code(gate: Command) -> None:
    done = gate("qrels.txt", "worse.run", *MARGIN, "--json")

    assert done.code == json.loads(done.out)["exit_code"] == 1


def test_files_are_read_as_evaluate_reads_them(
    rankine: Command, tmp_path: Path
) -> None:
    qrels = "".join(f"q{n:02},a,1\n" for n in range(N))
    (tmp_path / "qrels.csv").write_text(f"who,what,much\n{qrels}")
    (tmp_path / "run.csv").write_text(
        "who,what,s\n" + "".join(f"q{n:02},x,1\nq{n:02},a,2\n" for n in range(N))
    )
    columns = ("query=who", "item=what", "grade=much", "score=s")
    files = [word for own in columns for word in ("--col", own)]
    files += ["--lower-is-better", "--baseline", "gate.json"]

    made = rankine(
        "gate", "qrels.csv", "run.csv", *files, "--update", "-m", "RR", "-l", "1"
    )
    assert (made.code, made.err) == (0, "")
    assert "RR: the baseline is 0.5000 over 40 queries" in made.out
    done = rankine("gate", "qrels.csv", "run.csv", *files, *MARGIN, "-l", "1")
    assert (done.code, done.err) == (0, "")


def test_another_training_set_is_refused(rankine: Command, tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("query,item\nq00,x\nq01,y\n")
    more = ("--baseline", "gate.json", "--train", "train.csv")
    made = rankine("gate", "qrels.txt", "old.run", *more, "--update", "-m", "Novelty@3")
    assert made.code == 0, made.err
    (tmp_path / "train.csv").write_text("query,item\nq00,x\nq01,x\n")

    done = rankine("gate", "qrels.txt", "old.run", *more, "--margin", "Novelty@3=0.1")

    assert (done.code, done.out) == (3, "")
    assert (
        "cannot compare with gate.json: the contents of train changed; recreate the"
        in done.err
    )
