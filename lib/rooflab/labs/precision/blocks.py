"""Blocks of values that share a scale: MX, NVFP4, and integers with fp16 scales.

OCP "Microscaling Formats (MX) Specification" v1.0, §6.3; NVIDIA's NVFP4, an fp32 scale a tensor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from rooflab.count import Operand
from rooflab.count.dtypes import DType, as_dtype, dtype
from rooflab.count.validation import size, unknown
from rooflab.labs.precision.formats import floats, formats, quantise

#: Each format of blocks: what counts its bits, and its elements: a format, or the largest integer.
BLOCKS: Mapping[str, tuple[str, str | int]] = {
    "mxfp8_e4m3": ("mxfp8", "fp8_e4m3"), "mxfp8_e5m2": ("mxfp8", "fp8_e5m2"),
    "mxfp6_e2m3": ("mxfp6", "fp6_e2m3"), "mxfp6_e3m2": ("mxfp6", "fp6_e3m2"),
    "mxfp4": ("mxfp4", "fp4_e2m1"), "nvfp4": ("nvfp4", "fp4_e2m1"),
    "int8": ("int8", 127), "int4": ("int4", 7),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Blocked:
    """Elements, float32 or int8, with a scale for each block, from :func:`block_quantise`.

    ``values`` are what comes back, float32. ``tensor_scale``, of nvfp4, multiplies all scales.

    >>> rl.precision.block_quantise([[1.0, 2.0, 5.0, 6.0]], "int8").scales
    array([[0.04724121]], dtype=float32)
    """

    format: str
    dtype: DType
    elements: np.ndarray
    scales: np.ndarray
    tensor_scale: float
    values: np.ndarray

    @property
    def bytes(self) -> int:
        """Bytes of the packed elements and all scales; a last, shorter block has one as well."""
        return Operand("x", self.elements.shape, self.dtype).nbytes

    @property
    def bits_a_value(self) -> float:
        """Bits of all bytes, a value."""
        return 8 * self.bytes / self.elements.size


def block_quantise(x: ArrayLike, format: str, *, group: int | str | None = None) -> Blocked:
    """Quantise ``x`` in blocks along its last axis, each with a scale.

    Parameters
    ----------
    x : array_like
        Values of any shape. An infinity or NaN makes its block's scale NaN, and so all its values.
    format : str
        "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4" (blocks of 32), "nvfp4"
        (of 16), "int8" or "int4" (symmetric, fp16 scales).
    group : int or "tensor", optional
        For integers: number of values that share a scale. By default a row does, with "tensor" all.

    Returns
    -------
    Blocked

    Examples
    --------
    >>> mx = rl.precision.block_quantise([[0.1, -0.9, 3.0, 11.0] * 8], "mxfp4")
    >>> mx.scales, mx.values[0, :4], mx.bits_a_value
    (array([[2.]], dtype=float32), array([ 0., -1.,  3., 12.], dtype=float32), 4.25)
    """
    if format not in BLOCKS:
        raise unknown("format", format, BLOCKS)
    values = floats("x", x).astype(np.float64)
    if not values.ndim or not values.size:
        raise ValueError(f"x: shape {values.shape} must have an axis, and at least one value")
    kind, element = as_dtype("format", BLOCKS[format][0]), BLOCKS[format][1]
    if kind.group and group is not None:
        raise ValueError(f"group={group!r}: {format} has blocks of its own; leave group out")
    rows = values.reshape(-1) if group == "tensor" else values
    length = rows.shape[-1]
    if group == "tensor":
        kind = replace(kind, tensor_bytes=2)
    elif not kind.group:
        kind = dtype(kind, group=size("group", length if group is None else group))
    block = kind.group or length
    short = [(0, 0)] * (rows.ndim - 1) + [(0, -length % block)]
    largest = np.pad(np.abs(rows), short).reshape(*rows.shape[:-1], -1, block).max(-1)
    scales, tensor = _scales(format, np.where(np.isfinite(largest), largest, np.nan))
    wide = np.repeat(scales * tensor, block, axis=-1)[..., :length]
    parts = np.divide(rows, wide, out=np.zeros_like(rows), where=wide > 0)
    if isinstance(element, int):
        parts = np.rint(parts).clip(-element, element)
    else:
        parts = quantise(parts, element, saturate=True)
    result = (parts * wide).astype(np.float32).reshape(values.shape)
    elements = parts.astype(np.int8 if isinstance(element, int) else np.float32)
    return Blocked(
        format, kind, elements.reshape(values.shape), scales.astype(np.float32), tensor, result
    )


def _scales(format: str, largest: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the blocks' scales from their largest magnitudes, and the tensor's."""
    element = BLOCKS[format][1]
    if isinstance(element, int):
        return quantise(largest / element, "fp16", saturate=True), 1.0
    most = formats()[element].largest
    if format == "nvfp4":
        total = largest[np.isfinite(largest)].max(initial=0)
        total = min(total, np.finfo(np.float32).max)  # so that fp32 holds the scale
        tensor = float(np.float32(total / (most * formats()["fp8_e4m3"].largest))) or 1.0
        return quantise(largest / most / tensor, "fp8_e4m3", saturate=True), tensor
    exponents = (np.frexp(largest)[1] - np.frexp(most)[1]).clip(-127, 127)  # E8M0's range
    powers = np.ldexp(1.0, np.where(largest > 0, exponents, -127))
    return np.where(np.isnan(largest), np.nan, powers), 1.0
