"""What executors run gives the numbers of memory, however rows are shared and cut."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine._engines.refusals import refuse
from rankine._engines.requirements import plan_for_parts
from rankine._engines.state import State
from rankine._engines.work import JUDGED, LISTED, Work
from rankine._engines.worker import states, values
from rankine._evaluate.evaluate import prepare
from rankine._evaluate.options import Options
from rankine._evaluate.sums import Sums
from rankine._evaluate.warnings import told
from rankine._io.sources import Rows
from rankine.errors import RankineError, UsageError

pa = pytest.importorskip("pyarrow")

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from rankine._evaluate.evaluate import Job

NAN = float("nan")
Row = tuple[Any, Any, float]
METRICS = (
    "nDCG@3", "AP", "RR@2", "P@2", "R@3", "Rprec", "Bpref", "RBP", "gm_AP", "NumRet",
    "NumRelRet", "Success@1", "Judged@2", "F@2", "SetF",
)  # fmt: skip
METRICS_BY_RULE = {
    "surprise": ["FCP(weighing='pairs')", "P@2"],
    "sklearn": ["nDCG@3", "AP", "RR"],
}
NO_ROWS = pl.DataFrame(schema={"query": pl.String, "item": pl.String, "value": float})
PAIR: Any = SimpleNamespace(
    judged=True,
    qrels=SimpleNamespace(
        scored=True, schema=Rows(NO_ROWS, "qrels", role="qrels", column="grade")
    ),
    run=SimpleNamespace(
        scored=True, schema=Rows(NO_ROWS, "run", role="run", column="score")
    ),
)
"""Frames, of which only the names of columns are asked for."""


def _words(error: BaseException) -> list[str]:
    """Return the words of a message before it names an id."""
    return re.split(r"[('\d]|in run", str(error))[0].split()


def batches(rows: list[tuple[Any, ...]], kind: Any, size: int) -> Iterator[Any]:
    for begin in range(0, len(rows), size):
        query, item, value, side = zip(*rows[begin : begin + size], strict=True)
        columns = {
            "query": pa.array(query, kind),
            "item": pa.array(item, kind),
            "value": pa.array(value, pa.float64()),
            "kind": pa.array(side, pa.int8()),
        }
        yield pa.RecordBatch.from_pydict(columns)


def sent(work: Work, version: str = rk.__version__) -> bytes:
    """Return what the driver sends to executors."""
    return pickle.dumps((version, pickle.dumps(work)))


def state_of(work: bytes, rows: Iterator[Any]) -> State:
    (batch,) = states(work, rows)
    state = pickle.loads(batch.column("state")[0].as_py())  # noqa: S301 - ours
    if isinstance(state, RankineError):
        raise state
    assert isinstance(state, State)
    return state


def shared(
    job: Job,
    qrels: list[Row],
    run: list[Row],
    *,
    n_parts: int,
    size: int,
    n_rows: int,
    lenient: bool = False,
) -> tuple[State, list[dict[str, Any]]]:
    """Evaluate rows that are shared among workers; those of a query stay in order."""
    plan = plan_for_parts(job.plan)
    work = sent(Work(plan, lenient=lenient, n_rows=n_rows))
    rows = [(*row, JUDGED) for row in qrels] + [(*row, LISTED) for row in run]
    text = isinstance(rows[0][0], str)
    ids = sorted({row[0] for row in rows})
    total = State()
    frames = []
    for part in reversed(range(n_parts)):  # the first need not come first
        theirs = set(ids[part::n_parts])
        part_rows = sorted(
            (row for row in rows if row[0] in theirs), key=lambda row: row[0]
        )
        kind = pa.string() if text else pa.int64()
        total += state_of(work, batches(part_rows, kind, size))
        if not total.problems:
            for frame in values(work, batches(part_rows, kind, size)):
                frames += frame.to_pylist()
    return total, frames


def numbers(job: Job, state: State) -> dict[str, float]:
    assert state.part is not None
    summaries = state.part.summaries(job.plan, job.side_data)
    values = (summary.value for summary in summaries)
    return dict(zip(job.plan.labels, values, strict=True))


def settled(job: Job, state: State) -> dict[str, float]:
    """Return the numbers of data that nothing is to be said against."""
    refuse(state, job, PAIR, "run")
    return numbers(job, state)


def frame(rows: list[Row], value: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query", "item", value], orient="row")


ids = st.sampled_from(["10", "9", "a", "B", "ä", "z1"])
ints = st.sampled_from([1, 2, 9, 10, 33])


@st.composite
def data(draw: st.DrawFn, id_: st.SearchStrategy[Any]) -> tuple[list[Row], list[Row]]:
    """Draw judgements and lists with ties and repeats, some of them for one query."""
    pairs = st.tuples(id_, id_)
    judged = draw(st.dictionaries(pairs, st.sampled_from([0, 1, 2, 3]), min_size=1))
    score = st.sampled_from([0.25, 0.5, 0.5000000001, 1.0, -1.0])
    listed = draw(st.lists(st.tuples(pairs, score), min_size=1, max_size=25))
    if draw(st.booleans()):
        listed = list(dict(listed).items())
    qrels = [(*pair, float(grade)) for pair, grade in judged.items()]
    return qrels, [(*pair, number) for pair, number in listed]


def asked(convention: str) -> list[str]:
    """Return the metrics that a convention allows."""
    return METRICS_BY_RULE.get(convention) or list(METRICS)


@pytest.mark.slow
@pytest.mark.parametrize("convention", sorted(rk.conventions()))
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_every_convention_gives_the_numbers_of_memory(
    convention: str, drawn: st.DataObject
) -> None:
    qrels, run = drawn.draw(data(drawn.draw(st.sampled_from([ids, ints]))))
    n_parts = drawn.draw(st.sampled_from([1, 2, 7]))
    size, n_rows = drawn.draw(st.sampled_from([(1, 1), (3, 2), (1000, 1000)]))
    job = prepare(asked(convention), Options(convention=convention))
    state, frames = shared(job, qrels, run, n_parts=n_parts, size=size, n_rows=n_rows)
    try:
        memory = rk.evaluate(
            frame(qrels, "grade"), frame(run, "score"), asked(convention),
            convention=convention,
        )  # fmt: skip
    except RankineError as error:
        with pytest.raises(type(error)) as refused:
            settled(job, state)
        # Neither the places of rows nor the order of ids are those of memory.
        words = zip(*map(_words, (error, refused.value)), strict=False)
        assert all(ours == theirs for ours, theirs in words)
        return

    assert str(settled(job, state)) == str(dict(memory.mean))
    by_query = {row["query"]: row for row in frames}
    assert by_query == {row["query"]: row for row in memory.per_query.to_dicts()}
    assert len(frames) == memory.per_query.height
    assert state.part is not None
    # A convention may average other queries for some metrics, of fewer or of all.
    assert max(one.n for one in state.part.queries) == memory.per_query.height
    found = state.part.findings
    assert told(found.cautions) == told(memory.findings.cautions)
    assert set(found.read) == set(memory.findings.read)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(data(ids), st.randoms(use_true_random=False), st.sampled_from([1, 2, 5]))
def test_neither_the_order_of_rows_nor_the_parts_matter(
    drawn: tuple[list[Row], list[Row]], shuffle: random.Random, n_parts: int
) -> None:
    qrels, run = drawn
    job = prepare(METRICS, Options(lenient=True))
    memory = rk.evaluate(
        frame(qrels, "grade"), frame(run, "score"), METRICS, lenient=True
    ) if {row[0] for row in qrels} & {row[0] for row in run} else None  # fmt: skip
    shuffle.shuffle(run)
    shuffle.shuffle(qrels)
    state, frames = shared(
        job, qrels, run, n_parts=n_parts, size=2, n_rows=3, lenient=True
    )

    if memory is not None:
        assert str(numbers(job, state)) == str(dict(memory.mean))
        assert {row["query"]: row for row in frames} == {
            row["query"]: row for row in memory.per_query.to_dicts()
        }


def test_values_by_hand() -> None:
    job = prepare(["AP", "RR"], Options())
    qrels = [("q1", "a", 1.0), ("q1", "b", 1.0), ("q2", "c", 1.0), ("q3", "d", 1.0)]
    run = [("q1", "b", 2.0), ("q1", "x", 2.0), ("q1", "a", 1.0), ("q2", "c", 0.5)]

    state, _ = shared(job, qrels, run, n_parts=2, size=2, n_rows=2)

    # x comes before b, as its id is larger; q3 has no list.
    assert numbers(job, state) == {
        "AP": ((1 / 2 + 2 / 3) / 2 + 1 + 0) / 3,
        "RR": (1 / 2 + 1 + 0) / 3,
    }


def test_rows_without_an_id_are_counted() -> None:
    job = prepare(["AP"], Options())
    rows = [
        (None, "a", 1.0, JUDGED), (None, "a", 1.0, LISTED), (None, None, 1.0, LISTED),
        ("q", None, 1.0, LISTED), ("q", "a", 1.0, LISTED), ("q", "a", 1.0, JUDGED),
    ]  # fmt: skip

    state = state_of(
        sent(Work(plan_for_parts(job.plan))), batches(rows, pa.string(), 3)
    )

    assert state.counts["qrels", "query"] == 1
    assert state.counts["run", "query"] == 2
    assert state.counts["run", "item"] == 1
    assert numbers(job, state) == {"AP": 1}


@pytest.mark.parametrize("convention", ["rankine", "pytrec_eval", "recommenders"])
def test_a_list_of_which_nothing_is_left_is_empty_as_in_memory(convention: str) -> None:
    options = Options(convention=convention, lenient=True)
    qrels: list[Row] = [("q", "a", 1), ("bare", None, 1), ("lost", "a", 1)]
    run: list[Row] = [("q", "b", 2), ("q", "a", 1), ("lost", None, 1), ("bare", "a", 1)]

    state, _ = shared(
        prepare(["AP"], options), qrels, run, n_parts=2, size=2, n_rows=2, lenient=True
    )

    expected = rk.evaluate(
        frame(qrels, "grade"), frame(run, "score"), ["AP"],
        convention=convention, lenient=True,
    )  # fmt: skip
    assert settled(prepare(["AP"], options), state) == expected.mean


@pytest.mark.parametrize("n_parts", [1, 2])
def test_a_query_of_which_no_row_is_left_is_there_as_in_memory(n_parts: int) -> None:
    job = prepare(["AP"], Options(lenient=True))
    qrels: list[Row] = [("q", "a", 1), ("void", None, 1)]
    empty: list[Row] = [("q", None, 1), ("other", "a", 1)]  # q has an empty list
    apart: list[Row] = [("other", "a", 1)]

    state, _ = shared(
        job, qrels, empty, n_parts=n_parts, size=2, n_rows=2, lenient=True
    )
    assert settled(job, state) == {"AP": (0 + 0) / 2}
    state, _ = shared(
        job, qrels, apart, n_parts=n_parts, size=2, n_rows=2, lenient=True
    )
    with pytest.raises(RankineError) as refused:
        settled(job, state)
    with pytest.raises(RankineError, match="0 of 2 judged queries") as in_memory:
        rk.evaluate(frame(qrels, "grade"), frame(apart, "score"), ["AP"], lenient=True)
    assert str(refused.value) == str(in_memory.value)


def test_another_version_is_refused() -> None:
    job = prepare(["AP"], Options())

    expected = (
        f"the executors have rankine {rk.__version__}, and the driver has 0.1; install "
        "the same version, or call rankine.spark.ship(spark) before anything is "
        "evaluated"
    )
    with pytest.raises(UsageError, match=f"^{re.escape(expected)}$"):
        state_of(sent(Work(plan_for_parts(job.plan)), version="0.1"), iter(()))


TWICE = "item 'a' appears twice for query 'q1' in run"
ODD = "run: the score of item 'a' for query 'q1' is not a number (2 such scores in all)"


@pytest.mark.parametrize(("n_parts", "n_rows"), [(1, 100), (1, 1), (2, 100), (4, 1)])
@pytest.mark.parametrize(
    ("run", "message"),
    [
        ([(f"q{n}", "a", 1.0) for n in (3, 1, 2, 1, 3, 2)], TWICE),
        (
            [("q2", "b", NAN), ("q1", "a", NAN), ("q0", "a", 1.0), ("q0", "a", 2.0)],
            ODD,
        ),
    ],
    ids=["twice", "twice and no number"],
)
def test_a_refusal_is_the_same_whoever_finds_it(
    n_parts: int, n_rows: int, run: list[Row], message: str
) -> None:
    job = prepare(["AP"], Options())
    state, _ = shared(
        job, [("q1", "a", 1.0)], run, n_parts=n_parts, size=1, n_rows=n_rows
    )

    with pytest.raises(RankineError) as refused:
        settled(job, state)

    assert str(refused.value).split(";")[0].startswith(message)


def ended(code: str) -> str:
    """Return what a program prints."""
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return result.stdout.strip()


@pytest.mark.slow
def test_a_worker_needs_numpy_polars_and_pyarrow_alone() -> None:
    absent = ("pandas", "scipy", "pydantic", "click", "rich", "yaml", "pyspark")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({absent}))\n"
        "import rankine._engines.worker; print('fine')"
    )

    assert ended(code) == "fine"


@pytest.mark.slow
def test_polars_has_one_thread_on_executors() -> None:
    code = (
        "from rankine._engines.jobs import on_executors\n"
        "called = on_executors('rankine._engines.events', 'counted', b'')\n"
        "list(called([]))\n"
        "import polars; print(polars.thread_pool_size())"
    )

    assert ended(f"import os; os.environ.pop('POLARS_MAX_THREADS', 0)\n{code}") == "1"
    # Who has set another number knows why.
    assert ended(f"import os; os.environ['POLARS_MAX_THREADS'] = '3'\n{code}") == "3"


@pytest.mark.parametrize("n", [2, 3, 5, 7, 49])
@pytest.mark.parametrize("metric", ["RR", "gm_map", "RScore"])
def test_an_interval_of_equal_values_is_their_mean(metric: str, n: int) -> None:
    qrels = {f"q{number}": {"a": 1} for number in range(n)}
    run = {query: ["x", "y", "a"] for query in qrels}
    ev = rk.evaluate(qrels, run, [metric])
    (summary,) = ev.summaries.values()
    pooled = Sums.of(summary, ev.queries).summary(ev.bound[0], ev.convention)

    found = pooled.interval(0.95)

    assert pooled.value == ev[metric]
    assert found.low <= pooled.value <= found.high
