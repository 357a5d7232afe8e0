"""Tensors of torch, which is never imported."""

from __future__ import annotations

from typing import Any

from rankine.errors import FormatError


def off_torch(values: Any) -> Any:
    """Use a tensor on the CPU as an array, without its gradient; leave all else.

    Tensors elsewhere are never copied silently. NumPy lacks some types of floats that
    torch has, such as bfloat16; all become float64, which holds them exactly.
    """
    if type(values).__module__.split(".")[0] != "torch":
        return values
    if values.device.type != "cpu":
        msg = (
            f"the tensor is on {values.device}; copy it with .cpu() if that is what "
            "you want"
        )
        raise FormatError(msg)
    if getattr(values, "is_nested", False):
        msg = "the tensor is nested; pass its rows as lists, [x.tolist() for x in rows]"
        raise FormatError(msg)
    if str(values.layout) != "torch.strided":
        msg = f"the tensor is {values.layout}; make it dense with .to_dense()"
        raise FormatError(msg)
    if values.is_complex():
        msg = "the tensor holds complex numbers; expected floats or ints"
        raise FormatError(msg)
    values = values.detach()
    return (values.double() if values.is_floating_point() else values).numpy()
