"""Sentences of lesson 12, chosen from products that the reader's own core computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.exercises.sentences import Conclusion, Rows, choose
from rooflab.labs.sparse.gain import GemvGain

CLEARLY = 1.1  # times: a smaller gain is none, with the noise of a laptop
GOOD = 1.3  # times: a prediction that is off by less is a good one
NAMES = {"fp32": "fp32", "int8": "int8", "int4": "int4", "2:4": "two of four"}

GAINED: Rows = (
    ("faster", lambda gain: gain > CLEARLY,
     "With {slow} weights the product took {before:s}, with {fast} {after:s}: it is {gain:times} "
     "as fast, for {fewer:times} fewer bytes."),
    ("alike", lambda gain: 1 / CLEARLY <= gain <= CLEARLY,
     "With {slow} weights the product took {before:s}, with {fast} {after:s}: no gain that stands "
     "out from the noise, for {fewer:times} fewer bytes."),
    ("slower", lambda gain: gain < 1 / CLEARLY,
     "With {slow} weights the product took {before:s}, with {fast} {after:s}: it is slower, though "
     "the bytes are {fewer:times} fewer."),
)  # fmt: skip
WHY: Rows = (
    ("unpacking", lambda carrying, instructions, whole:
     instructions > max(carrying, CLEARLY * whole),
     "Its bytes take {carrying:s} by the prediction, and its instructions {instructions:s}, more "
     "than the {whole:s} of {slow}: unpacking is what it waits for."),
    ("instructions", lambda carrying, instructions, whole:
     carrying < instructions <= CLEARLY * whole,
     "Its bytes take {carrying:s} by the prediction, and its instructions {instructions:s}: they "
     "are what it waits for, as many as for {slow}."),
    ("bytes", lambda carrying, instructions: instructions <= carrying,
     "By the prediction its bytes take {carrying:s} and its instructions {instructions:s}: memory "
     "is still what it waits for."),
)  # fmt: skip
PREDICTED: Rows = (
    ("far", lambda off: off > GOOD,
     "The predicted gain was {expected:times}, off by {off:times}. Measure once more with nothing "
     "else running."),
    ("none", lambda off, expected: off <= GOOD and expected < CLEARLY, "No gain was predicted."),
    ("", lambda off, expected: off <= GOOD and expected >= CLEARLY,
     "The predicted gain was {expected:times}."),
)  # fmt: skip
SLOW: Rows = (
    ("both slow", lambda longer: longer > GOOD,
     "Both took {longer:times} as long as predicted, or more; the gain is what counts."),
)  # fmt: skip


def packed(seen: GemvGain, fast: str, slow: str) -> Conclusion:
    """The product of one vector with weights in two formats."""
    before, after = seen.measured[slow], seen.measured[fast]
    limits = seen.predicted[fast]
    return choose(
        GAINED, WHY, PREDICTED, SLOW, of=(before, after), slow=NAMES[slow], fast=NAMES[fast],
        before=before.median_s, after=after.median_s, gain=seen.gain(fast, slow),
        fewer=before.op.bytes / after.op.bytes, carrying=limits.bytes,
        instructions=limits.instructions, whole=seen.predicted[slow].instructions,
        expected=seen.expected(fast, slow), off=seen.off(fast, slow),
        longer=min(seen.measured[k].median_s / seen.predicted[k].seconds for k in (fast, slow)),
    )  # fmt: skip


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "12-int8": packed, "12-int4": packed, "12-sparse": packed,
}  # fmt: skip
