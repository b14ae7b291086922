"""``rl.record``: measure this machine once, thoroughly, and keep it as a recording.

Roofs, the free-lunch curve, then AXPY, GEMV and GEMM over N × dtype × cold/warm × threads. Every
finished step goes to a journal beside the target; a run that is killed is taken up where it was.
"""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

from rooflab.count.blas import axpy, gemm, gemv
from rooflab.count.dtypes import DTypeLike
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.measure.atomic_file import replace_file
from rooflab.measure.backend import Backend, available_cores, environment, now, select
from rooflab.measure.measure import NOISY
from rooflab.measure.measurement import Measurement
from rooflab.measure.operands import SPARE, available_bytes, needed_bytes
from rooflab.measure.progress import Progress, Tell, progress_bar
from rooflab.measure.recording import Recording, folders, published, text, with_machine
from rooflab.measure.roofs import thread_count
from rooflab.measure.settings import expanded
from rooflab.measure.this_machine import measured_roofs
from rooflab.measure.threads import with_threads
from rooflab.measure.timing import SECONDS
from rooflab.optional import installed
from rooflab.predict.estimate import CACHES, predict
from rooflab.predict.machine import Machine

# A journal beside a recording in the making: a step that is finished is never lost.
#
# One JSON object a line. A line is written with a single call, and synced to disk before the next
# step starts. A process that is killed leaves at most one torn line, at the end; the next run drops
# it and measures that step again.


VERSION = 1


class RecordingStopped(RuntimeError):
    """The time for this run is over; what is finished is in the journal."""


class RecordJournal:
    """Finished steps of one recording: ``journal[key]`` is what a step found.

    ``path``: the file; ``campaign``: what is being recorded and where, as plain JSON data. A file
    that holds another campaign raises ValueError, unless ``restart`` throws it away. After
    ``stop_after`` seconds :meth:`once` begins no further step.
    """

    def __init__(
        self, path: Path, campaign: Mapping[str, Any], *, restart: bool = False,
        stop_after: float = math.inf,
    ) -> None:  # fmt: skip
        self.path, self._stop_after = path, stop_after
        self._latest = time.monotonic() + stop_after
        self._found: dict[str, Any] = {}
        header = {"journal": VERSION, "campaign": dict(campaign)}
        kept = [] if restart else self._read()
        if len(kept) > 1:  # a header alone holds nothing that could be lost
            self._same(kept[0], header)
            self._found = {line["step"]: line["found"] for line in kept[1:]}
        self.resumed = len(self._found)
        # Written anew on every start: a torn line at the end must not swallow the next one.
        replace_file(path, "".join(map(_line, [header, *_lines(self._found)])))
        self._file = path.open("a", encoding="utf-8", newline="\n")

    def __contains__(self, step: str) -> bool:
        return step in self._found

    def __getitem__(self, step: str) -> Any:
        return self._found[step]

    def once(self, step: str, work: Callable[[], Any]) -> Any:
        """Return what ``step`` found, doing its ``work`` unless it is kept already.

        Raises RecordingStopped instead of beginning a step when the time is over.
        """
        if step not in self:
            if time.monotonic() >= self._latest:
                raise RecordingStopped(
                    f"stopped after {self._stop_after:.0f} s with {len(self._found)} steps kept in "
                    f"{self.path}; record again with the same options to go on from there"
                )
            self.add(step, work())
        return self[step]

    def add(self, step: str, found: Any) -> None:
        """Keep what a finished ``step`` found (plain JSON data); on disk when this returns."""
        self._file.write(_line({"step": step, "found": found}))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._found[step] = found

    def __enter__(self) -> RecordJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, which stays for the next run."""
        self._file.close()

    def remove(self) -> None:
        """Throw the journal away: the recording is written."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _read(self) -> list[dict[str, Any]]:
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return []
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        found = []
        for number, line in enumerate(lines, start=1):
            try:
                found.append(_parsed(line, header=number == 1))
            except (ValueError, TypeError, KeyError, RecursionError):
                if number == len(lines):
                    break  # torn by the kill: this step is measured again
                raise ValueError(
                    f"{self.path}: line {number} is damaged, so the recording in the making cannot "
                    "be resumed; delete the file, or record with restart=True (--restart)"
                ) from None
        return found

    def _same(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        if old.get("journal") != VERSION or not isinstance(old.get("campaign"), dict):
            raise ValueError(
                f"{self.path}: not a journal that this version of rooflab can resume; delete the "
                "file, or record with restart=True (--restart)"
            )
        differing = [
            key for key, value in new["campaign"].items() if old["campaign"].get(key) != value
        ]
        if differing:
            key = differing[0]
            raise ValueError(
                f"{self.path}: a recording in the making has {key}={old['campaign'].get(key)!r}, "
                f"not {new['campaign'][key]!r}; finish that one with the same options and on the "
                "same machine, or record with restart=True (--restart) to throw it away"
            )


def _parsed(line: str, *, header: bool) -> dict[str, Any]:
    entry = json.loads(line)
    if not isinstance(entry, dict):
        raise TypeError("a line of something else")
    if not header:
        entry["step"], entry["found"]  # raises for one too
    return entry


def _lines(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return ({"step": step, "found": what} for step, what in found.items())


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"


# What a recording measures: the three operations over N × dtype × cache × threads, within limits.
#
# What would take too long, or does not fit memory, is left out. It is named with the reason: a gap
# in a recording must be visible.


DTYPES = {"cpu": ("fp32", "fp64"), "gpu": ("fp32", "fp64", "tf32", "bf16", "fp16")}
# Powers of two: the sizes of AXPY are the element counts of the matrices of GEMV and GEMM too.
LARGEST = {"cpu": {"axpy": 26, "gemv": 13, "gemm": 12}, "gpu": {"axpy": 30, "gemv": 15, "gemm": 14}}
SMALLEST = {"axpy": 8, "gemv": 6, "gemm": 4}
STRIDE = {"axpy": 2, "gemv": 1, "gemm": 1}
FIXED_S = 0.35  # making a measurement ready: operands, warm-up, the description of the machine
MAKING = {"cpu": 4e8, "gpu": 2e11}  # byte/s at which operands are filled, copied and checked
CALLS = 8  # calls of a slow operation: settling, checking, three samples, and rates below the roof
MINUTES = {False: 6.0, True: 2.0}


@dataclass(frozen=True)
class Task:
    """One measurement to make, and the seconds it is expected to take with all around it."""

    op: Operation
    cache: str
    threads: int | None
    cost: float

    @property
    def key(self) -> str:
        """Its name in the journal and on the screen."""
        return with_threads(f"{self.op.label}, {self.cache}", self.threads)


@dataclass(frozen=True)
class LeftOut:
    """Something that is not measured, and why."""

    what: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        """Return it as plain JSON data."""
        return {"what": self.what, "reason": self.reason}


def operations(backend: str, dtypes: Iterable[str], *, quick: bool) -> list[Operation]:
    """Return the operations of a recording: every size in every dtype, a third of them if quick."""
    found = []
    for kind in dtypes:
        for name, largest in LARGEST[backend].items():
            if _dtype(kind) == "tf32" and name != "gemm":
                continue  # tf32 is a mode of matrix units; a vector operation has none
            stride = STRIDE[name] * (3 if quick else 1)
            exponents = range(largest, SMALLEST[name] - 1, -stride)  # the largest in any case
            found += [_square(name, 2**exponent, kind) for exponent in exponents]
    return found


def tasks(
    machines: Mapping[int | None, Machine], backend: str, dtypes: Iterable[str], *, quick: bool,
    fixed_s: float = FIXED_S,
) -> list[Task]:  # fmt: skip
    """Return all that a recording would measure without limits, cheapest first.

    ``machines``: the machine as measured with each thread count (None on a GPU). ``fixed_s`` as in
    :func:`expected_seconds`.
    """
    found = [
        Task(op, cache, threads, expected_seconds(op, machine, fixed_s))
        for op in operations(backend, dtypes, quick=quick)
        for threads, machine in machines.items()
        for cache in CACHES
    ]
    return sorted(found, key=lambda task: task.cost)


def within(
    wanted: Iterable[Task], backend: Backend, seconds: float
) -> tuple[list[Task], list[LeftOut]]:
    """Return the tasks that memory and ``seconds`` (for all of them) allow, and the others.

    The costliest are dropped first: one huge product takes the time of a hundred points.
    """
    room = SPARE * available_bytes(backend)
    kept, left_out = [], []
    for task in wanted:
        needed = needed_bytes(task.op, backend)
        if needed <= room:
            kept.append(task)
            continue
        reason = f"needs {si(needed, 'B')} of memory, of which {si(room, 'B')} can be used"
        left_out.append(LeftOut(task.key, reason))
    total = sum(task.cost for task in kept)
    while kept and total > seconds:
        dropped = kept.pop()
        total -= dropped.cost
        reason = f"would take about {dropped.cost:.0f} s of the {seconds:.0f} s for everything"
        left_out.append(LeftOut(dropped.key, reason))
    return kept, left_out


def expected_seconds(op: Operation, machine: Machine, fixed_s: float = FIXED_S) -> float:
    """Return about how long measuring ``op`` once takes, preparations included.

    ``fixed_s``: what the smallest of all operations takes.
    """
    if machine.has_peak(op.compute_dtype):
        call = predict(op, machine).seconds
    else:  # no roof was measured for this dtype: at worst it runs at the slowest one that was
        call = op.flops / min(machine.peaks.values()) + op.bytes / machine.bandwidth()
    return (
        fixed_s
        + op.working_set / MAKING[machine.backend]
        + max(CALLS * call, min(SECONDS, 30 * call))
    )


def _square(name: str, n: int, kind: str) -> Operation:
    if name == "axpy":
        return axpy(n, kind)
    return gemv(n, n, kind) if name == "gemv" else gemm(n, n, n, kind)


def kinds(dtypes: Iterable[DTypeLike] | None, backend: Backend) -> tuple[str, ...]:
    """Return the names of the dtypes to record; ValueError for one without routines here."""
    known = DTYPES[backend.name]
    if dtypes is None:
        return known
    wanted = [str(_dtype(one)) for one in ([dtypes] if isinstance(dtypes, str) else dtypes)]
    for kind in wanted:
        if kind not in known:
            raise ValueError(
                f"dtypes: {kind} cannot be recorded on this backend ({backend.name}), which has "
                f"routines for {', '.join(known)}"
            )
    if not wanted:
        raise ValueError(f"dtypes={dtypes!r} is empty; give at least one of {', '.join(known)}")
    return tuple(dict.fromkeys(wanted))


def thread_counts(threads: Iterable[int] | None, backend: Backend) -> tuple[int | None, ...]:
    """Return the thread counts to record, 1 and all by default; (None,) on a GPU."""
    if backend.is_gpu:
        if threads is not None:
            raise ValueError(f"threads={threads!r}: a GPU is recorded as a whole; leave it out")
        return (None,)
    wanted = (1, available_cores()) if threads is None else threads
    if isinstance(wanted, int) or not (counts := [thread_count(count) for count in wanted]):
        raise ValueError(f"threads={threads!r} must be one or more thread counts, such as (1, 4)")
    return tuple(sorted(set(counts)))


_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*[a-z0-9]")
TRIES = 3  # of a measurement whose samples spread widely, while there is time for it
PATIENCE = 1.25  # times the planned seconds that all measurements may really take
_BEFORE = 0.1  # share of the progress bar for roofs and free lunch


@installed("rooflab.record")
def record(
    name: str,
    *,
    backend: str | None = "auto",
    dtypes: Iterable[DTypeLike] | None = None,
    threads: Iterable[int] | None = None,
    minutes: float | None = None,
    quick: bool = False,
    folder: str | Path | None = None,
    overwrite: bool = False,
    restart: bool = False,
    stop_after: float | None = None,
    progress: Progress = True,
) -> Recording:
    """Record this machine as ``name`` and return the Recording; 3 to 8 minutes.

    An unfinished recording of that name is taken up where it was, see ``restart``.

    Parameters
    ----------
    name : str
        Of the recording and its file: lower-case letters, digits, "-" and ".".
    backend : {"auto", "cpu", "gpu"}, optional
        "auto" and None: what the environment variable ROOFLAB_BACKEND says, else a GPU if one
        works, else the CPU.
    dtypes : iterable of str or DType, optional
        Number formats, by default fp32 and fp64, on a GPU also tf32, bf16 and fp16.
    threads : iterable of int, optional
        CPU thread counts, by default 1 and all cores.
    minutes : float, optional
        About how long the measurements may take in all, by default 6, with ``quick`` 2. What does
        not fit is left out and named in the recording's ``left_out``.
    quick : bool, optional
        True records a third of the sizes.
    folder : str or Path, optional
        Where the file is written, by default the first of
        ``rooflab.measure.recording.folders()``.
    overwrite : bool, optional
        True replaces a finished recording of that name.
    restart : bool, optional
        True throws an unfinished recording of that name away.
    stop_after : float, optional
        Seconds after which no further step is begun.
    progress : bool or callable, optional
        True (default) draws a progress bar, False nothing. A function is called with the share
        done, 0 to 1.

    Returns
    -------
    Recording
        The machine's roofs, free-lunch curve and measurements.

    Raises
    ------
    RecordingStopped
        When ``stop_after`` is over; the next call with the same options goes on. It is a
        RuntimeError, as for "gpu" where none can be used.

    Examples
    --------
    >>> rl.record("my-laptop", quick=True, threads=[1])  # doctest: +SKIP
    Recording(name='my-laptop', recorded_on='2026-11-21T10:00:00Z', quick=True)

    Nothing is measured under a name that no file could have:

    >>> rl.record("My laptop")
    Traceback (most recent call last):
    ValueError: name='My laptop' must be lower-case letters, digits, ...
    """
    chosen = select(backend)
    options = {
        "backend": chosen.name,
        "dtypes": list(kinds(dtypes, chosen)),
        "threads": list(thread_counts(threads, chosen)),
        "quick": bool(quick),
        "minutes": None if minutes is None else _positive("minutes", minutes),
    }
    limit = math.inf if stop_after is None else _positive("stop_after", stop_after, "seconds")
    target = target_of(name, folder, overwrite)
    surroundings = environment(chosen)
    options["machine"] = surroundings["gpu"]["name"] if chosen.is_gpu else surroundings["host"]
    with (
        RecordJournal(
            target.with_suffix(".journal"), options, restart=restart, stop_after=limit
        ) as journal,
        progress_bar(progress, f"recording {name}") as tell,
    ):
        with _doubting(journal):
            found = _campaign(name, chosen, options, surroundings, journal, tell)
        replace_file(target, text(found))
        journal.remove()
        tell(1.0)
    return found


def _campaign(
    name: str, backend: Backend, options: Mapping[str, Any], surroundings: Mapping[str, Any],
    journal: RecordJournal, tell: Tell,
) -> Recording:  # fmt: skip
    """All steps, those in the journal from there."""
    roofs: dict[int | None, dict[str, Any]] = {}
    for number, count in enumerate(options["threads"]):
        tell(_BEFORE * number / (len(options["threads"]) + 1), "roofs")
        step = f"roofs, {count or 'all'} threads"
        roofs[count] = journal.once(step, partial(roofs_step, backend, count))
    machines = {c: Machine.from_roofs(r, id=name, name=name) for c, r in roofs.items()}
    tell(_BEFORE * 0.8, "free lunch")
    lunch = journal.once("free lunch", partial(lunch_step, backend, name))
    tasks, left_out = _plan(name, journal, machines, backend, options)
    failed: list[dict[str, Any]] = []
    measured: list[dict[str, Any]] = []
    total, done = sum(task.cost for task in tasks), 0.0
    deadline = time.monotonic() + PATIENCE * _seconds(options)
    for task in tasks:
        if task.key not in journal and time.monotonic() > deadline:
            failed.append(LeftOut(task.key, "no time was left: others took longer").to_dict())
            continue
        tell(_BEFORE + (1 - _BEFORE) * done / total, task.key)
        spare = deadline - time.monotonic() - (total - done)
        tries = TRIES if spare > TRIES * task.cost else 1
        entry = journal.once(task.key, partial(measurement_step, task, backend, name, tries))
        (failed if "reason" in entry else measured).append(entry)
        done += task.cost
    return Recording.from_dict({
        "name": name, "recorded_on": now(),
        "quick": options["quick"], "environment": published(surroundings),
        "roofs": list(roofs.values()), "free_lunch": lunch,
        "left_out": [*left_out, *failed], "measurements": measured,
    })  # fmt: skip


@contextmanager
def _doubting(journal: RecordJournal) -> Iterator[None]:
    """Name a journal that was taken up in the error of a campaign that stumbles."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if not journal.resumed:
            raise
        raise ValueError(
            f"{journal.path}: cannot go on from what it holds ({type(error).__name__}: {error}); "
            "if it is damaged, record with restart=True (--restart)"
        ) from error


def _plan(
    name: str, journal: RecordJournal, machines: Mapping[int | None, Machine], backend: Backend,
    options: Mapping[str, Any],
) -> tuple[list[Task], list[dict[str, str]]]:  # fmt: skip
    """The plan of the first run: a later one may find other memory free, but resumes that plan."""
    planned = partial(tasks, machines, backend.name, options["dtypes"], quick=options["quick"])
    wanted = planned()
    if backend.is_gpu:  # whose driver and whose packages differ more than its kernels
        fixed_s = journal.once("smallest", partial(_fixed_s, wanted[0], backend, name))
        wanted = planned(fixed_s=fixed_s)

    def fresh() -> dict[str, Any]:
        kept, left_out = within(wanted, backend, _seconds(options))
        return {"keys": [t.key for t in kept], "left_out": [e.to_dict() for e in left_out]}

    plan = journal.once("plan", fresh)
    keys = set(plan["keys"])
    return [task for task in wanted if task.key in keys], plan["left_out"]


def _fixed_s(task: Task, backend: Backend, name: str) -> float:
    """Seconds of measuring the smallest ``task``; the first time also loads and compiles."""
    for _ in range(2):
        began = time.perf_counter()
        measurement_step(task, backend, name, tries=1)
    return time.perf_counter() - began


def _seconds(options: Mapping[str, Any]) -> float:
    return 60 * (options["minutes"] or MINUTES[options["quick"]])


def _positive(name: str, value: float, unit: str = "minutes") -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < math.inf:
        raise ValueError(f"{name}={value!r} must be a positive number of {unit}")
    return float(value)


def target_of(name: str, folder: str | Path | None, overwrite: bool) -> Path:
    """The file to write, in a folder that exists and can be written to."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "schema":
        raise ValueError(
            f"name={name!r} must be lower-case letters, digits, '-' and '.', such as 'my-laptop'"
        )
    where = folders()[0] if folder is None else expanded("folder", str(folder))
    try:
        where.mkdir(parents=True, exist_ok=True)
        handle, probe = tempfile.mkstemp(prefix=f"{name}-", suffix=".probe", dir=where)
        os.close(handle)
        os.unlink(probe)
    except OSError as error:
        raise ValueError(
            f"folder={str(where)!r} cannot be written to ({error.strerror}); nothing was measured. "
            "Give another folder"
        ) from error
    target = where / f"{name}.json"
    if target.exists() and not overwrite:
        raise ValueError(
            f"{target} exists; choose another name, or replace it with overwrite=True (--overwrite)"
        )
    return target


# The steps of a recording. Each returns what it found as plain JSON data, for the journal.


def roofs_step(backend: Backend, threads: int | None) -> dict[str, Any]:
    """The roofs with ``threads`` threads."""
    return measured_roofs(backend, threads, progress=False)


def lunch_step(backend: Backend, name: str) -> dict[str, Any] | None:
    """The free-lunch curve of the machine ``name``; None for a GPU."""
    from rooflab.measure.free_lunch import free_lunch

    if backend.is_gpu:
        return None  # the curve is the CPU's; a GPU's is drawn from its roofs
    return {**free_lunch().to_dict(), "machine": name}


def measurement_step(task: Task, backend: Backend, name: str, tries: int) -> dict[str, Any]:
    """The measurement of ``task``, or why there is none.

    Noisy samples are taken again, up to ``tries`` times, and the set that spreads least is kept:
    spread comes from other programs, and says nothing about how fast the call is.
    """
    from rooflab.measure.measure import measure

    found: list[Measurement] = []
    try:
        while len(found) < tries and not (found and _spread(found[-1]) <= NOISY):
            found.append(
                measure(task.op, backend=backend.name, cache=task.cache, threads=task.threads)
            )
    except (ValueError, MemoryError, RuntimeError) as error:  # CuPy's errors are RuntimeErrors
        return LeftOut(task.key, " ".join(str(error).split())).to_dict()
    finally:
        if backend.is_gpu:
            backend.xp.get_default_memory_pool().free_all_blocks()
    best = min(found, key=_spread)
    best = replace(best, environment={**best.environment, "tries": len(found)})
    return with_machine(best, name).to_dict()


def _spread(measured: Measurement) -> float:
    return measured.iqr_s / measured.median_s
