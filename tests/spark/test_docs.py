"""The examples of the page on Spark do what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.docs_examples import FENCE

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

PAGE = Path(__file__).parents[2] / "docs" / "spark.md"


def test_examples_run(spark: Any, tmp_path: Path) -> None:
    names: dict[str, Any] = {"spark": spark, "folder": str(tmp_path / "values")}
    fences = FENCE.finditer(PAGE.read_text())
    blocks = [match["body"] for match in fences if match["info"] == "py"]
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page

    assert len(blocks) == 12
    assert spark.read.parquet(names["folder"]).toPandas()["query"].tolist() == ["q3"]
