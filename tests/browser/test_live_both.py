"""Cold and warm side by side, the overhead line and the thumb band, in a real page."""

from __future__ import annotations

import pytest

from tests.browser.conftest import press, ready, x_of, y_of
from tests.browser.tab import Tab

CELL = """import rooflab as rl
live = rl.live.roofline(
    ["epyc-2core-vm", "h100-sxm"], machine="epyc-2core-vm", n=128, overhead=True, band=(4, 8)
)
live"""
COLD, WARM = '.rl-dot[data-op="axpy"] .rl-cold', '.rl-dot[data-op="axpy"] .rl-warm'
SETTLED = "() => document.querySelector('[data-op=axpy] .rl-over').textContent !== ''"

JOINED = "() => [...document.querySelectorAll('.rl-side')].every(n => n.style.display === 'none')"


@pytest.fixture(scope="module")
def address(static_page) -> str:
    return static_page("both", CELL)


@pytest.fixture
def split(page, address) -> object:
    """The static page, once it was asked for both sides and the dots have parted."""
    page.goto(address)
    ready(page)
    page.get_by_role("button", name="both").click()
    page.wait_for_function(SETTLED)
    return page


def expected(n: int = 128, **choices: object) -> str:
    """What Python says of the same picture."""
    import rooflab as rl

    live = rl.live.roofline(
        ["epyc-2core-vm", "h100-sxm"], machine="epyc-2core-vm", n=n, overhead=True, band=(4, 8),
        **choices,
    )  # fmt: skip
    return live.sentence


def said(page) -> list[str]:
    return [text.strip() for text in page.locator(".rl-words p").all_inner_texts()]


def test_every_dot_splits_and_each_side_has_its_ring(split) -> None:
    assert x_of(split, COLD) == x_of(split, WARM)
    assert y_of(split, WARM) < y_of(split, COLD) - 20, "warm is faster: higher up"
    assert split.locator(".rl-side:visible").count() == 6
    assert not split.locator(".rl-bound").first.is_visible()
    assert "×" in split.locator('[data-op="axpy"] .rl-over').text_content()
    on = split.locator("text.rl-key.rl-on").all_text_contents()
    assert any("memory" in text for text in on) and len(on) >= 2, "both roofs are named"


def test_the_words_are_pythons(split) -> None:
    for n, steps in ((128, 0), (512, 16)):
        press(split, 0, "ArrowRight", steps)
        wanted = expected(n, cache="both").splitlines()
        found = said(split)
        assert found[:3] == wanted[:3]
        assert found[3] == " ".join(wanted[3:])


BOXES = """() => [...document.querySelectorAll('svg.rl-live text')]
    .filter(n => n.textContent && n.getClientRects().length && !n.closest('.rl-axes'))
    .map(n => { const b = n.getBoundingClientRect(), s = n.ownerSVGElement.getBoundingClientRect();
        return [n.textContent, b.left, b.right, b.top + 5, b.bottom - 5,
            b.bottom <= s.bottom - 0.09 * s.height]; })"""


def test_no_name_stands_on_another_or_below_the_axes(split) -> None:
    press(split, 0, "Home")
    for steps in (0, 16, 24, 16):
        press(split, 0, "ArrowRight", steps)
        found = split.evaluate(BOXES)
        assert len(found) > 12 and all(inside for *_, inside in found)
        for i, (text, left, right, top, bottom, _) in enumerate(found):
            for other, a, b, c, d, _ in found[:i]:
                assert right <= a or b <= left or bottom <= c or d <= top, (steps, text, other)


def test_the_key_says_only_what_is_drawn(split) -> None:
    key = split.locator("text.rl-key").all_text_contents()
    assert {"measured", "predicted", "cold", "warm"} <= set(key) and "the roof allows" not in key
    split.get_by_role("button", name="cold", exact=True).click()
    split.wait_for_function(JOINED)
    key = split.locator("text.rl-key").all_text_contents()
    assert {"the roof allows", "measured", "predicted"} <= set(key) and "cold" not in key


def test_one_side_again_joins_the_dots(split) -> None:
    split.get_by_role("button", name="cold", exact=True).click()
    split.wait_for_function(JOINED)
    assert split.locator(".rl-bound:visible").count() == 3
    assert said(split)[:3] == expected(cache="cold").splitlines()[:3]


def test_the_sides_move_with_the_slider(split) -> None:
    before = y_of(split, COLD), x_of(split, '.rl-dot[data-op="gemm"] .rl-warm')
    press(split, 0, "ArrowLeft", 8)
    assert y_of(split, COLD) != before[0]
    assert x_of(split, '.rl-dot[data-op="gemm"] .rl-warm') < before[1] - 10


def test_a_machine_without_cache_figures_greys_the_choice_and_stays_cold(split) -> None:
    split.select_option(".rl-bar select >> nth=0", "nvidia-h100-sxm")
    split.wait_for_function("document.querySelector('.rl-origin').textContent.includes('H100')")
    assert "warm and both (no cache bandwidth)" in split.locator(".rl-greyed").inner_text()
    assert split.get_by_role("button", name="warm").is_disabled()
    pressed = [split.get_by_role("button", name=name, exact=True).get_attribute("aria-pressed")
               for name in ("cold", "warm", "both")]  # fmt: skip
    assert pressed == ["true", "false", "false"], "what is shown is what is pressed"
    split.wait_for_function(JOINED)
    assert split.locator(".rl-bound:visible").count() == 3, "the cold roof and its dots are shown"
    assert split.locator("path.rl-call").first.get_attribute("d") == "", "no call was timed there"


def test_the_overhead_line_follows_the_batch_of_a_shared_matrix(split) -> None:
    lines = split.locator("path.rl-call")
    before = [lines.nth(i).get_attribute("d") for i in range(3)]
    assert all(before)
    press(split, 1, "ArrowRight", 3)
    after = [lines.nth(i).get_attribute("d") for i in range(3)]
    assert after[1] != before[1] and (after[0], after[2]) == (before[0], before[2])
    key = split.locator("text.rl-key").all_text_contents()
    named = [text.split()[0] for text in key if " call " in text]
    assert named == ["AXPY", "GEMV", "GEMM"] and "the roof allows" in key, "no estimates of batches"
    split.get_by_role("group", name="operations shown").get_by_role("button", name="GEMV").click()
    split.wait_for_function("() => !document.querySelectorAll('path.rl-call')[1].getAttribute('d')")


def test_the_band_stays_while_the_ridge_moves(split) -> None:
    place = (
        "() => [...document.querySelectorAll('.rl-band, .rl-thumb')].map(n => n.getAttribute('x'))"
    )
    ridges = (
        "() => [...document.querySelectorAll('.rl-ridge')].map(n => n.getAttribute('d')).at(-1)"
    )
    before, ridge = split.evaluate(place), split.evaluate(ridges)
    assert len(before) == 3
    split.select_option(".rl-bar select >> nth=0", "nvidia-h100-sxm")
    split.wait_for_function(f"before => ({ridges})() && ({ridges})() !== before", arg=ridge)
    assert split.evaluate(place) == before


def test_reduced_motion_splits_at_once(tab: Tab, address: str) -> None:
    with tab.silent(address, motion="reduce") as page:
        ready(page)
        ends = page.evaluate(
            """() => {
            const both = [...document.querySelectorAll('button')]
                .find(b => b.textContent === 'both');
            both.click();
            const y = side => document.querySelector(`[data-op=axpy] .rl-${side}`)
                .getAttribute('transform');
            return [y('cold'), y('warm'),
                document.querySelector('[data-op=axpy] .rl-over').textContent]; }"""
        )
    assert ends[0] != ends[1] and ends[2].startswith("×")
