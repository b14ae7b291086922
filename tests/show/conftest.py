"""Tests of pictures: a measured machine that needs no measuring."""

from tests.support.machine import here

__all__ = ["here"]
