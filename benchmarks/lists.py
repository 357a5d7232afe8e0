"""Cases of recommendation lists: accuracy from frames, diversity, topics, overlap."""

from __future__ import annotations

from typing import Any

from benchmarks import work
from benchmarks.timing import best, evaluate


def frames_rankine() -> dict[str, float]:
    interactions, recommended = work.frames()
    return {"seconds": best(evaluate(interactions, recommended, work.AT_TEN), 5)}


def frames_rankine_pandas() -> dict[str, float]:
    interactions, recommended = (frame.to_pandas() for frame in work.frames())
    return {"seconds": best(evaluate(interactions, recommended, work.AT_TEN), 5)}


def frames_rectools() -> dict[str, float]:
    from rectools.metrics import MAP, MRR, NDCG, Precision, Recall, calc_metrics

    interactions, recommended = (frame.to_pandas() for frame in work.frames())
    metrics = {
        "P": Precision(10),
        "R": Recall(10),
        "MAP": MAP(10),
        "NDCG": NDCG(10),
        "MRR": MRR(10),
    }
    return {"seconds": best(lambda: calc_metrics(metrics, recommended, interactions))}


def frames_jurity() -> dict[str, float]:
    from jurity.recommenders import MAP, NDCG, CombinedMetrics, Precision, Recall

    interactions, recommended = (frame.to_pandas() for frame in work.frames())
    names = {
        "click_column": "click",
        "k": 10,
        "user_id_column": "user_id",
        "item_id_column": "item_id",
    }
    actual = interactions.assign(click=1)
    predicted = recommended.rename(columns={"score": "click"})
    metric = CombinedMetrics(
        Precision(**names), Recall(**names), MAP(**names), NDCG(**names)
    )
    return {"seconds": best(lambda: metric.get_score(actual, predicted), 1)}


def _two_lists() -> tuple[list[str], list[str]]:
    shown = [f"d{number}" for number in range(1000)]
    order = work.permutation(1000)
    return shown, [shown[at] for at in order]


def lists_rankine() -> dict[str, float]:
    import rankine as rk

    x, y = _two_lists()
    return {"seconds": best(lambda: rk.rbo(x, y, p=0.9), 20, 100)}


def lists_rbo() -> dict[str, float]:
    import rbo

    x, y = _two_lists()
    return {"seconds": best(lambda: rbo.RankingSimilarity(x, y).rbo_ext(p=0.9), 20, 20)}


BEYOND = (
    "InterListDiversity@100", "Coverage@100", "Gini@100", "Entropy@100",
    "GiniSimpson@100", "Novelty@100", "EPC@100", "EFD@100", "Popularity@100",
    "LongTail@100",
)  # fmt: skip


OF_RECTOOLS = {
    "Coverage@100": "CatalogCoverage",
    "Novelty@100": "MeanInvUserFreq",
    "Popularity@100": "AvgRecPopularity",
    "Serendipity@100": "Serendipity",
    "ILD@10": "IntraListDiversity",
}


def beyond_rankine(*metrics: str) -> dict[str, float]:
    """Measure lists, with all that the metrics need."""
    import rankine as rk

    lists, train, truth, features = work.beyond()
    known: dict[str, Any] = {"train": train, "catalog": len(features)}
    if metrics == ("ILD@10",):
        known = {}
    elif metrics == ("Coverage@100",):
        del known["train"]
    if "ILD@10" in metrics:
        known["items"] = features
    qrels = truth if "Serendipity@100" in metrics else None
    return {
        "seconds": best(lambda: rk.evaluate(qrels, lists, list(metrics), **known), 5)
    }


def beyond_rectools(name: str) -> dict[str, float]:
    from rectools import metrics
    from rectools.metrics.distances import PairwiseHammingDistanceCalculator

    lists, train, truth, features = work.beyond()
    reco, before, after = (one.to_pandas() for one in (lists, train, truth))
    catalog = range(len(features))
    if name == "IntraListDiversity":
        import pandas as pd

        frame = pd.DataFrame(features)
        frame.index.name = "item_id"
        calculator = PairwiseHammingDistanceCalculator(frame)
        metric: Any = metrics.IntraListDiversity(10, calculator)
        return {"seconds": best(lambda: metric.calc(reco), 1)}
    metric = getattr(metrics, name)(100)
    arguments: dict[str, Any] = {
        "CatalogCoverage": {"catalog": catalog},
        "Serendipity": {
            "interactions": after,
            "prev_interactions": before,
            "catalog": catalog,
        },
    }.get(name, {"prev_interactions": before})
    return {"seconds": best(lambda: metric.calc(reco, **arguments), 3)}


def beyond_jurity() -> dict[str, float]:
    """Take inter-list diversity of 2,000 users, as all of them are too many."""
    from jurity.recommenders import InterListDiversity

    lists = work.beyond(2000)[0].rename({"score": "click"}).to_pandas()
    metric = InterListDiversity(
        click_column="click",
        k=100,
        user_id_column="user_id",
        item_id_column="item_id",
        user_sample_size=None,
    )
    return {"seconds": best(lambda: metric.get_score(lists, lists), 1)}


def few_rankine() -> dict[str, float]:
    import rankine as rk

    lists = work.beyond(2000)[0]
    metric = "InterListDiversity@100"
    return {"seconds": best(lambda: rk.evaluate(None, lists, metric), 5)}


TOPICS = (
    "alpha_DCG@10", "nERR_IA@10", "AP_IA@10", "P_IA@10", "NRBP@10", "TopicEntropy@10",
    "TopicDiversity@10",
)  # fmt: skip
OTHER = ("InterListDiversity(distance='dice')@10", "ILD(sample=10000)@10")


def topics_rankine(*metrics: str) -> dict[str, float]:
    """Measure topics of lists; every item has one or two of twenty."""
    import rankine as rk

    lists, _, truth, features = work.beyond()
    kinds = work.topics(len(features))
    judged = any("judgements" in rk.parse(metric).needs for metric in metrics)
    qrels = truth if judged else None
    return {
        "seconds": best(
            lambda: rk.evaluate(qrels, lists, list(metrics), items=kinds), 3
        )
    }


OF_FRAMES = {"PartialAUC@10": "PartialAUC", "PAP@10": "PAP"}
_FEW = 10_000
"""Users for whom RecTools counts pairs; those of 100,000 take it minutes."""


def partial_rankine(metric: str) -> dict[str, float]:
    interactions, recommended = work.frames(_FEW)
    return {"seconds": best(evaluate(interactions, recommended, metric), 5)}


def partial_rectools(name: str) -> dict[str, float]:
    from rectools import metrics

    interactions, recommended = (frame.to_pandas() for frame in work.frames(_FEW))
    metric = getattr(metrics, name)(10)
    return {"seconds": best(lambda: metric.calc(recommended, interactions), 1)}
