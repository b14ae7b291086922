"""Slider → pixels: the live roofline against @interact and ipympl, interleaved in one run.

    python -m benchmarks.slider_latency [--ticks 200] [--slow-ticks 60] [--blocks 4]

Every variant draws a log-log roofline and moves a point with an ipywidgets slider, in JupyterLab
in headless Chromium. Latency is the time from the keydown event to the end of the main-thread
frame that shows the new tick (the compositor and the display, about one frame, are not in it).
``lag95`` is the 95th percentile, over the keys or mouse moves of a burst, of the time until a frame
shows that value or a later one. Blocks of the variants come in random order, each on a fresh page
and kernel.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from playwright.sync_api import TimeoutError as PlaywrightTimeout

from benchmarks.report import save, table
from benchmarks.slider_driving import LostInput, drag, hold_key, open_variant, single_ticks
from benchmarks.slider_variants import VARIANTS

HERE = Path(__file__).resolve().parent


def percentile(values: list[float], share: float) -> float | None:
    """Nearest-rank percentile, None of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def block(server, chromium, name: str, ticks: int) -> dict[str, list]:
    """One variant on a fresh page and kernel: single ticks, then two bursts of keys and drags."""
    page = open_variant(server, chromium, name)
    try:
        session = page.context.new_cdp_session(page)
        found = {"first": [page.first_picture], "single": single_ticks(page, ticks)}
        for _ in range(2):
            found.setdefault("keys", []).append(hold_key(page, session))
            found.setdefault("drag", []).append(drag(page, session))
        return found
    finally:
        page.close()
        server.stop_kernels()


def run(server, chromium, ticks: dict[str, int], blocks: int) -> dict[str, dict[str, list]]:
    """All variants, ``blocks`` times, in random order; a block that loses its input is repeated."""
    raw: dict[str, dict[str, list]] = {name: {} for name in ticks}
    for number in range(blocks):
        for name in random.sample(list(ticks), len(ticks)):
            for attempt in range(3):
                try:
                    found = block(server, chromium, name, -(-ticks[name] // blocks))
                    break
                except (LostInput, PlaywrightTimeout) as error:
                    print(f"block {number + 1} {name}, attempt {attempt + 1}: {error}", flush=True)
            else:
                raise RuntimeError(f"{name} did not take its input three times")
            for key, values in found.items():
                raw[name].setdefault(key, []).extend(values)
            p95 = percentile(raw[name]["single"], 0.95)
            print(f"block {number + 1}/{blocks} {name:9} p95 {p95:6.1f} ms", flush=True)
    return raw


def summary(raw: dict[str, dict[str, list]]) -> dict[str, dict[str, float]]:
    """Median, p95, ticks a second and lags of every variant.

    Bursts are few and short, so one busy moment of the machine would decide a pooled percentile:
    a lag95 is the median over the bursts of each burst's own 95th percentile.
    """

    def lag95(bursts: list[dict[str, object]]) -> float:
        return round(statistics.median(percentile(one["lags"], 0.95) for one in bursts), 1)

    found = {}
    for name, data in raw.items():
        found[name] = {
            "ticks": len(data["single"]),
            "p50_ms": round(statistics.median(data["single"]), 2),
            "p95_ms": round(percentile(data["single"], 0.95), 2),
            "ticks_per_s_at_30": round(statistics.mean(k["ticks_per_s"] for k in data["keys"]), 2),
            "keys_per_s": round(statistics.mean(k["events_per_s"] for k in data["keys"]), 2),
            "key_lag95_ms": lag95(data["keys"]),
            "drag_lag95_ms": lag95(data["drag"]),
            "first_picture_s": round(statistics.median(data["first"]), 2),
        }
    return found


def state_size() -> dict[str, int]:
    """Bytes of saved widget state (JSON, buffers as base64) of the shipped pictures."""
    from ipywidgets import Widget
    from ipywidgets.embed import embed_data

    import rooflab as rl

    sizes = {}
    for name, make in {
        "roofline": lambda: rl.live.roofline(),
        "roofline with box": lambda: rl.live.roofline(box=True),
        "box": lambda: rl.live.box(),
    }.items():
        Widget.close_all()
        sizes[name] = len(json.dumps(embed_data(views=[make()])["manager_state"]))
    return sizes


def verdict(
    found: dict[str, dict[str, float]], sizes: dict[str, int]
) -> list[tuple[str, bool, str]]:
    """The targets, each with whether it is reached, and by how much."""
    ours, theirs = found["rooflab"], found["interact"]
    allowed = max(33.0, theirs["p95_ms"] / 20)
    ratio = theirs["p95_ms"] / ours["p95_ms"]
    share = 30 * ours["ticks_per_s_at_30"] / ours["keys_per_s"]
    largest = max(sizes.values())
    return [
        (
            "p95 ≤ 1/20 of @interact's or 33 ms",
            ours["p95_ms"] <= allowed,
            f"{ours['p95_ms']} ms, 1/{ratio:.0f}",
        ),
        ("≥ 29 of 30 ticks/s", share >= 29, f"{share:.1f} of 30"),
        ("drag lag95 ≤ 33 ms", ours["drag_lag95_ms"] <= 33, f"{ours['drag_lag95_ms']} ms"),
        ("state ≤ 1 MB", largest <= 1_000_000, f"{largest / 1e3:.0f} kB"),
    ]


def measure(ticks: dict[str, int], blocks: int) -> tuple[str, dict[str, dict[str, list]]]:
    """Run the variants in headless Chromium; its version and the raw latencies."""
    from playwright.sync_api import sync_playwright

    from tests.browser.server import jupyter_server
    from tests.conftest import CHROMIUM, FLAGS

    browser = next(path for name in CHROMIUM if (path := shutil.which(name)))
    with (
        tempfile.TemporaryDirectory(prefix="rooflab-bench-") as home,
        jupyter_server(Path(home)) as server,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=browser, args=FLAGS) as found,
    ):
        return found.version, run(server, found, ticks, blocks)


def main(arguments: list[str] | None = None) -> int:
    """Run, print the table, write results/slider.json."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticks", type=int, default=200, help="single ticks of the live roofline")
    parser.add_argument("--slow-ticks", type=int, default=200, help="of each other variant")
    parser.add_argument("--blocks", type=int, default=4)
    chosen = parser.parse_args(arguments)
    names = [name for name in VARIANTS if name != "ipympl" or find_spec("ipympl")]
    ticks = {name: chosen.ticks if name == "rooflab" else chosen.slow_ticks for name in names}
    version, raw = measure(ticks, chosen.blocks)
    load = [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None
    sizes, found = state_size(), summary(raw)
    checks = verdict(found, sizes)
    table(["variant", *found["rooflab"]], [[name, *row.values()] for name, row in found.items()])
    print("saved state:", ", ".join(f"{name} {size / 1e3:.0f} kB" for name, size in sizes.items()))
    for target, reached, how in checks:
        print(f"{'reached' if reached else 'MISSED '}  {target}: {how}")
    packages = ("jupyterlab", "ipywidgets", "anywidget", "matplotlib")
    save("slider", {
        "chromium": version, **{name: metadata.version(name) for name in packages},
        "blocks": chosen.blocks, "load_average": load, "variants": found, "state_bytes": sizes,
        "targets": [{"target": t, "reached": r, "seen": h} for t, r, h in checks],
        "single_ms": {name: [round(v, 2) for v in data["single"]] for name, data in raw.items()},
    })  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
