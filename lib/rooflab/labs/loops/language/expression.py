"""Quasi-affine expressions: sums of whole multiples of variables, of quotients and of remainders.

The subscripts of an array, the value of a loop and the bounds of a split loop are all of this
form: ``8*io + ii``, ``(i - 1)//8``, ``t % 10``. An expression can be evaluated on numbers or NumPy
arrays, have its variables replaced, be bounded, and be printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Quotient:
    """``inner // divisor``, or ``inner % divisor`` for a remainder."""

    inner: Affine
    divisor: int
    remainder: bool = False

    def __str__(self) -> str:
        inner = str(self.inner)
        if len(self.inner.terms) > 1 or self.inner.constant or self.inner.terms[0][1] != 1:
            inner = f"({inner})"
        return f"{inner} % {self.divisor}" if self.remainder else f"{inner}//{self.divisor}"


Atom = str | Quotient


@dataclass(frozen=True)
class Affine:
    """A constant, and atoms with their whole factors in the order in which they were met."""

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    def __add__(self, other: Affine | int) -> Affine:
        other = constant(other) if isinstance(other, int) else other
        factors = dict(self.terms)
        for atom, factor in other.terms:
            factors[atom] = factors.get(atom, 0) + factor
        kept = tuple((atom, factor) for atom, factor in factors.items() if factor)
        return Affine(kept, self.constant + other.constant)

    def __mul__(self, factor: int) -> Affine:
        if not factor:
            return Affine()
        return Affine(tuple((a, f * factor) for a, f in self.terms), self.constant * factor)

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + (-other)

    def __floordiv__(self, divisor: int) -> Affine:
        if divisor == 1 or not self.terms:
            return self if divisor == 1 else constant(self.constant // divisor)
        alone = self._alone()
        if alone and not alone.remainder:  # (e // a) // b is e // (a*b)
            return Affine(((Quotient(alone.inner, alone.divisor * divisor), 1),))
        return Affine(((Quotient(self, divisor), 1),))

    def __mod__(self, divisor: int) -> Affine:
        if divisor == 1 or not self.terms:
            return constant(self.constant % divisor)
        return Affine(((Quotient(self, divisor, True), 1),))

    def _alone(self) -> Quotient | None:
        """The quotient that this expression is and nothing else."""
        if len(self.terms) == 1 and not self.constant and self.terms[0][1] == 1:
            atom = self.terms[0][0]
            return atom if isinstance(atom, Quotient) else None
        return None

    def names(self) -> Iterator[str]:
        """The variables, as often as they stand there."""
        for atom, _ in self.terms:
            if isinstance(atom, str):
                yield atom
            else:
                yield from atom.inner.names()

    @property
    def linear(self) -> bool:
        """Whether there is neither a quotient nor a remainder."""
        return all(isinstance(atom, str) for atom, _ in self.terms)

    def factor(self, name: str) -> int:
        """The whole number that the variable ``name`` is multiplied by, outside of quotients."""
        return dict(self.terms).get(name, 0)

    def replace(self, new: Mapping[str, Affine]) -> Affine:
        """The expression with the variables named in ``new`` replaced."""
        total = constant(self.constant)
        for atom, factor in self.terms:
            if isinstance(atom, str):
                part = new.get(atom, variable(atom))
            else:
                inner = atom.inner.replace(new)
                part = inner % atom.divisor if atom.remainder else inner // atom.divisor
            total = total + part * factor
        return total

    def at(self, values: Mapping[str, Any]) -> Any:
        """The value where the variables have ``values``, which are integers or arrays of them."""
        total: Any = self.constant
        for atom, factor in self.terms:
            if isinstance(atom, str):
                part = values[atom]
            elif atom.remainder:
                part = atom.inner.at(values) % atom.divisor
            else:
                part = atom.inner.at(values) // atom.divisor
            total = total + part * factor
        return total

    def bounds(self, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
        """Least and greatest value that can be where each variable is in its range, both within.

        Exact for a linear expression. With quotients the true range may be narrower.
        """
        low = high = self.constant
        for atom, factor in self.terms:
            if isinstance(atom, str):
                ends = ranges[atom]
            else:
                least, most = atom.inner.bounds(ranges)
                ends = least // atom.divisor, most // atom.divisor
                if atom.remainder:
                    whole = ends[0] == ends[1]
                    rest = least % atom.divisor, most % atom.divisor
                    ends = rest if whole else (0, atom.divisor - 1)
            low += min(ends[0] * factor, ends[1] * factor)
            high += max(ends[0] * factor, ends[1] * factor)
        return low, high

    def __str__(self) -> str:
        """The expression in Python."""
        front = self.constant if self.constant > 0 and all(f < 0 for _, f in self.terms) else 0
        said = str(front) if front else ""
        for atom, factor in sorted(self.terms, key=lambda term: term[1] < 0):
            name = str(atom)
            if abs(factor) != 1:
                bare = isinstance(atom, str)
                name = f"{abs(factor)}*{name}" if bare else f"{abs(factor)}*({name})"
            elif factor < 0 and not said and not isinstance(atom, str):
                name = f"({name})"  # -i//8 would be (-i)//8
            said += (" - " if factor < 0 else " + ") + name if said else "-" * (factor < 0) + name
        if (self.constant and not front) or not said:
            number = str(abs(self.constant)) if said else str(self.constant)
            said += (" - " if self.constant < 0 else " + ") + number if said else number
        return said


def constant(value: int) -> Affine:
    """The expression that is always ``value``."""
    return Affine((), value)


def variable(name: str) -> Affine:
    """The expression that is the variable ``name``."""
    return Affine(((name, 1),))
