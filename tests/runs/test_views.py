"""Run and Qrels: what they show, and that they are evaluated as what they are from."""

from __future__ import annotations

import io
import math
import pickle
import shutil
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import DataError, DuplicateItemError, ParameterError, RankineError
from tests.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"1": {"10": 2, "2": 1, "3": 0}, "2": {"10": 1}, "3": {"4": 1}}
RUN = {
    "1": {"3": 0.9, "5": 0.8, "10": 0.7, "2": 0.1},
    "2": {"6": 3.5, "10": 1.5},
    "4": {"10": 1.0},
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"convention": "ranx"},
    {"order": "rank"},
    {"lower_is_better": True},
    {"lenient": True},
    {"engine": "stream"},
]


def in_form(form: str, folder: Path) -> tuple[Any, Any]:
    """Return both in a form that may be read only once, in the same place again."""
    place = folder / "data"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return FORMS[form](QRELS, RUN, place)  # type: ignore[arg-type]


def outcome(qrels: Any, run: Any, metrics: Any = ("nDCG@2", "AP"), **how: Any) -> Any:
    """Return what comes out, be it a refusal."""
    try:
        ev = rk.evaluate(qrels, run, metrics, **how)
    except RankineError as error:
        return type(error), str(error)
    return ev.mean, ev.per_query.rows(), ev.notes, ev.warnings


# What evaluates them


@pytest.mark.slow
@pytest.mark.parametrize("how", OPTIONS, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_a_view_is_evaluated_as_what_it_was_read_from(
    form: str, how: dict[str, Any], tmp_path: Path
) -> None:
    wanted = outcome(*in_form(form, tmp_path), **how)
    qrels, run = in_form(form, tmp_path)

    assert outcome(rk.read_qrels(qrels), rk.read_run(run), **how) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_view_that_was_looked_at_has_the_same_numbers(
    form: str, tmp_path: Path
) -> None:
    wanted = outcome(*in_form(form, tmp_path))
    pair = in_form(form, tmp_path)
    qrels, run = rk.read_qrels(pair[0]), rk.read_run(pair[1])
    assert (qrels.to_frame().height, run.to_frame().height) == (5, 7)

    assert outcome(qrels, run) == wanted
    assert outcome(qrels.to_dict(), run.to_dict())[:2] == wanted[:2]
    assert outcome(qrels.to_frame(), run.to_frame())[:2] == wanted[:2]


def test_a_frame_with_ranks_beside_scores_can_be_ranked_by_both() -> None:
    rows = [("q", "a", 0.9, 2), ("q", "b", 0.1, 1)]
    frame = pl.DataFrame(rows, ["query", "item", "score", "rank"], orient="row")
    qrels, run = {"q": {"b": 1}}, rk.read_run(frame)

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 2
    assert rk.evaluate(qrels, run, "RR", order="rank")["RR"] == 1


def test_a_run_is_everywhere_where_a_run_may_be() -> None:
    qrels, run = rk.read_qrels(QRELS), rk.read_run(RUN)

    assert str(rk.check(qrels, run)) == str(rk.check(QRELS, RUN))
    assert rk.reconcile(qrels, run, "AP").rows == rk.reconcile(QRELS, RUN, "AP").rows
    assert rk.similarity(run, run.head(1), "Overlap@1")["Overlap@1"] == 1
    both = rk.compare(qrels, {"all": run, "few": run.head(1)}, "AP", draws=50)
    plain = {"all": RUN, "few": run.head(1).to_dict()}
    assert both.table.equals(rk.compare(QRELS, plain, "AP", draws=50).table)
    batches = rk.Accumulator("AP").update(qrels, run).result()
    assert batches["AP"] == rk.evaluate(QRELS, RUN, "AP")["AP"]
    metrics = ["Novelty@1", "Intersection@1"]
    new = rk.evaluate(qrels, run, metrics, train=qrels, reference=run)
    of_dicts = rk.evaluate(QRELS, RUN, metrics, train=QRELS, reference=RUN)
    assert new.mean == of_dicts.mean


def test_judgements_are_no_run_and_a_run_is_no_judgements() -> None:
    with pytest.raises(DataError, match="read as judgements and cannot be used as a"):
        rk.evaluate(QRELS, rk.read_qrels({**QRELS}), "RR")
    with pytest.raises(DataError, match="read as a run and cannot be used as judgem"):
        rk.evaluate(rk.read_run({**RUN}), RUN, "RR")
    with pytest.raises(DataError, match="read as a run and cannot be used as judgem"):
        rk.read_qrels(rk.read_run(RUN))


def test_one_object_is_not_evaluated_against_itself() -> None:
    lists = {"q": ["a", "b"]}

    with pytest.raises(ParameterError, match="evaluated against itself"):
        rk.evaluate(rk.read_qrels(lists), rk.read_run(lists), "RR")


# What they show


def test_a_run_is_like_a_dict_in_the_order_of_its_ranks() -> None:
    # "9" is above "10" as text, descending; 1.5 is the largest of the second list.
    run = rk.read_run({"q": {"10": 0.5, "9": 0.5, "x": 0.7}, "r": {"a": 1, "b": 1.5}})

    assert len(run) == 2
    assert list(run) == run.queries == ["q", "r"]
    assert "q" in run
    assert "s" not in run
    assert list(run["q"].items()) == [("x", 0.7), ("9", 0.5), ("10", 0.5)]  # type: ignore[union-attr]
    assert list(run.to_dict()["r"]) == ["b", "a"]
    assert run.to_frame().rows() == [
        ("q", "x", 0.7), ("q", "9", 0.5), ("q", "10", 0.5), ("r", "b", 1.5),
        ("r", "a", 1.0),
    ]  # fmt: skip
    assert run.to_frame().columns == ["query", "item", "score"]


def test_an_unknown_query_is_a_key_error_that_names_the_type_of_ids() -> None:
    run = rk.read_run({"1": ["a"]})

    with pytest.raises(KeyError, match="no query '2'\""):
        run["2"]
    with pytest.raises(KeyError, match="no query 1; its ids are of type str: '1'"):
        run[1]


def test_a_run_without_scores_has_lists_and_ranks() -> None:
    run = rk.read_run({"q": ["b", "a"], "empty": [], "r": ["c"]})

    assert run.to_dict() == {"q": ["b", "a"], "empty": [], "r": ["c"]}
    assert run.to_frame().rows() == [("q", "b", 1), ("q", "a", 2), ("r", "c", 1)]
    assert run.to_frame().columns == ["query", "item", "rank"]


def test_ranks_of_a_column_stay() -> None:
    rows = [("q", "a", 7), ("q", "b", 2), ("r", "a", 1)]
    run = rk.read_run(pl.DataFrame(rows, ["query", "item", "rank"], orient="row"))

    assert run["q"] == ["b", "a"]
    assert run.to_frame().rows() == [("q", "b", 2), ("q", "a", 7), ("r", "a", 1)]
    assert rk.evaluate({"q": {"a": 1}}, run.head(2), "RR", order="rank_value")[
        "RR"
    ] == pytest.approx(1 / 7)


def test_rows_of_mixed_queries_are_brought_together() -> None:
    rows = [("q", "a", 1.0), ("r", "c", 3.0), ("q", "b", 2.0)]
    run = rk.read_run(pl.DataFrame(rows, ["query", "item", "score"], orient="row"))

    assert run.to_frame().rows() == [("q", "b", 2.0), ("q", "a", 1.0), ("r", "c", 3.0)]
    assert list(run.to_dict()) == ["q", "r"]


def test_ids_keep_their_type() -> None:
    run = rk.read_run({7: {1: 0.5}})

    assert run.queries == [7]
    assert run[7] == {1: 0.5}
    assert 7 in run
    assert "7" not in run


@pytest.mark.parametrize(
    ("library", "kind"),
    [
        ("polars", pl.DataFrame),
        ("pandas", pd.DataFrame),
        ("pyarrow", pa.Table),
        ("arrow", pa.Table),
    ],
)
def test_frames_are_of_the_library_asked_for(library: str, kind: Any) -> None:
    frame = rk.read_qrels(QRELS).to_frame(library)

    assert isinstance(frame, kind)
    assert pl.DataFrame(frame)["grade"].to_list() == [2, 1, 0, 1, 1]
    with pytest.raises(ParameterError, match="library must be one of polars, pandas"):
        rk.read_run(RUN).to_frame("numpy")


def test_judgements_are_in_the_order_given_and_whole_grades_are_ints() -> None:
    qrels = rk.read_qrels({"q": {"b": 0.0, "a": 2.0}, "r": {"x"}})

    assert qrels.to_dict() == {"q": {"b": 0, "a": 2}, "r": {"x": 1}}
    assert type(qrels["q"]["a"]) is int
    assert rk.read_qrels({"q": {"a": 0.5, "b": 1}})["q"] == {"a": 0.5, "b": 1.0}


def test_judgements_of_subtopics_show_the_largest_grade_and_keep_subtopics(
    tmp_path: Path,
) -> None:
    path = tmp_path / "diversity.qrels"
    path.write_text("q 1 a 1\nq 2 a 2\nq 2 b 1\n")
    qrels = rk.read_qrels(path)

    assert qrels["q"] == {"a": 2, "b": 1}
    assert qrels.to_frame().rows() == [
        ("q", "a", 1, "1"), ("q", "a", 2, "2"), ("q", "b", 1, "2"),
    ]  # fmt: skip
    run = {"q": ["b", "a"]}
    kept = qrels.filter(queries=["q"])
    metric = "alpha_nDCG@2"
    assert rk.evaluate(kept, run, metric).mean == rk.evaluate(path, run, metric).mean
    assert outcome(kept, run, "RR")[0] is outcome(path, run, "RR")[0]
    assert "subtopic" not in rk.read_qrels({"q": {"a": 1}}).to_frame().columns


def test_the_column_that_trec_text_has_in_place_of_subtopics_is_not_shown(
    tmp_path: Path,
) -> None:
    path = tmp_path / "some.qrels"
    path.write_text("q 0 a 1\nq 0 b 0\n")

    assert rk.read_qrels(path).to_frame().columns == ["query", "item", "grade"]


def test_an_item_that_a_query_has_twice_is_no_dict() -> None:
    rows = [("q", "a", 0.5), ("q", "a", 0.4)]
    frame = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
    run = rk.read_run(frame)

    assert run.to_frame().height == 2
    for look in (run.to_dict, lambda: run["q"]):
        with pytest.raises(DuplicateItemError, match=r"'a' appears twice .*row 0 and"):
            look()
    with pytest.raises(DuplicateItemError, match="'a' is judged twice"):
        rk.read_qrels(frame).to_dict()


def test_what_only_a_lenient_reader_takes_is_evaluated_and_not_shown(
    tmp_path: Path,
) -> None:
    path = tmp_path / "messy.csv"
    path.write_text("query,item,score\nq,b,0.5\n,c,1\nq,a,0.7\n")
    frame = pl.read_csv(path)

    for data in (path, frame):
        run = rk.read_run(data)
        assert rk.evaluate({"q": {"b": 1}}, run, "RR", lenient=True)["RR"] == 1 / 2
        with pytest.raises(DataError, match="1 query id is missing"):
            run.to_frame()


def test_a_file_is_read_in_parts_until_it_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "some.run"
    path.write_text("q Q0 a 1 0.5 t\nq Q0 b 2 0.4 t\n")
    run = rk.read_run(path)

    assert repr(run) == f"Run({str(path)!r}, not read yet)"
    html = run._repr_html_()
    assert all(text in html for text in ("not read yet", "score", "0.5000"))
    places = tmp_path / "places.txt"
    places.write_text("q\ta\t1\nq\tb\t2\n")
    html = rk.read_run(places, format="msmarco")._repr_html_()
    assert all(text in html for text in ("not read yet", "rank", ">2<"))
    assert len(run) == 1
    assert repr(run) == f"Run({str(path)!r}, 1 query, 2 rows)"
    path.unlink()  # it need not be read again
    assert rk.evaluate({"q": {"b": 1}}, run, "RR")["RR"] == 1 / 2
    assert run.name == str(path)


def test_standard_input_can_be_looked_at_and_evaluated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = io.TextIOWrapper(io.BytesIO(b"q Q0 a 1 0.5 t\nq Q0 b 2 0.4 t\n"))
    monkeypatch.setattr("sys.stdin", text)
    run = rk.read_run("-")

    assert run["q"] == {"a": 0.5, "b": 0.4}
    assert rk.evaluate({"q": {"b": 1}}, run, "RR")["RR"] == 1 / 2


def test_batches_can_be_looked_at_and_evaluated() -> None:
    frame = pl.DataFrame([("q", "a", 0.5)], ["query", "item", "score"], orient="row")
    run = rk.read_run(iter([frame]))

    assert "0.5000" in run._repr_html_()
    assert run["q"] == {"a": 0.5}
    assert rk.evaluate({"q": {"a": 1}}, run, "RR")["RR"] == 1


# Parts of a run

LISTS = st.dictionaries(
    st.sampled_from("pqr"),
    st.dictionaries(
        st.sampled_from([*"abcdefg", "10", "9"]),
        st.sampled_from([0.0, 0.5, 0.5000001, 1.0, -2.0]),
        min_size=1,
    ),
    min_size=1,
)
JUDGED = st.dictionaries(
    st.sampled_from("pqs"),
    st.dictionaries(
        st.sampled_from([*"abcxy", "10", "9"]), st.integers(-1, 2), min_size=1
    ),
    min_size=1,
)
METRICS = ["nDCG@2", "P@2", "AP@2", "RR@2", "R@2", "ERR@2"]


@given(LISTS, JUDGED)
def test_the_first_items_are_those_that_metrics_see(run: Any, qrels: Any) -> None:
    first = rk.read_run(run).head(2)

    wanted = outcome(qrels, run, METRICS)[:2]
    assert outcome(qrels, first, METRICS)[:2] == wanted
    assert outcome(qrels, first.to_dict(), METRICS)[:2] == wanted
    assert {len(items) for items in first.to_dict().values()} <= {1, 2}


def test_the_first_items_of_a_matrix_are_the_same() -> None:
    scores = np.array([[0.1, 0.5, 0.5, -math.inf], [3, 2, 1, 0]])
    run = rk.read_run(rk.from_scores(scores))

    assert run.head(2).to_dict() == {0: {2: 0.5, 1: 0.5}, 1: {0: 3, 1: 2}}
    assert run.head(9).to_dict() == {0: {2: 0.5, 1: 0.5, 0: 0.1}, 1: run[1]}
    assert run.head(0).to_dict() == {0: {}, 1: {}}
    ranked = rk.read_run(rk.from_ranked([[7, 8, 9], [9, 8, -1]], pad=-1))
    assert ranked.head(2).to_dict() == {0: [7, 8], 1: [9, 8]}


def test_first_items_say_how_many_rows_they_are() -> None:
    run = rk.read_run(RUN)

    assert run.head(1).notes == ("run: 3 of 7 rows are among the first 1 of each list",)
    assert run.head(1).head(2).to_dict() == run.head(1).to_dict()
    assert run.head(1).notes[0] in rk.evaluate(QRELS, run.head(1), "RR").notes
    with pytest.raises(ParameterError, match="k must be an integer of at least 0"):
        run.head(-1)


@given(LISTS, JUDGED)
def test_condensed_lists_are_those_of_the_convention(run: Any, qrels: Any) -> None:
    removed = rk.Convention(unjudged="removed")
    metrics = [*METRICS, "AP", "Bpref", "NumRet"]

    condensed = rk.read_run(run).condensed(qrels)

    wanted = outcome(qrels, run, metrics, convention=removed)[:2]
    assert outcome(qrels, condensed, metrics)[:2] == wanted


def test_condensed_lists_of_ids_of_two_types_and_without_ids() -> None:
    run = rk.read_run({"1": {"7": 0.5, "8": 0.4}})

    kept = run.condensed({1: {8: 0}})

    assert kept.to_dict() == {"1": {"8": 0.4}}
    assert any("compared as text" in note for note in kept.notes)
    assert kept.notes[-1] == "run: 1 row not judged in qrels: left out"
    listed = rk.read_run([["a", "b"], ["c"]])
    assert listed.condensed({"x": {"b"}, "y": {"c"}}).to_dict() == {
        "x": ["b"], "y": ["c"],
    }  # fmt: skip


def test_what_was_seen_is_left_out(tmp_path: Path) -> None:
    run = rk.read_run({"u": ["a", "b", "c"], "v": ["a"], "w": ["b"]})
    path = tmp_path / "train.csv"
    path.write_text("user,item\nu,b\nv,a\nx,a\n")

    for seen in (path, {"u": ["b"], "v": {"a"}}, rk.read_run({"u": ["b"], "v": ["a"]})):
        left = run.without(seen)
        assert left.to_dict() == {"u": ["a", "c"], "v": [], "w": ["b"]}
        assert left.notes == ("run: 2 rows with an item seen before: left out",)
    assert run.to_dict()["v"] == ["a"]  # the run itself is as it was


def test_some_queries_are_kept_in_their_order() -> None:
    run = rk.read_run(RUN)

    kept = run.filter(queries=["4", "1", "nobody", "1"])

    assert list(kept) == ["1", "4"]
    assert kept["1"] == run["1"]
    assert kept.notes == (
        "run: 2 of 3 queries kept; 1 that was asked for is not in it",
    )
    assert run.filter(queries=rk.read_qrels(QRELS)).queries == ["1", "2"]
    assert run.filter(queries=pd.Series([2])).queries == ["2"]
    qrels = rk.read_qrels(QRELS).filter(queries=("2", "3"))
    assert qrels.to_dict() == {"2": {"10": 1}, "3": {"4": 1}}
    # Query 2 has its item at the second rank, and query 3 has no list.
    assert rk.evaluate(qrels, run, "RR")["RR"] == (1 / 2 + 0) / 2


@pytest.mark.parametrize("queries", ["q1", 7, None])
def test_queries_are_a_list(queries: Any) -> None:
    with pytest.raises(ParameterError, match="queries must be a list of ids, got"):
        rk.read_run(RUN).filter(queries=queries)


# Parts that are read in another way

RERANKED = pl.DataFrame(
    [
        ("q", "a", 0.9, 4), ("q", "b", 0.8, 1), ("q", "c", 0.7, 3), ("q", "d", 0.6, 2),
        ("r", "a", 0.1, 2), ("r", "e", 0.3, 1), ("r", "d", 0.2, 3),
    ],
    ["query", "item", "score", "rank"],
    orient="row",
)  # fmt: skip
BY_HAND = {"q": {"b": 1, "c": 2, "d": 1}, "r": {"a": 1, "x": 1}}
WAYS: list[dict[str, Any]] = [
    {},
    {"order": "rank"},
    {"order": "rank_value"},
    {"order": "score"},
    {"convention": "rectools"},  # by rank, if there are ranks
    {"lower_is_better": True},
    {"lenient": True},
    {"engine": "stream"},
]


def reranked(of_file: bool, folder: Path) -> Any:  # noqa: FBT001 - a case
    if not of_file:
        return RERANKED
    lines = (f"{q} Q0 {i} {rank} {s} t\n" for q, i, s, rank in RERANKED.iter_rows())
    (folder / "some.run").write_text("".join(lines))
    return folder / "some.run"


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("of_file", [False, True])
def test_the_first_items_are_those_of_the_order_that_is_evaluated(
    how: dict[str, Any],
    of_file: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    data = reranked(of_file, tmp_path)
    metrics = ["nDCG@2", "P@2", "RR@2"]

    first = rk.read_run(data).head(2)

    assert first["q"] == {"a": 0.9, "b": 0.8}
    wanted = rk.evaluate(BY_HAND, data, metrics, **how)
    assert rk.evaluate(BY_HAND, first, metrics, **how).mean == wanted.mean
    assert rk.evaluate(BY_HAND, first, "NumRet", **how)["NumRet"] == 4


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("of_file", [False, True])
def test_other_parts_are_those_of_what_is_read(
    how: dict[str, Any],
    of_file: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    data = reranked(of_file, tmp_path)
    run, metrics = rk.read_run(data), ["nDCG", "AP", "RR"]
    left = RERANKED.filter(pl.col("item") != "d", query="q")
    pairs = [(query, item) for query, own in BY_HAND.items() for item in own]
    truth = pl.DataFrame(pairs, ["query", "item"], orient="row")
    judged = RERANKED.join(truth, on=["query", "item"], how="semi")

    for part, rows in [
        (run.filter(queries=iter(["q"])), RERANKED.filter(query="q")),
        (run.without({"q": {"d"}, "r": {}}).filter(queries=["q"]), left),
        (run.condensed(BY_HAND).filter(queries=["q", "r"]), judged),
    ]:
        wanted = outcome(BY_HAND, rows, metrics, **how)
        assert outcome(BY_HAND, part, metrics, **how)[:2] == wanted[:2]


def test_a_part_of_what_can_be_read_once_is_not_read_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = io.TextIOWrapper(io.BytesIO(b"q Q0 a 2 0.5 t\nq Q0 b 1 0.4 t\n"))
    monkeypatch.setattr("sys.stdin", text)
    part = rk.read_run("-").head(1)

    assert rk.evaluate({"q": {"a": 1}}, part, "RR")["RR"] == 1
    with pytest.raises(DataError, match="standard input can be read only once"):
        rk.evaluate({"q": {"a": 1}}, part, "RR", order="rank")
    assert len(rk.reconcile({"q": {"a": 1}}, part, "RR").rows) > 1


def test_a_part_of_a_file_that_has_changed_is_not_taken_again(tmp_path: Path) -> None:
    path = reranked(of_file=True, folder=tmp_path)
    part = rk.read_run(path).head(1)
    path.write_text("q Q0 b 1 0.5 t\n")

    assert rk.evaluate({"q": {"a": 1}}, part, "RR")["RR"] == 1
    with pytest.raises(DataError, match="has changed since it was read; read it again"):
        rk.evaluate({"q": {"a": 1}}, part, "RR", order="rank")


def test_a_part_can_be_sent_elsewhere() -> None:
    run = rk.read_run(RERANKED).without({"q": {"a"}}).head(1)

    part = pickle.loads(pickle.dumps(run))  # noqa: S301 - it is ours

    assert part.to_dict() == run.to_dict() == {"q": {"b": 0.8}, "r": {"e": 0.3}}
    assert rk.evaluate({"q": {"b": 1}}, part, "RR", lower_is_better=True)["RR"] == 0


@pytest.mark.parametrize("metric", ["nDCG", "alpha_nDCG@2"])
def test_parts_of_judgements_have_subtopics_where_they_are_asked_for(
    metric: str, tmp_path: Path
) -> None:
    path = tmp_path / "diversity.qrels"
    path.write_text("q 1 a 1\nq 2 b 2\nq 2 c 1\nr 1 a 1\n")
    run = {"q": ["b", "c", "a"], "r": ["a"]}
    qrels = rk.read_qrels(path)

    for part in (
        qrels.filter(queries=["r", "q"]),
        qrels.sample(1),
        qrels.pooled([run], None),
    ):
        wanted = rk.evaluate(path, run, metric)
        assert rk.evaluate(part, run, metric).per_query.equals(wanted.per_query)
    some = rk.evaluate(qrels.pooled([run], 1), run, metric)
    assert some.n_queries == 2
    assert some[metric] <= 1


# Pools

POOLED = {"q": {"a": 1, "b": 0, "c": 2, "d": 1}, "r": {"a": 1}}
PAIR = {"x": {"q": ["c", "e", "a"], "r": ["b"]}, "y": {"q": ["b", "c"]}}


@pytest.mark.parametrize(
    ("depth", "wanted"),
    [
        (0, {"q": {}, "r": {}}),
        (1, {"q": {"b": 0, "c": 2}, "r": {}}),
        (2, {"q": {"b": 0, "c": 2}, "r": {}}),
        (3, {"q": {"a": 1, "b": 0, "c": 2}, "r": {}}),
        (None, {"q": {"a": 1, "b": 0, "c": 2}, "r": {}}),
    ],
)
@pytest.mark.parametrize(
    "runs", [PAIR, [*PAIR.values()], tuple(map(rk.Run, PAIR.values()))]
)
def test_pooled_judgements_are_those_that_a_run_leads_to(
    runs: Any, depth: int | None, wanted: Any
) -> None:
    qrels = rk.read_qrels(POOLED).pooled(runs, depth)

    assert qrels.to_dict() == wanted
    first = "" if depth is None else f"the first {depth} of each list of "
    n = sum(map(len, wanted.values()))
    assert qrels.notes == (f"qrels: {n} of 5 judgements are in {first}these runs",)


@given(LISTS, JUDGED)
def test_a_pool_of_all_rows_has_what_a_run_is_evaluated_by(
    run: Any, qrels: Any
) -> None:
    judged = rk.read_qrels(qrels)
    metrics = ["P@2", "RR", "NumRelRet"]  # which do not look at what was not found

    pooled = judged.pooled([run], None)

    assert outcome(pooled, run, metrics)[:2] == outcome(qrels, run, metrics)[:2]
    everything = {query: [*items] for query, items in qrels.items()}
    assert judged.pooled([run, everything], None).to_dict() == judged.to_dict()


def test_a_pool_lists_what_is_to_be_judged(tmp_path: Path) -> None:
    for name, run in PAIR.items():
        lines = (
            f"{query} Q0 {item} {rank} {9 - rank} {name}\n"
            for query, items in run.items()
            for rank, item in enumerate(items, 1)
        )
        (tmp_path / f"{name}.run").write_text("".join(lines))

    for runs in (PAIR, [*PAIR.values()], str(tmp_path / "*.run")):
        pool = rk.pool(runs, 2)
        assert pool.columns == ["query", "item"]
        assert pool.rows() == [("q", "b"), ("q", "c"), ("q", "e"), ("r", "b")]
    assert rk.pool(PAIR, None).height == 5
    assert rk.pool(PAIR, 0).height == 0


def test_a_pool_of_ids_of_two_types_compares_them_as_text() -> None:
    assert rk.pool([{1: [10, 9]}, {"1": ["9"]}], 2).rows() == [("1", "10"), ("1", "9")]


@pytest.mark.parametrize(
    ("runs", "depth", "message"),
    [
        ({}, 1, "runs is empty; give at least one run"),
        ([], 1, "runs is empty; give at least one run"),
        ([["a", "b"]], 1, "cannot read run 1 from a list that holds a str"),
        (PAIR, -1, "depth must be an integer of at least 0, got -1"),
        (PAIR, 1.5, "depth must be an integer of at least 0, got 1.5"),
        (rk.Run(RUN), 1, "got Run; for a single run, pass [run]"),
    ],
)
def test_what_is_no_pool_is_refused(runs: Any, depth: Any, message: str) -> None:
    for call in (rk.pool, rk.read_qrels(POOLED).pooled):
        with pytest.raises(RankineError, match=message.replace("[", r"\[")):
            call(runs, depth)


# Samples

MANY = {f"q{n}": {f"d{item}": item % 2 for item in range(n)} for n in (1, 7, 30)}


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 1])
def test_a_sample_has_its_share_of_every_query(share: float) -> None:
    sample = rk.read_qrels(MANY).sample(share, seed=3).to_dict()

    for query, judged in MANY.items():
        exact = len(judged) * round(share * 100)
        assert len(sample[query]) == -(-exact // 100)  # rounded up
        assert sample[query].items() <= judged.items()


def test_samples_contain_smaller_ones_and_do_not_depend_on_the_order() -> None:
    qrels = rk.read_qrels(MANY)
    turned = {query: dict([*own.items()][::-1]) for query, own in [*MANY.items()][::-1]}

    for share, seed in product([0.2, 0.6], [0, 1]):
        small = qrels.sample(share, seed).to_dict()
        large = qrels.sample(share + 0.2, seed).to_dict()
        assert all(small[query].items() <= large[query].items() for query in MANY)
        assert rk.read_qrels(turned).sample(share, seed).to_dict() == small
    assert qrels.sample(0.5, 0).to_dict() != qrels.sample(0.5, 1).to_dict()
    assert qrels.sample(1).to_dict() == MANY


def test_each_judgement_is_drawn_as_often_as_any_other() -> None:
    qrels = rk.read_qrels({"q": dict.fromkeys(range(4), 1)})

    drawn = [item for seed in range(400) for item in qrels.sample(0.25, seed)["q"]]

    # 400 draws of one in four: 100 each, with a standard deviation of 8.7.
    assert len(drawn) == 400
    assert max(abs(drawn.count(item) - 100) for item in range(4)) < 4 * 8.7


@pytest.mark.parametrize("share", [0, 1.5, math.nan, "all"])
def test_a_share_is_above_0_and_up_to_1(share: Any) -> None:
    with pytest.raises(ParameterError, match="share must be"):
        rk.read_qrels(MANY).sample(share)


# How they are read


def test_distances_become_scores() -> None:
    near = {"q": {"a": 0.1, "b": 0.5, "c": 0.3}}
    run = rk.read_run(near, lower_is_better=True)

    assert list(run["q"].items()) == [("a", -0.1), ("c", -0.3), ("b", -0.5)]  # type: ignore[union-attr]
    wanted = rk.evaluate({"q": {"c": 1}}, near, "RR", lower_is_better=True)
    for lower in (False, True):  # what is said twice is done once
        found = rk.evaluate({"q": {"c": 1}}, run, "RR", lower_is_better=lower)
        assert found["RR"] == wanted["RR"] == 1 / 2
    assert list(run.head(1)["q"]) == ["a"]


@pytest.mark.parametrize("of_file", [False, True])
def test_a_lenient_reader_drops_rows_and_says_so(
    of_file: bool,  # noqa: FBT001 - a case
    tmp_path: Path,
) -> None:
    path = tmp_path / "messy.csv"
    path.write_text("query,item,score,rank\nq,b,0.5,1\n,c,1,1\nq,a,,2\nq,b,0.7,3\n")
    run = rk.read_run(path if of_file else pl.read_csv(path), lenient=True)

    name = str(path) if of_file else "run"
    assert run["q"] == {"b": 0.7, "a": -math.inf}
    assert run.notes == (
        f"{name}: 1 row without an id: dropped",
        f"{name}: 1 score not a number: ranked last",
        f"{name}: 1 row repeating an item: dropped, the best score is kept",
    )
    assert rk.evaluate({"q": {"a": 1}}, run, "RR")["RR"] == 1 / 2
    assert rk.evaluate({"q": {"a": 1}}, run, "RR", lenient=True)["RR"] == 1 / 2
    # By rank, b is first, and third again.
    assert rk.evaluate({"q": {"a": 1}}, run, "RR", order="rank")["RR"] == 1 / 2
    judged = pl.DataFrame({"query": ["q", "q"], "item": ["a", "a"], "grade": [1, 2]})
    assert rk.read_qrels(judged, lenient=True)["q"] == {"a": 2}
