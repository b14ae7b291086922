"""Sentences of lesson 10, chosen from the times of the reader's own loops, fused and not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rooflab.exercises.sentences import Conclusion, Rows, choose
from rooflab.labs.fusion.gain import Gain

CLEARLY = 1.15  # times: a smaller gain is none, with the noise of a laptop
SOME = 0.3  # of a time: what takes less does not explain it
GOOD = 1.3  # times: a prediction that is off by less is a good one

SIX_AND_ONE = (
    "The six calls took {slow:s}, the loop {fast:s}: it is {gain:times} as fast. The bytes alone "
    "say {by_bytes:times}."
)
OF_BYTES: Rows = (
    ("beyond the bytes", lambda gain, by_bytes: gain > CLEARLY * by_bytes, ""),
    ("as the bytes say", lambda gain, by_bytes: by_bytes / CLEARLY <= gain <= CLEARLY * by_bytes,
     "So the bytes explain all of it."),
    ("less than the bytes", lambda gain, by_bytes: gain < by_bytes / CLEARLY,
     "That is less than the bytes say."),
)
NEW_ARRAYS: Rows = (
    ("new arrays cost", lambda slow, same: slow > CLEARLY * same,
     "Writing into existing arrays, the calls took {same:s}: new arrays cost {more:s}."),
    ("new arrays are free", lambda slow, same: slow <= CLEARLY * same,
     "Writing into existing arrays, the calls took {same:s}: new arrays cost nothing that stands "
     "out from the noise."),
)
PREDICTED: Rows = (
    ("", lambda off: off <= GOOD, "The prediction was {expected:times}."),
    ("far", lambda off: off > GOOD,
     "The prediction was {expected:times}, off by {off:times}. Measure once more with nothing else "
     "running."),
)


def norm(found: Gain) -> Conclusion:
    """RMSNorm as six calls and as one loop."""
    return choose(SIX_AND_ONE, OF_BYTES, NEW_ARRAYS, PREDICTED, **_figures(found))


def _figures(found: Gain) -> dict[str, Any]:
    """What the sentences on a chain say of its three ways."""
    taken, terms = found.measured, found.predicted["fused"]
    slow, same, fast = (taken[way].median_s for way in ("temporaries", "buffers", "fused"))
    return {
        "of": tuple(taken.values()), "slow": slow, "same": same, "fast": fast,
        "more": slow - same, "gain": slow / fast, "loss": fast / slow,
        "by_bytes": taken["temporaries"].op.bytes / taken["fused"].op.bytes,
        "computing": terms.arithmetic / terms.seconds,
        "expected": found.expected(), "off": found.off(),
    }  # fmt: skip


OF_SINE: Rows = (
    ("slower", lambda gain: gain < 1 / CLEARLY,
     "One loop moves half the bytes, and takes {loss:times} as long as the two calls."),
    ("no gain", lambda gain: 1 / CLEARLY <= gain <= CLEARLY,
     "One loop moves half the bytes, and is no faster than the two calls."),
    ("gain", lambda gain: gain > CLEARLY,
     "One loop moves half the bytes, and is {gain:times} as fast as the two calls."),
)
WHY: Rows = (
    ("computing", lambda computing: computing >= SOME,
     "By the prediction {computing:percent} of its time is computing that carrying does not hide: "
     "it calls the C library for one sine after the other, where NumPy computes several at "
     "a time."),
    ("carrying", lambda computing: computing < SOME,
     "By the prediction {computing:percent} of its time is computing that carrying does not hide."),
)


def sine(found: Gain) -> Conclusion:
    """Half the bytes: does it gain, and if not, what takes the time of the one loop?"""
    return choose(OF_SINE, WHY, NEW_ARRAYS, PREDICTED, **_figures(found))


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
ROOM = (
    "The matrix takes {scores:B}, a block of it {block:B}. By the prediction {computing:percent} "
    "of the time without the matrix is computing, which streaming does not shorten."
)


def streamed(found: Gain, scores: int, block: int) -> Conclusion:
    """Attention in blocks beside attention with a matrix of ``scores`` bytes."""
    slow, fast = (found.measured[way] for way in ("materialised", "streamed"))
    terms = found.predicted["streamed"]
    return choose(
        STREAMED, ROOM, PREDICTED, of=(slow, fast), slow=slow.median_s, fast=fast.median_s,
        gain=slow.median_s / fast.median_s, scores=scores, block=block,
        computing=terms.arithmetic / terms.seconds,
        expected=found.expected("streamed", "materialised"),
        off=found.off("streamed", "materialised"),
    )


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "10-norm": norm, "10-sine": sine, "10-streamed": streamed,
}  # fmt: skip
