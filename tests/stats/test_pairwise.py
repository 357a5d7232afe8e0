"""Every pair of systems: numbers against scipy and against arithmetic."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

from rankine import stats
from rankine._base.arrays import Floats
from rankine._stats.pairwise import TESTS, TUKEY, Pairwise, Settings, compare_values
from rankine.errors import ParameterError

NAN = math.nan
SIMPLE = [test for test in TESTS if test not in TUKEY]


def some(n_systems: int = 4, n: int = 30, seed: int = 5) -> Floats:
    """Return values of one metric, by system and query; later systems are better."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 1, n)
    noise = rng.normal(0, 1, (n_systems, n)) * (1 + np.arange(n_systems))[:, None]
    return hard + noise + 0.4 * np.arange(n_systems)[:, None]


def compared(values: Any, test: str = "t", **options: Any) -> Pairwise:
    """Compare systems under one metric, or under several."""
    array = np.asarray(values, dtype=np.float64)
    array = array[None] if array.ndim == 2 else array
    fields = {
        name: options.pop(name)
        for name in ("correction", "family", "confidence", "draws", "seed")
        if name in options
    }
    settings = Settings(test, **{"draws": 2000, **fields})
    settings.check(weighted=options.get("weights") is not None)
    return compare_values(array, settings, **options)


def holm(p: list[float]) -> list[float]:
    """Holm's correction, one step after another."""
    corrected = [0.0] * len(p)
    largest = 0.0
    for step, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, p[place] * (len(p) - step))
        corrected[place] = min(largest, 1)
    return corrected


def test_every_two_are_compared_the_earlier_one_first() -> None:
    found = compared(some(4))

    assert list(zip(found.a.tolist(), found.b.tolist(), strict=True)) == [
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3),
    ]  # fmt: skip


@pytest.mark.parametrize("test", SIMPLE)
def test_a_baseline_is_the_first_of_every_pair(test: str) -> None:
    found = compared(some(4), test, baseline=2)

    assert found.a.tolist() == [2, 2, 2]
    assert found.b.tolist() == [0, 1, 3]


@pytest.mark.slow
@pytest.mark.parametrize("test", TUKEY)
def test_tukey_compares_every_two_even_with_a_baseline(test: str) -> None:
    values = some(4)

    found, without = compared(values, test, baseline=2), compared(values, test)

    assert found.a.tolist() == [0, 0, 0, 1, 1, 2]
    assert found.b.tolist() == [1, 2, 3, 2, 3, 3]
    assert found.p.tolist() == without.p.tolist()


def test_metrics_come_one_after_another() -> None:
    found = compared(np.stack([some(3), -some(3)]))

    assert found.metric.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.difference[3:].tolist() == (-found.difference[:3]).tolist()


def test_a_difference_is_that_of_the_second_from_the_first() -> None:
    a, b = [0.1, 0.5, 0.5, 0.9], [0.3, 0.4, 0.5, 1.0]

    found = compared([a, b])

    assert found.difference == pytest.approx([(0.2 - 0.1 + 0 + 0.1) / 4])
    assert [found.wins[0], found.ties[0], found.losses[0]] == [2, 1, 1]
    assert [found.n[0], found.n_moved[0]] == [4, 3]
    assert found.superiority == pytest.approx([2 / 4 + 1 / 4 / 2])


def test_what_differs_by_rounding_is_a_tie() -> None:
    found = compared([[0.3, 0.1, 0.2], [0.1 + 0.2, 0.1 + 2e-12, 0.2 - 5e-13]])

    assert [found.wins[0], found.ties[0], found.losses[0]] == [1, 2, 0]


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign"])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_interval_is_students_whatever_the_test(
    test: str, confidence: float
) -> None:
    values = some(3)

    found = compared(values, test, confidence=confidence)

    for place, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        expected = scipy.stats.ttest_rel(values[b], values[a])
        low, high = expected.confidence_interval(confidence)
        assert found.low[place] == pytest.approx(low)
        assert found.high[place] == pytest.approx(high)


def test_the_interval_of_the_bootstrap_is_studentised() -> None:
    # Of chance: a bound is as far from the mean as a quantile of resampled t, turned
    # round. Differences with a long tail to the right reach further to the right.
    rng = np.random.default_rng(3)
    d = rng.exponential(1, 40) - 0.5
    error = d.std(ddof=1) / math.sqrt(40)

    found = compared([np.zeros(40), d], "bootstrap", draws=20_000)

    chosen = d[rng.integers(0, 40, (20_000, 40))]
    mean, spread = chosen.mean(axis=1), chosen.std(axis=1, ddof=1) / math.sqrt(40)
    t = (mean - d.mean()) / spread
    low, high = d.mean() - np.quantile(t, [0.975, 0.025]) * error
    extreme = np.abs(t) >= abs(d.mean() / error)
    assert found.low[0] == pytest.approx(low, abs=error / 10)
    assert found.high[0] == pytest.approx(high, abs=error / 10)
    assert found.high[0] - d.mean() > 1.2 * (d.mean() - found.low[0])
    assert found.p[0] == pytest.approx((1 + extreme.sum()) / 20_001, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("test", TUKEY)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_of_tukey_hold_together(test: str, confidence: float) -> None:
    values = some(4, n=20)
    left = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0)
    residual = ((left + values.mean()) ** 2).sum() / ((4 - 1) * (20 - 1))
    reach = scipy.stats.studentized_range.ppf(confidence, 4, 3 * 19)
    reach *= math.sqrt(residual / 20)

    found = compared(values, test, confidence=confidence)

    means = values.mean(axis=1)
    difference = means[found.b] - means[found.a]
    assert found.difference == pytest.approx(difference)
    assert found.low == pytest.approx(difference - reach)
    assert found.high == pytest.approx(difference + reach)
    assert found.effect == pytest.approx(difference / math.sqrt(residual))


def test_tukeys_p_is_that_of_the_studentised_range() -> None:
    values = some(3, n=12)
    left = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0)
    residual = ((left + values.mean()) ** 2).sum() / (2 * 11)

    found = compared(values, "tukey_hsd")

    ranges = np.abs(found.difference) / math.sqrt(residual / 12)
    assert found.p == pytest.approx(scipy.stats.studentized_range.sf(ranges, 3, 22))


@pytest.mark.parametrize("test", SIMPLE)
def test_the_effect_is_cohens_dz(test: str) -> None:
    d = np.array([0.3, -0.1, 0.2, 0.4])

    found = compared([np.zeros(4), d], test)

    mean = 0.8 / 4
    squares = 0.1**2 + 0.3**2 + 0 + 0.2**2
    assert found.effect == pytest.approx([mean / math.sqrt(squares / 3)])
    assert found.deviation == pytest.approx([math.sqrt(squares / 3)])
    assert found.error == pytest.approx([math.sqrt(squares / 3 / 4)])


@pytest.mark.parametrize("test", SIMPLE)
def test_p_values_are_those_of_the_functions(test: str) -> None:
    a, b, c = some(3)
    draws = {"draws": 2000} if test in {"randomization", "bootstrap"} else {}

    found = compared([a, b, c], test)

    function = getattr(stats, test)
    expected = [function(*pair, **draws).pvalue for pair in ((a, b), (a, c), (b, c))]
    assert found.p == pytest.approx(expected)


def test_all_flips_are_gone_through_where_they_are_few() -> None:
    # Of 2^3 flips, +++ and --- alone are as extreme; the tie has no sign to flip.
    found = compared([[0, 0, 0, 0], [0.1, 0.2, 0.3, 0]], "randomization", draws=8)

    assert found.p.tolist() == [2 / 8]


@pytest.mark.parametrize("test", SIMPLE)
def test_a_pair_uses_the_queries_both_have(test: str) -> None:
    values = some(3)
    values[0, :4] = NAN
    values[1, 20:25] = NAN

    found = compared(values, test)

    assert found.n.tolist() == [30 - 4 - 5, 30 - 4, 30 - 5]
    for place, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        both = ~np.isnan(values[a]) & ~np.isnan(values[b])
        d = values[b, both] - values[a, both]
        assert found.difference[place] == pytest.approx(d.mean())
        assert found.effect[place] == pytest.approx(d.mean() / d.std(ddof=1))
        assert found.wins[place] + found.losses[place] == both.sum()
        if test == "t":
            expected = scipy.stats.ttest_1samp(d, 0).pvalue
            assert found.p[place] == pytest.approx(expected)


def test_tukey_leaves_out_queries_that_a_system_lacks() -> None:
    values = some(3)
    values[2, :6] = NAN

    found, expected = (
        compared(values, "tukey_hsd"),
        compared(values[:, 6:], "tukey_hsd"),
    )

    assert found.p.tolist() == expected.p.tolist()
    assert found.low.tolist() == expected.low.tolist()


@pytest.mark.parametrize("test", TUKEY)
def test_tukeys_interval_is_around_the_difference(test: str) -> None:
    # Where all have a value, b is better; where c has none, b is far worse.
    a = [0.0, 0.1, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0]
    b = [1.0, 1.0, 1.1, 1.0, -4.0, -4.0, -4.0, -4.0]
    c = [0.0, 0.0, 0.1, 0.1, NAN, NAN, NAN, NAN]

    found = compared([a, b, c], test)

    assert (found.low <= found.difference).all()
    assert (found.difference <= found.high).all()


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap"])
def test_weights_count_a_query_more(test: str) -> None:
    d = np.array([0.4, -0.2, 0.1, 0.3, -0.1])
    w = np.array([1.0, 2.0, 3.0, 1.0, 3.0])

    found = compared([np.zeros(5), d], test, weights=w)

    mean = (0.4 - 0.4 + 0.3 + 0.3 - 0.3) / 10
    centred = w * (d - mean) / (10 / 5)
    error = math.sqrt((centred**2).sum() / 4 / 5)
    assert found.difference == pytest.approx([mean])
    assert found.error == pytest.approx([error])
    if test != "bootstrap":
        reach = scipy.stats.t.ppf(0.975, 4) * error
        assert found.low == pytest.approx([mean - reach])
        assert found.high == pytest.approx([mean + reach])
    if test == "t":
        expected = 2 * scipy.stats.t.sf(mean / error, 4)
        assert found.p == pytest.approx([expected])


def test_flips_act_on_weighted_differences() -> None:
    # w d = 0.6, 0.1, -0.2: of 8 flips, |sum| >= 0.5 holds for all but
    # 0.6 - 0.1 - 0.2 = 0.3 and its mirror image.
    weights = np.array([3.0, 1.0, 2.0])

    found = compared([[0, 0, 0], [0.2, 0.1, -0.1]], "randomization", weights=weights)

    assert found.p.tolist() == [6 / 8]


def test_weights_of_unpaired_queries_do_not_count() -> None:
    values = [[0, 0, 0, NAN], [0.2, 0.1, -0.1, 0.9]]

    found = compared(values, weights=np.array([3.0, 1.0, 2.0, 50.0]))

    assert found.difference == pytest.approx([(0.6 + 0.1 - 0.2) / 6])


@pytest.mark.parametrize("test", SIMPLE)
def test_holm_corrects_the_pairs_of_a_metric(test: str) -> None:
    values = np.stack([some(3), some(3, seed=6)])

    found = compared(values, test)

    p = found.p.tolist()
    assert found.p_corrected == pytest.approx(holm(p[:3]) + holm(p[3:]))


def test_holm_corrects_all_pairs_of_all_metrics() -> None:
    values = np.stack([some(3), some(3, seed=6)])

    found = compared(values, family="all")

    assert found.p_corrected == pytest.approx(holm(found.p.tolist()))
    assert max(found.p_corrected / found.p) > 3


def test_other_corrections() -> None:
    values = some(3)

    plain = compared(values, correction="none")
    bonferroni = compared(values, correction="bonferroni")
    bh = compared(values, correction="bh")

    assert plain.p_corrected.tolist() == plain.p.tolist()
    assert bonferroni.p_corrected == pytest.approx(np.minimum(3 * plain.p, 1))
    expected = scipy.stats.false_discovery_control(plain.p)
    assert bh.p_corrected == pytest.approx(expected)


def test_a_pair_without_a_p_value_is_no_hypothesis() -> None:
    values = some(3)
    values[0, 1:] = NAN  # one query has no spread

    found = compared(values)

    assert np.isnan(found.p_corrected[:2]).all()
    assert found.p_corrected[2] == pytest.approx(found.p[2])
    assert found.verdicts[:2] == ("cannot tell", "cannot tell")


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "maxt"])
@pytest.mark.parametrize("weights", [None, np.arange(1.0, 31.0)])
def test_a_pair_without_a_query_stays_undefined(
    correction: str, weights: Floats | None
) -> None:
    values = some(3)
    values[0] = NAN

    found = compared(values, "randomization", correction=correction, weights=weights)

    assert np.isnan(found.p_corrected[:2]).all()
    assert np.isnan(found.difference[:2]).all()
    assert found.p_corrected[2] > 0


@pytest.mark.parametrize("baseline", [None, 1])
def test_maxt_is_that_of_the_function(baseline: int | None) -> None:
    values = some(4)

    found = compared(
        values, "randomization", correction="maxt", baseline=baseline, seed=3
    )

    expected = stats.maxt(*values, baseline=baseline, draws=2000, seed=3).pvalue
    assert found.p_corrected == pytest.approx(expected[found.a, found.b])
    assert not np.isnan(found.p_corrected).any()


def test_maxt_of_all_metrics_is_one_family() -> None:
    # Two metrics that are the same number: nothing more to correct for.
    values = some(3)

    alone = compared(values, "randomization", correction="maxt")
    twice = compared(
        np.stack([values, values]), "randomization", correction="maxt", family="all"
    )
    other = compared(
        np.stack([values, some(3, seed=6)]),
        "randomization", correction="maxt", family="all",
    )  # fmt: skip

    assert twice.p_corrected[:3].tolist() == alone.p_corrected.tolist()
    assert (other.p_corrected[:3] >= alone.p_corrected).all()
    assert (other.p_corrected[:3] > alone.p_corrected).any()


@pytest.mark.parametrize("test", TUKEY)
def test_tukey_is_corrected_already(test: str) -> None:
    found = compared(some(4), test, correction="holm")

    assert found.p_corrected.tolist() == found.p.tolist()


def test_permutations_never_give_a_p_value_of_0() -> None:
    values = np.array([[0.0], [1.0]]) + np.linspace(0, 1, 30)

    found = compared(values, "randomized_tukey_hsd", draws=99)

    assert found.p.tolist() == [1 / (1 + 99)]


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
def test_the_same_seed_gives_the_same_bits(test: str) -> None:
    values = some(3)

    first, again = compared(values, test, seed=4), compared(values, test, seed=4)
    other = compared(values, test, seed=5)

    assert first.p.tobytes() == again.p.tobytes()
    assert first.low.tobytes() == again.low.tobytes()
    drawn = test in {"randomization", "bootstrap", "randomized_tukey_hsd"}
    assert (first.p.tobytes() != other.p.tobytes()) == drawn


@pytest.mark.parametrize("test", [*SIMPLE, "tukey_hsd"])
def test_without_any_difference_nothing_is_told(test: str) -> None:
    same = np.linspace(0, 1, 12)

    found = compared([same, same], test, margins=np.array([0.1]))

    assert found.p.tolist() == [1]
    assert found.difference.tolist() == [0]
    assert found.effect.tolist() == [0]
    assert found.superiority.tolist() == [0.5]
    assert found.verdicts == ("cannot tell",)  # no difference is not ten of them


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"test": "u"}, "test must be one of randomization, t"),
        ({"test": "t", "correction": "maxt"}, "needs test='randomization', not 't'"),
        ({"test": "tukey_hsd", "correction": "maxt"}, "needs test='randomization'"),
        ({"test": "tukey_hsd", "correction": "bonferroni"}, "already corrects for all"),
        (
            {"test": "randomized_tukey_hsd", "correction": "bh"},
            "already corrects for all",
        ),
        ({"correction": "holms"}, "did you mean 'holm'"),
        ({"family": "some"}, "family must be one of metric, all, got 'some'"),
        ({"confidence": 1.0}, "confidence must be a number above 0 and below 1"),
        ({"draws": 0}, "draws must be an integer of at least 1, got 0"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    fields: dict[str, Any], message: str
) -> None:
    settings = Settings(**fields)

    with pytest.raises(ParameterError, match=message):
        settings.check()


@pytest.mark.parametrize("test", ["wilcoxon", "sign", *TUKEY])
def test_tests_without_weights_refuse_them(test: str) -> None:
    message = f"test='{test}' takes no weights; tests that do are randomization, t, b"

    with pytest.raises(ParameterError, match=message):
        Settings(test).check(weighted=True)
