"""An e-graph: many equal expressions in little room, because equal parts are stored once.

A *class* is a set of operations that are known to give the same matrix. The arguments of an
operation are classes, not operations: so a sum of two classes with three members each stands for
nine sums. Three ideas make it work. A *union-find* says which classes have been found equal. A
*table of nodes* finds an operation that is there already, so that nothing is stored twice. A
*rebuild* merges what has become the same operation since: if B and C are one class, AB and AC are.

Willsey et al., "egg: Fast and extensible equality saturation", POPL 2021. A library keeps lists of
what to mend; here a rebuild simply looks at everything, which is slower and easier to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rooflab.labs.search.rewrite.cost import Price
from rooflab.labs.search.rewrite.expression import Array, Expression, Form, Op, make


class Node(NamedTuple):
    """An operation whose arguments are classes, each by its number."""

    op: Op
    args: tuple[int, ...]


@dataclass(frozen=True)
class Member(Array):
    """Any expression of a class, which is given by its ``number``."""

    number: int


def fewest(one: Expression) -> float:
    """Price an operation so that the smallest expression is the cheapest."""
    return float(not isinstance(one.op, Array))


class EGraph:
    """Classes of equal operations. Add expressions, merge what is equal, extract the cheapest.

    >>> A, B, C = (rl.search.matrix(name, 8, 8) for name in "ABC")
    >>> graph = rl.search.EGraph()
    >>> one, other = graph.add(A @ B), graph.add(A @ C)
    >>> graph.merge(graph.add(B), graph.add(C))  # if B and C are equal,
    True
    >>> graph.rebuild()
    >>> graph.find(one) == graph.find(other)  # so are AB and AC
    True
    >>> graph.size()  # nodes, and classes
    (4, 3)
    """

    def __init__(self) -> None:
        self._parent: list[int] = []  # union-find: a class that was merged points to the other
        self._members: dict[int, dict[Node, None]] = {}  # class → its nodes, in order
        self._home: dict[Node, int] = {}  # node → its class
        self._forms: list[Form] = []  # what the members of a class agree in

    # Looking.

    def find(self, number: int) -> int:
        """The class that class ``number`` is part of by now."""
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def classes(self) -> Iterator[tuple[int, tuple[Node, ...]]]:
        """Every class with its nodes."""
        return ((number, tuple(nodes)) for number, nodes in self._members.items())

    def nodes(self, number: int) -> tuple[Node, ...]:
        """The nodes of class ``number``."""
        return tuple(self._members[self.find(number)])

    def member(self, number: int) -> Expression:
        """Class ``number`` as an expression, which others can be made of."""
        number = self.find(number)
        return Expression(Member(f"c{number}", self.form(number), number), (), self.form(number))

    def form(self, number: int) -> Form:
        """Shape and number format of everything in class ``number``."""
        return self._forms[self.find(number)]

    def size(self) -> tuple[int, int]:
        """How many nodes and how many classes there are."""
        return sum(map(len, self._members.values())), len(self._members)

    # Growing.

    def add(self, expression: Expression) -> int:
        """The class of ``expression``, which is added where it is not there yet."""
        if not isinstance(expression, Expression):
            raise TypeError(f"expression={expression!r} must be an expression, such as A @ B")
        if isinstance(expression.op, Member):
            return self.find(expression.op.number)
        node = Node(expression.op, tuple(map(self.add, expression.args)))
        if node in self._home:
            return self.find(self._home[node])
        number = len(self._parent)
        self._parent.append(number)
        self._forms.append(expression.form)
        self._members[number] = {node: None}
        self._home[node] = number
        return number

    def merge(self, one: int, other: int) -> bool:
        """State that two classes are equal; False where that was known. Rebuild afterwards.

        Raises ValueError where they have different shapes, and so cannot be equal.
        """
        one, other = self.find(one), self.find(other)
        if one == other:
            return False
        if self.form(one) != self.form(other):
            raise ValueError(
                f"shape: {self.form(one).shape} and {self.form(other).shape} are never equal"
            )
        self._parent[other] = one
        self._members[one] |= self._members.pop(other)
        return True

    def rebuild(self) -> None:
        """Merge classes with a node in common, until none have one.

        Nodes are written anew with the classes of today; two that are the same now belong to one
        class. That can make others the same, so it is done again until nothing changes.
        """
        changed = True
        while changed:
            changed = False
            home: dict[Node, int] = {}
            for number, nodes in list(self.classes()):
                for node in nodes:
                    today = Node(node.op, tuple(map(self.find, node.args)))
                    known = home.setdefault(today, number)
                    changed |= self.merge(known, number)
            self._home = {node: self.find(number) for node, number in home.items()}
            self._members = {}
            for node, number in self._home.items():
                self._members.setdefault(number, {})[node] = None

    # Choosing.

    def extract(self, root: int, price: Price = fewest) -> Expression:
        """The cheapest expression in class ``root``: one node of each class that it needs.

        The cost of a node is its own and that of its arguments' cheapest nodes. The table of costs
        is improved until it stands still. A term that is used twice is paid twice here. To share
        it would be cheaper, but to find the best choice then is NP-hard.
        """
        best: dict[int, tuple[float, int, Expression]] = {}  # cost, operations (of two equals)
        prices = {node: price(make(node.op, *map(self.member, node.args))) for node in self._home}
        improved = True
        while improved:
            improved = False
            for node, number in self._home.items():
                if not all(arg in best for arg in node.args):
                    continue
                args = [best[arg] for arg in node.args]
                cost = prices[node] + sum(arg[0] for arg in args)
                operations = 1 + sum(arg[1] for arg in args)
                if number not in best or (cost, operations) < best[number][:2]:
                    best[number] = cost, operations, make(node.op, *(arg[2] for arg in args))
                    improved = True
        return best[self.find(root)][2]
