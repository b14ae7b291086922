"""Freeze what a predict-then-measure exercise asks of a recorded machine.

    python -m tools.freeze 03-predict epyc-2core-vm

Writes recorded.json in the folder of its lesson: the cases of the recording that are fair to ask,
and where they are from. A new recording changes no exercise until somebody runs this; then every
class, also one that is half graded, is asked other cases.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from rooflab.count.si import rounded
from rooflab.course.lesson03 import exercises as lesson03
from rooflab.course.lesson03.exercises import TimedProduct
from rooflab.course.lesson04 import exercises as lesson04
from rooflab.course.lesson04.exercises import TimedLayer
from rooflab.course.timed_cases import SCHEMA, TimedCase
from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.decode_prediction import DecodeRecording, decode_recording
from rooflab.measure.recording import Recording, in_rows, published, recording
from rooflab.measure.store import replace_file
from rooflab.measure.threads import with_threads
from rooflab.predict.estimate import mix_of, overhead

TIMED_LAYERS = ("q", "k", "gate", "down", "head")  # one of each shape; v, o and up have a twin here
TOLD = 8  # tokens at which a known layer shows what a further vector costs, and a copy


def timed_products(kept: Recording) -> tuple[TimedProduct, ...]:
    """Return the operations of a recording that 03-predict may ask, in the order of the clock."""
    entries = []
    for measured in kept.select(cache="warm"):
        op, m = measured.op, kept.at(measured.threads)
        case = {
            "flops": op.flops, "bytes": op.bytes, "peak": float(m.peak(op.compute_dtype)),
            "bandwidth": [float(m.bandwidth(at, mix_of(op, m, at))) for at in m.levels],
            "capacity": [m.capacities[at] for at in m.levels], "call": overhead(op, m),
        }  # fmt: skip
        spread = measured.iqr_s / measured.median_s
        where = with_threads(m.id, m.threads)
        entries.append(TimedProduct(case, measured.median_s, spread, op.label, where))
    return tuple(entry for entry in entries if entry.fair)


def timed_layers(kept: DecodeRecording) -> tuple[TimedLayer, ...]:
    """Return the products of a recorded decode loop that 04-predict may ask."""
    runs = {run.batch: run for run in kept.runs}
    times = {batch: run.measurements() for batch, run in runs.items()}
    figures = {
        known: _figures(runs, known, times[1][known].op.flops / 2, peak_of(kept.name))
        for known in TIMED_LAYERS
    }
    entries = []
    for known, batch, asked in product(TIMED_LAYERS, runs, TIMED_LAYERS):
        one = times[batch][asked]
        edges = {"inputs": one.op.dims["k"], "outputs": one.op.dims["n"]}
        case = {"tokens": batch, **edges, **figures[known]}
        spread = round(one.iqr_s / one.median_s, 4)
        entries.append(TimedLayer(case, rounded(one.median_s, 5), spread, asked, known))
    return tuple(one for one in entries if one.asked != one.known and one.close(lesson04.model))


def _figures(
    runs: Mapping[int, DecodeRun], known: str, weights: float, peak: float
) -> dict[str, float]:
    """Return seconds a weight: of the first vector, of each further one, of the copy for a GEMM."""

    def quickest(tokens: int, way: str) -> float:
        tried = runs[tokens].trials[known].items()
        return min(seconds for form, seconds in tried if form.startswith(way)) / weights

    first = quickest(1, "gemv")
    again = (quickest(TOLD, "gemv") - first) / (TOLD - 1)
    copy = quickest(TOLD, "gemm") - 2 * TOLD / peak
    return {
        "first": rounded(first, 4), "again": rounded(again, 4), "copy": rounded(copy, 4),
        "peak": peak,
    }  # fmt: skip


def peak_of(name: str) -> float:
    """Return FLOP/s of one core in fp32, in which the loop was recorded, from its roofs."""
    return float(recording(name).at(threads=1).peak("fp32"))


def timed_cases_text(kept: Recording | DecodeRecording, entries: Iterable[TimedCase]) -> str:
    """Return the content of the frozen file of ``entries``, which are from ``kept``."""
    head = {
        "schema": SCHEMA, "recording": kept.name, "recorded_on": kept.recorded_on,
        "environment": published(kept.environment),
    }  # fmt: skip
    return in_rows({**head, "asked": map(_row, entries)}, ("asked",))


def _row(entry: TimedCase) -> Mapping[str, object]:
    fields = dict(vars(entry))
    case, seconds, spread = (fields.pop(name) for name in ("case", "seconds", "spread"))
    return {**fields, **case, "seconds": seconds, "spread": spread}


RULES = {
    "03-predict": (lesson03, recording, timed_products),
    "04-predict": (lesson04, decode_recording, timed_layers),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Freeze the recording that is named; return 1, writing nothing, where it is too noisy."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("exercise", choices=RULES)
    parser.add_argument("recording", help="its name, such as epyc-2core-vm")
    chosen = parser.parse_args(arguments)
    lesson, read, fair = RULES[chosen.exercise]
    kept = read(chosen.recording)
    entries = fair(kept)
    counts, fewest = Counter(entry.kind for entry in entries), lesson.FEWEST
    few = [f"{counts[kind]} of kind {kind}" for kind in lesson.KINDS if counts[kind] < fewest]
    if few:
        print(f"{kept.name} of {kept.recorded_on}: fair to ask are only {', '.join(few)}; "
              f"{fewest} are needed, so record again on a quieter machine")  # fmt: skip
        return 1
    replace_file(lesson.FROZEN, timed_cases_text(kept, entries))
    print(f"{lesson.FROZEN}: {counts.total()} cases of {kept.name}, recorded {kept.recorded_on}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
