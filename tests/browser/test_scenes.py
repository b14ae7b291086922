"""Every picture made of a scene: the browser shows what the still shows, where words are closest.

And no text lies on another, none is cut off, and nothing below the picture ever moves. All other
states are looked at in Python: tests/show/test_every_picture.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ipywidgets.embed import dependency_state, embed_data
from nbformat.v4 import new_code_cell, new_notebook, new_output

from rooflab.jupyter_save import STATE, VIEW
from rooflab.show.scene import Scene, drawn
from rooflab.show.scene.player import Player
from tests.browser.tab import resize
from tests.support.pictures import PICTURES, made
from tests.support.scene_texts import crowded
from tools.site import build_page

pytestmark = pytest.mark.browser

CROWDED = 8  # states looked at in each picture and window, beside the first and the last
WINDOWS = [(1366, 680), (390, 800)]
SCRIPT = Path(__file__).with_name("scenes.js").read_text("utf-8")


def ask(page: Any, name: str, *given: Any) -> Any:
    """What a function of scenes.js says of the page's picture."""
    page.locator(".rl-scene [data-mark]").first.wait_for(state="attached")
    el = page.locator(".rl-scene").first.element_handle()
    return page.evaluate(f"given => ({SCRIPT}).{name}(...given)", [el, *given])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """``address(name)``: URL of a page with that picture as it is here, of no kernel's making."""
    folder = tmp_path_factory.mktemp("scenes")

    def page(name: str) -> str:
        one = made(name)
        for widget in (one.layout, one):  # a picture opens with its layout's address
            widget.open()  # another test may have closed all that there were
        data = embed_data([one], state=dependency_state([one], drop_defaults=False))
        output = new_output("display_data", {VIEW: data["view_specs"][0]})
        widgets = {"widgets": {STATE: data["manager_state"]}}
        cells = [new_code_cell(outputs=[output])]
        return build_page(new_notebook(cells=cells, metadata=widgets), folder, name).as_uri()

    return page


def sheet(page: Any, picture: Player) -> Scene:
    """The scene that is shown: the one as wide as the picture's sheet."""
    page.locator(".rl-scene [data-mark]").first.wait_for(state="attached")
    wide = page.evaluate("() => document.querySelector('.rl-scene svg').viewBox.baseVal.width")
    return next(one for one in picture.sheets if one.width == wide)


def same_as_painted(scene: Scene, state: dict[str, Any], marks: list, said: str) -> None:
    """The player shows what the painter draws."""
    seen = {mark: rest for mark, *rest in marks}
    wanted = list(drawn(scene, **state))
    assert sorted(seen) == [scene.marks.index(mark) for mark, _ in wanted], state
    for mark, held in wanted:
        place, text, opacity, look = seen[scene.marks.index(mark)]
        spot = next(held[key] for key in ("points", "box", "at") if key in held)
        turned = np.hstack([np.ravel(spot), held.get("turn", [])])[: len(place)]
        assert np.abs(np.subtract(place, turned)).max() <= 0.08, (mark.name, state)
        assert abs(opacity - held["opacity"]) <= 0.002, (mark.name, state)
        assert text == held.get("text", ""), state
        inks = {key: f"var(--{held[key]})" for key in ("fill", "ink") if key in held}
        assert inks.items() <= look.items(), (mark.name, state)
        dash = held.get("dash") or " ".join(map(str, mark.look.get("dash", ())))
        assert look["dash"] == dash, (mark.name, state)
    assert said == scene.sentence(**state)


SIDEWAYS = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


# Further states of one kind of picture: tests/show/test_every_picture.py looks at them each time.
AGAIN = "boxes, film measured, film of experts, golf in pieces, growth of passes, guess at its end"
AGAIN += ", growth of products, morph, morph_crowd, product, space in 12 rows"
SLOW = {name: [pytest.mark.slow] for name in AGAIN.split(", ")}


@pytest.mark.parametrize("name", [pytest.param(n, marks=SLOW.get(n, [])) for n in PICTURES])
def test_the_browser_shows_what_is_painted_and_no_text_on_another(tab, address, name) -> None:
    """In the states where words are closest; what stands below the picture never jumps."""
    picture = made(name)
    with tab.silent(address(name), WINDOWS[0], motion="reduce") as page:
        for window in WINDOWS:
            resize(page, window)
            scene = sheet(page, picture)
            slides = {one["dim"] for one in scene.controls if one["kind"] == "slider"} | {*"ijk"}
            heights: dict[str, set[int]] = {}
            faults = {}
            states = crowded(scene, CROWDED)
            for state, seen in zip(states, ask(page, "walk", states), strict=True):
                same_as_painted(scene, state, seen["marks"], seen["said"])
                found, sheet_high, high = seen["faults"]
                chosen = {name: value for name, value in state.items() if name not in slides}
                heights.setdefault(str(chosen), set()).add(high)
                heights.setdefault("the sheet", set()).add(sheet_high)
                if found:
                    faults[str(state)] = found
            assert not faults, window
            assert {key: high for key, high in heights.items() if len(high) > 1} == {}, window
            assert not page.evaluate(SIDEWAYS), window


def test_texts_that_overlap_or_are_cut_off_are_found(tab, address) -> None:
    """Else the test above would prove nothing."""
    with tab.silent(address("free_lunch"), WINDOWS[0], motion="reduce") as page:
        for place in ("translate(-20 100)", None):
            page.evaluate(
                """place => { const [one, two] = document.querySelectorAll('.rl-scene svg text');
                one.setAttribute('transform', place ?? two.getAttribute('transform')); }""",
                place,
            )
            assert ask(page, "faults")[0], place


SMALL = [(683, 340), (844, 390)]  # CSS pixels: a laptop at 200 %, a phone held sideways
TRACK, LETTERS = 200, 12  # CSS pixels

SMALLEST = """() => {
  const scale = ({ a, b }) => Math.hypot(a, b); // turned letters are as large as others
  const size = (one) => parseFloat(getComputedStyle(one).fontSize) * scale(one.getScreenCTM());
  const letters = [...document.querySelectorAll('.rl-scene svg text')]
    .filter((one) => one.textContent && one.getClientRects().length).map(size);
  const tracks = [...document.querySelectorAll('.rl-scene input[type=range]')]
    .filter((one) => one.getClientRects().length).map((one) => one.getBoundingClientRect().width);
  return [Math.min(...tracks), Math.min(...letters)];
}"""


def test_in_small_windows_tracks_and_letters_keep_a_size(tab, address) -> None:
    for name in ("roofline", "product", "tiles", "energy bars", "film"):
        with tab.silent(address(name), SMALL[0], motion="reduce") as page:
            page.locator(".rl-scene [data-mark]").first.wait_for(state="attached")
            for window in SMALL:
                resize(page, window)
                track, letters = page.evaluate(SMALLEST)
                assert track >= TRACK and letters >= LETTERS, (name, window, track, letters)
                assert not page.evaluate(SIDEWAYS), (name, window)
