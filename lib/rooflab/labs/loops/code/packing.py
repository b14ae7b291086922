"""Packed copies: an array in the order in which a schedule's loops go through it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.expression import variable
from rooflab.labs.loops.language.statement import Access, accesses
from rooflab.labs.loops.language.tree import Leaf, Loop

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

Array = np.ndarray[Any, Any]
MOST_GROWTH = 4  # a packed copy may be so many times as large; a skewed loop would make it so


def arguments(nest: Nest) -> list[str]:
    """What generated code is given: arrays, packed copies in place of their originals."""
    return [f"{name}_packed" if name in nest.packed else name for name in nest.arrays]


def packed_loops(access: Access, leaf: Leaf, around: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """The loops that lead through an array, which are the axes of its packed copy."""
    dims = {name for e in access.subscripts for name in e.names()}
    names = {name for dim in dims for name in leaf.index[dim].names()}
    return tuple(loop for loop in around if loop.name in names)


def packed_access(access: Access, leaf: Leaf, around: tuple[Loop, ...]) -> Access:
    """The same element in the packed copy."""
    axes = packed_loops(access, leaf, around)
    return Access(f"{access.array}_packed", tuple(variable(x.name) - x.lower for x in axes))


def packed_axes(nest: Nest, array: str) -> tuple[Access, Leaf, tuple[Loop, ...]]:
    """Where a packed array is read, and its axes. Raises ValueError for a copy far too large."""
    for one in nest.statements:
        for access in accesses(one.value):
            if access.array == array:
                leaf, around, _ = next(
                    found for found in trees.leaves(nest.tree) if found[0].statement == one.name
                )
                axes = packed_loops(access, leaf, around)
                room = np.prod([float(loop.extent) for loop in axes])
                if room > MOST_GROWTH * np.prod([float(n) for n in nest.shapes[array]]):
                    raise ValueError(f"array={array!r}: its packed copy would be {room:,.0f} large")
                return access, leaf, axes
    raise KeyError(array)


def stored_shape(nest: Nest, array: str) -> tuple[int, ...]:
    """The shape of an array, or of its packed copy, in which chunks that do not fill are filled."""
    if array not in nest.packed:
        return nest.shapes[array]
    return tuple(loop.extent for loop in packed_axes(nest, array)[2])


def packed(nest: Nest, array: str, values: Array) -> Callable[[], Array]:
    """What gives, at each call, ``values`` in the packed order; zero where no iteration reads.

    Where every split divides that is a transposition: another view of the array, made once.
    """
    access, leaf, axes = packed_axes(nest, array)
    number = access.replace(leaf.index).number(values.shape)
    sizes = tuple(loop.extent for loop in axes)
    begins = number.constant or any(loop.lower for loop in axes)
    if leaf.guards or not number.linear or begins or np.prod(sizes) != values.size:
        return partial(_gathered, nest, access, leaf, axes, values)
    strides = [number.factor(loop.name) * values.itemsize for loop in axes]
    view = np.lib.stride_tricks.as_strided(values, sizes, strides, writeable=False)
    return lambda: view


def _gathered(
    nest: Nest, access: Access, leaf: Leaf, axes: tuple[Loop, ...], values: Array
) -> Array:
    """The packed copy, element by element."""
    points = np.ogrid[tuple(slice(loop.lower, loop.upper) for loop in axes)]
    at = dict(zip((loop.name for loop in axes), points))
    dims = {str(name) for e in access.subscripts for name in e.names()}
    index, inside = {}, np.ones(tuple(loop.extent for loop in axes), dtype=bool)
    for dim in dims:
        lower, upper = nest.extents[dim]
        index[dim] = leaf.index[dim].at(at)
        inside = inside & (index[dim] >= lower) & (index[dim] < upper)
        index[dim] = np.clip(index[dim], lower, upper - 1)
    found = values[tuple(np.asarray(e.at(index)) for e in access.subscripts)]
    return np.ascontiguousarray(np.where(inside, found, values.dtype.type(0)))
