"""What golf says when it cannot count, and when it stops a function that never ends."""

from __future__ import annotations


class GolfError(ValueError):
    """A function that cannot be counted; the text says what stands in the way.

    ``step``: how many steps had been counted before.
    """

    step: int = 0


class Untraceable(GolfError):
    """A call, dtype or library for which golf has no model: refused, never guessed."""


class Stopped(BaseException):
    """Raised inside a function that runs too long.

    Not an Exception, so that ``except Exception`` in the function does not swallow it; what
    leaves :func:`rooflab.golf` is a GolfError.
    """


def no_model(call: str) -> Untraceable:
    """Return the error for a NumPy call without a model."""
    return Untraceable(
        f"{call}: golf has no count for it, and will not guess; use add, multiply, sqrt, maximum, "
        "where, sum, dot, einsum"
    )


def stripped(by: str) -> Untraceable:
    """Return the error for a call that wants a plain array and would lose the trace."""
    return Untraceable(
        f"{by} takes the numbers out of the array; it may move few bytes, but golf cannot count "
        "them: call NumPy's own functions"
    )
