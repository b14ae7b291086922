"""Exercises whose answer is a kernel: the right one as text, each slip as what it replaces."""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.exercises.observe.kernel import CudaText


def kernel(text: str) -> Callable[..., object]:
    """Return the last function of ``text``, whose source ``inspect`` finds."""
    file = f"<kernel {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, file, "exec"), names)
    return next(value for value in reversed(names.values()) if callable(value))


def launch_case(
    grid: Sequence[int], block: Sequence[int], arguments: Mapping[str, object], *empty: str,
    counts: Sequence[str] = ("sectors",),
) -> Case:  # fmt: skip
    """Return one case: a launch, the shapes and numbers of its arguments, which come empty."""
    return {"grid": list(grid), "block": list(block), "arguments": dict(arguments),
            "empty": list(empty), "counts": list(counts)}  # fmt: skip


def kernel_exercise(
    id: str, title: str, points: int, question: str, call: str, text: str,
    slips: Sequence[tuple[str, str, *tuple[tuple[str, str], ...]]], *,
    made: Callable[[str], Callable[..., object]] = kernel, **more: Any,
) -> Exercise:  # fmt: skip
    """Return the exercise whose right kernel is ``text``.

    A slip is its name, its hint, and one or more pairs: what of the text it replaces, and by what.
    Raises ValueError for a slip that replaces nothing.
    """
    mistakes = []
    for name, hint, *pairs in slips:
        for old, _ in pairs:
            if old not in text:
                raise ValueError(f"{id}, {name}: {old!r} is not in the kernel")
        first, *others = (made(text.replace(*pair)) for pair in pairs)
        mistakes.append(Misconception(name, first, hint, variants=tuple(others)))
    return Exercise(
        id, title, points, question, call, made(text), tuple(mistakes), kind="kernel",
        **{"form": "nothing: it writes into its arrays", **more},
    )  # fmt: skip


cuda_exercise = functools.partial(kernel_exercise, made=CudaText)
"""The same with CUDA C++: the answer is the text of a kernel."""
