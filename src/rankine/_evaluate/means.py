"""Means by the names of metrics, however a name is spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Means(dict[str, float]):
    """A dict from the canonical names of metrics to their numbers.

    Asked for one metric, with ``[]``, ``in`` or ``get``, it reads the name as
    `evaluate` does; otherwise it is a plain dict, in the order asked.

    >>> from rankine._metrics.names import parse
    >>> means = Means({"AP@10": 0.5}, parse)
    >>> means["MAP@10"], "map_cut.10" in means, means.get("AP", 0), means
    (0.5, True, 0, {'AP@10': 0.5})
    """

    def __init__(
        self, numbers: Mapping[str, float], read: Callable[[str], object]
    ) -> None:
        super().__init__(numbers)
        self._read = read

    def __missing__(self, key: Any) -> float:
        """Return the number of a metric that is spelled in another way."""
        label = self._label(key)
        if label is None:
            msg = f"{key} was not evaluated; the metrics are {', '.join(self)}"
            raise KeyError(msg)
        return self[label]

    def __contains__(self, key: object) -> bool:
        """Say whether a metric was evaluated."""
        return super().__contains__(key) or self._label(key) is not None

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the number of a metric, or the default if it was not evaluated."""
        try:
            return self[key]
        except KeyError:
            return default

    def _label(self, key: object) -> str | None:
        """Return the canonical name of a metric, if it was evaluated."""
        try:
            label = str(self._read(str(key)))
        except UsageError:
            return None
        return label if super().__contains__(label) else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as what it is made of."""
        return type(self), (dict(self), self._read)
