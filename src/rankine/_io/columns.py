"""Which column is the query, the item, the score, the click: by name, or as given.

One table of names and one way to choose serve runs, judgements, logs, recommendations
and the features of items.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from itertools import chain
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
    ("query", "user", "topic", "user_idx", "query_idx", "query_index"),
    ("user_input", "question", "request"),
    ("questions", "inputs"),
)  # fmt: skip
_ITEM = (
    (
        "item_id", "itemid", "iid", "i_id", "doc_id", "docno", "did", "d_id",
        "corpus-id", "corpus_id", "document_id", "document-id", "movieid", "movie_id",
        "object_id", "pid",
    ),
    ("item", "docid", "doc"),
    ("item_idx", "doc_idx", "passage_id", "chunk_id", "node_id", "doc_uri"),
    ("document",),
    ("items", "docs", "doc_ids", "item_ids"),
)  # fmt: skip
# A record may hold both what was retrieved and what is relevant: the role decides.
_OF_ROLE = {
    "run": (
        "retrieved", "retrieved_ids", "recommended", "recommendations", "results",
        "retrieved_context_ids", "retrieved_doc_ids", "retrieved_docs",
        "retrieved_documents", "retrieved_context", "outputs",
    ),
    "qrels": (
        "relevant", "relevant_ids", "expected", "ground_truth", "truth",
        "reference_context_ids", "relevant_doc_ids", "relevant_docs",
        "relevant_documents", "expected_ids", "expected_retrieved_context", "gold",
        "gold_ids", "ground_truth_documents", "targets",
    ),
}  # fmt: skip
_GRADE = (
    (
        "grade", "grades", "relevance", "rel", "label", "target", "true", "true_rating",
        "actual", "r_ui",
    ),
    ("rating", "score", "click", "clicks", "weight", "reward"),
)  # fmt: skip
DISTANCES = ("distance", "_distance", "distances", "dist", "$dist")
"""What numbers are called of which the smallest is usually the best."""
_SCORE = (
    (
        "score", "sim", "prediction", "pred", "predicted", "predicted_rating", "est",
        "output",
    ),
    ("rating", "weight"),
    ("similarity", "relevance_score", "scores"),
    DISTANCES,
)  # fmt: skip
_RANK = (("rank", "position", "ordinal"), ("pos",))
# What the objects in a list may have besides.
_IN_OBJECTS = {
    "item": (
        "id",
        "_id",
        "chunk_id",
        "node_id",
        "doc_uri",
        "uuid",
        "objectID",
        "file_id",
        "pk",
    ),
    "score": ("_score", "@search.score", "_rankingScore", "_relevance_score"),
}
IDS_OF_HITS = (
    "node_id", "chunk_id", "doc_id", "document_id", "docid", "docno", "item_id",
    "corpus_id", "passage_id", "pid", "id", "_id", "id_", "uuid", "objectID",
    "file_id", "pk", "doc_uri",
)  # fmt: skip
"""The attributes in which objects have their id, the likeliest first."""
SCORES_OF_HITS = (
    "rerank_score", "score", "_score", "relevance_score", "similarity", "certainty",
    "relevance",
)  # fmt: skip
"""The attributes in which they have their score."""
_TEXTS: dict[Role, tuple[str, ...]] = {
    "run": ("retrieved_contexts", "contexts", "retrieved_texts"),
    "qrels": ("reference_contexts", "expected_texts"),
}
"""What tools call the texts of items, beside which there may be no ids."""
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
    "user": tuple(name for tier in _QUERY[:2] for name in tier),
    "item": tuple(name for tier in _ITEM[:4] for name in tier),
    "reward": ("click", "reward", "clicked", "clicks"),
    "propensity": ("propensity", "propensity_score", "pscore"),
    "predicted": ("predicted", "predicted_reward", "prediction", "expected_reward"),
    "probability": ("probability", "prob", "policy_probability"),
    "position": ("position", "slot"),
    "weight": ("weight", "weights", "frequency", "count", "traffic"),
}
"""The parts of logs and recommendations, and by which names they are known."""
UNITS: dict[str, tuple[str, ...]] = {
    "user": ("user_id", "userid", "uid", "u_id", "user", "user_idx"),
    "query": (
        "query_id",
        "qid",
        "q_id",
        "query-id",
        "query",
        "query_idx",
        "query_index",
    ),
    "session": ("session_id", "sessionid"),
    "topic": ("topic_id", "topic"),
}
"""Kinds of ids by which rounds are matched; one kind is never matched with another."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_QUERY_WORDS = {
    "query", "queries", "q", "search", "topic", "session", "input", "question",
    "request", "prompt", "text",
}  # fmt: skip
_USER_WORDS = {
    "user", "users", "u", "customer", "client", "visitor", "member", "reviewer",
    "subscriber", "buyer", "shopper", "player", "viewer", "listener", "reader",
}  # fmt: skip
"""Words in the names of columns, by which results speak of queries or of users."""
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
_TYPED = re.compile(r"(.+):(?:token|token_seq|float|float_seq)")
"""What RecBole calls a column, with the type of its values."""
_UNNAMED = re.compile(r"column \d+")
"""What a column without a name in the header is called."""
_HARMLESS = {
    "", "timestamp", "time", "date", "ts", "unix_timestamp", "iteration", "iter", "q0",
    "fold", "split", "index", "level_0", "unnamed: 0", "year",
}  # fmt: skip


def is_distance(name: str) -> bool:
    """Say whether numbers are called distances.

    >>> is_distance("_distance"), is_distance("metadata.distance"), is_distance("score")
    (True, True, False)
    """
    return name.rpartition(".")[2].casefold() in DISTANCES


def names_number(name: str, role: Role) -> bool:
    """Say whether a column of this name holds grades, scores or ranks.

    >>> names_number("distance", "run"), names_number("0", "run")
    (True, False)
    """
    parts = ("grade",) if role == "qrels" else ("score", "rank")
    return any(name.casefold() in tier for part in parts for tier in ALIASES[part])


def names_query(names: Sequence[str]) -> bool:
    """Say whether one of the columns names queries."""
    folded = _folded(names)
    return any(not folded.keys().isdisjoint(tier) for tier in _QUERY)


def names_lists(column: str, role: Role) -> bool:
    """Say whether a column holds lists of items, by its name.

    >>> names_lists("Retrieved", "run"), names_lists("item", "run")
    (True, False)
    """
    return column.casefold() in _ITEM[-1] or of_role(column, role)


def of_role(column: str, role: Role) -> bool:
    """Say whether a column of items belongs to one role alone, by its name.

    >>> of_role("recommendations", "run"), of_role("items", "run")
    (True, False)
    """
    return column.casefold() in _OF_ROLE[role]


def names_item(names: Sequence[str]) -> bool:
    """Say whether one of the keys of an object names an item."""
    folded = _folded([name for name in names if isinstance(name, str)])
    known: set[str] = {*_IN_OBJECTS["item"]}.union(*_ITEM)
    return not known.isdisjoint(folded)


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
    if of_role(column_of["item"], role):  # beside that of the other role, with its own
        others = _SCORE if role == "qrels" else _GRADE
        used |= {name for name in numeric if name.casefold() in {*chain(*others)}}
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
            f"{left[0]!r}}} or --col {value}={left[0]}, or, if there is none, with "
            f"columns={{{value!r}: {NO_COLUMN!r}}} or --col {value}={NO_COLUMN}"
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
        found = _by_alias(folded, part, name, role)
        if part == "score" and found is None and "user_idx" in folded:
            # RePlay has one name for the grades of judgements and the scores of a run.
            return next(iter(folded.get("relevance", ())), None)
        return found

    chosen = choose(names, parts, columns or {}, name, by_name)
    for part in ("query", "item"):
        if part not in chosen:
            raise _no_column(names, part, role, name)
    if not columns:
        _refuse_swapped(names, chosen, role, name)
    return chosen


def _no_column(
    names: Sequence[str], part: str, role: Role, name: str
) -> ColumnNotFoundError:
    folded = _folded(names)
    texts = next((folded[text][0] for text in _TEXTS[role] if text in folded), None)
    if part == "item" and texts is not None:
        ids = {"run": "retrieved_ids", "qrels": "relevant_ids"}[role]
        msg = (
            f"{name}: {texts!r} has texts, which are no ids; give the ids of these "
            f"texts in a column such as {ids}, or, to compare the texts themselves, "
            f"columns={{'{role}.item': {texts!r}}} or --col {role}.item={texts}"
        )
        return ColumnNotFoundError(msg)
    known = ", ".join(ALIASES[part][0][:6])
    likely = _likely(names, part)
    msg = (
        f"{name} has no column for the {part}; it has {_listed(names)}, and names such "
        f"as {known} are recognised; say which one to use, e.g. "
        f"columns={{'{part}': {likely!r}}} or --col {part}={likely}"
    )
    return ColumnNotFoundError(msg)


def answer_beside(names: Sequence[str], item: str) -> str | None:
    """Return what shows that a column has answers in words instead of items.

    >>> answer_beside(["question", "answer", "ground_truth"], "ground_truth")
    'answer'
    """
    if item.casefold() not in {"ground_truth", "truth", "expected"}:
        return None
    folded = _folded(names)
    signs = ("answer", "response", "contexts", "retrieved_contexts")
    return next((folded[sign][0] for sign in signs if sign in folded), None)


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
        weak = known is None or is_distance(known)
        if part == "item":
            weak = known is None or not known.casefold().endswith(("id", "no"))
        return plain or known if weak else known

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


def word_for(column: str) -> str:
    """Return what the ids in a column of queries are called: users, or queries.

    Sessions and topics are called queries. Empty if the name does not say.

    >>> word_for("userId"), word_for("user_idx"), word_for("customer")
    ('user', 'user', 'user')
    >>> word_for("qid"), word_for("session_id"), word_for("key")
    ('query', 'query', '')
    """
    words = {word.casefold().removesuffix("id") for word in _WORDS.findall(column)}
    if words & _QUERY_WORDS:
        return "query"
    return "user" if words & _USER_WORDS else ""


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
    """Return the columns by their names without regard to case, nor to RecBole's types.

    >>> _folded(["User_ID:token", "score"])
    {'user_id': ['User_ID:token'], 'score': ['score']}
    """
    folded: dict[str, list[str]] = {}
    for column in names:
        typed = _TYPED.fullmatch(column) if ":" in column else None
        folded.setdefault((typed[1] if typed else column).casefold(), []).append(column)
    return folded


def _by_alias(
    folded: Mapping[str, list[str]], part: str, name: str, role: Role
) -> str | None:
    tiers: tuple[tuple[str, ...], ...] = ALIASES[part]
    if part == "item":
        tiers = (*tiers, _OF_ROLE[role])
    if part == "grade" and not any(map(folded.keys().isdisjoint, _OF_ROLE.values())):
        tiers = tiers[:1]  # in a record of both sides, others belong to the retrieved
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
