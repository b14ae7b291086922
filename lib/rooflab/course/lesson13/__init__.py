"""Lesson 13, from naive to register tiles: exercises, guesses and sentences."""
