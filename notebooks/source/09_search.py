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
# In lesson 08 you changed the order of loops by hand. Such an order, together with its lanes and
# unrolled loops, is a **schedule**. The next cell gives the machine ten seconds and one core to
# find one for a product of two 384 × 384 matrices. It starts from the three plain loops. Guess how
# far it gets.
#
# <details><summary>40 minutes, 90 with the exercises: what you learn, and what you need</summary>
#
# - **Choose** the tile that fits the registers of a processor.
# - **Complete** a beam search, and **find** how wide it has to be.
# - **Tile** for two caches yourself.
# - **Extract** the cheapest of many equal expressions.
# - **Judge** the log of a search, and a claim about one.
# - After the *Deeper* parts: **describe** an operator by what it touches, and **place** a compiler
#   on a map.
#
# You need lessons 07 and 08. The *Deeper* parts add 25 minutes. A lecture shows some of it in 25.
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
# years. So the next cell measures it on the same core.

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
# copies an operand into the order in which it is read. Nobody tells it which move to make, when, or
# with what size.
#
# Each dot below is a schedule that was measured, in order from left to right. Whenever one was
# clearly faster than all before it, the line climbs a step, named after the last move. Pull the
# slider back to the first step, and read the loops as you climb. Which step pays most? And which
# did you make yourself in lesson 08?

# %% tags=["core"]
rl.search.trail(found, here, peer={"library": library}, after=first)

# %% [markdown] tags=["core"]
# ## Predict to weed out, measure to decide
#
# Why not try every schedule? Split each of the three loops once. Six loops have 720 orders. In half
# of these, the inner loop of a pair lies inside its outer one. With three pairs that leaves 90
# orders, and each of the three loops can have 14 tile sizes.

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
# 2. It **predicts** the time of every schedule that comes out, from bytes and roofs.
# 3. It checks the twelve most promising: are they legal? Then it compiles and **measures** them.
# 4. It goes on from the four fastest.
#
# A prediction takes a few milliseconds. A measurement takes many times longer, because the schedule
# has to be compiled first. But is the prediction good enough to decide? In the picture, press
# *against the prediction*. If all predictions were right, all dots would lie on the dashed line.

# %% tags=["core"]
rl.show.say(rl.conclude("09-predicted", found), after=first)

# %% [markdown] tags=["core"]
# Here is something that counting bytes does not show. In these four schedules, a tile of sums is
# meant to stay in registers while k runs. It has 16 columns of C, and 1, 4, 8 or 64 rows. With more
# rows, each number of B is used more often while it is there. By bytes alone, 64 rows are best.
# What do you expect?

# %% tags=["core"]
textbook = rl.loops.Nest({"i": N, "j": N, "k": N}, "C[i, j] += A[i, k] * B[k, j]")
rows = {}
for count in (1, 4, 8, 64):
    cut = textbook.split("j", 16).split("i", count).reorder("io", "jo", "k", "ii", "ji")
    rows[count] = cut.unroll("ii").vectorize("ji").measure(gemm)
rl.show.say(rl.conclude("09-rows", rows, here, found), after=first)

# %% [markdown] tags=["core"]
# With too few sums, each multiply-add waits for the one before it in its sum. With too many, the
# sums do not fit the registers: some go to the cache and come back, which is called *spilling*. The
# search has a rule for each case. People who write libraries know both, and choose the tile by
# hand.
#
# ### Exercise 1 · A tile in registers
#
# A processor has `registers` vector registers of `lanes` numbers, and `units` vector units. In
# every cycle each unit begins a multiply-add of vectors, and its result arrives `latency` cycles
# later. A tile of rows × vectors registers, each holding a vector of sums, stays there. In each
# step of k, its `vectors` vectors of B are loaded, each into a register. Then one number of A after
# another is loaded into all lanes of one more register. Every vector of sums in that number's row
# gets a multiply-add.
#
# Which tile fits, has enough vectors of sums to keep all units busy, and needs the fewest loads for
# each multiply-add? Little's law says how many are enough. Return (1) its rows, (2) its columns,
# counted in numbers, not in vectors. There is always exactly one best tile.


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
# Here is a search so small that you can see all of it. Each dot is a schedule, and each line leads
# to what one move turns it into. The lower a dot, the faster its schedule. The search knows none of
# the times in advance. It begins at *s*. Pull the slider: how many schedules must it keep in each
# round to find *g*?

# %% tags=["core"]
rl.search.tree()

# %% [markdown] tags=["core"]
# A search that keeps several schedules from round to round is a **beam search**. The number it
# keeps is the **width** of the beam. With width 1 it is *greedy*: it goes on from the fastest
# schedule alone. So it misses anything that begins with a slow step. A wider beam finds more, but
# not always: at width 3, two quick schedules push out the one that would have led to *g*.
#
# ### Exercise 2 · The line that makes it a beam
#
# `children[name]` lists the schedules that one move makes out of schedule `name`, and
# `seconds[name]` is its time. All times are different. In each round, everything new is timed. Then
# the `width` fastest are kept, out of the new ones and those kept before. In the loop below, one
# line is unfinished. Copy the loop into the function and finish the line. The function returns the
# fastest schedule and how many were timed. The example comes from the picture.
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
# With the same data, return the smallest width at which the search finds the fastest of all
# schedules in `seconds`. All of them can be reached from `start`. Your `beam` may help, and the
# picture shows the answer for its own graph.


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
# A search has one minute. With width 8 instead of 1, what it has found by then is …
#
# <details><summary><b>A</b> faster: it has looked at more schedules.</summary>
#
# The time is the same, so it measures about as many.
#
# </details>
#
# <details><summary><b>B</b> at least as fast: a wide beam keeps everything that a narrow one
# keeps.</summary>
#
# In the first round it does. After that, new schedules can push out the one that would have led on,
# as in the picture at width 3. And there are fewer rounds in a minute.
#
# </details>
#
# <details><summary><b>C</b> faster or slower, depending on the nest and the minute.</summary>
#
# **Right.** A wide beam measures more in each round, but gets through fewer rounds. Tools let their
# users choose the width.
#
# </details>
#
# <details><summary><b>D</b> the same: both end at the best schedule.</summary>
#
# Both would if they could measure everything.
#
# </details>
#
# Now you are the search.
#
# ### Exercise 4 · Tiles for two caches
#
# `nest` is the product of lesson 07 in `fp64`, for sizes like 64 × 60 × 72. The core has a first
# cache of 640 bytes and a second one of 16 KiB, both with lines of 32 bytes. Return a legal
# schedule that moves few bytes between the two caches, and few between the second cache and memory.
# We simulate both: below each cache, the bytes may be at most 1.45 times ours. You need only tiles;
# copies would count, too. Every step returns a new nest: `nest.tile({"i": 48})` cuts i into `io`
# and `ii`, and `ii` can be cut again.


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
# A schedule changes the order of the work. But is all the work needed? Let *A* and *B* be 1024 ×
# 1024 matrices and *v* a vector. (*AB*)*v* is a GEMM and a GEMV. *A*(*Bv*) gives the same result in
# exact arithmetic, but it is only two GEMVs: about 512 times fewer FLOPs. The next cell measures
# one GEMM and one GEMV on one core, with operands in the cache, and adds up the times. **How many
# times faster is *A*(*Bv*)?** Guess.

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
# frame holds different forms of one result, and lines lead from a form to what it needs. Press
# *run*. In round 1 the rule adds a second form to the frame of (*AB*)*v*. The old one stays.

# %% tags=["core"]
A, B = (rl.search.matrix(name, 1024, 1024) for name in "AB")
v = rl.search.vector("v", 1024)
rl.search.growth((A @ B) @ v, cost="flops")

# %% [markdown] tags=["core"]
# This is an **e-graph**. A frame is a *class*: everything in it is equal. Each entry in a class is
# a *node*: an operation whose arguments are classes, not single expressions. So a few nodes stand
# for a great many expressions. When no rule adds anything new, the e-graph is *saturated*. Then you
# take out the cheapest expression.
#
# ### Exercise 5 · The cheapest expression
#
# `classes` is a saturated e-graph. For each class it lists the nodes, each as its own cost and the
# list of its arguments, which are classes. To compute a class, choose one of its nodes and compute
# all its arguments. A class that is needed twice is paid for twice, wherever it stands. Some nodes
# lead back to their own class, but going round in a circle computes nothing. Return the least cost
# of the class `root`.


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
# A search finds an order of the work. It cannot beat the peak. Operands that begin in memory must
# be carried in at least once. If a log says otherwise, the log is wrong. That happens: someone
# reads the clock before the work is done, or nobody checks the result.
#
# ### Exercise 6 · Rows that cannot be true
#
# A search for a product of two `n` × `n` matrices left a `log`. Each row is a list: the measured
# seconds, the name of a level, and the bytes that a simulator counted to and from that level. The
# two factors begin in memory. The result is only written, and ends up in memory. Everything passes
# through every level on its way. Work and traffic overlap. `peak` is in FLOP/s, and `bandwidths`
# gives byte/s for each level. Return a list with True for each row that cannot be true, and False
# for every other row.


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
# *Claim: on a laptop GPU, a beam search found a way to multiply two 1024 × 1024 matrices in `fp32`
# in 0.3 ms.* The GPU has 14 cores of 128 lanes. Each lane begins a multiply-add in every cycle, at
# 1.4e9 cycles a second. Its memory delivers 150e9 byte/s. A slide gives 0.023 byte/FLOP for this
# machine, but no time. The 0.3 ms is ours.
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
# lanes and bandwidth. **Efficiency** is the share of them that you use. A search over schedules
# pulls only the third lever. *A*(*Bv*) pulled the first.
#
# When a program waits for memory, people blame the hardware. But if one pass over a vector does
# what two passes did, half of the bytes no longer have to be carried. That is the first lever
# again.
#
# ### Vote, or choose for yourself
#
# GPT-2 keeps what it computed for earlier tokens, in the KV cache of lesson 05. After 1024 tokens,
# by the roofs of an A100 with its matrix units in `bf16`, it makes more than four times as many
# tokens a second as it would without the cache, at less than a hundredth of the FLOP/s. Which lever
# is that?
#
# <details><summary><b>A</b> None: the FLOP/s fell, so it is slower.</summary>
#
# FLOP/s are not the goal. You want tokens, and you get more than four times as many.
#
# </details>
#
# <details><summary><b>B</b> Efficiency: the hardware is used better.</summary>
#
# The arithmetic units are nearly idle now. Measured against their peak, the efficiency fell.
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
# per second, never the rates of different work.
#
# </details>

# %% [markdown] tags=["deep"]
# ## Deeper: why keep the old form?
#
# The obvious way to use rules is greedy: take the first in the list that fits, again and again.
# Look at what that does to 2*a*/2, where *a* holds integers. The rules are 2*x* → *x* shifted left
# by one bit, (*sx*)/*t* → (*s*/*t*)*x*, and 1*x* → *x*:

# %% tags=["deep", "nbval-check-output"]
a = rl.search.vector("a", 1000, "int32")
rules = ["shift", "multiply-divide", "once"]
print(*rl.search.greedy(2 * a / 2, rules), sep="   →   ")

# %% [markdown] tags=["deep"]
# Two rules fitted. The shift came first in the list, and now no rule fits any more. An e-graph
# keeps both forms. Watch two frames become one in round 2:

# %% tags=["deep"]
rl.search.growth(2 * a / 2, rules)

# %% [markdown] tags=["deep"]
# The second rule assumes that 2*a* fits into an `int32`. Where it does not, 2*a*/2 is not *a*, and
# a compiler has to know that it may ignore this.

# %% [markdown] tags=["deep"]
# ## Deeper: what more resources bring
#
# Resources are a lever, too. By the datasheet, the matrix units of an A100 do 16 times the FLOP/s
# in `bf16` that its vector units do in `fp32`. *Claim: a program that uses them is 16 times as
# fast.* Here is the gain by the roofs, for N × N products of `bf16` numbers. The vector units
# compute them in `fp32`, and each matrix is carried once:

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
# the byte/FLOP of this chip with its vector units, and with its matrix units. A chip on its own has
# no such number; a chip with a number type and a unit does.

# %% [markdown] tags=["deep"]
# ## Deeper: one description for all operators
#
# The search knew nothing about matrices. We gave it loops, and a line that says which elements are
# touched. Much of deep learning can be written this way: *data* with a shape, the index of each
# array as a sum of loops, and what is done with the numbers. From that alone the package works out
# what lessons 01 to 04 counted by hand, here in `fp32`. It also names the loop whose turns need the
# fewest new cache lines, or the first of several. By that count alone, this loop would go
# innermost; lanes, or a loop of two turns, may change that. A loop that does not appear in the
# result is a reduction: a sum, or for max-pool a maximum.

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
# Each of these is a nest of loops, so you can search it just like the product. Here is a
# convolution. Each line is a schedule that was the fastest so far. Which of its moves did the
# product use, too?

# %% tags=["deep"]
windows = rl.search.search(ops.conv2d(1, 30, 30, 32, 32, 3).nest(), seconds=5, progress=False)
for one in windows.records():
    print(f"{rl.si(windows.rate(one), 'FLOP/s'):>13}  {windows.short(one)}")

# %% [markdown] tags=["deep"]
# And here is an operator of your own, from a line of text. Each row of *X* is multiplied by a row
# of weights:

# %% tags=["deep", "nbval-check-output"]
rl.search.operator("Y[i, j] = X[i, j] * W[j]", {"i": 4096, "j": 4096})

# %% [markdown] tags=["deep"]
# ## Deeper: a map of compilers
#
# Real compilers differ in three decisions. Who chooses the schedule: the user, the compiler, or a
# search? What makes it legal? And what scores it: a clock or a model? Here are some, sorted by the
# second question, each with a fact from its source code, its paper or documentation, or from a run
# of our own.
#
# <details><summary>The map of ten compilers</summary>
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
# </details>
#
# Two names often end up on the wrong shelf. SGLang serves language models: it does not compile
# loops. And an e-graph does not find a shortest *path*. It gives one node for each class that is
# needed, and together these nodes form an expression.
#
# <details><summary>24 sources, with the version that was read</summary>
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
#
# </details>

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - **90 × 14³, about 250 thousand**: schedules of three loops, each split once. Nobody tries them
#   all.
# - **12 vectors of sums**: the best tile in 16 registers, as a rule, next to its operands. Ten are
#   enough where two units take five cycles.
# - **2N³ and 3N²**: the FLOPs of a product, and the numbers that it has to carry. No schedule
#   changes either.
# - **About N/2**: how many times fewer FLOPs *A*(*Bv*) needs, for N × N matrices.
#
# ## What you can do now
#
# - **Choose** a tile for the registers: enough sums to hide the latency, and room for the operands.
# - **Complete** a beam search: predict to weed out, measure to decide, keep several. **Tile** for
#   each cache.
# - **Extract** the cheapest of all equal expressions.
# - **Judge** a log: nothing beats the peak, and whatever begins in memory is carried at least once.
# - And if you went deeper: **describe** an operator, and **place** a compiler on the map.
#
# So far each operation stood alone. [Lesson 10](10_fusion.ipynb) joins several of them, so that the
# results in between never go to memory.

# %% tags=["core"]
rl.my_guesses("09")

# %% tags=["core"]
rl.progress("09")
