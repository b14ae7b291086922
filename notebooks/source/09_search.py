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
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **Can a search beat your own schedule? And what can no search beat?**
#
# In lesson 08 you changed the order of loops by hand. Such an order, with all its marks, is a
# **schedule**. The next cell gives a machine ten seconds and one core to find one, for a product of
# two 384 × 384 matrices. It begins with the three plain loops. Guess how far it gets.
#
# <details><summary>What you will be able to do, the time, and what you need</summary>
#
# - **Choose** the tile that fits the registers of a processor.
# - **Complete** a beam search, and **find** how wide it has to be.
# - **Tile** for two caches yourself.
# - **Extract** the cheapest of many equal expressions.
# - **Judge** the log of a search, and a claim about one.
# - After the *Deeper* parts: **describe** an operator by what it touches, and **place** a compiler
#   on a map.
#
# Reading takes about 40 minutes, with the exercises 90; the *Deeper* parts add 25. A lecture shows
# some of it in 25. You need lessons 07 and 08.
#
# </details>

# %% tags=["core"]
import rooflab as rl

N = 384
found = rl.search.search(N, seconds=10)
first = rl.ask("09-search", found.naive.seconds / found.winner.seconds)
first

# %% [markdown] tags=["core"]
# The loops do not know that they are a product. A library does, and experts have tuned it for
# years. So the next cell measures the library on the same core.

# %% tags=["core"]
gemm = rl.gemm(N, N, N, accumulate=True)
library = rl.measure(gemm, threads=1, cache="warm")
here = rl.this_machine(threads=1)
rl.show.say(rl.conclude("09-search", found, library, here), after=first)

# %% [markdown] tags=["core"]
# ## Step by step
#
# The search knows five **moves**. Each is a small change that you know from lessons 07 and 08: it
# swaps two loops, puts the innermost loop into lanes, unrolls a loop, cuts a loop into tiles, or
# copies an operand into the order in which it is read. Nobody says which move to make, in which
# order, or with which size.
#
# Each dot below is a schedule that was measured, in order from left to right. When one was clearly
# faster than all before it, the line climbs a step. The step has the name of the last move. Pull
# the slider back to the first step, and read the loops as you climb. Which step pays most? And
# which of them did you make yourself in lesson 08?

# %% tags=["core"]
rl.search.trail(found, here, peer={"library": library}, after=first)

# %% [markdown] tags=["core"]
# ## Predict to sort out, measure to decide
#
# Why does it not try every schedule? Split each of the three loops once. Six loops have 720 orders.
# In half of them the inner loop of a pair is inside its outer one. With three pairs that leaves 90
# orders, and each loop can have 14 tile sizes.

# %% tags=["core", "nbval-check-output"]
import math
from itertools import product

tiles = sum(N % tile == 0 for tile in range(2, N))
count = tiles**3 * math.factorial(6) // 2**3
print(f"{count / 1000:.0f} thousand schedules, at ten a second {count / 10 / 3600:.1f} hours")

# %% [markdown] tags=["core"]
# Lanes, copies and second splits multiply that again. So the search must choose what to measure. It
# works in *rounds*:
#
# 1. It applies all moves to the four fastest schedules so far.
# 2. It **predicts** the time of everything that comes out, from bytes and roofs.
# 3. It checks the twelve most promising: are they legal? Then it compiles and **measures** them.
# 4. It goes on from the four fastest.
#
# A prediction takes a few milliseconds. A measurement takes many times longer, because its schedule
# has to be compiled first. But is the prediction good enough to decide? In the picture, press
# *against the prediction*. If all predictions were right, all dots would lie on the dashed line.

# %% tags=["core"]
rl.show.say(rl.conclude("09-predicted", found), after=first)

# %% [markdown] tags=["core"]
# Here is something that a count of bytes does not see. In these four schedules a tile of sums is
# meant to stay in registers while k runs. It has 16 columns of C, and 1, 4, 8 or 64 rows. With more
# rows, each number of B is used more often while it is there. By bytes alone, 64 rows are best.
# What do you expect?

# %% tags=["core"]
textbook = rl.loops.Nest({"i": N, "j": N, "k": N}, "C[i, j] += A[i, k] * B[k, j]")
rows = {}
for count in (1, 4, 8, 64):
    cut = textbook.split("j", 16).split("i", count).reorder("io", "jo", "k", "ii", "ji")
    rows[count] = cut.unroll("ii").vectorize("ji").measure(gemm)
rl.conclude("09-rows", rows, here)

# %% [markdown] tags=["core"]
# With few sums, each multiply-add waits for the one before it in its sum. With too many, the sums
# do not fit the registers: some go to the cache and come back, which is called *spilling*. The
# search has a rule for each. People who write libraries know both, and choose the tile by hand.
#
# ### Exercise 1 · A tile in registers
#
# A processor has `registers` vector registers of `lanes` numbers. It has `units` vector units. In
# every cycle each unit begins a multiply-add of vectors, and its result is there `latency` cycles
# later. A tile of rows × vectors registers, each a vector of sums, stays there. In each step of k,
# its `vectors` vectors of B are loaded, each into a register. Then one number of A after another is
# loaded into all lanes of one more register. Every vector of sums in its row gets a multiply-add.
#
# Which tile fits, has enough vectors of sums to keep all units busy, and needs the fewest loads for
# each multiply-add? Little's law gives the number that is enough. Return (1) its rows, (2) its
# columns, counted in numbers, not in vectors. There is always exactly one best tile.


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
# Here is a search so small that you can see all of it. Each dot is a schedule, and a line leads to
# what one move makes of it. The lower a dot, the faster its schedule. The search knows none of the
# times in advance. It begins at *s*. Pull the slider: how many schedules must it keep in each
# round, so that it finds *g*?

# %% tags=["core"]
rl.search.tree()

# %% [markdown] tags=["core"]
# A search that keeps several schedules from round to round is a **beam search**. How many it keeps
# is the **width** of the beam. With width 1 it is *greedy*: it goes on from the fastest schedule
# alone. So it misses whatever begins with a slow step. A wider beam finds more, but not always: at
# width 3, two quick schedules push out the one that would have led to *g*.
#
# ### Exercise 2 · The line that makes it a beam
#
# `children[name]` lists the schedules that one move makes of a schedule, and `seconds[name]` is the
# time of one. All times are different. In a round, everything new is timed. Then the `width`
# fastest are kept, out of those kept before and the new ones. The loop below lacks one line. Copy
# it into the function, and add the line. It returns the fastest schedule and how many were timed.
# The example is the picture.
#
# ```python
# kept, timed, new = [], set(), {start}
# while new:
#     timed |= new
#     kept = ...
#     new = {child for name in kept for child in children[name]} - timed
# return kept[0], len(timed)
# ```


# %% tags=["core", "answer"] rooflab={"exercise": "09-beam"}
def beam(children, seconds, start, width):
    # BEGIN SOLUTION
    kept, timed, new = [], set(), {start}
    while new:
        timed |= new
        kept = sorted({*kept, *new}, key=seconds.get)[:width]
        new = {child for name in kept for child in children[name]} - timed
    return kept[0], len(timed)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("09-beam", beam)

# %% [markdown] tags=["core"]
# ### Exercise 3 · How wide does it have to be?
#
# With the same data, return the least width with which the search finds the fastest of all
# schedules in `seconds`. All of them can be reached from `start`. Your `beam` may help, and the
# picture shows what comes out for its own graph.


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
# ### Vote, or choose for yourself
#
# A search has one minute. With width 8 instead of 1, what it finds after that minute is …
#
# <details><summary><b>A</b> faster: it has looked at more schedules.</summary>
#
# The time is the same, so about as many are measured.
#
# </details>
#
# <details><summary><b>B</b> at least as fast: a wide beam keeps all that a narrow one
# keeps.</summary>
#
# It does in the first round. After that, new schedules can push out the one that would have led
# on, as in the picture at width 3. And there are fewer rounds in a minute.
#
# </details>
#
# <details><summary><b>C</b> faster or slower, which depends on the nest and the minute.</summary>
#
# **Right.** A wide beam measures more in each round, and gets through fewer rounds. Tools leave the
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
# Now take the place of the search.
#
# ### Exercise 4 · Tiles for two caches
#
# `nest` is the product of lesson 07 in `fp64`, for sizes like 64 × 60 × 72. Its core has a first
# cache of 640 bytes and a second one of 16 KiB, both in lines of 32 bytes. Return a legal schedule
# that moves few bytes between the two, and few between the second one and memory. Both are
# simulated, and each may be at most 1.45 times what ours moves. You need tiles only; copies would
# count, too. Every step returns a new nest: `nest.tile({"i": 48})` cuts i into `io` and `ii`, and
# `ii` can be cut again.


# %% tags=["core", "answer"] rooflab={"exercise": "09-tiles"}
def two_caches(nest):
    # BEGIN SOLUTION
    outer = nest.tile({"i": 24, "j": 24, "k": 24})
    return outer.tile({"ii": 4, "ji": 4, "ki": 4})
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("09-tiles", two_caches)

# %% [markdown] tags=["core"]
# ## Change the sum, not the loops
#
# A schedule changes the order of the work. Is all the work needed? Let *A* and *B* be 1024 × 1024
# matrices and *v* a vector. (*AB*)*v* is a GEMM and a GEMV. *A*(*Bv*) gives the same result in
# exact arithmetic, and is two GEMVs: 512 times fewer FLOPs. The next cell measures one GEMM and one
# GEMV on one core, with operands in the cache, and adds up. **How many times faster is *A*(*Bv*)?**
# Guess.

# %% tags=["core"]
matrix, vector = rl.gemm(1024, 1024, 1024), rl.gemv(1024, 1024)
timed = [rl.measure(one, threads=1, cache="warm") for one in (matrix, vector)]
gain = (timed[0].median_s + timed[1].median_s) / (2 * timed[1].median_s)
second = rl.ask("09-rewrite", gain)
second

# %% tags=["core"]
rl.show.say(rl.conclude("09-rewrite", timed[0], timed[1]), after=second)

# %% [markdown] tags=["core"]
# How does a machine find that? With a *rewrite rule*: (*XY*)*Z* = *X*(*YZ*). In the picture, each
# frame holds forms of one result, and a line leads to each thing that a form needs. Pull the slider
# back to the start. In round 1 the rule adds a second form to the frame of (*AB*)*v*. The old one
# stays.

# %% tags=["core"]
A, B = (rl.search.matrix(name, 1024, 1024) for name in "AB")
v = rl.search.vector("v", 1024)
rl.search.growth((A @ B) @ v, cost="flops")

# %% [markdown] tags=["core"]
# This is an **e-graph**. A frame is a *class*: everything in it is equal. What stands in a class is
# a *node*: an operation whose arguments are classes, not single expressions. So a few nodes stand
# for a great many expressions. When no rule adds anything, the e-graph is *saturated*. Then the
# cheapest expression is taken out of it.
#
# ### Exercise 5 · The cheapest expression
#
# `classes` is a saturated e-graph. For each class it lists the nodes in it, each as its own cost
# and the list of its arguments, which are classes. To compute a class, choose one of its nodes and
# compute all its arguments. A class that is needed twice is paid twice, wherever it stands. Some
# nodes lead back to their own class, and going round in a circle computes nothing. Return the least
# cost of the class `root`.


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
# ## What no search can beat
#
# A search finds an order of the work. It does not beat the peak. Operands that begin in memory must
# be carried from it at least once. If a log says otherwise, the log is wrong. That happens: a clock
# was read before the work was done, or nobody compared the result.
#
# ### Exercise 6 · Rows that cannot be true
#
# A search for a product of two `n` × `n` matrices left a `log`. Each row is a list: the seconds as
# measured, the name of a level, and the bytes that a simulator counted from and to that level. The
# two factors begin in memory. The result is only written, and ends in memory. On its way,
# everything passes every level. Work and traffic overlap. `peak` is in FLOP/s, and `bandwidths`
# gives byte/s for each level. Return a list with True for each row that cannot be true, and False
# for each other row.


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
# *Claim: on the GPU of a laptop, a beam search found a product of two 1024 × 1024 matrices in
# `fp32` that takes 0.3 ms.* The GPU has 14 cores of 128 lanes. Each lane begins a multiply-add in
# every cycle, at 1.4e9 cycles a second. Its memory brings 150e9 byte/s. A slide gives 0.023
# byte/FLOP for this machine, and no time. We added the 0.3 ms.
#
# ### Exercise 7 · Could it be?
#
# Set `verdict` to (1) the byte/FLOP of the machine: its bandwidth over its peak, (2) the least
# seconds for the 2 · 1024³ FLOPs, (3) `"possible"` or `"impossible"` for the 0.3 ms.


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
# $$\text{time} = \frac{\text{work}}{\text{resources} \times \text{efficiency}}$$
#
# **Work** is the FLOPs that are asked for, and each operand carried once. **Resources** are cores,
# lanes and bandwidth. **Efficiency** is the share of them that is used. A search over schedules
# pulls the third lever only. *A*(*Bv*) pulled the first.
#
# When a program waits for memory, people blame the hardware. But if one pass over a vector does
# what two passes did, half of the bytes need not be carried at all. That is the first lever again.
#
# ### Vote, or choose for yourself
#
# GPT-2 keeps what it computed for earlier tokens, in the KV cache of lesson 05. After 1024 tokens,
# in `bf16` and by the roofs of an A100 with its matrix units, it makes more than four times as many
# tokens a second as without the cache, at less than a hundredth of the FLOP/s. Which lever is that?
#
# <details><summary><b>A</b> None: the FLOP/s fell, so it is slower.</summary>
#
# FLOP/s are not the goal. You want tokens, and there are more than four times as many.
#
# </details>
#
# <details><summary><b>B</b> Efficiency: the hardware is used better.</summary>
#
# The arithmetic units are nearly idle now. Measured by their peak, the efficiency fell.
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
# ## Deeper: why keep the old form?
#
# The obvious way to use rules is greedy: take the first of the list that fits, again and again.
# Look what that does to 2*a*/2, where *a* holds integers. The rules are 2*x* → *x* shifted left
# by one bit, (*sx*)/*t* → (*s*/*t*)*x*, and 1*x* → *x*:

# %% tags=["deep", "nbval-check-output"]
a = rl.search.vector("a", 1000, "int32")
rules = ["shift", "multiply-divide", "once"]
print(*rl.search.greedy(2 * a / 2, rules), sep="   →   ")

# %% [markdown] tags=["deep"]
# Two rules fitted. The shift stood first in the list, and now no rule fits any more. An e-graph
# keeps both forms. Look how two frames become one in round 2:

# %% tags=["deep"]
rl.search.growth(2 * a / 2, rules)

# %% [markdown] tags=["deep"]
# The second rule assumes that 2*a* is no larger than an `int32` can be. Where it is larger, 2*a*/2
# is not *a*, and a compiler has to know that it may ignore this.

# %% [markdown] tags=["deep"]
# ## Deeper: what more resources bring
#
# Resources are a lever, too. By the datasheet, the matrix units of an A100 do 16 times the FLOP/s
# in `bf16` that its vector units do in `fp32`. *Claim: a program that uses them is 16 times as
# fast.* Here are the roofs' times of N × N products of `bf16` numbers, computed in `fp32` by the
# vector units, each matrix carried once:

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
# The gain is 16 only where nothing but arithmetic takes time. And the last line has two numbers:
# the byte/FLOP of this chip with its vector units, and with its matrix units. A chip alone has no
# such number; a chip with a number type and a unit has one.

# %% [markdown] tags=["deep"]
# ## Deeper: one description for all operators
#
# The search knew nothing of matrices. It was given loops, and a line that says which elements are
# touched. Much of deep learning can be written so: *data* with a shape, for each of them the index
# as a sum of loops, and what is done with the numbers. From that alone the package reads what
# lessons 01 to 04 counted by hand, here in `fp32`. It also names a loop whose turns need the fewest
# new cache lines, the first of them where several need as few. By that count alone it would stand
# innermost; lanes, or a loop of two turns, may decide otherwise. A loop that the result does not
# name is a reduction: a sum, or for max-pool a maximum.

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
# Each line is a schedule that was the fastest so far. Which of its moves did the product make, too?

# %% tags=["deep"]
windows = rl.search.search(ops.conv2d(1, 30, 30, 32, 32, 3).nest(), seconds=5, progress=False)
for one in windows.records():
    print(f"{rl.si(windows.rate(one), 'FLOP/s'):>13}  {windows.short(one)}")

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
# Two names are often put on the wrong shelf. SGLang serves language models: it does not compile
# loops. And an e-graph does not find a shortest *path*. It gives one node for each class that is
# needed, and together these are an expression.
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
# ## Numbers worth keeping
#
# - **90 × 14³, about 250 thousand**: schedules of three loops, each split once. Nobody tries all.
# - **12 vectors of sums**: what 16 registers have room for, beside the operands. Ten are enough
#   where two units take five cycles.
# - **2N³ and 3N²**: the FLOPs of a product, and the numbers that it has to carry. No schedule
#   changes them.
# - **N/2**: how many times fewer FLOPs *A*(*Bv*) needs, for N × N matrices.
#
# ## What you can do now
#
# - **Choose** a tile for the registers: enough sums to hide the latency, and room for what is
#   multiplied.
# - **Complete** a beam search: predict to sort out, measure to decide, keep several. **Tile** for
#   each cache.
# - **Extract** the cheapest out of all equal expressions.
# - **Judge** a log: nothing beats the peak, and what begins in memory is carried at least once.
# - And if you went deeper: **describe** an operator, and **place** a compiler.
#
# So far each operation stood alone. Lesson 10 joins two of them, so that what the first one makes
# never goes to memory.

# %% tags=["core"]
rl.my_guesses("09")

# %% tags=["core"]
rl.progress("09")
