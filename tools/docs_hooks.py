"""What mkdocs does besides Markdown: references, examples, formulas, figures.

Formulas are LaTeX between dollar signs and become MathML, which browsers draw
themselves: the site loads nothing from anywhere. Figures become part of their page, so
that they have its colours.
"""

from __future__ import annotations

import os
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from latex2mathml.converter import convert

import rankine as rk
from rankine.data import QRELS, RUNS

sys.path.insert(0, str(Path(__file__).parent.parent))
from tools.docs_examples import render
from tools.docs_reference import (
    command_reference,
    experiment_reference,
    json_reference,
    metric_reference,
    metric_table,
)

METRIC = re.compile(r"^<!-- metric (?P<name>\S+) -->$", re.MULTILINE)
_JSON = re.compile(r"^<!-- json (?P<command>\w+) -->$", re.MULTILINE)
# What a page says where nothing fills it, such as in the repository.
_UNBUILT = re.compile(
    r"^<!-- unbuilt -->\n.*?^<!-- built -->\n", re.MULTILINE | re.DOTALL
)
_MATH = re.compile(
    r"(?P<code>^```.*?^```$|`[^`\n]+`)"
    r"|\$\$(?P<block>.+?)\$\$"
    r"|(?<![\\\w$])\$(?P<inline>[^\s$][^$\n]*?)\$(?!\w)",
    re.MULTILINE | re.DOTALL,
)
_FIGURE = re.compile(
    r'<p><img [^>]*src="(?:\.\./)*assets/(?P<name>[\w-]+\.svg)" /></p>'
)
# A formula of a docstring, which comes in later than those of pages.
_OF_DOCSTRING = re.compile(r"<p>\$\$(?P<latex>.+?)\$\$</p>", re.DOTALL)
_STASHED = re.compile(r"(?:<p>)?xformula(?P<number>\d+)x(?:</p>(?=\s))?")
_SPACE = "{http://www.w3.org/1998/Math/MathML}"
_WIDE = frozenset("∑∏") | {"max", "min"}
_BELOW = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}

_pages: dict[str, str] = {}
_formulas: dict[str, list[str]] = {}


def on_files(files: Any, config: Any) -> Any:
    """Find out which page explains which metric."""
    del config
    for file in files.documentation_pages():
        for match in METRIC.finditer(Path(file.abs_src_path).read_text("utf-8")):
            _pages[match["name"]] = file.src_uri
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Fill in the references, run the examples, set the formulas aside."""
    del config, files
    here = os.path.dirname(page.file.src_uri)  # noqa: PTH120 - a URI
    near = {name: os.path.relpath(path, here or ".") for name, path in _pages.items()}
    markdown = _UNBUILT.sub("", markdown)
    markdown = METRIC.sub(lambda match: metric_reference(match["name"]), markdown)
    if "<!-- metrics -->" in markdown:
        markdown = markdown.replace("<!-- metrics -->", metric_table(near))
    if "<!-- commands -->" in markdown:
        markdown = markdown.replace("<!-- commands -->", command_reference())
    if "<!-- experiment -->" in markdown:
        markdown = markdown.replace("<!-- experiment -->", experiment_reference())
    markdown = _JSON.sub(lambda match: json_reference(match["command"]), markdown)
    markdown = render(markdown, page.file.src_uri)
    formulas = _formulas[page.file.src_uri] = []
    return _MATH.sub(lambda match: _set_aside(match, formulas), markdown)


def _set_aside(match: re.Match[str], formulas: list[str]) -> str:
    if match["code"]:
        return match[0]
    if match["block"]:
        formulas.append(_formula(match["block"]))
    else:
        formulas.append(mathml(match["inline"], "inline"))
    return f"xformula{len(formulas) - 1}x"


def _formula(latex: str) -> str:
    return f'<div class="formula">{mathml(latex, "block")}</div>'


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Put the formulas back where they were, and the figures where they are named."""
    del files
    html = _FIGURE.sub(lambda match: _figure(config.docs_dir, match["name"]), html)
    html = _OF_DOCSTRING.sub(lambda match: _formula(unescape(match["latex"])), html)
    formulas = _formulas.get(page.file.src_uri, [])

    def put_back(match: re.Match[str]) -> str:
        formula = formulas[int(match["number"])]
        if formula.startswith("<div"):
            return formula
        return match[0].replace(f"xformula{match['number']}x", formula)

    return _STASHED.sub(put_back, html)


def _figure(folder: str, name: str) -> str:
    drawn = (Path(folder) / "assets" / name).read_text("utf-8")
    return f'<figure class="chart-box" data-search-exclude="">\n{drawn}</figure>'


def on_post_build(config: Any) -> None:
    """Write the index of the search as a script, for pages opened as files."""
    folder = Path(config.site_dir) / "search"
    index = (folder / "search_index.json").read_text("utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index}", "utf-8")
    _demo(Path(config.site_dir) / "demo-report.html")


def _demo(path: Path) -> None:
    """Write the report of the sample data, which a page shows."""
    runs = {run.stem: run for run in RUNS}
    compared = rk.compare(QRELS, runs, ["nDCG@10", "AP", "RR@10", "P@5", "R@20"])
    compared.report(path, command="rankine demo --report demo.html")


def mathml(latex: str, display: str) -> str:
    """Return a formula as MathML, with the limits of sums below and above them."""
    ET.register_namespace("", _SPACE.strip("{}"))
    tree = ET.fromstring(convert(latex.strip(), display=display))  # noqa: S314 - ours
    for node in tree.iter():
        kind = node.tag.removeprefix(_SPACE)
        if kind in _BELOW and len(node) and (node[0].text or "").strip() in _WIDE:
            node.tag = _SPACE + _BELOW[kind]
    return ET.tostring(tree, encoding="unicode")
