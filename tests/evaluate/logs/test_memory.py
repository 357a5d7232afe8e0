"""ctr with engine="stream" where a process cannot have more memory than its limit."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

N_ROWS, N_SMALL = 6_000_000, 100_000
LIMIT = 300 << 20
SCRIPT = f"""
import re, resource, sys
from pathlib import Path
import rankine as rk

def of_process(name):
    status = Path("/proc/self/status").read_text()
    return int(re.search(name + r":\\s+(\\d+)", status)[1]) << 10

folder, form, engine = Path(sys.argv[1]), *sys.argv[2:]
offered = folder / f"offered.{{form}}"
rk.ctr(folder / f"small.{{form}}", offered, ["matching", "ips"], engine="stream")
most = of_process("VmPeak") + {LIMIT}
resource.setrlimit(resource.RLIMIT_AS, (most, most))
options = {{"memory_limit": {LIMIT}}} if engine == "stream" else {{}}
log = folder / f"large.{{form}}"
rates = rk.ctr(log, offered, ["matching", "ips"], engine=engine, **options)
print(rates["matching"].value, rates["ips"].value, rates["ips"].matched)
print(of_process("VmHWM") < {LIMIT})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write logs in which each of 1,000 users was shown each of 100 items as often.

    Ids are ints in CSV, of which many rows are a few bytes, and longer texts in
    Parquet.
    """
    folder = tmp_path_factory.mktemp("logs")
    number = pl.col("number")
    text = [pl.format(f"some-{name}-{{}}", name).alias(name) for name in ("u", "i")]
    names = {"u": "user_id", "i": "item_id"}
    offered = pl.select(u=pl.int_range(1000), i=7)
    for name, n_rows in (("small", N_SMALL), ("large", N_ROWS)):
        log = pl.select(number=pl.int_range(n_rows)).select(
            u=number % 1000,
            i=number // 1000 % 100,
            click=number // 100_000 % 2,
            propensity=0.5,
        )
        log.rename(names).write_csv(folder / f"{name}.csv")
        log.with_columns(text).rename(names).write_parquet(folder / f"{name}.parquet")
    offered.rename(names).write_csv(folder / "offered.csv")
    offered.with_columns(text).rename(names).write_parquet(folder / "offered.parquet")
    return folder


def ended(folder: Path, form: str, engine: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), form, engine],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MALLOC_ARENA_MAX": "1", "POLARS_MAX_THREADS": "2"},
    )


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for its memory")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_memory_is_enough_for_parts_alone(folder: Path, form: str) -> None:
    assert ended(folder, form, "memory").returncode != 0

    done = ended(folder, form, "stream")
    # Each pair comes 60 times, and every second time with a click. A user is
    # recommended one item, whose rounds weigh 1 / 0.5.
    ips = 1000 * 30 * 2 / N_ROWS
    assert done.stdout == f"0.5 {ips} {1000 * 60}\nTrue\n", done.stderr
