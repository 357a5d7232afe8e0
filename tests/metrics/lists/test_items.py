"""Features, topics and catalogues of items: which columns count, what is refused."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy import sparse

import rankine as rk
from rankine.cli import cli
from rankine.errors import DataError, ParameterError, RankineError
from tests.metrics.lists.mean import one

if TYPE_CHECKING:
    from pathlib import Path


# --- features


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("emb", [[1.0, 2.0], [2.0, 0.0]]),
        pl.Series("emb", [[1.0, 2.0], [2.0, 0.0]], dtype=pl.Array(pl.Float64, 2)),
        pl.Series("emb", [[1, 2], [2, 0]]),
    ],
    ids=["lists", "arrays", "ints"],
)
def test_a_column_of_vectors_is_features(column: pl.Series) -> None:
    frame = pl.DataFrame({"item": ["a", "c"]}).with_columns(column)

    for items in (frame, frame.to_pandas(), frame.to_arrow()):
        value = one(None, {"u": ["a", "c"]}, "ILD", items=items)
        assert value == pytest.approx(1 - 2 / math.sqrt(5 * 4))


def test_vectors_of_several_lengths_are_refused() -> None:
    items = pl.DataFrame({"item": ["a", "c"], "emb": [[1.0, 2.0], [2.0]]})

    with pytest.raises(DataError, match="differ in length"):
        rk.evaluate(None, {"u": ["a", "c"]}, "ILD", items=items)


def test_columns_of_series_are_features() -> None:
    for make in (pd.Series, pl.Series, np.array):
        items = {"a": make([1.0, 0.0]), "b": make([0.0, 1.0])}
        assert one(None, {"u": ["a", "b"]}, "ILD", items=items) == 1


def test_features_may_be_huge_tiny_or_sparse() -> None:
    for size in (1e200, 1e-200):
        items = {"a": [size, size], "b": [size, size], "c": [size, 0.0]}
        assert one(None, {"u": ["a", "b"]}, "ILD", items=items) == pytest.approx(0)
    matrix = sparse.csr_array(np.random.default_rng(1).integers(0, 2, (60, 50)))
    lists = {"u": [3, 5, 8], "v": [1, 2]}
    for metric in ("ILD", "ILD(distance='euclidean')"):
        value = one(None, lists, metric, items=matrix)
        assert value == pytest.approx(one(None, lists, metric, items=matrix.toarray()))


def test_a_column_of_items_by_any_of_its_names() -> None:
    items = pl.DataFrame({"movieId": ["a", "b"], "genre": ["x", "y"]})

    assert one(None, {"u": ["a", "b"]}, "ILD", items=items) == 1


def test_columns_of_features_may_be_chosen() -> None:
    films = pl.DataFrame(
        {
            "item_id": ["a", "b", "c"],
            "genres": ["war", "love", "war"],
            "title": ["x", "y", "z"],
            "year": [1990, 2000, 2010],
        }
    )
    lists = {"u": ["a", "c"], "v": ["a", "b"]}

    every = rk.evaluate(None, lists, "ILD", items=films)
    # One number alone says nothing of a direction, and a note says what was taken.
    assert every.mean == {"ILD": 0.0}
    left_out, said = every.notes
    assert left_out.startswith("items: 'title' is not used as a topic, as nearly")
    assert "genres as topics and year as features" in said
    assert all("--col features=NAME" in note for note in every.notes)

    for told in ("genres", ["genres"]):
        ev = rk.evaluate(None, lists, "ILD", items=films, columns={"features": told})
        assert ev.per_query["ILD"].to_list() == [0, 1]
        assert not ev.notes
    with pytest.raises(DataError, match=r"no feature column 'genre'.*genres"):
        rk.evaluate(None, lists, "ILD", items=films, columns={"features": "genre"})
    with pytest.raises(DataError, match="no feature column 'item_id'"):
        rk.evaluate(None, lists, "ILD", items=films, columns={"features": "item_id"})


def test_lenient_reaches_items_too() -> None:
    films = pl.DataFrame({"item_id": ["a", None, "b"], "genres": ["x", "y", "z"]})
    lists = {"u": ["a", "b"]}

    with pytest.raises(DataError, match="missing"):
        rk.evaluate(None, lists, "ILD", items=films)
    assert rk.evaluate(None, lists, "ILD", items=films, lenient=True).mean == {"ILD": 1}


def test_columns_of_features_on_the_command_line(tmp_path: Path) -> None:
    films, run = tmp_path / "films.csv", tmp_path / "run.csv"
    films.write_text("film,kind,year\na,war,1990\nb,love,1991\n")
    run.write_text("user_id,film,score\nu,a,2\nu,b,1\n")
    done = CliRunner().invoke(
        cli,
        [
            "evaluate", "--no-qrels", str(run), "-m", "ILD", "--items", str(films),
            "--col", "item=film", "--col", "features=kind", "--json",
        ],
    )  # fmt: skip

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)[0]["metrics"]["ILD"]["value"] == 1


@pytest.mark.parametrize(
    ("metric", "items"),
    [
        ("Calibration", {"a": [], "b": []}),
        ("ILD", {"a": "x", 3: "y"}),
        ("ILD", lambda _, __: "far"),
        ("ILD", lambda _, __: None),
    ],
    ids=["no topics", "types", "text", "none"],
)
def test_odd_items_are_one_sentence(metric: str, items: Any) -> None:
    with pytest.raises(RankineError):
        rk.evaluate(None, {"u": ["a", "b"]}, metric, items=items, train={"u": ["a"]})


def test_two_functions_of_one_name_are_refused() -> None:
    metrics = [rk.ILD(distance=lambda _, __: 1), rk.ILD(distance=lambda _, __: 2)]

    with pytest.raises(ParameterError, match="two metrics are called"):
        rk.evaluate(None, {"u": ["a", "b"]}, metrics, items={"a": [1], "b": [2]})


# --- whose items are the catalogue, and which texts are topics


def test_a_function_of_items_is_no_catalogue() -> None:
    for metric in ("Coverage", "Gini", "Entropy(scale='max')"):
        with pytest.raises(ParameterError, match="needs the catalogue"):
            rk.evaluate(None, {"u": ["a"]}, metric, items=lambda _, __: 1.0)


def test_a_frame_is_no_catalogue() -> None:
    frame = pd.DataFrame({"item": ["a", "b", "c"]})

    with pytest.raises(ParameterError, match="give its column"):
        rk.evaluate(None, {"u": ["a", "b"]}, "Coverage", catalog=frame)
    for column in (frame["item"], pa.array(["a", "b", "c"])):
        value = one(None, {"u": ["a", "b"]}, "Coverage", catalog=column)
        assert value == pytest.approx(2 / 3)


def test_the_catalogue_that_nobody_gave_is_told() -> None:
    lists = {"u": ["a", "b"], "v": ["a", "c"]}
    train = {"u": ["c", "d"], "v": ["a", "b", "e"]}
    items = dict.fromkeys("abcdef", "t")

    by_train = rk.evaluate(None, lists, "Coverage@2", train=train, items=items)
    by_items = rk.evaluate(None, lists, ["Coverage@2", "Gini"], items=items)
    given = rk.evaluate(None, lists, "Coverage@2", train=train, catalog=10)

    assert by_train["Coverage@2"] == 3 / 5
    assert by_train.notes == (
        (
            "the catalogue is assumed to be the 5 items of train=; "
            "give another with catalog="
        ),
    )
    assert by_items["Coverage@2"] == 3 / 6
    assert by_items.notes == (
        (
            "the catalogue is assumed to be the 6 items of items=; "
            "give another with catalog="
        ),
    )
    assert given["Coverage@2"] == 3 / 10
    assert given.notes == ()


def test_metrics_that_need_no_catalogue_say_nothing_of_it() -> None:
    items = {"a": "t", "b": "s"}

    assert rk.evaluate(None, {"u": ["a", "b"]}, "ILD", items=items).notes == ()
    counted = rk.evaluate(None, {"u": ["a"]}, "Coverage(share=False)", items=items)
    assert counted.notes == ()


def test_batches_say_once_whose_items_are_the_catalogue() -> None:
    lists = {"u": ["a", "b"], "v": ["a", "c"]}
    train = {"u": ["c", "d"], "v": ["a", "b", "e"]}
    batches, others = (rk.Accumulator("Coverage@2", train=train) for _ in range(2))
    batches.update({"u": lists["u"]})
    others.update({"v": lists["v"]})
    batches.merge(others)

    whole = rk.evaluate(None, lists, "Coverage@2", train=train)

    assert batches.result().notes == whole.notes
    assert len(whole.notes) == 1


def films(n: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "item_id": [f"i{at}" for at in range(n)],
            "title": [f"Film {at}" for at in range(n)],
            "genres": ["war|love" if at % 2 else "war" for at in range(n)],
        }
    )


@pytest.mark.parametrize("n", [3, 40])
def test_titles_are_no_topics(n: int) -> None:
    lists = {"u": ["i0", "i2"]}

    ev = rk.evaluate(None, lists, "ILD", items=films(n))
    told = {"features": ["title", "genres"]}
    both = rk.evaluate(None, lists, "ILD", items=films(n), columns=told)

    # Both are war films; with the titles, one of two topics of each is shared.
    assert ev["ILD"] == 0
    assert both["ILD"] == pytest.approx(1 - 1 / 2)
    (said,) = ev.notes
    assert said == (
        "items: 'title' is not used as a topic, as nearly every text in it is "
        "different; to use it, give columns={'features': ...} or --col features=NAME"
    )
    assert both.notes == ()


@pytest.mark.parametrize("kind", ["token_seq", "token"])
@pytest.mark.parametrize("title", ["movie_title", "title", "name", "Description"])
def test_words_of_titles_are_no_topics(title: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "films.item"
    path.write_text(
        f"item_id:token\t{title}:{kind}\tclass:token_seq\n"
        "a\tToy Story\tAnimation Comedy\nb\tFour Rooms\tThriller\n"
        "c\tThe Toy\tComedy\nd\tThe Four Stories\tDrama\n"
    )
    run, metric = {"u": ["a"]}, "TopicDiversity@1"

    ev = rk.evaluate(None, run, metric, items=path)
    told = {"features": [title, "class"]}
    both = rk.evaluate(None, run, metric, items=path, columns=told)

    assert ev["TopicDiversity@1"] == 2  # Animation and Comedy
    assert both["TopicDiversity@1"] == (4 if kind == "token_seq" else 3)
    assert f"{title!r} is not used as a topic" in ev.notes[0]


def test_a_few_different_texts_may_be_topics() -> None:
    few = pl.DataFrame({"item_id": ["a", "b", "c"], "topic": ["x", "y", "z"]})

    ev = rk.evaluate(None, {"u": ["a", "b"]}, "ILD", items=few)

    assert ev["ILD"] == 1
    assert ev.notes == ()


def test_combinations_of_few_topics_are_topics() -> None:
    pairs = [f"{first}|{second}" for first in "abcdef" for second in "abcdef"][:30]
    frame = pl.DataFrame({"item_id": [f"i{at}" for at in range(30)], "tags": pairs})

    assert rk.evaluate(None, {"u": ["i0", "i9"]}, "ILD", items=frame).notes == ()


def test_titles_alone_are_refused_where_features_are_needed() -> None:
    titles = films(40).drop("genres")
    lists = {"u": ["i0", "i1"]}

    for metric in ("ILD", "AWRF"):
        with pytest.raises(
            DataError, match=r"only texts that are nearly all different"
        ):
            rk.evaluate(None, lists, metric, items=titles)
    covered = rk.evaluate(None, lists, "Coverage", items=titles)
    told = rk.evaluate(None, lists, "ILD", items=titles, columns={"features": "title"})

    assert covered["Coverage"] == 2 / 40
    assert told["ILD"] == 1


def test_a_topic_that_repeats_counts_once() -> None:
    metrics = ["alpha_nDCG", "ERR_IA"]
    items = {"a": ["war", "war"], "b": ["love"]}

    ev = rk.evaluate({"u": {"a": 1, "b": 1}}, {"u": ["a", "b"]}, metrics, items=items)

    assert ev.mean == {"alpha_nDCG": 1.0, "ERR_IA": (1 / 2 + 1 / 4) / 2}


def test_many_topics_take_little_room() -> None:
    items = {f"i{n}": f"title {n}" for n in range(30_000)}

    assert one(None, {"u": ["i1", "i2"]}, "ILD", items=items) == 1
