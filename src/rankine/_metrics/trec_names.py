"""trec_eval's measures: names, parameters, and the order in which they are printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rankine._metrics.metric import Metric
from rankine._metrics.ranking._interpolated import LEVELS
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

_RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True)
class Family:
    """A measure of trec_eval and the metrics that it stands for.

    Attributes:
        name: trec_eval's name.
        metric: the metric without the parameters.
        cutoffs: the cutoffs that are printed when none are given.
        kind: how a value is printed.
        read: how other parameters are read, None if there are none.
        per_query: whether it is printed for single queries.
        since: the first version that has it.
        judged: the judgements that it needs: a grade per item, those of several judges,
            whose values are averaged, or preferences, for which there is no metric.
    """

    name: str
    metric: str = ""
    params: tuple[tuple[str, Any], ...] = ()
    cutoffs: tuple[float, ...] = ()
    kind: Literal["float", "int"] = "float"
    read: Callable[[str], dict[str, Any]] | None = None
    per_query: bool = True
    since: int = 9
    judged: Literal["grades", "judges", "preferences"] = "grades"

    def expand(self, text: str) -> list[tuple[str, Metric]]:
        """Return the printed name and the metric of each cutoff, or of the whole."""
        base = Metric(self.metric, self.params)
        if self.cutoffs:
            return [
                (f"{self.name}_{self._shown(cut)}", base @ cut)
                for cut in self._cutoffs(text)
            ]
        if not text:
            return [(self.name, base)]
        if self.read is None:
            raise self.without_parameters(text)
        return [(f"{self.name}_{text}", base(**self.read(text)))]

    def without_parameters(self, text: str) -> ParameterError:
        """Say that it has no parameters."""
        return ParameterError(f"{self.name} takes no parameters, got {text!r}")

    @property
    def _whole(self) -> bool:
        return isinstance(self.cutoffs[0], int)

    def _shown(self, cut: float) -> str:
        return f"{cut}" if self._whole else f"{cut:3.2f}"

    def _cutoffs(self, text: str) -> tuple[float, ...]:
        if not text:
            return self.cutoffs
        try:
            # trec_eval reads whole numbers with atol, which stops at the point.
            cutoffs: list[float] = [
                int(float(part)) if self._whole else float(part)
                for part in text.split(",")
            ]
        except (ValueError, OverflowError):
            msg = f"{self.name} takes cutoffs such as {self.name}.5,10, got {text!r}"
            raise ParameterError(msg) from None
        return tuple(sorted(set(cutoffs)))


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        msg = f"expected numbers separated by commas, got {text!r}"
        raise ParameterError(msg) from None


def _pairs(text: str) -> dict[str, float]:
    try:
        return {
            key: float(value)
            for key, value in (part.split("=") for part in text.split(","))
        }
    except ValueError:
        msg = f"expected pairs such as 1=0.5,2=1, got {text!r}"
        raise ParameterError(msg) from None


def _gain(text: str) -> dict[str, Any]:
    try:
        return {"gain": {int(key): value for key, value in _pairs(text).items()}}
    except (ValueError, OverflowError):
        msg = f"expected pairs of grade and gain such as 1=0.5,2=1, got {text!r}"
        raise ParameterError(msg) from None


def _only(name: str) -> Callable[[str], dict[str, Any]]:
    return lambda text: {name: _numbers(text)[0]}


def _p(text: str) -> dict[str, Any]:
    pairs = _pairs(text)
    if set(pairs) != {"p"}:
        msg = f"rbp takes p=NUMBER, got {text!r}"
        raise ParameterError(msg)
    return pairs


_ALL = (
    Family("num_q", "NumQ", kind="int", per_query=False),
    Family("num_ret", "NumRet", kind="int"),
    Family("num_rel", "NumRel", kind="int"),
    Family("num_rel_ret", "NumRelRet", kind="int"),
    Family("map", "AP"),
    Family("gm_map", "gm_AP", per_query=False),
    Family("Rprec", "Rprec"),
    Family("bpref", "Bpref"),
    Family("recip_rank", "RR"),
    Family("iprec_at_recall", "IPrec", cutoffs=LEVELS),
    Family("P", "P", cutoffs=_RANKS),
    Family("recall", "R", cutoffs=_RANKS),
    Family("infAP", "infAP"),
    Family("gm_bpref", "gm_Bpref", per_query=False),
    Family("Rprec_mult", "RprecMult", cutoffs=_MULTIPLES),
    Family("utility", "Utility", read=lambda text: {"weights": _numbers(text)}),
    Family("11pt_avg", "11pt", read=lambda text: {"levels": _numbers(text)}),
    Family("binG", "binG"),
    Family("G", "G", read=_gain),
    Family("dcg", "DCG", read=_gain, since=10),
    Family("ndcg", "nDCG", read=_gain),
    Family("ndcg_rel", "nDCGrel", read=_gain),
    Family("Rndcg", "Rndcg", read=_gain),
    Family("ndcg_cut", "nDCG", cutoffs=_RANKS),
    Family("map_cut", "AP", cutoffs=_RANKS),
    Family("relative_P", "RelP", cutoffs=_RANKS),
    Family("success", "Success", cutoffs=(1, 5, 10)),
    Family("set_P", "SetP"),
    Family("set_relative_P", "SetRelP"),
    Family("set_recall", "SetR"),
    Family("set_map", "SetAP"),
    Family("set_F", "SetF", read=_only("beta")),
    Family("num_nonrel_judged_ret", "NumNonrelJudgedRet", kind="int"),
    Family("rbp", "RBP", (("p", 0.9), ("gain", "scaled")), read=_p, since=10),
    Family(
        "rbp_resid",
        "RBPResidual",
        (("p", 0.9), ("tail", "with_unjudged")),
        read=_p,
        since=10,
    ),
    Family("unj", "Unjudged", cutoffs=(5, 10, 20), since=10),
)

_OF_GROUPS = (
    *(
        Family(f"prefs_num_prefs_{name}", kind="int", judged="preferences")
        for name in ("poss", "ful", "ful_ret")
    ),
    *(
        Family(f"prefs_{name}", judged="preferences")
        for name in (
            "simp", "pair", "avgjg", "avgjg_Rnonrel", "simp_ret", "pair_ret",
            "avgjg_ret", "avgjg_Rnonrel_ret", "simp_imp", "pair_imp", "avgjg_imp",
        )
    ),
    Family("map_avgjg", "AP", judged="judges"),
    Family("P_avgjg", "P", cutoffs=_RANKS, judged="judges"),
    Family("Rprec_mult_avgjg", "RprecMult", cutoffs=_MULTIPLES, judged="judges"),
)  # fmt: skip

FAMILIES = {family.name: family for family in _ALL}
"""Every measure of grades, in the order in which trec_eval prints them."""

GROUPED = {family.name: family for family in _OF_GROUPS}
"""Every measure of judgements in groups, in the same order."""

NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": (
        "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref",
        "recip_rank", "iprec_at_recall", "P",
    ),
    "set": (
        "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P",
        "set_relative_P", "set_recall", "set_map", "set_F",
    ),
    "all_trec": tuple(name for name in FAMILIES if name != "dcg"),
}  # fmt: skip
"""What one word stands for; runid and relstring are added where they are printed."""

GROUPED_NICKNAMES: dict[str, tuple[str, ...]] = {
    "all_prefs": ("num_q", *(x.name for x in _OF_GROUPS if not x.metric)),
    "prefs": ("num_q", *list(GROUPED)[:6]),
    "qrels_jg": ("num_q", *(x.name for x in _OF_GROUPS if x.metric)),
}
"""The same for judgements in groups."""

ORDER = ("runid", *list(FAMILIES)[:11], "relstring", *list(FAMILIES)[11:], *GROUPED)
"""trec_eval prints its measures in this order, whatever order was asked for."""


def label(metric: Metric) -> str | None:
    """Return the name under which trec_eval prints a metric, if it has one."""
    for family in _ALL:
        if family.metric != metric.name:
            continue
        base = Metric(family.metric, family.params)
        cutoff = metric.fact.at
        cut = metric.get(cutoff) if cutoff and metric.binds(cutoff) else None
        if family.cutoffs and cut is not None and base @ cut == metric:
            return family.expand(str(cut))[0][0]
        if not family.cutoffs and base == metric:
            return family.name
    return None
