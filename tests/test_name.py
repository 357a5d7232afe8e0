"""The distribution is rankine-eval, which no hint may forget; the import is rankine."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

import rankine as rk
from rankine.cli import main
from rankine.errors import MissingExtraError

ROOT = Path(__file__).parent.parent
FOLDERS = (".ci", ".github", "benchmarks", "docs", "oracle", "src", "tests", "tools")
# `rankine` alone belongs to somebody else, whose code would be installed.
WRONG = re.compile(
    r"""install \s+ (?: -\S+ \s+ )* ["'`]* rankine \b (?!-eval) | \b rankine \[""",
    re.VERBOSE,
)


def _texts() -> list[Path]:
    """Return all files that people read, or that show words to them."""
    inside = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    kinds = {".md", ".py", ".toml", ".yml", ".yaml", ".txt", ".in", ".json", ".js", ""}
    return [
        path
        for path in (*inside, *ROOT.iterdir())
        if path.is_file() and path.suffix in kinds and "corpus" not in path.parts
    ]


def test_no_text_installs_somebody_elses_code() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in _texts()
        for match in WRONG.finditer(path.read_text(encoding="utf-8", errors="ignore"))
    ]

    assert wrong == []
    assert len(_texts()) > 200


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("pip install rank" + "ine", True),
        ("pip install -U 'rank" + "ine'", True),
        ("needs rank" + "ine[zstd]", True),
        ("pip install rankine-eval", False),
        ("pip install 'rankine-eval[zstd]'", False),
        ("installs the command rankine", False),
    ],
)
def test_what_is_wrong_is_seen(text: str, *, wrong: bool) -> None:
    assert bool(WRONG.search(text)) == wrong


def test_the_distribution_has_its_own_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert project["name"] == "rankine-eval"
    assert list(project["scripts"]) == ["rankine", "rankine-trec-eval"]


def test_a_missing_package_is_named_with_the_distribution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(MissingExtraError) as caught:
        ev.to_frame("pandas")

    assert "pip install 'rankine-eval[pandas]'" in str(caught.value)


def test_the_version_is_that_of_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])

    assert capsys.readouterr().out == f"rankine, version {rk.__version__}\n"
