"""Blocks of values that share a scale: MX, NVFP4, and integers with fp16 scales.

Sources: OCP "Microscaling Formats (MX) Specification" v1.0, §5 and §6.3 (32 elements; the scale is
the power of two floor(log2 of the largest magnitude) less the element's largest exponent; elements
saturate); NVIDIA's NVFP4 (16 elements of E2M1, an E4M3 scale each, an fp32 scale a tensor).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from rooflab.count import Operand
from rooflab.count.dtypes import DType, as_dtype, dtype
from rooflab.count.validation import size, unknown
from rooflab.labs.precision.formats import formats
from rooflab.labs.precision.rounding import floats, quantise

#: Each format of blocks: what counts its bits, and the format of its elements.
BLOCKS: Mapping[str, tuple[str, str]] = {
    "mxfp8_e4m3": ("mxfp8", "fp8_e4m3"), "mxfp8_e5m2": ("mxfp8", "fp8_e5m2"),
    "mxfp6_e2m3": ("mxfp6", "fp6_e2m3"), "mxfp6_e3m2": ("mxfp6", "fp6_e3m2"),
    "mxfp4": ("mxfp4", "fp4_e2m1"), "nvfp4": ("nvfp4", "fp4_e2m1"),
    "int8": ("int8", "int8"), "int4": ("int4", "int4"),
}  # fmt: skip
LIMITS = {"int8": 127, "int4": 7}
FP16_LARGEST = 65504.0


@dataclass(frozen=True, eq=False)
class Blocked:
    """Values as elements with shared scales, from :func:`block_quantise`.

    ``elements`` has the shape of what was quantised: float32, or int8 for integers. ``scales`` has
    one for every block of ``dtype.group`` along the last axis. ``tensor_scale``, which is not 1
    for nvfp4 alone, multiplies all of them.

    >>> rl.precision.block_quantise([[1.0, 2.0, 5.0, 6.0]], "int8").scales
    array([[0.04724121]], dtype=float32)
    """

    format: str
    dtype: DType
    elements: np.ndarray
    scales: np.ndarray
    tensor_scale: float = 1.0

    @property
    def values(self) -> np.ndarray:
        """The values that come back, elements times scales, as float32."""
        scales = self.scales.astype(np.float64) * self.tensor_scale
        if scales.shape[-1] > 1:
            scales = _spread(scales, self.dtype.group or 1, self.elements.shape[-1])
        return (self.elements * scales).astype(np.float32)

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
        Values of any shape. A block with an infinity or NaN in it gets the scale NaN, so that all
        its values are NaN.
    format : str
        "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4" (blocks of 32), "nvfp4"
        (blocks of 16), "int8" or "int4" (symmetric, with fp16 scales).
    group : int or "tensor", optional
        For integers: number of values that share a scale. By default a row does, with "tensor" all.

    Returns
    -------
    Blocked
        Elements, scales, the values that come back, and bytes.

    Examples
    --------
    >>> x = [[0.1, -0.9, 3.0, 11.0] * 8]
    >>> mx = rl.precision.block_quantise(x, "mxfp4")
    >>> mx.scales, mx.values[0, :4], mx.bits_a_value
    (array([[2.]], dtype=float32), array([ 0., -1.,  3., 12.], dtype=float32), 4.25)
    """
    if format not in BLOCKS:
        raise unknown("format", format, BLOCKS)
    values = floats("x", x).astype(np.float64)
    if not values.ndim or not values.size:
        raise ValueError(f"x: shape {values.shape} must have an axis, and at least one value")
    kind = _dtype(format, group, values.shape[-1])
    if format in LIMITS:
        return _integers(values, format, kind)
    largest = _largest(values, kind.group or 1)
    return (_nvfp4 if format == "nvfp4" else _mx)(values, format, kind, largest)


def _dtype(format: str, group: int | str | None, length: int) -> DType:
    if format not in LIMITS:
        if group is not None:
            raise ValueError(f"group={group!r}: {format} has blocks of its own; leave group out")
        return as_dtype("format", BLOCKS[format][0])
    if group == "tensor":
        return replace(as_dtype("format", format), tensor_bytes=2)
    return dtype(format, group=length if group is None else size("group", group))


def _largest(values: np.ndarray, group: int) -> np.ndarray:
    """Return the largest magnitude of every block; NaN if one in it is not finite."""
    short = -values.shape[-1] % group
    padded = np.pad(np.abs(values), [(0, 0)] * (values.ndim - 1) + [(0, short)])
    largest = padded.reshape(*values.shape[:-1], -1, group).max(-1)
    return np.where(np.isfinite(largest), largest, np.nan)


def _spread(scales: np.ndarray, group: int, length: int) -> np.ndarray:
    return np.repeat(scales, group, axis=-1)[..., :length]


def _divided(values: np.ndarray, scales: np.ndarray) -> np.ndarray:
    return np.divide(values, scales, out=np.zeros_like(values), where=scales > 0)


def _mx(values: np.ndarray, format: str, kind: DType, largest: np.ndarray) -> Blocked:
    element = formats()[BLOCKS[format][1]]
    exponent = np.frexp(largest)[1] - 1 - element.highest
    exponent = np.where(largest > 0, exponent.clip(-127, 127), -127)  # E8M0's range
    scales = np.where(np.isnan(largest), np.nan, np.ldexp(1.0, exponent))
    scaled = _divided(values, _spread(scales, kind.group or 1, values.shape[-1]))
    elements = quantise(scaled, element, saturate=True)
    return Blocked(format, kind, elements.astype(np.float32), scales.astype(np.float32))


def _nvfp4(values: np.ndarray, format: str, kind: DType, largest: np.ndarray) -> Blocked:
    element, e4m3 = formats()["fp4_e2m1"], formats()["fp8_e4m3"]
    finite = largest[np.isfinite(largest)]
    tensor = np.float32(finite.max(initial=0.0) / (element.largest * e4m3.largest))
    wanted = _divided(largest / element.largest, np.full_like(largest, tensor))
    wanted = np.where(np.isnan(largest), np.nan, wanted)
    scales = quantise(wanted, e4m3, saturate=True)
    scaled = _divided(values, _spread(scales * tensor, kind.group or 1, values.shape[-1]))
    elements = quantise(scaled, element, saturate=True).astype(np.float32)
    return Blocked(format, kind, elements, scales.astype(np.float32), float(tensor))


def _integers(values: np.ndarray, format: str, kind: DType) -> Blocked:
    limit = LIMITS[format]
    if kind.group:
        largest = _largest(values, kind.group)
    else:
        largest = _largest(values.reshape(-1), values.size).reshape((1,) * values.ndim)
    scales = quantise(np.minimum(largest / limit, FP16_LARGEST), "fp16")
    wide = _spread(scales, kind.group, values.shape[-1]) if kind.group else scales
    whole = np.rint(_divided(values, np.broadcast_to(wide, values.shape)))
    elements = whole.clip(-limit, limit).astype(np.int8)
    return Blocked(format, kind, elements, scales.astype(np.float32))
