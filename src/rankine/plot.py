"""Altair charts of data, besides those that results have themselves.

    import rankine as rk

    rk.plot.calibration(y, p)
    cmp.plot("forest"), ev.plot("curve")

They need the extra ``report``.
"""

from __future__ import annotations

from rankine._report.curves import calibration, examination

__all__ = ["calibration", "examination"]
