"""Every kind of picture that is made of a scene, as the code that a notebook would run."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any
from unittest import mock

import rooflab as rl
from rooflab.show.scene.player import Player

MACHINES = ("epyc-2core-vm", "h100-sxm", "mi250x-gcd", "apple-m1", "raspberry-pi-5")
FEW = {"machine": "h100-sxm", "dtypes": ("fp32", "fp64", "fp8_e4m3"), "band": (4, 8)}
BOTH = {"dtypes": ("fp64", "fp32"), "cache": "both", "overhead": True}
product = functools.cache(lambda: rl.live.box(machine="h100-sxm"))
beside = functools.cache(lambda: rl.live.roofline(MACHINES, box=True, **FEW))
below = functools.cache(lambda: rl.live.roofline(MACHINES[:4], ladder=True, **BOTH))
PICTURES = {  # each leaves its widget in `picture`
    "free_lunch": """from rooflab.measure.free_lunch import FreeLunch
k = (1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
curve = FreeLunch(k, tuple(max(4e-3, 2e-4 * v) for v in k), (0.0,) * 10, 1 << 24, 4, 1)
picture = rl.live.free_lunch(curve, names=True, start=17)""",
    "roofline": "picture = pictures.beside()",
    "cold and warm": "picture = pictures.below()",
    "product": "picture = pictures.product()",
    "guess": """from rooflab.show.guess_axis import guess
asked = {"result": 43.0, "unit": "ms", "low": 1, "high": 1000}
picture = guess("nine", "One takes 3.7 ms. Nine?", marks={"one multiply-add": 3.7}, **asked)""",
    "guess in words": """from rooflab.show.guess_axis import guess
asked = dict(result="GEMM", answers=("AXPY, a stick", "GEMV", "GEMM"), low=1, high=9)
picture = guess("who", "Which of the three is the fastest?", **asked)""",
    "guess at its end": """from types import SimpleNamespace
from rooflab.show.guess_axis import guess
class Store:
    def get(self, id): return SimpleNamespace(value=1e5)
asked = {"result": 1.0, "unit": "tokens/s", "low": 0.1, "high": 10_000}
picture = guess("many", "How many?", store=Store(), **asked)""",
    "cards": """import os, tempfile
os.environ["ROOFLAB_GUESSES"] = tempfile.mkdtemp()
cases = [rl.axpy(2**28), rl.gemm(8192, 8192, 8192), rl.gemv(2048, 2048, batch=64, shared=("a",)),
    rl.gemm(8, 8, 8)]
picture = rl.sort("four", cases, machine="h100-sxm")""",
    "my guesses": """import os, tempfile
os.environ["ROOFLAB_GUESSES"] = tempfile.mkdtemp()
from rooflab.exercises.my_guesses import my_guesses as mine
for id, value in {"00-nine": 20, "01-gemv-ratio": 30, "02-warm": 4, "05-small": 3e5}.items():
    rl.guess(id, value)
    rl.ask(id, 10)
rl.show_me("00-bend")
picture = mine().picture""",
    "morph": """from tests.support.morph_example import HERE, MEASURED
picture = rl.live.morph(MEASURED, machine=HERE, guesses={"gemm 1024×1024×1024 fp32": 0.2})""",
    "morph_asked": """from rooflab.show.guess_axis import guess
from tests.support.morph_example import HERE, MEASURED, OPS, bound
asked = {op: guess(op.name, "How long?", result=1e3 * bound(op), unit="ms", low=bound(op) * 30,
    high=bound(op) * 3e4) for op in (OPS[5], OPS[9])}
picture = rl.live.morph(MEASURED[1::2], machine=HERE, guesses=asked)""",
    "morph_crowd": """import dataclasses
from tests.support.machine import measurement
from tests.support.morph_example import HERE, OPS
rates = (3.68e9, 8.77e9, 5.65e9, 21.5e9, 40.1e9, 3.52e9, 11.9e9, 96.7e9, 88.4e9, 70e9)
seen = [measurement(op, "here", op.flops / rate) for op, rate in zip(OPS, rates)]
seen[3:5] = [dataclasses.replace(one, cache="warm") for one in seen[3:5]]
picture = rl.live.morph(seen, machine=HERE, guesses={OPS[2]: 1e-5, OPS[5]: 0.4, OPS[9]: 1e-3})""",
    "energy bars": "picture = rl.memory.energy_bars()",
    "energy arch": "picture = rl.memory.energy_arch(machine='nvidia-a100-sxm-80')",
    "film": 'picture = rl.live.film("llama-3-8b", ["h100-sxm", "epyc-2core-vm"])',
    "film of experts": """machines = ["a100-sxm-80", "nvidia-l4"]
picture = rl.live.film("deepseek-v2-lite", machines, weights=["bf16", "fp8"])""",
    "film measured": """from tests.support.film_example import HERE, SMALL, run
few = {"weights": "bf16", "kv": "bf16", "context": 256}
picture = rl.live.film(SMALL, HERE, decode_run=[run(1), run(8)], **few)""",
    "golf": """import numpy as np
from rooflab.labs.golf.solutions import axpy_expression
x, y = np.ones(10**6), np.ones(10**6)
picture = rl.live.golf(rl.golf(axpy_expression, 0.5, x, y))""",
    "golf in pieces": """import dataclasses
import numpy as np
from rooflab.labs.golf import sweep
from rooflab.labs.golf.solutions import axpy_chunks
x, y = np.ones(10**5), np.ones(10**5)
pieces = sweep(axpy_chunks, 0.5, x, y, chunks=(1000, 16_000, 10**5), rounds=0)
picture = rl.live.golf(dataclasses.replace(pieces, seconds=(23.6e-3, 5e-3, 8e-3)))""",
    "mountain": """from tests.labs.memory.support.synthetic import KIB, MIB, mountain, zen
told = {"l1": 48 * KIB, "l2": MIB, "l3": 480 * MIB}
found = mountain(zen(24 * MIB, noise=0.05), told, name="A core", measured_on="2026-11-23")
picture = rl.live.mountain(found, start=2 * MIB)""",
    "rings": "picture = rl.memory.rings()",
    "rings of a shuffle": "picture = rl.memory.rings(shuffle=True)",
    "bandwidth bars": """from tests.labs.memory.support.core import found
core = rl.recording("epyc-2core-vm").at(threads=1)
picture = rl.memory.bandwidth_bars(rl.memory.bandwidths(core, chases=found(10, together=30e9)))""",
    "published": "picture = rl.show.published()",
    "belt": "picture = rl.memory.belt()",
    "tiles": "picture = rl.cache.tiles()",
    "pipeline": "picture = rl.loops.pipeline()",
    "stairs": "picture = rl.cuda.stairs('h100')",
    "coalescing": "picture = rl.cuda.coalescing()",
    "multiprocessor": "picture = rl.cuda.multiprocessor()",
    "register tile": "picture = rl.cuda.register_tile()",
    "sets": "picture = rl.cache.sets()",
    "space": """nest = rl.loops.Nest({"i": (1, 7), "j": 6}, "A[i,j] = A[i-1,j+1]*0.5")
picture = rl.loops.space(nest, pair=((2, 0), (1, 1)))""",
    "space in 12 rows": """nest = rl.loops.Nest({"i": 12, "j": 12}, "C[i] += A[i,j]")
picture = rl.loops.space(nest)""",
    "trail": """from tests.labs.search.support.searches import PLAIN, searched
picture = rl.search.trail(searched(), PLAIN, peer={"a library": 120e9})""",
    "tree": "picture = rl.search.tree()",
    "growth": "picture = rl.search.growth()",
    "growth of products": """A, B, C = (rl.search.matrix(name, 1024, 1024) for name in "ABC")
picture = rl.search.growth(((A @ B) @ C) @ rl.search.vector("v", 1024), cost="flops")""",
    "growth of passes": "picture = rl.search.growth(3 * (2 * rl.search.vector('x', 10**6)))",
}
START = f"""import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
import rooflab as rl
from tests.support import pictures
"""


@functools.cache
def made(name: str) -> Player:
    """The picture of that name."""
    names: dict[str, Any] = {}
    with mock.patch.dict(os.environ):  # some have a store of guesses of their own
        exec(START + PICTURES[name], names)
    picture: Player = names["picture"]
    return picture
