"""What 04-predict may ask: products of a layer that a recorded decode loop timed, if it is fair.

The loop did every product in the quicker of two ways, one GEMV after the other or one GEMM. What
either costs a weight is read off one layer of the model, the *known* one; asked is another one.
Fairness is a rule, as in lesson 03: a product is asked only where the model of the lesson comes
well within what is allowed beside the clock. Lesson 04 says so.

``lesson04_recorded.json`` holds what this rule found in a recording. It is frozen: a class is
asked the same tomorrow, whatever was recorded since. ``python -m tools.freeze`` made it, see
frozen.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rooflab.count.si import rounded
from rooflab.exercises.frozen import Clocked, read_frozen

if TYPE_CHECKING:
    from rooflab.measure.decode_loop import DecodeRun
    from rooflab.measure.decode_prediction import DecodeRecording
    from rooflab.measure.measurement import Measurement

FROZEN = Path(__file__).with_name("lesson04_recorded.json")
KINDS = ("one", "few", "many")
FEWEST = 8  # of a kind: enough for a draw to differ from the next
LAYERS = ("q", "k", "gate", "down", "head")  # one of each shape; v, o and up have a twin here
TOLD = 8  # tokens at which a known layer shows what a further vector costs, and a copy
INPUTS = ("tokens", "inputs", "outputs", "first", "again", "copy", "peak")


@dataclass(frozen=True)
class Timed(Clocked):
    """A product that was timed.

    ``case``: the edges; seconds a weight of the first vector, of each further one and of a copy;
    FLOP/s. ``asked`` and ``known`` name the layers.
    """

    asked: str
    known: str

    @property
    def kind(self) -> str:
        """One token; a few, vector by vector; or many, all at once."""
        vectors, product = ways(*self.case.values())
        if product < vectors:
            return "many"
        return "few" if self.case["tokens"] > 1 else "one"

    @property
    def fair(self) -> bool:
        """Whether it may be asked (see the module)."""
        return self.close(model)


def ways(
    tokens: int, inputs: int, outputs: int, first: float, again: float, copy: float, peak: float
) -> tuple[float, float]:
    """Seconds vector by vector, and all at once: a copy of the weights, then the arithmetic."""
    weights = inputs * outputs
    return (
        weights * (first + (tokens - 1) * again),
        weights * copy + 2 * tokens * weights / peak,
    )


def model(*case: float) -> float:
    """The lesson's model: the quicker of the two ways, in seconds."""
    return min(ways(*case))


def found_in(kept: DecodeRecording, peak: float) -> tuple[Timed, ...]:
    """Every product of a recording that may be asked. ``peak`` of the machine is in FLOP/s."""
    runs = {run.batch: run for run in kept.runs}
    products = {batch: run.measurements() for batch, run in runs.items()}
    entries = (
        _entry(asked, known, batch, measured[asked], figures)
        for known in LAYERS
        for figures in [_figures(runs, products[1][known], known, peak)]
        for batch, measured in products.items()
        for asked in LAYERS
        if asked != known
    )
    return tuple(entry for entry in entries if entry.fair)


def _figures(
    runs: Mapping[int, DecodeRun], alone: Measurement, known: str, peak: float
) -> dict[str, float]:
    """Seconds a weight: of the first vector, of each further one, and of the copy for a GEMM."""

    def quickest(tokens: int, way: str) -> float:
        tried = runs[tokens].trials[known]
        return min(seconds for form, seconds in tried.items() if form.startswith(way))

    weights, one = alone.op.flops / 2, quickest(1, "gemv")
    found = {
        "first": one / weights,
        "again": (quickest(TOLD, "gemv") - one) / (TOLD - 1) / weights,
        "copy": quickest(TOLD, "gemm") / weights - 2 * TOLD / peak,
    }
    return {**{name: rounded(seconds, 4) for name, seconds in found.items()}, "peak": peak}


def _entry(
    asked: str, known: str, tokens: int, measured: Measurement, figures: Mapping[str, float]
) -> Timed:
    edges = measured.op.dims
    case = {"tokens": tokens, "inputs": edges["k"], "outputs": edges["n"], **figures}
    spread = round(measured.iqr_s / measured.median_s, 4)
    return Timed(case, rounded(measured.median_s, 5), spread, asked, known)


def entries_of(name: str) -> tuple[DecodeRecording, tuple[Timed, ...]]:
    """The decode recording ``name``, and what of it may be asked."""
    from rooflab.measure.decode_prediction import decode_recording  # a tenth of a second

    kept = decode_recording(name)
    return kept, found_in(kept, peak_of(name))


def peak_of(name: str) -> float:
    """FLOP/s of one core in fp32, which the loop was recorded with, from the machine's roofs."""
    from rooflab.measure.recording import recording

    return float(recording(name).at(threads=1).peak("fp32"))


@cache
def recorded() -> Mapping[tuple[float, ...], Timed]:
    """The frozen products by their inputs."""
    return {
        tuple(row[name] for name in INPUTS): Timed(
            {name: row[name] for name in INPUTS}, row["seconds"], row["spread"],
            row["asked"], row["known"],
        )
        for row in read_frozen(FROZEN)
    }  # fmt: skip
