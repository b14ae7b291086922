"""The stages of `python course.py gpu`, in their order: what each one finds on a GPU.

Which machine is it, do the tests pass, is the clock right, where are the roofs, are right answers
accepted and wrong ones named, a recording, fused chains, our CUDA kernels, a decoding model, other
people's timers, the lessons.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tools.gpu_run import REPOSITORY, Run, Stage

RECORD_MINUTES = 8.0  # one plan for every call: a journal belongs to the plan that it was made for
QUICK_MINUTES = 0.2
LAST_S = 20.0  # that the measurement under way may take when a recording is to stop
ASKED = ("driver_version", "mig.mode.current", "power.limit", "clocks.sm", "clocks.mem")
LESSON_PACKAGES = ("nbclient", "nbformat", "ipykernel", "anywidget", "ipywidgets", "platformdirs")


def facts(run: Run) -> None:
    """Which GPU, which driver, which libraries; and how long the first use of a GPU takes."""
    from rooflab.measure.backend import select
    from rooflab.measure.gpu import describe, nvidia_smi

    here = select("gpu")
    pci_bus_id = here.xp.cuda.Device().pci_bus_id
    run.once("facts/nvidia-smi", lambda: nvidia_smi(pci_bus_id, *ASKED))
    run.once("facts/gpu", lambda: describe(here))
    run.once("facts/python", lambda: sys.version)
    run.once("facts/first use, s", _first_use)


def _first_use() -> float:
    began = time.perf_counter()
    code = "from rooflab.measure.backend import select; select('gpu')"
    subprocess.run([sys.executable, "-c", code], check=True)
    return round(time.perf_counter() - began, 2)


def tests(run: Run) -> None:
    """The tests that skip without a GPU."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts="]
    command += ["--import-mode=importlib", "-m", "gpu", "tests/measure/test_gpu.py"]
    command += [f"--junitxml={run.out / 'junit.xml'}", *(["-k", "adding"] if run.quick else [])]

    def outcome() -> dict[str, object]:
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
        print(done.stdout, done.stderr, sep="\n")
        lines = done.stdout.strip().splitlines()
        failed = [line[:200] for line in lines if line.startswith(("FAILED", "ERROR"))]
        found: dict[str, object] = {"last line": lines[-1:], "failed": failed}
        return found if done.returncode == 0 else {"error": f"status {done.returncode}", **found}

    run.findings.add("tests/gpu", outcome())


def clock(run: Run) -> None:
    """What the events' clock shows, and what a wrong procedure would have shown."""
    from rooflab.count.blas import axpy
    from rooflab.measure.backend import select
    from rooflab.measure.gpu import event_step_s, time_gpu
    from rooflab.measure.kernels import kernel_for
    from rooflab.measure.operands import make

    here = select("gpu")
    cp = here.xp
    empty = cp.RawKernel('extern "C" __global__ void nothing() {}', "nothing")
    run.once("clock/step of the events, us", lambda: 1e6 * event_step_s(cp, 0))
    run.once("clock/empty kernel, us", lambda: _micro(time_gpu, cp, lambda: empty((1,), (1,), ())))
    for power in (8, 20) if run.quick else (8, 12, 16, 18, 20, 22, 26):
        op = axpy(1 << power)
        call = kernel_for(op, here).bind(make(op, here))
        run.once(f"clock/axpy 2^{power}, Python's part, us", lambda c=call: _python(cp, c))
        run.once(f"clock/axpy 2^{power}, warm, us", lambda c=call: _micro(time_gpu, cp, c))
        run.once(f"clock/axpy 2^{power}, warm ungated, us", lambda c=call: _ungated(cp, c))
        run.once(f"clock/axpy 2^{power}, cold, us", lambda c=call: _micro(time_gpu, cp, c, "cold"))
    halves(run)


def halves(run: Run) -> None:
    """Whether half the bytes take half the time."""
    import rooflab as rl

    for kind in ("fp32", "fp16", "bf16"):
        for make in (rl.axpy, rl.dot):
            op = make(1 << (18 if run.quick else 27), kind)
            run.once(
                f"clock/{op.label}, GB/s",
                lambda o=op: round(rl.measure(o, backend="gpu").byte_per_s / 1e9, 1),
            )


def _micro(
    time_gpu: Callable[..., Any], cp: Any, call: Callable[[], Any], cache: str = "warm"
) -> float:
    return round(1e6 * time_gpu(cp, call, cache=cache).median_s, 3)


def _ungated(cp: Any, call: Callable[[], Any], count: int = 20) -> float:
    """What warm timing shows without a gate: launches, where a kernel is shorter than one."""
    pairs = [(cp.cuda.Event(), cp.cuda.Event()) for _ in range(count)]
    for start, stop in pairs:
        call()
        start.record()
        call()
        stop.record()
    pairs[-1][1].synchronize()
    return round(1e3 * statistics.median(cp.cuda.get_elapsed_time(*pair) for pair in pairs), 3)


def _python(cp: Any, call: Callable[[], Any]) -> float:
    """Microseconds that the host needs to queue one call."""
    call()
    cp.cuda.Device().synchronize()
    began = time.perf_counter()
    for _ in range(200):
        call()
    spent = (time.perf_counter() - began) / 200
    cp.cuda.Device().synchronize()
    return round(1e6 * spent, 2)


def roofs(run: Run) -> None:
    """The measured roofs, twice: what differs is noise."""
    from rooflab.measure.roofs import measure_roofs

    for number in (1,) if run.quick else (1, 2):
        run.once(f"roofs/run {number}", lambda: _short(measure_roofs("gpu", progress=False)))


def _short(found: dict[str, Any]) -> dict[str, object]:
    """The rates of measured roofs, in TFLOP/s and GB/s."""
    peaks = {name: round(entry["value"] / 1e12, 3) for name, entry in found["peak"].items()}
    rates = {
        f"{level} {mix}": round(entry["value"] / 1e9, 1)
        for level, mixes in found["bandwidth"].items()
        for mix, entry in mixes.items()
    }
    return {**peaks, **rates, "notes": found.get("notes"), "seconds": found.get("seconds")}


def exercises(run: Run) -> None:
    """The timing exercises: the right answer is accepted, every mistake is refused."""
    from rooflab.exercises.check import check
    from rooflab.exercises.registry import exercises as known

    for exercise in (one for one in known().values() if one.kind == "timing"):
        answers = {"right": exercise.reference}
        answers |= {m.name: m.wrong for m in exercise.misconceptions[: 2 if run.quick else None]}
        for name, answer in answers.items():

            def verdict(id: str = exercise.id, answer: Any = answer, right: bool = name == "right"):
                found = check(id, answer)
                told = {"passed": found.passed, "mistake": found.misconception, "note": found.note}
                wrong = found.passed is not right
                return {"error": found.reason[-300:], **told} if wrong else told

            run.once(f"exercises/{exercise.id}, {name}", verdict)


def record(run: Run) -> bool:
    """A recording of this GPU: roofs, and AXPY, GEMV and GEMM over size, dtype, cold and warm.

    It stops by itself before the stage's time is over; the journal in DIR/rec is taken up again.
    """
    from rooflab.measure.backend import select
    from rooflab.measure.record import RecordingStopped
    from rooflab.measure.record import record as recorded

    name = re.sub("[^a-z0-9]+", "-", select("gpu").device.lower()).strip("-")
    minutes = QUICK_MINUTES if run.quick else RECORD_MINUTES
    try:
        found = recorded(
            name, backend="gpu", minutes=minutes, quick=run.quick, folder=run.out / "rec",
            dtypes=("fp32",) if run.quick else None, overwrite=True, progress=False,
            stop_after=max(run.seconds - LAST_S, 1.0),
        )  # fmt: skip
    except RecordingStopped as stopped:
        run.findings.add("record/recording", str(stopped))
        return False
    reasons = sorted({left["reason"][:100] for left in found.to_dict()["left_out"]})
    told = {"measurements": len(found.measurements), "left out because": reasons[:12]}
    run.findings.add("record/recording", told)
    return True


def fusion(run: Run) -> None:
    """Elementwise chains: each call a kernel, and all of them one, made by cupy.fuse."""
    for name in ("sin_sqrt", "bias_gelu"):
        for way in ("temporaries", "fused"):
            rows = 64 if run.quick else 1 << 15
            run.once(f"fusion/{name}, {way}", lambda n=name, w=way, r=rows: _chain(n, w, r))


def _chain(name: str, way: str, rows: int, columns: int = 4096) -> dict[str, object]:
    from rooflab.labs.fusion.chains import chains
    from rooflab.measure.backend import select
    from rooflab.measure.gpu import time_gpu

    chain, cp = chains()[name], select("gpu").xp
    inputs, names = [cp.asarray(a) for a in chain.example(rows, columns)], {"np": cp}
    exec(chain.source(), names)
    call = cp.fuse(names[name]) if way == "fused" else names[name]
    off = float(abs(call(*inputs) - names[name](*inputs)).max())
    seconds = time_gpu(cp, lambda: call(*inputs), cache="cold").median_s
    op = chain.ledger(rows, columns, way=way)
    rate = round(op.bytes / seconds / 1e9, 1)
    told = {"us": round(1e6 * seconds, 2), "GB/s": rate, "bytes": op.bytes}
    return told if off < 1e-5 else {"error": f"the fused chain is off by {off}", **told}


def kernels(run: Run) -> None:
    """Our CUDA kernels: right on ragged sizes, and how fast beside the libraries' routines."""
    import rooflab as rl
    from rooflab.labs.cuda.kernels import KERNELS
    from rooflab.labs.cuda.loader import check

    side = 512 if run.quick else 4096
    for name, spec in KERNELS.items():
        run.once(f"kernels/{name}, right", lambda n=name: check(n) or "on ragged sizes")
        run.once(f"kernels/{name}, speed", lambda s=spec: _speed(s, side))
    peers = [rl.gemm(side, side, side, kind) for kind in ("fp32", "fp16")]
    for op in (*peers, rl.gemv(4 * side, 4 * side), rl.axpy(16 * side * side)):
        run.once(f"kernels/library, {op.label}, us",
                 lambda o=op: round(1e6 * rl.measure(o, backend="gpu").median_s, 2))  # fmt: skip


def _speed(spec: Any, side: int) -> dict[str, object]:
    """Cold microseconds, GB/s of the operands and TFLOP/s of a kernel on random small integers."""
    import numpy as np

    from rooflab.labs.cuda.loader import load, stored_as
    from rooflab.measure.backend import select
    from rooflab.measure.gpu import time_gpu

    cp, gemm = select("gpu").xp, spec.product == "gemm"
    sizes = dict.fromkeys("MNK", side if gemm else 4 * side) | {"n": 16 * side * side}
    draw, arrays = np.random.default_rng(0), []
    for array in spec.arrays:
        host = draw.integers(0, 2, array.shape(sizes), np.int8).astype(stored_as(array.dtype))
        arrays.append(cp.asarray(host))
    kernel = load(spec.name)
    seconds = time_gpu(cp, lambda: kernel.launch(*arrays), cache="cold").median_s
    moved = sum(array.nbytes for array in arrays)
    flops = 2 * side**3 if gemm else 0
    return {"us": round(1e6 * seconds, 2), "GB/s": round(moved / seconds / 1e9, 1),
            "TFLOP/s": round(flops / seconds / 1e12, 2)}  # fmt: skip


def decode(run: Run) -> None:
    """A real transformer's steps, and what was predicted of them."""
    import rooflab as rl
    from rooflab.labs.llm.transformer import SIZES

    small = replace(SIZES["small"], layers=1)
    model = small if run.quick else rl.loop_model("small", backend="gpu")
    for dtype in ("fp32", "bf16"):
        for batch in (1, 2) if run.quick else (1, 8, 64):

            def one(dtype: str = dtype, batch: int = batch) -> dict[str, object]:
                found = rl.decode_loop(model, batch, 128, 8, backend="gpu", dtype=dtype)
                return {
                    "step, ms": round(1e3 * found.step_s, 4),
                    "tokens/s": round(found.tokens_per_s, 1), "warnings": list(found.warnings),
                }  # fmt: skip

            run.once(f"decode/{model.name}, {dtype}, batch {batch}", one)


def versus(run: Run) -> None:
    """The same work through PyTorch and Triton's do_bench, in turn with ours."""
    try:
        import torch
        from triton.testing import do_bench
    except ImportError as error:
        run.findings.add("versus/left out", str(error))
        return
    import rooflab as rl

    n = 512 if run.quick else 8192
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in "ab")
    x, y = (torch.randn(1 << (20 if run.quick else 29), device="cuda") for _ in "xy")
    pairs = {
        f"bf16 product of {n}": (lambda: a @ b, rl.gemm(n, n, n, "bf16")),
        f"fp32 axpy of {x.numel()}": (lambda: y.add_(x, alpha=0.5), rl.axpy(x.numel())),
    }
    for name, (theirs, ours) in pairs.items():
        for number in range(3):
            peer = f"versus/{name}, do_bench {number}, us"
            mine = f"versus/{name}, rl.measure {number}, us"
            run.once(peer, lambda t=theirs: round(1e3 * do_bench(t, return_mode="median"), 2))
            run.once(mine, lambda o=ours: round(1e6 * rl.measure(o, backend="gpu").median_s, 2))


def lessons(run: Run) -> None:
    """Every lesson's solution from top to bottom, as somebody who owns this GPU would run it."""
    from importlib.util import find_spec

    missing = [name for name in LESSON_PACKAGES if find_spec(name) is None]
    if missing:
        run.findings.add("lessons/left out", f"not installed here: {', '.join(missing)}")
        return
    found = sorted((REPOSITORY / "notebooks" / "solutions").glob("[0-9]*.ipynb"))
    for path in found[:1] if run.quick else found:
        run.once(f"lessons/{path.stem}", lambda p=path: _run_lesson(p))


def _run_lesson(path: Path) -> dict[str, object]:
    import nbformat

    from tools.execute import run_notebook

    os.environ["ROOFLAB_QUICK"] = "1"
    began = time.perf_counter()
    notebook = run_notebook(nbformat.read(path, 4), path.stem, path.parent.parent)
    said = json.dumps([cell.get("outputs", []) for cell in notebook.cells])
    return {"seconds": round(time.perf_counter() - began, 1), "names a GPU": "NVIDIA" in said}


STAGES = (
    Stage("facts", facts, 5, 40),
    Stage("tests", tests, 40, 150),
    Stage("clock", clock, 30, 90),
    Stage("roofs", roofs, 20, 60),
    Stage("exercises", exercises, 15, 60),
    Stage("record", record, 60, 500),
    Stage("fusion", fusion, 10, 20),
    Stage("kernels", kernels, 60, 300),
    Stage("decode", decode, 40, 120),
    Stage("versus", versus, 20, 60),
    Stage("lessons", lessons, 60, 400),
)
