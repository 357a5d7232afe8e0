"""A stand-in for tensors of torch, which the tests do not install."""

from __future__ import annotations

from typing import Any

import numpy as np


class Tensor:
    """A tensor with a gradient, of which NumPy makes no array by itself."""

    def __init__(
        self, values: Any, device: str = "cpu", layout: str = "strided"
    ) -> None:
        self.values = np.asarray(values)
        self.device = type(
            "Device", (), {"type": device, "__str__": lambda _: device}
        )()
        self.layout = f"torch.{layout}"
        self.detached = False

    def detach(self) -> Tensor:
        self.detached = True
        return self

    def is_floating_point(self) -> bool:
        return self.values.dtype.kind == "f"

    def is_complex(self) -> bool:
        return self.values.dtype.kind == "c"

    def double(self) -> Tensor:
        self.values = self.values.astype(np.float64)
        return self

    def numpy(self) -> Any:
        assert self.detached  # as torch wants it of what has a gradient
        return self.values

    def __array__(self, *_: Any, **__: Any) -> Any:
        msg = "Can't call numpy() on Tensor that requires grad."
        raise RuntimeError(msg)


Tensor.__module__ = "torch"
