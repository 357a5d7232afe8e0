"""What holds for all tests: hypothesis repeats itself, and nobody uses a network."""

from __future__ import annotations

import socket
from typing import NoReturn

import pytest
from hypothesis import settings

settings.register_profile("rankine", deadline=None, derandomize=True)
settings.load_profile("rankine")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test fail that connects to anything."""

    def refuse(*_: object) -> NoReturn:
        pytest.fail("something connects to a network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
