"""What is said of data that were not given, and data that are none of their kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine._base.roles import OTHERS
from rankine.errors import FormatError, ParameterError
from tests.refused.refusals import command

if TYPE_CHECKING:
    from pathlib import Path

TRUTH, RUN = {"q": {"a": 1}}, {"q": ["a"]}
PARTS = {"train": "item", "reference": "item", "items": "item", "weights": "weight"}
NONE = {
    "train": "no training data were given",
    "reference": "no reference lists were given",
    "items": "no items were given",
    "weights": "no weights were given",
}  # fmt: skip


@pytest.mark.parametrize("wrong", [5, object(), [0.5], [object()]])
@pytest.mark.parametrize("role", ["train", "reference"])
def test_data_are_called_by_their_own_name(role: str, wrong: Any) -> None:
    with pytest.raises(FormatError, match=f"^cannot read {role} from a"):
        rk.evaluate(TRUTH, RUN, "Coverage", catalog=9, **{role: wrong})


def test_every_role_has_a_part() -> None:
    assert set(OTHERS) == PARTS.keys()


@pytest.mark.parametrize("role", OTHERS)
def test_columns_of_what_was_not_given_are_refused(role: str) -> None:
    part = f"{role}.{PARTS[role]}"

    with pytest.raises(ParameterError) as caught:
        rk.evaluate(TRUTH, RUN, "RR", columns={part: "x"})

    assert str(caught.value) == (
        f"columns gives {part!r}, but {NONE[role]}; give {role}= or --{role}"
    )


@pytest.mark.parametrize("role", OTHERS)
@pytest.mark.parametrize("name", ["evaluate", "reconcile"])
def test_the_command_refuses_them_too(role: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n")
    (tmp_path / "some.run").write_text("q Q0 a 1 1 t\n")
    files = [str(tmp_path / "qrels.txt"), str(tmp_path / "some.run")]
    words = [name, *files, "-m", "RR"]
    part = f"{role}.{PARTS[role]}"

    of_columns = command(*words, "--col", f"{part}=x")
    of_format = command(*words, "--format", f"{role}=csv")

    assert of_columns[:2] == of_format[:2] == (2, "")
    assert of_columns[2].startswith(
        f"rankine: columns gives {part!r}, but {NONE[role]}; give {role}= or"
    )
    assert of_format[2].startswith(
        f"rankine: --format gives '{role}=csv', but {NONE[role]}; give --{role}"
    )
