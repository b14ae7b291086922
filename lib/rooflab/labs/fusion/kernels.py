"""The fused kernels: each chain as one loop over rows that numba compiles.

A row is passed over several times where it must be, as by softmax: for its maximum, its
exponentials, their sum, the division. It stays in a cache meanwhile, so that memory sees one read
and one write. exp and sin are the C library's, one element at a time: without Intel's library numba
has no others, and NumPy's work on several at a time.
"""

from __future__ import annotations

import math

from numba import njit

EPS_L2, EPS_RMS = 1e-12, 1e-6
GELU_CUBE, GELU_SCALE = 0.044715, math.sqrt(2 / math.pi)

_fused = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
_added_in_any_order = njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})


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
def sin_sqrt(x, y):
    """y = sqrt(sin x)."""
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
    for i in range(x.shape[0]):
        row, out = x[i], y[i]
        top = row.max()
        for j in range(row.size):
            out[j] = math.exp(row[j] - top)
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
            out[j] = u / (one + math.exp(scale * (u + cube * (u * u * u))))


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
