"""The request film in a browser: on a page from disk, where no kernel answers, and in Lab."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.front import hold_hand, wait_for_kernel
from tests.browser.tab import by_hand, frames, resize

pytestmark = pytest.mark.browser
WINDOW = (1280, 1000)

ROOT = Path(__file__).parents[2]
START = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
import rooflab as rl
from rooflab.show.guess_axis import guess
from tests.support.film_example import HERE, SMALL, run
axis = guess("film", "How many tokens a second?", result=240, unit="tokens/s", low=1, high=10_000)
axis"""
CELLS = (
    START,
    'rl.live.film("llama-2-7b", ("h100-sxm", "rtx-4090", HERE), machine="h100-sxm")',
    "rl.live.film(SMALL, HERE, decode_run=[run(1), run(8)], context=256)",
    "rl.live.film(SMALL, 'h100-sxm', after=axis)",
)
FILM, RAN, COVERED = (f".rooflab-film >> nth={place}" for place in range(3))


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("film", *CELLS)


def settled(page) -> None:
    for picture in (FILM, RAN, COVERED):
        page.locator(picture).locator("svg.rl-live[data-tick]").wait_for(state="attached")
        named = page.locator(picture).locator(".noUi-handle[data-lm-suppress-shortcuts]")
        named.nth(1).wait_for(state="attached")
    page.locator(COVERED).locator(".rl-cover:not([hidden])").wait_for()


def slide(page, picture, slider: int, key: str, times: int = 1) -> None:
    """Press a key on a slider's handle; the picture has followed when this returns."""
    handle = picture.locator(".noUi-handle").nth(slider)
    handle.focus()
    for _ in range(times):
        page.keyboard.press(key)
    ticks = [
        int(float(h.get_attribute("aria-valuenow"))) for h in picture.locator(".noUi-handle").all()
    ]
    picture.locator(f"svg.rl-live[data-tick='{ticks[0]} {ticks[1]}']").wait_for()


def x_of(picture, name: str) -> float:
    text = picture.locator(f".rl-dot[data-op={name}]").get_attribute("transform")
    return float(text.removeprefix("translate(").split()[0])


def rate(picture) -> float:
    return float(picture.locator(".rl-rate").inner_text().split()[0].replace(",", ""))


def test_batch_walks_the_weight_products_right_while_attention_stays(still_page) -> None:
    picture = still_page.locator(FILM)
    before = {name: x_of(picture, name) for name in ("mlp", "head", "attention", "prefill")}
    one = rate(picture)
    slide(still_page, picture, 0, "ArrowRight", 11)
    after = {name: x_of(picture, name) for name in before}
    assert after["mlp"] > before["mlp"] + 150 and after["head"] > before["head"] + 150
    assert abs(after["attention"] - before["attention"]) < 2
    assert after["prefill"] == before["prefill"]
    assert 10 < rate(picture) / one < 64, "batch 64 is not 64×: every sequence reads its own cache"


def test_a_longer_context_costs_time_and_moves_the_prefill(still_page) -> None:
    picture = still_page.locator(FILM)
    one, prefill = rate(picture), x_of(picture, "prefill")
    slide(still_page, picture, 1, "End")
    assert rate(picture) < one / 4 and x_of(picture, "prefill") > prefill
    said = picture.locator(".rl-says").inner_text()
    assert "trained on contexts up to 4096" in said and "131\u202f072" in said
    assert picture.locator(".rl-facts .rl-full").count() == 0
    slide(still_page, picture, 0, "End")
    assert "does not fit" in picture.locator(".rl-facts .rl-full").inner_text()


def test_past_the_ridge_a_bar_is_computing_and_the_roof_stays_hollow(still_page) -> None:
    picture = still_page.locator(FILM)
    dot, row = picture.locator(".rl-dot[data-op=mlp]"), picture.locator(".rl-share").first
    assert dot.get_attribute("fill") == "#fff" and "memory: weights" in row.inner_text()
    slide(still_page, picture, 0, "End")
    assert dot.get_attribute("fill") == "#fff" and "compute" in row.inner_text()
    assert picture.locator("[data-part=compute]").get_attribute("d")
    assert not picture.locator("[data-part=weights]").get_attribute("d")


def test_the_crossing_is_marked_and_moves_left_with_the_batch(still_page) -> None:
    picture = still_page.locator(FILM)

    def marked() -> float:
        return float(picture.locator(".rl-cross").get_attribute("d")[1:].split()[0])

    far = marked()
    assert "attention = all the rest at 25" in picture.locator(".rl-crossing").text_content()
    slide(still_page, picture, 0, "ArrowRight", 5)
    assert marked() < far - 100


def test_a_click_on_a_bar_moves_the_context_slider(still_page) -> None:
    picture = still_page.locator(FILM)
    picture.locator(".rl-hit").nth(3).click()
    picture.locator("svg.rl-live[data-tick='0 3']").wait_for()
    assert picture.locator(".noUi-handle").nth(1).get_attribute("aria-valuetext") == "96"


def test_fewer_bits_are_faster_and_another_machine_has_another_roof(still_page) -> None:
    picture = still_page.locator(FILM)
    full, ridge = rate(picture), picture.locator(".rl-ridge").get_attribute("d")
    picture.locator("select.rl-weights").select_option("int4")
    fewer = rate(picture)
    assert 3 < fewer / full < 4
    picture.locator("select.rl-machine").select_option("nvidia-rtx-4090")
    assert 3 < fewer / rate(picture) < 3.6, "3.35 against 1.01 TB/s"
    assert picture.locator(".rl-ridge").get_attribute("d") != ridge


def test_a_machine_that_lacks_every_format_is_greyed_with_the_reason(still_page) -> None:
    option = still_page.locator(FILM).locator("select.rl-machine option", has_text="test machine")
    assert option.get_attribute("disabled") is not None
    assert "no bf16 figure" in option.text_content()


def test_what_was_measured_shows_at_its_batch_only(still_page) -> None:
    picture = still_page.locator(RAN)
    assert "Measured at context 257" in picture.locator(".rl-says").inner_text()
    assert picture.locator(".rl-timed").count() == 1
    big = picture.locator(".rl-ran[opacity='1']").count()
    assert big >= 4 and picture.locator(".rl-ran[opacity='0.5']").count() == big
    slide(still_page, picture, 0, "ArrowRight")
    assert "Measured" not in picture.locator(".rl-says").inner_text()
    assert picture.locator(".rl-timed").count() == 0


def test_it_stays_covered_until_there_is_a_guess(still_page) -> None:
    picture = still_page.locator(COVERED)
    assert picture.inner_text().strip() == "Covered until you have placed your guess above."
    assert not picture.locator(".noUi-handle").first.is_visible()
    still_page.get_by_role("button", name="skip: show me").click()
    picture.locator(".rl-rate").wait_for(state="visible")
    assert picture.locator(".noUi-handle").first.is_visible()


def test_it_speaks_to_a_screen_reader_and_names_its_sliders(still_page) -> None:
    picture = still_page.locator(FILM)
    handles = picture.locator(".noUi-handle").all()
    assert [h.get_attribute("aria-label").split(",")[0] for h in handles] == ["batch", "context"]
    assert all(h.get_attribute("data-lm-suppress-shortcuts") for h in handles)
    slide(still_page, picture, 0, "ArrowRight")
    said = picture.locator(".rl-says").inner_text()
    assert said.startswith("A batch of 2 at context 1024")
    picture.locator("[aria-live]", has_text=said).wait_for(state="attached")


SMALL_AND_OUTSIDE = """film => {
    const card = film.querySelector('.rl-card').getBoundingClientRect();
    const texts = [...film.querySelectorAll('svg text')]
        .filter(t => t.textContent && t.getBoundingClientRect().width);
    const size = t => { const svg = t.ownerSVGElement;
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        return parseFloat(getComputedStyle(t).fontSize) * scale; };
    const letters = [...film.querySelectorAll('.rl-right :is(p, b, span)')]
        .filter(n => parseFloat(getComputedStyle(n).fontSize) < 15);
    const out = t => { const b = t.getBoundingClientRect();
        return b.left < card.left || b.right > card.right; };
    return [[...texts.filter(t => size(t) < 15), ...letters],
        texts.filter(out)].map(l => l.map(t => t.textContent)); }"""


def test_no_text_is_small_or_cut(still_page) -> None:
    for width in (1280, 1600):
        resize(still_page, (width, 1000))
        assert still_page.locator(FILM).evaluate(SMALL_AND_OUTSIDE) == [[], []], width


def test_on_a_dark_page_the_card_is_dark(still_page) -> None:
    still_page.evaluate("document.body.style.cssText = 'background: #111 !important'")
    still_page.locator(FILM).locator(".rl-film.rl-dark").wait_for()


def test_the_roof_slides_to_another_machine_unless_stillness_was_asked_for(moving_page) -> None:
    by_hand(moving_page)
    moving_page.locator(FILM).locator("select.rl-machine").select_option("nvidia-rtx-4090")
    ridges = frames(moving_page, "() => document.querySelector('.rl-ridge').getAttribute('d')", 20)
    places = [float(d[1:].split()[0]) for d in ridges]
    assert len(set(places)) > 10 and places in (sorted(places), sorted(places, reverse=True))


def test_in_lab_arrow_keys_move_it_and_the_kernel_knows_where_it_stands(open_notebook) -> None:
    cell = 'import rooflab as rl\nw = rl.live.film("llama-2-7b", "h100-sxm")\nw'
    page = open_notebook("lab", "film.ipynb", cell)
    picture = page.locator(".rooflab-film")
    picture.locator(".noUi-handle[data-lm-suppress-shortcuts]").nth(1).wait_for()
    hold_hand(page)
    slide(page, picture, 0, "ArrowRight", 3)
    assert picture.locator(".rl-says").inner_text().startswith("A batch of 4")
    page.evaluate("rest()")
    wait_for_kernel(page, "(w.view.i, w.now.decode.batch)", "(3, 4)")
