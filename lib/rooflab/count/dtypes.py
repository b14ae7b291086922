"""The number formats of the course and what one element of each costs to move.

Sources of the widths: IEEE 754 (fp64, fp32, fp16); NVIDIA's TF32 (19 significant bits kept in a
32-bit word); bfloat16; OCP "8-bit Floating Point Specification" (E4M3, E5M2); OCP "Microscaling
Formats" (MX: blocks of 32 values share one 8-bit scale); NVIDIA's NVFP4 (blocks of 16, an 8-bit
scale each, one 32-bit scale a tensor); Dettmers et al., "QLoRA" (nf4, scales not included);
ggml-org/llama.cpp, ggml-common.h (q4_0 … q6_k: blocks of 32 or 256 with their scales).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from reprlib import repr as short
from typing import Any, Protocol, TypeAlias

from rooflab.count.validation import size, unknown


@dataclass(frozen=True, eq=False)
class DType:
    """A number format: how many bits an element takes, and what its scales cost.

    Parameters
    ----------
    name : str
        What it is called. A DType equals its name: ``op.compute_dtype == "fp16"``.
    bits : int
        Bits that are stored per element.
    kind : {"float", "int"}, default "float"
        A float multiplied by an integer is computed as a float.
    precision_bits : int, default ``bits``
        Bits that it computes with, which order the formats: tf32 stores 32 and computes with 19.
    family : str, default ``name``
        Name under which a machine lists its peak, such as "fp8" for fp8_e4m3.
    group : int, optional
        Number of values along the contraction axis that share a scale; none by default.
    scale_bits : int, default 0
        Bits of what a group shares: its scale, and its zero point if it has one.
    tensor_bytes : int, default 0
        Bytes that come once a tensor, such as a scale of the whole.

    See Also
    --------
    dtype : Look a format up by its name.

    Examples
    --------
    >>> mine = rl.DType("fp12", 12)
    >>> rl.scale(1000, mine).bytes  # 1.5 bytes an element, read and written
    3000
    """

    name: str
    bits: int
    kind: str = "float"
    precision_bits: int = 0
    family: str = ""
    group: int | None = None
    scale_bits: int = 0
    tensor_bytes: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"name={self.name!r} must be the name of the format, such as 'fp32'")
        if self.kind not in ("float", "int"):
            raise unknown("kind", self.kind, ("float", "int"))
        size("bits", self.bits)
        if self.group is not None:
            size("group", self.group)
        size("scale_bits", self.scale_bits, 0)
        size("tensor_bytes", self.tensor_bytes, 0)
        object.__setattr__(self, "family", self.family or self.name)
        object.__setattr__(self, "precision_bits", self.precision_bits or self.bits)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self._key() == other._key()
        return isinstance(other, str) and self.name == other

    def __hash__(self) -> int:
        return hash(self.name)  # equal to its name, so it must hash like its name

    def __str__(self) -> str:
        return self.name

    def _key(self) -> tuple[object, ...]:
        return (self.name, self.bits, self.group, self.scale_bits, self.tensor_bytes)

    def to_dict(self) -> dict[str, object] | str:
        """Return the name, or every field of a grouped or home-made format, as plain data."""
        return self.name if self == _DTYPES.get(self.name) else asdict(self)


_ROWS: tuple[DType, ...] = (
    DType("fp64", 64),
    DType("fp32", 32),
    DType("tf32", 32, precision_bits=19),
    DType("fp16", 16),
    DType("bf16", 16),
    DType("fp8_e4m3", 8, family="fp8"),
    DType("fp8_e5m2", 8, family="fp8"),
    DType("fp6", 6),
    DType("fp4", 4),
    DType("nf4", 4),
    DType("mxfp8", 8, family="fp8", group=32, scale_bits=8),
    DType("mxfp6", 6, family="fp6", group=32, scale_bits=8),
    DType("mxfp4", 4, family="fp4", group=32, scale_bits=8),
    DType("nvfp4", 4, family="fp4", group=16, scale_bits=8, tensor_bytes=4),
    DType("int32", 32, kind="int"),
    DType("int16", 16, kind="int"),
    DType("int8", 8, kind="int"),
    DType("int4", 4, kind="int"),
    DType("int3", 3, kind="int"),
    DType("int2", 2, kind="int"),
)
# llama.cpp's blocks: bits of an element, elements that share the scales, bits of those.
_BLOCKS = {
    "q4_0": (4, 32, 16), "q4_1": (4, 32, 32), "q5_0": (5, 32, 16), "q5_1": (5, 32, 32),
    "q8_0": (8, 32, 16), "q2_k": (2, 256, 160), "q3_k": (3, 256, 112), "q4_k": (4, 256, 128),
    "q5_k": (5, 256, 128), "q6_k": (6, 256, 144), "iq4_nl": (4, 32, 16), "iq4_xs": (4, 256, 64),
}  # fmt: skip
_ROWS += tuple(
    DType(name, bits, "int", family="int4" if bits < 5 else "int8", group=group, scale_bits=scales)
    for name, (bits, group, scales) in _BLOCKS.items()
)
_DTYPES = {row.name: row for row in _ROWS}
_ALIASES = {
    "float64": "fp64", "double": "fp64", "f64": "fp64",
    "float32": "fp32", "float": "fp32", "single": "fp32", "f32": "fp32",
    "float16": "fp16", "half": "fp16", "f16": "fp16",
    "bfloat16": "bf16", "tensorfloat32": "tf32",
    "fp8": "fp8_e4m3", "float8": "fp8_e4m3", "e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2",
    "uint8": "int8", "uint4": "int4", "i8": "int8", "i4": "int4", "u8": "int8", "u4": "int4",
    "float6_e2m3fn": "fp6", "float6_e3m2fn": "fp6", "float4_e2m1fn": "fp4",
}  # fmt: skip
DTYPES = tuple(_DTYPES)


class ArrayDType(Protocol):
    """The dtype of an array library, such as ``np.dtype("float32")`` or ``torch.bfloat16``."""

    @property
    def itemsize(self) -> int: ...


#: What names a format: our DType, its name, a dtype of NumPy or PyTorch, a type such as np.float32.
DTypeLike: TypeAlias = DType | str | type | ArrayDType


def dtype(
    name: DTypeLike,
    *,
    group: int | None = None,
    scale: DTypeLike | None = None,
    zero: DTypeLike | None = None,
) -> DType:
    """Return the DType called ``name``, with scales for groups of values if you wish.

    Parameters
    ----------
    name : str, DType or a dtype of NumPy or PyTorch
        "fp4" is the bare four-bit element (E2M1), "nf4" too; "mxfp4", "nvfp4" and llama.cpp's
        "q4_0", "q8_0", "q4_k", "q6_k", … carry their scales.
    group : int, optional
        Number of values along the contraction axis that share one scale, as in grouped int4
        weights.
    scale : str, DType or a dtype of NumPy or PyTorch, default "fp16"
        Format of the scale of a group.
    zero : str, DType or a dtype of NumPy or PyTorch, optional
        Format of the zero point of a group; by default there is none.

    Returns
    -------
    DType
        The format; its ``bits`` are those of an element, without scales.

    Examples
    --------
    >>> rl.dtype("float32")
    DType(name='fp32', bits=32, kind='float', precision_bits=32, family='fp32', group=None, ...
    >>> weights = rl.dtype("int4", group=32)  # 4 bits an element, and 16 for every 32 of them
    >>> rl.Operand("w", (4096, 4096), weights).nbytes
    9437184
    """
    found = as_dtype("dtype", name)
    if group is None:
        if scale is not None or zero is not None:
            raise ValueError("scale= and zero= need group=, the number of values that share them")
        return found
    if found.group:
        raise ValueError(f"group={group!r}: {found.name} already has blocks of {found.group}")
    extra = as_dtype("scale", "fp16" if scale is None else scale).bits
    extra += as_dtype("zero", zero).bits if zero is not None else 0
    return replace(found, group=size("group", group), scale_bits=extra)


def as_dtype(argument: str, value: object) -> DType:
    """Return ``value`` as a DType; ``argument`` is what an error calls it."""
    if isinstance(value, DType):
        return value
    if value is float:
        return _DTYPES["fp64"]  # Python's float, as NumPy reads it; the word "float" is C's
    text = getattr(value, "name", None) or getattr(value, "__name__", None) or value
    if type(value).__module__ == "torch":
        text = str(value)  # a torch dtype has no name
    if not isinstance(text, str):
        kind = type(value).__name__
        raise TypeError(f"{argument}={short(value)} is a {kind}; give a name such as 'fp32'")
    key = re.sub(r"[\s-]+", "_", text.strip().lower()).rpartition(".")[2]  # torch.bfloat16
    key = re.sub(r"^(fp|float)8_?(e4m3|e5m2)\w*$", r"fp8_\2", key)  # float8_e4m3fn
    key = _ALIASES.get(key, key)
    if key not in _DTYPES:
        raise unknown(argument, text, DTYPES)
    return _DTYPES[key]


def as_dtypes(argument: str, value: object, *more: DType) -> tuple[DType, ...]:
    """Return ``value``, one format or a list of them, and ``more``: each once, one at least."""
    several = value if isinstance(value, (list, tuple)) else (value,)
    found = tuple(dict.fromkeys((*(as_dtype(argument, one) for one in several), *more)))
    if not found:
        raise ValueError(f"{argument}={value!r} is empty; give at least one format, such as 'fp32'")
    return found


def dtype_from_dict(data: Mapping[str, Any] | str) -> DType:
    """Inverse of :meth:`DType.to_dict`."""
    return as_dtype("dtype", data) if isinstance(data, str) else DType(**data)


def wider(first: DType, second: DType) -> DType:
    """Return the format in which a product of ``first`` and ``second`` is computed.

    The float beats the integer (int8 weights × fp16 are multiplied in fp16), the wider beats the
    narrower. Two formats of one width that do not share a matrix unit (fp16 × bf16) meet in fp32,
    and so does a float with an integer that it cannot hold.
    """
    if first.kind != second.kind:
        real, whole = (first, second) if first.kind == "float" else (second, first)
        if real.precision_bits >= whole.bits:
            return real
        return _DTYPES["fp16" if whole.bits <= 16 else "fp32"]
    if first.precision_bits != second.precision_bits:
        return max(first, second, key=lambda d: d.precision_bits)
    return first if first.family == second.family else _DTYPES["fp32"]
