"""The forms on the page "Bring what you have" are read, as it says."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from tests.io.foreign import classes as lib
from tests.io.foreign.forms import EXAMPLE, FORMS, rows
from tests.tensors import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parent.parent / "docs" / "bring.md"
ROW = re.compile(r"^\| ([^|`]+) \| `([^`]+)`[^|]* \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text())
PLACES = {"FAISS", "implicit", "bm25s", "torch", "Milvus"}
"""Libraries whose ids are places in a corpus."""
E = EXAMPLE


def recorded(name: str) -> Any:
    """Return the run of a form that was recorded."""
    form = next(form for form in FORMS if form.name == name)
    return form.make(E, Path())[1]


def by_query(name: str) -> Callable[..., Any]:
    """Return a search: what a form has for a query, which may be anywhere."""
    run = recorded(name)

    def search(*words: Any, **named: Any) -> Any:
        found = {*words, *map(str, named.values())} & run.keys()
        return run[found.pop()]

    return search


def lance(query: str) -> Any:
    return SimpleNamespace(to_list=lambda: recorded("LanceDB, to_list()")[query])


def cursor() -> Any:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE hits (query TEXT, item TEXT, score REAL)")
    base.executemany("INSERT INTO hits VALUES (?, ?, ?)", rows(E))
    return base.execute("SELECT * FROM hits")


def embed(query: str) -> str:
    return query


def retriever(name: str, call: str) -> Any:
    return SimpleNamespace(**{call: by_query(name)})


STAND_INS: dict[str, dict[str, Any]] = {
    "LangChain": {
        "retriever": retriever("LangChain, retriever", "invoke"),
        "store": retriever(
            "LangChain, similarity_search_with_score", "similarity_search_with_score"
        ),
    },
    "LlamaIndex": {"retriever": retriever("LlamaIndex, retriever", "retrieve")},
    "Haystack": {"retriever": retriever("Haystack, output of a retriever", "run")},
    "Elasticsearch, OpenSearch": {
        "client": SimpleNamespace(
            search=by_query("elasticsearch-py"),
            msearch=lambda _: recorded("Elasticsearch, msearch"),
        ),
        "searches": [],
    },
    "Chroma": {
        "collection": SimpleNamespace(query=lambda **_: recorded("Chroma, query"))
    },
    "Qdrant": {"client": retriever("Qdrant, query_points", "query_points")},
    "Pinecone": {"index": retriever("Pinecone, query", "query")},
    "Weaviate": {
        "docs": SimpleNamespace(query=retriever("Weaviate, near_vector", "near_text"))
    },
    "Milvus": {
        "client": SimpleNamespace(search=lambda *_: recorded("Milvus, search")),
        "vectors": [],
    },
    "LanceDB": {"table": SimpleNamespace(search=lance)},
    "FAISS": {
        "index": SimpleNamespace(search=lambda *_: recorded("FAISS, L2")),
        "vectors": [],
    },
    "implicit": {
        "model": SimpleNamespace(
            recommend=lambda *_: recorded("implicit, several users")
        ),
        "users": [],
        "rows": [],
    },
    "bm25s": {
        "retriever": SimpleNamespace(retrieve=lambda _: recorded("bm25s, retrieve")),
        "tokens": [],
    },
    "torch": {
        "scores": SimpleNamespace(
            topk=lambda _: lib.TopK(
                Tensor(np.array(E.scores)), Tensor(np.array(E.lists))
            )
        )
    },
    "ranx": {"ranx_run": lib.RanxRun(E.run)},
    "ir_measures": {"scored_docs": [lib.ScoredDoc(*row) for row in rows(E)]},
    "database cursors": {"cursor": cursor()},
    "own code": {},
}


def test_the_page_names_every_stand_in() -> None:
    assert {name for name, _ in ROWS} == STAND_INS.keys()


@pytest.mark.parametrize(("name", "code"), ROWS)
def test_a_form_on_the_page_is_read(name: str, code: str) -> None:
    names = {"queries": E.queries, "embed": embed, **STAND_INS[name]}
    truth: Any = dict(zip(E.queries, E.relevant, strict=True))
    if name in PLACES:
        truth = [[place] for place in E.gold]
    elif name == "Weaviate":
        form = next(form for form in FORMS if form.name == "Weaviate, near_vector")
        truth = form.make(E, Path())[0]

    run = eval(code, names)  # noqa: S307 - our own page

    # The line of own code has d1 alone, which is right for two of three queries.
    assert rk.evaluate(truth, run, "RR")["RR"] == pytest.approx(2 / 3)
