"""Node: a part of a document that was saved, which knows where it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rankine.errors import FormatError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints

_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a document, which knows where it is."""

    value: Any
    where: str
    name: str

    def refuse(self, what: str) -> NoReturn:
        """Say what is wrong here."""
        msg = f"{self.name}: damaged, {self.where.lstrip('.')} {what}"
        raise FormatError(msg) from None

    def _is(self, kind: type | tuple[type, ...], words: str) -> Any:
        if not isinstance(self.value, kind) or isinstance(self.value, bool):
            self.refuse(f"is not {words}")
        return self.value

    def __getitem__(self, key: str) -> Node:
        entries = self._is(dict, "an object") if self.where else self.value
        child = Node(entries.get(key), f"{self.where}.{key}", self.name)
        if key not in entries:
            child.refuse("is missing")
        return child

    def parts(self, n: int | None = None) -> list[Node]:
        """Return the parts of a list, which must have n of them if n is given."""
        values = self._is(list, "a list")
        if n is not None and len(values) != n:
            self.refuse(f"has {len(values)} entries, not {n}")
        return [
            Node(value, f"{self.where}[{index}]", self.name)
            for index, value in enumerate(values)
        ]

    def entries(self) -> dict[str, Node]:
        """Return the entries of an object by their names."""
        return {name: self[name] for name in self._is(dict, "an object")}

    def texts_by_name(self) -> dict[str, str]:
        return {name: part.text() for name, part in self.entries().items()}

    def counts_by_name(self) -> dict[str, int]:
        return {name: part.count() for name, part in self.entries().items()}

    def text(self) -> str:
        return str(self._is(str, "a text"))

    def texts(self) -> tuple[str, ...]:
        return tuple(part.text() for part in self.parts())

    def count(self, below: int = _LARGEST) -> int:
        value: int = self._is(int, "a number from 0")
        if not 0 <= value < below:
            self.refuse(f"is {value}, which is not from 0 to {below - 1}")
        return value

    def whole(self) -> int:
        """Return a whole number, which may be below 0."""
        value: int = self._is(int, "a whole number")
        if abs(value) >= _LARGEST:
            self.refuse("is too large")
        return value

    def counts(self, n: int | None = None, below: int = _LARGEST) -> Ints:
        parts = self.parts(n)
        return np.array([part.count(below) for part in parts], dtype=np.int64)

    def flag(self) -> bool:
        if self.value is not True and self.value is not False:
            self.refuse("is not true or false")
        return bool(self.value)

    def number(self) -> float:
        if self.value is None:
            return math.nan
        if self.value in ("inf", "-inf"):
            return float(self.value)
        value = self._is((int, float), "a number")
        if isinstance(value, int) and abs(value) >= _LARGEST:
            self.refuse("is too large")
        return float(value)

    def finite(self, n: int) -> Floats:
        """Return numbers, of which none is infinite; nan for null."""
        numbers = self.numbers(n)
        if np.isinf(numbers).any():
            self.refuse("has a number that is infinite")
        return numbers

    def numbers(self, n: int) -> Floats:
        if isinstance(self.value, np.ndarray) and len(self.value) == n:
            return self.value
        return np.array([part.number() for part in self.parts(n)], dtype=np.float64)
