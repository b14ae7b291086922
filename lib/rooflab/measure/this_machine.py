"""The machine you sit at, as a Machine: measured once, then remembered."""

from __future__ import annotations

import itertools
import math
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import sleep
from typing import Any, Protocol

from rooflab.count import Operation, axpy, dot, dtype, gemm, gemv, ger, scale
from rooflab.count.si import si
from rooflab.measure import store
from rooflab.measure.backend import (
    Backend,
    cupy_installed,
    current_device,
    host_id,
    probe_gpu,
    select,
    use_device,
    wanted_backend,
)
from rooflab.measure.caches import FALLBACK
from rooflab.measure.gpu import l2_flush, time_gpu
from rooflab.measure.kernels import kernel_for
from rooflab.measure.measurement import Measurement
from rooflab.measure.operands import available_bytes, copies, make, needed_bytes
from rooflab.measure.pages import pages
from rooflab.measure.progress import Progress, progress_bar
from rooflab.measure.recording import recording, recordings
from rooflab.measure.roof_kernels import MIXES
from rooflab.measure.roofs import SCHEMA, measure_roofs, thread_count
from rooflab.measure.settings import fewer
from rooflab.measure.threads import thread_limit, with_threads
from rooflab.measure.timing import MEASUREMENT_LOCK, Call, evictor, quickest, time_cold, time_warm
from rooflab.optional import installed
from rooflab.predict import estimate
from rooflab.predict.estimate import mix_of, peak_of, routine, smallest
from rooflab.predict.explain import Explanation
from rooflab.predict.explain import explain as _explain
from rooflab.predict.machine import Machine

LEAST_NEW = 1 << 20  # bytes of new pages a call; fewer take microseconds
ROOFS_SHARE = 0.5  # of the time; the rest calibrates the routines that predict() speaks of


@installed("rooflab.this_machine")
def this_machine(
    backend: str | None = "auto",
    threads: int | None = None,
    *,
    refresh: bool = False,
    progress: Progress = True,
) -> Machine:
    """This machine with its measured roofs and routines; only the first call takes seconds.

    Roofs are stored per host, backend and thread count, in the user's cache directory or where the
    environment variable ROOFLAB_CACHE says. They are measured again, with a warning, when the file
    is damaged or of another version.

    Parameters
    ----------
    backend : {"auto", "cpu", "gpu"}, optional
        "auto" and None: what the environment variable ROOFLAB_BACKEND says, else the CPU if
        ``threads`` are given, else a GPU if one works, else the CPU.
    threads : int, optional
        CPU threads, by default one for every core that this process may use.
    refresh : bool, optional
        True measures again what is stored.
    progress : bool or callable, optional
        True (default) draws a progress bar, False nothing. A function is called with the share
        done, 0 to 1.

    Returns
    -------
    Machine
        Usable wherever a machine of the catalogue is.

    Raises
    ------
    RuntimeError
        For "gpu" where none can be used.

    Examples
    --------
    >>> here = rl.this_machine("cpu", threads=1, progress=False)
    >>> here.threads
    1
    >>> here.peak("fp32") > 0
    True
    """
    chosen, count, host, name, problem = _stored_as(backend, threads)
    with MEASUREMENT_LOCK:
        roofs = None if refresh else store.load(name, problem)
        if roofs is None:
            roofs = {**measured_roofs(chosen, count, progress), "device": chosen.device}
            store.save(name, roofs)
    return _machine(roofs, chosen.device, count, host)


def stored_machine(backend: str | None = "auto", threads: int | None = None) -> Machine | None:
    """This machine if its roofs are stored already, else None: never measures, never warns.

    No GPU is woken, so that a picture opens at once: "auto" is the GPU whose roofs were stored
    last, if CuPy is installed, and the CPU if there is none or ``threads`` are given. Raises
    ValueError or TypeError for a wrong argument.
    """
    wanted, _ = wanted_backend(backend)
    found = None
    if wanted == "gpu" or (wanted == "auto" and threads is None and cupy_installed()):
        found = _stored_gpu()
    if found is None and wanted != "gpu":
        chosen, count, host, name, problem = _stored_as("cpu", threads)
        roofs = _quietly(name, problem)
        found = None if roofs is None else _machine(roofs, chosen.device, count, host)
    return found


def _stored_gpu() -> Machine | None:
    """The GPU of this computer that was measured last."""
    kept = []
    for name in store.names("roofs-*-gpu"):
        roofs = _quietly(name, lambda document: roofs_problem(document, "gpu", None))
        device = "" if roofs is None else roofs.get("device", "")
        # Another computer's file has another name.
        if roofs and device and name == _roofs_name(host_id(device), None):
            kept.append(_machine(roofs, device, None, host_id(device)))
    return max(kept, key=lambda machine: machine.recorded_on or "", default=None)


def _quietly(name: str, problem: Callable[[Any], str]) -> dict[str, Any] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a damaged file is this_machine()'s to announce
        return store.load(name, problem)


def _stored_as(
    backend: str | None, threads: int | None
) -> tuple[Backend, int | None, str, str, Callable[[Any], str]]:
    """Backend, thread count, host, the name under which the roofs are stored, and their check."""
    chosen = select(backend, threads)
    count = None if chosen.is_gpu else thread_count(threads)
    host = host_id(chosen.device if chosen.is_gpu else "")
    name = _roofs_name(host, count)
    return chosen, count, host, name, lambda document: roofs_problem(document, chosen.name, count)


def _roofs_name(host: str, threads: int | None) -> str:
    return f"roofs-{host}-{'gpu' if threads is None else f'{threads}t'}"


def _machine(roofs: Mapping[str, Any], device: str, count: int | None, host: str) -> Machine:
    title = with_threads(device or "this machine", count)
    return Machine.from_roofs(roofs, id=host, name=title, routines=roofs.get("routines"))


def this_machine_async(
    backend: str | None = "auto",
    threads: int | None = None,
    *,
    refresh: bool = False,
    progress: Progress = True,
) -> Future[Machine]:
    """:func:`this_machine` in the background: a Future, whose result() waits for the Machine.

    The progress bar appears where this is called, and a GPU is the one in use here. Keep the
    machine otherwise idle meanwhile: what else runs slows the slices it meets.

    Parameters
    ----------
    backend : {"auto", "cpu", "gpu"}, optional
        As for :func:`this_machine`.
    threads : int, optional
        CPU threads, by default one for every core that this process may use.
    refresh : bool, optional
        True measures again what is stored.
    progress : bool or callable, optional
        As for :func:`this_machine`. No bar is drawn where the roofs are stored already.

    Returns
    -------
    Future
        Of :mod:`concurrent.futures`. ``result()`` returns the Machine, or raises what
        :func:`this_machine` raises.

    Examples
    --------
    >>> roofs = rl.this_machine_async("cpu", threads=1, progress=False)
    >>> roofs.result().threads
    1
    """
    future: Future[Machine] = Future()
    bar = ExitStack()
    with suppress(TypeError, ValueError):  # result() raises it
        if progress is True and not refresh and stored_machine(backend, threads) is not None:
            progress = False  # nothing is measured, and a bar that ends at once stays on the page
    tell = bar.enter_context(progress_bar(progress, "measuring this machine"))
    device = current_device()

    def work() -> None:
        try:
            with bar:
                use_device(device)
                machine = this_machine(backend, threads, refresh=refresh, progress=tell)
        except BaseException as error:  # the caller sees it in result()
            future.set_exception(error)
        else:
            future.set_result(machine)

    future.set_running_or_notify_cancel()
    try:
        threading.Thread(target=work, daemon=True, name="rooflab-roofs").start()
    except RuntimeError:  # no threads here, as with Python in a browser: the caller waits instead
        work()
    return future


def measured_roofs(chosen: Backend, count: int | None, progress: Progress) -> dict[str, Any]:
    """Measure the roofs, and how the library's routines behave under them ("routines")."""
    with progress_bar(progress, "measuring this machine") as tell:
        roofs = measure_roofs(chosen.name, count, lambda share: tell(ROOFS_SHARE * share))
        roofs["routines"] = calibrate(Machine.from_roofs(roofs, id="here", name="here"))
        tell(1.0)
    return roofs


def roofs_problem(roofs: Any, backend: str, threads: int | None) -> str:
    """What is wrong with stored `roofs`, as the end of a sentence; "" if nothing is."""
    if not isinstance(roofs, Mapping) or not isinstance(roofs.get("schema"), int):
        return "it holds no roofs"
    if roofs["schema"] != SCHEMA:
        age = "a newer" if roofs["schema"] > SCHEMA else "an older"
        return f"{age} version of rooflab wrote it"
    if (roofs.get("backend"), roofs.get("threads")) != (backend, threads):
        return "it belongs to other threads or another backend"
    if not isinstance(roofs.get("spill" if backend == "cpu" else "routines"), Mapping):
        return "an older version of rooflab wrote it"
    if not isinstance(roofs.get("measured_on"), str):
        return "it does not say when it was measured"
    try:
        Machine.from_roofs(roofs, id="here", name="here")  # checks the rates
        levels = roofs["bandwidth"]
        sound = "fp32" in roofs["peak"] and "dram" in levels
        sound = sound and all(MIXES.keys() <= mixes.keys() for mixes in levels.values())
        sound = sound and estimate.sound(roofs["routines"], levels)
    except (AttributeError, KeyError, TypeError, ValueError):
        sound = False
    return "" if sound else "its figures are damaged"


# Calibration: the library's routines timed at a few sizes, for the estimate of ``rl.predict``.
#
# At most four sizes a routine and dtype, chosen from this machine's caches so that one lies in each
# level. Nobody reports such sizes, which are neither powers of two nor round numbers. So what is
# fitted is never what is scored, which benchmarks/prediction.py asserts.
#
# On a CPU all points are timed in turn, round after round, and the fastest samples count. Another
# program that is busy for a second then spoils one round, not all samples of a point. As a rule a
# GPU serves this program alone, so there each point is timed once. The overhead of a call on a GPU
# is the time of a kernel with nothing to do: Python's part is hidden while the queue is full.


DTYPES = {"cpu": ("fp32", "fp64"), "gpu": ("fp32", "fp64", "tf32", "bf16", "fp16")}
TINY = 6
PRODUCTS = (22, 90, 710)
THIN = ((1, 907, 907), (5, 907, 907), (21, 907, 907))
GPU_PRODUCTS = (90, 710)  # and one that takes PRODUCT_S, because GPUs differ a hundredfold
GPU_THIN = ((1, 3608, 3608), (21, 3608, 3608), (119, 3608, 3608))
PRODUCT_S, LARGEST_PRODUCT = 2e-3, 8200
GPU_L2, GPU_MEMORY = 1 / 3, 8.0  # times the L2 cache: well inside it, and well beyond it
ROUNDS = 4
SECONDS, SETTLE = 0.008, 0.002  # a point in a round: timed, and run untimed before
GPU_SAMPLES, GPU_SECONDS, GPU_WARM_UP = fewer(10), 0.02, 0.01
DISTURBED, PAUSE = 0.5, 1.0  # of a smaller product's rate; seconds before it is timed again
COPIES = 15  # cold calls in a row, as measure() times them: operands cold, the routine's code not


@dataclass(frozen=True)
class Fit:
    """A routine: the tiny call that gives its overhead, and one operation a point.

    ``levels`` says in which memory level each point's operands lie; empty for matrix products,
    whose points differ by their smallest dimension.
    """

    tiny: Operation
    points: tuple[Operation, ...] = ()
    levels: tuple[str, ...] = ()


def calibrate(m: Machine, dtypes: tuple[str, ...] | None = None) -> dict[str, object]:
    """Return ``Machine.routines`` for ``m``, whose roofs are measured already, on its backend.

    Keys are those of :func:`rooflab.predict.estimate.routine`; an entry is {"overhead_s",
    "cold_overhead_s", "points": [{"dims", "seconds", "efficiency", and "level" or "smallest"}]}.
    What a GPU has no routine or no room for is left out. Raises RuntimeError for a GPU's machine
    without a GPU.
    """
    backend = select(m.backend)
    found: dict[str, object] = {}
    for kind in dtypes or DTYPES[m.backend]:
        # One dtype at a time: the operands of all would fill a small machine.
        fits = _fits(m, kind)
        if backend.is_gpu:
            warm, cold = _timed_on_gpu(fits, backend)
        else:
            warm, cold = _timed(fits, m.threads)
            _time_again(m, fits, warm)
        for fit in fits:
            if fit.tiny not in warm:
                continue
            found[routine((*fit.points, fit.tiny)[0], m.backend)] = {
                "overhead_s": warm[fit.tiny],
                "cold_overhead_s": cold[fit.tiny],
                "points": [
                    _point(m, op, level, warm[op], warm[fit.tiny])
                    for op, level in itertools.zip_longest(fit.points, fit.levels)
                    if op in warm
                ],
            }
    return found


def _fits(m: Machine, kind: str) -> list[Fit]:
    product = gemm(TINY, TINY, TINY, kind)
    square, thin = _products(m, product)
    products = [
        Fit(product, tuple(gemm(n, n, n, kind) for n in square)),
        Fit(product, tuple(gemm(*shape, dtype=kind) for shape in thin)),
    ]
    if kind == "tf32":  # a mode of products, that no other routine has
        return products if m.has_peak(kind) else []
    itemsize = dtype(kind).bits / 8
    levels, sizes = zip(*_working_sets(m), strict=True)
    return [
        Fit(
            axpy(TINY, kind),
            tuple(axpy(_uneven(nbytes / 2 / itemsize), kind) for nbytes in sizes),
            levels,
        ),
        Fit(
            gemv(TINY, TINY, kind),
            tuple(gemv(n, n, kind) for n in (_uneven(math.sqrt(b / itemsize)) for b in sizes)),
            levels,
        ),
        *(products if m.has_peak(kind) else ()),
        *(Fit(tiny) for tiny in (dot(TINY, kind), scale(TINY, kind), ger(TINY, TINY, kind))),
    ]


def _products(
    m: Machine, op: Operation
) -> tuple[tuple[int, ...], tuple[tuple[int, int, int], ...]]:
    """Sizes of square products and shapes of thin ones for the dtype of ``op``."""
    if m.backend != "gpu":
        return PRODUCTS, THIN
    if not m.has_peak(op.compute_dtype):
        return (), ()
    large = _uneven(min((PRODUCT_S * peak_of(op, m)[0] / 2) ** (1 / 3), LARGEST_PRODUCT))
    return (*GPU_PRODUCTS, *([large] if large > 2 * GPU_PRODUCTS[-1] else [])), GPU_THIN


def _uneven(size: float) -> int:
    """A size near ``size`` that no one reports: 8 more than a multiple of 16."""
    return int(size) // 16 * 16 + 8


def _working_sets(m: Machine) -> list[tuple[str, float]]:
    """One working set in each level from l2 on: between the level below and its own size."""
    if m.backend == "gpu":
        last = m.capacities["l2"]
        beyond = min(GPU_MEMORY * last, m.capacities.get("dram", math.inf) / 16)
        return [("l2", GPU_L2 * last), ("dram", beyond)]
    names = [name for name in m.levels if name != "dram"]
    sizes = [m.capacities[name] for name in names]
    inside = [
        (name, math.sqrt(low * high))
        for name, low, high in zip(names[1:], sizes[:-1], sizes[1:], strict=True)
    ]
    last = sizes[-1] if sizes else FALLBACK
    return [*inside[-2:], ("dram", min(2.6 * last, m.capacities.get("dram", math.inf) / 8))]


def _point(
    m: Machine, op: Operation, level: str | None, seconds: float, overhead: float
) -> dict[str, object]:
    """A fitting size with its efficiency: the share of the roof that the work itself reached."""
    where: dict[str, object]
    if level is None:
        at_the_roof, where = op.flops / peak_of(op, m)[0], {"smallest": smallest(op, m.backend)}
    else:
        bandwidth = m.bandwidth(level, mix_of(op, m, level))
        at_the_roof, where = op.bytes / bandwidth, {"level": level}
    working = max(seconds - overhead, 0.1 * seconds)
    share = at_the_roof / working
    return {"dims": dict(op.dims), "seconds": seconds, "efficiency": share, **where}


def _timed(
    fits: list[Fit], threads: int | None
) -> tuple[dict[Operation, float], dict[Operation, float]]:
    """Seconds of one call of every operation, warm, and of the tiny ones cold as well."""
    calls = {op: _bound(op)[0] for fit in fits for op in (fit.tiny, *fit.points)}
    tiny = {fit.tiny: _bound(fit.tiny, COPIES) for fit in fits}
    evict = evictor(0, threads or 1)
    warm: dict[Operation, list[float]] = {op: [] for op in calls}
    cold: dict[Operation, list[float]] = {op: [] for op in tiny}
    with thread_limit(threads):
        for _ in range(ROUNDS):
            for op, call in calls.items():
                warm[op] += time_warm(call, samples=4, seconds=SECONDS, settle_s=SETTLE).samples
            for op, copied in tiny.items():
                timing = time_cold(copied, evict, samples=COPIES, settle_s=0)
                cold[op].append(median(timing.samples))
    fastest = {op: quickest(each) for op, each in warm.items()}
    return fastest, {op: quickest(each) for op, each in cold.items()}


def _time_again(m: Machine, fits: list[Fit], warm: dict[Operation, float]) -> None:
    """Time products again that reach far less of the peak than a smaller one: something ran."""
    squares = [fit for fit in fits if fit.tiny.name == "gemm" and not fit.levels]
    for _ in range(ROUNDS):
        slow = []
        for fit in squares:
            best = 0.0
            for op in sorted(fit.points, key=lambda one: smallest(one, m.backend)):
                rate = op.flops / warm[op]
                slow += [op] if rate < DISTURBED * best else []
                best = max(best, rate)
        if not slow:
            return
        sleep(PAUSE)
        again, _ = _timed([Fit(op) for op in slow], m.threads)
        warm |= {op: min(warm[op], again[op]) for op in slow}


def _timed_on_gpu(
    fits: list[Fit], backend: Backend
) -> tuple[dict[Operation, float], dict[Operation, float]]:
    """As :func:`_timed`, without operations that this GPU cannot do."""
    xp, flush = backend.xp, l2_flush(backend.xp)
    timed = partial(time_gpu, xp, samples=GPU_SAMPLES, seconds=GPU_SECONDS, warm_up_s=GPU_WARM_UP)
    tiny = {fit.tiny for fit in fits}
    warm: dict[Operation, float] = {}
    cold: dict[Operation, float] = {}
    for op in dict.fromkeys(op for fit in fits for op in (fit.tiny, *fit.points)):
        if needed_bytes(op, backend) > available_bytes(backend) / 2:
            continue
        try:
            call = kernel_for(op, backend).bind(make(op, backend))
            warm[op] = quickest(timed(call, cache="warm").samples)
            if op in tiny:
                cold[op] = timed(call, cache="cold", flush=flush).median_s
        except (ValueError, MemoryError, RuntimeError):  # CuPy's errors are RuntimeErrors
            warm.pop(op, None)
    return warm, cold


def _bound(op: Operation, count: int = 1) -> list[Call]:
    """Calls of ``op`` on ``count`` sets of operands."""
    backend = select("cpu")
    kernel = kernel_for(op, backend)
    return [kernel.bind(each) for each in copies(make(op, backend), count)]


def explain(
    measured: Measurement | Operation,
    machine: Machine | str | None = None,
    seconds: float | None = None,
    *,
    cache: str | None = None,
) -> Explanation:
    """Explain a Measurement, or an Operation that took ``seconds`` on ``machine``.

    Parameters
    ----------
    measured : Measurement or Operation
        What took the time.
    machine : Machine or str, optional
        A machine, or a name from the catalogue or the recordings. By default a Measurement of this
        computer is explained with this computer's measured roofs, a recorded one with those of its
        recording. An Operation needs one.
    seconds : float, optional
        What a call took, in seconds; a Measurement knows its median.
    cache : {"cold", "warm"}, optional
        A Measurement knows its own, an Operation is taken as cold.

    Returns
    -------
    Explanation
        The steps from the bound to ``seconds``, whose product is their ratio. "new pages" is one
        where a Measurement of this computer counted them; what a page costs is measured once.

    Examples
    --------
    >>> why = rl.explain(rl.axpy(10**9), "h200-sxm", seconds=2.8e-3)
    >>> why.limit, round(why.share, 3)
    ('memory', 0.893)
    >>> why.factors[0].name, round(why.factors[0].factor, 2)
    ('measured roof', 1.19)
    """
    if machine is None and isinstance(measured, Measurement):
        machine = _home(measured)
    elif isinstance(machine, str) and machine in recordings():
        machine = recording(machine).machine
    return _explain(measured, machine, seconds, cache=cache, pages=_new_pages(measured, machine))


def _new_pages(measured: object, machine: object) -> tuple[float, str] | None:
    """Seconds of a call's new pages, timed and explained here, and a note; None for few pages."""
    if not isinstance(measured, Measurement) or not isinstance(machine, Machine):
        return None
    size = measured.environment.get("new_bytes", 0)
    if size < LEAST_NEW or not measured.machine == machine.id == host_id():
        return None
    seconds, faults = size * pages().fresh, measured.environment["page_faults"]
    what = f"{faults:.0f} page faults a call: {si(size, 'B')} of new pages"
    return seconds, f"{what}, {si(seconds, 's')}"


class Timed(Protocol):
    """What says where it was timed: a measurement, a decode run."""

    @property
    def machine(self) -> str: ...
    @property
    def backend(self) -> str: ...
    @property
    def threads(self) -> int | None: ...


def machine_of(measurements: Sequence[Timed]) -> Machine | None:
    """The machine that ``measurements`` were taken on, if its roofs are stored or recorded.

    None when they come from several machines or thread counts, or when nothing is known of it.
    Nothing is measured.
    """
    homes_of = {(m.machine, m.backend, m.threads) for m in measurements}
    if len(homes_of) != 1:
        return None
    id, backend, threads = homes_of.pop()
    try:
        here = stored_machine(backend, threads)
    except (ValueError, RuntimeError):  # a recorded GPU's measurements, on a computer without one
        here = None
    kept = (machine for name in recordings() for machine in recording(name).machines)
    for known in (here, *kept):
        if known is not None and known.id == id and known.threads in (None, threads):
            return known
    return None


def _home(measured: Measurement) -> Machine | None:
    if measured.machine in recordings():
        return recording(measured.machine).at(measured.threads)
    on_gpu = measured.backend == "gpu"
    gone = on_gpu and probe_gpu()[0] is None
    if gone or measured.machine != host_id(select("gpu").device if on_gpu else ""):
        return None  # of another computer: perhaps the catalogue knows it
    return this_machine(measured.backend, measured.threads)
