"""Byte golf in a browser: how blocks fly. Where they come to lie is seen in test_scenes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.tab import by_hand, frames

pytestmark = pytest.mark.browser
WINDOW = (1280, 900)
CELL = """import numpy as np
import rooflab as rl
x, y = np.ones(50_000), np.ones(50_000)
rl.live.golf(rl.golf(lambda x, y: 0.5 * x + y, x, y))"""


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("golf", CELL)


def settled(page) -> None:
    page.locator(".rl-golf input[type=range]").wait_for(state="attached")


def test_blocks_fly_over_the_bus_one_after_the_other_at_one_pace(moving_page) -> None:
    by_hand(moving_page)
    moving_page.locator(".rl-golf input[aria-label='step']").press("ArrowRight")
    flown = frames(
        moving_page,
        """() => { const svg = document.querySelector('.rl-golf .stage svg');
        const two = (kind, name) => [...svg.querySelectorAll(kind)].slice(0, 2)
            .map(node => +node.getAttribute(name));
        return [...two('rect.trip', 'y'), ...two('rect.entry', 'width')]; }""",
        50,
    )
    down, up, first, second = zip(*flown, strict=True)
    assert len(set(down)) == 1, "what is read waits on the bus"
    assert list(up) == sorted(up, reverse=True) and len(set(up)) > 5, "what is written goes up"
    last = first[-1]
    assert all(b == 0 for a, b in zip(first, second, strict=True) if a < last)
    done = [wide.index(last) for wide in (first, second)]
    assert done[1] - done[0] == pytest.approx(800 / 50, abs=2), "0.8 s a flight"
    assert len(flown) == pytest.approx(1.5 * 800 / 50, abs=3), "the first is half-way"
