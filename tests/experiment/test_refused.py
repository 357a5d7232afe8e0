"""What an experiment may not say: all problems at once, each with its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._base.strict_yaml import read_yaml
from rankine._experiment.first import first_yaml
from rankine._experiment.problems import Problems
from rankine._experiment.read import read_experiment
from rankine._experiment.results import slug
from rankine._experiment.schema import Comparing, Experiment, checked, json_schema
from rankine.errors import DataError, ExperimentError, FormatError, ParameterError
from tests.experiment.conftest import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("metrcs: AP", "3:1: unknown key 'metrcs'; did you mean 'metrics'?"),
        ("zzz: 1\nmetrics: AP", "3:1: unknown key 'zzz'; the keys are qrels, runs"),
        ("rel: 1", "1:1: metrics is missing"),
        ("metrics: AP\nrel: yes", "4:6: expected a number, got 'yes'"),
        ("metrics: AP\nlenient: no", "4:10: expected true or false, got 'no'"),
        ("metrics: AP\ndepth: 0", "4:8: expected a number greater than or equal to 1"),
        ("metrics: AP\ndepth: 1e3", "4:8: expected a whole number, got 1000.0"),
        ("metrics: AP\nties: avrage", "expected 'average', 'best' or 'worst', got"),
        ("metrics: AP\nties: avrage", "did you mean 'average'?"),
        ("metrics: AP\nconvention: ranks", "4:13: unknown convention 'ranks'"),
        ("metrics: AP\nconvention: [ranx, ranx]", "4:20: ranx is given twice"),
        ("metrics: AP\nconvention: []", "4:13: expected a convention, or a list"),
        ("metrics: AP\nconvention: own.yaml", "own.yaml: cannot be read"),
        ("metrics: AP\ntrain: no.csv", "4:8: there is no file 'no.csv'"),
        ("metrics: AP\ncompare: {by: no.csv}", "4:15: there is no file 'no.csv'"),
        ("metrics: Coverage@5", "3:10: Coverage@5 needs the catalogue"),
        ("metrics: AP\nformats: {runs: csv}", "3:11: expected 'run', 'qrels', 't"),
        ("metrics: AP\nformats: {run: cvs}", "the format of run must be one of trec"),
        ("runs: no/*.run\nmetrics: AP", "no file matches 'no/*.run'"),
        ("runs: s3://bucket/run\nmetrics: AP", "'s3://bucket/run' is a URL"),
        ("qrels: https://x.org/q\nmetrics: AP", "is a URL; only files on this machine"),
        ("runs: []\nmetrics: AP", "expected a path, a pattern, a list of these, or"),
        ("runs: {}\nmetrics: AP", "no runs are given"),
        ("runs: [runs/hybrid.run, runs/h*.run]\nmetrics: AP",
         "runs/hybrid.run is given twice"),
        ("metrics: AP\noutput: ../elsewhere", "is not a folder below that of the file"),
        ("metrics: AP\noutput: /tmp/x", "is not a folder below that of the file"),
        ("metrics: AP\noutput: ~/x", "is not a folder below that of the file"),
        ("metrics: AP\noutput: .", "is not a folder below that of the file"),
        ("metrics: AP\ncompare: {baseline: bm25}",
         "4:21: baseline must be one of hybrid.run, keyword.run, vector.run, got"),
        ("metrics: AP\ncompare: {test: t, correction: maxt}",
         "4:1: correction='maxt' flips signs, so it needs test='randomization'"),
        ("metrics: AP\ncompare: {margin: {P@5: 0.1}}",
         "4:19: margin is given for P@5, which is not among AP"),
        ("metrics: AP\ncompare: {margin: 0}", "expected a number above 0, or one"),
        ("metrics: AP\ncompare: {sed: 1}", "unknown key 'sed'; did you mean"),
        ("metrics: AP\ncompare: [t]", "4:10: expected a mapping, got ['t']"),
        ("runs: {a: runs/hybrid.run}\nmetrics: AP\ncompare: {}",
         "there is only one run, and nothing to compare it with"),
        ("metrics: AP\ncolumns: {weights.query: q}", "no weights were given"),
        ("metrics: AP\ncolumns: {itm: x}", "4:16: columns has no part 'itm'"),
        ("metrics: AP\ncolumns: {x.item: y}", "the part before the dot in 'x.item'"),
        ("metrics: AP\ncolumns: {query: [a, b]}", "expected a name or a number"),
        ("metrics: AP\ngrades: {a: .nan}", "4:13: expected a number"),
        ("metrics:\n", "3:9: expected a metric, a list or a mapping of metrics"),
        ("metrics: AP\ncompare: true", "4:10: expected a mapping, got true"),
        ("metrics: AP\ncompare: {baseline: 1}", "expected text, got 1; put it in quo"),
        ("metrics: AP\ncompare: {draws: 1000000000}", "less than or equal to 1000"),
        ("metrics: [NumRet, gm_AP]\ncompare:", "no metric has a value per query"),
        ("metrics: AP\nqrels: ~nosuch/x", "there is no file '~nosuch/x'"),
        ("runs: /dev/null\nmetrics: AP", "is neither a file nor a folder"),
        ("runs: [runs/hybrid.run, ./runs/../runs/hybrid.run]\nmetrics: AP",
         "./runs/../runs/hybrid.run is given twice"),
        ("runs: [3]\nmetrics: AP", "expected text, got 3; put it in quotes"),
    ],
)  # fmt: skip
def test_refused_before_any_data_are_read(
    text: str, said: str, written: Callable[..., Path], home: Path
) -> None:
    (home / "qrels.txt").write_text("not judgements\n")
    before = set(files(home))

    with pytest.raises(ExperimentError) as caught:
        rk.run_experiment(path := written(text))

    assert said in str(caught.value)
    assert all(problem.startswith(f"{path}:") for problem in caught.value.problems)
    assert set(files(home)) == before | {"experiment.yaml"}


def test_all_problems_at_once_in_the_order_of_their_places(
    written: Callable[..., Path],
) -> None:
    path = written(
        "metrics: {nDGC@: [5], P@: [0], RBP: {p: 2}, Coverage@: [5]}\n"
        "convention: ranks\n"
        "rel: yes\n"
        "train: no.csv\n"
        "zz: 1\n"
        "compare: {baseline: bm25, test: tt}\n"
        "output: ../x\n"
    )

    with pytest.raises(ExperimentError) as caught:
        read_experiment(path)

    places = [problem.split(":")[1:3] for problem in caught.value.problems]
    lines = [int(line) for line, _ in places]
    assert lines == [3, 3, 3, 4, 5, 6, 7, 8, 8, 9]
    assert str(caught.value).startswith(f"{path}: 10 problems: ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "1:1: expected qrels, runs, metrics and so on, a line for each"),
        (b"- a", "expected qrels, runs, metrics and so on"),
        (b"just words", "expected qrels, runs, metrics and so on"),
        (b"a: 1\n---\nb: 2", "2:1: a second document begins"),
        (b"qrels:\n\tx", "is not YAML"),
        (b"#" * (50 << 20), "has 1,048,577 bytes; at most 1,048,576 are read"),
        (b"qrels: !!python/object/apply:os.system [ls]", "os.system is a tag"),
        (b"a: &x [*x]", "is an alias"),
        (b"qrels: 1\nqrels: 2", "2:1: 'qrels' appears twice; it is also in line 1"),
        (b"\x00\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_files_that_are_no_experiment(
    content: bytes, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)

    with pytest.raises((FormatError, ExperimentError)) as caught:
        rk.run_experiment(path)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"cannot be read \(No such file"):
        rk.run_experiment(tmp_path / "no.yaml")
    with pytest.raises(FormatError, match=r"cannot be read \(Is a directory"):
        rk.run_experiment(tmp_path)


HOSTILE = [
    "../../etc/passwd", "a/b", "</script><script>alert(1)</script>", "=HYPERLINK(1)",
    "\x1b[31mred", "\u202eevil", "[link=x]y[/link]", "{{ 7*7 }}", r"\input{secret}",
    "a|b", "CON", "no", "1e3", "", " ", "x" * 300, "名前", "%s", "a\nb", "a & b_c",
]  # fmt: skip


@pytest.mark.slow
def test_hostile_names_stay_names(written: Callable[..., Path], home: Path) -> None:
    runs = dict.fromkeys(HOSTILE, "runs/hybrid.run")
    text = f"qrels: qrels.txt\nruns: {json.dumps(runs, ensure_ascii=False)}\n"
    text = text.replace("\x1b", r"\e").replace("\u202e", r"\u202e")
    before = set(files(home)) | {"experiment.yaml"}

    result = rk.run_experiment(written(text + "metrics: [AP]\ncompare: {test: t}\n"))

    assert set(result.runs) == set(HOSTILE)
    new = set(files(home)) - before
    assert all(name.startswith("results/") for name in new)
    assert {name.split("/")[1] for name in new} == {
        "cells", "results.json", "table.md", "table.tex", "values.parquet",
    }  # fmt: skip
    tables = (home / "results" / "table.md").read_text()
    assert tables.count("\n") == len(HOSTILE) + 2
    assert "<script>" not in tables.replace("\\<script\\>", "")
    latex = (home / "results" / "table.tex").read_text()
    assert r"\input" not in latex
    assert "\x1b" not in tables + latex + str(result)
    assert rk.load(home / "results").systems == result.runs


def test_slugs_are_file_names_and_tell_names_apart() -> None:
    slugs = {slug(name) for name in HOSTILE}

    assert len(slugs) == len(HOSTILE)
    assert all(set(name) <= set(SAFE) and len(name) < 100 for name in slugs)


SAFE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"


def test_links_in_the_folder_are_not_followed(
    written: Callable[..., Path], home: Path
) -> None:
    precious = home / "precious.txt"
    precious.write_text("keep me")
    folder = home / "results"
    (folder / "cells").mkdir(parents=True)
    (folder / "values.parquet").symlink_to(precious)
    path = written("metrics: AP")

    rk.run_experiment(path)
    assert not (folder / "values.parquet").is_symlink()

    (folder / ".lock").symlink_to(precious)
    with pytest.raises(DataError, match="cannot be written"):
        rk.run_experiment(path)
    (folder / ".lock").unlink()
    (home / "else").mkdir()
    (folder / "cells").rename(home / "else" / "cells")
    (folder / "cells").symlink_to(home / "else" / "cells")
    with pytest.raises(
        DataError, match=r"holds files that are not from an experiment \(cells"
    ):
        rk.run_experiment(path)
    assert precious.read_text() == "keep me"


def test_a_link_does_not_lead_the_results_out(
    written: Callable[..., Path], home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (home / "link").symlink_to(outside)

    with pytest.raises(ExperimentError, match="is not a folder below that of the file"):
        rk.run_experiment(written("metrics: AP\noutput: link/x"))
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("files_there", "said"),
    [
        ({"results.json": '{"mine": 1}', "table.md": "x"}, "not from an experiment"),
        ({"results.json": '{"mine": 1}', "cells/": ""}, "is not the result of an exp"),
        (
            {"cells/notes.txt": "mine"},
            "holds files that are not from an experiment (notes.txt)",
        ),
        ({"cells/": "", "mine.txt": "x"}, "not from an experiment (mine.txt)"),
    ],
)
def test_what_is_not_ours_is_left_alone(
    files_there: dict[str, str], said: str, written: Callable[..., Path], home: Path
) -> None:
    for name, text in files_there.items():
        path = home / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir()
        else:
            path.write_text(text)
    before = files(home)

    with pytest.raises((DataError, FormatError)) as caught:
        rk.run_experiment(written("metrics: AP"))

    assert said in str(caught.value)
    assert files(home) | before == files(home)


def test_two_files_do_not_share_a_folder(
    written: Callable[..., Path], home: Path
) -> None:
    rk.run_experiment(written("metrics: AP"))

    with pytest.raises(
        DataError, match=r"holds the results of experiment.yaml, not of"
    ):
        rk.run_experiment(written("metrics: AP", "other.yaml"))
    assert (home / "results" / "table.md").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run [v2]", "a*b", "x?"])
def test_folders_may_have_signs_of_patterns(
    name: str, written: Callable[..., Path], home: Path
) -> None:
    (home / name).mkdir()
    for part in ("qrels.txt", "runs"):
        (home / part).rename(home / name / part)
    path = written(f"metrics: AP\noutput: {json.dumps(name)}")
    path = path.rename(home / name / path.name)

    assert rk.run_experiment(path).n_computed == 3
    assert rk.load(home / name / name).metrics == ("AP",)


def test_odd_names_and_places_are_one_sentence(
    written: Callable[..., Path], home: Path
) -> None:
    for output, said in (
        (home / "qrels.txt" / "x", "cannot be"),
        ("x" * 300, "cannot"),
    ):
        with pytest.raises(DataError, match=said):
            rk.run_experiment(written("metrics: AP"), output=output)
    for wrong in ({"path": 5}, {"output": 5}, {"resume": "no"}, {"max_cells": "x"}):
        words: dict[str, Any] = {"path": home / "experiment.yaml", **wrong}
        with pytest.raises(ParameterError, match=f"{next(iter(wrong))} must be"):
            rk.run_experiment(**words)


def test_names_that_are_not_utf_8(written: Callable[..., Path], home: Path) -> None:
    import os  # noqa: PLC0415

    odd = home / "runs" / os.fsdecode(b"caf\xe9.run")
    try:
        odd.write_bytes((home / "runs" / "hybrid.run").read_bytes())
    except OSError:
        pytest.skip("this system has no such names")

    result = rk.run_experiment(written("metrics: AP\ncompare: {test: t}"))

    assert "caf\\udce9.run" in result.runs
    assert rk.load(result.folder).systems == result.runs


def test_paths_are_relative_to_the_file(
    written: Callable[..., Path], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written("metrics: AP\nruns: runs/../runs/hybrid.run")
    (home / "elsewhere").mkdir()
    monkeypatch.chdir(home / "elsewhere")

    result = rk.run_experiment(path)

    assert result.folder == home / "results"
    monkeypatch.chdir(home)
    assert rk.run_experiment("experiment.yaml").n_computed == 0


def test_the_schema_has_every_key_and_a_word_on_it() -> None:
    schema = json_schema()

    assert set(schema["properties"]) == set(Experiment.model_fields)
    comparing = schema["$defs"]["Comparing"]["properties"]
    assert set(comparing) == set(Comparing.model_fields)
    for own in (schema["properties"], comparing):
        assert all(part["description"].endswith(".") for part in own.values())
    assert schema["required"] == ["runs", "metrics"]
    assert schema["additionalProperties"] is False


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(qrels=names, runs=st.lists(names, min_size=1, max_size=4, unique=True))
def test_the_first_file_reads_back(qrels: str, runs: list[str]) -> None:
    from pathlib import Path  # noqa: PLC0415

    text = first_yaml(Path(qrels), [Path(run) for run in runs])
    problems = Problems()
    said = checked(document := read_yaml(text.encode(), "x.yaml"), problems)

    assert problems.places == {}
    assert said is not None
    assert said.qrels == str(Path(qrels))
    assert isinstance(said.runs, dict)
    assert list(said.runs.values()) == [str(Path(run)) for run in runs]
    assert document.data["output"] == "results"


words = st.sampled_from(
    ["qrels", "runs", "metrics", "nDCG@", "AP", "cutoff", "type", "int", "values",
     "range", "convention", "rankine", "compare", "test", "t", "output", "rel", "keep",
     "columns", "formats", "grades", "catalog", "margin", "by", "baseline", "-", "*",
     "x.yaml", "~", "..", "1", "0.5", "true", "null", "RBP", "p"]
)  # fmt: skip
scalars = words | st.integers(-5, 10**19) | st.floats() | st.booleans() | st.none()
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(words, values, max_size=8))
def test_no_experiment_crashes_the_reader(data: dict[str, object]) -> None:
    import tempfile  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    text = json.dumps(data).replace("Infinity", ".inf").replace("NaN", ".nan")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.yaml"
        path.write_text(text)
        with pytest.raises((ExperimentError, FormatError)) as caught:
            read_experiment(path)
    assert "\n" not in str(caught.value)
