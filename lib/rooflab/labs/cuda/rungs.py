"""Four kernels for a product of matrices, each as the text of one thread, and what they count."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rooflab.count.validation import size
from rooflab.labs.cuda.emulator.launch import launch
from rooflab.labs.cuda.emulator.report import Run


@dataclass(frozen=True)
class Rung:
    """A kernel for C = A·B with N × N numbers of fp32: its text, its block, its tile of C."""

    name: str
    source: str
    block: tuple[int, int]
    tile: int

    def run(self, n: int = 64) -> Run:
        """Return what the emulator counts for N = ``n``, a multiple of the tile.

        >>> rung = rl.cuda.rungs()["shared"]
        >>> rung.run(64).global_loads.sectors == 2 * 64**3 // rung.tile // 8
        True
        """
        if size("n", n) % self.tile:
            raise ValueError(f"n={n} must be a multiple of {self.tile}, the tile of {self.name}")
        return _counted(self, n)


@functools.lru_cache(maxsize=32)
def _counted(rung: Rung, n: int) -> Run:
    a, b = np.random.default_rng(13).uniform(-1, 1, (2, n, n)).astype(np.float32)
    c = np.empty_like(a)
    return launch(rung.source, (n // rung.tile, n // rung.tile), rung.block, a, b, c, n)


NAIVE = """\
def naive(A, B, C, N):
    row, column = cuda.grid(2)
    total = float32(0)
    for k in range(N):
        total += A[row, k] * B[k, column]
    C[row, column] = total
"""
SHARED = """\
def shared(A, B, C, N):
    As = cuda.shared.array((32, 32), float32)
    Bs = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, N, 32):
        As[y, x] = A[row, k + x]
        Bs[y, x] = B[k + y, column]
        cuda.syncthreads()
        for i in range(32):
            total += As[y, i] * Bs[i, x]
        cuda.syncthreads()
    C[row, column] = total
"""
REGISTERS = """\
def registers(A, B, C, N):
    As = cuda.shared.array((8, 68), float32)
    Bs = cuda.shared.array((8, 64), float32)
    totals = cuda.local.array((8, 8), float32)
    a, b = cuda.local.array(8, float32), cuda.local.array(8, float32)
    t = cuda.threadIdx.x
    x, y = t % 8, t // 8
    top, left = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    for i in range(8):
        for j in range(8):
            totals[i, j] = 0
    for k in range(0, N, 8):
        for s in range(8):
            As[x, 8 * s + y] = A[top + 8 * s + y, k + x]
            Bs[s, t] = B[k + s, left + t]
        cuda.syncthreads()
        for i in range(8):
            for j in range(8):
                a[j] = As[i, y + 8 * j]
                b[j] = Bs[i, x + 8 * j]
            for p in range(8):
                for q in range(8):
                    totals[p, q] += a[p] * b[q]
        cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            C[top + y + 8 * i, left + x + 8 * j] = totals[i, j]
"""


def rungs() -> Mapping[str, Rung]:
    """Return the four kernels by name: "naive", "coalesced", "shared" and "registers".

    They are written for one thread, in the words of ``numba.cuda``. "coalesced" is "naive" with
    row and column exchanged. In "registers" 64 threads make a tile of 64 × 64 numbers of C, each
    thread 8 × 8 of them.

    Returns
    -------
    Mapping of str to Rung
        Slowest first.

    Examples
    --------
    >>> for rung in rl.cuda.rungs().values():
    ...     print(rung.name, rung.run().global_loads.sectors)
    naive 270336
    coalesced 40960
    shared 2048
    registers 1024
    """
    coalesced = NAIVE.replace("naive", "coalesced").replace("row, column = c", "column, row = c")
    made = (
        Rung("naive", NAIVE, (32, 32), 32), Rung("coalesced", coalesced, (32, 32), 32),
        Rung("shared", SHARED, (32, 32), 32), Rung("registers", REGISTERS, (64, 1), 64),
    )  # fmt: skip
    return {rung.name: rung for rung in made}
