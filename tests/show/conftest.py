"""Tests of pictures: a measured machine that needs no measuring."""

from tests.support.measured import here

__all__ = ["here"]
