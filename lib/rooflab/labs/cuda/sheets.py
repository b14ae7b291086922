"""What the pictures of this lab share: sheets for a screen and a phone, a key, lines of a grid."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from rooflab.show.scene import Scene
from rooflab.show.scene.player import Player

WIDE, NARROW, SMALL = 720, 400, 14  # pixels: widths of the sheets; letters
_TAKES = """

Parameters
----------
after : GuessAxis or iterable of them, optional
    What has to be guessed before the picture opens.

Returns
-------
Player
    A widget; its ``sentence`` says what the picture shows.

Examples
--------
"""


def picture(stem: str) -> Callable[[Callable[[int], Scene]], Callable[..., Player]]:
    """Turn a function that draws a sheet of some width into one that shows both sheets.

    That one takes ``after`` alone. Its docstring is what the function says, with its example.
    """

    def decorate(draw: Callable[[int], Scene]) -> Callable[..., Player]:
        def show(after: Any = None) -> Player:
            return Player(draw(WIDE), draw(NARROW), stem=stem, after=after)

        summary, example = inspect.cleandoc(draw.__doc__ or "").split("\n\n")
        show.__doc__ = f"{summary}{_TAKES}{example}\n"
        show.__name__ = show.__qualname__ = draw.__name__
        show.__module__ = draw.__module__
        return show

    return decorate


def key(scene: Scene, x: float, y: float, entries: Iterable[tuple[str, str | None, float]]) -> None:
    """Draw a key in one row: words, the ink that they explain (None: an outline), its opacity."""
    for words, fill, opacity in entries:
        edge: dict[str, Any] = {} if fill else {"ink": "soft", "dash": (4, 3)}
        scene.rect(x, y - 11, 14, 12, fill, radius=0, opacity=opacity, name="key", **edge)
        scene.text(x + 19, y, words, size=SMALL)
        x += 42 + 7.4 * len(words)


def grid(
    scene: Scene, at: tuple[float, float], shape: tuple[int, int], cell: tuple[float, float],
    ink: str, **look: Any,
) -> None:  # fmt: skip
    """Draw the lines around ``shape`` (rows, columns) cells of some width and height."""
    (left, top), (rows, columns), (long, high) = at, shape, cell
    right, foot = left + columns * long, top + rows * high
    for row in range(rows + 1):
        scene.line([(left, top + row * high), (right, top + row * high)], ink, 1, **look)
    for column in range(columns + 1):
        x = left + column * long
        scene.line([(x, top), (x, foot)], ink, 1, **look)
