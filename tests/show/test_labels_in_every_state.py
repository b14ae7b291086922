"""Words of the pictures that move, in every state that sliders reach: apart, and off the axes."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.show.scene import painter
from tests.support.text_overlap import overlapping
from tests.support.widget_page import WORDS, moving

pytestmark = pytest.mark.browser

# All faults in the states i × j: words on words, on a marker, across an axis, or cut by the edge.
FAULTS = """([is, js, pictures, marks]) => { const words = %s, found = [];
    const meet = (a, b) => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
    let seen = 0;
    for (const i of is) for (const j of js) {
        model.set('i', i); model.set('j', j);
        for (const [within, f] of pictures) {
            const all = words(within);
            const { width, height } = document.querySelector(within).viewBox.baseVal;
            const dots = [...document.querySelectorAll(`${within} ${marks}`)]
                .filter(d => d.getClientRects().length).map(d => {
                const b = d.getBBox();
                const m = d.ownerSVGElement.getCTM().inverse().multiply(d.getCTM());
                return { x0: b.x * m.a + m.e, x1: (b.x + b.width) * m.a + m.e,
                    y0: b.y * m.d + m.f, y1: (b.y + b.height) * m.d + m.f }; });
            all.forEach((a, n) => {
                seen += 1;
                for (const b of all.slice(0, n)) if (meet(a, b)) found.push([i, j, a.text, b.text]);
                const say = what => found.push([i, j, a.text, what]);
                if (a.y0 < f.y0 && dots.some(d => meet(a, d))) say('a marker');
                if (a.x1 > f.x0 && a.y0 < f.y0 && a.y1 > f.y0) say('the x axis');
                if (a.x0 < f.x0 && a.x1 > f.x0 && a.y1 > f.y1 && a.y0 < f.y0) say('the y axis');
                if (a.clipped && a.y0 < f.y1) found.push([i, j, a.text, 'the upper edge']);
                if (a.x0 < 0 || a.y0 < 0 || a.x1 > width || a.y1 > height) say('the edge');
            });
        }
    }
    return { found: found.slice(0, 5), seen }; }""".replace("%s", WORDS)


def faults(page, pictures: list, sizes: tuple[int, int], marks: str) -> dict:
    return page.evaluate(FAULTS, [list(range(sizes[0])), list(range(sizes[1])), pictures, marks])


def test_the_fault_finder_finds_faults(chromium) -> None:
    live = rl.live.roofline("h100-sxm")
    frame = {edge: live.view.data["frame"][edge] for edge in ("x0", "x1", "y0", "y1")}
    with moving(chromium, live.view) as page:
        for moved in ({"y": frame["y0"]}, {"y": frame["y1"] + 5}, {"x": frame["x0"]}, {"x": -30}):
            page.evaluate(
                """moved => { const t = document.querySelector('svg.rl-live .rl-flat');
                t.setAttribute('text-anchor', 'start');
                for (const k in moved) t.setAttribute(k, moved[k]); }""",
                moved,
            )
            told = faults(page, [["svg.rl-live", frame]], (1, 1), ".rl-bound")
            assert any("FLOP/s" in text for _, _, text, _ in told["found"]), moved


@pytest.mark.parametrize("model", ["llama-2-7b", "mixtral-8x7b"])
@pytest.mark.parametrize("batch", [1, 8, 512])
@pytest.mark.parametrize("context", [32, 4096, 131072])
def test_no_word_of_a_films_still_lies_on_another(model: str, batch: int, context: int) -> None:
    film = rl.live.film(model, "rtx-4090", batch=batch, context=context)
    for sheet in film.sheets:
        assert overlapping(painter.figure(sheet, film.states())) == []
