"""Letters of a roofline figure are large enough on a slide."""

from __future__ import annotations

from rooflab.show import canvas


def test_what_stands_on_the_axes_has_18_pixels() -> None:
    frame = canvas.Frame(8, 13)
    figure = canvas.figure(frame.width, frame.height)
    ax = canvas.empty(figure, frame)
    figure.canvas.draw()
    labels = [*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label]
    pixels = 100 / 72
    assert min(label.get_fontsize() for label in labels) * pixels >= 17.5
    for label in labels:
        box = label.get_window_extent()
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.width, label.get_text()
