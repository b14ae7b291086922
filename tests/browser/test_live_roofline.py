"""The live roofline in real pages: keys, hands, choices, axes, words; with and without a kernel."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import rooflab as rl
from rooflab.count.si import si
from rooflab.show import captions
from tests.browser.conftest import BOUND, handle, press, ready, x_of, y_of
from tests.browser.front import hold_hand, wait_for_kernel
from tests.browser.tab import Tab, by_hand, frames, stand

pytestmark = pytest.mark.browser
CELL = 'import rooflab as rl\nw = rl.live.roofline(machine="h100-sxm", dtype="bf16", n=1024)\nw'
SPLIT = """import rooflab as rl
rl.live.roofline(
    ["epyc-2core-vm", "h100-sxm"], machine="epyc-2core-vm", n=128, overhead=True, band=(4, 8)
)"""
GEMV, GEMM, AXPY = (BOUND.format(name) for name in ("gemv", "gemm", "axpy"))
SVG = ".rl-live-roofline .stage svg"
# What stands at the decades of FLOP/s that are seen, from below.
TICKS = """() => [...document.querySelectorAll('.rl-live-roofline .tick')]
    .filter(n => getComputedStyle(n).display !== 'none' && +n.style.opacity)
    .map(n => [n.textContent, n.getBoundingClientRect().bottom]).sort((a, b) => b[1] - a[1])
    .map(([text]) => text)"""


@pytest.mark.parametrize("front", ["lab", "notebook"])
def test_arrow_keys_move_the_point_with_and_without_a_kernel(front, open_notebook, jupyter) -> None:
    page = open_notebook(front, f"arrows_{front}.ipynb", CELL)
    ready(page)
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


def lines(page) -> list[str]:
    """What is said of each operation, under "more"."""
    return page.locator(".rl-live-roofline .rl-more p").all_text_contents()


def test_a_static_page_moves(still_page) -> None:
    before = [x_of(still_page, one) for one in (GEMV, AXPY, GEMM)]
    press(still_page, 1, "ArrowRight", 5)
    after = [x_of(still_page, one) for one in (GEMV, AXPY, GEMM)]
    assert after[0] > before[0] and after[1:] == before[1:], "only shared operands walk"
    assert any("GEMM stays: each of the 32 products has" in line for line in lines(still_page))
    press(still_page, 0, "End")
    press(still_page, 1, "End")
    tops = [y_of(still_page, one) for one in (GEMM, GEMV)]
    assert tops[0] == pytest.approx(tops[1], abs=1), "both at the peak"


def test_the_browsers_sentences_are_pythons(still_page) -> None:
    for n, batch, moves in ((1024, 1, ()), (1152, 1, ((0, 1),)), (1152, 256, ((1, 8),))):
        for slider, steps in moves:
            press(still_page, slider, "ArrowRight", steps)
        op = rl.gemv(n, n, "bf16", batch=batch, shared=("a",))
        assert lines(still_page)[1].startswith(captions.bound(op, rl.Roofline("h100-sxm", "bf16")))


def test_one_sentence_is_said_of_what_was_touched_last(still_page) -> None:
    say = still_page.locator(".rl-live-roofline .say")
    expect(say).to_contain_text("GEMM 1024×1024×1024")
    pull(still_page, GEMV, 60, -20)
    expect(say).to_contain_text("GEMV 1024×1024, batch")
    chip(still_page, "AXPY").click()
    expect(say).to_contain_text("AXPY of ")


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


def test_operations_can_be_hidden(still_page) -> None:
    chip(still_page, "GEMV").click()
    assert chip(still_page, "GEMV").get_attribute("aria-pressed") == "false"
    expect(still_page.locator(GEMV)).not_to_be_visible()
    expect(still_page.locator(GEMM)).to_be_visible()
    assert [bool(line) for line in lines(still_page)] == [True, False, True]


def test_a_screen_reader_hears_the_sentence(still_page) -> None:
    pull(still_page, GEMV, 40, -10)
    press(still_page, 1, "Home")
    press(still_page, 1, "ArrowRight", 3)
    still_page.wait_for_function(
        "document.querySelector('.rl-live-roofline [aria-live]').textContent.includes('batch 8')"
    )
    label = still_page.locator(SVG).get_attribute("aria-label")
    assert "batch 8" in label and "FLOP/byte" in label


def test_the_static_page_asks_no_network(chromium, picture_page) -> None:
    context = chromium.new_context()
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(picture_page("roofline"))
    ready(page)
    context.close()
    assert all(u.startswith(("file:", "data:", "blob:")) for u in asked), asked


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


@pytest.mark.parametrize(
    "machine",
    ["NVIDIA H100 SXM5 80 GB", "NVIDIA B200 SXM (HGX/DGX, 1000 W)", "Raspberry Pi 5 (BCM2712)"],
)
def test_the_axes_fit_the_machine_or_all(still_page, machine: str) -> None:
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


def test_what_is_said_does_not_depend_on_the_axes(still_page) -> None:
    before = lines(still_page)
    still_page.locator(".rl-live-roofline summary").click()
    chip(still_page, "same axes for every machine").click()
    assert lines(still_page) == before


def test_in_lab_the_kernel_hears_of_every_choice(open_notebook) -> None:
    page = open_notebook("lab", "choices.ipynb", CELL)
    ready(page)
    page.get_by_label("dtype", exact=True).select_option(label="fp32")
    page.locator(".rl-live-roofline summary").click()
    chip(page, "same axes for every machine").click()
    wait_for_kernel(page, "w.view.dtype, w.view.same_axes, w.view.kind", "('fp32', True, 'fp32')")


# Cold and warm side by side, the lines of calls and the thumb band.


@pytest.fixture(scope="module")
def address(static_page) -> str:
    return static_page("split", SPLIT)


@pytest.fixture
def split(page, address) -> object:
    """The static page, once it was asked for both sides and the dots have parted."""
    page.goto(address)
    ready(page)
    chip(page, "both").click()
    page.locator(WARM).first.wait_for()
    stand(page, f"{SVG} *")
    return page


COLD, WARM = (f".rl-live-roofline .bound.axpy_{side}" for side in ("cold", "warm"))


def expected(n: int = 128, **choices: object) -> str:
    """What Python says of the same picture."""
    live = rl.live.roofline(
        ["epyc-2core-vm", "h100-sxm"], machine="epyc-2core-vm", n=n, overhead=True, band=(4, 8),
        **choices,
    )  # fmt: skip
    return live.sentence


def test_every_dot_splits_into_a_cold_and_a_warm_one(split) -> None:
    assert x_of(split, COLD) == x_of(split, WARM)
    assert y_of(split, WARM) < y_of(split, COLD) - 20, "warm is faster: higher up"
    assert split.locator(".rl-live-roofline .dot.bound:visible").count() == 6
    assert split.locator(".rl-live-roofline .bandwidth.dram").text_content() == "memory"
    chip(split, "cold").click()
    expect(split.locator(".rl-live-roofline .dot.bound:visible")).to_have_count(3)


def test_the_words_are_pythons(split) -> None:
    for n, steps in ((128, 0), (512, 16)):
        press(split, 0, "ArrowRight", steps)
        assert lines(split) == expected(n, cache="both").splitlines()[:3]


def test_a_machine_without_cache_figures_greys_the_choice_and_stays_cold(split) -> None:
    split.get_by_label("machine", exact=True).select_option(label="NVIDIA H100 SXM5 80 GB")
    expect(split.locator(".rl-live-roofline .origin").last).to_contain_text("H100")
    assert chip(split, "warm").is_disabled() and chip(split, "both").is_disabled()
    expect(split.locator(".rl-live-roofline .dot.bound:visible")).to_have_count(3)
    expect(split.locator(".rl-live-roofline path.call").first).to_be_hidden()


def test_the_line_of_calls_follows_the_batch_of_a_shared_matrix(split) -> None:
    calls = split.locator(".rl-live-roofline path.call")
    before = [calls.nth(i).get_attribute("d") for i in range(3)]
    press(split, 1, "ArrowRight", 3)
    after = [calls.nth(i).get_attribute("d") for i in range(3)]
    assert after[1] != before[1] and (after[0], after[2]) == (before[0], before[2])
    named = split.locator(".rl-live-roofline text.call").all_text_contents()
    assert [text.split()[0] for text in named] == ["AXPY", "GEMV", "GEMM"]
    chip(split, "GEMV").click()
    expect(calls.nth(1)).to_be_hidden()


def test_the_band_stays_while_the_ridge_moves(split) -> None:
    band = split.locator(".rl-live-roofline .band")
    ridge = split.locator(".rl-live-roofline path.ridge")
    before = band.bounding_box(), ridge.get_attribute("d")
    split.get_by_label("machine", exact=True).select_option(label="NVIDIA H100 SXM5 80 GB")
    stand(split, f"{SVG} *")
    assert band.bounding_box() == before[0] and ridge.get_attribute("d") != before[1]
