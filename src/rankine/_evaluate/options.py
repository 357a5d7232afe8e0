"""The options of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_choice, check_flag, check_k, check_number
from rankine._base.roles import APART, LIKE, OTHERS, ROLES, RUNS, none_of
from rankine._evaluate.memory import check_engine
from rankine._io.collapse import collapse_of
from rankine._io.columns import check_parts
from rankine._io.frames import is_frame
from rankine._io.sources import PLAIN, Reading
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from rankine._conventions.convention import Convention


@dataclass(slots=True, kw_only=True, eq=False)
class Options:
    """The options of `evaluate`, which explains them; the command has them too.

    Attributes:
        convention, ties, rel, catalog, items, train, reference, weights, columns,
            grades, depth, name, order, lower_is_better, lenient, collapse, keep,
            engine, memory_limit: see `evaluate`.
        files: how to read the files of a command, by their role: qrels, run, train,
            reference, items or weights.
    """

    convention: str | Convention = "rankine"
    ties: str | None = None
    rel: float | None = None
    catalog: Any = None
    items: Any = None
    train: Any = None
    reference: Any = None
    weights: Any = None
    columns: Mapping[str, Any] | None = None
    grades: Mapping[Any, float] | None = None
    depth: int | None = None
    name: str | None = None
    order: str | None = None
    lower_is_better: bool = False
    lenient: bool = False
    collapse: str | Mapping[Any, Any] | None = None
    keep: int | None = None
    engine: str = "auto"
    memory_limit: int | str | None = None
    files: Mapping[str, Reading] = field(default_factory=dict)

    def check(self) -> None:
        """Check everything that does not depend on metrics or data."""
        check_k(self.depth, "depth")
        check_k(self.keep, "keep")
        check_engine(self.engine, self.memory_limit)
        name: object = self.name
        if name is not None and not isinstance(name, str):
            msg = f"name must be text, got {name!r}"
            raise ParameterError(msg)
        check_flag("lower_is_better", self.lower_is_better)
        check_flag("lenient", self.lenient)
        if self.ties is not None:
            check_choice("ties", self.ties, ("average", "best", "worst"))
        if self.rel is not None:
            check_number("rel", self.rel)
        if self.order is not None:
            check_choice("order", self.order, ("score", "rank", "rank_value", "given"))
        if self.columns is not None and isinstance(self.columns, Mapping):
            self._check_columns(self.columns)
        if self.collapse is not None:
            collapse_of(self.collapse)

    def _check_columns(self, columns: Mapping[str, Any]) -> None:
        if "features" in columns:
            self._check_features(columns["features"])
        for role, parts in APART.items():
            check_parts(self._columns(role) or {}, parts)
        for name in map(str, columns):
            role, dot, _ = name.partition(".")
            if dot and role in OTHERS and getattr(self, role) is None:
                msg = (
                    f"columns gives {name!r}, but {none_of(role)}; give {role}= or "
                    f"--{role}"
                )
                raise ParameterError(msg)

    def _check_features(self, features: Any) -> None:
        names = features.split(",") if isinstance(features, str) else features
        plain = isinstance(names, (list, tuple)) and all(
            isinstance(name, str) for name in names
        )
        if not plain or not names:
            msg = f"columns gives 'features' {features!r}; expected one name or several"
            raise ParameterError(msg)
        if not (is_frame(self.items) or isinstance(self.items, (str, PathLike))):
            msg = (
                "columns gives 'features', which needs a frame or file in items= or "
                "--items"
            )
            raise ParameterError(msg)

    @property
    def of_items(self) -> Mapping[str, Any] | None:
        """The columns of items= that are given for all tables."""
        columns = self.columns
        if isinstance(columns, Mapping) and isinstance(columns.get("features"), str):
            return {**columns, "features": tuple(columns["features"].split(","))}
        return columns

    @property
    def given(self) -> frozenset[str]:
        """The names of the arguments that were given, besides judgements and a run."""
        # A function of two items does not say how many there are.
        of_items = "distance" if callable(self.items) else "items"
        more = {
            "train": self.train,
            "reference": self.reference,
            of_items: self.items,
            "catalog": self.catalog,
        }
        return frozenset(name for name, data in more.items() if data is not None)

    def reading(self, role: str, **more: Any) -> Reading:
        """Return how to read the judgements, the run or other data.

        Args:
            role: qrels, run, train, reference, items or weights.
            more: further fields of `Reading`, which follow from the metrics.
        """
        how = self.files.get(role, PLAIN)
        if self.columns is not None:
            more["columns"] = self._columns(role)
        if self.collapse is not None and role == "run":
            more["collapse"] = how_chunks = collapse_of(self.collapse)
            if how_chunks.column is not None:
                of_run = self._columns(role) or {}
                more["columns"] = {**of_run, "item": how_chunks.column}
        if self.lenient:
            more["lenient"] = True
        if self.lower_is_better and role in RUNS:
            more["lower_is_better"] = True
        if self.grades is not None and role not in RUNS:
            more["grades"] = self.grades
        # By identity, as some values, such as pd.NA, cannot be compared.
        said = {
            part: value
            for part, value in more.items()
            if value is not None and value is not False
        }
        return replace(how, **said) if said else how

    def _columns(self, role: str) -> Mapping[str, Any] | None:
        """Return the columns given for one kind of data, or for all.

        Training data share those of judgements, and the reference shares those of the
        run. Those of items and weights must be given separately, as their tables rarely
        have the same columns.
        """
        columns = self.columns
        if not isinstance(columns, Mapping):
            return columns
        shared: dict[str, Any] = {}
        by_role: dict[str, dict[str, Any]] = {kind: {} for kind in ROLES}
        for name, column in columns.items():
            kind, dot, part = str(name).partition(".")
            if dot and kind in by_role:
                by_role[kind][part] = column
            elif name != "features":
                shared[name] = column
        if role in APART:
            return by_role[role] or None
        return (shared | by_role[LIKE.get(role, role)] | by_role[role]) or None


def options_of(function: str, given: Mapping[str, Any]) -> Options:
    """Return the options of a function, besides its own arguments."""
    known = Options.__dataclass_fields__
    for name in given:
        if name not in known or name in {"name", "files"}:
            msg = f"{function} has no option {name!r}{nearest(name, known)}"
            raise ParameterError(msg)
    return Options(**given)
