# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 02 · Bytes are the currency
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **What travels between memory and processor, and who ordered it?**
#
# <details><summary>55 minutes, 90 with the exercises: what you learn, and what you need</summary>
#
# - **count** the bytes that a NumPy program really orders, call by call,
# - **rewrite** it so that it orders no more than any program must,
# - **tell** the bandwidth of memory from the bandwidth of a cache,
# - **predict** what another number type does to a program's time,
# - after the *Deeper* parts: **say** what the hardware adds to the bytes that you ordered.
#
# You need lesson 01, and NumPy as far as `x[i:j]`. The *Deeper* parts take 50 minutes more. A
# lecture shows some of it in 20.
#
# </details>

# %% tags=["core"]
import numpy as np

import rooflab as rl
from rooflab.labs.golf import HOLES, sweep
from rooflab.measure.caches import last_level_bytes

# %% [markdown] tags=["core"]
# ## The same arithmetic, twice
#
# Take AXPY from lesson 01, on vectors that lie in memory: together they are at least four times the
# size of your largest cache. NumPy makes 8-byte numbers (`fp64`) unless you ask for something else,
# so we use them.

# %% tags=["core"]
largest = last_level_bytes()
N = max(4_000_000, 4 * largest // 16)
axpy = rl.axpy(N, "fp64")
print(f"two vectors of {N:,} numbers: {rl.si(16 * N, 'B')}")
print(repr(axpy))
rl.conclude("02-cache")

# %% [markdown] tags=["core"]
# Three trips of 8 bytes make 24 bytes for each number: read `x`, read `y`, write `y`. BLAS has a
# routine that does just this. But any Python programmer can write it in one line:


# %% tags=["core"]
def expression(x, y):
    return 0.5 * x + y


# %% [markdown] tags=["core"]
# One multiplication and one addition for each number, as in AXPY. Both are compiled code that works
# on several numbers at once, both run on one core, and both spend far longer carrying than
# computing. The next cell times both. **How many times AXPY's time does the expression take?**
# Guess, then look.

# %% tags=["core"]
blas = rl.measure(axpy, threads=1)
numpy_ = rl.measure(axpy, run=expression, threads=1)
first = rl.ask("02-expression", numpy_.median_s / blas.median_s)
first

# %% [markdown] tags=["core"]
# Have you guessed? Then let's see what happened. `rl.golf` runs your function on arrays that log
# every read and write. In the picture below, press *run*, or move the slider from step to step.
# Each block is an array crossing the *bus*, the connection between memory and processor.

# %% tags=["core"]
x, y = np.ones(N), np.ones(N)
game = rl.golf(expression, x, y)
rl.live.golf(game, after=first)

# %% [markdown] tags=["core"]
# <details><summary>What happened: open this when you have guessed</summary>
#
# Five trips, not three. The first call reads `x` and writes `tmp1`; the second reads `tmp1`, reads
# `y` and writes the result.
#
# The program never mentions `tmp1`. But NumPy **finishes each call before it begins the next**.
# After `0.5 * x` there is a product for every number, and the products have to go somewhere. None
# of your caches can hold them, so they go out to memory, and the addition fetches them all back.
# That is two trips, 16 bytes for each number, for something that you never wanted.
#
# </details>

# %% [markdown] tags=["core"]
# ### Exercise 1 · Two programs
#
# Each vector has `n` numbers of `itemsize` bytes and is far larger than the cache. Return the bytes
# that NumPy moves for `a*x + y`, and the bytes that BLAS's AXPY moves.


# %% tags=["core", "answer"] rooflab={"exercise": "02-numpy-bytes"}
def bytes_moved(n, itemsize):
    # BEGIN SOLUTION
    expression, blas = 5, 3
    return expression * n * itemsize, blas * n * itemsize
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-numpy-bytes", bytes_moved)

# %% [markdown] tags=["core"]
# Does your clock agree with the bytes?

# %% tags=["core"]
rl.show.say(rl.conclude("02-expression", numpy_, blas), after=first)

# %% [markdown] tags=["core"]
# ## “`out=` saves the traffic”
#
# Common advice: don't make new arrays. Use `out=` to say where the result should go, or work *in
# place* with `*=` and `+=`. So let's use an array `t` that already exists.

# %% tags=["core"]
t = np.empty_like(x)


def with_out(x, y):
    np.multiply(x, 0.5, out=t)
    return np.add(t, y, out=t)


def in_place(x, y):
    x *= 0.5
    x += y
    return x


# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# `expression` moves 40 bytes for each number. `with_out` moves …
#
# <details><summary><b>A</b> 24: without a new array it is the same as AXPY.</summary>
#
# This is *a trip needs a new array*: what counts is what is read and written, not what is created.
#
# </details>
#
# <details><summary><b>B</b> 32: one of the two new arrays is gone.</summary>
#
# This is A's idea at half strength.
#
# </details>
#
# <details><summary><b>C</b> 40.</summary>
#
# **Right.** The multiplication reads `x` and writes `t`; the addition reads `t`, reads `y` and
# writes `t`. Five trips, as before.
#
# </details>
#
# <details><summary><b>D</b> 48: <code>t</code> is written twice.</summary>
#
# This adds the second write of `t`, but that write replaces the write of the result.
#
# </details>

# %% tags=["core", "nbval-check-output"]
for f in (expression, with_out, in_place):
    print(f"{f.__name__:10}  {rl.golf(f, x, y).per_element:.0f} bytes for each number")

# %% [markdown] tags=["core"]
# None of the three saves a single trip. Does `out=` save time all the same? It creates no array, so
# the operating system has nothing to do. **How many times AXPY's time does `with_out` take?**
# Guess.

# %% tags=["core"]
out = rl.measure(axpy, run=lambda x, y: with_out(x, y), threads=1)
kept = rl.ask("02-out", out.median_s / blas.median_s)
kept

# %% tags=["core"]
rl.show.say(rl.conclude("02-out", numpy_, out, blas), after=kept)

# %% [markdown] tags=["core"]
# Each row of the table may add one cause to the row above. You can read the bytes off the program,
# but not the other causes; a *Deeper* part says more about the fetched lines. To save trips, the
# products must stay in a cache.
#
# ## In pieces
#
# A cache is small and near, and **it keeps what was touched last**. Suppose you multiply only a
# piece of the numbers, add it at once, and go on to the next piece. What changes? When a piece is
# added, its products were touched a moment ago. If it is small enough, the cache still has them.


# %% tags=["core"]
def in_pieces(x, y, chunk=4096):
    t = np.empty(min(chunk, len(x)))
    for i in range(0, len(x), chunk):
        part = y[i : i + chunk]
        part += np.multiply(x[i : i + chunk], 0.5, out=t[: len(part)])
    return y


# %% [markdown] tags=["core"]
# All pieces use the same `t` for their products, so no piece asks the operating system for memory.
# It is still NumPy, with two calls for every piece and Python's slow `for` around them. The next
# cell tries pieces from 1024 numbers to all of them at once. It times each size, and counts its
# bytes for a cache as large as your largest one. That takes about ten seconds. **What is the best
# it can do, compared with AXPY?**

# %% tags=["core"]
sizes = [4**k for k in range(5, 16) if 4**k < N] + [N]
pieces = sweep(in_pieces, x, y, chunks=sizes, cache=largest)
second = rl.ask("02-chunked", min(pieces.seconds) / blas.median_s)
second

# %% [markdown] tags=["core"]
# The picture has two sliders now. Begin with the largest piece, all numbers at once, and make it
# smaller. As soon as a piece fits the cache, its products, your `t`, drop into the cache lane. They
# still travel, but only inside the processor, so the counted bytes fall. Does the measured time
# fall with them? Does it keep falling?

# %% tags=["core"]
rl.live.golf(pieces, after=second)

# %% [markdown] tags=["core"]
# And all sizes in one curve. The teal line shows what the bytes cost at the best rate seen here,
# the dashed line what the calls cost. Read it from the right.

# %% tags=["core"]
rl.show.say(rl.show.pieces(pieces), after=second)

# %% tags=["core"]
t = game = None  # gives their memory back
x, y = np.ones(10**6), np.ones(10**6)  # smaller ones from here on
rl.show.say(rl.conclude("02-pieces", pieces), after=second)

# %% [markdown] tags=["core"]
# ## Where was the data?
#
# Until now all data came from memory, *cold*. If you call AXPY over and over on the same short
# vectors, they stay in a cache: *warm*. The next cell does that with 10 000 numbers and divides the
# bytes by the time, as if they had come from memory. **How many times the memory's bandwidth does
# AXPY seem to reach?** In the picture, *L1*, *L2* and *L3* are the caches, the nearest first, and
# *DRAM* is the memory.

# %% tags=["core"]
here = rl.this_machine(threads=1)
warm = rl.measure(rl.axpy(10_000, "fp64"), cache="warm", threads=1)
why = rl.explain(warm, here)
above = rl.show.roofline(here, [blas, warm])
third = rl.ask("02-warm", why.share, picture=above)
third

# %% [markdown] tags=["core"]
# Have you guessed? Then read on. In the next picture *both* is pressed, so AXPY appears twice: cold
# on the roof of memory, warm on the roof of its cache. Press GEMV, and you see the same. GEMM's two
# marks stay together where arithmetic limits it. The small hollow marks are what the course
# predicts, and the grey marks are what you measured at other sizes. Slide `N` up. AXPY has `N` ×
# `N` numbers here, so the picture starts near the 10 000 from above. The vectors outgrow your
# caches, and where no cache holds them the two marks meet.

# %% tags=["core"]
ops = ["gemm", "gemv", "axpy"]
timed = [blas, warm]
rl.live.roofline(here, measurements=timed, ops=ops, n=96, dtype="fp64", cache="both", after=third)

# %% tags=["core"]
rl.show.say(rl.conclude("02-warm", why, warm), after=third)

# %% [markdown] tags=["core"]
# A rate above the roof of memory is a sign that something is wrong with the measurement. Usually a
# cache was timed, since the simplest way to measure is a loop over the same arrays. Or somebody
# counted trips that nobody made, or drew the roof of another machine. If it was the cache, there
# are two honest ways out: use vectors far larger than every cache, or draw the roof of the level
# that you timed.
#
# ## Claim court: a million numbers
#
# A public web lesson on AXPY, GEMV and GEMM uses a million numbers for AXPY and a 4096 × 4096
# matrix for GEMV. Its calculator assumes 4-byte numbers. The graphics card that it mentions, an RTX
# 4090, has a cache of 72 × 2²⁰ bytes, its *L2*. Are these sizes large enough?

# %% tags=["core", "nbval-check-output"]
card = rl.machine("rtx-4090")
for op in (rl.axpy(10**6), rl.gemv(4096, 4096)):
    print(f"{op.label}: {rl.si(op.working_set, 'B')} in {rl.si(card.capacities['l2'], 'B')} of L2")

# %% [markdown] tags=["core"]
# Both fit. That lesson prints no times; a loop over these arrays on that card would time its L2.
#
# ### Exercise 2 · Which memory was timed?
#
# An AXPY on `n` numbers of `itemsize` bytes, called over and over on the same two vectors, took
# `seconds` a call. `bandwidth` is the memory's, in byte/s; `caches` holds the size of every cache
# in bytes, the nearest first, such as `{"l1": 32768, "l2": 1048576}`. Return
#
# 1. the byte/s,
# 2. their share of the bandwidth, 1 for all of it,
# 3. the level that was really timed: the name of the nearest cache that holds both vectors, or
#    `"dram"`, which is the memory.


# %% tags=["core", "answer"] rooflab={"exercise": "02-claim-warm"}
def witness(n, itemsize, seconds, bandwidth, caches):
    # BEGIN SOLUTION
    rate = 3 * n * itemsize / seconds
    holding = [name for name, size in caches.items() if 2 * n * itemsize <= size]
    return rate, rate / bandwidth, (holding or ["dram"])[0]
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-claim-warm", witness)

# %% [markdown] tags=["core"]
# ## Byte golf
#
# In golf the fewest strokes win; here, the fewest bytes. Three rules:
#
# - One NumPy call carries each array it is given once, and its result once.
# - There is one cache of 512 KiB, whatever your computer has. It keeps what was touched last, whole
#   arrays and pieces alike. Using what it holds moves nothing.
# - The score is your bytes ÷ the fewest that any program must move. *Par*, the score that is good
#   enough, is 1.05 on every hole.
#
# <details><summary>The fine print</summary>
#
# What was touched longest ago leaves the cache first. If it was written, it moves then. At the end,
# everything moves that was written and is still wanted. A slice such as `x[i:j]` is only a *view*:
# it moves nothing by itself, and shares its bytes with `x`. Python's numbers move nothing. What is
# written is not fetched first. Golf does not count calls, but your clock does.
#
# </details>
#
# Here is the first expression's scorecard:

# %% tags=["core", "nbval-check-output"]
rl.golf(expression, x, y)

# %% [markdown] tags=["core"]
# The checks use sizes and number types of their own, and the last piece may be shorter than the
# rest.
#
# ### Exercise 3 · Hole 1, AXPY
#
# Return `a*x + y`. You may write over `y`.


# %% tags=["core", "answer"] rooflab={"exercise": "02-golf-axpy"}
def golf_axpy(a, x, y):
    # BEGIN SOLUTION
    for i in range(0, len(x), 16384):
        y[i : i + 16384] += a * x[i : i + 16384]
    return y
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-golf-axpy", golf_axpy)

# %% [markdown] tags=["core"]
# Want to see where your bytes go? `rl.golf(golf_axpy, 0.5, x, y)` logs your own function, and
# `rl.live.golf(…)` around it draws the log.
#
# ### Exercise 4 · Hole 2, sum of squares
#
# Return the sum of all $x_i^2$, one number. Pieces would do. But first see whether NumPy has a
# function that multiplies and adds up in *one* call.


# %% tags=["core", "answer"] rooflab={"exercise": "02-golf-squares"}
def squares(x):
    # BEGIN SOLUTION
    return np.dot(x, x)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-golf-squares", squares)

# %% [markdown] tags=["core"]
# ### Exercise 5 · Hole 3, the length of rows
#
# This one is harder to score well on. Divide each row of the matrix `x` by its length
# $\sqrt{\sum_j x_{ij}^2}$. Language models do something very similar in every layer: *RMSNorm*
# divides by the root of the mean square and multiplies by learned weights. A row has 512 numbers.
# The length needs the whole row before the division can start, so every row is needed twice. Does
# it have to travel twice? And how many rows can a piece have? You may write over `x`.
#
# One call may help: `np.einsum("ij,ij->i", rows, rows)` gives the sum of squares of every row.


# %% tags=["core", "answer"] rooflab={"exercise": "02-golf-row-norm"}
def row_norm(x):
    # BEGIN SOLUTION
    for i in range(0, len(x), 32):
        rows = x[i : i + 32]
        length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= length[:, None]
    return x
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-golf-row-norm", row_norm)

# %% [markdown] tags=["core"]
# ## Does the time follow the score?
#
# A score is only a count. Here are several ways to play each of the three holes, from the worst to
# the best: the score, the real time, and what that way does. Ways in pieces use the size that was
# best on your computer, so the scores assume a cache as large as your largest one, not golf's own.
# It takes about twenty seconds.

# %% tags=["core"]
played, lines = [], []
for number, (name, hole) in enumerate([*HOLES.items()][:3], 1):
    lines.append(f"hole {number}, {name}")
    given = hole.make(N)
    for way, function in hole.ways(pieces.best).items():
        one = rl.golf(function, *given, cache=largest)
        played.append((f"hole {number}", one.score, one.time()))
        lines.append(f"  {one.score:5.2f} {rl.si(played[-1][2], 's'):>8}  {hole.says[way]}")
guesses = first, kept, second
rl.show.say(*lines, after=guesses)

# %% [markdown] tags=["core"]
# And your own three functions, in orange among them:

# %% tags=["core"]
mine, own = [], (golf_axpy, squares, row_norm)
for number, (hole, f) in enumerate(zip(HOLES.values(), own), 1):
    one = rl.golf(f, *hole.make(N), cache=largest)
    if one.bytes:
        mine.append((f"hole {number}", one.score, one.time()))
rl.show.say(rl.show.scores(played, mine), after=guesses)

# %% tags=["core"]
del one, given
rl.show.say(rl.conclude("02-holes", played), after=guesses)

# %% [markdown] tags=["core"]
# Where the time does not follow the bytes, look for three things.
#
# - *Fresh memory.* The operating system first has to find memory for every large new array, and
#   zero it.
# - *Kinds of calls.* Some calls move their bytes faster than others.
# - *Number of calls.* Small pieces mean thousands of calls.
#
# ## Claim court: “a bias add is AXPY”
#
# The same web lesson has a table of the three operations with their typical uses. Under AXPY it
# lists the *bias add*: one row of numbers is added to every row of a matrix. Is that AXPY, with its
# $1/6$ FLOP/byte in `fp32`? Or a plain sum of two arrays, with $1/12$?
#
# ### Exercise 6 · A bias add
#
# A matrix has `m` rows of `n` numbers of `itemsize` bytes. One and the same row of numbers is added
# to each of them, and the sums go into a new matrix. Return the FLOPs, the fewest bytes, and the
# value that FLOPs ÷ bytes approaches as `m` becomes very large.


# %% tags=["core", "answer"] rooflab={"exercise": "02-claim-bias"}
def bias_add(m, n, itemsize):
    # BEGIN SOLUTION
    matrix, row = m * n, n
    nbytes = (2 * matrix + row) * itemsize
    return matrix, nbytes, 1 / (2 * itemsize)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-claim-bias", bias_add)

# %% tags=["core", "nbval-check-output"]
add = rl.elementwise("add", (4096, 4096), inputs={"x": (4096, 4096), "bias": (4096,)})
print(f"bias add {add.intensity:.4f}, AXPY {rl.axpy(4096**2).intensity:.4f} FLOP/byte")

# %% [markdown] tags=["core"]
# Three operations that look alike, three different counts. The row stays near while the matrix goes
# by; that is what *broadcasting* saves.
#
# ## Half the bytes
#
# There is an easier way to save bytes than rewriting a program: use smaller number types.
#
# ### Vote, or choose for yourself
#
# You run `expression` on `fp32` arrays instead of `fp64`, both far larger than the cache. Its golf
# score, bytes ÷ fewest bytes, …
#
# <details><summary><b>A</b> halves, and so does the time.</summary>
#
# This mixes up bytes and score.
#
# </details>
#
# <details><summary><b>B</b> stays, and the time halves.</summary>
#
# **Right.** Both your bytes and the fewest possible halve, so their ratio stays: 20 ÷ 12 = 40 ÷
# 24. A program with a bad score has a bad score in any type.
#
# </details>
#
# <details><summary><b>C</b> doubles.</summary>
#
# This divides the wrong way round.
#
# </details>
#
# <details><summary><b>D</b> stays, and so does the time: the FLOPs are the same.</summary>
#
# This is *arithmetic is what costs*, from lesson 00.
#
# </details>

# %% [markdown] tags=["core"]
# The same AXPY in both types:

# %% tags=["core"]
wide, narrow = [rl.measure(rl.axpy(N, kind), threads=1) for kind in ("fp64", "fp32")]
rl.conclude("02-types", wide, narrow)

# %% [markdown] tags=["deep"]
# ## Deeper: two more holes
#
# ### Exercise 7 · Hole 4, bias and ReLU
#
# This is a bias add with one more step: add the vector `b` to every row of the matrix `x`, 512
# numbers to a row, then set what is negative to zero. In neural networks that last step is called
# *ReLU*, and older networks do both steps after nearly every product of matrices. `b` is small and
# stays in the cache. You may write over `x`.


# %% tags=["deep", "answer"] rooflab={"exercise": "02-golf-bias-relu"}
def bias_relu(x, b):
    # BEGIN SOLUTION
    result = np.empty_like(x)
    for i in range(0, len(x), 32):
        np.maximum(x[i : i + 32] + b, 0, out=result[i : i + 32])
    return result
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("02-golf-bias-relu", bias_relu)

# %% [markdown] tags=["deep"]
# ### Exercise 8 · Hole 5, scale, add, scale
#
# Return `b*(a*x + y)`. You may write over `y`.


# %% tags=["deep", "answer"] rooflab={"exercise": "02-golf-scale-add-scale"}
def scale_add_scale(a, b, x, y):
    # BEGIN SOLUTION
    for i in range(0, len(x), 16384):
        piece = slice(i, i + 16384)
        np.multiply(a * x[piece] + y[piece], b, out=y[piece])
    return y
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("02-golf-scale-add-scale", scale_add_scale)

# %% [markdown] tags=["deep"]
# ## Deeper: larger pieces
#
# Here is hole 3 once more, with pieces from 2 rows up to all of them. Golf assumes your own largest
# cache again, so its score and your clock describe the same computer.

# %% tags=["deep"]
hole = HOLES["row-l2-norm"]
matrix = hole.make(N)
rows = (2, 8, 32, 128, 512, 2048, len(matrix[0]))
larger = sweep(hole.variants["chunks"], *matrix, chunks=rows, cache=largest)
rl.show.pieces(larger, unit="rows")

# %% tags=["deep"]
del matrix
rl.conclude("02-pieces", larger, "rows")

# %% [markdown] tags=["deep"]
# ## Deeper: what a write costs
#
# A processor does not write single numbers to memory. Memory comes in *lines*, of 64 bytes on most
# CPUs and 128 on Apple's. To change a part of a line, the cache first fetches the whole line. This
# is called **write-allocate**. So an array that is written without having just been read is carried
# in before it is carried out: one more trip that nobody ordered.
#
# There are ways around it. A program can ask for *non-temporal stores*, also called *streaming
# stores*, which go to memory without a fetch. Many Arm cores stop fetching by themselves once they
# have seen a few whole lines written. Intel's newer server processors can do this too, with a
# feature called SpecI2M, but only while the memory is heavily loaded. One core alone rarely loads
# it that much.
#
# AXPY needs none of this: it reads `y` and then writes it, so the lines are there. With `out=`, one
# array, `t`, is written before it is read: 6 trips, 48 bytes. In two lines of code, `t = 0.5 * x`
# and `t + y`, there are two such arrays: 7 trips, 56 bytes.
#
# And in one line, `0.5 * x + y`? Where NumPy can see that nothing else uses the products, it writes
# the sum over them, and only one array is new. It cannot see that on every system. So let's check:
# Python can report how much memory the line held at its worst moment.

# %% tags=["deep"]
import tracemalloc

tracemalloc.start()
expression(x, y)
fresh = round(tracemalloc.get_traced_memory()[1] / x.nbytes)
tracemalloc.stop()
rl.show.say(rl.conclude("02-write-allocate", numpy_, out, blas, fresh), after=(first, kept))

# %% [markdown] tags=["deep"]
# ## Deeper: bytes travel in lines
#
# Because memory comes in lines, what travels is not always what you use. Read every tenth number of
# a table, or one column of a matrix stored by rows, and a whole line comes along with each number.
# So count the lines that hold a number you want. Real processors also guess which lines come next
# and fetch them early. This is called *prefetching*, and it can only add to the count.
#
# ### Exercise 9 · Lines
#
# A program reads `count` numbers of `itemsize` bytes, each `stride` numbers after the one before.
# The first is at byte `address`. Memory comes in lines of `line` bytes, and lines begin at the
# multiples of `line`. How many bytes travel? No number crosses from one line into the next.


# %% tags=["deep", "answer"] rooflab={"exercise": "02-lines"}
def travelling(address, count, stride, itemsize, line):
    # BEGIN SOLUTION
    places = (address + i * stride * itemsize for i in range(count))
    return len({place // line for place in places}) * line
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("02-lines", travelling)

# %% tags=["deep"]
print(f"your x begins {x.ctypes.data % 64} bytes after a multiple of 64")

# %% [markdown] tags=["deep"]
# A long run hardly notices where it begins: that costs one line more in thousands. A short run
# does. That is why some libraries *align* arrays and rows to the start of a line, while others
# leave it to you.
#
# ## Deeper: pooling
#
# *Max-pooling* is a light layer of a vision network: a window of $k \times k$ numbers slides over
# an image, and only the largest number of each window is kept. Windows may overlap. With a step
# (the *stride*) of 1, every number away from the border is used $k^2$ times. But it needs to travel
# only once.
#
# ### Exercise 10 · Max-pooling
#
# An `fp32` image is `h` × `w` with `c` channels. Windows of `k` × `k` lie inside it, `stride`
# apart. They fit exactly: no row or column is left over. One comparison is one FLOP. Return the
# FLOPs and the fewest bytes.


# %% tags=["deep", "answer"] rooflab={"exercise": "02-pooling"}
def pooling(h, w, c, k, stride):
    # BEGIN SOLUTION
    windows = ((h - k) // stride + 1) * ((w - k) // stride + 1) * c
    return (k * k - 1) * windows, 4 * (h * w * c + windows)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("02-pooling", pooling)

# %% tags=["deep", "nbval-check-output"]
pool = rl.pool2d(1, 57, 57, 64, kernel=2, stride=1)
having = [m for m in rl.machines().values() if m.has_peak("fp32")]
left = sum(rl.Roofline(m, "fp32").ridge > pool.intensity for m in having)
print(f"{pool.intensity:.2f} FLOP/byte: left of the ridge on {left} of {len(having)} machines")

# %% [markdown] tags=["deep"]
# ## Deeper: bytes per FLOP
#
# Many texts, most of them by people who build computers, turn the ratio upside down: **B/F**, bytes
# per FLOP. There are two kinds, and they are easy to mix up:
#
# - the B/F of a *program*: the bytes it moves ÷ the FLOPs it does, the reciprocal of its intensity;
# - the B/F of a *machine*: its bandwidth ÷ its peak, the reciprocal of its ridge.

# %% tags=["deep", "nbval-check-output"]
a100 = rl.Roofline("a100-sxm-80", "fp32")
print(f"an A100 has {1 / a100.ridge:.3f} B/F, fp32 AXPY asks for {1 / rl.axpy(4096).intensity:.0f}")

# %% [markdown] tags=["deep"]
# ### Exercise 11 · The other way round
#
# A program does `flops` FLOPs and moves `nbytes` bytes, on a machine with `peak` (FLOP/s) and
# `bandwidth` (byte/s). Return the program's B/F, the machine's B/F, and what limits the program:
# `"memory"` or `"compute"`.


# %% tags=["deep", "answer"] rooflab={"exercise": "02-balance"}
def balance(flops, nbytes, peak, bandwidth):
    # BEGIN SOLUTION
    asked, offered = nbytes / flops, bandwidth / peak
    return asked, offered, "memory" if asked > offered else "compute"
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("02-balance", balance)

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - **40 and 24 bytes**: what a number of long `fp64` vectors costs in NumPy's `a*x + y`, and in
#   AXPY.
# - **5 ÷ 3 = 1.67**: that line's score, in any number type.
# - **More than 100 %** of the memory's bandwidth: usually a cache was timed.
#
# ## What you can do now
#
# - **Count** the bytes of a NumPy program: every call carries every array it touches, and
#   temporaries travel both ways.
# - **Rewrite** it in pieces that fit the cache, down to the fewest bytes that any program must
#   move; `out=` and `*=` alone save none. Don't always blame the memory: often a slow program
#   ordered too many bytes.
# - **Tell** memory from cache: a rate above the roof points to a nearer level.
# - **Predict** the effect of another number type: time follows the bytes.
# - And if you went deeper: **say** which trips the hardware adds.
#
# You have counted FLOPs since lesson 00, and now every byte. Lesson 03 puts both in one picture,
# for every operation and every machine. Which of the two sets the time?
#
# Go on with [lesson 03](03_roofline.ipynb).

# %% tags=["core"]
rl.my_guesses("02")

# %% tags=["core"]
rl.progress("02")
