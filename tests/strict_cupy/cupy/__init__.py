"""CuPy 14.2 for machines without a GPU: the course's stand-in, with more of CuPy.

As a folder put first on PYTHONPATH (tests/strict_cupy) a whole process sees a working GPU:
notebooks, ``python course.py gpu``. A test has one of its own: tests/support/fake_cupy.py.

Arrays, events, the clock and what is refused are the stand-in's. Added are NumPy's functions as far
as CuPy has them (on real values, one kernel each), what rooflab's own kernels do (kernels.py), a
device with more figures, cuBLAS's math modes. ``cupy.cublas`` has to be imported, as of CuPy.
"""

from __future__ import annotations

import sys as _sys
from operator import attrgetter as _attrgetter

from .strict import Cupy as _Cupy

_cupy = _Cupy()
__version__ = _cupy.__version__
for _name in ("cuda", "cuda.runtime", "random"):
    _sys.modules[f"{__name__}.{_name}"] = _attrgetter(_name)(_cupy)


def __getattr__(name: str) -> object:
    return getattr(_cupy, name)
