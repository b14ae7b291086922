"""Lesson 05, decode."""
