"""A pull at a knob → painted frame, of the iteration space in JupyterLab.

A mouse pulls the skew's knob and the tile's knob of two spaces to and fro, 60 moves a second. The
time is from the move that leads to another stop to the task after the frame in which the SVG tells
that stop, while rows are still sliding from the last one. Beside them a mouse pulls the first
slider of the live roofline, which glides nowhere. Rounds of the pictures take turns, each on a
fresh page and kernel. Target of the loop picture: p95 ≤ 20 ms.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import save, table

CELLS = {
    "6 by 6": """import rooflab as rl
rl.loops.space(rl.loops.Nest({"i": (1, 7), "j": 6}, "A[i,j] = A[i-1,j+1]*0.5"))""",
    "12 by 12": """import rooflab as rl
rl.loops.space(rl.loops.Nest({"i": (1, 13), "j": 12}, "A[i,j] = A[i-1,j+1]*0.5"))""",
    "live roofline": 'import rooflab as rl\nrl.live.roofline(machine="h100-sxm")',
}
PEER = "live roofline"
PULLS = {".rl-scene .skew-knob": 11, ".rl-scene .tile-knob": 3}  # columns to the last stop
SLIDER = ".rl-live-roofline .rl-sliders input"
TARGET = 20.0  # ms
# From a move's own time stamp to the task after the frame in which the SVG told another stop.
PROBE = """() => {
  window.took = []; let moved = null;
  addEventListener("pointermove", event => { moved = event.timeStamp; }, true);
  new MutationObserver(() => {
    if (moved === null) return;
    const from = moved; moved = null;
    requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.took.push(performance.now() - from); port2.postMessage(0); });
  }).observe(document.querySelector(".rl-scene .stage svg"), { attributeFilter: ["data-tick"] });
}"""


def opened(server, chromium, name: str):
    """The picture in Lab, on a page of its own, once it shows."""
    path = f"{name.replace(' ', '-')}.ipynb"
    server.write(path, CELLS[name])
    page = chromium.new_page(viewport={"width": 1366, "height": 768})
    page.set_default_timeout(60_000)
    page.goto(f"{server.url}/lab/workspaces/{time.time_ns()}/tree/{path}")  # no old tabs
    page.wait_for_function("window.jupyterapp !== undefined")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.evaluate(
        "async () => { const app = window.jupyterapp; await app.restored;"
        " await app.shell.currentWidget.sessionContext.ready;"
        " app.commands.execute('notebook:run-all-cells'); }"
    )
    page.wait_for_selector(".rl-scene .stage svg[data-tick]")
    page.wait_for_timeout(1500)
    page.evaluate(PROBE)
    return page


def middle(page, selector: str) -> tuple[float, float]:
    """Where the first of these nodes has its middle."""
    box = page.locator(selector).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def knobs(page, name: str) -> Iterator[tuple[float, float, float]]:
    """What is pulled in a picture: where it is, and how far it goes to the right."""
    if name == PEER:
        page.locator(SLIDER).first.focus()
        page.keyboard.press("Home")
        page.wait_for_timeout(500)
        box = page.locator(SLIDER).first.bounding_box()
        yield box["x"] + 12, box["y"] + box["height"] / 2, box["width"] / 2
        return
    cell = [middle(page, f".rl-scene .iteration >> nth={n}")[0] for n in (0, 1)]
    for knob, columns in PULLS.items():
        yield *middle(page, knob), columns * (cell[1] - cell[0])


def pulled(page, x: float, y: float, far: float, seconds: float) -> list[float]:
    """Milliseconds of all stops that are come to while a mouse pulls to and fro."""
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("took.splice(0)")
    begin = time.perf_counter()
    for number in range(1, int(60 * seconds) + 1):
        turn = number % 60
        page.mouse.move(x + far * min(turn, 60 - turn) / 30, y)
        wait = begin + number / 60 - time.perf_counter()
        if wait > 0:
            time.sleep(wait)
    page.mouse.up()
    page.wait_for_timeout(400)
    found: list[float] = page.evaluate("took.splice(0)")
    return found


def measure(rounds: int, seconds: float) -> tuple[str, dict[str, list[float]]]:
    """Chromium's version, and the milliseconds of each picture's pulls."""
    from playwright.sync_api import sync_playwright

    from tests.browser.server import jupyter_server
    from tests.conftest import CHROMIUM, FLAGS

    browser = next(path for name in CHROMIUM if (path := shutil.which(name)))
    found: dict[str, list[float]] = {name: [] for name in CELLS}
    with (
        tempfile.TemporaryDirectory(prefix="rooflab-bench-") as home,
        jupyter_server(Path(home)) as server,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=browser, args=FLAGS) as chromium,
    ):
        for _ in range(rounds):
            for name in CELLS:
                page = opened(server, chromium, name)
                for knob in knobs(page, name):
                    found[name] += pulled(page, *knob, seconds)
                page.close()
                server.stop_kernels()
        return chromium.version, found


def main(arguments: list[str] | None = None) -> int:
    """Run, print the table, write results/loop_dragging.json."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10, help="that each knob is pulled")
    chosen = parser.parse_args(arguments)
    version, found = measure(chosen.rounds, chosen.seconds)
    rows = {
        name: {
            "stops": len(took),
            "median_ms": round(statistics.median(took), 2),
            "p95_ms": round(statistics.quantiles(took, n=20)[-1], 2),
        }
        for name, took in found.items()
    }
    table(["picture", "stops", "median ms", "p95 ms"], [[n, *r.values()] for n, r in rows.items()])
    for name, row in rows.items():
        if name != PEER:
            reached = "reached" if row["p95_ms"] <= TARGET else "MISSED "
            ratio = row["p95_ms"] / rows[PEER]["p95_ms"]
            print(f"{reached}  {name}: p95 ≤ {TARGET:g} ms, {ratio:.2f} of the {PEER}'s")
    load = [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None
    save("loop_dragging", {"chromium": version, "load_average": load, "pictures": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
