"""Metrics that other libraries call, in their own programs.

Each needs its library; `make oracle-rag` and `make clients` have them.
"""

from __future__ import annotations

import asyncio
import pickle
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankine.compat import llama_index, mlflow, sentence_transformers
from rankine.compat import sklearn as ours
from rankine.errors import (
    DataError,
    DuplicateItemError,
    MissingExtraError,
    ParameterError,
)

if TYPE_CHECKING:
    from pathlib import Path

TRUTH, LISTS = [["a"], ["c"], ["e"]], [["b", "a"], ["c", "d"], []]
NDCG = [1 / log2(3), 1, 0]


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("mlflow", lambda: mlflow.metrics("RR")),
        ("llama_index", lambda: llama_index.metrics("RR")),
        ("lightgbm", lambda: ours.LGBMRanker),
    ],
)
def test_a_library_that_is_not_there(
    library: str, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, library, None)
    monkeypatch.delitem(vars(ours), "LGBMRanker", raising=False)

    with pytest.raises(MissingExtraError, match="pip install"):
        call()


@pytest.mark.filterwarnings("ignore")  # its own, on types and on versions to come
def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library, pd = pytest.importorskip("mlflow"), pytest.importorskip("pandas")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    library.set_tracking_uri(f"file:{tmp_path}/runs")
    data = pd.DataFrame({"question": ["p", "q", "r"], "docs": TRUTH})

    with library.start_run():
        found = library.models.evaluate(
            lambda _: pd.Series(LISTS), data, targets="docs", model_type="retriever",
            extra_metrics=mlflow.metrics("nDCG@5", "RR"),
            evaluator_config={"retriever_k": 5},
        )  # fmt: skip

    table = found.tables["eval_results_table"]
    assert table["ndcg_at_5/score"].tolist() == pytest.approx(NDCG)
    assert found.metrics["rr/mean"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert found.metrics["rr/interval_low"] <= found.metrics["rr/mean"]


def test_llama_index() -> None:
    pytest.importorskip("llama_index")
    from llama_index.core.evaluation import RetrieverEvaluator  # noqa: PLC0415
    from llama_index.core.retrievers import BaseRetriever  # noqa: PLC0415
    from llama_index.core.schema import NodeWithScore, TextNode  # noqa: PLC0415

    class Fixed(BaseRetriever):  # type: ignore[misc]
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            ids = LISTS[int(query_bundle.query_str)]
            return [NodeWithScore(node=TextNode(id_=i, text="t"), score=1) for i in ids]

    ndcg, rr = llama_index.metrics("nDCG@5", "RR")
    evaluator = RetrieverEvaluator(metrics=[ndcg, rr], retriever=Fixed())
    found = [
        asyncio.run(evaluator.aevaluate(str(place), expected_ids=ids))
        for place, ids in enumerate(TRUTH)
    ]

    assert [one.metric_vals_dict["nDCG@5"] for one in found] == pytest.approx(NDCG)
    assert [one.metric_vals_dict["RR"] for one in found] == [1 / 2, 1, 0]


def test_llama_index_with_repeated_nodes() -> None:
    pytest.importorskip("llama_index")
    (metric,) = llama_index.metrics("nDCG")
    (strict,) = llama_index.metrics("nDCG", lenient=False)
    twice = {"expected_ids": ["a"], "retrieved_ids": ["a", "a"]}

    assert metric.compute(**twice).score == 1
    assert "1 row repeating an item" in str(metric.compute(**twice).metadata["notes"])
    with pytest.raises(DuplicateItemError):
        strict.compute(**twice)


def test_sentence_transformers() -> None:
    class Base:  # what the mixin calls of theirs
        queries_ids = ("p", "q")
        relevant_docs: dict[str, Any] = {"p": {"a"}, "q": {"c"}}  # noqa: RUF012

        def compute_metrics(self, _: Any) -> dict[str, Any]:
            return {"map@k": {100: 0.5}}

    mixin: Any = sentence_transformers.metrics("nDCG@2", "nDCG@1", "RR")
    made = type("Evaluator", (mixin, Base), {})()
    hits = [
        [{"corpus_id": i, "score": 1 / n} for n, i in enumerate(ids, 1)]
        for ids in LISTS[:2]
    ]

    assert made.compute_metrics(hits) == {
        "map@k": {100: 0.5},
        "rankine_ndcg@k": {"2": pytest.approx((1 / log2(3) + 1) / 2), "1": 1 / 2},
        "rankine_rr": {"": (1 / 2 + 1) / 2},
    }


def test_sentence_transformers_own_evaluator() -> None:
    library = pytest.importorskip("sentence_transformers.evaluation")
    torch = pytest.importorskip("torch")
    mixin: Any = sentence_transformers.metrics("nDCG@2")
    kind = type("Evaluator", (mixin, library.InformationRetrievalEvaluator), {})
    queries, corpus = {"p": "0", "q": "1"}, {"a": "0", "b": "1", "c": "2"}
    evaluator = kind(
        queries, corpus, {"p": {"a"}, "q": {"c"}}, score_functions={
            "dot": lambda x, y: x @ y.T
        },
        write_csv=False,
    )  # fmt: skip
    scores = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.3, 0.25]])

    def embed(_: Any, __: Any, texts: list[str], **___: Any) -> Any:
        if texts == [*corpus.values()]:
            return torch.eye(3)
        return scores[[int(text) for text in texts]]

    evaluator.embed_inputs = embed.__get__(evaluator)
    found = evaluator.compute_metrices(None, corpus_embeddings=torch.eye(3))["dot"]

    assert found["rankine_ndcg@k"]["2"] == pytest.approx((1 + 1 / log2(3)) / 2)


def routed(estimator: Any, n: int = 60) -> Any:
    sklearn = pytest.importorskip("sklearn")
    from sklearn.model_selection import GroupKFold, cross_validate  # noqa: PLC0415

    rng = np.random.default_rng(0)
    features, qid = rng.normal(size=(n, 2)), np.arange(n) // 5
    # In every query, two of the five rows are relevant, by the first feature.
    place = features[:, 0].reshape(-1, 5).argsort(axis=1).argsort(axis=1)
    labels = (place >= 3).astype(int).ravel()
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            estimator(), features, labels, cv=GroupKFold(3), error_score="raise",
            params={"qid": qid, "groups": qid}, scoring=ours.scorer("nDCG@10"),
        )  # fmt: skip
    return found["test_score"]


def test_sklearn_cross_validation() -> None:
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression  # noqa: PLC0415

    scores = routed(LinearRegression)

    assert scores.shape == (3,)
    assert (scores > 0.9).all()


def test_sklearn_scores_are_those_of_evaluate() -> None:
    qid, labels = ["a", "a", "b", "b"], [0, 2, 1, 0]

    class Fixed:
        def predict(self, features: Any) -> Any:
            return features

    value = ours.scorer("nDCG")(Fixed(), [0.9, 0.8, 0.7, 0.6], labels, qid=qid)

    assert value == pytest.approx((1 / log2(3) + 1) / 2)
    with pytest.raises(ParameterError, match="enable_metadata_routing"):
        ours.scorer("nDCG")(Fixed(), [1.0], [1])
    assert pickle.loads(pickle.dumps(ours.scorer("RR"))).__class__ is ours.Scorer  # noqa: S301


def test_rankers_by_query() -> None:
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    from xgboost import XGBRanker  # noqa: PLC0415

    made = [
        lambda: ours.LGBMRanker(min_child_samples=1, verbose=-1).set_fit_request(
            qid=True
        ),
        lambda: XGBRanker(n_estimators=10).set_fit_request(qid=True),
    ]
    sklearn = pytest.importorskip("sklearn")
    with sklearn.config_context(enable_metadata_routing=True):
        for make in made:
            assert (routed(make) > 0.8).all()
    fitted = ours.LGBMRanker(n_estimators=5, min_child_samples=1, verbose=-1)
    features = np.arange(8.0)[:, None]
    mixed = [0, 1] * 4  # rows of both queries in turn
    fitted.fit(features, [0, 0, 0, 0, 1, 1, 1, 1], qid=mixed)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own

    assert again.predict(features)[7] > again.predict(features)[0]


def test_spark() -> None:
    pyspark = pytest.importorskip("pyspark.sql")
    from rankine.compat.pyspark import evaluator  # noqa: PLC0415

    session = pyspark.SparkSession.builder.master("local[1]").getOrCreate()
    rows = [("p", "a", 1.0, 0.2), ("p", "b", 0.0, 0.9), ("q", "c", 1.0, 0.5)]
    frame = session.createDataFrame(rows, ["user", "item", "label", "prediction"])

    made = evaluator("nDCG@2", query="user")

    assert made.evaluate(frame) == pytest.approx((1 / log2(3) + 1) / 2)
    assert made.isLargerBetter()


@pytest.mark.parametrize(
    ("qid", "predicted"), [([0], [2.0, 1.0]), ([0, 0], [[2.0, 1.0], [1.0, 2.0]])]
)
def test_a_scorer_refuses_other_shapes(qid: list[int], predicted: Any) -> None:
    class Given:
        def predict(self, rows: Any) -> Any:
            return rows

    with pytest.raises(DataError, match=r"one query, grade and prediction per row"):
        ours.scorer("RR")(Given(), predicted, [1, 0], qid=qid)
