"""Lesson 14, tensor cores and pipelines: exercises and guesses."""
