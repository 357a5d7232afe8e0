"""Jobs on Spark, whose failures are told in one sentence."""

from __future__ import annotations

import pickle
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankine import errors
from rankine.errors import (
    DataError,
    FormatError,
    MissingExtraError,
    RankineError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_OURS = re.compile(r"rankine\.errors\.(\w+): ([^\n]*)")
_MODULE = re.compile(r"No module named '([\w.]+)'")
_CAUSE = re.compile(
    r"^[\s:]*(?:Caused by: )?[\w.$]*(?:Error|Exception): ([^\n]+)", re.MULTILINE
)
_FILE = re.compile(r"while reading file (?:file:/*(?=/))?(\S+?)\.?(?=\s|$)")
_WITHIN = re.compile(r"[\w.$]+(?:Error|Exception): ")
_NO_PATH = re.compile(r"Path does not exist: (?:file:/*(?=/))?(\S+?)\.?(?=\s|$)")
_NO_CONNECTOR = re.compile(r"Class [\w.]+\.fs\.[\w.]+ not found|No FileSystem for")
_NO_HOST = re.compile(r"UnknownHostException: (\S+)")
_CODES = re.compile(r"^\[[A-Z][A-Z0-9_.]*\] |\s*SQLSTATE: \w+")
"""What Spark puts around its words for those who look them up."""

_JAVA_ENDED = (
    "Java, in which Spark runs, stopped before the work was done, perhaps because "
    "memory ran out; raise spark.driver.memory"
)
_LOST = (
    "an executor was lost, as often as Spark tries; its log says why, and "
    "spark.task.maxFailures how often that is"
)
_FAULTS = {
    "Answer from Java side is empty": _JAVA_ENDED,
    "Error while sending or receiving": _JAVA_ENDED,
    "spark.driver.maxResultSize": "what comes back is more than the driver may take; "
    "raise spark.driver.maxResultSize, or leave values per query on Spark",
    "Java heap space": "there is no memory left for Spark; raise spark.driver.memory "
    "or spark.executor.memory, or share queries among more partitions",
    "Python worker exited unexpectedly": "a Python worker ended before its work was "
    "done, as where memory runs out; give executors more memory with "
    "spark.executor.memoryOverhead, or share queries among more partitions",
    "ExecutorLostFailure": _LOST,
    "Missing an output location for shuffle": _LOST,
    "No space left on device": "a disk of an executor is full; spark.local.dir says "
    "where it keeps what is shuffled",
}
"""What Spark says of a fault -> what it means, and what to do."""


def refuse_stopped(session: Any, whose: str) -> None:
    """Refuse a session that was stopped, of which nothing can be asked any more."""
    stopped = getattr(session, "is_stopped", None)
    if stopped is None:  # a classic session, which has no word for it
        context = session.sparkContext._jsc  # noqa: SLF001
        try:
            stopped = context is None or context.sc().isStopped()
        except Exception:  # noqa: BLE001 - Java has ended, and nobody answers
            stopped = True
    if stopped:
        msg = f"{whose} was stopped; start another one, and read the data in it"
        raise UsageError(msg)


def run_job(frame: Any) -> list[Any]:
    """Collect a small frame; what fails in an executor is told in one sentence."""
    rows: list[Any] = run_action(frame.collect)
    return rows


def run_action(action: Callable[[], Any]) -> Any:
    """Run something on Spark; what fails there is told in one sentence."""
    try:
        return action()
    except RankineError:
        raise
    except ConnectionError:
        raise DataError(_JAVA_ENDED) from None
    except Exception as error:
        text = str(error)
        if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
            raise
        raise in_one_sentence(text) from None


def with_polars(what: str, module: str, name: str, pickled: bytes) -> Any:
    """Return a function of batches that makes a state of them, with polars.

    Executors can run it whether they have polars or not.

    Args:
        what: what polars is needed for, in words.
        module: a module that imports polars.
        name: a function in it, of what is pickled and of batches. It returns a state,
            None if there is nothing, or an error, as data: one that is raised would be
            tried again.
        pickled: what the function is told.
    """

    def states(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415 - this runs elsewhere

        try:
            function = getattr(import_module(module), name)
        except ModuleNotFoundError as error:
            if error.name != "polars":
                raise
            msg = f"{what} with polars on the executors; install it there"
            state: Any = MissingExtraError(msg)
        else:
            state = function(pickled, batches)
        if state is not None:
            yield pa.RecordBatch.from_pydict({"state": [pickle.dumps(state)]})

    return states


def in_one_sentence(text: str) -> RankineError:
    """Say in one sentence what Spark says in a page."""
    ours, module = _OURS.search(text), _MODULE.search(text)
    if ours and hasattr(errors, ours[1]):
        kind: type[RankineError] = getattr(errors, ours[1])
        return kind(_CODES.sub("", ours[2]))
    absent = _NO_PATH.search(text)
    if absent:
        return FormatError(f"{absent[1]}: no such file")
    if module:
        package = module[1].split(".")[0]
        todo = f"install {package} there"
        if package == errors.__name__.split(".")[0]:
            todo = "install it there, or call rankine.spark.ship(spark) first"
        return MissingExtraError(f"the executors have no {package}; {todo}")
    if _NO_CONNECTOR.search(text):
        msg = (
            "Spark has no connector for such a path; spark.jars.packages names what it "
            "loads, such as org.apache.hadoop:hadoop-aws for s3a://"
        )
        return MissingExtraError(msg)
    host = _NO_HOST.search(text)
    if host:
        return DataError(f"there is no host {host[1].rstrip(':')!r}")
    for words, meaning in _FAULTS.items():
        if words in text:
            return DataError(meaning)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = _CAUSE.findall(text)
    said = causes[-1] if causes else lines[0] if lines else "no reason given"
    said, file = _CODES.sub("", _WITHIN.split(said)[-1]), _FILE.search(text)
    if file:
        return FormatError(f"{file[1]}: Spark cannot read it ({said})")
    return DataError(f"Spark could not do it: {said}")
