"""RawKernel and RawModule of the strict CuPy; what a kernel does is said in kernels.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from types import SimpleNamespace
from typing import Any

from rooflab.labs.cuda.arrays import ndarray, of_the_gpu_or_numbers

MOST_THREADS = 1024  # of a block
REGISTERS = 32  # of every kernel: two thousand threads of it fit


class CUDADriverError(RuntimeError):
    """Same name and wording as CuPy's."""


@dataclass(frozen=True)
class Launch:
    """One launch of a RawKernel: its arguments, arrays as NumPy's, to be written to."""

    options: tuple[str, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: tuple[Any, ...]

    @property
    def threads(self) -> int:
        return prod(self.grid) * prod(self.block)

    @property
    def macros(self) -> dict[str, str]:
        """What the options define: "-DN=4" is N: "4"."""
        defined = (option[2:].partition("=") for option in self.options if option[:2] == "-D")
        return {name: value for name, _, value in defined}


Effect = Callable[[Launch], float]
"""Does to the arrays of a launch what the kernel does; returns the seconds that it takes."""


@dataclass(frozen=True)
class RawKernel:
    """A kernel in CUDA C++: its launches are logged, and ``cp.kernels`` says what they do.

    Nothing is compiled. A kernel of an unknown name that could write to an array is refused, so
    that nobody takes silence for a result. The pointer of the compiled one stands for REGISTERS.
    """

    cp: Any
    code: str | None
    name: str
    options: tuple[str, ...] = ()
    kernel = SimpleNamespace(ptr=REGISTERS)

    def __post_init__(self) -> None:
        if not isinstance(self.options, tuple):
            raise TypeError(f"options={self.options!r} must be a tuple")

    def __call__(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], shared_mem: int = 0
    ) -> None:
        if self.code and not re.search(rf"\b{re.escape(self.name)}\s*\(", self.code):
            raise CUDADriverError("CUDA_ERROR_NOT_FOUND: named symbol not found")
        sides = [tuple(int(n) for n in shape) for shape in (grid, block)]
        wrong = any(not 1 <= len(side) <= 3 or min(side) < 1 for side in sides)
        if wrong or prod(sides[1]) > MOST_THREADS:
            raise CUDADriverError("CUDA_ERROR_INVALID_VALUE: invalid argument")
        of_the_gpu_or_numbers(*args)
        effect = self.cp.kernels.get(self.name)
        if effect is None and any(isinstance(a, ndarray) for a in args):
            raise NotImplementedError(
                f"the stand-in compiles no CUDA: what kernel {self.name!r} computes is to be said "
                "in cp.kernels; on a GPU it works"
            )
        given = tuple(a.writable() if isinstance(a, ndarray) else a for a in args)
        seconds = effect(Launch(self.options, *sides, given)) if effect else 0.0
        self.cp.gpu.run(self.name, self.cp.cuda.get_current_stream().ptr, seconds)


class RawModule:
    """Kernels of the machine code at ``path``, which nobody reads."""

    def __init__(self, cp: Any, *, path: str) -> None:
        self.get_function = partial(RawKernel, cp, None)
