"""What may come of any content: numbers, or one sentence that says what is wrong."""

from __future__ import annotations

import re
import signal
import tempfile
import threading
import time
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis.errors import HypothesisException

import rankine
import rankine as rk
from rankine.errors import RankineError
from tests.fuzz.known import SIGNATURES, is_open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

METRICS = ("RR", "AP", "nDCG@3", "P@2", "NumRet", "NumRel")
LONGEST = 10
"""Seconds that a case may take."""
_SOURCE = str(Path(rankine.__file__).parent)
_FAST = Path("/dev/shm")  # noqa: S108 - a disk in memory, where there is one
FOLDER = Path(tempfile.mkdtemp(dir=_FAST if _FAST.is_dir() else None))
"""Where contents are written; one per process."""


@dataclass
class Count:
    """How much was put in: contents that were generated, and calls with them."""

    inputs: int = 0
    calls: int = 0


COUNT = Count()


@dataclass(frozen=True)
class Outcome:
    """The result of a call.

    Attributes:
        value: what was returned.
        error: the class of the error raised on purpose, if any.
        known: the open finding that the call ran into, if any.
    """

    value: Any = None
    error: type[RankineError] | None = None
    known: str | None = None

    def agrees(self, other: Outcome) -> bool:
        """Say whether both are the same; an open finding agrees with anything."""
        if self.known or other.known:
            return True
        if self.error and other.error:
            # An unreadable file and unusable data count as the same refusal.
            return issubclass(self.error, other.error) or issubclass(
                other.error, self.error
            )
        return self.error is other.error and self.value == other.value


class TooLongError(AssertionError):
    """A case took longer than it may."""


def generated() -> None:
    """Count one generated content."""
    COUNT.inputs += 1


def outcome(call: Callable[[], Any], *, strict: bool = False) -> Outcome:
    """Call, and refuse everything but a value or one sentence.

    Open findings are passed over, unless `strict`.
    """
    COUNT.calls += 1
    with warnings.catch_warnings(record=True) as caught, _limited():
        warnings.simplefilter("always")
        try:
            found = Outcome(call())
        except (KeyboardInterrupt, TooLongError, HypothesisException):
            raise
        except RankineError as error:
            check_sentence(str(error))
            found = Outcome(error=type(error))
        except BaseException as error:
            finding = _known(error)
            if finding is None or strict:
                raise
            return Outcome(known=finding)
    if caught:
        finding = SIGNATURES.get((caught[0].category.__name__, ""))
        assert finding, [str(one.message) for one in caught]
        assert not strict
        return Outcome(known=finding)
    return found


def check_sentence(message: str) -> None:
    """Refuse a message of several lines, and one that ends in a full stop."""
    assert message
    assert "\n" not in message
    if message.startswith("expected a matrix of numbers") and is_open("D5"):
        return
    # A hint may end in the name of a column.
    assert not re.search(r"[^.]\.$", message) or "--col" in message, message


def _known(error: BaseException) -> str | None:
    """Return the finding of which this is a case, by what was raised and where."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.name for frame in frames if frame.filename.startswith(_SOURCE)][-4:]
    kind = type(error).__name__
    names = (SIGNATURES.get((kind, name)) for name in [*reversed(own), ""])
    return next((name for name in names if name), None)


@contextmanager
def _limited() -> Iterator[None]:
    """Stop what takes too long."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    begin = time.monotonic()
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if time.monotonic() - begin > LONGEST:
        raise TooLongError


def _stop(number: int, frame: object) -> None:
    raise TooLongError(number, frame)


def numbers(qrels: Any, run: Any, **options: Any) -> list[tuple[Any, ...]]:
    """Return the values of each query, sorted by its id; nan is None."""
    rows = rk.evaluate(qrels, run, METRICS, **options).per_query.rows()
    return sorted(rows, key=lambda row: str(row[0]))


def evaluated(qrels: Any, run: Any, **options: Any) -> Outcome:
    """Evaluate anything against anything."""
    return outcome(lambda: numbers(qrels, run, **options))


def written(content: bytes, name: str = "content") -> Path:
    """Write a content to a file, over the last one."""
    path = FOLDER / name
    path.write_bytes(content)
    return path


def read(
    content: bytes | Path,
    role: str,
    other: Any,
    *,
    options: dict[str, Any] | None = None,
    **how: Any,
) -> Outcome:
    """Read a content in a role, and evaluate it with what is given for the other."""
    path = content if isinstance(content, Path) else written(content)

    def call() -> Any:
        found: Any
        if role == "qrels":
            found = rk.read_qrels(path, **how) if how else path
            return numbers(found, other, **options or {})
        found = rk.read_run(path, **how) if how else path
        return numbers(other, found, **options or {})

    return outcome(call)


def checked(qrels: Any, run: Any, **options: Any) -> Outcome:
    """Look at anything before it is evaluated."""
    return outcome(lambda: str(rk.check(qrels, run, **options)))
