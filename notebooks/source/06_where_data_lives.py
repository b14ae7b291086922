# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 06 · Where data lives
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **What does it cost to fetch a number, in time and in energy?**
#
# Here are six boxes. Each holds a note with the number of the next box. You began at box 0 and have
# made two hops. Where does the next one lead? And the one after that? Press *hop*.
#
# <details><summary>50 minutes, 90 with the exercises: what you learn, and what you need</summary>
#
# - **Find** the caches of a computer in a curve that you measured, and say how large they are.
# - **Compute** how many lines must be in flight at once to use a memory fully.
# - **Explain** why one memory can have several bandwidths, all of them true.
# - **Add up** the energy of an operation, and say when moving costs more than computing.
# - After the *Deeper* parts: **read** a roofline of energy, and **compute** the joules of a token.
#
# You need lessons 00 to 03, and for the last *Deeper* part lesson 05. The *Deeper* parts add 20
# minutes. A lecture shows some of it in 25.
#
# </details>

# %% tags=["core"]
import rooflab as rl

rl.memory.rings()

# %% [markdown] tags=["core"]
# ## A treasure hunt
#
# You cannot skip ahead: each note says only where the next one is. You can send a computer on such
# a hunt, too. Its memory comes in *lines*, 64 bytes each on most processors. They are the boxes.
# Every line of an array stores the address of another line. Following the addresses is called a
# **pointer chase**. The time of one hop is the **latency**: how long a line takes to arrive.
#
# Until now the data in this course came in order. A processor notices such an order and asks for
# the next numbers before the program does. That is called *prefetching*. It hides what a single
# trip costs. To see that cost, we have to defeat the prefetcher, and a treasure hunt does.
#
# The next cell makes arrays of many sizes and chases through each, again and again. The smallest is
# 4 kilobytes long and fits into the nearest cache. The largest should be too large for any cache.
# The cell also reads the arrays in order and copies them, which takes about a quarter of a minute.
# **How many times slower is a hop in the largest array than in the smallest?** Guess.

# %% tags=["core"]
mountain = rl.memory.mountain(threads=1)
hop = rl.ask("06-hop", mountain.latency[-1] / mountain.latency[0])
hop

# %% [markdown] tags=["core"]
# The picture below has two halves. The upper one shows how many bytes are read and copied each
# second, the lower one how long a hop takes. What a program touches again and again is its
# **working set**. Here that is the array, which grows to the right. Drag the slider.

# %% tags=["core"]
rl.live.mountain(mountain, after=hop)

# %% tags=["core"]
here = rl.this_machine(threads=1)
rl.show.say(rl.conclude("06-hop", mountain, here), after=hop)

# %% [markdown] tags=["core"]
# People call this picture the *memory mountain*: from left to right, the bandwidth curves come down
# in steps. Each step is the end of a cache. As long as the working set fits, every hop finds its
# line there. With a slightly larger one, some hops come to lines that the cache has just thrown out
# to make room. With a much larger one, nearly all do.
#
# The two halves do not always step at the same size. The sentence under the picture says where they
# disagree.
#
# So you can find the caches from the curves alone. rooflab has already looked. The next cell
# compares what it found with what the operating system reports.

# %% tags=["core"]
rl.show.say(rl.conclude("06-levels", mountain), after=hop)

# %% [markdown] tags=["core"]
# ### Exercise 1 · Find the caches
#
# `sizes` are working sets in bytes, and `seconds` gives the time of a hop in each. The largest
# sizes lie in memory, the rest in a cache. From one level to the next, a hop takes at least twice
# as long. Within a level the times differ by a few per cent. Return the capacities of the caches,
# nearest first: for each cache, the largest of these sizes it still holds.
#
# Some machines are fast, some slow, and they have one to four caches.


# %% tags=["core", "answer"] rooflab={"exercise": "06-levels"}
def caches(sizes, seconds):
    # BEGIN SOLUTION
    rows = zip(sizes, seconds, seconds[1:])
    return [size for size, hop, larger in rows if larger > 1.5 * hop]
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("06-levels", caches)

# %% [markdown] tags=["core"]
# ## Claim court: shuffled is a chain
#
# How do you make such a walk through a thousand lines? A short recipe: write the number of each
# line on a note, shuffle the notes, and put one into each line. The claim: the notes name every
# line exactly once, so the walk visits all of them.
#
# **Shuffle a thousand lines this way. How many of them does the walk from line 0 visit, on average
# over many shuffles?** Guess.

# %% tags=["core"]
lengths = range(1, 1001)  # of the walk: all of them are equally likely
visits = rl.ask("06-rings", sum(lengths) / len(lengths))
visits

# %% [markdown] tags=["core"]
# Here are the boxes again. Press *shuffle* a few times, and walk.

# %% tags=["core"]
rl.memory.rings(shuffle=True, after=visits)

# %% [markdown] tags=["core"]
# The claim is false. A shuffled list falls apart into **rings**, and a walk never leaves its own
# ring. With a thousand lines, every length of the walk from 1 to 1000 is equally likely. So it
# visits about 500 lines on average, and all of them only once in a thousand shuffles.
#
# There is a recipe that works. Shuffle the *visits*, not the notes: choose an order in which to
# visit the lines, and let each one name the next. The button *one ring* does that, and so did the
# cell that made your mountain.
#
# ### Exercise 2 · The walk from line 0
#
# Line `i` leads to line `follows[i]`. How many bytes does the walk from line 0 touch? Count every
# line that it visits as 64 bytes.


# %% tags=["core", "answer"] rooflab={"exercise": "06-claim-chain"}
def working_set(follows):
    # BEGIN SOLUTION
    lines, at = 1, follows[0]
    while at != 0:
        lines, at = lines + 1, follows[at]
    return 64 * lines
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("06-claim-chain", working_set)

# %% [markdown] tags=["core"]
# ## Many at a time
#
# A chase gets one line, and one latency later the next. In your largest array that comes to:

# %% tags=["core"]
wait = mountain.latency[-1]
print(f"{mountain.line} bytes every {rl.si(wait, 's')}: {rl.si(mountain.line / wait, 'B/s')}")
print(f"read in order, one core: {rl.si(mountain.read[-1], 'B/s')}")

# %% [markdown] tags=["core"]
# The memory is the same, the core is the same, and a trip takes about as long. Reading in order is
# faster because **many trips are made at once**. In the next picture each dot is a line on its way
# to the core. Such lines are *in flight*. The core keeps track of each line it is waiting for in
# one of its *line-fill buffers*. When all buffers are taken, the next request has to wait.
#
# Press *run*. Then give the core more buffers. When do extra buffers stop helping?

# %% tags=["core"]
rl.memory.belt()

# %% [markdown] tags=["core"]
# Ten lines are in flight, each for 100 ns, so one arrives every 10 ns. The same rule holds for
# anything that comes, stays a while and goes: cars in a tunnel, guests in a café. It is called
# **Little's law**:
#
# $$\text{in flight} = \text{rate} \times \text{time of each}$$
#
# ### Try it: a better memory
#
# Set 10 buffers. You are offered two memories: one with twice the bandwidth, one with half the
# latency. Which makes this core faster? Decide first, then press their buttons.
#
# <details><summary>Why: open this when you have tried it</summary>
#
# Twice the bandwidth changes nothing here: the core has no buffer left to ask for more. But the
# memory could serve twice as many cores. With half the latency, each buffer is free again in half
# the time, so the rate doubles.
#
# </details>
#
# So **the most that one core can get is its buffers × the bytes of a line ÷ the latency**, however
# much the memory has to give. You see this best on servers: their memory serves dozens of cores and
# its latency is long, so one core alone gets a small part of the bandwidth.
#
# **How many lines are in flight while one of your cores reads in order?** The rate of a memory is
# its bandwidth in lines a second. The two figures you need are above the belt: the time of a hop,
# and the byte/s read in order. This is an estimate: it assumes that every trip takes as long as a
# lone hop.

# %% tags=["core"]
lines = rl.ask("06-underway", mountain.read[-1] * wait / mountain.line)
lines

# %% [markdown] tags=["core"]
# Can you count the buffers? Run several chases side by side. Each has one line in flight. When one
# more chase gains nothing, the buffers are full. The next cell tries 1, 2, 4 and more chases, and
# measures the other figures again.

# %% tags=["core"]
chases = rl.memory.concurrency("dram")
rl.show.say(rl.conclude("06-underway", chases), after=lines)

# %% [markdown] tags=["core"]
# For many years Intel's cores had ten line-fill buffers at the first cache. Newer cores have more,
# and prefetchers may have buffers of their own further out.
#
# ### Exercise 3 · How many cores fill a memory?
#
# A memory delivers `bandwidth` byte/s; a line of 64 bytes arrives `latency` seconds after a core
# asks for it; a core can have `lines` lines in flight. Return
#
# 1. how many lines must be in flight on average to use the whole bandwidth,
# 2. the byte/s that one core alone gets from this memory,
# 3. the smallest number of cores that together use all of it.


# %% tags=["core", "answer"] rooflab={"exercise": "06-underway"}
def cores_needed(bandwidth, latency, lines):
    # BEGIN SOLUTION
    wanted, one = bandwidth * latency / 64, lines * 64 / latency
    return wanted, min(one, bandwidth), -int(-bandwidth // one)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("06-underway", cores_needed)

# %% [markdown] tags=["core"]
# ## One memory, several bandwidths
#
# Lesson 00 found a bandwidth of one core, lesson 02 timed AXPY, and lesson 03 had a roof for each
# mix of reading and writing. On most computers these bandwidths all differ, yet none is wrong. Each
# counts the bytes that its own loop *asks for*, in both directions together. But the buffers above
# are for lines that a core **fetches**. Lines that its first cache writes back leave by another
# route and need no buffer.
#
# The picture shows your own figures. Press *asked for*, then *what travels*. Which parts of the
# bars come out nearly the same length?

# %% tags=["core"]
found = rl.memory.bandwidths(here, chases=chases)
rl.memory.bandwidth_bars(found)

# %% [markdown] tags=["core"]
# The copy hides something. It asks for two lines: one to read, one to write. But many processors
# fetch a line before writing it, because the program might change only part of it. Then three lines
# travel, but the copy reports two. Some processors notice that whole lines are being written, and
# skip the extra fetch. In the picture it is dashed.

# %% tags=["core"]
rl.conclude("06-bandwidths", found)

# %% [markdown] tags=["core"]
# ### Exercise 4 · What crosses the bus
#
# A benchmark reports `rate` byte/s. It counts every array in the list `read` once, and every array
# in `written` once. If `fetches` is true, the processor also fetches each line that the program
# writes but does not read. All arrays have the same length. Return the byte/s that really cross the
# bus, both directions together.
#
# For a copy: `read` is `["x"]` and `written` is `["y"]`.


# %% tags=["core", "answer"] rooflab={"exercise": "06-bus"}
def bus_rate(rate, read, written, fetches):
    # BEGIN SOLUTION
    counted = len(read) + len(written)
    fetched = sum(name not in read for name in written) if fetches else 0
    return rate * (counted + fetched) / counted
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("06-bus", bus_rate)

# %% [markdown] tags=["core"]
# ## What a trip costs in energy
#
# A trip costs time only if you wait for it. It always costs energy. Charging a wire takes energy
# for every bit, and the wire to the memory is long.
#
# The figures below were published in 2014, for chips of about 2008 (45 nm), and are still quoted
# everywhere. They are in *picojoules*: 1 pJ is $10^{-12}$ joules. The figure for memory is the
# lower end of a range that reaches twice as high.

# %% tags=["core", "nbval-check-output"]
table = rl.memory.energy_table("horowitz-45nm")
word = {level: 4e12 * table.per_byte(level) for level in ("l1", "l2", "dram")}
fma = 1e12 * table.per_operation("fp32", "fma")
print(*[f"4 bytes from {level}: {pj:.0f} pJ" for level, pj in word.items()], sep="\n")

# %% [markdown] tags=["core"]
# **One `fp32` number, 4 bytes, is fetched from memory. How many `fp32` multiply-adds would the same
# energy pay for?** Guess.

# %% tags=["core"]
price = rl.ask("06-price", word["dram"] / fma)
price

# %% [markdown] tags=["core"]
# Newer chips spend less energy on arithmetic, but not always less on the trip. Here is the same
# with published figures for 7 nm and two kinds of memory. Many computers have DDR4; HBM2 is stacked
# right beside the chip.

# %% tags=["core"]
newer, said = rl.memory.energy_table("tpuv4i-7nm"), []
for memory in ("ddr4", "hbm2"):
    fetch = 4 * newer.with_memory(memory).per_byte("dram")
    many = fetch / newer.per_operation("fp32", "fma")
    said.append(f"{memory}: 4 bytes take {rl.si(fetch, 'J')}, as {many:.0f} multiply-adds do")
rl.show.say(*said, after=price)

# %% [markdown] tags=["core"]
# ## Claim court: “moving data costs more than computing”
#
# For one access against one operation, the table proves it. Is it true of a whole program?
#
# ### Vote, or choose for yourself
#
# Count only the trips to memory, and carry each matrix and vector once. By the 45 nm table, in
# `fp32`, carrying costs more …
#
# <details><summary><b>A</b> always: one access costs a hundred operations.</summary>
#
# This compares one access with one operation. But GEMM uses each number many times.
#
# </details>
#
# <details><summary><b>B</b> in AXPY always, in GEMM below some N.</summary>
#
# **Right.** AXPY uses every number once, whatever N is. GEMM moves 3N² numbers for N³
# multiply-adds, so the operations catch up.
#
# </details>
#
# <details><summary><b>C</b> wherever memory limits the time.</summary>
#
# Close, but wrong: energy has a break-even of its own. The next exercise finds both.
#
# </details>
#
# <details><summary><b>D</b> never: caches make it free.</summary>
#
# Caches save trips to memory. But a trip to a cache costs energy too, only less.
#
# </details>
#
# ### Exercise 5 · Two break-evens
#
# A product of two N × N matrices needs N³ multiplications and N³ additions. All three matrices are
# carried once. Return
#
# 1. the N at which computing costs as much *energy* as carrying,
# 2. the N at which it takes as much *time*.
#
# A number has `itemsize` bytes. Moving a byte to or from memory costs `byte` pJ, an addition `add`
# pJ, a multiplication `multiply` pJ. `peak` is in FLOP/s, `bandwidth` in byte/s. Neither N has to
# be a whole number.


# %% tags=["core", "answer"] rooflab={"exercise": "06-break-even"}
def break_even(itemsize, byte, add, multiply, peak, bandwidth):
    # BEGIN SOLUTION
    energy = 3 * itemsize * byte / (add + multiply)
    time = 3 * itemsize / bandwidth * peak / 2
    return energy, time
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("06-break-even", break_even)

# %% [markdown] tags=["core"]
# By the 45 nm table, from small products to large ones:

# %% tags=["core", "nbval-check-output"]
for n in (64, 256, 1024, 4096):
    print(rl.memory.energy(rl.gemm(n, n, n)))

# %% [markdown] tags=["core"]
# That was memory alone. The bars in the next picture show AXPY, GEMV and GEMM on N × N numbers.
# Slide N, and watch how much of GEMM's energy goes into moving data. Then press the buttons one by
# one. They add what else a processor pays for: operands that come from the first cache, and the
# instructions themselves.

# %% tags=["core"]
rl.memory.energy_bars(after=price)

# %% [markdown] tags=["core"]
# The button *+ L1* charges two operands from the first cache for every multiply-add. With it,
# moving data takes 81 % of GEMM's energy even at N = 8192. So for trips to memory alone the claim
# is false. Count the trips to the first cache as well, and it is true again, unless the program
# keeps numbers in *registers*, right beside the arithmetic.
#
# Fetching and decoding an instruction costs about the same whether it does one addition or sixteen.
# So processors have instructions that compute on many numbers at once. This is called SIMD, the
# last button. The matrix units of GPUs go further: one of their instructions multiplies small
# matrices.

# %% [markdown] tags=["deep"]
# ## Deeper: a roofline of energy
#
# Divide the joules of an operation by its FLOPs, and you have the energy of one FLOP. It depends on
# the intensity alone, just as the roof does: a fixed price for the arithmetic, plus the price of a
# byte divided by the intensity. The list below gives the reciprocal, FLOPs for each joule, for
# AXPY, GEMV, and square products with N = 96, 1024 and 8192. Among them is the intensity at which
# both parts cost the same, the *balance of energy*.

# %% tags=["deep", "nbval-check-output"]
arch = rl.memory.energy_roofline("horowitz-45nm", "fp32")
print(f"at best: {rl.si(arch.best, 'FLOP/J')}; balance of energy: {arch.balance:.0f} FLOP/byte")
for intensity in (1 / 6, 1 / 2, 16, arch.balance, 1024 / 6, 8192 / 6):
    print(f"{intensity:8.2f} FLOP/byte: {rl.si(float(arch.efficiency(intensity)), 'FLOP/J')}")

# %% [markdown] tags=["deep"]
# Times overlap, so the longer one counts and the roof has a corner. Energies add up, so this curve
# has no corner: it is an arch. At the balance of energy a joule buys half the FLOPs that it buys at
# best. The balance and the ridge are two different places. The picture shows the arch and, dashed,
# the roof of one core. Pull the slider to the corner of the roof. How far up is the arch there?

# %% tags=["deep"]
rl.memory.energy_arch(machine=here)

# %% [markdown] tags=["deep"]
# ## Deeper: joules from your own machine
#
# Many processors count the energy that they use. On Linux a program can read those counters if the
# system lets it; NVIDIA's GPUs report theirs. The next cell asks. If nothing can be read here, it
# says why.

# %% tags=["deep"]
with rl.memory.joules() as spent:
    product = rl.measure(rl.gemm(1024, 1024, 1024), cache="warm", threads=1)
spent

# %% [markdown] tags=["deep"]
# ## Deeper: joules for each token
#
# Lesson 05 made tokens one after another. Each step fetches all the weights once, for all sequences
# of the batch. So the sequences share the energy of fetching the weights. They do not share the
# energy of the arithmetic.
#
# ### Exercise 6 · Joules for each token
#
# A model has `weights` weights of `itemsize` bytes, and makes one token for each of `batch`
# sequences at once. Each sequence uses every weight in one multiply-add, and reads `kv_bytes` bytes
# of its own. Energies are in pJ, as before. Return
#
# 1. the joules for each token,
# 2. the batch at which the arithmetic with the weights costs as much energy as carrying them.


# %% tags=["deep", "answer"] rooflab={"exercise": "06-token"}
def token(weights, itemsize, batch, kv_bytes, byte, add, multiply):
    # BEGIN SOLUTION
    carried = (weights * itemsize / batch + kv_bytes) * byte
    computed = weights * (add + multiply)
    return (carried + computed) * 1e-12, itemsize * byte / (add + multiply)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("06-token", token)

# %% [markdown] tags=["deep"]
# Here is a model that you know, with the figures of a newer chip:

# %% tags=["deep", "nbval-check-output"]
for batch in (1, 8, 64):
    step = rl.model("gpt2").decode(batch, 1024)
    runs = [(one.op, one.count) for one in step.steps]
    whole = rl.memory.energy_of(runs, "tpuv4i-7nm", label=f"a step of GPT-2 at batch {batch}")
    print(f"{whole}; {rl.si(whole.joules / batch, 'J')} for each token")

# %% [markdown] tags=["deep"]
# From 1 sequence to 8, a token becomes four times cheaper. From 8 to 64 it becomes only 1.6 times
# cheaper: most of the energy left goes into the past of each sequence, which no other sequence
# shares.

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# What is usual today, next to what you measured.

# %% tags=["core"]
rl.show.say(rl.conclude("06-keep", mountain), after=hop)

# %% [markdown] tags=["core"]
# ## What you can do now
#
# - **Find** caches in a curve: a step is the end of a level, and the largest size before it is what
#   that level holds.
# - **Compute** what must be in flight: bandwidth × latency. A core that cannot have that much in
#   flight does not get the whole bandwidth on its own.
# - **Explain** bandwidths: each loop counts what it asks for, but the bus carries what is fetched
#   and written back.
# - **Add up** energy: bytes × their price plus operations × theirs. Times overlap, energies add.
# - And if you went deeper: **read** the arch of energy, and **compute** the joules of a token.
#
# Now you know where data lives, and what it costs to fetch it. In a large GEMM that cost is small,
# if every matrix is carried only once. But a real program fetches the same numbers again and again.
# Lesson 07 counts how often, and then cuts that number down.
#
# Go on with [lesson 07](07_tiling.ipynb).

# %% tags=["core"]
rl.my_guesses("06")

# %% tags=["core"]
rl.progress("06")
