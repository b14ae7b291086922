"""The catalogue of CUDA kernels: NAME.cu is one's code, catalogue.yaml says how it is launched.

A kernel's arguments are its arrays, its scalars (float) and then its sizes (int). All matrices are
row-major. The default of a macro stands in the .cu alone, between #ifndef and #endif.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rooflab.count.validation import size, unknown
from rooflab.predict.catalogue import tables

Shape = tuple[int, ...]
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Array:
    """An array that a kernel takes; an axis is a size, a number, or such as "K//2"."""

    name: str
    dtype: str
    axes: tuple[str, ...]

    def shape(self, sizes: Mapping[str, int]) -> Shape:
        """Return the shape in numbers."""
        return tuple(_value(axis, sizes) for axis in self.axes)


@dataclass(frozen=True)
class KernelSpec:
    """One entry of catalogue.yaml, where the fields are explained."""

    name: str
    product: str
    arrays: tuple[Array, ...]
    grid: str
    block: str
    registers: int
    sass: tuple[str, ...]
    runs_on: tuple[int, ...] = (75, 80, 86, 89, 90, 100, 120)
    exact: str = ""
    shared: str = "0"
    cluster: int = 1
    multiple_of: Mapping[str, int] = field(default_factory=dict)
    alignment: int = 4
    scalars: Mapping[str, float] = field(default_factory=dict)
    zeroed: bool = False
    tiles: Mapping[str, Shape] = field(default_factory=dict)

    @functools.cached_property
    def macros(self) -> Mapping[str, int]:
        """Macros that -D may set, with their defaults."""
        pattern = r"^#ifndef (\w+)\n#define \1 (\d+)$"
        pairs = re.findall(pattern, source_of(self.name), re.MULTILINE)
        return MappingProxyType({macro: int(value) for macro, value in pairs})

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the sizes in the order of the kernel's arguments."""
        axes = {axis for array in self.arrays for axis in array.axes}
        return tuple(name for name in ("M", "N", "K", "n") if name in axes)

    def arch(self, capability: int) -> str:
        """Return the name of an architecture: "sm_90a" for 90."""
        return f"sm_{capability}{self.exact}"

    def counts(self, rule: str, values: Mapping[str, int]) -> Shape:
        """Return what a rule of the catalogue gives: ``counts(spec.grid, {"n": 1000})`` is (4,)."""
        result = _value(rule, {**self.macros, **values})
        return result if isinstance(result, tuple) else (result,)


def source_of(name: str) -> str:
    """Return the CUDA C++ of a kernel of the catalogue; ValueError for an unknown name.

    >>> "__shared__" in source_of("sgemm_shared")
    True
    """
    return (_HERE / f"{spec_of(name).name}.cu").read_text(encoding="utf-8")


def spec_of(name: str, macros: Mapping[str, object] | None = None) -> KernelSpec:
    """Return a kernel's entry; ValueError for an unknown name, or a macro that it does not use."""
    if name not in KERNELS:
        raise unknown("kernel", name, KERNELS)
    spec = KERNELS[name]
    for macro, value in (macros or {}).items():
        if macro not in spec.macros:
            has = ", ".join(spec.macros) or "none"
            raise ValueError(f"macros: {name} has no {macro}; it has {has}")
        size(macro, value)
    return spec


def _value(rule: object, names: Mapping[str, int]) -> Any:
    """Return what an expression of the catalogue, which is our own, is for these values."""
    functions = {"__builtins__": {}, "ceil": lambda a, b: -(-a // b), "min": min}
    return eval(str(rule), functions, dict(names))


def _spec(name: str, entry: dict[str, Any]) -> KernelSpec:
    arrays = re.findall(r"(\w+):(\w+)\[([^\]]*)\]", entry.pop("arrays"))
    parts = tuple(Array(array, dtype, tuple(axes.split(","))) for array, dtype, axes in arrays)
    lists = {key: tuple(value) for key, value in entry.items() if isinstance(value, list)}
    return KernelSpec(name=name, arrays=parts, **{**entry, **lists})


KERNELS: Mapping[str, KernelSpec] = MappingProxyType({
    name: _spec(name, dict(entry))
    for name, entry in tables("labs.cuda.kernels", "catalogue").items()
})  # fmt: skip
"""Name -> kernel, from AXPY to the tensor cores."""
