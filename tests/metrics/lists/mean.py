"""The one number of an evaluation."""

from __future__ import annotations

from typing import Any

import rankine as rk


def one(*args: Any, **more: Any) -> float:
    (value,) = rk.evaluate(*args, **more).mean.values()
    return value
