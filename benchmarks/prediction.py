"""How far off is the estimate? predict() against measure(), on sizes that were never fitted.

AXPY n = 2^8…2^26, GEMV N = 64…8192, GEMM N = 16…4096, fp32 and fp64, warm and cold. The error
of one row is max(predicted, measured) / min(…); a table gives its geometric mean and its 90th
percentile, for the estimate and for the pure DRAM bound, and names the worst rows with their
terms. ``--quick`` leaves out what takes longer than a tenth of a second a call. With several
threads a row counts only if the machine's own speed-up was there before and after it.

    python -m benchmarks.prediction [--threads 1] [--quick]
"""

from __future__ import annotations

import argparse
import math
import statistics

import rooflab as rl
from benchmarks.report import save, table
from benchmarks.speed_up import Cores
from rooflab.count import Operation

DTYPES = ("fp32", "fp64")


def scored(kind: str) -> list[Operation]:
    """The operations that are scored."""
    vectors = [rl.axpy(2**p, kind) for p in range(8, 27)]
    matrices = [rl.gemv(n, n, kind) for n in _steps(64, 8192)]
    return vectors + matrices + [rl.gemm(n, n, n, kind) for n in _steps(16, 4096)]


def _steps(low: int, high: int) -> list[int]:
    """Powers of two from ``low`` to ``high``, and the sizes half-way between them."""
    powers = [2**p for p in range(int(math.log2(low)), int(math.log2(high)) + 1)]
    return sorted(powers + [n * 3 // 2 for n in powers[:-1]])


def fitted(machine: rl.Machine) -> set[tuple[str, tuple[int, ...]]]:
    """Routine and sizes of everything that the estimate was fitted on."""
    return {
        (key.split("/")[0].removesuffix("-thin"), tuple(point["dims"].values()))
        for key, entry in machine.routines.items()
        for point in entry["points"]
    }


def rows(machine: rl.Machine, cores: Cores, cache: str, quick: bool) -> list[dict]:
    """One row an operation: measured seconds, estimate, bound."""

    def take(op: Operation) -> rl.Measurement:
        return rl.measure(
            op, backend="cpu", cache=cache, threads=machine.threads, samples=9, seconds=0.3
        )

    seen = fitted(machine)
    found = []
    for op in (op for kind in DTYPES for op in scored(kind)):
        assert (op.name, tuple(op.dims.values())) not in seen, f"{op.label} was fitted"
        if quick and float(rl.predict(op, machine, cache=cache)) > 0.1:
            continue
        taken = cores.measured(lambda op=op: take(op))
        if taken is None:
            continue
        prediction = rl.predict(op, machine, cache=cache)
        found.append({
            "op": op.label, "name": op.name, "measured_s": taken.median_s, "iqr_s": taken.iqr_s,
            "predicted_s": prediction.seconds, "bound_s": prediction.bound,
            "limit": prediction.limit, "terms": [t.note for t in prediction.terms],
        })  # fmt: skip
    return found


def error(row: dict, key: str) -> float:
    """Factor between the measured time and ``row[key]``, 1 or more."""
    ratio = row[key] / row["measured_s"]
    return max(ratio, 1 / ratio)


def summary(found: list[dict], key: str) -> tuple[float, float]:
    """Geometric mean and 90th percentile of the error."""
    errors = sorted(error(row, key) for row in found)
    return statistics.geometric_mean(errors), errors[math.ceil(0.9 * len(errors)) - 1]


def calibrated(cores: Cores) -> rl.Machine:
    """This machine, measured while all of its cores were ours."""
    if cores.threads == 1:
        return rl.this_machine("cpu", threads=1)
    found = cores.measured(lambda: rl.this_machine("cpu", threads=cores.threads, refresh=True))
    if found is None:
        raise SystemExit("this machine serialises its cores; try again when it is quiet")
    return found


def judged(cache: str, found: list[dict], result: dict) -> list[list[object]]:
    """The table's lines of one cache state; rows, errors and the worst five into ``result``."""
    groups = {"all": found, **{n: [r for r in found if r["name"] == n] for n in
                               ("axpy", "gemv", "gemm")}}  # fmt: skip
    lines, kept = [], {}
    for name, group in groups.items():
        estimate, bound = summary(group, "predicted_s"), summary(group, "bound_s")
        lines.append([cache, name, len(group), *estimate, *bound])
        kept[name] = {"estimate": estimate, "bound": bound}
    worst = sorted(found, key=lambda r: -error(r, "predicted_s"))[:5]
    result[cache] = {**kept, "worst": worst, "rows": found}
    return lines


def told_worst(result: dict) -> None:
    """Print the rows that the estimate misses most."""
    if result["gated"]:
        print(f"{result['gated']} rows left out: the machine serialised its cores meanwhile")
    for cache in ("warm", "cold"):
        print(f"\nworst, {cache}:")
        for row in result[cache]["worst"]:
            off = row["predicted_s"] / row["measured_s"]
            print(
                f"  {row['op']:<28} predicted/measured {off:.2f}, "
                f"IQR {row['iqr_s'] / row['measured_s']:.0%}, {row['limit']}: {row['terms'][1]}"
            )


def main(arguments: list[str] | None = None) -> dict[str, object]:
    """Measure, print the table and the worst rows, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    with Cores(options.threads) as cores:
        machine = calibrated(cores)
        result = {"machine": machine.name, "threads": options.threads, "quick": options.quick}
        found = {c: rows(machine, cores, c, options.quick) for c in ("warm", "cold")}
        result["gated"] = cores.gated
    lines = [line for cache in found for line in judged(cache, found[cache], result)]
    table(["cache", "op", "rows", "estimate", "p90", "bound", "p90"], lines)
    told_worst(result)
    save(f"prediction-{options.threads}t", result)
    return result


if __name__ == "__main__":
    main()
