"""The catalogue of machines: 45 of them, every figure with its source (machines.yaml)."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from reprlib import repr as short
from types import MappingProxyType
from typing import Any

from rooflab.count.si import si
from rooflab.count.validation import unknown
from rooflab.predict.machine import Figure, Machine

# Which figure of machines.yaml is which level's capacity or bandwidth.
_CAPACITIES = {"l2": "l2_bytes", "l3": "llc_bytes", "dram": "memory_bytes"}
_BANDWIDTHS = {"dram": "bandwidth_bytes_per_s", "l2": "l2_bandwidth_bytes_per_s"}


@cache
def tables(package: str, name: str) -> Any:
    """Return what the file ``name``.yaml of a package of rooflab's says."""
    import yaml  # costs 20 ms and is needed only when a table is asked for

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C loader is 10× faster
    text = files(f"rooflab.{package}").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=loader)


def _document() -> dict[str, Any]:
    """machines.yaml: its sources by key, and a row a machine, whose entries its kind decides."""
    document: dict[str, Any] = tables("predict", "machines")
    return document


@cache
def machines() -> Mapping[str, Machine]:
    """Return the catalogue: machine id → Machine, in the catalogue's order.

    Returns
    -------
    mapping of str to Machine
        Every machine by its id, read-only.

    Examples
    --------
    >>> rl.machines()["nvidia-t4"].bandwidth() / 1e9  # GB/s
    320.0
    >>> "nvidia-b200" in [id for id, m in rl.machines().items() if m.has_peak("fp4")]
    True
    """
    return MappingProxyType({row["id"]: _machine(row) for row in _document()["machines"]})


def sources() -> Mapping[str, Mapping[str, str]]:
    """Return the catalogue's sources: key → title, publisher, where seen, grade."""
    return MappingProxyType(_document()["sources"])


def record(machine_id: str) -> Mapping[str, Any]:
    """Return everything machines.yaml says of a machine, disputes and notes included."""
    wanted = machine(machine_id).id
    rows: list[Mapping[str, Any]] = _document()["machines"]
    return next(row for row in rows if row["id"] == wanted)


def disputed(m: Machine) -> dict[str, list[float]]:
    """Return what sources say, in FLOP/s, of peaks that ``m`` lacks because they disagree."""
    known = m.origin == "datasheet" and m.id in machines()
    found = {}
    for row in record(m.id).get("disputed", ()) if known else ():
        table, _, key = row["figure"].partition(".")
        if table == "peak_flops" and key not in m.peaks:
            found[key] = [float(entry["value"]) for entry in row["values"]]
    return found


class VagueName(ValueError):
    """A name that could mean several machines of the catalogue; the message lists them."""


def machine(name: str | Machine) -> Machine:
    """Return the catalogue machine ``name``: ``"h200-sxm"`` = ``"NVIDIA-H200-SXM"``.

    Parameters
    ----------
    name : str or Machine
        The vendor's prefix and the case are optional, and the names that drivers give their
        devices are known: "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "Tesla T4". Every word
        of a name must be one of the machine's, so that "RTX 4090 Laptop" is no RTX 4090. A memory
        or a slot alone ("80 GB", "PCIe") names no machine. A Machine is returned as it is.

    Returns
    -------
    Machine
        Its datasheet's figures in FLOP/s, byte/s and bytes, each with its source.

    Raises
    ------
    VagueName
        For a name that fits several machines, with what it could mean; it is a ValueError.

    Examples
    --------
    >>> h100 = rl.machine("NVIDIA H100 80GB HBM3")
    >>> h100.id
    'nvidia-h100-sxm'
    >>> h100.peak("bf16") / 1e12, h100.bandwidth() / 1e12  # TFLOP/s, TB/s
    (989.4, 3.35)
    """
    if isinstance(name, Machine):
        return name
    if not isinstance(name, str):
        raise TypeError(f"machine={short(name)} must be a machine's name or a Machine")
    known = machines()
    key = re.sub(r"[\s_]+", "-", name.strip().lower())
    if part := _MIG.search(key):
        raise ValueError(_slice(name, machine(key[: part.start()]), part))
    exact = [id for id in known if id == key or id.partition("-")[2] == key]
    said = _words(name) - _NOISE
    meant = exact or [
        id for id, words in _vocabulary().items()
        if said <= words and not all(map(_PARTS.fullmatch, said))
    ]  # fmt: skip
    if len(meant) == 1:
        return known[meant[0]]
    meant = meant or [id for id in known if key and key in id]
    if len(meant) > 1:
        raise VagueName(f"machine={name!r} is vague; it could mean {', '.join(meant)}")
    # A name without its vendor is compared with names without theirs.
    bare = {id.partition("-")[2]: id for id in known}
    close = (
        meant
        or _relatives(said)
        or [bare[short] for short in difflib.get_close_matches(key, bare, 3, 0.6)]
        or _family(said)
    )
    if close:
        likely = " or ".join(map(repr, close))
        raise ValueError(f"machine={name!r} is unknown; did you mean {likely}? See rl.machines()")
    raise unknown("machine", name, known)


_MIG = re.compile(r"-?mig-?(\d)g\.(\d+)gb.*")  # a slice: parts of its peaks, and its memory
_MODEL = re.compile(r"([a-z]{1,3})(\d{1,5})([a-z]{0,2})")
_KIN = {  # the same silicon under a name with another number
    "h800": "h100", "h20": "h100", "a800": "a100", "a30": "a100", "gh100": "h100",
}  # fmt: skip
# Words of devices' names that tell no two machines apart.
_NOISE = frozenset(
    ["tesla", "gpu", "cpu", "processor", "graphics", "accelerator", "oam", "mcm", "ac", "mba", "vf"]
)
_PARTS = re.compile(r"\d+gb|hbm\w*|sxm\d*|pcie")  # of a machine, not its name
# What drivers say of a machine that is neither in its name here nor in its id. An A100 40 GB on
# PCIe has the peaks and the memory of the SXM module; only its power limit is lower, 250 W.
_DRIVERS = {
    "nvidia-h100-sxm": "hbm3", "nvidia-a100-sxm-40": "pcie", "nvidia-gh200": "480gb",
    "nvidia-b300": "sxm6", "google-tpu-v5e": "v5 lite", "google-tpu-v5p": "v5",
    "google-tpu-v6e": "v6 lite",
}  # fmt: skip


def _words(name: str) -> frozenset[str]:
    """The words of a device's ``name`` in lower case, "80 GB" as one of them."""
    text = re.sub(r"\((?:r|tm|c|uuid:.*)\)|^gpu \d+:|@.*|\d+-core processor", " ", name.lower())
    text = re.sub(r"(mi250x)\s*/\s*mi250\b", r"\1", text)  # one driver's name for both
    text = re.sub(r"(\d)[\s-]*gi?b\b", r"\1gb", text).replace("+", "p")
    return frozenset(re.findall(r"[a-z0-9]+", text))


@cache
def _vocabulary() -> Mapping[str, frozenset[str]]:
    """Machine id → every word that may name it: of its id, its name, its memory, its drivers."""
    found = {}
    for id, m in machines().items():
        memory = m.capacities.get("dram")
        held = f" {memory / 2**30:.0f}gb" if memory else ""
        found[id] = _words(f"{id} {m.name} {_DRIVERS.get(id, '')}{held}")
    return found


def _slice(name: str, whole: Machine, part: re.Match[str]) -> str:
    """Say what share of a card a slice is, and how to write it."""
    units, held = int(part[1]), int(part[2]) * 2**30
    eighths = max(1, round(8 * held / whole.capacities["dram"]))
    bandwidth = whole.bandwidth() * eighths / 8
    peaks = f"{{'fp16': {units} / 7 * rl.machine({whole.id!r}).peak('fp16')}}"
    return (
        f"machine={name!r} is a slice of {whole.id}: {units} of 7 parts of its peaks, "
        f"{eighths} of 8 of its bandwidth, {si(bandwidth, 'B/s')}. Write it as a machine of its "
        f"own: rl.Machine('slice', origin='datasheet', peaks={peaks}, "
        f"bandwidths={{'dram': {bandwidth:.4g}}})"
    )


def _relatives(said: frozenset[str]) -> list[str]:
    """Machines of the same letters, such as L4 for L20, nearest number first."""
    known = _vocabulary()
    for word in sorted(said):
        if word in _KIN:
            return [id for id, words in known.items() if _KIN[word] in words][:3]
    apart: dict[str, float] = {}
    for letters, number in (m.groups()[:2] for word in said if (m := _MODEL.fullmatch(word))):
        for id, words in known.items():
            others = [m for word in words if (m := _MODEL.fullmatch(word)) and m[1] == letters]
            for other in others:
                apart[id] = min(apart.get(id, math.inf), abs(math.log(int(number) / int(other[2]))))
    near = sorted(apart, key=apart.__getitem__)
    exact = [id for id in near if not apart[id]]
    return (exact or [id for id in near if apart[id] < math.log(8)])[:3]


def _family(said: frozenset[str]) -> list[str]:
    """Machines that share the most words with a name, those of the vendor alone not counted."""
    shared = {id: len(said & words) for id, words in _vocabulary().items()}
    most = max(shared.values(), default=0)
    return [id for id, many in shared.items() if many == most][:3] if most > 1 else []


def _machine(row: Mapping[str, Any]) -> Machine:
    def figures(block: Mapping[str, Mapping[str, Any]]) -> dict[str, Figure]:
        return {key: Figure.from_dict(entry) for key, entry in block.items()}

    return Machine(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        peaks=figures(row["peak_flops"]),
        bandwidths={
            where: {"read": Figure.from_dict(row[key])}
            for where, key in _BANDWIDTHS.items()
            if key in row
        },
        capacities={
            where: int(row[key]["value"]) for where, key in _CAPACITIES.items() if key in row
        },
        measured=figures(row.get("measured", {})),
        backend="cpu" if row["kind"] == "cpu" else "gpu",
    )
