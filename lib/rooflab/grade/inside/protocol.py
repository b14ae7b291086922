"""What the kernel inside the sandbox and the grader outside agree on; light to import."""

from __future__ import annotations

from collections.abc import Sequence

from rooflab.exercises.observe.observation import Observation, stopped

MARK = "ROOFLAB"  # how a result line begins
CHANNELS = ("shell", "stdin", "control", "iopub")  # a kernel's, in the order of their binding


def settled(seen: Sequence[Observation]) -> bool:
    """Whether a further try would give the same: the answer raised nothing, or was stopped."""
    errors = [str(one["error"]) for one in seen if "error" in one]
    return not errors or any(map(stopped, errors))
