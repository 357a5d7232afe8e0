"""An evaluator of Spark ML."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

import pytest

from rankine.compat.pyspark import evaluator

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_evaluator_of_rows(spark: SparkSession) -> None:
    rows = [("p", "a", 1.0, 0.2), ("p", "b", 0.0, 0.9), ("q", "c", 1.0, 0.5)]
    frame = spark.createDataFrame(rows, ["user", "item", "label", "prediction"])

    made = evaluator("nDCG@2", query="user")

    assert made.evaluate(frame) == pytest.approx((1 / log2(3) + 1) / 2)
    assert made.isLargerBetter()
