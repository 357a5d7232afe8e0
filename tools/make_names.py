"""Write the lists of names that follow from the code: make names.

A metric is registered in the module of its family; any other public name stands in
`rankine/__init__.py`, in `_HOMES`. From these follow the doors of the packages of
metrics, the metrics in `_HOMES`, and `rankine/__init__.pyi`, which type checkers read.
The tests hold that all of them are as this script would write them.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import rankine
from rankine._metrics.metric import Metric

ROOT = Path(rankine.__file__).parent
PACKAGES = {
    "ranking": "Metrics of a ranking against judgements, a module per family.",
    "lists": "Metrics of lists, their items and their users, a module per family.",
}
_WIDTH = 76


def metrics_of(package: str) -> dict[str, list[str]]:
    """Return the metrics that each module of a package registers."""
    home = importlib.import_module(f"rankine._metrics.{package}")
    families = {}
    for entry in pkgutil.iter_modules(home.__path__):
        module = importlib.import_module(f"{home.__name__}.{entry.name}")
        own = [
            name
            for name, value in vars(module).items()
            if isinstance(value, Metric)
            and value.fact.kernel.__module__ == module.__name__
        ]
        if own:
            families[entry.name] = own
    return families


def door(package: str) -> str:
    """Return the text of a package's __init__.py."""
    lines = [f'"""{PACKAGES[package]}"""', "", "from __future__ import annotations", ""]
    names = []
    for module, metrics in metrics_of(package).items():
        imported = ", ".join(_imported(metric) for metric in metrics)
        lines.append(f"from rankine._metrics.{package}.{module} import {imported}")
        names += [metric.rstrip("_") for metric in metrics]
    return _formatted("\n".join([*lines, "", _all(names)]))


def _imported(metric: str) -> str:
    """Say how a metric is imported; a final _ keeps its name apart from a class."""
    return f"{metric} as {metric.rstrip('_')}" if metric.endswith("_") else metric


def _all(names: list[str]) -> str:
    return f"__all__ = [{', '.join(repr(name) for name in sorted(names))}]\n"


def homes() -> dict[str, str]:
    """Return where each public name lives, metrics as they are registered now."""
    found = dict(rankine._HOMES)  # noqa: SLF001 - the list itself
    for package in PACKAGES:
        metrics = [name for own in metrics_of(package).values() for name in own]
        names = sorted(metric.rstrip("_") for metric in metrics)
        found[f"_metrics.{package}"] = " ".join(names)
    return found


def public(text: str) -> str:
    """Return `rankine/__init__.py` with the names of all metrics."""
    for package in PACKAGES:
        key = f"_metrics.{package}"
        lines = [f'        "{part}"' for part in _wrapped(homes()[key])]
        entry = "\n".join([f'    "{key}": (', *lines, "    ),"])
        text = re.sub(rf'(?ms)^    "{re.escape(key)}": \(.*?^    \),$', entry, text)
    return text


def _wrapped(names: str) -> list[str]:
    lines = [""]
    for name in names.split():
        if len(lines[-1]) + len(name) > _WIDTH:
            lines.append("")
        lines[-1] += f"{name} "
    return [*lines[:-1], lines[-1].rstrip()]


def stub() -> str:
    """Return what type checkers read: where each public name comes from."""
    lines = ["# Where public names come from; written by tools/make_names.py.", ""]
    names = []
    doors = rankine._DOORS  # noqa: SLF001 - the list itself
    lines += [f"from rankine import {door} as {door}" for door in doors]
    for home, own in sorted(homes().items()):
        names += own.split()
        lines.append(f"from rankine.{home} import {', '.join(own.split())}")
    lines += ["", "__version__: str", "_DOORS: tuple[str, ...]"]
    lines += ["_HOMES: dict[str, str]", ""]
    return _formatted("\n".join([*lines, _all(names)]))


def _formatted(text: str) -> str:
    """Sort imports and format as the rest of the code is."""
    ruff, name = str(Path(sys.executable).with_name("ruff")), str(ROOT / "__init__.py")
    for words in (["check", "--select", "I,RUF022", "--fix"], ["format"]):
        done = subprocess.run(  # noqa: S603 - the formatter of the project
            [ruff, *words, "--quiet", "--stdin-filename", name, "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = done.stdout
    return text


def wanted() -> dict[Path, str]:
    """Return the files that follow from the code, and what they should hold."""
    init = ROOT / "__init__.py"
    doors = {ROOT / "_metrics" / one / "__init__.py": door(one) for one in PACKAGES}
    return {init: public(init.read_text()), ROOT / "__init__.pyi": stub(), **doors}


if __name__ == "__main__":
    for path, text in wanted().items():
        path.write_text(text)
