"""How every benchmark reports: a table on the screen, and JSON with date and machine beside it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rooflab.measure.backend import cpu_name, now

RESULTS = Path(__file__).parent / "results"


def in_turn(ways: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Call every way once a round; return their answers (seconds).

    Round after round, so that a busy minute of the machine slows all of them alike.
    """
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            found[name].append(way())
    return found


def spread(values: Sequence[float], scale: float = 1.0) -> tuple[float, float, float]:
    """Median, lowest and highest of ``values``, times ``scale``."""
    return scale * statistics.median(values), scale * min(values), scale * max(values)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print ``rows`` under ``head``, numbers with three significant digits."""
    text = [
        [f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows
    ]
    widths = [max(len(row[i]) for row in [list(head), *text]) for i in range(len(head))]
    for row in [list(head), *text]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def save(name: str, result: dict[str, object]) -> Path:
    """Write ``result`` to results/NAME.json, with the date and the processor it was run on."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    document = {"benchmark": name, "date": now(), "processor": cpu_name(), **result}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path
