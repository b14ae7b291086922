"""What options mean: a machine, or an operation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from rooflab.count.operation import Operation
    from rooflab.predict.machine import Machine

THIS = ("this", "here")


def machine(name: str, *, threads: int | None = None) -> Machine:
    """Return the machine ``name``: "this", a recording's name or a catalogue name.

    Raises ValueError with suggestions from all of them.
    """
    from rooflab.count.validation import unknown
    from rooflab.measure.recording import recording, recordings
    from rooflab.predict import catalogue

    if name.strip().lower() in THIS:
        from rooflab.measure.this_machine import this_machine

        return this_machine(threads=threads)
    if name in recordings():
        return recording(name).machine
    try:
        return catalogue.machine(name)
    except catalogue.VagueName:
        raise
    except ValueError:
        raise unknown("machine", name, [*catalogue.machines(), *recordings(), THIS[0]]) from None


# Which sizes an operation has. One that is not given has the value of n.
SIZES = {
    "axpy": ("n",), "dot": ("n",), "scale": ("n",),
    "ger": ("m", "n"), "gemv": ("m", "n"), "gemm": ("m", "n", "k"),
}  # fmt: skip
BATCHED = ("gemv", "gemm")

M = Annotated[int | None, typer.Option("--m", help="Rows of A and of the result.")]
N = Annotated[int | None, typer.Option("--n", help="Length of a vector; columns of B (gemm).")]
K = Annotated[int | None, typer.Option("--k", help="Columns of A, rows of B (gemm).")]
DTYPE = Annotated[str, typer.Option("--dtype", help="fp64, fp32, tf32, bf16, fp16, fp8, int8, …")]
BATCH = Annotated[int, typer.Option("--batch", help="Independent problems (gemv, gemm).")]
BACKEND = Annotated[str, typer.Option("--backend", help="auto, cpu or gpu.")]
CACHE = Annotated[str, typer.Option("--cache", help="cold (operands in memory) or warm.")]
THREADS = Annotated[int | None, typer.Option("--threads", help="CPU threads; all by default.")]
JSON = Annotated[Path | None, typer.Option("--json", help="File to keep the result in.")]
ONE_THREAD = Annotated[int, typer.Option("--threads", help="CPU threads.")]  # one by default


def require_folder(path: Path | None) -> None:
    """Raise ValueError before anything is measured if the file of --json could not be put there."""
    if path is not None and not path.resolve().parent.is_dir():
        raise ValueError(f"--json={str(path)!r}: there is no folder to put it in")


def counts(option: str, text: str) -> list[int]:
    """Return the whole numbers, 1 or more, that ``text`` lists: "1,4" is [1, 4]."""
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = [0]
    if min(found) < 1:
        raise ValueError(f"{option}={text!r} must be counts, as in 1,4")
    return found


def operation(
    name: str,
    m: int | None = None,
    n: int | None = None,
    k: int | None = None,
    dtype: str = "fp32",
    batch: int = 1,
) -> Operation:
    """Return the operation ``name``; sizes left out are those of ``n``.

    Raises ValueError naming the option that is missing, does not belong, or has a wrong value.
    """
    from rooflab.count import blas
    from rooflab.count.validation import size, unknown

    key = name.strip().lower()
    if key not in SIZES:
        raise unknown("op", name, SIZES)
    given = {letter: value for letter, value in (("m", m), ("n", n), ("k", k)) if value is not None}
    wanted = SIZES[key]
    for letter in given:
        if letter not in wanted:
            raise ValueError(
                f"--{letter}={given[letter]}: {key} has no {letter}, only {_options(wanted)}"
            )
    if "n" not in given and len(given) < len(wanted):
        raise ValueError(f"{key} needs {_options(wanted)}; give at least --n")
    sizes = {
        letter: size(f"--{letter}", given[letter]) if letter in given else given["n"]
        for letter in wanted
    }
    size("--batch", batch)
    if batch != 1 and key not in BATCHED:
        raise ValueError(f"--batch={batch}: only {' and '.join(BATCHED)} come in batches here")
    extra = {"batch": batch} if key in BATCHED else {}
    count: Callable[..., Operation] = getattr(blas, key)
    return count(**sizes, dtype=dtype, **extra)


def _options(letters: tuple[str, ...]) -> str:
    return ", ".join(f"--{letter}" for letter in letters)
