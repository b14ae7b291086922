"""What a widget with a picture shows of itself, and the axes of a roofline."""

from __future__ import annotations

import io
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
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
    under: tuple[bytes, str, str] | None = None,
    cut: float | None = None,
) -> Bundle:
    """Add the still picture and its sentence to what a widget says of itself.

    A front end that can run the widget takes it; a file, GitHub or a mail shows the picture.
    ``under``: picture and sentence that a covered output covers, and words that a lecture sets
    beside that picture. They go into the output's metadata, where nobody sees them, so that a
    lecture can uncover what was recorded.
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
        image, alt, says = under
        own["under"] = {"png": b64encode(image).decode("ascii"), "alt": alt}
        own["under"] |= {"says": says} if says else {}
    if cut is not None:
        own["cut"] = round(cut, 4)
    return data, told | ({"rooflab": own} if own else {})


# The log-log axes of a roofline.


ABOVE = 0.3  # decades above the highest ceiling, for its label
X_NAME, Y_NAME = "intensity: FLOP per byte moved", "FLOP per second"
X_DECADES = (-1.5, 4.5)  # 0.03 FLOP/byte (below fp64 AXPY) to 30 000 (above a 4-bit GEMM of 16384)


def decades_for(rates: Iterable[float]) -> tuple[float, float]:
    """Return the decades of FLOP/s at the ends of axes that hold all ``rates``, in half decades.

    There are three decades at least: on fewer, every step looks like a cliff.
    """
    values = [rate for rate in rates if rate > 0]
    if not values:
        return 9, 16
    lo = math.floor(2 * math.log10(min(values))) / 2
    top = math.ceil(2 * (math.log10(max(values)) + ABOVE)) / 2
    return lo, max(top, lo + 3)


def figure(width: int, height: int, dpi: int = DPI) -> Figure:
    """Return a Figure of ``width`` × ``height`` pixels with its own Agg canvas (never pyplot's)."""
    fig = Figure((width / DPI, height / DPI), dpi=dpi)
    FigureCanvasAgg(fig)  # matplotlib 3.11 drops a canvas that it did not attach itself
    return fig


def dress(ax: Axes, xlim: tuple[float, float], ylim: tuple[float, float]) -> None:
    """Give ``ax`` the log-log scales, grid, ticks and labels of a roofline."""
    ax.set(xscale="log", yscale="log", xlim=xlim, ylim=ylim)
    ax.set_xlabel(X_NAME)
    # Above the axis and level: no head has to turn, and no width is lost.
    ax.annotate(Y_NAME, (0, 1), (4, 7), "axes fraction", "offset points", va="bottom", ha="left")
    for axis, limits, write in ((ax.xaxis, xlim, theme.intensity), (ax.yaxis, ylim, rate_tick)):
        lo, hi = (math.log10(limit) for limit in limits)
        tens = [10.0**d for d in range(math.ceil(lo - 1e-9), math.floor(hi + 1e-9) + 1)]
        axis.set_ticks(tens, [write(ten) for ten in tens])
    ax.minorticks_off()
    ax.grid(True, which="major", color=theme.GRID, linewidth=0.8)
    ax.tick_params(which="major", length=3)
    ax.set_axisbelow(True)


def rate_tick(rate: float) -> str:
    """Return what stands at a power of ten of FLOP/s: ``1 G``, ``10 G``, ``100 G``."""
    return si(rate, "", digits=1)
