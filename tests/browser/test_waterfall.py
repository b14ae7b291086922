"""The live waterfall in a static page: its bars are explain()'s factors, and it needs no kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

import rooflab as rl
from rooflab.predict.explain import explain
from rooflab.show.waterfall_picture import factor_text
from tests.browser.conftest import handle
from tests.browser.tab import Tab, resize, stand

NAME, THREADS = "epyc-2core-vm", 2
CELL = f"""import rooflab as rl
rl.live.roofline(["{NAME}", "h100-sxm"], machine="{NAME}", n=1024, box=True, waterfall=True)"""
STATIC = f"""rl.show.waterfall(rl.recording("{NAME}").measurements[0])"""


@pytest.fixture(scope="module")
def address(static_page) -> str:
    return static_page("waterfall", CELL, STATIC)


@pytest.fixture
def page(tab: Tab, address: str) -> Iterator[object]:
    with tab.silent(address) as opened:
        settled(opened)
        yield opened


def settled(page) -> None:
    page.locator(".noUi-handle[aria-label]").nth(1).wait_for(state="attached")
    page.wait_for_selector(".rl-fall-grid[data-tick]", state="attached")


def measured(name: str, n: int, cache: str) -> object:
    recorded = rl.recording(NAME)
    size = n * n if name == "axpy" else n
    return next(
        m for m in recorded.measurements
        if m.op.name == name and m.op.dims["n"] == size and m.cache == cache
        and m.threads == THREADS and str(m.op.compute_dtype) == "fp32"
    )  # fmt: skip


def choose(page, group: str, name: str) -> None:
    page.get_by_role("group", name=group).get_by_role("button", name=name).click()


def says(page, text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('.rl-says').textContent.includes(text)", arg=text
    )


def bars(page) -> list[dict[str, float]]:
    """Left and right edge of each bar in pixels, in order, and which way it goes."""
    stand(page, ".rl-fall *")
    return page.evaluate("""() =>
        [...document.querySelectorAll('.rl-fall-lane .rl-step')].map(node => {
        const { left, right } = node.getBoundingClientRect();
        return { left, right, slower: node.classList.contains('rl-slower'),
            same: node.classList.contains('rl-same') };
    })""")


def decade(page) -> float:
    """Pixels of a factor of ten, from the ticks ×1 and ×2."""
    at = page.evaluate("""() => Object.fromEntries(
        [...document.querySelectorAll('.rl-fall-axis span')]
        .map(node => [node.textContent, node.getBoundingClientRect()])
        .map(([t, b]) => [t, (b.left + b.right) / 2]))""")
    return (at["×2"] - at["×1"]) / math.log10(2)


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_the_bars_are_the_factors_and_follow_each_other(page, cache: str) -> None:
    choose(page, "operation in the waterfall", "GEMM")
    choose(page, "where the operands come from", cache)
    e = explain(measured("gemm", 1024, cache), rl.recording(NAME).machine)
    says(page, e.sentence)
    found, unit = bars(page), decade(page)
    for bar, factor in zip(found, e.factors, strict=True):
        signed = (bar["right"] - bar["left"]) * (1 if bar["slower"] else -1)
        assert bar["same"] or signed / unit == pytest.approx(math.log10(factor.factor), abs=0.012)
    for one, two in zip(found, found[1:]):
        tip = one["right"] if one["slower"] else one["left"]
        start = two["left"] if two["slower"] else two["right"]
        assert one["same"] or two["same"] or tip == pytest.approx(start, abs=2.5)
    total = page.locator(".rl-fall-name.rl-last b").inner_text()
    assert total == f"measured: {factor_text(e.seconds / e.bound)} the bound"


def test_sliders_machine_and_box_move_it_without_a_kernel(page) -> None:
    choose(page, "operation in the box", "GEMV")
    says(page, "gemv 1024×1024 fp32")
    handle(page, 0).focus()
    page.keyboard.press("ArrowRight")
    says(page, "Nothing was measured at this size, so the waterfall stops at the prediction.")
    assert page.locator(".rl-stop.rl-hollow").count() == 1
    page.keyboard.press("ArrowLeft")
    says(page, "gemv 1024×1024 fp32")
    page.locator("select.rl-machine").select_option("nvidia-h100-sxm")
    says(page, "the waterfall stops at the bound")
    assert page.locator(".rl-fall-lane .rl-step:visible").count() == 0
    handle(page, 1).focus()
    page.keyboard.press("ArrowRight")
    says(page, "set the batch to 1")


def test_the_sizes_that_were_measured_are_buttons_that_move_every_picture(page) -> None:
    choose(page, "operation in the box", "GEMM")
    page.get_by_role("button", name="both", exact=True).click()
    sizes = page.locator(".rl-jumps button")
    found = [int(size) for size in sizes.all_inner_texts()]
    assert found == sorted(found) and 1024 in found and len(found) > 2
    handle(page, 1).focus()
    page.keyboard.press("ArrowRight")
    says(page, "set the batch to 1")
    sizes.first.click()
    says(page, f"gemm {found[0]}×{found[0]}×{found[0]} fp32")
    says(page, "This is the cold side.")
    assert sizes.first.get_attribute("aria-pressed") == "true"
    for number, value in enumerate((str(found[0]), "1")):
        page.wait_for_function(
            "([k, value]) => document.querySelectorAll('.noUi-handle')[k].ariaValueText === value",
            arg=[number, value],
        )
    assert f"{found[0]}×{found[0]}" in page.locator(".rl-words").inner_text()
    page.locator("select.rl-machine").select_option("nvidia-h100-sxm")
    says(page, "the waterfall stops at the bound")
    assert sizes.count() == 0


def test_the_buttons_work_by_keyboard_and_the_sentence_is_spoken(page) -> None:
    group = page.get_by_role("group", name="operation in the waterfall")
    button = group.get_by_role("button", name="AXPY")
    assert button.get_attribute("data-lm-suppress-shortcuts") == "true"
    button.focus()
    page.keyboard.press("Enter")
    says(page, "axpy 1048576 fp32")
    assert button.get_attribute("aria-pressed") == "true"
    page.wait_for_function(
        """document.querySelector('.rl-fall [aria-live]').textContent.includes('unexplained ×')"""
    )


LETTERS = """() => {
    const card = document.querySelector('.rl-fall').getBoundingClientRect();
    return [...document.querySelectorAll('.rl-fall *')]
        .filter(n => n.textContent && !n.children.length
        && !n.closest('.rl-hidden') && n.getClientRects().length).map(n => {
        const b = n.getBoundingClientRect();
        return [n.textContent, parseFloat(getComputedStyle(n).fontSize),
            b.left >= card.left && b.right <= card.right + 1];
    }); }"""


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_no_text_is_small_and_no_label_leaves_the_card(
    tab: Tab, address: str, colours: str
) -> None:
    with tab.silent(address, colours=colours) as page:
        settled(page)
        for width in (1280, 1600, 700):
            resize(page, (width, 900))
            for name in ("AXPY", "GEMV", "GEMM"):
                choose(page, "operation in the waterfall", name)
                stand(page, ".rl-fall *")
                found = page.evaluate(LETTERS)
                assert len(found) > 15
                assert [entry for entry in found if entry[1] < 15 or not entry[2]] == []


def test_the_static_picture_stands_in_the_page(page) -> None:
    picture = page.locator(".jp-OutputArea img[alt*='unexplained']")
    assert picture.count() >= 1 and "roofline bound" in picture.first.get_attribute("alt")


def test_in_lab_it_stands_below_the_roofline_and_moves(open_notebook) -> None:
    lab = open_notebook("lab", "waterfall.ipynb", CELL)
    settled(lab)
    stand(lab, "svg.rl-live, .rl-fall")
    roofline, fall = (lab.locator(s).first.bounding_box() for s in ("svg.rl-live", ".rl-fall"))
    assert fall["y"] > roofline["y"] + roofline["height"]
    handle(lab, 0).focus()
    lab.keyboard.press("ArrowRight")
    says(lab, "Nothing was measured at this size")
