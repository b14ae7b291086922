"""The emulator against one generator for each thread, and NVIDIA's compiler on our kernels.

Peer: the plain interpreter of the tests, in which every thread is a Python generator that stops at
barriers; it counts sectors too, and looks for no races. Both run the same kernels in turn. The
first launch of a kernel parses it, the others do not. Numba's CUDASIM needs 5.9 s for the
tiled product of N = 64 (measured once elsewhere), and looks for no races either.

    python -m benchmarks.emulator [--rounds 5] [--quick]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

import rooflab as rl
from benchmarks.report import save, spread, table
from rooflab.labs.cuda import compiler
from rooflab.labs.cuda.kernels import KERNELS
from rooflab.labs.cuda.rungs import Rung
from tests.labs.cuda.emulator.oracle import execute

ARCHITECTURES = (80, 90, 100, 120)
SIZES = {"naive": (64, 256), "shared": (64, 128), "registers": (64,)}
MOST_PEER = 64  # of N: beyond, the peer takes minutes


def launch(rung: Rung, n: int, run: Callable[..., object]) -> float:
    """Seconds of one launch of a rung for N × N numbers."""
    a, b = np.random.default_rng(n).uniform(-1, 1, (2, n, n)).astype(np.float32)
    c = np.empty_like(a)
    begin = time.perf_counter()
    run(rung.source, (n // rung.tile,) * 2, rung.block, a, b, c, n)
    seconds = time.perf_counter() - begin
    assert np.allclose(c, a @ b, atol=1e-3)
    return seconds


def compiled() -> dict[str, float]:
    """CPU seconds for all kernels of the catalogue, by architecture, none from memory."""
    seconds = {}
    for capability in ARCHITECTURES:
        begin = time.process_time()
        for name, spec in KERNELS.items():
            if capability in spec.runs_on:
                compiler.compile(name, spec.arch(capability))
        seconds[f"sm_{capability}"] = time.process_time() - begin
    return seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    kept: dict[str, object] = {}
    rounds, rows = 1 if options.quick else options.rounds, []
    for name, sizes in SIZES.items():
        rung = rl.cuda.rungs()[name]
        for n in sizes[: 1 if options.quick else None]:
            first, ours, theirs = launch(rung, n, rl.cuda.launch), [], []
            for _ in range(rounds):
                ours.append(launch(rung, n, rl.cuda.launch))
                if n <= MOST_PEER:
                    theirs.append(launch(rung, n, execute))
            kept[f"{name}, N = {n}"] = {"first": first, "ours": ours, "peer": theirs}
            ratio = statistics.median(theirs) / statistics.median(ours) if theirs else "–"
            rows.append([f"{name}, N = {n}", 1e3 * first, *spread(ours, 1e3), ratio])
    table(["kernel", "first, ms", "again, ms", "lowest", "highest", "peer ÷ ours"], rows)
    kept["compiling, s of CPU"] = seconds = compiled()
    total = sum(seconds.values())
    print(
        f"{len(KERNELS)} CUDA kernels for {len(ARCHITECTURES)} architectures: {total:.1f} s of CPU"
    )
    if not options.quick:
        save("emulator", kept)


if __name__ == "__main__":
    main()
