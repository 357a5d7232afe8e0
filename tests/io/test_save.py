"""What is saved is read back as it was: every format, ids and numbers of all kinds."""

from __future__ import annotations

import gzip
import io
import json
import math
import warnings
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine._io.formats import names_for
from rankine._io.writers import WRITERS
from rankine.errors import DataError, DuplicateItemError, ParameterError, RankineError

if TYPE_CHECKING:
    from pathlib import Path

OF_RUNS = [name for name in WRITERS if name in names_for("run")]
OF_QRELS = [name for name in WRITERS if name in names_for("qrels")]
RUN = {"q2": {"b": 0.5, "a": 1.5, "c": 0.5}, "q1": {"x": -1e-7}}
QRELS = {"q2": {"b": 0, "a": 2, "c": 1}, "q1": {"x": 1}}
METRICS = ["nDCG", "nDCG@2", "AP", "RR", "P@2", "Bpref"]


# By hand


def test_trec_runs_have_ranks_and_scores_best_first(tmp_path: Path) -> None:
    path = tmp_path / "some.run"

    rk.read_run(RUN).save(path)
    rk.read_run(path).save(tmp_path / "other.txt", tag="mine")

    # Of equal scores, c is above b: ids descend.
    assert path.read_text() == (
        "q2 Q0 a 1 1.5 run\nq2 Q0 c 2 0.5 run\nq2 Q0 b 3 0.5 run\nq1 Q0 x 1 -1e-7 run\n"
    )
    assert (tmp_path / "other.txt").read_text() == path.read_text().replace(
        " run\n", " mine\n"
    )


def test_a_tag_is_the_name_of_the_file_that_was_read(tmp_path: Path) -> None:
    path = tmp_path / "my best.run.txt"
    path.write_text("q Q0 a 1 0.5 t\n")

    rk.read_run(path).save(tmp_path / "copy.trec")

    assert (tmp_path / "copy.trec").read_text() == "q Q0 a 1 0.5 my_best\n"
    with pytest.raises(ParameterError, match="tag must be a word without blanks"):
        rk.read_run(path).save(tmp_path / "copy.trec", tag="my best")


def test_trec_judgements_have_whole_grades_and_subtopics(tmp_path: Path) -> None:
    path, other = tmp_path / "some.qrels", tmp_path / "diversity.qrels"

    rk.read_qrels(QRELS).save(path)
    other.write_text("q 1 a 1\nq 2 a 2\n")
    rk.read_qrels(other).save(tmp_path / "copy.qrels")

    assert path.read_text() == "q2 0 b 0\nq2 0 a 2\nq2 0 c 1\nq1 0 x 1\n"
    assert (tmp_path / "copy.qrels").read_text() == other.read_text()


def test_other_formats_are_written_as_they_are_known(tmp_path: Path) -> None:
    run = rk.read_run({"q": {"a": 0.5, "b": 2}})

    def written(name: str, format_name: str | None = None) -> str:
        run.save(tmp_path / name, format=format_name)
        return (tmp_path / name).read_text()

    assert written("run.csv") == "query,item,score\nq,b,2.0\nq,a,0.5\n"
    assert written("run.tsv") == "query\titem\tscore\nq\tb\t2.0\nq\ta\t0.5\n"
    assert written("run.inter") == (
        "user_id:token\titem_id:token\tscore:float\nq\tb\t2.0\nq\ta\t0.5\n"
    )
    assert json.loads(written("run.json")) == {"q": {"b": 2.0, "a": 0.5}}
    assert [json.loads(line) for line in written("run.jsonl").splitlines()] == [
        {"query": "q", "item": "b", "score": 2.0},
        {"query": "q", "item": "a", "score": 0.5},
    ]
    assert written("run", "msmarco") == "q\tb\t1\nq\ta\t2\n"
    assert written("run", "beir") == (
        "query-id\tcorpus-id\tscore\nq\tb\t2.0\nq\ta\t0.5\n"
    )
    run.save(tmp_path / "run.parquet", columns={"query": "q_id", "item": "doc_id"})
    assert pl.read_parquet(tmp_path / "run.parquet").columns == [
        "q_id", "doc_id", "score",
    ]  # fmt: skip


# Laws

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
RUNS = st.dictionaries(
    st.sampled_from(["q1", "007", "ü"]),
    st.dictionaries(st.sampled_from(["a", "b", "10", "9", "a#b"]), FLOATS, min_size=1),
    min_size=1,
)
JUDGED = st.dictionaries(
    st.sampled_from(["q1", "007", "ü", "z"]),
    st.dictionaries(
        st.sampled_from(["a", "b", "10", "c"]), st.integers(-1, 3), min_size=1
    ),
    min_size=1,
)


def outcome(qrels: Any, run: Any) -> Any:
    try:
        ev = rk.evaluate(qrels, run, METRICS)
    except RankineError as error:
        # A file of RecBole calls its queries users.
        said = str(error).partition(";")[0].replace("judged users", "judged queries")
        return type(error), said
    return ev.mean, sorted(ev.per_query.rows(), key=str)


@pytest.mark.parametrize("name", OF_RUNS)
@settings(max_examples=40)
@given(run=RUNS, qrels=JUDGED)
def test_a_saved_run_has_the_same_numbers(
    name: str, run: Any, qrels: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("saved") / "run"

    rk.read_run(run).save(path, format=name)

    again = rk.read_run(path, format=name)
    assert outcome(qrels, again) == outcome(qrels, run)
    if name != "msmarco":  # which has ranks alone
        assert again.to_dict() == rk.read_run(run).to_dict()


@pytest.mark.parametrize("name", OF_QRELS)
@settings(max_examples=40)
@given(run=RUNS, qrels=JUDGED)
def test_saved_judgements_have_the_same_numbers(
    name: str, run: Any, qrels: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("saved") / "qrels"

    rk.read_qrels(qrels).save(path, format=name)

    again = rk.read_qrels(path, format=name)
    assert outcome(again, run) == outcome(qrels, run)
    assert again.to_dict() == qrels


IDS = st.text(
    st.sampled_from(" abc01#\",;|\t\n\r\\'ü{}[]:.-_\u00a0\ufeff"),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize("name", OF_RUNS)
@settings(max_examples=100)
@given(
    run=st.dictionaries(IDS, st.dictionaries(IDS, st.just(0.5), min_size=1), min_size=1)
)
def test_an_id_is_read_back_or_refused(
    name: str, run: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("saved") / "run"
    try:
        rk.read_run(run).save(path, format=name)
    except DataError as error:
        assert "json and parquet can hold" in str(error)  # noqa: PT017 - no other
        assert name not in {"json", "ndjson", "parquet", "arrow"}
        return

    again = rk.read_run(path, format=name).to_dict()

    assert {query: set(items) for query, items in again.items()} == {
        query: set(items) for query, items in run.items()
    }


@pytest.mark.parametrize("name", OF_RUNS)
def test_a_run_without_scores_keeps_its_order(name: str, tmp_path: Path) -> None:
    run = {"q": ["b", "a", "c"], "r": ["x"]}
    qrels = {"q": {"a": 1, "c": 2}, "r": {"x": 1}}

    rk.read_run(run).save(tmp_path / "run", format=name)

    again = rk.read_run(tmp_path / "run", format=name)
    assert {query: [*items] for query, items in again.to_dict().items()} == run
    assert outcome(qrels, again) == outcome(qrels, run)


@pytest.mark.parametrize("name", OF_RUNS)
def test_int_ids_are_written_as_their_texts(name: str, tmp_path: Path) -> None:
    run, qrels = {1: {10: 0.5, 9: 0.5}}, {1: {10: 1}}

    rk.read_run(run).save(tmp_path / "run", format=name)

    again = rk.read_run(tmp_path / "run", format=name)
    assert rk.evaluate(qrels, again, "RR")["RR"] == 1 / 2
    kind = int if name in {"parquet", "arrow", "ndjson"} else str
    assert type(again.queries[0]) is kind


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_an_ending_packs_what_is_written(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.csv{ending}"

    rk.read_run(RUN).save(path)

    assert rk.read_run(path).to_dict() == rk.read_run(RUN).to_dict()
    packed = path.read_bytes()
    rk.read_run(RUN).save(path)
    assert path.read_bytes() == packed  # no time is in it
    if ending == ".gz":
        assert gzip.decompress(packed).startswith(b"query,item,score\n")


def test_what_was_cut_can_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"

    rk.read_run(RUN).head(1).filter(queries=["q2"]).save(path)

    assert rk.read_run(path).to_dict() == {"q2": {"a": 1.5}}


def test_a_run_can_be_written_over_the_file_it_comes_from(tmp_path: Path) -> None:
    path = tmp_path / "some.run"
    path.write_text("q Q0 a 1 0.5 t\nq Q0 b 2 0.4 t\n")

    rk.read_run(path).head(1).save(path)

    assert path.read_text() == "q Q0 a 1 0.5 some\n"


# What a format cannot hold


@pytest.mark.parametrize("name", [name for name in OF_RUNS if name != "json"])
def test_queries_without_items_are_warned_of(name: str, tmp_path: Path) -> None:
    run = rk.read_run({"q": {"a": 1.0}, "r": {}, "s": {}})

    with pytest.warns(UserWarning, match=f"run: 2 queries without items.* {name}"):
        run.save(tmp_path / "run", format=name)
    with pytest.raises(DataError, match="run: has no rows, without which"):
        run.filter(queries=["r"]).save(tmp_path / "run", format=name)


def test_json_holds_queries_without_items(tmp_path: Path) -> None:
    run = {"q": {"a": 1.0}, "r": {}}

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rk.read_run(run).save(tmp_path / "run.json")

    assert rk.read_run(tmp_path / "run.json").to_dict() == run


def test_subtopics_are_kept_or_warned_of(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        [("q", "1", "a", 1), ("q", "2", "b", 2)],
        ["query", "subtopic", "item", "grade"],
        orient="row",
    )
    qrels, metric = rk.read_qrels(frame), "alpha_nDCG@2"
    wanted = rk.evaluate(frame, {"q": ["b", "a"]}, metric)[metric]

    for name in ("trec", "csv", "tsv", "parquet", "arrow", "ndjson"):
        qrels.save(tmp_path / name, format=name)
        again = rk.read_qrels(tmp_path / name)
        assert rk.evaluate(again, {"q": ["b", "a"]}, metric)[metric] == wanted
    for name in ("json", "beir", "recbole"):
        with pytest.warns(UserWarning, match=f"subtopics: left out, as {name} cannot"):
            qrels.save(tmp_path / name, format=name)


@pytest.mark.parametrize("name", ["json", "ndjson"])
def test_infinite_scores_are_no_json(name: str, tmp_path: Path) -> None:
    run = rk.read_run({"q": {"a": -math.inf, "b": 1.0}})

    with pytest.raises(DataError, match="score of item 'a' for query 'q' is -inf"):
        run.save(tmp_path / "run", format=name)
    run.save(tmp_path / "run.csv")
    assert rk.read_run(tmp_path / "run.csv").to_dict() == run.to_dict()


def test_repeated_items_are_no_json_object(tmp_path: Path) -> None:
    rows = [("q", "a", 1.0), ("q", "a", 0.5)]
    run = rk.read_run(pl.DataFrame(rows, ["query", "item", "score"], orient="row"))

    with pytest.raises(DuplicateItemError, match="'a' appears twice"):
        run.save(tmp_path / "run.json")


@pytest.mark.parametrize(
    ("path", "how", "message"),
    [
        ("run.foo", {}, "run.foo: the ending '.foo' stands for no format; say what"),
        ("run", {}, "run: no ending; say what to write with format= or --to: trec"),
        ("run.gz", {}, "run.gz: no ending; say what to write"),
        ("run", {"format": "msmarko"}, "'msmarko'; .*; did you mean 'msmarco'"),
        ("run", {"format": "movielens"}, "cannot write a run as 'movielens'; expected"),
        ("run.trec", {"columns": {"query": "q"}}, "columns of trec have no other name"),
        (
            "run.csv",
            {"columns": {"grade": "q"}},
            "no part 'grade'; the parts are query",
        ),
        ("run.csv", {"columns": {"query": 1}}, "maps 'query' to 1; expected a name"),
        (
            "run.csv",
            {"columns": {"query": "item"}},
            "would have the same name: item, i",
        ),
        ("no/run.csv", {}, "no/run.csv: cannot be written .No such file or directory"),
    ],
)
def test_what_cannot_be_written_is_refused(
    path: str, how: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(RankineError, match=message):
        rk.read_run(RUN).save(tmp_path / path, **how)


def test_judgements_are_no_msmarco_run(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="cannot write judgements as 'msmarco'"):
        rk.read_qrels(QRELS).save(tmp_path / "x", format="msmarco")


def test_standard_output_may_take_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()  # as in a notebook
    monkeypatch.setattr("sys.stdout", out)

    rk.read_run(RUN).head(1).save("-", format="csv")

    assert out.getvalue() == "query,item,score\nq2,a,1.5\nq1,x,-1e-7\n"
    with pytest.raises(ParameterError, match="takes text alone; write to a file"):
        rk.read_run(RUN).save("-", format="parquet")
