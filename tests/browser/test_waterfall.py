"""The live waterfall in a static page: it follows its neighbours without a kernel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import handle
from tests.browser.tab import Tab

NAME = "epyc-2core-vm"
CELL = f"""import rooflab as rl
rl.live.roofline(["{NAME}", "h100-sxm"], machine="{NAME}", n=1024, box=True, waterfall=True)"""


@pytest.fixture(scope="module")
def address(static_page) -> str:
    return static_page("waterfall", CELL)


@pytest.fixture
def page(tab: Tab, address: str) -> Iterator[object]:
    with tab.silent(address) as opened:
        settled(opened)
        yield opened


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


def test_sliders_machine_and_box_move_it_without_a_kernel(page) -> None:
    choose(page, "operation in the box", "GEMV")
    says(page, "GEMV 1024×1024 fp32")
    handle(page, 0).focus()
    page.keyboard.press("ArrowRight")
    says(page, "Nothing was measured at this size, so the waterfall stops at the prediction.")
    hollow = page.locator(".rl-fall .dot.end").evaluate("node => node.style.fill")
    assert hollow == "var(--paper)"
    page.keyboard.press("ArrowLeft")
    says(page, "GEMV 1024×1024 fp32")
    machine(page, "NVIDIA H100 SXM5 80 GB")
    says(page, "the waterfall stops at the bound")
    expect(page.locator(".rl-fall .bar:visible")).to_have_count(0)
    handle(page, 1).focus()
    page.keyboard.press("ArrowRight")
    says(page, "set the batch to 1")


def test_the_sizes_that_were_measured_are_buttons_that_move_every_picture(page) -> None:
    choose(page, "operation in the box", "GEMM")
    page.get_by_role("button", name="both", exact=True).click()
    row = page.get_by_role("group", name="measured at N =")
    sizes = row.locator("button:visible")
    found = [int(size) for size in sizes.all_inner_texts()]
    assert found == sorted(found) and 1024 in found and len(found) > 2
    handle(page, 1).focus()
    page.keyboard.press("ArrowRight")
    says(page, "set the batch to 1")
    sizes.first.click()
    says(page, f"GEMM {found[0]}×{found[0]}×{found[0]} fp32")
    says(page, "This is the cold side.")
    assert sizes.first.get_attribute("aria-pressed") == "true"
    for number, value in enumerate((str(found[0]), "1")):
        page.wait_for_function(
            "([k, value]) => document.querySelectorAll('.rl-live-roofline .rl-sliders input')[k]"
            ".ariaValueText === value",
            arg=[number, value],
        )
    assert f"{found[0]}×{found[0]}" in page.locator(".rl-live-roofline .say").inner_text()
    machine(page, "NVIDIA H100 SXM5 80 GB")
    says(page, "the waterfall stops at the bound")
    assert sizes.count() == 0 and not page.get_by_text("measured at N =").is_visible()
