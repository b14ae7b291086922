"""The access stream of a product of matrices, tiled or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rooflab.count.dtypes import DTypeLike
from rooflab.count.dtypes import dtype as as_format
from rooflab.count.validation import shape, size, unknown
from rooflab.labs.cache.stream import AccessStream, Guard, Reference

PAGE = 4096
C_PLACES = ("register", "memory", "tile")


@dataclass(frozen=True)
class _Loops:
    """Loops over some indices, tiled or not: their extents, their guards, and strides for them."""

    names: tuple[str, ...]  # which index each loop moves, outermost first
    steps: tuple[int, ...]  # by how much
    extents: tuple[int, ...]
    guards: tuple[Guard, ...]

    def strides(self, **bytes_of: int) -> tuple[int, ...]:
        """Bytes that each loop moves an array by whose indices move it by ``bytes_of``."""
        return tuple(step * bytes_of.get(name, 0) for name, step in zip(self.names, self.steps))

    def outside(self, *names: str) -> int:
        """How many loops stand outside the innermost ones that move none of ``names``."""
        depth = len(self.names)
        while depth and self.names[depth - 1] not in names:
            depth -= 1
        return depth


def gemm_stream(
    m: int,
    n: int,
    k: int,
    dtype: DTypeLike = "fp32",
    tile: int | Sequence[int] | None = None,
    *,
    order: str = "ijk",
    tile_order: str = "ijk",
    c: str = "register",
    bases: Sequence[int] | None = None,
) -> AccessStream:
    """Accesses of C ← C + A·B, C of shape m×n, row by row in memory, with or without tiles.

    A and B are read once for every multiply-add.

    Parameters
    ----------
    m, n, k : int
        Rows of C, columns of C, and the length of the sums.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of the elements, of whole bytes.
    tile : int or three int, optional
        Rows, columns and depth of a tile; one number means all three. By default there is none.
        A tile that does not divide its matrix is cut off at the edge.
    order : str, default "ijk"
        The three innermost loops, outermost first.
    tile_order : str, default "ijk"
        The loops over the tiles, outermost first.
    c : {"register", "memory", "tile"}, default "register"
        Where C is. "register": read before the innermost loops over k and written after them.
        "memory": read and written for every multiply-add. "tile": a whole tile of it is read
        before the tiles along k, and written after them; its sides must divide m and n.
    bases : three int, optional
        Byte addresses of A, B and C. By default each begins on the next page of 4096 bytes.

    Returns
    -------
    AccessStream
        Three loops, or six with tiles.

    Examples
    --------
    >>> stream = rl.cache.gemm_stream(100, 100, 100, "bf16", tile=25)
    >>> stream.extents, stream.requested["A"]
    ((4, 4, 4, 25, 25, 25), 2000000)
    """
    sizes = {"i": size("m", m), "j": size("n", n), "k": size("k", k)}
    width = _width(dtype)
    orders = [_order("tile_order", tile_order, "ijk"), _order("order", order, "ijk")]
    if c not in C_PLACES:
        raise unknown("c", c, C_PLACES)
    sides = _sides(tile, sizes)
    loops = _loops(sizes, sides, *orders)
    rows, across, deep = sizes.values()
    counts = (rows * deep, deep * across, rows * across)
    at = _bases([width * count for count in counts], bases)
    every = len(loops.extents)
    a = Reference("A", at[0], loops.strides(i=width * deep, k=width), every, bytes=width)
    b = Reference("B", at[1], loops.strides(k=width * across, j=width), every, bytes=width)
    strides = loops.strides(i=width * across, j=width)
    if c == "tile":
        if sides is None:
            loops = _loops(sizes, sizes, *orders)
            a, b = (replace(r, strides=(0, 0, 0, *r.strides), depth=every + 3) for r in (a, b))
            strides = (0, 0, 0, *strides)
        before, after = _tile_of_c(sizes, sides or sizes, orders[0], strides, at[2], width)
    else:
        depth = loops.outside("i", "j") if c == "register" else every
        before = (Reference("C", at[2], strides, depth, bytes=width),)
        after = (Reference("C", at[2], strides, depth, True, width, "after"),)
    return AccessStream(loops.extents, (*before, a, b, *after), loops.guards)


def _tile_of_c(
    sizes: dict[str, int],
    sides: dict[str, int],
    tile_order: str,
    strides: tuple[int, ...],
    base: int,
    width: int,
) -> tuple[tuple[Reference, ...], tuple[Reference, ...]]:
    """A tile of C, row by row: read before the tiles along k, written after them."""
    for name, argument in (("i", "m"), ("j", "n")):
        if sizes[name] % sides[name]:
            raise ValueError(
                f"tile: {sides[name]} does not divide {argument}={sizes[name]}, which c='tile' "
                f"needs; c='register' takes any tile"
            )
    depth = 2 if tile_order.endswith("k") else 3
    row, length = width * sizes["j"], width * sides["j"]
    starts = [base + r * row for r in range(sides["i"])]
    return (
        tuple(Reference("C", start, strides, depth, bytes=length) for start in starts),
        tuple(Reference("C", start, strides, depth, True, length, "after") for start in starts),
    )


def _width(dtype: DTypeLike) -> int:
    kind = as_format(dtype)
    if kind.bits % 8:
        raise ValueError(f"dtype={str(kind)!r} has {kind.bits} bits; a loop moves whole bytes")
    return kind.bits // 8


def _order(name: str, order: object, letters: str) -> str:
    if not isinstance(order, str) or sorted(order) != sorted(letters):
        raise ValueError(f"{name}={order!r} must have the letters {', '.join(letters)}, each once")
    return order


def _sides(tile: int | Sequence[int] | None, sizes: dict[str, int]) -> dict[str, int] | None:
    """The tile's side along each index; None for no tile."""
    if tile is None:
        return None
    one = not isinstance(tile, (tuple, list))
    sides = shape("tile", tile) * (len(sizes) if one else 1)
    if len(sides) != len(sizes):
        raise ValueError(f"tile={tile!r} must be one number, or {len(sizes)} of them")
    for side, (name, most) in zip(sides, sizes.items(), strict=True):
        if side > most:
            raise ValueError(f"tile={tile!r}: {side} is larger than loop {name}, which has {most}")
    return dict(zip(sizes, sides, strict=True))


def _loops(
    sizes: dict[str, int], sides: dict[str, int] | None, tile_order: str, order: str
) -> _Loops:
    """The loops over tiles, if there are any, and those inside them."""
    if sides is None:
        return _Loops(tuple(order), (1,) * len(order), tuple(sizes[x] for x in order), ())
    names = tuple(tile_order + order)
    outer = len(tile_order)
    steps = tuple(sides[x] if at < outer else 1 for at, x in enumerate(names))
    extents = tuple(
        -(-sizes[x] // sides[x]) if at < outer else sides[x] for at, x in enumerate(names)
    )
    guards = tuple(
        Guard(tuple(step if name == x else 0 for name, step in zip(names, steps)), sizes[x])
        for x in sizes
        if sizes[x] % sides[x]
    )
    return _Loops(names, steps, extents, guards)


def _bases(lengths: Sequence[int], given: Sequence[int] | None = None) -> list[int]:
    """Where each array begins: as ``given``, or each on the next page after the one before."""
    if given is not None:
        bases = [size(f"bases[{at}]", base, 0) for at, base in enumerate(given)]
        if len(bases) != len(lengths):
            raise ValueError(f"bases={given!r} must be {len(lengths)} addresses")
        return bases
    bases, end = [], 0
    for length in lengths:
        bases.append(end)
        end = -(-(end + length) // PAGE) * PAGE
    return bases
