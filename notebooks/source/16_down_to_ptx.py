# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 16 · Down to PTX
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **What did the compiler make of it?**
#
# <details><summary>30 minutes, 60 with the exercises: what you learn, and what you need</summary>
#
# - **read** the instructions of a hot loop, and what they load,
# - **predict** what share of the peak they leave room for,
# - **share out** registers among warps,
# - **judge** a published prefetch, a hint and a table.
#
# You need lessons 13 and 14. The *Deeper* part adds 10 minutes. A lecture shows some of it in 20.
# No GPU is needed: NVIDIA's compiler works without one, and where it is missing, too, the figures
# were recorded.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## The same line, as instructions
#
# The tiled kernel of lesson 13 spends its time in one line, its *hot loop*. For each pair of tiles
# that line runs 32 times:
#
# ```c
# for (int k = 0; k < 32; ++k) sum += As[ty][k] * Bs[k][tx];
# ```
#
# That is 32 multiply-adds, and 64 numbers from shared memory for each thread. **How many
# instructions load these numbers?**

# %% tags=["core"]
loop = rl.cuda.summary("sgemm_shared").rows["sgemm_shared"].loop
first = rl.ask("16-loads", sum(n for name, n in loop.items() if name.startswith("LDS")))
first

# %% tags=["core"]
words = ", ".join(f"{n} {name}" for name, n in loop.items())
rl.show.say(f"In the hot loop: {words}.", after=first)

# %% [markdown] tags=["core"]
# <details><summary>Why: open this when you have guessed</summary>
#
# `LDS` loads from shared memory. The 32 numbers of B lie a row apart, and each needs an `LDS`. Four
# numbers of A are neighbours, and one `LDS.128` loads them: 8 of these. Nobody had asked for it.
#
# </details>
#
# ## Two languages
#
# NVIDIA's compiler works in two steps. First it writes **PTX**, for a GPU that does not exist.
# Most of PTX is the same for all GPUs. Then it translates PTX into **SASS**, the machine code of one
# generation. Here is the heart of AXPY in both:
#
# ```text
# PTX                                   SASS for an H100
# ld.global.nc.f32  %f2, [%rd5]         LDG.E.CONSTANT  R2, desc[UR4][R2.64]
# ld.global.f32     %f3, [%rd7]         LDG.E           R7, desc[UR4][R4.64]
# fma.rn.f32        %f4, %f2, %f1, %f3  FFMA            R7, R2, UR6, R7
# st.global.f32     [%rd7], %f4         STG.E           desc[UR4][R4.64], R7
# ```
#
# `LDG` loads from memory, and `FFMA` is a multiply-add in `fp32`. What stands after the points says
# how. An instruction is for all 32 threads of a warp.
#
# An SM of an H100 can start four instructions a clock, and it has room for four warps of
# multiply-adds. So every other instruction takes the place of one. **What share of the instructions
# in that loop are multiply-adds?**

# %% tags=["core"]
kinds = rl.cuda.loop_kinds("sgemm_shared")  # a letter for each instruction; f: multiply-add
second = rl.ask("16-share", 100 * kinds.count("f") / len(kinds))
second

# %% tags=["core"]
rl.cuda.listing(after=second)

# %% [markdown] tags=["core"]
# Whatever else happens, the tiled kernel cannot reach more than that share of the peak. The 8 × 8
# numbers of a thread need fewer loads, and loads of 16 bytes fewer still.
#
# ### Exercise 1 · Read a listing
#
# `lines` is a listing in SASS: a label, which begins with '.L', or an instruction a line. An
# instruction may have a condition before its name, a word that begins with '@'. What stands after a
# point modifies the name: 'LDS.128' is an LDS that loads 16 bytes for each thread, 'LDS.64' one
# that loads 8, and a plain LDS loads 4. LDSM is another instruction. The loop runs from a label to a
# BRA with a condition that names this label and stands below it; there is one such loop. Return two
# values: how many FFMA the loop has for each LDS in it, and how many bytes its LDS load for a
# thread. `reading(example)` is `(2.0, 16)`.

# %% tags=["core"]
example = [
    *("LDS.64 R2, [R9]", ".L_x_0", "LDS.128 R4, [R8]", "FFMA R1, R4, R5, R1"),
    *("@P1 FFMA R1, R6, R7, R1", "@P0 BRA `(.L_x_0)", "EXIT"),
]


# %% tags=["core", "answer"] rooflab={"exercise": "16-listing"}
def reading(lines):
    # BEGIN SOLUTION
    for end, line in enumerate(lines):
        label = line.split("(")[-1].rstrip(")")
        if line.startswith("@") and "BRA" in line and label in lines[:end]:
            loop = [line.split() for line in lines[lines.index(label) : end]]
    names = [words[words[0].startswith("@")].split(".") for words in loop]
    loads = [name for name in names if name[0] == "LDS"]
    sizes = [16 if "128" in load else 8 if "64" in load else 4 for load in loads]
    return sum(name[0] == "FFMA" for name in names) / len(loads), sum(sizes)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("16-listing", reading)

# %% [markdown] tags=["core"]
# ## Registers that are not there
#
# In lesson 14, kernel 4 of the H100 made the tile larger, 128 × 256 instead of 128 × 128, and fell
# from 498 to 123 TFLOP/s. Its tile lay in the registers of one warpgroup: 128 threads.

# %% tags=["core", "nbval-check-output"]
for tile, warpgroups in ((128 * 128, 1), (128 * 256, 1), (128 * 256, 2)):
    print(f"{tile:6,} numbers, {128 * warpgroups} threads: {tile // (128 * warpgroups)} registers")

# %% [markdown] tags=["core"]
# A thread has 255 registers at most, and it needs some for addresses. What does not fit is
# *spilled*: stored in memory and loaded again, in every step. Our prediction counts that and says
# 365; the fall was deeper still. The next kernel shared the tile among two warpgroups, and reached
# 610.

# %% tags=["core"]
stairs = rl.cuda.stairs("h100")
stairs.kernel = 3
stairs

# %% [markdown] tags=["core"]
# ### Exercise 2 · Why 123 TFLOP/s?
#
# A block keeps its tile of C, bm × bn numbers in fp32, in registers. One or more warpgroups of 128
# threads share the tile: each takes as many strips of 64 rows as every other. A thread of theirs
# needs `other` registers beside its part of C, and can have 255 at most. It is given what it needs,
# rounded up to a multiple of 8. One more warpgroup fetches; each of its threads is given `fetcher`
# registers. All threads of the block together can have 65,536. Return two values: the fewest
# warpgroups that can share the tile, and the registers that the block is given, or (0, 0) if it
# cannot be done. `warpgroups(64, 256, 44, 24)` is `(1, 25600)`.


# %% tags=["core", "answer"] rooflab={"exercise": "16-accumulators"}
def warpgroups(bm, bn, other, fetcher):
    # BEGIN SOLUTION
    strips = bm // 64
    for groups in range(1, strips + 1):
        each = bm * bn // (128 * groups) + other
        given = 128 * (groups * -(-each // 8) * 8 + fetcher)
        if strips % groups == 0 and each <= 255 and given <= 65536:
            return groups, given
    return 0, 0
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("16-accumulators", warpgroups)

# %% [markdown] tags=["core"]
# ## Writing PTX yourself
#
# CUDA C++ accepts PTX between its own lines, with `asm`. It helps where C++ has no word for an
# instruction: a multicast, a barrier, a hint for a cache.
#
# ### Vote, or choose for yourself
#
# You write four lines: load, use, load, use. The loads are PTX in `asm volatile`. In what order
# does the SASS come?
#
# <details><summary><b>A</b> As you wrote it: `volatile` says so.</summary>
#
# This is *PTX is what runs*: `volatile` keeps the two loads in their order, and says nothing about
# what stands between them.
#
# </details>
#
# <details><summary><b>B</b> Both loads, then both uses.</summary>
#
# **Right.** We compiled it: `LDG`, `LDG`, `FFMA`, `FFMA`. PTX is translated once more, and that step
# puts instructions in order.
#
# </details>
#
# <details><summary><b>C</b> It does not compile.</summary>
#
# This is *inline SASS*: that would not compile. PTX does.
#
# </details>
#
# <details><summary><b>D</b> There is only one load: the compiler joins both.</summary>
#
# This is *what can be joined will be*: they load different numbers, and `volatile` forbids it.
#
# </details>
#
# ### Vote, or choose for yourself
#
# DeepSeek's DeepEP loads with `ld.global.nc.L1::no_allocate.L2::256B`. A book says of it: not in
# NVIDIA's manual, and it fetches into L2 instead. What is true?
#
# <details><summary><b>A</b> Both.</summary>
#
# This is *unheard of, so undocumented*: the manual of PTX has all three words.
#
# </details>
#
# <details><summary><b>B</b> It is documented. What is not is using it on data that others write.</summary>
#
# **Right.** `.nc` promises that nobody writes there meanwhile. DeepEP breaks that, and its authors
# say so.
#
# </details>
#
# <details><summary><b>C</b> It is in the manual, but it does skip the registers.</summary>
#
# This is *a hint moves the data*: the load still ends in a register. `L2::256B` asks L2 to fetch
# more than it has to.
#
# </details>
#
# <details><summary><b>D</b> It works in small letters, too.</summary>
#
# This is *only the meaning counts*: the compiler rejects `l1::no_allocate`.
#
# </details>
#
# ## Claim court
#
# *To prefetch the next line, each thread asks L2 for 128 bytes that begin 128 bytes behind its own
# number.* The book has this in inline PTX, before a load of that number. Take the 32 threads of a
# warp. **How many different bytes do they ask for?**

# %% tags=["core"]
asked = {byte for i in range(32) for byte in range(4 * (i + 32), 4 * (i + 32) + 128)}
third = rl.ask("16-prefetch", len(asked))
third

# %% tags=["core"]
times = 32 * 128 / len(asked)
rl.show.say(f"{len(asked)} bytes, each of them asked for {times:.0f} times.", after=third)

# %% [markdown] tags=["core"]
# ### Exercise 3 · The next line?
#
# An array of n numbers in fp32 begins at a multiple of 128 bytes. Each of n threads, i from 0 to n
# - 1, asks L2 to fetch `size` bytes from number i + ahead on. Such an address has to be a multiple
# of 16 bytes. `size` is one, too. Return three values: how many threads give an address that is not
# allowed, how many ask for bytes beyond the end of the array, and how many bytes are asked for,
# divided by how many different bytes they are. `prefetches(10, 4, 16)` is `(7, 7, 3.077)`, rounded.


# %% tags=["core", "answer"] rooflab={"exercise": "16-claim-prefetch"}
def prefetches(n, ahead, size):
    # BEGIN SOLUTION
    begins = [4 * (i + ahead) for i in range(n)]
    not_allowed = sum(begin % 16 > 0 for begin in begins)
    beyond = sum(begin + size > 4 * n for begin in begins)
    return not_allowed, beyond, n * size / (begins[-1] + size - begins[0])
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("16-claim-prefetch", prefetches)

# %% [markdown] tags=["core"]
# Three findings: addresses that are not allowed, requests beyond the end, and the same bytes again
# and again. A right one has one thread of a block ask, several tiles ahead, and not near the end.
# Even that brings nothing where numbers are read once: no byte is saved.

# %% [markdown] tags=["deep"]
# ## Deeper: a table that does not add up
#
# The same book compares a kernel in C++ with one in PTX: it is stalled by memory 35 and 20 % of the
# time, starts 1.5 and 1.6 instructions a clock, and takes 1.07 and 1.00 ms. *Fewer instructions and
# 7 % less time*, it says.
#
# ### Exercise 4 · Audit a table
#
# A kernel was measured before and after a change. Each of `before` and `after` is a list: the share
# of all clocks in which it was stalled by memory, the instructions for each clock, and the
# milliseconds. The clock rate did not change. Return three values: the share of the time that is
# saved, instructions after for each one before, and the time that is *not* stalled after for each
# millisecond of it before. `audit([0.5, 2.0, 2.0], [0.5, 2.2, 1.5])` is `(0.25, 0.825, 0.75)`.


# %% tags=["deep", "answer"] rooflab={"exercise": "16-table"}
def audit(before, after):
    # BEGIN SOLUTION
    saved = 1 - after[2] / before[2]
    instructions = [ipc * time for _, ipc, time in (before, after)]
    busy = [(1 - stalled) * time for stalled, _, time in (before, after)]
    return saved, instructions[1] / instructions[0], busy[1] / busy[0]
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("16-table", audit)

# %% tags=["deep", "nbval-check-output"]
(stalls, rates, times) = (0.35, 0.20), (1.5, 1.6), (1.07, 1.00)
print(f"time {100 * (times[1] / times[0] - 1):+.1f} %")
print(f"instructions {100 * (rates[1] * times[1] / (rates[0] * times[0]) - 1):+.1f} %")
busy = [(1 - stall) * time for stall, time in zip(stalls, times)]
print(f"time not stalled {100 * (busy[1] / busy[0] - 1):+.1f} %")

# %% [markdown] tags=["deep"]
# 7 % faster is 6.5 % less time. Instructions stayed the same. And if stalls fell as much as it
# says, everything else became slower. The book calls its table hypothetical, which it is.
#
# ## Deeper: look for yourself
#
# Where NVIDIA's compiler is installed, the next cell compiles now. An `FFMA` does 32
# multiply-adds. An `HMMA` of lesson 14 does 16 × 8 × 16 = 2,048, and this kernel's `HGMMA` does
# 64 × 128 × 16 = 131,072.

# %% tags=["deep"]
print(rl.cuda.summary("sgemm_float4", "hgemm_mma", "hgemm_wgmma"))

# %% [markdown] tags=["deep"]
# With such instructions the share of multiply-adds in a listing says little: each keeps its unit
# busy for many clocks.
#
# A hint that C++ has a word for needs no PTX: `__ldcg()` becomes the same SASS as `ld.global.cg`.

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - 34, 69 and **89 %** of the instructions multiply and add: a tile in shared memory, 8 × 8 numbers
#   a thread, loads of 16 bytes.
# - **255** registers a thread, **65,536** a block: 128 × 256 numbers need two warpgroups.
# - 4, 8 or **16 bytes** a load for each thread.
#
# ## What you can do now
#
# - **Read** a loop from a label to the branch back, and count what it loads.
# - **Predict** at most its share of multiply-adds as the share of the peak.
# - **Share out** a tile so that every thread stays below 255 registers.
# - **Judge** by counting: addresses, bytes, and the rows of a table.
#
# That was the GPU from the inside. The next part puts everything together.

# %% tags=["core"]
rl.my_guesses("16")

# %% tags=["core"]
rl.progress("16")
