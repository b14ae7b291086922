"""Lesson 06, where data lives."""
