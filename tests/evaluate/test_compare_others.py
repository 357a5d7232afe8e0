"""compare_values: values as other tools return and print them."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, FormatError, ParameterError, RankineError
from tests.evaluate.comparisons import OLD, OTHER, QRELS, RUNS, compared

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.shell import Shell

from tests.shell import shell  # noqa: F401 - a fixture

METRICS = ["RR", "nDCG@10", "AP"]
Metric = namedtuple("Metric", ["query_id", "measure", "value"])  # noqa: PYI024 - as theirs


def evaluations(metrics: Any = METRICS, **options: Any) -> dict[str, rk.Evaluation]:
    return {
        name: rk.evaluate(QRELS, run, metrics, name=name, **options)
        for name, run in RUNS.items()
    }


def nested() -> dict[str, dict[str, dict[str, float]]]:
    """Return {run: {query: {metric: value}}}, as pytrec_eval has it."""
    return {
        name: {row.pop("query"): row for row in ev.per_query.to_dicts()}
        for name, ev in evaluations().items()
    }


def rows() -> list[tuple[str, str, str, float]]:
    return [
        (run, query, metric, value)
        for run, queries in nested().items()
        for query, own in queries.items()
        for metric, value in own.items()
    ]


def measures() -> dict[str, list[Metric]]:
    """Return the values per query of each run, as ir_measures yields them."""
    listed: dict[str, list[Metric]] = {}
    for run, query, metric, value in rows():
        listed.setdefault(run, []).append(Metric(query, metric, value))
    return listed


def accumulated() -> dict[str, rk.Evaluation]:
    made: dict[str, rk.Evaluation] = {}
    for name, run in RUNS.items():
        batches = rk.Accumulator(METRICS)
        for query in QRELS:
            batches.update({query: QRELS[query]}, {query: run[query]})
        made[name] = batches.result()
    return made


LONG = ["run", "query", "metric", "value"]
FORMS: dict[str, Callable[[], Any]] = {
    "evaluations": evaluations,
    "list of evaluations": lambda: [*evaluations().values()],
    "accumulated": accumulated,
    "loaded": lambda: [rk.load(ev.to_json()) for ev in evaluations().values()],
    "pytrec_eval": nested,
    "ir_measures": measures,
    "ir_measures, lazy": lambda: {run: iter(own) for run, own in measures().items()},
    "long frame": lambda: pl.DataFrame(rows(), LONG, orient="row"),
    "long pandas": lambda: pl.DataFrame(
        rows(), ["system", "query_id", "measure", "value"], orient="row"
    ).to_pandas(),
    "frames": lambda: {run: ev.per_query for run, ev in evaluations().items()},
    "mixed": lambda: {
        "old": evaluations()["old"], "new": nested()["new"],
        "other": iter(measures()["other"]),
    },
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_values_in_every_form_are_compared_as_the_runs_are(form: str) -> None:
    wanted = compared(METRICS)

    found = rk.compare_values(FORMS[form](), draws=500)

    assert found.systems == ("old", "new", "other")
    assert found.metrics == tuple(METRICS)
    assert found.pairwise.equals(wanted.pairwise)
    assert found.table.equals(wanted.table)
    assert found.queries == wanted.queries


@pytest.mark.parametrize("form", FORMS)
def test_metrics_can_be_chosen_by_any_of_their_names(form: str) -> None:
    found = rk.compare_values(FORMS[form](), ["ndcg_cut_10", rk.AP], draws=500)

    wanted = compared(["nDCG@10", "AP"])
    assert found.pairwise.drop("metric").equals(wanted.pairwise.drop("metric"))
    assert set(found.metrics) <= {"ndcg_cut_10", "nDCG@10", "AP"}


def test_by_hand() -> None:
    x = {"q1": {"map": 0.1, "num": 3}, "q2": {"map": 0.2, "num": 4}}
    y = {"q2": {"map": 0.4, "num": np.float32(4)}, "q1": {"map": 0.2, "num": None}}

    found = rk.compare_values({"x": x, "y": y})

    differences = found.pairwise.select("metric", "difference").rows()
    assert differences == [
        ("map", pytest.approx(((0.2 - 0.1) + (0.4 - 0.2)) / 2)), ("num", 0.0),
    ]  # fmt: skip
    assert found.table["mean"].to_list() == pytest.approx(
        [(0.1 + 0.2) / 2, (3 + 4) / 2, (0.4 + 0.2) / 2, 4]
    )
    assert found.notes == (
        "num: 1 query without a value in y (q1), left out of its pairs",
    )


def test_single_numbers_per_query_are_one_metric() -> None:
    found = rk.compare_values({"x": {1: 0.5, 2: 0.1}, "y": {"1": 0.7, "2": 0.2}})

    assert found.metrics == ("value",)
    assert found.pairwise["difference"][0] == pytest.approx((0.2 + 0.1) / 2)


def test_a_correction_may_be_for_all_metrics() -> None:
    apart, together = (
        rk.compare_values(nested(), family=family, draws=500).pairwise["p_corrected"]
        for family in ("metric", "all")
    )

    assert together.equals(compared(METRICS, family="all").pairwise["p_corrected"])
    assert not together.equals(apart)


def test_evaluations_keep_their_lists_and_weights() -> None:
    found = rk.compare_values(evaluations("RR", keep=2))
    heavy = dict.fromkeys(QRELS, 1.0) | {"q1": 5.0}
    weighted = rk.compare_values(evaluations("RR", weights=heavy), draws=500)

    moved = found.moved("RR", "old", "new")[0]
    assert [item.item for item in moved.tops[0]][:1] == [OLD[moved.query][0]]
    wanted = compared("RR", weights=heavy)
    assert weighted.pairwise.equals(wanted.pairwise)
    with pytest.raises(ParameterError, match="old has weights of queries, which"):
        rk.compare_values(
            {"old": evaluations("RR", weights=heavy)["old"], "x": OTHER_RR}
        )


# Evaluations that hold more than can be compared


@pytest.mark.parametrize("metric", ["GMAP", "Coverage@2"])
@pytest.mark.parametrize("batched", [False, True], ids=["whole", "batched"])
def test_a_metric_that_cannot_be_compared_does_not_stop_the_others(
    metric: str,
    batched: bool,  # noqa: FBT001
) -> None:
    def of(run: Any) -> rk.Evaluation:
        options: Any = {"catalog": 9} if metric != "GMAP" else {}
        if not batched:
            return rk.evaluate(QRELS, run, ["AP", metric], **options)
        batches = rk.Accumulator(["AP", metric], **options)
        for query in QRELS:
            batches.update({query: QRELS[query]}, {query: run[query]})
        return batches.result()

    found = {name: of(run) for name, run in RUNS.items()}

    assert compared("AP").pairwise.equals(
        rk.compare_values(found, "AP", draws=500).pairwise
    )
    if metric == "GMAP" or batched:
        every = rk.compare_values(found, draws=500)
        assert every.metrics == ("AP",)
        assert every.notes[0].startswith(f"left out: {metric} is ")
        with pytest.raises(ParameterError, match=f"^{metric} is "):
            rk.compare_values(found, metric)
    else:
        assert rk.compare_values(found).metrics == ("AP", metric)


def test_metrics_that_are_no_means_are_left_out_of_other_comparisons() -> None:
    old, new = (
        rk.evaluate(QRELS, RUNS[name], ["AP", "GMAP"]) for name in ("old", "new")
    )
    more = rk.evaluate(QRELS, RUNS["new"], ["AP", "GMAP", "RR"])

    found = rk.compare_values({"old": old, "new": more}, draws=500)

    assert found.metrics == ("AP",)
    assert "GMAP of old: left out, as not a mean over queries" in found.notes
    assert found.pairwise.equals(
        rk.compare_values({"old": old, "new": new}, "AP", draws=500).pairwise
    )


@pytest.mark.parametrize("better", [False, {"RR": False}])
def test_evaluations_are_compared_in_another_direction(better: Any) -> None:
    heavy = dict.fromkeys(QRELS, 1.0) | {"q1": 5.0}
    found = evaluations("RR", weights=heavy)
    up = rk.compare_values(found, draws=500).pairwise
    down = rk.compare_values(found, higher_is_better=better, draws=500).pairwise

    assert down["wins"].equals(up["losses"].alias("wins"))
    assert down["difference"].equals(up["difference"])


@pytest.mark.parametrize("other", [None, 2.0])
def test_queries_of_two_weights_are_not_compared(other: float | None) -> None:
    heavy = dict.fromkeys(QRELS, 1.0) | {"q1": 5.0}
    less = None if other is None else heavy | {"q1": other}
    each = {
        "old": rk.evaluate(QRELS, RUNS["old"], "RR", weights=heavy),
        "new": rk.evaluate(QRELS, RUNS["new"], "RR", weights=less),
    }

    message = "old and new weigh query 'q1' differently, 5 and [12]; give both"
    with pytest.raises(ParameterError, match=message):
        rk.compare_values(each)


def test_options_are_checked_as_those_of_runs_are() -> None:
    heavy = dict.fromkeys(QRELS, 1.0) | {"q1": 5.0}
    weighted = evaluations("RR", weights=heavy)
    whole = evaluations("Coverage@2", catalog=9)

    with pytest.raises(ParameterError, match="test='wilcoxon' takes no weights"):
        rk.compare_values(weighted, test="wilcoxon")
    with pytest.raises(ParameterError, match="is a single number for all users, but"):
        rk.compare_values(whole, test="tukey_hsd")


def test_systems_are_told_apart_by_their_names() -> None:
    first = evaluations("RR")["old"]

    with pytest.raises(ParameterError, match="two systems have the same name as text"):
        rk.compare_values({1: first, "1": first})


def test_values_by_metric_and_then_by_query_are_turned() -> None:
    turned = {
        name: {
            metric: {query: own[metric] for query, own in queries.items()}
            for metric in METRICS
        }
        for name, queries in nested().items()
    }

    found = rk.compare_values(turned, draws=500)

    assert found.pairwise.equals(compared(METRICS).pairwise)
    assert found.notes[0] == "old is read as {metric: {query: value}}"


@pytest.mark.parametrize("form", ["nested", "long", "measures"])
def test_means_among_the_values_of_queries_are_left_out(form: str) -> None:
    wanted = rk.compare_values(nested(), draws=500).pairwise
    values: Any = nested()
    if form == "nested":
        for queries in values.values():
            queries["all"] = dict.fromkeys(METRICS, 0.5)
    elif form == "long":
        means = [(run, "all", metric, 0.5) for run in RUNS for metric in METRICS]
        values = pl.DataFrame([*rows(), *means], LONG, orient="row")
    else:
        values = {
            run: [*own, *(Metric("all", metric, 0.5) for metric in METRICS)]
            for run, own in measures().items()
        }

    found = rk.compare_values(values, draws=500)

    assert found.pairwise.equals(wanted)
    assert "values of 'all' of old, new, other are means, and left out" in found.notes


def test_runs_of_a_long_frame_may_be_numbers() -> None:
    number = {name: n for n, name in enumerate(RUNS)}
    table = pl.DataFrame(
        [(number[run], *own) for run, *own in rows()], LONG, orient="row"
    )

    found = rk.compare_values(table, draws=500)

    assert found.systems == ("0", "1", "2")
    assert found.table["mean"].equals(compared(METRICS).table["mean"])


OTHER_RR = {query: {"RR": 0.5} for query in QRELS}


# What trec_eval prints


def printed(run: str, shell: Shell, *options: str) -> str:  # noqa: F811
    """Return what trec_eval -q prints, from the same numbers."""
    lines = [
        f"{query} Q0 {item} {rank} {-rank} {run}\n"
        for query, items in RUNS[run].items()
        for rank, item in enumerate(items, 1)
    ]
    judged = "".join(
        f"{query} 0 {item} {grade}\n"
        for query, own in QRELS.items()
        for item, grade in own.items()
    )
    path, qrels = shell.write(f"{run}.run", "".join(lines)), shell.write("q", judged)
    metrics = ["-m", "map", "-m", "recip_rank", "-m", "ndcg_cut.10"]
    shown = shell.run(
        "evaluate", qrels, path, "--style", "trec_eval", *metrics, *options
    )
    assert shown.code == 0
    return shell.write(f"{run}.eval", shown.out)


def test_what_trec_eval_printed(shell: Shell) -> None:  # noqa: F811
    paths = {run: printed(run, shell, "-q") for run in ("old", "new")}
    wanted = compared(["AP", "RR", "nDCG@10"], {run: RUNS[run] for run in paths})

    found = rk.compare_values(paths, draws=500)

    assert found.metrics == ("map", "recip_rank", "ndcg_cut_10")
    assert found.table["mean"].to_list() == pytest.approx(
        wanted.table["mean"].to_list(), abs=5e-5
    )
    assert found.pairwise["wins"].equals(wanted.pairwise["wins"])
    assert found.notes == tuple(
        f"{path}: values have 4 decimals: smaller differences are ties"
        for path in paths.values()
    )
    for files in (list(paths.values()), str(shell.folder / "*.eval")):
        again = rk.compare_values(files, "map", draws=500)
        assert set(again.systems) == {"old.eval", "new.eval"}
        assert again.metrics == ("map",)


def test_lines_of_trec_eval(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text(
        "num_ret               \tq1\t5\nmap                   \tq1\t0.25000001\n\n"
        "runid                 \tall\tmine\nmap                   \tall\t0.2500\n"
    )
    other.write_text("map q1 0.5\nnum_ret q1 5\nrelstring_10 all -\n")

    found = rk.compare_values([one, other])

    assert found.metrics == ("num_ret", "map")
    assert found.pairwise["difference"].to_list() == [0, pytest.approx(0.25)]
    assert found.notes == (
        f"{other}: values have 4 decimals: smaller differences are ties",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "map all 0.5\n",
            "x: has no values of queries; let trec_eval print them with -q",
        ),
        ("map q1\n", "x:1: expected a measure, a query and a value"),
        ("map q1 0.5\nmap q2 high\n", "x:2: the value of map is 'high', not a number"),
        (
            "map q1 0.5\nmap q1 0.5\n",
            "x:2: query 'q1' has a second value of map",
        ),
        ("map q1 inf\n", "x:1: map of query 'q1' is inf; expected a finite number"),
    ],
)
def test_what_trec_eval_did_not_print_is_refused(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "x").write_text(text)
    (tmp_path / "y").write_text("map q1 0.5\n")

    with pytest.raises(DataError, match=message):
        rk.compare_values([tmp_path / "x", tmp_path / "y"])


# Names and directions of metrics


def test_metrics_with_two_names_are_one_and_others_are_left_out() -> None:
    values = {
        "old": {"q1": {"map": 0.5, "mine": 1.0}, "q2": {"map": 0.1, "mine": 2.0}},
        "new": {"q1": {"AP": 0.5, "x": 1.0}, "q2": {"AP": 0.5, "x": 3}},
    }

    found = rk.compare_values(values)

    assert found.metrics == ("map",)
    assert found.notes == (
        "map is called AP in new",
        "mine of old: left out, as not all systems have it",
        "x of new: left out, as not all systems have it",
    )
    assert rk.compare_values(values, "MAP").metrics == ("MAP",)
    with pytest.raises(ParameterError, match="mine is not among the metrics of all"):
        rk.compare_values(values, "mine")


def test_rankine_knows_in_which_direction_its_own_metrics_are_better() -> None:
    low = {query: {"fallout@5": 0.1, "mine": 0.1, "NumRet": 1} for query in QRELS}
    high = {query: {"fallout@5": 0.2, "mine": 0.2, "NumRet": 2} for query in QRELS}

    def best(**options: Any) -> list[bool]:
        table = rk.compare_values({"low": low, "high": high}, **options).table
        return table.filter(pl.col("run") == "low")["best"].to_list()

    assert best() == [True, False, False]
    assert best(higher_is_better=False) == [True, True, True]
    assert best(higher_is_better={"mine": False}) == [True, True, False]
    # What has no direction has no best.
    both = rk.compare_values({"low": low, "high": high}, "NumRet").table["best"]
    assert both.to_list() == [False, False]


def test_a_margin_may_be_for_one_metric() -> None:
    found = rk.compare_values(nested(), margin={"MAP": 0.1})

    assert found.margins == {"AP": 0.1}


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ({"x": {"q": 1}, "y": {"q": {"AP": 1}}}, {}, "no metric in common: x has"),
        ({"x": {"q": 1}}, {}, "a comparison needs at least two systems, got only x"),
        ({"x": {"q": 1}, "y": 3}, {}, "the values of y are an int; expected an eva"),
        ({"x": {"q": 1}, "y": [1]}, {}, "entry 0 of the values of y is an int; expect"),
        ({"x": {"q": "a"}, "y": {"q": 1}}, {}, "x: value of query 'q' is 'a'; expect"),
        ({"x": {"q": True}, "y": {"q": 1}}, {}, "x: value of query 'q' is True; expe"),
        ({"x": {None: 1}, "y": {"q": 1}}, {}, "x has no query; give each value one"),
        ({"x": {1: 1, "1": 2}, "y": {"q": 1}}, {}, "query '1' has a second value of"),
        ({"x": {"q": 1}, "y": {"r": 1}}, {}, "x and y have no query"),
        (nested(), {"metrics": "P@5"}, "P@5 is not among the metrics of all"),
        (nested(), {"higher_is_better": {"P@5": True}}, "is given for P@5, which is"),
        (nested(), {"higher_is_better": {"RR": 1}}, "higher_is_better must be True or"),
        (
            pl.DataFrame([("a", "q", "RR", 1.0, 2)], [*LONG, "x"], orient="row"),
            {},
            "the frame has a row per value, and also x; leave that out",
        ),
        (
            pl.DataFrame(
                [(None, "q", "RR", 1.0)], LONG, orient="row",
                schema_overrides={"run": pl.String},
            ),
            {},
            "row 1 of the frame has no run; give each row one",
        ),
        ([rk.evaluate(QRELS, OLD, "RR")] * 2, {}, "two evaluations have the same name"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(
    values: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(RankineError, match=message):
        rk.compare_values(values, **options)


def test_evaluations_of_two_conventions_are_refused() -> None:
    one = rk.evaluate(QRELS, OLD, "RR")
    other = rk.evaluate(QRELS, OTHER, "RR", convention="ranx")

    with pytest.raises(ParameterError, match="one and other were evaluated by diffe"):
        rk.compare_values({"one": one, "other": other})


def test_no_file_is_a_pattern_without_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file matches"):
        rk.compare_values(str(tmp_path / "*.eval"))
    with pytest.raises(FormatError, match="none: no such file"):
        rk.compare_values([tmp_path / "none", tmp_path / "other"])


def test_values_that_are_undefined_leave_a_query_out() -> None:
    found = rk.compare_values(
        {"x": {"a": 1.0, "b": math.nan, "c": 1}, "y": {"a": 2.0, "b": 3.0, "c": 2}}
    )

    assert found.pairwise["difference"].to_list() == [1.0]
    assert found.table["n"].to_list() == [2, 3]
