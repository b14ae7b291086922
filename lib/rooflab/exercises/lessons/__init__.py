"""The exercises, one module a lesson: its tuple EXERCISES has them in the order of the lesson."""
