# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 07 · Tiling
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **How much less traffic does a tile bring, and what fits?**
#
# <details><summary>60 minutes, with the exercises 95: what you learn, and what you need</summary>
#
# - **simulate** a cache, with ten lines of your own and with a fast one,
# - **count** what a tiled product fetches, and say which side of the tile saves what,
# - **choose** the largest tile that a cache really keeps,
# - **judge** a claim about tiling: which part of the gain is the tile's, and which the cache's,
# - after the *Deeper* parts: **predict** the time of tiles within tiles.
#
# You need lessons 01, 03 and 06. The *Deeper* parts take 20 minutes more. A lecture shows some of
# it in 25.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## The textbook program
#
# In lesson 01 a product of two N × N matrices has an intensity of N/6 in `fp32`. That counts every
# operand once. The program of every textbook fetches A and B far more often:
#
# ```
# for i in range(N):
#     for j in range(N):
#         for k in range(N):
#             C[i, j] += A[i, k] * B[k, j]
# ```
#
# While k runs, the sum C[i, j] stays in a *register*, one of the few places inside the core where it
# computes. So the program fetches two numbers for each multiply-add: one of A, one of B.
#
# The next cell compiles these loops to machine code, as a C compiler would, and runs them on your
# machine, for N = 800. Beside it runs the product of the BLAS library that lesson 01 measured. Both
# do the same 512 million multiply-adds on one core. **How many times faster is the library?**

# %% tags=["core"]
N = 800
product = rl.gemm(N, N, N, accumulate=True)
textbook = rl.loops.Nest({"i": N, "j": N, "k": N}, "C[i, j] += A[i, k] * B[k, j]")
slow = textbook.measure(product)
fast = rl.measure(product, cache="warm", threads=1)
first = rl.ask("07-textbook", slow.median_s / fast.median_s)
first

# %% tags=["core"]
here = rl.this_machine(threads=1)
rl.show.say(rl.conclude("07-textbook", slow, fast, here), after=first)

# %% [markdown] tags=["core"]
# The next picture shows both below their roof. They lie one above the other: whatever the loops do,
# the roofline counts A and B once, and C twice, in and out.

# %% tags=["core"]
own = {"three loops": slow, "library": fast}
rl.live.roofline(here, measurements=own, ops=["gemm"], cache="warm", after=first)

# %% [markdown] tags=["core"]
# Three things make the difference. A library uses the vector units of the core, or a matrix unit
# where there is one: they work on many numbers at once. It has many sums under way at a time. And
# it **arranges the work so that what was fetched is used again while it is still near**. This
# lesson is about the third. To see it alone, let's count bytes.
#
# ## A cache in ten lines
#
# A cache keeps the lines that were touched last. In this lesson a touch is a read or a write. When
# the cache is full and a new line is touched, the line that was touched longest ago leaves. This
# rule is called *least recently used*, **LRU** for short. A touch that does not find its line is a
# **miss**. Real first caches follow this rule, or one much like it.
#
# ### Exercise 1 · Write one
#
# `lines` is a list of line numbers in the order in which a program touches them. The cache has room
# for `capacity` ≥ 1 lines, and starts empty. Return how many touches miss: `misses([1, 2, 1, 3, 2],
# 2)` is 4.


# %% tags=["core", "answer"] rooflab={"exercise": "07-lru"}
def misses(lines, capacity):
    # BEGIN SOLUTION
    held, missed = [], 0
    for line in lines:
        if line in held:
            held.remove(line)
        else:
            missed += 1
            held = held[1:] if len(held) == capacity else held
        held.append(line)
    return missed
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("07-lru", misses)

# %% [markdown] tags=["core"]
# You have written the core of every cache simulator. The course's own does the same, with 64-byte
# lines and several caches in a row, millions of times a second. It also writes back what was
# changed. Here is the textbook program on N = 288, with a first cache of 48 KiB and a second one of
# 1 MiB. *In* is what a level fetches from behind it, *out* what it writes back.

# %% tags=["core", "nbval-check-output"]
l1, l2 = rl.cache.Cache("L1", 48 * 1024, ways=12), rl.cache.Cache("L2", 2**20, ways=16)
both = rl.cache.Hierarchy(l1, l2)
plain = rl.cache.simulate(rl.cache.gemm_stream(288, 288, 288), both)
plain

# %% tags=["core", "nbval-check-output"]
least = rl.gemm(288, 288, 288, accumulate=True).bytes
print(f"each matrix once, C in and out: {rl.si(least, 'B')}")
print(f"L1 really moves {plain.bytes('L1') / least:.0f} times as much")

# %% [markdown] tags=["core"]
# Look at the line for B in the table. For each row of C the program walks through the whole of B:
# 332 kB, and the first cache has 49 kB. By the time the next row of C begins, the start of B is
# long gone from the cache. So B is fetched 288 times. A fares better: one row of A is used 288
# times while it is near.
#
# ## A tile
#
# Don't finish one number of C at a time. Take a square of T × T of them, a **tile**, and T steps of
# k: that needs a tile of A and a tile of B, and does T³ multiply-adds on 2T² numbers. Then take the
# next tiles along k, until the tile of C is finished.
#
# Press *run* for each size. The cache holds 32 numbers here, and a line is one number. Which tile
# moves the dot furthest to the right?

# %% tags=["core"]
rl.cache.tiles()

# %% [markdown] tags=["core"]
# The dot shows the FLOPs done so far ÷ the bytes moved so far. The largest tile has 64 results, more
# than the cache holds. Now in real sizes, for N = 288 and the first cache of 48 KiB:

# %% tags=["core", "nbval-check-output"]
for T in (1, 2, 4, 8, 16, 32, 48, 72):
    tiled = rl.cache.simulate(rl.cache.gemm_stream(288, 288, 288, tile=T), l1)
    print(f"T = {T:2}: L1 moves {rl.si(tiled.bytes('L1'), 'B'):>7}")

# %% [markdown] tags=["core"]
# Twice the side, half the bytes, or nearly: until the tile is too large. Two questions, then: how
# much does a tile save, and when is it too large?
#
# ### Exercise 2 · What a tile fetches
#
# A product of an `m` × `k` and a `k` × `n` matrix. A tile of `tm` × `tn` results stays in the cache
# until it is finished. For each tile, the rows of A and the columns of B that it needs are fetched
# once. Every result is written once. `tm` divides `m`, and `tn` divides `n`. Return the bytes:
# `tiled_bytes(8, 8, 8, 4, 2, 4)` is 1792.


# %% tags=["core", "answer"] rooflab={"exercise": "07-tiles"}
def tiled_bytes(m, n, k, tm, tn, itemsize):
    # BEGIN SOLUTION
    a = m * k * (n // tn)
    b = k * n * (m // tm)
    return (a + b + m * n) * itemsize
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("07-tiles", tiled_bytes)

# %% [markdown] tags=["core"]
# ## Claim court: 1024 times less
#
# *A tile of 32 × 32 holds 1024 results, so each number that is fetched is used 1024 times, and the
# traffic falls by a factor of 1024.*
#
# ### Vote, or choose for yourself
#
# Without any reuse, a product fetches two numbers for every multiply-add. With tiles of 32 × 32
# results, A and B together are fetched …
#
# <details><summary><b>A</b> 1024 times less.</summary>
#
# This counts the results of a tile. A number of A is used for one row of them only.
#
# </details>
#
# <details><summary><b>B</b> 64 times less: 32 for A and 32 for B.</summary>
#
# This adds what belongs to different matrices. Each of the two is fetched 32 times less.
#
# </details>
#
# <details><summary><b>C</b> 32 times less.</summary>
#
# **Right.** A number of A serves the 32 results of its row of the tile, a number of B the 32 of its
# column.
#
# </details>
#
# <details><summary><b>D</b> 16 times less, since two tiles are loaded for one of C.</summary>
#
# Both programs fetch from two matrices, so the two stands above and below the line.
#
# </details>
#
# ### Exercise 3 · By how much?
#
# Tiles of `t` × `t` results in a product of two `n` × `n` matrices, against the program that
# fetches two numbers for every multiply-add. Both write each result once, and `t` divides `n`. How
# many times less is (1) the traffic of A and B together, (2) all the traffic? `saving(8, 4)` is
# `(4.0, 3.4)`.


# %% tags=["core", "answer"] rooflab={"exercise": "07-claim-thousand"}
def saving(n, t):
    # BEGIN SOLUTION
    without, tiled = 2 * n**3, 2 * n**3 / t
    return without / tiled, (without + n * n) / (tiled + n * n)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("07-claim-thousand", saving)

# %% [markdown] tags=["core"]
# ## It fits, so it stays?
#
# Three tiles take part: one of A, one of B, one of C. With 10 × 10 numbers each, they are 300
# numbers together. So take a cache that holds exactly 300 numbers, and make it as kind as can be: a
# line holds one number, and each may lie anywhere in it. For N = 100 the formula of exercise 2 now
# gives 880 kB, with C read once, too. It assumes that all three tiles stay. **How many times more
# does LRU really move?**

# %% tags=["core"]
small = rl.cache.gemm_stream(100, 100, 100, tile=10)
formula = sum(one.bytes for one in rl.cache.tile_ledger(small, depth=3).values())
exact = rl.cache.simulate(small, rl.cache.Cache("L1", 4 * 300, line=4))
second = rl.ask("07-fits", exact.bytes("L1") / formula)
second

# %% tags=["core"]
inside = {
    order: rl.cache.gemm_stream(100, 100, 100, tile=10, order=order) for order in ("ijk", "kij")
}
lines = []
for order, nest in inside.items():
    for n in (300, rl.cache.smallest_cache(nest, 3) // 4):
        found = rl.cache.simulate(nest, rl.cache.Cache("L1", 4 * n, line=4)).bytes("L1")
        lines.append(f"{order}, room for {n}: {found / formula:.2f} times the formula")
rl.show.say(*lines, after=second)

# %% [markdown] tags=["core"]
# <details><summary>Why: open this when you have guessed</summary>
#
# LRU does not know what you will need. It keeps what was touched last, and what was touched last
# depends on the order of the loops *within* a tile.
#
# With k innermost, `ijk`, a number of C is touched once in each step from tile to tile. In between,
# the program touches
#
# - the rest of its tile of C: 99 numbers,
# - a tile of A, and a row more: 110,
# - two tiles of B, the one of this step and the one of the next: 200.
#
# LRU must have room for all of them and the number itself: 410, four tiles and a row. With k
# outermost, `kij`, the number of C comes up again after one turn of k. In between there are the
# rest of its tile, a column of A and one number more, and two rows of B: with itself 131.
#
# </details>
#
# ### Exercise 4 · The largest tile
#
# In a cache of `cache` bytes there must be room for `tiles` tiles of T × T numbers of `itemsize`
# bytes. `tiles` is given: with T = 10 it was 410 numbers / 100 = 4.1 for `ijk`, and 1.31 for `kij`.
# Return the largest T that fits and divides `n`: `largest_tile(288, 49152, 4, 4.1)` is 48.


# %% tags=["core", "answer"] rooflab={"exercise": "07-fits"}
def largest_tile(n, cache, itemsize, tiles):
    # BEGIN SOLUTION
    fitting = [t for t in range(1, n + 1) if tiles * t * t * itemsize <= cache]
    return max(t for t in fitting if n % t == 0)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("07-fits", largest_tile)

# %% [markdown] tags=["core"]
# ## The wrong size
#
# Here is the same program in tiles of 32 × 32, on matrices of 248, 256 and 264, with the first cache
# of many processors: 32 KiB. Four tiles of 32 × 32 and a row are 16.1 KiB, so there is room to
# spare. 32 does not divide 248 and 264: the last tiles there are cut off. Which size moves the most
# for each multiply-add?

# %% tags=["core", "pause", "nbval-check-output"]
common = rl.cache.Cache("L1", 32 * 1024, ways=8)
for n in (248, 256, 264):
    found = rl.cache.simulate(rl.cache.gemm_stream(n, n, n, tile=32), common)
    print(f"N = {n}: {found.bytes('L1') / n**3:5.2f} bytes for each multiply-add")

# %% [markdown] tags=["core"]
# The one in the middle, by a factor of more than sixty. No real cache puts a line anywhere. It has
# **sets**, and line number *a* may only lie in set *a* modulo the number of sets. A set has a few
# places, its **ways**. Here there are 64 sets of 8 ways.
#
# A row of 256 numbers is 1024 bytes, 16 lines. Going down a column, the program steps through
# memory 16 lines at a time, so it only ever meets every sixteenth set: 4 of the 64. A row of a tile
# is two lines. So the 32 rows of a tile of B fill 8 sets to the last place, and a tile of C needs
# the same sets. They push each other out, while other sets hold what nobody needs now. These are
# *conflict misses*. With more ways or sets 256 does little harm, and a larger power of two does
# more.
#
# ### Exercise 5 · A column that does not fit
#
# A cache has `sets` sets of `ways` lines; line number *a* of memory may only lie in set *a* modulo
# `sets`. A program reads the first number of each of `rows` rows. They are `row_bytes` apart, and
# the first is at address 0. Rows in one line share it. Return (1) how many sets its lines fall into,
# (2) how many of its lines the cache can hold at a time: `room_for_column(32, 1024, 64, 64, 8)` is
# `(4, 32)`.


# %% tags=["core", "answer"] rooflab={"exercise": "07-column"}
def room_for_column(rows, row_bytes, line, sets, ways):
    # BEGIN SOLUTION
    held = {}
    for number in {row * row_bytes // line for row in range(rows)}:
        place = number % sets
        held[place] = min(ways, held.get(place, 0) + 1)
    return len(held), sum(held.values())
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("07-column", room_for_column)

# %% [markdown] tags=["core"]
# Two remedies are in use. *Padding* makes each row a line longer than it need be. *Packing* copies a
# tile into a small array of its own, so that its numbers lie side by side. Libraries such as OpenBLAS
# and BLIS pack large matrices.
#
# ## Claim court: 4.0 to 0.04
#
# The claim, from a talk on a product of two 100 × 100 matrices of two-byte numbers. Before: 4.0 bytes
# for each FLOP. After, with tiles and a cache: 0.04, a hundredth. What made the difference? Here is
# what a cache fetches and writes back, simulated without a tile and with tiles of 10 and 25. Its
# lines have 64 bytes, and each may lie anywhere.

# %% tags=["core", "nbval-check-output"]
flops = rl.gemm(100, 100, 100, "bf16").flops
for size in (4, 16, 64):
    row = f"{size:2} KiB:"
    for T in (None, 10, 25):
        nest = rl.cache.gemm_stream(100, 100, 100, "bf16", tile=T)
        found = rl.cache.simulate(nest, rl.cache.Cache("cache", size * 1024))
        row += f"  {'no tile' if T is None else f'T = {T}'} {found.bytes('cache') / flops:7.4f}"
    print(row, "byte/FLOP")

# %% [markdown] tags=["core"]
# The first figure is even more than 4.0: for two bytes of B the small cache fetches a line of 64.
#
# ### Exercise 6 · Which part did it?
#
# The talk's cache has 8 MB. Set `verdict` to three of these texts, in this order:
#
# 1. what 4.0 byte/FLOP counts for each multiply-add: `"A, B"`, `"A, B, C read"` or
#    `"A, B, C read and written"`;
# 2. what 0.04 counts: `"tiles of 10"`, `"tiles of 25"`, `"each matrix once"` or
#    `"each matrix once, C twice"`;
# 3. what made the difference there: `"the tile"`, `"the cache"` or `"the number type"`.

# %% tags=["core", "answer"] rooflab={"exercise": "07-claim-forty"}
# BEGIN SOLUTION
verdict = ("A, B, C read and written", "each matrix once, C twice", "the cache")
# END SOLUTION

# %% tags=["core", "nbval-check-output"]
rl.check("07-claim-forty", verdict)

# %% [markdown] tags=["core"]
# ## Does the time follow the bytes?
#
# Now on your machine: the product of the beginning, without tiles and with tiles of 40, 80 and 160.
# Then the same tiles with j innermost within a tile, which runs along the rows of B and C. There
# neighbours are needed together, and a vector unit can do several of them at once. First the bytes,
# in the cache of 48 KiB. The next cell simulates the first 40 rows of C, a twentieth of all:

# %% tags=["core", "nbval-check-output"]
for T in (None, 40):
    rows = rl.cache.simulate(rl.cache.gemm_stream(40, N, N, tile=T), l1)
    said = "without tiles" if T is None else f"tiles of {T}"
    print(f"{said}: L1 moves {rl.si(20 * rows.bytes('L1'), 'B')} in all")

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# So tiles of 40 move about a three-hundredth of the bytes. On most real machines, with the order of
# loops within a tile unchanged, the time is …
#
# <details><summary><b>A</b> about a three-hundredth.</summary>
#
# This would be so if bytes were all that costs.
#
# </details>
#
# <details><summary><b>B</b> shorter, but far from a three-hundredth.</summary>
#
# **Right.** As soon as the bytes no longer limit it, something else does: here numbers are added
# one at a time, and within a sum each addition has to wait for the one before it. Where the caches
# are large and fast, that limits the program without tiles, too, and then hardly anything is
# gained.
#
# </details>
#
# <details><summary><b>C</b> the same: the FLOPs are the same.</summary>
#
# This is *arithmetic is what costs*, from lesson 00. Where a tile really gains nothing, it is not for
# that reason: the FLOPs are far below the peak.
#
# </details>
#
# <details><summary><b>D</b> longer: there are six loops instead of three.</summary>
#
# A loop more costs an instruction or two for each turn, and the innermost one is as before.
#
# </details>

# %% tags=["core"]
tiles = {T: textbook.tile({"i": T, "j": T, "k": T}) for T in (40, 80, 160)}
timed = {"no tile": slow, **{f"T = {T}": nest.measure(product) for T, nest in tiles.items()}}
inside = {T: nest.interchange("ji", "ki") for T, nest in tiles.items()}
timed |= {f"T = {T}, j inside": nest.measure(product) for T, nest in inside.items()}
timed["library"] = fast

# %% tags=["core"]
rl.show.say(rl.conclude("07-tiles", timed, here), after=(first, second))

# %% [markdown] tags=["deep"]
# ## Deeper: could it be less?
#
# Does any order of the multiply-adds need even fewer bytes than square tiles? People have proved how
# far one can go. Whatever the order, and whatever the cache throws out, a cache of S numbers has to
# move at least about $2N^3/\sqrt{S}$ numbers, plus the results. A tile of nearly
# $\sqrt{S} \times \sqrt{S}$ results, with room left for a column of A and a row of B, would move
# about that. A real program moves more for two reasons: its tile is smaller, and the cache has its
# rule, its lines and its sets.

# %% tags=["deep", "nbval-check-output"]
best = rl.cache.gemm_bounds(288, 288, 288, 48 * 1024)[-1]
print(f"proven least for 48 KiB: {rl.si(best.bytes, 'B')} ({best.name})")
for T, order, how in ((48, "ijk", "innermost"), (72, "kij", "outermost")):
    tiled = rl.cache.simulate(rl.cache.gemm_stream(288, 288, 288, tile=T, order=order), l1)
    print(f"tiles of {T}, k {how}: {rl.si(tiled.bytes('L1'), 'B')}")

# %% [markdown] tags=["deep"]
# ## Deeper: tiles in tiles
#
# A machine has several caches, and registers in front of them. Each of them wants a tile of its own:
# small tiles for the registers, inside larger ones for the first cache, inside larger ones for the
# second. Each level then has its own traffic and its own roof, and the slowest of them sets the time.
#
# ### Exercise 7 · Tiles in tiles
#
# A product of two `n` × `n` matrices. Tiles of `outer` × `outer` results stay in a cache. Inside
# each of them, tiles of `inner` × `inner` results stay in the registers; `inner` divides `outer`,
# `outer` divides `n`. For each tile its rows and columns are fetched once from the level behind, its
# results go back once. `bandwidths` are those of the cache and of the memory, in byte/s. Return (1) the bytes between
# registers and cache, (2) those between cache and memory, (3) the least time, with everything
# overlapping.


# %% tags=["deep", "answer"] rooflab={"exercise": "07-two-levels"}
def two_levels(n, inner, outer, itemsize, bandwidths, peak):
    # BEGIN SOLUTION
    near, far = ((2 * n**3 // side + n * n) * itemsize for side in (inner, outer))
    seconds = near / bandwidths[0], far / bandwidths[1], 2 * n**3 / peak
    return near, far, max(seconds)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("07-two-levels", two_levels)

# %% [markdown] tags=["deep"]
# ## Deeper: a size that you never ran
#
# Neither the textbook's loops nor those with tiles reach a roof. So what will they take on a larger
# matrix? Suppose that time is the sum of two parts: so much for each turn of the innermost loop, and
# so much for each byte that the first cache moves. Then a few small sizes tell both costs, because
# they have different bytes for a turn.
#
# The first cell below defines what is run: the program without tiles, and the one with tiles of 80 and
# j inside. The second defines what they move. Without tiles the bytes are simulated, on the first rows
# of C. For the tiles it takes the formula of exercise 2. The third times five small sizes and finds the
# two costs of each program. With them it predicts by what factor tiles speed up four larger sizes, and
# only then it runs these.


# %% tags=["deep"]
def programs(N):
    plain = rl.loops.Nest({"i": N, "j": N, "k": N}, "C[i, j] += A[i, k] * B[k, j]")
    return plain, plain.tile({"i": 80, "j": 80, "k": 80}).interchange("ji", "ki")


def timed_both(N):
    op = rl.gemm(N, N, N, accumulate=True)
    return [nest.measure(op, samples=3).median_s for nest in programs(N)]


# %% tags=["deep"]
cache = rl.cache.Hierarchy.like(here).caches[0] if "l1" in here.capacities else l1


def moved(N):
    four, eight = (rl.cache.simulate(rl.cache.gemm_stream(m, N, N), cache).bytes() for m in (4, 8))
    rows = four + (eight - four) * (N - 4) / 4
    formula = rl.cache.tile_ledger(rl.cache.gemm_stream(N, N, N, tile=80), depth=3)
    return rows, sum(one.bytes for one in formula.values())


# %% tags=["deep"]
known, unseen = (160, 240, 320, 400, 480), (640, 720, 800, 960)
turns, small = [N**3 for N in known], [timed_both(N) for N in known]
costs = [
    rl.cache.turn_cost(turns, [moved(N)[way] for N in known], [pair[way] for pair in small])
    for way in (0, 1)
]
predicted = {N: [cost.seconds(N**3, b) for cost, b in zip(costs, moved(N))] for N in unseen}
measured = {N: timed_both(N) for N in unseen}
rl.conclude("07-unseen", predicted, measured, costs[0], cache)

# %% [markdown] tags=["core"]
# ## What you can do now
#
# - **Simulate** a cache: what was touched longest ago leaves.
# - **Count** a tiled product: A is fetched once for each column of tiles, B once for each row of
#   them. The side of a tile saves, its area is the room that it takes.
# - **Choose** a tile with room to spare, and beware of rows whose length is a power of two.
# - **Judge** a gain: take the tile away, and see what stays.
# - And if you went deeper: **predict** the time of tiles within tiles, and of a size never run.
#
# You have changed the order of the multiply-adds, and the result stayed right. Is any order right?
# Go on with [lesson 08](08_legal_loops.ipynb): which loops may you reorder?

# %% tags=["core"]
rl.my_guesses("07")

# %% tags=["core"]
rl.progress("07")
