"""Why one core has several bandwidths: what each of them counts, and what limits it.

A rate counts the bytes that a program asks for. A core limits something else: the lines that it can
wait for at a time, which are those that it *fetches*. What is written back to memory leaves beside
them. So a mix that writes as much as it reads has up to twice the bytes for the same fetched lines.
A copy hides a fetch: before a line is written for the first time, most processors read it (they
*allocate* it in the cache). The copy does not ask for that, and its rate does not count it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rooflab.count.si import percent, plain, si, times
from rooflab.labs.memory.concurrency import Concurrency, together_or_alone
from rooflab.measure.free_lunch import FreeLunch
from rooflab.optional import installed
from rooflab.predict.machine import Machine

#: mix → lines fetched and lines written back for each byte asked for; a copy also fetches what it
#: is about to write.
TRAVEL = {"read": (1.0, 0.0), "copy": (1.0, 0.5), "update": (0.5, 0.5), "axpy": (2 / 3, 1 / 3)}
_ONE_OF_TWO = "Of two lines that are fetched one goes back"
ALIKE = 1.1  # times: figures this close to each other are called alike
ALMOST = 0.85  # of what reading fetches: a copy that fetches as much is not slow


@dataclass(frozen=True)
class Bandwidth:
    """One figure in byte/s, and why it differs from reading.

    ``rate`` is what the program asks for, both directions counted; ``fetched`` comes from memory
    and ``written`` goes back, if a line is fetched before it is first written. ``lessons`` is where
    the course shows it.
    """

    name: str
    lessons: str
    rate: float
    fetched: float
    written: float
    sentence: str

    @property
    def bus(self) -> float:
        """Byte/s in both directions, fetched lines that nobody asked for included."""
        return self.fetched + self.written


@dataclass(frozen=True, repr=False)
class Bandwidths:
    """The bandwidths of one machine's memory side by side, as :func:`bandwidths` lists them.

    >>> rates = {"read": 20e9, "copy": 18e9, "update": 30e9, "axpy": 27e9}
    >>> core = rl.Machine("core", origin="measured", bandwidths={"dram": rates}, threads=1)
    >>> found = rl.memory.bandwidths(core)
    >>> found["copy"].bus, found["update"].fetched
    (27000000000.0, 15000000000.0)
    """

    name: str
    figures: tuple[Bandwidth, ...]

    def __getitem__(self, name: str) -> Bandwidth:
        for one in self.figures:
            if one.name == name:
                return one
        raise KeyError(f"{name!r}; there are {', '.join(one.name for one in self.figures)}")

    def __repr__(self) -> str:
        head = f"bandwidths of {self.name}: asked for, fetched, written back, sum of both"
        rows = [
            f"  {one.name:>11}: {si(one.rate, 'B/s'):>9}  {si(one.fetched, 'B/s'):>9}  "
            f"{si(one.written, 'B/s'):>9}  {si(one.bus, 'B/s'):>9}"
            f"{f'  ({one.lessons})' if one.lessons else ''}"
            for one in self.figures
        ]
        return "\n".join([head, *rows, *(f"  {one.sentence}" for one in self.figures)])


@installed("rooflab.memory.bandwidths")
def bandwidths(
    machine: Machine | None = None,
    *,
    curve: FreeLunch | None = None,
    chases: Concurrency | None = None,
) -> Bandwidths:
    """List the bandwidths of one machine's memory, each with a sentence on why it differs.

    Parameters
    ----------
    machine : Machine, optional
        A measured machine, with a bandwidth of the memory for each mix. By default one core of the
        machine you sit at, whose roofs are measured if they are not stored yet.
    curve : FreeLunch, optional
        From ``rl.free_lunch()``: adds its flat end.
    chases : Concurrency, optional
        From ``rl.memory.concurrency()``: adds a lone chase, the most that chases reach, and all
        cores together.

    Returns
    -------
    Bandwidths
        The figures and their sentences; ``found["update"]`` is one of them.

    Examples
    --------
    >>> rates = {"read": 20e9, "copy": 18e9, "update": 36e9, "axpy": 27e9}
    >>> core = rl.Machine("core", origin="measured", bandwidths={"dram": rates}, threads=1)
    >>> print(rl.memory.bandwidths(core)["update"].sentence[:45])
    update: ×1.8 of reading. Each line is fetched
    """
    if machine is None:
        from rooflab.measure.this_machine import this_machine

        machine = this_machine("cpu", threads=1)
    _require(machine, curve, chases)
    rates = machine.bandwidths["dram"]
    missing = [mix for mix in TRAVEL if mix not in rates]
    if missing:
        raise ValueError(
            f"machine={machine.id!r} has no measured bandwidth of its memory for "
            f"{', '.join(missing)}; give a measured machine, such as rl.this_machine(threads=1)"
        )
    read = rates["read"]
    figures = [_of_mix(mix, rates) for mix in TRAVEL]
    if curve is not None:
        figures.append(_of_curve(curve, rates["update"]))
    if chases is not None:
        figures += _of_chases(chases, read)
    return Bandwidths(machine.name, tuple(figures))


def _require(machine: object, curve: object, chases: object) -> None:
    wanted = {"machine": (machine, Machine), "curve": (curve, FreeLunch),
              "chases": (chases, Concurrency)}  # fmt: skip
    for name, (value, kind) in wanted.items():
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name}={value!r} must be a {kind.__name__}")


def _of_mix(mix: str, rates: Mapping[str, float]) -> Bandwidth:
    rate = rates[mix]
    fetched, written = (share * rate for share in TRAVEL[mix])
    lessons = {"read": "03", "update": "00", "axpy": "02, 03"}.get(mix, "")
    why = {"read": _of_reading, "copy": _of_copying}.get(mix, _of_writing)
    return Bandwidth(mix, lessons and f"lesson {lessons}", rate, fetched, written,
                     f"{mix}: {why(rate, fetched, rates)}")  # fmt: skip


def _of_reading(rate: float, fetched: float, rates: Mapping[str, float]) -> str:
    most = max(("update", "axpy"), key=lambda mix: TRAVEL[mix][0] * rates[mix])
    if TRAVEL[most][0] * rates[most] > ALIKE * rate:
        return (
            f"{si(rate, 'B/s')}, all of it fetched, and nothing goes back. What limits it is not "
            f"seen here, since {most} fetches more."
        )
    if max(rates.values()) > ALIKE * rate:
        return (
            f"{si(rate, 'B/s')}, all of it fetched, and nothing goes back. One direction alone is "
            "the limit: how many lines the core can wait for, or how fast they can come."
        )
    return f"{si(rate, 'B/s')}, all of it fetched. No mix is much faster on this machine."


def _of_writing(rate: float, fetched: float, rates: Mapping[str, float]) -> str:
    read = rates["read"]
    every = "Each line is fetched and goes back" if fetched < 0.6 * rate else _ONE_OF_TWO
    if rate > ALIKE * read:
        said = (
            f"{times(rate / read, 2)} of reading. {every}, and both ways count. It fetches "
            f"{si(fetched, 'B/s')}, {percent(fetched / read)} of what reading does."
        )
        if fetched > ALIKE * read:
            return (
                f"{said} That is more than reading fetches. So reading was not at the limit of "
                "lines, or the two were measured at different moments."
            )
        return f"{said} So writing back is not free." if fetched < ALMOST * read else said
    if rate < read / ALIKE:
        return (
            f"{percent(rate / read)} of reading. Both ways count, and still it is slower: reading "
            "and writing in turns seems to cost this memory time."
        )
    return "about as much as reading: here both directions seem to share one limit."


def _of_copying(rate: float, fetched: float, rates: Mapping[str, float]) -> str:
    bus, read, best = rate * sum(TRAVEL["copy"]), rates["read"], max(rates.values())
    counted = (
        f"{si(rate, 'B/s')} asked for. If each line is fetched before it is first written, three "
        f"lines travel for two that were asked for: {si(bus, 'B/s')}"
    )
    if bus > 1.15 * best:
        return (
            f"{counted}. That is {times(bus / best, 2)} of the best figure here. So this "
            "processor seems to write at least some lines without fetching them first."
        )
    if fetched > ALIKE * read:
        return (
            f"{counted}. Then it would fetch {percent(fetched / read)} of what reading does. So "
            "this processor may write some lines without fetching them first, or the two were "
            "measured at different moments."
        )
    said = f"{counted}. Then it fetches {percent(fetched / read)} of what reading does"
    return f"{said}, and the copy only looks slow." if fetched > ALMOST * read else f"{said}."


def _of_curve(curve: FreeLunch, update: float) -> Bandwidth:
    rate, half = curve.bandwidth, curve.bandwidth / 2
    apart = max(rate / update, update / rate)
    if apart <= ALIKE:
        why = "It agrees with the update mix: the same bytes travel."
    else:
        more = "more" if rate > update else "less"
        why = (
            f"It is {percent(apart - 1)} {more} than the update mix, though the same bytes travel. "
            "Its loop asks for lines ahead of time and computes beside; or one of the two was "
            "measured in a busier moment."
        )
    said = f"free lunch: {si(rate, 'B/s')} at the flat end of the curve, {curve.dtype}. {why}"
    return Bandwidth("free lunch", "lesson 00", rate, half, half, said)


def _of_chases(chases: Concurrency, read: float) -> list[Bandwidth]:
    alone, most = float(chases.bandwidth[0]), float(chases.bandwidth.max())
    found = [
        Bandwidth(
            "chase", "", alone, alone, 0.0,
            f"chase: {si(alone, 'B/s')}, one line of {chases.line} bytes after each wait of "
            f"{si(chases.latency, 's')}. It is latency, written as a rate.",
        ),
        Bandwidth(
            "chases", "", most, most, 0.0,
            f"chases: {si(most, 'B/s')} with up to {chases.chains[-1]} of them side by side, "
            f"{plain(chases.most, 2)} lines in flight. {_beside(most, read)}",
        ),
    ]  # fmt: skip
    together = chases.runs[-1]
    if together.threads > 1:
        rate, one = together.stream, chases.core.stream
        beside = together_or_alone(rate, one) or f"that is {times(rate / one, 2)} of it"
        found.append(Bandwidth(
            "all cores", "", rate, rate, 0.0,
            f"all cores: {si(rate, 'B/s')} read by {together.threads} of them together. One of "
            f"them alone read {si(one, 'B/s')} just before: {beside}.",
        ))  # fmt: skip
    return found


def _beside(most: float, read: float) -> str:
    if most < read / ALIKE:
        return f"Reading in order gets {times(read / most, 2)} of that: prefetchers ask ahead."
    return "Reading in order gets no more: prefetchers do not help this core."
