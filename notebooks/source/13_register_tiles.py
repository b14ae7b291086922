# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 13 · From naive to register tiles
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **Why can a correct program for a GPU still be slow?**
#
# <details><summary>45 minutes, 110 with the exercises: what you learn, and what you need</summary>
#
# - **count** the sectors that a warp touches, and how many turns its reads take at the banks,
# - **write** kernels whose threads read side by side, and share a tile,
# - **size** a tile in registers, and say how many blocks fit at once,
# - **predict** what holds a kernel back from its counts.
#
# You need lessons 01, 03 and 07. The *Deeper* part adds 15 minutes. A lecture covers part of it in
# 25 minutes. No GPU is needed: programs run in an emulator, which counts but has no clock.
#
# </details>

# %% tags=["core"]
import rooflab as rl

print(rl.cuda.here())

# %% [markdown] tags=["core"]
# ## Ten kernels
#
# A program for a GPU is called a **kernel**. In 2022 Simon Boehm wrote ten kernels for the same
# matrix product and timed them on one GPU, an RTX A6000. All ten do the same FLOPs on the same 4096
# × 4096 numbers in `fp32`, and all are correct. **How many times faster is the tenth than the
# first?**

# %% tags=["core"]
stairs = rl.cuda.staircase("a6000")
slow, *_, fast = stairs.rungs
first = rl.ask("13-stairs", fast.published / slow.published)
first

# %% [markdown] tags=["core"]
# The picture opens once you have guessed. Each step is a kernel: the line is what was published, the
# diamond what is predicted from counts. Go through them. This lesson is about what changes from one
# to the next, and how far counting gets you.

# %% tags=["core"]
rl.cuda.stairs("a6000", after=first)

# %% [markdown] tags=["core"]
# ## One thread's view
#
# A kernel is written for one **thread**. The GPU runs it for thousands, each at its own place in a
# *grid*. Here is the first kernel. Each thread computes one number of C, and `cuda.grid(2)` is its
# place (x, y). The words are those of the library Numba; the emulator knows them, so nothing is
# imported.

# %% tags=["core", "nbval-check-output"]
rungs = rl.cuda.rungs()
print(rungs["naive"].source)

# %% [markdown] tags=["core"]
# Threads do not run one by one. They come in **blocks**, here of 32 × 32 threads, numbered along x
# first, then along y. Every 32 in a row form a **warp**, one to a *lane*, and a warp executes one
# instruction for all its threads at once. When it reads, 32 addresses go out together. They are
# answered in **sectors** of 32 bytes, so what matters is how many different sectors they fall into.
#
# In the kernel above x is the row, and A is stored row by row. **How many sectors does a warp ask
# for when it reads `A[row, k]`?**

# %% tags=["core"]
run = rungs["naive"].run()
second = rl.ask("13-naive", run.arrays["A"].loads.sectors_per_request)
second

# %% tags=["core"]
rl.cuda.coalescing(after=second)

# %% [markdown] tags=["core"]
# Threads 0 and 1 read a whole row apart. Each sector brings eight numbers, and the warp uses one of
# them in this read. When neighbouring threads read neighbouring numbers, the read is **coalesced**,
# and the same warp asks for four sectors. Caches may answer some of them. The emulator counts what
# warps ask for.
#
# ### Exercise 1 · Sectors of a warp
#
# The 32 threads of a warp each read one number of `itemsize` bytes. The first reads at byte `first`,
# a multiple of itemsize; each after it reads `stride` numbers further on. Sectors of 32 bytes begin
# at multiples of 32. Return how many different sectors the warp touches. `sectors(8, 3, 4)` is 12.


# %% tags=["core", "answer"] rooflab={"exercise": "13-sectors"}
def sectors(first, stride, itemsize):
    # BEGIN SOLUTION
    starts = [first + thread * stride * itemsize for thread in range(32)]
    return len({start // 32 for start in starts})  # no number lies across a border
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("13-sectors", sectors)

# %% [markdown] tags=["core"]
# The cure is to swap two words: let x be the column. Now a warp reads one number of A, the same for
# all, and 32 neighbouring numbers of B. The emulator runs both kernels for N = 64.

# %% tags=["core", "nbval-check-output"]
for name in ("naive", "coalesced"):
    run = rungs[name].run()
    print(f"{name:10} {run.global_loads.sectors:8,} sectors asked for, {run.flops:,} FLOPs")

# %% [markdown] tags=["core"]
# ### Exercise 2 · Neighbours side by side
#
# Write a kernel: `B[row, column] = A[row, column] * s[row]` for matrices of `rows` × `columns`
# numbers, stored row by row. Each thread computes one number. `cuda.grid(2)` is the place of the
# thread in the whole grid, as (x, y). The grid is at least as large as the matrix in both
# directions, and often larger. The threads of a warp have neighbouring x. Let a warp touch no more
# sectors than it must.


# %% tags=["core", "answer"] rooflab={"exercise": "13-coalesce"}
def scale(A, s, B, rows, columns):
    # BEGIN SOLUTION
    column, row = cuda.grid(2)
    if row < rows and column < columns:
        B[row, column] = A[row, column] * s[row]
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("13-coalesce", scale)

# %% [markdown] tags=["core"]
# ## A tile that a block shares
#
# A GPU has many **multiprocessors**, and one L2 cache for all of them. A block runs on one
# multiprocessor, and its threads share a small memory there, called **shared memory**. What one
# thread puts there, every thread of the block can use.
#
# So let 32 × 32 threads compute a tile of C, going along k by a tile of A and a tile of B at a
# time. Each thread puts one number of both there. Then it multiplies a row of one tile by a column
# of the other, and adds up. Between loading and multiplying stands a **barrier**,
# `cuda.syncthreads()`: no thread goes on until all have arrived.
#
# **How many times fewer sectors does this kernel ask for than the coalesced one?**

# %% tags=["core"]
before, tiles = rungs["coalesced"].run(), rungs["shared"].run()
third = rl.ask("13-tile", before.global_loads.sectors / tiles.global_loads.sectors)
third

# %% tags=["core"]
sectors_read = f"{before.global_loads.sectors:,} became {tiles.global_loads.sectors:,}"
rl.show.say(f"Sectors asked for: {sectors_read}.", after=third)

# %% [markdown] tags=["core"]
# <details><summary>Why: open this when you have guessed</summary>
#
# In 32 steps the coalesced kernel asks for 32 × 5 sectors for a warp: 4 of B, and 1 of A that all
# threads share. With tiles each warp loads one row of either tile: 8 sectors for the same 32 steps.
# That is 20 times fewer. Each number is loaded 32 times less often, but part of that was saved
# already: all threads of a warp wanted the same number of A.
#
# And yet Boehm's third kernel was only 1.5 times faster than his second. Something else holds it
# back now.
#
# </details>
#
# ### Vote, or choose for yourself
#
# A tile has 32 × 32 numbers. How often is a number used once it is in shared memory?
#
# <details><summary><b>A</b> 1,024 times, once for each number of the tile of C.</summary>
#
# This is *all threads use all numbers*, from a chapter on GPUs. A thread uses only its own row of A
# and its own column of B.
#
# </details>
#
# <details><summary><b>B</b> 32 times.</summary>
#
# **Right.** Each number of A is used by the 32 threads of its row.
#
# </details>
#
# <details><summary><b>C</b> 64 times: 32 as a part of A and 32 as a part of B.</summary>
#
# This is *both operands at once*: a number belongs to one of them.
#
# </details>
#
# <details><summary><b>D</b> Once, but it is nearer.</summary>
#
# This is *only the distance*: then no load would be saved.
#
# </details>
#
# ### Exercise 3 · A tile in shared memory
#
# Write the tiled product C = A·B, with A of M × K and B of K × N numbers. A block of 8 × 8 threads
# computes a tile of C of 8 × 8 numbers, and `T` is 8; x runs along a row of C, for blocks as for
# threads.
#
# In each step the threads load a tile of A and a tile of B into shared memory, one number of each
# per thread. Then each thread multiplies a row by a column. `at(A, row, column)` is 0 outside of A.
# M, N and K can be any size. When may a tile be overwritten?


# %% tags=["core"]
def at(A, row, column):
    return A[row, column] if row < A.shape[0] and column < A.shape[1] else 0.0


T = 8


# %% tags=["core", "answer"] rooflab={"exercise": "13-tiled"}
def tiled(A, B, C, M, N, K):
    As, Bs = cuda.shared.array((T, T), float32), cuda.shared.array((T, T), float32)
    x, y, total = cuda.threadIdx.x, cuda.threadIdx.y, float32(0)
    column, row = cuda.grid(2)
    # BEGIN SOLUTION
    for k in range(0, K, T):
        As[y, x], Bs[y, x] = at(A, row, k + x), at(B, k + y, column)
        cuda.syncthreads()
        for i in range(T):
            total += As[y, i] * Bs[i, x]
        cuda.syncthreads()
    if row < M and column < N:
        C[row, column] = total
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("13-tiled", tiled)

# %% [markdown] tags=["core"]
# Now remove a barrier and run the check again. The emulator names two threads that race. A GPU
# would say nothing. The result may be right today and wrong tomorrow.
#
# ## Banks
#
# Shared memory consists of 32 **banks**. A *word* has 4 bytes, as much as a number in `fp32`. Word 0
# lies in bank 0, word 1 in bank 1, and word 32 in bank 0 again. In one turn each bank gives out one
# word, to all threads that want it. A tile of 32 × 32 numbers has rows of 32 words. **A warp reads a
# column of it. How many turns does it take?**

# %% tags=["core"]
column = [32 * thread for thread in range(32)]
fourth = rl.ask("13-banks", len({word for word in column if word % 32 == 0}))  # in bank 0
fourth

# %% tags=["core"]
rl.cuda.banks(after=fourth)

# %% [markdown] tags=["core"]
# One unused number at the end of each row shifts every row by one bank. That number is never read;
# it only takes up room.
#
# ### Exercise 4 · Turns at the banks
#
# Shared memory has 32 banks. Word w, of 4 bytes, lies in bank w mod 32. In one turn each bank gives
# out one word, to as many threads as want it. `words` lists the words that the threads of a warp
# want, one for each. Return how many turns it takes. `turns([3, 35, 67, 35, 8])` is 3.


# %% tags=["core", "answer"] rooflab={"exercise": "13-turns"}
def turns(words):
    # BEGIN SOLUTION
    wanted = set(words)
    return max(sum(word % 32 == bank for word in wanted) for bank in range(32))
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("13-turns", turns)

# %% [markdown] tags=["core"]
# ## A tile for each thread
#
# In the tiled kernel every multiply-add reads two numbers from shared memory. It is nearer, but not
# free. A multiprocessor of an A6000 can do 128 multiply-adds a clock, 32 for each of four warps.
# Their reads, two each, take eight turns, and shared memory has one turn a clock. So arithmetic
# waits 7 clocks of 8, and this is what holds the third kernel back.
#
# The same trick works again, one level closer to the arithmetic. Let a thread compute r × r numbers
# of C, which it keeps in registers. Slide r.

# %% tags=["core"]
rl.cuda.register_tile()

# %% [markdown] tags=["core"]
# Here is such a kernel, with r = 8; `cuda.local.array` stands for registers. Each of its 64 threads
# computes 8 × 8 numbers of a tile of 64 × 64. **How many times fewer turns does it take at shared
# memory than the tiled kernel, for the whole product?** Writes to shared memory count, too.

# %% tags=["core", "nbval-check-output"]
print(rungs["registers"].source)

# %% tags=["core"]
inner = rungs["registers"].run()
fifth = rl.ask("13-registers", tiles.shared.wavefronts / inner.shared.wavefronts)
fifth

# %% tags=["core"]
turns_now = f"{tiles.shared.wavefronts:,} turns became {inner.shared.wavefronts:,}"
rl.show.say(f"{turns_now}, for {inner.flops:,} FLOPs in both kernels.", after=fifth)

# %% [markdown] tags=["core"]
# <details><summary>Why: open this when you have guessed</summary>
#
# Reading takes 16 turns for 64 multiply-adds, not 128: 8 times fewer. Writing the tiles into shared
# memory takes 512 turns in the tiled kernel and 256 in this one, whose tile of C is twice as wide.
#
# </details>
#
# ### Exercise 5 · How large a tile for a thread?
#
# A thread keeps r × r numbers of C in registers. In each step it reads r numbers of A and r of B
# from shared memory, in fp32, and does r·r multiply-adds. A multiprocessor does `fmas`
# multiply-adds a clock, and its shared memory gives out `bandwidth` bytes a clock. Count each
# thread's reads for itself.
#
# Return two values: the smallest whole r for which reading takes no longer than computing, and the
# FLOPs per byte of shared memory with that r. `register_tile(48, 100)` is `(4, 1.0)`.


# %% tags=["core", "answer"] rooflab={"exercise": "13-registers"}
def register_tile(fmas, bandwidth):
    # BEGIN SOLUTION
    import math

    r = math.ceil(8 * fmas / bandwidth)  # 8·r bytes ÷ bandwidth ≤ r·r ÷ fmas
    return r, 2 * r * r / (8 * r)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("13-registers", register_tile)

# %% [markdown] tags=["core"]
# ## How many fit
#
# Registers are not free, either. A multiprocessor has 65,536 of them for all the threads running on
# it. While one warp waits, another one computes, so it helps to have several at hand. **Occupancy**
# is the number of warps that fit, divided by the most that a multiprocessor can hold.

# %% tags=["core"]
rl.cuda.multiprocessor()

# %% [markdown] tags=["core"]
# More is not always better. On the A6000 the third kernel runs at 67 %: one block of 1,024 threads
# fits, and all of them wait at the same barrier. The tenth, the fastest, runs at 25 %.
#
# ### Exercise 6 · How many blocks at once?
#
# A multiprocessor of an H100 holds at most 2,048 threads and 32 blocks. It has 233,472 bytes of
# shared memory, and registers in four quarters of 16,384. A warp takes all its registers from one
# quarter, whichever has room: 32 times the `registers` of a thread, rounded up to a multiple of
# 256.
#
# A block of `threads` threads, a multiple of 32, takes `shared` bytes of shared memory and 1,024
# more for the system. Return how many such blocks a multiprocessor holds at once.
# `blocks(192, 50, 20000)` is 6.


# %% tags=["core", "answer"] rooflab={"exercise": "13-occupancy"}
def blocks(threads, registers, shared):
    # BEGIN SOLUTION
    each = -(-32 * registers // 256) * 256
    by_registers = 4 * (16384 // each) // (threads // 32)
    return min(2048 // threads, 32, by_registers, 233472 // (shared + 1024))
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("13-occupancy", blocks)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# A kernel copies an array and reaches 93 % of the memory's bandwidth at an occupancy of 50 %. You
# bring the occupancy to 100 %. What happens?
#
# <details><summary><b>A</b> It is twice as fast.</summary>
#
# This is *more threads, more speed*: memory was already nearly saturated.
#
# </details>
#
# <details><summary><b>B</b> Next to nothing.</summary>
#
# **Right.** Occupancy hides waiting. At 93 % there is little waiting left to hide. A public course
# (mojo-gpu-puzzles) asked its readers to compare three kernels of different occupancy. They ran
# alike.
#
# </details>
#
# <details><summary><b>C</b> It is slower: the threads get in each other's way.</summary>
#
# This is *full means jammed*. It happens where threads lose registers or cache that they need. A
# copy uses each number once.
#
# </details>
#
# <details><summary><b>D</b> Nobody can say without a profiler.</summary>
#
# This is *only a profiler knows*: 93 % of the roof is reached, and nobody gets beyond it.
#
# </details>

# %% [markdown] tags=["core"]
# ## Up the stairs, by counting
#
# Each kernel is now four counts: FLOPs, bytes from memory, bytes from L2, and bytes from shared
# memory, which is one unit with the L1 cache. Each has a roof, and the longest of the four times
# holds the kernel back.
#
# ### Exercise 7 · Which change comes next?
#
# `work` lists what a kernel does: FLOPs, bytes from and to memory, bytes from L2, and bytes from L1
# and shared memory. `roofs` lists FLOP/s and byte/s in the same order, and everything overlaps. Each
# of `changes` lists four factors by which a change would multiply the work.
#
# Return two values: the place, from 0, of the change that makes the kernel fastest (the first of
# equal ones), and how many times as fast as now that is.
# `next_rung([1e12, 4e9, 3e10, 3e11], [2e13, 1e12, 3e12, 4e12], [[1, 1, 0.5, 1], [1, 1, 1, 0.5], [1, 0.5, 1, 1]])`
# is `(1, 1.5)`.


# %% tags=["core", "answer"] rooflab={"exercise": "13-rung"}
def next_rung(work, roofs, changes):
    # BEGIN SOLUTION
    def seconds(factors):
        return max(w * f / r for w, f, r in zip(work, factors, roofs))

    times = [seconds(factors) for factors in changes]
    return times.index(min(times)), seconds([1, 1, 1, 1]) / min(times)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("13-rung", next_rung)

# %% [markdown] tags=["core"]
# Go back to the picture of the ten kernels, and look at the longest bar of each. The next cell
# lists them; *shared* stands for L1, too. The model behind them adds what does not overlap: a block
# whose warps all wait (exposed latency), and instructions that are no arithmetic.
#
# Two of its constants were fitted to these ten kernels; one of them says that arithmetic runs at
# 57.5 % of the peak. For two other GPUs the predictions were made before anyone looked at what had
# been published. Lesson 14 shows how that went.

# %% tags=["core", "nbval-check-output"]
for number, rung in enumerate(stairs.rungs, 1):
    off = rung.flop_per_s / rung.published
    print(f"{number:2} {rung.title:24} {rung.predict().limit:16} predicted ÷ published {off:.2f}")

# %% [markdown] tags=["deep"]
# ## Deeper: transpose a matrix
#
# To transpose a matrix, a warp reads a row of one matrix and has to write a column of the other.
# Either way one side is read or written by column, unless a tile comes between.
#
# ### Exercise 8 · Transpose a matrix
#
# Write a kernel that makes `B` the transpose of `A`, both of N × N numbers, with N a multiple of
# 32. Block (x, y) of the grid takes 32 × 32 numbers of A, from column 32·x and row 32·y on. It has
# 32 threads along x and 4, 8 or 32 along y (`cuda.blockDim.y`), so a thread may have to move
# several numbers. Read and write both matrices row by row, and cause no bank conflict.


# %% tags=["deep", "answer"] rooflab={"exercise": "13-transpose"}
def transpose(A, B, N):
    # BEGIN SOLUTION
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
    for i in range(y, 32, cuda.blockDim.y):
        tile[i, x] = A[top + i, left + x]
    cuda.syncthreads()
    for i in range(y, 32, cuda.blockDim.y):
        B[left + i, top + x] = tile[x, i]
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("13-transpose", transpose)

# %% [markdown] tags=["deep"]
# ## Deeper: in real CUDA
#
# The package also has these kernels in CUDA C++. NVIDIA's compiler does not need a GPU, so you can
# see what it makes of them for an H100 (`sm_90a`): registers of a thread, bytes of shared memory,
# registers that did not fit and were *spilled* to memory, and the instructions of the innermost
# loop. `LDG` reads memory, `LDS` shared memory, `FFMA` is a multiply-add in fp32.

# %% tags=["deep"]
print(rl.cuda.summary("sgemm_shared", "sgemm_registers_2d", "sgemm_float4"))

# %% [markdown] tags=["deep"]
# Where the author of a kernel or the compiler reads four words at once (`.128`), the same bytes take
# fewer instructions. On a machine with an NVIDIA GPU `rl.cuda.load("sgemm_float4").launch(A, B, C)`
# runs the kernel on CuPy's arrays.
#
# The emulator runs CUDA C++, too. The answer is then a text.
#
# ### Exercise 9 · Four numbers a load
#
# Write y = alpha·x + y in CUDA C++, as a text. Thread t of the grid takes four neighbours, from 4·t
# on. It loads and stores them as one `float4` of 16 bytes: a quarter of the requests.
# `*(float4*)(y + i)` is the float4 that begins at y[i]; its parts are .x, .y, .z and .w.
#
# n can be any size: 1 to 3 numbers left over are taken one by one. The grid has a thread for every
# four numbers, and often more.


# %% tags=["deep", "answer"] rooflab={"exercise": "13-wide"}
axpy = r"""
extern "C" __global__ void axpy(const float* x, float* y, float alpha, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    # BEGIN SOLUTION
    if (i + 3 < n) {
        float4 a = *(const float4*)(x + i), b = *(const float4*)(y + i);
        *(float4*)(y + i) = make_float4(b.x + alpha * a.x, b.y + alpha * a.y,
                                        b.z + alpha * a.z, b.w + alpha * a.w);
    } else {
        for (; i < n; ++i) y[i] += alpha * x[i];
    }
    # END SOLUTION
}
"""

# %% tags=["deep", "nbval-check-output"]
rl.check("13-wide", axpy)

# %% [markdown] tags=["deep"]
# ### Exercise 10 · A sum of many threads
#
# Add the sum of x[i]·y[i], over all i below n, to r[0], in CUDA C++, as a text. The grid may be
# smaller than n: after each product a thread goes `gridDim.x * blockDim.x` further. The 32 lanes of
# a warp add up by shuffles: `__shfl_down_sync(0xffffffff, sum, offset)` is the sum of the lane that
# is `offset` further on. At most one `atomicAdd(r, sum)` a warp is left. Blocks have a multiple of
# 32 threads.


# %% tags=["deep", "answer"] rooflab={"exercise": "13-dot"}
dot = r"""
extern "C" __global__ void dot(const float* x, const float* y, float* r, int n) {
    float sum = 0;
    # BEGIN SOLUTION
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        sum += x[i] * y[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(r, sum);
    # END SOLUTION
}
"""

# %% tags=["deep", "nbval-check-output"]
rl.check("13-dot", dot)

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - A warp has 32 threads, a sector 32 bytes. A coalesced read of fp32 asks for 4 sectors, a column
#   for 32.
# - A tile of T × T numbers uses each of its numbers T times. In fp32 that is T/4 FLOP/byte.
# - 32 banks give one word each a turn. Pad rows to 33 words to read columns.
# - 8 × 8 numbers a thread, so that shared memory keeps up with the multiply-adds.
# - 65,536 registers a multiprocessor: 64 registers for each of 1,024 threads.
#
# ## What you can do now
#
# - **Count** sectors: the different ones among 32 addresses. Count turns: the fullest bank.
# - **Write** kernels with x along a row, and a tile with two barriers.
# - **Size** a tile in registers by what shared memory gives out, and check how many blocks fit.
# - **Predict** what holds a kernel back: the longest of its times.
#
# Next come the stairs of a newer GPU, whose cores multiply whole tiles.

# %% tags=["core"]
rl.my_guesses("13")

# %% tags=["core"]
rl.progress("13")
