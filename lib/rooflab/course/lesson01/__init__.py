"""Lesson 01, three operations."""
