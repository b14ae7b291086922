"""Byte golf: run the learner's NumPy function on traced arrays.

A case names the hole, the size, the dtype and the seed of the arrays. An observation holds what
came out (shape, dtype, weighted sums of its blocks: every number counts, few travel) and what the
trace saw: how many bytes of the inputs, of temporaries and of the result went which way.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from rooflab.exercises.observe.observation import Case, Observation, observe
from rooflab.exercises.observe.plaindata import Plain
from rooflab.labs.golf import HOLES, Limits, golf
from rooflab.labs.golf.ledger import Step
from rooflab.labs.golf.run import as_function
from rooflab.labs.golf.trace import UNSEEN
from rooflab.labs.golf.watchdog import may_loop

BLOCKS = 256
LIMITS = Limits(steps=50_000, seconds=5.0, unseen=UNSEEN)  # of one case
LONGEST_PROGRAM = 64 << 20  # characters
#: What is said of the trips of an array, and as which type.
TOTALS = {"name": str, "way": str, "where": str, "width": int, "bytes": int, "moved": int,
          "times": int, "largest": int, "again": int}  # fmt: skip


def arrays(case: Case) -> tuple[Any, ...]:
    """Return the inputs of a case; the same ones on every machine."""
    factors = {name: case[name] for name in ("a", "b") if name in case}
    return tuple(HOLES[case["hole"]].make(case["n"], case["dtype"], case["seed"], **factors))


def run(case: Case, answer: Callable[..., object]) -> Observation:
    """Run ``answer`` on traced arrays; the observation adds "bytes", "trips", "size", "program".

    "calls": names of the NumPy functions that it called; "loops": whether a loop stands in it.
    """
    seen, program = played(case, answer, arrays(case), LIMITS, record=True)
    if "bytes" not in seen or program is None:
        return seen
    loops = observe(lambda: (inner := as_function(answer)[0]) is not None and may_loop(inner))
    if "value" not in loops:  # an object that can be called once, and raises when asked again
        return loops
    return {**seen, "loops": loops["value"], "program": packed(program)}


def played(
    case: Case,
    answer: Callable[..., object],
    given: tuple[Any, ...],
    limits: Limits,
    record: bool = False,
) -> tuple[Observation, Plain]:
    """Return what golf saw of ``answer`` on ``given``, and its program if that is to be had."""
    games: list[Any] = []
    seen = observe(lambda: games.append(golf(answer, *given, limits=limits, record=record)) or True)
    if "value" not in seen:
        return seen, None
    game = games[0]
    if game.result is None or game.result is ...:
        return {"missing": True}, None
    came = observe(lambda: digest(game.result, case["seed"]))
    if str(came.get("error", "")).startswith("TypeError: "):  # digest's own
        came = {"unreadable": str(came["error"]).removeprefix("TypeError: ")}
    moved = {"bytes": game.bytes, "trips": totals(game.steps, game.elements),
             "calls": sorted({step.call for step in game.steps}),
             "size": max(a.nbytes for a in given if isinstance(a, np.ndarray))}  # fmt: skip
    return {**came, **moved}, game.program


def packed(program: Plain) -> str:
    """Return a program as a text: thousands of calls are much alike."""
    return base64.b64encode(zlib.compress(json.dumps(program).encode())).decode()


def unpacked(text: object) -> Plain:
    """Return the program in a text. Raises ValueError for what :func:`packed` has not written."""
    if not isinstance(text, str):
        raise ValueError("a program is wanted as a text")
    try:
        unzip = zlib.decompressobj()
        found = unzip.decompress(base64.b64decode(text, validate=True), LONGEST_PROGRAM)
        if not unzip.eof:
            raise ValueError("a program without its end")
        return json.loads(found)
    except (zlib.error, RecursionError) as error:
        raise ValueError(f"no program: {error}") from None


def digest(result: object, seed: int) -> dict[str, Plain]:
    """Return shape, dtype and the weighted sums of up to 256 blocks of ``result``.

    Raises TypeError when it is no array of numbers.
    """
    kind = type(result).__name__
    try:
        found = np.asarray(result)
    except ValueError:
        raise TypeError(f"a {kind} came back whose parts differ in length; join them") from None
    if found.dtype.kind not in "fiub":
        raise TypeError(f"a {kind} came back; an array of numbers is wanted, or one number")
    weights = _weights(seed, found.size)
    with np.errstate(all="ignore"):  # what a wrong answer leaves unwritten may be anything
        blocks = np.array_split(weights * found.ravel(), min(BLOCKS, max(1, found.size)))
        sums = [float(block.sum()) for block in blocks]
    return {"shape": list(found.shape), "dtype": str(found.dtype), "sums": sums}


@lru_cache(2)
def _weights(seed: int, size: int) -> Any:
    return np.random.default_rng(seed).uniform(0.5, 1.5, size)


def totals(steps: Iterable[Step], elements: int) -> list[dict[str, Plain]]:
    """Sum the trips by array (all temporaries are "tmp"), way, place and width, as plain data.

    "moved": those of the "bytes" that crossed the bus; "times": how many trips; "largest": bytes
    of the largest; "width": bytes of a number; "again": trips of an array that the same call also
    read. Trips of more than half of the ``elements`` of a whole array have sums of their own.
    """
    sums: dict[tuple[str, str, str, int, bool], dict[str, Any]] = {}
    for step in steps:
        read = {trip.name for trip in step.operands if trip.way == "read"}
        for trip in step.operands:
            kind = "tmp" if trip.name.startswith("tmp") else trip.name
            width = np.dtype(trip.dtype).itemsize
            about = (kind, trip.way, trip.where, width)
            entry = sums.setdefault(
                (*about, 2 * trip.bytes >= elements * width),
                dict(zip(TOTALS, (*about, 0, 0, 0, 0, 0), strict=True)),
            )
            entry["bytes"] += int(trip.bytes)
            entry["moved"] += int(trip.moved)
            entry["times"] += 1
            entry["largest"] = max(entry["largest"], int(trip.bytes))
            entry["again"] += trip.way == "write" and trip.name in read
    return list(sums.values())
