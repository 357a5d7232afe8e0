"""The numbers that the tests of ir_measures and pyndeval expect of their tools."""

from __future__ import annotations

from itertools import count

import polars as pl
import pytest

import rankine as rk

# ir_measures 0.4.3, test_cwl_eval: ten items, D1 to D10, in this order for each topic.
CWL_QRELS = {
    "T1": dict.fromkeys(["D1", "D3", "D4", "D7", "D9"], 1)
    | dict.fromkeys(["D2", "D8", "D10"], 0),
    "T2": dict.fromkeys(["D1", "D2", "D5", "D7", "D8", "D9"], 1)
    | dict.fromkeys(["D6", "D10"], 0),
    "T3": dict.fromkeys(["D6", "D7", "D8", "D10"], 1)
    | dict.fromkeys(["D4", "D5", "D9"], 0),
}
CWL_RUN = {topic: [f"D{rank}" for rank in range(1, 11)] for topic in CWL_QRELS}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("AP", [0.7087, 0.7438, 0.3068]),
        ("BPM(T=1.0,max_grade=1)@20", [1, 1, 0.1667]),
        ("BPM(T=2.0,max_grade=1)@10", [0.6667, 1, 0.2857]),
        ("INSQ(T=1.0,max_grade=1)", [0.5872, 0.6629, 0.0880]),
        ("INSQ(T=2.0,max_grade=1)", [0.4513, 0.5068, 0.1292]),
        ("INST(T=1.0,max_grade=1)", [0.7934, 0.9226, 0.0888]),
        ("INST(T=2.0,max_grade=1)", [0.5994, 0.6924, 0.1397]),
        # SDCG: DCG over that of a list that is relevant throughout.
        ("nDCG(gain='binary',ideal='k_ones')@10", [0.5645, 0.6531, 0.2848]),
        ("NERR8(max_grade=1)@10", [1, 1, 0.1667]),
        ("NERR9(max_grade=1)@10", [1, 1, 0.0680]),
        ("NERR10(p=0.8,max_grade=1)", [1, 1, 0.0888]),
        ("NERR11(T=2.0,max_grade=1)", [1, 1, 0.0691]),
        ("P@1", [1, 1, 0]),
        ("P@10", [0.5, 0.6, 0.4]),
        ("P@20", [0.25, 0.3, 0.2]),
        ("P@5", [0.6, 0.6, 0]),
        ("RBP(p=0.9,rel=1)", [0.3501, 0.3996, 0.1988]),
        ("RR", [1, 1, 0.1667]),
        # RBP(residual=True), from the tests of a version after 0.4.3.
        ("RBPResidual(p=0.9)", [0.4733, 0.5026, 0.6197]),
    ],
)
def test_user_models_of_ir_measures(metric: str, expected: list[float]) -> None:
    ev = rk.evaluate(CWL_QRELS, CWL_RUN, metric, convention="ir_measures")

    assert [*ev.per_query[metric]] == pytest.approx(expected, abs=1e-4)


# ir_measures 0.4.3, test_compat: a thousand items a query, of which only the grades
# above 0 at the first 367 ranks are here, and the grades of relevant items that are not
# among these. An item below weighs less than 0.95^367 / 367 of the whole.
RETRIEVED = {
    "31_1": {
        1: 4, 2: 4, 3: 4, 4: 4, 5: 4, 6: 3, 7: 4, 8: 4, 9: 30, 10: 50, 11: 4, 12: 30,
        13: 4, 15: 4, 16: 4, 17: 3, 18: 10, 19: 4, 20: 4, 21: 4, 22: 4, 23: 3, 27: 3,
        33: 50, 35: 3, 37: 1, 40: 3, 51: 4, 53: 3, 54: 2, 59: 2, 62: 2, 63: 3, 72: 2,
        73: 2, 77: 3, 87: 2, 90: 2, 102: 2, 105: 2, 114: 3, 120: 1, 142: 2, 165: 2,
        166: 2, 168: 3, 177: 2, 193: 2, 198: 2, 199: 4, 212: 2, 231: 2, 250: 1, 263: 1,
        275: 2, 276: 4, 278: 3, 279: 2, 281: 1, 290: 2, 302: 3, 320: 3, 321: 2, 325: 3,
        326: 1, 349: 2, 360: 1, 367: 2,
    },
    "31_2": {
        26: 3, 27: 3, 35: 1, 38: 1, 49: 1, 61: 1, 62: 2, 80: 4, 94: 2, 98: 1, 112: 1,
        137: 4, 180: 4, 196: 2, 208: 3, 222: 1, 262: 20, 268: 1, 277: 1, 279: 2, 352: 4,
    },
}  # fmt: skip
# Grade -> how many items.
BELOW = {
    "31_1": {3: 4, 2: 9, 1: 8},
    "31_2": {50: 1, 40: 2, 20: 1, 4: 6, 3: 15, 2: 13, 1: 18},
}


def test_compat_of_ir_measures() -> None:
    expected = {
        "Compat(p=0.95)": [0.51779512165509, 0.018400100569017922],
        "Compat(p=0.9)": [0.3761334522946854, 0.004344079941789211],
        "Compat(p=0.8)": [0.16723008845234535, 0.00022806427320561776],
    }
    name = count()
    below = {
        query: {f"below {next(name)}": g for g, n in grades.items() for _ in range(n)}
        for query, grades in BELOW.items()
    }
    qrels = {
        query: {str(rank): g for rank, g in grades.items()} | below[query]
        for query, grades in RETRIEVED.items()
    }
    run = {query: [str(rank) for rank in range(1, 1001)] for query in qrels}

    ev = rk.evaluate(qrels, run, [*expected], convention="ir_measures")

    for metric, values in expected.items():
        assert [*ev.per_query[metric]] == pytest.approx(values, abs=1e-9)
    assert ev["Compat(p=0.95)"] == pytest.approx(0.268097611, abs=1e-9)


COLUMNS = ["query", "subtopic", "item", "grade"]
# pyndeval 0.0.8, test_pyndeval: E is not judged, C not retrieved.
TOPICS = [
    ("0", "a", "A", 1),
    ("0", "b", "B", 1),
    ("0", "b", "D", 1),
    ("0", "c", "C", 1),
]
SCORES = {"0": {"A": 9.3, "D": 8.4, "E": 8.1, "B": 7.6}}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ERR_IA@5", 0.3933), ("ERR_IA@10", 0.3907), ("ERR_IA@20", 0.3907),
        ("nERR_IA@5", 0.8297), ("nERR_IA@10", 0.8297), ("nERR_IA@20", 0.8297),
        ("alpha_DCG@5", 0.4052), ("alpha_DCG@10", 0.3998), ("alpha_DCG@20", 0.3997),
        ("alpha_nDCG@5", 0.7868), ("alpha_nDCG@10", 0.7868), ("alpha_nDCG@20", 0.7868),
        ("NRBP", 0.3906), ("nNRBP", 0.8620), ("AP_IA", 0.5),
        ("P_IA@5", 0.2), ("P_IA@10", 0.1), ("P_IA@20", 0.05),
        ("SubtopicRecall@5", 0.6666), ("SubtopicRecall@10", 0.6666),
        ("SubtopicRecall@20", 0.6666),
    ],
)  # fmt: skip
def test_subtopics_of_pyndeval(metric: str, expected: float) -> None:
    qrels = pl.DataFrame(TOPICS, COLUMNS, orient="row")

    ev = rk.evaluate(qrels, SCORES, metric, convention="ir_measures")

    assert ev[metric] == pytest.approx(expected, abs=1e-4)


def test_subtopics_of_ir_measures() -> None:
    # ir_measures 0.4.3, test_pyndeval.
    rows = [
        ("0", "0", "D0", 0), ("0", "0", "D1", 1), ("0", "0", "D2", 1),
        ("0", "1", "D2", 1), ("0", "1", "D3", 2), ("0", "0", "D4", 0),
        ("1", "0", "D0", 1), ("1", "0", "D3", 2), ("1", "1", "D5", 2),
    ]  # fmt: skip
    run = {
        "0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1},
        "1": {"D1": 0.8, "D3": 0.7, "D4": 0.3, "D2": 0.4},
    }
    qrels = pl.DataFrame(rows, COLUMNS, orient="row")

    ev = rk.evaluate(qrels, run, "ERR_IA@20", convention="ir_measures")

    assert [*ev.per_query["ERR_IA@20"]] == pytest.approx([0.4659, 0.1803], abs=5e-5)
    assert ev["ERR_IA@20"] == pytest.approx(0.3231, abs=5e-5)
