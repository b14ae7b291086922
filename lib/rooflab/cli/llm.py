"""``rooflab decode`` and ``rooflab model``: language models, run here and predicted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rooflab.cli.options import BACKEND, counts
from rooflab.cli.terminal import say, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rooflab.labs.llm.decode_loop import DecodeRun
    from rooflab.labs.llm.model import Model
    from rooflab.labs.llm.workload import Account, Workload


def decode(
    model: Annotated[str, typer.Argument(help="small, large, or a catalogue name.")] = "small",
    batch: Annotated[str, typer.Option("--batch", help="As in 1,4,16.")] = "1,2,3,4,8,16,32,64",
    context: Annotated[int, typer.Option("--context", help="Tokens of the prompt.")] = 128,
    steps: Annotated[int, typer.Option("--steps", help="Tokens to generate.")] = 20,
    dtype: Annotated[str, typer.Option("--dtype", help="fp32, fp64; GPU: fp16, bf16.")] = "fp32",
    backend: BACKEND = "auto",
    threads: Annotated[int | None, typer.Option("--threads", help="CPU threads; 1.")] = None,
    predict: Annotated[bool, typer.Option("--predict", help="Predict each run too.")] = False,
    record: Annotated[str | None, typer.Option("--record", help="Keep the runs as NAME.")] = None,
    folder: Annotated[Path | None, typer.Option("--folder", help="Where to keep them.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a recording.")] = False,
) -> None:
    """Time a real decode loop: tokens a second for every batch, and how its products ran."""
    from rooflab.labs.llm.decode_loop import decode_loop, loop_weights
    from rooflab.labs.llm.decode_prediction import decode_file, record_decode
    from rooflab.measure.backend import select

    backend = select(backend, threads).name
    chosen, batches = _model(model, backend), counts("--batch", batch)
    if record is not None:
        decode_file(record, folder, overwrite)  # says what is wrong before anything is measured
    held = loop_weights(chosen, dtype, backend)
    runs = [
        decode_loop(
            chosen, each, weights=held, dtype=dtype, context=context, steps=steps,
            backend=backend, threads=threads,
        )
        for each in batches
    ]  # fmt: skip
    if record is not None:
        record_decode(record, runs, folder=folder, overwrite=overwrite)
    head = ("batch", "tokens/s", "a step", "attention", *(("predicted",) if predict else ()), "as")
    table(head, [_row(run, predict) for run in runs])
    for text in dict.fromkeys(text for run in runs for text in run.warnings):
        say(f"warning: {text}")


def _model(name: str, backend: str) -> Model:
    from rooflab.labs.llm.catalogue import model
    from rooflab.labs.llm.transformer import SIZES, loop_model

    return loop_model(name, backend=backend) if name in SIZES else model(name)


def _row(run: DecodeRun, predict: bool) -> tuple[str, ...]:
    from rooflab.count.si import percent, si
    from rooflab.labs.llm.decode_prediction import predict_decode

    told: tuple[str, ...] = ()
    if predict:
        prediction = predict_decode(
            run.model, run.batch, run.middle, dtype=run.dtype, threads=run.threads,
            backend=run.backend,
        )  # fmt: skip
        told = (si(prediction.total_s, "s"),)
    share = run.seconds("attention") / run.step_s
    return (
        str(run.batch), f"{run.tokens_per_s:.3g}", si(run.step_s, "s"), percent(share), *told,
        ", ".join(run.ways),
    )  # fmt: skip


NAME = Annotated[str | None, typer.Argument(help="A model, such as llama-2-7b; none lists all.")]
MACHINE = Annotated[str | None, typer.Option(help="A name from `rooflab machines`, or this.")]
BATCH = Annotated[int, typer.Option(help="Sequences at once.")]
CONTEXT = Annotated[int, typer.Option(help="Tokens of each, the new one included.")]
PHASE = Annotated[str, typer.Option(help="decode or prefill.")]
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
MEASURED = Annotated[float | None, typer.Option(help="Measured tokens a second, to be explained.")]


def model(
    command: typer.Context,
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
    measured: MEASURED = None,
) -> None:
    """Count a language model's step, and say what a machine makes of it: about, and at most."""
    if name is None:
        _list(command)
        return
    work = _work(name, phase, (batch, context, weights, kv, activations), quant)
    if machine is None:
        for option, value in _given(command).items():
            if option not in _WITHOUT_A_MACHINE:
                raise ValueError(f"{option}={value!r} says nothing without a machine: --machine")
        _counted(work)
        return
    from rooflab.cli.options import machine as chosen

    how = {"link": link, "bound": bound, "roofs": roofs, **_terms(_given(command))}
    on = chosen(machine)
    told = work.explain(on, measured, devices, **how)  # says what is wrong before anything is shown
    _counted(told.workload, told.workload.limits(on, devices, **how))
    _account(told)


_WITHOUT_A_MACHINE = ("name", "batch", "context", "phase", "weights", "kv", "activations", "quant")


def _given(command: typer.Context) -> dict[str, Any]:
    """The options that were given, by the names that they have on the command line."""
    sources = {option: command.get_parameter_source(option) for option in command.params}
    return {
        option.replace("_", "-"): command.params[option]
        for option, source in sources.items()
        if source is not None and source.name == "COMMANDLINE"
    }


def _terms(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are words, as the arguments that they stand for."""
    from rooflab.cli.terminal import seconds

    how: dict[str, Any] = {}
    for option in ("overhead", "link-latency"):
        if option in given:
            how[option.replace("-", "_")] = seconds(given[option], f"--{option}", zero=True)
    if "efficiency" in given:
        how["efficiency"] = _shares(given["efficiency"])
    return how


def _shares(text: str) -> dict[str, float]:
    """``compute=0.75,memory=0.85`` as a mapping."""
    shares = {}
    for part in text.split(","):
        name, _, share = part.partition("=")
        if name.strip() in shares:
            raise ValueError(f"--efficiency={text!r} names {name.strip()} twice")
        try:
            shares[name.strip()] = float(share)
        except ValueError:
            raise ValueError(
                f"--efficiency={text!r} must name shares, as in compute=0.75,memory=0.85"
            ) from None
    return shares


def _counted(work: Workload, limits: Mapping[str, str] | None = None) -> None:
    """What the step is, its kinds of operation, and the memory that it takes.

    ``limits``: what limits each kind on a machine.
    """
    from rooflab.count.si import si

    say(repr(work).splitlines()[0])
    limits = limits or {}
    rows = [
        (op.name, str(op.batch), si(op.flops, "FLOP"), si(op.bytes, "B"), f"{op.intensity:.4g}",
         limits.get(op.name, ""))
        for op in work.operations
    ]  # fmt: skip
    headings = ("operation", "runs", "FLOP", "bytes", "FLOP/B", "limit" if limits else "")
    table(headings, rows, right=(1, 2, 3, 4))
    parts = ", ".join(f"{name} {si(amount, 'B')}" for name, amount in work.memory.items())
    say(f"To hold: {si(work.memory_bytes, 'B')} ({parts}).")


def _account(told: Account) -> None:
    from rooflab.count.si import si, times

    say(told.fit)
    say(told.sentence)
    rows = [("weights, read once", si(told.start, "s"), "")]
    rows += [(f.name, times(f.factor), f.note) for f in told.factors]
    table(("step", "time", ""), rows, right=(1,))
    for note in told.estimate.notes:
        say(f"About: {note}.")
    most = "At most" if told.roofs == "catalogue" else "Overlapped"
    for note in told.bound.notes:
        say(f"{most}: {note}.")


def _work(name: str, phase: str, sizes: tuple[object, ...], quant: str | None) -> Workload:
    from rooflab.count.validation import unknown
    from rooflab.labs.llm.catalogue import model as found

    phase = phase.strip().lower()
    if phase not in (phases := ("decode", "prefill")):
        raise unknown("phase", phase, phases)
    step: Callable[..., Workload] = getattr(found(name), phase)
    return step(*sizes, quant=quant)


def _list(command: typer.Context) -> None:
    """All models; an option is refused, since it is of one model's step."""
    from rooflab.count.si import si
    from rooflab.labs.llm.catalogue import models

    for option, value in _given(command).items():
        raise ValueError(f"--{option}={value} needs a model, as in `rooflab model llama-2-7b`")
    rows = [
        (m.name, si(m.parameters), si(m.active_parameters), str(m.layers), str(m.hidden),
         f"{m.heads}/{m.kv_heads}", si(m.kv_bytes(1, 1), "B"), str(m.context))
        for m in models().values()
    ]  # fmt: skip
    headings = ("model", "params", "active", "layers", "hidden", "heads/KV", "KV a token", "limit")
    table(headings, rows, right=(1, 2, 3, 4, 5, 6, 7), keep=(0, 1))
    say("KV: bytes of the cache for one token in 16 bits; limit: context of its training.")
