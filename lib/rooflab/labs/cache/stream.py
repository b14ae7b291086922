"""Which bytes a loop nest touches, and in which order: an access stream.

A stream is a description, not a list of addresses: the trip counts of the loops, and for every
access how far one step of each loop moves it. So a nest of a billion iterations is a few numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from rooflab.count.validation import flag, size, unknown

Integers = np.ndarray[Any, np.dtype[np.int64]]
Item = TypeVar("Item")
PLACES = ("before", "after")


@dataclass(frozen=True)
class Reference:
    """One affine access of a loop nest: element ``x[i]`` of an fp32 vector in a loop over i.

    ``offset`` is its byte address at the first iteration, ``strides`` the bytes by which one step
    of each loop moves it, outermost first. ``depth`` loops stand around it: it is made each time
    that loop ``depth - 1`` advances, "before" or "after" the loops inside. It touches ``bytes``
    contiguous ones; the access of a vector is one reference.

    >>> rl.cache.Reference("x", offset=0, strides=(4,), depth=1).bytes
    4
    """

    array: str
    offset: int
    strides: tuple[int, ...]
    depth: int
    write: bool = False
    bytes: int = 4
    when: str = "before"

    def __post_init__(self) -> None:
        if not isinstance(self.array, str) or not self.array:
            raise TypeError(f"array={self.array!r} must be the name of an operand, such as 'A'")
        # A step may go backwards, so a stride has no least value.
        strides = tuple(_integer(f"strides[{i}]", step) for i, step in enumerate(self.strides))
        checked = {
            "offset": size("offset", self.offset, 0), "strides": strides,
            "depth": size("depth", self.depth, 0), "write": flag("write", self.write),
            "bytes": size("bytes", self.bytes),
        }  # fmt: skip
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.depth > len(strides):
            raise ValueError(f"depth={self.depth} must be at most {len(strides)}, one per stride")
        if self.when not in PLACES:
            raise unknown("when", self.when, PLACES)


@dataclass(frozen=True)
class Guard:
    """A condition on the loop indices: an iteration runs only while Σ coefficient · index < limit.

    It bounds a loop of 100 that was split into 7 tiles of 16. The coefficients are one for each
    loop, outermost first, none of them negative.

    >>> rl.cache.Guard(coefficients=(16, 1), limit=100).limit
    100
    """

    coefficients: tuple[int, ...]
    limit: int

    def __post_init__(self) -> None:
        steps = tuple(size(f"coefficients[{i}]", c, 0) for i, c in enumerate(self.coefficients))
        object.__setattr__(self, "coefficients", steps)
        object.__setattr__(self, "limit", size("limit", self.limit))


@dataclass(frozen=True)
class AccessStream:
    """The accesses of a loop nest: trip counts, outermost first, and references in program order.

    Guards are for splits that do not divide a loop: an access is made if they hold with the loops
    inside it at their first iteration.

    >>> x = rl.cache.Reference("x", offset=0, strides=(4,), depth=1)
    >>> stream = rl.cache.AccessStream((1000,), (x,))
    >>> stream.requested
    {'x': 4000}
    """

    extents: tuple[int, ...]
    references: tuple[Reference, ...]
    guards: tuple[Guard, ...] = ()

    def __post_init__(self) -> None:
        extents = tuple(size(f"extents[{loop}]", n) for loop, n in enumerate(self.extents))
        if not extents:
            raise ValueError(f"extents={self.extents!r} is empty; give at least one loop")
        references = _all_are("references", self.references, Reference)
        if not references:
            raise ValueError("references=() is empty; give at least one Reference")
        guards = _all_are("guards", self.guards, Guard)
        for name, value in (("extents", extents), ("references", references), ("guards", guards)):
            object.__setattr__(self, name, value)
        lists = [(f"references[{i}].strides", r.strides) for i, r in enumerate(references)]
        lists += [(f"guards[{i}].coefficients", g.coefficients) for i, g in enumerate(guards)]
        for name, values in lists:
            if len(values) != len(extents):
                raise ValueError(f"{name}={values!r} must have one number for {len(extents)} loops")
        for reference in references:
            lowest, _ = self.span(reference)
            if lowest < 0:
                raise ValueError(
                    f"references: {reference.array!r} reaches address {lowest}; addresses must "
                    f"be 0 or more, so give it an offset of {reference.offset - lowest} or more"
                )

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names of the operands, in the order in which they are first referred to."""
        return tuple(dict.fromkeys(reference.array for reference in self.references))

    def span(self, reference: Reference) -> tuple[int, int]:
        """Lowest address that the reference touches, and the first address above all it does."""
        low = high = reference.offset
        for extent, step in zip(
            self.extents[: reference.depth], reference.strides[: reference.depth]
        ):
            low += min(0, step * (extent - 1))
            high += max(0, step * (extent - 1))
        return low, high + reference.bytes

    def times(self, depth: int) -> int:
        """How often an access of this ``depth`` is made: iterations of the loops around it."""
        return self.iterations(range(size("depth", depth, 0)))

    def iterations(self, loops: Iterable[int]) -> int:
        """How many combinations of indices ``loops`` run through, the others standing at 0."""
        return math.prod(
            len(self.indices(group, guards)) if guards else self.extents[group[0]]
            for group, guards in self.groups(loops)
        )

    def groups(self, loops: Iterable[int]) -> list[tuple[list[int], list[Guard]]]:
        """Divide ``loops`` into groups that share no guard; each with its guards.

        Combinations of indices of two groups are independent. A loop without a guard is alone.
        """
        left, found = set(loops), []
        while left:
            tied: set[int] = set()
            grown = {min(left)}
            while grown - tied:
                tied |= grown
                guards = [g for g in self.guards if any(g.coefficients[loop] for loop in tied)]
                grown = {loop for loop in left for g in guards if g.coefficients[loop]}
            left -= tied
            found.append((sorted(tied), guards))
        return found

    def indices(self, loops: Sequence[int], guards: Sequence[Guard]) -> Integers:
        """All combinations of indices of ``loops`` that ``guards`` let run, a row for each."""
        grid = np.indices([self.extents[loop] for loop in loops]).reshape(len(loops), -1).T
        runs = np.ones(len(grid), bool)
        for guard in guards:
            runs &= grid @ [guard.coefficients[loop] for loop in loops] < guard.limit
        return grid[runs]

    @property
    def requested(self) -> dict[str, int]:
        """Bytes that the loops ask for, for each operand: what crosses the registers' border."""
        asked = dict.fromkeys(self.arrays, 0)
        for reference in self.references:
            asked[reference.array] += reference.bytes * self.times(reference.depth)
        return asked


def _all_are(name: str, values: object, kind: type[Item]) -> tuple[Item, ...]:
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{name}={values!r} must be a tuple of {kind.__name__}")
    for place, value in enumerate(values):
        if not isinstance(value, kind):
            raise TypeError(f"{name}[{place}]={value!r} must be a {kind.__name__}")
    return tuple(values)


def _integer(name: str, value: object) -> int:
    """An integer of either sign."""
    return size(name, value, -(1 << 62))
