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
from rooflab.labs.cuda.emulator.execution import Execution
from rooflab.labs.cuda.emulator.races import Marks

SHARED_LIMIT, LOCAL_LIMIT = 48 * 1024, 255 * 4  # bytes a block may have, registers of a thread
_MODULES = r"^(cuda|math|np|numpy)\."
SHUFFLES = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")


class Call(NamedTuple):
    """By whom a function is called, and the ``site`` that its shared array belongs to."""

    s: Execution
    site: Any


def call_builtin(call: Call, name: str, args: tuple[Any, ...]) -> Any:
    last = name.rpartition(".")[2]
    call.s.work(1, sum(getattr(arg, "size", 1) for arg in args) << 1)
    if name not in CALLS and last in arithmetic.DTYPES and len(args) == 1:
        if isinstance(args[0], str):  # float("inf")
            return call.s.real(args[0])
        return arithmetic.cast(args[0], call.s.real if name == "float" else arithmetic.DTYPES[last])
    if name not in CALLS:
        raise ValueError(f"{name}() is no function that a kernel can call; {nearest(name, CALLS)}")
    number, function = CALLS[name]
    if number not in (None, len(args)):
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


def _array(call: Call, shape: Any, dtype: Any, shared: bool) -> memory.Array:
    """Return a new array of each block in shared memory, or of each thread in registers."""
    shape, g = shape if isinstance(shape, tuple) else (shape,), call.s.geometry
    if not all(isinstance(size, int) and size > 0 for size in shape):
        raise ValueError("the shape of an array must be of positive integers")
    if not isinstance(dtype, np.dtype | type):
        raise ValueError("an array takes a dtype, such as float32")
    cells, others = math.prod(shape), call.s.shared.values() if shared else ()
    size = np.dtype(dtype).itemsize * cells + sum(a.data.nbytes // g.blocks for a in others)
    where, most = ("shared memory", SHARED_LIMIT) if shared else ("registers", LOCAL_LIMIT)
    if size > most:
        raise ValueError(f"{size:,} bytes of {where} are more than {most:,}; take smaller tiles")
    copies = g.block_numbers if shared else g.numbers
    data = np.zeros(cells * copies.size, dtype)
    call.s.work(1, data.size << 2)
    memories = data, np.zeros(data.shape, bool), copies * cells
    if shared:
        return memory.Array("", shape, *memories, Marks(data.size))
    return memory.LocalArray("", shape, *memories)


def _shared_array(call: Call, shape: Any, dtype: Any) -> memory.Array:
    arrays = call.s.shared
    if call.site not in arrays:
        arrays[call.site] = _array(call, shape, dtype, shared=True)
    return arrays[call.site]


def _fma(call: Call, a: Any, b: Any, c: Any) -> Any:
    call.s.flops += 2 * call.s.active.count
    return arithmetic.fused(a, b, c, call.s.real)


def _of_many(function: Callable[..., Any]) -> Callable[..., Any]:
    def of_two(a: Any, b: Any) -> Any:
        return arithmetic.normal(function(*arithmetic.promoted(a, b)))

    return lambda call, *values: functools.reduce(of_two, values)


#: Name → number of arguments (None: any), and what it does for a Call.
CALLS: Mapping[str, tuple[int | None, Callable[..., Any]]] = MappingProxyType(
    {
        "cuda.grid": (1, _grid),
        "cuda.gridsize": (1, lambda call, axes: _grid(call, axes, "gridDim")),
        "cuda.syncthreads": (0, lambda call: call.s.barrier()),
        "cuda.syncwarp": (0, lambda call: call.s.syncwarp()),
        "cuda.shared.array": (2, _shared_array),
        "cuda.local.array": (2, lambda call, *new: _array(call, *new, shared=False)),
        "cuda.load4": (2, lambda c, a, i: memory.load_vector(c.s, a, (i,))),
        "cuda.store4": (3, lambda c, a, i, v: memory.store_vector(c.s, a, (i,), v)),
        "cuda.atomic.add": (3, lambda c, a, i, v: memory.atomic_add(c.s, a, (i,), v)),
        "cuda.fma": (3, _fma),
        "min": (None, _of_many(np.minimum)),
        "max": (None, _of_many(np.maximum)),
        "abs": (1, lambda call, value: abs(arithmetic.promoted(value, 0)[0])),
        "len": (1, lambda call, array: memory.array_of(array).shape[0]),
    }
    | {f"cuda.{w}": (3, lambda c, *a, w=w: c.s.shuffle(w, *a)) for w in SHUFFLES}
    | {f"math.{name}": (1, lambda c, v, f=f: arithmetic.of_real(f, v, c.s.real))
       for name, f in arithmetic.MATH.items()}
)  # fmt: skip
