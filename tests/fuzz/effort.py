"""How many cases are generated: few in every run of the tests, many in make fuzz."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

TIMES = int(os.environ.get("RANKINE_FUZZ", "1"))
"""By how much there are more cases than in a run of the tests."""


def cases(n: int) -> settings:
    """Return settings for a property that is checked on so many cases."""
    return settings(
        max_examples=n * TIMES,
        deadline=None,
        derandomize=TIMES == 1,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
