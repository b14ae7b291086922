"""Is the result right? Every kernel is checked once, before it is timed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from rooflab.count import Operand, Operation
from rooflab.count.elementwise import ARITY
from rooflab.measure.backend import Backend
from rooflab.measure.kernels import ALPHA, SCALE

# References: what an operation must give, in fp64, block by block so that they stay small.
#
# Tolerances. The inputs are taken as stored. Sums of products may be taken in any order, in fp32 or
# wider (fp64 for fp64). For k products of a row a and a column b, with unit roundoff u,
# |error| ≤ (8 + √k)·u·‖a‖·‖b‖ is allowed, plus two roundings of the output. The worst case is
# k·u·Σ|ab|, but errors of different signs grow like √k (Higham, Accuracy and Stability of Numerical
# Algorithms, 2002, §2.8 and §3.1). tf32 rounds or truncates its inputs to 11 significant bits; that
# adds 2⁻¹⁰·‖a‖·‖b‖.
#
# On a GPU a product of halves may be added from parts that were rounded to 16 bits, which cuBLAS
# calls a reduced precision reduction. Parts are as large as the sum, ‖a‖·‖b‖/√k for either sign;
# up to sixteen of them put the worst of millions of elements off by 8 u.


BLOCK = 1 << 19  # elements of a reference held at once: 4 MB, which a cache may hold
_ROUNDING = {
    "fp64": 2.0**-53, "fp32": 2.0**-24, "tf32": 2.0**-24, "fp16": 2.0**-11, "bf16": 2.0**-8,
    "fp8_e4m3": 2.0**-4, "fp8_e5m2": 2.0**-3,
}  # fmt: skip
# Spacing of the subnormal numbers, where rounding is no longer relative to the value.
_FLOOR = {"fp16": 2.0**-24, "fp8_e4m3": 2.0**-9, "fp8_e5m2": 2.0**-16}


@dataclass(frozen=True)
class Case:
    """A finished call: ``arrays`` by operand name, ``before`` what they were, the ``result``."""

    op: Operation
    xp: ModuleType
    arrays: Mapping[str, Any]
    before: Mapping[str, Any]
    result: Any

    @property
    def output(self) -> Operand:
        """The operand that is written."""
        return next(o for o in self.op.operands if o.writes)

    @property
    def stored_rounding(self) -> float:
        """Unit roundoff of the output; 0 for integers, which must be exact."""
        return _ROUNDING.get(self.output.dtype.name, 0.0)

    @property
    def part_rounding(self) -> float:
        """Error of a sum whose parts may be kept in 16 bits, as a share of the sum's size."""
        halves = self.op.compute_dtype.name in ("fp16", "bf16")
        return 8 * self.stored_rounding if halves and self.xp is not np else 0.0

    def sum_tolerance(self, terms: int) -> float:
        """Largest error of a sum of ``terms`` products, as a share of ‖a‖·‖b‖."""
        name = self.op.compute_dtype.name
        truncated = 2.0**-10 if name == "tf32" else 0.0
        return (8 + math.sqrt(terms)) * _ROUNDING["fp64" if name == "fp64" else "fp32"] + truncated

    def wide(self, array: Any) -> Any:
        """``array`` in fp64."""
        return array.astype(self.xp.float64)


class Block(NamedTuple):
    """A part of a result: what it is, what it must be and how nearly, and where it lies on each
    axis of the result."""

    found: Any
    expected: Any
    tolerance: Any
    axes: tuple[range, ...]


Reference = Callable[[Case], Iterator[Block]]
"""Goes through the result of a finished call."""


def blocks(length: int, width: int = 1) -> Iterator[slice]:
    """Slices of an axis of ``length``, each with BLOCK elements if one step of it has ``width``."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


class Mismatch(NamedTuple):
    """The first element that is wrong: its place, what it is, and what it should have been."""

    place: tuple[int, ...]
    found: float
    expected: float
    tolerance: float


def first_wrong(case: Case, reference: Reference) -> Mismatch | None:
    """Return the first element farther from its reference than allowed, as NaN is."""
    floor = _FLOOR.get(case.output.dtype.name, 0.0)
    for found, expected, tolerance, axes in reference(case):
        wrong = ~(abs(found - expected) <= tolerance + floor)
        if bool(wrong.any()):
            first = int(wrong.ravel().argmax())
            places = np.unravel_index(first, [len(axis) for axis in axes])
            place = tuple(axis[int(at)] for axis, at in zip(axes, places, strict=True))
            figures = (float(a.ravel()[first]) for a in (found, expected, tolerance + floor))
            return Mismatch(place, *figures)
    return None


def _rows(case: Case, part: slice, expected: Any, tolerance: Any) -> Block:
    """The block of the result that is ``part`` of its first axis."""
    found = case.wide(case.result[part])
    axes = range(part.start, part.stop), *map(range, found.shape[1:])
    return Block(found, expected, tolerance, axes)


# References of axpy, scale and dot.
#
# α is no operand, so ``run`` may use any: it is read off the result, and must then hold everywhere.


_SAMPLES = 10_007  # elements from which α is read, or that show whether an input was left alone


def axpy(case: Case) -> Iterator[Block]:
    """y must be αx + y, with one α for all elements, not 0."""
    x, old = case.arrays["x"], case.before["y"]
    some_x, some_y = _sampled(case, x), _sampled(case, old)
    alpha = _factor(case, _sampled(case, case.result) - some_y, some_x, ALPHA)
    # An α within the rounding of y is no α: nothing was added.
    if abs(alpha) * abs(some_x).max() <= 4 * case.stored_rounding * abs(some_y).max():
        alpha = ALPHA
    for part in blocks(x.size):
        bx, by = case.wide(x[part]), case.wide(old[part])
        room = 8 * case.stored_rounding * ((abs(alpha) + 0.5) * abs(bx) + abs(by))
        yield _rows(case, part, alpha * bx + by, room)


def scale(case: Case) -> Iterator[Block]:
    """x must be αx, with one α for all elements, not 1."""
    old = case.before["x"]
    alpha = _factor(case, _sampled(case, case.result), _sampled(case, old), SCALE)
    if abs(alpha - 1) <= 4 * case.stored_rounding:
        alpha = SCALE
    for part in blocks(old.size):
        values = case.wide(old[part])
        room = 8 * case.stored_rounding * (abs(alpha) + 0.5) * abs(values)
        yield _rows(case, part, alpha * values, room)


def dot(case: Case) -> Iterator[Block]:
    """r must be Σ xᵢyᵢ."""
    x, y = case.arrays["x"], case.arrays["y"]
    total, squares_x, squares_y = case.xp.zeros((3, 1))
    for part in blocks(x.size):
        bx, by = case.wide(x[part]), case.wide(y[part])
        total += (bx * by).sum()
        squares_x += (bx * bx).sum()
        squares_y += (by * by).sum()
    room = case.sum_tolerance(x.size) * case.xp.sqrt(squares_x * squares_y)
    yield _rows(case, slice(0, 1), total, room + 2 * case.stored_rounding * abs(total))


def _factor(case: Case, over: Any, under: Any, usual: float) -> float:
    """The ratio that most elements have; ``usual`` where they have none (zeros, NaN)."""
    size = abs(under)
    large = size > 0.5 * size.max()
    if not bool(large.any()):
        return usual
    ratio = float(case.xp.median(over[large] / under[large]))
    return ratio if math.isfinite(ratio) else usual


def _sampled(case: Case, array: Any) -> Any:
    return case.wide(array[:: max(1, array.size // _SAMPLES)])


# References of ger, gemv and gemm, single and in batches.
#
# Of a product too large to be computed again rows are compared, whole ones, spread over it; of a
# large batch of independent problems at most 64, with the first and the last.


WHOLE = 4e9  # FLOP up to which a product is simply computed again
_LEAST_ROWS = 64  # of a larger one
_MOST_PROBLEMS, _MOST_ELEMENTS = 64, 1 << 26


def ger(case: Case) -> Iterator[Block]:
    """A must be A + xyᵀ."""
    x, y, old = case.arrays["x"], case.arrays["y"], case.before["a"]
    for part in blocks(*old.shape):
        product = case.wide(x[part])[:, None] * case.wide(y)[None, :]
        before = case.wide(old[part])
        room = 4 * case.stored_rounding * (abs(product) + abs(before))
        yield _rows(case, part, product + before, room)


def gemv(case: Case) -> Iterator[Block]:
    """y must be Ax (+ y): as rows, xᵀ·Aᵀ."""
    one = case.op.batch > 1 and case.op.shared == ("a",)  # each vector is a row of one product
    x, y, old = (
        array if one or array is None else array[..., None, :]
        for array in (case.arrays["x"], case.result, _added(case))
    )
    for block in _products(case, x, case.arrays["a"].swapaxes(-1, -2), y, old):
        *axes, row, column = block.axes
        yield block if one else block._replace(axes=(*axes, column))


def gemm(case: Case) -> Iterator[Block]:
    """C must be AB (+ C); a C that the batch shares is the sum of all its products."""
    times = case.op.batch if "c" in case.op.shared else 1
    a, b = case.arrays["a"], case.arrays["b"]
    return _products(case, a, b, case.result, _added(case), times)


def _added(case: Case) -> Any:
    return case.before[case.output.name] if case.op.accumulate else None


def _products(case: Case, a: Any, b: Any, c: Any, old: Any, times: int = 1) -> Iterator[Block]:
    """Each matrix of c must be ab (+ old), a single one the sum of ``times`` products."""
    if c.ndim == 2:
        yield from _product(case, a, b, c, old, times)
        return
    each = sum(math.prod(o.shape[-2:]) for o in case.op.operands)
    count = max(2, min(_MOST_PROBLEMS, _MOST_ELEMENTS // each, len(c)))
    for i in sorted({round(at) for at in np.linspace(0, len(c) - 1, count)}):
        one = (v if v is None or v.ndim == 2 else v[i] for v in (a, b, c, old))
        for block in _product(case, *one):
            yield block._replace(axes=(range(i, i + 1), *block.axes))


def _product(case: Case, a: Any, b: Any, c: Any, old: Any, times: int = 1) -> Iterator[Block]:
    terms = times * a.shape[-1]
    spread = case.sum_tolerance(terms) + case.part_rounding / math.sqrt(terms)
    # Each product after the first adds to a c that was rounded when stored.
    spread += (times - 1) * case.stored_rounding
    m, n = c.shape
    for axes in _tiles(m, n, terms):
        rows, columns = part = tuple(slice(axis.start, axis.stop, axis.step) for axis in axes)
        left, right = case.wide(a[..., rows, :]), case.wide(b[..., columns])
        lengths = case.xp.sqrt((left * left).sum(-1))[..., None]
        lengths = lengths * case.xp.sqrt((right * right).sum(-2))[..., None, :]
        expected, sizes = _summed(left @ right, times), _summed(lengths, times)
        if old is not None:
            added = case.wide(old[part])
            expected, sizes = expected + added, sizes + abs(added)
        room = spread * sizes + max(2 * case.stored_rounding, case.part_rounding) * abs(expected)
        yield Block(case.wide(c[part]), expected, room, axes)


def _tiles(m: int, n: int, terms: int) -> Iterator[tuple[range, range]]:
    """Tiles of an m×n product, of all its rows or of every step-th, up to the last one."""
    share = 2 * m * n * terms / WHOLE
    step = math.ceil(max(1, min(m / _LEAST_ROWS, share)))
    step += step % 2 == 0  # odd, so that each row of the tiles of a kernel has its turn
    chosen = range((m - 1) % step, m, step)
    for some in blocks(len(chosen), terms):
        rows = chosen[some]
        for columns in blocks(n, max(terms, len(rows))):
            yield rows, range(columns.start, columns.stop)


def _summed(products: Any, times: int) -> Any:
    """The sum over a batch, whose products are all the same where it shares both factors."""
    return products.sum(0) if products.ndim == 3 else times * products


# Reference of element-wise operations, one function or several in one pass.


_GELU_FORMS = 2e-3  # the erf and the tanh form of GELU differ by less than this


def understands(op: Operation) -> bool:
    """Whether ``op`` is made of known functions with as many inputs as they take."""
    names, inputs = op.name.split("+"), sum(o.reads for o in op.operands)
    return set(names) <= set(ARITY) and 1 + sum(ARITY[name] - 1 for name in names) == inputs


def elementwise(case: Case) -> Iterator[Block]:
    """Every element must be the functions of the inputs.

    The first function takes the first inputs, each later one the result so far and, if it takes
    two, the next input.
    """
    names = case.op.name.split("+")
    known, shape = functions(case.xp), case.result.shape
    sources = [
        (case.before if o.writes else case.arrays)[o.name] for o in case.op.operands if o.reads
    ]
    for part in blocks(shape[0], math.prod(shape[1:])):
        inputs = iter([case.wide(_slice(array, part, shape)) for array in sources])
        expected = known[names[0]](*islice(inputs, ARITY[names[0]]))
        for name in names[1:]:
            expected = known[name](expected, *islice(inputs, ARITY[name] - 1))
        expected = case.xp.broadcast_to(expected, (part.stop - part.start, *shape[1:]))
        room = 16 * len(names) * case.stored_rounding * case.xp.maximum(abs(expected), 1.0)
        yield _rows(case, part, expected, room + (_GELU_FORMS if "gelu" in names else 0.0))


def functions(xp: ModuleType) -> dict[str, Any]:
    """The functions that element-wise operations know, by name, on arrays of ``xp``."""

    def sigmoid(x: Any) -> Any:
        return 1 / (1 + xp.exp(-x))

    def gelu(x: Any) -> Any:
        return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    return {
        "relu": lambda x: xp.maximum(x, 0.0), "neg": xp.negative, "abs": xp.abs, "exp": xp.exp,
        "log": xp.log, "sqrt": xp.sqrt, "sin": xp.sin, "cos": xp.cos, "tanh": xp.tanh,
        "sigmoid": sigmoid, "gelu": gelu, "silu": lambda x: x * sigmoid(x),
        "square": xp.square, "reciprocal": lambda x: 1 / x,
        "add": xp.add, "sub": xp.subtract, "mul": xp.multiply, "div": xp.divide,
        "max": xp.maximum, "min": xp.minimum,
    }  # fmt: skip


def _slice(array: Any, part: slice, shape: tuple[int, ...]) -> Any:
    """What of an input meets ``part`` of the output's first axis: all of it, if broadcast."""
    whole = array.ndim < len(shape) or array.shape[0] != shape[0]
    return array if whole else array[part]


_REFERENCES: Mapping[str, Reference] = {
    "axpy": axpy, "scale": scale, "dot": dot, "ger": ger, "gemv": gemv, "gemm": gemm,
}  # fmt: skip


def prepare(op: Operation, operands: Sequence[Any]) -> dict[str, Any]:
    """Return copies of what the operation updates in place, and samples of what it only reads; wipe
    what it only writes.

    Wiping (with NaN, or -86 in integers) shows an element that is never written, and an output
    that is added to where it should be overwritten.
    """
    before = {}
    for operand, array in zip(op.operands, operands, strict=True):
        if operand.writes and not operand.reads:
            array[...] = math.nan if operand.dtype.kind == "float" else -86
        else:
            before[operand.name] = (array if operand.writes else _sample(array)).copy()
    return before


def _sample(array: Any) -> Any:
    """A view of some 10,000 elements spread over the array."""
    each = max(2, round(_SAMPLES ** (1 / array.ndim)))
    return array[tuple(slice(None, None, max(1, n // each)) for n in array.shape)]


def _same(one: Any, other: Any) -> bool:
    """Whether two arrays hold the same numbers, NaN included."""
    one, other = one.astype(float), other.astype(float)
    return bool(((one == other) | ((one != one) & (other != other))).all())


def verdict(
    op: Operation,
    backend: Backend,
    operands: Sequence[Any],
    before: Mapping[str, Any],
    returned: Any = None,
) -> str | None:
    """Return None when the result is right, or a warning when rooflab cannot tell.

    ``operands`` after one call, ``before`` from :func:`prepare`, ``returned`` what the call
    returned. Raises ValueError naming the first wrong element, and what was expected there.
    """
    arrays = {o.name: array for o, array in zip(op.operands, operands, strict=True)}
    for operand in op.operands:
        if not operand.writes and not _same(_sample(arrays[operand.name]), before[operand.name]):
            raise ValueError(
                f"run= changes its input {operand.name!r}, which {op.label} only reads; "
                f"the next call would start from other numbers"
            )
    reference = _REFERENCES.get(op.name, elementwise if understands(op) else None)
    if reference is None:
        return f"result not checked: rooflab has no reference for {op.name!r}"
    output = next(o for o in op.operands if o.writes)
    result = _result(op, backend, output, arrays[output.name], returned)
    case = Case(op, backend.xp, arrays, before, result)
    wrong = first_wrong(case, reference)
    if wrong is None:
        return None
    ignored = returned if result is arrays[output.name] is not returned else None
    raise ValueError(_sentence(case, wrong, ignored))


def _result(op: Operation, backend: Backend, output: Operand, place: Any, returned: Any) -> Any:
    """What ``run`` returned if it is an array of the output's shape (or, for one number, a
    number); else the written operand. ValueError for an array that holds no real numbers."""
    if returned is None or returned is place:
        return place
    shape = () if isinstance(returned, (int, float)) else getattr(returned, "shape", None)
    if shape != output.shape and not (shape == () and output.shape == (1,)):
        return place
    array = backend.xp.asarray(returned).reshape(output.shape)
    if array.dtype.kind not in "iufV":  # V: bfloat16 and its kin
        raise ValueError(f"run= returned {array.dtype} for {op.label}; real numbers are wanted")
    return array


def _sentence(case: Case, wrong: Mismatch, ignored: Any) -> str:
    """What is wrong; ``ignored`` is what run returned, where that was no result."""
    output, old = case.output.name, case.before.get(case.output.name)
    if math.isnan(wrong.expected):
        return "setup(): an operand holds NaN or infinity, and no result can be checked against it"
    where = f"{output}[{', '.join(map(str, wrong.place))}]"
    text = f"run= computes {case.op.label} wrongly: {where} is {wrong.found:.7g}, "
    text += f"expected {wrong.expected:.7g}"
    text += f" ± {wrong.tolerance:.1g}" if wrong.tolerance else ""
    if old is not None and _same(_sample(case.result), _sample(old)):
        text += " (nothing has changed)"
    if math.isnan(wrong.found):
        text += f"; run must write every element of {output!r}, or return the result"
        text += "" if ignored is None else f", but it returned {_brief(ignored)}"
    return text


def _brief(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"a {type(value).__name__}" + (f" of shape {shape}" if isinstance(shape, tuple) else "")
