"""Several estimates come as `Estimates`, one as an `Estimate`.

Which of the two depends on whether a name or a list was given, never on how many names
are in the list.
"""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any, assert_type

import polars as pl
import pytest

import rankine as rk
from rankine.errors import ParameterError

LOGGED = pl.DataFrame(
    {
        "user_id": [1, 2, 3, 4],
        "item_id": ["a", "b", "a", "c"],
        "click": [1, 0, 1, 0],
        "propensity": [0.5, 0.25, 0.5, 0.25],
    }
)
SHOWN = pl.DataFrame(
    {
        "user_id": [1, 2, 3, 4],
        "item_id": ["a", "b", "b", "c"],
        "predicted": [0.5, 0.25, 0.5, 0.25],
    }
)
# Users 1, 2 and 4 match, with weights 2, 4 and 4 and rewards 1, 0 and 0.
IPS = (2 * 1 + 4 * 0 + 4 * 0) / 4
SNIPS = (2 * 1) / (2 + 4 + 4)


def both() -> rk.Estimates:
    return rk.ctr(LOGGED, SHOWN, ["ips", "snips"])


def test_a_name_gives_an_estimate() -> None:
    found = rk.ctr(LOGGED, SHOWN, "ips")

    assert_type(found, rk.Estimate)
    assert type(found) is rk.Estimate
    assert found.value == IPS


def test_nothing_said_gives_an_estimate() -> None:
    found = rk.ctr(LOGGED, SHOWN)

    assert_type(found, rk.Estimate)
    assert found.estimator == "matching"


@pytest.mark.parametrize("names", [["ips"], ("ips",), ["ips", "snips"], ("ips", "ips")])
def test_a_list_gives_estimates(names: list[str] | tuple[str, ...]) -> None:
    found = rk.ctr(LOGGED, SHOWN, names)

    assert_type(found, rk.Estimates)
    assert type(found) is rk.Estimates
    assert list(found) == list(dict.fromkeys(names))
    assert found["ips"] == rk.ctr(LOGGED, SHOWN, "ips")


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(ParameterError, match="no estimator was asked for"):
        rk.ctr(LOGGED, SHOWN, [])


def test_estimates_are_a_mapping() -> None:
    found = both()

    assert isinstance(found, Mapping)
    assert len(found) == 2
    assert list(found) == list(found.keys()) == ["ips", "snips"]
    assert [one.value for one in found.values()] == [IPS, SNIPS]
    assert {name: one.value for name, one in found.items()} == {
        "ips": IPS,
        "snips": SNIPS,
    }
    assert "ips" in found
    assert "dr" not in found
    assert found.get("dr") is None
    assert found == dict(found)
    assert dict(found) == found


def test_a_name_that_was_not_asked_for_is_told_what_there_is() -> None:
    with pytest.raises(
        KeyError, match=("dr was not asked for; the estimators are ips, snips")
    ):
        both()["dr"]


def test_estimates_cannot_be_changed() -> None:
    found: Any = both()

    with pytest.raises(TypeError):
        found["ips"] = None
    with pytest.raises(FrozenInstanceError):
        found.estimates = ()
    assert hash(found) == hash(both())
    assert found == both()
    assert found != rk.ctr(LOGGED, SHOWN, ["ips"])


def test_estimates_are_copied_and_pickled() -> None:
    found = both()

    assert copy.deepcopy(found) == found
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 - our own


def test_the_text_of_estimates_is_that_of_each() -> None:
    found = both()

    assert str(found) == f"{found['ips']}\n\n{found['snips']}"
    assert repr(found) == "Estimates(ips=0.5000, snips=0.2000)"


def test_estimates_as_data() -> None:
    found = both()

    assert found.to_dict() == {
        "ips": found["ips"].to_dict(),
        "snips": found["snips"].to_dict(),
    }
    assert json.loads(found.to_json()) == found.to_dict()
    assert json.loads(found["ips"].to_json()) == found["ips"].to_dict()
    assert "\n" not in found.to_json(indent=None)
    assert "\n" not in found["ips"].to_json(indent=None)


def test_what_is_undefined_is_null() -> None:
    nothing = SHOWN.with_columns(item_id=pl.lit("z"))

    found = rk.ctr(LOGGED, nothing, ["ips"])

    assert math.isnan(found["ips"].value)
    assert json.loads(found.to_json())["ips"]["value"] is None


def test_estimates_in_a_notebook_are_one_table() -> None:
    html = both()._repr_html_()

    assert html.count("<table>") == 1
    assert html.count("<tr>") == 3
    assert ">ips</th>" in html
    assert ">snips</th>" in html
    assert ">0.5000</td>" in html
    assert ">0.2000</td>" in html
    assert "<li>! ips: " in html


# Batches


def test_batches_of_a_log_give_what_ctr_gives() -> None:
    one = rk.Accumulator(rk.ctr, estimator="ips").update(LOGGED, SHOWN)
    some = rk.Accumulator(rk.ctr, estimator=["ips"]).update(LOGGED, SHOWN)
    usual = rk.Accumulator(rk.ctr).update(LOGGED, SHOWN)

    assert_type(one.result(), rk.Estimate)
    assert_type(some.result(), rk.Estimates)
    assert_type(usual.result(), rk.Estimate)
    assert one.result() == rk.ctr(LOGGED, SHOWN, "ips")
    assert some.result() == rk.ctr(LOGGED, SHOWN, ["ips"])
    assert type(some.result()) is rk.Estimates
    assert usual.result() == rk.ctr(LOGGED, SHOWN)


def test_batches_of_predictions_give_a_number_or_numbers_by_name() -> None:
    one = rk.Accumulator(rk.mae).update([3, 5], [4, 3])
    some = rk.Accumulator([rk.mae]).update([3, 5], [4, 3])
    several = rk.Accumulator((rk.mae, rk.rmse)).update([3, 5], [4, 4])
    bins = rk.Accumulator(rk.expected_calibration_error, bins=2).update([1], [0.9])

    assert_type(one.result(), rk.Loss)
    assert_type(some.result(), dict[str, rk.Loss])
    assert_type(bins.result(), rk.CalibrationError)
    assert type(one.result()) is rk.Loss
    assert one.result() == (1 + 2) / 2
    assert some.result() == {"mae": (1 + 2) / 2}
    assert several.result() == {"mae": 1.0, "rmse": 1.0}


def test_batches_of_metrics_give_an_evaluation() -> None:
    one = rk.Accumulator("RR").update({"q": {"a"}}, {"q": ["b", "a"]})
    some = rk.Accumulator(["RR", rk.AP]).update({"q": {"a"}}, {"q": ["b", "a"]})

    assert_type(one.result(), rk.Accumulated)
    assert_type(some.result(), rk.Accumulated)
    assert one.result().mean == {"RR": 1 / 2}
    assert type(one.result()) is type(some.result()) is rk.Accumulated
