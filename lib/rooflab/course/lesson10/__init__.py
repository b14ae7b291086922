"""Lesson 10, fusion: exercises, guesses and sentences."""
