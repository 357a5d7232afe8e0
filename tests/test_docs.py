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
_, _, AFTER = (DOCS.parent / "mkdocs.yml").read_text().partition("\nnav:\n")
NAVIGATION, _, _ = AFTER.partition("\n\n")
NAMED = r"- (?!Overview)([^:\n]+): (\S+\.md)"
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
    reference = "\n".join(page.read_text() for page in (DOCS / "api").glob("*.md"))
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
        ("ab.md", "A/B tests"),
        ("metrics/diversity.md", "Diversity"),
        ("metrics/exposure.md", "Coverage"),
        ("metrics/novelty.md", "Novelty and popularity"),
    ],
)
def test_a_page_is_called_what_people_search_for(page: str, title: str) -> None:
    assert (DOCS / page).read_text().startswith(f"# {title}\n")
    assert f"- {title}: {page}\n" in f"{NAVIGATION}\n"


@pytest.mark.parametrize(("title", "page"), re.findall(NAMED, NAVIGATION))
def test_a_page_is_called_the_same_in_the_navigation(title: str, page: str) -> None:
    assert (DOCS / page).read_text().startswith(f"# {title}\n")


def test_the_navigation_has_six_groups() -> None:
    groups = re.findall(r"^  - ([^:]+):$", NAVIGATION, re.MULTILINE)

    assert groups == [
        "Start", "Evaluate and compare", "Recommenders", "Online",
        "Scale and integrations", "Reference",
    ]  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_page_that_is_filled_in_says_so_where_it_is_not(page: Path) -> None:
    text = page.read_text()
    filled = re.search(r"\n(::: |<!-- (metrics|commands|experiment|json) )", text)
    said = re.findall(r"\n<!-- unbuilt -->\n`make docs` .+\n<!-- built -->\n", text)

    assert len(said) == text.count("unbuilt") == (filled is not None)


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


def test_a_printed_frame_is_shown_as_a_table() -> None:
    page = (
        "```python\nimport polars as pl\n"
        'print("before")\n'
        'print(pl.DataFrame({"a": ["x$y", "<b>"], "n": [1, 20]}))\n'
        'print("after")\n```'
    )
    shown = render(page, "p.md")

    assert "│" not in shown
    assert "<th>a<small>str</small></th>" in shown
    assert '<td data-title="a">x&#36;y</td>' in shown
    assert '<td data-title="a">&lt;b&gt;</td>' in shown
    assert '<td data-title="n" class="right">20</td>' in shown
    assert shown.index("before\n") < shown.index("<table") < shown.index("after\n")


def test_a_printed_frame_has_all_columns_and_says_how_many_rows_it_has() -> None:
    page = (
        "```python\nimport polars as pl\n"
        'pl.DataFrame({f"column {n}": range(1000) for n in range(30)})\n```'
    )
    shown = render(page, "p.md")

    assert shown.count("<th") == 1 + 30  # the head itself, and its cells
    assert "<p>1,000 rows</p>" in shown


def test_a_printed_result_is_shown_as_a_table_with_its_notes_below() -> None:
    page = (
        "```python\nimport rankine as rk\n"
        'print(rk.evaluate({"q": {"a": 1}, "r": {"b": 1}}, {"q": ["a"]}, "AP"))\n```'
    )
    shown = render(page, "p.md")

    assert '<td data-title="run" class="right">0.5000<small><span>' in shown
    assert "─" not in shown
    assert shown.index("</table>") < shown.index(
        " - 1 judged query missing from the run (r): counted as 0\n"
    )


def test_sentences_are_broken_by_the_page_alone() -> None:
    shown = render("```console\n$ rankine demo\n```", "p.md")

    assert (
        " - 16.4 % of the items in the top 5, 18.4 % in the top 10 and 46.7 % in the "
        "top 20 are unjudged: counted as not relevant\n"
    ) in shown


def test_no_path_of_this_machine_is_shown() -> None:
    shown = render("```console\n$ rankine demo\n```", "p.md")

    assert "These files are in .../rankine/data" in shown
