"""How long until the first picture of a static lesson can be moved, on a slow line?

A server on this computer packs files by gzip, and Chromium slows its line down to 1.6 Mbit/s and
150 ms, which is what Lighthouse takes for a telephone. The time runs from the request until the
frame that shows the first picture, wherever on the page it stands; nothing is cached. Target: 2 s.

    python -m benchmarks.page_load [--rounds 5] [--site FOLDER] [LESSON …]
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from benchmarks.report import save, spread, table

TARGET = 2.0  # s
BITS_PER_S, DELAY = 1.6e6, 150  # of the line; ms
PACKED = (".html", ".css", ".js")
# When the frame with the first picture was done, in ms since the page was asked for.
DRAWN = """() => new Promise(done => {
    const look = () => document.querySelector('#picture-1[data-drawn]')
        ? setTimeout(() => done(performance.now())) : requestAnimationFrame(look);
    look(); })"""
LOADED = """() => [...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource')].reduce((sum, one) => sum + one.transferSize, 0)"""


@cache
def packed(path: str) -> bytes:
    return gzip.compress(Path(path).read_bytes(), 6)


class Handler(SimpleHTTPRequestHandler):
    """A folder's files; texts are packed, as every web server does."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.translate_path(self.path)
        if not path.endswith(PACKED) or not Path(path).is_file():
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(packed(path))))
        self.end_headers()
        self.wfile.write(packed(path))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server that has this folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def opened(chromium, address: str) -> tuple[float, float]:
    """Seconds until the first picture is there, and the kB that have come by then."""
    context = chromium.new_context(viewport={"width": 1366, "height": 680})
    tab = context.new_page()
    line = context.new_cdp_session(tab)
    line.send("Network.enable")
    line.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": DELAY,
            "downloadThroughput": BITS_PER_S / 8,
            "uploadThroughput": BITS_PER_S / 8,
        },
    )
    tab.goto(f"{address}#picture-1", wait_until="commit")  # leads to it, however far below
    milliseconds, loaded = tab.evaluate(DRAWN), tab.evaluate(LOADED)
    context.close()
    return milliseconds / 1e3, loaded / 1e3


def measure(site: Path, names: list[str], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds and kB of each page, round after round."""
    from playwright.sync_api import sync_playwright

    from tests.conftest import CHROMIUM, FLAGS

    browser = next(path for name in CHROMIUM if (path := shutil.which(name)))
    with (
        served(site) as address,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=browser, args=FLAGS) as chromium,
    ):
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        for _ in range(rounds):
            for name in names:
                found[name].append(opened(chromium, f"{address}/{name}.html"))
        return found


def main(arguments: list[str] | None = None) -> int:
    """Build the pages if there are none, measure, print the table, keep the result."""
    from tools.site import NOTEBOOKS, build_site

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", help="names such as 00_free_lunch; default: all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--site", type=Path, help="pages that are built already")
    chosen = parser.parse_args(arguments)
    names = chosen.lessons or sorted(p.stem for p in NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    with tempfile.TemporaryDirectory(prefix="rooflab-bench-") as folder:
        if chosen.site is None:
            build_site(Path(folder), [NOTEBOOKS / f"{name}.ipynb" for name in names])
        found = measure(chosen.site or Path(folder), names, chosen.rounds)
    rows = [
        (name, *spread([seconds for seconds, _ in took]), statistics.median(kb for _, kb in took))
        for name, took in found.items()
    ]
    table(("lesson", "median s", "lowest", "highest", "kB by then"), rows)
    late = [name for name, median, *_ in rows if median > TARGET]
    print(f"first picture within {TARGET:g} s: {'no: ' + ', '.join(late) if late else 'yes'}")
    pages = {
        name: {"seconds": [s for s, _ in took], "kb": took[0][1]} for name, took in found.items()
    }
    save(
        "page_load",
        {"target_s": TARGET, "bits_per_s": BITS_PER_S, "delay_ms": DELAY, "pages": pages},
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
