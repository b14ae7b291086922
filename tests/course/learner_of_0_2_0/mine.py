"""My own functions for the course, one a lesson."""


def product(m, n, k, itemsize, accumulate=False):
    flops = 2 * m * n * k
    c = 2 if accumulate else 1
    moved = (m * k + k * n + c * m * n) * itemsize
    return flops, moved, flops / moved


def time(flops, bytes, peak, bandwidth):
    return max(flops / peak, bytes / bandwidth)
