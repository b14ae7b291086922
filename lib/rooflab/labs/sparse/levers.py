"""What fewer bytes a weight, and sparse tensor cores, should gain: counted, by batch; published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rooflab.count import Operation, gemm
from rooflab.count.dtypes import DType
from rooflab.count.validation import flag, size, unknown
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.catalogue import tables
from rooflab.predict.machine import Machine

FORMATS = {16: "fp16", 8: "int8"}  # of activations, by their bits


def ideal(
    machine: Machine | str, n: int, k: int, batch: int, weight_bits: int = 4, group: int = 128,
    scale_bits: int = 16, activation_bits: int = 16, sparse: bool = False,
) -> float:  # fmt: skip
    """Return how many times as fast Y = XWᵀ should be as with all of it in fp16, by the roofline.

    Parameters
    ----------
    machine : Machine or str
        With peaks of fp16, and of int8 for activations of 8 bits.
    n, k, batch, weight_bits, group, scale_bits : int
        W is n × k, X batch × k; bits of a weight, weights that share a scale, bits of that, or 0.
    activation_bits : {16, 8}
        Bits of X, in whose format is computed; Y is fp16.
    sparse : bool
        Whether W is packed 2:4: twice the peak, half the weights, and a bit a weight for positions.

    Returns
    -------
    float
        Time in fp16 over time, each the longer one of its bytes and its FLOPs: Marlin's "ideal"
        (E. Frantar et al., arXiv:2408.11743, 2024).

    Examples
    --------
    >>> a10 = rl.Machine("a10", peaks={"fp16": 125e12}, bandwidths=600e9)
    >>> [round(rl.sparse.ideal(a10, 18432, 73728, batch), 2) for batch in (1, 32, 64, 128)]
    [3.88, 3.85, 3.27, 1.64]
    """
    if activation_bits not in FORMATS:
        raise unknown("activation_bits", activation_bits, map(str, FORMATS))
    bits, speed = size("weight_bits", weight_bits, 2), 1 + flag("sparse", sparse)
    if bits % speed:
        raise ValueError(f"weight_bits={bits} must be even where half of the weights are stored")
    shared = size("scale_bits", scale_bits, 0) + (size("group", group) if sparse else 0)
    weight, form = DType("w", bits // speed, "int", 0, "", group, shared), FORMATS[activation_bits]
    small = gemm(batch, n, k, form, b=weight, c="fp16", compute=form)
    return _seconds(machine, gemm(batch, n, k, "fp16"), 1) / _seconds(machine, small, speed)


def levers(m: int, n: int, k: int, machine: Machine | str, group: int = 128) -> dict[str, float]:
    """Return :func:`ideal` by lever: weights of 8 and 4 bits, 2:4, and X of 8 bits, too.

    Parameters
    ----------
    m, n, k, machine, group
        X is m × k, W n × k. A machine without a peak of int8 has no gains of 8 bits for X.

    Returns
    -------
    dict of str to float
        How many times as fast as in fp16.

    Examples
    --------
    >>> round(rl.sparse.levers(1, 4096, 4096, "h100-sxm")["2:4"], 2)
    1.78
    """
    return {
        name: ideal(machine, n, k, m, group=group, **lever)
        for name, lever in tables("labs.sparse", "levers").items()
        if "activation_bits" not in lever or _machine(machine).has_peak("int8")
    }


def published() -> Mapping[str, Any]:
    """Return what others measured of these levers, with sources and conditions.

    Returns
    -------
    Mapping of str to Any
        The tables of published.yaml.

    Examples
    --------
    >>> rl.sparse.published()["marlin"]["speedup"]["awq"][4]
    0.86
    """
    published: Mapping[str, Any] = tables("labs.sparse", "published")
    return published


def _seconds(machine: Machine | str, op: Operation, times: int) -> float:
    m = _machine(machine)
    return max(op.flops / (times * m.peak(op.compute_dtype)), op.bytes / m.bandwidth())
