"""What the files for GitHub refer to is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
FILES = sorted(
    [
        *(ROOT / ".github").rglob("*.yml"),
        ROOT / ".pre-commit-config.yaml",
        ROOT / "CITATION.cff",
    ]
)
WORKFLOWS = [path for path in FILES if path.parent.name == "workflows"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_yaml(path: Path) -> None:
    assert isinstance(read(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_commands_of_make_are_there(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"\bmake ([\w-]+)", path.read_text())

    assert targets
    assert [name for name in targets if f"\n{name}:" not in makefile] == []


def test_all_supported_versions_of_python_are_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    matrix = read(ROOT / ".github/workflows/checks.yml")["jobs"]["tests"]["strategy"]
    tried = matrix["matrix"]["python"]
    promised = re.findall(r":: (3\.\d+)", "\n".join(project["classifiers"]))

    assert f">={tried[0]}" == project["requires-python"]
    assert set(promised) <= set(tried)
