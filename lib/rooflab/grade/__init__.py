"""Grading: merge answers into a locked notebook, run it in a sandbox, judge what comes out."""
