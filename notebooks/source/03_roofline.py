# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 03 · The roofline
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **What bounds this operation on that machine?**
#
# <details><summary>65 minutes, 90 with the exercises: what you learn, and what you need</summary>
#
# - **sort** an operation before it runs: limited by memory, by computing, or by the call itself,
# - **compute** the ridge, the attainable speed and the shortest time, for any operation on any
#   machine,
# - **judge** a rule of thumb and a benchmark log: which figures cannot be true,
# - after the *Deeper* parts: **predict** a measured time to within a quarter, and **catch** a
#   datasheet that lies.
#
# You need lessons 00 and 01; from 02 it helps to know that data may be *warm*, in a cache, or
# *cold*, in memory. The *Deeper* parts take 50 minutes more. A lecture shows some of it in 25.
#
# </details>

# %% tags=["core"]
import rooflab as rl
from rooflab.measure.caches import last_level_bytes
from rooflab.predict.estimate import mix_of

# %% [markdown] tags=["core"]
# ## Ten operations
#
# Here are ten operations on `fp32` numbers. Six of them run again and again on the same operands,
# which then stay in the nearest cache that can hold them, if any: warm. The other four are larger,
# and their operands are cleared from the caches before each call: cold. The last one is a GEMV with
# 64 vectors (`batch=64`) that share one matrix, the operand `a`, which is read once for all.

# %% tags=["core", "nbval-check-output"]
warm = [rl.axpy(256), rl.axpy(20_000), rl.gemv(32, 32), rl.gemv(1024, 1024)]
warm += [rl.gemm(8, 8, 8), rl.gemm(256, 256, 256)]
long = max(2**24, last_level_bytes() // 2)
cold = [rl.axpy(long), rl.gemv(4096, 4096), rl.gemm(1024, 1024, 1024)]
cold += [rl.gemv(2048, 2048, batch=64, shared=("a",))]
cold[-1]

# %% [markdown] tags=["core"]
# Together, the vectors of the long AXPY are at least four times the size of your largest cache. The
# next cell measures all ten on one core. It takes a few seconds, and keeps the times to itself.

# %% tags=["core"]
here = rl.this_machine(threads=1)
measured = [rl.measure(op, cache="warm", threads=1) for op in warm]
measured += [rl.measure(op, threads=1) for op in cold]
rate = here.bandwidth(mix=mix_of(cold[0], here, "dram"))
print(f"the long AXPY has {long:,} numbers; one core has a peak of", end=" ")
print(f"{rl.si(here.peak('fp32'), 'FLOP/s')} and {rl.si(rate, 'B/s')} with AXPY's mix")
rl.conclude("02-cache")

# %% [markdown] tags=["core"]
# Start with three of them: **how long do they take?** For the second, the long AXPY, its length and
# the bandwidth are all that you need. For the third, peak and bandwidth give a bound, which it
# cannot beat. The first is a pure guess. Make all three guesses: they will hang in a picture below.

# %% tags=["core"]
tiny = rl.ask("03-tiny", 1e9 * measured[4].median_s)
tiny

# %% tags=["core"]
stream = rl.ask("03-stream", 1e3 * measured[6].median_s)
stream

# %% tags=["core"]
many = rl.ask("03-many", 1e3 * measured[9].median_s)
many

# %% [markdown] tags=["core"]
# ## Sort them
#
# Three things can keep an operation from being faster, as long as there is enough to do at once.
#
# - **Memory**: the operands do not arrive fast enough, from a cache or from the main memory.
# - **Compute**: the operands are there, and the core is busy with the arithmetic.
# - **Overhead**: the call itself. Python hands the operation over, the library looks at its
#   arguments and chooses a routine, all before the first number is touched.
#
# A fourth is not in this lesson's pictures: a chain in which each step has to wait for the one
# before, such as a list in which every entry says where to find the next. It takes the *latency* of
# one step times the number of steps.
#
# Which of the three takes most of the time? Put each card where you think it belongs. When all ten
# are placed, ask what the model of this course says, and see whether the clock agrees.

# %% tags=["core"]
cards = rl.sort("03-ten", measured)
cards

# %% [markdown] tags=["core"]
# <details><summary>Three of them are there to catch you: open this when you have sorted</summary>
#
# The product of 8×8 matrices is a GEMM, yet hardly any of its time is arithmetic. AXPY on 20 000
# numbers never sees the main memory, but memory limits it all the same: a cache is memory too. And
# the GEMV with 64 vectors has left the other GEMVs behind: it does 64 times the arithmetic on the
# same matrix.
#
# </details>

# %% [markdown] tags=["core"]
# An operation's name does not tell you what bounds it. Its size, its number type, the place of its
# data and the machine do.

# %% [markdown] tags=["core"]
# ## One picture for all ten
#
# The same ten points, and one slider. Drag it slowly. At each stop, read the line below the
# picture. Orange markers are your three guesses; the gap to the point is how far off you were.

# %% tags=["core"]
asked = {measured[4].op: tiny, measured[6].op: stream, measured[9].op: many, "sorted": cards}
rl.live.morph(measured, machine=here, after=asked)

# %% [markdown] tags=["core"]
# On the dashed lines, the roof is not what stops you. Twice the work is twice the speed there,
# because a call costs the same. Small problems climb these lines until they reach the roof. In the
# last picture both axes are logarithmic, so neither has a zero. To draw the slope there, look at 1
# FLOP/byte: there it is as high as the bandwidth.

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# Your program makes a million calls, each for the product of two 8×8 matrices. What makes it
# faster?
#
# <details><summary><b>A</b> A processor with twice the peak.</summary>
#
# This is *GEMM is compute-bound*: a large GEMM is.
#
# </details>
#
# <details><summary><b>B</b> A memory with twice the bandwidth.</summary>
#
# This is *what is far from the peak must be waiting for memory*: it may be waiting for neither.
#
# </details>
#
# <details><summary><b>C</b> One call that does a thousand of these products.</summary>
#
# **Right.** Nearly all the time is calls, and this makes fewer of them.
#
# </details>
#
# <details><summary><b>D</b> Larger caches.</summary>
#
# This is *small things suffer from memory*: these fit the smallest cache there is.
#
# </details>

# %% [markdown] tags=["core"]
# ## The roof in three lines
#
# Leave out the lines of the calls. The rest of that picture comes from four figures: the machine's
# `peak` in FLOP/s and its `bandwidth` in byte/s, and the operation's FLOPs and bytes. The slope and
# the flat roof meet at the *ridge*. An operation **left of the ridge** is limited by memory, one
# **right of it** by computing: that is the whole verdict, unless the call gets in the way. Below,
# two of three functions are written for you.
#
# ### Exercise 1 · Time
#
# Speed is one view, time is the other, and in the end time is what counts. Write the third
# function: the shortest time in seconds. The checks ask about GPUs and other machines, without
# naming them. One of the operations is a copy, which has no FLOPs at all but still takes time. The
# argument `bytes` hides Python's own `bytes`.


# %% tags=["core", "answer"] rooflab={"exercise": "03-time"}
def ridge(peak, bandwidth):
    return peak / bandwidth


def attainable(intensity, peak, bandwidth):
    return min(peak, intensity * bandwidth)


def time(flops, bytes, peak, bandwidth):
    # BEGIN SOLUTION
    return max(flops / peak, bytes / bandwidth)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("03-time", time)

# %% [markdown] tags=["core"]
# All three go into your `mine.py`.

# %% tags=["core"]
rl.mine.save(ridge, attainable, time)

# %% [markdown] tags=["core"]
# Now let your function say what this core could do, and compare that with what it did. How many
# times its bound did each of the ten take? The bandwidth is the main memory's, measured with the
# operation's own mix of reading and writing. A ⚠ marks a measurement with a warning.

# %% tags=["core"]
lines = []
for one in measured:
    bandwidth = here.bandwidth(mix=mix_of(one.op, here, "dram"))
    bound = rl.mine.time(one.op.flops, one.op.bytes, here.peak("fp32"), bandwidth)
    far, doubt = one.median_s / bound, "⚠" if one.warnings else " "
    lines.append(f"{one.op.label:24} {one.cache} {doubt} {far:5.2f} times the bound")
rl.show.say(*lines, after=asked)

# %% tags=["core"]
rl.show.say(rl.conclude("03-bounds", measured, here), after=asked)

# %% [markdown] tags=["core"]
# Why does the mix matter?

# %% tags=["core"]
rl.conclude("03-slopes", here)

# %% [markdown] tags=["core"]
# ## The live roofline
#
# Here is everything in one picture, for this core and for the machines in the catalogue. Below it
# are things to try.

# %% tags=["core"]
rl.live.roofline(
    [here, *rl.machines()],
    measurements=measured,
    cache="both",
    overhead=True,
    band=(4, 8),
    ladder=True,
    after=asked,
)

# %% [markdown] tags=["core"]
# 1. **Cold and warm.** One operation is in focus and the rest are grey: press a name to switch. The
#    operation appears twice: *cold*, with its name, and *warm*. The rows beside the axes explain
#    the marks and give their rates. A thread joins what belongs together. Where the operands fit a
#    cache, warm is straight above cold, because the intensity is the same. Where they don't, the
#    two meet.
# 2. **Slide N down**, or pull GEMM itself to the left. Its marks walk to the left under the flat
#    roof, then *fall off* and follow the dashed line of the call. A thin line traces what was
#    measured at each N. Where does it leave the roof? The warm mark falls less, because a cold call
#    has to wait for memory before it can begin.
# 3. **Change the machine**, then the number type. The points move with the type, the roof with
#    both. The grey line is the previous machine, if it fits on these axes. *Same axes*, under
#    *more*, shows both in full. Watch the shaded band from 4 to 8 FLOP/byte: it stays put.
# 4. **Pull a roof** by its round handle: next year's machine. Which operations gain from twice the
#    bandwidth, and which from twice the peak? *Undo* brings back the real machine.
# 5. **Read where the time goes.** The first bar is the time that the roof allows. Each step begins
#    where the one before ended, and together they lead to the predicted time; the last,
#    *unexplained*, leads to what the clock said. Which step is longest at N = 64, and which at N =
#    4096? A machine from the catalogue has only a datasheet, so it has no steps. The steps are:
#     - *level and mix*: the operands came from a cache instead of the main memory (*DRAM*), or with
#       a mix of reading and writing other than the best;
#     - *call overhead*: the cost of the call, on top;
#     - *routine efficiency*: how close the library's routine comes to its roof, timed on this
#       machine;
#     - *unexplained*: everything else.

# %% [markdown] tags=["core"]
# ## Claim court: below 4, above 8
#
# The shaded band is a rule of thumb from a public web lesson, in our words: *below 4 FLOP/byte a
# kernel waits for memory; above 8 it is limited by computing*. A *kernel* is a program that does
# one operation, the inner part of a routine. That is really two rules. Let's try them on the
# catalogue, with the ordinary (*vector*) units of each machine. Many GPUs also have matrix units,
# but those come later.

# %% tags=["core", "nbval-check-output"]
for kind in ("fp32", "fp64"):
    having = [m for m in rl.machines().values() if m.has_peak(kind, "vector")]
    ridges = [rl.Roofline(m, kind, unit="vector").ridge for m in having]
    first, second = sum(r >= 4 for r in ridges), sum(r <= 8 for r in ridges)
    print(f"{kind}: of {len(ridges)} machines {first} keep the first rule, {second} the second")

# %% tags=["core"]
rl.conclude("03-thumb", here, rl.machine("h200-sxm"))

# %% [markdown] tags=["core"]
# ### Exercise 2 · Which rule holds?
#
# Return two truth values for a machine. Is everything below 4 FLOP/byte limited by memory? Is
# everything above 8 limited by computing? No ridge is exactly 4 or 8.


# %% tags=["core", "answer"] rooflab={"exercise": "03-thumb-rules"}
def holds(peak, bandwidth):
    # BEGIN SOLUTION
    at = peak / bandwidth
    return at >= 4, at <= 8
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("03-thumb-rules", holds)

# %% [markdown] tags=["core"]
# ## Claim court: higher intensity is faster
#
# It sounds like the moral of the whole picture: further right is higher up. A book on GPU
# performance makes it a rule, in our words: raising the intensity as far as possible is always the
# goal. On trial, then. Here are all the pairs among your ten in which one operation has more than
# twice the intensity of the other, but the *lower* speed.

# %% tags=["core"]
rl.show.say(rl.conclude("03-pairs", measured, here), after=asked)

# %% [markdown] tags=["core"]
# If two operations are stopped by different things, the call or a nearer cache, you may call the
# pair unfair. But even with one roof over both, the claim is false where it matters. Intensity is
# FLOPs ÷ bytes, so there are two ways to raise it: move fewer bytes, or do *more FLOPs*. The second
# alone never saved any time.
#
# The same book recommends packing: texts of different lengths go through a product without gaps,
# instead of being padded with zeros to the length of the longest. That, says the book, moves the
# kernel towards the compute side. Here is the count for eight texts of 64 to 512 rows each, and one
# product:

# %% tags=["core", "nbval-check-output"]
h100 = rl.Roofline("h100-sxm", "bf16")
lengths = (512, 384, 256, 256, 192, 128, 96, 64)
for way, total in {"padded": 8 * max(lengths), "packed": sum(lengths)}.items():
    op = rl.gemm(total, 4096, 4096, "bf16")
    print(f"{way}: {op.intensity:.0f} FLOP/byte, at best {rl.si(h100.time(op), 's')} on an H100")

# %% [markdown] tags=["core"]
# The intensity falls, yet the job is done 2.17 times as fast: the zeros were arithmetic too.
#
# ### Exercise 3 · The counterexample
#
# Four kernels do the same job in different ways; `flops` and `bytes` are lists of four. Each runs
# as fast as the roof of the machine allows. Find the one pair in which kernel `i` has the higher
# intensity and still takes longer than kernel `j`. Return `i, j`, counted from 0.


# %% tags=["core", "answer"] rooflab={"exercise": "03-counterexample"}
def counterexample(flops, bytes, peak, bandwidth):
    # BEGIN SOLUTION
    seconds = [max(f / peak, b / bandwidth) for f, b in zip(flops, bytes)]
    for i in range(4):
        for j in range(4):
            higher = flops[i] / bytes[i] > flops[j] / bytes[j]
            if higher and seconds[i] > seconds[j]:
                return i, j
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("03-counterexample", counterexample)

# %% [markdown] tags=["core"]
# What is true: *the roof* never falls when the intensity grows. Your own points may, because a
# library does not reach the roof with every shape. And you do not wait for FLOP/s. You wait for the
# job.
#
# ## Claim court: a benchmark log
#
# Here are eight rows of an invented log. Each gives an operation, its number type, the measured
# time, and what the tool computed from it: a rate, and its share of the machine's peak or
# bandwidth. *AXPY* reads two vectors and writes one, and was called over and over. `tf32` is a type
# for matrix units only: `fp32` numbers, but the product uses fewer of their digits. *Sparse
# products* skip two of every four numbers of one matrix, which have to be zero. Manufacturers print
# twice the peak for them.
#
# | row | machine | operation | type | time | the log says |
# |---|---|---|---|---|---|
# | 1 | H100 SXM | GEMM 8192×8192×8192 | bf16 | 1.55 ms | 709 TFLOP/s, 72 % of the peak |
# | 2 | RTX 4090 | AXPY 4,000,000 | fp32 | 16.5 µs | 2909 GB/s, 289 % of the bandwidth |
# | 3 | A100 SXM 80 GB | GEMM 8192×8192×8192 | fp32 | 7.60 ms | 144.7 TFLOP/s, 742 % of the peak |
# | 4 | H200 SXM | AXPY 268,435,456 | fp32 | 780 µs | 3846 GB/s, 80 % of the bandwidth |
# | 5 | H100 SXM | AXPY 536,870,912 | bf16 | 1.15 ms | 2801 GB/s, 84 % of the bandwidth |
# | 6 | H100 SXM | GEMM 4096×4096×4096 | bf16 | 200 µs | 344 TFLOP/s, 35 % of the peak |
# | 7 | B200 | GEMM 16384×16384×16384 | bf16 | 5.00 ms | 1759 TFLOP/s, 39 % of the peak |
# | 8 | A100 SXM 80 GB | AXPY 268,435,456 | fp32 | 3.30 ms | 976 GB/s, 48 % of the bandwidth |
#
# ### Exercise 4 · The impossible rows
#
# Set `rows` to eight of these words, in the order of the rows. The times are true, whatever the
# tool made of them. A word may occur more than once, or never.
#
# - `in_order`: rate and share follow from the time, and nothing is suspicious.
# - `warm_cache`: a cache was timed, not the memory.
# - `other_type`: the computation did not use the row's type.
# - `sparse_peak`: the share was computed from the peak for *sparse* products, twice the true one.
# - `gib`: a unit of 2³⁰ bytes is called GB.
# - `multiply_adds`: a multiply-add was counted as one FLOP.
# - `cannot_tell`: it is slow, and nothing in the row says why.

# %% tags=["core", "nbval-check-output"]
for name in ("h100-sxm", "rtx-4090", "a100-sxm-80", "h200-sxm", "b200"):
    m = rl.machine(name)
    peaks = ", ".join(
        f"{kind} {rl.si(m.peak(kind), 'FLOP/s')}" for kind in ("fp32", "tf32", "bf16")
    )
    print(f"{m.name}: {peaks}, {rl.si(m.bandwidth(), 'B/s')}, L2 {rl.si(m.capacities['l2'], 'B')}")

# %% tags=["core", "answer"] rooflab={"exercise": "03-log"}
in_order, warm_cache, other_type, gib = "in order", "warm cache", "other type", "GiB"
multiply_adds, sparse_peak, cannot_tell = "multiply-adds", "sparse peak", "cannot tell"
# BEGIN SOLUTION
rows = (in_order, warm_cache, other_type, gib, in_order, multiply_adds, sparse_peak, cannot_tell)
# END SOLUTION

# %% tags=["core", "nbval-check-output"]
rl.check("03-log", rows)

# %% [markdown] tags=["deep"]
# ## Deeper: did the ridge grow?
#
# The book once more, in our words: newer GPUs gain compute far faster than bandwidth, so intensity
# matters more with each generation. From V100 to H100 that is true: 7.9 times the 16-bit compute,
# 3.7 times the bandwidth. Is it true of *each* generation?
#
# ### Exercise 5 · Generations
#
# `peaks` (16-bit FLOP/s) and `bandwidths` (byte/s) list GPUs in the order in which they came out.
# Return two lists of truth values, with one value for each step from a GPU to the next:
#
# 1. whether the ridge fell,
# 2. whether the verdict, memory or compute, changed for `m` rows times a 4096 × 4096 matrix, all in
#    2-byte numbers. The rows and the result travel too.


# %% tags=["deep", "answer"] rooflab={"exercise": "03-ridge-grew"}
def grew(peaks, bandwidths, m):
    # BEGIN SOLUTION
    ridges = [p / b for p, b in zip(peaks, bandwidths)]
    at = m * 4096 / (2 * m + 4096)
    steps = list(zip(ridges, ridges[1:]))
    return [b < a for a, b in steps], [(at < a) != (at < b) for a, b in steps]
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("03-ridge-grew", grew)

# %% tags=["deep", "nbval-check-output"]
product = rl.gemm(256, 4096, 4096, "fp16")
six = ("a100-sxm-40", "a100-sxm-80", "h100-sxm", "h200-sxm", "b200", "gb200")
for name in ("nvidia-v100-sxm2", *six):
    edge = rl.Roofline(name, "fp16")
    print(f"ridge {edge.ridge:3.0f}, 256 rows: {edge.limit(product):7}  {edge.m.name}")

# %% [markdown] tags=["deep"]
# Between the two A100s, and from H100 to H200, only the memory changed. From H100 to B200 the
# bandwidth grew more than the peak. From B200 to GB200 the peak alone grew, by a ninth. A different
# number type, such as `fp8` or `fp4`, moves a ridge *much* further.

# %% [markdown] tags=["deep"]
# ## Deeper: another type, another verdict
#
# ### Vote, or choose for yourself
#
# On an H200 one call does a thousand products of 256 × 256 matrices, which lie in its memory. In
# `fp32` it is limited by computing. You change the numbers to `bf16`. Each has half the bytes, and
# the matrix unit for `bf16` has 15 times the peak. The call is now …
#
# <details><summary><b>A</b> limited by computing, even more than before: its intensity has
# doubled.</summary>
#
# This is *only the point moves*: the roof belongs to the number type as well.
#
# </details>
#
# <details><summary><b>B</b> limited by memory.</summary>
#
# **Right.** The point moves right by a factor of 2, the ridge by 15, so the ridge overtakes the
# point.
#
# </details>
#
# <details><summary><b>C</b> as it was: bytes and FLOPs shrink alike.</summary>
#
# This is *FLOPs have a size*: there are as many as before, each on smaller numbers.
#
# </details>
#
# <details><summary><b>D</b> right at the ridge: the point and the ridge have moved
# together.</summary>
#
# This is *changes cancel*: they would if the peak had just doubled, as it does from `fp64` to
# `fp32` on most processors.
#
# </details>

# %% tags=["deep", "nbval-check-output"]
for dtype in ("fp32", "bf16"):
    call, edge = rl.gemm(256, 256, 256, dtype, batch=1000), rl.Roofline("h200-sxm", dtype).ridge
    print(f"{dtype}: intensity {call.intensity:.1f}, ridge {edge:.1f} FLOP/byte")

# %% [markdown] tags=["deep"]
# How large does a square GEMM have to be? It has $2n^3$ FLOPs on $3n^2$ numbers, so from some edge
# $n$ on it is limited by computing.
#
# ### Exercise 6 · The edge, before and after
#
# A machine has a `bandwidth` and two number types, each with a peak and an itemsize. Return the
# edge for the first type and the edge for the second. Both may be fractions. For every $n$ between
# the two, a change of type changes the verdict. In which direction?


# %% tags=["deep", "answer"] rooflab={"exercise": "03-number-type"}
def edges(bandwidth, peak_1, itemsize_1, peak_2, itemsize_2):
    # BEGIN SOLUTION
    first = 3 * itemsize_1 / 2 * peak_1 / bandwidth
    return first, 3 * itemsize_2 / 2 * peak_2 / bandwidth
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("03-number-type", edges)

# %% [markdown] tags=["deep"]
# It goes both ways. Where the peak grows more than twofold, smaller numbers make a GEMM *more*
# limited by memory: the edge moves up. Where it grows less, the edge moves down. And where it
# doubles, as on the cores of most processors, the verdict stays what it was.

# %% tags=["deep", "nbval-check-output"]
changes = {"h200-sxm": ("fp32", "bf16"), "mi250x-gcd": ("fp64", "fp32")}
changes["epyc-9654"] = ("fp64", "fp32")
for name, dtypes in changes.items():
    units = ["tensor" if dtype == "bf16" else "vector" for dtype in dtypes]
    roofs = [rl.Roofline(name, dtype, unit=unit) for dtype, unit in zip(dtypes, units)]
    before, after = (1.5 * r.dtype.bits / 8 * r.ridge for r in roofs)
    print(f"{name}, {' to '.join(dtypes)}: from n = {before:.0f} to n = {after:.0f}")

# %% [markdown] tags=["deep"]
# ## Deeper: worth the call
#
# You pay for a call before any work is done. The 8×8 product is nearly all call, so its time shows
# what a call costs on this core. On a GPU it is a few microseconds.

# %% tags=["deep"]
rl.show.say(rl.si(measured[4].median_s, "s"), after=tiny)

# %% [markdown] tags=["deep"]
# ### Exercise 7 · The smallest GEMM
#
# Return the smallest `n` for which an n×n×n GEMM takes at least as long as its `call` (in seconds),
# on a machine with this peak and bandwidth. Below that `n`, you pay more for asking than for the
# answer. Nothing is in a cache.


# %% tags=["deep", "answer"] rooflab={"exercise": "03-worth-the-call"}
def worth(call, peak, bandwidth, itemsize):
    # BEGIN SOLUTION
    n = 1
    while max(2 * n**3 / peak, 3 * n * n * itemsize / bandwidth) < call:
        n += 1
    return n
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("03-worth-the-call", worth)

# %% [markdown] tags=["deep"]
# ## Deeper: predict what was measured
#
# A bound is a promise. Can you also say what the clock *will* show? Besides the roof of the main
# memory, the estimate needs three things, and you have met them all: the roof of every cache, which
# cache holds the operands, and the time of a call.
#
# Here is a processor that was recorded with one thread: its peaks, and the best bandwidth of each
# level, whatever the mix. Reading alone is slower.

# %% tags=["deep", "nbval-check-output"]
core = rl.recording("epyc-2core-vm").at(threads=1)
print(f"reading from memory: {rl.si(core.bandwidth(), 'B/s')}")
core

# %% [markdown] tags=["deep"]
# ### Exercise 8 · Predict
#
# Return the time in seconds of an operation that ran warm on this processor, on one core or on
# both. Four of the cases ran elsewhere, on accelerators from the catalogue, timed and published by
# other people.
#
# - `bandwidth` lists the byte/s of the levels, the nearest first and the main memory last, each
#   measured with the operation's own mix of reading and writing;
# - `capacity` lists the bytes that each level holds; for an accelerator, both have one entry;
# - `call` is the time of an empty call in seconds; 0 for an accelerator, because nobody published
#   it.
#
# `bytes` is what travels, and here also what has to fit. Your answer is compared with *the clock*.
# It may be off by a quarter, because no routine quite reaches its roof, and by the spread of the
# recorded times. The questions avoid borderline cases: the data clearly fit one cache, or clearly
# fit none.


# %% tags=["deep", "answer"] rooflab={"exercise": "03-predict"}
def predict(flops, bytes, peak, bandwidth, capacity, call):
    # BEGIN SOLUTION
    level = next(i for i, room in enumerate(capacity) if bytes <= room)
    return call + max(flops / peak, bytes / bandwidth[level])
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("03-predict", predict)

# %% [markdown] tags=["deep"]
# Where would it have been unfair? A small product gains nothing from a second core, and some
# routines stay far below their roof, like GEMV on this machine when its matrix comes from memory:

# %% tags=["deep", "nbval-check-output"]
kept = rl.recording("epyc-2core-vm").select("gemv", cache="warm", threads=1)
for one in kept[-3:]:
    bound = one.op.bytes / core.bandwidth()
    print(
        f"{one.op.label}: {one.median_s / bound:.2f} times bytes ÷ {rl.si(core.bandwidth(), 'B/s')}"
    )

# %% [markdown] tags=["deep"]
# Your function does nearly what `rl.predict` does. But `rl.predict` also knows how well each
# routine of the library uses its roof, and it lists its steps:

# %% tags=["deep"]
rl.show.say(rl.predict(rl.gemv(1024, 1024), here, cache="warm"), after=cards)

# %% [markdown] tags=["deep"]
# ## Deeper: figures that are true of something else
#
# A roof is only as good as its two figures. Here are six figures from public tables and tools.
#
# 1. H100 SXM, the kind that is plugged in as a module: `bf16` peak 1979 TFLOP/s.
# 2. MI250X: `bf16` peak 383 TFLOP/s, for a program that runs on one GPU. Software sees two GPUs on
#    such a module, each on its own *die*, a piece of silicon; AMD calls each of them a GCD.
# 3. A computer with an H200. A tool asks for the name of the die, gets GH100, looks it up, and
#    says: H100, 3.35 TB/s.
# 4. GB200: `bf16` peak 2250 TFLOP/s for one of its two GPUs.
# 5. A100 SXM, 80 GB: `bf16` peak 312 TFLOP/s.
# 6. L4: bandwidth 3350 GB/s.
#
# And here is what this course's catalogue says, from several sources each. On paper, the NVIDIA
# GPUs in this list double their rate for *2:4 sparse* products, in which two of every four numbers
# are zero. The MI250X has no such mode.

# %% tags=["deep", "nbval-check-output"]
for name in ("h100-sxm", "mi250x-gcd", "h200-sxm", "gb200", "b200", "a100-sxm-80", "l4"):
    m = rl.machine(name)
    print(f"{m.name}: {rl.si(m.peak('bf16'), 'FLOP/s')}, {rl.si(m.bandwidth(), 'B/s')}")

# %% [markdown] tags=["deep"]
# ### Exercise 9 · Which trap?
#
# Set `verdicts` to six of these words, in the order of the list. `other_part` is for a figure
# that is true of another product.

# %% tags=["deep", "answer"] rooflab={"exercise": "03-catalogue"}
right, sparse, two_dies, other_part = "right", "sparse", "two dies", "other part"
# BEGIN SOLUTION
verdicts = (sparse, two_dies, other_part, other_part, right, other_part)
# END SOLUTION

# %% tags=["deep", "nbval-check-output"]
rl.check("03-catalogue", verdicts)

# %% [markdown] tags=["deep"]
# ### Exercise 10 · How wrong is a wrong peak?
#
# A table lists the sparse peak, `claimed`, which is twice the dense one. You mistake it for the
# dense peak and compute the time of an operation with this `intensity`. How many times too short is
# your answer?


# %% tags=["deep", "answer"] rooflab={"exercise": "03-sparse-peak"}
def too_short(intensity, claimed, bandwidth):
    # BEGIN SOLUTION
    wrong = min(claimed, intensity * bandwidth)
    return wrong / min(claimed / 2, intensity * bandwidth)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("03-sparse-peak", too_short)

# %% [markdown] tags=["deep"]
# That is why such an error lives so long: test the table with AXPY, and you find nothing wrong.

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - **13.9 and 206 FLOP/byte**: an H200's ridges in `fp32` and `bf16`, by its datasheet.
# - **Above 8 FLOP/byte**: every `fp32` ridge in the catalogue.
# - **1 FLOP/byte**: where the slope is as high as the bandwidth.
#
# ## What you can do now
#
# - **Sort** an operation before it runs: the call, if the work takes less time than that; memory,
#   left of the ridge; computing, right of it.
# - **Compute** ridge, attainable speed and shortest time from four figures: peak ÷ bandwidth, the
#   lower of two roofs, the longer of two times.
# - **Judge** a rule of thumb, which holds where the ridge lets it, and a log: no row lies above its
#   roof without a cause.
# - And if you went deeper: **predict** a measured time to within a quarter, and **catch** a figure
#   that is true of something else.
#
# Now you know what bounds an operation. The next lesson opens up one operation, the product in a
# layer of a language model, and asks what its three edges are.
#
# Go on with [lesson 04](04_gemm_shapes.ipynb).

# %% tags=["core"]
rl.my_guesses("03")

# %% tags=["core"]
rl.progress("03")
