"""Lesson 12, smaller weights: exercises, guesses and sentences."""
