"""``rl.search``: let the machine look for what is cheaper.

Expressions are rewritten by rules until the cheapest equal one is known; operators are described by
which elements they touch; schedules of a loop nest are predicted, measured and improved.
"""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
