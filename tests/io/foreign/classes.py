"""Stand-ins for the objects of search libraries, which the tests do not install.

Each has the attributes of the real one, and its behaviour where that matters: whether
it can be hashed and compared, iterated over and taken for a mapping. What they are
copies of was looked up in the packages, in the versions named beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self


class Model:
    """A model of pydantic: no hash, equal by its fields, iterates over pairs."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from self.__dict__.items()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__dict__})"

    def model_dump(self) -> dict[str, Any]:
        return dict(self.__dict__)


# --- langchain-core 1.7.2


class LangChainDocument(Model):
    """A document of LangChain, whose id is None unless it was given."""

    def __init__(self, id: str | None = None, **metadata: Any) -> None:  # noqa: A002
        text = "The text of this document, which is long. " * 50
        super().__init__(id=id, metadata=metadata, page_content=text, type="Document")


# --- llama-index-core 0.14.25


class TextNode(Model):
    """A node of LlamaIndex: a chunk of a document."""

    def __init__(self, id_: str, **metadata: Any) -> None:
        super().__init__(id_=id_, metadata=metadata, text="words", embedding=[0.5] * 99)

    @property
    def node_id(self) -> str:
        return self.id_  # type: ignore[no-any-return, attr-defined]

    @property
    def ref_doc_id(self) -> str | None:
        return None

    def get_content(self) -> str:
        return self.text  # type: ignore[no-any-return, attr-defined]


class NodeWithScore(Model):
    """What a retriever of LlamaIndex returns; the score may be None."""

    def __init__(self, node: TextNode, score: float | None = None) -> None:
        super().__init__(node=node, score=score)

    @property
    def node_id(self) -> str:
        return self.node.node_id  # type: ignore[no-any-return, attr-defined]

    @property
    def id_(self) -> str:
        return self.node_id

    @property
    def metadata(self) -> dict[str, Any]:
        return self.node.metadata  # type: ignore[no-any-return, attr-defined]

    @property
    def text(self) -> str:
        msg = "Node must be a TextNode to get text."
        raise ValueError(msg)

    def get_score(self) -> float:
        return self.score or 0.0  # type: ignore[attr-defined]


class RetrievalEvalResult(Model):
    """What `RetrieverEvaluator.evaluate` of LlamaIndex returns for one query."""

    def __init__(
        self, query: str, expected_ids: list[str], retrieved_ids: list[str]
    ) -> None:
        super().__init__(
            query=query,
            expected_ids=expected_ids,
            expected_texts=None,
            retrieved_ids=retrieved_ids,
            retrieved_texts=["words"] * len(retrieved_ids),
            mode="text",
            metric_dict={"mrr": 0.5},
        )


class EmbeddingQAFinetuneDataset(Model):
    """Judgements of LlamaIndex."""

    def __init__(self, queries: Any, corpus: Any, relevant_docs: Any) -> None:
        super().__init__(
            queries=queries, corpus=corpus, relevant_docs=relevant_docs, mode="text"
        )


@dataclass
class VectorStoreQueryResult:
    """What a vector store of LlamaIndex returns."""

    nodes: Any = None
    similarities: Any = None
    ids: Any = None


# --- haystack-ai 3.4.0


class EvaluationRunResult:
    """What Haystack makes of the inputs and outputs of evaluators."""

    def __init__(
        self, run_name: str, inputs: dict[str, list[Any]], results: dict[str, Any]
    ) -> None:
        self.run_name = run_name
        self.inputs = inputs
        self.results = results

    def detailed_report(self) -> dict[str, list[Any]]:
        return {**self.inputs, "score": self.results["mrr"]["individual_scores"]}


@dataclass
class HaystackDocument:
    """A document of Haystack: a dataclass that compares and so has no hash."""

    id: str
    content: str | None = None
    blob: Any = None
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None
    embedding: Any = None

    def to_dict(self, *, flatten: bool = True) -> dict[str, Any]:
        return {"id": self.id, "flatten": flatten}


# --- ragas 0.4.3


class SingleTurnSample(Model):
    """One record of Ragas."""


class EvaluationDataset:
    """Records of Ragas, in their own class."""

    def __init__(self, samples: list[SingleTurnSample]) -> None:
        self.samples = samples

    def to_list(self) -> list[dict[str, Any]]:
        return [sample.model_dump() for sample in self.samples]

    def __iter__(self) -> Iterator[SingleTurnSample]:
        yield from self.samples

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, place: int) -> SingleTurnSample:
        return self.samples[place]


# --- elasticsearch 9.5.1: elastic_transport


class ObjectApiResponse:
    """A response of Elasticsearch: neither a dict nor a Mapping."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self._meta = "meta"

    @property
    def body(self) -> Any:
        return self._body

    @property
    def meta(self) -> Any:
        return self._meta

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)

    def __getitem__(self, key: Any) -> Any:
        return self._body[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._body)

    def __len__(self) -> int:
        return len(self._body)

    def __bool__(self) -> bool:
        return bool(self._body)

    def __contains__(self, key: object) -> bool:
        return key in self._body


# --- qdrant-client 1.20.0


class ScoredPoint(Model):
    """A hit of Qdrant."""

    def __init__(self, id: Any, score: float, **payload: Any) -> None:  # noqa: A002
        super().__init__(
            id=id,
            version=0,
            score=score,
            payload=payload,
            vector=None,
            shard_key=None,
            order_value=None,
        )


class PointsResponse(Model):
    """What `query_points` of Qdrant returns."""

    def __init__(self, points: list[ScoredPoint]) -> None:
        super().__init__(points=points)


# --- pymilvus 3.0.2


class MilvusHit(dict[str, Any]):
    """A hit of Milvus: a dict that also finds the keys of its entity."""

    def __getitem__(self, key: str) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            return super().__getitem__("entity")[key]

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default


class MilvusHits(list[MilvusHit]):
    """The hits of one query."""


# --- weaviate-client 4.23.1


@dataclass
class MetadataReturn:
    """What Weaviate says of a hit, most of it None."""

    creation_time: Any = None
    last_update_time: Any = None
    distance: float | None = None
    certainty: float | None = None
    score: float | None = None
    explain_score: str | None = None
    is_consistent: bool | None = None
    rerank_score: float | None = None


@dataclass
class WeaviateObject:
    """A hit of Weaviate."""

    uuid: Any
    metadata: MetadataReturn
    properties: dict[str, Any]
    references: Any = None
    vector: dict[str, Any] = field(default_factory=dict)
    collection: str = "Docs"


@dataclass
class QueryReturn:
    """What a query of Weaviate returns."""

    objects: list[WeaviateObject]
    query_profile: Any = None


# --- pinecone 10.2.0


class Struct:
    """A struct of msgspec: equal by its fields, without a hash; like a dict to read."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)

    def to_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


class ScoredVector(Struct):
    """A hit of Pinecone; its values are those of the vector."""

    def __init__(self, id: str, score: float) -> None:  # noqa: A002
        super().__init__(
            id=id, score=score, values=[0.5], sparse_values=None, metadata={}
        )


class QueryResponse(Struct):
    """What a query of Pinecone returns."""

    def __init__(self, matches: list[ScoredVector]) -> None:
        super().__init__(matches=matches, namespace="", usage=None)


# --- ranx 0.3.21


class TypedDict(MutableMapping[str, Any]):
    """A typed dict of numba."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._data[key] = value

    def __delitem__(self, key: str) -> None:
        del self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)


class _OfRanx:
    def __init__(self, data: dict[str, Any], name: str | None = None) -> None:
        self.data = data
        self.name = name
        self.metadata: dict[str, Any] = {}

    def keys(self) -> Any:
        return self.data.keys()

    def to_dict(self) -> dict[str, Any]:
        return {query: dict(entry) for query, entry in self.data.items()}

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, query: Any) -> dict[str, Any]:
        # Numba would compile for seconds, and then raise a typing error.
        assert not isinstance(query, int), "somebody iterates over it"
        return self.data[query]  # type: ignore[no-any-return]


class RanxRun(_OfRanx):
    """A run of ranx."""

    @property
    def run(self) -> TypedDict:
        return TypedDict(self.data)


class RanxQrels(_OfRanx):
    """Judgements of ranx."""

    @property
    def qrels(self) -> TypedDict:
        return TypedDict(self.data)


RanxRun.__name__, RanxQrels.__name__ = "Run", "Qrels"


# --- ir_measures 0.4.3, ir_datasets 0.6.3


class Qrel(NamedTuple):
    """A judgement of ir_measures."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """A retrieved document of ir_measures."""

    query_id: str
    doc_id: str
    score: float


class TrecQrel(NamedTuple):
    """A judgement of ir_datasets."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class Dataset:
    """A data set of ir_datasets."""

    def __init__(self, qrels: list[TrecQrel]) -> None:
        self._qrels = qrels

    def has_qrels(self) -> bool:
        return True

    def qrels_iter(self) -> Iterator[TrecQrel]:
        yield from self._qrels


# --- bm25s 0.3.16, torch 2.13.0


class Results(NamedTuple):
    """What `retrieve` of bm25s returns."""

    documents: Any
    scores: Any


class TopK(NamedTuple):
    """What `topk` of torch returns."""

    values: Any
    indices: Any


# --- scikit-surprise 1.1.5, pyspark 4


class Prediction(NamedTuple):
    """A prediction of Surprise."""

    uid: str
    iid: str
    r_ui: float
    est: float
    details: dict[str, Any]


class SparkRow(tuple[Any, ...]):  # noqa: SLOT001 - as in Spark
    """A row of Spark: a tuple that knows the names of its fields."""

    __fields__: tuple[str, ...]

    def __new__(cls, **fields: Any) -> Self:
        row = super().__new__(cls, tuple(fields.values()))
        row.__fields__ = tuple(fields)
        return row

    def asDict(self) -> dict[str, Any]:  # noqa: N802 - as Spark calls it
        return dict(zip(self.__fields__, self, strict=True))

    def __getattr__(self, name: str) -> Any:
        fields = object.__getattribute__(self, "__fields__")
        if name not in fields:
            raise AttributeError(name)
        return self[fields.index(name)]


# --- lenskit 2025.8.1


class ItemListCollection:
    """Recommendations of LensKit."""

    def __init__(self, to_df: Callable[[], Any]) -> None:
        self._to_df = to_df

    def to_df(self) -> Any:
        return self._to_df()

    def lists(self) -> list[Any]:
        return []
