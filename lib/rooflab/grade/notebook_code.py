"""The code of a notebook: which statements, checks and packages an answer needs."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import re
import symtable
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

# Python's own parser, one thread at a time.
#
# A class is graded in several threads, and CPython keeps the depth of the tree that it builds in
# one place for all of them. The garbage collector may let a second thread parse in the middle of
# that. ``ast.parse`` then raises SystemError ("recursion depth mismatch") though the text is right.


_ONE = threading.Lock()


def parse(source: str) -> ast.Module:
    """Return the syntax tree of ``source``, without warnings; raises what ``ast.parse`` does."""
    with _ONE, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


# Which statements around the answers are run in a locked notebook.
#
# An answer may rely on imports, on constants, on functions, and on earlier answers. Code that
# measures, draws or computes is left out, so that no points depend on it. Of a cell that is no
# answer, only the statements without a call or a look-up such as x[0] remain.


LONGEST = 20_000  # characters of a cell that is looked into
_STILL = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_TIMED = re.compile(r"([ \t]*)%time[ \t]+(?=[^\s%!])")  # this magic runs the rest of its line
_STORED = re.compile(r"([ \t]*[^\W\d]\w*[ \t]*=)[ \t]*[%!](?=[A-Za-z])")  # files = !ls
_INDENTED = re.compile(r"([ \t]+)(?:[%!](?=[A-Za-z])|[\w.]+\?{1,2}[ \t]*$)")
_ASKED = re.compile(r"[\w.]+\?{1,2}[ \t]*$")  # product?
# In a function, or assigned: there an answer depends on what another program says.
_SHELL = re.compile(
    r"(?:^[ \t]+|=[ \t]*)(?:!|%(?:sx|system)\b)|^[ \t]*%(?:run|load)\b", re.MULTILINE
)
_ACTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.Subscript)  # x[0] runs x's own code


def kept(source: str, also: Callable[[ast.stmt], bool] = lambda node: False) -> str:
    """Return the statements of a cell that an answer may rely on, as text; "" if there are none.

    Kept are imports, functions, classes, assignments without a call or x[…], and what ``also``
    says. A cell that is no Python (also after its magic lines are taken out) holds none.
    """
    tree = parsed(source)
    if tree is None:
        return ""
    return text_of(source, [node for node in tree.body if still(node) or also(node)])


def text_of(source: str, nodes: Iterable[ast.stmt]) -> str:
    """Return statements of a cell as they stand there."""
    read = _read(source)
    lines = (source if read is None else read[1]).split("\n")
    return "\n".join(text for text in (_text(lines, node) for node in nodes) if text)


def names(source: str) -> frozenset[str]:
    """Return the global names that a cell reads, such as the functions that it calls."""
    tree = parsed(source)
    if tree is None:
        return frozenset()
    loaded = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return frozenset(node.id for node in loaded)


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree of a cell, None if it is no Python or too long."""
    read = _read(source)
    return None if read is None else read[0]


@lru_cache(maxsize=512)  # a cell is asked for several times, and a class has many alike
def _read(source: str) -> tuple[ast.Module, str] | None:
    """The tree of a cell, and its text: as it stands, else without its magic lines."""
    if len(source) > LONGEST:
        return None
    for text in (source, "\n".join(map(_without_magic, source.split("\n")))):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return parse(text), text
    return None


def _without_magic(line: str) -> str:
    """Return a line without what its magic does (%time, !pip, ?); what ``%time`` times is kept."""
    if timed := _TIMED.match(line):
        return timed[1] + line[timed.end() :]
    if stored := _STORED.match(line):
        return f"{stored[1]} None"
    if inside := _INDENTED.match(line):
        return f"{inside[1]}pass"
    return "" if line.startswith(("%", "!", "?")) or _ASKED.match(line) else line


def shell_line(source: str) -> int:
    """Return the number of the line on which an answer runs another program, 0 if none does."""
    found = _SHELL.search(source[:LONGEST])
    return source.count("\n", 0, found.end()) + 1 if found else 0


def still(node: ast.stmt) -> bool:
    """Whether a statement calls nothing: a definition, a plain assignment, an import that works."""
    if isinstance(node, _STILL):
        return not absent(node)
    if isinstance(node, ast.AnnAssign):
        return node.value is not None and _calls_nothing(node.value)
    if not isinstance(node, ast.Assign):
        return False
    return all(_plain(target) for target in node.targets) and _calls_nothing(node.value)


def absent(node: ast.stmt) -> bool:
    """Whether a statement imports what is not installed here, such as a learner's own module."""
    return isinstance(node, _IMPORTS) and not all(map(_installed, modules_of(node)))


def modules_of(node: ast.AST) -> frozenset[str]:
    """The modules that an import names, without what is behind a dot: "numpy" of numpy.linalg."""
    if isinstance(node, ast.Import):
        return frozenset(name.name.partition(".")[0] for name in node.names)
    named = isinstance(node, ast.ImportFrom) and node.module and not node.level
    return frozenset((node.module.partition(".")[0],)) if named else frozenset()


@cache
def _installed(module: str) -> bool:
    with contextlib.suppress(ValueError):  # __main__ has no specification
        return importlib.util.find_spec(module) is not None
    return True


def _plain(target: ast.expr) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(_plain(part) for part in target.elts)
    return isinstance(target, ast.Name)


def _calls_nothing(value: ast.expr) -> bool:
    inside = [node.body for node in ast.walk(value) if isinstance(node, ast.Lambda)]
    later = {id(node) for body in inside for node in ast.walk(body)}  # a lambda acts when called
    return not any(isinstance(node, _ACTS) and id(node) not in later for node in ast.walk(value))


def _text(lines: list[str], node: ast.stmt) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(d.lineno for d in decorators)])
    text = lines[first - 1 : node.end_lineno]
    begin = 0 if decorators else node.col_offset
    if not begin and not any(";" in line for line in text):
        return "\n".join(text)
    # One of several statements of a line; columns are counted in bytes.
    text[-1] = text[-1].encode()[: node.end_col_offset].decode()
    text[0] = text[0].encode()[begin:].decode()
    return "\n".join(text)


# Which statements an answer needs: those that give the global names it reads, and what they need.
#
# An answer may rely on a constant that was made by a call or in a loop, and on a helper in another
# cell. Byte golf and timing may be run with only what they need, before the learner's other code.


_MEASURES = frozenset((  # of rooflab: nothing that measures, asks or shows is run, needed or not
    "measure", "this_machine", "this_machine_async", "free_lunch", "record", "explain", "sort",
    "decode_loop", "record_decode", "guess", "ask", "reveal", "show_me", "lecture", "progress",
    "check", "my_guesses", "show", "live", "golf", "conclude",
))  # fmt: skip


MOST = 500  # statements of a notebook that are followed; no honest answer needs a tenth
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension)


class Needs:
    """What statements give and read."""

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        self.statements = statements
        self._givers: dict[str, list[int]] = defaultdict(list)
        self._read: dict[int, frozenset[str]] = {}
        for number, one in enumerate(statements):
            for name in given(one) | _changed(one):
                self._givers[name].append(number)

    def of(self, names: Iterable[str]) -> list[ast.stmt]:
        """The statements that give ``names`` their values, in their order.

        A statement also counts that changes what such a name holds (``table[k] = …``,
        ``sizes.append(…)``), but none that measures. At most ``MOST`` are followed.
        """
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


# Statements of an answer cell that are run before the cell itself, in case the cell fails above
# them.
#
# Above ``def peak(…)`` a learner may plot a curve or print what was measured. Nothing is measured
# in the grade, so such a line fails, and the function below it would never be defined. An import of
# what is not installed there fails in the same way.


def early(source: str, names: Collection[str]) -> str:
    """Return the statements that give ``names``, of answers, and what these need.

    "" if no statement that could fail stands between them.
    """
    tree = parsed(source)
    if tree is None:
        return ""
    wanted = {id(node) for node in Needs(tree.body).of(names)}
    stays = [(still(node) or id(node) in wanted) and not absent(node) for node in tree.body]
    giving = [n for n, node in enumerate(tree.body) if stays[n] and given(node) & {*names}]
    if not giving or all(stays[: giving[-1]]):
        return ""
    return in_place(source, [node for node, one in zip(tree.body, stays, strict=True) if one])


def in_place(source: str, nodes: Iterable[ast.stmt]) -> str:
    """Return statements of a cell, each on the lines where it stands: messages name lines."""
    lines = [""] * (source.count("\n") + 1)
    for node in nodes:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        text = text_of(source, [node]).split("\n")
        text[0] = f"{lines[first]}; {text[0]}" if lines[first] else text[0]
        lines[first : first + len(text)] = text
    return "\n".join(lines)


# What a cell checks: the learner's own ``rl.check("01-product", product)``.


_ID = re.compile(r"answer-(\d\d-[a-z0-9-]+?)(-\d)?")
_WRITTEN = re.compile(r"\bcheck\(\s*[\"']([^\"'\n]{1,60})[\"']\s*,\s*(?:answer\s*=\s*)?(\w+)\s*\)")


@dataclass(frozen=True)
class Checked:
    """One call of ``check``: the exercise, and its answer, a ``name`` or a ``text``."""

    exercise: str
    name: str | None
    text: str | None = None


def checks(source: str) -> tuple[Checked, ...]:
    """Return the calls of ``check`` in a cell, in their order; nothing is executed."""
    if "check" not in source:
        return ()
    tree = parsed(source)
    if tree is None:
        return tuple(Checked(*found) for found in _WRITTEN.findall(source))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    return tuple(found for call in calls if (found := _checked(call)))


def exercise_of_id(id: str) -> str:
    """Return the exercise that a cell's id names, such as "answer-01-product"; "" if none."""
    found = _ID.fullmatch(id)
    return found[1] if found else ""


def _checked(call: ast.Call) -> Checked | None:
    named = call.func.attr if isinstance(call.func, ast.Attribute) else None
    if (getattr(call.func, "id", None) or named) != "check":
        return None
    first = call.args[0] if call.args else _keyword(call, "id")
    answer = call.args[1] if len(call.args) > 1 else _keyword(call, "answer")
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str) or answer is None:
        return None
    if isinstance(answer, ast.Name):
        return Checked(first.value, answer.id)
    try:
        return Checked(first.value, None, ast.unparse(answer))
    except (ValueError, RecursionError):  # a number of thousands of digits, say, has no text
        return None


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)
