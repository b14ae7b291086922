"""One Jupyter server and one browser for all browser tests.

The pages are the real ones: JupyterLab, Notebook 7, and the static pages of tools/site.py. The
browser is the session's ``chromium`` of tests/conftest.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from hashlib import sha256
from pathlib import Path

import nbformat
import pytest
from filelock import FileLock
from nbformat import NotebookNode

from tests.browser.front import Front
from tests.browser.one_kernel import one_kernel
from tests.browser.server import Server, jupyter_server
from tests.browser.tab import Tab
from tools.site import build_page

TICK = "const tick = () => document.querySelector('.rl-live-roofline .stage svg').dataset.tick;"
BOUND = ".rl-live-roofline .bound.{}_cold"  # the mark on the roof of an operation, by its name


@pytest.fixture(scope="session")
def tab(chromium) -> Tab:
    """The page for everything but Lab and Notebook 7."""
    return Tab(chromium)


@pytest.fixture
def page(tab: Tab) -> Iterator[object]:
    """A page; trouble on its console fails the test."""
    with tab.silent() as opened:
        yield opened


@pytest.fixture(scope="module")
def opened(tab: Tab, address: str, request: pytest.FixtureRequest) -> Iterator[object]:
    """The module's page for a reader who asked for no motion, opened once: things jump.

    The module has the fixture ``address``, its WINDOW (width, height) and ``settled(page)``, which
    waits until everything is there.
    """
    with tab.silent(address, request.module.WINDOW, motion="reduce") as page:
        request.module.settled(page)
        yield page


@pytest.fixture
def still_page(tab: Tab, address: str, request: pytest.FixtureRequest) -> Iterator[object]:
    """The same, opened for each test."""
    with tab.silent(address, request.module.WINDOW, motion="reduce") as opened:
        request.module.settled(opened)
        yield opened


@pytest.fixture
def moving_page(tab: Tab, address: str, request: pytest.FixtureRequest) -> Iterator[object]:
    """The page for everybody else."""
    with tab.silent(address, request.module.WINDOW) as opened:
        request.module.settled(opened)
        yield opened


def x_of(page, selector: str) -> float:
    """Where a marker is, in pixels of its picture."""
    text = page.locator(selector).first.get_attribute("transform")
    return float(text.split("(")[1].split()[0])


def y_of(page, selector: str) -> float:
    text = page.locator(selector).first.get_attribute("transform")
    return float(text.split("(")[1].split()[1].rstrip(")"))


def handle(page, number: int):
    return page.locator(".rl-live-roofline .rl-sliders input").nth(number)


def press(page, number: int, key: str, times: int = 1) -> None:
    """Focus slider ``number`` and press ``key``; returns when the picture has moved."""
    handle(page, number).focus()
    page.evaluate(f"() => {{ {TICK} window.rlTick = tick(); }}")
    for _ in range(times):
        page.keyboard.press(key)
        page.wait_for_function(f"() => {{ {TICK} return rlTick !== (rlTick = tick()); }}")


def ready(page) -> None:
    """Wait until the picture is there."""
    page.wait_for_selector(".rl-live-roofline .bound", state="attached")


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Jupyter server (Lab and Notebook 7) for the whole session."""
    with jupyter_server(tmp_path_factory.mktemp("jupyter"), ports=False) as server:
        yield server


@pytest.fixture(scope="session")
def fronts(chromium, jupyter: Server) -> dict[str, Front]:
    return {name: Front(name, Tab(chromium), jupyter) for name in ("lab", "notebook")}


@pytest.fixture
def leave(fronts: dict[str, Front]) -> Iterator[Callable[[str], Front]]:
    """``leave(front)``: "lab" or "notebook", which is left when the test ends.

    A script error of ours fails the test.
    """
    errors: list[str] = []
    used: list[Front] = []

    def failed(error: object) -> None:
        errors.append(str(error))

    def taken(name: str) -> Front:
        used.append(fronts[name])
        fronts[name].tab.page.on("pageerror", failed)
        return fronts[name]

    yield taken
    for front in used:
        front.tab.page.remove_listener("pageerror", failed)
        front.close()
    assert not [e for e in errors if "rooflab" in e or "rl-" in e or "anywidget" in e], errors


@pytest.fixture
def open_notebook(leave: Callable[[str], Front], jupyter: Server) -> Callable[..., object]:
    """``open_notebook(front, name, *cells)`` runs a notebook in "lab" or "notebook"; the page.

    Cells may run for long: each test waits for what it needs to see.
    """

    def opened(front: str, name: str, *cells: str) -> object:
        jupyter.write(name, *cells)
        return leave(front).open(name)

    return opened


@pytest.fixture(scope="session")
def run_cells(
    tmp_path_factory: pytest.TempPathFactory, shared: Path
) -> Iterator[Callable[..., NotebookNode]]:
    """``run_cells(*cells)`` runs cells as a notebook of their own: that, with its widgets.

    Once for all processes: the first that asks has a kernel for it.
    """
    with ExitStack() as at_the_end:

        @cache
        def kernel() -> Callable[..., NotebookNode]:
            return at_the_end.enter_context(one_kernel(tmp_path_factory.mktemp("kernel")))

        def run(*cells: str) -> NotebookNode:
            file = shared / f"cells-{sha256(repr(cells).encode()).hexdigest()[:16]}.ipynb"
            with FileLock(f"{file}.lock"):
                if not file.exists():
                    nbformat.write(kernel()(*cells), file)
            return nbformat.read(file, as_version=4)

        yield run


@pytest.fixture(scope="session")
def static_page(
    run_cells: Callable[..., NotebookNode], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., str]:
    """``static_page(name, *cells)`` runs cells, writes the page of tools/site.py: its URL."""
    out = tmp_path_factory.mktemp("site with spaces é")
    known: dict[str, tuple[tuple[str, ...], str]] = {}

    def page(name: str, *cells: str) -> str:
        if name not in known:
            known[name] = (cells, build_page(run_cells(*cells), out, name).as_uri())
        assert known[name][0] == cells, f"another page is called {name!r}"
        return known[name][1]

    return page


PICTURES = {
    "roofline": 'rl.live.roofline(machine="h100-sxm", dtype="bf16", n=1024)',
    "box": 'rl.live.box(m=1, n=1024, k=1, machine="h100-sxm")',
    "both": 'rl.live.roofline(machine="h100-sxm", box=True)',
    "layer": 'rl.live.layer(1, machines=["h100-sxm", "rtx-4090"], dtype="bf16")',
}


@pytest.fixture(scope="session")
def picture_page(static_page: Callable[..., str]) -> Callable[[str], str]:
    """``picture_page(name)``: URL of a static page with that one of PICTURES."""
    return cache(lambda name: static_page(name, f"import rooflab as rl\n{PICTURES[name]}"))


@pytest.fixture
def show_picture(page, picture_page: Callable[[str], str]) -> Callable[[str], object]:
    """``show_picture(name)``: that one of PICTURES, ready to be moved."""

    def shown(name: str) -> object:
        page.goto(picture_page(name))
        ready(page)
        return page

    return shown
