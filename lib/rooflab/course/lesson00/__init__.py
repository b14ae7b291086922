"""Lesson 00, the free lunch."""
