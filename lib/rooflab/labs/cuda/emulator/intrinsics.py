"""What a kernel may call: ``cuda``'s functions, ``math``, ``min``, ``max``, ``abs`` and casts."""

from __future__ import annotations

import difflib
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rooflab.labs.cuda.emulator import arithmetic, memory
from rooflab.labs.cuda.emulator.execution import Execution, Place
from rooflab.labs.cuda.emulator.races import Marks

LOCAL_CELLS, MOST_AXES = 255, 8  # registers of a thread; axes of an array
_MODULES = r"^(cuda|math|np|numpy)\."
SHUFFLES = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")


class Call(NamedTuple):
    """By whom and where a function is called."""

    s: Execution
    place: Place
    column: int


def call_builtin(call: Call, name: str, args: tuple[Any, ...]) -> Any:
    last = name.rpartition(".")[2]
    call.s.work(1, sum(getattr(arg, "size", 1) for arg in args) << 1)
    if name not in CALLS and last in arithmetic.DTYPES and len(args) == 1:
        value = float(args[0]) if name == "float" and isinstance(args[0], str) else args[0]  # "inf"
        return arithmetic.cast(value, call.s.real if name == "float" else arithmetic.DTYPES[last])
    if name not in CALLS:
        raise ValueError(f"{name}() is no function that a kernel can call; {nearest(name, CALLS)}")
    least, most, function = CALLS[name]
    if not least <= len(args) <= most:
        number = str(least) if least == most else f"{least} to {most}"
        raise ValueError(f"{name}() takes {number} arguments, not {len(args)}")
    return function(call, *args)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the closest names, for an error."""
    cuda = "cuda." * name.startswith("cuda.")
    parts = {re.sub(_MODULES, "", each): each for each in known if each.startswith(cuda)}
    close = difflib.get_close_matches(re.sub(_MODULES, "", name), parts, n=3, cutoff=0.6)
    return f"there is {', '.join(parts[each] for each in close)}" if close else "no name is like it"


def _grid(call: Call, axes: Any, blocks: str = "blockIdx") -> Any:
    if not isinstance(axes, int) or axes not in (1, 2, 3):
        raise ValueError("cuda.grid takes the number of axes: 1, 2 or 3")
    ours = call.s.special
    values = [ours[f"cuda.{blocks}.{axis}"] * ours[f"cuda.blockDim.{axis}"] for axis in "xyz"]
    if blocks == "blockIdx":
        values = [value + ours[f"cuda.threadIdx.{a}"] for value, a in zip(values, "xyz")]
    return tuple(values[:axes]) if axes > 1 else values[0]


def _array(call: Call, shape: Any, dtype: Any) -> tuple[str, tuple[int, ...], np.dtype]:
    shape = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(size, int) and size > 0 for size in shape) or len(shape) > MOST_AXES:
        raise ValueError("the shape of an array must be of positive integers")
    if not isinstance(dtype, np.dtype | type):
        raise ValueError("an array takes a dtype, such as float32")
    return call.place.text.partition("=")[0].strip(), shape, np.dtype(dtype)


def _shared_array(call: Call, shape: Any, dtype: Any) -> memory.Array:
    s, key = call.s, (call.place, call.column)
    if key not in s.shared:
        names, shape, dtype = _array(call, shape, dtype)
        before = sum(place == call.place for place, _ in s.shared)
        name = names.split(",")[: before + 1][-1].strip()  # As, Bs = one, another
        cells = math.prod(shape)
        taken = sum(a.cells * a.data.itemsize for a in s.shared.values()) + cells * dtype.itemsize
        if taken > s.counts.shared_limit:
            limit = f"{s.counts.shared_limit:,}; take smaller tiles, or say shared_limit="
            raise ValueError(f"{taken:,} bytes of shared memory a block are more than {limit}")
        cells *= s.geometry.blocks
        data, initialised = np.zeros(cells, dtype), np.zeros(cells, bool)
        s.shared[key] = memory.Array(name, shape, data, Marks(cells), initialised)
    return s.shared[key]


def _local_array(call: Call, shape: Any, dtype: Any) -> memory.LocalArray:
    name, shape, dtype = _array(call, shape, dtype)
    if (cells := math.prod(shape)) > LOCAL_CELLS:
        raise ValueError(f"{cells} entries need more than {LOCAL_CELLS} registers")
    return memory.LocalArray(name, shape, dtype)


def _store4(call: Call, array: Any, index: Any, values: Any) -> None:
    if not isinstance(values, tuple) or len(values) != 4:
        raise ValueError("cuda.store4 takes four values, as cuda.load4 gives them")
    memory.store_vector(call.s, array, (index,), values, call.place)


def _fma(call: Call, a: Any, b: Any, c: Any) -> Any:
    call.s.counts.flops += 2 * call.s.active.count
    return arithmetic.fused(a, b, c, call.s.real)


def _of_many(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda call, *values: functools.reduce(
        lambda a, b: arithmetic.pick(function, a, b, call.s.real), values
    )


#: Name → least and most arguments, and what it does for a Call.
CALLS: Mapping[str, tuple[int, int, Callable[..., Any]]] = MappingProxyType(
    {
        "cuda.grid": (1, 1, _grid),
        "cuda.gridsize": (1, 1, lambda call, axes: _grid(call, axes, "gridDim")),
        "cuda.syncthreads": (0, 0, lambda call: call.s.barrier(call.place)),
        "cuda.syncwarp": (0, 1, lambda call, *mask: call.s.syncwarp(call.place, *mask)),
        "cuda.shared.array": (2, 2, _shared_array),
        "cuda.local.array": (2, 2, _local_array),
        "cuda.load4": (2, 2, lambda c, a, i: memory.load_vector(c.s, a, (i,), c.place)),
        "cuda.store4": (3, 3, _store4),
        "cuda.atomic.add": (3, 3, lambda c, a, i, v: memory.atomic_add(c.s, a, (i,), v, c.place)),
        "cuda.fma": (3, 3, _fma),
        "min": (2, 9, _of_many(np.minimum)),
        "max": (2, 9, _of_many(np.maximum)),
        "abs": (1, 1, lambda call, v: abs(arithmetic.promoted(v, 0, call.s.real)[0])),
        "len": (1, 1, lambda _, a: len(a) if type(a) is tuple else memory.array_of(a).shape[0]),
    }
    | {f"cuda.{w}": (3, 3, lambda c, *a, w=w: c.s.shuffle(w, *a, c.place)) for w in SHUFFLES}
    | {f"math.{name}": (1, 1, lambda c, v, f=f: arithmetic.of_real(f, v, c.s.real))
       for name, f in arithmetic.MATH.items()}
)  # fmt: skip
