"""Lists by place in JSON and NDJSON files: the numbers and notes of Python's lists."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

QRELS = [["a"], ["b", "c"]]
RUN = [["a", "x"], ["x", "b"]]
SCORED = [
    [{"id": "x", "score": 0.5}, {"id": "a", "score": 1.5}],
    [{"id": "x", "score": 3}, {"id": "b", "score": 1}],
]
GRADED = [[{"id": "a", "grade": 1}], [{"id": "b", "grade": 1}, {"id": "c", "grade": 2}]]
FORMS = ("json", "indented", "ndjson", "json.gz", "ndjson.gz", "blank lines")


def written(path: Path, data: list[Any], form: str) -> Path:
    text = json.dumps(data, indent=2 if form == "indented" else None)
    if form.startswith("ndjson"):
        text = "".join(json.dumps(entry) + "\n" for entry in data)
    if form == "blank lines":
        text = "\n".join(f"\n {json.dumps(entry)}\r" for entry in data)
    packed = gzip.compress(text.encode()) if form.endswith("gz") else text.encode()
    path.write_bytes(packed)
    return path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("qrels", [QRELS, GRADED, [["a"], []], [[], ["b"]]])
@pytest.mark.parametrize(
    "run", [RUN, SCORED, [[], ["x", "b"]], [["a"], []], [[1, 2], [3]]]
)
def test_they_are_read_as_lists_of_python_are(
    form: str, qrels: Any, run: Any, tmp_path: Path
) -> None:
    metrics = ["RR", "R", "nDCG"]
    if run == [[1, 2], [3]]:
        qrels = [[2], [3]]

    wanted = rk.evaluate(qrels, run, metrics)
    files = written(tmp_path / "q", qrels, form), written(tmp_path / "r", run, form)
    found = rk.evaluate(*files, metrics)

    assert found.mean == wanted.mean
    assert found.queries == wanted.queries
    notes = [note.replace(f"{tmp_path}/", "") for note in found.notes]
    for short, long in (("r:", "run:"), ("q:", "qrels:")):
        notes = [
            note.replace(short, long, 1) if note.startswith(short) else note
            for note in notes
        ]
    assert notes == list(wanted.notes)


def test_by_hand(tmp_path: Path) -> None:
    qrels = written(tmp_path / "q.json", QRELS, "json")
    run = written(tmp_path / "r.ndjson", SCORED, "ndjson")

    ev = rk.evaluate(qrels, run, ["RR", "R@1"])

    # a comes first by its score; b comes second.
    assert ev.mean == {"RR": (1 + 1 / 2) / 2, "R@1": (1 + 0) / 2}


ENTRY = st.lists(st.text(max_size=4), max_size=4, unique=True)


@given(
    lists=st.lists(ENTRY, min_size=2, max_size=5),
    form=st.sampled_from(["json", "ndjson"]),
)
def test_any_lists(
    lists: list[list[str]], form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lists = [[f"i{item}" for item in entry] for entry in lists]
    path = tmp_path_factory.mktemp("lists") / "run"
    written(path, lists, form)

    wanted = rk.evaluate(None, lists, "Coverage", catalog=99)

    assert rk.evaluate(None, path, "Coverage", catalog=99).mean == wanted.mean


def test_grades_in_words(tmp_path: Path) -> None:
    qrels = [[{"id": "a", "grade": "good"}, {"id": "b", "grade": "bad"}], []]
    path = written(tmp_path / "q.json", qrels, "json")

    ev = rk.evaluate(path, [["b", "a"], []], "RR", grades={"good": 1, "bad": 0})

    assert ev["RR"] == (1 / 2 + 0) / 2


def test_one_line_is_a_run_of_one_query_where_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text('["x", "a"]\n')

    run = rk.read_run(path, format="ndjson")

    assert rk.evaluate([["a"]], run, "RR")["RR"] == 1 / 2
    with pytest.raises(FormatError, match="neither an object nor a list of objects"):
        rk.read_run(path)


def test_other_lengths_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "run", RUN[:1], "json")

    with pytest.raises(DataError, match="qrels has lists for 2 queries and run for 1"):
        rk.evaluate(QRELS, path, "RR")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '["a", "b"]',
            "run: is JSON, but neither an object nor a list of",
        ),
        ("[1, 2]", "run: is JSON, but neither"),
        ('[["a"], 3]', "run: the entry at place 1 is an int; expected a list of items"),
        ('[["a"], null]', "run: the entry at place 1 is None"),
        ('["a"]\n3\n', "run:2: is not a JSON list, as the first line is"),
        ('["a"]\n\n{"q": 1}\n', "run:3: is not a JSON list"),
        ('{"query": "q", "item": "a"}\n["a"]\n', "run:2: is not a JSON object"),
        ('["a"]\n["b"\n', "run:2: is not JSON"),
        ('[["a"], ["b"]', "run:1: is not JSON"),
        ('[[{"id": "a"}], ["b"]]', "run: the list of query 1 has a str at place 0"),
        ('[{"id": "a"}]\n["b"]\n', "run:2: the list of query 1 has a str at place 0"),
        ('[[["a"]], ["b"]]', "item 0 in the list of query 0 is not an id"),
        ("[]", "run: contains no rows"),
    ],
)
def test_other_shapes_are_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(text)

    with pytest.raises(DataError, match=said):
        rk.evaluate(QRELS, tmp_path / "run", "RR")


def test_several_files_do_not_tell_the_places(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in "ab":
        written(folder / name, RUN, "json")

    with pytest.raises(FormatError, match="parts: lists without query ids are paired"):
        rk.evaluate(QRELS, folder, "RR")


def test_they_are_no_tables(tmp_path: Path) -> None:
    path = written(tmp_path / "items.json", RUN, "json")

    with pytest.raises(FormatError, match="record 0 is of type list"):
        rk.evaluate(None, RUN, "ILD", items=path)


def test_batches_are_numbered_on(tmp_path: Path) -> None:
    total = rk.Accumulator("RR", renumber=True)
    for part in (0, 1):
        qrels = written(tmp_path / "q", [QRELS[part], []], "json")
        run = written(tmp_path / "r", [RUN[part], []], "ndjson")
        total.update(qrels, run)

    assert total.result().queries == [0, 1, 2, 3]
