"""A small recording of a machine that does not exist, for tests."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import rooflab as rl
from rooflab.measure import record
from rooflab.measure.measurement import Measurement

ASSETS = Path(__file__).parents[2] / "assets" / "recordings"
CPU = {
    "system": "Linux 6.8.0", "architecture": "x86_64", "cpu": "Example 9000",
    "cores": {"available": 4, "logical": 8, "physical": 4},
    "caches": {"l1": 32768, "l2": None, "l3": 8388608}, "memory": 16_000_000_000,
    "virtual": [], "power": None, "python": "CPython 3.12.0", "packages": {"numpy": "2.1.0"},
    "blas": [{"user_api": "blas", "architecture": "Haswell"}],
}  # fmt: skip


def roofs(threads: int | None = 1, peak: float = 1e11, bandwidth: float = 2e10) -> dict:
    mixes = {mix: {"value": bandwidth, "samples": [bandwidth]} for mix in ("read", "axpy", "copy")}
    return {
        "schema": 1, "backend": "cpu", "threads": threads, "measured_on": "2026-11-21T10:00:00Z",
        "seconds": 3.0, "peak": {
            "fp32": {"value": peak, "samples": [peak, 0.9 * peak]},
            "fp64": {"value": peak / 2, "samples": [peak / 2]},
        },
        "bandwidth": {"dram": mixes}, "capacity": {"dram": 16_000_000_000},
    }  # fmt: skip


def small_campaign(monkeypatch: pytest.MonkeyPatch, axpy: int, gemv: int, gemm: int) -> None:
    """Sizes up to these powers of two, roofs that were measured earlier, no free lunch."""
    monkeypatch.setattr(record, "LARGEST", {"cpu": {"axpy": axpy, "gemv": gemv, "gemm": gemm}})
    monkeypatch.setattr(record, "measured_roofs", lambda backend, threads, _: roofs(threads))
    monkeypatch.setattr(record, "lunch_step", lambda backend, name: None)


def document() -> dict:
    ops = (rl.axpy(1000), rl.gemv(100, 200, "fp64"), rl.gemm(64, 32, 16))
    measured = [
        Measurement(
            op, "example", "cpu", cache, threads, (1e-5, 1.1e-5, 1.2e-5), ("noisy: a test",),
            {**CPU, "kernel": "a kernel", "clock": "a clock"},
        ).to_dict()
        for op in ops for cache in ("cold", "warm") for threads in (1, 4)
    ]  # fmt: skip
    return {
        "schema": 1, "name": "example", "recorded_on": "2026-11-21T10:05:00Z", "quick": False,
        "environment": CPU, "roofs": [roofs(1), roofs(4, peak=4e11, bandwidth=3e10)],
        "free_lunch": {
            "k": [1, 2, 4], "seconds": [0.1, 0.1, 0.2], "iqr": [0.0, 0.0, 0.0], "n": 1000,
            "itemsize": 4, "threads": 1, "dtype": "fp32",
        },
        "left_out": [{"what": "gemm 4096", "reason": "no time"}],
        "measurements": measured,
    }  # fmt: skip


def schema() -> jsonschema.Draft202012Validator:
    loaded = json.loads((ASSETS / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(loaded)
    return jsonschema.Draft202012Validator(loaded)
