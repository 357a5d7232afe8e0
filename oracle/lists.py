"""Compare metrics of lists with the tools that have them: make oracle.

Each tool that is installed computes its metrics of diversity, coverage, novelty and the
like on random lists, and so does rankine with the tool's convention; click rates from
logs as well. The exit status is 1 if a number differs.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
import rankine as rk
from oracle.differences import run

_CHANCE = 0.3
_LEFT_OUT = 3  # ranks of a list with gaps that have no item
_ENOUGH = 1e-9
Pair = tuple[str, Any, Callable[[], float]]


@dataclass(frozen=True)
class World:
    """Lists, what users had before and liked after, and features of items.

    Attributes:
        lists: rows of user, item, rank and score; ranks may leave numbers out.
        train: rows of user and item, from before.
        truth: rows of user and item, from after.
        features: a row of numbers for each item.
        described: the items whose features are known, for tools that can do without.
        k: a cutoff.
        reference: rows like those of the lists, of another recommender.
    """

    lists: Any
    train: Any
    truth: Any
    features: Any
    described: list[int]
    k: int
    reference: Any

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.features)

    def ours(self, metric: str, convention: str, **more: Any) -> Callable[[], float]:
        """Return what computes our number."""
        lists = more.pop("lists", self.lists)
        qrels = more.pop("qrels", None)

        def value() -> float:
            ev = rk.evaluate(qrels, lists, metric, convention=convention, **more)
            return next(iter(ev.mean.values()))

        return value


def draw(rng: np.random.Generator) -> World:
    """Draw lists of unequal length, with items that nobody had, and a log.

    Some users are known to the lists alone, to the log alone, or to the truth alone.
    """
    import pandas as pd

    n_users, n_items = int(rng.integers(2, 9)), int(rng.integers(4, 12))
    n_known = int(rng.integers(3, n_items + 1))

    def some(most: int, least: int, most_of: int) -> list[int]:
        found: list[int] = rng.permutation(most)[
            : rng.integers(least, most_of)
        ].tolist()
        return found

    def users() -> list[int]:
        return some(n_users, 1, n_users + 1) if lonely else list(range(n_users))

    lonely, gaps = rng.random(2) < _CHANCE

    def recommendations() -> list[tuple[int, int, int, float]]:
        rows = []
        for user in users():
            items = some(n_items, 1, min(n_items, 6) + 1)
            ranks = np.arange(len(items)) + 1
            if gaps:
                n = len(items) + _LEFT_OUT
                ranks = np.sort(rng.permutation(n)[: len(items)]) + 1
            rows += [
                (user, item, int(rank), 1 / (place + 1))
                for place, (item, rank) in enumerate(zip(items, ranks, strict=True))
            ]
        return rows

    lists = recommendations()
    train = [(u, i) for u in users() for i in some(n_known, 1, n_known + 1)]
    truth = [(u, i) for u in users() for i in some(n_items, 1, 4)]
    features = rng.integers(0, 2, (n_items, 4)).astype(float)
    features[:, 0] += 1  # none is all 0, which some tools fail on
    pair = ["user_id", "item_id"]
    ranked = [*pair, "rank", "score"]
    return World(
        pd.DataFrame(lists, columns=ranked),
        pd.DataFrame(train, columns=pair),
        pd.DataFrame(truth, columns=pair),
        features,
        some(n_items, n_items // 2, n_items + 1),
        int(rng.integers(1, 6)),
        pd.DataFrame(recommendations(), columns=ranked),
    )


def rectools(w: World, rng: np.random.Generator) -> Iterator[Pair]:
    import pandas as pd
    from rectools import metrics
    from rectools.metrics.distances import PairwiseHammingDistanceCalculator

    k, catalog, train = w.k, list(range(w.n_items)), w.train
    table = pd.DataFrame(w.features).loc[w.described]
    table.index.name = "item_id"
    hamming = metrics.IntraListDiversity(k, PairwiseHammingDistanceCalculator(table))
    described = {item: w.features[item] for item in w.described}
    own = w.ours(f"ILD(distance='hamming')@{k}", "rectools", items=described)
    yield (
        "Novelty",
        metrics.MeanInvUserFreq(k).calc(w.lists, train),
        w.ours(f"Novelty@{k}", "rectools", train=train),
    )
    yield (
        "Popularity",
        metrics.AvgRecPopularity(k).calc(w.lists, train),
        w.ours(f"Popularity@{k}", "rectools", train=train),
    )
    yield (
        "Coverage",
        metrics.CatalogCoverage(k).calc(w.lists, catalog),
        w.ours(f"Coverage@{k}", "rectools", catalog=catalog),
    )
    yield (
        "Coverage(share=True)",
        metrics.CatalogCoverage(k, normalize=True).calc(w.lists, catalog),
        w.ours(f"Coverage(share=True)@{k}", "rectools", catalog=catalog),
    )
    serendipity = metrics.Serendipity(k).calc(w.lists, w.truth, train, catalog)
    yield (
        "Serendipity",
        serendipity,
        w.ours(
            f"Serendipity@{k}", "rectools", qrels=w.truth, train=train, catalog=catalog
        ),
    )
    # It counts the features that differ; a Hamming distance is their share.
    yield "ILD", hamming.calc(w.lists) / w.features.shape[1], own
    covered = metrics.CoveredUsers(k)
    yield (
        "UserCoverage",
        covered.calc(w.lists, w.truth),
        w.ours(f"UserCoverage@{k}", "rectools", qrels=w.truth),
    )
    each = rk.evaluate(w.truth, w.lists, f"UserCoverage@{k}", convention="rectools")
    ours = dict(each.per_query.iter_rows())
    theirs = covered.calc_per_user(w.lists, w.truth).to_dict()
    yield "UserCoverage per user", theirs == ours, lambda: 1.0
    repeated = w.lists.assign(item_id=rng.integers(0, 4, len(w.lists)))
    for name, lists in (("SufficientReco", w.lists), ("UnrepeatedReco", repeated)):
        for label, deep in ((name, False), (f"{name}(deep=True)", True)):
            theirs = getattr(metrics, name)(k, deep=deep).calc(lists)
            yield label, theirs, w.ours(f"{label}@{k}", "rectools", lists=lists)
    for ref_k, label in ((None, "Intersection"), (2, "Intersection(ref_k=2)")):
        for name, lists in (("", w.lists), (" of repeats", repeated)):
            own = w.ours(f"{label}@{k}", "rectools", lists=lists, reference=w.reference)
            theirs = metrics.Intersection(k, ref_k).calc(lists, w.reference)
            yield f"{label}{name}", theirs, own
    yield from _debiased(w, rng)


def _debiased(w: World, rng: np.random.Generator) -> Iterator[Pair]:
    """Compare judgements of items that some have many times more often than others."""
    import pandas as pd
    from rectools import metrics

    weight = rng.pareto(1, w.n_items) + 0.1
    users, n_had = range(20), int(rng.integers(1, min(w.n_items, 4)))
    had = [
        (user, int(item))
        for user in users
        for item in rng.choice(w.n_items, n_had, replace=False, p=weight / weight.sum())
    ]
    truth = pd.DataFrame(had, columns=["user_id", "item_id"])
    config = metrics.DebiasConfig(
        float(rng.choice([0, 0.5, 1.5])), int(rng.integers(9))
    )
    left = metrics.debias_interactions(truth, config)
    ours = rk.debias(truth, coefficient=config.iqr_coef, seed=config.random_state)
    counts = dict(ours.frame["item"].value_counts().iter_rows())
    yield "debias", counts == left["item_id"].value_counts().to_dict(), lambda: 1.0
    dropped = ours.n_dropped == len(truth) - len(left)
    yield "debias, dropped", dropped, lambda: 1.0
    for label, kind in (("R", "Recall"), ("AP", "MAP"), ("nDCG", "NDCG")):
        theirs = getattr(metrics, kind)(w.k, debias_config=config).calc(w.lists, truth)
        if set(left["user_id"]).isdisjoint(w.lists["user_id"]):
            continue  # nobody has both a list and judgements
        own = w.ours(f"{label}@{w.k}", "rectools", qrels=left)
        yield f"debias, {label}", theirs, own


def recommenders(w: World, _: np.random.Generator) -> Iterator[Pair]:
    from recommenders.evaluation import python_evaluation as peer

    had = set(zip(w.train["user_id"], w.train["item_id"], strict=True))
    users, items = w.lists["user_id"], w.lists["item_id"]
    new = [pair not in had for pair in zip(users, items, strict=True)]
    lists = w.lists[new]  # it refuses items that a user had
    if not len(lists):
        return
    names = {"col_user": "user_id", "col_item": "item_id"}

    def own(metric: str) -> Callable[[], float]:
        return w.ours(metric, "recommenders", lists=lists, train=w.train)

    yield "Novelty", peer.novelty(w.train, lists, **names), own("Novelty")
    yield "Coverage", peer.catalog_coverage(w.train, lists, **names), own("Coverage")
    spread = peer.distributional_coverage(w.train, lists, **names)
    yield "Entropy", spread, own("Entropy")
    if (lists.groupby("user_id").size() > 1).any():
        yield "ILD", peer.diversity(w.train, lists, **names), own("ILD")
    surprise = peer.serendipity(w.train, lists, **names)
    yield "Unexpectedness", surprise, own("Unexpectedness(by='users')")
    liked = set(zip(w.truth["user_id"], w.truth["item_id"], strict=True))
    pairs = zip(lists["user_id"], lists["item_id"], strict=True)
    relevant = lists.assign(relevance=[int(pair in liked) for pair in pairs])
    pleasant = peer.serendipity(w.train, relevant, col_relevance="relevance", **names)
    ours = w.ours(
        "Serendipity", "recommenders", lists=lists, train=w.train, qrels=w.truth
    )
    yield "Serendipity", pleasant, ours


def jurity(w: World, rng: np.random.Generator) -> Iterator[Pair]:
    import pandas as pd
    from jurity.recommenders import CTR, InterListDiversity, IntraListDiversity

    names = {
        "click_column": "click",
        "user_id_column": "user_id",
        "item_id_column": "item_id",
        "k": w.k,
    }
    lists = w.lists.rename(columns={"score": "click"})
    between = InterListDiversity(**names).get_score(lists, lists)
    own = w.ours(f"InterListDiversity@{w.k}", "jurity")
    yield "InterListDiversity", between, own
    seed, runs = int(rng.integers(9)), 3
    drawn = {"user_sample_size": int(rng.integers(2, 9)), "seed": seed}
    how = f"sample={drawn['user_sample_size']},runs={runs},seed={seed}"
    # Of other distances it has those that take sparse vectors.
    for distance in ("cosine", "cityblock", "manhattan", "euclidean"):
        for sampled in (False, True):
            more: dict[str, Any] = drawn | {"num_runs": runs} if sampled else {}
            peer = InterListDiversity(metric=distance, **names, **more)
            chosen = f"distance='{distance}'" + (f",{how}" if sampled else "")
            own = w.ours(f"InterListDiversity({chosen})@{w.k}", "jurity")
            label = f"InterListDiversity({distance}{', sampled' * sampled})"
            yield label, peer.get_score(lists, lists), own
    if w.k > 1:
        table = pd.DataFrame(w.features).rename_axis("item_id").reset_index()
        within = IntraListDiversity(table, **names).get_score(lists, lists)
        yield "ILD", within, w.ours(f"ILD@{w.k}", "jurity", items=w.features)
        for distance in ("cosine", "cityblock"):
            peer = IntraListDiversity(
                table, metric=distance, **names, **drawn, num_runs=runs
            )
            metric = f"ILD(distance='{distance}',{how})@{w.k}"
            own = w.ours(metric, "jurity", items=w.features)
            yield f"ILD({distance}, sampled)", peer.get_score(lists, lists), own
    logged = w.train.assign(
        click=rng.integers(0, 2, len(w.train)),
        propensity=rng.uniform(0.1, 1, len(w.train)),
    )
    shown = lists.assign(click=rng.random(len(lists)))
    offered = shown.rename(columns={"click": "predicted"}).drop(columns="rank")
    for name in ("matching", "ips", "dr"):
        metric = CTR(**names, estimation=name, propensity_column="propensity")

        def estimate(name: str = name) -> float:
            found = rk.ctr(logged, offered, name, convention="jurity", k=w.k)
            return float(found.value)

        yield f"ctr {name}", metric.get_score(logged.copy(), shown.copy()), estimate


def recmetrics(w: World, _: np.random.Generator) -> Iterator[Pair]:
    import recmetrics as peer

    lists = w.lists.groupby("user_id")["item_id"].agg(list).tolist()
    catalog = list(range(w.n_items))
    coverage = w.ours("Coverage", "recmetrics", catalog=catalog)
    yield "Coverage", peer.prediction_coverage(lists, catalog), coverage
    if len(lists) > 1 and len(set(map(len, lists))) == 1:
        # It makes an array of the lists, which must have one length; where there is
        # one list alone, it divides what is left of rounding by 0 pairs.
        between = w.ours("InterListDiversity", "recmetrics")
        yield "InterListDiversity", peer.personalization(lists), between
    counts = w.train["item_id"].value_counts().to_dict()
    if all(item in counts for shown in lists for item in shown):
        n_users = w.train["user_id"].nunique()
        value, _ = peer.novelty([shown[: w.k] for shown in lists], counts, n_users, w.k)
        yield "Novelty", value, w.ours(f"Novelty@{w.k}", "recmetrics", train=w.train)


def replay(w: World, rng: np.random.Generator) -> Iterator[Pair]:
    from replay.metrics import (
        CategoricalDiversity,
        Coverage,
        Novelty,
        Surprisal,
        Unexpectedness,
    )

    names = {
        "query_column": "user_id",
        "item_column": "item_id",
        "rating_column": "score",
    }
    train = w.train.assign(score=1.0)
    scaled = "Novelty(by='users',divisor='k',scaled=True)"
    calls = [(Coverage, "Coverage")]
    before = set(train["user_id"])
    # It averages novelty over the users of the log, 1 for those without a list.
    if set(w.lists["user_id"]) == before:
        calls.append((Novelty, "Novelty"))
    # It divides by the logarithm of the number of users.
    if len(before) > 1:
        calls.append((Surprisal, scaled))
    for metric, label in calls:
        (value,) = metric(w.k, **names)(w.lists.drop(columns="rank"), train).values()
        yield label, value, w.ours(f"{label}@{w.k}", "replay", train=w.train)
    other = w.reference.drop(columns="rank")
    repeated = w.lists.assign(item_id=rng.integers(0, 4, len(w.lists)))
    for name, lists in (("", w.lists), (" of repeats", repeated)):
        shown = lists.drop(columns="rank")
        (value,) = Unexpectedness(w.k, **names)(shown, other).values()
        own = w.ours(f"Unexpectedness@{w.k}", "replay", lists=shown, reference=other)
        yield f"Unexpectedness{name}", value, own
    # Lists without items come in dicts.
    empty = {"x": [], "y": [(1, 1.0)], "z": [(1, 1.0)]}
    base = {"x": [(1, 1.0)], "y": [], "z": [(2, 1.0)]}
    (value,) = Unexpectedness(w.k)(empty, base).values()
    run, theirs = (
        {user: dict(own) for user, own in one.items()} for one in (empty, base)
    )
    own = w.ours(f"Unexpectedness@{w.k}", "replay", lists=run, reference=theirs)
    yield "Unexpectedness without items", value, own
    kinds = w.features.argmax(axis=1).tolist()
    about = w.lists.assign(category_id=[kinds[item] for item in w.lists["item_id"]])
    varied = CategoricalDiversity(w.k, query_column="user_id", rating_column="score")
    (value,) = varied(about.drop(columns=["item_id", "rank"])).values()
    topics = {item: f"kind {kind}" for item, kind in enumerate(kinds)}
    yield (
        "TopicDiversity",
        value,
        w.ours(f"TopicDiversity@{w.k}", "replay", items=topics),
    )


def ir_measures(_: World, rng: np.random.Generator) -> Iterator[Pair]:
    """Compare judgements of subtopics: some queries have no list, or want nothing."""
    import ir_measures as peer

    n_items, n_topics = int(rng.integers(3, 15)), int(rng.integers(2, 6))
    qrels, run = [], {}
    for query in map(str, range(1, int(rng.integers(2, 6)))):
        chance = rng.choice([0.02, 0.25])
        for item in range(n_items):
            for topic in range(n_topics):
                grade = int(
                    rng.choice([-1, 0, 1, 2], p=[0.55, 0.4 - chance, chance, 0.05])
                )
                if grade >= 0:
                    qrels.append((query, f"d{item}", grade, str(topic)))
        shown = rng.permutation(n_items)[: rng.integers(1, n_items + 1)].tolist()
        if rng.random() < 3 / 4:
            width = int(rng.choice([1, 1, 3]))  # of ties
            run[query] = {
                f"d{item}": float(-place // width) for place, item in enumerate(shown)
            }
    judged = {query for query, *_ in qrels}
    if len({topic for *_, topic in qrels}) == 1 or judged.isdisjoint(run):
        return  # one subtopic is none
    k = int(rng.integers(1, n_items + 3))
    calls = {
        "alpha_nDCG@{k}": peer.alpha_nDCG @ k,
        "alpha_nDCG(alpha=0.3)@{k}": peer.alpha_nDCG(alpha=0.3) @ k,
        "ERR_IA@{k}": peer.ERR_IA @ k,
        "ERR_IA(rel=2)@{k}": peer.ERR_IA(rel=2) @ k,
        "SubtopicRecall@{k}": peer.StRecall @ k,
        "alpha_DCG@{k}": peer.alpha_DCG @ k,
        "alpha_DCG(alpha=0.3)@{k}": peer.alpha_DCG(alpha=0.3) @ k,
        "nERR_IA@{k}": peer.nERR_IA @ k,
        "NRBP": peer.NRBP,
        "NRBP(alpha=0.3,beta=0.8)": peer.NRBP(alpha=0.3, beta=0.8),
        "nNRBP": peer.nNRBP,
        "nNRBP(alpha=0.3,beta=0.8)": peer.nNRBP(alpha=0.3, beta=0.8),
        "AP_IA": peer.AP_IA,
        "P_IA@{k}": peer.P_IA @ k,
        "P_IA(rel=2)@{k}": peer.P_IA(rel=2) @ k,
    }
    # One at a time: it reads the run once, and has nothing left for other parameters.
    rows = [peer.Qrel(*row) for row in qrels]
    theirs = {call: call.calc_aggregate(rows, run) for call in calls.values()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "qrels"
        lines = [
            f"{query} {topic} {item} {grade}\n" for query, item, grade, topic in qrels
        ]
        path.write_text("".join(lines))
        asked = [label.format(k=k) for label in calls]
        ours = rk.evaluate(path, run, asked, convention="ir_measures")
    for label, call in calls.items():
        if k == 1 and label.startswith(("ERR_IA", "alpha_DCG")):
            continue  # ndeval does not divide by the topics at the first rank
        if label.startswith("nNRBP") and np.isnan(theirs[call]):
            continue  # ndeval divides by 0 where nothing is relevant
        yield label, theirs[call], partial(float, ours[label.format(k=k)])


def lenskit(w: World, rng: np.random.Generator) -> Iterator[Pair]:
    from lenskit.data import ItemList, ItemListCollection
    from lenskit.metrics import ListGini, RunAnalysis, entropy, rank_biased_entropy

    lists = w.lists.groupby("user_id")["item_id"].apply(list).to_dict()
    outputs = ItemListCollection.from_dict(
        {user: ItemList(item_ids=items, ordered=True) for user, items in lists.items()},
        "user_id",
    )
    metric = ListGini(w.k, items=w.n_items)
    # A list without test items is reported, and measured all the same.
    found = RunAnalysis(metric).measure(outputs, outputs)
    theirs = float(found.global_metrics()[metric.label])
    yield "Gini", theirs, w.ours(f"Gini@{w.k}", "lenskit", catalog=w.n_items)
    # Some items are about nothing, most about several topics.
    matrix = (rng.random((w.n_items, 5)) < _CHANCE).astype(float)
    matrix[0] = 1  # so that all topics are about something
    topics = {
        item: [f"topic {topic}" for topic in np.flatnonzero(row)]
        for item, row in enumerate(matrix)
        if row.any()
    }
    for name, peer in (
        ("TopicEntropy", entropy),
        ("RankBiasedEntropy", rank_biased_entropy),
    ):
        each = [
            peer(ItemList(item_ids=shown, ordered=True), matrix[shown], n=w.k)
            for shown in lists.values()
        ]
        own = w.ours(f"{name}@{w.k}", "lenskit", items=topics)
        yield name, float(np.mean(each)), own


def torchmetrics(w: World, rng: np.random.Generator) -> Iterator[Pair]:
    """Compare recall where precision is enough; scores may be below 0."""
    import torch
    from torchmetrics.retrieval import RetrievalRecallAtFixedPrecision

    if set(w.truth["user_id"]).isdisjoint(w.lists["user_id"]):
        return
    liked = set(zip(w.truth["user_id"], w.truth["item_id"], strict=True))
    lists = w.lists.drop(columns="rank")
    lists["score"] = rng.permutation(len(lists)) / 4.0 - 1
    pairs = list(zip(lists["user_id"], lists["item_id"], strict=True))
    scores = torch.tensor(lists["score"].tolist())
    target = torch.tensor([int(pair in liked) for pair in pairs])
    users = torch.tensor(lists["user_id"].tolist())
    rule = rk.conventions()["torchmetrics"].replace(score_floor=None)
    ev = rk.evaluate(w.truth, lists, "AP", convention=rule)
    max_k = int(rng.integers(1, 9)) if rng.random() < 1 / 2 else None
    # Not at a precision that queries have, where what is rounded decides.
    least = float(rng.choice([0, rng.random(), rng.random()]))
    for adaptive in (False, True):
        peer = RetrievalRecallAtFixedPrecision(least, max_k, adaptive_k=adaptive)
        recall, k = peer(scores, target, indexes=users)
        precision = "P(divisor='list')" if adaptive else "P"
        ours = ev.recall_at_precision(least, max_k, precision=precision)
        label = f"recall where {precision} is enough"
        # It computes in float32.
        yield label, round(float(recall), 5), partial(round, ours.recall, 5)
        yield f"cutoff of {label}", k, partial(float, ours.k)


TOOLS = {
    "torchmetrics": torchmetrics,
    "rectools": rectools,
    "lenskit": lenskit,
    "recommenders": recommenders,
    "jurity": jurity,
    "recmetrics": recmetrics,
    "replay": replay,
    "ir_measures": ir_measures,
}


def compare(name: str, n_cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Compare a tool with its convention, and tell what differs."""
    compared: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(n_cases):
        rng = np.random.default_rng((seed, number))
        w = draw(rng)
        for metric, theirs, own in TOOLS[name](w, rng):
            ours, value = own(), math.nan if theirs is None else float(theirs)
            compared[metric] += 1
            both = math.isnan(ours) and math.isnan(value)
            if not both and not abs(ours - value) <= _ENOUGH:
                wrong.append(f"{name} {metric}: {value}, rankine {ours}; case {number}")
    return compared, wrong


if __name__ == "__main__":
    sys.exit(run(__doc__, TOOLS, compare, "lists", "metrics"))
