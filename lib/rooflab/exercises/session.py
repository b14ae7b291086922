"""The latest verdict on each exercise in this kernel; a restart forgets them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rooflab.exercises.verdict import Verdict

_LATEST: dict[str, Verdict] = {}


def keep(verdict: Verdict) -> Verdict:
    """Keep ``verdict`` as the latest one on its exercise, and return it."""
    _LATEST[verdict.exercise] = verdict
    return verdict


def verdicts() -> Mapping[str, Verdict]:
    """Return exercise id → the latest verdict, of all lessons."""
    return MappingProxyType(_LATEST)


def forget() -> None:
    """Begin anew, as after a restart of the kernel."""
    _LATEST.clear()
