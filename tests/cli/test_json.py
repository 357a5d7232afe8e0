"""The JSON of every command is what the documentation says, key by key."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine.data import FILMS, FOLDER
from tools.docs_reference import json_keys, json_reference

if TYPE_CHECKING:
    from tests.cli.conftest import Command

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
    "object": (dict,),
    "any": (object,),
}


@dataclass
class Node:
    """What may stand at a place: a plain value, the keys of an object, or a list."""

    kinds: tuple[type, ...] = ()
    keys: dict[str, Node] = field(default_factory=dict)
    optional: bool = False

    def add(self, steps: list[str], kinds: tuple[type, ...], *, optional: bool) -> None:
        if not steps:
            self.kinds = kinds
            return
        fresh = steps[0] not in self.keys
        child = self.keys.setdefault(steps[0], Node(optional=optional))
        child.optional = optional if fresh else child.optional and optional
        child.add(steps[1:], kinds, optional=optional)

    def wrong(self, value: Any, place: str = "") -> list[str]:
        """Return all places where a value is not as the page says."""
        if not self.keys:
            right = isinstance(value, self.kinds) and not isinstance(value, bool)
            if right or object in self.kinds:
                return []
            return [f"{place} is {value!r}"]
        if "[]" in self.keys:
            if not isinstance(value, list):
                return [f"{place} is no list"]
            inside = self.keys["[]"]
            return [bad for one in value for bad in inside.wrong(one, f"{place}[]")]
        if not isinstance(value, dict):
            return [f"{place} is no object"]
        free = next((key for key in self.keys if key.isupper()), None)
        missing = [
            f"{place}.{key} is missing"
            for key, child in self.keys.items()
            if key != free and key not in value and not child.optional
        ]
        found = []
        for key, entry in value.items():
            child = self.keys.get(key) or (self.keys[free] if free else None)
            if child is None:
                found.append(f"{place}.{key} is not on the page")
            else:
                found += child.wrong(entry, f"{place}.{key}")
        return missing + found


def documented() -> dict[str, Node]:
    """Return what the tables of the page say, by the anchors of their sections."""
    sections: dict[str, Node] = {}
    for key in json_keys():
        steps = key.path.replace("[]", ".[]").split(".")
        kinds = [kind for word in key.kind.split(" or ") for kind in TYPES[word]]
        optional = key.meaning.startswith("only with ")
        for anchor in key.commands:
            schema = sections.setdefault(anchor, Node())
            schema.add(steps, tuple(kinds), optional=optional)
    return sections


SCHEMAS = documented()
RUNS = ["hybrid.run", "vector.run", "keyword.run"]
GATE = ["--baseline", "gate.json"]
CASES: dict[str, tuple[str, list[str]]] = {
    "evaluate": ("evaluate", ["evaluate", "qrels.txt", "n=hybrid.run", "vector.run"]),
    "evaluate -q": ("evaluate", ["evaluate", "qrels.txt", "vector.run", "-q"]),
    "evaluate -c": ("evaluate", ["evaluate", "qrels.txt", "vector.run", "-c", "ranx"]),
    "evaluate --worst": (
        "evaluate",
        ["evaluate", "qrels.txt", "vector.run", "-M", "5", "--worst", "9"],
    ),
    "evaluate AUC": ("evaluate", ["evaluate", "qrels.txt", "one.run", "-m", "AUC"]),
    "evaluate lists": (
        "evaluate",
        ["evaluate", "--no-qrels", "hybrid.run", "-m", "InterListDiversity@5"],
    ),
    "compare": ("compare", ["compare", "qrels.txt", *RUNS, "--margin", "AP=0.1"]),
    "compare --intervals": (
        "compare", ["compare", "qrels.txt", *RUNS, "--intervals", "simultaneous"],
    ),
    "compare two": ("compare", ["compare", "qrels.txt", *RUNS[:2], "--test", "t"]),
    "gate": ("gate", ["gate", "qrels.txt", "hybrid.run", *GATE, "--margin", "AP=0.1"]),
    "gate lost": (
        "gate",
        ["gate", "qrels.txt", "one.run", *GATE, "--margin", "AP=2", "--allow-missing",
         "99"],
    ),
    "gate --update": ("gate", ["gate", "qrels.txt", "one.run", *GATE, "--update"]),
    "experiment": ("experiment", ["experiment", "experiment.yaml"]),
    "experiment of lists": ("experiment", ["experiment", "lists.yaml"]),
    "check": ("check", ["check", "qrels.txt", "keyword.run"]),
    "check findings": ("check", ["check", "qrels.txt", "one.run"]),
    "reconcile": ("reconcile", ["reconcile", "qrels.txt", "keyword.run"]),
    "reconcile none": ("reconcile", ["reconcile", "qrels.txt", "one.run", "-m", "AUC"]),
    "reconcile lists": (
        "reconcile",
        ["reconcile", "--no-qrels", "hybrid.run", "-m", "Gini", "--catalog", "999"],
    ),
    "explain": (
        "explain",
        ["reconcile", "qrels.txt", "vector.run", "--explain", "ranx", "jurity"],
    ),
    "similarity of two": ("evaluate", ["similarity", *RUNS[:2]]),
    "similarity -q": ("evaluate", ["similarity", *RUNS[:2], "-q"]),
    "similarity": ("similarity", ["similarity", *RUNS]),
    "ctr": ("ctr", ["ctr", "films/clicks.csv", "films/front.csv", "-e", "ips"]),
    "online": ("online", ["online", "events.csv"]),
    "online --daily": (
        "online",
        ["online", "events.csv", "--daily", "--segment", "country", "--by", "-"],
    ),
    "online --funnel": (
        "funnel",
        ["online", "events.csv", "--funnel", "refund,click", "--segment", "country"],
    ),
    "ab": ("ab", ["ab", "events.csv", "--control", "A"]),
    "ab --segment": (
        "ab",
        ["ab", "events.csv", "--control", "A", "--segment", "country", "--cuped"],
    ),
    "plan": ("plan", ["plan", "events.csv", "--effect", "2%"]),
    "plan of users": (
        "plan", ["plan", "users.csv", "--effect", "1", "--users", "id", "-m", "same"],
    ),
    "plan of a test": ("plan", ["plan", "test.json", "--effect", "2%"]),
    "calibrate": ("calibrate", ["calibrate", "events.csv", "--n", "9"]),
    "calibrate nothing": (
        "calibrate", ["calibrate", "users.csv", "--users", "id", "-m", "same"],
    ),
    "calibrate a quantile": (
        "calibrate",
        ["calibrate", "users.csv", "--users", "id", "-m", "m=tied@0.5", "--n", "99"],
    ),
    "interleaving": ("interleaving", ["interleaving", "shown.csv"]),
    "interleaving of nothing": ("interleaving", ["interleaving", "none.csv"]),
    "conventions": ("conventions", ["conventions"]),
    "convention": ("conventions", ["conventions", "jurity"]),
    "metrics": ("metrics", ["metrics"]),
    "metric": ("metrics", ["metrics", "Coverage"]),
    "measure": ("metrics", ["metrics", "RBO"]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("qrels.txt", *RUNS):
        shutil.copy(FOLDER / name, tmp_path)
    shutil.copytree(FILMS, tmp_path / "films")
    # A single item, so that much is undefined, missing or unjudged.
    (tmp_path / "one.run").write_text("q01 Q0 nothing 1 1 t\n")
    (tmp_path / "experiment.yaml").write_text(
        "qrels: qrels.txt\nruns: '*[dr].run'\nmetrics: [AP, gm_AP]\n"
        "compare: {draws: 99, margin: 0.1}\n"
    )
    (tmp_path / "lists.yaml").write_text(
        "runs: one.run\nmetrics: [InterListDiversity@5]\noutput: of/lists\n"
    )
    events = rk.online.generate(30, seed=1).events
    events.write_csv(tmp_path / "events.csv")
    rk.online.ab_test(events, control="A").save(tmp_path / "test.json")
    rows = "".join(f"{n},1,{n % 9 // 8}\n" for n in range(99))
    (tmp_path / "users.csv").write_text(f"id,same,tied\n{rows}")
    for name, click in (("shown", 1), ("none", 0)):
        rows = "".join(f"{n},{n},{'ab'[n % 2]},{click}\n" for n in range(9))
        head = "impression_id,user_id,team,click\n"
        (tmp_path / f"{name}.csv").write_text(head + rows)
    monkeypatch.chdir(tmp_path)
    rk.gate("qrels.txt", "hybrid.run", "gate.json", metrics="AP", update=True)


def records(printed: str) -> list[dict[str, Any]]:
    def refuse(word: str) -> None:
        pytest.fail(f"{word} is no JSON")

    found = json.loads(printed, parse_constant=refuse)
    return found if isinstance(found, list) else [found]


@pytest.mark.parametrize("name", CASES)
def test_the_output_is_what_the_page_says(name: str, rankine: Command) -> None:
    anchor, arguments = CASES[name]
    done = rankine(*arguments, "--json")

    assert done.code == 0, done.err
    found = records(done.out)
    assert found
    for record in found:
        assert SCHEMAS[anchor].wrong(record) == []


@pytest.mark.parametrize("name", CASES)
def test_every_record_begins_with_the_version(name: str, rankine: Command) -> None:
    for record in records(rankine(*CASES[name][1], "--json").out):
        assert next(iter(record.items())) == ("rankine", rk.__version__)


def test_every_section_of_the_page_is_held_against_output() -> None:
    assert set(SCHEMAS) == {anchor for anchor, _ in CASES.values()}


def test_the_page_has_a_section_with_the_keys_of_every_command() -> None:
    sections = re.findall(r"^##+ .*\{ #(\w+) \}$", PAGE, re.MULTILINE)
    tables = re.findall(r"^<!-- json (\w+) -->$", PAGE, re.MULTILINE)

    assert sections == tables == ["several", *SCHEMAS]


def test_every_key_is_in_one_table() -> None:
    shown = "\n".join(map(json_reference, ["several", *SCHEMAS]))

    assert re.findall(r"^ *\| `([^`]+)` \|", shown, re.MULTILINE) == [
        key.path for key in json_keys()
    ]


def test_every_command_with_json_is_on_the_page(rankine: Command) -> None:
    commands = re.findall(r"^  ([a-z]+) +[A-Z]", rankine("--help").out, re.MULTILINE)
    having = {name for name in commands if "--json" in rankine(name, "--help").out}

    assert having == set(SCHEMAS) - {"explain", "funnel"}


def test_what_is_not_on_the_page_is_seen() -> None:
    schema = Node()
    schema.add(["a"], (int,), optional=False)
    schema.add(["b", "[]", "X"], (str,), optional=False)
    schema.add(["c"], (str,), optional=True)

    assert schema.wrong({"a": 1, "b": [{"y": "z"}]}) == []
    assert schema.wrong({"a": 1.5, "b": []}) == [".a is 1.5"]
    assert schema.wrong({"a": True, "b": []}) == [".a is True"]
    assert schema.wrong({"a": 1}) == [".b is missing"]
    assert schema.wrong({"a": 1, "b": [], "d": 2}) == [".d is not on the page"]
    assert schema.wrong({"a": 1, "b": [{"y": 3}]}) == [".b[].y is 3"]
