# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 01 · Three operations
#
# **GEMM does thousands of times more arithmetic for each byte than AXPY. Why is it not thousands
# of times as fast?**
#
# When you are through with this lesson you can
#
# - **count** the FLOPs and the bytes of the operations of which nearly all numerical work is
#   made,
# - **derive** how many FLOPs there are for each byte, for any shape and any number type,
# - **predict** how far apart the speeds of two operations can be on a machine,
# - after the *Deeper* parts: **time** an operation on a GPU without fooling yourself.
#
# It takes about 75 minutes; a lecture shows its core in 25. You need lesson 00 and the matrix
# product.

# %% tags=["core"]
from statistics import median

import rooflab as rl

# %% [markdown] tags=["core"]
# ## The same data, three ways
#
# Take `N` × `N` numbers, with `N` = 4096. You can do three things with them. Their names come
# from BLAS, a collection of routines (AXPY 1979, GEMV 1988, GEMM 1990) that nearly every
# numerical library contains.
#
# - **AXPY**: scale a vector and add another one, $y \leftarrow a\,x + y$. Here the vectors are
#   long: all $N^2$ numbers in a row.
# - **GEMV**: multiply a matrix by a vector, $y \leftarrow A\,x$.
# - **GEMM**: multiply a matrix by a matrix, $C \leftarrow A\,B$.
#
# Each is one line here. `rl.axpy`, `rl.gemv` and `rl.gemm` compute nothing yet: they are the
# *bookkeeping* of the operation, which array goes where.

# %% tags=["core", "nbval-check-output"]
N = 4096
ops = rl.axpy(N * N), rl.gemv(N, N), rl.gemm(N, N, N)
ops[0]

# %% [markdown] tags=["core"]
# Two FLOPs for each number of the vector, and three trips for each: read `x`, read `y`, write
# `y`. The figure that ends the first line is their ratio, FLOPs per byte. It is called the
# **intensity** of the operation.
#
# And the two products?

# %% tags=["core", "nbval-check-output"]
ops[1]

# %% tags=["core", "nbval-check-output"]
ops[2]

# %% tags=["core", "nbval-check-output"]
ops[2].intensity / ops[0].intensity

# %% [markdown] tags=["core"]
# For each byte, GEMM does 4096 times the arithmetic of AXPY: exactly `N`.
#
# ## How many times as fast?
#
# Speed is FLOPs per second. **How many times the speed of AXPY does GEMM reach on this
# computer?** The next cell runs all three on one core, with the data in memory at the start and
# not in a cache (a small, fast memory inside the processor). Guess, then look.

# %% tags=["core"]
measured = [rl.measure(op, threads=1) for op in ops]
ratio = measured[2].flop_per_s / measured[0].flop_per_s
here = rl.this_machine(threads=1)
picture = rl.show.roofline(here, measured)
rl.ask("01-speed-ratio", ratio, picture=picture)

# %% [markdown] tags=["core"]
# Have you guessed? Then read on.
#
# The picture that you uncovered is called a **roofline**. It is the second picture of lesson 00,
# for any operation: intensity to the right, speed upwards, and the roof of this core over your
# three measurements. On the slope memory sets the speed; under the flat part the processor does.
#
# Thousands of times the intensity, and nowhere near thousands of times the speed. The flat roof
# has cut off the rest.

# %% tags=["core"]
print(f"{N} times the intensity, {ratio:.1f} times the speed: ×{N / ratio:.0f} is cut off")

# %% [markdown] tags=["core"]
# To say what a machine *allows*, you have to be able to count. So let's count.
#
# ## Count
#
# $C = A\,B$ with $A$ of size $m \times k$ and $B$ of size $k \times n$. Each of the $m \cdot n$
# numbers of $C$ is a sum of $k$ products. By convention a sum of $k$ products is $k$
# multiply-adds (the first one adds to zero), and a multiply-add is 2 FLOPs.
#
# ### Exercise 1 · FLOPs
#
# Return the FLOPs of this product.


# %% tags=["core", "answer"] rooflab={"exercise": "01-flops"}
def flops(m, n, k):
    # BEGIN SOLUTION
    return 2 * m * n * k
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("01-flops", flops)

# %% [markdown] tags=["core"]
# Keep it: the next cell writes your function into a file of yours, `mine.py`. Later lessons use
# it; at the end of lesson 05 it predicts how fast a language model writes.

# %% tags=["core"]
rl.mine.save(flops)

# %% [markdown] tags=["core"]
# ### Exercise 2 · Bytes
#
# Now what travels. Count the *least* that any program must move: $A$ and $B$ are read once, $C$
# is written once, as if the cache were perfect. A real program moves at least that much.
#
# There is one catch. Libraries can also add the product to what $C$ held before. Then, with
# `accumulate=True`, the old $C$ has to be read too. (BLAS writes $C \leftarrow \alpha A B + \beta
# C$; this is the case $\beta \neq 0$.)
#
# Return the bytes, for numbers of `itemsize` bytes. (The name hides Python's own `bytes`, which
# this notebook does not need.)


# %% tags=["core", "answer"] rooflab={"exercise": "01-bytes"}
def bytes(m, n, k, itemsize, accumulate=False):
    # BEGIN SOLUTION
    c = 2 if accumulate else 1
    return (m * k + k * n + c * m * n) * itemsize
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("01-bytes", bytes)

# %% [markdown] tags=["core"]
# ### Exercise 3 · Intensity
#
# FLOPs per byte, from the two functions that you just wrote.


# %% tags=["core", "answer"] rooflab={"exercise": "01-intensity"}
def intensity(m, n, k, itemsize, accumulate=False):
    # BEGIN SOLUTION
    return flops(m, n, k) / bytes(m, n, k, itemsize, accumulate)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("01-intensity", intensity)

# %% tags=["core"]
rl.mine.save(bytes, intensity)

# %% [markdown] tags=["core"]
# ## The box
#
# There is a picture for these formulas. Draw every product as a box with the edges $M$, $N$ and
# $K$. Its **volume** is the number of multiply-adds. Three of its **faces** are the matrices: $A$
# is $M \times K$, $B$ is $K \times N$, $C$ is $M \times N$. The painted area is what has to
# travel.
#
# Move the sliders, one after the other. Make it a stick, then a sheet, then a cube, and watch the
# dot on the roofline. (*Log edges* draws every doubling as the same step, so that a thin sheet
# can still be seen; *true shape* shows it as it is.)

# %% tags=["core"]
rl.live.box(machines=here)

# %% [markdown] tags=["core"]
# The sheet is GEMV: one matrix, and two thin edges. The cube is GEMM. The stick is AXPY's shape
# (AXPY reads its result too, so it has 1/6 FLOP/byte where the stick has 1/4).
#
# A stick is nearly all surface. A cube hides most of itself inside. Twice the edge gives eight
# times the volume and only four times the paint: **intensity is volume per painted area** (times
# 2 FLOPs, divided by the bytes of a number), and that is the only reason why GEMM is special. Its
# dot moves right as the cube grows, climbs the slope, and sticks at the roof.

# %% [markdown] tags=["deep"]
# ### Exercise 4 · Three intensities
#
# For large `n` and 4-byte numbers: the intensity of AXPY on $n^2$ numbers, of GEMV and of GEMM on
# $n \times n$ matrices. Return all three.


# %% tags=["deep", "answer"] rooflab={"exercise": "01-three-intensities"}
def intensities(n):
    # BEGIN SOLUTION
    axpy = 2 / (3 * 4)
    gemv = 2 / 4
    return axpy, gemv, 2 * n**3 / (3 * n**2 * 4)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("01-three-intensities", intensities)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# You halve every number from 4 bytes to 2 (`fp32` to `fp16`). The intensity of a large GEMM …
#
# - **A** stays: the number of FLOPs has not changed.
# - **B** halves: there is only half as much data.
# - **C** doubles.
# - **D** grows fourfold, because both edges of each face shrink.
#
# <details><summary>What each answer would mean</summary>
#
# **C.** The same FLOPs, half the bytes. <br>
# **A** is *intensity is a property of the algorithm alone*: it has bytes in it, and bytes depend
# on the type. <br>
# **B** has the ratio upside down. <br>
# **D** mixes up the edge of a matrix, which stays, and the size of its numbers.
#
# </details>

# %% [markdown] tags=["core"]
# ## Predict: the roof over all three
#
# Here are the three operations on the roofline of this core, with what you measured.

# %% tags=["core"]
rl.live.roofline(here, measurements=measured, box=True)

# %% [markdown] tags=["core"]
# Slide `N`: AXPY stays where it is, however long the vectors, and GEMV all but stays. Only GEMM
# walks.
#
# Slide the batch: that is how many vectors share one matrix. GEMV starts to walk to the right,
# because a matrix that is read once now serves many vectors, and with enough of them it *is* a
# GEMM. AXPY stays, and so does a batch of separate GEMMs: they share nothing.
#
# *Cold* means that the data come from memory, *warm* that they are wherever they fit. *Predicted*
# is what this core should reach with this library: the roof, less the cost of a call and what the
# routine usually loses.
#
# ### Exercise 5 · How far apart?
#
# GEMM sits under the flat roof, AXPY on the slope. When both come right up to the roof, how many
# times the speed of AXPY has GEMM, on a machine with the given `peak` (FLOP/s) and `bandwidth`
# (byte/s), for numbers of `itemsize` bytes?


# %% tags=["core", "answer"] rooflab={"exercise": "01-speed-limit"}
def speed_limit(peak, bandwidth, itemsize):
    # BEGIN SOLUTION
    axpy = 2 / (3 * itemsize)
    return peak / (axpy * bandwidth)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("01-speed-limit", speed_limit)

# %% [markdown] tags=["core"]
# Now the same for this core, from its roof, beside what you measured above.

# %% tags=["core"]
roof = rl.Roofline(here, "fp32", mix="best")
print(f"by the roof: {roof.ridge / ops[0].intensity:.1f} times, measured: {ratio:.1f} times")

# %% [markdown] tags=["core"]
# That is the answer to the question at the top. Intensity buys speed only up to the ridge; beyond
# it the peak cuts off the rest. What the roof allows is *ridge ÷ intensity of AXPY*.
#
# The two numbers need not be the same. Each operation stays some way below the roof, and if AXPY
# loses more than GEMM, their ratio grows. The drawn roof is the best that this memory does with
# any mix of reading and writing; AXPY's mix may be a slower one.
#
# On a data-centre GPU the same rule leaves more room, because its peak is higher compared with
# its memory. These are datasheet figures; nothing was run for them.

# %% tags=["core", "nbval-check-output"]
for dtype in ("fp32", "bf16"):
    gpu = rl.Roofline("h200-sxm", dtype)
    print(f"H200 {dtype}: {gpu.ridge / rl.axpy(N, dtype).intensity:.0f} times")

# %% [markdown] tags=["core"]
# Here are all machines of the course. Change the machine, and the roof moves over the same
# points. Change the number type, and both move: half the bytes push every point to the right.

# %% tags=["core"]
rl.live.roofline([*rl.machines()], machine="h200-sxm")

# %% [markdown] tags=["deep"]
# ## Deeper: why not exactly?
#
# Each of your three measurements can be taken apart, from what the roof allows to what the clock
# said. A factor above 1 costs time; all of them multiplied make the measured time. The last one
# is what remains unexplained: in a quiet computer it is near 1.

# %% tags=["deep"]
for one in measured:
    print(rl.explain(one), end="\n\n")

# %% [markdown] tags=["core"]
# ## Claim court
#
# A public web lesson on exactly these operations gives a 4096 × 4096 `fp32` GEMM an intensity of
# 1365 FLOP/byte.
#
# ### Exercise 6 · 1365
#
# What is the right intensity, and how many bytes would a number need to have for 1365 to be true?
# Set `claim` to both: `(intensity, bytes)`.

# %% tags=["core", "answer"] rooflab={"exercise": "01-claim-1365"}
# BEGIN SOLUTION
claim = intensity(4096, 4096, 4096, 4), 2
# END SOLUTION

# %% tags=["core", "nbval-check-output"]
rl.check("01-claim-1365", claim)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# On some machine a *large* GEMM, far to the right of the ridge, runs 50 times as fast as AXPY.
# You buy one with the same processor and *twice the memory bandwidth*. The ratio becomes about …
#
# - **A** 100: everything is twice as fast.
# - **B** 50: both operations gain alike.
# - **C** 25.
# - **D** That depends on the intensity of the GEMM.
#
# <details><summary>What each answer would mean</summary>
#
# **C.** AXPY lives on the slope and doubles its speed; GEMM lives under the flat roof and gains
# nothing. <br>
# **A** is *bandwidth speeds up everything*. <br>
# **B** is *a better machine is better by one factor*: there are two roofs, and they move apart or
# together. <br>
# **D** would be right for a small GEMM: if it lay on the slope too, both would double and the
# ratio would stay.
#
# </details>

# %% [markdown] tags=["deep"]
# ## Deeper: the unfair race
#
# Many texts compare AXPY on vectors of `N` numbers with GEMM on `N` × `N` matrices. What do you
# expect: is the ratio larger than before, or smaller?

# %% tags=["deep"]
small = rl.measure(rl.axpy(N), cache="warm", threads=1)
rl.ask("01-small-ratio", measured[2].flop_per_s / small.flop_per_s)

# %% [markdown] tags=["deep"]
# These vectors have 33 kB together. They lie in the caches nearest to the core, and what you
# timed is the caches and the cost of a call (some tenths of a microsecond), not the memory.
# Always ask **where the data was**.
#
# ## Deeper: more operations, same counting
#
# ### Exercise 7 · AXPY
#
# FLOPs and bytes of $y \leftarrow a x + y$ on `n` numbers of `itemsize` bytes. (`a` is one
# number, handed over with the call; it does not count.)


# %% tags=["deep", "answer"] rooflab={"exercise": "01-axpy"}
def axpy(n, itemsize):
    # BEGIN SOLUTION
    return 2 * n, 3 * n * itemsize
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("01-axpy", axpy)

# %% [markdown] tags=["deep"]
# ### Exercise 8 · GEMV
#
# FLOPs and bytes of $y \leftarrow A x$ with $A$ of size $m \times n$; with `accumulate=True`, the
# bytes of $y \leftarrow A x + y$ (by convention it has the same FLOPs).


# %% tags=["deep", "answer"] rooflab={"exercise": "01-gemv"}
def gemv(m, n, itemsize, accumulate=False):
    # BEGIN SOLUTION
    y = 2 * m if accumulate else m
    return 2 * m * n, (m * n + n + y) * itemsize
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("01-gemv", gemv)

# %% [markdown] tags=["deep"]
# ### Exercise 9 · Dot product
#
# FLOPs and bytes of $x^T y$, the sum of all $x_i y_i$, on two vectors of `n` numbers. The result
# is one number, and it is written once.


# %% tags=["deep", "answer"] rooflab={"exercise": "01-dot"}
def dot(n, itemsize):
    # BEGIN SOLUTION
    return 2 * n, (2 * n + 1) * itemsize
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("01-dot", dot)

# %% [markdown] tags=["deep"]
# ### Exercise 10 · Outer product
#
# $A \leftarrow A + x y^T$ with $A$ of size $m \times n$, which is read and written. Return FLOPs
# and bytes. As many FLOPs as GEMV: has it the same intensity?


# %% tags=["deep", "answer"] rooflab={"exercise": "01-outer"}
def outer(m, n, itemsize):
    # BEGIN SOLUTION
    return 2 * m * n, (2 * m * n + m + n) * itemsize
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("01-outer", outer)

# %% [markdown] tags=["deep"]
# ### Exercise 11 · Three more claims
#
# The same web lesson says that AXPY has about 1 FLOP/byte, GEMV about 2, and GEMM about $N$. An
# operation has `flops` FLOPs and moves `elements` numbers: how many bytes would a number need to
# have for the `claimed` intensity to be true? (It need not be a whole number.)


# %% tags=["deep", "answer"] rooflab={"exercise": "01-claim-sizes"}
def needed_itemsize(flops, elements, claimed):
    # BEGIN SOLUTION
    return flops / (elements * claimed)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("01-claim-sizes", needed_itemsize)

# %% [markdown] tags=["deep"]
# ## Deeper: time a GPU without fooling yourself
#
# A GPU works behind your back. When Python calls `cp.matmul(A, B, out=C)`, the call returns at
# once; the product is only *queued*. Such a call is a *launch*. A stopwatch around it measures how
# fast Python can ask.
#
# So you let the GPU take the time itself. An *event* is a mark in its queue, and the GPU notes
# when it comes past. A good measurement has five steps:
#
# 1. **Warm up**: run the operation once. The first time compiles and sets up libraries.
# 2. **Mark**: `start.record()`, the launches, `stop.record()`; `start` and `stop` are two
#    `cp.cuda.Event()`.
# 3. **Wait**: `stop.synchronize()` before you read the time.
# 4. **Read**: `cp.cuda.get_elapsed_time(start, stop)`, in *milliseconds*.
# 5. **Repeat**: take the median of several, or the mean of a queue of launches.
#
# `cp` is CuPy, a NumPy for GPUs, and your function gets it as its first argument. In a program of
# your own you write `import cupy as cp`, and `import cupy.cublas` for the routines of BLAS: the
# first line does not load them. Here both are done for you.
#
# Your function runs on a stand-in for CuPy: a small simulated GPU with a queue, a cache and a
# clock, which writes down every launch and every event. If this computer has a GPU that CuPy can
# use, the same function runs there too. It takes turns with the course's own function, on the
# same arrays, and the two must agree within 10 %. The stand-in's times are computed, not
# measured; the verdict says whether there was a GPU.
#
# ### Exercise 12 · AXPY on the GPU
#
# Return the seconds of one `cp.cublas.axpy(a, x, y)`. The vectors are far larger than any cache
# of the GPU, so every launch has to go to memory. Queue ten launches between the two events, so
# that the GPU hardly waits for Python, and divide.


# %% tags=["deep", "answer"] rooflab={"exercise": "01-cuda-axpy"}
def time_axpy(cp, x, y, a):
    # BEGIN SOLUTION
    cp.cublas.axpy(a, x, y)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(10):
        cp.cublas.axpy(a, x, y)
    stop.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1000 / 10
    # END SOLUTION


# %% tags=["deep"]
rl.check("01-cuda-axpy", time_axpy)

# %% [markdown] tags=["deep"]
# ### Exercise 13 · GEMV on the GPU, cold
#
# Between a GPU's memory and its arithmetic lies a small, fast memory, a cache called **L2**. What
# was used last is still in it, and comes from there faster than from memory. A launch that finds
# its data in L2 is *warm*. One that must fetch all of them from memory is *cold*.
#
# This matrix would fit into L2. Launched again and again it would be warm, and you would report a
# bandwidth that no memory has. So empty L2 before each start, which is called a *flush*: **read**
# something else that is four times as large. The sum of a vector does that. Give it as many
# 4-byte numbers as L2 has bytes: `cp.cuda.Device().attributes["L2CacheSize"]`.
#
# Do not *write* it, with `fill(0)` for example. What is written stays in L2 too, and goes to
# memory only when other data need its place. Until then it is called *dirty*. Your launch would
# find L2 full of dirty data, and would have to wait while they are carried away.
#
# And do not wait between the flush and the start event. While the GPU is still reading the large
# vector, Python queues your launch, and the GPU goes straight on to it.
#
# Return the seconds, the byte/s, and the share of the roof: byte/s ÷ `bandwidth`.


# %% tags=["deep", "answer"] rooflab={"exercise": "01-cuda-gemv"}
def gemv_share(cp, A, x, y, bandwidth):
    # BEGIN SOLUTION
    big = cp.ones(cp.cuda.Device().attributes["L2CacheSize"], dtype=cp.float32)
    events = [(cp.cuda.Event(), cp.cuda.Event()) for _ in range(9)]
    for start, stop in events:
        big.sum()
        start.record()
        cp.matmul(A, x, out=y)
        stop.record()
    stop.synchronize()
    ms = median(cp.cuda.get_elapsed_time(*pair) for pair in events[1:])
    rate = (A.nbytes + x.nbytes + y.nbytes) / ms * 1000
    return ms / 1000, rate, rate / bandwidth
    # END SOLUTION


# %% tags=["deep"]
rl.check("01-cuda-gemv", gemv_share)

# %% [markdown] tags=["deep"]
# ### Exercise 14 · GEMM on the GPU
#
# Large square matrices. Their arithmetic takes far longer than fetching them, so here it does not
# matter whether they are in L2. Return the seconds of one `cp.matmul(A, B, out=C)`, the FLOP/s,
# and the share of the roof: FLOP/s ÷ `peak`.


# %% tags=["deep", "answer"] rooflab={"exercise": "01-cuda-gemm"}
def gemm_share(cp, A, B, C, peak):
    # BEGIN SOLUTION
    events = [(cp.cuda.Event(), cp.cuda.Event()) for _ in range(5)]
    for start, stop in events:
        start.record()
        cp.matmul(A, B, out=C)
        stop.record()
    stop.synchronize()
    ms = median(cp.cuda.get_elapsed_time(*pair) for pair in events[1:])
    rate = 2 * A.shape[0] ** 3 / ms * 1000
    return ms / 1000, rate, rate / peak
    # END SOLUTION


# %% tags=["deep"]
rl.check("01-cuda-gemm", gemm_share)

# %% [markdown] tags=["core"]
# ## What you can do now
#
# - **Count** the FLOPs and bytes of AXPY, GEMV and GEMM, for any shape and type, added to the old
#   result or not.
# - **Derive** the intensity: 1/6, 1/2 and N/6 FLOP/byte for large `fp32` operands.
# - **Predict** how far apart two operations can be: ridge ÷ AXPY's intensity.
# - And if you went deeper: **time** an operation on a GPU without fooling yourself.
#
# One phrase in this lesson deserves your distrust: *the least that any program must move*. Do
# real programs move only that? In lesson 02 you will catch NumPy making five trips where three
# would do.

# %% tags=["core"]
rl.my_guesses()

# %% tags=["core"]
rl.progress("01")
