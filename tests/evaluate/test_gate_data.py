"""A gate knows the contents of train=, items=, reference= and catalog= by a hash."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._join.side_data import SideData, prints_of, train_of
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{n:02}": {"a": 1} for n in range(12)}
RUN = {query: ["a", "b", "c"] for query in QRELS}
TRAIN = {"q00": ["b", "c"], "q01": ["c", "d"], "u": ["a"]}
VECTORS = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.5, 0.5]}
TOPICS = {"a": ["x", "y"], "b": ["y"], "c": ["x"]}
WEIGHED = {item: dict.fromkeys(own, 1.0) for item, own in TOPICS.items()}
UNEXPECTED = "Unexpectedness(by='reference')@2"
REFERENCE = {query: ["b", "a"] for query in QRELS}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gate.json"


def update(path: Path, metric: str, **data: Any) -> rk.Gate:
    return rk.gate(QRELS, RUN, path, metrics=metric, update=True, **data)


@pytest.mark.parametrize(
    ("metric", "name", "before", "after"),
    [
        ("Novelty@3", "train", TRAIN, TRAIN | {"u": ["b"]}),
        ("Novelty@3", "train", TRAIN, TRAIN | {"u": ["a", "a"]}),
        ("Novelty@3", "train", TRAIN, TRAIN | {"v": ["a"]}),
        ("Novelty@3", "train", {"q": ["a", "bc"]}, {"q": ["ab", "c"]}),
        ("ILD@3", "items", VECTORS, VECTORS | {"c": [0.5, 0.25]}),
        ("ILD@3", "items", VECTORS, VECTORS | {"d": [0.5, 0.25]}),
        ("ILD@3", "items", TOPICS, TOPICS | {"c": ["x", "y"]}),
        ("ILD@3", "items", WEIGHED, WEIGHED | {"a": {"x": 2.0}}),
        (UNEXPECTED, "reference", REFERENCE, REFERENCE | {"q00": ["a", "b"]}),
        (UNEXPECTED, "reference", REFERENCE, REFERENCE | {"q00": ["b"]}),
        ("FallOut@3", "catalog", ["a", "b", "c", "d"], ["a", "b", "c", "e"]),
    ],
)
def test_other_contents_are_refused(
    metric: str, name: str, before: Any, after: Any, path: Path
) -> None:
    update(path, metric, **{name: before})

    same = rk.gate(QRELS, RUN, path, 0.1, **{name: before})
    assert same.verdict == "unchanged"
    with pytest.raises(DataError, match=f"the contents of {name} changed") as caught:
        rk.gate(QRELS, RUN, path, 0.1, **{name: after})
    assert caught.value.exit_code == 3
    assert "update=True or --update" in str(caught.value)


def test_other_contents_start_anew(path: Path) -> None:
    update(path, "Novelty@3", train=TRAIN)
    again = update(path, "Novelty@3", train=TRAIN | {"v": ["a"]})

    assert again.verdicts[0].total == 0
    again = update(path, "Novelty@3", train=TRAIN)
    assert "since the first" not in str(again)


def test_the_order_and_the_form_of_contents_do_not_matter(
    path: Path, tmp_path: Path
) -> None:
    update(path, "Novelty@3", train=TRAIN)
    rows = [(user, item) for user, had in TRAIN.items() for item in had]
    turned = pl.DataFrame(rows[::-1], schema=["query", "item"], orient="row")
    turned.write_csv(tmp_path / "train.csv")

    for train in (
        turned,
        tmp_path / "train.csv",
        {user: set(had) for user, had in reversed(TRAIN.items())},
    ):
        found = rk.gate(QRELS, RUN, path, 0.1, train=train)
        assert found.verdict == "unchanged"


def test_the_order_of_items_does_not_matter(path: Path) -> None:
    update(path, "ILD@3", items=VECTORS)
    turned = dict(reversed(VECTORS.items()))

    assert rk.gate(QRELS, RUN, path, 0.1, items=turned).verdict == "unchanged"


def test_ids_of_two_types_are_the_same_contents(path: Path) -> None:
    qrels, run = {n: {1: 1} for n in range(12)}, {n: [1, 2] for n in range(12)}
    matrix = np.eye(3)
    rk.gate(qrels, run, path, metrics="ILD@2", update=True, items=matrix)

    texts = {f"{n}": matrix[n] for n in range(3)}
    found = rk.gate(
        {str(n): {"1": 1} for n in qrels}, {str(n): ["1", "2"] for n in run}, path, 0.1,
        items=texts,
    )  # fmt: skip
    assert found.verdict == "unchanged"


def test_a_distance_has_no_contents(path: Path) -> None:
    update(path, "ILD@3", items=lambda a, b: float(a != b))

    found = rk.gate(QRELS, RUN, path, 0.1, items=lambda a, b: 1.0 - (a == b))
    assert found.verdict == "unchanged"


def test_a_file_without_hashes_goes_on_working(path: Path) -> None:
    update(path, "Novelty@3", train=TRAIN)
    text, n = re.subn(r'(?m)^  "data": .*\n', "", path.read_text())
    assert n == 1
    path.write_text(text)

    found = rk.gate(QRELS, RUN, path, 0.1, train=TRAIN | {"u": ["b"]})
    assert found.verdict == "worse"
    update(path, "Novelty@3", train=TRAIN)
    with pytest.raises(DataError, match="the contents of train changed"):
        rk.gate(QRELS, RUN, path, 0.1, train=TRAIN | {"u": ["b"]})


@pytest.mark.parametrize("damaged", ["3", '{"train": 3}', "[]", "null"])
def test_damaged_hashes_are_told(damaged: str, path: Path) -> None:
    update(path, "Novelty@3", train=TRAIN)
    text = re.sub(r'(?m)^  "data": .*,$', f'  "data": {damaged},', path.read_text())
    path.write_text(text)

    with pytest.raises(FormatError, match="the file is damaged"):
        rk.gate(QRELS, RUN, path, 0.1, train=TRAIN)


IDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=9))
def test_a_hash_is_that_of_sorted_rows(rows: list[tuple[str, str]]) -> None:
    # The lengths of all texts of a column, then the texts; first users, then items.
    order = sorted(rows, key=lambda row: tuple(text.encode() for text in row))
    expected = sha256(f"{len(rows)} rows of 2\n".encode())
    for column in zip(*order, strict=True):
        texts = [text.encode() for text in column]
        expected.update(b"".join(len(text).to_bytes(4, "little") for text in texts))
        expected.update(b"".join(texts))
    frame = pl.DataFrame(rows, schema=["query", "item"], orient="row")

    found = prints_of(SideData(train_of(frame)))

    assert found == {"train": expected.hexdigest()[:16]}
