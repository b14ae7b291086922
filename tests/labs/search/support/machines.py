"""A machine of round numbers, so that no test measures one."""

from __future__ import annotations

import rooflab as rl
from rooflab.measure.roof_kernels import Target

PLAIN = rl.Machine(
    "plain", kind="cpu", threads=1, peaks={"fp32": 256e9},
    bandwidths={"l1": 512e9, "l2": 256e9, "l3": 128e9, "dram": 32e9},
    capacities={"l1": 32768, "l2": 1 << 20, "l3": 32 << 20, "dram": 1 << 34},
)  # fmt: skip
WIDE = Target(64, 12, True)  # AVX-512
NARROW = Target(32, 12, True)  # AVX2
ARM = Target(16, 20, True)
