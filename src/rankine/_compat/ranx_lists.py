"""Qrels and Run with the face of ranx: what may be added to, and has a name."""

from __future__ import annotations

import gzip
import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import polars as pl

from rankine._base.checks import check_choice, check_count
from rankine._base.forks import need_threads
from rankine._io.rows import as_rows
from rankine._report.export import to_frame
from rankine._runs import views
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, KeysView, Mapping, Sequence

Lists = dict[Any, dict[Any, float]]
_KINDS = {"json": "json", "trec": "trec", "gz": "trec", "parquet": "parquet"}
"""Kinds of files, and the formats that they are."""
_ENDINGS = {"txt": "trec", "parq": "parquet"}


class _Table:
    """What judgements and runs have in common: {query: {document: number}}.

    Rows that were read stay as they came until somebody asks for them as a dict.
    """

    _read: ClassVar[Callable[..., Any]]
    _number: ClassVar[str]

    def __init__(
        self,
        lists: Mapping[Any, Mapping[Any, float]] | None = None,
        name: str | None = None,
    ) -> None:
        own = {query: dict(items) for query, items in (lists or {}).items()}
        self._lists: Lists | None = own
        self._view: Any = None
        self._sorted = False
        self.name = name

    @classmethod
    def _of(cls, view: Any, name: str | None) -> Self:
        """Return what was read."""
        table = cls(None, name)
        table._lists, table._view = None, view
        return table

    @property
    def view(self) -> Any:
        """What `evaluate` reads."""
        if self._view is None:
            self._view = self._read(self._lists)
        return self._view

    @property
    def _dicts(self) -> Lists:
        """Queries in the order of their ids, documents in that of their numbers."""
        if self._lists is None:
            self._lists = self._dicts_of(self._view)
        if not self._sorted:
            self._lists = {
                query: dict(sorted(items.items(), key=lambda pair: -pair[1]))
                for query, items in sorted(self._lists.items())
            }
            self._sorted = True
        return self._lists

    @staticmethod
    def _as_number(value: float) -> float:
        return float(value)

    def _dicts_of(self, view: Any) -> Lists:
        """Return the rows that were read, as they came; of two, the last counts."""
        lists: Lists = {query: {} for query in view.queries}
        rows = as_rows(view.source, view.role).frame
        columns = (rows[part].to_list() for part in ("query", "item", "value"))
        for query, item, value in zip(*columns, strict=True):
            lists[query][item] = self._as_number(value)
        return lists

    def _changed(self, lists: Lists) -> None:
        self._lists, self._view, self._sorted = lists, None, False

    def keys(self) -> KeysView[Any]:
        """Return the ids of the queries."""
        if self._lists is None:
            return dict.fromkeys(self._view.queries).keys()
        return self._lists.keys()

    def add_score(self, q_id: Any, doc_id: Any, score: float) -> None:
        """Add a document to a query, or change its number."""
        lists = self._dicts
        lists.setdefault(q_id, {})[doc_id] = self._as_number(score)
        self._changed(lists)

    def add(self, q_id: Any, doc_ids: Sequence[Any], scores: Sequence[float]) -> None:
        """Add a query with its documents."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(
        self,
        q_ids: Sequence[Any],
        doc_ids: Sequence[Sequence[Any]],
        scores: Sequence[Sequence[float]],
    ) -> None:
        """Add several queries with their documents."""
        lists = self._dicts
        for query, items, numbers in zip(q_ids, doc_ids, scores, strict=True):
            own = map(self._as_number, numbers)
            lists[query] = dict(zip(items, own, strict=True))
        self._changed(lists)

    def get_query_ids(self) -> list[Any]:
        """Return the ids of the queries, in their order."""
        return list(self._dicts)

    def get_doc_ids_and_scores(self) -> list[dict[Any, float]]:
        """Return the documents of each query."""
        return list(self.to_dict().values())

    def sort(self) -> None:
        """Do nothing: rows are in order whenever they are looked at."""

    def to_dict(self) -> Lists:
        """Return {query: {document: number}}."""
        return {query: dict(items) for query, items in self._dicts.items()}

    def to_dataframe(self) -> Any:
        """Return a frame of pandas with the columns q_id, doc_id and score."""
        need_threads()
        lists = self._dicts
        columns = {
            "q_id": [query for query, items in lists.items() for _ in items],
            "doc_id": [item for items in lists.values() for item in items],
            "score": [score for items in lists.values() for score in items.values()],
        }
        return to_frame(pl.DataFrame(columns), "pandas")

    def _save(
        self, path: str | os.PathLike[str], kind: str | None, **more: Any
    ) -> None:
        kind = _kind_of(path, kind)
        columns = {"query": "q_id", "item": "doc_id", self._number: "score"}
        if kind == "parquet":
            more = {"columns": columns}
        self.view.save(path, format=_KINDS[kind], **more)

    @classmethod
    def from_df(
        cls,
        df: Any,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        name: str | None = None,
    ) -> Self:
        """Read a frame, by the names of its columns."""
        columns = {"query": q_id_col, "item": doc_id_col, cls._number: score_col}
        return cls._of(cls._read(df, columns=columns), name)

    @classmethod
    def from_parquet(
        cls,
        path: str | os.PathLike[str],
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """Read a Parquet file, by the names of its columns."""
        if pd_kwargs:
            msg = "pd_kwargs is for pandas, which does not read the file here; drop it"
            raise ParameterError(msg)
        return cls.from_df(os.fspath(path), q_id_col, doc_id_col, score_col, name)

    @property
    def size(self) -> int:
        """How many queries there are."""
        return len(self)

    def __getitem__(self, q_id: Any) -> dict[Any, float]:
        """Return the documents of a query."""
        return dict(self._dicts[q_id])

    def __len__(self) -> int:
        """Return how many queries there are."""
        return len(self.keys())

    def __repr__(self) -> str:
        """Return all of it, as a dict."""
        return repr(self._dicts)


class Qrels(_Table):
    """Judgements, with the face of ranx.

    >>> from rankine.compat.ranx import Qrels
    >>> qrels = Qrels({"q": {"a": 1}})
    >>> qrels.add_score("q", "b", 3)
    >>> qrels
    {'q': {'b': 3, 'a': 1}}
    """

    _read = staticmethod(views.read_qrels)
    _number = "grade"

    @staticmethod
    def _as_number(value: float) -> float:
        """Return a grade, as an int if it is whole."""
        return int(value) if value == int(value) else value

    @property
    def qrels(self) -> Lists:
        """The judgements as a dict, which is not to be changed."""
        return self._dicts

    @classmethod
    def from_dict(cls, d: Mapping[Any, Mapping[Any, float]]) -> Qrels:
        """Take judgements from a dict."""
        return cls(d)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], kind: str | None = None) -> Qrels:
        """Read a file: ``json``, ``trec``, ``gz`` or ``parquet``, by its ending."""
        _, view = _from_file(cls, path, kind)
        return cls._of(view, None)

    @classmethod
    def from_ir_datasets(cls, dataset_id: str) -> Qrels:
        """Read the judgements of a data set of ir_datasets."""
        return cls._of(views.read_qrels(f"irds:{dataset_id}"), dataset_id)

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Lower all grades, so that those from a level on are 1 or more."""
        check_count("rel_lvl", rel_lvl, least=1)
        self._changed(
            {
                query: {item: grade - (rel_lvl - 1) for item, grade in items.items()}
                for query, items in self._dicts.items()
            }
        )

    def save(
        self, path: str | os.PathLike[str] = "qrels.json", kind: str | None = None
    ) -> None:
        """Write a file: ``json``, ``trec``, ``gz`` or ``parquet``, by its ending."""
        self._save(path, kind)


class Run(_Table):
    """A run, with the face of ranx.

    Attributes:
        name: what reports call it.
        scores: metric -> query -> value, as `evaluate` fills it in.
        mean_scores: metric -> mean.
        std_scores: metric -> standard deviation.
        metadata: whatever the user wants to know about it.

    >>> from rankine.compat.ranx import Run
    >>> run = Run({"q": {"a": 0.2, "b": 0.9}}, name="bm25")
    >>> run["q"], run.name, run.size
    ({'b': 0.9, 'a': 0.2}, 'bm25', 1)
    """

    _read = staticmethod(views.read_run)
    _number = "score"

    def __init__(
        self,
        run: Mapping[Any, Mapping[Any, float]] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(run, name)
        self.metadata: dict[str, Any] = {}
        self.scores: defaultdict[str, dict[Any, float]] = defaultdict(dict)
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}

    @property
    def run(self) -> Lists:
        """The run as a dict, which is not to be changed."""
        return self._dicts

    @classmethod
    def from_dict(
        cls, d: Mapping[Any, Mapping[Any, float]], name: str | None = None
    ) -> Run:
        """Take a run from a dict."""
        return cls(d, name)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        kind: str | None = None,
        name: str | None = None,
    ) -> Run:
        """Read a file: ``json``, ``trec``, ``gz`` or ``parquet``, by its ending.

        A TREC run without a name has that of its last column.
        """
        kind, view = _from_file(cls, path, kind)
        if name is None and _KINDS[kind] == "trec":
            with (gzip.open if kind == "gz" else open)(path, "rt") as lines:
                name = next(iter(lines), "").split()[-1]
        return cls._of(view, name)

    def make_comparable(self, qrels: Qrels) -> Run:
        """Give each judged query a list, an empty one if need be, and drop others."""
        lists = self._dicts
        self._changed({query: lists.get(query, {}) for query in qrels.keys()})  # noqa: SIM118 - it cannot be iterated, as in ranx
        return self

    def save(
        self, path: str | os.PathLike[str] = "run.json", kind: str | None = None
    ) -> None:
        """Write a file: ``json``, ``trec``, ``gz`` or ``parquet``, by its ending.

        A TREC run calls itself by the name, with underscores for blanks.
        """
        tag = "_".join(str(self.name).split()) or None
        self._save(path, kind, **({} if self.name is None else {"tag": tag}))


def _from_file(
    table: type[_Table], path: str | os.PathLike[str], kind: str | None
) -> tuple[str, Any]:
    kind = _kind_of(path, kind)
    if kind == "parquet":
        return kind, table.from_parquet(path).view
    return kind, table._read(path, format=_KINDS[kind])  # noqa: SLF001 - our own


def _kind_of(path: str | os.PathLike[str], kind: str | None) -> str:
    """Return the kind of a file: as given, or by its ending."""
    if kind is None:
        ending = Path(path).suffix[1:]
        kind = _ENDINGS.get(ending, ending)
    check_choice("kind", kind, _KINDS)
    return kind
