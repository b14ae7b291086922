"""What a legality check answers: legal, or two iterations whose order is broken, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

Iteration = tuple[str, tuple[int, ...]]
Cell = tuple[str, tuple[int, ...]]
KINDS = {  # dependence → what its first and its second iteration do
    "flow": ("writes", "reads"),
    "anti": ("reads", "writes"),
    "output": ("writes", "writes"),
}


@dataclass(frozen=True)
class Verdict:
    """Whether a schedule is legal.

    Attributes
    ----------
    ok : bool
        Whether every dependence is kept.
    why : str
        The reason, in words.
    kind : str
        "flow", "anti" or "output" for a schedule that is not legal.
    first, second : (str, tuple of int) or None
        Two iterations, each as its statement and the values of its loops. The first one must run
        first.
    cell : (str, tuple of int) or None
        The array element that both touch.
    loop : str
        The parallel or vectorised loop that leaves the two without an order, if that is the fault.
    """

    ok: bool
    why: str
    kind: str = ""
    first: Iteration | None = None
    second: Iteration | None = None
    cell: Cell | None = None
    loop: str = ""

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return f"{'legal' if self.ok else 'not legal'}: {self.why}"


LEGAL = Verdict(True, "every dependence is kept, for these extents")


def iteration_text(iteration: Iteration) -> str:
    """An iteration as S(1,2)."""
    return f"{iteration[0]}({','.join(map(str, iteration[1]))})"


def broken(
    nest: Nest, kind: str, first: Iteration, second: Iteration, cell: Cell, loop: str = ""
) -> Verdict:
    """The verdict on a schedule that breaks a dependence, in ``loop`` if that has no order."""
    one, other = iteration_text(first), iteration_text(second)
    does, then = KINDS[kind]
    at = f"{cell[0]}[{','.join(map(str, cell[1]))}]"
    both = f"{one} {does} {at} and {other} {then} it"
    if not loop:
        why = f"{both}, so {one} must run first. In the new order {other} runs first."
        return Verdict(False, why, kind, first, second, cell)
    mark = nest.loop(f"{first[0]}.{loop}")[0].kind
    as_what = "its turns run at the same time" if mark == "parallel" else "its turns are lanes"
    why = f"{both}, so {one} must run first. Loop {loop} is to {mark_verb(mark)}: {as_what}."
    if sums(nest, first[0], second[0], cell[0]):
        why += f" A reduction into {at} needs a private copy for each turn, joined at the end."
    return Verdict(False, why, kind, first, second, cell, loop)


def mark_verb(mark: str) -> str:
    """What a marked loop is to do, in words."""
    return "run in parallel" if mark == "parallel" else "run as a vector"


def sums(nest: Nest, first: str, second: str, array: str) -> bool:
    """Whether both iterations are of one reduction into this array."""
    found = next(one for one in nest.statements if one.name == first)
    return first == second and bool(found.reduction) and found.target.array == array
