"""Convention: every choice on which evaluation tools differ, as one frozen record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args, get_type_hints

from rankine._base.notebook import as_table
from rankine._base.records import Frozen, freeze
from rankine._conventions.spellings import SPELLINGS, canonical
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    import os

WITH_CUTOFF = "@k"
SHARED = frozenset({"aggregate", "gain", "negative"})
"""Fields with the name of a parameter that some metrics have for themselves.

Which of the two an override means is known with its metric.
"""
BY_RANK = frozenset({"rank", "rank_value"})
"""Orders that are read from a rank column."""
Tie = Literal["id_desc", "id_asc", "input", "input_rev", "average", "best", "worst"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """How a tool turns a ranking and judgements into a number.

    The defaults are rankine's own, which are those of trec_eval 10 with ``-c``. Fields
    hold for all metrics; `overrides` holds exceptions for single metrics: a field of
    this class or a parameter of the metric. Fields take the same words as the
    parameters that follow them; older words, such as ``exp2`` for ``exponential``, are
    read and replaced.

    Attributes:
        order: where the ranking comes from: the score; the order given; the order of a
            rank column (``rank``); or the numbers of a rank column (``rank_value``),
            where a missing number counts as an item that is not relevant. Without a
            rank column it is the score, or the order given.
        tie: which item comes first among equal scores: the one with the larger or the
            smaller id (in byte order of its text), or the first or the last of the
            input; or the expected value over all orders, or the best or the worst
            order.
        score_bits: the precision with which scores are compared.
        duplicates: what happens to an item that appears twice in a list: it is an
            error, its last row counts, both rows count, or it counts once and occupies
            both ranks.
        threshold: an item is relevant when its grade is at least this.
        score_floor: retrieved items with this score or less are never relevant.
        unjudged: unjudged items count as not relevant, or are removed before ranking.
        pool: where the relevant items and the ideal list come from: all judgements;
            only the items in the list; or all judgements, with items not retrieved tied
            at the end of the list, for tools in which every item must have a score.
        p_den: what precision divides by.
        r_den: what recall divides by.
        ap_den: what average precision divides by.
        ap_terms: average precision sums over hits, or over all ranks.
        gain: what a grade is worth in DCG, in a word or as a mapping from grade to
            gain.
        gain_below_threshold: whether grades below the threshold keep their gain.
        negative: negative grades have no gain, are refused, or count as they are.
        discount: the discount of rank r in DCG.
        ideal: the list that nDCG divides by.
        queries: which queries are averaged: the judged ones, those of the run, or those
            in both.
        missing_run: a judged query that is not in the run counts as 0, or is an error.
        empty_truth: a query without relevant items counts as 0, is left out, counts as
            1, makes the mean undefined, or is an error.
        empty_list: a query of the run whose list is empty is measured like any other,
            or is left out.
        aggregate: mean over queries, or pooled numerators over pooled denominators;
            metrics with a parameter of this name use that instead.
        nothing: the result if no query is left.
        decimals: decimals to which the tool rounds its result.
        overrides: metric name -> {field or parameter: value}; a name like ``RR@k``
            is for that metric with a cutoff, and takes precedence over ``RR``.

    >>> Convention(ap_den="min_k_R").ap_den
    'min_k_R'
    >>> Convention(ap_den="R").replace(tie="average").tie
    'average'
    >>> Convention(gain="exp2") == Convention(gain="exponential")
    True
    """

    order: Literal["score", "given", "rank", "rank_value"] = "score"
    tie: Tie = "id_desc"
    score_bits: Literal[64, 32] = 64
    duplicates: Literal["error", "last", "count", "set"] = "error"
    threshold: float = 1
    score_floor: float | None = None
    unjudged: Literal["nonrel", "removed"] = "nonrel"
    pool: Literal["qrels", "list", "union"] = "qrels"
    p_den: Literal["k", "list", "min_k_R"] = "k"
    r_den: Literal["R", "min_k_R"] = "R"
    ap_den: Literal["R", "min_k_R", "min_R_list", "hits", "k", "none"] = "R"
    ap_terms: Literal["hits", "all_ranks"] = "hits"
    gain: (
        Literal["binary", "linear", "exponential", "exponential_rel"]
        | Mapping[float, float]
    ) = "linear"
    gain_below_threshold: bool = True
    negative: Literal["zero", "error", "keep"] = "zero"
    discount: Literal["log2", "jk"] = "log2"
    ideal: Literal["judged@k", "judged", "judged@list", "k_ones", "given@k"] = (
        "judged@k"
    )
    queries: Literal["qrels", "run", "both"] = "qrels"
    missing_run: Literal["zero", "error"] = "zero"
    empty_truth: Literal["zero", "skip", "one", "nan", "error"] = "zero"
    empty_list: Literal["keep", "skip"] = "keep"
    aggregate: Literal["mean_of_ratios", "ratio_of_sums"] = "mean_of_ratios"
    nothing: Literal["nan", "zero", "none", "error"] = "nan"
    decimals: int | None = None
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=Frozen)

    def __post_init__(self) -> None:
        """Refuse values outside the choices, and make the mappings hashable."""
        for name in SPELLINGS:
            object.__setattr__(self, name, canonical(name, getattr(self, name)))
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if name == "gain" and isinstance(value, Mapping):
                continue
            if not isinstance(value, (str, int)) or value not in choices:
                hint = nearest(str(value), [str(choice) for choice in choices])
                allowed = ", ".join(str(choice) for choice in choices)
                msg = f"{name} must be one of {allowed}, got {value!r}{hint}"
                raise ParameterError(msg)
        self._check_numbers()
        object.__setattr__(self, "gain", freeze(self.gain))
        object.__setattr__(self, "overrides", freeze(_worded(self.overrides)))

    def _check_numbers(self) -> None:
        for name in ("threshold", "score_floor"):
            value = getattr(self, name)
            fine = isinstance(value, Real) and value == value  # noqa: PLR0124
            if not fine and not (name == "score_floor" and value is None):
                msg = f"{name} must be a number, got {value!r}"
                raise ParameterError(msg)
        whole = isinstance(self.decimals, int) and not isinstance(self.decimals, bool)
        if self.decimals is not None and not whole:
            msg = f"decimals must be an integer or None, got {self.decimals!r}"
            raise ParameterError(msg)
        if not isinstance(self.overrides, Mapping) or not all(
            isinstance(name, str) and isinstance(choices, Mapping)
            for name, choices in self.overrides.items()
        ):
            msg = (
                f"overrides must be {{metric: {{name: value}}}}, got {self.overrides!r}"
            )
            raise ParameterError(msg)
        for name, choices in self.overrides.items():
            self._check_override(name, choices)

    def _check_override(self, name: str, choices: Mapping[str, Any]) -> None:
        """Refuse values that a field cannot have, before a metric is asked for.

        Names that fields share with parameters are checked when the metric is known.
        """
        if "overrides" in choices:
            msg = f"the overrides of {name} cannot hold overrides"
            raise ParameterError(msg)
        try:
            hash(freeze(choices))
        except TypeError:
            msg = (
                f"the overrides of {name} must be hashable values, got "
                f"{dict(choices)!r}"
            )
            raise ParameterError(msg) from None
        certain = {
            key: choices[key] for key in choices if key in FIELDS and key not in SHARED
        }
        if certain:
            Convention(**certain)

    def replace(self, **changes: Any) -> Convention:
        """Return a copy with some fields changed; unknown fields are an error."""
        for name in changes:
            if name not in FIELDS:
                msg = (
                    f"a convention has no field {name!r}; it has {', '.join(FIELDS)}"
                    f"{nearest(name, FIELDS)}"
                )
                raise ParameterError(msg)
        if all(_is_same(getattr(self, name), new) for name, new in changes.items()):
            return self  # and need not be checked again
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data; numbers that JSON lacks become text.

        >>> Convention(threshold=2).to_dict()["threshold"]
        2
        """
        return {item: _plain(getattr(self, item)) for item in FIELDS}

    @staticmethod
    def from_dict(data: Any) -> Convention:
        """Make a convention from its fields; fields not given are those of rankine.

        >>> rule = Convention(ap_den="hits")
        >>> Convention.from_dict(rule.to_dict()) == rule
        True
        """
        if not isinstance(data, Mapping):
            msg = f"a convention must be {{field: value}}, got {data!r}"
            raise ParameterError(msg)
        return Convention().replace(**{str(key): _read(data[key]) for key in data})

    @staticmethod
    def from_yaml(path: str | os.PathLike[str]) -> Convention:
        """Read a convention from a YAML file: a line per field.

        The file may name a convention to start from, as in ``base: ranx``.
        """
        from rankine._conventions.files import read_convention  # noqa: PLC0415

        return read_convention(path)

    def own(self, name: str, *, cut: bool = False) -> dict[str, Any]:
        """Return the overrides of one metric, with a cutoff or without."""
        choices = dict(self.overrides.get(name, {}))
        if cut:
            choices |= self.overrides.get(name + WITH_CUTOFF, {})
        return choices

    def _repr_html_(self) -> str:
        return as_table(self)


def _worded(overrides: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return overrides with the words that are used now."""
    return {
        name: {key: canonical(key, value) for key, value in choices.items()}
        for name, choices in overrides.items()
    }


def _is_same(old: Any, new: Any) -> bool:
    """Say whether two values of a field are the same, which 1 and True are not."""
    return type(old) is type(new) and bool(old == new)


def _plain(value: Any) -> Any:
    """Return plain data for JSON: infinities are text, mappings are dicts."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    return value


def _key(key: Any) -> str:
    """Return the key of a mapping as text, the same for 1 and 1.0."""
    return str(int(key) if isinstance(key, float) and key.is_integer() else key)


def _read(value: Any) -> Any:
    """Turn plain data back into values: numbers in words, and keys that are grades."""
    if isinstance(value, Mapping):
        return {_number(key): _read(item) for key, item in value.items()}
    return _number(value) if value in ("inf", "-inf") else value


def _number(text: Any) -> Any:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return text
    return int(number) if number.is_integer() else number


FIELDS = tuple(item.name for item in fields(Convention))


def _choices() -> dict[str, tuple[object, ...]]:
    words: dict[str, tuple[object, ...]] = {}
    for name, hint in get_type_hints(Convention).items():
        literal = get_args(hint)[0] if name == "gain" else hint
        if getattr(literal, "__origin__", None) is Literal:
            words[name] = get_args(literal)
    return words


_CHOICES = _choices()
