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

INK = "#222222"
CEILING = "#6B6B6B"
GRID = "#E3E3E3"
PAPER = "#FFFFFF"
# The three painted faces of the box: the operands A, B and C of a product.
FACES = {"A": "#56B4E9", "B": "#F0E442", "C": "#009E73"}


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


CONTRAST = 4.5  # of words on paper, at least: WCAG 2.2, success criterion 1.4.3


@dataclass(frozen=True)
class Style:
    """How one operation looks: ``colour``, matplotlib ``marker`` and the SVG ``shape`` of it."""

    colour: str
    marker: str
    shape: str

    @property
    def ink(self) -> str:
        """The colour of its words: those of a label, or white ones on a button of this colour."""
        return ink(self.colour)


def contrast(colour: str, other: str = PAPER) -> float:
    """Return the contrast of two colours ``#rrggbb`` as WCAG 2.2 defines it, from 1 to 21."""
    light, dark = sorted((_luminance(colour), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, from 0 (black) to 1 (white)."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink(colour: str) -> str:
    """Return ``colour`` (``#rrggbb``) for words: darker where it is too pale to be read on
    paper."""
    channels = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    shades = (
        "#" + "".join(f"{channel * percent // 100:02X}" for channel in channels)
        for percent in range(100, -1, -1)
    )
    return next(shade for shade in shades if contrast(shade) > CONTRAST + 0.1)


_STYLES = {
    "axpy": Style("#0072B2", "o", "circle"),
    "gemv": Style("#D55E00", "s", "square"),
    "gemm": Style("#000000", "D", "diamond"),
    "dot": Style("#CC79A7", "^", "triangle"),
}
_OTHER = Style("#882255", "v", "down")


def style(operation: str) -> Style:
    """Return the look of an operation by its name; all further operations share one look."""
    return _STYLES.get(operation, _OTHER)


def has_style(operation: str) -> bool:
    """Whether an operation of that name has a marker of its own."""
    return operation in _STYLES


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
