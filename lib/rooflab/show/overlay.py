"""What a picture that moves in the browser needs from Python: empty axes as a PNG, and pixels.

matplotlib draws the axes once; the browser lays an SVG of the same size over them. Everything the
SVG shows is placed here, in CSS pixels with the origin at the top left, so the browser only moves.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rooflab.show import theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: CSS pixels per inch of the figures; the PNGs have twice as many, for beamers and dense screens.
DPI = 100


def source(*names: str) -> str:
    """The text of files beside this one, joined: what anywidget takes as ``_esm`` or ``_css``."""
    return "\n".join(Path(__file__).with_name(name).read_text("utf-8") for name in names)


def empty_axes(width: int, height: int, inset: tuple[int, int, int, int]) -> tuple[Figure, Axes]:
    """A figure of width × height CSS pixels with one axes, inset = (left, top, right, bottom)."""
    left, top, right, bottom = inset
    figure = Figure((width / DPI, height / DPI), dpi=DPI)
    FigureCanvasAgg(figure)  # matplotlib 3.11's pyplot.close would take a shared canvas away
    box = (left / width, bottom / height, 1 - (left + right) / width, 1 - (top + bottom) / height)
    return figure, figure.add_axes(box)


def png(figure: Figure, *, transparent: bool) -> bytes:
    """The figure as PNG at twice its CSS size; the same figure gives the same bytes."""
    file = io.BytesIO()
    with rc_context(theme.RC):
        figure.savefig(file, dpi=2 * DPI, transparent=transparent, metadata={"Software": None})
    return file.getvalue()


def pixels(axes: Axes, x: Any, y: Any) -> list[list[float]]:
    """Data points to [[px, py], ...] in CSS pixels, origin top left, one decimal."""
    import numpy as np

    points = np.column_stack(np.broadcast_arrays(np.atleast_1d(x), np.atleast_1d(y))).astype(float)
    placed = axes.transData.transform(points)
    height = axes.figure.bbox.height
    return [[round(float(px), 1), round(float(height - py), 1)] for px, py in placed]


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
    return widget._instances if hasattr(widget, "_instances") else widget.Widget.widgets


def twins(widget: Any, kind: type, same: Callable[[Any], object]) -> list[Any]:
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
) -> tuple[dict, dict]:
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
