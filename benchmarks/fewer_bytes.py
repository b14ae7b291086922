"""Fewer bits and smaller weights: casts beside ml_dtypes' own, and products of one vector by BLAS.

*Casts*: ``rl.precision.quantise`` gives fp32 back, so its peer is ``astype`` there and back. Both
take turns on the same 1e6 numbers. *Weights*: ``rl.sparse.gemv_gain`` in fresh processes, gains
over rooflab's own fp32 loop and over SciPy's sgemv, predicted and measured. *Off* is the larger of
the predicted and the measured gain over the smaller.

    python -m benchmarks.fewer_bytes [--runs 3] [--rounds 15]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import ml_dtypes
import numpy as np

import rooflab as rl
from benchmarks.report import in_turn, save, spread, table

CASTS = {"fp8_e4m3": ml_dtypes.float8_e4m3fn, "bf16": ml_dtypes.bfloat16}
NUMBERS, KINDS = 1_000_000, ("int8", "int4", "2:4")
ONCE = (
    "import json, rooflab as rl; g = rl.sparse.gemv_gain(['int8', 'int4', '2:4'], progress=False);"
    "print(json.dumps({k: [g.gain(k), g.gain(k, 'blas'), g.expected(k), g.off(k), "
    "g.measured[k].op.bytes / g.measured[k].median_s] for k in ('int8', 'int4', '2:4')}))"
)


def seconds(call: Any) -> float:
    """Return the seconds of one call."""
    start = perf_counter()
    call()
    return perf_counter() - start


def casts(rounds: int) -> dict[str, dict[str, float]]:
    """Return medians in ms of both ways, and how many times ml_dtypes' speed ours has."""
    values = np.random.default_rng(0).standard_normal(NUMBERS).astype(np.float32)
    result = {}
    for name, kind in CASTS.items():
        ways = {
            "ours": lambda name=name: seconds(lambda: rl.precision.quantise(values, name)),
            "ml_dtypes": lambda kind=kind: seconds(lambda: values.astype(kind).astype(np.float32)),
        }
        taken = {way: spread(each, 1e3)[0] for way, each in in_turn(ways, rounds).items()}
        result[name] = {**taken, "speed": taken["ml_dtypes"] / taken["ours"]}
    return result


def weights(runs: int) -> dict[str, dict[str, float]]:
    """Return medians over fresh processes of the gains of each format."""
    rows = [
        json.loads(subprocess.run([sys.executable, "-c", ONCE], capture_output=True, text=True,
                                  check=True).stdout)
        for _ in range(runs)
    ]  # fmt: skip
    names = ("over own loop", "over BLAS", "predicted", "off", "byte_per_s")
    return {
        kind: dict(zip(names, (spread(each)[0] for each in zip(*(row[kind] for row in rows)))))
        for kind in KINDS
    }


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Measure both, print and save them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    result = {"casts": casts(options.rounds), "weights": weights(options.runs)}
    for name, rows in result.items():
        table([name, *next(iter(rows.values()))], [[k, *row.values()] for k, row in rows.items()])
        print()
    save("fewer_bytes", result)
    return result


if __name__ == "__main__":
    main()
