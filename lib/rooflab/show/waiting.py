"""What waits for a guess and comes by itself after it: printed lines, conclusions, a picture."""

from __future__ import annotations

import html
import textwrap
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import anywidget
import numpy as np
import traitlets

from rooflab.show import canvas
from rooflab.show.scene import Scene, painter

WIDTH = 720  # CSS pixels of what stands in the place of a picture
LINE, LONG = 24, 64  # pixels from line to line of its words, letters of one
PLOT = 70, 40, 690, 310  # left, top, right and bottom of the axes in it
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


ROOF = ((0, 0.1), (0.45, 0.85), (1, 0.85))
#: By kind of picture: what its axes are, across and up, and lines that it might hold, in shares of
#: the plot. They are drawn by hand: nothing of what is covered is in them.
SKETCHES: dict[str, tuple[str, str, tuple[tuple[tuple[float, float], ...], ...]]] = {
    "free-lunch": ("multiply-adds on each number", "time", (
        ((0, 0.3), (1, 0.3)), ((0, 0.3), (0.6, 1)), ((0, 0.3), (0.5, 0.3), (1, 0.9)))),
    "free-lunch rate": ("multiply-adds on each number", "work per second", (
        ROOF, ((0, 0.1), (1, 1)), ((0, 0.5), (1, 0.5)))),
    "roofline": ("FLOP per byte", "FLOP per second", (ROOF, ((0.68, 0.7),), ((0.68, 0.3),))),
    "layer": ("FLOP per byte", "FLOP per second", (ROOF,)),
    "morph": ("work in one call", "time of one call", (((0, 0.1), (1, 1)), ((0, 0.4), (1, 0.6)))),
    "film": ("context, in tokens", "time of a step", (
        ((0, 0.3), (1, 0.3)), ((0, 0.3), (1, 0.9)))),
    "mountain": ("working set, in bytes", "time of a hop", (
        ((0, 0.1), (0.3, 0.1), (0.3, 0.4), (0.7, 0.4), (0.7, 0.9), (1, 0.9)),
        ((0, 0.1), (1, 0.9)))),
    "energy-bars": ("N", "energy", (((0, 0.9), (1, 0.9)), ((0, 0.9), (1, 0.1)))),
    "trail": ("schedules, in the order of measuring", "FLOP per second", (
        ((0, 0.1), (0.2, 0.1), (0.2, 0.4), (0.6, 0.4), (0.6, 0.8), (1, 0.8)),
        ((0, 0.1), (1, 0.3)))),
}  # fmt: skip


def is_axis(value: object) -> bool:
    """Whether ``value`` is a guess axis (what ``rl.ask`` returns)."""
    return hasattr(value, "covered") and hasattr(value, "unit") and hasattr(value, "guess_at")


def awaited(after: Any) -> tuple[Any, ...]:
    """What the picture waits for, as a tuple: one thing, several, or the values of a dict.

    Raises TypeError for anything that is never covered.
    """
    if after is None:
        return ()
    if isinstance(after, Mapping):
        after = after.values()
    single = hasattr(after, "covered") or isinstance(after, str) or not isinstance(after, Iterable)
    found = (after,) if single else tuple(after)
    for one in found:
        if not (hasattr(one, "covered") and hasattr(one, "model_id")):
            raise TypeError(
                f"after={one!r} is no guess axis; pass what rl.ask returned, one or several"
            )
    return found


def waiting_sentence(things: Sequence[Any]) -> str:
    """What has to be done before the picture opens."""
    axes = sum(is_axis(one) for one in things)
    guesses = "guess" if axes == 1 else f"{COUNTS.get(axes, axes)} guesses"
    todo = [f"placed your {guesses}"] * (axes > 0) + ["sorted the cards"] * (axes < len(things))
    return f"Covered until you have {' and '.join(todo)} above."


class Waiting(anywidget.AnyWidget):
    """A widget that waits for ``after``: guess axes or sortings, if any."""

    #: Ids of the widgets that it waits for.
    waits = traitlets.List(traitlets.Unicode()).tag(sync=True)
    covered = traitlets.Bool(False).tag(sync=True)

    def __init__(self, after: tuple[Any, ...], **state: Any) -> None:
        self.after = after
        covered = any(one.covered for one in after)
        waits = [one.model_id for one in after]
        super().__init__(**{"waits": waits, "covered": covered} | state)
        for one in after:
            one.observe(self._look, "covered")

    def _look(self, change: Any) -> None:
        self.covered = any(one.covered for one in self.after)


def sketch(stem: str) -> Scene:
    """Return empty axes for that kind of picture, with lines that might be there."""
    (left, top, right, bottom), known = PLOT, stem in SKETCHES
    across, up, ways = SKETCHES.get(stem, ("", "", ()))
    scene = Scene(WIDTH, bottom + 46 if known else 96, [])
    if known:
        scene.line([(left, top), (left, bottom), (right, bottom)], "soft", 2)
        scene.text(left - 50, top - 14, up, "soft", size=18)
        scene.text(right, bottom + 26, across, "soft", size=18, anchor="end")
    if len(ways) > 1 and len({way[0] for way in ways}) == 1:  # where all of them begin is known
        scene.dot(left, bottom - ways[0][0][1] * (bottom - top), size=6)
    for way in ways:
        ends = [(left + x * (right - left), bottom - y * (bottom - top)) for x, y in way]
        if len(way) == 1:
            scene.dot(*ends[0], size=8, fill="key")
        else:
            scene.line(ends, "key", 3, dash=(2, 8))
    scene.text(WIDTH / 2 + 40 * known, scene.height / 2, "?", "key", size=60, anchor="middle")
    return scene


def as_svg(scene: Scene) -> list[Any]:
    """Return the marks of a scene that never changes as SVG: tag, attributes and words of each."""
    nodes: list[Any] = [["svg", {"viewBox": f"0 0 {scene.width} {scene.height}"}, ""]]
    for mark in scene.marks:
        now, look = mark.channels, mark.look
        if mark.kind == "line":
            ways = {"points": " ".join(f"{v:g}" for v in np.ravel(now["points"]))}
            style = f"stroke: var(--{now['ink']}); stroke-width: {look['width']}"
            dash = {"stroke-dasharray": " ".join(map(str, look["dash"])), "style": style}
            nodes.append(["polyline", ways | dash, ""])
            continue
        (x, y), fill = np.ravel(now["at"])[:2].tolist(), f"fill: var(--{now['fill']})"
        if mark.kind == "dot":
            nodes.append(["circle", {"cx": x, "cy": y, "r": look["size"], "style": fill}, ""])
        else:
            style = f"{fill}; font-size: {look['size']}px; text-anchor: {now['anchor']}"
            nodes.append(["text", {"x": x, "y": y, "style": style}, now["text"]])
    return nodes


def covered(sentence: str, question: str = "", stem: str = "") -> bytes:
    """PNG of the sketch of a kind of picture, above ``question`` and ``sentence``."""
    scene, rows = sketch(stem), textwrap.wrap(question, LONG)
    top = scene.height + 14
    scene.height = top + LINE * (len(rows) + 1)
    scene.rect(0, 0, WIDTH, scene.height, "soft", radius=10, opacity=0.07)
    for n, row in enumerate([*rows, sentence]):
        scene.text(WIDTH / 2, top + LINE * n, row, bold=n < len(rows), anchor="middle")
    return painter.still(scene)


class Said(Waiting):
    """The words and what they wait for. Make one with ``rl.show.say``."""

    _esm = canvas.source("overlay.js", "said.js")
    _css = canvas.source("said.css")
    page = traitlets.Unicode().tag(sync=True)
    #: What stands there until then.
    sentence = traitlets.Unicode().tag(sync=True)

    def __init__(self, what: tuple[Any, ...], after: tuple[Any, ...]) -> None:
        self.what = what
        held = {"page": _page(what), "sentence": waiting_sentence(after)}
        super().__init__(after, **held, model_id=canvas.free_model_id("said"))

    def __repr__(self) -> str:
        return self.sentence if self.covered else "\n".join(map(str, self.what))

    def _repr_mimebundle_(self, **kwargs: Any) -> canvas.Bundle:
        live = super()._repr_mimebundle_(**kwargs)
        data = dict((live[0] if isinstance(live, tuple) else live) or {})
        data["text/plain"] = repr(self)
        if not self.covered:
            data["text/markdown"] = _markdown(self.what)
        # A lecture shows no recording of what was covered when it was recorded.
        return data, {"rooflab": {"waits": True}} if self.covered else {}


def say(*what: object, after: object) -> Said:
    """Show ``what`` as soon as the guesses ``after`` are made; until then, only that it waits.

    Parameters
    ----------
    *what : str, Conclusion or Picture
        Texts, shown like printed lines, sentences of ``rl.conclude``, and pictures of ``rl.show``.
    after : GuessAxis, SortCards or iterable of them
        What ``rl.ask`` or ``rl.sort`` returned, one or several.

    Returns
    -------
    Said
        A widget; as text it is what it shows now.

    Examples
    --------
    >>> axis = rl.ask("01-speed-ratio", 100.0)
    >>> rl.show.say("GEMM is 100 times as fast.", after=axis)
    Covered until you have placed your guess above.
    >>> axis.covered = False
    >>> rl.show.say("GEMM is 100 times as fast.", after=axis)
    GEMM is 100 times as fast.
    """
    if not what:
        raise TypeError("what: give at least one text, picture or sentence of rl.conclude")
    things = awaited(after)
    if not things:
        raise TypeError(f"after={after!r} must be what rl.ask returned, one or several")
    return Said(what, things)


def _parts(what: Sequence[Any], write: Mapping[str, Callable[[Any], str]]) -> list[str]:
    """What is said, each by its kind: printed lines that follow each other belong together."""
    parts: list[str] = []
    for kind, group in groupby(what, key=_kind):
        ones = list(group)
        parts += map(write[kind], ["\n".join(map(str, ones))] if kind == "printed" else ones)
    return parts


def _kind(one: Any) -> str:
    if hasattr(one, "savefig"):
        return "picture"
    return "sentence" if hasattr(one, "_repr_markdown_") else "printed"


def _page(what: Sequence[Any]) -> str:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark").enable("table")
    write: dict[str, Callable[[Any], str]] = {
        "picture": _image,
        "sentence": lambda one: reader.render(one._repr_markdown_()),
        "printed": lambda text: f"<pre>{html.escape(text)}</pre>",
    }
    return "".join(_parts(what, write))


def _image(picture: Any) -> str:
    data = b64encode(canvas.png(picture, transparent=False)).decode("ascii")
    return f'<img alt="{html.escape(_words(picture))}" src="data:image/png;base64,{data}">'


def _words(picture: Any) -> str:
    return getattr(picture, "words", "") or "A picture; the text around it says what it shows."


def _markdown(what: Sequence[Any]) -> str:
    write: dict[str, Callable[[Any], str]] = {
        "picture": _words,
        "sentence": lambda one: one._repr_markdown_(),
        "printed": lambda text: f"```text\n{text}\n```",
    }
    return "\n\n".join(_parts(what, write))
