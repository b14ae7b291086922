"""Systems that this one is not: a GPU that is too old, a Mac's tools, caches that nobody lists."""

from __future__ import annotations

import os
import subprocess
import sys
import types

import numpy as np
import pytest

import rooflab.count as rl
from rooflab.measure import backend, caches, measure, settings
from rooflab.measure.backend import Backend
from rooflab.measure.kernels import kernel_for
from rooflab.measure.operands import make
from tests.support.rows import each_row


def test_a_gpu_without_tf32_refuses_it_by_its_name(fake, monkeypatch) -> None:
    card = Backend("gpu", fake, "a test", "Old Card")
    monkeypatch.setattr(type(fake.cuda.Device()), "compute_capability", "75")
    with pytest.raises(ValueError, match=r"Old Card has no tf32 \(compute capability 8\.0 has\)"):
        kernel_for(rl.gemm(8, 8, 8, "tf32"), card)
    monkeypatch.setattr(type(fake.cuda.Device()), "compute_capability", "80")
    assert kernel_for(rl.gemm(8, 8, 8, "tf32"), card)


def test_cupy_has_no_arrays_of_an_fp8(fake) -> None:
    card = Backend("gpu", fake, "a test", "Some Card")
    with pytest.raises(ValueError, match="CuPy has no arrays of this format"):
        make(rl.gemm(8, 8, 8, "fp8"), card)


def test_a_folder_called_cupy_is_no_cupy(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", types.ModuleType("cupy"))
    assert backend.probe_gpu() == (None, "CuPy is not installed")


def test_a_gpu_that_nobody_can_ask_has_no_number(monkeypatch) -> None:
    broken = types.ModuleType("cupy")
    monkeypatch.setitem(sys.modules, "cupy", broken)
    assert backend.current_device() is None
    monkeypatch.delitem(sys.modules, "cupy")
    assert backend.current_device() is None, "and none is imported to be asked"


class Done:
    """What a command gave back."""

    def __init__(self, stdout: str, returncode: int = 0) -> None:
        self.stdout, self.returncode = stdout, returncode


def test_a_macs_tools_are_asked_and_may_be_silent(monkeypatch) -> None:
    told = {"hw.perflevel0.name": Done("Performance\n"), "none": Done("what?", 1)}
    monkeypatch.setattr(subprocess, "run", lambda command, **_: told[command[-1]])
    assert settings.printed("sysctl", "-n", "hw.perflevel0.name") == "Performance"
    assert settings.printed("sysctl", "-n", "none") == ""

    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError("sysctl")

    monkeypatch.setattr(subprocess, "run", missing)
    assert settings.printed("sysctl", "-n", "hw.nperflevels") == ""


def test_caches_come_from_sysconf_where_linux_lists_none(monkeypatch, tmp_path) -> None:
    sizes = {"SC_LEVEL1_DCACHE_SIZE": 32768, "SC_LEVEL2_CACHE_SIZE": 1 << 20,
             "SC_LEVEL3_CACHE_SIZE": 0}  # fmt: skip
    monkeypatch.setattr(os, "sysconf_names", dict.fromkeys(sizes, 1), raising=False)
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    assert caches._linux(tmp_path) == {"l1": 32768, "l2": 1 << 20}, "0 is a cache that is not told"
    monkeypatch.delattr(os, "sysconf_names")
    assert caches._linux(tmp_path) == {}


@each_row(((3, 5), True), ((3, 3), False), ((None, 5), False), ((3, None), False))
@pytest.mark.usefixtures("quick")
def test_a_processor_that_slowed_down_is_told(counts, warned, monkeypatch) -> None:
    told = iter(counts)
    monkeypatch.setattr(measure, "throttle_count", lambda: next(told, counts[-1]))
    found = measure.measure(rl.axpy(500), lambda x, y: np.add(x, y, out=y), threads=1, samples=3)
    said = "the processor slowed down because of heat"
    assert any(said in text for text in found.warnings) == warned
