"""Accumulators: merged, copied, pickled; what is refused leaves them as they were."""

from __future__ import annotations

import copy
import pickle
import tempfile
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine._online.sums import COARSE
from rankine.errors import DataError, NoSpaceError, ParameterError
from tests.online.logs import log, user_sums

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL = {"batch_rows": 3, "held_events": 2}


def part(text: str, **rules: Any) -> rk.online.Accumulator:
    return rk.online.Accumulator(["bounce_rate"], by=None, **rules).update(log(text))


def visits(*hours: int, user: str = "u") -> str:
    return "\n".join(f"{user} A {60 * hour} pageview" for hour in hours)


def sessions(total: rk.online.Accumulator) -> int:
    n: int = total.result().table["n"][0]
    return n


def day(number: int) -> str:
    """Return ten visits of each of two users."""
    hours = range(24 * number, 24 * number + 20, 2)
    return visits(*hours) + "\n" + visits(*hours, user="v")


@pytest.mark.slow
@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_days_are_merged_in_any_order(order: tuple[int, ...]) -> None:
    with limited(**SMALL):
        first, *others = (part(day(number)) for number in order)
        for other in others:
            first.merge(other)

        assert sessions(first) == 3 * 2 * 10
        assert [sessions(other) for other in others] == [2 * 10, 2 * 10]


# What is refused


def variants(**columns: Any) -> rk.online.Accumulator:
    """Return what was read of a log; a column that is None is missing."""
    frame = log(visits(3)).with_columns(
        value=pl.lit(1.0), cost=1.0, event=pl.lit("purchase"), currency=pl.lit("EUR")
    )
    frame = frame.with_columns(**{k: pl.lit(v) for k, v in columns.items() if v})
    frame = frame.drop(name for name, value in columns.items() if value is None)
    return rk.online.Accumulator(["roi"], by="country").update(
        frame if "country" in frame.columns else frame.with_columns(country=pl.lit("x"))
    )


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"page": None}, "this part has no column for the page, but those before had"),
        ({"currency": "USD"}, "values in EUR and in USD, which cannot be added up"),
        (
            {"timestamp": "2026-03-01T12:00:00"},
            "this part has times without a zone, but those before have seconds",
        ),
    ],
)
def test_a_merge_that_is_refused_leaves_both_as_they_were(
    columns: dict[str, Any], why: str
) -> None:
    total, other = variants(), variants(country="y", **columns)
    before = total.result().to_dict(), other.result().to_dict()
    with pytest.raises(DataError, match=why):
        total.merge(other)

    assert (total.result().to_dict(), other.result().to_dict()) == before
    total.merge(variants(country="z", user_id="v"))
    assert total.result().table["country"].to_list() == ["x", "z"]


def test_variants_of_a_merge_that_is_refused_are_not_known() -> None:
    """A log without a variant has one group; users of "A" would be left out."""
    frame = log(visits(1)).with_columns(variant=pl.lit(None, pl.String))
    total = rk.online.Accumulator(["bounce_rate"]).update(frame)
    before = total.result().to_dict()
    named = rk.online.Accumulator(["bounce_rate"])
    with pytest.raises(DataError, match="has a column for the value"):
        total.merge(named.update(log(visits(2)).with_columns(value=1.0)))

    assert total.result().to_dict() == before


def test_an_accumulator_is_not_merged_with_itself() -> None:
    total = part(visits(1, 2))
    for own in (total, copy.copy(total)):
        with pytest.raises(ParameterError, match="cannot be merged with itself"):
            total.merge(own)

    assert sessions(total) == 2


def priced(*values: float) -> pl.DataFrame:
    return log(visits(*range(len(values)))).with_columns(
        value=pl.Series(values, dtype=pl.Float64)
    )


def test_a_part_that_is_refused_at_once_changes_nothing() -> None:
    total = rk.online.Accumulator(["bounce_rate"]).update(priced(1, 2))
    with pytest.raises(DataError, match="row 1: value is 1e\\+12"):
        total.update(priced(3, 1e12))

    assert sessions(total) == 2


def test_after_a_part_that_is_refused_half_way_there_is_no_result() -> None:
    total = rk.online.Accumulator(["bounce_rate"]).update(priced(1, 2))
    with limited(**SMALL), pytest.raises(DataError, match="row 4: value is 1e\\+12"):
        total.update(priced(3, 4, 5, 6, 1e12))
    whole = rk.online.Accumulator(["bounce_rate"]).update(priced(1, 2))

    for go_on in (
        total.result,
        total.counts,
        lambda: total.update(priced(1)),
        lambda: total.merge(whole),
        lambda: whole.merge(total),
        pickle.loads(pickle.dumps(total)).result,  # noqa: S301
    ):
        with pytest.raises(DataError, match=r"failed halfway.*; create a new Acc"):
            go_on()
    assert sessions(whole) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk here")
@pytest.mark.parametrize("way", ["update", "merge"])
def test_a_full_disk_is_said(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: Any) -> Any:
        return Path("/dev/full").open("rb+", buffering=0)

    words = (
        "the events do not fit into the temporary folder .* "
        r"\(No space left on device\); set TMPDIR to a folder with more room"
    )
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    total, more = part(visits(1), memory_limit=1), log(visits(2, 3))
    other = rk.online.Accumulator(["bounce_rate"], by=None).update(more)
    with limited(held_events=2), pytest.raises(NoSpaceError, match=words):
        total.update(more) if way == "update" else total.merge(other)

    with pytest.raises(DataError, match="failed halfway"):
        total.result()
    assert sessions(other) == 2


def test_a_result_for_which_memory_was_short_may_be_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two parts wait to be divided by user, in the second of which memory runs out."""
    total = rk.online.Accumulator(["ctr"], by=None, duplicates="keep")
    with limited(held_events=7):
        for _ in range(5):
            users = [1, 2, 3]
            total.update(pl.DataFrame({"user_id": users, "event": "impression"}))
        with monkeypatch.context() as patched:
            answers = [np.zeros(3, np.uint16)]
            name = "rankine._online.log._buckets"
            patched.setattr(name, lambda _: answers.pop())
            with pytest.raises(IndexError):
                total.result()

        assert sessions(total) == 5 * 3


# Copies


@pytest.mark.slow
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))],  # noqa: S301
)
@pytest.mark.parametrize("memory", [None, 1])
@pytest.mark.parametrize("held", [2, 100])
def test_a_copy_has_its_own_events(
    copied: Callable[[Any], Any], held: int, memory: int | None
) -> None:
    with limited(held_events=held):
        total = part(visits(*range(5)), memory_limit=memory)
        other = copied(total)
        total.update(log(visits(5, 6, 7)))
        other.update(log(visits(9)))

        assert (sessions(total), sessions(other)) == (5 + 3, 5 + 1)
        # What both had counts once, as it is the same row.
        assert sessions(copied(total).merge(copied(other))) == 5 + 3 + 1
        assert (sessions(total), sessions(other)) == (5 + 3, 5 + 1)


def test_events_on_disk_are_gone_with_their_accumulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with limited(held_events=2):
        total = part(visits(*range(5)), memory_limit=1)

        assert sessions(total) == 5
    assert not list(tmp_path.iterdir())  # the file has no name


# What is known of all parts


def dated(*days: str) -> pl.DataFrame:
    return pl.DataFrame(
        {"user_id": "u", "timestamp": list(days), "event": "pageview", "page": "x"}
    )


@pytest.mark.parametrize("way", ["update", "merge"])
def test_duplicates_are_known_once_a_part_has_times(way: str) -> None:
    days, times = dated("2026-03-01", "2026-03-01"), dated("2026-03-02T09:30:00")
    total = rk.online.Accumulator(["bounce_rate"], by=None).update(days)
    assert COARSE in total.result().notes
    assert total.result().table["n"].to_list() == [1]
    if way == "update":
        total.update(times)
    else:
        total.merge(rk.online.Accumulator(["bounce_rate"], by=None).update(times))

    result = total.result()

    assert COARSE not in result.notes
    assert result.excluded == {"duplicate events": 1}
    both = rk.online.summarize(pl.concat([days, times]), ["bounce_rate"], by=None)
    assert result.to_dict() == both.to_dict()


@pytest.mark.parametrize("users", ["uu", "uv"])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_retry_may_be_in_another_part(order: list[int], users: str) -> None:
    """Two users who share an id both count; of those of a user, the earliest does."""
    first, second = users[0], users[1]
    frame = log(f"{first} A 5 impression\n{second} B 0 impression")[order]
    frame = frame.with_columns(event_id=pl.lit("same"))
    total = rk.online.Accumulator(["ctr"], by=None).update(frame[:1])
    total.merge(rk.online.Accumulator(["ctr"], by=None).update(frame[1:]))

    again = {"duplicate events": 1} if first == second else {}
    assert user_sums(total).frame["user"].to_list() == sorted(set(users))
    assert total.result().table["n"].to_list() == [2 - len(again)]
    assert total.result().excluded == again
