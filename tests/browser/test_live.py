"""The live roofline in real pages: arrow keys, no kernel, static HTML, greyed choices."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rooflab as rl
from rooflab.count.si import si
from tests.browser.conftest import handle, press, ready, x_of, y_of
from tests.browser.front import hold_hand
from tests.browser.tab import Tab, by_hand, frames, stand

CELL = 'import rooflab as rl\nrl.live.roofline(machine="h100-sxm", dtype="bf16", n=1024)'


@pytest.mark.parametrize("front", ["lab", "notebook"])
def test_arrow_keys_move_the_point_with_and_without_a_kernel(front, open_notebook, jupyter) -> None:
    page = open_notebook(front, f"arrows_{front}.ipynb", CELL)
    ready(page)
    hold_hand(page)
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    start = x_of(page)
    press(page, 1, "ArrowRight", 3)
    moved = x_of(page)
    assert moved > start + 10, "a larger batch walks right"
    assert "batch 8" in page.locator(".rl-words").inner_text()
    assert jupyter.stop_kernels() == 1
    press(page, 1, "ArrowRight", 2)
    assert x_of(page) > moved + 5, "and still does without a kernel"
    press(page, 0, "ArrowLeft", 2)
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells, "no key reached the notebook"
    assert handle(page, 0).get_attribute("aria-label") == "N, the matrix size"
    assert handle(page, 1).get_attribute("aria-valuetext") == "32"


@pytest.fixture
def still_page(show_picture):
    return show_picture("roofline")


def test_a_static_page_moves(still_page) -> None:
    axpy, gemm = ('.rl-dot[data-op="axpy"] .rl-bound', '.rl-dot[data-op="gemm"] .rl-bound')
    before = x_of(still_page), x_of(still_page, axpy), x_of(still_page, gemm)
    press(still_page, 1, "ArrowRight", 5)
    after = x_of(still_page), x_of(still_page, axpy), x_of(still_page, gemm)
    assert after[0] > before[0] and after[1:] == before[1:], "only shared operands walk"
    assert (
        "GEMM stays: each of the 32 products has matrices of its own"
        in still_page.locator(".rl-words").inner_text()
    )
    press(still_page, 0, "End")
    press(still_page, 1, "End")
    assert y_of(still_page, gemm) == pytest.approx(y_of(still_page), abs=1), "both at the peak"


def test_the_browsers_sentences_are_pythons(still_page) -> None:
    from rooflab.show import captions

    for n, batch, moves in ((1024, 1, ()), (1152, 1, ((0, 1),)), (1152, 256, ((1, 8),))):
        for slider, steps in moves:
            press(still_page, slider, "ArrowRight", steps)
        op = rl.gemv(n, n, "bf16", batch=batch, shared=("a",))
        said = still_page.locator(".rl-words p").nth(1).inner_text()
        assert said.startswith(captions.bound(op, rl.Roofline("h100-sxm", "bf16")))


def test_another_machine_moves_the_roof_and_greys_what_it_lacks(still_page) -> None:
    option = still_page.locator('option[value="apple-m1"]')
    assert option.is_enabled() and "no bf16 figure: fp32" in option.text_content()
    still_page.select_option(".rl-bar select >> nth=0", "apple-m1")
    still_page.wait_for_function(
        "document.querySelector('.rl-origin').textContent.includes('Apple M1')"
    )
    still_page.wait_for_function(
        "peak => document.querySelector('.rl-flat').textContent === peak",
        arg=f"fp32 {si(rl.machine('apple-m1').peak('fp32'), 'FLOP/s')}",
    )
    assert still_page.locator("select.rl-dtype").input_value() == "fp32", "one that it has"
    greyed = still_page.locator(".rl-greyed").inner_text()
    assert greyed.startswith("Apple M1 (8-core GPU): no bf16 figure, so this is fp32.")
    assert "fp64" in greyed
    assert still_page.get_by_role("button", name="warm").is_disabled()
    assert "datasheet" in still_page.locator(".rl-origin").inner_text()


def test_operations_can_be_hidden_but_one_stays(still_page) -> None:
    chips = still_page.get_by_role("group", name="operations shown")
    for name in ("AXPY", "GEMM", "GEMV"):
        chips.get_by_role("button", name=name).click()
    assert still_page.locator(".rl-words p:visible").first.inner_text().startswith("GEMV")
    assert chips.get_by_role("button", name="GEMV").get_attribute("aria-pressed") == "true"
    assert chips.get_by_role("button", name="AXPY").get_attribute("aria-pressed") == "false"


def test_a_screen_reader_hears_the_sentence(still_page) -> None:
    press(still_page, 1, "ArrowRight", 3)
    still_page.wait_for_function(
        "document.querySelector('[aria-live]').textContent.includes('batch 8')"
    )
    label = still_page.locator("svg.rl-live").get_attribute("aria-label")
    assert "batch 8" in label and "FLOP/byte" in label


def test_the_static_page_asks_no_network(chromium, picture_page: Callable[[str], str]) -> None:
    context = chromium.new_context()
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(picture_page("roofline"))
    ready(page)
    context.close()
    assert all(u.startswith(("file:", "data:", "blob:")) for u in asked), asked


@pytest.mark.parametrize(("motion", "many"), [("reduce", False), ("no-preference", True)])
def test_roofs_glide_unless_the_reader_asked_for_stillness(
    tab: Tab, picture_page: Callable[[str], str], motion: str, many: bool
) -> None:
    with tab.silent(picture_page("roofline"), motion=motion) as page:
        ready(page)
        stand(page, "svg.rl-live *")
        by_hand(page)
        page.select_option(".rl-bar select >> nth=0", "nvidia-b200")
        seen = "() => document.querySelector('.rl-roof path').getAttribute('d')"
        assert (len(set(frames(page, seen, 20))) > 10) is many
