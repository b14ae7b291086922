"""What to distrust about a measurement, in words: every number carries its warnings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.measure.timing import STEPS, Timing

NOISY = 0.10  # interquartile range over median
UNPAID = 0.10  # share of the time and of the bytes at which unpaid writes earn a warning
LEAST_UNPAID = 1 << 20  # bytes; less is over in microseconds
SLOWEST_MEMORY = {"cpu": 5e9, "gpu": 1e11}  # byte/s that any memory of today takes writes at
FEW = 8  # samples below which a shape (two clusters, a drift) means nothing


def caveats(
    timing: Timing,
    *,
    threads: int | None = None,
    cores: int | None = None,
    power: str | None = None,
    throttled: str | None = None,
    unpaid: str | None = None,
) -> tuple[str, ...]:
    """Return the warnings of a measurement, worst first; empty when there is nothing to say.

    ``power`` is "battery", "mains" or None; ``throttled`` a reason given by the device; ``unpaid``
    what :func:`unpaid_writes` says.
    """
    found = (
        below_resolution(timing),
        launch_bound(timing),
        f"throttled: {throttled}" if throttled else None,
        unpaid,
        on_battery(power),
        too_many_threads(threads, cores),
        bimodal(timing.samples),
        slowing_down(timing.samples),
        noisy(timing.samples),
    )
    return tuple(text for text in found if text)


def noisy(samples: Sequence[float]) -> str | None:
    """Warn when the middle half of the samples spreads over more than 10 % of their median."""
    low, middle, high = np.percentile(samples, [25, 50, 75])
    if high - low <= NOISY * middle:
        return None
    share = 100 * (high - low) / middle
    return f"noisy: the middle half of the samples spreads over {share:.0f} % of the median"


def bimodal(samples: Sequence[float]) -> str | None:
    """Warn when the samples fall into two clusters, each of a fifth of them or more.

    The clusters are those of the best split in two (Otsu); they count when their means are five
    pooled standard deviations (Ashman's D) and 10 % of the median apart.
    """
    values = np.sort(np.asarray(samples, dtype=float))
    least = max(3, len(values) // 5)
    if len(values) < FEW:
        return None
    splits = range(least, len(values) - least + 1)
    cut = min(splits, key=lambda i: values[:i].var() * i + values[i:].var() * (len(values) - i))
    low, high = values[:cut], values[cut:]
    apart = high.mean() - low.mean()
    spread = np.sqrt((low.var() + high.var()) / 2)
    if apart < 5 * spread or apart < NOISY * np.median(values):
        return None
    return (
        f"bimodal: {len(low)} samples around {si(low.mean(), 's')}, "
        f"{len(high)} around {si(high.mean(), 's')}"
    )


def unpaid_writes(
    op: Operation, backend: str, seconds: float, passing: float, last_level: float
) -> str | None:
    """Warn when a cold call ends before its results reach memory and it pays for no earlier ones.

    A cache keeps what was written until something pushes it out. In a steady stream of calls, each
    pushes out the results of the one before, and so pays for as many bytes as it writes itself. If
    the caches are emptied between rounds of calls, what they still hold is carried untimed.
    ``seconds`` a call takes; ``passing``: bytes of a whole round of operands, 0 for a steady
    stream; ``last_level``: bytes of the largest cache.
    """
    results = sum(o.nbytes for o in op.operands if o.writes)
    if not passing or not results:
        return None
    kept = results * min(1.0, last_level / passing)  # the last bytes to pass are still there
    late = kept / SLOWEST_MEMORY[backend] > UNPAID * seconds
    if kept < max(LEAST_UNPAID, UNPAID * op.bytes) or not late:
        return None
    return (
        f"its results, {si(results, 'B')}, may stay in the {si(last_level, 'B')} cache: "
        "writing them back to memory is not in this time"
    )


def slowing_down(samples: Sequence[float]) -> str | None:
    """Warn when the last quarter of the samples is entirely slower than the first, by over 10 %."""
    quarter = len(samples) // 4
    if len(samples) < FEW:
        return None
    first, last = samples[:quarter], samples[-quarter:]
    factor = float(np.median(last) / np.median(first))
    if factor <= 1 + NOISY or min(last) <= max(first):
        return None
    return f"slowing down: the last calls took ×{factor:.2f} the first (heat, or another program)"


def below_resolution(timing: Timing) -> str | None:
    """Warn when a sample is shorter than 20 steps of its clock."""
    lasted = timing.median_s * timing.inner
    if lasted >= STEPS * timing.step_s:
        return None
    return (
        f"below the timer's resolution: {si(lasted, 's')} a sample, "
        f"and {timing.clock} moves in steps of {si(timing.step_s, 's')}"
    )


def launch_bound(timing: Timing) -> str | None:
    """Warn when a GPU may have waited for Python in the middle of a sample."""
    if timing.queueing_s <= timing.median_s:
        return None
    return (
        f"launch-bound: Python takes {si(timing.queueing_s, 's')} to queue the work of a sample of "
        f"{si(timing.median_s, 's')}, so the GPU may have waited for it"
    )


def on_battery(power: str | None) -> str | None:
    """Warn on battery, where most laptops lower their clocks."""
    return "on battery: plug in the charger for full speed" if power == "battery" else None


def too_many_threads(threads: int | None, cores: int | None) -> str | None:
    """Warn when threads have to share cores."""
    if threads is None or cores is None or threads <= cores:
        return None
    return f"more threads than cores: {threads} threads share {cores}"
