"""The words that logs use for events: the kind of each, and which are unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankine._io.values import kind_of
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from rankine._online.rules import Rules

_WORDS = {
    "exposure": ("exposure", "exposed", "assignment", "experiment_viewed"),
    "impression": ("impression", "impressions", "shown", "view_item_list"),
    "pageview": ("pageview", "page_view", "screen_view", "page", "$pageview"),
    "heartbeat": ("heartbeat", "ping"),
    "automatic": (
        "automatic", "session_start", "session_end", "first_visit", "first_open",
        "user_engagement", "page_leave", "pageleave", "$pageleave", "page_load",
        "page_unload", "view_item", "view_cart", "view_promotion",
        "view_search_results", "video_progress", "video_complete", "app_update",
        "app_remove", "os_update", "app_exception", "exception", "error",
        "notification_receive", "identify", "$identify", "web_vitals", "performance",
    ),
    "click": (
        "click", "clicks", "clicked", "click_through", "item_click", "select_item",
    ),
    "action": (
        "action", "scroll", "share", "search", "add_to_cart", "remove_from_cart",
        "add_to_wishlist", "begin_checkout", "login", "sign_up", "signup", "subscribe",
        "follow", "like", "dislike", "comment", "rate", "rating", "review", "save",
        "bookmark", "download", "file_download", "form_start", "form_submit", "submit",
        "play", "watch", "video_start", "select_content", "select_promotion",
        "add_payment_info", "add_shipping_info", "generate_lead", "hover", "zoom",
        "$autocapture",
    ),
    "refund": ("refund", "refunded", "return"),
    "conversion": ("conversion", "converted", "purchase", "order", "buy", "checkout"),
}  # fmt: skip
_KNOWN = {word: kind for kind, words in _WORDS.items() for word in words}
_SHOWN = 10
"""How many words a note names."""


def as_words(column: pl.Series) -> pl.Series:
    """Return events in lower case, with underscores between words."""
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    return text.str.replace_all(r"[\s-]+", "_")


def as_word(word: object) -> str:
    """Return one event in the form that `as_words` gives it.

    >>> as_word(" Page-View ")
    'page_view'
    """
    if not isinstance(word, str):
        msg = f"an event must be a word, got {kind_of(word)}"
        raise ParameterError(msg)
    return str(as_words(pl.Series([word]))[0])


def known_words(rules: Rules) -> dict[str, str]:
    """Return the kind of each word, including those that the rules add."""
    return {**_KNOWN, **{as_word(word): kind for word, kind in rules.kinds.items()}}


def engaging_words(rules: Rules) -> frozenset[str] | None:
    """Return the events that make a session engaged; None if the rules name none."""
    if rules.engaged is None or isinstance(rules.engaged, (int, float)):
        return None
    return frozenset(map(as_word, rules.engaged))


def notes_on(words: AbstractSet[str], rules: Rules) -> list[str]:
    """Say which words of a log are unknown, and which named words it lacks."""
    known, engaging = known_words(rules), engaging_words(rules) or frozenset()
    named = engaging | ({as_word(rules.exposure)} if rules.exposure else set())
    notes = []
    strange = sorted(words - set(known) - named)
    if strange:
        more = len(strange) - _SHOWN
        rest = f" and {more:,} more" if more > 0 else ""
        notes.append(f"taken as actions: {', '.join(strange[:_SHOWN])}{rest}")
    there = _with_kinds(words, rules)
    notes += _missing("engaged", engaging - there, words)
    notes += without_exposure(words, rules)
    notes += _missing("kinds= or --kind", {*map(as_word, rules.kinds)} - words, words)
    return notes


def without_exposure(words: AbstractSet[str], rules: Rules) -> list[str]:
    """Say that a log has no event that exposes users, if so."""
    named = set() if rules.exposure is None else {as_word(rules.exposure)}
    return _missing("exposure", named - _with_kinds(words, rules), words)


def _with_kinds(words: AbstractSet[str], rules: Rules) -> AbstractSet[str]:
    """Return the words of a log, and the kinds of its events."""
    known = known_words(rules)
    return words | {known.get(word, "action") for word in words}


def _missing(
    option: str, named: AbstractSet[str], words: AbstractSet[str]
) -> list[str]:
    """Say which words an option names although the log does not have them."""
    return [
        f"{option} names {word!r}, but the log has no such event{nearest(word, words)}"
        for word in sorted(named)
    ]
