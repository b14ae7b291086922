"""Launch a kernel of the catalogue on a GPU through CuPy, and compare it with NumPy.

Everything that can be wrong is looked at before the launch: a wrong launch would be an error at
some later call, or wrong numbers.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from rooflab.labs.cuda.compiler import compile
from rooflab.labs.cuda.cubin import MOST_THREADS
from rooflab.labs.cuda.kernels import KernelSpec, Shape, spec_of
from rooflab.measure.backend import select
from rooflab.measure.settings import user_folder

_MOST_ELEMENTS = 2**31 - 4096  # kernels count elements, and a block beyond, in C's int
_MOST_GRID = (2**31 - 1, 65535)  # blocks along x and y


@dataclass(frozen=True)
class Plan:
    """One launch: the kernel's ``sizes``, its ``grid`` and ``block``, dynamic shared bytes."""

    sizes: Mapping[str, int]
    grid: Shape
    block: Shape
    shared_bytes: int


def plan(name: str, shapes: Sequence[Shape], **macros: int) -> Plan:
    """Return how a kernel is launched on arrays of these shapes; no GPU is needed.

    Parameters
    ----------
    name : str
        A kernel of the catalogue.
    shapes : sequence of tuples of int
        Of its arrays, in their order.
    **macros : int
        Values of its macros.

    Returns
    -------
    Plan
        Sizes, grid, block, and dynamic bytes of shared memory.

    Examples
    --------
    >>> rl.cuda.plan("sgemm_shared", [(100, 30), (30, 70), (100, 70)]).grid
    (3, 4)
    """
    spec = spec_of(name, macros)
    sizes = _sizes(spec, shapes)
    for size, step in spec.multiple_of.items():
        if sizes[size] % step:
            right = -(-sizes[size] // step) * step
            raise ValueError(
                f"{size}={sizes[size]} must be a multiple of {step} for {name}: "
                f"pad the arrays with zeros to {right}, or take a kernel for any size"
            )
    values = {**macros, **sizes}
    block = spec.counts(spec.block, values)
    if not 0 < np.prod(block) <= MOST_THREADS:
        raise ValueError(
            f"block={block} is {np.prod(block)} threads; a block has 1 to {MOST_THREADS}: "
            f"choose other macros than {macros}"
        )
    grid = spec.counts(spec.grid, values)
    if any(count > most for count, most in zip(grid, _MOST_GRID, strict=False)):
        raise ValueError(f"{sizes} make a grid of {grid} blocks; at most {_MOST_GRID} can be")
    return Plan(sizes, grid, block, *spec.counts(spec.shared, values))


def _sizes(spec: KernelSpec, shapes: Sequence[Shape]) -> dict[str, int]:
    """Return the kernel's sizes, which its arrays must agree on."""
    names = ", ".join(array.name for array in spec.arrays)
    if len(shapes) != len(spec.arrays):
        raise ValueError(f"{spec.name} takes the arrays {names}, not {len(shapes)} arrays")
    sizes: dict[str, int] = {}
    for array, shape in zip(spec.arrays, shapes, strict=True):
        axes = ", ".join(array.axes)
        if len(shape) != len(array.axes) or not 0 < math.prod(shape) <= _MOST_ELEMENTS:
            raise ValueError(
                f"{array.name} has shape {tuple(shape)}; [{axes}] of 1 to {_MOST_ELEMENTS} "
                "elements is right"
            )
        for axis, length in zip(array.axes, shape, strict=True):
            sizes.setdefault(axis, length)  # "K//2" waits for an array that has K itself
    for array, shape in zip(spec.arrays, shapes, strict=True):
        right = array.shape(sizes)
        if tuple(shape) != right:
            axes = ", ".join(array.axes)
            raise ValueError(f"{array.name} has shape {tuple(shape)}; [{axes}] is {right} here")
    return {name: sizes[name] for name in spec.sizes}


def stored_as(dtype: str) -> np.dtype:
    """Return the array dtype of a kernel's operand: FP8, which CuPy lacks, lies in uint8."""
    return np.dtype("uint8" if dtype.startswith("float8") else dtype)


def require_arrays(spec: KernelSpec, arrays: Sequence[Any]) -> None:
    """Raise TypeError or ValueError for arrays that ``spec`` would read wrongly."""
    for operand, array in zip(spec.arrays, arrays, strict=True):
        kind = stored_as(operand.dtype)
        if array.dtype != kind:
            raise TypeError(f"{operand.name} is {array.dtype}; {spec.name} takes {kind}")
        if not array.flags.c_contiguous:
            raise ValueError(
                f"{operand.name} is no C-contiguous array; use cp.ascontiguousarray(…)"
            )
        if array.data.ptr % spec.alignment:
            raise ValueError(
                f"{operand.name} begins at an address that is no multiple of {spec.alignment} "
                f"bytes, which {spec.name}'s loads need; copy it: {operand.name}.copy()"
            )


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel on this GPU. ``launch`` is what ``rl.measure(op, run=kernel.launch)`` times."""

    spec: KernelSpec
    macros: Mapping[str, int]
    xp: ModuleType = field(repr=False)
    function: Any = field(repr=False)
    _maps: dict[tuple[object, ...], Any] = field(default_factory=dict, repr=False)

    def launch(self, *arrays: Any, **scalars: float) -> None:
        """Queue the kernel on CuPy arrays, the output last; ``alpha=`` and the like are scalars.

        Raises TypeError or ValueError with what to do for arrays or sizes that it cannot take.
        """
        spec = self.spec
        for array in arrays:
            if not isinstance(array, self.xp.ndarray):
                kind = type(array).__name__
                raise TypeError(f"{spec.name} takes CuPy arrays, not {kind}; use cp.asarray(…)")
        if scalars.keys() - spec.scalars.keys():
            has = ", ".join(spec.scalars) or "none"
            raise ValueError(f"scalars {', '.join(scalars)}: {spec.name} has {has}")
        made = plan(spec.name, [array.shape for array in arrays], **self.macros)
        require_arrays(spec, arrays)
        if spec.zeroed:
            arrays[-1].fill(0)
        pointers = [self._operand(spec.arrays[i].name, array) for i, array in enumerate(arrays)]
        values = [np.float32(value) for value in {**spec.scalars, **scalars}.values()]
        sizes = [np.int32(value) for value in made.sizes.values()]
        self.function(
            made.grid, made.block, (*pointers, *values, *sizes), shared_mem=made.shared_bytes
        )

    def _operand(self, name: str, array: Any) -> Any:
        """Return the array, or for one that TMA fetches its tensor map in the GPU's memory."""
        if name not in self.spec.tiles:
            return array
        key = (array.data.ptr, array.shape)
        if key not in self._maps:
            self._maps[key] = self.xp.asarray(tensor_map(array, self.spec.tiles[name]))
        return self._maps[key]


def load(name: str, **macros: int) -> LoadedKernel:
    """Compile a kernel of the catalogue for this GPU and return it, ready to launch.

    Its ``launch`` is what ``rl.measure(rl.gemm(512, 512, 512), run=kernel.launch)`` times. Of
    kernels in half precision the result is in fp32: ``rl.gemm(m, n, k, "fp16", c="fp32")``.

    Parameters
    ----------
    name : str
        Such as "sgemm_shared".
    **macros : int
        Values of its macros, such as ``TILE=16``.

    Returns
    -------
    LoadedKernel
        Takes CuPy arrays, the output last.

    Raises
    ------
    RuntimeError
        Without a usable GPU.
    ValueError
        For a GPU that the kernel does not run on, or more shared memory than a block has.

    Examples
    --------
    >>> kernel = rl.cuda.load("sgemm_shared", TILE=16)  # doctest: +SKIP
    """
    spec = spec_of(name, macros)
    xp = select("gpu").xp
    device = xp.cuda.Device()
    arch = arch_for(spec, int(device.compute_capability))
    compiled = compile(name, arch, macros=macros)
    # CuPy's own compiler makes machine code too, as far as its users show, but knows
    # neither sm_90a nor NVRTC's bundled headers. Machine code needs no newer driver, as PTX does.
    folder = user_folder("cache") / "cubins"
    digest = hashlib.sha256(compiled.cubin).hexdigest()[:16]
    path = folder / f"{name}-{arch}-{digest}.cubin"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        written = path.with_suffix(f".{os.getpid()}")
        written.write_bytes(compiled.cubin)
        written.replace(path)
    function = xp.RawModule(path=str(path)).get_function(name)
    (shared,) = spec.counts(spec.shared, macros)
    most = int(device.attributes["MaxSharedMemoryPerBlockOptin"])
    if compiled.shared_bytes + shared > most:
        raise ValueError(
            f"{name} takes {compiled.shared_bytes + shared} bytes of shared memory a block; this "
            f"GPU has {most}: choose smaller macros than {macros or dict(spec.macros)}"
        )
    if shared:
        function.max_dynamic_shared_size_bytes = shared  # above 48 KiB it must be asked for
    return LoadedKernel(spec, macros, xp, function)


def arch_for(spec: KernelSpec, capability: int) -> str:
    """Return the architecture to compile ``spec`` for; ValueError if that GPU cannot run it."""
    oldest = min(spec.runs_on)
    runs = capability in spec.runs_on if spec.exact else capability >= oldest
    if not runs:
        needs = spec.arch(oldest) if spec.exact else f"{spec.arch(oldest)} or later"
        raise ValueError(f"{spec.name} needs {needs}; this GPU is sm_{capability}")
    return spec.arch(capability)


def tensor_map(array: Any, tile: Shape) -> np.ndarray:
    """Return the driver's description of a row-major fp16 matrix for TMA: 128 bytes.

    A tile's rows are 128 bytes wide, in the 128-byte swizzle; outside of the matrix are zeros.
    """
    driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    rows, columns = array.shape
    store = np.zeros(192, np.uint8)
    start = -store.ctypes.data % 64  # it must be aligned
    u64, u32 = ctypes.c_uint64, ctypes.c_uint32
    fp16, no_interleave, swizzle_128, l2_promotion_256, zeros = 6, 0, 3, 3, 0
    status = driver.cuTensorMapEncodeTiled(
        ctypes.c_void_p(store.ctypes.data + start), fp16, u32(2), ctypes.c_void_p(array.data.ptr),
        (u64 * 2)(columns, rows), (u64 * 1)(2 * columns), (u32 * 2)(tile[1], tile[0]),
        (u32 * 2)(1, 1), no_interleave, swizzle_128, l2_promotion_256, zeros,
    )  # fmt: skip
    if status:
        raise RuntimeError(f"the driver makes no tensor map of shape {array.shape}: CUDA {status}")
    return store[start : start + 128].copy()


# Is a kernel right? Small integers make every sum exact in any order, so that results are compared
# bit by bit, and a wrong index cannot hide in a tolerance.

_RAGGED = {
    "n": (1, 1027, 20_000), "M": (1, 37, 130), "N": (3, 140, 261), "K": (5, 33, 330),
}  # fmt: skip


def ragged_sizes(spec: KernelSpec) -> list[dict[str, int]]:
    """Return sizes that fill no tile, as far as the kernel takes such, from small to large."""
    steps = {name: spec.multiple_of.get(name, 1) for name in spec.sizes}
    return [
        {name: -(-_RAGGED[name][i] // step) * step for name, step in steps.items()}
        for i in range(3)
    ]


def operands(spec: KernelSpec, sizes: Mapping[str, int]) -> tuple[list[np.ndarray], np.ndarray]:
    """Return arrays of small integers for a kernel, the last for its output, and what it must be.

    FP8 is returned as its bytes, as GPUs and CuPy take it.
    """
    import ml_dtypes  # noqa: F401  # now NumPy knows float8_e4m3fn

    rng = np.random.default_rng(list(sizes.values()))
    arrays = {
        array.name: rng.integers(-4, 5, array.shape(sizes)).astype(array.dtype)
        for array in spec.arrays
    }
    wide = {name: array.astype(float) for name, array in arrays.items()}
    if "E" in arrays:
        arrays["E"], wide["A"] = _two_of_four(arrays["V"], rng)
    if "Bt" in wide:
        wide["B"] = wide["Bt"].T
    results: Any = {
        "axpy": lambda x, y, **_: y + spec.scalars["alpha"] * x,
        "copy": lambda x, **_: x,
        "dot": lambda x, y, **_: [x @ y],
        "l2norm": lambda X, **_: X / np.sqrt((X * X).sum(1, keepdims=True) + 1e-12),
        "gemv": lambda A, x, **_: A @ x,
        "gemm": lambda A, B, **_: A @ B,
    }
    output = spec.arrays[-1]
    expected = np.asarray(results[spec.product](**wide)).astype(output.dtype)
    stored = [arrays[array.name].view(stored_as(array.dtype)) for array in spec.arrays]
    return stored, expected


def _two_of_four(values: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return places for the kept values of a 2:4 matrix, 2 bits each, and the matrix in full."""
    rows, groups = values.shape[0], values.shape[1] // 2
    first = rng.integers(0, 3, (rows, groups))
    places = np.stack([first, rng.integers(first + 1, 4)], -1)
    full = np.zeros((rows, groups, 4))
    np.put_along_axis(full, places, values.reshape(rows, groups, 2).astype(float), -1)
    bits = (places << [0, 2]).sum(-1).reshape(rows, -1, 4) << [0, 4, 8, 12]
    return bits.sum(-1).astype(np.uint16), full.reshape(rows, -1)


def check(name: str, **macros: int) -> None:
    """Run a kernel on ragged sizes and compare with NumPy; ArithmeticError where it is wrong."""
    kernel = load(name, **macros)
    for sizes in ragged_sizes(kernel.spec):
        arrays, expected = operands(kernel.spec, sizes)
        on_gpu = [kernel.xp.asarray(array) for array in arrays]
        kernel.launch(*on_gpu)
        require_equal(name, sizes, kernel.xp.asnumpy(on_gpu[-1]), expected)


def require_equal(
    name: str, sizes: Mapping[str, int], result: np.ndarray, expected: np.ndarray
) -> None:
    """Raise ArithmeticError that names the first wrong element; only l2norm may round."""
    tolerance = 1e-6 if spec_of(name).product == "l2norm" else 0
    wrong = np.argwhere(~np.isclose(result, expected, rtol=4 * tolerance, atol=tolerance))
    if len(wrong):
        at = tuple(map(int, wrong[0]))
        raise ArithmeticError(
            f"{name} with {dict(sizes)}: element {at} is {result[at]} and must be {expected[at]}; "
            f"{len(wrong)} of {expected.size} are wrong"
        )
