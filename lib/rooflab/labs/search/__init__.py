"""``rl.search``: let the machine look for what is cheaper.

Expressions are rewritten by rules until the cheapest equal one is known; operators are described by
which elements they touch; compilers are compared by what they decide and what they check. Schedules
of a loop nest are predicted, measured and improved.
"""

from __future__ import annotations

import importlib

from rooflab.optional import installed

_HOME = {
    **dict.fromkeys(
        ("Expression", "matrix", "vector", "elementwise"),
        "rooflab.labs.search.rewrite.expression",
    ),
    "EGraph": "rooflab.labs.search.rewrite.egraph",
    "egglog": "rooflab.labs.search.rewrite.egglog_graph",
    "total": "rooflab.labs.search.rewrite.cost",
    **dict.fromkeys(("Rule", "rule", "rules"), "rooflab.labs.search.rewrite.rules"),
    **dict.fromkeys(("compilers", "CompilerMap"), "rooflab.labs.search.compiler_map"),
    **dict.fromkeys(("Operator", "operator"), "rooflab.labs.search.statement"),
    **dict.fromkeys(("simplify", "Simplified", "greedy"), "rooflab.labs.search.rewrite.simplify"),
    "search": "rooflab.labs.search.schedules.beam",
    **dict.fromkeys(("Search", "Candidate"), "rooflab.labs.search.schedules.trail"),
    "Kernel": "rooflab.labs.search.schedules.kernel",
    "space": "rooflab.labs.search.schedules.moves",
    "growth": "rooflab.labs.search.pictures.growth",
    "trail": "rooflab.labs.search.pictures.trail",
}
_MODULES = {"operators": "rooflab.labs.search.operators"}
__all__ = [*_HOME, *_MODULES]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOME:
        raise AttributeError(f"module 'rooflab.labs.search' has no attribute {name!r}")
    with installed(f"rooflab.search.{name}"):
        return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
