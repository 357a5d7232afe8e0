"""Text to put in: valid contents of every format, and lines at random."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.fuzz.edits import IDS, NUMBERS, PACKED

TRUTH = {"q": {"a": 1, "b": 0, "d1": 2}, "p": {"c": 1, "é": 3}}
RUN = {"q": {"b": 0.9, "a": 0.5, "d1": 0.1}, "p": {"x": 2.0, "c": 1.5}}
OTHER: dict[str, Any] = {"qrels": RUN, "run": TRUTH}
QRELS_TEXT = b"q 0 a 1\nq 0 b 0\nq 0 d1 2\np 0 c 1\np 0 x -1\n"
RUN_TEXT = (
    b"q Q0 b 1 0.9 7\nq Q0 a 2 0.5 7\nq Q0 d1 3 0.1 7\np Q0 x 1 2 7\np Q0 c 2 1.5 7\n"
)
TREC = {"qrels": QRELS_TEXT, "run": RUN_TEXT}
CSV = {
    "qrels": b'query,item,grade\nq,a,1\nq,b,0\n"q",d1,2\np,c,1\np,x,-1\n',
    "run": b'query,item,score\nq,b,0.9\nq,"a",0.5\nq,d1,0.1\np,x,2\np,c,1.5\n',
}
VALID = {
    "trec qrels": QRELS_TEXT,
    "trec run": RUN_TEXT,
    "csv qrels": CSV["qrels"],
    "csv run": CSV["run"],
    "tsv": CSV["run"].replace(b",", b"\t"),
    "semicolons": CSV["qrels"].replace(b",", b";"),
    "bars": CSV["qrels"].replace(b",", b"|"),
    "csv, no header": b"q,a,1\nq,b,0\np,c,2\n",
    "csv, no header, run": b"q,a,1.5\nq,b,0.5\np,c,2.5\n",
    "two columns": b"1,2\n1,3\n2,7\n",
    "beir": b"query-id\tcorpus-id\tscore\nq\ta\t1\np\tc\t2\n",
    "ms marco": b"q\ta\t1\nq\tb\t2\np\tc\t1\n",
    "movielens": b"1::10::5::978300760\n1::20::3::978302109\n2::10::4::978301968\n",
    "u.data": b"1\t10\t5\t881250949\n1\t20\t3\t891717742\n2\t10\t4\t878887116\n",
    "recbole": b"user_id:token\titem_id:token\trating:float\nq\ta\t1\np\tc\t2\n",
    "json": b'{"q": {"a": 1, "b": 0}, "p": {"c": 2}}',
    "json lists": b'{"q": ["a", "b"], "p": ["c"]}',
    "json records": b'[{"query":"q","item":"a","score":1},{"query":"p","item":"c"}]',
    "ndjson": b'{"query":"q","item":"a","score":1}\n{"query":"p","item":"c"}\n',
    "ndjson lists": b'{"query_id":"q","retrieved":["a","b"],"relevant":["a"]}\n',
    "quoted": b'query,item,grade,text\nq,a,1,"x\ny, ""z"""\np,c,2,"# no"\n',
    "utf-16": RUN_TEXT.decode().encode("utf-16"),
    "latin-1": "é 0 ü 1\nq 0 a 2\n".encode("latin-1"),
    "packed": PACKED["gzip"](RUN_TEXT),
}
roles = st.sampled_from(["qrels", "run"])
token = st.sampled_from((*IDS, *NUMBERS))
blank = st.sampled_from([" ", " ", " ", "\t", "  ", "\x0b", "\u00a0", ""])
line_end = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n# x\n", " \n"])
