"""The memory mountain beside likwid-bench (bandwidth) and a pointer chase in C (latency).

One run. Each round measures one working set in every level: rooflab's mountain, a few runs of
likwid with the same mix on as many bytes, and a chase in C that `cc` compiles. The chase has huge
pages, and a part that is not timed, as ours has. Rounds alternate, so that a slow minute of the
machine hits all of them.

Two ratios are told: the median over the rounds, and best by best. The targets ask for the second:
what else runs on a machine, or on a host beside it, only slows, and a shared last-level cache may
be taken for seconds. A whole mountain is timed at the end. What is not installed is left out.
likwid-bench is Debian's package `likwid`.

    python -m benchmarks.memory_mountain [--rounds 3]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import roofs_vs_likwid
from benchmarks.report import save, spread, table
from rooflab.labs.memory.mountain import mountain
from rooflab.measure.caches import FALLBACK, beyond_caches, cache_levels, cache_sizes, sharers
from rooflab.measure.roof_kernels import host

BANDWIDTH, LATENCY, SECONDS = 0.95, 0.05, 15.0  # at least, at most apart, at most
RUNS = 2  # likwid runs of a round
CHASE_C = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void *volatile sink;
static void **hop(void **p, long n) {
    for (long i = 0; i < n; i += 16) {
        p = *p; p = *p; p = *p; p = *p; p = *p; p = *p; p = *p; p = *p;
        p = *p; p = *p; p = *p; p = *p; p = *p; p = *p; p = *p; p = *p;
    }
    return p;
}
int main(int argc, char **argv) {
    long bytes = atol(argv[1]), line = 64, lines = bytes / line, huge = 2 << 20;
    long room = (bytes + huge - 1) / huge * huge;
    char *store = aligned_alloc(huge, room);
#ifdef MADV_HUGEPAGE
    madvise(store, room, MADV_HUGEPAGE);
#endif
    long *order = malloc(lines * sizeof *order);
    for (long i = 0; i < lines; i++) order[i] = i;
    srand48(atol(argv[2]));
    for (long i = lines - 1; i > 0; i--) {
        long j = (long)(drand48() * (i + 1)), keep = order[i];
        order[i] = order[j]; order[j] = keep;
    }
    for (long i = 0; i < lines; i++)
        *(void **)(store + line * order[i]) = store + line * order[(i + 1) % lines];
    void **p = hop((void **)store, lines < 400000 ? lines : 400000);
    double times[12], end = 0;
    long hops = 20000;
    for (int k = 0; k < 12; k++) {
        double begin = now();
        p = hop(p, hops);
        end = now();
        times[k] = (end - begin) / hops;
        if (k == 0 && times[0] * hops < 1.5e-3) hops = (long)(1.5e-3 / times[0]) / 16 * 16;
    }
    sink = p;
    for (int i = 1; i < 12; i++)
        for (int j = i; j > 0 && times[j] < times[j - 1]; j--) {
            double keep = times[j]; times[j] = times[j - 1]; times[j - 1] = keep;
        }
    printf("%.6g\n", times[1]);
    return 0;
}
"""


def working_sets() -> dict[str, int]:
    """Bytes in the middle of each level, and beyond all caches."""
    levels = cache_levels(cache_sizes(), 1, sharers())
    sets = {level.name: level.per_thread // 1024 * 1024 for level in levels}
    return {**sets, "dram": beyond_caches(levels, FALLBACK)}


def compiled(folder: str) -> Path | None:
    """The chase in C; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    source, program = Path(folder, "chase.c"), Path(folder, "chase")
    source.write_text(CHASE_C)
    subprocess.run([compiler, "-O2", str(source), "-o", str(program)], check=True)
    return program


def in_c(program: Path, nbytes: int, seed: int) -> float:
    """Seconds of a hop: the second fastest of 12 slices, as rooflab takes the median of three."""
    command = [str(program), str(nbytes), str(seed)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    return float(told)


def compare(rounds: int) -> list[dict[str, Any]]:
    """A row for each level and series, with the samples of both."""
    sets = working_sets()
    by_likwid = None if roofs_vs_likwid.missing() else roofs_vs_likwid.KERNELS[host().vector_bytes]
    rows: dict[tuple[str, str], dict[str, Any]] = {
        (level, name): {"level": level, "row": name, "bytes": nbytes, "rooflab": [], "peer": []}
        for level, nbytes in sets.items()
        for name in ("read", "copy", "latency")
    }
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        for number in range(rounds):
            found = mountain(sizes=sorted(sets.values()), progress=False)
            for (_, name), row in rows.items():
                at = found.at(row["bytes"])
                row["rooflab"].append(float(getattr(found, name)[at]))
                if name == "latency" and program is not None:
                    row["peer"].append(in_c(program, row["bytes"], number))
                elif name != "latency" and by_likwid is not None:
                    runs = (roofs_vs_likwid.likwid(by_likwid[name], row["bytes"], 1)[0]
                            for _ in range(RUNS))  # fmt: skip
                    row["peer"].append(max(runs))
    for row in rows.values():
        pairs = list(zip(row["rooflab"], row["peer"]))
        row["ratio"] = statistics.median(a / b for a, b in pairs) if pairs else None
        best = min if row["row"] == "latency" else max
        row["best"] = best(row["rooflab"]) / best(row["peer"]) if pairs else None
    return list(rows.values())


def show(rows: list[dict[str, Any]]) -> None:
    """Print the table: GB/s and ns, medians, (highest - lowest) / median as spread."""
    lines = []
    for row in rows:
        latency = row["row"] == "latency"
        cells: list[object] = []
        for tool in ("rooflab", "peer"):
            if not row[tool]:
                cells += ["-", "-"]
                continue
            middle, low, high = spread(row[tool], 1e9 if latency else 1e-9)
            cells += [middle, f"{(high - low) / middle:.0%}"]
        best = row["best"]
        missed = best is not None and (abs(best - 1) > LATENCY if latency else best < BANDWIDTH)
        ratios = ["-" if one is None else one for one in (row["ratio"], best)]
        lines.append(
            (row["level"], row["row"], row["bytes"] // 1024, *cells, *ratios,
             "misses its target" if missed else "")
        )  # fmt: skip
    table(
        ("level", "row", "KiB", "rooflab", "spread", "likwid or C", "spread", "ratio",
         "best by best", ""), lines,
    )  # fmt: skip
    print(f"targets: bandwidth at least {BANDWIDTH:.0%} of likwid's, latency within {LATENCY:.0%}")


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Measure, print the table, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args(arguments).rounds
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    if roofs_vs_likwid.missing():
        print(f"bandwidths beside nobody's: {roofs_vs_likwid.missing()}")
    rows = compare(rounds)
    show(rows)
    began = time.perf_counter()
    whole = mountain(progress=False)
    seconds = time.perf_counter() - began
    print(f"a whole mountain, {len(whole.sizes)} working sets: {seconds:.1f} s of {SECONDS:.0f} s")
    print(whole)
    if (load or 0) > 0.5:
        print(f"load average {load:.1f} at the start: the figures are worth little")
    result = {
        "load": load, "rows": rows, "seconds": seconds,
        "levels": [level.sentence for level in whole.levels], "warnings": list(whole.warnings),
    }  # fmt: skip
    save("memory_mountain", result)
    return result


if __name__ == "__main__":
    main()
