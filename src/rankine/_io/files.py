"""Files: a path, a folder, a pattern or standard input, by content.

They are read as judgements, as a run, or as a table with named columns.
"""

from __future__ import annotations

import glob
from contextlib import closing, suppress
from dataclasses import replace
from functools import reduce
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import unquote

import polars as pl

from rankine._base.contradiction import NO_CONTRADICTION, Contradiction
from rankine._base.text import Counted, count
from rankine._io.batches import read_batches
from rankine._io.bytes import STDIN, Opened, cannot
from rankine._io.detect import sniff, sniff_table
from rankine._io.formats import FORMATS
from rankine._io.frames import from_frame, open_frame, reason, rows_of
from rankine._io.mappings import read_lists
from rankine._io.rows import all_lists, as_rows, concat
from rankine._io.sources import Lists, Rows, Stream, no_rows, noted, with_rows
from rankine._io.tables import Table, together
from rankine.errors import FormatError, NoRowsError

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from rankine._io.columns import Role
    from rankine._io.fields import Sniffed
    from rankine._io.sources import Reading
    from rankine._io.tables import Loaded, OpenTable

T = TypeVar("T")
_Keys: TypeAlias = "Mapping[str, str | None]"
_NULL = "__HIVE_DEFAULT_PARTITION__"
"""What Hive writes for a missing value."""
_VERSIONED = {
    "Delta": ("_delta_log/*", "deltalake", "scan_delta"),
    "Iceberg": ("metadata/*.metadata.json", "pyiceberg", "scan_iceberg"),
}
"""Tables with versions: what is in their folders, and what in polars reads them."""


def read_path(place: Path, role: Role, how: Reading) -> Rows | Stream | Lists:
    """Read judgements or a run from a file, or from all parts in a folder."""
    version = _newest(place)
    if version is not None:
        name = str(place)
        if role == "run" and how.memory:
            return read_batches(version, how, name)
        return from_frame(version, role, how, name=name)
    sources, n_files, said = _each(
        place, lambda path, keys: _read(path, role, how, keys), role
    )
    if n_files <= 1:
        return noted(sources[0], said)
    return _together(sources, str(place), role, said)


def read_table(place: Path, how: Reading) -> Table:
    """Open a table with named columns: a file, or all parts in a folder."""
    version = _newest(place)
    if version is not None:
        part = open_frame(version, str(place))
        return Table(part.title, (part,), how.columns or {})
    parts, n_files, said = _each(
        place, lambda path, keys: _open(path, how, keys), "run"
    )
    name = str(place) if n_files else parts[0].title
    notes = _of_all(((part.title, part.notes) for part in parts), name, len(parts))
    return Table(name, tuple(parts), how.columns or {}, notes + said)


def _each(
    place: Path, read: Callable[[Path, _Keys], T], role: Role
) -> tuple[list[T], int, tuple[str, ...]]:
    """Read a file, or all files of a folder or a pattern, and count the latter.

    Files without rows are skipped, as programs that write in parts leave some; what is
    skipped is said.
    """
    paths = parts_of(place)
    if paths is None:
        return [read(place, {})], 0, ()
    parts, skipped = [], []
    for path in paths:
        try:
            parts.append(read(path, _keys_of(path, place)))
        except NoRowsError:
            skipped.append(path)
    if not parts:
        word = "judgements" if role == "qrels" else "rows"
        msg = f"{place}: its files contain no {word}"
        raise NoRowsError(msg)
    said = [f"{len(parts)} files are read as one"] if len(parts) > 1 else []
    if skipped:
        such = f"without rows, such as {skipped[0].name}: left out"
        said.append(f"{count(len(skipped), 'file')} {such}")
    folders = [path.name for path in _visible(place) if path.is_dir()]
    if folders:
        such = f"such as {folders[0]}: left out, as its name is not key=value"
        said.append(f"{count(len(folders), 'folder')} in it, {such}")
    return parts, len(paths), tuple(f"{place}: {note}" for note in said)


def _keys_of(path: Path, folder: Path) -> _Keys:
    """Return the columns that are in the names of the folders of a file, as in Hive.

    >>> _keys_of(Path("log/day=7/user=a%20b/part-0.parquet"), Path("log"))
    {'day': '7', 'user': 'a b'}
    """
    if folder not in path.parents:
        return {}  # of a pattern
    named = [name.partition("=") for name in path.relative_to(folder).parts[:-1]]
    return {key: None if text == _NULL else unquote(text) for key, _, text in named}


def _with_keys(part: OpenTable, keys: _Keys) -> OpenTable:
    """Return a table with further columns, of one text each."""
    keys = {key: text for key, text in keys.items() if key not in part.names}
    if not keys:
        return part
    columns = [pl.lit(text, pl.String).alias(key) for key, text in keys.items()]

    def load(wanted: Sequence[str], numeric: Collection[str] = ()) -> Loaded:
        inside = [name for name in wanted if name not in keys] or [part.names[0]]
        frame, origin = part.load(inside, [name for name in numeric if name in inside])
        return frame.with_columns(columns).select(wanted), origin

    return replace(part, names=(*part.names, *keys), load=load, batches=None)


def _read(place: Path, role: Role, how: Reading, keys: _Keys) -> Rows | Stream | Lists:
    """Read judgements or a run from one file, by its content."""
    if keys:
        part = _open(place, how, keys)
        rows = rows_of(part, role, how)
        if rows.is_empty:
            raise no_rows(part.title, role)
        return replace(rows, kind=part.kind)
    opened = Opened(place, how)
    sniffed = sniff(opened, role, how)
    source = FORMATS[sniffed.format].read(opened, sniffed, role, how)
    if source.is_empty:
        raise no_rows(opened.name, role)
    return replace(source, kind=_kind(opened, sniffed))


def _open(place: Path, how: Reading, keys: _Keys) -> OpenTable:
    """Open a file with named columns, by its content."""
    opened = Opened(place, how)
    sniffed = sniff_table(opened, how)
    entry = FORMATS[sniffed.format]
    part = entry.open(opened, sniffed)  # type: ignore[misc] # it was checked to be one
    return _with_keys(replace(part, kind=_kind(opened, sniffed)), keys)


def _kind(opened: Opened, sniffed: Sniffed) -> str:
    return sniffed.format + (f", {opened.packing}" if opened.packing else "")


def parts_of(place: Path) -> list[Path] | None:
    """Return the files of a folder or of a pattern; None for a single file."""
    text = str(place)
    if text == STDIN:
        return None
    try:
        folder = place.is_dir()
        exists = place.exists()
    except (OSError, ValueError):
        return None  # opening it says why
    if folder:
        try:
            paths = [path for path in _visible(place) if path.is_file()]
        except OSError as error:
            raise cannot(place, error) from None
        if not paths:
            msg = f"{place}: is a folder without files"
            raise FormatError(msg)
        _refuse_cut_off(paths)
        return paths
    if exists or not any(mark in text for mark in "*?["):
        return None
    matched = [Path(path) for path in sorted(glob.glob(text, recursive=True))]  # noqa: PTH207
    files = [path for path in matched if path.is_file()]
    if not files:
        msg = f"{text}: no file matches this pattern"
        raise FormatError(msg)
    _refuse_cut_off(files)
    for parent in {path.parent for path in files}:
        if (parent / "_delta_log").exists():
            msg = (
                f"{text}: these files include old versions of a Delta table; give its "
                f"folder, {parent}"
            )
            raise FormatError(msg)
    return files


def stamps_of(place: Path) -> tuple[tuple[str, int, int], ...] | None:
    """Return the path, the size and the time of each file.

    None if they can be read only once, and none if reading them says what is wrong.
    """
    if str(place) == STDIN:
        return None
    try:
        stats = [(str(path), path.stat()) for path in parts_of(place) or [place]]
    except (OSError, ValueError, FormatError):
        return ()
    if not all(S_ISREG(stat.st_mode) for _, stat in stats):
        return None
    return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in stats)


def _visible(folder: Path) -> Iterator[Path]:
    """Find what is in a folder, and in those in it whose names are ``key=value``."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith((".", "_")):
            continue
        if "=" in path.name and path.is_dir():
            yield from _visible(path)
        else:
            yield path


def _newest(place: Path) -> pl.LazyFrame | None:
    """Return the newest version of a table whose files hold old versions too.

    None if this is no folder of such a table.
    """
    if not _is_folder(place):
        return None
    for kind, (pattern, package, reader) in _VERSIONED.items():
        found = list(place.glob(pattern))
        if not found:
            continue
        if find_spec(package) is None:
            msg = (
                f"{place}: is in the {kind} format, and its files include old "
                f"versions; install {package} to read the newest one"
            )
            raise FormatError(msg)
        newest = place if pattern.endswith("*") else max(found, key=_number)
        try:
            version: pl.LazyFrame = getattr(pl, reader)(str(newest))
        except Exception as error:  # noqa: BLE001 - the package has errors of its own
            msg = f"{place}: cannot be read as {kind} ({reason(error)})"
            raise FormatError(msg) from None
        return version
    return None


def _is_folder(place: Path) -> bool:
    try:
        return str(place) != STDIN and place.is_dir()
    except (OSError, ValueError):
        return False  # opening it says why


def _number(path: Path) -> int:
    """Return the number in the name of a file, as in v10.metadata.json."""
    return int("".join(takewhile(str.isdigit, path.name.lstrip("v"))) or 0)


def _refuse_cut_off(paths: list[Path]) -> None:
    """Refuse a file of columns without a byte, which a failed write leaves.

    Text need not have any, if there are no rows.
    """
    full = {end for entry in FORMATS.values() if entry.magic for end in entry.endings}
    for path in paths:
        if path.suffix.lower() in full and path.stat().st_size == 0:
            msg = f"{path}: is empty; writing it probably failed: write it again"
            raise FormatError(msg)


def _together(
    sources: list[Rows | Stream | Lists], name: str, role: Role, as_one: tuple[str, ...]
) -> Rows | Stream | Lists:
    """Put the parts of one run, or of one set of judgements, together."""
    if any(source.n_places is not None for source in sources):
        msg = (
            f"{name}: lists without query ids are paired by position, which is "
            "ambiguous across several files; put them into one file, or give query ids"
        )
        raise FormatError(msg)
    named = [(source.name, source.notes) for source in sources]
    notes = _of_all(named, name, len(sources)) + as_one
    streams = [source for source in sources if isinstance(source, Stream)]
    if len(streams) == len(sources):
        return _streams_together(streams, name, notes)
    whole = _lists_together(sources, name, role)
    if whole is not None:
        return replace(whole, notes=notes)
    parts = [as_rows(source, role) for source in sources]
    kinds = {_what(rows): rows.name for rows in parts}
    if len(kinds) > 1:
        raise _unlike(name, kinds)
    together([rows.frame.clear() for rows in parts], parts)
    return replace(
        concat(parts),
        name=name,
        notes=notes,
        ranked=parts[0].ranked,
        placed=any(rows.placed for rows in parts),
        role=role,
        warnings=_warnings(parts, name),
        contradiction=_contradiction(parts),
        column=parts[0].column,
        unit=parts[0].unit,
        queries=all_lists(parts),
    )


def _lists_together(
    sources: Sequence[Rows | Stream | Lists], name: str, role: Role
) -> Lists | Rows | None:
    """Put mappings together, so that empty lists stay; None if they share queries."""
    lists = [source for source in sources if isinstance(source, Lists)]
    data = {query: own for source in lists for query, own in source.data.items()}
    n_queries = sum(len(source.data) for source in lists)
    if len(lists) < len(sources) or len(data) < n_queries:
        return None
    return read_lists(data, role, name)


_NO_VALUE = "no scores"


def _unlike(name: str, kinds: dict[str, str]) -> FormatError:
    """Say that one file has what another lacks; takes what each has, and its name."""
    (first, file), (second, other) = sorted(kinds.items())[:2]
    said = f"{file} has {first} and {other} has {second}"
    if _NO_VALUE in kinds:
        has = first if second == _NO_VALUE else second
        word = has.partition(" ")[0].removesuffix("s")
        said = f"{kinds[_NO_VALUE]} has no {word} column, but {kinds[has]} has one"
    return FormatError(f"{name}: {said}; all files must be alike")


def _what(rows: Rows) -> str:
    if "value" not in rows.frame.columns:
        return _NO_VALUE
    others = rows.frame.columns[3:]
    return " and ".join(("ranks" if rows.ranked else "scores", *others))


def _streams_together(
    sources: list[Stream], name: str, notes: tuple[str, ...]
) -> Stream:
    def parts() -> Generator[Rows, None, None]:
        first: Rows | None = None
        for source in sources:
            with suppress(NoRowsError), closing(source.open()) as opened:
                for rows in opened:
                    first = first or replace(rows, frame=rows.frame.clear())
                    if _what(first) != _what(rows):
                        kinds = {_what(part): part.name for part in (first, rows)}
                        raise _unlike(name, kinds)
                    together([first.frame, rows.frame.clear()], [first, rows])
                    own = ((source.name, note) for note in rows.notes)
                    yield replace(
                        rows, notes=tuple(_of_many([note], name, 1) for note in own)
                    )
                    del rows

    if len({source.ranked for source in sources}) > 1:
        msg = f"{name}: some files have scores and some have only ranks"
        raise FormatError(msg)
    return Stream(
        lambda: with_rows(parts(), name),
        name,
        notes,
        ranked=sources[0].ranked,
        tag=sources[-1].tag,
        warnings=_warnings(sources, name),
        contradiction=_contradiction(sources),
        unit=sources[0].unit,
        n_rows=_sum(source.n_rows for source in sources),
    )


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = list(numbers)
    return None if None in known else sum(filter(None, known))


def _warnings(parts: Sequence[Rows | Stream], name: str) -> tuple[str, ...]:
    return _of_all(((part.name, part.warnings) for part in parts), name, len(parts))


def _contradiction(parts: Sequence[Rows | Stream]) -> Contradiction:
    return reduce(
        Contradiction.plus, (part.contradiction for part in parts), NO_CONTRADICTION
    )


def _of_all(
    said: Iterable[tuple[str, Iterable[str]]], name: str, n_files: int
) -> tuple[str, ...]:
    """Return what is said of the files of a folder: each thing once, with its files.

    Args:
        said: the name of each file that is read, and the notes on it.
        name: the folder.
        n_files: how many files there are.

    >>> _of_all([("p/1", ("p/1: no header",)), ("p/2", ("p/2: no header",))], "p", 2)
    ('p: no header',)
    >>> notes = [(f"p/{n}", (f"p/{n} has no ranks",)) for n in range(3)]
    >>> _of_all(notes, "p", 9)
    ('p has no ranks (3 of 9 files, such as p/0)',)
    """
    by_words: dict[Any, list[tuple[str, str]]] = {}
    for file, notes in said:
        for note in notes:
            words: Any = note.removeprefix(file)
            if isinstance(note, Counted):
                before, noun, after = note.key
                words = before.removeprefix(file), noun, after
            by_words.setdefault(words, []).append((file, note))
    return tuple(
        alike[0][1] if len(alike) == 1 else _of_many(alike, name, n_files)
        for alike in by_words.values()
    )


def _of_many(alike: Sequence[tuple[str, str]], name: str, n_files: int) -> str:
    """Say once what is said of several files; takes the files and their notes."""
    file, first = alike[0]
    which = f" ({len(alike):,} of {n_files:,} files, such as {file})"
    which = "" if len(alike) == n_files else which
    if isinstance(first, Counted):
        before, noun, after = first.key
        n = sum(note.n for _, note in alike if isinstance(note, Counted))
        return Counted(_renamed(before, file, name), n, noun, after + which)
    return _renamed(first, file, name) + which


def _renamed(words: str, file: str, name: str) -> str:
    return name + words.removeprefix(file) if words.startswith(file) else words
