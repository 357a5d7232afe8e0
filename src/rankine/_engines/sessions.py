"""A Spark session for one command, which starts and stops it without any output."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager, nullcontext, redirect_stderr, suppress
from io import StringIO
from socket import create_connection
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rankine._engines.frames import functions
from rankine._engines.jobs import run_action, unreached
from rankine._engines.shipped import ship
from rankine.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

_CONNECT = "sc://"
_CLUSTER = "spark://"
_PORTS = {_CONNECT: 15002, _CLUSTER: 7077}
"""Where servers of Spark Connect and masters listen if their address has no port."""
_PATIENCE = 5
"""How many seconds a server may take to accept a connection."""
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
"""Variables that name a proxy through which Spark Connect goes."""
_LOCAL = ("local", "local[")
"""How the masters begin whose executors are threads of the driver."""


@contextmanager
def session(master: str | None, name: str, *, loud: bool) -> Iterator[Any]:
    """Start a session, or connect to one; stop it at the end.

    Args:
        master: the address of a cluster, ``local[2]`` and the like, or the ``sc://``
            address of a Spark Connect server; None to take what spark-submit would.
        name: what to call the application.
        loud: whether to show what Spark logs, on the error stream.
    """
    functions()  # says what to install if pyspark is missing
    remote = os.environ.get("SPARK_REMOTE") if master is None else master
    address = None
    if remote is not None and remote.startswith(_CONNECT):
        address = remote.partition("/;")[0]  # without a token, which may follow
        refuse_unreached(address)
        spark = run_action(lambda: _connected(remote), master=address)
    else:
        with TemporaryFile() as log:
            spark = _started(master, name, None if loud else log)
    # What Python's side of Spark prints when Java ends or a job is interrupted.
    logging.getLogger("py4j").setLevel(logging.NOTSET if loud else logging.CRITICAL)
    with nullcontext() if loud else redirect_stderr(StringIO()):
        try:
            if not _is_local(spark):
                run_action(lambda: ship(spark), master=address)
            yield spark
        finally:
            with suppress(Exception):  # what is gone cannot be stopped
                spark.stop()


def refuse_unreached(address: str) -> None:
    """Refuse a server at which nothing listens, which Spark tries for minutes.

    A cluster may have several masters, of which one must listen.
    """
    scheme = _CONNECT if address.startswith(_CONNECT) else _CLUSTER
    if scheme == _CONNECT and any(map(os.environ.get, _PROXIES)):
        return  # only the proxy need be reached from here
    port = _PORTS[scheme]
    servers = address.removeprefix(scheme).partition("/")[0].split(",")
    if any(_listens(server, port) for server in servers):
        return
    named = [
        server if urlsplit(f"//{server}").port else f"{server}:{port}"
        for server in servers
    ]
    where = scheme + ",".join(named)
    raise unreached(where)


def _listens(server: str, port: int) -> bool:
    """Say whether something listens at a host, or that only Spark can tell."""
    try:
        parts = urlsplit(f"//{server}")
        host, port = parts.hostname, parts.port or port
    except ValueError:  # Spark says what is wrong with it
        return True
    if host is None:
        return True
    try:
        create_connection((host, port), timeout=_PATIENCE).close()
    except (OSError, UnicodeError):  # such as a name that no host can have
        return False
    return True


def _connected(remote: str) -> Any:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra

    return SparkSession.builder.remote(remote).getOrCreate()


def _started(master: str | None, name: str, log: IO[bytes] | None) -> Any:
    """Start Java and a session in it; what they print goes to a log."""
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - an extra
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    if SparkContext._gateway is None:  # noqa: SLF001 - Java starts once per process
        streams = {} if log is None else {"stdout": log, "stderr": log}
        try:
            gateway = launch_gateway(popen_kwargs=streams)
        except PySparkRuntimeError:
            msg = f"Spark needs Java 17 or later, which did not start{_last_line(log)}"
            raise MissingExtraError(msg) from None
        SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001
    conf = SparkConf().setAppName(name)
    if master is not None:
        conf = conf.setMaster(master)
    elif not conf.contains("spark.master"):
        conf = conf.setMaster("local[*]")
    address = conf.get("spark.master")
    if address is not None and address.startswith(_CLUSTER):
        refuse_unreached(address)
    builder = SparkSession.builder.config(conf=conf)
    spark = run_action(builder.getOrCreate, master=address)
    if _is_local(spark) and "PYSPARK_PYTHON" not in os.environ:
        # The interpreter that runs this has all that is needed; python3 may not.
        spark.sparkContext.pythonExec = sys.executable
    return spark


def _is_local(spark: Any) -> bool:
    """Say whether executors are here, and can import what the driver can."""
    if hasattr(spark, "is_stopped"):  # of Connect, whose server is anywhere
        return False
    master: str = spark.sparkContext.master
    return master == _LOCAL[0] or master.startswith(_LOCAL[1])


def _last_line(log: IO[bytes] | None) -> str:
    """Return the last line of a log, in brackets."""
    if log is None:
        return ""
    log.seek(0)
    lines = log.read().decode(errors="replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return f" ({said[-1]})" if said else ""
