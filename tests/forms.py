"""The same judgements and run in every form that is accepted."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from scipy import sparse

import rankine as rk

Data: TypeAlias = dict[str, dict[str, float]]
Pair: TypeAlias = tuple[Any, Any]
Form: TypeAlias = Callable[[Data, Data, Path], Pair]
FORMS: dict[str, Form] = {}


def form(name: str) -> Callable[[Form], Form]:
    def kept(function: Form) -> Form:
        FORMS[name] = function
        return function

    return kept


def rows(data: Data) -> list[tuple[str, str, float]]:
    return [(q, i, v) for q, entry in data.items() for i, v in entry.items()]


def ranked(run: Data) -> list[tuple[str, str, int]]:
    """Return query, item and rank, best first; scores must differ."""
    return [
        (query, item, rank)
        for query, entry in run.items()
        for rank, item in enumerate(sorted(entry, key=lambda i: -entry[i]), 1)
    ]


def trec_qrels(qrels: Data, mark: str = " ") -> str:
    return "".join(f"{q}{mark}0{mark}{i}{mark}{v:g}\n" for q, i, v in rows(qrels))


def trec_run(run: Data, mark: str = " ") -> str:
    made = (mark.join((q, "Q0", i, "1", repr(v), "tag")) for q, i, v in rows(run))
    return "".join(f"{line}\n" for line in made)


def _trec(
    change: Callable[[str], str | bytes], mark: str = " "
) -> Callable[[Data, Data, Path], Pair]:
    def made(qrels: Data, run: Data, folder: Path) -> Pair:
        paths = folder / "some.qrels", folder / "some.run"
        for path, text in zip(
            paths, (trec_qrels(qrels, mark), trec_run(run, mark)), strict=True
        ):
            changed = change(text)
            path.write_bytes(
                changed if isinstance(changed, bytes) else changed.encode()
            )
        return paths

    return made


def _zipped(text: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside.txt", text)
    return out.getvalue()


def _commented(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "# first\n" + "# more\n".join(lines)


FORMS |= {
    "trec": _trec(str),
    "trec, tabs": _trec(str, "\t"),
    "trec, spaces": _trec(lambda text: text.replace(" ", "  \t")),
    "trec, lead": _trec(lambda text: "  " + text.replace("\n", " \n ")),
    "trec, crlf": _trec(lambda text: text.replace("\n", "\r\n")),
    "trec, cr": _trec(lambda text: text.replace("\n", "\r")),
    "trec, bom": _trec(lambda text: "\ufeff" + text),
    "trec, utf-16": _trec(lambda text: text.encode("utf-16")),
    "trec, comments": _trec(_commented),
    "trec, blank lines": _trec(lambda text: "\n\n" + text.replace("\n", "\n\n")),
    "trec, no end": _trec(lambda text: text.rstrip("\n")),
    "trec, gzip": _trec(lambda text: gzip.compress(text.encode())),
    "trec, gzip in two": _trec(
        lambda text: gzip.compress(text[:9].encode()) + gzip.compress(text[9:].encode())
    ),
    "trec, bzip2": _trec(lambda text: bz2.compress(text.encode())),
    "trec, xz": _trec(lambda text: lzma.compress(text.encode())),
    "trec, zstandard": _trec(lambda text: zstandard.compress(text.encode())),
    "trec, zip": _trec(_zipped),
    "trec, utf-16 in gzip": _trec(lambda text: gzip.compress(text.encode("utf-16"))),
}


@form("trec, header")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    (folder / "q").write_text("qid iter docid rel\n" + trec_qrels(qrels))
    (folder / "r").write_text("qid Q0 docid rank score tag\n" + trec_run(run))
    return folder / "q", folder / "r"


@form("trec, folder")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    for name, text in (("q", trec_qrels(qrels)), ("r", trec_run(run))):
        (folder / name).mkdir()
        (folder / name / "_SUCCESS").write_text("")
        lines = text.splitlines(keepends=True)
        half = len(lines) // 2
        for number, part in enumerate((lines[:half], lines[half:])):
            if part:
                (folder / name / f"part-{number}").write_text("".join(part))
    return folder / "q", folder / "r"


@form("trec, pattern")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    for query, entry in qrels.items():
        (folder / f"{query}.qrels").write_text(trec_qrels({query: entry}))
    for query, entry in run.items():
        (folder / f"{query}.run").write_text(trec_run({query: entry}))
    return folder / "*.qrels", folder / "*.run"


def _separated(
    mark: str,
    names: tuple[tuple[str, ...] | None, tuple[str, ...] | None],
    change: Callable[[str], str] = str,
) -> Form:
    def made(qrels: Data, run: Data, folder: Path) -> Pair:
        paths = folder / "q.any", folder / "r.any"
        for path, data, header in zip(paths, (qrels, run), names, strict=True):
            lines = [mark.join((q, i, repr(float(v)))) for q, i, v in rows(data)]
            if header:
                lines.insert(0, mark.join(header))
            path.write_text(change("\n".join(lines) + "\n"))
        if names[0] is None:
            numbers = {"query": 1, "item": 2, "score": 3}
            return paths[0], rk.read_run(paths[1], columns=numbers)
        return paths

    return made


_NAMED = (("query", "item", "grade"), ("query", "item", "score"))
_BEIR = (("query-id", "corpus-id", "score"), ("query-id", "corpus-id", "score"))
FORMS |= {
    "csv": _separated(",", _NAMED),
    "csv, crlf": _separated(",", _NAMED, lambda text: text.replace("\n", "\r\n")),
    "csv, bom": _separated(",", _NAMED, lambda text: "\ufeff" + text),
    "csv, blank lines": _separated(
        ",", _NAMED, lambda text: text.replace("\n", "\n\n")
    ),
    "csv, comments": _separated(",", _NAMED, lambda text: "# x\n" + text + "# y\n"),
    "csv, semicolons": _separated(";", _NAMED),
    "csv, bars": _separated("|", _NAMED),
    "csv, no header": _separated(",", (None, None)),
    "tsv": _separated("\t", _NAMED),
    "tsv, no header": _separated("\t", (None, None)),
    "beir": _separated("\t", _BEIR),
    "recommenders' names": _separated(
        ",", (("userID", "itemID", "rating"), ("userID", "itemID", "prediction"))
    ),
    "recbole": _separated(
        "\t",
        (
            ("user_id:token", "item_id:token", "rating:float"),
            ("user_id:token", "item_id:token", "score:float"),
        ),
    ),
}


@form("csv, quoted")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    for name, data, value in (("q", qrels, "grade"), ("r", run, "score")):
        lines = [f'"query","item","{value}","text"']
        lines += [f'"{q}","{i}",{v!r},"a\n""b"", c"' for q, i, v in rows(data)]
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder / "q", folder / "r"


def _rated(mark: str) -> Form:
    def made(qrels: Data, run: Data, folder: Path) -> Pair:
        lines = [
            mark.join((q, i, f"{v:g}", "881250949")) + "\n" for q, i, v in rows(qrels)
        ]
        (folder / "ratings").write_text("".join(lines))
        return folder / "ratings", run

    return made


FORMS |= {"movielens, u.data": _rated("\t"), "movielens, ratings.dat": _rated("::")}


@form("movielens, ratings.csv")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    lines = [f"{q},{i},{v:g},1112486027" for q, i, v in rows(qrels)]
    path = folder / "ratings.csv"
    path.write_text("\n".join(["userId,movieId,rating,timestamp", *lines]))
    return path, run


@form("ms marco")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    lines = [f"{q}\t{i}\t{rank}\n" for q, i, rank in ranked(run)]
    (folder / "r").write_text("".join(lines))
    (folder / "q").write_text(trec_qrels(qrels, "\t"))
    return folder / "q", rk.read_run(folder / "r", format="msmarco")


@form("json")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    (folder / "q").write_text(json.dumps(qrels))
    (folder / "r").write_text(json.dumps(run, indent=2))
    return folder / "q", folder / "r"


@form("json, lists")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    lists: dict[str, list[str]] = {query: [] for query in run}
    for query, item, _rank in ranked(run):
        lists[query].append(item)
    (folder / "r").write_text(json.dumps(lists))
    return qrels, folder / "r"


def _records(data: Data, value: str) -> list[dict[str, Any]]:
    return [{"query_id": q, "doc_id": i, value: v} for q, i, v in rows(data)]


@form("json, records")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    (folder / "q").write_text(json.dumps(_records(qrels, "relevance")))
    (folder / "r").write_text(json.dumps(_records(run, "score")))
    return folder / "q", folder / "r"


@form("ndjson, records")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    for name, data, value in (("q", qrels, "relevance"), ("r", run, "score")):
        lines = [json.dumps(record) for record in _records(data, value)]
        (folder / name).write_text("\n".join(lines))
    return folder / "q", folder / "r"


@form("ndjson, retrieved")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    lines = []
    for query, entry in run.items():
        best = sorted(entry, key=lambda item: -entry[item])
        lines.append(json.dumps({"query_id": query, "retrieved": best, "relevant": []}))
    (folder / "r").write_text("\n".join(lines) + "\n")
    return qrels, folder / "r"


def frame(data: Data, value: str) -> pl.DataFrame:
    return pl.DataFrame(
        rows(data), schema={"query": str, "item": str, value: float}, orient="row"
    )


def _frames(change: Callable[[pl.DataFrame], Any]) -> Form:
    def made(qrels: Data, run: Data, folder: Path) -> Pair:
        del folder
        return change(frame(qrels, "grade")), change(frame(run, "score"))

    return made


def _in_file(write: Callable[[pl.DataFrame, Path], Any]) -> Form:
    def made(qrels: Data, run: Data, folder: Path) -> Pair:
        write(frame(qrels, "grade"), folder / "q")
        write(frame(run, "score"), folder / "r")
        return folder / "q", folder / "r"

    return made


def _lists(data: pl.DataFrame) -> pl.DataFrame:
    value = data.columns[2]
    return data.group_by("query", maintain_order=True).agg("item", value)


def _pandas(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Form:
    return _frames(lambda data: change(pd.DataFrame(data.to_dict(as_series=False))))


def _ints(data: pl.DataFrame) -> pl.DataFrame:
    return data.with_columns(pl.col("query", "item").cast(pl.Int64))


FORMS |= {
    "parquet": _in_file(lambda data, path: data.write_parquet(path)),
    "parquet, ints": _in_file(lambda data, path: _ints(data).write_parquet(path)),
    "parquet, lists": _in_file(lambda data, path: _lists(data).write_parquet(path)),
    "parquet, pyarrow": _in_file(
        lambda data, path: pq.write_table(data.to_arrow(), path, compression="gzip")
    ),
    "arrow file": _in_file(lambda data, path: data.write_ipc(path)),
    "arrow stream": _in_file(lambda data, path: data.write_ipc_stream(path)),
    "polars": _frames(lambda data: data),
    "polars, lazy": _frames(lambda data: data.lazy()),
    "polars, categories": _frames(
        lambda data: data.with_columns(pl.col("query", "item").cast(pl.Categorical))
    ),
    "polars, ints": _frames(_ints),
    "polars, lists": _frames(_lists),
    "pyarrow": _frames(lambda data: data.to_arrow()),
    "pyarrow, dictionary": _frames(
        lambda data: data.with_columns(
            pl.col("query", "item").cast(pl.Categorical)
        ).to_arrow()
    ),
    "pyarrow, batches": _frames(
        lambda data: pa.RecordBatchReader.from_batches(
            data.to_arrow().schema, data.to_arrow().to_batches()
        )
    ),
    "pandas": _pandas(lambda data: data),
    "pandas, string": _pandas(
        lambda data: data.astype({"query": "string", "item": "string"})
    ),
    "pandas, arrow": _pandas(
        lambda data: data.astype(
            {"query": "string[pyarrow]", "item": "string[pyarrow]"}
        )
    ),
    "pandas, object": _pandas(
        lambda data: data.astype({"query": object, "item": object})
    ),
    "pandas, categories": _pandas(
        lambda data: data.astype({"query": "category", "item": "category"})
    ),
    "pandas, nullable": _pandas(
        lambda data: data.astype({"query": int, "item": int}).astype(
            {"query": "Int64", "item": "Int64", data.columns[2]: "Float64"}
        )
    ),
}


@form("dicts, ints")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    del folder
    made = [
        {int(q): {int(i): v for i, v in entry.items()} for q, entry in data.items()}
        for data in (qrels, run)
    ]
    return made[0], made[1]


def _matrix(data: Data, fill: float) -> np.ndarray[Any, Any]:
    n_queries = 1 + max(int(query) for query in data)
    n_items = 1 + max(int(item) for _, item, _ in rows(data))
    made = np.full((max(n_queries, 12), max(n_items, 12)), fill)
    for query, item, value in rows(data):
        made[int(query), int(item)] = value
    return made


@form("scipy, coo")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    del folder
    made = []
    for data in (qrels, run):
        query, item, value = zip(*rows(data), strict=True)
        place = np.array(query, dtype=int), np.array(item, dtype=int)
        made.append(sparse.coo_array((np.array(value), place), shape=(12, 12)))
    return made[0], made[1]


@form("scipy, csr")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    judged, retrieved = FORMS["scipy, coo"](qrels, run, folder)
    return judged.tocsr(), sparse.csr_matrix(retrieved)


@form("numpy")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    del folder
    return qrels, rk.from_scores(_matrix(run, -np.inf))


def _objects(data: Data, value: str) -> dict[str, list[dict[str, Any]]]:
    """Return lists of objects, which have other keys besides."""
    return {
        query: [{"id": i, value: v, "title": f"about {i}"} for i, v in entry.items()]
        for query, entry in data.items()
    }


def _wrapped(data: Data, value: str, key: str) -> list[dict[str, Any]]:
    objects = _objects(data, value)
    return [{"query_id": query, key: entry} for query, entry in objects.items()]


@form("lists of objects")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    del folder
    return _objects(qrels, "grade"), _objects(run, "score")


@form("records with objects")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    del folder
    return _wrapped(qrels, "relevance", "relevant"), _wrapped(run, "score", "items")


@form("json, objects")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    (folder / "q").write_text(json.dumps(_objects(qrels, "relevance")))
    (folder / "r").write_text(json.dumps(_wrapped(run, "score", "results")))
    return folder / "q", folder / "r"


@form("ndjson, objects")
def _(qrels: Data, run: Data, folder: Path) -> Pair:
    for name, records in (
        ("q", _wrapped(qrels, "grade", "docs")),
        ("r", _wrapped(run, "score", "retrieved")),
    ):
        (folder / name).write_text("\n".join(map(json.dumps, records)))
    return folder / "q", folder / "r"
