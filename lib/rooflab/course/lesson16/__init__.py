"""Lesson 16, down to PTX: exercises and guesses."""
