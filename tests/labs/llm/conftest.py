"""Tests of language models: a stand-in for CuPy, clocks that do not dawdle, a machine."""

from tests.support.machine import here
from tests.support.quick_clocks import fake, quick, unasked

__all__ = ["fake", "here", "quick", "unasked"]
