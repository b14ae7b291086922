"""Figures for papers and posts: columns and pages, axes of one's own, files that keep letters."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from functools import cache
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread

import rooflab as rl
from rooflab.labs.golf import ChunkSweep, golf
from rooflab.show import theme
from rooflab.show.figures import PRINT
from tests.labs.llm.test_layer_time import timed
from tests.support.text_overlap import outside, overlapping, written

OPS = [rl.axpy(2**24), rl.gemv(4096, 4096), rl.gemm(4096, 4096, 4096)]
HERE = rl.recording("epyc-2core-vm")
ROOFS = [rl.Roofline(HERE.at(threads=1), "fp32"), rl.Roofline("h200-sxm", "bf16")]
TABLE = {"name": ["conv 3x3", "norm"], "intensity": [180.0, 0.6], "rate": [4e13, 1.6e12]}


@cache
def run() -> object:
    return rl.golf(lambda x, y: 2 * x + y, np.ones(1 << 16), np.ones(1 << 16))


@cache
def swept() -> ChunkSweep:
    x, sizes = np.ones(1 << 14), (64, 256, 4096, 1 << 14)

    def f(x: object, chunk: int) -> float:
        return sum(float((2 * x[i : i + chunk]).sum()) for i in range(0, len(x), chunk))

    golfs = tuple(golf(lambda x, c=chunk: f(x, c), x, cache=8192) for chunk in sizes)
    return ChunkSweep(sizes, golfs, (9e-3, 2e-3, 5e-3, 6e-3), 1 << 14)


MARKS = [timed(1, 0.01), timed(4, 0.012), timed(64, 0.1)]
SCORES = [("hole 1", 3.0, 0.08), ("hole 1", 1.0, 0.03), ("hole 2", 2.5, 0.01)]
FIGURES: dict[str, Callable] = {
    "roofline": lambda **k: rl.show.roofline("h100-sxm", OPS, **k),
    "waterfall": lambda **k: rl.show.waterfall(OPS[2], "h100-sxm", seconds=4e-3, **k),
    "golf": lambda **k: rl.show.golf(run(), **k),
    "pieces": lambda **k: rl.show.pieces(swept(), **k),
    "scores": lambda **k: rl.show.scores(SCORES, [("hole 2", 1.5, 0.004)], **k),
    "tokens": lambda **k: rl.show.tokens(4096, 11008, ROOFS, MARKS, **k),
    "walk": lambda **k: rl.show.walk(4096, 11008, ROOFS, MARKS, **k),
}


@cache
def column(name: str) -> object:
    """The figure of that name, as wide as a column."""
    return FIGURES[name](width=3.3)


def own(width: float, height: float, **options: object) -> Figure:
    figure = Figure((width, height), **options)
    FigureCanvasAgg(figure)
    return figure


def axes_for(name: str) -> object:
    figure = own(7, 4.4)
    if name == "walk":
        return figure.subplots(1, 2, gridspec_kw={"top": 0.75})
    return figure.add_axes((0.15, 0.14, 0.81, 0.74))


def readable(figure: Figure) -> bool:
    """Whether all words are inside the figure, large enough, and apart."""
    return overlapping(figure) == [] and outside(figure) == []


@pytest.mark.parametrize("width", [3.3, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FIGURES)
def test_in_a_column_and_in_a_post_everything_can_be_read(name: str, width: float) -> None:
    figure = column(name) if width == 3.3 else FIGURES[name](width=width)
    assert figure.get_figwidth() == width and readable(figure)


def test_the_roofs_of_every_machine_fit_a_column() -> None:
    for name in list(rl.machines())[::14]:
        kind = next(one for one in ("fp32", "bf16", "fp16") if rl.machine(name).has_peak(one))
        ops = [rl.axpy(2**24, kind), rl.gemv(4096, 4096, kind), rl.gemm(4096, 4096, 4096, kind)]
        assert readable(rl.show.roofline(name, ops, width=3.3)), name


@pytest.mark.parametrize(
    ("machines", "points", "options"),
    [
        (["h200-sxm", "raspberry-pi-5", "mi300x"], OPS, {}),
        (HERE.machine, OPS, {"cache": "both", "overhead": True, "band": (4, 8)}),
        (HERE.machine, HERE.measurements[::9], {}),
        ("a100-sxm-80", [rl.show.Point(OPS[2], 2e13), rl.show.Point(OPS[2], 5e12, "guess"),
                         rl.show.Point(OPS[0], 2e11, "predicted"), OPS[1]], {"dtype": "bf16"}),
        ("h100-sxm", TABLE, {"dtype": ["fp64", "fp32", "bf16"]}),
    ],
)  # fmt: skip
def test_crowded_roofs_can_be_read_in_a_column(machines, points, options) -> None:
    assert readable(rl.show.roofline(machines, points, width=3.3, **options))


def test_slope_flat_part_and_calls_have_the_colours_of_the_course() -> None:
    figure = rl.show.roofline(HERE.machine, OPS, overhead=True)
    colours = {line.get_color() for line in figure.axes[0].lines if len(line.get_xdata()) > 1}
    assert {theme.CARRYING, theme.COMPUTING, theme.OVERHEAD} <= colours
    inks = {text.get_text().split()[0]: text.get_color() for text in figure.axes[0].texts}
    assert inks["memory"] == theme.CARRYING and inks["fp32"] == theme.COMPUTING


# Files.


@pytest.mark.parametrize("name", ["roofline", "golf"])
def test_a_pdf_embeds_its_fonts_as_truetype_and_keeps_words(name: str, tmp_path: Path) -> None:
    column(name).save(tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in data and b"/CIDFontType2" in data
    assert b"/Type3" not in data, "Type 3 fonts are what publishers send back"
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.S)
    pages = [zlib.decompress(one) for one in streams if one.startswith(b"\x78")]
    assert any(b" Tf" in page and (b" Tj" in page or b" TJ" in page) for page in pages)


@pytest.mark.parametrize("name", ["golf", "tokens"])
def test_an_svg_keeps_text_as_text_and_carries_its_words(name: str, tmp_path: Path) -> None:
    figure = column(name)
    figure.save(tmp_path / "a.svg")
    svg = (tmp_path / "a.svg").read_text("utf-8")
    found = " ".join(map(unescape, re.findall(r"<text[^>]*>([^<]*)</text>", svg)))
    for text in written(figure):
        for line in text.get_text().splitlines():
            assert " ".join(line.split()) in " ".join(found.split()), line
    assert "<dc:description>" in svg and "Verdana" in svg
    figure.save(tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text("utf-8") == svg, "the same figure, the same file"


def test_a_png_has_the_dots_of_print(tmp_path: Path) -> None:
    column("roofline").save(tmp_path / "a.PNG")
    assert imread(tmp_path / "a.PNG").shape[1] == pytest.approx(3.3 * PRINT, abs=1)


def test_a_file_of_another_kind_is_refused() -> None:
    for path, error, said in [
        ("a.jpeg", ValueError, r"path='a.jpeg' must end in \.pdf, \.svg, \.png"),
        ("a", ValueError, "must end in"),
        (3, TypeError, "path=3 is a int; give a file's name"),
    ]:
        with pytest.raises(error, match=said):
            column("roofline").save(path)


# Axes of one's own.


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_into_axes_of_ones_own(name: str) -> None:
    ax = axes_for(name)
    panel = FIGURES[name](ax=ax)
    assert isinstance(panel, rl.show.Panel)
    assert panel.axes == tuple(np.ravel(ax)) and panel.figure is panel.axes[0].figure
    assert panel.words == column(name).words and readable(panel.figure)


def test_what_is_drawn_into_them_is_shown_and_saved(tmp_path: Path) -> None:
    panel = FIGURES["tokens"](ax=axes_for("tokens"))
    data, about = panel._repr_mimebundle_()
    assert data["image/png"] and about["image/png"]["alt"] == panel.words
    panel.save(tmp_path / "a.svg")
    assert "<text" in (tmp_path / "a.svg").read_text("utf-8")


def test_labels_stay_in_their_place_when_a_layout_moves_the_axes() -> None:
    figure = own(6.6, 3, layout="constrained")
    for ax, name in zip(figure.subplots(1, 2), ("h100-sxm", "raspberry-pi-5"), strict=True):
        rl.show.roofline(name, OPS, ax=ax, title=name)
    assert readable(figure)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["h100-sxm", "raspberry-pi-5"]


def test_what_pyplot_shows_by_itself_is_not_shown_twice() -> None:
    figure = Figure((5, 4))
    panel = rl.show.roofline("h100-sxm", ax=figure.add_subplot())
    figure.canvas.manager = object()  # as pyplot does
    assert "image/png" not in panel._repr_mimebundle_()[0]


def test_axes_that_are_too_low_are_told_how_high_they_have_to_be() -> None:
    ax = Figure((3.3, 1)).add_axes((0, 0, 1, 1))
    with pytest.raises(ValueError, match=r"ax is 3.3 inches wide and 1 high; .* height of 3"):
        FIGURES["waterfall"](ax=ax)


def test_sizes_and_axes_that_cannot_be() -> None:
    for options, error, said in [
        ({"width": 760}, ValueError, "width=760 is in inches and must be 3 to 40, 3.3 for a paper"),
        ({"width": True}, TypeError, "width=True must be a number of inches"),
        ({"height": "high"}, TypeError, "height='high' must be a number of inches"),
        ({"height": 0}, ValueError, "height=0 is in inches"),
        ({"ax": 3}, TypeError, "ax=3 is a int; give one Axes of Matplotlib"),
        ({"ax": Figure().add_subplot(projection="polar")}, TypeError, "ax: axes with a polar"),
        ({"ax": Figure().add_subplot(), "width": 7}, TypeError, "width=7: ax has a size"),
        ({"title": 7}, TypeError, "title=7 is a int; give text"),
    ]:
        with pytest.raises(error, match=said):
            FIGURES["roofline"](**options)


def test_walk_wants_two_axes() -> None:
    with pytest.raises(TypeError, match="ax: 1 given; give 2 Axes, side by side"):
        FIGURES["walk"](ax=Figure().add_subplot())
