"""``rooflab search``: look for a fast schedule of a product of matrices."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.options import JSON, ONE_THREAD, require_folder
from rooflab.cli.terminal import keep_json, say, table

if TYPE_CHECKING:
    from rooflab.labs.search.schedules.result import Search

OPERATIONS = ("gemm",)


def search(
    operation: Annotated[str, typer.Argument(help="gemm: C += A·B of fp32.")],
    n: Annotated[int, typer.Option("--n", help="Rows and columns of the matrices.")] = 512,
    threads: ONE_THREAD = 1,
    seconds: Annotated[float, typer.Option("--seconds", help="Time for the search.")] = 60.0,
    width: Annotated[int, typer.Option("--width", help="Schedules kept in each round.")] = 4,
    json_file: JSON = None,
) -> None:
    """Search for a fast schedule of a loop nest, and show how it got there.

    Schedules are ranked by their predicted bytes and the machine's roofs; the clock decides.
    Control-C ends the search and shows what it has found.
    """
    from rooflab.count.validation import unknown
    from rooflab.labs.search.schedules.beam import search as found_by
    from rooflab.measure.roofs import thread_count

    if operation not in OPERATIONS:
        raise unknown("operation", operation, OPERATIONS)
    require_folder(json_file)
    found = found_by(
        n, thread_count(threads), seconds=seconds, width=width,
        progress=sys.stderr.isatty(),
    )  # fmt: skip
    if json_file is not None:
        keep_json(found, json_file)
    _show(found)


def _show(found: Search) -> None:
    from rooflab.count.si import si

    rows = []
    for one in found.records():
        predicted = "" if one.predicted is None else si(found.flops / one.predicted, "FLOP/s")
        near, far = (
            # A machine without caches has no bytes of theirs.
            f"{found.intensity(one, level):.3g}" if one.bytes.get(level) else "–"
            for level in ("l2", "dram")
        )
        rows.append((
            f"{one.at_s:.1f} s", si(found.rate(one), "FLOP/s"), predicted, near, far,
            found.short(one),
        ))  # fmt: skip
    columns = ("at", "measured", "predicted", "per L2 B", "per DRAM B", "loops [in registers]")
    table(columns, rows, right=range(5))
    say(f"{found.text}, {len(found.measured)} of {len(found.candidates)} schedules measured")
    say(f"best: {si(found.flops_per_s, 'FLOP/s')}, {found.ended}")
    for name, given in found.winner.log:
        say(f"  .{name}({', '.join(map(repr, given))})")
