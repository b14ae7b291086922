"""Other simulators: pycachesim hit for hit, and cachegrind on compiled loops within 3 %."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rooflab.labs.cache import AccessStream, Cache, Hierarchy, gemm_stream, simulate
from tests.support.plain_caches import walked

LEVELS = (Cache("L1", 1024, ways=4), Cache("L2", 4096, ways=8), Cache("L3", 16384, ways=16))
Access = tuple[int, int, bool]


def by_pycachesim(hierarchy: Hierarchy, accesses: Iterator[Access]) -> list[tuple[int, int]]:
    """Misses and dirty lines written back, for each level.

    pycachesim does not make a line newer when a store hits it, so a store is a load and a store.
    """
    cachesim = pytest.importorskip("cachesim")
    memory, below = cachesim.MainMemory(), None
    levels = []
    for level in reversed(hierarchy.caches):
        below = cachesim.Cache(
            level.name, level.sets, level.lines // level.sets, level.line, "LRU",
            store_to=below, load_from=below,
        )  # fmt: skip
        levels.insert(0, below)
    memory.load_to(levels[-1])
    memory.store_from(levels[-1])
    program = cachesim.CacheSimulator(levels[0], memory)
    for address, width, write in accesses:
        program.load(address, length=width)
        if write:
            program.store(address, length=width)
    return [(seen["MISS_count"], seen["EVICT_count"]) for seen in program.stats()][:-1]


def by_us(ledger) -> list[tuple[int, int]]:
    line = ledger.hierarchy.line
    seen = [ledger.traffic(level) for level in ledger.hierarchy.names]
    return [(level.misses, level.bytes_out // line) for level in seen]


def strayed(ledger) -> int:
    """Lines written back to a level that had lost them, which pycachesim fetches first."""
    return sum(ledger.traffic(level).stray for level in ledger.hierarchy.names)


@pytest.mark.parametrize("tile", [None, 8, 10])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_pycachesim_sees_the_misses_and_evictions_of_a_product(tile, levels):
    hierarchy, stream = Hierarchy(*LEVELS[:levels]), gemm_stream(24, 20, 28, "fp64", tile)
    ledger = simulate(stream, hierarchy, flush=False)
    assert strayed(ledger) == 0
    made = ((address, one.bytes, one.write) for one, address in walked(stream))
    assert by_us(ledger) == by_pycachesim(hierarchy, made)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4000), st.booleans()), max_size=300), st.integers(1, 3))
def test_pycachesim_sees_the_same_in_any_trace(trace: list[tuple[int, bool]], levels: int):
    small = (Cache("L1", 256, 2, 16), Cache("L2", 1024, 4, 16), Cache("L3", 2048, 8, 16))
    hierarchy = Hierarchy(*small[:levels])
    writes = np.array([write for _, write in trace], bool)
    ledger = simulate([address for address, _ in trace], hierarchy, writes=writes, flush=False)
    assume(strayed(ledger) == 0)
    made = ((address, 1, write) for address, write in trace)
    assert by_us(ledger) == by_pycachesim(hierarchy, made)


def test_the_continuous_integration_installs_both(repository: Path) -> None:
    """Where one is missing the tests above or below skip, so somewhere both must be there."""
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    extra = project["optional-dependencies"]["test"]
    assert any(wanted.startswith("pycachesim") for wanted in extra)
    assert "add valgrind" in (repository / ".ci" / "run").read_text("utf-8")


# cachegrind, which runs the real instructions of a compiled program

N, TILE = 100, 10
PROGRAM = """
/* Not static, or the compiler would see that all they hold is zeros. */
float a[N * N] __attribute__((aligned(4096)));
float b[N * N] __attribute__((aligned(4096)));
float c[N * N] __attribute__((aligned(4096)));

int main(int arguments, char **words) {
  if (arguments > 1)
    for (int io = 0; io < N; io += T)
      for (int jo = 0; jo < N; jo += T)
        for (int ko = 0; ko < N; ko += T)
          for (int i = io; i < io + T; i++)
            for (int j = jo; j < jo + T; j++) {
              float sum = c[i * N + j];
              for (int k = ko; k < ko + T; k++) sum += a[i * N + k] * b[k * N + j];
              c[i * N + j] = sum;
            }
  return (int)c[0];
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (shutil.which("valgrind") and shutil.which("cc")):
        pytest.skip("no valgrind or no C compiler on this machine")
    return tmp_path_factory.mktemp("cachegrind")


def misses(program: Path, geometry: str, arguments: list[str]) -> tuple[int, int]:
    """Data misses of the first level and of the last, in a run of ``program``."""
    done = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--D1={geometry}",
         "--LL=262144,16,64", "--cachegrind-out-file=/dev/null", f"./{program.name}", *arguments],
        capture_output=True, text=True, check=False, timeout=60, cwd=program.parent,
        env={"PATH": os.environ["PATH"]},  # it lies on the stack, which is in the caches too
    )  # fmt: skip
    found = {
        name: int(number.replace(",", ""))
        for name, number in re.findall(r"(D1|LLd)\s+misses:\s+([\d,]+)", done.stderr)
    }
    return found["D1"], found["LLd"]


@cache
def compiled(folder: Path, tile: int) -> Path:
    """The program; -Os keeps what its loops need in registers, where -O1 spills to the stack."""
    program = folder / f"gemm{tile}"
    source = folder / f"gemm{tile}.c"
    source.write_text(f"#define N {N}\n#define T {tile}\n{PROGRAM}", encoding="utf-8")
    subprocess.run(["cc", "-Os", "-o", str(program), str(source)], check=True)
    return program


@pytest.mark.parametrize("tile", [N, TILE], ids=["naive", "tiled"])
@pytest.mark.parametrize(
    ("capacity", "ways"), [(4096, 4), (32768, 8)], ids=["4 KiB, 4-way", "32 KiB, 8-way"]
)
def test_cachegrind_counts_the_misses_of_compiled_loops(folder, tile, capacity, ways):
    """What the program's start misses is taken off: it runs once without its loops."""
    program = compiled(folder, tile)
    geometry = f"{capacity},{ways},64"
    start, whole = (misses(program, geometry, words) for words in ([], ["run"]))
    stream: AccessStream = gemm_stream(N, N, N, tile=None if tile == N else tile)
    caches = Hierarchy(Cache("L1", capacity, ways), Cache("L2", 262144, 16))
    ledger = simulate(stream, caches)
    assert ledger.traffic("L1").misses == pytest.approx(whole[0] - start[0], rel=0.03)
    assert ledger.traffic("L2").misses == pytest.approx(whole[1] - start[1], rel=0.03)
