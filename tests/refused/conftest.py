"""Files with any content, and the command line in a folder of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.shell import shell  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from pathlib import Path

    from tests.refused.rows import Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return made
