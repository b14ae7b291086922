"""Is the result right? Every kernel is checked once, before it is timed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from rooflab.count import DType, Operand, Operation
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
# On a GPU a product of halves may be split along k into a few parts, which are stored and added in
# 16 bits. cuBLAS calls it a reduced precision reduction. Each part and each sum of parts is then
# rounded. A sum of k products of either sign has a size of ‖a‖·‖b‖/√k. Rounding a number is off by
# about 0.4 u of it. Over sixteen parts, whose partial sums grow, that adds up like random signs to
# 1.3 u of the whole. The worst of millions of elements shows six times as much: 8 u.


BLOCK = 1 << 19  # elements of a reference held at once: 4 MB, which a cache may hold
_ROUNDING = {
    "fp64": 2.0**-53, "fp32": 2.0**-24, "tf32": 2.0**-24, "fp16": 2.0**-11, "bf16": 2.0**-8,
    "fp8_e4m3": 2.0**-4, "fp8_e5m2": 2.0**-3,
}  # fmt: skip
# Spacing of the subnormal numbers, where rounding is no longer relative to the value.
_FLOOR = {"fp16": 2.0**-24, "fp8_e4m3": 2.0**-9, "fp8_e5m2": 2.0**-16}


@dataclass(frozen=True)
class Mismatch:
    """The first element that is wrong: its index, what it is, and what it should have been."""

    index: tuple[int, ...]
    found: float
    expected: float
    tolerance: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Case:
    """A finished call: ``arrays`` by operand name, ``before`` what they were, the ``result``."""

    op: Operation
    xp: ModuleType
    arrays: Mapping[str, Any]
    before: Mapping[str, Any]
    result: Any

    @property
    def stored_rounding(self) -> float:
        """Unit roundoff of the output; 0 for integers, which must be exact."""
        return rounding(next(o for o in self.op.operands if o.writes).dtype)

    @property
    def floor(self) -> float:
        """Smallest error that means anything in the output: one subnormal step."""
        return _FLOOR.get(next(o for o in self.op.operands if o.writes).dtype.name, 0.0)

    @property
    def sum_rounding(self) -> float:
        """Unit roundoff of the sums: fp64's for fp64, else fp32's."""
        return _ROUNDING["fp64" if self.op.compute_dtype.name == "fp64" else "fp32"]

    @property
    def part_rounding(self) -> float:
        """Error of a sum whose parts may be kept in 16 bits, as a share of the sum's size."""
        halves = self.op.compute_dtype.name in ("fp16", "bf16")
        return 8 * self.stored_rounding if halves and self.xp is not np else 0.0

    def sum_tolerance(self, terms: int) -> float:
        """Largest error of a sum of ``terms`` products, as a share of ‖a‖·‖b‖."""
        truncated = 2.0**-10 if self.op.compute_dtype.name == "tf32" else 0.0
        return (8 + math.sqrt(terms)) * self.sum_rounding + truncated


Reference = Callable[[Case], Mismatch | None]
"""Finds the first wrong element of a finished call."""
Index = Callable[[tuple[int, ...]], tuple[int, ...]]
"""Turns a place in a block of the result into its place in the whole."""


def rounding(kind: DType) -> float:
    """Unit roundoff of a stored format; 0 for integers."""
    return _ROUNDING.get(kind.name, 0.0)


def wide(xp: ModuleType, array: Any) -> Any:
    """``array`` in fp64."""
    return array.astype(xp.float64)


def blocks(length: int, width: int = 1) -> Iterator[slice]:
    """Slices of an axis of ``length``, each with BLOCK elements if one step of it has ``width``."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


def first_wrong(
    case: Case, found: Any, expected: Any, tolerance: Any, at: Index
) -> Mismatch | None:
    """Return the first element of ``found`` farther than ``tolerance`` from ``expected`` (NaN is);
    ``at`` turns its place in the block into its index in the result."""
    xp = case.xp
    allowed = xp.broadcast_to(xp.asarray(tolerance, dtype=xp.float64) + case.floor, found.shape)
    wrong = ~(abs(found - expected) <= allowed)
    if not bool(wrong.any()):
        return None
    here = tuple(int(i) for i in np.unravel_index(int(wrong.ravel().argmax()), found.shape))
    return Mismatch(at(here), float(found[here]), float(expected[here]), float(allowed[here]))


def _offset_by(part: slice) -> Index:
    """The index of a block that is ``part`` of the first axis."""
    return lambda i: (part.start + i[0], *i[1:])


# References of axpy, scale and dot.
#
# α is no operand, so ``run`` may use any: it is read off the result, and must then hold everywhere.


_SCALE_SAMPLES = 10_007  # elements from which α is read


def axpy(case: Case) -> Mismatch | None:
    """y must be αx + y, with one α for all elements, not 0."""
    x, old = case.arrays["x"], case.before["y"]
    some_x, some_y = _sampled(case, x), _sampled(case, old)
    alpha = _factor(case, _sampled(case, case.result) - some_y, some_x, ALPHA)
    largest = float(abs(some_x).max())
    # An α within the rounding of y is no α: nothing was added.
    rounded_off = 4 * case.stored_rounding * float(abs(some_y).max())
    if largest > 0 and abs(alpha) * largest <= rounded_off:
        return _unchanged(case, old, ALPHA * float(x[0]) + float(old[0]))
    for part in blocks(x.size):
        bx, by = wide(case.xp, x[part]), wide(case.xp, old[part])
        room = 8 * case.stored_rounding * ((abs(alpha) + 0.5) * abs(bx) + abs(by))
        wrong = _compare(case, part, alpha * bx + by, room)
        if wrong:
            return wrong
    return None


def scale(case: Case) -> Mismatch | None:
    """x must be αx, with one α for all elements, not 1."""
    old = case.before["x"]
    alpha = _factor(case, _sampled(case, case.result), _sampled(case, old), SCALE)
    if abs(alpha - 1) <= 4 * case.stored_rounding:
        return _unchanged(case, old, SCALE * float(old[0]))
    for part in blocks(old.size):
        values = wide(case.xp, old[part])
        room = 8 * case.stored_rounding * (abs(alpha) + 0.5) * abs(values)
        wrong = _compare(case, part, alpha * values, room)
        if wrong:
            return wrong
    return None


def dot(case: Case) -> Mismatch | None:
    """r must be Σ xᵢyᵢ."""
    x, y = case.arrays["x"], case.arrays["y"]
    total = squares_x = squares_y = 0.0
    for part in blocks(x.size):
        bx, by = wide(case.xp, x[part]), wide(case.xp, y[part])
        total += float((bx * by).sum())
        squares_x += float((bx * bx).sum())
        squares_y += float((by * by).sum())
    room = case.sum_tolerance(x.size) * math.sqrt(squares_x * squares_y)
    room += 2 * case.stored_rounding * abs(total) + case.floor
    found = float(case.result[0])
    return None if abs(found - total) <= room else Mismatch((0,), found, total, room)


def _factor(case: Case, over: Any, under: Any, usual: float) -> float:
    """The ratio that most elements have; ``usual`` where they have none (zeros, NaN)."""
    size = abs(under)
    large = size > 0.5 * size.max()
    if not bool(large.any()):
        return usual
    ratio = float(case.xp.median(over[large] / under[large]))
    return ratio if math.isfinite(ratio) else usual


def _sampled(case: Case, array: Any) -> Any:
    return wide(case.xp, array[:: max(1, array.size // _SCALE_SAMPLES)])


def _unchanged(case: Case, old: Any, expected: float) -> Mismatch:
    return Mismatch((0,), float(case.result[0]), expected, note="nothing has changed")


def _compare(case: Case, part: slice, expected: Any, room: Any) -> Mismatch | None:
    found = wide(case.xp, case.result[part])
    return first_wrong(case, found, expected, room, _offset_by(part))


VECTOR_REFERENCES = {"axpy": axpy, "scale": scale, "dot": dot}

# References of ger, gemv and gemm, single and in batches.
#
# Large products are not computed a second time. Every row is multiplied with a random vector and
# compared (Freivalds 1977: O(n²) work). Only a row that fails is computed, to name its element.
# Of a large batch of independent problems at most 64 are compared, with the first and the last.


WHOLE = 2e8  # FLOP up to which a product is simply computed again
_WHOLE_FACTOR = 1 << 22  # and elements of its right factor
_MOST_PROBLEMS, _MOST_ELEMENTS = 64, 1 << 26


@dataclass(frozen=True)
class _Product:
    """c (m×n) must be Σ a·b over ``pairs`` of (m×k, k×n), plus ``added`` (what c was, or None)."""

    case: Case
    pairs: Sequence[tuple[Any, Any]]
    added: Any
    result: Any
    index: Index

    @property
    def terms(self) -> int:
        return sum(a.shape[1] for a, _ in self.pairs)

    @property
    def tolerance(self) -> float:
        """Of the sums; each product after the first adds to a c that was rounded when stored."""
        stored = (len(self.pairs) - 1) * self.case.stored_rounding
        parts = self.case.part_rounding / math.sqrt(self.terms)
        return self.case.sum_tolerance(self.terms) + stored + parts

    @property
    def result_tolerance(self) -> float:
        """Of the result, as a share of it: two roundings, or those of its parts."""
        return max(2 * self.case.stored_rounding, self.case.part_rounding)


def ger(case: Case) -> Mismatch | None:
    """A must be A + xyᵀ."""
    x, y, old = case.arrays["x"], case.arrays["y"], case.before["a"]
    columns = wide(case.xp, y)[None, :]
    for part in blocks(*old.shape):
        product = wide(case.xp, x[part])[:, None] * columns
        before = wide(case.xp, old[part])
        room = 4 * case.stored_rounding * (abs(product) + abs(before))
        found = wide(case.xp, case.result[part])
        wrong = first_wrong(case, found, product + before, room, _offset_by(part))
        if wrong:
            return wrong
    return None


def gemv(case: Case) -> Mismatch | None:
    """y must be Ax (+ y)."""
    op, a, x = case.op, case.arrays["a"], case.arrays["x"]
    old = case.before["y"] if op.accumulate else None
    if op.batch > 1 and op.shared == ("a",):
        added = None if old is None else old.T
        product = _Product(case, [(a, x.T)], added, case.result.T, lambda i: (i[1], i[0]))
        return _check(product)
    for i in _problems(case):
        one = None if old is None else _pick(case, "y", old, i)[:, None]
        pair = (_pick(case, "a", a, i), _pick(case, "x", x, i)[:, None])
        result = _pick(case, "y", case.result, i)[:, None]
        wrong = _check(_Product(case, [pair], one, result, _vector_index(op.batch, i)))
        if wrong:
            return wrong
    return None


def gemm(case: Case) -> Mismatch | None:
    """C must be AB (+ C); a C that the batch shares is the sum of all its products."""
    op, a, b = case.op, case.arrays["a"], case.arrays["b"]
    old = case.before["c"] if op.accumulate else None
    if op.batch > 1 and "c" in op.shared:
        pairs = [(_pick(case, "a", a, i), _pick(case, "b", b, i)) for i in range(op.batch)]
        return _check(_Product(case, pairs, old, case.result, lambda i: i))
    for i in _problems(case):
        one = None if old is None else _pick(case, "c", old, i)
        pair = (_pick(case, "a", a, i), _pick(case, "b", b, i))
        result = _pick(case, "c", case.result, i)
        wrong = _check(_Product(case, [pair], one, result, _matrix_index(op.batch, i)))
        if wrong:
            return wrong
    return None


def _pick(case: Case, name: str, array: Any, problem: int) -> Any:
    return array if case.op.batch == 1 or name in case.op.shared else array[problem]


def _problems(case: Case) -> list[int]:
    batch = case.op.batch
    each = sum(math.prod(o.shape[-2:]) for o in case.op.operands)
    count = max(2, min(_MOST_PROBLEMS, _MOST_ELEMENTS // each, batch))
    return sorted({round(i) for i in np.linspace(0, batch - 1, count)})


def _vector_index(batch: int, problem: int) -> Index:
    return lambda i: (i[0],) if batch == 1 else (problem, i[0])


def _matrix_index(batch: int, problem: int) -> Index:
    return lambda i: i if batch == 1 else (problem, *i)


def _check(product: _Product) -> Mismatch | None:
    m, n = product.result.shape
    small = 2 * m * n * product.terms <= WHOLE and n * product.terms <= _WHOLE_FACTOR
    if n == 1 or small:
        rows = blocks(m, max(n, product.terms))
        return next(filter(None, (_compare_rows(product, part) for part in rows)), None)
    for row in _suspicious_rows(product):
        wrong = _compare_rows(product, slice(row, row + 1))
        if wrong:
            return wrong
    return None


def _compare_rows(product: _Product, part: slice) -> Mismatch | None:
    case, xp = product.case, product.case.xp
    n = product.result.shape[1]
    expected = xp.zeros((part.stop - part.start, n))
    norms = xp.zeros((part.stop - part.start, n))
    for a, b in product.pairs:
        rows = wide(xp, a[part])
        columns = xp.zeros(n)
        for some in blocks(*b.shape):
            block = wide(xp, b[some])
            expected += rows[:, some] @ block
            columns += (block * block).sum(axis=0)
        norms += xp.sqrt((rows * rows).sum(axis=1))[:, None] * xp.sqrt(columns)[None, :]
    if product.added is not None:
        added = wide(xp, product.added[part])
        expected += added
        norms += abs(added)
    found = wide(xp, product.result[part])
    room = product.tolerance * norms + product.result_tolerance * abs(expected)
    place = _offset_by(part)
    return first_wrong(case, found, expected, room, lambda i: product.index(place(i)))


def _suspicious_rows(product: _Product, most: int = 8) -> list[int]:
    """Rows whose product with a random vector is off by more than rounding explains."""
    case, xp = product.case, product.case.xp
    m, n = product.result.shape
    random = np.random.default_rng()
    v = xp.asarray(random.uniform(0.5, 1.5, n) * random.choice([-1.0, 1.0], n))
    expected, room = xp.zeros(m), xp.zeros(m)
    for a, b in product.pairs:
        projected, columns = xp.zeros(b.shape[0]), xp.zeros(n)
        for part in blocks(*b.shape):
            block = wide(xp, b[part])
            projected[part] = block @ v
            columns += (block * block).sum(axis=0)
        weight = float(xp.sqrt((columns * v * v).sum()))
        for part in blocks(*a.shape):
            block = wide(xp, a[part])
            expected[part] += block @ projected
            room[part] += product.tolerance * weight * xp.sqrt((block * block).sum(axis=1))
    found = xp.zeros(m)
    room += case.floor * math.sqrt(n)
    for part in blocks(m, n):
        block = wide(xp, product.result[part])
        found[part] = block @ v
        room[part] += 2 * product.result_tolerance * xp.sqrt((block * block) @ (v * v))
        if product.added is not None:
            block = wide(xp, product.added[part])
            expected[part] += block @ v
            room[part] += product.tolerance * xp.sqrt((block * block) @ (v * v))
    # Errors of a row's elements add up like random signs. NaN is no number within the room.
    wrong = xp.nonzero(~(abs(found - expected) <= room))[0]
    return [int(row) for row in wrong[:most]]


PRODUCT_REFERENCES = {"ger": ger, "gemv": gemv, "gemm": gemm}

# Reference of element-wise operations, one function or several in one pass.


_GELU_FORMS = 2e-3  # the erf and the tanh form of GELU differ by less than this


def understands(op: Operation) -> bool:
    """Whether ``op`` is made of known functions with as many inputs as they take."""
    names = op.name.split("+")
    if any(name not in ARITY for name in names):
        return False
    takes = ARITY[names[0]] + sum(ARITY[name] - 1 for name in names[1:])
    return takes == sum(1 for o in op.operands if o.reads)


def reference(case: Case) -> Mismatch | None:
    """Every element must be the functions of the inputs.

    The first function takes the first inputs, each later one the result so far and, if it takes
    two, the next input.
    """
    names = case.op.name.split("+")
    sources = [
        case.before[o.name] if o.writes else case.arrays[o.name]
        for o in case.op.operands
        if o.reads
    ]
    shape = case.result.shape
    for part in blocks(shape[0], math.prod(shape[1:])):
        values = [wide(case.xp, _slice(array, part, shape)) for array in sources]
        expected = _apply(case.xp, names, values)
        found = wide(case.xp, case.result[part])
        expected = case.xp.broadcast_to(expected, found.shape)
        room = 16 * len(names) * case.stored_rounding * case.xp.maximum(abs(expected), 1.0)
        room = room + (_GELU_FORMS if "gelu" in names else 0.0)
        wrong = first_wrong(case, found, expected, room, _offset_by(part))
        if wrong:
            return wrong
    return None


def _apply(xp: ModuleType, names: list[str], inputs: list[Any]) -> Any:
    known = functions(xp)
    waiting = list(inputs)
    value = known[names[0]](*[waiting.pop(0) for _ in range(ARITY[names[0]])])
    for name in names[1:]:
        value = known[name](value, *[waiting.pop(0) for _ in range(ARITY[name] - 1)])
    return value


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


_REFERENCES: Mapping[str, Reference] = {**VECTOR_REFERENCES, **PRODUCT_REFERENCES}
_INPUT_SAMPLES = 10_007  # elements of an input that are compared to see that it was left alone


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
    each = max(2, round(_INPUT_SAMPLES ** (1 / array.ndim)))
    return array[tuple(slice(None, None, max(1, n // each)) for n in array.shape)]


def _same(xp: ModuleType, one: Any, other: Any) -> bool:
    """Whether two arrays hold the same numbers, NaN included."""
    one, other = wide(xp, one), wide(xp, other)
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
    for operand, array in zip(op.operands, operands, strict=True):
        if not operand.writes and not _same(backend.xp, _sample(array), before[operand.name]):
            raise ValueError(
                f"run= changes its input {operand.name!r}, which {op.label} only reads; "
                f"the next call would start from other numbers"
            )
    reference = reference_for(op)
    if reference is None:
        return f"result not checked: rooflab has no reference for {op.name!r}"
    output = next(o for o in op.operands if o.writes)
    arrays = {o.name: array for o, array in zip(op.operands, operands, strict=True)}
    place = arrays[output.name]
    result = _result(op, backend, output, place, returned)
    wrong = reference(Case(op, backend.xp, arrays, before, result))
    if wrong is None:
        return None
    useless = returned if result is place and returned is not place else None
    raise ValueError(_sentence(op, output, wrong, useless))


def reference_for(op: Operation) -> Reference | None:
    """Return the reference of ``op``; None if rooflab has none for it."""
    if op.name in _REFERENCES:
        return _REFERENCES[op.name]
    return reference if understands(op) else None


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


def _sentence(op: Operation, output: Operand, wrong: Mismatch, useless: Any) -> str:
    if math.isnan(wrong.expected):
        return "setup(): an operand holds NaN or infinity, and no result can be checked against it"
    where = f"{output.name}[{', '.join(map(str, wrong.index))}]"
    text = f"run= computes {op.label} wrongly: {where} is {wrong.found:.7g}, "
    text += f"expected {wrong.expected:.7g}"
    text += f" ± {wrong.tolerance:.1g}" if wrong.tolerance else ""
    text += f" ({wrong.note})" if wrong.note else ""
    if math.isnan(wrong.found):
        text += f"; run must write every element of {output.name!r}, or return the result"
        text += "" if useless is None else f", but it returned {_brief(useless)}"
    return text


def _brief(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"a {type(value).__name__}" + (f" of shape {shape}" if isinstance(shape, tuple) else "")
