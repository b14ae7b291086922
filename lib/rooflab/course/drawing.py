"""What cases of several lessons are drawn from: number types by size, machines of the catalogue."""

from __future__ import annotations

from rooflab.predict.catalogue import machine

DTYPES = {8: "fp64", 4: "fp32", 2: "fp16", 1: "fp8_e4m3"}  # itemsize → a dtype of that size


def peak_and_bandwidth(name: str, kind: str) -> tuple[float, float]:
    """Peak in FLOP/s and bandwidth in byte/s of a catalogue machine; fp64 without matrix units."""
    found = machine(name)
    unit = "vector" if kind == "fp64" else None
    return float(found.peak(kind, unit)), float(found.bandwidth())
