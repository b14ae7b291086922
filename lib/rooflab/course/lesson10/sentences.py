"""Sentences of lesson 10, chosen from the times of the reader's own loops, fused and not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.exercises.sentences import Conclusion, Rows, choose
from rooflab.labs.fusion.gain import Gain

CLEARLY = 1.15  # times: a smaller gain is none, with the noise of a laptop
GOOD = 1.3  # times: a prediction that is off by less is a good one

SIX_AND_ONE = (
    "The six calls took {slow:s}, the loop {fast:s}: it is {gain:times} as fast. The bytes alone "
    "say {by_bytes:times}."
)
BEYOND_BYTES: Rows = (
    ("beyond the bytes", lambda gain, by_bytes, share: gain > CLEARLY * by_bytes and share >= 0.1,
     "The rest is mostly new pages: by the prediction they are {share:percent} of the six calls' "
     "time."),
    ("beyond the bytes", lambda gain, by_bytes, share: gain > CLEARLY * by_bytes and share < 0.1,
     "New pages are not the rest: by the prediction they take {share:percent} of the six calls' "
     "time."),
    ("as the bytes say", lambda gain, by_bytes: by_bytes / CLEARLY <= gain <= CLEARLY * by_bytes,
     "So here the bytes say it all."),
    ("less than the bytes", lambda gain, by_bytes: gain < by_bytes / CLEARLY,
     "So the loop does something else than carrying, too."),
)
SAME_ARRAYS = "In arrays that are there already, the six calls took {same:s}."
PREDICTED: Rows = (
    ("", lambda off: off <= GOOD, "Predicted were {expected:times}."),
    ("far", lambda off: off > GOOD,
     "Predicted were {expected:times}: off by {off:times}. Measure once more with nothing else "
     "running."),
)


def norm(found: Gain) -> Conclusion:
    """RMSNorm as six calls and as one loop."""
    taken, terms = found.measured, found.predicted["temporaries"]
    return choose(
        SIX_AND_ONE, BEYOND_BYTES, SAME_ARRAYS, PREDICTED, of=tuple(taken.values()),
        slow=taken["temporaries"].median_s, fast=taken["fused"].median_s, gain=found.gain(),
        by_bytes=taken["temporaries"].op.bytes / taken["fused"].op.bytes,
        share=terms.faults / terms.seconds, same=taken["buffers"].median_s,
        expected=found.expected(), off=found.off(),
    )  # fmt: skip


OF_SINE: Rows = (
    ("no gain", lambda gain: gain <= CLEARLY,
     "One loop moves half the bytes and is {gain:times} as fast as the two calls: that is no gain "
     "to speak of."),
    ("gain", lambda gain: gain > CLEARLY,
     "One loop moves half the bytes, and is {gain:times} as fast as the two calls."),
)
WHY: Rows = (
    ("computing", lambda computing: computing >= 0.4,
     "By the prediction {computing:percent} of its time is computing: our loop takes the sine of "
     "one number after the other, and NumPy takes several at a time."),
    ("carrying", lambda computing: computing < 0.4,
     "By the prediction {computing:percent} of its time is computing that carrying does not hide."),
)


def sine(found: Gain) -> Conclusion:
    """Half the bytes: does it gain, and if not, what takes the time of the one loop?"""
    terms = found.predicted["fused"]
    return choose(
        OF_SINE, WHY, PREDICTED, of=tuple(found.measured.values()), gain=found.gain(),
        computing=terms.arithmetic / terms.seconds, expected=found.expected(), off=found.off(),
    )


STREAMED: Rows = (
    ("faster", lambda gain: gain > CLEARLY,
     "In blocks it took {fast:s}, with the whole matrix of scores {slow:s}: it is {gain:times} as "
     "fast."),
    ("alike", lambda gain: 1 / CLEARLY <= gain <= CLEARLY,
     "In blocks it took {fast:s}, with the whole matrix of scores {slow:s}: no difference that "
     "stands out from the noise."),
    ("slower", lambda gain: gain < 1 / CLEARLY,
     "In blocks it took {fast:s}, with the whole matrix of scores {slow:s}: here the matrix is "
     "faster."),
)
ROOM = "The matrix takes {scores:B}, a block of it {block:B}."


def streamed(found: Gain, scores: int, block: int) -> Conclusion:
    """Attention in blocks beside attention with a matrix of ``scores`` bytes."""
    slow, fast = (found.measured[way] for way in ("materialised", "streamed"))
    return choose(
        STREAMED, ROOM, PREDICTED, of=(slow, fast), slow=slow.median_s, fast=fast.median_s,
        gain=slow.median_s / fast.median_s, scores=scores, block=block,
        expected=found.expected("streamed", "materialised"),
        off=found.off("streamed", "materialised"),
    )


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "10-norm": norm, "10-sine": sine, "10-streamed": streamed,
}  # fmt: skip
