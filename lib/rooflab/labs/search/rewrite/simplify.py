"""Equality saturation: apply every rule everywhere, keep everything, then take the cheapest.

``greedy`` is the other way, for comparison: it replaces, and so forgets what it had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rooflab.count.si import si, times
from rooflab.count.validation import size
from rooflab.labs.search.rewrite.cost import measure_of, price_of, total
from rooflab.labs.search.rewrite.egraph import EGraph
from rooflab.labs.search.rewrite.expression import Expression, make
from rooflab.labs.search.rewrite.rules import Rule, Rules, as_rules
from rooflab.predict.machine import Machine

NODES = 3000  # an e-graph of the course's expressions stays below; more takes seconds


@dataclass(frozen=True)
class Growth:
    """An e-graph after some rounds: its ``nodes`` and ``classes``, what one of each rule gave.

    ``joined`` counts, by the name of the rule, the equalities that it found and that were not
    known before.
    """

    round: int
    nodes: int
    classes: int
    joined: Mapping[str, int]


@dataclass(frozen=True)
class Simplified:
    """What :func:`simplify` found: the cheapest equal expression ``after``, costs in ``unit``.

    ``growth`` has the e-graph's size at the start and after each round; ``rules`` those that found
    an equality, most first; ``ended`` is "saturated", or the limit that was reached.

    >>> A, B = (rl.search.matrix(name, 1024, 1024) for name in "AB")
    >>> found = rl.search.simplify((A @ B) @ rl.search.vector("v", 1024), cost="flops")
    >>> found.factor, found.ended
    (512.5, 'saturated')
    """

    before: Expression
    after: Expression
    cost_before: float
    cost_after: float
    unit: str
    growth: tuple[Growth, ...]
    rules: tuple[str, ...]
    ended: str

    @property
    def factor(self) -> float:
        """How many times cheaper ``after`` is; infinite where it costs nothing at all."""
        if self.cost_before == self.cost_after:
            return 1.0
        return self.cost_before / self.cost_after if self.cost_after else float("inf")

    def __repr__(self) -> str:
        last = self.growth[-1]
        less = f"{times(self.factor, 4)} less" if self.cost_after else "nothing is left to do"
        if self.after == self.before:
            less = "nothing cheaper was found"
        return "\n".join((
            f"{self.before}   {si(self.cost_before, self.unit)}",
            f"→ {self.after}   {si(self.cost_after, self.unit)}, {less}",
            f"  {last.nodes} nodes in {last.classes} classes after {last.round} rounds "
            f"({self.ended}); rules: {', '.join(self.rules) or 'none'}",
        ))  # fmt: skip


def simplify(
    expression: Expression,
    rules: Rules = None,
    cost: str | Machine = "bytes",
    rounds: int = 20,
    nodes: int = NODES,
) -> Simplified:
    """Find a cheaper expression that is equal, by equality saturation.

    Parameters
    ----------
    expression : Expression
        What is computed now.
    rules : iterable of str, optional
        Names out of :func:`rules`; all of them by default.
    cost : {"bytes", "flops"} or Machine or str, default "bytes"
        What is made small: bytes or FLOP of the ledgers, or seconds on a machine.
    rounds : int, default 20
        How often, at most, all rules are applied to everything.
    nodes : int, default 3000
        Size of the e-graph at which to stop, because rules can go on for ever.

    Returns
    -------
    Simplified
        The expression, what both cost, and how the e-graph grew.

    Notes
    -----
    The choice at the end makes the cost of the whole tree least, and pays a term that the tree
    holds twice twice. The costs that are reported pay it once, as a program would. To choose the
    best expression with sharing is NP-hard [2]_, so a better one can exist. If the chosen one is no
    cheaper than ``expression`` once terms are shared, ``expression`` is returned.

    References
    ----------
    .. [1] M. Willsey et al., "egg: Fast and extensible equality saturation", POPL 2021.
    .. [2] Y. Zhang, "The e-graph extraction problem is NP-complete", 2023.

    Examples
    --------
    >>> x = rl.search.vector("x", 1_000_000)
    >>> rl.search.simplify(rl.search.elementwise("relu", 2 * x + 3 * x))
    relu((2 * x) + (3 * x))   36.0 MB
    → fused[mul 5, relu](x)   8.00 MB, ×4.5 less
      ...
    """
    applied, (_, unit) = as_rules(rules), measure_of(cost)
    graph = EGraph()
    root = graph.add(expression)
    steps = [*saturation(graph, applied, size("rounds", rounds), size("nodes", nodes))]
    growth, ended = [one for one, _, _ in steps], steps[-1][2]
    after, least, whole = cheapest(graph, root, expression, cost)
    joined = sum((Counter(one.joined) for one in growth), Counter[str]())
    used = tuple(name for name, _ in joined.most_common())
    return Simplified(expression, after, whole, least, unit, tuple(growth), used, ended)


def cheapest(
    graph: EGraph, root: int, given: Expression, cost: str | Machine
) -> tuple[Expression, float, float]:
    """The cheapest in class ``root``, what it costs, and what ``given`` does, which equals it."""
    found = graph.extract(root, price_of(cost))
    least, whole = total(found, cost), total(given, cost)
    return (found, least, whole) if least < whole else (given, whole, whole)


class Join(NamedTuple):
    """An equality that was not known: ``term`` equals what is in class ``one``.

    ``other`` is the class where ``term`` was found or put. Numbers are those of that moment.
    """

    rule: str
    one: int
    other: int
    term: Expression


def saturation(
    graph: EGraph, applied: Sequence[Rule], rounds: int, nodes: int
) -> Iterator[tuple[Growth, list[Join], str]]:
    """Apply all rules to everything, again and again, until nothing is new or a limit is met.

    Yields the start and then each round: the size, what the rules joined, and why it was the last
    one, "" for the others. The graph is that of the round while it is looked at.
    """
    yield Growth(0, *graph.size(), {}), [], ""
    for number in range(1, rounds + 1):
        found = [
            (rule.name, one, term)
            for one, members in graph.classes()
            for node in members
            for rule in applied
            for term in rule.terms(graph, one, node)
        ]
        joins, full = [], False
        for name, one, term in found:
            other = graph.add(term)
            if graph.merge(one, other):
                joins.append(Join(name, one, other, term))
            full = graph.size()[0] >= nodes
            if full:
                break
        graph.rebuild()
        ended = "nodes" if full else "" if joins else "saturated"
        ended = ended or ("rounds" if number == rounds else "")
        counts = Counter(join.rule for join in joins)
        yield Growth(number, *graph.size(), counts), joins, ended
        if ended:
            return


# The other way.


def greedy(expression: Expression, rules: Rules = None, steps: int = 100) -> list[Expression]:
    """Replace by the first rule that fits anywhere, again and again, and see where it ends.

    Parameters
    ----------
    expression : Expression
        What is computed now.
    rules : iterable of str, optional
        As in :func:`simplify`. Their order decides; a rule with ``=`` is used in both directions.
    steps : int, default 100
        How many replacements there may be.

    Returns
    -------
    list of Expression
        ``expression`` and what it became after each step. It ends where no rule fits or what comes
        out was there before.

    Examples
    --------
    A shift is tried first, and then nothing can undo the multiplication:

    >>> a = rl.search.vector("a", 1000, "int32")
    >>> rules = ["shift", "multiply-divide", "once"]
    >>> print(*rl.search.greedy(2 * a / 2, rules), sep="   ")
    (2 * a) / 2   (a << 1) / 2
    >>> print(rl.search.simplify(2 * a / 2, rules).after)
    a
    """
    applied, path = as_rules(rules), [expression]
    for _ in range(size("steps", steps)):
        replaced = _first(path[-1], applied)
        if replaced is None or replaced in path:
            break
        path.append(replaced)
    return path


def _first(expression: Expression, applied: Sequence[Rule]) -> Expression | None:
    """``expression`` after the first rule that fits, tried from the inside out."""
    graph = EGraph()  # with one node a class: here it only serves to look at
    graph.add(expression)
    for rule in applied:
        for number, members in graph.classes():
            for node in members:
                for term in rule.terms(graph, number, node):
                    new = graph.extract(graph.add(term))
                    return _replaced(expression, graph.extract(number), new)
    return None


def _replaced(whole: Expression, old: Expression, new: Expression) -> Expression:
    if whole == old:
        return new
    return make(whole.op, *(_replaced(arg, old, new) for arg in whole.args))
