"""The output of trec_eval 9 and 10 on a small data set, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankine.cli import main

GOLDEN = Path(__file__).parent / "golden"
QRELS, RUN = GOLDEN / "qrels.txt", GOLDEN / "run.txt"
CONVENTION = {10: "trec_eval", 9: "trec_eval-9"}
MISSING = "q4 "
# trec_eval 10 gives the missing query a made-up document there, see the README.
WITHOUT_MISSING = {"utility.2,-1,0,0"}


def sections(version: int) -> dict[str, str]:
    """Return what each further call printed, by its measure."""
    parts = (GOLDEN / f"measures-{version}.out").read_text().split("## ")[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


def printed(
    capsys: pytest.CaptureFixture[str],
    qrels: Path,
    version: int,
    measure: str,
    *more: str,
) -> str:
    options = ["--style", "trec_eval", "--convention", CONVENTION[version], *more]
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", str(qrels), str(RUN), *options, "-m", measure])
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    return out


@pytest.mark.parametrize("version", [10, 9])
def test_all_trec_is_equal_to_the_byte(
    version: int, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = (GOLDEN / f"trec_eval-{version}.out").read_bytes()

    assert printed(capsys, QRELS, version, "all_trec", "-q").encode() == expected


@pytest.mark.parametrize("version", [10, 9])
def test_without_q_only_the_summary_is_printed(
    version: int, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (GOLDEN / f"trec_eval-{version}.out").read_text().splitlines()
    summary = [line for line in whole if line.split("\t")[1] == "all"]

    assert printed(capsys, QRELS, version, "all_trec").splitlines() == summary


@pytest.mark.parametrize(
    ("version", "measure"),
    [(version, measure) for version in (10, 9) for measure in sections(version)],
)
def test_measures_with_parameters_are_equal_to_the_byte(
    version: int, measure: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels = QRELS
    if measure in WITHOUT_MISSING:
        lines = QRELS.read_text().splitlines(keepends=True)
        qrels = tmp_path / "present.txt"
        qrels.write_text("".join(x for x in lines if not x.startswith(MISSING)))

    assert printed(capsys, qrels, version, measure, "-q") == sections(version)[measure]


def test_the_versions_differ_where_scores_differ_in_double_precision_only() -> None:
    nine, ten = (
        (GOLDEN / f"trec_eval-{version}.out").read_text().splitlines()
        for version in (9, 10)
    )

    assert "relstring             \tq1\t'1--22.3-10'" in nine
    assert "relstring             \tq1\t'1-2-2.3-10'" in ten


def test_relstring_is_not_cut_by_another_measure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q 0 a 1\nq 0 g 1\n")
    run.write_text("".join(f"q Q0 {d} 1 {9 - i} t\n" for i, d in enumerate("xyzuvag")))

    words = ["--style", "trec_eval", "-q", "-m", "P.5", "-m", "relstring"]
    with pytest.raises(SystemExit):
        main(["evaluate", str(qrels), str(run), *words])

    assert "relstring             \tq\t'-----11'\n" in capsys.readouterr().out
