"""compare with the face of ranx, and the report that it returns."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_choice
from rankine._base.forks import need_threads
from rankine._compat.ranx_metrics import evaluate, names_of, run_names
from rankine._evaluate.compare.compare import check_systems
from rankine._evaluate.compare.comparison import letter
from rankine._report.export import latex_table, latex_text, to_frame
from rankine._stats.functions import randomization, t
from rankine.errors import ParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from rankine._base.arrays import Floats
    from rankine._compat.ranx_lists import Run

_TESTS = {
    "fisher": "Fisher's randomization test",
    "student": "paired Student's t-test",
    "tukey": "Tukey's HSD test",
}
_RAISED = str.maketrans(ascii_lowercase, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ𐞥ʳˢᵗᵘᵛʷˣʸᶻ")
_NUMBER = re.compile(r"\d+(\.\d*)?|nan")
_LABELS = {
    "hits": "Hits",
    "hit_rate": "Hit Rate",
    "precision": "P",
    "recall": "Recall",
    "r-precision": "R-Prec",
    "bpref": "BPref",
    "dcg_burges": "DCG Burges",
    "ndcg_burges": "NDCG Burges",
}


class Pairs(dict[Any, Any]):
    """What is found for two models, whichever comes first: ``pairs["a", "b"]``.

    >>> Pairs({frozenset("ab"): 1})["b", "a"]
    1
    """

    def __getitem__(self, pair: Any) -> Any:
        """Return what is found for two models, given as a set or in any order."""
        return super().__getitem__(frozenset(pair))


@dataclass(repr=False)
class Report:
    """The means of models, and which differences are significant.

    Attributes:
        model_names: what the runs are called.
        results: model -> metric -> mean.
        comparisons: two models -> metric -> ``p_value`` and ``significant``.
        metrics: the names of the metrics.
        max_p: the largest p-value of a significant difference.
        win_tie_loss: (model, other) -> metric -> on how many queries it wins (``W``),
            is the same (``T``) and loses (``L``).
        rounding_digits: how many decimals are shown.
        show_percentages: whether numbers are shown as percentages, with two less.
        stat_test: the name of the test.
    """

    model_names: list[str]
    results: dict[str, dict[str, float]]
    comparisons: Pairs
    metrics: list[str]
    max_p: float
    win_tie_loss: dict[tuple[str, str], dict[str, dict[str, int]]]
    rounding_digits: int = 3
    show_percentages: bool = False
    stat_test: str = "student"

    def format_score(self, score: float) -> str:
        """Return a number as it is shown."""
        return formatted(score, self.rounding_digits, percent=self.show_percentages)

    def get_metric_label(self, m: str) -> str:
        """Return the name of a metric as it is shown."""
        return label_of(m)

    def get_stat_test_label(self, stat_test: str) -> str:
        """Return the name of a test as it is shown."""
        return _TESTS[stat_test]

    def _beaten(self, model: str, metric: str) -> str:
        """Return the letters of the models that one is significantly above."""
        own = self.results[model][metric]
        apart = "" if len(self.model_names) <= len(ascii_lowercase) else " "
        return apart.join(
            letter(number)
            for number, other in enumerate(self.model_names)
            if other != model
            and self.comparisons[model, other][metric]["significant"]
            and own > self.results[other][metric]
        )

    def to_table(self) -> str:
        """Return the means as text, with letters of the models that are beaten."""
        rows = [
            [
                letter(number),
                model,
                *(
                    self.format_score(self.results[model][metric])
                    + self._beaten(model, metric).translate(_RAISED)
                    for metric in self.metrics
                ),
            ]
            for number, model in enumerate(self.model_names)
        ]
        return _text_table(["#", "Model", *map(label_of, self.metrics)], rows)

    def to_latex(self) -> str:
        """Return the means as a LaTeX table for the booktabs package."""
        best = {
            metric: max(own[metric] for own in self.results.values())
            for metric in self.metrics
        }
        rows = []
        for number, model in enumerate(self.model_names):
            row = [f"{letter(number)} {latex_text(model)}"]
            for metric in self.metrics:
                score = self.results[model][metric]
                cell = latex_text(self.format_score(score))
                cell = rf"\textbf{{{cell}}}" if score == best[metric] else cell
                beaten = self._beaten(model, metric)
                row.append(f"{cell}$^{{{beaten}}}$" if beaten else cell)
            rows.append(row)
        caption = (
            "Overall effectiveness of the models. The best results are highlighted in "
            "boldface. Superscripts denote significant differences in "
            rf"{_TESTS[self.stat_test]} with $p \le {self.max_p}$."
        )
        labels = map(label_of, self.metrics)
        return latex_table(labels, rows, caption=caption, label="tab:results")

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data, by model."""
        models = {
            model: {
                "scores": self.results[model],
                "comparisons": {
                    other: {
                        metric: self.comparisons[model, other][metric]["p_value"]
                        for metric in self.metrics
                    }
                    for other in self.model_names
                    if other != model
                },
                "win_tie_loss": {
                    other: self.win_tie_loss[model, other]
                    for other in self.model_names
                    if other != model
                },
            }
            for model in self.model_names
        }
        about = {
            "stat_test": self.stat_test,
            "metrics": self.metrics,
            "model_names": self.model_names,
        }
        return about | models

    def to_dataframe(self) -> Any:
        """Return the means as a frame of pandas, a row for each model."""
        need_threads()
        rows = [{"model_names": m, **self.results[m]} for m in self.model_names]
        return to_frame(pl.DataFrame(rows), "pandas")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the numbers as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=4), encoding="utf-8")

    def print_results(self) -> None:
        """Print the means as JSON."""
        print(json.dumps(self.results, indent=4))  # noqa: T201 - what it is for

    def __repr__(self) -> str:
        """Return the means as text."""
        return self.to_table()


def compare(
    qrels: Any,
    runs: Sequence[Run],
    metrics: Sequence[str] | str,
    stat_test: str = "student",
    n_permutations: int = 1000,
    max_p: float = 0.01,
    random_seed: int = 42,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,  # noqa: FBT001, FBT002 - the face of ranx
    make_comparable: bool = False,  # noqa: FBT001, FBT002
) -> Report:
    """Compare runs on the same queries, without a correction for their number.

    Args:
        qrels: the judgements.
        runs: the runs.
        metrics: the metrics, as in `evaluate`.
        stat_test: ``student``, paired; ``fisher``, paired, by random flips of signs; or
            ``tukey``, which takes the values of runs for independent samples.
        n_permutations: how many flips.
        max_p: the largest p-value of a significant difference.
        random_seed: the seed of the flips.
        threads: without effect.
        rounding_digits: how many decimals the report shows.
        show_percentages: whether it shows percentages.
        make_comparable: as in `evaluate`.

    Returns:
        The report.

    >>> from rankine.compat.ranx import Qrels, Run, compare
    >>> qrels = Qrels({f"q{n}": {"a": 1} for n in range(9)})
    >>> low = Run({q: {"x": 2, "a": 1} for q in qrels.keys()}, "low")
    >>> high = Run({q: {"a": 2, "x": 1} for q in qrels.keys()}, "high")
    >>> compare(qrels, [low, high], ["mrr", "hits@2"], "fisher", 9999)
    #    Model    MRR       Hits@2
    ---  -------  ------  --------
    a    low      0.500      1.000
    b    high     1.000ᵃ     1.000
    """
    names, asked = run_names(runs), names_of(metrics)
    check_choice("stat_test", stat_test, _TESTS)
    if len(set(names)) < len(names):
        msg = f"two runs have the same name: {', '.join(names)}; give each its own"
        raise ParameterError(msg)
    check_systems(tuple(names), None)
    values: dict[str, dict[str, Floats]] = {}
    for name, run in zip(names, runs, strict=True):
        own = evaluate(
            qrels,
            run,
            asked,
            return_mean=False,
            threads=threads,
            make_comparable=make_comparable,
        )
        values[name] = own if len(asked) > 1 else {asked[0]: own}
    p = {
        metric: _p_values(
            [values[name][metric] for name in names],
            stat_test,
            n_permutations,
            random_seed,
        )
        for metric in asked
    }
    comparisons = Pairs()
    for a, b in combinations(range(len(names)), 2):
        comparisons[frozenset((names[a], names[b]))] = {
            metric: {
                "p_value": float(p[metric][a, b]),
                "significant": bool(p[metric][a, b] <= max_p),
            }
            for metric in asked
        }
    return Report(
        names,
        {n: {m: float(values[n][m].mean()) for m in asked} for n in names},
        comparisons,
        asked,
        max_p,
        {
            (one, other): {
                metric: _tally(values[one][metric], values[other][metric])
                for metric in asked
            }
            for one in names
            for other in names
            if one != other
        },
        rounding_digits,
        show_percentages,
        stat_test,
    )


def _p_values(
    values: Sequence[Floats], stat_test: str, draws: int, seed: int
) -> Floats:
    """Return the p-values of all pairs of runs, above the diagonal."""
    if len(values[0]) < 2:  # noqa: PLR2004 - nothing to test
        return np.full((len(values), len(values)), np.nan)
    if stat_test == "tukey":
        from scipy.stats import tukey_hsd  # noqa: PLC0415 - slow to import

        with np.errstate(divide="ignore", invalid="ignore"):  # where nothing varies
            of_all: Floats = tukey_hsd(*values).pvalue
        return of_all
    p = np.ones((len(values), len(values)))
    for a, b in combinations(range(len(values)), 2):
        pair = values[a], values[b]
        found = (
            t(*pair)
            if stat_test == "student"
            else randomization(*pair, draws=draws, seed=seed)
        )
        p[a, b] = found.pvalue
    return p


def _tally(own: Floats, other: Floats) -> dict[str, int]:
    """Count the queries that are better, the same and worse."""
    return {
        "W": int(np.sum(own > other)),
        "T": int(np.sum(own == other)),
        "L": int(np.sum(own < other)),
    }


def formatted(score: float, digits: int, *, percent: bool) -> str:
    """Return a number with some decimals; with two less, if it is a percentage.

    >>> formatted(0.12345, 3, percent=False), formatted(0.12345, 3, percent=True)
    ('0.123', '12.3')
    """
    if percent:
        score, digits = 100 * score, max(0, digits - 2)
    return f"{round(score, digits):.{digits}f}"


def label_of(metric: str) -> str:
    """Return the name of a metric as reports show it.

    >>> label_of("ndcg@10-l2"), label_of("r-precision"), label_of("rbp.95")
    ('NDCG@10-l2', 'R-Prec', 'RBP.95')
    """
    head, level, rel = metric.partition("-l")
    name, at, cut = head.partition("@")
    return f"{_LABELS.get(name, name.upper())}{at}{cut}{level}{rel}"


def _text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text, with columns of plain numbers to the right."""
    columns = []
    for title, *cells in zip(head, *rows, strict=True):
        width = max(len(title) + 2, *map(len, cells))
        plain = all(map(_NUMBER.fullmatch, cells))
        put = str.rjust if plain else str.ljust
        columns.append([put(cell, width) for cell in (title, "-" * width, *cells)])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))
