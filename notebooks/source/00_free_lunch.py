# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] tags=["core"]
# # 00 · The free lunch
#
# *Run the cells from the top, each with Shift+Enter. Until you do, the results below come from
# another computer.*
#
# **How much arithmetic can you do on a number before it costs anything?**
#
# <details><summary>30 minutes, 40 with the exercises: what you learn, and what you need</summary>
#
# - **predict** whether more arithmetic on the same data will take more time,
# - **read** three figures of a computer off one curve that you measured on it,
# - **compute** the time of a simple program on a machine that you have never touched.
#
# You need a little Python, nothing else. The *Deeper* parts take 10 minutes more. A lecture shows
# its core in 15.
#
# </details>

# %% tags=["core"]
import rooflab as rl

# %% [markdown] tags=["core"]
# ## One multiply-add
#
# Here is a job that no one could call difficult. Take many millions of numbers, and replace every
# number `x` by `x * a + b`. That is one multiplication and one addition for each number: a
# *multiply-add*. A single core, one of the workers in your processor, does the whole job.
#
# The next cell times that job, and a few others that you will see in a minute.

# %% tags=["core"]
curve = rl.free_lunch()
print(curve)

# %% [markdown] tags=["core"]
# ## Now nine
#
# The same array, but now every number goes through the multiply-add 9 times before it is put back.
# That is 9 times the arithmetic on the same data.
#
# The cell above measured that too, but the result is covered. **Make your guess first**: click on
# the axis and confirm. Without a mouse, run the cell with Ctrl+Enter, press Tab to reach the axis,
# and use the arrow keys and Enter. A wrong guess is worth more than none; it stays on your machine,
# and nobody grades it.

# %% tags=["core"]
one = {"one multiply-add": 1000 * curve.at(1)}
nine = rl.ask("00-nine", 1000 * curve.at(9), marks=one)
nine

# %% [markdown] tags=["core"]
# The whole curve, from 1 to 257 multiply-adds on each number, is waiting below. It appears as soon
# as you have guessed. Then drag its slider, or the ring on the curve, to set the number of
# multiply-adds.

# %% tags=["core"]
rl.live.free_lunch(curve, after=nine, guess_k=9)

# %% [markdown] tags=["core"]
# ## What just happened

# %% tags=["core"]
rl.show.say(rl.conclude("00-nine", curve), after=nine)

# %% [markdown] tags=["core"]
# <details><summary>Why? Open this when you have guessed</summary>
#
# Both axes are logarithmic: one line to the right is twice the arithmetic, one line up two
# to two and a half times the time. Where the curve is flat, more arithmetic takes no more time.
# Where it rises most steeply, twice the arithmetic takes twice the time.
#
# So where it is flat, arithmetic is free. You do not pay for it; **you pay for the trip**:
# every number has to come from memory to the processor, and its result has to go back.
#
# The two bars under the curve take that time apart. Drag the slider once more, and watch them.
#
# - **Carrying**: bringing the numbers in and taking them back. It takes the same time however much
#   you compute, and sets the flat left end of the curve.
# - **Computing**: the multiply-adds themselves. The far right end of the curve shows what one of
#   them costs, and the bar assumes that cost everywhere.
#
# Both can happen at the same time, as in a large kitchen: while one course is cooking, somebody
# shops for the next. The evening lasts as long as the slower of the two. As long as carrying and
# computing overlap, **the time is the longer bar, not their sum.** Overlapping is hardest where the
# bars are nearly the same length. *Deeper: why is the corner round?* looks at how well your core
# manages.
#
# </details>

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# Click on an answer to see what it would mean.
#
# Suppose that 2 and 4 multiply-adds both lie on the flat part. You go from 2 to 4 on each number.
# The time …
#
# <details><summary><b>A</b> doubles: it is twice the work.</summary>
#
# This is *arithmetic is what costs*: true to the right of the bend, not to the left.
#
# </details>
#
# <details><summary><b>B</b> hardly changes.</summary>
#
# **Right.** The carrying takes longer than the computing, and it has not changed.
#
# </details>
#
# <details><summary><b>C</b> grows by half: one half of the time is arithmetic, the other is
# carrying.</summary>
#
# This is *they take turns*: then the time would be the sum of the two bars, and nothing would be
# quite flat.
#
# </details>
#
# <details><summary><b>D</b> falls: the processor works more efficiently now.</summary>
#
# This is *a higher rate is a shorter time*: the work per second does go up, because there is more
# work in the same time.
#
# </details>

# %% [markdown] tags=["core"]
# ## The roof
#
# One multiplication or one addition is one *floating-point operation*, a **FLOP**. A multiply-add
# is 2 FLOPs, even where the processor does it in one instruction. How many does the core do each
# second?
#
# The next picture measures nothing new. It shows the same points, with the work done each second on
# the vertical axis. A GFLOP/s is a billion FLOPs a second. Press *time*, and then *work per
# second*: the flat part becomes a slope, and the slope becomes flat. That shape is a roof, and you
# have just walked along its underside.
#
# What you have measured has names, and now they mean something.
#
# - The slope is set by how many bytes a second travel between the memory and this one core, in
#   and out together: the **bandwidth**, in byte/s.
# - The flat part of the roof is set by how many operations a second this core can do at best: the
#   **peak**, in FLOP/s.
# - The two meet at the **ridge**, counted in operations for each byte carried: FLOP/byte.

# %% tags=["core"]
rl.live.free_lunch(curve, names=True, view="rate", after=nine)

# %% [markdown] tags=["core"]
# While you read on, let the computer find the same figures by other means. The first time, this
# takes a few seconds in the background; then they are kept. `threads=1` asks for one thread: one
# core at work.

# %% tags=["core"]
roofs = rl.this_machine_async(threads=1)

# %% [markdown] tags=["core"]
# ## Count
#
# To turn a curve into those figures, you have to count two things. Both counts have a catch.
#
# **Operations.** A multiply-add is 2 FLOPs, not 1.
#
# **Bytes.** The numbers here are of type `fp32`: 32 bits, or 4 bytes. But each travels twice: in as
# a number, and out as a result.

# %% tags=["core", "nbval-check-output"]
n, multiply_adds = 1_000_000, 9
print("carried: ", rl.si(2 * 4 * n, "B"))
print("computed:", rl.si(2 * multiply_adds * n, "FLOP"))

# %% [markdown] tags=["core"]
# Keep two pairs of words apart. **FLOP** is an amount of work, **FLOP/s** is work per second.
# **GB** is a billion bytes, **GiB** is 2³⁰ bytes, 7 % more. In this course giga is always a
# billion. Manufacturers are less strict: the 80 GB of an A100, a GPU, are 80 GiB.
#
# ### Exercise 1 · The flat part of the time
#
# Write the function, run its cell, then run the check below it.
#
# `seconds` holds the times of a curve like yours, from few multiply-adds to many; `n` is how many
# numbers there are, and `itemsize` is the size of one in bytes. Return the bandwidth in byte/s. The
# check uses curves of machines that you have not seen, so a fixed number will not do.


# %% tags=["core", "answer"] rooflab={"exercise": "00-bandwidth"}
def bandwidth(seconds, n, itemsize):
    # BEGIN SOLUTION
    return 2 * n * itemsize / min(seconds)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("00-bandwidth", bandwidth)

# %% [markdown] tags=["deep"]
# ### Exercise 2 · The rising part
#
# `k` and `seconds` are arrays: how many multiply-adds each number gets, and how long all `n`
# numbers take. The last two points lie well on the rising part. Every run also took a while to get
# started, the same for each `k`, so no single point gives the peak away. Return the peak in FLOP/s.


# %% tags=["deep", "answer"] rooflab={"exercise": "00-peak"}
def peak(k, seconds, n):
    # BEGIN SOLUTION
    more_work = 2 * n * (k[-1] - k[-2])
    return more_work / (seconds[-1] - seconds[-2])
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("00-peak", peak)

# %% [markdown] tags=["core"]
# ## Measure, another way
#
# Now do the same counts for your own curve. The `bandwidth` line uses a typical point of the flat
# part. Your function may have used the fastest.

# %% tags=["core"]
mine = bandwidth(curve.seconds, curve.n, curve.itemsize)
print("your function:", mine if mine is None else rl.si(mine, "B/s"))
print("bandwidth", rl.si(curve.bandwidth, "B/s"))
print("peak     ", rl.si(curve.peak, "FLOP/s"))
print(f"ridge     {curve.ridge:.2f} FLOP/byte")

# %% [markdown] tags=["core"]
# The ridge answers the question at the top, for the core that you measured.

# %% tags=["core"]
rl.show.say(rl.conclude("00-free", curve), after=nine)

# %% [markdown] tags=["core"]
# Is that right? Always check one measurement with another. In the background the computer ran two
# extreme programs: one that only moves numbers, in and out again, and one that only computes. Do
# they give the same figures?

# %% tags=["core"]
here = roofs.result()
print("bandwidth", rl.si(here.bandwidth(mix="update"), "B/s"))
print("peak     ", rl.si(here.peak("fp32", "vector"), "FLOP/s"))

# %% tags=["core"]
rl.conclude("00-agree", curve, here)

# %% [markdown] tags=["core"]
# ## Predict
#
# Now go the other way. Given a machine's peak and bandwidth, you can say, without running anything,
# what its curve will look like.
#
# ### Exercise 3 · The time, predicted
#
# Return the time in seconds of `k` multiply-adds on each of `n` numbers of `itemsize` bytes, on a
# machine with the given `peak` (FLOP/s) and `bandwidth` (byte/s). The check asks about real GPUs,
# most of them for data centres.


# %% tags=["core", "answer"] rooflab={"exercise": "00-time"}
def time(k, n, itemsize, peak, bandwidth):
    # BEGIN SOLUTION
    carrying = 2 * n * itemsize / bandwidth
    computing = 2 * n * k / peak
    return max(carrying, computing)
    # END SOLUTION


# %% tags=["core", "nbval-check-output"]
rl.check("00-time", time)

# %% [markdown] tags=["core"]
# Now you can ask where the free lunch ends elsewhere. The datasheet of an H200, a data-centre GPU,
# gives peak and bandwidth. Peak divided by bandwidth is its ridge, and 4 times the ridge is the
# number of free multiply-adds, as before.

# %% tags=["core", "nbval-check-output"]
h200 = rl.Roofline("h200-sxm", "fp32")
print(rl.si(h200.peak, "FLOP/s"), "and", rl.si(h200.bandwidth, "B/s"))
print(f"{h200.ridge:.1f} FLOP/byte, {4 * h200.ridge:.0f} multiply-adds on each number")

# %% tags=["core"]
rl.show.say(rl.conclude("00-elsewhere", curve, h200), after=nine)

# %% [markdown] tags=["core"]
# Nobody ran that for this page: it is what the manufacturer's figures allow. The course will always
# tell you whether a number was measured or comes from a datasheet.

# %% [markdown] tags=["core"]
# ### Vote, or choose for yourself
#
# Next year's processor computes twice as fast; its memory stays the same. Your curve …
#
# <details><summary><b>A</b> sinks to half its height everywhere.</summary>
#
# This is *a faster processor makes everything faster*.
#
# </details>
#
# <details><summary><b>B</b> keeps its flat part, and the flat part gets longer.</summary>
#
# **Right.** The flat part is the carrying, and that has not changed. The computing bar is half as
# long, so twice as many multiply-adds fit under it: the free lunch gets bigger.
#
# </details>
#
# <details><summary><b>C</b> keeps its flat part, and the flat part gets shorter.</summary>
#
# This moves the bend the wrong way.
#
# </details>
#
# <details><summary><b>D</b> does not change at all: the memory is the bottleneck.</summary>
#
# This is right for the left part only: on the right you are limited by the processor.
#
# </details>

# %% [markdown] tags=["deep"]
# ## Deeper: the better machine
#
# An A100, a data-centre GPU, has twice the memory bandwidth of an RTX 4090, a graphics card. The
# graphics card has four times the peak in `fp32`. Which is the better machine? Before you read on,
# picture both curves, one on top of the other.
#
# ### Exercise 4 · Whose lunch is longer?
#
# Two machines, `a` and `b`, do `k` multiply-adds on each of many numbers. With few multiply-adds,
# the machine with the faster memory finishes first. From which `k` on is the *other* one faster?
# That `k` may be a fraction. Return 0 if it never is. Either machine may have the faster memory.


# %% tags=["deep", "answer"] rooflab={"exercise": "00-lunch"}
def overtakes(peak_a, bandwidth_a, peak_b, bandwidth_b, itemsize):
    # BEGIN SOLUTION
    slow, fast = sorted([(bandwidth_a, peak_a), (bandwidth_b, peak_b)])
    if slow[1] <= fast[1]:
        return 0
    flat = 2 * itemsize / slow[0]
    return flat * fast[1] / 2
    # END SOLUTION


# %% tags=["deep", "nbval-check-output"]
rl.check("00-lunch", overtakes)

# %% [markdown] tags=["deep"]
# And the two cards? Here is your function, with the figures from their datasheets:

# %% tags=["deep"]
card, centre = rl.Roofline("rtx-4090", "fp32"), rl.Roofline("a100-sxm-80", "fp32")
overtakes(card.peak, card.bandwidth, centre.peak, centre.bandwidth, 4)

# %% [markdown] tags=["deep"]
# Below that number the A100 is the better machine, above it the RTX 4090. Neither is better until
# you have a job.

# %% [markdown] tags=["deep"]
# ## Deeper: why is the corner round?
#
# The model takes the longer bar, so it has a sharp corner: left of it only carrying counts, right
# of it only computing. If the two took turns, the time would be the sum of both bars. How far do
# your points lie from each, and where is the model worst? Each line begins with the number of
# multiply-adds.

# %% tags=["deep"]
for k, seconds in zip(curve.k, curve.seconds):
    bars = curve.bytes / curve.bandwidth, 2 * k * curve.n / curve.peak
    longer, both = seconds / max(bars), seconds / sum(bars)
    print(f"{k:4d}: {longer:.2f} times the longer bar, {both:.2f} times the sum")

# %% tags=["deep"]
rl.show.say(rl.conclude("00-corner", curve), after=nine)

# %% [markdown] tags=["deep"]
# With the true peak and bandwidth the model would be a **bound**: you can come close to it, but not
# below it. Here it was fitted to your own points, which are a little noisy, so some of them may lie
# below it.

# %% [markdown] tags=["core"]
# ## Numbers worth keeping
#
# - **2 FLOPs**: one multiply-add.
# - **8 bytes**: the trips of one `fp32` number, in and out.
# - **4 × the ridge**: the free multiply-adds on each `fp32` number; 56 by an H200's datasheet.
#
# ## What you can do now
#
# - **Predict** whether more arithmetic will take more time: not as long as carrying is the longer
#   bar.
# - **Read** bandwidth, peak and ridge off a curve that you measured.
# - **Compute** the time of a simple program on any machine: the longer of bytes ÷ bandwidth and
#   FLOPs ÷ peak.
#
# That last sentence is the whole idea of this course. In the next lesson it meets the three
# operations that make up nearly all numerical work. One of them does thousands of times more
# arithmetic for each byte than another. How many times faster is it?
#
# Go on with [lesson 01](01_three_operations.ipynb).

# %% tags=["core"]
rl.my_guesses("00")

# %% tags=["core"]
rl.progress("00")
