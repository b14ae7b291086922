"""The measured roofs beside likwid-bench (same mix, same working set) and STREAM, in one run.

Rounds alternate between the two, so that a slow minute of the machine hits both. A round gives
rooflab's roof as `measure_roofs` reports it, and a few likwid runs; the table shows medians and
spread of both. The ratio is the median over the rounds of rooflab's roof to the better likwid run
of the same round; beside it stands the stricter one, rooflab's median to likwid's best run of all
rounds, which noise alone pushes down. likwid averages over a whole run, so on a busy machine it
sinks (its spread tells): run this on an idle one. likwid-bench is Debian's package `likwid`.

    python -m benchmarks.roofs_vs_likwid [--rounds 3]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.report import save, spread, table
from rooflab.measure.backend import available_cores
from rooflab.measure.caches import FALLBACK, beyond_caches, cache_levels, cache_sizes, sharers
from rooflab.measure.roof_kernels import MIXES, host
from rooflab.measure.roofs import measure_roofs

TARGET = 0.95
RUNS, RUN_BYTES, RUN_TURNS = 2, 3e9, 200_000  # likwid runs of a round, and how long each is
KERNELS = {  # vector bytes -> likwid's kernel of each row
    64: {
        "read": "load_avx512", "axpy": "daxpy_avx512_fma", "copy": "copy_avx512",
        "update": "update_avx512", "fp64": "peakflops_avx512_fma",
        "fp32": "peakflops_sp_avx512_fma", "triad": "stream_avx512_fma",
        "copy, non-temporal": "copy_mem_avx512",
    },
    32: {
        "read": "load_avx", "axpy": "daxpy_avx_fma", "copy": "copy_avx", "update": "update_avx",
        "fp64": "peakflops_avx_fma", "fp32": "peakflops_sp_avx_fma", "triad": "stream_avx_fma",
        "copy, non-temporal": "copy_mem_avx",
    },
}  # fmt: skip
STREAM_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int argc, char **argv) {
    long n = atol(argv[1]);
    double *a = aligned_alloc(4096, 8 * n), *b = aligned_alloc(4096, 8 * n);
    double *c = aligned_alloc(4096, 8 * n), best[2] = {1e9, 1e9}, s = 3.0;
    #pragma omp parallel for
    for (long i = 0; i < n; i++) { a[i] = 1; b[i] = 2; c[i] = 0; }
    for (int k = 0; k < 10; k++) {
        double t = now();
        #pragma omp parallel for
        for (long i = 0; i < n; i++) c[i] = a[i];
        t = now() - t; if (t < best[0]) best[0] = t;
        t = now();
        #pragma omp parallel for
        for (long i = 0; i < n; i++) a[i] = b[i] + s * c[i];
        t = now() - t; if (t < best[1]) best[1] = t;
    }
    printf("%g %g %g\n", 16.0 * n / best[0], 24.0 * n / best[1], a[n / 2]);
}
"""


def likwid(kernel: str, nbytes: int, threads: int) -> tuple[float, float]:
    """(byte/s, FLOP/s) of one run on a working set of `nbytes`, all threads together."""
    turns = RUN_TURNS if kernel.startswith("peakflops") else RUN_BYTES * threads / nbytes
    command = [
        "likwid-bench", "-t", kernel, "-w", f"N:{max(1, round(nbytes / 1000))}kB:{threads}",
        "-i", str(max(10, int(turns))),
    ]  # fmt: skip
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    rates = [
        float(re.search(rf"^{name}:\s+([\d.]+)", told, re.M)[1]) for name in ("MByte/s", "MFlops/s")
    ]
    return rates[0] * 1e6, rates[1] * 1e6


def rows_of(threads: int) -> list[tuple[str, str, int]]:
    """(level, row, bytes of the working set): the ones that measure_roofs uses."""
    levels = cache_levels(cache_sizes(), threads, sharers())
    sets = {level.name: level.per_thread * threads for level in levels}
    sets["dram"] = beyond_caches(levels, FALLBACK, threads)
    peaks = [("peak", dtype, 16_000 * threads) for dtype in ("fp64", "fp32")]
    return peaks + [(level, mix, nbytes) for level, nbytes in sets.items() for mix in MIXES]


def one_round(threads: int, found: dict[tuple[str, str, int], dict[str, Any]]) -> None:
    """Measure every row with both, and append to `found`."""
    kernels = KERNELS[host().vector_bytes]
    roofs = measure_roofs("cpu", threads, progress=False)
    for level, name, nbytes in rows_of(threads):
        ours = roofs["peak"][name] if level == "peak" else roofs["bandwidth"][level][name]
        row = found.setdefault((level, name, threads), {"rooflab": [], "likwid": []})
        row["rooflab"].append(ours["value"])
        row["likwid"] += [
            likwid(kernels[name], nbytes, threads)[level == "peak"] for _ in range(RUNS)
        ]
        row["working_set"] = nbytes


def stream(threads: int) -> dict[str, float]:
    """STREAM by its own counting: likwid's triad and non-temporal copy, and the C program's."""
    nbytes = {level: nbytes for level, _, nbytes in rows_of(threads)}["dram"]
    kernels = KERNELS[host().vector_bytes]
    found = {
        f"likwid {name}": max(likwid(kernels[name], nbytes, threads)[0] for _ in range(RUNS))
        for name in ("triad", "copy, non-temporal")
    }
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        print("STREAM in C left out: no C compiler")
        return found
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "stream.c"), Path(folder, "stream")
        source.write_text(STREAM_C)
        flags = ["-O3", "-march=native", "-fopenmp"]
        subprocess.run([compiler, *flags, str(source), "-o", str(program)], check=True)
        told = subprocess.run(
            [str(program), str(nbytes // 8)], capture_output=True, text=True, check=True,
            env={"OMP_NUM_THREADS": str(threads)},
        ).stdout.split()  # fmt: skip
    return {**found, "STREAM copy (C)": float(told[0]), "STREAM triad (C)": float(told[1])}


def missing() -> str:
    """Why the comparison cannot be made here; "" if it can."""
    if shutil.which("likwid-bench") is None:
        return "likwid-bench is not installed (Debian: apt install likwid)"
    if host().vector_bytes not in KERNELS:
        return f"no likwid kernels listed for {host().vector_bytes}-byte vectors"
    return ""


def paired(row: dict[str, Any]) -> float:
    """Median over the rounds of rooflab's roof to likwid's better run of that round."""
    theirs = [max(row["likwid"][i : i + RUNS]) for i in range(0, len(row["likwid"]), RUNS)]
    return statistics.median(ours / best for ours, best in zip(row["rooflab"], theirs, strict=True))


def compare(rounds: int) -> dict[str, Any]:
    """Measure everything ``rounds`` times; the rows, and STREAM by its own counting."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    counts = sorted({1, available_cores()})
    for _ in range(rounds):
        for threads in counts:
            one_round(threads, found)
    rows = [
        {
            "level": level, "row": name, "threads": threads, **row,
            "ratio": paired(row), "strict": statistics.median(row["rooflab"]) / max(row["likwid"]),
        }
        for (level, name, threads), row in found.items()
    ]  # fmt: skip
    return {"rows": rows, "stream": {threads: stream(threads) for threads in counts}}


def show(result: dict[str, Any]) -> None:
    """Print the table: 1e9 FLOP/s or byte/s, medians, (highest - lowest) / median as spread."""
    lines = []
    for row in result["rows"]:
        cells: list[object] = []
        for tool in ("rooflab", "likwid"):
            middle, low, high = spread(row[tool], 1e-9)
            cells += [middle, f"{(high - low) / middle:.0%}"]
        below = "" if row["ratio"] >= TARGET else "below target"
        lines.append(
            (row["level"], row["row"], row["threads"], *cells, row["ratio"], row["strict"], below)
        )
    table(
        ("level", "row", "thr", "rooflab", "spread", "likwid", "spread", "ratio", "strict", ""),
        lines,
    )
    print(f"target: at least {TARGET:.0%} of likwid-bench's better run of the round")
    if (result["load"] or 0) > 0.5:
        print(f"load average {result['load']:.1f} at the start: likwid's figures are too low")
    for threads, figures in result["stream"].items():
        told = ", ".join(f"{name} {rate / 1e9:.1f}" for name, rate in figures.items())
        print(f"STREAM, {threads} threads, GB/s: {told}")


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Measure, print the table, keep the result; without likwid-bench say so, and keep nothing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args(arguments).rounds
    if missing():
        print(f"roofs against likwid-bench: skipped, {missing()}")
        return {"skipped": missing()}
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    result = {"target": TARGET, "load": load, "cores": available_cores(), **compare(rounds)}
    show(result)
    save("roofs", result)
    return result


if __name__ == "__main__":
    main()
