"""What a search leaves: its candidates in order, and the best of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from rooflab.count.si import grouped, plain, si
from rooflab.count.validation import saved, unknown

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest, Step

SCHEMA = 1
ENDS = ("no better schedule was found", "the time was up", "interrupted")


@dataclass(frozen=True)
class Candidate:
    """A schedule that a search looked at, by the transformations that lead to it (``log``).

    ``predicted`` is seconds by the ledger and the roofs, or what another score says; ``measured``
    is None for one that was refused, with ``why``. ``bytes`` are predicted from each level, "l1" to
    "dram". ``final``, of the fastest: seconds of whole runs, taken in turn at the end. ``at_s``
    counts from the start of the search.

    >>> one = rl.search.Candidate((("split", ("i", 8)),), round=1, predicted=2e-3)
    >>> one.text, one.seconds
    (".split('i', 8)", inf)
    """

    log: tuple[Step, ...]
    round: int
    predicted: float | None = None
    measured: float | None = None
    bytes: Mapping[str, float] = field(default_factory=dict)
    at_s: float = 0.0
    why: str = ""
    final: float | None = None

    @property
    def seconds(self) -> float:
        """What it takes: by whole runs if there were any, else as measured; else infinite."""
        return next((one for one in (self.final, self.measured) if one is not None), math.inf)

    @property
    def text(self) -> str:
        """The transformations as they are written."""
        return (
            "".join(f".{name}({', '.join(map(repr, a))})" for name, a in self.log) or "as written"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the candidate as plain JSON data, with seconds and bytes."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Candidate:
        """Return the candidate of :meth:`to_dict`."""
        steps = tuple((name, _tuples(arguments)) for name, arguments in data["log"])
        return cls(**{**data, "log": steps})


@dataclass(frozen=True)
class Search:
    """What a search for a schedule found, and how.

    ``candidates`` stand in the order in which they were decided, the one at the start first. Where
    ``timed`` is False, another measure than the clock decided: it has its own unit, and there are
    no FLOP/s of it. In this example the simulator of the cache lab decides:

    >>> L1 = rl.cache.Cache("L1", 1024)
    >>> def traffic(nest):
    ...     return rl.cache.simulate(nest.stream(), L1).bytes()
    >>> mine = rl.Machine("mine", kind="cpu", peaks={"fp32": 1e11}, bandwidths=1e10,
    ...                   capacities={"l1": 1024})
    >>> found = rl.search.search(24, measure=traffic, machine=mine, progress=False)
    >>> found.winner.measured < found.naive.measured / 4
    True
    >>> found.best.check().ok
    True
    """

    text: str
    extents: Mapping[str, tuple[int, int]]
    shapes: Mapping[str, tuple[int, ...]]
    order: str
    threads: int
    width: int
    flops: int
    candidates: tuple[Candidate, ...]
    ended: str
    machine: str = ""
    timed: bool = True

    @property
    def start(self) -> Nest:
        """The nest as it was written."""
        from rooflab.labs.loops.nest import Nest

        return Nest(self.extents, self.text, order=self.order, shapes=self.shapes)

    @property
    def measured(self) -> tuple[Candidate, ...]:
        """The candidates that were measured, in order."""
        return tuple(one for one in self.candidates if one.measured is not None)

    @property
    def rejected(self) -> tuple[Candidate, ...]:
        """The candidates that were not measured, each with its reason."""
        return tuple(one for one in self.candidates if one.measured is None)

    @property
    def naive(self) -> Candidate:
        """The schedule at the start."""
        return self.candidates[0]

    @property
    def winner(self) -> Candidate:
        """The candidate that took least time."""
        return fastest(self.candidates)

    @property
    def best(self) -> Nest:
        """The schedule that took least time."""
        return self.start.replay(self.winner.log)

    @property
    def flops_per_s(self) -> float:
        """FLOP/s of the best schedule."""
        return self.rate(self.winner)

    def rate(self, candidate: Candidate) -> float:
        """FLOP/s of a candidate that was measured.

        Raises ValueError for another one, and where another measure decided than the clock.
        """
        if candidate.measured is None:
            raise ValueError(f"candidate={candidate.text!r} was not measured: {candidate.why}")
        if not self.timed:
            raise ValueError(
                "timed=False: this search was decided by a measure of its own, which is no time; "
                "see candidate.measured"
            )
        return self.flops / candidate.seconds if candidate.seconds else math.inf

    def intensity(self, candidate: Candidate, level: str = "dram") -> float:
        """Predicted FLOP per byte that comes from ``level``, for a candidate with a ledger."""
        if level not in candidate.bytes:
            raise unknown("level", level, candidate.bytes)
        return self.flops / candidate.bytes[level]

    def short(self, candidate: Candidate) -> str:
        """Return a schedule in few words: its loops, the register tile, what is packed."""
        from rooflab.labs.loops.language import tree as trees

        nest = self.start.replay(candidate.log)
        said, tile = [], []
        for loop, _ in trees.loops(nest.tree):
            if loop.kind in ("unroll", "vectorize"):
                tile.append(f"{loop.name} {loop.extent}")
            else:
                said.append(loop.name if loop.kind == "for" else f"{loop.name} {loop.kind}")
        said += [f"[{', '.join(tile)}]"] if tile else []
        return "; ".join([" ".join(said), *(f"{name} packed" for name in nest.packed)])

    def records(self) -> tuple[Candidate, ...]:
        """Return the candidates that were each the fastest so far: the way of the best point."""
        found: list[Candidate] = []
        for one in self.measured:
            if not found or one.seconds < found[-1].seconds:
                found.append(one)
        return tuple(found)

    def __repr__(self) -> str:
        best, naive = self.winner, self.naive
        reasons = len(self.rejected)
        first, last = (
            si(self.rate(one), "FLOP/s") if self.timed else f"a measure of {plain(one.seconds)}"
            for one in (naive, best)
        )
        return (
            f"{self.text}: {last} with "
            f"{self.threads} thread{'s' * (self.threads > 1)}, "
            f"{first} as written; {grouped(len(self.measured))} of "
            f"{grouped(len(self.candidates))} schedules measured, {grouped(reasons)} not; ended: "
            f"{self.ended}\n{best.text}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON data: seconds, bytes, FLOP."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Search:
        """Return the search of :meth:`to_dict`.

        Raises ValueError for data of another schema, and where something is missing.
        """
        names = [one.name for one in fields(cls) if one.name != "timed"]
        data = saved(data, "search", SCHEMA, names)
        known = {name: data[name] for name in names}
        for name in ("extents", "shapes"):
            known[name] = {key: tuple(ends) for key, ends in data[name].items()}
        known["candidates"] = tuple(map(Candidate.from_dict, data["candidates"]))
        return cls(**known, timed=data.get("timed", True))


def fastest(candidates: Sequence[Candidate]) -> Candidate:
    """The measured one that took least time; if there were whole runs, out of those."""
    measured = [one for one in candidates if one.measured is not None]
    finals = [one for one in measured if one.final is not None]
    return min(finals or measured, key=lambda one: one.seconds)


def _tuples(value: Any) -> Any:
    """Lists of JSON as the tuples that they were."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
