// What a C++ compiler needs to run the CUDA kernels that stand in the middle, block after block.
// A thread of a block is a fiber, a block a thread of the system: the blocks of a cluster run at once.
// What tensor cores and copy engines do is written from the PTX ISA: operands by lane, swizzle, phase.
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <ucontext.h>
#include <utility>
#include <vector>
#define __device__
#define __global__
#define __restrict__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static thread_local
struct float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
static float2 make_float2(float x, float y) { return {x, y}; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static int min(int a, int b) { return a < b ? a : b; }
static float rsqrtf(float x) { return 1 / std::sqrt(x); }
struct Place { unsigned x = 0, y = 0, z = 0; };
static thread_local Place threadIdx, blockIdx;
static Place blockDim, gridDim;

// Fibers and barriers.
struct Fiber { ucontext_t context; std::unique_ptr<char[]> stack; bool done = false; };
struct Barrier { unsigned arrived = 0, turn = 0; };
struct Block {
    std::vector<Fiber> fibers;
    unsigned now = 0;
    Barrier all, warps[32];
    float4 slots[1024][4];  // what the lanes of a warp hand each other
};
static thread_local Block* block;
static thread_local ucontext_t outside;
static thread_local unsigned rank_in_cluster;
static thread_local char marker;  // the same distance from a shared variable in each block
static unsigned char* dynamic_memory;
static std::vector<char*> markers;
static std::unique_ptr<std::barrier<>> cluster;
static std::mutex lock;
static unsigned me() { return block->now; }
static void next_fiber(unsigned first, unsigned count) {  // of these, in turn
    Fiber& from = block->fibers[me()];
    for (unsigned step = 1; step <= count; ++step) {
        const unsigned to = first + (me() - first + step) % count;
        if (block->fibers[to].done) continue;
        block->now = to;
        if (&block->fibers[to] != &from) swapcontext(&from.context, &block->fibers[to].context);
        return;
    }
    setcontext(&outside);
}
static void pass(unsigned first, unsigned count) {  // let the others run
    next_fiber(first, count);
    threadIdx = {me() % blockDim.x, me() / blockDim.x};
}
static void meet(Barrier& barrier, unsigned first, unsigned count) {
    const unsigned turn = barrier.turn;
    if (++barrier.arrived == count) { barrier.arrived = 0; ++barrier.turn; return; }
    while (barrier.turn == turn) pass(first, count);
}
static void __syncthreads() { meet(block->all, 0, block->fibers.size()); }
template <class T> static void gather(const T& mine, T (&lanes)[32]) {
    static_assert(sizeof(T) <= sizeof(block->slots[0]));
    const unsigned warp = me() / 32;
    std::memcpy(block->slots[me()], &mine, sizeof(T));
    meet(block->warps[warp], 32 * warp, 32);  // the other warps stand still meanwhile
    for (unsigned lane = 0; lane < 32; ++lane)
        std::memcpy(&lanes[lane], block->slots[32 * warp + lane], sizeof(T));
    meet(block->warps[warp], 32 * warp, 32);
}
static float __shfl_xor_sync(unsigned, float value, int mask) {
    float lanes[32];
    gather(value, lanes);
    return lanes[me() % 32 ^ mask];
}
static float atomicAdd(float* p, float value) {
    std::lock_guard guard(lock);
    const float old = *p;
    *p += value;
    return old;
}
static int __dp4a(int a, int b, int sum) {
    for (int shift = 0; shift < 32; shift += 8) sum += (int8_t)(a >> shift) * (int8_t)(b >> shift);
    return sum;
}

// Numbers of 16 and 8 bits.
static float small(unsigned bits, int exponent, int mantissa, int bias) {
    const int e = bits >> mantissa & ((1 << exponent) - 1), m = bits & ((1 << mantissa) - 1);
    const float size = e ? std::ldexp((1 << mantissa) + m, e - bias - mantissa)
                         : std::ldexp(m, 1 - bias - mantissa);
    return bits >> (exponent + mantissa) & 1 ? -size : size;
}
static float fp16_value(unsigned bits) {
    static const std::vector<float> table = [] {
        std::vector<float> t(65536);
        for (unsigned i = 0; i < t.size(); ++i) t[i] = small(i, 5, 10, 15);
        return t;
    }();
    return table[bits & 0xffff];
}
static float half_of(unsigned word, int which) { return fp16_value(word >> 16 * which); }

// Global and shared memory.
static float4 load_once(const float* p) { return *(const float4*)p; }
static void store_once(float* p, float4 v) { *(float4*)p = v; }
static unsigned shared_address(const void* p) { return (const unsigned char*)p - dynamic_memory; }
struct Copy { void* to; const void* from; bool inside; };
static thread_local std::vector<std::vector<Copy>> groups[1024];  // cp.async: done when waited for
static thread_local std::vector<Copy> open_group[1024];
static void copy_async(void* to, const void* from, bool inside) {
    open_group[me()].push_back({to, from, inside});
}
static void commit() { groups[me()].push_back(std::exchange(open_group[me()], {})); }
template <int LEFT> static void wait() {
    auto& queue = groups[me()];
    for (; (int)queue.size() > LEFT; queue.erase(queue.begin()))
        for (const Copy& copy : queue.front()) {
            if (copy.inside) std::memcpy(copy.to, copy.from, 16);
            else std::memset(copy.to, 0, 16);
        }
}
static void load_matrices(unsigned (&r)[4], const void* row, bool transposed) {
    const void* rows[32];
    gather(row, rows);
    const unsigned high = me() % 32 / 4, low = me() % 4 * 2;
    for (int m = 0; m < 4; ++m) {
        unsigned short pair[2];
        for (unsigned i = 0; i < 2; ++i)
            pair[i] = transposed ? ((const unsigned short*)rows[8 * m + low + i])[high]
                                 : ((const unsigned short*)rows[8 * m + high])[low + i];
        r[m] = pair[0] | (unsigned)pair[1] << 16;
    }
}
static void ldmatrix(unsigned (&r)[4], const void* row) { load_matrices(r, row, false); }
static void ldmatrix_trans(unsigned (&r)[4], const void* row) { load_matrices(r, row, true); }

// Tensor cores. a(row, k) and b(k, column) read the operands that the lanes hold.
template <class A, class B> static void product(float (&d)[4], int depth, A a, B b) {
    for (int i = 0; i < 4; ++i) {
        const int row = me() % 32 / 4 + i / 2 * 8, column = me() % 4 * 2 + i % 2;
        for (int k = 0; k < depth; ++k) d[i] += a(row, k) * b(k, column);
    }
}
struct Operands { unsigned a[4], b[4], e; };
static void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    Operands lanes[32];
    gather(Operands{{a[0], a[1], a[2], a[3]}, {b0, b1}, 0}, lanes);
    product(d, 16, [&](int row, int k) {
        return half_of(lanes[row % 8 * 4 + k % 8 / 2].a[row / 8 + k / 8 * 2], k % 2);
    }, [&](int k, int n) { return half_of(lanes[n * 4 + k % 8 / 2].b[k / 8], k % 2); });
}
static void mma_sp(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[4], unsigned e) {
    Operands lanes[32];
    gather(Operands{{a[0], a[1], a[2], a[3]}, {b[0], b[1], b[2], b[3]}, e}, lanes);
    product(d, 32, [&](int row, int k) {
        const unsigned places = lanes[row % 8 * 4 + k / 16].e >> (row / 8 * 16 + k % 16 / 4 * 4);
        for (int kept = 0; kept < 2; ++kept)
            if ((places >> 2 * kept & 3) == unsigned(k % 4)) {
                const int column = k / 4 * 2 + kept;
                return half_of(lanes[row % 8 * 4 + column % 8 / 2].a[row / 8 + column / 8 * 2], kept);
            }
        return 0.0f;
    }, [&](int k, int n) { return half_of(lanes[n * 4 + k % 8 / 2].b[k / 8], k % 2); });
}
static void mma_e4m3(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    Operands lanes[32];
    gather(Operands{{a[0], a[1], a[2], a[3]}, {b[0], b[1]}, 0}, lanes);
    auto byte = [](unsigned word, int which) { return small(word >> 8 * which & 0xff, 4, 3, 7); };
    product(d, 32, [&](int row, int k) {
        return byte(lanes[row % 8 * 4 + k % 16 / 4].a[row / 8 + k / 16 * 2], k % 4);
    }, [&](int k, int n) { return byte(lanes[n * 4 + k % 16 / 4].b[k / 16], k % 4); });
}
struct half { unsigned short bits; };
namespace nvcuda::wmma {
struct matrix_a; struct matrix_b; struct accumulator; struct row_major; enum { mem_row_major };
template <class, int, int, int, class, class = void> struct fragment { float x[16][16]; };
template <class F> void fill_fragment(F& f, float v) { for (auto& row : f.x) for (auto& x : row) x = v; }
template <class F> void load_matrix_sync(F& f, const half* p, unsigned pitch) {
    for (int i = 0; i < 256; ++i) f.x[i / 16][i % 16] = fp16_value(p[i / 16 * pitch + i % 16].bits);
}
template <class D, class A, class B> void mma_sync(D& d, const A& a, const B& b, const D& c) {
    for (int i = 0; i < 256; ++i) {
        float sum = c.x[i / 16][i % 16];
        for (int k = 0; k < 16; ++k) sum += a.x[i / 16][k] * b.x[k][i % 16];
        d.x[i / 16][i % 16] = sum;
    }
}
template <class F> void store_matrix_sync(float* p, const F& f, unsigned pitch, int) {
    for (int i = 0; i < 256; ++i) p[i / 16 * pitch + i % 16] = f.x[i / 16][i % 16];
}
}

// Clusters, barriers that count bytes, bulk copies, TMA and wgmma.
static unsigned cluster_rank() { return rank_in_cluster; }
static void cluster_sync() {
    __syncthreads();
    if (me() == 0) cluster->arrive_and_wait();
    __syncthreads();
}
template <class T> static T* of_block(T* mine, unsigned rank) {
    return (T*)((char*)mine - &marker + markers[rank]);
}
static float read_of_block(const float* mine, unsigned rank) { return *of_block(mine, rank); }
struct Phase { int bytes; short pending, phase; };
static void count(unsigned long long* barrier, int bytes, int arrivals) {
    std::lock_guard guard(lock);
    Phase& b = *(Phase*)barrier;
    b.bytes += bytes; b.pending -= arrivals;
    if (!b.pending && !b.bytes) { b.phase ^= 1; b.pending = 1; }
}
static void barrier_begin(unsigned long long* barrier) { *(Phase*)barrier = {0, 1, 0}; }
static void barrier_expect(unsigned long long* barrier, unsigned bytes) { count(barrier, bytes, 1); }
static void barrier_wait(unsigned long long* barrier, unsigned phase) {
    for (;; pass(0, block->fibers.size()), std::this_thread::yield()) {
        std::lock_guard guard(lock);
        if (((Phase*)barrier)->phase != (short)phase) return;
    }
}
static void copy_bulk(void* to, const void* from, unsigned bytes, unsigned long long* barrier) {
    std::memcpy(to, from, bytes);
    count(barrier, -(int)bytes, 0);
}
static void copy_multicast(void* to, const void* from, unsigned bytes, unsigned long long* barrier,
                           unsigned short blocks) {
    for (unsigned rank = 0; rank < markers.size(); ++rank)
        if (blocks >> rank & 1) copy_bulk(of_block((char*)to, rank), from, bytes, of_block(barrier, rank));
}
struct Matrix { const unsigned short* data; int rows, columns; };  // in place of a tensor map
static void tensor_map_acquire(const void*) {}
static void copy_tile(void* to, const void* map, int k, int row, unsigned long long* barrier) {
    const Matrix& m = *(const Matrix*)map;
    for (int r = 0; r < 128; ++r)
        for (int c = 0; c < 64; ++c) {
            const bool inside = row + r < m.rows && k + c < m.columns;
            const int place = r * 128 + (c / 8 ^ r % 8) * 16 + c % 8 * 2;
            *(unsigned short*)((char*)to + place) = inside ? m.data[(row + r) * m.columns + k + c] : 0;
        }
    count(barrier, -128 * 128, 0);
}
static void wgmma_begin() {}
static void wgmma_end() {}
static float swizzled(unsigned long long descriptor, int row, int k) {  // K-major, 128 bytes
    const unsigned group = (descriptor >> 32 & 0x3fff) << 4;
    const unsigned place = ((descriptor & 0x3fff) << 4) + row / 8 * group + row % 8 * 128 + k * 2;
    return fp16_value(*(unsigned short*)(dynamic_memory + (place ^ (place >> 7 & 7) << 4)));
}
static void wgmma(float (&d)[64], unsigned long long a, unsigned long long b) {
    for (int i = 0; i < 64; ++i) {
        const int row = me() % 128 / 32 * 16 + me() % 32 / 4 + i % 4 / 2 * 8;
        const int column = i / 4 * 8 + me() % 4 * 2 + i % 2;
        for (int k = 0; k < 16; ++k) d[i] += swizzled(a, row, k) * swizzled(b, column, k);
    }
}

@KERNELS@

struct Any { void* p; template <class T> operator T*() const { return (T*)p; } };
template <class Kernel> struct Program {
    static inline thread_local Kernel* kernel;
    static void fiber() {
        threadIdx = {me() % blockDim.x, me() / blockDim.x};
        (*kernel)();
        block->fibers[me()].done = true;
        next_fiber(0, block->fibers.size());
    }
    static void run(Kernel body) {
        Block here;
        block = &here; kernel = &body;
        here.fibers.resize(blockDim.x * blockDim.y);
        for (Fiber& f : here.fibers) {
            f.stack.reset(new char[65536]);
            getcontext(&f.context);
            f.context.uc_stack = {f.stack.get(), 0, 65536};
            f.context.uc_link = nullptr;
            makecontext(&f.context, fiber, 0);
        }
        for (unsigned t = 0; t < here.fibers.size(); ++t) { groups[t].clear(); open_group[t].clear(); }
        swapcontext(&outside, &here.fibers[0].context);
    }
};
template <class Kernel> static void launch(const unsigned* shape, Kernel kernel) {
    gridDim = {shape[0], shape[1]}; blockDim = {shape[2], shape[3]};
    const unsigned together = shape[5];
    std::vector<unsigned char> memory(shape[4] + 1024);
    dynamic_memory = memory.data() + (-(uintptr_t)memory.data() & 1023);
    for (unsigned y = 0; y < gridDim.y; ++y)
        for (unsigned x = 0; x < gridDim.x; x += together) {
            markers.assign(together, nullptr);
            cluster = std::make_unique<std::barrier<>>(together);
            auto one = [&](unsigned rank) {
                blockIdx = {x + rank, y}; rank_in_cluster = rank; markers[rank] = &marker;
                cluster->arrive_and_wait();
                Program<Kernel>::run(kernel);
            };
            std::vector<std::thread> others;
            for (unsigned rank = 0; rank < together; ++rank) others.emplace_back(one, rank);
            for (auto& other : others) other.join();
        }
}
@LAUNCHES@
