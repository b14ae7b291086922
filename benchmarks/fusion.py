"""Fused against new arrays: do the named terms predict the gain, and where attention begins to pay?

The costs of calls, elements and new pages are calibrated once, and the crossover is predicted and
printed before any of it is timed. Then come fresh runs, each a process of its own, because where
its arrays lie and what its malloc keeps differ from process to process. A run takes the six chains,
one thread, fp32, and then attention of one head at lengths around the predicted crossover. Printed
are medians over the runs, and the lowest and highest gain. *Off* is the larger of the predicted and
the measured gain over the smaller. The crossover is the first length from which streaming wins by
MARGIN, at it and at every longer one.

    python -m benchmarks.fusion [--runs 5] [--rows N] [--columns 4096] [--rounds 7] [--quick]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import rooflab as rl
from benchmarks.report import save, spread, table
from rooflab.labs.fusion.gain import ROUNDS, Gain

WAYS = ("temporaries", "fused")
MARGIN = 1.1  # times as fast: a smaller one asks more of the prediction than it can tell
AROUND = (0.25, 0.5, 0.75, 1, 1.5, 2)  # times the predicted crossover
ELSEWHERE = 4096  # the length to look around where none is predicted
STEP, LONGEST = 128, 65536  # of lengths that are tried in the prediction
QUICK = {"runs": 2, "rows": 64, "rounds": 3}


def once(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """One run: every chain, and attention at every length."""
    known = {"rounds": options.rounds, "progress": False}
    chains = {
        name: rl.fusion.gain(name, options.rows, options.columns, ways=WAYS, **known)
        for name in rl.fusion.chains()
    }
    lengths = {str(n): rl.fusion.attention_gain(n, **known) for n in options.lengths}
    return {
        what: {name: row(gain) for name, gain in gains.items()}
        for what, gains in (("chains", chains), ("attention", lengths))
    }


def row(gain: Gain) -> dict[str, object]:
    """What a run keeps of a Gain."""
    return {
        "measured": gain.gain(), "predicted": gain.expected(), "off": gain.off(),
        "seconds": {way: taken.median_s for way, taken in gain.measured.items()},
        "predicted_s": {way: terms.seconds for way, terms in gain.predicted.items()},
        "page_faults": {way: m.environment["page_faults"] for way, m in gain.measured.items()},
        "warnings": {way: m.warnings for way, m in gain.measured.items() if m.warnings},
    }  # fmt: skip


def in_a_process(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """:func:`once` in a fresh process; RuntimeError with what it printed if it fails."""
    command = [sys.executable, "-m", "benchmarks.fusion", "--once"]
    command += [f"--columns={options.columns}", f"--rounds={options.rounds}"]
    command += [f"--rows={options.rows}"] if options.rows else []
    command += ["--lengths", *map(str, options.lengths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"a run failed ({done.returncode}):\n{done.stderr}")
    return json.loads(done.stdout)


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, object]:
    """Medians over the runs with the spread of what was measured, and the runs themselves."""
    measured, lowest, highest = spread([run["measured"] for run in runs])
    predicted, off = (statistics.median(run[key] for run in runs) for key in ("predicted", "off"))
    return {
        "predicted": predicted, "measured": measured, "lowest": lowest, "highest": highest,
        "off": off, "runs": list(runs),
    }  # fmt: skip


def predicted_start(machine: rl.Machine, costs: rl.fusion.Costs) -> int | None:
    """Return the length from which streaming should win by MARGIN or more; None if from none."""
    for length in range(STEP, LONGEST + 1, STEP):
        streamed, whole = (
            rl.fusion.predict_attention(length, streamed=way, machine=machine, costs=costs).seconds
            for way in (True, False)
        )
        if whole >= MARGIN * streamed:
            return length
    return None


def crossover(rows: dict[str, dict[str, Any]]) -> int | None:
    """The first length from which streaming wins by MARGIN at every one."""
    first = None
    for length in sorted(map(int, rows), reverse=True):
        if rows[str(length)]["measured"] < MARGIN:
            break
        first = length
    return first


def around(length: int | None) -> list[int]:
    """Lengths around the predicted crossover, in its steps."""
    middle = length or ELSEWHERE
    return sorted({max(STEP, round(share * middle / STEP) * STEP) for share in AROUND})


def printed(result: dict[str, Any]) -> None:
    """Print both tables and the crossover."""
    head = ["predicted", "measured", "lowest", "highest", "off"]
    for what, first in (("chains", "chain"), ("attention", "length")):
        rows = result[what].items()
        table([first, *head], [[name, *(each[key] for key in head)] for name, each in rows])
        print()
    predicted, measured = result["crossover_predicted"], result["crossover_measured"]
    print(f"streaming wins by ×{MARGIN} from {predicted} on as predicted, {measured} as measured")


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Predict, measure, print the tables, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, help="of x; by default beyond the caches")
    parser.add_argument("--columns", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="samples of each way in a run")
    parser.add_argument("--quick", action="store_true", help="small arrays: whether it runs")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--lengths", type=int, nargs="*", help="of attention, not around it")
    options = parser.parse_args(arguments)
    if options.once:
        with contextlib.redirect_stdout(sys.stderr):
            result = once(options)
        print(json.dumps(result))
        return result
    if options.quick:
        vars(options).update(QUICK)
    machine = rl.this_machine("cpu", threads=1)
    costs = rl.fusion.costs(refresh=not options.quick)
    start = predicted_start(machine, costs)
    print(f"predicted before anything is timed: streaming wins from length {start} on", flush=True)
    if not options.lengths:
        options.lengths = [STEP, 2 * STEP] if options.quick else around(start)
    runs = []
    for number in range(options.runs):
        print(f"run {number + 1} of {options.runs}", flush=True)
        runs.append(in_a_process(options))
    result = {
        "machine": machine.name, "quick": options.quick, "rows": options.rows,
        "columns": options.columns, "rounds": options.rounds, "crossover_predicted": start,
        "recycled": costs.recycled, "fresh": costs.fresh,
    }  # fmt: skip
    for what in ("chains", "attention"):
        result[what] = {name: summary([run[what][name] for run in runs]) for name in runs[0][what]}
    result["crossover_measured"] = crossover(result["attention"])
    printed(result)
    if not options.quick:
        save("fusion", result)
    return result


if __name__ == "__main__":
    main()
