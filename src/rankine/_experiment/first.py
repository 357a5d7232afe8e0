"""A first YAML file for judgements and runs that are there."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from rankine._base.paths import told_apart

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_BREAKS = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def first_yaml(qrels: Path, runs: Sequence[Path]) -> str:
    """Return an experiment with the usual metrics, to be changed by hand."""
    names = told_apart(list(runs))
    listed = "\n".join(
        f"  {_text(_short(name, names))}: {_text(str(path))}"
        for name, path in zip(names, runs, strict=True)
    )
    compare = ""
    if len(runs) > 1:
        compare = (
            "\n# Tests of differences between runs. Remove this to get only means.\n"
            "compare:\n"
            f"  baseline: {_text(_short(names[0], names))}\n"
            "  test: randomization\n"
            "  correction: holm\n"
        )
    return f"""\
# Run it with: rankine experiment experiment.yaml
# Every key is explained by: rankine experiment --schema
qrels: {_text(str(qrels))}
runs:
{listed}

# Names, and grids of parameters; see: rankine metrics
metrics:
  nDCG@: [5, 10]
  AP:
  RR@: [10]
  R@: [100]

# Whose choices the numbers follow; see: rankine conventions
convention: rankine
{compare}
output: results
"""


def _short(name: str, names: Sequence[str]) -> str:
    """Return the name without its ending, if that tells runs apart as well."""
    stem = name.rsplit(".", 1)[0] or name
    same = [other for other in names if (other.rsplit(".", 1)[0] or other) == stem]
    return stem if len(same) == 1 else name


def _text(text: str) -> str:
    """Return a text as YAML reads it back: in quotes, where it needs them."""
    plain = all(mark.isalnum() or mark in "._-/" for mark in text) and text.isascii()
    word = text.casefold() in {"null", "true", "false"}
    if plain and text[:1].isalpha() and not word:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _BREAKS.sub(lambda mark: f"\\u{ord(mark[0]):04x}", quoted)
