"""The work that rankine and its peers are given: made here, the same for all."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

FOLDER = Path(__file__).parent / "data"
METRICS = ["nDCG@10", "AP", "RR@10", "R@1000", "P@10"]
AT_TEN = ["P@10", "R@10", "AP@10", "nDCG@10", "RR@10"]


def trec_files(n_queries: int = 6980, n_shown: int = 1000) -> tuple[Path, Path]:
    """Write judgements and a run in the shape of the MS MARCO dev set."""
    FOLDER.mkdir(exist_ok=True)
    qrels = FOLDER / f"{n_queries}x{n_shown}.qrels"
    run = FOLDER / f"{n_queries}x{n_shown}.run"
    if run.exists() and qrels.exists():
        return qrels, run
    rng = np.random.default_rng(0)
    ids = rng.choice(10 * n_queries, n_queries, replace=False) + 100_000
    # Steps that are prime to the number of items never meet an item twice.
    first = rng.integers(0, 8_841_823, n_queries)
    step = rng.integers(1, 8_000_000, n_queries)
    items = (first[:, None] + step[:, None] * np.arange(n_shown)[None, :]) % 8_841_823
    scores = -np.sort(-rng.normal(10, 3, (n_queries, n_shown)), axis=1)
    scores -= np.arange(n_shown) * 1e-5  # no ties
    n_rows = n_queries * n_shown
    with run.open("wb") as file:
        for begin in range(0, n_queries, 2000):
            part = slice(begin, begin + 2000)
            frame = pl.DataFrame(
                {
                    "query": np.repeat(ids[part], n_shown),
                    "q0": ["Q0"] * (len(ids[part]) * n_shown),
                    "item": items[part].ravel(),
                    "rank": np.tile(np.arange(1, n_shown + 1), len(ids[part])),
                    "score": scores[part].ravel().round(6),
                    "tag": ["bench"] * (len(ids[part]) * n_shown),
                }
            )
            frame.write_csv(file, separator=" ", include_header=False)
    place = np.minimum(rng.exponential(60, n_queries).astype(int), n_shown - 1)
    lost = rng.random(n_queries) < 0.15
    relevant = np.where(lost, 9_000_000, items[np.arange(n_queries), place])
    lines = [f"{q} 0 {i} 1" for q, i in zip(ids, relevant, strict=True)]
    qrels.write_text("\n".join(lines) + "\n")
    print(f"made {run.name}: {n_rows:,} rows")
    return qrels, run


def permutation(n: int) -> list[int]:
    """Return the numbers from 0 in random order, the same for all."""
    order: list[int] = np.random.default_rng(4).permutation(n).tolist()
    return order


def runs_to_fuse(n: int, n_queries: int, n_shown: int) -> list[pl.DataFrame]:
    """Return runs that show, for each query, a third of the same items, best first."""
    n_found = 3 * n_shown
    rng = np.random.default_rng(6)
    found = rng.integers(0, 8_841_823 - n_found * 2900, n_queries)
    runs = []
    for _ in range(n):
        # For each query, some of the items that any of the runs may find.
        which = np.argsort(rng.random((n_queries, n_found)), axis=1)[:, :n_shown]
        scores = -np.sort(-rng.normal(10, 3, (n_queries, n_shown)), axis=1)
        columns = {
            "query": np.repeat(np.arange(n_queries), n_shown),
            "item": (found[:, None] + which * 2897).ravel(),
            "score": scores.ravel(),
        }
        text = pl.col("query", "item").cast(pl.String)
        runs.append(pl.DataFrame(columns).with_columns(text))
    return runs


def two_runs(form: str) -> tuple[Any, Any, Any]:
    """Return judgements and two runs of the same items: files, frames or dicts."""
    qrels, run = trec_files()
    other = run.with_name(f"{run.stem}-other.run")
    names = ["query", "q0", "item", "rank", "score", "tag"]

    def read(path: Path) -> pl.DataFrame:
        return pl.read_csv(
            path,
            separator=" ",
            has_header=False,
            new_columns=names,
            schema_overrides={"query": pl.String, "item": pl.String},
            quote_char=None,
        )

    if not other.exists():
        frame = read(run)
        noise = np.random.default_rng(5).normal(0, 2, frame.height)
        frame = frame.with_columns((pl.col("score") + pl.Series(noise)).round(9))
        # Queries keep their order, and items go by their new scores.
        place = pl.col("query").rle_id().alias("place")
        frame = frame.with_columns(place).sort(
            "place", "score", descending=[False, True]
        )
        frame.drop("place").write_csv(other, separator=" ", include_header=False)
    if form == "files":
        return qrels, run, other
    truth = pl.read_csv(
        qrels,
        separator=" ",
        has_header=False,
        new_columns=["query", "q0", "item", "grade"],
        schema_overrides={"query": pl.String, "item": pl.String},
    )
    frames = [read(path).select("query", "item", "score") for path in (run, other)]
    if form == "frames":
        return truth.select("query", "item", "grade"), frames[0], frames[1]
    mappings: list[dict[str, dict[str, float]]] = []
    for frame in frames:
        made: dict[str, dict[str, float]] = {}
        for query, part in frame.group_by("query", maintain_order=True):
            items, scores = part["item"].to_list(), part["score"].to_list()
            made[str(query[0])] = dict(zip(items, scores, strict=True))
        mappings.append(made)
    judged = {
        query: {item: int(grade)}
        for query, item, grade in truth.select("query", "item", "grade").iter_rows()
    }
    return judged, mappings[0], mappings[1]


def shuffled(run: Path) -> Path:
    """Return the same run with the rows of each query in random order."""
    return _changed(run, "shuffled", lambda lines, rng: rng.permutation(lines))


def scattered(run: Path) -> Path:
    """Return the same run with all rows in random order, queries mixed."""
    path = run.with_suffix(".scattered")
    if not path.exists():
        lines = np.array(run.read_bytes().splitlines(keepends=True), dtype=object)
        path.write_bytes(b"".join(np.random.default_rng(2).permutation(lines)))
    return path


def tied(run: Path) -> Path:
    """Return the same run with scores of one decimal, so that many are equal."""

    def round_off(lines: Any, _: Any) -> Any:
        rounded = []
        for line in lines:
            fields = line.split(b" ")
            fields[4] = b"%.1f" % float(fields[4])
            rounded.append(b" ".join(fields))
        return rounded

    return _changed(run, "tied", round_off)


def in_form(run: Path, form: str) -> Path:
    """Return the same run in another format."""
    path = run.with_suffix(f".{form}")
    if path.exists():
        return path
    if form == "gz":
        with run.open("rb") as plain, gzip.open(path, "wb", compresslevel=6) as packed:
            shutil.copyfileobj(plain, packed)
        return path
    frame = pl.read_csv(
        run,
        separator=" ",
        has_header=False,
        new_columns=["query_id", "q0", "doc_id", "rank", "score", "tag"],
        schema_overrides=[pl.String] * 4 + [pl.Float64, pl.String],
    ).select("query_id", "doc_id", "score")
    if form == "csv":
        frame.write_csv(path)
    elif form == "parquet":
        frame.write_parquet(path)
    else:
        lists = {
            str(query): dict(zip(part["doc_id"], part["score"], strict=True))
            for (query,), part in frame.group_by("query_id", maintain_order=True)
        }
        path.write_text(json.dumps(lists))
    return path


def _changed(run: Path, name: str, change: Any) -> Path:
    path = run.with_suffix(f".{name}")
    if path.exists():
        return path
    rng = np.random.default_rng(1)
    lines = run.read_bytes().splitlines(keepends=True)
    width = int(run.stem.split("x")[1])
    with path.open("wb") as file:
        for begin in range(0, len(lines), width):
            file.writelines(change(lines[begin : begin + width], rng))
    return path


def frames(n_users: int = 100_000, n_shown: int = 100) -> tuple[Any, Any]:
    """Make interactions and recommendations with int ids."""
    rng = np.random.default_rng(7)
    n_items = 50_000
    start = rng.integers(0, n_items, n_users)
    items = (start[:, None] + np.arange(n_shown)[None, :] * 487) % n_items
    recommended = pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(n_users), n_shown),
            "item_id": items.ravel(),
            "score": np.tile(np.linspace(1, 0.01, n_shown), n_users),
            "rank": np.tile(np.arange(1, n_shown + 1), n_users),
        }
    )
    # Three of ten interactions are among the recommended, the others anywhere.
    liked = (start[:, None] + 13 + np.arange(10)[None, :] * 4871) % n_items
    for column in range(3):
        liked[:, column] = items[np.arange(n_users), rng.integers(0, n_shown, n_users)]
    interactions = pl.DataFrame(
        {"user_id": np.repeat(np.arange(n_users), 10), "item_id": liked.ravel()}
    ).unique(maintain_order=True)
    return interactions, recommended


def beyond(n_users: int = 100_000, n_shown: int = 100) -> tuple[Any, Any, Any, Any]:
    """Make lists, training data, judgements and features, with int ids.

    A few items have most of the interactions, as everywhere.
    """
    rng = np.random.default_rng(11)
    n_items = 20_000
    first = rng.integers(0, n_items, n_users)
    step = rng.integers(0, n_items // 10, n_users) * 10 + 7  # prime to n_items
    items = (first[:, None] + step[:, None] * np.arange(n_shown)[None, :]) % n_items
    lists = pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(n_users), n_shown),
            "item_id": items.ravel(),
            "score": np.tile(np.linspace(1, 0.01, n_shown), n_users),
            "rank": np.tile(np.arange(1, n_shown + 1), n_users),
        }
    )
    train = pl.DataFrame(
        {
            "user_id": rng.integers(0, n_users, 3_000_000),
            "item_id": rng.zipf(1.2, 3_000_000) % n_items,
        }
    ).unique(maintain_order=True)
    liked = items[:, :: n_shown // 5][:, :5]
    truth = pl.DataFrame(
        {"user_id": np.repeat(np.arange(n_users), 5), "item_id": liked.ravel()}
    )
    return lists, train, truth, rng.integers(0, 2, (n_items, 16)).astype(float)


def topics(n_items: int) -> Any:
    """Make a frame with one or two topics for each item."""
    rng = np.random.default_rng(17)
    first, second = rng.integers(0, 20, (2, n_items)).tolist()
    pairs = zip(first, second, strict=True)
    return pl.DataFrame(
        {
            "item_id": np.arange(n_items),
            "topic": [f"t{one}|t{other}" for one, other in pairs],
        }
    )


def log(n_rounds: int = 10_000_000, *, text: bool = False) -> tuple[Path, Any]:
    """Write a log of clicks, and make a policy that shows one item to every user."""
    FOLDER.mkdir(exist_ok=True)
    kind = "-text" if text else ""
    path = FOLDER / f"log-{n_rounds}{kind}.parquet"
    named = {
        part: pl.format(f"{part[0]}{{}}", pl.col(part)) if text else pl.col(part)
        for part in ("user_id", "item_id")
    }
    rng = np.random.default_rng(5)
    n_users, n_items = n_rounds // 10, 500
    if not path.exists():
        pl.DataFrame(
            {
                "user_id": rng.integers(0, n_users, n_rounds),
                "item_id": rng.integers(0, n_items, n_rounds),
                "click": (rng.random(n_rounds) < 0.1).astype(np.int8),
                "propensity": rng.uniform(0.01, 0.2, n_rounds),
            }
        ).with_columns(**named).write_parquet(path)
    policy = pl.DataFrame(
        {
            "user_id": np.arange(n_users),
            "item_id": rng.integers(0, n_items, n_users),
            "predicted": rng.random(n_users),
        }
    )
    return path, policy.with_columns(**named)


def dicts(
    n_queries: int, n_shown: int, n_judged: int
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Make judgements and a run as dicts of dicts."""
    rng = np.random.default_rng(3)
    qrels, run = {}, {}
    for number in range(n_queries):
        items = rng.choice(10 * n_shown, n_shown, replace=False)
        scores = rng.random(n_shown)
        run[f"q{number}"] = {
            f"d{item}": float(score) for item, score in zip(items, scores, strict=True)
        }
        judged = rng.choice(items, n_judged, replace=False)
        grades = rng.integers(0, 3, n_judged)
        qrels[f"q{number}"] = {
            f"d{item}": int(grade) for item, grade in zip(judged, grades, strict=True)
        }
    return qrels, run
