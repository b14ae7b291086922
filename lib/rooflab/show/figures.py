"""Figures for a paper's column, a post, or axes of your own: their sizes, letters and files."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure

from rooflab.show import canvas, labels, theme
from rooflab.show.canvas import DPI, Bundle
from rooflab.show.labels import Crowd
from rooflab.show.scene import Scene, painter

FULL = 7.6  # inches of a figure in a notebook: its letters are as large as they get
LEAST = 0.65  # of these letters, at least: the smallest then has 6 points
NARROWEST, WIDEST = 3.0, 40.0  # inches
LOWEST = 2.5  # inches of height below which labels find no room
LINE, BETWEEN = 22, 24  # pixels of a line of the title; between axes that stand side by side
BOLD = 1.2  # widths of the letters on a stage that those of a title have
SUFFIXES = (".pdf", ".svg", ".png")
PRINT = 300  # dots per inch of a PNG
#: TrueType letters in a PDF, and in an SVG text that can be searched and edited.
FILES: dict[Any, Any] = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "rooflab"}
#: Where DejaVu is not installed, Verdana is as wide.
FAMILY, FAMILIES = "'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif"


class _Shown:
    """What a notebook shows of a figure, and a file keeps of it: the picture and its ``words``."""

    figure: Any
    words: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole figure to ``path``, with its words inside the file.

        A ``.pdf`` embeds its fonts, an ``.svg`` keeps text as text, a ``.png`` has 300 dots per
        inch. Raises ValueError for another suffix, OSError where the file cannot be written.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path={path!r} is a {type(path).__name__}; give a file's name")
        file, words = Path(path), self.words
        kind = file.suffix.lower()
        if kind not in SUFFIXES:
            raise ValueError(f"path={str(file)!r} must end in {', '.join(SUFFIXES)}")
        about: dict[str, Any] = {
            ".pdf": {"CreationDate": None, "Title": words.partition("\n")[0], "Subject": words},
            ".svg": {"Date": None, "Title": words.partition("\n")[0], "Description": words},
            ".png": {"Software": None, "Description": words},
        }[kind]
        with rc_context(FILES):
            self.figure.savefig(file, format=kind[1:], dpi=PRINT, metadata=about)
        if kind == ".svg":
            file.write_text(file.read_text("utf-8").replace(FAMILY, FAMILIES), "utf-8")

    def _repr_mimebundle_(self, **kwargs: Any) -> Bundle:
        if self.figure.canvas.manager is not None:  # pyplot shows it at the end of the cell
            return {"text/plain": self.words}, {}
        return canvas.mimebundle({}, canvas.png(self.figure, transparent=False), self.words)

    def __repr__(self) -> str:
        return self.words or super().__repr__()

    __str__ = __repr__


class Picture(_Shown, Figure):
    """A matplotlib figure that a notebook shows by itself, with ``words`` as its text twin.

    IPython draws figures only after pyplot was imported, which this package never does.

    Examples
    --------
    >>> figure = rl.show.roofline("H100-SXM")
    >>> isinstance(figure, rl.show.Picture)
    True
    >>> print(figure.words.splitlines()[0])
    Roofs of NVIDIA H100 SXM5 80 GB from its datasheet: a promise, not a measurement.
    """

    words = ""


@dataclass(frozen=True, repr=False)
class Panel(_Shown):
    """What was drawn into axes of yours: the ``axes``, and ``words`` that say what they show.

    >>> from matplotlib.figure import Figure
    >>> panel = rl.show.roofline("H100-SXM", ax=Figure().add_subplot())
    >>> print(panel.words.splitlines()[0])
    Roofs of NVIDIA H100 SXM5 80 GB from its datasheet: a promise, not a measurement.
    """

    axes: tuple[Axes, ...]
    words: str

    @property
    def figure(self) -> Figure | None:
        """The figure that the axes are part of."""
        return self.axes[0].get_figure(root=True)


@dataclass(frozen=True)
class Inset:
    """Pixels around the axes of a figure of its own, at full letters; ``top`` without title."""

    left: int = 64
    right: int = 26
    bottom: int = 50
    top: int = 40


@dataclass(frozen=True)
class Page:
    """Where a figure is drawn: its ``axes``, and ``share``, how large letters are there."""

    figure: Figure | SubFigure
    axes: tuple[Axes, ...]
    share: float

    @property
    def ax(self) -> Axes:
        """The axes, of a figure that has one."""
        return self.axes[0]

    def points(self, size: float) -> float:
        """``size`` in points at full letters, as it is here."""
        return size * self.share

    def crowd(self, ax: Axes) -> Crowd:
        """What stands on ``ax``, after its scales and ticks are set: from now on it stays there."""
        small = self.points(theme.FONT)
        ax.tick_params(which="major", labelsize=small, length=self.points(3), pad=self.points(3.5))
        ax.xaxis.label.set_fontsize(small)
        ax.yaxis.label.set_fontsize(small)
        ax.spines[["top", "right"]].set_visible(False)
        figure = ax.get_figure(root=True)
        if figure is not None and figure.get_layout_engine() is not None:
            figure.draw_without_rendering()  # moves the axes, and labels are placed in them
        return Crowd(ax, self.share)

    def done(self, words: str) -> Picture | Panel:
        """What the caller gets: the figure, or the axes of its own, with the ``words``."""
        if isinstance(self.figure, Picture):
            self.figure.words = words
            return self.figure
        return Panel(self.axes, words)


def share_of(inches: float, full: float = FULL) -> float:
    """How large letters are on a figure ``inches`` wide, of those on a ``full`` one."""
    return min(1.0, max(LEAST, inches / full))


def inches(argument: str, value: object, least: float = NARROWEST) -> float:
    """Return ``value`` in inches; raise TypeError or ValueError naming ``argument``."""
    right = "3.3 for a paper's column, 7 for a post" if argument == "width" else "such as 2.5"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{argument}={value!r} must be a number of inches, {right}")
    if not least <= float(value) <= WIDEST:
        raise ValueError(
            f"{argument}={value!r} is in inches and must be {least:g} to {WIDEST:g}, {right}"
        )
    return float(value)


def own_axes(ax: object, many: int = 1) -> tuple[Axes, ...]:
    """Return ``ax`` as ``many`` axes; raise TypeError naming it if it is none."""
    given = [ax] if many == 1 or not hasattr(ax, "__len__") else list(ax)  # type: ignore[call-overload]
    right = "one Axes" if many == 1 else f"{many} Axes, side by side"
    for one in given:
        if not isinstance(one, Axes):
            raise TypeError(f"ax={one!r} is a {type(one).__name__}; give {right} of Matplotlib")
        if one.name != "rectilinear":
            raise TypeError(f"ax: axes with a {one.name} projection cannot hold it; give {right}")
    if len(given) != many:
        raise TypeError(f"ax: {len(given)} given; give {right}")
    return tuple(given)


def sized(ax: object, width: object, height: object, title: str | None) -> None:
    """Raise TypeError if ``ax`` comes with a size: axes have one of their own."""
    for name, value in (("width", width), ("height", height)):
        if ax is not None and value is not None:
            raise TypeError(f"{name}={value!r}: ax has a size of its own; give one of the two")
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title={title!r} is a {type(title).__name__}; give text, '' for none")


@contextmanager
def page(
    ax: object, width: object, height: object, title: str | None, natural: str, *,
    high: float = 0.63, inset: Inset | None = None, panels: int = 1,
) -> Iterator[Page]:  # fmt: skip
    """Make room for a figure: axes in one ``width`` inches wide, or those in ``ax``.

    ``title`` None is the ``natural`` one, which axes of the caller's do without. ``high``: height
    of a figure by its width. ``panels``: how many axes there are, side by side.
    """
    sized(ax, width, height, title)
    if ax is not None:
        axes = own_axes(ax, panels)
        across = sum(one.get_window_extent().width for one in axes) / axes[0].figure.dpi
        share = share_of(across, FULL - 0.84)
        with rc_context({k: v for k, v in _rc(share).items() if k != "font.family"}):
            if title:
                look: dict[str, Any] = {"pad": 26 * share, "fontsize": share * (theme.FONT + 1)}
                axes[0].set_title(title, loc="left", weight="bold", **look)
            yield Page(axes[0].figure, axes, share)
        return
    wide = FULL if width is None else inches("width", width)
    tall = max(LOWEST, high * wide) if height is None else inches("height", height, 1.5)
    share, around = share_of(wide), inset or Inset()
    with rc_context(_rc(share)):
        lines = title_lines(natural if title is None else title, wide, around.left)
        made = _picture(wide, tall, lines, around.left)
        across, up = wide * DPI / share, tall * DPI / share
        top = around.top + (LINE * len(lines) if lines else -8)
        room = (across - around.left - around.right - BETWEEN * (panels - 1)) / panels
        lefts = [around.left + n * (room + BETWEEN) for n in range(panels)]
        foot, rise = around.bottom / up, 1 - (around.bottom + top) / up
        places = [(left / across, foot, room / across, rise) for left in lefts]
        yield Page(made, tuple(made.add_axes(place) for place in places), share)


def _rc(share: float) -> dict[Any, Any]:
    """The look of a figure, with letters and lines so large."""
    scaled = {"font.size": theme.FONT, "axes.linewidth": 0.8, "axes.labelpad": 4.0}
    return theme.RC | {name: size * share for name, size in scaled.items()}


def _picture(wide: float, tall: float, lines: Sequence[str], left: float) -> Picture:
    """A figure of so many inches, with the ``lines`` of a title from ``left`` pixels on."""
    made, share = Picture((wide, tall), dpi=DPI), share_of(wide)
    FigureCanvasAgg(made)
    place = left * share / DPI / wide, 1 - 8 * share / DPI / tall
    look: dict[str, Any] = {"va": "top", "weight": "bold", "linespacing": 1.25}
    made.text(*place, "\n".join(lines), fontsize=share * (theme.FONT + 1), **look)
    return made


def title_lines(title: str, wide: float, left: float) -> list[str]:
    """Return the lines of ``title`` on a figure ``wide`` inches wide, from ``left`` pixels on.

    A part goes to the next line as a whole; only one longer than a line is broken.
    """
    room, lines = wide * DPI / share_of(wide) - left - 8, list[str]()
    for part in filter(None, title.split(" · ")):
        joined = f"{lines[-1]} · {part}" if lines else part
        if lines and BOLD * labels.width(joined) <= room:
            lines[-1] = joined
        else:
            letters = int(room / BOLD / labels.width(part) * len(part))
            lines += textwrap.wrap(part, letters)
    return lines


def painted(
    build: Callable[[float], Scene], words: str, ax: object, width: object,
    title: str | None = None, natural: str = "",
) -> Picture | Panel:  # fmt: skip
    """Paint the scene that ``build`` makes for a width in pixels, as high as it needs.

    Raises ValueError naming ``ax`` if that is not high enough.
    """
    sized(ax, width, None, title)
    if ax is not None:
        (axes,) = own_axes(ax)
        if title:
            axes.set_title(title, loc="left", weight="bold")
        _paint_into(axes, build)
        return Panel((axes,), words)
    wide = FULL if width is None else inches("width", width)
    share = share_of(wide)
    scene = build(wide * DPI / share)
    with rc_context(_rc(share)):
        lines = title_lines(natural if title is None else title, wide, 8)
        high = scene.height + (LINE * len(lines) + 12 if lines else 0)
        made = _picture(wide, high * share / DPI, lines, 8)
        painter.paint(made.add_axes((0, 0, 1, scene.height / high)), scene, share)
    made.words = words
    return made


def _paint_into(axes: Axes, build: Callable[[float], Scene]) -> None:
    """Paint a scene into axes, with smaller letters if it is too high else."""
    box = axes.get_window_extent()
    wide, high = box.width / axes.figure.dpi, box.height / axes.figure.dpi
    needed = 0.0
    for share in dict.fromkeys((share_of(wide), LEAST)):
        scene = build(wide * DPI / share)
        needed = scene.height * share / DPI
        if needed <= high:
            painter.paint(axes, scene, share)
            axes.set_ylim(high * DPI / share, 0)
            return
    raise ValueError(
        f"ax is {wide:.2g} inches wide and {high:.2g} high; at this width the figure needs a "
        f"height of {needed + 0.05:.2g}"
    )
