"""Results speak of users where the data do, in the words they have for queries."""

from __future__ import annotations

import json
import pickle
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine._report.of_comparison import page_of as comparison_page
from rankine._report.of_evaluation import page_of as evaluation_page
from rankine.errors import DataError, DuplicateItemError, FormatError, RankineError
from tests.evaluate.streams import small
from tests.shell import Shell, shell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IDS = [f"id{n:02}" for n in range(24)]
# The first has two grades, the last nothing relevant, every fifth one item.
JUDGED = [
    (query, item, grade)
    for n, query in enumerate(IDS)
    for item, grade in (("a", int(n < 23)), ("b", int(n == 0)), ("d", -int(n == 2)))
    if item == "a" or n % 5
]
# Some lists are tied, some short, and some are missing or not judged.
GOOD = [
    (query, item, score)
    for n, query in enumerate([*IDS[1:], "more"])
    for item, score in (("a", 0.9), ("x", 0.9 - n % 3), ("b", -3.0), ("y", -4.0))
    if item != "y" or n % 7
]
BAD = [(query, item, -score) for query, item, score in GOOD]
__all__ = ["shell"]
FIELDS = re.compile(r"query = \w+|\bqueries[=:]|without effect here: [\w,\s]+")
"""Parts of a table, and fields of a convention, which have names of their own."""


def table(rows: list[Any], column: str, value: str) -> pl.DataFrame:
    return pl.DataFrame(rows, [column, "item", value], orient="row")


def data(column: str, other: str | None = None) -> tuple[Any, Any, Any]:
    """Return judgements and two runs, whose column of queries may differ."""
    good, bad = (table(rows, other or column, "score") for rows in (GOOD, BAD))
    return table(JUDGED, column, "grade"), good, bad


METRICS = ["nDCG@3", "MRR", "P@2", "AUC"]


def evaluations(qrels: Any, good: Any, bad: Any) -> dict[str, Any]:
    counts = {query: n % 3 for n, query in enumerate([*IDS, "more"])}
    ev = rk.evaluate(qrels, good, METRICS, keep=2, rel=1, name="good")
    found = {"plain": ev, "worst": ev.worst("MRR", 3), "loaded": rk.load(ev.to_json())}
    found["weighted"] = rk.evaluate(qrels, bad, "nDCG@3", weights=counts)
    found["cut"] = rk.evaluate(qrels, good, "nDCG@3", depth=1)
    found["coverage"] = rk.evaluate(qrels, good, ["P@1", "ILD@2"], items=ITEMS)
    for name in ("jurity", "elliot", "ranksys"):
        found[name] = rk.evaluate(qrels, good, METRICS, convention=name)
    found["one"] = rk.evaluate(qrels[3:4], bad, "P@2", rel=1)
    found["alone"] = rk.evaluate(qrels, good.tail(12), "P@2", rel=1)
    found["many"] = rk.evaluate_many({"one": (qrels, good), "two": (qrels, bad)}, "AP")
    found["accumulated"] = rk.Accumulator("P@2").update(qrels, good)
    return found


ITEMS = {item: [n, 1 - n] for n, item in enumerate("abxy")}


def comparisons(qrels: Any, good: Any, bad: Any) -> dict[str, Any]:
    runs = {"good": good, "bad": bad}
    by = {query: str(n % 2) for n, query in enumerate([*IDS, "more"])}
    cmp = rk.compare(qrels, runs, ["nDCG@3", "MRR", "ILD@2"], items=ITEMS, by=by)
    few = rk.compare(qrels.head(20), {"a": good, "b": good.head(40)}, "MRR")
    return {
        "compared": cmp,
        "moved": cmp.moved("MRR", "good", "bad", 2),
        "again": rk.load(cmp.to_json()),
        "few": few,
        "many": rk.compare_many({"one": (qrels, runs), "two": (qrels, runs)}, "MRR"),
        "hopeless": rk.compare(qrels.head(6), runs, "MRR", test="sign"),
    }


def others(qrels: Any, good: Any, bad: Any) -> dict[str, Any]:
    found = rk.reconcile(qrels, good, "AP@3")
    return {
        "similar": rk.similarity(good, bad.tail(40), ["AO@4", "tau(on=intersection)"]),
        "matrix": rk.similarity_matrix({"g": good, "b": bad.tail(9)}, "AO@2"),
        "check": rk.check(qrels, good.tail(70)),
        "reconciled": found,
        "explained": found.explain("rankine", "recommenders"),
    }


def gates(qrels: Any, good: Any, bad: Any, path: Path) -> dict[str, Any]:
    made = rk.gate(qrels, good, path, metrics=["MRR", "P@1"], update=True)
    few = rk.gate(qrels, good.filter(item="a"), path, 0.01)
    return {"made": made, "worse": rk.gate(qrels, bad, path, 0.01), "few": few}


def texts(result: Any) -> dict[str, str]:
    """Return all that a result says, but for keys of JSON and names of columns."""
    ways = ("__str__", "to_markdown", "to_latex", "_repr_html_")
    said = {way: str(getattr(result, way)()) for way in ways if hasattr(result, way)}
    for part in ("notes", "warnings", "sentences", "fallen", "findings"):
        if hasattr(result, part):
            said[part] = str(getattr(result, part))
    if isinstance(result, rk.Evaluation) and result.name == "good":
        said["page"] = evaluation_page(result).text()
    if isinstance(result, rk.Comparison):
        said["page"] = comparison_page(result).text()
    return {way: words(text) for way, text in said.items()}


def words(text: str) -> str:
    """Return a text without what is not about the data."""
    text = re.sub(r"<script\b.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'(id|href)="#?queries"|written <time.*?</time>', "", text)
    text = re.sub(r"Content-Security-Policy.*?>", "", text)
    # Tables are as wide as their words, and break lines that are long.
    return re.sub(r"\s+", " ", text.replace(";white-space:nowrap", ""))


def of_queries(text: str) -> str:
    """Put queries in the place of users."""
    for user, query in (("users", "queries"), ("user", "query")):
        text = text.replace(user, query).replace(user.title(), query.title())
    return text


MAKERS: list[Callable[..., dict[str, Any]]] = [evaluations, comparisons, others, gates]


@pytest.mark.slow
@pytest.mark.parametrize("maker", MAKERS)
def test_every_text_is_that_of_queries_with_another_noun(
    maker: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    more = [tmp_path / "base.json"] if maker is gates else []
    theirs = maker(*data("query_id"), *more)
    ours = maker(*data("user_id"), *more)

    said = 0
    for name, result in ours.items():
        before = texts(theirs[name])
        for way, text in texts(result).items():
            plain = FIELDS.sub("", text)
            odd = re.findall(
                r"[^\n]{,40}\bquer(?:y|ies)\b[^\n]{,40}", plain, re.IGNORECASE
            )
            assert not odd, (name, way)
            assert of_queries(text) == of_queries(before[way]), (name, way)
            assert "users" not in before[way] or name == "accumulated", (name, way)
            said += "user" in FIELDS.sub("", text)
    assert said > 5


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("user", "user"), ("user_id", "user"), ("userId", "user"), ("UserID", "user"),
        ("uid", "user"), ("u_id", "user"), ("query", "query"), ("qid", "query"),
        ("query-id", "query"), ("session_id", "query"), ("topic", "query"),
    ],
)  # fmt: skip
def test_the_name_of_the_column_decides(column: str, unit: str) -> None:
    qrels, run, _ = data(column)

    ev = rk.evaluate(qrels, run, "MRR")
    plural = {"user": "users", "query": "queries"}[unit]
    assert ev.unit == unit
    assert f"\n24 {plural}. Below each" in str(ev)
    assert ev.per_query.columns == ["query", "MRR"]  # as ever
    assert ev.to_dict()["unit"] == unit


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("customer", "user"), ("user_idx", "user"), ("raw visitor id", "user"),
        ("reviewerID", "user"), ("user_session", "query"), ("search_id", "query"),
        ("user_query", "query"), ("user_input", "query"), ("key", "query"),
        ("id", "query"), ("buid", "query"),
    ],
)  # fmt: skip
def test_so_does_that_of_a_column_that_was_named(column: str, unit: str) -> None:
    qrels, run, _ = data(column)

    assert rk.evaluate(qrels, run, "MRR", columns={"query": column}).unit == unit


@pytest.mark.parametrize(
    ("judged", "listed", "unit"),
    [
        ("user_id", "uid", "user"),
        ("user_id", "qid", "query"),
        ("query", "user", "query"),
        ("user_id", "session_id", "query"),
        ("user_id", None, "user"),
        (None, "user_id", "user"),
        (None, "qid", "query"),
        (None, None, "query"),
    ],
)
def test_both_sides_decide(judged: str | None, listed: str | None, unit: str) -> None:
    sides: list[Any] = [{"id01": {"a": 1}}, {"id01": ["a"]}]
    if judged:
        sides[0] = data(judged)[0]
    if listed:
        sides[1] = data(listed)[1]

    qrels, run = sides
    assert rk.evaluate(qrels, run, "MRR").unit == unit
    assert rk.check(qrels, run).unit == unit


def test_training_data_are_about_users() -> None:
    qrels: Any = {"u": {"a": 1}}
    run: Any = {"u": ["a"]}
    train = {"u": ["b"]}

    assert rk.evaluate(qrels, run, ["MRR", "Serendipity@1"], train=train).unit == "user"
    assert rk.evaluate(None, run, "Novelty@1", train=train).unit == "user"
    # Not those of a search engine, whose columns say so.
    qrels, run, _ = data("qid")
    assert rk.evaluate(qrels, run, "MRR", train=train).unit == "query"


@pytest.mark.parametrize(
    ("name", "text", "unit"),
    [
        ("a.inter", "user_id:token\titem_id:token\trating:float\n1\ta\t1\n", "user"),
        ("ratings.dat", "1::7::4::978300760\n", "user"),
        ("u.data", "1\t7\t4\t978300760\n1\t8\t2\t978300760\n", "user"),
        ("plain.csv", "1,7,4\n1,8,2\n", "query"),
        ("a.qrels", "1 0 7 1\n", "query"),
        ("a.jsonl", '{"user_id": "1", "item": "7", "grade": 1}\n', "user"),
        ("b.jsonl", '{"uid": "1", "items": [{"id": "7", "grade": 1}]}\n', "user"),
        ("a.json", '{"1": {"7": 1}}', "query"),
        ("b.json", '{"1": [{"id": "7", "grade": 1}]}', "query"),
    ],
)
def test_files_say_it_by_their_header(
    name: str, text: str, unit: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)

    assert rk.read_qrels(path).source.unit == (unit if unit == "user" else "")
    assert rk.evaluate(path, {"1": ["7"]}, "MRR", rel=1).unit == unit


@pytest.mark.parametrize("engine", ["stream", "memory"])
@pytest.mark.parametrize(
    "form", ["csv", "parquet", "csvs", "parquets", "batches", "lazy"]
)
def test_streams_and_parts_agree(form: str, engine: str, tmp_path: Path) -> None:
    _, frame, _ = data("user_id")
    frame = frame.sort("item", maintain_order=True)  # mixed users
    # Only the run says that these are users.
    qrels: dict[str, dict[str, int]] = {}
    for user, item, grade in JUDGED:
        qrels.setdefault(user, {})[item] = grade
    once = rk.evaluate(qrels, frame, METRICS, rel=1, name="run")
    run: Any = tmp_path / "run"
    if form in {"csvs", "parquets"}:
        run.mkdir()
        for name, part in (("1", frame.head(30)), ("2", frame[30:])):
            write = part.write_csv if form == "csvs" else part.write_parquet
            write(run / name)
    elif form in {"csv", "parquet"}:
        write = frame.write_csv if form == "csv" else frame.write_parquet
        write(run)
    else:
        run = iter(frame.iter_slices(7)) if form == "batches" else frame.lazy()

    with small():
        found = rk.evaluate(qrels, run, METRICS, rel=1, name="run", engine=engine)
    assert found.unit == "user"
    assert of_users(found) == of_users(once) != []
    assert "quer" not in FIELDS.sub("", str(found.notes))


def of_users(ev: rk.Evaluation) -> list[str]:
    """Return the notes on users, but for those on columns."""
    return [note for note in ev.notes if "user" in FIELDS.sub("", note)]


def test_batches_agree() -> None:
    qrels, run, _ = data("user_id")
    once = rk.evaluate(qrels, run, METRICS, rel=1, name="run")

    total = rk.Accumulator(METRICS, rel=1, name="run")
    other = rk.Accumulator(METRICS, rel=1, name="run")
    for n, query in enumerate([*IDS, "more"]):
        part = [frame.filter(user_id=query) for frame in (qrels, run)]
        (other if n % 3 else total).update(*part)
    assert repr(total.merge(other)) == "Accumulator(24 users in 25 batches)"
    assert total.result().notes == once.notes
    again = pickle.loads(pickle.dumps(once))  # noqa: S301 - our own
    assert (again.unit, again.notes) == (once.unit, once.notes)


def test_so_do_notes_that_are_made_when_data_are_joined() -> None:
    qrels, run, _ = data("user_id")
    numbered = pl.DataFrame({"user_id": [7, 8], "item": ["a", "a"], "grade": [1, 1]})

    ev = rk.evaluate(qrels, run, "Serendipity@1", train={"id01": ["b"]}, catalog=9)
    assert "1 judged user without a list: treated as an empty list" in ev.notes
    few = rk.evaluate(numbered, {"7": ["a"]}, "P@1").notes
    assert "user ids are ints in qrels and text in run; compared as text" in few
    left = rk.similarity(run, run.head(9), "AO@1").notes
    assert any(re.fullmatch(r"\d+ users of .* left out", note) for note in left)


def test_a_comparison_is_of_users_if_all_runs_are() -> None:
    qrels, good, bad = data("user_id")
    theirs = bad.rename({"user_id": "qid"})

    cmp = rk.compare(qrels, {"a": good, "b": bad}, "MRR")
    assert cmp.unit == "user"
    again = rk.load(cmp.to_json())
    assert (again.unit, again.evaluations["a"].unit) == ("user", "user")
    assert rk.compare(qrels, {"a": good, "b": theirs}, "MRR").unit == "query"


def test_what_an_older_version_saved_is_of_queries() -> None:
    ev = rk.evaluate(*data("user_id")[:2], "MRR")
    record = json.loads(ev.to_json())
    assert rk.load(json.dumps(record)).unit == "user"

    del record["unit"]
    assert rk.load(json.dumps(record)).unit == "query"
    record["unit"] = "cat"
    with pytest.raises(FormatError, match="unit is 'cat'; expected query or user"):
        rk.load(json.dumps(record))


def test_messages_say_it_too() -> None:
    qrels, run, _ = data("user_id")
    apart = run.with_columns(user_id="other" + pl.col("user_id"))

    for metric in ("MRR", "ILD@2"):
        with pytest.raises(DataError, match="0 of 24 judged users are in the run"):
            rk.evaluate(qrels, apart, [metric, "Precision@1"], items=ITEMS)
    rule = rk.Convention(missing_run="error")
    with pytest.raises(DataError, match="lacks 1 of 24 judged users"):
        rk.evaluate(qrels, run, "MRR", convention=rule)
    with pytest.raises(DataError, match=r"no weight for 23 users .* for every user"):
        rk.evaluate(qrels, run, "MRR", weights={"id00": 1})


@pytest.mark.parametrize("engine", ["stream", "memory"])
@pytest.mark.parametrize("form", ["csv", "csvs", "parquet", "lazy", "frame"])
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("u1", "a", 1.0), ("u1", "a", 2.0)], "item 'a' appears twice for user 'u1'"),
        ([("u1", "a", float("nan"))], "the score of item 'a' for user 'u1' is not a"),
        ([(None, "a", 1.0)], "1 user id is missing"),
    ],
)
def test_refusals_of_a_row_say_it(
    rows: list[Any], said: str, form: str, engine: str, tmp_path: Path
) -> None:
    others = [(f"v{n}", "b", 1.0) for n in range(9)]
    frame = pl.DataFrame([*rows, *others], ["user_id", "item", "score"], orient="row")
    run: Any = {"lazy": frame.lazy(), "frame": frame}.get(form, tmp_path / "run")
    if form == "csvs":
        run.mkdir()
        frame.head(4).write_csv(run / "1")
        frame[4:].write_csv(run / "2")
    elif form in {"csv", "parquet"}:
        getattr(frame, f"write_{form}")(run)

    wanted = "auto" if form == "frame" else engine
    qrels: Any = {"u1": {"a": 1}}
    for judged, metric in ((qrels, "MRR"), (None, "Coverage@2")):
        with small(), pytest.raises(RankineError, match=re.escape(said)):
            rk.evaluate(judged, run, metric, catalog=9, engine=wanted)


def test_refusals_of_judgements_and_weights_say_it() -> None:
    twice = pl.DataFrame({"user_id": ["u1", "u1"], "item": ["a", "a"], "grade": [1, 1]})
    both = twice.with_columns(subtopic=pl.lit("s"))
    for qrels, metric, said in (
        (twice, "MRR", "item 'a' is judged twice for user 'u1'"),
        (both, "SRecall@2", "item 'a' is judged twice for subtopic 's' of user 'u1'"),
    ):
        with pytest.raises(DuplicateItemError, match=re.escape(said)):
            rk.evaluate(qrels, {"u1": ["a"]}, metric)
    weights = pl.DataFrame({"user_id": ["u1", "u1"], "weight": [1, 2]})
    with pytest.raises(DataError, match="user 'u1' has a weight already"):
        rk.evaluate(twice.head(1), {"u1": ["a"]}, "MRR", weights=weights)
    ranks = pl.DataFrame({"user_id": ["u1", "u1"], "item": ["a", "b"], "rank": [1, 1]})
    with pytest.raises(DataError, match="rank 1 appears twice for user 'u1'"):
        rk.evaluate(twice.head(1), ranks, "MRR", order="rank_value")
    with pytest.raises(DataError, match="item 'a' for user 'u1' is 0; ranks"):
        rk.evaluate(
            twice.head(1), ranks.with_columns(rank=pl.lit(0)), "MRR", order="rank_value"
        )


def test_lists_without_ids_are_those_of_users() -> None:
    qrels, _, _ = data("user_id")
    lists = [["a", "b"] for _ in IDS]

    said = "run has no user ids: its lists are paired with the users of qrels by"
    assert any(note.startswith(said) for note in rk.evaluate(qrels, lists, "MRR").notes)


def test_runs_and_judgements_say_it() -> None:
    frames = data("user_id")[:2]
    qrels, run = rk.read_qrels(frames[0]), rk.read_run(frames[1])

    assert repr(qrels) == f"Qrels('qrels', 24 users, {len(JUDGED)} rows)"
    assert "run: 2 of 24 users kept" in run.filter(queries=["id01", "id02"]).notes
    with pytest.raises(KeyError, match="qrels has no user 'none'"):
        _ = qrels["none"]
    for cut in (run.head(2), run.condensed(qrels), run.filter(queries=run)):
        assert rk.evaluate(dict(qrels.to_dict()), cut, "MRR").unit == "user"


def test_so_do_fused_runs() -> None:
    qrels, run, _ = data("user_id")
    fused = rk.fuse({"a": run, "b": run.head(40)})
    tuned = rk.tune_fusion({"a": run, "b": run}, qrels, "MRR", folds=2)

    assert re.match(r"\d+ users not in b \(", [*fused.notes][-1])
    assert rk.evaluate({"id01": {"a": 1}}, fused, "MRR").unit == "user"
    assert "quer" not in FIELDS.sub("", str(tuned))


def test_rows_without_names_do_not_say_it() -> None:
    rows = [("id01", "a", 0.5), ("id02", "b", 0.25)]  # as of a cursor

    assert rk.evaluate(data("user_id")[0], rows, "MRR").unit == "user"


def test_commands_say_it(shell: Shell, tmp_path: Path) -> None:
    names = [str(tmp_path / f"{name}.csv") for name in ("qrels", "good", "bad")]
    for name, frame in zip(names, data("user_id"), strict=True):
        frame.write_csv(name)

    said = {
        ("evaluate", *names, "-m", "MRR"): "24 users. Below each number",
        (
            "compare",
            *names,
            "-m",
            "MRR",
        ): "count the users that gain, stay the same and lose",
        ("check", *names[:2]): "users in both",
        ("similarity", *names[1:]): "24 users. Below each number",
    }
    for command, sentence in said.items():
        assert sentence in shell.run(*command).out
