# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 05 · Decode is a GEMV
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **Why does a language model write 50 tokens a second, and not 5000?**
#
# <details><summary>60 minutes, 85 with the exercises: what you learn, and what you need</summary>
#
# - **predict** from two numbers how many tokens a second a model can write,
# - **say** what a larger batch gains, and what ends the gain,
# - **count** what a long context costs in memory and in time,
# - **judge** a published speed: near the roof, far from it, or impossible,
# - **fill** a machine, as far as its memory and your promise allow,
# - after the *Deeper* parts: **choose** between fewer bits, shared heads, experts and more GPUs.
#
# You need lessons 01 and 03; 04 helps. The *Deeper* parts take another 60 minutes.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## Twenty tokens
#
# A language model writes one *token* at a time, a word or a piece of one. A prompt and everything
# written after it form a **sequence**. To make a new token, the model sends a vector that stands
# for the last one through its *layers*: products with large matrices, and little else. The matrices
# hold its *weights*. The result says which token is likely to come next. The model picks one and
# starts again. This writing is called **decode**, and one round of it is a **step**.
#
# Here is a small model. It gets just enough layers for its weights to be four times your largest
# cache. A smaller model would stay in it; no real one does.

# %% tags=["core"]
small = rl.loop_model()
read = small.decode(1, 1, "fp32", "fp32").traffic["weights"]
print(f"{small.layers} layers; a token reads {rl.si(read, 'B')} of weights, in fp32")
rl.conclude("02-cache")

# %% [markdown] tags=["core"]
# Its weights are random, so it writes nonsense, but just as fast as if it had learned something: no
# product asks what the numbers mean. The next cell lets it write 20 tokens on one core, after a
# prompt of 16, and shows nothing yet. The cell after it gives you the bandwidth of *reading*, which
# is all that weights need.

# %% tags=["core"]
held = rl.loop_weights(small, backend="cpu")
one = rl.decode_loop(small, batch=1, context=16, steps=20, backend="cpu", weights=held)

# %% tags=["core"]
here = rl.this_machine("cpu", threads=1)
print(f"this memory, one core: {rl.si(here.bandwidth(), 'B/s')}")

# %% [markdown] tags=["core"]
# **How many tokens a second?** You know how large the weights are, and how fast they come.

# %% tags=["core"]
alone = rl.ask("05-small", one.tokens_per_s)
alone

# %% [markdown] tags=["core"]
# <details><summary>How to guess it (open this when you have guessed)</summary>
#
# One vector goes through every matrix, so **each weight is used once per token**: one multiply-add,
# 2 FLOPs, then on to the next weight. That is the GEMV of lesson 01. A token takes as long as the
# weights take to arrive, so bandwidth ÷ bytes is tokens a second.
#
# Why not two tokens at once? The model needs the first to choose the second.
#
# </details>

# %% tags=["core"]
clock = f"the clock: {one.tokens_per_s:.1f}"
seen = f"bandwidth ÷ weights: {here.bandwidth() / read:.1f} tokens/s, {clock}"
rl.show.say(seen, *(f"⚠ {text}" for text in one.warnings), after=alone)

# %% tags=["core"]
rl.show.say(rl.conclude("05-one", one, here), after=alone)

# %% [markdown] tags=["core"]
# Does this hold for models that people use? Here is Llama-2-7B with 2-byte weights (`fp16`) on an
# RTX 4090: what a token costs, and how many a second the card's memory and arithmetic allow, by its
# datasheet.

# %% tags=["core", "nbval-check-output"]
card, token = rl.machine("rtx-4090"), rl.model("llama-2-7b").decode(1, 1, "fp16", "fp16")
print(f"{token.flops / 1e9:.1f} GFLOP and {token.bytes / 1e9:.1f} GB a token")
print(f"its memory allows {card.bandwidth() / token.bytes:.0f} tokens/s")
print(f"its arithmetic allows {card.peak('fp16') / token.flops:.0f} tokens/s")

# %% [markdown] tags=["core"]
# A public web lesson reports 50 for a model of 7 billion weights on this card, without saying how
# they were measured. With 2 bytes a weight, that is about two thirds of what the memory could do.
# **A card that only computes faster would not write a single token sooner.**
#
# ### Vote, or choose for yourself
#
# You chat with such a model on such a card, alone. What makes the next token come sooner?
#
# <details><summary><b>A</b> A card with twice the TFLOP/s.</summary>
#
# This is *neural networks are arithmetic*. Training is; writing is carrying.
#
# </details>
#
# <details><summary><b>B</b> Weights of 1 byte.</summary>
#
# **Right.** Half as many bytes for each token.
#
# </details>
#
# <details><summary><b>C</b> Twice as much memory.</summary>
#
# This is *capacity is bandwidth*. A larger memory holds more, but may be no faster.
#
# </details>
#
# <details><summary><b>D</b> Asking two questions at once.</summary>
#
# You get more tokens, but none of them sooner.
#
# </details>
#
# ## Two at once
#
# Two sequences are written together, a *batch* of 2. The weights travel once and are used for both:
# each matrix meets two vectors. How many tokens a second do the two get together? The next cell
# runs batches from 1 to 64 and shows nothing yet. Guess two of them.

# %% tags=["core"]
batches = (1, 2, 3, 4, 8, 16, 32, 64)
runs = {b: rl.decode_loop(small, b, 16, steps=7, backend="cpu", weights=held) for b in batches}
speed = {b: runs[b].tokens_per_s for b in batches}

# %% tags=["core"]
two = rl.ask("05-two", speed[2] / speed[1])
two

# %% tags=["core"]
many = rl.ask("05-many", speed[64] / speed[1])
many

# %% [markdown] tags=["core"]
# A product can be done as one GEMV after another (`gemv ×B`) or as one GEMM (`gemm`), both also
# with the matrix stored by columns (`on Wᵀ`). The loop picks the fastest way. Each line ends with
# what it picked for the *up projection*, a large product of each layer. A ⚠ marks a run with a
# warning; `runs[2]` prints it.

# %% tags=["core"]
lines = []
for b, run in runs.items():
    longer, mark = run.step_s / runs[1].step_s, "⚠" if run.warnings else ""
    lines.append(f"batch {b:2}: {run.tokens_per_s:6.1f} tokens/s, ")
    lines[-1] += f"a step takes {longer:4.1f} times as long, {run.forms['up']} {mark}"
rl.show.say(*lines, after=(two, many))

# %% [markdown] tags=["core"]
# If only the trip of the weights counted, every step would take the same time.

# %% tags=["core"]
rl.show.say(rl.conclude("05-second", runs[1], runs[2]), after=two)

# %% tags=["core"]
rl.show.say(rl.conclude("05-many", runs, here), after=many)

# %% [markdown] tags=["core"]
# ## What the second one costs
#
# Here is what the loop tried for the up projection, with 1, 2 and 64 vectors:

# %% tags=["core"]
lines = []
for b in (1, 2, 64):
    tried = runs[b].trials["up"].items()
    lines.append(f"batch {b:2}: " + ", ".join(f"{form} {1e3 * s:.1f} ms" for form, s in tried))
rl.show.say(*lines, after=(two, many))

# %% tags=["core"]
rl.show.say(rl.conclude("05-ways", runs[2]), after=two)

# %% [markdown] tags=["core"]
# What a product costs beyond its roof is due to the library, not the machine.
#
# ### Exercise 1 · GEMM, or GEMV after GEMV?
#
# One GEMV takes `one_gemv` seconds, and a GEMM for `batches[i]` vectors takes `gemm[i]`. The
# batches grow. Return the smallest batch at which one GEMM takes less time than that many GEMVs.


# %% tags=["core", "answer"] rooflab={"exercise": "05-switch"}
def switch(batches, one_gemv, gemm):
    # BEGIN SOLUTION
    wins = [b for b, seconds in zip(batches, gemm) if seconds < b * one_gemv]
    return wins[0]
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("05-switch", switch)

# %% [markdown] tags=["core"]
# And where does the gain end? By the roof, where the arithmetic takes longer than the weights. At
# batch $B$ a product has $2B$ FLOPs for each weight. Its intensity, $2B$ ÷ the bytes of a weight,
# keeps growing with the batch, but its *speed* stops growing at the ridge. One formula, for your
# core (measured) and two GPUs (datasheets):

# %% tags=["core"]
rows = [(here, "fp32", 4), ("rtx-4090", "fp16", 2), ("h100-sxm", "bf16", 2)]
for machine, dtype, itemsize in [*rows, ("h100-sxm", "bf16", 0.5)]:
    roof = rl.Roofline(machine, dtype)
    name = f"{roof.machine.name}, {dtype}, {itemsize} bytes a weight"
    print(f"{name}: the arithmetic takes over at batch {roof.ridge * itemsize / 2:.0f}")

# %% [markdown] tags=["core"]
# The last line has 4-bit weights and 16-bit arithmetic: a quarter of the bytes, a quarter of the
# batch.
#
# So do 64 sequences get 64 times the speed of one? Something is still missing.
#
# ## What each sequence remembers
#
# A token looks back at all tokens before it. This is *attention*. In each layer its *query* is
# compared with the *key* of every earlier token, and their *values* are mixed accordingly. A layer
# does this several times side by side, in *heads*, and several queries may share one key and one
# value. Keys and values never change again, so the model keeps them in the **KV cache**. It lies in
# main memory and has nothing to do with the caches of the processor. Each token adds to it
#
# $$2 \times \text{layers} \times \text{KV heads} \times \text{numbers of a head} \times \text{bytes
# of a number.}$$
#
# The weights serve every sequence. **A KV cache belongs to one sequence alone, and all of it is
# read for every token.** `context` is the number of tokens it holds.

# %% tags=["core", "nbval-check-output"]
for name in ("llama-2-7b", "llama-3-8b", "llama-2-70b", "mixtral-8x7b"):
    m = rl.model(name)
    print(f"{name}: {m.kv_bytes(1, 1) / 1e6:.2f} MB a token, {m.kv_bytes(1, 4096) / 1e9:.2f} GB")

# %% [markdown] tags=["core"]
# Half a megabyte for a token of Llama-2-7B, 2 GB for a sequence of 4096.
#
# Back to your own core, with 16 sequences. Above, each had a past of 16 tokens; now it gets 1024.
# **How many times longer does a step take?**

# %% tags=["core"]
past = rl.decode_loop(small, 16, 1024, steps=7, backend="cpu", weights=held)
slower = rl.ask("05-long", past.step_s / runs[16].step_s)
slower

# %% tags=["core"]
lines = []
for run in (runs[16], past):
    caches = f"caches {small.kv_bytes(16, run.middle, 'fp32') / 1e6:3.0f} MB"
    lines.append(f"mean past {run.middle:4}: weights {read / 1e6:.0f} MB, {caches}")
    whole, attention = 1e3 * run.step_s, 1e3 * run.seconds("attention")
    lines.append(f"  a step {whole:5.1f} ms, attention {attention:5.1f} ms of it")
rl.show.say(*lines, after=slower)

# %% tags=["core"]
rl.show.say(rl.conclude("05-long", runs[16], past, here), after=slower)

# %% [markdown] tags=["core"]
# ## The request film
#
# Follow one request to Llama-3-8B on a machine of your choice: first the *prefill*, which reads the
# prompt at once, then the decode, one dot for each operation. *Q K V O* are the four products
# around attention, *MLP* the three wide ones after it. *Head* is the *output matrix*, which says
# which token is likely to come next. It is not one of the heads of attention.

# %% tags=["core"]
rl.live.film("llama-3-8b", machines=["h100-sxm", "rtx-4090", "a100-sxm-80"])

# %% [markdown] tags=["core"]
# 1. **Slide the batch up.** The products with weights walk right and up, to the ridge. Attention
#    stays: every sequence adds FLOPs to it, but also a cache of its own to read.
# 2. **Slide the context up**, at a batch of 16. At the dashed line attention takes as long as
#    everything else.
# 3. **Look at the prefill.** All tokens of the prompt go through together. A model *reads* as fast
#    as the machine computes, and *writes* as fast as it carries. The diamond stands for the whole
#    prefill as one operation. The time adds up the operations, so it is longer than the diamond
#    says.
#
# Here is the small model on your own core. Hollow markers show the roof, solid ones the clock; a
# dotted line joins each pair. Small pale ones are other batches.

# %% tags=["core"]
rl.live.film(small, here, decode_run=runs.values(), context=16, after=many)

# %% [markdown] tags=["core"]
# ## Tokens a second, caches included
#
# ### Exercise 2 · decode()
#
# Now write it down, for a step of the whole batch:
#
# - each of the `parameters` gives 2 FLOPs for each sequence; the weights travel once, `itemsize`
#   bytes each. Within these products carrying and computing overlap;
# - attention has few FLOPs and reads the caches: `kv` bytes for each token of the `context`, for
#   each sequence. Most programs do it between the products, so add its time.
#
# Return the tokens a second of all sequences together. The checks use the setups of published runs,
# in which `itemsize` can be a fraction: 4-bit weights take 0.625 bytes each, with the data they
# share.


# %% tags=["core", "answer"] rooflab={"exercise": "05-decode"}
def decode(parameters, itemsize, kv, batch, context, peak, bandwidth):
    # BEGIN SOLUTION
    products = max(2 * parameters * batch / peak, parameters * itemsize / bandwidth)
    attention = kv * context * batch / bandwidth
    return batch / (products + attention)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("05-decode", decode)

# %% tags=["core"]
rl.mine.save(decode)

# %% [markdown] tags=["core"]
# Can nobody beat this? It is the speed *without overlap between attention and products*. But some
# programs do attention for half the batch during the products of the other half. Strictly, all
# reading may overlap with all arithmetic, and what fits in the processor's caches need not be read
# again. `bound` gives the seconds of such a step. For Llama-3-8B, context 256:

# %% tags=["core", "nbval-check-output"]
h100 = rl.machine("h100-sxm")
for batch in (1, 64, 256, 512):
    setup = (7.5e9, 2, 131_072, batch, 256, h100.peak("bf16"), h100.bandwidth())
    strict = rl.model("llama-3-8b").decode(batch, 256).bound(h100)
    print(f"batch {batch:3}: {rl.mine.decode(*setup):6.0f} tokens/s without overlap", end=", ")
    print(f"at most {batch / strict:6.0f}")

# %% [markdown] tags=["core"]
# While memory takes longer than the arithmetic of the products, the two agree to a few per cent.
# From here on, "at most" means the second.
#
# ## Who is right?
#
# Here are published runs of Llama models. Batch 1 is from the README of gpt-fast: a prompt of 5
# tokens, 200 new ones, A100s held to 330 W, and one die of an MI250X. Larger batches are from
# NVIDIA's performance page of TensorRT-LLM, v0.6.1 (the L40S: v0.5), and include reading the
# prompts, a small part. `context` is the mean over a run. gpt-fast's 1-byte weights are *weight
# only*: it computes in 16 bits. TensorRT-LLM's 1-byte runs have fp8 caches and compute in fp8, so
# for them the fp8 peak counts.

# %% tags=["core"]
published = [  # machine, model, bytes a weight and a KV number, batch, context, tokens/s
    ("a100-sxm-80", "llama-2-7b", 2, 2, 1, 105, 104.9),
    ("a100-sxm-80", "llama-2-7b", 1, 2, 1, 105, 155.58),
    ("a100-sxm-80", "llama-2-7b", 0.625, 2, 1, 105, 196.80),
    ("a100-sxm-80", "llama-2-70b", 1, 2, 1, 105, 19.13),
    ("mi250x-gcd", "llama-2-7b", 2, 2, 1, 105, 76.33),
    ("a100-sxm-80", "llama-2-7b", 2, 2, 60, 1152, 1928),
    ("l40s", "llama-2-7b", 1, 1, 64, 1152, 1622),
    ("h100-sxm", "llama-2-7b", 1, 1, 112, 1152, 6818),
    ("h100-sxm", "llama-2-7b", 1, 1, 48, 3072, 2740),
]

# %% [markdown] tags=["core"]
# Three witnesses appear. *The arithmetic* says peak ÷ FLOPs of a token. *The weights* say that
# batch B is B times as fast. The third is your `decode`. None of them counts the table of
# *embeddings*, the vectors of all tokens: a token reads one row. What was measured, as a share of
# what each promises:


# %% tags=["core"]
def witnesses(name, model, itemsize, kv_itemsize, batch, context):
    m, machine = rl.model(model), rl.machine(name)
    read = m.parameters - m.vocab * m.hidden  # of the table of embeddings a token reads one row
    kv = m.kv_bytes(1, 1) * kv_itemsize // 2
    peak, bandwidth = machine.peak("fp8" if kv_itemsize == 1 else "fp16"), machine.bandwidth()
    mine = rl.mine.decode(read, itemsize, kv, batch, context, peak, bandwidth)
    return peak / (2 * read), batch * bandwidth / (read * itemsize), mine


# %% tags=["core"]
promises = [witnesses(*setup) for *setup, seen in published]


# %% tags=["core", "nbval-check-output"]
print("arithmetic   weights      mine  measured")
for (name, model, itemsize, _, batch, _, seen), promised in zip(published, promises):
    row = "".join(f"{seen / said:10.1%}" for said in promised)
    print(f"{row}  {seen:6.0f}/s  {name}, {model}, {itemsize} B a weight, batch {batch}")

# %% [markdown] tags=["core"]
# - **The arithmetic** promises 12 to 225 times too much.
# - **The weights** do well at batch 1, but promise five to nine times too much for a batch.
# - **Yours** holds for all nine: all but one reach between half and four fifths of it.
#
# At batch 1 your share falls with the bytes of a weight: 68, 51 and 40 % for 2, 1 and 0.625 on the
# same card. Something in a step does not shrink with the weights: starting some hundreds of small
# operations, choosing a token, unpacking the bits.
#
# ## Claim court: batch 64 is 64 times as fast
#
# The web lesson with the 50 tokens/s reports 800 for a batch of 64 on that card. Its reason: a GEMV
# has become a GEMM. Two readers object. Then it should be 64 times 50, says one. Then it should be
# limited by computing now, says the other.
#
# ### Vote, or choose for yourself
#
# Twice the batch gives *nearly twice as many tokens a second* …
#
# <details><summary><b>A</b> always: more sequences share the weights.</summary>
#
# This is *the weights are all that travels*.
#
# </details>
#
# <details><summary><b>B</b> as long as the products are left of the ridge.</summary>
#
# This is *a step is nothing but products with weights*. But it has attention, too, which no batch
# moves.
#
# </details>
#
# <details><summary><b>C</b> as long as the caches weigh much less than the weights.</summary>
#
# This forgets the arithmetic, but is right for most long contexts.
#
# </details>
#
# <details><summary><b>D</b> as long as both B and C hold.</summary>
#
# **Right.** Either can end the gain, and the context decides which comes first. Beyond C, tokens
# still get cheaper, but ever more slowly.
#
# </details>

# %% [markdown] tags=["core"]
# Here is what your `decode` says for such a card and 7 billion parameters of 2 bytes: at batch 1;
# at 64 without caches; and at 64 with the longest context whose caches fit beside the weights, if a
# twentieth of the memory stays free.

# %% tags=["core", "nbval-check-output"]
peak, bandwidth, kv = card.peak("fp16"), card.bandwidth(), 524_288
longest = int((0.95 * card.capacities["dram"] - 7e9 * 2) / (64 * kv))
for batch, context in ((1, 1), (64, 0), (64, longest)):
    rate = rl.mine.decode(7e9, 2, kv, batch, context, peak, bandwidth)
    print(f"batch {batch:2}, context {context:3}: {rate:5.0f} tokens/s")
print(f"800 are {100 * 800 / rate:.0f} % of the last one")

# %% [markdown] tags=["core"]
# So 800 is possible. The first reader forgot the caches. The second forgot the ridge: this card
# reaches it at batch 164, so at 64 the products are left of it.
#
# ### Exercise 3 · How many times as fast?
#
# Return the factor by which a `batch` multiplies the tokens a second of batch 1, at the same
# `context`. Weights have 2 bytes; `kv` is in bytes a token. You may call your `decode`.


# %% tags=["core", "answer"] rooflab={"exercise": "05-claim-batch"}
def speed_up(parameters, kv, batch, context, peak, bandwidth):
    # BEGIN SOLUTION
    many = decode(parameters, 2, kv, batch, context, peak, bandwidth)
    alone = decode(parameters, 2, kv, 1, context, peak, bandwidth)
    return many / alone
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("05-claim-batch", speed_up)

# %% [markdown] tags=["core"]
# ## Fill the machine
#
# You serve a model and promise each sequence a certain speed. How many sequences do you take on?
#
# ### Exercise 4 · Two limits
#
# Weights have 2 bytes. All `parameters` lie in memory, beside the caches, and are read in every
# step. `memory` is what weights and caches may fill; a tenth of the card's memory is already set
# aside. Each sequence has `context` tokens and is promised `promised` tokens a second. A token
# leaves `kv` bytes in the caches. The step is the one in exercise 2. Return the largest batch that
# the memory allows, the largest that the promise allows, and which of the two binds: `"memory"` or
# `"promise"`. Where even one sequence breaks a limit, that limit allows 0. If both batches are
# equal, say `"promise"`.


# %% tags=["core", "answer"] rooflab={"exercise": "05-fill"}
def fill(parameters, kv, context, promised, memory, peak, bandwidth):
    # BEGIN SOLUTION
    held = max(0, int((memory - 2 * parameters) / (kv * context)))
    weights, cache = 2 * parameters / bandwidth, kv * context / bandwidth
    quick = (1 / promised - weights) / cache, 1 / promised / (2 * parameters / peak + cache)
    kept = max(0, int(min(quick)))
    return held, kept, "memory" if held < kept else "promise"
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("05-fill", fill)

# %% [markdown] tags=["core"]
# Here is Llama-3-8B on an H100 with a context of 2048:

# %% tags=["core", "nbval-check-output"]
setup = (131_072, h100.peak("bf16"), h100.bandwidth())
room = int((0.9 * h100.capacities["dram"] - 2 * 8.03e9) / (131_072 * 2048))
for promised in (30, 60):
    rates = ((b, rl.mine.decode(8.03e9, 2, setup[0], b, 2048, *setup[1:])) for b in range(1, 999))
    kept = max(b for b, rate in rates if rate >= b * promised)
    print(f"{promised} tokens/s each: memory allows {room} sequences, the promise {kept}")

# %% [markdown] tags=["core"]
# With the first promise, memory binds, so money for more memory is well spent. With the second,
# speed binds, and more memory would stay empty. **The verdict changes with the promise.**

# %% [markdown] tags=["deep"]
# ## Deeper: without a cache
#
# Are the caches worth their memory? You could keep nothing, and send all tokens through the model
# again for each new one.
#
# ### Exercise 5 · Which gauge?
#
# A model that writes has two gauges: its tokens a second and its FLOP/s.
#
# This one has `blocks` weights in its layers and `head` weights in its output matrix. A token
# leaves `kv` bytes in the cache. Weights and cached numbers have 2 bytes each, and each gives 2
# FLOPs whenever it is used.
#
# - **With a cache**, the newest token uses every weight once, and the cached numbers of `context`
#   tokens once.
# - **Without one**, all `context` tokens go through the model again. Each of them uses the weights
#   of the layers once, and token $i$ uses the numbers of $i$ tokens. Only the last one uses the
#   output matrix. Only weights have to be fetched.
#
# Carrying and computing overlap. Return tokens a second and FLOP/s with a cache, then both without.


# %% tags=["deep", "answer"] rooflab={"exercise": "05-gauges"}
def gauges(blocks, head, kv, context, peak, bandwidth):
    # BEGIN SOLUTION
    weights, looks = 2 * (blocks + head), context * (context + 1) / 2
    cached = weights + kv * context  # bytes, and as many FLOPs
    again = 2 * blocks * context + 2 * head + kv * looks
    quick = max(cached / peak, cached / bandwidth)
    slow = max(again / peak, weights / bandwidth)
    return 1 / quick, cached / quick, 1 / slow, again / slow
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("05-gauges", gauges)

# %% [markdown] tags=["deep"]
# Here is GPT-2 on an A100 with a context of 1024, counted by the package:

# %% tags=["deep", "nbval-check-output"]
gpt2 = rl.model("gpt-2")
for way, w in (("with a cache", gpt2.decode(1, 1024)), ("without", gpt2.prefill(1, 1024))):
    seconds = w.seconds("a100-sxm-80", bound="max-of-sum")
    print(f"{way:12}: {1 / seconds:.0f} tokens/s at {w.flops / seconds / 1e12:.0f} TFLOP/s")

# %% [markdown] tags=["deep"]
# More than four times the tokens, at less than a hundredth of the FLOP/s. **If you are sold TFLOP/s
# for chatting, you are buying the wrong number.**

# %% [markdown] tags=["deep"]
# ## Deeper: what the roof leaves out
#
# Where did the missing third of the first published run go? Here are the steps of lesson 03, from
# roof to clock:

# %% tags=["deep"]
rl.model("llama-2-7b").decode(1, 105).explain("a100-sxm-80", tokens_per_s=104.9)

# %% [markdown] tags=["deep"]
# A factor of 1.14 comes from a memory that reaches less than its datasheet says. The other factor,
# 1.29, the count cannot explain: it does not know what a call costs on this card, and it leaves out
# the power limit. Right of the ridge, the peak is a promise, too: of the H100's 989 TFLOP/s, the
# best product in our catalogue's source got 794.
#
# And your own loop? `rl.predict_decode` starts from the film's estimate, which is the time by the
# roof. It divides this time by the share of the roof that the library reaches with that many
# vectors. It learns these shares in about ten seconds, not from your model but from one of odd
# sizes. The context grew from 17 to 23; its mean is 20. The bandwidth that you saw before your
# first guess was for *reading*; a mix of reading and writing may reach more.

# %% tags=["deep"]
said = {b: rl.predict_decode(small, b, context=20, backend="cpu") for b in batches}
lines = []
for b, guess in said.items():
    by_roof, mark = guess.bound_s, "⚠" if runs[b].warnings else ""
    ahead, clock = (s / by_roof for s in (guess.total_s, runs[b].step_s))
    times = f"predicted {ahead:4.1f} times, the clock {clock:4.1f} times"
    lines.append(f"batch {b:2}: by the roof {1e3 * by_roof:5.1f} ms, {times} {mark}")
rl.show.say(*lines, after=(two, many))

# %% tags=["deep"]
rl.show.say(rl.conclude("05-worst", runs, here), after=(two, many))

# %% tags=["deep"]
rl.show.say(rl.conclude("05-predicted", said, runs), after=(two, many))

# %% [markdown] tags=["deep"]
# ## Deeper: memory-bound at every batch?
#
# *Decode is limited by memory, whatever the batch.* You meet this claim in many forms. Is it true?
# Take a step as one operation, the strict way, and let the batch grow. Each additional sequence
# adds
#
# - $2 P$ FLOPs, with $P$ parameters: $2P$ ÷ peak seconds of arithmetic,
# - its cache, kv × context bytes: kv × context ÷ bandwidth seconds of carrying.
#
# The weights travel once. With enough sequences they no longer matter, and the race is between
# these two.
#
# ### Exercise 6 · From which batch on?
#
# Return the batch at which the arithmetic takes as long as carrying the weights (2 bytes each) and
# the caches together, or 0 if there is no such batch. It can be a fraction. A token leaves `kv`
# bytes in the cache.


# %% tags=["deep", "answer"] rooflab={"exercise": "05-claim-always"}
def enough(parameters, kv, context, peak, bandwidth):
    # BEGIN SOLUTION
    gained = 2 * parameters / peak - kv * context / bandwidth
    return 2 * parameters / bandwidth / gained if gained > 0 else 0
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("05-claim-always", enough)

# %% [markdown] tags=["deep"]
# Here are steps of Llama-3-8B on an H100 (datasheet): where most of the time goes, and whether
# weights and caches leave a twentieth of its memory free.

# %% tags=["deep", "nbval-check-output"]
llama = rl.model("llama-3-8b")
for context in (128, 1024, 8192):
    for batch in (1, 64, 512):
        step = llama.decode(batch, context)
        room = step.memory_bytes < 0.95 * h100.capacities["dram"]
        limit = step.limit(h100) + ("" if room else ", but no room for it")
        print(f"context {context:4}, batch {batch:3}: {limit}")

# %% [markdown] tags=["deep"]
# The claim is false for short contexts and large batches. For long contexts it is true: there the
# caches take the time, and soon the room as well. The verdict also depends on the *operation*: the
# products may be limited by computing while attention, in the same step, waits for memory.
#
# A single sequence chooses its tokens one after another. One way around this is *speculative
# decoding*: a small model guesses several tokens, and the large one checks them together.

# %% [markdown] tags=["deep"]
# Another claim: for GPT-2 on an A100, larger batches carry fewer bytes per FLOP. They do, down to a
# floor: every further sequence adds its own cache, which no batch can share. Here is the floor with
# a context of 1024, and what an A100 can carry without using its matrix units:

# %% tags=["deep", "nbval-check-output"]
a100 = rl.machine("a100-sxm-80")
few, more = gpt2.decode(1000, 1024), gpt2.decode(1001, 1024)
floor = (more.bytes - few.bytes) / (more.flops - few.flops)
print(f"floor {floor:.3f} byte/FLOP, A100 {a100.bandwidth() / a100.peak('fp32', 'vector'):.3f}")

# %% [markdown] tags=["deep"]
# The floor is above the machine's number, so here memory is the limit at every batch. With its
# matrix units the machine can carry even less per FLOP.

# %% [markdown] tags=["deep"]
# ## Deeper: heads that share
#
# Attention is the dot that no batch moves. What does move it?
#
# ### Exercise 7 · The intensity of attention
#
# For each token of the context, a head does one multiply-add with each number of the key, and one
# with each number of the value. `kv_heads` keys and values serve all `heads`. Return the intensity
# of attention in a decode step, in FLOP/byte, counting only the reading of keys and values.


# %% tags=["deep", "answer"] rooflab={"exercise": "05-attention"}
def intensity(heads, kv_heads, itemsize, batch, context):
    # BEGIN SOLUTION
    return 2 * heads / kv_heads / itemsize
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("05-attention", intensity)

# %% [markdown] tags=["deep"]
# The intensity depends on neither batch nor context. With 2-byte numbers it is heads ÷ KV heads: 1
# in Llama-2-7B, 4 in Llama-3-8B, 8 in Llama-2-70B. Sharing keys and values this way is called
# *grouped-query attention*, GQA. Attention is still far left of a GPU's ridge, but it reads 4 and 8
# times fewer bytes.
#
# Sequences can share as well: those that begin with the same words may share that part of their
# caches.

# %% [markdown] tags=["deep"]
# ## Deeper: fewer bits
#
# Weights can be stored in 8 or 4 bits. They are *quantised*: rounded to one of a few values. A
# group of weights shares a *scale*, by which they are multiplied when they are used, and sometimes
# an *offset*. In the published runs, 32 weights of 4 bits share a scale and an offset of 2 bytes
# each: 0.625 bytes a weight.
#
# There are two kinds. *Weight only* (W8A16, W4A16) makes the carrying lighter, but the arithmetic
# stays in 16 bits. *Weights and activations* (W8A8) computes in 8 bits as well, with that format's
# higher peak. *Activations* are the numbers that go from layer to layer.
#
# ### Exercise 8 · What fewer bits can bring
#
# Return how many times faster a step can get, where memory limits it, if its weights go from 2
# bytes to `bits` bits, with `scale_bytes` for the scale and offset of each `group` of weights. The
# caches stay as they are, with `kv` bytes a token.


# %% tags=["deep", "answer"] rooflab={"exercise": "05-fewer-bits"}
def gain(parameters, bits, group, scale_bytes, kv, batch, context):
    # BEGIN SOLUTION
    cache = kv * batch * context
    weights = parameters * (bits / 8 + scale_bytes / group)
    return (2 * parameters + cache) / (weights + cache)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("05-fewer-bits", gain)

# %% [markdown] tags=["deep"]
# A published book chapter says that FP8 gains almost nothing at batch 1. The runs of gpt-fast say
# otherwise: 1.48 times the speed with 8 bits, and 1.88 times with 4, scales and offsets included.
# As your function says, fewer bits gain most at batch 1, and little at *large* contexts and
# batches.

# %% tags=["deep", "nbval-check-output"]
for bits, seen in (
    ("int8", 155.58),
    (rl.dtype("int4", group=32, scale="fp16", zero="fp16"), 196.8),
):
    m = rl.model("llama-2-7b")
    most = m.decode(1, 105).bytes / m.decode(1, 105, weights=bits).bytes
    print(f"{rl.dtype(bits).bits} bits: by the bytes {most:.2f} times, measured {seen / 104.9:.2f}")

# %% [markdown] tags=["deep"]
# Why not more? Whatever does not shrink with the weights takes a growing share of the step.

# %% [markdown] tags=["deep"]
# ## Deeper: several GPUs
#
# Eight GPUs have eight times the bandwidth. In *tensor parallelism* each holds a part of every
# matrix and reads only its part. gpt-fast has measured it, with Llama-2-7B at batch 1. Let's use
# its runs on one and two GPUs to find a law, seconds = weights ÷ GPUs + what does not divide, and
# test the law on four and eight:

# %% tags=["deep", "nbval-check-output"]
measured = {1: 104.9, 2: 168.84, 4: 254.02, 8: 328.43}  # GPUs: tokens/s
divides = 2 * (1 / measured[1] - 1 / measured[2])
stays = 1 / measured[1] - divides
token = rl.model("llama-2-7b").decode(1, 105)
print(f"divides {1e3 * divides:.2f} ms, stays {1e3 * stays:.2f} ms")
for gpus, rate in measured.items():
    share = 100 * rate * token.bytes / gpus / rl.machine("a100-sxm-80").bandwidth()
    law = 1e3 * (divides / gpus + stays)
    print(f"on {gpus}: {1e3 / rate:.2f} ms, by the law {law:.2f}; {share:.0f} % of the bandwidth")

# %% [markdown] tags=["deep"]
# The law comes within 6 per cent. Some 2 ms do not divide: starting operations and, after each half
# layer, waiting until all GPUs have exchanged their parts. On eight GPUs that is most of the step.
# *Bandwidth ÷ bytes* promises nearly four times what was measured. It is a figure for one device,
# and a poor forecast for eight.

# %% [markdown] tags=["deep"]
# ## Deeper: experts
#
# Some models have several *experts* in each layer, of which a token uses only a few. Mixtral 8x7B
# has 8 and uses 2. Alone, a token reads a quarter of them. And in a batch?
#
# ### Exercise 9 · Experts for a batch
#
# Each token uses `active` different experts out of `experts`, each of them with the same chance.
# Return how many experts a step reads on average.


# %% tags=["deep", "answer"] rooflab={"exercise": "05-experts"}
def experts_read(experts, active, batch):
    # BEGIN SOLUTION
    return experts * (1 - (1 - active / experts) ** batch)
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("05-experts", experts_read)

# %% tags=["deep", "nbval-check-output"]
mixtral = rl.model("mixtral-8x7b")
for batch in (1, 2, 4, 8, 16):
    step = mixtral.decode(batch, 1)
    print(f"batch {batch:2}: {step.traffic['weights'] / 1e9:.0f} GB of weights in a step")

# %% [markdown] tags=["deep"]
# At batch 1 it writes like a model of 13 billion parameters. At batch 16 it carries nearly all of
# its 47 billion. It also needs a far larger batch to reach the ridge, because each expert sees only
# a quarter of the batch.

# %% [markdown] tags=["deep"]
# ## Deeper: claim court, FlashAttention stores S² numbers
#
# A prompt of $S$ tokens has $S^2$ *scores* in each head, one for each query and key. Scores in
# memory travel four times. One product writes them. The softmax reads them, turns them into shares
# and writes those, and the next product reads the shares. *FlashAttention* works on small tiles and
# keeps the scores on the chip. LLM-Viewer, an open tool that draws language models under a
# roofline, nevertheless lets it store $2 S^2$ numbers for a head. That is in its
# `model_analyzer.py` at commit 472f71f, for a prefill.
#
# ### Exercise 10 · What it stores
#
# Return the bytes of one head's attention over a prompt, twice: first with the scores in memory,
# then *streamed*, with the scores kept on the chip. In both, the queries, keys and values (Q, K, V)
# are read once, and the result is written once.


# %% tags=["deep", "answer"] rooflab={"exercise": "05-claim-flash"}
def attention_bytes(tokens, head_dim, itemsize):
    # BEGIN SOLUTION
    ends = 4 * tokens * head_dim
    return itemsize * (ends + 4 * tokens**2), itemsize * ends
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("05-claim-flash", attention_bytes)

# %% [markdown] tags=["deep"]
# By what factor do two counts exceed the streamed bytes, for heads of 64 numbers? First yours, with
# the scores in memory. Then the tool's count of FlashAttention: the queries once; keys and values
# once for each block of 64 queries, S ÷ 64 times in all; and $2 S^2$ stored.

# %% tags=["deep", "nbval-check-output"]
for tokens in (1024, 4096):
    streamed, square = 4 * tokens * 64, tokens**2
    kept = 1 + 4 * square / streamed
    tool = (tokens * 64 + tokens / 64 * 2 * tokens * 64 + 2 * square) / streamed
    print(f"{tokens} tokens: with scores {kept:.0f} times, by the tool {tool:.2f}", end=", ")
    print(f"which saves {100 * (1 - tool / kept):.0f} %")

# %% [markdown] tags=["deep"]
# By the tool's count FlashAttention would save next to nothing. Half of that count is the stored
# $2 S^2$. A comment in the tool's code says that this is the result, written twice. But for each
# token a result has one row of the head's width, not a row of $S$. The other half is a fair worry:
# with blocks of 64 queries, keys and values are asked for S ÷ 64 times. A cache near the chip
# usually answers, so they come from memory once.
#
# In truth the saving grows with the prompt. The price is a few more FLOPs, to correct what earlier
# tiles have summed up.

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - **Bandwidth ÷ bytes of the weights**: the tokens a second of one sequence, at best.
# - **72 tokens a second**: 7 billion 2-byte weights on an RTX 4090, by its datasheet.
# - **Ridge × bytes of a weight ÷ 2**: the batch where arithmetic takes over. H100, 2-byte `bf16`:
#   295.
# - **Half a megabyte a token**: the KV cache of Llama-2-7B.
#
# ## What you can do now
#
# - **Predict** tokens a second from two numbers.
# - **Say** what a larger batch gains, and whether the ridge or the caches end the gain.
# - **Count** what a context costs in memory and in time.
# - **Judge** a published speed by its share of what your `decode` says.
# - **Fill** a machine: the smaller of two batches, by memory and by promise.
# - And if you went deeper: **choose** what to shrink, and **say** what more GPUs do not divide.
#
# The lessons from here on ask how to do better on the same machine. First: what does a single trip
# to memory cost?
#
# Go on with [lesson 06](06_where_data_lives.ipynb).

# %% tags=["core"]
rl.my_guesses("05")

# %% tags=["core"]
rl.progress("05")
