// What a C++ compiler needs to build the kernels on halves, which stand in the middle.
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

@KERNELS@

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
