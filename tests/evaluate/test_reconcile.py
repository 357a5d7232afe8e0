"""Every tool's number of one metric, and the way from one to another."""

from __future__ import annotations

import json
import math
import random
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._conventions.phrases import in_words
from rankine.cli import main
from rankine.errors import DataError, ParameterError, UnknownConventionError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {
    "q1": {"a": 1, "b": 2, "d": 1}, "q2": {"c": 1}, "q3": {"z": 0}, "q4": {"a": 1},
}  # fmt: skip
RUN = {
    "q1": {"b": 0.9, "a": 0.5, "z": 0.1}, "q2": {"x": 0.9, "c": 0.8}, "q3": {"z": 1.0},
}  # fmt: skip
METRICS = ("AP@2", "nDCG@3", "P@2", "R@2", "RR", "Success@1", "F@2", "AUC", "Rprec")


def made(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Make judgements and a run with ties, missing and empty queries."""
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    items = [f"d{number}" for number in range(12)]
    qrels = {
        f"q{at}": {item: rng.choice([0, 0, 1, 2]) for item in rng.sample(items, 5)}
        for at in range(6)
    }
    run = {}
    for at in range(5):
        scores = sorted((rng.randrange(6) for _ in range(7)), reverse=True)
        run[f"q{at}"] = dict(zip(rng.sample(items, 7), map(float, scores), strict=True))
    return qrels, run


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_what_evaluate_gives(metric: str, seed: int) -> None:
    qrels, run = made(seed)

    found = rk.reconcile(qrels, run, metric)

    assert [row.convention for row in found.rows] == list(rk.conventions())
    for row in found.rows:
        if row.value is None:
            assert row.why
            continue
        alone = rk.evaluate(qrels, run, [metric], convention=row.convention)
        assert found[row.convention] == pytest.approx(alone[metric], nan_ok=True)
        assert row.warnings == alone.warnings


@pytest.mark.parametrize("metric", METRICS)
def test_groups_hold_every_number_once(metric: str) -> None:
    found = rk.reconcile(*made(1), metric)

    named = [name for group in found.groups for name in group.conventions]
    assert sorted(named) == sorted(
        row.convention for row in found.rows if row.value is not None
    )
    values = [group.value for group in found.groups if not math.isnan(group.value)]
    assert len({round(value, 9) for value in values}) == len(values)
    assert "rankine" in found.groups[0].conventions
    assert not found.groups[0].because
    for group in found.groups[1:]:
        assert all(group.because[name] for name in group.conventions)


def test_why_a_number_is_another() -> None:
    found = rk.reconcile(QRELS, RUN, "AP@2")

    because = {name: words for group in found.groups for name, words in
               group.because.items()}  # fmt: skip
    assert because["ranksys"] == ("divides AP by min(k, R)",)
    assert because["rectools"] == ("skips queries without relevant items",)
    assert because["jurity"] == (
        "divides AP by min(k, R)",
        "averages over queries that are judged and in the run",
        "skips queries without relevant items",
    )


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_the_steps_lead_from_one_number_to_the_other(metric: str, seed: int) -> None:
    found = rk.reconcile(*made(seed), metric)
    given = [row.convention for row in found.rows if row.value is not None]
    for first, second in [("rankine", name) for name in given] + [
        (name, "jurity") for name in given if "jurity" in given
    ]:
        way = found.explain(first, second)

        assert way.value_first == pytest.approx(found[first], nan_ok=True)
        assert way.value_second == pytest.approx(found[second], nan_ok=True)
        if any(math.isnan(step.change) for step in way.steps):
            continue
        total = sum(step.change for step in way.steps)
        assert total == pytest.approx(
            found[second] - found[first], abs=1e-9  # type: ignore[operator]
        )  # fmt: skip


def test_the_query_that_moves_most() -> None:
    way = rk.reconcile(QRELS, RUN, "AP@2").explain("rankine", "jurity")

    by_field = {step.field: step for step in way.steps}
    assert list(by_field) == ["ap_den", "queries", "empty_truth"]
    # (1 + 1) / 3 becomes (1 + 1) / min(2, 3)
    assert by_field["ap_den"].query == "q1"
    assert by_field["ap_den"].query_before == pytest.approx(2 / 3)
    assert by_field["ap_den"].query_after == 1
    assert by_field["queries"].query == "q4"
    assert by_field["queries"].query_after is None
    assert by_field["ap_den"].value_before == pytest.approx((2 / 3 + 1 / 2) / 4)
    assert by_field["empty_truth"].value_after == pytest.approx((1 + 1 / 2) / 2)
    assert "most for q1: 0.6667 -> 1.0000" in str(way)
    assert way.to_dict()["steps"][0]["words"] == "divides AP by min(k, R)"


def test_what_a_tool_refuses_is_told() -> None:
    found = rk.reconcile({"q": {"a": 1, "b": -1}}, {"q": ["b", "a"]}, "nDCG@3")

    assert found["sklearn"] is None
    row = next(row for row in found.rows if row.convention == "sklearn")
    assert row.why == "1 negative grade, which the convention refuses"
    way = found.explain("sklearn", "rankine")
    assert way.value_first is None
    assert way.steps[0].field == "negative"
    assert found.explain("rankine", "sklearn").steps[-1].field == "negative"


def test_what_a_tool_does_not_have_is_told() -> None:
    found = rk.reconcile(QRELS, RUN, "AP@2")

    whys = {row.convention: row.why for row in found.rows if row.value is None}
    assert whys["surprise"] == "this tool has no such metric"
    assert whys["cornac"] == "this tool has it only without a cutoff"
    assert "Surprise: this tool has no such metric" in str(found)


def test_rounding_alone_makes_no_group() -> None:
    found = rk.reconcile(*made(2), "nDCG@3")

    group = next(group for group in found.groups if "recbole" in group.conventions)
    assert "spark" in group.conventions
    assert found["recbole"] == round(found["spark"] or 0, 4)


def test_some_conventions_only() -> None:
    found = rk.reconcile(QRELS, RUN, rk.RR, conventions=["jurity", "elliot"])

    assert [row.convention for row in found.rows] == ["jurity", "elliot"]
    with pytest.raises(ParameterError, match="ranx was not asked for"):
        found["ranx"]
    with pytest.raises(UnknownConventionError):
        found.explain("jurity", "no")
    with pytest.raises(UnknownConventionError):
        rk.reconcile(QRELS, RUN, "RR", conventions=["no"])
    with pytest.raises(ParameterError, match="a metric must be a name or a Metric"):
        rk.reconcile(QRELS, RUN, 3)


def test_a_rank_column_is_read_for_the_tool_that_does() -> None:
    run = pl.DataFrame(
        {"query": ["q", "q"], "item": ["a", "b"], "score": [1.0, 2.0], "rank": [1, 2]}
    )

    found = rk.reconcile({"q": {"a": 1}}, run, "RR")

    assert (found["rankine"], found["rectools"]) == (1 / 2, 1)
    assert found.explain("rankine", "rectools").steps[0].field == "order"


def test_as_html_and_as_data() -> None:
    found = rk.reconcile(QRELS, RUN, "AP(divisor='R')@2")

    assert "<table>" in found._repr_html_()
    assert "divisor=&#x27;R&#x27;" in found._repr_html_()
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(data["rows"]) == len(rk.conventions())


def test_judgements_that_fit_nothing_are_refused() -> None:
    with pytest.raises(DataError, match="0 of 1 judged queries are in the run"):
        rk.reconcile({"q": {"a": 1}}, {"p": {"a": 1.0}}, "RR")


@pytest.mark.parametrize(
    "wrong",
    [
        {"rel": "x"}, {"rel": math.nan}, {"rel": [1]}, {"catalog": -1},
        {"catalog": "x"}, {"conventions": 3}, {"conventions": "ranx"},
        {"conventions": [rk.Convention()]},
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        rk.reconcile(QRELS, RUN, "AP", **wrong)


def test_no_way_leads_to_a_metric_that_a_tool_does_not_have() -> None:
    found = rk.reconcile(QRELS, RUN, "AP@3")

    with pytest.raises(ParameterError, match="Surprise: this tool has no such metric"):
        found.explain("ranx", "surprise")
    with pytest.raises(ParameterError, match="only without a cutoff"):
        found.explain("cornac", "ranx")
    with pytest.raises(ParameterError, match="must be given by its name here"):
        found.explain(rk.Convention(), "ranx")  # type: ignore[arg-type]


def test_ids_of_numpy_become_plain_data() -> None:
    qrels, run = {np.int64(1): {"x": 1, "y": 1}}, {np.int64(1): {"z": 2.0, "x": 1.0}}

    way = rk.reconcile(qrels, run, "AP@3").explain("ranx", "torchmetrics")

    assert json.loads(json.dumps(way.to_dict()))["steps"][0]["query"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_reasons_are_enough_for_the_number(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    items = [f"d{number}" for number in range(8)]
    qrels = {
        f"q{at}": {item: rng.randrange(4) for item in rng.sample(items, 4)}
        for at in range(3)
    }
    rows = [
        (f"q{at}", rng.choice(items), float(rng.randrange(-1, 4)))
        for at in range(2)
        for _ in range(4)
    ]
    run = pl.DataFrame(rows, ["query", "item", "score"], orient="row")

    found = rk.reconcile(qrels, run, "AP")

    for group in found.groups:
        for name, words in group.because.items():
            own = found._choices(name)  # noqa: SLF001 - what the words stand for
            base = found._choices("rankine")  # noqa: SLF001
            told = {key for key in own if in_words(key, own[key]) in words}
            value = found._value(base | {key: own[key] for key in told})  # noqa: SLF001
            assert value == pytest.approx(group.value, nan_ok=True), name


# The command line


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "some.run"
    qrels.write_text(
        "".join(
            f"{q} 0 {i} {g}\n" for q, entry in QRELS.items() for i, g in entry.items()
        )
    )
    run.write_text(
        "".join(
            f"{q} Q0 {i} 1 {s} t\n"
            for q, entry in RUN.items()
            for i, s in entry.items()
        )
    )
    return str(qrels), str(run)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([*words])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_reconcile_prints_a_paragraph_per_number(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = printed(capsys, "reconcile", *files, "-m", "AP@2", "-m", "P@2")

    assert (code, err) == (0, "")
    blocks = out.split("\n\n")
    assert blocks[0] == "AP@2"
    assert "rankine, trec_eval 10" in blocks[1]
    assert "P@2" in blocks
    assert max(map(len, out.splitlines())) <= 80


def test_reconcile_explains(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = printed(
        capsys, "reconcile", *files, "-m", "AP@2", "--explain", "rankine", "jurity"
    )

    assert code == 0
    assert out.startswith("AP@2: rankine 0.2917, Jurity 0.7500\n")
    assert "(+0.0833)  ap_den: divides AP by min(k, R)" in out


def test_reconcile_as_json(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = printed(capsys, "reconcile", *files, "-m", "AP@2", "--json")

    (found,) = json.loads(out)
    assert code == 0
    assert found["metric"] == "AP@2"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "APP@2"), "did you mean 'AP"),
        (("-m", "AP", "--explain", "rankine", "jurty"), "did you mean 'jurity'"),
    ],
)
def test_reconcile_refuses_in_one_line(
    words: tuple[str, ...],
    said: str,
    files: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = printed(capsys, "reconcile", *files, *words)

    assert code == 2
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_conventions_lists_and_shows(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "conventions")
    _, shown, _ = printed(capsys, "conventions", "jurity")
    _, as_json, _ = printed(capsys, "conventions", "jurity", "--json")

    assert code == 0
    assert all(f"\n{name} " in f"\n{out}" for name in rk.conventions())
    assert shown.startswith("Jurity: Divides precision")
    assert "Checked against: 2.1.0 on pandas 2.3." in shown
    assert re.search(r"^\* ap_den +divides AP by min\(k, R\)$", shown, re.MULTILINE)
    assert re.search(r"^  r_den +divides recall by R$", shown, re.MULTILINE)
    (record,) = json.loads(as_json)
    assert rk.Convention.from_dict(record["convention"]) == rk.conventions()["jurity"]


def test_a_file_as_a_convention(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text("ap_den: min_k_R\n")

    _, out, _ = printed(
        capsys, "evaluate", *files, "-m", "AP@2", "-c", str(path), "--json"
    )
    _, shown, _ = printed(capsys, "conventions", str(path))

    expected = rk.evaluate(
        QRELS, RUN, "AP@2", convention=rk.Convention(ap_den="min_k_R")
    )
    assert json.loads(out)[0]["metrics"]["AP@2"]["value"] == expected["AP@2"]
    assert re.search(r"^\* ap_den +divides AP by min\(k, R\)$", shown, re.MULTILINE)


def test_warnings_are_printed(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = printed(capsys, "evaluate", *files, "-m", "RR", "-c", "jurity")

    assert "Jurity: RR does not exist in this tool" in out
