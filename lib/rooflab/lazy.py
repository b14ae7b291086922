"""Public names that are imported on first use, so that ``import rooflab`` stays light."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType

from rooflab.optional import installed

_NONE: Mapping[str, str] = MappingProxyType({})


class _Facade(ModuleType):
    """A package whose public names stay what they are when a submodule of such a name loads.

    Python binds a submodule to its package, so that ``rl.predict`` would cease to be a function as
    soon as ``rooflab.predict`` is imported.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in vars(self)["_HOME"] and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def attach(
    package: str, home: Mapping[str, str], modules: Mapping[str, str] = _NONE
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package or module.

    ``package`` is its ``__name__``. ``home``, which the package keeps as ``_HOME``, says for each
    public name which module defines it. ``modules`` are public names of whole modules.
    """
    facade = sys.modules[package]
    facade.__class__ = _Facade
    public = [*home, *modules]
    called = package.replace(".labs", "")  # learners write rl.loops for rooflab.labs.loops

    def get(name: str) -> object:
        found: object
        if name in home:
            with installed(f"{called}.{name}"):
                found = getattr(importlib.import_module(home[name]), name)
        elif name in modules:
            found = importlib.import_module(modules[name])
        else:
            raise AttributeError(f"module {called!r} has no attribute {name!r}")
        vars(facade)[name] = found
        return found

    return get, lambda: sorted(public), public
