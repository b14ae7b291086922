"""``rl.measure``: how long does an operation really take here?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from rooflab.count.operation import Operation, as_operation
from rooflab.count.si import si
from rooflab.count.validation import amount, size, unknown
from rooflab.measure import gpu
from rooflab.measure.backend import (
    Backend,
    available_cores,
    environment,
    host_id,
    power,
    select,
    throttle_count,
)
from rooflab.measure.caches import last_level_bytes
from rooflab.measure.kernels import Kernel, kernel_for
from rooflab.measure.measurement import Measurement
from rooflab.measure.operands import available_bytes, copies, make, require, require_memory
from rooflab.measure.roofs import thread_count
from rooflab.measure.threads import thread_limit, unlimited
from rooflab.measure.timing import (
    MEASUREMENT_LOCK,
    SAMPLES,
    SECONDS,
    STEPS,
    Call,
    Timing,
    copies_needed,
    evictor,
    flows,
    time_cold,
    time_warm,
)
from rooflab.measure.verify import prepare, verdict
from rooflab.optional import installed
from rooflab.predict.estimate import CACHES

# What to distrust about a measurement, in words: every number carries its warnings.


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
        f"more threads than cores: {threads} threads share {cores}"
        if threads is not None and cores is not None and threads > cores
        else None,
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
    """Warn when a cold call is timed without carrying results to memory, its own or earlier ones.

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


MOST_THREADS = 8  # times the cores: enough to see what too many threads do


@installed("rooflab.measure")
def measure(
    op: Operation,
    run: Callable[..., Any] | None = None,
    setup: Callable[[], Sequence[Any]] | None = None,
    *,
    backend: str | None = "auto",
    cache: str = "cold",
    threads: int | None = None,
    samples: int = SAMPLES,
    seconds: float = SECONDS,
) -> Measurement:
    """Time ``op`` on this machine and return the Measurement.

    By default the BLAS of scipy runs, on a GPU cuBLAS through CuPy. A measurement waits until no
    other one (roofs in the background) is running.

    Parameters
    ----------
    op : Operation
        What to time. On a CPU its matrices are column-major, but the one that a batch of GEMVs
        shares lies by rows. On a GPU all are row-major.
    run : callable, optional
        Your own way of computing ``op``, called as ``run(*operands)`` with the operands in the
        order of ``op.operands``. It writes the output operand or returns the result, and is checked
        once before it is timed. axpy and scale may use any α.
    setup : callable, optional
        Returns the operands, if they are to hold your own numbers. By default rooflab fills them.
    backend : {"auto", "cpu", "gpu"}, optional
        "auto" and None: what the environment variable ROOFLAB_BACKEND says, else the CPU if
        ``threads`` are given, else a GPU if one works, else the CPU.
    cache : {"cold", "warm"}, optional
        "cold": no operand is in a cache at the start of a call. "warm": the routine is called over
        and over on the same operands.
    threads : int, optional
        CPU threads, by default one for every core that this process may use. A GPU ignores it.
    samples : int, optional
        How many samples to take: 20 by default, 5 where ROOFLAB_QUICK is set.
    seconds : float, optional
        Time for the samples, 0.5 s by default, a quarter of it where ROOFLAB_QUICK is set. Where
        it is short, fewer samples are taken, but three at least, or two with ROOFLAB_QUICK.

    Returns
    -------
    Measurement
        The samples, what they were taken of, and what to distrust about them.

    Raises
    ------
    OperandsTooLarge
        When the operands do not fit memory, before they are allocated. It is both a ValueError and
        a MemoryError.
    ValueError
        When a dtype has no routine here, and when ``run`` fails or is wrong.
    RuntimeError
        For "gpu" where none can be used.

    Examples
    --------
    >>> m = rl.measure(rl.axpy(4096), backend="cpu", cache="warm", threads=1, samples=3)
    >>> m.op.flops, len(m.samples)
    (8192, 3)
    >>> m.flop_per_s > 0
    True

    A way of your own, here NumPy's:

    >>> def numpy_axpy(x, y):
    ...     y += 2.0 * x
    >>> m = rl.measure(rl.axpy(4096), numpy_axpy, backend="cpu", cache="warm", threads=1, samples=3)
    >>> m.environment["kernel"]
    'run: numpy_axpy'
    """
    _check_arguments(op, setup, cache, samples, seconds)
    chosen = select(backend, threads)
    kernel = kernel_for(op, chosen, run)
    count = None if chosen.is_gpu else thread_count(threads, MOST_THREADS)
    require_memory(op, chosen, given=setup is not None, in_turn=run is None)
    operands = make(op, chosen) if setup is None else require(op, _set_up(setup), chosen)
    with MEASUREMENT_LOCK, thread_limit(count):
        doubts = [_check_once(op, chosen, kernel, operands)]
        heat = throttle_count()
        timing, said, facts = _time(op, chosen, kernel, operands, cache, count, samples, seconds)
        surroundings = environment(chosen)
    if count is not None and heat is not None and (throttle_count() or 0) > heat:
        said["throttled"] = "the processor slowed down because of heat"
    doubts += [unlimited()] if count is not None and run is None else []
    cores = None if count is None else available_cores()
    found = caveats(timing, threads=count, cores=cores, power=power(), **said)
    details = {"kernel": kernel.name, "clock": timing.clock, "calls_per_sample": timing.inner}
    return Measurement(
        op, host_id(chosen.device if chosen.is_gpu else ""), chosen.name, cache, count,
        timing.samples, (*filter(None, doubts), *found),
        {**surroundings, **details, **timing.pages, **facts},
    )  # fmt: skip


def _check_arguments(
    op: Operation, setup: object, cache: str, samples: int, seconds: float
) -> None:
    as_operation("op", op)
    if setup is not None and not callable(setup):
        raise TypeError(f"setup={setup!r} must be a function that returns the operands")
    if cache not in CACHES:
        raise unknown("cache", cache, CACHES)
    size("samples", samples)
    amount("seconds", seconds, "a positive number of seconds", most=math.inf)  # as all samples take


def _set_up(setup: Callable[[], Any]) -> Any:
    try:
        return setup()
    except Exception as error:
        raise ValueError(f"setup() raised {type(error).__name__}: {error}") from error


def _check_once(
    op: Operation, backend: Backend, kernel: Kernel, operands: Sequence[Any]
) -> str | None:
    """Call the kernel once and compare; return a warning when the result cannot be checked."""
    before = prepare(op, operands)
    with _blamed(op, kernel):
        returned = kernel.bind(operands)()
        backend.synchronize()  # errors of a GPU kernel show here, not at its launch
    return verdict(op, backend, operands, before, returned if kernel.returns else None)


@contextmanager
def _blamed(op: Operation, kernel: Kernel) -> Iterator[None]:
    """Name the kernel in whatever it raises."""
    try:
        yield
    except Exception as error:
        names = ", ".join(o.name for o in op.operands)
        what = f"run({names})" if kernel.name.startswith("run: ") else f"{kernel.name} ({names})"
        raise ValueError(f"{what} raised {type(error).__name__}: {error}") from error


def _time(
    op: Operation, backend: Backend, kernel: Kernel, operands: Sequence[Any], cache: str,
    threads: int | None, samples: int, seconds: float,
) -> tuple[Timing, dict[str, str | None], dict[str, str]]:  # fmt: skip
    """Return the timing, the ``throttled`` and ``unpaid`` of its caveats, and facts to keep."""
    call = kernel.bind(operands)
    held = sum(array.nbytes for array in operands)
    if backend.is_gpu:
        with _blamed(op, kernel):
            return _time_gpu(op, backend, call, held, cache, samples, seconds)
    if cache == "warm":
        with _blamed(op, kernel):
            return time_warm(call, samples=samples, seconds=seconds), {}, {}
    count = copies_needed(held, available_bytes(backend) // 4, calls=samples)
    calls = [kernel.bind(each) for each in copies(operands, count)]
    evict, level = evictor(count * held, threads or 1), last_level_bytes()
    with _blamed(op, kernel):
        timing = time_cold(calls, evict, samples=samples, seconds=seconds)
    passing = 0 if flows(count * held, level) else count * held
    return timing, {"unpaid": unpaid_writes(op, "cpu", timing.median_s, passing, level)}, {}


def _time_gpu(
    op: Operation, backend: Backend, call: Call, held: int, cache: str, samples: int, seconds: float
) -> tuple[Timing, dict[str, str | None], dict[str, str]]:
    """As :func:`_time`, with what slowed the GPU meanwhile, and its clock."""
    xp = backend.xp
    watch = gpu.ClockWatch(xp.cuda.Device().pci_bus_id)
    timing = gpu.time_gpu(
        xp, call, cache=cache, samples=samples, seconds=seconds, while_busy=watch.look
    )
    passing = held if cache == "cold" else 0  # L2 is emptied before every call
    unpaid = unpaid_writes(op, "gpu", timing.median_s, passing, gpu.l2_bytes(xp))
    facts = {"sm_clock": watch.clock} if watch.clock else {}
    return timing, {"throttled": watch.reasons(), "unpaid": unpaid}, facts
