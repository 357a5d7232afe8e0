"""One rule for ids of two types, wherever two sources meet; and one index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine._join.ids import Index, one_type
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

SAME = "compared as text"
REFUSED = r"give both the same type"


def lists(ids: list[Any], *, value: str) -> pl.DataFrame:
    """Return two lists, of users 1 and 2, with some items."""
    items = [*ids, *reversed(ids)]
    numbers = [3.0, 2.0, 1.0][: len(ids)] * 2
    users = np.repeat([1, 2], len(ids))
    return pl.DataFrame({"user_id": users, "item_id": items, value: numbers})


def logged(ids: list[Any]) -> pl.DataFrame:
    clicks = [1, 0, 1, 0][: len(ids)]
    return pl.DataFrame({"item_id": ids, "click": clicks, "propensity": 0.5})


def texts(ids: list[int], odd: str | None) -> list[str]:
    """Return ids as texts, the last of which may be another one."""
    made = [str(number) for number in ids]
    return made if odd is None else [*made[:-1], odd]


RUN = lists([7, 8, 9], value="score")


def judged(ids: list[Any]) -> Any:
    return rk.evaluate(lists(ids, value="grade"), RUN, "AP")


def judged_from_a_mapping(ids: list[Any]) -> Any:
    qrels = {1: dict.fromkeys(ids, 1), 2: dict.fromkeys(ids, 1)}
    return rk.evaluate(qrels, {1: [7, 8, 9], 2: [9, 8, 7]}, "AP")


def judged_in_a_matrix(ids: list[Any]) -> Any:
    scores = rk.from_scores(
        np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]), queries=[1, 2], items=[7, 8, 9]
    )
    return rk.evaluate(lists(ids, value="grade"), scores, "AP")


def trained(ids: list[Any]) -> Any:
    train = pl.DataFrame({"user_id": [5] * len(ids), "item_id": ids})
    return rk.evaluate(None, RUN, "Popularity@2", train=train)


def featured(ids: list[Any]) -> Any:
    items = dict(zip(ids, ("x", "y", "x"), strict=True))
    return rk.evaluate(None, RUN, "ILD@3", items=items)


def catalogued(ids: list[Any]) -> Any:
    return rk.evaluate(None, RUN, "Coverage@3", catalog=ids)


def found_in_lists(ids: list[Any]) -> Any:
    qrels, train = lists(ids, value="grade"), {1: [9], 2: [7]}
    return rk.evaluate(qrels, RUN, "Serendipity@2", train=train)


def alike(ids: list[Any]) -> Any:
    return rk.similarity(RUN, lists(ids, value="score"), "Jaccard")


def alike_as_mappings(ids: list[Any]) -> Any:
    return rk.similarity({1: [7, 8, 9]}, {1: ids}, "Jaccard")


def estimated(ids: list[Any]) -> Any:
    return rk.ctr(logged([7, 8, 9]), pl.DataFrame({"item_id": ids}), "ips")


def estimated_the_other_way(ids: list[Any]) -> Any:
    return rk.ctr(logged(ids), pl.DataFrame({"item_id": [7, 8, 9]}), "ips")


DOORS: list[Callable[[list[Any]], Any]] = [
    judged,
    judged_from_a_mapping,
    judged_in_a_matrix,
    trained,
    featured,
    catalogued,
    found_in_lists,
    alike,
    alike_as_mappings,
    estimated,
    estimated_the_other_way,
]


def number(found: Any) -> float:
    if hasattr(found, "value"):
        return float(found.value)
    return float(next(iter(found.mean.values())))


@pytest.mark.parametrize("door", DOORS)
def test_plain_texts_of_ints_are_these_ints_and_that_is_said(
    door: Callable[[list[Any]], Any],
) -> None:
    ints, text = door([7, 8, 9]), door(["7", "8", "9"])

    assert number(text) == number(ints)
    assert sum(SAME in note for note in text.notes) == 1
    assert not any(SAME in note for note in ints.notes)


@pytest.mark.parametrize("odd", ["007", "9.0", "+9", "d9", "-0", "9 "])
@pytest.mark.parametrize("door", DOORS)
def test_other_texts_cannot_be_compared_with_ints(
    door: Callable[[list[Any]], Any], odd: str
) -> None:
    with pytest.raises(DataError, match=REFUSED) as caught:
        door(texts([7, 8, 9], odd))

    assert repr(odd) in str(caught.value)
    assert "item ids are text in" in str(caught.value)


def test_users_too() -> None:
    run = lists([7, 8, 9], value="score")
    text = run.with_columns(pl.col("user_id").cast(pl.String))
    padded = run.with_columns(user_id="00" + pl.col("user_id").cast(pl.String))

    same = rk.similarity(run, text, "Jaccard")
    assert same.notes[-1] == (
        "user ids are ints in the first run and text in the second run; compared as "
        "text"
    )
    assert same.per_query["query"].to_list() == [1, 2]
    with pytest.raises(DataError, match=r"query ids are text in the second run"):
        rk.similarity(run, padded, "Jaccard")


def test_sessions_are_called_so() -> None:
    log = logged([7, 8]).with_columns(session_id=pl.Series([1, 2]))
    offered = pl.DataFrame({"session_id": ["1", "2"], "item_id": [7, 8]})

    assert any(
        note.startswith("session ids are ints in")
        for note in rk.ctr(log, offered, "ips").notes
    )


def test_ids_that_do_not_fit() -> None:
    large, small = pl.Series([2**63], dtype=pl.UInt64), pl.Series([-1])

    with pytest.raises(DataError, match=r"UInt64 in a, and -1 in b does not fit"):
        one_type({"a": large, "b": small}, "item", to="a")


def test_nothing_is_said_of_sources_without_ids() -> None:
    none, some = pl.Series([], dtype=pl.Int64), pl.Series(["007"])

    ids, notes = one_type({"a": none, "b": some}, "item", to="a")

    assert notes == ()
    assert {name: column.dtype for name, column in ids.items()} == {
        "a": pl.String,
        "b": pl.String,
    }


def poor_keys(ids: pl.Series, seed: int) -> Any:
    """Give ids that are 7 apart the same key; with the first seeds, all ids."""
    apart = np.uint64(1 if seed < 2 else 7)
    return ids.cast(pl.UInt64).to_numpy() % apart


@pytest.mark.parametrize("few", [0, 4096])
@pytest.mark.parametrize("kind", [pl.String, pl.Int64, pl.UInt64])
def test_an_index_finds_what_it_knows_and_nothing_else(few: int, kind: Any) -> None:
    known = pl.Series([0, 1, 9_000_004, 5]).cast(kind)
    asked = pl.Series([9_000_004, 2, 1, 14, 0, 7, 5, 9_000_011]).cast(kind)

    with limited(few_ids=few, keys=poor_keys):
        number_of = Index(known).find(asked)

    assert number_of.tolist() == [2, -1, 1, -1, 0, -1, 3, -1]


@pytest.mark.parametrize("low", [0, -3, 10**15])
def test_ints_that_lie_close_together_are_looked_up_in_a_table(low: int) -> None:
    known = pl.Series([3, 0, 5]) + low
    asked = pl.Series([5, 4, 3, -1, 6, 0, 100]) + low

    assert Index(known).find(asked).tolist() == [2, -1, 0, -1, -1, 1, -1]
    assert Index(known).find(asked[:3]).tolist() == [2, -1, 0]


def test_ids_that_only_share_their_keys_with_known_ones_are_not_found() -> None:
    """Of 5,000 known ids, some are not where most are: these are compared too."""
    known = pl.Series([f"a{number}" for number in range(5000)])
    strangers = pl.Series([f"b{number}" for number in range(5000)])

    def keys(ids: pl.Series, seed: int) -> Any:
        return ids.str.slice(1).hash(seed=seed).to_numpy()

    with limited(few_ids=0, keys=keys):
        index = Index(known)

        assert (index.find(strangers) == -1).all()
        assert index.find(known).tolist() == list(range(5000))


def test_an_index_of_nothing() -> None:
    none = pl.Series([], dtype=pl.String)

    assert Index(none).find(pl.Series(["a"])).tolist() == [-1]
    assert Index(pl.Series(["a"])).find(none).tolist() == []
