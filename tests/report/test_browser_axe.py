"""Barriers in reports, which axe-core looks for in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine.data import QRELS, RUNS
from tests.report.test_online_page import clicked, log

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.report.conftest import Browser

AXE = Path(__file__).parents[2] / "build/axe/node_modules/axe-core/axe.min.js"
TEXTS = {"q50": "如何煮鸡蛋", "recipe113": "بيض مسلوق"}
OPEN = """
for (const each of document.querySelectorAll('details')) each.open = true;
document.querySelector('#explorer tbody button')?.click();
"""


def clicks() -> rk.online.ClickMetrics:
    return rk.online.click_metrics(clicked(300))


def comparison(path: Path) -> None:
    runs = {path.stem: path for path in RUNS}
    by = {f"q{n:02}": "odd" if n % 2 else "even" for n in range(1, 51)}
    compared = rk.compare(
        QRELS, runs, ["nDCG@10", "AP"], baseline="keyword", by=by, keep=10, draws=200,
        margin=0.1,
    )  # fmt: skip
    compared.report(path, texts=TEXTS, command="rankine compare", files=[QRELS])


def pairs(path: Path) -> None:
    runs = {path.stem: path for path in RUNS}
    rk.compare(QRELS, runs, "nDCG@10", keep=10, draws=200).report(path)


def evaluation(path: Path) -> None:
    evaluated = rk.evaluate(QRELS, RUNS[0], ["nDCG@10", "AP"], keep=10)
    evaluated.report(path, texts=TEXTS)


def summary(path: Path) -> None:
    rk.online.summarize(log(), "ctr", by="country").report(path, clicks=clicks())


def days(path: Path) -> None:
    rk.online.summarize(log(), "ctr", daily=True).report(path)


def ab_test(path: Path) -> None:
    test: Any = rk.online.ab_test(
        log(users=3000), control="A", metrics=["ctr", "engagement_rate"],
        segment="country", daily=True, margin={"engagement_rate": "2%"},
    )  # fmt: skip
    test.report(path, clicks=clicks())


@pytest.mark.parametrize(
    "made", [comparison, pairs, evaluation, summary, days, ab_test]
)
def test_axe_finds_nothing_to_complain_of(
    made: Callable[[Path], None], browser: Browser, tmp_path: Path
) -> None:
    if not AXE.exists():
        pytest.skip("no axe-core: make axe installs it")
    made(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")
    browser.run(OPEN)
    browser.run(AXE.read_text("utf-8"))
    for theme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": theme}]
        browser.command("Emulation.setEmulatedMedia", media="", features=features)

        result = browser.driver.execute_async_script(
            "axe.run().then(arguments[0], error => arguments[0]({error: `${error}`}))"
        )

        assert [
            (theme, rule["id"], [node["html"][:200] for node in rule["nodes"]])
            for rule in result["violations"]
        ] == []
