"""Tests of measuring: a stand-in for CuPy, and clocks that do not dawdle."""

from tests.support.quick_clocks import fake, quick, unasked

__all__ = ["fake", "quick", "unasked"]
