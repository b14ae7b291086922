"""Everybody can use the pictures: axe-core's rules, contrast of drawn words, sizes of targets.

One page holds every picture that moves; Lab and Notebook 7 run the same cells.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.tab import resize, stand

pytestmark = pytest.mark.browser
WINDOW = (1366, 900)

ROOT = Path(__file__).parents[2]
PROSE = '''from IPython.display import Markdown
# a comment, a number, a word operator: 4096 in (1, 2) is not None
Markdown("""# Lesson 00 · A page\\n\\n## Measure\\n\\nText, `code` and a [link](index.html).\\n
```python\\n@staticmethod\\ndef rate(x: float = 1e9, *, name="GB") -> str:\\n    # what it says
    return f"{x / 1e9:.3f} {name}" if x is not None else "none"\\n```""")'''
PICTURES = f"""import os, sys, tempfile
sys.path.insert(0, {str(ROOT)!r})
os.environ["ROOFLAB_HOME"] = tempfile.mkdtemp()
import numpy as np
import rooflab as rl
from rooflab.labs.golf import sweep
from rooflab.labs.golf.solutions import axpy_chunks
from rooflab.measure.free_lunch import FreeLunch
from rooflab.show.guess_axis import guess
from tests.exercises.test_sorting import HERE as SORTED, TEN
from tests.support.film_example import HERE as RAN, SMALL, run
from tests.support.morph_example import HERE, MEASURED
x, y, k = np.ones(50_000), np.ones(50_000), (1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
curve = FreeLunch(k, tuple(max(4e-3, 2e-4 * v) for v in k), (0.0,) * 10, 1 << 24, 4, 1)
guess("seventeen", "How long do seventeen take?", result=4.3, unit="ms", low=1, high=200)"""
CELLS = (
    PROSE,
    PICTURES,
    'rl.live.roofline(["epyc-2core-vm", "h100-sxm"], machine="epyc-2core-vm", n=1024, cache="both",'
    " overhead=True, band=(4, 8), ladder=True)",
    'rl.live.roofline("h100-sxm", box=True)',
    "rl.live.film(SMALL, RAN, decode_run=[run(1), run(8)], context=256)",
    "rl.live.golf(sweep(axpy_chunks, 0.5, x, y, chunks=(1000, 50_000), rounds=0))",
    "rl.live.free_lunch(curve, names=True)",
    'rl.live.morph(MEASURED, machine=HERE, guesses={"gemm 1024×1024×1024 fp32": 0.2})',
    'rl.loops.space(rl.loops.Nest({"i": (1, 5), "j": 5}, "A[i,j] = A[i-1,j+1]*0.5"))',
    'rl.sort("03-ten", TEN, machine=SORTED)',
)
OURS = ".rl-pic"
READY = f"""() => document.querySelectorAll('{OURS}').length >= 9
    && document.querySelector('.rl-sort svg[tabindex]')"""
RULES = {"runOnly": {"type": "tag", "values": [
    "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
    "resultTypes": ["violations"], "preload": False}  # fmt: skip
# Colour of words against what lies below them, where axe cannot judge: drawn words, dark cards.
CONTRASTS = """ours => {
    const parse = text => text.match(/[\\d.]+/g).map(Number);
    const bright = c => { const [r, g, b] = c.map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const sheet = document.head.appendChild(document.createElement('style'));
    sheet.textContent = '* { pointer-events: auto !important; scroll-behavior: auto !important; }';
    const found = [];
    let seen = 0;
    const texts = 'svg text, p, span, b, small, li, label, summary, button, select';
    const written = [...document.querySelectorAll(`${ours} :is(${texts})`)]
        .filter(n => [...n.childNodes].some(one => one.nodeType === 3 && one.textContent.trim())
            || n.matches('select'))
        .filter(n => !n.matches(':disabled')
            && !n.closest('.rl-hidden, .aside'));
    for (const text of written) {
        const drawn = Boolean(text.ownerSVGElement), style = getComputedStyle(text),
            part = text.getClientRects()[0], fill = drawn ? style.fill : style.color;
        if (!part?.width || style.visibility === 'hidden') continue;
        let shown = true;
        for (let n = text; n; n = n.parentElement) shown &&= +getComputedStyle(n).opacity > 0.9;
        if (!shown) continue;
        text.scrollIntoView({ block: 'center' });
        const b = text.getBoundingClientRect(),
            stack = document.elementsFromPoint(b.left + b.width / 2, b.top + b.height / 2);
        const below = drawn && stack.filter(n => n !== text && /^(rect|polygon)$/.test(n.tagName))
            .map(n => getComputedStyle(n))
            .find(s => s.fill !== 'none' && +s.opacity === 1 && +s.fillOpacity === 1
                && (parse(s.fill)[3] ?? 1) === 1);
        let paper = below && !text.matches('.halo, .rl-halo') ? below.fill : null;
        for (let n = text.ownerSVGElement ?? text; !paper; n = n.parentElement) {
            if (!n) { paper = 'rgb(255, 255, 255)'; break; }
            const c = getComputedStyle(n).backgroundColor;
            if ((parse(c)[3] ?? 1) === 1) paper = c;
        }
        let ink = parse(fill).slice(0, 3), under = parse(paper).slice(0, 3);
        const [low, high] = [bright(ink), bright(under)].sort((p, q) => p - q),
            ratio = (high + 0.05) / (low + 0.05);
        seen += 1;
        if (ratio < 4.5) found.push([text.textContent, fill, paper, Math.round(100 * ratio) / 100]);
    }
    sheet.remove();
    return { found, seen }; }"""
SMALL = """ours => [...document.querySelectorAll(
    `${ours} :is(button, select, summary, [role=button])`)]
    .filter(n => n.getClientRects().length && getComputedStyle(n).visibility !== 'hidden')
    .map(n => [n.className || n.textContent, n.getBoundingClientRect()])
    .filter(([, b]) => Math.min(b.width, b.height) < 23.9)
    .map(([name, b]) => [name, b.width, b.height])"""
CUT = """ours => [...document.querySelectorAll(
    `${ours} :is(.rl-fall text, button, select, b)`)]
    .filter(n => n.getClientRects().length && n.textContent.trim())
    .filter(n => { const b = n.getBoundingClientRect();
        let own = n.closest('.rl-pic');
        // one that has no box of its own
        while (!own.getBoundingClientRect().width) own = own.parentElement;
        const card = own.getBoundingClientRect();
        return b.left < card.left - 1 || b.right > card.right + 1; })
    .map(n => n.textContent)"""


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("every picture", *CELLS)


def settled(page) -> None:
    page.wait_for_function(READY)
    stand(page, f"{OURS} *")


def violations(page, within: object = None) -> list[str]:
    """What axe-core finds: the rule, how often, and the first places."""
    found = Axe().run(page, within, RULES).response["violations"]
    return [
        f"{one['id']} ×{len(one['nodes'])}: {[n['html'][:120] for n in one['nodes'][:3]]}"
        for one in found
    ]


def dark(page, many: str) -> None:
    """Wait until that many pictures are dark."""
    page.wait_for_function(f"document.querySelectorAll('{OURS}:is(.rl-dark)').length {many}")
    stand(page, f"{OURS} *")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_and_drawn_words_stand_out(opened, colours: str) -> None:
    opened.emulate_media(color_scheme=colours)
    dark(opened, ">= 5" if colours == "dark" else "=== 0")
    assert violations(opened) == []
    assert opened.evaluate(SMALL, OURS) == [], "what is pressed has 24 pixels"
    told = opened.evaluate(CONTRASTS, f":is({OURS}, .rl-offer)")
    assert told["found"] == [] and told["seen"] > 150
    opened.emulate_media(color_scheme="light")


def test_axe_would_find_what_is_wrong(opened) -> None:
    dark(opened, "=== 0")
    button = opened.locator(".rl-scene button:enabled").locator("visible=true").first
    button.evaluate("one => { one.style.cssText = 'background: #fff; color: #bbb'; }")
    assert any(text.startswith("color-contrast") for text in violations(opened))
    button.evaluate("one => { one.style.cssText = ''; }")


def test_drawn_words_stand_out_where_a_notebook_turns_dark(opened) -> None:
    opened.evaluate("document.body.style.cssText = 'background: #111 !important; color: #eee'")
    dark(opened, ">= 5")
    told = opened.evaluate(CONTRASTS, OURS)
    assert told["found"] == [] and told["seen"] > 150
    opened.evaluate("document.body.style.cssText = ''")


def test_on_a_telephone_nothing_is_cut(opened) -> None:
    for width in (390, 320):
        resize(opened, (width, 820))
        assert opened.evaluate(CUT, OURS) == []
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def violations_in_jupyter(page) -> list[str]:
    page.locator(".rl-sort svg[tabindex]").wait_for()
    page.locator(".rl-film .rate").wait_for(state="attached")
    return violations(page, {"include": [[OURS]]})


@pytest.mark.slow  # in Lab it is test_static that asks
def test_axe_finds_nothing_in_our_pictures_in_notebook_7(open_notebook) -> None:
    assert violations_in_jupyter(open_notebook("notebook", "axe.ipynb", *CELLS[1:])) == []
