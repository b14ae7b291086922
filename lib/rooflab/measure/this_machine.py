"""The machine you sit at, as a Machine: measured once, then remembered."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from typing import Any

from rooflab.measure import store
from rooflab.measure.alone import ALONE
from rooflab.measure.backend import (
    Backend,
    cupy_installed,
    current_device,
    select,
    use_device,
    wanted_backend,
)
from rooflab.measure.environment import host_id
from rooflab.measure.progress import Progress, told
from rooflab.measure.roof_kernels import MIXES
from rooflab.measure.roofs import SCHEMA, measure_roofs, thread_count
from rooflab.measure.threads import with_threads
from rooflab.predict import routines
from rooflab.predict.machine import Machine

ROOFS_SHARE = 0.5  # of the time; the rest calibrates the routines that predict() speaks of


def this_machine(
    backend: str | None = "auto",
    threads: int | None = None,
    *,
    refresh: bool = False,
    progress: Progress = True,
) -> Machine:
    """This machine with its measured roofs and routines; only the first call takes seconds.

    `backend`: "cpu", "gpu" or "auto" (a GPU if one works); `threads`: CPU threads, None for every
    core this process may use. Roofs are stored per host, backend and thread count in the user's
    cache directory (or ROOFLAB_CACHE) and measured again when the file is damaged or of another
    version (with a warning), or with `refresh=True`. `progress` as in :func:`measure_roofs`.
    Raises ValueError or TypeError for a wrong argument, RuntimeError for "gpu" without one.
    """
    chosen, count, host, name, problem = _stored_as(backend, threads)
    with ALONE:
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
        if device and name == _roofs_name(host_id(device), None):  # not another computer's file
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
    """:func:`this_machine` in the background: a Future; its result() waits for the Machine.

    The progress bar appears where this is called, and a GPU is the one in use here. Keep the
    machine otherwise idle meanwhile: what else runs slows the slices it meets.
    """
    future: Future[Machine] = Future()
    bar = ExitStack()
    with suppress(TypeError, ValueError):  # result() raises it
        if progress is True and not refresh and stored_machine(backend, threads) is not None:
            progress = False  # nothing is measured, and a bar that ends at once stays on the page
    tell = bar.enter_context(told(progress, "measuring this machine"))
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
    threading.Thread(target=work, daemon=True, name="rooflab-roofs").start()
    return future


def measured_roofs(chosen: Backend, count: int | None, progress: Progress) -> dict[str, Any]:
    """Measure the roofs, and how the library's routines behave under them ("routines")."""
    with told(progress, "measuring this machine") as tell:
        roofs = measure_roofs(chosen.name, count, lambda share: tell(ROOFS_SHARE * share))
        from rooflab.measure.calibrate import calibrate

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
    if backend == "cpu" and not isinstance(roofs.get("spill"), Mapping):
        return "an older version of rooflab wrote it"
    if not isinstance(roofs.get("measured_on"), str):
        return "it does not say when it was measured"
    if backend == "gpu" and "routines" not in roofs:  # once, routines were only those of a CPU
        return "an older version of rooflab wrote it"
    try:
        entries = [*roofs["peak"].values()]
        for mixes in [*roofs["bandwidth"].values(), roofs["bandwidth"]["dram"]]:
            entries += [mixes[mix] for mix in MIXES]
        rates = [entry["value"] for entry in entries] + [*roofs["capacity"].values()]
        sound = "fp32" in roofs["peak"] and all(math.isfinite(r) and r > 0 for r in rates)
        sound = sound and routines.sound(roofs["routines"], roofs["bandwidth"])
        Machine.from_roofs(roofs, id="here", name="here")
    except (AttributeError, KeyError, TypeError, ValueError):
        sound = False
    return "" if sound else "its figures are damaged"
