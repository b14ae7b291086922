"""How long the steps of a workload take on a machine, part by part, and in which number formats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rooflab.count.dtypes import DTYPES, DType, DTypeLike, as_dtype, dtype
from rooflab.count.si import si
from rooflab.count.validation import amount, unknown
from rooflab.labs.llm.steps import PLAIN, ROLES, Formats, Step
from rooflab.predict.catalogue import disputed
from rooflab.predict.estimate import overhead as call_cost
from rooflab.predict.machine import Machine

# Number formats of a step: what ``quant="w4a8"`` means, and what is assumed on a machine.
#
# Weights, KV cache and activations have a format each. A product is computed in the wider of its
# two operands' formats. So the activations decide which of a machine's peaks counts: weights of
# 8 bits bring the 8-bit peak only where the activations have 8 bits too.

# Bits of the weights and of the activations, as serving software writes them.
QUANTS = {
    "w16a16": ("bf16", "bf16"), "w8a16": ("int8", "bf16"), "w8a8": ("int8", "int8"),
    "w4a16": ("int4", "bf16"), "w4a8": ("int4", "int8"), "w4a4": ("int4", "int4"),
}  # fmt: skip
# Formats that are multiplied as they are stored wherever a machine can; integers of 4 bits are
# nearly always widened first.
FOLLOWED = ("fp8", "int8", "fp6", "fp4")


def formats_of(
    weights: DTypeLike | None = None, kv: DTypeLike = "bf16",
    activations: DTypeLike | None = None, quant: DTypeLike | None = None,
) -> Formats:  # fmt: skip
    """Return the formats of a step from its arguments; see :meth:`Model.decode`."""
    kv = as_dtype("kv", kv)
    if quant is not None:
        if weights is not None or activations is not None:
            raise ValueError(
                f"quant={quant!r} says what weights= and activations= are; give one or the other"
            )
        return _quantised(quant, kv)
    weights = as_dtype("weights", "bf16" if weights is None else weights)
    if activations is not None:
        return Formats(weights, kv, as_dtype("activations", activations))
    return Formats(weights, kv, sixteen_bits(weights), assumed=True)


def _quantised(quant: DTypeLike, kv: DType) -> Formats:
    key = quant.strip().lower() if isinstance(quant, str) else quant
    if isinstance(key, str) and key in QUANTS:
        weights, activations = (as_dtype("quant", name) for name in QUANTS[key])
        grouped = weights == "int4"  # as AWQ stores them, which leaves the tables as they are
        weights = dtype("int4", group=128, zero="int4") if grouped else weights
        return Formats(weights, kv, activations, tables=PLAIN if grouped else None)
    try:
        both = as_dtype("quant", quant)
    except ValueError:
        raise unknown("quant", quant, (*QUANTS, *DTYPES)) from None
    return Formats(both, kv, both)


def sixteen_bits(weights: DType) -> DType:
    """Format of activations beside ``weights``: theirs if a float of 16 or 32 bits, else bf16."""
    plain = weights.kind == "float" and weights.bits in (16, 32) and not weights.group
    return weights if plain else PLAIN


def formats_on(m: Machine, formats: Formats) -> tuple[Formats, str]:
    """Return ``formats`` as ``m`` runs them, and a note on what was assumed ("" if nothing was)."""
    if not formats.assumed or formats.weights.bits >= 16:
        return formats, ""
    weights, wide = formats.weights, sixteen_bits(formats.weights)
    if weights.family not in FOLLOWED or not m.has_peak(weights):
        why = f"{m.id} lists no {weights.family} peak"
        if m.has_peak(weights):
            why = f"weights in {weights} are mostly widened before they are multiplied"
        return formats, f"{wide} activations assumed, no arithmetic is saved: {why}"
    whole = weights.kind == "int" and weights.family in DTYPES
    kind = as_dtype("activations", weights.family) if whole else weights
    return Formats(weights, formats.kv, kind), (
        f"{kind} activations assumed: {m.id} has an {weights.family} peak; "
        f"weights that are only stored so are computed in 16 bits: activations='{wide}'"
    )


def narrowest(formats: Formats) -> int:
    """Bits that products need: those of the weights, or of named activations if more."""
    return max(formats.weights.bits, 0 if formats.assumed else formats.activations.bits)


# The estimate, part by part: an operation takes its FLOPs over the peak, its bytes over the DRAM
# bandwidth, what its calls cost, and what devices that share a layer send each other. The calls are
# those of operands at hand, because waiting for memory is counted already.

MIX = "read"  # nearly all that a step of a model carries is read: weights, KV cache
BOUNDS = ("sum-of-max", "max-of-sum", "no-overlap")
ROOFS = ("catalogue", "measured")
SLOWEST_LINK, LONGEST_CALL = 1e6, 0.1  # byte/s and seconds: beyond these a prefix was forgotten
# What a machine without a peak for a format computes in instead, in the order tried.
_INSTEAD = ("bf16", "fp16", "tf32", "fp32", "fp64")
_NARROW = ("fp8", "int8", "fp4", "int4")
# What else the arithmetic of a narrow format may be done in: 8-bit integers go to fp8 as well.
_WIDER = {"int4": ("int8", "fp8"), "int8": ("fp8",), "fp4": ("fp8",), "fp6": ("fp8",)}


@dataclass(frozen=True)
class Part:
    """Seconds of one kind of operation, all its runs: to compute, to carry, to call, to send.

    ``rate``: the peak in FLOP/s that it is computed at, before any efficiency.
    """

    name: str
    compute: float
    carry: dict[str, float]
    call: float
    send: float
    rate: float = math.inf

    @property
    def memory(self) -> float:
        """Seconds to carry all of its operands."""
        return sum(self.carry.values())

    @property
    def seconds(self) -> float:
        """Seconds with computing and carrying overlapped."""
        return max(self.compute, self.memory) + self.call + self.send

    @property
    def limit(self) -> str:
        """What takes longest: "compute", "memory:weights", "memory:kv", …, "overhead", "link"."""
        busy = max(self.compute, self.memory)
        if self.call > busy and self.call >= self.send:
            return "overhead"
        if self.send > busy:
            return "link"
        if self.compute >= self.memory:
            return "compute"
        return f"memory:{max(self.carry, key=self.carry.__getitem__)}"


@dataclass(frozen=True)
class StepTiming:
    """Time of a step: ``seconds`` in all, its ``parts``, and ``notes`` on what was assumed.

    ``bound``: how the parts were put together, see :meth:`Workload.seconds`; ``bandwidth``: that of
    the DRAM in byte/s, before any efficiency.
    """

    seconds: float
    parts: tuple[Part, ...]
    notes: tuple[str, ...]
    bound: str = "sum-of-max"
    bandwidth: float = math.inf

    @property
    def limit(self) -> str:
        """What most of the step's time goes to, over all parts."""
        if self.bound != "sum-of-max":
            return _whole(self.parts).limit
        total: dict[str, float] = {}
        for part in self.parts:
            total[part.limit] = total.get(part.limit, 0.0) + part.seconds
        return max(total, key=total.__getitem__)


def timing(
    steps: tuple[Step, ...], m: Machine, devices: int = 1, notes: Iterable[str] = (), *,
    link: float | None = None, bound: str = "sum-of-max", roofs: str = "catalogue",
    overhead: float | None = None, link_latency: float = 0.0,
    efficiency: Mapping[str, float] | None = None,
) -> StepTiming:  # fmt: skip
    """Time ``steps`` on ``devices`` machines ``m``; see :meth:`Workload.seconds` for how.

    ``notes``: what is known already; what is assumed here is added to them.
    """
    for name, choice, known in (("bound", bound, BOUNDS), ("roofs", roofs, ROOFS)):
        if choice not in known:
            raise unknown(name, choice, known)
    _require_durations(overhead=0.0 if overhead is None else overhead, link_latency=link_latency)
    link, shares = link_rate(link), _shares(efficiency)
    said = dict.fromkeys(notes)
    bandwidth = dram_rate(m, roofs, said)
    peaks: dict[tuple[DType, str], tuple[float, DType]] = {}
    parts = []
    for step in steps:
        key = (step.op.compute_dtype, step.op.unit)
        if key not in peaks:
            peaks[key] = peak_for(m, *key, roofs, said)
        rate, kind = peaks[key]
        slope = bandwidth * shares["memory"] * devices
        carry = {role: step.bytes_of(role) / slope for role in ROLES}
        carry["activations"] *= devices  # every device has them whole
        compute = step.count * step.op.flops / (rate * shares["compute"]) / devices
        op = step.op if kind is step.op.compute_dtype else replace(step.op, compute_dtype=kind)
        called = step.count * (call_cost(op, m) if overhead is None else overhead)
        sent = _send(step, devices, link, link_latency)
        parts.append(Part(step.name, compute, carry, called, sent, rate))
    _say_what_is_missing(m, parts, overhead is None, devices > 1 and link is None, said)
    return StepTiming(_together(parts, bound), tuple(parts), tuple(said), bound, bandwidth)


def _send(step: Step, devices: int, link: float | None, latency: float) -> float:
    """Seconds of the ring all-reduces behind ``step``: each device sends nearly all of it twice."""
    if devices == 1 or not step.reduced:
        return 0.0
    carried = 2 * (devices - 1) / devices * step.reduced / link if link else 0.0
    return step.count * (carried + latency)


def _together(parts: Sequence[Part], bound: str) -> float:
    """Seconds of all ``parts``, put together as :meth:`Workload.seconds` says of ``bound``."""
    if bound == "sum-of-max":
        return sum(part.seconds for part in parts)
    whole = _whole(parts)
    if bound == "max-of-sum":
        return whole.seconds
    return whole.compute + whole.memory + whole.call + whole.send


def link_rate(link: float | None) -> float | None:
    """``link`` if it is a rate in byte/s or None; the error for anything else."""
    if (
        link is not None
        and amount("link", link, "a positive rate in byte/s, or None") < SLOWEST_LINK
    ):
        raise ValueError(f"link={link!r} is in byte/s; {link:g} GB/s is {link:g}e9")
    return link


def _require_durations(**given: float) -> None:
    right = "a time in seconds, 0 or more, such as 5e-6"
    for name, seconds in given.items():
        if amount(name, seconds, right, zero=True) > LONGEST_CALL:
            raise ValueError(f"{name}={seconds!r} is in seconds; {seconds:g} µs is {seconds:g}e-6")


def _shares(given: Mapping[str, float] | None) -> dict[str, float]:
    """``given`` shares of the roofs, 1 for the one that is not named."""
    shares, given = {"compute": 1.0, "memory": 1.0}, {} if given is None else given
    if not isinstance(given, Mapping):
        raise TypeError(f"efficiency={given!r} must be a mapping, such as {{'compute': 0.75}}")
    for name, share in given.items():
        if name not in shares:
            raise unknown("efficiency", name, shares)
        right = "a share of the roof, above 0 and at most 1"
        shares[name] = amount(f"efficiency[{name!r}]", share, right, most=1)
    return shares


def _whole(parts: Sequence[Part]) -> Part:
    """The step as one part: what its operations compute, carry, call and send, added up."""
    carry = {role: sum(p.carry[role] for p in parts) for role in parts[0].carry}
    compute, call, send = (sum(getattr(p, n) for p in parts) for n in ("compute", "call", "send"))
    return Part("step", compute, carry, call, send)


def dram_rate(m: Machine, roofs: str, notes: dict[str, None]) -> float:
    """Bandwidth of the DRAM in byte/s; what is not known goes to ``notes``."""
    reached = m.measured.get("bandwidth_bytes_per_s")
    if roofs == "measured" and m.origin == "datasheet":
        if reached is not None:
            return float(reached)
        notes[f"no measured bandwidth of {m.id} is known: the datasheet's is used"] = None
    return float(m.bandwidth("dram", MIX))


def peak_for(
    m: Machine, kind: DType, unit: str, roofs: str, notes: dict[str, None]
) -> tuple[float, DType]:
    """Peak in FLOP/s for ``kind``, and the format of that peak: the nearest one that there is.

    Where sources disagree it is the least that they give. A product in a wide format is never
    computed in a narrow one, except that 16 bits may stand in for more; 8 bits may be those of the
    other kind; norms and the like, with next to no arithmetic, take any peak there is.
    """
    said = disputed(m).get(kind.family, [])
    if len(set(said)) > 1:
        notes[
            f"sources give {m.id} from {si(min(said), 'FLOP/s')} to {si(max(said), 'FLOP/s')} for "
            f"{kind.family}: the least in the estimate, the highest in the bound"
        ] = None
        return min(said), kind
    tried = [kind, *map(dtype, _WIDER.get(kind.family, ()))]
    tried += [dtype("tf32")] if kind.family == "fp32" else []
    tried += [o for o in map(dtype, _INSTEAD) if o.bits >= min(kind.bits, 16)]
    if unit == "vector":
        tried += map(dtype, _NARROW)
    used = next((one for one in tried if m.has_peak(one)), None)
    if used is None:
        there = f"it has {', '.join(m.peaks)}" if m.peaks else "give it peaks={'bf16': …}"
        raise ValueError(f"{m.id} has no peak for {kind}; {there}")
    figure = m.peak(used, unit if m.has_peak(used, unit) else None)
    if used.family != kind.family:
        notes[f"{m.id} lists no {kind} peak: computed in {used}"] = None
    reached = m.measured.get(used.family)
    if roofs == "measured" and m.origin == "datasheet" and unit == "tensor":
        if reached is not None:
            return float(reached), used
        notes[f"no measured {used} rate of {m.id} is known: the datasheet's is used"] = None
    return float(figure), used


def _say_what_is_missing(
    m: Machine, parts: list[Part], calls: bool, sends: bool, notes: dict[str, None]
) -> None:
    """Note which costs count as zero; ``calls``, ``sends``: nobody has given what these cost."""
    unknown_calls = sum(not part.call for part in parts) if calls else 0
    if unknown_calls == len(parts):
        notes[
            f"overhead of a launch on {m.id} is not known: counted as zero, or give overhead="
        ] = None
    elif unknown_calls:
        notes[f"overhead of a call on {m.id} is known for products, zero for the rest"] = None
    if sends:
        notes["communication between devices is not counted: give link= in byte/s"] = None
