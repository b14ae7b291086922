"""Kernels compiled without a GPU: registers, spills, instructions, and how many blocks fit."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

import rooflab as rl
from rooflab.labs.cuda import available, compiler, cubin, listing_picture
from rooflab.labs.cuda.compiler import CompilationError, compile, nvidia_file
from rooflab.labs.cuda.cubin import LIMITS, occupancy, sass
from rooflab.labs.cuda.kernels import KERNELS
from rooflab.predict.catalogue import tables
from tests.labs.cuda.test_cuda_kernels import MACROS

needs_compiler = pytest.mark.skipif(
    nvidia_file("lib/libnvrtc.so.*") is None or nvidia_file("bin/nvdisasm") is None,
    reason="nvidia-cuda-nvrtc or nvidia-cuda-nvdisasm is not installed",
)
GENERATIONS = (80, 90, 100, 120)  # --all: 75, 86 and 89 as well


@needs_compiler
def test_every_kernel_compiles_for_every_gpu_it_claims(request):
    """No spill, no local memory, no more registers than its ceiling, and what it teaches."""
    faults = []
    for name, spec in KERNELS.items():
        for capability in spec.runs_on:
            if capability not in GENERATIONS and not request.config.option.all:
                continue
            compiled = compile(name, spec.arch(capability))
            assert list(compiled.kernels) == [name]
            local = compiled.spill_stores + compiled.spill_loads + compiled.stack_bytes
            # Listing the code takes longer than compiling: one generation that every kernel has.
            listed = capability == 90 or request.config.option.all
            counts = sass(compiled).counts if listed else spec.sass
            missing = [each for each in spec.sass if each not in counts]
            if local or compiled.registers > spec.registers or missing:
                faults.append((name, capability, local, compiled.registers, missing))
    for name, macros in MACROS.items():  # with other tiles, too, every array is in registers
        compiled = compile(name, KERNELS[name].arch(90), macros=macros)
        if compiled.stack_bytes:
            faults.append((name, macros, compiled.stack_bytes))
    assert not faults


@needs_compiler
def test_what_is_recorded_is_what_the_compiler_makes():
    rows = rl.cuda.summary(*KERNELS).rows
    assert {name: vars(row) for name, row in rows.items()} == tables("labs.cuda", "summary")
    for name in listing_picture.KERNELS:
        assert listing_picture.compiled_kinds(name) == rl.cuda.loop_kinds(name)


def ffma_per_lds(code: cubin.Sass) -> float:
    """FFMA of the hot loop over its loads from shared memory, of whatever width."""
    return code.loop["FFMA"] / sum(n for name, n in code.loop.items() if name.startswith("LDS"))


@needs_compiler
def test_the_staircase_asks_less_and_less_of_shared_memory():
    """FFMA a load, on each generation: 8 x 8 elements take 16 loads of 4 bytes or 4 of 16."""
    for arch in ("sm_90", "sm_120"):
        ratios = [
            ffma_per_lds(sass(compile(f"sgemm_{step}", arch)))
            for step in ("shared", "registers_1d", "registers_2d", "float4", "double_buffered")
        ]
        assert ratios == sorted(ratios)
        assert ratios[2:] == [4, 16, 16]
        assert "LDS" not in sass(compile("sgemm_naive", arch)).counts
    loop = sass(compile("hgemm_mma", "sm_90")).loop  # a tile is 64 x 32 x 32 a warp
    assert loop["HMMA"] == 64 * 32 * 32 / (16 * 8 * 16)
    assert loop["LDSM"] == 12
    assert sass(compile("hgemm_wgmma", "sm_90a")).loop["HGMMA"] == 64 / 16


@needs_compiler
def test_fp8_is_native_or_converted():
    """mma.sync on FP8 is an instruction on Ada and on sm_120, and conversions to fp16 on Hopper."""
    for arch, native in (("sm_89", True), ("sm_90", False), ("sm_100", False), ("sm_120", True)):
        counts = sass(compile("fp8gemm_mma", arch)).counts
        assert ("QMMA" in counts, "F2FP" in counts, "HMMA" in counts) == (
            native, not native, not native
        ), arch  # fmt: skip


@needs_compiler
def test_features_that_an_architecture_lacks():
    for name, arch, message in (
        ("hgemm_wgmma", "sm_90", "wgmma.* not supported on .target .sm_90."),
        ("hgemm_wgmma", "sm_100a", "wgmma"),
        ("sgemm_multicast", "sm_80", "__cluster_dims__ is not supported"),
        ("fp8gemm_mma", "sm_80", "sm_89"),
    ):
        with pytest.raises(CompilationError, match=message):
            compile(name, arch)


@needs_compiler
def test_spills_show_in_the_log_and_in_the_code():
    easy, capped = (compile("sgemm_shared", options=o) for o in ((), ["-maxrregcount=24"]))
    assert easy.spill_loads == 0 and easy.shared_bytes == capped.shared_bytes == 2 * 32 * 32 * 4
    assert compile("sgemm_shared", macros={"TILE": 16}).shared_bytes == 2 * 16 * 16 * 4
    array = compile("""extern "C" __global__ void bad(float* x, int n) {
        float held[64];
        for (int i = 0; i < 64; ++i) held[i] = x[i];
        for (int i = 0; i < n; ++i) x[i] = held[(i * 7) % 64];
    }""")
    assert array.stack_bytes == 256
    assert "LDL" in sass(array).counts


@needs_compiler
def test_errors_of_the_compiler_name_the_line():
    with pytest.raises(CompilationError, match=r'kernel.cu\(2\): error: identifier "y"'):
        compile('extern "C" __global__ void f(float* x) {\n    x[0] = y;\n}')
    with pytest.raises(CompilationError, match="TM must divide BM"):
        compile("sgemm_registers_1d", macros={"TM": 7})
    two = compile("__global__ void f() {}\n__global__ void g(int* x) { *x = 1; }")
    with pytest.raises(ValueError, match="other than one kernel .*: ask .kernels"):
        _ = two.registers
    assert len(two.kernels) == 2
    with pytest.raises(ValueError, match="kernel=None is unknown"):
        sass(two)


def test_arguments_that_do_not_fit():
    for kind, message, arguments in (
        (ValueError, "did you mean 'sgemm_shared'", ("sgemm_share",)),
        (TypeError, "source=3", (3,)),
        (ValueError, 'arch=90 must be "sm_"', ("sgemm_shared", 90)),
        (ValueError, "has no BM; it has TILE", ("sgemm_shared", "sm_90", (), {"BM": 1})),
        (TypeError, "must be a list of texts", ("sgemm_shared", "sm_90", "-O3")),
    ):  # fmt: skip
        with pytest.raises(kind, match=message):
            compile(*arguments)


def test_what_to_install(monkeypatch):
    """Without NVIDIA's wheels the message is a command; on a Mac there is none to give."""
    monkeypatch.setattr(compiler, "nvidia_file", lambda pattern: None)
    monkeypatch.setattr(cubin, "nvidia_file", lambda pattern: None)
    monkeypatch.setattr(compiler.ctypes, "CDLL", _no_library)
    with pytest.raises(ModuleNotFoundError, match='pip install "nvidia-cuda-nvrtc>=13.4"'):
        compiler.library.__wrapped__()
    with pytest.raises(ModuleNotFoundError, match='pip install "nvidia-cuda-nvdisasm>=13.4"'):
        cubin._nvdisasm()
    monkeypatch.setattr(compiler.sys, "platform", "darwin")
    with pytest.raises(ModuleNotFoundError, match="Linux and Windows only"):
        compiler.library.__wrapped__()


def _no_library(name: str) -> None:
    raise OSError(f"{name}: cannot open shared object file")


def test_occupancy_by_published_figures():
    """256 threads of 60 or 64 registers: 4 blocks; 128 threads of 56 or 64: 9 and 8 (sm_90)."""
    for registers, shared, threads, arch, blocks, limits in (
        (60, 0, 256, "sm_90", 4, ("registers",)),
        (64, 0, 256, "sm_90", 4, ("registers",)),
        (56, 0, 128, "sm_90", 9, ("registers",)),
        (64, 0, 128, "sm_90", 8, ("registers",)),
        (32, 0, 1024, "sm_90a", 2, ("registers", "threads")),
        (16, 0, 32, "sm_90", 32, ("blocks",)),
        (64, 0, 1024, "sm_80", 1, ("registers",)),
        (65, 0, 1024, "sm_80", 0, ("registers",)),
        (32, 227 * 1024, 128, 90, 1, ("shared memory",)),
        (32, 227 * 1024 + 1, 128, 90, 0, ("shared memory",)),
        (242, 147_456, 256, 90, 1, ("registers", "shared memory")),  # CUTLASS's default, sm_80 tag
        (32, 32 * 1024, 64, 75, 2, ("shared memory",)),  # nothing is reserved on Turing
        (32, 0, 512, 86, 3, ("threads",)),
        (32, 0, 1056, 90, 0, ("threads",)),
    ):
        result = occupancy(registers, shared, threads, arch)
        assert (result.blocks, result.limits) == (blocks, limits)
        assert result.warps == blocks * -(-threads // 32)
    assert occupancy(32, 0, 256, 90).share == 1.0
    for arch in LIMITS:  # more registers never allow more blocks
        row = [occupancy(registers, 0, 192, arch).blocks for registers in range(1, 256)]
        assert row == sorted(row, reverse=True)
    with pytest.raises(ValueError, match="arch='sm_70' is unknown"):
        occupancy(32, 0, 128, "sm_70")


def test_what_runs_here_is_told_for_each_kind_of_computer(monkeypatch):
    def without_compiler() -> None:
        raise ModuleNotFoundError("no NVRTC")

    def gpu(capability: str) -> SimpleNamespace:
        device = SimpleNamespace(compute_capability=capability)
        return SimpleNamespace(cuda=SimpleNamespace(Device=lambda: device))

    monkeypatch.setattr(available, "probe_gpu", lambda: (None, "no driver"))
    assert "yes, with NVIDIA" in rl.cuda.here() and "no (no driver)" in rl.cuda.here()
    monkeypatch.setattr(available, "library", without_compiler)
    assert "no (no NVRTC). What the compiler says" in rl.cuda.here()
    able = {}
    for capability in ("75", "80", "90", "100"):
        monkeypatch.setattr(available, "probe_gpu", lambda: (gpu(capability), ""))  # noqa: B023
        able[capability] = int(re.search(r"yes, (\d+) of 23 kernels", rl.cuda.here())[1])
    assert able["75"] < able["80"] < able["90"] == 23 > able["100"]  # sm_90a runs on sm_90 alone
