"""YAML without surprises: plain values, each with its place in the file.

The numbers and words are those of YAML 1.2, so that ``no`` is a text and ``1e-3`` a
number. There are no tags, aliases, merged keys or keys that appear twice. Keys are
texts, as they are written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from rankine.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_BYTES = 1 << 20
_DEEPEST = 50
_LONGEST_NUMBER = 300
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"(?P<true>true|True|TRUE)|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
    r"|(?P<inf>[-+]?\.(inf|Inf|INF))|(?P<nan>\.(nan|NaN|NAN))"
)

Path = tuple[str | int, ...]


class Place(NamedTuple):
    """Where something is, counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        """Return line:column, as editors read it."""
        return f"{self.line}:{self.column}"


@dataclass
class Document:
    """What a YAML file says.

    Attributes:
        name: the name of the file.
        text: what stands in it.
        data: mappings, lists, texts, numbers, true, false and null.
        keys: where the key of each value stands, by the path to it.
        values: where the value itself stands.
    """

    name: str
    text: str = ""
    data: Any = None
    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Return where a value or its key is, or else where what contains it is."""
        while path:
            if key and path in self.keys:
                return self.keys[path]
            if path in self.values:
                return self.values[path]
            path = path[:-1]
        return self.values.get((), Place(1, 1))


def read_yaml(content: bytes, name: str) -> Document:
    """Read YAML.

    >>> read_yaml(b"a: [1e-3, no, 0o17, 12:30]", "x.yaml").data
    {'a': [0.001, 'no', 15, '12:30']}
    """
    if len(content) > _MOST_BYTES:
        msg = f"{name}: has {len(content):,} bytes; at most {_MOST_BYTES:,} are read"
        raise FormatError(msg)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        msg = f"{name}:{line}: is not UTF-8 text"
        raise FormatError(msg) from None
    document = Document(name, text)
    try:
        _StrictReader(document, yaml.parse(text, Loader=yaml.SafeLoader)).read()
    except yaml.YAMLError as error:
        raise _not_yaml(error, name) from None
    return document


def _not_yaml(error: yaml.YAMLError, name: str) -> FormatError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None)
    where = f"{name}:{_place(mark)}" if mark else name
    return FormatError(f"{where}: is not YAML ({reason or 'it cannot be read'})")


def _place(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1)


@dataclass
class _StrictReader:
    """Builds values from the events of the parser."""

    document: Document
    events: Iterator[Any]

    def read(self) -> None:
        next(self.events)  # the stream begins
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            return
        self.document.data = self._value(next(self.events), ())
        next(self.events)  # the document ends
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            self._refuse(event, "a second document begins here; expected only one")

    def _value(self, event: Any, path: Path) -> Any:
        if isinstance(event, yaml.AliasEvent):
            self._refuse(event, f"*{event.anchor} is an alias; write the value out")
        if event.tag is not None:
            self._refuse(event, f"{event.tag} is a tag; write a plain value")
        if len(path) > _DEEPEST:
            self._refuse(event, f"values are nested more than {_DEEPEST} levels deep")
        self.document.values[path] = _place(event.start_mark)
        if isinstance(event, yaml.ScalarEvent):
            self._check_text(event)
            return event.value if event.style else self._scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(path)
        return self._mapping(path)

    def _list(self, path: Path) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            values.append(self._value(event, (*path, len(values))))
        return values

    def _mapping(self, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.tag is not None:
                self._refuse(event, "a key must be plain text")
            self._check_text(event)
            key = event.value
            if key == "<<" and not event.style:
                self._refuse(event, "<< merges keys; write them out")
            below = (*path, key)
            if key in values:
                line = self.document.keys[below].line
                self._refuse(event, f"{key!r} appears twice; it is also in line {line}")
            self.document.keys[below] = _place(event.start_mark)
            values[key] = self._value(next(self.events), below)
        return values

    def _check_text(self, event: Any) -> None:
        """Refuse escapes of unpaired surrogates."""
        if any("\ud800" <= mark <= "\udfff" for mark in event.value):
            what = "a text contains an unpaired surrogate (\\ud800 to \\udfff)"
            self._refuse(event, f"{what}, which is not valid text")

    def _scalar(self, event: Any) -> Any:
        text = event.value
        if _NULL.fullmatch(text):
            return None
        if match := _BOOL.fullmatch(text):
            return match["true"] is not None
        number = _INT.fullmatch(text) or _FLOAT.fullmatch(text)
        if number and len(text) > _LONGEST_NUMBER:
            most = f"at most {_LONGEST_NUMBER} are read"
            self._refuse(event, f"a number has {len(text)} digits; {most}")
        if _INT.fullmatch(text):
            return int(text, 0) if text[1:2] in {"o", "x"} else int(text)
        if match := _FLOAT.fullmatch(text):
            if match["inf"] or match["nan"]:
                return float(text.replace(".", ""))
            return float(text)
        return text

    def _refuse(self, event: Any, what: str) -> None:
        place = _place(event.start_mark)
        msg = f"{self.document.name}:{place}: {what}"
        raise FormatError(msg)
