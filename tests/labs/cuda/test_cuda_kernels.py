"""The catalogue of CUDA kernels: each is run on the CPU against NumPy, and its launch is checked.

The .cu are C++ but for a few words; a C++ compiler builds them with those words defined, and with
the PTX replaced by what the PTX ISA says that it does (cuda_on_cpu.cpp). No GPU is needed.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rooflab.labs.cuda.kernels import KERNELS, KernelSpec, source_of
from rooflab.labs.cuda.loader import (
    LoadedKernel,
    arch_for,
    load,
    operands,
    plan,
    ragged_sizes,
    require_equal,
)

COMPILER = shutil.which("g++")
MACROS = {  # other values of macros than the defaults, which must work as well
    "gemv_split": {"CHUNK": 48},
    "sgemm_shared": {"TILE": 16},
    "sgemm_registers_1d": {"BM": 32, "BN": 32, "TM": 4},
    "sgemm_registers_2d": {"BM": 64, "BN": 64, "BK": 16, "TM": 4},
    "sgemm_float4": {"BK": 16},
    "hgemm_mma": {"STAGES": 2},
    "hgemm_wgmma": {"STAGES": 2},
}
PADDING = 4096  # elements on both sides of an array, that nobody may read or write


def as_cpp(spec: KernelSpec, macros: dict[str, int], alias: str) -> str:
    """Return a kernel as C++ in a namespace of its own, and the function that launches it."""
    code = re.sub(r"// PTX begins.*?// PTX ends\n", "", source_of(spec.name), flags=re.DOTALL)
    code = code.replace("#include <mma.h>", "")
    code = re.sub(
        r"extern __shared__ .*? (\w+)\[\];", r"unsigned char* const \1 = dynamic_memory;", code
    )
    names = re.findall(r"^\s*#define (\w+)", code, re.MULTILINE)
    defines = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    undefines = "".join(f"#undef {name}\n" for name in dict.fromkeys(names))
    arguments = [
        *(f"Any{{a[{i}]}}" for i in range(len(spec.arrays))),
        *(f"f[{i}]" for i in range(len(spec.scalars))),
        *(f"z[{i}]" for i in range(len(spec.sizes))),
    ]
    code = code.replace('extern "C"', "static")
    launch = (
        f'extern "C" void run_{alias}(unsigned* shape, void** a, float* f, int* z) {{\n'
        f"    launch(shape, [=] {{ {alias}::{spec.name}({', '.join(arguments)}); }});\n}}\n"
    )
    return f"{defines}namespace {alias} {{\n{code}\n}}\n{undefines}@@{launch}"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """All kernels in one library: run_NAME with default macros, run_NAME_other with MACROS."""
    if COMPILER is None:
        pytest.skip("no g++ on this machine")
    folder = tmp_path_factory.mktemp("kernels")
    parts = [as_cpp(spec, {}, f"{spec.name}_usual") for spec in KERNELS.values()]
    parts += [as_cpp(KERNELS[name], macros, f"{name}_other") for name, macros in MACROS.items()]
    code = Path(__file__).with_name("cuda_on_cpu.cpp").read_text("utf-8")
    kernels, launches = zip(*(part.split("@@") for part in parts), strict=True)
    code = code.replace("@KERNELS@", "".join(kernels)).replace("@LAUNCHES@", "".join(launches))
    source, built = folder / "kernels.cpp", folder / "kernels.so"
    source.write_text(code)
    done = subprocess.run(
        [COMPILER, "-std=c++20", "-O1", "-fno-strict-aliasing", "-w", "-shared", "-fPIC",
         "-pthread", str(source), "-o", str(built)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:4000]
    return ctypes.CDLL(str(built))


def run(library: ctypes.CDLL, name: str, macros: dict[str, int], sizes: dict[str, int]) -> None:
    """Run a kernel as it would be launched; beside its inputs lie NaN, beside its output 77."""
    spec = KERNELS[name]
    arrays, expected = operands(spec, sizes)
    made = plan(name, [array.shape for array in arrays], **macros)
    if spec.zeroed:
        arrays[-1][...] = 0
    stores, inner = [], []
    for array in arrays:
        beside = np.nan if array.dtype.kind == "f" and array is not arrays[-1] else 77
        store = np.full(array.size + 2 * PADDING + 64, beside, array.dtype)
        start = PADDING + (-(store.ctypes.data + PADDING * array.itemsize) % 64) // array.itemsize
        inner.append(store[start : start + array.size].reshape(array.shape))
        inner[-1][...] = array
        stores.append((store, start))
    pointers = [array.ctypes.data for array in inner]
    maps = []  # where a tensor map would be: the address and the shape
    for i, array in enumerate(spec.arrays):
        if array.name in spec.tiles:
            maps.append(np.array([pointers[i], 0], np.int64))
            maps[-1].view(np.int32)[2:] = inner[i].shape
            pointers[i] = maps[-1].ctypes.data
    grid, block = (*made.grid, 1)[:2], (*made.block, 1)[:2]
    getattr(library, f"run_{name}_{'other' if macros else 'usual'}")(
        (ctypes.c_uint * 6)(*grid, *block, made.shared_bytes, spec.cluster),
        (ctypes.c_void_p * len(pointers))(*pointers),
        (ctypes.c_float * 4)(*spec.scalars.values()),
        (ctypes.c_int * 4)(*made.sizes.values()),
    )
    require_equal(name, sizes, inner[-1], expected)
    store, start = stores[-1]
    assert (store[:start] == 77).all() and (store[start + expected.size :] == 77).all(), name


def test_every_kernel_is_right_on_ragged_sizes(library):
    """Small integers: each element must be exact, whatever the order of the additions."""
    faults = []
    for name, spec in KERNELS.items():
        for macros in ({}, MACROS[name]) if name in MACROS else ({},):
            for sizes in ragged_sizes(spec):
                try:
                    run(library, name, macros, sizes)
                except (ArithmeticError, AssertionError) as fault:
                    faults.append(f"{macros} {sizes} {fault}")
    assert not faults, "\n".join(faults)


def test_launches_by_hand():
    """Grids of shapes whose tiles are counted by hand."""
    square = [(4096, 4096)] * 3
    assert plan("sgemm_naive", square).grid == (128, 128)
    assert plan("sgemm_registers_2d", square).block == (256,)
    assert plan("sgemm_shared", [(100, 30), (30, 70), (100, 70)], TILE=16).grid == (5, 7)
    assert plan("axpy_float4", [(4097,), (4097,)]).grid == (5,)
    assert plan("hgemm_mma", square).shared_bytes == 3 * (128 * 40 + 32 * 136) * 2
    assert plan("hgemm_wgmma", square).shared_bytes == 4 * 2 * 128 * 128
    assert plan("hgemm_sparse", [(64, 32), (64, 4), (48, 64), (64, 48)]).sizes["K"] == 64
    assert plan("sgemm_multicast", [(64, 32), (32, 384), (64, 384)]).grid == (6, 1)


def test_shapes_and_macros_that_no_launch_can_have():
    gemm = [(8, 4), (4, 12), (8, 12)]
    for message, name, shapes, macros in (
        ("did you mean 'sgemm_naive'", "sgemm_naiv", gemm, {}),
        ("A, B, C, not 2 arrays", "sgemm_naive", gemm[:2], {}),
        (r"\(5, 12\); \[K, N\] is \(4, 12\)", "sgemm_naive", [(8, 4), (5, 12), (8, 12)], {}),
        ("N=11 .* multiple of 4 .* to 12", "sgemm_float4", [(8, 4), (4, 11), (8, 11)], {}),
        ("sgemm_naive has no TILE", "sgemm_naive", gemm, {"TILE": 8}),
        ("1600 threads; a block has 1 to 1024", "sgemm_shared", gemm, {"TILE": 40}),
        ("TILE=0 must be a positive integer", "sgemm_shared", gemm, {"TILE": 0}),
        ("x has shape .* is right", "axpy_scalar", [(2**31,), (2**31,)], {}),
        ("x has shape .* is right", "axpy_scalar", [(0,), (0,)], {}),
        (r"A has shape \(8,\); \[M, K\]", "sgemm_naive", [(8,), (4, 12), (8, 12)], {}),
        ("grid of .* blocks", "sgemm_coalesced", [(2**22, 1), (1, 1), (2**22, 1)], {}),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            plan(name, shapes, **macros)


class OnGpu:
    """As much of a CuPy array as a launch looks at."""

    def __init__(self, dtype: str, shape=(8, 8), address: int = 512, contiguous: bool = True):
        self.dtype, self.shape, self.filled = np.dtype(dtype), shape, None
        self.data = SimpleNamespace(ptr=address)
        self.flags = SimpleNamespace(c_contiguous=contiguous)

    def fill(self, value: float) -> None:
        self.filled = value


def loaded(name: str, **macros: int) -> tuple[LoadedKernel, list]:
    """A kernel as load() returns it, and the launches that it asks for."""
    launches: list = []
    return LoadedKernel(
        KERNELS[name], macros, SimpleNamespace(ndarray=OnGpu),
        lambda grid, block, arguments, shared_mem: launches.append(
            (grid, block, arguments, shared_mem)
        ),
    ), launches  # fmt: skip


def test_a_launch_passes_arrays_then_scalars_then_sizes():
    """In C's types: pointers, float, int, which CuPy takes from NumPy's."""
    x, y = OnGpu("float32", (1000,)), OnGpu("float32", (1000,))
    kernel, launches = loaded("axpy_scalar")
    kernel.launch(x, y, alpha=3)
    assert launches == [((4,), (256,), (x, y, 3.0, 1000), 0)]
    assert [type(each) for each in launches[0][2][2:]] == [np.float32, np.int32]
    a, b, c = OnGpu("float16", (64, 40)), OnGpu("float16", (40, 72)), OnGpu("float32", (64, 72))
    kernel, launches = loaded("hgemm_mma", STAGES=2)
    kernel.launch(a, b, c)
    assert launches == [((1, 1), (256,), (a, b, c, 64, 72, 40), 2 * 18_944)]
    assert c.filled is None
    r = OnGpu("float32", (1,))
    loaded("dot_shuffle")[0].launch(x, y, r)
    assert r.filled == 0  # blocks add to it


def test_arrays_that_a_kernel_would_read_wrongly():
    kernel, launches = loaded("sgemm_float4")
    right = OnGpu("float32")
    for kind, message, wrong in (
        (TypeError, r"takes CuPy arrays, not ndarray; use cp.asarray", np.ones((8, 8))),
        (TypeError, "B is float64; sgemm_float4 takes float32", OnGpu("float64")),
        (ValueError, "ascontiguousarray", OnGpu("float32", contiguous=False)),
        (ValueError, "multiple of 16 bytes", OnGpu("float32", address=516)),
    ):
        with pytest.raises(kind, match=message):
            kernel.launch(right, wrong, right)
    with pytest.raises(ValueError, match="scalars alpha: sgemm_float4 has none"):
        kernel.launch(right, right, right, alpha=2)
    assert not launches
    kernel.launch(right, right, right)
    bits = [OnGpu("uint8", (8, 32)), OnGpu("uint8", (8, 32)), right]
    loaded("fp8gemm_mma")[0].launch(*bits)


def test_gpus_that_a_kernel_runs_on(monkeypatch):
    assert arch_for(KERNELS["sgemm_naive"], 87) == "sm_87"
    assert arch_for(KERNELS["hgemm_wgmma"], 90) == "sm_90a"
    for name, capability, message in (
        ("hgemm_mma", 75, "needs sm_80 or later; this GPU is sm_75"),
        ("hgemm_wgmma", 100, "needs sm_90a; this GPU is sm_100"),
    ):
        with pytest.raises(ValueError, match=message):
            arch_for(KERNELS[name], capability)
    monkeypatch.setattr("rooflab.labs.cuda.loader.select", _no_gpu)
    with pytest.raises(RuntimeError, match="no CUDA device"):
        load("sgemm_naive")


def _no_gpu(backend: str) -> None:
    assert backend == "gpu"
    raise RuntimeError("backend='gpu' asks for a GPU, but no CUDA device is visible")
