"""Charts of what is not a result with charts of its own, for Altair.

    import rankine as rk

    rk.plot.calibration(y, p)
    cmp.plot("forest"), ev.plot("curve")

The extra ``report`` has what they need.
"""

from __future__ import annotations

from rankine._report.curves import calibration, examination

__all__ = ["calibration", "examination"]
