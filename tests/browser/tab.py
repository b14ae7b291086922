"""A page of the browser that test after test uses: the scripts of the last one are still compiled.

Every test gets a document of its own, so nothing of the last one is left but the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 60_000  # ms for what happens at once on a quiet machine
WINDOW = (1280, 1000)

HAS_SIZE = "size => innerWidth === size[0] && innerHeight === size[1]"
# A frame runs what was asked of it, lays out, then tells who watches sizes; all may ask for more.
STAND = """async nodes => {
    const frame = () => new Promise(requestAnimationFrame);
    const look = () => [...document.querySelectorAll(nodes)].flatMap(node => {
        const { x, y, width, height } = node.getBoundingClientRect();
        return [x, y, width, height]; });
    for (let before = [], same = 0, frames = 0; same < 3; frames += 1) {
        if (frames > 2000) throw new Error(`${nodes} never stands still`);
        await frame();
        const now = look(), stands = now.length === before.length;
        same = stands && now.every((value, n) => value === before[n]) ? same + 1 : 0;
        before = now;
    } }"""

# An animation that is seen frame by frame, however slow the machine is.
BY_HAND = """() => {
    const asked = new Map();
    let clock = performance.now(), last = 0;
    performance.now = () => clock;
    window.requestAnimationFrame = then => (asked.set(++last, then), last);
    window.cancelAnimationFrame = id => asked.delete(id);
    window.oneFrame = milliseconds => {
        clock += milliseconds;
        for (const id of [...asked.keys()]) {
            const then = asked.get(id); asked.delete(id); then?.(clock); }
        return asked.size; }; }"""


def by_hand(page) -> None:
    """From now on a frame comes when ``oneFrame(milliseconds)`` is called in the page."""
    page.evaluate(BY_HAND)


def frames(page, seen: str, milliseconds: int) -> list:
    """Frame after frame until nobody asks for another: what ``seen()`` returns after each."""
    return page.evaluate(
        f"() => {{ const all = []; do {{ const more = oneFrame({milliseconds}); "
        f"all.push(({seen})());"
        " if (!more || all.length > 2000) return all; } while (true); }"
    )


def stand(page, nodes: str = "body *") -> None:
    """Wait until nothing of ``nodes`` has moved for three frames."""
    page.evaluate(STAND, nodes)


def resize(page, size: tuple[int, int]) -> None:
    """Give the window another size, and wait until everything has its place in it."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.wait_for_function(HAS_SIZE, arg=size)
    stand(page)


class Tab:
    """A page that is made when it is first used, and again when it does not answer any more."""

    def __init__(self, browser) -> None:
        self._browser, self._page = browser, None

    @property
    def page(self):
        if self._page is None:
            self._page = self._browser.new_page()
            self._page.set_default_timeout(PATIENCE)
        return self._page

    def clear(self) -> None:
        """Leave the document; a page that cannot is thrown away."""
        page, self._page = self.page, None
        try:
            page.goto("about:blank")
            page.mouse.up()
            page.mouse.move(0, 0)
        except Exception:
            page.close()
            raise
        self._page = page

    @contextmanager
    def silent(
        self,
        address: str = "about:blank",
        window: tuple[int, int] = WINDOW,
        motion: str = "no-preference",
        colours: str = "light",
        whole: bool = True,
    ) -> Iterator[object]:
        """The page on ``address``, which must not say a word of trouble on its console.

        ``whole``: every picture of a static page is drawn, those too that are far below.
        """
        page, said = self.page, []

        def heard(message) -> None:
            if message.type == "error":
                said.append(message.text)

        def failed(error) -> None:
            said.append(str(error))

        page.emulate_media(reduced_motion=motion, color_scheme=colours)
        page.set_viewport_size({"width": window[0], "height": window[1]})
        page.wait_for_function(HAS_SIZE, arg=window)
        page.on("console", heard)
        page.on("pageerror", failed)
        try:
            page.goto(address)
            if whole:
                page.evaluate("() => window.rooflabPage?.all()")
            yield page
        finally:
            self.clear()
            page.remove_listener("console", heard)
            page.remove_listener("pageerror", failed)
        assert not said, said
