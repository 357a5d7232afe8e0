"""Metrics of a ranking against judgements, a module per family."""

from __future__ import annotations

from rankine._metrics.ranking._auc import AUC, LAUC
from rankine._metrics.ranking._average import AP, AR, RR, Rprec
from rankine._metrics.ranking._confusion import MCC, Accuracy, FallOut
from rankine._metrics.ranking._counts import Judged_ as Judged
from rankine._metrics.ranking._counts import (
    NumNonrelJudgedRet,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    Unjudged,
)
from rankine._metrics.ranking._cutoff import F, HitCount, P, R, Success
from rankine._metrics.ranking._cwl import BPM, INSQ, INST
from rankine._metrics.ranking._gain import CG, DCG, NCG, nDCG
from rankine._metrics.ranking._ideal import Compat
from rankine._metrics.ranking._incomplete import Bpref, gm_AP, gm_Bpref, infAP
from rankine._metrics.ranking._interpolated import ElevenPoint, IPrec, RelP, RprecMult
from rankine._metrics.ranking._levels import G, Rndcg, binG, nDCGrel
from rankine._metrics.ranking._nerr import NERR8, NERR9, NERR10, NERR11
from rankine._metrics.ranking._pairs import FCP, NDPM
from rankine._metrics.ranking._partial import PAP, PartialAUC
from rankine._metrics.ranking._sets import SetAP, SetF, SetP, SetR, SetRelP, Utility
from rankine._metrics.ranking._user import ERR, RBP, RBPResidual, RScore

__all__ = [
    "AP",
    "AR",
    "AUC",
    "BPM",
    "CG",
    "DCG",
    "ERR",
    "FCP",
    "INSQ",
    "INST",
    "LAUC",
    "MCC",
    "NCG",
    "NDPM",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "PAP",
    "RBP",
    "RR",
    "Accuracy",
    "Bpref",
    "Compat",
    "ElevenPoint",
    "F",
    "FallOut",
    "G",
    "HitCount",
    "IPrec",
    "Judged",
    "NumNonrelJudgedRet",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "PartialAUC",
    "R",
    "RBPResidual",
    "RScore",
    "RelP",
    "Rndcg",
    "Rprec",
    "RprecMult",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SetRelP",
    "Success",
    "Unjudged",
    "Utility",
    "binG",
    "gm_AP",
    "gm_Bpref",
    "infAP",
    "nDCG",
    "nDCGrel",
]
