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
# - **bound** the share of the peak that they leave room for,
# - **share out** registers among warps,
# - **judge** a published prefetch, a hint and a table.
#
# You need lessons 13 and 14. The *Deeper* part adds 10 minutes. A lecture shows some of it in 20.
# No GPU is needed: NVIDIA's compiler works without one, and where it is missing, recorded figures
# are shown.
#
# </details>

# %% tags=["core"]
import rooflab as rl

print(rl.cuda.here())

# %% [markdown] tags=["core"]
# ## The same line, as instructions
#
# The tiled kernel of lesson 13 spends its time in one line. For each pair of tiles that line runs
# 32 times:
#
# ```c
# for (int k = 0; k < 32; ++k) sum += As[ty][k] * Bs[k][tx];
# ```
#
# That is 32 multiply-adds, and 64 numbers from shared memory for each thread. The compiler wrote
# out all 32 iterations. The loop that remains, the *hot loop*, handles one pair of tiles in an
# iteration, including loading them. **How many of its instructions load these 64 numbers?**

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
# numbers of A are neighbours, and one `LDS.128` loads them: 8 of these. Nobody asked for that.
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
# `LDG` loads from memory, and `FFMA` is a multiply-add in `fp32`. The words after the dots say how.
# One instruction serves all 32 threads of a warp.
#
# An SM of an H100 can start four instructions a clock, and all four can be multiply-adds. So each
# instruction that is not a multiply-add takes the place of one. **What share of the instructions in
# the hot loop are multiply-adds?**

# %% tags=["core"]
kinds = rl.cuda.loop_kinds("sgemm_shared")  # a letter for each instruction; f: multiply-add
second = rl.ask("16-share", 100 * kinds.count("f") / len(kinds))
second

# %% tags=["core"]
rl.cuda.listing(after=second)

# %% [markdown] tags=["core"]
# The picture shows 512 multiply-adds of each kernel: 16 iterations of the tiled one. Whatever else
# happens, a kernel cannot reach more than this share of the peak.
#
# Lesson 13 found another bound. A whole SM starts four multiply-adds a clock, each for a warp, but
# its shared memory serves at most one load a clock:

# %% tags=["core"]
loads = sum(n for name, n in loop.items() if name.startswith("LDS"))
clocks = loop["FFMA"] / 4
words = f"Issue allows {100 * loop['FFMA'] / len(kinds):.0f} %. The {loads} loads of a warp take "
words += f"{loads} clocks, its multiply-adds {clocks:.0f}: at most {100 * clocks / loads:.0f} %. "
rl.show.say(words + "The smaller bound wins.", after=second)

# %% [markdown] tags=["core"]
# With 8 × 8 numbers a thread fewer loads are needed, and with loads of 16 bytes fewer still.
#
# ### Exercise 1 · Read a listing
#
# `lines` is a listing in SASS. Each line is a label, which begins with '.L', or an instruction. An
# instruction may have a condition before its name: a word that begins with '@'. What stands after a
# dot modifies the name: 'LDS.128' is an LDS that loads 16 bytes for each thread, 'LDS.64' one that
# loads 8, and a plain LDS loads 4. LDSM is a different instruction.
#
# The loop runs from a label down to a BRA that has a condition and names this label; there is one
# such loop. Return two values: how many FFMA the loop has for each LDS in it, and how many bytes
# its LDS instructions load for each thread. `reading(example)` is `(2.0, 16)`.

# %% tags=["core", "nbval-check-output"]
example = [
    *("LDS.64 R2, [R9]", ".L_x_0", "LDS.128 R4, [R8]", "FFMA R1, R4, R5, R1"),
    *("@P1 FFMA R1, R6, R7, R1", "@P0 BRA `(.L_x_0)", "EXIT"),
]
print(*example, sep="\n")


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
# *spilled*: stored in memory, usually reaching only L1, and loaded again, in every step. Our
# prediction counts that and says 365; the fall was deeper still. The next kernel shared the tile
# among two warpgroups, and reached 610.

# %% tags=["core"]
stairs = rl.cuda.stairs("h100")
stairs.kernel = 3  # counted from 0: kernel 4
stairs

# %% [markdown] tags=["core"]
# ### Exercise 2 · Why 123 TFLOP/s?
#
# A block keeps its tile of C, bm × bn numbers in fp32, in registers. One or more warpgroups of 128
# threads share the tile: each takes the same number of strips of 64 rows. Each of their threads
# needs `other` registers besides its part of C, 255 at most in all. It is given what it needs,
# rounded up to a multiple of 8, even to 256.
#
# One more warpgroup fetches; each of its threads is given `fetcher` registers. All threads of the
# block together may have at most 65,536. Return two values: the fewest warpgroups that can share
# the tile, and the registers that the block is given, or (0, 0) if it cannot be done.
# `warpgroups(64, 256, 44, 24)` is `(1, 25600)`.


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
# CUDA C++ accepts PTX between its own lines, with `asm`. It helps where C++ has no word: for a
# multicast, a hint for a cache, the number of the SM.
#
# ### Vote, or choose for yourself
#
# You write four lines: load, use, load, use. The loads are PTX in `asm volatile`. In what order do
# they appear in the SASS?
#
# <details><summary><b>A</b> As you wrote it: `volatile` says so.</summary>
#
# This is *PTX is what runs*: `volatile` keeps the lines in the PTX. The step to SASS may still move
# them.
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
# This is *what can be joined will be*: they load different numbers.
#
# </details>
#
# ### Vote, or choose for yourself
#
# DeepSeek's DeepEP has an option that loads with `ld.global.nc.L1::no_allocate.L2::256B`. A book
# says of it: not in NVIDIA's manual, and it fetches straight into L2. What is true?
#
# <details><summary><b>A</b> Both.</summary>
#
# This is *unheard of, so undocumented*: the manual of PTX has all three words.
#
# </details>
#
# <details><summary><b>B</b> It is documented. Using it on data that others write is not.</summary>
#
# **Right.** `.nc` promises that nobody writes there meanwhile. DeepEP breaks that, and its authors
# say so.
#
# </details>
#
# <details><summary><b>C</b> It is in the manual, and the load bypasses the registers.</summary>
#
# This is *a hint moves the data*: the load still ends in a register. `L2::256B` asks L2 to fetch
# more than it has to.
#
# </details>
#
# <details><summary><b>D</b> Lower case works, too.</summary>
#
# This is *only the meaning counts*: the compiler rejects `l1::no_allocate`.
#
# </details>
#
# ## Claim court
#
# *To prefetch the next line, each thread asks L2 for 128 bytes that begin 128 bytes after its own
# number.* The book has this in inline PTX, before a load of that number. The 32 threads of a warp
# ask for 4,096 bytes in all. **How many different bytes do they ask for?**

# %% tags=["core"]
asked = {byte for i in range(32) for byte in range(4 * (i + 32), 4 * (i + 32) + 128)}
third = rl.ask("16-prefetch", len(asked))
third

# %% tags=["core"]
times = 32 * 128 / len(asked)
rl.show.say(f"{len(asked)} bytes, each asked for {times:.0f} times on average.", after=third)

# %% [markdown] tags=["core"]
# ### Exercise 3 · The next line?
#
# An array of n numbers in fp32 begins at a multiple of 128 bytes. Each of n threads, i from 0 to n
# - 1, asks L2 to fetch `size` bytes, starting at number i + ahead. This address must be a multiple
# of 16 bytes, and so must `size`.
#
# Return three values: how many threads give an address that is not allowed, how many ask for bytes
# beyond the end of the array, and all bytes asked for, divided by the number of different bytes
# among them. Requests that are not allowed count, too. `prefetches(12, 4, 16)` is `(9, 7, 3.2)`.


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
# and again. In a correct version one thread of each block asks, several tiles ahead, and stops
# before the end. It saves no byte; it can only hide waiting. A copy that already keeps memory busy
# should gain about nothing.

# %% [markdown] tags=["deep"]
# ## Deeper: a table that does not add up
#
# The same book compares a kernel in C++ with one in PTX. C++: stalled 35 % of the time, 1.5
# instructions a clock, 1.07 ms. PTX: 20 %, 1.6, 1.00 ms. *Fewer instructions, and 7 % faster*, it
# says. Stalls here are waits for memory.
#
# ### Exercise 4 · Audit a table
#
# A kernel was measured before and after a change. Each of `before` and `after` is a list: the share
# of all clocks in which it was stalled by memory, the instructions for each clock, and the
# milliseconds. The clock rate did not change. Return three values: the share of the time that is
# saved, instructions afterwards divided by instructions before, and the same for the time that is
# *not* stalled. `audit([0.5, 2.0, 2.0], [0.5, 2.2, 1.5])` is `(0.25, 0.825, 0.75)`.


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
# It is 7 % faster: 6.5 % less time. But instructions stayed the same. And if stalls fell as much as
# it says, everything else became slower. The book calls its table hypothetical, which it is.
#
# ## Deeper: look for yourself
#
# Where NVIDIA's compiler is installed, the next cell compiles now. An `FFMA` does 32
# multiply-adds. An `HMMA` of lesson 14 does 16 × 8 × 16 = 2,048. The four warps of a warpgroup do
# this kernel's `HGMMA` together, 64 × 128 × 16 = 131,072: that is 32,768 for each warp.

# %% tags=["deep"]
print(rl.cuda.summary("sgemm_float4", "hgemm_mma", "hgemm_wgmma"))

# %% [markdown] tags=["deep"]
# With such instructions the share of multiply-adds in a listing says little: each keeps its unit
# busy for many clocks.
#
# A hint that C++ has a word for needs no PTX: `__ldcg()` becomes the same SASS as `ld.global.cg`.

# %% [markdown] tags=["deep"]
# ## Deeper: what a profiler counts
#
# NVIDIA's profiler *ncu* reads counters of the hardware while a kernel runs. Its roofline needs only
# some of them: the time, the `FADD`, `FMUL` and `FFMA` that threads executed (an `FFMA` is two
# FLOPs), and the bytes at DRAM, L2 and L1. This table was made by hand. The times are those
# published for kernels 2, 3 and 6 of lesson 13, the bytes are counted, and no profiler ran.

# %% tags=["deep", "nbval-check-output"]
from importlib.resources import files

table = files("rooflab.labs.cuda").joinpath("ncu_example.csv")
for launch in rl.cuda.ncu(table.read_text("utf-8")):
    print(launch)

# %% [markdown] tags=["deep"]
# Each level has an intensity of its own, so a kernel is one point for each level. At L1 the
# coalesced kernel is far to the left, at 0.4 FLOP/byte; at DRAM it is where the tiled kernel is. On
# a machine with ncu, the command below prints such a table for your program. Its bytes of L1 are
# what the emulator counts in sectors.

# %% tags=["deep", "nbval-check-output"]
from rooflab.labs.cuda.ncu import COMMAND

print(COMMAND.replace(",", ",\n  "))

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - 34, 69 and **89 %** of the instructions multiply and add: a tile in shared memory, 8 × 8 numbers
#   a thread, loads of 16 bytes.
# - **255** registers a thread, **65,536** a block: 128 × 256 numbers need two warpgroups.
# - 4, 8 or **16 bytes** a load for each thread: 16 is the widest load in these kernels.
#
# ## What you can do now
#
# - **Read** a loop from a label to the branch back, and count what it loads.
# - **Bound** the share of the peak by the loop's share of multiply-adds.
# - **Share out** a tile so that every thread stays below 255 registers.
# - **Judge** by counting: addresses, bytes, and the rows of a table.
#
# That was the GPU from the inside. The next part puts everything together.

# %% tags=["core"]
rl.my_guesses("16")

# %% tags=["core"]
rl.progress("16")
