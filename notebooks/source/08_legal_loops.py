# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 08 · Loops you may reorder
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **Which loops may change places, and what do you gain?**
#
# <details><summary>60 minutes, 95 with the exercises: what you learn, and what you need</summary>
#
# - **choose** the innermost loop by the steps that it takes through memory,
# - **decide** whether an order of loops is legal, and **prove** that one is not,
# - **repair** a nest of loops that may not be tiled as it stands,
# - **write** a schedule that fills a vector unit,
# - **judge** a claim that two programs are the same,
# - after the *Deeper* parts: **find** how many sums at once keep a core busy.
#
# You need lessons 01, 03 and 07. The *Deeper* parts add 20 minutes. A lecture shows some of it in
# 25.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## Six orders
#
# A tile is one way to change the order of the multiply-adds. There is a simpler one. The textbook's
# product has three loops, i, j and k, and you can nest them in six orders. The statement inside
# stays the same:
#
# ```
# C[i, j] += A[i, k] * B[k, j]
# ```
#
# The next cell compiles all six for N = 496 and times them on one core of your machine. No tiles,
# no library. **How many times faster is the fastest of the six than the slowest?**

# %% tags=["core"]
N = 496
product = rl.gemm(N, N, N, accumulate=True)
textbook = rl.loops.Nest({"i": N, "j": N, "k": N}, "C[i, j] += A[i, k] * B[k, j]")
orders = {}
for name in ("ijk", "ikj", "jik", "jki", "kij", "kji"):
    orders[name] = textbook.reorder(*name).measure(product, samples=3)
seconds = [one.median_s for one in orders.values()]
first = rl.ask("08-orders", max(seconds) / min(seconds))
first

# %% tags=["core"]
here = rl.this_machine(threads=1)
rl.show.say(rl.conclude("08-orders", orders, here), after=first)

# %% [markdown] tags=["core"]
# <details><summary>What makes the difference? Open this when you have guessed</summary>
#
# The innermost loop turns most often, so look at what one turn of it does to each matrix. They are
# stored row by row: the next number in a row is the next in memory, but the next number in a column
# is a whole row away.
#
# With j innermost, the program runs along a row of B and a row of C, while A[i, k] stays the same.
# The program uses every number in each line that it fetches. With i innermost, it runs down a
# column of A and a column of C: each turn touches two new lines, and uses one number from each.
# With k innermost, C[i, j] stays the same, while the program runs along a row of A and down a
# column of B.
#
# There is a second effect. A vector unit works on several neighbours at a time, and only with j
# innermost are its numbers of B and C all neighbours. A third effect comes later.
#
# </details>
#
# ### Exercise 1 · The loop for the inside
#
# How many new cache lines does one turn of the innermost loop need? `operands` lists the indices of
# each array: `["ik", "kj", "ij"]` for the product. Numbers that differ by one in the last index are
# neighbours in memory, and rows are much longer than a line. A line has `line` bytes, a number
# `itemsize`. Suppose that the cache keeps only the line in use of each array. In one turn of a loop
# an array then needs
#
# - no new line, if the loop is not among its indices,
# - `itemsize / line` of a line, if the loop is its last index,
# - a whole line, if the loop is any other of its indices.
#
# Return (1) the loop whose turn needs the fewest new lines for all arrays together, (2) how many:
# `innermost(["ik", "kj", "ij"], 4, 64)` is `("j", 0.125)`.


# %% tags=["core", "answer"] rooflab={"exercise": "08-innermost"}
def innermost(operands, itemsize, line):
    # BEGIN SOLUTION
    def lines(loop):
        touched = [one for one in operands if loop in one]
        return sum(itemsize / line if one[-1] == loop else 1 for one in touched)

    best = min(set("".join(operands)), key=lines)
    return best, lines(best)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("08-innermost", innermost)

# %% [markdown] tags=["core"]
# ## Another statement, and it breaks
#
# All six orders gave the same product. Here is another simple statement, on a 7 × 7 array:
#
# ```
# A[i, j] = A[i-1, j+1] * 0.5
# ```
#
# It takes the number one row up and one column to the right, and halves it. Programs that follow
# heat or waves through time are made of such *stencils*. Run it in both orders; `(1, 7)` starts i
# at 1, because row 0 has no row above it:

# %% tags=["core", "nbval-check-output"]
import numpy as np

stencil = rl.loops.Nest({"i": (1, 7), "j": 6}, "A[i, j] = A[i-1, j+1] * 0.5")
swapped = stencil.interchange("i", "j")
start = np.arange(49.0).reshape(7, 7)
print("rows first:   ", stencil.run("python", A=start)["A"][3])
print("columns first:", swapped.run("python", A=start)["A"][3])

# %% [markdown] tags=["core"]
# Nothing warned you, and the numbers are wrong. Why here, and not with the product?
#
# An **iteration** is one run of the statement, written S(i, j). Iteration S(1, 1) writes A[1, 1],
# and iteration S(2, 0) reads it. So there is a **dependence**: S(1, 1) must run first. Row by row
# it does. Column by column, all of column 0 comes before column 1, so S(2, 0) runs first and reads
# the old number. An order is **legal** if, for each dependence, the iteration that must run first
# still runs first.

# %% tags=["core", "nbval-check-output"]
swapped.check()

# %% [markdown] tags=["core"]
# The two iterations that it names are a **counterexample**: one pair is enough to convict an order.
#
# In the picture each dot is an iteration. An arrow leads from the one that must run first to the
# one that waits for it. An arrow is red where the order breaks it. Beside the dots stand the loops,
# and the call that makes them out of `nest`, the original. Here columns run first, and after two
# iterations the first arrow is broken. Can you keep that order without a red arrow? Pull the knob
# beside the last row: it makes the rows lean.

# %% tags=["core"]
picture = rl.loops.space(stencil)
picture.order, picture.step = "columns first", 2
picture

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# In the product, C[i, j] is read and written N times, so it has dependences, too. Why were all six
# orders legal?
#
# <details><summary><b>A</b> They were not: the sums were added in another order.</summary>
#
# Look at one number C[i, j]. In all six orders, its N products are added one after the other, with
# k rising. Not even the rounding differs.
#
# </details>
#
# <details><summary><b>B</b> Additions may be done in any order.</summary>
#
# Not with rounding: in `fp32`, (a + b) + c and a + (b + c) can differ in the last digits. So can a
# sum over k that runs backwards. The strict check, `check(reassociate=False)`, refuses it. The
# ordinary one forgives a different order of a sum, a product, a maximum or a minimum, and nothing
# else.
#
# </details>
#
# <details><summary><b>C</b> Iterations that depend on each other differ only in k.</summary>
#
# **Right.** S(i, j, 0) must run before S(i, j, 1), and so on. As long as k rises, that holds
# wherever you put the loop over k.
#
# </details>
#
# <details><summary><b>D</b> A and B are only read.</summary>
#
# True, and reading alone makes no dependence. But C is written.
#
# </details>
#
# ## Distances
#
# In many programs a dependence looks the same everywhere. In the stencil it goes from (i, j) to
# (i + 1, j − 1): its **distance** is (1, −1). In the product it goes from each k to the next, and
# its distance is (0, 0, 1). In the original order a distance always begins, after any zeros, with a
# positive number: of the loops in which the two iterations differ, the outermost has moved on.
#
# Change the order of the loops, and the numbers of the distance change places in the same way. Here
# (1, −1) becomes (−1, 1). It begins with a negative number, so the iteration that has to wait runs
# first. That is the whole test.
#
# ### Exercise 2 · What an order breaks
#
# `distances` is a list of distances. Each is itself a list, with one number per loop, the outermost
# first. `order` gives the new order: `order[0]` is the number of the loop that is now outermost,
# counted from 0, and so on. Return the distances that the new order breaks, unchanged and in the
# order in which they came: `broken([[1, -1], [1, 0]], [1, 0])` is `[[1, -1]]`.


# %% tags=["core", "answer"] rooflab={"exercise": "08-legal"}
def broken(distances, order):
    # BEGIN SOLUTION
    return [one for one in distances if [one[loop] for loop in order] < [0] * len(order)]
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("08-legal", broken)

# %% [markdown] tags=["core"]
# ## Tiles are an order, too
#
# Lesson 07 tiled the product without asking. Is a tile always legal? Here is the stencil in tiles
# of 2 × 2:

# %% tags=["core", "nbval-check-output"]
stencil.tile({"i": 2, "j": 2}).check()

# %% [markdown] tags=["core"]
# ### Exercise 3 · Convict a tile
#
# A nest runs i from 0 to `rows` − 1 and, inside it, j from 0 to `columns` − 1. Iteration (i, j)
# reads what iteration (i − `back`, j + `ahead`) wrote, if there is one. `back` and `ahead` are 1 or
# more, and `back` is smaller than `tile`. Now the nest runs in tiles of `tile` × `tile`: one row of
# tiles after another, and within a tile as before. Return the first iteration, in the original
# order, that reads too early, and the one it should have waited for: ((i, j), (i − back, j +
# ahead)).


# %% tags=["core", "answer"] rooflab={"exercise": "08-pair"}
def pair(rows, columns, back, ahead, tile):
    # BEGIN SOLUTION
    def when(i, j):
        return i // tile, j // tile, i, j

    for i in range(back, rows):
        for j in range(columns - ahead):
            if when(i, j) < when(i - back, j + ahead):
                return (i, j), (i - back, j + ahead)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("08-pair", pair)

# %% [markdown] tags=["core"]
# Once you have a pair, it is ringed in orange below, among 6 × 6 iterations in tiles of 2 × 2. Step
# through the order: which of the two is filled first?

# %% tags=["core"]
six = rl.loops.Nest({"i": 6, "j": 6}, "A[i + 1, j] = A[i, j + 1] * 0.5")
picture = rl.loops.space(six, pair=pair(6, 6, 1, 1, 2))
picture.tile = 2
picture

# %% [markdown] tags=["core"]
# ## Lean it, then tile it
#
# The trouble is the −1: the dependence points back in j. So count j differently: let j' = j + i.
# This is a **skew**. It made the rows lean in the picture above. Everything still runs in the same
# order; only the iterations have new names. The distance is now (1, −1 + 1) = (1, 0). No number in
# it is negative any more, so the loops may change places, and tiles are legal. In the code printed
# last, j' is called j:

# %% tags=["core", "nbval-check-output"]
leaning = stencil.skew("j", by="i")
print(leaning.interchange("i", "j").check())
print(leaning.tile({"i": 2, "j": 2}).check())
print(leaning.interchange("i", "j").code())

# %% [markdown] tags=["core"]
# *For these extents*: the check tried only these loop lengths. A distance holds for all lengths.
#
# ### Exercise 4 · How much it has to lean
#
# Each dependence of a nest of two loops has a distance (d, e). With a skew by `f`, j' = j + f · i,
# it becomes (d, e + f · d). Any tile is legal if no number of any distance is negative. `distances`
# is a list of pairs, legal in the original order. Return the smallest whole `f`, 0 or more, that
# leaves no negative number: `least_skew([(1, -1), (2, -5)])` is 3.


# %% tags=["core", "answer"] rooflab={"exercise": "08-skew"}
def least_skew(distances):
    # BEGIN SOLUTION
    factor = 0
    while any(e + factor * d < 0 for d, e in distances):
        factor += 1
    return factor
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("08-skew", least_skew)

# %% [markdown] tags=["core"]
# ## Claim court: one loop for two
#
# Two loops can be *coalesced* into one that counts through all of their iterations. GPU programs do
# this when they number their threads. The claim, from a talk: these two programs are the same.
#
# ```
# for i in range(10):              for t in range(100):
#     for j in range(10):              S(t % 10, t // 10)
#         S(i, j)
# ```
#
# The talk goes on: threads with neighbouring numbers t then touch neighbours in memory. Are both
# claims true?
#
# ### Exercise 5 · The same?
#
# Set `verdict` to four texts, in this order:
#
# 1. what the loop over t does: `"the same order"`, `"the loops interchanged"` or `"the inner loop
#    backwards"`;
# 2. whether it is `"legal"` or `"illegal"` in place of the two loops if S(i, j) is
#    `C[i, j] = A[i, j] + B[i, j]`;
# 3. the same question if S(i, j) is `A[i, j] = A[i-1, j+1] * 0.5`, where A has an extra row above
#    and an extra column on the right, so that every read exists;
# 4. how far apart in memory the numbers C[i, j] of t and t + 1 usually are, if C has 10 rows of 10:
#    `"1 number"`, `"10 numbers"` or `"11 numbers"`.

# %% tags=["core", "answer"] rooflab={"exercise": "08-claim-same"}
# BEGIN SOLUTION
verdict = ("the loops interchanged", "legal", "illegal", "10 numbers")
# END SOLUTION

# %% tags=["core", "nbval-check-output"]
rl.check("08-claim-same", verdict)

# %% [markdown] tags=["core"]
# ## Lanes
#
# A vector unit does one operation on several numbers at a time. Each of its places is a **lane**:
# with 8 lanes of `fp32`, as in AVX2 with FMA, a core does eight multiply-adds in one instruction.
# Other units have 4 lanes, or 16. Eight turns of a loop can become lanes if none reads or writes
# what another writes. Try the sum over k, then try j:

# %% tags=["core", "nbval-check-output"]
print(textbook.split("k", 8).vectorize("ki").check())
print(textbook.split("j", 8).reorder("i", "jo", "k", "ji").vectorize("ji").check())

# %% [markdown] tags=["core"]
# `split` cuts a loop in two: `jo` counts the groups of eight, `ji` the eight in a group. Lanes have
# to be innermost, so `reorder` puts k further out. Each step returns a new nest and leaves the old
# one unchanged. The loop over k itself cannot become lanes, because all its turns add to the same
# number. The refusal names the way out: give each lane a sum of its own, and add up the eight at
# the end. That changes the order of the additions, so a compiler does it only if you allow it. In
# the order ijk it adds one number after another; in ikj it can use the lanes without asking.
#
# ### Exercise 6 · Eight lanes
#
# A sequence of steps such as `split`, `reorder` and `vectorize` is a **schedule**. Write one for
# the product, and return the nest that comes out. `nest` is a nest like `textbook`, in `fp32` but
# of other sizes. The schedule must be legal, and its innermost loop must be a vector of 8 lanes, or
# of 16, 24 or 32, which are cut into eights. We simulate it with a first cache of 4 KiB in lines of
# 64 bytes. Below this cache it may move at most 1.5 times as many bytes as ours. The order above
# moves more.


# %% tags=["core", "answer"] rooflab={"exercise": "08-vectorise"}
def vectorised(nest):
    # BEGIN SOLUTION
    return nest.reorder("i", "k", "j").split("j", 8).vectorize("ji")
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("08-vectorise", vectorised)

# %% [markdown] tags=["core"]
# ## Many sums at a time
#
# The order decides one more thing. A core can begin one multiply-add in every cycle, or several,
# but each result arrives some cycles later. In a sum over k, each multiply-add has to wait for the
# one before it, and the core is idle most of the time. That slows ijk down, too.
# So give the core several sums that do not depend on each other. In the next picture a result takes
# four cycles. How many sums fill all boxes of the unit? And of two units?

# %% tags=["core"]
rl.loops.pipeline()

# %% [markdown] tags=["core"]
# In the next cell k is the loop around the lanes. The eight sums of a vector stay in registers
# while k runs. First the program does this for one row of C at a time, then for 2, 4 and 8 rows.
# `unroll` writes the turns for these rows one after the other in the code, so that all their sums
# are under way together. **How many times faster are eight rows than one?**

# %% tags=["core"]
rows = {}
for count in (1, 2, 4, 8):
    cut = textbook.split("j", 8).split("i", count).reorder("io", "jo", "k", "ii", "ji")
    rows[count] = cut.unroll("ii").vectorize("ji").measure(product)
second = rl.ask("08-rows", rows[1].median_s / rows[8].median_s)
second

# %% tags=["core"]
rl.show.say(rl.conclude("08-rows", rows, here), after=second)

# %% tags=["core"]
own = orders | {f"rows: {count}": one for count, one in rows.items()}
rl.live.roofline(here, measurements=own, ops=["gemm"], cache="warm", after=(first, second))

# %% [markdown] tags=["core"]
# All these points lie one above the other: the same multiply-adds, on the same operands. The order
# of the loops has lifted them, and for `rows` lanes and unrolling, too.
#
# Compare one row with the order ikj. If the compiler used lanes for ikj, both have them. But one
# row adds to the same eight sums again and again, and has to wait each time. With j innermost, each
# turn adds to eight new sums.

# %% [markdown] tags=["deep"]
# ## Deeper: who has to check?
#
# [Loopy](https://documen.tician.de/loopy/) is a program that writes loops for you. We gave version
# 2025.2 the stencil, and asked first for i outside, then for j outside. It wrote both programs
# without a word, though they compute different numbers. Its tutorial says that its loops have no
# order unless you give one, and that a program is correct only if every order gives a valid result.
#
# ### Vote, or choose for yourself
#
# Who made the mistake?
#
# <details><summary><b>A</b> Loopy. It should have refused one of the two.</summary>
#
# Which one? By its rules nothing says that rows come first.
#
# </details>
#
# <details><summary><b>B</b> We did.</summary>
#
# **Right.** By its rules the stencil is not a correct program, because not every order gives the
# same result. A program's author promises that every order does. The tool does not check the
# promise, so you have to.
#
# </details>
#
# <details><summary><b>C</b> Nobody. Both results are right.</summary>
#
# They differ, and we meant only one of them.
#
# </details>
#
# <details><summary><b>D</b> The compiler that compiled the two programs.</summary>
#
# It got two programs, each with its order written down, and stuck to it.
#
# </details>
#
# Other tools test the dependences, as you just did, or offer only steps that cannot break anything.
# Lesson 09 has a map of them.

# %% [markdown] tags=["deep"]
# ## Deeper: what a core is like inside
#
# How many sums does a core need? Suppose that it has `units` vector units, that each begins a
# multiply-add in every cycle, and that a result arrives after `latency` cycles. A vector of sums
# has one sum in each lane. With few such vectors under way, each gets one multiply-add every
# `latency` cycles. With many, all units are busy.
#
# ### Exercise 7 · Look inside
#
# `rates` are measured FLOP/s, with 1, 2, 3 … vectors of sums under way. Each is accurate to 2 %,
# and the list is long enough to reach the top. A vector has `lanes` numbers, and the core runs at
# `hertz` cycles per second. Return whole numbers: (1) the latency in cycles, (2) how many units the
# core has, (3) how many vectors of sums it takes to keep them all busy.


# %% tags=["deep", "answer"] rooflab={"exercise": "08-inside"}
def inside(rates, lanes, hertz):
    # BEGIN SOLUTION
    each = [rate / (2 * lanes * hertz) for rate in rates]
    latency = round(1 / each[0])
    units = round(max(each))
    return latency, units, latency * units
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("08-inside", inside)

# %% [markdown] tags=["deep"]
# ## Deeper: tiles through time
#
# Some programs sweep over a row of cells again and again. When the row does not fit into the cache,
# each sweep t fetches all of it again:
#
# ```
# for t in range(T):
#     for x in range(1, X):
#         A[x] = A[x-1] * 0.25 + A[x] * 0.5 + A[x+2] * 0.25
# ```
#
# A tile would do several sweeps over some of the cells while they are near. As it stands, no such
# tile is legal: a cell reads the cell two to its right, which must already have been through the
# sweep before. A skew helps: `skew("x", by="t", factor=f)` sets x' = x + f · t.
#
# ### Exercise 8 · Tiles on a slant
#
# `nest` is such a program in `fp32`, with the loops `t` and `x`. The first cache, L1, has 1 KiB in
# lines of 64 bytes. Return a legal schedule with tiles that do several sweeps while their cells are
# in L1. Below L1 it may move at most twice as many bytes as ours.


# %% tags=["deep", "answer"] rooflab={"exercise": "08-stencil-tiles"}
def slanted(nest):
    # BEGIN SOLUTION
    return nest.skew("x", "t", 2).tile({"t": 8, "x": 64})
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("08-stencil-tiles", slanted)

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - **6 orders**: all legal for the product.
# - **2, 1.0625, 0.125**: new 64-byte lines in a turn of i, k and j, in `fp32`.
# - **(1, −1)**: the stencil's distance. Swapped loops make it (−1, 1), so the swap is illegal.
#
# ## What you can do now
#
# - **Choose** the innermost loop: its turns should step to neighbours, or not at all.
# - **Decide** by distances: in the new order, each has to begin, after any zeros, with a positive
#   number. One pair of iterations **proves** that an order is wrong.
# - **Repair**, with a skew, a nest that may not be tiled.
# - **Judge** whether two programs are the same by the order of their iterations.
# - **Write** a schedule that fills the lanes, and keeps several sums under way.
# - And if you went deeper: **find** a core's latency and units from its rates.
#
# There are more orders than anyone wants to try by hand, and most of them are legal. In
# [lesson 09](09_search.ipynb) the machine tries them.

# %% tags=["core"]
rl.my_guesses("08")

# %% tags=["core"]
rl.progress("08")
