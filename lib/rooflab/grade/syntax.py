"""Python's own parser, one thread at a time.

CPython keeps the depth of the tree it builds in one place for all threads. If the garbage collector
lets another one in meanwhile, which parses too, ``ast.parse`` raises SystemError ("recursion depth
mismatch") about a text that is in order; a class is graded in several threads.
"""

from __future__ import annotations

import ast
import threading
import warnings

_ONE = threading.Lock()


def parse(source: str) -> ast.Module:
    """Return the syntax tree of ``source``; raises what ``ast.parse`` does, and warns of
    nothing."""
    with _ONE, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)
