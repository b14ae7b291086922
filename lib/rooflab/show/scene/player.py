"""The widget that plays a scene, and what every picture made of scenes can do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from rooflab.show import canvas, theme
from rooflab.show.scene import Dim, Scene, painter, sheets
from rooflab.show.waiting import Waiting, as_svg, awaited, covered, sketch, waiting_sentence

_SHARED = {"covered"}  # a dimension may stand for it: a picture that is uncovered by hand


class Player(Waiting):
    """A picture that moves in the browser: its scene, and a trait for each of its dimensions.

    ``scenes`` are the same picture on sheets of several widths, the widest first: the browser takes
    the widest whose letters are large enough where it stands. All have the same dimensions. A
    dimension's trait holds the name of its stop, or its number where stops have no names.

    ``after``: what has to be uncovered first, guess axes above all. ``follows``: dimension → (id of
    another widget, its trait, what is added to a number): the dimension takes what the other holds.
    ``kind``: CSS classes. Arguments named like dimensions say where they start.
    """

    if TYPE_CHECKING:  # the traits of its dimensions

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    _esm = canvas.source("overlay.js", "player.js", beside=__file__)
    _css = theme.css() + canvas.source("player.css", beside=__file__)
    #: The sheets as JSON: one text, which a notebook that is saved does not spread over lines.
    scenes = traitlets.Unicode().tag(sync=True)
    #: The tables of all sheets: 16-bit whole numbers, and 32-bit ones.
    numbers = traitlets.Bytes().tag(sync=True)
    exact = traitlets.Bytes().tag(sync=True)
    classes = traitlets.Unicode().tag(sync=True)
    follows = traitlets.Dict().tag(sync=True)
    #: Whether what a hand does here is an answer, which a kernel has to keep.
    asks = traitlets.Bool(False).tag(sync=True)
    #: What stands in its place until then.
    cover = traitlets.Unicode().tag(sync=True)
    #: Empty axes above that, as SVG: tag, attributes and words of each mark.
    sketch: Any = traitlets.List().tag(sync=True)

    def __init__(
        self,
        *scenes: Scene,
        stem: str,
        kind: str = "",
        after: Any = None,
        follows: Mapping[str, tuple[str, str, int]] | None = None,
        **start: Any,
    ) -> None:
        self.sheets, self.scene, things = scenes, scenes[0], awaited(after)
        rate = stem == "free-lunch" and self.scene.places()["view"] > 0
        self.cover_of = stem.removeprefix("rooflab-") + " rate" * rate
        names = {dim.name for dim in self.scene.told}
        if taken := sorted(name for name in names - _SHARED if hasattr(Player, name)):
            raise ValueError(
                f"dims: a dimension named {taken[0]!r} would hide the player's own {taken[0]!r}; "
                "give it another name"
            )
        own = {dim.name: _trait(dim) for dim in self.scene.told if not self.has_trait(dim.name)}
        self.add_traits(**own)
        places = self.scene.places(**{k: v for k, v in start.items() if k in own})
        for dim in self.scene.told:
            if dim.of is not None and dim.names is not None:
                start[dim.name] = dim.names[places[dim.name]]
        packed = sheets(*scenes)
        numbers, exact = packed[0].pop("buffer"), packed[0].pop("exact", b"")
        super().__init__(
            things,
            scenes=json.dumps(packed, separators=(",", ":"), ensure_ascii=False, default=float),
            numbers=numbers,
            exact=exact,
            classes=kind,
            follows={name: [list(found)] for name, found in (follows or {}).items()},
            cover=waiting_sentence(things) if things else "",
            sketch=as_svg(sketch(self.cover_of)) if things else [],
            model_id=canvas.free_model_id(stem),
            **start,
        )

    @property
    def packed(self) -> list[dict[str, Any]]:
        """The sheets as a browser has them, with their tables."""
        found: list[dict[str, Any]] = json.loads(self.scenes)
        found[0] |= {"buffer": self.numbers} | ({"exact": self.exact} if self.exact else {})
        return found

    @property
    def state(self) -> dict[str, Any]:
        """Where it stands along each dimension, as far as the kernel has heard."""
        return {dim.name: getattr(self, dim.name) for dim in self.scene.given}

    @property
    def sentence(self) -> str:
        """What it says now, or what it waits for."""
        return self.cover if self.covered else self.scene.sentence(**self.state)

    @property
    def words(self) -> str:
        """The whole picture in words: what stands beside its still."""
        return self.sentence

    def states(self) -> Sequence[Mapping[str, Any]]:
        """The states that its still shows, one below the other."""
        return [self.state]

    def still(self) -> bytes:
        """It as one PNG, drawn by Matplotlib; a frame with a sentence while it is covered."""
        if not self.covered:
            return self.drawn()
        asked = [one.plan.question for one in self.after if hasattr(one, "plan")]
        return covered(self.cover, asked[0] if len(asked) == 1 else "", self.cover_of)

    def drawn(self) -> bytes:
        """The PNG of what it shows, or would show."""
        return painter.still(self.scene, *self.states())

    def under(self) -> tuple[bytes, str, str]:
        """What it covers: the PNG, its sentence, and words for a lecture to set beside them."""
        return self.drawn(), self.scene.sentence(**self.states()[-1]), ""

    def _repr_mimebundle_(self, **kwargs: Any) -> canvas.Bundle:
        live = super()._repr_mimebundle_(**kwargs)
        under = self.under() if self.covered else None
        cut = 0.5 if len(self.states()) == 2 else None
        return canvas.mimebundle(live, self.still(), self.words, under, cut=cut)


_TRAITS: dict[type, Any] = {str: traitlets.Unicode, bool: traitlets.Bool, int: traitlets.Int}


def _trait(dim: Dim) -> Any:
    if dim.names is not None:
        first = dim.names[dim.start]
        trait: Any = _TRAITS.get(type(first), traitlets.Any)(first)
    else:
        number = traitlets.Float if dim.free else traitlets.Int
        trait = number(dim.start, min=0, max=len(dim.stops) - 1)
    # A hand may be further on by now: what the kernel was told need not come back.
    return trait.tag(sync=True, echo_update=False)
