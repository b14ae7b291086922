"""Colours, markers, sizes and number formats: one look for figures, widgets and the site.

The colours are Okabe and Ito's (told apart with every common colour blindness); each operation
also has its own marker, so a picture survives a black-and-white printer.
"""

from __future__ import annotations

from dataclasses import dataclass

from rooflab.count.si import si

INK = "#222222"
CEILING = "#6B6B6B"
GRID = "#E3E3E3"
PAPER = "#FFFFFF"
WARN = "#B00020"
# The three painted faces of the box: the operands A, B and C of a product.
FACES = {"A": "#56B4E9", "B": "#F0E442", "C": "#009E73"}


@dataclass(frozen=True)
class Style:
    """How one operation looks: ``colour``, matplotlib ``marker`` and the SVG ``shape`` of it."""

    colour: str
    marker: str
    shape: str


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


# Points at 100 dpi; text stays readable from the back row when the picture fills half a beamer.
FONT = 11.6
SMALL = 11
MARKER = 10

RC = {
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
    if value >= 9999.5:
        return f"{value:,.0f}".replace(",", "\u202f")
    return f"{value:.4g}"


def ridge(value: float) -> str:
    """Format a ridge with three digits, in FLOP/byte: ``0.504``, ``13.9``, ``295``."""
    if value < 1:
        return f"{value:.3g}"  # not 504 m: no one reads a milli as part of a ratio
    return si(value) if value < 999.5 else intensity(value)


def count(value: int) -> str:
    """Format a number of things: ``4096``, ``131 072``, and ``16.8 million`` from a million on."""
    for limit, name in (
        (1e15, "quadrillion"),
        (1e12, "trillion"),
        (1e9, "billion"),
        (1e6, "million"),
    ):
        if value >= limit:
            return f"{si(value / limit)} {name}"
    return f"{value:,}".replace(",", "\u202f") if value > 9999 else str(value)
