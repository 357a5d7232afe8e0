"""Programs of pytrec_eval's users print the same on rankine, without a change.

Each needs its library and pytrec_eval; `make oracle` and `make clients` have them.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DATA = """
import random
draw = random.Random(7)
qrels = {
    f"q{q}": {f"d{d}": draw.choice([0, 0, 1, 2]) for d in range(12)} for q in range(20)
}
run = {
    q: {f"d{d}": round(draw.random(), 2) for d in draw.sample(range(30), 15)}
    for q in [*qrels][1:]
}
"""
PROGRAMS = {
    "pytrec_eval": """
import pytrec_eval
evaluator = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures, 2)
found = evaluator.evaluate(run)
for query, values in found.items():
    print(query, {name: round(value, 9) for name, value in sorted(values.items())})
for measure in sorted(found["q1"]):
    values = [own[measure] for own in found.values()]
    print(measure, round(pytrec_eval.compute_aggregated_measure(measure, values), 9))
""",
    "beir": """
from beir.retrieval.evaluation import EvaluateRetrieval
print(EvaluateRetrieval.evaluate(qrels, run, [1, 3, 5, 10]))
for metric in ("mrr", "recall_cap", "hole", "top_k_accuracy"):
    print(EvaluateRetrieval.evaluate_custom(qrels, run, [1, 3, 5], metric))
""",
    "mteb": """
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores
print(calculate_retrieval_scores(run, qrels, [1, 3, 5, 10]))
""",
    "ir_measures": """
import ir_measures
from ir_measures import AP, P, RR, Bpref, Rprec, Success, SetF, infAP, nDCG
from ir_measures.providers import PytrecEvalProvider
measures = [nDCG @ 10, AP(rel=2), P @ 5, RR, Bpref, Rprec, Success @ 3, SetF, infAP]
provider = PytrecEvalProvider()
for value in sorted(provider.iter_calc(measures, qrels, run), key=str):
    print(value.query_id, value.measure, round(value.value, 9))
""",
    "pyterrier": """
import pandas as pd
import pyterrier as pt
from pyterrier.measures import AP, nDCG
def frame(entries, value):
    rows = [(q, d, v) for q, own in entries.items() for d, v in own.items()]
    return pd.DataFrame(rows, columns=["qid", "docno", value])
topics = pd.DataFrame({"qid": [*qrels], "query": [*qrels]})
ranked = frame(run, "score").assign(rank=0)
systems = [pt.Transformer.from_df(part) for part in (ranked, ranked[::2])]
print(pt.Experiment(
    systems, topics, frame(qrels, "label"), [nDCG @ 10, AP], ["all", "half"],
    baseline=0, correction="holm",
).round(9).to_string())
""",
}


@pytest.mark.parametrize("library", PROGRAMS)
def test_a_program_prints_the_same(library: str, tmp_path: Path) -> None:
    for needed in (library, "pytrec_eval"):
        if find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    program = tmp_path / "program.py"
    program.write_text(DATA + PROGRAMS[library])

    original, ours = (
        subprocess.run(
            [sys.executable, "-W", "ignore", *how, str(program)],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )
        for how in ((), ("-m", "rankine.compat", "pytrec_eval"))
    )  # fmt: skip

    assert original.returncode == 0, original.stderr
    assert ours.returncode == 0, ours.stderr
    assert original.stdout.strip()
    assert ours.stdout == original.stdout
