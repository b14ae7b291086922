"""Recognise a mistake in byte golf from what the trace of the learner's function saw.

Each function takes a case and an observation (see golfing.py) and says whether the observation
shows that mistake. Traffic is in units of the largest input, which the observation calls size.
Trips that the cache spared are left out, but for the types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from rooflab.exercises.exercise import Case, Observation
from rooflab.exercises.golfing import agree, arrays, digest, one_number
from rooflab.golf import CACHE

Shows = Callable[[Case, Observation], bool]
Entry = dict  # one line of the trace: name, way, where, bytes, moved, times, largest, width, again
FULL = 0.5  # of the largest input, in numbers: from there on an array is no piece of one
AGAIN = 1.2  # of the largest input: what was carried so often was carried again
USUAL = (*(2**power for power in range(5, 19)), 100, 1000, 10_000, 100_000)  # numbers of a piece
LARGE = CACHE // 4  # bytes of a piece: with a smaller one, two more have room beside it


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
    return any(FULL < entry["moved"] / seen["size"] < 1 for entry in read)


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
    """Two inputs were written over, piece by piece, and one result is wanted."""
    written = [
        entry
        for entry in trips(seen, "input", way="write")
        if entry["moved"] > FULL * seen["size"] and not full(case, seen, entry)
    ]
    return len(written) > 1


def copied_first(case: Case, seen: Observation) -> bool:
    """The result began as a copy of an input, and its pieces were read back."""
    read = trips(seen, "result", way="read")
    written = trips(seen, "result", way="write")
    pieces = bool(read) and not any(full(case, seen, entry) for entry in read)
    return pieces and any(full(case, seen, entry) for entry in written)


def filled_first(case: Case, seen: Observation) -> bool:
    """The result was filled once, and then with what was worked out; nobody read the first."""
    numbers = seen["size"] / np.dtype(case["dtype"]).itemsize
    written = trips(seen, "result", way="write")
    twice = sum(entry["moved"] / entry["width"] for entry in written) > AGAIN * numbers
    return (
        twice
        and any(full(case, seen, entry) for entry in written)
        and not out_again(case, seen)
        and not trips(seen, "result", way="read", where="")
    )


def numbers(wrong: Callable[..., object]) -> Shows:
    """The numbers that came out are those of ``wrong``, whatever moved for them."""

    def shows(case: Case, seen: Observation) -> bool:
        mine = seen.get("value")
        if not isinstance(mine, dict):
            return False
        other = digest(wrong(*arrays(case)), case["seed"])
        alike = mine.get("shape") == other["shape"]
        alike = alike or (other["shape"] == [] and one_number(mine.get("shape")))
        return alike and agree(other["sums"], mine.get("sums"), case)

    return shows


def numbers_of_pieces(wrong: Callable[..., object]) -> Shows:
    """The same, where ``wrong`` does as many rows at a time as were read at a time."""

    def shows(case: Case, seen: Observation) -> bool:
        (x,) = arrays(case)
        rows = max((entry["largest"] for entry in _read(seen)), default=0) // x[0].nbytes
        if rows < 2 or not isinstance(seen.get("value"), dict):
            return False
        return numbers(
            lambda x: np.concatenate([wrong(x[i : i + rows]) for i in range(0, len(x), rows)])
        )(case, seen)

    return shows


def calling(numbers_alike: Shows, *calls: str, instead: bool = True) -> Shows:
    """The same numbers, and one of the NumPy functions ``calls`` was called (or none of them)."""

    def shows(case: Case, seen: Observation) -> bool:
        made = seen.get("calls")
        found = isinstance(made, list) and any(name in made for name in calls)
        return found is instead and numbers_alike(case, seen)

    return shows


def single(case: Case, seen: Observation) -> bool:
    """The sum of squares of float64 numbers was cut to single precision."""
    cut = numbers(lambda x: np.float32(np.dot(x, x)))
    return case["dtype"] == "float64" and cut(case, seen)


def last_piece(case: Case, seen: Observation) -> bool:
    """The sum of squares is that of the last piece, of one of the usual lengths."""
    mine, (x,) = seen.get("value"), arrays(case)
    if not isinstance(mine, dict) or mine.get("shape") != []:
        return False
    starts = {(len(x) - 1) // length * length for length in USUAL} - {0}
    sums = [digest(np.dot(x[start:], x[start:]), case["seed"])["sums"] for start in starts]
    return any(agree(each, mine.get("sums"), case) for each in sums)


def overlapping(case: Case, seen: Observation) -> bool:
    """Every number of an input came in, and some of them were read in two pieces."""
    for name in {entry["name"] for entry in _read(seen)}:
        entries = [entry for entry in _read(seen) if entry["name"] == name]
        came = sum(entry["moved"] for entry in entries)
        whole_times = sum(entry["bytes"] for entry in entries) % seen["size"] == 0
        if came == seen["size"] and not whole_times and not _any_full(case, seen, entries):
            return True
    return False


def one_piece(case: Case, seen: Observation) -> bool:
    """Of every input came in no more than one piece."""
    read = _read(seen)
    moved: dict[str, int] = {}
    for entry in read:
        moved[entry["name"]] = moved.get(entry["name"], 0) + entry["moved"]
    most = {name: max(e["largest"] for e in read if e["name"] == name) for name in moved}
    return (
        any(moved.values())
        and not _any_full(case, seen, read)
        and all(came <= most[name] for name, came in moved.items())
    )


def joined(case: Case, seen: Observation) -> bool:
    """The pieces of the result were kept to the end, and copied into one array there."""
    parts = [e for e in trips(seen, "tmp", way="write") if not full(case, seen, e)]
    kept = any(entry["moved"] > FULL * seen["size"] for entry in parts)
    return kept and any(full(case, seen, e) for e in trips(seen, "result", way="write"))


def large_piece(case: Case, seen: Observation) -> bool:
    """The work was cut into pieces, and what a piece needs again had left the cache before.

    Or a loop stands there, and its one piece is as long as the array.
    """
    again = list(_again(seen))
    if any(entry["largest"] > LARGE and not full(case, seen, entry) for entry in again):
        return True
    whole = [entry for entry in _read(seen) if entry["bytes"] >= FULL * seen["size"]]
    written = [*again, *trips(seen, "input", way="write")]
    return (
        seen.get("loops") is True
        and bool(whole)
        and all(full(case, seen, entry) for entry in whole)
        and _any_full(case, seen, written)
    )


def passes(case: Case, seen: Observation) -> bool:
    """An input was carried in more than once, by calls on all of it or in two loops."""
    read = trips(seen, "input", way="read")
    for name in {entry["name"] for entry in read}:
        mine = [entry for entry in read if entry["name"] == name]
        small = all(entry["largest"] <= LARGE for entry in mine)
        many = sum(entry["moved"] for entry in mine) > AGAIN * seen["size"]
        if many and (small or _any_full(case, seen, mine)):
            return True
    return False


def outside(case: Case, seen: Observation) -> bool:
    """A loop went through the pieces, and one call more over a whole array."""
    everything = trips(seen, "input", "result", "tmp", where="")
    pieces = [e for e in everything if not full(case, seen, e)]
    read = trips(seen, "input", "result", "tmp", way="read")
    return _any_full(case, seen, read) and any(e["bytes"] > FULL * seen["size"] for e in pieces)


def two_loops(case: Case, seen: Observation) -> bool:
    """Small pieces of an array left the cache, and came back to be worked on once more."""
    made = [*trips(seen, "result", way="read"), *trips(seen, "tmp", way="write")]
    read = trips(seen, "input", way="read")
    small = [e for e in (*made, *read) if e["largest"] <= LARGE and not full(case, seen, e)]
    return any(
        entry["moved"] > (AGAIN if entry in read else FULL) * seen["size"] for entry in small
    )


def whole_temporary(case: Case, seen: Observation) -> bool:
    """A whole array was stored and read back."""
    return any(full(case, seen, entry) for entry in trips(seen, "tmp", way="write"))


def _read(seen: Observation) -> list[Entry]:
    """What was read of the inputs, from memory and from the cache."""
    return trips(seen, "input", way="read", where="")


def _any_full(case: Case, seen: Observation, entries: list[Entry]) -> bool:
    return any(full(case, seen, entry) for entry in entries)


def _again(seen: Observation) -> Iterator[Entry]:
    """What crossed the bus though it, or the same bytes, had been near before."""
    yield from trips(seen, "tmp", way="write")
    yield from trips(seen, "result", way="read")
    for entry in trips(seen, "input", "result"):
        if entry["moved"] > AGAIN * seen["size"]:
            yield entry
