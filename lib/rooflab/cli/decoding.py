"""``rooflab decode``: generate tokens with a real transformer here, and keep the runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.operations import BACKEND
from rooflab.cli.terminal import say, table

if TYPE_CHECKING:
    from rooflab.measure.decode_run import DecodeRun
    from rooflab.predict.workload_model import Model


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
    from rooflab.measure.backend import select
    from rooflab.measure.decode import decode_loop, loop_weights
    from rooflab.measure.decode_recording import record_decode

    backend = select(backend, threads).name
    chosen, batches = _model(model, backend), _batches(batch)
    sizes = {"context": context, "steps": steps, "backend": backend, "threads": threads}
    if record is None:
        held = loop_weights(chosen, dtype, backend)
        runs = tuple(
            decode_loop(chosen, each, weights=held, dtype=dtype, **sizes) for each in batches
        )
    else:
        runs = record_decode(
            record, [chosen], batches, **sizes, dtypes=(dtype,), folder=folder,
            overwrite=overwrite, progress=sys.stderr.isatty(),
        ).runs  # fmt: skip
    head = ("batch", "tokens/s", "a step", "attention", *(("predicted",) if predict else ()), "as")
    table(head, [_row(run, predict) for run in runs])
    for text in dict.fromkeys(text for run in runs for text in run.warnings):
        say(f"warning: {text}")


def _model(name: str, backend: str) -> Model:
    from rooflab.measure.decode_models import SIZES, loop_model
    from rooflab.predict.workload_catalogue import model

    return loop_model(name, backend=backend) if name in SIZES else model(name)


def _batches(text: str) -> list[int]:
    try:
        found = [int(each) for each in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise ValueError(f"--batch={text}: give one or more batch sizes, such as 1,4,16")
    return found


def _row(run: DecodeRun, predict: bool) -> tuple[str, ...]:
    from rooflab.count.si import percent, si
    from rooflab.measure.decode_predict import predict_decode

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
