"""Public names that are imported on first use, so that ``import rooflab`` stays light.

A package lists its public names where type checkers and editors look for them: in the stub beside
it, as ``from module import name as name``.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from rooflab.optional import installed


class _Facade(ModuleType):
    """A package whose public names stay what they are when a submodule of such a name loads.

    Python binds a submodule to its package, so that ``rl.predict`` would cease to be a function as
    soon as ``rooflab.predict`` is imported.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in vars(self)["_HOME"] and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def attach(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of ``package``, its ``__name__``.

    Its ``_HOME`` says for each public name of its stub in which module it is defined.
    """
    facade = sys.modules[package]
    stub = Path(str(facade.__file__)).with_suffix(".pyi")
    home = {
        name.name: str(node.module)
        for node in ast.parse(stub.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    vars(facade)["_HOME"] = home
    facade.__class__ = _Facade
    called = package.replace(".labs", "")  # learners write rl.loops for rooflab.labs.loops

    def get(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {called!r} has no attribute {name!r}")
        with installed(f"{called}.{name}"):
            found = vars(importlib.import_module(home[name])).get(name)
            found = found or importlib.import_module(f"{home[name]}.{name}")
        vars(facade)[name] = found
        return found

    return get, lambda: sorted(home), list(home)
