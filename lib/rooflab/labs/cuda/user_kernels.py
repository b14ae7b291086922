"""Kernels of one's own on the stand-in: RawKernel and RawModule, and a little ElementwiseKernel."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.labs.cuda.arrays import can_hold, ndarray, of_the_gpu, of_the_gpu_or_numbers
from rooflab.labs.cuda.modules import Namespace

if TYPE_CHECKING:
    from rooflab.labs.cuda.standin import StandIn

MOST_THREADS = 1024  # of a block
_ASSIGNMENT = re.compile(r"\s*(\w+)\s*([-+*/]?)=([^=;]+);?\s*")
_ARITHMETIC = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.USub, ast.Add, ast.Sub, ast.Mult, ast.Div,
    ast.Name, ast.Load, ast.Constant,
)  # fmt: skip


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


class RawKernel(Namespace):
    """A kernel in CUDA C++: its launches are logged, and ``cp.kernels`` says what they do.

    The stand-in compiles nothing. A kernel of an unknown name that could write to an array is
    refused, so that nobody takes silence for a result.
    """

    _called = "RawKernel()"

    def __init__(
        self, cp: StandIn, code: str | None, name: str, options: tuple[str, ...] = (),
        backend: str = "nvrtc", **_: object,
    ) -> None:  # fmt: skip
        if not isinstance(options, tuple):
            raise TypeError(f"options={options!r} must be a tuple")
        self._cp, self.code, self.name, self.options = cp, code, name, options

    def __call__(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], **_: object
    ) -> None:
        if self.code and not re.search(rf"\b{re.escape(self.name)}\s*\(", self.code):
            raise CUDADriverError("CUDA_ERROR_NOT_FOUND: named symbol not found")
        sides = [tuple(int(n) for n in shape) for shape in (grid, block)]
        wrong = any(not 1 <= len(side) <= 3 or min(side) < 1 for side in sides)
        if wrong or prod(sides[1]) > MOST_THREADS:
            raise CUDADriverError("CUDA_ERROR_INVALID_VALUE: invalid argument")
        of_the_gpu_or_numbers(*args)
        effect = self._cp.kernels.get(self.name)
        if effect is None and any(isinstance(a, ndarray) for a in args):
            raise NotImplementedError(
                f"the stand-in compiles no CUDA: what kernel {self.name!r} computes is to be said "
                "in cp.kernels; on a GPU it works"
            )
        given = tuple(a.writable() if isinstance(a, ndarray) else a for a in args)
        seconds = effect(Launch(self.options, *sides, given)) if effect else 0.0
        self._cp.gpu.run(self.name, self._cp.cuda.current.stream, seconds)


class RawModule(Namespace):
    """Several kernels of one source, or of the machine code at ``path``, which nobody reads."""

    _called = "RawModule()"

    def __init__(
        self, cp: StandIn, *, code: str | None = None, path: str | None = None,
        options: tuple[str, ...] = (), **_: object,
    ) -> None:  # fmt: skip
        self.get_function = lambda name: RawKernel(cp, code, name, options)


class ElementwiseKernel(Namespace):
    """One assignment of + − * / and numbers, such as ``y += a * x``, run as one kernel."""

    _called = "ElementwiseKernel()"

    def __init__(
        self, cp: StandIn, in_params: str, out_params: str, operation: str, name: str = "kernel",
        **_: object,
    ) -> None:  # fmt: skip
        self._cp, self.name = cp, name
        self._names = [part.split()[-1] for part in f"{in_params}, {out_params}".split(",")]
        parts = _ASSIGNMENT.fullmatch(operation)
        target, sign, right = parts.groups() if parts else ("", "", "")
        try:
            tree = ast.parse(f"{target} {sign} ({right})" if sign else right.strip(), mode="eval")
        except SyntaxError:
            tree = ast.Module()
        nodes = list(ast.walk(tree))
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        known = all(isinstance(node, _ARITHMETIC) for node in nodes) and used <= {*self._names}
        if not known or target != out_params.split()[-1]:
            raise NotImplementedError(
                f"{operation!r}: of kernels this stand-in runs one assignment to the one output, "
                "of + - * / on the parameters and numbers; on a GPU it works"
            )
        self._reads_target, self._code = target in used, compile(tree, name, "eval")
        self._flops = sum(isinstance(node, ast.BinOp) for node in nodes)

    def __call__(self, *args: Any) -> ndarray:
        many = len(self._names) - 1
        inputs, outputs = args[:many], args[many:]
        arrays = [a for a in inputs if isinstance(a, ndarray)]
        of_the_gpu_or_numbers(*inputs)
        of_the_gpu(*outputs)
        if len(inputs) < many or len(outputs) > 1 or not arrays:
            raise TypeError(f"{self.name!r} takes {self._names}, an array among them")
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        out = outputs[0] if outputs else self._cp.empty(shape, arrays[0].dtype)
        can_hold(out, shape, out.dtype)

        given = [a if isinstance(a, ndarray) else out.dtype.type(a) for a in inputs]
        self._cp.run(
            self.name, lambda *values: eval(self._code, {}, dict(zip(self._names, values))),
            [*given, out] if self._reads_target else given, out, flops=self._flops * out.size,
        )  # fmt: skip
        return out
