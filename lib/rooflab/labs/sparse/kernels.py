"""The kernels: y = Wx with W dense in fp32, in 8 or 4 bits with scales, or packed 2:4.

Sums may be in any order, and indices are unsigned where they could else count from the end: so LLVM
makes vectors of the inner loops. A core that unpacks does not run ahead to the next cache lines,
so each kernel asks for them AHEAD bytes before; the processor ignores a request beyond an array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

AHEAD, LINE = 4096, 64  # bytes
#: Each half-precision number in fp32, by its bits: numba has no arithmetic for fp16.
HALF = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)

_loop = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})


def _line(typing, array, index):
    """Ask for the cache line of ``array[index]``, which need not exist."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place, number = builder.gep(data, [arguments[1]]), ir.IntType(32)
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [place, number(0), number(3), number(1)])  # read, all caches, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


_ask: Any = intrinsic(_line)


@_loop
def grouped(w, scales, half, group, x, y):
    """y = Wx, W in 8 bits or in fp32: each group's sum is multiplied by its scale, once."""
    line, ahead = uint64(LINE // w.itemsize), uint64(AHEAD // w.itemsize)
    for i in range(w.shape[0]):
        total, weights = np.float32(0), w[i]
        for g in range(scales.shape[1]):
            start = uint64(g * group)
            size = min(uint64(group), uint64(x.size) - start)
            for at in range(uint64(0), size, line):
                _ask(weights, np.intp(start + at + ahead))
            inner = np.float32(0)
            for j in range(size):
                inner += np.float32(weights[start + j]) * x[start + j]
            total += half[scales[i, g]] * inner
        y[i] = total


@_loop
def int4(w, scales, half, stride, x, sixteenths, offsets, y):
    """y = Wx, W in 4 bits: a byte is 16·b + a + 8, with a group in ``stride`` bytes.

    Its low bits are a + 8, and b = (byte - low bits) / 16. That is done to x, once for all rows:
    Σ a·xa + b·xb = Σ byte·xb/16 + Σ (a + 8)·(xa - xb/16) - 8·Σ xa, with ``sixteenths`` for xb/16,
    ``x`` for the bracket with it, ``offsets`` for the last sum of each group.
    """
    for i in range(w.shape[0]):
        total, weights = np.float32(0), w[i]
        for g in range(scales.shape[1]):
            start = uint64(g * stride)
            size = min(uint64(stride), uint64(x.size) - start)
            for at in range(uint64(0), size, uint64(LINE)):
                _ask(weights, np.intp(start + at + uint64(AHEAD)))
            inner = offsets[g]
            for j in range(size):
                byte = np.int32(weights[start + j])
                inner += np.float32(byte) * sixteenths[start + j]
                inner += np.float32(byte & 15) * x[start + j]
            total += half[scales[i, g]] * inner
        y[i] = total


@_loop
def packed(values, positions, planes, y):
    """y = Wx, W packed 2:4; ``planes[c, i, j]`` is place 8j + i of the c-th chunk of x.

    A byte has the positions of two groups. All four x of each are loaded, and a position's bits
    select one: the first of two values is never a group's last, the second never its first.
    """
    pairs, step = values.shape[1] // 4, planes.shape[2]
    for i in range(values.shape[0]):
        total = np.float32(0)
        for chunk in range(planes.shape[0]):
            start, x = chunk * step, planes[chunk]
            end = min(pairs, start + step)
            places, v = positions[i, start:end], values[i, 4 * start : 4 * end]
            _ask(places, AHEAD)
            for at in range(0, v.size, LINE // 4):
                _ask(v, at + AHEAD // 4)
            for j in range(places.size):
                bits = places[j]
                a, b, c, d = x[0, j], x[1, j], x[2, j], x[3, j]
                e, f, g, h = x[4, j], x[5, j], x[6, j], x[7, j]
                one = c if bits & 2 else (b if bits & 1 else a)
                two = (d if bits & 4 else c) if bits & 8 else b
                three = g if bits & 32 else (f if bits & 16 else e)
                four = (h if bits & 64 else g) if bits & 128 else f
                total += v[4 * j] * one + v[4 * j + 1] * two
                total += v[4 * j + 2] * three + v[4 * j + 3] * four
        if values.shape[1] % 4:  # a last group alone
            bits, x = positions[i, pairs], planes[pairs // step, :, pairs % step]
            total += values[i, 4 * pairs] * x[bits & 3]
            total += values[i, 4 * pairs + 1] * x[bits >> 2 & 3]
        y[i] = total
