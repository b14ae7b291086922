"""The box of a layer in a static page: tokens make it thicker, and the ledger says by how much."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import rooflab as rl
from rooflab.labs.llm.layer_time import TOKENS, knee
from rooflab.show import theme
from tests.browser.conftest import BOUND, handle, press, x_of, y_of
from tests.browser.tab import resize

GEMM = BOUND.format("gemm")
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


def test_it_is_dragged_and_another_machine_moves_the_roof_alone(show_picture) -> None:
    page = show_picture("layer")
    at = x_of(page, GEMM)
    page.get_by_label("machine", exact=True).select_option(label="NVIDIA GeForce RTX 4090")
    expect(page.locator(".rl-live-roofline .peak")).to_contain_text("165 TFLOP/s")
    assert x_of(page, GEMM) == at, "the machine is no part of the intensity"
    box = handle(page, 0).bounding_box()
    page.mouse.move(box["x"] + 12, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 12 + box["width"] / 2, box["y"] + 8, steps=4)
    page.mouse.up()
    page.wait_for_function(
        "!document.querySelector('.rl-box .stage svg').ariaLabel.includes('sheet')"
    )
    assert x_of(page, GEMM) > at


@pytest.mark.parametrize("picture", ["box", "layer"])
def test_the_right_border_of_the_box_stays_inside_what_clips_it(show_picture, picture: str) -> None:
    page = show_picture(picture)
    for width in (1100, 1280, 1600):
        resize(page, (width, 1000))
        assert page.evaluate(CLIPPED) <= -0.5, width
