"""One Jupyter server and one browser for all browser tests.

The pages are the real ones: JupyterLab, Notebook 7, and the static pages of tools/site.py. The
browser is the session's ``chromium`` of tests/conftest.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import nbformat
import pytest

from tests.browser.server import Server, jupyter_server

LOADING = 60_000  # ms: Lab on a busy machine; everything else answers at once
ANSWER = 15_000
DOT = '.rl-dot[data-op="gemv"] .rl-bound'


@pytest.fixture
def page(chromium) -> Iterator[object]:
    """A fresh page; a script error on it fails the test."""
    errors: list[str] = []
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    opened = context.new_page()
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.set_default_timeout(ANSWER)
    yield opened
    context.close()
    assert not [e for e in errors if "rooflab" in e or "rl-" in e or "anywidget" in e], errors


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Jupyter server (Lab and Notebook 7) for the whole session."""
    with jupyter_server(tmp_path_factory.mktemp("jupyter"), ports=False) as server:
        yield server


def open_silent(chromium, address: str, **options: object) -> Iterator[object]:
    """A page on ``address`` that must not say a word on its console."""
    opened = chromium.new_page(**options)
    said: list[str] = []
    opened.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
    opened.on("pageerror", lambda e: said.append(str(e)))
    opened.goto(address)
    yield opened
    opened.close()
    assert said == [], "the page is silent on the console"


@pytest.fixture
def still_page(chromium, address: str, request: pytest.FixtureRequest) -> Iterator[object]:
    """The module's page for a reader who asked for no motion: things jump.

    The module has the fixture ``address``, its WINDOW (width, height) and ``settled(page)``, which
    waits until everything is there.
    """
    yield from _opened(chromium, address, request.module, "reduce")


@pytest.fixture
def moving_page(chromium, address: str, request: pytest.FixtureRequest) -> Iterator[object]:
    """The same page for everybody else."""
    yield from _opened(chromium, address, request.module, "no-preference")


def _opened(chromium, address: str, module: object, motion: str) -> Iterator[object]:
    size = dict(zip(("width", "height"), module.WINDOW, strict=True))
    for opened in open_silent(chromium, address, viewport=size, reduced_motion=motion):
        module.settled(opened)
        yield opened


def ask_kernel(page, expression: str) -> str:
    """The repr of an expression in the notebook's kernel."""
    return page.evaluate(
        """async expression => {
        const { sessionContext } = window.jupyterapp.shell.currentWidget;
        const asked = sessionContext.session.kernel.requestExecute(
            { code: '', user_expressions: { it: expression }, silent: true });
        return (await asked.done).content.user_expressions.it.data['text/plain']; }""",
        expression,
    )


def x_of(page, selector: str = DOT) -> float:
    """Where a marker is, in pixels of its picture."""
    text = page.locator(selector).first.get_attribute("transform")
    return float(text.split("(")[1].split()[0])


def y_of(page, selector: str = DOT) -> float:
    text = page.locator(selector).first.get_attribute("transform")
    return float(text.split("(")[1].split()[1].rstrip(")"))


def handle(page, number: int):
    return page.locator(".rooflab-slider .noUi-handle").nth(number)


def press(page, number: int, key: str, times: int = 1) -> None:
    """Focus slider ``number`` and press ``key``; returns when the picture has moved."""
    handle(page, number).focus()
    for _ in range(times):
        before = page.locator("svg.rl-live").first.get_attribute("data-tick")
        page.keyboard.press(key)
        page.wait_for_function(
            "before => document.querySelector('svg.rl-live').dataset.tick !== before", arg=before
        )


def ready(page) -> None:
    page.wait_for_selector(DOT, state="attached", timeout=60_000)
    page.wait_for_selector(".noUi-handle[aria-label]", state="attached")


@pytest.fixture
def open_notebook(jupyter: Server, page) -> Iterator[Callable[..., object]]:
    """``open_notebook(front, name, *cells)`` runs a notebook in "lab" or "notebook"; the page.

    Each test has a workspace of its own, because Lab would open the notebooks of earlier tests
    again and start their kernels; and it leaves no kernel behind, because others count theirs.
    """

    def opened(front: str, name: str, *cells: str) -> object:
        jupyter.write(name, *cells)
        workspace = name.removesuffix(".ipynb")
        where = {"lab": f"lab/workspaces/{workspace}/tree", "notebook": "notebooks"}[front]
        page.goto(f"{jupyter.url}/{where}/{name}", timeout=LOADING)
        page.wait_for_function("window.jupyterapp !== undefined", timeout=LOADING)
        page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=LOADING)
        # Running a cell before the notebook is in front and its kernel idle would be lost.
        page.wait_for_function(
            """name => { const here = window.jupyterapp.shell.currentWidget;
            return here?.context?.path === name && here.context.isReady
                && here.sessionContext.isReady && here.sessionContext.session?.kernel?.status === 'idle'
                && here.sessionContext.session.kernel.connectionStatus === 'connected'; }""",
            arg=name,
            timeout=LOADING,
        )
        # Not awaited: the cells may run for long, and each test waits for what it needs to see.
        page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
        return page

    jupyter.stop_kernels()
    yield opened
    page.goto("about:blank")
    jupyter.stop_kernels()


@pytest.fixture(scope="session")
def static_page(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """``static_page(name, *cells)`` runs cells, writes the page of tools/site.py, returns its URL."""
    from tools.execute import run_notebook
    from tools.site import build_page

    out = tmp_path_factory.mktemp("site with spaces é")

    def built(name: str, *cells: str) -> str:
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
        )
        return build_page(run_notebook(notebook, name, out), out, name).as_uri()

    return built


PICTURES = {
    "roofline": 'rl.live.roofline(machine="h100-sxm", dtype="bf16", n=1024)',
    "box": 'rl.live.box(m=1, n=1024, k=1, machine="h100-sxm")',
    "both": 'rl.live.roofline(machine="h100-sxm", box=True)',
    "layer": 'rl.live.layer(1, machines=["h100-sxm", "rtx-4090"], dtype="bf16")',
}


@pytest.fixture(scope="session")
def pictures(static_page) -> str:
    """URL of one static page with all live pictures, so that one kernel run serves every test."""
    return static_page("pictures", *(f"import rooflab as rl\n{call}" for call in PICTURES.values()))


@pytest.fixture
def show_picture(page, pictures) -> Callable[[str], object]:
    """``show_picture(name)``: the static page with only that one of PICTURES left on it."""

    def shown(name: str) -> object:
        page.goto(pictures)
        page.wait_for_function(
            "count => document.querySelectorAll('.rl-bound').length >= count",
            arg=8,
            timeout=LOADING,
        )
        page.evaluate(
            "place => [...document.querySelectorAll('.jp-Cell')].forEach("
            "(cell, index) => index === place || cell.remove())",
            list(PICTURES).index(name),
        )
        page.wait_for_selector(".noUi-handle[aria-label]", state="attached")
        return page

    return shown
