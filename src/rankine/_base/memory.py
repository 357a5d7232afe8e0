"""Memory: sizes in words, how much a process uses, and how much is available."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from rankine.errors import ParameterError

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([kmgt]?)i?b?")
_GROUP = Path("/sys/fs/cgroup")
"""Where Linux says what a container may use."""


def bytes_of(size: Any, name: str = "size") -> int:
    """Return a number of bytes, given as an int or as text.

    >>> bytes_of("1GB"), bytes_of("1.5 MiB"), bytes_of("2k"), bytes_of(1000)
    (1073741824, 1572864, 2048, 1000)
    """
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    written = _SIZE.fullmatch(size.casefold()) if isinstance(size, str) else None
    if written is not None:
        n_bytes = int(float(written[1]) * _UNITS[written[2]])
        if n_bytes:
            return n_bytes
    msg = f"{name} must be a number of bytes, or text such as '2GB', got {size!r}"
    raise ParameterError(msg)


def in_words(size: float) -> str:
    """Return a number of bytes as people write it.

    >>> in_words(1 << 30), in_words(300 << 20), in_words(5 << 9)
    ('1.0 GB', '300 MB', '0 MB')
    """
    if size >= _UNITS["g"]:
        return f"{size / _UNITS['g']:,.1f} GB"
    return f"{size / _UNITS['m']:,.0f} MB"


def in_use() -> int:
    """Return the bytes of memory that this process uses; 0 if unknown."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def available() -> int | None:
    """Return the bytes of memory that are still available; None if unknown."""
    free = None
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        free = int(line.split()[1]) << 10
    if free is None:
        with suppress(OSError, ValueError, AttributeError):
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    with suppress(OSError, ValueError):  # which is "max" where there is no limit
        most = int((_GROUP / "memory.max").read_text())
        left = max(0, most - int((_GROUP / "memory.current").read_text()))
        free = left if free is None else min(free, left)
    return free
