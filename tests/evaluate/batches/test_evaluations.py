"""Batches: what comes out is what one call gives, bit for bit."""

from __future__ import annotations

import copy
import math
import pickle
import random
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, ParameterError, UsageError

Data = tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]
CATALOG = 40
LISTED = [
    "InterListDiversity@4", "InterListDiversity", "ILD@4", "Unexpectedness@4",
    "Coverage@4", "Coverage@2", "UserCoverage", "UserCoverage@3", "Gini@4",
    "Entropy@4", "Entropy(weight='list')@4", "GiniSimpson@4",
    "GiniSimpson(weight='list')", "Novelty@4", "EPC@4", "EFD@4", "Popularity@4",
    "LongTail@4", "Serendipity@4", "Calibration@4", "SubtopicRecall@4",
    "alpha_nDCG@4", "ERR_IA@4", "AWRF@4", "EE@4",
]  # fmt: skip


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


def data(seed: int) -> Data:
    """Make judgements, lists, training data and topics; some users lack some of it."""
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    items = [f"i{number}" for number in range(30)]
    users = [f"u{number}" for number in range(40)]
    qrels = {
        user: {item: rng.randrange(4) for item in rng.sample(items, 6)}
        for user in users[:35]
    }
    run = {
        user: {item: rng.random() for item in rng.sample(items, rng.randrange(9))}
        for user in users[3:]
    }
    train = {user: rng.sample(items[:25], 4) for user in users[::2]}
    topics = {item: rng.sample(["a", "b", "c", "d", "e"], 3) for item in items}
    return qrels, run, train, topics


def parts(qrels: Any, run: Any, seed: int) -> list[tuple[Any, Any]]:
    """Cut the users into batches, in random order; some batches are of one user."""
    users = list(dict.fromkeys([*qrels, *run]))
    rng = random.Random(seed)  # noqa: S311
    rng.shuffle(users)
    made = []
    while users:
        n = rng.choice([1, 3, 11])
        own, users = users[:n], users[n:]
        judged = {user: qrels[user] for user in own if user in qrels}
        shown = {user: run[user] for user in own if user in run}
        if judged and shown:
            made.append((judged, shown))
        elif users:  # neither judgements nor runs can be empty
            users = [*users[:3], *own, *users[3:]]
        else:
            last, listed = made.pop()
            made.append((last | judged, listed | shown))
    return made


def total(metrics: Any, batches: Any, **options: Any) -> rk.Accumulated:
    accumulator = rk.Accumulator(metrics, **options)
    for batch in batches:
        accumulator.update(*batch)
    found: rk.Accumulated = accumulator.result()
    return found


def same(found: rk.Evaluation, wanted: rk.Evaluation) -> None:
    for metric, value in wanted.mean.items():
        got = found[metric]
        assert got == value or (math.isnan(got) and math.isnan(value)), metric
    ours = found.per_query.sort("query")
    theirs = wanted.per_query.sort("query")
    kept = [one for one in theirs.columns if "InterListDiversity" not in one]
    assert ours.select(kept).equals(theirs.select(kept))


def judged_metrics() -> list[str]:
    return [
        name
        for name, metric in rk.metrics().items()
        if not hasattr(metric, "needs") and not metric.takes("catalog")
    ]


@pytest.mark.parametrize("seed", range(4))
def test_all_metrics_of_judgements(seed: int) -> None:
    qrels, run, _, _ = data(seed)
    metrics = [*judged_metrics(), "nDCG@5", "P@3", "AP@5", "RR@2", "AUC(catalog=40)"]

    found = total(metrics, parts(qrels, run, seed), catalog=CATALOG)

    same(found, rk.evaluate(qrels, run, metrics, catalog=CATALOG))


@pytest.mark.parametrize("seed", range(6))
def test_metrics_that_compare_all_queries(seed: int) -> None:
    qrels, run, _, _ = data(seed)
    metrics = [
        "AUC(scope=pooled)",
        "AUC(scope=pooled,universe=matched)@3",
        "AUC(scope=pooled)@4",
        "GAUC",
        "ERR@4",
        "RR",
    ]
    batches = parts(qrels, run, seed)
    wanted = rk.evaluate(qrels, run, metrics)

    same(total(metrics, batches), wanted)

    first, *others = [rk.Accumulator(metrics).update(*one) for one in batches]
    for one in reversed(others):
        first.merge(pickled(one))
    same(first.result(), wanted)


def test_auc_of_matched_pairs_as_jurity_has_it() -> None:
    qrels, run, _, _ = data(5)
    found = total("AUC", parts(qrels, run, 5), convention="jurity")
    assert found["AUC"] == rk.evaluate(qrels, run, "AUC", convention="jurity")["AUC"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_all_metrics_of_lists(seed: int) -> None:
    qrels, run, train, topics = data(seed)
    known = {"train": train, "items": topics}

    found = total(LISTED, parts(qrels, run, seed), **known)

    same(found, rk.evaluate(qrels, run, LISTED, **known))  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("name", rk.conventions())
def test_every_convention(name: str) -> None:
    qrels, run, train, _ = data(7)
    metrics = ["nDCG@3", "P@3", "AP@3", "RR@3"]
    if name != "sklearn":  # which averages over ties, and has no lists
        metrics += ["Coverage@3", "Novelty@3", "Gini@3", "InterListDiversity@3"]
    if name == "torchmetrics":
        metrics = [one for one in metrics if one != "nDCG@3"]

    found = total(metrics, parts(qrels, run, 1), convention=name, train=train)

    same(found, rk.evaluate(qrels, run, metrics, convention=name, train=train))


@pytest.mark.parametrize("catalog", [None, 40, [f"i{n}" for n in range(3, 40)]])
def test_lists_alone_and_a_catalogue(catalog: Any) -> None:
    _, run, train, _ = data(3)
    metrics = ["Coverage@4", "Gini@4", "UserCoverage@2", "InterListDiversity@4"]
    rows = [(u, i, s) for u, own in run.items() for i, s in own.items()]
    frame = pl.DataFrame(rows, ["user", "item", "score"], orient="row")
    options = {"train": train, "catalog": catalog}
    halves = rk.Accumulator(metrics, **options), rk.Accumulator(metrics, **options)
    users = frame["user"].unique().sort()

    for at, user in enumerate(users.to_list()):
        halves[at % 2].update(frame.filter(pl.col("user") == user))
    found = halves[0].merge(halves[1]).result()

    same(found, rk.evaluate(None, frame, metrics, **options))


def test_they_travel_between_machines() -> None:
    qrels, run, train, topics = data(5)
    known: dict[str, Any] = {"train": train, "items": topics}
    total = rk.Accumulator(LISTED, **known)

    for batch in parts(qrels, run, 5):
        part = rk.Accumulator(LISTED, **known).update(*batch)
        total.merge(pickled(part))

    same(total.result(), rk.evaluate(qrels, run, LISTED, **known))


@pytest.mark.parametrize("form", ["dict", "frame"])
def test_data_that_no_metric_needs_do_not_travel(form: str) -> None:
    train: Any = {f"u{user}": ["a", "b"] for user in range(2000)}
    if form == "frame":
        rows = [(user, item) for user, had in train.items() for item in had]
        train = pl.DataFrame(rows, ["query", "item"], orient="row")
    others: dict[str, Any] = {
        "train": train,
        "items": {f"i{item}": [1.0, item] for item in range(2000)},
        "reference": {f"u{user}": ["a", "b"] for user in range(2000)},
    }
    batch = {"u1": {"a"}}, {"u1": ["x", "a"]}

    def size(metric: str, **known: Any) -> int:
        total = rk.Accumulator(metric, **known).update(*batch)
        return len(pickle.dumps(total))

    assert size("RR", **others) < 1.1 * size("RR")
    assert size("Novelty", **others) > 5 * size("RR")
    assert size("Novelty", **others) < 1.1 * size("Novelty", train=train)


def test_counts_travel_where_it_does_not_matter_who_had_what() -> None:
    users = [f"u{user}" for user in range(300)]
    train = {user: [f"i{item}" for item in range(200)] for user in users}
    options: dict[str, Any] = {"train": train, "items": {"i1": "x", "i2": "y"}}

    def size(metric: str) -> int:
        return len(pickle.dumps(rk.Accumulator(metric, **options)))

    counts = ["Novelty", "Popularity", "EPC", "EFD", "LongTail", "Serendipity"]
    ids = ["Coverage", "Gini", "UserCoverage"]
    rows = ["Novelty(by='own')", "Calibration", "ILD(by='users')"]
    assert max(map(size, ids)) < min(map(size, counts))
    assert 20 * max(map(size, counts)) < min(map(size, rows))


@pytest.mark.parametrize("first", [9, "9"])
def test_a_batch_may_write_ids_as_texts_and_the_training_data_as_ints(
    first: Any,
) -> None:
    """As texts, 10 and 100 come before 9; the user had three of four items."""
    kind = type(first)
    shown = [kind(item) for item in (9, 10, 11, 12)]
    train = {kind(1): [9, 10, 100, 11]}
    metrics = ["Novelty(by='own')", "Popularity"]

    total = rk.Accumulator(metrics, train=train).update({kind(1): shown})

    wanted = {"Novelty(by='own')": 1 / 4, "Popularity": 3 / 4}
    assert total.result().mean == wanted
    assert rk.evaluate(None, {kind(1): shown}, metrics, train=train).mean == wanted


def test_data_that_no_metric_needs_are_checked_nevertheless() -> None:
    with pytest.raises(DataError, match="contains no interactions"):
        rk.Accumulator("RR", train={"u": []})


def test_accumulators_merge_whatever_they_do_not_need() -> None:
    first = rk.Accumulator("RR", train={"u": ["a"]})
    second = rk.Accumulator("RR", train={"u": ["b"]})
    first.update({"q": {"a"}}, {"q": ["a"]})
    second.update({"r": {"a"}}, {"r": ["b", "a"]})

    assert first.merge(second).result()["RR"] == (1 + 1 / 2) / 2


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("number", [False, True])
def test_items_and_users_that_the_training_data_lack(
    *, number: bool, again: Any
) -> None:
    def ids(names: str) -> list[Any]:
        return [ord(name) for name in names] if number else list(names)

    u, v, w = ids("uvw")
    total = rk.Accumulator(
        ["Novelty", "Novelty(by='own')"], train={u: ids("bd"), v: ids("b")}
    )

    # Items that come before, between and after those of the training data.
    for user, shown in ((u, "ab"), (v, "cd"), (w, "eb")):
        total = again(total.update({user: ids(shown)}))

    # Both users had b, one had d, and nobody the others, which count like d.
    of_users = {"Novelty": (1 + 0) / 2 + (1 + 1) / 2 + (1 + 0) / 2}
    of_users["Novelty(by='own')"] = 1 / 2 + 1 + 1
    assert total.result().mean == {name: of / 3 for name, of in of_users.items()}


def test_merging_leaves_the_other_as_it_is() -> None:
    first, second = rk.Accumulator("RR"), rk.Accumulator("RR")
    first.update({"q": {"a"}}, {"q": ["a"]})
    second.update({"r": {"a"}}, {"r": ["b", "a"]})

    assert first.merge(second).result()["RR"] == (1 + 1 / 2) / 2
    assert second.result()["RR"] == 1 / 2
    assert repr(first) == "Accumulator(2 queries in 2 batches)"


def test_a_batch_is_two_things_a_pair_or_a_run() -> None:
    pair = rk.Accumulator("RR").update(({"q": {"a"}}, {"q": ["a"]}))
    alone = rk.Accumulator("GiniSimpson").update({"q": ["a", "b"]})

    assert pair.result()["RR"] == 1
    assert alone.result()["GiniSimpson"] == 1 / 2


def test_a_result_in_between_changes_nothing() -> None:
    total = rk.Accumulator(["RR", "GiniSimpson"]).update({"q": {"a"}}, {"q": ["a"]})
    before = total.result().mean

    total.update({"r": {"a"}}, {"r": ["b", "a"]})

    assert before == {"RR": 1, "GiniSimpson": 0}
    assert total.result().mean == {"RR": 3 / 4, "GiniSimpson": 1 - (4 + 1) / 9}


def test_a_query_comes_once() -> None:
    total = rk.Accumulator("RR").update({"q": {"a"}}, {"q": ["a"]})

    with pytest.raises(
        DataError, match=("1 query already seen in an earlier batch, such as 'q'")
    ):
        total.update({"q": {"a"}, "r": {"a"}}, {"q": ["a"], "r": ["a"]})
    with pytest.raises(DataError, match="such as 'q'"):
        total.merge(rk.Accumulator("RR").update({"q": {"a"}}, {"q": ["a"]}))
    assert total.result()["RR"] == 1


def test_nothing_has_come() -> None:
    found = rk.Accumulator(["RR", "GiniSimpson", "NumQ"]).result()

    assert math.isnan(found["RR"])
    assert math.isnan(found["GiniSimpson"])
    assert found.per_query.height == 0


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("ERR_IA(max_grade=None)@5", {"items": {"a": "x"}}, r"max_grade=4"),
        ("Novelty@10", {}, "give train="),
        ("Coverage@10", {}, "the catalogue"),
        ("nDGC@10", {}, "did you mean"),
        ("RR", {"lenient": 2}, "True or False"),
    ],
)
def test_what_cannot_be_done_is_told_at_once(
    metric: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        rk.Accumulator(metric, **options)


def test_judgements_are_asked_for_with_the_batch() -> None:
    total = rk.Accumulator(["RR", "GiniSimpson"])

    with pytest.raises(ParameterError, match="RR needs judgements"):
        total.update({"q": ["a"]})


def test_other_metrics_do_not_merge() -> None:
    with pytest.raises(ParameterError, match="differ in metrics"):
        rk.Accumulator("RR").merge(rk.Accumulator("AP"))
    with pytest.raises(ParameterError, match="takes another Accumulator"):
        rk.Accumulator("RR").merge(5)  # type: ignore[arg-type]


def test_intervals_notes_and_outputs() -> None:
    qrels, run, train, _ = data(2)
    metrics = ["nDCG@3", "Coverage@3", "Novelty@3"]

    found = total(metrics, parts(qrels, run, 3), train=train)
    wanted = rk.evaluate(qrels, run, metrics, train=train)

    low, high = found.interval("nDCG@3", method="t")
    assert (low, high) == pytest.approx(wanted.interval("nDCG@3", method="t"))
    ours, theirs = (one.to_dict()["metrics"]["nDCG@3"] for one in (found, wanted))
    assert ours["without_relevant"] == theirs["without_relevant"]
    assert ours["n"] == theirs["n"]
    for drawn in (found.to_json(), found.to_markdown(), found.to_latex(), str(found)):
        assert "nDCG@3" in drawn
    # Which queries are named depends on the order of batches.
    ours, theirs = (
        {note.partition("(u")[0] for note in one.notes} for one in (found, wanted)
    )
    assert ours == theirs


def test_a_weight_of_zero_is_not_an_undefined_value() -> None:
    qrels = {"a": {"x"}, "b": {"y"}, "c": {"z"}}
    run = {"a": ["x"], "b": ["q", "y"], "c": ["k"]}
    how: dict[str, Any] = {
        "convention": "recbole",
        "weights": {"a": 1, "b": 2.5, "c": 0},
    }

    batches = rk.Accumulator("R@3", **how)
    for user, liked in qrels.items():
        batches.update({user: liked}, {user: run[user]})

    assert batches.result()["R@3"] == rk.evaluate(qrels, run, "R@3", **how)["R@3"] == 1
