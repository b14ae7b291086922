"""The box beside the roofline, of a product and of a layer: it morphs on the same sliders."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import rooflab as rl
from rooflab.labs.llm.layer_time import TOKENS, knee
from rooflab.show import theme
from tests.browser.conftest import BOUND, handle, press, x_of, y_of
from tests.browser.tab import resize
from tests.browser.test_controls import sliders_stand_in_one_grid

GEMM = BOUND.format("gemm")


def test_beside_the_roofline_gemv_thickens_with_the_batch(show_picture) -> None:
    page = show_picture("both")
    page.get_by_role("group", name="operation in the box").get_by_role(
        "button", name="GEMV"
    ).click()
    page.wait_for_function("document.querySelector('.rl-box svg').ariaLabel.includes('sheet')")
    press(page, 1, "ArrowRight", 4)
    label = page.locator(".rl-box svg").get_attribute("aria-label")
    assert "1024×16×1024" in label and "slab" in label
    assert "log edges" in page.locator(".rl-box .scale").text_content()
    stays = page.locator(".rl-box .stays")
    assert stays.text_content() == ""
    page.get_by_role("group", name="operation in the box").get_by_role(
        "button", name="GEMM"
    ).click()
    page.wait_for_function("document.querySelector('.rl-box svg').ariaLabel.includes('cube')")
    assert stays.text_content() == "GEMM stays: each product has matrices of its own."
    page.get_by_role("button", name="true shape").click()
    page.wait_for_function(
        "document.querySelector('.rl-box .scale').textContent.includes('true proportions')"
    )


def test_its_corners_are_pulled(show_picture) -> None:
    """The front one sets M and N, the back one K; sliders, roofline and words follow."""
    page = show_picture("box")
    back, front = (page.locator(".rl-box .knob").nth(n) for n in range(2))

    def pull(knob, right: float, down: float) -> str:
        at = knob.bounding_box()
        x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + right, y + down, steps=4)
        page.mouse.up()
        return str(page.locator(".rl-box svg").get_attribute("aria-label"))

    before = x_of(page, GEMM)
    sheet = pull(front, 0, -120)
    assert "is a sheet of" in sheet and "×1024×1:" in sheet and "of 1×" not in sheet
    assert "×1:" not in pull(back, 60, -50)
    place = "document.querySelector('.rl-live-roofline .bound').getAttribute('transform')"
    page.wait_for_function(f"x => {place}.match(/[\\d.]+/)[0] > x", arg=before)
    assert handle(page, 0).get_attribute("aria-valuetext") != "1"


def test_pointing_at_a_part_of_c_lights_what_it_needs(show_picture) -> None:
    page = show_picture("box")
    press(page, 0, "ArrowRight", 8)
    press(page, 2, "ArrowRight", 8)
    face = page.locator(".rl-box .face-C")
    lit = page.locator(".rl-box :is(.needs-A, .needs-B, .needs-C, .rod)")
    expect(lit.first).not_to_be_visible()
    face.hover()
    expect(lit).to_have_count(4)
    for one in lit.all():
        expect(one).to_be_visible()
    assert "needs whole rows of A" in page.locator(".rl-box .needs").text_content()
    page.mouse.move(1, 1)
    expect(lit.first).not_to_be_visible()


def test_its_three_sliders_stand_in_one_grid(show_picture) -> None:
    page = show_picture("box")
    for width in (390, 1366):
        resize(page, (width, 820))
        assert max(map(len, sliders_stand_in_one_grid(page))) == 3, "M, N and K"


# A layer.

CLIPPED = """() => { const card = document.querySelector(".rl-box");
    const inside = card.parentElement.getBoundingClientRect();
    return card.getBoundingClientRect().right - inside.right; }"""


def test_tokens_thicken_the_box_and_bring_the_point_to_the_roof(show_picture) -> None:
    page = show_picture("layer")
    solid = page.locator(".rl-box .stage svg")
    faces = [page.locator(f".rl-box .name-{one}").first.text_content() for one in "ABC"]
    assert [face.split(",")[0] for face in faces] == ["X", "W", "Y"]
    assert "a sheet of 1×11\u202f008×4096" in solid.get_attribute("aria-label")
    start = x_of(page, GEMM), y_of(page, GEMM)
    steps = TOKENS.index(384)
    assert TOKENS[steps - 2] < knee(4096, 11008, rl.Roofline("h100-sxm", "bf16")) < 384
    press(page, 0, "ArrowRight", steps)
    op = rl.gemm(384, 11008, 4096, "bf16")
    said = " ".join(page.locator(".rl-box svg text:visible").all_text_contents())
    assert f"{theme.intensity(op.intensity)} FLOP/byte" in said
    assert theme.count(11008 * 4096) in said, "more tokens bring no more weights"
    assert x_of(page, GEMM) > start[0] and y_of(page, GEMM) < start[1]
    say = page.locator(".rl-live-roofline .say")
    expect(say).to_contain_text("Arithmetic is the limit")
    press(page, 2, "Home")
    expect(say).to_contain_text("Memory is the limit")


@pytest.mark.parametrize("picture", ["box", "layer"])
def test_the_right_border_of_the_box_stays_inside_what_clips_it(show_picture, picture: str) -> None:
    page = show_picture(picture)
    for width in (1100, 1280, 1600):
        resize(page, (width, 1000))
        assert page.evaluate(CLIPPED) <= -0.5, width
