"""Judgements of datasets that the package ir_datasets knows: ``irds:NAME``."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._io.frames import from_frame
from rankine.errors import (
    DataError,
    FormatError,
    MissingExtraError,
    UnavailableError,
    nearest,
)

if TYPE_CHECKING:
    from rankine._io.columns import Role
    from rankine._io.sources import Reading, Rows

PREFIX = "irds:"
"""How the name of a dataset begins, where a path may be."""
_FIELDS = {
    "query_id": "query",
    "doc_id": "item",
    "relevance": "grade",
    "subtopic_id": "subtopic",
}
"""What judgements of ir_datasets have, of which the last is rare."""
_SHOWN = 160
"""Characters of an error that are shown."""
_SPLITS = 4
"""Parts of a dataset that are named."""


def read_dataset(place: str, role: Role, how: Reading) -> Rows:
    """Read the judgements of a dataset, which ir_datasets downloads if need be.

    Args:
        place: the prefix and the name, such as ``irds:beir/scifact/test``.
        role: what they are wanted as: judgements alone can be read.
        how: what the user says. Formats and columns are said of other files.
    """
    if role == "run":
        msg = f"{place} stands for judgements, and cannot be used as a run"
        raise DataError(msg)
    dataset = _dataset(place)
    try:
        fields = [name for name in _FIELDS if name in dataset.qrels_cls()._fields]
        judged = [
            [getattr(own, name) for name in fields] for own in dataset.qrels_iter()
        ]
    except Exception as error:  # noqa: BLE001 - of requests, of the disk, of its own
        msg = (
            f"{place}: ir_datasets cannot get the judgements ({_reason(error)}); try "
            "again when they can be downloaded"
        )
        raise UnavailableError(msg) from None
    names = [_FIELDS[name] for name in fields]
    frame = pl.DataFrame(judged, names, orient="row", infer_schema_length=None)
    rows = from_frame(frame, role, replace(how, columns=None), name=place)
    return replace(rows, kind="ir_datasets")


def _dataset(place: str) -> Any:
    """Return the dataset, which has judgements."""
    name = place.removeprefix(PREFIX)
    try:
        import ir_datasets  # noqa: PLC0415 - an optional package
    except ImportError:
        msg = f"{place} needs the package ir_datasets; pip install 'rankine-eval[irds]'"
        raise MissingExtraError(msg) from None
    known = list(ir_datasets.registry)
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        msg = f"{place}: ir_datasets has no dataset {name!r}{nearest(name, known)}"
        raise FormatError(msg) from None
    if dataset.has_qrels():
        return dataset
    parts = (other for other in known if other.startswith(f"{name}/"))
    judged = (other for other in parts if ir_datasets.load(other).has_qrels())
    some = ", ".join(f"{PREFIX}{other}" for other in islice(judged, _SPLITS))
    msg = f"{place} has no judgements" + (f"; those that do are {some}" if some else "")
    raise FormatError(msg)


def _reason(error: Exception) -> str:
    """Return the first words of an error, which may be pages."""
    first = error.args[0] if error.args else ""
    text = first if isinstance(first, str) else str(error)
    return text.partition(" (Caused by")[0][:_SHOWN] or type(error).__name__
