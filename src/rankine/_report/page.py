"""A page: sections, charts and data in one file that needs nothing else.

Only scripts with known hashes run, and nothing is loaded from elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from base64 import b64encode
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import import_module, metadata
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankine import __version__
from rankine._base.paths import write_whole
from rankine._report.markup import (
    Markup,
    isolated,
    join,
    json_in_script,
    points,
    table,
    tag,
    unbroken,
)
from rankine.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from os import PathLike

    from rankine._report.specs import Spec

_EXTRA = (
    "Charts are missing: they need altair and vl-convert-python; install them with "
    "pip install 'rankine-eval[report]' and write the report again."
)
_CLIP = re.compile('<clipPath id="([^"]*)"')
_CLIPPED = re.compile(r'clip-path="url\(#([^")]*)\)"')
_INK = "currentColor"
_FONT = "system-ui, sans-serif"


@dataclass
class Page:
    """A report to which sections are added.

    Attributes:
        title: the heading at the top.
        about: the line below the title.
        names: names that may be in the title and be written right to left.
        warnings: warnings that concern the whole report, above all sections.
        sections: id, heading and content of each.
        charts: the specifications of the charts, for the script.
        data: everything else that the script reads.
    """

    title: str
    about: str
    names: Sequence[str] = ()
    warnings: Sequence[str] = ()
    sections: list[tuple[str, str, Markup]] = field(default_factory=list)
    charts: dict[str, Spec] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, heading: str, *content: object) -> None:
        """Add a section."""
        self.sections.append((name, heading, join(content)))

    def figure(
        self,
        name: str,
        spec: Spec,
        says: str,
        *,
        live: Spec | None = None,
        caption: str | None = None,
    ) -> Markup:
        """Return a chart as a drawing, which the script replaces by an interactive one.

        Its title becomes a heading of the page, which can wrap and be searched.

        Args:
            name: the id of the chart.
            spec: its specification.
            says: what it shows, in words.
            live: another specification for the script, which fills in the rows, and the
                names in the title.
            caption: the caption below; the same words if not given.
        """
        converter = _converter()
        if converter is None:
            return Markup()
        spec, title = _untitled(spec)
        live, filled = (spec, None) if live is None else _untitled(live)
        drawing = _own_ids(converter.vegalite_to_svg(_themed(spec)), name)
        self.charts[name] = _themed(live)
        template = None if filled is None else filled["text"]
        heading = tag("h3", unbroken(title["text"]), data_title=template)
        more = [tag("p", line, class_="hint") for line in title.get("subtitle", ())]
        drawn = tag("div", drawing, class_="drawn", role="img", aria_label=says)
        empty = tag("div", class_="live", hidden=True, aria_hidden="true")
        words = says if caption is None else caption
        below = tag("figcaption", words) if words else ""
        return tag("figure", heading, *more, drawn, empty, below, id=name)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the page in one step."""
        write_whole(path, self.text().encode("utf-8", "backslashreplace"))

    def text(self) -> str:
        """Return the whole page."""
        scripts = [_asset("report.js")]
        if self.charts:
            scripts.insert(0, _bundle())
        links = [
            tag("a", heading, href=f"#{name}") for name, heading, _ in self.sections
        ]
        theme = tag("button", "Dark", id="theme", type="button", hidden=True)
        sections = [
            tag("section", tag("h2", heading), content, id=name)
            for name, heading, content in self.sections
        ]
        data = json_in_script({**self.data, "charts": self.charts})
        head = join(
            [
                tag("meta", charset="utf-8"),
                tag(
                    "meta",
                    http_equiv="Content-Security-Policy",
                    content=_policy(scripts),
                ),
                tag("meta", name="viewport", content="width=device-width"),
                tag("meta", name="generator", content=f"rankine {__version__}"),
                tag("title", self.title),
                Markup(f"<style>{_asset('report.css')}</style>"),
            ]
        )
        missing = "" if _converter() else tag("p", _EXTRA, class_="notice")
        body = join(
            [
                tag("a", "Skip to the report", href="#top", class_="skip"),
                tag("nav", *links, theme, aria_label="Sections"),
                tag(
                    "main",
                    tag("h1", isolated(self.title, self.names)),
                    tag("p", unbroken(self.about), class_="about"),
                    tag("p", _written(), class_="written hint"),
                    points(map(unbroken, self.warnings), class_="warnings notice"),
                    missing,
                    *sections,
                    id="top",
                ),
                Markup(f'<script type="application/json" id="data">{data}</script>'),
                *(Markup(f"<script>{script}</script>") for script in scripts),
            ]
        )
        document = tag("html", tag("head", head), tag("body", body), lang="en")
        return f"<!doctype html>{document}\n"


def _written() -> Markup:
    """Say when the page was written, and with which versions."""
    now = _now()
    when = tag("time", f"{now:%Y-%m-%d %H:%M} UTC", datetime=f"{now:%Y-%m-%dT%H:%MZ}")
    polars = metadata.version("polars")
    python = platform.python_version()
    versions = f"rankine {__version__}, Python {python} and polars {polars}"
    return join(["Written on ", when, f" with {versions}."])


def _now() -> datetime:
    """Return the current time, or the one that a reproducible build sets."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if not given:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(given), UTC)
    except (ValueError, OverflowError, OSError):
        msg = (
            "SOURCE_DATE_EPOCH must be a whole number of seconds since 1970, got "
            f"{given!r}"
        )
        raise ParameterError(msg) from None


def _policy(scripts: Iterable[str]) -> str:
    """Return a policy that lets the page run these scripts and load nothing."""
    hashes = " ".join(
        f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _asset(name: str) -> str:
    return files("rankine._report").joinpath("assets", name).read_text("utf-8")


@cache
def _converter() -> Any:
    """Return the library that draws charts; None if it is not installed."""
    try:
        import_module("altair")
        return import_module("vl_convert")
    except ImportError:
        return None


@cache
def _bundle() -> str:
    """Return the libraries that charts need in a browser, in their own scope."""
    return f"(()=>{{{_converter().javascript_bundle()}}})();"


def _own_ids(svg: str, name: str) -> Markup:
    """Give the clip paths of a drawing ids that are unique on the page.

    Charts drawn by the script number theirs from the start, and if two share an id, the
    browser takes the first, which may be hidden.
    """
    clips = {clip: f"{name}-{n}" for n, clip in enumerate(_CLIP.findall(svg))}
    svg = _CLIP.sub(lambda match: f'<clipPath id="{clips[match[1]]}"', svg)
    return Markup(
        _CLIPPED.sub(
            lambda match: f'clip-path="url(#{clips.get(match[1], match[1])})"', svg
        )
    )


def _untitled(spec: Spec) -> tuple[Spec, dict[str, Any]]:
    """Return a chart without its title, and the title."""
    return {key: spec[key] for key in spec if key != "title"}, spec["title"]


def _themed(spec: Spec) -> Spec:
    """Return a chart in the colours and the font of the page around it."""
    ink = {
        "labelColor": _INK, "titleColor": _INK, "labelFont": _FONT,
        "titleFont": _FONT, "titleFontWeight": 500, "labelFontSize": 12,
        "titleFontSize": 13, "titleLimit": 330,
    }  # fmt: skip
    axis = {
        **ink, "domainColor": _INK, "tickColor": _INK, "gridColor": _INK,
        "gridOpacity": 0.12, "domainOpacity": 0.4, "tickOpacity": 0.4,
        "titlePadding": 10,
    }  # fmt: skip
    themed = deepcopy(spec)
    themed["background"] = None
    themed["config"] = {
        "aria": False, "mark": {"aria": False}, "font": _FONT, "axis": axis,
        "legend": ink, "view": {"stroke": None},
    }  # fmt: skip
    return themed


def reproduction(command: str | None, paths: Iterable[Any], rows: Any) -> Markup:
    """Return how to reproduce a result: command, choices, versions and hashes."""
    names = ("numpy", "polars", "scipy", "altair", "vl-convert-python")
    versions = [("rankine", __version__), ("Python", platform.python_version())]
    for name in names:
        try:
            versions.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    hashes = [(str(path), _hash(Path(path))) for path in paths]
    parts: list[object] = []
    if command is not None:
        parts.append(tag("pre", tag("code", command), tabindex="0"))
    parts += [_pairs("choice", "value", rows), _pairs("package", "version", versions)]
    if hashes:
        shown_hashes = _pairs("file", "SHA-256", hashes)
        parts.append(tag("div", shown_hashes, class_="hashes"))
    return tag("div", *parts, class_="columns")


def _pairs(first: str, second: str, rows: Iterable[Any]) -> Markup:
    caption = f"{first.capitalize()} and {second}"
    return table((first, second), rows, "ll", caption=caption, sort=False)


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror or error})"
        raise FormatError(msg) from None


def meanings(texts: Mapping[str, str]) -> Markup:
    """Return a line on each meaning, after the names of the metrics that have it."""
    alike: dict[str, list[str]] = {}
    for name, text in texts.items():
        alike.setdefault(text, []).append(name)
    lines = [
        join([tag("b", ", ".join(names)), f": {text}"])
        for text, names in alike.items()
        if text
    ]
    return points(lines, class_="meanings hint")


def scripted(text: str) -> Markup:
    """Return a sentence that is shown only if scripts run."""
    return tag("span", text, class_="scripted", hidden=True)


def remarks(
    warnings: Iterable[str], notes: Iterable[str], names: Collection[str] = ()
) -> Markup:
    """Return warnings and notes as lists, in which names keep their direction."""
    lists = [
        points((isolated(text, names) for text in texts), class_=kind)
        for texts, kind in ((warnings, "warnings"), (notes, "notes"))
    ]
    return join(lists) if any(lists) else tag("p", "There are none.")
