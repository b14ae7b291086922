"""Caches: what a loop nest's accesses cost in a hierarchy of them."""
