"""The documentation tells the truth: its examples run, its links lead somewhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import rankine as rk
from rankine._metrics.metric import Metric
from tools.docs_examples import FENCE, ExampleError, render
from tools.docs_reference import command_reference, metric_reference

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
NAMES = [page.relative_to(DOCS).as_posix() for page in PAGES]
LINK = re.compile(r"\]\((?P<page>[^)#:\s]*)(?:#(?P<anchor>[^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """Return the ids of a page's headings, given or made from their words."""
    prose = FENCE.sub("", page.read_text())
    headings = re.findall(r"^#+ (.*?)(?: \{ #(\S+) \})?$", prose, re.MULTILINE)
    return {
        given or re.sub(r"[^\w\s-]", "", words).strip().lower().replace(" ", "-")
        for words, given in headings
    }


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_examples_run(page: Path) -> None:
    text = page.read_text()
    shown = render(text, page.name)

    assert (".output" in shown) == ("```python" in text or "```console" in text)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_example_hides_from_being_run(page: Path) -> None:
    prose = FENCE.sub("", page.read_text())

    assert "```" not in prose


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_to_a_page_and_a_place_on_it(page: Path) -> None:
    for link in LINK.finditer(FENCE.sub("", page.read_text())):
        target = page.parent / link["page"] if link["page"] else page

        assert target.exists(), link[0]
        assert link["anchor"] is None or link["anchor"] in anchors(target), link[0]


def test_every_metric_is_explained_once() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    explained = re.findall(r"^<!-- metric (\S+) -->$", text, re.MULTILINE)

    assert sorted(explained) == sorted(rk.metrics())


@pytest.mark.parametrize("name", rk.metrics())
def test_the_place_of_a_metric_can_be_linked(name: str) -> None:
    (page,) = (p for p in PAGES if f"<!-- metric {name} -->" in p.read_text())

    assert name in anchors(page)


def test_every_public_name_is_in_the_reference() -> None:
    reference = (DOCS / "api.md").read_text()
    listed = set(re.findall(r"^::: \S+\.(\w+)$", reference, re.MULTILINE))
    names = {
        name for name in rk.__all__ if not isinstance(getattr(rk, name), Metric)
    }  # fmt: skip

    assert names <= listed


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("logs.md", "Off-policy evaluation"),
        ("batches.md", "Batches and accumulators"),
        ("training.md", "In a training loop"),
        ("metrics/diversity.md", "Diversity"),
        ("metrics/exposure.md", "Coverage"),
        ("metrics/novelty.md", "Novelty and popularity"),
    ],
)
def test_a_page_is_called_what_people_search_for(page: str, title: str) -> None:
    shown = (DOCS.parent / "mkdocs.yml").read_text()

    assert (DOCS / page).read_text().startswith(f"# {title}\n")
    assert f"- {title}: {page}\n" in shown


def test_every_exit_code_is_explained() -> None:
    table = re.findall(r"^\| (\d+) \|", (DOCS / "cli.md").read_text(), re.MULTILINE)

    assert table == ["0", "1", "2", "3", "4", "5", "130"]


def test_the_answer_to_what_it_needs_is_complete() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
    needed = {re.split(r"[^a-z]", one.lower())[0] for one in project["dependencies"]}
    _, _, answer = (DOCS / "faq.md").read_text().partition("### What does it need?")
    words = set(re.findall(r"[a-z]+", answer.partition("\n#")[0].lower()))

    assert needed <= words


@pytest.mark.parametrize("name", rk.metrics())
def test_the_reference_of_a_metric_has_all_parameters(name: str) -> None:
    text = metric_reference(name)

    for parameter in rk.metrics()[name].fact.parameters:
        assert re.search(rf"^    `{parameter}\b", text, re.MULTILINE)


@pytest.mark.parametrize(
    "text", ["## rankine evaluate", "--fail-under", "## rankine demo"]
)
def test_the_reference_of_commands_has(text: str) -> None:
    assert text in command_reference()


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ("```python\n1 / 0\n```", "p.md:2: ZeroDivisionError"),
        ("```python raises=ValueError\n1\n```", "p.md:2: did not raise ValueError"),
        ("```console\n$ rankine evaluate no qrels.txt\n```", "ended with 3"),
        ("```console exit=1\n$ rankine metrics\n```", "ended with 0"),
        ("```console\nrankine metrics\n```", r"does not begin with \$"),
    ],
    ids=["raises", "does-not-raise", "fails", "does-not-fail", "no-command"],
)
def test_a_wrong_example_is_an_error(example: str, message: str) -> None:
    with pytest.raises(ExampleError, match=message):
        render(example, "p.md")


def test_examples_of_a_page_share_names_and_files() -> None:
    page = (
        "```python\nx = 1\n```\n"
        '```text title="f"\n2\n```\n'
        "```python\nfrom pathlib import Path\nx, Path('f').read_text()\n```"
    )

    assert "(1, '2\\n')" in render(page, "p.md")


def test_no_path_of_this_machine_is_shown() -> None:
    shown = render("```console\n$ rankine demo\n```", "p.md")

    assert "These files are in .../rankine/data" in shown
