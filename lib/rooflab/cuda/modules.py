"""The stand-in's modules: what each says of a name it has not, and how ``import cupy`` finds them.

A learner's function gets the stand-in as its argument ``cp``. A function that imports CuPy itself
must find the same stand-in, or it would time another GPU than the one it is judged on.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

_MOST_NAMES = 8
_ROOTS = ("cupy", "cupyx")


class Namespace:
    """Something of CuPy's, of which the stand-in has a part; the rest is an AttributeError."""

    _called = "cp"  # how a learner writes it
    _inside = frozenset()  # public names that are the stand-in's own and not CuPy's

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        has = [n for n in dir(self) if not n.startswith("_") and n not in self._inside]
        nearest = difflib.get_close_matches(name, has, _MOST_NAMES, cutoff=0)
        among = ", among others," if len(has) > _MOST_NAMES else ""
        raise AttributeError(
            f"the stand-in for CuPy has no {self._called}.{name}; real CuPy may have it; "
            f"the stand-in has{among} {', '.join(sorted(nearest))}"
        )


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

    def __init__(self) -> None:
        self.profiler = Profiler()


@contextmanager
def imported_as_cupy(cp: Namespace) -> Iterator[None]:
    """Let ``import cupy`` find ``cp`` in this process; afterwards all is as it was.

    A real CuPy that is already imported is put aside. Another thread that imports it meanwhile
    gets the stand-in too: do not measure on a GPU in the background while an answer runs.
    """
    aside = _take_out()
    cupyx = Cupyx()
    sys.modules.update({
        "cupy": cp, "cupy.cublas": cp.cublas, "cupy.random": cp.random, "cupy.cuda": cp.cuda,
        "cupy.cuda.runtime": cp.cuda.runtime, "cupy.cuda.stream": cp.cuda.stream,
        "cupyx": cupyx, "cupyx.profiler": cupyx.profiler,
    })  # fmt: skip
    try:
        yield
    finally:
        _take_out()
        sys.modules.update(aside)


def _take_out() -> dict[str, object]:
    names = [name for name in sys.modules if name.partition(".")[0] in _ROOTS]
    return {name: sys.modules.pop(name) for name in names}
