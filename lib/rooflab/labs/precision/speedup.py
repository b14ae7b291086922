"""Expected speed-up of a quantised linear layer over bf16, counted, and what was observed.

The model is that of torchao's roofline_utils.py: a product, whose output is bf16, takes the longer
of its FLOPs and its bytes; the activation before it reads bf16 and writes what the product reads;
nothing is shorter than a launch.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from rooflab.count import Operand
from rooflab.count.dtypes import as_dtype
from rooflab.count.validation import amount, flag, shape
from rooflab.labs.precision.blocks import BLOCKS
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.catalogue import tables
from rooflab.predict.machine import Machine

LAUNCH_S = 2e-6  # torchao: a kernel that reads and writes a single element, H100


def expected(
    mnk: tuple[int, int, int],
    format: str,
    machine: Machine | str,
    *,
    peak: float = 0.78,
    bandwidth: float = 0.92,
    static: bool = False,
) -> float:
    """Count how many times as fast an activation and its product are in a narrow format as in bf16.

    Parameters
    ----------
    mnk, format : tuple of int, str
        Sizes, m×k times weights of k×n; one of :func:`block_quantise`, or such as "fp8_e4m3".
    machine, peak, bandwidth : Machine or str, float, float
        Where, and the shares of its peak and bandwidth that are reached.
    static : bool
        Whether a tensor's scale, which nvfp4 has, is known before its values are read.

    Returns
    -------
    float

    Examples
    --------
    >>> round(rl.precision.expected((4096, 4096, 4096), "mxfp8_e4m3", "b200"), 2)
    1.9
    """
    if len(shape("mnk", mnk)) != 3:
        raise ValueError(f"mnk={mnk!r} must be the three sizes of a product")
    m, n, k = mnk
    where, share = _machine(machine), amount("peak", peak, "a share, 0 to 1", most=1)
    rate = where.bandwidth() * amount("bandwidth", bandwidth, "a share, 0 to 1", most=1)
    narrow = as_dtype("format", BLOCKS[format][0] if format in BLOCKS else format)
    seconds = []
    for kind in (as_dtype("format", "bf16"), narrow):
        known = flag("static", static) or not kind.tensor_bytes
        reads = 1 if known else 2  # once more for the tensor's scale
        x, w = Operand("x", (m, k), kind).nbytes, Operand("w", (k, n), kind, axis=0).nbytes
        product = max(2 * m * n * k / (where.peak(kind) * share), (x + w + 2 * m * n) / rate)
        activation = (2 * m * k * reads + x) / rate  # bf16 has 2 bytes
        seconds.append(max(product, LAUNCH_S) + max(activation, LAUNCH_S))
    return seconds[0] / seconds[1]


@dataclass(frozen=True)
class Published:
    """A speed-up that torchao's model expects, and what was observed; see :func:`expected`.

    >>> row = rl.precision.published()[5]
    >>> row.format, row.mnk, row.expected, row.observed
    ('nvfp4', (1024, 1024, 1024), 1.0, 0.46)
    """

    format: str
    mnk: tuple[int, int, int]
    static: bool
    expected: float
    observed: float
    machine: str
    bandwidth: float
    conditions: str
    source: str

    def counted(self) -> float:
        """Return what :func:`expected` counts with the bandwidth of torchao's model."""
        b200 = replace(_machine(self.machine), bandwidths=self.bandwidth)
        return expected(self.mnk, self.format, b200, static=self.static)


@functools.cache
def published() -> tuple[Published, ...]:
    """Return the rows of torchao's tables of expected and observed speed-ups, for B200.

    Returns
    -------
    tuple of Published
        Products of five sizes in mxfp8, in nvfp4, and in nvfp4 with a static scale.

    Examples
    --------
    >>> rows = rl.precision.published()
    >>> sum(round(row.counted(), 2) == row.expected for row in rows), len(rows)
    (15, 15)
    """
    return tuple(
        Published(mnk=(edge,) * 3, expected=wanted, observed=seen, **table["all"])
        for table in tables("labs.precision", "published")
        for edge, (wanted, seen) in table["rows"].items()
    )
