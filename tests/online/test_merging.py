"""Merging accumulators: what is refused leaves them as they were, and what is told."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from rankine._online.kept import COARSE

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import DataError
from tests.online.logs import log

LATE = "came after a later one of the same user; sorted by time"


def part(text: str, **rules: Any) -> rk.online.Accumulator:
    return rk.online.Accumulator(["bounce_rate"], by=None, **rules).update(log(text))


def visits(*hours: int, user: str = "u") -> str:
    return "\n".join(f"{user} A {60 * hour} pageview" for hour in hours)


def said(total: rk.online.Accumulator) -> dict[str, Any]:
    return total.result().to_dict()


@pytest.mark.parametrize(
    ("theirs", "why"),
    [
        (
            visits(*range(2, 8)),
            "user 'u' has sessions in one part between those of the other",
        ),
        (visits(4), "user 'u' has an event of"),
        (visits(4, user="v") + "\n" + visits(2, 3), "user 'u' has"),
    ],
    ids=["sums amid sums", "an event amid sums", "and of another user"],
)
def test_a_refused_merge_leaves_all_as_it_was(theirs: str, why: str) -> None:
    with limited(held_events=2, batch_rows=3):
        total, other = part(visits(*range(9))), part(theirs)
        before, of_other = said(part(visits(*range(9)))), said(part(theirs))
        with pytest.raises(DataError, match=why):
            total.merge(other)
        assert said(total) == before
        assert said(other) == of_other

        total.merge(part(visits(20, 21, 22)))
        total.update(log(visits(30)))

    assert total.result().table["n"].to_list() == [13]


def test_other_columns_are_refused_and_leave_all_as_it_was() -> None:
    total = part(visits(1, 2))
    plain = rk.online.Accumulator(["bounce_rate"], by=None)
    plain.update(log(visits(3)).with_columns(value=1.0))
    with pytest.raises(DataError, match="has a column for the value"):
        total.merge(plain)

    assert total.merge(part(visits(5))).result().table["n"].to_list() == [3]


def test_events_that_are_late_are_counted_where_parts_meet() -> None:
    first, second = visits(5) + "\n" + visits(1, user="v"), visits(3, 6, 4)
    whole = part(first + "\n" + second)
    merged = part(first).merge(part(second))

    assert f"2 events {LATE}" in whole.result().notes
    assert f"2 events {LATE}" in merged.result().notes
    more = merged.merge(part(visits(3, user="v") + "\n" + visits(2)))
    assert f"3 events {LATE}" in more.result().notes


def test_parts_in_the_order_of_time_have_no_late_events() -> None:
    merged = part(visits(1, 2)).merge(part(visits(2, 3))).merge(part(visits(4)))

    assert not [note for note in merged.result().notes if LATE in note]


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
    assert result.table.equals(both.table, null_equal=True)
    assert result.excluded == both.excluded


@pytest.mark.parametrize("users", ["ab", "ba"])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_of_one_id_the_earliest_event_counts(order: list[int], users: str) -> None:
    first, second = users[0], users[1]
    frame = log(f"{first} A 0 impression\n{second} A 5 impression")[order]
    frame = frame.with_columns(event_id=pl.lit("same"))
    total = rk.online.Accumulator(["ctr"], by=None).update(frame)

    assert total.sums().frame["user"].to_list() == [first]


def day(number: int) -> str:
    """Return ten visits of each of two users."""
    hours = range(24 * number, 24 * number + 20, 2)
    return visits(*hours) + "\n" + visits(*hours, user="v")


@pytest.mark.parametrize(
    ("order", "updates", "merges"),
    [
        ((0, 1, 2), True, True),
        ((1, 0, 2), True, True),
        ((1, 2, 0), True, True),
        ((2, 1, 0), True, True),
        ((2, 0, 1), True, False),  # the earlier day was kept as events
        ((0, 2, 1), False, False),
    ],
)
def test_days_may_come_in_any_order_but_between_two_that_are_summed_up(
    order: tuple[int, ...], *, updates: bool, merges: bool
) -> None:
    def added_up(*, as_parts: bool) -> bool:
        total = part(day(order[0]))
        for number in order[1:]:
            more = part(day(number))
            try:
                total = (
                    total.merge(more) if as_parts else total.update(log(day(number)))
                )
            except DataError:
                return False
        assert total.result().table["n"].to_list() == [3 * 2 * 10]
        return True

    with limited(held_events=5):
        assert added_up(as_parts=False) is updates
        assert added_up(as_parts=True) is merges
