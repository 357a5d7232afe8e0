"""The public names are those of __all__, each once, and the import costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rankine as rk
from rankine import _DOORS
from rankine._metrics.metric import REGISTRY
from tools.make_names import wanted


def test_every_public_name_can_be_had() -> None:
    for name in rk.__all__:
        assert getattr(rk, name) is not None


def test_names_stand_once() -> None:
    assert len(set(rk.__all__)) == len(rk.__all__)


def test_every_metric_is_an_attribute() -> None:
    attributes = {str(getattr(rk, name)) for name in rk.__all__}

    assert set(REGISTRY) <= attributes


@pytest.mark.slow
def test_lists_of_names_follow_from_the_code() -> None:
    for path, text in wanted().items():
        assert path.read_text() == text, f"{path.name}: run make names"


def test_typed_names_are_the_public_ones() -> None:
    tree = ast.parse(Path(rk.__file__).with_name("__init__.pyi").read_text())
    typed = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert typed == {*rk.__all__, *_DOORS}


@pytest.mark.slow
def test_the_function_is_not_hidden_by_the_package_of_its_name() -> None:
    code = (
        "import rankine as rk; rk.evaluate({'q': {'a': 1}}, {'q': ['a']}, 'AP'); "
        "rk.reconcile({'q': {'a': 1}}, {'q': ['a']}, 'AP'); "
        "print(rk.conventions()['ranx'].tie, rk.reconcile.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "input reconcile"


@pytest.mark.slow
@pytest.mark.parametrize("door", _DOORS)
def test_doors_open_without_an_import_of_their_own(door: str) -> None:
    code = f"import rankine as rk; print(rk.{door}.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == f"rankine.{door}"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nDGC'"):
        _ = getattr(rk, "nDG" + "C")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import rankine", ["numpy", "polars", "scipy", "click", "rich", "pandas"]),
        ("import rankine.cli", ["numpy", "polars", "scipy", "rich", "pandas"]),
        (
            "import rankine as rk; rk.evaluate({'q': {'a': 1}}, {'q': ['a']}, ['AP'])",
            ["pandas", "pyarrow", "scipy", "sklearn", "rich", "click"],
        ),
    ],
    ids=["import", "help", "evaluate"],
)
def test_nothing_heavy_is_imported_early(code: str, absent: list[str]) -> None:
    program = f"import sys; {code}; print([n for n in {absent} if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_names_are_read_and_metrics_computed_without_polars() -> None:
    code = (
        "import sys; sys.modules['polars'] = None; import rankine as rk; "
        "import rankine._metrics.ranking, rankine._metrics.lists; "
        "from rankine._tables.judged import Judged; "
        "print(rk.parse('nDCG@10'), (rk.nDCG @ 10).values(Judged.empty()).tolist(), "
        "rk.parse('Coverage@5'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert (done.stderr, done.stdout.strip()) == ("", "nDCG@10 [] Coverage@5")
