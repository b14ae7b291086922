"""Is a schedule legal? Exact for the given extents, also for a billion of iterations.

Most dependences are *separable*: which iterations share a cell is said by each loop alone. In
``C[i,j] += A[i,k]*B[k,j]`` two iterations share a cell of C if their i is equal and their j is
equal; their k is free. Such pairs are a product of pairs (x_d, y_d), one factor a dimension d.

Splits, interchange, reversal, skewing and coalescing keep the time separable too: every loop's
value is a sum of terms of one dimension each. Splitting such a sum takes one more step,
``_slanted``. Then the time from the first iteration to the second is a sum with one summand from
each factor. Times are compared from left to right, outermost loop first, and that order respects
addition: the least sum is the sum of the least summands. So each factor is searched alone, a
thousand numbers where the nest has a billion iterations.

To compare with one subtraction, a time is one whole number: outer loops weigh more than all inner
ones can outweigh. What is not separable is listed (``enumeration``), as far as that can be done.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.expression import Affine, Quotient, constant, variable
from rooflab.labs.loops.language.statement import Access
from rooflab.labs.loops.language.tree import Leaf, Loop
from rooflab.labs.loops.legality.enumeration import listed
from rooflab.labs.loops.legality.points import MARKS, count, touched
from rooflab.labs.loops.legality.verdict import (
    LEGAL,
    REORDERED,
    Cell,
    Iteration,
    Verdict,
    broken,
    kept_in_vector,
    kind_of,
)

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

Array = np.ndarray[Any, Any]
MOST_LISTED = 2_000_000  # iterations; a few seconds
FEW_LISTED = 20_000  # iterations; some milliseconds
MOST_PAIRS = 1_000_000
_EXACT = 2**62  # beyond it times are Python's integers, which do not overflow
_KINDS = ("flow", "anti", "output")


class Inseparable(Exception):
    """The pairs of a dependence are no product over dimensions, or the time is no sum over them."""


def check(nest: Nest, reassociate: bool) -> Verdict:
    """The verdict on a nest's schedule."""
    try:
        return _separated(nest, reassociate)
    except Inseparable as obstacle:
        if count(nest) <= MOST_LISTED:
            return listed(nest, reassociate)
        raise ValueError(
            f"the nest has {count(nest):,} iterations and {obstacle}; up to {MOST_LISTED:,} are "
            "listed one by one. Give smaller extents, two tiles a loop say"
        ) from None


# Pairs of iterations that share a cell.


@dataclass(frozen=True)
class _Factor:
    """Values that one dimension of each iteration may have together.

    ``first``, ``second``: the dimension of each iteration, or "" where there is none.
    ``relation``: "row" pairs the values at equal places, "any" all with all, "less" all of the
    first with all of the second that are greater.
    """

    first: str
    second: str
    x: Array
    y: Array
    relation: str = "any"

    def related(self, relation: str) -> _Factor:
        """The pairs among these with x == y ("equal") or x < y ("less")."""
        if self.relation == "row":
            chosen = self.x == self.y if relation == "equal" else self.x < self.y
            return replace(self, x=self.x[chosen], y=self.y[chosen])
        if relation == "less":
            return replace(self, relation="less")
        both = np.intersect1d(self.x, self.y)
        return replace(self, x=both, y=both, relation="row")

    def least(self, x: Array, y: Array) -> tuple[Array, Array]:
        """For each value of x the least y - x among its pairs, and whether it has any pair.

        ``x`` and ``y`` are functions of the factor's values, in the same places.
        """
        if self.relation == "row":
            return y - x, np.ones(len(x), dtype=bool)
        if not len(y):
            return x, np.zeros(len(x), dtype=bool)
        if self.relation == "any":
            return y.min() - x, np.ones(len(x), dtype=bool)
        suffix = np.minimum.accumulate(y[::-1])[::-1]
        at = np.searchsorted(self.y, self.x, "right")
        return suffix[np.minimum(at, len(y) - 1)] - x, at < len(y)

    def seconds(self, place: int) -> Array:
        """Places of the y that are paired with the x at ``place``."""
        if self.relation == "row":
            return np.array([place])
        if self.relation == "any":
            return np.arange(len(self.y))
        return np.flatnonzero(self.y > self.x[place])


@dataclass(frozen=True)
class _End:
    """One end of a dependence: an access of a statement, and where the statement stands."""

    statement: str
    access: Access
    writes: bool
    dims: tuple[str, ...]
    leaf: Leaf
    around: tuple[Loop, ...]
    places: tuple[int, ...]


def _ends(nest: Nest) -> list[tuple[_End, bool]]:
    """Every distinct access of every statement, and whether it is a reduction's own target."""
    at = {
        leaf.statement: (leaf, around, places) for leaf, around, places in trees.leaves(nest.tree)
    }
    return [
        (_End(one.name, access, writes, nest.dims(one.name), *at[one.name]), sums)
        for one in nest.statements
        for access, writes, sums in dict.fromkeys(touched(one))
    ]


def _factors(nest: Nest, a: _End, b: _End, coupled: bool) -> list[_Factor] | None:
    """The pairs of iterations that share a cell; None if none do.

    ``coupled``: each dimension of the one is compared with the same one of the other, so that
    both must be in one factor.
    """
    ties: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for left, right in zip(a.access.subscripts, b.access.subscripts):
        if len(left.terms) > 1 or len(right.terms) > 1:
            raise Inseparable(f"{a.access.array} has a subscript of several loops")
        (d, p), (e, q) = (_single(one) for one in (left, right))
        ties.setdefault((d, e), []).append((p, q, right.constant - left.constant))
    if coupled:
        for d in a.dims:
            ties.setdefault((d, d), [])
    values = {d: np.arange(*nest.extents[d]) for d in (*a.dims, *b.dims)}
    one: dict[str, Array] = {d: values[d] for d in a.dims}
    other: dict[str, Array] = {d: values[d] for d in b.dims}
    tied = []
    for (d, e), equations in ties.items():
        if d and e:
            tied.append((d, e))
        for p, q, c in equations:  # p*x = q*y + c
            if not d and not e and c:
                return None
            if d and not e:
                one[d] = one[d][p * one[d] == c]
            if e and not d:
                other[e] = other[e][q * other[e] + c == 0]
    for side in (0, 1):
        if len({pair[side] for pair in tied}) < len(tied):
            raise Inseparable(f"{a.access.array} ties one loop to two others")
    found = [_tied(d, e, one[d], other[e], ties[d, e]) for d, e in tied]
    nothing = np.zeros(1, dtype=np.int64)
    free = [d for d in a.dims if d not in {pair[0] for pair in tied}]
    open_too = [e for e in b.dims if e not in {pair[1] for pair in tied}]
    found += [_Factor(d, d, one[d], other[d]) for d in free if d in open_too]
    found += [_Factor(d, "", one[d], nothing) for d in free if d not in open_too]
    found += [_Factor("", e, nothing, other[e]) for e in open_too if e not in free]
    return found if all(len(f.x) and len(f.y) for f in found) else None


def _single(subscript: Affine) -> tuple[str, int]:
    """The loop and its factor in a subscript of at most one loop."""
    if not subscript.terms:
        return "", 0
    name, factor = subscript.terms[0]
    return str(name), factor


def _tied(d: str, e: str, x: Array, y: Array, equations: list[tuple[int, int, int]]) -> _Factor:
    """The factor of x and y with p*x = q*y + c for every equation."""
    if not equations:
        return _Factor(d, e, x, y)
    p, q, c = equations[0]
    partner, rest = np.divmod(p * x - c, q)
    good = (rest == 0) & np.isin(partner, y)
    for p, q, c in equations[1:]:
        good &= p * x == q * partner + c
    return _Factor(d, e, x[good], partner[good], "row")


# Time as one whole number.


def _parts(value: Affine) -> dict[str, Affine]:
    """An expression, but for its constant, as a sum of parts of one dimension each."""
    parts: dict[str, Affine] = {}
    for atom, factor in value.terms:
        names = set(atom.inner.names()) if isinstance(atom, Quotient) else {atom}
        if len(names) > 1:
            raise Inseparable(f"the schedule splits a sum of the loops {', '.join(sorted(names))}")
        name = names.pop()
        parts[name] = parts.get(name, constant(0)) + Affine(((atom, factor),))
    return parts


@dataclass(frozen=True)
class _Clock:
    """Time in some loops as one whole number, a sum over dimensions."""

    weights: dict[str, int]

    @property
    def kind(self) -> type:
        """The type in which no time overflows."""
        return np.int64 if sum(self.weights.values()) < _EXACT else object

    def of(self, end: _End, dim: str, values: Array) -> Array:
        """The part of an iteration's time that ``dim`` makes, for each of its values."""
        total: Array = np.zeros(len(values), dtype=self.kind)
        for name, weight in self.weights.items() if dim else ():
            part = _parts(end.leaf.time[name]).get(dim)
            if part is not None:
                total = total + np.asarray(part.at({dim: values}), dtype=self.kind) * weight
        return total

    def constant(self, end: _End) -> int:
        """The part of an iteration's time that is the same for all."""
        times = end.leaf.time
        return sum(times[name].constant * weight for name, weight in self.weights.items())


def _clock(shared: tuple[Loop, ...]) -> _Clock:
    """A clock in which outer loops weigh more than all inner ones can outweigh."""
    weights, weight = {}, 1
    for loop in reversed(shared):
        weights[loop.name] = weight
        weight *= 2 * loop.extent + 1
    return _Clock(weights)


def _shared(a: _End, b: _End) -> tuple[Loop, ...]:
    """The loops around both."""
    return tuple(one for one, other in zip(a.around, b.around) if one is other)


# Time that splits a sum of dimensions, such as (j + i)//32 after skewing.

Pair = tuple[dict[str, int], dict[str, int]]


def _found(
    search: Callable[[list[_Factor], _End, _End], Pair | None],
    factors: list[_Factor], a: _End, b: _End, loops: tuple[Loop, ...],
) -> Pair | None:  # fmt: skip
    """What ``search`` finds. Where time is no sum over dimensions, that or Inseparable."""
    try:
        return search(factors, a, b)
    except Inseparable:
        slanted, one, other, old = _slanted(factors, a, b, loops)
        pair = search(slanted, one, other)
        if pair is None:
            return None
        for values, held in zip(pair, ("x", "y")):
            values |= {d: int(e.at(values)) for d, e in old.items()}
            if any(values[f.first] not in getattr(f, held) for f in factors):
                raise  # this pair lies outside of the nest; another one may not
        return pair


def _slanted(
    factors: list[_Factor], a: _End, b: _End, loops: tuple[Loop, ...]
) -> tuple[list[_Factor], _End, _End, dict[str, Affine]]:
    """The same pairs and more, with u = j + i as a dimension where the schedule splits j + i.

    Take a dependence whose distance is the same everywhere. From its first iteration to its
    second, u then grows by the same number everywhere. So u can take the place of j.

    The range of u is taken to be the same for every i. That adds pairs that the nest does not
    have. If none of all these pairs is in the wrong order, none of the nest's own is.

    Returned last: each dimension that was replaced, as an expression in those that are there now.
    """
    steps, ranges = {}, {}
    for f in factors:
        ranges[f.first] = int(min(f.x.min(), f.y.min())), int(max(f.x.max(), f.y.max()))
        if f.relation == "row" and f.first == f.second and len(np.unique(f.y - f.x)) == 1:
            steps[f.first] = int(f.y[0] - f.x[0])
    new: dict[str, Affine] = {}
    for number, form in enumerate(_split_sums(a, b, loops)):
        form = form.replace(new)
        whole = [d for d, factor in form.terms if d in ranges and abs(factor) == 1]
        if not form.linear or not set(form.names()) <= set(steps) or not whole:
            raise Inseparable(f"the schedule splits {form}")
        gone, name = str(whole[0]), f"sum {number}"
        sign = form.factor(gone)
        instead = {gone: (variable(name) - (form - variable(gone) * sign)) * sign}
        new = {d: e.replace(instead) for d, e in new.items()} | instead
        steps[name] = sum(factor * steps[str(d)] for d, factor in form.terms)
        ranges[name] = form.bounds(ranges)
    kept = [f for f in factors if f.first not in new]
    for name in [name for name in steps if name.startswith("sum ") and name not in new]:
        step, (low, high) = steps[name], ranges[name]
        x = np.arange(max(low, low - step), min(high, high - step) + 1)
        kept.append(_Factor(name, name, x, x + step, "row"))
    ends = []
    for end in (a, b):
        time = {loop: e.replace(new) for loop, e in end.leaf.time.items()}
        ends.append(replace(end, leaf=replace(end.leaf, time=time)))
    return kept, ends[0], ends[1], new


def _split_sums(a: _End, b: _End, loops: tuple[Loop, ...]) -> list[Affine]:
    """The sums of several dimensions that the time in ``loops`` has quotients of."""
    atoms = [x for end in (a, b) for loop in loops for x, _ in end.leaf.time[loop.name].terms]
    inner = [x.inner for x in atoms if isinstance(x, Quotient) and len(set(x.inner.names())) > 1]
    return list(dict.fromkeys(Affine(one.terms) for one in inner))


# The order of dependent iterations.


@dataclass(frozen=True)
class _Fault:
    """Two iterations of a broken dependence."""

    first: Iteration
    second: Iteration
    cell: Cell
    kind: str
    loop: str = ""


def _separated(nest: Nest, reassociate: bool) -> Verdict:
    faults: list[_Fault] = []
    free: list[tuple[_End, _End]] = []
    for (a, sums), (b, sums_too) in itertools.product(_ends(nest), repeat=2):
        if a.access.array != b.access.array or not (a.writes or b.writes):
            continue
        if reassociate and sums and sums_too and a.statement == b.statement:
            free.append((a, b))
        else:
            faults += _order_faults(nest, a, b)
    if not faults:
        for a, b in itertools.combinations_with_replacement([end for end, _ in _ends(nest)], 2):
            if a.access.array == b.access.array and (a.writes or b.writes):
                faults += _loop_faults(nest, a, b)
    if not faults:
        return REORDERED if _reordered(nest, free) else LEGAL
    names = [one.name for one in nest.statements]
    least = min(
        faults,
        key=lambda f: (
            bool(kept_in_vector(nest, f.kind, f.first[0], f.second[0], f.loop)),
            f.first[1], names.index(f.first[0]), f.second[1], _KINDS.index(f.kind),
        ),
    )  # fmt: skip
    return broken(nest, least.kind, least.first, least.second, least.cell, least.loop)


def _reordered(nest: Nest, free: list[tuple[_End, _End]]) -> bool:
    """Whether a reduction takes its terms in another order, by pairs of its own accesses.

    Where that takes a list of all iterations, only a short one is made. For a nest with more of
    them the answer is yes: the schedule is legal if the order is free, whatever it is.
    """
    if nest.tree == nest.original:
        return False
    try:
        return any(True for a, b in free for _ in _order_faults(nest, a, b))
    except Inseparable:
        return count(nest) > FEW_LISTED or not listed(nest, False)


def _order_faults(nest: Nest, a: _End, b: _End) -> Iterator[_Fault]:
    """Pairs of iterations, that of ``a`` earlier, that the schedule runs the other way round."""
    numbers = {one.name: at for at, one in enumerate(nest.statements)}
    before = numbers[a.statement] - numbers[b.statement]
    same_loops = nest.order == "body" or not before
    if not same_loops and before > 0:
        return
    factors = _factors(nest, a, b, coupled=same_loops)
    if factors is None:
        return
    clock, shared = _clock(_shared(a, b)), len(_shared(a, b))
    ordered = a.places[shared] < b.places[shared] if before else False
    if not same_loops:
        cases = [factors]
    else:
        by_name = {factor.first: factor for factor in factors}
        chain = [by_name[dim] for dim in a.dims]
        cases = [
            [f.related("equal") for f in chain[:at]] + [chain[at].related("less")] + chain[at + 1 :]
            for at in range(len(chain))
        ]
        if before < 0:
            cases.append([factor.related("equal") for factor in chain])
    for case in cases:
        if all(len(f.x) and len(f.y) for f in case):
            search = functools.partial(_earliest, clock=clock, limit=0 if ordered else 1)
            found = _found(search, case, a, b, _shared(a, b))
            if found:
                yield _fault(a, b, *found)


def _earliest(
    factors: list[_Factor], a: _End, b: _End, clock: _Clock, limit: int
) -> tuple[dict[str, int], dict[str, int]] | None:
    """The first pair whose time from first to second is below ``limit``, or None."""
    told = [(clock.of(a, f.first, f.x), clock.of(b, f.second, f.y)) for f in factors]
    rest = clock.constant(b) - clock.constant(a)
    leasts = [f.least(x, y) for f, (x, y) in zip(factors, told)]
    if not all(some.any() for _, some in leasts):
        return None
    rest += sum(int(least[some].min()) for least, some in leasts)
    if rest >= limit:
        return None
    chosen: list[int] = []  # the smallest x that leaves a pair possible, dimension by dimension
    for least, some in leasts:
        rest -= int(least[some].min())
        good = np.flatnonzero(some & (least + rest < limit))
        chosen.append(int(good[0]))
        rest += int(least[good[0]])
    first, second = {}, {}
    for factor, (x, y), (least, _), at in zip(factors, told, leasts, chosen):
        rest -= int(least[at])
        partners = factor.seconds(at)
        take = next(int(p) for p in partners if y[p] - x[at] + rest < limit)
        rest += int(y[take] - x[at])
        first[factor.first], second[factor.second] = int(factor.x[at]), int(factor.y[take])
    return first, second


def _fault(
    a: _End, b: _End, first: dict[str, int], second: dict[str, int], loop: str = ""
) -> _Fault:
    ends = [
        (end.statement, tuple(values[dim] for dim in end.dims))
        for end, values in ((a, first), (b, second))
    ]
    cell = a.access.array, a.access.cell(first)
    return _Fault(ends[0], ends[1], cell, kind_of(a.writes, b.writes), loop)


# Loops whose turns have no order.


def _loop_faults(nest: Nest, a: _End, b: _End) -> Iterator[_Fault]:
    """Dependent iterations with equal time outside of a marked loop and different time in it."""
    shared = _shared(a, b)
    for depth, loop in enumerate(shared):
        if loop.kind not in MARKS:
            continue
        factors = _factors(nest, a, b, coupled=False)
        if factors is None:
            return
        search = functools.partial(_apart, outer=shared[:depth], loop=loop)
        found = _found(search, factors, a, b, shared[: depth + 1])
        if found:
            first, second = found
            if _runs_later(nest, a, first, b, second):
                yield _fault(b, a, second, first, loop.name)
            else:
                yield _fault(a, b, first, second, loop.name)


def _runs_later(
    nest: Nest, a: _End, first: dict[str, int], b: _End, second: dict[str, int]
) -> bool:
    names = [one.name for one in nest.statements]
    one, other = names.index(a.statement), names.index(b.statement)
    if nest.order == "nests" and one != other:
        return one > other
    mine, its = tuple(first[d] for d in a.dims), tuple(second[d] for d in b.dims)
    return (mine, one) > (its, other)


Steps = tuple[Array, Array, Array]  # rows of (time outside, time in the loop); x and y of each


def _apart(
    factors: list[_Factor], a: _End, b: _End, outer: tuple[Loop, ...], loop: Loop
) -> tuple[dict[str, int], dict[str, int]] | None:
    """A pair with no time between its iterations in ``outer`` and some in ``loop``, or None.

    A row of the search stands for choices in the factors so far: their time in the outer loops,
    and in the loop. Choices with equal rows are worth the same, so that one of them is enough.
    """
    clocks = _clock(outer), _clock((loop,))
    apart = [clock.constant(b) - clock.constant(a) for clock in clocks]
    rows: Array = np.array([apart], dtype=clocks[0].kind)
    owners = _owners(factors, a, b, (*outer, loop))
    choices: list[tuple[_Factor, Steps, Array]] = []
    for factor, own in zip(factors, owners):
        steps = _steps(factor, a, b, clocks, own and not apart[0])
        if len(rows) * len(steps[0]) > MOST_PAIRS:
            raise Inseparable(f"loop {loop.name} and those around it mix several loops")
        sums = (rows[:, None, :] + steps[0][None, :, :]).reshape(-1, 2)
        kept = _distinct(sums)
        choices.append((factor, steps, kept))
        rows = sums[kept]
    hits = np.flatnonzero((rows[:, 0] == 0) & (rows[:, 1] != 0))
    if not len(hits):
        return None
    row, first, second = int(hits[0]), {}, {}
    for factor, (_, x, y), kept in reversed(choices):
        row, step = divmod(int(kept[row]), len(x))
        first[factor.first], second[factor.second] = int(x[step]), int(y[step])
    return first, second


def _owners(factors: list[_Factor], a: _End, b: _End, loops: tuple[Loop, ...]) -> list[bool]:
    """For each factor, whether no other one has a part in the time of the loops that it is in."""
    users: dict[str, set[int]] = {loop.name: set() for loop in loops}
    for at, factor in enumerate(factors):
        for end, dim in ((a, factor.first), (b, factor.second)):
            for loop in loops:
                if dim and dim in _parts(end.leaf.time[loop.name]):
                    users[loop.name].add(at)
    shared = set().union(*(some for some in users.values() if len(some) > 1), set())
    return [at not in shared for at in range(len(factors))]


def _distinct(rows: Array) -> Array:
    """Places of the first of each distinct row."""
    order = np.lexsort((np.arange(len(rows)), rows[:, 1], rows[:, 0]))
    fresh = np.any(rows[order][1:] != rows[order][:-1], axis=1)
    return np.sort(order[np.concatenate([np.ones(min(1, len(rows)), dtype=bool), fresh])])


def _steps(factor: _Factor, a: _End, b: _End, clocks: tuple[_Clock, _Clock], own: bool) -> Steps:
    """What a factor can add to a row. ``own``: no other factor adds to the same loops."""
    x = np.stack([clock.of(a, factor.first, factor.x) for clock in clocks], axis=1)
    y = np.stack([clock.of(b, factor.second, factor.y) for clock in clocks], axis=1)
    if factor.relation == "row":
        kept = _distinct(y - x)
        steps, first, second = (y - x)[kept], factor.x[kept], factor.y[kept]
    elif own:
        return _two(factor, x, y)
    else:
        left, right = _distinct(x), _distinct(y)
        if len(left) * len(right) > MOST_PAIRS:
            raise Inseparable("its marked loops mix several loops")
        one, other = (grid.ravel() for grid in np.meshgrid(left, right, indexing="ij"))
        kept = _distinct(y[other] - x[one])
        steps = (y[other] - x[one])[kept]
        first, second = factor.x[one[kept]], factor.y[other[kept]]
    if own:
        good = steps[:, 0] == 0
        steps, first, second = steps[good], first[good], second[good]
    return steps, first, second


def _two(factor: _Factor, x: Array, y: Array) -> Steps:
    """Of all pairs without time outside: one, and another with a different time in the loop.

    Two are enough: whatever the other factors add inside is the same for both, and at most one of
    two different times makes it zero.
    """
    places = np.flatnonzero(np.isin(x[:, 0], y[:, 0]))
    pairs: list[tuple[int, int]] = []
    if len(places):
        at = int(places[0])
        pairs.append((at, int(np.flatnonzero(y[:, 0] == x[at, 0])[0])))
        base = y[pairs[0][1], 1] - x[at, 1]
        least, most = _ends_of_groups(x[places], y)
        good = np.flatnonzero((least - x[places, 1] != base) | (most - x[places, 1] != base))
        if len(good):
            at = int(places[good[0]])
            other = (y[:, 0] == x[at, 0]) & (y[:, 1] - x[at, 1] != base)
            pairs.append((at, int(np.flatnonzero(other)[0])))
    one, two = (np.array([pair[side] for pair in pairs], dtype=int) for side in (0, 1))
    return (y[two] - x[one]).reshape(-1, 2), factor.x[one], factor.y[two]


def _ends_of_groups(x: Array, y: Array) -> tuple[Array, Array]:
    """For each x, the least and the greatest inner time among the y with its outer time."""
    order = np.lexsort((y[:, 1], y[:, 0]))
    outer, inner = y[order, 0], y[order, 1]
    first = np.searchsorted(outer, x[:, 0], "left")
    last = np.searchsorted(outer, x[:, 0], "right") - 1
    return inner[first], inner[last]
