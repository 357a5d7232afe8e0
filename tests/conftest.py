"""What holds for all tests: hypothesis repeats itself, and nobody uses a network.

Tests that start a process or a server, need large data or take long are marked
`slow`; `make quick` leaves them out.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

import pytest
from hypothesis import is_hypothesis_test, settings

settings.register_profile("rankine", deadline=None, derandomize=True)
settings.load_profile("rankine")

STARTING = {"driver", "server", "spark"}
"""Fixtures that start a browser, a database or Spark: their users are slow."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what starts something by a fixture, or searches by hypothesis."""
    for item in items:
        starts = STARTING & set(getattr(item, "fixturenames", ()))
        if starts or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test fail that connects to anything."""

    def refuse(*_: object) -> NoReturn:
        pytest.fail("something connects to a network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(autouse=True)
def no_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test fail that starts Python or forks, unless it is marked slow."""
    if request.node.get_closest_marker("slow"):
        return

    def refuse(*_: object) -> NoReturn:
        pytest.fail("a process is started: mark the test as slow", pytrace=False)

    start = subprocess.Popen.__init__

    # Libraries may ask the system about itself when they are imported.
    def started(own: Any, args: Any, *more: Any, **options: Any) -> None:
        if sys.executable in (args if isinstance(args, list | tuple) else [args]):
            refuse()
        start(own, args, *more, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", started)
    monkeypatch.setattr(BaseProcess, "start", refuse)
    monkeypatch.setattr(os, "fork", refuse, raising=False)
