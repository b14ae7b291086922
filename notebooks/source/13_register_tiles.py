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
# **Why is a kernel slow that does nothing wrong?**
#
# <details><summary>45 minutes, 95 with the exercises: what you learn, and what you need</summary>
#
# - **count** the sectors that a warp touches, and the turns it takes at the banks,
# - **write** kernels in which neighbours share: side by side, and by a tile in shared memory,
# - **size** a tile in registers, and say how many blocks fit beside each other,
# - **predict** what holds a kernel back from its counts.
#
# You need lessons 01, 03 and 07. The *Deeper* part adds 15 minutes. A lecture shows some of it in
# 25. No GPU is needed: kernels run in an emulator, which counts but has no clock.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## Ten kernels
#
# In 2022 Simon Boehm wrote ten kernels for one product of matrices and timed them on one GPU, an
# RTX A6000. All ten do the same FLOPs on the same 4096 × 4096 numbers in `fp32`, and all are
# right. **How many times as fast is the tenth as the first?**

# %% tags=["core"]
stairs = rl.cuda.staircase("a6000")
slow, *_, fast = stairs.rungs
first = rl.ask("13-stairs", fast.published / slow.published)
first

# %% [markdown] tags=["core"]
# The picture opens once you have guessed. Each dot is a kernel. Step through them: this lesson is
# about what changes from one to the next, and how far counting gets you.

# %% tags=["core"]
rl.cuda.stairs("a6000", after=first)

# %% [markdown] tags=["core"]
# ## One thread's view
#
# A **kernel** is written for one **thread**. The GPU runs it for thousands, each with a place of
# its own in a *grid*. Here is the first kernel. Each thread makes one number of C, and
# `cuda.grid(2)` is its place (x, y).

# %% tags=["core", "nbval-check-output"]
rungs = rl.cuda.rungs()
print(rungs["naive"].source)

# %% [markdown] tags=["core"]
# Threads do not run one by one. 32 threads with neighbouring x form a **warp**, and a warp executes
# one instruction for all its threads at once. When it reads, 32 addresses go out together. Memory
# answers in **sectors** of 32 bytes, so it matters how many different sectors the 32 addresses lie
# in.
#
# In the kernel above x is the row. A lies row by row. **How many sectors does a warp touch when it
# reads `A[row, k]`?**

# %% tags=["core"]
run = rungs["naive"].run()
second = rl.ask("13-naive", run.arrays["A"].loads.sectors_per_request)
second

# %% tags=["core"]
rl.cuda.coalescing(after=second)

# %% [markdown] tags=["core"]
# Threads 0 and 1 read a whole row apart. That is the longest stride the matrix has. Each sector
# brings eight numbers, and the warp uses one. When neighbours read neighbours, their reads are
# **coalesced**, and the same warp needs four sectors.
#
# ### Exercise 1 · Sectors of a warp
#
# The 32 lanes of a warp each read one number of `itemsize` bytes. Lane 0 reads at byte `first`, a
# multiple of itemsize; each next lane reads `stride` numbers further on. Memory moves in sectors of
# 32 bytes, which begin at multiples of 32. Return how many different sectors the warp touches.
# `sectors(8, 3, 4)` is 13.


# %% tags=["core", "answer"] rooflab={"exercise": "13-sectors"}
def sectors(first, stride, itemsize):
    # BEGIN SOLUTION
    starts = [first + lane * stride * itemsize for lane in range(32)]
    return len({start // 32 for start in starts})  # no number lies across a border
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("13-sectors", sectors)

# %% [markdown] tags=["core"]
# The cure is to exchange two words: let x be the column. Now a warp reads one number of A, which
# all its threads want, and 32 neighbours of B. The emulator runs both kernels for N = 64.

# %% tags=["core", "nbval-check-output"]
for name in ("naive", "coalesced"):
    run = rungs[name].run()
    print(f"{name:10} {run.global_loads.sectors:8,} sectors read, {run.flops:,} FLOPs")

# %% [markdown] tags=["core"]
# ### Exercise 2 · Neighbours side by side
#
# Write a kernel: `B[row, column] = A[row, column] * s[row]` for matrices of `rows` × `columns`
# numbers, which lie row by row. Each thread makes one number. `cuda.grid(2)` is the place of the
# thread in the whole grid, as (x, y); the grid is at least as large as the matrix in both
# directions, and often larger. Blocks are 32 × 8 threads or similar, and the threads of a warp have
# neighbouring x. A warp may touch as few sectors as possible.


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
# ## A tile that all can see
#
# Threads come in **blocks**. A block runs on one *multiprocessor*, a core of the GPU, and its
# threads have a small memory in common, the **shared memory**. It lies on the chip: what one thread
# brings there, all others of the block can use.
#
# So let 32 × 32 threads make a tile of C. They bring a tile of A and a tile of B, each thread one
# number of each. Then each thread multiplies a row of one with a column of the other. Between the
# two stands a **barrier**, `cuda.syncthreads()`: nobody goes on before all have arrived.
#
# **How many times fewer sectors does the block read than the coalesced kernel?**

# %% tags=["core"]
before, tiles = rungs["coalesced"].run(), rungs["shared"].run()
third = rl.ask("13-tile", before.global_loads.sectors / tiles.global_loads.sectors)
third

# %% tags=["core"]
sectors_read = f"{before.global_loads.sectors:,} became {tiles.global_loads.sectors:,}"
rl.show.say(f"Sectors read: {sectors_read}.", after=third)

# %% [markdown] tags=["core"]
# <details><summary>Why: open this when you have guessed</summary>
#
# In 32 steps the coalesced kernel reads 32 × 5 sectors for a warp: 4 of B, and 1 of A that all
# lanes share. With tiles each warp brings one row of either tile: 8 sectors for the same 32
# steps. That is 20 times fewer. The numbers asked for are 32 times fewer; but a warp whose lanes
# all wanted the same number of A had saved some of that already.
#
# </details>

# %% [markdown] tags=["core"]
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
# **Right.** A number of A is wanted by the 32 threads of its row.
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
# This is *only the way is shorter*: then nothing would be saved in memory.
#
# </details>
#
# ### Exercise 3 · A tile in shared memory
#
# Write the tiled product C = A·B, with A of M × K and B of K × N numbers. A block of 8 × 8 threads
# makes a tile of C of 8 × 8 numbers, `T` is 8, and blocks lie over C as threads do: x goes along a
# row. In each step all threads together bring a tile of A and one of B to shared memory, each
# thread one number of each; then each multiplies a row with a column. `at(A, row, column)` is 0
# outside of A. M, N and K are any.


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
# Leave a barrier out, and run the check again. The emulator names the two threads that would race
# each other. A GPU would say nothing, and be right most of the time.
#
# ## Banks
#
# Shared memory consists of 32 **banks**. Word 0 lies in bank 0, word 1 in bank 1, and word 32 in
# bank 0 again. In one turn each bank gives out one word, to all lanes that want it. A tile of 32 ×
# 32 numbers has rows of 32 words. **A warp reads a column of it. How many turns does it take?**

# %% tags=["core"]
column = [32 * lane for lane in range(32)]
fourth = rl.ask("13-banks", len({word for word in column if word % 32 == 0}))  # in bank 0
fourth

# %% tags=["core"]
rl.cuda.banks(after=fourth)

# %% [markdown] tags=["core"]
# One unused number at the end of each row moves every row one bank on. Nobody reads that number. It
# is there for its place.
#
# ### Exercise 4 · Turns at the banks
#
# Shared memory has 32 banks. Word w, of 4 bytes, lies in bank w mod 32. In one turn each bank gives
# out one word, to as many lanes as want it. `words` lists the words that the lanes of a warp want,
# one for each lane. Return how many turns it takes. `turns([3, 35, 67, 35, 8])` is 3.


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
# In the tiled kernel every multiply-add reads two numbers from shared memory. That is nearer than
# memory, but not free: a multiprocessor of an A6000 can do 128 multiply-adds a clock, and its
# shared memory gives out 32 words. So the threads wait for shared memory now.
#
# The same trick works again, one level further in. Let a thread make 8 × 8 numbers of C, in
# registers. In each step it reads 8 numbers of A and 8 of B, and does 64 multiply-adds with them.
# **How many times fewer turns at shared memory does the whole product take?**

# %% tags=["core"]
inner = rungs["registers"].run()
fifth = rl.ask("13-registers", tiles.shared.wavefronts / inner.shared.wavefronts)
fifth

# %% tags=["core"]
turns_now = f"{tiles.shared.wavefronts:,} turns became {inner.shared.wavefronts:,}"
rl.show.say(f"{turns_now}, for {inner.flops:,} FLOPs each.", after=fifth)

# %% [markdown] tags=["core"]
# ### Exercise 5 · How large a tile for a thread?
#
# A thread keeps r × r numbers of C in registers. In each step it reads r numbers of A and r of B
# from shared memory, in fp32, and does r·r multiply-adds. A multiprocessor does `fmas`
# multiply-adds a clock, and its shared memory gives out `bandwidth` bytes a clock. No two threads
# share what they read. Return two values: the smallest whole r with which reading does not take
# longer than computing, and the FLOP for each byte of shared memory with that r.
# `register_tile(48, 100)` is `(4, 1.0)`.


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
# Registers are not free, either. A multiprocessor has 65,536 of them for all threads that are on
# it. While one warp waits for memory, another one computes, so it helps to have several. The
# share of warps that fit, of those that a multiprocessor can hold, is called its **occupancy**.

# %% tags=["core"]
rl.cuda.multiprocessor()

# %% [markdown] tags=["core"]
# ### Exercise 6 · How many blocks at once?
#
# A multiprocessor of an H100 holds at most 2,048 threads and 32 blocks. It has 233,472 bytes of
# shared memory, and registers in four quarters of 16,384. A warp takes all its registers from one
# quarter: 32 times the `registers` of a thread, rounded up to a multiple of 256. A block of
# `threads` threads, a multiple of 32, takes `shared` bytes of shared memory and 1,024 more for the
# system. Its warps may lie in any quarters. Return how many such blocks a multiprocessor holds at
# once. `blocks(192, 50, 20000)` is 6.


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
# This is *more threads, more speed*: the memory had hardly anything left to give.
#
# </details>
#
# <details><summary><b>B</b> Next to nothing.</summary>
#
# **Right.** Occupancy hides waiting. At 93 % there is little waiting left to hide. A public course
# once asked its readers to compare three kernels of different occupancy: they ran alike.
#
# </details>
#
# <details><summary><b>C</b> It is slower: the threads get in each other's way.</summary>
#
# This is *full means jammed*: the hardware switches between warps at no cost.
#
# </details>
#
# <details><summary><b>D</b> Nobody can say without a profiler.</summary>
#
# This is *only a profiler knows*: 93 % of the roof is reached, and nobody gets beyond the roof.
#
# </details>

# %% [markdown] tags=["core"]
# ## Up the stairs, by counting
#
# Every rung is a count now: FLOPs, bytes from memory, bytes from L2, and bytes out of shared
# memory. Each has a roof, and the longest of the times holds the kernel back.
#
# ### Exercise 7 · What holds this rung back?
#
# A kernel does `flops` FLOPs and moves `dram` bytes to and from memory, `l2` bytes between L2 and
# the multiprocessors, and `shared` bytes out of shared memory. `roofs` lists the machine's FLOP/s,
# and the byte/s of memory, of L2, and of all shared memories together. Everything overlaps. Return
# two values: the FLOP/s that it reaches at most, and what holds it back: 'computing', 'dram', 'l2'
# or 'shared'. `rung(1e12, 4e9, 5e10, 3e11, [2e13, 1e12, 3e12, 1e13])` is `(2e13, 'computing')`.


# %% tags=["core", "answer"] rooflab={"exercise": "13-rung"}
def rung(flops, dram, l2, shared, roofs):
    # BEGIN SOLUTION
    work, names = (flops, dram, l2, shared), ("computing", "dram", "l2", "shared")
    times = [amount / roof for amount, roof in zip(work, roofs)]
    longest = max(times)
    return flops / longest, names[times.index(longest)]
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("13-rung", rung)

# %% [markdown] tags=["core"]
# Go back to the picture of the ten kernels, and look at what is longest in each. Kernel 3 has its
# tile in shared memory, and waits for shared memory. Kernel 4 keeps a column of 8 numbers in
# registers, kernel 5 a square of 8 × 8. From there on arithmetic is longest, and the stairs are
# low. All predictions come from such counts. For two other GPUs they were made before anyone looked
# at what had been published: lesson 14 shows how that went.

# %% [markdown] tags=["deep"]
# ## Deeper: turn a matrix round
#
# To write the transpose of a matrix, a warp reads a row of one matrix and has to write a column of
# the other. Or the other way round: somebody walks down a column. Unless a tile lies between.
#
# ### Exercise 8 · Turn a matrix round
#
# Write a kernel that makes `B` the transpose of `A`, both of N × N numbers, with N a multiple of
# 32. Block (x, y) of the grid takes the 32 × 32 numbers of A in columns from 32·x on and rows
# from 32·y on. It has 32 threads along x and 4, 8 or 32 along y (`cuda.blockDim.y`), so a thread
# may have to move several numbers. Both matrices have to be touched row by row, and the banks
# without a conflict.


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
# The package contains all of these kernels in CUDA C++, too, and more. NVIDIA's compiler does not
# need a GPU, so you can look at what becomes of them: registers, and instructions of the innermost
# loop. `LDS` reads shared memory, `FFMA` is a multiply-add in fp32.

# %% tags=["deep"]
print(rl.cuda.summary("sgemm_shared", "sgemm_registers_2d", "sgemm_float4"))

# %% [markdown] tags=["deep"]
# The compiler reads up to four words at once (`.128`), and so needs fewer instructions for as many
# bytes. On a machine with an NVIDIA GPU, `rl.cuda.load("sgemm_float4")` runs the kernel.

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - A warp has 32 threads, a sector 32 bytes. A coalesced read of fp32 touches 4 sectors, a column
#   32.
# - A tile of T × T numbers uses each of its numbers T times. In fp32 that is T/4 FLOP/byte.
# - 32 banks, one word each in a turn; rows of 33 words for columns.
# - 8 × 8 numbers a thread, so that shared memory keeps up with the multiply-adds.
# - 65,536 registers a multiprocessor: 64 registers for each of 1,024 threads.
#
# ## What you can do now
#
# - **Count** sectors: the different ones among 32 addresses. Count turns: the fullest bank.
# - **Write** kernels with x along a row, and a tile with two barriers.
# - **Size** a tile in registers by what shared memory gives out, and look at how many blocks fit.
# - **Predict** what holds a kernel back: the longest of its times.
#
# The next lesson takes the same stairs on a newer GPU, with cores that multiply whole tiles.

# %% tags=["core"]
rl.my_guesses("13")

# %% tags=["core"]
rl.progress("13")
