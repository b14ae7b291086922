# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 12 · Smaller weights
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **If the weights take a quarter of the bytes, is the model four times as fast?**
#
# <details><summary>45 minutes, 85 with the exercises: what you learn, and what you need</summary>
#
# - **count** the bytes of packed weights, with their scales,
# - **predict** who gains: large or small layers, few tokens or many,
# - **write** how int4 is unpacked, and how two numbers of four are kept,
# - **decide** which lever to pull first when a model is served.
#
# You need lessons 01 to 05 and 11. The *Deeper* part adds 10 minutes. A lecture shows some of it in
# 25.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## A quarter of the bytes
#
# When a language model writes a token, each layer multiplies one vector by a matrix of weights.
# That waits for memory. So people *quantise* the weights: every 128 weights of a row become whole
# numbers from −127 to 127, in `int8`, with one scale in `fp16` for all of them.
#
# The next cell multiplies one vector by a matrix that is larger than all caches, on one core: with
# weights in `fp32`, and in `int8` with 3.9 times fewer bytes. **How many times as fast is `int8`?**

# %% tags=["core"]
seen = rl.sparse.gemv_gain(["int8", "int4", "2:4"])
first = rl.ask("12-int8", seen.gain("int8", "fp32"))
first

# %% [markdown] tags=["core"]
# The picture opens once you have guessed. In each row, the upper bar is the time to read the bytes.
# The lower one is the time of the instructions, measured with a matrix in a cache. The longer bar
# is what we predict, and the dot is what was measured. The second row is `fp32` again, computed by
# a library, BLAS.

# %% tags=["core"]
rl.sparse.bars(seen, "fp32", "blas", "int8", after=first)

# %% tags=["core"]
rl.show.say(rl.conclude("12-int8", seen, "int8", "fp32"), after=first)

# %% [markdown] tags=["core"]
# ## Half of that
#
# With whole numbers from −7 to 7, two weights share a byte. That is `int4`: half of int8's bytes.
# **How many times as fast is it as `int8`?**

# %% tags=["core"]
second = rl.ask("12-int4", seen.gain("int4", "int8"))
second

# %% tags=["core"]
rl.sparse.bars(seen, "fp32", "int8", "int4", after=second)

# %% tags=["core"]
rl.show.say(rl.conclude("12-int4", seen, "int4", "int8"), after=second)

# %% [markdown] tags=["core"]
# Fewer bytes hardly mean fewer instructions: each weight still has to be multiplied. In `int4` it
# first has to be cut out of its byte.
#
# ### Exercise 1 · Unpack int4
#
# Each byte of `data`, from 0 to 255, holds two whole numbers from -8 to 7 in 4 bits each. The low 4
# bits are the first of them, the high 4 bits the second. In 4 bits, 8 to 15 stand for -8 to -1.
# Weights leave out -8. Return the list of all numbers in their order. `unpacked([33, 7])` is
# `[1, 2, 7, 0]`.


# %% tags=["core", "answer"] rooflab={"exercise": "12-nibbles"}
def unpacked(data):
    # BEGIN SOLUTION
    numbers = []
    for byte in data:
        for nibble in (byte & 15, byte >> 4):
            numbers.append(nibble - 16 if nibble > 7 else nibble)
    return numbers
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("12-nibbles", unpacked)

# %% [markdown] tags=["core"]
# ## Large layers and small ones
#
# Does every layer gain? NVIDIA has published the times of thousands of products on an A100, with
# weights in `bf16` and in `int4`. Here is a sample of them. Choose one vector or more, and look
# along the size of the matrix.

# %% tags=["core"]
rl.sparse.shapes()

# %% [markdown] tags=["core"]
# Small matrices lose: in this sample the fastest `int4` product takes 9 µs, the fastest `bf16`
# product 2.6 µs. Two matrices with very long rows do not follow the others.
#
# ### Exercise 2 · A layer that does not gain
#
# A product of one vector takes a constant time, and the time to read its weights. `first` and
# `second` are measurements: the bytes of a matrix, and the seconds of its product. Another matrix
# has `size` bytes. With int4 it shrinks to size / times bytes, which are read as fast, and the
# constant time is `other` seconds. Return how many times as fast its product becomes.
# `gain([0, 5e-6], [1e8, 105e-6], 1e-5, 2e7, 4)` is 1.667, rounded.


# %% tags=["core", "answer"] rooflab={"exercise": "12-small"}
def gain(first, second, other, size, times):
    # BEGIN SOLUTION
    a_byte = (second[1] - first[1]) / (second[0] - first[0])
    constant = first[1] - a_byte * first[0]
    before, after = constant + a_byte * size, other + a_byte * size / times
    return before / after
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("12-small", gain)

# %% [markdown] tags=["core"]
# ## Many vectors
#
# With a batch, each weight is read once and used for every vector. Weights are unpacked and then
# multiplied in `fp16`, so computing takes as long as before. At some batch the `int4` product no
# longer waits for memory, and the gain begins to fall. It is gone once the `fp16` product does not
# either.
#
# *Marlin* is a kernel for `int4` weights, measured on an A10 (125 TFLOP/s, 600 GB/s) with a large
# matrix. Three other lines in the picture are kernels of other projects, as Marlin's authors timed
# them in 2024. By the roofline, the product of one vector can be 3.9 times as fast as in `fp16`.
# **At what batch does this first fall below 2 times?**

# %% tags=["core"]
third = rl.ask("12-knee", rl.sparse.marlin_batch(2.0))
third

# %% tags=["core"]
rl.sparse.marlin(after=third)

# %% [markdown] tags=["core"]
# ### Exercise 3 · Up to which batch?
#
# Weights of n × k numbers meet `batch` vectors of k numbers at once, and give as many vectors of n
# numbers. Vectors and results have 16 bits a number. A weight has 16 bits, or `bits` bits, its
# scale included; computing is the same in both cases, at `peak` FLOP/s. By the roofline, with
# `bandwidth` in byte/s, return the largest batch for which the small weights are at least `wanted`
# times as fast, or 0. `knee(4000, 5000, 8, 1e14, 1e12, 1.9)` is 53.


# %% tags=["core", "answer"] rooflab={"exercise": "12-knee"}
def knee(n, k, bits, peak, bandwidth, wanted):
    # BEGIN SOLUTION
    def time(batch, bits):
        carried = n * k * bits / 8 + 2 * batch * (n + k)
        return max(2 * batch * n * k / peak, carried / bandwidth)

    batch = 0
    while time(batch + 1, 16) >= wanted * time(batch + 1, bits):
        batch += 1
    return batch
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("12-knee", knee)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# Four kernels in the picture read the same `int4` weights on the same GPU. Marlin is 3.9 times as
# fast as `fp16`, for 1 vector and for 16. AWQ's kernel is slower than `fp16` for 4: 0.86 times as
# fast. Where does the difference come from?
#
# <details><summary><b>A</b> AWQ's format has more bytes.</summary>
#
# This is *the format decides*: both have 4 bits and a scale for 128 weights.
#
# </details>
#
# <details><summary><b>B</b> The roof is another one.</summary>
#
# This is *the roof is the speed*: it is the same GPU, and no kernel has to reach its roof.
#
# </details>
#
# <details><summary><b>C</b> How each kernel uses the weights it has read.</summary>
#
# **Right.** AWQ's speed falls as soon as there are a few vectors: each of them is extra work. Bytes
# say what is possible; a kernel has to do it.
#
# </details>
#
# <details><summary><b>D</b> 4 vectors are bound by computing.</summary>
#
# This is *a batch computes*: by the roofs that begins at 55.
#
# </details>

# %% [markdown] tags=["core"]
# ## Two of four
#
# Zeros need not be stored. In `fp16`, NVIDIA's tensor cores can skip them in one pattern: at least
# two of every four neighbours are 0. It is called **2:4 sparsity**. A matrix is *pruned* first: of
# each four, the two smallest become 0, and what is left is trained some more. Then only two are
# stored, and for each its place among the four, in 2 bits.
#
# ### Exercise 4 · Two of four
#
# Of each four numbers in `row`, keep the two with the largest magnitude, and of equal ones the
# earlier. Return two lists: the numbers that are kept, in their order, and the place of each among
# its four, from 0 to 3. `pruned([0.5, 2.0, -1.0, -3.0])` is `([2.0, -3.0], [1, 3])`.


# %% tags=["core", "answer"] rooflab={"exercise": "12-prune"}
def pruned(row):
    # BEGIN SOLUTION
    numbers, places = [], []
    for start in range(0, len(row), 4):
        four = row[start : start + 4]
        largest = sorted(range(4), key=lambda place: -abs(four[place]))[:2]
        for place in sorted(largest):
            numbers.append(four[place])
            places.append(place)
    return numbers, places
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("12-prune", pruned)

# %% [markdown] tags=["core"]
# Your core cannot skip zeros like that. It still reads fewer bytes: 2 numbers of 4, and 4 bits of
# places. **How many times as fast is the product of one vector in `fp32`?**

# %% tags=["core"]
fourth = rl.ask("12-sparse", seen.gain("2:4", "fp32"))
fourth

# %% tags=["core"]
rl.sparse.bars(seen, "fp32", "2:4", after=fourth)

# %% tags=["core"]
rl.show.say(rl.conclude("12-sparse", seen, "2:4", "fp32"), after=fourth)

# %% [markdown] tags=["core"]
# ## Which lever first?
#
# A server has one more *lever*: serve more sequences at once. That costs no accuracy, and the
# weights are read once for all of them. Each brings a KV cache of its own, which has to be read,
# too. **One sequence gets 220 tokens a second at most. How many do 64 get in all?**

# %% tags=["core"]
w = rl.model("llama-3.1-8b").decode(64, 2048)
fifth = rl.ask("12-serving", 64 / w.bound("h100-sxm"))
fifth

# %% [markdown] tags=["core"]
# The picture counts what an H100 can do at most with Llama 3.1 8B. Lines end where the memory is
# full. For the last line the KV cache has 8 bits a number.

# %% tags=["core"]
rl.sparse.serving(after=fifth)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# You serve this model in 16 bits, 8 sequences at once, and more are waiting. Each gets 196 tokens a
# second at most, and 120 would do. You want more than twice as many in all. What do you try first?
#
# <details><summary><b>A</b> int4 weights.</summary>
#
# This is *fewer bits first*: they do allow 2.9 times as many. But the model has to be quantised,
# and tested again.
#
# </details>
#
# <details><summary><b>B</b> 2:4 sparsity.</summary>
#
# This is *fewer weights first*: with the caches it allows 1.6 times, and the model has to be
# trained again.
#
# </details>
#
# <details><summary><b>C</b> A batch of 32.</summary>
#
# **Right.** It allows 2.9 times as many, 142 a second for each sequence, and nothing in the model
# changes. The weights are read once for all 32.
#
# </details>
#
# <details><summary><b>D</b> A GPU with twice the FLOP/s.</summary>
#
# This is *computing first*: computing takes 3 % of the step.
#
# </details>
#
# ### Exercise 5 · Which lever first?
#
# A model is served with one of several kinds of weights. Each of `options` is a list: the bytes of
# its weights, and the seconds of computing for one sequence in a step.
#
# - A step makes one token for each of `batch` sequences. It reads the weights once, and `kv` bytes
#   for each sequence, at `bandwidth` byte/s, and computes at the same time.
# - Weights and `kv` bytes for each sequence have to fit into `room` bytes, and a step may take
#   `deadline` seconds. Each option takes the largest batch that is possible.
#
# Return the place, from 0, of the option that makes the most tokens a second (the first of equal
# ones), and its tokens a second; (-1, 0.0) if no option can make any.
# `best([[1.6e10, 4e-5], [8e9, 2e-5]], 2.5e8, 2e10, 2e12, 0.02)` is `(1, 4800.0)`.


# %% tags=["core", "answer"] rooflab={"exercise": "12-best"}
def best(options, kv, room, bandwidth, deadline):
    # BEGIN SOLUTION
    chosen, most = -1, 0.0
    for place, (size, computing) in enumerate(options):
        fits = min(room, deadline * bandwidth)
        batch = int(min((fits - size) // kv, deadline // computing))
        if batch < 1:
            continue
        tokens = batch / max((size + batch * kv) / bandwidth, batch * computing)
        if tokens > most:
            chosen, most = place, tokens
    return chosen, most
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("12-best", best)

# %% [markdown] tags=["deep"]
# ## Deeper: claim court on half the traffic
#
# *2:4 sparsity halves the traffic and doubles the peak. So it halves the time.*
#
# ### Exercise 6 · Two of four, half the time?
#
# A matrix of k × n weights turns m vectors of k numbers into m vectors of n numbers. All have
# `bits` bits a number. Sparse weights keep two of each four numbers, and 2 bits for the place of
# each that is kept; k is a multiple of 4. Count the FLOPs of the dense product in both cases; the
# sparse unit skips zeros, so its peak is twice as high. By the roofline, return how many times as
# fast the sparse product is. `sparser(300, 5000, 4000, 16, 1e15, 2e12)` is 1.627, rounded.


# %% tags=["deep", "answer"] rooflab={"exercise": "12-claim-half"}
def sparser(m, n, k, bits, peak, bandwidth):
    # BEGIN SOLUTION
    flops, vectors = 2 * m * n * k, m * (n + k) * bits
    packed = n * k * (bits + 2) / 2
    dense = max(flops / peak, (n * k * bits + vectors) / 8 / bandwidth)
    sparse = max(flops / (2 * peak), (packed + vectors) / 8 / bandwidth)
    return dense / sparse
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("12-claim-half", sparser)

# %% tags=["deep", "nbval-check-output"]
for m in (1, 128, 345, 4096):
    times = rl.sparse.levers(m, 4096, 4096, "h100-sxm")["2:4"]
    print(f"{m:5} vectors on an H100: at most {times:.2f} times as fast")

# %% [markdown] tags=["deep"]
# So the claim holds for very many vectors; for one, it forgets the places. In between the gain
# falls: at 345 vectors the dense product has reached its ridge, the sparse one has not. Measured
# gains were smaller: 1.20 to 1.22 times was reported for 8192 × 8192 matrices on an H100, with
# NVIDIA's own library.
#
# ### Exercise 7 · The small print
#
# Three lines of public pages: *E3M2: microscaling format, 4 bits* (the README of ml_dtypes);
# *MXFP4: every 16 consecutive elements share a scale, stored as E4M3* (Modal's almanac); *int4 and
# 2:4, in groups of 128: near-optimal speed-ups of around 5.3 times* (Sparse-Marlin). Count what
# they store.
#
# A weight has a sign, `exponent` bits of exponent and `mantissa` bits of mantissa. Of each `of`
# weights `kept` are stored. Where that is not all of them, each stored weight also has its place, a
# number from 0 to `of` - 1; `of` is a power of two. Each `block` weights, stored or not, share a
# scale of `scale` bits. Return the bits that a weight takes on average.
# `weight_bits(2, 3, 1, 4, 64, 16)` is 2.25.


# %% tags=["deep", "answer"] rooflab={"exercise": "12-claim-bits"}
def weight_bits(exponent, mantissa, kept, of, block, scale):
    # BEGIN SOLUTION
    place = (of - 1).bit_length() if kept < of else 0
    return (1 + exponent + mantissa + place) * kept / of + scale / block
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("12-claim-bits", weight_bits)

# %% tags=["deep", "nbval-check-output"]
print(f"E3M2: {1 + 3 + 2} bits")
print(f"MXFP4, 32 share 8 bits: {4 + 8 / 32}; 16 share 8 bits, as in NVFP4: {4 + 8 / 16}")
for scale in (0, 16):
    times = 16 / ((4 + 2) / 2 + scale / 128)
    print(f"int4, 2:4, scales of {scale:2} bits: {times:.2f} times fewer")

# %% [markdown] tags=["deep"]
# E3M2 has 6 bits. Sixteen elements with a scale in E4M3 are NVFP4. And 5.3 times is beyond what the
# bytes allow: 5.33 forgets the scales.

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - int4 with a scale in fp16 for 128 weights: 4.125 bits, 3.9 times fewer than fp16.
# - 2:4 in fp16: 9/16 of the bytes, so 1.78 times at most for one vector.
# - On an A10, int4 weights keep their gain up to 54 vectors. From 105 on it is less than 2.
# - Small layers lose, because the kernel for small weights has a longer constant time.
# - A batch reads the weights once for all its sequences. Each has a KV cache of its own to read.
#
# ## What you can do now
#
# - **Count** packed weights: values, scales, and places where there are any.
# - **Predict** who gains: the longest of the times for bytes, instructions and FLOPs, plus the
#   constant time.
# - **Write** a mask, a shift and a sign; or two numbers of four with their places.
# - **Decide** with numbers: batch first, then bytes, and measure the kernel you mean to use.
#
# These three lessons moved fewer bytes. The next ones look into the kernels themselves.

# %% tags=["core"]
rl.my_guesses("12")

# %% tags=["core"]
rl.progress("12")
