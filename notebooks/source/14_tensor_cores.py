# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 14 · Tensor cores and pipelines
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **What limits a kernel once multiplying is nearly free?**
#
# <details><summary>45 minutes, 105 with the exercises: what you learn, and what you need</summary>
#
# - **find** the number that a lane holds for a tensor core,
# - **choose** a tile that fits, and say what it asks of L2,
# - **write** a loop that copies one tile while it computes another, and predict its time,
# - **predict** waves of tiles, and the bytes that a wave shares.
#
# You need lessons 07, 11 and 13. The *Deeper* part adds 5 minutes. A lecture shows some of it in
# 25. No GPU is needed.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## Thirteen kernels
#
# In 2024 Pranjal Shankhdhar wrote kernels for one product on an H100: 4096 × 4096 numbers in
# `bf16`, with **tensor cores**, the matrix units of the GPU. The first of them reached 317 TFLOP/s.
# On the same GPU the best kernel of lesson 13 reached 32.
#
# His third kernel makes tiles of C of 128 × 128 numbers and reaches 498 TFLOP/s. The fourth makes
# tiles of 128 × 256, which ask for fewer bytes. **How many TFLOP/s does the fourth kernel reach?**

# %% tags=["core"]
stairs = rl.cuda.staircase("h100")
first = rl.ask("14-tile", stairs.rungs[3].published / 1e12)
first

# %% tags=["core"]
rl.cuda.stairs("h100", after=first)

# %% [markdown] tags=["core"]
# <details><summary>Why: open this when you have guessed</summary>
#
# The sums of a larger tile did not fit into the registers of its threads, so they went out and in
# all the time. Kernel 5 gives the same tile to twice as many threads: 610 TFLOP/s. Lesson 16 looks
# at what the compiler did.
#
# </details>
#
# Each diamond is a prediction by counting, with two constants fitted to the A6000's kernels of
# lesson 13. For the H100 and a B200 the predictions were made before anyone looked at what had been
# published. How good were they?

# %% tags=["core", "nbval-check-output"]
for gpu in ("a6000", "h100", "b200"):
    rungs = rl.cuda.staircase(gpu).rungs
    off = [max(r.flop_per_s / r.published, r.published / r.flop_per_s) for r in rungs]
    close = sum(ratio <= 1.25 for ratio in off)
    print(f"{gpu:6} {close:2} of {len(off):2} within 1.25 times, the worst off by {max(off):.1f}")

# %% [markdown] tags=["core"]
# Two kernels of the H100 were predicted far too fast. We come back to one of them, kernel 7.
#
# ## One instruction
#
# `mma.sync.m16n8k16` is one instruction of a warp. It multiplies 16 × 16 numbers of A by 16 × 8
# numbers of B, both in `fp16`, and adds the products to 16 × 8 sums in `fp32`. In lesson 13 a warp
# had `FFMA`: one multiply-add in each of its 32 lanes. **How many of those does one `mma.sync`
# stand for?**

# %% tags=["core"]
second = rl.ask("14-ffma", 16 * 8 * 16 / 32)
second

# %% tags=["core"]
rl.cuda.fragments(after=second)

# %% [markdown] tags=["core"]
# What a lane holds of a matrix is its **fragment**. Look at what the sums of a lane need. No lane
# holds a whole row of A: the tensor core collects it from four lanes. So a kernel first has to
# bring each number to the right lane.
#
# ### Exercise 1 · Who holds this number?
#
# A is 16 × 16, B is 16 × 8 and C is 16 × 8 numbers. Lanes 4·g to 4·g + 3 of a warp hold rows g and
# g + 8 of A and of C, and column g of B, always two neighbours at a time, as in the picture. Return
# two values: the lane that holds the number in `row` and `column` of `operand`, which is 'A', 'B'
# or 'C', and which of the lane's numbers of that operand it is, from 0. `holder('A', 9, 3)` is `(5,
# 3)`.


# %% tags=["core", "answer"] rooflab={"exercise": "14-fragment"}
def holder(operand, row, column):
    # BEGIN SOLUTION
    if operand == "B":
        return 4 * column + row % 8 // 2, row % 2 + row // 8 * 2
    lane = row % 8 * 4 + column % 8 // 2
    return lane, column % 2 + row // 8 * 2 + column // 8 * 4
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("14-fragment", holder)

# %% [markdown] tags=["core"]
# Later GPUs have larger instructions, which need fewer registers step by step:
#
# | instruction | largest shape | issued by | B comes from | sums lie in |
# |-|-|-|-|-|
# | `mma.sync`, A100 | m16n8k16 | a warp | registers | registers |
# | `wgmma`, H100 | m64n256k16 | four warps | shared memory | registers |
# | `tcgen05.mma`, B200 | m128n256k16 | one thread | shared memory | tensor memory |
#
# *Tensor memory* is new in a B200: 256 KiB on each multiprocessor, or **SM**. The kernel allocates
# it and frees it again.
#
# ## Feeding them
#
# For each step along k, a tile of bm × bn numbers needs bm numbers of A and bn of B, and does bm·bn
# multiply-adds. With 2 bytes a number that is bm·bn ÷ (bm + bn) FLOP/byte. The bytes come out of
# L2, because tiles that run at the same time share them. What does the L2 of an H100 allow?

# %% tags=["core", "nbval-check-output"]
gpu = stairs.machine
l2 = gpu["l2_bytes_per_clock"] * gpu["sms"] * gpu["clock_hz"]
for m, n in ((64, 64), (128, 128), (128, 256), (256, 256)):
    intensity = m * n / (m + n)
    allowed = rl.si(intensity * l2, "FLOP/s")
    print(f"{m:3} × {n:3}: {intensity:5.1f} FLOP/byte, about {allowed}")

# %% [markdown] tags=["core"]
# The peak is 989 TFLOP/s. Kernel 1 has tiles of 64 × 64 and reaches 317. A better instruction would
# not help it; a larger tile does. What does such a tile take?
#
# ### Exercise 2 · A tile that fits
#
# `options` lists kernels for an H100, each as `[bm, bn, bk, stages, threads]`. A block makes a tile
# of C of bm × bn numbers. Its shared memory holds bm × bk numbers of A and bk × bn of B in fp16,
# `stages` times, in at most 232,448 bytes. Each of its threads needs one register for each of its
# sums and 40 more, at most 255. All threads together have 65,536 registers. Return two values: the
# place in the list of the kernel that fits and reads the fewest bytes from L2 for its FLOPs, and
# the byte/s that it reads at `rate` FLOP/s. Of equal ones the first counts. If none fits, return -1
# and 0. `choose([[64, 128, 64, 4, 128], [192, 128, 64, 6, 384], [128, 128, 32, 5, 256]], 5e14)` is
# `(2, 7.8125e12)`.


# %% tags=["core", "answer"] rooflab={"exercise": "14-budget"}
def choose(options, rate):
    # BEGIN SOLUTION
    best, place = 0, -1
    for number, (bm, bn, bk, stages, threads) in enumerate(options):
        registers = bm * bn / threads + 40
        shared = 2 * (bm + bn) * bk * stages
        fits = shared <= 232448 and registers <= 255 and registers * threads <= 65536
        if fits and bm * bn / (bm + bn) > best:
            best, place = bm * bn / (bm + bn), number
    return place, rate / best if best else 0
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("14-budget", choose)

# %% [markdown] tags=["core"]
# ### Exercise 3 · In court: 98 % out of 4 KB
#
# A book prints a table, as an illustration: a product in fp16 by CUTLASS, a library, keeps tensor
# cores busy for 98 % of the time, with about 60 registers a thread and 4 KB of shared memory a
# block. On an H100 98 % would be 970 TFLOP/s. Could that be?
#
# A kernel multiplies matrices in fp16. Its shared memory of `shared` bytes holds a tile of A and a
# tile of B for each of `stages` stages, with `bk` numbers along k. A block makes a tile of C of b ×
# b numbers. Return two values: the largest whole b, and the byte/s that all blocks together read
# from L2 when they compute at `rate` FLOP/s. `feed(12288, 3, 8, 5e13)` is `(128, 7.8125e11)`.


# %% tags=["core", "answer"] rooflab={"exercise": "14-claim-table"}
def feed(shared, stages, bk, rate):
    # BEGIN SOLUTION
    b = shared // (stages * 2 * bk * 2)
    return b, rate / (b / 2)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("14-claim-table", feed)

# %% [markdown] tags=["core"]
# Two stages of 16 numbers along k fill 4 KB with b = 32. At 970 TFLOP/s such tiles ask L2 for six
# times what it gives. A real kernel of that library, compiled for an H100, has 242 registers and
# 144 KiB.
#
# ## Copy while you compute
#
# While a block copies a tile from L2, its tensor cores idle. With two **buffers** in shared memory
# it can copy the next tile while it computes this one. Take 64 tiles, and let copying a tile take
# as long as computing it. **How many times as fast do two buffers make the loop?**

# %% tags=["core"]
third = rl.ask("14-overlap", (64 + 64) / (1 + 64))  # the first copy overlaps with nothing
third

# %% tags=["core"]
rl.cuda.pipeline(after=third)

# %% [markdown] tags=["core"]
# This is a **pipeline**, and its buffers are its *stages*. With one copy at a time it is never more
# than twice as fast, and a third buffer is of no use. But a copy spends most of its time on the
# way, and many can be on their way at once. Choose *up to 4 at a time* and long copies: now each
# buffer helps, until the tensor cores are busy all the time. Kernel 3 has five.
#
# An H100 has a unit for copies, the *TMA*: one thread asks for a whole tile, and a barrier says
# when it is there. In kernel 3 one group of warps, the *producer*, does only that. Another one, the
# *consumer*, computes.
#
# ### Exercise 4 · A pipeline of tiles
#
# A block computes `tiles` tiles one after the other, `compute` seconds each. Each tile is first
# copied to one of `stages` buffers, in `copy` seconds: tile t to buffer t mod stages. Copies begin
# in the order of the tiles, each as soon as its buffer is free, but at most `at_once` copies are on
# their way at a time. A buffer is free again when its tile has been computed. Return the seconds
# from the first copy to the last result. `seconds(5, 2, 3, 4, 1)` is `23`.


# %% tags=["core", "answer"] rooflab={"exercise": "14-pipeline"}
def seconds(tiles, stages, copy, compute, at_once):
    # BEGIN SOLUTION
    arrived, computed = [], []
    for tile in range(tiles):
        free = computed[tile - stages] if tile >= stages else 0
        door = arrived[tile - at_once] if tile >= at_once else 0
        arrived.append(max(free, door) + copy)
        before = computed[-1] if computed else 0
        computed.append(max(arrived[-1], before) + compute)
    return computed[-1]
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("14-pipeline", seconds)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# A kernel adds two long arrays, and memory gives all the bandwidth it has. You go from two stages
# to four. What happens?
#
# <details><summary><b>A</b> It is bound by computing now.</summary>
#
# This is *overlap saves bytes*: the intensity is the same, and so is the roof above it.
#
# </details>
#
# <details><summary><b>B</b> It is up to twice as fast.</summary>
#
# This is *twice the stages, twice the speed*: there has to be some waiting left to hide.
#
# </details>
#
# <details><summary><b>C</b> Nothing.</summary>
#
# **Right.** A pipeline moves a kernel up to its roof, and never to the right. This one is at its
# roof.
#
# </details>
#
# <details><summary><b>D</b> It is slower, because four stages need four barriers.</summary>
#
# This is *every stage has its price*: a step has as many barriers as before.
#
# </details>
#
# ### Exercise 5 · Two buffers, one barrier
#
# Write the tiled product C = A·B with two buffers for each tile, so that a step needs one barrier.
# All sizes are multiples of `T`, which is 8; K is the length along k. A block of 8 × 8 threads
# makes a tile of C, and x goes along a row. Bring the first pair of tiles before the loop. In each
# step bring the next pair to the other buffers and multiply with this one. `at(A, row, column)` is
# 0 outside of A, where the last step has no next pair.


# %% tags=["core"]
def at(A, row, column):
    return A[row, column] if row < A.shape[0] and column < A.shape[1] else 0.0


T = 8


# %% tags=["core", "answer"] rooflab={"exercise": "14-buffers"}
def buffered(A, B, C, K):
    As, Bs = cuda.shared.array((2, T, T), float32), cuda.shared.array((2, T, T), float32)
    x, y, total = cuda.threadIdx.x, cuda.threadIdx.y, float32(0)
    column, row = cuda.grid(2)
    # BEGIN SOLUTION
    As[0, y, x], Bs[0, y, x] = A[row, x], B[y, column]
    for k in range(0, K, T):
        now, after = k // T % 2, k + T
        cuda.syncthreads()
        As[1 - now, y, x], Bs[1 - now, y, x] = at(A, row, after + x), at(B, after + y, column)
        for i in range(T):
            total += As[now, y, i] * Bs[now, i, x]
    # END SOLUTION
    C[row, column] = total


# %% tags=["core", "nbval-check-output"]
rl.check("14-buffers", buffered)

# %% [markdown] tags=["core"]
# ## The last wave
#
# An H100 has 132 SMs. With tiles of 128 × 256, a C of 1,024 × 4,096 numbers has 128 tiles. All of
# them run at once, in one **wave**. With one more row there are 144 tiles: a second wave has to run
# for only 12 of them. For one kernel that takes twice as long. NVIDIA has published how long a
# library takes. **How many times as long does the library take for one more row?**

# %% tags=["core"]
times = rl.cuda.library_times(columns=4096)
fourth = rl.ask("14-row", times[1025] / times[1024])
fourth

# %% tags=["core"]
rl.cuda.waves(after=fourth)

# %% [markdown] tags=["core"]
# A library is not one kernel. It has many, and chooses one for each shape. Choose tiles of 192 ×
# 192: then 1,025 rows are 132 tiles, just one wave.
#
# That does not always help. With 5,120 columns, one more row takes 1.57 times as long. Among all
# 483 shapes of the published table it costs 4 % in the median, and 79 % at most.
#
# ### Exercise 6 · Which kernel of a library?
#
# A library has several `kernels` for the same product, each as `[bm, bn, seconds]`: its tile of C
# has bm × bn numbers, and an SM takes that many seconds for one. C has m × n numbers. Tiles at its
# edges take as long as whole ones. Each of `sms` SMs works on one tile at a time, and all begin
# together. Return two values: the place in the list of the kernel that finishes first, and the
# seconds that it takes. Of equal ones the first counts. `library(1000, 3000, 100, [[96, 256, 4e-5],
# [160, 160, 5e-5]])` is `(0, 8e-5)`.


# %% tags=["core", "answer"] rooflab={"exercise": "14-waves"}
def library(m, n, sms, kernels):
    # BEGIN SOLUTION
    import math

    times = []
    for bm, bn, each in kernels:
        tiles = math.ceil(m / bm) * math.ceil(n / bn)
        times.append(math.ceil(tiles / sms) * each)
    return times.index(min(times)), min(times)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("14-waves", library)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# A product has 144 tiles for 132 SMs, and tensor cores are what it waits for. Which change helps
# most?
#
# <details><summary><b>A</b> Tiles of half the size.</summary>
#
# **Right.** 288 tiles are three waves, each half as long: 1.5 instead of 2. It is a good trade
# while L2 still keeps up.
#
# </details>
#
# <details><summary><b>B</b> Tiles of twice the size, so that all fit into one wave.</summary>
#
# This is *one wave is best*: 72 tiles leave 60 SMs idle, and the one wave takes as long as two.
#
# </details>
#
# <details><summary><b>C</b> Blocks that stay on their SM and take one tile after the other.</summary>
#
# This is *persistent means balanced*: 12 SMs still have two tiles, all others one.
#
# </details>
#
# <details><summary><b>D</b> More stages.</summary>
#
# This is *overlap cures all*: it fills waiting inside a block. In the second wave 120 SMs have no
# block.
#
# </details>
#
# ## The order of tiles
#
# Kernel 7 is *persistent*: 132 blocks, one for each SM, take one tile after the other. That hides
# the time in which results are written. Yet it fell from 631 to 400 TFLOP/s. C has 32 rows of 16
# tiles, and each SM gets three or four neighbours. So tiles 0, 4, 8, … run at the same time. In
# kernel 8 the tiles of a group of 16 × 8 run at the same time.
#
# Tiles that run at the same time share rows of A and columns of B, which L2 keeps. **How many times
# as many bytes do the 132 tiles of kernel 7 read as a group of 16 × 8?**

# %% tags=["core"]
seven, eight = 4096 + 4096, 16 * 128 + 8 * 256  # rows of A and columns of B
fifth = rl.ask("14-order", seven / eight)
fifth

# %% tags=["core"]
rl.cuda.order(after=fifth)

# %% [markdown] tags=["core"]
# ### Exercise 7 · What a wave reads
#
# C has rows of `across` tiles. Tile t is number t % across of row t // across. A tile of bm × bn
# numbers needs bm rows of A and bn columns of B, of `k` numbers each, in bf16. `tiles` lists the
# tiles that run at one time, and L2 keeps what they share: each row of A and each column of B is
# read once. Return how many bytes of A and B they read from memory. `[0, 5, 10, 11]` with 4 tiles
# across lies in rows 0, 1 and 2 and columns 0, 1, 2 and 3. `wave_bytes([0, 5, 10, 11], 4, 64, 96,
# 512)` is `589824`.


# %% tags=["core", "answer"] rooflab={"exercise": "14-order"}
def wave_bytes(tiles, across, bm, bn, k):
    # BEGIN SOLUTION
    rows = {tile // across for tile in tiles}
    columns = {tile % across for tile in tiles}
    return (len(rows) * bm + len(columns) * bn) * k * 2
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("14-order", wave_bytes)

# %% [markdown] tags=["core"]
# Tiles that run at the same time should be neighbours in C. The author of the kernels came to the
# same conclusion. But do the bytes explain how much kernel 7 lost?

# %% tags=["core"]
flops, (slow, fast) = 2 * 4096**3, (rung.published for rung in stairs.rungs[6:8])
lost = flops / slow - flops / fast
more = (240e6 - 134e6) / gpu["dram_bytes_per_s"]  # bytes of all waves, from the picture
reading = f"Reading more takes {rl.si(more, 's', 2)}, "
rl.show.say(reading + f"but kernel 7 took {rl.si(lost, 's', 3)} longer than kernel 8.", after=fifth)

# %% [markdown] tags=["core"]
# <details><summary>What this means: open it when you have guessed</summary>
#
# The count gives the direction, but not the size. That is why the prediction of kernel 7 was wrong.
# We do not know the rest. One would have to measure L2, with a profiler on such a GPU.
#
# </details>

# %% [markdown] tags=["deep"]
# ## Deeper: in real CUDA
#
# The package contains products with tensor cores in CUDA C++. `HMMA` is the instruction that
# `mma.sync` becomes, `HGMMA` what `wgmma` becomes.

# %% tags=["deep"]
print(rl.cuda.summary("hgemm_wmma", "hgemm_mma", "hgemm_wgmma"))

# %% [markdown] tags=["deep"]
# In the loop of `hgemm_wgmma` four instructions are left. Each of them stands for 64 `HMMA` of a
# warp, or for 4,096 `FFMA`.
#
# One claim to beware of: that `cuda::memcpy_async` in a pipeline uses the TMA. Compiled, it becomes
# `LDGSTS`, a copy of 16 bytes for each thread, on an H100 as on an A100. The TMA copies from global
# to shared memory and back. Tensor memory is not within its reach.

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - One `mma.sync` of a warp is 2,048 multiply-adds, 64 `FFMA`.
# - In 16 bits, a tile of 128 × 128 does 64 FLOP/byte, one of 128 × 256 85, one of 256 × 256 128.
# - One copy at a time: two buffers, at most twice as fast.
# - 132 SMs: 133 tiles take two waves.
#
# ## What you can do now
#
# - **Find** a number in the registers of a warp: four lanes hold a row.
# - **Choose** a tile by registers, by shared memory, and by what it asks of L2.
# - **Write** a pipeline with one barrier a step, and predict its time by playing it through.
# - **Predict** waves, rounding up three times, and the bytes that a wave shares.
#
# Nearly free means that everything else counts: bytes from L2, waiting, whole waves, the order of
# tiles. The next lesson lets neighbouring blocks share what they read.

# %% tags=["core"]
rl.my_guesses("14")

# %% tags=["core"]
rl.progress("14")
