"""Rewriting expressions: e-graphs, rules, and what an expression costs."""
