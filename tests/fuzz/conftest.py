"""Counts what was put in, over all workers."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.fuzz.judge import COUNT, FOLDER

_TOTAL = {"inputs": 0, "calls": 0}


def pytest_sessionfinish(session: pytest.Session) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["fuzz"] = vars(COUNT)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    del error
    for key, number in getattr(node, "workeroutput", {}).get("fuzz", {}).items():
        _TOTAL[key] += number


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for key, number in vars(COUNT).items():
        _TOTAL[key] += number
    terminalreporter.write_line(
        f"fuzz: {_TOTAL['inputs']:,} generated inputs in {_TOTAL['calls']:,} calls"
    )
