"""Lecture: a lesson one step at a time on a stage, in an open notebook or as a page of slides."""
