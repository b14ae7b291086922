"""The live waterfall in a static page: it follows its neighbours without a kernel."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import handle

WINDOW = (1280, 1000)
NAME = "epyc-2core-vm"
CELL = f"""import rooflab as rl
rl.live.roofline(["{NAME}", "h100-sxm"], machine="{NAME}", n=1024, box=True, waterfall=True)"""


@pytest.fixture(scope="module")
def address(static_page) -> str:
    return static_page("waterfall", CELL)


def settled(page) -> None:
    handle(page, 1).wait_for(state="attached")
    page.wait_for_selector(".rl-fall svg .bar", state="attached")


def choose(page, group: str, name: str) -> None:
    page.get_by_role("group", name=group).get_by_role("button", name=name).click()


def machine(page, name: str) -> None:
    page.get_by_label("machine", exact=True).select_option(label=name)


def says(page, text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('.rl-fall .say').textContent.includes(text)", arg=text
    )


def test_sliders_machine_and_box_move_it_without_a_kernel(still_page) -> None:
    choose(still_page, "operation in the box", "GEMV")
    says(still_page, "GEMV 1024×1024 fp32")
    handle(still_page, 0).focus()
    still_page.keyboard.press("ArrowRight")
    says(still_page, "Nothing was measured at this size, so the waterfall stops at the prediction.")
    hollow = still_page.locator(".rl-fall .dot.end").evaluate("node => node.style.fill")
    assert hollow == "var(--paper)"
    still_page.keyboard.press("ArrowLeft")
    says(still_page, "GEMV 1024×1024 fp32")
    machine(still_page, "NVIDIA H100 SXM5 80 GB")
    says(still_page, "the waterfall stops at the bound")
    expect(still_page.locator(".rl-fall .bar:visible")).to_have_count(0)
    handle(still_page, 1).focus()
    still_page.keyboard.press("ArrowRight")
    says(still_page, "set the batch to 1")


def test_the_sizes_that_were_measured_are_buttons_that_move_every_picture(still_page) -> None:
    choose(still_page, "operation in the box", "GEMM")
    still_page.get_by_role("button", name="both", exact=True).click()
    row = still_page.get_by_role("group", name="measured at N =")
    sizes = row.locator("button:visible")
    found = [int(size) for size in sizes.all_inner_texts()]
    assert found == sorted(found) and 1024 in found and len(found) > 2
    handle(still_page, 1).focus()
    still_page.keyboard.press("ArrowRight")
    says(still_page, "set the batch to 1")
    sizes.first.click()
    says(still_page, f"GEMM {found[0]}×{found[0]}×{found[0]} fp32")
    says(still_page, "This is the cold side.")
    assert sizes.first.get_attribute("aria-pressed") == "true"
    for number, value in enumerate((str(found[0]), "1")):
        still_page.wait_for_function(
            "([k, value]) => document.querySelectorAll('.rl-live-roofline .rl-sliders input')[k]"
            ".ariaValueText === value",
            arg=[number, value],
        )
    assert f"{found[0]}×{found[0]}" in still_page.locator(".rl-live-roofline .say").inner_text()
    machine(still_page, "NVIDIA H100 SXM5 80 GB")
    says(still_page, "the waterfall stops at the bound")
    assert sizes.count() == 0 and not still_page.get_by_text("measured at N =").is_visible()
