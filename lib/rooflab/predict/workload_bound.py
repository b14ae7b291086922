"""The strict bound of a step: the time that no program can beat, with nothing taken for granted.

Three sums over the whole step, of which the longest counts, because all may overlap: the products'
FLOPs, the bytes of weights and KV cache, the bytes that devices must send each other. What a clever
program can avoid is left out: launches, passes over activations, the second half of a ring
all-reduce, experts that no token need choose. Peaks are the highest dense ones that are published
of a machine, those that accumulate in 16 bits and those that a run has reached included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rooflab.count.dtypes import DTYPES, DType, dtype
from rooflab.count.llm_steps import Formats, Step
from rooflab.count.llm_training import BACK
from rooflab.count.si import si
from rooflab.count.sizes import size
from rooflab.count.suggest import unknown
from rooflab.predict.catalogue import machines, record
from rooflab.predict.machine import Machine
from rooflab.predict.workload_formats import narrowest
from rooflab.predict.workload_time import ROOFS, dram_rate, link_rate, peak_for

if TYPE_CHECKING:
    from rooflab.predict.workload import Workload

# Streamed attention computes its scores again on the way back; a program that stored them need not.
_AGAIN = BACK["scores"] / BACK["attention"]
_FAMILIES = {dtype(name).family: dtype(name) for name in reversed(DTYPES)}


@dataclass(frozen=True)
class Bound:
    """Seconds that a step takes at least: to ``compute``, to ``carry``, to ``send``.

    ``notes``: what was assumed, most of it in favour of the program that is to be bounded.
    """

    compute: float
    carry: float
    send: float
    notes: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """The longest of the three: they may all overlap."""
        return max(self.compute, self.carry, self.send)

    @property
    def limit(self) -> str:
        """The longest of the three by name: "compute", "memory" or "link"."""
        if self.send > max(self.compute, self.carry):
            return "link"
        return "compute" if self.compute >= self.carry else "memory"


def strict(w: Workload, m: Machine, devices: int, link: float | None, roofs: str) -> Bound:
    """Return the strict bound of ``w`` on ``devices`` of ``m``; see :meth:`Workload.bound`."""
    devices, link = size("devices", devices), link_rate(link)
    if roofs not in ROOFS:
        raise unknown("roofs", roofs, ROOFS)
    said: dict[str, None] = {}
    products = [s for s in w.steps if s.op.unit == "tensor"]
    computing = _computing(w, products, m, roofs, said)
    bandwidth = _bandwidth(m, roofs, said)
    moved = max(0, _carried(w) - devices * _held(m, said))
    sending = 0.0
    if devices > 1 and link:
        narrower = narrowest(w.formats) / w.formats.activations.bits
        sending = sum(s.count * s.reduced for s in products) * min(1.0, narrower) / link
        said["a device sends its part of a sum once, as where the switch adds"] = None
    elif devices > 1:
        said["sending between devices takes no time: give link= in byte/s"] = None
    if w.model.experts and w.tokens > 1:
        said["all tokens choose the same experts, so that the others are not read"] = None
    return Bound(computing / devices, moved / bandwidth / devices, sending, tuple(said))


def _computing(
    w: Workload, products: list[Step], m: Machine, roofs: str, said: dict[str, None]
) -> float:
    """Seconds of the products' FLOPs on one device."""
    alike: dict[tuple[int, DType], float] = {}
    for step in products:
        key = _bits(step, w.formats), step.op.compute_dtype
        alike[key] = alike.get(key, 0.0) + _flops(step)
    return sum(
        flops / _fastest(m, bits, kind, roofs, said) for (bits, kind), flops in alike.items()
    )


def _bits(step: Step, formats: Formats) -> int:
    """Bits of the narrowest format in which a product may be computed.

    Scores may be as narrow as what is stored of either of their operands, and a gradient of the
    weights is a product of activations.
    """
    bits = narrowest(formats)
    if step.name.endswith(" dW"):
        return bits if formats.assumed else formats.activations.bits
    if "weights" in step.roles:
        return bits
    return min(bits, formats.kv.bits) if formats.assumed else formats.activations.bits


def _flops(step: Step) -> float:
    total = step.count * step.op.flops
    return total * _AGAIN if step.name.endswith("attention back") else total


def _fastest(m: Machine, bits: int, kind: DType, roofs: str, said: dict[str, None]) -> float:
    """Highest dense peak of ``m`` in FLOP/s for a format of ``bits`` or more; infinite where one
    that may be higher is not published.

    Where the estimate computes ``kind`` in another format, because ``m`` lists no peak for it,
    that format counts too.
    """
    rates = _stated(m) if roofs == "catalogue" else {k: float(r) for k, r in m.peaks.items()}
    wide = {key: rate for key, rate in rates.items() if _width(key) >= bits}
    unknown_peak = _unpublished(m, bits, wide) if roofs == "catalogue" else ""
    if unknown_peak or not wide:
        peak = f"its {unknown_peak} peak" if unknown_peak else f"a peak of {m.id} for {bits} bits"
        said[f"{peak} is not known: computing is taken to cost nothing"] = None
        return float("inf")
    key = max(wide, key=lambda k: (wide[k], k in m.measured))
    rate = wide[key]
    if roofs == "measured" and m.origin == "datasheet":
        rate = float(m.measured.get(key, rate))
    if m.peaks and (instead := peak_for(m, kind, "tensor", roofs, {}))[0] > rate:
        rate, key = instead[0], str(instead[1])
    said[
        f"computed at {si(rate, 'FLOP/s')} ({key}), the highest that is known of {m.id} for "
        f"{bits} bits or more"
    ] = None
    return rate


def _record(m: Machine) -> Mapping[str, object]:
    """What the catalogue says of ``m`` beyond its figures; nothing of a machine of one's own."""
    return record(m.id) if m.origin == "datasheet" and m.id in machines() else {}


def _stated(m: Machine) -> dict[str, float]:
    """The highest figure in FLOP/s of each of ``m``'s peaks.

    What a run has reached where that is more, because cards boost past their datasheets; at the
    boost clock what was worked out at the base clock, as for CPUs; and where sources dispute a
    figure that the catalogue leaves out, their highest.
    """
    row = _record(m)
    clocks = [row[key]["value"] for key in ("boost_clock_hz", "base_clock_hz") if key in row]
    faster = clocks[0] / clocks[1] if len(clocks) == 2 else 1.0
    rates = {
        key: rate * (faster if "base" in (rate.derived or "") else 1.0)
        for key, rate in m.peaks.items()
    }
    listed = set(rates)
    for key, reached in m.measured.items():
        rates[key] = max(float(reached), rates.get(key, 0.0))
    for disputed in row.get("disputed", ()):
        table, _, key = disputed["figure"].partition(".")
        if table == "peak_flops" and key not in listed:
            highest = max(float(entry["value"]) for entry in disputed["values"])
            rates[key] = max(highest, rates.get(key, 0.0))
    return rates


def _unpublished(m: Machine, bits: int, wide: Iterable[str]) -> str:
    """A format of ``bits`` or more whose peak nobody publishes and that may be the fastest.

    A format is ruled out where ``m`` lists a peak for fewer bits, or for as many of the same kind.
    """
    known = [_FAMILIES[key.partition("_")[0]] for key in wide]
    words = " ".join(map(str, _record(m).get("unsourced", ()))).split()
    named = [_FAMILIES[word] for word in words if word in _FAMILIES]

    def covered(kind: DType) -> bool:
        same = (kind.bits, kind.kind)
        return any(k.bits < kind.bits or (k.bits, k.kind) == same for k in known)

    open_ones = [kind for kind in named if kind.bits >= bits and not covered(kind)]
    return min(open_ones, key=lambda kind: kind.bits).family if open_ones else ""


def _width(key: str) -> int:
    """Bits of the format that a peak's ``key`` names: ``fp16_acc16`` has 16; 0 if it names none."""
    family = _FAMILIES.get(key.partition("_")[0])
    return family.bits if family else 0


def _carried(w: Workload) -> float:
    """Bytes of the weights, once, and of the KV cache.

    Rows of an embedding table are left out, and so are the experts that a token need not choose.
    """
    total = 0.0
    active = {p.name: p.active / p.experts for p in w.model.products}
    for step in w.steps:
        if step.name == "embed" or step.name.endswith((" back", " dX", " dW")):
            continue
        for o, role in zip(step.op.operands, step.roles, strict=True):
            if role == "kv":
                total += step.count * o.bytes
            elif role == "weights":
                chosen = replace(o, touched=None).bytes * active.get(step.name, 1)
                total += step.count * min(chosen, o.bytes)
    return total


def _held(m: Machine, said: dict[str, None]) -> float:
    """Bytes that the caches of one device may hold from one step to the next."""
    cache = sum(m.capacities.get(level, 0) for level in ("l2", "l3"))  # neither may hold the other
    if cache:
        said[f"{si(cache, 'B')} may stay in the caches of {m.id} from step to step"] = None
    return cache


def _bandwidth(m: Machine, roofs: str, said: dict[str, None]) -> float:
    """The DRAM's bandwidth in byte/s, or what a published run has reached where that is more."""
    rate = dram_rate(m, roofs, said)
    reached = m.measured.get("bandwidth_bytes_per_s", 0.0)
    return max(rate, float(reached)) if roofs == "catalogue" and m.origin == "datasheet" else rate
