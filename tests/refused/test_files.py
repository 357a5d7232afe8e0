"""Files that are missing, closed, changing, or of no known format."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import rankine as rk
from rankine import errors
from rankine.errors import DataError, FormatError
from tests.io.packed import QRELS, TEXT, written
from tests.refused.refusals import ONE_QUERY, files, refusal, refused, told
from tests.refused.rows import SCORED, Write, in_form

# --- what cannot be opened


def test_01_a_missing_file_suggests_the_nearest(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    missing = tmp_path / "qrel.txt"

    text = refusal(FormatError, missing, run)

    assert text == f"{missing}: no such file; did you mean {str(qrels)!r}?"


def test_a_missing_file_suggests_the_nearest(write: Write) -> None:
    there = write("bm25.run", "q Q0 a 1 0.5 t\n")

    text = refused(errors.FormatError, {"q": {"a"}}, there.with_name("bm52.run"))

    assert "no such file" in text
    assert str(there) in text


def test_01_a_missing_file_without_a_near_one_is_named(tmp_path: Path) -> None:
    qrels, _ = files(tmp_path)
    missing = tmp_path / "no" / "such.run"

    assert refusal(FormatError, qrels, missing) == f"{missing}: no such file"


def test_a_message_is_one_line_whatever_the_name_of_the_file() -> None:
    with pytest.raises(FormatError, match=r"^a\\nb: no such file$"):
        rk.evaluate("a\nb", ONE_QUERY, "RR")


def test_a_path_with_a_nul_is_refused() -> None:
    refused(errors.FormatError, {"q": {"a"}}, "a\0b")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_name_with_brackets_is_that_file_and_no_other(
    suffix: str, tmp_path: Path
) -> None:
    good = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [1.0]})
    other = good.with_columns(item=pl.lit("x"))
    for name, frame in (("run[1]", good), ("run1", other)):
        with (tmp_path / f"{name}.{suffix}").open("wb") as file:
            frame.write_csv(file) if suffix == "csv" else frame.write_parquet(file)

    ev = rk.evaluate({"q": {"a"}}, tmp_path / f"run[1].{suffix}", "RR")

    assert ev["RR"] == 1


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:9/a.run", "https://a.invalid/a.csv", "s3://a/b.parquet",
     "hf://datasets/a/b.parquet", "file:///a.run"],
)  # fmt: skip
def test_an_address_is_refused(address: str) -> None:
    with pytest.raises(FormatError, match="is a URL; only files on disk can be read"):
        rk.read_run(address)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    text = refused(errors.FormatError, {"q": {"a"}}, tmp_path)

    assert text == f"{tmp_path}: is a folder without files"


def test_02_a_folder_without_files_is_told(tmp_path: Path) -> None:
    _, run = files(tmp_path)
    folder = tmp_path / "empty"
    folder.mkdir()

    text = refusal(FormatError, folder, run)

    assert text == f"{folder}: is a folder without files"


def test_02_a_pattern_that_matches_nothing_is_told(tmp_path: Path) -> None:
    qrels, _ = files(tmp_path)
    pattern = tmp_path / "*.none"

    text = refusal(FormatError, qrels, pattern)

    assert text == f"{pattern}: no file matches this pattern"


def test_empty_parts_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "part-0.csv").write_text("query,item,score\n")
    (tmp_path / "part-1.csv").write_text("query,item,score\nq,a,1\n")
    (tmp_path / "part-2.csv").write_text("")

    assert rk.evaluate(ONE_QUERY, tmp_path, "RR")["RR"] == 1
    (tmp_path / "part-1.csv").write_text("")
    with pytest.raises(DataError, match="its files contain no rows"):
        rk.evaluate(ONE_QUERY, tmp_path, "RR")


def test_03_a_file_without_permission_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # root may read everything, so that a mode of the file would not do.
    qrels, run = files(tmp_path)
    opened = Path.open

    def refuse(self: Path, *args: object, **more: object) -> object:
        if self == run:
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, *args, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refuse)

    text = refusal(FormatError, qrels, run)

    assert text == f"{run}: cannot be read (Permission denied)"


def test_03_a_folder_without_permission_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, _ = files(tmp_path)

    def refuse(self: Path) -> object:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "iterdir", refuse)

    text = refusal(FormatError, qrels, tmp_path)

    assert text == f"{tmp_path}: cannot be read (Permission denied)"


def test_devices_are_read(tmp_path: Path) -> None:
    del tmp_path
    with pytest.raises(DataError, match="is empty"):
        rk.evaluate("/dev/null", ONE_QUERY, "RR")


# --- what can be read once, or changes


@pytest.mark.parametrize("other", ["-", "/dev/stdin"])
def test_21_standard_input_twice_is_bad_usage(other: str) -> None:
    text = told(2, "-", other)

    assert text.startswith("standard input (-) is named more than once")


@pytest.mark.slow
def test_21_standard_input_is_read_once(tmp_path: Path) -> None:
    qrels = written(tmp_path, b"q1 0 d1 1\n", "qrels")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "rankine", "evaluate", *arguments, "--csv"],
            input=TEXT,
            capture_output=True,
            text=True,
            check=False,
        )

    assert "standard input,all,RR,1.0" in run(str(qrels), "-", "-m", "RR").stdout
    twice = run("-", "-")
    assert twice.returncode == 2
    assert "only once" in twice.stderr


def test_23_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    source = rk.read_run(run)
    with run.open("a") as file:
        file.write("q2 Q0 d 3 0.3 t\n")

    with pytest.raises(FormatError, match="changed while it was being read"):
        rk.evaluate(qrels, source, "RR")


@pytest.mark.parametrize("change", [b"q9 Q0 d9 1 0.5 t\n", b""])
def test_23_a_file_that_changes_is_refused(change: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, TEXT.encode())
    source = rk.read_run(path)
    path.write_bytes(
        TEXT.encode() + change if change else TEXT[: TEXT.index("q50 ")].encode()
    )

    with pytest.raises(FormatError, match="changed while it was being read"):
        rk.evaluate(QRELS, source, "RR")


# --- formats


def test_an_unknown_format_suggests_the_nearest(write: Write) -> None:
    path = in_form("trec", "run", SCORED, write)

    with pytest.raises(errors.ParameterError) as caught:
        rk.read_run(path, format="trek")

    assert "did you mean 'trec'?" in str(caught.value)
    assert "csv, tsv, " in str(caught.value)


def test_an_unknown_format_of_content_says_what_is_known(write: Write) -> None:
    path = write("some.run", "one two\n")

    text = refused(errors.FormatError, {"q": {"a"}}, path)

    assert "'one two'" in text
    assert "6 columns" in text
    assert "format=" in text


def test_a_broken_parquet_file_is_refused(write: Write) -> None:
    path = write("some.parquet", b"PAR1....")

    text = refused(errors.FormatError, {"q": {"a"}}, path)

    assert text.startswith(f"{path}: cannot be read as Parquet")
