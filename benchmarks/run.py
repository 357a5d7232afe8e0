"""Run rankine and its peers on the same work and print the ratios: make bench.

Each case runs in a process of its own, so that neither memory nor caches of one tool
serve another. The argument is the Python of the environment with the recommenders'
tools, which need an older NumPy; ``--only recent`` runs one part of the table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks import work
from benchmarks.cases import RECENT
from benchmarks.fusing import FUSIONS
from benchmarks.lists import BEYOND, OF_FRAMES, OF_RECTOOLS, OTHER, TOPICS

CASES = Path(__file__).with_name("cases.py")


def run_case(
    *words: str, python: str = sys.executable, source: Path | None = None
) -> dict[str, float]:
    """Run one case in a process of its own, with the package of another tree."""
    where = {} if source is None else {"PYTHONPATH": str(source)}
    done = subprocess.run(
        [python, str(CASES), *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | where,
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _logs() -> None:
    print("\nA log of 10 M rounds: IPS, SNIPS and DR with intervals")
    for word, ids in (("ints", ()), ("texts", ("text",))):
        found = run_case("logs", *ids)
        row(f"rankine, from Parquet, ids are {word}", found["seconds"])
        row("polars, reading the log", found["read"])
        ratio = found["seconds"] / found["read"]
        print(f"  {'':<44}{ratio:10.2f} x polars' time  (wanted: at most 3)")


def _beyond(recommenders: str) -> None:
    print("\nBeyond accuracy, 100,000 users x 100 items, 3 M interactions before")
    every = run_case("beyond_rankine", *BEYOND, python=recommenders)["seconds"]
    row(f"rankine, {len(BEYOND)} metrics in one call", every)
    total = 0.0
    for metric, name in OF_RECTOOLS.items():
        ours = run_case("beyond_rankine", metric, python=recommenders)["seconds"]
        row(f"rankine, {metric} alone", ours)
        peer = run_case("beyond_rectools", name, python=recommenders)["seconds"]
        row(f"RecTools {name}", peer, ours)
        total += peer
    ours = run_case("beyond_rankine", *OF_RECTOOLS, python=recommenders)["seconds"]
    row(f"rankine, these {len(OF_RECTOOLS)} in one call", ours)
    row("RecTools, one after the other", total, ours, "(20)")
    ours = run_case("few_rankine", python=recommenders)["seconds"]
    row("rankine, InterListDiversity of 2,000 users", ours)
    peer = run_case("beyond_jurity", python=recommenders)["seconds"]
    row("Jurity, the same", peer, ours, "(20)")
    _logs()


def row(what: str, seconds: float, ours: float | None = None, wanted: str = "") -> None:
    ratio = "" if ours is None else f"{seconds / ours:8.1f} x rankine's time"
    print(f"  {what:<44}{seconds:10.4f} s{ratio}{'  ' + wanted if wanted else ''}")


def _similarity(recommenders: str) -> None:
    print("\nRBO of two lists of 1,000 items")
    ours = run_case("lists_rankine", python=recommenders)["seconds"]
    row("rankine, min, max, res and ext", ours)
    peer = run_case("lists_rbo", python=recommenders)["seconds"]
    row("rbo, rbo_ext", peer, ours, "(5)")
    print("\nTwo runs of 6,980 x 1,000, RBO, AO@10 and tau, against nDCG@10 of one")
    for form in ("frames", "files", "dicts"):
        found = run_case("runs_rankine", form)
        print(
            f"  {form:<10}{found['seconds']:8.3f} s, evaluating one "
            f"{found['evaluate']:8.3f} s: {found['seconds'] / found['evaluate']:5.2f} x"
            " (at most 5)"
        )


def _files(_: str) -> None:
    work.trec_files()
    print("TREC file to means, 6,980 queries x 1,000 results, 5 metrics")
    scan = run_case("file_polars")["seconds"]
    ours = run_case("file_rankine")["seconds"]
    row("rankine", ours)
    print(f"  {'':<44}{ours / scan:10.2f} x polars' time  (wanted: at most 1.8)")
    row("polars, reading three columns", scan, ours)
    row(
        "pytrec_eval, own parser", run_case("file_pytrec_eval")["seconds"], ours, "(12)"
    )
    ranx = run_case("file_ranx")
    row("ranx, first call, which compiles", ranx["first"], ours, "(80)")
    row("ranx, second call", ranx["seconds"], ours)
    for name in ("tied", "shuffled", "scattered"):
        seconds = run_case("file_rankine", name)["seconds"]
        row(f"rankine, rows {name}", seconds, ours, "(at most 2)")
    used = run_case("memory")
    print(f"  peak memory {used['peak'] / used['file']:.2f} x the file (at most 2.5)")
    after = ours - scan
    print("\nThe same run in other formats, against polars or json reading its columns")
    for form in ("gz", "csv", "parquet", "json"):
        read = run_case("form_read", form)["seconds"]
        seconds = run_case("form_rankine", form)["seconds"]
        used = run_case("memory", form)
        print(
            f"  {form:<10}{seconds:8.3f} s, reading alone {read:8.3f} s: "
            f"{seconds / read:5.2f} x, {seconds - read:6.3f} s more (TREC text: "
            f"{after:.3f}); peak memory {used['peak'] / used['file']:.2f} x the text"
        )


def _conventions(_: str) -> None:
    print("\nConventions, 1,000 x 100 in dicts, 5 metrics")
    found = run_case("conventions")
    row("rankine", found["seconds"])
    print(f"  the slowest preset {found['slowest']:.2f} x the default (at most 1.3)")
    print(f"  reconcile over all presets {found['reconcile']:.3f} s (at most 2)")


def _growth(_: str) -> None:
    print("\nGrowth")
    for n_queries in (1000, 6980, 35_000):
        seconds = run_case("growth", str(n_queries))["seconds"]
        rows = n_queries / 1000
        print(
            f"  {rows:4.0f} M rows{seconds:10.3f} s{seconds / rows:10.4f} s per M rows"
        )


def _frames(recommenders: str) -> None:
    print("\nFrames, 100,000 users x 100 items, 1 M interactions, 5 metrics")
    ours = run_case("frames_rankine", python=recommenders)["seconds"]
    row("rankine, polars", ours)
    for what, case, wanted in (
        ("rankine, pandas", "frames_rankine_pandas", ""),
        ("RecTools calc_metrics", "frames_rectools", "(15)"),
        ("Jurity, 4 metrics", "frames_jurity", "(50)"),
    ):
        row(what, run_case(case, python=recommenders)["seconds"], ours, wanted)


def _recent(recommenders: str) -> None:
    """Run the cases of metrics that came later, each against one of its family."""
    print("\nReaders who go on, 1,000 x 100 in dicts, 20 judged")
    for metric, name in RECENT.items():
        ours = run_case("recent_rankine", metric)["seconds"]
        row(f"rankine, {metric}", ours)
        peer = run_case("recent_ir_measures", name)["seconds"]
        row("ir_measures", peer, ours, "(1)")
    print("\nPairs of items, 10,000 users x 100 items, 100,000 interactions")
    for metric, name in OF_FRAMES.items():
        ours = run_case("partial_rankine", metric, python=recommenders)["seconds"]
        row(f"rankine, {metric}", ours)
        peer = run_case("partial_rectools", name, python=recommenders)["seconds"]
        row(f"RecTools {name}", peer, ours, "(1)")
    print("\nTopics, 100,000 users x 100 items, 20 topics")
    peer = run_case("beyond_rectools", "Serendipity", python=recommenders)["seconds"]
    row("RecTools Serendipity, the nearest it has", peer)
    for metric in (*TOPICS, *OTHER):
        ours = run_case("topics_rankine", metric, python=recommenders)["seconds"]
        row(f"rankine, {metric}", ours)
        print(f"  {'':<44}{ours / peer:10.2f} x RecTools' time  (wanted: at most 1)")
    found = run_case("own_function")
    print("\nA user's own function, called for 20,000 queries of 10 items")
    row("rankine, all calls", found["seconds"])
    print(f"  {found['each'] * 1e6:.2f} microseconds each, beyond its own (at most 2)")


def _in_memory(recommenders: str) -> None:
    """Run the cases of mappings, small frames and matrices."""
    # How many items are judged decides who is faster on small inputs: all are shown.
    sizes = [("1000", "1000", "50", "(5)")]
    sizes += [("10", "100", judged, "(1)") for judged in ("5", "20", "50", "100")]
    # Short lists, as those of recommenders and of retrieval for language models.
    sizes += [("10000", "5", "3", "(1.2)"), ("10000", "10", "5", "(1.2)")]
    sizes += [("1", "10", "5", "(0.12 ms for rankine)")]
    for *size, wanted in sizes:
        print(f"\nDict of dicts, {size[0]} x {size[1]}, {size[2]} judged, 5 metrics")
        ours = run_case("dict_rankine", *size)["seconds"]
        row("rankine", ours)
        row("pytrec_eval", run_case("dict_pytrec_eval", *size)["seconds"], ours, wanted)
    print("\nSmall frames, 10 x 10 rows, 5 judged, 5 metrics")
    row("rankine, polars", run_case("small_frame", "polars")["seconds"])
    times = run_case("small_frame", "pandas", python=recommenders)
    row("rankine, pandas", times["seconds"])
    print("  (at most 0.001 s)")
    print("\nDense scores, 2,000 x 1,000, nDCG@10")
    found = run_case("dense_rankine")
    ours = found["seconds"]
    row("rankine", ours)
    row("scikit-learn", run_case("dense_sklearn")["seconds"], ours, "(15)")
    row("rankine, from_ranked", found["ranked"], ours, "(at most 1)")
    print("\nDense scores, 10,000 x 10, nDCG@10")
    found = run_case("dense_rankine", "10000", "10")
    row("rankine", found["seconds"])
    row("rankine, from_ranked", found["ranked"], found["seconds"], "(at most 1)")


def _comparing(_: str) -> None:
    print("\n45 pairs of systems, 5 metrics, 7,000 queries, 100,000 draws")
    for test, correction in (
        ("randomization", "holm"),
        ("randomization", "maxt"),
        ("bootstrap", "holm"),
        ("t", "holm"),
    ):
        found = run_case("compared_rankine", test, correction)
        row(f"rankine, {test}, {correction}", found["seconds"])
        print(f"  {'':<44}{found['peak']:10.0f} MB at most  (20 s, 1,000 MB)")
    every = run_case("compared_rankine", "randomization", "holm")["seconds"]
    ours, peer = (run_case(f"fisher_{tool}")["seconds"] for tool in ("rankine", "ranx"))
    row("rankine, one pair, 100,000 flips", ours)
    row("ranx, the same, from 10,000", peer, ours)
    row("ranx, a pair, against one of 225 pairs", peer, every / 225, "(20)")
    found = run_case("ten_runs")
    row("rankine, ten runs of 6,980 x 1,000, files", found["seconds"])
    ratio = found["seconds"] / found["evaluate"]
    print(f"  {'':<44}{ratio:10.2f} x evaluating one  (at most 10)")


def _fusion(_: str) -> None:
    print("\nFusion of runs, scores by min-max, seconds of all cores together")
    for name, theirs, form, *numbers in FUSIONS:
        sizes = [str(number) for number in numbers]
        n_runs, n_queries, n_shown = numbers
        what = f"{name}, {n_runs} x {n_queries:,} x {n_shown:,}, {form}"
        ours = run_case("fused_rankine", name, form, *sizes)["seconds"]
        row(f"rankine, {what}", ours)
        peer = run_case("fused_ranx", theirs, form, *sizes)["seconds"]
        row(f"ranx, {theirs}", peer, ours, "(10)")


def _experiment(_: str) -> None:
    print("\nAn experiment of 20 runs of 6,980 x 1,000 and 60 metrics, from files")
    found = run_case("twenty_runs")
    row("rankine, each evaluated by itself", found["alone"])
    row("rankine experiment", found["seconds"])
    ratio = found["seconds"] / found["alone"]
    print(f"  {'':<44}{ratio:10.2f} x that  (at most 1.2)")
    row("again, with nothing left to compute", found["again"])


def _command(_: str) -> None:
    times = run_case("command")
    share = (times["seconds"] - times["start"]) / times["inside"]
    print("\nThe command line, 6,980 queries x 1,000 results, 5 metrics with intervals")
    row("rankine evaluate QRELS RUN", times["seconds"])
    row("of that, start-up", times["start"])
    row("rk.evaluate in a process that runs", times["inside"])
    print(f"  {'':<44}{share:10.2f} x that, beyond start-up  (wanted: at most 1.6)")
    times = run_case("start")
    print(f"\nimport rankine {times['import']:.3f} s beyond Python (0.15)")
    print(f"rankine --help {times['help']:.3f} s (0.3)")


PARTS = {
    "files": _files,
    "conventions": _conventions,
    "similarity": _similarity,
    "beyond": _beyond,
    "recent": _recent,
    "growth": _growth,
    "frames": _frames,
    "memory": _in_memory,
    "comparing": _comparing,
    "fusion": _fusion,
    "experiment": _experiment,
    "command": _command,
}


def main() -> None:
    """Run all cases, or one part of them, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recommenders", nargs="?", default=sys.executable)
    parser.add_argument("--only", choices=list(PARTS))
    given = parser.parse_args()
    for name, part in PARTS.items():
        if given.only in {None, name}:
            part(given.recommenders)


if __name__ == "__main__":
    main()
