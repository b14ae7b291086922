"""The live waterfall, below the live roofline on the same sliders and choices."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Mapping, Sequence

import anywidget
import ipywidgets
import numpy as np
import traitlets
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave

from rooflab.count.operation import Operation
from rooflab.predict.estimate import predict
from rooflab.predict.explain import explain
from rooflab.show import overlay, waterfall_pack
from rooflab.show.drawing import Picture
from rooflab.show.offers import Offer
from rooflab.show.polylines import missing
from rooflab.show.scene import Scene
from rooflab.show.waterfall_figure import draw
from rooflab.show.waterfall_steps import (
    SIDE,
    SINGLE,
    Fall,
    of_bound,
    of_explanation,
    of_prediction,
)


class WaterfallView(anywidget.AnyWidget):
    """Where the time goes: from the bound of one operation, factor by factor, to its time.

    Where the roofline shows both sides, the one that was measured at this size is explained.

    ``i`` and ``j`` are the sliders' indices; ``machine``, ``dtype``, ``cache`` and ``op`` are what
    is explained. A machine of which only the roofs are known stops at the bound, a size that was
    never measured at the prediction.
    """

    _esm = overlay.source("overlay.js", "reading.js", "waterfall.js")
    _css = overlay.source("live.css", "waterfall.css")
    data = traitlets.Dict().tag(sync=True)
    # Ticks are the browser's own: the kernel need not send them back.
    i = traitlets.Int(0).tag(sync=True, echo_update=False)
    j = traitlets.Int(0).tag(sync=True, echo_update=False)
    machine = traitlets.Unicode().tag(sync=True)
    dtype = traitlets.Unicode().tag(sync=True)
    cache = traitlets.Unicode("cold").tag(sync=True)
    op = traitlets.Unicode().tag(sync=True)

    def __init__(self, scene: Scene, **start: object) -> None:
        self.scene = scene
        whole = ipywidgets.Layout(width="100%", margin="0")
        super().__init__(data=waterfall_pack.pack(scene), layout=whole, **start)

    @property
    def state(self) -> str:
        """ "cold" or "warm": what is explained; of both the one that was measured, first cold."""
        if self.cache != "both":
            return self.cache
        offer, op = self._offer, self._op
        timed = {m.cache for m in offer.measurements if m.op.label == op.label}
        return "warm" if timed == {"warm"} else "cold"

    @property
    def _offer(self) -> Offer:
        return next(one for one in self.scene.offers if one.id == self.machine)

    @property
    def _op(self) -> Operation:
        kind = next(d for d in self.scene.dtypes if str(d) == self.dtype)
        series = next(s for s in self.scene.series if s.name == self.op)
        return waterfall_pack.ops_of(series, self.scene, kind)[self.i]

    @property
    def fall(self) -> Fall | str:
        """The waterfall as it is now, or the reason why there is none."""
        found = self._fall()
        if self.cache != "both" or not isinstance(found, Fall) or not found.reached:
            return found
        return dataclasses.replace(found, sentence=f"{found.sentence} {SIDE[self.state]}")

    def _fall(self) -> Fall | str:
        offer = self._offer
        m, kind = offer.machine, self.dtype
        reason = offer.reason if m is None else missing(m, kind, "cold")
        if reason:
            return f"{offer.name}: {reason}."
        if self.j:
            return SINGLE
        op = self._op
        for timed in offer.measurements:
            if timed.op.label == op.label and timed.cache == self.state:
                return of_explanation(explain(timed, m))
        return (
            of_prediction(op, m, predict(op, m, cache=self.state))
            if m.routines
            else of_bound(op, m)
        )

    @property
    def sentence(self) -> str:
        """What the waterfall shows now, in words."""
        now = self.fall
        return now.words if isinstance(now, Fall) else now

    def picture(self, width: int = 760) -> Picture | None:
        """The still waterfall as it is now, ``width`` pixels wide; None where there is none."""
        now = self.fall
        return draw(now, width) if isinstance(now, Fall) else None


def waterfall_of(scene: Scene, start: Mapping[str, object], box: object = None) -> WaterfallView:
    """The waterfall of ``scene``, where its sliders stand, with the choices of ``start``.

    It begins with the operation of ``box``, else with the first one that was measured there.
    """
    i, j, _ = (slider.start for slider in scene.sliders)
    choices = {key: start[key] for key in ("machine", "dtype", "cache")}
    view = WaterfallView(scene, i=i, j=j, op=scene.series[0].name, **choices)
    if box is not None:
        view.op = box.op
        return view
    for series in scene.series:
        view.op = series.name
        if isinstance(view.fall, Fall) and view.fall.reached == "measured":
            return view
    view.op = scene.series[0].name
    return view


def link_waterfall(
    waterfall: WaterfallView,
    sliders: Sequence[ipywidgets.Widget],
    roofline: ipywidgets.Widget,
    box: ipywidgets.Widget | None,
) -> None:
    """Tie ``waterfall`` to the sliders and choices of a live roofline, in the browser."""
    for letter, slider in zip("ij", sliders):
        ipywidgets.jslink((slider, "index"), (waterfall, letter))
    for choice in ("machine", "dtype", "cache"):
        ipywidgets.jslink((roofline, choice), (waterfall, choice))
    if box is not None:
        ipywidgets.jslink((box, "op"), (waterfall, "op"))


def stacked(pictures: Sequence[Figure]) -> bytes:
    """One PNG of several figures, the first on top; the same figures give the same bytes."""
    images = [imread(io.BytesIO(overlay.png(one, transparent=False)))[..., :3] for one in pictures]
    wide = max(image.shape[1] for image in images)
    page = [np.pad(i, ((0, 0), (0, wide - i.shape[1]), (0, 0)), constant_values=1) for i in images]
    file = io.BytesIO()
    imsave(file, np.concatenate(page), format="png", metadata={"Software": None})
    return file.getvalue()
