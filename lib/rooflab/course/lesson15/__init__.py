"""Lesson 15, clusters: exercises and guesses."""
