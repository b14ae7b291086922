"""``rooflab machines`` and ``rooflab recordings``: what there is to compare with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rooflab.cli.terminal import complain, say, table

if TYPE_CHECKING:
    from rooflab.measure.recording import Recording
    from rooflab.predict.machine import Machine

_ENDINGS = (("_bytes_per_s", "B/s"), ("_bytes", "B"), ("_hz", "Hz"), ("tdp_w", "W"))


def _catalogued(machine: Machine) -> None:
    from rooflab.predict.catalogue import record, sources

    row = record(machine.id)
    per = f", figures per {row['per']}" if "per" in row else ""
    say(f"{row['name']} ({machine.id}), {row['kind']}, {row['vendor']}{per}")
    if "note" in row:
        say(row["note"])
    figures = {k: e for k, e in row.items() if isinstance(e, Mapping) and "value" in e}
    lines = [_figure(key, entry) for key, entry in figures.items()]
    for block, word in (("peak_flops", "peak"), ("measured", "measured")):
        lines += [
            _figure(f"{word} {key}", entry, _unit_of_rate(key))
            for key, entry in row.get(block, {}).items()
        ]
    table(("figure", "value", "", "source", "note"), lines, right=(1,), keep=(0, 2))
    disputes = [_dispute(entry) for entry in row.get("disputed", ())]
    if disputes:
        table(("disputed", "said by", "taken because"), disputes, keep=(0,))
    if "unsourced" in row:
        say("No source found for: " + ", ".join(row["unsourced"]) + ".")
    known = sources()
    cited = sorted({key for line in lines for key in line[3].split(", ") if key in known})
    table(
        ("source", "what it is", "grade"),
        [(key, f"{known[key]['title']} ({known[key]['publisher']})", known[key]["grade"])
         for key in cited],
        keep=(0, 2),
    )  # fmt: skip


def _measured(machine: Machine) -> None:
    from rooflab.count.si import si

    say(f"{machine.name} ({machine.id}), {machine.kind}, {machine.provenance}")
    lines = [(f"peak {key}", si(f, "FLOP/s"), f.note or "") for key, f in machine.peaks.items()]
    lines += [
        (f"{where} {mix}", si(f, "B/s"), f.note or "")
        for where, mixes in machine.bandwidths.items()
        for mix, f in mixes.items()
    ]
    lines += [(f"{where} size", si(size, "B"), "") for where, size in machine.capacities.items()]
    table(("figure", "measured", "note"), lines, right=(1,))


def _unit_of_rate(key: str) -> str:
    if key.endswith("bytes_per_s"):
        return "B/s"
    return "op/s" if key.startswith("int") else "FLOP/s"


def _figure(key: str, entry: Mapping[str, Any], unit: str = "") -> tuple[str, ...]:
    notes = [entry[word] for word in ("note", "derived") if word in entry]
    return (
        _readable(key), _amount(key, entry["value"], unit), str(entry.get("unit", "")),
        ", ".join(entry.get("source", ())), "; ".join(map(str, notes)),
    )  # fmt: skip


def _amount(key: str, value: object, unit: str = "") -> str:
    from rooflab.count.si import si

    for ending, word in _ENDINGS:
        if not unit and key.endswith(ending):
            unit = word
    if unit and isinstance(value, (int, float)) and not isinstance(value, bool):
        return si(value, unit, digits=4)
    return str(value)


def _readable(key: str) -> str:
    for ending, _ in _ENDINGS[:3]:
        key = key.removesuffix(ending)
    return key.removesuffix("_w").replace("_", " ")


def _dispute(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    figure = str(entry["figure"])
    unit = _unit_of_rate(figure.partition(".")[2]) if figure.startswith("peak_flops.") else ""
    said = ", ".join(
        f"{_amount(figure, one['value'], unit)} ({one['source']})" for one in entry["values"]
    )
    return _readable(figure.replace("peak_flops.", "peak ")), said, str(entry["resolution"])


NAME = Annotated[str | None, typer.Argument(help="One machine, with all of its figures.")]


def machines(name: NAME = None) -> None:
    """List the machines of the catalogue and the recorded ones; with a NAME, all its figures."""
    from rooflab.cli.options import machine as chosen

    if name is not None:
        found = chosen(name)
        show = _catalogued if found.origin == "datasheet" else _measured
        show(found)
        return
    from rooflab.predict.catalogue import machines as catalogue

    listed = [*catalogue().values(), *(recorded.machine for recorded in _recorded())]
    headings = ("machine", "", "memory", "fp32", "16 bit", "ridge", "from")
    table(headings, [_row(machine) for machine in listed], right=(2, 3, 4, 5), keep=(0, 1))
    say(
        "Peak FLOP/s of one dense multiply-add (= 2 FLOP) unit; memory in byte/s; ridge in "
        "FLOP/byte of the highest of the two peaks. `rooflab machines NAME` shows every figure "
        "with its source."
    )


def _row(machine: Machine) -> tuple[str, ...]:
    from rooflab.count.si import si

    bandwidth = machine.bandwidth()
    narrow = [machine.peak(kind) for kind in ("fp16", "bf16") if machine.has_peak(kind)]
    single = machine.peak("fp32") if machine.has_peak("fp32") else None
    best = max([*narrow, *([single] if single else [])], default=None)
    return (
        machine.id, machine.kind, si(bandwidth, "B/s"),
        si(single, "") if single else "-", si(max(narrow), "") if narrow else "-",
        f"{best / bandwidth:.4g}" if best else "-",
        "datasheet" if machine.origin == "datasheet" else (machine.recorded_on or "")[:10],
    )  # fmt: skip


def recordings() -> None:
    """List the recorded runs, and say where they were looked for."""
    from rooflab.measure.recording import folders

    rows = [
        (one.name, one.machine.name, one.recorded_on[:10], str(len(one.measurements)))
        for one in _recorded()
    ]
    if rows:
        table(("recording", "machine", "recorded", "measured"), rows, right=(3,), keep=(0, 2))
    else:
        say("There is no recording yet; `rooflab record NAME` makes one.")
    say("Looked in: " + ", ".join(str(folder) for folder in folders()))


def _recorded() -> Iterator[Recording]:
    """The recordings that can be read; a complaint about each that cannot."""
    from rooflab.measure.recording import recording
    from rooflab.measure.recording import recordings as names

    for name in names():
        try:
            yield recording(name)
        except ValueError as error:
            complain(str(error))
