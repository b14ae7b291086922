"""The same saturation by the library egglog, whose engine is written in Rust.

Our own e-graph is the one to read. This one says whether ours is right, and is the way to larger
problems. It knows rules that are patterns; the three that are functions of ours it is not given.

Zhang et al., "Better together: unifying datalog and equality saturation", PLDI 2023.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rooflab.count.validation import size
from rooflab.labs.search.rewrite.cost import price_of
from rooflab.labs.search.rewrite.expression import (
    Array,
    Expression,
    Function,
    Map,
    Product,
    Transpose,
    make,
)
from rooflab.labs.search.rewrite.rules import Pattern, Rule, Rules, Scaled, as_rules, rules
from rooflab.optional import installed
from rooflab.predict.machine import Machine


@installed("rooflab.search.egglog")
def egglog(
    expression: Expression, rules: Rules = None, cost: str | Machine = "bytes", rounds: int = 10
) -> Expression:
    """The cheapest expression that the library egglog finds, by the same rules and costs.

    Parameters
    ----------
    expression : Expression
        What is computed now.
    rules : iterable of str or Rule, optional
        Names of rules, and rules of one's own; by default all of the course's that are patterns.
    cost : {"bytes", "flops"} or Machine or str, default "bytes"
        What is made small, see :func:`simplify`.
    rounds : int, default 10
        How often, at most, all rules are applied.

    Returns
    -------
    Expression
        The one that it extracts. As in ours, a term that occurs twice is paid twice.

    Raises
    ------
    ModuleNotFoundError
        If egglog is not installed.
    TypeError, ValueError
        If a rule is unknown or is no pattern, or the expression has a fused pass or a ``gemm``,
        or element-wise operations on matrices of different shapes.

    Examples
    --------
    >>> A, B = (rl.search.matrix(name, 64, 64) for name in "AB")
    >>> print(rl.search.egglog((A @ B) @ rl.search.vector("v", 64), ["associate"]))
    A @ (B @ v)
    """
    if not isinstance(expression, Expression):
        raise TypeError(f"expression={expression!r} must be an expression, such as A @ B")
    for one in expression.subterms():
        routine = isinstance(one.op, Product) and one.op != Product()
        if routine or (isinstance(one.op, Map) and len(one.op.functions) > 1):
            raise ValueError(f"expression: {one} is one routine of ours; egglog takes single steps")
        if isinstance(one.op, Map) and len({arg.form for arg in one.args}) > 1:
            # Its rules know no shapes, and would multiply by a row that is only repeated.
            raise ValueError(f"expression: {one} repeats a row or a column; egglog takes no shapes")
    language, kind = _language(), expression.dtype.kind
    found = [one for one in _patterns(rules) if one.only in ("", kind)]
    rewrites = [one for rule in found for one in language.rewrites(rule, kind)]
    graph = language.egglog.EGraph()
    root = graph.let("root", language.written(expression))
    graph.run(language.egglog.ruleset(*rewrites) * size("rounds", rounds))
    leaves = {str(one): one for one in expression.subterms() if isinstance(one.op, Array)}
    price = price_of(cost)

    def model(_: Any, term: Any, below: Sequence[_Best]) -> _Best:
        if not isinstance(term, language.matrix):
            return _Best(0.0, 0, term.value)  # a name or a number
        one = language.read([best.value for best in below], leaves)
        own = price(one.op, [arg.form for arg in one.args], one.args)
        cost = own + sum(best.cost for best in below)
        return _Best(cost, 1 + sum(best.operations for best in below), one)

    _, best = graph.extract(root, include_cost=True, cost_model=model)
    chosen: Expression = best.value
    return chosen


@dataclass(frozen=True, order=True)
class _Best:
    """What egglog compares: a cost, then a number of operations. The value goes along."""

    cost: float
    operations: int
    value: Any = field(compare=False)


def _patterns(given: Rules) -> list[Rule]:
    if given is None:
        return [one for one in rules().values() if one.sides]
    found = as_rules(given)
    for one in found:
        if not one.sides:
            raise ValueError(f"rules: {one.name!r} is a function of ours; egglog takes patterns")
    return found


@dataclass(frozen=True)
class _Language:
    """Expressions in egglog's words: its module, its sort of matrices, and their functions."""

    egglog: Any
    matrix: Any
    functions: dict[str, Callable[..., Any]]

    def written(self, one: Expression) -> Any:
        """An expression of ours as one of egglog's."""
        args = [self.written(arg) for arg in one.args]
        if isinstance(one.op, Array):
            return self.matrix(one.op.name)
        if isinstance(one.op, Map):
            (function,) = one.op.functions
            if function.number is not None:
                return self.functions["scaled"](function.name, function.number, *args)
            return self.functions[f"map{len(args)}"](function.name, *args)
        return self.functions["transpose" if isinstance(one.op, Transpose) else "product"](*args)

    def read(self, values: Sequence[Any], leaves: dict[str, Expression]) -> Expression:
        """An expression of egglog's as one of ours, its arguments being read already."""
        args = [value for value in values if isinstance(value, Expression)]
        literals = [value for value in values if not isinstance(value, Expression)]
        if not args:
            return leaves[literals[0]]
        if literals:
            return make(Map((Function(*literals),)), *args)
        return make(Transpose() if len(args) == 1 else Product(), *args)

    def rewrites(self, rule: Rule, kind: str) -> Iterator[Any]:
        """The rule, once for each direction."""
        for left, right in rule.sides:
            whole = [] if kind == "float" else [*self._divisions(right)]
            yield self.egglog.rewrite(self.pattern(left)).to(self.pattern(right), *whole)

    def pattern(self, one: Pattern) -> Any:
        """A pattern of ours as one of egglog's."""
        if isinstance(one, str):
            return self.egglog.var(one, self.matrix)
        if isinstance(one, Scaled):
            arg = self.pattern(one.arg)
            return self.functions["scaled"](one.function, self.number(one.number), arg)
        args = [self.pattern(arg) for arg in one.args]
        if isinstance(one.op, Map):
            return self.functions[f"map{len(args)}"](one.op.functions[0].name, *args)
        return self.functions["transpose" if isinstance(one.op, Transpose) else "product"](*args)

    def number(self, tree: ast.expr) -> Any:
        """The number of a pattern, with its letters as variables."""
        f64 = self.egglog.f64
        names = {
            one.id: self.egglog.var(one.id, f64)
            for one in ast.walk(tree)
            if isinstance(one, ast.Name)
        }
        if isinstance(tree, ast.Constant):
            return f64(float(ast.literal_eval(tree)))
        return eval(compile(ast.Expression(tree), "rule", "eval"), {"__builtins__": {}}, names)

    def _divisions(self, right: Pattern) -> Iterator[Any]:
        """What must be so for integers: each division in a number leaves nothing over."""
        match right:
            case Scaled(number=ast.BinOp(left=left, op=ast.Div(), right=by)):
                over = self.number(left) % self.number(by)
                yield self.egglog.eq(over).to(self.egglog.f64(0.0))


def _language() -> _Language:
    import egglog as library

    # Only the annotations count: egglog writes the functions itself.
    class Matrix(library.Expr):
        def __init__(self, name: library.StringLike) -> None: ...

    @library.function
    def product(a: Matrix, b: Matrix) -> Matrix: ...

    @library.function
    def transpose(a: Matrix) -> Matrix: ...

    @library.function
    def scaled(name: library.StringLike, number: library.f64Like, a: Matrix) -> Matrix: ...

    @library.function
    def map1(name: library.StringLike, a: Matrix) -> Matrix: ...

    @library.function
    def map2(name: library.StringLike, a: Matrix, b: Matrix) -> Matrix: ...

    known: dict[str, Any] = {"product": product, "transpose": transpose, "scaled": scaled}
    return _Language(library, Matrix, {**known, "map1": map1, "map2": map2})
