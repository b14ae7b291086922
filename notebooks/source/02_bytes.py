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
# **What travels between memory and processor, and who ordered it?**
#
# When you are through with this lesson you can
#
# - **count** the bytes that a NumPy program really orders, call by call,
# - **rewrite** it so that it orders as few as any program must,
# - **predict** what another number type does to its time,
# - **tell** a bandwidth of the memory from one of a cache, and a GB from a GiB,
# - after the *Deeper* parts: **say** what the hardware adds to the bytes that you ordered.
#
# It takes about 60 minutes, with the *Deeper* parts 100; a lecture shows some of it in 20. You need
# lesson 01, and NumPy as far as `x[i:j]`.

# %% tags=["core"]
import numpy as np

import rooflab as rl
from rooflab.golf import HOLES, sweep

# %% [markdown] tags=["core"]
# ## The same arithmetic, twice
#
# AXPY from lesson 01, on ten million numbers. NumPy makes 8-byte numbers (`fp64`) if you don't ask
# for others, so we take those.

# %% tags=["core", "nbval-check-output"]
N = 10_000_000
axpy = rl.axpy(N, "fp64")
axpy

# %% [markdown] tags=["core"]
# Three trips of 8 bytes for each number, that is 24 bytes: read `x`, read `y`, write `y`. BLAS has
# a routine that does just this. And every Python programmer can write it down in one line:


# %% tags=["core"]
def expression(x, y):
    return 0.5 * x + y


# %% [markdown] tags=["core"]
# One multiplication and one addition for each number, as in AXPY. Both are compiled code that works
# on several numbers at once, both run on one core, and both carry far longer than they compute. The
# next cell times both. **How many times as long does the expression take?** Guess, then look.

# %% tags=["core"]
blas = rl.measure(axpy, threads=1)
numpy_ = rl.measure(axpy, run=expression, threads=1)
first = rl.ask("02-expression", numpy_.median_s / blas.median_s)
first

# %% [markdown] tags=["core"]
# Have you guessed? Then let's see what happened. `rl.golf` runs a function once on arrays that
# keep a diary: whenever NumPy reads or writes one of them, its bytes are put down. The picture
# below is covered until you have guessed. Press *run*, or move its slider from step to step; a
# block is an array that crosses the *bus*, the connection between memory and processor.

# %% tags=["core"]
x, y = np.ones(N), np.ones(N)
game = rl.golf(expression, x, y)
rl.live.golf(game, after=first)

# %% [markdown] tags=["core"]
# <details><summary>What happened (open this when you have guessed)</summary>
#
# Five trips, not three. The first call reads `x` and writes `tmp1`; the second reads `tmp1`, reads
# `y` and writes the result.
#
# Nobody wrote `tmp1` in the program. But NumPy does one call at a time, and **it finishes each
# call before it begins the next**. After `0.5 * x` there are ten million products, and they have
# to be somewhere. They do not fit into a cache, so they go out to memory; the addition fetches
# them all back. That is two trips, 16 bytes for each number, for something that you never wanted.
#
# The bytes say 40 ÷ 24 = 1.67 times as long. Your clock may say more, because fresh memory costs
# extra: the operating system has to find it and to clean it, and in *Deeper* you will see that the
# hardware adds a trip too.
#
# </details>

# %% [markdown] tags=["core"]
# ### Exercise 1 · Two programs
#
# Vectors of `n` numbers of `itemsize` bytes, far larger than the cache. Return the bytes that
# NumPy moves for `a*x + y`, and those that BLAS's AXPY moves.


# %% tags=["core", "answer"] rooflab={"exercise": "02-numpy-bytes"}
def bytes_moved(n, itemsize):
    # BEGIN SOLUTION
    expression, blas = 5, 3
    return expression * n * itemsize, blas * n * itemsize
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-numpy-bytes", bytes_moved)

# %% [markdown] tags=["core"]
# ## “`out=` saves the traffic”
#
# Every NumPy guide has this advice: make no new arrays, say with `out=` where the result should
# go, or work *in place* with `*=` and `+=`. So let's take an array `t` that is there already.

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
# - **A** 24: without a new array it is the same as AXPY.
# - **B** 32: one of the two new arrays is gone.
# - **C** 40.
# - **D** 48: `t` is written twice.
#
# <details><summary>What each answer would mean</summary>
#
# **C.** The multiplication reads `x` and writes `t`; the addition reads `t`, reads `y` and writes
# `t`. Five trips, as before. <br>
# **A** is *a trip needs a new array*: what counts is what is read and written, not what is
# created. <br>
# **B** is the same thought, half as strong. <br>
# **D** counts the second writing of `t` on top; it takes the place of writing the result.
#
# </details>

# %% tags=["core", "nbval-check-output"]
for f in (expression, with_out, in_place):
    print(f"{f.__name__:10}  {rl.golf(f, x, y).per_element:.0f} bytes for each number")

# %% [markdown] tags=["core"]
# None of the three saves a single trip. Does `out=` save time all the same? No array is created
# now, so the operating system has nothing to do. Guess.

# %% tags=["core"]
out = rl.measure(axpy, run=lambda x, y: with_out(x, y), threads=1)
rl.ask("02-out", out.median_s / blas.median_s)

# %% [markdown] tags=["core"]
# On most computers it does help, and now you know with what: **`out=` saves the allocation, not
# the trips.** To save the trips the products must not leave for memory at all.
#
# ## In pieces
#
# A cache is small and near. What if you multiply only as many numbers as fit into one, add them at
# once, and go on to the next piece? Here is the largest cache of your processor. Three pieces share
# it, one of `x`, one of `y` and the products; each may have a quarter, and the last quarter is for
# everything else.

# %% tags=["core"]
here = rl.this_machine(threads=1)
largest = max((n for level, n in here.capacities.items() if level != "dram"), default=2**25)
room = largest // 4
print(f"a piece may have up to {room / 2**20:.2f} MiB, {room // 8:,} numbers")


# %% tags=["core"]
def in_pieces(x, y, chunk=4096):
    t = np.empty(min(chunk, len(x)))
    for i in range(0, len(x), chunk):
        part = y[i : i + chunk]
        part += np.multiply(x[i : i + chunk], 0.5, out=t[: len(part)])
    return y


# %% [markdown] tags=["core"]
# All pieces use the same `t` for their products, so no piece asks the operating system for memory.
# It is still NumPy, still two calls for every piece, and Python's slow `for` around them. The next
# cell tries pieces from 1024 numbers to all ten million at once, counts the bytes of each size and
# times it too (some seconds). **What is the best it can do, compared with AXPY?**

# %% tags=["core"]
sizes = [4**k for k in range(5, 12)] + [N]
pieces = sweep(in_pieces, x, y, chunks=sizes, cache=room)
second = rl.ask("02-chunked", min(pieces.seconds) / blas.median_s)
second

# %% [markdown] tags=["core"]
# The picture has two sliders now. Begin with the largest chunk, all numbers at once, and make it
# smaller. As soon as a piece has room, the products (`tmp1`, your `t`) drop into the cache lane.
# They still travel, but they stay inside the processor: the counted bytes fall, and the measured
# time falls with them. Does it go on falling?

# %% tags=["core"]
rl.live.golf(pieces, after=second)

# %% [markdown] tags=["core"]
# And all sizes in one table:

# %% tags=["core"]
pieces

# %% [markdown] tags=["core"]
# Read the last column from below. Huge pieces are slow: their products go out to memory and come
# back. Where they begin to fit the cache the bytes fall from 40 to 24, and the time falls with
# them. (Perhaps somewhat earlier or later: other programs use the cache too.) Towards the top it
# gets slower again, though not a byte more travels. There you pay Python: a piece costs two calls
# and some slicing, a few microseconds, and thousands of pieces cost thousands of them. **The time
# is bytes plus calls**; in between lies the best piece.
#
# ## Byte golf
#
# In golf the fewest strokes win; here it is bytes. The rules:
#
# - One NumPy call reads each array it is given once, and writes its result once.
# - A piece `x[i:j]` of a large array is in memory, **however small it is**: a slice is only a
#   *view*, the numbers lie where they lay.
# - An array of your own of up to 32 KiB is in the cache and costs nothing. Four of them have room
#   there at a time. A larger array is in memory.
# - The score is your bytes ÷ the fewest that any program must move. *Par*, with which a hole is
#   solved, is 1.05 on every hole.
#
# So in golf a cache holds 32 KiB an array, whatever yours holds. That is a model: nearly every
# processor has as much quite near, and with one rule for everybody scores can be compared. The
# fastest pieces are often larger, as you have just seen, because small ones pay Python's calls;
# golf counts no calls. (And no lines: of a strided array it counts what you use. See *Deeper*.)
#
# Here is the card of the expression from the beginning:

# %% tags=["core", "nbval-check-output"]
game

# %% [markdown] tags=["core"]
# The checks use sizes and number types of their own, and the last piece may be shorter than the
# others.
#
# ### Exercise 2 · Hole 1, AXPY
#
# Return `a*x + y`. You may write over `y`.


# %% tags=["core", "answer"] rooflab={"exercise": "02-golf-axpy"}
def golf_axpy(a, x, y):
    # BEGIN SOLUTION
    for i in range(0, len(x), 4096):
        y[i : i + 4096] += a * x[i : i + 4096]
    return y
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-golf-axpy", golf_axpy)

# %% [markdown] tags=["core"]
# Want to see where your bytes go? `rl.golf(golf_axpy, 0.5, x, y)` writes the diary of your own
# function, and `rl.live.golf(…)` of that draws it.
#
# ### Exercise 3 · Hole 2, sum of squares
#
# Return the sum of all $x_i^2$, one number. (Pieces would do. But look first whether NumPy has a
# function that multiplies and adds up in *one* call.)


# %% tags=["core", "answer"] rooflab={"exercise": "02-golf-squares"}
def squares(x):
    # BEGIN SOLUTION
    return np.dot(x, x)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-golf-squares", squares)

# %% [markdown] tags=["core"]
# ### Exercise 4 · Hole 3, the length of rows
#
# Here the best score is hard to get, and language models do it in every layer: divide each row of
# the matrix `x` by its length $\sqrt{\sum_j x_{ij}^2}$. A row has 512 numbers. The length needs
# the whole row before the division can start, so every row is needed twice. Must it travel twice?
# You may write over `x`.
#
# (`np.einsum("ij,ij->i", rows, rows)` gives the sum of squares of every row in one call;
# `x[i:j].copy()` makes a small array of your own.)


# %% tags=["core", "answer"] rooflab={"exercise": "02-golf-row-norm"}
def row_norm(x):
    # BEGIN SOLUTION
    result = np.empty_like(x)
    for i in range(0, len(x), 8):
        rows = x[i : i + 8].copy()
        length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        np.divide(rows, length[:, None], out=result[i : i + 8])
    return result
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-golf-row-norm", row_norm)

# %% [markdown] tags=["deep"]
# ### Exercise 5 · Hole 4, bias and ReLU
#
# Add the vector `b` to every row of the matrix `x` (512 numbers in a row), then set what is
# negative to zero; neural networks call that *ReLU*, and do both after nearly every product of
# matrices. `b` is small: it stays in the cache. You may write over `x`.


# %% tags=["deep", "answer"] rooflab={"exercise": "02-golf-bias-relu"}
def bias_relu(x, b):
    # BEGIN SOLUTION
    result = np.empty_like(x)
    for i in range(0, len(x), 8):
        np.maximum(x[i : i + 8] + b, 0, out=result[i : i + 8])
    return result
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("02-golf-bias-relu", bias_relu)

# %% [markdown] tags=["deep"]
# ### Exercise 6 · Hole 5, scale, add, scale
#
# Return `b*(a*x + y)`. You may write over `y`.


# %% tags=["deep", "answer"] rooflab={"exercise": "02-golf-scale-add-scale"}
def scale_add_scale(a, b, x, y):
    # BEGIN SOLUTION
    for i in range(0, len(x), 4096):
        piece = slice(i, i + 4096)
        np.multiply(a * x[piece] + y[piece], b, out=y[piece])
    return y
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("02-golf-scale-add-scale", scale_add_scale)

# %% [markdown] tags=["core"]
# ## Does the time follow the score?
#
# A score is only a count. Here are several ways to play each hole, from the worst to the best: the
# score, the real time, and what that way does. An arrow marks a row that takes longer than the one
# above it, although it moves no more bytes. (It takes some fifteen seconds.)

# %% tags=["core"]
for number, hole in enumerate(HOLES.values(), 1):
    print(f"hole {number} {hole.name}")
    given, before = hole.make(), float("inf")
    for name, way in hole.variants.items():
        played = rl.golf(way, *given)
        seconds = played.time()
        arrow = "  ← slower" if seconds > 1.1 * before else ""
        print(f"  {played.score:5.2f} {rl.si(seconds, 's'):>8}  {hole.says[name]}{arrow}")
        before = seconds

# %% [markdown] tags=["core"]
# The arithmetic hardly differs within a hole; the bytes do, and mostly they set the order. Where
# they don't, look for three things.
#
# - *Fresh memory*: who makes whole new arrays pays the operating system for them.
# - *Kinds of calls*: not every call moves its bytes equally fast.
# - *Numbers of calls*: pieces of 32 KiB are small, thousands of them make thousands of calls, and
#   Python may cost what the bytes have saved.
#
# For the last there is a remedy, larger pieces. Here is hole 3 again, from 8 rows in a piece up
# to all of them, and golf is told of the room in your own largest cache.

# %% tags=["core"]
hole = HOLES["row-l2-norm"]
matrix = hole.make()
rows = (8, 32, 128, 512, 2048, len(matrix[0]))
sweep(hole.variants["chunks"], *matrix, chunks=rows, cache=room)

# %% [markdown] tags=["core"]
# More rows in a piece are fewer calls, and that pays until the copied rows no longer fit; then the
# bytes rise. Compare the best of these times with the best one of hole 3 above.
#
# ## Half the bytes
#
# There is a cheaper way to fewer bytes than rewriting a program: numbers of fewer bytes.
#
# ### Exercise 7 · Another number type
#
# A program limited only by carrying takes `seconds` at an intensity of `intensity` FLOP/byte, with
# numbers of `itemsize` bytes. With numbers of `new_itemsize` bytes: how many seconds, and
# which intensity? Return both.


# %% tags=["core", "answer"] rooflab={"exercise": "02-narrower"}
def narrower(seconds, intensity, itemsize, new_itemsize):
    # BEGIN SOLUTION
    factor = new_itemsize / itemsize
    return seconds * factor, intensity / factor
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-narrower", narrower)

# %% [markdown] tags=["core"]
# Is it true? The same AXPY in both types:

# %% tags=["core"]
wide, narrow = [rl.measure(rl.axpy(N, kind), threads=1) for kind in ("fp64", "fp32")]
print(f"fp64 takes {wide.median_s / narrow.median_s:.2f} times as long as fp32")

# %% [markdown] tags=["core"]
# It should be about 2. If it is far from that, something else was running, or a cache of yours
# holds the smaller vectors.
#
# ### Vote, or choose for yourself
#
# You run `expression` on `fp32` arrays instead of `fp64`, both far larger than the cache. Its golf
# score, bytes ÷ fewest bytes, …
#
# - **A** halves, and so does the time.
# - **B** stays, and the time halves.
# - **C** doubles.
# - **D** stays, and so does the time: the FLOPs are the same.
#
# <details><summary>What each answer would mean</summary>
#
# **B.** Both your bytes and the fewest possible halve, so their ratio stays: 20 ÷ 12 = 40 ÷ 24. A
# program with a bad score has it in any type. <br>
# **A** mixes up bytes and score. <br>
# **C** divides the wrong way round. <br>
# **D** is *arithmetic is what costs*, from lesson 00.
#
# </details>

# %% [markdown] tags=["core"]
# ## Where was the data?
#
# Until now all data came from memory, *cold*. Call AXPY over and over on the same short vectors,
# and they stay in a cache: *warm*. The next cell does that with 10 000 numbers and divides the
# bytes by the time, as if they had come from memory. **How many times the memory's bandwidth does
# it find?**

# %% tags=["core"]
warm = rl.measure(rl.axpy(10_000, "fp64"), cache="warm", threads=1)
why = rl.explain(warm)
above = rl.show.roofline(here, [blas, warm])
rl.ask("02-warm", why.share, picture=above)

# %% [markdown] tags=["core"]
# <details><summary>What happened (open this when you have guessed)</summary>
#
# The point of the short vectors hangs *above* the roof. No memory can do that, and none did: the
# two vectors have 160 kB together, they lay in a cache, and a cache is what was timed.
#
# </details>

# %% [markdown] tags=["core"]
# Whoever reports a rate above the roof as the bandwidth of the memory has timed a cache. It
# happens to the best, since the simplest way to measure is a loop over the same arrays. There are
# two honest ways out: take vectors far larger than every cache, or draw the roof of the level
# that you timed. In the next picture *both* is pressed, and every dot splits in two: the cold one
# under the roof of the memory, the warm one under that of its cache. Slide `N` (AXPY has `N` ×
# `N` numbers here): the vectors grow out of your caches, and where none holds them the two dots
# meet.

# %% tags=["core"]
rl.live.roofline(here, measurements=[blas, warm], dtype="fp64", cache="both")

# %% [markdown] tags=["core"]
# And the same in words, for the short vectors:

# %% tags=["core"]
print(why.sentence)

# %% [markdown] tags=["core"]
# ## Claim court
#
# Two claims of a kind that is easily found. Both are made up; the mistakes in them are not. The
# card is real, a consumer GPU.
#
# **“Our vector kernel reaches 2.9 TB/s on a card with 1.008 TB/s.”** The vectors had eight million
# 4-byte numbers together, and the card has a cache (its L2) of 72 MB.
#
# ### Exercise 8 · The witness
#
# An AXPY on `n` numbers of `itemsize` bytes, called over and over on the same two vectors, took
# `seconds` a call. `bandwidth` is that of the memory in byte/s; `caches` holds the bytes of every
# cache, the nearest first, such as `{"l1": 32768, "l2": 1048576}`. Return
#
# 1. the byte/s,
# 2. their share of the bandwidth (1 is all of it),
# 3. the level that was really timed: the name of the nearest cache that holds both vectors, or
#    `"dram"`.


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
# **“880 GB/s: our kernel leaves 13 % of the card's 1008 GB/s unused.”** The tool that printed it
# says GB/s, but its source divides by `2**30`.
#
# ### Exercise 9 · GiB as GB
#
# Such a tool printed `printed` “GB/s” on a machine with `bandwidth` byte/s. Return the true byte/s
# and their share of the bandwidth.


# %% tags=["core", "answer"] rooflab={"exercise": "02-claim-gigabytes"}
def unmask(printed, bandwidth):
    # BEGIN SOLUTION
    rate = printed * 2**30
    return rate, rate / bandwidth
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("02-claim-gigabytes", unmask)

# %% tags=["core", "nbval-check-output"]
rate, share = 880 * 2**30, 880 * 2**30 / 1008e9
print(f"{rl.si(rate, 'B/s')}, {100 * share:.1f} % of the roof")

# %% [markdown] tags=["core"]
# That is about all that such a memory gives: some time goes into refreshing it, and into turning
# round between reading and writing. A GiB is 7.4 % larger than a GB: enough to hide a perfect
# kernel, or, the other way round, to make a good one look perfect.

# %% [markdown] tags=["deep"]
# ## Deeper: what a write costs
#
# A processor does not write single numbers to memory. Memory comes in *lines*, of 64 bytes on
# most CPUs, and to change a part of a line the cache fetches the line first. This is called
# **write-allocate**, and it means that an array which is written, and has not just been read, is
# carried in before it is carried out: one more trip that nobody ordered. (Some programs get around
# it with special instructions; recent server CPUs of Intel and many Arm cores notice that
# whole lines are written, and do so by themselves.)
#
# AXPY has no such trip: it reads `y` and then writes it, so the lines are there. But take the
# expression in two steps, `t = 0.5 * x` and `t + y`. It writes two arrays that it has not read: 40
# bytes become 56.
#
# And in one line, `0.5 * x + y`? There NumPy sees that nobody else can use the products, and (on
# Linux) writes the sum over them. Then the second write finds its lines in place: 48.
#
# ### Exercise 10 · Bytes with write-allocate
#
# A program reads `reads` arrays, writes `fresh_writes` arrays that the same call has not read, and
# `writes_after_reading` that it has. Return the bytes for each element with write-allocate.


# %% tags=["deep", "answer"] rooflab={"exercise": "02-write-allocate"}
def crossing(reads, fresh_writes, writes_after_reading, itemsize):
    # BEGIN SOLUTION
    return (reads + 2 * fresh_writes + writes_after_reading) * itemsize
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("02-write-allocate", crossing)

# %% tags=["deep"]
for way, trips in {"as ordered": 5, "one line": 6, "two steps": 7}.items():
    print(f"{way:10}  {8 * trips} bytes, {trips / 3:.2f} times AXPY")
for name, one in {"one line": numpy_, "with out=": out}.items():
    print(f"measured    {name} {one.median_s / blas.median_s:.2f} times AXPY")

# %% [markdown] tags=["deep"]
# The one line and `out=` order the same trips, 6 with the fetched one. What the one line takes
# longer is the operating system's: fresh pages have to be found and cleaned. What is left above
# 2.00 no count explains; two calls, each with its own mix of reading and writing, rarely use a
# memory as well as one routine does. And if your `out=` is below 2.00, your processor has got
# around the fetching, or something else was running while AXPY was timed.

# %% [markdown] tags=["deep"]
# ## Deeper: bytes travel in lines
#
# Because memory comes in lines, what travels is not what you use. Every tenth number of a table,
# one column of a matrix stored by rows: for each of them a whole line comes along.
#
# ### Exercise 11 · Lines
#
# `count` numbers of `itemsize` bytes are read, each `stride` numbers after the one before; the
# first stands at byte `address`. Memory comes in lines of `line` bytes, and line boundaries are
# the multiples of `line`. How many bytes travel? (No number lies across a boundary.)


# %% tags=["deep", "answer"] rooflab={"exercise": "02-lines"}
def travelling(address, count, stride, itemsize, line):
    # BEGIN SOLUTION
    places = (address + i * stride * itemsize for i in range(count))
    return len({place // line for place in places}) * line
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("02-lines", travelling)

# %% [markdown] tags=["deep"]
# Long runs hardly notice where they begin: one line more in thousands. Short ones do, and that is
# why libraries *align* the beginnings of arrays and of rows to lines.
#
# ## Deeper: pooling
#
# Pooling is the lightest layer of a vision network: a window of $k \times k$ numbers slides over
# an image, and only the largest number of each window is kept. Windows may overlap. With a step
# (the *stride*) of 1 every number is used $k^2$ times. It need travel only once.
#
# ### Exercise 12 · Max-pooling
#
# An `fp32` image of `h` × `w` with `c` channels; windows of `k` × `k` lie inside it, `stride`
# apart. One comparison is one FLOP. Return the FLOPs and the least bytes. (The windows fit
# exactly: no row or column is left over.)


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
print(f"{pool.intensity:.2f} FLOP/byte: no machine of the course is limited by its arithmetic")

# %% [markdown] tags=["deep"]
# ## Deeper: bytes per FLOP
#
# Many texts, most of them from people who build computers, put the ratio upside down: **B/F**,
# bytes per FLOP. There are two of them, and they are easily mixed up:
#
# - the B/F of a *program*: the bytes it moves ÷ the FLOPs it does, the reciprocal of its intensity;
# - the B/F of a *machine*: its bandwidth ÷ its peak, the reciprocal of its ridge.

# %% tags=["deep", "nbval-check-output"]
a100 = rl.Roofline("a100-sxm-80", "fp32")
print(f"an A100 has {1 / a100.ridge:.3f} B/F, fp32 AXPY asks for {1 / rl.axpy(N).intensity:.0f}")

# %% [markdown] tags=["deep"]
# ### Exercise 13 · The other way round
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
# ## What you can do now
#
# - **Count** the bytes of a NumPy program: every call carries every array it touches, and
#   temporaries travel both ways.
# - **Rewrite** it in pieces that fit the cache, down to the fewest bytes that any program must
#   move; `out=` and `*=` alone save none.
# - **Predict** the effect of another number type: time goes with the bytes.
# - **Tell** memory from cache: a rate above the roof names a level nearer than memory. And GB from
#   GiB.
# - And if you went deeper: **say** which trips the hardware adds.
#
# You have counted bytes, and lesson 00 counted FLOPs. Lesson 03 puts both on one page for every
# operation and every machine: which of the two sets the time?

# %% tags=["core"]
rl.my_guesses()

# %% tags=["core"]
rl.progress("02")
