"""The still of a scene: Matplotlib draws each mark where the scene says, in its colour."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.image import imread

from rooflab.show import theme
from rooflab.show.scene import By, Dim, Scene, painter


def pixels(scene: Scene, *states: dict) -> np.ndarray:
    """The still as an image of CSS pixels: [y, x] → red, green, blue."""
    image = imread(io.BytesIO(painter.still(scene, *states)))[..., :3]
    return image[1::2, 1::2]  # it is twice as fine


def rgb(name: str) -> np.ndarray:
    colour = theme.colour(name)
    return np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255


def sheet() -> Scene:
    return Scene(120, 80, [Dim("n", ["a", "b"])])


def is_(image: np.ndarray, x: int, y: int, name: str) -> bool:
    return bool(np.abs(image[y, x] - rgb(name)).max() < 0.02)


def test_a_rectangle_fills_its_box_and_nothing_else() -> None:
    scene = sheet()
    scene.rect(10, 20, By("n", [30, 60]), 40, "carrying", radius=0)
    for n, right in ((0, 40), (1, 70)):
        image = pixels(scene, {"n": n})
        assert image.shape == (80, 120, 3)
        assert is_(image, 12, 22, "carrying") and is_(image, right - 2, 57, "carrying")
        assert is_(image, right + 2, 40, "paper") and is_(image, 12, 17, "paper")


def test_a_line_has_its_colour_and_stays_in_its_clip() -> None:
    scene = sheet()
    scene.line([(0, 40), (120, 40)], "computing", 6, clip=(0, 0, 60, 80))
    image = pixels(scene)
    assert is_(image, 30, 40, "computing") and is_(image, 90, 40, "paper")


def test_a_marker_covers_its_middle_and_not_its_surroundings() -> None:
    for shape in ["circle", "square", "diamond", "triangle", "down"]:
        scene = sheet()
        scene.dot(60, 40, shape, 12, fill="mine", ink="ink", width=2)
        image = pixels(scene)
        assert is_(image, 60, 40, "mine")
        assert is_(image, 60 - 18, 40, "paper") and is_(image, 60, 40 + 18, "paper")


def test_later_marks_lie_on_earlier_ones_and_opacity_mixes() -> None:
    scene = sheet()
    scene.rect(0, 0, 120, 80, "ink", radius=0)
    scene.rect(40, 20, 40, 40, "paper", radius=0, opacity=0.5)
    image = pixels(scene)
    np.testing.assert_allclose(image[40, 60], (rgb("ink") + rgb("paper")) / 2, atol=0.01)


def test_text_stands_on_its_baseline_at_its_anchor() -> None:
    boxes = {}
    for anchor in ("start", "middle", "end"):
        scene = sheet()
        scene.text(60, 40, "HHH", anchor=anchor, size=20)
        dark = np.argwhere(pixels(scene).mean(2) < 0.5)
        boxes[anchor] = (*dark.min(0), *dark.max(0))
        assert dark.max(0)[0] == pytest.approx(39, abs=1), "the foot of the letters"
    assert boxes["start"][1] == pytest.approx(61, abs=2)
    assert boxes["end"][3] == pytest.approx(58, abs=2)
    assert (boxes["middle"][1] + boxes["middle"][3]) / 2 == pytest.approx(60, abs=1)


def test_dashes_by_state_leave_gaps_where_there_are_some() -> None:
    scene = sheet()
    scene.line([(0, 40), (120, 40)], "ink", 4, dash=By("n", ["", "10 10"]))
    shares = [(pixels(scene, {"n": n})[40].mean(1) < 0.5).mean() for n in (0, 1)]
    assert shares[0] > 0.95
    assert shares[1] == pytest.approx(0.5, abs=0.1)


def test_a_page_has_its_title_above_the_sheet_and_its_words_below() -> None:
    scene = sheet()
    scene.rect(0, 0, 120, 80, By("n", ["carrying", "computing"]), radius=0)

    def page(title: str, lines: list[str], **state: int) -> np.ndarray:
        return imread(io.BytesIO(painter.page(scene, title, lines, **state)))[1::2, 1::2, :3]

    short, long = page("A", ["b"]), page("A", ["b", "c", "d"])
    assert len(long) == len(short) + 2 * painter.ROW and short.shape[1] == 120
    top = painter.ROW + painter.MARGIN
    for image, lines in ((short, 1), (long, 3)):
        foot = image[top + 80 :]
        assert is_(image, 60, top + 2, "carrying") and is_(image, 60, top + 77, "carrying")
        rows = (foot[:, :40] < 0.5).all(axis=2).any(axis=1)
        assert np.count_nonzero(np.diff(rows.astype(int)) == 1) == lines
        assert (image[:top] < 0.5).all(axis=2).any(), "the title"
    assert is_(page("A", ["b"], n=1), 60, top + 40, "computing")
    assert len(page("A", ["words " * 9])) > len(short), "what is too long goes on below"
