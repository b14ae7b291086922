# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 11 · Precision
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **How few bits does a number need?**
#
# <details><summary>45 minutes, 85 with the exercises: what you learn, and what you need</summary>
#
# - **round** a number to any format, and say what is lost,
# - **predict** where a sum stops growing, and keep it growing,
# - **decide** what fewer bits gain: bytes, peak, both or neither,
# - **write** a block of 4-bit numbers that share a scale.
#
# You need lessons 01 to 04. The *Deeper* part adds 15 minutes. A lecture shows some of it in 25.
#
# </details>

# %% tags=["core"]
import numpy as np

import rooflab as rl

# %% [markdown] tags=["core"]
# ## Ten thousand numbers
#
# Here are 10,000 random numbers between 0 and 1. Their sum is close to 5000. Now the sum is kept in
# `bf16`, a format of 16 bits in which many language models are trained: after each addition it is
# rounded to the nearest number that `bf16` has. **What comes out?**

# %% tags=["core"]
numbers = np.random.default_rng(0).random(10_000)
total = rl.precision.running_sum(numbers, "bf16")[-1]
first = rl.ask("11-sum", float(total))
first

# %% [markdown] tags=["core"]
# The picture opens once you have guessed. It shows the sum while it grows. Try the other formats,
# and then rounding by chance.

# %% tags=["core"]
rl.precision.sums(numbers, after=first)

# %% [markdown] tags=["core"]
# ## What a format is
#
# A computer writes a number as a physicist does: a sign, some digits, and a power, here of 2. The
# digits are the **mantissa**; the **exponent** says which power. Each power of two begins an
# *octave*, which ends at the next one. The mantissa cuts the octave into equal steps.
#
# Here are formats of 4 to 8 bits. E4M3 has 4 bits of exponent and 3 of mantissa. The exponent is
# stored with an offset: E4M3 stores 3 for 2⁻⁴, since 3 − 7 = −4. The mantissa follows a leading 1
# that is not stored: 101 stands for 1.101 in binary, which is 1.625.
#
# Press a bit to flip it, or drag along the numbers. Every octave is equally wide here. The sentence
# names the next number: watch the step double at each power of two.

# %% tags=["core"]
rl.precision.bits()

# %% [markdown] tags=["core"]
# With m bits of mantissa, a step is at most 2⁻ᵐ of the number, and rounding to the nearest is off
# by at most half a step. bf16 has 7, so from 256 on its step is 2. Half a step is 1, and each
# number that is added is less. The sum stays at 256 for more than 9,500 additions.
#
# Below the smallest power of two that has a full octave, the steps stop shrinking, down to 0. There
# the exponent's bits are all 0, and the leading 1 is missing. Numbers down there are called
# **subnormal**, all others **normal**. These are the formats of this lesson. `tf32` is stored in 32
# bits but uses 19.

# %% tags=["core", "nbval-check-output"]
print("format      exponent  mantissa    largest  smallest normal")
for f in rl.precision.formats().values():
    if f.name != "e8m0":  # of scales alone
        print(f"{f.name:12}{f.exponent:8}{f.mantissa:10}{f.largest:12.4g}{f.smallest_normal:14.3g}")

# %% [markdown] tags=["core"]
# ### Exercise 1 · Round it
#
# Round `x` to a format. From `2**e` up to `2**(e+1)` its numbers lie `2**(e - mantissa)` apart.
# `smallest` is a power of two: below it, down to 0, they lie as far apart as just above it. Take
# the nearer of the two neighbours, and in a tie the even one, which is an even multiple of the
# step. If the rounded number is beyond `largest` or -`largest`, return math.inf or -math.inf.
# `rounded(2.7, 2, 0.25, 14.0)` is 2.5.


# %% tags=["core", "answer"] rooflab={"exercise": "11-round"}
def rounded(x, mantissa, smallest, largest):
    # BEGIN SOLUTION
    import math

    octave = math.frexp(max(abs(x), smallest))[1] - 1
    step = 2.0 ** (octave - mantissa)
    nearest = round(x / step) * step  # Python's round() goes to the even one, too
    return nearest if abs(nearest) <= largest else math.copysign(math.inf, x)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("11-round", rounded)

# %% [markdown] tags=["core"]
# ## Sums that go on growing
#
# Three things help a sum that has grown too large for what is added. It can be kept in a wider
# format: GPUs multiply 16-bit numbers, and add up the products in `fp32`. Or it is cut into pieces,
# whose sums are added in a wider format. DeepSeek did that with products of `fp8`, 128 at a time,
# because the unit that multiplied them kept its own sums in fewer bits than `fp32`.
#
# ### Exercise 2 · A sum in pieces
#
# Add the number 1 `n` times. After each addition the sum is rounded to a format with `mantissa`
# bits of mantissa, to the nearest number, in a tie to the even one. After every `chunk` ones, and
# after the last, the sum goes into an exact total, and a new sum begins at 0. Return the total.
# `reached(1000, 300, 7)` is 868.


# %% tags=["core", "answer"] rooflab={"exercise": "11-pieces"}
def reached(n, chunk, mantissa):
    # BEGIN SOLUTION
    stops = 2 ** (mantissa + 1)
    full, rest = divmod(n, chunk)
    return full * min(chunk, stops) + min(rest, stops)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("11-pieces", reached)

# %% [markdown] tags=["core"]
# You saw the third above: rounding by chance, called **stochastic rounding**. It goes up sometimes
# and down sometimes, and is right on average: where a sum always lost 0.4 of a step, it now goes up
# a whole step in four cases of ten. A single sum may still be too high or too low. Some chips for
# training do it.
#
# ### Exercise 3 · Round by chance
#
# Add up `values`. The sum begins at 0, and can only be a multiple of `step`. After each addition,
# take the multiple below or the one above. The chance of going up is the share of the way that lies
# behind: a quarter of the way up, a chance of a quarter. `chances` holds a number between 0 and 1
# for each value: go up if it is below that share. `summed([1.0, 0.5], 2.0, [0.75, 0.125])` is 2.0.


# %% tags=["core", "answer"] rooflab={"exercise": "11-chance"}
def summed(values, step, chances):
    # BEGIN SOLUTION
    import math

    total = 0
    for value, chance in zip(values, chances):
        exact = total + value / step
        total = math.floor(exact) + (chance < exact - math.floor(exact))
    return total * step
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("11-chance", summed)

# %% [markdown] tags=["core"]
# ## Half the bits
#
# The next cell multiplies two matrices of 1024 × 1024 numbers on one core, in `fp64` and in `fp32`.
# **How many times as fast is `fp32`?**

# %% tags=["core"]
wide, narrow = (
    rl.measure(rl.gemm(1024, 1024, 1024, kind), backend="cpu", threads=1)
    for kind in ("fp64", "fp32")
)
second = rl.ask("11-half", wide.median_s / narrow.median_s)
second

# %% tags=["core"]
rl.show.say(rl.conclude("11-half", wide, narrow), after=second)

# %% [markdown] tags=["core"]
# ## Claim court: from memory to computing
#
# *Low precision raises the intensity, and turns kernels that wait for memory into kernels that
# compute.*
#
# So says a chapter on the efficiency of GPUs. Halving the bits does double the FLOP/byte. But the
# matrix units of a GPU, which NVIDIA calls **tensor cores**, raise the peak by far more. Look where
# the ridge goes.

# %% tags=["core", "nbval-check-output"]
for name, kind in (("a100-sxm-80", "bf16"), ("h100-sxm", "bf16"), ("gb200", "nvfp4")):
    m = rl.machine(name)
    times = m.peak(kind) / m.peak("fp32", "vector")
    print(f"{name}: {kind} has {times:.3g} times the peak of fp32")
    print(f"  ridge {rl.Roofline(m, 'fp32').ridge:.3g} → {rl.Roofline(m, kind).ridge:.3g}")

# %% [markdown] tags=["core"]
# The same chapter gives the GB200 10 PFLOP/s in NVFP4 and 80 TFLOP/s in `fp32`, and calls that
# "about 20 times".
#
# ### Exercise 4 · Fewer bits, more computing?
#
# A product of m × k and k × n numbers, all three matrices in one format. `wide` and `narrow` are
# lists: bytes a number, and the peak in FLOP/s. `bandwidth` is in byte/s. Each operand is read
# once, and the result is written once. Return two values: how many times as fast the roofline
# allows the narrow product to be, and whether it is bound by memory.
# `narrower(100, 1000, 2000, 1e12, [4, 2e14], [2, 4e14])` is `(2.0, True)`.


# %% tags=["core", "answer"] rooflab={"exercise": "11-claim-bound"}
def narrower(m, n, k, bandwidth, wide, narrow):
    # BEGIN SOLUTION
    flops, numbers = 2 * m * n * k, m * k + k * n + m * n
    before = max(flops / wide[1], numbers * wide[0] / bandwidth)
    computing, carrying = flops / narrow[1], numbers * narrow[0] / bandwidth
    return before / max(computing, carrying), carrying > computing
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("11-claim-bound", narrower)

# %% [markdown] tags=["core"]
# The claim has it backwards. From fp32 to bf16, a product for 128 tokens on an H100 becomes bound
# by memory. It is still 6 times as fast.
#
# ### Vote, or choose for yourself
#
# `TF32` is a mode of tensor cores: they read numbers of `fp32`, but use only 10 bits of the
# mantissa. A layer for one token multiplies a vector by a large `fp32` matrix. How many times as
# fast does TF32 make it on an H100, with 7.4 times the peak of fp32?
#
# <details><summary><b>A</b> About 7.4 times.</summary>
#
# This is *the peak decides*: one token waits for memory, far below either peak.
#
# </details>
#
# <details><summary><b>B</b> Twice: half the bits are used.</summary>
#
# This is *what is not used does not travel*: the numbers are stored in 32 bits, and all of them
# come.
#
# </details>
#
# <details><summary><b>C</b> It is no faster.</summary>
#
# **Right.** The bytes are the same, and bytes are what it waits for. It has only become less exact.
#
# </details>
#
# <details><summary><b>D</b> It is slower, because the numbers have to be converted.</summary>
#
# This is *converting costs*: that happens in registers, and no byte moves for it.
#
# </details>

# %% [markdown] tags=["core"]
# ## What it costs
#
# Take two random matrices of 256 × 256 numbers, round both to `bf16`, multiply exactly and add up
# in `fp32`, as a tensor core does. The error is the distance from the exact result, in per cent of
# the result. **How large is it?**

# %% tags=["core"]
a, b = np.random.default_rng(1).standard_normal((2, 256, 256))
error = 100 * rl.precision.error(rl.precision.multiply(a, b, "bf16"), a @ b)
third = rl.ask("11-error", error)
third

# %% [markdown] tags=["core"]
# Now slide through the formats. The roof of a B200 moves, and so does the product of 128 × 4096 by
# 4096 × 4096 numbers under it. Below is the error of your own product in the same format. `nvfp4`
# is the subject of the next section.

# %% tags=["core"]
rl.precision.ridge(after=third)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# The matrices of your product have 256 rows and columns, so each number of the result is a sum of
# 256 products. With 4 times as many, all from random numbers around 0: what happens to the error in
# per cent?
#
# <details><summary><b>A</b> It is 4 times as large.</summary>
#
# This is *errors add up*: they do, but they have signs, and most of them cancel.
#
# </details>
#
# <details><summary><b>B</b> It is twice as large.</summary>
#
# This is *errors grow like a random walk*. They do, as the square root of 4. But the result is a
# sum of numbers with random signs, too, and has doubled as well.
#
# </details>
#
# <details><summary><b>C</b> It stays as it is.</summary>
#
# **Right.** Error and result both double. It is another matter if the sum is kept in a narrow
# format, or if all numbers are positive.
#
# </details>
#
# <details><summary><b>D</b> It is half as large.</summary>
#
# This is *errors average out*: they would against a result that grows 4 times, as a sum of positive
# numbers does.
#
# </details>

# %% [markdown] tags=["core"]
# ## A scale for a block
#
# Four bits have 16 patterns: 0, 0.5, 1, 1.5, 2, 3, 4, 6, and the same with a minus. Few matrices
# fit that range well. So a **block** of numbers shares a scale, by which they are divided first. In
# *MXFP4*, 32 numbers share a scale of 8 bits, a power of two. In *NVFP4*, 16 numbers share a scale
# in `fp8`, and the whole matrix has one more.
#
# Make the blocks smaller, and watch the grey lines on which the numbers have to land. A block with
# one large number has nothing left for its small ones.

# %% tags=["core"]
rl.precision.blocks()

# %% [markdown] tags=["core"]
# The scales travel, too. That makes 4 bits a little more than 4. Here is a random matrix in four
# such formats. Six bits do as well as eight, because both formats have 3 bits of mantissa, and the
# scale leaves the exponent little to do.

# %% tags=["core", "nbval-check-output"]
x = np.random.default_rng(2).standard_normal((1024, 1024)).astype("float32")
for name in ("mxfp8_e4m3", "mxfp6_e2m3", "mxfp4", "nvfp4"):
    block = rl.precision.block_quantise(x, name)
    off = 100 * rl.precision.error(block.values, x)
    print(f"{name:11} {block.bits_a_value:.2f} bits a number, off by {off:4.1f} %")

# %% [markdown] tags=["core"]
# ### Exercise 5 · A block of MXFP4
#
# Round a `block` of numbers to MXFP4. Each becomes one of 0, 0.5, 1, 1.5, 2, 3, 4, 6, or its
# negative, times a scale that the block shares. Take the block's largest magnitude, and the largest
# power of two that is not above it. A quarter of that is the scale. Divide by the scale and take
# the nearest number. In a tie take the one at an even place in the list, counted from 0; beyond 6
# take 6. Multiply by the scale again. All zeros stay zeros. `mxfp4([1.0, -7.0, 0.3])` is
# `[1.0, -6.0, 0.5]`.


# %% tags=["core", "answer"] rooflab={"exercise": "11-blocks"}
def mxfp4(block):
    # BEGIN SOLUTION
    import math

    grid, most = [0, 0.5, 1, 1.5, 2, 3, 4, 6], max(map(abs, block))
    scale = 2.0 ** (math.frexp(most)[1] - 3)
    rounded = []
    for x in block:
        place = min(range(8), key=lambda n: (abs(grid[n] - abs(x) / scale), n % 2))
        rounded.append(math.copysign(grid[place] * scale, x))
    return rounded
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("11-blocks", mxfp4)

# %% [markdown] tags=["core"]
# ## Expected and seen
#
# The library *torchao* *quantises* layers of PyTorch: it rounds them to fewer bits. Its
# documentation does what this course does: it counts what a layer should gain on a B200, measures,
# and prints both. The layer is a ReLU, then a product of two matrices of 4096 × 4096 numbers. A
# number in NVFP4 takes less than a third of the bytes, and the peak is 4 times as high. **How many
# times as fast as in `bf16` was it?**

# %% tags=["core"]
rows = [row for row in rl.precision.published() if row.mnk[0] == 4096]
seen = next(row for row in rows if row.format == "nvfp4" and not row.static)
fourth = rl.ask("11-observed", seen.observed)
fourth

# %% tags=["core"]
rl.precision.expectations(after=fourth)

# %% [markdown] tags=["core"]
# Small layers lose: a kernel takes 2 µs however little it does, and quantising is more work. Large
# ones gain less than torchao expects, and its page does not say why.
#
# ### Exercise 6 · What torchao expects
#
# Two kernels: a ReLU of m × k numbers, then their product with k × n numbers. In bf16 each number
# has 2 bytes; ReLU reads its input and writes its result, and the product reads both operands and
# writes m × n numbers. Quantised, ReLU reads its input `passes` times, 2 bytes a number, and writes
# `bits` bits a number. The product reads operands of `bits` bits, still writes 2 bytes a number,
# and its peak is multiplied by `times`. A kernel takes the longest of three times: FLOPs ÷
# 1.755e15, bytes ÷ 7.36e12, and 2e-6 s. Only the product has FLOPs. Return how many times as fast
# the quantised pair is. For NVFP4 `passes` is 2: the first finds the scale of the whole matrix.
# `expected(3000, 5000, 4000, 8.25, 2, 1)` is 1.914, rounded.


# %% tags=["core", "answer"] rooflab={"exercise": "11-expected"}
def expected(m, n, k, bits, times, passes):
    # BEGIN SOLUTION
    def pair(width, peak, passes):
        relu = max(m * k * (2 * passes + width) / 7.36e12, 2e-6)
        moved = (m * k + k * n) * width + 2 * m * n
        return relu + max(2 * m * n * k / peak, moved / 7.36e12, 2e-6)

    return pair(2, 1.755e15, 1) / pair(bits / 8, times * 1.755e15, passes)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("11-expected", expected)

# %% [markdown] tags=["deep"]
# ## Deeper: fp64 from int8
#
# Some GPUs multiply `int8` far faster than `fp64`. A product of int8 numbers, added up in `int32`,
# is exact. So scale each row to whole numbers, and cut those into slices. An int8 has a sign and 7
# bits, so a slice holds 7. Multiply the slices, and put the results back at their places. Each
# further slice makes the result about 100 times as exact, and costs more products. Products of two
# low slices do not matter any more, and are left out.
#
# **How many slices does it take to be as exact as `fp64`?**

# %% tags=["deep"]
c, d = np.random.default_rng(3).standard_normal((2, 64, 64))
slices = rl.precision.slices_needed(c, d)
fifth = rl.ask("11-slices", str(slices))
fifth

# %% tags=["deep"]
rl.precision.sliced(c, d, after=fifth)

# %% [markdown] tags=["deep"]
# Does it pay? Compare the number of products with how much faster one of them is.

# %% tags=["deep", "nbval-check-output"]
for name in ("h100-sxm", "b200-sxm"):
    m = rl.machine(name)
    print(f"{name}: int8 is {m.peak('int8') / m.peak('fp64'):.0f} times as fast as fp64")

# %% [markdown] tags=["deep"]
# ### Exercise 7 · Exact enough, by slices
#
# `a` and `b` are lists of whole numbers from 0 to `2**(bits * count) - 1`. Cut each number into
# `count` slices of `bits` bits; slice 1 is the highest. Slice i of a number in `a` times slice j of
# its partner in `b` counts `2**(bits * (2 * count - i - j))` times. Return a[0]·b[0] + a[1]·b[1] +
# …, but leave out the pairs of slices with i + j above count + 1. `sliced([9, 40], [16, 25], 3, 2)`
# is 1144.


# %% tags=["deep", "answer"] rooflab={"exercise": "11-slices"}
def sliced(a, b, bits, count):
    # BEGIN SOLUTION
    def cut(x, i):
        return x >> bits * (count - i) & 2**bits - 1

    total = 0
    for i in range(1, count + 1):
        for j in range(1, count + 2 - i):
            products = sum(cut(x, i) * cut(y, j) for x, y in zip(a, b))
            total += products << bits * (2 * count - i - j)
    return total
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("11-slices", sliced)

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - m bits of mantissa: off by 2⁻ᵐ⁻¹ of a normal number at most; a sum of ones stops at 2ᵐ⁺¹.
# - The largest numbers of fp16, fp8 E4M3 and fp4 are 65,504, 448 and 6.
# - On an H100 bf16 has 14.8 times the peak of fp32, for half the bytes.
# - MXFP4 takes 4.25 bits a number and NVFP4 4.5, with the scales of its blocks.
# - TF32 saves no byte.
#
# ## What you can do now
#
# - **Round** to any format: find the step, take the nearer neighbour, the even one if both are
#   equally near, and infinity beyond the largest.
# - **Predict** where a sum stops: where half a step is more than what is added.
# - **Decide** what fewer bits gain: take the longer one of carrying and computing in both formats,
#   and compare the two times.
# - **Write** a block of 4-bit numbers: the largest one sets the scale of all.
#
# Fewer bits are fewer bytes. The next lesson keeps whole layers in them, and leaves some numbers
# out altogether.

# %% tags=["core"]
rl.my_guesses("11")

# %% tags=["core"]
rl.progress("11")
