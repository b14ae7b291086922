"""The accesses of a loop nest, as a cache sees them: affine addresses in program order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """One affine access of a loop nest.

    Attributes
    ----------
    array : str
        The operand that is accessed: the ledger is kept per operand.
    offset : int
        Byte address at the nest's first iteration.
    strides : tuple of int
        Bytes by which one step of each loop moves the address, outermost loop first.
    depth : int
        How many loops stand around the access. It is made each time loop ``depth - 1`` advances,
        and once for 0.
    write : bool
        Whether the access writes.
    bytes : int
        Contiguous bytes that are touched: a vector access is one reference.
    when : {"before", "after"}
        On which side of the loops inside it the access stands. A tile of C is loaded before k
        runs and stored after.
    """

    array: str
    offset: int
    strides: tuple[int, ...]
    depth: int
    write: bool = False
    bytes: int = 4
    when: str = "before"


@dataclass(frozen=True)
class Guard:
    """An iteration runs only while the sum of coefficient times loop index is below ``limit``.

    Attributes
    ----------
    coefficients : tuple of int
        One for each loop, outermost first.
    limit : int
        The sum must stay below it.
    """

    coefficients: tuple[int, ...]
    limit: int


@dataclass(frozen=True)
class AccessStream:
    """The accesses of a loop nest.

    Attributes
    ----------
    extents : tuple of int
        Trip counts of the loops, outermost first.
    references : tuple of Reference
        The accesses in program order.
    guards : tuple of Guard
        What bounds the iterations of split loops that do not divide.
    """

    extents: tuple[int, ...]
    references: tuple[Reference, ...]
    guards: tuple[Guard, ...] = ()
