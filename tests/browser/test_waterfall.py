"""The live waterfall in a static page: its bars are explain()'s factors, and it needs no kernel."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

import rooflab as rl
from rooflab.predict.explain import explain
from rooflab.show.falls import factor_text
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
    handle(page, 1).wait_for(state="attached")
    page.wait_for_selector(".rl-fall svg .bar", state="attached")


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


def machine(page, name: str) -> None:
    page.get_by_label("machine", exact=True).select_option(label=name)


def says(page, text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('.rl-fall .say').textContent.includes(text)", arg=text
    )


def bars(page) -> list[tuple[float, float]]:
    """Where each bar that is there begins and ends, in pixels of the sheet."""
    stand(page, ".rl-fall *")
    paths = page.locator(".rl-fall .bar:not([data-gone='1'])").evaluate_all(
        "all => all.map(one => one.getAttribute('d'))"
    )
    corners = [[float(n) for n in re.findall(r"[\d.]+", path)] for path in paths]
    return [(one[0], one[2]) for one in corners]


def decade(page) -> float:
    """Pixels of a factor of ten, from the ticks ×1 and ×2."""
    at = page.locator(".rl-fall .tick:not([data-gone='1'])").evaluate_all(
        "all => all.map(one => [one.textContent, one.transform.baseVal.consolidate().matrix.e])"
    )
    return (dict(at)["×2"] - dict(at)["×1"]) / math.log10(2)


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_the_bars_are_the_factors_and_follow_each_other(page, cache: str) -> None:
    choose(page, "operation in the waterfall", "GEMM")
    choose(page, "where the operands come from", cache)
    e = explain(measured("gemm", 1024, cache), rl.recording(NAME).machine)
    says(page, e.sentence.replace(e.op.name, e.op.name.upper(), 1).partition(" ")[0])
    says(page, e.sentence.partition(" in ")[2])
    found, unit = bars(page), decade(page)
    for (begin, end), factor in zip(found, e.factors, strict=True):
        assert (end - begin) / unit == pytest.approx(math.log10(factor.factor), abs=0.002)
    for (_, end), (begin, _) in itertools.pairwise(found):
        assert begin == pytest.approx(end, abs=0.1)
    total = page.locator(".rl-fall .name").last.text_content()
    assert total == f"measured: {factor_text(e.seconds / e.bound)} the bound"


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


def test_the_buttons_work_by_keyboard_and_the_sentence_is_spoken(page) -> None:
    group = page.get_by_role("group", name="operation in the waterfall")
    button = group.get_by_role("button", name="AXPY")
    assert button.get_attribute("data-lm-suppress-shortcuts") == "true"
    button.focus()
    page.keyboard.press("Enter")
    says(page, "AXPY 1.05 million fp32")
    assert button.get_attribute("aria-pressed") == "true"
    page.wait_for_function(
        """document.querySelector('.rl-fall [aria-live]').textContent.includes('AXPY 1.05')"""
    )
    assert " unexplained ×" in page.locator(".rl-fall .steps").text_content()


LETTERS = """() => {
    const svg = document.querySelector('.rl-fall svg'), sheet = svg.getBoundingClientRect();
    const scale = sheet.width / svg.viewBox.baseVal.width;
    return [...svg.querySelectorAll('text')].filter(n => n.textContent
        && n.getClientRects().length).map(n => {
        const b = n.getBoundingClientRect();
        return { text: n.textContent, letters: parseFloat(getComputedStyle(n).fontSize) * scale,
            box: [b.left, b.top, b.right, b.bottom],
            inside: b.left >= sheet.left - 1 && b.right <= sheet.right + 1 };
    }); }"""


def overlap(one: list[float], two: list[float]) -> bool:
    """Whether boxes lie on each other by more than the room between letters and box."""
    across = min(one[2], two[2]) - max(one[0], two[0])
    return across > 1 and min(one[3], two[3]) - max(one[1], two[1]) > 5


@pytest.mark.parametrize("width", [1600, 1280, 700, 390])
def test_no_text_is_small_cut_off_or_on_another(page, width: int) -> None:
    resize(page, (width, 900))
    for name in ("AXPY", "GEMV", "GEMM"):
        choose(page, "operation in the waterfall", name)
        stand(page, ".rl-fall *")
        found = page.evaluate(LETTERS)
        assert len(found) > 25
        assert [one for one in found if not one["inside"]] == []
        assert min(one["letters"] for one in found) > (12.9 if width > 1000 else 11)
        boxes = [(one["text"], one["box"]) for one in found]
        pairs = itertools.combinations(boxes, 2)
        assert [(a[0], b[0]) for a, b in pairs if overlap(a[1], b[1])] == []


def test_it_is_as_high_in_every_state(page) -> None:
    card = page.locator(".rl-fall svg")
    before = card.bounding_box()["height"]
    for name in ("NVIDIA H100 SXM5 80 GB", "AMD EPYC, 2 threads"):
        machine(page, name)
        says(page, "EPYC" if "EPYC" in name else "H100")
        assert card.bounding_box()["height"] == before


def test_the_static_picture_stands_in_the_page(page) -> None:
    picture = page.locator(".jp-OutputArea img[alt*='unexplained']")
    assert picture.count() >= 1 and "roofline bound" in picture.first.get_attribute("alt")


def test_in_lab_it_stands_below_the_roofline_and_moves(open_notebook) -> None:
    lab = open_notebook("lab", "waterfall.ipynb", CELL)
    settled(lab)
    stand(lab, ".rl-live-roofline .stage svg, .rl-fall")
    roofline, fall = (
        lab.locator(s).first.bounding_box() for s in (".rl-live-roofline .stage svg", ".rl-fall")
    )
    assert fall["y"] > roofline["y"] + roofline["height"]
    handle(lab, 0).focus()
    lab.keyboard.press("ArrowRight")
    says(lab, "Nothing was measured at this size")
