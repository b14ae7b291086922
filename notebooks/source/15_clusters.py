# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 15 · Clusters
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **How much do neighbours save by sharing what they read?**
#
# <details><summary>30 minutes, 60 with the exercises: what you learn, and what you need</summary>
#
# - **count** what a group of blocks fetches, and what each would fetch alone,
# - **write** down who receives which part of a tile,
# - **judge** two published claims,
# - **decide** which shape of cluster to take, or none.
#
# You need lessons 01, 13 and 14. The *Deeper* part adds 10 minutes. A lecture shows some of it in
# 20. No GPU is needed.
#
# </details>

# %% tags=["core"]
import rooflab as rl

print(rl.cuda.here())

# %% [markdown] tags=["core"]
# ## Sharing a face
#
# Each block of a matrix product computes a tile of C. To do so, it fetches rows of A and columns of
# B from L2. Its neighbour to the right fetches the same rows of A again.
#
# On an H100 and later data-centre GPUs, neighbouring blocks can form a **cluster**. They run at the
# same time, and what one of them fetches can arrive in several. **Four blocks form a square of
# 2 × 2. How many times fewer numbers do they fetch than if each fetched its own?**

# %% tags=["core"]
first = rl.ask("15-four", rl.cuda.cluster_saving(2, 2))
first

# %% tags=["core"]
rl.cuda.cluster(after=first)

# %% [markdown] tags=["core"]
# This is the box of lesson 01 again. C is its front. The rows of A that a cluster fetches are
# painted on the right side, the columns of B on top. Where two blocks touch, nothing is painted. In
# a cluster of a × b blocks, `a` rows of `b`, the work grows with a·b, but the paint only with a +
# b. Try 16 blocks in a row, and 16 in a square.
#
# ### Vote, or choose for yourself
#
# Tiles have 128 rows and 256 columns. Which pair of blocks fetches less?
#
# <details><summary><b>A</b> Two blocks side by side.</summary>
#
# This is *neighbours lie in a row*: they share the 128 rows of A, the smaller part.
#
# </details>
#
# <details><summary><b>B</b> Two blocks, one below the other.</summary>
#
# **Right.** They share the 256 columns of B: 512 rows and columns instead of 768. Side by side it
# would be 640.
#
# </details>
#
# <details><summary><b>C</b> Both save the same: two are two.</summary>
#
# This is *only the number counts*. That is true only for square tiles.
#
# </details>
#
# <details><summary><b>D</b> Neither saves: a pair still needs two tiles of C.</summary>
#
# This is *C is what travels*: A and B travel in every step, C once.
#
# </details>
#
# ## Who sends what
#
# In a cluster each block fetches a part of a tile, and sends it to all that need it. That is a
# **multicast**: one copy from L2, which arrives in the shared memory of several SMs. The program
# says in a *mask* of 16 bits which blocks receive it. A block's number in the cluster is its
# *rank*:
#
# ```text
# 2 × 3 blocks by rank   0 1 2      bit         5 4 3 2 1 0
#                        3 4 5      mask of 7   0 0 0 1 1 1   blocks 0, 1 and 2 receive
# ```
#
# ### Exercise 1 · Who receives it?
#
# A cluster has a × b blocks: `a` rows of `b`. Their ranks go along the rows, from 0 on. Blocks of a
# row need the same rows of A, blocks of a column the same columns of B. Each block fetches a part
# of each and sends it to all that need it, itself included.
#
# Bit r of a mask is 1 if block r receives the part. Return the two masks of block `rank`, as
# integers: for its part of A, and for its part of B. `masks(4, 1, 6)` is `(63, 16)`.


# %% tags=["core", "answer"] rooflab={"exercise": "15-mask"}
def masks(rank, a, b):
    # BEGIN SOLUTION
    row, column = divmod(rank, b)
    of_row, of_column = range(row * b, (row + 1) * b), range(column, a * b, b)
    return sum(1 << r for r in of_row), sum(1 << r for r in of_column)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("15-mask", masks)

# %% [markdown] tags=["core"]
# The package's `sgemm_multicast` does so for two blocks side by side, with the mask 3 for A.
# NVIDIA's compiler turns the copy into one instruction for each row, `UBLKCP.S.G.MULTICAST`.
#
# ## Claim court
#
# *Each tile of A and B goes to all four blocks of a 2 × 2 cluster, so the traffic falls by up to 4
# times. With 16 blocks it is likewise 16 times.* So says a book on GPUs.
#
# ### Exercise 2 · Four blocks, four times?
#
# Blocks compute tiles of bm × bn numbers of C, rows × columns. A cluster has `a` rows of `b`
# blocks. Somebody claims that it fetches a·b times fewer numbers than its blocks would alone.
#
# Return two values: how many times fewer it really fetches, and the fewest blocks with which a
# cluster of any shape fetches at least a·b times fewer, even if it is larger than the hardware
# allows. `court(1, 3, 64, 192)` is `(1.2, 8)`.


# %% tags=["core", "answer"] rooflab={"exercise": "15-claim-four"}
def court(a, b, bm, bn):
    # BEGIN SOLUTION
    from itertools import count

    alone, together = a * b * (bm + bn), a * bm + b * bn
    for blocks in count(1):
        for down in (d for d in range(1, blocks + 1) if blocks % d == 0):
            if blocks * (bm + bn) >= a * b * (down * bm + blocks // down * bn):
                return alone / together, blocks
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("15-claim-four", court)

# %% tags=["core", "nbval-check-output"]
for claim in (2, 4, 8, 16):
    side = next(n for n in range(1, 20) if rl.cuda.cluster_saving(n, n) >= claim)
    print(f"{claim:2} times fewer, square tiles: {side * side} blocks")
print(f"8 × 2 blocks, tiles of 64 × 256: {rl.cuda.cluster_saving(8, 2, (64, 256)):.1f} times fewer")

# %% [markdown] tags=["core"]
# On an H100 and a B200 a cluster may have 8 blocks, 16 if the program asks for it: at most 4 times
# with square tiles.
#
# ## What it brings
#
# On the H100 of lesson 14, the step from kernel 9 to kernel 10 is a cluster: two blocks share the
# columns of B. Each has a tile of 128 × 256, so together they fetch 1.5 times fewer bytes. **How
# much faster did the product become, in per cent?**

# %% tags=["core"]
rungs = rl.cuda.staircase("h100").rungs
before, pair = rungs[8], rungs[9]
second = rl.ask("15-gain", 100 * (pair.published / before.published - 1))
second

# %% tags=["core"]
stairs = rl.cuda.stairs("h100", after=second)
stairs.kernel = 9  # counted from 0: kernel 10
stairs

# %% tags=["core"]
speeds = [(rung.flop_per_s, rung.published) for rung in (before, pair)]
gains = [100 * (b / a - 1) for a, b in zip(*speeds)]
words = "Predicted {:.1f} % faster, published {:.1f} %.".format(*gains)
for kernel, rung in ((9, before), (10, pair)):
    l2, compute = (1e6 * rung.predict().parts[part] for part in ("l2", "compute"))
    words += f" Kernel {kernel}: {l2:.0f} µs for L2, {compute:.0f} for arithmetic."
words += " The longer one counts, and a cluster does not shorten arithmetic."
rl.show.say(words, after=second)

# %% [markdown] tags=["core"]
# A kernel limited by L2 alone would have become 50 % faster. The author also tried larger clusters:
# they were slower.
#
# ### Vote, or choose for yourself
#
# Pairs fetch 1.5 times fewer bytes from L2. What happens to the traffic between L2 and DRAM?
#
# <details><summary><b>A</b> It falls 1.5 times, too.</summary>
#
# This is *a byte saved is saved everywhere*: it was saved on the way from L2 to the SMs.
#
# </details>
#
# <details><summary><b>B</b> Hardly anything.</summary>
#
# **Right.** Even without a cluster, the neighbour's request found its data in L2, as long as L2
# kept it, and did not go to DRAM.
#
# </details>
#
# <details><summary><b>C</b> It grows: a multicast writes twice.</summary>
#
# This is *copies cost memory*: it writes to shared memory, which lies on the SMs.
#
# </details>
#
# <details><summary><b>D</b> It falls twice as much.</summary>
#
# This is *DRAM is slower, so it gains more*: a slower memory is not asked for more.
#
# </details>
#
# ## Room for a cluster
#
# All blocks of a cluster run at once, and in one **group** of SMs, which NVIDIA calls a GPC. An
# H100's chip has 8 groups of 18 SMs. Of these 144 SMs, 12 are switched off; which ones differs from
# GPU to GPU. Each of our blocks fills an SM. **In clusters of 4 × 2, how many SMs get a block?**

# %% tags=["core"]
groups = [18, 18, 18, 16, 16, 16, 16, 14]  # for example
print(*(f"{group} SMs  {'■' * group}" for group in groups), f"{sum(groups)} in all", sep="\n")
third = rl.ask("15-room", "120")  # as it was measured on one H100
third

# %% tags=["core"]
room = sum(group // 8 for group in groups)
words = f"In these groups there is room for {room} clusters: {8 * room} of {sum(groups)} SMs."
rl.show.say(words, after=third)

# %% [markdown] tags=["core"]
# <details><summary>Why: open this when you have guessed</summary>
#
# One test on an H100 started such clusters and listed the SMs that got a block: 120 (pull request
# 87 of accel-sim/gpu-app-collection). The rest of each group stayed idle. CUTLASS counted seven
# full groups (132 // 18) of 16 usable SMs, and started 112 blocks, where NVIDIA's own library
# started 120 (its issue 1921).
#
# </details>
#
# ### Exercise 3 · Which shape?
#
# C has down × across tiles of tile[0] × tile[1] numbers. A block computes a tile and has an SM for
# itself. `groups` lists how many SMs each group of a GPU has.
#
# - A cluster of a × b blocks lies in one group and has at most `most` blocks.
# - a divides `down`, and b divides `across`.
# - Clusters run in rounds, each with as many as there is room for.
# - A block computes for `computing` seconds. Meanwhile it fetches: alone for `fetching` seconds,
#   in a cluster that fetches x times fewer numbers, for `fetching` ÷ x.
# - time = rounds × the longer of computing and fetching ÷ x.
#
# Return a, b and the time in seconds for the fastest shape; if several are equally fast, the one
# with the fewest blocks, and then with the smallest a.
# `shape(4, 6, [128, 128], [9, 7], 8, 2e-5, 2.5e-5)` is `(1, 2, 4e-05)`.


# %% tags=["core", "answer"] rooflab={"exercise": "15-shape"}
def shape(down, across, tile, groups, most, computing, fetching):
    # BEGIN SOLUTION
    found, (bm, bn) = [], tile
    for a in range(1, down + 1):
        for b in range(1, across + 1):
            room = sum(sms // (a * b) for sms in groups)
            if a * b <= most and down % a == across % b == 0 < room:
                rounds = -(-(down // a) * (across // b) // room)
                fewer = (a * bm + b * bn) / (a * b * (bm + bn))
                found.append((rounds * max(computing, fetching * fewer), a * b, a, b))
    seconds, _, a, b = min(found)
    return a, b, seconds
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("15-shape", shape)

# %% [markdown] tags=["deep"]
# ## Deeper: count a whole product
#
# ### Exercise 4 · What a whole product fetches
#
# A product computes m × n numbers of C in k steps. A block computes a tile of tile[0] × tile[1] of
# them, rows × columns, and a cluster has cluster[0] rows of cluster[1] blocks. From L2 a cluster
# fetches once each row of A and each column of B that its tiles need: k numbers of `itemsize`
# bytes. At the edges of C it fetches nothing outside the matrices.
#
# Return two values: the bytes of A and the bytes of B that all clusters fetch.
# `fetched(256, 576, 40, [128, 64], [1, 3], 2)` is `(61440, 92160)`.


# %% tags=["deep", "answer"] rooflab={"exercise": "15-cluster"}
def fetched(m, n, k, tile, cluster, itemsize):
    # BEGIN SOLUTION
    down = -(-m // (tile[0] * cluster[0]))
    across = -(-n // (tile[1] * cluster[1]))
    return m * k * itemsize * across, n * k * itemsize * down
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("15-cluster", fetched)

# %% [markdown] tags=["deep"]
# ## Deeper: reading a neighbour's shared memory
#
# Blocks of a cluster can also read each other's shared memory, then called *distributed shared
# memory*. `dot_cluster` adds up a dot product with it: each block leaves its sum in its shared
# memory, one of four blocks reads all four, and adds the total to the result in memory.

# %% tags=["deep"]
print(rl.cuda.summary("dot_shuffle", "dot_cluster", "sgemm_multicast"))

# %% [markdown] tags=["deep"]
# Compared with `dot_shuffle`, a quarter as many blocks queue for one address. The bytes of x and y
# stay the same, and they take the time. A cluster helps where blocks read the *same* numbers.
#
# This needs two barriers. No block may read before the first: a sum may not be there yet. None may
# end before the second: its shared memory ends with it.

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - A cluster of a × b blocks with square tiles fetches 2ab ÷ (a + b) times fewer numbers: 2 × 2
#   **2 times**, 2 × 4 **2.67**, 4 × 4 **4**, 1 × 16 **1.88**.
# - 8 blocks at most, 16 if the program asks for it.
# - A published gain: **4.3 %** for a pair that fetches 1.5 times fewer bytes.
#
# ## What you can do now
#
# - **Count** rows and columns of a cluster: a + b, where its blocks alone have 2ab.
# - **Write** masks: a row of the cluster for A, a column for B.
# - **Judge** "as many times as blocks": it holds for no cluster of two or more.
# - **Decide**: the smallest cluster with which fetching takes no longer than computing, if it fits.
#
# The last lesson of this part looks at what the compiler makes of all this.

# %% tags=["core"]
rl.my_guesses("15")

# %% tags=["core"]
rl.progress("15")
