"""The widget: sliders and pictures, tied together in the browser."""

from __future__ import annotations

from collections.abc import Sequence

import anywidget
import ipywidgets
import traitlets

from rooflab.show import overlay
from rooflab.show.axes import DPI
from rooflab.show.covered import Cover, covered
from rooflab.show.scene import Scene, Slider
from rooflab.show.still import still
from rooflab.show.waterfall_view import link_waterfall, stacked


class Overlay(anywidget.AnyWidget):
    """The picture itself: axes, roofs, markers and sentences."""

    _esm = overlay.source(
        "overlay.js", "reading.js", "live_chosen.js", "live_controls.js", "live_roofs.js",
        "live_names.js", "live_axes.js", "live_dots.js", "live.js",
    )  # fmt: skip
    _css = overlay.source("live.css")
    data = traitlets.Dict().tag(sync=True)
    # Ticks are the browser's own: the kernel need not send them back.
    i = traitlets.Int(0).tag(sync=True, echo_update=False)
    j = traitlets.Int(0).tag(sync=True, echo_update=False)
    k = traitlets.Int(0).tag(sync=True, echo_update=False)
    machine = traitlets.Unicode().tag(sync=True)
    dtype = traitlets.Unicode().tag(sync=True)
    cache = traitlets.Unicode("cold").tag(sync=True)
    ops = traitlets.List(traitlets.Unicode()).tag(sync=True)
    #: Decades of FLOP/s, lowest and highest, to which the axes are locked; none: they fit.
    decades = traitlets.List(traitlets.Float(), maxlen=2).tag(sync=True)
    #: Ids of the widgets that a drag changes: the kernel hears of them when the hand rests.
    hushed = traitlets.List(traitlets.Unicode()).tag(sync=True)


class Live(ipywidgets.VBox):
    """Sliders above, pictures below, tied together in the browser.

    ``view`` is the roofline's :class:`Overlay`: its ``machine``, ``dtype``, ``cache`` and ``ops``
    can be read and set from Python; ``sliders`` are ordinary ipywidgets. ``after``: guess axes or
    sortings; until all of them are uncovered, one sentence is shown and nothing else.
    """

    def __init__(
        self,
        scene: Scene,
        stem: str,
        start: dict[str, object],
        box=None,
        waterfall=None,
        after: Sequence[object] = (),
    ) -> None:
        self.scene, self.cover = scene, Cover(after) if after else None
        self.sliders = [_slider(slider) for slider in scene.sliders if len(slider.values) > 1]
        self.view = Overlay(
            data=scene.pack(),
            **{letter: slider.start for letter, slider in zip("ijk", scene.sliders)},
            **start,
        )
        self.box, self.waterfall = box, waterfall
        pictures = [self.view] if box is None else [self.view, box]
        for letter, slider in zip("ijk", self.sliders):
            for picture in pictures:
                ipywidgets.jslink((slider, "index"), (picture, letter))
        if box is not None:
            ipywidgets.jslink((self.view, "dtype"), (box, "dtype"))
        below = [] if waterfall is None else [waterfall]
        if waterfall is not None:
            link_waterfall(waterfall, self.sliders, self.view, box)
        moving = (*self.sliders, *pictures, *below)
        self.view.hushed = [widget.model_id for widget in moving]
        wide = "1100px" if box is None else "752px"  # beside the box the picture is at its own size
        self.view.layout = ipywidgets.Layout(flex="3 1 480px", max_width=wide, margin="0")
        row = ipywidgets.HBox(
            pictures, layout=ipywidgets.Layout(flex_flow="row wrap", grid_gap="8px")
        )
        over = [] if self.cover is None else [self.cover]
        super().__init__([*over, *self.sliders, row, *below], model_id=overlay.free_model_id(stem))
        self.add_class("rooflab-live")
        if box is None:
            self.add_class("rl-alone")

    @property
    def covered(self) -> bool:
        """Whether it still waits for a guess."""
        return self.cover is not None and self.cover.covered

    @property
    def sentence(self) -> str:
        """What the picture shows now, in words, or what it waits for."""
        if self.covered:
            return self.cover.sentence
        return self._said(still(self.scene, self.view, self.box).words)

    def _said(self, words: str) -> str:
        return words if self.waterfall is None else f"{words}\n{self.waterfall.sentence}"

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        picture = still(self.scene, self.view, self.box)
        below = self.waterfall and self.waterfall.picture(round(picture.get_figwidth() * DPI))
        words, live = self._said(picture.words), super()._repr_mimebundle_(**kwargs)
        png, cut = overlay.png(picture, transparent=False), None
        if below:
            png = stacked([picture, below])
            cut = picture.get_figheight() / (picture.get_figheight() + below.get_figheight())
        if not self.covered:
            return overlay.mimebundle(live, png, words, cut=cut)
        over, under = self.cover.sentence, (png, "The live roofline, uncovered.")
        return overlay.mimebundle(live, covered(over), over, under, cut)


def _slider(slider: Slider) -> ipywidgets.SelectionSlider:
    widget = ipywidgets.SelectionSlider(
        options=[(str(value), value) for value in slider.values],
        index=slider.start,
        description=slider.name,
        continuous_update=True,
        layout=ipywidgets.Layout(width="min(720px, 98%)"),
    )
    widget.add_class("rooflab-slider")
    return widget
