"""Every number of a report is the result's, read from the page as a reader sees it.

Of each kind of report: the cells of all tables, and the numbers of all sentences.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine._experiment.results import load_experiment
from rankine._metrics.names import parse
from rankine.cli import main
from rankine.data import QRELS, RUNS
from tests.report.seen import (
    cell,
    four,
    numbers,
    p4,
    plus,
    prose,
    tables,
)

if TYPE_CHECKING:
    from tests.report.conftest import Browser

METRICS = ["nDCG@10", "AP", "RR@10"]
NAMES = ("numpy", "polars", "scipy", "altair", "vl-convert-python")
PACKAGES = [
    ["rankine", rk.__version__],
    ["Python", platform.python_version()],
    *([name, version(name)] for name in NAMES),
]


def of_queries(values: pl.DataFrame, rows: list[list[str]]) -> list[list[str]]:
    """Return the rows of a table of queries in the order in which it has them."""
    by_query = {
        row["query"]: [four(row["a"]), four(row["b"]), plus(row["b"] - row["a"])]
        for row in values.iter_rows(named=True)
    }
    return [[row[0], *by_query[row[0]]] for row in rows]


def bound(cmp: rk.Comparison, row: dict[str, Any], name: str) -> str:
    """Return a p-value, which is only a bound where no draw was as extreme."""
    p = row[name]
    if row["p"] > 1 / (1 + cmp.settings.draws) or p < 0.0001:
        return p4(p)
    return f"at most {math.ceil(p * 10_000) / 10_000:.4f}"


def of_comparison(cmp: rk.Comparison) -> dict[str, list[list[str]]]:
    """Return what the tables of a comparison show that are not of queries."""
    names = dict(zip(cmp.systems, cmp.letters, strict=True))
    means = []
    for place, system in enumerate(cmp.systems):
        cells = [f"{names[system]} {system}"]
        for metric, row in enumerate(cmp.table.filter(run=system).rows(named=True)):
            beaten = cmp.beaten[metric][place]
            cells.append(f"{beaten} {cell(row, 'mean')}".lstrip())
        means.append(cells)
    pairs = [
        [
            row["metric"], row["a"], row["b"], row["verdict"],
            cell(row, "difference", form=plus, below=four), bound(cmp, row, "p"),
            bound(cmp, row, "p_corrected"),
            *(f"{row[name]:,}" for name in ("wins", "ties", "losses")),
        ]
        for row in cmp.pairwise.iter_rows(named=True)
    ]  # fmt: skip
    return {"Means of all systems": means, "Differences of all pairs": pairs}


def in_sentences(cmp: rk.Comparison) -> set[str]:
    """Return the numbers that the summary in words has."""
    said = set()
    for row in cmp.pairwise.iter_rows(named=True):
        sure = row["verdict"] in ("better", "worse")
        low, high = row["low"], row["high"]
        if sure and low * high > 0:
            said |= {four(abs(row["difference"])), four(abs(low)), four(abs(high))}
        else:
            said |= {plus(row["difference"]), plus(low), plus(high)}
        said |= {
            f"{row['wins']}",
            f"{row['losses']}",
            bound(cmp, row, "p_corrected").split()[-1],
        }
    best = cmp.table.filter(metric=cmp.metrics[0]).sort("mean").row(-1, named=True)
    return said | {four(best[name]) for name in ("mean", "low", "high")}


def in_meanings() -> set[str]:
    """Return the numbers in the lines on what metrics mean."""
    return numbers(parse(name).fact.meaning for name in METRICS)


def values_of(cmp: rk.Comparison, metric: str, a: str, b: str) -> pl.DataFrame:
    frames = [cmp.evaluations[name].per_query for name in (a, b)]
    return pl.DataFrame(
        {"query": frames[0]["query"], "a": frames[0][metric], "b": frames[1][metric]}
    )


@pytest.fixture(scope="module")
def compared() -> rk.Comparison:
    runs = {path.stem: path for path in RUNS}
    by = {f"q{n:02}": "odd" if n % 2 else "even" for n in range(1, 51)}
    return rk.compare(
        QRELS, runs, METRICS, baseline="keyword", by=by, keep=10, draws=2000
    )


def test_a_comparison(
    browser: Browser, compared: rk.Comparison, tmp_path: Path
) -> None:
    compared.report(tmp_path / "report.html", files=[QRELS])
    browser.load(tmp_path / "report.html")

    seen = tables(browser)

    wanted = of_comparison(compared)
    values = values_of(compared, "nDCG@10", "keyword", "vector")
    wanted["Queries"] = of_queries(values, seen["Queries"])
    assert len(seen["Queries"]) == 50
    wanted["Means by segment"] = [
        [row["metric"], row["segment"], row["run"], f"{row['n']}", cell(row, "mean")]
        for row in compared.segments.iter_rows(named=True)
    ]
    wanted["Risk against the baseline"] = [
        [
            metric, name, f"{100 * risk.hurt:.1f} %", four(risk.urisk),
            four(risk.trisk), four(risk.georisk),
        ]
        for metric in METRICS
        for name, risk in compared.risk(metric).items()
    ]  # fmt: skip
    wanted["Choice and value"] = [
        ["test", "randomization"], ["correction", "holm"], ["family", "metric"],
        ["confidence", "0.95"], ["intervals", "pair"], ["draws", "2,000"],
        ["seed", "0"],
        ["baseline", "keyword"], ["convention", "rankine"],
    ]  # fmt: skip
    wanted["Package and version"] = PACKAGES
    hashed = hashlib.sha256(QRELS.read_bytes()).hexdigest()
    wanted["File and SHA-256"] = [[str(QRELS), hashed]]
    assert seen == wanted
    notes = (*compared.notes, *compared.warnings)
    # Of queries, systems, pairs, the level of intervals and tests, and of lists in the
    # file.
    said = {"50", "3", "2", "95", "0.05", "200", "0", *numbers(notes), *in_meanings()}
    assert numbers(prose(browser)) == in_sentences(compared) | said


def test_the_map_of_a_comparison(
    browser: Browser, compared: rk.Comparison, tmp_path: Path
) -> None:
    compared.report(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")
    browser.wait("return document.querySelector('#heatmap .live svg') !== null")

    cells = browser.run(
        "return [...document.querySelectorAll('#heatmap .live .mark-text.role-mark "
        "text')].map(e => e.textContent)"
    )

    rows = compared.pairwise.iter_rows(named=True)
    expected = [bound(compared, row, "p_corrected") for row in rows]
    assert sorted(cells) == sorted(p.replace("at most", "≤") for p in expected)


def test_a_query_that_is_opened(
    browser: Browser, compared: rk.Comparison, tmp_path: Path
) -> None:
    compared.report(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")
    per_query = [compared.evaluations[name].per_query for name in ("keyword", "vector")]
    for place in (0, 7, 49):
        query = browser.rows("Queries")[place][0]
        browser.run(
            "document.querySelectorAll('#explorer tbody button')[arguments[0]].click()",
            place,
        )

        rows = browser.rows("Values of the query")

        assert rows == [
            [
                metric,
                *(
                    four(frame.filter(query=query)[metric].item())
                    for frame in per_query
                ),
            ]
            for metric in METRICS
        ]


def test_an_evaluation(browser: Browser, tmp_path: Path) -> None:
    metrics = [*METRICS, "NumRelRet"]
    evaluation = rk.evaluate(QRELS, RUNS[0], metrics, keep=10, name="keyword")
    evaluation.report(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")

    seen = tables(browser)

    rows = []
    for metric in METRICS:
        low, high = evaluation.interval(metric)
        value = f"{four(evaluation[metric])}\n{four(low)} to {four(high)}"
        rows.append([metric, value, "50"])
    rows.append(["NumRelRet", f"{evaluation['NumRelRet']:,.0f}", "50"])
    values = dict(evaluation.per_query.select("query", "nDCG@10").iter_rows())
    assert seen == {
        "The number of each metric": rows,
        "Queries": [[row[0], four(values.pop(row[0]))] for row in seen["Queries"]],
        "Choice and value": [["convention", "rankine"], ["seed", "0"]],
        "Package and version": PACKAGES,
    }
    assert not values
    first = {
        four(number)
        for number in (evaluation["nDCG@10"], *evaluation.interval("nDCG@10"))
    }
    said = {"50", "95", "200", *numbers((*evaluation.notes, *evaluation.warnings))}
    assert numbers(prose(browser)) == first | said | in_meanings()


EXPERIMENT = """
qrels: qrels.txt
runs: {old: keyword.run, new: vector.run}
metrics: [nDCG@10, AP, RR@10]
compare: {baseline: old, draws: 500}
output: out
"""


def test_an_experiment(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (QRELS, *RUNS):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "sys.argv", ["rankine", "experiment", "experiment.yaml", "--report", "e.html"]
    )
    with pytest.raises(SystemExit) as done:
        main()
    assert not done.value.code
    browser.load(tmp_path / "e.html")

    seen = tables(browser)

    # What the experiment itself saved.
    record = json.loads((tmp_path / "out" / "results.json").read_text())
    means = {(row["run"], row["metric"]): row for row in record["cells"]}
    for name, *cells in seen["Means of all systems"]:
        run = name.split()[-1]
        for metric, shown in zip(METRICS, cells, strict=True):
            # Letters of systems that are worse stand before some.
            assert shown.endswith(cell(means[run, metric], "mean"))
    pairs = record["conventions"]["rankine"]["comparison"]["pairwise"]
    assert seen["Differences of all pairs"] == [
        [
            row["metric"], "old", "new", row["verdict"],
            cell(row, "difference", form=plus, below=four), p4(row["p"]),
            p4(row["p_corrected"]),
            *(f"{row[name]}" for name in ("wins", "ties", "losses")),
        ]
        for row in pairs
    ]  # fmt: skip
    saved = pl.read_parquet(tmp_path / "out" / "values.parquet")
    values = (
        saved.filter(metric="nDCG@10")
        .pivot(on="system", index="query", values="value")
        .select("query", a="old", b="new")
    )
    assert seen["Queries"] == of_queries(values, seen["Queries"])
    assert len(seen["Queries"]) == values.height == 50
    comparison = load_experiment(Path("out")).comparison()
    assert of_comparison(comparison).items() <= seen.items()
    for metric, name, *cells in seen["Risk against the baseline"]:
        risk = comparison.risk(metric)[name]
        shares = four(risk.urisk), four(risk.trisk), four(risk.georisk)
        assert cells == [f"{100 * risk.hurt:.1f} %", *shares]
    files = ("experiment.yaml", "qrels.txt", "keyword.run", "vector.run")
    hashes = {Path(name).name: digest for name, digest in seen["File and SHA-256"]}
    assert hashes == {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        for name in files
    }
    notes = (*comparison.notes, *comparison.warnings)
    said = {"50", "2", "95", "200", "0", *numbers(notes), *in_meanings()}
    assert numbers(prose(browser)) == in_sentences(comparison) | said
