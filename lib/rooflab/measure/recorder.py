"""``rl.record``: measure this machine once, thoroughly, and keep it as a recording.

Roofs, the free-lunch curve, then AXPY, GEMV and GEMM over N × dtype × cold/warm × threads. Every
finished step goes to a journal beside the target; a run that is killed is taken up where it was.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

from rooflab.measure import campaign
from rooflab.measure.atomic import replace_file
from rooflab.measure.backend import Backend, select
from rooflab.measure.campaign import LeftOut, Task
from rooflab.measure.caveats import NOISY
from rooflab.measure.environment import environment, now
from rooflab.measure.journal import Journal
from rooflab.measure.measurement import Measurement
from rooflab.measure.progress import Progress, Tell, told
from rooflab.measure.recorded import Recording
from rooflab.measure.recording import folders, published, text, with_machine
from rooflab.measure.this_machine import measured_roofs
from rooflab.measure.told import expanded
from rooflab.predict.machine import Machine

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*[a-z0-9]")
TRIES = 3  # of a measurement whose samples spread widely, while there is time for it
PATIENCE = 1.25  # times the planned seconds that all measurements may really take
_BEFORE = 0.1  # share of the progress bar for roofs and free lunch


def record(
    name: str,
    *,
    backend: str | None = "auto",
    dtypes: Iterable[object] | None = None,
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

    ``dtypes``: default fp32 and fp64, on a GPU also tf32, bf16 and fp16. ``threads``: CPU thread
    counts, default 1 and all. ``minutes``: about how long the measurements may take in all
    (default 6, ``quick`` 2); what does not fit is left out and named in ``left_out``. ``folder``:
    default the first of ``rooflab.measure.recording.folders()``. A finished recording of that name
    is only replaced with ``overwrite``; an unfinished one is taken up again, or thrown away with
    ``restart``. ``stop_after``: seconds after which nothing more is begun; then Stopped, a
    RuntimeError, is raised, and the next call goes on. ``progress``: True, False, or a function
    that is told the share done.

    Raises ValueError or TypeError naming a wrong argument or a folder that cannot be written to,
    before anything is measured; RuntimeError for "gpu" without one.
    """
    chosen = select(backend)
    options = {
        "backend": chosen.name,
        "dtypes": list(campaign.kinds(dtypes, chosen)),
        "threads": list(campaign.thread_counts(threads, chosen)),
        "quick": bool(quick),
        "minutes": None if minutes is None else _positive("minutes", minutes),
    }
    limit = math.inf if stop_after is None else _positive("stop_after", stop_after, "seconds")
    target = target_of(name, folder, overwrite)
    surroundings = environment(chosen)
    options["machine"] = surroundings["gpu"]["name"] if chosen.is_gpu else surroundings["host"]
    with (
        Journal(
            target.with_suffix(".journal"), options, restart=restart, stop_after=limit
        ) as journal,
        told(progress, f"recording {name}") as tell,
    ):
        with _doubting(journal):
            found = _campaign(name, chosen, options, surroundings, journal, tell)
        replace_file(target, text(found))
        journal.remove()
        tell(1.0)
    return found


def _campaign(
    name: str, backend: Backend, options: Mapping[str, Any], surroundings: Mapping[str, Any],
    journal: Journal, tell: Tell,
) -> Recording:  # fmt: skip
    """All steps, those in the journal from there."""
    roofs: dict[int | None, dict[str, Any]] = {}
    for number, count in enumerate(options["threads"]):
        tell(_BEFORE * number / (len(options["threads"]) + 1), "roofs")
        step = f"roofs, {count or 'all'} threads"
        roofs[count] = journal.once(step, partial(_roofs, backend, count))
    machines = {c: Machine.from_roofs(r, id=name, name=name) for c, r in roofs.items()}
    tell(_BEFORE * 0.8, "free lunch")
    lunch = journal.once("free lunch", partial(_lunch, backend, name))
    tasks, left_out = _plan(name, journal, machines, backend, options)
    failed, measured = [], []
    total, done = sum(task.cost for task in tasks), 0.0
    deadline = time.monotonic() + PATIENCE * _seconds(options)
    for task in tasks:
        if task.key not in journal and time.monotonic() > deadline:
            failed.append(LeftOut(task.key, "no time was left: others took longer").to_dict())
            continue
        tell(_BEFORE + (1 - _BEFORE) * done / total, task.key)
        spare = deadline - time.monotonic() - (total - done)
        tries = TRIES if spare > TRIES * task.cost else 1
        entry = journal.once(task.key, partial(_measure, task, backend, name, tries))
        (failed if "reason" in entry else measured).append(entry)
        done += task.cost
    return Recording.from_dict({
        "name": name, "recorded_on": now(),
        "quick": options["quick"], "environment": published(surroundings),
        "roofs": list(roofs.values()), "free_lunch": lunch,
        "left_out": [*left_out, *failed], "measurements": measured,
    })  # fmt: skip


@contextmanager
def _doubting(journal: Journal) -> Iterator[None]:
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


def _roofs(backend: Backend, threads: int | None) -> dict[str, Any]:
    return measured_roofs(backend, threads, progress=False)


def _lunch(backend: Backend, name: str) -> dict[str, Any] | None:
    from rooflab.measure.freelunch import free_lunch

    if backend.is_gpu:
        return None  # the curve is the CPU's; a GPU's is drawn from its roofs
    return {**free_lunch().to_dict(), "machine": name}


def _plan(
    name: str, journal: Journal, machines: Mapping[int | None, Machine], backend: Backend,
    options: Mapping[str, Any],
) -> tuple[list[Task], list[dict[str, str]]]:  # fmt: skip
    """The plan of the first run: a later one may find other memory free, but resumes that plan."""
    planned = partial(
        campaign.tasks, machines, backend.name, options["dtypes"], quick=options["quick"]
    )
    wanted = planned()
    if backend.is_gpu:  # whose driver and whose packages differ more than its kernels
        fixed_s = journal.once("smallest", partial(_fixed_s, wanted[0], backend, name))
        wanted = planned(fixed_s=fixed_s)

    def fresh() -> dict[str, Any]:
        kept, left_out = campaign.within(wanted, backend, _seconds(options))
        return {"keys": [t.key for t in kept], "left_out": [e.to_dict() for e in left_out]}

    plan = journal.once("plan", fresh)
    keys = set(plan["keys"])
    return [task for task in wanted if task.key in keys], plan["left_out"]


def _fixed_s(task: Task, backend: Backend, name: str) -> float:
    """Seconds of measuring the smallest ``task``; the first time also loads and compiles."""
    for _ in range(2):
        began = time.perf_counter()
        _measure(task, backend, name, tries=1)
    return time.perf_counter() - began


def _seconds(options: Mapping[str, Any]) -> float:
    return 60 * (options["minutes"] or campaign.MINUTES[options["quick"]])


def _measure(task: Task, backend: Backend, name: str, tries: int) -> dict[str, Any]:
    """One measurement as plain data, or why there is none.

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


def _positive(name: str, value: object, unit: str = "minutes") -> float:
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:
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
