"""Which column is the query, the item, the score, the click: by name, or as given.

One table of names and one way to choose serve runs, judgements, logs, recommendations
and the features of items.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from rankine._io.values import kind_of
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    FormatError,
    ParameterError,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

Role = Literal["qrels", "run"]
TableRole = Literal["logged", "recommended", "items", "weights"]
"""What a table is, if it is neither judgements nor a run."""

# Names in one tuple are of equal standing: two of them in one table are ambiguous.
# MemoryAtEnd tuples hold names that also have another meaning, and are asked last.
_QUERY = (
    (
        "query_id", "qid", "q_id", "query-id", "user_id", "userid", "uid", "u_id",
        "session_id", "sessionid", "topic_id",
    ),
    ("query", "user", "topic"),
)  # fmt: skip
_ITEM = (
    (
        "item_id", "itemid", "iid", "i_id", "doc_id", "docno", "did", "d_id",
        "corpus-id", "corpus_id", "document_id", "document-id", "movieid", "movie_id",
        "object_id", "pid",
    ),
    ("item", "docid", "doc", "document"),
    ("items", "docs", "doc_ids", "item_ids"),
)  # fmt: skip
# A record may hold both what was retrieved and what is relevant: the role decides.
_OF_ROLE = {
    "run": ("retrieved", "retrieved_ids", "recommended", "recommendations", "results"),
    "qrels": ("relevant", "relevant_ids", "expected", "ground_truth", "truth"),
}
_GRADE = (
    (
        "grade", "relevance", "rel", "label", "target", "true", "true_rating",
        "actual", "r_ui",
    ),
    ("rating", "score", "click", "weight", "reward"),
)  # fmt: skip
_SCORE = (
    (
        "score", "sim", "prediction", "pred", "predicted", "predicted_rating", "est",
        "output",
    ),
    ("rating", "weight"),
)  # fmt: skip
_RANK = (("rank", "position", "ordinal"), ("pos",))
# What the objects in a list may have besides.
_IN_OBJECTS = {"item": ("id", "_id"), "score": ("_score",)}
_RATINGS = {"rating", "ratings", "true_rating", "r_ui", "stars", "star_rating"}
_OF_BEIR = {"corpus-id", "corpus_id"}
_SUBTOPIC = (("subtopic", "subtopic_id", "sub_topic", "aspect", "intent"),)

ALIASES = {
    "query": _QUERY,
    "item": _ITEM,
    "grade": _GRADE,
    "score": _SCORE,
    "rank": _RANK,
    "subtopic": _SUBTOPIC,
}
# The first name that the table has is used here, and none is ambiguous.
ALIASES_OF_TABLES: dict[str, tuple[str, ...]] = {
    "user": tuple(name for tier in _QUERY for name in tier),
    "item": tuple(name for tier in _ITEM[:2] for name in tier),
    "reward": ("click", "reward", "clicked", "clicks"),
    "propensity": ("propensity", "propensity_score", "pscore"),
    "predicted": ("predicted", "predicted_reward", "prediction", "expected_reward"),
    "probability": ("probability", "prob", "policy_probability"),
    "position": ("position", "slot"),
    "weight": ("weight", "weights", "frequency", "count", "traffic"),
}
"""The parts of logs and recommendations, and by which names they are known."""
UNITS: dict[str, tuple[str, ...]] = {
    "user": ("user_id", "userid", "uid", "u_id", "user"),
    "query": ("query_id", "qid", "q_id", "query-id", "query"),
    "session": ("session_id", "sessionid"),
    "topic": ("topic_id", "topic"),
}
"""Kinds of ids by which rounds are matched; one kind is never matched with another."""
PARTS: dict[TableRole, tuple[str, ...]] = {
    "logged": ("user", "item", "reward", "propensity", "position"),
    "recommended": ("user", "item", "predicted", "probability", "position"),
    "items": ("item",),
    "weights": ("user", "weight"),
}
"""What each table may hold."""
NAMES = {alias for tiers in ALIASES.values() for tier in tiers for alias in tier}
"""The names of columns that are known in judgements and runs."""
NAMES_OF_TABLES = NAMES.union(*ALIASES_OF_TABLES.values())
"""The names of columns that are known in any table."""
NO_COLUMN = "-"
"""What stands for a column that does not exist."""
_OF_ITEMS = {
    "title", "titles", "name", "item_name", "movie_name", "book_name", "product_name",
    "app_name", "description", "abstract", "summary", "overview",
}  # fmt: skip
"""Columns that name or describe single items; so does any that ends with _title."""
_UNNAMED = re.compile(r"column \d+")
"""What a column without a name in the header is called."""
_HARMLESS = {
    "", "timestamp", "time", "date", "ts", "unix_timestamp", "iteration", "iter", "q0",
    "fold", "split", "index", "level_0", "unnamed: 0", "year",
}  # fmt: skip


def is_of_single_items(name: str) -> bool:
    """Say whether a column names or describes items, and does not group them.

    >>> is_of_single_items("movie_title"), is_of_single_items("class")
    (True, False)
    """
    folded = name.casefold()
    return folded in _OF_ITEMS or folded.endswith(("_title", " title"))


def lacks_numbers(
    column_of: Mapping[str, str], role: Role, columns: Mapping[str, Any] | None
) -> bool:
    """Say whether nothing has been found for a grade, a score or a rank, nor told."""
    value = "grade" if role == "qrels" else "score"
    return value not in (columns or {}) and column_of.keys() <= {
        "query",
        "item",
        "subtopic",
    }


def refuse_leftover(
    column_of: Mapping[str, str], numeric: Sequence[str], role: Role, name: str
) -> None:
    """Refuse a table without grades or scores that has another column of numbers.

    It may be the grade or the score under an unknown name, and leaving it out would
    silently give another number.
    """
    value = "grade" if role == "qrels" else "score"
    used = set(column_of.values())
    left = [
        column
        for column in numeric
        if column not in used
        and column.casefold() not in _HARMLESS
        and not _UNNAMED.fullmatch(column)
    ]
    if left:
        msg = (
            f"{name} has no column with a known name for the {value}, but has numbers "
            f"in {_listed(left)}; say which one to use with columns={{{value!r}: "
            f"{left[0]!r}}} or --col {value}={left[0]}, or, if there is none, "
            f"--col {value}={NO_COLUMN}"
        )
        raise ColumnNotFoundError(msg)


def check_parts(columns: Mapping[Any, Any], parts: Collection[str] = ALIASES) -> None:
    """Refuse parts that no table has, and columns without a name or a number."""
    for part in columns:
        if not isinstance(part, str) or part not in parts:
            msg = (
                f"columns has no part {part!r}; the parts are "
                f"{', '.join(parts)}{nearest(str(part), parts)}"
            )
            raise ParameterError(msg)
        column = columns[part]
        if not (column is None or isinstance(column, (str, int))):
            kind = kind_of(column)
            msg = f"columns maps {part!r} to {kind}; expected a name or a number"
            raise ParameterError(msg)


def resolve(
    names: Sequence[str],
    role: Role,
    columns: Mapping[str, Any] | None,
    name: str,
    *,
    subtopics: bool = False,
) -> dict[str, str]:
    """Say which of the columns found plays which part.

    Returns:
        For qrels the names of query, item and grade, and of the subtopic if that is
        asked for; for a run those of query, item, score and rank. The last two of a
        run, the grade and the subtopic may be missing.
    """
    parts = ["query", "item", *(("score", "rank") if role == "run" else ("grade",))]
    if subtopics and role == "qrels":
        parts.append("subtopic")

    folded = _folded(names)

    def by_name(part: str) -> str | None:
        return _by_alias(folded, part, name, role)

    chosen = choose(names, parts, columns or {}, name, by_name)
    for part in ("query", "item"):
        if part not in chosen:
            known = ", ".join(ALIASES[part][0][:6])
            likely = _likely(names, part)
            msg = (
                f"{name} has no column for the {part}; it has {_listed(names)}, and "
                f"names such as {known} are recognised; say which one to use, e.g. "
                f"columns={{'{part}': {likely!r}}} or --col {part}={likely}"
            )
            raise ColumnNotFoundError(msg)
    if not columns:
        _refuse_swapped(names, chosen, role, name)
    return chosen


def resolve_object(
    names: Sequence[str],
    role: Role,
    given: Mapping[str, Any],
    name: str,
) -> dict[str, str]:
    """Say which key of the objects in a list is the item, and which its number.

    Args:
        names: the keys.
        role: what the lists are.
        given: what the user says about keys.
        name: what to call the lists in messages.
    """
    folded = _folded(names)

    def by_name(part: str) -> str | None:
        known = _by_alias(folded, part, name, role)
        plain = next((key for key in _IN_OBJECTS.get(part, ()) if key in names), None)
        # "document" beside "id" is a text, and "doc_id" says more than "id" does.
        named = known is not None and known.casefold().endswith(("id", "no"))
        return plain or known if part == "item" and not named else known or plain

    value = "grade" if role == "qrels" else "score"
    parts = ["item", value, *(("rank",) if role == "run" else ())]
    chosen = choose(names, parts, given, name, by_name)
    if "item" not in chosen:
        msg = (
            f"{name} has lists of objects without an id; they have {_listed(names)}, "
            "and names such as id, item_id, doc_id are recognised; say which one to "
            "use, e.g. columns={'item': ...} or --col item=NAME"
        )
        raise ColumnNotFoundError(msg)
    return chosen


def resolve_table(
    names: Sequence[str], table: TableRole, columns: Mapping[str, Any], name: str
) -> dict[str, str]:
    """Say which of the columns found plays which part of a log or of items.

    Returns:
        The names of the columns of the parts that are there.
    """

    def by_name(part: str) -> str | None:
        return next(iter(known_columns(names, part)), None)

    return choose(names, PARTS[table], columns, name, by_name)


def choose(
    names: Sequence[str],
    parts: Sequence[str],
    columns: Mapping[str, Any],
    name: str,
    by_name: Callable[[str], str | None],
) -> dict[str, str]:
    """Return the column of each part that is there: as given, or by its name."""
    chosen: dict[str, str] = {}
    for part in parts:
        if part in columns:
            column = told_column(names, columns[part], name)
        else:
            column = by_name(part)
        for other, taken in chosen.items():
            if column == taken:
                msg = f"{name}: {column!r} cannot be both the {other} and the {part}"
                raise ParameterError(msg)
        if column is not None:
            chosen[part] = column
    return chosen


def no_part(names: Sequence[str], part: str, name: str, what: str) -> DataError:
    """Say that a table lacks a part, and how its column can be named."""
    msg = (
        f"{name} has no {what}; it has {', '.join(names)}, and names such as "
        f"{', '.join(ALIASES_OF_TABLES[part][:3])} are recognised; say which one to "
        f"use with columns={{{part!r}: ...}} or --col {part}=NAME"
    )
    return ColumnNotFoundError(msg)


def known_columns(
    names: Sequence[str],
    part: str,
    aliases_of: Mapping[str, tuple[str, ...]] = ALIASES_OF_TABLES,
) -> list[str]:
    """Return the columns that may be a part of a table, the likeliest first.

    An exact spelling comes before one that differs in case.

    >>> known_columns(["Click", "item_id", "reward"], "reward")
    ['reward', 'Click']
    """
    folded: dict[str, str] = {}
    for column in names:
        folded.setdefault(column.casefold(), column)
    aliases = aliases_of[part]
    exact = [alias for alias in aliases if alias in names]
    others = [folded[alias] for alias in aliases if alias in folded]
    return list(dict.fromkeys(exact + others))


def unit_of(column: str) -> str | None:
    """Say what kind of ids a column has: of users, queries, sessions or topics."""
    folded = column.casefold()
    return next((unit for unit, names in UNITS.items() if folded in names), None)


def told_column(names: Sequence[str], given: Any, name: str) -> str | None:
    """Return the column given by its name or its number, None if there is none."""
    if given is None or given == NO_COLUMN:
        return None
    column = str(given)
    if column not in names and is_place(column) and 1 <= int(column) <= len(names):
        return names[int(column) - 1]
    if column not in names:
        msg = (
            f"{name} has no column {column!r}; it has {_listed(names)}"
            f"{nearest(column, names)}"
        )
        raise ColumnNotFoundError(msg)
    return column


def _refuse_swapped(
    names: Sequence[str],
    chosen: Mapping[str, str],
    role: Role,
    name: str,
) -> None:
    """Refuse what is plainly a run given as judgements, and the other way round."""
    folded = {column.casefold() for column in names}
    grade = chosen.get("grade", "").casefold()
    if role == "qrels" and grade == "score" and folded & set(_RANK[0]):
        word = "a run: it has a score and a rank"
    elif (
        role == "run"
        and not {"score", "rank"} & set(chosen)
        and folded & {"grade", "relevance", "rel", "label"}
    ):
        word = "judgements: it has grades and neither score nor rank"
    else:
        return
    msg = (
        f"{name} looks like {word}; are the arguments swapped? If not, name the "
        "columns with columns= or --col"
    )
    raise FormatError(msg)


def swap_warnings(
    column_of: Mapping[str, str],
    role: Role,
    columns: Mapping[str, Any] | None,
    name: str,
) -> tuple[str, ...]:
    """Warn about judgements that have a score, and about a run that has a rating.

    Such names are accepted for both, as in BEIR's judgements, whose grades are called
    scores; a user who names the column knows what it is.
    """
    value, other = ("grade", "score") if role == "qrels" else ("score", "rating")
    column = column_of.get(value, "")
    of_beir = role == "qrels" and column_of["item"].casefold() in _OF_BEIR
    if value in (columns or {}) or column.casefold() != other or of_beir:
        return ()
    whose = "runs" if role == "qrels" else "judgements"
    said = (
        f"{name}: the column {column!r} is used as the {value}, but usually {whose} "
        "have such a column; are judgements and run swapped? If not, give "
        f"columns={{{value!r}: {column!r}}} or --col {value}={column}"
    )
    return (said,)


def is_rating(column: str) -> bool:
    """Say whether a column has ratings, by its name.

    >>> is_rating("Rating"), is_rating("grade")
    (True, False)
    """
    return column.casefold() in _RATINGS


def is_place(text: str) -> bool:
    """Say whether this is the number of a column."""
    return bool(re.fullmatch(r"[0-9]{1,6}", text))


def _likely(names: Sequence[str], part: str) -> str:
    """Return the column whose name is nearest to a known name of a part."""
    folded = {column.casefold(): column for column in names}
    for alias in ALIASES[part][0]:
        near = get_close_matches(alias, folded, n=1, cutoff=0.6)
        if near:
            return folded[near[0]]
    return "NAME"


def _folded(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns by their names without regard to case."""
    folded: dict[str, list[str]] = {}
    for column in names:
        folded.setdefault(column.casefold(), []).append(column)
    return folded


def _by_alias(
    folded: Mapping[str, list[str]], part: str, name: str, role: Role
) -> str | None:
    tiers = ALIASES[part]
    if part == "item":
        tiers = (*tiers, _OF_ROLE[role])
    known = next((tier for tier in tiers if not folded.keys().isdisjoint(tier)), ())
    matches = [column for alias in known for column in folded.get(alias, [])]
    if len(matches) > 1:
        msg = (
            f"{name} has several columns for the {part}: {_listed(matches)}; say "
            f"which one to use, e.g. columns={{'{part}': {matches[0]!r}}} or --col "
            f"{part}={matches[0]}"
        )
        raise ColumnNotFoundError(msg)
    return matches[0] if matches else None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names) if names else "no columns"
