"""The button that plays a picture: it goes through every stop, to the last."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.browser
WINDOW = (1000, 900)
PICTURES = {
    "growth": ("picture = rl.search.growth()", "round", 4),
    "tiles": ("picture = rl.cache.tiles(4, 16, (1, 2))", "moment", 32),
}


@pytest.mark.parametrize("name", PICTURES)
def test_playing_goes_through_every_stop(tab, static_page: Callable[..., str], name) -> None:
    """Each stop glides to the next, and the last one to nothing."""
    code, dim, last = PICTURES[name]
    address = static_page(f"playing-{name}", f"import rooflab as rl\n{code}\npicture")
    with tab.silent(address, WINDOW, motion="no-preference") as page:
        svg = page.locator(".rl-scene .stage svg").first
        svg.wait_for()
        page.evaluate(
            """dim => { const svg = document.querySelector('.rl-scene .stage svg');
            window.seen = [];
            new MutationObserver(() => window.seen.push(+svg.dataset[dim]))
              .observe(svg, { attributes: true, attributeFilter: [`data-${dim}`] }); }""",
            dim,
        )
        play = page.locator(".rl-scene .rl-play").first
        play.click()
        page.locator(f".rl-scene svg[data-{dim}='{last}']").wait_for()
        assert list(dict.fromkeys(page.evaluate("window.seen"))) == list(range(1, last + 1))
        page.locator(".rl-scene .rl-play", has_text="again").wait_for()
