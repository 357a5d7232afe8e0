"""A browser for pages, where there is one."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine.data import QRELS, RUNS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1400,1000",
)  # fmt: skip


class Browser:
    """A browser that looks at one page at a time, and hears what the page asks for."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def load(self, path: Path) -> None:
        """Load a page, and wait until its charts are drawn."""
        self.heard()
        self.driver.get(path.as_uri())
        self.wait("return document.querySelectorAll('.live[hidden]').length === 0")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str) -> None:
        """Wait until a script returns what is true."""
        from selenium.webdriver.support.ui import WebDriverWait  # noqa: PLC0415

        WebDriverWait(self.driver, 30).until(lambda _: self.run(script))

    def command(self, name: str, **options: Any) -> Any:
        """Tell the browser itself something."""
        return self.driver.execute_cdp_cmd(name, options)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        """Return the texts that are seen."""
        script = (
            "return [...document.querySelectorAll(arguments[0])].map(e=>e.innerText)"
        )
        texts: list[str] = self.run(script, selector)
        return texts

    def rows(self, caption: str) -> list[list[str]]:
        """Return the cells of a table that are seen."""
        rows: list[list[str]] = self.run(
            "const table = [...document.querySelectorAll('table')].find("
            "t => t.caption.textContent === arguments[0]);"
            "return [...table.tBodies[0].rows].map(r => [...r.cells].map("
            "c => c.innerText.trim()))",
            caption,
        )
        return rows

    def point(self, canvas: str, x: float, y: float) -> Any:
        """Move the pointer over a canvas, to parts of its size; return the pointer."""
        from selenium.webdriver import ActionChains  # noqa: PLC0415 - if installed

        self.wait(f"return document.querySelector('{canvas}') !== null")
        area = self.find(canvas)
        self.run("arguments[0].scrollIntoView({block: 'center'})", area)
        left = round((x - 0.5) * area.size["width"])
        top = round((y - 0.5) * area.size["height"])
        pointer = ActionChains(self.driver)
        pointer.move_to_element_with_offset(area, left, top).perform()
        return pointer

    def pixel(self, canvas: str, x: float, y: float) -> list[int]:
        """Return the colour of a canvas at parts of its size: red to opacity."""
        parts: list[int] = self.run(
            "const [canvas, x, y] = [document.querySelector(arguments[0]), "
            "arguments[1], arguments[2]];"
            "const { width, height } = canvas;"
            "const copy = new OffscreenCanvas(width, height).getContext('2d');"
            "copy.drawImage(canvas, 0, 0);"
            "return [...copy.getImageData(x * width, y * height, 1, 1).data]",
            canvas, x, y,
        )  # fmt: skip
        return parts

    def heard(self) -> tuple[set[str], list[str]]:
        """Return what was asked for since the last time, and what went wrong."""
        messages = [
            json.loads(entry["message"])["message"]
            for entry in self.driver.get_log("performance")
        ]
        asked = {
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        }
        return asked, [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser of its own, with nothing in it."""
    webdriver = pytest.importorskip("selenium.webdriver")
    pytest.importorskip("vl_convert")
    binary, service = map(shutil.which, ("chromium", "chromedriver"))
    if binary is None or service is None:
        pytest.skip("no browser: chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    folder = tmp_path_factory.mktemp("browser")
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    logs = {"browser": "ALL", "performance": "ALL"}
    options.set_capability("goog:loggingPrefs", logs)
    started = webdriver.Chrome(options, webdriver.ChromeService(service))
    yield Browser(started)
    started.quit()


@pytest.fixture
def browser(driver: Browser) -> Browser:
    """The browser, as it was at first."""
    driver.command("Emulation.clearDeviceMetricsOverride")
    driver.command("Emulation.setScriptExecutionDisabled", value=False)
    light = [{"name": "prefers-color-scheme", "value": "light"}]
    driver.command("Emulation.setEmulatedMedia", media="", features=light)
    return driver


@pytest.fixture(scope="session")
def demo() -> rk.Comparison:
    runs = {path.stem: path for path in RUNS}
    return rk.compare(QRELS, runs, ["nDCG@10", "AP", "RR@10"], draws=2000)


@pytest.fixture(scope="session")
def report(demo: rk.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "report.html"
    demo.report(path, texts={"q50": "如何煮鸡蛋", "recipe113": "بيض مسلوق"})
    return path


@pytest.fixture
def loaded(browser: Browser, report: Path) -> Browser:
    browser.load(report)
    return browser
