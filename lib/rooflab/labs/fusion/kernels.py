"""The fused kernels: each chain as one loop over rows that numba compiles, and vector exp and sin.

A row is passed over several times where it must be, as by softmax: for its maximum, its
exponentials, their sum, the division. It stays in a cache meanwhile, so that memory sees one read
and one write.

numba has no vector exp or sin without Intel's library: it calls libm for one element at a time,
which takes ten times as long as NumPy's vector code. So `_exp` and `_sin` are written out here, as
a reduction of the argument and a polynomial (W. Cody and W. Waite, "Software Manual for the
Elementary Functions", 1980), which the compiler turns into vector instructions.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

EPS_L2, EPS_RMS = 1e-12, 1e-6
GELU_CUBE, GELU_SCALE = 0.044715, math.sqrt(2 / math.pi)
LANES = 16  # elements of a row whose maxima are kept apart
FAR = 1e5  # arguments of sine beyond which libm reduces them
_LN2, _LN2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_PI, _PI_REST, _PI_LAST = 3.1415926218032836914, 3.1786509424591713469e-08, 1.2246467864107188502e-16
_E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10, _E11, _E12, _E13 = (
    1 / math.factorial(n) for n in range(2, 14)
)
_S3, _S5, _S7, _S9, _S11, _S13, _S15, _S17, _S19 = (
    (-1) ** (n // 2) / math.factorial(n) for n in range(3, 20, 2)
)

_fused = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
_inlined = njit(inline="always", error_model="numpy")
_added_in_any_order = njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})


@_inlined
def _exp(value):
    """e to the ``value`` in fp64: 2ⁿ times a polynomial of |r| ≤ ln 2 / 2, NaN, ±inf and all."""
    v = np.float64(value)
    v = 710.0 if v > 710.0 else v
    v = -746.0 if v < -746.0 else v
    k = np.floor(v / math.log(2) + 0.5)
    r = (v - k * _LN2) - k * _LN2_REST
    p = r * _E13 + _E12
    p = ((p * r + _E11) * r + _E10) * r + _E9
    p = ((p * r + _E8) * r + _E7) * r + _E6
    p = ((p * r + _E5) * r + _E4) * r + _E3
    p = ((p * r + _E2) * r + 1.0) * r + 1.0
    n = np.int64(k) if k == k else np.int64(0)
    half = n >> 1  # 2ⁿ in two factors, each of which is a normal number
    low = np.int64((half + 1023) << 52).view(np.float64)
    high = np.int64((n - half + 1023) << 52).view(np.float64)
    return p * low * high


@_inlined
def _sin(value):
    """Sine in fp64 of |value| up to FAR: an odd polynomial of the distance to a multiple of π."""
    v = np.float64(value)
    k = np.floor(v / math.pi + 0.5)
    r = ((v - k * _PI) - k * _PI_REST) - k * _PI_LAST
    q = r * r
    p = (q * _S19 + _S17) * q + _S15
    p = ((p * q + _S13) * q + _S11) * q + _S9
    p = ((p * q + _S7) * q + _S5) * q + _S3
    s = r + r * (q * p)
    return -s if np.int64(k) & 1 else s


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
def sin_sqrt_libm(x, y):
    """y = sqrt(sin x) with the sine of libm: one element at a time."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = math.sqrt(math.sin(x[i, j]))


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
    for i in range(x.shape[0]):
        row, out = x[i], y[i]
        for j in range(row.size):
            u = row[j] + b[j]
            z = GELU_SCALE * (u + GELU_CUBE * (u * u * u))
            out[j] = u / (1.0 + _exp(-2.0 * z))


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
