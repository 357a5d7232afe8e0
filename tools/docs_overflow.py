"""Look at every page of the built documentation for what is cut off.

It opens the pages in a browser, at the width of a computer, a tablet and a telephone,
and counts the blocks that can only be read by scrolling sideways.

- A page itself never scrolls sideways, nor does a table or a figure.
- Code and formulas fit at the width of a computer. On narrower screens they may scroll,
  since a line of code or a formula that is broken is harder to read; they are counted.

It needs selenium, chromium and chromedriver; without them it says so, and looks at
nothing.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDE, *NARROW = WIDTHS = (1400, 800, 390)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run")
MAY_SCROLL = {"code", "formula"}
# The report of the sample data has tests of its own.
ELSEWHERE = {"404.html", "demo-report.html"}
LOOK = """
for (const closed of document.querySelectorAll('details')) closed.open = true;
const wide = e => e.scrollWidth > e.clientWidth + 1;
const kinds = {
  code: 'pre', table: 'table', figure: 'figure, img', formula: 'div.formula',
};
const found = [];
const content = document.querySelector('.md-content__inner');
const end = content.getBoundingClientRect().right + 1;
for (const [kind, selector] of Object.entries(kinds)) {
  for (const block of content.querySelectorAll(selector)) {
    if (block.closest('pre') !== null && kind !== 'code') continue;
    const box = block.closest('.md-typeset__scrollwrap');
    const cut = box !== null ? wide(box)
      : [block, ...block.children].some(wide)
        || kind !== 'code' && block.getBoundingClientRect().right > end;
    found.push([kind, cut, block.textContent.trim().slice(0, 60)]);
  }
}
return [wide(document.documentElement), found];
"""


def main(site: Path) -> int:
    """Print what is cut off at which width; return 1 if something must not be."""
    driver = started()
    if driver is None:
        say("not looked at: selenium, chromium or chromedriver is not installed")
        return 0
    wrong: list[str] = []
    try:
        for width in WIDTHS:
            blocks, cut = Counter[str](), Counter[str]()
            for page, kind, is_cut, text in seen(driver, site, width):
                blocks[kind] += 1
                if not is_cut:
                    continue
                cut[kind] += 1
                line = f"{page} at {width} px: {kind} {' '.join(text.split())!r}"
                if kind not in MAY_SCROLL or width == WIDE:
                    wrong.append(line)
            counts = (f"{cut[kind]} of {blocks[kind]} {kind}" for kind in blocks)
            say(f"{width} px, scroll sideways: {', '.join(counts)}")
    finally:
        driver.quit()
    for line in wrong:
        say(line)
    return bool(wrong)


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def seen(driver: Any, site: Path, width: int) -> Iterator[tuple[str, str, bool, str]]:
    """Yield page, kind, whether it is cut off, and text of every block at a width."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False},
    )
    for path in sorted(site.rglob("*.html")):
        page = path.relative_to(site).as_posix()
        if page in ELSEWHERE:
            continue
        driver.get(path.resolve().as_uri())
        is_cut, blocks = driver.execute_script(LOOK)
        yield page, "page", is_cut, ""
        for kind, block_is_cut, text in blocks:
            yield page, kind, block_is_cut, text


def started() -> Any:
    """Return a browser, or None where there is none."""
    binary, service = map(shutil.which, ("chromium", "chromedriver"))
    try:
        from selenium import webdriver  # noqa: PLC0415 - if installed
    except ImportError:
        return None
    if binary is None or service is None:
        return None
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in FLAGS:
        options.add_argument(flag)
    return webdriver.Chrome(options, webdriver.ChromeService(service))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
