"""``rl.mine``: the learner's own file of functions, mine.py, which grows with the lessons.

``rl.mine.save(product)`` writes a function from the notebook into mine.py; ``rl.mine.product`` is
the learner's function, or a reference that says so as long as there is none. The file lies beside
the notebook (the kernel's directory in Jupyter, VS Code and Colab); ROOFLAB_MINE names another.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import symtable
import textwrap
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rooflab.count.validation import unknown
from rooflab.exercises.check import check
from rooflab.exercises.observe.observation import describe
from rooflab.exercises.registry import exercises
from rooflab.measure.settings import path_setting
from rooflab.measure.store import replace_file

# Move a function's source from a notebook cell into a file, and find what it lacks there.


HEADER = '"""My own functions for the course, one a lesson."""\n'


@dataclass(frozen=True)
class Definition:
    """A function as text. ``answered`` is False as long as an ellipsis stands in it."""

    name: str
    text: str
    answered: bool


def definition(function: Callable[..., object]) -> Definition:
    """Return the source of ``function``; ``name = lambda …: …`` becomes a ``def``.

    Raises TypeError for what has no source that can stand in a file.
    """
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"{function!r:.60} is not a function written with def")
    if function.__name__ == "<lambda>":
        return _from_lambda(function)
    try:
        text = textwrap.dedent(inspect.getsource(function)).rstrip() + "\n"
        tree = ast.parse(text)
    except (OSError, SyntaxError):
        raise TypeError(
            f"the source of {function.__name__} is not to be had; define it in a cell of its own"
        ) from None
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(found) != 1:
        raise TypeError(f"{function.__name__} must be a plain function written with def")
    return Definition(function.__name__, text, not any(map(_open_end, found[0].body)))


def _open_end(part: ast.AST) -> bool:
    return any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(part))


def _from_lambda(function: types.FunctionType) -> Definition:
    """The one assignment of a lambda to a name on its line, as a ``def`` of that name."""
    whole = "".join(linecache.getlines(function.__code__.co_filename))
    try:
        statements = ast.walk(ast.parse(whole))
    except SyntaxError:
        statements = iter(())
    line = function.__code__.co_firstlineno
    made = [
        (node.targets[0].id, node.value)
        for node in statements
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Lambda)
        and node.value.lineno == line
    ]
    if len(made) != 1 or function.__closure__:
        raise TypeError("a lambda is saved only from `name = lambda …` in a cell of its own; "
                        "write it with def")  # fmt: skip
    name, written = made[0]
    text = f"def {name}({ast.unparse(written.args)}):\n    return {ast.unparse(written.body)}\n"
    return Definition(name, text, not _open_end(written.body))


def to_bring(function: Callable[..., object], name: str) -> str:
    """Say how ``name``, which ``function`` finds in the notebook, gets into its file."""
    value = function.__globals__.get(name)
    if isinstance(value, types.ModuleType):
        known_as = "" if value.__name__ == name else f" as {name}"
        return f"write `import {value.__name__}{known_as}` inside the function"
    home = getattr(value, "__module__", None)
    if callable(value) and isinstance(home, str) and home not in ("__main__", "builtins"):
        return f"write `from {home} import {name}` inside the function"
    if callable(value):
        return f"save it too: `rl.mine.save({name})`"
    return f"write what `{name}` is inside the function"


def replace(text: str, new: Definition) -> str:
    """Return ``text`` with its function of that name replaced, or with the new one at the end.

    Raises SyntaxError if ``text`` is no Python.
    """
    old = [
        node
        for node in ast.parse(text).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == new.name
    ]
    if not old:
        return text.rstrip("\n") + "\n\n\n" + new.text if text.strip() else new.text
    lines = text.splitlines(keepends=True)
    for node in reversed(old[1:]):  # a name defined twice keeps one definition, the new one
        del lines[_first(node) - 1 : node.end_lineno]
    lines[_first(old[0]) - 1 : old[0].end_lineno] = [new.text]
    return "".join(lines)


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def missing_names(text: str, name: str) -> list[str]:
    """Return the global names that function ``name`` uses and ``text`` does not define."""
    top = symtable.symtable(text, "mine.py", "exec")
    known = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()}
    known |= {symbol.get_name() for symbol in top.get_symbols() if symbol.is_imported()}
    known |= {child.get_name() for child in top.get_children()}
    inside = [child for child in top.get_children() if child.get_name() == name]
    used: set[str] = set()
    while inside:
        table = inside.pop()
        inside.extend(table.get_children())
        used |= {s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced()}
    return sorted(used - known - set(dir(builtins)))


MOST_LINES = 60


@dataclass(frozen=True)
class Note:
    """What happened to mine.py, in one line for each function."""

    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(self.lines)


@dataclass
class Loaded:
    """mine.py as it was read: its functions, and what is wrong with it if anything is."""

    stamp: tuple[int, int] | None = None
    functions: dict[str, Callable[..., object]] = field(default_factory=dict)
    problem: str | None = None


class Mine:
    """The functions of mine.py as attributes. ``rl.mine`` is the one object of this class."""

    def __init__(self) -> None:
        self._loaded = Loaded()
        self._told: set[str] = set()

    @property
    def path(self) -> Path:
        """Where the file is, or will be."""
        return path_setting("ROOFLAB_MINE") or Path.cwd() / "mine.py"

    def __dir__(self) -> list[str]:
        return sorted({*_references(), "save", "path"})

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name.startswith("_"):
            raise AttributeError(name)
        loaded = self._load()
        if name in loaded.functions:
            return loaded.functions[name]
        if name not in _references():
            problem = f" ({loaded.problem})" if loaded.problem else ""
            raise AttributeError(f"{unknown('rl.mine function', name, _references())}{problem}")
        why = loaded.problem or f"mine.py has no {name} yet"
        self._tell(f"{why}: rooflab's own {name} stands in.")
        return _references()[name]

    def save(self, *functions: Callable[..., object]) -> Note:
        """Write functions of this notebook into mine.py; an older one of the same name is replaced.

        Everything else in the file stays. A function that still holds ``...`` is not saved, and a
        file with an error in it is not touched: the Note says so, nothing is raised for it.
        So it does for what can be called and has no ``def`` that could stand in a file. Raises
        TypeError for what is no function at all.
        """
        if not functions:
            raise TypeError("save() needs a function: rl.mine.save(product)")
        values = [function for function in functions if not callable(function)]
        if values:
            raise TypeError(f"save() needs a function written with def, not {values[0]!r:.60}")
        return Note(tuple(map(self._save, functions)))

    def _save(self, function: Callable[..., object]) -> str:
        try:
            new = definition(function)
        except TypeError as error:
            return f"not saved: {error}."
        if not new.answered:
            return f"{new.name}: not answered yet; rooflab's own {new.name} stands in."
        path = self.path
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else HEADER
            merged = replace(text, new)
            if merged != text or not path.exists():
                replace_file(path, merged)
        except SyntaxError as error:
            return f"{new.name}: not saved, {_where(path, error)}; mend that line first."
        except (OSError, UnicodeDecodeError) as error:
            return f"{new.name}: not saved, {path.name} cannot be used ({describe(error)})."
        missing = sorted(set(missing_names(merged, new.name)) - set(_references()))
        lines = len(merged.splitlines())
        note = f"{new.name}: saved to {path.name} ({lines} of {MOST_LINES} lines)."
        if missing:
            ways = "; ".join(to_bring(function, name) for name in missing)
            return f"{note} It uses {', '.join(missing)}, which mine.py lacks: {ways}."
        return note + self._doubt(new.name)

    def _doubt(self, name: str) -> str:
        """Say so when what was saved does not pass its exercise; it is the learner's, right or
        not."""
        asked = next((e.id for e in exercises().values() if e.mine == name), None)
        saved = self._load().functions.get(name)
        if asked is None or saved is None or check(asked, saved).passed:
            return ""
        return f' It is not right yet: rl.check("{asked}", {name}) says why.'

    def _load(self) -> Loaded:
        """Read mine.py again if it changed; an error in it becomes ``problem``."""
        path = self.path
        try:
            state = path.stat()
            stamp = (state.st_mtime_ns, state.st_size)
        except OSError:
            self._loaded = Loaded()
            return self._loaded
        if self._loaded.stamp != stamp:
            self._loaded = _read(path, stamp)
        return self._loaded

    def _tell(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            print(message)

    def __repr__(self) -> str:
        loaded = self._load()
        rows = [
            f"  {name}: {'yours' if name in loaded.functions else 'rooflab stands in'}"
            for name in _references()
        ]
        if loaded.problem:
            return "\n".join([loaded.problem, *rows])
        if loaded.stamp is None:
            return "\n".join([f"no {self.path.name} yet", *rows])
        lines = len(self.path.read_text(encoding="utf-8").splitlines())
        return "\n".join([f"{self.path.name}: {lines} of {MOST_LINES} lines", *rows])


def _references() -> dict[str, Callable[..., object]]:
    """Functions that mine.py will hold in the end, from the exercises that ask for them."""
    found = {}
    for asked in exercises().values():
        found |= {function.__name__: function for function in asked.given}
        if asked.mine:
            found[asked.mine] = asked.reference
    return found


def _read(path: Path, stamp: tuple[int, int]) -> Loaded:
    names: dict[str, object] = {"__name__": "mine", "__file__": str(path)}
    try:
        text = path.read_text(encoding="utf-8")
        exec(compile(text, str(path), "exec"), names)  # the learner's own file, on purpose
    except SyntaxError as error:
        return Loaded(stamp, {}, _where(path, error))
    except UnicodeDecodeError as error:
        return Loaded(stamp, {}, f"{path.name} is not UTF-8 text ({error.reason})")
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [0, *(one.lineno for one in frames if one.filename == str(path))]
        return Loaded(stamp, {}, f"{path.name} line {lines[-1] or 0}: {describe(error)}")
    functions = {
        name: value
        for name, value in names.items()
        if callable(value) and getattr(value, "__module__", None) == "mine"
    }
    for name, reference in _references().items():
        names.setdefault(name, reference)  # the learner's functions may call a missing one
    return Loaded(stamp, functions, None)


def _where(path: Path, error: SyntaxError) -> str:
    return f"{path.name} line {error.lineno}: {error.msg}"


mine = Mine()
