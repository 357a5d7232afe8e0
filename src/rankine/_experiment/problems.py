"""What is wrong with an experiment, each with its place in the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from rankine.errors import ExperimentError, RankineError

if TYPE_CHECKING:
    from rankine._base.strict_yaml import Document, Path, Place


@dataclass
class Problems:
    """Collects problems, so that all of them can be shown at once."""

    places: dict[tuple[str, Place, str], None] = field(default_factory=dict)

    def add(
        self, document: Document, path: Path, what: str, *, key: bool = False
    ) -> None:
        """Add one problem: of a value, or of its key."""
        place = document.place(path, key=key)
        self.places[document.name, place, what] = None

    def of(self, document: Document, path: Path, *, key: bool = False) -> _Guard:
        """Add what is refused inside as a problem of this place."""
        return _Guard(self, document, path, key)

    def touch(self, document: Document, path: Path) -> bool:
        """Whether a problem stands at this path or below it."""
        places = {document.place(path), document.place(path, key=True)}
        below = {
            place
            for table in (document.keys, document.values)
            for other, place in table.items()
            if other[: len(path)] == path
        }
        return any(
            name == document.name and place in places | below
            for name, place, _ in self.places
        )

    def error(self, name: str) -> ExperimentError:
        """Return an error that names all of them, in the order of their places."""
        texts = [
            f"{document}:{place}: {what}"
            for document, place, what in sorted(self.places)
        ]
        return ExperimentError(name, texts)


class _Guard(NamedTuple):
    """Turns an error into a problem of its place."""

    problems: Problems
    document: Document
    path: Path
    key: bool

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        """Keep what was refused, and go on."""
        refused = isinstance(error, RankineError)
        if refused:
            self.problems.add(self.document, self.path, str(error), key=self.key)
        return refused
