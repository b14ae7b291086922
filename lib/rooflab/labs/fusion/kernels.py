"""The fused kernels: each chain as one loop over rows that numba compiles, and vector exp and sin.

A row is passed over several times where it must be, as by softmax: for its maximum, its
exponentials, their sum, the division. It stays in a cache meanwhile, so that memory sees one read
and one write.

numba has no vector exp or sin without Intel's library: it calls libm for one element at a time (10
and 14 ns seen in fp32, where NumPy's vector code takes 0.5). So both are written out here, as a
reduction of the argument and a polynomial (W. Cody and W. Waite, "Software Manual for the
Elementary Functions", 1980), which the compiler turns into vector instructions.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, types
from numba.extending import overload

EPS_L2, EPS_RMS = 1e-12, 1e-6
GELU_CUBE, GELU_SCALE = 0.044715, math.sqrt(2 / math.pi)
LANES = 16  # elements of a row whose maxima are kept apart
FAR = 1e5  # arguments of sine beyond which libm reduces them
_PI, _PI_REST, _PI_LAST = 3.1415926218032836914, 3.178650942459171e-08, 1.2246467864107188502e-16

_fused = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
_added_in_any_order = njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})


def _exp(value):
    """e to the ``value``: 2ⁿ times a polynomial of |r| ≤ ln 2 / 2; NaN, ±inf and all."""


@overload(_exp, inline="always")
def _exp_for(value):
    if value == types.float32:
        return _exp_in(np.float32, np.int32, 7, (23, 127), (-104, 89, 0.693359375, -2.12194440e-4))
    reduced = (-746, 710, 6.93147180369123816490e-01, 1.90821492927058770002e-10)
    return _exp_in(np.float64, np.int64, 13, (52, 1023), reduced)


def _exp_in(real, whole, degree, bits, reduction):
    """The function for a format: its mantissa's bits and bias, its range, ln 2 in two parts."""
    low, high, ln2, ln2_rest = map(real, reduction)
    per_ln2, half, first = real(1 / math.log(2)), real(0.5), real(1 / math.factorial(degree))
    rest = tuple(real(1 / math.factorial(n)) for n in range(degree - 1, -1, -1))
    mantissa, bias = bits

    def exp(value):
        v = high if value > high else value
        v = low if v < low else v
        k = np.floor(v * per_ln2 + half)
        r = (v - k * ln2) - k * ln2_rest
        p = first
        for coefficient in rest:
            p = p * r + coefficient
        n = whole(k) if k == k else whole(0)
        some = whole(n >> 1)  # 2ⁿ in two factors, each of which is a normal number
        part = whole((some + bias) << mantissa).view(real)
        return p * part * whole((n - some + bias) << mantissa).view(real)

    return exp


def _sin(value):
    """Sine of |value| up to FAR: an odd polynomial of the distance to a multiple of π."""


@overload(_sin, inline="always")
def _sin_for(value):
    return _sin_in(np.float32, 11) if value == types.float32 else _sin_in(np.float64, 19)


def _sin_in(real, degree):
    odd = range(degree, 2, -2)
    first, *others = (real((-1) ** (n // 2) / math.factorial(n)) for n in odd)
    rest = tuple(others)

    def sin(value):
        k = np.floor(value * (1 / math.pi) + 0.5)  # in fp64: near a multiple of π all digits count
        r = real(((value - k * _PI) - k * _PI_REST) - k * _PI_LAST)
        q = r * r
        p = first
        for coefficient in rest:
            p = p * q + coefficient
        sign = real(1.0 - 2.0 * (k - 2.0 * np.floor(k * 0.5)))  # minus where k is odd
        return sign * (r + r * (q * p))

    return sin


@_added_in_any_order
def _sum_of_squares(row):
    total = row.dtype.type(0)
    for j in range(row.size):
        total += row[j] * row[j]
    return total


@_added_in_any_order
def _sum(row):
    total = row.dtype.type(0)
    for j in range(row.size):
        total += row[j]
    return total


@_fused
def _highest(row, tops):
    """The maximum of ``row``, in lanes that do not wait for each other; NaNs are passed over."""
    tops[:] = -np.inf
    whole = row.size // LANES * LANES
    for j in range(0, whole, LANES):
        for lane in range(LANES):
            tops[lane] = row[j + lane] if row[j + lane] > tops[lane] else tops[lane]
    for j in range(whole, row.size):
        tops[0] = row[j] if row[j] > tops[0] else tops[0]
    return tops.max()


@_fused
def sin_sqrt(x, y):
    """y = sqrt(sin x)."""
    most = x.dtype.type(FAR)
    for i in range(x.shape[0]):
        row, out, far = x[i], y[i], np.int32(0)
        for j in range(row.size):
            out[j] = math.sqrt(_sin(row[j]))
            far = np.int32(far | np.int32(not (abs(row[j]) <= most)))
        if far:
            for j in range(row.size):
                out[j] = math.sqrt(math.sin(row[j]))


@_fused
def l2_norm(x, y):
    """Each row of y is that of x, divided by the root of its sum of squares."""
    for i in range(x.shape[0]):
        row, out = x[i], y[i]
        inverse = row.dtype.type(1 / math.sqrt(_sum_of_squares(row) + EPS_L2))
        for j in range(row.size):
            out[j] = row[j] * inverse


@_fused
def softmax(x, y):
    """Each row of y is e to the x, divided by its sum; the maximum is subtracted first."""
    tops = np.empty(LANES, x.dtype)
    for i in range(x.shape[0]):
        row, out = x[i], y[i]
        top = _highest(row, tops)
        for j in range(row.size):
            out[j] = _exp(row[j] - top)
        inverse = row.dtype.type(1 / _sum(out))
        for j in range(row.size):
            out[j] *= inverse


@_fused
def rms_norm(x, w, y):
    """Each row of y is that of x, divided by its root mean square, times w."""
    for i in range(x.shape[0]):
        row, out = x[i], y[i]
        inverse = row.dtype.type(1 / math.sqrt(_sum_of_squares(row) / row.size + EPS_RMS))
        for j in range(row.size):
            out[j] = row[j] * inverse * w[j]


@_fused
def bias_gelu(x, b, y):
    """y = u (1 + tanh(√(2/π) (u + 0.044715 u³))) / 2 with u = x + b; 1 + tanh z = 2/(1 + e⁻²ᶻ)."""
    real = x.dtype.type
    one, cube, scale = real(1.0), real(GELU_CUBE), real(-2.0 * GELU_SCALE)
    for i in range(x.shape[0]):
        row, out = x[i], y[i]
        for j in range(row.size):
            u = row[j] + b[j]
            out[j] = u / (one + _exp(scale * (u + cube * (u * u * u))))


@_fused
def max_pool(x, y):
    """y is the maximum of each window of 2 × 2; NaN where there is one."""
    for i in range(y.shape[0]):
        one, two, out = x[2 * i], x[2 * i + 1], y[i]
        for j in range(out.size):
            top = one[2 * j]
            for other in (one[2 * j + 1], two[2 * j], two[2 * j + 1]):
                top = other if other > top or other != other else top
            out[j] = top
