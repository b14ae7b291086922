"""What a widget with a picture shows of itself, and the empty axes of a roofline."""

from __future__ import annotations

import io
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeAlias

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rooflab.count.si import si
from rooflab.show import theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

#: What a widget says of itself to a front end: its data by MIME type, and the data's metadata.
Bundle: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
#: CSS pixels per inch of the figures; the PNGs have twice as many, for beamers and dense screens.
DPI = 100


def source(*names: str, beside: str = __file__) -> str:
    """The text of scripts or styles, joined: what anywidget takes as ``_esm`` or ``_css``.

    Each is a file beside the module ``beside`` or, where it has none, beside this one.
    """
    places = [[Path(module).with_name(name) for module in (beside, __file__)] for name in names]
    return "\n".join((own if own.exists() else shared).read_text("utf-8") for own, shared in places)


def png(figure: Figure, *, transparent: bool) -> bytes:
    """The figure as PNG at twice its CSS size; the same figure gives the same bytes."""
    file = io.BytesIO()
    with rc_context(theme.RC):
        figure.savefig(file, dpi=2 * DPI, transparent=transparent, metadata={"Software": None})
    return file.getvalue()


def free_model_id(stem: str) -> str:
    """``stem`` with digits behind it that no other widget has, nor ever had.

    A notebook that is opened again brings back the widgets of its last run, under their own ids:
    one of today under the same id would be shown with what yesterday's held.
    """
    return f"{stem}-{token_hex(6)}"


def living() -> Mapping[str, Any]:
    """All widgets of this kernel, by their ids."""
    from ipywidgets.widgets import widget

    # ipywidgets 7, which Colab has, keeps its widgets in the class.
    found: Mapping[str, Any] = (
        widget._instances if hasattr(widget, "_instances") else widget.Widget.widgets
    )
    return found


def twins(widget: Any, kind: type[Any], same: Callable[[Any], object]) -> list[Any]:
    """Living widgets of its ``kind`` that ask the ``same``, and are not as covered as it is.

    A cell that is run again makes a second axis, and what stands below waits for the first one.
    """
    return [
        other
        for other in list(living().values())
        if isinstance(other, kind)
        and same(other) == same(widget)
        and other.covered != widget.covered
    ]


def mimebundle(
    live: Any,
    picture: bytes,
    sentence: str,
    under: tuple[bytes, str] | None = None,
    cut: float | None = None,
    says: str = "",
) -> Bundle:
    """Add the still picture and its sentence to what a widget says of itself.

    A front end that can run the widget takes it; a file, GitHub or a mail shows the picture.
    ``under``: picture and sentence that a covered output covers. They go into the output's
    metadata, where nobody sees them, so that a lecture can uncover what was recorded.
    ``says``: words that a lecture sets beside the picture under a cover.
    ``cut``: where two pictures, one below the other, meet, as a share of the whole height; a
    lecture shows them one at a time.
    """
    data = live[0] if isinstance(live, tuple) else live
    data = dict(data if isinstance(data, Mapping) else {})
    data["image/png"] = b64encode(picture).decode("ascii")
    data["text/plain"] = sentence
    told: dict[str, Any] = {"image/png": {"alt": sentence}}
    own: dict[str, Any] = {}
    if under is not None:
        own["under"] = {"png": b64encode(under[0]).decode("ascii"), "alt": under[1]}
        own["under"] |= {"says": says} if says else {}
    if cut is not None:
        own["cut"] = round(cut, 4)
    return data, told | ({"rooflab": own} if own else {})


# The empty log-log axes of a roofline, and where a value lies on them in pixels.
#
# The frame is fixed in pixels, for matplotlib and for a browser alike: ``Frame.x`` and ``Frame.y``
# are the only place that turns values into pixels. A browser may show fewer decades of a tall
# frame; then it moves and scales what was placed here, and knows no more than that.


LETTERS = 12.8  # points of what stands on the axes: 18 pixels of a picture
ABOVE = 0.3  # decades above the highest ceiling, for its label
X_NAME, Y_NAME = "intensity: FLOP per byte moved", "FLOP per second"
X_DECADES = (-1.5, 4.5)  # 0.03 FLOP/byte (below fp64 AXPY) to 30 000 (above a 4-bit GEMM of 16384)


@dataclass(frozen=True)
class Frame:
    """Log-log axes of ``width`` × ``height`` pixels; limits are decades (log10).

    ``left``, ``right``, ``top``, ``bottom`` are the margins around the plotting area in pixels;
    y grows downwards, as on a screen.
    """

    y_lo: float
    y_hi: float
    x_lo: float = X_DECADES[0]
    x_hi: float = X_DECADES[1]
    width: int = 720
    height: int = 480
    left: int = 66
    right: int = 14
    top: int = 30
    bottom: int = 52

    @property
    def x_decade(self) -> float:
        """Pixels per factor of ten along x."""
        return (self.width - self.left - self.right) / (self.x_hi - self.x_lo)

    @property
    def y_decade(self) -> float:
        """Pixels per factor of ten along y."""
        return (self.height - self.top - self.bottom) / (self.y_hi - self.y_lo)

    def x(self, intensity: float) -> float:
        """Pixels from the left edge for ``intensity`` in FLOP/byte."""
        return self.left + (math.log10(intensity) - self.x_lo) * self.x_decade

    def y(self, rate: float) -> float:
        """Pixels from the top edge for ``rate`` in FLOP/s."""
        return self.height - self.bottom - (math.log10(rate) - self.y_lo) * self.y_decade

    def ticks(self) -> dict[str, list[Any]]:
        """Return where the decades of both axes lie in pixels, what stands at each, and the
        names."""
        return {
            "x": [[round(self.x(x), 2), theme.intensity(x)] for x in _tens(self.x_lo, self.x_hi)],
            "y": [[round(self.y(y), 2), rate_tick(y)] for y in _tens(self.y_lo, self.y_hi)],
            "names": [X_NAME, Y_NAME],
        }


def frame_for(rates: Iterable[float]) -> Frame:
    """Return a frame whose y axis holds all ``rates`` (FLOP/s), widened to half decades.

    It shows three decades at least: on fewer, every step looks like a cliff.
    """
    values = [rate for rate in rates if rate > 0]
    if not values:
        return Frame(9, 16)
    lo = math.floor(2 * math.log10(min(values))) / 2
    top = math.ceil(2 * (math.log10(max(values)) + ABOVE)) / 2
    return Frame(lo, max(top, lo + 3))


def around(*frames: Frame) -> tuple[float, float]:
    """Return the decades of FLOP/s, lowest and highest, that hold all ``frames``."""
    return min(frame.y_lo for frame in frames), max(frame.y_hi for frame in frames)


def figure(width: int, height: int, dpi: int = DPI) -> Figure:
    """Return a Figure of ``width`` × ``height`` pixels with its own Agg canvas (never pyplot's)."""
    fig = Figure((width / DPI, height / DPI), dpi=dpi)
    FigureCanvasAgg(fig)  # matplotlib 3.11 drops a canvas that it did not attach itself
    return fig


def empty(fig: Figure, frame: Frame, beside: int = 0, above: int = 0) -> Axes:
    """Draw the empty axes of ``frame`` on ``fig`` and return them.

    ``beside`` and ``above``: pixels that the figure has to the right of and above the frame.
    """
    w, h = frame.width + beside, frame.height + above
    across = frame.width - frame.left - frame.right
    up = frame.height - frame.top - frame.bottom
    with rc_context(theme.RC | {"font.size": LETTERS}):
        ax = fig.add_axes((frame.left / w, frame.bottom / h, across / w, up / h))
        dress(ax, (10**frame.x_lo, 10**frame.x_hi), (10**frame.y_lo, 10**frame.y_hi))
    return ax


def dress(ax: Axes, xlim: tuple[float, float], ylim: tuple[float, float]) -> None:
    """Give ``ax`` the log-log scales, grid, ticks and labels of a roofline."""
    ax.set(xscale="log", yscale="log", xlim=xlim, ylim=ylim)
    ax.set_xlabel(X_NAME)
    # Above the axis and level: no head has to turn, and no width is lost.
    ax.annotate(Y_NAME, (0, 1), (4, 7), "axes fraction", "offset points", va="bottom", ha="left")
    _ticks(ax.xaxis, xlim, theme.intensity)
    _ticks(ax.yaxis, ylim, rate_tick)
    ax.grid(True, which="major", color=theme.GRID, linewidth=0.8)
    ax.tick_params(which="minor", length=0)
    ax.tick_params(which="major", length=3)
    ax.set_axisbelow(True)


def _ticks(axis: Axis, limits: tuple[float, float], label: Callable[[float], str]) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    tens = _tens(*(math.log10(limit) for limit in limits))
    axis.set_major_locator(FixedLocator(tens))
    axis.set_ticklabels([label(ten) for ten in tens])
    axis.set_minor_locator(NullLocator())


def rate_tick(rate: float) -> str:
    """Return what stands at a power of ten of FLOP/s: ``1 G``, ``10 G``, ``100 G``."""
    return si(rate, "", digits=1)


def _tens(lo: float, hi: float) -> list[float]:
    """The powers of ten from 10**lo to 10**hi."""
    return [10.0**d for d in range(math.ceil(lo - 1e-9), math.floor(hi + 1e-9) + 1)]
