"""Rooflines: the figure for a page, and the live one that is moved by hand."""
