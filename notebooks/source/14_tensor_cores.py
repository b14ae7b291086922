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
# - **choose** a tile that fits, and say how much it reads from L2,
# - **write** a loop that copies one tile while it computes another, and predict its time,
# - **predict** waves of tiles, and the bytes that a wave shares.
#
# You need lessons 07, 11 and 13. The *Deeper* part adds 5 minutes. A lecture shows some of it in
# 25. No GPU is needed.
#
# </details>

# %% tags=["core"]
import rooflab as rl

print(rl.cuda.here())

# %% [markdown] tags=["core"]
# ## Thirteen kernels
#
# In 2024 Pranjal Shankhdhar wrote kernels for one product on an H100: 4096 × 4096 numbers in
# `bf16`, with **tensor cores**, the matrix units of the GPU. The first reached 317 TFLOP/s. On the
# same GPU a version of Boehm's kernel reached 32.
#
# Kernel 3 (our numbering) computes tiles of C of 128 × 128 numbers and reaches 498 TFLOP/s. Kernel
# 4 computes 128 × 256 tiles, which need fewer bytes per FLOP. **How many TFLOP/s does kernel 4
# reach?**
#
# In the picture the *TMA* copies tiles, and a *consumer* is a group of warps that computes.

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
# all the time. These *spills* explain part of the fall: counting them, we predicted 365 TFLOP/s,
# and 123 were published. Kernel 5 spreads the same tile over twice as many threads: 610 TFLOP/s.
#
# </details>
#
# Each diamond is a prediction by counting, with constants fitted to the A6000's kernels of lesson
# 13. The H100 and a B200 were predicted before anyone had looked at the published speeds.

# %% tags=["core", "nbval-check-output"]
for gpu in ("a6000", "h100", "b200"):
    rungs = rl.cuda.staircase(gpu).rungs
    off = [max(r.flop_per_s / r.published, r.published / r.flop_per_s) for r in rungs]
    close = sum(ratio <= 1.25 for ratio in off)
    worst = f"the worst is off by a factor of {max(off):.1f}"
    print(f"{gpu:6} {close:2} of {len(off):2} within a factor of 1.25; {worst}")

# %% [markdown] tags=["core"]
# Kernel 7 of the H100 was predicted far too fast.
#
# ## One instruction
#
# `mma.sync.m16n8k16` is one instruction of a warp. It multiplies 16 × 16 numbers of A by 16 × 8
# numbers of B, both in `fp16`, and adds the products to 16 × 8 sums in `fp32`. The kernels of
# lesson 13 use `FFMA`: one multiply-add in each of a warp's 32 lanes. **How many `FFMA` does one
# `mma.sync` replace?**

# %% tags=["core"]
second = rl.ask("14-ffma", 16 * 8 * 16 / 32)
second

# %% tags=["core"]
rl.cuda.fragments(after=second)

# %% [markdown] tags=["core"]
# What a lane holds of a matrix is its **fragment**. Look at what the sums of a lane need. No lane
# holds a whole row of A: the tensor core gathers it from four. A kernel must therefore first put
# each number in the right lane.
#
# ### Exercise 1 · Who holds this number?
#
# A is 16 × 16, B is 16 × 8 and C is 16 × 8 numbers. Lanes 4·g to 4·g + 3 of a warp hold rows g and
# g + 8 of A and of C, and column g of B. They hold two neighbours at a time, as in the picture; in
# B one is below the other.
#
# Return two values: the lane that holds the number in `row` and `column` of `operand`, which is
# 'A', 'B' or 'C', and which of the lane's numbers of that operand it is, from 0, in the picture's
# order. `holder('A', 9, 3)` is `(5, 3)`.


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
# Later GPUs have larger instructions, and each generation needs fewer registers:
#
# | instruction | largest shape | issued by | B comes from | sums are kept in |
# |-|-|-|-|-|
# | `mma.sync`, A100 | m16n8k16 | a warp | registers | registers |
# | `wgmma`, H100 | m64n256k16 | four warps | shared memory | registers |
# | `tcgen05.mma`, B200 | m128n256k16 | one thread | shared memory | tensor memory |
#
# *Tensor memory* is new in a B200: 256 KiB on each multiprocessor, or **SM**. A tile of 256 × 256
# sums in `fp32` fills it. A kernel must reserve room there, free it again, and wait for what it
# loads. The last shape is for one SM; a pair of them computes m256n256k16.
#
# ## Feeding them
#
# For each step along k, a tile of bm × bn numbers needs bm numbers of A and bn of B, and does bm·bn
# multiply-adds. That is 2·bm·bn FLOPs for 2·(bm + bn) bytes, or bm·bn ÷ (bm + bn) FLOP/byte. Most
# of these bytes come from L2, because tiles that run at the same time share them. How fast can the
# L2 of an H100 feed such tiles?

# %% tags=["core", "nbval-check-output"]
gpu = stairs.machine
l2 = gpu["l2_bytes_per_clock"] * gpu["sms"] * gpu["clock_hz"]
print("L2 gives", rl.si(l2, "B/s"), "(measured on an H200, the same die)")
for m, n in ((64, 64), (128, 128), (128, 256), (256, 256)):
    intensity = m * n / (m + n)
    allowed = rl.si(intensity * l2, "FLOP/s")
    print(f"{m:3} × {n:3}: {intensity:5.1f} FLOP/byte, about {allowed}")

# %% [markdown] tags=["core"]
# The peak is 989 TFLOP/s. Kernel 1 has tiles of 64 × 64 and reaches 317, within 2 % of what L2 can
# feed. A better instruction would not help it; a larger tile does. A larger tile costs registers
# for its sums, and shared memory for its *stages*: each stage holds one tile of A and one of B.
#
# ### Exercise 2 · A tile that fits
#
# `options` lists kernels for an H100, each as `[bm, bn, bk, stages, threads]`. A block computes a
# tile of C of bm × bn numbers. It fits if
#
# - its shared memory, bm × bk numbers of A and bk × bn of B in fp16 for each stage, is at most
#   232,448 bytes,
# - each thread needs at most 255 registers, one for each of its sums and 40 more,
# - all its threads together need at most 65,536.
#
# Of the kernels that fit, take the one that reads the fewest bytes from L2 per FLOP; if several
# tie, the first. Return two values: its index in the list, from 0, and the byte/s that it reads at
# `rate` FLOP/s. If none fits, return -1 and 0. `choose([[64, 128, 64, 4, 128], [192, 128, 64, 6,
# 384], [128, 128, 32, 5, 256]], 5e14)` is `(2, 7.8125e12)`.


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
# ### Exercise 3 · In court: 98 % from 4 KB
#
# A book prints a table, as an illustration: in fp16 the library CUTLASS keeps tensor cores busy 98
# % of the time, with about 60 registers a thread and 4 KB of shared memory a block. On an H100 that
# would be 970 TFLOP/s. Is that possible?
#
# A kernel multiplies matrices in fp16. A block computes a tile of C of b × b numbers. Its shared
# memory of `shared` bytes holds b × bk numbers of A and bk × b of B for each of `stages` stages.
# Return two values: the largest whole b, and the byte/s that all blocks together read from L2 when
# they compute at `rate` FLOP/s. `feed(12288, 3, 8, 5e13)` is `(128, 7.8125e11)`.


# %% tags=["core", "answer"] rooflab={"exercise": "14-claim-table"}
def feed(shared, stages, bk, rate):
    # BEGIN SOLUTION
    b = shared // (stages * 2 * bk * 2)
    return b, rate / (b / 2)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("14-claim-table", feed)

# %% [markdown] tags=["core"]
# Two stages of 16 numbers along k fill 4 KB with b = 32. At 970 TFLOP/s such tiles need six times
# the bandwidth of L2. One stage, with b = 64, still needs three times. The book means a B200, where
# 60 registers are plausible and 4 KB still fail. A CUTLASS kernel in the style of an A100, compiled
# for an H100, uses 242 registers, 144 KiB and no TMA.
#
# ## Copy while you compute
#
# When a block has the SM to itself, the tensor cores idle while it copies a tile from L2. With two
# **buffers** in shared memory it can copy the next tile while it computes this one. Take 64 tiles,
# and let copying a tile take as long as computing it. **How many times as fast is the loop with two
# buffers?**

# %% tags=["core"]
third = rl.ask("14-overlap", (64 + 64) / (1 + 64))  # the first copy overlaps with nothing
third

# %% tags=["core"]
rl.cuda.pipeline(after=third)

# %% [markdown] tags=["core"]
# This is a **pipeline**, and its buffers are its stages. With one copy at a time it is never more
# than twice as fast, and a third buffer adds nothing. But a copy spends most of its time on the
# way, and many can be in flight at once. Choose *up to 4 at a time* and long copies: now each
# buffer helps the tensor cores, until they never wait after the first copy. Kernel 3 has five
# stages.
#
# On an H100 the TMA copies: one thread requests a whole tile, and a barrier signals its arrival. In
# kernel 3 one group of warps, the *producer*, does nothing else.
#
# ### Exercise 4 · A pipeline of tiles
#
# A block computes `tiles` tiles one after the other, `compute` seconds each. Each tile is first
# copied to one of `stages` buffers, in `copy` seconds: tile t to buffer t mod stages. A buffer is
# free again when its tile has been computed.
#
# Copies begin in the order of the tiles, each as soon as its buffer is free, but at most `at_once`
# copies are on their way at a time. Return the seconds from the first copy to the last result.
# `seconds(7, 3, 10, 4, 2)` is `44`.


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
# A kernel adds two long arrays, and it already runs at full memory bandwidth. You go from two
# stages to four. What happens?
#
# <details><summary><b>A</b> It becomes compute-bound.</summary>
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
# **Right.** A pipeline moves a kernel up to its roof, and never to the right. This one is there.
#
# </details>
#
# <details><summary><b>D</b> It is slower, because four stages need four barriers.</summary>
#
# This is *every stage has its price*: a step still waits at the same number of barriers.
#
# </details>
#
# ### Exercise 5 · Two buffers, one barrier
#
# Write the tiled product C = A·B with two buffers for each tile, so that a step needs one barrier.
# All sizes are multiples of `T`, which is 8; K is the length along k. A block of 8 × 8 threads
# computes a tile of C, and x goes along a row.
#
# Load the first pair of tiles before the loop. In each step load the next pair into the other
# buffers and multiply the current pair. `at(A, row, column)` returns 0 outside A, because the last
# step has no next pair.


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
# This saves a barrier, but overlaps nothing yet: a thread runs in order, so its store waits for its
# load. Loading before multiplying and storing afterwards passes, too, and overlaps.
#
# ## The last wave
#
# An H100 has 132 SMs. With tiles of 128 × 256, a C of 1,024 × 4,096 numbers has 128 tiles. All of
# them run at once, in one **wave**. With one more row there are 144 tiles: a second wave runs for
# only 12 of them. A single kernel would take twice as long. NVIDIA has published how long a library
# takes. **How many times as long does the library take for one more row?**

# %% tags=["core"]
times = rl.cuda.library_times(columns=4096)
fourth = rl.ask("14-row", times[1025] / times[1024])
fourth

# %% tags=["core"]
rl.cuda.waves(after=fourth)

# %% [markdown] tags=["core"]
# A library has many kernels, and chooses one for each shape. Choose tiles of 192 × 192: then 1,025
# rows are 132 tiles, one wave.
#
# But with 5,120 columns, one more row takes 1.57 times as long, although no tile in the picture
# needs another wave. The library must have another; our guess is 256 × 160: 128 tiles, then 160.
# Among all 483 published shapes, one more row costs 4 % at the median and 79 % at worst.
#
# ### Exercise 6 · Which kernel of a library?
#
# A library has several `kernels` for the same product, each as `[bm, bn, seconds]`: its tile of C
# has bm × bn numbers, and an SM takes `seconds` for each tile. C has m × n numbers. Tiles at its
# edges take as long as whole ones. Each of `sms` SMs works on one tile at a time, and all begin
# together.
#
# Find the kernel that finishes first. If several tie, take the first. Return two values: the
# kernel's index in the list, from 0, and the seconds that it takes.
# `library(1000, 3000, 100, [[96, 256, 4e-5], [160, 160, 5e-5]])` is `(0, 8e-5)`.


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
# A product has 144 tiles for 132 SMs. Tensor cores limit it, even with tiles half the size. Which
# change helps most?
#
# <details><summary><b>A</b> Tiles of half the size.</summary>
#
# **Right.** 288 tiles are three waves, each half as long: 1.5 instead of 2. It pays as long as L2
# keeps up: in the picture, 128 × 128 gains nothing. Splitting k in two also makes 288 parts, at the
# same FLOP/byte, but their sums must be added.
#
# </details>
#
# <details><summary><b>B</b> Tiles of twice the size, so that all fit into one wave.</summary>
#
# This is *one wave is best*: 72 tiles leave 60 SMs idle, and the one wave takes as long as two.
#
# </details>
#
# <details><summary><b>C</b> <i>Persistent</i> blocks, which work through several tiles.</summary>
#
# This is *persistent means balanced*: 12 SMs still have two tiles, all others one.
#
# </details>
#
# <details><summary><b>D</b> More stages.</summary>
#
# This is *overlap cures all*: stages only hide waiting inside a block. In the second wave 120 SMs
# have no block.
#
# </details>
#
# ## The order of tiles
#
# Kernel 7 is persistent: 132 blocks, one for each SM, work through several tiles. This hides the
# time spent writing results. Yet the speed fell from 631 to 400 TFLOP/s. C has 32 rows of 16 tiles.
# By the schedule as described, each SM gets three or four consecutive tiles. So these come first:

# %% tags=["core", "nbval-check-output"]
first_wave = [4 * sm for sm in range(116)] + [464 + 3 * sm for sm in range(16)]
print(*first_wave[:4], "…", *first_wave[114:])

# %% [markdown] tags=["core"]
# In kernel 8 a group of 16 × 8 tiles runs at the same time, on 128 SMs; 4 idle. Tiles that run at
# the same time share rows of A and columns of B. They walk along k together, so L2 needs only a
# strip at a time. **How many times the bytes of such a group does kernel 7's first wave read?**

# %% tags=["core"]
rows, columns = {tile // 16 for tile in first_wave}, {tile % 16 for tile in first_wave}
fifth = rl.ask("14-order", (len(rows) * 128 + len(columns) * 256) / (16 * 128 + 8 * 256))
fifth

# %% tags=["core"]
rl.cuda.order(after=fifth)

# %% [markdown] tags=["core"]
# ### Exercise 7 · What a wave reads
#
# C has rows of `across` tiles. Tile t is in row t // across and column t % across. A tile of bm ×
# bn numbers needs bm rows of A and bn columns of B, of `k` numbers each, in bf16. `tiles` lists the
# tiles that run at one time, and L2 keeps what they share: each row of A and each column of B is
# read once.
#
# Return how many bytes of A and B they read from memory. `[0, 5, 10, 11]` with 4 tiles across lies
# in 3 rows and 4 columns. `wave_bytes([0, 5, 10, 11], 4, 64, 96, 512)` is `589824`.


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
# Tiles that run together should be neighbours in C. Do the bytes explain what kernel 7 lost?

# %% tags=["core"]
flops, (slow, fast) = 2 * 4096**3, (rung.published for rung in stairs.rungs[6:8])
reading = 240e6 / gpu["dram_bytes_per_s"]  # bytes of all waves, from the picture
computing = flops / (gpu["sms"] * gpu["flop_per_clock"] * gpu["clock_hz"])
parts = (reading, flops / slow, computing, flops / slow - flops / fast)
us = [f"{1e6 * part:.0f} µs" for part in parts]
text = f"Kernel 7 took {us[1]}. Arithmetic needs {us[2]}, and memory {us[0]} of the same time. "
text += f"By counting it should lose nothing to kernel 8. It lost {us[3]}, and we do not know why. "
rl.show.say(text + "Finding out takes an H100 and a profiler.", after=fifth)

# %% [markdown] tags=["deep"]
# ## Deeper: in real CUDA
#
# The package contains products with tensor cores in CUDA C++. `mma.sync` compiles to `HMMA`,
# `wgmma` to `HGMMA`. The column *shared* has only the static bytes; a launch of the last two asks
# for more:

# %% tags=["deep"]
print(rl.cuda.summary("hgemm_wmma", "hgemm_mma", "hgemm_wgmma"))
for name in ("hgemm_mma", "hgemm_wgmma"):
    print(name, rl.cuda.plan(name, [(4096, 4096)] * 3).shared_bytes / 1024, "KiB more")

# %% [markdown] tags=["deep"]
# In the loop of `hgemm_wgmma` only four tensor instructions remain. Each is issued by four warps
# together, and replaces 16 `HMMA` or 1,024 `FFMA` of each warp.
#
# `cuda::memcpy_async` in a pipeline does not use the TMA. Compiled, it becomes `LDGSTS` on an H100
# as on an A100: each thread copies up to 16 bytes, which bypass its registers. The TMA copies from
# global to shared memory and back. It cannot reach tensor memory.

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - One `mma.sync` of a warp is 2,048 multiply-adds, 64 `FFMA`.
# - FLOP/byte of tiles in 16 bits: 128 × 128: 64; 128 × 256: 85; 256 × 256: 128.
# - One copy at a time: two buffers, at most twice as fast.
# - 132 SMs: 133 tiles take two waves.
#
# ## What you can do now
#
# - **Find** a number in the registers of a warp.
# - **Choose** a tile by registers, by shared memory, and by how much it reads from L2.
# - **Write** a pipeline with one barrier a step, and predict its time by stepping through it.
# - **Predict** waves, and the bytes that a wave shares.
#
# Nearly free means that all else counts. Next, neighbouring blocks share what they read.

# %% tags=["core"]
rl.my_guesses("14")

# %% tags=["core"]
rl.progress("14")
