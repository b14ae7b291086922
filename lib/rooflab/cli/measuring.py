"""``rooflab measure`` and ``rooflab explain``: an operation here, and where its time went."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.options import BACKEND, BATCH, CACHE, DTYPE, THREADS, K, M, N, operation
from rooflab.cli.terminal import complain, say, table

if TYPE_CHECKING:
    from rooflab.count.operation import Operation
    from rooflab.measure.backend import Backend
    from rooflab.measure.measurement import Measurement
    from rooflab.predict.explain import Explanation
    from rooflab.predict.machine import Machine

COURSE = ("axpy", "gemv", "gemm")
BEYOND = 1.5  # times the last-level cache that one matrix of the three operations fills
LARGEST = 8192
FORMATS = (".png", ".svg", ".pdf")


def measure(
    op: Annotated[
        str | None, typer.Argument(help="axpy, dot, scale, ger, gemv, gemm; default: all three.")
    ] = None,
    m: M = None,
    n: N = None,
    k: K = None,
    dtype: DTYPE = "fp32",
    batch: BATCH = 1,
    backend: BACKEND = "auto",
    cache: CACHE = "cold",
    threads: THREADS = None,
    picture: Annotated[
        Path | None, typer.Option(help="File of the picture: png, svg, pdf.")
    ] = None,
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Draw no picture.")] = False,
) -> None:
    """Measure an operation here, beside what the roofline allows and what was predicted.

    Without an operation: AXPY, GEMV and GEMM on the same N×N data, beyond the caches.
    """
    from rooflab.count.validation import unknown
    from rooflab.measure.backend import select
    from rooflab.measure.this_machine import this_machine
    from rooflab.predict.estimate import CACHES

    cache = cache.strip().lower()
    if cache not in CACHES:
        raise unknown("--cache", cache, CACHES)
    if picture is not None:
        if no_picture:
            raise ValueError(f"--picture={str(picture)!r} and --no-picture: give one of them")
        _require_writable(picture)
    chosen = select(backend)
    if op is None:
        _require_defaults(m=m, n=n, k=k, batch=None if batch == 1 else batch)
    asked = None if op is None else [operation(op, m, n, k, dtype, batch)]
    for first in asked or [operation("gemm", n=64, dtype=dtype)]:
        _require_routine(first, chosen)
    machine = this_machine(chosen.name, threads, progress=sys.stderr.isatty())
    found = [*_measured(asked or _beyond_caches(machine, dtype), chosen.name, cache, threads)]
    _show(found, machine, cache)
    if not no_picture:
        _draw(found, machine, cache, picture)


def _require_defaults(**given: int | None) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"--{name}={value} needs an operation, as in `rooflab measure gemm`")


def _require_routine(op: Operation, backend: Backend) -> None:
    """Fail before the roofs are measured, not after."""
    from rooflab.measure.kernels import kernel_for
    from rooflab.measure.operands import require_memory

    kernel_for(op, backend)
    require_memory(op, backend)


def _beyond_caches(machine: Machine, dtype: str) -> list[Operation]:
    """The three operations on one N×N matrix that no cache holds."""
    from rooflab.count.dtypes import dtype as kind
    from rooflab.measure.caches import FALLBACK

    caches = [size for level, size in machine.capacities.items() if level != "dram"]
    wanted = BEYOND * max(caches, default=FALLBACK) * 8 / kind(dtype).bits
    n = 1024
    while n * n < wanted and n < LARGEST:
        n *= 2
    return [operation(name, n=n * n if name == "axpy" else n, dtype=dtype) for name in COURSE]


def _measured(
    ops: list[Operation], backend: str, cache: str, threads: int | None
) -> Iterator[Measurement]:
    from tqdm import tqdm

    from rooflab.measure.measure import measure as timed

    # A bar on a terminal, nothing in a pipe.
    shape = "measuring {desc}{bar} {n_fmt}/{total_fmt}"
    with tqdm(ops, bar_format=shape, leave=False, disable=not sys.stderr.isatty()) as bar:
        for op in bar:
            bar.set_description(op.label)
            yield timed(op, backend=backend, cache=cache, threads=threads)


def _show(found: list[Measurement], machine: Machine, cache: str) -> None:
    from rooflab.count.si import percent, si
    from rooflab.predict.estimate import predict
    from rooflab.predict.explain import explain

    rows, said = [], []
    for measured in found:
        prediction = predict(measured.op, machine, cache=cache)
        rows.append((
            _short(measured.op), f"{measured.op.intensity:.4g}", si(prediction.bound, "s"),
            si(prediction.seconds, "s"), si(measured.median_s, "s"),
            si(measured.flop_per_s, "FLOP/s"), percent(prediction.bound / measured.median_s),
        ))  # fmt: skip
        said.append(explain(measured, machine))
    say(f"{machine.name} ({found[0].backend}, {cache}), roofs {machine.provenance}")
    columns = ("operation", "FLOP/B", "bound", "predicted", "measured", "rate", "roof")
    table(columns, rows, right=range(1, 7), keep=())
    for explanation in said:
        show(explanation, notes=len(said) == 1, key=explanation is said[-1])
    for measured in found:
        for warning in measured.warnings:
            complain(f"{measured.op.label}: {warning}")


def _short(op: Operation) -> str:
    """The label of ``op``, with 2048×2048×2048 written as 2048³."""
    sizes = set(op.dims.values())
    if len(sizes) > 1 or len(op.dims) < 2:
        return op.label
    long = "×".join(str(n) for n in op.dims.values())
    return op.label.replace(long, f"{sizes.pop()}{'²³'[len(op.dims) - 2]}")


def _require_writable(path: Path) -> None:
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"--picture={str(path)!r} must end in {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise ValueError(f"--picture={str(path)!r}: there is no folder {str(path.parent)!r}")
    there = path.exists()
    try:
        path.open("ab").close()  # before measuring: some folders only look writable
    except OSError as error:
        raise _unwritable(path, error) from error
    if not there:
        path.unlink()


def _unwritable(path: Path, error: OSError) -> ValueError:
    return ValueError(
        f"--picture={str(path)!r} cannot be written ({error.strerror}); name a file elsewhere"
    )


def _draw(found: list[Measurement], machine: Machine, cache: str, picture: Path | None) -> None:
    from rooflab.predict.estimate import predict
    from rooflab.show.rooflines.figure import roofline
    from rooflab.show.rooflines.points import Point

    points: list[Measurement | Operation | Point] = []
    for measured in found:
        expected = predict(measured.op, machine, cache=cache)
        points += [
            measured,
            Point(measured.op, measured.op.flops / expected.seconds, "predicted", ""),
        ]
    roofs = cache if len(machine.levels) > 1 else "cold"  # "warm" draws one roof a cache level
    path = picture or Path(f"roofline-{_slug(found)}.png")
    try:
        roofline(machine, points, cache=roofs).save(path)
    except OSError as error:
        if picture is not None:
            raise _unwritable(picture, error) from error
        complain(f"no picture: {path} cannot be written ({error.strerror}); use --picture PATH")
        return
    say(f"Picture: {path}")


def _slug(found: list[Measurement]) -> str:
    if len(found) > 1:
        return f"{'-'.join(m.op.name for m in found)}-{found[0].op.compute_dtype}"
    return found[0].op.label.replace("×", "x").replace(" ", "-")


def explain(
    op: Annotated[str, typer.Argument(help="axpy, dot, scale, ger, gemv or gemm.")],
    machine: Annotated[
        str, typer.Option("--machine", help="A name from `rooflab machines`, or this.")
    ],
    time: Annotated[str, typer.Option("--time", help="Measured time: 31us, 1.2ms, 3s, 31e-6.")],
    m: M = None,
    n: N = None,
    k: K = None,
    dtype: DTYPE = "fp32",
    batch: BATCH = 1,
    cache: CACHE = "cold",
) -> None:
    """Explain a time that was measured: bound, share of the roof, and where the rest went."""
    from rooflab.cli.options import machine as chosen
    from rooflab.cli.terminal import doubt, seconds
    from rooflab.predict.explain import explain as explained

    what = operation(op, m, n, k, dtype, batch)
    took = seconds(time)
    found = explained(what, machine=chosen(machine), seconds=took, cache=cache.strip().lower())
    if asked := doubt(time, found.bound):
        complain(f"{asked}.")
    show(found)


def show(explanation: Explanation, *, notes: bool = True, key: bool = True) -> None:
    """Print the sentence, then the waterfall: a bar a step, from the bound to the measured time.

    Bars point right where a step makes the call longer and left where it makes it shorter;
    ``notes``: a line below each says why; ``key``: the last line says what the letters mean.
    """
    from rooflab.cli.terminal import waterfall
    from rooflab.show.falls import of_explanation

    if notes:
        say(str(explanation.op))
    say(explanation.sentence)
    waterfall(of_explanation(explanation), notes=notes, key=key)
