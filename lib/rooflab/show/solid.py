"""The M×N×K box as a drawing: lengths of its edges, its three painted faces, its still picture.

N runs to the right, M down, K back to the upper right. So the front is C (M×N), the top B (K×N)
and the right side A (M×K): all three faces that carry operands are in sight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from rooflab.show import theme

WIDTH, HEIGHT = 420, 330
# Left, top, right and bottom of where the box itself is drawn, in pixels: around it stand the
# title, the edges' names (M to the left, K to the right, N below) and a note, and never on each
# other.
AREA = (94, 32, 352, 278)
# Directions of the edges in pixels per pixel of length; y grows downwards.
ACROSS = {"n": (1.0, 0.0), "m": (0.0, 1.0), "k": (0.52, -0.42)}
SCALES = ("log", "true")
SCALE_WORDS = {
    "log": "log edges: each doubling adds the same length",
    "true": "true proportions; the longest edge keeps its length",
}
_BASE, _DOUBLING, _LONGEST = 8.0, 8.4, 150.0


def edge_lengths(edges: Sequence[int], scale: str) -> tuple[float, float, float]:
    """Return the drawn lengths of M, N and K in pixels; a true edge is never thinner than 1.5."""
    if scale == "log":
        m, n, k = (_BASE + _DOUBLING * math.log2(edge) for edge in edges)
    else:
        m, n, k = (max(1.5, _LONGEST * edge / max(edges)) for edge in edges)
    return m, n, k


def corners(lengths: Sequence[float]) -> dict[str, list[tuple[float, float]]]:
    """Return the corners of faces A, B and C in pixels, the box centred in its area."""
    m, n, k = lengths
    step = {
        axis: (x * length, y * length) for (axis, (x, y)), length in zip(ACROSS.items(), (n, m, k))
    }
    width, height = n + step["k"][0], m - step["k"][1]
    x, y = (AREA[0] + AREA[2] - width) / 2, (AREA[1] + AREA[3] - height) / 2 - step["k"][1]

    def at(*axes: str) -> tuple[float, float]:
        return (x + sum(step[a][0] for a in axes), y + sum(step[a][1] for a in axes))

    return {
        "C": [at(), at("n"), at("n", "m"), at("m")],
        "B": [at(), at("n"), at("n", "k"), at("k")],
        "A": [at("n"), at("n", "m"), at("n", "m", "k"), at("n", "k")],
    }


def draw(
    figure: Figure, left: float, title: str, edges: Sequence[int], scale: str, note: str,
    letters: Sequence[str] = "ABC",
) -> None:  # fmt: skip
    """Draw the box on ``figure``, ``left`` pixels from its left edge, edges and faces named."""
    dots = figure.dpi
    wide, high = figure.get_figwidth() * dots, figure.get_figheight() * dots
    ax = figure.add_axes((left / wide, 0.5 - HEIGHT / high / 2, WIDTH / wide, HEIGHT / high))
    ax.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    ax.axis("off")
    faces = corners(edge_lengths(edges, scale))
    for name, points in faces.items():
        ax.add_patch(Polygon(points, fc=theme.FACES[name], ec=theme.INK, lw=1, joinstyle="round"))
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points
        if min(math.hypot(x1 - x0, y1 - y0), math.hypot(x2 - x1, y2 - y1)) > 18:
            middle = ((x0 + x2) / 2, (y0 + y2) / 2)
            letter = letters["ABC".index(name)]
            ax.text(*middle, letter, ha="center", va="center", weight="bold")
    (x, y), (right, _), (_, bottom), _ = faces["C"]
    back = faces["A"][2]
    small = {"fontsize": theme.SMALL, "va": "center"}
    ax.text((x + right) / 2, bottom + 21, f"N = {edges[1]}", ha="center", **small)
    ax.text(x - 7, (y + bottom) / 2, f"M = {edges[0]}", ha="right", **small)
    ax.text(
        (right + back[0]) / 2 + 8, (bottom + back[1]) / 2 + 5, f"K = {edges[2]}", ha="left", **small
    )
    ax.text(WIDTH / 2, 12, title, ha="center", weight="bold")
    ax.text(WIDTH / 2, HEIGHT - 8, note, ha="center", fontsize=theme.SMALL - 0.5, color="#555555")
