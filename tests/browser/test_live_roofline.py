"""The live roofline in real pages: keys, hands, choices, axes, words; with and without a kernel."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import rooflab as rl
from rooflab.count.si import si
from tests.browser.conftest import BOUND, handle, press, ready, x_of, y_of
from tests.browser.front import hold_hand, wait_for_kernel
from tests.browser.tab import Tab, by_hand, frames, stand

pytestmark = pytest.mark.browser
CELL = 'import rooflab as rl\nw = rl.live.roofline(machine="h100-sxm", dtype="bf16", n=1024)\nw'
GEMV, GEMM, AXPY = (BOUND.format(name) for name in ("gemv", "gemm", "axpy"))
SVG = ".rl-live-roofline .stage svg"
# By how many pixels a picture is higher than the pane that it stands in, without what is folded.
FITS = """() => {
    const box = one => document.querySelector(one).getBoundingClientRect();
    const high = box('.rl-live-roofline .rl-says').bottom - box('.rl-live-roofline').top;
    return high - box('.jp-NotebookPanel-notebook').height; }"""
# What stands at the decades of FLOP/s that are seen, from below.
TICKS = """() => [...document.querySelectorAll('.rl-live-roofline .tick')]
    .filter(n => getComputedStyle(n).display !== 'none' && +n.style.opacity)
    .map(n => [n.textContent, n.getBoundingClientRect().bottom]).sort((a, b) => b[1] - a[1])
    .map(([text]) => text)"""


@pytest.mark.parametrize("front", ["lab", pytest.param("notebook", marks=pytest.mark.slow)])
def test_arrow_keys_move_the_point_with_and_without_a_kernel(front, open_notebook, jupyter) -> None:
    page = open_notebook(front, f"arrows_{front}.ipynb", CELL)
    ready(page)
    page.set_viewport_size({"width": 1366, "height": 768})
    page.wait_for_function(f"() => ({FITS})() <= 0")
    the_kernel_hears_of_every_choice(page)
    hold_hand(page)
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    start = x_of(page, GEMV)
    press(page, 1, "ArrowRight", 3)
    moved = x_of(page, GEMV)
    assert moved > start + 10, "a larger batch walks right"
    assert jupyter.stop_kernels() == 1
    press(page, 1, "ArrowRight", 2)
    assert x_of(page, GEMV) > moved + 5, "and still does without a kernel"
    press(page, 0, "ArrowLeft", 2)
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells, "no key reached the notebook"
    assert handle(page, 0).get_attribute("aria-label") == "N, the matrix size"
    assert handle(page, 1).get_attribute("aria-valuetext") == "32"


@pytest.fixture
def still_page(show_picture):
    return show_picture("roofline")


def test_the_sentence_is_about_what_was_touched_last(still_page) -> None:
    say = still_page.locator(".rl-live-roofline .say")
    expect(say).to_contain_text("GEMM 1024×1024×1024")
    pull(still_page, GEMV, 60, -20)
    expect(say).to_contain_text("GEMV 1024×1024, batch")
    chip(still_page, "AXPY").click()
    expect(say).to_contain_text("AXPY of ")
    expect(chip(still_page, "AXPY")).to_have_attribute("aria-pressed", "true")


def chip(page, name: str):
    return page.locator(".rl-live-roofline").get_by_role("button", name=name, exact=True)


def pull(page, what: str, right: float, down: float) -> None:
    """Drag the middle of ``what`` by some pixels."""
    box = page.locator(what).first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right, y + down, steps=4)
    page.mouse.up()


def test_a_hand_pulls_gemm_along_its_roof_and_gemv_by_its_batch(still_page) -> None:
    n, batch = (handle(still_page, one) for one in (0, 1))
    before, start = n.get_attribute("aria-valuetext"), x_of(still_page, GEMM)
    pull(still_page, GEMM, 50, 0)
    assert int(n.get_attribute("aria-valuetext")) > int(before) and x_of(still_page, GEMM) > start
    assert batch.get_attribute("aria-valuetext") == "1"
    at = x_of(still_page, GEMV)
    pull(still_page, GEMV, 80, -30)
    assert int(batch.get_attribute("aria-valuetext")) > 1 and x_of(still_page, GEMV) > at


def test_axpy_gives_a_little_and_springs_back(still_page) -> None:
    box = still_page.locator(AXPY).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    at = x_of(still_page, AXPY)
    still_page.mouse.move(x, y)
    still_page.mouse.down()
    still_page.mouse.move(x + 120, y, steps=3)
    pulled = still_page.locator(AXPY).bounding_box()["x"] - box["x"]
    assert 4 < pulled < 40, "it gives, and no more"
    still_page.mouse.up()
    stand(still_page, AXPY)
    back = still_page.locator(AXPY).bounding_box()["x"] - box["x"]
    assert back == pytest.approx(0, abs=0.6) and x_of(still_page, AXPY) == at


def test_next_years_machine_is_pulled_at_its_roofs(still_page) -> None:
    peak = still_page.locator(".rl-live-roofline .peak")
    before, top, left = peak.text_content(), y_of(still_page, GEMM), y_of(still_page, AXPY)
    pull(still_page, ".rl-live-roofline .knob.arithmetic", 0, -40)
    assert peak.text_content() != before and y_of(still_page, GEMM) < top
    assert y_of(still_page, AXPY) == left, "a higher peak carries nothing faster"
    pull(still_page, ".rl-live-roofline .knob.memory", 0, -20)
    assert y_of(still_page, AXPY) < left
    knob = still_page.locator(".rl-live-roofline .knob.memory")
    assert knob.get_attribute("role") == "slider"
    faster = knob.get_attribute("aria-valuetext")
    knob.focus()
    still_page.keyboard.press("ArrowLeft")
    assert float(knob.get_attribute("aria-valuetext")[1:]) < float(faster[1:])


def test_another_machine_moves_the_roof_and_says_what_it_lacks(still_page) -> None:
    option = still_page.locator("option", has_text="Apple M1 (8-core GPU)")
    assert option.is_enabled() and "no bf16 figure" in option.text_content()
    still_page.get_by_label("machine", exact=True).select_option(label=option.text_content())
    peak = f"fp32 {si(rl.machine('apple-m1').peak('fp32'), 'FLOP/s')}"
    expect(still_page.locator(".rl-live-roofline .peak")).to_have_text(peak)
    origin = still_page.locator(".rl-live-roofline .origin").last
    expect(origin).to_contain_text("Apple M1 (8-core GPU): no bf16 figure, so this is fp32.")
    expect(origin).to_contain_text("datasheet")
    kinds = (
        still_page.get_by_label("dtype", exact=True).locator("option:disabled").all_text_contents()
    )
    assert {"fp64 (no figure)", "bf16 (no figure)"} <= set(kinds)
    expect(still_page.locator(".rl-live-roofline .line.before")).to_be_visible()
    expect(chip(still_page, "warm")).to_be_disabled()


@pytest.mark.parametrize(("motion", "many"), [("reduce", False), ("no-preference", True)])
def test_roofs_glide_unless_the_reader_asked_for_stillness(
    tab: Tab, picture_page, motion: str, many: bool
) -> None:
    with tab.silent(picture_page("roofline"), motion=motion) as page:
        ready(page)
        stand(page, f"{SVG} *")
        by_hand(page)
        page.get_by_label("machine", exact=True).select_option(
            label="NVIDIA B200 SXM (HGX/DGX, 1000 W)"
        )
        seen = "() => document.querySelector('.rl-live-roofline .slope.dram').getAttribute('d')"
        assert (len(set(frames(page, seen, 20))) > 10) is many


# Axes.


def test_the_axes_fit_the_machine_or_all(still_page) -> None:
    machine = "Raspberry Pi 5 (BCM2712)"
    found = str(names(still_page).index(machine))
    still_page.get_by_label("machine", exact=True).select_option(value=found)
    stand(still_page, f"{SVG} *")
    own = still_page.evaluate(TICKS)
    assert 3 <= len(own) <= 7
    box = still_page.locator(SVG).bounding_box()
    roof = still_page.locator(".rl-live-roofline .flat.dram").bounding_box()
    assert 0.1 < (roof["y"] - box["y"]) / box["height"] < 0.5, "the roof stands in the upper half"
    still_page.locator(".rl-live-roofline summary").click()
    chip(still_page, "same axes for every machine").click()
    stand(still_page, f"{SVG} *")
    every = still_page.evaluate(TICKS)
    assert set(own) <= set(every) and len(every) > len(own)


def names(page) -> list[str]:
    found = page.get_by_label("machine", exact=True).locator("option").all_text_contents()
    return [text.split(" (no ")[0] for text in found]


def the_kernel_hears_of_every_choice(page) -> None:
    page.get_by_label("dtype", exact=True).select_option(label="fp32")
    page.locator(".rl-live-roofline summary").click()
    chip(page, "same axes for every machine").click()
    wait_for_kernel(page, "w.dtype, w.same_axes, w.kind", "('fp32', True, 'fp32')")
    page.get_by_label("dtype", exact=True).select_option(label="bf16")
    chip(page, "same axes for every machine").click()
    stand(page, f"{SVG} *")
