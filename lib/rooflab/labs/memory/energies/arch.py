"""The arch of energy beside the roof of time, both over the intensity, as shares of their best.

Two times overlap, so the roof has a corner. Two energies add up, so the arch has none, and passes
through one half at its balance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from rooflab.count.blas import axpy, gemm, gemv
from rooflab.count.dtypes import DTypeLike
from rooflab.count.si import plain, si
from rooflab.labs.memory.energies.bill import share_text
from rooflab.labs.memory.energies.roofline import EnergyRoofline, energy_roofline
from rooflab.labs.memory.energies.table import EnergyTable
from rooflab.predict.catalogue import machine as as_machine
from rooflab.predict.machine import Machine
from rooflab.show.labels import SIZE, width
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import LETTERS, Frame
from rooflab.show.scene.player import Player
from rooflab.show.waiting import awaited

WIDE, NARROW, HEIGHT = 720, 400, 440
LEFT, RIGHT, TOP, BOTTOM, SLIDER = 64, 16, 66, 352, 412  # the plot, and the slider below it
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
    if isinstance(start, bool) or not isinstance(start, Real):
        raise TypeError(f"start={start!r} must be a number of FLOP/byte")
    if not 0 < start < math.inf:
        raise ValueError(f"start={start!r} must be above 0 FLOP/byte, and finite")
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
    at = stops(arch, marks)
    first = int(np.argmin(np.abs(np.log(at / start))))
    labels = [f"{plain(float(one), 3)} FLOP/byte" for one in at]
    scene = Scene(wide, HEIGHT, [Dim("i", labels, start=first)])
    _Plot(arch, marks, scene, at).draw()
    scene.says = By("i", [sentence(arch, float(one)) for one in at])
    said = f"solid: {arch.name}, at best {si(arch.best, 'FLOP/J')}"
    if arch.peak is not None:
        said += f" · dashed: {whose}, at best {si(arch.peak, 'FLOP/s')}"
    scene.note(said)
    return scene


@dataclass(frozen=True)
class _Curve:
    """A share of the best over the intensity, and the intensity at which computing takes over."""

    share: Callable[[Any], Any]
    turn: float
    width: float
    dash: tuple[float, ...] = ()


class _Plot:
    """Both curves in one frame, as shares of their best over the intensity."""

    def __init__(
        self, arch: EnergyRoofline, marks: Mapping[str, float], scene: Scene, at: np.ndarray
    ) -> None:
        self.arch, self.marks, self.scene, self.at = arch, marks, scene, at
        self.frame = Frame(LEFT, TOP, scene.width - RIGHT, BOTTOM)
        self.x = self.frame.x(at[0], at[-1])
        self.curves = {"FLOP a joule": _Curve(self.bought, arch.balance, 2.8)}
        if math.isfinite(arch.time_balance):
            roof = _Curve(lambda i: np.minimum(1.0, i / arch.time_balance), arch.time_balance,
                          1.8, dash=(7, 4))  # fmt: skip
            self.curves["FLOP a second"] = roof
        least = min(float(curve.share(at[0])) for curve in self.curves.values())
        self.y = self.frame.y(least / 1.5, 2.0)

    def bought(self, at: Any) -> Any:
        """What a joule buys at an intensity, as a share of the most that it buys."""
        return self.arch.efficiency(at) / self.arch.best

    def draw(self) -> None:
        """Axes, curves, what is marked on them, and the intensity that is looked at."""
        scene, frame = self.scene, self.frame
        frame.y_ticks(scene, self.y, self.y.decades(), share_text)
        frame.x_ticks(scene, self.x, self.x.decades(), lambda value: plain(value, 3))
        scene.text(8, TOP - 14, "share of the best", "soft", size=LETTERS, name="axis")
        foot = frame.bottom + 38
        scene.text(frame.right, foot, "FLOP/byte", "soft", size=LETTERS, anchor="end", name="axis")
        frame.draw(scene)
        self._marker()
        self._key()
        for name, curve in self.curves.items():
            self._curve(name, curve)
        self._balance()
        self._examples()
        self._rings()

    def _curve(self, name: str, curve: _Curve) -> None:
        """A curve in two colours: left of its turn carrying costs more, right of it computing."""
        left, right = self.at[self.at < curve.turn], self.at[self.at > curve.turn]
        for ink, part in (("carrying", [*left, curve.turn]), ("computing", [curve.turn, *right])):
            points = [(self.x(one), self.y(curve.share(one))) for one in part]
            self.scene.line(points, ink, curve.width, dash=curve.dash, name=name)

    def _key(self) -> None:
        """Which line is which, above the plot."""
        end = self.frame.right
        for name, curve in reversed(self.curves.items()):
            self.scene.text(end, TOP - 38, name, size=LETTERS, anchor="end", name="key")
            start = end - 1.05 * width(name) * LETTERS / SIZE - 34
            ends = [(start, TOP - 43), (start + 26, TOP - 43)]
            self.scene.line(ends, "ink", curve.width, dash=curve.dash, name="key")
            end = start - 16

    def _balance(self) -> None:
        """Where carrying and computing cost the same energy."""
        at = self.arch.balance
        x, y = self.x(at), self.y(self.bought(at))
        self.scene.dot(x, y, "diamond", 7, fill="paper", ink="ink", width=2, name="balance")
        self.scene.text(
            x - 10, y - 8, f"equal at {plain(at, 3)}", size=LETTERS, anchor="end", halo=True,
            name="balance says",
        )  # fmt: skip

    def _examples(self) -> None:
        """Operations where they lie on the arch, with their names."""
        for name, at in self.marks.items():
            x, y = self.x(at), self.y(self.bought(at))
            self.scene.dot(x, y, "circle", 4.5, fill="ink", ink="paper", width=1, name=name)
            above = self.bought(at) > 0.9  # a curve so near to the roof leaves no room beside it
            self.scene.text(
                x if above else x + 9, y + (-10 if above else 17), name, size=LETTERS,
                anchor="middle" if above else "start", halo=True, name=f"name {name}",
            )  # fmt: skip

    def _marker(self) -> None:
        """The intensity that the slider is at, as a line, and what moves it."""
        along = self.x(self.at)
        x = By("i", along)
        ends = [(x, self.frame.top), (x, self.frame.bottom)]
        self.scene.line(ends, "key", 1.5, dash=(3, 3), name="now")
        self.scene.grip("i", x, 0, area=self.frame.box)
        self.scene.slider("i", "intensity", at=along.tolist(), y=SLIDER)

    def _rings(self) -> None:
        """Both shares at that intensity."""
        x = By("i", self.x(self.at))
        for name, curve in self.curves.items():
            y = By("i", self.y(curve.share(self.at)))
            self.scene.dot(x, y, size=6, fill=None, ink="key", width=2.5, name=f"ring {name}")
