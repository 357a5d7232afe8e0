"""The data of the query explorer: values, and the lists of queries that moved."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.text import plural
from rankine._evaluate.worst import records_of
from rankine._io.texts import TextFiles
from rankine._report.charts import shown_pairs
from rankine._report.tables import shown
from rankine._stats.flips import NOTHING
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankine._base.arrays import AnyArray, Floats, Ints
    from rankine._evaluate.compare.comparison import Comparison
    from rankine._evaluate.result import Evaluation
    from rankine._evaluate.worst import WorstQuery

MOST_VALUES = 400_000
"""The most values that a file holds, so that it can be mailed."""
_MOST = 200
"""How many queries of each pair have their lists in a file."""
_LISTS = 4000
"""The most lists that a file holds, however many pairs there are."""
_FEWEST = 5
_MISSED = 20
_LETTERS = 200
"""How many letters of a text are shown."""


class Texts(NamedTuple):
    """Texts by id: for both queries and items, for queries only, for items only.

    Each is a mapping, a pandas Series, or files.
    """

    of_both: Any = None
    of_queries: Any = None
    of_items: Any = None

    def check(self) -> None:
        """Refuse anything but a mapping from ids to texts, or files of them."""
        names = ("texts", "query_texts", "item_texts")
        for name, texts in zip(names, self, strict=True):
            is_series = getattr(texts, "ndim", None) == 1 and hasattr(texts, "items")
            known = texts is None or isinstance(texts, (TextFiles, Mapping))
            if not known and not is_series:
                msg = (
                    f"{name} must be a mapping from ids to texts, or a pandas "
                    f"Series, got {type(texts).__name__}"
                )
                raise ParameterError(msg)

    def known(
        self, queries: Iterable[str], items: Iterable[str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the texts of these queries and items, where there are any.

        >>> texts = Texts({1: "one", "b": None, "c": float("nan")}, {"1": 4, "d": "e"})
        >>> texts.known(["1", "b", "c"], ["1"])
        ({'1': '4'}, {'1': 'one'})
        """
        queries, items = [*queries], [*items]
        of_queries, of_items = _known(self.of_both, queries, items)
        of_queries |= _known(self.of_queries, queries, [])[0]
        of_items |= _known(self.of_items, [], items)[1]
        return of_queries, of_items


def _known(
    texts: Any, queries: Sequence[str], items: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]]:
    if texts is None:
        return {}, {}
    if isinstance(texts, TextFiles):
        return texts.of(queries, items)
    names = {*queries, *items}
    known = {
        str(key): str(value)
        for key, value in texts.items()
        if str(key) in names and not _is_missing(value)
    }
    return (
        {name: known[name] for name in queries if name in known},
        {name: known[name] for name in items if name in known},
    )


def _is_missing(value: Any) -> bool:
    """Say whether a value is missing: None, or unequal to itself, as nan is."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:  # the NA of pandas is neither equal nor unequal to itself
        return True
    except ValueError:  # an array
        return False


def explored(comparison: Comparison, texts: Texts) -> dict[str, Any]:
    """Return the values of queries, and both lists of those that moved most.

    The first metric that has values per query decides which queries these are.
    """
    compared = comparison._compared  # noqa: SLF001 - the numbers of the result
    metrics = [
        row for row in range(len(compared.metrics)) if row not in compared.wholes
    ]
    if not metrics:
        return {}
    rows = _kept(compared.values[metrics[0]])
    room = MOST_VALUES // (len(rows) * len(compared.systems) or 1)
    metrics = metrics[: max(room, 1)]
    values = compared.values[metrics][:, :, rows]
    label = compared.metrics[metrics[0]]
    pairs = [
        (compared.systems.index(row["a"]), compared.systems.index(row["b"]))
        for row in shown_pairs(comparison, label)
    ]
    most = max(_FEWEST, min(_MOST, _LISTS // (2 * len(pairs) or 1)))
    chosen: dict[int, dict[int, None]] = {}
    for a, b in pairs:
        for row in _moved(values[0, a], values[0, b], most).tolist():
            chosen.setdefault(a, {})[row] = None
            chosen.setdefault(b, {})[row] = None
    of_any = dict.fromkeys(row for places in chosen.values() for row in places)
    if len(of_any) * len(compared.systems) <= _LISTS:
        # Readers can choose any two systems: let both have their lists.
        chosen = dict.fromkeys(range(len(compared.systems)), of_any)
    book = _Book(texts)
    lists = {
        str(system): book.lists(
            comparison.evaluations.get(compared.systems[system]),
            label,
            [(row, compared.queries[rows[row]]) for row in places],
        )
        for system, places in chosen.items()
    }
    queries = [comparison.queries[row] for row in rows.tolist()]
    return {
        "systems": [shown(name) for name in compared.systems],
        "metrics": [compared.metrics[row] for row in metrics],
        "higher": [compared.directions[row] for row in metrics],
        "values": [[packed(row) for row in systems] for systems in values],
        "pairs": pairs,
        "most": most,
        **_words(comparison.unit),
        **book.to_dict(queries),
        "lists": lists,
    }


def explored_run(
    evaluation: Evaluation, name: str, label: str, texts: Texts
) -> dict[str, Any]:
    """Return the values of the queries of one run, and the lists of the worst.

    Args:
        evaluation: the evaluation of the run.
        name: the name of the run on the page.
        label: the metric that says which queries are the worst.
        texts: the texts of queries and items by their ids.
    """
    frame = evaluation.per_query
    labels = [name for name in evaluation.summaries if name in frame.columns]
    labels.sort(key=label.__ne__)
    columns = [frame[name].fill_null(np.nan).to_numpy() for name in labels]
    higher = {
        name: metric.higher_is_better
        for name, metric in zip(evaluation.summaries, evaluation.bound, strict=True)
    }
    room = max(MOST_VALUES // (frame.height or 1), 1)
    order = columns[0] if higher[label] is not False else -columns[0]
    worst = np.argsort(order, kind="stable")[:_MOST]
    queries = frame["query"].to_list()
    book = _Book(texts)
    places = [(row, queries[row]) for row in worst.tolist()]
    lists = {"0": book.lists(evaluation, label, places)}
    return {
        "systems": [name],
        "metrics": labels[:room],
        "higher": [higher[name] for name in labels[:room]],
        "values": [[packed(column)] for column in columns[:room]],
        "pairs": [],
        "most": _MOST,
        **_words(evaluation.unit),
        **book.to_dict(queries),
        "lists": lists,
    }


def _words(unit: str) -> dict[str, str]:
    """Return what queries are called."""
    return {"unit": unit, "units": plural(unit)}


class _Book:
    """The items and texts of the lists, each once."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._items: dict[str, int] = {}

    def lists(
        self,
        evaluation: Evaluation | None,
        label: str,
        places: Sequence[tuple[int, Any]],
    ) -> dict[str, Any]:
        """Return the first items and the missed relevant items of each query."""
        if evaluation is None:
            return {}
        records = records_of(evaluation, label, [query for _, query in places])
        return {
            str(row): self._list(record)
            for (row, _), record in zip(places, records, strict=True)
            if record is not None
        }

    def _list(self, record: WorstQuery) -> list[list[Any]]:
        top = [[rank, self._item(item), grade] for rank, item, grade in record.top]
        seen = {item for _, item, _ in top}
        missed = [
            [rank or 0, self._item(item), grade]
            for item, grade, rank in record.missed[:_MISSED]
        ]
        return [top, [row for row in missed if row[1] not in seen]]

    def _item(self, item: Any) -> int:
        return self._items.setdefault(str(item), len(self._items))

    def to_dict(self, queries: Iterable[Any]) -> dict[str, Any]:
        """Return the names and texts of queries and items."""
        names = list(map(str, queries))
        of_queries, of_items = self._texts.known(names, self._items)
        return {
            "queries": list(map(shown, names)),
            "queryTexts": _texts_of(of_queries, names),
            "items": list(map(shown, self._items)),
            "itemTexts": _texts_of(of_items, self._items),
        }


def _texts_of(texts: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the texts of ids, keyed by their places."""
    return {
        str(place): shown(_beginning(" ".join(texts[name].split())))
        for place, name in enumerate(names)
        if name in texts
    }


def _beginning(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS].rstrip()}…"


def packed(values: Floats) -> list[str]:
    """Return numbers as text, to the last bit.

    Either all numbers or, if that is shorter, the distinct ones and the place of each
    value among them, in one or two bytes.
    """
    distinct, places = np.unique(values, return_inverse=True)
    size = 1 if len(distinct) <= 1 << 8 else 2
    if (
        len(distinct) > 1 << 16
        or len(distinct) * 8 + len(values) * size > values.nbytes
    ):
        return [_letters(values.astype("<f8"))]
    return [_letters(distinct.astype("<f8")), _letters(places.astype(f"<u{size}"))]


def _letters(numbers: AnyArray) -> str:
    return b64encode(numbers.tobytes()).decode()


def _kept(values: Floats) -> Ints:
    """Return the queries that are in the file: all, or those that differ most."""
    most = max(MOST_VALUES // len(values), 1)
    n = values.shape[1]
    if n <= most:
        return np.arange(n)
    known = np.where(np.isnan(values), 0, values)
    spread = known.max(axis=0) - known.min(axis=0)
    return np.sort(np.argsort(-spread, kind="stable")[:most])


def _moved(a: Floats, b: Floats, most: int) -> Ints:
    d = np.abs(b - a)
    moved = np.flatnonzero(d > NOTHING)
    return moved[np.argsort(-d[moved], kind="stable")[:most]]
