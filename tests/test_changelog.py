"""The changelog begins with the version that the package has."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

import rankine as rk

ROOT = Path(__file__).parent.parent
CHANGELOG = ROOT / "CHANGELOG.md"
HEADING = re.compile(r"(?m)^## (\d+)\.(\d+)\.(\d+)$")


def versions() -> list[tuple[int, ...]]:
    return [tuple(map(int, parts)) for parts in HEADING.findall(CHANGELOG.read_text())]


def test_the_newest_entry_is_this_version() -> None:
    newest = ".".join(map(str, versions()[0]))

    assert newest == rk.__version__


def test_this_version_is_cited() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == (
        rk.__version__
    )


def test_versions_fall() -> None:
    assert versions() == sorted(set(versions()), reverse=True)


def test_every_entry_says_something() -> None:
    entries = HEADING.split(CHANGELOG.read_text())[4::4]

    assert all(entry.strip() for entry in entries)
