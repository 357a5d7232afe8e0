"""More forms of the kinds that were recorded, from services, stores and own code."""

from __future__ import annotations

import csv
import json
import sqlite3
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl

from tests.io.foreign import classes as lib
from tests.io.foreign.forms import (
    Example,
    Form,
    Make,
    Pair,
    both,
    judged,
    rows,
    written,
)
from tests.tensors import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MORE: list[Form] = []


def form(name: str, said: str = "", **more: Any) -> Callable[[Make], Make]:
    """Add a form that was not recorded."""

    def kept(make: Make) -> Make:
        MORE.append(Form(name, make, said=said, recorded=False, **more))
        return make

    return kept


@dataclass
class Hit:
    """A hit in code of one's own."""

    doc_id: str
    score: float


@dataclass(slots=True)
class Slotted:
    """The same without a dict."""

    pid: str
    similarity: float


class Named(NamedTuple):
    """The same as a tuple."""

    id: str
    score: float


class ObjectId:
    """An id of MongoDB."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


# --- services


@form("rerankers with the document inside", "item = document.id, score = relevance_")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(
        lambda d, s, _: {"index": 3, "relevance_score": s, "document": {"id": d}}
    )
    return e.truth, {q: {"id": "x", "results": found} for q, found in hits.items()}


@form("Typesense", "item = document.id")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, *_: {"document": {"id": d}, "text_match": 5})
    return e.truth, {q: {"found": 9, "hits": found} for q, found in hits.items()}


@form("Meilisearch", "item = id, score = _rankingScore")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: {"id": d, "_rankingScore": s})
    return e.truth, {q: {"hits": found, "query": "x"} for q, found in hits.items()}


@form("Algolia", "item = objectID")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, *_: {"objectID": d, "title": "words"})
    return e.truth, {q: {"hits": found, "nbHits": 9} for q, found in hits.items()}


@form("Azure AI Search", "score = @search.score")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: {"@search.score": s, "id": d})
    return e.truth, {q: {"value": found} for q, found in hits.items()}


@form("OpenAI, vector stores", "item = file_id, score = score of SimpleNamespace")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(
        lambda d, s, _: SimpleNamespace(file_id=d, filename="a.md", score=s)
    )
    return e.truth, {q: SimpleNamespace(data=found) for q, found in hits.items()}


@form("Bedrock, retrieve", "item = metadata.doc_id, score = score of dict")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(
        lambda d, s, _: {"content": {}, "score": s, "metadata": {"doc_id": d}}
    )
    return e.truth, {q: {"retrievalResults": found} for q, found in hits.items()}


@form("MongoDB", "item = _id")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, s, _: {"_id": ObjectId(d), "score": s})


@form("pgvector, rows as dicts", "'distance' are read as distances")
def _(e: Example, _: Path) -> Pair:
    hit = lambda d, _, x: {"id": d, "distance": Decimal(str(x))}  # noqa: E731
    return e.truth, e.by_query(hit)


@form("turbopuffer", "'$dist' are read as distances")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, _, x: {"id": d, "$dist": x})


@form("Weaviate, GraphQL", "'_additional.distance' are read as distances")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, _, x: {"_additional": {"id": d, "distance": x}})
    return e.truth, {q: {"data": {"Get": {"Docs": found}}} for q, found in hits.items()}


@form("Vespa, one query without hits")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: {"id": d, "relevance": s})
    run = {q: {"root": {"children": found}} for q, found in hits.items()}
    return e.truth, {**run, "none": {"root": {"id": "toplevel", "relevance": 1.0}}}


@form("Vertex, neighbours by position", "'distance' are read as distances")
def _(e: Example, _: Path) -> Pair:
    run = e.lists_of(lambda d, _, x: SimpleNamespace(id=d, distance=x))
    return [[d] for d in e.relevant], run


@form("responses in a file", "item = _id, score = _score")
def _(e: Example, folder: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: {"_id": d, "_score": s})
    run = {q: {"took": 1, "hits": {"hits": found}} for q, found in hits.items()}
    return e.truth, written(folder, "responses.json", run)


@form("responses in a file, by line", "item = _id, score = _score")
def _(e: Example, folder: Path) -> Pair:
    hits = e.lists_of(lambda d, s, _: {"_id": d, "_score": s})
    run = [{"took": 1, "hits": {"hits": found}} for found in hits]
    return [[d] for d in e.relevant], written(folder, "r.jsonl", run, lines=True)


@form("Elasticsearch, response of _rank_eval", "item = hit._id, score = hit._score")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: {"hit": {"_id": d, "_score": s}, "rating": None})
    details = {q: {"metric_score": 0.5, "hits": found} for q, found in hits.items()}
    return e.truth, {"metric_score": 0.5, "details": details, "failures": {}}


# --- frameworks


@form("LangChain, a chain", "item = id of LangChainDocument")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, *_: lib.LangChainDocument(id=d))
    run = {
        q: {"input": "x", "context": found, "answer": "An answer."}
        for q, found in hits.items()
    }
    return e.truth, run


@form("LlamaIndex, a response", "item = node_id, score = score of NodeWithScore")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: lib.NodeWithScore(lib.TextNode(d), s))
    return e.truth, {
        q: SimpleNamespace(response="words", source_nodes=found)
        for q, found in hits.items()
    }


@form("LlamaIndex, a vector store", "items are under ids")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.queries, e.ids, e.scores, strict=True)
    run = {
        q: lib.VectorStoreQueryResult(similarities=scores, ids=ids)
        for q, ids, scores in each
    }
    return e.truth, run


@form("Haystack, a pipeline", "item = id, score = score of HaystackDocument")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: lib.HaystackDocument(d, score=s))
    run = {q: {"retriever": {"documents": found}} for q, found in hits.items()}
    return e.truth, run


@form("Ragas, its own class", "item = retrieved_context_ids")
def _(e: Example, _: Path) -> Pair:
    samples = [
        lib.SingleTurnSample(
            user_input=q,
            retrieved_contexts=["words"] * len(ids),
            retrieved_context_ids=ids,
            reference_context_ids=[gold],
            response="An answer.",
        )
        for q, ids, gold in zip(e.queries, e.ids, e.relevant, strict=True)
    ]
    return both(lib.EvaluationDataset(samples))


@form("records with documents and ids", "item = id, score = score of HaystackDocument")
def _(e: Example, _: Path) -> Pair:
    hits = e.lists_of(lambda d, s, _: lib.HaystackDocument(d, score=s))
    each = zip(e.queries, hits, e.relevant, strict=True)
    return both(
        [
            {"query": q, "retrieved": found, "relevant": [gold]}
            for q, found, gold in each
        ]
    )


@form("records with pairs, and a number of their own", "pairs of item and score")
def _(e: Example, _: Path) -> Pair:
    pairs = e.lists_of(lambda d, s, _: (d, s))
    each = zip(e.queries, pairs, e.relevant, strict=True)
    return both(
        [
            {"question": q, "retrieved": found, "gold": [gold], "latency": 0.5}
            for q, found, gold in each
        ]
    )


@form("records by query", "records by query")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.queries, e.ids, e.relevant, strict=True)
    return both({q: {"retrieved": ids, "relevant": [gold]} for q, ids, gold in each})


@form("records with scores beside the ids", "score = scores")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.queries, e.ids, e.scores, e.relevant, strict=True)
    return both(
        [
            {"query_id": q, "retrieved_ids": ids, "scores": own, "relevant_ids": [gold]}
            for q, ids, own, gold in each
        ]
    )


@form("records with a gold id each", "item = gold")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.queries, e.ids, e.relevant, strict=True)
    return both([{"query_id": q, "retrieved": d, "gold": g} for q, d, g in each])


@form("a frame with lists of rows", "item = id")
def _(e: Example, _: Path) -> Pair:
    hits = e.lists_of(lambda d, s, _: {"id": d, "score": s})
    return e.truth, pl.DataFrame({"query": e.queries, "results": hits})


@form("a frame for each query", "a frame for each query")
def _(e: Example, _: Path) -> Pair:
    return e.truth, {
        q: pd.DataFrame({"docno": list(entry), "score": list(entry.values())})
        for q, entry in e.run.items()
    }


# --- own code


@form("dataclasses", "item = doc_id, score = score of Hit")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, s, _: Hit(d, s))


@form("dataclasses with slots", "item = pid, score = similarity of Slotted")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, s, _: Slotted(d, s))


@form("named tuples", "item = id")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, s, _: Named(d, s))


@form("pairs with the score first", "pairs of score and item")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, s, _: (s, d))


@form("pairs of judgements", "pairs of item and grade")
def _(e: Example, _: Path) -> Pair:
    truth = {q: [(d, 1)] for q, d in zip(e.queries, e.relevant, strict=True)}
    return truth, e.run


@form("lists in two, ids and scores", "a pair of items and scores")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.queries, e.ids, e.scores, strict=True)
    return e.truth, {q: (ids, scores) for q, ids, scores in each}


@form("Annoy, ids and distances", "its numbers are read as distances")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.queries, e.lists, e.distances, strict=True)
    truth = {q: {i} for q, i in zip(e.queries, e.gold, strict=True)}
    return truth, {q: (items, found) for q, items, found in each}


@form("lists under names", "items are under ids")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.queries, e.ids, e.scores, strict=True)
    return e.truth, {q: {"ids": ids, "scores": own} for q, ids, own in each}


@form("usearch, keys and distances", "'distances' are read as distances", square=True)
def _(e: Example, _: Path) -> Pair:
    found = SimpleNamespace(
        keys=e.grid(e.lists, np.uint64), distances=e.grid(e.distances, np.float32)
    )
    return [[i] for i in e.gold], found


@form("FAISS, L2, padded", "padding", square=True)
def _(e: Example, _: Path) -> Pair:
    n = len(e.lists)
    most = np.full((n, 1), np.finfo(np.float32).max, np.float32)
    distances = np.hstack([e.grid(e.distances, np.float32), most])
    ids = np.hstack([e.grid(e.lists, np.int64), np.full((n, 1), -1)])
    return [[i] for i in e.gold], (distances, ids)


@form("tensors of ids")
def _(e: Example, _: Path) -> Pair:
    truth = {q: Tensor(np.array([i])) for q, i in zip(e.queries, e.gold, strict=True)}
    run = {q: Tensor(np.array(i)) for q, i in zip(e.queries, e.lists, strict=True)}
    return truth, run


@form("rows of arrays, by position")
def _(e: Example, _: Path) -> Pair:
    return [np.array([i]) for i in e.gold], [np.array(items) for items in e.lists]


@form("gold ids, an array", "one relevant item for each query")
def _(e: Example, _: Path) -> Pair:
    return np.array(e.gold), e.lists


@form("gold ids, a Series of polars", "one relevant item for each query")
def _(e: Example, _: Path) -> Pair:
    return pl.Series(e.relevant), e.ids


@form("gold ids, ints by query", "one relevant item for each query")
def _(e: Example, _: Path) -> Pair:
    truth = {q: np.int64(i) for q, i in zip(e.queries, e.gold, strict=True)}
    return truth, dict(zip(e.queries, e.lists, strict=True))


@form("ids of 128 bits", "ids are read as text")
def _(e: Example, _: Path) -> Pair:
    truth = {q: {str(UUID(int=i))} for q, i in zip(e.queries, e.gold, strict=True)}
    lists = [[UUID(int=i) for i in items] for items in e.lists]
    return truth, dict(zip(e.queries, lists, strict=True))


@form("a mapping that is no dict", "pairs of item and score")
def _(e: Example, _: Path) -> Pair:
    run = MappingProxyType(e.by_query(lambda d, s, _: (d, s)))
    return MappingProxyType(e.truth), run


@form("rows of SQLite", "rows of Row")
def _(e: Example, _: Path) -> Pair:
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    base.execute("CREATE TABLE hits (query_id TEXT, doc_id TEXT, score REAL)")
    base.executemany("INSERT INTO hits VALUES (?, ?, ?)", rows(e))
    found = base.execute("SELECT * FROM hits").fetchall()
    base.close()
    return e.truth, found


@form("rows of a generator", "rows of ScoredDoc")
def _(e: Example, _: Path) -> Pair:
    qrels = (lib.Qrel(*row) for row in judged(e))
    return qrels, (lib.ScoredDoc(*row) for row in rows(e))


@form("LensKit, its own class", "rows of to_df()")
def _(e: Example, _: Path) -> Pair:
    frame = pd.DataFrame(rows(e), columns=["user_id", "item_id", "score"])
    return e.truth, lib.ItemListCollection(lambda: frame)


@form("trectools", "rows of run_data")
def _(e: Example, _: Path) -> Pair:
    names = ["query", "docid", "score"]
    run = SimpleNamespace(run_data=pd.DataFrame(rows(e), columns=names))
    names = ["query", "docid", "rel"]
    return SimpleNamespace(qrels_data=pd.DataFrame(judged(e), columns=names)), run


@form("clicks", "grade = clicks")
def _(e: Example, _: Path) -> Pair:
    names = ["query_id", "doc_id", "clicks"]
    return pd.DataFrame(judged(e), columns=names), e.run


@form("a frame with distances", "'distance' are read as distances")
def _(e: Example, _: Path) -> Pair:
    each = zip(e.queries, e.ids, e.distances, strict=True)
    table = [(q, d, x) for q, ids, own in each for d, x in zip(ids, own, strict=True)]
    names = ["query_id", "doc_id", "distance"]
    return e.truth, pl.DataFrame(table, schema=names, orient="row")


def _sheet(e: Example, path: Path, cell: Callable[[list[Any]], str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query_id", "retrieved", "score", "relevant"])
        for q, ids, own, gold in zip(
            e.queries, e.ids, e.scores, e.relevant, strict=True
        ):
            writer.writerow([q, cell(ids), cell(own), cell([gold])])
    return path


CELLS: dict[str, Callable[[list[Any]], str]] = {
    "JSON": json.dumps,
    "Python": str,
    "NumPy": lambda members: " ".join(map(repr, members)).join("[]"),
    "bars": lambda members: "|".join(map(str, members)),
    "bars with blanks": lambda members: " | ".join(map(str, members)),
}
for _name, _cell in CELLS.items():

    @form(f"cells as in {_name}", "cells of 'retrieved' are read as lists")
    def _(e: Example, folder: Path, cell: Any = _cell) -> Pair:
        return both(_sheet(e, folder / "sheet.csv", cell))

    @form(f"cells as in {_name}, by pandas", "cells of 'retrieved' are read as lists")
    def _(e: Example, folder: Path, cell: Any = _cell) -> Pair:
        return both(pd.read_csv(_sheet(e, folder / "sheet.csv", cell)))


# --- refused


@form("a response to one query", refused=r"one query only; pass \{query: results\}")
def _(e: Example, _: Path) -> Pair:
    return e.truth, {"took": 1, "hits": {"hits": [{"_id": "d1", "_score": 1.0}]}}


@form("points of one query", refused=r"one query only; pass \{query: results\}")
def _(e: Example, _: Path) -> Pair:
    return e.truth, lib.PointsResponse([lib.ScoredPoint("d1", 0.5)])


@form("documents of one query", refused=r"one query only; pass \{query: results\}")
def _(e: Example, _: Path) -> Pair:
    return e.truth, [lib.LangChainDocument(id=d) for d in e.ids[0]]


@form("a pair for one query", refused=r"one query only; pass \{query: results\}")
def _(e: Example, _: Path) -> Pair:
    return e.truth, (np.array(e.lists[0]), np.array(e.scores[0]))


@form("documents without ids", refused="lists of LangChainDocument without an id")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda *_: lib.LangChainDocument(title="A title"))


@form("texts without ids, of Ragas", refused="'retrieved_contexts' has texts, which")
def _(e: Example, _: Path) -> Pair:
    run = [{"user_input": q, "retrieved_contexts": ["words"]} for q in e.queries]
    return e.truth, run


@form("pairs of two ints", refused="not clear which is the item")
def _(e: Example, _: Path) -> Pair:
    return e.truth, {q: [(3, 1), (2, 0)] for q in e.queries}


@form("lists of other lengths", refused="differ in length; each item needs one number")
def _(e: Example, _: Path) -> Pair:
    own = zip(e.queries, e.ids, strict=True)
    return e.truth, {q: {"ids": ids, "scores": [0.5] * 9} for q, ids in own}


@form("a run for judgements", refused="holds a run; are the arguments swapped?")
def _(e: Example, _: Path) -> Pair:
    return lib.RanxRun(e.run), e.run


@form("judgements for a run", refused="holds judgements; are the arguments swapped?")
def _(e: Example, _: Path) -> Pair:
    return e.truth, lib.RanxQrels(e.truth)


@form("documents and dicts", refused="one query has a list of hits, and another")
def _(e: Example, _: Path) -> Pair:
    hits: dict[str, Any] = e.by_query(lambda d, *_: lib.LangChainDocument(id=d))
    return e.truth, {**hits, "other": {"d1": 0.5}}


@form("an item twice", refused="appears twice for query")
def _(e: Example, _: Path) -> Pair:
    hits = e.by_query(lambda d, s, _: lib.HaystackDocument(d, score=s))
    twice = [lib.HaystackDocument("d1", score=0.5) for _ in range(2)]
    return e.truth, {**hits, "q1": twice}


@form("splits of MTEB", refused=r"for 2 splits; pass one: \['default'\]\['test'\], ")
def _(e: Example, _: Path) -> Pair:
    splits = dict.fromkeys(["test", "dev"], e.run)
    return e.truth, {"mteb_model_meta": {}, "default": splits}


@form("the same documents on both sides", refused="evaluated against itself")
def _(e: Example, _: Path) -> Pair:
    return both(e.by_query(lambda d, s, _: lib.HaystackDocument(d, score=s)))


@form("the same hits on both sides", refused="evaluated against itself")
def _(e: Example, _: Path) -> Pair:
    return both(e.by_query(lambda d, s, _: {"id": d, "score": s}))


@form("the same run of ranx on both sides", refused="evaluated against itself")
def _(e: Example, _: Path) -> Pair:
    return both(lib.RanxRun(e.run))


@form("scores that rise", warned="scores rise along every list")
def _(e: Example, _: Path) -> Pair:
    return e.truth, e.by_query(lambda d, _, x: {"id": d, "score": x})


@form("Haystack, EvaluationRunResult", "records of inputs")
def _(e: Example, _: Path) -> Pair:
    make = lib.HaystackDocument
    inputs: dict[str, list[Any]] = {
        "questions": [f"What is {q}?" for q in e.queries],
        "ground_truth_documents": [[make(d)] for d in e.relevant],
        "retrieved_documents": e.lists_of(lambda d, *_: make(d)),
    }
    scores = {"score": 0.5, "individual_scores": [0.5] * len(e.queries)}
    return both(lib.EvaluationRunResult("run", inputs, {"mrr": scores}))


@form("MLflow, eval_results_table", "query = inputs, item = outputs")
def _(e: Example, _: Path) -> Pair:
    table = {
        "inputs": [f"What is {q}?" for q in e.queries],
        "targets": [[d] for d in e.relevant],
        "outputs": e.ids,
        "precision_at_3/score": [0.5] * len(e.queries),
    }
    return both(pd.DataFrame(table))
