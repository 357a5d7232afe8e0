"""--report and rankine report: the result of a command as one HTML file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import click
import pytest

import rankine as rk
from rankine._report import page
from rankine.cli import cli
from tests.report.pages import Parsed
from tests.shell import Shell, is_one_sentence


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out charts, which are tested elsewhere."""
    monkeypatch.setattr(page, "_converter", lambda: None)


def text_of(shell: Shell, name: str = "report.html") -> str:
    return Path(shell.path(name)).read_text("utf-8")


def compare(shell: Shell, *options: str) -> tuple[str, ...]:
    files = (shell.path(name) for name in ("qrels.txt", "a.run", "b.run"))
    return ("compare", *files, "-m", "RR", *options)


def test_compare_writes_a_report(shell: Shell) -> None:
    words = compare(shell, "--report", shell.path("report.html"))

    done = shell.run(*words)

    assert done.code == 0
    assert done.out == shell.run(*compare(shell)).out
    assert done.err == f"rankine: wrote {shell.path('report.html')}\n"
    text = text_of(shell)
    means = Parsed(text).tables["Means of all systems"]
    # a.run has RR 1 and 1/2, b.run 1 and 1.
    assert [row[1].split("|")[2] for row in means[1:]] == ["0.7500", "1.0000"]
    assert " ".join(("rankine", *words)) in text
    for name in ("qrels.txt", "a.run", "b.run"):
        content = Path(shell.path(name)).read_bytes()
        assert hashlib.sha256(content).hexdigest() in text


def test_the_report_of_an_experiment_has_the_hashes_of_its_data(shell: Shell) -> None:
    path = Path(shell.path("experiment.yaml"))
    path.write_text("qrels: qrels.txt\nruns: [a.run]\nmetrics: [RR]\noutput: out\n")

    done = shell.run("experiment", str(path), "--report", shell.path("report.html"))

    assert done.code == 0
    text = text_of(shell)
    for name in ("experiment.yaml", "qrels.txt", "a.run"):
        content = Path(shell.path(name)).read_bytes()
        assert hashlib.sha256(content).hexdigest() in text


def test_a_long_text_ends_with_an_ellipsis(shell: Shell) -> None:
    texts = Path(shell.path("texts.tsv"))
    texts.write_text(f"a\t{'word ' * 60}\nb\tshort\n")
    path = shell.path("report.html")

    done = shell.evaluate("-m", "RR", "--report", path, "--texts", str(texts))

    assert done.code == 0
    # 40 words of 4 letters, and as many spaces, are 200 letters.
    assert texts_in(shell) == {"a": f"{'word ' * 40}".rstrip() + "…", "b": "short"}


def test_evaluate_writes_a_report_with_lists(shell: Shell) -> None:
    done = shell.evaluate("-m", "RR", "--report", shell.path("report.html"))

    assert done.code == 0
    document = Parsed(text_of(shell))
    # A fourth of the resamples of two queries has the same one twice.
    number = f"{(1 + 1 / 2) / 2:.4f}|{1 / 2:.4f} to {1:.4f}"
    assert document.tables["The number of each metric"][1][:2] == ["RR", number]
    assert set(document.data["items"]) == {"a", "b", "c", "x"}


def test_evaluate_of_several_runs_compares_them(shell: Shell) -> None:
    options = (shell.path("b.run"), "-m", "RR", "--report", shell.path("report.html"))

    done = shell.evaluate(*options)

    assert done.code == 0
    pairs = Parsed(text_of(shell)).tables["Differences of all pairs"]
    assert pairs[1][:3] == ["RR", "a.run", "b.run"]
    assert pairs[1][4].startswith(f"{(0 + 1 / 2) / 2:+.4f}|")


def texts_in(shell: Shell, name: str = "report.html") -> dict[str, str]:
    """Return all texts that a report shows, by their ids."""
    data = Parsed(text_of(shell, name)).data
    return {
        data[names][int(place)]: text
        for names, texts in (("queries", "queryTexts"), ("items", "itemTexts"))
        for place, text in data[texts].items()
    }


def test_texts_of_queries_and_items_are_shown(shell: Shell) -> None:
    saved = shell.write("results.json", shell.run(*compare(shell, "--json")).out)
    queries = shell.write("queries.tsv", "q1\thow long\nq2\tto boil\n")
    items = shell.write(
        "items.json", '{"a": "an A", "b": "a B", "c": "a C", "x": "an X", "z": "a Z"}'
    )
    experiment = shell.write(
        "e.yaml", EXPERIMENT.format(more=", second: b.run", conventions="rankine")
    )
    given = ("--texts", queries, "--texts", items)
    path = ("--report", shell.path("report.html"))

    for words in (
        compare(shell, *path),
        ("evaluate", shell.path("qrels.txt"), shell.path("a.run"), *path),
        ("experiment", experiment, *path),
        ("report", saved, "--output", shell.path("report.html")),
    ):
        done = shell.run(*words, *given)

        assert done.code == 0, done.err
        texts = texts_in(shell)
        assert (texts.pop("q1"), texts.pop("q2")) == ("how long", "to boil")
        assert texts
        assert all(text.split()[1] == item.upper() for item, text in texts.items())
        assert "z" not in texts
        assert hashlib.sha256(Path(queries).read_bytes()).hexdigest() in text_of(shell)
        Path(shell.path("report.html")).unlink()


def test_a_query_and_an_item_of_one_id_have_texts_of_their_own(shell: Shell) -> None:
    for name in ("a.run", "b.run", "qrels.txt"):
        text = Path(shell.path(name)).read_text("utf-8")
        shell.write(name, text.replace(" c ", " q1 "))
    plain = shell.write("queries.tsv", "q1\thow long\n")
    named = shell.write("named.csv", "query_id,text\nq1,how long\n")
    items = shell.write("items.tsv", "q1\tan egg\n")
    named_items = shell.write("items.csv", "doc_id,text\nq1,an egg\n")

    for given in (
        ("--query-texts", plain, "--item-texts", items),
        ("--texts", named, "--texts", named_items),
        ("--texts", named, "--item-texts", items),
    ):
        path = ("--report", shell.path("report.html"))
        done = shell.run(*compare(shell, *path, *given))

        assert done.code == 0, done.err
        data = Parsed(text_of(shell)).data
        (query,), (item,) = (data[key].items() for key in ("queryTexts", "itemTexts"))
        assert (data["queries"][int(query[0])], query[1]) == ("q1", "how long")
        assert (data["items"][int(item[0])], item[1]) == ("q1", "an egg")
        for file in given[1::2]:
            hashed = hashlib.sha256(Path(file).read_bytes()).hexdigest()
            assert hashed in text_of(shell)


@pytest.mark.parametrize("option", ["--texts", "--query-texts", "--item-texts"])
def test_texts_need_a_report_and_must_be_readable(shell: Shell, option: str) -> None:
    path = shell.path("report.html")
    odd = shell.write("odd.csv", "a,b,c\n1,2,3\n")

    done = shell.run(*compare(shell, option, odd))
    assert is_one_sentence(done, 2)
    assert f"{option} is shown in a report" in done.err
    done = shell.run(*compare(shell, "--report", path, option, odd))
    assert is_one_sentence(done, 3)
    assert "has no columns of ids and texts" in done.err
    assert not Path(path).exists()


def test_the_demo_has_a_report(shell: Shell) -> None:
    done = shell.run("demo", "--report", shell.path("demo.html"))

    assert done.code == 0
    document = Parsed(text_of(shell, "demo.html"))
    assert document.data["systems"] == ["keyword", "vector", "hybrid"]
    assert len(document.data["queries"]) == 50


EVENTS = """user_id,timestamp,variant,event
u1,2026-03-01T10:00:00Z,A,impression
u1,2026-03-01T10:00:01Z,A,click
u2,2026-03-01T10:00:00Z,A,impression
u3,2026-03-02T10:00:00Z,B,impression
u3,2026-03-02T10:00:01Z,B,click
u4,2026-03-02T10:00:00Z,B,impression
u4,2026-03-02T10:00:01Z,B,click
"""


def test_online_and_ab_write_reports(shell: Shell) -> None:
    events = shell.write("events.csv", EVENTS)
    path = shell.path("report.html")

    done = shell.run("online", events, "-m", "ctr", "--report", path)

    assert done.code == 0
    rows = Parsed(text_of(shell)).tables["The number of each metric"][1:]
    # One of two impressions of A was clicked, both of B.
    assert [row[2].split("|")[0] for row in rows] == [f"{1 / 2:.4f}", f"{1:.4f}"]
    done = shell.run("ab", events, "--control", "A", "-m", "ctr", "--report", path)
    assert done.code == 0
    tables = Parsed(text_of(shell)).tables
    cells = tables["The effect on each metric"][1]
    assert cells[2:4] == [f"{1 / 2:.4f}", f"{1:.4f}"]
    # B begins on the second day.
    days = tables["Effects at the end of each day"][1:]
    assert [[row[0], *row[2:4]] for row in days] == [["2026-03-02", "B", "4"]]
    assert days[0][4].startswith(f"{1 / 2:+.4f}")
    joined = tables["Users of each variant at the end of each day"][1:]
    assert [row[:4] for row in joined] == [
        ["2026-03-01", "A", "2", "100.00 %"], ["2026-03-01", "B", "0", "0.00 %"],
        ["2026-03-02", "A", "2", "50.00 %"], ["2026-03-02", "B", "2", "50.00 %"],
    ]  # fmt: skip


TITLED = {
    "evaluate": ["evaluate", "qrels.txt", "a.run", "-m", "RR"],
    "compare": ["compare", "qrels.txt", "a.run", "b.run", "-m", "RR"],
    "experiment": ["experiment", "experiment.yaml"],
    "online": ["online", "events.csv", "-m", "ctr"],
    "ab": ["ab", "events.csv", "--control", "A", "-m", "ctr"],
    "demo": ["demo"],
}


@pytest.mark.parametrize("name", TITLED)
def test_a_title_stands_at_the_top_of_a_report(
    name: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shell.folder)
    shell.write("events.csv", EVENTS)
    shell.write(
        "experiment.yaml",
        "qrels: qrels.txt\nruns: [a.run]\nmetrics: [RR]\noutput: out\n",
    )
    title = ["--title", "Is <b> better?"]

    done = shell.run(*TITLED[name], *title, "--report", "report.html")

    assert done.code == 0, done.err
    assert "<h1>Is &lt;b&gt; better?</h1>" in text_of(shell)
    alone = shell.run(*TITLED[name], *title)
    assert is_one_sentence(alone, 2)
    assert "--title is for a report; say where to write it with" in alone.err


def test_every_command_with_a_report_takes_a_title(shell: Shell) -> None:
    commands = [name for name in cli.list_commands(click.Context(cli)) if name]
    options = {name: shell.run(name, "--help").out for name in commands}

    having = {name for name in commands if "--report" in options[name].split()}
    assert having == {*TITLED}
    assert all("--title TEXT" in options[name] for name in (*TITLED, "report"))


@pytest.mark.parametrize("name", ["compare", "ab"])
def test_a_report_on_what_was_saved_takes_a_title(
    name: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shell.folder)
    shell.write("events.csv", EVENTS)
    shell.write("saved.json", shell.run(*TITLED[name], "--json").out)

    done = shell.run("report", "saved.json", "--title", "As planned")

    assert done.code == 0, done.err
    assert "<h1>As planned</h1>" in text_of(shell, "saved.html")


POSITIONS = """user_id,timestamp,variant,event,item_id,position,impression_id
u1,2026-03-01T10:00:00Z,A,impression,a,1,i1
u1,2026-03-01T10:00:00Z,A,impression,b,2,i1
u1,2026-03-01T10:00:09Z,A,click,a,1,i1
u2,2026-03-02T10:00:00Z,B,impression,a,{},i2
u2,2026-03-02T10:00:00Z,B,impression,b,2,i2
"""


def test_clicks_by_position_are_in_reports_of_logs(shell: Shell) -> None:
    path = shell.path("report.html")
    events = shell.write("events.csv", POSITIONS.format(1))
    for words in (("online", events), ("ab", events, "--control", "A")):
        done = shell.run(*words, "-m", "ctr", "--report", path)

        assert done.code == 0
        rows = Parsed(text_of(shell)).tables["Clicks by position"][1:]
        # At rank 1, A was clicked on; one user has no interval.
        assert rows == [
            ["1", "A", "1", "1", "1.0000"], ["1", "B", "1", "0", "0.0000"],
            ["2", "A", "1", "0", "0.0000"], ["2", "B", "1", "0", "0.0000"],
        ]  # fmt: skip


def test_positions_that_are_none_are_said(shell: Shell) -> None:
    events = shell.write("events.csv", POSITIONS.format(0))

    done = shell.run("online", events, "-m", "ctr", "--report", shell.path("r.html"))

    assert done.code == 0
    text = text_of(shell, "r.html")
    assert "Clicks by position" not in Parsed(text).tables
    assert "no click rates by position: " in text
    assert "position is 0, not a rank from 1" in text


EXPERIMENT = """qrels: qrels.txt
runs: {{first: a.run{more}}}
metrics: [RR]
convention: [{conventions}]
output: out
"""


@pytest.mark.parametrize(
    ("more", "caption"),
    [("", "The number of each metric"), (", second: b.run", "Means of all systems")],
)
def test_an_experiment_writes_a_report(more: str, caption: str, shell: Shell) -> None:
    text = EXPERIMENT.format(more=more, conventions="rankine")
    file = shell.write("experiment.yaml", text)

    done = shell.run("experiment", file, "--report", shell.path("report.html"))

    assert done.code == 0, done.err
    assert caption in Parsed(text_of(shell)).tables
    assert "There is no curve" not in text_of(shell)


def test_an_experiment_with_two_conventions_has_no_report(shell: Shell) -> None:
    text = EXPERIMENT.format(more="", conventions="rankine, trec_eval")
    file = shell.write("experiment.yaml", text)

    done = shell.run("experiment", file, "--report", shell.path("report.html"))

    assert is_one_sentence(done, 2)
    assert "--report shows one convention" in done.err
    assert not Path(shell.path("out")).exists()


def test_what_was_saved_has_a_report(shell: Shell) -> None:
    saved = shell.write("results.json", shell.run(*compare(shell, "--json")).out)

    done = shell.run("report", saved)

    assert done.err == f"rankine: wrote {shell.path('results.html')}\n"
    loaded = rk.load(saved)
    means = Parsed(text_of(shell, "results.html")).tables["Means of all systems"]
    assert [row[0][2:] for row in means[1:]] == list(loaded.systems)


@pytest.mark.parametrize("name", ["out/results.json", "out"])
@pytest.mark.parametrize("more", ["", ", second: b.run"])
def test_the_results_of_an_experiment_have_a_report(
    more: str, name: str, shell: Shell
) -> None:
    text = EXPERIMENT.format(more=more, conventions="rankine")
    experiment = ("experiment", shell.write("experiment.yaml", text))
    assert shell.run(*experiment, "--report", shell.path("first.html")).code == 0

    done = shell.run("report", shell.path(name))

    written = shell.path("out/results.html")
    assert done.err == f"rankine: wrote {written}\n"
    again, first = (
        Parsed(text_of(shell, path)) for path in ("out/results.html", "first.html")
    )
    files = "File and SHA-256"
    assert again.tables.pop(files)[1][0] == shell.path("out/results.json")
    del first.tables[files]
    assert again.tables == first.tables
    assert again.data["values"] == first.data["values"]
    # The folder is still one that the experiment goes on with.
    assert "0 of them computed now" in shell.run(*experiment).out
    assert Path(written).exists()


def test_of_several_conventions_one_is_chosen(shell: Shell) -> None:
    text = EXPERIMENT.format(more="", conventions="rankine, ranx")
    assert shell.run("experiment", shell.write("experiment.yaml", text)).code == 0
    results = shell.path("out/results.json")

    done = shell.run("report", results)
    assert is_one_sentence(done, 2)
    assert "say which one with convention= or --convention (rankine, ranx)" in done.err
    done = shell.run("report", results, "--convention", "ranx")

    assert done.code == 0
    choices = Parsed(text_of(shell, "out/results.html")).tables["Choice and value"]
    assert ["convention", "ranx"] in choices


def test_results_of_an_experiment_need_what_is_beside_them(shell: Shell) -> None:
    text = EXPERIMENT.format(more="", conventions="rankine")
    assert shell.run("experiment", shell.write("experiment.yaml", text)).code == 0
    record = Path(shell.path("out/results.json")).read_text("utf-8")

    done = shell.run("report", shell.write("mine.json", record))
    assert is_one_sentence(done, 3)
    assert "give its folder, or the results.json in it" in done.err
    done = shell.run("report", shell.write("results.json", record))
    assert is_one_sentence(done, 3)
    assert "a file of first in cells/ is missing or damaged" in done.err


def test_a_report_is_opened(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR").save(shell.path("saved.json"))
    opened: list[str] = []
    monkeypatch.setattr(click, "launch", opened.append)

    done = shell.run(
        "report", shell.path("saved.json"), "-o", shell.path("x.html"), "--open"
    )

    assert done.code == 0
    assert opened == [Path(shell.path("x.html")).resolve().as_uri()]
    assert Parsed(text_of(shell, "x.html")).tables["The number of each metric"]


def test_it_says_if_there_is_no_browser(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR").save(shell.path("saved.json"))
    monkeypatch.setattr(click, "launch", lambda _: 1)

    done = shell.run("report", shell.path("saved.json"), "--open")

    path = shell.path("saved.html")
    assert done.code == 0
    assert done.err.splitlines()[1:] == [
        f"rankine: no browser could be started; open {path} in one"
    ]


def test_the_results_are_not_overwritten(shell: Shell) -> None:
    path = shell.write("results.html", "{}")

    done = shell.run("report", path)

    assert is_one_sentence(done, 2)
    assert "would be overwritten" in done.err
    assert text_of(shell, "results.html") == "{}"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("report", "none.json"), 3),
        (("demo", "--online", "--report", "x.html"), 2),
    ],
)
def test_what_cannot_be_reported_is_refused(
    arguments: tuple[str, ...], code: int, shell: Shell
) -> None:
    assert is_one_sentence(shell.run(*arguments), code)


def test_a_report_that_cannot_be_written_is_refused(shell: Shell) -> None:
    done = shell.run(*compare(shell, "--report", shell.path("none/report.html")))

    assert done.code == 3
    assert "cannot be written (No such file or directory)" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "words", [("ab", "events.csv", "--control", "A"), ("online", "events.csv")]
)
def test_reports_on_saved_events(shell: Shell, words: tuple[str, ...]) -> None:
    path = Path(shell.path("events.csv"))
    rk.online.generate(40, seed=1).events.write_csv(path)
    record = shell.run(words[0], str(path), *words[2:], "--json").out
    Path(shell.path("saved.json")).write_text(record)

    done = shell.run("report", shell.path("saved.json"))

    assert done.code == 0
    assert done.err == f"rankine: wrote {shell.path('saved.html')}\n"
    rk.load(record).report(shell.path("direct.html"))
    for name, rows in Parsed(text_of(shell, "direct.html")).tables.items():
        assert Parsed(text_of(shell, "saved.html")).tables[name] == rows, name
    refused = shell.run(
        "report", shell.path("saved.json"), "--texts", shell.path("qrels.txt")
    )
    assert refused.code == 2
    assert "--texts is for lists of items, not for events and tests" in refused.err
