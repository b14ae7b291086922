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
_LN2, _LN2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_PI, _PI_REST, _PI_LAST = 3.1415926218032836914, 3.1786509424591713469e-08, 1.2246467864107188502e-16
_PER_LN2, _PER_PI = 1 / math.log(2), 1 / math.pi
_1, _LOW, _HIGH, _LOG2E, _L, _M = map(
    np.float32, (1.0, -104.0, 89.0, _PER_LN2, 0.693359375, -2.12194440e-4)
)
_E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10, _E11, _E12, _E13 = (
    1 / math.factorial(n) for n in range(2, 14)
)
_F2, _F3, _F4, _F5, _F6, _F7 = map(np.float32, (_E2, _E3, _E4, _E5, _E6, _E7))
_S3, _S5, _S7, _S9, _S11, _S13, _S15, _S17, _S19 = (
    (-1) ** (n // 2) / math.factorial(n) for n in range(3, 20, 2)
)
_T3, _T5, _T7, _T9, _T11 = map(np.float32, (_S3, _S5, _S7, _S9, _S11))

_fused = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
_added_in_any_order = njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})


def _exp(value):
    """e to the ``value``: 2ⁿ times a polynomial of |r| ≤ ln 2 / 2; NaN, ±inf and all."""


@overload(_exp, inline="always")
def _exp_for(value):
    return _exp_fp32 if value == types.float32 else _exp_fp64


def _exp_fp64(value):
    v = 710.0 if value > 710.0 else value
    v = -746.0 if v < -746.0 else v
    k = np.floor(v * _PER_LN2 + 0.5)
    r = (v - k * _LN2) - k * _LN2_REST
    p = ((r * _E13 + _E12) * r + _E11) * r + _E10
    p = ((p * r + _E9) * r + _E8) * r + _E7
    p = ((p * r + _E6) * r + _E5) * r + _E4
    p = (((p * r + _E3) * r + _E2) * r + 1.0) * r + 1.0
    n = np.int64(k) if k == k else np.int64(0)
    half = n >> 1  # 2ⁿ in two factors, each of which is a normal number
    low = np.int64((half + 1023) << 52).view(np.float64)
    return p * low * np.int64((n - half + 1023) << 52).view(np.float64)


def _exp_fp32(value):
    v = _HIGH if value > _HIGH else value
    v = _LOW if v < _LOW else v
    k = np.floor(v * _LOG2E + _F2)
    r = (v - k * _L) - k * _M
    p = ((r * _F7 + _F6) * r + _F5) * r + _F4
    p = (((p * r + _F3) * r + _F2) * r + _1) * r + _1
    n = np.int32(k) if k == k else np.int32(0)
    half = np.int32(n >> 1)
    low = np.int32((half + 127) << 23).view(np.float32)
    return p * low * np.int32((n - half + 127) << 23).view(np.float32)


def _sin(value):
    """Sine of |value| up to FAR: an odd polynomial of the distance to a multiple of π."""


@overload(_sin, inline="always")
def _sin_for(value):
    return _sin_fp32 if value == types.float32 else _sin_fp64


def _sin_fp64(value):
    k = np.floor(value * _PER_PI + 0.5)
    r = ((value - k * _PI) - k * _PI_REST) - k * _PI_LAST
    q = r * r
    p = ((q * _S19 + _S17) * q + _S15) * q + _S13
    p = (((p * q + _S11) * q + _S9) * q + _S7) * q + _S5
    s = r + r * (q * (p * q + _S3))
    return s * (1.0 - 2.0 * (k - 2.0 * np.floor(k * 0.5)))  # minus where k is odd


def _sin_fp32(value):
    k = np.floor(value * _PER_PI + 0.5)  # in fp64: near a multiple of π every digit counts
    r = np.float32((value - k * _PI) - k * _PI_REST)
    q = r * r
    p = ((q * _T11 + _T9) * q + _T7) * q + _T5
    s = r + r * (q * (p * q + _T3))
    return s * np.float32(1.0 - 2.0 * (k - 2.0 * np.floor(k * 0.5)))


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
def _all_near(row):
    far = 0
    for j in range(row.size):
        far += not (abs(row[j]) <= FAR)
    return far == 0


@_fused
def sin_sqrt(x, y):
    """y = sqrt(sin x)."""
    for i in range(x.shape[0]):
        row, out = x[i], y[i]
        if _all_near(row):
            for j in range(row.size):
                out[j] = math.sqrt(_sin(row[j]))
        else:
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
