"""Names of metrics that every logger accepts, and what they say.

MLflow refuses a name with ``@`` or brackets, TensorBoard writes underscores instead,
and W&B cannot sort or filter by it. Letters, digits and underscores are safe in all of
them: ``nDCG@10`` is ``ndcg_at_10``, ``RBP(p=0.95)@10`` is ``rbp_at_10__p_0_95``.
`rankine.parse` reads such a name back.
"""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rankine._metrics.metric import plain_value

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

APART = "__"
"""What stands between a metric and its parameters."""
_AT = re.compile(r"(?P<name>.+)_at_(?P<cut>[0-9]+(_[0-9]+)?)")
_WORDS = {"null": None, "true": True, "false": False}
_NUMBER = re.compile(r"[0-9]+(_[0-9]+)?")
_HEX = "hex_"
_ONE_WORD = re.compile(r"[A-Za-z0-9]+(_[A-Za-z0-9]+)*")


def safe_name(metric: Metric) -> str:
    """Return the name of a metric in letters, digits and underscores.

    >>> from rankine._metrics.names import parse
    >>> safe_name(parse("nDCG(gain='exponential')@10")), safe_name(parse("11pt"))
    ('ndcg_at_10__gain_exponential', '_11pt')
    """
    name, cutoff = in_ascii(metric.name).lower(), metric.fact.at
    if name[0].isdigit():  # which W&B takes for no name
        name = f"_{name}"
    parts = []
    for key, value in metric.params:
        text = _safe_value(plain_value(value))
        if key == cutoff and _NUMBER.fullmatch(text):
            name += f"_at_{text}"
        else:
            parts.append(f"{in_ascii(key)}_{text}")
    return APART.join([name, *parts])


def in_ascii(word: str) -> str:
    """Return a name of Python; one with other letters as the digits of its text."""
    return word if word.isascii() else _digits_of(word)


def name_and_cut(text: str) -> tuple[str, float | None]:
    """Split ``ndcg_at_10`` into the name and the cutoff, None if it has none.

    >>> name_and_cut("ndcg_at_10"), name_and_cut("iprec_at_0_5"), name_and_cut("_11pt")
    (('ndcg', 10), ('iprec', 0.5), ('11pt', None))
    """
    shape = _AT.fullmatch(text)
    name, cut = (shape["name"], shape["cut"]) if shape else (text, None)
    name = re.sub("^_(?=[0-9])", "", name)
    if name.startswith(_HEX):
        with suppress(ValueError):
            name = bytes.fromhex(name.removeprefix(_HEX)).decode()
    return name, None if cut is None else value_of(cut)


def value_of(text: str) -> Any:
    """Return the value of a parameter from its safe text.

    >>> value_of("10"), value_of("0_95"), value_of("exponential"), value_of("null")
    (10, 0.95, 'exponential', None)
    >>> value_of("given_at_k"), value_of("hex_2d31")
    ('given@k', -1)
    """
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return ast.literal_eval(_decimal(text))
    if text.startswith(_HEX):
        with suppress(ValueError, SyntaxError):
            return ast.literal_eval(bytes.fromhex(text.removeprefix(_HEX)).decode())
    return text.replace("_at_", "@")


def _decimal(digits: str) -> str:
    """Return a number with its point; leading zeros of an int would be an error."""
    whole, _, rest = digits.partition("_")
    return f"{int(whole)}.{rest}" if rest else str(int(whole))


def _safe_value(value: Any) -> str:
    """Return a value as one word; what is none is written as the digits of its text."""
    if callable(value):  # which is not found by its name
        return str(getattr(value, "__name__", type(value).__name__))
    for text, word in _WORDS.items():
        if value is word:
            return text
    text = str(value).replace("@", "_at_").replace(".", "_")
    if _ONE_WORD.fullmatch(text):
        again = value_of(text)
        if again == value and type(again) is type(value):
            return text
    return _digits_of(repr(value))


def _digits_of(text: str) -> str:
    return _HEX + text.encode().hex()
