"""Lesson 07, tiling."""
