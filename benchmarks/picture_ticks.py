"""Key press → painted frame of the pictures that move, in static pages, beside each other.

No kernel takes part, so this is what the pictures themselves cost; ``slider_latency`` has the way
through JupyterLab. A picture tells the tick it has drawn in an attribute of its SVG. Rounds of the
pictures take turns. Target (DESIGN of the widgets): p95 ≤ 33 ms, two frames of 60 Hz.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import nbformat

from benchmarks.report import save, table

PICTURES = {
    "live roofline": 'rl.live.roofline(machine="h100-sxm")',
    "roofline and ladder": 'rl.live.roofline(machine="epyc-2core-vm", ladder=True)',
    "film": 'rl.live.film(rl.model("llama-3-8b"), machine="h100-sxm")',
    "published": "rl.show.published()",
    "bits": "rl.precision.bits()",
    "formats": "rl.precision.ridge()",
    "kernels by batch": "rl.sparse.marlin()",
    "staircase": 'rl.cuda.stairs("h100")',
    "banks": "rl.cuda.banks()",
    "multiprocessor": "rl.cuda.multiprocessor()",
    "pipeline": "rl.cuda.pipeline()",
    "cluster": "rl.cuda.cluster()",
}
SLIDERS = ".noUi-handle, input[type=range]"
TARGET = 33.0  # ms
SLOWEST = 400  # ms after which a tick counts as not drawn: the slider was at its end
# From the key's own time stamp to the task after the frame in which the SVG told its new tick.
PROBE = """() => {
  window.took = []; let pressed = null;
  addEventListener("keydown", event => { pressed = event.timeStamp; }, true);
  new MutationObserver(() => {
    if (pressed === null) return;
    const from = pressed; pressed = null;
    requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.took.push(performance.now() - from); port2.postMessage(0); });
  }).observe(document.body, { subtree: true, attributeFilter: ["data-tick"] });
}"""


def pages(folder: Path) -> dict[str, str]:
    """Build a static page for every picture; their addresses."""
    from tools.execute import run_notebook
    from tools.site import build_page

    found = {}
    for name, call in PICTURES.items():
        cell = nbformat.v4.new_code_cell(f"import rooflab as rl\n{call}")
        notebook = run_notebook(nbformat.v4.new_notebook(cells=[cell]), name, folder)
        found[name] = build_page(notebook, folder, name.replace(" ", "_")).as_uri()
    return found


def ticks(tab: object, slider: int, presses: int) -> list[float]:
    """Press arrow keys on a slider, there and back; milliseconds of every tick that was drawn."""
    handle = tab.locator(SLIDERS).nth(slider)
    handle.focus()
    for number in range(presses):
        before = tab.evaluate("took.length")
        tab.keyboard.press("ArrowRight" if number // 12 % 2 == 0 else "ArrowLeft")
        tab.evaluate(
            f"""async before => {{ const end = performance.now() + {SLOWEST};
            while (took.length === before && performance.now() < end)
                await new Promise(requestAnimationFrame); }}""",
            before,
        )
    return tab.evaluate("took.splice(0)")


def measure(presses: int, rounds: int) -> tuple[str, dict[str, list[float]]]:
    """Chromium's version, and the milliseconds of every picture's ticks."""
    from playwright.sync_api import sync_playwright

    from tests.conftest import CHROMIUM, FLAGS

    browser = next(path for name in CHROMIUM if (path := shutil.which(name)))
    with (
        tempfile.TemporaryDirectory(prefix="rooflab-bench-") as folder,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=browser, args=FLAGS) as chromium,
    ):
        found: dict[str, list[float]] = {name: [] for name in PICTURES}
        addresses = pages(Path(folder))
        for _ in range(rounds):
            for name, address in addresses.items():
                tab = chromium.new_page(viewport={"width": 1280, "height": 1000})
                tab.goto(address)
                tab.wait_for_selector("svg[data-tick]", state="attached", timeout=60_000)
                tab.wait_for_selector(SLIDERS, state="attached")
                tab.wait_for_load_state("networkidle")
                tab.evaluate(PROBE)
                for slider in range(min(2, tab.locator(SLIDERS).count())):
                    found[name] += ticks(tab, slider, presses)
                tab.close()
        return chromium.version, found


def main(arguments: list[str] | None = None) -> int:
    """Run, print the table, write results/picture_ticks.json."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presses", type=int, default=48, help="of each slider in a round")
    parser.add_argument("--rounds", type=int, default=4)
    chosen = parser.parse_args(arguments)
    version, found = measure(chosen.presses, chosen.rounds)
    rows = {}
    for name, took in found.items():
        worst = statistics.quantiles(took, n=20)[-1]
        rows[name] = {"ticks": len(took), "median_ms": statistics.median(took), "p95_ms": worst}
    table(["picture", "ticks", "median ms", "p95 ms"], [[n, *r.values()] for n, r in rows.items()])
    for name, row in rows.items():
        print(f"{'reached' if row['p95_ms'] <= TARGET else 'MISSED '}  {name}: p95 ≤ {TARGET:g} ms")
    load = [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None
    save("picture_ticks", {"chromium": version, "load_average": load, "pictures": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
