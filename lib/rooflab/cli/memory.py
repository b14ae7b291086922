"""``rooflab mountain``: bandwidth and latency over the working set, and the levels in them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.options import JSON, ONE_THREAD, require_folder
from rooflab.cli.terminal import complain, keep_json, say, table

if TYPE_CHECKING:
    from rooflab.labs.memory.mountain import Mountain


def mountain(
    threads: ONE_THREAD = 1,
    json_file: JSON = None,
    replay: Annotated[
        Path | None, typer.Option("--replay", help="Show such a file, measure nothing.")
    ] = None,
) -> None:
    """Measure bandwidth and latency over the working set, and find the caches in them.

    The caches that the system tells of stand beside those that the data show. Takes about ten
    seconds with one thread.
    """
    if replay is not None:
        if json_file is not None or threads != 1:
            raise ValueError(f"--replay={str(replay)!r} measures nothing: give it alone")
        _show(_kept(replay))
        return
    require_folder(json_file)
    from rooflab.labs.memory.mountain import mountain as measured

    found = measured(threads, progress=sys.stderr.isatty())
    if json_file is not None:
        keep_json(found, json_file)
    _show(found)


def _kept(path: Path) -> Mountain:
    from rooflab.labs.memory.mountain import Mountain

    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"--replay={str(path)!r} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ValueError(f"--replay={str(path)!r} holds no JSON ({error})") from error
    return Mountain.from_dict(data)


def _show(found: Mountain) -> None:
    from rooflab.count.si import si
    from rooflab.labs.memory.levels import table as rows
    from rooflab.measure.threads import with_threads

    ends = f"{si(found.sizes[0], 'B')} to {si(found.sizes[-1], 'B')}"
    name = with_threads(found.name or "a machine", found.threads)
    say(f"{name}: {len(found.sizes)} working sets, {ends}, on {found.measured_on or 'some day'}")
    columns = ("level", "found", "told", "latency", "", "read", "copy")
    table(columns, rows(found.levels), right=range(1, 7))
    say(*(level.sentence for level in found.levels), *(climb.sentence for climb in found.climbs))
    for warning in found.warnings:
        complain(warning)
