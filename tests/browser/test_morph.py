"""The morph in a browser, on a page from disk where no kernel answers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.front import wait_for_kernel
from tests.browser.tab import by_hand, frames

pytestmark = pytest.mark.browser
WINDOW = (1280, 1100)

ROOT = Path(__file__).parents[2]
CELL = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
import rooflab as rl
from tests.support.morph_example import HERE, MEASURED
rl.live.morph(MEASURED, machine=HERE, guesses={{"gemm 1024×1024×1024 fp32": 0.2}})"""
BIG, MIDDLE, SMALL = (f".point >> nth={n}" for n in (8, 9, 0))
STOPS = ("time against work", "speed against intensity", "the roofline", "the cost of a call")


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("morph", CELL)


def settled(page) -> None:
    page.locator(".rl-morph svg[data-at='0']").wait_for()


def stop(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.locator(f".rl-morph svg[data-at='{STOPS.index(name)}']").wait_for()


def rest(page, at: float) -> None:
    """Move the slider as a hand does: it may rest between two stops."""
    slider = page.locator(".rl-morph input")
    slider.fill(str(at / 3 * float(slider.get_attribute("max"))))
    page.locator(f".rl-morph svg[data-at='{at:g}']").wait_for()


def place(page, selector: str) -> tuple[float, float]:
    text = page.locator(selector).first.get_attribute("transform")
    x, y = text.removeprefix("translate(").rstrip(")").split()
    return float(x), float(y)


def visible(page, selector: str) -> bool:
    return page.locator(selector).first.evaluate(
        "n => { for (; n.ownerSVGElement; n = n.parentNode) { const s = getComputedStyle(n); "
        "if (+s.opacity < 0.05 || s.visibility === 'hidden' || s.display === 'none') return false; "
        "}"
        " return true; }"
    )


def test_the_four_stops_and_what_they_say(still_page) -> None:
    said = []
    for name in STOPS:
        stop(still_page, name)
        said.append(still_page.locator(".rl-morph .say").inner_text())
        slider = still_page.locator(".rl-morph input")
        assert slider.get_attribute("aria-valuetext") == name
        pressed = still_page.locator(".rl-morph button[aria-pressed=true]")
        assert pressed.all_inner_texts() == [name]
    assert "crushed" in said[0] and "divided" in said[1] and "roof" in said[2]
    assert "FLOP ÷ call time" in said[3]
    rest(still_page, 2.5)
    assert slider.get_attribute("aria-valuetext").endswith(", on the way")
    assert slider.get_attribute("aria-label") == "from time against work to the roofline"


def test_roof_and_call_line_wait_for_their_stops(still_page) -> None:
    shown = []
    for name in STOPS:
        stop(still_page, name)
        shown.append((visible(still_page, ".roof"), visible(still_page, ".call")))
    assert shown == [(False, False), (False, False), (True, False), (True, True)]
    stop(still_page, "time against work")
    assert visible(still_page, ".call"), "once seen, it is a floor under the times"
    for name in STOPS[1:3]:
        stop(still_page, name)
        assert not visible(still_page, ".call"), "and nowhere else"
    stop(still_page, "time against work")
    heights = still_page.locator(".call").first.evaluate(
        "p => [0, 1].map(t => p.getPointAtLength(t * p.getTotalLength()).y)"
    )
    assert heights[0] == pytest.approx(heights[1], abs=0.1)


def test_arrow_and_page_keys_move_the_slider(still_page) -> None:
    slider = still_page.locator(".rl-morph input")
    assert slider.get_attribute("data-lm-suppress-shortcuts") == "true"
    slider.focus()
    before = place(still_page, MIDDLE)
    for _ in range(5):
        still_page.keyboard.press("ArrowRight")
    still_page.locator(".rl-morph svg[data-at='0.1']").wait_for()
    assert place(still_page, MIDDLE) != before
    for key, at in (("PageUp", 1), ("PageUp", 2), ("End", 3), ("PageDown", 2), ("Home", 0)):
        still_page.keyboard.press(key)
        still_page.locator(f".rl-morph svg[data-at='{at}']").wait_for()
    assert place(still_page, MIDDLE) == before


def test_every_step_moves_a_little(still_page) -> None:
    """From the first stop to the last no marker jumps: it is smooth wherever the hand rests."""
    longest = still_page.evaluate(
        """() => { const input = document.querySelector('.rl-morph input');
        const marks = [...document.querySelectorAll('.rl-morph .point')];
        const at = () => marks.map(m => m.transform.baseVal[0].matrix).map(m => [m.e, m.f]);
        let before = null, longest = 0;
        for (let s = 0; s <= 300; s++) { input.value = s / 300 * input.max;
          input.dispatchEvent(new Event('input'));
          const now = at();
          if (before) now.forEach((p, n) => {
              longest = Math.max(longest, Math.hypot(p[0] - before[n][0], p[1] - before[n][1])); });
          before = now; }
        return longest; }"""
    )
    assert 1 < longest < 12


def test_a_guess_hangs_straight_below_its_point_at_every_stop(still_page) -> None:
    for at in (0, 0.6, 1, 1.7, 2, 3):
        rest(still_page, at)
        x, y = place(still_page, BIG)
        guess_x, guess_y = place(still_page, ".guess")
        assert guess_x == pytest.approx(x, abs=0.1)
        if at >= 1:
            assert guess_y > y + 20
    assert visible(still_page, "text:text('off by ×11')")


def test_the_axes_cross_fade(still_page) -> None:
    names = ["time of one call", "FLOP per second", "FLOP per second, each step a factor of ten"]
    for k in range(3):
        rest(still_page, k)
        seen = [n for n in range(3) if visible(still_page, f".axis-{n}")]
        assert seen == [k]
        assert names[k] in still_page.locator(f".axis-{k}").all_text_contents()


def test_the_slider_goes_along_while_the_picture_glides(moving_page) -> None:
    by_hand(moving_page)
    moving_page.get_by_role("button", name="speed against intensity", exact=True).click()
    steps = frames(moving_page, "() => +document.querySelector('.rl-morph input').value", 40)
    assert len(set(steps)) > 10 and steps == sorted(steps)


def test_playing_goes_through_all_stops_and_rests_where_it_is_stopped(moving_page) -> None:
    by_hand(moving_page)
    play = moving_page.locator(".rl-morph .rl-play")
    assert play.inner_text() == "▶ play"
    play.click()
    moving_page.evaluate("() => { for (let n = 0; n < 20; n++) oneFrame(20); }")
    play.click()
    rests = float(moving_page.locator(".rl-morph svg").get_attribute("data-at"))
    assert 0 < rests < 1 and play.inner_text() == "▶ play"
    play.click()
    moving_page.evaluate(
        """async () => { for (let n = 0; n < 400; n++) {
            oneFrame(20); await new Promise(then => setTimeout(then)); } }"""
    )
    moving_page.locator(".rl-morph svg[data-at='3']").wait_for()
    assert play.inner_text() == "↺ play"


def test_labels_keep_apart_as_the_browser_draws_them(still_page) -> None:
    for name in STOPS:
        stop(still_page, name)
        boxes = still_page.evaluate(
            """() => [...document.querySelectorAll('.rl-morph svg text:not([transform*=rotate])')]
              .filter(node => {
              for (let n = node; n.ownerSVGElement; n = n.parentNode) {
                const s = getComputedStyle(n);
                if (+s.opacity < 0.05 || s.visibility === 'hidden'
                    || s.display === 'none') return false; }
              return true; }).map(t => { const b = t.getBBox(), m = t.getCTM(),
                  i = t.ownerSVGElement.getCTM?.() ?? m;
              const r = t.getBoundingClientRect();
              return [t.textContent, r.left, r.top + 3, r.right, r.bottom - 3]; })"""
        )
        assert len(boxes) > 10
        for a, b in combinations(boxes, 2):
            apart = a[3] <= b[1] or b[3] <= a[1] or a[4] <= b[2] or b[4] <= a[2]
            assert apart, (name, a, b)


def test_the_words_turn_with_the_axes(still_page) -> None:
    say = still_page.locator(".rl-morph .say")
    for at, word in ((1.5, "The same points"), (1.84, "The same points"), (1.9, "Each step is")):
        rest(still_page, at)
        assert say.inner_text().startswith(word)


def test_pointing_at_a_point_says_its_sentence(still_page) -> None:
    stop(still_page, "the roofline")
    still_page.locator(BIG).hover()
    say = still_page.locator(".rl-morph .say")
    expect(say).to_contain_text("GEMM 1024×1024×1024 in fp32, cold: 2.15 GFLOP over")
    still_page.mouse.move(2, 2)
    expect(say).to_contain_text("Each step is now a factor of ten")
    mark = still_page.locator(SMALL)
    mark.focus()
    expect(say).to_have_text(mark.get_attribute("aria-label"))


def test_points_keep_their_marker(still_page) -> None:
    def looks() -> list[list[str]]:
        return still_page.locator(".rl-morph .point path").evaluate_all(
            "all => all.map(p => [p.getAttribute('d'), getComputedStyle(p).fill])"
        )

    before = looks()
    stop(still_page, "the cost of a call")
    assert looks() == before
    assert len({tuple(look) for look in before}) == 3, "AXPY, GEMV, GEMM"


def test_the_buttons_glide_unless_the_reader_asked_for_stillness(moving_page) -> None:
    by_hand(moving_page)
    moving_page.get_by_role("button", name="the roofline", exact=True).click()
    seen = "() => document.querySelector('.rl-morph .point').transform.baseVal[0].matrix.f"
    steps = frames(moving_page, seen, 40)
    assert len(set(steps)) > 20
    assert moving_page.locator(".rl-morph svg").get_attribute("data-at") == "2"


def test_on_a_dark_page_every_point_is_seen(still_page) -> None:
    still_page.evaluate("document.body.style.background = '#111'; document.body.className += ' x'")
    still_page.locator(".rl-morph.rl-dark").wait_for()
    fill = still_page.locator(BIG).evaluate("p => getComputedStyle(p).fill")
    assert fill == "rgb(228, 228, 228)"


def test_in_lab_arrow_keys_move_it_and_the_kernel_knows_where_it_stands(open_notebook) -> None:
    page = open_notebook("lab", "morph.ipynb", CELL.replace("rl.live", "w = rl.live", 1) + "\nw")
    page.locator(".rl-morph svg[data-at='0']").wait_for()
    page.locator(".rl-morph input").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.locator(".rl-morph svg[data-at='0.06']").wait_for()
    assert page.evaluate("document.activeElement.type") == "range", "Lab did not take the keys"
    page.keyboard.press("End")
    page.locator(".rl-morph svg[data-at='3']").wait_for()
    wait_for_kernel(page, "(w.at, w.seen)", "(3.0, True)")
