"""Lesson 02, bytes."""
