"""Ids and numbers of a column, checked; messages say which row is wrong."""

from __future__ import annotations

import math
import re
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.blocks import by_blocks
from rankine._base.forks import need_threads
from rankine._base.limits import limits
from rankine._base.text import QUERY, RANK_LAST, count, shortened, shown
from rankine._io.sources import Rows
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_INTEGERS = (
    pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32,
)  # fmt: skip
_NO_TEXT = pl.Series([""])
"""A column, with which polars compares others sooner than with a text."""
FIRST = 200
"""Rows by which it is told what a column holds."""
_OF_TYPE = 60
"""Letters of the name of a type that a message shows."""
DROPS = "; lenient=True or --lenient drops such rows"
NOT_JUDGED = "for an item that is not judged, give -1 or drop it"
_WORDS, _MANY_WORDS = 3, 20
"""How many grades in words a message shows, and how many are looked at."""
_SCALES = (
    ("irrelevant", "relevant"),
    ("not relevant", "relevant"),
    ("non relevant", "relevant"),
    ("nonrelevant", "relevant"),
    ("no", "yes"),
    ("irrelevant", "partially relevant", "relevant", "highly relevant"),
    ("not relevant", "partially relevant", "relevant", "highly relevant"),
    ("irrelevant", "related", "highly relevant", "perfectly relevant"),
    ("bad", "fair", "good", "excellent", "perfect"),
    ("poor", "fair", "good", "excellent", "perfect"),
    ("irrelevant", "complement", "substitute", "exact"),
    ("i", "c", "s", "e"),
    ("low", "medium", "high"),
    ("dislike", "neutral", "like"),
)
"""Grades in words that are used widely, the worst first."""
_WHOLE_BITS: dict[Any, int] = {pl.Float32: 24, pl.Float64: 53}
"""How many bits of a whole number a float holds: from there on, numbers merge."""
UNREADABLE = (
    TypeError, OverflowError, AttributeError, ValueError, pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)  # fmt: skip
"""What polars raises for values that cannot be a column."""


def ids(
    column: pl.Series,
    part: str,
    origin: Rows,
    *,
    lenient: bool = False,
    hint: str = DROPS,
) -> tuple[pl.Series, tuple[str, ...]]:
    """Return ids as Int64, UInt64 or String, none of them missing.

    A lenient reader leaves missing ids as null; otherwise the error says what to do.
    """
    column, notes = _typed(column, part, origin)
    # A short column without a missing id takes 7 us so, and 70 us by what follows.
    if column.null_count() == 0 and (
        column.dtype != pl.String or not (column == _NO_TEXT).any()
    ):
        return column, notes
    need_threads()
    missing = column.is_null()
    if column.dtype == pl.String:
        missing = missing | (column.str.len_bytes() == 0).fill_null(value=True)
    if not missing.any():
        return column, notes
    if lenient:
        return column.set(missing, None), notes
    rows = missing.arg_true().head(3).to_list()
    where = origin.where(rows[0])
    if origin.lines is None and origin.line is None:
        places = ", ".join(str(origin.first + row) for row in rows)
        where = f"{origin.name}, {'rows' if len(rows) > 1 else 'row'} {places}"
    raise missing_ids(where, part, int(missing.sum()), hint)


def missing_ids(where: str, part: str, n: int, hint: str = DROPS) -> DataError:
    """Say that n ids are missing."""
    is_are = "is" if n == 1 else "are"
    return DataError(f"{where}: {count(n, f'{part} id')} {is_are} missing{hint}")


def _typed(
    column: pl.Series, part: str, origin: Rows
) -> tuple[pl.Series, tuple[str, ...]]:
    """Return ids as Int64, UInt64 or String."""
    name = origin.name
    if column.dtype == pl.String:  # before the others, as polars compares types slowly
        _refuse_texts_of_floats(column, part, name)
        return column, ()
    if column.dtype in (pl.Categorical, pl.Enum, pl.Null):
        return column.cast(pl.String), ()
    if column.dtype in _INTEGERS:
        return column.cast(pl.Int64), ()
    if column.dtype.is_integer() and column.dtype != pl.UInt64:
        return column.cast(pl.String), ()  # 128 bits: exact only as text
    if column.dtype in (pl.Float32, pl.Float64):
        return _from_floats(column, part, name)
    if column.dtype == pl.Object:
        raise _mixed(column, origin)
    if column.dtype != pl.UInt64:
        msg = f"{name}: {part} ids are of type {_type(column)}; expected text or ints"
        raise FormatError(msg)
    return column, ()


def _mixed(column: pl.Series, origin: Rows) -> DataError:
    """Say which types a column mixes, and where the second begins."""
    values = column.to_list()
    kinds = [type(value).__name__ for value in values if value is not None]
    first = next((k for k in kinds if k != kinds[0]), "")
    row = next(
        (index for index, value in enumerate(values) if type(value).__name__ == first),
        0,
    )
    words, where = " and ".join(dict.fromkeys(kinds)), origin.where(row)
    if not first:  # others are in rows that are not at hand
        words, where = f"{words} and other types", origin.name
    msg = f"{where}: column {column.name!r} mixes {words}; give it one type"
    return DataError(msg)


def _from_floats(
    column: pl.Series, part: str, name: str
) -> tuple[pl.Series, tuple[str, ...]]:
    column = column.fill_nan(None)
    bits = _WHOLE_BITS[column.dtype]
    merged = (column.abs() >= 1 << bits) & column.is_finite()
    if merged.any():
        raise _merged_ids(column.filter(merged)[0], bits, part, name)
    whole = column.cast(pl.Int64, strict=False)
    odd = column.is_not_null() & (whole.cast(pl.Float64) != column.cast(pl.Float64))
    odd = odd | (column.is_not_null() & whole.is_null())
    if odd.any():
        msg = f"{name}: {part} ids are floats, such as {shown(column.filter(odd)[0])}"
        raise DataError(msg)
    return whole, (
        f"{name}: {part} ids are whole numbers stored as floats; read as ints",
    )


def _merged_ids(example: float, bits: int, part: str, name: str) -> DataError:
    msg = (
        f"{name}: {part} ids are floats of 2^{bits} or more, such as {example:.20g}, "
        "which cannot tell neighbouring ids apart; pandas turns ints into floats where "
        "a join leaves nulls: read or cast them as ints or text before the join"
    )
    return DataError(msg)


_OF_FLOAT = re.compile(r"^-?\d+(\.0|(\.\d+)?e\+\d+)$")
"""How libraries write whole floats as text."""


def _refuse_texts_of_floats(texts: pl.Series, part: str, name: str) -> None:
    """Refuse ids in text that were written as such floats, by the first few of them."""
    if not any(text and _OF_FLOAT.match(text) for text in texts.head(3).to_list()):
        return
    written = texts.filter(texts.str.contains(_OF_FLOAT.pattern)).cast(pl.Float64)
    bits = _WHOLE_BITS[pl.Float64]
    merged = written.filter(written.abs() >= 1 << bits)
    if len(merged):
        raise _merged_ids(merged[0], bits, part, name)


def numbers(
    column: pl.Series, title: str, origin: Rows, *, lenient: bool = False
) -> pl.Series:
    """Return grades or scores as Float64; a lenient reader makes missing ones nan."""
    if column.dtype == pl.Float64 and column.null_count() == 0:
        return column
    if column.dtype == pl.Object:
        raise _mixed(column, origin)
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.Null:
        column = column.cast(pl.Float64)
    if column.dtype == pl.String:
        parsed = _parsed(column)
        bad = parsed.is_null() & column.is_not_null()
        if bad.any():
            row = int(bad.arg_true()[0])
            hint = _grades_hint(column.filter(bad))
            hint = hint if origin.role == "qrels" else ""
            what = f"{title} is {shown(column[row])}"
            msg = f"{origin.where(row)}: {what}, not a number{hint}"
            raise DataError(msg)
        column = parsed
    elif not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        msg = (
            f"{origin.name}: column {title!r} is of type {_type(column)}; "
            "expected numbers"
        )
        raise FormatError(msg)
    if lenient:
        return column.cast(pl.Float64).fill_null(math.nan)
    if column.null_count():
        where = origin.where(int(column.is_null().arg_true()[0]))
        raise missing_numbers(where, title, column.null_count(), origin.role)
    return column.cast(pl.Float64)


def missing_numbers(where: str, title: str, n: int, role: str | None) -> DataError:
    """Say that n grades or scores are missing."""
    todo = f"; {NOT_JUDGED}" if role == "qrels" else ""
    said = count(n, "such row")
    return DataError(f"{where}: {title} is missing ({said} in all){todo}")


def no_order(
    where: str, example: tuple[object, object], n: int, unit: str = ""
) -> DataError:
    """Say that n scores are no numbers, such as that of a query and an item.

    Args:
        where: where the first of them is.
        example: its query and its item.
        n: how many there are.
        unit: what queries are called, empty if nothing says so.
    """
    query, item = example
    msg = (
        f"{where}: the score of item {shown(item)} for {unit or QUERY} {shown(query)} "
        f"is not a number ({count(n, 'such score')} in all); a ranking needs numbers "
        f"that can be ordered{RANK_LAST}"
    )
    return DataError(msg)


def _parsed(texts: pl.Series) -> pl.Series:
    """Return the numbers in texts, null for others; if there are none, of booleans.

    >>> _parsed(pl.Series(["True", "false", "maybe"])).to_list()
    [1.0, 0.0, None]
    >>> _parsed(pl.Series(["true", "2"])).to_list()
    [None, 2.0]
    """
    plain = texts.str.strip_chars()
    found = plain.cast(pl.Float64, strict=False)
    if found.null_count() < len(found):
        return found
    words = plain.str.to_lowercase()
    truths = words.replace_strict([*_TRUTHS], [*_TRUTHS.values()], default=None)
    return truths if truths.null_count() < len(truths) else found


_TRUTHS = {"true": 1.0, "false": 0.0}
"""How files of text write booleans."""
_MISSING = ("", "na", "n/a", "<na>", "null", "none", "nan")
"""How they write what is missing."""


def holds_numbers(column: pl.Series) -> bool:
    """Say whether a column holds numbers, booleans, or texts of these.

    Texts are told by the first of them, without those that stand for nothing.

    >>> (
    ...     holds_numbers(pl.Series(["0.1", "", "NA"])),
    ...     holds_numbers(pl.Series(["1", "a"])),
    ... )
    (True, False)
    """
    dtype = getattr(column.dtype, "inner", column.dtype)
    if dtype == pl.Object:
        return any(isinstance(value, (int, float)) for value in column)
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype != pl.String:
        return dtype.is_numeric() or dtype == pl.Boolean
    texts = column.filter(column != "").head(FIRST).str.strip_chars().str.to_lowercase()
    texts = texts.filter(~texts.is_in(_MISSING))
    return len(texts) > 0 and _parsed(texts).null_count() == 0


def ends(column: pl.Series) -> tuple[Any, Any]:
    """Return the smallest and the largest number of a column, without a copy of it.

    >>> ends(pl.Series([3, 1, 2]))
    (1, 3)
    """
    pairs: list[Any] = by_blocks(
        lambda rows: (column[rows].min(), column[rows].max()),
        len(column),
        size=limits().looked_up,
    )
    return min(low for low, _ in pairs), max(high for _, high in pairs)


def grades_hint(words: Sequence[str]) -> str:
    """Say how to give a value to each grade in words.

    Known words have an order, from the worst; of others, nobody can see which are
    relevant.

    >>> grades_hint(["good", "bad"]).partition(" or ")[0]
    "; for grades in words, give each a value, grades={'bad': 0, 'good': 2}"
    """
    folded = {word: " ".join(re.split(r"[\s_-]+", word.casefold())) for word in words}
    scale = next((known for known in _SCALES if {*folded.values()} <= {*known}), None)
    if scale is None or len(folded) == 1:
        few = words[:_WORDS]
        values = dict.fromkeys(few, "N")
        more = ", with 0 for words that mean not relevant"
    else:
        few = sorted(words, key=lambda word: scale.index(folded[word]))
        values = {word: str(scale.index(folded[word])) for word in few}
        more = ""
    entries = ", ".join(f"{shown(word)}: {value}" for word, value in values.items())
    plain = (f"{shortened(word)}={value}" for word, value in values.items())
    pairs = quote(",".join(plain))
    if len(words) > len(few):
        entries += ", ..."
    return (
        f"; for grades in words, give each a value, grades={{{entries}}} or --grades "
        f"{pairs}{more}"
    )


def _grades_hint(texts: pl.Series) -> str:
    words = texts.unique(maintain_order=True).drop_nulls().head(_MANY_WORDS).to_list()
    if not words or any(any(mark.isdigit() for mark in word) for word in words):
        return ""
    return grades_hint(words)


def worth_of(
    column: pl.Series, title: str, origin: Rows, grades: Mapping[Any, float]
) -> pl.Series:
    """Return what each grade in words is worth."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    values = column.to_list()
    for row, value in enumerate(values):
        if not known_grade(value, grades):
            what = f"{origin.where(row)}: {title}"
            raise unknown_grade(what, value, grades)
    return pl.Series(column.name, [float(grades[value]) for value in values])


def known_grade(value: Any, grades: Mapping[Any, float]) -> bool:
    """Say whether the worth of a grade was given; that of a list, for one, never is."""
    try:
        return value in grades
    except TypeError:
        return False


def unknown_grade(what: str, value: Any, grades: Mapping[Any, float]) -> DataError:
    """Return the error for a grade whose worth was not given."""
    known = ", ".join(repr(key) for key in grades)
    msg = f"{what} is {shown(value)}, which is not in grades; it has {known}"
    return DataError(msg)


def series_of(
    part: str, values: list[Any], name: str, *, lenient: bool = False, **words: str
) -> pl.Series:
    """Return ids of one type as a column, checked as those of a frame are.

    Further words are those of `ids`.
    """
    plain = [
        value.item() if isinstance(value, np.generic) else value for value in values
    ]
    kinds = set(map(type, plain))
    if len(kinds) > 1:  # of which nan may be one, which is a missing id
        plain = [None if is_missing(value) else value for value in plain]
        kinds = set(map(type, plain)) - {type(None)}
    if len(kinds) > 1 and bool in kinds:  # which polars takes for an int
        raise _not_one_type(part, plain, name)
    if kinds == {int, float}:  # as in columns of other libraries
        plain = [None if value is None else as_float(value) for value in plain]
    try:
        column = pl.Series(part, plain, dtype=None if plain else pl.String, strict=True)
    except UnicodeEncodeError as error:
        raise no_text(error, name) from None
    except UNREADABLE:
        raise _not_one_type(part, plain, name) from None
    if column.dtype == pl.Object:
        raise _not_one_type(part, plain, name)
    origin = Rows(pl.DataFrame(), name)
    checked, _ = ids(column, part, origin, lenient=lenient, **words)
    return checked


def refuse_padding(
    lists: Iterable[Sequence[Any]], whose: Callable[[int], str], todo: str
) -> None:
    """Refuse a negative number that only fills up lists, unless somebody says so.

    That is how it looks if all negative numbers are the same and none has another item
    after it; ids that may be negative, such as hashes, differ and are anywhere.

    Args:
        lists: items, which are numbers.
        whose: names a list by its number.
        todo: what to do about it, in which PAD stands for the number.
    """
    first, pad = None, 0
    for number, items in enumerate(lists):
        end = len(items)
        while end and items[end - 1] < 0:
            end -= 1
            if first is None:
                first, pad = number, items[end]
            if items[end] != pad:
                return
        if any(item < 0 for item in items[:end]):
            return
    if first is None:
        return
    padding = repr(getattr(pad, "item", lambda: pad)())
    msg = (
        f"{whose(first)} ends with {padding}, which looks like padding; "
        f"{todo.replace('PAD', padding)}. If it is an item, give the ids as text"
    )
    raise DataError(msg)


def _not_one_type(part: str, values: list[Any], name: str) -> DataError:
    """Say which types the ids have, with an example of two of them."""
    examples = {type(value).__name__: value for value in reversed(values)}
    if set(examples) == {"tuple"}:
        msg = f"{name}: {part} ids are tuples, such as {shown(examples['tuple'])}"
        return DataError(f"{msg}; for items with numbers, write {{item: number}}")
    if len(examples) == 1:
        kind = next(iter(examples))
        return DataError(
            f"{name}: {part} ids are of type {kind}; expected text or ints"
        )
    said = f"{name}: {part} ids are {' and '.join(sorted(examples))}"
    two = " and ".join(shown(examples[kind]) for kind in sorted(examples))
    return DataError(f"{said}, such as {two}; give them one type")


def as_float(number: float) -> float:
    """Return a number as a float, infinite if it is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def no_text(error: UnicodeEncodeError, name: str) -> DataError:
    """Return the error for an id that is not valid text, as it has a lone surrogate."""
    bad = ascii(error.object[error.start : error.end])
    msg = (
        f"{name}: an id contains {bad}, an unpaired surrogate, which is not valid text"
    )
    return DataError(msg)


def kind_of(value: Any) -> str:
    """Return the type of a value with its article.

    >>> kind_of([]), kind_of(1), kind_of(None)
    ('a list', 'an int', 'None')
    """
    if value is None:
        return "None"
    kind = type(value).__name__
    kind = {"ndarray": "array", "Tensor": "tensor"}.get(kind, kind)
    return f"{'an' if kind[0] in 'aeioAEIO' else 'a'} {kind}"


def _type(column: pl.Series) -> str:
    return str(column.dtype)[:_OF_TYPE]


def is_missing(value: Any) -> bool:
    """Say whether this stands for nothing: None, nan, or pandas' NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - true for nan
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"
