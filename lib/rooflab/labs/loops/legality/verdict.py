"""What a legality check answers: legal, or two iterations whose order is broken, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rooflab.labs.loops.language.statement import Access
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
    """Whether a schedule is legal: ``ok`` if every dependence is kept, and ``why`` in words.

    Of one that is not, ``kind`` is "flow", "anti" or "output"; ``first`` must run before ``second``
    (each a statement and the values of its loops), since both touch ``cell``; ``loop`` is a
    parallel or vectorised loop that leaves them without an order. ``reordered``: legal only because
    a reduction may take its terms in another order.
    """

    ok: bool
    why: str
    kind: str = ""
    first: Iteration | None = None
    second: Iteration | None = None
    cell: Cell | None = None
    loop: str = ""
    reordered: bool = False

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        head = "legal" if self.ok else "not legal"
        if self.reordered:
            head += " if a sum, product, maximum or minimum may take its terms in another order"
        return f"{head}: {self.why}"


LEGAL = Verdict(True, "every dependence is kept, for these extents")
REORDERED = Verdict(True, "every other dependence is kept, for these extents", reordered=True)


def kind_of(writes: bool, writes_too: bool) -> str:
    """The kind of a dependence, by whether its first and its second access write."""
    if writes and writes_too:
        return "output"
    return "flow" if writes else "anti"


def iteration_text(iteration: Iteration) -> str:
    """An iteration as S(1,2)."""
    return f"{iteration[0]}({','.join(map(str, iteration[1]))})"


def broken(
    nest: Nest, kind: str, first: Iteration, second: Iteration, cell: Cell, loop: str = ""
) -> Verdict:
    """The verdict on a schedule that breaks a dependence, in ``loop`` if that has no order.

    Of two iterations that both read and write the cell, the first writes and the second reads it
    in words: only such a pair is out of order where all lanes of a vector load before they store.
    """
    if loop and _does(nest, first, cell)[1] and _does(nest, second, cell)[0]:
        kind = "flow"
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
    why += kept_in_vector(nest, kind, first[0], second[0], loop)
    if sums(nest, first[0], second[0], cell[0]):
        why += f" A reduction into {at} needs a private copy for each turn, joined at the end."
    return Verdict(False, why, kind, first, second, cell, loop)


def kept_in_vector(nest: Nest, kind: str, first: str, second: str, loop: str) -> str:
    """What might keep a dependence in a vectorised loop all the same, as a sentence; "" if nothing.

    The lanes run a statement together: each loads what it reads, then each stores. And they may
    run one statement after the other. No schedule is allowed for that, but it has to be said.
    """
    if not loop or nest.loop(f"{first}.{loop}")[0].kind != "vectorize":
        return ""
    if first == second and kind == "anti":
        return (
            " Where all lanes read before one of them writes, this pair is kept; the check does "
            "not count on that."
        )
    names = [one.name for one in nest.statements]
    if names.index(first) < names.index(second):
        return (
            f" Where {first} runs in all lanes before {second} does, this pair is kept; the check "
            "does not count on that."
        )
    return ""


def _does(nest: Nest, iteration: Iteration, cell: Cell) -> tuple[bool, bool]:
    """Whether an iteration reads a cell, and whether it writes it."""
    one = next(one for one in nest.statements if one.name == iteration[0])
    values = dict(zip(nest.dims(one.name), iteration[1]))

    def here(access: Access) -> bool:
        return access.array == cell[0] and access.cell(values) == cell[1]

    return any(map(here, one.reads)), here(one.target)


def mark_verb(mark: str) -> str:
    """What a marked loop is to do, in words."""
    return "run in parallel" if mark == "parallel" else "run as a vector"


def sums(nest: Nest, first: str, second: str, array: str) -> bool:
    """Whether both iterations are of one reduction into this array."""
    found = next(one for one in nest.statements if one.name == first)
    return first == second and bool(found.reduction) and found.target.array == array
