"""Which machines a live picture offers: this computer, recordings, the catalogue.

Nothing is measured here: a computer whose roofs were never measured is offered greyed, with the
one line that would measure them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rooflab.count.dtypes import DTypeLike
from rooflab.measure import this_machine
from rooflab.measure.measurement import Measurement
from rooflab.measure.recording import recording, recordings
from rooflab.predict.catalogue import machine as catalogue_machine
from rooflab.predict.catalogue import machines as catalogue
from rooflab.predict.machine import Machine
from rooflab.show import captions
from rooflab.show.rooflines.ceiling_lines import MIX

NOT_MEASURED = "not measured yet, rl.this_machine() does it"
# Saved pages have other readers than the one who measured: "this computer" would not be theirs.
HERE, RECORDED = "measured", "recorded"
# AXPY in fp64, the lowest intensity of the course: the lowest point that must fit on the axes.
LOWEST_INTENSITY = 1 / 12
SLOWEST = 1e8  # FLOP/s: a tiny cold call below this lies at the foot of the picture

WELL_KNOWN = "nvidia-h100-sxm"  # shown first where nothing else is asked for


@dataclass(frozen=True)
class Offer:
    """A machine on offer, with its measurements; ``machine`` None is greyed with ``reason``."""

    id: str
    name: str
    group: str
    says: str
    machine: Machine | None = None
    measurements: tuple[Measurement, ...] = ()
    reason: str = ""

    @property
    def known(self) -> Machine:
        """Its machine; ValueError where nothing is known of it."""
        if self.machine is None:
            raise ValueError(f"{self.name} has no figures: {self.reason}")
        return self.machine

    def rates(self, dtypes: Iterable[DTypeLike]) -> list[float]:
        """FLOP/s that must fit on the axes: lowest and highest of the roofs, and what was timed."""
        m = self.machine
        if m is None:
            return []
        low = [LOWEST_INTENSITY * m.bandwidth(mix=MIX)] if "dram" in m.levels else []
        peaks = [m.peak(kind) for kind in dtypes if m.has_peak(kind)]
        timed = [max(measurement.flop_per_s, SLOWEST) for measurement in self.measurements]
        return [*low, *peaks, *timed]


def offers(
    machines: Iterable[Machine | str] | Machine | str | None = None,
    measurements: Sequence[Measurement] = (),
) -> tuple[Offer, ...]:
    """Return the machines on offer, each once.

    ``machines``: Machines, catalogue names, names of recordings, or "this"; None offers this
    computer, every recording and the whole catalogue. ``measurements`` are drawn on the machine
    whose id they carry.
    """
    if machines is None:
        chosen: list[Machine | str] = ["this", *recordings(), *catalogue().values()]
    elif isinstance(machines, (str, Machine)):
        chosen = [machines]
    else:
        chosen = listed("machines", machines, "a machine, its name, or a list of them")
    if not chosen:
        raise ValueError(f"machines={machines!r} is empty; give a machine or None for all")
    measurements = listed("measurements", measurements, "a list of Measurements")
    for timed in measurements:
        if not hasattr(timed, "flop_per_s"):
            raise TypeError(
                f"measurements: {timed!r} is a {type(timed).__name__}; give Measurements, "
                "as rl.measure() returns them"
            )
    found: dict[str, Offer] = {}
    for one in chosen:
        offer = _offer(one, measurements)
        found.setdefault(offer.id, offer)
    return tuple(found.values())


def listed(argument: str, given: object, wanted: str) -> list[Any]:
    """Return ``given`` as a list; TypeError naming ``argument`` if nothing can be taken from it."""
    if isinstance(given, Iterable):
        return list(given)
    raise TypeError(f"{argument}={given!r} is a {type(given).__name__}; give {wanted}")


def _offer(one: Machine | str, measurements: Sequence[Measurement]) -> Offer:
    if one == "this":
        return this_offer(measurements)
    if isinstance(one, str) and one in recordings():
        kept = recording(one)
        return _measured_offer(kept.machine, (*kept.measurements, *measurements))
    machine = catalogue_machine(one)
    if machine.origin == "datasheet":
        group = f"datasheets: {machine.name.split()[0]}"
        return Offer(machine.id, machine.name, group, captions.origin(machine), machine)
    return _measured_offer(machine, measurements)


def _measured_offer(machine: Machine, measurements: Sequence[Measurement]) -> Offer:
    """A measured machine with what was timed on it, with as many threads as its roofs have."""
    own = tuple(
        m for m in measurements if m.machine == machine.id and machine.threads in (None, m.threads)
    )
    # One computer has roofs for each number of threads: they are different offers.
    id = f"{machine.id}/{machine.threads}" if machine.threads else machine.id
    group = HERE if captions.here(machine) else RECORDED
    return Offer(id, machine.name, group, captions.origin(machine), machine, own)


def this_offer(measurements: Sequence[Measurement] = ()) -> Offer:
    """Return this computer: with its stored roofs, or greyed if it has none."""
    machine = this_machine.stored_machine()
    if machine is None:
        return Offer(
            "this", "this computer", HERE, f"This computer: {NOT_MEASURED}.", reason=NOT_MEASURED
        )
    return _measured_offer(machine, measurements)


def with_figures(offered: Sequence[Offer], asked: object) -> list[Offer]:
    """Return those ``offered`` whose figures are known; ValueError where ``asked`` has none."""
    usable = [offer for offer in offered if offer.machine is not None]
    if not usable:
        raise ValueError(
            f"machines={asked!r}: none has figures; rl.this_machine() measures this one"
        )
    return usable


def well_known(usable: Sequence[Offer]) -> Offer:
    """The one that is shown first where nothing speaks for another."""
    return next((offer for offer in usable if offer.id == WELL_KNOWN), usable[0])
