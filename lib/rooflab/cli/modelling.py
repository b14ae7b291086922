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
WEIGHTS = Annotated[str, typer.Option(help="Format of the weights: bf16, int8, int4, fp8, q4_0, …")]
KV = Annotated[str, typer.Option(help="Format of the KV cache.")]
ACTIVATIONS = Annotated[
    str | None, typer.Option(help="Format of the activations; by default 16 or 32 bits.")
]
DEVICES = Annotated[int, typer.Option(help="Devices that share every layer.")]
LINK = Annotated[float | None, typer.Option(help="What a device sends in byte/s, as in 450e9.")]
BOUND = Annotated[str, typer.Option(help="sum-of-max, max-of-sum or no-overlap.")]
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
    weights: WEIGHTS = "bf16",
    kv: KV = "bf16",
    activations: ACTIVATIONS = None,
    devices: DEVICES = 1,
    link: LINK = None,
    bound: BOUND = "sum-of-max",
    roofs: ROOFS = "catalogue",
    traffic: TRAFFIC = None,
    measured: MEASURED = None,
) -> None:
    """Count a language model's step, and say what a machine makes of it."""
    if name is None:
        _list()
        return
    work = _work(name, phase, (batch, context, weights, kv, activations))
    if machine is None:
        for option, given in (("link", link), ("traffic", traffic), ("measured", measured)):
            if given is not None:
                raise ValueError(f"{option}={given!r} says nothing without a machine: --machine")
        say(repr(work).splitlines()[0])
        _steps(work)
        return
    from rooflab.cli.choice import machine as chosen

    on, only = chosen(machine), [part.strip() for part in traffic.split(",")] if traffic else None
    how = {"link": link, "bound": bound, "roofs": roofs, "traffic": only}
    told = work.explain(on, measured, devices, **how)  # says what is wrong before anything is shown
    say(repr(work).splitlines()[0])
    _steps(work, work.limits(on, devices, **how))
    _account(told)


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

    say(told.sentence)
    rows = [(told.begins, si(told.start, "s"), "")]
    rows += [(f.name, times(f.factor), f.note) for f in told.factors]
    table(("step", "time", ""), rows, right=(1,))
    for note in told.bound.notes:
        say(f"Note: {note}.")


def _work(name: str, phase: str, sizes: tuple[object, ...]) -> Workload:
    from rooflab.count.suggest import unknown
    from rooflab.predict.workload_catalogue import model as found

    makes = {"decode": "decode", "prefill": "prefill", "train": "train_step"}
    if phase not in makes:
        raise unknown("phase", phase, makes)
    return getattr(found(name), makes[phase])(*sizes)


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
