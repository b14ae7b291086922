# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 10 · Fusion
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **What does it cost to put a number down and pick it up again?**
#
# <details><summary>45 minutes, 85 with the exercises: what you learn, and what you need</summary>
#
# - **count** what a chain of operations moves, step by step and as one loop,
# - **predict** what fusing it gains, and notice when bytes are not the answer,
# - **write** a softmax that goes through its numbers once,
# - **decide** what to compute a second time instead of keeping it.
#
# You need lessons 01 to 03; 05 helps. The *Deeper* part adds 10 minutes. A lecture shows some of it
# in 25.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## Six calls
#
# Each layer of a language model normalises its numbers twice. RMSNorm divides every number of `x` by
# the root mean square of its row, and multiplies it by a weight. In NumPy that is six calls:

# %% tags=["core", "nbval-check-output"]
chain = rl.fusion.chains()["rms_norm"]
print(chain.source())

# %% [markdown] tags=["core"]
# Each call is a loop of its own, which reads arrays and writes a new one. The same arithmetic can be
# done in **one loop**: it reads a row, finds its root mean square, and divides the row while it still
# lies in a cache.
#
# The next cell times both, on one core. `x` is larger than all caches together. **How many times as
# fast is the one loop?**

# %% tags=["core"]
norm = rl.fusion.gain("rms_norm")
first = rl.ask("10-norm", norm.gain())
first

# %% [markdown] tags=["core"]
# The picture opens with your guess. Press *one loop*, and watch the arrows: each is an array that goes
# to memory or comes from there, thick if it is as large as x.

# %% tags=["core"]
rl.fusion.ways(norm, after=first)

# %% tags=["core"]
rl.show.say(rl.conclude("10-norm", norm), after=first)

# %% [markdown] tags=["core"]
# ## Count the arrows
#
# Joining loops so that results need not go to memory in between is called **fusion**. No FLOP is
# saved. What is saved are the arrays between the steps: in one loop, such a number stays in a register
# from the step that makes it to the last step that needs it.
#
# ### Exercise 1 · What a chain moves
#
# Each entry of `steps` is the name of the array that a step makes, and a list of the names that it
# works on. All arrays are of one size, each name is made once at most, and only the last array is
# needed afterwards. Nothing stays in a cache from step to step. Count the arrays that are read and
# written: when every step is a loop of its own, in which a number that is needed twice is read once,
# and when all of it is one loop. `moves([["q", ["x"]], ["y", ["q", "x"]]])` is `(5, 2)`.


# %% tags=["core", "answer"] rooflab={"exercise": "10-moves"}
def moves(steps):
    # BEGIN SOLUTION
    alone, made, outside = 0, set(), set()
    for result, inputs in steps:
        alone += len(set(inputs)) + 1
        outside |= set(inputs) - made
        made.add(result)
    return alone, len(outside) + 1
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("10-moves", moves)

# %% [markdown] tags=["core"]
# ## An array that is new
#
# Between six calls and one loop there is a middle way: the same calls, with `out=` into arrays that
# are there already. They move as many bytes, and yet they are faster. Where does that time go?
#
# To a page of memory, 4096 bytes, that has never been touched belongs no memory at all. The operating
# system finds some at the first write, and fills it with zeros first. That is a **page fault**, and a
# new array of this size has one for every page, or for every few if the system hands them out in
# large pieces. NumPy gives an array this large back as soon as you no longer need it, so the next one
# has to be asked for again. Small arrays are reused.
#
# The next cell says what each way should take, in parts.

# %% tags=["core"]
rl.show.say(norm, after=first)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# A program makes a new array of 100 kB in each of a million steps, and throws it away. You give it one
# array, and `out=`. What does that save?
#
# <details><summary><b>A</b> A million times the page faults of 100 kB.</summary>
#
# This is *a new array is new memory*: one this small is made from what the last one gave back.
#
# </details>
#
# <details><summary><b>B</b> Hardly anything.</summary>
#
# **Right.** It lies in a cache and has its pages already. Some bookkeeping is saved, that is all.
#
# </details>
#
# <details><summary><b>C</b> Half of the bytes to memory.</summary>
#
# This is *what is written goes to memory*: 100 kB stay in a cache, and are overwritten there.
#
# </details>
#
# <details><summary><b>D</b> Nothing: NumPy sees that the array is not needed.</summary>
#
# This is *NumPy sees the program*: it sees one call at a time.
#
# </details>

# %% [markdown] tags=["core"]
# ## Half the bytes
#
# Now two steps only: the sine of every number, then its square root. Two calls move 16 bytes for each
# number, one loop moves 8. **How many times as fast is the one loop?**

# %% tags=["core"]
waves = rl.fusion.gain("sin_sqrt")
second = rl.ask("10-sine", waves.gain())
second

# %% tags=["core"]
rl.fusion.ways(waves, after=second)

# %% tags=["core"]
rl.show.say(rl.conclude("10-sine", waves), after=second)

# %% [markdown] tags=["core"]
# A core computes while it waits for memory, so computing costs nothing until it takes longer than
# carrying. Fusion shortens the carrying. Then what was hidden behind it shows.
#
# ## Bet on nine
#
# On a GPU it is the same: every operation of PyTorch is a loop of its own, a *kernel*, unless somebody
# has fused it. Here are nine operations that language models use. The next cell counts for each of
# them how many times as long the single kernels should take, by the roof of the GPU on which it was
# measured. Only SwiGLU and the linear layer contain large matrix products, which no fusion shortens.

# %% tags=["core", "nbval-check-output"]
for row in rl.fusion.blind_table().values():
    counted = row.factor(row.machine)
    print(f"{row.title:32} {counted:5.2f}   {row.published.conditions}")

# %% [markdown] tags=["core"]
# For each of them, somebody has published both times. Place your bet.

# %% tags=["core"]
bet = rl.ask("10-table", rl.fusion.most_gained())
bet

# %% tags=["core"]
rl.fusion.bets(after=bet)

# %% [markdown] tags=["core"]
# <details><summary>Why: open this when you have guessed</summary>
#
# Counting comes close where an operation does nothing but move many bytes. The others teach more.
#
# **LayerNorm** moves the same bytes fused or not: PyTorch's is one kernel already. But this one has 16
# rows of 4 million numbers, and that kernel gives a row to one of the GPU's many cores. All others
# have nothing to do. The fused one cuts the rows into pieces.
#
# **RoPE** worked on arrays that did not lie in order, so the single kernels moved more than was
# counted.
#
# **The linear layer with cross entropy** is fused to save memory, not time. It never holds all scores
# of all words: it computes them piece by piece, and small pieces use a GPU badly.
#
# **SwiGLU** gains what was counted, next to nothing. Its chain became faster, but nearly all of the
# time goes into its matrix products.
#
# </details>
#
# ### Exercise 2 · What share was it?
#
# A chain became `chain` times as fast, the module that it is part of `whole` times, and nothing else
# in it has changed. What share of the module's *old* time did the chain take? `share(4.0, 1.6)` is
# 0.5.


# %% tags=["core", "answer"] rooflab={"exercise": "10-share"}
def share(chain, whole):
    # BEGIN SOLUTION
    return (1 - 1 / whole) / (1 - 1 / chain)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("10-share", share)

# %% [markdown] tags=["core"]
# ## Claim court: 36 bytes
#
# *To divide every number by the norm of its row takes three kernels. Each reads two arrays and writes
# one: 36 bytes for each number in `fp32`. Fused it is 12, so it is three times as fast.*
#
# ### Exercise 3 · 36 bytes
#
# x has `rows` × `columns` numbers. The first kernel writes the squares, the second the norm of each
# row, one number, and the third reads x and the norms and writes y. The single kernel reads a row to
# find its norm, which it keeps, and a second time to divide it. The second time the row comes from
# the cache, if it fits in `cache` bytes. Return the bytes from and to memory, for three kernels and for
# one. `norm_bytes(10, 1000, 4, 32768)` is `(200080, 80000)`.


# %% tags=["core", "answer"] rooflab={"exercise": "10-claim-norm"}
def norm_bytes(rows, columns, itemsize, cache):
    # BEGIN SOLUTION
    three = 5 * rows * columns + 2 * rows
    passes = 2 if columns * itemsize <= cache else 3
    return three * itemsize, passes * rows * columns * itemsize
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("10-claim-norm", norm_bytes)

# %% [markdown] tags=["core"]
# ## A softmax in one pass
#
# *Softmax* turns scores into weights that add up to 1: e to the score, over the sum of all of these. e
# to 1000 is too large for any number, so the largest score is taken off first. That looks like two
# passes, because the largest one is known at the end only.
#
# One pass is enough. Keep the largest score *so far*, and the sums that belong to it. When a larger
# one comes, every weight so far was too large by the same factor. So shrink the sums, and go on.
#
# ### Exercise 4 · Softmax in one pass
#
# `blocks` is a list of pairs: some scores, and as many values. Return the mean of all values, each
# weighted by the softmax of its score. Go through the blocks once, and keep three numbers: the largest
# score so far, the sum of the weights, and the weighted sum of the values. Scores may be as large as
# ±1000. `streamed([[[1.0, 2.0], [10.0, 20.0]], [[3.0], [30.0]]])` is 25.752, rounded.


# %% tags=["core", "answer"] rooflab={"exercise": "10-stream"}
def streamed(blocks):
    # BEGIN SOLUTION
    import math

    most, weights, total = -math.inf, 0.0, 0.0
    for scores, values in blocks:
        now = max(most, *scores)
        shrink = math.exp(most - now)
        each = [math.exp(score - now) for score in scores]
        weights = weights * shrink + sum(each)
        total = total * shrink + sum(e * v for e, v in zip(each, values))
        most = now
    return total / weights
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("10-stream", streamed)

# %% [markdown] tags=["core"]
# ## Attention without its matrix
#
# In attention every position looks at all others. For s positions that is a matrix of s × s scores, and
# a mean of values weighted by their softmax. Written out, the scores go to memory and come back. With
# your one pass they never exist: a block of them is computed, used, and forgotten. That is what
# *FlashAttention* does.
#
# The next cell runs both here, for one head of 64 numbers and s = 4096. **How many times as fast is
# attention without the matrix?**

# %% tags=["core"]
seen = rl.fusion.attention_gain(4096)
third = rl.ask("10-streamed", seen.gain("streamed", "materialised"))
third

# %% tags=["core"]
rl.show.say(rl.conclude("10-streamed", seen, scores=4 * 4096**2, block=4 * 256 * 512), after=third)

# %% [markdown] tags=["core"]
# ### Exercise 5 · The intensity of attention
#
# One head: Q, K, V and the result are s × d, the scores s × s. Written out, the scores are written by
# QKᵀ, read and written by a pass that masks them if there is one, read and written by softmax, and
# read by the product with V. Q, K and V are read and the result is written once. Streamed, no score is
# ever in memory. Both products count, softmax does not. Return the FLOP/byte of both.
# `attention(100, 64, 2, False)` is `(19.512, 50.0)`, rounded.


# %% tags=["core", "answer"] rooflab={"exercise": "10-attention"}
def attention(s, d, itemsize, masked):
    # BEGIN SOLUTION
    flops = 4 * s * s * d
    scores = (6 if masked else 4) * s * s
    return flops / ((scores + 4 * s * d) * itemsize), flops / (4 * s * d * itemsize)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("10-attention", attention)

# %% tags=["core", "nbval-check-output"]
for way in (False, True):
    op = rl.attention(1, 8192, 8192, 1, head_dim=64, dtype="fp16", causal=False, streamed=way)
    allowed = rl.Roofline("h100-sxm", "fp16").attainable(op.intensity)
    name = "streamed" if way else "written out"
    print(f"{name:12}{op.intensity:5.0f} FLOP/byte, on an H100 at most {rl.si(allowed, 'FLOP/s')}")

# %% [markdown] tags=["core"]
# The authors of FlashAttention measured 73 TFLOP/s on an H100 for attention written out, at this
# length and head, and up to 497 for their third version.
#
# ## Compute it again
#
# To train, a layer keeps what the way back will need: its **activations**. Its input can be kept
# instead, and everything else computed a second time. That is the trade of this lesson the other way
# round: more FLOPs for fewer bytes. For a layer of GPT-3:

# %% tags=["core", "nbval-check-output"]
layer = rl.fusion.activations(2048, 1, 12288, 96)
for how in ("none", "selective", "full"):
    kept, added = layer.bytes(how), layer.added(how)
    print(f"{how:9} {rl.si(kept, 'B'):>8} kept in a layer, {100 * added:4.1f} % more FLOPs")

# %% [markdown] tags=["core"]
# *Selective* computes only the scores again. They are most of what is kept, and cost the least to
# compute.
#
# ### Exercise 6 · Which layers forget
#
# A layer keeps 34·s·b·h + 5·a·b·s² bytes. A layer that is recomputed keeps its input only, 2·s·b·h
# bytes. There are `layers` layers, and room for `memory` bytes. Return the least number of layers that
# have to be recomputed, or −1 if even all of them do not help.
# `recomputed(12, 100, 1, 50, 4, 2000000)` is 7.


# %% tags=["core", "answer"] rooflab={"exercise": "10-recompute"}
def recomputed(layers, s, b, h, a, memory):
    # BEGIN SOLUTION
    kept = 34 * s * b * h + 5 * a * b * s * s
    less = kept - 2 * s * b * h
    over = layers * kept - memory
    needed = max(0, -(-over // less))
    return needed if needed <= layers else -1
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("10-recompute", recomputed)

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# A language model writes a text, one token after the other. Should it forget the keys and values of
# earlier tokens, and compute them again for each new one?
#
# <details><summary><b>A</b> Yes: computing is cheap, and carrying is dear.</summary>
#
# This is *recomputing always pays*. To compute them again takes the layer's weights: two FLOPs for
# each weight, for every earlier token. Reading them takes two bytes a number.
#
# </details>
#
# <details><summary><b>B</b> No: it keeps them, which is what the KV cache is for.</summary>
#
# **Right.** What is worth computing again is what costs few FLOPs for each byte, such as scores from
# keys that are already there.
#
# </details>
#
# <details><summary><b>C</b> Yes, as in training.</summary>
#
# This is *what helps in training helps here*: training keeps activations for the way back, and there
# is no way back here.
#
# </details>
#
# <details><summary><b>D</b> It makes no difference.</summary>
#
# This is *FLOPs and bytes cost the same*: lesson 05 showed what a token costs without the cache.
#
# </details>

# %% [markdown] tags=["deep"]
# ## Deeper: how long a segment?
#
# Layers that are recomputed can be cut into segments. Only the input of each segment is kept. On the
# way back, one segment at a time is computed again, and everything in it is kept while it is needed.
# Long segments keep few inputs, but much at a time.
#
# ### Exercise 7 · How long a segment?
#
# `layers` layers are cut into segments of c layers, where c divides `layers`. On the way back all
# `inner` numbers of each layer of a segment are kept; an input is one number here. Return the c for
# which the most that is ever kept is least, the smaller one if there are two. `segment(12, 5)` is 2.


# %% tags=["deep", "answer"] rooflab={"exercise": "10-segments"}
def segment(layers, inner):
    # BEGIN SOLUTION
    lengths = [c for c in range(1, layers + 1) if layers % c == 0]
    return min(lengths, key=lambda c: layers // c + inner * c)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("10-segments", segment)

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - One loop moves what comes from outside and what is kept, however many steps it has.
# - RMSNorm in six calls moves 28 bytes for each number in `fp32`, in one loop 8.
# - A large new array costs page faults. The same call with `out=` does not.
# - A chain that takes 2 % of the time saves 2 % at most.
# - Attention has d/2 FLOP/byte in `fp16` when its scores are written out.
# - To compute everything again costs a third more FLOPs, to compute the scores again 1 %.
#
# ## What you can do now
#
# - **Count** what a chain moves: each array of a step, or only the outside of one loop.
# - **Predict** the gain, and look for what else takes time: new pages, slow sines, idle cores,
#   products.
# - **Write** a softmax in one pass: largest so far, and sums that shrink.
# - **Decide** what to compute again: what costs few FLOPs for each byte.
#
# Fewer arrays moved fewer bytes. The next lesson makes each number itself smaller.

# %% tags=["core"]
rl.my_guesses("10")

# %% tags=["core"]
rl.progress("10")
