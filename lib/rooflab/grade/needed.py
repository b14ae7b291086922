"""Which statements an answer needs: those that give the global names it reads, and what they need.

An answer may rely on a constant that was made by a call or in a loop, and on a helper in another
cell. Byte golf and timing are run from what they need alone, before anything else of the learner's.
"""

from __future__ import annotations

import ast
import symtable
from collections import defaultdict
from collections.abc import Iterable, Sequence

_MEASURES = frozenset((  # of rooflab: nothing that measures, asks or shows is run, needed or not
    "measure", "this_machine", "this_machine_async", "free_lunch", "record", "explain", "sort",
    "decode_loop", "record_decode", "guess", "ask", "reveal", "show_me", "lecture", "progress",
    "check", "my_guesses", "show", "live", "golf", "conclude",
))  # fmt: skip


MOST = 500  # statements of a notebook that are followed; no honest answer needs a tenth
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension)


def needed(names: Iterable[str], statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return those of ``statements`` that give ``names`` their values, in their order.

    A statement also counts that changes what such a name holds (``table[k] = …``,
    ``sizes.append(…)``), but none that measures. At most ``MOST`` are followed.
    """
    return Needs(statements).of(names)


class Needs:
    """What statements give and read, for several questions to the same statements."""

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        self.statements = statements
        self._givers: dict[str, list[int]] = defaultdict(list)
        self._read: dict[int, frozenset[str]] = {}
        for number, one in enumerate(statements):
            for name in given(one) | _changed(one):
                self._givers[name].append(number)

    def of(self, names: Iterable[str]) -> list[ast.stmt]:
        """The statements that give ``names`` their values, as :func:`needed` returns them."""
        known = set(names)
        waiting, found = list(known), set[int]()
        while waiting and len(found) < MOST:
            for number in self._givers.get(waiting.pop(), ()):
                if number in found or len(found) == MOST or _measures(self.statements[number]):
                    continue
                found.add(number)
                new = self.reads(number) - known
                known |= new
                waiting += new
        return [self.statements[number] for number in sorted(found)]

    def names(self, names: Iterable[str]) -> frozenset[str]:
        """``names``, and all that the statements read that give them."""
        wanted = {id(one) for one in self.of(names)}
        places = (n for n, one in enumerate(self.statements) if id(one) in wanted)
        return frozenset(names).union(*map(self.reads, places))

    def reads(self, number: int) -> frozenset[str]:
        """The global names that a statement reads."""
        if number not in self._read:
            self._read[number] = read(self.statements[number])
        return self._read[number]


def given(statement: ast.stmt) -> frozenset[str]:
    """The global names to which a statement gives a value, or a part of one."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return frozenset(n.asname or n.name.partition(".")[0] for n in statement.names)
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return frozenset((statement.name,))
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)):
            found |= given(node)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        elif isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return frozenset(found)


def _changed(statement: ast.stmt) -> frozenset[str]:
    """What a call that stands alone may change: the object before the dot."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return frozenset()
    root = call.func.value
    return frozenset((root.id,)) if isinstance(root, ast.Name) else frozenset()


def read(tree: ast.AST) -> frozenset[str]:
    """The global names that a statement or a cell reads; of a function not its own variables."""
    nodes = list(ast.walk(tree))
    if not any(isinstance(node, _SCOPES) for node in nodes):
        names = (node for node in nodes if isinstance(node, ast.Name))
        return frozenset(n.id for n in names if not isinstance(n.ctx, ast.Store))
    body = tree.body if isinstance(tree, ast.Module) else [tree]
    try:
        text = ast.unparse(ast.Module(body, []))
        tables = [symtable.symtable(text, "cell", "exec")]
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    found: set[str] = set()
    top = tables[0]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        found |= {
            symbol.get_name() for symbol in table.get_symbols()
            if symbol.is_referenced() and (table is top or symbol.is_global())
        }  # fmt: skip
    return frozenset(found)


def _measures(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in _MEASURES
        and isinstance(node.value, ast.Name) and node.value.id in ("rl", "rooflab")
        for node in ast.walk(statement)
    )  # fmt: skip
