"""Loops in a list of steps: where the same few come again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

LONGEST = 24  # steps in a round


def stretches(keys: Sequence[object]) -> Iterator[tuple[int, int, int]]:
    """Cut ``keys`` into (start, period, rounds): ``rounds`` times the same ``period`` keys.

    What does not repeat is a stretch of period 1 and one round.
    """
    at = 0
    while at < len(keys):
        period, rounds = _repeat(keys, at)
        yield at, period, rounds
        at += period * rounds


def _repeat(keys: Sequence[object], at: int) -> tuple[int, int]:
    """The period that covers most from ``at`` on, and how often it comes; (1, 1) if none does."""
    best = (1, 1)
    for period in range(1, min(LONGEST, (len(keys) - at) // 2) + 1):
        end = at + period
        while end < len(keys) and keys[end] == keys[end - period]:
            end += 1
        rounds = (end - at) // period
        if rounds > 1 and period * rounds > best[0] * best[1]:
            best = (period, rounds)
    return best
