"""Recognise a mistake in byte golf from what the trace of the learner's function saw.

Each function takes a case and an observation (see golfing.py) and says whether the observation
shows that mistake. Traffic is in units of the largest input, which the observation calls size.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rooflab.exercises.exercise import Case, Observation

Shows = Callable[[Case, Observation], bool]
Entry = dict  # one line of the trace: name, way, where, bytes, times, largest, width, again
FULL = 0.5  # of the largest input, in numbers: from there on an array is no piece of one
TWICE = 1.9  # an input read so many times over was read again


def trips(seen: Observation, *names: str, way: str = "", where: str = "memory") -> list[Entry]:
    """Entries of the trace about the arrays called ``names``, "input" for any of the inputs."""
    return [
        entry
        for entry in seen.get("trips", [])
        if (entry["name"] if entry["name"] in ("tmp", "result") else "input") in names
        and way in ("", entry["way"])
        and where in ("", entry["where"])
    ]


def full(case: Case, seen: Observation, entry: Entry) -> bool:
    """Whether whole arrays travelled, not pieces; counted in numbers, for masks are narrow."""
    own = np.dtype(case["dtype"]).itemsize
    return entry["largest"] / entry["width"] >= FULL * seen["size"] / own


def wider(case: Case, seen: Observation) -> bool:
    """Something was stored in a wider type than the inputs have."""
    own = np.dtype(case["dtype"]).itemsize
    return any(entry["width"] > own for entry in trips(seen, "tmp", "result", where=""))


def tail_forgotten(case: Case, seen: Observation) -> bool:
    """Pieces of an input were read, but not all of it."""
    read = [e for e in trips(seen, "input", way="read") if not full(case, seen, e)]
    return any(FULL < entry["bytes"] / seen["size"] < 1 for entry in read)


def mask(case: Case, seen: Observation) -> bool:
    """A full array of True and False was stored."""
    own = np.dtype(case["dtype"]).itemsize
    written = trips(seen, "tmp", way="write")
    return own > 1 and any(e["width"] == 1 and full(case, seen, e) for e in written)


def in_place(case: Case, seen: Observation) -> bool:
    """A whole input was written over."""
    return any(full(case, seen, entry) for entry in trips(seen, "input", way="write"))


def out_again(case: Case, seen: Observation) -> bool:
    """A whole array of one's own was read and written by the same call."""
    written = trips(seen, "tmp", "result", way="write")
    return any(entry["again"] and full(case, seen, entry) for entry in written)


def input_as_scratch(case: Case, seen: Observation) -> bool:
    """An input was written over more than once, piece by piece."""
    written = trips(seen, "input", way="write")
    pieces = not any(full(case, seen, entry) for entry in written)
    return pieces and sum(entry["bytes"] for entry in written) > (1 + FULL) * seen["size"]


def copied_first(case: Case, seen: Observation) -> bool:
    """The result began as a copy of an input, and its pieces were read back."""
    read = trips(seen, "result", way="read")
    written = trips(seen, "result", way="write")
    pieces = bool(read) and not any(full(case, seen, entry) for entry in read)
    return pieces and any(full(case, seen, entry) for entry in written)


def slice_again(case: Case, seen: Observation) -> bool:
    """A piece of the result was written, read back and written again."""
    read = trips(seen, "result", way="read")
    return bool(read) and not any(full(case, seen, entry) for entry in read)


def large_chunk(case: Case, seen: Observation) -> bool:
    """Temporaries are pieces, but too large for the cache."""
    written = trips(seen, "tmp", way="write")
    return bool(written) and not any(full(case, seen, entry) for entry in written)


def whole_temporary(case: Case, seen: Observation) -> bool:
    """A whole array was stored and read back."""
    return any(full(case, seen, entry) for entry in trips(seen, "tmp", way="write"))


def read_again(case: Case, seen: Observation) -> bool:
    """A whole input was read more than once, by calls on whole arrays."""
    again = [e for e in trips(seen, "input", way="read") if e["bytes"] > TWICE * seen["size"]]
    return any(full(case, seen, entry) for entry in again)


def slice_read_again(case: Case, seen: Observation) -> bool:
    """An input was read more than once, piece by piece."""
    again = [e for e in trips(seen, "input", way="read") if e["bytes"] > TWICE * seen["size"]]
    return bool(again) and not any(full(case, seen, entry) for entry in again)
