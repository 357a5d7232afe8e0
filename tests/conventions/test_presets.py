"""The named conventions as a user meets them: names, warnings, files, JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._conventions.convention import FIELDS
from rankine._conventions.phrases import in_words
from rankine._conventions.presets import PRESETS
from rankine._conventions.tools import TOOLS
from rankine.errors import (
    DataError,
    FormatError,
    ParameterError,
    UnknownConventionError,
)

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"a": 1, "b": 2, "d": 1, "z": 0}, "q2": {"c": 1}}
RUN = {"q1": {"b": 0.9, "a": 0.5, "z": 0.1}, "q2": {"x": 0.9, "c": 0.5}}
FAMILY = ("P", "R", "F", "AP", "nDCG", "RR", "Success", "Rprec", "AUC")
NAMED = (
    "rankine", "trec_eval", "trec_eval-9", "pytrec_eval", "ir_measures", "ranx",
    "jurity", "ranksys", "relison", "elliot", "recommenders", "rectools", "replay",
    "lenskit", "torchmetrics", "sklearn", "spark", "recbole", "implicit", "cornac",
    "recmetrics", "beir", "mteb", "mteb-2.18", "sentence_transformers",
    "sentence_transformers-5", "llama_index", "llama_index-0.12.2", "haystack",
    "haystack-3.0", "mlflow", "ragas", "opensearch", "elasticsearch", "vespa",
    "surprise", "notebook",
)  # fmt: skip


def test_every_tool_is_there() -> None:
    assert tuple(rk.conventions()) == NAMED
    assert len(rk.conventions()) == len(NAMED)
    assert PRESETS.keys() == TOOLS.keys()


@pytest.mark.parametrize("name", NAMED)
def test_what_is_said_of_a_tool(name: str) -> None:
    tool = rk.conventions().about(name)

    assert tool.does.endswith(".")
    assert tool.does.count(". ") == 0
    assert tool.checked
    assert f"{name} " in str(rk.conventions())
    unknown = {*(tool.calls or ()), *tool.unlike} - rk.metrics().keys()
    assert not unknown
    assert tool.unlike.keys().isdisjoint(tool.calls or ())
    assert tool.uncut <= (tool.calls or {}).keys()


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("metric", FAMILY)
def test_a_metric_is_computed_or_there_is_a_reason(name: str, metric: str) -> None:
    cut = "" if metric in {"RR", "Rprec", "AUC"} else "@2"
    try:
        ev = rk.evaluate(QRELS, RUN, [metric + cut], convention=name)
    except ParameterError:
        # No value over ties, and no size of the catalogue.
        assert (name, metric) in {("sklearn", "Rprec"), ("implicit", "AUC")}
        return

    assert not math.isnan(ev[metric + cut])
    said = ("does not exist in this tool", "is defined differently")
    lacks = [text for text in ev.warnings if any(one in text for one in said)]
    assert bool(lacks) != TOOLS[name].has(metric, cut=bool(cut))


@pytest.mark.parametrize("field", [field for field in FIELDS if field != "overrides"])
def test_every_choice_has_words(field: str) -> None:
    values = {getattr(rule, field) for rule in PRESETS.values()}

    for value in values:
        words = in_words(field, value)
        assert words
        assert not words.startswith(f"{field} is")


def test_every_override_has_words() -> None:
    for rule in PRESETS.values():
        for own in rule.overrides.values():
            for field, value in own.items():
                assert not in_words(field, value).startswith(f"{field} is"), field


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(UnknownConventionError, match="did you mean 'jurity'"):
        rk.conventions()["jurty"]


# Warnings


def tied(n: int) -> tuple[dict[str, set[str]], dict[str, dict[str, float]]]:
    """Make a list of so many tied items, of which one is relevant."""
    return {"q": {"d0"}}, {"q": {f"d{place}": 1.0 for place in range(n)}}


@pytest.mark.parametrize(
    ("name", "n", "metric", "warned"),
    [
        ("ranx", 15, "RR", False),
        ("ranx", 16, "RR", True),
        ("ranx", 16, "P@5", True),
        ("ranx", 16, "P@16", False),
        ("torchmetrics", 2, "RR", True),
        ("torchmetrics", 2, "nDCG@1", False),
        ("rankine", 16, "RR", False),
        ("recommenders", 16, "P@5", False),
    ],
)
def test_ties_that_a_tool_leaves_open(
    name: str, n: int, metric: str, *, warned: bool
) -> None:
    ev = rk.evaluate(*tied(n), [metric], convention=name)

    assert bool(ev.warnings) == warned
    if warned:
        assert ev.warnings[0].endswith(f"{metric} may differ for 1 query")


def test_no_ties_no_warning() -> None:
    assert rk.evaluate(QRELS, RUN, ["RR"], convention="torchmetrics").warnings == ()


@pytest.mark.parametrize("form", ["dict", "frame", "mixed", "file"])
def test_an_order_that_is_not_that_of_the_scores(form: str, tmp_path: Path) -> None:
    run: Any = {"q1": {"a": 0.5, "b": 0.9}, "q2": {"c": 0.5, "x": 0.1}}
    rows = [(q, i, s) for q, entry in run.items() for i, s in entry.items()]
    if form == "mixed":
        rows = [rows[0], rows[2], rows[1], rows[3]]
    if form == "file":
        run = tmp_path / "some.run"
        run.write_text("".join(f"{q} Q0 {i} 1 {s} t\n" for q, i, s in rows))
    elif form != "dict":
        run = pl.DataFrame(rows, ["query", "item", "score"], orient="row")

    ev = rk.evaluate(QRELS, run, ["RR"], convention="spark")
    sorted_ = rk.evaluate(QRELS, RUN, ["P@1"], convention="spark")

    assert "not that of the scores for 1 query" in ev.warnings[0]
    assert sorted_.warnings == ()


def test_a_convention_of_ones_own_warns_of_nothing() -> None:
    own = rk.conventions()["ranx"].replace(tie="input_rev")

    assert rk.evaluate(*tied(20), ["RR"], convention=own).warnings == ()


# The rank column


def test_a_rank_column_goes_before_scores() -> None:
    run = pl.DataFrame(
        {"query": ["q", "q"], "item": ["a", "b"], "score": [1.0, 2.0], "rank": [1, 2]}
    )

    assert rk.evaluate({"q": {"a"}}, run, ["RR"], convention="rectools")["RR"] == 1
    assert rk.evaluate({"q": {"a"}}, run, ["RR"])["RR"] == 1 / 2


def test_without_a_rank_column_scores_do_unless_one_was_asked_for() -> None:
    run = {"q": {"a": 1.0, "b": 2.0}}

    ev = rk.evaluate({"q": {"a"}}, run, ["RR"], convention="rectools")

    assert ev["RR"] == 1 / 2
    assert "run has no rank column; its scores give the ranks" in ev.notes
    with pytest.raises(DataError, match="no rank column"):
        rk.evaluate({"q": {"a"}}, run, ["RR"], order="rank")


def test_only_all_metrics_can_go_by_the_rank_column() -> None:
    rule = rk.Convention(overrides={"RR": {"order": "rank"}})

    with pytest.raises(
        ParameterError,
        match=("rank column for all metrics or for none, but RR differs"),
    ):
        rk.evaluate(QRELS, RUN, ["RR"], convention=rule)


# Files and JSON


@pytest.mark.parametrize("name", NAMED)
def test_a_number_can_be_reproduced_from_its_json(name: str) -> None:
    metric = "nDCG@2"
    ev = rk.evaluate(QRELS, RUN, [metric], convention=name)
    saved = json.loads(ev.to_json())

    rule = rk.Convention.from_dict(saved["convention"])

    assert rule == rk.conventions()[name]
    assert saved["preset"] == name
    again = rk.evaluate(QRELS, RUN, [*saved["metrics"]], convention=rule)
    assert again.mean == ev.mean


def test_a_gain_by_table_comes_back_from_json() -> None:
    rule = rk.Convention(gain={1: 2.5, 2: 7}, threshold=-math.inf)

    assert rk.Convention.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


def test_a_convention_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text("base: ranx\nap_den: min_k_R\noverrides:\n  RR: {tie: id_asc}\n")

    rule = rk.Convention.from_yaml(path)

    ranx = rk.conventions()["ranx"]
    assert rule == ranx.replace(ap_den="min_k_R", overrides={"RR": {"tie": "id_asc"}})


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("ap_dn: R", ParameterError, "has no field 'ap_dn'"),
        ("ap_den: Q", ParameterError, "ap_den must be one of R, min_k_R"),
        ("base: ranks", UnknownConventionError, "unknown convention 'ranks'"),
        ("- a\n- b", FormatError, "expected a line per field"),
        ("tie: [", FormatError, ":1:7: is not YAML"),
        ("tie: input\ntie: input", FormatError, "'tie' appears twice"),
        ("a: &x 1\nb: *x", FormatError, "is an alias; write the value out"),
        ("!!python/object/apply:os.system [ls]", FormatError, "is a tag"),
        ("threshold: many", ParameterError, "threshold must be a number"),
    ],
)
def test_a_file_that_is_no_convention(
    text: str, error: type[Exception], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text(text)

    with pytest.raises(error) as caught:
        rk.Convention.from_yaml(path)

    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        rk.Convention.from_yaml(tmp_path / "none.yaml")


@pytest.mark.parametrize("form", ["lists", "frame", "ranks"])
def test_a_floor_of_scores_needs_scores(form: str) -> None:
    run: Any = {"q": ["a", "x", "b"]}
    if form != "lists":
        run = pl.DataFrame({"query": ["q"] * 3, "item": ["a", "x", "b"]})
    if form == "ranks":
        run = run.with_columns(rank=pl.Series([1, 2, 3]))
    qrels = {"q": {"a": 1, "b": 1}}

    ev = rk.evaluate(qrels, run, ["AP", "R@2"], convention="torchmetrics")

    assert ev.mean == {"AP": pytest.approx((1 + 2 / 3) / 2), "R@2": 1 / 2}


def test_what_is_under_the_floor_is_still_to_be_found() -> None:
    run = {"q": {"a": 1.0, "b": -1.0}}

    ev = rk.evaluate({"q": {"a": 1, "b": 1}}, run, "R@2", convention="torchmetrics")

    assert ev["R@2"] == 1 / 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"overrides": {1: {"ap_den": "k"}}},
        {"overrides": {"AP": {"rel": {1, 2}}}},
        {"overrides": {"AP": {"ap_den": "foo"}}},
        {"overrides": {"AP": {"overrides": {}}}},
        {"tie": np.array([1, 2])},
        {"tie": pl.Series([1, 2])},
    ],
)
def test_a_convention_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        rk.Convention(**wrong)


def test_grouped_auc_weighs_users_by_their_relevant_items() -> None:
    qrels = {"p": {"a": 1}, "q": {"c": 1, "d": 1, "e": 1}}
    run = {"p": ["x", "a"], "q": ["c", "d", "e", "x"]}

    # p has all of its one pair wrong, q all of its three right; q weighs three times.
    assert rk.evaluate(qrels, run, "GAUC")["GAUC"] == 3 / 4
    assert rk.evaluate(qrels, run, "AUC")["AUC"] == 1 / 2
