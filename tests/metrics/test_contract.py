"""What every metric promises. The registry says which metrics there are.

Where a promise does not hold for a metric by its definition, it is listed with the
reason, and the test asserts that it indeed does not hold: the lists are exhaustive.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import rankine as rk
from rankine._join import Judged, Ties, judged
from rankine._metrics.metric import REGISTRY, Metric
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from rankine._evaluate.result import Evaluation

Grades = dict[Any, dict[Any, Any]]

rk.metrics()  # fills the registry
NAMES = list(REGISTRY)
CUT = [name for name in NAMES if REGISTRY[name].at == "k"]
TIED = [name for name in NAMES if "ties" in REGISTRY[name].parameters]
CATALOG = 1000
N_QUERIES = 40
SEEDS = range(5)
every_metric = pytest.mark.parametrize("name", NAMES)


# Data, and what rankine says of it


@cache
def data(seed: int, *, ties: bool = True) -> tuple[Grades, Grades]:
    """Make judgements and a run with int ids: missing and extra queries, grades -1..3.

    Ids have one to three digits, so that their order as text is not that of numbers.
    """
    rng = np.random.default_rng(seed)
    qrels: Grades = {}
    run: Grades = {}
    for query in range(N_QUERIES):
        items = rng.permutation(120)[: rng.integers(1, 25)].tolist()
        levels = rng.integers(1, 8) if ties else 1_000_000
        low = int(rng.choice([-1, 0, 0]))
        known = items[: rng.integers(1, len(items) + 1)]
        shown = rng.permutation(items)[: rng.integers(1, len(items) + 1)].tolist()
        if query % 13 != 5:
            grades = rng.integers(low, 4, len(known))
            qrels[query] = dict(zip(known, grades.astype(float).tolist(), strict=True))
        if query % 13 != 7:
            scores = rng.permutation(levels)[:25] if not ties else None
            numbers = rng.integers(0, levels, 25) if scores is None else scores
            run[query] = {
                item: float(number) / 8
                for item, number in zip(shown, numbers, strict=False)
            }
    return qrels, run


def evaluate(qrels: Any, run: Any, metrics: Any, **more: Any) -> Evaluation:
    return rk.evaluate(qrels, run, metrics, catalog=CATALOG, **more)


def table_of(result: Evaluation) -> dict[str, dict[str, float | None]]:
    """Return the values by query, whatever type its id has, then by metric."""
    return {
        str(row["query"]): {key: row[key] for key in result.mean}
        for row in result.per_query.iter_rows(named=True)
    }


def column(result: Evaluation, metric: str) -> dict[str, float | None]:
    return {query: row[metric] for query, row in table_of(result).items()}


@cache
def reference(seed: int, *, ties: bool = True) -> Evaluation:
    return evaluate(*data(seed, ties=ties), NAMES)


def assert_same(result: Evaluation, wanted: Evaluation, name: str) -> None:
    """Compare bit for bit, per query and in the summary."""
    assert column(result, name) == column(wanted, name)
    assert result[name] == wanted[name] or math.isnan(wanted[name])


def texts(grades: Grades, new: Callable[[Any], Any] = str) -> Grades:
    return {
        str(query): {new(item): value for item, value in entry.items()}
        for query, entry in grades.items()
    }


# Parameters: values to try, from the types in the signature

PLAIN: tuple[Any, ...] = (3, 2, 0.5, (0.2, 0.8), (2, -1, 0.5, 1))
"""Tried one after the other, for parameters that are not a choice of words."""
FITTING: dict[str, Any] = {"max_grade": 9, "catalog": CATALOG, "padded": True}
"""Values that have to fit: a scale up to all grades, room for all items, a flag."""


def hints(name: str) -> dict[str, Any]:
    kernel = REGISTRY[name].kernel
    known = vars(sys.modules[kernel.__module__])
    missing = {"Floats": Any, "Judged": Judged, "Ties": Ties, "Mapping": Mapping}
    return get_type_hints(kernel, {**missing, **known})


def words(hint: Any) -> list[Any]:
    """Return the words that a type allows, and a table if it allows one."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    origin = get_origin(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return [{1: 0.5, 2: 3.0}]
    return [word for part in get_args(hint) for word in words(part)]


def accepts(name: str, **params: Any) -> bool:
    try:
        base_of(name)(**params)
    except ParameterError:
        return False
    return True


def base_of(name: str) -> Metric:
    """Return the metric with the size of the catalogue, if it takes one."""
    metric = Metric(name)
    return metric(catalog=CATALOG) if metric.takes("catalog") else metric


def values_for(name: str, parameter: str) -> list[Any]:
    """Return values to try; all words of a choice, one plain value otherwise."""
    found = words(hints(name)[parameter])
    if found:
        return [word for word in found if possible(name, parameter, word)]
    tried = (FITTING[parameter],) if parameter in FITTING else PLAIN
    plain = [value for value in tried if accepts(name, **{parameter: value})]
    return plain[:1]


def possible(name: str, parameter: str, value: Any) -> bool:
    """Say whether a metric takes the value; some words need the threshold too."""
    if accepts(name, **{parameter: value}):
        return True
    return "rel" in REGISTRY[name].parameters and accepts(
        name, **{"rel": 1, parameter: value}
    )


@cache
def bound(name: str) -> tuple[Metric, ...]:
    """Return the metric with every value of every parameter, one at a time, and all."""
    choices = {
        parameter: values_for(name, parameter)
        for parameter in REGISTRY[name].parameters
    }
    rel = {"rel": 1} if "rel" in choices else {}
    made = []
    for parameter, values in choices.items():
        for value in values:
            more = {} if accepts(name, **{parameter: value}) else rel
            made.append(base_of(name)(**{**more, parameter: value}))
    first = {key: values[0] for key, values in choices.items() if values}
    return (*made, base_of(name)(**first))


# Names and parameters


@every_metric
def test_every_parameter_has_a_value_to_try(name: str) -> None:
    for parameter in REGISTRY[name].parameters:
        assert values_for(name, parameter), parameter


@every_metric
def test_the_text_of_a_metric_is_read_back(name: str) -> None:
    at = REGISTRY[name].at
    metrics = [Metric(name), *bound(name)]
    if at is not None:
        metrics += [
            metric @ value for metric in metrics for value in values_for(name, at)
        ]
    for metric in metrics:
        again = rk.parse(str(metric))

        assert again == metric
        assert hash(again) == hash(metric)
        assert str(again) == str(metric)


@every_metric
def test_aliases_are_read_without_regard_to_case(name: str) -> None:
    for alias in REGISTRY[name].aliases:
        for text in (alias, alias.upper(), alias.lower()):
            assert rk.parse(text) == Metric(name), text


@every_metric
def test_an_unknown_parameter_is_an_error(name: str) -> None:
    with pytest.raises(ParameterError, match="has no parameter 'nosuch'"):
        Metric(name)(nosuch=1)


@every_metric
def test_a_word_outside_the_choices_is_an_error(name: str) -> None:
    for parameter, hint in hints(name).items():
        if parameter in REGISTRY[name].parameters and words(hint):
            with pytest.raises(ParameterError, match=parameter):
                base_of(name)(**{parameter: "nosuch"})


@every_metric
def test_every_word_in_the_signature_is_accepted(name: str) -> None:
    for parameter, hint in hints(name).items():
        if parameter in REGISTRY[name].parameters:
            refused = [w for w in words(hint) if not possible(name, parameter, w)]

            assert refused == [], parameter


@pytest.mark.parametrize("name", [n for n in NAMES if REGISTRY[n].at is None])
def test_a_cutoff_is_refused_where_there_is_none(name: str) -> None:
    with pytest.raises(ParameterError, match="no cutoff"):
        _ = Metric(name) @ 5


@pytest.mark.parametrize("name", CUT)
@pytest.mark.parametrize("k", [0, -1, 2.5, True, "5"])
def test_a_cutoff_is_a_positive_integer(name: str, k: Any) -> None:
    with pytest.raises(ParameterError, match="k must be a positive integer"):
        _ = Metric(name) @ k


@every_metric
def test_the_docstring_has_all_sections_and_parameters(name: str) -> None:
    text = REGISTRY[name].kernel.__doc__ or ""
    lines = [line.strip() for line in text.splitlines()]
    sections = ["Formula:", "Args:", "Returns:", "References:", "Examples:"]
    places = [lines.index(section) for section in sections]
    arguments = "\n".join(lines[places[1] : places[2]])

    assert places == sorted(places)
    assert ">>> " in "\n".join(lines[places[-1] :])
    for parameter in REGISTRY[name].parameters:
        assert f"{parameter}: " in arguments, parameter


# Values


@every_metric
def test_an_empty_table_has_no_values(name: str) -> None:
    for metric in (base_of(name), *bound(name)):
        values = metric.values(Judged.empty())

        assert values.shape == (0,)
        assert values.dtype == np.float64


@every_metric
def test_values_are_within_bounds(name: str) -> None:
    low, high = REGISTRY[name].bounds
    metrics = [base_of(name)]
    if name in CUT:
        metrics += [metrics[0] @ k for k in (1, 2, 3, 5, 10, 1000)]
    if name in TIED:
        metrics += [
            metric(ties=ties)
            for metric in metrics.copy()
            for ties in ("average", "best", "worst")
        ]
    for seed in SEEDS:
        for ties in (True, False):
            table = judged(*data(seed, ties=ties))
            for metric in metrics:
                values = metric.values(table)
                inside = (values >= low) & (values <= high)

                assert (inside | np.isnan(values)).all(), (str(metric), seed)
                assert values.shape == (table.n_queries,)


@every_metric
def test_a_summary_is_a_python_float(name: str) -> None:
    assert type(reference(0)[name]) is float


UNSEEN: dict[str, str] = {
    "AUC": "no pairs, so no value: left out, as declared by empty='skip'",
    "Accuracy": "what is not shown is rightly not shown, unless relevant",
    "FCP": "no pairs, so no value: left out",
    "LAUC": "all items are tied: 1/2",
    "MCC": "filled up with misses, it is below 0",
    "NDPM": "all items are tied: 1/2",
    "NumQ": "counts the query",
    "NumRel": "counts the judgements",
    "RBPResidual": "nothing is seen, so all is possible: p^0 = 1",
    "Utility": "counts what is not shown, where its weights say so",
}


@every_metric
def test_a_query_that_the_run_misses_counts_zero(name: str) -> None:
    qrels = {"q1": {"a": 4, "b": 0}, "q2": {"a": 4, "c": 0}}
    other = []
    for metric in (base_of(name), *bound(name)):
        result = evaluate(qrels, {"q1": ["x", "b", "a"]}, [metric])
        if column(result, str(metric))["q2"] != 0:
            other.append(str(metric))

    assert bool(other) == (name in UNSEEN), other


NOT_EMPTY = {
    "Accuracy": "what is rightly not shown counts",
    "FallOut": "what is shown in vain counts",
    "AUC": "no pairs, so no value: left out",
    "FCP": "pairs of grades are compared, relevant or not",
    "LAUC": "no pairs, so no value: left out",
    "Judged": "the share that is judged does not need relevant items",
    "NDPM": "no pairs, so no value: left out",
    "NumNonrelJudgedRet": "counts what is not relevant",
    "NumQ": "counts the query",
    "NumRet": "counts what is retrieved",
    "RBPResidual": "what is unjudged does not need relevant items",
    "Unjudged": "what is unjudged does not need relevant items",
    "Utility": "what is retrieved in vain costs",
}


@every_metric
def test_a_query_without_anything_to_gain_counts_zero(name: str) -> None:
    # Nothing is relevant, nothing gains, nothing is above the neutral rating.
    qrels = {"q1": {"a": 4, "b": 0}, "q2": {"b": 0, "c": 0}}
    run = {"q1": ["x", "b", "a"], "q2": ["b", "y"]}
    other = []
    for metric in (base_of(name), *bound(name)):
        result = evaluate(qrels, run, [metric])
        if column(result, str(metric))["q2"] != 0:
            other.append(str(metric))

    assert bool(other) == (name in NOT_EMPTY), other


def test_a_query_without_a_rating_above_the_neutral_one_counts_zero() -> None:
    metric = rk.RScore(neutral=3, aggregate="mean_of_ratios")
    qrels = {"q1": {"a": 4}, "q2": {"a": 3}}
    result = evaluate(qrels, {"q1": ["a"], "q2": ["a"]}, [metric])

    assert result[metric] == 50


def test_a_query_whose_grades_gain_nothing_counts_zero() -> None:
    metric = rk.nDCG(gain={1: 0.0})
    qrels = {"q1": {"a": 2}, "q2": {"a": 1}}
    result = evaluate(qrels, {"q1": ["a"], "q2": ["a"]}, [metric])

    assert result[metric] == 0.5


# Order and form of the input


@every_metric
def test_the_order_of_queries_does_not_matter(name: str) -> None:
    rng = np.random.default_rng(101)
    for seed in SEEDS:
        qrels, run = data(seed)
        mixed = [
            {query: side[query] for query in rng.permutation(list(side)).tolist()}
            for side in (qrels, run)
        ]

        assert_same(evaluate(mixed[0], mixed[1], [name]), reference(seed), name)


@every_metric
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    rng = np.random.default_rng(103)
    for seed in SEEDS:
        qrels, run = data(seed)
        inside = [
            {
                query: {item: entry[item] for item in rng.permutation(list(entry))}
                for query, entry in side.items()
            }
            for side in (qrels, run)
        ]
        frames = [frame_of(side, "score") for side in (qrels, run)]
        across = [frame[rng.permutation(frame.height).tolist()] for frame in frames]

        assert_same(evaluate(inside[0], inside[1], [name]), reference(seed), name)
        assert_same(evaluate(across[0], across[1], [name]), reference(seed), name)


@every_metric
def test_the_names_of_items_and_queries_do_not_matter(name: str) -> None:
    rng = np.random.default_rng(107)
    new = dict(enumerate(rng.permutation(120).tolist()))
    for seed in SEEDS:
        renamed = [
            texts(side, lambda item: f"doc-{new[item]}")
            for side in data(seed, ties=False)
        ]

        assert_same(
            evaluate(renamed[0], renamed[1], [name]), reference(seed, ties=False), name
        )


@every_metric
def test_names_in_the_same_order_break_ties_alike(name: str) -> None:
    for seed in SEEDS:
        # Each digit becomes a letter: the order as text stays what it was.
        renamed = [
            texts(side, lambda item: str(item).translate(LETTERS))
            for side in data(seed)
        ]

        assert_same(evaluate(renamed[0], renamed[1], [name]), reference(seed), name)


LETTERS = str.maketrans("0123456789", "ABKLéüλ日本😀")


def test_letters_keep_the_order_of_digits() -> None:
    made = [digit.translate(LETTERS).encode() for digit in "0123456789"]

    assert made == sorted(made)


@every_metric
def test_only_the_order_of_scores_matters(name: str) -> None:
    transforms: list[Callable[[float], float]] = [
        lambda score: 3 * score - 100,
        lambda score: score**3,
        math.exp,
        lambda score: -1 / (1 + score),
    ]
    for seed in SEEDS:
        qrels, run = data(seed)
        for transform in transforms:
            again = {
                query: {item: transform(score) for item, score in entry.items()}
                for query, entry in run.items()
            }

            assert_same(evaluate(qrels, again, [name]), reference(seed), name)


def frame_of(side: Grades, value: str) -> pl.DataFrame:
    rows = [(q, item, x) for q, entry in side.items() for item, x in entry.items()]
    return pl.DataFrame(rows, schema=["query", "item", value], orient="row")


def sparse_of(side: Grades) -> Any:
    frame = frame_of(side, "value")
    cells = (frame["query"].to_numpy(), frame["item"].to_numpy())
    return sparse.csr_array((frame["value"].to_numpy(), cells), shape=(N_QUERIES, 120))


def dense_of(run: Grades) -> Any:
    matrix = np.full((len(run), 120), -np.inf)
    for row, entry in enumerate(run.values()):
        matrix[row, list(entry)] = list(entry.values())
    return rk.from_scores(matrix, queries=list(run))


def trec_of(side: Grades, path: Path, line: str) -> Path:
    path.write_text(
        "".join(
            line.format(query=query, item=item, value=value)
            for query, entry in side.items()
            for item, value in entry.items()
        )
    )
    return path


def written(seed: int, folder: Path) -> dict[str, tuple[Any, Any]]:
    """Return the same data in every form that is read."""
    qrels, run = data(seed)
    whole = {q: {d: int(x) for d, x in entry.items()} for q, entry in qrels.items()}
    q, r = frame_of(qrels, "grade"), frame_of(run, "score")
    q.write_csv(folder / "qrels.csv")
    r.write_csv(folder / "run.csv")
    q.write_csv(folder / "qrels.tsv", separator="\t")
    r.write_csv(folder / "run.tsv", separator="\t")
    q.write_parquet(folder / "qrels.parquet")
    r.write_parquet(folder / "run.parquet")
    trec_qrels = trec_of(whole, folder / "q.txt", "{query} 0 {item} {value}\n")
    trec_run = trec_of(run, folder / "r.txt", "{query} Q0 {item} 1 {value!r} tag\n")
    return {
        "dict of ints": (qrels, run),
        "dict of text": (texts(qrels), texts(run)),
        "polars": (q, r),
        "polars lazy": (q.lazy(), r.lazy()),
        "pandas": (
            pd.DataFrame(q.to_dict(as_series=False)),
            pd.DataFrame(r.to_dict(as_series=False)),
        ),
        "pandas text": (
            pd.DataFrame(q.cast({"item": str}).to_dict(as_series=False)),
            pd.DataFrame(r.cast({"item": str}).to_dict(as_series=False)),
        ),
        "pyarrow": (
            pa.table(q.to_dict(as_series=False)),
            pa.table(r.to_dict(as_series=False)),
        ),
        "scipy CSR": (sparse_of(qrels), sparse_of(run)),
        "dense scores": (qrels, dense_of(run)),
        "frame and dict": (q, run),
        "dict and frame": (qrels, r),
        "TREC": (trec_qrels, trec_run),
        "TREC and dict": (trec_qrels, texts(run)),
        "CSV": (folder / "qrels.csv", folder / "run.csv"),
        "TSV": (str(folder / "qrels.tsv"), str(folder / "run.tsv")),
        "Parquet": (folder / "qrels.parquet", folder / "run.parquet"),
    }


@pytest.fixture(scope="module")
def forms(
    tmp_path_factory: pytest.TempPathFactory,
) -> list[tuple[str, Evaluation, Evaluation]]:
    made = []
    for seed in SEEDS[:2]:
        folder = tmp_path_factory.mktemp(f"forms{seed}")
        for form, (qrels, run) in written(seed, folder).items():
            made.append((form, evaluate(qrels, run, NAMES), reference(seed)))
    return made


@every_metric
def test_the_form_of_the_input_does_not_matter(
    name: str, forms: list[tuple[str, Evaluation, Evaluation]]
) -> None:
    for form, result, wanted in forms:
        assert column(result, name) == column(wanted, name), form
        assert result[name] == wanted[name], form


@every_metric
def test_an_ordered_list_is_a_run_with_falling_scores(name: str) -> None:
    for seed in SEEDS:
        qrels, run = data(seed, ties=False)
        lists = {
            query: sorted(entry, key=lambda item: -entry[item])
            for query, entry in run.items()
        }

        assert_same(evaluate(qrels, lists, [name]), reference(seed, ties=False), name)


@pytest.mark.parametrize("form", ["dict of ints", "polars", "pandas", "scipy CSR"])
def test_int_ids_stay_ints(form: str, tmp_path: Path) -> None:
    result = evaluate(*written(0, tmp_path)[form], ["AP"])

    assert result.per_query["query"].dtype == pl.Int64
    assert {type(query) for query in result.queries} == {int}


@pytest.mark.parametrize("form", ["dict of text", "TREC", "CSV", "TSV"])
def test_text_ids_stay_text(form: str, tmp_path: Path) -> None:
    result = evaluate(*written(0, tmp_path)[form], ["AP"])

    assert result.per_query["query"].dtype == pl.String
    assert {type(query) for query in result.queries} == {str}


# Cutoffs

BY_THE_CUTOFF = {
    "P": "divides by k, also where the list is shorter",
    "F": "its precision divides by k",
    "AR": "is the mean of the recall at all k ranks",
    "RelP": "divides by what the first k ranks could hold, not what the list could",
    "Unjudged": "divides by k, as trec_eval does",
}


def beyond(seed: int, name: str) -> tuple[Evaluation, Evaluation]:
    qrels, run = data(seed)
    deep = 1 + max(len(entry) for side in (qrels, run) for entry in side.values())
    return evaluate(qrels, run, [Metric(name) @ deep]), reference(seed)


@pytest.mark.parametrize("name", CUT)
def test_a_cutoff_beyond_lists_and_judgements_changes_nothing(name: str) -> None:
    changed = 0
    for seed in SEEDS:
        cut, whole = beyond(seed, name)
        label = next(iter(cut.mean))
        changed += column(cut, label) != column(whole, name)

    assert (changed > 0) == (name in BY_THE_CUTOFF)


@pytest.mark.parametrize("name", CUT)
def test_a_cutoff_at_the_length_of_a_list_changes_nothing(name: str) -> None:
    """No exceptions where the list has room for all that is judged."""
    for seed in SEEDS:
        qrels, run = data(seed)
        for query in qrels.keys() & run.keys():
            n = len(run[query])
            if n < len(qrels[query]):
                continue
            own = {query: qrels[query]}, {query: run[query]}
            cut = evaluate(*own, [Metric(name) @ n])

            assert list(cut.mean.values()) == pytest.approx(
                [evaluate(*own, [name])[name]], rel=0, abs=0, nan_ok=True
            )


# The best ranking

NEVER_REACHED = {
    "ERR": "the user is never surely satisfied: p < 1 for the highest grade",
    "RBP": "a finite list has not all of the weight: 1 - p^n",
    "AR": "recall rises with the rank: R@1 is 1/R at most",
    "AUC": "undefined without items that are not relevant; tested by itself",
    "infAP": "its smoothing term keeps it below 1 by about 0.00001",
}
NO_VALUE = {"FCP"}
"""Without a value where there is nothing to compare, such as a single grade."""
BEST = [
    name
    for name in NAMES
    if REGISTRY[name].higher_is_better and math.isfinite(REGISTRY[name].bounds[1])
]


def perfect(seed: int) -> tuple[Grades, Grades]:
    """Return judgements, and all relevant items by grade and nothing else."""
    qrels = {
        query: entry
        for query, entry in data(seed)[0].items()
        if sum(grade > 0 for grade in entry.values()) > 1
    }
    run: Grades = {
        query: {item: grade for item, grade in entry.items() if grade > 0}
        for query, entry in qrels.items()
    }
    return qrels, run


@pytest.mark.parametrize("name", BEST)
def test_a_perfect_ranking_reaches_the_upper_bound(name: str) -> None:
    high = REGISTRY[name].bounds[1]
    for seed in SEEDS:
        metric = base_of(name)
        values = metric.values(judged(*perfect(seed)))
        if name in NEVER_REACHED:
            assert not np.isclose(values, high, rtol=0, atol=1e-9).any()
        else:
            if name in NO_VALUE:
                values = values[~np.isnan(values)]
                assert len(values)
            np.testing.assert_allclose(values, high, rtol=1e-12, err_msg=str(metric))


NO_ROOM = {"R", "F", "AP", "MCC", "Accuracy", "LAUC", "Rprec"}
"""One rank has not room for all relevant items."""


@pytest.mark.parametrize(
    "name", [n for n in BEST if n in CUT and n not in NEVER_REACHED]
)
def test_a_perfect_ranking_reaches_the_bound_at_the_first_rank(name: str) -> None:
    high = REGISTRY[name].bounds[1]
    values = (base_of(name) @ 1).values(judged(*perfect(0)))

    assert np.allclose(values, high, rtol=1e-12) == (name not in NO_ROOM)


def test_a_perfect_ranking_has_auc_one() -> None:
    for seed in SEEDS:
        qrels, run = perfect(seed)
        below = {query: {**entry, 500: -1.0} for query, entry in run.items()}

        values = rk.AUC.values(judged(qrels, below))

        np.testing.assert_array_equal(values, 1)


# The public door


def test_conventions_can_be_listed_after_an_evaluation() -> None:
    rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"])

    assert "trec_eval-9" in rk.conventions()
