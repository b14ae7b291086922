"""Sentences of lesson 11, chosen from products that the reader's own core computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.exercises.sentences import Conclusion, Rows, choose
from rooflab.measure.measurement import Measurement

NEAR = 1.25  # times: how far from a half a noisy laptop may be

HALVED: Rows = (
    ("half", lambda gain: 2 / NEAR <= gain <= 2 * NEAR,
     "In fp64 the product took {wide:s}, in fp32 {narrow:s}: it is {gain:times} as fast. A "
     "register holds twice as many numbers of half the size, and each travels in half the bytes."),
    ("more", lambda gain: gain > 2 * NEAR,
     "In fp64 the product took {wide:s}, in fp32 {narrow:s}: it is {gain:times} as fast, more than "
     "the 2 times that numbers of half the size explain."),
    ("less", lambda gain: gain < 2 / NEAR,
     "In fp64 the product took {wide:s}, in fp32 {narrow:s}: it is {gain:times} as fast. Numbers "
     "of half the size would allow 2 times."),
)  # fmt: skip


def half(wide: Measurement, narrow: Measurement) -> Conclusion:
    """The same product in fp64 and in fp32."""
    return choose(
        HALVED, of=(wide, narrow), wide=wide.median_s, narrow=narrow.median_s,
        gain=wide.median_s / narrow.median_s,
    )  # fmt: skip


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {"11-half": half}
