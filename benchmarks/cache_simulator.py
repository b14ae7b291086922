"""Accesses a second of the simulated caches, beside pycachesim.

The accesses are those of a product of matrices in fp32, with and without tiles, C in a register.
Three simulations see the same accesses in the same three levels: ours of the loop nest, ours of a
list of addresses, and pycachesim's of the same list. Their misses must be equal, or the comparison
stops.

    python -m benchmarks.cache_simulator [--n 128] [--rounds 5]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import rooflab as rl
from benchmarks.report import in_turn, save, spread, table
from rooflab.labs.cache.stream import AccessStream

LEVELS = (("L1", 48 << 10, 12), ("L2", 1 << 20, 16), ("L3", 8 << 20, 16))
TILE = 16
Misses = tuple[int, ...]


def hierarchy() -> rl.cache.Hierarchy:
    """The caches of a present core."""
    return rl.cache.Hierarchy(*(rl.cache.Cache(*level) for level in LEVELS))


def read_only(stream: AccessStream) -> AccessStream:
    """The stream without its stores: pycachesim takes a list of loads."""
    loads = tuple(one for one in stream.references if not one.write)
    return AccessStream(stream.extents, loads, stream.guards)


def addresses(stream: AccessStream) -> list[int]:
    """The address of every load of A, B and C, in the order of a product."""
    by_name = {one.array: one for one in stream.references}
    index = np.indices(stream.extents).reshape(len(stream.extents), -1)
    c, a, b = (one.offset + np.array(one.strides) @ index for one in by_name.values())
    begins = index[-1] == 0  # C is read before the innermost loop
    made = np.column_stack([c, a, b])
    keep = np.column_stack([begins, np.ones((begins.size, 2), bool)])
    return made[keep].tolist()


def ours(what: AccessStream | np.ndarray) -> Misses:
    """Misses of each level."""
    ledger = rl.cache.simulate(what, hierarchy(), width=4)
    return tuple(ledger.traffic(name).misses for name, _, _ in LEVELS)


def pycachesim(trace: list[int]) -> Misses:
    """Misses of each level."""
    import cachesim

    below, levels = None, []
    for name, capacity, ways in reversed(LEVELS):
        below = cachesim.Cache(
            name, capacity // ways // 64, ways, 64, "LRU", store_to=below, load_from=below
        )
        levels.insert(0, below)
    memory = cachesim.MainMemory()
    memory.load_to(levels[-1])
    memory.store_from(levels[-1])
    program = cachesim.CacheSimulator(levels[0], memory)
    program.load(trace, length=4)
    return tuple(seen["MISS_count"] for seen in list(program.stats())[:-1])


def timed(way: Callable[[], object], seen: set[bytes]) -> float:
    """Seconds that ``way`` takes; what it found is added to ``seen``."""
    start = time.perf_counter()
    found = way()
    seconds = time.perf_counter() - start
    seen.add(np.asarray(found, np.int64).tobytes())
    return seconds


def compared(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each way, in turns; all of them must find the same."""
    for way in ways.values():
        way()  # numba compiles
    seen: set[bytes] = set()
    seconds = in_turn({name: partial(timed, way, seen) for name, way in ways.items()}, rounds)
    if len(seen) > 1:
        raise SystemExit(f"{', '.join(ways)} do not agree")
    return seconds


def main(arguments: list[str] | None = None) -> dict[str, object]:
    """Measure, print the table, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=128, help="rows and columns of the matrices")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    rows, result = [], {}
    for tile in (None, TILE):
        stream = read_only(rl.cache.gemm_stream(options.n, options.n, options.n, tile=tile))
        trace = addresses(stream)
        array = np.array(trace)
        which = "no tiles" if tile is None else f"tiles of {tile}"
        found = compared(
            {
                "loop nest": partial(ours, stream),
                "addresses": partial(ours, array),
                "pycachesim": partial(pycachesim, trace),
            },
            options.rounds,
        )
        rows += [
            (which, name, *spread([len(trace) / s / 1e6 for s in found[name]])) for name in found
        ]
        result[which] = {name: len(trace) / statistics.median(s) for name, s in found.items()}
    table(("product", "way", "million accesses/s", "lowest", "highest"), rows)
    save("cache_simulator", {"n": options.n, "accesses_per_s": result})
    return result


if __name__ == "__main__":
    main()
