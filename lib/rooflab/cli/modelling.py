"""``rooflab model``: a language model's step on a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.terminal import say, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rooflab.predict.workload import Workload
    from rooflab.predict.workload_explain import Account

NAME = Annotated[str | None, typer.Argument(help="A model, such as llama-2-7b; none lists all.")]
MACHINE = Annotated[str | None, typer.Option(help="A name from `rooflab machines`, or this.")]
BATCH = Annotated[int, typer.Option(help="Sequences at once.")]
CONTEXT = Annotated[int, typer.Option(help="Tokens of each, the new one included.")]
PHASE = Annotated[str, typer.Option(help="decode, prefill or train.")]
WEIGHTS = Annotated[
    str | None,
    typer.Option(help="Format of the weights: bf16 (the default), int8, int4, fp8, q4_0, …"),
]
KV = Annotated[str, typer.Option(help="Format of the KV cache.")]
ACTIVATIONS = Annotated[
    str | None,
    typer.Option(
        help="Format of the activations; by default narrow weights' own, where the machine has "
        "a peak for it, else 16 or 32 bits."
    ),
]
QUANT = Annotated[
    str | None,
    typer.Option(help="Weights and activations at once: w8a16, w8a8, w4a16, w4a8, w4a4, fp8, …"),
]
DEVICES = Annotated[int, typer.Option(help="Devices that share every layer.")]
LINK = Annotated[float | None, typer.Option(help="What a device sends in byte/s, as in 450e9.")]
LATENCY = Annotated[str | None, typer.Option(help="Time of each all-reduce beside that: 10us.")]
OVERHEAD = Annotated[str | None, typer.Option(help="Time that each launch costs: 2us.")]
EFFICIENCY = Annotated[
    str | None, typer.Option(help="Shares of the roofs: compute=0.75,memory=0.85.")
]
BOUND = Annotated[
    str, typer.Option(help="How the estimate adds up: sum-of-max, max-of-sum or no-overlap.")
]
ROOFS = Annotated[str, typer.Option(help="catalogue or measured (published achieved figures).")]
TRAFFIC = Annotated[
    str | None, typer.Option(help="Count only these bytes: weights,kv as published tables do.")
]
MEASURED = Annotated[float | None, typer.Option(help="Measured tokens a second, to be explained.")]


def model(
    name: NAME = None,
    machine: MACHINE = None,
    batch: BATCH = 1,
    context: CONTEXT = 512,
    phase: PHASE = "decode",
    weights: WEIGHTS = None,
    kv: KV = "bf16",
    activations: ACTIVATIONS = None,
    quant: QUANT = None,
    devices: DEVICES = 1,
    link: LINK = None,
    link_latency: LATENCY = None,
    overhead: OVERHEAD = None,
    efficiency: EFFICIENCY = None,
    bound: BOUND = "sum-of-max",
    roofs: ROOFS = "catalogue",
    traffic: TRAFFIC = None,
    measured: MEASURED = None,
) -> None:
    """Count a language model's step, and say what a machine makes of it: about, and at most."""
    if name is None:
        _list()
        return
    work = _work(name, phase, (batch, context, weights, kv, activations), quant)
    given = {
        "link": link, "traffic": traffic, "measured": measured, "overhead": overhead,
        "link-latency": link_latency, "efficiency": efficiency,
    }  # fmt: skip
    if machine is None:
        _nothing_of_a_machine(given)
        _counted(work)
        return
    from rooflab.cli.choice import machine as chosen

    on, how = chosen(machine), {"link": link, "bound": bound, "roofs": roofs, **_terms(given)}
    told = work.explain(on, measured, devices, **how)  # says what is wrong before anything is shown
    _counted(told.workload, told.workload.limits(on, devices, **how))
    _account(told)


def _nothing_of_a_machine(given: Mapping[str, object]) -> None:
    for option, value in given.items():
        if value is not None:
            raise ValueError(f"{option}={value!r} says nothing without a machine: --machine")


def _terms(given: Mapping[str, object]) -> dict[str, object]:
    """The options that are words, as the arguments that they stand for."""
    from rooflab.cli.times import duration

    how: dict[str, object] = {}
    if given["traffic"]:
        how["traffic"] = [part.strip() for part in given["traffic"].split(",")]
    for option in ("overhead", "link-latency"):
        if given[option] is not None:
            how[option.replace("-", "_")] = duration(given[option], f"--{option}")
    if given["efficiency"]:
        how["efficiency"] = _shares(given["efficiency"])
    return how


def _shares(text: str) -> dict[str, float]:
    """``compute=0.75,memory=0.85`` as a mapping."""
    shares = {}
    for part in text.split(","):
        name, _, share = part.partition("=")
        try:
            shares[name.strip()] = float(share)
        except ValueError:
            raise ValueError(
                f"--efficiency={text!r} must name shares, as in compute=0.75,memory=0.85"
            ) from None
    return shares


def _counted(work: Workload, limits: Mapping[str, str] | None = None) -> None:
    """What the step is, its kinds of operation, and the memory that it takes."""
    from rooflab.count.si import si

    say(repr(work).splitlines()[0])
    _steps(work, limits)
    parts = ", ".join(f"{name} {si(amount, 'B')}" for name, amount in work.memory.items())
    say(f"To hold: {si(work.memory_bytes, 'B')} ({parts}).")


def _steps(work: Workload, limits: Mapping[str, str] | None = None) -> None:
    """One line for each kind of operation; ``limits``: what limits it on a machine."""
    from rooflab.count.si import si

    limits = limits or {}
    rows = [
        (op.name, str(op.batch), si(op.flops, "FLOP"), si(op.bytes, "B"), f"{op.intensity:.4g}",
         limits.get(op.name, ""))
        for op in work.operations
    ]  # fmt: skip
    headings = ("operation", "runs", "FLOP", "bytes", "FLOP/B", "limit" if limits else "")
    table(headings, rows, right=(1, 2, 3, 4))


def _account(told: Account) -> None:
    from rooflab.count.si import si, times

    say(told.fit)
    say(told.sentence)
    rows = [(told.begins, si(told.start, "s"), "")]
    rows += [(f.name, times(f.factor), f.note) for f in told.factors]
    table(("step", "time", ""), rows, right=(1,))
    for note in told.estimate.notes:
        say(f"About: {note}.")
    most = "At most" if told.roofs == "catalogue" else "Overlapped"
    for note in told.bound.notes:
        say(f"{most}: {note}.")


def _work(name: str, phase: str, sizes: tuple[object, ...], quant: str | None) -> Workload:
    from rooflab.count.suggest import unknown
    from rooflab.predict.workload_catalogue import model as found

    makes = {"decode": "decode", "prefill": "prefill", "train": "train_step"}
    if phase not in makes:
        raise unknown("phase", phase, makes)
    return getattr(found(name), makes[phase])(*sizes, quant=quant)


def _list() -> None:
    from rooflab.count.si import si
    from rooflab.predict.workload_catalogue import models

    rows = [
        (m.name, si(m.parameters), si(m.active_parameters), str(m.layers), str(m.hidden),
         f"{m.heads}/{m.kv_heads}", si(m.kv_bytes(1, 1), "B"), str(m.context))
        for m in models().values()
    ]  # fmt: skip
    headings = ("model", "params", "active", "layers", "hidden", "heads/KV", "KV a token", "limit")
    table(headings, rows, right=(1, 2, 3, 4, 5, 6, 7), keep=(0, 1))
    say("KV: bytes of the cache for one token in 16 bits; limit: context of its training.")
