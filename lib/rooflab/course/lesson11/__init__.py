"""Lesson 11, precision: exercises, guesses and sentences."""
