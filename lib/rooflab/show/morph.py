"""The morph: the learner's own points from time against work to the roofline, on one slider.

``rl.live.morph(measurements)``: time against work (nearly all points crushed into a corner), rate
against intensity, the same in factors of ten under the machine's roof, and last what a call costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import anywidget
import traitlets

from rooflab.measure.measurement import Measurement
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.show import overlay
from rooflab.show.morph_plot import LAST, geometry
from rooflab.show.morph_points import dots
from rooflab.show.morph_roof import machine_of
from rooflab.show.morph_still import still


class Morph(anywidget.AnyWidget):
    """The picture with its slider; ``at`` is 0 to 300, a hundred to each named stop."""

    _esm = overlay.source("overlay.js", "reading.js", "morph.js")
    _css = overlay.source("overlay.css", "morph.css")
    uid = traitlets.Unicode().tag(sync=True)
    geometry = traitlets.Dict().tag(sync=True)
    at = traitlets.Int(0, min=0, max=LAST).tag(sync=True)

    @property
    def sentence(self) -> str:
        """What the picture says at the named stop that is nearest."""
        return self.geometry["says"][round(self.at / 100)]

    @property
    def words(self) -> str:
        """The whole picture in words: the named stops, then every point."""
        return "\n".join([*self.geometry["says"], *(p["says"] for p in self.geometry["points"])])

    def still(self) -> bytes:
        """First and last stop as one PNG, drawn by matplotlib."""
        return still(self.geometry)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        return overlay.mimebundle(super()._repr_mimebundle_(**kwargs), self.still(), self.words)


def morph(
    measurements: Iterable[Measurement] | Measurement,
    *,
    machine: Machine | str | None = None,
    guesses: Mapping[Any, Any] | None = None,
) -> Morph:
    """Show ``measurements`` (from ``rl.measure``) on one slider from their times to the roofline.

    ``machine``: whose roof and call cost are drawn; None takes the machine they were measured on,
    if its roofs are stored or recorded. ``guesses``: label of an operation → guessed seconds, or
    what ``rl.guess`` returned; each hangs as a hollow marker with "off by ×k". Nothing is measured,
    and everything moves in the browser.

    Raises TypeError or ValueError for what is no measurement, for a guess about an operation that
    is not among them, and for one that is no positive number of seconds.
    """
    if isinstance(measurements, Iterable) and not isinstance(measurements, (str, Mapping)):
        measurements = list(measurements)
    seen = dots(measurements, None, guesses)
    where = _machine(machine) if machine is not None else machine_of(_listed(measurements))
    seen = dots(measurements, where, guesses)
    uid = overlay.free_model_id("rooflab-morph")
    return Morph(geometry=geometry(seen, where), uid=f"{uid}-clip", model_id=uid)


def _listed(measurements: Any) -> list[Measurement]:
    return [measurements] if isinstance(measurements, Measurement) else measurements
