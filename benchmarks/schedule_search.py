"""Schedule search against BLAS: fp32 products of N×N matrices, one and two threads.

The best schedule found in at most 60 s runs in turn with NumPy's OpenBLAS on the same arrays, which
begin at a cache line. Two opponents: the OpenBLAS that comes up by itself, which may choose slower
kernels than the processor allows, and one told to use the instruction set that the search uses.
tinygrad's BEAM and Halide's autoscheduler (Adams 2019) join where they are installed.

Each measures in a process of its own. OPENBLAS_THREAD_TIMEOUT=4 lets OpenBLAS's idle threads sleep
at once: otherwise they spin for 25 ms beside whatever runs next.

    python -m benchmarks.schedule_search [--sizes 512 1024] [--threads 1 2] [--seconds 60]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.report import in_turn, save, spread, table

ROUNDS = 25
SETTLE_S = 0.1
PEERS = ("tinygrad", "halide")


def run(*arguments: str, **variables: str) -> Any:
    """What this file prints in a process of its own, with these environment variables."""
    asked = [sys.executable, "-m", "benchmarks.schedule_search", *arguments]
    variables = {**os.environ, "OPENBLAS_THREAD_TIMEOUT": "4", **variables}
    done = subprocess.run(asked, env=variables, check=False, capture_output=True, text=True)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no word"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def equal_core() -> str:
    """OpenBLAS's name for kernels of the instruction set that the search uses; "" if unknown."""
    from rooflab.measure.roof_kernels import host

    target = host()
    if target.vector_bytes == 16:  # NEON: OpenBLAS has nothing else there
        return ""
    return {64: "SkylakeX", 32: "Haswell"}[target.vector_bytes]


def found(n: int, threads: int, seconds: float, path: Path) -> dict[str, Any]:
    """Search, and keep the result in a file."""
    from rooflab.labs.search.schedules.beam import search

    start = time.perf_counter()
    best = search(n, threads, seconds=seconds, progress=False)
    path.write_text(json.dumps(best.to_dict()), "utf-8")
    return {
        "search_s": time.perf_counter() - start, "schedules": len(best.measured),
        "naive_flops_per_s": best.rate(best.naive), "schedule": best.winner.text,
        "ended": best.ended,
    }  # fmt: skip


def timed(call: Callable[[], object]) -> Callable[[], float]:
    """Seconds of one call, right after another one."""

    def once() -> float:
        call()
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    return once


def compared(path: Path, rounds: int) -> dict[str, Any]:
    """The best schedule of a file in turn with OpenBLAS."""
    import numpy as np
    from threadpoolctl import threadpool_info, threadpool_limits

    from rooflab.labs.loops.code.execution import Kernel, Team, room
    from rooflab.labs.search.schedules.result import Search

    best = Search.from_dict(json.loads(path.read_text("utf-8")))
    arrays = {name: room(shape) for name, shape in best.start.shapes.items()}
    product, dice = room(arrays["C"].shape), np.random.default_rng(0)
    for name in "AB":
        arrays[name][...] = dice.random(arrays[name].shape, np.float32)
    kernel = Kernel(best.best)
    with Team(best.threads) as team, Team(1) as alone, threadpool_limits(best.threads):
        ours, single = kernel.bind(arrays, team), kernel.bind(arrays, alone)
        ours()
        np.testing.assert_allclose(arrays["C"], arrays["A"] @ arrays["B"], rtol=1e-4)
        ways = {
            "search": timed(ours),
            "blas": timed(lambda: np.dot(arrays["A"], arrays["B"], out=product)),
        }
        if best.threads > 1:
            ways["search, one thread"] = timed(single)
        end = time.perf_counter() + SETTLE_S
        while time.perf_counter() < end:
            ours()
        seconds = in_turn(ways, rounds)
        blas = next(one for one in threadpool_info() if one["user_api"] == "blas")
    return {"seconds": seconds, "flops": best.flops, "blas": blas.get("architecture", "unknown")}


def tinygrad(n: int, rounds: int) -> dict[str, Any]:
    """tinygrad's product, its beam search made by the variable BEAM."""
    tg = import_module("tinygrad")
    a, b = tg.Tensor.rand(n, n).realize(), tg.Tensor.rand(n, n).realize()

    @tg.TinyJit
    def product() -> Any:
        return (a @ b).realize()

    start = time.perf_counter()
    for _ in range(3):
        product()
    tg.Device[tg.Device.DEFAULT].synchronize()
    tuned = time.perf_counter() - start

    def once() -> None:
        product()
        tg.Device[tg.Device.DEFAULT].synchronize()

    return {"search_s": tuned, "seconds": in_turn({"tinygrad": timed(once)}, rounds)["tinygrad"]}


def halide(n: int, threads: int, rounds: int) -> dict[str, Any]:
    """Halide's product under the schedule that Adams2019 gives it."""
    import numpy as np

    hl = import_module("halide")
    plugin = next(Path(hl.__file__).parent.rglob("libautoschedule_adams2019.*"))
    hl.load_plugin(str(plugin))
    dice = np.random.default_rng(0)
    a, b = (hl.Buffer(dice.random((n, n), np.float32)) for _ in range(2))
    first, second = (hl.ImageParam(hl.Float(32), 2, name) for name in "AB")
    x, y, k, product = hl.Var("x"), hl.Var("y"), hl.RDom([(0, n)]), hl.Func("product")
    product[x, y] = 0.0
    product[x, y] += first[k, y] * second[x, k]
    for one in (first, second):
        one.set_estimates([(0, n), (0, n)])
    product.set_estimates([(0, n), (0, n)])
    pipeline, start = hl.Pipeline(product), time.perf_counter()
    chosen = hl.AutoschedulerParams("Adams2019", {"parallelism": str(threads)})
    pipeline.apply_autoscheduler(hl.get_jit_target_from_environment(), chosen)
    first.set(a)
    second.set(b)
    pipeline.compile_jit()
    tuned, out = time.perf_counter() - start, hl.Buffer(hl.Float(32), [n, n])
    taken = in_turn({"halide": timed(lambda: pipeline.realize(out))}, rounds)["halide"]
    return {"search_s": tuned, "seconds": taken}


def peers(n: int, threads: int, rounds: int) -> dict[str, Any]:
    """What the installed peers reach."""
    got = {}
    for name in PEERS:
        if find_spec(name):
            got[name] = run(
                "--peer", name, "--sizes", str(n), "--threads", str(threads), "--rounds",
                str(rounds), BEAM="2", DEV="CPU", CPU_COUNT=str(threads),
                HL_NUM_THREADS=str(threads),
            )  # fmt: skip
    return got


def case(n: int, threads: int, seconds: float, rounds: int) -> dict[str, Any]:
    """One size and one number of threads, against everybody."""
    size = ["--sizes", str(n), "--threads", str(threads)]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "search.json")
        result = run("--search", path, "--seconds", str(seconds), *size)
        if "failed" in result:
            return result
        kinds = {"default": {}, "equal": {"OPENBLAS_CORETYPE": equal_core()}}
        for name, variables in kinds.items():
            if all(variables.values()):
                result[name] = run("--compare", path, "--rounds", str(rounds), **variables)
    result["peers"] = peers(n, threads, rounds)
    return result


def rows_of(name: str, result: dict[str, Any]) -> list[tuple[object, ...]]:
    """Rows of the table: GFLOP/s of medians, and the ratio of a round's seconds."""
    rows: list[tuple[object, ...]] = []
    if "failed" in result:
        return [(name, result["failed"])]
    for kind in ("default", "equal"):
        if kind not in result or "failed" in result[kind]:
            continue
        one = result[kind]
        taken, work = one["seconds"], one["flops"] / 1e9
        ratio = spread([b / s for b, s in zip(taken["blas"], taken["search"])])
        median = {way: statistics.median(values) for way, values in taken.items()}
        alone = median.get("search, one thread", median["search"])
        rows.append((
            name, f"{kind}: {one['blas']}", work / median["search"], work / median["blas"], *ratio,
            alone / median["search"],
        ))  # fmt: skip
    for peer, got in result["peers"].items():
        if "failed" in got:
            rows.append((name, peer, got["failed"]))
        elif "seconds" in result.get("default", {}):
            work = result["default"]["flops"] / 1e9
            ours = statistics.median(result["default"]["seconds"]["search"])
            taken = statistics.median(got["seconds"])
            rows.append((name, peer, work / ours, work / taken, taken / ours, "", "", ""))
    return rows


def main(arguments: list[str] | None = None) -> dict[str, object] | None:
    """Measure, print the table, keep the result; or do one part of it for another process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    for part in ("--search", "--compare"):
        parser.add_argument(part, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    n, threads = asked.sizes[0], asked.threads[0]
    if asked.search:
        print(json.dumps(found(n, threads, asked.seconds, asked.search)))
    elif asked.compare:
        print(json.dumps(compared(asked.compare, asked.rounds)))
    elif asked.peer == "tinygrad":
        print(json.dumps(tinygrad(n, asked.rounds)))
    elif asked.peer == "halide":
        print(json.dumps(halide(n, threads, asked.rounds)))
    else:
        return everything(asked)
    return None


def everything(asked: argparse.Namespace) -> dict[str, object]:
    """All sizes and numbers of threads."""
    results, rows = {}, []
    for n in asked.sizes:
        for threads in asked.threads:
            name = f"{n}, {threads} thread{'s' * (threads > 1)}"
            results[name] = case(n, threads, asked.seconds, asked.rounds)
            rows += rows_of(name, results[name])
    head = ("N", "against", "search GF/s", "its GF/s", "ratio", "least", "most", "own speed-up")
    table(head, [row + ("",) * (len(head) - len(row)) for row in rows])
    for name, result in results.items():
        if "failed" not in result:
            naive = result["naive_flops_per_s"] / 1e9
            print(f"{name}: {result['schedules']} schedules in {result['search_s']:.0f} s")
            print(f"  as written {naive:.2g} GF/s; best {result['schedule']}")
    document = {"cases": results, "seconds": asked.seconds, "rounds": asked.rounds}
    save("schedule_search", document)
    return document


if __name__ == "__main__":
    main()
