"""Drive a slider in headless Chromium, and read when its pixels changed.

Keys and mouse moves go in through the DevTools protocol; ``probe.js`` notes in the page when each
arrived and when the frame that shows its tick was done.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.slider_variants import KIND, SLIDER, VARIANTS

HERE = Path(__file__).resolve().parent


class LostInput(Exception):
    """Keys or mouse moves did not reach the slider: Lab took the focus away."""


def open_variant(server, chromium, name: str):
    """Run a variant's notebook in Lab on a fresh page and kernel; return the page once it shows."""
    server.write(f"{name}.ipynb", VARIANTS[name])
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(60_000)
    page.add_init_script(path=HERE / "probe.js")
    page.goto(
        f"{server.url}/lab/workspaces/{name}-{time.time_ns()}/tree/{name}.ipynb"
    )  # no old tabs
    page.wait_for_function("window.jupyterapp !== undefined")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    begin = time.perf_counter()
    page.evaluate(
        "async () => { const app = window.jupyterapp; await app.restored;"
        " await app.shell.currentWidget.sessionContext.ready;"
        " app.commands.execute('notebook:run-all-cells'); }"
    )
    page.wait_for_selector(SLIDER)
    page.evaluate(f"probe.start('{KIND[name]}')")
    page.wait_for_function("probe.value !== null")
    page.first_picture = time.perf_counter() - begin
    page.wait_for_timeout(1500)
    page.locator(SLIDER).first.evaluate(
        "node => node.setAttribute('data-lm-suppress-shortcuts', 'true')"
    )
    page.locator(SLIDER).first.focus()
    return page


def single_ticks(page, count: int) -> list[float]:
    """Latencies in ms of ``count`` single key presses, each after the last one has settled."""
    found = []
    for _ in range(count):
        page.evaluate("probe.reset()")
        before = page.evaluate("probe.value")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("v => probe.value > v", arg=before, polling="raf")
        page.wait_for_timeout(60 + 60 * random.random())
        keys, shown = page.evaluate("[probe.keys, probe.shown]")
        found.append(shown[0][1] - keys[0])
    return found


def to_start(page) -> None:
    """Put the slider back to its first value, so that no burst runs into its end."""
    page.locator(SLIDER).first.focus()
    page.keyboard.press("Home")
    page.wait_for_timeout(1000)


def burst(page, send: Callable[[int], None], rate: float, seconds: float) -> dict[str, object]:
    """Send events at ``rate`` a second; ticks shown a second, and the lag of each event."""
    page.evaluate("probe.reset()")
    begin = time.perf_counter()
    count = int(rate * seconds)
    for index in range(count):
        send(index)
        wait = begin + (index + 1) / rate - time.perf_counter()
        if wait > 0:
            time.sleep(wait)
    page.wait_for_timeout(1200)
    events, shown = page.evaluate("[probe.inputs, probe.shown]")
    if len(events) < count // 8:
        page.screenshot(path=Path(tempfile.gettempdir()) / "rooflab-slider-lost.png")
        raise LostInput(f"{len(events)} of {count} events reached the slider")
    lags = []
    for moment, wanted in events:
        later = [end for value, end in shown if value >= wanted]
        if later:
            lags.append(max(0.0, later[0] - moment))
    during = [s for s in shown if events and s[1] <= events[-1][0] + 5]
    span = (events[-1][0] - events[0][0]) / 1e3
    return {
        "events_per_s": (len(events) - 1) / span,
        "ticks_per_s": min(len(during) / span, (len(events) - 1) / span),
        "lags": lags,
    }


def hold_key(page, session, rate: float = 30, seconds: float = 2.5) -> dict[str, object]:
    """The right arrow held down, ``rate`` repeats a second."""
    to_start(page)
    key = {"key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39}

    def send(index: int) -> None:
        session.send(
            "Input.dispatchKeyEvent", {"type": "rawKeyDown", "autoRepeat": index > 0, **key}
        )

    found = burst(page, send, rate, seconds)
    session.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})
    return found


def drag(page, session, rate: float = 60, seconds: float = 2.0) -> dict[str, object]:
    """The handle dragged to the right by mouse, ``rate`` moves a second."""
    to_start(page)
    box = page.locator(SLIDER).first.bounding_box()
    # A handle is held in its middle, our slider at the left end of its track, where its thumb is.
    x, y = box["x"] + min(12, box["width"] / 2), box["y"] + box["height"] / 2
    mouse = {"button": "left", "buttons": 1, "y": y}
    session.send(
        "Input.dispatchMouseEvent", {"type": "mousePressed", "x": x, "clickCount": 1, **mouse}
    )

    def send(index: int) -> None:
        session.send(
            "Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x + 2.0 * (index + 1), **mouse}
        )

    found = burst(page, send, rate, seconds)
    session.send(
        "Input.dispatchMouseEvent", {"type": "mouseReleased", "x": x, "clickCount": 1, **mouse}
    )
    return found
