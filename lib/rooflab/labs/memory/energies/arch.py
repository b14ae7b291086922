"""The arch of energy beside the roof of time, both over the intensity, as shares of their best.

Two times overlap, so the roof has a corner. Two energies add up, so the arch has none, and passes
through one half at its balance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rooflab.count.blas import axpy, gemm, gemv
from rooflab.count.dtypes import DTypeLike
from rooflab.count.si import plain, si
from rooflab.count.validation import amount
from rooflab.labs.memory.energies.bill import share_text
from rooflab.labs.memory.energies.roofline import EnergyRoofline, energy_roofline
from rooflab.labs.memory.energies.table import EnergyTable
from rooflab.predict.catalogue import machine as as_machine
from rooflab.predict.machine import Machine
from rooflab.show.chart import Chart, Line, Panel, Point
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player
from rooflab.show.waiting import awaited

WIDE, NARROW, HEIGHT = 720, 400, 440
FINE = 4  # stops of the slider between an intensity and its double
BEYOND = 16  # times: how far the axis reaches beyond the balances


def energy_arch(
    table: str | EnergyTable = "horowitz-45nm",
    dtype: DTypeLike = "fp32",
    *,
    machine: Machine | str | None = None,
    start: float = 0.5,
    after: object = None,
) -> Player:
    """Show an energy roofline over the intensity, and the roofline of time beside it.

    A slider moves the intensity. Both curves are shares of their own best, FLOP a joule and FLOP a
    second. The colour tells which part costs more, carrying or computing. AXPY, GEMV and square
    products are marked where they lie.

    Parameters
    ----------
    table : str or EnergyTable, default "horowitz-45nm"
        What a byte and a multiply-add cost, see :func:`energy_tables`.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Number format.
    machine : Machine or str, optional
        Whose roof of time is drawn; None draws none.
    start : float, default 0.5
        Where the slider starts, in FLOP/byte: at the nearest of its stops.
    after : object, optional
        What :func:`rooflab.ask` returned, one or several: the picture stays covered until all
        are answered.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.memory.energy_arch(start=1).sentence)
    At 1 FLOP/byte a joule buys 6.07 GFLOP, 1.4 % of the most that it buys. Carrying takes 99 % ...
    """
    start = amount("start", start, "a number of FLOP/byte, above 0")
    arch = energy_roofline(table, dtype, machine=machine)
    whose = "" if machine is None else as_machine(machine).name
    marks = examples(dtype)
    scenes = (arch_scene(arch, marks, wide, float(start), whose) for wide in (WIDE, NARROW))
    return Player(*scenes, stem="energy-arch", after=awaited(after))


def examples(dtype: DTypeLike) -> dict[str, float]:
    """Name → FLOP/byte of operations of lessons 01 to 03, without caches."""
    found = {"AXPY": axpy(2**20, dtype), "GEMV": gemv(2**10, 2**10, dtype)}
    found |= {f"GEMM {n}": gemm(n, n, n, dtype) for n in (96, 1024, 8192)}
    return {name: op.intensity for name, op in found.items()}


def stops(arch: EnergyRoofline, marks: Mapping[str, float]) -> np.ndarray:
    """The intensities of the slider in FLOP/byte: all that is marked lies well between them."""
    turns = [one for one in (arch.balance, arch.time_balance) if math.isfinite(one)]
    first = math.floor(math.log2(min(*marks.values(), *turns))) - 1
    last = math.ceil(math.log2(max(*marks.values(), *(BEYOND * one for one in turns)))) + 1
    return np.array([2.0 ** (step / FINE) for step in range(FINE * first, FINE * last + 1)])


def sentence(arch: EnergyRoofline, at: float) -> str:
    """What the picture says of one intensity."""
    bought = arch.efficiency(at)
    moving = arch.per_byte / at / arch.joules_per_flop(at)
    said = (
        f"At {plain(at, 3)} FLOP/byte a joule buys {si(bought, 'FLOP')}, "
        f"{share_text(bought / arch.best)} of the most that it buys. "
        f"Carrying takes {share_text(moving)} of the energy."
    )
    if not math.isfinite(arch.time_balance):
        return said
    waits = at < arch.time_balance
    longer = "carrying takes longer than computing" if waits else "computing takes longer"
    rate = share_text(min(1.0, at / arch.time_balance))
    return f"{said} In time, {longer}: {rate} of the peak can be reached."


def arch_scene(
    arch: EnergyRoofline, marks: Mapping[str, float], wide: float, start: float, whose: str
) -> Scene:
    """The picture of ``arch``, ``wide`` pixels wide; the slider starts near ``start``."""

    def bought(i: Any) -> Any:
        return arch.efficiency(i) / arch.best

    at = stops(arch, marks)
    first = int(np.argmin(np.abs(np.log(at / start))))
    labels = [f"{plain(float(one), 3)} FLOP/byte" for one in at]
    scene = Scene(wide, HEIGHT, [Dim("i", labels, start=first)])
    curves: dict[str, Callable[[Any], Any]] = {"FLOP a joule": bought}
    lines = _in_two("FLOP a joule", bought, at, arch.balance, 2.8)
    if math.isfinite(arch.time_balance):
        curves["FLOP a second"] = roof = lambda i: np.minimum(1.0, i / arch.time_balance)
        lines += _in_two("FLOP a second", roof, at, arch.time_balance, 1.8, (7, 4))
    panel = Panel("share of the best", share_text, lines, room=(1.5, 2.0))
    chart = Chart(scene, [panel], (at[0], at[-1]), "FLOP/byte", lambda value: plain(value, 3))
    chart.draw()
    balance = Point(f"equal at {plain(arch.balance, 3)}", arch.balance, 0.5, "diamond")
    chart.points([balance, *(Point(name, one, bought(one)) for name, one in marks.items())])
    chart.slider("i", "intensity", at, [(0, curve(at)) for curve in curves.values()])
    scene.says = By("i", [sentence(arch, float(one)) for one in at])
    said = f"solid: {arch.name}, at best {si(arch.best, 'FLOP/J')}"
    if arch.peak is not None:
        said += f" · dashed: {whose}, at best {si(arch.peak, 'FLOP/s')}"
    scene.note(said)
    return scene


def _in_two(
    name: str, share: Callable[[Any], Any], at: np.ndarray, turn: float, width: float,
    dash: tuple[float, ...] = (),
) -> list[Line]:  # fmt: skip
    """A curve in two colours: left of its turn carrying costs more, right of it computing."""
    parts = (
        ("carrying", np.append(at[at < turn], turn)),
        ("computing", np.insert(at[at > turn], 0, turn)),
    )
    return [Line(name, ink, x, share(x), width, dash) for ink, x in parts]
