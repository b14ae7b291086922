"""The button that plays a picture: it goes through every stop, to the last."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.tab import by_hand

pytestmark = pytest.mark.browser
WINDOW = (1000, 900)
PICTURES = {
    "growth": ("picture = rl.search.growth()", "round", 4),
    "tiles": ("picture = rl.cache.tiles(4, 16); picture.moment = 0", "moment", 32),
}
# What the picture shows in each frame until it could be played again.
STOPS = """async dim => {
    const own = document.querySelector('.rl-scene'), seen = [];
    while (!own.querySelector('.rl-play').textContent.includes('again') && seen.length < 2000) {
        oneFrame(100);
        seen.push(+own.querySelector('.stage svg').dataset[dim]);
        await new Promise(then => setTimeout(then)); }
    return seen; }"""


@pytest.mark.parametrize("name", PICTURES)
def test_playing_goes_through_every_stop(tab, static_page: Callable[..., str], name) -> None:
    """Each stop glides to the next, and the last one to nothing."""
    code, dim, last = PICTURES[name]
    address = static_page(f"playing-{name}", f"import rooflab as rl\n{code}\npicture")
    with tab.silent(address, WINDOW, motion="no-preference") as page:
        page.locator(".rl-scene .stage svg").first.wait_for()
        by_hand(page)
        page.locator(".rl-scene .rl-play").first.click()
        assert list(dict.fromkeys(page.evaluate(STOPS, dim))) == list(range(1, last + 1))
        assert "again" in page.locator(".rl-scene .rl-play").first.inner_text()
