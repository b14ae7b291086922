"""cupy.cublas: the stand-in's, of the one GPU of this process."""

import sys

from . import _cupy

sys.modules[__name__] = _cupy._cublas
