"""The command of trec_eval 10: its arguments in, its lines out."""

from __future__ import annotations

import getopt
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine import __version__
from rankine._base.text import count
from rankine._compat.preferences import preferences
from rankine._conventions.presets import convention
from rankine._evaluate.evaluate import Job, prepare
from rankine._evaluate.options import Options
from rankine._io.rows import as_rows
from rankine._io.sources import Reading
from rankine._metrics.names import parse
from rankine._report.trec import (
    TrecTable,
    lines_of,
    metrics_of,
    table_of,
    trec_text,
)
from rankine.errors import DataError, FormatError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankine._base.arrays import Floats
    from rankine._compat.preferences import Levels
    from rankine._io.sources import Source
    from rankine._report.trec import MeasureLine

VERSION = 10
_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
_LONG = {
    "help": "h", "version": "v", "query_eval_wanted": "q", "measure=": "m",
    "complete_rel_info_wanted": "c", "level_for_rel=": "l", "nosummary": "n",
    "Debug_level=": "D", "Judged_docs_only": "J", "Number_docs_in_coll=": "N",
    "Max_retrieved_per_topic=": "M", "Rel_info_format=": "R", "Results_format=": "T",
    "Output_old_results_format=": "o", "Zscore=": "Z",
}  # fmt: skip
_FORMATS = {
    "qrels": "grades", "prefs": "preferences", "qrels_prefs": "preferences",
    "qrels_jg": "judges",
}  # fmt: skip
_JUDGED = "judged"
"""The measure that Pyserini adds."""
_SHOWN = 3

HELP = """\
Usage: rankine trec_eval [-q] [-c] [-n] [-l NUM] [-M NUM] [-J] [-N NUM] [-Z FILE]
                         [-R FORMAT] [-m MEASURE[.PARAMS]]... QRELS RUN

Print what trec_eval 10 prints. RUN may be -, for standard input.

Options:
 -q  --query_eval_wanted            print each query, too
 -c  --complete_rel_info_wanted     average over all judged queries; one that the run
                                    misses counts 0
 -n  --nosummary                    print no summary
 -m  --measure MEASURE[.PARAMS]     a measure, or a word for several: official (the
                                    default), all_trec, set, prefs, all_prefs, qrels_jg;
                                    repeatable; judged.K as Pyserini has it
 -l  --level_for_rel NUM            the smallest relevant grade, 1 if not given
 -M  --Max_retrieved_per_topic NUM  use only the first items of each list
 -J  --Judged_docs_only             leave unjudged items out, as does -remove-unjudged
 -N  --Number_docs_in_coll NUM      number of items in the collection, for utility
 -R  --Rel_info_format FORMAT       qrels (the default), qrels_jg, qrels_prefs or prefs
 -Z  --Zscore FILE                  print standard scores; lines of FILE have query,
                                    measure, mean and standard deviation
 -D  --Debug_level NUM.QUERY        print this query only
 -T  --Results_format trec_results  the only one
 -v  --version                      print the version
"""
VERSION_LINE = f"trec_eval version 10.0 (rankine {__version__})\n"


class FileError(DataError):
    """A file or a format that trec_eval would end with 2 for."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What the command line says.

    Attributes:
        flags: the letters of options without a value that were given.
        measures: the measures, as given.
        values: the last value of other options, by their letter.
        files: judgements and run.
    """

    flags: frozenset[str]
    measures: tuple[str, ...]
    values: dict[str, str]
    files: tuple[str, ...] = field(default=())

    def number(self, letter: str) -> int | None:
        """Return the value of an option, if it was given; it must be a whole number."""
        text = self.values.get(letter)
        if text is None:
            return None
        try:
            return int(text)
        except ValueError:
            msg = f"-{letter} takes a whole number, got {text!r}"
            raise UsageError(msg) from None


def arguments_of(words: Sequence[str]) -> Arguments:
    """Read the words of a command line by the rules of getopt_long."""
    unjudged = "-remove-unjudged"
    plain = ["-J" if word == unjudged else word for word in words]
    try:
        pairs, files = getopt.gnu_getopt(plain, _SHORT, [*_LONG])
    except getopt.GetoptError as error:
        msg = f"{error.msg}; see rankine trec_eval -h"
        raise UsageError(msg) from None
    names = {name.rstrip("="): letter for name, letter in _LONG.items()}
    given = [(names.get(name[2:], name[1:]), value) for name, value in pairs]
    return Arguments(
        frozenset(letter for letter, value in given if not value),
        tuple(value for letter, value in given if letter == "m"),
        {letter: value for letter, value in given if value},
        tuple(files),
    )


def printed(given: Arguments, tell: Callable[[str], object]) -> Iterator[str]:
    """Yield the lines that are printed for arguments; notes are told.

    Raises:
        UsageError: the arguments or a measure are not valid.
        DataError: a file cannot be used.
    """
    if len(given.files) != 2:  # noqa: PLR2004 - judgements and a run
        msg = (
            f"expected QRELS and RUN, got {count(len(given.files), 'file')}; see "
            "rankine trec_eval -h"
        )
        raise UsageError(msg)
    if given.files == ("-", "-"):
        msg = "standard input (-) is named twice; it can be read only once"
        raise UsageError(msg)
    kind = given.values.get("R", "qrels")
    if kind not in _FORMATS:
        msg = f"-R takes {', '.join(_FORMATS)}, got {kind!r}"
        raise FileError(msg)
    if given.values.get("T", "trec_results") != "trec_results":
        msg = f"-T takes trec_results, got {given.values['T']!r}"
        raise FileError(msg)
    asked, cuts = _measures(given.measures, tell)
    lines = lines_of(asked or ["official"], VERSION, _FORMATS[kind])
    job = _job(given, lines)
    truth = job.truth(given.files[0]) if kind == "qrels" else None
    source = job.source(given.files[1])
    if truth is not None:
        evaluation = job.evaluate(truth, source)
        found = table_of(evaluation, lines)
        left_out = [*map(str, evaluation.table.missing_ids)]
    elif kind == "qrels_jg":
        found, left_out = _by_judge(given, job, source, lines)
    else:
        found, left_out = _by_preference(given, job, source)
    if left_out and "c" not in given.flags:
        names = ", ".join(left_out[:_SHOWN]) + ", ..." * (len(left_out) > _SHOWN)
        queries = count(len(left_out), "judged query")
        tell(f"{queries} not in the run, left out ({names}); -c counts them as 0")
    _, _, only = given.values.get("D", "").partition(".")
    tag = getattr(source, "tag", None)
    yield from trec_text(
        _only(found, only) if only else found,
        lines,
        run_id=tag() if tag is not None else Path(given.files[1]).stem,
        version=VERSION,
        per_query="q" in given.flags,
        summary="n" not in given.flags,
        scores=_scores(given.values["Z"]) if "Z" in given.values else None,
    )
    for cut in cuts:
        share = _judged_share(given, source, cut)
        yield f"{f'{_JUDGED}_{cut}':<22}\tall\t{share:.4f}"


def _measures(
    measures: Sequence[str], tell: Callable[[str], object]
) -> tuple[list[str], list[int]]:
    """Return each measure once, and the cutoffs of `judged`.

    Parameters win over defaults, and the first over others.
    """
    asked: dict[str, str] = {}
    cuts: list[int] = []
    for measure in measures:
        name, _, params = measure.partition(".")
        if name == _JUDGED:
            cuts += [parse(f"Judged@{text}").get("k") for text in params.split(",")]
        elif params and asked.get(name):
            tell(f"{measure}: left out, as {name}.{asked[name]} was asked for first")
        elif params or name not in asked:
            asked[name] = params
    return [f"{name}.{own}" if own else name for name, own in asked.items()], cuts


def _job(given: Arguments, lines: Sequence[MeasureLine]) -> Job:
    """Plan the evaluation of what is printed."""
    rule = convention("trec_eval")
    if "c" not in given.flags:
        rule = rule.replace(queries="both")
    if "J" in given.flags:
        rule = rule.replace(unjudged="removed")
    options = Options(
        convention=rule,
        rel=given.number("l"),
        depth=given.number("M"),
        catalog=given.number("N"),
        files={"qrels": Reading(), "run": Reading(more_words=True)},
        engine="memory",
    )
    return prepare(metrics_of(lines), options)


def _by_judge(
    given: Arguments, job: Job, source: Source, lines: Sequence[MeasureLine]
) -> tuple[TrecTable, list[str]]:
    """Evaluate against each judge, and average over those of each query."""
    judges: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for query, judge, _, item, grade in _judgements(given.files[0], n_fields=4):
        judges[judge].setdefault(query, {})[item] = grade
    rows = as_rows(source, "run")
    n_judges: dict[str, int] = defaultdict(int)
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    missing: dict[str, None] = {}
    for judge in sorted(judges, key=str.encode):
        evaluation = job.evaluate(job.truth(judges[judge]), rows)
        missing |= dict.fromkeys(map(str, evaluation.table.missing_ids))
        of_judge = table_of(evaluation, lines)
        for number, query in enumerate(of_judge.ids):
            n_judges[query] += 1
            for name, values in of_judge.values.items():
                sums[name][query] += float(values[number])
    means = {
        name: np.array([own[query] / n for query, n in n_judges.items()])
        for name, own in sums.items()
    }
    return TrecTable([*n_judges], means), [*missing]


def _by_preference(
    given: Arguments, job: Job, source: Source
) -> tuple[TrecTable, list[str]]:
    """Compare each list with the preferences for its query."""
    groups: dict[str, dict[str, Levels]] = defaultdict(lambda: defaultdict(dict))
    n_fields = 5 if given.values["R"] == "prefs" else 4
    for query, group, part, item, level in _judgements(given.files[0], n_fields):
        groups[query][group].setdefault(part, {})[item] = level
    # Preferences have ties the other way round: the smaller id first.
    frame = as_rows(source, "run").frame.sort(
        "value", "item", descending=[True, False], maintain_order=True
    )
    lists = {
        str(query): part["item"].cast(pl.String).head(job.options.depth or part.height)
        for (query,), part in frame.group_by("query", maintain_order=True)
    }
    missing = [query for query in groups if query not in lists]
    wanted = [query for query in groups if query in lists or "c" in given.flags]
    found = [
        preferences(groups[query], [*lists.get(query, ())], query) for query in wanted
    ]
    if not found:
        msg = "no judged query is in the run"
        raise DataError(msg)
    values = {name: np.array([own[name] for own in found]) for name in found[0]}
    values["num_q"] = np.ones(len(found))
    return TrecTable(wanted, values), missing


def _judgements(path: str, n_fields: int) -> Iterator[tuple[str, str, str, str, float]]:
    """Read lines of query, group, part (of five fields), item and level."""
    seen = set()
    for number, fields in _fields(path, n_fields):
        query, group, *part, item, text = fields
        key = (query, group, *part, item)
        if key in seen:
            msg = f"{path}:{number}: item {item} is judged twice by the same group"
            raise FormatError(msg)
        seen.add(key)
        yield query, group, part[0] if part else "", item, _float(text, path, number)


def _scores(path: str) -> Mapping[tuple[str, str], tuple[float, float]]:
    """Read the mean and the standard deviation of each query and measure."""
    return {
        (query, name): (_float(mean, path, number), _float(deviation, path, number))
        for number, (query, name, mean, deviation) in _fields(path, 4)
    }


def _fields(path: str, n_fields: int) -> Iterator[tuple[int, list[str]]]:
    """Read the fields of all lines but comments, with their numbers."""
    place = Path("/dev/stdin" if path == "-" else path)
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})"
        raise FormatError(msg) from None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split()
        if len(fields) != n_fields:
            msg = f"{path}:{number}: expected {n_fields} columns, got {len(fields)}"
            raise FormatError(msg)
        yield number, fields


def _float(text: str, path: str, number: int) -> float:
    try:
        return float(text)
    except ValueError:
        msg = f"{path}:{number}: {text!r} is not a number"
        raise FormatError(msg) from None


def _only(table: TrecTable, query: str) -> TrecTable:
    """Return the table of one query."""
    if query not in table.ids:
        msg = f"-D names query {query!r}, which is not evaluated"
        raise UsageError(msg)
    row = table.ids.index(query)

    def of(values: dict[str, Any]) -> dict[str, Any]:
        return {name: own[row : row + 1] for name, own in values.items()}

    return replace(
        table, ids=[query], values=of(table.values), texts=of(table.texts), totals={}
    )


def _judged_share(given: Arguments, source: Source, cut: int) -> float:
    """Return the share of judged items among the first of all lists together."""
    rule = convention("trec_eval").replace(
        queries="run", unjudged="removed" if "J" in given.flags else "nonrel"
    )
    metric = parse("Judged(negative='judged')") @ cut
    job = prepare(metric, Options(convention=rule, engine="memory"))
    evaluation = job.evaluate(job.truth(given.files[0]), source)
    n_first: Floats = np.minimum(evaluation.table.table.n_retrieved, cut)
    shares = evaluation.summaries[str(metric)].values
    return float(shares @ n_first / max(n_first.sum(), 1))
