"""What an experiment may say, as records that pydantic checks."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rankine._conventions.presets import PRESETS
from rankine._experiment.grid import shown_value
from rankine._metrics.names import metrics
from rankine._stats.corrections import CORRECTIONS  # noqa: TC001 - pydantic reads it
from rankine._stats.paired import DRAWS
from rankine._stats.pairwise import FAMILIES, INTERVALS, TESTS  # noqa: TC001
from rankine.errors import nearest

if TYPE_CHECKING:
    from rankine._base.strict_yaml import Document
    from rankine._experiment.problems import Problems

_MOST_DRAWS = 100_000_000
_Text = Annotated[str, Field(min_length=1)]
_Names = Annotated[list[_Text], Field(min_length=1)]
_Metrics = Annotated[list[_Text | dict[str, Any]], Field(min_length=1)]
_Count = Annotated[int, Field(ge=1, le=1 << 62)]
_Margin = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Number = Annotated[float, Field(allow_inf_nan=False)]
_STRICT = ConfigDict(extra="forbid", strict=True)


_Role = Literal["run", "qrels", "train", "items", "reference", "weights"]


class Comparing(BaseModel):
    """How runs are compared; the words are those of `rankine.compare`."""

    model_config = _STRICT

    baseline: _Text | None = Field(
        default=None,
        description="The run that all others are compared with; every pair is "
        "compared if not given.",
    )
    test: Literal[TESTS] = Field(  # type: ignore[valid-type]
        default="randomization", description="The test of a pair of runs."
    )
    correction: Literal[(*CORRECTIONS, "maxt", "none")] = Field(  # type: ignore[valid-type]
        default="holm", description="The correction for the number of pairs."
    )
    family: Literal[FAMILIES] = Field(  # type: ignore[valid-type]
        default="metric",
        description="What is corrected together: the pairs of each metric, or all.",
    )
    confidence: float = Field(
        default=0.95, gt=0, lt=1,
        description="Confidence level of intervals; verdicts are given at 1 minus it.",
    )  # fmt: skip
    intervals: Literal[INTERVALS] = Field(  # type: ignore[valid-type]
        default="pair",
        description="What intervals of differences hold for: pair, each for its pair "
        "alone; simultaneous, also for all pairs at once.",
    )
    margin: _Margin | dict[str, _Margin] | None = Field(
        default=None,
        description="The difference that does not matter, for equivalence: a number "
        "for all metrics, or a number for each.",
    )
    by: _Text | None = Field(
        default=None,
        description="A table with a column of queries and one of segments: every "
        "metric is also shown by segment.",
    )
    draws: int = Field(
        default=DRAWS, ge=1, le=_MOST_DRAWS,
        description="How many random flips or resamples.",
    )  # fmt: skip
    seed: int = Field(
        default=0, ge=0, le=1 << 62, description="The seed of the random draws."
    )


class Experiment(BaseModel):
    """An experiment: runs, metrics with grids, conventions, comparison and outputs.

    Paths are relative to the folder of the file. The options of an evaluation have the
    words of `rankine.evaluate`.
    """

    model_config = _STRICT

    qrels: _Text | None = Field(
        default=None, description="The judgements; without them, only metrics that "
        "need none can be computed.",
    )  # fmt: skip
    runs: _Text | _Names | dict[str, _Text] = Field(
        description="A path or a pattern such as runs/*.txt, a list of them, or a "
        "mapping from name to path. A run without a name is named after its file.",
    )
    metrics: _Text | _Metrics | dict[str, Any] = Field(
        description="Names such as nDCG@10, grids such as nDCG@: [1, 5, 10] or RBP: "
        "{p: [0.5, 0.8]}, or the path of a YAML file that holds them.",
    )
    convention: _Text | _Names = Field(
        default="rankine",
        description="Whose choices the numbers follow: a name, the path of a YAML "
        "file of a convention, or a list of these.",
    )
    rel: int | _Number | None = Field(
        default=None, description="The smallest relevant grade."
    )
    ties: Literal["average", "best", "worst"] | None = Field(
        default=None,
        description="The mean over all orders of tied items, or its bounds.",
    )
    depth: _Count | None = Field(
        default=None, description="Use only this many first items of each list."
    )
    order: Literal["score", "rank", "rank_value", "given"] | None = Field(
        default=None, description="What the ranking follows."
    )
    catalog: _Count | None = Field(
        default=None, description="Number of items in the catalogue."
    )
    train: _Text | None = Field(
        default=None, description="Interactions that users had before."
    )
    items: _Text | None = Field(
        default=None, description="Features or topics of items: a table."
    )
    reference: _Text | None = Field(
        default=None, description="The lists of another recommender."
    )
    weights: _Text | None = Field(
        default=None, description="How much each query counts: a table."
    )
    columns: dict[str, str | int | list[str]] | None = Field(
        default=None,
        description="The column of each part, as in item: movieId or run.item: doc.",
    )
    formats: dict[_Role, _Text] | None = Field(
        default=None,
        description="The format of files that are not recognised, by their role: "
        "qrels, run, train, reference, items or weights.",
    )
    grades: dict[str, _Number] | None = Field(
        default=None, description="What each grade in words is worth."
    )
    lower_is_better: bool = Field(
        default=False, description="Scores are distances, the smallest first."
    )
    lenient: bool = Field(
        default=False,
        description="Drop and count rows that would otherwise be refused.",
    )
    keep: _Count | None = Field(
        default=10,
        description="How many first items of each list are kept, to show queries "
        "that moved.",
    )
    compare: Comparing | None = Field(
        default=None, description="Compare the runs; without it, only means are shown."
    )
    output: _Text = Field(
        default="results", description="The folder of the results, below that of the "
        "file.",
    )  # fmt: skip


DEFAULT: str = Experiment.model_fields["convention"].default
"""The convention that is used if none is named."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file, by which editors complete it."""
    schema = Experiment.model_json_schema()
    parts = schema["properties"]
    # Editors complete what is known; other names, such as those of files, stay valid.
    parts["convention"]["anyOf"].insert(0, {"enum": list(PRESETS)})
    known = {"enum": [*metrics(), *(f"{name}@" for name in metrics())]}
    for part in parts["metrics"]["anyOf"]:
        if part["type"] == "object":
            part["propertyNames"] = {"anyOf": [known, {"type": "string"}]}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | schema | {"title": "rankine experiment"}


def checked(document: Document, problems: Problems) -> Experiment | None:
    """Return the experiment that a document describes.

    Invalid parts are left out, so that the rest can be checked too; None if nothing is
    left.
    """
    if not isinstance(document.data, dict):
        what = "expected qrels, runs, metrics and so on, a line for each"
        problems.add(document, (), what)
        return None
    data = document.data
    if data.get("compare", data) is None:
        data = data | {"compare": {}}  # its name alone asks for the usual comparison
    try:
        return Experiment.model_validate(data)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=True)
        for entry in _told_once(document, wrong):
            _add(document, entry, problems)
    whole = copy.deepcopy(data)
    for entry in wrong:
        _drop(whole, _real(document, entry["loc"]))
    try:
        return Experiment.model_validate({"runs": "-", "metrics": "-"} | whole)
    except ValidationError:
        return None


def _told_once(document: Document, wrong: list[Any]) -> list[Any]:
    """Return the errors of each key; if it has several forms, those of the nearest.

    A value that has none of the forms has an error for each of them. The error that
    reaches deepest into the value belongs to the form that it has; if there is none,
    all errors become one.
    """
    by_key: dict[tuple[Any, ...], list[Any]] = {}
    for entry in wrong:
        path = _real(document, entry["loc"])
        depth = 2 if entry["loc"][0] == "compare" else 1
        by_key.setdefault(path[:depth], []).append((path, entry))
    kept = []
    for key, entries in by_key.items():
        deepest = max(len(path) for path, _ in entries)
        nearest_ones = {path: entry for path, entry in entries if len(path) == deepest}
        for path, entry in nearest_ones.items():
            same = sum(other == path for other, _ in entries)
            name = ".".join(map(str, key if path == key else (*key, "[]")))
            words = _FORMS.get(name)
            several = same > 1 and words is not None
            kept.append(entry | {"words": words} if several else entry)
    return kept


_FORMS = {
    "runs": "a path, a pattern, a list of these, or a mapping from name to path",
    "metrics": "a metric, a list or a mapping of metrics, or the path of a YAML file",
    "metrics.[]": "a metric such as nDCG@10, or a grid",
    "convention": "a convention, or a list of some",
    "compare.margin": "a number above 0, or one for each metric",
    "rel": "a number",
}
"""What keys with several forms take, in words."""


def _drop(data: Any, path: tuple[Any, ...]) -> None:
    """Take a value out of what was read; a whole list, if it is in one."""
    for step in path[:-1]:
        if not isinstance(data.get(step), dict):
            data.pop(step, None)
            return
        data = data[step]
    if path:
        data.pop(path[-1], None)


def _add(document: Document, entry: Any, problems: Problems) -> None:
    """Add one problem that pydantic found, in our own words."""
    path = _real(document, entry["loc"])
    kind, context = entry["type"], entry.get("ctx", {})
    got = f", got {shown_value(entry['input'])}"
    if "words" in entry:
        problems.add(document, path, f"expected {entry['words']}{got}")
    elif kind == "extra_forbidden":
        model = Comparing if entry["loc"][0] == "compare" else Experiment
        known = list(model.model_fields)
        key = str(path[-1])
        guess = nearest(key, known) or f"; the keys are {', '.join(known)}"
        problems.add(document, path, f"unknown key {key!r}{guess}", key=True)
    elif kind == "missing":
        what = f"{entry['loc'][-1]} is missing"
        problems.add(document, path, what)
    elif kind == "literal_error":
        what = f"expected {context['expected']}{got}"
        guess = _guess(entry["input"], context["expected"])
        key = entry["loc"][-1] == "[key]"
        problems.add(document, path, what + guess, key=key)
    elif kind in _KINDS:
        number = kind == "string_type" and isinstance(entry["input"], (int, float))
        quotes = "; put it in quotes" if number else ""
        problems.add(document, path, f"expected {_KINDS[kind]}{got}{quotes}")
    else:
        message = entry["msg"][:1].lower() + entry["msg"][1:]
        message = message.replace("input should be", "expected a number")
        problems.add(document, path, f"{message}{got}")


_KINDS = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_too_short": "text",
    "string_type": "text",
    "too_short": "at least one entry",
}
"""What pydantic's kinds of errors ask for, in words."""


def _guess(value: Any, expected: str) -> str:
    known = [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
    return nearest(str(value), known)


def _real(document: Document, location: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the part of a location that is in the file: pydantic adds its types."""
    path: tuple[Any, ...] = ()
    data = document.data
    for step in location:
        inside = isinstance(data, dict) and step in data
        inside |= isinstance(data, list) and isinstance(step, int) and step < len(data)
        if not inside:
            continue
        path, data = (*path, step), data[step]
    return path
