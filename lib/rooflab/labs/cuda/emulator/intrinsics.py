"""What a kernel may call: ``cuda``'s functions, ``math``, ``min``, ``max``, ``abs`` and casts."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rooflab.labs.cuda.emulator import arithmetic, memory
from rooflab.labs.cuda.emulator.execution import Execution, Place
from rooflab.labs.cuda.emulator.races import Marks

LOCAL_CELLS = 255  # registers of a thread
SHUFFLES = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")


class Call(NamedTuple):
    """By whom and where a function is called."""

    s: Execution
    place: Place
    column: int


def call_builtin(call: Call, name: str, args: tuple[Any, ...]) -> Any:
    """Call the function of that name in a kernel."""
    last = name.rpartition(".")[2]
    if name not in CALLS and last in arithmetic.DTYPES and len(args) == 1:
        return arithmetic.cast(args[0], call.s.real if name == "float" else arithmetic.DTYPES[last])
    if name not in CALLS:
        raise ValueError(
            f"{call.place}: {name}() is not a function that a kernel can call; "
            f"{nearest(name, CALLS)}"
        )
    least, most, function = CALLS[name]
    if not least <= len(args) <= most:
        number = str(least) if least == most else f"{least} to {most}"
        raise ValueError(f"{call.place}: {name}() takes {number} arguments, not {len(args)}")
    return function(call, *args)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the closest names, for an error."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.4)
    return f"there is {', '.join(close)}" if close else "write it in the kernel"


def _grid(part: Callable[[Mapping[str, Any], str], Any]) -> Callable[..., Any]:
    def run(call: Call, axes: Any) -> Any:
        if not isinstance(axes, int) or axes not in (1, 2, 3):
            raise ValueError(f"{call.place}: cuda.grid takes the number of axes: 1, 2 or 3")
        values = tuple(part(call.s.special, axis) for axis in "xyz"[:axes])
        return values if axes > 1 else values[0]

    return run


def _number(known: Mapping[str, Any], axis: str) -> Any:
    block, size = known[f"cuda.blockIdx.{axis}"], known[f"cuda.blockDim.{axis}"]
    return block * size + known[f"cuda.threadIdx.{axis}"]


def _array(call: Call, shape: Any, dtype: Any) -> tuple[str, tuple[int, ...], np.dtype]:
    """Return name, shape and dtype of an array that a kernel makes."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(size, int) and size > 0 for size in shape):
        raise ValueError(f"{call.place}: the shape of an array must be of positive constants")
    dtype = arithmetic.DTYPES.get(dtype) if isinstance(dtype, str) else dtype
    if not isinstance(dtype, np.dtype | type):
        raise ValueError(f"{call.place}: an array takes a dtype, such as float32")
    return call.place.text.partition("=")[0].strip(), shape, np.dtype(dtype)


def _shared_array(call: Call, shape: Any, dtype: Any) -> memory.Array:
    s, key = call.s, (call.place, call.column)
    if key not in s.shared:
        name, shape, dtype = _array(call, shape, dtype)
        cells = int(np.prod(shape))
        taken = sum(a.cells * a.data.itemsize for a in s.shared.values()) + cells * dtype.itemsize
        if taken > s.counts.shared_limit:
            raise ValueError(
                f"{call.place}: {taken:,} bytes of shared memory a block are more than "
                f"{s.counts.shared_limit:,}; take smaller tiles, or say shared_limit="
            )
        cells *= s.geometry.blocks
        data, initialised = np.zeros(cells, dtype), np.zeros(cells, bool)
        s.shared[key] = memory.Array(name, shape, data, Marks(cells, True), initialised)
    return s.shared[key]


def _local_array(call: Call, shape: Any, dtype: Any) -> memory.LocalArray:
    name, shape, dtype = _array(call, shape, dtype)
    if (cells := np.prod(shape)) > LOCAL_CELLS:
        raise ValueError(f"{call.place}: {cells} entries need more than {LOCAL_CELLS} registers")
    return memory.LocalArray(name, shape, dtype)


def _index(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _load4(call: Call, array: Any, index: Any) -> Any:
    return memory.load_vector(call.s, array, _index(index), call.place)


def _store4(call: Call, array: Any, index: Any, values: Any) -> None:
    if not isinstance(values, tuple) or len(values) != 4:
        raise ValueError(f"{call.place}: cuda.store4 takes four values, as cuda.load4 gives them")
    memory.store_vector(call.s, array, _index(index), values, call.place)


def _atomic_add(call: Call, array: Any, index: Any, value: Any) -> Any:
    return memory.atomic_add(call.s, array, _index(index), value, call.place)


def _fma(call: Call, a: Any, b: Any, c: Any) -> Any:
    call.s.counts.flops += 2 * call.s.active.count
    return arithmetic.fused(a, b, c, call.s.real)


def _shuffle(way: str) -> Callable[..., Any]:
    return lambda call, mask, value, by: call.s.shuffle(way, mask, value, by, call.place)


def _math(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda call, value: function(value, call.s.real)


def _of_many(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(call: Call, first: Any, *others: Any) -> Any:
        for other in others:
            first = arithmetic.pick(function, first, other, call.s.real)
        return first

    return run


#: Name → least and most arguments, and what it does for a Call.
CALLS: Mapping[str, tuple[int, int, Callable[..., Any]]] = MappingProxyType(
    {
        "cuda.grid": (1, 1, _grid(_number)),
        "cuda.gridsize": (
            1, 1, _grid(lambda known, a: known[f"cuda.gridDim.{a}"] * known[f"cuda.blockDim.{a}"]),
        ),
        "cuda.syncthreads": (0, 0, lambda call: call.s.barrier(call.place)),
        "cuda.syncwarp": (0, 1, lambda call, *mask: call.s.syncwarp(call.place, *mask)),
        "cuda.shared.array": (2, 2, _shared_array),
        "cuda.local.array": (2, 2, _local_array),
        "cuda.load4": (2, 2, _load4),
        "cuda.store4": (3, 3, _store4),
        "cuda.atomic.add": (3, 3, _atomic_add),
        "cuda.fma": (3, 3, _fma),
        "min": (2, 9, _of_many(np.minimum)),
        "max": (2, 9, _of_many(np.maximum)),
        "abs": (1, 1, lambda call, value: abs(value)),
        "len": (1, 1, lambda call, array: len(array) if type(array) is tuple else array.shape[0]),
    }
    | {f"cuda.{way}": (3, 3, _shuffle(way)) for way in SHUFFLES}
    | {f"math.{name}": (1, 1, _math(function)) for name, function in arithmetic.MATH.items()}
)  # fmt: skip
