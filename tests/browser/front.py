"""JupyterLab and Notebook 7: one page of each and one kernel for all tests.

Loading Lab and starting a kernel that imports the course take far longer than what a test does
there. Each test has a notebook of its own, and the kernel is handed on to it as if it had just
started: without names and without widgets.
"""

from __future__ import annotations

import json
from secrets import token_hex

from playwright.sync_api import Error

from tests.browser.one_kernel import AS_NEW
from tests.browser.server import Server
from tests.browser.tab import Tab

LOADING = 120_000  # ms: Lab, or a kernel, on a busy machine
OPENED = """name => {
    const here = window.jupyterapp?.shell.currentWidget,
        kernel = here?.sessionContext?.session?.kernel;
    return here?.context?.path === name && here.context.isReady && here.sessionContext.isReady
        && kernel?.status === 'idle' && kernel.connectionStatus === 'connected'
        && document.querySelector('.jp-Notebook .jp-CodeCell') !== null; }"""
RUN_ALL = "() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
NAME = "import os; os.environ['JPY_SESSION_NAME'] = {!r}"  # as Jupyter does for a new kernel
ASK = """async ([code, expression]) => {
    const { sessionContext } = window.jupyterapp.shell.currentWidget;
    const asked = sessionContext.session.kernel.requestExecute(
        { code, user_expressions: { it: expression }, silent: true });
    return JSON.stringify((await asked.done).content); }"""
KERNEL_SAYS = (
    f"async ([expression, wanted]) => JSON.parse(await ({ASK})(['', "
    "expression])).user_expressions.it.data['text/plain'] === wanted"
)

# The kernel is told when a hand rests, by a timer of 150 ms; held, it ends when it is let.
HOLD = """() => {
    const start = window.setTimeout, stop = window.clearTimeout, resting = new Map();
    let last = 1e9;
    window.setTimeout = (then, after, ...more) =>
        after === 150 ? (resting.set(++last, then), last) : start(then, after, ...more);
    window.clearTimeout = id => { if (!resting.delete(id)) stop(id); };
    window.rest = () => { const all = [...resting.values()]; resting.clear();
        all.forEach(then => then()); return all.length; };
    window.letGo = () => { window.setTimeout = start; window.clearTimeout = stop;
        delete window.letGo; rest(); }; }"""


def hold_hand(page) -> None:
    """However slow the keys are pressed, the hand rests when ``rest()`` is called in the page."""
    page.evaluate(HOLD)


def ask_kernel(page, expression: str, code: str = "") -> str:
    """The repr of an expression in the notebook's kernel, after running ``code`` there."""
    answer = page.wait_for_function(ASK, arg=[code, expression], timeout=LOADING).json_value()
    return json.loads(answer)["user_expressions"]["it"]["data"]["text/plain"]


def wait_for_kernel(page, expression: str, wanted: str) -> None:
    """Wait until the kernel has heard: the repr of an expression there is ``wanted``."""
    try:
        page.wait_for_function(KERNEL_SAYS, arg=[expression, wanted], polling=100)
    except Error:
        assert ask_kernel(page, expression) == wanted
        raise


class Front:
    """A front end in a page of its own: "lab" or "notebook"."""

    def __init__(self, name: str, tab: Tab, server: Server) -> None:
        self.name, self.tab, self.server = name, tab, server
        self._loaded = None  # the page that Lab was loaded into

    def open(self, path: str) -> object:
        """Open the notebook at ``path`` and run it; the page, once its cells have begun."""
        page = self.show(path)
        ask_kernel(page, "None", NAME.format(str(self.server.folder / path)))
        page.evaluate(RUN_ALL)  # not awaited: each test waits for what it needs to see
        return page

    def show(self, path: str) -> object:
        """Open the notebook at ``path``; the page, once it and its kernel are there."""
        page = self.tab.page
        self.server.hand_on(path)
        if self.name == "notebook":
            page.goto(f"{self.server.url}/notebooks/{path}", timeout=LOADING)
        else:
            self._load(page)
            page.evaluate(
                """path => { window.jupyterapp.commands.execute(
                'docmanager:open', { path, factory: 'Notebook' }); }""",
                path,
            )
        # Running a cell before the notebook is in front and its kernel idle would be lost.
        page.wait_for_function(OPENED, arg=path, timeout=LOADING)
        return page

    def save(self) -> None:
        """Save the notebook, as the key does; returns when the file is written."""
        self.tab.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    def come_back(self, path: str) -> object:
        """Save the notebook, end its kernel and open the file anew; the page, nothing run yet."""
        self.save()
        self.server.stop_kernels()
        self.tab.clear()  # the page is left, as if the browser had been closed
        self._loaded = None
        return self.show(path)

    def open_again(self, path: str) -> object:
        """The same in less time: Lab's page stays, and the kernel lives on but forgets all."""
        self.save()
        self.close()
        return self.show(path)

    def _load(self, page) -> None:
        if self._loaded is page:
            return
        # A workspace that nobody had: Lab would open the notebooks of an earlier one again.
        page.goto(f"{self.server.url}/lab/workspaces/{token_hex(4)}", timeout=LOADING)
        page.wait_for_selector(".jp-Launcher", timeout=LOADING)
        self._loaded = page

    def close(self) -> None:
        """Leave the notebook; its kernel forgets all, or ends where it does not answer."""
        page, alone = self.tab.page, self.name == "notebook"
        try:
            page.evaluate("() => { window.letGo?.(); }")
            if self.server.api("sessions"):
                ask_kernel(page, "None", AS_NEW)
            if not alone:
                page.evaluate("() => window.jupyterapp.shell.currentWidget.dispose()")
        except Error:
            self.server.stop_kernels()
            alone = True
        if alone or page.locator(".jp-Dialog").count():
            self._loaded = None
            self.tab.clear()
        else:
            page.mouse.move(0, 0)
