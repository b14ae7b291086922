# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 09 · Let the machine search
#
# *Run the cells from the top, each with Shift+Enter. Until then, every result below is that of
# another computer.*
#
# **What does a machine find that you would not, and what can no search find?**
#
# After this lesson you will be able to
#
# - **count** the schedules of a nest of loops,
# - **choose** the tile that fits the registers of a processor,
# - **write** a beam search, **find** how wide it has to be, and **tile** for two caches yourself,
# - **extract** the cheapest of many equal expressions,
# - **judge** the log of a search, and a claim about one,
# - after the *Deeper* parts: **describe** an operator by what it touches, and **place** a compiler
#   on a map.
#
# It takes about 60 minutes, with the *Deeper* parts 80; a lecture shows some of it in 25. You need
# lessons 07 and 08.

# %% tags=["core"]
import math
from itertools import product

import rooflab as rl

# %% [markdown] tags=["core"]
# ## Too many to try
#
# In lesson 08 you wrote a **schedule**: the loops of a nest, split, reordered and marked. You
# tested whether it is legal, and how fast it is. Which schedule is the fastest? Try all of them,
# one could say. How many are there?
#
# Take three loops, and split each of them in two. The six loops that come out can stand in 6! = 720
# orders. We count only orders in which every inner loop stands inside its outer one, for otherwise
# its turns would no longer be a tile. Swap the two loops of a pair, and only one of the two orders
# counts, so each pair halves the number. There are three pairs. That leaves 720/2³ = 90 orders. And
# each loop has a tile size to choose:

# %% tags=["core", "nbval-check-output"]
N = 384
tiles = sum(N % tile == 0 for tile in range(2, N))
orders = math.factorial(6) // 2**3
count = tiles**3 * orders
print(f"N = {N}: {tiles}³ choices of tile sizes × {orders} orders = {count:,} schedules")
print(f"at ten of them a second: {count / 10 / 3600:.1f} hours")

# %% [markdown] tags=["core"]
# Loops that are split twice, marks for lanes, and copies of operands multiply that again and again.
#
# ### Exercise 1 · How many schedules?
#
# `extents` are the lengths of the loops. Each loop is either left whole, or split in two by a tile
# size. A tile size divides the length, is larger than 1 and smaller than the length. Count any
# order in which every inner loop is somewhere inside its outer one. Return how many schedules there
# are.


# %% tags=["core", "answer"] rooflab={"exercise": "09-count"}
def schedules(extents):
    # BEGIN SOLUTION
    total = 0
    for chosen in product((False, True), repeat=len(extents)):
        ways = math.factorial(len(extents) + sum(chosen)) // 2 ** sum(chosen)
        for extent, split in zip(extents, chosen):
            if split:
                ways *= sum(extent % tile == 0 for tile in range(2, extent))
        total += ways
    return total
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("09-count", schedules)

# %% [markdown] tags=["core"]
# ## A machine that tries
#
# So let the machine choose what to try. A **search** begins with the loops as written. It knows
# some *moves*. A move takes one schedule and makes others of it: it puts a tile into registers, a
# tile into a cache, swaps two loops, copies an operand into the order in which it is read. Each
# *round* does four things:
#
# 1. it applies all moves to the best schedules so far,
# 2. **predicts** the time of what comes out, from bytes and roofs,
# 3. tests the most promising for legality, compiles and **measures** them, with what they copy,
# 4. goes on from the fastest, four of them here.
#
# It ends when the time is up, or after two rounds without a gain. The next cell gives it ten
# seconds, on one core. **By what factor will the best schedule be faster than the three loops as
# written?** Guess.

# %% tags=["core"]
found = rl.search.search(N, seconds=10)
gemm = rl.gemm(N, N, N, accumulate=True)
library = rl.measure(gemm, threads=1, cache="warm")
first = rl.ask("09-search", found.naive.seconds / found.winner.seconds)
first

# %% tags=["core"]
here = rl.this_machine(threads=1)
rl.show.say(rl.conclude("09-search", found, library, here), after=first)

# %% [markdown] tags=["core"]
# Its moves are those of lessons 07 and 08. Nobody told it which of them to make, in which order and
# with which sizes. Pull the slider to see the candidates in the order in which they were measured.
# The line rises with each that was the fastest so far, from round to round. How many steps
# does it take to the top? With the picture stands the fastest schedule so far as loops, and what
# the last step changed is blue. A move is not a small step: a whole tile in registers is a single
# one. Below the picture you read how many bytes the fastest takes. Which steps save bytes?

# %% tags=["core"]
rl.search.trail(found, here, peer={"library": library}, after=first)

# %% [markdown] tags=["core"]
# ## Predict to sort out, measure to decide
#
# Why does it predict at all? A prediction takes a few milliseconds. A measurement takes many times
# as long, as its schedule has to be compiled first. And why does it measure, if it can predict? In
# the picture, switch to *against the prediction*. If predictions were perfect, all points would lie
# on the dashed line.

# %% tags=["core"]
rl.show.say(rl.conclude("09-predicted", found), after=first)

# %% [markdown] tags=["core"]
# Here is what a count of bytes does not see. In each of these four schedules a tile of sums is
# meant to stay in registers while k runs: 16 columns of C, and 1, 4, 8 or 64 rows. The more rows,
# the more often a number of B is used while it is there. By bytes alone, 64 rows are best.

# %% tags=["core"]
textbook = rl.loops.Nest({"i": N, "j": N, "k": N}, "C[i, j] += A[i, k] * B[k, j]")
rows = {}
for count in (1, 4, 8, 64):
    cut = textbook.split("j", 16).split("i", count).reorder("io", "jo", "k", "ii", "ji")
    rows[count] = cut.unroll("ii").vectorize("ji").measure(gemm)
rl.conclude("09-rows", rows, here)

# %% [markdown] tags=["core"]
# With few sums, each multiply-add waits for the one before it in its sum. With too many, the sums
# do not fit the registers: some of them go to the cache and come back, which is called *spilling*.
# A count of bytes sees neither, so the search has a rule for each. Those who write libraries know
# both, and choose the tile by hand.
#
# ### Exercise 2 · A tile in registers
#
# A processor has `registers` vector registers of `lanes` numbers. It has `units` vector units. In
# every cycle each of them begins a multiply-add of vectors, and its result is there `latency`
# cycles later. A tile of rows × vectors registers, each a vector of sums, stays there. In each step
# of k, its `vectors` vectors of B are loaded, each into a register. Then one number of A after
# another is loaded into all lanes of one more register, and every vector of sums of its row gets a
# multiply-add.
#
# Which tile fits, has enough vectors of sums to keep all units busy, and needs the fewest loads for
# each multiply-add? Little's law tells how many are enough. Return (1) its rows, (2) its columns,
# in numbers. In each case one tile is best.


# %% tags=["core", "answer"] rooflab={"exercise": "09-register-tile"}
def register_tile(registers, lanes, latency, units):
    # BEGIN SOLUTION
    fitting = [
        (rows, vectors)
        for rows, vectors in product(range(1, registers), repeat=2)
        if rows * vectors + vectors + 1 <= registers and rows * vectors >= latency * units
    ]
    rows, vectors = min(fitting, key=lambda tile: sum(tile) / (tile[0] * tile[1]))
    return rows, vectors * lanes
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("09-register-tile", register_tile)

# %% [markdown] tags=["core"]
# ## How wide?
#
# A search that keeps several schedules from round to round is a **beam search**. How many it keeps
# is the **width** of the beam. With width 1 it is *greedy*: it always goes on from the fastest one
# alone. So it can miss what begins with a step that pays less than another one at first, or not at
# all.
#
# ### Exercise 3 · Write the beam
#
# `children` says which schedules can be made of each schedule in one step, and `seconds` how long
# each of them takes. Both are dictionaries: `children["tile 1"]` is a list of names, empty at an
# end, and `seconds["tile 1"]` a number. All times are different. Begin with `start`, and time it.
# In a round, time all children of the kept schedules that have not been timed yet. Of the kept and
# the new ones, keep the `width` fastest. Stop when there is nothing new to time. Return (1) the
# fastest schedule that was found, (2) how many schedules were timed.


# %% tags=["core", "answer"] rooflab={"exercise": "09-beam"}
def beam(children, seconds, start, width):
    # BEGIN SOLUTION
    kept, timed = [start], {start}
    while True:
        new = {child for name in kept for child in children[name]} - timed
        if not new:
            break
        timed |= new
        kept = sorted({*kept, *new}, key=seconds.get)[:width]
    return kept[0], len(timed)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("09-beam", beam)

# %% [markdown] tags=["core"]
# To see the width at work without the noise of a clock, let the simulator of lesson 07 decide. The
# next cell searches a product of N = 48 for the fewest bytes that a cache of 4 KiB moves. The
# prediction is the same simulation, so no schedule is left out because it was predicted wrongly.
# Which tiles fit the registers still depends on your processor.

# %% tags=["core"]
cache = rl.cache.Cache("L1", 4096)


def moved(nest):
    return rl.cache.simulate(nest.stream(), cache).bytes()


widths = {}
for width in (1, 2, 4, 8):
    widths[width] = rl.search.search(48, width=width, score=moved, measure=moved, seconds=30)
rl.conclude("09-widths", widths)

# %% [markdown] tags=["core"]
# ### Exercise 4 · How wide does it have to be?
#
# The data are those of exercise 3, and so is the search. Return the least width with which it finds
# the fastest of all schedules in `seconds`. All of them can be reached from `start`. Your `beam`
# may help.


# %% tags=["core", "answer"] rooflab={"exercise": "09-width"}
def least_width(children, seconds, start):
    # BEGIN SOLUTION
    best = min(seconds, key=seconds.get)
    for width in range(1, len(children) + 1):
        if beam(children, seconds, start, width)[0] == best:
            return width
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("09-width", least_width)

# %% [markdown] tags=["core"]
# Now take the place of the search.
#
# ### Exercise 5 · Tiles for two caches
#
# `nest` is the product of lesson 07 in `fp64`, for sizes like 64 × 60 × 72. Its core has a first
# cache of 640 bytes and a second one of 16 KiB, both in lines of 32 bytes. Return a legal schedule
# that moves few bytes between the two, and few between the second one and memory. Both are
# simulated, and each may be at most 1.45 times what ours moves. You need tiles only; copies would
# count, too. `nest.tile({"i": 48})` cuts i into `io` and `ii`, and `ii` can be cut again.


# %% tags=["core", "answer"] rooflab={"exercise": "09-tiles"}
def two_caches(nest):
    # BEGIN SOLUTION
    outer = nest.tile({"i": 24, "j": 24, "k": 24})
    return outer.tile({"ii": 4, "ji": 4, "ki": 4})
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("09-tiles", two_caches)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# A search has one minute. With width 8 in place of 1, what it finds after that minute is …
#
# <details><summary><b>A</b> faster: it has looked at more schedules.</summary>
#
# The time is the same, so about as many are measured.
#
# </details>
#
# <details><summary><b>B</b> at least as fast: a wide beam holds the narrow one.</summary>
#
# In its first round it does. But new schedules of others can push out the one that would have led
# on, as in exercise 4. And there are fewer rounds in a minute.
#
# </details>
#
# <details><summary><b>C</b> faster or slower, which depends on the nest and the minute.</summary>
#
# **Right.** A wide beam goes through more in each round, and through fewer rounds. Tools leave the
# width to their users.
#
# </details>
#
# <details><summary><b>D</b> the same: both end at the best schedule.</summary>
#
# Both would if they could measure everything.
#
# </details>
#
# ## Other things to search
#
# Loops are not the only thing with many equal forms. An expression has them, too. Let *v* be a
# vector, and compute (*AB*)*v*. *A*(*Bv*) is the same in exact arithmetic. A *rewrite rule* says
# that one form may take the place of another. The obvious way to use rules is greedy: take the
# first of the list that fits, again and again. Look what that does to 2*a*/2, with the rules 2*x* →
# *x* shifted left by one bit, (*sx*)/*t* → (*s*/*t*)*x* and 1*x* → *x*:

# %% tags=["core", "nbval-check-output"]
a = rl.search.vector("a", 1000, "int32")
rules = ["shift", "multiply-divide", "once"]
print(*rl.search.greedy(2 * a / 2, rules), sep="   →   ")

# %% [markdown] tags=["core"]
# Two rules fitted. The shift stood first in the list, and now no rule fits any more. With the
# second rule first, it would have ended at *a*. The second rule takes for granted that 2*a* is no
# larger than an `int32` can be. Where it is larger, 2*a*/2 is not *a*, and a compiler has to know
# that it may ignore this.
#
# An **e-graph** does not replace. It keeps the old expression beside the new one, in a *class* of
# expressions that are equal. What stands in a class is a *node*: an operation whose arguments are
# classes, and not single expressions. So a few nodes stand for a great many expressions. When no
# rule adds anything, the e-graph is *saturated*. Then the cheapest expression is taken out of it,
# here the one whose steps read and write the fewest bytes. Pull the slider from round to round:

# %% tags=["core"]
rl.search.growth(2 * a / 2, rules)

# %% [markdown] tags=["core"]
# ### Exercise 6 · The cheapest expression
#
# `classes` is a saturated e-graph, such as `{"p": [[3, ["q", "r"]], [70, []]], ...}`. For each
# class it lists the nodes in it, each as its own cost and the list of its arguments, which are
# classes. To compute a class, choose one of its nodes and compute all arguments of it. A class that
# is needed twice is paid twice, wherever it stands. Some nodes lead back to their own class, and
# going round in a circle computes nothing. Return the least cost of the class `root`.


# %% tags=["core", "answer"] rooflab={"exercise": "09-extract"}
def cheapest(classes, root):
    # BEGIN SOLUTION
    cost = dict.fromkeys(classes, math.inf)
    for _ in classes:
        for name, nodes in classes.items():
            for own, arguments in nodes:
                total = own + sum(cost[one] for one in arguments)
                cost[name] = min(cost[name], total)
    return cost[root]
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("09-extract", cheapest)

# %% [markdown] tags=["core"]
# Now the product of two matrices and a vector, with all rules of the course, and FLOPs as the cost:

# %% tags=["core", "nbval-check-output"]
A, B = (rl.search.matrix(name, 1024, 1024) for name in "AB")
v = rl.search.vector("v", 1024)
rl.search.simplify((A @ B) @ v, cost="flops")

# %% [markdown] tags=["core"]
# 512 times fewer FLOPs, and nobody touched a loop. (*AB*)*v* is a GEMM and a GEMV, *A*(*Bv*) is two
# GEMVs. The next cell measures one GEMM and one GEMV on one core, with operands in the cache, and
# adds up: one of each against two GEMVs. **By what factor is it faster?** Guess.

# %% tags=["core"]
matrix, vector = rl.gemm(1024, 1024, 1024), rl.gemv(1024, 1024)
timed = [rl.measure(one, threads=1, cache="warm") for one in (matrix, vector)]
gain = (timed[0].median_s + timed[1].median_s) / (2 * timed[1].median_s)
second = rl.ask("09-rewrite", gain)
second

# %% tags=["core"]
rl.show.say(rl.conclude("09-rewrite", timed[0], timed[1]), after=second)

# %% [markdown] tags=["core"]
# ## What no search can do
#
# A search finds an order of the work. It does not beat the peak. Operands that begin in memory must
# be carried from it at least once. If a log says otherwise, the log is wrong. That happens: a clock
# that was read before the work was done, a result that nobody compared.
#
# ### Exercise 7 · Rows that cannot be true
#
# A search for a product of two `n` × `n` matrices left a `log`. Each of its rows is a list: the
# seconds as measured, the name of a level, and the bytes that a simulator counted from and to that
# level. The two factors begin in memory. The result is only written, and ends in memory. On its
# way, everything passes every level. Work and traffic overlap. `peak` is in FLOP/s, and
# `bandwidths` gives byte/s for each level. Return a list with True for each row that cannot be
# true, and False for each other row.


# %% tags=["core", "answer"] rooflab={"exercise": "09-impossible"}
def impossible(n, itemsize, peak, bandwidths, log):
    # BEGIN SOLUTION
    found, least = [], 3 * n * n * itemsize
    soonest = max(2 * n**3 / peak, least / bandwidths["memory"])
    for seconds, level, moved in log:
        roof = max(soonest, moved / bandwidths[level])
        found.append(seconds < roof or moved < least)
    return found
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("09-impossible", impossible)

# %% [markdown] tags=["core"]
# ## Claim court: the beam on a laptop
#
# A talk runs the beam search of a small compiler on the GPU of a laptop. It has 14 cores of 128
# lanes. Each lane begins a multiply-add in every cycle, at 1.4e9 cycles a second. Its memory brings
# 150e9 byte/s. The talk prints 0.023 byte/FLOP for this machine. It shows no time for N = 1024.
# Suppose that somebody reports 0.3 ms.
#
# ### Exercise 8 · Could it be?
#
# Set `verdict` to (1) the byte/FLOP of the machine: its bandwidth over its peak, (2) the least
# seconds for the 2 · 1024³ FLOPs of a product of two 1024 × 1024 matrices in `fp32`,
# (3) `"possible"` or `"impossible"`
# for the 0.3 ms.


# %% tags=["core", "answer"] rooflab={"exercise": "09-claim-beam"}
# BEGIN SOLUTION
peak = 14 * 128 * 2 * 1.4e9
verdict = (150e9 / peak, 2 * 1024**3 / peak, "impossible")
# END SOLUTION

# %% tags=["core", "nbval-check-output"]
rl.check("09-claim-beam", verdict)

# %% [markdown] tags=["core"]
# ## Three levers
#
# The time of a program is its **work**, divided by the **resources** times the **efficiency** with
# which they are used. Work is the FLOPs that are asked for, and each operand carried once.
# Resources are cores, lanes and bandwidth. A search over schedules pulls the third lever only.
# *A*(*Bv*) pulled the first.
#
# It is said that a program that waits for memory is slow by the *hardware's* fault. But if one pass
# over a vector does what two passes did, half of the bytes need not be carried at all. That is
# software, and the first lever again.
#
# ### Vote, or choose for yourself
#
# GPT-2 keeps what it computed for earlier tokens, in the KV cache of lesson 05. After 1024 tokens,
# in `bf16` and by the roofs of an A100 with its matrix units, it makes more than four times as many
# tokens a second as without the cache, at less than a hundredth of the FLOP/s. Which lever is that?
#
# <details><summary><b>A</b> None: the FLOP/s fell, so it is slower.</summary>
#
# FLOP/s are no aim. What you want is tokens, and there are more than four times as many.
#
# </details>
#
# <details><summary><b>B</b> Efficiency: the hardware is used better.</summary>
#
# The arithmetic units are nearly idle now. By their peak, the efficiency fell.
#
# </details>
#
# <details><summary><b>C</b> Resources: the cache is more memory.</summary>
#
# The machine is the same.
#
# </details>
#
# <details><summary><b>D</b> Work: most of the FLOPs are not needed any more.</summary>
#
# **Right.** There is so much less to do that it pays to do it at a lower rate. So compare results
# in a second, never rates of different work.
#
# </details>

# %% [markdown] tags=["deep"]
# ## Deeper: what more resources bring
#
# Resources are a lever, too. An A100 has matrix units, and by the datasheet they do 16 times the FLOP/s
# of its vector units. A talk concludes that a program with them is *simply 16 times as fast*. Here are
# the roofs' times of N × N products, with numbers in `bf16` for both units, each matrix carried once:

# %% tags=["deep", "nbval-check-output"]
a100 = rl.machine("a100-sxm-80")
vector, unit = a100.peak("fp32", "vector"), a100.peak("bf16", "tensor")
for n in (64, 128, 256, 512):
    op = rl.gemm(n, n, n, "bf16")
    carry = op.bytes / a100.bandwidth()
    gain = max(op.flops / vector, carry) / max(op.flops / unit, carry)
    print(f"N = {n}: {gain:.1f} times as fast")
print(*[f"{a100.bandwidth() / peak:.4f} byte/FLOP" for peak in (vector, unit)], sep=", ")

# %% [markdown] tags=["deep"]
# The units bring 16 times the speed only where nothing but arithmetic takes time. The same talk gives
# this chip *one* byte/FLOP, about 0.10, and calls every program above it limited by bandwidth. That is
# the first number of the last line. With matrix units it is the second one. So no chip has such a
# number; a chip with a number type and a unit has one.

# %% [markdown] tags=["deep"]
# ## Deeper: one description for all operators
#
# The search knew nothing of matrices. It was given loops, and a line that says which elements are
# touched. Much of deep learning can be written so: *data* with a shape, for each of them the index
# as a sum of loops, and what is done with the numbers. From that alone the package reads what
# lessons 01 to 04 counted by hand, here in `fp32`. It also names the loop whose turns need the
# fewest new cache lines. By that count alone it would stand innermost; lanes, or a loop of two
# turns, may decide otherwise. A loop that the result does not name is a reduction: a sum, or for
# max-pool a maximum.

# %% tags=["deep", "nbval-check-output"]
ops = rl.search.operators
for one in (
    ops.gemm(1024, 1024, 1024), ops.gemv(1024, 1024), ops.conv2d(1, 58, 58, 64, 64, 3),
    ops.max_pool(1, 57, 57, 64, 2, stride=1),
    ops.attention_scores(1024, 1024, 64, "fp32"), ops.attention_values(1024, 1024, 64, "fp32"),
):  # fmt: skip
    intensity = one.flops / one.compulsory_bytes
    print(f"{one.name:17} {intensity:6.3g} FLOP/byte, innermost: {one.innermost}")

# %% [markdown] tags=["deep"]
# Each of them is a nest of loops, so it can be searched as the product was. Here is a convolution.
# How far does the search get in five seconds, and which of its moves did the product's best
# schedule make, too?

# %% tags=["deep"]
print(rl.search.search(ops.conv2d(1, 30, 30, 32, 32, 3).nest(), seconds=5, progress=False))

# %% [markdown] tags=["deep"]
# And an operator of your own, from a line of text. A row of *X* is multiplied by a row of weights:

# %% tags=["deep", "nbval-check-output"]
rl.search.operator("Y[i, j] = X[i, j] * W[j]", {"i": 4096, "j": 4096})

# %% [markdown] tags=["deep"]
# ## Deeper: a map of compilers
#
# Real compilers differ in three decisions. Who chooses the schedule: the user, the compiler, or a
# search? What makes it legal? And what scores it: a clock or a model? Here are some of them by the
# second question, each with a fact from its source, paper or documentation, or from a run of ours.
#
# | compiler | what makes it legal | who chooses the schedule | what scores it | what comes out | in its own words |
# |---|---|---|---|---|---|
# | loopy | **the user**: the order of loops is taken as told, even one that changes the result <sup>1</sup> | the user, by a library of transformations <sup>2</sup> | nothing: the user measures <sup>2</sup> | code for OpenCL, CUDA and other targets <sup>2</sup> | `prioritize_loops(kernel, "j,i")` puts `j` outside in `a[i + 1, j] = a[i, j + 1] + 1`, without a word of warning <sup>1</sup> |
# | TVM | **each step is tested**: a step is refused unless the blocks under the loop meet its conditions <sup>3</sup> | search over the space that schedule rules span, rules without search, or the user <sup>4</sup> | a learned model picks which candidates are measured <sup>4</sup> | a module compiled for the target <sup>4</sup> | “Predicts schedule performance using XGBoost, reducing the number of actual hardware measurements needed.” <sup>4</sup> |
# | Tiramisu | **each step is tested**: dependences of the original program are recorded; each schedule is tested by them <sup>5</sup> | the user, in a scheduling language, or a beam search <sup>5, 6</sup> | a learned model, or the run time <sup>5</sup> | code for CPUs, NVIDIA GPUs, FPGAs and clusters; it is built on isl, Halide and LLVM <sup>7</sup> | “we record the dependencies of the original program to be able to test the legality of transformations during the exploration” <sup>5</sup> |
# | Exo | **each step is tested**: every primitive rewrite is checked by analyses of effects <sup>8</sup> | the user, step by step; steps are put together in libraries <sup>8</sup> | nothing: the control is the user's <sup>8</sup> | C <sup>8</sup> | “The language implementation guarantees the correctness of these primitive rewrites with a set of effect analyses.” <sup>8</sup> |
# | Halide | **moves that keep the result, or what can be proved is allowed**: loops over pure variables have no order to keep; that of a reduction is changed where Halide proves it safe, or the user says so <sup>9, 10</sup> | the user writes the schedule, or asks an auto-scheduler for one <sup>11</sup> | the auto-scheduler compares by estimated sizes, cores, cache and cost of a miss <sup>11</sup> | an object file, or code run at once in the same process <sup>12</sup> | “enables parallelizing over RVars even when Halide cannot prove that it is safe to do so” <sup>10</sup> |
# | tinygrad | **moves that keep the result**: every move gives an equivalent kernel, or raises an error and is skipped <sup>13, 14</sup> | fixed rules; or, where it is asked for, a beam search over a list of moves <sup>13, 14, 15</sup> | in a search, the shortest of a few runs; far too much work is dropped before <sup>14</sup> | one compiled program a kernel <sup>14</sup> | “it searches over a set of equivalent kernels which all perform the same operation and finds the one which performs the task the fastest” <sup>13</sup> |
# | TileLang | **results are compared**: those of candidates with those of a reference program <sup>16</sup> | the user writes the tiles; sizes, stages and threads may be tuned <sup>16</sup> | latency of each configuration <sup>16</sup> | kernels for a GPU, by way of TVM <sup>16, 17</sup> | “searches configuration spaces for the best performing kernel, compiles candidates in parallel, validates correctness, benchmarks them, and caches the best result for reuse” <sup>16</sup> |
# | AKG | not stated in our sources | a polyhedral scheduler <sup>18</sup> | an auto-tuner follows code generation <sup>18</sup> | kernels for NPUs; later versions for GPUs and CPUs too <sup>18, 19</sup> | “Unlike existing approaches that resort to manually written schedules, AKG leverages polyhedral schedulers to perform a much wider class of transformations” <sup>18</sup> |
# | Triton | not stated in our sources | the user cuts the work into blocks and lists their sizes; inside one the compiler decides <sup>20, 21</sup> | configurations are run; a model of the user's may prune them <sup>21</sup> | LLVM IR, then PTX or AMD's assembly <sup>21</sup> | “the Triton compiler makes heavy use of block-level data-flow analysis, a technique for scheduling iteration blocks statically” <sup>20</sup> |
# | XLA | not stated in our sources | passes of the compiler: what is fused, laid out, sent to a library <sup>22</sup> | on GPUs a model of time decides on fusions; kernels' parameters are tuned <sup>23, 24</sup> | LLVM IR, and native code from it <sup>22</sup> | “These backends emit the LLVM IR necessary to represent the HLO computation in an efficient manner, and then invoke LLVM to emit native code” <sup>22</sup> |
#
# Maps of this kind are on slides of many talks, and some put names in wrong places. SGLang, which
# one of them lists beside Halide and TVM, serves language models: it is no compiler of loops.
# Another slip of that talk: an e-graph is said to find a shortest *path*. What is extracted is one
# node for each class that is needed. Together they are an expression, and no path.
#
# Sources, with the version that was read:
#
# 1. loopy, run by us: loopy 2025.2
# 2. loopy, doc/misc.rst: [inducer/loopy](https://github.com/inducer/loopy) 0b84581
# 3. Apache TVM, python/tvm/tir/schedule/schedule.py, Schedule.parallel: [apache/tvm](https://github.com/apache/tvm) 072f020
# 4. Apache TVM documentation, MetaSchedule: Search-Based Auto-Tuning: [apache/tvm](https://github.com/apache/tvm) 060e40f
# 5. Tiramisu, tutorials/tutorial_autoscheduler/README.md: [Tiramisu-Compiler/tiramisu](https://github.com/Tiramisu-Compiler/tiramisu) 3c323f2
# 6. R. Baghdadi et al., Tiramisu: a polyhedral compiler for expressing fast and portable code, 2018: [arXiv 1804.10694](https://arxiv.org/abs/1804.10694), abstract
# 7. Tiramisu, README.md: [Tiramisu-Compiler/tiramisu](https://github.com/Tiramisu-Compiler/tiramisu) 008ad35
# 8. Exo, docs/Design.md: [exo-lang/exo](https://github.com/exo-lang/exo) 078fbcc
# 9. Halide, src/RDom.h, RDom: [halide/Halide](https://github.com/halide/Halide) 00da5dc
# 10. Halide, src/Func.h, Func::allow_race_conditions: [halide/Halide](https://github.com/halide/Halide) bb6092b
# 11. Halide tutorial, lesson 21: Auto-Scheduler: [halide/Halide](https://github.com/halide/Halide) 06a757b
# 12. Halide, README.md: [halide/Halide](https://github.com/halide/Halide) 011a655
# 13. tinygrad, docs/developer/speed.md: [tinygrad/tinygrad](https://github.com/tinygrad/tinygrad) 44fd923
# 14. tinygrad, tinygrad/codegen/opt/search.py: [tinygrad/tinygrad](https://github.com/tinygrad/tinygrad) 04c9f17
# 15. tinygrad, tinygrad/codegen/opt/heuristic.py: [tinygrad/tinygrad](https://github.com/tinygrad/tinygrad) 005b121
# 16. TileLang, docs/programming_guides/autotuning.md: [tile-ai/tilelang](https://github.com/tile-ai/tilelang) 0d74c21
# 17. TileLang, README.md: [tile-ai/tilelang](https://github.com/tile-ai/tilelang) 1088a14
# 18. J. Zhao et al., AKG: automatic kernel generation for neural processing units using polyhedral transformations, PLDI 2021: [doi 10.1145/3453483.3454106](https://doi.org/10.1145/3453483.3454106), abstract
# 19. AKG, README_en.md: [mindspore-ai/akg](https://github.com/mindspore-ai/akg) 63afce7
# 20. Triton documentation, programming guide, chapter 1: Introduction: [triton-lang/triton](https://github.com/triton-lang/triton) 5f14691
# 21. Triton, python/triton/runtime/autotuner.py: [triton-lang/triton](https://github.com/triton-lang/triton) 0094017
# 22. OpenXLA, docs/architecture.md: [openxla/xla](https://github.com/openxla/xla) 28ac9d3
# 23. T. Joerg, Cost models in XLA GPU: present and future: [openxla/xla, discussion 10065](https://github.com/openxla/xla/discussions/10065)
# 24. OpenXLA, docs/persisted_autotuning.md: [openxla/xla](https://github.com/openxla/xla) 31a7ef0

# %% [markdown] tags=["core"]
# ## What you can do now
#
# - **Count** schedules: tile sizes times orders. We counted those with every inner loop inside its
#   outer one.
# - **Choose** a tile for the registers: enough sums to hide the latency, and room for what is
#   multiplied.
# - **Write** a beam search: predict to sort out, measure to decide, keep several. **Tile** for each
#   cache.
# - **Extract** the cheapest expression out of all that are equal.
# - **Judge** a log: nothing beats the peak, and what begins in memory is carried at least once.
# - And if you went deeper: **describe** an operator, and **place** a compiler.
#
# So far each operation stood alone. Lesson 10 joins two of them, so that what the first one makes
# never goes to memory.

# %% tags=["core"]
rl.my_guesses()

# %% tags=["core"]
rl.progress("09")
