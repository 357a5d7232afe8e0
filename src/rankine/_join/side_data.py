"""What is known in addition to the lists of a run, as it was read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl
import polars.selectors as cs

from rankine._base.forks import need_threads
from rankine._base.records import cached_property
from rankine._io import read, source_of
from rankine._io.rows import as_rows, held
from rankine._io.sources import (
    PLAIN,
    Dense,
    Rows,
    hold_objects,
    is_sparse,
)
from rankine._io.values import ids, series_of
from rankine._join.ids import Index, different
from rankine._join.known_items import KnownItems
from rankine._join.lists import lists_of
from rankine._tables.groups import Interactions
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Ints
    from rankine._conventions.convention import Convention
    from rankine._io.columns import Role
    from rankine._io.items import Features
    from rankine._io.sources import Reading, Source
    from rankine._join.lists import Lists as RankedLists
    from rankine._tables.groups import InteractionCounts

T = TypeVar("T")
_ROOM = 1 << 32
"""How many hashes can be added up."""
_DIGITS = 16
_PART = 1 << 20
"""Rows that are hashed at once."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The interactions that users had before, which are numbered once.

    Attributes:
        frame: a row of query and item for each interaction; rows may repeat.
        n_places: how many users there are, if their ids are only their places.
    """

    frame: pl.DataFrame
    n_places: int | None = None

    @cached_property
    def users(self) -> pl.Series:
        """The ids of users, each once and in order."""
        return different(self.frame["query"])

    @cached_property
    def items(self) -> pl.Series:
        """The ids of items, each once and in order."""
        return different(self.frame["item"])

    @cached_property
    def had(self) -> Interactions:
        """Who had what, by their places in `users` and `items`."""
        n_users, n_items = len(self.users), len(self.items)
        return Interactions(self._users_and_items, n_users, n_items, _sorted)

    @property
    def frames(self) -> list[pl.DataFrame]:
        """What numbers depend on, as rows."""
        return [self.frame]

    def _users_and_items(self) -> tuple[Ints, Ints]:
        user = Index(self.users).find(self.frame["query"])
        item = Index(self.items).find(self.frame["item"])
        return user, item

    def __deepcopy__(self, memo: dict[int, Any]) -> TrainingData:
        """Return itself, as nothing of it can change."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the rows, from which the rest is computed again."""
        return type(self), (self.frame, self.n_places)


def _sorted(numbers: Ints) -> Ints:
    """Sort with all cores, as polars does."""
    return pl.Series(numbers).sort().to_numpy()


@dataclass(frozen=True, eq=False)
class TrainingCounts:
    """What is left of training data where it does not matter who had what.

    Attributes:
        users, items: their ids, each once and in order.
        had: how often each item was had; None if only the ids matter.
    """

    users: pl.Series
    items: pl.Series
    had: InteractionCounts | None = None

    @property
    def frames(self) -> list[pl.DataFrame]:
        """What numbers depend on, as rows."""
        items = self.items.to_frame("item")
        if self.had is not None:
            counts = {"records": self.had.records, "users": self.had.users}
            items = items.with_columns(**{n: pl.Series(c) for n, c in counts.items()})
        return [self.users.to_frame("query"), items]

    def __deepcopy__(self, memo: dict[int, Any]) -> TrainingCounts:
        """Return itself, as nothing of it can change."""
        return self


@dataclass(frozen=True, eq=False)
class SideData:
    """What is known in addition to the lists: read once, and numbered once.

    The same record is used for all batches and chunks. What was computed from it stays
    with it, and is left out when it is copied or pickled.

    Attributes:
        train: the interactions that users had before.
        features: the features of items.
        catalog: how many items there are, or which.
        reference: the lists of another recommender.
        ranked_reference: the same in the order of their ranks, which a convention
            decides.
        trained: whether there are training data, even where no metric needs them: they
            are about users.
    """

    train: TrainingData | TrainingCounts | None = None
    features: Features | None = None
    catalog: int | pl.Series | None = None
    reference: Source | None = None
    ranked_reference: RankedLists | None = None
    trained: bool = False

    @property
    def items(self) -> dict[str, pl.Series]:
        """The ids of items, by where they come from."""
        ids = {}
        if self.train is not None:
            ids["train"] = self.train.items
        if self.features is not None:
            ids["items"] = self.features.items
        if isinstance(self.catalog, pl.Series):
            ids["catalog"] = self.catalog
        if self.ranked_reference is not None:
            ids["reference"] = self.ranked_reference.items
        return ids

    @property
    def users(self) -> dict[str, pl.Series]:
        """The ids of users, by where they come from."""
        ids = {}
        if self.train is not None:
            ids["train"] = self.train.users
        if self.ranked_reference is not None:
            ids["reference"] = self.ranked_reference.queries
        return ids

    @property
    def offers(self) -> str | None:
        """Where the catalogue is: given, or else the items of train, or of features."""
        if self.catalog is not None:
            return "catalog"
        if self.train is not None:
            return "train"
        features = self.features
        return "items" if features is not None and len(features.items) else None

    def needed(self, needs: AbstractSet[str]) -> SideData:
        """Leave out what no metric needs; the same record for the same needs."""
        return self._once(frozenset(needs), lambda: self._needed(needs))

    def _needed(self, needs: AbstractSet[str]) -> SideData:
        infers = "catalog" in needs and self.catalog is None
        train, features, reference = self.train, self.features, self.reference
        if not infers and needs.isdisjoint({"train", "users"}):
            train = None
        infers = infers and train is None
        if not infers and needs.isdisjoint({"vectors", "topics", "subtopics"}):
            features = None
        if "reference" not in needs:
            reference = None
        return replace(self, train=train, features=features, reference=reference)

    def kept(self, needs: AbstractSet[str]) -> SideData:
        """Return what is kept for data that come in parts: counts, where these do."""
        known = self.needed(needs)
        train = known.train
        if isinstance(train, TrainingData) and "train_rows" not in needs:
            had = train.had.counts if "train" in needs else None
            train = TrainingCounts(train.users, train.items, had)
        return replace(known, train=train)

    def ranked(self, rule: Convention) -> SideData:
        """Return the same with the reference in the order of a convention.

        Args:
            rule: the convention, with an order that the reference has.
        """
        if self.reference is None:
            return self
        reference = self.reference
        key = (rule.order, rule.tie, rule.score_bits, rule.duplicates)
        return self._once(
            key, lambda: replace(self, ranked_reference=lists_of(reference, rule))
        )

    def beside(self, reference: Source | None) -> SideData:
        """Return the same with another reference."""
        if reference is self.reference:
            return self
        return replace(self, reference=reference)

    def numbers(self, ids: Mapping[str, pl.Series]) -> KnownItems:
        """Return all of this by the numbers of items.

        Args:
            ids: `items`, brought to the type of those of lists.
        """
        dtype = next((column.dtype for column in ids.values()), None)
        return self._once(("items", dtype), lambda: KnownItems(self, ids))

    def find_users(self, source: str, ids: pl.Series, asked: pl.Series) -> Ints:
        """Return where users are among those of a source, -1 where they are not.

        Args:
            source: the name of the source.
            ids: the `users` of that source, brought to the type of those asked for.
            asked: the users that are looked up.
        """
        index = self._once((source, ids.dtype), lambda: Index(ids))
        return index.find(asked)

    @cached_property
    def _computed(self) -> dict[Any, Any]:
        return {}

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        """Return what was made under a key before."""
        if key not in self._computed:
            self._computed[key] = make()
        made: T = self._computed[key]
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle what was read, from which the rest is computed again."""
        values = (getattr(self, field.name) for field in fields(self))
        return type(self), tuple(values)


NOTHING = SideData()
"""Nothing is known in addition to the lists."""


def train_of(train: Any, how: Reading = PLAIN) -> TrainingData:
    """Read the interactions that users had before."""
    rows = seen_of(train, how, "train")
    return TrainingData(rows.frame.select("query", "item"), rows.n_places)


def seen_of(train: Any, how: Reading, name: str) -> Rows:
    """Read the same as rows, with the ids of all users."""
    how = replace(how, subtopics=False)
    role: Role = "qrels"
    plain = isinstance(train, Mapping) and not is_sparse(train)
    if plain and not hold_objects(train.values()):
        role = "run"  # in which an item may come again
        train = {
            user: sorted(had, key=str) if isinstance(had, AbstractSet) else had
            for user, had in train.items()
        }
    source = read(train, role, how, name)
    rows = as_rows(source, role)
    if isinstance(source, Dense):
        rows = replace(rows, frame=rows.frame.filter(rows.frame["value"] != 0))
    if how.lenient:
        rows = replace(rows, frame=rows.frame.drop_nulls(["query", "item"]))
    if rows.frame.height == 0:
        msg = f"{rows.name}: contains no interactions"
        raise DataError(msg)
    return rows


def reference_of(reference: Any, how: Reading, order: str | None) -> Source:
    """Read the lists of another recommender, to be looked at any number of times."""
    source = source_of(reference, how, order, name="reference")
    return held(source)


def known_by(known: SideData) -> tuple[Any, ...]:
    """Return a small key that is the same for the same data."""
    features, catalog = known.features, known.catalog
    plain: list[Any] = [None if isinstance(catalog, pl.Series) else catalog]
    if features is not None:
        plain.append(features.distance)
    frames = [frame for parts in _frames_by_name(known).values() for frame in parts]
    if frames:
        need_threads()
    hashes = (int((frame.hash_rows() // _ROOM).sum()) for frame in frames)
    return (*plain, *hashes)


def prints_of(known: SideData) -> dict[str, str]:
    """Return a hash of each of these data, the same in every version of polars.

    The order of rows does not matter, except within a list of the reference, nor does
    the type of ids; a function of two items has none.
    """
    frames = {name: parts for name, parts in _frames_by_name(known).items() if parts}
    if frames:
        need_threads()
    return {name: _print(parts) for name, parts in frames.items()}


def _print(frames: list[pl.DataFrame]) -> str:
    digest = sha256()
    for frame in frames:
        floats = frame.select(cs.float()).columns
        texts = [name for name in frame.columns if name not in floats]
        rows = frame.with_columns(pl.format("{}", name).alias(name) for name in texts)
        # Of several numbers, each has an item of its own.
        for part in rows.sort(*texts, *floats[:1]).iter_slices(_PART):
            digest.update(f"{part.height} rows of {part.width}\n".encode())
            for name in texts:
                # Lengths first, so that it is clear where a text ends.
                lengths = part[name].str.len_bytes().to_numpy()
                digest.update(lengths.astype("<u4").tobytes())
                digest.update("".join(part[name].to_list()).encode())
            for name in floats:
                numbers = part[name].to_numpy() + 0.0  # -0 is 0
                digest.update(numbers.astype("<f8").tobytes())
    return digest.hexdigest()[:_DIGITS]


def _frames_by_name(known: SideData) -> dict[str, list[pl.DataFrame]]:
    """Return the data that numbers depend on as rows, by the names of the arguments."""
    train, features, catalog = known.train, known.features, known.catalog
    named: dict[str, list[pl.DataFrame]] = {}
    if isinstance(catalog, pl.Series):
        named["catalog"] = [catalog.to_frame()]
    if train is not None:
        named["train"] = train.frames
    if features is not None and features.distance is None:
        named["items"] = _frames_of(features)
    if known.reference is not None:
        # Which row of a list comes first can matter, with scores as well.
        rows = as_rows(known.reference, "run").frame
        place = pl.int_range(pl.len()).over("query")
        named["reference"] = [rows.with_columns(place.alias("place"))]
    return named


def _frames_of(features: Features) -> list[pl.DataFrame]:
    """Return what is known about items as rows, each with its item."""
    items, vectors = features.items, features.vectors
    frames = [items.to_frame()]
    if features.topic is not None and features.topic_item is not None:
        whose = items.gather(features.topic_item)
        weight = pl.Series("weight", features.weight)
        frames.append(pl.DataFrame([whose, features.topic.alias("topic"), weight]))
    if isinstance(vectors, np.ndarray):
        numbered = {f"{number}": column for number, column in enumerate(vectors.T)}
        frames.append(pl.DataFrame([items, *pl.DataFrame(numbered).get_columns()]))
    elif vectors is not None:
        cells = vectors.tocoo()
        whose = items.gather(cells.row)
        frames.append(
            pl.DataFrame({"item": whose, "column": cells.col, "value": cells.data})
        )
    return frames


def catalog_of(catalog: Any) -> int | pl.Series:
    """Read a catalogue: a number, or the ids of its items."""
    if isinstance(catalog, (int, np.integer)) and not isinstance(catalog, bool):
        return int(catalog)
    origin = Rows(pl.DataFrame(), "catalog")
    if isinstance(catalog, np.ndarray):
        catalog = catalog.tolist()
    if hasattr(catalog, "to_pylist"):
        catalog = catalog.to_pylist()
    plain = isinstance(catalog, (Collection, pl.Series)) or hasattr(catalog, "to_list")
    frame = hasattr(catalog, "columns")
    if not plain or frame or isinstance(catalog, (str, bytes, Mapping)):
        msg = (
            f"catalog must be a number of items or the items, got a "
            f"{type(catalog).__name__}{'; give its column of items' if frame else ''}"
        )
        raise ParameterError(msg)
    if not isinstance(catalog, pl.Series):
        listed = catalog.to_list() if hasattr(catalog, "to_list") else list(catalog)
        catalog = series_of("item", listed, "catalog", hint="")
    if len(catalog) == 0:
        msg = "the catalogue is empty"
        raise DataError(msg)
    need_threads()
    return ids(catalog, "item", origin, hint="")[0].unique()
