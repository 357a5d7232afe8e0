"""One example in the forms of real libraries, and what rankine makes of each.

Every form turns the same lists and gold items into what a library would hand out, so
that each must give the numbers of the plain dicts, or one sentence.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl

import rankine as rk
from tests.io.foreign import classes as lib
from tests.tensors import Tensor


@dataclass(frozen=True)
class Example:
    """Lists of items, best first, and one relevant item for each.

    Attributes:
        lists: the places of items in a corpus, list by list.
        gold: the place of the relevant item of each list.
        scores: the score of each item, falling along every list.
    """

    lists: list[list[int]]
    gold: list[int]
    scores: list[list[float]]

    @property
    def queries(self) -> list[str]:
        return [f"q{n}" for n in range(1, len(self.lists) + 1)]

    @property
    def corpus(self) -> int:
        return max([*self.gold, *(i for items in self.lists for i in items)]) + 1

    @property
    def distances(self) -> list[list[float]]:
        return [[2.5 - 2 * score for score in scores] for scores in self.scores]

    @property
    def ids(self) -> list[list[str]]:
        return [[f"d{i + 1}" for i in items] for items in self.lists]

    @property
    def relevant(self) -> list[str]:
        return [f"d{i + 1}" for i in self.gold]

    @property
    def truth(self) -> dict[str, dict[str, int]]:
        return {q: {d: 1} for q, d in zip(self.queries, self.relevant, strict=True)}

    @property
    def run(self) -> dict[str, dict[str, float]]:
        each = zip(self.queries, self.ids, self.scores, strict=True)
        return {q: dict(zip(ids, scores, strict=True)) for q, ids, scores in each}

    def lists_of(self, make: Callable[[str, float, float], Any]) -> list[list[Any]]:
        """Make a hit of each id, score and distance."""
        rows = zip(self.ids, self.scores, self.distances, strict=True)
        return [list(map(make, *row)) for row in rows]

    def by_query(self, make: Callable[[str, float, float], Any]) -> dict[str, Any]:
        return dict(zip(self.queries, self.lists_of(make), strict=True))

    def grid(self, rows: list[list[Any]], dtype: Any) -> Any:
        """Return rows as a matrix; lists must be of one length."""
        return np.array(rows, dtype=dtype)

    @property
    def is_square(self) -> bool:
        return len({len(items) for items in self.lists}) == 1 and bool(self.lists[0])


EXAMPLE = Example(
    lists=[[2, 0, 1, 3], [1, 3, 4, 0], [4, 0, 3, 2]],
    gold=[0, 1, 0],
    scores=[[0.9, 0.7, 0.4, 0.1]] * 3,
)
Pair: TypeAlias = tuple[Any, Any]
Make: TypeAlias = Callable[[Example, Path], Pair]


@dataclass(frozen=True)
class Form:
    """A form: how to make it, and what is wanted of it.

    Attributes:
        name: whose it is.
        make: makes judgements and a run of an example.
        refused: words of the sentence with which it is refused; empty if it is read.
        warned: words of a warning that it is read with.
        doubted: words of a warning of something else, with which the number is right.
        said: words of a note that says what was inferred; empty for plain forms.
        square: whether all lists must have one length.
        options: what is given to `evaluate` besides.
        recorded: whether the form is one of those that were recorded from packages;
            the others are of the same kinds.
        lawful: whether it holds the same data as dicts, whatever the example; scores of
            all items of a corpus do so only where lists have all of them.
        remedy: does what the sentence says; what it returns is read.
    """

    name: str
    make: Make
    refused: str = ""
    warned: str = ""
    doubted: str = ""
    said: str = ""
    square: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    recorded: bool = True
    lawful: bool = True
    remedy: Callable[[Example, Path], tuple[Any, Any, dict[str, Any]]] | None = None


FORMS: list[Form] = []


def form(name: str, said: str = "", **more: Any) -> Callable[[Make], Make]:
    """Add a form to those that are known."""

    def kept(make: Make) -> Make:
        FORMS.append(Form(name, make, said=said, **more))
        return make

    return kept


def written(folder: Path, name: str, data: Any, *, lines: bool = False) -> Path:
    """Write JSON, as one value or as one per line."""
    path = folder / name
    text = "\n".join(map(json.dumps, data)) if lines else json.dumps(data)
    path.write_text(text)
    return path


def both(data: Any) -> Pair:
    """Return the same object as judgements and as the run."""
    return data, data


def rows(e: Example) -> list[tuple[str, str, float]]:
    return [(q, d, s) for q, entry in e.run.items() for d, s in entry.items()]


def judged(e: Example) -> list[tuple[str, str, int]]:
    return [(q, d, 1) for q, d in zip(e.queries, e.relevant, strict=True)]


# --- plain Python, NumPy, pandas, databases


@form("dicts of dicts")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.run


@form("lists and sets")
def _(e: Example, _: Path) -> Pair:
    truth = {q: {d} for q, d in zip(e.queries, e.relevant, strict=True)}
    return truth, dict(zip(e.queries, e.ids, strict=True))


@form("tuples of ids")
def _(e: Example, _: Path) -> Pair:
    truth = {q: [d] for q, d in zip(e.queries, e.relevant, strict=True)}
    return truth, {q: tuple(d) for q, d in zip(e.queries, e.ids, strict=True)}


@form("pairs", "pairs of item and score")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, s, _: (d, s))


@form("pairs by position", "pairs of item and score")
def _(e: Example, _: Path) -> Pair:
    return [[d] for d in e.relevant], e.lists_of(lambda d, s, _: (d, s))


@form("pairs as lists, from JSON", "pairs of item and score")
def _(e: Example, folder: Path) -> Pair:
    return e.truth, written(folder, "run.json", e.by_query(lambda d, s, _: (d, s)))


@form("gensim, index[query]", "pairs of item and score")
def _(e: Example, _: Path) -> Pair:
    truth = {q: {i} for q, i in zip(e.queries, e.gold, strict=True)}
    each = zip(e.queries, e.lists, e.scores, strict=True)
    return truth, {
        q: [(np.int64(i), np.float64(s)) for i, s in zip(items, scores, strict=True)]
        for q, items, scores in each
    }


@form("rows of an array by query")
def _(e: Example, _: Path) -> Pair:
    return e.truth, {q: np.array(d) for q, d in zip(e.queries, e.ids, strict=True)}


@form("a matrix of text ids", "rows are lists of items, best first", square=True)
def _(e: Example, _: Path) -> Pair:
    return [[d] for d in e.relevant], e.grid(e.ids, str)


def _dots(e: Example) -> list[Any]:
    """Return a score for each place of the corpus, 0 where there is none."""
    dots = []
    for items, scores in zip(e.lists, e.scores, strict=True):
        row = np.zeros(e.corpus)
        row[items] = scores
        dots.append(row)
    return dots


@form(
    "dot products by query, rank_bm25's get_scores",
    refused=r"floats.*never ids.*from_scores",
    remedy=lambda e, _: ([[i] for i in e.gold], rk.from_scores(np.stack(_dots(e))), {}),
)
def _(e: Example, _: Path) -> Pair:
    truth = {q: {i} for q, i in zip(e.queries, e.gold, strict=True)}
    return truth, dict(zip(e.queries, _dots(e), strict=True))


@form("dot products, stacked", lawful=False)
def _(e: Example, _: Path) -> Pair:
    return [[i] for i in e.gold], rk.from_scores(np.stack(_dots(e)))


@form("one gold id per query", "one relevant item for each query")
def _(e: Example, _: Path) -> Pair:
    return dict(zip(e.queries, e.relevant, strict=True)), e.run


@form("gold ids by position", "one relevant item for each query")
def _(e: Example, _: Path) -> Pair:
    return e.relevant, e.ids


@form("gold ids, a Series of pandas", "one relevant item for each query")
def _(e: Example, _: Path) -> Pair:
    return pd.Series(dict(zip(e.queries, e.relevant, strict=True))), e.run


@form("scalars of NumPy")
def _(e: Example, _: Path) -> Pair:
    run = {
        np.str_(q): {np.str_(d): np.float32(s) for d, s in entry.items()}
        for q, entry in e.run.items()
    }
    return e.truth, run


@form("services, id and score", "item = id")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, s, _: {"id": d, "score": s, "text": "..."})


@form("rerank services", "item = document_id, score = relevance_score")
def _(e: Example, _: Path) -> Pair:
    hit = lambda d, s, _: {"document_id": d, "relevance_score": s}  # noqa: E731
    return e.truth, e.by_query(hit)


@form("own code, distances", "'distance' are read as distances, as they rise")
def _(e: Example, _: Path) -> Pair:
    hit = lambda d, _, x: {"chunk_id": d, "distance": x, "text": "..."}  # noqa: E731
    return e.truth, e.by_query(hit)


def _indexed(data: list[tuple[Any, ...]], names: list[str]) -> Any:
    return pd.DataFrame(data, columns=names).set_index(names[:2])


@form("pandas, Series with a MultiIndex", "query = qid, item = docno")
def _(e: Example, _: Path) -> Pair:
    truth = _indexed(judged(e), ["qid", "docno", "label"])["label"]
    return truth, _indexed(rows(e), ["qid", "docno", "score"])["score"]


@form("pandas, Series of lists", "the values are lists")
def _(e: Example, _: Path) -> Pair:
    truth = pd.Series({q: [d] for q, d in zip(e.queries, e.relevant, strict=True)})
    return truth, pd.Series(dict(zip(e.queries, e.ids, strict=True)))


@form("pandas, frame with an index", "from the index")
def _(e: Example, _: Path) -> Pair:
    truth = _indexed(judged(e), ["query_id", "doc_id", "grade"])
    return truth, _indexed(rows(e), ["query_id", "doc_id", "score"])


@form("rows of a cursor", "rows of query, item and score")
def _(e: Example, _: Path) -> Pair:
    return judged(e), rows(e)


# --- RAG frameworks


@form("LangChain, retriever", "item = id of LangChainDocument")
def _(e: Example, _: Path) -> Pair:
    hit = lambda d, *_: lib.LangChainDocument(id=d, source=f"docs/{d}.md")  # noqa: E731
    return e.truth, e.by_query(hit)


@form("LangChain, similarity_search_with_score", "item = id of LangChainDocument")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, s, _: (lib.LangChainDocument(id=d), s))


@form("LangChain, distances", warned="scores rise along every list")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, _, x: (lib.LangChainDocument(id=d), x))


@form("LangChain, ids of the user", "item = metadata.doc_id of LangChainDocument")
def _(e: Example, _: Path) -> Pair:
    hit = lambda d, *_: lib.LangChainDocument(source="docs/x.md", doc_id=d)  # noqa: E731
    return e.truth, e.by_query(hit)


@form("LlamaIndex, retriever", "item = node_id, score = score of NodeWithScore")
def _(e: Example, _: Path) -> Pair:
    hit = lambda d, s, _: lib.NodeWithScore(lib.TextNode(d), s)  # noqa: E731
    return e.truth, e.by_query(hit)


@form("LlamaIndex, without scores", "item = node_id of NodeWithScore")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, *_: lib.NodeWithScore(lib.TextNode(d)))


@form("LlamaIndex, RetrieverEvaluator", "item = retrieved_ids")
def _(e: Example, _: Path) -> Pair:
    texts = [f"What is {q}?" for q in e.queries]
    expected = [[d] for d in e.relevant]
    made = zip(texts, expected, e.ids, strict=True)
    return both([lib.RetrievalEvalResult(*fields) for fields in made])


def _finetune(e: Example) -> dict[str, Any]:
    return {
        "queries": {q: f"What is {q}?" for q in e.queries},
        "corpus": {d: "words" for ids in e.ids for d in ids},
        "relevant_docs": {q: [d] for q, d in zip(e.queries, e.relevant, strict=True)},
        "mode": "text",
    }


@form("LlamaIndex, EmbeddingQAFinetuneDataset")
def _(e: Example, _: Path) -> Pair:
    fields = _finetune(e)
    del fields["mode"]
    return lib.EmbeddingQAFinetuneDataset(**fields), e.run


@form("LlamaIndex, its file")
def _(e: Example, folder: Path) -> Pair:
    return written(folder, "qa.json", _finetune(e)), e.run


@form("Haystack, inputs of evaluators", "item = id, score = score of HaystackDocument")
def _(e: Example, _: Path) -> Pair:
    truth = [[lib.HaystackDocument(d, "words")] for d in e.relevant]
    return truth, e.lists_of(lambda d, s, _: lib.HaystackDocument(d, "words", score=s))


@form("Haystack, output of a retriever", "item = id, score = score of HaystackDocument")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: lib.HaystackDocument(d, "words", score=s))
    return e.truth, {q: {"documents": found} for q, found in hits.items()}


def _ragas(e: Example) -> list[dict[str, Any]]:
    return [
        {
            "user_input": f"What is {q}?",
            "retrieved_contexts": ["words of " + d for d in ids],
            "retrieved_context_ids": ids,
            "reference_contexts": ["words of " + gold],
            "reference_context_ids": [gold],
            "response": "An answer.",
            "reference": "The answer.",
        }
        for q, ids, gold in zip(e.queries, e.ids, e.relevant, strict=True)
    ]


@form("Ragas, to_list()", "item = retrieved_context_ids")
def _(e: Example, _: Path) -> Pair:
    return both(_ragas(e))


@form("Ragas, to_jsonl()", "item = retrieved_context_ids")
def _(e: Example, folder: Path) -> Pair:
    return both(written(folder, "ragas.jsonl", _ragas(e), lines=True))


@form("Ragas, to_pandas()", "item = retrieved_context_ids")
def _(e: Example, _: Path) -> Pair:
    return both(pd.DataFrame(_ragas(e)))


@form("Ragas, before 0.2", refused="'ground_truth'.*answer in words.*context_ids")
def _(e: Example, _: Path) -> Pair:
    return both([
        {
            "question": f"What is {q}?",
            "answer": "An answer.",
            "contexts": ["words of " + d for d in ids],
            "ground_truth": "The answer.",
        }
        for q, ids in zip(e.queries, e.ids, strict=True)
    ])  # fmt: skip


@form("own JSONL", "item = retrieved_ids")
def _(e: Example, folder: Path) -> Pair:
    data = [
        {"query_id": q, "retrieved_ids": ids, "relevant_ids": [gold]}
        for q, ids, gold in zip(e.queries, e.ids, e.relevant, strict=True)
    ]
    return both(written(folder, "rag.jsonl", data, lines=True))


@form("Databricks, agent evaluation", "query = request")
def _(e: Example, _: Path) -> Pair:
    return both([
        {
            "request": f"What is {q}?",
            "retrieved_context": [{"doc_uri": d, "content": "words"} for d in ids],
            "expected_retrieved_context": [{"doc_uri": gold}],
        }
        for q, ids, gold in zip(e.queries, e.ids, e.relevant, strict=True)
    ])  # fmt: skip


def _cells(e: Example, path: Path, cell: Callable[[list[str]], str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query_id", "retrieved", "relevant"])
        for q, ids, gold in zip(e.queries, e.ids, e.relevant, strict=True):
            writer.writerow([q, cell(ids), cell([gold])])
    return path


@form("spreadsheets, lists in cells", "cells of 'retrieved' are read as lists")
def _(e: Example, folder: Path) -> Pair:
    return both(_cells(e, folder / "sheet.csv", json.dumps))


# --- search engines and vector databases


def _hit(d: str, s: float | None, _: float = 0) -> dict[str, Any]:
    return {"_index": "docs", "_id": d, "_score": s, "_source": {"text": "words"}}


def _response(hits: list[Any]) -> dict[str, Any]:
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": len(hits), "relation": "eq"},
            "max_score": 0.9,
            "hits": hits,
        },
    }


@form("Elasticsearch, hits", "item = _id, score = _score")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(_hit)


@form("Elasticsearch, sorted", "item = _id")
def _(e: Example, _: Path) -> Pair:
    hit = lambda d, s, _: {**_hit(d, None), "sort": [round(100 * s)]}  # noqa: E731
    return e.truth, e.by_query(hit)


@form("Elasticsearch, responses", "item = _id, score = _score")
def _(e: Example, _: Path) -> Pair:
    return e.truth, {q: _response(hits) for q, hits in e.by_query(_hit).items()}


@form("elasticsearch-py", "item = _id, score = _score")
def _(e: Example, _: Path) -> Pair:
    responses = {
        q: lib.ObjectApiResponse(_response(hits))
        for q, hits in e.by_query(_hit).items()
    }
    return e.truth, responses


@form("Elasticsearch, msearch", "item = _id, score = _score")
def _(e: Example, _: Path) -> Pair:
    responses = [_response(hits) for hits in e.lists_of(_hit)]
    return [[d] for d in e.relevant], {"took": 5, "responses": responses}


@form("Elasticsearch, _rank_eval", "item = _id, grade = rating")
def _(e: Example, _: Path) -> Pair:
    requests = [
        {
            "id": q,
            "request": {"query": {"match": {"text": q}}},
            "ratings": [{"_index": "docs", "_id": d, "rating": 1}],
        }
        for q, d in zip(e.queries, e.relevant, strict=True)
    ]
    return {"requests": requests, "metric": {"dcg": {"k": 10}}}, e.run


def _chroma(ids: list[Any], distances: list[Any] | None) -> dict[str, Any]:
    return {
        "ids": ids,
        "distances": distances,
        "documents": [["words" for _ in found] for found in ids],
        "metadatas": [[{"page": 3} for _ in found] for found in ids],
        "embeddings": None,
        "uris": None,
        "data": None,
        "included": ["metadatas", "documents", "distances"],
    }


@form("Chroma, query", "'distances' are read as distances, as they rise")
def _(e: Example, _: Path) -> Pair:
    return [[d] for d in e.relevant], _chroma(e.ids, e.distances)


@form("Chroma, once per query", "'distances' are read as distances, as they rise")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.queries, e.ids, e.distances, strict=True)
    return e.truth, {q: _chroma([ids], [found]) for q, ids, found in each}


@form("Qdrant, query_points", "item = id, score = score of ScoredPoint")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: lib.ScoredPoint(d, s))
    return e.truth, {q: lib.PointsResponse(points) for q, points in hits.items()}


@form("Qdrant, points", "item = id, score = score of ScoredPoint")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, s, _: lib.ScoredPoint(d, s))


@form("LanceDB, to_list()", "'_distance' are read as distances, as they rise")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(
        lambda d, _, x: {"doc_id": d, "vector": [1.0], "text": "...", "_distance": x}
    )


@form("LanceDB, to_pandas()", "'_distance' are read as distances, as they rise")
def _(e: Example, _: Path) -> Pair:
    lists = e.lists_of(lambda d, _, x: (d, [1.0, 2.0], "words", x))
    table = [(n, *row) for n, found in enumerate(lists) for row in found]
    names = ["query_index", "doc_id", "vector", "text", "_distance"]
    return [[d] for d in e.relevant], pd.DataFrame(table, columns=names)


@form("Milvus, search", "'distance' are read as scores, as they fall")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.lists, e.scores, strict=True)
    run = [
        lib.MilvusHits(
            lib.MilvusHit({"id": i, "distance": s, "entity": {"text": "words"}})
            for i, s in zip(items, scores, strict=True)
        )
        for items, scores in each
    ]
    return [[i] for i in e.gold], run


def _weaviate(d: str, _: float, x: float) -> lib.WeaviateObject:
    uuid, found = UUID(int=int(d[1:])), lib.MetadataReturn(distance=x)
    return lib.WeaviateObject(uuid, found, {"text": "words"})


@form("Weaviate, near_vector", "item = uuid, score = metadata.distance of Weavi")
def _(e: Example, _: Path) -> Pair:
    truth = {q: {str(UUID(int=i + 1))} for q, i in zip(e.queries, e.gold, strict=True)}
    hits = e.by_query(_weaviate)
    return truth, {q: lib.QueryReturn(found) for q, found in hits.items()}


@form("Pinecone, query", "item = id, score = score of ScoredVector")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: lib.ScoredVector(d, s))
    return e.truth, {q: lib.QueryResponse(found) for q, found in hits.items()}


@form("Vespa", "item = id, score = relevance")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(
        lambda d, s, _: {"id": d, "relevance": s, "source": "docs", "fields": {"x": 1}}
    )
    run = {
        q: {"root": {"id": "toplevel", "relevance": 1.0, "children": found}}
        for q, found in hits.items()
    }
    return e.truth, run


@form("Solr", "item = id")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: {"id": d, "score": s})
    run = {
        q: {
            "responseHeader": {"status": 0, "QTime": 1},
            "response": {"numFound": len(found), "start": 0, "docs": found},
        }
        for q, found in hits.items()
    }
    return e.truth, run


# --- libraries of information retrieval


@form("ranx, Qrels and Run")
def _(e: Example, _: Path) -> Pair:
    return lib.RanxQrels(e.truth), lib.RanxRun(e.run, name="bm25")


@form("ranx, to_dataframe()", "query = q_id", doubted="qrels: the column 'score' is")
def _(e: Example, _: Path) -> Pair:
    names = ["q_id", "doc_id", "score"]
    return pd.DataFrame(judged(e), columns=names), pd.DataFrame(rows(e), columns=names)


@form("ir_measures", "query = query_id, item = doc_id")
def _(e: Example, _: Path) -> Pair:
    qrels = [lib.Qrel(*row) for row in judged(e)]
    return qrels, [lib.ScoredDoc(*row) for row in rows(e)]


@form("ir_datasets", "query = query_id, item = doc_id")
def _(e: Example, _: Path) -> Pair:
    return lib.Dataset([lib.TrecQrel(*row, "0") for row in judged(e)]), e.run


@form("ir_datasets, its id", refused="needs the package ir_datasets")
def _(e: Example, _: Path) -> Pair:
    return "irds:beir/scifact/test", e.run


@form("PyTerrier", "item = docno")
def _(e: Example, _: Path) -> Pair:
    run = pd.DataFrame(rows(e), columns=["qid", "docno", "score"])
    run["rank"] = run.groupby("qid").cumcount()
    run["docid"] = range(len(run))
    run["query"] = "the words"
    return pd.DataFrame(judged(e), columns=["qid", "docno", "label"]), run


@form("bm25s, retrieve", "items are under documents", square=True)
def _(e: Example, _: Path) -> Pair:
    found = lib.Results(e.grid(e.lists, np.int32), e.grid(e.scores, np.float32))
    return [[i] for i in e.gold], found


def _mteb(e: Example, *splits: str) -> dict[str, Any]:
    meta = {"model_name": "m", "revision": None}
    return {"mteb_model_meta": meta, "default": dict.fromkeys(splits, e.run)}


@form("MTEB, predictions", "subset 'default', split 'test'")
def _(e: Example, folder: Path) -> Pair:
    return e.truth, written(folder, "predictions.json", _mteb(e, "test"))


@form("MTEB, BEIR, judgements")
def _(e: Example, _: Path) -> Pair:
    names = ["query-id", "corpus-id", "score"]
    return pl.DataFrame(judged(e), schema=names, orient="row"), e.run


# --- nearest neighbours, recommenders


@form("FAISS, L2", "its numbers are read as distances, as they rise", square=True)
def _(e: Example, _: Path) -> Pair:
    found = e.grid(e.distances, np.float32), e.grid(e.lists, np.int64)
    return [[i] for i in e.gold], found


def _wide(grid: Any, pad: Any) -> Any:
    return np.concatenate([grid, np.full((len(grid), 2), pad, grid.dtype)], axis=1)


@form("FAISS, inner product, padded", "padding", square=True)
def _(e: Example, _: Path) -> Pair:
    least = np.finfo(np.float32).min
    scores = _wide(e.grid(e.scores, np.float32), least)
    return [[i] for i in e.gold], (scores, _wide(e.grid(e.lists, np.int64), -1))


@form("FAISS, the ids alone", "rows are lists of items, best first", square=True)
def _(e: Example, _: Path) -> Pair:
    return [[i] for i in e.gold], e.grid(e.lists, np.int64)


@form(
    "hnswlib, knn_query", "its numbers are read as distances, as they rise", square=True
)
def _(e: Example, _: Path) -> Pair:
    found = e.grid(e.lists, np.uint64), e.grid(e.distances, np.float32)
    return [[i] for i in e.gold], found


@form(
    "scikit-learn, kneighbors",
    "its numbers are read as distances, as they rise",
    square=True,
)
def _(e: Example, _: Path) -> Pair:
    found = e.grid(e.distances, np.float64), e.grid(e.lists, np.int64)
    return [[i] for i in e.gold], found


@form("torch, topk", "items are under indices", square=True)
def _(e: Example, _: Path) -> Pair:
    scores, places = e.grid(e.scores, np.float32), e.grid(e.lists, np.int64)
    return [[i] for i in e.gold], lib.TopK(Tensor(scores), Tensor(places))


@form("implicit, several users", "of items and scores", square=True)
def _(e: Example, _: Path) -> Pair:
    found = e.grid(e.lists, np.int32), e.grid(e.scores, np.float32)
    return [[i] for i in e.gold], found


@form("implicit, one user each", "of items and scores")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.lists, e.scores, strict=True)
    run = {
        7 * n: (np.array(items, np.int32), np.array(scores, np.float32))
        for n, (items, scores) in enumerate(each)
    }
    return {7 * n: {i} for n, i in enumerate(e.gold)}, run


@form("implicit, filtered and padded", "padding", square=True)
def _(e: Example, _: Path) -> Pair:
    ids = _wide(e.grid(e.lists, np.int32), 0)
    scores = _wide(e.grid(e.scores, np.float32), 0)
    scores[:, -2] = np.finfo(np.float32).min  # filtered
    return [[i] for i in e.gold], (ids, scores)


@form("sentence-transformers, semantic_search", "item = corpus_id")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.lists, e.scores, strict=True)
    run = [
        [{"corpus_id": i, "score": s} for i, s in zip(items, scores, strict=True)]
        for items, scores in each
    ]
    return [[i] for i in e.gold], run


@form("sentence-transformers, written predictions", "item = corpus_id")
def _(e: Example, folder: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: {"corpus_id": d, "score": s})
    lines = [
        {"query_id": q, "query": f"What is {q}?", "results": found}
        for q, found in hits.items()
    ]
    return e.truth, written(folder, "predictions.jsonl", lines, lines=True)


@form("sentence-transformers, relevant_docs")
def _(e: Example, _: Path) -> Pair:
    truth = {q: {d} for q, d in zip(e.queries, e.relevant, strict=True)}
    return truth, e.run


@form("Surprise, test", "query = uid, item = iid, score = est")
def _(e: Example, _: Path) -> Pair:
    return both([
        lib.Prediction(q, d, float(d == gold), s, {"was_impossible": False})
        for (q, entry), gold in zip(e.run.items(), e.relevant, strict=True)
        for d, s in entry.items()
    ])  # fmt: skip


@form("Spark, recommendForAllUsers", "query = user")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.lists, e.scores, strict=True)
    found = [
        [lib.SparkRow(item=i, rating=s) for i, s in zip(items, scores, strict=True)]
        for items, scores in each
    ]
    run = pd.DataFrame({"user": range(len(found)), "recommendations": found})
    return {n: {i} for n, i in enumerate(e.gold)}, run


@form("RecBole, in a frame", "query = user_id:token")
def _(e: Example, _: Path) -> Pair:
    names = ["user_id:token", "item_id:token"]
    truth = pd.DataFrame(judged(e), columns=[*names, "rating:float"])
    return truth, pd.DataFrame(rows(e), columns=[*names, "score:float"])


@form("RePlay", "score = relevance")
def _(e: Example, _: Path) -> Pair:
    names = ["user_idx", "item_idx", "relevance"]
    truth = pl.DataFrame(judged(e), schema=names, orient="row")
    return truth, pl.DataFrame(rows(e), schema=names, orient="row")


@form("RecTools, LensKit", "query = user_id")
def _(e: Example, _: Path) -> Pair:
    names = ["user_id", "item_id"]
    run = pd.DataFrame(rows(e), columns=[*names, "score"])
    run["rank"] = run.groupby("user_id").cumcount() + 1
    return pd.DataFrame([row[:2] for row in judged(e)], columns=names), run
