"""A/B tests of tables of users: by hand, against plain twins, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankine as rk
from rankine.errors import ParameterError

COLUMNS = [
    "metric", "variant", "control_value", "value", "difference", "lift", "low", "high",
    "p", "p_corrected", "always_low", "always_high", "p_always",
]  # fmt: skip


def users(**columns: Any) -> pl.DataFrame:
    n = len(columns["arm"])
    return pl.DataFrame({"user_id": range(n), **columns})


def ab(frame: Any, metrics: Any, **options: Any) -> Any:
    given = {"unit": "user_id", "variant": "arm", "control": "A", **options}
    return rk.online.ab_test(frame, metrics=metrics, **given)


def drawn(n: int, *, arms: str = "AB", seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    views = 1.0 + rng.poisson(3, n)
    return users(
        arm=rng.choice(list(arms), n),
        views=views,
        clicks=rng.binomial(views.astype(int), rng.beta(1, 9, n)).astype(float),
        spent=rng.gamma(1, 10, n),
        country=rng.choice(["at", "fr"], n),
    )


SMALL = users(arm=list("AAABBBB"), y=[1, 2, 6, 2, 4, 6, 8], x=[1, 1, 2, 2, 2, 2, 2])


def test_a_mean_by_hand() -> None:
    row = ab(SMALL, {"y": "y"}).details.row(0, named=True)
    # Of 1, 2, 6: mean 3, variance (4 + 1 + 9) / 2 = 7; of 2, 4, 6, 8: 5 and 20 / 3.
    first, second = 7 / 3, (20 / 3) / 4
    error = math.sqrt(first + second)
    df = (first + second) ** 2 / (first**2 / 2 + second**2 / 3)
    far = stats.t.ppf(0.975, df)

    assert (row["control_value"], row["value"], row["difference"]) == (3, 5, 2)
    assert row["lift"] == pytest.approx(5 / 3 - 1)
    assert row["error"] == pytest.approx(error)
    assert row["low"] == pytest.approx(2 - far * error)
    assert row["high"] == pytest.approx(2 + far * error)
    assert row["p"] == pytest.approx(2 * stats.t.sf(2 / error, df))
    assert (row["n_control"], row["n"]) == (3, 4)


def test_a_ratio_by_hand() -> None:
    row = ab(SMALL, {"r": ("y", "x")}).details.row(0, named=True)
    # A: 9 / 4, influences (1 - 9/4, 2 - 9/4, 6 - 9/2) / (4/3); B: 20 / 8, (y - 5) / 2.
    influences = np.array([-5 / 4, -1 / 4, 3 / 2]) / (4 / 3)
    first = (influences**2).sum() / 2 / 3
    second = (9 + 1 + 1 + 9) / 4 / 3 / 4

    assert row["control_value"] == 9 / 4
    assert row["value"] == 20 / 8
    assert row["error"] == pytest.approx(math.sqrt(first + second))


def test_the_interval_of_a_lift_by_the_delta_method() -> None:
    row = ab(SMALL, {"y": "y"}).details.row(0, named=True)
    first, second = 7 / 3 / 3**2, (20 / 3) / 4 / 5**2
    df = (first + second) ** 2 / (first**2 / 2 + second**2 / 3)
    reach = math.exp(stats.t.ppf(0.975, df) * math.sqrt(first + second))

    assert row["lift_low"] == pytest.approx(5 / 3 / reach - 1)
    assert row["lift_high"] == pytest.approx(5 / 3 * reach - 1)


def test_fiellers_bounds_are_ratios_that_are_just_not_rejected() -> None:
    frame = drawn(400)
    row = ab(frame, {"s": "spent"}, lift="fieller").details.row(0, named=True)
    a, b = (frame.filter(pl.col("arm") == arm)["spent"].to_numpy() for arm in "AB")
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    for bound in (row["lift_low"], row["lift_high"]):
        ratio = 1 + bound
        t = abs(b.mean() - ratio * a.mean()) / math.sqrt(vb + ratio**2 * va)
        assert t == pytest.approx(stats.t.ppf(0.975, df))
    assert row["lift_low"] < row["lift"] < row["lift_high"]


@pytest.mark.parametrize("lift", ["delta", "fieller"])
def test_a_lift_of_values_that_vary_little_is_inside_its_bounds(lift: str) -> None:
    draw = np.random.default_rng(3)
    for _ in range(20):
        y = 0.1 * (1 + 1e-9 * draw.random(63))
        y[:30] = 0.1
        frame = pl.DataFrame(
            {"user_id": range(63), "arm": ["A"] * 30 + ["B"] * 33, "y": y}
        )

        row = ab(frame, {"y": "y"}, lift=lift).details.row(0, named=True)

        assert row["lift_low"] <= row["lift"] <= row["lift_high"]


def test_fieller_has_no_bounds_where_the_control_may_be_0() -> None:
    row = ab(SMALL, {"y": "y"}, lift="fieller").details.row(0, named=True)

    assert math.isnan(row["lift_low"])
    assert row["lift"] == pytest.approx(2 / 3)


def test_the_table_has_the_columns_of_the_contract() -> None:
    test = ab(drawn(50, arms="ABC"), {"s": "spent", "ctr": ("clicks", "views")})

    assert test.table.columns == COLUMNS
    assert test.table.select("metric", "variant").rows() == [
        ("s", "B"), ("s", "C"), ("ctr", "B"), ("ctr", "C"),
    ]  # fmt: skip


values = st.lists(st.integers(-5, 9), min_size=2, max_size=12)


@settings(deadline=None, max_examples=60)
@given(values, values)
def test_means_are_tested_as_scipy_tests_them(a: list[int], b: list[int]) -> None:
    if len({*a}) == 1 or len({*b}) == 1:
        return  # of which scipy warns
    frame = users(arm=["A"] * len(a) + ["B"] * len(b), y=[*a, *b])
    row = ab(frame, {"y": "y"}).details.row(0, named=True)
    twin = stats.ttest_ind(b, a, equal_var=False)
    bounds = twin.confidence_interval(0.95)

    np.testing.assert_allclose(
        [row["p"], row["low"], row["high"]],
        [twin.pvalue, bounds.low, bounds.high],
        rtol=1e-9,
        atol=1e-9,
    )


def test_the_order_of_rows_does_not_matter() -> None:
    frame = drawn(300)
    metrics = {"s": "spent", "ctr": ("clicks", "views"), "p90": ("spent", 0.9)}
    first = ab(frame, metrics).details
    second = ab(frame.sample(fraction=1, shuffle=True, seed=3), metrics).details

    for name, dtype in first.schema.items():
        if dtype == pl.Float64:
            np.testing.assert_allclose(first[name], second[name], rtol=1e-11)


@pytest.mark.parametrize("library", ["pandas", "arrow", "file"])
def test_any_frame_and_any_file_will_do(library: str, tmp_path: Any) -> None:
    frame = drawn(60)
    frame.write_csv(tmp_path / "users.csv")
    given: Any = tmp_path / "users.csv"
    if library != "file":
        given = frame.to_pandas() if library == "pandas" else frame.to_arrow()

    assert ab(given, {"s": "spent"}).table.equals(ab(frame, {"s": "spent"}).table)


def test_variants_may_be_numbers_and_flags() -> None:
    for words, control in (([0, 1], 0), ([False, True], False), (["0", "1"], "0")):
        frame = SMALL.with_columns(
            pl.Series("arm", [words[own == "B"] for own in SMALL["arm"]])
        )
        test = ab(frame, {"y": "y"}, control=control)
        assert test.table["difference"].item() == 2, words


# Families and corrections


def test_all_that_has_no_margin_is_one_family() -> None:
    frame = drawn(400, arms="ABC")
    metrics = {"s": "spent", "ctr": ("clicks", "views"), "v": "views"}
    test = ab(frame, metrics, margin={"v": "5%"}, segment="country")
    free = test.details.filter(pl.col("metric") != "v")
    guard = test.details.filter(pl.col("metric") == "v")
    p = free["p"].to_list()
    stepped, running = {}, 0.0
    for place, number in enumerate(sorted(range(len(p)), key=lambda at: p[at])):
        running = max(running, p[number] * (len(p) - place))
        stepped[number] = min(running, 1)

    assert len(p) == 2 * 2 * 3
    assert free["p_corrected"].to_list() == pytest.approx(
        [stepped[number] for number in range(len(p))]
    )
    assert guard["p_corrected"].to_list() == guard["p"].to_list()


def test_false_discoveries_cannot_be_controlled_while_peeking() -> None:
    with pytest.raises(ParameterError, match="add up under repeated looks"):
        ab(SMALL, {"y": "y"}, always_correction="bh")

    assert ab(SMALL, {"y": "y"}, correction="bh").table.height == 1


# Guardrails


@pytest.mark.parametrize(
    ("better", "margin", "moved", "scale"),
    [
        ("higher", 0.5, 2 + 0.5, 1),
        ("lower", 0.5, -2 + 0.5, 1),
        ("higher", "10%", 5 - 0.9 * 3, 0.9),
        ("lower", "10%", 1.1 * 3 - 5, 1.1),
    ],
)
def test_guardrails_by_hand(
    better: str, margin: float | str, moved: float, scale: float
) -> None:
    test = ab(SMALL, {"y": "y"}, better={"y": better}, margin={"y": margin})
    first, second = scale**2 * 7 / 3, (20 / 3) / 4
    df = (first + second) ** 2 / (first**2 / 2 + second**2 / 3)
    expected = stats.t.sf(moved / math.sqrt(first + second), df)

    assert test.table["p"].item() == pytest.approx(expected)


def test_a_guardrail_of_which_nobody_said_what_is_better() -> None:
    # More errors pass a guardrail for which more is better.
    said = "y: higher is taken as better; better={'y': 'lower'} or --better y=lower"

    assert any(said in note for note in ab(SMALL, {"y": "y"}, margin={"y": 1}).notes)
    told: dict[str, Any] = {"margin": {"y": 1}, "better": {"y": "lower"}}
    for options in (told, {}):
        notes = ab(SMALL, {"y": "y"}, **options).notes
        assert not any("is taken as better" in note for note in notes)


def test_no_note_on_money_or_on_the_metrics_of_the_guide() -> None:
    log = rk.online.generate(100, seed=1, variants={"A": {}, "B": {}}).events
    metrics = {"revenue_per_user": "revenue", "ctr": "ctr", "acts": "actions"}

    notes = rk.online.ab_test(
        log, control="A", metrics=metrics, margin=dict.fromkeys(metrics, "10%")
    ).notes

    said = [note for note in notes if "is taken as better" in note]
    assert len(said) == 1
    assert said[0].startswith("acts: higher is taken as better; better={'acts'")


@pytest.mark.parametrize(
    ("shift", "better", "margin", "verdict"),
    [
        (5, "higher", None, "better"),
        (-5, "higher", None, "worse"),
        (-5, "lower", None, "better"),
        (0, "higher", None, "cannot tell"),
        (0, "higher", 1, "not worse"),
        (-5, "higher", 1, "worse"),
        (5, "lower", 1, "worse"),
        (0, "higher", 0.001, "cannot tell"),
    ],
)
def test_verdicts(shift: float, better: str, margin: Any, verdict: str) -> None:
    rng = np.random.default_rng(1)
    noise = np.tile(rng.normal(size=200), 2)
    frame = users(
        arm=["A"] * 200 + ["B"] * 200, y=noise + np.repeat([10, 10 + shift], 200)
    )
    margins = None if margin is None else {"y": margin}

    test = ab(frame, {"y": "y"}, better={"y": better}, margin=margins)

    assert test.details["verdict"].item() == verdict


# Confidence sequences and their limits


def test_a_confidence_sequence_by_hand() -> None:
    frame = drawn(5000)
    row = ab(frame, {"s": "spent"}, expected_n=4000).details.row(0, named=True)
    n, alpha = 5000, 0.05
    rho2 = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / 4000
    deviation = math.sqrt(n) * row["error"]
    half = deviation * math.sqrt(
        2 * (n * rho2 + 1) / (n**2 * rho2) * math.log(math.sqrt(n * rho2 + 1) / alpha)
    )
    z = row["difference"] / row["error"]
    v = n * rho2
    p = min(1, math.sqrt(v + 1) * math.exp(-(z**2) * v / (2 * (v + 1))))

    assert row["always_low"] == pytest.approx(row["difference"] - half)
    assert row["always_high"] == pytest.approx(row["difference"] + half)
    assert row["p_always"] == pytest.approx(p)
    assert row["always_low"] < row["low"]


@pytest.mark.parametrize(
    ("control", "active", "told"),
    [(1000, 100, True), (999, 100, False), (1000, 99, False)],
)
def test_sequences_need_users_enough(control: int, active: int, *, told: bool) -> None:
    y = np.zeros(control + 1000)
    y[:active] = y[control : control + active] = 1
    frame = users(arm=["A"] * control + ["B"] * 1000, y=y + 0.0)
    test = ab(frame, {"y": "y"})

    assert math.isnan(test.table["p_always"].item()) is not told
    assert any("no confidence sequence" in note for note in test.notes) is not told


def test_what_is_expected_is_fixed_and_kept() -> None:
    few, many = (ab(drawn(n), {"s": "spent"}) for n in (3000, 6000))

    assert few.settings.expected_n == many.settings.expected_n == 10_000
    assert few.to_dict()["settings"]["expected_n"] == 10_000


# Sample ratio


def test_arms_that_are_not_as_large_as_they_should_be() -> None:
    frame = users(arm=["A"] * 600 + ["B"] * 400, y=[0, 1] * 500)
    odd = ab(frame, {"y": "y"})
    told = ab(frame, {"y": "y"}, ratio={"A": 3, "B": 2})

    assert odd.srm.p == pytest.approx(stats.chisquare([600, 400]).pvalue)
    assert odd.srm.mismatch
    assert "no result can be trusted" in odd.warnings[0]
    assert told.srm.p == 1
    assert told.srm.p_anytime == 1
    assert told.warnings == ()


# Quantiles, caps, segments


def test_a_quantile_of_users() -> None:
    frame = drawn(2000)
    row = ab(frame, {"p90": ("spent", 0.9)}).details.row(0, named=True)
    a = frame.filter(pl.col("arm") == "A")["spent"].to_numpy()
    # The gamma distribution with shape 1 and scale 10: density 0.1 exp(-2.303) there.
    theory = math.sqrt(2 * 0.9 * 0.1 / len(a)) / 0.01

    assert row["control_value"] == np.quantile(a, 0.9, method="inverted_cdf")
    assert row["error"] == pytest.approx(theory, rel=0.15)
    assert math.isnan(row["p_always"])


def test_caps_cut_the_numerator_of_each_user() -> None:
    capped = ab(SMALL, {"y": "y"}, cap={"y": 4}).table.row(0, named=True)

    assert capped["control_value"] == (1 + 2 + 4) / 3
    assert capped["value"] == (2 + 4 + 4 + 4) / 4


@pytest.mark.parametrize("metric", ["spent", ("clicks", "views"), ("spent", 0.5)])
def test_a_segment_is_a_test_of_its_users(metric: Any) -> None:
    frame = drawn(300)
    test = ab(frame, {"m": metric}, segment="country", correction="none")
    parts = {None: frame} | {
        name: frame.filter(pl.col("country") == name) for name in ("at", "fr")
    }
    for name, part in parts.items():
        own = test.details.filter(pl.col("segment").eq_missing(name)).drop("segment")
        alone = ab(part, {"m": metric}, correction="none").details
        for column in ("control_value", "difference", "error", "p", "lift_low"):
            assert own[column].item() == pytest.approx(alone[column].item()), column
    assert test.table.columns == [*COLUMNS[:2], "segment", *COLUMNS[2:]]


# What is undefined


def test_denominators_of_0_are_undefined_and_said() -> None:
    frame = SMALL.with_columns(
        x=pl.when(pl.col("arm") == "A").then(0).otherwise(pl.col("x"))
    )
    test = ab(frame, {"r": ("y", "x")})
    row = test.table.row(0, named=True)

    assert math.isnan(row["difference"])
    assert math.isnan(row["p"])
    assert any("a denominator is 0" in note for note in test.notes)


def test_what_does_not_vary_has_no_p_value() -> None:
    test = ab(users(arm=list("AABB"), y=[1, 1, 2, 2]), {"y": "y"})

    assert math.isnan(test.table["p"].item())
    assert test.table["difference"].item() == 1
    assert any("does not vary" in note for note in test.notes)


def test_no_lift_over_nothing() -> None:
    test = ab(users(arm=list("AAABBB"), y=[-1, 0, 0, 1, 2, 1]), {"y": "y"})

    assert math.isnan(test.table["lift"].item())
    assert any("the control is not above 0" in note for note in test.notes)


def test_users_without_a_value_are_left_out_and_counted() -> None:
    frame = users(arm=list("AAABBB"), y=[1, 2, None, 3, 4, 6])
    test = ab(frame, {"y": "y"})

    assert test.table["control_value"].item() == (1 + 2) / 2
    assert any("1 user without a value left out" in note for note in test.notes)
    assert test.srm.counts == {"A": 3, "B": 3}


def test_heavy_tails_in_uneven_arms_are_warned_of() -> None:
    y = np.ones(400)
    y[:200:2], y[7] = 2, 1000
    uneven = users(arm=["A"] * 100 + ["B"] * 300, y=y)
    even = users(arm=["A"] * 200 + ["B"] * 200, y=y)
    ratio = {"A": 1, "B": 3}

    assert "one user makes up" in ab(uneven, {"y": "y"}, ratio=ratio).warnings[0]
    assert ab(even, {"y": "y"}).warnings == ()
    capped = ab(uneven, {"y": "y"}, ratio=ratio, cap={"y": 2})
    assert capped.warnings == ()


# What is refused


def test_a_ratio_whose_denominators_add_up_to_less_than_0_is_undefined() -> None:
    # B: costs of 3 - 5 = -2, as credits may exceed what was paid.
    frame = users(arm=list("AABB"), y=[1, 2, 1, 2], x=[1, 1, 3, -5])
    test = ab(frame, {"r": ("y", "x")})
    log = pl.DataFrame(
        {
            "user_id": range(4), "variant": list("AABB"), "event": "purchase",
            "value": [1.0, 2, 1, 2], "cost": [1.0, 1, 3, -5],
        }
    )  # fmt: skip
    tested = rk.online.ab_test(log, control="A", metrics=["roi"])
    values = rk.online.summarize(log, ["roi"]).table["value"]

    for found, control in ((test, 3 / 2), (tested, 3 / 2 - 1)):
        row = found.details.row(0, named=True)
        assert row["control_value"] == control
        assert all(math.isnan(row[name]) for name in ("value", "difference", "p"))
        assert row["verdict"] == "cannot tell"
        assert any("undefined, as a denominator is 0 or less" in n for n in found.notes)
    assert values[0] == 3 / 2 - 1
    assert math.isnan(values[1])
