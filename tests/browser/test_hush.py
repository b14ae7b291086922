"""While a slider moves, the kernel is left in peace; when the hand rests, it knows the place."""

from __future__ import annotations

import pytest

from tests.browser.conftest import press, ready
from tests.browser.front import ask_kernel, hold_hand, wait_for_kernel

pytestmark = pytest.mark.browser

CELLS = (
    'import rooflab as rl\nw = rl.live.roofline(machine="h100-sxm", dtype="bf16", n=64)\nw',
    """from rooflab.measure.free_lunch import FreeLunch
k = (1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
curve = FreeLunch(k, tuple(max(4e-3, 2e-4 * v) for v in k), (0.0,) * 10, 1 << 24, 4, 1)
lunch = rl.live.free_lunch(curve)
lunch""",
)
# Widgets tell the kernel of a change in a comm message; ours would be one or two a tick.
COUNT = """() => { window.told = 0;
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
  if (text.includes('comm_msg')) window.told += 1;
  return send.call(this, data); }; }"""


def test_a_moving_slider_leaves_the_kernel_in_peace(open_notebook) -> None:
    page = open_notebook("lab", "hush.ipynb", *CELLS)
    ready(page)
    page.evaluate(COUNT)
    hold_hand(page)
    press(page, 0, "ArrowRight", 12)
    assert page.evaluate("told") == 0
    assert page.evaluate("rest()") >= 1 and page.evaluate("told") >= 1
    tick = page.locator(".rl-live-roofline .stage svg").first.get_attribute("data-i")
    wait_for_kernel(page, "w.i", tick)


def test_a_slow_kernel_does_not_move_the_slider_under_the_hand(open_notebook) -> None:
    page = open_notebook("lab", "hush_late.ipynb", CELLS[0])
    ready(page)
    start = int(ask_kernel(page, "w.i"))
    hold_hand(page)
    press(page, 0, "ArrowRight", 3)
    dot = page.locator(".rl-live-roofline .stage svg").first
    place = dot.get_attribute("data-tick")
    assert ask_kernel(page, "w.i") == str(start), "the kernel does not know yet"
    assert dot.get_attribute("data-tick") == place
    page.evaluate("rest()")
    wait_for_kernel(page, "w.i", str(start + 3))
    ask_kernel(page, "None", "w.i = 0")
    moved = "place => document.querySelector('.rl-live-roofline .stage svg').dataset.tick !== place"
    page.wait_for_function(moved, arg=place)
