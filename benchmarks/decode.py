"""Real decode: is the estimate right, and does the loop waste what BLAS gives?

Two models, batch 1 … 64, one thread by default. Predicted against measured tokens a second, with
efficiencies that come from a model of other sizes (rooflab.labs.llm.decode_prediction), and the
pure bound's error beside it; prefill likewise. The loop's steps take turns with all of its GEMVs
and GEMMs alone: their share of a step is what BLAS would allow.

    python -m benchmarks.decode [--threads 1] [--quick]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import rooflab as rl
from benchmarks.prediction import error
from benchmarks.report import in_turn, save, spread, table
from rooflab.labs.llm.decode_loop import (
    Clock,
    decoder,
    loop_threads,
    loop_weights,
    step,
    take_in,
    timed_prefill,
)
from rooflab.labs.llm.decode_prediction import loop_efficiency
from rooflab.labs.llm.transformer import Weights, loop_model, products_only
from rooflab.measure.timing import undisturbed

BATCHES = (1, 2, 4, 8, 16, 64)
CONTEXT, PROMPTS = 128, (32, 128, 256)
ROUNDS = 15
OURS = 0.95  # share of the time that a quiet machine gives this process a core


def timed(work: Callable[[Clock], object], clock: Clock) -> float:
    """Seconds of one call of ``work(clock)``."""
    clock.start()
    work(clock)
    return sum(clock.seconds().values())


def decode_row(weights: Weights, batch: int, machine: rl.Machine, known: dict, rounds: int) -> dict:
    """Steps of the loop and its products alone, in turn; the estimate and the bound."""
    model, clock = weights.model, Clock(weights.backend)
    with loop_threads(machine.threads), undisturbed():
        made = decoder(weights, batch, CONTEXT, 1)
        first = take_in(made, np.arange(CONTEXT)[None] % model.vocab)
        ways = {
            "loop": lambda: timed(lambda mark: step(made, first, CONTEXT, mark), clock),
            "blas": lambda: timed(
                lambda mark: products_only(made.step, made.cache, CONTEXT + 1, mark), clock
            ),
        }
        in_turn(ways, 2)
        began = time.perf_counter(), time.process_time()
        seconds = in_turn(ways, rounds)
        wall, busy = time.perf_counter() - began[0], time.process_time() - began[1]
    told = rl.predict_decode(model, batch, CONTEXT + 1, machine, efficiency=known)
    loop, blas = (spread(seconds[name]) for name in ("loop", "blas"))
    return {
        "model": model.name, "batch": batch, "measured_s": loop[0], "loop_s": loop, "blas_s": blas,
        "predicted_s": told.total_s, "bound_s": told.bound_s, "tokens_per_s": batch / loop[0],
        "predicted_tokens_per_s": told.tokens_per_s, "blas_share": blas[0] / loop[0],
        "forms": dict(made.forms), "core_share": min(1.0, busy / wall),
    }  # fmt: skip


def prefill_row(weights: Weights, tokens: int, machine: rl.Machine, known: dict) -> dict:
    """The prefill of one prompt, its estimate and its bound."""
    model, clock = weights.model, Clock(weights.backend)
    with loop_threads(machine.threads):
        made = decoder(weights, 1, tokens, 1, "gemv ×B on Wᵀ")  # stored as at batch 1
        prompt = np.arange(tokens)[None] % model.vocab
        _, rows = timed_prefill(made, prompt, clock)
    seconds = statistics.median(sum(row.values()) for row in rows)
    told = rl.predict_decode(model, 1, tokens, machine, phase="prefill", efficiency=known)
    return {
        "model": model.name, "tokens": tokens, "measured_s": seconds,
        "predicted_s": told.total_s, "bound_s": told.bound_s,
    }  # fmt: skip


def mean_error(rows: list[dict], key: str) -> float:
    """Geometric mean of the factor between ``key`` and the measured time."""
    return statistics.geometric_mean(error(row, key) for row in rows)


def told(result: dict) -> None:
    """Print both tables and the summary."""
    table(
        ["model", "batch", "tokens/s", "predicted", "off by", "bound off by", "BLAS share",
         "forms"],
        [
            [r["model"], r["batch"], r["tokens_per_s"], r["predicted_tokens_per_s"],
             error(r, "predicted_s"), error(r, "bound_s"), r["blas_share"],
             ", ".join(sorted({*r["forms"].values()}))]
            for r in result["decode"]
        ],
    )  # fmt: skip
    print()
    table(
        ["model", "prompt", "seconds", "predicted", "off by", "bound off by"],
        [
            [r["model"], r["tokens"], r["measured_s"], r["predicted_s"], error(r, "predicted_s"),
             error(r, "bound_s")]
            for r in result["prefill"]
        ],
    )  # fmt: skip
    for phase in ("decode", "prefill"):
        errors = result["errors"][phase]
        print(
            f"{phase}: estimate off by ×{errors['estimate']:.2f}, bound by ×{errors['bound']:.2f}"
        )
    print(f"BLAS share of a step: {result['blas_share']:.0%} (median)")
    if result["core_share"] < OURS:
        print(
            f"this process had a core only {result['core_share']:.0%} of the time: other programs "
            "ran, and these are not the machine's figures"
        )


def main(arguments: list[str] | None = None) -> dict[str, object]:
    """Measure, print the tables, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="the small model only, fewer rounds")
    options = parser.parse_args(arguments)
    machine = rl.this_machine("cpu", threads=options.threads)
    known = loop_efficiency("cpu", options.threads, refresh=True)
    result: dict = {"machine": machine.name, "threads": options.threads, "quick": options.quick,
                    "context": CONTEXT, "decode": [], "prefill": []}  # fmt: skip
    for size in ("small",) if options.quick else ("small", "large"):
        weights = loop_weights(loop_model(size), backend="cpu")
        rounds = 5 if options.quick else ROUNDS
        result["decode"] += [decode_row(weights, b, machine, known, rounds) for b in BATCHES]
        result["prefill"] += [prefill_row(weights, n, machine, known) for n in PROMPTS]
    result["errors"] = {
        phase: {
            "estimate": mean_error(result[phase], "predicted_s"),
            "bound": mean_error(result[phase], "bound_s"),
        }
        for phase in ("decode", "prefill")
    }
    result["blas_share"] = statistics.median(row["blas_share"] for row in result["decode"])
    result["core_share"] = statistics.median(row["core_share"] for row in result["decode"])
    told(result)
    save(f"decode-{options.threads}t", result)
    return result


if __name__ == "__main__":
    main()
