"""Byte golf in a browser: how blocks fly, what a smaller chunk changes, and its two grips."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.tab import by_hand, frames

pytestmark = pytest.mark.browser
WINDOW = (1280, 900)

CELLS = (
    """import dataclasses
import numpy as np
import rooflab as rl
from rooflab.labs.golf import sweep

def chunked(x, y, chunk=4096):
    out = np.empty_like(x)
    for i in range(0, len(x), chunk):
        half = 0.5 * x[i : i + chunk]
        np.add(half, y[i : i + chunk], out=out[i : i + chunk])
    return out

x, y = np.ones(50_000), np.ones(50_000)
swept = sweep(chunked, x, y, chunks=(1000, 4000, 50_000), rounds=0)
swept = dataclasses.replace(swept, seconds=(10e-3, 9.4e-3, 15.4e-3))
rl.live.golf(swept)""",
    "rl.live.golf(rl.golf(lambda x, y: 0.5 * x + y, x, y))",
)
SWEPT, ONE = (f".rl-golf >> nth={place}" for place in range(2))


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("golf", *CELLS)


def settled(page) -> None:
    for picture, sliders in ((ONE, 1), (SWEPT, 2)):
        slider = page.locator(picture).locator("input[type=range]").nth(sliders - 1)
        slider.wait_for(state="attached")


def press(picture, name: str, *keys: str) -> None:
    """Press keys on the slider of a dimension; where nothing moves, the picture has followed."""
    label = {"step": "step", "chunk": "chunk size"}[name]
    for key in keys:
        picture.locator(f"input[aria-label='{label}']").press(key)


def count(picture) -> str:
    return picture.locator("text.count").text_content()


def seen(picture, nodes: str):
    return picture.locator(nodes).filter(visible=True)


def letters(picture, nodes: str) -> list[str]:
    return [text for text in seen(picture, nodes).all_text_contents() if text]


def widths(picture, nodes: str) -> list[float]:
    return [float(node.get_attribute("width")) for node in picture.locator(nodes).all()]


def said(picture) -> str:
    return picture.locator(".say").inner_text()


def test_blocks_fly_over_the_bus_one_after_the_other_at_one_pace(moving_page) -> None:
    by_hand(moving_page)
    picture = moving_page.locator(ONE)
    press(picture, "step", "ArrowRight")
    flown = frames(
        moving_page,
        """() => { const svg = document.querySelectorAll('.rl-golf .stage svg')[1];
        const two = (kind, name) => [...svg.querySelectorAll(kind)].slice(0, 2)
            .map(node => +node.getAttribute(name));
        return [...two('rect.trip', 'y'), ...two('rect.entry', 'width')]; }""",
        50,
    )
    down, up, first, second = zip(*flown, strict=True)
    assert list(down) == sorted(down) and len(set(down)) > 5, "what is read comes down"
    assert list(up) == sorted(up, reverse=True) and len(set(up)) > 5, "what is written goes up"
    last = first[-1]
    assert all(b == 0 for a, b in zip(first, second, strict=True) if a < last)
    done = [wide.index(last) for wide in (first, second)]
    assert done[1] - done[0] == pytest.approx(800 / 50, abs=2), "0.8 s a flight"
    assert len(flown) == pytest.approx((200 + 2 * 800) / 50, abs=3)


def homes(picture) -> dict[str, float]:
    """Where each array's name stands, from the top of the picture."""
    spots = picture.locator("text.array").all()
    return {
        spot.text_content(): float(spot.get_attribute("transform").split()[1].rstrip(")"))
        for spot in spots
    }


def test_a_small_chunk_drops_the_temporary_into_cache_and_the_bars_fall(still_page) -> None:
    picture = still_page.locator(SWEPT)
    assert count(picture) == "0 of 40 bytes an element", "it does not open at its end"
    press(picture, "step", "End")
    assert count(picture) == "40 of 40 bytes an element"
    before, measured = homes(picture), widths(picture, "rect.measured")[0]
    assert before["half"] == before["x"], "under the learner's own name"
    press(picture, "chunk", "ArrowLeft")
    after = homes(picture)
    assert after["half"] > before["half"] + 100 and after["x"] == before["x"]
    assert widths(picture, "rect.measured")[0] / measured == pytest.approx(9.4 / 15.4, rel=0.01)
    assert widths(picture, "rect.expected")[0] / measured == pytest.approx(24 / 40, rel=0.01)
    assert "↓ free" in letters(picture, ".trip-says")
    assert count(picture) == "24 of 24 bytes an element"
    assert letters(picture, "text.call") == ["add × 13"]
    assert letters(picture, "text.round") == ["one piece of each: 128 kB"]
    assert "measured 9.40 ms. Expected from the bytes: 9.24 ms." in said(picture)
    assert "half stays in cache: free." in said(picture)
    assert picture.locator(".origin").inner_text() == "In the log of rl.golf half is tmp1."


def pull(page, picture, area: int, start: float, end: float) -> None:
    """Pull on a grip, from and to shares of its width."""
    grip = picture.locator(".rl-grip").nth(area)
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=4)
    page.mouse.up()


def test_pulling_along_the_ledger_goes_through_the_program(still_page) -> None:
    picture = still_page.locator(ONE)
    for share, bytes_ in ((0.45, 16), (0.97, 40), (0.02, 0)):
        pull(still_page, picture, 0, 0.1, share)
        assert count(picture) == f"{bytes_} of 40 bytes an element"
    assert picture.locator("input").get_attribute("aria-valuetext") == "0 of 2"


def test_pulling_at_the_pieces_makes_them_larger_or_smaller(still_page) -> None:
    picture = still_page.locator(SWEPT)
    chunk = picture.locator("input[aria-label='chunk size']")
    pull(still_page, picture, 0, 0.97, 0.15)
    assert chunk.get_attribute("aria-valuetext") == "4000"
    pull(still_page, picture, 0, 0.15, 0.03)
    assert chunk.get_attribute("aria-valuetext") == "1000"
    pull(still_page, picture, 0, 0.03, 0.97)
    assert chunk.get_attribute("aria-valuetext") == "50\u202f000"
