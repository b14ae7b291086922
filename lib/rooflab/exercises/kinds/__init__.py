"""Judges, one for each kind of exercise: from observations to a verdict. They never ship."""
