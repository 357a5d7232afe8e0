"""Means by the names of metrics, in any spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Means(dict[str, float]):
    """A dict from the names of metrics, as the user wrote them, to their numbers.

    With ``[]``, ``in`` and ``get``, it reads names as `evaluate` does; otherwise it is
    a plain dict, in the order of the metrics.

    >>> from rankine._metrics.names import parse
    >>> means = Means({"MAP@10": 0.5}, parse, {"AP@10": "MAP@10"})
    >>> means["AP@10"], "map_cut.10" in means, means.get("AP", 0), means
    (0.5, True, 0, {'MAP@10': 0.5})
    """

    def __init__(
        self,
        numbers: Mapping[str, float],
        read: Callable[[str], object],
        by_name: Mapping[str, str],
    ) -> None:
        super().__init__(numbers)
        self._read, self._by_name = read, dict(by_name)

    def __missing__(self, key: Any) -> float:
        """Return the number of a metric under another spelling of its name."""
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
        """Return the name that the user gave a metric, if it was evaluated."""
        try:
            name = str(self._read(str(key)))
        except UsageError:
            return None
        label = self._by_name.get(name)
        return label if super().__contains__(label) else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the parts."""
        return type(self), (dict(self), self._read, self._by_name)
