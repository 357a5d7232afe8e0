"""A gate for retrieval as a fixture of pytest.

    def test_search(retrieval_gate):
        retrieval_gate("docs", "qrels.txt", run, {"nDCG@10": 0.01})

The baseline is ``docs.gate.json`` beside the test; ``pytest --rankine-update`` writes
it. Pytest shows the results of all gates in its summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from rankine._evaluate.gate.gate import Gate

_PROPERTY = "rankine gate"
_UPDATE = "pytest --rankine-update"


class RetrievalGate(Protocol):
    """Compares a run with its baseline; fails the test where it is worse."""

    def __call__(
        self,
        name: str,
        qrels: Any,
        run: Any,
        margins: Mapping[str, float],
        **options: Any,
    ) -> Gate:
        """Compare a run with its baseline.

        Args:
            name: the name of the gate; its baseline is ``NAME.gate.json`` beside the
                test.
            qrels: the judgements, as in `evaluate`.
            run: the run, as in `evaluate`.
            margins: metric -> the change for the worse that does not matter.
            options: the other options of `gate`, such as ``strict`` and ``convention``.
        """


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --rankine-update."""
    parser.getgroup("rankine").addoption(
        "--rankine-update",
        action="store_true",
        help="write the baselines of retrieval_gate instead of comparing with them",
    )


@pytest.fixture
def retrieval_gate(request: pytest.FixtureRequest) -> RetrievalGate:
    """Compare a run with its baseline; the test fails where it is worse."""
    update = bool(request.config.getoption("--rankine-update"))

    def compare(
        name: str, qrels: Any, run: Any, margins: Mapping[str, float], **options: Any
    ) -> Gate:
        from rankine._evaluate.gate.baseline import UPDATE  # noqa: PLC0415 - only if used
        from rankine._evaluate.gate.gate import gate  # noqa: PLC0415
        from rankine._report.tables import shown  # noqa: PLC0415
        from rankine.errors import RankineError  # noqa: PLC0415

        if not name or any(sign in name for sign in "/\\\0"):
            reason = f"the name of a gate must not contain folders, got {name!r}"
            pytest.fail(reason, pytrace=False)
        path = request.path.parent / f"{name}.gate.json"
        if update:
            options["update"] = True
        elif not path.exists():
            reason = f"there is no baseline {path.name}; {_UPDATE} creates it"
            pytest.fail(shown(f"{name}: {reason}"), pytrace=False)
        try:
            result = gate(qrels, run, path, margins, **options)
        except RankineError as error:
            reason = str(error).replace(UPDATE, _UPDATE)
            pytest.fail(shown(f"{name}: {reason}"), pytrace=False)
        said = [shown(f"{name}: {sentence}") for sentence in result.sentences]
        request.node.user_properties.extend((_PROPERTY, text) for text in said)
        if not result.passed:
            pytest.fail("\n".join([*said, *map(shown, result.fallen)]), pytrace=False)
        return result

    return compare


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what gates have found, also in tests that passed."""
    said = {
        text: None
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for key, text in report.user_properties
        if key == _PROPERTY
    }
    if said:
        terminalreporter.section("retrieval gates")
        for text in said:
            terminalreporter.line(str(text))
