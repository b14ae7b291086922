"""The box beside the roofline, of a product and of a layer: it morphs on the same sliders."""

from __future__ import annotations

from playwright.sync_api import expect

import rooflab as rl
from rooflab.labs.llm.layer_time import TOKENS, knee
from rooflab.show import theme
from tests.browser.conftest import BOUND, handle, press, x_of, y_of
from tests.browser.tab import resize
from tests.browser.test_controls import sliders_stand_in_one_grid

GEMM = BOUND.format("gemm")
SVG = ".rl-live-roofline .stage svg"


def test_beside_the_roofline_gemv_thickens_with_the_batch(show_picture) -> None:
    page = show_picture("both")
    picture = page.locator(".rl-live-roofline")
    picture.get_by_role("button", name="GEMV").click()
    page.wait_for_function(f"document.querySelector('{SVG}').ariaLabel.includes('sheet')")
    press(page, 1, "ArrowRight", 4)
    label = page.locator(SVG).get_attribute("aria-label")
    assert "1024×1024, batch 16" in label and "slab" in label
    assert [one.text_content() for one in edges(page)] == ["N 16", "M 1024", "K 1024"]
    front = page.locator(".face-C")
    before = front.get_attribute("d")
    picture.get_by_role("button", name="true shape").click()
    page.wait_for_function(
        "before => document.querySelector('.face-C').getAttribute('d') !== before", arg=before
    )


def edges(page) -> list:
    return page.locator(".rl-live-roofline :is(.edge-N, .edge-M, .edge-K)").all()


def test_its_corners_are_pulled(show_picture) -> None:
    """The front one sets M and N, the back one K; sliders, roofline and words follow."""
    page = show_picture("box")
    back, front = (
        page.locator(".rl-live-roofline .dot.knob:not(.memory, .arithmetic)").nth(n)
        for n in range(2)
    )

    def pull(knob, right: float, down: float) -> str:
        at = knob.bounding_box()
        x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + right, y + down, steps=4)
        page.mouse.up()
        return str(page.locator(SVG).get_attribute("aria-label"))

    before = x_of(page, GEMM)
    sheet = pull(front, 0, -80)
    assert "is a sheet:" in sheet and "×1024×1 in" in sheet and "GEMM 1×" not in sheet
    assert "×1 in" not in pull(back, 60, -50)
    place = "document.querySelector('.rl-live-roofline .bound').getAttribute('transform')"
    page.wait_for_function(f"x => {place}.match(/[\\d.]+/)[0] > x", arg=before)
    assert handle(page, 0).get_attribute("aria-valuetext") != "1"


def test_pointing_at_a_part_of_c_lights_what_it_needs(show_picture) -> None:
    page = show_picture("box")
    press(page, 0, "ArrowRight", 8)
    press(page, 2, "ArrowRight", 8)
    face = page.locator(".face-C")
    lit = page.locator(".rl-live-roofline :is(.needs-A, .needs-B, .needs-C, .rod)")
    expect(lit.first).not_to_be_visible()
    face.hover()
    expect(lit).to_have_count(4)
    for one in lit.all():
        expect(one).to_be_visible()
    page.mouse.move(1, 1)
    expect(lit.first).not_to_be_visible()


def test_its_three_sliders_stand_in_one_grid(show_picture) -> None:
    page = show_picture("box")
    for width in (390, 1366):
        resize(page, (width, 820))
        assert max(map(len, sliders_stand_in_one_grid(page))) == 3, "M, N and K"


# A layer.


def test_tokens_thicken_the_box_and_bring_the_point_to_the_roof(show_picture) -> None:
    page = show_picture("layer")
    solid = page.locator(SVG)
    faces = [page.locator(f".name-{one}").first.text_content() for one in "ABC"]
    assert [face.split(",")[0] for face in faces] == ["X", "W", "Y"]
    assert "This layer is a sheet" in solid.get_attribute("aria-label")
    start = x_of(page, GEMM), y_of(page, GEMM)
    steps = TOKENS.index(384)
    assert TOKENS[steps - 2] < knee(4096, 11008, rl.Roofline("h100-sxm", "bf16")) < 384
    press(page, 0, "ArrowRight", steps)
    said = " ".join(page.locator(".rl-live-roofline .stage svg text:visible").all_text_contents())
    assert theme.count(11008 * 4096) in said, "more tokens bring no more weights"
    assert x_of(page, GEMM) > start[0] and y_of(page, GEMM) < start[1]
    say = page.locator(".rl-live-roofline .say")
    expect(say).to_contain_text("Arithmetic is the limit")
    press(page, 2, "Home")
    expect(say).to_contain_text("Memory is the limit")
