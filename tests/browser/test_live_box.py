"""The box beside the roofline: it morphs on the same sliders, and its counts are Python's."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import BOUND, handle, press, x_of, y_of

GEMM = BOUND.format("gemm")


def test_stick_sheet_cube_and_the_point_sticks_at_the_roof(show_picture) -> None:
    page = show_picture("box")
    solid = page.locator(".rl-box svg")
    assert "a stick of 1×1024×1" in solid.get_attribute("aria-label")
    start, roof = x_of(page, GEMM), y_of(page, GEMM)
    press(page, 2, "ArrowRight", 10)
    assert "a sheet of 1×1024×1024" in solid.get_attribute("aria-label")
    press(page, 0, "ArrowRight", 10)
    assert "a cube of 1024×1024×1024" in solid.get_attribute("aria-label")
    assert x_of(page, GEMM) > start + 200 and y_of(page, GEMM) < roof
    stuck = y_of(page, GEMM)
    press(page, 0, "ArrowRight", 2)
    assert y_of(page, GEMM) == stuck, "at the peak more intensity buys nothing"


def test_the_counts_are_the_ledgers(show_picture) -> None:
    import rooflab as rl
    from rooflab.show import theme

    page = show_picture("box")
    press(page, 2, "ArrowRight", 3)
    op = rl.gemm(1, 1024, 8)
    said = " ".join(page.locator(".rl-box svg text").all_text_contents())
    for operand in op.operands:
        assert theme.count(operand.elements) in said
    assert f"{theme.intensity(op.intensity)} FLOP/byte" in said


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


def test_the_operation_of_the_box_is_the_one_that_the_roofline_speaks_of(show_picture) -> None:
    page = show_picture("both")
    said = page.locator(".rl-live-roofline .say")
    expect(said).to_contain_text("GEMM ")
    for name in ("AXPY", "GEMV"):
        page.locator(".rl-box").get_by_role("button", name=name, exact=True).click()
        expect(said).to_contain_text(f"{name} ")
