"""ctr: the click-through rate that recommendations would have had, from a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from rankine._evaluate.logs.estimate import answer
from rankine._evaluate.logs.question import Question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._evaluate.logs.estimate import Estimate, Estimates


class Options(TypedDict, total=False):
    """The arguments of `ctr` that are given by name."""

    k: int | None
    clip: float | None
    threshold: float
    shrinkage: float
    convention: str
    n: Literal["logged", "recommended"] | None
    missing_propensity: Literal["error", "items"] | None
    any_reward: bool
    columns: Mapping[str, Any] | None
    confidence: float
    method: str
    seed: int
    engine: str
    memory_limit: int | str | None


@overload
def ctr(
    logged: Any,
    recommended: Any,
    estimator: str = "matching",
    **options: Unpack[Options],
) -> Estimate: ...


@overload
def ctr(
    logged: Any,
    recommended: Any,
    estimator: list[str] | tuple[str, ...],
    **options: Unpack[Options],
) -> Estimates: ...


def ctr(
    logged: Any,
    recommended: Any,
    estimator: str | list[str] | tuple[str, ...] = "matching",
    *,
    k: int | None = None,
    clip: float | None = None,
    threshold: float = 10.0,
    shrinkage: float = 10.0,
    convention: str = "rankine",
    n: Literal["logged", "recommended"] | None = None,
    missing_propensity: Literal["error", "items"] | None = None,
    any_reward: bool = False,
    columns: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    method: str = "t",
    seed: int = 0,
    engine: str = "auto",
    memory_limit: int | str | None = None,
) -> Estimate | Estimates:
    """Estimate the click-through rate of recommendations from a log of another policy.

    Formula:
        w = pi(a|x) / p, where a is the item that was shown to x with probability p, and
        pi is the probability that the recommendations show it: 1/k for each of k items,
        or the given one; r is the reward, r' its prediction for a, and q the predicted
        reward of the recommendations

        matching    mean r over rounds in which the item shown is recommended
        ips         1/n sum w r
        snips       sum w r / sum w
        dm          1/n sum q
        dr          1/n sum [ q + w (r - r') ]
        sndr        1/n sum q + sum w (r - r') / sum w
        switch-dr   as dr, w = 0 where it is above `threshold`
        dros        as dr, with s w / (w^2 + s), s the `shrinkage`

    Args:
        logged: a frame, a path, an iterator of frames or record batches, or what
            `read_table` returns, with the columns item_id, click (or reward),
            propensity (or propensity_score, pscore), and user_id and position if there
            are any.
        recommended: the same with item_id, user_id, and, as needed, predicted (the
            reward model's value), probability (of the policy), position. Without
            user_id, everyone is recommended the same.
        estimator: one of the above; or a list or tuple of them, to read and join the
            tables only once.
        k: use only the first k items of each list, the best predicted first.
        clip: the largest 1/p; larger ones are cut to it, which trades variance for
            bias.
        threshold: the threshold of switch-dr.
        shrinkage: the shrinkage of dros.
        convention: ``rankine``, or ``jurity``, which averages over recommended pairs
            and uses a propensity of 1/items if there is none.
        n: whether the mean is over ``logged`` rounds or ``recommended`` pairs; a pair
            that was logged several times then counts that many times.
        missing_propensity: without such a column, an ``error``, or one over the number
            of different items in the log (``items``).
        any_reward: allow rewards other than 0 and 1.
        columns: part -> column, if names are not recognised: its name, or its number
            from 1; "-" if there is none.
        confidence: the confidence level of the interval.
        method: ``t`` or ``bootstrap`` over the contributions of the rounds (linearised
            for ratios).
        seed: the seed of the bootstrap.
        engine: how the log is read: ``memory``, at once; ``stream``, in parts, so that
            it may be larger than memory, and only matching rounds are kept; or
            ``auto``, in parts if it would not fit, as a note then says. Recommendations
            are always kept in memory. Numbers are the same.
        memory_limit: the memory that the process may use while the log is read in
            parts, as ``"1GB"`` or a number of bytes; half of what is free if not given.

    Returns:
        The estimate with its interval, the effective sample size, the largest weight,
        and warnings; nan, with the reason, if nothing matches. For a list of
        estimators, even of one, `Estimates`: an estimate by each name.

    Raises:
        ParameterError: an option is not valid.
        DataError: a propensity is 0 or not a probability, rewards are not 0 or 1,
            probabilities do not add up to 1, or a column is missing.

    References:
        M. Dudik, J. Langford, L. Li: Doubly robust policy evaluation and learning.
        ICML 2011. A. Swaminathan, T. Joachims: The self-normalized estimator for
        counterfactual learning. NIPS 2015. Y.-X. Wang, A. Agarwal, M. Dudik: Optimal
        and adaptive off-policy evaluation in contextual bandits. ICML 2017. Y. Su et
        al.: Doubly robust off-policy evaluation with shrinkage. ICML 2020.

    Examples:
        >>> import polars as pl
        >>> logged = pl.DataFrame(
        ...     {
        ...         "user_id": [1, 2, 3, 4],
        ...         "item_id": ["a", "b", "a", "c"],
        ...         "click": [1, 0, 1, 0],
        ...         "propensity": [0.5, 0.25, 0.5, 0.25],
        ...     }
        ... )
        >>> recommended = pl.DataFrame(
        ...     {"user_id": [1, 2, 3, 4], "item_id": ["a", "b", "b", "c"]}
        ... )
        >>> ctr(logged, recommended, "ips").value, (1 / 0.5) / 4
        (0.5, 0.5)
        >>> ctr(logged, recommended, ["ips", "snips"])
        Estimates(ips=0.5000, snips=0.2000)
    """
    asked = Question(
        estimator, k=k, clip=clip, threshold=threshold, shrinkage=shrinkage,
        convention=convention, n=n, missing_propensity=missing_propensity,
        any_reward=any_reward, columns=columns, confidence=confidence, method=method,
        seed=seed, engine=engine, memory_limit=memory_limit,
    )  # fmt: skip
    return answer(asked.rounds(logged, recommended), asked)
