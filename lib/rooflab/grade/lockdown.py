"""Functions of the library that an exercise asks to derive raise "derive this yourself".

They are locked from right before the exercise's answer cell until its check cell is through, under
every name by which they can be reached, also one kept from before. It is a reminder, not a wall:
who copies the library's source into the answer has at least read it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from types import FunctionType

import rooflab

# Each of them counts what another does: a convolution of one pixel is a matrix product.
_FAMILY = ("axpy", "dot", "scale", "ger", "outer", "gemv", "gemm", "conv2d", "pool2d",
           "elementwise", "chain", "attention")  # fmt: skip


def lock(names: Iterable[str]) -> Callable[[], None]:
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


def _call(undo: list[Callable[[], None]]) -> None:
    while undo:
        undo.pop()()


def _lock_one(name: str) -> Callable[[], None]:
    if name not in rooflab._HOME:
        raise ValueError(f"{name!r} cannot be locked: rooflab has no such name")
    found = getattr(importlib.import_module(rooflab._HOME[name]), name)
    refuse = _refusal(name)
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


def _refusal(name: str) -> FunctionType:
    """A function that raises; its code runs in any module, so it may only use built-in names."""
    text = f"derive this yourself: rooflab.{name} is locked in this exercise"
    names: dict[str, FunctionType] = {}
    source = f"def refuse(*args, **kwargs):\n    raise NotImplementedError({text!r})"
    exec(compile(source, "<rooflab>", "exec"), names)  # the text is ours and quoted
    return names["refuse"]
