"""Lesson 09, search."""
