"""Everything rankine raises on purpose.

    RankineError
    ├── UsageError (ValueError)            the request cannot be met: exit code 2
    │   ├── UnknownMetricError             no metric of that name
    │   ├── MetricSyntaxError              a metric that cannot be read
    │   ├── ParameterError                 a parameter with a value it cannot have
    │   ├── UnknownConventionError         no convention of that name
    │   └── ExperimentError                an experiment in YAML that is not valid
    ├── DataError (ValueError)             the data cannot be used: exit code 3
    │   ├── FormatError                    a file or object that cannot be read
    │   ├── ColumnNotFoundError            a column that is needed but missing
    │   ├── NoRowsError                    a file or an object with nothing in it
    │   ├── DuplicateItemError             an item that appears twice for one query
    │   └── UnavailableError               try again later, the data may be fine: 5
    │       └── NoSpaceError               a disk that has no room for what is written
    └── MissingExtraError (ImportError)    an optional package is not installed

Each message says what is wrong with the value, what is allowed or nearest, and, for
files, where.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


class RankineError(Exception):
    """Base of all errors that rankine raises on purpose.

    A message is one line: characters that would break it, in an id or in the name of a
    file, are shown as escapes.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


def one_line(text: str) -> str:
    r"""Return a text as one line, with escapes for whatever would break it.

    >>> one_line("a\nb")
    'a\\nb'
    """
    return _CONTROL.sub(lambda character: ascii(character[0])[1:-1], text)


class UsageError(RankineError, ValueError):
    """The request cannot be met, whatever the data."""

    exit_code: ClassVar[int] = 2


class UnknownMetricError(UsageError):
    """No metric has that name."""


class MetricSyntaxError(UsageError):
    """The text is not a metric."""


class ParameterError(UsageError):
    """A parameter does not exist or has a value it cannot have."""


class UnknownConventionError(UsageError):
    """No convention has that name."""


class ExperimentError(UsageError):
    """An experiment has problems, each with its place in the file.

    Attributes:
        problems: one line for each: file, line, column and what is wrong.
    """

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        number = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(f"{name}: {number}: {'; '.join(problems)}")
        self.problems = tuple(map(one_line, problems))


class DataError(RankineError, ValueError):
    """The data cannot be evaluated as they are."""


class FormatError(DataError):
    """A file or an object cannot be read as judgements or as a run."""


class ColumnNotFoundError(DataError):
    """A required column is missing."""


class NoRowsError(DataError):
    """A file or an object holds no rows at all."""


class DuplicateItemError(DataError):
    """An item appears twice for one query."""


class UnavailableError(DataError):
    """A cluster, a database or a disk cannot do its part now; it may be able to later.

    The request and the data may be right, so the same command can be tried again.
    """

    exit_code: ClassVar[int] = 5


class NoSpaceError(UnavailableError):
    """A disk has no room for the data to be written."""


class MissingExtraError(RankineError, ImportError):
    """An optional package is required but not installed."""

    exit_code: ClassVar[int] = 2


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest the known name that was probably meant, as the tail of an error message.

    Compares without regard to case, so that ``NDGC`` finds ``nDCG``.

    >>> nearest("NDGC", ["nDCG", "AP"])
    "; did you mean 'nDCG'?"
    >>> nearest("xyz", ["nDCG", "AP"])
    ''
    """
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), candidate)
    matches = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[matches[0]]!r}?" if matches else ""
