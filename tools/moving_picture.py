"""Film the first guess of a built site as the GIF that README.md shows.

    python course.py build && python tools/moving_picture.py [--site site]

Needs Chromium and playwright, as the browser tests do. The page's clock is stepped by hand, so that
frames are evenly spaced however slow the computer is.
"""

from __future__ import annotations

import argparse
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

REPOSITORY = Path(__file__).resolve().parent.parent
OUT = REPOSITORY / "assets/figures/guess.gif"
WINDOW = {"width": 1010, "height": 700}
PART = {"x": 0, "y": 0, "width": 1010, "height": 460}  # of the window
#: The guess and the picture without what stands around them.
ALONE = (
    ".page-bar, .hero :is(p:not(.title, .say), .doors), .hero button.skip"
    "{ display: none !important }"
    ".hero h1 { font-size: 1.7rem } .hero > div:first-child { padding-top: 4rem }"
)
WIDE, COLOURS = 830, 128  # pixels and colours of the GIF
STEP = 100  # milliseconds from frame to frame
WAIT, PLACED, LANDED, ROOF = 15, 10, 42, 40  # frames of each part


def film(site: Path, chromium: str) -> list[Image.Image]:
    """Return the frames: the empty axis, a guess far too high, where the time lands, the roof."""
    frames: list[Image.Image] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=WINDOW, color_scheme="light")
        page.clock.install(time=0)
        page.goto((site / "index.html").resolve().as_uri())
        page.locator(".rl-guess svg").first.wait_for()
        page.add_style_tag(content=ALONE)
        page.clock.pause_at(60_000)

        def take(many: int) -> None:
            for _ in range(many):
                page.clock.run_for(STEP)
                shot = Image.open(BytesIO(page.screenshot(clip=PART))).convert("RGB")
                frames.append(shot.resize((WIDE, WIDE * shot.height // shot.width)))

        take(WAIT)
        box = page.locator(".rl-guess svg").first.bounding_box() or {}
        page.mouse.click(box["x"] + 0.85 * box["width"], box["y"] + 0.6 * box["height"])
        take(PLACED)
        page.get_by_role("button", name="this is my guess").first.click()
        take(LANDED)
        frames[:0] = [frames[-1]] * WAIT  # what a still shows is the surprise
        page.get_by_role("button", name="work per second").click()
        take(ROOF)
        browser.close()
    return frames


def main() -> int:
    """Command line: write the GIF, and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", type=Path, default=REPOSITORY / "site")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    chosen = parser.parse_args()
    frames = film(chosen.site, chosen.chromium)
    palette = frames[-1].quantize(COLOURS, Image.Quantize.FASTOCTREE)
    first, *rest = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in frames]
    first.save(OUT, save_all=True, append_images=rest, duration=STEP, loop=0, optimize=True)
    print(f"{OUT.relative_to(REPOSITORY)}: {OUT.stat().st_size / 1e3:.0f} kB, {len(frames)} frames")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
