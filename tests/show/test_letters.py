"""Letters of the live pictures are large enough on a slide, and as wide as the layout reckons."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from rooflab.show import canvas

pytestmark = pytest.mark.browser

STAGE = "".join(files("rooflab.lecture").joinpath(f"{n}.css").read_text("utf-8")
                for n in ("stage", "pictures"))  # fmt: skip
STYLES = canvas.source("live.css", "player.css") + STAGE
TEXTS = "".join(f'<text class="{name}">A</text>' for name in ("", "rl-key", "rl-thumb", "rl-over"))
PAGE = f"""<style>{STYLES}</style><body class="lec-root"><div class="rooflab-live">
<div class="rl-card"><div class="rl-bar"><button>cold</button></div>
<div class="rl-stage"><svg class="rl-live" viewBox="0 0 720 480">{TEXTS}</svg></div></div>
<div class="rl-scene rl-box"><svg><text style="font-size: 14px">M</text></svg></div></div>"""
SIZES = """() => [...document.querySelectorAll('text, button')]
    .map(node => [node.className.baseVal ?? node.tagName,
        parseFloat(getComputedStyle(node).fontSize)])"""
WIDEST = """names => { const svg = document.querySelector('.rl-live'), found = [];
    for (const [text, look] of names) {
        const node = document.createElementNS(svg.namespaceURI, 'text');
        node.setAttribute('class', look); node.setAttribute('font-weight', 600);
        node.textContent = text; svg.append(node);
        found.push(node.getComputedTextLength() / text.length);
    }
    return found; }"""


@pytest.fixture
def stage(chromium) -> object:
    page = chromium.new_page(viewport={"width": 1280, "height": 720})
    page.set_content(PAGE)
    yield page
    page.close()


def test_beside_each_other_roofline_and_box_have_letters_of_18_pixels(stage) -> None:
    sizes = stage.evaluate(SIZES)
    assert len(sizes) == 6 and [one for one in sizes if one[1] < 18] == []


def test_no_name_is_wider_than_its_letters_are_reckoned(stage) -> None:
    script = canvas.source("live_names.js")
    letter, note = (
        float(n) for n in re.search(r"NAME = ([\d.]+), NOTE = ([\d.]+)", script).groups()
    )
    names = [(text, "") for text in ("AXPY", "GEMV", "GEMM", "GEMM ×64", "weight products")]
    notes = [("×2.62 of memory: L3", "rl-over"), ("×1.53 of memory: partly a cache", "rl-over")]
    assert max(stage.evaluate(WIDEST, names)) <= letter
    assert max(stage.evaluate(WIDEST, notes)) <= note


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
