# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 04 · GEMM shapes
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **What are M, N and K in a language model, and when are more tokens free?**
#
# <details><summary>65 minutes, 100 with the exercises: what you learn, and what you need</summary>
#
# - **name** M, N and K of a layer, when a model reads a prompt and when it writes,
# - **compute** its intensity and its shortest time, for any number of tokens,
# - **find** its knee: how many tokens are nearly free,
# - **choose** a shape that convicts a wrong formula,
# - after the *Deeper* parts: **predict** its measured time, and **say** what its widths allow at
#   best, what padding costs, and which products training adds.
#
# You need lessons 01 and 03. The *Deeper* parts take another 50 minutes.
#
# </details>

# %% tags=["core"]
import numpy as np

import rooflab as rl
from rooflab.predict.estimate import mix_of

# %% [markdown] tags=["core"]
# ## One token, sixty-four tokens
#
# A language model reads and writes *tokens*: words, or pieces of words. Inside the model a token is
# a row of numbers, 4096 of them in Llama-2-7B. On its way through, the row is multiplied again and
# again by large matrices that never change, the *weights*. One such product is called a **linear
# layer**. Here is one that turns 4096 numbers into 11 008. It is known as the *up projection*,
# because the row gets longer.


# %% tags=["core"]
def up(tokens, dtype="fp32"):
    return rl.gemv(11008, 4096, dtype, batch=tokens, shared=("a",))


# %% tags=["core", "nbval-check-output"]
up(1)

# %% [markdown] tags=["core"]
# One token is a GEMV, a matrix times a vector. Models store their weights in numbers of 2 bytes or
# fewer. NumPy has no fast product for those, so on this core they have 4.
#
# And 64 tokens at once? Each is a vector of its own, but they all meet the *same* matrix, the
# operand `a`:

# %% tags=["core", "nbval-check-output"]
up(64)

# %% tags=["core", "nbval-check-output"]
one, many = up(1), up(64)
print(f"{many.flops / one.flops:.0f} times the FLOPs, {many.bytes / one.bytes:.3f} times the bytes")

# %% [markdown] tags=["core"]
# 64 times the arithmetic, for 2 per cent more bytes. The next cell measures several numbers of
# tokens, from memory, in ten to twenty seconds. **How many times longer do 64 tokens take than one,
# on one core?** Guess.

# %% tags=["core"]
here = rl.this_machine(threads=1)
core, gpu = rl.Roofline(here, "fp32"), rl.Roofline("h200-sxm", "bf16")
walk = {tokens: rl.measure(up(tokens), threads=1) for tokens in (1, 2, 4, 8, 16, 32, 64, 128)}
picture = rl.show.tokens(4096, 11008, [core, gpu], list(walk.values()))
grows = rl.ask("04-tokens", walk[64].median_s / walk[1].median_s, picture=picture)
grows

# %% [markdown] tags=["core"]
# <details><summary>What the picture shows (open this when you have guessed)</summary>
#
# The solid line is the bound: what the roof of this core allows, in units of the bound for a single
# token. It starts flat. While the weights come from memory, there is time to multiply each of them
# with a few tokens. Then it bends and rises: the core is busy computing, and twice the tokens take
# twice the time. The diamonds are your measurements, in the same unit. You guessed the diamond at
# 64 tokens divided by the diamond at 1.
#
# The dashed line is the same layer under the roof of an H200, a data-centre GPU, in `bf16`: 2-byte
# numbers with fewer digits. It shows a *datasheet*, not a run.
#
# </details>

# %% tags=["core"]
rl.show.say(rl.conclude("04-second-token", walk), after=grows)

# %% [markdown] tags=["core"]
# And on the H200, by its roof? Change one thing at a time: first the machine, still with 4-byte
# numbers, then the number type:

# %% tags=["core", "nbval-check-output"]
for kind in ("fp32", "bf16"):
    roof, many = rl.Roofline("h200-sxm", kind), up(64, kind)
    factor = roof.time(many) / roof.time(up(1, kind))
    print(f"{kind}: {many.intensity:.1f} FLOP/byte, ridge {roof.ridge:.1f},", end=" ")
    print(f"64 tokens: {rl.si(roof.time(many), 's')}, {factor:.2f} times as long as one")

# %% [markdown] tags=["core"]
# In fp32, 64 tokens are right of the H200's ridge and take more than twice as long as one. The
# 2-byte type changes two things. Half the bytes mean twice the intensity. And products of 2-byte
# numbers may use the GPU's **matrix units**, which only multiply matrices and have a far higher
# peak. That moves the ridge far to the right. Now 64 tokens are left of it, and nearly free. They
# are only four and a half times as fast as in fp32, because they wait for bytes. **A chip has a
# ridge for each number type.**
#
# **The H200's bf16 ridge is further right than this core's. By what factor?** Guess, and see both
# roofs side by side.

# %% tags=["core"]
picture = rl.show.walk(4096, 11008, [core, gpu], list(walk.values()))
further = rl.ask("04-ridges", gpu.ridge / core.ridge, picture=picture)
further

# %% [markdown] tags=["core"]
# <details><summary>What the picture shows (open this when you have guessed)</summary>
#
# Each half is a roofline: teal where memory limits a product, purple where computing does. Speed is
# a share of the machine's own peak, so both roofs are equally high. The numbers are tokens. Hollow
# diamonds show what the roof allows, filled ones what you measured.
#
# It is the same walk in both halves. On the right every step has twice the intensity, but the roof
# bends much further right: 64 tokens are still on the slope, and 256 are just over the ridge. The
# H200's matrix units have 15 times the peak of its ordinary units in `fp32`. Its memory is the
# same, so its `bf16` ridge is 15 times its `fp32` ridge.
#
# </details>

# %% [markdown] tags=["core"]
# Where do 64 tokens lie, in numbers? The slope is now the bandwidth of *reading*, because a layer
# mostly reads its weights. Lesson 03 used the best mix, so your ridge may have been lower there.

# %% tags=["core"]
lines = []
for roof in (core, gpu):
    at, where = up(64, roof.dtype).intensity, f"{roof.machine.name}, {roof.dtype}"
    lines.append(f"{where}: {at:.0f} FLOP/byte, the ridge is at {roof.ridge:.3g}")
rl.show.say(*lines, after=further)

# %% tags=["core"]
rl.show.say(rl.conclude("04-sides", (up(64), core), (up(64, "bf16"), gpu)), after=further)

# %% [markdown] tags=["core"]
# ## What are M, N and K?
#
# Stack the tokens as the rows of a matrix $X$. The weights are a matrix $W$ with one row for each
# number that comes out. Then the layer is a single product, $Y = X\,W^T$. In rows × columns:
#
# - $X$ is *tokens* × *inputs*,
# - $W^T$ is *inputs* × *outputs*,
# - $Y$ is *tokens* × *outputs*.
#
# So **M is the number of tokens, N the outputs and K the inputs**. M and N are the edges of the
# result, and each of its numbers is a sum of K products. `rl.gemm(tokens, outputs, inputs)` counts
# the same as `up`.

# %% tags=["core", "nbval-check-output"]
product = rl.gemm(64, 11008, 4096)
product.flops == up(64).flops, product.bytes == up(64).bytes

# %% [markdown] tags=["core"]
# In practice tokens come in a *batch*. A prompt and what is written after it form a **sequence**,
# and several sequences go through the model at once: batch × length × inputs numbers. The layer
# treats every row alike. So stack all rows, multiply once, and cut the result up again. Try it:

# %% tags=["core", "nbval-check-output"]
draw = np.random.default_rng(0).normal
x, w = draw(size=(2, 5, 8)), draw(size=(3, 8))
rows = x.reshape(2 * 5, 8)
y = (rows @ w.T).reshape(2, 5, 3)
print("same result:", np.allclose(y, [[w @ token for token in one] for one in x]))
print("no number was moved for it:", np.shares_memory(rows, x))

# %% [markdown] tags=["core"]
# **All edges but the last become M.**
#
# A language model works in two *phases*. In **prefill** it reads: all tokens of the prompt go
# through the layer together. In **decode** it writes one new token for each sequence, and only
# *that* token goes through the layer. What it needs from the earlier tokens is kept.
#
# ### Exercise 1 · M, N and K
#
# You get `batch` sequences of `length` tokens each, and a layer from `inputs` to `outputs`. Return
# M, N and K, in this order: for decode if `decode` is true, otherwise for prefill.


# %% tags=["core", "answer"] rooflab={"exercise": "04-shapes"}
def shape(batch, length, inputs, outputs, decode):
    # BEGIN SOLUTION
    tokens = batch if decode else batch * length
    return tokens, outputs, inputs
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("04-shapes", shape)

# %% [markdown] tags=["core"]
# ## The box, with tokens as its thickness
#
# You know the box from lesson 01: its volume is the multiply-adds, its painted faces are what
# travels. The box of a layer has the weights $W$ for a lid, and **every token makes it one number
# thicker**.
#
# 1. Set *tokens* to 1. The box is a sheet, all surface, and the dot is far left.
# 2. Slide *tokens* up. The volume grows, but the face $W$ stays as it is. The dot walks right, past
#    the ridge of this core.
# 3. Choose the H200, then `bf16`, and go back to 1 token. Now the dot has much further to go.
# 4. Go up to 4096 tokens, then make *inputs* small. Does the dot stay?

# %% tags=["core"]
rl.live.layer(machines=[here, "h200-sxm", "mi300x", "rtx-4090"], after=further)

# %% [markdown] tags=["core"]
# ### Exercise 2 · Reading and writing
#
# The same layer in both phases: `batch` sequences of `length` tokens, numbers of `itemsize` bytes.
# Return its intensity in prefill, then in decode.


# %% tags=["core", "answer"] rooflab={"exercise": "04-intensities"}
def intensities(batch, length, inputs, outputs, itemsize):
    # BEGIN SOLUTION
    def of(tokens):
        numbers = tokens * inputs + inputs * outputs + tokens * outputs
        return 2 * tokens * inputs * outputs / (numbers * itemsize)

    return of(batch * length), of(batch)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("04-intensities", intensities)

# %% [markdown] tags=["core"]
# For the up projection, in `bf16`, that comes to:

# %% tags=["core", "nbval-check-output"]
for tokens in (1, 8, 64, 256, 2048, 16384):
    print(f"{tokens:6} tokens: {up(tokens, 'bf16').intensity:8.4g} FLOP/byte")

# %% [markdown] tags=["core"]
# With few tokens, nearly all that travels is weights. Each weight has 2 bytes and gives 2 FLOPs per
# token, so the intensity is *nearly the number of tokens*. With many tokens it falls behind,
# because what comes in and goes out weighs more and more. Divide the FLOPs and the numbers by
# M·N·K, and the intensity fits on one line:
#
# $$\text{intensity} = \frac{2}{\text{itemsize}} \;\Big/\; \Big(\frac1M + \frac1N + \frac1K\Big)$$
#
# The *smallest* edge rules. That is why the dot fell back when you made *inputs* small.

# %% [markdown] tags=["core"]
# ## The time of a layer
#
# ### Exercise 3 · Layer
#
# Return the shortest time of a layer, in seconds. As in lesson 03, it is the longer of two times.
# This function goes into your `mine.py`, too.


# %% tags=["core", "answer"] rooflab={"exercise": "04-layer"}
def layer(tokens, inputs, outputs, itemsize, peak, bandwidth):
    # BEGIN SOLUTION
    flops = 2 * tokens * inputs * outputs
    numbers = tokens * inputs + inputs * outputs + tokens * outputs
    return max(flops / peak, numbers * itemsize / bandwidth)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("04-layer", layer)

# %% tags=["core"]
rl.mine.save(layer)

# %% [markdown] tags=["core"]
# Now your function against the clock of this core. A ⚠ marks a warning; `walk[2]`, for example,
# prints it.

# %% tags=["core"]
bounds = {n: rl.mine.layer(n, 4096, 11008, 4, core.peak, core.bandwidth) for n in walk}
lines = []
for tokens, one in walk.items():
    far, mark = one.median_s / bounds[tokens], "⚠" if one.warnings else ""
    lines.append(f"{tokens:4} tokens: {rl.si(one.median_s, 's'):>8}, {far:5.2f} × bound {mark}")
rl.show.say(*lines, after=grows)

# %% tags=["core"]
rl.show.say(rl.conclude("04-gaps", walk, bounds, core), after=grows)

# %% [markdown] tags=["deep"]
# ## Deeper: predict another layer
#
# A bound is a promise. What *will* the clock say between one token and many, where the library is
# far from the roof? There are two ways through a layer.
#
# - **Vector by vector**: a GEMV for each token. The first GEMV waits for the weights to come from
#   memory. If they fit in a cache, every further GEMV finds them nearer, but still has to go
#   through all of them.
# - **All at once**: a GEMM. First it copies the weights into its blocks, then it computes.
#
# We recorded a small language model while it wrote, on one core with 32 MB of cache. Its up
# projection, 768 → 2048, was tried both ways, each with the weights stored by rows and by columns.
# For each way, the better order is shown here. Which way is quicker, and for how many tokens?

# %% tags=["deep", "nbval-check-output"]
for run in rl.decode_recording("epyc-2core-vm").runs:
    tried = run.trials["up"]
    gemv, gemm = (1e6 * min(tried[way], tried[f"{way} on Wᵀ"]) for way in ("gemv ×B", "gemm"))
    print(f"{run.batch:2} tokens: vector by vector {gemv:4.0f} µs, all at once {gemm:4.0f} µs")

# %% [markdown] tags=["deep"]
# The first column starts low, and every further vector adds about the same. The second starts high:
# with a single token, nearly all of it is copying. After that only its arithmetic grows. The two
# cross between 8 tokens and 16.
#
# ### Exercise 4 · Another layer
#
# While the model wrote, it did each product the quicker way. You get three figures from *one* of
# its layers, and the peak of the core:
#
# - `first`: seconds per weight for the first vector,
# - `again`: seconds per weight for each further vector,
# - `copy`: seconds per weight for the copy,
# - `peak`: FLOP/s.
#
# Return the seconds of *another* layer, `inputs` → `outputs`, for all its `tokens` together. As in
# lesson 03, your answer is compared with the clock. It may be off by the spread of the recorded
# times, plus a quarter, because no two layers are quite alike. You are asked only where the quicker
# of the two ways, so computed, comes close.


# %% tags=["deep", "answer"] rooflab={"exercise": "04-predict"}
def predict(tokens, inputs, outputs, first, again, copy, peak):
    # BEGIN SOLUTION
    weights = inputs * outputs
    vectors = weights * (first + (tokens - 1) * again)
    product = weights * copy + 2 * tokens * weights / peak
    return min(vectors, product)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("04-predict", predict)

# %% [markdown] tags=["deep"]
# Under a roof the longer of two times counts; here the two times *add up*. One core does both jobs,
# and while it copies a block it multiplies nothing. Look at the numbers once more: from 8 tokens to
# 64 the second column does not even triple. By the roof, more tokens are free until the arithmetic
# takes over. With a routine that copies, each further token keeps making the rest cheaper long
# after that, because they share one copy.

# %% [markdown] tags=["core"]
# ## The knee
#
# Back to the first picture, divided by the number of tokens: what *one token costs*.

# %% tags=["core"]
each = rl.show.tokens(4096, 11008, [core, gpu], list(walk.values()), each=True)
rl.show.say(each, after=grows)

# %% [markdown] tags=["core"]
# On the slope the tokens share the weights, and each new one makes all of them cheaper. Beyond the
# **knee** every token pays for its own arithmetic, and company no longer helps. By the roof, that
# is how large you want a batch. And your diamonds?

# %% tags=["core"]
rl.show.say(rl.conclude("04-beyond", walk, core), after=grows)

# %% [markdown] tags=["core"]
# The knee is where the intensity reaches the ridge. Set your formula for the intensity equal to the
# ridge, and solve for M.
#
# ### Exercise 5 · The knee
#
# Return the number of tokens at the knee. It can be a fraction. Every layer in the checks has a
# knee.


# %% tags=["core", "answer"] rooflab={"exercise": "04-knee"}
def knee(inputs, outputs, itemsize, peak, bandwidth):
    # BEGIN SOLUTION
    ridge = peak / bandwidth
    return 1 / (2 / (itemsize * ridge) - 1 / inputs - 1 / outputs)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("04-knee", knee)

# %% [markdown] tags=["core"]
# You may hear this rule: *with 2-byte weights the batch has to be as large as the ridge*. Let's try
# it on four machines (datasheet figures) and three layers: 4096 → 11008 of Llama-2-7B, 4096 → 14336
# of Llama-3-8B, and 768 → 3072 of GPT-2, a small model. From how many tokens on is each
# compute-bound?


# %% tags=["core"]
def first(roof, inputs, outputs):
    every = (rl.gemm(tokens, outputs, inputs, "fp16") for tokens in range(1, 5000))
    return next(op.dims["m"] for op in every if roof.limit(op) == "compute")


# %% tags=["core", "nbval-check-output"]
for name in ("mi300x", "rtx-4090", "h100-sxm", "h200-sxm"):
    roof = rl.Roofline(name, "fp16")
    large, larger = first(roof, 4096, 11008), first(roof, 4096, 14336)
    small = first(roof, 768, 3072)
    print(f"{name:9} ridge {roof.ridge:.1f}: from {large}, {larger} and {small} tokens on")

# %% [markdown] tags=["core"]
# For the two wide layers the rule is not bad, a tenth too low at worst. For GPT-2's layer it is far
# off: on an MI300X **the knee is just beyond 412 tokens, not at 247**. A narrow layer has few
# weights, so what comes in and goes out weighs in early. For other types the rule says *ridge ×
# itemsize ÷ 2*.
#
# Another rule: *a batch of 128 fills the GPU*. But a model has products of several shapes, and they
# share a batch.
#
# ### Exercise 6 · Who is last?
#
# `products` is a list of (inputs, outputs). Return three things: the position in the list, from 0,
# of the product that becomes compute-bound last; the smallest whole batch at which all are
# compute-bound; and the share of the peak that the roof allows that last product at `batch`. You
# may call your `knee` and `layer`.


# %% tags=["core", "answer"] rooflab={"exercise": "04-last"}
def last(products, batch, itemsize, peak, bandwidth):
    # BEGIN SOLUTION
    knees = [knee(i, o, itemsize, peak, bandwidth) for i, o in products]
    i, o = products[knees.index(max(knees))]
    share = 2 * batch * i * o / peak / layer(batch, i, o, itemsize, peak, bandwidth)
    return knees.index(max(knees)), int(max(knees)) + 1, share
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("04-last", last)

# %% [markdown] tags=["core"]
# Llama-3-8B has products of five shapes. Here are its layers on an H100. Those on one line have the
# same shape:

# %% tags=["core", "nbval-check-output"]
h100 = rl.Roofline("h100-sxm", "bf16")
wide = {"q, o": (4096, 4096), "k, v": (1024, 4096), "gate, up": (14336, 4096)}
for name, edges in (wide | {"down": (4096, 14336), "output": (128256, 4096)}).items():
    ops = (rl.gemm(batch, *edges, "bf16") for batch in (128, 256, 400))
    shares = (100 * h100.attainable(op.intensity) / h100.peak for op in ops)
    print(f"{name:8} at 128, 256, 400:", ", ".join(f"{share:.0f} %" for share in shares))

# %% [markdown] tags=["core"]
# By the roof a batch of 128 gets two fifths of the peak, and k and v are still waiting at 400.

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# One model's layers are half as wide as another's, in both directions. On the same GPU, the
# narrower model's knee is …
#
# <details><summary><b>A</b> at a quarter of the tokens: a layer has a quarter of the
# weights.</summary>
#
# This is *less to load, sooner done*. But there is less to compute, too.
#
# </details>
#
# <details><summary><b>B</b> at half the tokens.</summary>
#
# This is A's idea, half as strong.
#
# </details>
#
# <details><summary><b>C</b> at the same number: the ridge is the same.</summary>
#
# This is *batch = ridge*, which holds only for very wide layers.
#
# </details>
#
# <details><summary><b>D</b> at more tokens.</summary>
#
# **Right.** The intensity of a narrow layer grows more slowly, so it takes more tokens to reach the
# same ridge.
#
# </details>

# %% [markdown] tags=["core"]
# ## Same work, another shape
#
# Here are four products with the same number of multiply-adds: a cube, a slab, and two thin ones.
# The third is like a layer with 16 tokens. In the last, the edge *summed over* is thin.

# %% tags=["core", "nbval-check-output"]
shapes = [(1024, 1024, 1024), (128, 4096, 2048), (16, 8192, 8192), (8192, 8192, 16)]
ops = [rl.gemm(*edges) for edges in shapes]
for op in ops:
    print(f"{op.label:24} {rl.si(op.flops, 'FLOP')}, {op.intensity:6.2f} FLOP/byte")

# %% [markdown] tags=["core"]
# What does the roof of this core say about them? Each gets the slope of its own mix: the last one
# does little but write.

# %% tags=["core"]
rl.conclude("04-thin-sides", ops, core)

# %% [markdown] tags=["core"]
# And the clock? **Divide the third product's time by the cube's. What do you get?**

# %% tags=["core"]
timed = [rl.measure(op, threads=1) for op in ops]
thin = rl.ask("04-thin", timed[2].median_s / timed[0].median_s)
thin

# %% [markdown] tags=["core"]
# Here are all four, compared with the cube. Beside them is the H200 by its roof, in fp32 and in
# `bf16` (datasheet).


# %% tags=["core"]
def shortest(edges, roof):
    op = rl.gemm(*edges, roof.dtype)
    mix = mix_of(op, roof.machine, "dram")
    return rl.Roofline(roof.machine, roof.dtype, mix=mix).time(op)


# %% tags=["core"]
roofs, lines = [core, rl.Roofline("h200-sxm", "fp32"), gpu], []
for edges, one in zip(shapes, timed):
    here_roof, fp32, bf16 = (shortest(edges, r) / shortest(shapes[0], r) for r in roofs)
    clock, mark = one.median_s / timed[0].median_s, "⚠" if one.warnings else ""
    lines.append(f"{one.op.label:24} here {clock:5.2f} (roof {here_roof:.2f}) {mark}, ")
    lines[-1] += f"H200 by its roof {fp32:5.2f} and {bf16:5.2f}"
rl.show.say(*lines, after=thin)

# %% tags=["core"]
rl.show.say(rl.conclude("04-thin", timed[0], timed[2], core), after=thin)

# %% [markdown] tags=["core"]
# The last product has little to copy, but a result of 268 MB to write, and each number of it sums
# only sixteen products. On the H200 the roof alone makes the thin ones slower: in fp32 they are
# left of its ridge, in `bf16` so is the slab. There, time is bytes. **Among products with the same
# FLOPs, the smallest edge decides.**

# %% [markdown] tags=["core"]
# ## Claim court: the same face twice
#
# A public text on the efficiency of GEMM gives the intensity as $2MNK$ divided by the bytes of
# $MK + KN + MK$ numbers. One of the three faces is there twice, and one is missing. Test it with a
# cube, and you notice nothing:


# %% tags=["core", "nbval-check-output"]
def claimed(m, n, k):
    return m * k + k * n + m * k


def right(m, n, k):
    return m * k + k * n + m * n


print("a cube notices nothing:", claimed(512, 512, 512) == right(512, 512, 512))

# %% [markdown] tags=["core"]
# ### Exercise 7 · The shape that convicts
#
# Somebody tests the formula on a product of this shape and compares it, exactly, with the true
# count. Return `True` if the test notices the mistake, and `False` if the formula gets away.


# %% tags=["core", "answer"] rooflab={"exercise": "04-convicts"}
def convicts(m, n, k):
    # BEGIN SOLUTION
    return n != k
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("04-convicts", convicts)

# %% [markdown] tags=["core"]
# <details><summary>The derivation (open this when your answer is right)</summary>
#
# *Claimed − right* is $MK - MN = M\,(K - N)$. M is never zero, so the difference is zero exactly
# when K = N. The edges that look most suspicious, M and K, prove nothing.
#
# </details>

# %% [markdown] tags=["core"]
# How much does it matter? For the up projection, the claimed intensity is too high by:

# %% tags=["core", "nbval-check-output"]
for tokens in (1, 64, 2048, 16384):
    off = right(tokens, 11008, 4096) / claimed(tokens, 11008, 4096) - 1
    print(f"{tokens:6} tokens: {100 * off:6.2f} %")

# %% [markdown] tags=["core"]
# With one token you would never see it. In a large prefill the claim is off by more than half. So
# test a count with edges that are **all different**, and none of them small.

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# In decode, a service adds more and more sequences to its batch. By the roof, the shortest time of
# a layer …
#
# <details><summary><b>A</b> grows from the very first sequence on.</summary>
#
# This is *more work takes more time*. Not while the loading hides it.
#
# </details>
#
# <details><summary><b>B</b> stays the same, because the weights are read only once.</summary>
#
# This forgets the flat roof.
#
# </details>
#
# <details><summary><b>C</b> stays nearly the same up to the knee, then grows.</summary>
#
# **Right.** First the weights decide, then the arithmetic.
#
# </details>
#
# <details><summary><b>D</b> grows up to the knee, then stays the same.</summary>
#
# So does the *speed*, in FLOP/s. The question is about time.
#
# </details>

# %% [markdown] tags=["deep"]
# ## Deeper: claim court, N and K exchanged
#
# The text with the repeated face also has a table of shapes. For the *up* projection, from
# `d_model` numbers to `d_ff` numbers, it says *N = d_model, K = d_ff*. You know better from
# exercise 1. But would you have noticed?
#
# ### Exercise 8 · What notices?
#
# Compare `rl.gemm(8, 11008, 4096)`, the right one, with `rl.gemm(8, 4096, 11008)`. Set `notices` to
# six truth values, in this order: does the exchange show in
#
# 1. the FLOPs,
# 2. the bytes,
# 3. the intensity,
# 4. the number of weights,
# 5. the shape of the result,
# 6. how many products are summed for each number of the result?

# %% tags=["deep", "answer"] rooflab={"exercise": "04-swapped"}
# BEGIN SOLUTION
notices = (False, False, False, False, True, True)
# END SOLUTION

# %% tags=["deep", "nbval-check-output"]
rl.check("04-swapped", notices)

# %% tags=["deep", "nbval-check-output"]
rl.gemm(8, 11008, 4096, "bf16")

# %% tags=["deep", "nbval-check-output"]
rl.gemm(8, 4096, 11008, "bf16")

# %% [markdown] tags=["deep"]
# FLOPs, bytes, intensity, weights: no total convicts the table, because all of them treat the edges
# N and K alike. That is why such a mistake lives long. The shape of the result gives it away at
# once: look at shapes before you look at sums.
#
# The line with the repeated face has a second slip: it says $2MNK / (\ldots) \cdot \text{bytes}$.
# Taken literally, that multiplies by the bytes of a number where it should divide: 4 times too high
# for 2-byte numbers, 16 times for 4-byte ones. Use parentheses.

# %% [markdown] tags=["deep"]
# ## Deeper: the ceiling of a layer
#
# With more and more tokens the box gets thicker and thicker. Does its intensity grow forever?
#
# ### Exercise 9 · The ceiling
#
# Return the intensity that a layer approaches but never reaches, however many tokens it gets.


# %% tags=["deep", "answer"] rooflab={"exercise": "04-ceiling"}
def ceiling(inputs, outputs, itemsize):
    # BEGIN SOLUTION
    return 2 / itemsize / (1 / inputs + 1 / outputs)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("04-ceiling", ceiling)

# %% [markdown] tags=["deep"]
# If the ceiling is below the ridge, there is *no knee*: such a layer never becomes limited by
# computing, whatever the number of tokens. Some layers are that narrow on purpose. A *low-rank
# adapter* (LoRA) changes a model through two thin layers, say from 4096 numbers to 16 and back.
# Here is the first of the two, beside layers that you know, with $10^{12}$ tokens, which is as good
# as infinitely many:

# %% tags=["deep", "nbval-check-output"]
for inputs, outputs in ((4096, 16), (768, 3072), (4096, 11008)):
    most = rl.gemm(10**12, outputs, inputs, "bf16").intensity
    print(f"{inputs} → {outputs}: at most {most:.1f} FLOP/byte, H200 ridge {gpu.ridge:.1f}")

# %% [markdown] tags=["deep"]
# Even with endless tokens the adapter gets no further than a thirteenth of the H200's peak. Its
# FLOPs are few but slow. That is the price of being thin.

# %% [markdown] tags=["deep"]
# ## Deeper: padding
#
# An old piece of advice: pad the edges of a matrix with zeros up to a *good* size, a multiple of 8
# or 64 or 128, and the product gets faster, although there is more work to do. GPT-2's list of
# tokens has 50 257 entries; some programs make it 50 304, a multiple of 64. The price multiplies
# over the edges:

# %% tags=["deep", "nbval-check-output"]
print(f"50257 → 50304: {100 * (50304 / 50257 - 1):.3f} % more work, in that one edge")
print(f"1000 → 1024, all edges: {100 * (1024**3 / 1000**3 - 1):.1f} % more work")
print(f"1025 → 1152, all edges: {100 * (1152**3 / 1025**3 - 1):.1f} % more work")

# %% [markdown] tags=["deep"]
# A few zeros cost next to nothing, but an unlucky edge costs a lot. Does padding pay on this core?
# The next cell times a product of 1000 × 1000 matrices, and one with the edges padded to 1024.
# Guess padded ÷ unpadded: above 1, padding loses.

# %% tags=["deep"]
edges = (1000, 1001, 1023, 1024, 1025)
sizes = {n: rl.measure(rl.gemm(n, n, n), cache="warm", threads=1) for n in edges}
padding = rl.ask("04-padding", sizes[1024].median_s / sizes[1000].median_s)
padding

# %% tags=["deep"]
lines = []
for n, one in sizes.items():
    mark = "⚠" if one.warnings else ""
    lines.append(f"{n}: {rl.si(one.median_s, 's'):>8}, {rl.si(one.flop_per_s, 'FLOP/s')} {mark}")
rl.show.say(*lines, after=padding)

# %% tags=["deep"]
rl.show.say(rl.conclude("04-padding", sizes[1000], sizes[1024]), after=padding)

# %% [markdown] tags=["deep"]
# Many texts explain the gain by the intensity, which is higher for a larger matrix. That cannot be
# it. Count only the *useful* FLOPs, and the intensity falls:

# %% tags=["deep", "nbval-check-output"]
plain, padded = rl.gemm(1000, 1000, 1000), rl.gemm(1024, 1024, 1024)
print(f"{plain.intensity:.1f} FLOP/byte, padded {plain.flops / padded.bytes:.1f} useful ones")

# %% [markdown] tags=["deep"]
# Where padding does help, it helps the *routine*: rows start at good addresses, blocks are full, no
# odd pieces are left over at the edges, or a library can use the matrix units of a GPU, which some
# do only for multiples of 8 or 16. 1024 may even be an unlucky edge: rows that start exactly 4096
# bytes apart compete for the same places in a cache. Measure before you pad.

# %% [markdown] tags=["deep"]
# ## Deeper: the way back
#
# To *train* a layer you need to know how the model's error changes with each of its inputs, $dX$,
# and with each of its weights, $dW$. The forward product was $Y = X\,W^T$, with $X$ of size M×K and
# $W$ of size N×K. The layer above hands down $dY$: how the error changes with each number of $Y$.
# Two more products follow from it:
#
# $$dX = dY \; W \qquad\qquad dW = dY^T\, X$$
#
# ### Exercise 10 · The way back
#
# The forward product is (M, N, K) = (`m`, `n`, `k`). Return six numbers: M, N and K of the product
# for $dX$, then M, N and K of the product for $dW$. The two edges of a result come first, then the
# edge that is summed over.


# %% tags=["deep", "answer"] rooflab={"exercise": "04-gradients"}
def gradients(m, n, k):
    # BEGIN SOLUTION
    return m, k, n, n, k, m
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("04-gradients", gradients)

# %% tags=["deep", "nbval-check-output"]
m, n, k = 16384, 11008, 4096
for name, edges in (("Y", (m, n, k)), ("dX", (m, k, n)), ("dW", (n, k, m))):
    op = rl.gemm(*edges, "bf16")
    print(f"{name:2} {rl.si(op.flops, 'FLOP')}, {op.intensity:.1f} FLOP/byte")

# %% [markdown] tags=["deep"]
# Three boxes with the same three edges, lying on different sides: the same FLOPs, the same bytes.
# **Training a layer costs three times the FLOPs of its forward pass**, if the results of the
# forward pass are kept. Some programs keep less and do the forward pass twice. The very first layer
# needs no $dX$. One thing changes: the tokens, which are M on the way forward, are the edge that
# $dW$ *sums over*. Its result is as large as $W$, however many tokens there were. If a layer also
# adds a *bias* $b$, a row of N numbers, $db$ is the sum of all rows of $dY$: one addition for each
# number read, limited by memory on every machine here.

# %% [markdown] tags=["deep"]
# ## Deeper: claim court, bytes per FLOP
#
# Some texts turn the intensity upside down and call it *B/F*, bytes per FLOP. A public slide deck
# compares two models in 2-byte numbers. ResNet-50 has 25 557 032 weights; for one picture, the deck
# gives it 4.09 GFLOP. GPT-2 has 124 337 664 weights; for one token, the deck gives it 0.2848 GFLOP.
# The 102 144 biases of GPT-2 are left out; they change nothing here.

# %% tags=["deep", "nbval-check-output"]
print(f"ResNet-50: {25_557_032 * 2 / 4.09e9:.4f} B/F as printed")
print(f"GPT-2:     {124_337_664 * 2 / 0.2848e9:.3f} B/F as printed")

# %% [markdown] tags=["deep"]
# **GPT-2** first. One token is a stack of GEMVs: each weight has 2 bytes and gives 2 FLOPs, so B/F
# has to be near 1. Where does 0.873 come from? The FLOPs include the work on 1024 earlier tokens,
# to which the model pays *attention*. The bytes do not. Count both with them, or both without.
# 123 532 032 of the weights are in matrices that multiply every token. GPT-2 has 12 blocks, its
# rows have 768 numbers, and each block keeps two rows of every earlier token.

# %% tags=["deep", "nbval-check-output"]
matrices, kept = 123_532_032, 2 * 1024 * 768 * 12
print(f"both without: {2 * 124_337_664 / (2 * matrices):.3f} B/F")
print(f"both with: {2 * (124_337_664 + kept) / (2 * matrices + 2 * kept):.3f} B/F")
print(f"FLOPs with, bytes without: {2 * 124_337_664 / (2 * matrices + 2 * kept):.3f} B/F")

# %% [markdown] tags=["deep"]
# And **ResNet-50**? Its 4.09 G are *multiply-adds*, so it does twice as many FLOPs. Is B/F half of
# what is printed, then? Not quite, because only the weights were counted. The results of its
# layers, 11.1 million numbers, are written, and the next layers read them again:

# %% tags=["deep", "nbval-check-output"]
weights, between, flops = 2 * 25_557_032, 2 * 2 * 11_113_984, 2 * 4_089_184_256
print(f"weights alone: {weights / flops:.4f} B/F")
print(f"with what goes between the layers: {(weights + between) / flops:.4f} B/F")

# %% [markdown] tags=["deep"]
# Two mistakes nearly cancel: half the FLOPs were missing, and half the bytes. A figure that is
# nearly right does not prove that somebody has counted.

# %% [markdown] tags=["deep"]
# ## Deeper: what others measured
#
# So far, the GPUs came from datasheets. Here are products that others timed on real ones, a small
# part of a public table. Each cross is one product.

# %% tags=["deep"]
rl.show.published("h100-sxm", "bf16")

# %% [markdown] tags=["deep"]
# The red crosses lie above the roof: the bytes of these products cannot all have come from memory.
# Lower *working set up to*. Where does the sentence stop saying “None of the larger ones does”?
# Then choose the L40S.

# %% tags=["deep", "nbval-check-output"]
for gpu in ("h100-sxm", "l40s"):
    above = [run.op.working_set for run in rl.published(gpu, "bf16") if run.above]
    cache = rl.machine(gpu).capacities["l2"]
    print(f"{gpu}: above the roof up to {rl.si(max(above), 'B')}, L2 cache {rl.si(cache, 'B')}")

# %% [markdown] tags=["deep"]
# What fits into the L2 cache may still lie there from the run before.
#
# ### Exercise 11 · Predict what others measured
#
# How many µs does a product take on an H100, in bf16? Its peak is 989.4e12 FLOP/s, its bandwidth
# 3.35e12 byte/s; most products get only a part of either. The bound alone is far off where products
# are small:

# %% tags=["deep", "nbval-check-output"]
roof = rl.Roofline("h100-sxm", "bf16")
runs = [run for run in rl.published("h100-sxm", "bf16") if not run.above]
for run in sorted(runs, key=lambda run: run.op.flops)[::44]:
    clock, bound = 1e6 * run.seconds, 1e6 * roof.time(run.op)
    print(f"{run.op.label:28} {clock:7.1f} µs, bound {bound:7.1f} µs")

# %% [markdown] tags=["deep"]
# Write a formula with constants of your own, and try it on `runs`, which leaves the red crosses
# out. The check asks for 60 other products. Half of your answers may be off by 1.25 times at most,
# nine of ten by 1.5.


# %% tags=["deep", "answer"] rooflab={"exercise": "04-published"}
def microseconds(m, n, k):
    # BEGIN SOLUTION
    computing = 2 * m * n * k / (0.8 * 989.4e12)
    carrying = 2 * (m * k + k * n + m * n) / (0.85 * 3.35e12)
    return 3.5 + 1e6 * max(computing, carrying)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("04-published", microseconds)

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - **64 times the FLOPs, 2 % more bytes**: 64 tokens instead of one, in the fp32 up projection.
# - **2 ÷ itemsize ÷ (1/M + 1/N + 1/K)**: the intensity of a layer. The smallest edge rules.
# - **Ridge × itemsize ÷ 2**: the knee of a very wide layer, in tokens. Narrow layers: later.
# - **412, not 247**: the knee of GPT-2's 768 → 3072 on an MI300X.
#
# ## What you can do now
#
# - **Name** M, N and K of a layer. In decode M is the batch, whatever the length.
# - **Compute** its intensity and its shortest time.
# - **Find** its knee.
# - **Choose** a shape that convicts: all edges different, none of them small.
# - And if you went deeper: **predict** one layer from another, and **say** what widths allow, what
#   padding costs, and what training adds.
#
# A whole model is a stack of such layers. The next lesson lets a model write on your computer: for
# a single sequence, each layer is a GEMV.
#
# Go on with [lesson 05](05_decode.ipynb).

# %% tags=["core"]
rl.my_guesses("04")

# %% tags=["core"]
rl.progress("04")
