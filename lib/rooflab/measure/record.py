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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rooflab.count.blas import axpy, gemm, gemv
from rooflab.count.dtypes import DTypeLike
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operation
from rooflab.count.validation import amount
from rooflab.measure.backend import Backend, available_cores, environment, now, select
from rooflab.measure.free_lunch import free_lunch
from rooflab.measure.measure import NOISY
from rooflab.measure.measurement import Measurement
from rooflab.measure.progress import Progress, Tell, progress_bar
from rooflab.measure.recording import Recording, folders, published, text
from rooflab.measure.roofs import thread_count
from rooflab.measure.settings import expanded
from rooflab.measure.store import replace_file
from rooflab.measure.this_machine import DTYPES, measured_roofs
from rooflab.measure.threads import with_threads
from rooflab.optional import installed
from rooflab.predict.estimate import CACHES
from rooflab.predict.machine import Machine

VERSION = 1  # of the journal


class RecordingStopped(RuntimeError):
    """The time for this run is over; what is finished is in the journal."""


class RecordJournal:
    """Finished steps of a recording in the making, in a file with one JSON object a line.

    ``campaign``: what is being recorded and where, as plain JSON data. A file that holds another
    one raises ValueError, unless ``restart`` throws it away. What a kill left half written, and
    anything behind it, is done again. After ``stop_after`` seconds :meth:`once` begins no step.
    """

    def __init__(
        self, path: Path, campaign: Mapping[str, Any], *, restart: bool = False,
        stop_after: float = math.inf,
    ) -> None:  # fmt: skip
        self.path, self._stop_after = path, stop_after
        self._latest = time.monotonic() + stop_after
        lines = [] if restart else _lines(path)
        header = {"journal": VERSION, "campaign": dict(campaign)}
        if len(lines) > 1:  # a header alone holds nothing that could be lost
            _require_same(path, lines[0], header)
        self._steps = {line["step"]: line for line in lines[1:]}
        # Written anew on every start: a torn line at the end must not swallow the next one.
        replace_file(path, "".join(map(_line, [header, *self._steps.values()])))

    def once(self, step: str, work: Callable[[], Any]) -> Any:
        """Return what ``step`` found (plain JSON data), doing its ``work`` unless it is kept.

        It is on disk when this returns. Raises RecordingStopped instead of beginning a step when
        the time is over.
        """
        if step not in self._steps:
            began = time.monotonic()
            if began >= self._latest:
                raise RecordingStopped(
                    f"stopped after {self._stop_after:.0f} s with {len(self._steps)} steps kept in "
                    f"{self.path}; record again with the same options to go on from there"
                )
            line = {"step": step, "found": work(), "seconds": time.monotonic() - began}
            with self.path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(_line(line))
                file.flush()
                os.fsync(file.fileno())
            self._steps[step] = line
        return self._steps[step]["found"]

    def __contains__(self, step: str) -> bool:
        return step in self._steps

    def spent(self, steps: set[str]) -> float:
        """Return the seconds that the finished ones of ``steps`` took, in all runs."""
        done = [line for step, line in self._steps.items() if step in steps]
        return sum(float(line.get("seconds", 0.0)) for line in done)


def _lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a journal, up to the first that cannot be read."""
    found: list[dict[str, Any]] = []
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                found.append(json.loads(line))
            except ValueError:
                break
    return found


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"


def _require_same(path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    was, wanted = ({"journal": h.get("journal"), **h.get("campaign", {})} for h in (old, new))
    for key, value in wanted.items():
        if was.get(key) != value:
            raise ValueError(
                f"{path}: a recording in the making has {key}={was.get(key)!r}, not {value!r}; "
                "finish that one with the same options and on the same machine, or record with "
                "restart=True (--restart) to throw it away"
            )


# What a recording measures: the three operations over N × dtype × cache × threads, cheapest first.
#
# What would take longer than the time that is left, or does not fit memory, is named with the
# reason: a gap in a recording must be visible.


# Powers of two: the sizes of AXPY are the element counts of the matrices of GEMV and GEMM too.
LARGEST = {"cpu": {"axpy": 26, "gemv": 13, "gemm": 12}, "gpu": {"axpy": 30, "gemv": 15, "gemm": 14}}
SMALLEST = {"axpy": 8, "gemv": 6, "gemm": 4}
STRIDE = {"axpy": 2, "gemv": 1, "gemm": 1}
SQUARE: Mapping[str, Callable[[int, str], Operation]] = {
    "axpy": axpy,
    "gemv": lambda n, kind: gemv(n, n, kind),
    "gemm": lambda n, kind: gemm(n, n, n, kind),
}
FIXED_S = 0.6  # of a measurement: operands, warm-up, samples of a short call, the environment
CALLS = 8  # calls of a slow operation: settling, checking, three samples, and rates below the roof
MINUTES = {False: 6.0, True: 2.0}
TRIES = 3  # of a measurement whose samples spread widely, while there is time for it


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


def operations(backend: str, dtypes: Iterable[str], *, quick: bool) -> list[Operation]:
    """Return the operations of a recording: every size in every dtype, a third of them if quick."""
    found = []
    for kind in dtypes:
        for name, largest in LARGEST[backend].items():
            if _dtype(kind) == "tf32" and name != "gemm":
                continue  # tf32 is a mode of matrix units; a vector operation has none
            stride = STRIDE[name] * (3 if quick else 1)
            exponents = range(largest, SMALLEST[name] - 1, -stride)  # the largest in any case
            found += [SQUARE[name](2**exponent, kind) for exponent in exponents]
    return found


def tasks(
    machines: Mapping[int | None, Machine], backend: str, dtypes: Iterable[str], *, quick: bool
) -> list[Task]:
    """Return all that a recording would measure without limits, cheapest first.

    ``machines``: the machine as measured with each thread count (None on a GPU).
    """
    found = [
        Task(op, cache, threads, _expected_seconds(op, machine))
        for op in operations(backend, dtypes, quick=quick)
        for threads, machine in machines.items()
        for cache in CACHES
    ]
    return sorted(found, key=lambda task: task.cost)


def _expected_seconds(op: Operation, machine: Machine) -> float:
    kind = op.compute_dtype
    # A dtype without a roof runs at worst at the slowest one that was measured.
    peak = machine.peak(kind) if machine.has_peak(kind) else min(machine.peaks.values())
    return FIXED_S + CALLS * (op.flops / peak + op.bytes / machine.bandwidth())


def kinds(dtypes: Iterable[DTypeLike] | None, backend: Backend) -> list[str]:
    """Return the names of the dtypes to record; ValueError for one without routines here."""
    known = DTYPES[backend.name]
    if dtypes is None:
        return list(known)
    wanted = [str(_dtype(one)) for one in ([dtypes] if isinstance(dtypes, str) else dtypes)]
    for kind in wanted or ["an empty list"]:
        if kind not in known:
            raise ValueError(
                f"dtypes: {kind} cannot be recorded on this backend ({backend.name}), which has "
                f"routines for {', '.join(known)}"
            )
    return list(dict.fromkeys(wanted))


def thread_counts(threads: Iterable[int] | None, backend: Backend) -> list[int | None]:
    """Return the thread counts to record, 1 and all by default; [None] on a GPU."""
    if backend.is_gpu:
        if threads is not None:
            raise ValueError(f"threads={threads!r}: a GPU is recorded as a whole; leave it out")
        return [None]
    wanted = (1, available_cores()) if threads is None else threads
    if isinstance(wanted, int) or not (counts := [thread_count(count) for count in wanted]):
        raise ValueError(f"threads={threads!r} must be one or more thread counts, such as (1, 4)")
    return [*sorted(set(counts))]


_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*[a-z0-9]")
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
    chosen, some = select(backend), "a positive number of"
    options = {
        "backend": chosen.name,
        "dtypes": kinds(dtypes, chosen),
        "threads": thread_counts(threads, chosen),
        "quick": bool(quick),
        "minutes": None if minutes is None else amount("minutes", minutes, f"{some} minutes"),
    }
    limit = math.inf if stop_after is None else amount("stop_after", stop_after, f"{some} seconds")
    target = target_of(name, folder, overwrite)
    surroundings = environment(chosen)
    options["machine"] = surroundings["gpu"]["name"] if chosen.is_gpu else surroundings["host"]
    path = target.with_suffix(".journal")
    journal = RecordJournal(path, options, restart=restart, stop_after=limit)
    with progress_bar(progress, f"recording {name}") as tell:
        found = _campaign(name, chosen, options, surroundings, journal, tell)
        replace_file(target, text(found))
        path.unlink()
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
        roofs[count] = journal.once(step, partial(measured_roofs, backend, count, False))
    tell(_BEFORE * 0.8, "free lunch")
    lunch = journal.once("free lunch", partial(lunch_step, backend, name))
    machines = {c: Machine.from_roofs(r, id=name, name=name) for c, r in roofs.items()}
    wanted = tasks(machines, backend.name, options["dtypes"], quick=options["quick"])
    seconds = 60 * (options["minutes"] or MINUTES[options["quick"]])
    found = _measured(wanted, backend, name, journal, seconds, tell)
    return Recording.from_dict({
        "name": name, "recorded_on": now(),
        "quick": options["quick"], "environment": published(surroundings),
        "roofs": list(roofs.values()), "free_lunch": lunch,
        "left_out": [entry for entry in found if "reason" in entry],
        "measurements": [entry for entry in found if "reason" not in entry],
    })  # fmt: skip


def _measured(
    wanted: list[Task], backend: Backend, name: str, journal: RecordJournal, seconds: float,
    tell: Tell,
) -> list[dict[str, Any]]:  # fmt: skip
    """Measure the tasks for so many ``seconds`` in all runs; name the rest, with the reason."""
    found, keys = [], {task.key for task in wanted}
    total = ahead = sum(task.cost for task in wanted)
    for task in wanted:
        tell(_BEFORE + (1 - _BEFORE) * (1 - ahead / total), task.key)
        left = seconds - journal.spent(keys)
        if task.key not in journal and task.cost > left:
            reason = f"would take about {task.cost:.0f} s of the {seconds:.0f} s for everything"
            found.append(_left_out(task, reason))
        else:
            tries = TRIES if ahead + (TRIES - 1) * task.cost < left else 1
            work = partial(measurement_step, task, backend, name, tries)
            found.append(journal.once(task.key, work))
        ahead -= task.cost
    return found


def _left_out(task: Task, reason: str) -> dict[str, str]:
    return {"what": task.key, "reason": reason}


def target_of(name: str, folder: str | Path | None, overwrite: bool) -> Path:
    """Return the file to write, in a folder that exists and can be written to."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "schema":
        raise ValueError(
            f"name={name!r} must be lower-case letters, digits, '-' and '.', such as 'my-laptop'"
        )
    where = folders()[0] if folder is None else expanded("folder", str(folder))
    try:
        where.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=where).close()
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


def lunch_step(backend: Backend, name: str) -> dict[str, Any] | None:
    """The free-lunch curve of the machine ``name``; None for a GPU."""
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
        return _left_out(task, " ".join(str(error).split()))
    finally:
        if backend.is_gpu:
            backend.xp.get_default_memory_pool().free_all_blocks()
    best = min(found, key=_spread)
    surroundings = published({**best.environment, "tries": len(found)})
    return replace(best, machine=name, environment=surroundings).to_dict()


def _spread(measured: Measurement) -> float:
    return measured.iqr_s / measured.median_s
