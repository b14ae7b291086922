"""``rooflab record``: keep what this machine can do, for others and for later."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.options import BACKEND, counts
from rooflab.cli.terminal import complain, say, table

if TYPE_CHECKING:
    from rooflab.measure.recording import Recording

TRY_AGAIN = 75  # exit code of a recording that goes on next time; EX_TEMPFAIL of sysexits.h
SHOWN = 12  # lines of what was left out


def record(
    name: Annotated[str, typer.Argument(help="Name of the recording, such as epyc-2core-vm.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="A third of the sizes, minutes less.")
    ] = False,
    backend: BACKEND = "auto",
    dtypes: Annotated[str | None, typer.Option("--dtypes", help="As in fp32,fp64.")] = None,
    threads: Annotated[str | None, typer.Option("--threads", help="As in 1,4.")] = None,
    minutes: Annotated[float | None, typer.Option("--minutes", help="Time for everything.")] = None,
    folder: Annotated[Path | None, typer.Option("--folder", help="Where to keep it.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a finished one.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Drop an unfinished one.")] = False,
    stop_after: Annotated[float | None, typer.Option("--stop-after", help="Seconds.")] = None,
) -> None:
    """Record roofs, the free-lunch curve, and AXPY, GEMV, GEMM over N, dtype, cache and threads.

    Interrupted, or stopped after some seconds? The same command goes on where it was. A recording
    that stopped itself ends with exit code 75, a finished one with 0.
    """
    from rooflab.measure.record import RecordingStopped
    from rooflab.measure.record import record as recorded
    from rooflab.measure.recording import folders

    try:
        found = recorded(
            name, quick=quick, backend=backend, dtypes=dtypes and dtypes.split(","),
            threads=None if threads is None else counts("--threads", threads), minutes=minutes,
            folder=folder, overwrite=overwrite, restart=restart, stop_after=stop_after,
            progress=sys.stderr.isatty(),
        )  # fmt: skip
    except RecordingStopped as stopped:
        say(str(stopped))
        sys.exit(TRY_AGAIN)
    except KeyboardInterrupt:
        complain(f"stopped; nothing is lost: `rooflab record {name} …` goes on from here")
        raise
    _report(found, (folder or folders()[0]) / f"{found.name}.json")


def _report(found: Recording, target: Path) -> None:
    """Say what was recorded, and what was left out."""
    say(f"{found.machine.name}: {len(found.measurements)} measurements in {target}")
    warned = sum(bool(m.warnings) for m in found.measurements)
    if warned:
        say(f"{warned} of them carry warnings: other programs ran, or the clock is coarse.")
    if found.left_out:
        rows = [(entry["what"], entry["reason"]) for entry in found.left_out]
        table(("left out", "why"), rows[:SHOWN], keep=())
        if len(rows) > SHOWN:
            say(f"… and {len(rows) - SHOWN} more; they are named in the file.")
