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
# **Why does a language model write 50 words a second, and not 5000?**
#
# When you are through with this lesson you can
#
# - **predict** from two numbers how many tokens a second a model can write on a machine,
# - **say** what a larger batch brings, and what ends it,
# - **count** what a long conversation costs in memory and in time,
# - **judge** a published speed: near its bound, far from it, or impossible,
# - after the *Deeper* parts: **choose** between fewer bits, shared heads and experts.
#
# It takes about 70 minutes, with the *Deeper* parts 110; a lecture shows some of it in 20. You need
# lessons 01 and 03; 04 helps.

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## Twenty tokens
#
# A language model writes one *token* at a time, a word or a piece of one. For each it takes a
# vector that stands for the newest token, and sends it through its *layers*: products with large
# matrices, and little besides. The matrices hold the model's *weights*, its parameters. What comes
# out at the end says which token is likely to follow. One is chosen, and all begins again with
# that one. This writing is called *decode*.
#
# Here is a model that is small enough for any computer, and too large for nearly any cache. Its
# vectors have 1024 numbers (`hidden`), and within a layer 2816 (`intermediate`). It knows 8000
# tokens, and one table of them serves both of its ends (`tied`). The `heads` come later.

# %% tags=["core", "nbval-check-output"]
small = rl.Model(hidden=1024, layers=5, heads=16, intermediate=2816, vocab=8000, tied=True)
print(f"{small.parameters:,} parameters, {small.weight_bytes('fp32') / 1e6:.0f} MB in fp32")

# %% [markdown] tags=["core"]
# Its weights are random, so it writes nonsense. It does so exactly as fast as if it had learned
# something: no product asks what the numbers mean.
#
# The next cell lets it write 20 tokens on one core, after a prompt of 16, and shows nothing of it
# yet. (On the processor, also where there is a GPU: a GPU would wait for its calls most of the time
# with a model as small as this.) The cell after it gives you the bandwidth of your memory for
# reading alone, which is all that weights need. (The roofs of lessons 01 and 03 were drawn with the
# best mix of reading and writing, so they may have been higher.)

# %% tags=["core"]
held = rl.loop_weights(small, backend="cpu")
one = rl.decode_loop(small, batch=1, context=16, steps=20, backend="cpu", weights=held)

# %% tags=["core"]
here = rl.this_machine("cpu", threads=1)
print(f"this memory, one core: {rl.si(here.bandwidth(), 'B/s')}")

# %% [markdown] tags=["core"]
# **How many tokens a second?** You know how large the weights are, and how fast they come.

# %% tags=["core"]
rl.ask("05-small", one.tokens_per_s)

# %% [markdown] tags=["core"]
# <details><summary>How to guess it (open this when you have guessed)</summary>
#
# One vector goes through every matrix, so **each weight is used once for a token**: one
# multiply-add, 2 FLOPs, and then the next weight. That is the GEMV of lesson 01, and it is limited
# by memory on every machine that you have seen. So a token takes as long as the weights need to
# come, and bandwidth ÷ bytes is tokens a second.
#
# Why not two tokens at once? Because the second one is chosen after the first one is known.
#
# </details>

# %% tags=["core"]
promised = here.bandwidth() / small.weight_bytes("fp32")
print(f"bandwidth ÷ weights: {promised:.1f} tokens/s, the clock: {one.tokens_per_s:.1f}")

# %% [markdown] tags=["core"]
# One division, and no word about layers, heads or the arithmetic. It is a bound: the clock should
# stay below it, and how far below shows how well the library's GEMV uses your memory. (Is it above,
# or below a third of it? Then something else kept the computer busy during one of the two
# measurements. Close it and run these cells again, `here` with `refresh=True`.)
#
# Does it hold for models that people use?
#
# ### Exercise 1 · The fastest token there can be
#
# A model has `parameters`, each stored in `bits`, and the memory gives `bandwidth` byte/s. Return
# the tokens a second, if the weights are all that travels.


# %% tags=["core", "answer"] rooflab={"exercise": "05-bound"}
def bound(parameters, bits, bandwidth):
    # BEGIN SOLUTION
    return bandwidth / (parameters * bits / 8)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("05-bound", bound)

# %% [markdown] tags=["core"]
# So what does an RTX 4090 allow? Here is Llama-2-7B with weights of 2 bytes (`fp16`): what one
# token costs, and how many a second the memory and the arithmetic of that card allow, by its
# datasheet.

# %% tags=["core", "nbval-check-output"]
card, token = rl.machine("rtx-4090"), rl.model("llama-2-7b").decode(1, 1, "fp16", "fp16")
print(f"{token.flops / 1e9:.1f} GFLOP and {token.bytes / 1e9:.1f} GB a token")
print(f"its memory allows {card.bandwidth() / token.bytes:.0f} tokens/s")
print(f"its arithmetic allows {card.peak('fp16') / token.flops:.0f} tokens/s")

# %% [markdown] tags=["core"]
# There it is. The arithmetic would do for more than ten thousand tokens a second; the memory
# delivers the weights for some 76. A public web lesson reports 50 for a model of 7 billion on this
# card. It does not say how that was measured, nor with which number type; with 2 bytes a weight it
# is about two thirds of what the memory could do at best. **A card that only computes faster would
# not write a single token sooner.**
#
# Why 76? A round 7 billion parameters, all of them read, would make it 72. Llama-2-7B has 6.74
# billion, and 0.13 of them are the table of *embeddings*, the vectors of all tokens, of which one
# row is read.
#
# ### Vote, or choose for yourself
#
# You chat with such a model on such a card, alone. What makes the next token come sooner?
#
# - **A** A card with twice the TFLOP/s.
# - **B** Weights of 1 byte.
# - **C** Twice as much memory.
# - **D** To ask two questions at once.
#
# <details><summary>What each answer would mean</summary>
#
# **B.** Half as many bytes for each token. <br>
# **A** is *neural networks are arithmetic*: training is, and so is reading a long prompt. Writing
# is carrying. <br>
# **C** is *capacity is bandwidth*: a larger memory holds more and may be no faster. <br>
# **D** brings more tokens, and none of them sooner. It is what comes next.
#
# </details>
#
# ## Two at once
#
# Suppose that two people chat with the model. Both need all of its weights, and the weights are
# brought in once and used for both: each matrix meets two vectors. A *batch* of 2. In the picture
# of lesson 01, the sheet gets two numbers thick.
#
# The memory has to carry as much as before, which takes as many milliseconds. So how many tokens a
# second do they get together? The next cell runs all batches, from 1 to 64, and shows nothing yet.
# Guess two of them.

# %% tags=["core"]
batches = (1, 2, 3, 4, 8, 16, 32, 64)
runs = {b: rl.decode_loop(small, b, 16, steps=7, backend="cpu", weights=held) for b in batches}
speed = {b: runs[b].tokens_per_s for b in batches}

# %% tags=["core"]
rl.ask("05-two", speed[2] / speed[1])

# %% tags=["core"]
rl.ask("05-many", speed[64] / speed[1])

# %% [markdown] tags=["core"]
# All of them now. Each product can be done in several ways: as one GEMV after the other (`gemv ×B`)
# or as one GEMM, and either with the matrix stored the other way round (`on Wᵀ`). The loop tries
# them and takes the fastest.
#
# Each line has the tokens a second, how many times as long a step takes as with one sequence, and
# the way that was chosen for the *up projection*, one of the large products of a layer.

# %% tags=["core"]
for b, run in runs.items():
    longer = run.step_s / runs[1].step_s
    rate = f"{run.tokens_per_s:6.1f} tokens/s"
    print(f"batch {b:2}: {rate}, a step takes {longer:4.1f} times as long, {run.forms['up']}")

# %% [markdown] tags=["core"]
# If the trip of the weights were all, every step would take as long as the first. Now look at your
# table.
#
# - **The first rows.** How many times as long does a step take for two? Near 1, and the second
#   sequence is free; near 2, and it pays the full price, although hardly a byte more has to travel.
#   Many libraries are well above 1.
# - **The last rows.** From 16 to 64 there are four times as many sequences. How many times as long
#   does a step take? What is left to 4 is gain.
#
# ## What the second one costs
#
# Here are the ways that the loop tried for one such product, with 1, 2 and 64 vectors. For 2, and
# then for 64, compare `gemv ×B` with `gemm`:

# %% tags=["core"]
for b in (1, 2, 64):
    tried = runs[b].trials["up"]
    print(f"batch {b:2}:", ", ".join(f"{form} {1e3 * s:.1f} ms" for form, s in tried.items()))

# %% [markdown] tags=["core"]
# Two GEMVs read the matrix twice (the second time perhaps from a cache, if it fits). And a GEMM,
# which could read it once, usually begins by *packing*: it copies the matrix, piece by piece, into
# an order in which its arithmetic runs well. For a thick box this pays many times over. With two
# vectors you pay for the copy and get next to nothing. No roof knows of it: it is not the machine,
# it is how a library was written. (One that takes its GEMM for two vectors without asking may well
# give you fewer tokens a second with two sequences than with one.)
#
# ### Exercise 2 · GEMM, or GEMV after GEMV?
#
# One GEMV takes `one_gemv` seconds, a GEMM for `batches[i]` vectors takes `gemm[i]`. Return the
# smallest of the batches at which a GEMM takes less time than as many GEMVs.


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
# batch $B$ a product has $2B$ FLOPs for each weight, so the intensity is $2B$ ÷ the bytes of a
# weight, and it grows until it reaches the ridge. One formula, for your core (measured) and for two
# GPUs (from their datasheets):

# %% tags=["core"]
for machine, dtype in ((here, "fp32"), ("rtx-4090", "fp16"), ("h100-sxm", "bf16")):
    roof = rl.Roofline(machine, dtype)
    knee = roof.ridge * rl.dtype(dtype).bits / 8 / 2
    print(f"{rl.machine(machine).name}: the arithmetic takes over at batch {knee:.0f}")

# %% [markdown] tags=["core"]
# The same formula, and machines that are worlds apart. Does your own table gain beyond that batch?
# Then it is the library: with few vectors it is far from both roofs, and every further one brings
# it nearer. (And what goes into a layer and comes out of it travels too, so that the knee of a real
# one lies somewhat higher; lesson 04 has that.)
#
# Do 64 users of a GPU get 64 times the speed, then? Something is still missing.
#
# ## What each of them remembers
#
# A token looks back at all tokens before it. That is *attention*: in each layer, its *query* is
# compared with the *key* of every earlier token, and their *values* are mixed accordingly. Keys and
# values do not change any more, so they are kept: that is the *KV cache*. (It is a store in main
# memory, not a cache of the processor.)
#
# The weights are the same for everybody. **The KV cache belongs to one conversation alone, and all
# of it is read for every token.** `context` is how many tokens it holds.
#
# ### Exercise 3 · What a token leaves behind
#
# The attention of a layer is split into `heads`, each with a query of `head_dim` numbers. Several
# of them may share one key and one value: there are `kv_heads` of these. Return the bytes that a
# token adds to the cache.


# %% tags=["core", "answer"] rooflab={"exercise": "05-kv-bytes"}
def kv_bytes(layers, heads, kv_heads, head_dim, itemsize):
    # BEGIN SOLUTION
    return 2 * layers * kv_heads * head_dim * itemsize
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("05-kv-bytes", kv_bytes)

# %% tags=["core", "nbval-check-output"]
for name in ("llama-2-7b", "llama-3-8b", "llama-2-70b", "mixtral-8x7b"):
    m = rl.model(name)
    print(f"{name}: {m.kv_bytes(1, 1) / 2**10:.0f} KiB a token, {m.kv_bytes(1, 4096) / 1e9:.2f} GB")

# %% [markdown] tags=["core"]
# Half a mebibyte ($2^{20}$ bytes) for a single token of Llama-2-7B, 2 GB for a conversation of
# 4096. Llama-3-8B is the larger model and keeps a quarter of that: four queries share a key.
#
# Now on your own machine: the small model again with 16 sequences. They had a past of 16 tokens
# above; now they get one of 512.

# %% tags=["core"]
past = rl.decode_loop(small, 16, 512, steps=7, backend="cpu", weights=held)

# %% tags=["core", "nbval-check-output"]
weights = small.weight_bytes("fp32")
for context in (16, 512):
    caches = small.kv_bytes(16, context, "fp32")
    print(f"context {context:3}: weights {weights / 1e6:.0f} MB, caches {caches / 1e6:.0f} MB")

# %% [markdown] tags=["core"]
# **How many times as long does a step take?**

# %% tags=["core"]
rl.ask("05-long", past.step_s / runs[16].step_s)

# %% [markdown] tags=["core"]
# The loop was timed in its parts, so you can see where the time went.

# %% tags=["core"]
for run in (runs[16], past):
    print(f"context {run.context:3}: a step {1e3 * run.step_s:5.1f} ms", end=", ")
    print(f"attention {1e3 * run.seconds('attention'):5.1f} ms of it")

# %% [markdown] tags=["core"]
# By the bytes alone, a step would take about twice as long. Did yours grow by less? Then with 16
# sequences it took longer than the trip of the weights to begin with (look at the table of batches),
# and that part has not changed. Only attention has 32 times as much to read. (Its time grew by less
# than that, too? With 16 tokens much of it was calls.)
#
# ### Exercise 4 · When the cache outweighs the model
#
# The weights have `weight_bytes`, a token in the cache has `kv` bytes, and every sequence has
# `context` tokens. Return the batch at which a step reads as many bytes from the caches as from the
# weights. (It need not be a whole number.)


# %% tags=["core", "answer"] rooflab={"exercise": "05-takeover"}
def takeover(weight_bytes, kv, context):
    # BEGIN SOLUTION
    return weight_bytes / (kv * context)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("05-takeover", takeover)

# %% [markdown] tags=["core"]
# ## The request film
#
# One request to Llama-3-8B, on the machine that you choose: the *prefill*, which reads the prompt
# at once, and then the decode, one dot for each operation.

# %% tags=["core"]
rl.live.film("llama-3-8b", machines=["h100-sxm", "rtx-4090", "a100-sxm-80"])

# %% [markdown] tags=["core"]
# 1. **Slide the batch up.** The products with weights walk to the right and up the slope, all
#    together, until they reach the ridge. Attention stays where it is: every new sequence brings
#    FLOPs for it, and a cache of its own to read for them. (*Norms etc.* are the small operations
#    between the products. They stay too, and are over at once.)
# 2. **Slide the context up**, at a batch of 16. The bars show where the time of a step goes. The
#    part of the caches grows until, at the dashed line, it is as large as all the rest. While
#    memory limits the rest, that is the crossover of exercise 4.
# 3. **Look at the prefill.** All tokens of the prompt are known, so they go through the layers
#    together, as a batch of their own. Unless the prompt is short, it stands on the flat roof. A
#    model *reads* as fast as the machine computes, and *writes* as fast as it carries.
#
# And here is the small model on your own core, with what your loop took.

# %% tags=["core"]
rl.live.film(small, here, decode_run=runs.values(), context=16)

# %% [markdown] tags=["core"]
# Filled markers are the clock, joined to their bound by a dotted line; pale ones are the other
# batches. Slide the batch: which operations come near their roof, and which stay away from it?
#
# ## Tokens a second, all of it
#
# ### Exercise 5 · decode()
#
# Now write it down. For a step of the whole batch:
#
# - each of the `parameters` does 2 FLOPs for each sequence; the weights travel once, with
#   `itemsize` bytes each. In these products carrying and computing overlap;
# - then there is attention, with few FLOPs, which just reads the caches: `kv` bytes for each token
#   of the `context`, for each sequence. It waits for the products, so its time is added.
#
# Return the tokens a second of all sequences together. The checks ask for the setups of published
# runs. (`itemsize` need not be whole. With 4 bits, and a scale and an offset of 2 bytes each for
# every 32 weights, it is 0.625.)


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
# ## Who is right?
#
# Published runs of Llama models, measured by others. Those of batch 1 are from the README of
# gpt-fast (a prompt of 5 tokens, 200 new ones; its A100 was held to 330 W), the others from
# NVIDIA's performance page of TensorRT-LLM (v0.6.1; the L40S: v0.5). `context` is the mean over a
# run. In the 8-bit runs of TensorRT-LLM the caches have 1 byte a number too, and the times of all
# its runs include reading the prompts, which is a small part.

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
# Three witnesses are heard. The first says: *the arithmetic*, peak ÷ FLOPs of a token. The second:
# *the weights*, and batch B is B times as fast. The third is your `decode`. For each of them, what
# was measured, as a share of what they promise:


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
# - **The arithmetic** promises 12 to 225 times too much. Who sells TFLOP/s for chatting sells
#   something else.
# - **The weights** do well at batch 1, and promise five to nine times too much for a batch.
# - **Yours** holds for all of them: no run is above it, and all but one reach between half and four
#   fifths.
#
# A bound that nobody beats is a bound. And a column of shares that are all alike would let you
# *predict*. They are not quite: at batch 1 the share falls with the bytes of a weight, 68, 51 and
# 40 % for 2, 1 and 0.625 on the same card. Something in a step does not get shorter when the
# weights do: starting some hundreds of small operations, norms, choosing a token, and unpacking the
# bits.
#
# And where is the missing third of the first row? The waterfall of lesson 03 for a whole step:

# %% tags=["core"]
rl.model("llama-2-7b").decode(1, 105).explain("a100-sxm-80", tokens_per_s=104.9)

# %% [markdown] tags=["core"]
# A factor of 1.14 is a memory that reaches less than its datasheet says. The other one, 1.29, the
# count cannot explain: what a call costs on this card is not known here, and the power limit is not
# in it either.
#
# ## Claim court: batch 64 is 64 times as fast
#
# The web lesson with the 50 tokens/s has 800 for a batch of 64 on the same card, and says why: a
# GEMV has become a GEMM, so that there are more FLOPs for each byte. Two readers object. One says:
# then it should be 64 times 50. The other: then it should be limited by computing now.
#
# ### Vote, or choose for yourself
#
# A larger batch makes a token cheaper …
#
# - **A** always: the weights are shared by more.
# - **B** until the products reach the ridge.
# - **C** until the caches outweigh the weights.
# - **D** until B or C, whichever comes first.
#
# <details><summary>What each answer would mean</summary>
#
# **D.** Both end it, and which of them does depends on the context. <br>
# **A** is *the weights are all that travels*. <br>
# **B** is *a decode step is made of products with weights*: attention is one too, and no batch
# moves it. <br>
# **C** forgets the arithmetic, and is right for most long conversations.
#
# </details>

# %% [markdown] tags=["core"]
# Here is the bound of such a card for 7 billion parameters with 2 bytes: at batch 1; at batch 64
# without caches; and with a context of 298 tokens for each of the 64. (At Llama-2-7B's 524 288
# bytes a token that makes 10 GB of caches, about what the weights leave free of its 24 GB.)

# %% tags=["core", "nbval-check-output"]
peak, bandwidth = card.peak("fp16"), card.bandwidth()
for batch, context in ((1, 1), (64, 0), (64, 298)):
    most = rl.mine.decode(7e9, 2, 524_288, batch, context, peak, bandwidth)
    print(f"batch {batch:2}, context {context:3}: at most {most:5.0f} tokens/s")

# %% [markdown] tags=["core"]
# So 800 is possible, and it is 30 % of what the card could do at that context. The first reader has
# forgotten the caches, the second one the ridge: this card's is at batch 164, and at 64 the
# products are still left of it. What keeps it at 800 the source does not say, and no roof can.
#
# ### Exercise 6 · How many times as fast?
#
# Return how many times the tokens a second of batch 1 a `batch` gives, at the same `context`. The
# weights have 2 bytes. You may call your `decode`.


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
# ## Claim court: memory-bound at every batch
#
# *Decode is limited by memory, whatever the batch.* (Nobody is quoted here: the sentence goes about
# in many forms, and is on trial in this one.) Is it so for Llama-3-8B? Take a step as one
# operation, and let the batch grow. Each sequence more brings
#
# - $2 P$ FLOPs, with $P$ parameters: $2P$ ÷ peak seconds of arithmetic,
# - its cache, kv × context bytes: kv × context ÷ bandwidth seconds of carrying.
#
# And the weights? They travel once. With enough sequences they no longer matter, and it is just
# these two that race. If the arithmetic is the slower one, it will set the time from some batch on;
# if the cache is, no batch will do.
#
# ### Exercise 7 · From which batch on?
#
# Return the batch at which the arithmetic takes as long as the carrying of weights (2 bytes each)
# and caches together, or 0 if there is none.


# %% tags=["core", "answer"] rooflab={"exercise": "05-claim-always"}
def enough(parameters, kv, context, peak, bandwidth):
    # BEGIN SOLUTION
    gained = 2 * parameters / peak - kv * context / bandwidth
    return 2 * parameters / bandwidth / gained if gained > 0 else 0
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("05-claim-always", enough)

# %% [markdown] tags=["core"]
# Here are steps of Llama-3-8B on an H100 (datasheet), with everything that is in them: what most of
# the time goes to, and whether weights and caches fit its memory.

# %% tags=["core", "nbval-check-output"]
llama = rl.model("llama-3-8b")
for context in (128, 1024, 8192):
    for batch in (1, 64, 512):
        step = llama.decode(batch, context)
        room = "" if step.fits("h100-sxm") else ", but does not fit"
        print(f"context {context:4}, batch {batch:3}: {step.limit('h100-sxm')}{room}")

# %% [markdown] tags=["core"]
# The claim is false for short contexts and large batches, and true for long ones: there the caches
# take the time, and soon the room as well. Who says *always* has lost one of the two numbers that
# it depends on. The verdict is about *operations*, too: the products may be limited by computing
# while attention, in the same step, waits for memory.

# %% [markdown] tags=["deep"]
# ## Deeper: what the bound leaves out, and what it costs
#
# How far is your loop from its bound, batch by batch? And can you say it in advance?
# `rl.predict_decode` starts from the bound of the film and divides it by the share of the roof that
# the library reaches for a box as thick. It learns these shares from a model of odd sizes, not from
# yours. (It runs that one once, for some ten seconds. The context grew from 17 to 23, so 20 is its
# mean.)

# %% tags=["deep"]
for b, run in runs.items():
    said = rl.predict_decode(small, b, context=20, backend="cpu")
    far = (seconds / said.bound_s for seconds in (said.total_s, run.step_s))
    times = "predicted {:4.1f} times, the clock {:4.1f} times".format(*far)
    print(f"batch {b:2}: bound {1e3 * said.bound_s:5.1f} ms, {times}")

# %% [markdown] tags=["deep"]
# Look down the last column. Is it smallest for one sequence and for many, and largest in between?
# Few libraries have a routine made for those shapes. Then compare it with the column before. A
# roofline says what the machine allows. What the library makes of it has to be measured once, and
# can then be used for every other model. (Both columns need a computer that has nothing else to do;
# look at the warnings of a run, for example `runs[2]`.)

# %% [markdown] tags=["deep"]
# ## Deeper: heads that share
#
# Attention is the dot that no batch moves. What does move it?
#
# ### Exercise 8 · The intensity of attention
#
# For a token of the context, a head does a multiply-add with each of the `head_dim` numbers of the
# key, and another with each of the value. Return the intensity of attention in a decode step, in
# FLOP/byte, counting only the reading of keys and values.


# %% tags=["deep", "answer"] rooflab={"exercise": "05-attention"}
def intensity(heads, kv_heads, itemsize, batch, context):
    # BEGIN SOLUTION
    return 2 * heads / kv_heads / itemsize
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("05-attention", intensity)

# %% [markdown] tags=["deep"]
# Neither batch nor context is in it. With 2-byte numbers it is heads ÷ KV heads: 1 in Llama-2-7B, 4
# in Llama-3-8B, 8 in Llama-2-70B. Heads that share are called *grouped-query attention*, GQA. It is
# still far left of the ridge of a GPU, but the bytes have become 4 and 8 times fewer.

# %% [markdown] tags=["deep"]
# ## Deeper: fewer bits
#
# Weights can be stored in 8 or 4 bits: they are *quantised*, rounded to one of a few values. A
# group of weights shares a *scale*, by which they are multiplied when they are used. The arithmetic
# stays in 16 bits; only the carrying gets lighter.
#
# ### Exercise 9 · What fewer bits can bring
#
# Return how many times faster a step can get, where memory limits it, if its weights go from 2
# bytes to `bits`, with `scale_bytes` for each `group`. The caches stay as they are.


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
# A published lecture says that 8-bit numbers bring almost nothing at batch 1. The runs of gpt-fast
# say: times 1.48 with 8 bits, and 1.88 with 4 (scales and offsets included). It is at *large*
# contexts and batches that fewer bits bring little, as your function says, and at batch 1 that they
# bring most.

# %% tags=["deep", "nbval-check-output"]
for bits, seen in (
    ("int8", 155.58),
    (rl.dtype("int4", group=32, scale="fp16", zero="fp16"), 196.8),
):
    m = rl.model("llama-2-7b")
    most = m.decode(1, 105).bytes / m.decode(1, 105, weights=bits).bytes
    print(f"{rl.dtype(bits).bits} bits: at most {most:.2f} times, measured {seen / 104.9:.2f}")

# %% [markdown] tags=["deep"]
# Why not more? What does not shrink with the weights weighs the more, the less they do.

# %% [markdown] tags=["deep"]
# ## Deeper: experts
#
# Some models have several *experts* in each layer, of which a token uses only a few. Mixtral 8x7B
# has 8 and uses 2. Alone, a token reads a quarter of them. And in a batch?
#
# ### Exercise 10 · Experts for a batch
#
# Each token uses `active` different ones of the `experts`, any of them with the same chance. Return
# how many experts a step reads on average.


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
# its 47, and needs a far larger batch to reach the ridge, because each expert sees only a quarter
# of it.

# %% [markdown] tags=["deep"]
# ## Deeper: claim court, FlashAttention stores S² numbers
#
# A prompt of $S$ tokens has $S^2$ *scores* in each head, one for each query and key. If they lie in
# memory they travel four times: written by one product, read by the softmax that turns them into
# shares, written by it, and read by the next product. *FlashAttention* is attention that works on
# small tiles and keeps the scores on the chip. LLM-Viewer, an open tool that draws language models
# under a roofline, counts $2 S^2$ numbers stored for it, all the same (its `model_analyzer.py`, for
# a prefill).
#
# ### Exercise 11 · What it stores
#
# Return the bytes of one head's attention over a prompt with the scores in memory, and streamed,
# with Q, K and V read once and the result written once.


# %% tags=["deep", "answer"] rooflab={"exercise": "05-claim-flash"}
def attention_bytes(tokens, head_dim, itemsize):
    # BEGIN SOLUTION
    ends = 4 * tokens * head_dim
    return itemsize * (ends + 4 * tokens**2), itemsize * ends
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("05-claim-flash", attention_bytes)

# %% [markdown] tags=["deep"]
# How many times the bytes of the streamed one, with heads of 64 numbers? First as you have counted,
# with the scores in memory; then as the tool counts FlashAttention itself.

# %% tags=["deep", "nbval-check-output"]
for tokens in (1024, 4096):
    streamed, square = 4 * tokens * 64, tokens**2
    kept, claimed = 1 + 4 * square / streamed, 3 / 4 + 2 * square / streamed
    print(f"{tokens} tokens: with scores {kept:.0f} times, as claimed {claimed:.0f} times")

# %% [markdown] tags=["deep"]
# With the claimed count FlashAttention would save about half of the bytes, at any length. (A
# comment there says what is meant: the result, begun and then saved. That has a row of the head's
# width for each token, not a row of $S$.) In truth it saves the more, the longer the prompt is.
# (There is a price: a few more FLOPs, to correct what earlier tiles have summed up. And if the
# tiles of queries are small, keys and values are read again for each of them; then a cache has to
# hold these.)

# %% [markdown] tags=["core"]
# ## What you can do now
#
# - **Predict** tokens a second from two numbers: bandwidth ÷ bytes of the weights.
# - **Say** what a larger batch brings: more tokens for one trip of the weights, until the ridge, or
#   until the caches outweigh them. (And why the second sequence may cost as much as the first.)
# - **Count** a conversation: 2 × layers × KV heads × head size × bytes for each token, all of it
#   read for every new one.
# - **Judge** a published speed by its share of your bound.
# - And if you went deeper: **choose** what to shrink, weights, caches, or the part of the model
#   that a token reads.
#
# You have come to the end of Part II, from a multiply-add that costs nothing to a model that waits
# for its weights. The next part asks what you can do about it on the same machine.

# %% tags=["core"]
rl.my_guesses()

# %% tags=["core"]
rl.progress("05")
