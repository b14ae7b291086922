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
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **GEMM does thousands of times more arithmetic for each byte than AXPY. How many times faster is
# it?**
#
# <details><summary>45 minutes, 65 with the exercises: what you learn, and what you need</summary>
#
# - **count** the FLOPs and the bytes of the operations that make up nearly all numerical work,
# - **derive** how many FLOPs there are for each byte, for any shape and any number type,
# - **predict** how far apart the speeds of two operations are at the roofs of a machine,
# - after the *Deeper* parts: **time** an operation on a GPU without fooling yourself.
#
# You need lesson 00 and the matrix product. The *Deeper* parts take 30 minutes more. A lecture
# shows it in 25.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## The same data, three ways
#
# Take `N` × `N` numbers, with `N` = 4096. You can do three things with them.
#
# - **AXPY**: scale one vector and add another, $y \leftarrow a\,x + y$. Here the vectors are long:
#   all $N^2$ numbers in a row.
# - **GEMV**: multiply a matrix by a vector, $y \leftarrow A\,x$.
# - **GEMM**: multiply a matrix by a matrix, $C \leftarrow A\,B$.
#
# The names come from BLAS, a collection of routines that nearly every numerical library contains
# (AXPY 1979, GEMV 1988, GEMM 1990). Here each takes one line. `rl.axpy`, `rl.gemv` and `rl.gemm`
# compute nothing yet. They do the *bookkeeping* of the operation: which array goes where.

# %% tags=["core", "nbval-check-output"]
N = 4096
ops = rl.axpy(N * N), rl.gemv(N, N), rl.gemm(N, N, N)
ops[0]

# %% [markdown] tags=["core"]
# Each number of the vector costs two FLOPs and three trips: read `x`, read `y`, write `y`. The last
# figure in the first line is the FLOPs divided by the bytes. It is called the **intensity** of the
# operation, in FLOP/byte.
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
# Speed is FLOPs per second. **How many times faster is GEMM than AXPY on this computer?** The next
# cell runs all three on one core. The data start in memory, not in a cache (a small, fast memory
# inside the processor). Guess, then look.

# %% tags=["core"]
measured = [rl.measure(op, threads=1) for op in ops]
ratio = measured[2].flop_per_s / measured[0].flop_per_s
here = rl.this_machine(threads=1)
picture = rl.show.roofline(here, measured)
faster = rl.ask("01-speed-ratio", ratio, picture=picture)
faster

# %% [markdown] tags=["core"]
# Have you guessed? Then read on.
#
# The picture that you uncovered is called a **roofline**. It is the second picture of lesson 00,
# now for any operation: intensity to the right, speed upwards, and the roof over your three
# measurements. Under the flat part, the processor sets the speed. On the slope memory does, and
# there
#
# $$\text{FLOP/s} = \text{byte/s} \times \text{FLOP/byte},$$
#
# so twice the intensity is twice the speed. On these axes, where each step is a factor, that is a
# straight line. A faster memory moves the line up but does not tilt it.

# %% tags=["core"]
rl.show.say(rl.conclude("01-ratio", measured[0], measured[2], here), after=faster)

# %% [markdown] tags=["core"]
# To say what a machine *allows*, you have to be able to count.
#
# ## Count
#
# $C = A\,B$ with $A$ of size $m \times k$ and $B$ of size $k \times n$. Each of the $m \cdot n$
# numbers of $C$ is a sum of $k$ products. By convention that is $k$ multiply-adds, the first of
# which adds to zero. A multiply-add is 2 FLOPs.
#
# Now for what travels. Count the *least* that any program must move: $A$ and $B$ are read once, $C$
# is written once, as if the cache were perfect.
#
# There is one catch. A library can also add the product to what $C$ held before. Then the old $C$
# has to be read too. BLAS writes $C \leftarrow \alpha A B + \beta C$; this is the case
# $\beta \neq 0$.
#
# ### Exercise 1 · A product, counted
#
# Return three numbers for any product: its FLOPs, its bytes for numbers of `itemsize` bytes, and
# its intensity. With `accumulate=True`, the product is added to $C$.


# %% tags=["core", "answer"] rooflab={"exercise": "01-product"}
def product(m, n, k, itemsize, accumulate=False):
    # BEGIN SOLUTION
    flops = 2 * m * n * k
    c = 2 if accumulate else 1
    moved = (m * k + k * n + c * m * n) * itemsize
    return flops, moved, flops / moved
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("01-product", product)

# %% [markdown] tags=["core"]
# Keep it: the next cell saves your function in a file of your own, `mine.py`. Later lessons add to
# that file. By the end of lesson 05 it predicts how fast a language model writes, in at most 60
# lines.

# %% tags=["core"]
rl.mine.save(product)

# %% [markdown] tags=["core"]
# ## The box
#
# There is a picture for these formulas. Draw every product as a box with the edges $M$, $N$ and
# $K$. Its **volume** is the number of multiply-adds. Three of its **faces** are the matrices: $A$
# is $M \times K$, $B$ is $K \times N$, $C$ is $M \times N$. Paint them: the painted area is what
# has to travel.
#
# Move the sliders one at a time, or drag a corner. Make a stick, then a sheet, then a cube, and
# watch the dot on the roofline. Point at $C$ to see what one of its numbers needs. Every doubling
# of an edge is drawn as the same step, so that you can still see a thin sheet. *True shape* shows
# the real proportions.

# %% tags=["core"]
rl.live.box(machines=here)

# %% [markdown] tags=["core"]
# The sheet is GEMV: one large face, the matrix, and two thin ones, the vectors. The cube is GEMM.
# The stick is AXPY's shape. AXPY also reads its result, so it has 1/6 FLOP/byte where the stick has
# 1/4.
#
# A stick is nearly all surface. A cube hides most of itself inside. Twice the edge gives eight
# times the volume but only four times the paint: **intensity is volume per painted area**, times 2
# FLOPs, divided by the bytes of a number. That is what sets GEMM apart. As the cube grows, its dot
# moves right, climbs the slope and sticks at the roof.

# %% [markdown] tags=["deep"]
# ### Exercise 2 · Three intensities
#
# For large `n` and 2-byte numbers, return three intensities: for AXPY on $n^2$ numbers, then for
# GEMV and GEMM on $n \times n$ matrices.


# %% tags=["deep", "answer"] rooflab={"exercise": "01-three-intensities"}
def intensities(n):
    # BEGIN SOLUTION
    axpy = 2 / (3 * 2)
    gemv = 2 / 2
    return axpy, gemv, 2 * n**3 / (3 * n**2 * 2)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("01-three-intensities", intensities)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# You halve every number from 4 bytes to 2 (`fp32` to `fp16`). The intensity of a large GEMM …
#
# <details><summary><b>A</b> stays: the number of FLOPs has not changed.</summary>
#
# This is *intensity is a property of the algorithm alone*: intensity has bytes in it, and bytes
# depend on the type.
#
# </details>
#
# <details><summary><b>B</b> halves: there is only half as much data.</summary>
#
# This has the ratio upside down.
#
# </details>
#
# <details><summary><b>C</b> doubles.</summary>
#
# **Right.** The same FLOPs, half the bytes.
#
# </details>
#
# <details><summary><b>D</b> grows fourfold, because both edges of each face shrink.</summary>
#
# This confuses the edge of a matrix, which stays the same, with the size of its numbers.
#
# </details>

# %% [markdown] tags=["core"]
# ## Predict: the roof over all three
#
# Below are the three operations on the roofline of this core, with what you measured. One is in
# focus, with its box and everything known about it; the other two are grey. Try these.
#
# - Press *AXPY*, *GEMV* and *GEMM* in turn to bring each into focus.
# - Slide `N`: AXPY stays where it is, however long the vectors, and GEMV hardly moves. Only GEMM
#   walks.
# - Slide the batch, the number of vectors that share one matrix. GEMV starts walking to the right,
#   because a matrix that is read once now serves many vectors. With enough vectors it *is* a GEMM.
#   AXPY stays, and so does a batch of separate GEMMs: they share nothing.
# - *Cold* means that the data come from memory. *Warm* means that they lie in a cache, if one is
#   large enough for them.
# - *Predicted* starts from the roof and allows for three known losses: the cost of the call, the
#   share of the roof that this library's routine usually misses, and what the memory loses with the
#   operation's own mix of reading and writing. Not every mix travels equally fast. *Predicted* is
#   an estimate, not a bound: a measurement may be faster.

# %% tags=["core"]
rl.live.roofline(here, measurements=measured, box=True, after=faster)

# %% [markdown] tags=["core"]
# ### Exercise 3 · The ratio at the roofs
#
# GEMM sits under the flat roof, AXPY on the slope. Suppose both reach their roofs. How many times
# faster, in FLOP/s, is GEMM? The machine has the given `peak` (FLOP/s) and `bandwidth` (byte/s),
# and a number has `itemsize` bytes.


# %% tags=["core", "answer"] rooflab={"exercise": "01-speed-limit"}
def speed_limit(peak, bandwidth, itemsize):
    # BEGIN SOLUTION
    axpy = 2 / (3 * itemsize)
    return peak / (axpy * bandwidth)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("01-speed-limit", speed_limit)

# %% [markdown] tags=["core"]
# Here is the ratio for this core, next to your own measurement. How many bytes memory carries each
# second depends on the mix of reading and writing, so one core has several slopes, each with its
# own ridge. Which mix is fastest varies from machine to machine. The pictures above draw the slope
# of the fastest. Lesson 00 read and wrote equal amounts. The slope here belongs to AXPY's own mix,
# two reads for each write.

# %% tags=["core"]
roof = rl.Roofline(here, "fp32", mix="axpy")
at_roofs = roof.ridge / ops[0].intensity
said = f"ridge with AXPY's mix ÷ intensity: {roof.ridge:.2f} ÷ {ops[0].intensity:.3f} FLOP/byte"
rl.show.say(said, f"{at_roofs:.1f} times at the roofs", after=faster)

# %% tags=["core"]
rl.show.say(rl.conclude("01-roofs", measured[0], measured[2], here), after=faster)

# %% [markdown] tags=["core"]
# That is the answer to the question at the top. Intensity buys speed only up to the ridge; beyond
# it the peak cuts off the rest. The ratio at the roofs is *ridge ÷ intensity of AXPY*. In `fp32`
# that is tens or hundreds on every machine of this course, never thousands.
#
# Here it is for an H200, a data-centre GPU, from its datasheet; nothing was run. `bf16` is a 2-byte
# number type.

# %% tags=["core", "nbval-check-output"]
for dtype in ("fp32", "bf16"):
    gpu = rl.Roofline("h200-sxm", dtype)
    print(f"H200 {dtype}: {gpu.ridge / rl.axpy(N, dtype).intensity:.0f} times")

# %% tags=["core"]
gpu = rl.Roofline("h200-sxm", "fp32")
rl.show.say(rl.conclude("01-elsewhere", ops[0], ops[2], here, gpu), after=faster)

# %% [markdown] tags=["core"]
# Half the bytes alone would *halve* the ratio, because AXPY's intensity doubles. The ratio still
# grows, because in `bf16` a product may use the H200's *matrix units*: circuits that do nothing but
# multiply matrices, with 15 times the `fp32` peak of the ordinary ones. AXPY has no use for them.
#
# Here are all the machines of the course. Change the machine, and the roof moves over the same
# points. Change the number type, and both move: half the bytes push every point to the right.

# %% tags=["core"]
rl.live.roofline([*rl.machines()], machine="h200-sxm")

# %% [markdown] tags=["deep"]
# ## Deeper: why not exactly?
#
# You can take each of your three measurements apart, from what the roof allows to what the clock
# said. A factor above 1 costs time. Multiplied together, the factors lead from the time at the roof
# to the measured time. They start from the roof of the fastest mix, so a slower mix has a factor of
# its own. The *routine efficiency* was measured on products of other sizes, so it may not fit these
# exactly. The last factor is what remains unexplained: on a quiet computer it is near 1. Below 1
# means faster than predicted.

# %% tags=["deep"]
rl.show.say(*(f"{rl.explain(one)}\n" for one in measured), after=faster)

# %% [markdown] tags=["core"]
# ## Claim court
#
# A public web lesson on exactly these operations gives a 4096 × 4096 `fp32` GEMM an intensity of
# 1365 FLOP/byte.
#
# ### Exercise 4 · 1365
#
# What is the right intensity, and how many bytes would a number need to have for 1365 to be true?
# Set `claim` to both: `(intensity, bytes)`.

# %% tags=["core", "answer"] rooflab={"exercise": "01-claim-1365"}
# BEGIN SOLUTION
claim = product(4096, 4096, 4096, 4)[2], 2
# END SOLUTION

# %% tags=["core", "nbval-check-output"]
rl.check("01-claim-1365", claim)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# On some machine a *large* GEMM, far to the right of the ridge, runs 50 times as fast as AXPY. You
# buy a machine with the same processor and *twice the memory bandwidth*. The ratio becomes about …
#
# <details><summary><b>A</b> 100: everything is twice as fast.</summary>
#
# This is *bandwidth speeds up everything*.
#
# </details>
#
# <details><summary><b>B</b> 50: both operations gain alike.</summary>
#
# This is *a better machine is better by one factor*: there are two roofs, and only the slope has
# moved.
#
# </details>
#
# <details><summary><b>C</b> 25.</summary>
#
# **Right.** AXPY lives on the slope and doubles its speed; GEMM lives under the flat roof and
# gains nothing.
#
# </details>
#
# <details><summary><b>D</b> That depends on the intensity of the GEMM.</summary>
#
# This would be right for a small GEMM: if it lay on the slope too, both would double and the ratio
# would stay.
#
# </details>

# %% [markdown] tags=["deep"]
# ## Deeper: the unfair race
#
# Many texts compare AXPY on vectors of `N` numbers with GEMM on `N` × `N` matrices. Does that make
# the ratio larger than before, or smaller? Here is the ratio from before:

# %% tags=["deep"]
rl.show.say(f"{ratio:.1f} times, with AXPY on {N * N:,} numbers", after=faster)

# %% tags=["deep"]
small = rl.measure(rl.axpy(N), cache="warm", threads=1)
again = rl.ask("01-small-ratio", measured[2].flop_per_s / small.flop_per_s)
again

# %% [markdown] tags=["deep"]
# AXPY has the same 1/6 FLOP/byte as before. What has changed?

# %% tags=["deep"]
rl.show.say(rl.conclude("01-small", measured[0], small, here), after=again)

# %% [markdown] tags=["deep"]
# Always ask **where the data was**. In the next exercise that question finds a liar.
#
# ## Deeper: counting backwards
#
# ### Exercise 5 · Three witnesses
#
# Somebody timed three operations on a machine that you do not know: AXPY on `n * n` numbers, GEMV
# with an `n` × `n` matrix, and GEMM of two such matrices. GEMM reached the peak. Of the other two
# *at most one* timed a cache instead of the memory. How would you notice?
#
# Two honest witnesses may disagree, because AXPY and GEMV mix reading and writing in different
# ways. But on these machines the mix changes the byte/s by less than a factor of 2.
#
# Return the peak, the bandwidth of the memory, and the liar: `"axpy"`, `"gemv"` or `"nobody"`. If
# nobody lies, the bandwidth is the higher of the two.


# %% tags=["deep", "answer"] rooflab={"exercise": "01-witnesses"}
def witnesses(n, itemsize, t_axpy, t_gemv, t_gemm):
    # BEGIN SOLUTION
    peak = 2 * n**3 / t_gemm
    axpy = 3 * n * n * itemsize / t_axpy
    gemv = (n * n + 2 * n) * itemsize / t_gemv
    if axpy > 2 * gemv:
        return peak, gemv, "axpy"
    if gemv > 2 * axpy:
        return peak, axpy, "gemv"
    return peak, max(axpy, gemv), "nobody"
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("01-witnesses", witnesses)

# %% [markdown] tags=["deep"]
# ### Exercise 6 · Which operation was that?
#
# A profiler counted the FLOPs of a routine and the fewest bytes that it can move, but lost its
# name. It was one of these five, and you do not know `n`:
#
# - `"axpy"`: $y \leftarrow a x + y$ on vectors of `n` numbers; `a` comes with the call and does not
#   travel,
# - `"dot"`: $x^T y$, the sum of all $x_i y_i$, on vectors of `n`; the result is written once,
# - `"gemv"`: $y \leftarrow A x$ with an `n` × `n` matrix,
# - `"outer"`: $A \leftarrow A + x y^T$ with an `n` × `n` matrix that is read and written,
# - `"gemm"`: $C \leftarrow A B$ with `n` × `n` matrices.
#
# Return its name. Count all five first, and see which counts they share.


# %% tags=["deep", "answer"] rooflab={"exercise": "01-name"}
def name(flops, nbytes, itemsize):
    # BEGIN SOLUTION
    adds, moved = flops / 2, nbytes / itemsize
    edge = adds**0.5  # of the matrix, if each of its numbers has one multiply-add
    counts = {"axpy": 3 * adds, "dot": 2 * adds + 1, "gemv": adds + 2 * edge}
    counts |= {"outer": 2 * adds + 2 * edge, "gemm": 3 * adds ** (2 / 3)}
    return min(counts, key=lambda each: abs(counts[each] - moved))
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("01-name", name)

# %% [markdown] tags=["deep"]
# ### Exercise 7 · Six sentences of one page
#
# The web lesson of the claim court says more. In our words:
#
# - **A** GEMV is $y \leftarrow A x + y$, and in NumPy that is `y = A @ x`.
# - **B** Self-attention is GEMM. Its first product is $Q K^T$. $Q$ has a row for each piece of text
#   read in this step, and $K$ has a row for each piece read so far.
# - **C** In a GEMM each number that was loaded is used $k$ times.
# - **D** AXPY in `fp32` has 0.08 FLOP/byte.
# - **E** The intensity of a square GEMM grows linearly with its edge: eight times the edge, eight
#   times the FLOPs per byte.
# - **F** The arrays are made by `np.random.default_rng().normal`. The calculator assumes 4 bytes
#   for each of their numbers, and those are the bytes that travel.
#
# Which are `"right"`, which are `"wrong"`, and which hold only for some shapes, `"sometimes"`? Set
# `verdicts` to six words, from A to F.

# %% tags=["deep", "answer"] rooflab={"exercise": "01-claims"}
# BEGIN SOLUTION
verdicts = "wrong", "sometimes", "sometimes", "wrong", "right", "wrong"
# END SOLUTION

# %% tags=["deep", "nbval-check-output"]
rl.check("01-claims", verdicts)

# %% [markdown] tags=["deep"]
# The same page lists `mma` among the kernels that compute a GEMM. But `mma` is an instruction of a
# GPU's matrix units that multiplies two small tiles. A GEMM kernel is a program made of very many
# such instructions.

# %% [markdown] tags=["deep"]
# ## Deeper: time a GPU without fooling yourself
#
# A GPU works behind your back. When Python calls `cp.matmul(A, B, out=C)`, the call returns at
# once; the product is only *queued*. Such a call is a *launch*. A stopwatch around it measures how
# fast Python can ask.
#
# So let the GPU do the timing. An *event* is a mark in its queue, and the GPU notes the time when
# it gets there. A good measurement has five steps:
#
# 1. **Warm up**: run the operation once. The first run compiles code and sets up libraries.
# 2. **Mark**: `start.record()`, the launches, `stop.record()`; `start` and `stop` are two
#    `cp.cuda.Event()`.
# 3. **Wait**: `stop.synchronize()` before you read the time.
# 4. **Read**: `cp.cuda.get_elapsed_time(start, stop)`, in *milliseconds*.
# 5. **Repeat**: take the median of several, or the mean of a queue of launches.
#
# `cp` is CuPy, a NumPy for GPUs, and your function gets it as its first argument. In a program of
# your own, write `import cupy as cp`, and also `import cupy.cublas` for the BLAS routines, which
# the first line does not load. Here both are done for you.
#
# Your function runs on a stand-in for CuPy: a small simulated GPU with a queue, a cache and a
# clock, which writes down every launch and every event. If this computer has a GPU that CuPy can
# use, the same function runs there too. It takes turns with the course's own function, on the
# same arrays, and the two must agree within 10 %. The stand-in's times are computed, not
# measured; the verdict says whether there was a GPU.
#
# Below each verdict the check draws what the stand-in did: when Python queued, when the GPU worked
# or waited, and what lies between your last two events.

# %% tags=["deep"]
from statistics import median

# %% [markdown] tags=["deep"]
# ### Exercise 8 · AXPY on the GPU
#
# Return the seconds of one `cp.cublas.axpy(a, x, y)`. The vectors are far larger than any cache of
# the GPU, so every launch has to go to memory. Queue ten launches between the two events, so that
# the GPU hardly waits for Python, and divide.


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
# ### Exercise 9 · GEMV on the GPU, cold
#
# Between a GPU's memory and its arithmetic lies a small, fast memory, a cache called **L2**. What
# was used last is still in it, and arrives faster from there than from memory. A launch that finds
# its data in L2 is *warm*. A launch that must fetch everything from memory is *cold*.
#
# This matrix would fit into L2. Launched again and again it would be warm, and you would report a
# bandwidth that no memory has. So empty L2 before each start, which is called a *flush*. To do
# that, **read** something else that is four times as large. Summing a vector will do. Give the
# vector as many 4-byte numbers as L2 has bytes: `cp.cuda.Device().attributes["L2CacheSize"]`.
#
# Do not *write* it, with `fill(0)` for example. What is written stays in L2 too, and goes to memory
# only when other data need its place. Until then it is called *dirty*. Your launch would find L2
# full of dirty data, and would have to wait until they are written to memory.
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
# ### Exercise 10 · GEMM on the GPU
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
# ## Numbers worth keeping
#
# - **2MNK**: the FLOPs of a product. **MK + KN + MN**: the fewest numbers that it moves.
# - **1/6, 1/2, N/6**: the FLOP/byte of AXPY, GEMV and N × N GEMM, for large `fp32` operands.
# - **84 times**: GEMM's speed ÷ AXPY's, at the roofs of an H200's datasheet in `fp32`; **618** in
#   `bf16`.
#
# ## What you can do now
#
# - **Count** the FLOPs and bytes of AXPY, GEMV and GEMM, for any shape and type, added to the old
#   result or not.
# - **Derive** the intensity of each.
# - **Predict** how far apart GEMM and AXPY are at the roofs: ridge ÷ AXPY's intensity.
# - And if you went deeper: **time** an operation on a GPU without fooling yourself.
#
# One phrase in this lesson deserves your distrust: *the least that any program must move*. Do real
# programs move only that? In lesson 02 you will catch NumPy making trips that nobody ordered.
#
# Go on with [lesson 02](02_bytes.ipynb).

# %% tags=["core"]
rl.my_guesses("01")

# %% tags=["core"]
rl.progress("01")
