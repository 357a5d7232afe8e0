"""The file of a gate: stable bytes, the first baseline, and writes that may fail."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine._evaluate.gate.baseline import Baseline
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{n:02}": {"a": 1, "b": 2} for n in range(12)}
GOOD = {query: ["b", "a", "x"] for query in QRELS}
FAIR = {query: ["a", "b", "x"] for query in QRELS}
POOR = {query: ["x", "a", "b"] for query in QRELS}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gate.json"


def update(path: Path, run: Any = FAIR, **options: Any) -> rk.Gate:
    metrics = options.pop("metrics", ["RR", "nDCG@10"])
    qrels = options.pop("qrels", QRELS)
    return rk.gate(qrels, run, path, metrics=metrics, update=True, **options)


def test_the_bytes_depend_on_nothing_but_the_values(path: Path) -> None:
    update(path)
    first = path.read_bytes()
    turned = {query: dict(reversed(own.items())) for query, own in QRELS.items()}
    update(
        path,
        {query: FAIR[query] for query in reversed(list(FAIR))},
        qrels={query: turned[query] for query in reversed(list(turned))},
    )

    assert path.read_bytes() == first
    assert Baseline.read(path).text().encode() == first


def test_a_query_that_moved_changes_one_line_of_its_values(path: Path) -> None:
    update(path)
    before = path.read_text().splitlines()
    update(path, FAIR | {"q05": POOR["q05"]})
    after = path.read_text().splitlines()

    changed = [line for line, old in zip(after, before, strict=True) if line != old]
    assert len(changed) == 1
    assert changed[0].startswith('    "q05": {"judged": ')


def test_it_holds_values_hashes_and_versions(path: Path) -> None:
    update(path)
    data = json.loads(path.read_text())

    own = data["queries"]["q03"]
    assert own["values"][0] == 1
    assert len(own["first"].split()) == 3
    assert len(own["judged"]) == 16
    assert data["version"] == data["first_version"] == rk.__version__
    assert list(data["queries"]) == sorted(QRELS)
    assert data["metrics"]["nDCG@10"]["gain"] == "linear"


def test_only_ten_first_ids_are_kept(path: Path) -> None:
    update(path, {query: [f"d{n}" for n in range(30)] for query in QRELS})

    data = json.loads(path.read_text())
    assert {len(own["first"].split()) for own in data["queries"].values()} == {10}


def test_the_first_baseline_is_kept_and_the_total_shown(path: Path) -> None:
    update(path, GOOD)
    update(path, FAIR, metrics=None)
    again = update(path, POOR, metrics=None)

    total = {own.metric: own.total for own in again.verdicts}
    assert total["RR"] == pytest.approx(1 / 2 - 1)
    assert "since the first baseline -0.5000" in again.sentences[0]
    later = rk.gate(QRELS, FAIR, path, {"RR": 0.1, "nDCG@10": 0.1})
    assert later.verdicts[0].difference == pytest.approx(1 - 1 / 2)
    assert later.verdicts[0].total == 0
    assert "since the first baseline +0.0000" in later.sentences[0]


def test_another_order_of_metrics_is_no_change(path: Path) -> None:
    update(path, GOOD)
    again = update(path, POOR, metrics=["nDCG@10", "RR"])

    total = {own.metric: own.total for own in again.verdicts}
    assert list(total) == ["nDCG@10", "RR"]
    assert total["RR"] == pytest.approx(1 / 2 - 1)


@pytest.mark.parametrize(
    "change",
    [
        {"metrics": ["RR"]},
        {"convention": "ranx"},
        {"qrels": QRELS | {"q00": {"a": 1}}},
        {"depth": 2},
    ],
    ids=["metrics", "convention", "judgements", "depth"],
)
def test_a_change_of_terms_starts_anew(change: dict[str, Any], path: Path) -> None:
    update(path, GOOD)
    again = update(path, POOR, **change)

    assert again.verdicts[0].total == 0
    assert "since" not in str(again)


def test_another_version_is_told(path: Path) -> None:
    update(path)
    text = path.read_text().replace(f'"{rk.__version__}"', '"0.0.1"')
    path.write_text(text)

    found = rk.gate(QRELS, FAIR, path, 0.1)
    assert any("computed by rankine 0.0.1" in note for note in found.notes)


def test_nothing_is_written_where_no_query_has_a_value(path: Path) -> None:
    alone = {query: ["a"] for query in QRELS}
    with pytest.raises(DataError, match="ILD@3: no query has a value"):
        update(path, alone, metrics="ILD@3", items={"a": [1.0, 2.0]})

    assert not path.exists()


def test_a_full_disk_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update(path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="No space left on device"):
        update(path, POOR)

    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["gate.json"]


def test_nobody_sees_half_a_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update(path)
    before, number = path.read_bytes(), path.stat().st_ino
    synced = os.fsync

    def look(file: int) -> None:
        assert path.read_bytes() == before
        assert len(list(path.parent.iterdir())) == 2
        synced(file)

    monkeypatch.setattr(os, "fsync", look)
    update(path, POOR)

    assert path.read_bytes() != before
    assert path.stat().st_ino != number, "the new file takes the place of the old one"
    assert [file.name for file in path.parent.iterdir()] == ["gate.json"]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        update(tmp_path / "no" / "gate.json")


def test_a_link_stays_a_link(path: Path) -> None:
    update(path)
    link = path.with_name("link.json")
    link.symlink_to(path)
    update(link, POOR)

    assert link.is_symlink()
    assert rk.gate(QRELS, POOR, path, 0.1).verdict == "unchanged"


def test_ids_of_any_letters_are_read_back(path: Path) -> None:
    odd = ["é 猫", 'a"\n', " "]
    qrels: dict[str, dict[str, int]] = {query: {"a": 1} for query in odd}
    run = {query: ["a"] for query in odd}
    update(path, run, qrels=qrels)
    assert rk.gate(qrels, run, path, 0.1).verdict == "unchanged"

    assert "é 猫" in path.read_text(encoding="utf-8")


def test_ids_of_two_types_are_the_same_queries(path: Path) -> None:
    qrels = {n: {1: 1} for n in range(12)}
    update(path, {n: [1, 2] for n in range(12)}, qrels=qrels)
    texts = {str(n): {"1": 1} for n in range(12)}

    found = rk.gate(texts, {query: ["1", "2"] for query in texts}, path, 0.1)
    assert found.verdict == "unchanged"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:0], "not a baseline written by a gate"),
        (lambda text: text[:-90], "not a baseline written by a gate"),
        (lambda text: "<<<<<<< ours\n" + text, "not a baseline written by a gate"),
        (lambda text: f"[{text}]", "not a baseline written by a gate"),
        (
            lambda text: text.replace("rankine gate", "other"),
            "not a baseline written by a gate",
        ),
        (lambda text: text.replace('_version": 1', '_version": 9'), "a newer rankine"),
        (lambda text: text.replace('"queries": {', '"x": {', 2), "damaged"),
        (lambda text: text.replace('"values": [', '"values": [0, '), "damaged"),
        (lambda text: text.replace('"values": [1.0', '"values": [NaN'), "damaged"),
        (lambda text: text.replace('"values": [1.0', '"values": ["1"'), "damaged"),
        (lambda text: text.replace("[1.0", f"[1{'0' * 400}"), "damaged"),
        (lambda text: text.replace('"judged": "', '"judged": 1, "x": "'), "damaged"),
    ],
)
def test_a_damaged_file_is_told(change: Any, message: str, path: Path) -> None:
    update(path)
    text = change(path.read_text())
    assert text != path.read_text()
    path.write_text(text)

    with pytest.raises(FormatError, match=message):
        rk.gate(QRELS, FAIR, path, 0.1)
    with pytest.raises(FormatError, match=message):
        update(path)
    assert path.read_text() == text
