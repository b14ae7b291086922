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

from rooflab.count.si import percent, si, times
from rooflab.labs.memory.concurrency import Concurrency
from rooflab.optional import installed
from rooflab.predict.machine import Machine

#: mix → lines fetched and lines written back for each byte asked for; a copy also fetches what it
#: is about to write.
TRAVEL = {"read": (1.0, 0.0), "copy": (1.0, 0.5), "update": (0.5, 0.5), "axpy": (2 / 3, 1 / 3)}
ALIKE = 1.1  # times: figures this close to each other are called alike
ALMOST = 0.85  # of what reading fetches: a copy that fetches as much is not slow


@dataclass(frozen=True)
class Bandwidth:
    """One figure in byte/s.

    ``rate`` is what the program asks for, both directions counted; ``fetched`` comes from memory
    and ``written`` goes back, if a line is fetched before it is first written.
    """

    name: str
    rate: float
    fetched: float
    written: float

    @property
    def bus(self) -> float:
        """Byte/s in both directions, fetched lines that nobody asked for included."""
        return self.fetched + self.written

    @property
    def hidden(self) -> float:
        """Byte/s that are fetched without being asked for, if this processor does that."""
        return max(0.0, self.bus - self.rate)


@dataclass(frozen=True)
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

    @property
    def sentences(self) -> tuple[str, str]:
        """What updating and copying are beside reading, and why."""
        rates = {mix: self[mix].rate for mix in TRAVEL}
        return _of_updating(rates), _of_copying(rates)


@installed("rooflab.memory.bandwidths")
def bandwidths(machine: Machine, *, chases: Concurrency | None = None) -> Bandwidths:
    """List the bandwidths of one machine's memory, with sentences on why two of them differ.

    Parameters
    ----------
    machine : Machine
        A measured machine, with a bandwidth of the memory for each mix, such as
        ``rl.this_machine(threads=1)``.
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
    >>> print(rl.memory.bandwidths(core).sentences[0][:57])
    Updating in place reports ×1.8 of what reading does: each
    """
    if not isinstance(machine, Machine):
        raise TypeError(f"machine={machine!r} must be a Machine")
    if not isinstance(chases, Concurrency | None):
        raise TypeError(f"chases={chases!r} must be a Concurrency")
    rates = machine.bandwidths["dram"]
    missing = [mix for mix in TRAVEL if mix not in rates]
    if missing:
        raise ValueError(
            f"machine={machine.id!r} has no measured bandwidth of its memory for "
            f"{', '.join(missing)}; give a measured machine, such as rl.this_machine(threads=1)"
        )
    figures = [_of_mix(mix, rates) for mix in TRAVEL]
    return Bandwidths(machine.name, (*figures, *(_of_chases(chases) if chases else ())))


def _of_mix(mix: str, rates: Mapping[str, float]) -> Bandwidth:
    fetched, written = (share * rates[mix] for share in TRAVEL[mix])
    return Bandwidth(mix, rates[mix], fetched, written)


def _of_updating(rates: Mapping[str, float]) -> str:
    rate, read, fetched = rates["update"], rates["read"], TRAVEL["update"][0] * rates["update"]
    if rate < read / ALIKE:
        return (
            f"Updating in place reports {percent(rate / read)} of what reading does, although both "
            "ways count."
        )
    if rate <= ALIKE * read:
        return (
            "Updating in place reports about as much as reading. Here both directions seem to "
            "share one limit."
        )
    said = (
        f"Updating in place reports {times(rate / read, 2)} of what reading does: each line is "
        f"fetched and goes back, and both ways count. It fetches {si(fetched, 'B/s')}, "
        f"{percent(fetched / read)} of what reading fetches."
    )
    if fetched > ALIKE * read:
        return f"{said} Reading was not at the limit of lines here."
    return f"{said} So writing back is not free." if fetched < ALMOST * read else said


def _of_copying(rates: Mapping[str, float]) -> str:
    rate, read, best = rates["copy"], rates["read"], max(rates.values())
    bus, fetched = rate * sum(TRAVEL["copy"]), rate * TRAVEL["copy"][0]
    counted = (
        f"Copying reports {si(rate, 'B/s')}. With the fetch that it hides, {si(bus, 'B/s')} would "
        "travel"
    )
    if bus > 1.15 * best or fetched > ALIKE * read:
        return f"{counted}, more than here is likely: some of its lines seem not to be fetched."
    said = f"{counted}. Then it fetches {percent(fetched / read)} of what reading fetches"
    return f"{said}, and the copy only looks slow." if fetched > ALMOST * read else f"{said}."


def _of_chases(chases: Concurrency) -> list[Bandwidth]:
    """A lone chase, which is latency written as a rate, the most that chases reach, and all cores.

    Nothing of it goes back.
    """
    figures = {"chase": float(chases.bandwidth[0]), "chases": float(chases.bandwidth.max())}
    together = chases.runs[-1]
    if together.threads > 1:
        figures["all cores"] = together.stream
    return [Bandwidth(name, rate, rate, 0.0) for name, rate in figures.items()]
