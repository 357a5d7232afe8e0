"""The array types that the whole package uses, and a test of all values."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""One float64 per row or per query."""

Ints: TypeAlias = NDArray[np.int64]
"""One int64 per row or per query."""

Bools: TypeAlias = NDArray[np.bool_]
"""One truth value per row or per query."""

Bytes: TypeAlias = NDArray[np.uint8]
"""Eight bits each."""

AnyArray: TypeAlias = NDArray[Any]
"""An array whose type is the user's."""

_HANDFUL = 16
"""Values that Python looks at sooner than NumPy."""


def all_true(values: AnyArray) -> bool:
    """Say whether no value is 0 or False; for few values, 10 times as fast as ``all``.

    >>> all_true(np.array([1.0, 2.0])), all_true(np.array([1.0, 0.0]))
    (True, False)
    """
    if len(values) <= _HANDFUL:
        return all(values.tolist())
    return bool(np.count_nonzero(values) == len(values))
