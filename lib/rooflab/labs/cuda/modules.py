"""The stand-in's modules: what each says of a name it has not, and how ``import cupy`` finds them.

A learner's function gets the stand-in as its argument ``cp``. A function that imports CuPy itself
must find the same stand-in, or it would time another GPU than the one it is judged on.
"""

from __future__ import annotations

import difflib
import functools
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from rooflab.measure.backend import cupy_to_oneself


@functools.cache
def cupys_names(of: str) -> frozenset[str]:
    """Return the public names of ``of``, such as "cupy.cuda", in CuPy 14.2; none if not listed."""
    text = Path(__file__).with_name("cupy_names.json").read_text(encoding="utf-8")
    return frozenset(json.loads(text).get(of, "").split())


class Namespace:
    """Something of CuPy's, of which the stand-in has a part and says so of the rest."""

    _called = "cp"  # how a learner writes it
    _listed = ""  # what its names are listed under in cupy_names.json

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        theirs, full = cupys_names(self._listed), f"{self._called}.{name}"
        if name in theirs:
            raise AttributeError(
                f"{full} is part of CuPy, but not of this stand-in: on a GPU it works"
            )
        near = ", ".join(difflib.get_close_matches(name, theirs or dir(self))) or "no such name"
        whose = "CuPy" if theirs else "this stand-in for CuPy"
        raise AttributeError(f"{full} is not part of {whose}, which has {near}")


class Profiler(Namespace):
    """``cupyx.profiler``: its benchmark() is a usual way to time, and refused by name."""

    _called = "cupyx.profiler"

    def benchmark(self, *args: object, **kwargs: object) -> NoReturn:
        """Raise NotImplementedError, with what is wrong with it here."""
        raise NotImplementedError(
            "cupyx.profiler.benchmark synchronises after each repeat and leaves L2 warm; "
            "write it with events"
        )


class Cupyx(Namespace):
    """``cupyx``."""

    _called = "cupyx"
    profiler = Profiler()


class _Seen(ModuleType):
    """A module that is ``mine`` in the thread that made it, and ``others`` everywhere else.

    A thread in the background may ask meanwhile whether there is a GPU. It must not take the
    stand-in for one.
    """

    def __init__(self, name: str, mine: object, others: ModuleType | None) -> None:
        super().__init__(name)
        self._parts = threading.get_ident(), mine, others

    def __getattr__(self, name: str) -> object:
        owner, mine, others = self._parts
        return getattr(mine if threading.get_ident() == owner else others, name)


@contextmanager
def imported_as_cupy(cp: Any) -> Iterator[None]:
    """Let ``import cupy`` find ``cp`` in this thread; afterwards all is as it was."""
    ours = {
        "cupy": cp, "cupy.cublas": cp.cublas, "cupy.random": cp.random, "cupy.cuda": cp.cuda,
        "cupy.cuda.runtime": cp.cuda.runtime, "cupyx": Cupyx(), "cupyx.profiler": Cupyx.profiler,
    }  # fmt: skip
    with cupy_to_oneself():
        aside = {name: sys.modules.get(name) for name in ours}
        sys.modules.update({name: _Seen(name, ours[name], aside[name]) for name in ours})
        try:
            yield
        finally:
            for name, module in aside.items():
                if module is None:
                    sys.modules.pop(name, None)
                else:
                    sys.modules[name] = module
