"""Metrics of a ranking against judgements, a module per family."""

from __future__ import annotations

from rankine.ranking._auc import AUC, LAUC
from rankine.ranking._average import AP, AR, RR, Rprec
from rankine.ranking._confusion import MCC, Accuracy, FallOut
from rankine.ranking._counts import (
    Judged_,
    NumNonrelJudgedRet,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    Unjudged,
)
from rankine.ranking._cutoff import F, HitCount, P, R, Success
from rankine.ranking._gain import CG, DCG, NCG, nDCG
from rankine.ranking._incomplete import Bpref, gm_AP, gm_Bpref, infAP
from rankine.ranking._interpolated import ElevenPoint, IPrec, RelP, RprecMult
from rankine.ranking._levels import G, Rndcg, binG, nDCGrel
from rankine.ranking._pairs import FCP, NDPM
from rankine.ranking._sets import SetAP, SetF, SetP, SetR, SetRelP, Utility
from rankine.ranking._user import ERR, RBP, RBPResidual, RScore

__all__ = [
    "AP", "AR", "AUC", "CG", "DCG", "ERR", "FCP", "LAUC", "MCC", "NCG", "NDPM", "RBP",
    "RR", "Accuracy", "Bpref", "ElevenPoint", "F", "FallOut", "G", "HitCount", "IPrec",
    "Judged_", "NumNonrelJudgedRet", "NumQ", "NumRel", "NumRelRet", "NumRet", "P", "R",
    "RBPResidual", "RScore", "RelP", "Rndcg", "Rprec", "RprecMult", "SetAP", "SetF",
    "SetP", "SetR", "SetRelP", "Success", "Unjudged", "Utility", "binG", "gm_AP",
    "gm_Bpref", "infAP", "nDCG", "nDCGrel",
]  # fmt: skip
