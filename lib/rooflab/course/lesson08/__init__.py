"""Lesson 08, legal loops."""
