"""While a slider moves, the kernel is left in peace; when the hand rests, it knows the place."""

from __future__ import annotations

import pytest

from tests.browser.conftest import ask_kernel, press, ready

pytestmark = pytest.mark.browser

CELLS = (
    'import rooflab as rl\nw = rl.live.roofline(machine="h100-sxm", dtype="bf16", n=64)\nw',
    """from rooflab.measure.freelunch import FreeLunch
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


def allowed(page, begin: float) -> float:
    """Messages since ``begin``: two a rest, and a busy machine rests between keys."""
    return 2 + 2 * (page.evaluate("performance.now()") - begin) / 150


def test_a_moving_slider_leaves_the_kernel_in_peace(open_notebook) -> None:
    page = open_notebook("lab", "hush.ipynb", *CELLS)
    ready(page)
    page.evaluate(COUNT)
    begin = page.evaluate("performance.now()")
    press(page, 0, "ArrowRight", 12)
    pauses = (
        page.evaluate("performance.now()") - begin
    ) / 150  # a busy machine pauses between keys
    assert page.evaluate("told") <= 4 * pauses
    page.wait_for_function("told >= 2")  # the slider's message and the picture's
    tick = page.locator("svg.rl-live").first.get_attribute("data-tick")
    assert ask_kernel(page, "(w.view.i * len(w.scene.sliders[1].values) + w.view.j)") == tick
    assert ask_kernel(page, "w.sliders[0].index == w.view.i") == "True"


def test_the_free_lunch_does_so_too(open_notebook) -> None:
    page = open_notebook("lab", "hush_lunch.ipynb", CELLS[0], CELLS[1])
    slider = page.locator(".rl-lunch .noUi-handle")
    slider.wait_for(timeout=60_000)
    page.evaluate(COUNT)
    slider.focus()
    begin = page.evaluate("performance.now()")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("told >= 2")
    page.locator(".rl-lunch svg[data-i='6']").wait_for()
    assert page.evaluate("told") <= allowed(page, begin)
    assert ask_kernel(page, "(lunch.live.i, lunch.slider.index)") == "(6, 6)"
