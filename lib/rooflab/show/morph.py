"""The morph: the learner's own points from time against work to the roofline, on one slider.

``rl.live.morph(measurements)``: time against work (nearly all points crushed into a corner), speed
against intensity, the same in factors of ten under the machine's roof, and last what a call costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from rooflab.measure.measurement import Measurement
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.show import morph_asked, overlay
from rooflab.show.covered import awaited, covered, is_axis, waiting_sentence
from rooflab.show.morph_plot import LAST, geometry, stop_of
from rooflab.show.morph_points import dots
from rooflab.show.morph_roof import machine_of
from rooflab.show.morph_still import still


class Morph(anywidget.AnyWidget):
    """The picture with its slider; ``at`` is 0 to 300, a hundred to each named stop.

    ``after``: what has to be uncovered first, guess axes above all.
    """

    _esm = overlay.source("overlay.js", "reading.js", "morph.js")
    _css = overlay.source("overlay.css", "morph.css")
    uid = traitlets.Unicode().tag(sync=True)
    geometry = traitlets.Dict().tag(sync=True)
    at = traitlets.Int(0, min=0, max=LAST).tag(sync=True)
    #: Ids of the widgets that it waits for, and of those that its guesses are placed on.
    waits = traitlets.List(traitlets.Unicode()).tag(sync=True)
    cover = traitlets.Unicode().tag(sync=True)
    covered = traitlets.Bool(False).tag(sync=True)

    def __init__(self, after: Sequence[Any], axes: Sequence[Any], **traits: Any) -> None:
        self.after = tuple(after)
        self.axes = {axis.model_id: axis for axis in axes}
        super().__init__(
            waits=[one.model_id for one in self.after],
            cover=waiting_sentence(self.after) if self.after else "",
            covered=any(one.covered for one in self.after),
            **traits,
        )
        for one in self.after:
            one.observe(self._look, "covered")

    def _look(self, change: Any) -> None:
        self.covered = any(one.covered for one in self.after)

    @property
    def sentence(self) -> str:
        """What the picture says at the named stop that is nearest, or what it waits for."""
        return self.cover if self.covered else self.geometry["says"][stop_of(self.at)]

    @property
    def words(self) -> str:
        """The whole picture in words: the named stops, then every point."""
        if self.covered:
            return self.cover
        seen = morph_asked.resolved(self.geometry, self.axes)
        return "\n".join([*seen["says"], *(p["says"] for p in seen["points"])])

    def still(self) -> bytes:
        """First and last stop as one PNG, drawn by matplotlib."""
        if self.covered:
            return covered(self.cover)
        return self._drawn()

    def _drawn(self) -> bytes:
        return still(morph_asked.resolved(self.geometry, self.axes))

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        under = (self._drawn(), "First and last stop, uncovered.") if self.covered else None
        live = super()._repr_mimebundle_(**kwargs)
        return overlay.mimebundle(live, self.still(), self.words, under, cut=0.5)


def morph(
    measurements: Iterable[Measurement] | Measurement,
    *,
    machine: Machine | str | None = None,
    guesses: Mapping[Any, Any] | None = None,
    after: Any = None,
) -> Morph:
    """Show ``measurements`` (from ``rl.measure``) on one slider from their times to the roofline.

    ``machine``: whose roof and call cost are drawn; None takes the machine they were measured on,
    if its roofs are stored or recorded. ``guesses``: operation, or its label → guessed seconds, or
    what ``rl.guess`` or ``rl.ask`` returned; each hangs as a hollow marker with "off by ×k".
    ``after``: what ``rl.ask`` (or ``rl.sort``) returned, one or several: the picture stays covered
    until all of them are uncovered. As a dict, operation → what ``rl.ask`` returned, it gives the
    guesses as well. Nothing is measured, and everything moves in the browser.

    Raises TypeError or ValueError for what is no measurement, for a guess about an operation that
    is not among them, for one that is no positive number of seconds, and for an ``after`` that is
    never covered.
    """
    things = awaited(after)
    if isinstance(after, Mapping):
        if guesses is not None and not isinstance(guesses, Mapping):
            raise TypeError(f"guesses={guesses!r} must be a dict: an operation's label → seconds")
        axes = {key: one for key, one in after.items() if is_axis(one)}
        guesses = {**axes, **(guesses or {})}
    if isinstance(measurements, Iterable) and not isinstance(measurements, (str, Mapping)):
        measurements = list(measurements)
    seen = dots(measurements, None, guesses)
    where = _machine(machine) if machine is not None else machine_of(_listed(measurements))
    seen = dots(measurements, where, guesses)
    uid = overlay.free_model_id("rooflab-morph")
    asking = [one for one in (guesses or {}).values() if is_axis(one)]
    return Morph(things, asking, geometry=geometry(seen, where), uid=f"{uid}-clip", model_id=uid)


def _listed(measurements: Any) -> list[Measurement]:
    return [measurements] if isinstance(measurements, Measurement) else measurements
