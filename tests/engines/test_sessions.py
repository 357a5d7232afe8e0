"""A server of Spark is tried before a session is built."""

from __future__ import annotations

import socket

import pytest

from rankine._engines import sessions
from rankine.errors import UnavailableError


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("grpc_proxy", "https_proxy", "http_proxy", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the addresses to which sessions are built, which all fail."""
    asked: list[str] = []

    def connected(remote: str) -> None:
        asked.append(remote)
        raise UnavailableError(remote)

    monkeypatch.setattr(sessions, "_connected", connected)
    monkeypatch.setattr(sessions, "functions", lambda: None)  # needs pyspark
    return asked


def refused(address: str | None) -> str:
    opened = sessions.session(address, "test", loud=False)
    with pytest.raises(UnavailableError) as error, opened:
        pass
    return str(error.value)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Return what was tried; nothing listens, except at port 7."""
    asked: list[tuple[str, int]] = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        assert timeout < 10
        asked.append(address)
        if address[1] != 7:
            raise ConnectionRefusedError
        return socket.socket()

    monkeypatch.setattr(sessions, "create_connection", connect)
    return asked


@pytest.mark.parametrize(
    ("address", "server", "where"),
    [
        ("sc://127.0.0.1:1", ("127.0.0.1", 1), "sc://127.0.0.1:1"),
        ("sc://127.0.0.1:1/;token=secret", ("127.0.0.1", 1), "sc://127.0.0.1:1"),
        ("sc://localhost/", ("localhost", 15002), "sc://localhost:15002"),
        ("sc://[::1]", ("::1", 15002), "sc://[::1]:15002"),
    ],
)
def test_a_server_that_is_not_there_is_refused_at_once(
    address: str,
    server: tuple[str, int],
    where: str,
    built: list[str],
    tried: list[tuple[str, int]],
) -> None:
    assert refused(address) == f"{where} cannot be reached; try again later"
    assert tried == [server]
    assert built == []


def test_the_address_in_the_environment_is_tried_too(
    built: list[str], tried: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1:1")

    assert "cannot be reached" in refused(None)
    assert (tried, built) == ([("127.0.0.1", 1)], [])


@pytest.mark.usefixtures("tried")
def test_a_session_is_built_where_something_listens(built: list[str]) -> None:
    assert refused("sc://127.0.0.1:7/;token=secret") == "sc://127.0.0.1:7/;token=secret"
    assert built == ["sc://127.0.0.1:7/;token=secret"]


def test_behind_a_proxy_only_spark_can_tell(
    built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("grpc_proxy", "http://127.0.0.1:1")

    assert refused("sc://127.0.0.1:1") == "sc://127.0.0.1:1"
    assert built == ["sc://127.0.0.1:1"]


@pytest.mark.parametrize(
    ("address", "servers", "where"),
    [
        ("spark://127.0.0.1:1", [("127.0.0.1", 1)], "spark://127.0.0.1:1"),
        (
            "spark://localhost,127.0.0.1:1",
            [("localhost", 7077), ("127.0.0.1", 1)],
            "spark://localhost:7077,127.0.0.1:1",
        ),
    ],
)
def test_a_cluster_without_a_master_is_refused_at_once(
    address: str,
    servers: list[tuple[str, int]],
    where: str,
    tried: list[tuple[str, int]],
) -> None:
    with pytest.raises(UnavailableError) as error:
        sessions.refuse_unreached(address)

    assert str(error.value) == f"{where} cannot be reached; try again later"
    assert tried == servers


@pytest.mark.usefixtures("tried")
@pytest.mark.parametrize(
    "address", ["spark://a:1,127.0.0.1:7", "spark://a:no", "spark://"]
)
def test_one_master_is_enough_and_spark_says_what_is_no_address(address: str) -> None:
    sessions.refuse_unreached(address)
