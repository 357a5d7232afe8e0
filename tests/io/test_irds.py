"""Judgements by the name of a dataset of ir_datasets, which is imitated here."""

from __future__ import annotations

import sys
from collections import namedtuple
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine.errors import (
    DataError,
    FormatError,
    MissingExtraError,
    RankineError,
    UnavailableError,
)
from tests.shell import is_one_sentence, shell  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.shell import Shell

TrecQrel = namedtuple("TrecQrel", "query_id doc_id relevance iteration")  # noqa: PYI024
TrecSubQrel = namedtuple("TrecSubQrel", "query_id doc_id relevance subtopic_id")  # noqa: PYI024
PLAIN = [
    TrecQrel("q1", "a", 1, "0"),
    TrecQrel("q1", "b", 2, "0"),
    TrecQrel("q2", "c", 1, "0"),
]
DIVERSE = [TrecSubQrel("q", "a", 1, "1"), TrecSubQrel("q", "a", 1, "2")]
RUN = {"q1": ["a", "x", "b"], "q2": ["x", "c"]}


class OfflineError(OSError):
    """What requests raises, after it has tried a few times."""


class Dataset:
    def __init__(self, rows: list[Any] | None, error: Exception | None = None) -> None:
        self.rows, self.error = rows, error

    def has_qrels(self) -> bool:
        return self.rows is not None

    def qrels_cls(self) -> Any:
        return TrecQrel if self.rows is None else type((self.rows or PLAIN)[0])

    def qrels_iter(self) -> Iterator[Any]:
        if self.error is not None:
            raise self.error
        yield from self.rows or []


DATASETS = {
    "beir/small": Dataset(None),
    "beir/small/test": Dataset(PLAIN),
    "beir/small/docs": Dataset(None),
    "diversity": Dataset(DIVERSE),
    "empty": Dataset([]),
    "far": Dataset(
        PLAIN, OfflineError("HTTPSConnectionPool(host='x') (Caused by Name...)")
    ),
    "mirrored": Dataset(PLAIN, RuntimeError("All download sources failed", [1, 2])),
    "silent": Dataset(PLAIN, OSError()),
    "corpus": Dataset(None),
}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    package: Any = ModuleType("ir_datasets")
    package.registry = DATASETS
    package.load = DATASETS.__getitem__
    monkeypatch.setitem(sys.modules, "ir_datasets", package)


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)


@pytest.mark.usefixtures("installed")
def test_the_name_of_a_dataset_stands_for_its_judgements() -> None:
    place = "irds:beir/small/test"
    wanted = rk.evaluate({"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}, RUN, ["AP", "nDCG"])

    for qrels in (place, rk.read_qrels(place)):
        found = rk.evaluate(qrels, RUN, ["AP", "nDCG"])
        assert found.mean == wanted.mean
    assert wanted["AP"] == ((1 + 2 / 3) / 2 + 1 / 2) / 2
    assert rk.read_qrels(place).to_dict() == {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
    assert rk.read_qrels(place).name == place
    # Its columns have names of their own, whatever is said of those of the run.
    columns = {"query": "who", "item": "what"}
    run = [{"who": "q1", "what": "a"}, {"who": "q2", "what": "c"}]
    assert rk.evaluate(place, run, "RR", columns=columns)["RR"] == 1


@pytest.mark.usefixtures("installed")
def test_subtopics_come_with_them() -> None:
    found = rk.evaluate("irds:diversity", {"q": ["x", "a"]}, "SubtopicRecall@2")

    assert found["SubtopicRecall@2"] == 1
    assert rk.read_qrels("irds:diversity").to_frame()["subtopic"].to_list() == [
        "1",
        "2",
    ]


@pytest.mark.usefixtures("installed")
def test_training_data_may_be_a_dataset_too() -> None:
    qrels = {"q1": {"a": 1, "x": 1}}

    run = rk.read_run(RUN).without("irds:beir/small/test")

    assert run.to_dict() == {"q1": ["x"], "q2": ["x"]}
    assert rk.evaluate(qrels, run, "RR")["RR"] == 1


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (
            "beir/smal/test",
            FormatError,
            "no dataset .*did you mean 'beir/small/test'",
        ),
        (
            "beir/small",
            FormatError,
            "no judgements; those that do are irds:beir/small",
        ),
        ("corpus", FormatError, "irds:corpus has no judgements$"),
        ("empty", DataError, "irds:empty: contains no judgements"),
        (
            "far",
            UnavailableError,
            r"cannot get the judgements .*host='x'.\); try",
        ),
        ("mirrored", UnavailableError, r"\(All download sources failed\); try again"),
        ("silent", UnavailableError, r"\(OSError\); try again when they can be downl"),
    ],
)
def test_what_is_not_there_is_said(
    name: str, error: type[RankineError], message: str
) -> None:
    with pytest.raises(error, match=message):
        rk.evaluate(f"irds:{name}", RUN, "RR")


@pytest.mark.usefixtures("missing")
def test_the_package_is_named_where_it_is_not_installed() -> None:
    with pytest.raises(MissingExtraError, match=r"needs the package ir_datasets; pip"):
        rk.evaluate("irds:beir/small/test", RUN, "RR")


@pytest.mark.usefixtures("installed")
def test_a_dataset_is_no_run() -> None:
    with pytest.raises(DataError, match="stands for judgements, and cannot be used as"):
        rk.evaluate({"q1": {"a": 1}}, "irds:beir/small/test", "RR")
    with pytest.raises(DataError, match="stands for judgements, and cannot be used as"):
        rk.evaluate("irds:beir/small/test", "irds:beir/small/test", "RR")


@pytest.mark.usefixtures("installed")
def test_on_the_command_line(shell: Shell) -> None:  # noqa: F811
    done = shell.run(
        "evaluate", "irds:beir/small/test", shell.path("a.run"), "-m", "RR"
    )
    far = shell.run("evaluate", "irds:far", shell.path("a.run"), "-m", "RR")
    saved = shell.run(
        "convert", "--qrels", "irds:beir/small/test", shell.path("x.qrels")
    )

    assert done.code == saved.code == 0
    assert "0.7500" in done.out  # (1 + 1 / 2) / 2
    assert is_one_sentence(far, 5)
    assert (shell.folder / "x.qrels").read_text() == "q1 0 a 1\nq1 0 b 2\nq2 0 c 1\n"
