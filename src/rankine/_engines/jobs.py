"""Jobs on Spark; if one fails, an error says why in one sentence."""

from __future__ import annotations

import os
import pickle
import re
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankine import errors
from rankine.errors import (
    DataError,
    FormatError,
    MissingExtraError,
    NoSpaceError,
    RankineError,
    UnavailableError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MARK = f"{errors.__name__}.{{}}: "
_OURS = re.compile(re.escape(_MARK).replace(r"\{\}", r"(\w+)") + r"([^\n]*)")
"""What makes Spark's words for a fault ours; `marked` writes it."""
_MODULE = re.compile(r"No module named '([\w.]+)'")
_CAUSE = re.compile(
    r"^[\s:]*(?:Caused by: )?[\w.$]*(?:Error|Exception): ([^\n]+)", re.MULTILINE
)
_FILE = re.compile(r"while reading file (?:file:/*(?=/))?(\S+?)\.?(?=\s|$)")
_WITHIN = re.compile(r"[\w.$]+(?:Error|Exception): ")
_NO_PATH = re.compile(r"Path does not exist: (?:file:/*(?=/))?(\S+?)\.?(?=\s|$)")
_NO_CONNECTOR = re.compile(r"Class [\w.]+\.fs\.[\w.]+ not found|No FileSystem for")
_NO_HOST = re.compile(r"UnknownHostException: (\S+)")
_UNREACHED = (
    re.compile(r"Call From \S+ to (\S+) failed on (?:connection|socket) "),
    re.compile(r"[Ff]ailed to connect to (?!all |remote )/?(\S+?)[\s:]*(?:$|\s)"),
    re.compile(
        r"StatusCode\.(?:UNAVAILABLE|DEADLINE_EXCEEDED)[\s\S]*?ipv[46]:(\S+?):? "
    ),
    re.compile(r"StatusCode\.(?:UNAVAILABLE|DEADLINE_EXCEEDED)|\[RETRIES_EXCEEDED\]"),
)
"""What says that nobody answered; where, if that is known."""
_ENDED = re.compile(
    r"stopped SparkContext|SparkContext (?:was|has been) shut ?down|"
    r"SparkEnv\$?\.get\(\)\" is null|"
    r"Master removed our application|All masters are unresponsive"
)
"""What fails, one thing or another, once no master has answered."""
_OTHER_PYTHON = re.compile(
    r"Python in worker has different version:? \(?([\d., ]+?)\)? than that in driver:? "
    r"(\d+\.\d+)"
)
_NO_PYTHON = re.compile(r'Cannot run program "([^"\n]*py[^"\n]*)"')
_CODES = re.compile(r"^\[[A-Z][A-Z0-9_.]*\] |\s*SQLSTATE: \w+")
"""What Spark puts around its words for those who look them up."""

_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_ANY = str((1 << 31) - 1)
"""So many bytes that Spark does not count them."""
_JAVA_ENDED = (
    "Java, in which Spark runs, ended before the work was done, perhaps because it ran "
    "out of memory; raise spark.driver.memory"
)
_LOST = (
    "Spark lost executors, and gave up after as many attempts as "
    "spark.task.maxFailures allows; their logs say why they ended"
)
_FULL = (
    "Spark ran out of memory; raise spark.driver.memory or spark.executor.memory, or "
    "split the queries into more partitions"
)
_FAULTS = {
    "Answer from Java side is empty": _JAVA_ENDED,
    "Error while sending or receiving": _JAVA_ENDED,
    "spark.driver.maxResultSize": "the result is larger than the driver may take; "
    "raise spark.driver.maxResultSize, or leave values per query on Spark",
    "TaskResultLost": "the driver lost a result, perhaps because it ran out of memory; "
    "raise spark.driver.memory, or leave values per query on Spark",
    "Java heap space": _FULL,
    "exited with code 52": _FULL,  # as executors do that have no memory left
    "Python worker exited unexpectedly": "a Python worker ended before its work was "
    "done, perhaps because memory ran out; give executors more with "
    "spark.executor.memoryOverhead, or split the queries into more partitions",
    "ExecutorLostFailure": _LOST,
    "Missing an output location for shuffle": _LOST,
}
"""What Spark says of a fault -> what it means, and what to do."""
_NO_ROOM = ("No space left on device", "Disk quota exceeded", "File too large")


def refuse_stopped(session: Any, whose: str) -> None:
    """Refuse a session that was stopped, as nothing can run in it any more."""
    stopped = getattr(session, "is_stopped", None)
    if stopped is None:  # a classic session, which has no such property
        context = session.sparkContext._jsc  # noqa: SLF001
        try:
            stopped = context is None or context.sc().isStopped()
        except Exception:  # noqa: BLE001 - Java has ended, and nobody answers
            stopped = True
    if stopped:
        msg = f"{whose} was stopped; start another one, and read the data in it"
        raise UsageError(msg)


def run_job(frame: Any) -> list[Any]:
    """Collect a small frame; if an executor fails, say why in one sentence."""
    rows: list[Any] = run_action(lambda: _without_byte_limit(frame, frame.collect))
    return rows


def collected(rows: Any, module: str, name: str, sent: bytes) -> Iterator[Any]:
    """Run one of our functions on executors, and yield what it answers.

    If it refuses the data anywhere, that is raised at the end: of several refusals the
    first by its words, as nobody knows which task ends first.

    Args:
        rows: the frame whose partitions it gets.
        module: as in `on_executors`, like the next two.
        name: a function whose answers are packed by `work.answering`.
        sent: its first argument.
    """
    problems: list[RankineError] = []
    function = on_executors(module, name, sent)
    for row in run_job(rows.mapInArrow(function, "state binary")):
        answer = pickle.loads(bytes(row.state))  # noqa: S301 - made by our own code
        if isinstance(answer, RankineError):
            problems.append(answer)
        elif not problems:
            yield answer
    if problems:
        raise min(problems, key=str)


def run_table(frame: Any) -> Any:
    """Collect a frame as a table of pyarrow, in the same way."""
    return run_action(lambda: _without_byte_limit(frame, frame.toArrow))


def _without_byte_limit(frame: Any, action: Callable[[], Any]) -> Any:
    """Run something while Spark ends batches by their rows, and not by bytes too.

    It would add up the bytes of all columns after each row that it hands to Python,
    which takes longer than all else that it does with the row. If the user does not
    limit the rows of a batch, its bytes stay limited; and if a session does not let its
    settings be changed, they stay as they are.
    """
    settings, usual, changed = frame.sparkSession.conf, None, False
    with suppress(Exception):  # if nothing can be changed, or Java has ended
        usual = settings.get(_BATCH_BYTES, None)
        if usual != _ANY and int(settings.get(_BATCH_ROWS, None) or 1) > 0:
            settings.set(_BATCH_BYTES, _ANY)
            changed = True
    try:
        return action()
    finally:
        with suppress(Exception):
            if changed and usual is None:
                settings.unset(_BATCH_BYTES)
            elif changed:
                settings.set(_BATCH_BYTES, usual)


def run_action(
    action: Callable[[], Any], path: str | None = None, master: str | None = None
) -> Any:
    """Run something on Spark; if it fails there, say why in one sentence.

    Args:
        action: what to run.
        path: the file that is read, if it is one.
        master: the address of Spark, if there is no session yet.
    """
    try:
        return action()
    except RankineError:
        raise
    except KeyboardInterrupt:
        _cancel_jobs()
        raise
    except ConnectionError:
        raise UnavailableError(_JAVA_ENDED) from None
    except Exception as error:
        text = str(error)
        if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
            raise
        raise in_one_sentence(text, path, master or _master()) from None


def _master() -> str | None:
    """Return the address of the classic session, if there is one."""
    with suppress(ImportError):  # a client of Spark Connect has no such class
        from pyspark import SparkContext  # noqa: PLC0415 - an extra

        return getattr(SparkContext._active_spark_context, "master", None)  # noqa: SLF001
    return None


def _cancel_jobs() -> None:
    """Cancel the jobs of a classic session, of which Ctrl-C ends only the waiting.

    Spark's own handler of the signal tries to cancel them, but fails while an answer
    of Java is being read, which is nearly always. Spark Connect does it itself.
    """
    from pyspark import SparkContext  # noqa: PLC0415 - an extra

    context = SparkContext._active_spark_context  # noqa: SLF001
    if context is not None:
        with suppress(Exception):  # what is gone has no jobs
            context.cancelAllJobs()


def on_executors(module: str, name: str, sent: bytes) -> Any:
    """Return a function of batches that calls one of ours where it runs.

    Executors can be given it whether they have this package or not.

    Args:
        module: a module of this package.
        name: a function in it, which takes what is sent, and batches, and yields
            batches. It yields its errors: if it raised one, Spark would try again.
        sent: the first argument of the function.
    """

    def called(batches: Iterable[Any]) -> Iterator[Any]:
        # Before polars is imported: each core has a task of its own.
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        yield from getattr(import_module(module), name)(sent, batches)

    return called


def marked(kind: type[RankineError], words: str) -> str:
    """Return the words of an error for Spark to raise, which come back as ours."""
    return _MARK.format(kind.__name__) + words


def executors_lack(*names: str) -> MissingExtraError:
    """Return what to raise where executors have no such packages."""
    them = "it" if len(names) == 1 else "them"
    msg = (
        f"the executors have no {', '.join(names)}; install {them} there, with a "
        "cluster library, a bootstrap action or spark.archives, or let PYSPARK_PYTHON "
        f"name a Python that has {them}"
    )
    return MissingExtraError(msg)


def in_one_sentence(
    text: str, path: str | None = None, master: str | None = None
) -> RankineError:
    """Say in one sentence what Spark says in a page.

    Args:
        text: what Spark says.
        path: the file that was read, if it was one.
        master: the address of Spark, if it is known.
    """
    ours = _OURS.search(text)
    if ours and hasattr(errors, ours[1]):
        kind: type[RankineError] = getattr(errors, ours[1])
        return kind(_CODES.sub("", ours[2]))
    absent = _NO_PATH.search(text)
    if absent:
        return FormatError(f"{absent[1]}: no such file")
    if _NO_CONNECTOR.search(text):
        msg = (
            "Spark has no connector for such a path; spark.jars.packages names what it "
            "loads, such as org.apache.hadoop:hadoop-aws for s3a://"
        )
        return MissingExtraError(msg)
    unmet = _unmet(text) or _gone(text, path, master)
    if unmet is not None:
        return unmet
    for words, meaning in _FAULTS.items():
        if words in text:
            lost = meaning in {_JAVA_ENDED, _LOST}
            return (UnavailableError if lost else DataError)(meaning)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = _CAUSE.findall(text)
    said = causes[-1] if causes else lines[0] if lines else "no reason given"
    said, file = _CODES.sub("", _WITHIN.split(said)[-1]), _FILE.search(text)
    where = file[1] if file else path
    if where is not None:
        return FormatError(f"{where}: Spark cannot read it ({said})")
    return DataError(f"Spark failed: {said}")


def _unmet(text: str) -> RankineError | None:
    """Say what Python executors need; None if they have it."""
    module, other = _MODULE.search(text), _OTHER_PYTHON.search(text)
    if module:
        package = module[1].split(".")[0]
        if package != errors.__name__.split(".")[0]:
            return executors_lack(package)
        msg = (
            "the executors have no rankine; install it there, or call "
            "rankine.spark.ship(spark) first"
        )
        return MissingExtraError(msg)
    absent = _NO_PYTHON.search(text)
    if not other and not absent:
        return None
    ours = other[2] if other else f"{sys.version_info[0]}.{sys.version_info[1]}"
    if other:
        theirs = other[1].replace(", ", ".")
        wrong = f"the executors run Python {theirs} and the driver runs {ours}"
    elif absent:
        named = os.environ.get("PYSPARK_PYTHON") == absent[1]
        whose = ", which PYSPARK_PYTHON names" if named else ""
        wrong = f"the executors have no Python at {absent[1]}{whose}"
    msg = f"{wrong}; set PYSPARK_PYTHON to a Python {ours} that the executors have"
    return UsageError(msg)


def _gone(text: str, path: str | None, master: str | None) -> RankineError | None:
    """Say what cannot be reached, or has no room; None if Spark says another thing."""
    host = _NO_HOST.search(text)
    if host:
        return UnavailableError(f"there is no host {host[1].rstrip(':')!r}")
    full = next((words for words in _NO_ROOM if words in text), None)
    if full is not None:
        msg = (
            f"an executor cannot write to its disk ({full}); make room there, or name "
            "another folder with spark.local.dir"
        )
        return NoSpaceError(msg)
    if _ENDED.search(text):
        cluster = "the cluster" if master is None else f"the cluster at {master}"
        msg = f"{cluster} cannot be reached, or ended the application; try again later"
        return UnavailableError(msg)
    found = next(filter(None, (sign.search(text) for sign in _UNREACHED)), None)
    if found is None:
        return None
    where = (found[1] if found.re.groups else None) or master or "the server"
    lead = "" if path is None else f"{path}: "
    return unreached(f"{lead}{where}")


def unreached(where: str) -> UnavailableError:
    """Return what to raise where nobody answers."""
    return UnavailableError(f"{where} cannot be reached; try again later")
