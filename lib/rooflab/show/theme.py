"""Colours, markers, sizes and number formats: one look for figures, widgets and the site.

The colours are Okabe and Ito's (told apart with every common colour blindness); each operation
also has its own marker, so a picture survives a black-and-white printer.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import inf
from typing import TYPE_CHECKING, Any

from rooflab.count.si import grouped, rounded, si

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

CEILING = "#6B6B6B"

#: The one language of colour: a name → what it is on white paper and on a dark page.
#: Carrying, computing and overhead have these three colours everywhere, so that a slope, a bar and
#: a step of a waterfall say the same. Operations have none: their markers and labels tell them.
#: The three stay apart for eyes that lack a cone, and are read as letters (tests/show/test_theme).
COLOURS = {
    "ink": ("#222222", "#E4E4E4"),
    "soft": ("#636363", "#A9A9A9"),
    "grid": ("#E3E3E3", "#3A3A3A"),
    "paper": ("#FFFFFF", "#111111"),
    "carrying": ("#007A76", "#2CC7B0"),
    "computing": ("#A31FAD", "#F06BEE"),
    "overhead": ("#7A4A00", "#D98A5A"),
    "mine": ("#E69F00", "#E69F00"),  # the learner's own guess, always with an edge of ink
    "mine-says": ("#7A5400", "#FFC24D"),  # the same in letters
    "key": ("#0B5CAD", "#7DB8FF"),  # what a hand can take hold of
    "warn": ("#B00020", "#FF8A8A"),  # what cannot be: more bytes than there is room for
}
INK, GRID, PAPER = (COLOURS[name][0] for name in ("ink", "grid", "paper"))
CARRYING, COMPUTING, OVERHEAD = (COLOURS[n][0] for n in ("carrying", "computing", "overhead"))


def colour(name: str, *, dark: bool = False) -> str:
    """Return the colour of that name in :data:`COLOURS` as ``#RRGGBB``."""
    return COLOURS[name][dark]


def css() -> str:
    """Return the colours as the variables of a picture in a browser, on light and dark pages."""
    rules = []
    for dark, place in enumerate((".rl-pic", ".rl-pic.rl-dark")):
        held = "".join(f" --{name}: {both[dark]};" for name, both in COLOURS.items())
        rules.append(f"{place} {{{held} }}")
    return "\n".join(rules)


@dataclass(frozen=True)
class Style:
    """How one operation looks: matplotlib ``marker`` and the SVG ``shape`` of it."""

    marker: str
    shape: str


STYLES = {
    "axpy": Style("o", "circle"),
    "gemv": Style("s", "square"),
    "gemm": Style("D", "diamond"),
    "dot": Style("^", "triangle"),
}
_OTHER = Style("v", "down")


def style(operation: str) -> Style:
    """Return the look of an operation by its name; all further operations share one look."""
    return STYLES.get(operation, _OTHER)


# Points at 100 dpi; text stays readable from the back row when the picture fills half a beamer.
FONT = 11.6
SMALL = 11
MARKER = 10

RC: dict[RcKeyType, Any] = {
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same picture on every machine
    "font.size": FONT,
    "text.color": INK,
    "axes.edgecolor": CEILING,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "xtick.color": CEILING,
    "ytick.color": CEILING,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
}


def intensity(value: float) -> str:
    """Format an intensity in FLOP/byte with four digits: ``682.7``, ``0.1667``, ``10 923``."""
    if 9999.5 <= value < inf:
        return grouped(round(value))
    return f"{value:.4g}"


def ridge(value: float) -> str:
    """Format a ridge with three digits, in FLOP/byte: ``0.504``, ``13.9``, ``295``."""
    if value < 1:
        return f"{value:.3g}"  # not 504 m: no one reads a milli as part of a ratio
    return si(value) if value < 999.5 else intensity(value)


_MILLIONS = {1e15: "quadrillion", 1e12: "trillion", 1e9: "billion", 1e6: "million"}


def count(value: int) -> str:
    """Format a number of things: ``4096``, ``131 072``, and ``16.8 million`` from a million on."""
    if value < 1e6:
        return grouped(value)
    if value >= 1e18:
        return f"{Decimal(value):.2e}"
    near = rounded(value, 3)  # 999.7 million are 1.00 billion
    limit = next(limit for limit in _MILLIONS if near >= limit)
    return f"{si(near / limit)} {_MILLIONS[limit]}"
