"""How a GPU timing goes wrong, and how the log shows it."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from rooflab.exercises.compare import close, same
from rooflab.exercises.exercise import Case, Observation
from rooflab.exercises.timing import (
    ARITHMETIC,
    derived,
    happened,
    operation,
    per_launch,
    regions,
    seconds_of,
)

QUEUE = 10  # launches between two events
TENS = (*range(-15, 0), *range(1, 16))  # powers of ten that turn a unit into another
SOME = 0.10  # a share large enough to move the result beyond the tolerance

Shows = Callable[[Case, Observation], bool]


def not_synchronised(case: Case, seen: Observation) -> bool:
    """An elapsed time was asked for before the device had reached the event."""
    return happened(seen, "not ready")


def host_timer(case: Case, seen: Observation) -> bool:
    """A number came out although no elapsed time was ever read from events."""
    return "value" in seen and not happened(seen, "elapsed")


def milliseconds(case: Case, seen: Observation) -> bool:
    """The number is a thousand times what the learner's own events say."""
    own, mine = per_launch(seen), seconds_of(seen)
    return own is not None and mine is not None and close(own * 1e3, mine, SOME)


def not_divided(case: Case, seen: Observation) -> bool:
    """The number is that of a whole queue of the operation."""
    mine, op = seconds_of(seen), operation(case)
    return mine is not None and any(
        len(region.of(op)) > 1 and close(region.seconds, mine, SOME) for region in regions(seen)
    )


def divided_again(case: Case, seen: Observation) -> bool:
    """The number is that of a launch, divided by ten or by the length of the queue."""
    own, mine = per_launch(seen), seconds_of(seen)
    if own is None or mine is None:
        return False
    lengths = {QUEUE, *(len(region.kernels) for region in regions(seen))} - {0, 1}
    return any(close(own / length, mine, SOME) for length in lengths)


def added_up(case: Case, seen: Observation) -> bool:
    """The number is the sum of several samples."""
    mine, found = seconds_of(seen), [region for region in regions(seen) if region.kernels]
    total = sum(region.seconds / len(region.kernels) for region in found)
    return mine is not None and len(found) > 1 and close(total, mine, SOME)


def beside_the_work(case: Case, seen: Observation) -> bool:
    """Between the events whose time was read nothing was launched."""
    found = regions(seen)
    return bool(found) and not any(region.kernels for region in found)


def exchanged_events(case: Case, seen: Observation) -> bool:
    """A time was read from the later event to the earlier one."""
    return any(region.seconds < 0 for region in regions(seen))


def power_of_ten(case: Case, seen: Observation) -> bool:
    """The seconds, or what follows from them, are off by a power of ten."""
    own, mine, value = per_launch(seen), seconds_of(seen), seen.get("value")
    if own is None or not mine:
        return False
    pairs = zip([own, *derived(case, mine)], value if isinstance(value, list) else [value])
    return any(
        same(right * 10.0**power, given, ARITHMETIC) for right, given in pairs for power in TENS
    )


def new_array(case: Case, seen: Observation) -> bool:
    """A launch between the events put its result into an array that was made there."""
    return any(region.made and region.of(operation(case)) for region in regions(seen))


def other_work(case: Case, seen: Observation) -> bool:
    """Something else ran between the events: a flush, a second kernel."""
    op = operation(case)
    return any(len(region.of(op)) < len(region.kernels) for region in regions(seen))


def no_warm_up(case: Case, seen: Observation) -> bool:
    """The first use of a kernel, with its compilation or library handle, is in the number.

    A minimum or a median over samples of which only the first was cold is not moved by it.
    """
    mine, found = seconds_of(seen), [region for region in regions(seen) if region.kernels]
    cold = [region for region in found if any(kernel["setup"] for kernel in region.kernels)]
    others = [region.seconds / len(region.kernels) for region in found if region not in cold]
    return bool(cold) and mine is not None and mine > (1 + SOME) * max(others, default=0.0)


def warm_cache(case: Case, seen: Observation) -> bool:
    """The operands were still in L2."""
    op = operation(case)
    read = [k["l2_bytes"] / k["bytes"] for region in regions(seen) for k in region.of(op)]
    return bool(read) and sum(read) / len(read) > SOME


def written_flush(case: Case, seen: Observation) -> bool:
    """The operation had to write back what a flush had left dirty in L2."""
    op = operation(case)
    back = [k["written_back"] / k["bytes"] for region in regions(seen) for k in region.of(op)]
    return bool(back) and sum(back) / len(back) > SOME


def idle_gpu(case: Case, seen: Observation) -> bool:
    """The device waited for Python between the events."""
    return any(
        region.kernels
        and region.seconds > (1 + SOME) * sum(k["end"] - k["begin"] for k in region.kernels)
        for region in regions(seen)
    )


def few_launches(case: Case, seen: Observation) -> bool:
    """No ten launches were ever queued between two events."""
    return max((len(region.of(operation(case))) for region in regions(seen)), default=0) < QUEUE


def waited_inside(case: Case, seen: Observation) -> bool:
    """Python waited for the device between two events, and then queued more."""
    return any(region.waits > 1 and len(region.kernels) > 1 for region in regions(seen))


def small_flush(case: Case, seen: Observation) -> bool:
    """What ran before most starts carried far less than four times L2."""
    carried = [region.before for region in regions(seen)]
    return bool(carried) and statistics.median(carried) < 3.5 * case["device"]["l2_bytes"]


def part(number: int, wrong: Callable[[Case, float], float]) -> Shows:
    """The learner's value ``number`` is what ``wrong`` makes of the learner's own seconds."""

    def shows(case: Case, seen: Observation) -> bool:
        value, seconds = seen.get("value"), seconds_of(seen)
        if not isinstance(value, list) or len(value) <= number or not seconds:
            return False
        mine = value[number]
        return isinstance(mine, (int, float)) and close(wrong(case, seconds), mine, 0.01)

    return shows
