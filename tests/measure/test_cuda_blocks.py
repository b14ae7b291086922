"""The kernels on halves, run without a GPU: their CUDA is C++ but for a few words.

A C++ compiler builds them with those words defined; a block's threads run one after the other, or
at once where they wait for each other. The conversions, which are PTX, are replaced. Any length,
any alignment and any grid must give every element its exact value, and touch nothing beside it.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rooflab.measure.cuda_sources import CONVERSIONS, HALVES

COMPILER = shutil.which("g++") or shutil.which("clang++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler on this machine")
DTYPES = {"fp16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
CANARY = 7.0

WORDS = r"""
#include <barrier>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>
#define __device__
#define __global__
#define __restrict__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static  // blocks run one after the other
static int misaligned = 0;  // accesses of 16 bytes at another address than a multiple of 16
extern "C" int was_misaligned() { return misaligned; }
struct alignas(16) uint4 {
    unsigned x, y, z, w;
    uint4() = default;
    uint4(unsigned a, unsigned b, unsigned c, unsigned d) : x(a), y(b), z(c), w(d) {}
    uint4(const uint4& o) : x(o.x), y(o.y), z(o.z), w(o.w) { look(&o); }
    uint4& operator=(const uint4& o) {
        look(&o); look(this);
        x = o.x; y = o.y; z = o.z; w = o.w;
        return *this;
    }
    static void look(const void* address) {
        unsigned long place = (unsigned long)address;
        asm volatile("" : "+r"(place));  // or the compiler would believe alignas
        misaligned += place % 16 != 0;
    }
};
static uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
struct Place { unsigned x = 0, y = 0; };
static thread_local Place threadIdx;
static Place blockIdx, blockDim, gridDim;

static std::unique_ptr<std::barrier<>> everybody;
static std::vector<std::unique_ptr<std::barrier<>>> warps;
static float lanes[1024];
static void __syncthreads() { everybody->arrive_and_wait(); }
static void __threadfence() {}
static float __ldcg(const float* p) { return *p; }
static unsigned atomicInc(unsigned* p, unsigned most) {
    const unsigned old = *p;
    *p = old >= most ? 0 : old + 1;
    return old;
}
static float __shfl_down_sync(unsigned, float value, int by) {
    const unsigned me = threadIdx.x, warp = me / 32;
    lanes[me] = value;
    warps[warp]->arrive_and_wait();
    const float found = me % 32 + by < 32 ? lanes[me + by] : value;
    warps[warp]->arrive_and_wait();
    return found;
}

// One half as fp32, and back, with the compiler's own types or by hand.
static float one(unsigned short bits) {
#if BF16
    const unsigned wide = (unsigned)bits << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
#else
    _Float16 value;
    std::memcpy(&value, &bits, 2);
    return value;
#endif
}
static unsigned short back(float value) {
#if BF16
    unsigned bits;
    std::memcpy(&bits, &value, 4);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
#else
    const _Float16 half = value;
    unsigned short bits;
    std::memcpy(&bits, &half, 2);
    return bits;
#endif
}
struct Pair { float low, high; };
static Pair wide(unsigned word) { return {one(word & 0xffff), one(word >> 16)}; }
static unsigned narrow(float low, float high) { return back(low) | (unsigned)back(high) << 16; }
"""

LAUNCHES = r"""
template <class Kernel> static void launch(Place grid, Place block, bool at_once, Kernel kernel) {
    gridDim = grid; blockDim = block;
    const unsigned count = block.x * block.y;
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
            auto thread = [&](unsigned t) { threadIdx = {t % block.x, t / block.x}; kernel(); };
            if (!at_once) { for (unsigned t = 0; t < count; ++t) thread(t); continue; }
            everybody = std::make_unique<std::barrier<>>(count);
            warps.clear();
            for (unsigned w = 0; w < count / 32; ++w)
                warps.push_back(std::make_unique<std::barrier<>>(32));
            std::vector<std::thread> team;
            for (unsigned t = 0; t < count; ++t) team.emplace_back(thread, t);
            for (auto& one : team) one.join();
        }
}
extern "C" void run_axpy(unsigned g, unsigned b, half_t* x, half_t* y, float a, long long n) {
    launch({g, 1}, {b, 1}, false, [&] { half_axpy(x, y, a, n); });
}
extern "C" void run_scale(unsigned g, unsigned b, half_t* x, float a, long long n) {
    launch({g, 1}, {b, 1}, false, [&] { half_scale(x, a, n); });
}
extern "C" void run_dot(unsigned g, unsigned b, half_t* x, half_t* y, half_t* r, long long n,
                        float* partial, unsigned* arrived) {
    launch({g, 1}, {b, 1}, true, [&] { half_dot(x, y, r, n, partial, arrived); });
}
extern "C" void run_ger(unsigned gx, unsigned gy, unsigned bx, unsigned by, half_t* a, half_t* x,
                        half_t* y, long long rows, long long columns) {
    launch({gx, gy}, {bx, by}, false, [&] { half_ger(a, x, y, rows, columns); });
}
"""


@pytest.fixture(scope="module", params=DTYPES)
def kernels(request, tmp_path_factory):
    """(the compiled library, the array type of its halves)."""
    folder = tmp_path_factory.mktemp("cuda")
    source, library = folder / "halves.cpp", folder / "halves.so"
    assert CONVERSIONS in HALVES.code
    source.write_text(WORDS + HALVES.code.replace(CONVERSIONS, "") + LAUNCHES)
    options = HALVES.variants[list(DTYPES).index(request.param)]
    command = [COMPILER, "-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-pthread", *options]
    done = subprocess.run(
        [*command, str(source), "-o", str(library)], capture_output=True, text=True, check=False
    )
    if "_Float16" in done.stderr or "<barrier>" in done.stderr:
        pytest.skip(f"{Path(COMPILER).name} is too old for C++20 and 16-bit floats")
    assert done.returncode == 0, done.stderr[:2000]
    return ctypes.CDLL(str(library)), DTYPES[request.param]


class Halves:
    """``values`` in memory, ``offset`` halves past a multiple of 16 bytes, canaries around it."""

    def __init__(self, values: np.ndarray, kind: np.dtype, offset: int = 0) -> None:
        store = np.full(values.size + 40, CANARY, kind)
        start = -store.ctypes.data % 16 // 2 + 8 + offset
        self.store, self.array = store, store[start : start + values.size]
        self.array[:] = values.ravel().astype(kind)
        self.before = self.array.astype(float)
        self._around = np.ones(store.size, bool)
        self._around[start : start + values.size] = False

    @property
    def pointer(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.array.ctypes.data)

    def check(self, expected: np.ndarray) -> None:
        """Each element is ``expected`` rounded to fp32 and then to a half; the rest untouched."""
        right = expected.astype(np.float32).astype(self.array.dtype)
        np.testing.assert_array_equal(self.array.astype(float), right.ravel().astype(float))
        assert (self.store[self._around].astype(float) == CANARY).all()


def numbers(size: int, seed: int) -> np.ndarray:
    return np.random.default_rng([size, seed]).uniform(-1, 1, size)


A = ctypes.c_float(0.7)
alpha = float(np.float32(0.7))
sizes = st.one_of(st.integers(1, 40), st.integers(1, 5000))
offsets = st.integers(0, 7)
grids = st.tuples(st.integers(1, 3), st.sampled_from([32, 64]))
some = settings(max_examples=60)


@some
@given(n=sizes, left=offsets, right=offsets, grid=grids)
def test_axpy(kernels, n, left, right, grid):
    library, kind = kernels
    x, y = Halves(numbers(n, 1), kind, left), Halves(numbers(n, 2), kind, right)
    library.run_axpy(*grid, x.pointer, y.pointer, A, ctypes.c_longlong(n))
    y.check(alpha * x.before + y.before)
    x.check(x.before)
    assert not library.was_misaligned()


@some
@given(n=sizes, offset=offsets, grid=grids)
def test_scale(kernels, n, offset, grid):
    library, kind = kernels
    x = Halves(numbers(n, 1), kind, offset)
    library.run_scale(*grid, x.pointer, A, ctypes.c_longlong(n))
    x.check(alpha * x.before)
    assert not library.was_misaligned()


@some
@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 90),
    a=offsets,
    y=offsets,
    x=offsets,
    grid=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    wide=st.sampled_from([1, 4, 32]),
)
@example(rows=5, columns=64, a=0, y=0, x=3, grid=(1, 2), wide=8)  # whole packs, and part of one
@example(rows=100, columns=64, a=0, y=0, x=3, grid=(1, 2), wide=8)
def test_ger(kernels, rows, columns, a, y, x, grid, wide):
    library, kind = kernels
    a = Halves(numbers(rows * columns, 1), kind, a)
    y, x = Halves(numbers(columns, 2), kind, y), Halves(numbers(rows, 3), kind, x)
    shape = ctypes.c_longlong(rows), ctypes.c_longlong(columns)
    library.run_ger(*grid, wide, 32 // wide, a.pointer, x.pointer, y.pointer, *shape)
    a.check(a.before.reshape(rows, columns) + np.outer(x.before, y.before))
    assert not library.was_misaligned()


@settings(max_examples=12)
@given(n=sizes, left=offsets, right=offsets, grid=grids)
@example(n=8, left=3, right=3, grid=(5, 64))  # alike aligned, with and without whole packs
@example(n=5003, left=3, right=3, grid=(5, 64))
def test_dot(kernels, n, left, right, grid):
    """Twice: the counter of arrived blocks must be 0 again."""
    library, kind = kernels
    x, y = Halves(numbers(n, 1) ** 2, kind, left), Halves(numbers(n, 2) ** 2, kind, right)
    partial, arrived = np.full(grid[0], np.nan, np.float32), np.zeros(1, np.uint32)
    for _ in range(2):
        r = Halves(np.full(1, np.nan), kind, 5)
        library.run_dot(
            *grid, x.pointer, y.pointer, r.pointer, ctypes.c_longlong(n),
            partial.ctypes.data_as(ctypes.c_void_p), arrived.ctypes.data_as(ctypes.c_void_p),
        )  # fmt: skip
        exact = x.before @ y.before
        step = 2.0**-10 if kind == np.float16 else 2.0**-7
        assert float(r.array[0]) == pytest.approx(exact, rel=step, abs=1e-7)
        assert arrived[0] == 0
        assert not library.was_misaligned()
        assert float(r.store[0]) == CANARY
