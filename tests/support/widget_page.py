"""A moving picture alone in a browser: its own script and style, a model made of plain values.

No kernel, no Jupyter: hundreds of states of a picture are looked at in a second.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 60_000
START = """async ([esm, css, state, width]) => {
    const revived = value => Array.isArray(value) ? value.map(revived)
        : value?.bytes64 !== undefined ? Uint8Array.from(atob(value.bytes64), c => c.charCodeAt(0))
        : value && typeof value === 'object'
            ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, revived(v)])) : value;
    const values = revived(state), heard = [];
    const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
    window.model = { get: name => values[name], save_changes() {}, off() {},
        widget_manager: { get_model: async () => null },
        on(names, then) { for (const name of names.split(' ')) heard.push([name, then]); },
        set(name, value) { if (same(values[name], value)) return; values[name] = value;
            for (const [event, then] of heard) if (event === `change:${name}`) then(); } };
    document.documentElement.style.cssText = 'background: #fff';
    document.body.style.cssText = `margin: 0; width: ${width}px`;
    document.head.append(Object.assign(document.createElement('style'), { textContent: css }));
    const el = document.body.appendChild(document.createElement('div'));
    const url = URL.createObjectURL(new Blob([esm], { type: 'text/javascript' }));
    await (await import(url)).default.render({ model: window.model, el });
    await document.fonts.ready; }"""

# The words of a picture as boxes in its own pixels: left, top, right, bottom of their letters.
WORDS = """(within) => [...document.querySelectorAll(`${within} text`)]
    .filter(t => t.textContent && t.getClientRects().length
        && !t.getAttribute('transform')?.includes('rotate'))
    .map(t => { const b = t.getBBox(), up = t.getCTM();
        const own = t.ownerSVGElement.getCTM().inverse().multiply(up);
        const small = parseFloat(getComputedStyle(t).fontSize);
        return { text: t.textContent, clipped: Boolean(t.closest('[clip-path]')),
            x0: b.x + own.e, x1: b.x + b.width + own.e,
            y0: b.y + own.f + 0.26 * small, y1: b.y + own.f + b.height - 0.2 * small }; })"""


def plain(value: object) -> object:
    """``value`` with bytes as base64 text, as a page can be given it."""
    if isinstance(value, (bytes, memoryview)):
        return {"bytes64": b64encode(bytes(value)).decode("ascii")}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


@contextmanager
def moving(chromium, view, width: int = 760) -> Iterator[object]:
    """A page that shows the widget ``view``, ``width`` CSS pixels wide; ``model`` is its model."""
    state = {name: plain(getattr(view, name)) for name in view.keys if not name.startswith("_")
             and name not in ("layout", "tabbable", "tooltip", "comm")}  # fmt: skip
    page = chromium.new_page(viewport={"width": max(width, 320), "height": 1200})
    page.set_default_timeout(PATIENCE)
    page.emulate_media(reduced_motion="reduce")
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    try:
        page.goto("about:blank")
        page.evaluate(START, [str(view._esm), str(view._css), state, width])
        yield page
        assert not trouble, trouble
    finally:
        page.close()
