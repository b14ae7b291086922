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
# **How much traffic does a tile save, and which tile fits?**
#
# <details><summary>60 minutes, 95 with the exercises: what you learn, and what you need</summary>
#
# - **simulate** a cache, with ten lines of your own and with a fast simulator,
# - **count** what a tiled product fetches, and say which side of the tile saves what,
# - **choose** the largest tile that a cache really keeps,
# - **judge** a claim about tiling: does the gain come from the tile or from the cache,
# - after the *Deeper* parts: **predict** the time of a size that you never ran.
#
# You need lessons 01, 03 and 06. The *Deeper* parts add 15 minutes. A lecture shows some of it in
# 25.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## The textbook program
#
# In lesson 01, a product of two N × N matrices had an intensity of N/6 in `fp32`. That counts every
# operand once. The textbook program fetches A and B far more often:
#
# ```
# for i in range(N):
#     for j in range(N):
#         for k in range(N):
#             C[i, j] += A[i, k] * B[k, j]
# ```
#
# While k runs, the sum C[i, j] stays in a *register*, one of the few places inside the core that
# hold what it is working on. So the program fetches two numbers for each multiply-add: one of A,
# one of B.
#
# The next cell compiles these loops to machine code, as a C compiler would, and runs them here,
# with N = 800, on one core. Then it runs the BLAS library that lesson 01 measured. Both do the same
# 512 million multiply-adds. **How many times faster is the library?**

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
# The next picture shows both under their roof, one above the other: whatever the loops do, the
# roofline counts A and B once, and C twice, in and out.

# %% tags=["core"]
own = {"three loops": slow, "library": fast}
rl.live.roofline(here, measurements=own, ops=["gemm"], cache="warm", after=first)

# %% [markdown] tags=["core"]
# Three things make the difference. A library uses the core's vector units, or a matrix unit where
# there is one, to work on many numbers at once. It keeps many sums under way at once. And it
# **arranges the work so that what was fetched is used again while it is still near**. This lesson
# is about the third. To see it on its own, let's count bytes.
#
# ## A cache in ten lines
#
# A cache keeps the lines that were touched most recently. A touch is a read or a write. When the
# cache is full and a new line is touched, the one touched longest ago has to leave. This rule is
# called *least recently used*, **LRU** for short. A touch that does not find its line is a
# **miss**. Real first caches follow this rule or a similar one.
#
# ### Exercise 1 · Write one
#
# `lines` lists the line numbers in the order in which a program touches them. The cache has room
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
# That is the heart of every cache simulator. The course's own does this millions of times a second,
# with 64-byte lines and several caches in a row. It also writes back what was changed.
# Here is the textbook program for N = 288, with a first cache of 48 KiB and a second one of 1 MiB.
# *In* is what a level fetches from the level behind it, *out* what it writes back.

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
# Look at the line for B in the table. For each row of C the program walks through all of B: 332 kB,
# but the first cache holds only 49 kB. By the time the next row of C begins, the start of B is long
# gone. So B is fetched 288 times. A does better: each row of A is used 288 times while it is near.
#
# ## A tile
#
# Don't finish the numbers of C one at a time. Take a square of T × T of them, a **tile**, and T
# steps of k. They need a tile of A and a tile of B: T³ multiply-adds on 2T² numbers. Then take the
# next tiles along k, until the tile of C is finished.
#
# Press *run* for each size. The cache holds 32 numbers here, and a line is one number. They stand in
# the order in which they were touched, and the one at the end leaves next. The bars compare the
# four sizes. Which tile moves the dot furthest to the right, and why not the largest?

# %% tags=["core"]
rl.cache.tiles()

# %% [markdown] tags=["core"]
# The dot shows the FLOPs done so far ÷ the bytes moved so far. The largest tile has 64 results,
# more than the cache holds: each is thrown out before its next turn. Now for real sizes: N = 288,
# and the first cache of 48 KiB.

# %% tags=["core", "nbval-check-output"]
for T in (1, 2, 4, 8, 16, 32, 48, 72):
    tiled = rl.cache.simulate(rl.cache.gemm_stream(288, 288, 288, tile=T), l1)
    moved = tiled.bytes("L1")
    print(f"T = {T:2}: L1 moves {rl.si(moved, 'B'):>7}", "█" * round(moved / 2e6))

# %% [markdown] tags=["core"]
# Twice the side, half the bytes, or nearly, up to T = 16. Then it saves less, and at 72 the tile is
# too large. That leaves two questions: how much does a tile save, and when is it too large?
#
# ### Exercise 2 · What a tile fetches
#
# Multiply an `m` × `k` matrix by a `k` × `n` matrix. A tile of `tm` × `tn` results stays in the
# cache until it is finished. Each tile fetches once the rows of A and the columns of B that it
# needs. Every result is written once. `tm` divides `m`, and `tn` divides `n`. Return the bytes:
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
# This counts all the results of a tile. But a number of A is used for only one row of them.
#
# </details>
#
# <details><summary><b>B</b> 64 times less: 32 for A and 32 for B.</summary>
#
# This adds the savings of two matrices. Each of the two is fetched 32 times less.
#
# </details>
#
# <details><summary><b>C</b> 32 times less.</summary>
#
# **Right.** A number of A serves the 32 results in its row of the tile, a number of B the 32 in its
# column.
#
# </details>
#
# <details><summary><b>D</b> 16 times less, since two tiles are loaded for each tile of C.</summary>
#
# Both programs fetch from two matrices, so that factor of two cancels out.
#
# </details>
#
# ### Exercise 3 · By how much?
#
# Compare a product of two `n` × `n` matrices in tiles of `t` × `t` results with the program that
# fetches two numbers for every multiply-add. Both write each result once, and `t` divides `n`. By
# what factor do the tiles lower (1) the traffic of A and B together, (2) all the traffic?
# `saving(8, 4)` is `(4.0, 3.4)`.


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
# Three tiles are at work: one of A, one of B, one of C. With 10 × 10 numbers each, that makes 300.
# So take a cache that holds exactly 300 numbers, and make it as kind as possible: a line holds one
# number, and lines may lie anywhere. For N = 100 the formula of exercise 2 now gives 880 kB, with C
# read once, too. It assumes that all three tiles stay. **How many times as much does LRU
# really move?**

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
# LRU does not know what you will need. It keeps what was touched most recently, which depends on
# the order of the loops *within* a tile.
#
# With k innermost, `ijk`, a number of C is touched once in each step from tile to tile. In between,
# the program touches
#
# - the rest of its tile of C: 99 numbers,
# - a tile of A and one more row: 110,
# - two tiles of B, for this step and for the next: 200.
#
# LRU needs room for all of these and the number itself: 410, which is four tiles and a row. With k
# outermost, `kij`, the number of C comes up again after one turn of k. In between come the rest of
# its tile, a column of A and one more number, and two rows of B: with the number itself, 131.
#
# You can see it in the picture of tiles. For 4 × 4 the same sums give 68 and 29. The cache has room
# for 32: with `kij` the whole tile of C stays in the queue, with `ijk` some of it falls out.
#
# </details>
#
# ### Exercise 4 · The largest tile
#
# A cache of `cache` bytes must have room for `tiles` tiles of T × T numbers of `itemsize` bytes.
# You are given `tiles`: with T = 10 it was 410 numbers / 100 = 4.1 for `ijk`, and 1.31 for `kij`.
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
# Here is the same program in tiles of 32 × 32, for N = 248, 256 and 264, with the first cache of
# many processors: 32 KiB. Four tiles of 32 × 32 and a row take 16.1 KiB, so there is room to spare.
# 32 divides neither 248 nor 264, so the last tiles there are cut short. Which N moves the most
# bytes for each multiply-add?

# %% tags=["core", "pause", "nbval-check-output"]
common = rl.cache.Cache("L1", 32 * 1024, ways=8)
for n in (248, 256, 264):
    found = rl.cache.simulate(rl.cache.gemm_stream(n, n, n, tile=32), common)
    print(f"N = {n}: {found.bytes('L1') / n**3:5.2f} bytes for each multiply-add")

# %% [markdown] tags=["core"]
# The middle one, by a factor of more than sixty. Real caches do not let a line lie just anywhere.
# They have **sets**, and line number *a* may only lie in set *a* modulo the number of sets. A set
# has a few places, its **ways**. Here there are 64 sets of 8 ways.
#
# The next picture goes down a whole column of the matrix. Each row puts one line into the cache.
# Pull the slider back and forth, and compare 248 with 256.

# %% tags=["core"]
rl.cache.sets()

# %% [markdown] tags=["core"]
# A row of 256 numbers is 16 lines, so a column only ever meets every sixteenth set. A row of a tile
# is two lines. So the 32 rows of a tile of B fill 8 sets completely, and a tile of C needs the same
# sets. They push each other out, while other sets hold lines that nobody needs any more. These are
# *conflict misses*. With more ways or sets, 256 does little harm, but a larger power of two does
# more.
#
# ### Exercise 5 · A column that does not fit
#
# A cache with lines of `line` bytes has `sets` sets of `ways` lines; line number *a* of memory may
# only lie in set *a* modulo `sets`. A program reads the first number of each of `rows` rows. These
# lie `row_bytes` bytes apart, the first at address 0. Some may share a line. Return (1) how many
# sets the program's lines fall into, (2) how many of these lines the cache can hold at once:
# `room_for_column(32, 1024, 64, 64, 8)` is `(4, 32)`.


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
# There are two common remedies. *Padding* makes each row a line longer than it needs to be.
# *Packing* copies a tile into a small array of its own, so that its numbers lie side by side.
# Libraries such as OpenBLAS and BLIS pack large matrices.
#
# ## Claim court: 4.0 to 0.04
#
# A talk multiplies two 100 × 100 matrices of two-byte numbers. Before: 4.0 bytes for each FLOP.
# After, with tiles and a cache: 0.04, a hundredth of that. What made the difference? Here is what a
# simulated cache fetches and writes back, without a tile and with tiles of 10 and 25. Its lines are
# 64 bytes long and may lie anywhere.

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
# The first figure is even higher than 4.0: to get two bytes of B, the small cache fetches a line of
# 64.
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
# Now on your machine: the product from the start, without tiles, then with tiles of 40, 80 and 160,
# then in the same tiles with j innermost. That way the program runs along the rows of B and C, so a
# vector unit can handle several neighbours at once. But first the bytes, in the cache of 48 KiB.
# The next cell simulates the first 40 rows of C, a twentieth of all:

# %% tags=["core", "nbval-check-output"]
for T in (None, 40):
    rows = rl.cache.simulate(rl.cache.gemm_stream(40, N, N, tile=T), l1)
    said = "without tiles" if T is None else f"tiles of {T}"
    print(f"{said}: L1 moves {rl.si(20 * rows.bytes('L1'), 'B')} in all")

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# Without tiles, nearly every number of B costs a line of 64 bytes. So tiles of 40 move about 1/300
# of the bytes. On most real machines, with the order of loops within a tile unchanged, the time is
# …
#
# <details><summary><b>A</b> about 1/300.</summary>
#
# It would be, if bytes were the only cost.
#
# </details>
#
# <details><summary><b>B</b> shorter, but far from 1/300.</summary>
#
# **Right.** Once the bytes no longer set the pace, something else does: numbers are added one at a
# time, and within a sum each addition waits for the one before it. Where the caches are large and
# fast, that limits the program even without tiles. Then tiles gain hardly anything.
#
# </details>
#
# <details><summary><b>C</b> the same: the FLOPs are the same.</summary>
#
# This is *arithmetic is what costs*, from lesson 00. Where a tile really gains nothing, that is not
# the reason: the loops are far below the peak.
#
# </details>
#
# <details><summary><b>D</b> longer: there are six loops instead of three.</summary>
#
# An extra loop costs an instruction or two each turn, and the innermost is as before.
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
# Does any order of the multiply-adds need even fewer bytes than square tiles? There is a proof of
# how far you can go. Whatever the order, and whatever the cache throws out, a cache of S numbers
# has to move at least about $2N^3/\sqrt{S}$ numbers, plus the results. A tile of nearly
# $\sqrt{S}\times\sqrt{S}$ results, with room left for a column of A and a row of B, would move
# about that much. A real program moves more for two reasons: its tile is smaller, and the cache has
# its rule, its lines and its sets.

# %% tags=["deep", "nbval-check-output"]
best = rl.cache.gemm_bounds(288, 288, 288, 48 * 1024)[-1]
print(f"proven least for 48 KiB: {rl.si(best.bytes, 'B')} ({best.name})")
for T, order, how in ((48, "ijk", "innermost"), (72, "kij", "outermost")):
    tiled = rl.cache.simulate(rl.cache.gemm_stream(288, 288, 288, tile=T, order=order), l1)
    print(f"tiles of {T}, k {how}: {rl.si(tiled.bytes('L1'), 'B')}")

# %% [markdown] tags=["deep"]
# ## Deeper: a size that you never ran
#
# Neither the textbook's loops nor the tiled ones reach a roof. So how long will they take on a
# larger matrix? Suppose that the time has two parts: so much for each turn of the innermost loop,
# and so much for each byte that the first cache moves. Then a few small sizes are enough to find
# both costs, because they move different numbers of bytes per turn.
#
# The first cell below defines the two programs: one without tiles, and one with tiles of 80 and j
# inside. The second counts what they move: without tiles by simulating the first rows of C, with
# tiles by the formula of exercise 2. The third times five small sizes and finds the two costs of
# each program. From these it predicts how many times faster tiles make the program at three
# larger sizes. Only then does it run them.


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
known, unseen = (160, 240, 320, 400, 480), (640, 720, 800)
turns, small = [N**3 for N in known], [timed_both(N) for N in known]
costs = [
    rl.cache.turn_cost(turns, [moved(N)[way] for N in known], [pair[way] for pair in small])
    for way in (0, 1)
]
predicted = {N: [cost.seconds(N**3, b) for cost, b in zip(costs, moved(N))] for N in unseen}
measured = {N: timed_both(N) for N in unseen}
rl.conclude("07-unseen", predicted, measured, costs[0], cache)

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - **T times less**: the traffic of A and B in tiles of T × T.
# - **4.1 or 1.31 tiles**: what LRU needs for T = 10, with k innermost or outermost.
# - **4 of 64 sets**: all that a column of 1024-byte rows can use, with lines of 64 bytes.
#
# ## What you can do now
#
# - **Simulate** a cache: what was touched longest ago leaves.
# - **Count** a tiled product: A is fetched once for each column of tiles, B once for each row of
#   tiles. The side of a tile is what it saves, its area is the room it takes.
# - **Choose** a tile with room to spare, and beware of rows whose length is a power of two.
# - **Judge** a gain: take the tile away, and see what remains.
# - And if you went deeper: **predict** the time of a size that you never ran.
#
# You have changed the order of the multiply-adds, and the result was still right. Which loops may
# you reorder? Go on with [lesson 08](08_legal_loops.ipynb).

# %% tags=["core"]
rl.my_guesses("07")

# %% tags=["core"]
rl.progress("07")
