"""A second process that reads files, as some that are damaged end the process.

Run as a script it reads paths from standard input, and answers each with one line.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from select import select
from typing import IO, TYPE_CHECKING, Self

from tests.fuzz import judge

if TYPE_CHECKING:
    from types import TracebackType

_MEMORY = 16 << 30
_TRUTH = {"q0": {"d1": 1, "d4": 2}, "q2": {"d7": 1}}


@dataclass(frozen=True)
class Told:
    """What came of a file.

    Attributes:
        text: what was answered.
        ended: whether the process lives on.
        stderr: what was printed meanwhile.
    """

    text: str
    ended: bool
    stderr: str

    @property
    def sentence(self) -> bool:
        """Whether it is a value or one sentence."""
        return not self.ended or self.text.startswith(("value", "error"))


class Child:
    """A process that evaluates one file after the other, started again if it dies."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.stderr: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        self.stderr.close()

    def evaluate(self, path: Path) -> Told:
        """Evaluate a file as a run."""
        judge.COUNT.calls += 1
        process = self._started()
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        begin = time.monotonic()
        ready, _, _ = select([process.stdout], [], [], judge.LONGEST)
        line = process.stdout.readline() if ready else ""
        self.stderr.seek(0)
        printed = self.stderr.read()
        self.stderr.seek(0)
        self.stderr.truncate()
        if not line:
            self._end()
            assert time.monotonic() - begin < judge.LONGEST, path.read_bytes()
        return Told(line.strip(), bool(line), printed)

    def _started(self) -> subprocess.Popen[str]:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.stderr,
                text=True,
                cwd=Path(__file__).parents[2],
            )
        return self.process

    def _end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def _serve() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    for line in sys.stdin:
        try:
            found = judge.read(Path(line.rstrip("\n")), "run", _TRUTH)
            word = "error" if found.error else "value"
        except BaseException as error:  # noqa: BLE001 - to be told
            word = f"crash {type(error).__name__}: {error}".replace("\n", " ")
        sys.stdout.write(f"{word}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
