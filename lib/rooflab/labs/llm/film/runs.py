"""Decode loops that were really run, on the film of their model, beside the estimate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rooflab.count.dtypes import dtype as _dtype
from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.film import words
from rooflab.labs.llm.film.grid import Grid, by_kind, totals
from rooflab.labs.llm.model import Model
from rooflab.predict.machine import Machine
from rooflab.show.rooflines.machine_choices import Offer


@dataclass(frozen=True)
class TimedRun:
    """A run on the film: indices of its weights format and batch (-1: no slider value).

    ``context``: positions in the middle of the run; ``dots``: kind → (FLOP/byte, FLOP/s).
    """

    w: int
    i: int
    context: int
    seconds: float
    sentence: str
    rate: str
    dots: dict[str, tuple[float, float]]


def as_runs(
    decode_run: DecodeRun | Iterable[DecodeRun] | None, model: Model
) -> tuple[DecodeRun, ...]:
    """``decode_run`` as a tuple of runs of ``model``; TypeError for anything else, ValueError for
    runs of another model, whose times would say nothing about this one."""
    if decode_run is None:
        return ()
    listed = tuple(decode_run) if isinstance(decode_run, Iterable) else (decode_run,)
    for one in listed:
        if not isinstance(one, DecodeRun):
            raise TypeError(
                f"decode_run={one!r} is no DecodeRun; pass what rl.decode_loop returned"
            )
        if one.model != model:
            raise ValueError(
                f"decode_run: it ran {one.model.name}, and the film is of {model.name}; both must "
                "be of one model"
            )
    return listed


def ran_on(run: DecodeRun, machine: Machine | None) -> bool:
    """Whether ``run`` was made on ``machine``, with the threads of its roofs."""
    return bool(machine and machine.id == run.machine and machine.threads in (None, run.threads))


def home(runs: Sequence[DecodeRun], offered: Sequence[Offer]) -> Offer | None:
    """The machine on offer that the first run was made on; ValueError if there is none."""
    if not runs:
        return None
    for offer in offered:
        if ran_on(runs[0], offer.machine):
            return offer
    raise ValueError(
        f"decode_run: it ran on {runs[0].machine} with {runs[0].threads} thread(s), and no machine "
        "on offer has those roofs; give machine=rl.this_machine()"
    )


def timed(runs: Sequence[DecodeRun], machine: Machine, grid: Grid) -> list[TimedRun]:
    """What ``runs`` measured on ``machine``, for the formats that ``grid`` has."""
    return [
        _timed_run(run, machine, grid)
        for run in runs
        if ran_on(run, machine) and _dtype(run.dtype) in grid.weights
    ]


def _timed_run(run: DecodeRun, machine: Machine, grid: Grid) -> TimedRun:
    kind = _dtype(run.dtype)
    expected = run.model.decode(run.batch, run.middle, kind, kind).seconds(machine)
    dots = {}
    for name, steps in by_kind(run.ledger()).items():
        flops, moved = totals(steps)
        seconds = sum(run.seconds(step.name) for step in steps)
        if flops and seconds > 0:
            dots[name] = (flops / moved, flops / seconds)
    place = grid.batches.index(run.batch) if run.batch in grid.batches else -1
    return TimedRun(
        grid.weights.index(kind), place, run.middle, run.step_s,
        words.measured(run.step_s, expected, run.middle, run.tokens_per_s),
        words.MEASURED.format(value=words.rate(run.tokens_per_s)), dots,
    )  # fmt: skip
