"""rankine trec_eval: the arguments of trec_eval, and its lines to the byte."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rankine.cli import main
from rankine.cli.trec_eval import main as own_main

Call = Callable[..., tuple[int, str, str]]

QRELS = "q1 0 a 1\nq1 0 b 2\nq1 0 c 0\nq2 0 a 1\nq3 0 z 1\n"
RUN = """\
q1 Q0 c 1 3.0 mine
q1 Q0 b 2 2.0 mine
q1 Q0 x 3 1.0 mine
q2 Q0 x 1 2.0 mine
q2 Q0 a 2 1.0 mine
"""
MAP = {"q1": (1 / 2) / 2, "q2": 1 / 2}
SKIPPED = "rankine: 1 judged query not in the run, left out (q3); -c counts them as 0\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS)
    Path("run").write_text(RUN)


@pytest.fixture
def trec_eval(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["trec_eval", *words])
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return call


def line(name: str, query: str, value: str | float) -> str:
    shown = value if isinstance(value, str) else f"{value:.4f}"
    return f"{name:<22}\t{query}\t{shown}\n"


MEAN = line("map", "all", sum(MAP.values()) / 2)
EACH = "".join(line("map", query, value) for query, value in MAP.items())


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "map", "qrels", "run"],
        ["-mmap", "qrels", "run"],
        ["--measure", "map", "qrels", "run"],
        ["--measure=map", "qrels", "run"],
        ["--mea=map", "qrels", "run"],
        ["qrels", "run", "-m", "map"],
        ["-m", "map", "--", "qrels", "run"],
    ],
)
def test_arguments_as_getopt_reads_them(trec_eval: Call, words: list[str]) -> None:
    assert trec_eval(*words) == (0, MEAN, SKIPPED)


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (["-q"], EACH + MEAN),
        (["-qn"], EACH),
        (["--query_eval_wanted", "--nosummary"], EACH),
        (["-n"], ""),
        (["-l2"], line("map", "all", (1 / 2) / 2)),
        (["-M1"], line("map", "all", 0.0)),
        (["-J"], line("map", "all", ((1 / 2) / 2 + 1) / 2)),
        (["-remove-unjudged"], line("map", "all", ((1 / 2) / 2 + 1) / 2)),
        (["-qD0.q2"], EACH.splitlines(keepends=True)[1] + line("map", "all", 1 / 2)),
        (["-o", "-T", "trec_results", "-Rqrels"], MEAN),
    ],
)
def test_options(trec_eval: Call, words: list[str], out: str) -> None:
    assert trec_eval("-mmap", *words, "qrels", "run") == (0, out, SKIPPED)


def test_the_complete_set_has_queries_that_the_run_misses(trec_eval: Call) -> None:
    mean = line("map", "all", sum(MAP.values()) / 3)

    assert trec_eval("-c", "-m", "map", "qrels", "run") == (0, mean, "")


def test_the_collection_counts_in_utility(trec_eval: Call) -> None:
    _, out, _ = trec_eval("-N10", "-mutility.0,0,0,1", "qrels", "run")

    # Neither relevant nor retrieved: 10 less a, b, c and x, and less a and x.
    assert out == line("utility_0,0,0,1", "all", ((10 - 4) + (10 - 2)) / 2)


def test_first_parameters_win(trec_eval: Call) -> None:
    code, out, err = trec_eval("-mP.2", "-mP.1", "-mofficial", "-c", "qrels", "run")

    assert code == 0
    assert err == "rankine: P.1: left out, as P.2 was asked for first\n"
    assert [own for own in out.splitlines() if own.startswith("P_")] == [
        line("P_2", "all", (1 / 2 + 1 / 2) / 3).rstrip("\n")
    ]


def test_the_run_may_be_standard_input(
    trec_eval: Call,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(RUN.encode()))
    monkeypatch.setattr(sys, "stdin", stream)

    assert trec_eval("-m", "map", "qrels", "-")[:2] == (0, MEAN)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["qrels"], 1, "expected QRELS and RUN, got 1 file"),
        (["-x", "qrels", "run"], 1, "option -x not recognized"),
        (["--R=qrels", "qrels", "run"], 1, "option --R not a unique prefix"),
        (["-m"], 1, "option -m requires argument"),
        (["-mnope", "qrels", "run"], 1, "unknown metric 'nope'"),
        (["-lmany", "qrels", "run"], 1, "-l takes a whole number, got 'many'"),
        (["-mprefs", "qrels", "run"], 1, "prefs_num_prefs_poss needs preferences"),
        (["-Rqrels_jg", "-mmap", "qrels", "run"], 1, "map needs grades"),
        (["-D0.q9", "-mmap", "qrels", "run"], 1, "-D names query 'q9'"),
        (["-", "-"], 1, "standard input (-) is named twice"),
        (["absent", "run"], 2, "absent: no such file"),
        (["qrels", "absent"], 2, "absent: no such file"),
        (["-Rfoo", "qrels", "run"], 2, "-R takes qrels, prefs, qrels_prefs, qrels_jg"),
        (["-Tfoo", "qrels", "run"], 2, "-T takes trec_results, got 'foo'"),
        (["-Zabsent", "qrels", "run"], 2, "absent: cannot be read"),
        (["-Rprefs", "-mprefs", "qrels", "run"], 2, "qrels:1: expected 5 columns"),
    ],
)
def test_what_ends_it(trec_eval: Call, words: list[str], code: int, said: str) -> None:
    ended, out, err = trec_eval(*words)

    assert (ended, out) == (code, "")
    assert err.splitlines()[-1].startswith(f"rankine: {said}")


def test_help_and_version(trec_eval: Call) -> None:
    code, out, _ = trec_eval("-h", "anything")
    assert code == 0
    assert out.startswith("Usage: rankine trec_eval [-q]")
    code, out, err = trec_eval("--version")
    assert (code, out) == (0, "")
    assert err.startswith("trec_eval version 10.0 (rankine ")


def test_it_has_a_name_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["rankine-trec-eval", "-mmap", "qrels", "run"])
    with pytest.raises(SystemExit):
        own_main()

    assert capsys.readouterr().out == MEAN


def test_standard_scores(trec_eval: Call) -> None:
    Path("scores").write_text(
        "q1 map 0.5 0.25\nq1 num_ret 3 0\nq1 gm_map 0 2\nq2 map 0.5 0.1\n"
        "q2 num_ret 3 0\nq2 gm_map 0 2\n"
    )
    words = "-q", "-mmap", "-mnum_ret", "-mgm_map", "-mnum_q", "-Zscores"
    _, out, _ = trec_eval(*words, "qrels", "run")

    first, second = (MAP["q1"] - 0.5) / 0.25, (MAP["q2"] - 0.5) / 0.1
    logs = [math.log(MAP[query]) / 2 for query in ("q1", "q2")]
    assert out == "".join(
        "Z" + line(name, query, value)
        for name, query, value in [
            ("num_ret", "q1", 0.0),
            ("map", "q1", first),
            ("num_ret", "q2", -1e6),
            ("map", "q2", second),
            ("num_q", "all", 2.0),
            ("num_ret", "all", -1e6),
            ("map", "all", (first + second) / 2),
            ("gm_map", "all", math.exp(sum(logs) / 2)),
        ]
    )


def test_several_judges_are_averaged(trec_eval: Call) -> None:
    Path("judges").write_text("q1 A b 1\nq1 B b 0\nq1 B c 1\nq2 A a 1\n")
    words = "-q", "-Rqrels_jg", "-mmap_avgjg", "-mP_avgjg.1", "-mnum_q"
    _, out, _ = trec_eval(*words, "judges", "run")

    first = (1 / 2 + 1 / 1) / 2  # A finds b at rank 2, B finds c at rank 1
    assert out == (
        line("map_avgjg", "q1", first)
        + line("P_avgjg_1", "q1", (0 + 1) / 2)
        + line("map_avgjg", "q2", 1 / 2)
        + line("P_avgjg_1", "q2", 0.0)
        + line("num_q", "all", "2")
        + line("map_avgjg", "all", (first + 1 / 2) / 2)
        + line("P_avgjg_1", "all", ((0 + 1) / 2 + 0) / 2)
    )


def test_preferences_of_files(trec_eval: Call) -> None:
    Path("prefs").write_text("q1 A 0 b 2\nq1 A 0 c 1\nq1 A 0 d 0\nq3 A 0 z 1\n")
    code, out, err = trec_eval("-Rprefs", "-q", "-mprefs", "prefs", "run")

    # c is above b; d is not retrieved.
    values: dict[str, str | float] = {
        "num_prefs_poss": "3",
        "num_prefs_ful": "2",
        "num_prefs_ful_ret": "0",
        "simp": 2 / 3,
        "pair": 2 / 3,
        "avgjg": 2 / 3,
    }
    assert code == 0
    assert err == SKIPPED
    assert out == (
        "".join(line(f"prefs_{name}", "q1", value) for name, value in values.items())
        + line("runid", "all", "mine")
        + line("num_q", "all", "1")
        + "".join(line(f"prefs_{name}", "all", value) for name, value in values.items())
    )


def test_grades_as_preferences(trec_eval: Call) -> None:
    _, out, _ = trec_eval("-Rqrels_prefs", "-c", "-mprefs_simp", "qrels", "run")

    # b before a and c, a before c: fulfilled is b, which is retrieved, before a.
    assert out == line("prefs_simp", "all", (1 / 3 + 0 + 0) / 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 A 0 b 2\nq1 A 0 b 1\n", "prefs:2: item b is judged twice"),
        ("q1 A 0 b two\n", "prefs:1: 'two' is not a number"),
        ("q1 A 0 b 1\nq1 A 1 b 0\n", "item b has level 0 in one part and more"),
        (
            "q1 A 0 b 2\nq1 A 0 c 1\nq1 A 1 c 2\nq1 A 1 b 1\n",
            "group A of query q1 prefers an item to one that it prefers to the first",
        ),
        ("q9 A 0 b 1\n", "no judged query is in the run"),
    ],
)
def test_preferences_that_cannot_be(trec_eval: Call, text: str, said: str) -> None:
    Path("prefs").write_text(text)
    code, out, err = trec_eval("-Rprefs", "-mprefs", "prefs", "run")

    assert (code, out) == (2, "")
    assert said in err


def test_the_share_judged_of_all_lists_together(trec_eval: Call) -> None:
    Path("run").write_text(RUN + "q9 Q0 a 1 1.0 mine\n")
    _, out, _ = trec_eval("-c", "-mjudged.1,3", "-mmap", "qrels", "run")

    # Of q1 c and b, of q2 a; q9 has no judgements.
    assert out.splitlines(keepends=True)[1:] == [
        line("judged_1", "all", 1 / 3),
        line("judged_3", "all", (2 + 1 + 0) / (3 + 2 + 1)),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 Q0 a 1 1.0 x\nq1 Q0 a 2 0.5 x\n", "item 'a' appears twice"),
        ("q1 Q0 a 1 nan x\nq1 Q0 b 2 0.5 x\n", "is not a number"),
    ],
)
def test_no_message_names_an_option_of_other_commands(
    trec_eval: Call, text: str, said: str
) -> None:
    Path("run").write_text(text)
    code, out, err = trec_eval("-mmap", "qrels", "run")

    assert (code, out) == (2, "")
    assert said in err
    assert "lenient" not in err
