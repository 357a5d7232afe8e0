"""compare: runs from files are evaluated two at a time, as if one by one."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

import rankine as rk
from rankine.errors import FormatError, RankineError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{number}": {"d1": 1, "d2": 2} for number in range(20)}


def write(path: Path, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    lines = []
    for query in QRELS:
        items = rng.permutation(6).tolist()
        lines += [
            f"{query} Q0 d{item} {rank} {10 - rank} x\n"
            for rank, item in enumerate(items, 1)
        ]
    path.write_text("".join(lines))
    return path


def test_files_are_compared_as_each_is_evaluated(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"run{seed}.trec", seed) for seed in range(7)]

    cmp = rk.compare(QRELS, paths, ["nDCG@5", "AP"], test="t")

    assert cmp.systems == tuple(path.name for path in paths)
    for path in paths:
        alone = rk.evaluate(QRELS, path, ["nDCG@5", "AP"])
        again = cmp.evaluations[path.name]
        assert again.mean == alone.mean
        assert again.per_query.equals(alone.per_query)
        assert again.interval("AP") == alone.interval("AP")


@pytest.mark.parametrize(
    ("broken", "named"), [((1,), 1), ((3, 4), 3), ((5,), 5), ((0, 1, 2), 0)]
)
def test_the_first_run_that_fails_is_named(
    tmp_path: Path, broken: tuple[int, ...], named: int
) -> None:
    paths = [write(tmp_path / f"run{seed}.trec", seed) for seed in range(6)]
    for number in broken:
        text = paths[number].read_text()
        paths[number].write_text(text + text.splitlines()[-1] + "\n")

    with pytest.raises(RankineError, match=rf"twice .*run{named}\.trec"):
        rk.compare(QRELS, paths, "AP")


def test_a_run_that_cannot_be_opened_comes_after_one_that_fails(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"run{seed}.trec", seed) for seed in range(3)]
    text = paths[0].read_text()
    paths[0].write_text(text + text.splitlines()[-1] + "\n")

    with pytest.raises(RankineError, match=r"twice .*run0\.trec"):
        rk.compare(QRELS, [*paths[:1], tmp_path / "none.trec"], "AP")
    with pytest.raises(FormatError, match=r"none\.trec"):
        rk.compare(QRELS, [paths[1], tmp_path / "none.trec", paths[0]], "AP")


def test_a_function_of_the_user_is_called_in_their_thread(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"run{seed}.trec", seed) for seed in range(3)]
    threads = set()

    @rk.metric
    def SeenInThread(ranking: list[str], judged: dict[str, float]) -> float:  # noqa: N802
        threads.add(threading.get_ident())
        return float(ranking[0] in judged)

    rk.compare(QRELS, paths, SeenInThread, test="t")

    assert threads == {threading.get_ident()}


def test_no_thread_is_left(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"run{seed}.trec", seed) for seed in range(3)]

    rk.compare(QRELS, paths, "AP", test="t")

    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("rankine-run")]
