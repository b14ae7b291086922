"""CUDA C++ of the measuring path, and how a kernel of it is launched.

Memory answers after some 700 ns, so bandwidth needs many bytes under way: 2.3 MB on a card with
3.35 TB/s. Every loop over memory therefore issues BATCH loads of 16 bytes before it uses the first,
and a grid is as large as the multiprocessors can hold at once. The sources include no header, so
that a driver, NVRTC and CuPy are enough to compile them.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

BATCH = 4  # loads (of each array) that a thread has under way
THREADS = 256  # a block; divides what every multiprocessor can hold
PACK = 8  # halves in a load of 16 bytes


@dataclass(frozen=True)
class CudaSource:
    """CUDA C++ with its ``kernels`` and the sets of compiler options it is ever compiled with."""

    code: str
    kernels: tuple[str, ...]
    variants: tuple[tuple[str, ...], ...] = ((),)

    def kernel(self, xp: ModuleType, name: str, options: tuple[str, ...] = ()) -> Any:
        """Return kernel ``name`` as a RawKernel of CuPy (``xp``), compiled at its first launch."""
        return xp.RawKernel(self.code, name, options=options)


def resident_blocks(xp: ModuleType, kernel: Any) -> int:
    """Blocks of THREADS that the current GPU holds at once: a larger grid runs in waves."""
    each = xp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, THREADS, 0)
    return int(each) * int(xp.cuda.Device().attributes["MultiProcessorCount"])


def halves(dtype: str) -> tuple[str, ...]:
    """Compiler options that make HALVES a source for "fp16" or "bf16"."""
    return (f"-DBF16={int(dtype == 'bf16')}",)


_BATCHED = (
    f"""
constexpr int BATCH = {BATCH};
"""
    + r"""
// use(i, load(i)) for i = first, first + step, ... below n. All LOADS of a batch are issued before
// the first is used, in the last, partial batch too.
template <int LOADS, class Load, class Use>
__device__ __forceinline__ void batched(long long first, long long step, long long n, Load load,
                                        Use use) {
    for (long long i = first; i < n; i += LOADS * step) {
        decltype(load(i)) held[LOADS];
        if (i + (LOADS - 1) * step < n) {
            #pragma unroll
            for (int u = 0; u < LOADS; ++u) held[u] = load(i + u * step);
            #pragma unroll
            for (int u = 0; u < LOADS; ++u) use(i + u * step, held[u]);
        } else {
            #pragma unroll
            for (int u = 0; u < LOADS - 1; ++u) if (i + u * step < n) held[u] = load(i + u * step);
            #pragma unroll
            for (int u = 0; u < LOADS - 1; ++u) if (i + u * step < n) use(i + u * step, held[u]);
        }
    }
}

// The same, shared out to all threads of the grid.
template <class Load, class Use>
__device__ __forceinline__ void shared_out(long long n, Load load, Use use) {
    batched<BATCH>((long long)blockIdx.x * blockDim.x + threadIdx.x,
                   (long long)gridDim.x * blockDim.x, n, load, use);
}
"""
)

_CHAINS, _UNROLL = 8, 32
FMA_A_TURN = _CHAINS * _UNROLL
"""Multiply-adds of a thread in one turn of FMA's loop."""
FMA = CudaSource(
    r"""
extern "C" __global__ void fma_roof(REAL* out, int turns, REAL a, REAL b) {
    REAL x[CHAINS];
    for (int u = 0; u < CHAINS; ++u) x[u] = (REAL)(threadIdx.x + u);
    for (int t = 0; t < turns; ++t) {
        #pragma unroll
        for (int r = 0; r < UNROLL; ++r)
            #pragma unroll
            for (int u = 0; u < CHAINS; ++u) x[u] = x[u] * a + b;  // contracted to one FMA
    }
    REAL sum = 0;
    for (int u = 0; u < CHAINS; ++u) sum += x[u];
    out[(long long)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
""",
    ("fma_roof",),
    tuple(
        (f"-DREAL={real}", f"-DCHAINS={_CHAINS}", f"-DUNROLL={_UNROLL}")
        for real in ("float", "double")
    ),
)
"""CHAINS independent multiply-adds a thread, UNROLL steps of each a turn of the loop."""

STREAMS = CudaSource(
    _BATCHED
    + r"""
// __ldcg reads through to L2: passes must not find in L1 what the pass before left there. x and y
// are arrays of ones; a is 1 but the compiler cannot know it.
#define ARGUMENTS float4* __restrict__ x, float4* __restrict__ y, long long n, int passes, float a

struct Two { float4 x, y; };

extern "C" __global__ void read_roof(ARGUMENTS) {
    float4 sum = make_float4(0, 0, 0, 0);
    for (int p = 0; p < passes; ++p)
        shared_out(n, [=](long long i) { return __ldcg(x + i); }, [&](long long, float4 v) {
            sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
        });
    // Never true, but the compiler must keep the loads for it.
    if (sum.x + sum.y + sum.z + sum.w < 0) y[threadIdx.x] = sum;
}

extern "C" __global__ void copy_roof(ARGUMENTS) {
    for (int p = 0; p < passes; ++p)
        shared_out(n, [=](long long i) { return __ldcg(x + i); },
                   [=](long long i, float4 v) { y[i] = v; });
}

extern "C" __global__ void update_roof(ARGUMENTS) {
    for (int p = 0; p < passes; ++p)
        shared_out(n, [=](long long i) { return __ldcg(x + i); }, [=](long long i, float4 v) {
            x[i] = make_float4(a * v.x, a * v.y, a * v.z, a * v.w);
        });
}

extern "C" __global__ void axpy_roof(ARGUMENTS) {
    for (int p = 0; p < passes; ++p)
        shared_out(n, [=](long long i) { return Two{__ldcg(x + i), __ldcg(y + i)}; },
                   [=](long long i, Two v) {
            y[i] = make_float4(a * v.x.x + v.y.x, a * v.x.y + v.y.y, a * v.x.z + v.y.z,
                               a * v.x.w + v.y.w);
        });
}
""",
    ("read_roof", "copy_roof", "update_roof", "axpy_roof"),
)
"""Kernels (x, y, n float4s, passes, a): one for each mix of reads and writes."""

CONVERSIONS = r"""
// Two halves are a 32-bit word, the first one in its lower bits.
struct Pair { float low, high; };
#if BF16
__device__ __forceinline__ Pair wide(unsigned word) {
    return {__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u)};
}
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ unsigned narrow(float low, float high) {
    unsigned word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}
#else  // no instruction: to the nearest, ties to the even one, and NaN stays NaN
__device__ __forceinline__ unsigned rounded(float value) {
    const unsigned bits = __float_as_uint(value);
    return value != value ? 0x7fffu : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
__device__ __forceinline__ unsigned narrow(float low, float high) {
    return rounded(low) | rounded(high) << 16;
}
#endif
#else
__device__ __forceinline__ Pair wide(unsigned word) {
    Pair two;
    asm("{ .reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
        : "=f"(two.low), "=f"(two.high) : "r"(word));
    return two;
}
__device__ __forceinline__ unsigned narrow(float low, float high) {
    unsigned word;
    asm("{ .reg .f16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
        : "=r"(word) : "f"(low), "f"(high));
    return word;
}
#endif
"""
"""fp16 and bf16 to fp32 and back, in PTX: CUDA's header for them need not be installed."""

HALF_KERNELS = r"""
typedef unsigned short half_t;  // the bits of an fp16 or a bf16
constexpr int PACK = 8;         // halves in 16 bytes, the most that one load can fetch
constexpr int ROWS = 6;         // rows of a matrix that a thread has under way
// Two blocks a multiprocessor leave a thread 128 registers. Without this the compiler saves some by
// using the first loads before it issues the last ones.
#define KERNEL extern "C" __global__ void __launch_bounds__(256, 2)

struct TwoPacks { uint4 x, y; };
struct TwoHalves { half_t x, y; };
struct Row { uint4 a; half_t x; };

__device__ __forceinline__ float wide_one(half_t bits) { return wide(bits).low; }
__device__ __forceinline__ half_t narrow_one(float value) { return (half_t)narrow(value, 0.0f); }
__device__ __forceinline__ int past(const void* address) {
    return (int)((unsigned long long)address % 16);
}

// x * a + y, eight halves at once; y = 0 for a plain product.
__device__ __forceinline__ unsigned fused(unsigned x, float a, unsigned y) {
    const Pair p = wide(x), q = wide(y);
    return narrow(fmaf(p.low, a, q.low), fmaf(p.high, a, q.high));
}
__device__ __forceinline__ float product(unsigned x, unsigned y, float sum) {
    const Pair p = wide(x), q = wide(y);
    return fmaf(p.high, q.high, fmaf(p.low, q.low, sum));
}

// A vector in whole packs that begin at a multiple of 16 bytes, and the halves outside of them.
// No packs where x and y are not aligned alike: then every half is one outside.
struct Split {
    long long head, packs, outside;
    __device__ __forceinline__ Split(const half_t* x, const half_t* y, long long n) {
        head = (16 - past(x)) % 16 / 2;
        packs = past(x) == past(y) && n > head ? (n - head) / PACK : 0;
        outside = n - PACK * packs;
        if (packs == 0) head = 0;
    }
    __device__ __forceinline__ long long place(long long i) const {
        return i < head ? i : i + PACK * packs;
    }
};

KERNEL half_axpy(const half_t* __restrict__ x, half_t* __restrict__ y, float a, long long n) {
    const Split s(x, y, n);
    const uint4* px = (const uint4*)(x + s.head);
    uint4* py = (uint4*)(y + s.head);
    shared_out(s.packs, [=](long long i) { return TwoPacks{px[i], py[i]}; },
               [=](long long i, TwoPacks v) {
        py[i] = make_uint4(fused(v.x.x, a, v.y.x), fused(v.x.y, a, v.y.y), fused(v.x.z, a, v.y.z),
                           fused(v.x.w, a, v.y.w));
    });
    shared_out(s.outside, [=](long long i) { return TwoHalves{x[s.place(i)], y[s.place(i)]}; },
               [=](long long i, TwoHalves v) {
        y[s.place(i)] = narrow_one(fmaf(wide_one(v.x), a, wide_one(v.y)));
    });
}

KERNEL half_scale(half_t* x, float a, long long n) {
    const Split s(x, x, n);
    uint4* px = (uint4*)(x + s.head);
    shared_out(s.packs, [=](long long i) { return px[i]; }, [=](long long i, uint4 v) {
        px[i] = make_uint4(fused(v.x, a, 0), fused(v.y, a, 0), fused(v.z, a, 0), fused(v.w, a, 0));
    });
    shared_out(s.outside, [=](long long i) { return x[s.place(i)]; },
               [=](long long i, half_t v) { x[s.place(i)] = narrow_one(wide_one(v) * a); });
}

// The sum of a block's values, in its thread 0.
__device__ __forceinline__ float block_sum(float sum) {
    __shared__ float warps[32];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return 0;
    sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    return sum;
}

// Two stages, summed in fp32: each block leaves its part in partial, and the block that arrives
// last adds the parts. arrived is 0 before, and 0 again behind. A block has a multiple of 32
// threads, 1024 at most.
KERNEL half_dot(const half_t* __restrict__ x, const half_t* __restrict__ y, half_t* r, long long n,
                float* partial, unsigned* arrived) {
    __shared__ bool last;
    const Split s(x, y, n);
    const uint4* px = (const uint4*)(x + s.head);
    const uint4* py = (const uint4*)(y + s.head);
    float sum = 0, other = 0;
    shared_out(s.packs, [=](long long i) { return TwoPacks{px[i], py[i]}; },
               [&](long long, TwoPacks v) {
        sum = product(v.x.y, v.y.y, product(v.x.x, v.y.x, sum));
        other = product(v.x.w, v.y.w, product(v.x.z, v.y.z, other));
    });
    shared_out(s.outside, [=](long long i) { return TwoHalves{x[s.place(i)], y[s.place(i)]}; },
               [&](long long, TwoHalves v) { sum = fmaf(wide_one(v.x), wide_one(v.y), sum); });
    sum = block_sum(sum + other);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();  // the part is written before this block counts as arrived
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;  // wraps back to 0
    }
    __syncthreads();
    if (!last) return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += __ldcg(partial + i);
    sum = block_sum(sum);
    if (threadIdx.x == 0) *r = narrow_one(sum);
}

// A += x yᵀ. A thread keeps its columns' part of y and goes down the rows. Packs where every row
// begins at a multiple of 16 bytes, single halves elsewhere.
KERNEL half_ger(half_t* __restrict__ a, const half_t* __restrict__ x,
                const half_t* __restrict__ y, long long rows, long long columns) {
    const long long across = (long long)gridDim.x * blockDim.x;
    const long long down = (long long)gridDim.y * blockDim.y;
    const long long column = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long row = (long long)blockIdx.y * blockDim.y + threadIdx.y;
    if (columns % PACK == 0 && past(a) == 0 && past(y) == 0) {
        const long long packs = columns / PACK;
        for (long long c = column; c < packs; c += across) {
            uint4* pa = (uint4*)a + c;
            const uint4 w = ((const uint4*)y)[c];
            batched<ROWS>(row, down, rows, [=](long long i) { return Row{pa[i * packs], x[i]}; },
                    [=](long long i, Row v) {
                const float f = wide_one(v.x);
                pa[i * packs] = make_uint4(fused(w.x, f, v.a.x), fused(w.y, f, v.a.y),
                                           fused(w.z, f, v.a.z), fused(w.w, f, v.a.w));
            });
        }
        return;
    }
    for (long long c = column; c < columns; c += across) {
        const float w = wide_one(y[c]);
        batched<ROWS>(row, down, rows,
                      [=](long long i) { return TwoHalves{a[i * columns + c], x[i]}; },
                      [=](long long i, TwoHalves v) {
            a[i * columns + c] = narrow_one(fmaf(wide_one(v.y), w, wide_one(v.x)));
        });
    }
}
"""

HALVES = CudaSource(
    CONVERSIONS + _BATCHED + HALF_KERNELS,
    ("half_axpy", "half_scale", "half_dot", "half_ger"),
    (halves("fp16"), halves("bf16")),
)
"""Vector operations on fp16 or bf16, computed in fp32, for which cuBLAS has no routine."""

SOURCES = {"fma": FMA, "streams": STREAMS, "halves": HALVES}
