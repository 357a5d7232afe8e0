"""rankine evaluate --engine: what is refused before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rankine._engines.files import format_of
from rankine._io.sources import PLAIN, Reading
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from tests.shell import Shell

HELP = "; see rankine evaluate --help\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--worst", "3"], "--worst shows items, which stay on Spark"),
        (["--report", "x.html"], "--report shows all queries, which stay on Spark"),
        (["--weights", "w.csv"], "--weights needs all queries at once"),
        (["--style", "trec_eval"], "--style follows the order of the files"),
        (["--memory", "1G"], "--memory is for --stream; Spark's own settings"),
        (["--encoding", "latin-1"], "--encoding is for the files that rankine reads"),
        (["--stream"], "--stream and --engine spark cannot be combined"),
    ],
)
def test_options_that_spark_does_not_have(
    shell: Shell, options: list[str], message: str
) -> None:
    done = shell.evaluate("--engine", "spark", *options)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"rankine: {message}")
    assert done.err.endswith(HELP)
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("option", ["--master", "--sequence", "--partitions"])
@pytest.mark.parametrize("engine", [[], ["--engine", "memory"], ["--stream"]])
def test_options_that_only_spark_has(
    shell: Shell, option: str, engine: list[str]
) -> None:
    done = shell.evaluate(*engine, option, "7")

    assert (done.code, done.out) == (2, "")
    assert done.err == f"rankine: {option} is for --engine spark{HELP}"


def test_engines_print_the_same(shell: Shell) -> None:
    plain = shell.evaluate("--json")

    assert shell.evaluate("--json", "--engine", "memory") == plain
    assert shell.evaluate("--json", "--engine", "stream") == plain
    assert shell.evaluate("--json", "--engine", "stream", "--stream") == plain


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("s3a://bucket/runs/2026-11-17", "parquet"),
        ("hdfs:///runs/v1.2/part-*", "parquet"),
        ("run.PARQUET", "parquet"),
        ("part-0.zstd.parquet", "parquet"),
        ("run.tsv.bz2", "tsv"),
        ("run.jsonl", "ndjson"),
        ("bm25.v2.run", "trec"),
    ],
)
def test_names_tell_formats(path: str, kind: str) -> None:
    assert format_of(path, PLAIN) == kind
    assert format_of(path, Reading(format="csv")) == "csv"


@pytest.mark.parametrize(
    ("path", "how", "message"),
    [
        ("run.arrow", PLAIN, "run.arrow: the name does not say which format it is"),
        ("run", Reading(format="beir"), "Spark does not read beir; with --engine"),
        ("-", PLAIN, "Spark cannot read standard input"),
    ],
)
def test_what_spark_does_not_read(path: str, how: Reading, message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        format_of(path, how)

    assert str(refused.value).startswith(message)
