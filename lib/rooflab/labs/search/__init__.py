"""``rl.search``: let the machine look for what is cheaper.

Expressions are rewritten by rules until the cheapest equal one is known; operators are described by
which elements they touch; schedules of a loop nest are predicted, measured and improved.
"""

from __future__ import annotations

from rooflab.lazy import attach

_HOME = {
    **dict.fromkeys(
        ("Expression", "matrix", "vector", "elementwise"), "rooflab.labs.search.rewrite.expression"
    ),
    "EGraph": "rooflab.labs.search.rewrite.egraph",
    "total": "rooflab.labs.search.rewrite.cost",
    **dict.fromkeys(("Rule", "rule", "rules"), "rooflab.labs.search.rewrite.rules"),
    **dict.fromkeys(("Operator", "operator"), "rooflab.labs.search.statement"),
    **dict.fromkeys(("simplify", "Simplified", "greedy"), "rooflab.labs.search.rewrite.simplify"),
    "search": "rooflab.labs.search.schedules.beam",
    **dict.fromkeys(("Search", "Candidate"), "rooflab.labs.search.schedules.result"),
    "Kernel": "rooflab.labs.search.schedules.kernel",
    "space": "rooflab.labs.search.schedules.moves",
    "growth": "rooflab.labs.search.pictures.growth",
    "trail": "rooflab.labs.search.pictures.trail",
}
_MODULES = {"operators": "rooflab.labs.search.operators"}
__getattr__, __dir__, __all__ = attach(__name__, _HOME, _MODULES)
