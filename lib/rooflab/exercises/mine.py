"""``rl.mine``: the learner's own file of functions, mine.py, which grows with the lessons.

``rl.mine.save(product)`` writes a function from the notebook into mine.py; ``rl.mine.product`` is
the learner's function, or a reference that says so as long as there is none. The file lies beside
the notebook (the kernel's directory in Jupyter, VS Code and Colab); ROOFLAB_MINE names another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rooflab.count.validation import unknown
from rooflab.exercises import source
from rooflab.exercises.check import check
from rooflab.exercises.collect import describe
from rooflab.exercises.registry import exercises
from rooflab.measure.atomic import replace_file
from rooflab.measure.settings import told_path

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
        return told_path("ROOFLAB_MINE") or Path.cwd() / "mine.py"

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
            new = source.definition(function)
        except TypeError as error:
            return f"not saved: {error}."
        if not new.answered:
            return f"{new.name}: not answered yet; rooflab's own {new.name} stands in."
        path = self.path
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else source.HEADER
            merged = source.replace(text, new)
            if merged != text or not path.exists():
                replace_file(path, merged)
        except SyntaxError as error:
            return f"{new.name}: not saved, {_where(path, error)}; mend that line first."
        except (OSError, UnicodeDecodeError) as error:
            return f"{new.name}: not saved, {path.name} cannot be used ({describe(error)})."
        missing = sorted(set(source.missing_names(merged, new.name)) - set(_references()))
        lines = len(merged.splitlines())
        note = f"{new.name}: saved to {path.name} ({lines} of {MOST_LINES} lines)."
        if missing:
            ways = "; ".join(source.to_bring(function, name) for name in missing)
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
        line = source.line_in(error, str(path))
        return Loaded(stamp, {}, f"{path.name} line {line}: {describe(error)}")
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
