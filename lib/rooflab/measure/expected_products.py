"""References of ger, gemv and gemm, single and in batches.

Large products are not computed a second time. Every row is compared after multiplication with a
random vector (Freivalds 1977: O(n²) work); a row that fails is computed, to name its element. Of a
large batch of independent problems at most 64 are compared, the first and the last among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.measure.expected import Case, Mismatch, blocks, first_wrong, wide

WHOLE = 2e8  # FLOP up to which a product is simply computed again
_WHOLE_FACTOR = 1 << 22  # and elements of its right factor
_MOST_PROBLEMS, _MOST_ELEMENTS = 64, 1 << 26

Index = Callable[[tuple[int, ...]], tuple[int, ...]]


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
        """Of the sums; every product after the first adds to a c that was stored in between."""
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
        wrong = first_wrong(
            case, found, product + before, room, lambda i, part=part: (part.start + i[0], i[1])
        )
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
    return first_wrong(
        case, found, expected, room, lambda i: product.index((part.start + i[0], i[1]))
    )


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


REFERENCES = {"ger": ger, "gemv": gemv, "gemm": gemm}
