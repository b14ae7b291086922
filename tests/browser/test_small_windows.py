"""At 200 % zoom and on a phone held sideways a picture can still be read and moved."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.tab import resize

pytestmark = pytest.mark.browser

WINDOWS = [(683, 340), (844, 390)]  # CSS pixels: a laptop at 200 %, a phone held sideways
PICTURES = {
    "roofline": 'rl.live.roofline(machine="h100-sxm", band=(4, 8))',
    "product": 'rl.live.box(machine="h100-sxm")',
    "tiles": "rl.cache.tiles()",
    "bars": "rl.memory.energy_bars()",
    "film": 'rl.live.film("llama-3-8b", "h100-sxm")',
}
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


@pytest.mark.parametrize("name", PICTURES)
def test_tracks_and_letters_keep_a_size(tab, static_page: Callable[..., str], name: str) -> None:
    address = static_page(f"small {name}", f"import rooflab as rl\n{PICTURES[name]}")
    with tab.silent(address, WINDOWS[0], motion="reduce") as page:
        page.locator(".rl-scene [data-mark]").first.wait_for(state="attached")
        for window in WINDOWS:
            resize(page, window)
            track, letters = page.evaluate(SMALLEST)
            assert track >= TRACK, (window, track)
            assert letters >= LETTERS, (window, letters)
            wide = "() => [document.documentElement.scrollWidth, innerWidth]"
            width, inner = page.evaluate(wide)
            assert width <= inner, window
