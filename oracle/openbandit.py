"""Click rates of the Open Bandit logs, counted here in plain Python: make oracle.

The package obp has 10,000 impressions of one week for each of two policies, random and
Thompson sampling (bts), and each of three campaigns. Only its files are read. A log has
no users, so that every impression counts as one. Tests are scipy's. The exit status is
1 if a number differs.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import Counter
from importlib.metadata import files
from pathlib import Path
from typing import Any

import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent))
import rankine as rk

_ENOUGH = 1e-9
_POLICIES = ("random", "bts")
_CAMPAIGNS = ("all", "men", "women")
Log = list[dict[str, str]]


def read(policy: str, campaign: str) -> Log:
    """Read the rows of a log from the installed package."""
    name = f"obp/dataset/obd/{policy}/{campaign}/{campaign}.csv"
    (path,) = (file for file in files("obp") or [] if str(file) == name)
    with Path(str(path.locate())).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def expected(logs: dict[str, Log]) -> dict[str, float]:
    """Count clicks without rankine, and test their difference with scipy."""
    from scipy.stats import ttest_ind

    clicks = {name: [int(row["click"]) for row in log] for name, log in logs.items()}
    test = ttest_ind(clicks["bts"], clicks["random"], equal_var=False)
    interval = test.confidence_interval(0.95)
    numbers = {name: sum(own) / len(own) for name, own in clicks.items()}
    numbers["difference"] = numbers["bts"] - numbers["random"]
    numbers |= {"low": interval.low, "high": interval.high, "p": test.pvalue}
    for name, log in logs.items():
        shown = Counter(row["position"] for row in log)
        clicked = Counter(row["position"] for row in log if row["click"] == "1")
        for rank, n in shown.items():
            numbers[f"{name} at {rank}"] = clicked[rank] / n
    return numbers


def ours(logs: dict[str, Log]) -> dict[str, float]:
    """Let rankine do the same, from events."""
    events: list[tuple[Any, ...]] = []
    for name, log in logs.items():
        for number, row in enumerate(log):
            user = f"{name}-{number}"
            head = (row["timestamp"], user, name, row["item_id"], int(row["position"]))
            events.append((*head, user, "impression"))
            if row["click"] == "1":
                events.append((*head, user, "click"))
    names = [
        "timestamp",
        "user_id",
        "variant",
        "item_id",
        "position",
        "impression_id",
        "event",
    ]
    frame = pl.DataFrame(events, names, orient="row")
    rates = rk.online.summarize(frame, ["ctr"]).table
    numbers = dict(rates.select("variant", "value").rows())
    test = rk.online.ab_test(
        frame, control="random", metrics=["ctr"], correction="none"
    ).table.row(0, named=True)
    numbers |= {name: test[name] for name in ("difference", "low", "high", "p")}
    for name in logs:
        curve = rk.online.click_metrics(frame.filter(pl.col("variant") == name))
        for rank, rate in curve.by_position.select("position", "ctr").rows():
            numbers[f"{name} at {rank}"] = rate
    return numbers


def main() -> int:
    """Compare all campaigns, print what differs, and return the exit status."""
    wrong = n = 0
    for campaign in _CAMPAIGNS:
        logs = {policy: read(policy, campaign) for policy in _POLICIES}
        wanted, numbers = expected(logs), ours(logs)
        n += len(wanted)
        for name in wanted | numbers:
            pair = [side.get(name, math.nan) for side in (wanted, numbers)]
            if not math.isclose(*pair, rel_tol=_ENOUGH, abs_tol=_ENOUGH):
                wrong += 1
                print(f"{campaign}: {name} is {pair[0]}, and rankine has {pair[1]}")
        print(
            f"Open Bandit, {campaign}: random {wanted['random']:.4f}, "
            f"bts {wanted['bts']:.4f}, p {wanted['p']:.3f}"
        )
    print(f"Open Bandit: {n - wrong:,} equal, {wrong:,} mismatch")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
