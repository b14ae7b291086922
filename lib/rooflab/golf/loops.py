"""Whether a function that did not end has a loop that may be the reason."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType


def may_loop(function: object) -> bool:
    """Whether ``function``, or one of its own module that it calls, has a loop.

    What is no plain function may have one.
    """
    return not isinstance(function, FunctionType) or any(
        "JUMP_BACKWARD" in step.opname for code in _codes(function) for step in dis.Bytecode(code)
    )


def _codes(function: FunctionType) -> Iterator[CodeType]:
    """The code of ``function``, of what is defined in it and of what it calls in its module."""
    seen: set[CodeType] = set()
    waiting = [function.__code__]
    while waiting:
        code = waiting.pop()
        if code in seen:
            continue
        seen.add(code)
        yield code
        called = [function.__globals__.get(name) for name in code.co_names]
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
        waiting += [
            each.__code__
            for each in called
            if isinstance(each, FunctionType) and each.__module__ == function.__module__
        ]
