"""Accelerators of the catalogue that others timed, as operations that 03-predict may ask.

Sources: the table of achievable matmul FLOPS in stas00/ml-engineering, compute/accelerator (bf16,
the mean of 100 calls after 50 to warm up, caches emptied; its shapes as m, n, k), and the result
files of gpu-stream in te42kyfo/gpu-benches (fp64, arrays of 2^27 + 2 numbers, the median of 9; the
row with all threads). Left out: a GH200 with more memory than the catalogue's, an A100 with PCIe.
Neither gives a spread or the time of a call, which is short beside these times.
"""

from __future__ import annotations

from functools import cache

from rooflab.count import gemm
from rooflab.exercises.drawing import peak_and_bandwidth
from rooflab.exercises.lesson03_timed import Timed
from rooflab.predict.catalogue import machine

MATMULS = (  # machine, shape, FLOP/s
    ("gaudi2", (14336, 15360, 2048), 418.7e12),
    ("a100-sxm-80", (1024, 10240, 5120), 271.2e12),
    ("h100-sxm", (2048, 2048, 13312), 794.5e12),
    ("b300", (12288, 18432, 1024), 1769.0e12),
    ("b200", (1792, 16128, 3072), 1745.0e12),
    ("gaudi3", (16384, 4096, 768), 1243.0e12),
    ("gb200", (4096, 9728, 2048), 1822.0e12),
    ("mi355x", (12288, 8192, 8192), 1565.0e12),
    ("mi325x", (13312, 10240, 8192), 784.9e12),
    ("mi300x", (10240, 15360, 8192), 668.4e12),
)
LENGTH = 128 * 2**20 + 2
STREAMS = (  # machine, kernel, byte/s
    ("a100-sxm-40", "scale", 1381e9),
    ("a100-sxm-40", "triad", 1360e9),
    ("mi100", "scale", 1042e9),
    ("mi100", "triad", 1006e9),
    ("mi210", "scale", 1358e9),
    ("mi210", "triad", 1248e9),
    ("h200-sxm", "scale", 3165e9),
    ("h200-sxm", "triad", 3534e9),
)
KERNELS = {"scale": (1, 2), "triad": (2, 3)}  # FLOPs and fp64 numbers carried, for each result


@cache
def timed_elsewhere() -> tuple[Timed, ...]:
    """Those of the published times that are fair to ask, products first."""
    return tuple(entry for entry in (*_matmuls(), *_streams()) if entry.fair)


def _matmuls() -> list[Timed]:
    found = []
    for name, shape, rate in MATMULS:
        op = gemm(*shape, "bf16")
        found.append(_entry(op.label, name, "bf16", op.flops, op.bytes, op.flops / rate))
    return found


def _streams() -> list[Timed]:
    found = []
    for name, kernel, rate in STREAMS:
        flops, numbers = (LENGTH * each for each in KERNELS[kernel])
        nbytes = 8 * numbers
        found.append(_entry(f"{kernel} fp64", name, "fp64", flops, nbytes, nbytes / rate))
    return found


def _entry(what: str, name: str, dtype: str, flops: int, nbytes: int, seconds: float) -> Timed:
    """``seconds`` on a machine of the catalogue, with its one bandwidth and no call."""
    peak, bandwidth = peak_and_bandwidth(name, dtype)
    case = {
        "flops": flops, "bytes": nbytes, "peak": peak, "bandwidth": [bandwidth],
        "capacity": [machine(name).capacities["dram"]], "call": 0.0,
    }  # fmt: skip
    return Timed(case, seconds, 0.0, what, name)
