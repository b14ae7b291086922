"""The course's pictures on the stage of a lecture: their letters, their keys, and fingers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import nbformat
import pytest

from tests.browser.conftest import ready
from tests.browser.tab import resize, stand
from tests.browser.test_scenes import SCRIPT
from tests.browser.test_slides import place
from tests.support.pictures import PICTURES as SCENES
from tests.support.pictures import START
from tools.slides import build_deck

pytestmark = pytest.mark.browser
WINDOW = (1280, 720)

SETUP = f"""{START}shown, here = {{}}, "epyc-2core-vm"
{SCENES["free_lunch"]}
shown["curve"] = picture
{SCENES["cards"]}
shown["cards"] = picture
{SCENES["morph"]}
shown["morph"] = picture
{SCENES["film measured"]}
shown["film"] = picture
{SCENES["golf in pieces"]}
shown["golf"] = picture
shown["machines"] = rl.live.roofline([*rl.machines()], machine="h200-sxm")
shown["roofline"] = rl.live.roofline(here, dtype="fp64", cache="both")
shown["product"] = rl.live.box(machines=here)
shown["beside the box"] = rl.live.roofline(here, box=True)
shown["layer"] = rl.live.layer(machines=[here, "h200-sxm", "mi300x", "rtx-4090"])
shown["with its ladder"] = rl.live.roofline(
    [here, *rl.machines()], cache="both", overhead=True, band=(4, 8), ladder=True)
"""
NAMES = ("curve", "cards", "morph", "film", "golf", "machines", "roofline", "product",
         "beside the box", "layer", "with its ladder")  # fmt: skip
#: Stage pixels that docs/teaching.md promises for the smallest letter of a picture.
PROMISED = 15
SHOWN = ".lec-on, .lec-on *"  # a deck of eleven pictures has very many nodes
# Of every picture on show its smallest letters, and where it begins and ends, in stage pixels.
ON_SHOW = """() => {
    const k = Math.min(innerWidth / 1280, innerHeight / 720);
    const stage = document.querySelector('.lec-page').getBoundingClientRect();
    const seen = node => node.getClientRects().length && node.textContent.trim()
        && +getComputedStyle(node).opacity > 0.05;
    const large = node => { const { a, b } = node.getScreenCTM();
        return parseFloat(getComputedStyle(node).fontSize) * Math.hypot(a, b) / k; };
    return Object.fromEntries([...document.querySelectorAll('.lec-on .rl-scene')]
        .filter(node => node.getClientRects().length).map(node => {
            const box = node.getBoundingClientRect();
            return ['.' + node.className.match(/rl-(?!pic|scene)[a-z-]+/)[0], {
                letters: Math.min(
                    ...[...node.querySelectorAll('svg text')].filter(seen).map(large)),
                left: (box.left - stage.left) / k, right: (box.right - stage.left) / k,
                high: node.querySelector('.stage svg').getBoundingClientRect().height / k }];
        })); }"""


@pytest.fixture(scope="module")
def address(run_cells: Callable[..., object], tmp_path_factory: pytest.TempPathFactory) -> str:
    notebook = run_cells(SETUP, *(f"shown[{name!r}]" for name in NAMES))
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell("# 09 · Pictures"))
    page = tmp_path_factory.mktemp("stage") / "09_pictures.html"
    page.write_text(build_deck(notebook, notebook, notebook), "utf-8")
    return page.as_uri()


def settled(page) -> None:
    page.wait_for_selector(".lec-bar")


@pytest.fixture
def stage(opened) -> object:
    resize(opened, WINDOW)
    return opened


def turn_to(page, name: str) -> None:
    """Show the step of a picture, and wait until it stands."""
    first = place(page)[1] - len(NAMES)  # each has a step to itself, and they are the last
    page.evaluate("n => rlStage.show(n)", first + NAMES.index(name))
    assert page.locator(".lec-bar code").text_content() == f"shown[{name!r}]"
    page.locator(".lec-on .rl-scene svg [data-mark]").first.wait_for(state="attached")
    stand(page, SHOWN)


def press(page, *keys: str) -> dict:
    """What is on show after some keys."""
    for key in keys:
        page.keyboard.press(key)
    stand(page, SHOWN)
    return page.evaluate(ON_SHOW)


def test_letters_are_as_large_as_the_teaching_guide_promises(stage) -> None:
    for name in NAMES:
        turn_to(stage, name)
        found = press(stage, "r") if name == "cards" else press(stage)
        promised = 16 if name == "morph" else PROMISED
        assert found and min(one["letters"] for one in found.values()) >= promised, (name, found)
        for picture in stage.locator(".lec-on .rl-scene").all():
            faults = picture.evaluate(f"el => ({SCRIPT}).faults(el)")[0]
            assert not [one for one in faults if "lies on" in one], name


def test_the_live_roofline_fills_the_stage(stage) -> None:
    resize(stage, (1920, 1080))
    for name in ("machines", "roofline", "product", "beside the box"):
        turn_to(stage, name)
        found = press(stage)
        assert min(one["left"] for one in found.values()) < 110, name
        assert max(one["right"] for one in found.values()) > 1170, name
        beside = name in ("product", "beside the box")  # a box has a third of the width
        assert found[".rl-live-roofline"]["high"] > (345 if beside else 370), name


def test_r_leaves_the_drawer_of_a_picture_alone(stage) -> None:
    turn_to(stage, "roofline")
    before = press(stage)
    assert stage.locator(".lec-on details.rl-more").is_visible()
    assert press(stage, "r") == before and not stage.locator("details[open]").count()
    assert "Nothing is covered" in stage.locator(".lec-told").text_content()


def test_reasons_of_a_sorting_get_the_room_of_empty_bins(stage) -> None:
    turn_to(stage, "cards")
    if not stage.locator(".lec-on .rl-sort.done").count():
        press(stage, "r")
    reasons = " ".join(stage.locator(".lec-on .rl-sort .why").all_text_contents())
    assert reasons.count("Predicted") == 4
    assert press(stage)[".rl-sort"]["letters"] >= PROMISED
    room = stage.locator(".lec-on .rl-sort .stage").bounding_box()
    cards = [card.bounding_box() for card in stage.locator(".lec-on rect.card").all()]
    lowest = max(card["y"] + card["height"] for card in cards)
    assert 0 < room["y"] + room["height"] - lowest < 40


# Fingers.


@pytest.fixture(scope="module")
def fingers(chromium, address: str) -> Iterator[object]:
    """A page that is touched; ``stroke(x, y, dx, dy)`` in it is a finger's way."""
    context = chromium.new_context(has_touch=True, viewport={"width": 1280, "height": 720})
    page = context.new_page()
    wire = context.new_cdp_session(page)

    def stroke(x: float, y: float, dx: float, dy: float) -> None:
        for n, kind in enumerate(["touchStart", *["touchMove"] * 8]):
            point = {"x": x + dx * n / 8, "y": y + dy * n / 8}
            wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
            page.evaluate("() => new Promise(requestAnimationFrame)")
        wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        stand(page)

    page.stroke = stroke
    page.goto(address)
    page.wait_for_selector(".lec-bar")
    yield page
    context.close()


def middle(locator) -> tuple[float, float]:
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pull_up(page, box: str) -> None:
    """Pull the box's upper corner up by a finger; the box grows and the page stays."""
    stand(page)
    said = page.locator(f"{box} .stage svg")
    before = said.get_attribute("aria-label")
    page.evaluate("addEventListener('pointercancel', () => { window.taken = true; }, true)")
    page.stroke(
        *middle(page.locator(f"{box} .knob.rl-grip:not(.memory, .arithmetic)").last), 0, -60
    )
    assert said.get_attribute("aria-label") != before
    assert not page.evaluate("window.taken"), "the browser took the finger to scroll with it"


def test_a_finger_pulls_the_boxs_corner_up_on_a_slide(fingers) -> None:
    turn_to(fingers, "beside the box")
    pull_up(fingers, ".lec-on .rl-live-roofline")


def test_a_swipe_turns_the_page_also_over_a_picture(fingers) -> None:
    turn_to(fingers, "roofline")
    here = place(fingers)[0]
    x, y = middle(fingers.locator(".lec-on .rl-live-roofline .say"))
    fingers.stroke(x, y, -150, 0)
    assert place(fingers)[0] == here + 1, "over words"
    turn_to(fingers, "roofline")
    box = fingers.locator(".lec-on .rl-live-roofline .stage svg").bounding_box()
    fingers.stroke(box["x"] + 0.7 * box["width"], box["y"] + 0.7 * box["height"], 150, 0)
    assert place(fingers)[0] == here - 1, "over the blank of a sheet"
    turn_to(fingers, "roofline")
    for held in ("input[type=range]", ".rl-grip.arithmetic"):
        fingers.stroke(*middle(fingers.locator(f".lec-on {held}").first), -150, 0)
        assert place(fingers)[0] == here, f"{held} is moved, not the page"


def test_a_finger_pulls_the_boxs_corner_up_on_a_page(fingers, picture_page) -> None:
    fingers.goto(picture_page("both"))
    ready(fingers)
    fingers.evaluate("document.body.style.paddingBottom = '2000px'")  # it could be scrolled
    pull_up(fingers, ".rl-live-roofline")
    fingers.go_back()  # to the deck of the tests beside


def test_a_swipe_never_leaves_the_deck(stage) -> None:
    kept = "node => getComputedStyle(node).overscrollBehaviorX"
    assert [stage.locator(one).evaluate(kept) for one in ("html", "body")] == ["none", "none"]


def test_tab_begins_at_the_steps_first_control(stage) -> None:
    stage.locator(".lec-bar button").last.focus()
    turn_to(stage, "roofline")
    stage.keyboard.press("Tab")
    assert stage.evaluate("document.activeElement.closest('.lec-on .rl-scene') !== null")
    stage.keyboard.press("PageDown")
    stage.keyboard.press("Tab")
    assert stage.evaluate("document.activeElement.closest('.lec-on .rl-scene') !== null")
