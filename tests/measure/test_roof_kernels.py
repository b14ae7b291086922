"""The roof kernels do what they say: right results, full vectors, nothing dropped."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numpy as np
import pytest

from rooflab.measure import roof_kernels
from rooflab.measure.operands import aligned
from rooflab.measure.roof_kernels import Target, host, target_of
from rooflab.measure.threads import Crew
from tests.support.rows import each_row

AVX512 = target_of("x86_64", {"avx512f": True})
AVX2 = target_of("AMD64", {"avx": True, "avx2": True, "fma": True})
SSE = target_of("x86_64", {"sse2": True})
NEON = target_of("arm64", {})
MULTIPLY_ADD = {"avx512": r"vfmadd.*zmm", "avx2": r"vfmadd.*ymm", "neon": r"fmla.*\.4s|fmla.*\.2d"}
TARGETS = {"avx512": AVX512, "avx2": AVX2, "neon": NEON}


def assembly(ir: str, target: Target) -> str:
    """The machine code of `ir` as text, also for a processor that is not here."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = f"{'aarch64' if target is NEON else 'x86_64'}-unknown-linux-gnu"
    generator = llvm.Target.from_triple(triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=3
    )
    return str(generator.emit_assembly(llvm.parse_assembly(ir)))


def array(nbytes: int, dtype: type) -> np.ndarray:
    return aligned(nbytes).view(dtype)


def run(kernel, *args) -> None:
    with Crew(1) as crew:
        crew.time([(kernel, args)])


@each_row(
    ("x86_64", {"avx512f": True, "avx": True}, 64, True),
    ("AMD64", {"avx": True, "fma": True}, 32, True),  # Haswell, Zen
    ("x86_64", {"avx": True, "fma": False}, 32, False),  # Sandy Bridge has no FMA
    ("arm64", {}, 16, True),
    ("aarch64", {"sve": True}, 16, True),
    ("riscv64", {}, 16, False),
)
def test_vector_width_of_known_processors(arch, features, vector_bytes, fused):
    found = target_of(arch, features)
    assert (found.vector_bytes, found.fused) == (vector_bytes, fused)


def test_enough_chains_to_hide_the_latency():
    """latency x units: Skylake to Zen 5 at most 4 x 2, Haswell 5 x 2, Apple M, Neoverse 4 x 4."""
    assert target_of("x86_64", {}).chains >= 10
    assert target_of("arm64", {}).chains >= 16
    assert target_of("x86_64", {}).chains + 2 <= 16  # and the two constants fit in registers too
    assert target_of("arm64", {}).chains + 2 <= 32


@each_row(*TARGETS)
@each_row("fp32", "fp64")
def test_peak_loop_is_one_fused_instruction_a_chain(dtype, name):
    code = assembly(roof_kernels.fma_ir(dtype, TARGETS[name]), TARGETS[name])
    assert len(re.findall(MULTIPLY_ADD[name], code)) == TARGETS[name].chains
    assert not re.search(r"\bfmaf?\b|call", code)  # no library call in place of the instruction


def test_without_fma_multiply_and_add_are_two_instructions():
    code = assembly(roof_kernels.fma_ir("fp32", SSE), SSE)
    assert len(re.findall(r"mulps", code)) == len(re.findall(r"addps", code)) == SSE.chains
    assert "fma" not in code


@each_row(AVX512, AVX2)
@each_row(*roof_kernels.MIXES)
def test_stream_loads_and_stores_every_vector_once(mix, target):
    register = "zmm" if target is AVX512 else "ymm"
    code = assembly(roof_kernels.stream_ir(mix, target), target)
    loads, stores = roof_kernels.MIXES[mix]
    memory = r"-?\d*\(%r[^)]*\)"
    read = re.findall(rf"^\s+v\w+\s+{memory}.*%{register}\d+", code, re.M)
    written = re.findall(rf"^\s+vmov\w+\s+%{register}\d+, {memory}", code, re.M)
    assert len(read) == loads * roof_kernels.UNROLL
    assert len(written) == stores * roof_kernels.UNROLL


@each_row("fp32", "fp64")
def test_multiply_adds_reach_their_fixed_point(dtype):
    """x = x/2 + 1 tends to 2 from anywhere: no overflow, no denormal, however long it runs."""
    kernel, flop = roof_kernels.fma_kernel(dtype)
    out = array(roof_kernels.lunch_block(host()), {"fp32": np.float32, "fp64": np.float64}[dtype])
    run(kernel, out.ctypes.data, 200, 0.5, 1.0)
    assert (out == 2.0).all()
    assert flop == 2 * out.size


@each_row(np.float32, np.float64)
@each_row(1, 2, 7)
def test_lunch_applies_k_multiply_adds_to_every_element(k, dtype):
    nbytes = 5 * roof_kernels.lunch_block(host())
    x = array(nbytes, dtype)
    x[:] = np.random.default_rng(k).random(x.size)
    expected = x.copy()
    for _ in range(k):  # halving is exact, so fused and unfused results are the same bits
        expected = expected * dtype(0.5) + dtype(1)
    kernel = roof_kernels.lunch_kernel({np.float32: "fp32", np.float64: "fp64"}[dtype])
    run(kernel, x.ctypes.data, nbytes, k, 0.5, 1.0)
    np.testing.assert_array_equal(x, expected)


@each_row(
    ("read", lambda x, y: x, lambda x, y: y),
    ("copy", lambda x, y: x, lambda x, y: x),
    ("update", lambda x, y: x / 2, lambda x, y: y),
    ("axpy", lambda x, y: x, lambda x, y: x / 2 + y),
)
def test_streams_compute_what_their_name_says_and_touch_nothing_else(mix, new_x, new_y):
    nbytes = 3 * roof_kernels.stream_block(host())
    x, y = array(nbytes + 64, np.float64), array(nbytes + 64, np.float64)
    x[:], y[:] = np.arange(x.size), -np.arange(y.size)
    inside = slice(0, nbytes // 8)
    x0, y0 = x.copy(), y.copy()
    run(roof_kernels.stream_kernel(mix), x.ctypes.data, y.ctypes.data, nbytes, 1, 0.5, 0.0)
    np.testing.assert_array_equal(x[inside], new_x(x0, y0)[inside])
    np.testing.assert_array_equal(y[inside], new_y(x0, y0)[inside])
    np.testing.assert_array_equal(x[nbytes // 8 :], x0[nbytes // 8 :])
    np.testing.assert_array_equal(y[nbytes // 8 :], y0[nbytes // 8 :])


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_narrower_and_unfused_kernels_run_here_with_the_same_result(
    vector_bytes, fused, monkeypatch
):
    if vector_bytes > host().vector_bytes or (fused and not host().fused):
        pytest.skip("wider than this processor's vectors")
    narrow = Target(vector_bytes, 8, fused, host().cpu, host().features)
    monkeypatch.setattr(roof_kernels, "host", lambda: narrow)
    kernel = roof_kernels.lunch_kernel.__wrapped__("fp64")
    nbytes = 4 * roof_kernels.lunch_block(narrow)
    x = array(nbytes, np.float64)
    x[:] = 6.0
    run(kernel, x.ctypes.data, nbytes, 2, 0.5, 1.0)
    assert (x == 3.0 / 2 + 1 + 0.5).all()  # 6 -> 4 -> 3


def test_passes_repeat_the_stream():
    nbytes = roof_kernels.stream_block(host())
    x = array(nbytes, np.float64)
    x[:] = 1024.0
    run(roof_kernels.stream_kernel("update"), x.ctypes.data, x.ctypes.data, nbytes, 10, 0.5, 0.0)
    assert (x == 1.0).all()


def test_a_platform_that_hides_its_features_gets_the_baseline(monkeypatch):
    def unknown():
        raise RuntimeError("not implemented for this platform")

    monkeypatch.setattr(llvm, "get_host_cpu_features", unknown)
    found = roof_kernels.host.__wrapped__()
    assert found.vector_bytes == 16
    assert found.features == ""


@each_row(AVX512, NEON)
@each_row(1, 2, 5)
def test_a_chase_is_nothing_but_loads_that_wait_for_each_other(chains, target):
    """In its loop each load's address is what the load before it, of the same chase, returned."""
    code = assembly(roof_kernels.chase_ir(chains, target), target)
    load = r"^\s+movq\s+\((%r\w+)\), \1$" if target is AVX512 else r"^\s+ldr\s+(x\d+), \[\1\]$"
    hops = roof_kernels.chase_hops(chains) * chains
    assert hops <= roof_kernels.CHASE_UNROLL
    assert len(re.findall(load, code, re.M)) >= hops  # and two where a register is reused


@each_row((1, 16), (2, 8), (5, 3), (16, 1), (64, 1))
def test_hops_of_one_turn(chains, hops):
    assert roof_kernels.chase_hops(chains) == hops
