"""What of CUDA this computer can do: count in the emulator, compile, run on a GPU."""

from __future__ import annotations

from contextlib import suppress

from rooflab.labs.cuda.compiler import library
from rooflab.labs.cuda.kernels import KERNELS
from rooflab.labs.cuda.loader import arch_for
from rooflab.measure.backend import probe_gpu


def here() -> str:
    """Tell what of lessons 13 to 16 runs on this computer.

    Returns
    -------
    str
        A line each for counting in the emulator, for compiling, and for running on a GPU.

    Examples
    --------
    >>> print(rl.cuda.here().splitlines()[0])
    Counting: yes, in the emulator, which needs no GPU.
    """
    return "\n".join((
        "Counting: yes, in the emulator, which needs no GPU.",
        f"Compiling: {_compiler()}",
        f"Running on a GPU: {_gpu()}",
    ))  # fmt: skip


def _compiler() -> str:
    try:
        library()
    except ModuleNotFoundError as error:
        return f"no ({error}). What the compiler says of our kernels is recorded."
    return "yes, with NVIDIA's compiler NVRTC, for any GPU."


def _gpu() -> str:
    xp, reason = probe_gpu()
    if xp is None:
        return f"no ({reason}). Times are those that others published."
    capability = int(xp.cuda.Device().compute_capability)
    able = 0
    for spec in KERNELS.values():
        with suppress(ValueError):  # of a kernel that needs another GPU
            arch_for(spec, capability)
            able += 1
    return f"yes, {able} of {len(KERNELS)} kernels on this one (sm_{capability}): rl.cuda.load."
