"""Lock functions of the library that an exercise asks to derive: they raise, under every name.

They are locked from just before the exercise's answer cell until the end of its check cell. It is
a reminder, not a wall: whoever copies the library's source into the answer has at least read it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from types import FunctionType

import rooflab

DERIVE = "derive this yourself"
# Counts that can stand in for each other: a convolution of one pixel is a matrix product.
_FAMILY = ("axpy", "dot", "scale", "ger", "outer", "gemv", "gemm", "conv2d", "pool2d",
           "elementwise", "chain", "attention")  # fmt: skip


def lock_functions(names: Iterable[str]) -> Callable[[], None]:
    """Lock the rooflab functions and classes ``names``; return what unlocks them again.

    Raises ValueError for a name that rooflab does not have.
    """
    undo: list[Callable[[], None]] = []
    try:
        for name in names:
            undo.append(_lock_one(name))
    except BaseException:
        _call(undo)
        raise
    return lambda: _call(undo)


def with_kin(names: Iterable[str]) -> list[str]:
    """Return ``names``, and all counts of operations if one of them is such a count."""
    wanted = list(names)
    return list(dict.fromkeys([*wanted, *(_FAMILY if set(wanted) & set(_FAMILY) else ())]))


def refusal(name: str) -> str:
    """Return what a locked function says."""
    return f"{DERIVE}: rooflab.{name} is locked in this exercise"


def _call(undo: list[Callable[[], None]]) -> None:
    while undo:
        undo.pop()()


def _lock_one(name: str) -> Callable[[], None]:
    if name not in rooflab._HOME:
        raise ValueError(f"{name!r} cannot be locked: rooflab has no such name")
    found = getattr(importlib.import_module(rooflab._HOME[name]), name)
    refuse = _refusing(name)
    if isinstance(found, type):
        return _exchange(found, "__init__", refuse)
    found = getattr(found, "__wrapped__", found)
    if type(found) is not FunctionType or found.__code__.co_freevars:
        raise ValueError(f"rooflab.{name} cannot be locked: it is no plain function or class")
    return _exchange(found, "__code__", refuse.__code__)


def _exchange(owner: object, attribute: str, new: object) -> Callable[[], None]:
    old = vars(owner).get(attribute) if isinstance(owner, type) else getattr(owner, attribute)
    setattr(owner, attribute, new)
    return lambda: delattr(owner, attribute) if old is None else setattr(owner, attribute, old)


def _refusing(name: str) -> FunctionType:
    """A function that raises; its code runs in any module, so it may only use built-in names."""
    names: dict[str, FunctionType] = {}
    source = f"def refuse(*args, **kwargs):\n    raise NotImplementedError({refusal(name)!r})"
    exec(compile(source, "<rooflab>", "exec"), names)  # the text is ours and quoted
    return names["refuse"]
